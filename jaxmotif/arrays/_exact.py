"""Integers in host memory whose sums and differences cannot wrap."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

CHUNK_BYTES = 2**22
"""Smallest piece of a table that a thread copies at a time: larger ones keep the next step of the copy waiting."""

MOST_CHUNKS = 64
"""Pieces of a table at most: taking a piece from a device costs tens of microseconds."""

MOST_THREADS = 8


def with_exact_sums(values: np.ndarray) -> np.ndarray:
    """Return integers as int64, or as Python integers where a sum of some of them may not fit 63 bits.

    So no sum and no difference that NumPy makes of the result wraps.

    Args:
      values: integers of any kind, also Python's; arrays of floats are returned as they are.

    Example:
      >>> with_exact_sums(np.array([2**61, 2**61])).dtype, with_exact_sums(np.array([2**62, 2**62])).sum()
      (dtype('int64'), 9223372036854775808)
    """
    if values.dtype == object:
        fit = sum(map(abs, values.ravel().tolist())) < 2**63
        return values.astype(np.int64) if fit else values
    if values.dtype.kind not in "iu":
        return values
    if values.dtype.itemsize < 8:
        return values.astype(np.int64)
    rows = np.atleast_1d(values)
    step = rows_in_chunk(rows)

    def add_sizes(first: int) -> float:
        return float(np.abs(rows[first : first + step].astype(np.float64)).sum())

    # The sum is rounded: what comes near the limit counts as beyond it.
    if sum(run_in_threads(add_sizes, range(0, len(rows), step))) < 2.0**63 * (1 - 2.0**-20):
        return values.astype(np.int64, copy=False)
    return values.astype(object)


def rows_in_chunk(values: Any, chunk_bytes: int = CHUNK_BYTES) -> int:
    """Return how many rows of a table are copied at a time."""
    size = max(chunk_bytes, values.nbytes // MOST_CHUNKS)
    return max(1, len(values) * size // max(values.nbytes, 1))


def run_in_threads(work: Callable[[int], T], firsts: range) -> list[T]:
    """Return what a function gives for each first row, called by as many threads as there are cores for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = min(cores, len(firsts), MOST_THREADS)
    if threads <= 1:
        return [work(first) for first in firsts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, firsts))
