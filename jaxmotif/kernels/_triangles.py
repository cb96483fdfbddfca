"""Triangles of a degree order, each found once: at the arc between its two lowest nodes.

For the arc u -> v the shorter of (u's arcs after v) and (v's arcs) is expanded and each of its heads w looked up in
the other, so a hit knows all three arcs.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.graph._order import DegreeOrder
from jaxmotif.kernels._expand import FlatWork
from jaxmotif.kernels._lane_body import Read, each_position


class TriangleBlock(NamedTuple):
    """Arcs of the triangles u < v < w in a block of positions, int32 ``[block]`` each; M where there is none."""

    uv: jax.Array
    uw: jax.Array
    vw: jax.Array


def triangle_tests(xp: ModuleType, order: DegreeOrder) -> Any:
    """How many membership tests each arc needs, int32 ``[M]``."""
    arc = xp.arange(order.edge_capacity, dtype=np.int32)
    # w is above v: in u's row it comes after v, in v's row it is any head.
    after = order.out_offsets[order.tail + 1] - arc - 1
    row = order.out_offsets[order.head + 1] - order.out_offsets[order.head]
    return xp.where(arc < order.num_edges, xp.minimum(after, row), xp.zeros_like(arc))


class _Arcs(NamedTuple):
    """What a membership test reads, of a degree order."""

    out_offsets: jax.Array
    tail: jax.Array
    head: jax.Array
    none: jax.Array  # int32 [1]: what stands for no arc


def triangle_block(
    order: DegreeOrder, work: FlatWork, first: jax.Array, stop: jax.Array, *, block: int
) -> TriangleBlock:
    """Test the positions ``first .. min(first + block, stop)`` of the work list.

    Args:
      work: :func:`jaxmotif.kernels._expand.flat_work` of the :func:`triangle_tests`.
      first, stop: int64 scalars. block: static.
    """
    edges, steps = order.edge_capacity, _search_steps(order.edge_capacity)

    def test(read: Read, arcs: _Arcs, arc: jax.Array, offset: jax.Array, valid: jax.Array) -> tuple[Any, ...]:
        u, v = read.load(arcs.tail, arc), read.load(arcs.head, arc)
        u_end, v_start, v_end = (read.load(arcs.out_offsets, row) for row in (u + 1, v, v + 1))
        along_u = u_end - arc - 1 < v_end - v_start  # the shorter list is walked, the other searched
        here = jnp.where(along_u, arc + 1, v_start) + offset
        w = read.load(arcs.head, here, valid)
        low, high = jnp.where(along_u, v_start, arc + 1), jnp.where(along_u, v_end, u_end)
        there, hit = read.find(arcs.head, low, high, w, valid, steps)
        # Whichever was walked: an arc of u's row is u-w, one of v's is v-w.
        found = arc, jnp.where(along_u, here, there), jnp.where(along_u, there, here)
        none = read.at(arcs.none, 0)
        return tuple(jnp.where(hit, x, none) for x in found)

    arcs = _Arcs(order.out_offsets, order.tail, order.head, jnp.full(1, edges, jnp.int32))
    found, _ = each_position(test, arcs, work, first, stop, block=block, fill=(edges,) * 3, name="triangles")
    uv, uw, vw = found
    return TriangleBlock(uv, uw, vw)


def _search_steps(edges: int) -> int:
    """An out-degree is at most sqrt(2 m); binary search over it takes this many steps."""
    return int(np.sqrt(2 * edges)).bit_length()
