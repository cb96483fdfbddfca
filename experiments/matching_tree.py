"""The matching tree of the NemoGPU paper [1], which counts the classes of a network in its random graphs.

The package counts random graphs by a census of each, which gives the same numbers and was faster on every network that
was measured. This is the paper's own method, for those who check it, in plain XLA and for networks without labels;
``python experiments/motifs.py engines`` times it beside the census.

Each class of k nodes gets matching orders, in which every beginning is connected (4.2). The orders of all classes are
joined into a prefix tree, so that what they share is searched once (5.3). Several random graphs are laid side by side
and searched as one (5.2). A table holds candidates of i nodes, C_i of Algorithm 1, and Algorithm 2 makes C_{i+1} of it:
the neighbours of anchor nodes are laid end to end (Algorithm 3), each is tried as the next node (Algorithm 4), and its
states with all nodes of the candidate decide which child of the tree it leads to, if to any (Algorithm 5). Tables have
a fixed size, and a full one is worked off before it is filled again (5.1).

Differences from the paper. Symmetry is broken in every beginning of an order, where the paper's constraints (4.3) leave
several candidates of one occurrence of a beginning (footnote 3). All anchors of a candidate are walked at once, so that
one expansion serves all children. How a neighbour is tried can be chosen (``TESTS``): the paper's own test has one lane
for each edge of the neighbour (Algorithm 5), and is compared with those that have one lane for the neighbour.

[1] Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach. TKDE 2017. Numbers in brackets are its sections.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.graph import Graph
from jaxmotif.patterns import Pattern, automorphisms, canonical_order, node_orbits

BLOCK = 2**15
"""Number of neighbours that are tried at a time."""
TABLE = 2**18
"""Number of candidates of each size that a table holds."""
NO_CHILD = -1
"""Value of :attr:`Level.after` where no child begins."""


# ---- random graphs side by side (4.1, 5.2)


class MergedGraphs(NamedTuple):
    """Graphs of n nodes side by side as one graph, whose node ``g * n + v`` is node v of graph g.

    The *state* of a node u with a node v is 1 for an arc (u, v), 2 for an arc (v, u), 3 for both, 0 for none.

    Attributes:
      offsets: int32 ``[V + 1]``, where the neighbours of each of the V nodes begin in ``near``.
      near: int32, the neighbours of every node either way, ascending.
      near_states: uint8, the state of each of these neighbours with the node.
      states: uint8 ``[V * n]``, the states of each node with the n nodes of its graph.
    """

    offsets: jax.Array
    near: jax.Array
    near_states: jax.Array
    states: jax.Array

    @property
    def n(self) -> int:
        """Number of nodes of each graph."""
        return self.states.shape[0] // (self.offsets.shape[0] - 1)


def merge_graphs(graphs: Sequence[Graph]) -> MergedGraphs:
    """Lay graphs with the same number of nodes side by side, with their nodes renumbered by falling degree.

    Raises:
      ValueError: for 2^31 pairs of nodes or more.
    """
    count, n = len(graphs), graphs[0].n
    if count * n * n >= 2**31:
        raise ValueError(f"{count} graphs of {n} nodes have {count * n * n} pairs of nodes, over 2^31: merge fewer")
    states, number = np.zeros((count, n, n), np.uint8), np.empty(n, np.int64)
    number[np.argsort(-np.bincount(graphs[0].edge_list().reshape(-1), minlength=n), kind="stable")] = np.arange(n)
    for state, graph in zip(states, graphs, strict=True):
        tails, heads = number[graph.edge_list()].T
        state[tails, heads] |= 1 if graph.directed else 3
        state[heads, tails] |= 2 if graph.directed else 3
    graph, node, near = np.nonzero(states)
    offsets = np.searchsorted(graph * n + node, np.arange(count * n + 1))
    rows = jnp.asarray(offsets, jnp.int32), jnp.asarray(graph * n + near, jnp.int32)
    return MergedGraphs(*rows, jnp.asarray(states[graph, near, node]), jnp.asarray(states.reshape(-1)))


# ---- matching orders (4.2, 4.3)


Order = tuple[np.ndarray, tuple[int, ...]]
"""Matching order: the nodes of a pattern, and for each place the earlier ones whose nodes are lower, as bits."""


def matching_orders(pattern: Pattern, frequency: np.ndarray, known: dict[bytes, list[Order]]) -> list[Order]:
    """Find the matching orders of a connected pattern.

    Every occurrence of a pattern is met by exactly one of its orders, once, and so is every occurrence of a beginning:
    a beginning is a pattern in its own right. The last node is one whose removal leaves the pattern connected, and of
    the nodes that automorphisms exchange with it, it is to have the highest number. What is left has orders of its own,
    and each is continued in all ways in which the last node can be joined.

    The last node has the fewest neighbours, so that beginnings are dense, and among such nodes the most frequent edges,
    so that infrequent ones come first, as in the paper.

    Args:
      pattern: the pattern.
      frequency: int64 ``[4]``, how often each state occurs in the network; 0 for no edge.
      known: the orders found before, by canonical form.
    """
    form = canonical_order(pattern)
    canonical = pattern.relabel(form)
    key, k, states = canonical.adjacency.tobytes(), pattern.num_nodes, states_of(canonical)
    if k == 1:
        return [(np.zeros(1, np.int64), (0,))]
    if key not in known:
        by_choice = np.lexsort((-frequency[states].sum(axis=1), (states > 0).sum(axis=1))).tolist()
        last = next(v for v in by_choice if len(canonical.relabel(np.delete(np.arange(k), v)).components()) == 1)
        others, orbit = np.delete(np.arange(k), last), node_orbits(canonical)
        rest, known[key] = canonical.relabel(others), []
        group = automorphisms(rest)
        for beginning, after in matching_orders(rest, frequency, known):
            # Every automorphism of the rest is a way to join the last node. Ways that look alike find the same
            # occurrences, so that one of them is enough.
            ways = others[group[:, beginning]]
            for way in np.unique(states[last][ways], axis=0, return_index=True)[1].tolist():
                nodes = ways[way]
                bits = sum(1 << place for place, v in enumerate(nodes.tolist()) if orbit[v] == orbit[last])
                known[key].append((np.append(nodes, last), (*after, bits)))
    return [(form[nodes], after) for nodes, after in known[key]]


def states_of(pattern: Pattern) -> np.ndarray:
    """Return the state of each node of a pattern with each other, int64 ``[k, k]``."""
    arcs = pattern.adjacency.astype(np.int64)
    return arcs + 2 * arcs.T


# ---- the matching tree (5.3)


class Level(NamedTuple):
    """One level of a matching tree, whose nodes stand for beginnings of i + 1 nodes; padded.

    Attributes:
      keys: uint32, ascending: the number of the tree node above, then for each of the i earlier places the state of its
        node with the new node, two bits each, the first one lowest.
      below: int32, the places whose nodes the new node must come after, as bits.
      after: int32 ``[i, parents]``, for each anchor place and tree node above, the bits of ``below`` that all children
        share which are first joined to the anchor; ``NO_CHILD`` where there are none.
    """

    keys: np.ndarray
    below: np.ndarray
    after: np.ndarray


class MatchingTree(NamedTuple):
    """The matching orders of some classes, joined where they begin alike.

    Attributes:
      levels: the levels for beginnings of 2, 3, .. k nodes.
      leaf_class: int64, for each node of the last level the number of the class that it finds.
    """

    levels: list[Level]
    leaf_class: np.ndarray


def plan_tree(graph: Graph, classes: Sequence[str]) -> MatchingTree:
    """Join the matching orders of classes into a tree.

    Args:
      graph: the network, whose edges decide the orders.
      classes: different canonical strings of connected patterns of one size, at least one, as a census gives them.

    Raises:
      ValueError: if the tree has more nodes than keys of 32 bits can tell.
    """
    size = math.isqrt(len(classes[0]))
    frequency = np.append(0, np.bincount(merge_graphs([graph]).states, minlength=4)[1:])
    known: dict[bytes, list[Order]] = {}
    conditions: dict[tuple[int, ...], int] = {}  # of every beginning, its last node's
    found: dict[tuple[int, ...], int] = {}  # of every whole order, its class
    for number, text in enumerate(classes):
        pattern = Pattern(np.array([*text]).reshape(size, size) == "1", None, None, graph.directed)
        for nodes, after in matching_orders(pattern, frequency, known):
            states = states_of(pattern.relabel(nodes)).tolist()
            words = tuple(sum(states[a][i] << 2 * a for a in range(i)) for i in range(1, size))
            conditions |= {words[:i]: after[i] for i in range(1, size)}
            found[words] = number
    levels = list[Level]()
    above: dict[tuple[int, ...], int] = {(): 0}
    for i in range(1, size):
        beginnings = sorted(words for words in conditions if len(words) == i)
        if len(above) << 2 * i >= 2**32:
            raise ValueError(f"{len(above)} beginnings of {i} nodes are too many for 32 bits: plan fewer classes")
        room = padded(len(beginnings))
        keys, below = np.full(room, 2**32 - 1, np.uint32), np.zeros(room, np.int32)
        after = np.full((i, padded(len(above))), NO_CHILD, np.int32)
        for place, words in enumerate(beginnings):
            parent, word = above[words[:-1]], words[-1]
            keys[place], below[place] = parent << 2 * i | word, conditions[words]
            anchor = next(a for a in range(i) if word >> 2 * a & 3)
            after[anchor, parent] &= conditions[words]  # NO_CHILD has all bits set
        levels.append(Level(keys, below, after))
        above = {words: place for place, words in enumerate(beginnings)}
    return MatchingTree(levels, np.array([found[words] for words in above]))


def padded(count: int) -> int:
    """Return an array length for some tree nodes; trees of about one size then share programs."""
    return 1 << max(count, 15).bit_length()


# ---- candidates (Algorithms 1 to 5)


class Candidates(NamedTuple):
    """A table of candidates of i nodes, C_i.

    Attributes:
      nodes: int32 ``[i, room]``, the nodes in matching order.
      at: int32 ``[room]``, the tree node that each candidate has reached, by its number in its level.
    """

    nodes: jax.Array
    at: jax.Array


class Walks(NamedTuple):
    """Walks along neighbours of anchors, laid end to end; the arrays A_v and A_o of Algorithm 3.

    Attributes:
      item: int32, ``anchor place * room + candidate`` of each walk that is not empty, and padding.
      begin: int32, where in ``near`` the walk begins.
      starts: int32, one longer: the first position of each walk, then the number of all positions.
    """

    item: jax.Array
    begin: jax.Array
    starts: jax.Array


def count_by_tree(
    graphs: MergedGraphs,
    tree: MatchingTree,
    tables: int | Sequence[int] = TABLE,
    block: int = BLOCK,
    test: str = "table",
) -> np.ndarray:
    """Count the occurrences of every class in every graph, int64 ``[graphs, classes]`` (Algorithm 1, all at once).

    Args:
      graphs: the random graphs.
      tree: the classes.
      tables: how many candidates of 2, 3, .. k - 1 nodes a table holds, which is what lambda of equation 5 decides; or
        one number for all.
      block: how many neighbours are tried at a time.
      test: how they are tried, one of ``TESTS``.

    Raises:
      ValueError: for tables smaller than a block, or more positions or counts than 32 bits can number.
    """
    size, leaves = len(tree.levels) + 1, padded(tree.leaf_class.size)
    nodes = graphs.offsets.shape[0] - 1
    count = nodes // graphs.n
    rooms = [tables] * size if isinstance(tables, int) else list(tables)
    # The positions of all walks of a table must fit 32 bits.
    limit = (2**31 - 1 - block) // (size * max(int(jnp.diff(graphs.offsets).max()), 1))
    rooms = [min(room, limit) for room in rooms]
    if min(rooms[: size - 2], default=block) < block or count * leaves >= 2**31:
        raise ValueError(f"tables of {rooms} candidates and {count} graphs must suit blocks of {block} and 32 bits")
    counts = np.zeros(count * leaves, np.int64)

    def descend(table: Candidates, used: int) -> None:
        """Make longer candidates of a table's, depth first (5.1)."""
        i = table.nodes.shape[0]
        level = tree.levels[i - 1]
        walks = open_walks(graphs, level, table, used)
        if i == size - 1:
            counts[:] += np.asarray(count_last(graphs, level, table, walks, leaves, block, test))
            return
        longer = Candidates(jnp.zeros((i + 1, rooms[i - 1]), jnp.int32), jnp.zeros(rooms[i - 1], jnp.int32))
        first, positions = 0, int(walks.starts[-1])
        while first < positions:
            longer, *numbers = fill(graphs, level, table, walks, first, longer, block, test)
            number, first = map(int, numbers)
            if number:
                descend(longer, number)

    descend(Candidates(jnp.arange(nodes, dtype=jnp.int32)[None], jnp.zeros(nodes, jnp.int32)), nodes)
    by_leaf = counts.reshape(count, leaves)[:, : tree.leaf_class.size]
    by_class = np.zeros((tree.leaf_class.max() + 1, count), np.int64)
    np.add.at(by_class, tree.leaf_class, by_leaf.T)  # orders of one class find different occurrences of it
    return by_class.T


