"""The matching tree of classes: orders of each, chosen by how often edges occur, joined where they begin alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmotif.census._pair_states import Alphabet, degree_rank, graph_edges, slots_of
from jaxmotif.graph import Graph
from jaxmotif.kernels._tree import NOT_WALKED, Tree
from jaxmotif.motifs.matching_tree._prefixes import PrefixOrder, PrefixOrders
from jaxmotif.motifs.matching_tree._tree import matching_tree
from jaxmotif.patterns import Pattern


@dataclasses.dataclass(frozen=True, eq=False)
class TreePlan:
    """Classes ready to be counted.

    Attributes:
      tree: NumPy arrays, padded to a power of two, so that plans of about one size share their compilations.
      size: nodes of each class.
      first_leaf: the first tree node of the last level.
      leaves: how many numbers to count from there on.
      leaf_class: int64, for each node of the last level the number of the class it finds.
      classes: canonical strings.
      steps: for each level, binary digits of the largest number of children, or one or two more.
    """

    tree: Tree
    size: int
    first_leaf: int
    leaves: int
    leaf_class: np.ndarray
    classes: tuple[str, ...]
    steps: tuple[int, ...]


def plan_matching(graph: Graph, size: int, classes: Sequence[str]) -> TreePlan:
    """Plan the search for some classes.

    Args:
      graph: whose frequencies decide the orders; its random graphs have the same labels.
      classes: different canonical strings of ``size`` nodes, as a census of graphs with its labels gives them.
    """
    alphabet = Alphabet.of(graph)
    prefixes = PrefixOrders(_Frequencies(graph, alphabet).of)
    ways: list[tuple[int, Pattern, PrefixOrder]] = []
    for number, text in enumerate(classes):
        pattern = class_pattern(text, alphabet, size)
        ways += [(number, pattern, order) for order in prefixes.of(pattern)]
    # One tree holds every order of every class. Each of its nodes has its step as a word, its depth, and the nodes that
    # it must come after.
    found = matching_tree([pattern for _, pattern, _ in ways], [order.nodes.tolist() for _, _, order in ways])
    count = len(found.parent)
    parent = np.array(found.parent, np.int64)
    word = np.array([_word(step, alphabet) for step in found.step], np.uint32)
    depth, below = np.zeros(count, np.int64), np.zeros(count, np.uint32)
    for node, above in enumerate(found.parent):
        depth[node] = 0 if above < 0 else depth[above] + 1
    # Conditions are set from the leaf up; those of a step are the same for all orders that share the step.
    for (_, _, order), node in zip(ways, found.leaf, strict=True):
        for bits in reversed(order.after):
            below[node] = bits
            node = found.parent[node]

    # Nodes are numbered level by level, siblings together and by rising pattern.
    rank = np.empty_like(depth)
    for level in range(size):
        nodes = np.flatnonzero(depth == level)
        # Siblings stand together when sorted by their parent's place.
        above = rank[parent[nodes]] if level else np.zeros(nodes.size, np.int64)
        rank[nodes[np.lexsort((word[nodes], above))]] = np.count_nonzero(depth < level) + np.arange(nodes.size)
    order = np.argsort(rank)
    depth, word, below = depth[order], word[order], below[order]
    parent = np.where(depth, rank[parent[order]], -1)

    # The arrays have room for more: where a label starts, where each node's children stand, and for each phase what
    # all children that begin there ask for. A child begins at the first node that it is joined to.
    # There is more room than the tree has nodes: the last place, which has no children, is for labels that no pattern
    # begins with.
    capacity = 1 << max(count, 15).bit_length()
    roots = np.full(1 << alphabet.label_bits, capacity - 1, np.int32)
    first_child = np.count_nonzero(depth == 0)
    roots[word[:first_child].astype(np.int64)] = np.arange(first_child)
    children = np.bincount(parent[first_child:], minlength=capacity)
    begin = np.concatenate([[0], np.cumsum(children)]) + first_child
    after = np.full((size - 1, capacity), NOT_WALKED, np.int32)
    state = (1 << alphabet.state_bits) - 1
    for node in range(first_child, count):
        # A child is met in the walk of the first node of the row that it is joined to.
        phase = next(a for a in range(size) if int(word[node]) >> (a * alphabet.state_bits) & state)
        # The demands that all of them share are an AND over them, begun with all ones.
        after[phase, parent[node]] &= int(below[node])
    first_leaf = int(np.searchsorted(depth, size - 1))
    leaf_class = np.empty(count - first_leaf, np.int64)
    leaf_class[rank[found.leaf] - first_leaf] = [number for number, _, _ in ways]
    most = [int(children[:count][depth == level].max(initial=0)) for level in range(size - 1)]
    padding = (0, capacity - count)
    arrays: tuple[Any, ...] = roots, begin.astype(np.int32), np.pad(word, padding), np.pad(below, padding), after
    return TreePlan(
        Tree(*arrays),
        size,
        first_leaf,
        1 << max(leaf_class.size - 1, 15).bit_length(),
        leaf_class,
        tuple(classes),
        # The depth of the search is a multiple of three, so that few depths are compiled.
        tuple(-(-m.bit_length() // 3) * 3 for m in most),
    )


def class_pattern(text: str, alphabet: Alphabet, size: int) -> Pattern:
    """Return the pattern of a canonical string, with its labels as ranks: of nodes from 0, of edges from 1.

    Example:
      >>> class_pattern("3,7:0010", Alphabet(True, None, (3, 7)), 2).node_labels.tolist()
      [0, 1]
    """
    nodes = None
    if alphabet.node_labels is not None:
        names, text = text.split(":")
        nodes = np.array([alphabet.node_labels.index(int(name)) for name in names.split(",")])
    if alphabet.edge_labels is None:
        entries = np.array([int(cell) for cell in text])
    else:
        cells = text.split(",")
        entries = np.array([0 if cell == "." else 1 + alphabet.edge_labels.index(int(cell)) for cell in cells])
    entries = entries.reshape(size, size)
    return Pattern(entries > 0, nodes, None if alphabet.edge_labels is None else entries, alphabet.directed)


class _Frequencies:
    """Numbers of edges of each kind in a graph."""

    def __init__(self, graph: Graph, alphabet: Alphabet):
        self._alphabet, slots = alphabet, slots_of(graph, graph_edges(graph))
        labels = np.zeros(graph.n, np.int64)
        if alphabet.node_labels is not None:
            node_labels = np.asarray(graph.node_labels)[: graph.n]
            labels[degree_rank(graph)] = alphabet.ranks(node_labels, alphabet.node_labels, graph.n) - 1
        tail = np.repeat(np.arange(graph.n), np.diff(slots.offsets))
        kinds = self._key(labels[tail], labels[slots.near], slots.states)
        self._kinds, self._times = np.unique(kinds, return_counts=True)

    def _key(self, first: np.ndarray, second: np.ndarray, states: np.ndarray) -> np.ndarray:
        a = self._alphabet
        return (((first << a.label_bits) + second) << a.state_bits) + states

    def of(self, pattern: Pattern) -> np.ndarray:
        """Return how often the edge between each two nodes of a pattern occurs in the graph, int64 ``[k, k]``."""
        k, a = pattern.num_nodes, self._alphabet
        labels = np.zeros(k, np.int64) if pattern.node_labels is None else pattern.node_labels
        entries = _entries(pattern)
        states = entries + a.entries * entries.T if a.directed else entries
        keys = self._key(labels[:, None], labels[None, :], states)
        # A position past the last is moved to the last, whose key then differs.
        at = np.minimum(np.searchsorted(self._kinds, keys), max(self._kinds.size - 1, 0))
        return np.where(self._kinds[at] == keys, self._times[at], 0)


def _entries(pattern: Pattern) -> np.ndarray:
    return (pattern.adjacency if pattern.edge_labels is None else pattern.edge_labels).astype(np.int64)


def _word(step: tuple, alphabet: Alphabet) -> int:
    """Return a step as a word in the form of :attr:`Tree.pattern`."""
    label, *pairs = step
    word = label << (len(pairs) * alphabet.state_bits)
    # In `Tree.pattern` e(old, new) is the lower digit and e(new, old) the higher one.
    for a, (out, back) in enumerate(pairs):  # both seen from the older node
        word |= (back + alphabet.entries * out if alphabet.directed else out) << (a * alphabet.state_bits)
    return word
