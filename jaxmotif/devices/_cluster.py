"""Jobs on a cluster of Dask's ``distributed``: the workers make the call of the user, and share the units of its jobs.

- The process of the user sends the *call*, a public function and its arguments (:func:`on_cluster`), to each worker
  once. The worker runs it until it reaches its first job (:mod:`jaxmotif.devices._cluster_call`).
- This process asks one worker what the call has come to: its result, or a job. It cuts a job into units, each of
  which is a task of Dask's that any worker may do. It merges the results into a
  :class:`~jaxmotif.devices._record.Record`, which keeps the checkpoint.
- When a worker dies, Dask has its units computed again on other workers, and also the data that it held: the call and
  the results of earlier jobs. For this reason these data are submitted as tasks, and not scattered: scattered data are
  lost with the workers that hold them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import os
import queue
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from jaxmotif.devices import _cluster_call as worker
from jaxmotif.devices._gather import ClusterError
from jaxmotif.devices._job import JobResult, merge_reports, next_piece
from jaxmotif.devices._progress import progress
from jaxmotif.devices._queue import Unit
from jaxmotif.devices._ranges import from_array, gaps, split
from jaxmotif.devices._record import Record
from jaxmotif.devices._select import Cluster, Hybrid

if TYPE_CHECKING:
    from distributed import Future

F = TypeVar("F", bound=Callable[..., Any])

SHRINKING = 32
"""Units shrink towards the end of a job, down to a usual unit divided by this; smaller ones take longer to send."""

PATIENCE = 3.0
"""Seconds without news after which this process checks that there is still a worker."""

LONGEST_WAIT = 3600.0
"""Seconds, at most, that one attempt to fetch a result may take."""

_logger = logging.getLogger("jaxmotif")


def on_cluster(load: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[F], F]:
    """Let a public function that has an argument ``devices`` run on a :class:`Cluster`.

    Args:
      load: A function that takes the arguments by name and returns the arguments to send. It reads files of this
        machine, and converts objects of libraries that a worker may lack.

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
            return _Driver(cluster, arguments).run(call)

        return cast(F, call)

    return decorate


