"""Rows side by side in one array: where each starts (offsets), and in which one a place lies.

Rows are given by ``offsets [rows + 1]``: row ``r`` is places ``offsets[r] .. offsets[r + 1] - 1``. NumPy arrays stay
NumPy, JAX arrays and tracers stay JAX.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._bits import ArrayT


def row_of(offsets: ArrayT, size: int) -> ArrayT:
    """Return the row that each of ``size`` places lies in, int32 ``[size]``; places past the last row count to it.

    Example:
      >>> row_of(np.array([0, 2, 2, 3]), 5).tolist(), row_of(jnp.array([0, 2, 2, 3]), 5).tolist()
      ([0, 0, 2, 2, 2], [0, 0, 2, 2, 2])
    """
    rows = offsets.shape[0] - 1
    if isinstance(offsets, np.ndarray):
        row = np.repeat(np.arange(rows, dtype=np.int32), np.diff(offsets))
        return np.concatenate([row, np.full(size - row.shape[0], max(rows - 1, 0), np.int32)])
    # A mark at the start of every row but the first: as many as lie up to a place are the rows begun after the first.
    marks = jnp.zeros(size, jnp.int32).at[offsets[1:-1]].add(1, mode="drop")
    return jnp.cumsum(marks, dtype=jnp.int32)


def places_of(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the places of some rows, one row after another, int64 ``[lengths.sum()]``.

    Example:
      >>> places_of(np.array([5, 0]), np.array([2, 3])).tolist()
      [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths, dtype=np.int64)
    # Counted through all rows; what a row's first place is ahead of the count is added to all of it.
    return np.arange(ends[-1] if ends.size else 0) + np.repeat(starts - (ends - lengths), lengths)


def offsets_from(lengths: ArrayT) -> ArrayT:
    """Offsets of rows of these lengths, int32 ``[rows + 1]``.

    Example:
      >>> offsets_from(np.array([2, 0, 1])).tolist()
      [0, 2, 2, 3]
    """
    if isinstance(lengths, np.ndarray):
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(lengths, dtype=jnp.int32)])


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


def renumber(ids: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids below ``n``, of any shape, as 0..k-1 in their order; and the k that occur, ascending, int64.

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
    keep = np.ones(values.shape, bool)
    keep[1:] = values[1:] != values[:-1]
    return values[keep]
