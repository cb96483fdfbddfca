"""Tables of counts brought to host memory as the one type that users get: int64, or Python integers."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeGuard, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.arrays._exact import LARGEST_SUM, with_exact_sums
from jaxmotif.arrays._sizes import bucket_size

T = TypeVar("T")


def look_ahead(begun: Iterable[T], most: int) -> Iterator[T]:
    """Yield the items of ``begun`` in turn, but take ``most`` items ahead of the one that is yielded.

    If taking an item starts a program, devices get their next batches before the host waits for a result. Results that
    wait take memory on the devices, which is why their number is limited.

    Example:
      >>> next(look_ahead((print(i) for i in range(9)), most=1))
      0
      1
    """
    waiting: deque[T] = deque()
    for item in begun:
        waiting.append(item)
        if len(waiting) > most:
            yield waiting.popleft()
    yield from waiting


class Fetch(NamedTuple):
    """A table of counts on its way to host memory.

    Attributes:
      counts: int64 or Python integers, none negative, ``[rows or more, columns]``.
      rows: how many rows are fetched; the others are padding.
      written: the rows, and the sum of their counts as float64, as an accelerator writes them to host memory.
    """

    counts: jax.Array | np.ndarray
    rows: int
    written: tuple[jax.Array, jax.Array] | None

    @classmethod
    def begin(cls, counts: jax.Array | np.ndarray, rows: int) -> Fetch:
        """Begin to fetch the first rows, without waiting for them.

        A program of an accelerator writes them to host memory that the device can write to itself, and NumPy takes that
        memory as it is. That is five to twenty times as fast as a copy to new memory of NumPy's. Where there is not
        enough memory of that kind, such a copy is made.
        """
        if is_on_accelerator(counts):
            size = min(bucket_size(rows), counts.shape[0])
            with _memory_may_end():
                return cls(counts, rows, _write_to_host(counts, np.int32(rows), size=size))
        return cls(counts, rows, None)

    def wait(self) -> tuple[np.ndarray, float | None]:
        """Wait for the rows; return them as they were counted, and the sum of their counts where it is known."""
        if self.written is not None:
            with _memory_may_end():
                return np.asarray(self.written[0])[: self.rows], float(self.written[1])
        return np.asarray(self.counts)[: self.rows], None

    def values(self) -> np.ndarray:
        """Wait for the rows; return them as int64, or as Python integers where sums need more than 63 bits.

        Example:
          >>> Fetch.begin(np.array([[1, 2], [9, 9]]), rows=1).values()
          array([[1, 2]])
        """
        values, total = self.wait()
        if total is None:
            return with_exact_sums(values)
        return values if total < LARGEST_SUM else values.astype(object)


@contextlib.contextmanager
def _memory_may_end() -> Iterator[None]:
    """Leave a ``with`` statement early if a program runs out of memory, and go on with the code behind it."""
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise


def fetch_int64(counts: jax.Array | np.ndarray, rows: int) -> np.ndarray:
    """Return the first rows of int64 counts in host memory."""
    return Fetch.begin(counts, rows).wait()[0]


def fetch_arrays(arrays: Any) -> Any:
    """Return arrays in host memory, in the same structure; large ones come as fast as those of :class:`Fetch`."""
    if all(map(is_on_accelerator, jax.tree.leaves(arrays))):
        with _memory_may_end():
            return jax.tree.map(np.asarray, _all_to_host(arrays))
    return jax.device_get(arrays)


@jit64
def _all_to_host(arrays: Any) -> Any:
    return jax.tree.map(for_host, arrays)


def is_on_accelerator(counts: jax.Array | np.ndarray) -> TypeGuard[jax.Array]:
    """Return whether a table lies in the memory of one device that is not a CPU."""
    if not isinstance(counts, jax.Array) or not counts.size:
        return False
    devices = counts.devices()
    return len(devices) == 1 and next(iter(devices)).platform != "cpu"


@partial(jit64, static_argnames="size")
def _write_to_host(counts: jax.Array, rows: jax.Array, *, size: int) -> tuple[jax.Array, jax.Array]:
    values = counts[:size].astype(jnp.int64)
    real = (jnp.arange(size, dtype=jnp.int32) < rows).reshape(-1, *[1] * (counts.ndim - 1))
    return for_host(values), for_host(jnp.where(real, values, 0).astype(jnp.float64).sum())
