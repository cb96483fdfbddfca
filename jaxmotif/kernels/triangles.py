"""Triangles of a degree order, each found once: at the arc between its two lowest nodes.

For the arc u -> v the shorter of (u's arcs after v) and (v's arcs) is expanded and each of its heads w looked up in
the other, so a hit knows all three arcs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl

from jaxmotif.graph.order import DegreeOrder
from jaxmotif.kernels import expand as ex
from jaxmotif.kernels.choice import Backend
from jaxmotif.kernels.expand import FlatWork, take

LANES = 1024
PROGRAMS = 4096


class TriangleBlock(NamedTuple):
    """Arcs of the triangles u < v < w in a block of positions, int32 ``[block]`` each; M where there is none."""

    uv: jax.Array
    uw: jax.Array
    vw: jax.Array


def triangle_tests(xp: Any, order: DegreeOrder) -> Any:
    """How many membership tests each arc needs, int32 ``[M]``."""
    arc = xp.arange(order.edge_capacity, dtype=np.int32)
    after = order.out_offsets[order.tail + 1] - arc - 1
    row = order.out_offsets[order.head + 1] - order.out_offsets[order.head]
    return xp.where(arc < order.num_edges, xp.minimum(after, row), xp.zeros_like(arc))


def triangle_block(
    order: DegreeOrder, work: FlatWork, first: Any, stop: Any, *, block: int, backend: Backend
) -> TriangleBlock:
    """Test the positions ``first .. min(first + block, stop)`` of the work list.

    Args:
      work: :func:`jaxmotif.kernels.expand.flat_work` of the :func:`triangle_tests`.
      first, stop: int64 scalars. block: static, a multiple of 1024 for Pallas.
      backend: static.
    """
    if backend == "pallas-triton":
        return TriangleBlock(*_pallas(order, work, first, stop, block))
    arc, offset, valid = ex.expand(work, first, stop, block)
    rows, head = order.out_offsets, order.head
    u, v = take(order.tail, arc), take(head, arc)
    u_end, v_start, v_end = take(rows, u + 1), take(rows, v), take(rows, v + 1)
    along_u = u_end - arc - 1 < v_end - v_start
    here = jnp.where(along_u, arc + 1, v_start) + offset
    w = take(head, jnp.where(valid, here, 0))
    steps = _search_steps(order.edge_capacity)
    there, hit = ex.find(head, jnp.where(along_u, v_start, arc + 1), jnp.where(along_u, v_end, u_end), w, steps)
    hit, none = hit & valid, jnp.int32(order.edge_capacity)
    return TriangleBlock(
        jnp.where(hit, arc, none),
        jnp.where(hit, jnp.where(along_u, here, there), none),
        jnp.where(hit, jnp.where(along_u, there, here), none),
    )


def triangle_total(order: DegreeOrder, work: FlatWork, *, block: int, backend: Backend) -> jax.Array:
    """How many triangles there are in all, an int64 scalar; nothing is stored by position.

    Args:
      block: static, positions a step (XLA only: the Pallas kernel walks 2^30 at a time).
    """
    if backend == "pallas-triton":
        block = 2**30

    def step(number, total):
        first = number.astype(jnp.int64) * block
        if backend == "pallas-triton":
            found = _pallas_total(order, work, first)
        else:
            tri = triangle_block(order, work, first, work.total, block=block, backend=backend)
            found = tri.uv < order.edge_capacity
        return total + found.sum(dtype=jnp.int64)

    zero = jnp.zeros((), jnp.int64)
    if order.edge_capacity << _search_steps(order.edge_capacity) <= block:
        return step(zero, zero)  # no loop, which costs a small graph more than its triangles
    return lax.fori_loop(jnp.int32(0), (-(-work.total // block)).astype(jnp.int32), step, zero)


def _search_steps(edges: int) -> int:
    """An out-degree is at most sqrt(2 m); binary search over it takes this many steps."""
    return int(np.sqrt(2 * edges)).bit_length()


def _test_lanes(rows: Any, tail: Any, head: Any, items: Any, found: Any) -> tuple[Any, ...]:
    """One membership test a lane: arcs uv, uw, vw and whether they make a triangle."""
    index, offset, valid = found
    arc = ex.load(items, index, valid)
    u, v = ex.load(tail, arc, valid), ex.load(head, arc, valid)
    u_end, v_start, v_end = (ex.load(rows, r, valid) for r in (u + 1, v, v + 1))
    along_u = u_end - arc - 1 < v_end - v_start
    here = jnp.where(along_u, arc + 1, v_start) + offset
    w = ex.load(head, here, valid)
    low, high = jnp.where(along_u, v_start, arc + 1), jnp.where(along_u, v_end, u_end)
    there, hit = ex.find_lanes(head, low, high, w, valid)
    return arc, jnp.where(along_u, here, there), jnp.where(along_u, there, here), hit


def _pallas(order: DegreeOrder, work: FlatWork, first: Any, stop: Any, block: int) -> list[jax.Array]:
    items, starts = ex.window(work, first, block)
    count = jnp.clip(stop - first, 0, block).astype(jnp.int32)[None]
    lists, edges = items.shape[0], order.edge_capacity

    def kernel(rows, tail, head, items, starts, count, *out):
        tile, n = pl.program_id(0), count[0]

        @pl.when(tile * LANES >= n)
        def _():
            for ref in out:
                ref[...] = jnp.full((LANES,), edges, jnp.int32)

        @pl.when(tile * LANES < n)
        def _():
            *arcs, hit = _test_lanes(rows, tail, head, items, ex.expand_lanes(starts, lists, n, LANES, tile))
            for ref, arc in zip(out, arcs, strict=True):
                ref[...] = jnp.where(hit, arc, edges)

    with jax.enable_x64(False):
        return pl.pallas_call(
            kernel, grid=(block // LANES,), out_shape=[jax.ShapeDtypeStruct((block,), jnp.int32)] * 3,
            in_specs=[ex.WHOLE] * 6, out_specs=[pl.BlockSpec((LANES,), lambda i: (i,))] * 3,
            compiler_params=ex.triton(), name="triangles",
        )(order.out_offsets, order.tail, order.head, items, starts, count)  # fmt: skip


def _pallas_total(order: DegreeOrder, work: FlatWork, first: Any) -> jax.Array:
    """Triangles found by each of a fixed number of programs, which share the tiles of 2^30 positions."""
    items, starts = ex.window(work, first, 2**30)
    count = jnp.clip(work.total - first, 0, 2**30).astype(jnp.int32)[None]
    lists = items.shape[0]

    def kernel(rows, tail, head, items, starts, count, out):
        program, n = pl.program_id(0), count[0]
        tiles = (n + LANES - 1) // LANES

        def tile(number, total):
            found = ex.expand_lanes(starts, lists, n, LANES, program + number * PROGRAMS)
            *_, hit = _test_lanes(rows, tail, head, items, found)
            return total + jnp.sum(hit.astype(jnp.int32))

        mine = (tiles - program + PROGRAMS - 1) // PROGRAMS
        out[...] = lax.fori_loop(0, jnp.maximum(mine, 0), tile, jnp.int32(0))[None]

    with jax.enable_x64(False):
        return pl.pallas_call(
            kernel, grid=(PROGRAMS,), out_shape=jax.ShapeDtypeStruct((PROGRAMS,), jnp.int32),
            in_specs=[ex.WHOLE] * 6, out_specs=pl.BlockSpec((1,), lambda i: (i,)),
            compiler_params=ex.triton(), name="triangle_total",
        )(order.out_offsets, order.tail, order.head, items, starts, count)  # fmt: skip
