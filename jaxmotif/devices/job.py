"""Long work on any devices: items cut into units by estimated work, killed and resumed, in one process or several.

A job is a row of items, each with an estimated amount of work. What is not yet done is cut into units (stretches of
items), which are divided among the processes and there emptied by workers, one or more on each device, whichever is
free taking the next. What units give is added up by an exact, associative, commutative merge, so neither the cut nor
the order changes a bit. Finished stretches and their sum are kept in a checkpoint from time to time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from jaxmotif.devices.ledger import Arrays, Ledger, Merge, Store
from jaxmotif.devices.memory import no_smaller_steps, out_of_memory, smaller_steps_note
from jaxmotif.devices.processes import in_each_process
from jaxmotif.devices.progress import progress
from jaxmotif.devices.queue import Unit, Worker, run_queue
from jaxmotif.devices.select import Selection
from jaxmotif.devices.spans import Span, cut, divide, from_array, gaps, length, shrinking


class Unfinished(Exception):
    """Raised by a step, or a collection, that a limit stopped: no further unit is started. ``found`` is what it and all
    steps since the last collection gave so far."""

    def __init__(self, found: Arrays):
        super().__init__("stopped by a limit")
        self.found = found


class Hand(Protocol):
    """What a job puts on a device to work there; used by one thread."""

    def step(self, span: Span) -> None:
        """Does a stretch of items, in memory that it bounds."""
        ...

    def collect(self) -> Arrays:
        """What all steps since the last call gave, in host memory; may fail after a step that failed."""
        ...

    def halve(self) -> str | None:
        """Starts anew with half the memory: how, in words, or ``None`` when there is no smaller step."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """A row of items.

    Attributes:
      name: of its checkpoint.
      starts: int64 ``[items + 1]``, estimated work before each item (then in all).
      parts: about how many units to cut it into (of several processes the first one's).
      merge: exact, associative and commutative.
      unit, label: for the progress meter.
      difficulty: of a stretch, most difficult first in the queue; ``None`` leaves the order.
      shrinking: in a hybrid, units are joined to large ones for the GPUs, and to smaller ones towards the CPU's end.
    """

    name: str
    starts: np.ndarray
    parts: int
    merge: Merge
    unit: str
    label: str
    difficulty: Callable[[Span], float] | None = None
    shrinking: bool = False

    @property
    def whole(self) -> Span:
        return Span(0, self.starts.shape[0] - 1)


class Place(NamedTuple):
    """A device, and how a worker there takes units."""

    device: jax.Device
    worker: Worker = Worker()


class Done(NamedTuple):
    """What a job gave.

    Attributes:
      found: merged over all units; empty when there was no unit.
      finished: whether all items are done (a limit may have stopped some).
      notes: what had to be done differently, in words.
      work: what each place of this process did.
    """

    found: Arrays
    finished: bool
    notes: tuple[str, ...]
    work: list[int]


def places(
    selection: Selection,
    *,
    workers: Callable[[jax.Device], int] = lambda device: 1,
    helping: float = 0.05,
    helper_share: float = 1.0,
    helper_workers: int | None = None,
) -> list[Place]:
    """The workers of this process: the devices, and in a hybrid the CPU at the difficult end of the queue.

    Rossi & Zhou, 4.3: GPUs take large helpings from the regular end, CPU workers single units from the other.

    Args:
      workers: how many share a device.
      helping: share of the work that a GPU of a hybrid takes at once.
      helper_share: largest share of the work for a hybrid's CPU; 0 for none.
      helper_workers: of a hybrid's CPU; by default up to 8.
    """
    if selection.helper is None:
        return [Place(device) for device in selection.local for _ in range(workers(device))]
    back = Worker(end="back", helping=helping)
    found = [Place(device, back) for device in selection.local for _ in range(workers(device))]
    if helper_share > 0:
        count = helper_workers or max(1, min(8, (os.cpu_count() or 1) - len(selection.local)))
        limit = helper_share / count if helper_share < 1 else 1.0
        found += [Place(selection.helper, Worker(end="front", limit=limit))] * count
    return found


def run_job(
    job: Job,
    make: Callable[[jax.Device], Hand],
    where: Sequence[Place],
    selection: Selection,
    store: Store | None = None,
    show: bool = False,
) -> Done:
    """Does a job, or what a checkpoint says is left of it. All processes get the whole result.

    Args:
      job: the same in every process, but for the parts.
      make: a hand for a worker on a device.
      where: the workers of this process (:func:`places`).
      selection: the devices of all.
      store: where to keep checkpoints; ``None`` for none.
      show: show a progress meter (on the first process).

    Raises:
      ValueError: for a checkpoint that is damaged or belongs to other work.
      OSError: for a folder that cannot be written.
      MemoryError: when even the smallest step does not fit a device.
    """
    process = jax.process_index() if selection.together else 0
    ledger = Ledger(job.name, job.whole.stop, job.merge, store, process)

    def begin() -> dict[str, Any]:
        return {"spans": ledger.open(), "parts": job.parts}

    opened = in_each_process(begin, selection.together)[0]
    units = cut(job.starts, gaps(from_array(opened["spans"]), job.whole), int(opened["parts"]))
    if job.shrinking and selection.helper is not None:
        # The GPUs take from the back, and the CPU is to find small ones for all its workers.
        units = shrinking(units[::-1], 4 * len(selection.devices))[::-1]
    sizes = [0] * (jax.process_count() if selection.together else 1)
    for device in selection.devices:
        sizes[device.process_index if selection.together else 0] += 1
    mine = divide(units, sizes)[process]
    if job.difficulty is not None:
        mine.sort(key=lambda unit: job.difficulty(unit.task), reverse=True)  # pyright: ignore[reportOptionalCall]
    work = [0] * len(where)

    def empty() -> dict[str, Any]:
        if mine:
            work[:] = _empty(job, make, where, mine, ledger, show and process == 0)
        return ledger.report()

    reports = in_each_process(empty, selection.together)
    found: Arrays = {}
    for report in reports:
        for part in ("done/", "left/"):
            arrays = {name[len(part) :]: array for name, array in report.items() if name.startswith(part)}
            found = job.merge(found, arrays) if found and arrays else found or arrays
    covered = sum(length(from_array(report["spans"])) for report in reports)
    notes = tuple(str(note) for report in reports for note in report["notes"])
    return Done(found, covered == job.whole.stop, notes, work)


def _empty(
    job: Job, make: Callable[[jax.Device], Hand], where: Sequence[Place], units: list[Unit], ledger: Ledger, show: bool
) -> list[int]:
    """The queue of one process."""
    stopped = threading.Event()
    taken = [_Taken(_made(make, place.device), place.device, ledger, stopped) for place in where]
    workers = [place.worker._replace(step=one.step, last=one.finish) for place, one in zip(where, taken, strict=True)]
    with progress(sum(unit.work for unit in units), job.unit, job.label, enabled=show) as meter:
        try:
            work = run_queue(units, workers, lambda done: None if stopped.is_set() else meter.advance(done))
        except BaseException:
            for one in taken:
                with contextlib.suppress(Exception):  # the first failure is the one to report
                    one.hand_in_if_whole()
            with contextlib.suppress(Exception):
                ledger.save()
            raise
    ledger.save()
    return work


def _made(make: Callable[[jax.Device], Hand], device: jax.Device) -> Hand:
    try:
        return make(device)
    except Exception as failure:
        if out_of_memory(failure):
            raise no_smaller_steps(device) from failure
        raise


class _Taken:
    """A hand, and the stretches it has done but not handed in."""

    def __init__(self, hand: Hand, device: jax.Device, ledger: Ledger, stopped: threading.Event):
        self._hand, self._device, self._ledger, self._stopped = hand, device, ledger, stopped
        self._pending: list[Span] = []
        self._busy = False

    def step(self, span: Span) -> None:
        self._busy = True
        self._do(span)
        if self._ledger.due():
            self.hand_in()
            self._ledger.save()
        self._busy = False

    def finish(self) -> None:
        self._busy = True
        try:
            self.hand_in()
        except Exception as failure:
            for span in self._smaller(failure):
                self._do(span)
            self.hand_in()
        self._busy = False

    def _do(self, span: Span) -> None:
        todo = [span]
        while todo and not self._stopped.is_set():
            try:
                self._hand.step(todo[-1])
            except Unfinished as stop:
                self._leave(stop)
            except Exception as failure:
                self._busy = out_of_memory(failure)  # else the step has failed as a whole
                todo += self._smaller(failure)
            else:
                self._pending.append(todo.pop())

    def hand_in(self) -> None:
        if self._pending:
            try:
                self._ledger.add(self._pending, self._hand.collect())
            except Unfinished as stop:
                self._leave(stop)
            self._pending = []

    def _leave(self, stop: Unfinished) -> None:
        self._stopped.set()
        self._ledger.leave(stop.found)
        self._pending = []

    def hand_in_if_whole(self) -> None:
        """After a failure: Ctrl-C may have come where what the hand holds belongs to no known stretches."""
        if not self._busy:
            self.hand_in()

    def _smaller(self, failure: Exception) -> list[Span]:
        """After a step that ran out of memory: hands in what it has left, and starts anew with less; returns the
        stretches that are lost with it."""
        if not out_of_memory(failure):
            raise failure
        with contextlib.suppress(RuntimeError):  # the step may have taken the arrays over
            self.hand_in()
        lost, self._pending = self._pending, []
        change = self._hand.halve()
        if change is None:
            raise no_smaller_steps(self._device) from failure
        self._ledger.note(smaller_steps_note(self._device, change))
        return lost
