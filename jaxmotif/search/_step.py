"""One step of the level search: expand a window of rows by their candidates, filter, and append or count.

A row holds the target nodes of a partial match. Its candidates for the next query node are the shortest of the lists
that the nodes already mapped allow; the lists of a window of rows are laid end to end and a step takes one block of
these flat positions. Programs and operands are those of :mod:`jaxmotif.search._layout`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxmotif.arrays._compile import target
from jaxmotif.kernels import _expand as ex
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._lane_body import FUSED, locate_lanes, run_tiles, write
from jaxmotif.kernels._launch import fetch_add, kernel_call, store, whole
from jaxmotif.kernels._scatter import sum_between
from jaxmotif.search._layout import Columns, PairWords, Reader, Sizes, TallyWords, loop
from jaxmotif.search._leaf_counts import intersection_size, leaf_ways
from jaxmotif.search._limbs import counts_of
from jaxmotif.search._sizes import LANES


def is_fused(sizes: Sizes) -> bool:
    """Return whether steps take their Pallas form, whose programs take whole tiles."""
    return target().fused and sizes.block % LANES == sizes.window % LANES == 0


class Window(NamedTuple):
    """The rows that a step looks at; all fields are int32 scalars.

    Attributes:
      table: the table expanded.
      first: the first row.
      rows: how many rows there are.
      used: how many candidates of the first row are used already.
    """

    table: Any
    first: Any
    rows: Any
    used: Any


class Extended(NamedTuple):
    """The result of a step.

    Attributes:
      table: the entries of all tables.
      tally: all cells.
      added: int32, how many rows were appended.
      counts: uint32 ``[tiles, limbs]``, matches counted by each tile of lanes, low words first.
      tested: int32, how many flat positions were tested.
      done: int32, how many rows of the window were wholly expanded.
      used: int32, how many candidates of the next row are used.
    """

    table: Any
    tally: Any
    added: Any
    counts: Any
    tested: Any
    done: Any
    used: Any


class RowLists(NamedTuple):
    """The shortest candidate list of each row of a window; all fields are int32 ``[sizes.window]``.

    Attributes:
      lengths: how many candidates the list has left.
      places: the place of the first of these in ``entries``.
      anchors: the number of the anchor that the list belongs to.
    """

    lengths: Any
    places: Any
    anchors: Any


def choose_lists(io: Reader, window: Window, index: jax.Array) -> RowLists:
    """Choose the shortest list of each row.

    Lists ascend, so they begin after the nodes that the new node must exceed.
    """
    where = index < window.rows
    head = io.table_words(window.table)
    columns, anchors, below, trims = Columns.of(head), head.anchors, head.below, head.num_below
    zero = jnp.zeros_like(index)

    def exceed(number, least):
        node = io.column(columns, io.word(below + number), window.first + index, where)
        return jnp.maximum(least, node + 1)

    least = loop(trims, exceed, zero)
    # Without nodes to exceed `least` is 0, and there is nothing to search for.
    halvings = jnp.where(trims > 0, io.search.halvings, jnp.zeros_like(trims))

    def look(number, best):
        pair = io.record(PairWords, anchors, number)
        # A node without an earlier neighbour has slot -1, and its list is its domain.
        u = io.column_or_new(columns, pair.slot, window.first + index, zero, where)
        place = pair.list + u
        start, end = io.load(io.op.offsets, place, where), io.load(io.op.offsets, place + 1, where)
        # The candidates that symmetry forbids come first: one search cuts them off, and none of them is tested.
        start = io.first_from(least, start, end, where, halvings)
        length = end - start
        # The other lists are not walked, but searched for each candidate of the shortest one.
        shorter = length < best[0]
        return tuple(jnp.where(shorter, *pair) for pair in zip((length, start, number), best, strict=True))

    # The first length is longer than any list.
    length, start, anchor = loop(head.num_anchors, look, (zero + 2**30, zero, zero))
    used = jnp.where(index == 0, window.used, 0)  # an earlier step may have used candidates of the first row
    return RowLists(jnp.where(where, length - used, 0), start + used, anchor)


def filter_lanes(
    io: Reader, table: jax.Array, row: jax.Array, w: jax.Array, anchor: jax.Array, where: jax.Array
) -> Any:
    """Test which candidates extend their rows.

    The nodes that a candidate must exceed are not tested: its list has no others.

    Args:
      io: reads the program, the tables and the lists.
      table: the table expanded.
      row: int32, the row of each lane.
      w: int32, the candidate of each lane.
      anchor: int32, the anchor whose list the candidate comes from.
      where: the lanes that have a candidate.

    Returns:
      int32, 1 where the candidate extends the row, else 0.
    """
    head = io.table_words(table)
    columns, distinct_from = Columns.of(head), head.distinct_from
    anchors, non_neighbours = head.anchors, head.non_neighbours

    def column(slot, mask):
        return io.column(columns, slot, row, mask)

    def differs(number, ok):
        return ok & (column(io.word(distinct_from + number), where) != w).astype(jnp.int32)

    def adjacent(number, ok):
        pair = io.record(PairWords, anchors, number)
        test = (ok > 0) & (anchor != number)  # a candidate is known to be in the list it comes from
        there = io.is_adjacent(column(pair.slot, test), w, pair, test)
        return ok & (there | (anchor == number).astype(jnp.int32))

    def stranger(number, ok):
        pair = io.record(PairWords, non_neighbours, number)
        test = ok > 0
        return ok & (1 - io.is_adjacent(column(pair.slot, test), w, pair, test))

    # The cheap test comes first, and the others look only at the lanes it leaves.
    ok = loop(head.num_distinct_from, differs, where.astype(jnp.int32))
    count = head.num_anchors
    # With a single anchor w comes from its list, and nothing is left to test.
    ok = loop(jnp.where(count > 1, count, jnp.zeros_like(count)), adjacent, ok)
    ok = loop(head.num_non_neighbours, stranger, ok)
    if not io.sizes.ahead:
        return ok
    factors = head.ahead

    def alive(number, ok):
        where = ok > 0
        # Slot -1 is the new node, which is in no column yet.
        size = intersection_size(
            io, factors, number, lambda slot: io.column_or_new(columns, slot, row, w, where), where
        )
        return ok & (size > 0).astype(jnp.int32)

    return loop(head.num_ahead, alive, ok)


def blank_table(entries: int, sizes: Sizes) -> jax.Array:
    """Make room for the tables, int32 ``[entries + 1]``; on a GPU, to save time, the contents are arbitrary."""
    if not is_fused(sizes):
        return jnp.zeros(entries + 1, jnp.int32)

    def kernel(out):
        pass

    shape = jax.ShapeDtypeStruct((entries + 1,), jnp.int32)
    return kernel_call(kernel, lanes=LANES, out_shape=shape, out_specs=whole(), name="blank_table")()


def prepare_window(io: Reader, window: Window) -> RowLists:
    """Choose the shortest list of each row of a window (:func:`choose_lists`)."""
    sizes = io.sizes
    if not is_fused(sizes):
        return choose_lists(io, window, jnp.arange(sizes.window, dtype=jnp.int32))
    from jax.experimental import pallas as pl

    def tile(inputs, *outputs):
        window, table, operands = inputs
        index = pl.program_id(0) * LANES + jnp.arange(LANES, dtype=jnp.int32)
        write(outputs, choose_lists(Reader(FUSED, operands, table, sizes), _window(window), index))

    inputs, vector = (jnp.stack(window), io.table, io.op), jax.ShapeDtypeStruct((sizes.window,), jnp.int32)
    return RowLists(*run_tiles(tile, inputs, [vector] * 3, sizes.window, LANES, "prepare_window"))


def extend(
    io: Reader, tally: jax.Array, window: Window, lists: RowLists, block: jax.Array, filled: jax.Array
) -> Extended:
    """Test the first flat positions of a window; append the survivors to the next table, or count.

    Args:
      io: reads the program, the tables and the lists.
      tally: uint64 ``[sizes.cells]``.
      window: the rows expanded.
      lists: the lists of these rows, from :func:`prepare_window`.
      block: int32 scalar, how many positions to test, at most ``sizes.block``.
      filled: int32 scalar, how many rows the next table holds.
    """
    sizes = io.sizes
    # The program's `most_rows` keeps the positions of a window below 2^31.
    ends = jnp.cumsum(lists.lengths, dtype=jnp.int32)
    starts = ends - lists.lengths
    flat = _Flat(starts, lists.places - starts, lists.anchors, jnp.minimum(ends[-1], block), block)
    if is_fused(sizes):
        lanes, whole, appended = _test_fused(io, window, flat, filled)
    else:
        lanes, whole, appended = *_test_arrays(io, window, flat), None
    if appended is None:
        tally = _add_up(io, tally, window, flat, lanes)
        # `_zero_after` makes the writes wait for all reads of the tables, so that XLA writes in place.
        appended = _append(io, window, lanes, filled + _zero_after(lanes.counts, tally))
    table, added = appended
    # The block may end within a row. This row is the first of the next window, without the candidates tested here.
    over = ends[-1] > block
    done = jnp.where(over, whole, window.rows)
    # If the block ends within the first row, the candidates that earlier steps used are added.
    used = block - take(flat.starts, jnp.where(over, whole, 0)) + jnp.where(whole == 0, window.used, 0)
    return Extended(table, tally, added, lanes.counts, flat.total, done, jnp.where(over, used, 0))


class _Flat(NamedTuple):
    """The flat positions of a window.

    Attributes:
      starts: int32 ``[window]``, the first position of each row.
      shifts: int32 ``[window]``; added to a position of a row, gives its place in ``entries``.
      anchors: int32 ``[window]``, the anchor of each row.
      total: how many positions are tested.
      block: how many are tested at most.
    """

    starts: Any
    shifts: Any
    anchors: Any
    total: Any
    block: Any


class _Lanes(NamedTuple):
    """The results of the lanes of a step; a kernel that appends reports the counts alone.

    Attributes:
      index: int32 ``[block]``, the row of the window.
      nodes: int32 ``[block]``, the candidate.
      ok: int32 ``[block]``, 1 where the candidate survives, else 0.
      ways: uint64 ``[block]``, the matches that each lane completes, modulo 2^64; ``None`` if they are not added up by
        nodes.
      counts: as in :class:`Extended`.
    """

    index: Any
    nodes: Any
    ok: Any
    ways: Any
    counts: Any


def _test_lanes(io: Reader, window: Window, flat: _Flat, index: Any, position: Any, valid: Any) -> tuple[Any, Any, Any]:
    """Return the row of the table and the candidate of each lane, and whether the candidate extends the row."""
    w = io.load(io.op.entries, io.load(flat.shifts, index, valid) + position, valid)
    row = window.first + index
    return row, w, filter_lanes(io, window.table, row, w, io.load(flat.anchors, index, valid), valid)


def _test_arrays(io: Reader, window: Window, flat: _Flat) -> tuple[_Lanes, Any]:
    """Test all lanes in plain XLA.

    Returns:
      The lanes, and how many rows of the window lie wholly before the end of the block, where not all fit.
    """
    sizes = io.sizes
    # Lanes past the last position read entry 0, and do not survive.
    position = jnp.arange(sizes.block, dtype=jnp.int32)
    valid = position < flat.total
    # The row of a position follows from how many rows start at or before it. A row without candidates starts where the
    # next one does, so the last of several rows that start at one place has candidates. Rows that start past the block
    # mark the spare entry.
    marks = jnp.zeros(sizes.block + 1, jnp.int32).at[jnp.minimum(flat.starts, sizes.block)]
    marks = marks.add(jnp.int32(1), mode="promise_in_bounds")
    index = jnp.where(valid, jnp.cumsum(marks[:-1], dtype=jnp.int32) - 1, 0)
    row, w, ok = _test_lanes(io, window, flat, index, position, valid)
    numbers, ways = _ways(io, window, row, w, (ok > 0) & (io.table_words(window.table).is_last > 0))
    # Sums are taken by tiles of lanes, for which each count has bits to spare (`SPARE_BITS`).
    tiles = jax.tree.map(lambda x: x.reshape(-1, min(LANES, sizes.block)), ways)
    low = _low_words(*numbers.low_words(ways)) if sizes.cells else None
    lanes = _Lanes(index, w, ok, low, jnp.stack(numbers.sums(tiles), axis=-1))
    # All rows before the one with the first position past the block are whole.
    return lanes, (flat.starts <= flat.block).sum(dtype=jnp.int32) - 1


def _low_words(low: jax.Array, high: jax.Array) -> Any:
    """Join two uint32 words to uint64."""
    return low.astype(jnp.uint64) | (high.astype(jnp.uint64) << jnp.uint64(32))


def _append(io: Reader, window: Window, lanes: _Lanes, filled: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Append the survivors in the order of the lanes, and return the tables and how many rows were added."""
    ok, head = lanes.ok, io.table_words(window.table)
    columns, appended, next_room, last = Columns.of(head), head.columns, head.next_room, head.is_last > 0
    # A running sum keeps the order of the lanes, which is that of the rows and of their candidates.
    place = head.next_base + filled + jnp.cumsum(ok, dtype=jnp.int32) - 1
    row, spare = window.first + lanes.index, jnp.int32(io.table.shape[0] - 1)

    def append(number, table):
        # Reads are from the array that is written, so that XLA keeps a single one; they are of another table's rows.
        values = io._replace(table=table).column_or_new(columns, io.word(appended + number), row, lanes.nodes, ok > 0)
        to = jnp.where(ok > 0, place + number * next_room, spare)
        return table.at[to].set(values, mode="promise_in_bounds")

    # The columns are data, so that one program serves tables of any width.
    table = loop(head.num_columns, append, io.table)
    return table, jnp.where(last, 0, ok.sum(dtype=jnp.int32))


