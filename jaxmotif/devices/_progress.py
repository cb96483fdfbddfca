"""Progress meters for long work: what is done, how fast, and the time left, on standard error or in a notebook."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ClassVar, TextIO

REDRAW_SECONDS = 0.2
"""Least time between two drawings of the line on a terminal."""

PLAIN_SECONDS = 10.0
"""Least time between two lines where the stream is no terminal."""

FIRST_SECONDS = 1.5
"""Time after which there is a first line, with a forecast of the time left as soon as a unit is done."""

LONG_SECONDS = 10.0
"""If a whole job is forecast to take at least this long, the forecast is shown at once, before a first unit is done."""


class Meter:
    """A meter that shows nothing, from which others are derived."""

    done = 0

    def advance(self, amount: int = 1) -> None:
        """Add finished units."""

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *exception) -> None:
        pass


METER: ContextVar[Progress | None] = ContextVar("METER", default=None)
"""The meter of the job that is running; a worker tells it how long its first unit will take at least."""


@dataclasses.dataclass(eq=False)
class Progress(Meter):
    """A meter for one piece of work, which :func:`progress` makes and several threads may advance.

    On a terminal one line is redrawn at most five times a second. Elsewhere a plain line appears after
    ``FIRST_SECONDS``, and then every ten seconds. Work that ends before the first line prints nothing.

    Attributes:
      total, unit, label, note, stream, clock, before, workers: As for :func:`progress`.
      shown: Whether any meter of this process has drawn a line.
    """

    shown: ClassVar[bool] = False
    total: int | None
    unit: str
    label: str
    note: Callable[[], str]
    stream: TextIO
    clock: Callable[[], float]
    before: int = 0
    workers: int = 1

    def __post_init__(self) -> None:
        self.done = self.before
        self._expected, self._advances = 0.0, 0
        self._since: tuple[float, int] | None = None  # when the first units were done, and how many
        self._terminal = self.stream.isatty()
        self._interval = REDRAW_SECONDS if self._terminal else PLAIN_SECONDS
        self._started = self.clock()
        self._due = self._started + min(self._interval, FIRST_SECONDS)
        self._drawn: int | None = None  # the value of `done` that was shown last
        self._lock = threading.Lock()
        self._first = threading.Timer(FIRST_SECONDS, self._begin)
        self._first.daemon = True

    def __enter__(self) -> Progress:
        self._outer = METER.set(self)
        self._first.start()
        return self

    def expect(self, seconds: float) -> None:
        """Tell, before any unit is finished, the seconds that a worker needs at least for one."""
        with self._lock:
            if self.total is not None and not self._expected and self.done == self.before:
                self._expected = seconds * (self.total - self.done) / self.workers
                if self._expected > LONG_SECONDS:
                    self._draw(self.clock())

    def _begin(self) -> None:
        """Draw a first line, though no unit may be done: programs are compiled, or units are long."""
        with self._lock:
            if self._drawn is None and not self._first.finished.is_set():
                self._draw(self.clock())

    def advance(self, amount: int = 1) -> None:
        with self._lock:
            self.done += amount
            self._advances += 1
            now = self.clock()
            self._since = self._since or (now, self.done)
            if now >= self._due:
                self._due = now + self._interval
                self._draw(now)

    def __exit__(self, *exception) -> None:
        METER.reset(self._outer)
        self._first.cancel()
        with self._lock:
            if self._drawn is None:
                return
            if self._drawn != self.done:
                self._draw(self.clock())
            if self._terminal:
                self._write("\n")

    def _write(self, text: str) -> None:
        """Write to the stream, if it takes anything; a meter that nobody sees ends no work."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(text)
            self.stream.flush()

    def _draw(self, now: float) -> None:
        line = self._line(now)
        if self._terminal:
            line = "\r" + line[: _columns(self.stream) - 1] + "\x1b[K"
        else:
            line += "\n"
        self._write(line)
        self._drawn = self.done
        Progress.shown = True

    def _line(self, now: float) -> str:
        elapsed = now - self._started
        rate = (self.done - self.before) / elapsed if elapsed > 0 else 0.0
        if self._since is not None and now >= self._since[0] + FIRST_SECONDS and self.done > self._since[1]:
            # The first units took longer, since programs were compiled.
            rate = (self.done - self._since[1]) / (now - self._since[0])
        elif self._advances:  # Workers that have reported nothing yet are taken to be as far as the others.
            rate *= max(1.0, self.workers / self._advances)
        parts = [f"{self.label}:"] if self.label else []
        if self.total is None:
            parts += [short_number(self.done), self.unit]
        else:
            percent = 100 * self.done // self.total if self.total else 100
            parts += [f"{percent}%", f"{short_number(self.done)}/{short_number(self.total)}", self.unit]
        parts.append(f"{short_number(rate)}/s" if rate else "at work")
        if not rate and self._expected > LONG_SECONDS:
            parts.append(f"{short_time(self._expected)} or more in all")
        if self.total is not None and self.done >= self.total:
            parts.append(f"in {short_time(elapsed)}")
        elif self.total is not None and rate > 0:
            parts.append(f"{short_time((self.total - self.done) / rate)} left")
        note = self.note()
        return " ".join(parts) + (f", {note}" if note else "")


