"""Runs of a search, in dispatches of limited length, so that limits and interrupts are noticed."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import jax
import numpy as np

from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.search._layout import Operands, Sizes
from jaxmotif.search._loop import Progress, SearchState, advance, begin, start_state
from jaxmotif.search._program import Program
from jaxmotif.search._sizes import table_entries

STEPS_AT_FIRST, SECONDS_AT_A_TIME = 256, 0.25
"""Steps of the first dispatch, and about how many seconds later ones take."""

MOST_STEPS = 2**24
"""Most steps of a dispatch, however short they are."""

FEW = 16
"""Candidates tested for each match above which a search looks ahead."""


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
    def entries(self) -> int:
        """Number of entries of all tables."""
        return table_entries(self.program.entries)

    @property
    def tables(self) -> int:
        """Number of tables that a state has room for: one of a few, so that searches share compilations."""
        return power_of_four(self.program.tables, 16)

    def new_state(self, operands: Operands) -> SearchState:
        """Return a search that has not begun, where the operands lie, as later states do: all share a compilation."""
        (device,) = operands.offsets.devices()
        with jax.default_device(device):
            state = start_state(entries=self.entries, tables=self.tables, sizes=self.sizes)
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


class Standing(NamedTuple):
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


RUNNING, NOTHING = Standing(0, 0, 0, "running"), Standing(0, 0, 0, "done")


class Driver(Protocol):
    """The dispatches of a :class:`Run`, and when they end. A driver belongs to one run."""

    def send(
        self, operands: Operands, state: SearchState | None, stage: Stage, stop: int
    ) -> tuple[SearchState, jax.Array]:
        """Dispatch work up to step ``stop``, from the start where the state is ``None``.

        Returns:
          The state, and the report on it.
        """
        ...

    def end_reason(self, now: Progress) -> str | None:
        """Return why there is nothing more to dispatch, ``"done"`` if all is searched, or ``None`` to go on."""
        ...


class Whole:
    """The driver of a search that runs at one go, with ``once`` until there is a match."""

    def __init__(self, once: bool = False):
        self._once = once

    def send(
        self, operands: Operands, state: SearchState | None, stage: Stage, stop: int
    ) -> tuple[SearchState, jax.Array]:
        if state is None and stop == stage.most_steps:  # one dispatch makes the state and takes the program's steps
            return begin(operands, entries=stage.entries, tables=stage.tables, sizes=stage.sizes, once=self._once)
        state = state or stage.new_state(operands)
        return advance(operands, state, np.int32(stop), sizes=stage.sizes, once=self._once)

    def end_reason(self, now: Progress) -> str | None:
        if now.drained:
            return "done"
        return "found a match" if self._once and now.matches else None


class Run:
    """A search on the device where the operands lie, one dispatch at a time.

    The report that :meth:`dispatch` returns goes to :meth:`receive` once it is on the host.
    """

    def __init__(
        self,
        search: ReadySearch,
        driver: Driver | None = None,
        max_steps: int | None = None,
        first: int = STEPS_AT_FIRST,
    ):
        self._operands, self._ahead, self._driver = search.operands, search.ahead, driver or Whole()
        self._last, self._first = 2**31 - 1 if max_steps is None else max_steps, first
        self._state: SearchState | None
        self._stages = list(search.stages)
        self._start(self._stages.pop(0))

    def _start(self, stage: Stage) -> None:
        self._stage, self._state = stage, None
        self._operands = self._operands._replace(program=stage.code)
        # A stage with a limit of steps takes them in one dispatch.
        self._steps, self._quota = 0, stage.most_steps or self._first

    @property
    def entries(self) -> int:
        """Number of entries of the tables that the next dispatch works on."""
        return self._stage.entries

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

    def release(self) -> None:
        """Free the memory of the tables for other searches, at the end of the run."""
        self._state = None

    def dispatch(self) -> jax.Array:
        """Search on, and return the report that :meth:`receive` takes."""
        (device,) = self._operands.offsets.devices()
        stop = min(self._last, self._steps + self._quota)
        state, self._state = self._state, None  # the dispatch overwrites it
        with jax.default_device(device):
            self._state, report = self._driver.send(self._operands, state, self._stage, stop)
        return report

    def receive(self, report: np.ndarray, seconds: float) -> Standing | None:
        """Return the progress after a dispatch that took some seconds, or ``None`` if the search starts again."""
        now = Progress.read(report, self._stage.sizes)
        self._steps = now.steps
        standing = Standing(now.matches, now.positions, now.steps, "running")
        if (status := self._driver.end_reason(now)) is not None:
            return standing._replace(status=status)
        if self._steps >= self._last:
            return standing._replace(status=f"stopped at max_steps={self._last}")
        if self._stage.most_steps is not None:
            return self._next_stage(standing)
        # The next dispatch should take about SECONDS_AT_A_TIME. It takes at most eight times as many steps, as this one
        # may have been quick for want of work.
        pace = min(8.0, SECONDS_AT_A_TIME / max(seconds, 1e-6))
        self._quota = max(1, min(MOST_STEPS, int(self._quota * pace)))
        return standing

    def _next_stage(self, standing: Standing) -> Standing | None:
        """Go over to the next stage, and return ``None`` if the search starts again."""
        last, look_ahead = self._stages.pop(0), None
        # Many candidates for each match in the first steps mean that most are dead ends.
        if self._ahead is not None and FEW * standing.count < standing.positions:
            look_ahead = self._ahead(self._operands)
        if look_ahead is None and last.program is self._stage.program:  # it goes on in the same tables
            self._stage, self._quota = last, self._first
            return standing
        if look_ahead is not None:
            self._operands, last = look_ahead
        self._start(last)
        return None


def finish(run: Run, time_limit: float | None = None, spent: float = 0.0) -> Iterator[Standing]:
    """Search to the end, or to a limit in seconds.

    Args:
      run: the search.
      time_limit: the limit.
      spent: seconds of the limit that are spent already.

    Yields:
      The progress after each dispatch; the last one is the result.
    """
    before = time.perf_counter()
    started = before - spent
    while True:
        values = jax.device_get(run.dispatch())
        now = time.perf_counter()
        standing = run.receive(values, now - before)
        before = now
        # The search starts again with another program or other tables, and what was counted is dropped.
        if standing is None:
            continue
        if standing.status == "running" and time_limit is not None and now - started >= time_limit:
            standing = standing._replace(status=f"stopped at time_limit={time_limit:g} s")
        if standing.status not in ("running", "wants more"):
            yield standing._replace(tally=run.tally)
            return
        yield standing
        if standing.status != "running":
            return


def run_searches(
    searches: Sequence[ReadySearch | None], time_limit: float | None, memory: int
) -> list[tuple[Standing, float]]:
    """Run several searches on one device.

    The first dispatches run together, as many as have tables of ``memory`` bytes at most. Searches that are not done
    then go on one after another.

    Args:
      searches: the searches; ``None`` where there is nothing to search.
      time_limit: seconds for each search.
      memory: bytes for the tables of all searches that run together.

    Returns:
      The result of each search, and the seconds that it took.
    """
    results = [(NOTHING, 0.0)] * len(searches)
    # The list is reversed, so that `pop` takes the searches in their order.
    todo = [(i, Run(search)) for i, search in enumerate(searches) if search is not None][::-1]
    while todo:
        some, entries = [todo.pop()], 0
        # The host does not wait between dispatches, so their tables are in memory at the same time.
        while todo and 4 * (entries + some[-1][1].entries + todo[-1][1].entries) <= memory:
            entries += some[-1][1].entries
            some.append(todo.pop())
        clock = time.perf_counter()
        values = jax.device_get([run.dispatch() for _, run in some])
        seconds = time.perf_counter() - clock
        for (i, run), value in zip(some, values, strict=True):
            standing = run.receive(value, seconds) or RUNNING
            # The searches ran together, and each is said to have taken an equal share of the time.
            spent = seconds / len(some)
            if standing.status == "running":
                clock = time.perf_counter()
                # The rest runs one search after another, each with all of the device.
                *_, standing = finish(run, time_limit, spent)
                spent += time.perf_counter() - clock
            run.release()
            results[i] = standing, spent
    return results
