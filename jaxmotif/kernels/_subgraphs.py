"""Growth of connected induced subgraphs by one node, each exactly once (NemoGPU 6.2), and their adjacency codes.

A subgraph is a row of nodes in the order in which they were added. The first node has the lowest id. The composite rank
of a node v is the position of the first node of the row that v touches, then v's place among that node's neighbours. A
node may be added when its composite rank is above that of the node added last. Every connected set of nodes arises
from exactly one row.

The last two nodes are not added one by one. Let P be a row of k - 2 nodes, and X the nodes that may be added to it. The
subgraphs that grow from P are the pairs of nodes of X, and every u of X with a node that touches u alone (an *only
neighbour*). The way in which a node attaches to P, its *pattern*, takes few values in X. Pairs without an edge between
them are counted by multiplying how often two patterns occur. A walk over the neighbours of every u meets the pairs with
an edge and the only neighbours.

A code grows with its row, by bits for the label of the new node and for its dyads with the nodes before it. Codes are
two uint32 words. A code that is counted ends with the number of its graph, so that one pass counts a whole batch.

The number of nodes, the number of nodes in a row, and the number of bits of a graph's number are data. Arrays have room
for more, so that graphs of about one size share their programs.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import DTypeLike

from jaxmotif.arrays._compile import target
from jaxmotif.arrays._rows import first_of_each
from jaxmotif.arrays._sums import running_sum
from jaxmotif.kernels import _expand as ex
from jaxmotif.kernels._expand import FlatWork, take
from jaxmotif.kernels._lane_body import PLAIN, Read, each_position
from jaxmotif.kernels._scatter import accumulator, compact, put_at

NO_CODE = 0xFFFFFFFF
"""Value that stands for no code, in each word of a code."""

Words = tuple[Array, Array]
"""The low and the high half of codes, uint32, or another pair of arrays."""


def all_ones(dtype: DTypeLike) -> Array:
    """Return the value that stands for no key and no code, as an array, since jax 0.11 refuses a Python integer."""
    return jnp.array(jnp.iinfo(dtype).max, dtype)


class Codes(NamedTuple):
    """The layout of the codes of subgraphs.

    Attributes:
      entries: How many values an adjacency entry has, or 0 for undirected graphs.
      state_bits: The number of bits of a dyad's state.
      label_bits: The number of bits of a node label.
    """

    entries: int
    state_bits: int
    label_bits: int

    def bits(self, size: int) -> int:
        """Return the bits of the code of a subgraph of ``size`` nodes."""
        return size * self.label_bits + size * (size - 1) // 2 * self.state_bits

    def place(self, node: Any, size: int) -> Any:
        """Return the lowest bit of nodes, numbered as they were added, in a code of ``size`` nodes.

        A node's states towards earlier nodes begin there, and its label stands above these. The bits of all nodes after
        it are lower.
        """
        later = size * (size - 1) // 2 - node * (node + 1) // 2
        return later * self.state_bits + (size - 1 - node) * self.label_bits

    def turned(self, state: Any) -> Any:
        """Return states ``e(u, v) + L e(v, u)`` as they are seen from the other end."""
        return state // self.entries + state % self.entries * self.entries if self.entries else state


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Dyads:
    """Graphs of ``n`` nodes each, as rows of neighbours with the state of every dyad.

    The number of all nodes is ``V = graphs * n``. The state of (u, v) is ``e(u, v)`` in an undirected graph, and
    ``e(u, v) + L * e(v, u)`` in a directed one. Here ``e`` is 0 where there is no edge and else the rank of the edge's
    label from 1, and ``L`` is the number of values of ``e``.

    Attributes:
      offsets: The first slot of each row, then the number of slots; int32 ``[R + 1]``. R is at least V, and rows past V
        are empty.
      near: The neighbours by their numbers in their own graph (0..n-1), ascending in a row, then padding; int32
        ``[S]``.
      states: The state of each slot's dyad, integers ``[S]``.
      matrix: All states, integers ``[V * n]`` or more; ``None`` where that would be too large.
      node_codes: The ranks of node labels, int32 ``[R]``, or ``None``.
      sizes: n, V, and the number of bits of a graph's number; int32 ``[3]``.
      codes: How subgraphs are written as codes; static.
      search_steps: A number such that every row has fewer than ``2 ** search_steps`` neighbours; static.
    """

    offsets: Array
    near: Array
    states: Array
    matrix: Array | None
    node_codes: Array | None
    sizes: Array
    codes: Codes = dataclasses.field(metadata={"static": True})
    search_steps: int = dataclasses.field(metadata={"static": True})

    @property
    def n(self) -> Array:
        """The number of nodes of each graph."""
        return self.sizes[0]

    def new_bits(self, nodes: Array | int) -> Array | int:
        """Return how many bits the code of a row of ``nodes`` nodes gains with the next node."""
        return self.codes.label_bits + nodes * self.codes.state_bits


class Rows(NamedTuple):
    """Connected subgraphs of i nodes, at most ``C`` of them, with room for ``I`` nodes each.

    Attributes:
      graph: The number of each row's graph, int32 ``[C]``.
      nodes: The nodes, numbered over all graphs; int32 ``[I, C]``. Places from i on repeat the first node.
      begins: The slot where the walk over each node's neighbours begins, int32 ``[I, C]``. The slots before it come
        before the row's first node or before the node added last.
      rank: The place of the node in whose walk the last node was met, int32 ``[C]``; the walks of earlier nodes are
        over.
      low: The low word of the code, uint32 ``[C]``.
      high: The high word of the code, uint32 ``[C]``.
    """

    graph: Array
    nodes: Array
    begins: Array
    rank: Array
    low: Array
    high: Array


def roots(dyads: Dyads, first: Array, *, nodes: int, capacity: int) -> Rows:
    """Return the nodes from ``first`` on as subgraphs of one node.

    Args:
      dyads: The graphs.
      first: The first node, an int32 scalar.
      nodes: The room for nodes in a row, static.
      capacity: The number of rows, static.
    """
    number = first + jnp.arange(capacity, dtype=jnp.int32)
    node = jnp.minimum(number, jnp.maximum(dyads.sizes[1] - 1, 0))  # Rows past the last node repeat it, a safe index.
    graph = node // jnp.maximum(dyads.n, 1)
    # The walk begins after the node itself, because a row's first node is its lowest.
    begin = _first_after(dyads, node, node - graph * dyads.n, number < dyads.sizes[1])
    none = jnp.zeros(capacity, jnp.uint32)
    low = none if dyads.node_codes is None else take(dyads.node_codes, node).astype(jnp.uint32)
    room = nodes, capacity
    return Rows(graph, jnp.broadcast_to(node, room), jnp.broadcast_to(begin, room), jnp.zeros_like(node), low, none)


def edge_codes(dyads: Dyads, *, wide: bool) -> Array:
    """Return the codes of all subgraphs of two nodes, in the form of :func:`visit_codes`, ``[S]``."""
    capacity, slots = dyads.offsets.shape[0] - 1, dyads.near.shape[0]
    rows = roots(dyads, jnp.int32(0), nodes=1, capacity=capacity)
    lengths = dyads.offsets[1:] - dyads.offsets[:-1]
    # Slots past the last row get an arbitrary row, and `later` leaves them out.
    row = jnp.repeat(jnp.arange(capacity, dtype=jnp.int32), lengths, total_repeat_length=slots)
    slot, graph = jnp.arange(slots, dtype=jnp.int32), take(rows.graph, row)
    states = dyads.states.astype(jnp.uint32)
    pattern = _with_label(PLAIN, dyads, states, graph * dyads.n + dyads.near, 1)
    low, high = append_bits(take(rows.low, row), take(rows.high, row), pattern, dyads.new_bits(1))
    # Every edge has a slot at both its ends and is taken from the lower one.
    later = (slot < dyads.offsets[-1]) & (slot >= take(rows.begins[0], row))
    low, high = (jnp.where(later, x, jnp.uint32(NO_CODE)) for x in append_bits(low, high, *_graph_bits(dyads, graph)))
    return jnp.stack([high, low]) if wide else low


class Walks(NamedTuple):
    """The walks of all rows of a table, laid end to end row by row.

    Attributes:
      work: The walks as lists.
      ends: The flat position where the walks of each row end, int64 ``[C]``.
    """

    work: FlatWork
    ends: Array


def open_walks(dyads: Dyads, rows: Rows, i: Array, size: Array) -> Walks:
    """Lay out the walks of the first ``size`` rows of ``i`` nodes.

    Item ``I * row + a`` is the walk over the neighbours of node a of a row.
    """
    room, capacity = rows.nodes.shape
    is_row = jnp.arange(capacity, dtype=jnp.int32) < size
    stops = take(dyads.offsets, jnp.where(is_row[None], rows.nodes, 0) + 1)
    place = jnp.arange(room, dtype=jnp.int32)[:, None]
    # Composite ranks rise along a row, so that walks of nodes before the one that met the last node are over.
    walks = is_row[None] & (place >= rows.rank[None]) & (place < i)
    # The walks of a row lie together, because `candidates` takes whole rows.
    work, ends = _lay_out(jnp.where(walks, stops - rows.begins, 0).T.reshape(-1))
    return Walks(work, ends.reshape(capacity, room)[:, -1])


def _lay_out(length: Array) -> tuple[FlatWork, Array]:
    """Lay out lists of these lengths, and return where each of them ends, int64."""
    items, number = compact(length > 0)
    # The length of one walk fits 32 bits, but their sum may not.
    length = length.astype(jnp.int64)
    end = running_sum(length)
    # Padding starts at the total, which is past the last position.
    is_item = jnp.arange(items.shape[0], dtype=jnp.int32) < number
    starts = jnp.where(is_item, take(end - length, items), end[-1])
    return FlatWork(items, jnp.concatenate([starts, end[-1:]])), end


class Extensions(NamedTuple):
    """The nodes met at a block of flat positions of walks, ``[B]`` each.

    Attributes:
      valid: Whether the node extends its row.
      row: The row.
      phase: The place of the node whose neighbour was met.
      slot: The slot of the neighbour.
      local: The number of the neighbour in its graph.
      pattern: The bits that the neighbour adds to the code, uint32.
    """

    valid: Array
    row: Array
    phase: Array
    slot: Array
    local: Array
    pattern: Array


def extensions(
    dyads: Dyads, rows: Rows, i: Array | int, work: FlatWork, first: Array, stop: Array, *, block: int
) -> Extensions:
    """Return the nodes met at the flat positions ``first .. min(first + block, stop)`` of walks.

    Args:
      dyads: The graphs.
      rows: The rows.
      i: The number of nodes of a row.
      work: The walks (see :func:`open_walks`).
      first: The first position, an int64 scalar.
      stop: The position to stop before, an int64 scalar.
      block: The number of positions, static.
    """
    room, capacity = rows.nodes.shape
    item, offset, valid = ex.expand(work, first, stop, block)
    row, phase = item // room, item % room
    slot = jnp.where(valid, take(rows.begins.reshape(-1), phase * capacity + row) + offset, 0)
    local = take(dyads.near, slot)
    node = take(rows.graph, row) * dyads.n + local
    pattern = jnp.zeros(block, jnp.uint32)
    for a in range(room):
        old = take(rows.nodes[a], row)
        state = dyad_state(PLAIN, dyads, old, local) * jnp.int32(a < i)  # Places from i on have no nodes of their own.
        # A node that touches an earlier node than the one whose neighbours are walked was met in that one's walk.
        valid = valid & (node != old) & ((state == 0) | (a >= phase))
        pattern = pattern | (state.astype(jnp.uint32) << (a * dyads.codes.state_bits))
    return Extensions(valid, row, phase, slot, local, _with_label(PLAIN, dyads, pattern, node, i))


def append_bits(low: Array, high: Array, pattern: Array, bits: Array | int) -> Words:
    """Shift a code of two words left by ``bits`` (0..31), and put a pattern into the bits that are free."""
    bits = jnp.uint32(bits)
    # The high word takes two shifts, since one shift by 32, where there are no bits to append, would be undefined.
    return (low << bits) | pattern, (high << bits) | ((low >> jnp.uint32(1)) >> (jnp.uint32(31) - bits))


def dyad_state(read: Read, dyads: Dyads, node: Array, local: Array) -> Array:
    """Return the state of the dyads (node, local), int32; 0 where there is no edge, as between a node and itself."""
    if dyads.matrix is not None:
        return read.load(dyads.matrix, node * read.at(dyads.sizes, 0) + local).astype(jnp.int32)
    low, high = read.load(dyads.offsets, node), read.load(dyads.offsets, node + 1)
    # The mask is true in all lanes, because the index of every lane is that of a node.
    at, there = read.find(dyads.near, low, high, local, local >= 0, dyads.search_steps)
    return jnp.where(there, read.load(dyads.states, at, there).astype(jnp.int32), jnp.int32(0))


def _first_after(dyads: Dyads, node: Array, local: Array, needed: Array | bool = True) -> Array:
    """Return the first slot of each node whose neighbour comes after ``local``; an arbitrary slot where not needed."""
    low, high = take(dyads.offsets, node), take(dyads.offsets, node + 1)
    if target().is_accelerator:
        return ex.find(dyads.near, low, high, local + 1, steps=dyads.search_steps)[0]
    last = dyads.near.shape[0] - 1

    def is_before(place: Array, _: Array) -> Array:
        return take(dyads.near, jnp.minimum(place, last)) <= local

    begin = low, jnp.where(needed, high, low)
    # On a CPU the search is a loop, which compiles in a third of the time and ends when all lanes are done.
    return lax.while_loop(lambda x: (x[0] < x[1]).any(), lambda x: ex.halve(is_before, x), begin)[0]


def _with_label(read: Read, dyads: Dyads, states: Array, node: Array, nodes: Array | int) -> Array:
    """Return the pattern of a node from the states of its dyads with ``nodes`` others, by adding the node's label."""
    if dyads.node_codes is None:
        return states
    # The label stands above the states, so that `pair_codes` can put one more state in between.
    return states | (read.load(dyads.node_codes, node).astype(jnp.uint32) << jnp.uint32(nodes * dyads.codes.state_bits))


