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

from jaxmotif.arrays._bits import bit_of, ones
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._lane_body import Read, each_lane
from jaxmotif.kernels._scatter import add_at
from jaxmotif.kernels._triangles import TriangleBlock

_LANES = 256  # rows of one tile are as long as its longest


def row_words(order: DegreeOrder) -> jax.Array:
    """Words of each node's bit matrix, int64 ``[N]``; of arrays in host memory too."""
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
    # Bits are placed by arc, not by node: u's matrix has a row and a column for each of its out arcs.
    u = take(order.tail, jnp.where(hit, tri.uv, 0))
    start = take(order.out_offsets, u)
    words = (take(order.out_offsets, u + 1) - start + 31) >> 5
    return hit, tri.uv - start, tri.uw - start, words, take(base, u)


def set_bits(order: DegreeOrder, base: jax.Array, bits: jax.Array, tri: TriangleBlock) -> jax.Array:
    """Enter a block of triangles; every triangle may be entered once.

    Args:
      base: int32 ``[N]``, first word of each node's matrix in ``bits``.
      bits: uint32 accumulator.
    """
    hit, i, j, words, first = _rows(order, base, tri)
    spare = jnp.int32(bits.shape[0] - 1)

    def enter(bits, row, column):
        word = jnp.where(hit, first + row * words + (column >> 5), spare)
        bit = jnp.where(hit, bit_of(column), jnp.uint32(0))
        return add_at(bits, word, bit)  # each bit is entered once, so a sum is a union

    # Both halves of the symmetric matrix: x is in the rows of v and w whatever its place beside theirs.
    return enter(enter(bits, i, j), j, i)


def common_bits(order: DegreeOrder, base: jax.Array, bits: jax.Array, tri: TriangleBlock) -> jax.Array:
    """4-cliques through each triangle of which u is the lowest node, int32 ``[block]`` (0 where no triangle)."""
    hit, i, j, words, first = _rows(order, base, tri)
    # No words where there is no triangle: such a lane counts nothing and holds up no tile.
    words = jnp.where(hit, words, 0)
    rows = first + i * words, first + j * words
    (common,) = each_lane(_common, bits, *rows, words, outputs=1, lanes=_LANES, name="common_bits")
    return common


def _common(read: Read, bits: jax.Array, row_v: jax.Array, row_w: jax.Array, words: jax.Array) -> tuple[Any]:
    """Bits that two rows of so many words share."""

    def word(k: jax.Array, count: jax.Array) -> Any:
        live = k < words
        both = read.load(bits, row_v + k, live) & read.load(bits, row_w + k, live)
        return count + jnp.where(live, ones(both), 0)

    # As many steps as the tile's longest row has words.
    return (lax.fori_loop(jnp.int32(0), jnp.max(words), word, jnp.zeros_like(words)),)
