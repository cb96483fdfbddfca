"""The sieve's recurrence as Pallas kernels for NVIDIA GPUs; the functions of :mod:`jaxmotif.kernels.sieve_round`.

One program (one warp) serves one vertex and one block of words. It sums over the vertex's neighbours for several
weights at once, in registers and in the 27-term domain, and attaches the sums to the vertex's rows at once. Programs
that run together share a block of words, so that the rows they gather stay in the L2 cache. The round is data, not
code: one kernel serves all rounds.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plt

from jaxmotif.kernels import gf256
from jaxmotif.kernels.gf256 import PLANES, TERMS
from jaxmotif.kernels.sieve_round import label_sums
from jaxmotif.kernels.sieve_rows import Rows

BLOCK_WORDS = 64
"""Words a program works on: two a lane, which share the cost of preparing a scalar."""

WIDTHS = (2, 1)
"""Neighbour sums taken at once, largest first; each takes 27 registers a word."""

_WHOLE = pl.BlockSpec()


def _parameters(warps: int = 1) -> plt.CompilerParams:
    return plt.CompilerParams(num_warps=warps, num_stages=1)


def _block(words: int) -> int:
    block = min(words, BLOCK_WORDS)
    if words % block or block & (block - 1):
        raise ValueError(f"a block holds a power of two of words, or a multiple of {BLOCK_WORDS}, got {words}")
    return block


def start(labels: jax.Array, forms: jax.Array, first_word: jax.Array, num_words: int, interpret: bool = False):
    """:func:`jaxmotif.kernels.sieve_round.start` as one kernel."""
    vertices, total, block = labels.shape[0], forms.shape[0] + 1, _block(num_words)

    def kernel(first_ref, labels_ref, forms_ref, out_ref):
        vertex, base = pl.program_id(0), pl.program_id(1) * block
        words = (first_ref[0] + base + jnp.arange(block, dtype=jnp.int32)).astype(jnp.uint32)

        def sums(plane):
            return label_sums(jnp.broadcast_to(plane, words.shape), words)

        def put(s, planes):
            for b in range(PLANES):
                out_ref[s, vertex, b, pl.ds(base, block)] = planes[b]

        first = [sums(labels_ref[vertex, b]) for b in range(PLANES)]
        put(0, first)

        def grow(s, previous):
            grown = gf256.multiply(previous, [sums(forms_ref[s - 1, vertex, b]) for b in range(PLANES)])
            put(s, grown)
            return tuple(grown)

        if total > 1:
            lax.fori_loop(1, total, grow, tuple(first))

    return pl.pallas_call(
        kernel,
        grid=(vertices, num_words // block),
        in_specs=[_WHOLE] * 3,
        out_specs=_WHOLE,
        out_shape=jax.ShapeDtypeStruct((total, vertices, PLANES, num_words), jnp.uint32),
        compiler_params=_parameters(),
        interpret=interpret,
        name="sieve_start",
    )(first_word.reshape(1), labels, forms if total > 1 else jnp.zeros((1, 1, PLANES), jnp.uint32))


def label_forms(labels: jax.Array, scalars: jax.Array, rows: Rows, interpret: bool = False) -> jax.Array:
    """:func:`jaxmotif.kernels.sieve_round.label_forms`: one lane a form, and the labels' bits in the words."""
    vertices, forms = labels.shape[0], scalars.shape[1]
    lanes, num_pieces = pl.next_power_of_2(forms), rows.pieces
    scalars = jnp.pad(scalars, ((0, 0), (0, lanes - forms)))
    call = partial(pl.pallas_call, compiler_params=_parameters(), interpret=interpret, out_specs=_WHOLE)
    inputs = [rows.targets, scalars, labels]
    if num_pieces:
        pieces = call(
            partial(_label_forms_kernel, lanes, False),
            grid=(num_pieces,),
            in_specs=[_WHOLE] * 5,
            out_shape=jax.ShapeDtypeStruct((num_pieces, PLANES, lanes), jnp.uint32),
            name="sieve_label_pieces",
        )(*inputs, rows.piece_starts, rows.piece_stops)
        inputs += [rows.piece_offsets, pieces]
    out = call(
        partial(_label_forms_kernel, lanes, bool(num_pieces)),
        grid=(vertices,),
        in_specs=[_WHOLE] * (len(inputs) + 2),
        out_shape=jax.ShapeDtypeStruct((vertices, PLANES, lanes), jnp.uint32),
        name="sieve_label_forms",
    )(*inputs, rows.starts, rows.stops)
    return jnp.moveaxis(out[:, :, :forms], 2, 0)


def _label_forms_kernel(lanes, cut, targets_ref, scalars_ref, labels_ref, *refs):
    *cut_refs, starts_ref, stops_ref, out_ref = refs
    run, lane = pl.program_id(0), pl.ds(0, lanes)

    def step(slot, sums):
        neighbour, scalars = targets_ref[slot], scalars_ref[slot, lane].astype(jnp.uint32)
        values = [jnp.broadcast_to(labels_ref[neighbour, b], (lanes,)) for b in range(PLANES)]
        return tuple(gf256.multiply_add(sums, values, [gf256.selection(scalars, b) for b in range(PLANES)]))

    sums = lax.fori_loop(starts_ref[run], stops_ref[run], step, (jnp.zeros(lanes, jnp.uint32),) * PLANES)
    if cut:
        offsets_ref, pieces_ref = cut_refs

        def add(piece, sums):
            return tuple(total ^ pieces_ref[piece, b, lane] for b, total in enumerate(sums))

        sums = lax.fori_loop(offsets_ref[run], offsets_ref[run + 1], add, sums)
    for b in range(PLANES):
        out_ref[run, b, lane] = sums[b]


