"""Jobs on a cluster of Dask's ``distributed``: the workers make the call of the user, and share the units of its jobs.

- What is sent is the *call*: a public function and its arguments (:func:`on_cluster`). It goes to each worker once.
- Each worker makes the call in a thread (:class:`_Call`). The thread stops at each job
  (:func:`~jaxmotif.devices._job.run_job`), and goes on when the result of this job is there, which all workers have
  found together. So a job needs to know nothing of clusters, and its tasks, plans and programs are kept in between.
- This process asks one worker what the call has come to: its result, or a job. It cuts the job into units, each of
  which is a task of Dask's that any worker may do, and merges what comes back into a
  :class:`~jaxmotif.devices._record.Record`, which keeps the checkpoint.
- When a worker dies, Dask has its units, and the call and the results of earlier jobs, computed again elsewhere. For
  this they are submitted and not scattered: scattered data are lost with the workers that hold them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib.metadata
import importlib.util
import inspect
import logging
import os
import platform
import queue
import threading
import time
import uuid
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import jax
import numpy as np

import jaxmotif
from jaxmotif.arrays._ahead import rehearsal
from jaxmotif.arrays._program_cache import keep_compiled
from jaxmotif.devices._checkpoint import fingerprint
from jaxmotif.devices._gather import ClusterError
from jaxmotif.devices._job import Job, JobResult, Task, empty_units, merge_reports, next_piece
from jaxmotif.devices._memory import free_memory
from jaxmotif.devices._progress import progress
from jaxmotif.devices._queue import Unit, Worker
from jaxmotif.devices._ranges import Span, as_array, cut, from_array, gaps, split
from jaxmotif.devices._record import Arrays, Record, Store, results_in
from jaxmotif.devices._select import Cluster, Devices, Hybrid, on_worker, select_devices

if TYPE_CHECKING:
    from distributed import Future, as_completed

F = TypeVar("F", bound=Callable[..., Any])

FIRST_UNITS = 16
"""Part of a job that the first unit of each worker is: small, since how long it takes is not known yet."""

LEAST_SECONDS = 0.05
"""Duration that units shrink to: shorter ones take longer to send than to do."""

KEPT_CALLS = 2
"""Calls that a worker keeps, with all that was made for them."""

_BEGUN = "jaxmotif units"
"""Dask's topic of the units that workers have begun."""

_logger = logging.getLogger("jaxmotif")


