"""The runner of every job: long work on any devices, in one process or several, that can be killed and resumed.

A run has these steps:

- A job (:class:`Job`) is a row of items (edges, prefixes of a search, random graphs). Each item has an estimate of its
  work.
- :func:`run_job` learns from the checkpoints which spans of items (:class:`~jaxmotif.devices._ranges.Span`) are done,
  cuts the rest into units of about equal work, and divides these among the processes.
- In each process a queue hands units to workers (:func:`workers_on`), which are threads, one or more for each device.
  A worker that is free takes the next unit. In a hybrid run the GPUs take from one end and the CPU from the other.
- Each worker has a :class:`Task` on its device. The task works through one span after another (``step``), returns the
  result of all of them (``collect``), and starts again with less memory (``halve``) when the device ran out of it.
- A :class:`~jaxmotif.devices._record.Record` keeps which spans are done and merges their results. The job's merge is
  exact, associative and commutative, so the result is the same bit for bit however the work was cut, ordered or
  interrupted. The record is saved every few seconds.
- In the end every process receives the records of all and merges them
  (:func:`~jaxmotif.devices._gather.in_each_process`).

On the workers of a cluster a call stops here, and does units of the job as they are sent to it
(:mod:`jaxmotif.devices._cluster`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import numpy as np

import jaxmotif
from jaxmotif.arrays._ahead import end_rehearsal, rehearsal, rehearsed
from jaxmotif.devices._checkpoint import fingerprint
from jaxmotif.devices._gather import check_alike, in_each_process
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._progress import Meter, progress
from jaxmotif.devices._queue import Unit, Worker, run_queue
from jaxmotif.devices._ranges import Span, cut, from_array, gaps, length, shrinking, split
from jaxmotif.devices._record import Arrays, Merge, Record, results_in
from jaxmotif.devices._select import Selection, on_worker

PIECE_SECONDS = 2.0
"""Seconds that a piece should take. With checkpoints, a unit that takes much longer is done in such pieces."""


class Unfinished(Exception):
    """A limit stopped a step or a collection, so that no further unit is started.

    Attributes:
      found: What this step, and all steps since the last collection, have found so far.
    """

    def __init__(self, found: Arrays):
        super().__init__("stopped by a limit")
        self.found = found


class Task(Protocol):
    """The part of a job that works on a device, from which tasks are derived; one thread uses it.

    Attributes:
      adds_in_parts: Whether a step adds to the sums of the steps before it bit by bit. What such a step has added when
        it fails cannot be told from those sums, so that these steps are done again, too.
    """

    adds_in_parts: ClassVar[bool] = False

    def step(self, span: Span) -> None:
        """Work through a span of items in bounded memory."""
        ...

    def collect(self) -> Arrays:
        """Return what all steps since the last call found, in host memory; this may fail after a failed step."""
        ...

    def halve(self) -> str | None:
        """Start again with half the memory; return the new size in words, or ``None`` if none is smaller."""
        return None


def run_alone(task: Task, items: int, device: jax.Device) -> tuple[str, ...]:
    """Work through all items at once on one device, and return a note for each smaller size that memory asked for."""

    def halve(_: None) -> tuple[None, str] | None:
        change = task.halve()
        return None if change is None else (None, change)

    return with_smaller_steps(lambda _: task.step(Span(0, items)), None, halve, device)[1]


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """A row of items to work through.

    Attributes:
      name: The name of the job, which its checkpoints bear.
      starts: The estimated work before each item, then the work of all, int64 ``[items + 1]``.
      parts: The number of units to cut the row into, approximately. With several processes the first one decides.
      merge: A function that merges two results; it is exact, associative and commutative.
      unit: The unit that the progress meter counts.
      label: What the progress meter says is being done.
      difficulty: A function that says how difficult a span is. The queue then has the most difficult unit first;
        with ``None`` it keeps the order of the items.
      shrinking: Whether units are joined in a hybrid run, to large ones at the GPUs' end of the queue and to smaller
        ones towards the CPU's end.
      divisible: Whether a unit may be done in pieces, at no cost but that of further steps.
      programs: A value that, with the device, decides which programs a step needs. With one, many programs are
        compiled in parallel before the first step (:mod:`jaxmotif.arrays._ahead`). A step that is rehearsed for this
        must change nothing that tasks share.
      note: A function that returns what else the progress meter says, from what tasks have found so far.
      grows: Whether more items may follow in a later call, which then goes on from this one's checkpoint.
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
    grows: bool = False

    @property
    def whole(self) -> Span:
        """The span of all items."""
        return Span(0, self.starts.shape[0] - 1)

    def work(self, span: Span) -> int:
        """Return the estimated work of a span."""
        return int(self.starts[span.stop] - self.starts[span.first])


