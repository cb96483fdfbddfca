"""Runs of a search, in dispatches of limited length, so that limits and interrupts are noticed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.search._deadline import NO_DEADLINE, SLICE_SECONDS, Deadline, compile_seconds
from jaxmotif.search._layout import Operands, Sizes
from jaxmotif.search._loop import MOST_WORK, Allowance, DeviceReport, SearchState, advance, begin, start_state
from jaxmotif.search._program import Program
from jaxmotif.search._sizes import step_sizes, table_entries

MOST_STEPS = 2**31 - 1
"""Steps of a search without a limit of its own."""

MOST_GROWTH = 8.0
"""Most growth of the work from one slice to the next: a slice may have been quick only because it had little work."""

FEW = 16
"""A search looks ahead if it has tested more than this many candidates for each match."""


class Stage(NamedTuple):
    """A search by steps of one size.

    Attributes:
      program: the program of the search.
      code: the same on the device.
      sizes: the static sizes of the search.
      most_steps: after how many steps the next stage takes over, or ``None`` for never. The next stage goes on if it
        has the same program, and else starts again.
    """

    program: Program
    code: jax.Array
    sizes: Sizes
    most_steps: int | None = None

    @property
    def static(self) -> dict[str, Any]:
        """Static arguments of :func:`start_state`. The number of tables is padded, so that searches share programs."""
        tables = power_of_four(self.program.tables, 16)
        return {"entries": table_entries(self.program.entries), "tables": tables, "sizes": self.sizes}

    def new_state(self, operands: Operands) -> SearchState:
        """Return a search that has not begun, where the operands lie; later states lie there too, to compile once."""
        (device,) = operands.offsets.devices()
        with jax.default_device(device):
            state = start_state(**self.static)
        return jax.device_put(state, device)


@dataclasses.dataclass(frozen=True, eq=False)
class ReadySearch:
    """A search that is ready to run, where its operands lie.

    Attributes:
      operands: the arrays that it reads.
      stages: sizes of steps to try, small ones first, so that small searches are not slowed by large ones.
      ahead: makes a last stage that looks ahead, and the operands it needs, from those at hand; it returns ``None``
        where there is nothing to look ahead to. ``None`` if look-ahead must not be used.
      prefixes: makes a stage that lists the partial matches of the first nodes, into the last of its tables.
    """

    operands: Operands
    stages: Sequence[Stage]
    ahead: Callable[[Operands], tuple[Operands, Stage] | None] | None = None
    prefixes: Callable[[], Stage] | None = None


class SearchProgress(NamedTuple):
    """The progress of a count, on the host.

    Attributes:
      count: the matches so far.
      positions: candidates tested.
      steps: steps taken.
      status: ``"running"``, ``"done"`` or what stopped the search.
      tally: at the end, the tally of a search that has one, uint64 ``[cells]`` modulo 2^64.
    """

    count: int
    positions: int
    steps: int
    status: str
    tally: np.ndarray | None = None


NOTHING = SearchProgress(0, 0, 0, "done")


class Driver:
    """The decisions of a :class:`Run`: what to dispatch, and when to end, here after all of a search.

    With ``once`` the run ends after the first match.

    A driver belongs to one run.
    """

    work = 0
    """Work after which the last dispatch had to end."""

    def __init__(self, once: bool = False):
        self._once = once

    def options(self) -> dict[str, Any]:
        """Return further arguments of :func:`jaxmotif.search._loop.advance` for the next dispatch."""
        return {"once": self._once}

    def send(
        self, operands: Operands, state: SearchState | None, stage: Stage, allowed: Allowance
    ) -> tuple[SearchState, jax.Array]:
        """Dispatch as much as is allowed, from the start where the state is ``None``.

        Args:
          operands: the search's arrays.
          state: the search so far.
          stage: the stage of the search.
          allowed: Python integers.

        Returns:
          The state, and the report on it.
        """
        self.work = allowed.work
        if state is None and allowed.stop_step == stage.most_steps:  # one dispatch makes the state and takes the steps
            return begin(operands, **stage.static, **self.options())
        limits = np.int32(allowed.stop_step), np.int64(allowed.work)
        return advance(operands, state or stage.new_state(operands), *limits, sizes=stage.sizes, **self.options())

    def end_reason(self, now: DeviceReport) -> str | None:
        """Return why there is nothing more to dispatch, ``"done"`` if all is searched, or ``None`` to go on."""
        if now.drained:
            return "done"
        return "found a match" if self._once and now.matches else None


class Run:
    """A search on the device where the operands lie, one slice at a time.

    The report that :meth:`dispatch` returns goes to :meth:`receive` once it is on the host.

    Args:
      search: what to run.
      driver: decides what to dispatch and when to end; by default the whole search is run.
      max_steps: stop after that many steps.
      part_of_first: the work of the first slice, whose pace is not known yet, as a part of the usual first work.
    """

    def __init__(
        self,
        search: ReadySearch,
        driver: Driver | None = None,
        max_steps: int | None = None,
        part_of_first: float = 1.0,
    ):
        self._operands, self._ahead, self._driver = search.operands, search.ahead, driver or Driver()
        self._last = MOST_STEPS if max_steps is None else max_steps
        (device,) = search.operands.offsets.devices()
        self._first = int(step_sizes(target_of(device)).first_work * part_of_first)
        self._stages = list(search.stages)
        self._start(self._stages.pop(0))

    def _start(self, stage: Stage) -> None:
        self._stage = stage
        self._state: SearchState | None = None
        self._operands = self._operands._replace(program=stage.code)
        self._steps, self._work, self._compile_seconds = 0, self._first, 0.0

    @property
    def table(self) -> jax.Array:
        """Entries of all tables as the last dispatch leaves them, until the next one overwrites them."""
        if self._state is None:
            raise ValueError("there are no tables before the first dispatch")
        return self._state.table

    @property
    def tally(self) -> np.ndarray | None:
        """Tally as the last dispatch leaves it, or ``None`` for a search without one."""
        return None if self._state is None or not self._stage.sizes.cells else np.asarray(self._state.tally)

    def dispatch(self) -> jax.Array:
        """Search on, and return the report that :meth:`receive` takes."""
        (device,) = self._operands.offsets.devices()
        allowed = Allowance(min(self._last, self._stage.most_steps or MOST_STEPS), self._work)
        state, self._state = self._state, None  # the dispatch overwrites it
        self._compile_seconds = compile_seconds()
        with jax.default_device(device):
            self._state, report = self._driver.send(self._operands, state, self._stage, allowed)
        self._compile_seconds = compile_seconds() - self._compile_seconds
        return report

    def receive(self, report: np.ndarray, seconds: float) -> SearchProgress | None:
        """Return the progress after a slice that took some seconds, or ``None`` if the search starts again."""
        now = DeviceReport.read(report, self._stage.sizes)
        self._steps = now.steps
        standing = SearchProgress(now.matches, now.positions, now.steps, "running")
        if (status := self._driver.end_reason(now)) is not None:
            return standing._replace(status=status)
        if self._steps >= self._last:
            return standing._replace(status=f"stopped at max_steps={self._last}")
        # The next slice should take about SLICE_SECONDS at the pace of the one that ended.
        pace = min(MOST_GROWTH, SLICE_SECONDS / max(seconds - self._compile_seconds, 1e-6))
        self._work = max(1, min(MOST_WORK, int(now.work * pace)))
        return standing if self._stage.most_steps is None else self._next_stage(standing)

    def _next_stage(self, standing: SearchProgress) -> SearchProgress | None:
        """Go over to the next stage, and return ``None`` if the search starts again."""
        last = self._stages.pop(0)
        # Many candidates for each match in the first steps mean that most are dead ends.
        look_ahead = None
        if self._ahead is not None and FEW * standing.count < standing.positions:
            look_ahead = self._ahead(self._operands)
        if look_ahead is not None:
            self._operands, last = look_ahead
        elif last.program is self._stage.program:  # it goes on in the same tables
            self._stage = last
            return standing
        elif 4 * self._steps < (self._stage.most_steps or 0):
            # Where few of the first steps were done, a step is so much work that larger ones gain nothing.
            self._stage = self._stage._replace(most_steps=None)
            return standing
        self._start(last)
        return None


def finish(run: Run, deadline: Deadline = NO_DEADLINE) -> Iterator[SearchProgress]:
    """Search to the end, or to a deadline.

    Yields:
      The progress after each slice; the last one is the result.
    """
    before = time.perf_counter()
    while True:
        values = jax.device_get(run.dispatch())
        now = time.perf_counter()
        standing = run.receive(values, now - before)
        before = now
        # The search starts again with another program or other tables, and what was counted is dropped.
        if standing is None:
            continue
        if standing.status == "running" and deadline.passed:
            standing = standing._replace(status=deadline.status)
        if standing.status not in ("running", "wants more"):
            yield standing._replace(tally=run.tally)
            return
        yield standing
        if standing.status != "running":
            return
