"""Conversion from and to jraph's ``GraphsTuple``, inside ``jax.jit`` too.

Any object with the fields of a ``GraphsTuple`` is accepted, so jraph itself is not needed.
"""

from __future__ import annotations

from functools import partial
from typing import Any, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxmotif.arrays import Int64
from jaxmotif.arrays._int64 import join_halves
from jaxmotif.graph import Graph
from jaxmotif.graphlets._low_degree import counts_of_orbits


def to_graph(graphs: Any, num_nodes: int, directed: bool = False) -> Graph:
    """Return the disjoint union of the graphs of a ``GraphsTuple`` as one graph; pure.

    Args:
      graphs: a tuple with ``senders`` and ``receivers``, integers ``[E]``. Self loops are left out, and with them the
        edges of padding that ``jraph.pad_with_graphs`` adds.
      num_nodes: static, the number of rows of ``nodes``, or at least the sum of ``n_node``.
      directed: whether it matters which end is the sender. If not, edges may be given in one direction or in both.

    Returns:
      A graph whose node i is row i of ``nodes``.

    Raises:
      ValueError: if an edge names a node below 0, or beyond ``num_nodes``; not checked where edges are tracers.

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
        outside = apart[(apart < 0) | (apart >= num_nodes)]
        if outside.size:
            node = max(outside.tolist(), key=abs)
            raise ValueError(f"num_nodes is {num_nodes}, and an edge has node {node}: take the sum of n_node")
    return Graph.from_edge_index(ends, num_nodes, directed)


def with_node_features(graphs: Any, values: jax.Array | np.ndarray | Int64) -> Any:
    """Return the same ``GraphsTuple`` with more columns in ``nodes``; pure.

    Args:
      graphs: a tuple whose ``nodes`` are an array ``[n, F]``, or ``None``.
      values: ``[n, F']``, floats or exact counts (``Int64``, or integers of NumPy), which are converted to the dtype of
        ``nodes``. If this is an integer type, exact counts are converted only outside ``jit``, where a count that does
        not fit is refused. If there are no ``nodes``, exact counts become float32.

    Example:
      >>> from collections import namedtuple
      >>> Tuple = namedtuple("GraphsTuple", "nodes edges receivers senders globals n_node n_edge")
      >>> with_node_features(Tuple(jnp.ones((3, 2)), *[None] * 6), jnp.zeros((3, 15))).nodes.shape
      (3, 17)
    """
    if graphs.nodes is None:
        values = _exact(values)
        return graphs._replace(nodes=values.astype("float32") if isinstance(values, Int64) else values)
    nodes = jnp.asarray(graphs.nodes)  # whose 64-bit integers are 32-bit outside JAX's 64-bit mode
    return graphs._replace(nodes=jnp.concatenate([nodes, _exact(values).astype(nodes.dtype)], axis=-1))


@overload
def sums_by_graph(graphs: Any, values: jax.Array) -> jax.Array: ...
@overload
def sums_by_graph(graphs: Any, values: Int64) -> Int64: ...
@overload
def sums_by_graph(graphs: Any, values: np.ndarray) -> jax.Array | Int64: ...
def sums_by_graph(graphs: Any, values: jax.Array | np.ndarray | Int64) -> jax.Array | Int64:
    """Add up values of nodes over each graph, ``[graphs, ..]``; pure.

    Args:
      graphs: a tuple with ``n_node``, integers ``[graphs]``.
      values: ``[n, ..]``. If they are exact counts (``Int64``, or integers of NumPy), the sums are ``Int64``. Sums of
        JAX's own integers keep their dtype, and may wrap. Rows past the sum of ``n_node`` are left out.

    Raises:
      OverflowError: outside ``jit``, where an exact sum needs more than 63 bits and a sign. Inside, it wraps.

    Example:
      >>> from collections import namedtuple
      >>> Tuple = namedtuple("GraphsTuple", "nodes edges receivers senders globals n_node n_edge")
      >>> sums_by_graph(Tuple(*[None] * 5, jnp.array([1, 2]), None), jnp.array([1.0, 2.0, 3.0])).tolist()
      [1.0, 5.0]
    """
    values = _exact(values)
    number, rows = graphs.n_node.shape[0], values.shape[0]
    # Rows past the last node belong to no graph, and their sums are dropped.
    ends = jnp.cumsum(jnp.asarray(graphs.n_node, jnp.int32), dtype=jnp.int32)
    owner = jnp.searchsorted(ends, jnp.arange(rows, dtype=jnp.int32), side="right").astype(jnp.int32)
    add = partial(jax.ops.segment_sum, segment_ids=owner, num_segments=number)
    if not isinstance(values, Int64):
        return add(values)
    with jax.enable_x64(True):
        counts = values.int64
        sums, fits = join_halves(add(counts & 0xFFFFFFFF), add(counts >> 32))
    if not isinstance(fits, Tracer) and not fits:
        raise OverflowError(
            "Int64: the sum of a graph needs more than 63 bits; add up .to_numpy().astype(object), or floats"
        )
    return Int64(sums)


def _exact(values: Any) -> Any:
    """Return integers of NumPy as ``Int64``, since JAX would drop their upper halves, and other values as they are."""
    return Int64.of(values) if isinstance(values, np.ndarray) and values.dtype.kind in "iu" else values


def counts_by_graph(graphs: Any, orbits: Int64) -> Int64:
    """Count the graphlets of each graph, from the orbits of its nodes; pure.

    Args:
      graphs: a tuple with ``n_node``, integers ``[graphs]``.
      orbits: ``[n, 15]`` or ``[n, 73]``, from :func:`jaxmotif.graphlets.dense_node_orbits`.

    Returns:
      Exact 64-bit counts ``[graphs, 17]`` or ``[graphs, 51]``, as :func:`jaxmotif.graphlets.dense_graphlet_counts`
      returns them for one graph. They are -1 for a graph in which an orbit is negative (not known), and for a graph of
      more than 36,854 nodes (51 counts: 6,208).

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