def _graph_bits(dyads: Dyads, graph: Array, read: Read = PLAIN) -> tuple[Array, Array]:
    """Return what a counted code ends with: the number of its graph, and how many bits it has."""
    return graph.astype(jnp.uint32), read.at(dyads.sizes, 2).astype(jnp.uint32)


def fill(
    dyads: Dyads, rows: Rows, i: Array, work: FlatWork, first: Array, table: Rows, size: Array, *, block: int
) -> tuple[Rows, Array, Array]:
    """Append extended rows to the next table, until the walks end or another block might not fit.

    Args:
      dyads: The graphs.
      rows: The rows to extend.
      i: The number of nodes of a row, an int32 scalar.
      work: The walks of the rows (see :func:`open_walks`).
      first: The position of the walks to go on from, an int64 scalar.
      table: The next table, of rows with one node more, which has room for at least ``block`` of them.
      size: The number of rows in the next table, an int32 scalar.
      block: The number of positions that are tried at a time, static.

    Returns:
      The next table, its size, and the position to go on from.
    """
    room, capacity = rows.nodes.shape[0], table.rank.shape[0]
    place = jnp.arange(room, dtype=jnp.int32)[:, None]

    def more(carry: tuple[Rows, Array, Array]) -> Array:
        _, size, first = carry
        # A block is written whole, so that the table must have room for one, however few of its rows are valid.
        return (first < work.total) & (size + block <= capacity)

    def step(carry: tuple[Rows, Array, Array]) -> tuple[Rows, Array, Array]:
        table, size, first = carry
        tried = extensions(dyads, rows, i, work, first, work.total, block=block)
        # Valid extensions are moved to the front. The next block overwrites the rest of this one.
        order, count = compact(tried.valid)
        row, phase, slot, local, pattern = (take(x, order) for x in tried[1:])
        graph = take(rows.graph, row)
        node = graph * dyads.n + local
        nodes, begins = (x.at[:, row].get(mode="promise_in_bounds") for x in (rows.nodes, rows.begins))
        # The walk that met the new node goes on after it. The new node's own walk begins after the row's first node.
        begin = _first_after(dyads, node, nodes[0] - graph * dyads.n)
        begins = jnp.where(place == phase[None], slot[None] + 1, jnp.where(place == i, begin[None], begins))
        words = append_bits(take(rows.low, row), take(rows.high, row), pattern, dyads.new_bits(i))
        new = Rows(graph, jnp.where(place == i, node[None], nodes), begins, phase, *words)
        # Rows are the last axis of every array.
        at = jnp.int32(0), size
        table = Rows(*(lax.dynamic_update_slice(x, y, at[-x.ndim :]) for x, y in zip(table, new, strict=True)))
        return table, size + count, first + block

    return lax.while_loop(more, step, (table, size, first))


