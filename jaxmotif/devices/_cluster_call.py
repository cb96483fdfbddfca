"""A call of a cluster as each worker makes it: in a thread, which stops at every job and does units of it.

The thread runs the function that the user called, and :func:`~jaxmotif.devices._job.run_job` stops it at each job.
There the thread does the units that are sent to this worker. When all workers together have done the job, the thread
goes on with its result. So the code of a job needs to know nothing of clusters, and its plans, tasks and programs are
kept between units.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import platform
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import metadata, util
from typing import Any, NamedTuple

import jax
import numpy as np

import jaxmotif
from jaxmotif.arrays._program_cache import keep_compiled
from jaxmotif.devices._checkpoint import fingerprint
from jaxmotif.devices._gather import ClusterError
from jaxmotif.devices._job import Job, JobResult, Task, empty_units, merge_reports, next_piece
from jaxmotif.devices._memory import free_memory
from jaxmotif.devices._queue import Unit, Worker
from jaxmotif.devices._ranges import Span, as_array, cut, from_array, gaps, split
from jaxmotif.devices._record import Arrays, Record
from jaxmotif.devices._select import Devices, on_worker, select_devices

KEPT_CALLS = 2
"""The number of calls that a worker keeps, with the plans and programs that were made for them."""

FIRST_UNITS = 32
"""The share of a job's work that its first unit has, while it is not known yet how long the work takes."""

MOMENT = 0.1
"""Seconds that the worker which plans a call works on a job alone: a short job needs no other worker."""

BEGUN = "jaxmotif units"
"""Dask's topic of the units that workers have begun: the key of the task, the worker, and the name of the unit."""


class Call(NamedTuple):
    """A call as it is sent.

    Attributes:
      name: A name that no other call has.
      content: The function and its arguments, as bytes that the scheduler does not look into.
      devices: The devices that each worker uses.
      about: What all workers are (see :func:`describe`).
      memory: The bytes that are free for the call on each worker.
      alone: Whether a worker may work on a job before the others do: no checkpoint may hold some of it.
    """

    name: str
    content: bytes
    devices: Devices
    about: dict[str, str]
    memory: int
    alone: bool


class ReachedJob(NamedTuple):
    """A job that a call has come to.

    Attributes:
      job: The job, without what only its tasks need.
      work: The fingerprint of its input and options.
      identity: The fingerprint of all that decides what an item is.
      earlier: The results of the jobs before it that the worker did alone.
      begun: The reports of the units of it that the worker has done.
      piece: The work that a unit should have.
    """

    job: Job
    work: str
    identity: str
    earlier: Sequence[JobResult] = ()
    begun: Sequence[Arrays] = ()
    piece: float = 0.0


class CallResult(NamedTuple):
    """The result of a call."""

    value: Any


def pack(function: Callable[..., Any], arguments: Mapping[str, Any]) -> bytes:
    """Return a public function and its arguments as bytes, of which :func:`unpack` makes a call without arguments."""
    from distributed.protocol.serialize import serialize_bytes

    def packed(x: Any) -> Any:
        if not (isinstance(x, jax.Array) and jax.numpy.issubdtype(x.dtype, jax.dtypes.prng_key)):
            return x
        # Random keys, which JAX does not send, go as their data and the function that makes a key of them.
        data: Any = np.asarray(jax.random.key_data(x))
        return partial(jax.random.wrap_key_data, data, impl=str(jax.random.key_impl(x)))

    return serialize_bytes((function, {name: packed(x) for name, x in arguments.items()}))


def unpack(content: bytes) -> Callable[[], Any]:
    """Return the call that :func:`pack` made bytes of."""
    from distributed.protocol.serialize import deserialize_bytes

    function, packed = deserialize_bytes(content)
    return partial(function, **{name: x() if isinstance(x, partial) else x for name, x in packed.items()})


