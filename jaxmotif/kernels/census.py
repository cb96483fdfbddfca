"""Growing connected induced subgraphs by one node, each exactly once (NemoGPU 6.2), and their adjacency codes.

A subgraph is a row of nodes in the order they were added. The first has the lowest id. A node v may be added when its
composite rank - the position of the first node of the row that v touches, then v's place among that node's
neighbours - is above that of the node added last. Every connected node set arises from exactly one row.

Rows are extended in phases: phase j walks the neighbours of the j-th node of every row that may still add there.

A code grows with its row: bits for the new node's label, then for its dyads with the nodes before it. Codes are two
uint32 words, and rows of many graphs begin with the graph's number, so one pass counts a whole batch.
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
from jaxmotif.kernels.scatter import put_at
from jaxmotif.kernels.wide import wide_ints

LANES = 1024
NO_CODE = 0xFFFFFFFF


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("offsets", "near", "slot_states", "matrix", "node_codes", "pendants"),
    meta_fields=("n", "state_bits", "label_bits"),
)
@dataclasses.dataclass(frozen=True, eq=False)
class Dyads:
    """Graphs of ``n`` nodes each, as rows of neighbours with the state of every dyad. ``V`` = graphs * n.

    The state of (u, v) is ``e(u, v)``, undirected, or ``e(u, v) + L * e(v, u)``; ``e`` is 0 for no edge, else the rank
    of its label from 1, and ``L`` the number of values of ``e``.

    Attributes:
      offsets: int32 ``[V + 1]``; near: int32 ``[S]``, neighbours within their own graph (0..n-1), ascending in a row
        (then padding).
      slot_states: integers ``[S]``, the state of each slot's dyad; ``None`` when there is a matrix.
      matrix: integers ``[V * n + 1]``, all states; ``None`` when too large.
      node_codes: int32 ``[V]``, ranks of node labels, or ``None``.
      pendants: int32 ``[K, V]``, where each row's neighbours of degree 1 begin whose state is at least 1 .. K. They
        close the row, by rising state; with labels none are told apart (``K`` = 0).
      n, state_bits, label_bits: static.
    """

    offsets: Any
    near: Any
    slot_states: Any
    matrix: Any
    node_codes: Any
    pendants: Any
    n: int
    state_bits: int
    label_bits: int

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
      rank: int32 ``[C]``, which node's neighbour the last one is; slot: its place in ``near``.
      low, high: uint32 ``[C]``, the code.
    """

    base: Any
    nodes: Any
    rank: Any
    slot: Any
    low: Any
    high: Any


def roots(dyads: Dyads) -> Rows:
    """Every node as a subgraph of one."""
    V = dyads.offsets.shape[0] - 1
    node = jnp.arange(V, dtype=jnp.int32)
    graph = node // dyads.n
    local = node - graph * dyads.n
    # Neighbours up to the node itself are walked from the other end.
    slots = dyads.near.shape[0]
    row = jnp.repeat(node, dyads.offsets[1:] - dyads.offsets[:-1], total_repeat_length=slots)
    used = jnp.arange(slots, dtype=jnp.int32) < dyads.offsets[-1]
    before = jnp.zeros(V, jnp.int32).at[row].add((used & (dyads.near < local[row])).astype(jnp.int32))
    code = graph.astype(jnp.uint32)
    if dyads.node_codes is not None:
        code = (code << dyads.label_bits) | dyads.node_codes.astype(jnp.uint32)
    slot = dyads.offsets[:-1] + before - 1
    return Rows(graph * dyads.n, node[None], jnp.zeros_like(node), slot, code, jnp.zeros_like(code))


class Phase(NamedTuple):
    """Phase j of a table: where in ``near`` each row's walk begins, int32 ``[C]``, and all walks end to end."""

    begin: Any
    work: FlatWork


def open_phase(dyads: Dyads, rows: Rows, size: Any, phase: Any, *, last: bool = False) -> Phase:
    """Lay out phase ``phase`` (int32 scalar) of the first ``size`` rows; of the ``last`` level, without pendants."""
    capacity = rows.rank.shape[0]
    row = jnp.arange(capacity, dtype=jnp.int32)
    node, begin, walks = _walks(dyads, rows, size, phase)
    stop = take(dyads.pendants[0], node) if last and dyads.pendants.shape[0] else take(dyads.offsets, node + 1)
    length = jnp.where(walks, jnp.maximum(stop - begin, 0), 0)
    some = length > 0
    place = jnp.where(some, jnp.cumsum(some, dtype=jnp.int32) - 1, capacity)
    items = jnp.zeros(capacity + 1, jnp.int32).at[place].set(row, mode="promise_in_bounds")[:capacity]
    with wide_ints():
        length = length.astype(jnp.int64)
        end = jnp.cumsum(length)
        starts = jnp.full(capacity + 1, end[-1]).at[place].set(end - length, mode="promise_in_bounds")
        starts = starts.at[capacity].set(end[-1])
    return Phase(begin, FlatWork(items, starts))