# ---- the last two nodes, where the rows P have all I = k - 2 nodes, and X are their candidates


class Candidates(NamedTuple):
    """The nodes that may be added to some rows, ``[B]`` each; lanes without a candidate have an empty walk.

    Attributes:
      row: The row, int32.
      local: The node's number in its graph, int32.
      begin: The slot where the walk over the node's neighbours begins, int32.
      work: The walks over the neighbours of all nodes.
      low: The low word of the code of the extended row, uint32; the last bits of the code are the node's pattern.
      high: The high word of the code, uint32.
      keys: The row, counted from the first one, and the pattern, as one unsigned integer; all ones where there is no
        candidate.
    """

    row: Array
    local: Array
    begin: Array
    work: FlatWork
    low: Array
    high: Array
    keys: Array


def candidates(
    dyads: Dyads, rows: Rows, size: Array, walks: Walks, first: Array, *, block: int
) -> tuple[Candidates, Array]:
    """Return all candidates of the rows ``first .. stop``, which are as many rows as fit in the block.

    Args:
      dyads: The graphs.
      rows: The rows.
      size: The number of rows, an int32 scalar.
      walks: The walks of the rows.
      first: The first row, an int32 scalar.
      block: The number of candidates that are tried, static.

    Returns:
      The candidates, and ``stop``, int32, which is equal to ``first`` if the first row alone does not fit.
    """
    i = rows.nodes.shape[0]
    bits = dyads.new_bits(i)
    # Rows are taken whole, because all of X is needed to count how often each pattern occurs in it. They lie in order,
    # so that the walks of row `first` begin where those of the row before end.
    begin = jnp.where(first > 0, take(walks.ends, jnp.maximum(first - 1, 0)), 0)
    stop = jnp.searchsorted(walks.ends, begin + block, side="right").astype(jnp.int32)
    # There are at most as many rows as positions, even if some rows take none, since row - first must fit in a key.
    stop = jnp.minimum(jnp.minimum(stop, first + block), size)
    end = jnp.where(stop > first, take(walks.ends, jnp.maximum(stop - 1, 0)), begin)
    tried = extensions(dyads, rows, i, walks.work, begin, end, block=block)
    low, high = append_bits(take(rows.low, tried.row), take(rows.high, tried.row), tried.pattern, bits)
    # The walk over the neighbours of each candidate meets pairs with an edge, and only neighbours.
    base = take(rows.graph, tried.row) * dyads.n
    node = base + tried.local
    begins = _first_after(dyads, node, take(rows.nodes[0], tried.row) - base)
    work, _ = _lay_out(jnp.where(tried.valid, take(dyads.offsets, node + 1) - begins, 0))
    # When they are sorted by these keys, candidates of one row and pattern stand together (see `pattern_runs`). A key
    # takes fewer bits than the word has, so that all ones can stand for no candidate.
    word = jnp.uint32 if bits + block.bit_length() < 32 else jnp.uint64
    keys = ((tried.row - first).astype(word) << bits) | tried.pattern.astype(word)
    keys = jnp.where(tried.valid, keys, all_ones(word))
    return Candidates(tried.row, tried.local, begins, work, low, high, keys), stop