class _Bar(Meter):
    """A meter in a notebook, which is a bar of tqdm."""

    def __init__(self, bar: Any, note: Callable[[], str]):
        self._bar, self._note, self._lock = bar, note, threading.Lock()

    def advance(self, amount: int = 1) -> None:
        with self._lock:
            self.done += amount
            if note := self._note():
                self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(amount)

    def __exit__(self, *exception) -> None:
        self._bar.close()


def _notebook_bar() -> Callable[..., Any] | None:
    """Return tqdm's class of bars, or ``None`` if this is no notebook or tqdm is not installed."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or "IPKernelApp" not in shell.config:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def progress(
    total: int | None,
    unit: str = "items",
    label: str = "",
    enabled: bool = True,
    note: Callable[[], str] = str,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
    before: int = 0,
    workers: int = 1,
) -> Meter:
    """Return a progress meter, which is a context manager; in a notebook it is tqdm's bar, if that is installed.

    Args:
      total: The number of units of work in all. With ``None`` the meter shows no percentage and no time left.
      unit: What is counted, for example ``"edges"``.
      label: What is being done, for example ``"4-cycles"``.
      enabled: With ``False`` the meter shows nothing.
      note: A function that returns what else to say of the work so far; it is called when the meter is drawn.
      stream: The stream to write to; standard error when ``None``.
      clock: A function that returns the time in seconds and never goes back.
      before: The units of ``total`` that an earlier run has done.
      workers: The number of workers that do units side by side.

    Returns:
      A meter whose ``advance(k)`` reports ``k`` more finished units.

    Example:
      >>> with progress(8_000_000, unit="edges", label="4-cycles", enabled=False) as meter:
      ...     meter.advance(65_536)
    """
    if not enabled:
        return Meter()
    if stream is None and (bar := _notebook_bar()) is not None:
        return _Bar(bar(total=total, unit=f" {unit}", desc=label, unit_scale=True, initial=before), note)
    return Progress(total, unit, label, note, sys.stderr if stream is None else stream, clock, before, workers)


def short_number(value: float) -> str:
    """Return a number with about three digits and a suffix for its size.

    Example:
      >>> [short_number(v) for v in (7, 999, 3_360_000, 8e9, 0.25)]
      ['7', '999', '3.36M', '8G', '0.25']
    """
    for suffix in ("", "k", "M", "G"):
        if value < 999.5:
            return f"{value:.3g}{suffix}"
        value /= 1000
    return f"{value:.0f}T"


def short_time(seconds: float) -> str:
    """Return a duration as ``m:ss`` or ``h:mm:ss``, or below ten seconds as seconds with one decimal.

    Example:
      >>> short_time(4.21), short_time(75), short_time(7384)
      ('4.2 s', '1:15', '2:03:04')
    """
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
