"""Graphs: the large one, its SHA-256 and rows of neighbours; and small ones with a root, in all orders of nodes."""

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations

import numpy as np

from ._certificate import need
from ._modular import digest

Shape = tuple[int, tuple[tuple[int, ...], ...], tuple[int, ...]]
"""Number of roots, which are the first nodes; the states of pairs (as in ``SimpleGraph.rows``); labels of nodes."""

LARGEST = 8
"""Most nodes of a shape of which all orders are tried."""


@dataclass(frozen=True, eq=False)
class SimpleGraph:
    """A graph without self loops and repeated edges, as :func:`graph_from_edges` makes it.

    Attributes:
      nodes: n; nodes are 0 to n - 1.
      edges: int64 ``[m, 2]``, sorted; source first, or the smaller end first where edges have no direction.
      directed: whether edges are arcs.
      node_labels: int64 ``[n]``, or None.
      edge_labels: int64 ``[m]``, or None.
    """

    nodes: int
    edges: np.ndarray
    directed: bool
    node_labels: np.ndarray | None
    edge_labels: np.ndarray | None

    def described(self) -> dict:
        """Return what a certificate says of its graph."""
        arrays = (self.edges, self.node_labels, self.edge_labels)
        hashes = ["-" if array is None else digest(array) for array in arrays]
        sizes = {"directed": self.directed, "nodes": self.nodes, "edges": len(self.edges)}
        labels = {"node_labels": self.node_labels is not None, "edge_labels": self.edge_labels is not None}
        return {"sha256": hashlib.sha256(" ".join(hashes).encode()).hexdigest(), **sizes, **labels}

    @cached_property
    def states(self) -> int:
        """The number of states of an ordered pair: no arc, or one with each of the labels that occur."""
        return 2 if self.edge_labels is None else 1 + len(np.unique(self.edge_labels))

    @cached_property
    def label_numbers(self) -> np.ndarray:
        """Number of each node's label, from 0 on, int64 ``[n]``."""
        labels = np.zeros(self.nodes, np.int64) if self.node_labels is None else self.node_labels
        return np.unique(labels, return_inverse=True)[1].reshape(-1)

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Offsets of the rows of all nodes; their neighbours, ascending, in whatever direction; the state of each pair.

        The state of a pair (s, x) is the number of its arc from s to x, plus ``states`` times that of the arc
        back.
        """
        (u, v), n = self.edges.T, max(self.nodes, 1)
        number = np.ones(len(u), np.int64)
        if self.edge_labels is not None:
            number += np.unique(self.edge_labels, return_inverse=True)[1].reshape(-1)
        there, back = (number, number * self.states) if self.directed else (number * (1 + self.states),) * 2
        keys, places = np.unique(np.concatenate([u * n + v, v * n + u]), return_inverse=True)
        state = np.zeros(len(keys), np.int64)
        np.add.at(state, places.reshape(-1), np.concatenate([there, back]))
        return np.searchsorted(keys, np.arange(self.nodes + 1) * n), keys % n, state

    @cached_property
    def degrees(self) -> np.ndarray:
        """Number of neighbours of each node, in whatever direction, int64 ``[n]``."""
        return np.diff(self.rows[0])

    def row(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbours of a node, ascending, and the states of the pairs."""
        offsets, targets, state = self.rows
        return targets[offsets[node] : offsets[node + 1]], state[offsets[node] : offsets[node + 1]]

    @cached_property
    def sources(self) -> np.ndarray:
        """Source of each pair of ``rows``."""
        return np.repeat(np.arange(self.nodes), self.degrees)

    def shape(self, described: dict, least: int = 0) -> Shape:
        """Return a shape that a certificate describes, whose labels have numbers from ``least`` on."""
        roots, arcs, labels = described["roots"], described["arcs"], described["labels"]
        size, numbers = len(labels), [number for row in arcs for number in row]
        need(size > 0 and [len(row) for row in arcs] == [size] * size, "a shape is no square of pairs")
        need(not any(arcs[u][u] for u in range(size)), "a shape has a loop")
        need(self.directed or arcs == [list(row) for row in zip(*arcs, strict=True)], "a shape has directions")
        need(0 <= roots <= min(2, size), "a root is not of 0 to 2 nodes")
        need(least <= min(numbers + labels) and max(numbers) < self.states, "a shape has a label of another graph")
        pairs = tuple(tuple(arcs[u][v] + self.states * arcs[v][u] for v in range(size)) for u in range(size))
        return roots, pairs, tuple(labels)


