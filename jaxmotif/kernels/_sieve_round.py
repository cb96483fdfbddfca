"""The sieve's recurrence over a block of subsets, in plain XLA.

Kernels for GPUs are in :mod:`jaxmotif.kernels._sieve_pallas`.

For every vertex ``i`` and every subset ``L`` of the block, ``P[s]`` is the bit-sliced sum, over all rooted trees of
``s`` vertices at ``i`` (branching walks, [1, section 2 (d)]), of the products of their labels and random weights. A
tree grows from its root by child trees that are attached in order of size. Round ``t`` attaches any number of children
of ``t`` vertices, in place and for rising ``s``,

    A[t, x](i) = sum over neighbours j of alpha[t, x, (i, j)] P[t](j),      x = 1 .. (k - 1) // t
    P[s](i)   += A[t, (s - 1) // t](i) P[s - t](i),                         s = t + 1 .. k

so that ``P[t + 1]`` is complete after round ``t``. Successive children of one size meet successive ``x``. The c! orders
of c children then sum to a c x c determinant of independent weights, which is not the zero polynomial, and every tree
keeps a monomial of its own (its arcs). The sieve demands nothing else of equation (5). The number of neighbour sums is
(k - 1) // 1 + (k - 1) // 2 + ..., about k ln k, instead of k (k - 1) / 2. In round 1 the neighbour sums are linear in
the labels, and are taken before the subsets come in (see :func:`start`).

[1] Kaski, Lauri, Thejaswi: Engineering Motif Search for Large Motifs. SEA 2018.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array, lax

from jaxmotif.arrays._compile import target
from jaxmotif.kernels import _gf256 as gf256
from jaxmotif.kernels._gf256 import PLANES, TERMS, label_sums
from jaxmotif.kernels._sieve_rows import TILE, Rows


def num_forms(size: int) -> list[int]:
    """Return how many neighbour sums each round takes for a motif, at the index of the round, with 0 below round 2.

    Example:
      >>> num_forms(7)
      [0, 0, 3, 2, 1, 1, 1]
    """
    return [0, 0, *((size - 1) // t for t in range(2, size))][: max(size, 2)]


def _label_forms(labels: Array, keys: Array, rows: Rows) -> Array:
    """Return weighted neighbour sums of the labels, ``sum over neighbours j of alpha[1, x, (i, j)] zeta_{j,l}``.

    Args:
      labels: The labels, uint32 ``[V, 8]``, as :func:`start` takes them.
      keys: The keys of the weights of each form, uint32 ``[k - 1, 2]``.
      rows: The adjacency rows.

    Returns:
      The sums, uint32 ``[k - 1, V, 8]``.
    """

    def products(slots, live):
        values = labels.at[rows.targets.at[slots].get(mode="clip")].get(mode="clip")
        values = jnp.where(live[:, None], values, jnp.uint32(0))
        # All labels of a word have the same weight, whose planes are all ones or all zeros.
        words = gf256.random_elements(slots.astype(jnp.uint32)[:, None], keys.T[:, None])
        masks = gf256.masks(words)
        spread = [jnp.broadcast_to(values[:, b, None], masks[b].shape) for b in range(PLANES)]
        return jnp.stack(gf256.multiply(spread, masks), axis=1)

    sums = _row_sums(products, (PLANES, keys.shape[0]), lambda sums: sums, rows, unroll=1)

    def tile(index, forms):
        return lax.dynamic_update_slice_in_dim(forms, sums(index), index * TILE, 0)

    forms = jnp.zeros((rows.vertices, PLANES, keys.shape[0]), jnp.uint32)
    if forms.size:
        forms = lax.fori_loop(0, _tiles(rows.live), tile, forms)
    return jnp.moveaxis(forms, 2, 0)


def start(labels: Array, keys: Array, first_word, num_words: int, rows: Rows) -> Array:
    """Return the rows after round 1, in which every child is a vertex: ``P[s] = P[s - 1] * (label sum of form s - 1)``.

    Args:
      labels: The labels, uint32 ``[V, 8]``. Bit ``l`` of plane ``b`` is bit ``b`` of ``zeta_{i,l}``.
      keys: The keys of the weights of each form, uint32 ``[k - 1, 2]``; slots are the counters (see
        :func:`~jaxmotif.kernels._gf256.random_elements`).
      first_word: The number of the first word of the block of subsets.
      num_words: The number of words of the block, static.
      rows: The adjacency rows.

    Returns:
      The rows, uint32 ``[k, V, 8, num_words]``. Index ``s - 1`` holds ``P[s]``. Rows past ``P[1]`` are those of live
      vertices alone. Kernels may keep planes behind words (see :func:`by_plane`).
    """
    first_word = jnp.asarray(first_word, jnp.int32)
    if target().fused:
        from jaxmotif.kernels import _sieve_pallas as fused

        return fused.start(labels, keys, first_word, num_words, rows)
    forms = _label_forms(labels, keys, rows)
    words = (first_word + jnp.arange(num_words, dtype=jnp.int32)).astype(jnp.uint32)

    def sums(planes):
        return label_sums(planes[..., None], words[None, None])

    first = sums(labels)
    P = jnp.zeros((forms.shape[0] + 1, *first.shape), jnp.uint32).at[0].set(first)
    if P.shape[0] == 1:
        return P

    def tile(index, P):
        def grow(s, state):
            P, previous = state
            own = lax.dynamic_slice(forms, _indices(s - 1, index * TILE, 0), (1, TILE, PLANES))[0]
            grown = _multiply(previous, sums(own))
            return lax.dynamic_update_slice(P, grown[None], _indices(s, index * TILE, 0, 0)), grown

        return lax.fori_loop(1, P.shape[0], grow, (P, _rows_of(P, 0, index)))[0]

    return lax.fori_loop(0, _tiles(rows.live), tile, P)


def extend(P: Array, size, first_form, keys: Array, rows: Rows) -> Array:
    """Attach child trees of ``t`` vertices, which is round ``t`` of the recurrence.

    Args:
      P: The rows after round ``t - 1``, as :func:`start` returns them.
      size: The number ``t``, int32, which may be traced.
      first_form: The number of the first form of round ``t`` in ``keys``.
      keys: The keys of the weights of each form, uint32 ``[forms, 2]``; slots are the counters (see
        :func:`~jaxmotif.kernels._gf256.random_elements`).
      rows: The adjacency rows.

    Returns:
      ``P`` after round ``t``, in the same memory where XLA allows it.
    """
    size, first_form = jnp.asarray(size, jnp.int32), jnp.asarray(first_form, jnp.int32)
    if target().fused:
        from jaxmotif.kernels import _sieve_pallas as fused

        return fused.extend(P, size, first_form, keys, rows)
    total, words = P.shape[0], P.shape[-1]
    tiles = _tiles(rows.live)
    places = jnp.arange(TERMS, dtype=jnp.uint32).reshape(1, TERMS)
    counters = jnp.arange(rows.targets.shape[0], dtype=jnp.uint32)
    # Rows are expanded once for all forms and all neighbours, and the sums stay in the 27-term domain.
    terms = _expand(P, size - 1, tiles)

    def attach(form, P):
        # XLA would draw a weight again for each term and word of subsets; those of one form are drawn before.
        chosen = gf256.expand_elements(gf256.random_elements(counters, keys[first_form + form - 1]))

        def selected(slots, live):
            # A slot past the run has weight 0, which selects no term.
            words = jnp.where(live, chosen.at[slots].get(mode="clip"), jnp.uint32(0))
            # The difference 0 - 1 is all ones.
            masks = jnp.uint32(0) - ((words[:, None] >> places) & jnp.uint32(1))
            values = terms.at[rows.targets.at[slots].get(mode="clip")].get(mode="clip")
            return values & masks[:, :, None]

        def planes(sums):
            return jnp.stack(gf256.collapse([sums[:, r] for r in range(TERMS)]), axis=1)

        neighbour_sums = _row_sums(selected, (TERMS, words), planes, rows, unroll=4)

        def tile(index, P):
            sums = neighbour_sums(index)

            def update(s, P):
                # For all s of this loop, (s - 1) // t is `form`.
                grown = _rows_of(P, s - 1, index) ^ _multiply(sums, _rows_of(P, s - size - 1, index))
                return lax.dynamic_update_slice(P, grown[None], _indices(s - 1, index * TILE, 0, 0))

            return lax.fori_loop(form * size + 1, jnp.minimum((form + 1) * size, total) + 1, update, P)

        return lax.fori_loop(0, tiles, tile, P)

    # Forms are taken in rising order, because P[s - t] must have its own form, the one before, already.
    return lax.fori_loop(1, (total - 1) // size + 1, attach, P)


def by_plane(P: Array, words: int) -> Array:
    """Return rows, or one row, of :func:`start` or :func:`extend` as ``[.., V, 8, words]``, also where kernels run."""
    if target().fused:
        from jaxmotif.kernels import _sieve_pallas as fused

        return fused.by_plane(P, words)
    return P


def _tiles(count):
    return (count + (TILE - 1)) // TILE


def _indices(*indices) -> tuple:
    """Return start indices as int32, also where Python integers are 64-bit."""
    return tuple(jnp.asarray(index, jnp.int32) for index in indices)


def _rows_of(P: Array, s, tile) -> Array:
    """Return row ``s`` of the vertices of a tile, ``[TILE, 8, W]``."""
    return lax.dynamic_slice(P, _indices(s, tile * TILE, 0, 0), (1, TILE, *P.shape[2:]))[0]


def _expand(P: Array, s, tiles) -> Array:
    """Return row ``s`` of the vertices of the first tiles in the 27-term domain, ``[V, 27, W]``."""

    def tile(index, terms):
        planes = _rows_of(P, s, index)
        expanded = jnp.stack(gf256.expand([planes[:, b] for b in range(PLANES)]), axis=1)
        return lax.dynamic_update_slice_in_dim(terms, expanded, index * TILE, 0)

    return lax.fori_loop(0, tiles, tile, jnp.zeros((P.shape[1], TERMS, P.shape[-1]), jnp.uint32))


def _multiply(x: Array, y: Array) -> Array:
    return jnp.stack(gf256.multiply([x[:, b] for b in range(PLANES)], [y[:, b] for b in range(PLANES)]), axis=1)


def _row_sums(contributions: Callable, shape: tuple[int, int], finish: Callable, rows: Rows, unroll: int) -> Callable:
    """Return a function that sums contributions over the slots of each vertex, by XOR, for a tile of vertices.

    Args:
      contributions: A function ``(slots [TILE], live [TILE]) -> [TILE, *shape]``, zero where a slot is not live.
      shape: The shape of one contribution.
      finish: A linear function ``[TILE, *shape] -> [TILE, ...]``, which is applied once to each run.
      rows: The adjacency rows.
      unroll: The number of neighbours of a step. The sums go to memory and back once in each step.

    Returns:
      A function of the number of a tile, which returns the sums at its vertices.
    """

    def runs(starts, stops, index):
        first = lax.dynamic_slice_in_dim(starts, index * TILE, TILE)
        last = lax.dynamic_slice_in_dim(stops, index * TILE, TILE)

        def step(number, total):
            for ahead in range(unroll):
                slots = first + (number * unroll + ahead)
                total = total ^ contributions(slots, slots < last)
            return total

        # The longest run of the tile decides the number of steps. Rows are ordered by degree, so that the runs of a
        # tile are about equally long.
        steps = (jnp.max(last - first) + (unroll - 1)) // unroll
        return finish(lax.fori_loop(0, steps, step, jnp.zeros((TILE, *shape), jnp.uint32)))

    if not rows.pieces:
        return lambda index: runs(rows.starts, rows.stops, index)
    # Only the shape is needed. Since `finish` is linear, the sums of pieces can be added after it.
    sample = jax.eval_shape(finish, jax.ShapeDtypeStruct((TILE, *shape), jnp.uint32))

    def add_tile(index, cut):
        pieces = runs(rows.piece_starts, rows.piece_stops, index)

        # Pieces may share an owner, and no scatter combines by XOR, so that they are added one after another.
        def add(piece, cut):
            owner = rows.piece_owners[index * TILE + piece]
            return cut.at[owner].set(cut[owner] ^ pieces[piece])

        return lax.fori_loop(0, jnp.minimum(rows.piece_offsets[-1] - index * TILE, TILE), add, cut)

    cut = jnp.zeros((rows.vertices, *sample.shape[1:]), jnp.uint32)
    cut = lax.fori_loop(0, _tiles(rows.piece_offsets[-1]), add_tile, cut)
    return lambda index: runs(rows.starts, rows.stops, index) ^ lax.dynamic_slice_in_dim(cut, index * TILE, TILE)