class JobOptions(NamedTuple):
    """Options of a job: where it runs, in how much memory, and what it keeps and shows.

    Attributes:
      selection: The devices that share it, in all processes.
      memory: Bytes to work in on each device, beside the input and the result; ``None`` leaves it to the job.
      checkpoint: The folder of its checkpoints, or ``None`` where nothing is saved.
      progress: Whether the first process shows a progress meter.
      fingerprint: The identity of the work, by which a checkpoint or another process is recognised as belonging to it.
    """

    selection: Selection
    memory: int | None = None
    checkpoint: str | os.PathLike | None = None
    progress: bool = False
    fingerprint: str = ""

    @property
    def exports(self) -> bool:
        """Return whether results leave this process, for a checkpoint or others: then the work has a fingerprint."""
        return bool(self.fingerprint)

    def identified(self, parts: Callable[[], tuple]) -> JobOptions:
        """Return the options with the fingerprint of the work, where one is needed.

        Args:
          parts: A function that returns what the fingerprint depends on: all input and options that change the result.
        """
        needed = self.checkpoint is not None or self.selection.together
        return self._replace(fingerprint=fingerprint(*parts())) if needed else self


class JobResult(NamedTuple):
    """The result of a job.

    Attributes:
      found: The results of all units, merged; empty when there was no unit.
      finished: Whether all items are done. They are not when a limit stopped the job.
      notes: Sentences on what had to be done otherwise than planned.
      work: The work that each worker of this process did.
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
    """Return the workers of this process: those on its devices and, in a hybrid run, those on the CPU.

    GPUs take large shares from the regular end of the queue, CPU workers single units from the difficult end (Rossi &
    Zhou, 4.3).

    Args:
      selection: The devices of the job.
      per_device: A function that returns how many workers share a device.
      helper_workers: The number of workers on the CPU of a hybrid run where the user does not say; by default up to 8.
    """
    devices = [device for device in selection.local for _ in range(per_device(device))]
    if selection.helper is None:
        return [Worker(device=device) for device in devices]
    hybrid = selection.hybrid
    workers = [Worker(end="back", share=hybrid.chunk, device=device) for device in devices]
    if hybrid.alpha > 0:
        count = hybrid.workers or helper_workers or max(1, min(8, (os.cpu_count() or 1) - len(selection.local)))
        # The CPU's workers divide a limit below 1 among themselves, since it holds for all of them together.
        limit = hybrid.alpha / count if hybrid.alpha < 1 else 1.0
        workers += [Worker(end="front", limit=limit, device=selection.helper)] * count
    return workers


def run_job(
    job: Job,
    make: Callable[[jax.Device], Task],
    options: JobOptions,
    workers: Sequence[Worker] | None = None,
) -> JobResult:
    """Run a job, or what a checkpoint says is left of it, and return the whole result in every process.

    Args:
      job: The job, the same in every process but for its number of parts.
      make: A function that makes the task of a worker on a device.
      options: The devices of all processes, and what the job keeps and shows.
      workers: The workers of this process, by default one for each of its devices (:func:`workers_on`).

    Raises:
      ValueError: A checkpoint is damaged or belongs to other work, or another process uses the folder.
      OSError: The folder cannot be written.
      MemoryError: Even the smallest step does not fit a device.
      ClusterError: Processes were given different work, or one has ended.
    """
    selection = options.selection
    workers = workers_on(selection) if workers is None else workers
    if rehearsal() is not None:  # The caller is only rehearsed, but a job's threads would do its work.
        _first_step(make, workers[0].device, Span(0, max(1, job.whole.stop // job.parts)))
        end_rehearsal()
    together = selection.together
    if together and (call := on_worker.get()) is not None:
        return call.stop_at(job, make, workers, options.fingerprint)
    process = jax.process_index() if together else 0
    kept = options.checkpoint, options.fingerprint
    record = Record(job.name, job.whole.stop, job.merge, *kept, process, job.grows)
    same = {"jaxmotif": jaxmotif.__version__, "job": job.name, "items": job.whole.stop}
    same |= {"input, options or seed": record.work}

    def begin() -> dict[str, Any]:
        return {"spans": record.open(), "parts": job.parts} | same

    work = [0] * len(workers)

    def empty() -> dict[str, Any]:
        if mine:
            work[:] = empty_units(job, make, workers, mine, record, options.progress and process == 0, [])
        return record.report()

    try:
        opened = in_each_process(begin, together)
        # This is checked before any work, because merging results for different inputs would give nonsense.
        check_alike(opened, list(same))
        # The first process decides for all what is done already, because its files hold the work of earlier runs.
        mine = _units(job, opened[0], selection, process)
        reports = in_each_process(empty, together)
    finally:
        record.close()
    return merge_reports(job, reports, work)


def merge_reports(job: Job, reports: Sequence[Arrays], work: list[int]) -> JobResult:
    """Return the result of a job from the reports of the records of all processes."""
    merged: Arrays = {}
    for report in reports:
        # Results of unfinished steps ("left/") count in this result, but no checkpoint holds them.
        for part in ("done/", "left/"):
            arrays = results_in(report, part)
            merged = job.merge(merged, arrays) if merged and arrays else merged or arrays
    # The spans of different processes do not overlap, so their lengths add up.
    covered = sum(length(from_array(report["spans"])) for report in reports)
    notes = tuple(str(note) for report in reports for note in report["notes"])
    return JobResult(merged, covered == job.whole.stop, notes, work)


def _units(job: Job, opened: Arrays, selection: Selection, process: int) -> list[Unit]:
    """Return the units of a process in the order of its queue.

    Args:
      job: The job.
      opened: What the first process says: the spans that are done, and the number of parts.
      selection: The devices of all processes.
      process: The number of this process.
    """
    units = cut(job.starts, gaps(from_array(opened["spans"]), job.whole), int(opened["parts"]))
    if job.shrinking and selection.helper is not None:
        # The GPUs take from the back; the CPU should find small units at the front, one for each of its workers.
        units = shrinking(units[::-1], 4 * len(selection.devices))[::-1]
    if selection.together:
        # Units are dealt to the devices of all processes in turn.
        owners = [device.process_index for device in selection.devices]
        units = [unit for number, unit in enumerate(units) if owners[number % len(owners)] == process]
    # The most difficult unit comes first, since the CPU of a hybrid run takes from the front.
    if (difficulty := job.difficulty) is not None:
        units.sort(key=lambda unit: difficulty(unit.span), reverse=True)
    elif selection.helper is not None and selection.hybrid.order.startswith("-"):
        units.reverse()
    return units


def _first_step(make: Callable[[jax.Device], Task], device: jax.Device, span: Span) -> None:
    task = make(device)
    task.step(span)
    task.collect()


def empty_units(
    job: Job,
    make: Callable[[jax.Device], Task],
    workers: Sequence[Worker],
    units: list[Unit],
    record: Record,
    show: bool,
    tasks: list[Task],
) -> list[int]:
    """Work through the units of this process and return the work that each worker did.

    Programs are compiled side by side before the first step, where the job says on what they depend.

    Args:
      job: The job.
      make: A function that makes the task of a worker on a device.
      workers: The workers.
      units: The units, in the order of the queue.
      record: The record that takes the results.
      show: Whether to show a progress meter.
      tasks: The tasks of the workers, which are made if the list is empty.
    """

    def work_through() -> list[int]:
        stopped = threading.Event()
        if not tasks:
            tasks.extend(with_smaller_steps(make, on.device, lambda _: None, on.device)[0] for on in workers)
        before = sum(map(job.work, record.spans))
        total = before + sum(unit.work for unit in units)
        meter = progress(
            total, job.unit, job.label, show, lambda: job.note(record.found), before=before, workers=len(workers)
        )
        with meter:
            runners: list[_TaskRunner] = []
            queue_workers: list[Worker] = []
            for task, worker in zip(tasks, workers, strict=True):
                runner = _TaskRunner(job, task, worker.device, record, stopped, meter)
                runners.append(runner)
                # The queue does not know tasks; it calls the functions that its workers carry.
                queue_workers.append(worker._replace(step=runner.step, last=runner.finish, cut=runner.cut))
            try:
                work = run_queue(units, queue_workers)
            except BaseException:
                # After a failure the results of other workers are saved, where it is known which spans they cover.
                for runner in runners:
                    with contextlib.suppress(Exception):  # The first failure is the one to report.
                        runner.hand_in_if_whole()
                with contextlib.suppress(Exception):
                    record.save()
                raise
        record.save()
        return work

    for device in dict.fromkeys(worker.device for worker in workers) if job.programs is not None else ():
        first_step = partial(_first_step, make, device, units[0].span)
        work_through = partial(rehearsed, work_through, device, (job.name, job.programs, device), first_step)
    return work_through()


def next_piece(work: float, seconds: float, wanted: float = PIECE_SECONDS) -> float:
    """Return how much work the next piece should have to take the wanted time, judged by the last piece.

    Only the last piece is looked at, because items differ. The next one is at most four times as large, because most
    of the time of the last one may have been spent on compiling.
    """
    return min(work * wanted / max(seconds, 1e-9), 4 * max(work, 1.0))


class _TaskRunner:
    """A task on a device, with the spans that it has still to do and those it has done but not handed in."""

    def __init__(self, job: Job, task: Task, device: jax.Device, record: Record, stop: threading.Event, meter: Meter):
        self._job, self._task, self._device, self._record, self._stopped = job, task, device, record, stop
        self._meter = meter
        self._todo: list[Span] = []
        self._pending: list[Span] = []
        self._whole = True  # whether the task holds the results of the pending spans and no others
        self._piece_work: float | None = None  # the work that takes about PIECE_SECONDS, once it is known

    def cut(self, unit: Unit) -> tuple[Unit, Unit | None]:
        """Return a piece of a unit to do now, and the rest if there is any.

        Pieces are short, so that where there are checkpoints the next one is never far away.
        """
        if not (self._job.divisible and self._record.keeps):
            return unit, None
        # The first piece is small, since how long it takes is not known yet.
        wanted = unit.work / 16 if self._piece_work is None else self._piece_work
        return split(self._job.starts, unit, wanted)

    def step(self, span: Span) -> None:
        due, started = self._record.due(), time.perf_counter()
        taken = self._job.work(span) + self._waiting()
        self._todo.append(span)
        self._do(hand_in=due)
        if due:
            self._record.save()
        self._tell(taken - self._waiting())
        seconds = time.perf_counter() - started
        self._piece_work = next_piece(self._job.work(span), seconds)

    def finish(self) -> None:
        taken = self._waiting()
        self._do(hand_in=True)
        self._tell(taken)

    def _waiting(self) -> int:
        """Return the amount of work that the task has accepted but not done yet, as tasks that work in batches do."""
        return getattr(self._task, "waiting", 0)

    def _tell(self, done: int) -> None:
        if done and not self._stopped.is_set():
            self._meter.advance(done)

    def _do(self, hand_in: bool) -> None:
        def attempt(_: None) -> None:
            # Memory may run out in a step or when its results are collected; both are handled in the same way.
            self._do_all()
            if hand_in:
                self.hand_in()

        self._whole = False
        for note in with_smaller_steps(attempt, None, self._halve, self._device)[1]:
            self._record.note(note)
        self._whole = True

    def _do_all(self) -> None:
        while self._todo and not self._stopped.is_set():
            try:
                # The last span of the list comes first, because halving appends the spans that are to be done again.
                self._task.step(self._todo[-1])
            except Unfinished as stop:
                self._leave(stop)
            except Exception:
                # After any other failure most tasks hold whole spans only, so that they can still be handed in.
                self._whole = not self._task.adds_in_parts
                raise
            else:
                # The span moves only after the step, so that one interrupted by an exception is done again.
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
        """Hand in after a failure, unless Ctrl-C came at a point where the task holds parts of spans."""
        if self._whole:
            self.hand_in()

    def _halve(self, _: None) -> tuple[None, str] | None:
        """Hand in what was done before a step ran out of memory, and start again with less."""
        if self._whole:
            self._whole = False  # A collection that fails is not tried again: its results may be gone.
            with contextlib.suppress(RuntimeError):  # The step may have taken over the arrays and lost them.
                self.hand_in()
        self._todo += self._pending  # What could not be handed in is done again.
        self._pending = []
        change = self._task.halve()
        return None if change is None else (None, change)
