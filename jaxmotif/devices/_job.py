"""The runner under every job: long work on any devices, killed and resumed, in one process or several.

For a newcomer, in the order of events:

- A job (:class:`Job`) is a row of items (edges, prefixes of a search, random graphs), each with its estimated work.
- :func:`run_job` asks the checkpoints which stretches (:class:`~jaxmotif.devices._ranges.Span`) are done, cuts the rest
  into units of about equal work, and divides these among the processes.
- In a process a queue hands the units to workers (:func:`workers_on`), one or more threads for each device, whichever
  is free taking the next; in a hybrid the GPUs take from one end and the CPU from the other.
- What a job puts on a device is a :class:`Task`, made once for each worker: it does one stretch after another
  (``step``), gives what all of them found (``collect``), and starts anew in less memory (``halve``) where that ran out.
- What tasks give goes into the :class:`~jaxmotif.devices._record.Record` of what is done and found, which adds it up by
  the job's merge, exact, associative and commutative, and saves it every few seconds. So neither the cut nor the order
  nor a kill changes a bit.
- In the end each process learns the records of all, and merges them
  (:func:`~jaxmotif.devices._processes.in_each_process`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

import jaxmotif
from jaxmotif.arrays._ahead import end_rehearsal, rehearsal, rehearsed
from jaxmotif.devices._memory import out_of_memory, with_smaller_steps
from jaxmotif.devices._processes import check_alike, check_processes, in_each_process
from jaxmotif.devices._progress import progress
from jaxmotif.devices._queue import Unit, Worker, run_queue
from jaxmotif.devices._ranges import Span, cut, divide, from_array, gaps, length, shrinking
from jaxmotif.devices._record import Arrays, Merge, Record, Store
from jaxmotif.devices._select import Selection

PIECE_SECONDS = 2.0
"""Where finished work is kept, units that take much longer are done in pieces of about this time."""


class Unfinished(Exception):
    """Raised by a step, or a collection, that a limit stopped: no further unit is started. ``found`` is what it and all
    steps since the last collection gave so far."""

    def __init__(self, found: Arrays):
        super().__init__("stopped by a limit")
        self.found = found


class Task(Protocol):
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
      unit, label: for the progress meter; note: what else it says, given all that tasks have handed in.
      difficulty: of a stretch, most difficult first in the queue; ``None`` leaves the order.
      shrinking: in a hybrid, units are joined to large ones for the GPUs, and to smaller ones towards the CPU's end.
      divisible: whether a unit that takes long may be done in pieces, at no cost but a step's.
      programs: what those of a step follow from, beside the device: they are compiled side by side, where they are many
        (:mod:`jaxmotif.arrays._ahead`). A step that is rehearsed changes nothing that tasks share.
    """

    name: str
    starts: np.ndarray
    parts: int
    merge: Merge
    unit: str
    label: str
    difficulty: Callable[[Span], float] | None = None
    shrinking: bool = False
    divisible: bool = False
    programs: Hashable = None
    note: Callable[[Arrays], str] = lambda found: ""

    @property
    def whole(self) -> Span:
        return Span(0, self.starts.shape[0] - 1)


class JobResult(NamedTuple):
    """What a job gave.

    Attributes:
      found: merged over all units; empty when there was no unit.
      finished: whether all items are done (a limit may have stopped some).
      notes: what had to be done differently, in words.
      work: what each worker of this process did.
    """

    found: Arrays
    finished: bool
    notes: tuple[str, ...]
    work: list[int]


def workers_on(
    selection: Selection,
    *,
    per_device: Callable[[jax.Device], int] = lambda device: 1,
    helper_workers: int | None = None,
) -> list[Worker]:
    """The workers of this process: the devices, and in a hybrid the CPU at the difficult end of the queue.

    Rossi & Zhou, 4.3: GPUs take large shares from the regular end, CPU workers single units from the other.

    Args:
      per_device: how many share a device.
      helper_workers: of a hybrid's CPU where the user does not say; by default up to 8.
    """
    devices = [device for device in selection.local for _ in range(per_device(device))]
    if selection.helper is None:
        return [Worker(device=device) for device in devices]
    hybrid = selection.hybrid
    found = [Worker(end="back", share=hybrid.chunk, device=device) for device in devices]
    if hybrid.alpha > 0:
        count = hybrid.workers or helper_workers or max(1, min(8, (os.cpu_count() or 1) - len(selection.local)))
        # A limit below 1 is shared by the CPU's workers: together they may do so much.
        limit = hybrid.alpha / count if hybrid.alpha < 1 else 1.0
        found += [Worker(end="front", limit=limit, device=selection.helper)] * count
    return found


