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
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl

from jaxmotif.kernels import expand as ex
from jaxmotif.kernels.choice import Backend
from jaxmotif.kernels.expand import FlatWork, take
from jaxmotif.kernels.scatter import accumulator, put_at
from jaxmotif.kernels.wide import wide_ints

LANES = 1024
NO_CODE = 0xFFFFFFFF


def all_ones(dtype: Any) -> Any:
    """What stands for no key and no code, of an unsigned dtype (jax 0.11 refuses it as a Python integer)."""
    return jnp.array(jnp.iinfo(dtype).max, dtype)


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("offsets", "near", "states", "matrix", "node_codes"),
    meta_fields=("n", "entries", "state_bits", "label_bits", "graph_bits", "degree_bits"),
)
@dataclasses.dataclass(frozen=True, eq=False)
class Dyads:
    """Graphs of ``n`` nodes each, as rows of neighbours with the state of every dyad. ``V`` = graphs * n.

    The state of (u, v) is ``e(u, v)``, undirected, or ``e(u, v) + L * e(v, u)``; ``e`` is 0 for no edge, else the rank
    of its label from 1, and ``L`` the number of values of ``e``.

    Attributes:
      offsets: int32 ``[V + 1]``; near: int32 ``[S]``, neighbours within their own graph (0..n-1), ascending in a row
        (then padding).
      states: integers ``[S]``, the state of each slot's dyad.
      matrix: integers ``[V * n + 1]``, all states; ``None`` when too large.
      node_codes: int32 ``[V]``, ranks of node labels, or ``None``.
      n, state_bits, label_bits: static. entries: L, or 0 when undirected. graph_bits: of a graph's number.
      degree_bits: of the largest degree.
    """

    offsets: Any
    near: Any
    states: Any
    matrix: Any
    node_codes: Any
    n: int
    entries: int
    state_bits: int
    label_bits: int
    graph_bits: int
    degree_bits: int

    def new_bits(self, nodes: int) -> int:
        """Code bits that a row of so many nodes gains with the next."""
        return self.label_bits + nodes * self.state_bits


def state_matrix(offsets: Any, near: Any, states: Any, n: int, cells: int) -> Any:
    """The matrix of :class:`Dyads` from its rows."""
    slot = jnp.arange(near.shape[0], dtype=jnp.int32)
    row = jnp.repeat(
        jnp.arange(offsets.shape[0] - 1, dtype=jnp.int32), offsets[1:] - offsets[:-1],
        total_repeat_length=near.shape[0],
    )  # fmt: skip
    index = jnp.where(slot < offsets[-1], row * n + near, cells)
    return jnp.zeros(cells + 1, states.dtype).at[index].set(states, mode="promise_in_bounds")


class Rows(NamedTuple):
    """Connected subgraphs of i nodes, ``C`` of them at most.

    Attributes:
      base: int32 ``[C]``, number of the first node of the row's graph.
      nodes: int32 ``[i, C]``, over all graphs.
      begins: int32 ``[i, C]``, the slot where the walk over each node's neighbours begins: those before it come before
        the row's first node, or before the node added last.
      rank: int32 ``[C]``, which node's neighbour the last one is; walks of the nodes before that are over.
      low, high: uint32 ``[C]``, the code.
    """

    base: Any
    nodes: Any
    begins: Any
    rank: Any
    low: Any
    high: Any


def roots(dyads: Dyads) -> Rows:
    """Every node as a subgraph of one."""
    node = jnp.arange(dyads.offsets.shape[0] - 1, dtype=jnp.int32)
    base = node // dyads.n * dyads.n
    code = jnp.zeros(node.shape, jnp.uint32)
    low = code if dyads.node_codes is None else dyads.node_codes.astype(jnp.uint32)
    return Rows(base, node[None], _first_after(dyads, node, node - base)[None], jnp.zeros_like(node), low, code)


