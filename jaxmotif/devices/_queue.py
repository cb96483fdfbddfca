"""A double-ended queue of work units, which fast and slow devices empty together, each from its own end.

Units are ordered by difficulty. CPU workers take few units at once from the irregular end, GPU workers a larger share
from the regular end. When the queue is empty, a free worker takes a unit from the worker that has the most left (Rossi
& Zhou, 4.3 and 4.4).
"""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple


class Unit(NamedTuple):
    """A piece of work: what to do, and the amount of work, in a unit that is the same for all pieces."""

    span: Any
    work: int


class Worker(NamedTuple):
    """A worker that takes units from the queue, in a thread of its own.

    Attributes:
      step: A function that does a unit and returns when it is done; called from the worker's thread.
      end: The end of the queue that the worker takes from.
      share: The share of all work that it takes at once; at least one unit.
      limit: The largest share of all work that it may do.
      last: A function that is called from the worker's thread when no unit is left for it, unless a worker failed.
      cut: A function that returns the part of a unit to do first, and the rest if there is any.
      device: The device that it works on.
    """

    step: Callable[[Any], None] = lambda span: None
    end: Literal["front", "back"] = "front"
    share: float = 0.0
    limit: float = 1.0
    last: Callable[[], None] = lambda: None
    cut: Callable[[Unit], tuple[Unit, Unit | None]] = lambda unit: (unit, None)
    device: Any = None


def run_queue(units: Sequence[Unit], workers: Sequence[Worker]) -> list[int]:
    """Have workers do all units.

    Args:
      units: The units, from the front of the queue to its back.
      workers: The workers. At least one has no limit, or work could be left over.

    Returns:
      The work that each worker did.

    Raises:
      Exception: The first exception that a worker's step raised, or KeyboardInterrupt when the user stops the run. In
        both cases no further unit is started.

    Example:
      >>> seen = []
      >>> run_queue([Unit(letter, 1) for letter in "abc"], [Worker(seen.append)]), seen
      ([3], ['a', 'b', 'c'])
    """
    if not any(worker.limit >= 1 for worker in workers):
        raise ValueError("every worker has a limit below 1: some work could be left over")
    queue, lock = deque(units), threading.Lock()
    total = sum(unit.work for unit in units)
    done = [0] * len(workers)
    taken: list[deque[Unit]] = [deque() for _ in workers]
    failures: list[BaseException] = []
    ended = [threading.Event() for _ in workers]

    def take(number: int) -> Unit | None:
        """Return the next unit of a worker, which alone changes ``done[number]``."""
        worker, own = workers[number], taken[number]

        def may(unit: Unit, size: int = 0) -> bool:
            return worker.limit >= 1 or done[number] + size + unit.work <= worker.limit * total

        with lock:
            if failures:
                return None
            if not own:
                size = 0
                # A fast device takes a whole share at once, so that it keeps to its own end of the queue.
                while queue and (not own or size < worker.share * total):
                    unit = queue[0] if worker.end == "front" else queue[-1]
                    if not may(unit, size):
                        break
                    own.append(queue.popleft() if worker.end == "front" else queue.pop())
                    size += unit.work
            if not own and not queue:
                # The worker that has the most left gives up the unit that it would have come to last.
                largest = max(taken, key=lambda units: sum(unit.work for unit in units))
                if largest and may(largest[-1]):
                    own.append(largest.pop())
            if not own:
                return None
            # Only the piece that is done now counts as done; the rest is the worker's next unit.
            unit, rest = worker.cut(own.popleft())
            if rest is not None:
                own.appendleft(rest)
            return unit

    def serve(number: int) -> None:
        try:
            while unit := take(number):
                workers[number].step(unit.span)
                # No lock is needed, because no other worker writes this entry.
                done[number] += unit.work
            # After a failure the caller decides what becomes of unfinished work.
            if not failures:
                workers[number].last()
        except BaseException as failure:  # raised below, in the caller's thread
            failures.append(failure)
        finally:
            ended[number].set()

    if len(workers) == 1:
        serve(0)
    else:
        # Each thread runs in a copy of this thread's context.
        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(serve, number), daemon=True)
            for number in range(len(workers))
        ]
        try:
            for thread in threads:
                thread.start()
            # Thread.join would not do: before Python 3.13 it forgets its thread when Ctrl-C interrupts it.
            for event in ended:
                while not event.wait(0.1):  # It wakes up now and then to notice Ctrl-C.
                    pass
        except KeyboardInterrupt as stop:
            failures.append(stop)
            for thread, event in zip(threads, ended, strict=True):
                if thread.ident is not None:  # Only a thread that was started ends.
                    # The caller collects the workers' results after this, so all of them must have ended.
                    event.wait()
    if failures:
        raise failures[0]
    return done
