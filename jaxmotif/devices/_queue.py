"""A double-ended queue of work units that fast and slow devices empty together, each from its own end.

Rossi & Zhou, 4.3 and 4.4: units are ordered by difficulty; CPU workers take few at once from the irregular end, GPU
workers a larger share from the regular end. When nothing is left there, whoever is free takes from what whoever is
furthest behind still holds.
"""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple


class Unit(NamedTuple):
    """A piece of work: what to do, and how much of it there is (in any unit, the same for all)."""

    span: Any
    work: int


class Worker(NamedTuple):
    """A taker of units.

    Attributes:
      step: does what a unit says; called from the worker's own thread, returns when that is done.
      end: which end of the queue it takes from.
      share: of all work, taken at once (at least one unit).
      limit: largest share of all work it may do.
      last: called from there when no unit is left for it, unless a worker has failed.
      cut: what of a unit to do first, and the rest, if any.
      device: where it works.
    """

    step: Callable[[Any], None] = lambda span: None
    end: Literal["front", "back"] = "front"
    share: float = 0.0
    limit: float = 1.0
    last: Callable[[], None] = lambda: None
    cut: Callable[[Unit], tuple[Unit, Unit | None]] = lambda unit: (unit, None)
    device: Any = None


def run_queue(
    units: Sequence[Unit], workers: Sequence[Worker], advance: Callable[[int], None] = lambda work: None
) -> list[int]:
    """Empty the queue.

    Args:
      units: the front of the queue first.
      workers: at least one without a limit, or work could be left over.
      advance: told the work of every unit done (from any thread).

    Returns:
      The work each worker did.

    Raises:
      Exception: the first that a worker's step raised; KeyboardInterrupt when the user stops the run. Either way
        no further unit is started.

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
    held: list[deque[Unit]] = [deque() for _ in workers]
    failures: list[BaseException] = []
    ended = [threading.Event() for _ in workers]

    def take(number: int) -> Unit | None:
        """The next unit of a worker, which alone changes ``done[number]``."""
        worker, own = workers[number], held[number]

        def may(unit: Unit, size: int = 0) -> bool:
            return worker.limit >= 1 or done[number] + size + unit.work <= worker.limit * total

        with lock:
            if failures:
                return None
            if not own:
                size = 0
                # A share at once, so that a fast device keeps to its own end of the queue.
                while queue and (not own or size < worker.share * total):
                    unit = queue[0] if worker.end == "front" else queue[-1]
                    if not may(unit, size):
                        break
                    own.append(queue.popleft() if worker.end == "front" else queue.pop())
                    size += unit.work
            if not own and not queue:
                # Whoever holds most is furthest behind: its last unit, which it would come to last.
                behind = max(held, key=lambda units: sum(unit.work for unit in units))
                if behind and may(behind[-1]):
                    own.append(behind.pop())
            if not own:
                return None
            # The piece is counted when it is done; the rest stays first in line.
            unit, rest = worker.cut(own.popleft())
            if rest is not None:
                own.appendleft(rest)
            return unit

    def serve(number: int) -> None:
        try:
            while unit := take(number):
                workers[number].step(unit.span)
                # Each worker alone writes its own entry.
                done[number] += unit.work
                advance(unit.work)
            # Not after a failure: the caller sees to what is left.
            if not failures:
                workers[number].last()
        except BaseException as failure:  # handed to the caller below
            failures.append(failure)
        finally:
            ended[number].set()

    if len(workers) == 1:
        serve(0)
    else:
        # Each in a copy of this thread's context.
        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(serve, number), daemon=True)
            for number in range(len(workers))
        ]
        try:
            for thread in threads:
                thread.start()
            for event in ended:  # not Thread.join, which forgets its thread when Ctrl-C interrupts it (Python < 3.13)
                # Woken now and then, so that Ctrl-C is heard.
                while not event.wait(0.1):
                    pass
        except KeyboardInterrupt as stop:
            failures.append(stop)
            for thread, event in zip(threads, ended, strict=True):
                if thread.ident is not None:  # it was started
                    # Until all have ended: what they hold is collected after.
                    event.wait()
    if failures:
        raise failures[0]
    return done
