"""Growing connected induced subgraphs by one node, each exactly once (NemoGPU 6.2), and their adjacency codes.

A subgraph is a row of nodes in the order they were added. The first has the lowest id. A node v may be added when its
composite rank - the position of the first node of the row that v touches, then v's place among that node's
neighbours - is above that of the node added last. Every connected node set arises from exactly one row.

The last two nodes are not added one by one. Let P be a row of k - 2 nodes and X the nodes that may be added to it.
The subgraphs that grow from P are the pairs of nodes of X, and every u of X with a node that touches u alone
(an *only neighbour*). How a node attaches to P, its *pattern*, takes few values in X: pairs without an edge between
them are counted by multiplying how often two patterns occur, and a walk over the neighbours of every u meets the
pairs with an edge and the only neighbours.

A code grows with its row: bits for the new node's label, then for its dyads with the nodes before it. Codes are two
uint32 words; counted codes end with the graph's number, so one pass counts a whole batch.

What differs from graph to graph is data: how many nodes there are, how many a row holds so far, how many bits a
graph's number takes. Arrays have room for more, so that graphs of about one size share their programs.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.arrays._compile import target
from jaxmotif.arrays._sums import running_sum
from jaxmotif.kernels import _expand as ex
from jaxmotif.kernels._expand import FlatWork, take
from jaxmotif.kernels._lane_body import PLAIN, Read, each_position
from jaxmotif.kernels._scatter import accumulator, put_at

if TYPE_CHECKING:
    from jax.typing import DTypeLike

NO_CODE = 0xFFFFFFFF
Words = tuple[jax.Array, jax.Array]  # the low and the high half of codes, uint32; or other pairs


def all_ones(dtype: DTypeLike) -> jax.Array:
    """What stands for no key and no code, of an unsigned dtype (jax 0.11 refuses it as a Python integer)."""
    return jnp.array(jnp.iinfo(dtype).max, dtype)


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("offsets", "near", "states", "matrix", "node_codes", "sizes"),
    meta_fields=("entries", "state_bits", "label_bits", "search_steps"),
)
@dataclasses.dataclass(frozen=True, eq=False)
class Dyads:
    """Graphs of ``n`` nodes each, as rows of neighbours with the state of every dyad. ``V`` = graphs * n.

    The state of (u, v) is ``e(u, v)``, undirected, or ``e(u, v) + L * e(v, u)``; ``e`` is 0 for no edge, else the rank
    of its label from 1, and ``L`` the number of values of ``e``.

    Attributes:
      offsets: int32 ``[R + 1]``, R at least V (rows past V are empty); near: int32 ``[S]``, neighbours within their own
        graph (0..n-1), ascending in a row (then padding).
      states: integers ``[S]``, the state of each slot's dyad.
      matrix: integers ``[V * n]`` or more, all states; ``None`` when too large.
      node_codes: int32 ``[R]``, ranks of node labels, or ``None``.
      sizes: int32 ``[3]``: n, V, and how many bits a graph's number takes.
      entries: static, L, or 0 when undirected. state_bits, label_bits: static.
      search_steps: static; no row has ``2 ** search_steps`` neighbours or more.
    """

    offsets: jax.Array
    near: jax.Array
    states: jax.Array
    matrix: jax.Array | None
    node_codes: jax.Array | None
    sizes: jax.Array
    entries: int
    state_bits: int
    label_bits: int
    search_steps: int

    @property
    def n(self) -> jax.Array:
        return self.sizes[0]

    def new_bits(self, nodes: jax.Array | int) -> jax.Array | int:
        """Code bits that a row of so many nodes gains with the next."""
        return self.label_bits + nodes * self.state_bits


class Rows(NamedTuple):
    """Connected subgraphs of i nodes, ``C`` of them at most, with room for ``I`` nodes each.

    Attributes:
      graph: int32 ``[C]``, number of the row's graph.
      nodes: int32 ``[I, C]``, over all graphs; places from i on repeat the first node.
      begins: int32 ``[I, C]``, the slot where the walk over each node's neighbours begins: those before it come before
        the row's first node, or before the node added last.
      rank: int32 ``[C]``, which node's neighbour the last one is; walks of the nodes before that are over.
      low, high: uint32 ``[C]``, the code.
    """

    graph: jax.Array
    nodes: jax.Array
    begins: jax.Array
    rank: jax.Array
    low: jax.Array
    high: jax.Array


def roots(dyads: Dyads, first: jax.Array, *, nodes: int, capacity: int) -> Rows:
    """The nodes from ``first`` on (int32 scalar), each as a subgraph of one; ``nodes``: room in a row."""
    number = first + jnp.arange(capacity, dtype=jnp.int32)
    node = jnp.minimum(number, jnp.maximum(dyads.sizes[1] - 1, 0))  # rows past the last repeat it: safe to gather with
    graph = node // jnp.maximum(dyads.n, 1)
    # Later nodes alone: a row's first node is its lowest.
    begin = _first_after(dyads, node, node - graph * dyads.n, number < dyads.sizes[1])
    none = jnp.zeros(capacity, jnp.uint32)
    low = none if dyads.node_codes is None else take(dyads.node_codes, node).astype(jnp.uint32)
    room = nodes, capacity
    return Rows(graph, jnp.broadcast_to(node, room), jnp.broadcast_to(begin, room), jnp.zeros_like(node), low, none)


def edge_codes(dyads: Dyads, *, wide: bool) -> jax.Array:
    """The subgraphs of two nodes, as :func:`visit_codes` gives codes; ``[S]``."""
    capacity, slots = dyads.offsets.shape[0] - 1, dyads.near.shape[0]
    rows = roots(dyads, jnp.int32(0), nodes=1, capacity=capacity)
    lengths = dyads.offsets[1:] - dyads.offsets[:-1]
    # Slots past the last row get some row; `later` leaves them out.
    row = jnp.repeat(jnp.arange(capacity, dtype=jnp.int32), lengths, total_repeat_length=slots)
    slot, graph = jnp.arange(slots, dtype=jnp.int32), take(rows.graph, row)
    states = dyads.states.astype(jnp.uint32)
    pattern = _with_label(PLAIN, dyads, states, graph * dyads.n + dyads.near, 1)
    low, high = append_bits(take(rows.low, row), take(rows.high, row), pattern, dyads.new_bits(1))
    # Every edge has a slot at both its ends: it is taken from the lower one.
    later = (slot < dyads.offsets[-1]) & (slot >= take(rows.begins[0], row))
    low, high = (jnp.where(later, x, jnp.uint32(NO_CODE)) for x in append_bits(low, high, *_graph_bits(dyads, graph)))
    return jnp.stack([high, low]) if wide else low


class Walks(NamedTuple):
    """The walks of a table's rows end to end, row after row; ``ends``: int64 ``[C]``, where those of each row end."""

    work: FlatWork
    ends: jax.Array


