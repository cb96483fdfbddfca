"""Wedges v - u - w of a graph in degree order whose nodes u and w are both below v: the halves of all 4-cycles.

For every in arc u -> v the part of u's full row before v is expanded. Rows are in rank order, so that this part has
exactly the neighbours w < v of u, be they below or above u. Nothing is tested or thrown away.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from jax import Array

from jaxmotif.graph._order import DegreeOrder
from jaxmotif.kernels._expand import FlatWork
from jaxmotif.kernels._lane_body import Read, each_position


class WedgeBlock(NamedTuple):
    """The wedges at a block of positions.

    Attributes:
      uv: The arcs between u and v, int32 ``[block]``. Where a position is not valid, these fields are not safe indices.
      uw: The arcs between u and w, likewise.
      v: The ends v, likewise.
      w: The ends w, likewise.
      valid: Which positions are valid.
    """

    uv: Array
    uw: Array
    v: Array
    w: Array
    valid: Array


def wedge_lengths(xp: ModuleType, order: DegreeOrder) -> Any:
    """Return the number of wedges at each position of ``order.in_arc``, int32 ``[M]``, which groups them by v."""
    arc = order.in_arc
    u = order.tail[arc]
    # In u's full row, v comes after all in arcs and after the out arcs before this one.
    below = order.in_offsets[u + 1] - order.in_offsets[u] + arc - order.out_offsets[u]
    return xp.where(xp.arange(order.edge_capacity, dtype=np.int32) < order.num_edges, below, xp.zeros_like(below))


def wedge_block(order: DegreeOrder, work: FlatWork, first: Array, stop: Array, *, block: int) -> WedgeBlock:
    """Return the wedges at the positions ``first .. min(first + block, stop)``.

    Args:
      order: The graph.
      work: The numbers of :func:`wedge_lengths`, or some of them, laid out by
        :func:`jaxmotif.kernels._expand.flat_work`.
      first: The first position, an int64 scalar.
      stop: The position to stop before, an int64 scalar.
      block: The number of positions, static.
    """
    offsets = order.out_offsets, order.in_offsets
    arcs = *offsets, order.tail, order.head, order.in_arc, order.row_arc, order.row_end
    arrays, valid = each_position(_wedge, arcs, work, first, stop, block=block, fill=(None,) * 4, name="wedges")
    uv, uw, v, w = arrays
    return WedgeBlock(uv, uw, v, w, valid)


def _wedge(read: Read, arcs: tuple[Array, ...], position: Array, offset: Array, valid: Array) -> tuple[Any, ...]:
    out_offsets, in_offsets, tail, head, in_arc, row_arc, row_end = arcs
    uv = read.load(in_arc, position)
    u, v = read.load(tail, uv), read.load(head, uv)
    # The full rows of all ranks before u, with their in arcs and out arcs, come before u's full row.
    place = read.load(in_offsets, u) + read.load(out_offsets, u) + offset
    # The row has both the arc and its end, since looking up the end at the arc would be a read at random.
    return uv, read.load(row_arc, place, valid), v, read.load(row_end, place, valid)
