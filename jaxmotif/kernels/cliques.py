"""4-cliques without listing them: bit rows over each node's out arcs, AND, population count.

Node u with d out arcs gets a symmetric d x d bit matrix, rows of ceil(d / 32) words: bit j of row i is set when the
heads of arcs i and j are adjacent, i.e. for every triangle at u. The 4-cliques u, v, w, x with u lowest are then,
for the triangle (u, v, w), the common bits of rows v and w. Since d <= sqrt(2 m), all rows of one node are few.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl

from jaxmotif.graph.order import DegreeOrder
from jaxmotif.kernels import expand as ex
from jaxmotif.kernels.choice import Backend
from jaxmotif.kernels.expand import take
from jaxmotif.kernels.scatter import add_at
from jaxmotif.kernels.triangles import TriangleBlock

LANES = 256


def row_words(xp: Any, order: DegreeOrder) -> Any:
    """Words of each node's bit matrix, int64 ``[N]``."""
    d = (order.out_offsets[1:] - order.out_offsets[:-1]).astype(np.int64)
    return d * ((d + 31) // 32)


def most_row_words(edges: int) -> int:
    """An upper bound on one node's bit matrix in a graph of ``edges`` edges: d <= sqrt(2 m)."""
    d = int(np.sqrt(2 * edges)) + 1
    return d * ((d + 31) // 32)


def words_bound(edges: int) -> int:
    """An upper bound on the words of all nodes: the sum of d * ceil(d / 32) with d <= sqrt(2 m)."""
    return edges * (int(np.sqrt(2 * edges)) // 32 + 2)


def _rows(order: DegreeOrder, base: jax.Array, tri: TriangleBlock) -> tuple[jax.Array, ...]:
    """For each triangle: whether it is one, the places i, j of v, w among u's arcs, u's row length and first word."""
    hit = tri.uv < order.edge_capacity
    u = take(order.tail, jnp.where(hit, tri.uv, 0))
    start = take(order.out_offsets, u)
    words = (take(order.out_offsets, u + 1) - start + 31) >> 5
    return hit, tri.uv - start, tri.uw - start, words, take(base, u)


def set_bits(
    order: DegreeOrder, base: jax.Array, bits: jax.Array, tri: TriangleBlock, *, size: int, backend: Backend
) -> jax.Array:
    """Enter a block of triangles; every triangle may be entered once.

    Args:
      base: int32 ``[N]``, first word of each node's matrix in ``bits``.
      bits: uint32 accumulator of ``size`` words.
    """
    hit, i, j, words, first = _rows(order, base, tri)
    spare = jnp.int32(size)

    def enter(bits, row, column):
        word = jnp.where(hit, first + row * words + (column >> 5), spare)
        bit = jnp.where(hit, jnp.uint32(1) << (column & 31).astype(jnp.uint32), jnp.uint32(0))
        return add_at(bits, word, bit, backend)

    return enter(enter(bits, i, j), j, i)


def common_bits(
    order: DegreeOrder, base: jax.Array, bits: jax.Array, tri: TriangleBlock, *, backend: Backend
) -> jax.Array:
    """4-cliques through each triangle of which u is the lowest node, int32 ``[block]`` (0 where no triangle)."""
    hit, i, j, words, first = _rows(order, base, tri)
    words = jnp.where(hit, words, 0)
    row_v, row_w = first + i * words, first + j * words
    if backend == "pallas-triton":
        return _pallas(bits, row_v, row_w, words)

    def word(k, count):
        live = k < words
        v, w = (take(bits, jnp.where(live, row + k, 0)) for row in (row_v, row_w))
        return count + jnp.where(live, lax.population_count(v & w), jnp.uint32(0)).astype(jnp.int32)

    return lax.fori_loop(jnp.int32(0), jnp.max(words), word, jnp.zeros(words.shape, jnp.int32))


def _ones(x: jax.Array) -> jax.Array:
    """Set bits of uint32 words by halves (Triton's lowering of population_count fails on jax 0.11)."""
    u = jnp.uint32
    x = x - ((x >> u(1)) & u(0x55555555))
    x = (x & u(0x33333333)) + ((x >> u(2)) & u(0x33333333))
    return ((x + (x >> u(4)) & u(0x0F0F0F0F)) * u(0x01010101)) >> u(24)


def _pallas(bits: jax.Array, row_v: jax.Array, row_w: jax.Array, words: jax.Array) -> jax.Array:
    (block,) = words.shape

    def kernel(bits, row_v, row_w, words, out):
        v, w, n = row_v[...], row_w[...], words[...]

        def word(state):
            k, count = state
            live = k < n
            both = ex.load(bits, v + k, live) & ex.load(bits, w + k, live)
            return k + 1, count + _ones(both).astype(jnp.int32)

        _, count = lax.while_loop(lambda state: state[0] < jnp.max(n), word, (jnp.int32(0), jnp.zeros_like(n)))
        out[...] = count

    lane_block = pl.BlockSpec((LANES,), lambda i: (i,))
    with jax.enable_x64(False):
        return pl.pallas_call(
            kernel, grid=(block // LANES,), out_shape=jax.ShapeDtypeStruct((block,), jnp.int32),
            in_specs=[ex.WHOLE, lane_block, lane_block, lane_block], out_specs=lane_block,
            compiler_params=ex.triton(), name="common_bits",
        )(bits, row_v, row_w, words)  # fmt: skip