def open_walks(dyads: Dyads, rows: Rows, i: jax.Array, size: jax.Array) -> Walks:
    """Lay out the walks of the first ``size`` rows of ``i`` nodes; item ``I * row + a`` is that over the neighbours of
    node a."""
    room, capacity = rows.nodes.shape
    within = jnp.arange(capacity, dtype=jnp.int32) < size
    stops = take(dyads.offsets, jnp.where(within[None], rows.nodes, 0) + 1)
    place = jnp.arange(room, dtype=jnp.int32)[:, None]
    # Composite ranks rise along a row, so walks of nodes before the one that met the last node are over.
    walks = within[None] & (place >= rows.rank[None]) & (place < i)
    # Row by row, so that the walks of whole rows lie together (`candidates` takes whole rows).
    work, ends = _laid_out(jnp.where(walks, stops - rows.begins, 0).T.reshape(-1))
    return Walks(work, ends.reshape(capacity, room)[:, -1])


def _laid_out(length: jax.Array) -> tuple[FlatWork, jax.Array]:
    """Lists of these lengths, and where each ends (int64)."""
    size = length.shape[0]
    some = length > 0
    # The nonempty to the front, by how many there are up to each.
    place = jnp.where(some, running_sum(some, jnp.int32) - 1, size)
    items = put_at(accumulator(size, jnp.int32), place, jnp.arange(size, dtype=jnp.int32))[:size]
    # 64 bits before the sum: one walk fits 32, all together may not.
    length = length.astype(jnp.int64)
    end = running_sum(length)
    # Padding starts at the total, where no position is.
    starts = put_at(jnp.full(size + 1, end[-1]), place, end - length)[:size]
    return FlatWork(items, jnp.concatenate([starts, end[-1:]])), end


