"""One step of the level search: expand a window of rows by their candidates, filter, and append or count.

A row holds the target nodes of a partial match. Its candidates for the next query node are the shortest of the lists
that the nodes already mapped allow; the lists of a window of rows are laid end to end and a step takes one block of
these flat positions (programs and operands: :mod:`jaxmotif.kernels.lanes`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plt

from jaxmotif.kernels import expand as ex
from jaxmotif.kernels.choice import Backend
from jaxmotif.kernels.expand import take
from jaxmotif.kernels.lanes import (
    AHEAD,
    ANCHORS,
    APART,
    BELOW,
    COLUMNS,
    IS_LAST,
    NEXT_BASE,
    NEXT_ROOM,
    NUM_AHEAD,
    NUM_ANCHORS,
    NUM_APART,
    NUM_BELOW,
    NUM_COLUMNS,
    NUM_STRANGERS,
    SEARCH_STEPS,
    STRANGERS,
    Lanes,
    Operands,
    Sizes,
    kernel_lanes,
    level,
    loop,
    masked_take,
    xla_lanes,
)
from jaxmotif.kernels.weigh import BLOCK, block_size, leaf_weight

LANES = 1024


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
      counts: matches counted by each block of lanes, uint32 ``[blocks, 2]``, low words first.
      tested: flat positions, int32.
      done, used: rows of the window wholly expanded, and candidates of the next one used, int32.
    """

    table: Any
    added: Any
    counts: Any
    tested: Any
    done: Any
    used: Any


def choose_lists(io: Lanes, window: Window, index: Any) -> tuple[Any, Any, Any]:
    """For each row of a window: how many candidates its shortest list has left, their place in ``entries``, and which
    anchor it belongs to. Lists begin, as they are ascending, after the nodes that the new node must exceed."""
    where = index < window.rows
    head = level(window.table)
    anchors, columns = io.program(head + ANCHORS), io.columns(window.table)
    zero = jnp.zeros_like(index)
    below, trims = io.program(head + BELOW), io.program(head + NUM_BELOW)

    def exceed(number, least):
        node = io.column(columns, io.program(below + number), window.first + index, zero, where)
        return jnp.maximum(least, node + 1)

    least = loop(trims, exceed, zero)
    halvings = jnp.where(trims > 0, io.program(SEARCH_STEPS), jnp.zeros_like(trims))

    def look(number, best):
        pair = anchors + 3 * number
        u = io.column(columns, io.program(pair), window.first + index, zero, where)
        place = io.program(pair + 1) + u
        start, end = io.load(io.op.offsets, place, where), io.load(io.op.offsets, place + 1, where)
        start = io.first_from(least, start, end, where, halvings)
        length = end - start
        shorter = length < best[0]
        return (
            jnp.where(shorter, length, best[0]), jnp.where(shorter, start, best[1]),
            jnp.where(shorter, number, best[2]),
        )  # fmt: skip

    length, start, anchor = loop(io.program(head + NUM_ANCHORS), look, (zero + 2**30, zero, zero))
    used = jnp.where(index == 0, window.used, 0)
    return jnp.where(where, length - used, 0), start + used, anchor


def filter_lanes(io: Lanes, table: Any, row: Any, w: Any, anchor: Any, where: Any) -> Any:
    """Which candidates w extend their rows, int32 0 or 1; lists hold none that does not exceed what it must."""
    head = level(table)
    columns = io.columns(table)
    zero = jnp.zeros_like(w)

    def column(pointer, number, width, mask):
        return io.column(columns, io.program(pointer + width * number), row, zero, mask)

    apart = io.program(head + APART)
    anchors, strangers = io.program(head + ANCHORS), io.program(head + STRANGERS)

    def differs(number, ok):
        return ok & (column(apart, number, 1, where) != w).astype(jnp.int32)

    def adjacent(number, ok):
        test = (ok > 0) & (anchor != number)
        there = io.adjacent(column(anchors, number, 3, test), w, anchors + 3 * number, test)
        return ok & (there | (anchor == number).astype(jnp.int32))

    def stranger(number, ok):
        test = ok > 0
        return ok & (1 - io.adjacent(column(strangers, number, 3, test), w, strangers + 3 * number, test))

    ok = loop(io.program(head + NUM_APART), differs, where.astype(jnp.int32))
    count = io.program(head + NUM_ANCHORS)
    ok = loop(jnp.where(count > 1, count, jnp.zeros_like(count)), adjacent, ok)
    ok = loop(io.program(head + NUM_STRANGERS), stranger, ok)
    if not io.sizes.ahead:
        return ok
    blocks = io.program(head + AHEAD)

    def alive(number, ok):
        where = ok > 0
        size = block_size(io, blocks + BLOCK * number, lambda slot: io.column(columns, slot, row, w, where), where)
        return ok & (size > 0).astype(jnp.int32)

    return loop(io.program(head + NUM_AHEAD), alive, ok)


