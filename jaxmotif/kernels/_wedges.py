"""Wedges v - u - w of a degree order with both u and w below v: the halves of all 4-cycles.

For every in arc u -> v the part of u's full row before v is expanded. Because rows are in rank order this prefix
is exactly the neighbours w < v of u (w below or above u), so nothing is tested or thrown away.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmotif.graph._order import DegreeOrder
from jaxmotif.kernels._expand import FlatWork
from jaxmotif.kernels._lane_body import Read, each_position


class WedgeBlock(NamedTuple):
    """Int32 ``[block]`` each: the arcs u-v and u-w, the ends v and w; and which positions are valid. Elsewhere the
    others may be anything, no index."""

    uv: jax.Array
    uw: jax.Array
    v: jax.Array
    w: jax.Array
    valid: jax.Array


def wedge_lengths(xp: ModuleType, order: DegreeOrder) -> Any:
    """Wedges at each position of ``order.in_arc``, int32 ``[M]`` (so they are grouped by v)."""
    arc = order.in_arc
    u = order.tail[arc]
    # v's place in u's full row: behind all in arcs, and the out arcs before this one.
    below = order.in_offsets[u + 1] - order.in_offsets[u] + arc - order.out_offsets[u]
    return xp.where(xp.arange(order.edge_capacity, dtype=np.int32) < order.num_edges, below, xp.zeros_like(below))


class _Arcs(NamedTuple):
    """What a wedge reads, of a degree order."""

    out_offsets: jax.Array
    in_offsets: jax.Array
    tail: jax.Array
    head: jax.Array
    in_arc: jax.Array
    row_arc: jax.Array
    row_end: jax.Array


def wedge_block(order: DegreeOrder, work: FlatWork, first: jax.Array, stop: jax.Array, *, block: int) -> WedgeBlock:
    """The wedges at the positions ``first .. min(first + block, stop)``.

    Args:
      work: :func:`flat_work` of (some of) the :func:`wedge_lengths`.
      first, stop: int64 scalars. block: static.
    """
    arcs = _Arcs(*(getattr(order, name) for name in _Arcs._fields))
    found, valid = each_position(_wedge, arcs, work, first, stop, block=block, fill=(None,) * 4, name="wedges")
    uv, uw, v, w = found
    return WedgeBlock(uv, uw, v, w, valid)


def _wedge(read: Read, arcs: _Arcs, position: jax.Array, offset: jax.Array, valid: jax.Array) -> tuple[Any, ...]:
    uv = read.load(arcs.in_arc, position)
    u, v = read.load(arcs.tail, uv), read.load(arcs.head, uv)
    # u's full row begins where those of all ranks before it end: with their in arcs and out arcs.
    place = read.load(arcs.in_offsets, u) + read.load(arcs.out_offsets, u) + offset
    # Both lie along the row: to look the end up at its arc would be a read at random for each wedge.
    return uv, read.load(arcs.row_arc, place, valid), v, read.load(arcs.row_end, place, valid)
