"""Cut the work of a run into parts of equal work, and order them by difficulty."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.devices._ranges import Span
from jaxmotif.devices._select import Order
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets._sparse import Plan, Ranges
from jaxmotif.kernels._expand import take


class Starts(NamedTuple):
    """Positions at which a run can be cut.

    Attributes:
      tests: how many membership tests there are, int64.
      tails: the first test of each tail, int64.
      heavy: the first wedge of each heavy node, int64.
      light: the first wedge of each light node, int64.
      heavy_count: how many nodes are heavy.
    """

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


def split_ranges(xp: ModuleType, starts: Starts, parts: int) -> Ranges:
    """Return ranges with a leading axis of ``parts`` entries, each about the same number of tests and of wedges.

    Args:
      xp: the module of the arrays, NumPy or (in its 64-bit mode) jax.numpy.
      starts: where the run can be cut.
      parts: how many ranges to make; static.
    """
    nodes = np.int32(starts.tails.shape[0] - 1)
    share = xp.arange(1, parts, dtype=np.int64)

    def cut(first: jax.Array, last: jax.Array | np.integer) -> tuple[Any, Any]:
        # Cuts are at nodes, each the first one at or past an equal share of the work.
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


class PassWork(NamedTuple):
    """Work before each node of the degree order, int64 ``[n + 1]``.

    Padding nodes, which come first in the order, are not counted.

    Attributes:
      first: the work of the pass that finds triangles and 4-cycles.
      second: the work of the pass that finds 4-cliques.
    """

    first: np.ndarray
    second: np.ndarray


def pass_work(order: DegreeOrder, plan: Plan) -> PassWork:
    """Return the work of both passes: membership tests by lowest node, and wedges by highest node (host).

    It is the same for every plan of a graph.
    """
    skip = order.node_capacity - int(order.num_nodes)
    tests, wedges = np.asarray(plan.triangle_starts), plan.wedges
    number = np.asarray(wedges.heavy_row)
    # A running number that grows marks a heavy node, which has wedges of its own; other nodes have none.
    heavy = np.where(np.diff(number, prepend=-1), np.diff(np.asarray(wedges.heavy_starts))[np.maximum(number, 0)], 0)
    of_node = heavy + np.diff(np.asarray(wedges.light_starts))
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(of_node, dtype=np.int64)])
    # Padding nodes come first, without work.
    return PassWork((tests + before)[skip:], tests[skip:].astype(np.int64))


def span_ranges(plan: Plan, skip: jax.Array, first: jax.Array, stop: jax.Array) -> Ranges:
    """Return the ranges of the work at nodes ``first`` to ``stop - 1`` of :func:`pass_work`.

    The first ``skip`` ranks are padding nodes.
    """
    low, high = (skip + first).astype(jnp.int32), (skip + stop).astype(jnp.int32)

    def heavy_before(rank: jax.Array) -> Any:
        # The number of heavy nodes before a rank is the running number of the node before it, plus one.
        return jnp.where(rank > 0, take(plan.wedges.heavy_row, rank - 1) + 1, 0).astype(jnp.int32)

    tests = take(plan.triangle_starts, low), take(plan.triangle_starts, high)
    return Ranges(tests, (heavy_before(low), heavy_before(high)), (low, high), (low, high))


def span_difficulty(order: DegreeOrder, by: Order) -> Callable[[Span], float]:
    """Return a function that measures how difficult a stretch of nodes is.

    The measure is the mean degree of the edges' ends, or their mean volume (the sum of the degrees of both ends'
    neighbours). It is negative for an order whose name begins with ``-``.
    """
    degree = np.asarray(order.degree).astype(np.float64)
    skip, sign = order.node_capacity - int(order.num_nodes), -1.0 if by.startswith("-") else 1.0
    difficulty = _difficulty(order, degree, by)

    def mean(span: Span) -> float:
        nodes = slice(skip + span.first, skip + span.stop)
        # Edges count by their ends, so a node's mean is weighted by its degree.
        return sign * float((difficulty[nodes] * degree[nodes]).sum() / max(degree[nodes].sum(), 1.0))

    return mean


def _difficulty(order: DegreeOrder, degree: np.ndarray, by: Order) -> np.ndarray:
    """Return the mean over each node's edges of the edge's degree or volume, float64 ``[N]`` by rank."""
    m = int(order.num_edges)
    u, v = np.asarray(order.tail)[:m], np.asarray(order.head)[:m]
    if by.endswith("volume"):
        value = np.bincount(u, degree[v], degree.size) + np.bincount(v, degree[u], degree.size)
    else:
        value = degree
    of_edge = value[u] + value[v]
    total = np.bincount(u, of_edge, degree.size) + np.bincount(v, of_edge, degree.size)
    return total / np.maximum(degree, 1)
