"""Degree order: nodes ranked by degree, every edge an arc from its lower to its higher end.

Out-degrees of the arcs never exceed sqrt(2 m), which is what makes triangles, cliques and 4-cycles cheap.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._checks import check_vectors
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._rows import inverse_order, offsets_of, pair_order, places_of_true, row_of, stable_order
from jaxmotif.graph._container import Graph
from jaxmotif.graph._fields import Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class DegreeOrder:
    """The arcs of an undirected graph in degree order, as int32 arrays (capacities N nodes, M edges).

    Nodes are named by rank: rank 0 has the smallest degree, ties by node id. Arc ``e`` runs from ``tail[e]`` to
    ``head[e] > tail[e]``; arcs are sorted by (tail, head). A node's full row is its in arcs (ascending tails)
    followed by its out arcs (ascending heads), so its neighbours appear in ascending rank.

    Attributes:
      node: ``[N]``, the node of each rank (padding nodes keep their own places, with degree 0).
      degree: ``[N]``, by rank.
      out_offsets: ``[N + 1]``, the first arc of tail r.
      in_offsets: ``[N + 1]``, the first position in ``in_arc`` of head r.
      tail: ``[M]``, the lower rank of each arc; padding arcs hold N - 1.
      head: ``[M]``, the higher rank of each arc; padding arcs hold N - 1.
      in_arc: ``[M]``, arcs sorted by (head, tail).
      row_arc: ``[2 M]``, the arcs of each node's full row, which starts at ``in_offsets[r] + out_offsets[r]``.
      row_end: ``[2 M]``, the ranks of the other ends of these arcs: each node's neighbours.
      edge: ``[M]``, the row of ``Graph.edge_list()`` each arc stands for.
      num_nodes: the true number of nodes.
      num_edges: the true number of edges.
    """

    node: Any
    degree: Any
    out_offsets: Any
    in_offsets: Any
    tail: Any
    head: Any
    in_arc: Any
    row_arc: Any
    row_end: Any
    edge: Any
    num_nodes: Any
    num_edges: Any

    @property
    def node_capacity(self) -> int:
        return self.node.shape[-1]

    @property
    def edge_capacity(self) -> int:
        return self.tail.shape[-1]


def degree_order(graph: Graph) -> DegreeOrder:
    """Rank the nodes of an undirected graph by degree and orient its edges; a pure function of the arrays.

    This takes four sorts, where the arrays live: NumPy arrays (an order of magnitude
    faster than XLA's sort on a CPU) stay NumPy, JAX arrays and tracers stay JAX. Rossi & Zhou, 4.2 (P1-P3).

    Args:
      graph: undirected.

    Raises:
      ValueError: for a directed graph.

    Example:
      >>> graph = Graph.from_edges([(0, 1), (0, 2), (0, 3), (1, 2)], pad=None)
      >>> order = degree_order(graph)
      >>> order.node.tolist()
      [3, 1, 2, 0]
      >>> list(zip(order.tail.tolist(), order.head.tolist()))
      [(0, 3), (1, 2), (1, 3), (2, 3)]
    """
    if graph.directed:
        raise ValueError("degree_order takes an undirected graph, got a directed one; build it with directed=False")
    if isinstance(graph.out_offsets, np.ndarray):
        return _order(np, graph.out_offsets, graph.out_targets, graph.num_nodes, graph.num_edges)
    return _device_order(graph.out_offsets, graph.out_targets, graph.num_nodes, graph.num_edges)


@jit64
def _device_order(offsets: jax.Array, targets: jax.Array, num_nodes: jax.Array, num_edges: jax.Array) -> DegreeOrder:
    check_vectors({"out_offsets": offsets, "out_targets": targets})
    return _order(jnp, offsets, targets, num_nodes, num_edges)


def _order(xp: Any, offsets: Any, targets: Any, num_nodes: Array, num_edges: Array) -> DegreeOrder:
    nodes, slots = offsets.shape[0] - 1, targets.shape[0]
    edges = slots // 2
    degree = offsets[1:] - offsets[:-1]
    node = stable_order(degree)
    rank = inverse_order(node)

    source = row_of(offsets, slots)
    slot = xp.arange(slots, dtype=np.int32)
    upper = (slot < offsets[-1]) & (source < targets)
    slot = places_of_true(upper)[:edges]
    real = xp.arange(edges, dtype=np.int32) < num_edges
    slot = xp.where(real, slot, np.int32(0))
    u, v = rank[source[slot]], rank[xp.where(real, targets[slot], np.int32(0))]
    last = np.int32(nodes)  # padding arcs sort behind all others
    low = xp.where(real, xp.minimum(u, v), last)
    high = xp.where(real, xp.maximum(u, v), last)

    edge = pair_order(low, high)
    tail, head = low[edge], high[edge]
    in_arc = stable_order(head)
    out_offsets = offsets_of(tail, nodes)
    in_offsets = offsets_of(head, nodes)
    tail, head = xp.minimum(tail, last - 1), xp.minimum(head, last - 1)

    row_offsets = out_offsets + in_offsets
    row = row_of(row_offsets, 2 * edges)
    position = xp.arange(2 * edges, dtype=np.int32)
    entry = position - out_offsets[row]  # an index into in_arc, while it lies before the end of the row's in arcs
    is_in = entry < in_offsets[row + 1]
    from_in = in_arc[xp.where(is_in, entry, np.int32(0))]
    row_arc = xp.where(is_in, from_in, position - in_offsets[row + 1])
    row_arc = xp.where(position < row_offsets[-1], row_arc, np.int32(0))
    row_end = xp.where(is_in, tail[row_arc], head[row_arc])
    return DegreeOrder(
        node, degree[node], out_offsets, in_offsets, tail, head, in_arc, row_arc, row_end, edge, num_nodes, num_edges
    )
