"""A clock for the phases of a call."""

from __future__ import annotations

from jaxmotif.search._deadline import compile_seconds, working_time


class PhaseClock:
    """A clock that tells how long each phase of a call took, and compiling apart from all of them."""

    def __init__(self):
        self._seconds: dict[str, float] = {}
        self._compiled = compile_seconds()
        self._last = working_time()

    def end(self, phase: str) -> None:
        """Add the seconds since the last phase ended, without those spent on compiling, to a phase."""
        now = working_time()
        self._seconds[phase] = self._seconds.get(phase, 0.0) + now - self._last
        self._last = now

    def seconds(self) -> dict[str, float]:
        """Return the seconds by phase, with ``compile`` if programs were compiled since the clock was made."""
        compiled = compile_seconds() - self._compiled
        return self._seconds | ({"compile": compiled} if compiled else {})
