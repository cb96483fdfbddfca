"""The bounded-memory level search: one jitted loop over tables of partial matches.

Table t holds at most a fixed number of rows, the images of the first t query nodes, and a cursor into its flat
expansion space: the candidates of all its rows laid end to end. A step takes one block of these positions from one
table and appends the survivors to the next. Counting works on the first table whose successor has room for a whole
block, so tables fill before they are worked on; listing on the last nonempty one, so matches come in lexicographic
order. Either way no table overflows, whatever the input, and a hub is only more positions.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.kernels import lanes
from jaxmotif.kernels.choice import Backend
from jaxmotif.kernels.extend import Window, blank_table, extend, prepare_window
from jaxmotif.kernels.lanes import Operands, Sizes


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("table", "rows", "matches", "positions", "steps"),
    meta_fields=(),
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

    @property
    def count(self) -> int:
        """The matches counted so far (host)."""
        low, high = (int(word) for word in np.asarray(self.matches))
        return low + (high << 32)


@partial(jax.jit, static_argnames=("entries", "tables", "backend"))
def start_state(*, entries: int, tables: int, backend: Backend) -> SearchState:
    """A search that has not begun: one row without columns in table 0. Call inside ``wide_ints()``."""
    rows = jnp.zeros((3, tables + 1), jnp.int32).at[0, 0].set(1)
    zero = jnp.zeros((), jnp.uint64)
    return SearchState(blank_table(entries, backend), rows, jnp.zeros(2, jnp.uint64), zero, jnp.int32(0))


@partial(jax.jit, static_argnames=("sizes", "backend", "ordered"), donate_argnames=("state",))
def advance(
    op: Operands, state: SearchState, stop_step: Any, *, sizes: Sizes, backend: Backend, ordered: bool = False
) -> SearchState:
    """Search on until nothing is left, a number of steps is reached, or the table of listed matches is full.

    Args:
      op: int32 arrays; programs of one length, and lists and matrices of one capacity, share a compilation.
      stop_step: int32 scalar.
      sizes, backend: static.
      ordered: static; always the last nonempty table, whose matches then come in lexicographic order.

    Call inside ``wide_ints()``.
    """
    tables = state.rows.shape[1] - 1
    number = jnp.arange(tables, dtype=jnp.int32)
    count = op.program[lanes.NUM_TABLES]
    most_rows = jnp.minimum(jnp.int32(sizes.window), op.program[lanes.MOST_ROWS])

    def ready(rows):
        held, cursor, _ = rows
        able = (cursor < held)[:-1] & (number < count)
        if ordered:
            return able & (sizes.capacity - held[count] >= sizes.block)
        return able & ((number == count - 1) | (sizes.capacity - held[1:] >= sizes.block))

    def go_on(state):
        return ready(state.rows).any() & (state.steps < stop_step)

    def step(state):
        able = ready(state.rows)
        t = tables - 1 - jnp.argmax(able[::-1]) if ordered else jnp.argmax(able)
        t = t.astype(jnp.int32)
        held, cursor, used = state.rows
        window = Window(t, cursor[t], jnp.minimum(held[t] - cursor[t], most_rows), used[t])
        lengths, places, anchors = prepare_window(op, state.table, window, sizes, backend)
        ends = jnp.cumsum(lengths, dtype=jnp.int32)
        starts = ends - lengths
        total = jnp.minimum(ends[-1], sizes.block)
        table, added, counts = extend(
            op, state.table, window, (starts, places, anchors), total, held[t + 1], sizes, backend
        )
        # Rows wholly expanded, and how far the next one is.
        over = ends[-1] > sizes.block
        done = jnp.where(over, (ends <= sizes.block).sum(dtype=jnp.int32), window.rows)
        within = sizes.block - starts[jnp.minimum(done, sizes.window - 1)] + jnp.where(done == 0, window.used, 0)
        rows = state.rows.at[0, t + 1].add(added)
        rows = rows.at[1, t].set(window.first + done).at[2, t].set(jnp.where(over, within, 0))
        empty = (rows[1] >= rows[0])[None]
        rows = jnp.where(empty, 0, rows)
        low, high = state.matches + counts.astype(jnp.uint64).sum(axis=0)
        matches = jnp.stack([low & jnp.uint64(2**32 - 1), high + (low >> jnp.uint64(32))])
        return SearchState(table, rows, matches, state.positions + total.astype(jnp.uint64), state.steps + jnp.int32(1))

    return lax.while_loop(go_on, step, state)
