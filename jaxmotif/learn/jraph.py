"""jraph: a ``GraphsTuple`` (or what has its fields) in and out, inside ``jax.jit`` too; jraph itself is not needed."""

from __future__ import annotations

from typing import Any, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxmotif.arrays import Int64
from jaxmotif.graph import Graph
from jaxmotif.graphlets._low_degree import counts_of_orbits


def to_graph(graphs: Any, num_nodes: int, directed: bool = False) -> Graph:
    """Return the graphs of a ``GraphsTuple`` side by side as one graph; pure.

    Args:
      graphs: with ``senders`` and ``receivers``, integers ``[E]``. What ``jraph.pad_with_graphs`` adds, self loops of a
        padding node, is left out.
      num_nodes: static, the rows of ``nodes``, or at least the sum of ``n_node``.
      directed: whether senders and receivers matter; else edges may be given one way or both.

    Returns:
      A graph whose node i is row i of ``nodes``.

    Raises:
      ValueError: fewer nodes than the edges name, where these are no tracers.

    Example:
      >>> from collections import namedtuple
      >>> Tuple = namedtuple("GraphsTuple", "nodes edges receivers senders globals n_node n_edge")
      >>> two = Tuple(None, None, jnp.array([1, 3]), jnp.array([0, 2]), None, jnp.array([2, 2]), jnp.array([1, 1]))
      >>> to_graph(two, 4).edge_list().tolist()
      [[0, 1], [2, 3]]
    """
    if isinstance(graphs.senders, Tracer) or isinstance(graphs.receivers, Tracer):
        ends = jnp.stack([graphs.senders, graphs.receivers])
    else:
        # In NumPy, since JAX would drop the upper halves of 64-bit ids.
        ends = np.stack([np.asarray(graphs.senders), np.asarray(graphs.receivers)])
        apart = ends[:, ends[0] != ends[1]]
        if (apart >= num_nodes).any():
            raise ValueError(f"num_nodes is {num_nodes}, and an edge has node {apart.max()}: take the sum of n_node")
    return Graph.from_edge_index(ends, num_nodes, directed)


def with_node_features(graphs: Any, values: jax.Array | Int64) -> Any:
    """Return the same ``GraphsTuple`` with more columns in ``nodes``; pure.

    Args:
      graphs: whose ``nodes`` are an array ``[n, F]``, or ``None``.
      values: ``[n, F']``, floats or exact counts, which become the dtype of ``nodes`` (exact counts as integers outside
        ``jit`` alone, since a count that does not fit is refused); exact counts become float32 where there are no
        ``nodes``.

    Example:
      >>> from collections import namedtuple
      >>> Tuple = namedtuple("GraphsTuple", "nodes edges receivers senders globals n_node n_edge")
      >>> with_node_features(Tuple(jnp.ones((3, 2)), *[None] * 6), jnp.zeros((3, 15))).nodes.shape
      (3, 17)
    """
    if graphs.nodes is None:
        return graphs._replace(nodes=values.astype("float32") if isinstance(values, Int64) else values)
    nodes = jnp.asarray(graphs.nodes)  # whose 64-bit integers are 32-bit outside JAX's 64-bit mode
    return graphs._replace(nodes=jnp.concatenate([nodes, values.astype(nodes.dtype)], axis=-1))


@overload
def sums_by_graph(graphs: Any, values: jax.Array) -> jax.Array: ...
@overload
def sums_by_graph(graphs: Any, values: Int64) -> Int64: ...
def sums_by_graph(graphs: Any, values: jax.Array | Int64) -> jax.Array | Int64:
    """Add up values of nodes over each graph, ``[graphs, ..]``; pure.

    Args:
      graphs: with ``n_node``, integers ``[graphs]``.
      values: ``[n, ..]``; of exact counts the sums are exact, and ``Int64`` too. Rows past the sum of ``n_node`` are
        left out.

    Example:
      >>> from collections import namedtuple
      >>> Tuple = namedtuple("GraphsTuple", "nodes edges receivers senders globals n_node n_edge")
      >>> sums_by_graph(Tuple(*[None] * 5, jnp.array([1, 2]), None), jnp.array([1.0, 2.0, 3.0])).tolist()
      [1.0, 5.0]
    """
    number, rows = graphs.n_node.shape[0], values.shape[0]
    # Rows past the last node belong to no graph, and their sums are dropped.
    ends = jnp.cumsum(jnp.asarray(graphs.n_node, jnp.int32), dtype=jnp.int32)
    owner = jnp.searchsorted(ends, jnp.arange(rows, dtype=jnp.int32), side="right").astype(jnp.int32)
    if isinstance(values, Int64):
        with jax.enable_x64(True):
            return Int64(jax.ops.segment_sum(values.int64, owner, num_segments=number))
    return jax.ops.segment_sum(values, owner, num_segments=number)


def counts_by_graph(graphs: Any, orbits: Int64) -> Int64:
    """Count the graphlets of each graph, from the orbits of its nodes; pure.

    Args:
      graphs: with ``n_node``, integers ``[graphs]``.
      orbits: ``[n, 15]`` or ``[n, 73]``, of :func:`jaxmotif.graphlets.dense_node_orbits`.

    Returns:
      Exact 64-bit counts ``[graphs, 17]`` or ``[graphs, 51]``, as :func:`jaxmotif.graphlets.dense_graphlet_counts` has
      them for one graph: -1 for a graph in which an orbit is negative (not known), and for one of more than 36,854
      nodes (51 counts: 6,208).

    Example:
      >>> from collections import namedtuple
      >>> from jaxmotif.graphlets import dense_node_orbits
      >>> Tuple = namedtuple("GraphsTuple", "nodes edges receivers senders globals n_node n_edge")
      >>> ends, sizes = jnp.array([[0, 1, 3], [1, 2, 4]]), jnp.array([3, 2])
      >>> two = Tuple(None, None, ends[1], ends[0], None, sizes, jnp.array([2, 1]))
      >>> counts_by_graph(two, dense_node_orbits(to_graph(two, 5), max_degree=2)).to_numpy()[:, :4].tolist()
      [[2, 1, 0, 1], [1, 0, 0, 0]]
    """
    if not isinstance(orbits, Int64) or orbits.shape[1:] not in ((15,), (73,)):
        raise ValueError("orbits must be exact counts [n, 15] or [n, 73], as dense_node_orbits returns them")
    return counts_of_orbits(graphs.n_node, sums_by_graph(graphs, orbits))