def _zero_after(counts: jax.Array, tally: jax.Array) -> jax.Array:
    """Return a zero, int32, that XLA cannot know before counts and tally are computed.

    It is made from the minimum of 0 and halves of counts, or a shifted cell of the tally. These are never negative, but
    XLA does not know that. The zero is added to the places in the tables. The tables are therefore written only after
    counts and tally have read them, and so XLA can write in place.
    """
    zero = jnp.minimum(ex.half(counts).max().astype(jnp.int32), 0)
    return zero + jnp.minimum((tally[:1] >> jnp.uint64(33)).astype(jnp.int32).sum(dtype=jnp.int32), 0)


def _add_up(io: Reader, tally: jax.Array, window: Window, flat: _Flat, lanes: _Lanes) -> jax.Array:
    """Add the matches that lanes complete to the tally: by row for nodes of the rows, by lane for the new node."""
    if not io.sizes.cells:
        return tally
    head = io.table_words(window.table)
    columns, halvings = Columns.of(head), io.search.halvings

    def add(tally, row, w, ways, nodes, num_nodes, pairs, num_pairs):
        some = ways > 0

        # Cells are modulo 2^64. A sum may wrap, and the exact number of matches tells whether it can have done so.
        def put(tally, cell):
            return tally.at[jnp.where(some, cell, io.sizes.cells)].add(ways, mode="drop")

        def add_node(number, tally):
            words = io.record(TallyWords, nodes, number)
            return put(tally, words.base + io.column_or_new(columns, words.slot, row, w, some))

        def add_pair(number, tally):
            words = io.record(TallyWords, pairs, number)
            node, of = (io.column_or_new(columns, slot, row, w, some) for slot in (words.slot, words.of))
            # The number of a pair is the place of its node in the candidate list of the other one.
            low, end = (io.load(io.op.offsets, at, some) for at in (words.list + of, words.list + of + 1))
            return put(tally, words.base + io.first_from(node, low, end, some, halvings))

        return loop(num_pairs, add_pair, loop(num_nodes, add_node, tally))

    # The lanes of a row stand side by side. A row may begin, or end, past the positions that were tested.
    def sum_rows(_, sums):
        return sums + sum_between(lanes.ways, jnp.append(jnp.minimum(flat.starts, flat.total), flat.total))

    # The loop takes one turn or none: sums by row are made only where the program asks for them.
    some_rows = jnp.minimum(head.num_row_nodes + head.num_row_pairs, 1)
    sums = loop(some_rows, sum_rows, jnp.zeros(io.sizes.window, jnp.uint64))
    row = window.first + jnp.arange(io.sizes.window, dtype=jnp.int32)
    # Tallies by row read only columns, never the new node.
    rows = row, jnp.zeros_like(row), sums
    tally = add(tally, *rows, head.row_nodes, head.num_row_nodes, head.row_pairs, head.num_row_pairs)
    each = window.first + lanes.index, lanes.nodes, lanes.ways
    return add(tally, *each, head.lane_nodes, head.num_lane_nodes, head.lane_pairs, head.num_lane_pairs)