def run_job(
    job: Job,
    make: Callable[[jax.Device], Task],
    workers: Sequence[Worker],
    selection: Selection,
    store: Store | None = None,
    show: bool = False,
) -> JobResult:
    """Does a job, or what a checkpoint says is left of it. All processes get the whole result.

    Args:
      job: the same in every process, but for the parts.
      make: a task for a worker on a device.
      workers: of this process (:func:`workers_on`).
      selection: the devices of all.
      store: what the work is, and where to keep checkpoints (:func:`jaxmotif.devices._record.store_for`).
      show: show a progress meter (on the first process).

    Raises:
      ValueError: for a checkpoint that is damaged or belongs to other work, or a folder that another process uses.
      OSError: for a folder that cannot be written.
      MemoryError: when even the smallest step does not fit a device.
      ClusterError: for processes that were given other work, or have ended.
    """
    if rehearsal() is not None:  # of what asks for a job: its threads would do it in earnest
        _first_step(make, workers[0].device, Span(0, max(1, job.whole.stop // job.parts)))
        end_rehearsal()
    together = selection.together
    process = jax.process_index() if together else 0
    record = Record(job.name, job.whole.stop, job.merge, store, process)
    same = {"jaxmotif": jaxmotif.__version__, "job": job.name, "items": job.whole.stop}
    # Before anything is done: other input in one process would be merged into nonsense.
    check_alike(same | {"input, options or seed": record.work}, together)

    def begin() -> dict[str, Any]:
        return {"spans": record.open(), "parts": job.parts}

    work = [0] * len(workers)

    def empty() -> dict[str, Any]:
        if mine:
            empty_all = partial(_empty, job, make, workers, mine, record, show and process == 0)
            for device in dict.fromkeys(worker.device for worker in workers) if job.programs is not None else ():
                first_step = partial(_first_step, make, device, mine[0].span)
                empty_all = partial(rehearsed, empty_all, device, (job.name, job.programs, device), first_step)
            work[:] = empty_all()
        return record.report()

    try:
        # What the first process knows decides for all: its files hold what earlier runs did.
        opened = in_each_process(begin, together, f"{job.name}, what is done")[0]
        mine = _units(job, opened, selection, process)
        reports = in_each_process(empty, together, f"{job.name}, what was found")
    finally:
        record.close()
    found: Arrays = {}
    for report in reports:
        # What was left unfinished counts in this result, but is in no checkpoint.
        for part in ("done/", "left/"):
            arrays = {name[len(part) :]: array for name, array in report.items() if name.startswith(part)}
            found = job.merge(found, arrays) if found and arrays else found or arrays
    # Stretches of different processes do not overlap: lengths add up.
    covered = sum(length(from_array(report["spans"])) for report in reports)
    notes = tuple(str(note) for report in reports for note in report["notes"])
    return JobResult(found, covered == job.whole.stop, notes, work)


def _units(job: Job, opened: Arrays, selection: Selection, process: int) -> list[Unit]:
    """The units of a process: of what is not done, by what the first process says of both."""
    units = cut(job.starts, gaps(from_array(opened["spans"]), job.whole), int(opened["parts"]))
    if job.shrinking and selection.helper is not None:
        # The GPUs take from the back, and the CPU is to find small ones for all its workers.
        units = shrinking(units[::-1], 4 * len(selection.devices))[::-1]
    sizes = [0] * (jax.process_count() if selection.together else 1)
    for device in selection.devices:
        sizes[device.process_index if selection.together else 0] += 1
    mine = divide(units, sizes)[process]
    # Most difficult first; the queue is taken from both ends.
    if (difficulty := job.difficulty) is not None:
        mine.sort(key=lambda unit: difficulty(unit.span), reverse=True)
    elif selection.helper is not None and selection.hybrid.order.startswith("-"):
        mine.reverse()
    return mine


def _first_step(make: Callable[[jax.Device], Task], device: jax.Device, span: Span) -> None:
    task = make(device)
    task.step(span)
    task.collect()


def _empty(
    job: Job, make: Callable[[jax.Device], Task], workers: Sequence[Worker], units: list[Unit], record: Record,
    show: bool,
) -> list[int]:  # fmt: skip
    """The queue of one process."""
    stopped = threading.Event()
    running = [_Running(job, make, worker.device, record, stopped) for worker in workers]
    # The queue knows nothing of tasks: it is given what to call.
    takers = [
        worker._replace(step=one.step, last=one.finish, cut=one.cut)
        for worker, one in zip(workers, running, strict=True)
    ]
    total = sum(unit.work for unit in units)
    with progress(total, job.unit, job.label, show, lambda: job.note(record.found)) as meter:
        try:
            work = run_queue(units, takers, lambda done: None if stopped.is_set() else meter.advance(done))
        except BaseException:
            # After a failure what other workers hold is still saved, where it is known what it is.
            for one in running:
                with contextlib.suppress(Exception):  # the first failure is the one to report
                    one.hand_in_if_whole()
            with contextlib.suppress(Exception):
                record.save()
            raise
    record.save()
    return work


class _Running:
    """A task at work on a device, and the stretches it has done but not handed in to the record."""

    def __init__(
        self, job: Job, make: Callable[[jax.Device], Task], device: jax.Device, record: Record, stopped: threading.Event
    ):
        self._task = with_smaller_steps(make, device, lambda _: None, device)[0]
        self._job, self._device, self._record, self._stopped = job, device, record, stopped
        self._todo: list[Span] = []
        self._pending: list[Span] = []
        self._busy = False
        self._room: float | None = None  # work that takes about PIECE_SECONDS

    def cut(self, unit: Unit) -> tuple[Unit, Unit | None]:
        """A piece to do now, and the rest: where finished work is kept, a save is never far."""
        if not (self._job.divisible and self._record.keeps):
            return unit, None
        starts, (first, stop) = self._job.starts, unit.span
        # Nothing is known of the first: a small one shows.
        room = unit.work / 16 if self._room is None else self._room
        at = int(np.searchsorted(starts, starts[first] + room, side="right")) - 1
        # Not after items without work, as in `cut`. An item is never divided, and at least one with work is done.
        at, least = np.searchsorted(starts, starts[at]), np.searchsorted(starts, starts[first], side="right")
        at = min(max(int(at), int(least)), stop)
        work = int(starts[at] - starts[first])
        rest = None if at == stop else Unit(Span(at, stop), unit.work - work)
        return Unit(Span(first, at), work), rest

    def step(self, span: Span) -> None:
        check_processes()
        due, started = self._record.due(), time.perf_counter()
        self._todo.append(span)
        self._do(hand_in=due)
        if due:
            self._record.save()
        work, seconds = float(self._job.starts[span.stop] - self._job.starts[span.first]), time.perf_counter() - started
        # By the last piece alone, as items differ; in strides, as it may have been compiled.
        self._room = min(work * PIECE_SECONDS / max(seconds, 1e-9), 4 * max(work, 1.0))

    def finish(self) -> None:
        self._do(hand_in=True)

    def _do(self, hand_in: bool) -> None:
        def attempt(_: None) -> None:
            # One answer to memory that runs out, for steps and for collecting what they gave.
            self._do_all()
            if hand_in:
                self.hand_in()

        self._busy = True
        for note in with_smaller_steps(attempt, None, self._halve, self._device)[1]:
            self._record.note(note)
        self._busy = False

    def _do_all(self) -> None:
        while self._todo and not self._stopped.is_set():
            try:
                # The last of the list: what halving adds back is done next.
                self._task.step(self._todo[-1])
            except Unfinished as stop:
                self._leave(stop)
            except Exception as failure:
                self._busy = out_of_memory(failure)  # else the step has failed as a whole
                raise
            else:
                # Only now is it done: an exception leaves it to be done again.
                self._pending.append(self._todo.pop())

    def hand_in(self) -> None:
        if self._pending:
            try:
                self._record.add(self._pending, self._task.collect())
            except Unfinished as stop:
                self._leave(stop)
            self._pending = []

    def _leave(self, stop: Unfinished) -> None:
        self._stopped.set()
        self._record.leave(stop.found)
        self._pending = []

    def hand_in_if_whole(self) -> None:
        """After a failure: Ctrl-C may have come where what the task holds belongs to no known stretches."""
        if not self._busy:
            self.hand_in()

    def _halve(self, _: None) -> tuple[None, str] | None:
        """Hands in what a step that ran out of memory has left, and starts anew with less."""
        with contextlib.suppress(RuntimeError):  # the step may have taken the arrays over
            self.hand_in()
        self._todo += self._pending  # lost with it: to be done again
        self._pending = []
        change = self._task.halve()
        return None if change is None else (None, change)