def _walks(dyads: Dyads, rows: Rows, size: Any, phase: Any) -> tuple[Any, Any, Any]:
    """The node whose neighbours each row walks in a phase, where it begins, and whether it does."""
    within = jnp.arange(rows.rank.shape[0], dtype=jnp.int32) < size
    node = jnp.where(within, lax.dynamic_index_in_dim(rows.nodes, phase, keepdims=False), 0)
    begin = jnp.where(rows.rank < phase, take(dyads.offsets, node), rows.slot + 1)
    return node, begin, within & (rows.rank <= phase)


def pendant_codes(dyads: Dyads, rows: Rows, size: Any, phase: Any, *, wide: bool) -> tuple[Any, Any]:
    """What the pendants at the end of each walk extend, counted and not visited.

    A pendant touches nothing but its neighbour: it may always be added, and all of one state give the same code.

    Returns:
      Codes as :func:`leaf_codes` gives them, ``[K * C]``, and how many pendants give each, int32 (0: no code).
    """
    i, kinds = rows.nodes.shape[0], dyads.pendants.shape[0]
    node, begin, walks = _walks(dyads, rows, size, phase)
    stops = [*(take(dyads.pendants[kind], node) for kind in range(1, kinds)), take(dyads.offsets, node + 1)]
    # A row that begins with a pendant is a whole component.
    first = jnp.where(walks, rows.nodes[0], 0)
    walks = walks & (take(dyads.offsets, first + 1) - take(dyads.offsets, first) > 1)
    codes, counts = [], []
    for kind in range(kinds):
        start = jnp.maximum(begin, take(dyads.pendants[kind], node))
        count = jnp.where(walks, jnp.maximum(stops[kind] - start, 0), 0)
        pattern = jnp.full_like(rows.low, kind + 1) << (phase * dyads.state_bits).astype(jnp.uint32)
        words = append_bits(rows.low, rows.high, pattern, dyads.new_bits(i))
        low, high = (jnp.where(count > 0, word, jnp.uint32(NO_CODE)) for word in words)
        codes.append(jnp.stack([high, low]) if wide else low)
        counts.append(count)
    return jnp.concatenate(codes, axis=-1), jnp.concatenate(counts)


