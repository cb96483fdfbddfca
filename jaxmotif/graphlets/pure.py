"""Graphlets of a graph of any size inside the user's own ``jax.jit``: pure functions of arrays and static sizes.

For graphs of up to 512 nodes the functions of :mod:`jaxmotif.graphlets.dense` are faster, and they vmap well.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxmotif.graph.container import Graph
from jaxmotif.graph.order import DegreeOrder, degree_order
from jaxmotif.graphlets import equations, sparse
from jaxmotif.graphlets.sparse import Statistics
from jaxmotif.graphlets.tuning import Tuning
from jaxmotif.kernels.wide import Wide, wide_ints

MAX_PURE_NODES = 55_000
"""Largest node capacity for which all 17 counts fit 64 bits on the way."""


def sparse_graphlet_counts(graph: Graph, tuning: Tuning) -> Wide:
    """Counts the 17 induced graphlets of 2, 3 and 4 nodes.

    Pure: no step leaves the device, so it can stand in a jitted function.

    Args:
      graph: undirected, capacity up to :data:`MAX_PURE_NODES` nodes.
      tuning: static, from :func:`jaxmotif.graphlets.choose_tuning`.

    Returns:
      Exact 64-bit counts ``[17]`` in the order of :data:`jaxmotif.patterns.GRAPHLET_NAMES`.

    Raises:
      ValueError: when traced, for a directed graph or a capacity above the limit.

    Example:
      >>> import functools, jax, jaxmotif
      >>> from jaxmotif.graphlets import choose_tuning, sparse_graphlet_counts
      >>> graph = jaxmotif.datasets.load("karate")
      >>> tuning = choose_tuning(graph.node_capacity, graph.slot_capacity // 2)
      >>> counts = jax.jit(functools.partial(sparse_graphlet_counts, tuning=tuning))(graph)
      >>> counts.to_numpy()[:3].tolist()
      [78, 483, 45]
    """
    if graph.node_capacity > MAX_PURE_NODES:
        raise ValueError(
            f"sparse_graphlet_counts takes up to {MAX_PURE_NODES} nodes, got room for {graph.node_capacity}: counts "
            "could pass 64 bits; use jaxmotif.graphlet_counts outside jit, or sparse_edge_columns"
        )
    with wide_ints():
        order, stats = _statistics(graph, tuning, per_edge=False)
        # Below the limit no sum reaches 2^63, so the split halves join again.
        sums = {name: low + (high << 32) for name, (low, high) in sparse.graph_sums(order, stats).items()}
        n, m = (jnp.asarray(x, jnp.int64) for x in (graph.num_nodes, graph.num_edges))
        return Wide.of(jnp.stack(list(equations.global_counts(n, m, sums).values())))


def sparse_edge_columns(graph: Graph, tuning: Tuning) -> Wide:
    """Counts, at each edge, the induced graphlets by the edge's place in them; pure, as :func:`sparse_graphlet_counts`.

    Args:
      graph: undirected, any size. tuning: static.

    Returns:
      ``[M, 17]`` rows in the order of ``Graph.edge_list()``, columns in the order of
      :data:`jaxmotif.patterns.EDGE_COLUMN_NAMES`; padding rows are zero.

    Raises:
      ValueError: when traced, for a directed graph.
    """
    with wide_ints():
        order, stats = _statistics(graph, tuning, per_edge=True)
        columns = jnp.stack(list(sparse.edge_columns(order, stats).values()), axis=-1)
        real = jnp.arange(columns.shape[0], dtype=jnp.int32) < order.num_edges
        values = jnp.where(real[:, None], columns, 0)
        return Wide.of(jnp.zeros_like(values).at[order.edge].set(values, unique_indices=True))


def sparse_node_orbits(graph: Graph, tuning: Tuning) -> Wide:
    """Counts ORCA's 15 orbits at each node; pure, as :func:`sparse_graphlet_counts`.

    Args:
      graph: undirected, no degree above 2,097,151. tuning: static.

    Returns:
      ``[N, 15]``; padding rows are zero.

    Raises:
      ValueError: when traced, for a directed graph.
    """
    with wide_ints():
        order, stats = _statistics(graph, tuning, per_edge=True)
        return Wide.of(sparse.node_columns(order, sparse.edge_columns(order, stats)))


def _statistics(graph: Graph, tuning: Tuning, per_edge: bool) -> tuple[DegreeOrder, Statistics]:
    graph = jax.tree.map(jnp.asarray, graph)
    order = degree_order(graph)
    plan = sparse.make_plan(jnp, order, tuning)
    return order, sparse.all_statistics(order, plan, tuning, per_edge)
