"""Integers in host memory whose sums and differences cannot wrap."""

from __future__ import annotations

import numpy as np

LARGEST_SUM = 2.0**63 * (1 - 2.0**-20)
"""The largest sum of 64-bit counts that surely fits 63 bits, where the sum was rounded."""


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
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if largest * values.size < LARGEST_SUM or float(np.abs(values, dtype=np.float64).sum()) < LARGEST_SUM:
        return values.astype(np.int64, copy=False)
    return values.astype(object)
