"""Running a search: in dispatches of limited length, so that limits and interrupts are noticed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import jax
import numpy as np

from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.search._deadline import NO_DEADLINE, SLICE_SECONDS, Deadline, compile_seconds, working_time
from jaxmotif.search._layout import Operands, Sizes
from jaxmotif.search._loop import MOST_WORK, Allowance, DeviceReport, SearchState, advance, begin, start_state
from jaxmotif.search._program import Program
from jaxmotif.search._sizes import step_sizes, table_entries

MOST_STEPS = 2**31 - 1
"""Steps of a search without a limit of its own."""

MOST_GROWTH = 8.0
"""A slice may have been quick for want of work: the next one has at most that many times as much."""

FEW = 16
"""A search that tests so many candidates for each match is better off looking ahead."""


class Stage(NamedTuple):
    """A search by steps of one size: its program, the same on the device, its static sizes, and after how many steps to
    go over to the next stage (``None``: never), which goes on if it has the same program and else starts again."""

    program: Program
    code: jax.Array
    sizes: Sizes
    most_steps: int | None = None

    @property
    def entries(self) -> int:
        """Of its tables."""
        return table_entries(self.program.entries)

    @property
    def tables(self) -> int:
        """That a state has room for: one of few, so that searches share compilations."""
        return power_of_four(self.program.tables, 16)

    def new_state(self, operands: Operands) -> SearchState:
        """A search that has not begun, made where the operands lie, as later states are: all share a compilation."""
        (device,) = operands.offsets.devices()
        with jax.default_device(device):
            state = start_state(entries=self.entries, tables=self.tables, sizes=self.sizes)
        return jax.device_put(state, device)


@dataclasses.dataclass(frozen=True, eq=False)
class ReadySearch:
    """A search ready to run, where its operands lie.

    Attributes:
      operands: what it reads.
      stages: sizes of steps to try, small ones first, so that small searches are not slowed by large ones.
      ahead: makes a last stage that looks ahead, and the operands it needs, of those at hand (``None``: there is
        nothing to look ahead to); ``None`` if it must not be used.
      prefixes: makes a stage that lists the partial matches of the first nodes, into the last of its tables.
    """

    operands: Operands
    stages: Sequence[Stage]
    ahead: Callable[[Operands], tuple[Operands, Stage] | None] | None = None
    prefixes: Callable[[], Stage] | None = None


class SearchProgress(NamedTuple):
    """Where a count stands (host): matches, candidates tested, steps; ``"running"``, ``"done"`` or what stopped it; and
    at the end the tally, uint64 ``[cells]`` modulo 2^64, of a search that has one."""

    count: int
    positions: int
    steps: int
    status: str
    tally: np.ndarray | None = None


RUNNING, NOTHING = SearchProgress(0, 0, 0, "running"), SearchProgress(0, 0, 0, "done")


class Driver(Protocol):
    """How a :class:`Run` does a dispatch, and when it has come to an end. A driver belongs to one run."""

    def send(
        self, operands: Operands, state: SearchState | None, stage: Stage, allowed: Allowance
    ) -> tuple[SearchState, jax.Array]:
        """Dispatch as much as is allowed, from the start if there is no state. Return the state, and the report on it.

        Args:
          allowed: Python integers.
        """
        ...

    def ended(self, now: DeviceReport) -> str | None:
        """Why there is nothing more to dispatch, in words, or ``None``; ``"done"`` if all is searched."""
        ...


class Whole:
    """All at one go; or, with ``once``, until there is a match."""

    def __init__(self, once: bool = False):
        self._once = once

    def send(
        self, operands: Operands, state: SearchState | None, stage: Stage, allowed: Allowance
    ) -> tuple[SearchState, jax.Array]:
        if state is None and allowed.stop_step == stage.most_steps:  # as its program says: one dispatch for both
            return begin(operands, entries=stage.entries, tables=stage.tables, sizes=stage.sizes, once=self._once)
        state = state or stage.new_state(operands)
        limits = np.int32(allowed.stop_step), None, np.int64(allowed.work)
        return advance(operands, state, *limits, sizes=stage.sizes, once=self._once)

    def ended(self, now: DeviceReport) -> str | None:
        found = "found a match" if self._once and now.matches else None
        return "done" if now.drained else found


class Run:
    """A search on the device where the operands lie, a slice at a time: what :meth:`dispatch` returns goes, once on
    the host, to :meth:`receive`.

    Args:
      search: what to run.
      driver: how; by default the whole search.
      max_steps: stop after that many steps.
      part_of_first: the first slice, whose pace is not known yet, has this part of the usual first work.
    """

    def __init__(
        self,
        search: ReadySearch,
        driver: Driver | None = None,
        max_steps: int | None = None,
        part_of_first: float = 1.0,
    ):
        self._operands, self._ahead, self._driver = search.operands, search.ahead, driver or Whole()
        self._last = MOST_STEPS if max_steps is None else max_steps
        (device,) = search.operands.offsets.devices()
        self._first = int(step_sizes(target_of(device)).first_work * part_of_first)
        self._state: SearchState | None
        self._stages = list(search.stages)
        self._start(self._stages.pop(0))

    def _start(self, stage: Stage) -> None:
        self._stage, self._state = stage, None
        self._operands = self._operands._replace(program=stage.code)
        self._steps, self._work, self._compiled = 0, self._first, 0.0

    @property
    def entries(self) -> int:
        """Entries of the tables that the next dispatch works on."""
        return self._stage.entries

    @property
    def table(self) -> jax.Array:
        """The tables as the last dispatch leaves them, until the next one takes them."""
        if self._state is None:
            raise ValueError("there are no tables before the first dispatch")
        return self._state.table

    @property
    def tally(self) -> np.ndarray | None:
        """As the last dispatch leaves it, if there is one."""
        return None if self._state is None or not self._stage.sizes.cells else np.asarray(self._state.tally)

    def release(self) -> None:
        """It is at an end: its memory is free for other searches."""
        self._state = None

    def dispatch(self) -> jax.Array:
        """Search on; return what :meth:`receive` asks for."""
        (device,) = self._operands.offsets.devices()
        allowed = Allowance(min(self._last, self._stage.most_steps or MOST_STEPS), self._work)
        state, self._state = self._state, None  # it is given away
        self._compiled = compile_seconds()
        with jax.default_device(device):
            self._state, report = self._driver.send(self._operands, state, self._stage, allowed)
        self._compiled = compile_seconds() - self._compiled
        return report

    def receive(self, report: np.ndarray, seconds: float) -> SearchProgress | None:
        """Return where the search stands after a slice that took some seconds; ``None`` if it starts again."""
        now = DeviceReport.read(report, self._stage.sizes)
        self._steps = now.steps
        standing = SearchProgress(now.matches, now.positions, now.steps, "running")
        if (status := self._driver.ended(now)) is not None:
            return standing._replace(status=status)
        if self._steps >= self._last:
            return standing._replace(status=f"stopped at max_steps={self._last}")
        # By the pace of the slice that ended, so that the next takes about the time that it should.
        pace = min(MOST_GROWTH, SLICE_SECONDS / max(seconds - self._compiled, 1e-6))
        self._work = max(1, min(MOST_WORK, int(now.work * pace)))
        return standing if self._stage.most_steps is None else self._next_stage(standing)

    def _next_stage(self, standing: SearchProgress) -> SearchProgress | None:
        last, looking = self._stages.pop(0), None
        # What the first steps found decides: many candidates for each match are mostly dead ends.
        if self._ahead is not None and FEW * standing.count < standing.positions:
            looking = self._ahead(self._operands)
        if looking is None and last.program is self._stage.program:  # larger steps in the same tables: it goes on
            self._stage = last
            return standing
        if looking is None and 4 * self._steps < (self._stage.most_steps or 0):
            # Steps of so much work that few of the first ones were done gain nothing from being larger.
            self._stage = self._stage._replace(most_steps=None)
            return standing
        if looking is not None:
            self._operands, last = looking
        self._start(last)
        return None


def finish(run: Run, deadline: Deadline = NO_DEADLINE) -> Iterator[SearchProgress]:
    """Search to the end, or to a deadline; the last standing is the result."""
    before = time.perf_counter()
    while True:
        values = jax.device_get(run.dispatch())
        now = time.perf_counter()
        standing = run.receive(values, now - before)
        before = now
        # It starts again with another program or other tables: what has been counted is dropped.
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


def run_searches(
    searches: Sequence[ReadySearch | None], memory: int, time_limit: float | None, planned: Sequence[float]
) -> list[tuple[SearchProgress, float]]:
    """Run several searches on one device, the first slices of some of them together.

    Args:
      searches: ``None`` where there is nothing to search.
      memory: bytes that the tables of searches that run together take at most.
      time_limit: seconds that each may take; planned: those of them that each has already taken.

    Returns:
      For each search where it ended, and its seconds.
    """
    results = [(NOTHING, 0.0)] * len(searches)
    # From the end, so that pop takes them in their order.
    todo = [(i, Run(search)) for i, search in enumerate(searches) if search is not None][::-1]
    while todo:
        some, entries = [todo.pop()], 0
        # Dispatches are sent without waiting: all their tables are in memory at the same time.
        while todo and 4 * (entries + some[-1][1].entries + todo[-1][1].entries) <= memory:
            entries += some[-1][1].entries
            some.append(todo.pop())
        clock = working_time()
        values = jax.device_get([run.dispatch() for _, run in some])
        taken = working_time() - clock
        for (i, run), value in zip(some, values, strict=True):
            standing = run.receive(value, taken) or RUNNING
            # They ran together: each is said to have taken an equal share.
            spent = taken / len(some)
            if standing.status == "running":
                clock = working_time()
                # The rest one after another, each with all of the device.
                *_, standing = finish(run, Deadline(time_limit, planned[i] + spent))
                spent += working_time() - clock
            run.release()
            results[i] = standing, spent
    return results
