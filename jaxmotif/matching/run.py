"""Running a planned count: in dispatches of limited length, on one device or several."""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.devices.queue import Unit, Worker, run_queue
from jaxmotif.kernels.choice import kernel_backend
from jaxmotif.kernels.extend import LANES
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.matching.conditions import power_of_four
from jaxmotif.matching.plan import Plan
from jaxmotif.search import advance, start_state

STEPS_AT_FIRST, SECONDS_AT_A_TIME = 256, 0.25
"""Steps of the first dispatch; later ones are to take about so long, so that limits and interrupts are noticed."""

SHARES = 16
"""Parts of the search for each of several devices; whichever runs dry takes the next."""


class Standing(NamedTuple):
    """Where a count stands (host): matches, candidates tested, steps; ``"running"``, ``"done"`` or what stopped it."""

    count: int
    positions: int
    steps: int
    status: str


def run_count(plan: Plan, max_steps: int | None = None, time_limit: float | None = None) -> Iterator[Standing]:
    """Search where the plan's arrays lie; the last standing is the result."""
    if plan.operands is None:
        return
    (device,) = plan.operands.offsets.devices()
    last = 2**31 - 1 if max_steps is None else max_steps
    started = time.perf_counter()
    with wide_ints(), jax.default_device(device):
        for stage in plan.stages:
            op = plan.operands._replace(program=stage.code)
            whole = stage.sizes.block % LANES == stage.sizes.window % LANES == 0
            backend = kernel_backend(device) if whole else "xla"
            state = start_state(
                entries=table_entries(stage.program.entries), tables=power_of_four(stage.program.tables, 16),
                backend=backend,
            )  # fmt: skip
            steps, quota = 0, stage.most_steps or STEPS_AT_FIRST
            while True:
                before = time.perf_counter()
                state = advance(op, state, np.int32(min(last, steps + quota)), sizes=stage.sizes, backend=backend)
                rows, (low, high), positions, steps = jax.device_get(
                    (state.rows, state.matches, state.positions, state.steps)
                )
                now, steps, status = time.perf_counter(), int(steps), "running"
                if not (rows[1] < rows[0])[:-1].any():
                    status = "done"
                elif steps >= last:
                    status = f"stopped at max_steps={last}"
                elif time_limit is not None and now - started >= time_limit:
                    status = f"stopped at time_limit={time_limit:g} s"
                elif stage.most_steps is not None:
                    break
                yield Standing(int(low) + (int(high) << 32), int(positions), steps, status)
                if status != "running":
                    return
                quota = max(1, min(2**24, int(quota * min(8.0, SECONDS_AT_A_TIME / max(now - before, 1e-6)))))


def run_count_on(
    plan: Plan, devices: Sequence[jax.Device], time_limit: float | None, report: Callable[[int], None]
) -> Standing:
    """Search on several devices: the first node's candidates are cut into shares, taken by whoever is free.

    Args:
      report: told how many more candidates were tested, from any thread.
    """
    if plan.operands is None:
        return Standing(0, 0, 0, "done")
    first, stop = np.asarray(plan.operands.offsets[plan.roots : plan.roots + 2]).tolist()
    cuts = np.linspace(first, stop, min(stop - first, SHARES * len(devices)) + 1).astype(int).tolist()
    units = [Unit(bounds, bounds[1] - bounds[0]) for bounds in itertools.pairwise(cuts)]
    lock, standings = threading.Lock(), []
    ends = None if time_limit is None else time.perf_counter() + time_limit

    def worker(device: jax.Device) -> Worker:
        operands, stages = jax.device_put((plan.operands, [stage.code for stage in plan.stages]), device)
        local = [stage._replace(code=code) for stage, code in zip(plan.stages, stages, strict=True)]

        def share(bounds: tuple[int, int]) -> None:
            offsets = operands.offsets.at[plan.roots].set(bounds[0]).at[plan.roots + 1].set(bounds[1])
            part = dataclasses.replace(plan, operands=operands._replace(offsets=offsets), stages=local)
            tested, standing = 0, Standing(0, 0, 0, "stopped")
            left = None if ends is None else ends - time.perf_counter()
            for standing in () if left is not None and left <= 0 else run_count(part, None, left):
                report(standing.positions - tested)
                tested = standing.positions
            with lock:
                standings.append(standing)

        return Worker(share)

    run_queue(units, [worker(device) for device in devices])
    stopped = [standing for standing in standings if standing.status != "done"]
    return Standing(
        sum(standing.count for standing in standings), sum(standing.positions for standing in standings),
        sum(standing.steps for standing in standings),
        f"stopped at time_limit={time_limit:g} s" if stopped else "done",
    )  # fmt: skip


def table_entries(entries: int) -> int:
    """The size of the tables' array: one of few, so that searches share compilations."""
    return min(power_of_four(entries, 2**16), 2**31 - 2)
