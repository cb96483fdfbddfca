"""The sieve's recurrence over a block of subsets: plain XLA here, Pallas in :mod:`jaxmotif.kernels.sieve_pallas`.

``P[s]`` holds for every vertex ``i`` and every subset ``L`` of the block, bit-sliced, the sum over all rooted trees
of ``s`` vertices at ``i`` (branching walks, [1, section 2 (d)]) of their labels and random weights. A tree is grown
from its root by attaching child trees in order of size: round ``t`` attaches children of ``t`` vertices, any number
of them, in place and for rising ``s``,

    A[t, x](i) = sum over neighbours j of alpha[t, x, (i, j)] P[t](j),      x = 1 .. (k - 1) // t
    P[s](i)   += A[t, (s - 1) // t](i) P[s - t](i),                         s = t + 1 .. k

so that ``P[t + 1]`` is complete after round ``t``. Successive children of one size meet successive ``x``: the c! orders
of c children sum to a c x c determinant of independent weights, which is no zero polynomial, and every tree keeps a
monomial of its own (its arcs). This is all that the sieve asks of equation (5), at (k - 1) // 1 + (k - 1) // 2 + ...
neighbour sums, about k ln k, instead of k (k - 1) / 2. In round 1 the neighbour sums are linear in the labels and are
taken before the subsets come in (see :func:`start`).

[1] Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs. SEA 2018.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.kernels import gf256
from jaxmotif.kernels.choice import Backend
from jaxmotif.kernels.gf256 import PLANES, TERMS

MAX_ROW = 64
"""Longest run of neighbours summed in one piece of work; longer rows are cut."""

_TILE, _UNROLL = 32, 4  # rows summed side by side, and neighbours a step, in plain XLA on a CPU


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("targets", "starts", "stops", "piece_starts", "piece_stops", "piece_offsets"),
    meta_fields=(),
)
@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Adjacency rows cut into runs of at most ``MAX_ROW`` slots, vertices numbered by falling degree.

    A short row is one run, its vertex's own. A longer one is cut into pieces that are summed apart, so that no unit
    of work is longer than any other whatever the degrees.

    Attributes:
      targets: int32 ``[S]``, neighbours in the new numbering.
      starts, stops: int32 ``[V]``, slots of the vertex's own run, empty for cut rows.
      piece_starts, piece_stops: int32 ``[H]``, slots of the pieces, empty past the last.
      piece_offsets: int32 ``[V + 1]``, the pieces of each vertex.
    """

    targets: jax.Array
    starts: jax.Array
    stops: jax.Array
    piece_starts: jax.Array
    piece_stops: jax.Array
    piece_offsets: jax.Array


def num_pieces(degrees, max_row: int = MAX_ROW):
    """Pieces that each vertex's row is cut into; 0 for a row kept whole. NumPy or JAX integers in and out."""
    return (degrees > max_row).astype(degrees.dtype) * ((degrees + (max_row - 1)) // max_row)


def plan_rows(offsets: jax.Array, targets: jax.Array, pieces: int, max_row: int = MAX_ROW) -> tuple[Rows, jax.Array]:
    """Orders and cuts adjacency rows.

    Args:
      offsets: int32 ``[V + 1]``, row starts.
      targets: int32 ``[S]``, neighbours; padding slots may hold anything.
      pieces: static capacity for pieces, at least the sum of :func:`num_pieces`; ``2 S // max_row`` always suffices.
      max_row: longest run.

    Returns:
      The rows, and int32 ``[V]`` with each vertex's new number.
    """
    degrees = offsets[1:] - offsets[:-1]
    order = jnp.argsort(-degrees, stable=True)
    vertices = offsets.shape[0] - 1
    rank = jnp.zeros(vertices, jnp.int32).at[order].set(jnp.arange(vertices, dtype=jnp.int32))
    starts, stops = offsets[:-1][order], offsets[1:][order]
    counts = num_pieces(stops - starts, max_row)
    piece_offsets = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(counts, dtype=jnp.int32)])
    piece = jnp.arange(pieces, dtype=jnp.int32)
    owner = jnp.searchsorted(piece_offsets, piece, side="right").astype(jnp.int32) - 1
    used = piece < piece_offsets[-1]
    owner = jnp.where(used, owner, 0)
    first = starts[owner] + (piece - piece_offsets[owner]) * max_row
    last = jnp.minimum(first + max_row, stops[owner])
    rows = Rows(
        targets=rank.at[targets].get(mode="clip"),
        starts=jnp.where(counts > 0, stops, starts),
        stops=stops,
        piece_starts=jnp.where(used, first, 0),
        piece_stops=jnp.where(used, last, 0),
        piece_offsets=piece_offsets,
    )
    return rows, rank