def edge_codes(dyads: Dyads, *, wide: bool) -> Any:
    """The subgraphs of two nodes, as :func:`visit_codes` gives codes; ``[S]``."""
    rows, slots = roots(dyads), dyads.near.shape[0]
    row = jnp.repeat(rows.nodes[0], dyads.offsets[1:] - dyads.offsets[:-1], total_repeat_length=slots)
    slot, base = jnp.arange(slots, dtype=jnp.int32), take(rows.base, row)
    pattern = _leaf_pattern(dyads, 0, jnp.zeros(slots, jnp.uint32), dyads.states, base + dyads.near)
    words = append_bits(take(rows.low, row), take(rows.high, row), pattern, dyads.new_bits(1))
    later = (slot < dyads.offsets[-1]) & (slot >= take(rows.begins[0], row))
    return _codes(dyads, base, *words, later, wide)


class Walks(NamedTuple):
    """The walks of a table's rows end to end, row after row; ``ends``: int64 ``[C]``, where those of each row end."""

    work: FlatWork
    ends: Any


def open_walks(dyads: Dyads, rows: Rows, size: Any, *, backend: Backend) -> Walks:
    """Lay out the walks of the first ``size`` rows; item ``i * row + a`` is that over the neighbours of node a."""
    i, capacity = rows.nodes.shape
    within = jnp.arange(capacity, dtype=jnp.int32) < size
    stops = take(dyads.offsets, jnp.where(within[None], rows.nodes, 0) + 1)
    walks = within[None] & (jnp.arange(i, dtype=jnp.int32)[:, None] >= rows.rank[None])
    work, ends = _laid_out(jnp.where(walks, stops - rows.begins, 0).T.reshape(-1), backend)
    return Walks(work, ends.reshape(capacity, i)[:, -1])


def _laid_out(length: Any, backend: Backend) -> tuple[FlatWork, Any]:
    """Lists of these lengths, and where each ends."""
    size = length.shape[0]
    some = length > 0
    place = jnp.where(some, jnp.cumsum(some, dtype=jnp.int32) - 1, size)
    items = put_at(accumulator(size, jnp.int32, backend), place, jnp.arange(size, dtype=jnp.int32), backend)[:size]
    with wide_ints():
        length = length.astype(jnp.int64)
        end = jnp.cumsum(length)
        starts = jnp.full(accumulator(size, jnp.int64, backend).shape, end[-1])
        starts = put_at(starts, place, end - length, backend)[:size]
        return FlatWork(items, jnp.concatenate([starts, end[-1:]])), end


class Extensions(NamedTuple):
    """Flat positions of walks, ``[B]`` each.

    Attributes:
      valid: which of them extend their row; row, phase: the row, and by which of its nodes' neighbours.
      slot, local: the neighbour's slot, and its number in its graph; pattern: uint32, its code bits.
    """

    valid: Any
    row: Any
    phase: Any
    slot: Any
    local: Any
    pattern: Any


def extensions(dyads: Dyads, rows: Rows, work: FlatWork, first: Any, stop: Any, *, block: int) -> Extensions:
    """Try the flat positions ``first .. min(first + block, stop)`` (int64 scalars)."""
    i, capacity = rows.nodes.shape
    item, offset, valid = ex.expand(work, first, stop, block)
    row, phase = item // i, item % i
    slot = jnp.where(valid, take(rows.begins.reshape(-1), phase * capacity + row) + offset, 0)
    local = take(dyads.near, slot)
    node = take(rows.base, row) + local
    pattern = jnp.zeros(block, jnp.uint32)
    for a in range(i):
        old = take(rows.nodes[a], row)
        state = dyad_state(dyads, old, local)
        valid = valid & (node != old) & ((state == 0) | (a >= phase))
        pattern = pattern | (state.astype(jnp.uint32) << (a * dyads.state_bits))
    return Extensions(valid, row, phase, slot, local, _with_label(dyads, pattern, node, i))


def append_bits(low: Any, high: Any, pattern: Any, bits: int) -> tuple[Any, Any]:
    """Shift a two-word code left by ``bits`` (1..31) and put a pattern there."""
    return (low << bits) | pattern, (high << bits) | (low >> (32 - bits))


