"""How often given classes occur in random graphs, by matching them all at once along their matching tree.

Orders put dense and infrequent parts first, by the frequencies of edges in the input graph; symmetry is broken in every
beginning of an order (:mod:`jaxmotif.patterns.prefixes`); orders that begin alike are searched once. Matches are
induced, and every occurrence is counted once, so the counts are those of a census.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.graph import Graph
from jaxmotif.kernels import tree as kernel
from jaxmotif.kernels.census import Dyads
from jaxmotif.kernels.choice import kernel_backend
from jaxmotif.kernels.scatter import accumulator
from jaxmotif.kernels.tree import Matches, Tree
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.motifs.dyads import Alphabet, degree_rank, graph_slots
from jaxmotif.patterns import Pattern, matching_tree
from jaxmotif.patterns.prefixes import PrefixOrder, PrefixOrders


@dataclasses.dataclass(frozen=True, eq=False)
class TreePlan:
    """Classes ready to be counted.

    Attributes:
      tree: NumPy arrays, padded to a power of two, so that plans of about one size share their compilations.
      size: nodes of each class.
      first_leaf: the first tree node of the last level; leaves: how many numbers to count from there on.
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
    found = matching_tree([pattern for _, pattern, _ in ways], [order.nodes.tolist() for _, _, order in ways])
    count = len(found.parent)
    parent = np.array(found.parent, np.int64)
    word = np.array([_word(step, alphabet) for step in found.step], np.uint32)
    depth, below = np.zeros(count, np.int64), np.zeros(count, np.uint32)
    for node, above in enumerate(found.parent):
        depth[node] = 0 if above < 0 else depth[above] + 1
    for (_, _, order), node in zip(ways, found.leaf, strict=True):
        for bits in reversed(order.after):
            below[node] = bits
            node = found.parent[node]

    # Number the nodes level by level, siblings together and by rising pattern.
    rank = np.empty_like(depth)
    for level in range(size):
        nodes = np.flatnonzero(depth == level)
        above = rank[parent[nodes]] if level else np.zeros(nodes.size, np.int64)
        rank[nodes[np.lexsort((word[nodes], above))]] = np.count_nonzero(depth < level) + np.arange(nodes.size)
    order = np.argsort(rank)
    depth, word, below = depth[order], word[order], below[order]
    parent = np.where(depth, rank[parent[order]], -1)

    capacity = 1 << max(count, 15).bit_length()
    roots = np.full(1 << alphabet.label_bits, capacity - 1, np.int32)
    first_child = np.count_nonzero(depth == 0)
    roots[word[:first_child].astype(np.int64)] = np.arange(first_child)
    children = np.bincount(parent[first_child:], minlength=capacity)
    begin = np.concatenate([[0], np.cumsum(children)]) + first_child
    after = np.full((size - 1, capacity), kernel.NOT_WALKED, np.int32)
    state = (1 << alphabet.state_bits) - 1
    for node in range(first_child, count):
        phase = next(a for a in range(size) if int(word[node]) >> (a * alphabet.state_bits) & state)
        after[phase, parent[node]] &= int(below[node])
    first_leaf = int(np.searchsorted(depth, size - 1))
    leaf_class = np.empty(count - first_leaf, np.int64)
    leaf_class[rank[found.leaf] - first_leaf] = [number for number, _, _ in ways]
    most = [int(children[:count][depth == level].max(initial=0)) for level in range(size - 1)]
    padding = (0, capacity - count)
    return TreePlan(
        Tree(roots, begin.astype(np.int32), np.pad(word, padding), np.pad(below, padding), after), size, first_leaf,
        1 << max(leaf_class.size - 1, 15).bit_length(), leaf_class, tuple(classes),
        tuple(-(-m.bit_length() // 3) * 3 for m in most),
    )  # fmt: skip


def count_by_matching(dyads: Dyads, plan: TreePlan, *, block: int, tables: Sequence[int]) -> np.ndarray:
    """Count the occurrences of every class of a plan, int64 ``[graphs, classes]``.

    Args:
      dyads: any number of graphs, on the device to use.
      block: positions tried at once.
      tables: how many partial matches of 2, 3, .. ``plan.size - 1`` nodes may be held at once, each at least ``block``;
        fewer where there cannot be as many.

    Raises:
      ValueError: more counts than 32 bits can number.
    """
    nodes = dyads.offsets.shape[0] - 1
    graphs = nodes // max(dyads.n, 1)
    if not nodes:
        return np.zeros((graphs, len(plan.classes)), np.int64)
    cells = graphs * plan.leaves
    if cells >= 2**31 - 1:
        raise ValueError(f"{graphs} graphs of {plan.leaves} leaves take {cells} counts, over 2^31: use fewer at a time")
    device = next(iter(dyads.offsets.devices()))
    backend = kernel_backend(device)
    tree = jax.device_put(plan.tree, device)
    most = [(dyads.near.shape[0] << i * (dyads.degree_bits + 3)) + block for i in range(plan.size - 2)]
    tables = [min(pair) for pair in zip(tables, most, strict=False)]
    with wide_ints():
        counts = accumulator(cells, jnp.int64, backend)

    def descend(rows: Matches, size: int) -> None:
        nonlocal counts
        i = rows.nodes.shape[0]
        steps = plan.steps[i - 1]
        table, held = None if i == plan.size - 1 else _empty(i + 1, tables[i - 1]), 0
        for phase in range(i):
            with wide_ints():
                walks, positions = _open(dyads, tree, rows, np.int32(size), np.int32(phase))
                if table is None:
                    counts = _count(
                        dyads, tree, rows, walks, np.int32(phase), np.int32(plan.first_leaf), counts,
                        leaves=plan.leaves, size=cells, steps=steps, block=block, backend=backend,
                    )  # fmt: skip
                    continue
                first, positions = 0, int(positions)
            while first < positions:
                with wide_ints():
                    table, held, first = _fill(
                        dyads, tree, rows, walks, np.int32(phase), np.int64(first), table, np.int32(held),
                        steps=steps, block=block, backend=backend,
                    )  # fmt: skip
                    held, first = map(int, jax.device_get((held, first)))
                if held + block > tables[i - 1]:
                    descend(table, held)
                    held = 0
        if table is not None and held:
            descend(table, held)

    descend(_roots(dyads, tree), nodes)
    by_leaf = np.asarray(counts)[:cells].reshape(graphs, plan.leaves)[:, : plan.leaf_class.size]
    found = np.zeros((len(plan.classes), graphs), np.int64)
    np.add.at(found, plan.leaf_class, by_leaf.T)
    return found.T


def class_pattern(text: str, alphabet: Alphabet, size: int) -> Pattern:
    """The pattern that a canonical string stands for, its labels as their ranks: of nodes from 0, of edges from 1.

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
    """How often each kind of edge occurs in a graph."""

    def __init__(self, graph: Graph, alphabet: Alphabet):
        self._alphabet, slots = alphabet, graph_slots(graph)
        labels = np.zeros(graph.n, np.int64)
        if alphabet.node_labels is not None:
            given = np.asarray(graph.node_labels)[: graph.n]
            labels[degree_rank(graph)] = alphabet.ranks(given, alphabet.node_labels, graph.n) - 1
        tail = np.repeat(np.arange(slots.n), np.diff(slots.offsets))
        kinds = self._key(labels[tail], labels[slots.near], slots.states)
        self._kinds, self._times = np.unique(kinds, return_counts=True)

    def _key(self, first: Any, second: Any, states: Any) -> Any:
        a = self._alphabet
        return (((first << a.label_bits) + second) << a.state_bits) + states

    def of(self, pattern: Pattern) -> np.ndarray:
        """Of each pair of a pattern's nodes, int64 ``[k, k]``."""
        k, a = pattern.num_nodes, self._alphabet
        labels = np.zeros(k, np.int64) if pattern.node_labels is None else pattern.node_labels
        entries = _entries(pattern)
        states = entries + a.entries * entries.T if a.directed else entries
        keys = self._key(labels[:, None], labels[None, :], states)
        at = np.minimum(np.searchsorted(self._kinds, keys), max(self._kinds.size - 1, 0))
        return np.where(self._kinds[at] == keys, self._times[at], 0)


def _entries(pattern: Pattern) -> np.ndarray:
    return (pattern.adjacency if pattern.edge_labels is None else pattern.edge_labels).astype(np.int64)


def _word(step: tuple, alphabet: Alphabet) -> int:
    """A step as :attr:`Tree.pattern` holds it."""
    label, *pairs = step
    word = label << (len(pairs) * alphabet.state_bits)
    for a, (out, back) in enumerate(pairs):  # seen from the older node
        word |= (back + alphabet.entries * out if alphabet.directed else out) << (a * alphabet.state_bits)
    return word


def _empty(nodes: int, capacity: int) -> Matches:
    column = jnp.zeros(capacity, jnp.int32)
    return Matches(column, jnp.zeros((nodes, capacity), jnp.int32), column)


@jax.jit
def _open(dyads: Dyads, tree: Any, rows: Matches, size: Any, phase: Any) -> tuple[Any, Any]:
    walks = kernel.open_walks(dyads, tree, rows, size, phase)
    return walks, walks.work.total


_roots = jax.jit(kernel.root_matches)
_fill = jax.jit(kernel.fill_matches, static_argnames=("steps", "block", "backend"))
_count = jax.jit(
    kernel.count_matches_by_graph, static_argnames=("leaves", "size", "steps", "block", "backend"),
    donate_argnames="counts",
)  # fmt: skip