def blank_table(entries: int, backend: Backend) -> jax.Array:
    """Room for the tables, int32 ``[entries + 1]``, with arbitrary contents on a GPU (no pass over the memory)."""
    if backend == "xla":
        return jnp.zeros(entries + 1, jnp.int32)

    def kernel(out):
        pass

    with jax.enable_x64(False):
        return pl.pallas_call(
            kernel, out_shape=jax.ShapeDtypeStruct((entries + 1,), jnp.int32), out_specs=ex.WHOLE,
            compiler_params=ex.triton(), name="blank_table",
        )()  # fmt: skip


def prepare_window(
    op: Operands, table: jax.Array, window: Window, sizes: Sizes, backend: Backend
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """:func:`choose_lists` for a window: three int32 arrays ``[sizes.window]``."""
    if backend == "xla":
        io = xla_lanes(op, table, sizes)
        return choose_lists(io, window, jnp.arange(sizes.window, dtype=jnp.int32))
    lanes = min(LANES, sizes.window)

    def kernel(window_ref, table_ref, *refs):
        operands, out = Operands(*refs[: len(op)]), refs[len(op) :]
        io = kernel_lanes(operands, table_ref, sizes)
        index = pl.program_id(0) * lanes + jnp.arange(lanes, dtype=jnp.int32)
        for ref, value in zip(out, choose_lists(io, _window(window_ref), index), strict=True):
            ref[...] = value

    with jax.enable_x64(False):
        return pl.pallas_call(
            kernel, grid=(sizes.window // lanes,),
            out_shape=[jax.ShapeDtypeStruct((sizes.window,), jnp.int32)] * 3,
            in_specs=[ex.WHOLE] * (2 + len(op)), out_specs=[pl.BlockSpec((lanes,), lambda i: (i,))] * 3,
            compiler_params=ex.triton(), name="prepare_window",
        )(jnp.stack(window), table, *op)  # fmt: skip


def extend(
    op: Operands,
    table: jax.Array,
    window: Window,
    lists: tuple[jax.Array, jax.Array, jax.Array],
    block: Any,
    held: Any,
    sizes: Sizes,
    backend: Backend,
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
    lengths, places, anchors = lists
    ends = jnp.cumsum(lengths, dtype=jnp.int32)
    starts, total = ends - lengths, jnp.minimum(ends[-1], block)
    form = _extend_pallas if backend == "pallas-triton" else _extend_xla
    table, added, counts, whole = form(op, table, window, (starts, places, anchors), total, block, held, sizes)
    over = ends[-1] > block
    done = jnp.where(over, whole, window.rows)
    used = block - take(starts, jnp.where(over, whole, 0)) + jnp.where(whole == 0, window.used, 0)
    return Extended(table, added, counts, total, done, jnp.where(over, used, 0))


def _extend_xla(op, table, window, lists, total, block, held, sizes):
    """:func:`extend`, given where each row's positions start; returns the tables, rows added, counts, and how many of a
    window's rows lie before the end of the block, where it has more than fit."""
    starts, places, anchors = lists
    io = xla_lanes(op, table, sizes)
    position = jnp.arange(sizes.block, dtype=jnp.int32)
    valid = position < total
    marks = jnp.zeros(sizes.block + 1, jnp.int32).at[jnp.minimum(starts, sizes.block)]
    marks = marks.add(jnp.int32(1), mode="promise_in_bounds")
    index = jnp.where(valid, jnp.cumsum(marks[:-1], dtype=jnp.int32) - 1, 0)
    w = masked_take(op.entries, take(places, index) + position - take(starts, index), valid)
    row = window.first + index
    ok = filter_lanes(io, window.table, row, w, take(anchors, index), valid)

    head = level(window.table)
    columns, appended = io.columns(window.table), io.program(head + COLUMNS)
    next_base, next_room = io.program(head + NEXT_BASE), io.program(head + NEXT_ROOM)
    last = io.program(head + IS_LAST) > 0
    weight = _weight(io, window, row, w, (ok > 0) & last)
    # No weight is negative, but XLA cannot know: tables are written only when all is read, and so in place.
    zero = jnp.minimum(weight.max(), 0).astype(jnp.int32)
    place = next_base + held + zero + jnp.cumsum(ok, dtype=jnp.int32) - 1
    spare = jnp.int32(table.shape[0] - 1)

    def append(number, table):
        values = io._replace(table=table).column(columns, io.program(appended + number), row, w, valid)
        to = jnp.where(ok > 0, place + number * next_room, spare)
        return table.at[to].set(values, mode="promise_in_bounds")

    sums = weight.reshape(-1, min(LANES, sizes.block)).sum(axis=1, dtype=jnp.int64)
    counts = lax.bitcast_convert_type(sums, jnp.uint32)
    added = jnp.where(last, 0, ok.sum(dtype=jnp.int32))
    table = loop(io.program(head + NUM_COLUMNS), append, table)
    return table, added, counts, (starts <= block).sum(dtype=jnp.int32) - 1


def _extend_pallas(op, table, window, lists, total, block, held, sizes):
    starts, places, anchors = lists
    programs = sizes.block // LANES
    firsts = jnp.append(LANES * jnp.arange(programs + 1, dtype=jnp.int32), block)
    tiles = ex.lists_at(starts, firsts)

    def kernel(window_ref, extent, tiles, starts, shifts, anchors, zero, *refs):
        operands = Operands(*refs[: len(op)])
        _, table_ref, added, counts = refs[len(op) :]
        count, held = extent[0], extent[1]
        window = _window(window_ref)
        head = level(window.table)
        first = pl.program_id(0) * LANES

        @pl.when(first >= count)
        def _():
            counts[...] = jnp.zeros((1, 2), jnp.uint32)

        @pl.when(first < count)
        def _():
            io = kernel_lanes(operands, table_ref, sizes)
            tile = pl.program_id(0)
            index, position, valid = ex.between(starts, tiles[tile], tiles[tile + 1], count, LANES, tile)
            w = ex.load(operands.entries, ex.load(shifts, index, valid) + position, valid)
            row = window.first + index
            ok = filter_lanes(io, window.table, row, w, ex.load(anchors, index, valid), valid)
            last = io.program(head + IS_LAST) > 0

            @pl.when(last)
            def _():
                low, high = _two_words(_weight(io, window, row, w, ok > 0))
                counts[...] = jnp.concatenate([low.reshape(1, 1), high.reshape(1, 1)], axis=1)

            @pl.when(~last)
            def _():
                counts[...] = jnp.zeros((1, 2), jnp.uint32)
                here = plt.atomic_add(added, (pl.program_id(0) * 0,), jnp.sum(ok))
                place = io.program(head + NEXT_BASE) + held + here + jnp.cumsum(ok, 0) - 1
                columns, appended = io.columns(window.table), io.program(head + COLUMNS)
                next_room, keep = io.program(head + NEXT_ROOM), ok > 0

                def append(number, carry):
                    values = io.column(columns, io.program(appended + number), row, w, keep)
                    to = jnp.where(keep, place + number * next_room, 0)
                    plt.store(table_ref.at[to], values, mask=keep)
                    return carry + number  # a carry that never changes does not lower

                loop(io.program(head + NUM_COLUMNS), append, next_room)

    extent = jnp.stack([total, held])
    with jax.enable_x64(False):
        table, added, counts = pl.pallas_call(
            kernel, grid=(programs,),
            out_shape=[
                jax.ShapeDtypeStruct(table.shape, jnp.int32), jax.ShapeDtypeStruct((1,), jnp.int32),
                jax.ShapeDtypeStruct((programs, 2), jnp.uint32),
            ],
            in_specs=[ex.WHOLE] * (8 + len(op)),
            out_specs=[ex.WHOLE, ex.WHOLE, pl.BlockSpec((1, 2), lambda i: (i, 0))],
            input_output_aliases={6: 1, 7 + len(op): 0}, compiler_params=ex.triton(), name="extend",
        )(
            jnp.stack(window), extent, tiles, starts, places - starts, anchors, jnp.zeros(1, jnp.int32), *op, table
        )  # fmt: skip
    return table, added[0], counts, tiles[-1]


def _weight(io: Lanes, window: Window, row: Any, w: Any, where: Any) -> Any:
    """Ways to map the leaves for each lane, int64; int32 where no program has any."""
    return leaf_weight(io, window.table, row, w, where) if io.sizes.leaves else where.astype(jnp.int32)


def _two_words(weight: Any) -> tuple[Any, Any]:
    """Sum of lanes as two uint32 words."""
    if weight.dtype == jnp.int32:
        return jnp.sum(weight).astype(jnp.uint32), jnp.uint32(0)
    with jax.enable_x64(True):
        total = jnp.sum(weight)
        return total.astype(jnp.uint32), lax.shift_right_logical(total, jnp.int64(32)).astype(jnp.uint32)


def _window(ref: Any) -> Window:
    return Window(ref[0], ref[1], ref[2], ref[3])
