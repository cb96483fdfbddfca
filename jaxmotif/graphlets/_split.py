"""Cut the work of a run into parts of equal work, and order them by difficulty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.devices._ranges import Span
from jaxmotif.devices._select import Order
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets._sparse import Plan, Ranges
from jaxmotif.kernels._expand import take


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
    m = int(order.num_edges)
    u, v = np.asarray(order.tail)[:m], np.asarray(order.head)[:m]

    def at_nodes(at_tail: np.ndarray, at_head: np.ndarray) -> np.ndarray:
        return np.bincount(u, at_tail, degree.size) + np.bincount(v, at_head, degree.size)

    value = at_nodes(degree[v], degree[u]) if by.endswith("volume") else degree
    # Edges count by their ends: at each node the sum over its edges, so that a mean is one of edges.
    total = at_nodes(value[u] + value[v], value[u] + value[v])

    def mean(span: Span) -> float:
        nodes = slice(skip + span.first, skip + span.stop)
        return sign * float(total[nodes].sum() / max(degree[nodes].sum(), 1.0))

    return mean
