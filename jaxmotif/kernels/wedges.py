"""Wedges v - u - w of a degree order with both u and w below v: the halves of all 4-cycles.

For every in arc u -> v the part of u's full row before v is expanded. Because rows are in rank order this prefix
is exactly the neighbours w < v of u (w below or above u), so nothing is tested or thrown away.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl

from jaxmotif.graph.order import DegreeOrder
from jaxmotif.kernels import expand as ex
from jaxmotif.kernels.choice import Backend
from jaxmotif.kernels.expand import FlatWork, take

LANES = 1024


class WedgeBlock(NamedTuple):
    """Int32 ``[block]`` each: the arcs u-v and u-w, the ends v and w; and which positions are valid."""

    uv: jax.Array
    uw: jax.Array
    v: jax.Array
    w: jax.Array
    valid: jax.Array


def wedge_lengths(xp: Any, order: DegreeOrder) -> Any:
    """Wedges at each position of ``order.in_arc``, int32 ``[M]`` (so they are grouped by v)."""
    arc = order.in_arc
    u = order.tail[arc]
    below = order.in_offsets[u + 1] - order.in_offsets[u] + arc - order.out_offsets[u]
    return xp.where(xp.arange(order.edge_capacity, dtype=np.int32) < order.num_edges, below, xp.zeros_like(below))


def wedge_block(
    order: DegreeOrder, work: FlatWork, first: Any, stop: Any, *, block: int, backend: Backend
) -> WedgeBlock:
    """The wedges at the positions ``first .. min(first + block, stop)``.

    Args:
      work: :func:`flat_work` of (some of) the :func:`wedge_lengths`.
      first, stop: int64 scalars. block: static, a multiple of 1024 for Pallas.
    """
    if backend == "pallas-triton":
        return WedgeBlock(*_pallas(order, work, first, stop, block))
    position, offset, valid = ex.expand(work, first, stop, block)
    uv = take(order.in_arc, position)
    u, v = take(order.tail, uv), take(order.head, uv)
    slot = take(order.in_offsets, u) + take(order.out_offsets, u) + offset
    uw = take(order.row_arc, jnp.where(valid, slot, 0))
    return WedgeBlock(uv, uw, v, take(order.tail, uw) + take(order.head, uw) - u, valid)


def _pallas(order: DegreeOrder, work: FlatWork, first: Any, stop: Any, block: int) -> list[jax.Array]:
    items, starts = ex.window(work, first, block)
    count = jnp.clip(stop - first, 0, block).astype(jnp.int32)[None]
    lists = items.shape[0]

    def kernel(out_rows, in_rows, tail, head, in_arc, row_arc, items, starts, count, uv_ref, uw_ref, v_ref, w_ref):
        tile, n = pl.program_id(0), count[0]

        @pl.when(tile * LANES < n)
        def _():
            index, offset, valid = ex.expand_lanes(starts, lists, n, LANES, tile)
            uv = ex.load(in_arc, ex.load(items, index, valid), valid)
            u = ex.load(tail, uv, valid)
            slot = ex.load(in_rows, u, valid) + ex.load(out_rows, u, valid) + offset
            uw = ex.load(row_arc, slot, valid)
            uv_ref[...] = uv
            uw_ref[...] = uw
            v_ref[...] = ex.load(head, uv, valid)
            w_ref[...] = ex.load(tail, uw, valid) + ex.load(head, uw, valid) - u

    lane_block = pl.BlockSpec((LANES,), lambda i: (i,))
    with jax.enable_x64(False):
        out = pl.pallas_call(
            kernel, grid=(block // LANES,), out_shape=[jax.ShapeDtypeStruct((block,), jnp.int32)] * 4,
            in_specs=[ex.WHOLE] * 9, out_specs=[lane_block] * 4, compiler_params=ex.triton(), name="wedges",
        )(order.out_offsets, order.in_offsets, order.tail, order.head, order.in_arc, order.row_arc,
          items, starts, count)  # fmt: skip
    return [*out, jnp.arange(block, dtype=jnp.int32) < count[0]]
