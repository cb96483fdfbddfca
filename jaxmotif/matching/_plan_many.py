"""Plans side by side: while the device works for one, the host prepares the next, and values come back together.

A plan in the making is a generator. It sends work to the device, which JAX does not wait for, and yields
``(phase, arrays)`` where it needs values on the host; it is sent them, and returns its result.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import jax

from jaxmotif.search import working_time

Planning = Generator[tuple[str, Any], Any, Any]

LAST_PHASE = "plan"
"""What a plan does after its last values."""


def plan_many(jobs: Sequence[Planning]) -> list[tuple[Any, dict[str, float]]]:
    """Run plannings to their ends, all of them up to their next values before these are fetched.

    Returns:
      For each its result, and seconds by phase: its own on the host, and an equal share of the waiting.
    """
    results: list[tuple[Any, dict[str, float]]] = [(None, {}) for _ in jobs]
    values: list[Any] = [None] * len(jobs)
    live = list(range(len(jobs)))
    while live:
        asked: dict[int, tuple[str, Any]] = {}
        for i in live:
            clock = working_time()
            phase = LAST_PHASE
            try:
                # Sends its work to the device and comes back at once: JAX does not wait.
                asked[i] = jobs[i].send(values[i])
                phase = asked[i][0]
            except StopIteration as stop:
                results[i] = stop.value, results[i][1]
            _add(results[i][1], phase, working_time() - clock)
        live = list(asked)
        clock = working_time()
        wanted = [arrays for _, arrays in asked.values()]
        # The one wait of a round, for all of them.
        for i, value in zip(live, jax.device_get(wanted) if on_device(wanted) else wanted, strict=True):
            values[i] = value
        for i in live:
            _add(results[i][1], asked[i][0], (working_time() - clock) / len(live))
    return results


def on_device(values: Any) -> bool:
    """Whether there is something to wait for; :func:`jax.device_get` of arrays that NumPy has takes as long as a small
    phase."""
    return any(map(on_device, values)) if isinstance(values, list | tuple) else isinstance(values, jax.Array)


def _add(seconds: dict[str, float], phase: str, more: float) -> None:
    seconds[phase] = seconds.get(phase, 0.0) + more