@jax.jit
def open_walks(graphs: MergedGraphs, level: Level, table: Candidates, used: jax.Array) -> Walks:
    """Lay out the walks along the neighbours of all anchors of the first ``used`` candidates (Algorithm 3).

    A walk begins after all nodes that every child of its anchor must come after (the test of 4.3).
    """
    after = jnp.where(jnp.arange(table.at.size) < used, jnp.asarray(level.after)[:, table.at], NO_CHILD)
    bound = jnp.zeros_like(after)
    for place, node in enumerate(table.nodes):
        bound = jnp.maximum(bound, jnp.where((after != NO_CHILD) & (after >> place & 1 > 0), node + 1, 0))
    begin, stop = find_neighbor(graphs, table.nodes, bound)
    length = jnp.where(after != NO_CHILD, stop - begin, 0).reshape(-1)
    (item,) = jnp.nonzero(length, size=length.size, fill_value=0)
    lengths = jnp.where(jnp.arange(length.size) < jnp.count_nonzero(length), length[item], 0)
    starts = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(lengths, dtype=jnp.int32)])
    return Walks(item.astype(jnp.int32), begin.reshape(-1)[item], starts)


def find_neighbor(graphs: MergedGraphs, node: jax.Array, bound: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return where the neighbours of nodes from ``bound`` on begin in ``near``, and where their neighbours end."""
    stop = graphs.offsets[node + 1]

    def halve(ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends
        middle = (low + high) // 2
        less = graphs.near[middle] < bound
        return jnp.where((low < high) & less, middle + 1, low), jnp.where((low < high) & ~less, middle, high)

    begin, _ = lax.while_loop(lambda ends: (ends[0] < ends[1]).any(), halve, (graphs.offsets[node], stop))
    return begin, stop


# ---- three tests of a neighbour (4.2)


def states_in_table(graphs: MergedGraphs, old: jax.Array, new: jax.Array, valid: jax.Array) -> jax.Array:
    """Look up the states of candidates' nodes with new nodes in the table of all pairs.

    Args:
      graphs: the graphs.
      old: int32 ``[i, block]``, the nodes of a candidate at each place of a block.
      new: int32 ``[block]``, the new node there.
      valid: bool ``[block]``, which places there are; elsewhere the result is arbitrary.

    Returns:
      uint32 ``[block]``, the states with the candidate's nodes, two bits each, the first one lowest.
    """
    word = jnp.zeros(new.shape, jnp.uint32)
    for place, node in enumerate(old):
        word |= graphs.states[node * graphs.n + new % graphs.n].astype(jnp.uint32) << 2 * place
    return word


def states_by_search(graphs: MergedGraphs, old: jax.Array, new: jax.Array, valid: jax.Array) -> jax.Array:
    """Find the same states by a binary search for each old node among the new node's neighbours.

    This is the paper's "straightforward method", with one lane for each new node.
    """
    word = jnp.zeros(new.shape, jnp.uint32)
    for place, node in enumerate(old):
        at, stop = find_neighbor(graphs, new, node)
        at = jnp.minimum(at, graphs.near.size - 1)
        found = (at < stop) & (graphs.near[at] == node)
        word |= jnp.where(found, graphs.near_states[at].astype(jnp.uint32), 0) << 2 * place
    return word


def states_by_edges(graphs: MergedGraphs, old: jax.Array, new: jax.Array, valid: jax.Array) -> jax.Array:
    """Find the same states by looking at all edges of the new nodes, with one lane for each edge (Algorithm 5)."""
    block = new.size
    starts = jnp.cumsum(jnp.where(valid, graphs.offsets[new + 1] - graphs.offsets[new], 0))
    starts = jnp.concatenate([jnp.zeros(1, starts.dtype), starts])
    lane = jnp.arange(block, dtype=starts.dtype)

    def step(number: jax.Array, word: jax.Array) -> jax.Array:
        first = number * block
        # Which new node each lane has an edge of: lists of edges begin at some lanes of this step, or before it.
        begins = jnp.where(starts[1:] > starts[:-1], starts[:-1] - first, block)
        marks = (
            jnp.zeros(block, jnp.int32).at[jnp.where(begins >= 0, begins, 0)].max(lane.astype(jnp.int32), mode="drop")
        )
        of = lax.cummax(marks)
        at = graphs.offsets[new[of]] + (first + lane - starts[of])
        is_edge = first + lane < starts[-1]
        end, state = graphs.near[jnp.where(is_edge, at, 0)], graphs.near_states[jnp.where(is_edge, at, 0)]
        for place, node in enumerate(old):
            # A node is the end of one edge at most, so that the sum is its state.
            here = is_edge & (end == node[of])
            word = word.at[jnp.where(here, of, block)].add(state.astype(jnp.uint32) << 2 * place, mode="drop")
        return word

    steps = -(-starts[-1] // block)
    return lax.fori_loop(jnp.zeros_like(steps), steps, step, jnp.zeros(block, jnp.uint32))


TESTS = {"table": states_in_table, "search": states_by_search, "edges": states_by_edges}
"""Ways to find the states of a new node with the nodes of a candidate."""


def extend(
    graphs: MergedGraphs, level: Level, table: Candidates, walks: Walks, first: jax.Array, block: int, test: str
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Try the neighbours at the positions ``first .. first + block`` as next nodes (Algorithms 4 and 5).

    Returns:
      Four arrays ``[block]``: which positions make longer candidates, of which candidates, the neighbours there, and
      the tree nodes that are reached.
    """
    i, room = table.nodes.shape
    # No walk is empty, so that this many walks cover the block.
    walks_here = min(block, walks.item.size)
    window = jnp.searchsorted(walks.starts, first, side="right").astype(jnp.int32) - 1
    window = jnp.clip(window, 0, walks.item.size - walks_here)
    starts = lax.dynamic_slice(walks.starts, (window,), (walks_here,)) - first
    marks = jnp.zeros(block, jnp.int32).at[jnp.where(starts > 0, starts, block)].add(1, mode="drop")
    position = jnp.arange(block, dtype=jnp.int32)
    valid = position < walks.starts[-1] - first
    walk = jnp.where(valid, jnp.cumsum(marks, dtype=jnp.int32) + (starts <= 0).sum(dtype=jnp.int32) - 1, 0)
    item = walks.item[window + walk]
    anchor, candidate = item // room, item % room
    new = graphs.near[jnp.where(valid, walks.begin[window + walk] + position - starts[walk], 0)]
    old, lower = table.nodes[:, candidate], jnp.zeros(block, jnp.int32)
    word = TESTS[test](graphs, old, new, valid)
    for place in range(i):
        # A node is met from the first node that it touches alone.
        valid &= (new != old[place]) & ((word >> 2 * place & 3 == 0) | (place >= anchor))
        lower |= (old[place] < new).astype(jnp.int32) << place
    key = table.at[candidate].astype(jnp.uint32) << 2 * i | word
    keys, below = jnp.asarray(level.keys), jnp.asarray(level.below)
    child = jnp.minimum(jnp.searchsorted(keys, key), keys.size - 1).astype(jnp.int32)
    fits = valid & (keys[child] == key) & (lower & below[child] == below[child])
    return fits, candidate, new, child


Filling = tuple[Candidates, jax.Array, jax.Array]
"""A table that is filled, how many candidates it holds, and the position to go on from."""


@partial(jax.jit, static_argnums=(6, 7), donate_argnums=5)
def fill(
    graphs: MergedGraphs,
    level: Level,
    table: Candidates,
    walks: Walks,
    first: int,
    longer: Candidates,
    block: int,
    test: str,
) -> Filling:
    """Fill a table with longer candidates from a position on, until another block might not fit (Algorithm 2, 5.1)."""

    def more(carry: Filling) -> jax.Array:
        return (carry[2] < walks.starts[-1]) & (carry[1] + block <= longer.at.size)

    def step(carry: Filling) -> Filling:
        (nodes, at), number, first = carry
        fits, candidate, new, child = extend(graphs, level, table, walks, first, block, test)
        count = jnp.cumsum(fits, dtype=jnp.int32)
        place = jnp.where(fits, number + count - 1, at.size)  # what does not fit is written past the end: dropped
        nodes = nodes.at[:-1, place].set(table.nodes[:, candidate], mode="drop").at[-1, place].set(new, mode="drop")
        return Candidates(nodes, at.at[place].set(child, mode="drop")), number + count[-1], first + block

    return lax.while_loop(more, step, (longer, jnp.int32(0), jnp.int32(first)))


@partial(jax.jit, static_argnums=(4, 5, 6))
def count_last(
    graphs: MergedGraphs, level: Level, table: Candidates, walks: Walks, leaves: int, block: int, test: str
) -> jax.Array:
    """Count the longer candidates of the last level by graph and leaf, int32 ``[graphs * leaves]``; none is stored."""
    cells = (graphs.offsets.shape[0] - 1) // graphs.n * leaves

    def step(number: jax.Array, counts: jax.Array) -> jax.Array:
        fits, _, new, leaf = extend(graphs, level, table, walks, number * block, block, test)
        return counts.at[jnp.where(fits, new // graphs.n * leaves + leaf, cells)].add(1, mode="drop")

    return lax.fori_loop(jnp.int32(0), -(-walks.starts[-1] // block), step, jnp.zeros(cells, jnp.int32))
