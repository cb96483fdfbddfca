"""Running a planned count: in dispatches of limited length, on one device or several."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmotif.kernels import lanes
from jaxmotif.kernels.choice import Backend, kernel_backend, power_of_four
from jaxmotif.kernels.extend import LANES
from jaxmotif.kernels.lanes import Operands
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.matching.plan import Plan, Stage, table_entries
from jaxmotif.search import Program, Progress, SearchState, advance, begin, start_state

STEPS_AT_FIRST, SECONDS_AT_A_TIME = 256, 0.25
"""Steps of the first dispatch; later ones are to take about so long, so that limits and interrupts are noticed."""

FEW = 16
"""A search that tests so many candidates for each match is better off looking ahead."""


class Standing(NamedTuple):
    """Where a count stands (host): matches, candidates tested, steps; ``"running"``, ``"done"`` or what stopped it."""

    count: int
    positions: int
    steps: int
    status: str


RUNNING, NOTHING = Standing(0, 0, 0, "running"), Standing(0, 0, 0, "done")


class Run:
    """A search on the device where the operands lie, a dispatch at a time: what :meth:`dispatch` returns goes, once on
    the host, to :meth:`receive`."""

    def __init__(self, plan: Plan, max_steps: int | None = None):
        self._operands, self._ahead = plan.ready, plan.ahead
        self._last = 2**31 - 1 if max_steps is None else max_steps
        self._state: SearchState | None
        self._stages = list(plan.stages)
        self._start(self._stages.pop(0))

    def _start(self, stage: Stage) -> None:
        self._stage, self._state = stage, None
        self._operands = self._operands._replace(program=stage.code)
        self._steps, self._quota = 0, stage.most_steps or STEPS_AT_FIRST

    @property
    def entries(self) -> int:
        """Of the tables of the next dispatch."""
        return table_entries(self._stage.program.entries)

    @property
    def _size(self) -> dict[str, Any]:
        sizes, (device,) = self._stage.sizes, self._operands.offsets.devices()
        whole = sizes.block % LANES == sizes.window % LANES == 0
        backend = kernel_backend(device) if whole else "xla"
        tables = power_of_four(self._stage.program.tables, 16)
        return {"entries": self.entries, "tables": tables, "backend": backend}

    def _begun(self) -> SearchState:
        return blank_state(self._operands, **self._size) if self._state is None else self._state

    def dispatch(self) -> jax.Array:
        """Search on; returns what :meth:`receive` asks for."""
        (device,) = self._operands.offsets.devices()
        with wide_ints(), jax.default_device(device):
            self._state, report = self._advanced(self._steps + self._quota)
            return report

    def _advanced(self, stop: int) -> tuple[SearchState, jax.Array]:
        stage, size = self._stage, self._size
        if stop == stage.most_steps and stop <= self._last:
            return begin(self._operands, sizes=stage.sizes, **size)
        last = np.int32(min(self._last, stop))
        return advance(self._operands, self._begun(), last, sizes=stage.sizes, backend=size["backend"])

    def receive(self, report: np.ndarray, seconds: float) -> Standing | None:
        """Where the search stands after a dispatch that took some seconds; ``None`` if it starts again."""
        now = Progress.read(report)
        self._steps = now.steps
        standing = Standing(now.matches, now.positions, now.steps, "running")
        if (status := self._ended(now)) is not None:
            return standing._replace(status=status)
        if self._steps >= self._last:
            return standing._replace(status=f"stopped at max_steps={self._last}")
        if self._stage.most_steps is not None:
            last, looking = self._stages.pop(0), None
            if self._ahead is not None and FEW * standing.count < standing.positions:
                looking = self._ahead(self._operands)
            if looking is None and last.program is self._stage.program:
                self._stage, self._quota = last, STEPS_AT_FIRST
                return standing
            if looking is not None:
                self._operands, last = looking
            self._start(last)
            return None
        self._quota = max(1, min(2**24, int(self._quota * min(8.0, SECONDS_AT_A_TIME / max(seconds, 1e-6)))))
        return standing

    def _ended(self, now: Progress) -> str | None:
        if now.drained:
            self._state = None
            return "done"
        return None


def run_count(plan: Plan, max_steps: int | None = None, time_limit: float | None = None) -> Iterator[Standing]:
    """Search where the plan's arrays lie; the last standing is the result."""
    if plan.operands is None:
        yield NOTHING
        return
    yield from finish(Run(plan, max_steps), time_limit)


def run_counts(plans: Sequence[Plan], time_limit: float | None, memory: int) -> list[tuple[Standing, float]]:
    """Search for several plans on one device: the first dispatches together, as many as have tables of ``memory``
    bytes at most, then what is not done one after another. Returns for each where it ended, and its seconds."""
    results = [(NOTHING, 0.0)] * len(plans)
    todo = [(i, Run(plan)) for i, plan in enumerate(plans) if plan.operands is not None][::-1]
    while todo:
        some, entries = [todo.pop()], 0
        while todo and 4 * (entries + some[-1][1].entries + todo[-1][1].entries) <= memory:
            entries += some[-1][1].entries
            some.append(todo.pop())
        clock = time.perf_counter()
        values = jax.device_get([run.dispatch() for _, run in some])
        taken = time.perf_counter() - clock
        for (i, run), value in zip(some, values, strict=True):
            standing = run.receive(value, taken) or RUNNING
            spent = taken / len(some)
            if standing.status == "running":
                clock = time.perf_counter()
                *_, standing = finish(run, time_limit, spent)
                spent += time.perf_counter() - clock
            results[i] = standing, spent
    return results


def finish(run: Run, time_limit: float | None, spent: float = 0.0) -> Iterator[Standing]:
    """Search to the end, or to a limit in seconds of which some are spent; the last standing is the result."""
    before = time.perf_counter()
    started = before - spent
    while True:
        values = jax.device_get(run.dispatch())
        now = time.perf_counter()
        standing = run.receive(values, now - before)
        before = now
        if standing is None:
            continue
        if standing.status == "running" and time_limit is not None and now - started >= time_limit:
            standing = standing._replace(status=f"stopped at time_limit={time_limit:g} s")
        yield standing
        if standing.status != "running":
            return


def blank_state(operands: Operands, entries: int, tables: int, backend: Backend) -> SearchState:
    """A search that has not begun, made where the operands lie, as later states are: all share a compilation."""
    (device,) = operands.offsets.devices()
    with jax.default_device(device):
        return jax.device_put(start_state(entries=entries, tables=tables, backend=backend), device)


def table_after(program: Program, level: int) -> tuple[int, int]:
    """Where the table after ``level`` steps begins, and how many rows it has room for."""
    head = lanes.level(level - 1)
    return int(program.code[head + lanes.NEXT_BASE]), int(program.code[head + lanes.NEXT_ROOM])