def dyad_state(dyads: Dyads, node: Any, local: Any) -> Any:
    """The state of the dyads (node, local) as int32; 0 for none, and for a node with itself."""
    if dyads.matrix is not None:
        return take(dyads.matrix, node * dyads.n + local).astype(jnp.int32)
    low, high = take(dyads.offsets, node), take(dyads.offsets, node + 1)
    at, there = ex.find(dyads.near, low, high, local, steps=dyads.degree_bits)
    return jnp.where(there, take(dyads.states, jnp.where(there, at, 0)).astype(jnp.int32), 0)


def _first_after(dyads: Dyads, node: Any, local: Any) -> Any:
    """The first slot of each node's neighbours that come after ``local``."""
    low, high = take(dyads.offsets, node), take(dyads.offsets, node + 1)
    return ex.find(dyads.near, low, high, local + 1, steps=dyads.degree_bits)[0]


def _with_label(dyads: Dyads, states: Any, node: Any, nodes: int) -> Any:
    """A pattern from the states of a node's dyads with ``nodes`` others."""
    if dyads.node_codes is None:
        return states
    return states | (take(dyads.node_codes, node).astype(jnp.uint32) << (nodes * dyads.state_bits))


def fill(
    dyads: Dyads, rows: Rows, work: FlatWork, first: Any, table: Rows, size: Any, *, block: int, backend: Backend
) -> tuple[Rows, Any, Any]:
    """Append extended rows to the next table until the walks end or another block might not fit.

    Args:
      first: int64 scalar, where to go on.
      table: rows of one node more, with capacity for at least ``block`` rows and ``block`` spare ones at the end.
      size: int32 scalar, how many it holds.

    Returns:
      The table, its size, and where to go on.
    """
    capacity = table.rank.shape[0] - block

    def more(carry: Any) -> Any:
        _, size, first = carry
        return (first < work.total) & (size + block <= capacity)

    def step(carry: Any) -> Any:
        table, size, first = carry
        found = extensions(dyads, rows, work, first, work.total, block=block)
        count = jnp.cumsum(found.valid, dtype=jnp.int32)
        place = jnp.where(found.valid, count - 1, block)
        source = put_at(accumulator(block, jnp.int32, backend), place, jnp.arange(block, dtype=jnp.int32), backend)
        row, phase, slot, local, pattern = (take(x, source[:block]) for x in found[1:])
        base, old = take(rows.base, row), rows.nodes.at[:, row].get(mode="promise_in_bounds")
        begins = rows.begins.at[:, row].get(mode="promise_in_bounds")
        begins = jnp.where(jnp.arange(old.shape[0], dtype=jnp.int32)[:, None] == phase[None], slot[None] + 1, begins)
        begin = _first_after(dyads, base + local, old[0] - base)
        words = append_bits(take(rows.low, row), take(rows.high, row), pattern, dyads.new_bits(old.shape[0]))
        new = Rows(
            base, jnp.concatenate([old, (base + local)[None]]), jnp.concatenate([begins, begin[None]]), phase, *words
        )
        table = Rows(*(
            lax.dynamic_update_slice(x, y, (jnp.int32(0), size)[-x.ndim :]) for x, y in zip(table, new, strict=True)
        ))  # fmt: skip
        return table, size + count[-1], first + block

    return lax.while_loop(more, step, (table, size, first))


# ---- the last two nodes


class Candidates(NamedTuple):
    """The nodes that may be added to some rows, ``[B]`` each (lanes without one have an empty walk).

    Attributes:
      row: int32; local: int32, the node's number in its graph.
      begin: int32, the slot where the walk over its neighbours begins; work: these walks.
      low, high: uint32, the code of the extended row; its last bits are the pattern.
      keys: unsigned ``[B]``, row (from the first one) and pattern; all ones for no candidate.
    """

    row: Any
    local: Any
    begin: Any
    work: FlatWork
    low: Any
    high: Any
    keys: Any