class Runs(NamedTuple):
    """Runs of candidates that have the same row and pattern, ``[B]`` each.

    Attributes:
      row: The row of each run.
      pattern: The pattern of each run, uint32.
      count: The number of candidates in each run.
      work: For each run the runs of the same row that it pairs with, as lists: those after it and, if the run has
        several candidates, the run itself.
    """

    row: Array
    pattern: Array
    count: Array
    work: FlatWork


def pattern_runs(keys: Array, first: Array, *, bits: int) -> Runs:
    """Count how often each pattern occurs among the candidates of each row.

    Args:
      keys: The keys of candidates in ascending order (see :class:`Candidates`).
      first: The first row, which keys count from.
      bits: The number of bits of a pattern.
    """
    block = keys.shape[0]
    lane = jnp.arange(block, dtype=jnp.int32)
    real = keys != all_ones(keys.dtype)
    begins = real & first_of_each(keys)
    number = begins.sum(dtype=jnp.int32)
    # A run has a start and a key. The start after the last run is where all candidates end.
    place = jnp.where(begins, running_sum(begins, jnp.int32) - 1, block)
    all_real = jnp.full(block + 1, real.sum(dtype=jnp.int32))
    start = put_at(all_real, place, lane)[:block]
    key = put_at(accumulator(block, keys.dtype), place, keys)[:block]
    # The bits of the pattern are the lowest of a key, so that the runs of a row stand together, in ascending order.
    row = (key >> bits).astype(jnp.int32)
    pattern = (key & ((1 << bits) - 1)).astype(jnp.uint32)
    # Each run ends at the next start.
    count = jnp.concatenate([start[1:], all_real[:1]]) - start
    # A run pairs with the runs after it up to the last one of its row, and with itself if it has two candidates.
    used = lane < number
    # The roll moves the first row to the last lane, which has no effect, since a run in that lane is the last of all.
    is_last = used & ((lane + 1 == number) | (jnp.roll(row, -1) != row))
    last = put_at(accumulator(block, jnp.int32), jnp.where(is_last, row, block), lane)
    length = jnp.where(used, take(last, row) - lane + (count > 1).astype(jnp.int32), 0)
    return Runs(row + first, pattern, count, _lay_out(length)[0])