def extend(
    P: jax.Array, size: jax.Array, first_form: jax.Array, weights: jax.Array, rows: Rows, interpret: bool = False
) -> jax.Array:
    """:func:`jaxmotif.kernels.sieve_round.extend` as one kernel, or two when long rows are cut."""
    total, vertices, _, words = P.shape
    block, num_pieces = _block(words), rows.pieces
    round_ = jnp.stack([size, first_form])
    call = partial(pl.pallas_call, compiler_params=_parameters(), interpret=interpret)
    inputs = [round_, rows.targets, weights]
    if num_pieces:
        shape = ((total - 1) // 2, num_pieces, PLANES, words)
        pieces = call(
            partial(_pieces_kernel, total, block),
            grid=(num_pieces, words // block),
            in_specs=[_WHOLE] * 6,
            out_specs=_WHOLE,
            out_shape=jax.ShapeDtypeStruct(shape, jnp.uint32),
            name="sieve_pieces",
        )(*inputs, rows.piece_starts, rows.piece_stops, P)
        inputs += [rows.piece_offsets, pieces]
    kernel = partial(_round_kernel, total, block, bool(num_pieces))
    inputs += [rows.starts, rows.stops, P]
    return call(
        kernel,
        grid=(vertices, words // block),
        in_specs=[_WHOLE] * len(inputs),
        out_specs=_WHOLE,
        out_shape=jax.ShapeDtypeStruct(P.shape, jnp.uint32),
        input_output_aliases={len(inputs) - 1: 0},
        name="sieve_round",
    )(*inputs)


def _pieces_kernel(total, block, round_ref, targets_ref, weights_ref, starts_ref, stops_ref, rows_ref, out_ref):
    """Neighbour sums over one piece of a long row."""
    piece, base = pl.program_id(0), pl.program_id(1) * block
    size, first_form = round_ref[0], round_ref[1]
    start_, stop = starts_ref[piece], stops_ref[piece]

    def put(form, width):
        sums = _run_sums(start_, stop, size, first_form + form, width, block, base, targets_ref, weights_ref, rows_ref)
        for ahead in range(width):
            for b in range(PLANES):
                out_ref[form + ahead, piece, b, pl.ds(base, block)] = sums[ahead][b]

    _by_width((total - 1) // size, put)


def _round_kernel(total, block, cut, round_ref, targets_ref, weights_ref, *refs):
    """Neighbour sums of one vertex, attached to its rows."""
    *cut_refs, starts_ref, stops_ref, rows_ref, out_ref = refs
    vertex, base = pl.program_id(0), pl.program_id(1) * block
    size, first_form = round_ref[0], round_ref[1]
    start_, stop = starts_ref[vertex], stops_ref[vertex]

    def load(s):
        return [out_ref[s - 1, vertex, b, pl.ds(base, block)] for b in range(PLANES)]

    def attach(form, width):
        sums = _run_sums(start_, stop, size, first_form + form, width, block, base, targets_ref, weights_ref, rows_ref)
        if cut:
            offsets_ref, pieces_ref = cut_refs
            sums = _add_pieces(sums, offsets_ref[vertex], offsets_ref[vertex + 1], form, block, base, pieces_ref)
        for ahead, planes in enumerate(sums):
            number = form + ahead + 1

            def update(s, _, planes=planes):
                grown = gf256.multiply_add(load(s), planes, load(s - size))
                for b in range(PLANES):
                    out_ref[s - 1, vertex, b, pl.ds(base, block)] = grown[b]

            lax.fori_loop(number * size + 1, jnp.minimum((number + 1) * size, total) + 1, update, None)

    _by_width((total - 1) // size, attach)


def _by_width(count, work):
    """``work(first, width)`` over 0..count - 1 in runs of the widths in ``WIDTHS``, widest first."""
    done = jnp.int32(0)
    for width in WIDTHS:
        runs = (count - done) // width

        def run(index, _, done=done, width=width):
            work(done + index * width, width)

        lax.fori_loop(0, runs, run, None)
        done = done + runs * width


def _run_sums(start_, stop, size, form, width, block, base, targets_ref, weights_ref, rows_ref):
    """``width`` weighted sums over a run of neighbours: a list of 8 planes each."""
    zero = jnp.zeros(block, jnp.uint32)

    def step(slot, totals):
        neighbour = targets_ref[slot]
        planes = [rows_ref[size - 1, neighbour, b, pl.ds(base, block)] for b in range(PLANES)]
        terms = gf256.expand(planes)
        grown = []
        for ahead in range(width):
            grown += _add_selected(totals[ahead * TERMS : (ahead + 1) * TERMS], terms, weights_ref[form + ahead, slot])
        return tuple(grown)

    totals = lax.fori_loop(start_, stop, step, (zero,) * (TERMS * width))
    return [gf256.collapse(totals[ahead * TERMS : (ahead + 1) * TERMS]) for ahead in range(width)]


def _add_selected(totals, terms, word):
    """Adds the terms that the bits of a scalar select."""
    return [
        total ^ (term & gf256.selection(word, r)) for r, (total, term) in enumerate(zip(totals, terms, strict=True))
    ]


def _add_pieces(sums, first, last, form, block, base, pieces_ref):
    flat = tuple(plane for planes in sums for plane in planes)

    def add(piece, flat):
        loaded = [
            pieces_ref[form + ahead, piece, b, pl.ds(base, block)] for ahead in range(len(sums)) for b in range(PLANES)
        ]
        return tuple(plane ^ more for plane, more in zip(flat, loaded, strict=True))

    flat = lax.fori_loop(first, last, add, flat)
    return [flat[ahead * PLANES : (ahead + 1) * PLANES] for ahead in range(len(sums))]