def candidates(
    dyads: Dyads, rows: Rows, size: Any, walks: Walks, first: Any, *, block: int, backend: Backend
) -> tuple[Candidates, Any]:
    """All that may be added to the rows ``first .. stop``, as many as fit in the block.

    Returns:
      The candidates, and ``stop`` (int32): equal to ``first`` when that row alone does not fit.
    """
    i = rows.nodes.shape[0]
    bits = dyads.new_bits(i)
    with wide_ints():
        begin = jnp.where(first > 0, take(walks.ends, jnp.maximum(first - 1, 0)), 0)
        stop = jnp.searchsorted(walks.ends, begin + block, side="right").astype(jnp.int32)
        stop = jnp.minimum(jnp.minimum(stop, first + block), size)
        end = jnp.where(stop > first, take(walks.ends, jnp.maximum(stop - 1, 0)), begin)
    found = extensions(dyads, rows, walks.work, begin, end, block=block)
    low, high = append_bits(take(rows.low, found.row), take(rows.high, found.row), found.pattern, bits)
    base = take(rows.base, found.row)
    node = base + found.local
    begins = _first_after(dyads, node, take(rows.nodes[0], found.row) - base)
    work, _ = _laid_out(jnp.where(found.valid, take(dyads.offsets, node + 1) - begins, 0), backend)
    with wide_ints():
        word = jnp.uint32 if bits + block.bit_length() < 32 else jnp.uint64
        keys = ((found.row - first).astype(word) << bits) | found.pattern.astype(word)
        keys = jnp.where(found.valid, keys, all_ones(word))
    return Candidates(found.row, found.local, begins, work, low, high, keys), stop


class Runs(NamedTuple):
    """Candidates of one row and pattern, ``[B]`` each: row, pattern (uint32), how many, and the walk over the runs of
    the same row that pairs with each: from the run itself on, or from the next where it is of one candidate."""

    row: Any
    pattern: Any
    count: Any
    work: FlatWork


def pattern_runs(keys: Any, first: Any, *, bits: int, backend: Backend) -> Runs:
    """From the sorted keys of candidates of the rows ``first ..``, whose patterns have so many bits."""
    block = keys.shape[0]
    lane = jnp.arange(block, dtype=jnp.int32)
    with wide_ints():
        real = keys != all_ones(keys.dtype)
        begins = real & ex.first_ones(keys)
        number = begins.sum(dtype=jnp.int32)
        place = jnp.where(begins, jnp.cumsum(begins, dtype=jnp.int32) - 1, block)
        all_real = jnp.full(accumulator(block, jnp.int32, backend).shape, real.sum(dtype=jnp.int32))
        start = put_at(all_real, place, lane, backend)[:block]
        key = put_at(accumulator(block, keys.dtype, backend), place, keys, backend)[:block]
        row = (key >> bits).astype(jnp.int32)
        pattern = (key & ((1 << bits) - 1)).astype(jnp.uint32)
    count = jnp.concatenate([start[1:], all_real[:1]]) - start
    used = lane < number
    is_last = used & ((lane + 1 == number) | (jnp.roll(row, -1) != row))
    last = put_at(accumulator(block, jnp.int32, backend), jnp.where(is_last, row, block), lane, backend)
    length = jnp.where(used, take(last, row) - lane + (count > 1).astype(jnp.int32), 0)
    return Runs(row + first, pattern, count, _laid_out(length, backend)[0])


