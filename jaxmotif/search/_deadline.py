"""The time that a call may take, as an object that is passed down to everything that may take long."""

from __future__ import annotations

import math
import numbers
import threading
import time

import jax

from jaxmotif.devices._select import on_worker

SLICE_SECONDS = 0.1
"""Seconds of work that a device gets at once. A stop may be noticed so late; asking takes well below a millisecond."""


class TimeIsUp(Exception):
    """Raised where a deadline has passed; its text says which limit stopped the work."""


class Deadline:
    """The moment when a call has to stop, counted from when the object is made.

    Args:
      limit: seconds that the call may take; ``None`` for as long as it needs.
      spent: seconds of the limit that have already passed; by default none, but on a worker of a cluster the seconds
        since the user made the call.

    Example:
      >>> Deadline(None).passed, Deadline(0.0).passed
      (False, True)
      >>> Deadline(0.5).status
      'stopped at time_limit=0.5 s'
    """

    def __init__(self, limit: float | None = None, spent: float | None = None):
        if limit is not None and not isinstance(limit, numbers.Real):
            raise TypeError(f"time_limit must be a number of seconds, got {limit!r}")
        if limit is not None and math.isnan(limit):
            raise ValueError("time_limit must be a number of seconds, got nan")
        self._limit = limit
        if spent is None:
            spent = 0.0 if (call := on_worker.get()) is None else call.spent
        self._ends = math.inf if limit is None else time.perf_counter() + limit - spent

    @property
    def left(self) -> float:
        """Seconds until the deadline, negative once it has passed; infinite without a limit."""
        return self._ends - time.perf_counter()

    @property
    def passed(self) -> bool:
        """True once the time is over."""
        return self._ends <= time.perf_counter()

    @property
    def status(self) -> str:
        """Status of a result that the deadline has cut short."""
        return "done" if self._limit is None else f"stopped at time_limit={self._limit:g} s"

    def check(self) -> None:
        """Raise :class:`TimeIsUp` if the time is over."""
        if self._ends <= time.perf_counter():
            raise TimeIsUp(self.status)

    def within(self, seconds: float) -> Deadline:
        """Return this deadline, or one that many seconds from now if that comes first."""
        return Deadline(min(self.left, seconds), spent=0.0)


NO_DEADLINE = Deadline()


class _Compiling(threading.local):
    """Seconds that a thread has spent on tracing and compiling."""

    seconds = 0.0


_compiling = _Compiling()


def _add_compilation(event: str, duration_secs: float, **_: object) -> None:
    if event.startswith("/jax/core/compile/"):
        _compiling.seconds += duration_secs


jax.monitoring.register_event_duration_secs_listener(_add_compilation)


def compile_seconds() -> float:
    """Return how long this thread has traced and compiled programs, in seconds.

    The difference of two calls is what was compiled between them, which no deadline can cut short.
    """
    return _compiling.seconds


def working_time() -> float:
    """Return the time of a clock that stands still while this thread compiles, in seconds."""
    return time.perf_counter() - _compiling.seconds
