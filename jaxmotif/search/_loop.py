"""The bounded-memory level search: one compiled loop over tables of partial matches.

Table t has room for a fixed number of rows, the images of the first t query nodes, and a cursor into its flat
expansion space: the candidates of all its rows laid end to end. A step takes one block of these positions from one
table and appends the survivors to the next. Counting works on the first table whose successor has room for a whole
block, so tables fill before they are worked on; listing on the last nonempty one, so matches come in lexicographic
order. Either way no table overflows, whatever the input, and a hub is only more positions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import for_host, jit64, target
from jaxmotif.arrays._programs import Brief
from jaxmotif.search._layout import Operands, Sizes, TableWords, array_reader, table_place
from jaxmotif.search._limbs import carried
from jaxmotif.search._sizes import step_sizes
from jaxmotif.search._step import LANES, Window, blank_table, extend, is_fused, prepare_window


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("table", "rows", "matches", "positions", "steps", "tally"),
    meta_fields=(),
)
@dataclasses.dataclass(frozen=True, eq=False)
class SearchState:
    """Where a search stands.

    Attributes:
      table: int32, the entries of all tables and one spare.
      rows: int32 ``[3, tables + 1]``: rows held, cursor, and candidates of the cursor's row already used.
      matches: uint64 ``[limbs]``: counted so far, the sum of ``2^(32 i)`` times the i-th.
      positions: uint64 scalar, flat positions tested.
      steps: int32 scalar.
      tally: uint64 ``[cells]``, matches by the nodes they have, modulo 2^64.
    """

    table: Any
    rows: Any
    matches: Any
    positions: Any
    steps: Any
    tally: Any


class DeviceReport(NamedTuple):
    """A report on a search, read on the host: all of a state but table and tally.

    Attributes:
      rows: int32, as in the state. drained: whether all tables are.
      matches, positions, steps: Python integers, as in the state.
      work: of the dispatch that is reported on (:class:`Allowance`).
    """

    rows: np.ndarray
    drained: bool
    matches: int
    positions: int
    steps: int
    work: int

    @classmethod
    def read(cls, report: np.ndarray, sizes: Sizes) -> DeviceReport:
        numbers = 2 * (_limbs(sizes) + 2)  # matches, positions and work, each of two words
        rows, steps = report[: -numbers - 1].view(np.int32).reshape(3, -1), int(report[-1])
        *limbs, positions, work = np.ascontiguousarray(report[-numbers - 1 : -1]).view(np.uint64).tolist()
        # The last column has no successor: no step expands it.
        drained = not (rows[1] < rows[0])[:-1].any()
        return cls(rows, drained, sum(limb << 32 * i for i, limb in enumerate(limbs)), positions, steps, work)

    @property
    def level(self) -> int:
        """The first table with rows left."""
        return int((self.rows[1] < self.rows[0]).argmax())

    def wants_more(self, level: int, keep: int) -> bool:
        """Whether the table of a level is used up and all later ones hold fewer rows than are to be kept."""
        left = self.rows[0] - self.rows[1]
        return left[level] == 0 and int(left.sum()) < keep


class Allowance(NamedTuple):
    """How far one dispatch may go: to a step of the search, or until it has done an amount of work.

    The unit of work is a word read to test a candidate, as the program estimates it for each table. So the time that an
    amount takes hardly depends on which tables the search happens to work on, and the host, which measures that time,
    can give slices of nearly equal length.
    """

    stop_step: Any
    work: Any


MOST_WORK = 2**60
"""Work that no dispatch does."""


class Part(NamedTuple):
    """A part of a search that is given in parts, integers: rows ``first .. first + count - 1``, of so many columns,
    are put into the table of a level; then the search goes on as far as it is allowed, or until that table is used up
    and later ones hold fewer rows than are to be kept, so that the next part finds full steps."""

    level: Any
    keep: Any
    columns: Any
    first: Any
    count: Any


def _limbs(sizes: Sizes) -> int:
    """Of the matches counted."""
    return max(sizes.limbs, 2)


def _report(state: SearchState, work: jax.Array) -> Any:
    numbers = jnp.concatenate([state.matches, jnp.stack([state.positions, work.astype(jnp.uint64)])])
    words = lax.bitcast_convert_type(numbers, jnp.uint32)  # low words first
    rows = lax.bitcast_convert_type(jnp.append(state.rows.reshape(-1), state.steps), jnp.uint32)
    # Rows first and steps last: what is between has as many words as the limbs ask for.
    return for_host(jnp.concatenate([rows[:-1], words.reshape(-1), rows[-1:]]))


@partial(jit64, static_argnames=("entries", "tables", "sizes"))
def start_state(*, entries: int, tables: int, sizes: Sizes) -> SearchState:
    """A search that has not begun: one row without columns in table 0."""
    # One row in table 0: the match of no nodes.
    rows = jnp.zeros((3, tables + 1), jnp.int32).at[0, 0].set(1)
    numbers = jnp.zeros(_limbs(sizes), jnp.uint64), jnp.zeros((), jnp.uint64), jnp.int32(0)
    return SearchState(blank_table(entries, sizes), rows, *numbers, jnp.zeros(sizes.cells, jnp.uint64))


class _Tables(NamedTuple):
    """What of a program decides which table a step works on, and how much it takes of it.

    Attributes:
      number: of each table. count: how many are expanded.
      room: rows that the next table has room for.
      most: positions that a step may take, so that their survivors fit.
      cost: work to test one position, int64.
    """

    number: Any
    count: Any
    room: Any
    most: Any
    cost: Any

    @classmethod
    def of(cls, op: Operands, tables: int, sizes: Sizes) -> _Tables:
        number = jnp.arange(tables, dtype=jnp.int32)

        def words(name: str) -> jax.Array:
            # There may be fewer tables than the state has room for.
            return op.program.at[table_place(number) + TableWords._fields.index(name)].get(mode="clip")

        room, count = words("next_room"), array_reader(op, op.program, sizes).search.tables
        # A table has room for three halves of a step: two thirds of it is the step.
        most = jnp.minimum(room - room // 3, sizes.block)
        return cls(number, count, room, most, words("cost").astype(jnp.int64))

    def able(self, rows: jax.Array, ordered: bool) -> Any:
        """The tables that a step can work on: they have rows left, and the next has room for all that may come."""
        held, cursor, _ = rows
        # Every position may survive: a step needs room for all it takes.
        left, fits = (cursor < held)[:-1] & (self.number < self.count), held[1:] <= self.room - self.most
        # The last table that is not empty has an empty successor, unless that holds the matches listed.
        return left & (fits[self.count - 1] if ordered else fits)

    def choose(self, able: jax.Array, ordered: bool) -> Any:
        """The table to work on: the first that is able, so that tables fill; ordered, the last. Some table in any
        case: where none is able, the step does nothing."""
        if ordered:
            return jnp.maximum(jnp.where(able, self.number, -1).max(), 0)
        # Where none is able the minimum is `count`, which is no table's: then the last.
        return jnp.minimum(jnp.where(able, self.number, self.count).min(), self.count - 1)


Wanted = Callable[[SearchState, Any], Any]
"""Whether a search is to go on for all it is asked to do, given its state and the tables that are able."""


def _until_all(state: SearchState, able: jax.Array) -> Any:
    """A search for all matches: as long as there is something to do."""
    # Some table is able as long as any has rows left: the last with rows has an empty successor, or counts.
    return able.any()


def _until_a_match(state: SearchState, able: jax.Array) -> Any:
    """A search for any match."""
    return able.any() & ~state.matches.any()


def _until_a_level(enough: int | np.ndarray | jax.Array) -> Wanted:
    """A search for prefixes: a table is filled before it is worked on, so when the first table with rows left is worked
    on from its start, it holds all partial matches of its length. If they are enough, or its successor is full before
    they are all expanded, that is the end."""

    def wanted(state: SearchState, able: jax.Array) -> Any:
        # The first with rows left: those before it are used up, and it is worked on before any later one.
        t = (state.rows[0] - state.rows[1] > 0).argmax()
        return able[t] & ((state.rows[0, t] < enough) | (state.rows[1, t] > 0))

    return wanted


def _until_listed(op: Operands, enough: int | np.ndarray | jax.Array, sizes: Sizes) -> Wanted:
    """A listing: until so many matches wait in the last table."""
    last = array_reader(op, op.program, sizes).search.tables

    def wanted(state: SearchState, able: jax.Array) -> Any:
        return able.any() & (state.rows[0, last] < enough)

    return wanted


def _until_a_part_is_used(part: Part) -> Wanted:
    """A search in parts: until the part is used up and too few rows are kept for full steps."""

    def wanted(state: SearchState, able: jax.Array) -> Any:
        left = state.rows[0] - state.rows[1]
        level = jnp.arange(left.shape[0], dtype=jnp.int32) == part.level
        kept = jnp.minimum(left, part.keep).sum(dtype=jnp.int32)  # no sum of many full tables, which could wrap
        return able.any() & ((jnp.where(level, left, 0).max() > 0) | (kept >= part.keep))

    return wanted


def _advance(
    op: Operands,
    state: SearchState,
    allowed: Allowance,
    sizes: Sizes,
    wanted: Wanted = _until_all,
    ordered: bool = False,
) -> tuple[SearchState, jax.Array]:
    """Search on as far as is allowed, or until what is wanted is done."""
    column = jnp.arange(state.rows.shape[1], dtype=jnp.int32)
    tables = _Tables.of(op, state.rows.shape[1] - 1, sizes)
    if ordered:  # the matches of the last dispatch have been fetched
        state = dataclasses.replace(state, rows=jnp.where(column == tables.count, 0, state.rows))
    most_rows = jnp.minimum(jnp.int32(sizes.window), array_reader(op, op.program, sizes).search.most_rows)

    # Arrays of a whole block are worked on, however few positions a step has, but where tiles without any end at once.
    fused, most = is_fused(sizes), tables.most
    if fused:
        # A single step that takes longer than a slice should is cut, too.
        most = jnp.minimum(most.astype(jnp.int64), jnp.maximum(allowed.work // tables.cost, LANES)).astype(jnp.int32)

    def go_on(carry: tuple[SearchState, jax.Array]) -> Any:
        state, work = carry
        more = (state.steps < allowed.stop_step) & (work < allowed.work)
        return wanted(state, tables.able(state.rows, ordered)) & more

    def step(carry: tuple[SearchState, jax.Array]) -> tuple[SearchState, jax.Array]:
        goes = go_on(carry)  # of several steps at once, the last may have nothing to do
        state, work = carry
        t = tables.choose(tables.able(state.rows, ordered), ordered)
        held, cursor, used = state.rows
        first, filled = cursor[t], held[t + 1]
        # A step that has nothing to do takes no positions, and changes nothing.
        left, block = (jnp.where(goes, x, 0) for x in (held[t] - first, most[t]))
        # No more rows than have 31-bit positions whatever their lists (SearchWords.most_rows).
        window = Window(t, first, jnp.minimum(left, most_rows), used[t])
        lists = prepare_window(op, state.table, window, sizes)
        found = extend(op, state.table, state.tally, window, lists, block, filled, sizes)
        here, after = goes & (column == t), goes & (column == t + 1)
        held = held + jnp.where(after, found.added, 0)
        cursor = jnp.where(here, first + found.done, cursor)
        used = jnp.where(here, found.used, used)
        rows = jnp.where((cursor >= held)[None], 0, jnp.stack([held, cursor, used]))  # a table used up begins anew
        # Carried at every step: each tile adds less than 2^32 to a limb, so that no sum reaches 2^64.
        matches = carried(state.matches + found.counts.astype(jnp.uint64).sum(axis=0))
        positions, steps = state.positions + found.tested.astype(jnp.uint64), state.steps + goes.astype(jnp.int32)
        done = (found.tested if fused else jnp.int32(sizes.block)).astype(jnp.int64) * tables.cost[t]
        work += jnp.where(goes, done + (sizes.window if fused else 0), 0)
        return SearchState(found.table, rows, matches, positions, steps, found.tally), work

    # Whether to go on is asked once for so many steps (StepSizes says why).
    at_once = step_sizes(target()).at_once if fused or target().is_accelerator else 1

    def steps_at_once(carry: tuple[SearchState, jax.Array]) -> tuple[SearchState, jax.Array]:
        return lax.fori_loop(0, at_once, lambda _, carry: step(carry), carry)

    state, work = lax.while_loop(go_on, steps_at_once, (state, jnp.int64(0)))
    return state, _report(state, work)


@partial(jit64, static_argnames=("sizes", "ordered", "once"), donate_argnames=("state",))
def advance(
    op: Operands,
    state: SearchState,
    stop_step: Any,
    enough: Any = None,
    work: Any = MOST_WORK,
    *,
    sizes: Sizes,
    ordered: bool = False,
    once: bool = False,
) -> tuple[SearchState, jax.Array]:
    """Search on until nothing is left, all that is allowed is done, or the table of listed matches is full.

    Args:
      op: int32 arrays; programs of one length, and lists and matrices of one capacity, share a compilation.
      stop_step, work: int32 and int64 scalar (:class:`Allowance`).
      enough: int32 scalar; search level by level, and stop when the first table with rows left holds so many, or its
        successor is full: then all partial matches of one length are there. Ordered: stop when so many matches wait.
      sizes: static.
      ordered: static; always the last nonempty table, whose matches then come in lexicographic order, if
        ``sizes.in_order``; those of the last call are dropped.
      once: static; stop when there is a match.

    Returns:
      The state, and a report for :meth:`DeviceReport.read`, uint32.
    """
    if enough is None:
        wanted = _until_a_match if once else _until_all
    else:
        wanted = _until_listed(op, enough, sizes) if ordered else _until_a_level(enough)
    return _advance(op, state, Allowance(stop_step, work), sizes, wanted, ordered)


@partial(jit64, static_argnames=("most", "sizes", "ordered"), donate_argnames=("state",))
def advance_part(
    op: Operands,
    state: SearchState,
    rows: Any,
    part: Any,
    stop_step: Any,
    work: Any,
    *,
    most: int,
    sizes: Sizes,
    ordered: bool = False,
) -> tuple[SearchState, jax.Array]:
    """Take a part, and :func:`advance`.

    Args:
      rows: int32 ``[C, L]``, columns of all parts.
      part: a :class:`Part` as int32 ``[5]``; if it has rows, its table is used up and has room for them.
      stop_step, work: int32 and int64 scalar (:class:`Allowance`).
      most: static, at least the rows of a part.
      ordered: static, as for :func:`advance`; then ``keep`` is how many matches are enough.
    """
    part = Part(*part)
    head = array_reader(op, op.program, sizes).of_table(part.level)
    base, room = head.base, head.room
    number = jnp.arange(most, dtype=jnp.int32)

    def put(column, table):
        values = rows.at[column, part.first + number].get(mode="clip")
        # Lanes past the part's rows write past the end, and are dropped.
        to = jnp.where(number < part.count, base + column * room + number, table.shape[0])
        return table.at[to].set(values, mode="drop")

    # A part without rows goes on with what the tables hold.
    table = lax.fori_loop(jnp.int32(0), jnp.where(part.count > 0, part.columns, 0), put, state.table)
    begun = jnp.zeros_like(state.rows).at[0, part.level].set(part.count)
    at = jnp.arange(state.rows.shape[1], dtype=jnp.int32)
    changes = (part.count > 0) & ((at == part.level) | (at == 0))  # table 0 has the row that a search begins with
    state = dataclasses.replace(state, table=table, rows=jnp.where(changes, begun, state.rows))
    wanted = _until_listed(op, part.keep, sizes) if ordered else _until_a_part_is_used(part)
    return _advance(op, state, Allowance(stop_step, work), sizes, wanted, ordered)


@partial(jit64, brief=Brief(unoptimised=2**24), static_argnames=("entries", "tables", "sizes", "once"))
def begin(
    op: Operands, *, entries: int, tables: int, sizes: Sizes, once: bool = False
) -> tuple[SearchState, jax.Array]:
    """:func:`start_state` and :func:`advance` in one dispatch, for the steps and the work that the program says."""
    state = start_state(entries=entries, tables=tables, sizes=sizes)
    head = array_reader(op, op.program, sizes).search
    allowed = Allowance(head.first_steps, head.first_work.astype(jnp.int64))
    return _advance(op, state, allowed, sizes, _until_a_match if once else _until_all)