class Extensions(NamedTuple):
    """Flat positions of walks, ``[B]`` each.

    Attributes:
      valid: which of them extend their row; row, phase: the row, and by which of its nodes' neighbours.
      slot, local: the neighbour's slot, and its number in its graph; pattern: uint32, its code bits.
    """

    valid: jax.Array
    row: jax.Array
    phase: jax.Array
    slot: jax.Array
    local: jax.Array
    pattern: jax.Array


def extensions(
    dyads: Dyads, rows: Rows, i: jax.Array | int, work: FlatWork, first: jax.Array, stop: jax.Array, *, block: int
) -> Extensions:
    """Try the flat positions ``first .. min(first + block, stop)`` (int64 scalars) of rows of ``i`` nodes."""
    room, capacity = rows.nodes.shape
    item, offset, valid = ex.expand(work, first, stop, block)
    row, phase = item // room, item % room
    slot = jnp.where(valid, take(rows.begins.reshape(-1), phase * capacity + row) + offset, 0)
    local = take(dyads.near, slot)
    node = take(rows.graph, row) * dyads.n + local
    pattern = jnp.zeros(block, jnp.uint32)
    for a in range(room):
        old = take(rows.nodes[a], row)
        state = dyad_state(PLAIN, dyads, old, local) * jnp.int32(a < i)  # places from i on hold no node of their own
        # A node that touches one before the node whose neighbours are walked was met there.
        valid = valid & (node != old) & ((state == 0) | (a >= phase))
        pattern = pattern | (state.astype(jnp.uint32) << (a * dyads.state_bits))
    return Extensions(valid, row, phase, slot, local, _with_label(PLAIN, dyads, pattern, node, i))


def append_bits(low: jax.Array, high: jax.Array, pattern: jax.Array, bits: jax.Array | int) -> Words:
    """Shift a two-word code left by ``bits`` (0..31) and put a pattern there."""
    bits = jnp.uint32(bits)
    # Two shifts for one, since by 32, where there are no bits to append, it would be undefined.
    return (low << bits) | pattern, (high << bits) | ((low >> jnp.uint32(1)) >> (jnp.uint32(31) - bits))


def dyad_state(read: Read, dyads: Dyads, node: jax.Array, local: jax.Array) -> jax.Array:
    """The state of the dyads (node, local) as int32; 0 for none, and for a node with itself."""
    if dyads.matrix is not None:
        return read.load(dyads.matrix, node * read.at(dyads.sizes, 0) + local).astype(jnp.int32)
    low, high = read.load(dyads.offsets, node), read.load(dyads.offsets, node + 1)
    # All true: every lane's index is a node's.
    at, there = read.find(dyads.near, low, high, local, local >= 0, dyads.search_steps)
    return jnp.where(there, read.load(dyads.states, at, there).astype(jnp.int32), jnp.int32(0))


