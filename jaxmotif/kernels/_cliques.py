"""Cliques of four and more nodes, by rows of bits over each node's neighbours, AND, and population count.

Node u with d out arcs has a symmetric d x d matrix of bits, whose rows have ceil(d / 32) words. Bit j of row i is set
when the heads of arcs i and j are adjacent, which is so for every triangle whose lowest node is u. The 4-cliques u, v,
w, x whose lowest node is u are then, for the triangle (u, v, w), the common bits of the rows of v and w. The matrix of
a node is small, because d <= sqrt(2 m). Larger cliques are found in the same rows: for each further node the row of
that node is met too, and the last node is counted.

A *whole* matrix of u has the same rows, one for each out arc, and a column for each of u's neighbours, higher or lower.
The common bits of the rows of v and w are then all nodes next to u, v and w.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmotif.arrays._bits import bit_of, ones
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.kernels._expand import blocks_of, flat_work, long, take
from jaxmotif.kernels._lane_body import Read, each_lane, each_position
from jaxmotif.kernels._scatter import add_at
from jaxmotif.kernels._triangles import TriangleBlock

_LANES = 256  # lanes of a tile; few, because all rows of a tile take as many steps as its longest


def row_words(order: DegreeOrder, whole: bool = False) -> Array:
    """Return the number of words of each node's (whole) matrix, int64 ``[N]``, for arrays of JAX or NumPy."""
    d = (order.out_offsets[1:] - order.out_offsets[:-1]).astype(np.int64)
    columns = order.degree.astype(np.int64) if whole else d
    return d * ((columns + 31) // 32)


def most_row_words(edges: int, whole: bool = False) -> int:
    """Return an upper bound on the words of one node's (whole) matrix, by d <= sqrt(2 m) for m edges."""
    d = int(np.sqrt(2 * edges)) + 1
    # The heads of a node's arcs have at least as many neighbours as the node, and all nodes together have 2 m.
    return edges // 16 + d if whole else d * ((d + 31) // 32)


def words_bound(edges: int) -> int:
    """Return an upper bound on the words of all nodes: the sum of d * ceil(d / 32), with d <= sqrt(2 m)."""
    return edges * (int(np.sqrt(2 * edges)) // 32 + 2)


def lower_places(order: DegreeOrder) -> Array:
    """Return the place of each arc among the in arcs of its head, int32 ``[M]``."""
    places = jnp.arange(order.edge_capacity, dtype=jnp.int32) - take(order.in_offsets, take(order.head, order.in_arc))
    return jnp.zeros_like(places).at[order.in_arc].set(places, unique_indices=True)


class Matrices(NamedTuple):
    """The matrices of bits: where they are, and what their columns are.

    Attributes:
      base: The first word of each node's matrix, int32 ``[N]``.
      lower: The result of :func:`lower_places`, for whole matrices.
      inside: For whole matrices, the first node that has a matrix, and the node to stop before; ``None`` for all nodes.
    """

    base: Any
    lower: Any = None
    inside: tuple[Any, Any] | None = None


class _Corner(NamedTuple):
    """The matrix of the lowest node u of each triangle (u, v, w) of a block.

    Attributes:
      hit: Whether there is a triangle.
      i, j: The rows of v and w.
      below: The number of columns before the column of the node of row 0; they are those of u's lower neighbours.
      words: The words of a row.
      first: The first word of the matrix.
    """

    hit: Array
    i: Array
    j: Array
    below: Array | int
    words: Array
    first: Array


def _corner(order: DegreeOrder, matrices: Matrices, hit: Array, first: Array, second: Array) -> _Corner:
    """Locate the matrix of the tail of two arcs, and the rows of the arcs."""
    u = take(order.tail, jnp.where(hit, first, 0))
    start = take(order.out_offsets, u)
    columns, below = take(order.out_offsets, u + 1) - start, 0
    if matrices.lower is not None:
        columns = take(order.degree, u)
        below = take(order.in_offsets, u + 1) - take(order.in_offsets, u)
    if matrices.inside is not None:
        low, high = matrices.inside
        hit = hit & (low <= u) & (u < high)
    return _Corner(hit, first - start, second - start, below, (columns + 31) >> 5, take(matrices.base, u))


def set_bits(order: DegreeOrder, matrices: Matrices, bits: Array, tri: TriangleBlock) -> Array:
    """Set the bits of a block of triangles; every triangle may be entered only once.

    Args:
      order: The graph.
      matrices: Where the matrices are in ``bits``.
      bits: The matrices, a uint32 accumulator.
      tri: The triangles.
    """
    found = tri.uv < order.edge_capacity
    spare = jnp.int32(bits.shape[0] - 1)

    def enter(bits, corner, row, column):
        word = jnp.where(corner.hit, corner.first + row * corner.words + (column >> 5), spare)
        bit = jnp.where(corner.hit, bit_of(column), jnp.uint32(0))
        return add_at(bits, word, bit)  # Every bit is added only once, so that the sum is a union.

    at_u = _corner(order, matrices, found, tri.uv, tri.uw)
    # Both halves of the symmetric matrix are set, so that the rows of v and w have x wherever it stands among u's arcs.
    bits = enter(bits, at_u, at_u.i, at_u.below + at_u.j)
    bits = enter(bits, at_u, at_u.j, at_u.below + at_u.i)
    if matrices.lower is None:
        return bits
    # A whole matrix of v has a row of w, too, with a column for u, which is a lower neighbour of v.
    at_v = _corner(order, matrices, found, tri.vw, tri.vw)
    return enter(bits, at_v, at_v.i, take(matrices.lower, jnp.where(found, tri.uv, 0)))


def common_bits(order: DegreeOrder, matrices: Matrices, bits: Array, tri: TriangleBlock) -> Array:
    """Count the common bits of the rows of v and w for each triangle, int32 ``[block]``; 0 where there is no triangle.

    The arguments are those of :func:`set_bits`.
    """
    at_u = _corner(order, matrices, tri.uv < order.edge_capacity, tri.uv, tri.uw)
    # A lane without a triangle has no words, so that it counts nothing and no tile waits for it.
    words = jnp.where(at_u.hit, at_u.words, 0)
    rows = at_u.first + at_u.i * words, at_u.first + at_u.j * words
    (common,) = each_lane(_common, bits, *rows, words, outputs=1, lanes=_LANES, name="common_bits")
    return common


def _common(read: Read, bits: Array, row_v: Array, row_w: Array, words: Array) -> tuple[Any]:
    return (_count_bits(read, bits, (row_v, row_w), words, None),)


class _Cliques(NamedTuple):
    """Cliques in the matrices of their lowest nodes.

    Attributes:
      bits: The matrices.
      first: The first word of the matrix of each clique, int32.
      words: The words of its rows; 0 where there is no clique.
      last: The place of its highest node.
      rows: The first words of the rows of all its nodes but the lowest one.
    """

    bits: Array
    first: Array
    words: Array
    last: Array
    rows: tuple[Array, ...]


def count_cliques(
    order: DegreeOrder, matrices: Matrices, bits: Array, tails: tuple[Any, Any], nodes: int, block: int
) -> Array:
    """Count the cliques whose lowest node is in a range of ranks, an int64 scalar.

    Args:
      order: The graph.
      matrices: Where the matrices are, of out arcs alone.
      bits: The matrices.
      tails: The first rank, and the rank to stop before.
      nodes: The number of nodes of a clique, at least 4, static.
      block: The number of cliques of one size that are worked on at a time, static.
    """
    arc = jnp.arange(order.edge_capacity, dtype=jnp.int32)
    start, stop = take(order.out_offsets, tails[0]), take(order.out_offsets, tails[1])
    at_u = _corner(order, matrices, (arc >= start) & (arc < stop), arc, arc)
    words = jnp.where(at_u.hit, at_u.words, 0)
    edges = _Cliques(bits, at_u.first, words, at_u.i, (at_u.first + at_u.i * words,))
    lanes = (jnp.pad(x, (0, -len(x) % _LANES)) for x in (*edges.rows, words, at_u.i))
    (later,) = each_lane(_later, bits, *lanes, outputs=1, lanes=_LANES, name="later_bits")
    return _extend(edges, later[: len(arc)], nodes - 2, block)


def _later(read: Read, bits: Array, row: Array, words: Array, after: Array) -> tuple[Any]:
    return (_count_bits(read, bits, (row,), words, after),)


def _extend(cliques: _Cliques, later: Array, more: int, block: int) -> Array:
    """Count the cliques that have ``more`` nodes more, all above those of a smaller clique.

    Args:
      cliques: The smaller cliques.
      later: The number of nodes above each that are next to all its nodes, int32.
      more: At least 1, static; the last node is counted and not visited.
      block: The number of lanes, static.
    """
    if more == 1:
        return later.astype(jnp.int64).sum()
    # Lists of very different lengths are laid end to end: each lane has one clique of one node more.
    work, name = flat_work(jnp, later), f"larger_cliques_{len(cliques.rows)}"

    def step(number: Array, total: Array) -> Array:
        first = long(number) * block
        outputs, valid = each_position(
            _next_node, cliques, work, first, work.total, block=block, fill=(0, 0, 0), name=name
        )
        item, last, later = outputs
        item, later = jnp.where(valid, item, 0), jnp.where(valid, later, 0)
        matrix, words = take(cliques.first, item), take(cliques.words, item)
        rows = (*(take(row, item) for row in cliques.rows), matrix + last * words)
        return total + _extend(_Cliques(cliques.bits, matrix, words, last, rows), later, more - 1, block)

    return lax.fori_loop(jnp.int32(0), blocks_of(work.total, block), step, jnp.zeros((), jnp.int64))


def _next_node(read: Read, cliques: _Cliques, item: Array, offset: Array, valid: Array) -> tuple[Any, ...]:
    """Return the clique of each lane, the place of the ``offset``-th node that extends it, and how many come later."""
    first, last = read.load(cliques.first, item, valid), read.load(cliques.last, item, valid)
    words = jnp.where(valid, read.load(cliques.words, item, valid), 0)
    rows = tuple(read.load(row, item, valid) for row in cliques.rows)
    node = _nth_after(read, cliques.bits, rows, words, last, offset)
    return item, node, _count_bits(read, cliques.bits, (*rows, first + node * words), words, node)


def _met(read: Read, bits: Array, rows: Sequence[Array], word: Array, after: Array | None, live: Array) -> Any:
    """Return a word of the AND of rows, without the bits up to ``after``; 0 where a lane is not live."""
    both = functools.reduce(operator.and_, [read.load(bits, row + word, live) for row in rows])
    if after is None:
        return jnp.where(live, both, jnp.zeros_like(both))
    # The lowest bits of the word of `after` go, all bits of words before it, and none of words behind it.
    gone = jnp.clip(after + 1 - (word << 5), 0, 32)
    some = lax.shift_left(jnp.full_like(both, 0xFFFFFFFF), jnp.minimum(gone, 31).astype(jnp.uint32))
    return jnp.where(live & (gone < 32), both & some, jnp.zeros_like(both))


def _count_bits(read: Read, bits: Array, rows: Sequence[Array], words: Array, after: Array | None) -> Any:
    """Count the bits of the AND of rows, after a place if there is one."""
    start = jnp.zeros_like(words) if after is None else (after + 1) >> 5

    def add(number: Array, total: Array) -> Array:
        word = start + number
        return total + ones(_met(read, bits, rows, word, after, word < words))

    # The longest row of the tile decides the number of steps.
    return lax.fori_loop(jnp.int32(0), jnp.max(jnp.maximum(words - start, 0)), add, jnp.zeros_like(words))


def _nth_after(read: Read, bits: Array, rows: Sequence[Array], words: Array, after: Array, number: Array) -> Array:
    """Return the place of set bit ``number``, counted from 0, among the bits of the AND of rows after a place."""

    def behind(state: tuple[Array, ...]) -> tuple[Array, ...]:
        word, left, here = state
        live = (left >= ones(here)) & (word < words)
        left = jnp.where(live, left - ones(here), left)
        word = jnp.where(live, word + 1, word)
        return word, left, jnp.where(live, _met(read, bits, rows, word, after, live & (word < words)), here)

    start = (after + 1) >> 5
    here = _met(read, bits, rows, start, after, start < words)

    def seeks(state: tuple[Array, ...]) -> Array:
        return jnp.max(jnp.where((state[1] >= ones(state[2])) & (state[0] < words), 1, 0)) > 0

    word, left, here = lax.while_loop(seeks, behind, (start, number, here))
    # The place in the word, by halves: whether it is in the higher half of the bits that are left.
    place = jnp.zeros_like(word)
    for width in (16, 8, 4, 2, 1):
        low = here & jnp.uint32((1 << width) - 1)
        higher = left >= ones(low)
        left = jnp.where(higher, left - ones(low), left)
        place = jnp.where(higher, place + width, place)
        here = jnp.where(higher, here >> jnp.uint32(width), low)
    return (word << 5) + place
