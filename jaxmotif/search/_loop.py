"""The bounded-memory level search: one compiled loop over tables of partial matches.

Table t has room for a fixed number of rows, the images of the first t query nodes, and a cursor into its flat
expansion space: the candidates of all its rows laid end to end. A step takes one block of these positions from one
table and appends the survivors to the next. A count works on the first table whose successor has room for a whole
block, so that tables fill before they are worked on. A listing works on the last nonempty table, so that matches come
in lexicographic order. Either way no table overflows, whatever the input, and a node of high degree only means more
positions.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import QuickLimits, for_host, jit64, target
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._lane_body import PLAIN
from jaxmotif.search._layout import Operands, Reader, Sizes, TableWords, read_record, table_place
from jaxmotif.search._limbs import carry_over
from jaxmotif.search._sizes import LANES, step_sizes
from jaxmotif.search._step import Window, blank_table, extend, is_fused, prepare_window


class SearchState(NamedTuple):
    """The state of a search between steps.

    Attributes:
      table: int32, the entries of all tables and one spare.
      rows: int32 ``[3, tables + 1]``: the rows a table holds, its cursor, and how many candidates of the cursor's row
        are used.
      matches: uint64 ``[limbs]``, the matches so far: the sum of ``2^(32 i)`` times the i-th limb.
      positions: uint64 scalar, how many flat positions have been tested.
      steps: int32 scalar, how many steps have been taken.
      tally: uint64 ``[cells]``, matches by the nodes they have, modulo 2^64.
    """

    table: Any
    rows: Any
    matches: Any
    positions: Any
    steps: Any
    tally: Any


class DeviceReport(NamedTuple):
    """A report on a search, read on the host: a state without its table and tally.

    Attributes:
      rows: int32 ``[3, tables + 1]``, as in :class:`SearchState`.
      drained: whether no table has rows left to expand.
      matches: the matches so far.
      positions: how many flat positions have been tested.
      steps: how many steps have been taken.
      work: the work of the dispatch that is reported on (:class:`Allowance`).
    """

    rows: np.ndarray
    drained: bool
    matches: int
    positions: int
    steps: int
    work: int

    @classmethod
    def read(cls, report: np.ndarray, sizes: Sizes) -> DeviceReport:
        """Read a report, uint32, as :func:`advance` returns it."""
        # Each limb of the matches, the positions and the work take two words.
        numbers = 2 * (_limbs(sizes) + 2)
        rows, steps = report[: -numbers - 1].view(np.int32).reshape(3, -1), int(report[-1])
        *limbs, positions, work = np.ascontiguousarray(report[-numbers - 1 : -1]).view(np.uint64).tolist()
        # The last column has no successor, and no step expands it.
        drained = not (rows[1] < rows[0])[:-1].any()
        return cls(rows, drained, sum(limb << 32 * i for i, limb in enumerate(limbs)), positions, steps, work)

    @property
    def level(self) -> int:
        """Number of the first table with rows left."""
        return int((self.rows[1] < self.rows[0]).argmax())

    def wants_more(self, level: int, keep: int) -> bool:
        """Return whether the table of a level is used up and fewer than ``keep`` rows are left in all tables."""
        left = self.rows[0] - self.rows[1]
        return left[level] == 0 and int(left.sum()) < keep


class Allowance(NamedTuple):
    """The end of a dispatch: a step of the search, or an amount of work.

    The unit of work is a word read to test a candidate, as the program estimates it for each table. So the time that an
    amount takes hardly depends on which tables the search happens to work on, and the host, which measures that time,
    can give slices of nearly equal length.

    Attributes:
      stop_step: the step at which the dispatch ends.
      work: the work after which it ends.
    """

    stop_step: Any
    work: Any


MOST_WORK = 2**60
"""More work than any dispatch does, as an allowance without a limit."""

MOST_PART = 2**16
"""Most rows that are fed at a time to a search in parts."""


class Part(NamedTuple):
    """A part of a search that is fed in parts; all fields are integers.

    The rows of the part are put into the table of its level. Then the search goes on as far as it is allowed, or until
    that table is used up and fewer than ``keep`` rows are left in all tables. With some rows left, the steps are full
    when the next part comes.

    Attributes:
      level: the table that the rows are put into.
      keep: how many rows are kept in the tables between parts.
      columns: the columns of a row.
      first: the first row of the part.
      count: how many rows the part has.
    """

    level: Any
    keep: Any
    columns: Any
    first: Any
    count: Any


def _limbs(sizes: Sizes) -> int:
    """Return the limbs of the number of matches."""
    return max(sizes.limbs, 2)


def _report(state: SearchState, work: jax.Array) -> Any:
    """Write a report, uint32: rows, matches, positions, work and steps."""
    numbers = jnp.concatenate([state.matches, jnp.stack([state.positions, work.astype(jnp.uint64)])])
    words = lax.bitcast_convert_type(numbers, jnp.uint32)  # low words first
    rows = lax.bitcast_convert_type(jnp.append(state.rows.reshape(-1), state.steps), jnp.uint32)
    return for_host(jnp.concatenate([rows[:-1], words.reshape(-1), rows[-1:]]))


@partial(jit64, static_argnames=("entries", "tables", "sizes"))
def start_state(*, entries: int, tables: int, sizes: Sizes) -> SearchState:
    """Return a search that has not begun: table 0 has one row without columns, the match of no nodes."""
    rows = jnp.zeros((3, tables + 1), jnp.int32).at[0, 0].set(1)
    numbers = jnp.zeros(_limbs(sizes), jnp.uint64), jnp.zeros((), jnp.uint64), jnp.int32(0)
    return SearchState(blank_table(entries, sizes), rows, *numbers, jnp.zeros(sizes.cells, jnp.uint64))


class _Tables(NamedTuple):
    """The part of a program that decides which table a step works on, and how much it takes of it.

    Attributes:
      number: the number of each table.
      count: how many tables are expanded.
      room: the rows that the successor of each table has room for.
      most: the most positions that a step may take, so that all survivors fit.
      cost: the work to test one position, int64.
    """

    number: Any
    count: Any
    room: Any
    most: Any
    cost: Any

    @classmethod
    def of(cls, op: Operands, tables: int, sizes: Sizes) -> _Tables:
        """Read the tables of a program, for a state with room for ``tables`` of them."""
        number, count = jnp.arange(tables, dtype=jnp.int32), Reader(PLAIN, op, op.program, sizes).search.tables
        # The state may have room for more tables than there are.
        head = read_record(partial(take, op.program), TableWords, table_place(jnp.minimum(number, count - 1)))
        room = head.next_room
        # A table has room for three halves of a step, so a step is two thirds of the room.
        most = jnp.minimum(room - room // 3, sizes.block)
        return cls(number, count, room, most, head.cost.astype(jnp.int64))

    def able(self, rows: jax.Array, ordered: bool) -> Any:
        """Find the tables that a step can work on: those with rows left, whose successor has room for a whole step."""
        filled, cursor, _ = rows
        # Every position may survive, so a step needs room for all that it takes.
        left, fits = (cursor < filled)[:-1] & (self.number < self.count), filled[1:] <= self.room - self.most
        # The last nonempty table has an empty successor, unless the successor holds the matches listed.
        return left & (fits[self.count - 1] if ordered else fits)

    def choose(self, able: jax.Array, ordered: bool) -> Any:
        """Choose the table to work on: the first one that a step can work on, or for ordered matches the last.

        If there is none, it returns some table, and the step does nothing.
        """
        if ordered:
            return jnp.maximum(jnp.where(able, self.number, -1).max(), 0)
        # If there is none, the minimum is `count`, which is no table, and the last table is taken.
        return jnp.minimum(jnp.where(able, self.number, self.count).min(), self.count - 1)


def _is_wanted(
    state: SearchState, able: jax.Array, last: jax.Array, enough: Any, part: Part | None, ordered: bool, once: bool
) -> Any:
    """Return whether a search goes on.

    Args:
      state: the search so far.
      able: the tables that a step can work on. As long as any table has rows left, a step can work on the last of
        these: its successor is empty, or it counts.
      last: the table of listed matches.
      enough, part, ordered, once: as for :func:`advance`.
    """
    filled, cursor, _ = state.rows
    left = filled - cursor
    if enough is not None and ordered:
        return able.any() & (filled[last] < enough)
    if part is not None:  # until the part is used up and few rows are left
        level = jnp.arange(left.shape[0], dtype=jnp.int32) == part.level
        # The rows of each table are cut to `keep` before they are added up: the sum of full tables could wrap.
        some_left = jnp.minimum(left, part.keep).sum(dtype=jnp.int32)
        return able.any() & ((jnp.where(level, left, 0).max() > 0) | (some_left >= part.keep))
    if enough is not None:
        # A table is filled before it is worked on. When the first table with rows left is worked on from its start, it
        # therefore holds all partial matches of its length. The search ends there if they are enough, or if the next
        # table is full before all of them are expanded.
        t = (left > 0).argmax()
        return able[t] & ((filled[t] < enough) | (cursor[t] > 0))
    return able.any() & ~state.matches.any() if once else able.any()


@partial(jit64, static_argnames=("sizes", "ordered", "once"), donate_argnames=("state",))
def advance(
    op: Operands,
    state: SearchState,
    stop_step: Any,
    work: Any = MOST_WORK,
    enough: Any = None,
    rows: Any = None,
    part: Any = None,
    *,
    sizes: Sizes,
    ordered: bool = False,
    once: bool = False,
) -> tuple[SearchState, jax.Array]:
    """Search on until nothing is left, all that is allowed is done, or the table of listed matches is full.

    Args:
      op: int32 arrays; programs of one length, and lists and matrices of one capacity, share a compilation.
      state: the search so far.
      stop_step: int32 scalar, the step at which to stop (:class:`Allowance`).
      work: int64 scalar, the work after which to stop (:class:`Allowance`).
      enough: int32 scalar, or ``None``. If it is given, the search goes level by level, and stops when the first table
        with rows left holds that many rows, or when its successor is full: then all partial matches of one length are
        there. With ``ordered``, it stops when that many matches wait to be fetched.
      rows: int32 ``[C, L]``, the columns of the rows of all parts, for a search that is fed in parts.
      part: a :class:`Part` as int32 ``[5]``, which is put into its table first; if it has rows, its table must be used
        up and have room for them.
      sizes: static.
      ordered: static; always work on the last nonempty table. With ``sizes.in_order`` matches then come in
        lexicographic order; the matches of the last call are dropped.
      once: static; stop when there is a match.

    Returns:
      The state, and a report for :meth:`DeviceReport.read`, uint32.
    """
    if part is not None:
        part = Part(*part)
        state = _fed(op, state, rows, part, sizes)
    allowed = Allowance(stop_step, work)
    column = jnp.arange(state.rows.shape[1], dtype=jnp.int32)
    tables = _Tables.of(op, state.rows.shape[1] - 1, sizes)
    if ordered:  # the matches of the last dispatch were fetched, and make room
        state = state._replace(rows=jnp.where(column == tables.count, 0, state.rows))
    most_rows = jnp.minimum(jnp.int32(sizes.window), Reader(PLAIN, op, op.program, sizes).search.most_rows)

    # Plain XLA works on arrays of a whole block, however few positions a step has. In the fused form a tile without
    # positions ends at once.
    fused, most = is_fused(sizes), tables.most
    if fused:
        # A single step is cut where it would take longer than a slice should.
        most = jnp.minimum(most.astype(jnp.int64), jnp.maximum(allowed.work // tables.cost, LANES)).astype(jnp.int32)

    def go_on(carry: tuple[SearchState, jax.Array]) -> Any:
        state, work = carry
        more = (state.steps < allowed.stop_step) & (work < allowed.work)
        able = tables.able(state.rows, ordered)
        return _is_wanted(state, able, tables.count, enough, part, ordered, once) & more

    def step(carry: tuple[SearchState, jax.Array]) -> tuple[SearchState, jax.Array]:
        goes = go_on(carry)  # the last of several steps at once may have nothing to do
        state, work = carry
        t = tables.choose(tables.able(state.rows, ordered), ordered)
        filled, cursor, used = state.rows
        first = cursor[t]
        next_filled = filled[t + 1]
        # A step with nothing to do takes no positions, and changes nothing.
        left, block = (jnp.where(goes, x, 0) for x in (filled[t] - first, most[t]))
        # The window is limited so that positions have 31 bits, however long the lists are (SearchWords.most_rows).
        window = Window(t, first, jnp.minimum(left, most_rows), used[t])
        io = Reader(PLAIN, op, state.table, sizes)
        result = extend(io, state.tally, window, prepare_window(io, window), block, next_filled)
        here, after = goes & (column == t), goes & (column == t + 1)
        filled = filled + jnp.where(after, result.added, 0)
        cursor = jnp.where(here, first + result.done, cursor)
        used = jnp.where(here, result.used, used)
        # A table that is used up begins anew.
        rows = jnp.where((cursor >= filled)[None], 0, jnp.stack([filled, cursor, used]))
        # Limbs are carried over at every step: each tile adds less than 2^32 to a limb, so that no sum reaches 2^64.
        matches = carry_over(state.matches + result.counts.astype(jnp.uint64).sum(axis=0))
        positions, steps = state.positions + result.tested.astype(jnp.uint64), state.steps + goes.astype(jnp.int32)
        done = (result.tested if fused else jnp.int32(sizes.block)).astype(jnp.int64) * tables.cost[t]
        work += jnp.where(goes, done + (sizes.window if fused else 0), 0)
        return SearchState(result.table, rows, matches, positions, steps, result.tally), work

    # The loop asks only once in several steps whether to go on (StepSizes says why).
    at_once = step_sizes(target()).at_once if fused or target().is_accelerator else 1

    def steps_at_once(carry: tuple[SearchState, jax.Array]) -> tuple[SearchState, jax.Array]:
        return lax.fori_loop(0, at_once, lambda _, carry: step(carry), carry)

    state, work = lax.while_loop(go_on, steps_at_once, (state, jnp.int64(0)))
    return state, _report(state, work)


def _fed(op: Operands, state: SearchState, rows: jax.Array, part: Part, sizes: Sizes) -> SearchState:
    """Put a part into its table; without rows the search goes on with what the tables hold."""
    head = Reader(PLAIN, op, op.program, sizes).table_words(part.level)
    base, room = head.base, head.room
    number = jnp.arange(MOST_PART, dtype=jnp.int32)

    def put(column, table):
        values = rows.at[column, part.first + number].get(mode="clip")
        # Lanes past the part's rows write past the end, where writes are dropped.
        to = jnp.where(number < part.count, base + column * room + number, table.shape[0])
        return table.at[to].set(values, mode="drop")

    table = lax.fori_loop(jnp.int32(0), jnp.where(part.count > 0, part.columns, 0), put, state.table)
    new_rows = jnp.zeros_like(state.rows).at[0, part.level].set(part.count)
    at = jnp.arange(state.rows.shape[1], dtype=jnp.int32)
    changes = (part.count > 0) & ((at == part.level) | (at == 0))  # table 0 loses the row that a search begins with
    return state._replace(table=table, rows=jnp.where(changes, new_rows, state.rows))


@partial(jit64, quick=QuickLimits(unoptimised=2**24), static_argnames=("entries", "tables", "sizes", "once"))
def begin(
    op: Operands, *, entries: int, tables: int, sizes: Sizes, once: bool = False
) -> tuple[SearchState, jax.Array]:
    """Do :func:`start_state` and :func:`advance` in one dispatch, for the steps and the work that the program says."""
    state = start_state(entries=entries, tables=tables, sizes=sizes)
    head = Reader(PLAIN, op, op.program, sizes).search
    return advance(op, state, head.first_steps, head.first_work.astype(jnp.int64), sizes=sizes, once=once)
