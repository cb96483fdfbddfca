"""Graphlets of a graph of any size inside the user's own ``jax.jit``: pure functions of arrays and static sizes.

For graphs of up to 512 nodes the functions of :mod:`jaxmotif.graphlets._dense` are faster, and they vmap well.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._int64 import Int64
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets._run import Outcome, outcome_of_graph
from jaxmotif.graphlets._tuning import Detail, Tuning, choose_tuning

MAX_PURE_NODES = 55_000
"""Largest node capacity for which all 17 counts fit 64 bits on the way."""


@jit64(static_argnames="tuning")
def sparse_graphlet_counts(graph: Graph, tuning: Tuning | None = None) -> Int64:
    """Count the 17 induced graphlets of 2, 3 and 4 nodes.

    The function is pure: no step leaves the device, so it can stand in a jitted function.

    Args:
      graph: undirected, capacity up to :data:`MAX_PURE_NODES` nodes.
      tuning: static sizes (default: :func:`jaxmotif.graphlets.choose_tuning` for the graph's capacities).

    Returns:
      Exact 64-bit counts ``[17]`` in the order of :data:`jaxmotif.patterns.GRAPHLET_NAMES`.

    Raises:
      ValueError: when traced, for a directed graph or a capacity above the limit.

    Example:
      >>> import jax, jaxmotif
      >>> graph = jaxmotif.datasets.load("karate")
      >>> jax.jit(sparse_graphlet_counts)(graph).to_numpy()[:3].tolist()
      [78, 483, 45]
    """
    if graph.node_capacity > MAX_PURE_NODES:
        raise ValueError(
            f"sparse_graphlet_counts takes up to {MAX_PURE_NODES} nodes, got room for {graph.node_capacity}: counts "
            "could pass 64 bits; use jaxmotif.graphlet_counts outside jit, or sparse_edge_columns"
        )
    pairs = _outcome(graph, tuning, "graph").sums
    # Below the limit no sum reaches 2^63, so the split halves join again.
    sums = {name: low + (high << 32) for name, (low, high) in zip(equations.TERMS, pairs, strict=True)}
    n, m = (jnp.asarray(x, jnp.int64) for x in (graph.num_nodes, graph.num_edges))
    return Int64.of(jnp.stack(list(equations.global_counts(n, m, sums).values())))


@jit64(static_argnames="tuning")
def sparse_edge_columns(graph: Graph, tuning: Tuning | None = None) -> Int64:
    """Count, at each edge, the induced graphlets by the edge's place in them; pure, as :func:`sparse_graphlet_counts`.

    Args:
      graph: undirected, any size.
      tuning: static sizes, as for :func:`sparse_graphlet_counts`.

    Returns:
      Exact 64-bit counts ``[M, 17]``, rows in the order of ``Graph.edge_list()``, columns in the order of
      :data:`jaxmotif.patterns.EDGE_COLUMN_NAMES`; padding rows are zero.

    Raises:
      ValueError: when traced, for a directed graph.

    Example:
      >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
      >>> sparse_edge_columns(path).to_numpy()[:3, 3].tolist()  # which edge is the middle of a 4-path
      [0, 1, 0]
    """
    columns = _outcome(graph, tuning, "edge").values
    real = jnp.arange(columns.shape[0], dtype=jnp.int32) < graph.num_edges
    return Int64.of(jnp.where(real[:, None], columns, 0))


@jit64(static_argnames="tuning")
def sparse_node_orbits(graph: Graph, tuning: Tuning | None = None) -> Int64:
    """Count ORCA's 15 orbits at each node; pure, as :func:`sparse_graphlet_counts`.

    Args:
      graph: undirected, no degree above 3,810,779.
      tuning: static sizes, as for :func:`sparse_graphlet_counts`.

    Returns:
      Exact 64-bit counts ``[N, 15]``, in ORCA's order (:data:`jaxmotif.patterns.NODE_ORBIT_NAMES`); padding rows are
      zero.

    Raises:
      ValueError: when traced, for a directed graph.

    Example:
      >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)])
      >>> sparse_node_orbits(star).to_numpy()[0, :8].tolist()
      [3, 0, 3, 0, 0, 0, 0, 1]
    """
    return Int64.of(_outcome(graph, tuning, "node").values)


def _outcome(graph: Graph, tuning: Tuning | None, detail: Detail) -> Outcome:
    if tuning is None:
        tuning = choose_tuning(
            graph.node_capacity, graph.slot_capacity // 2, detail="graph" if detail == "graph" else "edge"
        )
    return outcome_of_graph(jax.tree.map(jnp.asarray, graph), tuning=tuning, detail=detail)
