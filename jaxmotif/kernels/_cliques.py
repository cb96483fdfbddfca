"""4-cliques, counted and not listed, by rows of bits over each node's out arcs, AND, and population count.

Node u with d out arcs has a symmetric d x d matrix of bits, whose rows have ceil(d / 32) words. Bit j of row i is set
when the heads of arcs i and j are adjacent, which is so for every triangle whose lowest node is u. The 4-cliques u, v,
w, x whose lowest node is u are then, for the triangle (u, v, w), the common bits of the rows of v and w. The matrix of
a node is small, because d <= sqrt(2 m).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._bits import bit_of, ones
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._lane_body import Read, each_lane
from jaxmotif.kernels._scatter import add_at
from jaxmotif.kernels._triangles import TriangleBlock

_LANES = 256  # of a tile; few, because all rows of a tile take as many steps as its longest


def row_words(order: DegreeOrder) -> jax.Array:
    """Return the number of words of each node's matrix, int64 ``[N]``, for arrays of JAX or NumPy."""
    d = (order.out_offsets[1:] - order.out_offsets[:-1]).astype(np.int64)
    return d * ((d + 31) // 32)


def most_row_words(edges: int) -> int:
    """Return an upper bound on the words of one node's matrix, by d <= sqrt(2 m) for m edges."""
    d = int(np.sqrt(2 * edges)) + 1
    return d * ((d + 31) // 32)


def words_bound(edges: int) -> int:
    """Return an upper bound on the words of all nodes: the sum of d * ceil(d / 32), with d <= sqrt(2 m)."""
    return edges * (int(np.sqrt(2 * edges)) // 32 + 2)


def _rows(order: DegreeOrder, base: jax.Array, tri: TriangleBlock) -> tuple[jax.Array, ...]:
    """Locate triangles in the matrices.

    Returns:
      For each entry of the block whether it is a triangle, the places i and j of v and w among u's arcs, and the length
      of a row and the first word of u's matrix.
    """
    hit = tri.uv < order.edge_capacity
    # The matrix of u has a row and a column for each of u's out arcs.
    u = take(order.tail, jnp.where(hit, tri.uv, 0))
    start = take(order.out_offsets, u)
    words = (take(order.out_offsets, u + 1) - start + 31) >> 5
    return hit, tri.uv - start, tri.uw - start, words, take(base, u)


def set_bits(order: DegreeOrder, base: jax.Array, bits: jax.Array, tri: TriangleBlock) -> jax.Array:
    """Set the bits of a block of triangles; every triangle may be entered only once.

    Args:
      order: The graph.
      base: The first word of each node's matrix in ``bits``, int32 ``[N]``.
      bits: The matrices, a uint32 accumulator.
      tri: The triangles.
    """
    hit, i, j, words, first = _rows(order, base, tri)
    spare = jnp.int32(bits.shape[0] - 1)

    def enter(bits, row, column):
        word = jnp.where(hit, first + row * words + (column >> 5), spare)
        bit = jnp.where(hit, bit_of(column), jnp.uint32(0))
        return add_at(bits, word, bit)  # Every bit is added only once, so that the sum is a union.

    # Both halves of the symmetric matrix are set, so that the rows of v and w have x wherever it stands among u's arcs.
    return enter(enter(bits, i, j), j, i)


def common_bits(order: DegreeOrder, base: jax.Array, bits: jax.Array, tri: TriangleBlock) -> jax.Array:
    """Count the 4-cliques in which each triangle has the lowest node, int32 ``[block]``; 0 where there is no triangle.

    The arguments are those of :func:`set_bits`.
    """
    hit, i, j, words, first = _rows(order, base, tri)
    # A lane without a triangle has no words, so that it counts nothing and no tile waits for it.
    words = jnp.where(hit, words, 0)
    rows = first + i * words, first + j * words
    (common,) = each_lane(_common, bits, *rows, words, outputs=1, lanes=_LANES, name="common_bits")
    return common


def _common(read: Read, bits: jax.Array, row_v: jax.Array, row_w: jax.Array, words: jax.Array) -> tuple[Any]:
    """Count the bits that two rows share, from the first word of each and the number of words."""

    def word(k: jax.Array, count: jax.Array) -> Any:
        live = k < words
        both = read.load(bits, row_v + k, live) & read.load(bits, row_w + k, live)
        return count + jnp.where(live, ones(both), 0)

    # The longest row of the tile decides the number of steps.
    return (lax.fori_loop(jnp.int32(0), jnp.max(words), word, jnp.zeros_like(words)),)
