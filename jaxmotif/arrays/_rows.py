"""Rows side by side in one array: where each starts (offsets), and in which one a place lies.

Rows are given by ``offsets [rows + 1]``: row ``r`` is places ``offsets[r] .. offsets[r + 1] - 1``. NumPy arrays stay
NumPy, JAX arrays and tracers stay JAX.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import DTypeLike

from jaxmotif.arrays._bits import ArrayT, low_word, pair_key
from jaxmotif.arrays._compile import target
from jaxmotif.arrays._sums import running_sum


def row_of(offsets: ArrayT, size: int) -> ArrayT:
    """Return the row in which each of ``size`` places lies, int32 ``[size]``; the last row for places past its end.

    Example:
      >>> row_of(np.array([0, 2, 2, 3]), 5).tolist(), row_of(jnp.array([0, 2, 2, 3]), 5).tolist()
      ([0, 0, 2, 2, 2], [0, 0, 2, 2, 2])
    """
    rows = offsets.shape[0] - 1
    if isinstance(offsets, np.ndarray):
        row = np.repeat(np.arange(rows, dtype=np.int32), np.diff(offsets))
        return np.concatenate([row, np.full(size - row.shape[0], max(rows - 1, 0), np.int32)])
    # Every row but the first has a mark where it starts. The number of marks up to a place is then the place's row.
    # On a GPU, adding several marks at one place is slow, and padding makes many empty rows at either end. So the
    # empty rows at the beginning are counted all at once, and those at the end get no marks.
    starts = offsets[1:-1]
    marked = jnp.where((starts > 0) & (starts < offsets[-1]), starts, jnp.int32(size))
    marks = jnp.zeros(size, jnp.int32).at[marked].add(1, mode="drop")
    begun = jnp.cumsum(marks, dtype=jnp.int32) + (starts == 0).sum(dtype=jnp.int32)
    return jnp.where(jnp.arange(size, dtype=jnp.int32) < offsets[-1], begun, jnp.int32(max(rows - 1, 0)))


def places_of_true(mask: ArrayT) -> ArrayT:
    """Return the places where a mask ``[L]`` is true, ascending, and then ``L``, int32 ``[L]``.

    The result has a fixed length, since the arrays of a compiled program cannot depend on how many entries are true.

    Example:
      >>> mask = np.array([False, True, False, True])
      >>> places_of_true(mask).tolist(), places_of_true(jnp.array(mask)).tolist()
      ([1, 3, 4, 4], [1, 3, 4, 4])
    """
    size = mask.shape[0]
    if isinstance(mask, np.ndarray):
        places = np.flatnonzero(mask).astype(np.int32)
        return np.pad(places, (0, size - places.size), constant_values=size)
    place = jnp.where(mask, running_sum(mask, jnp.int32) - 1, jnp.int32(size))
    return jnp.full(size, size, jnp.int32).at[place].set(jnp.arange(size, dtype=jnp.int32), mode="drop")


def stable_order(keys: ArrayT) -> ArrayT:
    """Return the places of integers ``[L]`` in ascending order of the integers, equal ones as they stand, int32.

    The integers are from 0 to 2^31 - 1. JAX arrays are sorted inside :func:`jit64`.

    Example:
      >>> stable_order(np.array([3, 1, 3, 0])).tolist()
      [3, 1, 0, 2]
    """
    if isinstance(keys, np.ndarray):
        return low_word(np.sort(pair_key(keys, np.arange(keys.shape[0], dtype=np.int32))))
    place = jnp.arange(keys.shape[0], dtype=jnp.int32)
    if target().is_accelerator:  # A GPU sorts half as many bits then; a CPU takes six times as long.
        return lax.sort((keys, place), num_keys=1, is_stable=True)[1]
    return low_word(jnp.sort(pair_key(keys, place)))


def pair_order(first: ArrayT, second: ArrayT) -> ArrayT:
    """Return the places of pairs of integers ``[L]`` in ascending order of the first, then of the second, int32.

    Integers are those of :func:`stable_order`, and equal pairs stay as they stand. For a GPU two sorts by one integer
    each compile in a third of the time that one by both takes, and run no longer.

    Example:
      >>> pair_order(np.array([1, 0, 1]), np.array([2, 9, 0])).tolist()
      [1, 2, 0]
    """
    by_second: Any = stable_order(second)
    return by_second[stable_order(first[by_second])]


def inverse_order(order: ArrayT) -> ArrayT:
    """Return the place of each number in an order of the numbers from 0 on, int32.

    Example:
      >>> order = np.array([2, 0, 1])
      >>> inverse_order(order).tolist(), inverse_order(jnp.array(order)).tolist()
      ([1, 2, 0], [1, 2, 0])
    """
    places = np.arange(order.shape[0], dtype=np.int32)
    if isinstance(order, np.ndarray):
        inverse = np.empty_like(places)
        inverse[order] = places
        return inverse
    return jnp.zeros(order.shape[0], jnp.int32).at[order].set(places, unique_indices=True)


def places_of(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the places of some rows, one row after another, int64 ``[lengths.sum()]``.

    Example:
      >>> places_of(np.array([5, 0]), np.array([2, 3])).tolist()
      [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths, dtype=np.int64)
    # The places are counted through all rows, and each row is moved by how far its start is ahead of the count.
    return np.arange(ends[-1] if ends.size else 0) + np.repeat(starts - (ends - lengths), lengths)


def offsets_from(lengths: ArrayT, dtype: DTypeLike = np.int32) -> ArrayT:
    """Return the offsets of rows from the rows' lengths, ``[rows + 1]``, int32 or another dtype.

    Example:
      >>> offsets_from(np.array([2, 0, 1])).tolist()
      [0, 2, 2, 3]
    """
    if isinstance(lengths, np.ndarray):
        return np.concatenate([[0], np.cumsum(lengths)]).astype(dtype, copy=False)
    return jnp.concatenate([jnp.zeros(1, dtype), jnp.cumsum(lengths, dtype=dtype)])


def offsets_of(row: ArrayT, rows: int) -> ArrayT:
    """Return the offsets of rows, int32 ``[rows + 1]``, by counting the row of each entry.

    Entries of rows at or past ``rows`` (padding) are left out.

    Example:
      >>> offsets_of(np.array([0, 0, 2, 3]), 3).tolist(), offsets_of(jnp.array([0, 0, 2, 3]), 3).tolist()
      ([0, 2, 2, 3], [0, 2, 2, 3])
    """
    if isinstance(row, np.ndarray):
        return offsets_from(np.bincount(row, minlength=rows)[:rows])
    return offsets_from(jnp.zeros(rows, jnp.int32).at[row].add(1, mode="drop"))


def pad_rows(array: np.ndarray, rows: int, fill: int = 0) -> np.ndarray:
    """Return an array with its first axis grown to a number of rows.

    Example:
      >>> pad_rows(np.array([[1, 2]]), 2).tolist(), pad_rows(np.array([3]), 2, fill=-1).tolist()
      ([[1, 2], [0, 0]], [3, -1])
    """
    # NumPy's own padding takes three times as long.
    padded = np.full((rows, *array.shape[1:]), fill, array.dtype)
    padded[: len(array)] = array
    return padded


def renumber(ids: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Replace ids, all below ``n``, by their places among the k different ones that occur.

    Returns:
      The places, in the shape of the ids, and the ids that occur, ascending, int64 ``[k]``.

    Example:
      >>> renumber(np.array([[7, 2], [2, 9]]), 10)
      (array([[1, 0],
             [0, 2]]), array([2, 7, 9]))
    """
    if n <= 4 * ids.size + 1024:  # a table of all numbers costs less than a sort
        present = np.zeros(n, bool)
        present[ids] = True
        kept = np.flatnonzero(present)
        return (ids if kept.shape[0] == n else (np.cumsum(present) - 1)[ids]), kept
    kept = sorted_unique(ids.ravel()).astype(np.int64)
    return np.searchsorted(kept, ids), kept


def sorted_unique(values: np.ndarray) -> np.ndarray:
    """Return the distinct values, ascending; ``np.unique`` takes many times as long on large integer arrays."""
    values = np.sort(values)
    return values[first_of_each(values)]


def first_of_each(values: ArrayT) -> ArrayT:
    """Mark the first of each run of equal values, bool ``[L]``."""
    xp: Any = np if isinstance(values, np.ndarray) else jnp
    return xp.concatenate([xp.ones(values[:1].shape, bool), values[1:] != values[:-1]])
