"""Stretches of a row of items: what is done, what is not, and units of about equal work."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.devices._queue import Unit


class Span(NamedTuple):
    """Items ``first`` to ``stop - 1``."""

    first: int
    stop: int


def as_array(spans: Iterable[Span]) -> np.ndarray:
    return np.array(list(spans), np.int64).reshape(-1, 2)


def from_array(array: np.ndarray) -> list[Span]:
    return [Span(*row) for row in array.tolist()]


def length(spans: Iterable[Span]) -> int:
    return sum(span.stop - span.first for span in spans)


def united(spans: Iterable[Span]) -> list[Span]:
    """Stretches in order, those that touch made one.

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
    """What of the whole is not done.

    Example:
      >>> gaps([Span(2, 3)], Span(0, 9))
      [Span(first=0, stop=2), Span(first=3, stop=9)]
    """
    # Begin, then ends and begins by turns, then the end: every other pair is a gap.
    edges = [whole.first, *(edge for span in united(done) for edge in span), whole.stop]
    return [Span(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]


def cut(starts: np.ndarray, undone: Sequence[Span], parts: int) -> list[Unit]:
    """Cuts what is undone into about so many stretches of about equal work, in order.

    Args:
      starts: int64 ``[items + 1]``, work before each item.

    Example:
      >>> [(tuple(unit.span), unit.work) for unit in cut(np.array([0, 1, 2, 8, 9, 10]), [Span(0, 5)], 3)]
      [((0, 2), 2), ((2, 3), 6), ((3, 5), 2)]
    """
    total = sum(int(starts[span.stop] - starts[span.first]) for span in undone)
    units = []
    for first, stop in undone:
        begin, work = int(starts[first]), int(starts[stop] - starts[first])
        # By its share of the work; no more pieces than items.
        pieces = max(1, min(stop - first, round(work * parts / max(total, 1))))
        marks = [begin + work * piece // pieces for piece in range(1, pieces)]
        # The item boundary nearest to each mark.
        after = np.searchsorted(starts, marks)
        # Not between items without work: these stay with what follows them.
        before = np.searchsorted(starts, starts[np.maximum(after - 1, 0)])
        nearest = np.where(np.subtract(marks, starts[before]) < starts[after] - marks, before, after)
        bounds = [first, *np.clip(nearest, first, stop).tolist(), stop]
        for a, b in itertools.pairwise(bounds):
            if a < b:
                units.append(Unit(Span(a, b), int(starts[b] - starts[a])))
    return units


def shrinking(units: Sequence[Unit], workers: int) -> list[Unit]:
    """Joins units, ascending or descending, where they touch, to larger ones: as many as three quarters of a worker's
    share of those left (guided self-scheduling: Polychronopoulos & Kuck 1987).

    Example:
      >>> [tuple(unit.span) for unit in shrinking(cut(np.arange(17), [Span(0, 16)], 16), 2)]
      [(0, 6), (6, 9), (9, 11), (11, 12), (12, 13), (13, 14), (14, 15), (15, 16)]
    """
    result: list[Unit] = []
    room = 0
    for number, unit in enumerate(units):
        whole = united([result[-1].span, unit.span]) if room else []
        if len(whole) == 1:
            unit = Unit(whole[0], result.pop().work + unit.work)
            room -= 1
        else:
            # Fewer and fewer as the queue empties: three quarters of an equal share, in units.
            room = max(3 * (len(units) - number) // (4 * workers) - 1, 0)
        result.append(unit)
    return result


def divide(units: Sequence[Unit], sizes: Sequence[int]) -> list[list[Unit]]:
    """Divides units among processes by their numbers of devices: the largest first, to where the load is least.

    Example:
      >>> [[unit.span for unit in part] for part in divide([Unit(t, w) for t, w in zip("abcd", (1, 4, 2, 1))], [1, 1])]
      [['b'], ['a', 'c', 'd']]
    """
    loads, owner = [0] * len(sizes), [0] * len(units)
    able = [number for number, size in enumerate(sizes) if size]
    for index in sorted(range(len(units)), key=lambda index: -units[index].work):
        # Per device of the process: with more devices more is taken.
        owner[index] = min(able, key=lambda number: (loads[number] + units[index].work) / sizes[number])
        # Units without work count too, or all of them would go to one process.
        loads[owner[index]] += max(1, units[index].work)
    return [[unit for unit, who in zip(units, owner, strict=True) if who == number] for number in range(len(sizes))]