def on_cluster(load: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[F], F]:
    """Let a public function that has an argument ``devices`` run on a :class:`Cluster`.

    Args:
      load: A function of the arguments by name; it reads what lies in files of this machine, or belongs to a library
        that a worker may lack, and returns the arguments to send.

    Returns:
      A decorator.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            cluster = kwargs.get("devices")
            if not isinstance(cluster, Cluster):
                return function(*args, **kwargs)
            if kwargs.get("certify") is not None:
                raise ValueError("a cluster writes no certificates: leave out certify=, or count on one machine")
            arguments = load(inspect.signature(function).bind(*args, **kwargs).arguments)
            return _Driver(cluster, call, arguments).run()

        return cast(F, call)

    return decorate


@contextlib.contextmanager
def connect(where: str, devices: str | int | Hybrid | None = None) -> Iterator[Cluster]:
    """Connect to a cluster, and end the connection in the end.

    Args:
      where: The address of the scheduler, ``"tcp://HOST:PORT"`` or ``"tls://HOST:PORT"``, or its scheduler file.
        Certificates are those of Dask's configuration (``DASK_DISTRIBUTED__COMM__TLS__CA_FILE`` and others).
      devices: As for :class:`Cluster`.

    Raises:
      ImportError: Dask is not installed.
      ValueError: The text is neither.
      ClusterError: Nobody answers there.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("a cluster needs Dask: pip install 'jaxmotif[cluster]'") from error
    is_file = "://" not in where
    if is_file and not os.path.isfile(where):
        raise ValueError(f"{where!r} is neither tcp://HOST:PORT, tls://HOST:PORT nor a scheduler file that is there")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # What ends a command is told in one line.
    try:
        address, file = (None, where) if is_file else (where, None)
        client = Client(address, scheduler_file=file, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(f"no scheduler can be reached at {where}: {error}") from error
    try:
        yield Cluster(client, devices)
    finally:
        client.close(timeout=2)


# ---- What goes to the workers, and what comes back.


@dataclasses.dataclass(frozen=True)
class _Sent:
    """A call as it is sent.

    Attributes:
      name: A name that no other call has.
      content: The pickled function and its arguments.
      memory: The bytes that are free for the call on each worker.
      about: What all workers are (see :func:`_about`).
      devices: The devices that each worker uses.
    """

    name: str
    content: bytes
    memory: int
    about: dict[str, str]
    devices: Devices


class _Reached(NamedTuple):
    """A job that a call has come to.

    Attributes:
      job: The job, without what only its tasks need.
      work: The fingerprint of its input and options.
      identity: The fingerprint of all that decides what an item is.
    """

    job: Job
    work: str
    identity: str


class _Failure(NamedTuple):
    """Words on why a worker could not do a unit."""

    text: str


class _Result(NamedTuple):
    """The pickled result of a call."""

    content: bytes


def _versions() -> dict[str, str]:
    """Return what must be the same here and on all workers, by name, without starting a device."""
    x64 = str(jax.config.jax_enable_x64)  # pyright: ignore[reportAttributeAccessIssue]
    found = {"jaxmotif": jaxmotif.__version__, "jax": jax.__version__, "jaxlib": importlib.metadata.version("jaxlib")}
    return found | {"numpy": np.__version__, "Python": platform.python_version(), "jax_enable_x64": x64}


def _about(devices: Devices) -> dict[str, str]:
    """Return what must be the same on all workers, by name."""
    numba = "0" if importlib.util.find_spec("numba") is None else importlib.metadata.version("numba")
    local = select_devices(devices).local
    return _versions() | {"numba": numba, "devices": f"{len(local)} x {local[0].device_kind}"}


def _about_worker(devices: Devices, keep: bool, dask_worker: Any) -> tuple[dict[str, str], int]:
    """Return what a worker is, and the bytes that are free on its device.

    Args:
      devices: The devices that each worker uses.
      keep: Whether the process of the user keeps compiled programs: then the worker does so as well.
      dask_worker: The worker, which Dask passes.
    """
    folder = os.environ.get("JAXMOTIF_CACHE")
    if keep and folder != "off" and not _keeps_compiled():
        with contextlib.suppress(OSError):  # A worker without such a folder compiles again.
            keep_compiled(folder)
    device = select_devices(devices).main
    free, limit = free_memory(device), dask_worker.memory_manager.memory_limit
    if limit is not None and device.platform == "cpu":
        # Dask stops a worker that takes more than its limit.
        free = max(min(free, limit - dask_worker.monitor.get_process_memory()), 1)
    return _about(devices), free


def _keeps_compiled() -> bool:
    return jax.config.jax_compilation_cache_dir is not None  # pyright: ignore[reportAttributeAccessIssue]


# ---- On a worker.


_NOTHING: Arrays = {"spans": as_array([]), "notes": np.zeros(0, str), "seconds": np.zeros(())}
"""Report of a unit that was not begun."""


class _Ended(BaseException):
    """Ends the thread of a call that nobody waits for."""


class _Stage:
    """A job that a call has come to, whose units this worker does on its devices."""

    def __init__(self, job: Job, make: Callable[[jax.Device], Task], workers: Sequence[Worker], store: Store | None):
        self._job, self._make, self._workers = job, make, workers
        self._work = "" if store is None else store.fingerprint
        self._identity = fingerprint(job.name, self._work, job.starts)
        self._idle: defaultdict[jax.Device, list[Task]] = defaultdict(list)

    def describe(self) -> _Reached:
        job = dataclasses.replace(self._job, difficulty=None, programs=None, note=Job.note)
        return _Reached(job, self._work, self._identity)

    def do(self, span: Span, identity: str) -> Arrays:
        """Do a unit, and return the report of its record."""
        if identity != self._identity:
            raise ClusterError("it planned the work otherwise than another worker")
        record = Record(self._job.name, self._job.whole.stop, self._job.merge, None, 0)
        taken: list[tuple[jax.Device, Task]] = []

        def make(device: jax.Device) -> Task:
            if rehearsal() is not None:  # What is only rehearsed must not touch a task.
                return self._make(device)
            # A task begins anew after each collection, so it serves for many units.
            taken.append((device, self._idle[device].pop() if self._idle[device] else self._make(device)))
            return taken[-1][1]

        parts = 4 * len(self._workers) if len(self._workers) > 1 else 1
        units = cut(self._job.starts, [span], parts)
        empty_units(self._job, make, self._workers, units, record, show=False)
        for device, task in taken:
            self._idle[device].append(task)
        return record.report()


class _Call:
    """A call that this worker makes in a thread, which waits at each job for its result."""

    def __init__(self, sent: _Sent, spent: float):
        self.memory, self.spent = sent.memory, spent
        self._content = sent.content
        self._results: queue.SimpleQueue[JobResult | None] = queue.SimpleQueue()
        self._reached: queue.SimpleQueue[_Stage | _Result | Exception] = queue.SimpleQueue()
        self._given = 0
        threading.Thread(target=self._make_call, name="jaxmotif call", daemon=True).start()
        self._at = self._reached.get()

    def advance(self, results: Sequence[JobResult]) -> _Stage | _Result | Exception:
        """Return what the call comes to after the given results of its first jobs."""
        for result in results[self._given :]:
            self._results.put(result)
            self._given += 1
            self._at = self._reached.get()
        return self._at

    def stop(self) -> None:
        """End the thread at the next job, or where it waits."""
        self._results.put(None)

    def stop_at(
        self, job: Job, make: Callable[[jax.Device], Task], workers: Sequence[Worker], store: Store | None
    ) -> JobResult:
        """Tell of a job, and wait for its result."""
        self._reached.put(_Stage(job, make, workers, store))
        result = self._results.get()
        if result is None:
            raise _Ended
        return result

    def _make_call(self) -> None:
        from jaxmotif.devices._pickle import dumps, loads

        on_worker.set(self)  # A thread has a context of its own.
        try:
            function, arguments = loads(self._content, {})
            self._reached.put(_Result(dumps(function(**arguments), arguments)))
        except _Ended:
            pass
        except Exception as error:
            self._reached.put(error)


_calls: dict[str, _Call] = {}
_lock = threading.Lock()


def _call_of(sent: _Sent, spent: float, results: Sequence[JobResult]) -> _Stage | _Result | Exception:
    """Return what a call has come to on this worker; the lock must be held."""
    if sent.name not in _calls:
        if _about(sent.devices) != sent.about:
            raise ClusterError(_unlike(_about(sent.devices), sent.about))
        for name in list(_calls)[: 1 - KEPT_CALLS]:
            _calls.pop(name).stop()
        _calls[sent.name] = _Call(sent, spent)
    return _calls[sent.name].advance(results)


def _same(content: Any) -> Any:
    return content


def _lead(sent: _Sent, spent: float, results: Sequence[JobResult]) -> _Reached | _Result | Exception:
    """Return what a call has come to: a job, its result, or an error of the user's."""
    try:
        with _lock:
            at = _call_of(sent, spent, results)
            return at.describe() if isinstance(at, _Stage) else at
    except Exception as error:
        return error


def _do_unit(
    span: tuple[int, int], sent: _Sent, spent: float, results: Sequence[JobResult], identity: str
) -> Arrays | _Failure:
    """Do a unit of the job that a call has come to.

    A failure is returned, because Dask would try a unit that raised an exception nowhere else, and would log it.
    """
    from distributed import get_worker

    try:
        # Tasks work with the devices of this process, so that only one unit is done at a time.
        with _lock:
            at = _call_of(sent, spent, results)
            if isinstance(at, Exception):
                raise at
            if not isinstance(at, _Stage):
                return _NOTHING  # The time of the call was over before this worker had planned it.
            # If it ends the worker, this tells which unit it was.
            worker = get_worker()
            worker.log_event(_BEGUN, worker.get_current_task())
            started, token = time.perf_counter(), on_worker.set(_calls[sent.name])
            try:
                return at.do(Span(*span), identity) | {"seconds": np.array(time.perf_counter() - started)}
            finally:
                on_worker.reset(token)
    except Exception as error:
        return _Failure(f"{type(error).__name__}: {error}")


async def _forget(name: str) -> None:
    """Give up a call that has ended; Dask runs this beside the tasks."""
    if (call := _calls.pop(name, None)) is not None:
        call.stop()


# ---- In the process of the user.


class _Driver:
    """A call that the workers of a cluster make."""

    def __init__(self, cluster: Cluster, function: Callable[..., Any], arguments: dict[str, Any]):
        self._cluster = cluster
        # Whether its methods wait depends on how the client was made.
        self._client: Any = cluster.client
        self._function, self._arguments = function, arguments
        self._begun = time.monotonic()
        self._name = uuid.uuid4().hex

    def run(self) -> Any:
        """Return the result of the call, or raise its error."""
        from jaxmotif.devices._pickle import dumps, loads

        about, free = self._meet_workers()
        on_workers = {"devices": self._cluster.devices}
        if "progress" in self._arguments:
            on_workers["progress"] = False
        content = dumps((self._function, self._arguments | on_workers), {})
        sent = self._submit(self._key("call", 0), _same, _Sent(self._name, content, free, about, self._cluster.devices))
        results: list[Future] = []
        try:
            while True:
                lead = self._submit(self._key("lead", len(results)), _lead, sent, self._spent, results)
                ((lead, at),) = self._completed([lead])
                at = self._checked(lead, at, lambda key: "planning")
                if isinstance(at, Exception):
                    raise at
                if isinstance(at, _Result):
                    return loads(at.content, self._arguments)
                result = self._do_job(at, sent, results)
                results.append(self._submit(self._key("result", len(results)), _same, result))
        finally:
            if self._client.status == "running":
                self._client.run(_forget, self._name, wait=False, on_error="ignore")

    @property
    def _spent(self) -> float:
        return time.monotonic() - self._begun

    def _meet_workers(self) -> tuple[dict[str, str], int]:
        """Return what all workers are, and the least memory that is free on one, after checking that they are alike."""
        found: dict[str, Any] = {}
        while not found:
            if not self._client.nthreads():
                _logger.info("waiting for a worker of the cluster")
                self._client.wait_for_workers(1)
            found = self._client.run(_about_worker, self._cluster.devices, _keeps_compiled(), on_error="return")
            # A worker that the question does not reach is gone.
            found = {address: told for address, told in found.items() if not isinstance(told, OSError)}
        first: dict[str, str] = {}
        for address, told in sorted(found.items()):
            if isinstance(told, BaseException):
                raise ClusterError(f"worker {address}: {type(told).__name__}: {told}")
            first = first or told[0]
            if told[0] != (expected := first | _versions()):
                raise ClusterError(f"worker {address} has {_unlike(told[0], expected)}")
        return first, min(free for _, free in found.values())

    def _key(self, what: str, number: int) -> tuple[str, int]:
        return f"jaxmotif-{what}-{self._name}", number

    def _submit(self, key: tuple[str, int], function: Callable[..., Any], *args: Any) -> Future:
        with warnings.catch_warnings():
            # Data are submitted on purpose: Dask makes them again when the workers that hold them are gone.
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(function, *args, key=key, pure=False)

    def _completed(self, futures: Sequence[Future]) -> as_completed:
        from distributed import as_completed

        return as_completed(futures, loop=self._client.loop, with_results=True, raise_errors=False)

    def _checked(self, future: Any, result: Any, name: Callable[[Any], str]) -> Any:
        """Return what a task gave, or raise an error that names it by its key."""
        if future.status == "error":
            error = future.exception()
            if type(error).__name__ == "KilledWorker":
                # Dask blames any task that a worker had when it died; the one to blame was begun by all of these.
                keys = [tuple(key) for _, key in self._client.get_events(_BEGUN)]
                begun = Counter(key for key in keys if key[0].endswith(self._name))
                what = name(max(begun, key=begun.__getitem__, default=future.key))
                raise ClusterError(
                    f"{what} ended {error.allowed_failures + 1} workers that tried it (killed, or out of memory?); "
                    "give each worker more memory, or the call less (memory=)"
                )
            raise ClusterError(f"{name(future.key)} failed: {type(error).__name__}: {error}")
        if future.status != "finished":
            raise ClusterError(
                f"the scheduler {self._client.scheduler.addr} is gone; what was found until now is in the checkpoint, "
                "if there is one"
            )
        if isinstance(result, _Failure):
            raise ClusterError(f"{name(future.key)} failed on a worker: {result.text}")
        return result

    def _do_job(self, reached: _Reached, sent: Future, results: list[Future]) -> JobResult:
        """Have the workers do all units of a job that no checkpoint holds, and return its result."""
        job, folder = reached.job, self._arguments.get("checkpoint")
        store = None if folder is None else Store(folder, reached.work)
        record = Record(job.name, job.whole.stop, job.merge, store, 0)
        units: dict[tuple[str, int], Unit] = {}  # by the key of their task
        pending: set[Future] = set()
        finished = self._completed([])

        def name(key: Any) -> str:
            first, stop = units[key].span
            return f"unit {first} to {stop} of {job.name}"

        def submit_units() -> None:
            """Have each worker do a unit, and know of another one to do next."""
            workers = max(1, len(self._client.nthreads()))
            while len(pending) < 2 * workers and (unit := rest.take(workers)) is not None:
                key = self._key(f"unit-{len(results)}", len(units))
                units[key] = unit
                future = self._submit(key, _do_unit, tuple(unit.span), sent, self._spent, results, reached.identity)
                pending.add(future)
                finished.add(future)

        try:
            rest = _Rest(job.starts, gaps(from_array(record.open()), job.whole))
            with progress(rest.work, job.unit, job.label, bool(self._arguments.get("progress"))) as meter:
                submit_units()
                for future, found in finished:
                    pending.discard(future)
                    report, unit = self._checked(future, found, name), units[future.key]
                    # At once: what is still held when its worker dies is done again, though it has come back.
                    future.release()
                    _take(report, record)
                    rest.learn(unit, float(report["seconds"]), whole=from_array(report["spans"]) == [unit.span])
                    meter.advance(unit.work)
                    submit_units()
        except BaseException:
            if self._client.status == "running":
                self._client.cancel(list(pending), force=True)
            raise
        finally:
            record.save()
            record.close()
        result = merge_reports(job, [record.report()], [])
        if not result.finished and self._arguments.get("time_limit") is None:
            raise ClusterError(f"a worker did not come to {job.name}: it planned the call otherwise than another one")
        return result


class _Rest:
    """Remainder of a job, of which units are taken one by one.

    A unit takes PIECE_SECONDS or so, once it is known how long work takes. Towards the end units shrink, so that all
    workers end together.

    Attributes:
      work: The work that is left.
    """

    def __init__(self, starts: np.ndarray, undone: Sequence[Span]):
        self._starts = starts
        self._units = [Unit(span, int(starts[span.stop] - starts[span.first])) for span in reversed(undone)]
        self.work = sum(unit.work for unit in self._units)
        self._first = self.work / FIRST_UNITS
        self._piece: float | None = None
        self._least = 0.0

    def take(self, workers: int) -> Unit | None:
        """Return the next unit, or ``None`` if nothing is left."""
        if not self._units:
            return None
        wanted = self._first / workers
        if self._piece is not None:
            wanted = max(self._least, min(self._piece, self.work / (2 * workers)))
        unit, more = split(self._starts, self._units.pop(), wanted)
        if more is not None:
            self._units.append(more)
        self.work -= unit.work
        return unit

    def learn(self, unit: Unit, seconds: float, whole: bool) -> None:
        """Learn how long a unit took, and that a limit stops the job if it is not done as a whole."""
        self._piece = next_piece(unit.work, seconds)
        self._least = unit.work * LEAST_SECONDS / max(seconds, 1e-9)
        if not whole:
            self._units = []


def _take(report: Arrays, record: Record) -> None:
    """Add the report of a unit to the record, and save that when it is due."""
    if spans := from_array(report["spans"]):
        record.add(spans, results_in(report, "done/"))
    if left := results_in(report, "left/"):
        record.leave(left)
    for note in report["notes"]:
        record.note(str(note))
    if record.due():
        record.save()


def _unlike(about: Mapping[str, str], expected: Mapping[str, str]) -> str:
    """Say what a worker has, and what it should have."""
    parts = [f"{name} {about[name]} and not {expected[name]}" for name in about if about[name] != expected[name]]
    return ", ".join(parts)
