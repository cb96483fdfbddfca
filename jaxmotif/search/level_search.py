"""The bounded-memory level search: one jitted loop over tables of partial matches.

Table t has room for a fixed number of rows, the images of the first t query nodes, and a cursor into its flat
expansion space: the candidates of all its rows laid end to end. A step takes one block of these positions from one
table and appends the survivors to the next. Counting works on the first table whose successor has room for a whole
block, so tables fill before they are worked on; listing on the last nonempty one, so matches come in lexicographic
order. Either way no table overflows, whatever the input, and a hub is only more positions.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.kernels import lanes
from jaxmotif.kernels.choice import Backend, for_host
from jaxmotif.kernels.extend import Window, blank_table, extend, prepare_window
from jaxmotif.kernels.lanes import Operands, Sizes

STEPS_AT_ONCE = {"pallas-triton": 4, "xla": 1}
"""Steps until the host asks whether to go on: on a GPU that takes longer than steps that have nothing to do."""


@partial(
    jax.tree_util.register_dataclass, data_fields=("table", "rows", "matches", "positions", "steps"), meta_fields=()
)
@dataclasses.dataclass(frozen=True, eq=False)
class SearchState:
    """Where a search stands.

    Attributes:
      table: int32, the entries of all tables and one spare.
      rows: int32 ``[3, tables + 1]``: rows held, cursor, and candidates of the cursor's row already used.
      matches: uint64 ``[2]``: counted so far, as ``low + 2^32 high``.
      positions: uint64 scalar, flat positions tested.
      steps: int32 scalar.
    """

    table: Any
    rows: Any
    matches: Any
    positions: Any
    steps: Any


class Progress(NamedTuple):
    """A report (all of a state but the table), read on the host: int32 rows as in the state, whether all tables are
    drained, and Python integers."""

    rows: np.ndarray
    drained: bool
    matches: int
    positions: int
    steps: int

    @classmethod
    def read(cls, report: np.ndarray) -> Progress:
        rows, steps = report[:-7].view(np.int32).reshape(3, -1), int(report[-1])
        low, high, positions = np.ascontiguousarray(report[-7:-1]).view(np.uint64).tolist()
        drained = not (rows[1] < rows[0])[:-1].any()
        return cls(rows, drained, low + (high << 32), positions, steps)

    @property
    def level(self) -> int:
        """The first table with rows left."""
        return int((self.rows[1] < self.rows[0]).argmax())

    def wants_more(self, level: int, keep: int) -> bool:
        """Whether the table of a level is used up and all later ones hold fewer rows than are to be kept."""
        left = self.rows[0] - self.rows[1]
        return left[level] == 0 and int(left.sum()) < keep


class Part(NamedTuple):
    """A part of a search that is given in parts, integers: rows ``first .. first + count - 1``, of so many columns,
    are put into the table of a level; then the search goes on to a step, or until that table is used up and later ones
    hold fewer rows than are to be kept, so that the next part finds full steps."""

    stop_step: Any
    level: Any
    keep: Any
    columns: Any
    first: Any
    count: Any


def _report(state: SearchState) -> Any:
    words = lax.bitcast_convert_type(jnp.append(state.matches, state.positions), jnp.uint32)  # [3, 2], low words first
    rows = lax.bitcast_convert_type(jnp.append(state.rows.reshape(-1), state.steps), jnp.uint32)
    return for_host(jnp.concatenate([rows[:-1], words.reshape(-1), rows[-1:]]))


@partial(jax.jit, static_argnames=("entries", "tables", "backend"))
def start_state(*, entries: int, tables: int, backend: Backend) -> SearchState:
    """A search that has not begun: one row without columns in table 0. Call inside ``wide_ints()``."""
    rows = jnp.zeros((3, tables + 1), jnp.int32).at[0, 0].set(1)
    numbers = jnp.zeros(2, jnp.uint64), jnp.zeros((), jnp.uint64), jnp.int32(0)
    return SearchState(blank_table(entries, backend), rows, *numbers)


def _advance(
    op: Operands, state: SearchState, stop_step: Any, enough: Any = None, part: Part | None = None, *, sizes: Sizes,
    backend: Backend, ordered: bool = False,
) -> tuple[SearchState, jax.Array]:  # fmt: skip
    """Search on until nothing is left, a number of steps is reached, or the table of listed matches is full.

    Args:
      op: int32 arrays; programs of one length, and lists and matrices of one capacity, share a compilation.
      stop_step: int32 scalar.
      enough: int32 scalar; search level by level, and stop when the first table with rows left holds so many, or its
        successor is full: then all partial matches of one length are there.
      part: stop, too, when its table is used up and later ones hold too few rows.
      sizes, backend: static.
      ordered: static; always the last nonempty table, whose matches then come in lexicographic order.

    Returns:
      The state, and a report for :meth:`Progress.read`, uint32.

    Call inside ``wide_ints()``.
    """
    tables = state.rows.shape[1] - 1
    column = jnp.arange(tables + 1, dtype=jnp.int32)
    number = column[:-1]
    count = op.program[lanes.NUM_TABLES]
    room = op.program.at[lanes.level(number) + lanes.NEXT_ROOM].get(mode="clip")
    most = jnp.minimum(room - room // 3, sizes.block)  # positions a step takes from each table
    most_rows = jnp.minimum(jnp.int32(sizes.window), op.program[lanes.MOST_ROWS])

    def ready(rows):
        held, cursor, _ = rows
        able, fits = (cursor < held)[:-1] & (number < count), held[1:] <= room - most
        return able & (fits[count - 1] if ordered else fits)

    def go_on(state):
        able = ready(state.rows).any() & (state.steps < stop_step)
        left = state.rows[0] - state.rows[1]
        if part is not None:
            kept = jnp.minimum(left, part.keep).sum(dtype=jnp.int32)  # no sum of many full tables, which could wrap
            able = able & ((jnp.where(column == part.level, left, 0).max() > 0) | (kept >= part.keep))
        if enough is not None:
            t = (left > 0).argmax()
            able = able & ready(state.rows)[t] & ((state.rows[0, t] < enough) | (state.rows[1, t] > 0))
        return able

    def step(state):
        able = ready(state.rows)
        t = jnp.where(able, number, -1).max() if ordered else jnp.where(able, number, tables).min()
        wanted = go_on(state)
        t = jnp.where(wanted, t, tables + 1)  # no table: then nothing is done
        at = jnp.minimum(t, count - 1)
        held, cursor, used = state.rows
        first, filled = cursor[at], held[at + 1]
        left, block = (jnp.where(wanted, x, 0) for x in (held[at] - first, most[at]))
        window = Window(at, first, jnp.minimum(left, most_rows), used[at])
        lists = prepare_window(op, state.table, window, sizes, backend)
        table, added, counts, total, done, begun = extend(op, state.table, window, lists, block, filled, sizes, backend)
        here, after = column == t, column == t + 1
        held = held + jnp.where(after, added, 0)
        cursor = jnp.where(here, first + done, cursor)
        used = jnp.where(here, begun, used)
        rows = jnp.where((cursor >= held)[None], 0, jnp.stack([held, cursor, used]))
        low, high = state.matches + counts.astype(jnp.uint64).sum(axis=0)
        matches = jnp.stack([low & jnp.uint64(2**32 - 1), high + (low >> jnp.uint64(32))])
        positions, steps = state.positions + total.astype(jnp.uint64), state.steps + wanted.astype(jnp.int32)
        return SearchState(table, rows, matches, positions, steps)

    def steps_at_once(state):
        return lax.fori_loop(0, STEPS_AT_ONCE[backend], lambda _, state: step(state), state)

    state = lax.while_loop(go_on, steps_at_once, state)
    return state, _report(state)


advance = jax.jit(_advance, static_argnames=("sizes", "backend", "ordered"), donate_argnames=("state",))


@partial(jax.jit, static_argnames=("most", "sizes", "backend"), donate_argnames=("state",))
def advance_part(
    op: Operands, state: SearchState, rows: Any, part: Any, *, most: int, sizes: Sizes, backend: Backend
) -> tuple[SearchState, jax.Array]:
    """Take a part, and :func:`advance`. Call inside ``wide_ints()``.

    Args:
      rows: int32 ``[C, L]``, columns of all parts.
      part: a :class:`Part` as int32 ``[6]``; if it has rows, its table is used up and has room for them.
      most: static, at least the rows of a part.
    """
    part = Part(*part)
    head = lanes.level(part.level)
    base, room = op.program[head + lanes.BASE], op.program[head + lanes.ROOM]
    number = jnp.arange(most, dtype=jnp.int32)

    def put(column, table):
        values = rows.at[column, part.first + number].get(mode="clip")
        to = jnp.where(number < part.count, base + column * room + number, table.shape[0])
        return table.at[to].set(values, mode="drop")

    table = lax.fori_loop(jnp.int32(0), jnp.where(part.count > 0, part.columns, 0), put, state.table)
    begun = jnp.zeros_like(state.rows).at[0, part.level].set(part.count)
    at = jnp.arange(state.rows.shape[1], dtype=jnp.int32)
    changes = (part.count > 0) & ((at == part.level) | (at == 0))  # table 0 has the row that a search begins with
    state = dataclasses.replace(state, table=table, rows=jnp.where(changes, begun, state.rows))
    return _advance(op, state, part.stop_step, part=part, sizes=sizes, backend=backend)


@partial(jax.jit, static_argnames=("entries", "tables", "sizes", "backend"))
def begin(op: Operands, *, entries: int, tables: int, sizes: Sizes, backend: Backend) -> tuple[SearchState, jax.Array]:
    """:func:`start_state` and :func:`advance` in one dispatch, for the steps that the program says. Call inside
    ``wide_ints()``."""
    state = start_state(entries=entries, tables=tables, backend=backend)
    return _advance(op, state, op.program[lanes.FIRST_STEPS], sizes=sizes, backend=backend)