def _first_after(dyads: Dyads, node: jax.Array, local: jax.Array, asked: jax.Array | bool = True) -> jax.Array:
    """The first slot of each node's neighbours that come after ``local``; some slot where that is not asked."""
    low, high = take(dyads.offsets, node), take(dyads.offsets, node + 1)
    if target().is_accelerator:
        return ex.find(dyads.near, low, high, local + 1, steps=dyads.search_steps)[0]
    last = dyads.near.shape[0] - 1

    def halve(bounds: Words) -> Words:
        low, high = bounds
        middle = ex.half(low + high)
        active, before = low < high, take(dyads.near, jnp.minimum(middle, last)) <= local
        return jnp.where(active & before, middle + 1, low), jnp.where(active & ~before, middle, high)

    high = jnp.where(asked, high, low)
    # The same as a loop, which a CPU's compiler takes a third of the time for, and which ends when all have found.
    return lax.while_loop(lambda bounds: (bounds[0] < bounds[1]).any(), halve, (low, high))[0]


def _with_label(read: Read, dyads: Dyads, states: jax.Array, node: jax.Array, nodes: jax.Array | int) -> jax.Array:
    """A pattern from the states of a node's dyads with ``nodes`` others."""
    if dyads.node_codes is None:
        return states
    # Above the states, where `pair_codes` has room to put one more state in between.
    return states | (read.load(dyads.node_codes, node).astype(jnp.uint32) << jnp.uint32(nodes * dyads.state_bits))


def _graph_bits(dyads: Dyads, graph: jax.Array, read: Read = PLAIN) -> tuple[jax.Array, jax.Array]:
    """What ends a counted code: the graph's number, and its bits."""
    return graph.astype(jnp.uint32), read.at(dyads.sizes, 2).astype(jnp.uint32)


def fill(
    dyads: Dyads,
    rows: Rows,
    i: jax.Array,
    work: FlatWork,
    first: jax.Array,
    table: Rows,
    size: jax.Array,
    *,
    block: int,
) -> tuple[Rows, jax.Array, jax.Array]:
    """Append extended rows to the next table until the walks end or another block might not fit.

    Args:
      i: int32 scalar, nodes of a row.
      first: int64 scalar, where to go on.
      table: rows of one node more, with room for at least ``block`` of them.
      size: int32 scalar, how many it holds.

    Returns:
      The table, its size, and where to go on.
    """
    room, capacity = rows.nodes.shape[0], table.rank.shape[0]
    place = jnp.arange(room, dtype=jnp.int32)[:, None]

    def more(carry: tuple[Rows, jax.Array, jax.Array]) -> jax.Array:
        _, size, first = carry
        # A block is written whole, so the table must have room for one, however few it will keep.
        return (first < work.total) & (size + block <= capacity)

    def step(carry: tuple[Rows, jax.Array, jax.Array]) -> tuple[Rows, jax.Array, jax.Array]:
        table, size, first = carry
        found = extensions(dyads, rows, i, work, first, work.total, block=block)
        count = running_sum(found.valid, jnp.int32)
        # Bring the extensions found to the front; a whole block is written, and the next one over what is not one.
        to = jnp.where(found.valid, count - 1, block)
        source = put_at(accumulator(block, jnp.int32), to, jnp.arange(block, dtype=jnp.int32))[:block]
        row, phase, slot, local, pattern = (take(x, source) for x in found[1:])
        graph = take(rows.graph, row)
        node = graph * dyads.n + local
        nodes, begins = (x.at[:, row].get(mode="promise_in_bounds") for x in (rows.nodes, rows.begins))
        # The walk that met the new node goes on behind it; its own begins behind the row's first node.
        begin = _first_after(dyads, node, nodes[0] - graph * dyads.n)
        begins = jnp.where(place == phase[None], slot[None] + 1, jnp.where(place == i, begin[None], begins))
        words = append_bits(take(rows.low, row), take(rows.high, row), pattern, dyads.new_bits(i))
        new = Rows(graph, jnp.where(place == i, node[None], nodes), begins, phase, *words)
        table = Rows(*(
            # Arrays of rows take (place, row), those of one value a row take (row,).
            lax.dynamic_update_slice(x, y, (jnp.int32(0), size)[-x.ndim :]) for x, y in zip(table, new, strict=True)
        ))  # fmt: skip
        return table, size + count[-1], first + block

    return lax.while_loop(more, step, (table, size, first))


