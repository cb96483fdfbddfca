"""Pattern features of small graphs, thousands at a time: a pure function for ``jax.jit`` and ``jax.vmap``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._int64 import Int64
from jaxmotif.features._patterns import all_roles
from jaxmotif.features._roles import Per, orbit_weights
from jaxmotif.graph import Graph
from jaxmotif.graphlets import dense_edge_columns, dense_node_orbits
from jaxmotif.patterns import Pattern, named_pattern


def dense_pattern_features(
    graph: Graph, patterns: Sequence[str | Pattern], *, per: Per = "graph", induced: bool = True
) -> Int64:
    """Counts as :func:`pattern_features` does, inside a user's ``jit``: of a small undirected graph.

    Pure: jit it, and vmap it over a stacked batch. Sizes, patterns and options are static.

    Args:
      graph: undirected, capacity up to 512 nodes (patterns of five nodes: 128).
      patterns: names or small graphs: undirected, connected, unlabelled, of 2 to 5 nodes (per edge of 3 to 5).
      per, induced: as there.

    Returns:
      Exact 64-bit counts ``[F]``, per node ``[N, F]``, per edge ``[S / 2, F]`` in the order of ``Graph.edge_list()``;
      the columns are those of :func:`pattern_features`; padding rows are zero.

    Raises:
      ValueError: when traced, for other patterns or a graph that is too large.

    Example:
      >>> import jax, jaxmotif
      >>> count = jax.jit(lambda graph: dense_pattern_features(graph, ["triangle", "wedge"], induced=False))
      >>> count(jaxmotif.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])).to_numpy().tolist()
      [1, 5]
    """
    found = [p if isinstance(p, Pattern) else named_pattern(p, directed=False) for p in patterns]
    weights, size = [], 4
    for pattern, given, roles in zip(found, patterns, all_roles(found, patterns, per), strict=True):
        for role in roles:
            weighed = orbit_weights(pattern, role.places[0] or (0,), induced)
            if weighed is None:
                raise ValueError(
                    f"{given!r} is no connected undirected pattern of 2 to 5 nodes (per edge: 3 to 5) without labels; "
                    "use jaxmotif.matching.dense_match_count, or jaxmotif.pattern_features outside jit"
                )
            size = max(size, weighed.size)
            before = (0,) * weighed.first
            weights.append(((*before, *weighed.weights.tolist()), weighed.sharing if per == "graph" else 1))
    return _weighed(graph, weights=tuple(weights), size=size, per=per)


@partial(jit64, static_argnames=("weights", "size", "per"))
def _weighed(graph: Graph, weights: tuple[tuple[tuple[int, ...], int], ...], size: int, per: Per) -> Int64:
    count = dense_edge_columns if per == "edge" else dense_node_orbits
    orbits = count(graph, size=5 if size == 5 else 4)
    values = lax.bitcast_convert_type(orbits.words, jnp.int64)
    table = np.zeros((values.shape[1], len(weights)), np.int64)
    for column, (row, _) in enumerate(weights):
        table[: len(row), column] = row
    counts = (values[:, :, None] * table[None]).sum(axis=1)
    sharing = np.array([shared for _, shared in weights], np.int64)
    return Int64.of(counts.sum(axis=0) // sharing if per == "graph" else counts)