def num_forms(size: int) -> list[int]:
    """How many neighbour sums round ``t`` takes for a motif of ``size`` vertices, at index ``t`` (0 below 2).

    Example:
      >>> num_forms(7)
      [0, 0, 3, 2, 1, 1, 1]
    """
    return [0, 0, *((size - 1) // t for t in range(2, size))][: max(size, 2)]


def label_sums(labels, words):
    """The label sums of equation (3) for a run of subsets, 32 subsets a word, without a table of subsets.

    Bit ``p`` of word ``w`` stands for the subset whose binary digits are ``32 w + p``; a plane of the sum is there the
    parity of (the subset AND the label's plane).

    Args:
      labels: uint32, one plane of every label ``zeta_l``: bit ``l`` belongs to element ``l`` of the subsets.
      words: uint32, which words; broadcast against ``labels``.

    Returns:
      uint32, one plane of the sums.
    """
    low = jnp.zeros_like(labels)
    for place, pattern in enumerate(_PLACES):
        low = low ^ (gf256.selection(labels, place) & jnp.asarray(pattern, jnp.uint32))
    high = (labels >> jnp.uint32(5)) & words
    for shift in (16, 8, 4, 2, 1):  # the parity of the bits; Triton has no population count of blocks
        high = high ^ (high >> jnp.uint32(shift))
    return low ^ gf256.selection(high, 0)


_PLACES = (0xAAAAAAAA, 0xCCCCCCCC, 0xF0F0F0F0, 0xFF00FF00, 0xFFFF0000)
"""Bit ``p`` of pattern ``l`` is binary digit ``l`` of ``p``."""


def start(labels: jax.Array, forms: jax.Array, first_word, num_words: int, backend: Backend = "xla") -> jax.Array:
    """Rows after round 1, where every child is a single vertex: ``P[s] = P[s - 1] * (label sum of form s - 1)``.

    Args:
      labels: uint32 ``[V, 8]``: bit ``l`` of plane ``b`` is bit ``b`` of ``zeta_{i,l}``.
      forms: uint32 ``[k - 1, V, 8]``, the weighted neighbour sums of ``labels``.
      first_word: first word of the block of subsets.
      num_words: words in the block (static).
      backend: which form of the kernel.

    Returns:
      uint32 ``[k, V, 8, num_words]``; index ``s - 1`` holds ``P[s]``.
    """
    first_word = jnp.asarray(first_word, jnp.int32)
    if backend == "pallas-triton":
        from jaxmotif.kernels import sieve_pallas

        return sieve_pallas.start(labels, forms, first_word, num_words)
    words = (first_word + jnp.arange(num_words, dtype=jnp.int32)).astype(jnp.uint32)

    def sums(planes):
        return label_sums(planes[..., None], words.reshape(1, 1, -1))

    def grow(s, state):
        P, previous = state
        grown = _multiply(previous, sums(forms[s - 1]))
        return lax.dynamic_update_index_in_dim(P, grown, s, 0), grown

    first = sums(labels)
    P = jnp.zeros((forms.shape[0] + 1, *first.shape), jnp.uint32).at[0].set(first)
    return lax.fori_loop(1, P.shape[0], grow, (P, first))[0] if P.shape[0] > 1 else P


def extend(P: jax.Array, size, first_form, weights: jax.Array, rows: Rows, backend: Backend = "xla") -> jax.Array:
    """Round ``t`` of the recurrence: attaches child trees of ``t`` vertices.

    Args:
      P: uint32 ``[k, V, 8, W]`` after round ``t - 1``.
      size: ``t``, int32, may be traced.
      first_form: where the weights of round ``t`` start.
      weights: uint32 ``[forms, S]``, :func:`~jaxmotif.kernels.gf256.expand_scalars` of the random weights.
      rows: the adjacency.
      backend: which form of the kernel.

    Returns:
      ``P`` after round ``t``, in the same memory where XLA allows it.
    """
    size, first_form = jnp.asarray(size, jnp.int32), jnp.asarray(first_form, jnp.int32)
    if backend == "pallas-triton":
        from jaxmotif.kernels import sieve_pallas

        return sieve_pallas.extend(P, size, first_form, weights, rows)
    total = P.shape[0]
    child = _expand(lax.dynamic_index_in_dim(P, size - 1, keepdims=False))

    def attach(form, P):
        sums = _neighbour_sums(child, weights[first_form + form - 1], rows)

        def update(s, P):
            here = lax.dynamic_index_in_dim(P, s - 1, keepdims=False)
            smaller = lax.dynamic_index_in_dim(P, s - size - 1, keepdims=False)
            grown = here ^ _multiply(sums, smaller)
            return lax.dynamic_update_index_in_dim(P, grown, s - 1, 0)

        return lax.fori_loop(form * size + 1, jnp.minimum((form + 1) * size, total) + 1, update, P)

    return lax.fori_loop(1, (total - 1) // size + 1, attach, P)


def label_forms(labels: jax.Array, scalars: jax.Array, rows: Rows, backend: Backend = "xla") -> jax.Array:
    """Weighted neighbour sums of the labels: ``sum over neighbours j of scalar[(i, j), x] zeta_{j, l}``.

    Args:
      labels: uint32 ``[V, 8]``: bit ``l`` of plane ``b`` is bit ``b`` of ``zeta_{j,l}``.
      scalars: uint8 ``[S, X]``, one weight a slot and form.
      rows: the adjacency.
      backend: which form of the kernel.

    Returns:
      uint32 ``[X, V, 8]``.
    """
    if backend == "pallas-triton":
        from jaxmotif.kernels import sieve_pallas

        return sieve_pallas.label_forms(labels, scalars, rows)

    def products(slots, live):
        elements = scalars.at[slots].get(mode="clip").astype(jnp.uint32)
        values = labels.at[rows.targets.at[slots].get(mode="clip")].get(mode="clip")
        values = jnp.where(live[:, None], values, jnp.uint32(0))
        masks = [gf256.selection(elements, b) for b in range(PLANES)]
        spread = [jnp.broadcast_to(values[:, b, None], elements.shape) for b in range(PLANES)]
        return jnp.stack(gf256.multiply(spread, masks), axis=1)

    shape = (PLANES, scalars.shape[1])
    return jnp.moveaxis(_sum_over_rows(products, shape, lambda sums: sums, rows), 2, 0)


def _expand(planes: jax.Array) -> jax.Array:
    return jnp.stack(gf256.expand([planes[:, b] for b in range(PLANES)]), axis=1)


def _multiply(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.stack(gf256.multiply([x[:, b] for b in range(PLANES)], [y[:, b] for b in range(PLANES)]), axis=1)


def _neighbour_sums(terms: jax.Array, weights: jax.Array, rows: Rows) -> jax.Array:
    """Weighted neighbour sums of expanded values ``[V, 27, W]``: planes ``[V, 8, W]``."""
    places = jnp.arange(TERMS, dtype=jnp.uint32).reshape(1, TERMS)

    def selected(slots, live):
        chosen = jnp.where(live, weights.at[slots].get(mode="clip"), jnp.uint32(0))
        masks = jnp.uint32(0) - ((chosen[:, None] >> places) & jnp.uint32(1))
        values = terms.at[rows.targets.at[slots].get(mode="clip")].get(mode="clip")
        return values & masks[:, :, None]

    def planes(sums):
        return jnp.stack(gf256.collapse([sums[:, r] for r in range(TERMS)]), axis=1)

    return _sum_over_rows(selected, (TERMS, terms.shape[-1]), planes, rows)


def _sum_over_rows(contributions: Callable, shape: tuple[int, int], finish: Callable, rows: Rows) -> jax.Array:
    """XORs over the slots of every vertex, ``[V, ...]``.

    Args:
      contributions: ``(slots [T], live [T]) -> [T, *shape]``, zero where not live.
      shape: of one contribution.
      finish: ``[T, *shape] -> [T, ...]``, linear, taken once a run.
      rows: the adjacency.
    """
    sums = _run_sums(contributions, shape, finish, rows.starts, rows.stops)
    if rows.piece_starts.shape[0] == 0:
        return sums
    pieces = _run_sums(contributions, shape, finish, rows.piece_starts, rows.piece_stops)
    owners = jnp.searchsorted(rows.piece_offsets, jnp.arange(pieces.shape[0], dtype=jnp.int32), side="right") - 1

    def add(piece, sums):
        return sums.at[owners[piece]].set(sums[owners[piece]] ^ pieces[piece])

    return lax.fori_loop(0, rows.piece_offsets[-1], add, sums)


def _run_sums(contributions, shape, finish, starts, stops) -> jax.Array:
    """XORs over runs of slots, in tiles of runs of about one length."""
    runs = starts.shape[0]
    tiles = -(-runs // _TILE)
    starts, stops = (jnp.pad(slots, (0, tiles * _TILE - runs)) for slots in (starts, stops))

    def tile(index):
        first = lax.dynamic_slice_in_dim(starts, index * _TILE, _TILE)
        last = lax.dynamic_slice_in_dim(stops, index * _TILE, _TILE)

        def step(number, total):
            for ahead in range(_UNROLL):
                slots = first + (number * _UNROLL + ahead)
                total = total ^ contributions(slots, slots < last)
            return total

        steps = (jnp.max(last - first) + (_UNROLL - 1)) // _UNROLL
        return finish(lax.fori_loop(0, steps, step, jnp.zeros((_TILE, *shape), jnp.uint32)))

    sums = lax.map(tile, jnp.arange(tiles, dtype=jnp.int32))
    return sums.reshape(tiles * _TILE, *sums.shape[2:])[:runs]
