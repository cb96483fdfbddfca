"""Tables of counts brought to host memory as the one type that users get: int64, or Python integers."""

from __future__ import annotations

from functools import partial
from typing import TypeGuard

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.arrays._exact import LARGEST_SUM, with_exact_sums
from jaxmotif.arrays._sizes import bucket_size


def fetch_counts(counts: jax.Array | np.ndarray, rows: int) -> np.ndarray:
    """Return a table of counts in host memory, as int64, or as Python integers where sums need more than 63 bits.

    Args:
      counts: int64 or Python integers, none negative, ``[rows or more, columns]``.
      rows: how many rows to return; the others are padding.

    Example:
      >>> fetch_counts(np.array([[1, 2], [9, 9]]), rows=1)
      array([[1, 2]])
    """
    if not is_on_accelerator(counts):
        return with_exact_sums(np.asarray(counts)[:rows])
    values, total = _fetch_from_accelerator(counts, rows)
    return values if total < LARGEST_SUM else values.astype(object)


def fetch_int64(counts: jax.Array | np.ndarray, rows: int) -> np.ndarray:
    """Return the first rows of int64 counts in host memory."""
    return _fetch_from_accelerator(counts, rows)[0] if is_on_accelerator(counts) else np.asarray(counts)[:rows]


def is_on_accelerator(counts: jax.Array | np.ndarray) -> TypeGuard[jax.Array]:
    """Return whether a table lies in the memory of one device that is not a CPU."""
    if not isinstance(counts, jax.Array) or not counts.size:
        return False
    devices = counts.devices()
    return len(devices) == 1 and next(iter(devices)).platform != "cpu"


def _fetch_from_accelerator(counts: jax.Array, rows: int) -> tuple[np.ndarray, float]:
    """Return the first rows of a table ``[rows or more, columns]``, and the sum of their counts, rounded.

    A program of the device writes them to host memory that the device can write to itself, and NumPy takes that memory
    as it is. That is five to twenty times as fast as a copy to new memory of NumPy's. Where there is not enough memory
    of that kind, such a copy is made.
    """
    size = min(bucket_size(rows), counts.shape[0])
    try:
        on_host, total = _write_to_host(counts, np.int32(rows), size=size)
        return np.asarray(on_host)[:rows], float(total)
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        values = np.asarray(counts)[:rows]
        return values, float(values.sum(dtype=np.float64))


@partial(jit64, static_argnames="size")
def _write_to_host(counts: jax.Array, rows: jax.Array, *, size: int) -> tuple[jax.Array, jax.Array]:
    values = counts[:size].astype(jnp.int64)
    real = (jnp.arange(size, dtype=jnp.int32) < rows).reshape(-1, *[1] * (counts.ndim - 1))
    return for_host(values), for_host(jnp.where(real, values, 0).astype(jnp.float64).sum())
