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
from jaxmotif.kernels._lane_body import between
from jaxmotif.kernels._launch import fetch_add, kernel_call, load, store, whole
from jaxmotif.search._layout import (
    Columns,
    Operands,
    PairWords,
    Reader,
    Sizes,
    TallyWords,
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
    """Whether steps take their Pallas form: in programs of whole tiles."""
    return target().fused and sizes.block % LANES == sizes.window % LANES == 0


class Window(NamedTuple):
    """Int32 scalars: the table expanded, its first row, how many rows, and candidates of that row already used."""

    table: Any
    first: Any
    rows: Any
    used: Any


class Extended(NamedTuple):
    """What a step did.

    Attributes:
      table, tally: all tables, all cells.
      added: rows appended, int32; if asked for, in the order of their flat positions.
      counts: matches counted by each tile of lanes, uint32 ``[tiles, limbs]``, low words first.
      tested: flat positions, int32.
      done, used: rows of the window wholly expanded, and candidates of the next one used, int32.
    """

    table: Any
    tally: Any
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


def choose_lists(io: Reader, window: Window, index: jax.Array) -> RowLists:
    """The shortest list of each row. Lists begin, as they are ascending, after the nodes that the new node must
    exceed."""
    where = index < window.rows
    head = io.of_table(window.table)
    columns, anchors, below, trims = Columns.of(head), head.anchors, head.below, head.num_below
    zero = jnp.zeros_like(index)

    def exceed(number, least):
        node = io.column(columns, io.word(below + number), window.first + index, where)
        return jnp.maximum(least, node + 1)

    least = loop(trims, exceed, zero)
    # Where nothing is to be exceeded, no entry is less than 0 and there is nothing to search for.
    halvings = jnp.where(trims > 0, io.search.halvings, jnp.zeros_like(trims))

    def look(number, best):
        pair = io.record(PairWords, anchors, number)
        # Of a node without an earlier neighbour the slot is -1, and the list its domain.
        u = io.column_or(columns, pair.slot, window.first + index, zero, where)
        place = pair.list + u
        start, end = io.load(io.op.offsets, place, where), io.load(io.op.offsets, place + 1, where)
        # Lists ascend: all that symmetry forbids is a prefix, cut off by one search instead of tested.
        start = io.first_from(least, start, end, where, halvings)
        length = end - start
        # The others are not walked, but tested for each candidate of this one.
        shorter = length < best[0]
        return (
            jnp.where(shorter, length, best[0]),
            jnp.where(shorter, start, best[1]),
            jnp.where(shorter, number, best[2]),
        )

    # Longer than any list.
    length, start, anchor = loop(head.num_anchors, look, (zero + 2**30, zero, zero))
    used = jnp.where(index == 0, window.used, 0)  # of the first row, an earlier step may have tested some
    return RowLists(jnp.where(where, length - used, 0), start + used, anchor)


def filter_lanes(
    io: Reader, table: jax.Array, row: jax.Array, w: jax.Array, anchor: jax.Array, where: jax.Array
) -> Any:
    """Which candidates w extend their rows, int32 0 or 1; lists hold none that does not exceed what it must."""
    head = io.of_table(table)
    columns, distinct_from, anchors, non_neighbours = (
        Columns.of(head),
        head.distinct_from,
        head.anchors,
        head.non_neighbours,
    )

    def column(slot, mask):
        return io.column(columns, slot, row, mask)

    def differs(number, ok):
        return ok & (column(io.word(distinct_from + number), where) != w).astype(jnp.int32)

    def adjacent(number, ok):
        pair = io.record(PairWords, anchors, number)
        test = (ok > 0) & (anchor != number)  # the candidates of a list are in it
        there = io.adjacent(column(pair.slot, test), w, pair, test)
        return ok & (there | (anchor == number).astype(jnp.int32))

    def stranger(number, ok):
        pair = io.record(PairWords, non_neighbours, number)
        test = ok > 0
        return ok & (1 - io.adjacent(column(pair.slot, test), w, pair, test))

    # The cheap test first: the others look at the lanes it leaves.
    ok = loop(head.num_distinct_from, differs, where.astype(jnp.int32))
    count = head.num_anchors
    # A single anchor's list is where w comes from: nothing is left to test.
    ok = loop(jnp.where(count > 1, count, jnp.zeros_like(count)), adjacent, ok)
    ok = loop(head.num_non_neighbours, stranger, ok)
    if not io.sizes.ahead:
        return ok
    factors = head.ahead

    def alive(number, ok):
        where = ok > 0
        # Slot -1 is the new node, which is in no column yet.
        size = intersection_size(io, factors, number, lambda slot: io.column_or(columns, slot, row, w, where), where)
        return ok & (size > 0).astype(jnp.int32)

    return loop(head.num_ahead, alive, ok)


def blank_table(entries: int, sizes: Sizes) -> jax.Array:
    """Room for the tables, int32 ``[entries + 1]``, with arbitrary contents on a GPU (no pass over the memory)."""
    if not is_fused(sizes):
        return jnp.zeros(entries + 1, jnp.int32)

    def kernel(out):
        pass

    shape = jax.ShapeDtypeStruct((entries + 1,), jnp.int32)
    return kernel_call(kernel, lanes=LANES, out_shape=shape, out_specs=whole(), name="blank_table")()


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
    return kernel_call(
        kernel,
        lanes=lanes,
        grid=(sizes.window // lanes,),
        out_shape=RowLists(*[vector] * 3),
        in_specs=jax.tree.map(lambda _: whole(), inputs),
        out_specs=RowLists(*[tile] * 3),
        name="prepare_window",
    )(*inputs)


def extend(
    op: Operands,
    table: jax.Array,
    tally: jax.Array,
    window: Window,
    lists: RowLists,
    block: jax.Array,
    held: jax.Array,
    sizes: Sizes,
) -> Extended:
    """Test the first flat positions of a window; append the survivors to the next table, or count.

    Args:
      op: what the search reads.
      table: int32, all tables and one spare last entry.
      tally: uint64 ``[sizes.cells]``.
      window: the rows expanded.
      lists: of these rows, from :func:`prepare_window`.
      block: int32 scalar, positions to test, at most ``sizes.block``.
      held: int32 scalar, rows the next table holds.
    """
    # No overflow: the program's `most_rows` keeps the window's positions below 2^31.
    ends = jnp.cumsum(lists.lengths, dtype=jnp.int32)
    flat = _Flat(ends - lists.lengths, jnp.minimum(ends[-1], block), block)
    # Order and tallies need all lanes at once; only without them may programs append as they come.
    if is_fused(sizes) and not sizes.in_order and not sizes.cells:
        table, added, counts, whole = _extend_fused(op, table, window, flat, lists, held, sizes)
    else:
        test = _test_fused if is_fused(sizes) else _test_arrays
        lanes, whole = test(op, table, window, flat, lists, sizes)
        tally = _add_up(op, table, tally, window, flat, lists, lanes, sizes)
        # What is appended waits, by `_after`, for all that reads the tables: so XLA writes in place.
        table, added = _append(op, table, window, lanes, held + _after(lanes.counts, tally), sizes)
        counts = lanes.counts
    # The block may end within a row: it is the first of the next window, and what of it was tested is left out then.
    over = ends[-1] > block
    done = jnp.where(over, whole, window.rows)
    # When the block ends within the first row, what earlier steps used of it is counted on.
    used = block - take(flat.starts, jnp.where(over, whole, 0)) + jnp.where(whole == 0, window.used, 0)
    return Extended(table, tally, added, counts, flat.total, done, jnp.where(over, used, 0))


class _Flat(NamedTuple):
    """The flat positions of a window: where each row's start, int32 ``[window]``; how many are tested, and at most."""

    starts: Any
    total: Any
    block: Any


class _Lanes(NamedTuple):
    """What the lanes of a step found.

    Attributes:
      index: int32 ``[block]``, rows of the window; nodes: the candidates; ok: whether they survive, 0 or 1.
      ways: uint64 ``[block]``, matches that each completes, modulo 2^64; ``None`` if they are not added up by nodes.
      counts: as in :class:`Extended`.
    """

    index: Any
    nodes: Any
    ok: Any
    ways: Any
    counts: Any


def _test_arrays(
    op: Operands, table: jax.Array, window: Window, flat: _Flat, lists: RowLists, sizes: Sizes
) -> tuple[_Lanes, Any]:
    """The lanes in plain XLA, and how many of a window's rows lie before the end of the block, where it has more than
    fit."""
    io = array_reader(op, table, sizes)
    # Positions past the last are lanes that read entry 0 and survive nothing.
    position = jnp.arange(sizes.block, dtype=jnp.int32)
    valid = position < flat.total
    # The row of a position: how many rows start at or before it.
    # A row without candidates starts where the next one does: of rows that start at one place the last has some.
    # Rows that start past the block mark the spare entry.
    marks = jnp.zeros(sizes.block + 1, jnp.int32).at[jnp.minimum(flat.starts, sizes.block)]
    marks = marks.add(jnp.int32(1), mode="promise_in_bounds")
    index = jnp.where(valid, jnp.cumsum(marks[:-1], dtype=jnp.int32) - 1, 0)
    w = masked_take(op.entries, take(lists.places, index) + position - take(flat.starts, index), valid)
    row = window.first + index
    ok = filter_lanes(io, window.table, row, w, take(lists.anchors, index), valid)
    numbers, ways = _ways(io, window, row, w, (ok > 0) & (io.of_table(window.table).is_last > 0))
    # By tiles of lanes, for whose sums each count has bits to spare (`SPARE_BITS`).
    tiles = jax.tree.map(lambda x: x.reshape(-1, min(LANES, sizes.block)), ways)
    low = _low_words(*numbers.low_words(ways)) if sizes.cells else None
    lanes = _Lanes(index, w, ok, low, jnp.stack(numbers.sums(tiles), axis=-1))
    # The row that the first position past the block lies in: those before it are whole.
    return lanes, (flat.starts <= flat.block).sum(dtype=jnp.int32) - 1


def _low_words(low: jax.Array, high: jax.Array) -> Any:
    return low.astype(jnp.uint64) | (high.astype(jnp.uint64) << jnp.uint64(32))


def _append(
    op: Operands, table: jax.Array, window: Window, lanes: _Lanes, held: jax.Array, sizes: Sizes
) -> tuple[jax.Array, jax.Array]:
    """The tables with what survives, in the order of the lanes, and how many rows that adds."""
    io, ok = array_reader(op, table, sizes), lanes.ok
    head = io.of_table(window.table)
    columns, appended, next_room, last = Columns.of(head), head.columns, head.next_room, head.is_last > 0
    # Running sums keep the lanes' order, which is that of the rows and of their candidates.
    place = head.next_base + held + jnp.cumsum(ok, dtype=jnp.int32) - 1
    row, spare = window.first + lanes.index, jnp.int32(table.shape[0] - 1)

    def append(number, table):
        # Read from the array that is written, so that XLA keeps one; the rows read are another table's.
        values = io._replace(table=table).column_or(columns, io.word(appended + number), row, lanes.nodes, ok > 0)
        to = jnp.where(ok > 0, place + number * next_room, spare)
        return table.at[to].set(values, mode="promise_in_bounds")

    # Columns are data: one program for tables of any width.
    table = loop(head.num_columns, append, table)
    return table, jnp.where(last, 0, ok.sum(dtype=jnp.int32))


def _after(counts: jax.Array, tally: jax.Array) -> jax.Array:
    """Zero, int32. No half of a count is negative, but XLA cannot know: tables, whose places this is added to, are
    written only when all that counts and tallies read is read, and so in place."""
    zero = jnp.minimum(ex.half(counts).max().astype(jnp.int32), 0)
    return zero + jnp.minimum((tally[:1] >> jnp.uint64(33)).astype(jnp.int32).sum(dtype=jnp.int32), 0)


def _add_up(
    op: Operands,
    table: jax.Array,
    tally: jax.Array,
    window: Window,
    flat: _Flat,
    lists: RowLists,
    lanes: _Lanes,
    sizes: Sizes,
) -> jax.Array:
    """The tally with the matches that lanes complete: those of nodes of the rows by row, those of the new node each."""
    if not sizes.cells:
        return tally
    io = array_reader(op, table, sizes)
    head = io.of_table(window.table)
    columns, halvings = Columns.of(head), io.search.halvings

    def add(tally, row, w, ways, nodes, num_nodes, pairs, num_pairs):
        some = ways > 0

        # Modulo 2^64, as cells are: a sum of many ways may wrap, and the exact count says whether it did.
        def put(tally, cell):
            return tally.at[jnp.where(some, cell, sizes.cells)].add(ways, mode="drop")

        def add_node(number, tally):
            words = io.record(TallyWords, nodes, number)
            return put(tally, words.base + io.column_or(columns, words.slot, row, w, some))

        def add_pair(number, tally):
            words = io.record(TallyWords, pairs, number)
            node, of = (io.column_or(columns, slot, row, w, some) for slot in (words.slot, words.of))
            # Pairs are numbered as their candidate lists are: by the place of the one node in the list of the other.
            low, end = (io.load(op.offsets, at, some) for at in (words.list + of, words.list + of + 1))
            return put(tally, words.base + io.first_from(node, low, end, some, halvings))

        return loop(num_pairs, add_pair, loop(num_nodes, add_node, tally))

    # Lanes of a row are neighbours: its sum is a difference of running sums, which is right if they wrap, too.
    def sum_rows(_, sums):
        running = jnp.concatenate([jnp.zeros(1, jnp.uint64), jnp.cumsum(lanes.ways)])
        # A row may begin, or end, past what was tested.
        begin = jnp.minimum(flat.starts, flat.total)
        end = jnp.minimum(flat.starts + lists.lengths, flat.total)
        return sums + take(running, end) - take(running, begin)

    # A loop of one turn or none: sums by row are made only where the program asks for them.
    some_rows = jnp.minimum(head.num_row_nodes + head.num_row_pairs, 1)
    sums = loop(some_rows, sum_rows, jnp.zeros(sizes.window, jnp.uint64))
    row = window.first + jnp.arange(sizes.window, dtype=jnp.int32)
    # Tallies by row name columns alone, never the new node.
    rows = row, jnp.zeros_like(row), sums
    tally = add(tally, *rows, head.row_nodes, head.num_row_nodes, head.row_pairs, head.num_row_pairs)
    each = window.first + lanes.index, lanes.nodes, lanes.ways
    return add(tally, *each, head.lane_nodes, head.num_lane_nodes, head.lane_pairs, head.num_lane_pairs)


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


def _fused_inputs(
    op: Operands, table: jax.Array, window: Window, flat: _Flat, lists: RowLists, held: jax.Array, sizes: Sizes
) -> _Inputs:
    # The row of each tile's first position, and of the block's end: no tile ends past the row that the next begins in.
    firsts = jnp.append(LANES * jnp.arange(sizes.block // LANES + 1, dtype=jnp.int32), flat.block)
    # Searched once for all tiles, outside of the kernel.
    tiles = ex.lists_at(flat.starts, firsts)
    return _Inputs(
        table,
        jnp.zeros(1, jnp.int32),
        jnp.stack(window),
        jnp.stack([flat.total, held]),
        tiles,
        flat.starts,
        # Where a row's list is, less where its positions start: one addition and one load find a candidate.
        lists.places - flat.starts,
        lists.anchors,
        op,
    )


def _tile(read: _Inputs, table: jax.Array, tile: jax.Array, sizes: Sizes) -> tuple[Reader, Window, _Lanes, Any]:
    """Of a tile: the reader, the window, the lanes without ways and counts, and their rows."""
    io, window = kernel_reader(read.operands, table, sizes), _window(read.window)
    low, high = read.tiles[tile], read.tiles[tile + 1]
    index, position, valid = between(read.starts, low, high, read.extent[0], LANES, tile)
    w = load(io.op.entries, load(read.shifts, index, valid) + position, valid)
    row = window.first + index
    ok = filter_lanes(io, window.table, row, w, load(read.anchors, index, valid), valid)
    return io, window, _Lanes(index, w, ok, None, None), row


def _extend_fused(
    op: Operands, table: jax.Array, window: Window, flat: _Flat, lists: RowLists, held: jax.Array, sizes: Sizes
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Testing and appending as one kernel; programs append in the order in which they come. Returns the tables, rows
    added, counts, and what :func:`_test_arrays` says of the window's rows."""
    from jax.experimental import pallas as pl

    # Reports have two words for a count at least.
    programs, limbs = sizes.block // LANES, max(sizes.limbs, 2)

    def kernel(read: _Inputs, *refs: jax.Array) -> None:
        out = _Outputs(*refs)
        tile = pl.program_id(0)
        # Past the last position: such a tile reads no candidates, but its counts must be zeros.
        idle = tile * LANES >= read.extent[0]

        @pl.when(idle)
        def _():
            out.counts[...] = jnp.zeros((1, limbs), jnp.uint32)

        @pl.when(~idle)
        def _():
            io, window, lanes, row = _tile(read, out.table, tile, sizes)
            head, ok = io.of_table(window.table), lanes.ok
            last = head.is_last > 0

            @pl.when(last)
            def _():
                numbers, ways = _ways(io, window, row, lanes.nodes, ok > 0)
                for limb, word in enumerate(numbers.sums(ways)):
                    out.counts[0, limb] = word

            @pl.when(~last)
            def _():
                out.counts[...] = jnp.zeros((1, limbs), jnp.uint32)
                # One program after another takes the next places; which comes first is left to the device.
                # A tile adds all its survivors at once: one atomic operation for 1024 lanes.
                here = fetch_add(out.added, jnp.sum(ok))
                place = head.next_base + read.extent[1] + here + jnp.cumsum(ok, 0) - 1
                columns, appended, next_room, keep = Columns.of(head), head.columns, head.next_room, ok > 0

                def append(number, carry):
                    values = io.column_or(columns, io.word(appended + number), row, lanes.nodes, keep)
                    # Masked lanes write nothing, wherever their place would be.
                    store(out.table, place + number * next_room, values, keep)
                    return carry + number  # nothing reads it, but a loop without a changing value does not lower

                loop(head.num_columns, append, next_room)

    inputs = _fused_inputs(op, table, window, flat, lists, held, sizes)
    shapes = _Outputs(
        jax.ShapeDtypeStruct(table.shape, jnp.int32),
        jax.ShapeDtypeStruct((1,), jnp.int32),
        jax.ShapeDtypeStruct((programs, limbs), jnp.uint32),
    )
    specs = _Outputs(whole(), whole(), pl.BlockSpec((1, limbs), lambda i: (i, 0)))
    table, added, counts = kernel_call(
        kernel,
        lanes=LANES,
        grid=(programs,),
        out_shape=shapes,
        out_specs=specs,
        in_specs=(jax.tree.map(lambda _: whole(), inputs),),
        input_output_aliases={0: 0, 1: 1},  # table and added, first in both
        name="extend",
    )(inputs)
    return table, added[0], counts, inputs.tiles[-1]


def _test_fused(
    op: Operands, table: jax.Array, window: Window, flat: _Flat, lists: RowLists, sizes: Sizes
) -> tuple[_Lanes, Any]:
    """:func:`_test_arrays` as one kernel: the tests, which take the time, without the appending, which keeps order."""
    from jax.experimental import pallas as pl

    programs, limbs = sizes.block // LANES, max(sizes.limbs, 2)

    def kernel(
        read: _Inputs, index: jax.Array, nodes: jax.Array, oks: jax.Array, counts: jax.Array, *words: jax.Array
    ) -> None:
        tile = pl.program_id(0)
        idle = tile * LANES >= read.extent[0]

        @pl.when(idle)
        def _():
            for ref in (index, nodes, oks, *words):
                ref[...] = jnp.zeros(ref.shape, ref.dtype)
            counts[...] = jnp.zeros((1, limbs), jnp.uint32)

        @pl.when(~idle)
        def _():
            # Nothing is appended here: the order is made of all lanes afterwards.
            io, window, lanes, row = _tile(read, read.table, tile, sizes)
            index[...], nodes[...], oks[...] = lanes.index, lanes.nodes, lanes.ok
            complete = (lanes.ok > 0) & (io.of_table(window.table).is_last > 0)
            numbers, ways = _ways(io, window, row, lanes.nodes, complete)
            for limb, word in enumerate(numbers.sums(ways)):
                counts[0, limb] = word
            for ref, word in zip(words, numbers.low_words(ways), strict=False):  # none are asked for without a tally
                ref[...] = word

    inputs = _fused_inputs(op, table, window, flat, lists, jnp.int32(0), sizes)
    signed, unsigned = (jax.ShapeDtypeStruct((sizes.block,), kind) for kind in (jnp.int32, jnp.uint32))
    words = 2 * bool(sizes.cells)
    each = pl.BlockSpec((LANES,), lambda i: (i,))
    index, nodes, ok, counts, *ways = kernel_call(
        kernel,
        lanes=LANES,
        grid=(programs,),
        in_specs=(jax.tree.map(lambda _: whole(), inputs),),
        out_shape=(*[signed] * 3, jax.ShapeDtypeStruct((programs, limbs), jnp.uint32), *[unsigned] * words),
        out_specs=(*[each] * 3, pl.BlockSpec((1, limbs), lambda i: (i, 0)), *[each] * words),
        name="test",
    )(inputs)
    return _Lanes(index, nodes, ok, _low_words(*ways) if words else None, counts), inputs.tiles[-1]


class _Matches:
    """Counting without leaves: each surviving lane is one match."""

    def sums(self, x: jax.Array) -> list[Any]:
        # At most 1024 ones: 32 bits do.
        total = jnp.sum(x, axis=-1, dtype=jnp.int32).astype(jnp.uint32)
        return [total, jnp.zeros_like(total)]

    def low_words(self, x: jax.Array) -> list[Any]:
        return [x.astype(jnp.uint32), jnp.zeros_like(x).astype(jnp.uint32)]


def _ways(io: Reader, window: Window, row: jax.Array, w: jax.Array, where: jax.Array) -> tuple[Any, Any]:
    """Matches that each lane completes, and the arithmetic these numbers are of."""
    if not io.sizes.limbs:  # no program has leaves
        return _Matches(), where.astype(jnp.int32)
    return counts_of(io.sizes.limbs), leaf_ways(io, window.table, row, w, where)


def _window(ref: jax.Array) -> Window:
    return Window(ref[0], ref[1], ref[2], ref[3])