def pair_codes(dyads: Dyads, rows: Rows, runs: Runs, first: Any, *, block: int, wide: bool) -> tuple[Any, Any]:
    """Pairs of candidates as if none had an edge between its two, at one block of positions of the runs' walks.

    Returns:
      Codes as :func:`visit_codes` gives them, the smaller pattern first, and how many pairs have each, int64.
    """
    i = rows.nodes.shape[0]
    run, offset, valid = ex.expand(runs.work, first, runs.work.total, block)
    other = run + offset + (take(runs.count, run) == 1).astype(jnp.int32)
    row, pattern = take(runs.row, run), take(runs.pattern, other)
    with wide_ints():
        count, times = (take(runs.count, x).astype(jnp.int64) for x in (run, other))
        weights = jnp.where(valid, jnp.where(run == other, count * (count - 1) // 2, count * times), 0)
    words = append_bits(take(rows.low, row), take(rows.high, row), take(runs.pattern, run), dyads.new_bits(i))
    bits = i * dyads.state_bits
    states = pattern & jnp.uint32((1 << bits) - 1)
    pattern = states if dyads.node_codes is None else states | ((pattern >> bits) << (bits + dyads.state_bits))
    low, high = append_bits(*words, pattern, dyads.new_bits(i + 1))
    return _codes(dyads, take(rows.base, row), low, high, valid, wide), weights


def visit_codes(
    dyads: Dyads, rows: Rows, added: Candidates, first: Any, *, block: int, wide: bool, backend: Backend
) -> Any:
    """The subgraphs of a row, a candidate u and a neighbour of u that is a candidate or an only neighbour of u.

    Pairs of candidates are met from both ends, and taken where the second has the larger pattern, or number.

    Returns:
      Codes at one block of positions of the candidates' walks, all ones where there is no such subgraph: uint32
      ``[block]``, or with ``wide`` (codes over 31 bits) ``[2, block]``, high words first.
    """
    if backend == "pallas-triton" and dyads.matrix is not None and dyads.node_codes is None:
        return _pallas(dyads, rows, added, first, block, wide)
    i = rows.nodes.shape[0]
    at, offset, valid = ex.expand(added.work, first, added.work.total, block)
    slot = jnp.where(valid, take(added.begin, at) + offset, 0)
    local, row, old_local, low = take(dyads.near, slot), take(added.row, at), take(added.local, at), take(added.low, at)
    base, rank = take(rows.base, row), take(rows.rank, row)
    node, last = base + local, take(rows.nodes[i - 1], row)
    states = jnp.zeros(block, jnp.uint32)
    candidate = jnp.zeros(block, bool)
    for a in range(i):
        old = take(rows.nodes[a], row)
        state = dyad_state(dyads, old, local)
        valid = valid & (node != old)
        candidate = candidate | ((states == 0) & (state != 0) & ((a > rank) | ((a == rank) & (node > last))))
        states = states | (state.astype(jnp.uint32) << (a * dyads.state_bits))
    before, pattern = low & jnp.uint32((1 << dyads.new_bits(i)) - 1), _with_label(dyads, states, node, i)
    second = (pattern > before) | ((pattern == before) & (local > old_local))
    valid = valid & ((states == 0) | (candidate & second))
    words = append_bits(low, take(added.high, at), _leaf_pattern(dyads, i, states, take(dyads.states, slot), node),
                        dyads.new_bits(i + 1))  # fmt: skip
    return _codes(dyads, base, *words, valid, wide)


def ordered_pair(dyads: Dyads, low: Any, high: Any, pattern: Any, nodes: int) -> Any:
    """The code of a row of ``nodes + 1`` nodes (two words) extended by a pattern, as the functions above write it."""
    with wide_ints():
        bits, width = nodes * dyads.state_bits, dyads.state_bits
        code, new = (high.astype(jnp.uint64) << 32) | low.astype(jnp.uint64), pattern.astype(jnp.uint64)
        states = new & ((1 << bits) - 1)
        state, label = (new >> bits) & ((1 << width) - 1), new >> (bits + width)
        own, before = code & ((1 << dyads.new_bits(nodes)) - 1), code >> dyads.new_bits(nodes)
        whole = states | (label << bits)
        swap = (states != 0) & (whole < own)
        other = state // dyads.entries + state % dyads.entries * dyads.entries if dyads.entries else state
        first, second = jnp.where(swap, whole, own), jnp.where(swap, own, whole)
        state = jnp.where(swap, other, state)
        last = (second & ((1 << bits) - 1)) | (state << bits) | ((second >> bits) << (bits + width))
        return (((before << dyads.new_bits(nodes)) | first) << dyads.new_bits(nodes + 1)) | last


def _leaf_pattern(dyads: Dyads, nodes: int, states: Any, state: Any, node: Any) -> Any:
    """Code bits of a node with these states towards ``nodes`` nodes, and ``state`` towards the one after them."""
    return _with_label(dyads, states | (state.astype(jnp.uint32) << (nodes * dyads.state_bits)), node, nodes + 1)


def _codes(dyads: Dyads, base: Any, low: Any, high: Any, valid: Any, wide: bool) -> Any:
    low, high = _marked(_with_graph(dyads, base, low, high), valid)
    return jnp.stack([high, low]) if wide else low


def _with_graph(dyads: Dyads, base: Any, low: Any, high: Any) -> tuple[Any, Any]:
    if not dyads.graph_bits:
        return low, high
    return append_bits(low, high, (base // dyads.n).astype(jnp.uint32), dyads.graph_bits)


def _marked(words: tuple[Any, Any], valid: Any) -> tuple[Any, Any]:
    low, high = (jnp.where(valid, word, jnp.uint32(NO_CODE)) for word in words)
    return low, high


def _pallas(dyads: Dyads, rows: Rows, added: Candidates, first: Any, block: int, wide: bool) -> Any:
    i, capacity = rows.nodes.shape
    items, starts = ex.window(added.work, first, block)
    with wide_ints():
        count = jnp.clip(added.work.total - first, 0, block).astype(jnp.int32)
    lists, n, bits, mask = items.shape[0], dyads.n, dyads.state_bits, (1 << dyads.new_bits(i)) - 1

    def kernel(count_ref, items, starts, begin, row_of, local_of, low_of, high_of, near, states_of, matrix, base_of,
               rank_of, nodes, *out):  # fmt: skip
        count, tile = count_ref[0], pl.program_id(0)

        @pl.when(tile * LANES >= count)
        def _():
            for ref in out:
                ref[...] = jnp.full(ref.shape, -1, jnp.int32)

        @pl.when(tile * LANES < count)
        def _():
            index, offset, valid = ex.expand_lanes(starts, lists, count, LANES, tile)
            at = ex.load(items, index, valid)
            slot = ex.load(begin, at, valid) + offset
            local, row = ex.load(near, slot, valid), ex.load(row_of, at, valid)
            base, rank = ex.load(base_of, row, valid), ex.load(rank_of, row, valid)
            low, node = ex.load(low_of, at, valid), base + local
            last = ex.load(nodes, (i - 1) * capacity + row, valid)
            states = jnp.zeros((LANES,), jnp.int32)
            candidate = jnp.zeros((LANES,), bool)
            for a in range(i):
                old = ex.load(nodes, a * capacity + row, valid)
                state = ex.load(matrix, old * n + local, valid).astype(jnp.int32)
                valid = valid & (node != old)
                candidate = candidate | ((states == 0) & (state != 0) & ((a > rank) | ((a == rank) & (node > last))))
                states = states | _left(state, a * bits)
            before = low & mask
            second = (states > before) | ((states == before) & (local > ex.load(local_of, at, valid)))
            valid = valid & ((states == 0) | (candidate & second))
            high = ex.load(high_of, at, valid) if wide else jnp.zeros((LANES,), jnp.int32)
            state = ex.load(states_of, slot, valid).astype(jnp.int32)
            parts = [(states | _left(state, i * bits), dyads.new_bits(i + 1))]
            if dyads.graph_bits:
                parts.append((base // n, dyads.graph_bits))
            for pattern, shift in parts:
                high = _left(high, shift) | lax.shift_right_logical(low, jnp.full_like(low, 32 - shift))
                low = _left(low, shift) | pattern
            for ref, word in zip(out, (high, low)[-len(out) :], strict=True):
                ref[...] = jnp.where(valid, word, -1)

    words = 2 if wide else 1
    lane_block = pl.BlockSpec((LANES,), lambda p: (p,))
    low, high = (lax.bitcast_convert_type(x, jnp.int32) for x in (added.low, added.high))
    operands = [
        count[None], items, starts, added.begin, added.row, added.local, low, high, dyads.near, dyads.states,
        dyads.matrix, rows.base, rows.rank, rows.nodes.reshape(-1),
    ]  # fmt: skip
    with jax.enable_x64(False):
        out = pl.pallas_call(
            kernel, grid=(block // LANES,), out_shape=[jax.ShapeDtypeStruct((block,), jnp.int32)] * words,
            in_specs=[ex.WHOLE] * len(operands), out_specs=[lane_block] * words, compiler_params=ex.triton(),
            name="census",
        )(*operands)  # fmt: skip
    codes = [lax.bitcast_convert_type(x, jnp.uint32) for x in out]
    return jnp.stack(codes) if wide else codes[0]


def _left(x: Any, bits: int) -> Any:
    return lax.shift_left(x, jnp.full_like(x, bits))
