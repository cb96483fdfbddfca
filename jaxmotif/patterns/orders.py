"""Matching orders: in which order a search maps the nodes of a pattern; and the tree of their shared beginnings."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxmotif.patterns.pattern import Pattern


def greatest_constraint_first(
    pattern: Pattern, domain_sizes: Sequence[int] | np.ndarray | None = None, last: Sequence[int] = ()
) -> list[int]:
    """RI's order: next comes the node with the most edges to nodes already placed.

    Ties go to the node with more neighbours that touch a placed node, then with more neighbours that do not, then to
    the smaller domain, then (RI leaves this open) to the neighbour of the node placed first, then to the lower id. The
    first node of each component is one of largest degree, ties likewise. Two nodes next to an early node come before
    the node next to both: what symmetry asks of the two is tested before that node's candidates are looked at.

    Args:
      domain_sizes: integers ``[k]``, how many target nodes each node can map to.
      last: nodes to come after all others, in the same manner.

    Reference:
      Bonnici, Giugno, Pulvirenti, Shasha, Ferro: A subgraph isomorphism algorithm and its application to biochemical
      data, BMC Bioinformatics 2013.

    Example:
      >>> greatest_constraint_first(Pattern.from_edges([(0, 1), (1, 2), (2, 3), (2, 4), (3, 4)]))
      [2, 3, 4, 1, 0]
    """
    k = pattern.num_nodes
    sizes = np.zeros(k, np.int64) if domain_sizes is None else np.asarray(domain_sizes, np.int64)
    near = pattern.neighbors.astype(np.int64)
    degree = near.sum(axis=1)
    edges = pattern.adjacency.astype(np.int64)
    edges = edges + edges.T if pattern.directed else edges
    placed = np.zeros(k, bool)
    late = np.zeros(k, bool)
    late[list(last)] = True
    # Of each node: edges to placed nodes, when the first of these came, neighbours that touch one, other neighbours.
    joined, first, shared, beyond = np.zeros((4, k), np.int64)
    beyond += degree
    order: list[int] = []
    while len(order) < k:
        free = ~placed & (~late if (~placed & ~late).any() else late)
        rest = np.flatnonzero(free)
        if joined[rest].any():
            keys = (rest, first[rest], sizes[rest], -beyond[rest], -shared[rest], -joined[rest])
        else:
            keys = (rest, sizes[rest], -degree[rest])
        v = int(rest[np.lexsort(keys)[0]])
        counted = shared if joined[v] else beyond
        counted -= near[:, v]
        placed[v] = True
        new = np.flatnonzero((near[v] > 0) & (joined == 0))
        first[new] = len(order)
        moved = near[:, new[~placed[new]]].sum(axis=1)
        shared += moved
        beyond -= moved
        joined += edges[v]
        order.append(v)
    return order


def infrequent_edge_first(
    pattern: Pattern, edge_frequency: np.ndarray, node_frequency: Sequence[int] | np.ndarray
) -> list[int]:
    """QuickSI's order: a minimum spanning tree by how often each edge occurs in the target, in Prim's order.

    Ties go to the node with the most edges to those already placed, then to the rarer node, then to the lower id.

    Args:
      edge_frequency: numbers ``[k, k]``, symmetric: candidates of each edge (others are not read).
      node_frequency: numbers ``[k]``.

    Reference:
      Shang, Zhang, Lin, Yu: Taming verification hardness: an efficient algorithm for testing subgraph isomorphism,
      VLDB 2008.

    Example:
      >>> path = Pattern.from_edges([(0, 1), (1, 2), (2, 3)])
      >>> often = np.array([[0, 9, 0, 0], [9, 0, 5, 0], [0, 5, 0, 2], [0, 0, 2, 0]])
      >>> infrequent_edge_first(path, often, [1, 1, 1, 1])
      [2, 3, 1, 0]
    """
    k = pattern.num_nodes
    near = pattern.neighbors
    nodes = np.asarray(node_frequency, np.float64)
    weight = np.where(near, np.asarray(edge_frequency, np.float64), np.inf)
    placed = np.zeros(k, bool)
    order: list[int] = []
    while len(order) < k:
        rest = np.flatnonzero(~placed)
        cheapest = weight[np.ix_(placed, rest)].min(axis=0, initial=np.inf)
        if np.isinf(cheapest).all():  # a new component begins: at its cheapest edge
            cheapest = weight[rest].min(axis=1, initial=np.inf)
        joined = near[np.ix_(rest, placed)].sum(axis=1)
        v = int(rest[np.lexsort((rest, nodes[rest], -joined, cheapest))[0]])
        order.append(v)
        placed[v] = True
    return order


@dataclasses.dataclass(frozen=True, eq=False)
class MatchingTree:
    """Matching orders of several patterns, joined where they begin alike.

    Attributes:
      parent: for each tree node, the one it extends, or -1.
      step: for each tree node, what the new pattern node must fulfil: its label (0 without labels), then for each
        node before it the edge there and the edge back, 0 for none and 1 or the edge label for one.
      leaf: for each pattern, its tree node.
    """

    parent: list[int]
    step: list[tuple]
    leaf: list[int]

    def depth_first(self) -> list[int]:
        """The patterns in the order in which a depth-first walk meets them."""
        children: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parent):
            children.setdefault(parent, []).append(node)
        at: dict[int, list[int]] = {}
        for pattern, node in enumerate(self.leaf):
            at.setdefault(node, []).append(pattern)
        found, todo = [], children.get(-1, [])[::-1]
        while todo:
            node = todo.pop()
            found += at.get(node, [])
            todo += children.get(node, [])[::-1]
        return found


def matching_tree(patterns: Sequence[Pattern], orders: Sequence[Sequence[int]]) -> MatchingTree:
    """Join matching orders into a prefix tree, so that shared beginnings are searched once.

    Args:
      patterns: all directed or none; edge labels positive.
      orders: one for each pattern.

    Reference:
      Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach, TKDE 2017, section 5.3.

    Example:
      >>> pair = [Pattern.from_edges([(0, 1), (1, 2)]), Pattern.from_edges([(0, 1), (1, 2), (2, 0)])]
      >>> matching_tree(pair, [[0, 1, 2], [0, 1, 2]]).parent
      [-1, 0, 1, 1]
    """
    parent: list[int] = []
    step: list[tuple] = []
    nodes: dict[tuple, int] = {}
    leaf = []
    for pattern, order in zip(patterns, orders, strict=True):
        entries = (pattern.adjacency if pattern.edge_labels is None else pattern.edge_labels).astype(np.int64)
        at = -1
        for i, v in enumerate(order):
            label = 0 if pattern.node_labels is None else int(pattern.node_labels[v])
            what = (label, *((int(entries[v, u]), int(entries[u, v])) for u in order[:i]))
            if (at, what) not in nodes:
                nodes[at, what] = len(parent)
                parent.append(at)
                step.append(what)
            at = nodes[at, what]
        leaf.append(at)
    return MatchingTree(parent, step, leaf)
