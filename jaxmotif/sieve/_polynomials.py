"""The vertex-localised sieve as a pure function from labels to one field element a vertex.

The random matrix nu of [1, equation (1)] is left out. Every value of the sieve carries it as the factor det(nu),
the same for all vertices, so any invertible nu gives the same answer; the identity serves, and unlike a random matrix
it is never singular. Shade ``l`` of the motif is then element ``l`` of the subsets, and ``zeta_{i,l} = mu_{i,l}`` where
vertex ``i`` may take shade ``l``, else 0.

The values mu and alpha are drawn from the 255 nonzero elements. ``Q_i``, the sieve's value at vertex ``i``, is a
multilinear polynomial in them of degree ``2 k - 1``. Where it is not the zero polynomial, it is nonzero at a random
point with probability at least ``(1 - 1/255)^(2 k - 1)``: write it as ``g + x h``; where ``h``, of smaller degree, is
nonzero, at most one value of ``x`` gives zero. For k > 1 that is at least ``1 - (2 k - 1) / 256``, the paper's bound
for uniform elements, and ``Q_i = mu_i`` is never 0 for k = 1. A lone match whose polynomial is one product, such as a
path of distinct colors, meets the bound with uniform elements, and is never missed with nonzero ones.

[1] Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs. SEA 2018.
"""

from __future__ import annotations

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmotif.arrays._checks import check_vectors, whole_number
from jaxmotif.arrays._compile import Target, target
from jaxmotif.arrays._keys import as_key
from jaxmotif.graph import Graph
from jaxmotif.kernels import _gf256 as gf256
from jaxmotif.kernels import _sieve_round as sieve_round
from jaxmotif.kernels import _sieve_rows as sieve_rows
from jaxmotif.kernels._sieve_rows import Rows

MAX_SIZE = 30
"""Most vertices of a motif; its subsets then take 2^25 words of 32."""


@partial(jax.tree_util.register_dataclass, data_fields=("rows", "rank", "labels", "first", "later"), meta_fields=())
@dataclasses.dataclass(frozen=True, eq=False)
class Draw:
    """The random values of one run of the sieve, over vertices numbered by falling degree.

    The weights ``alpha`` are drawn where they are used, by a counter: a slot's number and the key of a neighbour sum.

    Attributes:
      rows: the adjacency rows.
      rank: int32 ``[V]``, the number of each vertex in the rows.
      labels: uint32 ``[V, 8]``, the labels ``zeta``, bit ``l`` for shade ``l``.
      first: uint32 ``[k - 1, 2]``, the keys of the neighbour sums of round 1.
      later: uint32 ``[F, 2]``, the keys of the neighbour sums of later rounds.
    """

    rows: Rows
    rank: jax.Array
    labels: jax.Array
    first: jax.Array
    later: jax.Array


def draw(rows: Rows, rank: jax.Array, shades: jax.Array, key: jax.Array, size: int) -> Draw:
    """Draw labels and the keys of weights (steps a and b).

    Args:
      rows: the adjacency rows.
      rank: int32 ``[V]``, the number of each vertex in the rows.
      shades: uint32 ``[V]``, with bit ``l`` set where the vertex may take shade ``l``.
      key: a random key.
      size: ``k``, static.

    Returns:
      The values, which are the same for a key on any device and however much a graph is padded.
    """
    keys = jax.random.bits(key, (2 * size - 1 + sum(sieve_round.num_forms(size)), 2), jnp.uint32)
    vertices, places = shades.shape[0], jnp.arange(size, dtype=jnp.uint32)
    mu = gf256.random_elements(jnp.arange(vertices, dtype=jnp.uint32)[:, None], keys[:size].T[:, None])
    # An element that a vertex may not take has the factor 0. Each bit has a place of its own, so the sum is a union.
    allowed = (shades[:, None] >> places.reshape(1, -1)) & jnp.uint32(1)
    bits = [((mu >> jnp.uint32(24 + b)) & allowed) << places.reshape(1, -1) for b in range(gf256.PLANES)]
    planes = jnp.stack([jnp.sum(plane, axis=1, dtype=jnp.uint32) for plane in bits], axis=1)
    # Labels are in the order of the rows, by falling degree.
    labels = jnp.zeros((rows.vertices, gf256.PLANES), jnp.uint32).at[rank].set(planes)
    return Draw(rows, rank, labels, *jnp.split(keys, [size, 2 * size - 1])[1:])


def num_words(size: int) -> int:
    """Return how many words of 32 subsets there are; one word holds the subsets of up to five elements."""
    return 1 << max(size - 5, 0)


