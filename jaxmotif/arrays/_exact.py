"""Integers whose sums and differences cannot wrap, and divisions without a remainder."""

from __future__ import annotations

from typing import Any

import numpy as np

LARGEST_SUM = 2.0**63 * (1 - 2.0**-20)
"""The largest rounded sum of 64-bit counts for which the exact sum is sure to fit 63 bits."""


def with_exact_sums(values: np.ndarray) -> np.ndarray:
    """Return integers as int64, or as Python integers where a sum of some of them may not fit 63 bits.

    NumPy's sums and differences of entries of the result then never wrap.

    Args:
      values: integers of any kind, also Python's.

    Example:
      >>> with_exact_sums(np.array([2**61, 2**61])).dtype, with_exact_sums(np.array([2**62, 2**62])).sum()
      (dtype('int64'), 9223372036854775808)
    """
    if values.dtype == object:
        fit = sum(map(abs, values.ravel().tolist())) < 2**63
        return values.astype(np.int64) if fit else values
    if values.dtype.itemsize < 8:
        return values.astype(np.int64)
    largest = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if largest * values.size < LARGEST_SUM or float(np.abs(values, dtype=np.float64).sum()) < LARGEST_SUM:
        return values.astype(np.int64, copy=False)
    return values.astype(object)


def split_sum(terms: Any, axis: int | None = None) -> tuple[Any, Any]:
    """Sum the low 32 bits of int64 terms, and the bits above, over one axis or all; :func:`join_sums` joins the sums.

    Both sums fit int64 if there are fewer than 2^31 terms, whatever the terms are.
    """
    return (terms & 0xFFFFFFFF).sum(axis), (terms >> 32).sum(axis)


def join_sums(halves: Any) -> Any:
    """Return ``low + high * 2**32`` for sums of low and of high bits, as Python integers of any size.

    Args:
      halves: the two sums of :func:`split_sum`, or such sums added up; numbers or arrays.

    Example:
      >>> join_sums((5, 2**40)) == 5 + 2**72
      True
    """
    low, high = (np.asarray(half).astype(object) for half in halves)
    return low + (high << 32)


def exact_quotient(x: Any, divisor: int) -> Any:
    """Return ``x / divisor``, for integers that the divisor divides.

    Arrays are multiplied by the inverse of the divisor's odd part, modulo the range of their type, and shifted by its
    powers of two: a TPU has no 64-bit division, and its compiler takes seconds for each one. So ``x`` may have wrapped,
    if the quotient times these powers of two does not.

    Args:
      x: a Python integer, or an array of NumPy or JAX, of signed or of Python's integers.
      divisor: a positive integer.

    Example:
      >>> exact_quotient(np.array([6, -12, 0]), 6)
      array([ 1, -2,  0])
    """
    dtype = getattr(x, "dtype", None)
    if dtype is None or dtype.kind == "O":
        return x // divisor
    twos, width = (divisor & -divisor).bit_length() - 1, 8 * dtype.itemsize
    inverse = pow(divisor >> twos, -1, 1 << width)
    return (x * (inverse - (inverse >> (width - 1) << width))) >> twos
