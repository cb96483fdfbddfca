"""Triangles and 4-cycles alone: the first pass of a run, for those who need no more (clustering coefficients)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._compile import jit64
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._select import select_devices
from jaxmotif.graph import Graph
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._prepared import prepare_graph
from jaxmotif.graphlets._run import smaller
from jaxmotif.graphlets._sparse import FirstSums, Plan
from jaxmotif.graphlets._tuning import Tuning


class EdgeCycles(NamedTuple):
    """Cycles at each edge, int64 ``[m]`` in the order of ``Graph.edge_list()``.

    Attributes:
      triangles: how many triangles the edge lies in.
      squares: how many 4-cycles, induced or not, the edge lies in; ``None`` when not asked for.
    """

    triangles: np.ndarray
    squares: np.ndarray | None


def edge_cycles(graph: Graph, squares: bool = False) -> EdgeCycles:
    """Count the triangles (and 4-cycles) at each edge of an undirected graph.

    Example:
      >>> edge_cycles(Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])).triangles.tolist()
      [1, 1, 1, 0]
    """
    empty = np.zeros(graph.m, np.int64)
    if not graph.m:
        return EdgeCycles(empty, empty if squares else None)
    device, m = select_devices().main, graph.m
    order, plan, tuning, *_ = prepare_graph(graph, device, None)

    def attempt(tuning: Tuning) -> FirstSums:
        return jax.block_until_ready(_first(order, plan, tuning=tuning, squares=squares))

    capacities = order.node_capacity, order.edge_capacity
    sums, _ = with_smaller_steps(attempt, tuning, lambda tuning: smaller(tuning, *capacities), device)
    rows = np.asarray(order.edge)[:m]

    def by_row(sums: jax.Array) -> np.ndarray:
        values = empty.copy()
        values[rows] = np.asarray(sums)[:m]
        return values

    return EdgeCycles(by_row(sums.t), by_row(sums.cyc) if squares else None)


@jit64(static_argnames=("tuning", "squares"))
def _first(order: DegreeOrder, plan: Plan, tuning: Tuning, squares: bool) -> FirstSums:
    sums, ranges = sparse.start_first(order, squares), sparse.all_ranges(plan)
    if squares:
        return sparse.first_pass(order, plan, sums, ranges, tuning)
    return sums._replace(t=sparse.count_triangles(order, plan, sums.t, ranges.tests, tuning))
