"""Spans of a row of items: which are done, which are not, and how those are cut into units of about equal work."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.devices._queue import Unit


class Span(NamedTuple):
    """The items from ``first`` to ``stop - 1``."""

    first: int
    stop: int


def as_array(spans: Iterable[Span]) -> np.ndarray:
    """Return spans as an array, int64 ``[spans, 2]``."""
    return np.array(list(spans), np.int64).reshape(-1, 2)


def from_array(array: np.ndarray) -> list[Span]:
    """Return the spans of an array that :func:`as_array` made."""
    return [Span(*row) for row in array.tolist()]


def length(spans: Iterable[Span]) -> int:
    """Return the number of items in spans that do not overlap."""
    return sum(span.stop - span.first for span in spans)


def united(spans: Iterable[Span]) -> list[Span]:
    """Return spans in ascending order, where spans that touch or overlap have become one.

    Example:
      >>> united([Span(4, 6), Span(0, 2), Span(2, 3)])
      [Span(first=0, stop=3), Span(first=4, stop=6)]
    """
    result: list[Span] = []
    for span in sorted(spans):
        if result and span.first <= result[-1].stop:
            result[-1] = Span(result[-1].first, max(result[-1].stop, span.stop))
        else:
            result.append(span)
    return result


def gaps(done: Iterable[Span], whole: Span) -> list[Span]:
    """Return the spans of ``whole`` that are not in ``done``.

    Example:
      >>> gaps([Span(2, 3)], Span(0, 9))
      [Span(first=0, stop=2), Span(first=3, stop=9)]
    """
    result, first = [], whole.first
    for span in [*united(done), Span(whole.stop, whole.stop)]:
        if first < span.first:
            result.append(Span(first, span.first))
        first = span.stop
    return result


def cut(starts: np.ndarray, undone: Sequence[Span], parts: int) -> list[Unit]:
    """Cut the spans that are not done into units of about equal work, in ascending order.

    Args:
      starts: The work before each item, then the work of all, int64 ``[items + 1]``.
      undone: The spans that are not done.
      parts: The number of units, approximately.

    Example:
      >>> [(tuple(unit.span), unit.work) for unit in cut(np.array([0, 1, 2, 8, 9, 10]), [Span(0, 5)], 3)]
      [((0, 2), 2), ((2, 3), 6), ((3, 5), 2)]
    """
    total = sum(int(starts[span.stop] - starts[span.first]) for span in undone)
    units = []
    for first, stop in undone:
        begin, work = int(starts[first]), int(starts[stop] - starts[first])
        # A span has a number of pieces that is proportional to its work, but no more pieces than items.
        pieces = max(1, min(stop - first, round(work * parts / max(total, 1))))
        marks = [begin + work * piece // pieces for piece in range(1, pieces)]
        # Each piece ends at the boundary of items that is nearest to its mark. Items without work stay with the item
        # that follows them.
        after = np.searchsorted(starts, marks)
        before = np.searchsorted(starts, starts[np.maximum(after - 1, 0)])
        nearest = np.where(np.subtract(marks, starts[before]) < starts[after] - marks, before, after)
        bounds = [first, *np.clip(nearest, first, stop).tolist(), stop]
        for a, b in itertools.pairwise(bounds):
            if a < b:
                units.append(Unit(Span(a, b), int(starts[b] - starts[a])))
    return units


def split(starts: np.ndarray, unit: Unit, wanted: float) -> tuple[Unit, Unit | None]:
    """Split a unit into a piece of about the wanted work, and the rest if there is any.

    Items without work stay with those that follow them, as in :func:`cut`. An item is never divided, and a piece has at
    least one item with work.

    Example:
      >>> [tuple(unit.span) for unit in split(np.array([0, 1, 2, 8, 9, 10]), Unit(Span(0, 5), 10), 3.0)]
      [(0, 2), (2, 5)]
    """
    first, stop = unit.span
    end = int(np.searchsorted(starts, starts[first] + wanted, side="right")) - 1
    end, least = np.searchsorted(starts, starts[end]), np.searchsorted(starts, starts[first], side="right")
    end = min(max(int(end), int(least)), stop)
    work = int(starts[end] - starts[first])
    return Unit(Span(first, end), work), None if end == stop else Unit(Span(end, stop), unit.work - work)


def shrinking(units: Sequence[Unit], workers: int) -> list[Unit]:
    """Join units that touch to larger ones, whose size shrinks towards the end of the queue.

    A joined unit has three quarters of a worker's equal share of the units that are left (guided self-scheduling:
    Polychronopoulos & Kuck 1987).

    Args:
      units: The units, in ascending or descending order.
      workers: The number of workers.

    Example:
      >>> [tuple(unit.span) for unit in shrinking(cut(np.arange(17), [Span(0, 16)], 16), 2)]
      [(0, 6), (6, 9), (9, 11), (11, 12), (12, 13), (13, 14), (14, 15), (15, 16)]
    """
    result: list[Unit] = []
    to_join = 0  # units that may still join the last one
    for number, unit in enumerate(units):
        spans = united([result[-1].span, unit.span]) if to_join else []
        if len(spans) == 1:
            unit = Unit(spans[0], result.pop().work + unit.work)
            to_join -= 1
        else:
            to_join = max(3 * (len(units) - number) // (4 * workers) - 1, 0)
        result.append(unit)
    return result