def pair_codes(dyads: Dyads, rows: Rows, runs: Runs, first: Array, *, block: int, wide: bool) -> tuple[Array, Array]:
    """Return the codes of pairs of candidates as if no pair had an edge between its nodes, for some pairs of runs.

    Args:
      dyads: The graphs.
      rows: The rows.
      runs: The runs of candidates.
      first: The first position of the runs' lists, an int64 scalar.
      block: The number of positions, static.
      wide: Whether codes have two words, static.

    Returns:
      The codes in the form of :func:`visit_codes`, the smaller pattern first, and how many pairs have each, int64.
    """
    i = rows.nodes.shape[0]
    run, offset, valid = ex.expand(runs.work, first, runs.work.total, block)
    # A run of one candidate has no pair with itself, so that its list begins with the next run.
    other = run + offset + (take(runs.count, run) == 1).astype(jnp.int32)
    row, pattern = take(runs.row, run), take(runs.pattern, other)
    # Each count fits 32 bits, but the product of two needs 64.
    count, times = (take(runs.count, x).astype(jnp.int64) for x in (run, other))
    weights = jnp.where(valid, jnp.where(run == other, (count * (count - 1)) >> 1, count * times), 0)
    words = append_bits(take(rows.low, row), take(rows.high, row), take(runs.pattern, run), dyads.new_bits(i))
    # The pattern of the second node gains an empty state, that of its dyad with the first, below its label.
    bits = i * dyads.codes.state_bits
    states = pattern & jnp.uint32((1 << bits) - 1)
    pattern = states if dyads.node_codes is None else states | ((pattern >> bits) << (bits + dyads.codes.state_bits))
    words = append_bits(*words, pattern, dyads.new_bits(i + 1))
    words = append_bits(*words, *_graph_bits(dyads, take(rows.graph, row)))
    low, high = (jnp.where(valid, x, jnp.uint32(NO_CODE)) for x in words)
    return jnp.stack([high, low]) if wide else low, weights