# ---- the last two nodes: P are rows of all I = k - 2 nodes, X their candidates


class Candidates(NamedTuple):
    """The nodes that may be added to some rows, ``[B]`` each (lanes without one have an empty walk).

    Attributes:
      row: int32; local: int32, the node's number in its graph.
      begin: int32, the slot where the walk over its neighbours begins; work: these walks.
      low, high: uint32, the code of the extended row; its last bits are the pattern.
      keys: unsigned ``[B]``, row (from the first one) and pattern; all ones for no candidate.
    """

    row: jax.Array
    local: jax.Array
    begin: jax.Array
    work: FlatWork
    low: jax.Array
    high: jax.Array
    keys: jax.Array


def candidates(
    dyads: Dyads, rows: Rows, size: jax.Array, walks: Walks, first: jax.Array, *, block: int
) -> tuple[Candidates, jax.Array]:
    """All of X for the rows ``first .. stop``, as many as fit in the block.

    Returns:
      The candidates, and ``stop`` (int32): equal to ``first`` when that row alone does not fit.
    """
    i = rows.nodes.shape[0]
    bits = dyads.new_bits(i)
    # Whole rows alone, since all of X is needed to know how often each pattern occurs in it.
    # Rows lie in order, so those from `first` on begin where the row before ends.
    begin = jnp.where(first > 0, take(walks.ends, jnp.maximum(first - 1, 0)), 0)
    stop = jnp.searchsorted(walks.ends, begin + block, side="right").astype(jnp.int32)
    # No more rows than positions, though some take none: row - first must fit the bits that a key has for it.
    stop = jnp.minimum(jnp.minimum(stop, first + block), size)
    end = jnp.where(stop > first, take(walks.ends, jnp.maximum(stop - 1, 0)), begin)
    found = extensions(dyads, rows, i, walks.work, begin, end, block=block)
    low, high = append_bits(take(rows.low, found.row), take(rows.high, found.row), found.pattern, bits)
    # The walk over the neighbours of u, where pairs with an edge and only neighbours are met.
    base = take(rows.graph, found.row) * dyads.n
    node = base + found.local
    begins = _first_after(dyads, node, take(rows.nodes[0], found.row) - base)
    work, _ = _laid_out(jnp.where(found.valid, take(dyads.offsets, node + 1) - begins, 0))
    # Sorted by these keys, candidates of one row and pattern stand together (:func:`pattern_runs`).
    # Fewer than all bits of a word: all ones are left to say that there is no candidate.
    word = jnp.uint32 if bits + block.bit_length() < 32 else jnp.uint64
    keys = ((found.row - first).astype(word) << bits) | found.pattern.astype(word)
    keys = jnp.where(found.valid, keys, all_ones(word))
    return Candidates(found.row, found.local, begins, work, low, high, keys), stop


class Runs(NamedTuple):
    """Candidates of one row and pattern, ``[B]`` each: row, pattern (uint32), how many, and the walk over the runs of
    the same row that pairs with each: from the run itself on, or from the next where it is of one candidate."""

    row: jax.Array
    pattern: jax.Array
    count: jax.Array
    work: FlatWork


def pattern_runs(keys: jax.Array, first: jax.Array, *, bits: int) -> Runs:
    """How often each pattern occurs in the X of each row, from the sorted keys of candidates of the rows ``first ..``,
    whose patterns have so many bits."""
    block = keys.shape[0]
    lane = jnp.arange(block, dtype=jnp.int32)
    real = keys != all_ones(keys.dtype)
    begins = real & ex.first_ones(keys)
    number = begins.sum(dtype=jnp.int32)
    # Where each run begins (past the last one: where all end), and its key.
    place = jnp.where(begins, running_sum(begins, jnp.int32) - 1, block)
    all_real = jnp.full(block + 1, real.sum(dtype=jnp.int32))
    start = put_at(all_real, place, lane)[:block]
    key = put_at(accumulator(block, keys.dtype), place, keys)[:block]
    # The pattern's bits are the lowest, so one row's runs stand together, ascending.
    row = (key >> bits).astype(jnp.int32)
    pattern = (key & ((1 << bits) - 1)).astype(jnp.uint32)
    # Past the last run stands where all end, so that the last has its length too.
    count = jnp.concatenate([start[1:], all_real[:1]]) - start
    # A run pairs with those after it up to the last of its row, and with itself where it has two candidates.
    used = lane < number
    # What the roll brings round to the last lane does not matter: a run there is the last of all.
    is_last = used & ((lane + 1 == number) | (jnp.roll(row, -1) != row))
    last = put_at(accumulator(block, jnp.int32), jnp.where(is_last, row, block), lane)
    length = jnp.where(used, take(last, row) - lane + (count > 1).astype(jnp.int32), 0)
    return Runs(row + first, pattern, count, _laid_out(length)[0])


