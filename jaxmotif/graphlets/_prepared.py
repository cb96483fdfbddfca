"""Graphs prepared for counting, which are kept as long as the graph lives, and counts of the cycles at their edges.

A prepared graph is in degree order, with the work of all passes laid out.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._sizes import graph_class
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._select import select_devices
from jaxmotif.graph import Graph
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._run import prepare, smaller
from jaxmotif.graphlets._sparse import Plan
from jaxmotif.graphlets._tuning import Tuning, choose_tuning

T = TypeVar("T")


class PreparedGraph(NamedTuple):
    """A graph in degree order, with the work of all passes laid out.

    Attributes:
      order, plan: the degree order and the work, on the device.
      tuning: the sizes of steps.
      largest: the largest degree.
      tests: the number of membership tests that find all triangles.
      wedges: the number of wedges that find all 4-cycles.
      shorter: the sum over edges of the lesser degree of its ends.
    """

    order: DegreeOrder
    plan: Plan
    tuning: Tuning
    largest: int
    tests: int
    wedges: int
    shorter: int

    def run(self, program: Callable[..., T], device: jax.Device) -> tuple[T, tuple[str, ...]]:
        """Run a program of the graph, with smaller steps where memory runs out.

        Args:
          program: takes ``order``, ``plan`` and the sizes of steps, as ``tuning``.
          device: where it runs.

        Returns:
          The results, and notes on what had to be done differently.
        """
        capacities = self.order.node_capacity, self.order.edge_capacity

        def attempt(tuning: Tuning) -> T:
            return jax.block_until_ready(program(self.order, self.plan, tuning=tuning))

        return with_smaller_steps(attempt, self.tuning, lambda tuning: smaller(tuning, *capacities), device)


_prepared: weakref.WeakKeyDictionary[Graph, dict[tuple[Any, ...], PreparedGraph]] = weakref.WeakKeyDictionary()


def pad_to_class(graph: Graph, device: jax.Device, memory: int | None) -> Graph:
    """Return a graph padded to the capacities of its size class, whose graphs share compiled programs.

    With a memory budget the graph is returned as it is, since the budget is meant for its own size.
    """
    padding = graph_class(graph.n, graph.num_slots, target_of(device).is_accelerator)
    return graph.with_padding(padding) if memory is None else graph


def prepare_graph(graph: Graph, device: jax.Device, memory: int | None) -> PreparedGraph:
    """Return an undirected graph that has edges, prepared for a device; the result is kept while the graph lives."""
    made = _prepared.setdefault(graph, {})
    if (device, memory) not in made:
        padded = pad_to_class(graph, device, memory)
        tuning = choose_tuning(padded.node_capacity, padded.slot_capacity // 2, device, memory, "graph")
        order, plan = put64(prepare(padded, tuning, device), device)
        numbers = _measure(order, plan)
        made[device, memory] = PreparedGraph(order, plan, tuning, *(int(x) for x in np.asarray(numbers)))
    return made[device, memory]


@jit64
def _measure(order: DegreeOrder, plan: Plan) -> jax.Array:
    wedges = plan.wedges.heavy.total + plan.wedges.light.total
    lesser = jnp.minimum(order.degree[order.tail], order.degree[order.head]).astype(jnp.int64)
    shorter = jnp.where(jnp.arange(order.edge_capacity, dtype=jnp.int32) < order.num_edges, lesser, 0).sum()
    numbers = order.degree.max(), plan.triangles.total, wedges, shorter
    return jnp.stack([number.astype(jnp.int64) for number in numbers])


def edge_cycles(graph: Graph, squares: bool = False) -> dict[str, np.ndarray]:
    """Count the triangles (and 4-cycles) at each edge of an undirected graph.

    Returns:
      By name int64 ``[m]``, in the order of ``Graph.edge_list()``: the number ``t`` of triangles that contain the edge,
      and with ``squares`` also the number ``cyc`` of 4-cycles, induced or not.

    Example:
      >>> edge_cycles(Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]))["t"].tolist()
      [1, 1, 1, 0]
    """
    empty = np.zeros(graph.m, np.int64)
    if not graph.m:
        return {"t": empty, "cyc": empty}
    device, m = select_devices().main, graph.m
    prepared = prepare_graph(graph, device, None)
    sums, _ = prepared.run(partial(_first, squares=squares), device)
    rows = np.asarray(prepared.order.edge)[:m]

    def by_row(sums: jax.Array) -> np.ndarray:
        values = empty.copy()
        values[rows] = np.asarray(sums)[:m]
        return values

    return {name: by_row(x) for name, x in sums.items() if x.ndim}


@jit64(static_argnames=("tuning", "squares"))
def _first(order: DegreeOrder, plan: Plan, tuning: Tuning, squares: bool) -> sparse.Sums:
    sums, ranks = sparse.start_first(order, squares), sparse.all_ranks(plan)
    if squares:
        return sparse.first_pass(order, plan, sums, ranks, tuning)
    return {"t": sparse.count_triangles(order, plan, sums["t"], ranks, tuning)}
