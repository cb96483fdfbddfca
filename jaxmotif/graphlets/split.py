"""Cut the work of a run into parts of equal work, and order them by difficulty."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from jaxmotif.devices.queue import Unit
from jaxmotif.graph.order import DegreeOrder
from jaxmotif.graphlets.sparse import Plan, Ranges

EdgeOrder = Literal["degree", "-degree", "volume", "-volume"]
"""How a queue of edges is ordered (paper, 4.3 and Table 4): most difficult first, or ``-`` reversed."""


class Starts(NamedTuple):
    """What is needed to cut a run: how many membership tests there are, the first test of each tail, the first wedge
    of each heavy node and of each light one (all int64), and how many nodes are heavy."""

    tests: Any
    tails: Any
    heavy: Any
    light: Any
    heavy_count: Any

    @classmethod
    def of(cls, plan: Plan) -> Starts:
        wedges = plan.wedges
        starts = (plan.triangle_starts, wedges.heavy_starts, wedges.light_starts)
        return cls(plan.triangles.total, *starts, wedges.heavy_count)


def split_ranges(xp: Any, starts: Starts, parts: int) -> Ranges:
    """Ranges with a leading axis of ``parts`` entries, each about the same number of tests and of wedges.

    Args:
      xp: NumPy or (in its 64-bit mode) jax.numpy, as the arrays.
      parts: static.
    """
    nodes = np.int32(starts.tails.shape[0] - 1)
    share = xp.arange(1, parts, dtype=np.int64)

    def cut(first: Any, last: Any) -> tuple[Any, Any]:
        inner = xp.minimum(xp.searchsorted(first, first[-1] * share // parts).astype(np.int32), last)
        zero = xp.zeros(1, np.int32)
        return xp.concatenate([zero, inner]), xp.concatenate([inner, zero + last])

    tests = starts.tests * xp.arange(parts + 1, dtype=np.int64) // parts
    heavy_count = starts.heavy_count.astype(np.int32)
    return Ranges(
        tests=(tests[:-1], tests[1:]),
        heavy=cut(starts.heavy, heavy_count),
        light=cut(starts.light, nodes),
        tails=cut(starts.tails, nodes),
    )


class Units(NamedTuple):
    """The units of the two passes, most difficult first; a task is a :class:`Ranges`."""

    first: list[Unit]
    second: list[Unit]


def make_units(order: DegreeOrder, plan: Plan, parts: int, by: EdgeOrder | None = None) -> Units:
    """Cut a run into about ``parts`` units a pass, each a stretch of the degree order.

    Args:
      order, plan: on any device; only what is needed is copied to the host.
      by: order the queue by the mean degree of the edges' ends, or by their mean volume (sum of the degrees of
        both ends' neighbours); ``None`` leaves the order of the work.
    """
    none = (np.int32(0), np.int32(0))
    idle = Ranges((np.int64(0), np.int64(0)), none, none, none)
    starts = Starts(*(np.asarray(x) for x in Starts.of(plan)))
    ranges = split_ranges(np, starts, parts)
    heavy_nodes = np.flatnonzero(np.diff(np.asarray(plan.wedges.heavy_row), prepend=-1))
    degree = np.asarray(order.degree).astype(np.float64)
    difficulty = _difficulty(order, degree, by) if by else np.zeros_like(degree)

    def units(kind: str) -> list[tuple[float, Unit]]:
        found = []
        for low, high in zip(*getattr(ranges, kind), strict=True):
            work = int(high - low) if kind == "tests" else int(np.diff(getattr(starts, kind)[[low, high]])[0])
            if kind == "tests":
                first = np.searchsorted(starts.tails, low, side="right") - 1
                nodes = np.arange(first, np.searchsorted(starts.tails, high))
            else:
                nodes = heavy_nodes[low:high] if kind == "heavy" else np.arange(low, high)
            score = float((difficulty[nodes] * degree[nodes]).sum() / max(degree[nodes].sum(), 1.0))
            if work:
                found.append((score, Unit(idle._replace(**{kind: (low, high)}), work)))
        return found

    first, second = units("tests") + units("heavy") + units("light"), units("tails")
    if by:
        for queue in (first, second):
            queue.sort(key=lambda scored: scored[0], reverse=not by.startswith("-"))
    return Units([unit for _, unit in first], [unit for _, unit in second])


def _difficulty(order: DegreeOrder, degree: np.ndarray, by: EdgeOrder) -> np.ndarray:
    """Mean over each node's edges of the edge's degree or volume, float64 ``[N]`` by rank."""
    m = int(order.num_edges)
    u, v = np.asarray(order.tail)[:m], np.asarray(order.head)[:m]
    if by.endswith("volume"):
        value = np.bincount(u, degree[v], degree.size) + np.bincount(v, degree[u], degree.size)
    else:
        value = degree
    of_edge = value[u] + value[v]
    total = np.bincount(u, of_edge, degree.size) + np.bincount(v, of_edge, degree.size)
    return total / np.maximum(degree, 1)
