"""A graph in degree order with all work laid out, made once for as long as the graph lives."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._sizes import graph_class
from jaxmotif.graph import Graph
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets._run import prepare
from jaxmotif.graphlets._sparse import Plan
from jaxmotif.graphlets._tuning import Tuning, choose_tuning


class PreparedGraph(NamedTuple):
    """A graph in degree order, with the work of all passes laid out; made once a graph.

    Attributes:
      order, plan: on the device.
      tuning: the sizes of steps.
      largest: the largest degree.
      tests: membership tests for all triangles.
      wedges: wedges for all 4-cycles.
      shorter: the sum over edges of the lesser degree of its ends.
    """

    order: DegreeOrder
    plan: Plan
    tuning: Tuning
    largest: int
    tests: int
    wedges: int
    shorter: int


_prepared: weakref.WeakKeyDictionary[Graph, dict[tuple[Any, ...], PreparedGraph]] = weakref.WeakKeyDictionary()


def prepare_graph(graph: Graph, device: jax.Device, memory: int | None) -> PreparedGraph:
    """Return an undirected graph that has edges, prepared for a device; it is kept as long as the graph."""
    made = _prepared.setdefault(graph, {})
    if (device, memory) not in made:
        padding = graph_class(graph.n, graph.num_slots, target_of(device).is_accelerator)
        padded = graph.with_padding(padding) if memory is None else graph
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
