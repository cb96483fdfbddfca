"""One step of the level search: expand a window of rows by their candidates, filter, and append or count.

A row holds the target nodes of a partial match. Its candidates for the next query node are the shortest of the lists
that the nodes already mapped allow; the lists of a window of rows are laid end to end and a step takes one block of
these flat positions (programs and operands: :mod:`jaxmotif.search._layout`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxmotif.arrays._compile import target
from jaxmotif.kernels import _expand as ex
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._lane_body import between, fused_call, load, whole
from jaxmotif.search._layout import (
    Columns,
    Operands,
    PairWords,
    Reader,
    Sizes,
    array_reader,
    kernel_reader,
    loop,
    masked_take,
)
from jaxmotif.search._leaf_counts import intersection_size, leaf_ways
from jaxmotif.search._limbs import counts_of

LANES = 1024
"""Flat positions, or rows of a window, that a program of a fused kernel takes."""


def is_fused(sizes: Sizes) -> bool:
    """Whether steps take their Pallas form: in programs of whole tiles, and only where the order of what they append is
    free."""
    return target().fused and not sizes.in_order and sizes.block % LANES == sizes.window % LANES == 0


class Window(NamedTuple):
    """Int32 scalars: the table expanded, its first row, how many rows, and candidates of that row already used."""

    table: Any
    first: Any
    rows: Any
    used: Any


class Extended(NamedTuple):
    """What a step did.

    Attributes:
      table: all tables.
      added: rows appended, int32; in plain XLA they keep the order of their flat positions.
      counts: matches counted by each tile of lanes, uint32 ``[tiles, limbs]``, low words first.
      tested: flat positions, int32.
      done, used: rows of the window wholly expanded, and candidates of the next one used, int32.
    """

    table: Any
    added: Any
    counts: Any
    tested: Any
    done: Any
    used: Any


class RowLists(NamedTuple):
    """Of each row of a window, int32 ``[sizes.window]``: how many candidates its shortest list has left, their place in
    ``entries``, and which anchor the list belongs to."""

    lengths: Any
    places: Any
    anchors: Any


def choose_lists(io: Reader, window: Window, index: Any) -> RowLists:
    """The shortest list of each row. Lists begin, as they are ascending, after the nodes that the new node must
    exceed."""
    where = index < window.rows
    head = io.of_table(window.table)
    columns, anchors, below, trims = Columns.of(head), head.anchors, head.below, head.num_below
    zero = jnp.zeros_like(index)

    def exceed(number, least):
        node = io.column(columns, io.word(below + number), window.first + index, zero, where)
        return jnp.maximum(least, node + 1)

    least = loop(trims, exceed, zero)
    # Where nothing is to be exceeded, no entry is less than 0 and there is nothing to search for.
    halvings = jnp.where(trims > 0, io.search.halvings, jnp.zeros_like(trims))

    def look(number, best):
        pair = io.record(PairWords, anchors, number)
        u = io.column(columns, pair.slot, window.first + index, zero, where)
        place = pair.list + u
        start, end = io.load(io.op.offsets, place, where), io.load(io.op.offsets, place + 1, where)
        start = io.first_from(least, start, end, where, halvings)
        length = end - start
        shorter = length < best[0]
        return (
            jnp.where(shorter, length, best[0]), jnp.where(shorter, start, best[1]),
            jnp.where(shorter, number, best[2]),
        )  # fmt: skip

    length, start, anchor = loop(head.num_anchors, look, (zero + 2**30, zero, zero))
    used = jnp.where(index == 0, window.used, 0)  # of the first row, an earlier step may have tested some
    return RowLists(jnp.where(where, length - used, 0), start + used, anchor)


def filter_lanes(io: Reader, table: Any, row: Any, w: Any, anchor: Any, where: Any) -> Any:
    """Which candidates w extend their rows, int32 0 or 1; lists hold none that does not exceed what it must."""
    head = io.of_table(table)
    columns, apart, anchors, strangers = Columns.of(head), head.apart, head.anchors, head.strangers
    zero = jnp.zeros_like(w)

    def column(slot, mask):
        return io.column(columns, slot, row, zero, mask)

    def differs(number, ok):
        return ok & (column(io.word(apart + number), where) != w).astype(jnp.int32)

    def adjacent(number, ok):
        pair = io.record(PairWords, anchors, number)
        test = (ok > 0) & (anchor != number)  # the candidates of a list are in it
        there = io.adjacent(column(pair.slot, test), w, pair, test)
        return ok & (there | (anchor == number).astype(jnp.int32))

    def stranger(number, ok):
        pair = io.record(PairWords, strangers, number)
        test = ok > 0
        return ok & (1 - io.adjacent(column(pair.slot, test), w, pair, test))

    # The cheap test first: the others look at the lanes it leaves.
    ok = loop(head.num_apart, differs, where.astype(jnp.int32))
    count = head.num_anchors
    ok = loop(jnp.where(count > 1, count, jnp.zeros_like(count)), adjacent, ok)
    ok = loop(head.num_strangers, stranger, ok)
    if not io.sizes.ahead:
        return ok
    factors = head.ahead

    def alive(number, ok):
        where = ok > 0
        size = intersection_size(io, factors, number, lambda slot: io.column(columns, slot, row, w, where), where)
        return ok & (size > 0).astype(jnp.int32)

    return loop(head.num_ahead, alive, ok)


def blank_table(entries: int, sizes: Sizes) -> jax.Array:
    """Room for the tables, int32 ``[entries + 1]``, with arbitrary contents on a GPU (no pass over the memory)."""
    if not is_fused(sizes):
        return jnp.zeros(entries + 1, jnp.int32)

    def kernel(out):
        pass

    shape = jax.ShapeDtypeStruct((entries + 1,), jnp.int32)
    return fused_call(kernel, out_shape=shape, out_specs=whole(), name="blank_table")()


def prepare_window(op: Operands, table: jax.Array, window: Window, sizes: Sizes) -> RowLists:
    """:func:`choose_lists` for a window."""
    if not is_fused(sizes):
        return choose_lists(array_reader(op, table, sizes), window, jnp.arange(sizes.window, dtype=jnp.int32))
    from jax.experimental import pallas as pl

    lanes = min(LANES, sizes.window)

    def kernel(window_ref, table_ref, operands, *out):
        index = pl.program_id(0) * lanes + jnp.arange(lanes, dtype=jnp.int32)
        lists = choose_lists(kernel_reader(operands, table_ref, sizes), _window(window_ref), index)
        for ref, value in zip(out, lists, strict=True):
            ref[...] = value

    inputs = (jnp.stack(window), table, op)
    vector, tile = jax.ShapeDtypeStruct((sizes.window,), jnp.int32), pl.BlockSpec((lanes,), lambda i: (i,))
    return fused_call(
        kernel, grid=(sizes.window // lanes,), out_shape=RowLists(*[vector] * 3),
        in_specs=jax.tree.map(lambda _: whole(), inputs), out_specs=RowLists(*[tile] * 3), name="prepare_window",
    )(*inputs)  # fmt: skip


def extend(
    op: Operands, table: jax.Array, window: Window, lists: RowLists, block: Any, held: Any, sizes: Sizes
) -> Extended:
    """Test the first flat positions of a window; append the survivors to the next table, or count.

    Args:
      op: what the search reads.
      table: int32, all tables and one spare last entry.
      window: the rows expanded.
      lists: of these rows, from :func:`prepare_window`.
      block: int32 scalar, positions to test, at most ``sizes.block``.
      held: int32 scalar, rows the next table holds.
    """
    ends = jnp.cumsum(lists.lengths, dtype=jnp.int32)
    starts, total = ends - lists.lengths, jnp.minimum(ends[-1], block)
    form = _extend_fused if is_fused(sizes) else _extend_arrays
    table, added, counts, whole = form(op, table, window, starts, lists, total, block, held, sizes)
    # The block may end within a row: it is the first of the next window, and what of it was tested is left out then.
    over = ends[-1] > block
    done = jnp.where(over, whole, window.rows)
    used = block - take(starts, jnp.where(over, whole, 0)) + jnp.where(whole == 0, window.used, 0)
    return Extended(table, added, counts, total, done, jnp.where(over, used, 0))


def _extend_arrays(
    op: Operands, table: jax.Array, window: Window, starts: jax.Array, lists: RowLists, total: Any, block: Any,
    held: Any, sizes: Sizes,
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:  # fmt: skip
    """:func:`extend` in plain XLA, given where each row's positions start; returns the tables, rows added, counts, and
    how many of a window's rows lie before the end of the block, where it has more than fit."""
    io = array_reader(op, table, sizes)
    position = jnp.arange(sizes.block, dtype=jnp.int32)
    valid = position < total
    # The row of a position: how many rows start at or before it.
    marks = jnp.zeros(sizes.block + 1, jnp.int32).at[jnp.minimum(starts, sizes.block)]
    marks = marks.add(jnp.int32(1), mode="promise_in_bounds")
    index = jnp.where(valid, jnp.cumsum(marks[:-1], dtype=jnp.int32) - 1, 0)
    w = masked_take(op.entries, take(lists.places, index) + position - take(starts, index), valid)
    row = window.first + index
    ok = filter_lanes(io, window.table, row, w, take(lists.anchors, index), valid)

    head = io.of_table(window.table)
    columns, appended, next_room = Columns.of(head), head.columns, head.next_room
    last = head.is_last > 0
    numbers, ways = _ways(io, window, row, w, (ok > 0) & last)
    # No count is negative, but XLA cannot know: tables are written only when all is read, and so in place.
    some = jax.tree.leaves(ways)[0]
    zero = jnp.minimum(ex.half(some).max().astype(jnp.int32) if some.dtype == jnp.uint32 else some.max(), 0)
    place = head.next_base + held + zero.astype(jnp.int32) + jnp.cumsum(ok, dtype=jnp.int32) - 1
    spare = jnp.int32(table.shape[0] - 1)

    def append(number, table):
        values = io._replace(table=table).column(columns, io.word(appended + number), row, w, valid)
        to = jnp.where(ok > 0, place + number * next_room, spare)
        return table.at[to].set(values, mode="promise_in_bounds")

    tiles = jax.tree.map(lambda x: x.reshape(-1, min(LANES, sizes.block)), ways)
    counts = jnp.stack(numbers.sums(tiles), axis=-1)
    added = jnp.where(last, 0, ok.sum(dtype=jnp.int32))
    table = loop(head.num_columns, append, table)
    return table, added, counts, (starts <= block).sum(dtype=jnp.int32) - 1