def versions() -> dict[str, str]:
    """Return the versions that must be the same here and on all workers, by name, without starting a device."""
    x64 = str(jax.config.jax_enable_x64)  # pyright: ignore[reportAttributeAccessIssue]
    ours = {"jaxmotif": jaxmotif.__version__, "Python": platform.python_version(), "jax_enable_x64": x64}
    return ours | {name: metadata.version(name) for name in ("jax", "jaxlib", "numpy")}


def describe(devices: Devices) -> dict[str, str]:
    """Return what must be the same on all workers, by name: versions, and the devices of one."""
    numba = metadata.version("numba") if util.find_spec("numba") else "none"
    local = select_devices(devices).local
    return versions() | {"numba": numba, "devices": f"{len(local)} x {local[0].device_kind}"}


def difference(about: Mapping[str, str], expected: Mapping[str, str]) -> str:
    """Say in words how a worker differs from what it should be; the text is empty if it does not."""
    return ", ".join(f"{name} {has} and not {expected[name]}" for name, has in about.items() if has != expected[name])


def keeps_compiled() -> bool:
    """Return whether this process keeps compiled programs in a folder."""
    return jax.config.jax_compilation_cache_dir is not None  # pyright: ignore[reportAttributeAccessIssue]


def meet(devices: Devices, keep: bool, dask_worker: Any) -> tuple[dict[str, str], int]:
    """Return what a worker is, and the bytes that are free on its device.

    Args:
      devices: The devices that each worker uses.
      keep: Whether the process of the user keeps compiled programs: then the worker does so as well.
      dask_worker: The worker, which Dask passes.
    """
    folder = os.environ.get("JAXMOTIF_CACHE")
    if keep and folder != "off" and not keeps_compiled():
        with contextlib.suppress(OSError):  # A worker without such a folder compiles again.
            keep_compiled(folder)
    device = select_devices(devices).main
    free, limit = free_memory(device), dask_worker.memory_manager.memory_limit
    if limit is not None and device.platform == "cpu":
        # Dask stops a worker that takes more than its limit.
        free = max(min(free, limit - dask_worker.monitor.get_process_memory()), 1)
    return describe(devices), free


class _Ended(BaseException):
    """Ends the thread of a call that nobody waits for."""


