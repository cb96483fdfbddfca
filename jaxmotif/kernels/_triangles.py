"""Triangles of a graph in degree order, each found once, at the arc between its two lowest nodes.

For an arc u -> v, the shorter of two lists (u's arcs after v, and v's arcs) is walked, and each of its heads w is
looked up in the other list. A triangle that is found in this way knows all its three arcs.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmotif.graph._order import DegreeOrder
from jaxmotif.kernels._expand import FlatWork
from jaxmotif.kernels._lane_body import Read, each_position


class TriangleBlock(NamedTuple):
    """The arcs of triangles u < v < w, int32 ``[block]`` each; M, the number of arcs, where there is no triangle."""

    uv: Array
    uw: Array
    vw: Array


def triangle_tests(xp: ModuleType, order: DegreeOrder) -> Any:
    """Return how many membership tests each arc needs, int32 ``[M]``; ``xp`` is NumPy or jax.numpy."""
    arc = xp.arange(order.edge_capacity, dtype=np.int32)
    # Node w is above v, so that it comes after v in u's row and may be any head in v's row.
    after = order.out_offsets[order.tail + 1] - arc - 1
    row = order.out_offsets[order.head + 1] - order.out_offsets[order.head]
    return xp.where(arc < order.num_edges, xp.minimum(after, row), xp.zeros_like(arc))


def triangle_block(order: DegreeOrder, work: FlatWork, first: Array, stop: Array, *, block: int) -> TriangleBlock:
    """Find the triangles at the positions ``first .. min(first + block, stop)`` of the membership tests.

    Args:
      order: The graph.
      work: The numbers of :func:`triangle_tests`, laid out by :func:`jaxmotif.kernels._expand.flat_work`.
      first: The first position, an int64 scalar.
      stop: The position to stop before, an int64 scalar.
      block: The number of positions, static.
    """
    edges = order.edge_capacity
    steps = int(np.sqrt(2 * edges)).bit_length()  # a node has at most sqrt(2 m) out arcs to search

    def test(read: Read, arrays: Any, arc: Array, offset: Array, valid: Array) -> tuple[Any, ...]:
        out_offsets, tails, heads, none = arrays
        u, v = read.load(tails, arc), read.load(heads, arc)
        u_end, v_start, v_end = (read.load(out_offsets, row) for row in (u + 1, v, v + 1))
        along_u = u_end - arc - 1 < v_end - v_start  # The shorter list is walked and the other one searched.
        here = jnp.where(along_u, arc + 1, v_start) + offset
        w = read.load(heads, here, valid)
        low, high = jnp.where(along_u, v_start, arc + 1), jnp.where(along_u, v_end, u_end)
        there, hit = read.find(heads, low, high, w, valid, steps)
        uv, uw, vw = arc, jnp.where(along_u, here, there), jnp.where(along_u, there, here)
        none = read.at(none, 0)  # the number that stands for no arc
        return tuple(jnp.where(hit, x, none) for x in (uv, uw, vw))

    arrays = order.out_offsets, order.tail, order.head, jnp.full(1, edges, jnp.int32)
    triangles, _ = each_position(test, arrays, work, first, stop, block=block, fill=(edges,) * 3, name="triangles")
    return TriangleBlock(*triangles)