class _Inputs(NamedTuple):
    """Of the fused kernel: the tables and rows added, which it writes in place; :class:`Window`; positions and rows
    held; the first row of each tile of lanes; of each row, where its positions start, what to add to a position for
    its place in ``entries``, and its anchor; and the operands."""

    table: Any
    added: Any
    window: Any
    extent: Any
    tiles: Any
    starts: Any
    shifts: Any
    anchors: Any
    operands: Operands


class _Outputs(NamedTuple):
    table: Any
    added: Any
    counts: Any


def _extend_fused(
    op: Operands, table: jax.Array, window: Window, starts: jax.Array, lists: RowLists, total: Any, block: Any,
    held: Any, sizes: Sizes,
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:  # fmt: skip
    """:func:`_extend_arrays` as one kernel; programs append in the order in which they come."""
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    programs, limbs = sizes.block // LANES, max(sizes.limbs, 2)
    firsts = jnp.append(LANES * jnp.arange(programs + 1, dtype=jnp.int32), block)
    tiles = ex.lists_at(starts, firsts)

    def kernel(read: _Inputs, *refs: Any) -> None:
        out = _Outputs(*refs)
        count, held = read.extent[0], read.extent[1]
        window = _window(read.window)
        first = pl.program_id(0) * LANES

        @pl.when(first >= count)
        def _():
            out.counts[...] = jnp.zeros((1, limbs), jnp.uint32)

        @pl.when(first < count)
        def _():
            io = kernel_reader(read.operands, out.table, sizes)
            head = io.of_table(window.table)
            tile = pl.program_id(0)
            low, high = read.tiles[tile], read.tiles[tile + 1]
            index, position, valid = between(read.starts, low, high, count, LANES, tile)
            w = load(io.op.entries, load(read.shifts, index, valid) + position, valid)
            row = window.first + index
            ok = filter_lanes(io, window.table, row, w, load(read.anchors, index, valid), valid)
            last = head.is_last > 0

            @pl.when(last)
            def _():
                numbers, ways = _ways(io, window, row, w, ok > 0)
                for limb, word in enumerate(numbers.sums(ways)):
                    out.counts[0, limb] = word

            @pl.when(~last)
            def _():
                out.counts[...] = jnp.zeros((1, limbs), jnp.uint32)
                # One program after another takes the next places; which comes first is left to the device.
                here = triton.atomic_add(out.added, (pl.program_id(0) * 0,), jnp.sum(ok))
                place = head.next_base + held + here + jnp.cumsum(ok, 0) - 1
                columns, appended, next_room, keep = Columns.of(head), head.columns, head.next_room, ok > 0

                def append(number, carry):
                    values = io.column(columns, io.word(appended + number), row, w, keep)
                    to = jnp.where(keep, place + number * next_room, 0)
                    triton.store(out.table.at[to], values, mask=keep)
                    return carry + number  # nothing reads it, but a loop without a changing value does not lower

                loop(head.num_columns, append, next_room)

    inputs = _Inputs(
        table, jnp.zeros(1, jnp.int32), jnp.stack(window), jnp.stack([total, held]), tiles, starts,
        lists.places - starts, lists.anchors, op,
    )  # fmt: skip
    shapes = _Outputs(
        jax.ShapeDtypeStruct(table.shape, jnp.int32), jax.ShapeDtypeStruct((1,), jnp.int32),
        jax.ShapeDtypeStruct((programs, limbs), jnp.uint32),
    )  # fmt: skip
    specs = _Outputs(whole(), whole(), pl.BlockSpec((1, limbs), lambda i: (i, 0)))
    found = fused_call(
        kernel, grid=(programs,), out_shape=shapes, out_specs=specs,
        in_specs=(jax.tree.map(lambda _: whole(), inputs),),
        input_output_aliases={0: 0, 1: 1},  # table and added, first in both
        name="extend",
    )(inputs)  # fmt: skip
    table, added, counts = found
    return table, added[0], counts, tiles[-1]


class _Matches:
    """Counting without leaves: each surviving lane is one match."""

    def sums(self, x: Any) -> list[Any]:
        total = jnp.sum(x, axis=-1, dtype=jnp.int32).astype(jnp.uint32)
        return [total, jnp.zeros_like(total)]


def _ways(io: Reader, window: Window, row: Any, w: Any, where: Any) -> tuple[Any, Any]:
    """Matches that each lane completes, and the arithmetic these numbers are of."""
    if not io.sizes.limbs:  # no program has leaves
        return _Matches(), where.astype(jnp.int32)
    return counts_of(io.sizes.limbs), leaf_ways(io, window.table, row, w, where)


def _window(ref: Any) -> Window:
    return Window(ref[0], ref[1], ref[2], ref[3])