def accumulate(draw: Draw, first: jax.Array | int, stop: jax.Array | int, words: int) -> jax.Array:
    """Sum over the subsets of blocks ``first`` to ``stop - 1`` (steps c, d and e).

    Args:
      draw: the random values.
      first: int32, the first block of ``words`` words; it may be traced.
      stop: int32, the block after the last one; it may be traced.
      words: words of a block, static.

    Returns:
      uint8 ``[V]``, the XOR over the blocks.
    """
    size = draw.first.shape[0] + 1
    # `first_forms` says where the weights of each round begin; each round takes fewer than the one before.
    first_forms = jnp.asarray(np.cumsum([0, *sieve_round.num_forms(size)])[:-1], jnp.int32)

    # Rows without neighbours lie in no match of several vertices, and are not computed beyond the first round.
    computed = jnp.arange(draw.labels.shape[0], dtype=jnp.int32) < draw.rows.live if size > 1 else True

    def block(index, total):
        # Round 1 is `start`, since its neighbour sums are linear in the labels.
        P = sieve_round.start(draw.labels, draw.first, index * words, words, draw.rows)

        def round_(t, P):
            return sieve_round.extend(P, t, first_forms[t], draw.later, draw.rows)

        if size > 2:
            P = lax.fori_loop(2, size, round_, P)
        return total ^ jnp.where(computed, sums(sieve_round.by_plane(P[size - 1], words), size), jnp.uint8(0))

    return lax.fori_loop(first, stop, block, jnp.zeros(draw.labels.shape[0], jnp.uint8))


def sums(planes: jax.Array, size: int) -> jax.Array:
    """Sum over the subsets of some words, from planes, uint32 ``[V, 8, W]``, to elements, uint8 ``[V]``."""
    # With fewer than five elements only the lowest bits of a word stand for subsets.
    subsets = np.uint32((1 << min(1 << min(size, 5), 32)) - 1)
    words = lax.reduce(planes, np.uint32(0), lax.bitwise_xor, (2,))
    # A sum in characteristic 2 is a parity.
    odd = lax.population_count(words & subsets) & jnp.uint32(1)
    places = jnp.arange(gf256.PLANES, dtype=jnp.uint32).reshape(1, -1)
    return jnp.sum(odd << places, axis=1, dtype=jnp.uint32).astype(jnp.uint8)


def sieve_values(graph: Graph, shades: Array, key: int | Array, size: int, words: int | None = None) -> jax.Array:
    """Run the sieve once, and return a field element a vertex, zero wherever the vertex lies in no match.

    ``Q_i = sum over subsets L of the k shades of P_{i,k}(zeta^L)`` is nonzero with probability at least
    ``1 - (2 k - 1) / 2^8`` where vertex ``i`` lies in a match, and 0 otherwise. The function is pure: it works under
    ``jit`` and ``vmap``.

    Args:
      graph: a graph. In a directed one the value is nonzero only where the vertex is the root of a match, from which
        all others are reached along arcs inside the match.
      shades: uint32 ``[N]``, or ``[n]`` without the padding. Bit ``l`` is set where the vertex may take the place of
        element ``l`` of the motif; elements of one color are allowed together. Bits from ``size`` on mean nothing.
      key: a seed, or a random key; the same key gives the same values on any device, whatever ``words`` is.
      size: number of vertices of the motif, 1 to 30, static.
      words: words of 32 subsets that are worked on at a time, a power of two, static; chosen by default.

    Returns:
      uint8 ``[N]``.

    Raises:
      ValueError: for a size out of range, words that are no power of two, shades of another kind or shape, or a batch
        outside ``jax.vmap``.
      TypeError: for a size or words that are no integers, or another kind of key.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> from jaxmotif import Graph
      >>> path = Graph.from_edges([(0, 1), (1, 2), (3, 4)])
      >>> shades = jnp.asarray([1, 2, 4, 1, 2], jnp.uint32)
      >>> values = jax.jit(sieve_values, static_argnames="size")(path, shades, jax.random.key(0), size=3)
      >>> (values[:5] != 0).tolist()
      [True, True, True, False, False]

    Reference:
      Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs. SEA 2018, section 2, steps (a)-(e).
    """
    size = whole_number(size, "size")
    check_size(size)
    if words is not None and (whole_number(words, "words") < 1 or words & (words - 1)):
        raise ValueError(f"words must be a power of two, got {words}")
    check_vectors({"out_offsets": graph.out_offsets, "out_targets": graph.out_targets})
    vertices, slots = graph.out_offsets.shape[0] - 1, graph.out_targets.shape[0]
    words = block_words(size, vertices, target()) if words is None else min(words, num_words(size))
    key, shades = as_key(key), jnp.asarray(shades)
    if not jnp.issubdtype(shades.dtype, np.integer) or shades.ndim != 1 or shades.shape[0] > vertices:
        got = f"{shades.dtype} {shades.shape}; vmap over batches"
        raise ValueError(f"shades must be integers of shape (n,), n at most {vertices}, got {got}")
    shades = jnp.pad(shades.astype(jnp.uint32), (0, vertices - shades.shape[0]))
    rows, rank = sieve_rows.plan_rows(graph.out_offsets, graph.out_targets, sieve_rows.max_pieces(slots))
    return accumulate(draw(rows, rank, shades, key, size), 0, num_words(size) // words, words)[rank]


def check_size(size: int) -> None:
    """Raise ValueError unless 1 <= size <= 30."""
    if not 1 <= size <= MAX_SIZE:
        raise ValueError(f"a motif has 1 to {MAX_SIZE} vertices, got {size}")


def block_words(size: int, vertices: int, target: Target) -> int:
    """Return a good number of words for a block.

    On a CPU the rows of a few vertices should stay in its cache. A GPU's kernel needs many programs, plain XLA whole
    vectors of 128 lanes.
    """
    if not target.is_accelerator:
        return min(num_words(size), 64)
    least = 6 if target.fused else 7
    return min(num_words(size), 1 << max(least, 21 - max(vertices - 1, 1).bit_length()))