def visit_codes(dyads: Dyads, rows: Rows, added: Candidates, first: Array, *, block: int, wide: bool) -> Array:
    """Return the codes of a row with a candidate u and a neighbour of u that is a candidate or an only neighbour of u.

    Pairs of candidates are met from both ends. They are taken where the second node has the larger pattern or, if both
    have the same pattern, the larger number.

    Args:
      dyads: The graphs.
      rows: The rows.
      added: The candidates.
      first: The first position of the candidates' walks, an int64 scalar.
      block: The number of positions, static.
      wide: Whether codes have two words, as codes of more than 31 bits do; static.

    Returns:
      The codes, all ones where there is no such subgraph: uint32 ``[block]``, or with ``wide`` ``[2, block]``, high
      words first.
    """
    i = rows.nodes.shape[0]

    def visit(read: Read, arrays: Any, at: Array, offset: Array, valid: Array) -> tuple[Array, ...]:
        d, (graphs, nodes, apart, ranks), (begins, of_row, locals_, lows, highs) = arrays
        capacity = read.at(apart, 0)
        slot = jnp.where(valid, read.load(begins, at) + offset, 0)
        local, row, low = read.load(d.near, slot), read.load(of_row, at), read.load(lows, at)
        graph, rank = read.load(graphs, row), read.load(ranks, row)
        node, last = graph * read.at(d.sizes, 0) + local, read.load(nodes, (i - 1) * capacity + row)
        states, candidate = jnp.zeros_like(low), slot < 0
        for place in range(i):
            old = read.load(nodes, place * capacity + row)
            state = dyad_state(read, d, old, local)
            valid = valid & (node != old)
            # The node is a candidate if the first node that it touches gives it a rank above that of the last node.
            later = (place > rank) | ((place == rank) & (node > last))
            candidate = candidate | ((states == 0) & (state != 0) & later)
            states = states | (state.astype(jnp.uint32) << jnp.uint32(place * d.codes.state_bits))
        # The last bits of the candidate's code are its own pattern.
        before, pattern = low & jnp.uint32((1 << d.new_bits(i)) - 1), _with_label(read, d, states, node, i)
        second = (pattern > before) | ((pattern == before) & (local > read.load(locals_, at)))
        # A neighbour that touches no node of the row touches u alone, and only u's walk meets it.
        valid = valid & ((states == 0) | (candidate & second))
        state = read.load(d.states, slot).astype(jnp.uint32)  # towards u
        leaf = _with_label(read, d, states | (state << jnp.uint32(i * d.codes.state_bits)), node, i + 1)
        high = jnp.zeros_like(low) if highs is None else read.load(highs, at)
        words = append_bits(low, high, leaf, d.new_bits(i + 1))
        words = append_bits(*words, *_graph_bits(d, graph, read))
        # Outputs are int32, where -1 is all ones, which stands for no code.
        return tuple(jnp.where(valid, x.astype(jnp.int32), jnp.int32(-1)) for x in words[: 1 + wide])

    # The nodes stand place after place; from one place to the next there are as many entries as rows.
    apart = jnp.full(1, rows.nodes.shape[1], jnp.int32)
    of_rows = rows.graph, rows.nodes.reshape(-1), apart, rows.rank
    of_candidates = added.begin, added.row, added.local, added.low, added.high if wide else None
    arrays, work, fill = (dyads, of_rows, of_candidates), added.work, (-1,) * (1 + wide)
    words, _ = each_position(visit, arrays, work, first, work.total, block=block, fill=fill, name="census")
    codes = [lax.bitcast_convert_type(x, jnp.uint32) for x in words]
    return jnp.stack(codes[::-1]) if wide else codes[0]