def extensions(
    dyads: Dyads, rows: Rows, opened: Phase, phase: Any, first: Any, *, block: int
) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Try the flat positions ``first .. first + block`` of a phase.

    Returns:
      ``(valid, row, node, slot, low, high)``, each ``[block]``: which positions extend their row, the row, the node
      added (over all graphs), its place in ``near``, and the code of the extended row.
    """
    i = rows.nodes.shape[0]
    row, offset, valid = ex.expand(opened.work, first, opened.work.total, block)
    slot = jnp.where(valid, take(opened.begin, row) + offset, 0)
    local = take(dyads.near, slot)
    node = take(rows.base, row) + local
    pattern = jnp.zeros(block, jnp.uint32)
    for a in range(i):
        old = take(rows.nodes[a], row)
        state = dyad_state(dyads, old, local)
        valid = valid & ((node > old) if a == 0 else (node != old)) & ((state == 0) | (a >= phase))
        pattern = pattern | (state.astype(jnp.uint32) << (a * dyads.state_bits))
    if dyads.node_codes is not None:
        pattern = pattern | (take(dyads.node_codes, node).astype(jnp.uint32) << (i * dyads.state_bits))
    low, high = append_bits(take(rows.low, row), take(rows.high, row), pattern, dyads.new_bits(i))
    return valid, row, node, slot, low, high


def append_bits(low: Any, high: Any, pattern: Any, bits: int) -> tuple[Any, Any]:
    """Shift a two-word code left by ``bits`` (1..31) and put a pattern there."""
    return (low << bits) | pattern, (high << bits) | (low >> (32 - bits))


def dyad_state(dyads: Dyads, node: Any, local: Any) -> Any:
    """The state of the dyads (node, local) as int32; 0 for none, and for a node with itself."""
    if dyads.matrix is not None:
        return take(dyads.matrix, node * dyads.n + local).astype(jnp.int32)
    low, high = take(dyads.offsets, node), take(dyads.offsets, node + 1)
    at, there = ex.find(dyads.near, low, high, local, steps=dyads.n.bit_length())
    return jnp.where(there, take(dyads.slot_states, jnp.where(there, at, 0)).astype(jnp.int32), 0)


def fill(
    dyads: Dyads, rows: Rows, opened: Phase, phase: Any, first: Any, table: Rows, size: Any, *, block: int
) -> tuple[Rows, Any, Any]:
    """Append extended rows to the next table until the phase ends or another block might not fit.

    Args:
      first: int64 scalar, where to go on in the phase.
      table: rows of one node more, with capacity for at least ``block`` rows and ``block`` spare ones at the end.
      size: int32 scalar, how many it holds.

    Returns:
      The table, its size, and where to go on.
    """
    capacity = table.rank.shape[0] - block

    def more(carry: Any) -> Any:
        _, size, first = carry
        return (first < opened.work.total) & (size + block <= capacity)

    def step(carry: Any) -> Any:
        table, size, first = carry
        valid, row, node, slot, low, high = extensions(dyads, rows, opened, phase, first, block=block)
        count = jnp.cumsum(valid, dtype=jnp.int32)
        place = jnp.where(valid, count - 1, block)
        source = put_at(jnp.zeros(block + 1, jnp.int32), place, jnp.arange(block, dtype=jnp.int32), "xla")[:block]
        row, node, slot, low, high = (take(x, source) for x in (row, node, slot, low, high))
        nodes = jnp.concatenate([rows.nodes.at[:, row].get(mode="promise_in_bounds"), node[None]])
        new = Rows(take(rows.base, row), nodes, jnp.full(block, phase, jnp.int32), slot, low, high)
        table = Rows(*(
            lax.dynamic_update_slice(x, y, (jnp.int32(0), size)[-x.ndim :]) for x, y in zip(table, new, strict=True)
        ))  # fmt: skip
        return table, size + count[-1], first + block

    return lax.while_loop(more, step, (table, size, first))


def leaf_codes(
    dyads: Dyads, rows: Rows, opened: Phase, phase: Any, first: Any, *, block: int, wide: bool, backend: Backend
) -> Any:
    """The codes of the extended rows at one block of positions; all ones where a position extends nothing.

    Returns:
      uint32 ``[block]``, or with ``wide`` (codes over 31 bits) ``[2, block]``, high words first.
    """
    if backend == "pallas-triton" and dyads.matrix is not None and dyads.node_codes is None:
        return _pallas(dyads, rows, opened, phase, first, block, wide)
    valid, _, _, _, low, high = extensions(dyads, rows, opened, phase, first, block=block)
    low = jnp.where(valid, low, jnp.uint32(NO_CODE))
    return jnp.stack([jnp.where(valid, high, jnp.uint32(NO_CODE)), low]) if wide else low


def _pallas(dyads: Dyads, rows: Rows, opened: Phase, phase: Any, first: Any, block: int, wide: bool) -> Any:
    i = rows.nodes.shape[0]
    items, starts = ex.window(opened.work, first, block)
    with wide_ints():
        count = jnp.clip(opened.work.total - first, 0, block).astype(jnp.int32)
    scalars = jnp.stack([count, phase])
    lists, n, bits, shift = items.shape[0], dyads.n, dyads.state_bits, dyads.new_bits(i)

    def kernel(scalars, items, starts, begin, near, matrix, base, low_ref, high_ref, *refs):
        nodes, out = refs[:i], refs[i:]
        count, phase, tile = scalars[0], scalars[1], pl.program_id(0)

        @pl.when(tile * LANES >= count)
        def _():
            for ref in out:
                ref[...] = jnp.full(ref.shape, -1, jnp.int32)

        @pl.when(tile * LANES < count)
        def _():
            index, offset, valid = ex.expand_lanes(starts, lists, count, LANES, tile)
            row = ex.load(items, index, valid)
            local = ex.load(near, ex.load(begin, row, valid) + offset, valid)
            node = ex.load(base, row, valid) + local
            pattern = jnp.zeros((LANES,), jnp.int32)
            for a in range(i):
                old = ex.load(nodes[a], row, valid)
                state = ex.load(matrix, old * n + local, valid).astype(jnp.int32)
                valid = valid & ((node > old) if a == 0 else (node != old)) & ((state == 0) | (a >= phase))
                pattern = pattern | lax.shift_left(state, jnp.full_like(state, a * bits))
            low = ex.load(low_ref, row, valid)
            out[-1][...] = jnp.where(valid, lax.shift_left(low, jnp.full_like(low, shift)) | pattern, -1)
            if wide:
                high = ex.load(high_ref, row, valid)
                carried = lax.shift_right_logical(low, jnp.full_like(low, 32 - shift))
                out[0][...] = jnp.where(valid, lax.shift_left(high, jnp.full_like(high, shift)) | carried, -1)

    words = 2 if wide else 1
    lane_block = pl.BlockSpec((LANES,), lambda p: (p,))
    signed = [lax.bitcast_convert_type(x, jnp.int32) for x in (rows.low, rows.high)]
    with jax.enable_x64(False):
        out = pl.pallas_call(
            kernel, grid=(block // LANES,), out_shape=[jax.ShapeDtypeStruct((block,), jnp.int32)] * words,
            in_specs=[ex.WHOLE] * (9 + i), out_specs=[lane_block] * words, compiler_params=ex.triton(), name="census",
        )(scalars, items, starts, opened.begin, dyads.near, dyads.matrix, rows.base, *signed,
          *(rows.nodes[a] for a in range(i)))  # fmt: skip
    codes = [lax.bitcast_convert_type(x, jnp.uint32) for x in out]
    return jnp.stack(codes) if wide else codes[0]