def pair_codes(
    dyads: Dyads, rows: Rows, runs: Runs, first: jax.Array, *, block: int, wide: bool
) -> tuple[jax.Array, jax.Array]:
    """Pairs of candidates as if none had an edge between its two, at one block of positions of the runs' walks.

    Returns:
      Codes as :func:`visit_codes` gives them, the smaller pattern first, and how many pairs have each, int64.
    """
    i = rows.nodes.shape[0]
    run, offset, valid = ex.expand(runs.work, first, runs.work.total, block)
    # A run of one candidate has no pair with itself: its walk begins at the next.
    other = run + offset + (take(runs.count, run) == 1).astype(jnp.int32)
    row, pattern = take(runs.row, run), take(runs.pattern, other)
    # Each count fits 32 bits, a product of two needs 64.
    count, times = (take(runs.count, x).astype(jnp.int64) for x in (run, other))
    weights = jnp.where(valid, jnp.where(run == other, count * (count - 1) // 2, count * times), 0)
    words = append_bits(take(rows.low, row), take(rows.high, row), take(runs.pattern, run), dyads.new_bits(i))
    # The second node's pattern gains an empty state, towards the first, between its states and its label.
    bits = i * dyads.state_bits
    states = pattern & jnp.uint32((1 << bits) - 1)
    pattern = states if dyads.node_codes is None else states | ((pattern >> bits) << (bits + dyads.state_bits))
    words = append_bits(*words, pattern, dyads.new_bits(i + 1))
    words = append_bits(*words, *_graph_bits(dyads, take(rows.graph, row)))
    low, high = (jnp.where(valid, x, jnp.uint32(NO_CODE)) for x in words)
    return jnp.stack([high, low]) if wide else low, weights


class _Visits(NamedTuple):
    """What :func:`visit_codes` reads, of :class:`Rows` (``nodes``: one place after the other, so far ``apart``, int32
    ``[1]``) and Candidates."""

    dyads: Dyads
    graph: jax.Array
    nodes: jax.Array
    apart: jax.Array
    rank: jax.Array
    begin: jax.Array
    row: jax.Array
    local: jax.Array
    low: jax.Array
    high: jax.Array | None  # where codes take two words


def visit_codes(
    dyads: Dyads, rows: Rows, added: Candidates, first: jax.Array, *, block: int, wide: bool
) -> jax.Array:  # fmt: skip
    """The subgraphs of a row, a candidate u and a neighbour of u that is a candidate or an only neighbour of u.

    Pairs of candidates are met from both ends, and taken where the second has the larger pattern, or number.

    Returns:
      Codes at one block of positions of the candidates' walks, all ones where there is no such subgraph: uint32
      ``[block]``, or with ``wide`` (codes over 31 bits) ``[2, block]``, high words first.
    """
    i = rows.nodes.shape[0]

    def visit(read: Read, a: _Visits, at: jax.Array, offset: jax.Array, valid: jax.Array) -> tuple[jax.Array, ...]:
        d, capacity = a.dyads, read.at(a.apart, 0)
        slot = jnp.where(valid, read.load(a.begin, at) + offset, 0)
        local, row, low = read.load(d.near, slot), read.load(a.row, at), read.load(a.low, at)
        graph, rank = read.load(a.graph, row), read.load(a.rank, row)
        node, last = graph * read.at(d.sizes, 0) + local, read.load(a.nodes, (i - 1) * capacity + row)
        states, candidate = jnp.zeros_like(low), slot < 0
        for place in range(i):
            old = read.load(a.nodes, place * capacity + row)
            state = dyad_state(read, d, old, local)
            valid = valid & (node != old)
            # It is a candidate where the first node it touches gives it a rank above the last one's.
            later = (place > rank) | ((place == rank) & (node > last))
            candidate = candidate | ((states == 0) & (state != 0) & later)
            states = states | (state.astype(jnp.uint32) << jnp.uint32(place * d.state_bits))
        # The candidate's own pattern is what its code ends with.
        before, pattern = low & jnp.uint32((1 << d.new_bits(i)) - 1), _with_label(read, d, states, node, i)
        # Each pair is met from both ends and taken from one: by pattern, and where those are alike by number.
        second = (pattern > before) | ((pattern == before) & (local > read.load(a.local, at)))
        # A neighbour that touches no node of the row touches u alone: only u's walk meets it.
        valid = valid & ((states == 0) | (candidate & second))
        state = read.load(d.states, slot).astype(jnp.uint32)  # towards u
        leaf = _with_label(read, d, states | (state << jnp.uint32(i * d.state_bits)), node, i + 1)
        high = jnp.zeros_like(low) if a.high is None else read.load(a.high, at)
        words = append_bits(low, high, leaf, d.new_bits(i + 1))
        words = append_bits(*words, *_graph_bits(d, graph, read))
        # Outputs are int32: -1 is all ones, no code.
        return tuple(jnp.where(valid, x.astype(jnp.int32), jnp.int32(-1)) for x in words[: 1 + wide])

    arrays = _Visits(
        dyads, rows.graph, rows.nodes.reshape(-1), jnp.full(1, rows.nodes.shape[1], jnp.int32), rows.rank, added.begin,
        added.row, added.local, added.low, added.high if wide else None,
    )  # fmt: skip
    found, _ = each_position(
        visit, arrays, added.work, first, added.work.total, block=block, fill=(-1,) * (1 + wide), name="census"
    )
    codes = [lax.bitcast_convert_type(x, jnp.uint32) for x in found]
    return jnp.stack(codes[::-1]) if wide else codes[0]


def ordered_pair(
    dyads: Dyads, low: jax.Array, high: jax.Array, pattern: jax.Array, nodes: int
) -> tuple[jax.Array, jax.Array]:
    """The code of a row of ``nodes + 1`` nodes (two words) extended by a pattern, as the functions above write it:
    of two candidates the smaller pattern first. uint64; and whether that made the last node the last but one."""
    bits, width = nodes * dyads.state_bits, dyads.state_bits
    own_bits, new_bits = dyads.new_bits(nodes), dyads.new_bits(nodes + 1)
    code, new = (high.astype(jnp.uint64) << 32) | low.astype(jnp.uint64), pattern.astype(jnp.uint64)
    states = new & ((1 << bits) - 1)
    state, label = (new >> bits) & ((1 << width) - 1), new >> (bits + width)
    own, before = code & ((1 << own_bits) - 1), code >> own_bits
    whole = states | (label << bits)
    # Compared as `pair_codes` and `visit_codes` do: by states and label, without the state between the two.
    # An only neighbour (no states) stays the second; the state between the two is seen from the first.
    swap = (states != 0) & (whole < own)
    # e(u, v) + L e(v, u) read from the other end.
    other = state // dyads.entries + state % dyads.entries * dyads.entries if dyads.entries else state
    first, second = jnp.where(swap, whole, own), jnp.where(swap, own, whole)
    state = jnp.where(swap, other, state)
    last = (second & ((1 << bits) - 1)) | (state << bits) | ((second >> bits) << (bits + width))
    return (((before << own_bits) | first) << new_bits) | last, swap