@contextlib.contextmanager
def connect(where: str, devices: str | int | Hybrid | None = None) -> Iterator[Cluster]:
    """Connect to a cluster within a ``with`` statement, and close the connection at its end.

    Args:
      where: The address of the scheduler, ``"tcp://HOST:PORT"`` or ``"tls://HOST:PORT"``, or its scheduler file.
        Certificates are those of Dask's configuration (``DASK_DISTRIBUTED__COMM__TLS__CA_FILE`` and others).
      devices: As for :class:`Cluster`.

    Raises:
      ImportError: Dask is not installed.
      ValueError: The text is neither an address nor a scheduler file.
      ClusterError: No scheduler answers there.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("a cluster needs Dask: pip install 'jaxmotif[cluster]'") from error
    is_file = "://" not in where
    if is_file and not os.path.isfile(where):
        raise ValueError(f"{where!r} is neither tcp://HOST:PORT, tls://HOST:PORT nor a scheduler file that is there")
    for name in ("distributed", "distributed.client"):  # What ends a command is told in one line.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        options: dict[str, Any] = {"scheduler_file" if is_file else "address": where}
        client = Client(**options, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(f"no scheduler can be reached at {where}: {error}") from error
    try:
        yield Cluster(client, devices)
    finally:
        client.close(timeout=2)


class _Driver:
    """A call that the workers of a cluster make, as the process of the user sees it."""

    def __init__(self, cluster: Cluster, arguments: dict[str, Any]):
        # Whether its methods wait depends on how the client was made.
        self._client: Any = cluster.client
        self._devices, self._arguments = cluster.devices, arguments
        self._name, self._begun = uuid.uuid4().hex, time.monotonic()
        self._ended: queue.SimpleQueue[Future] = queue.SimpleQueue()

    def run(self, function: Callable[..., Any]) -> Any:
        """Return what the function returns, or raise its error."""
        about, free = self._meet_workers()
        on_workers = {"devices": self._devices} | ({"progress": False} if "progress" in self._arguments else {})
        content = worker.pack(function, self._arguments | on_workers)
        call = worker.Call(self._name, content, self._devices, about, free, self._arguments.get("checkpoint") is None)
        sent = self._submit("call", 0, worker.return_same, call)
        results: list[Future] = []
        try:
            while True:
                self._watch(self._submit("plan", len(results), worker.work_on, sent, self._spent, results))
                _, reached = self._next()
                if isinstance(reached, worker.CallResult):
                    return reached.value
                for result in reached.earlier:
                    results.append(self._submit("result", len(results), worker.return_same, result))
                result = self._do_job(reached, sent, results)
                results.append(self._submit("result", len(results), worker.return_same, result))
        finally:
            if self._client.status == "running":
                self._client.run(worker.forget, self._name, wait=False, on_error="ignore")

    @property
    def _spent(self) -> float:
        return time.monotonic() - self._begun

    def _meet_workers(self) -> tuple[dict[str, str], int]:
        """Check that all workers are alike, and return their description and the least memory that is free on one."""
        met: dict[str, Any] = {}
        while not met:
            if not self._count_workers():
                _logger.warning("the cluster has no worker; waiting for one")
                self._client.wait_for_workers(1)
            met = self._client.run(worker.meet, self._devices, worker.keeps_compiled(), on_error="return")
            # A worker that the question does not reach is gone.
            met = {address: answer for address, answer in met.items() if not isinstance(answer, OSError)}
        expected = worker.versions()
        for address, answer in sorted(met.items()):
            if isinstance(answer, Exception):
                raise ClusterError(f"worker {address}: {type(answer).__name__}: {answer}")
            expected = answer[0] | expected  # What this process does not know, such as devices, the first worker says.
            if unlike := worker.difference(answer[0], expected):
                raise ClusterError(f"worker {address} has {unlike}")
        return expected, min(free for _, free in met.values())

    def _submit(self, what: str, number: int, function: Callable[..., Any], *args: Any) -> Future:
        with warnings.catch_warnings():
            # Data are submitted on purpose: Dask makes them again when the workers that hold them are gone.
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(function, *args, key=(f"jaxmotif-{what}-{self._name}", number), pure=False)

    def _watch(self, future: Future) -> Future:
        """Have :meth:`_next` return a task when it has ended."""
        future.add_done_callback(self._ended.put)
        return future

    def _next(self) -> tuple[Future, Any]:
        """Wait for a task, and return it and its result, or raise its error."""
        future: Any = self._wait_for(lambda _: self._ended.get(timeout=PATIENCE))
        if future.status == "error":
            raise self._blame(future)
        try:
            # The worker that has the result may be gone by now; then another one has to make it again.
            result = self._wait_for(lambda seconds: future.result(timeout=seconds))
        except Exception as error:
            self._check_scheduler(error)
            if future.status == "error":  # it failed when it was made again
                raise self._blame(future) from None
            raise
        if isinstance(result, Exception):
            raise result
        return future, result

    def _wait_for(self, ask: Callable[[float], Any]) -> Any:
        """Ask again and again until there is an answer, and say once if no worker is left.

        Args:
          ask: A function that waits for an answer, at most for the number of seconds that it is given. This number
            grows with each attempt, since a large answer takes longer to come.
        """
        told, seconds = False, PATIENCE
        while True:
            try:
                return ask(seconds)
            except (queue.Empty, TimeoutError):
                seconds = min(2 * seconds, LONGEST_WAIT)
                if not self._count_workers() and not told:
                    _logger.warning("the cluster has no worker left; waiting for one")
                    told = True

    def _check_scheduler(self, error: Exception | None = None) -> None:
        if isinstance(error, OSError):  # Dask learns a little later that a connection that broke was the scheduler's
            time.sleep(0.5)
        if self._client.status != "running":
            raise ClusterError(
                f"the scheduler {self._client.scheduler.addr} is gone; what was found until now is in the checkpoint, "
                "if there is one"
            )

    def _count_workers(self) -> int:
        self._check_scheduler()  # Dask would ask one that is gone for half a minute.
        try:
            return len(self._client.nthreads())
        except OSError as error:
            self._check_scheduler(error)
            raise

    def _blame(self, future: Future) -> ClusterError:
        """Return the error of a task that failed, as far as Dask knows."""
        error: Any = future.exception()
        if type(error).__name__ != "KilledWorker":
            return ClusterError(f"a task of the call failed: {type(error).__name__}: {error}")
        # Dask blames any task that a worker held when it died, even one that was done already. The task that is really
        # to blame is the one that most workers began last.
        events = [event for _, event in self._client.get_events(worker.BEGUN) if self._name in event[0][0]]
        last = {address: (tuple(key), unit) for key, address, unit in events}
        begun = Counter(key for key, _ in last.values())
        blamed = max(begun, key=begun.__getitem__, default=None)
        unit = "planning" if blamed is None else [unit for key, unit in last.values() if key == blamed][-1]
        return ClusterError(
            f"{unit} ended {error.allowed_failures + 1} workers that tried it (killed, or out of memory?); "
            "give each worker more memory, or the call less (memory=)"
        )

    def _do_job(self, reached: worker.ReachedJob, sent: Future, results: list[Future]) -> JobResult:
        """Have the workers do all units of a job that no checkpoint holds, and return its result."""
        job, folder = reached.job, self._arguments.get("checkpoint")
        record = Record(job.name, job.whole.stop, job.merge, folder, reached.work, grows=job.grows)
        units: dict[Any, Unit] = {}  # by the key of their task
        pending: set[Future] = set()
        try:
            record.open()
            for report in reached.begun:
                record.take(report)
            rest, piece = gaps(from_array(record.report()["spans"]), job.whole), reached.piece
            left = sum(job.work(span) for span in rest)
            total, show = job.work(job.whole), bool(self._arguments.get("progress"))
            with progress(total, job.unit, job.label, show, before=total - left) as meter:
                while rest or pending:
                    workers = max(1, self._count_workers())
                    # There is one more unit under way than there are workers. So few units are lost with a worker, and
                    # a worker that finishes finds the next one waiting.
                    while rest and len(pending) <= workers:
                        # Towards the end units shrink, so that all workers end together.
                        wanted = max(min(piece, left / (2 * workers)), piece / SHRINKING)
                        span = rest.pop(0)
                        unit, more = split(job.starts, Unit(span, job.work(span)), wanted)
                        rest[:0] = [] if more is None else [more.span]
                        left -= unit.work
                        arguments = sent, self._spent, results, tuple(unit.span), reached.identity
                        future = self._submit(f"unit-{len(results)}", len(units), worker.work_on, *arguments)
                        units[future.key] = unit
                        pending.add(self._watch(future))
                    future, report = self._next()
                    pending.discard(future)
                    # It is released at once: if its worker died, Dask would repeat a result that is still held, though
                    # it has been received here.
                    future.release()
                    unit = units[future.key]
                    record.take(report)
                    meter.advance(unit.work)
                    piece = next_piece(unit.work, float(report["seconds"]))
                    if from_array(report["spans"]) != [unit.span]:
                        rest = []  # A limit stops the job.
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
