"""Cut the work of a run into parts of equal work, and order them by difficulty."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from jaxmotif.devices.queue import Unit
from jaxmotif.graph.order import DegreeOrder
from jaxmotif.graphlets.sparse import Plan, Ranges
from jaxmotif.kernels.codegree import CodegreePlan
from jaxmotif.kernels.expand import FlatWork

EdgeOrder = Literal["degree", "-degree", "volume", "-volume"]
"""How a queue of edges is ordered (paper, 4.3 and Table 4): most difficult first, or ``-`` reversed."""


def split_ranges(xp: Any, plan: Plan, parts: int) -> Ranges:
    """Ranges with a leading axis of ``parts`` entries, each about the same number of tests and of wedges.

    Args:
      xp: NumPy or (in its 64-bit mode) jax.numpy, as the plan's arrays.
      parts: static.
    """
    nodes = plan.word_starts.shape[0] - 1
    share = xp.arange(1, parts, dtype=np.int64)

    def cut(starts: Any, last: Any) -> tuple[Any, Any]:
        inner = xp.minimum(xp.searchsorted(starts, starts[-1] * share // parts).astype(np.int32), last)
        first, stop = xp.zeros(1, np.int32), xp.zeros(1, np.int32) + last
        return xp.concatenate([first, inner]), xp.concatenate([inner, stop])

    tests = plan.triangles.total * xp.arange(parts + 1, dtype=np.int64) // parts
    return Ranges(
        (tests[:-1], tests[1:]),
        cut(plan.wedges.heavy_starts, plan.wedges.heavy_count.astype(np.int32)),
        cut(plan.wedges.light_starts, np.int32(nodes)),
        cut(plan.triangle_starts, np.int32(nodes)),
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
    plan = _host_starts(plan)
    ranges = split_ranges(np, plan, parts)
    wedges = plan.wedges
    difficulty = _difficulty(order, by) if by else None

    def units(name: str, starts: np.ndarray, low: Any, high: Any) -> list[tuple[float, Unit]]:
        found = []
        for a, b in zip(low, high, strict=True):
            work = int(starts[b] - starts[a]) if name != "tests" else int(b - a)
            if work:
                found.append((_score(name, a, b), Unit(idle._replace(**{name: (a, b)}), work)))
        return found

    heavy_nodes = np.flatnonzero(np.diff(wedges.heavy_row, prepend=-1))
    node_degree = np.asarray(order.degree).astype(np.float64)

    def _score(name: str, a: Any, b: Any) -> float:
        if difficulty is None:
            return 0.0
        if name == "heavy":
            nodes = heavy_nodes[a:b]
        elif name == "tests":
            low, high = np.searchsorted(plan.triangle_starts, [a, b])
            nodes = np.arange(max(low - 1, 0), high)
        else:
            nodes = np.arange(a, b)
        edges = node_degree[nodes]
        return float((difficulty[nodes] * edges).sum() / max(edges.sum(), 1.0))

    first = units("tests", plan.triangle_starts, *ranges.tests)
    first += units("heavy", wedges.heavy_starts, *ranges.heavy)
    first += units("light", wedges.light_starts, *ranges.light)
    second = units("tails", plan.triangle_starts, *ranges.tails)
    reverse = not (by or "").startswith("-")
    if by:
        first.sort(key=lambda scored: scored[0], reverse=reverse)
        second.sort(key=lambda scored: scored[0], reverse=reverse)
    return Units([unit for _, unit in first], [unit for _, unit in second])


def _host_starts(plan: Plan) -> Plan:
    """The plan with only what cutting needs, as NumPy arrays; the work lists stay where they are."""
    nothing = np.zeros(0, np.int32)
    wedges = plan.wedges
    total = FlatWork(nothing, np.asarray(plan.triangles.total)[None])
    return Plan(
        total, np.asarray(plan.triangle_starts), np.asarray(plan.word_starts),
        CodegreePlan(
            nothing, nothing, np.asarray(wedges.heavy_row), np.asarray(wedges.heavy_starts),
            np.asarray(wedges.light_starts), np.asarray(wedges.heavy_count),
        ),
    )  # fmt: skip


def _difficulty(order: DegreeOrder, by: EdgeOrder) -> np.ndarray:
    """Mean over each node's edges of the edge's degree or volume, float64 ``[N]`` by rank."""
    m = int(order.num_edges)
    u, v = np.asarray(order.tail)[:m], np.asarray(order.head)[:m]
    degree = np.asarray(order.degree).astype(np.float64)
    if by.endswith("volume"):
        value = np.bincount(u, degree[v], degree.size) + np.bincount(v, degree[u], degree.size)
    else:
        value = degree
    of_edge = value[u] + value[v]
    total = np.bincount(u, of_edge, degree.size) + np.bincount(v, of_edge, degree.size)
    return total / np.maximum(degree, 1)
