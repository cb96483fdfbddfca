"""Listing matches in order: the search keeps them in a last table, which the host empties after each dispatch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import jax
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.search._layout import Operands
from jaxmotif.search._loop import Progress, SearchState, advance
from jaxmotif.search._run import ReadySearch, Run, Stage, finish

STEPS_AT_FIRST = 16
"""Steps of the first dispatch: whoever asks for few matches gets them soon."""


class Ordered:
    """The driver of a listing: always the last nonempty table, in plain XLA, which keeps the order of its rows (a fused
    step appends in whatever order its programs come). Matches wait in the table after ``tables`` placements."""

    def __init__(self, tables: int):
        self._tables = tables
        self.held = 0

    def send(
        self, operands: Operands, state: SearchState | None, stage: Stage, stop: int
    ) -> tuple[SearchState, jax.Array]:
        if state is None:
            state = stage.new_state(operands)
        else:  # what the table held has been fetched
            state = dataclasses.replace(state, rows=state.rows.at[0, self._tables].set(0))
        return advance(operands, state, np.int32(stop), sizes=stage.sizes, ordered=True)

    def ended(self, now: Progress) -> str | None:
        self.held = int(now.rows[0, self._tables])
        left = now.rows[1] < now.rows[0]
        return None if left[: self._tables].any() else "done"


def list_matches(search: ReadySearch, time_limit: float | None = None) -> Iterator[tuple[np.ndarray, str]]:
    """The matches of a search of one stage, whose program keeps them, in lexicographic order of the placements.

    Yields:
      int32 ``[nodes, M]``, of each dispatch, and the status so far (as :class:`jaxmotif.search.Standing` says it).
    """
    (stage,) = search.stages
    program = stage.program
    base, room = program.after(program.tables)
    driver = Ordered(program.tables)
    run = Run(search, driver, first=STEPS_AT_FIRST)
    for standing in finish(run, time_limit):
        table = np.asarray(_slice(run.table, np.int32(base), size=room * program.tables))
        yield table.reshape(program.tables, room)[:, : driver.held], standing.status


@jit64(static_argnames=("size",))
def _slice(table: jax.Array, start: jax.Array, *, size: int) -> jax.Array:
    return lax.dynamic_slice(table, (start,), (size,))
