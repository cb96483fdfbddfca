"""Programs compiled side by side, before they are called.

A first call runs some dozens of programs. Left alone, XLA compiles them on one core, one after the other as they are
called. Which programs are needed mostly follows from the shapes of arrays, not from their values. So while a call
does its work, it is also *rehearsed*: another thread runs the same code, and in that thread a function made by
:func:`jaxmotif.arrays._compile.jit64` does not compute. It returns only the shapes of its results, and has further
threads compile its program. Numbers on which the next step depends are guessed (:func:`fetched`).

Compiled programs are kept in JAX's own caches. The real call finds a program there, waits for a compilation that is
under way, and compiles the programs that no thread has begun.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, TypeVar

import jax
import numpy as np
from jax.core import Tracer
from jax.stages import Wrapped

T = TypeVar("T")

THREADS = 16  # threads at most, one of which rehearses
LEAST_CORES = 4  # With fewer cores work is not rehearsed, since the call itself keeps them busy.

_logger = logging.getLogger("jaxmotif")
_rehearsal: ContextVar[Rehearsal | None] = ContextVar("rehearsal", default=None)
_known: set[Hashable] = set()  # the kinds of work that were rehearsed in this process


@contextlib.contextmanager
def set_within(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Give a variable of the context a value within a ``with`` statement, or within a function that this decorates."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


class Rehearsed(Exception):
    """Ends a rehearsal."""


def rehearsal() -> Rehearsal | None:
    """Return the rehearsal of this thread, if it rehearses."""
    return _rehearsal.get()


class Rehearsal:
    """The programs that a piece of work will need, compiled by a pool of threads."""

    def __init__(self, pool: Executor):
        self._pool = pool

    def run(self, work: Callable[[], object], default: Any) -> None:
        """Rehearse a piece of work.

        Args:
          work: the function that is rehearsed.
          default: JAX's default device in the thread that does the real work. Each thread has a default of its own,
            and programs depend on it.
        """
        try:
            with set_within(_rehearsal, self), jax.default_device(default):
                work()
        except Rehearsed:
            pass
        except Exception as error:  # The real work raises it too, unless placeholders were the reason.
            _logger.debug("a rehearsal ended early: %s", error)

    def take(self, jitted: Wrapped, args: Any, kwargs: Any) -> Any:
        """Have the program of a call compiled by another thread, and return placeholders of its results."""
        args, kwargs = jax.tree.map(_stand_in, (args, kwargs))
        # JAX's caches of programs depend on its default device too, and the work may have set another one here.
        default = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
        here = contextvars.copy_context()

        def compile_() -> None:
            with jax.default_device(default), jax.enable_x64(True), contextlib.suppress(Exception):
                here.run(lambda: jitted.lower(*args, **kwargs).compile())

        results = jitted.trace(*args, **kwargs).out_info
        self._pool.submit(compile_)
        # Results lie on the device that arguments are bound to.
        places = (x.sharding for x in jax.tree.leaves((args, kwargs)) if isinstance(x, jax.ShapeDtypeStruct))
        place = next((where for where in places if where is not None), None)
        return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place), results)


def _stand_in(x: Any) -> Any:
    if not isinstance(x, jax.Array) or isinstance(x, Tracer):
        return x
    weak = getattr(x, "weak_type", False)  # random keys have no such attribute
    return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding if x.committed else None, weak_type=weak)


def fetched(numbers: jax.Array | int, as_if: Sequence[int]) -> list[int]:
    """Fetch integers that decide what is done next; in a rehearsal, return a guess instead.

    Args:
      numbers: integers ``[N]``, or one integer, on a device.
      as_if: the likeliest values, which a rehearsal goes on with.
    """
    return list(as_if) if rehearsal() is not None else np.asarray(numbers).reshape(-1).tolist()


in_earnest = set_within(_rehearsal, None)
"""A decorator for short functions whose results decide what is done next: a rehearsal really runs them."""


def end_rehearsal() -> None:
    """End a rehearsal, if this is one, since the rest of the work needs no program."""
    if rehearsal() is not None:
        raise Rehearsed


def threads_for(device: jax.Device) -> int:
    """Return how many threads rehearse and compile; it is 0 if the device is a CPU, or if there are few cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 0 if device.platform == "cpu" or cores < LEAST_CORES else min(THREADS, cores)


def rehearsed(
    work: Callable[[], T], device: jax.Device, what: Hashable, rehearsal_of: Callable[[], object] | None = None
) -> T:
    """Return the result of ``work()``, which another thread also rehearses if that makes a first call shorter.

    Args:
      work: a function without side effects, since it is run twice.
      device: the device on which it works.
      what: the values that decide which programs it needs. Work with equal values is rehearsed only once in a process.
      rehearsal_of: a function that is rehearsed in place of ``work``, which then may have side effects.
    """
    threads = threads_for(device)
    if threads < 2 or what in _known or rehearsal() is not None:
        return work()
    _known.add(what)
    pool = ThreadPoolExecutor(threads, "jaxmotif-ahead")
    default = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    pool.submit(contextvars.copy_context().run, Rehearsal(pool).run, rehearsal_of or work, default)
    try:
        return work()
    finally:
        # Compilations that are still waiting proved unnecessary, so they are cancelled, and running ones not awaited.
        pool.shutdown(wait=False, cancel_futures=True)