def _test_fused(io: Reader, window: Window, flat: _Flat, filled: jax.Array) -> tuple[_Lanes, Any, Any]:
    """Test all lanes in one kernel, which also appends, unless order or tallies need all lanes at once.

    Returns:
      The lanes, and how many rows are whole, as :func:`_test_arrays` returns them; then ``None``, or what
      :func:`_append` returns, if the kernel appends. Its programs do so in whatever order they come to it.
    """
    from jax.experimental import pallas as pl

    sizes = io.sizes
    appends = not sizes.in_order and not sizes.cells
    # `firsts` holds the first position of each tile, then the end of the block. A tile ends in the row in which the
    # next one begins.
    firsts = jnp.append(LANES * jnp.arange(sizes.block // LANES + 1, dtype=jnp.int32), flat.block)
    # The rows of all these positions are found at once, outside of the kernel.
    tiles = ex.lists_at(flat.starts, firsts)
    extent, rows = jnp.stack([flat.total, filled]), flat._replace(total=None, block=None)

    def test_tile(inputs: tuple[Any, ...], *outputs: jax.Array) -> None:
        table, added, words, extent, tiles, rows, op = inputs
        if appends:  # to the table that the kernel writes in place
            (table, added, counts), vectors = outputs, ()
        else:
            counts, vectors = outputs[3], (*outputs[:3], *outputs[4:])
        tile = pl.program_id(0)
        # A tile past the last position reads no candidates, but must write counts of zero.
        idle = tile * LANES >= extent[0]

        def write_zeros() -> None:
            for ref in (*vectors, counts):
                ref[...] = jnp.zeros(ref.shape, ref.dtype)

        pl.when(idle)(write_zeros)

        @pl.when(~idle)
        def _() -> None:
            io, window = Reader(FUSED, op, table, sizes), _window(words)
            index, position, valid = locate_lanes(rows.starts, tiles[tile], tiles[tile + 1], extent[0], LANES, tile)
            row, w, ok = _test_lanes(io, window, rows, index, position, valid)

            def count(where: jax.Array) -> list[jax.Array]:
                numbers, ways = _ways(io, window, row, w, where)
                for limb, word in enumerate(numbers.sums(ways)):
                    counts[0, limb] = word
                return numbers.low_words(ways) if sizes.cells else []

            if not appends:
                write(vectors[:3], (index, w, ok))
                write(vectors[3:], count((ok > 0) & (io.table_words(window.table).is_last > 0)))
                return

            head = io.table_words(window.table)
            last = head.is_last > 0

            @pl.when(last)
            def _() -> None:
                count(ok > 0)

            @pl.when(~last)
            def _() -> None:
                write_zeros()
                # A program takes the next places, in an order that is left to the device. One atomic operation adds all
                # survivors of its 1024 lanes.
                here = fetch_add(added, jnp.sum(ok))
                place = head.next_base + extent[1] + here + jnp.cumsum(ok, 0) - 1
                columns, appended, next_room, keep = Columns.of(head), head.columns, head.next_room, ok > 0

                def append(number, carry):
                    values = io.column_or_new(columns, io.word(appended + number), row, w, keep)
                    store(table, place + number * next_room, values, keep)
                    return carry + number  # nothing reads it, but a loop that changes no value does not lower

                loop(head.num_columns, append, next_room)

    inputs = io.table, jnp.zeros(1, jnp.int32), jnp.stack(window), extent, tiles, rows, io.op
    signed, unsigned = (jax.ShapeDtypeStruct((sizes.block,), kind) for kind in (jnp.int32, jnp.uint32))
    # Reports have at least two words for a count.
    counts = jax.ShapeDtypeStruct((sizes.block // LANES, max(sizes.limbs, 2)), jnp.uint32)
    if appends:
        table, added, counts = run_tiles(test_tile, inputs, [counts], sizes.block, LANES, "extend", in_place=2)
        return _Lanes(None, None, None, None, counts), tiles[-1], (table, added[0])
    outputs = [signed] * 3 + [counts] + [unsigned] * 2 * bool(sizes.cells)
    index, nodes, ok, counts, *ways = run_tiles(test_tile, inputs, outputs, sizes.block, LANES, "test")
    return _Lanes(index, nodes, ok, _low_words(*ways) if ways else None, counts), tiles[-1], None


class _Matches:
    """Arithmetic with counts without leaves, where each surviving lane is one match."""

    def sums(self, x: jax.Array) -> list[Any]:
        """Sum along the last axis, in two words; at most 1024 ones fit the first."""
        total = jnp.sum(x, axis=-1, dtype=jnp.int32).astype(jnp.uint32)
        return [total, jnp.zeros_like(total)]

    def low_words(self, x: jax.Array) -> list[Any]:
        """Return two words, uint32 per lane."""
        return [x.astype(jnp.uint32), jnp.zeros_like(x).astype(jnp.uint32)]


def _ways(io: Reader, window: Window, row: jax.Array, w: jax.Array, where: jax.Array) -> tuple[Any, Any]:
    """Return the arithmetic for numbers of matches, and the matches that each lane completes."""
    if not io.sizes.limbs:  # no program has leaves
        return _Matches(), where.astype(jnp.int32)
    return counts_of(io.sizes.limbs), leaf_ways(io, window.table, row, w, where)


def _window(ref: jax.Array) -> Window:
    """Read a window."""
    return Window(ref[0], ref[1], ref[2], ref[3])