class RunningCall:
    """A call in a thread of its own, which answers one request after the other."""

    def __init__(self, call: Call, spent: float):
        self.memory, self.spent = call.memory, spent
        self._requests: queue.SimpleQueue[JobResult | Span | None] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._given = 0
        threading.Thread(target=self._make, args=(call.content,), name="jaxmotif call", daemon=True).start()
        self._reached: ReachedJob | CallResult | Exception = self._replies.get()

    def advance(self, results: Sequence[JobResult]) -> ReachedJob | CallResult | Exception:
        """Return what the call comes to after the given results of its first jobs."""
        for result in results[self._given :]:
            self._reached = self.ask(result)
            self._given += 1
        return self._reached

    def ask(self, request: JobResult | Span) -> Any:
        """Have the thread do a unit, or go on with a job's result, and return the report or what it comes to."""
        self._requests.put(request)
        return self._replies.get()

    def do(self, job: Job, span: Span) -> Arrays:
        """Do a unit of the job that the call has come to, and return its report with the seconds that it took.

        Raises:
          ClusterError: the unit failed; the error names it.
        """
        from distributed import get_worker

        unit, here = f"unit {span.first} to {span.stop} of {job.name}", get_worker()
        # If the unit kills the worker, this event tells which unit it was.
        here.log_event(BEGUN, (here.get_current_task(), here.address, unit))
        started = time.perf_counter()
        report = self.ask(span)
        if isinstance(report, Exception):
            raise ClusterError(f"{unit} failed on a worker: {type(report).__name__}: {report}")
        return report | {"seconds": np.array(time.perf_counter() - started)}

    def plan(self, results: Sequence[JobResult], alone: bool) -> ReachedJob | CallResult | Exception:
        """Return what the call comes to after some results, and after all jobs that this worker can do in a moment."""
        earlier: list[JobResult] = []
        while isinstance(reached := self.advance([*results, *earlier]), ReachedJob):
            job, begun = reached.job, []
            rest, piece, ends = gaps([], job.whole), job.work(job.whole) / FIRST_UNITS, time.monotonic() + MOMENT
            while rest and alone and time.monotonic() < ends:
                unit, more = split(job.starts, Unit(rest[0], job.work(rest[0])), piece)
                begun.append(self.do(job, unit.span))
                piece = next_piece(unit.work, float(begun[-1]["seconds"]), MOMENT)
                # A limit may have stopped the job.
                rest = [] if more is None or from_array(begun[-1]["spans"]) != [unit.span] else [more.span]
            if rest:
                return reached._replace(earlier=earlier, begun=begun, piece=piece)
            earlier.append(merge_reports(job, begun, []))
        return reached

    def stop(self) -> None:
        """End the thread at the next job, or where it waits."""
        self._requests.put(None)

    def _make(self, content: bytes) -> None:
        on_worker.set(self)  # A thread has a context of its own.
        try:
            self._replies.put(CallResult(unpack(content)()))
        except _Ended:
            self._replies.put(ClusterError("the call was given up"))
        except Exception as error:
            self._replies.put(error)

    def stop_at(self, job: Job, make: Callable[[jax.Device], Task], workers: Sequence[Worker], work: str) -> JobResult:
        """Tell of a job, do units of it as they are asked for, and return its result when it is there."""
        sent = dataclasses.replace(job, difficulty=None, programs=None, note=Job.note)
        self._replies.put(ReachedJob(sent, work, fingerprint(job.name, work, job.starts)))
        tasks: list[Task] = []
        parts = 4 * len(workers) if len(workers) > 1 else 1
        while not isinstance(request := self._requests.get(), JobResult):
            if request is None:
                raise _Ended
            record = Record(job.name, job.whole.stop, job.merge)
            try:
                empty_units(job, make, workers, cut(job.starts, [request], parts), record, False, tasks)
                self._replies.put(record.report())
            except Exception as error:
                self._replies.put(error)
        return request


_calls: dict[str, RunningCall] = {}
_lock = threading.Lock()


def return_same(content: Any) -> Any:
    """Return the argument; as a task of Dask's, so that any worker can make the data again."""
    return content


def work_on(
    call: Call, spent: float, results: Sequence[JobResult], span: tuple[int, int] | None = None, identity: str = ""
) -> ReachedJob | CallResult | Exception | Arrays:
    """Plan a call, or do a unit of the job that it comes to; Dask runs this in a thread of a worker.

    Args:
      call: The call.
      spent: The seconds since the user made it.
      results: The results of its first jobs.
      span: The unit to do, or ``None`` to plan.
      identity: The fingerprint of the job that the unit belongs to.

    Returns:
      What the call comes to, or the report of the unit's record and the seconds it took. Errors are returned, because
      Dask logs those that are raised.
    """
    try:
        with _lock:  # Tasks work with the devices of this process, so that only one unit is done at a time.
            if call.name not in _calls:
                if unlike := difference(describe(call.devices), call.about):
                    raise ClusterError(unlike)
                for name in list(_calls)[: 1 - KEPT_CALLS]:
                    _calls.pop(name).stop()
                _calls[call.name] = RunningCall(call, spent)
            running = _calls[call.name]
            if span is None:
                return running.plan(results, call.alone)
            reached = running.advance(results)
            if isinstance(reached, Exception):
                return reached
            if isinstance(reached, CallResult):  # The time of the call was over before this worker had planned it.
                return {"spans": as_array([]), "notes": np.zeros(0, str), "seconds": np.zeros(())}
            if reached.identity != identity:
                raise ClusterError("it planned the work otherwise than another worker")
            return running.do(reached.job, Span(*span))
    except Exception as error:
        return error


async def forget(name: str) -> None:
    """Give up a call that has ended; Dask runs this beside the tasks."""
    if (running := _calls.pop(name, None)) is not None:
        running.stop()