def graph_from_edges(edges, nodes=None, directed=False, node_labels=None, edge_labels=None) -> SimpleGraph:
    """Return a graph from rows of node numbers; self loops and repeated edges are left out."""
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    nodes = int(edges.max(initial=-1)) + 1 if nodes is None else int(nodes)
    if nodes >= 2**31 or edges.min(initial=0) < 0 or edges.max(initial=-1) >= nodes:
        raise ValueError(f"edges must join nodes from 0 to {nodes - 1}, fewer than 2^31")
    if not directed:
        edges = np.sort(edges, axis=1)
    _, kept = np.unique(edges[:, 0] * nodes + edges[:, 1], return_index=True)
    kept = kept[edges[kept, 0] != edges[kept, 1]]
    node_labels = None if node_labels is None else np.asarray(node_labels, np.int64)
    edge_labels = None if edge_labels is None else np.asarray(edge_labels, np.int64)[kept]
    return SimpleGraph(nodes, edges[kept], directed, node_labels, edge_labels)


@lru_cache(maxsize=64)
def _orders(roots: int, size: int, directed: bool) -> np.ndarray:
    """Return all orders of nodes in which roots stay in front; those of an edge, unlike an arc, may be exchanged."""
    need(size <= LARGEST, f"a shape has more than {LARGEST} nodes")
    fronts = permutations(range(roots)) if not directed else [range(roots)]
    return np.array([[*front, *rest] for front in fronts for rest in permutations(range(roots, size))])


def _forms(shape: Shape, directed: bool) -> np.ndarray:
    """Return the labels and states of a shape in all orders, the first one as it is."""
    roots, pairs, labels = shape
    orders = _orders(roots, len(labels), directed)
    moved = np.array(pairs)[orders[:, :, None], orders[:, None, :]].reshape(len(orders), -1)
    return np.concatenate([np.array(labels)[orders], moved], axis=1)


@lru_cache(maxsize=2**16)
def canonical(shape: Shape, directed: bool) -> Shape:
    """Return the smallest form of a shape over all orders of its nodes."""
    forms, size = _forms(shape, directed), len(shape[2])
    labels, pairs = np.split(forms[np.lexsort(forms.T[::-1])[0]], [size])
    return shape[0], tuple(map(tuple, pairs.reshape(size, size).tolist())), tuple(labels.tolist())


def automorphisms(shape: Shape, directed: bool) -> int:
    """Return how many orders of its nodes leave a shape as it is."""
    forms = _forms(shape, directed)
    return int((forms == forms[0]).all(axis=1).sum())


def unrooted(shape: Shape, directed: bool) -> Shape:
    """Return a shape without its root."""
    return canonical((0, *shape[1:]), directed)


def orbit_size(shape: Shape, directed: bool) -> int:
    """Return how many nodes, or edges, of a shape could be its root; without a root, the number of nodes."""
    return automorphisms((0, *shape[1:]), directed) // automorphisms(shape, directed) if shape[0] else len(shape[2])


@lru_cache(maxsize=2**16)
def copies(small: Shape, large: Shape) -> int:
    """Return how many subgraphs with all nodes of a shape, and with its root, are copies of another shape.

    Both have no labels and no directions.
    """
    if len(small[2]) != len(large[2]):
        return 0
    maps = (_forms(large, False) >= _forms(small, False)[0]).all(axis=1).sum()
    return int(maps) // automorphisms(small, False)


def plain_shape(edges: list[tuple[int, int]], order: list[int], roots: int) -> Shape:
    """Return an undirected shape without labels, of which the first nodes in the order are the root."""
    pairs = tuple(tuple(3 * ((u, v) in edges or (v, u) in edges) for v in order) for u in order)
    return roots, pairs, (0,) * len(order)


def is_connected(shape: Shape, without: int = -1) -> bool:
    """Return whether a shape, perhaps without one of its nodes, hangs together."""
    nodes = [u for u in range(len(shape[1])) if u != without]
    reached = {nodes[0]}
    for _ in nodes:
        reached |= {v for u in reached for v in nodes if shape[1][u][v]}
    return len(reached) == len(nodes)
