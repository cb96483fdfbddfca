"""A call of a cluster as each worker makes it: in a thread, which stops at every job and does units of it.

The thread makes the call of the user, and :func:`~jaxmotif.devices._job.run_job` stops it at each job. There it does the
units that the worker is sent, and goes on with the job's result, which all workers have found together. So a job needs
to know nothing of clusters, and its plans, tasks and programs are kept between units.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.metadata
import importlib.util
import os
import platform
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

import jaxmotif
from jaxmotif.arrays._program_cache import keep_compiled
from jaxmotif.devices._checkpoint import fingerprint
from jaxmotif.devices._gather import ClusterError
from jaxmotif.devices._job import Job, JobResult, Task, empty_units
from jaxmotif.devices._memory import free_memory
from jaxmotif.devices._queue import Worker
from jaxmotif.devices._ranges import Span, as_array, cut
from jaxmotif.devices._record import Arrays, Record, Store
from jaxmotif.devices._select import Devices, on_worker, select_devices

KEPT_CALLS = 2
"""Calls that a worker keeps, with all that was made for them."""

BEGUN = "jaxmotif units"
"""Dask's topic of the units that workers have begun."""


class Call(NamedTuple):
    """A call as it is sent.

    Attributes:
      name: A name that no other call has.
      content: The function and its arguments, as bytes that the scheduler does not look into.
      memory: The bytes that are free for the call on each worker.
      about: What all workers are (see :func:`describe`).
      devices: The devices that each worker uses.
    """

    name: str
    content: bytes
    memory: int
    about: dict[str, str]
    devices: Devices


class ReachedJob(NamedTuple):
    """A job that a call has come to.

    Attributes:
      job: The job, without what only its tasks need.
      work: The fingerprint of its input and options.
      identity: The fingerprint of all that decides what an item is.
    """

    job: Job
    work: str
    identity: str


class CallResult(NamedTuple):
    """The result of a call."""

    value: Any


def pack(function: Callable[..., Any], arguments: Mapping[str, Any]) -> bytes:
    """Return a public function and its arguments as bytes, of which :func:`unpack` makes a call without arguments."""
    from distributed.protocol.serialize import serialize_bytes

    packed = dict(arguments)
    for name, key in arguments.items():
        # Random keys, which JAX does not send, go as their data and the function that makes a key of them.
        if isinstance(key, jax.Array) and jax.numpy.issubdtype(key.dtype, jax.dtypes.prng_key):
            data, kind = np.asarray(jax.random.key_data(key)), str(jax.random.key_impl(key))
            packed[name] = functools.partial(jax.random.wrap_key_data, data, impl=kind)
    return serialize_bytes((function, packed))


def unpack(content: bytes) -> Callable[[], Any]:
    """Return the call that :func:`pack` made bytes of."""
    from distributed.protocol.serialize import deserialize_bytes

    function, arguments = deserialize_bytes(content)
    return functools.partial(
        function, **{name: x() if isinstance(x, functools.partial) else x for name, x in arguments.items()}
    )


def versions() -> dict[str, str]:
    """Return what must be the same here and on all workers, by name, without starting a device."""
    x64 = str(jax.config.jax_enable_x64)  # pyright: ignore[reportAttributeAccessIssue]
    found = {"jaxmotif": jaxmotif.__version__, "Python": platform.python_version(), "jax_enable_x64": x64}
    return found | {name: importlib.metadata.version(name) for name in ("jax", "jaxlib", "numpy")}


def describe(devices: Devices) -> dict[str, str]:
    """Return what must be the same on all workers, by name: versions, and the devices of one."""
    numba = importlib.metadata.version("numba") if importlib.util.find_spec("numba") else "none"
    local = select_devices(devices).local
    return versions() | {"numba": numba, "devices": f"{len(local)} x {local[0].device_kind}"}


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


def keeps_compiled() -> bool:
    """Return whether this process keeps compiled programs in a folder."""
    return jax.config.jax_compilation_cache_dir is not None  # pyright: ignore[reportAttributeAccessIssue]


