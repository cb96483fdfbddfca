"""Two steps along the arcs of a graph, in NumPy: arcs x -> u, each with the list of u, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

MOST = 2**15
"""Cells at a time: few enough for a cache, and enough that NumPy is called seldom."""

_FIRST = np.arange(MOST)


class Cells(NamedTuple):
    """Of some arcs: which; how long their lists are, and the first cell of each. Of their cells: ``near``, which
    numbers of all lists these are. Int64."""

    arcs: slice
    lengths: np.ndarray
    begin: np.ndarray
    near: np.ndarray

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of the arcs, at each of their cells."""
        return np.repeat(values, self.lengths)

    def along(self, firsts: np.ndarray) -> np.ndarray:
        """``firsts``, ``firsts + 1``, .. over the cells of each arc."""
        return _ascending(firsts - self.begin, self.lengths)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Over the cells of each arc; no list is empty."""
        return np.add.reduceat(values, self.begin)


def _ascending(firsts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Of each list what its first cell has, to which the number of a cell is added."""
    found = np.repeat(firsts, lengths)
    found += _FIRST[: len(found)] if len(found) <= MOST else np.arange(len(found))
    return found


class Lists:
    """``starts``, ``lengths``: int64, of each list the number of its first member, and how many there are."""

    def __init__(self, starts: np.ndarray, lengths: np.ndarray):
        self.lengths, self.starts = lengths, starts
        self._before = np.concatenate([[0], np.cumsum(lengths)])

    def cells(self, first: int, stop: int) -> Iterator[Cells]:
        """Those of a stretch of lists, so many at a time, unless it is one list."""
        while first < stop:
            last = int(np.searchsorted(self._before, self._before[first] + MOST, "right")) - 1
            last = min(max(last, first + 1), stop)
            some = slice(first, last)
            begin, lengths = self._before[some] - self._before[first], self.lengths[some]
            near = _ascending(self.starts[some] - begin, lengths)
            yield Cells(some, lengths, begin, near)
            first = last

    def groups(self, rows: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
        """The first and past the last of some rows, ``most`` at most, of lists that are done at a time; ``rows``: the
        first list of each, and past the last."""
        before, first = self._before[rows], 0
        while first < len(rows) - 1:
            stop = int(np.searchsorted(before, before[first] + MOST, "right")) - 1
            stop = max(min(stop, first + most), first + 1)
            yield first, stop
            first = stop


def order_of(numbers: np.ndarray) -> np.ndarray:
    """The stable order of whole numbers from 0 on: NumPy sorts those of 16 bits by counting, ten times as fast."""
    order = np.argsort(numbers.astype(np.uint16), kind="stable")  # the lowest 16
    for low in range(16, int(numbers.max(initial=0)).bit_length(), 16):
        order = order[np.argsort((numbers[order] >> low).astype(np.uint16), kind="stable")]
    return order
