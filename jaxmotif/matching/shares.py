"""Counting on given devices: on one at a stretch, on several in shares of the prefixes."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable

import jax
import numpy as np

from jaxmotif.devices.checkpoint import fingerprint
from jaxmotif.devices.job import Job, Unfinished, places, run_job
from jaxmotif.devices.ledger import Arrays, Store, added
from jaxmotif.devices.memory import with_smaller_steps
from jaxmotif.devices.select import Selection
from jaxmotif.devices.spans import Span
from jaxmotif.matching.parts import FedRun, Prefixes, list_prefixes
from jaxmotif.matching.plan import Plan
from jaxmotif.matching.run import FEW, NOTHING, Standing, finish, run_count

SHARES, PARTS = 2, 64
"""Parts of the search for each device; in all at least, where they are to end now and then: for checkpoints, or a
meter."""

HYBRID_PARTS = 1024
"""Parts of a search for GPUs and the CPU, which takes some hundred times as long for one as a GPU."""

FEW_STEPS = 48
"""A search that ends within so many steps is not divided."""

_LEAST_BLOCK = 2**6

Replan = Callable[[jax.Device, int | None], Plan]
"""The same search planned for a device, with a number of flat positions a step (``None``: a good one)."""


def count_at_a_stretch(
    plan: Plan,
    replan: Replan,
    device: jax.Device,
    max_steps: int | None,
    time_limit: float | None,
    report: Callable[[int], None],
) -> tuple[Standing, tuple[str, ...]]:
    """Search on one device; returns where it ended, and notes.

    Args:
      report: told how many more candidates were tested.
    """

    def attempt(plan: Plan) -> Standing:
        found, tested = NOTHING, 0
        for found in run_count(plan, max_steps, time_limit):
            report(found.positions - tested)
            tested = found.positions
        return found

    return with_smaller_steps(attempt, plan, lambda plan: _halved(plan, replan, device), device)


def _halved(plan: Plan, replan: Replan, device: jax.Device) -> tuple[Plan, str] | None:
    block = max(stage.sizes.block for stage in plan.stages) // 2
    return None if block < _LEAST_BLOCK else (replan(device, block), f"steps of {block}")


def count_in_shares(
    plan: Plan,
    replan: Replan,
    selection: Selection,
    time_limit: float | None = None,
    store: Store | None = None,
    show: bool = False,
) -> tuple[Standing, tuple[str, ...]]:
    """Search on several devices, or with checkpoints: shares of the prefixes, taken by whoever is free.

    Returns:
      Where it ended (the sums over all shares), and notes.
    """
    if plan.operands is None:
        return NOTHING, ()
    found, notes = count_at_a_stretch(plan, replan, selection.main, FEW_STEPS, time_limit, lambda _: None)
    if found.status == "done" and store is None:
        return found, notes
    looks = FEW * found.count < found.positions
    plan = _settled(plan, looks)
    prefixes = list_prefixes(plan, hardest_first=selection.helper is not None)
    if len(prefixes.work) == 0:
        return NOTHING, notes
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(prefixes.work)])
    if store is not None:  # stretches of this row mean nothing in another
        store = store._replace(fingerprint=fingerprint(store.fingerprint, prefixes.listed()))
    ends = None if time_limit is None else time.perf_counter() + time_limit

    @functools.cache
    def plan_on(device: jax.Device) -> Plan:
        if device.platform != selection.main.platform:
            return _settled(replan(device, None), looks)
        (stage,) = plan.stages
        operands, code = jax.device_put((plan.operands, stage.code), device)
        return dataclasses.replace(plan, operands=operands, stages=[stage._replace(code=code)])

    def settled_replan(device: jax.Device, block: int | None) -> Plan:
        return _settled(replan(device, block), looks)

    parts = SHARES * len(selection.devices)
    parts = parts if store is None and not show else max(parts, PARTS)
    parts = parts if selection.helper is None else max(parts, HYBRID_PARTS)
    # Rows to keep for full steps; where others could take a part, few, or whoever is first takes all.
    alone = len(selection.devices) == 1 and selection.helper is None
    keep = int(starts[-1]) // (1 if alone else 8 * parts)

    def make(device: jax.Device) -> _Hand:
        return _Hand(plan_on(device), prefixes, keep, settled_replan, device, ends)

    def mean_work(span: Span) -> float:
        return float(starts[span.stop] - starts[span.first]) / (span.stop - span.first)

    difficulty = None if selection.helper is None else mean_work
    job = Job("matching", starts, parts, added, "candidates", "search", difficulty, shrinking=store is None)
    done = run_job(job, make, places(selection), selection, store, show)
    found = _standing(done.found, "done" if done.finished else f"stopped at time_limit={time_limit:g} s")
    return found, done.notes


def _settled(plan: Plan, looks: bool) -> Plan:
    """With its last stage alone, which looks ahead if it may and ``looks``."""
    stage, operands = plan.stages[-1], plan.operands
    if looks and plan.ahead is not None and operands is not None:
        operands, stage = plan.ahead(operands) or (operands, stage)
    return dataclasses.replace(plan, operands=operands, stages=[stage], ahead=None)


class _Hand:
    """Searches shares on a device, one run for all since they were last collected."""

    def __init__(
        self, plan: Plan, prefixes: Prefixes, keep: int, replan: Replan, device: jax.Device, ends: float | None
    ):
        self._plan, self._prefixes, self._keep, self._replan = plan, prefixes, keep, replan
        self._device, self._ends = device, ends
        self._run: FedRun | None = None
        self._found = NOTHING

    def step(self, span: Span) -> None:
        run = self._run
        if run is None:
            run, self._found = FedRun(self._plan, self._prefixes, self._keep), NOTHING
            self._run = run
        for first in range(span.first, span.stop, run.most):
            if self._ends is not None and time.perf_counter() >= self._ends:
                self._run = None
                raise Unfinished(_arrays(self._found))
            run.feed(first, min(first + run.most, span.stop))
            self._search(run)

    def collect(self) -> Arrays:
        if self._run is None:
            raise RuntimeError("a step failed, and took with it what those before it gave")
        if self._found.status != "done":
            self._run.finish()
            self._search(self._run)
        self._run = None
        return _arrays(self._found)

    def _search(self, run: FedRun) -> None:
        left = None if self._ends is None else self._ends - time.perf_counter()
        try:
            *_, self._found = finish(run, left)
        except BaseException:
            self._run = None
            raise
        if self._found.status not in ("done", "wants more"):
            self._run = None
            raise Unfinished(_arrays(self._found))

    def halve(self) -> str | None:
        smaller = _halved(self._plan, self._replan, self._device)
        if smaller is None:
            return None
        self._plan, change = smaller
        return change


def _arrays(standing: Standing) -> Arrays:
    """Sums fit: the count is in two parts."""
    low, high = standing.count & 0xFFFFFFFF, standing.count >> 32
    numbers = {"low": low, "high": high, "positions": standing.positions, "steps": standing.steps}
    return {name: np.asarray(number, np.int64) for name, number in numbers.items()}


def _standing(found: Arrays, status: str) -> Standing:
    sums = {name: int(array) for name, array in found.items()}
    return Standing(sums["low"] + (sums["high"] << 32), sums["positions"], sums["steps"], status)