def difference(about: Mapping[str, str], expected: Mapping[str, str]) -> str:
    """Say what a worker has, and what it should have."""
    return ", ".join(f"{name} {has} and not {expected[name]}" for name, has in about.items() if has != expected[name])


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
        self._at: ReachedJob | CallResult | Exception = self._replies.get()

    def advance(self, results: Sequence[JobResult]) -> ReachedJob | CallResult | Exception:
        """Return what the call comes to after the given results of its first jobs."""
        for result in results[self._given :]:
            self._at = self._ask(result)
            self._given += 1
        return self._at

    def do(self, span: Span) -> Arrays:
        """Do a unit of the job that the call has come to, and return the report of its record."""
        report = self._ask(span)
        if isinstance(report, Exception):
            raise report
        return report

    def stop(self) -> None:
        """End the thread at the next job, or where it waits."""
        self._requests.put(None)

    def stop_at(
        self, job: Job, make: Callable[[jax.Device], Task], workers: Sequence[Worker], store: Store | None
    ) -> JobResult:
        """Tell of a job, do units of it as they are asked for, and return its result when it is there."""
        work = "" if store is None else store.fingerprint
        sent = dataclasses.replace(job, difficulty=None, programs=None, note=Job.note)
        self._replies.put(ReachedJob(sent, work, fingerprint(job.name, work, job.starts)))
        tasks: list[Task] = []
        parts = 4 * len(workers) if len(workers) > 1 else 1
        while not isinstance(request := self._requests.get(), JobResult):
            if request is None:
                raise _Ended
            record = Record(job.name, job.whole.stop, job.merge, None, 0)
            try:
                empty_units(job, make, workers, cut(job.starts, [request], parts), record, False, tasks)
                self._replies.put(record.report())
            except Exception as error:
                self._replies.put(error)
        return request

    def _ask(self, request: JobResult | Span) -> Any:
        self._requests.put(request)
        return self._replies.get()

    def _make(self, content: bytes) -> None:
        on_worker.set(self)  # A thread has a context of its own.
        try:
            self._replies.put(CallResult(unpack(content)()))
        except _Ended:
            self._replies.put(ClusterError("the call was given up"))
        except Exception as error:
            self._replies.put(error)


_calls: dict[str, RunningCall] = {}
_lock = threading.Lock()


def return_same(content: Any) -> Any:
    """Return what is given: as a task of Dask's that any worker can do again."""
    return content


def advance(call: Call, spent: float, results: Sequence[JobResult]) -> ReachedJob | CallResult | Exception:
    """Return what a call comes to after the given results of its first jobs: a job, its result, or a user's error.

    Errors are returned, because Dask logs those that are raised.
    """
    try:
        with _lock:
            return _running(call, spent).advance(results)
    except Exception as error:
        return error


def do_unit(
    span: tuple[int, int], call: Call, spent: float, results: Sequence[JobResult], identity: str
) -> Arrays | Exception:
    """Do a unit of the job that a call comes to, and return the report of its record, with the seconds it took."""
    from distributed import get_worker

    try:
        with _lock:  # Tasks work with the devices of this process, so that only one unit is done at a time.
            running = _running(call, spent)
            reached = running.advance(results)
            if isinstance(reached, Exception):
                raise reached
            if isinstance(reached, CallResult):  # The time of the call was over before this worker had planned it.
                return {"spans": as_array([]), "notes": np.zeros(0, str), "seconds": np.zeros(())}
            if reached.identity != identity:
                raise ClusterError("it planned the work otherwise than another worker")
            # If the unit ends the worker, this tells which one it was.
            get_worker().log_event(BEGUN, get_worker().get_current_task())
            started = time.perf_counter()
            return running.do(Span(*span)) | {"seconds": np.array(time.perf_counter() - started)}
    except Exception as error:
        return ClusterError(f"{type(error).__name__}: {error}")


def _running(call: Call, spent: float) -> RunningCall:
    """Return a call as it runs on this worker; the lock must be held."""
    if call.name not in _calls:
        if (about := describe(call.devices)) != call.about:
            raise ClusterError(difference(about, call.about))
        for name in list(_calls)[: 1 - KEPT_CALLS]:
            _calls.pop(name).stop()
        _calls[call.name] = RunningCall(call, spent)
    return _calls[call.name]


async def forget(name: str) -> None:
    """Give up a call that has ended; Dask runs this beside the tasks."""
    if (running := _calls.pop(name, None)) is not None:
        running.stop()
