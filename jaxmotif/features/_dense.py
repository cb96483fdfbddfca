"""Pattern features of small graphs, thousands at a time: a pure function for ``jax.jit`` and ``jax.vmap``.

The counts of some patterns are weighted sums of graphlet orbits. Other patterns are searched for
(:mod:`jaxmotif.matching._stacks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._checks import check_switch
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._int64 import Int64
from jaxmotif.features._patterns import PatternLike
from jaxmotif.graph import Graph
from jaxmotif.graphlets import dense_edge_columns, dense_node_orbits
from jaxmotif.kernels._expand import take
from jaxmotif.matching._stacks import SearchArrays, search_roles, searches_for
from jaxmotif.patterns._names import listed_patterns
from jaxmotif.patterns._roles import (
    OrbitWeights,
    Per,
    Role,
    all_roles,
    check_per,
    known_weights,
    weight_table,
)


def dense_pattern_features(
    graph: Graph,
    patterns: Sequence[PatternLike],
    *,
    per: Per = "graph",
    induced: bool = True,
    max_degree: int | None = None,
) -> Int64:
    """Count patterns in a small graph as :func:`jaxmotif.pattern_features` does, inside a user's ``jit``.

    The function is pure: jit it, and vmap it over a stacked batch. Sizes, patterns and options are static.

    Args:
      graph: directed or not, labelled or not; capacity up to 512 nodes (patterns of five nodes: 128).
      patterns: names or small graphs, directed if and only if the graph is. Undirected connected ones of up to 5
        nodes without labels are sums of orbits; any others, up to 64 nodes, are searched for.
      per: as for :func:`jaxmotif.pattern_features`.
      induced: as for :func:`jaxmotif.pattern_features`.
      max_degree: as for :func:`jaxmotif.graphlets.dense_node_orbits`. It allows larger graphs whose nodes have few
        neighbours, such as unions of molecules, and only patterns that are sums of orbits. Counts that are not known
        are negative.

    Returns:
      Exact 64-bit counts ``[F]``, per node ``[N, F]``, per edge ``[S / 2, F]`` (directed: ``[S, F]``) in the order of
      ``Graph.edge_list()``; the columns are those of :func:`jaxmotif.pattern_features`; padding rows are zero.

    Raises:
      ValueError: when traced, for a graph that is too large, or a pattern that does not suit it.

    Example:
      >>> import jax, jaxmotif
      >>> count = jax.jit(lambda graph: dense_pattern_features(graph, ["triangle", "wedge"], induced=False))
      >>> count(jaxmotif.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])).to_numpy().tolist()
      [1, 5]
      >>> loops = jaxmotif.Graph.from_edges([(0, 1), (1, 2), (0, 2)], directed=True)
      >>> dense_pattern_features(loops, ["ffl"], per="node").to_numpy()[:3].tolist()
      [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    check_per(per, "graph", "node", "edge")
    check_switch(induced, "induced")
    given = listed_patterns(patterns, graph.directed)
    roles = all_roles(given, patterns, per)
    weights = known_weights(given, roles, "induced" if induced else "copies")
    known = [w for found in weights for w in found]
    rest = [i for i, found in enumerate(weights) if not found and roles[i]]
    searched = [roles[i] for i in rest]
    searches = searches_for([given[i] for i in rest], searched, per) if rest else None
    number = max(map(len, searched), default=0)
    size, table = weight_table(known, per)
    sharing = np.array([w.sharing for w in known], np.int64)
    order = order_columns(weights, roles, [number] * len(roles))
    static = {"size": size, "number": number, "per": per, "induced": induced, "max_degree": max_degree}
    return _columns(graph, searches, table, sharing, order, **static)


def order_columns(weights: list[list[OrbitWeights]], roles: list[list[Role]], widths: list[int]) -> np.ndarray:
    """Return the place of each column in a table that has all sums of orbits first, and then all other columns, int32.

    In both parts of the table, patterns come in their own order.

    Args:
      weights: the weights of each pattern's columns over orbits, or an empty list for a pattern that is searched for.
      roles: the columns of each pattern.
      widths: how many columns of the table each pattern takes if it is searched for.
    """
    known, after, order = 0, sum(map(len, weights)), []
    for found, held, width in zip(weights, roles, widths, strict=True):
        order += range(known, known + len(held)) if found else range(after, after + len(held))
        known, after = known + len(found), after + (width if held and not found else 0)
    return np.array(order, np.int32)


def sum_orbits(graph: Graph, table: jax.Array, size: Literal[4, 5], per: Per, max_degree: int | None) -> jax.Array:
    """Return weighted sums of the orbits of each node or edge, or of their totals, int64 ``[.., weights]``."""
    orbits = (dense_edge_columns if per == "edge" else dense_node_orbits)(graph, size=size, max_degree=max_degree)
    sums = (orbits.int64[:, :, None] * table[None]).sum(axis=1)
    return sums.sum(axis=0) if per == "graph" else sums


@partial(jit64, static_argnames=("size", "number", "per", "induced", "max_degree"))
def _columns(
    graph: Graph,
    searches: SearchArrays | None,
    table: jax.Array,
    sharing: jax.Array,
    order: jax.Array,
    *,
    size: Literal[4, 5],
    number: int,
    per: Per,
    induced: bool,
    max_degree: int | None,
) -> Int64:
    found = []
    if table.shape[1]:
        sums = sum_orbits(graph, table, size, per, max_degree)
        found.append(sums // sharing if per == "graph" else sums)
    if searches is not None:
        found.append(search_roles(searches, graph, number, per, induced, lanes=32, max_steps=2**31 - 1).values)
    if not found:
        edges = graph.slot_capacity // (1 if graph.directed else 2)
        rows = {"graph": (), "node": (graph.node_capacity,), "edge": (edges,)}[per]
        return Int64.of(jnp.zeros((*rows, 0), jnp.int64))
    return Int64.of(take(jnp.concatenate(found, axis=-1).T, order).T)