def ordered_pair(dyads: Dyads, low: Array, high: Array, pattern: Array, nodes: int) -> tuple[Array, Array]:
    """Return the code of a row extended by a pattern, as :func:`pair_codes` and :func:`visit_codes` write it.

    The smaller pattern of two candidates comes first.

    Args:
      dyads: The graphs.
      low: The low word of the code of a row of ``nodes + 1`` nodes.
      high: The high word.
      pattern: The pattern of the node that is added.
      nodes: The number of nodes before the two last ones.

    Returns:
      The code, uint64, and whether the last two nodes changed places.
    """
    bits, width = nodes * dyads.codes.state_bits, dyads.codes.state_bits
    own_bits, new_bits = dyads.new_bits(nodes), dyads.new_bits(nodes + 1)
    code, new = (high.astype(jnp.uint64) << 32) | low.astype(jnp.uint64), pattern.astype(jnp.uint64)
    states = new & ((1 << bits) - 1)
    state, label = (new >> bits) & ((1 << width) - 1), new >> (bits + width)
    own, before = code & ((1 << own_bits) - 1), code >> own_bits
    whole = states | (label << bits)
    # Patterns are compared as `pair_codes` and `visit_codes` do, by states and label without the state between the two
    # nodes. An only neighbour, which has no other states, stays the second.
    swap = (states != 0) & (whole < own)
    # The state between the two is seen from the first.
    first, second = jnp.where(swap, whole, own), jnp.where(swap, own, whole)
    state = jnp.where(swap, dyads.codes.turned(state), state)
    last = (second & ((1 << bits) - 1)) | (state << bits) | ((second >> bits) << (bits + width))
    return (((before << own_bits) | first) << new_bits) | last, swap
