"""Tables of counts brought to host memory as the one type that users get: int64, or Python integers."""

from __future__ import annotations

from functools import partial

import jax
import numpy as np
from jax import lax

from jaxmotif.arrays._exact import CHUNK_BYTES, rows_in_chunk, run_in_threads, with_exact_sums
from jaxmotif.arrays._sizes import power_of_four


def fetch_counts(counts: jax.Array | np.ndarray, rows: int) -> np.ndarray:
    """Return a table of counts in host memory, as int64, or as Python integers where sums need more than 63 bits.

    Args:
      counts: uint32, int64 or Python integers, none negative, ``[rows or more, columns]``.
      rows: how many rows to return; the others are padding.
    """
    if isinstance(counts, np.ndarray) and counts.dtype == object:
        return with_exact_sums(counts[:rows])
    values = fetch_int64(counts, rows)
    # Fewer than 2^31 counts below 2^32 have no sum that passes 63 bits.
    is_small = counts.dtype == np.uint32 and values.size < 2**31
    return values if is_small else with_exact_sums(values)


def fetch_int64(counts: jax.Array | np.ndarray, rows: int, chunk_bytes: int = CHUNK_BYTES) -> np.ndarray:
    """Return the first rows of uint32 or int64 counts in host memory, as int64.

    Args:
      chunk_bytes: least size of the pieces in which uint32 counts are copied.

    Example:
      >>> fetch_int64(np.array([[1, 2], [9, 9]], np.uint32), rows=1)
      array([[1, 2]])
    """
    if counts.dtype == np.uint32 and isinstance(counts, jax.Array) and _is_on_one_accelerator(counts):
        return widen_from_device(counts, rows, chunk_bytes)
    on_host = np.asarray(counts)[:rows]
    return widen_on_host(on_host, chunk_bytes) if counts.dtype == np.uint32 else on_host


def widen_on_host(counts: np.ndarray, chunk_bytes: int = CHUNK_BYTES) -> np.ndarray:
    """Return uint32 counts as int64, converted by a few threads: most of the time goes to memory that is new."""
    values = np.empty(counts.shape, np.int64)
    step = rows_in_chunk(counts, chunk_bytes)

    def write(first: int) -> None:
        values[first : first + step] = counts[first : first + step]

    run_in_threads(write, range(0, len(counts), step))
    return values


def widen_from_device(counts: jax.Array, rows: int, chunk_bytes: int = CHUNK_BYTES) -> np.ndarray:
    """Return the first rows of uint32 counts on a device as int64.

    A copy from a device takes time by the byte, so counts are made wider on the host. A few threads each take a piece,
    wait for it and write it into the result, so that copies and conversions overlap: NumPy and JAX let other threads
    run meanwhile.
    """
    values = np.empty((rows, *counts.shape[1:]), np.int64)
    if not values.size:
        return values
    # A small graph has few rows in a table of the size of its class: no more than these are copied, in few sizes.
    step = min(rows_in_chunk(counts, chunk_bytes), len(counts), power_of_four(rows, 1024))
    # Before there are threads, so that the program is compiled once.
    jax.block_until_ready(_take_rows(counts, np.int32(0), size=step))

    def write(first: int) -> None:
        # A slice must not reach beyond the end: the last one begins earlier, with rows that are written twice.
        begin = min(first, len(counts) - step)
        piece = np.asarray(_take_rows(counts, np.int32(begin), size=step))
        values[begin : begin + step] = piece[: rows - begin]

    run_in_threads(write, range(0, rows, step))
    return values


def _is_on_one_accelerator(values: jax.Array) -> bool:
    """Return whether an array lies in the memory of one device that is not a CPU."""
    devices = values.devices()
    return len(devices) == 1 and next(iter(devices)).platform != "cpu"


@partial(jax.jit, static_argnames="size")
def _take_rows(values: jax.Array, first: jax.Array, *, size: int) -> jax.Array:
    return lax.dynamic_slice_in_dim(values, first, size)
