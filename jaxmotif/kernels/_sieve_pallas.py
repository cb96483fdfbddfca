"""The sieve's recurrence as Pallas kernels for NVIDIA GPUs, with the functions of :mod:`jaxmotif.kernels._sieve_round`.

One program (one warp) works on one vertex and one block of words. It sums over the vertex's neighbours for several
weights at once, in registers and in the 27-term domain, and attaches the sums to the vertex's rows immediately.
Programs that run at the same time share a block of words, so that the rows that they gather stay in the L2 cache. The
number of the round is data, so that one kernel serves all rounds.

A block of fewer words than a warp has lanes, of a small motif or in little memory, is worked on for several vertices
at once. Each lane then has a vertex and a word of its own, and goes through the vertex's neighbours by itself. Vertices
are in order of degree, so that the lanes of a warp have about as many steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.experimental import pallas as pl

from jaxmotif.kernels import _gf256 as gf256
from jaxmotif.kernels._gf256 import PLANES, TERMS, label_sums
from jaxmotif.kernels._launch import each_alone, kernel_call
from jaxmotif.kernels._sieve_rows import Rows

BLOCK_WORDS = 64
"""Number of words that a program works on: two for each lane, which share the cost of preparing a scalar."""

WIDTHS = (2, 1)
"""Numbers of neighbour sums that are taken at once, the largest first; each sum takes 27 registers for each word."""

FORMS_AT_ONCE = 2**18
"""Most vertices whose label forms are kept at a time: the forms of all take as much memory as a word of all rows."""

WARP = 32
"""Number of lanes of a warp, all of which have a word to work on."""


class _Lanes(NamedTuple):
    """The division of a program's lanes.

    Attributes:
      words: The number of words of a block.
      rows: The number of vertices, or of pieces, that a program works on.
    """

    words: int
    rows: int

    @classmethod
    def of(cls, words: int) -> _Lanes:
        """Divide the lanes of programs that work on blocks of so many words together."""
        block = min(words, BLOCK_WORDS)
        if words % block or block & (block - 1):
            raise ValueError(f"a block holds a power of two of words, or a multiple of {BLOCK_WORDS}, got {words}")
        return cls(block, max(1, WARP // block))

    @property
    def number(self) -> int:
        """The number of lanes."""
        return self.words * self.rows

    def zeros(self) -> Array:
        """Return a word of zeros for each lane."""
        return jnp.zeros(self.number, jnp.uint32)

    def run(self, work: Callable[[Any, Any], None]) -> None:
        """Call ``work(rows, words)`` for the rows of a program, all at once or lane by lane.

        The arguments are indices of an array that has rows and words: a number and a slice, or of several rows int32
        ``[lanes]`` both.
        """
        row, base = pl.program_id(0), pl.program_id(1) * self.words
        if self.rows == 1:
            work(row, pl.ds(base, self.words))
            return

        def lane_by_lane() -> None:
            lane = jnp.arange(self.number, dtype=jnp.int32)
            work(row * self.rows + lane // self.words, base + lane % self.words)

        each_alone(lane_by_lane)


def _for_each(first: Array, stop: Array, step: Callable, state: Any) -> Any:
    """Go through ``first .. stop - 1`` of each row, and return the state at the end.

    The function ``step(number, live, state)`` returns the next state. Of several rows some end before others, which
    ``live`` says, bool ``[lanes]``; of one row it is ``None``.
    """
    if not first.ndim:
        return lax.fori_loop(first, stop, lambda number, state: step(number, None, state), state)

    def together(i, state):
        return step(first + i, first + i < stop, state)

    return lax.fori_loop(0, jnp.max(stop - first), together, state)


def _if_live(live: Array | None, values: Array) -> Array:
    return values if live is None else jnp.where(live, values, jnp.zeros_like(values))


def _at_least_one(live: Array) -> Array:
    """Return whether any row of a program is live."""
    return jnp.max(live.astype(jnp.int32)) > 0 if live.ndim else live


def start(labels: Array, keys: Array, first_word: Array, num_words: int, rows: Rows) -> Array:
    """Run :func:`jaxmotif.kernels._sieve_round.start` as two kernels for some vertices at a time, forms between."""
    vertices, total, lanes = labels.shape[0], keys.shape[0] + 1, _Lanes.of(num_words)
    chunk = min(vertices, FORMS_AT_ONCE)
    label_forms = _label_forms(labels, keys, rows, chunk)

    def kernel(numbers_ref, labels_ref, forms_ref, rows_ref, out_ref):
        first_word, total, live, first_vertex = (numbers_ref[place] for place in range(4))

        def work(own, here):
            vertex = first_vertex + own

            def sums(plane):
                if lanes.rows > 1:
                    return label_sums(plane, (first_word + here).astype(jnp.uint32))
                # The first word is a multiple of the block, so that a word's sum is that of the first word plus a part
                # that depends on the lane alone. The number of a lane has at most 6 bits (BLOCK_WORDS), so that three
                # shifts give its parity.
                word = (first_word + here.start).astype(jnp.uint32)
                odd = (plane >> jnp.uint32(5)) & jnp.arange(lanes.words, dtype=jnp.int32).astype(jnp.uint32)
                for shift in (4, 2, 1):
                    odd = odd ^ (odd >> jnp.uint32(shift))
                return label_sums(plane, word) ^ gf256.selection(odd, 0)

            def put(s, planes):
                for b in range(PLANES):
                    out_ref[s, vertex, b, here] = planes[b]

            first = [sums(labels_ref[vertex, b]) for b in range(PLANES)]
            put(0, first)

            def grow(s, previous):
                grown = gf256.multiply(previous, [sums(forms_ref[own, b, s - 1]) for b in range(PLANES)])
                put(s, grown)
                return tuple(grown)

            # Nothing reads further rows of vertices that are not live.
            lax.fori_loop(1, jnp.where(_at_least_one(vertex < live), total, 1), grow, tuple(first))

        lanes.run(work)

    def part(index, P):
        # The last part begins earlier, and does some vertices again, with the same result.
        first_vertex = jnp.minimum(jnp.asarray(index, jnp.int32) * chunk, vertices - chunk)
        numbers = [first_word, jnp.int32(total), jnp.asarray(rows.live, jnp.int32), first_vertex]
        return kernel_call(
            kernel,
            lanes=lanes.number,
            warps=1,
            grid=(chunk // lanes.rows, num_words // lanes.words),
            out_shape=jax.ShapeDtypeStruct(P.shape, jnp.uint32),
            input_output_aliases={3: 0},
            name="sieve_start",
        )(jnp.stack(numbers), labels, label_forms(first_vertex), P)

    empty = lax.empty((total, vertices, PLANES, num_words), jnp.uint32)
    return lax.fori_loop(0, -(-vertices // chunk), part, empty)


def _label_forms(labels: Array, keys: Array, rows: Rows, chunk: int) -> Callable:
    """Return a function of a first vertex that takes the forms of ``chunk`` vertices, ``[chunk, 8, lanes]``.

    Each form has a lane. The number of lanes of Triton's arrays is a power of two; those that are added hold anything.
    """
    lanes = pl.next_power_of_2(max(keys.shape[0], 1))
    keys = jnp.pad(keys, ((0, lanes - keys.shape[0]), (0, 0))).T
    call = partial(kernel_call, lanes=lanes, warps=1)
    inputs, cut = [rows.targets, keys, labels], []
    if rows.pieces:
        pieces = call(
            partial(_label_forms_kernel, lanes, False),
            grid=(rows.pieces,),
            out_shape=jax.ShapeDtypeStruct((rows.pieces, PLANES, lanes), jnp.uint32),
            name="sieve_label_pieces",
        )(*inputs, jnp.zeros(1, jnp.int32), rows.piece_starts, rows.piece_stops)
        cut = [rows.piece_offsets, pieces]

    def forms(first_vertex):
        return call(
            partial(_label_forms_kernel, lanes, bool(cut)),
            grid=(chunk,),
            out_shape=jax.ShapeDtypeStruct((chunk, PLANES, lanes), jnp.uint32),
            name="sieve_label_forms",
        )(*inputs, *cut, first_vertex.reshape(1), rows.starts, rows.stops)

    return forms


def _label_forms_kernel(lanes, cut, targets_ref, keys_ref, labels_ref, *refs):
    *cut_refs, first_ref, starts_ref, stops_ref, out_ref = refs
    own, lane = pl.program_id(0), pl.ds(0, lanes)
    run, key = first_ref[0] + own, (keys_ref[0, lane], keys_ref[1, lane])

    def step(slot, sums):
        neighbour, scalars = targets_ref[slot], gf256.random_elements(slot.astype(jnp.uint32), key)
        values = [jnp.broadcast_to(labels_ref[neighbour, b], (lanes,)) for b in range(PLANES)]
        return tuple(gf256.multiply_add(sums, values, gf256.masks(scalars)))

    sums = lax.fori_loop(starts_ref[run], stops_ref[run], step, (jnp.zeros(lanes, jnp.uint32),) * PLANES)
    if cut:
        # A row that is cut has an empty run of its own, and its sums are those of its pieces.
        offsets_ref, pieces_ref = cut_refs

        def add(piece, sums):
            return tuple(total ^ pieces_ref[piece, b, lane] for b, total in enumerate(sums))

        sums = lax.fori_loop(offsets_ref[run], offsets_ref[run + 1], add, sums)
    for b in range(PLANES):
        out_ref[own, b, lane] = sums[b]


def extend(P: Array, size: Array, first_form: Array, keys: Array, rows: Rows) -> Array:
    """Run :func:`jaxmotif.kernels._sieve_round.extend` as one kernel, or two when long rows are cut."""
    total, vertices, _, words = P.shape
    lanes = _Lanes.of(words)
    call = partial(kernel_call, lanes=lanes.number, warps=1)
    # Sizes are passed as data, so that one kernel serves them all.
    numbers = jnp.stack([size, first_form, jnp.int32(total), jnp.int32(rows.targets.shape[0] - 1)])
    inputs = [numbers, rows.targets, keys]
    if rows.pieces:
        pieces = call(
            partial(_pieces_kernel, lanes),
            grid=(rows.pieces // lanes.rows, words // lanes.words),
            # Round 2 has the most forms of all rounds that come here, (k - 1) // 2.
            out_shape=jax.ShapeDtypeStruct(((total - 1) // 2, rows.pieces, PLANES, words), jnp.uint32),
            name="sieve_pieces",
        )(*inputs, rows.piece_starts, rows.piece_stops, P)
        inputs += [rows.piece_offsets, pieces]
    inputs += [rows.starts, rows.stops, P]
    return call(
        partial(_round_kernel, lanes, bool(rows.pieces)),
        grid=(vertices // lanes.rows, words // lanes.words),
        out_shape=jax.ShapeDtypeStruct(P.shape, jnp.uint32),
        # P is most of the memory, so it is written in place.
        input_output_aliases={len(inputs) - 1: 0},
        name="sieve_round",
    )(*inputs)


def _pieces_kernel(lanes, numbers_ref, targets_ref, keys_ref, starts_ref, stops_ref, rows_ref, out_ref):
    """Sum over the neighbours in one piece of a long row."""
    size, first_form, total, last_slot = (numbers_ref[place] for place in range(4))

    def work(piece, here):
        def value(neighbour):
            return [rows_ref[size - 1, neighbour, b, here] for b in range(PLANES)]

        run_sums = _run_sums(starts_ref[piece], stops_ref[piece], value, lanes, last_slot, targets_ref, keys_ref)

        def put(form, width):
            for ahead, planes in enumerate(run_sums(first_form + form, width)):
                for b in range(PLANES):
                    out_ref[form + ahead, piece, b, here] = planes[b]

        _by_width((total - 1) // size, put)

    lanes.run(work)


def _round_kernel(lanes, cut, numbers_ref, targets_ref, keys_ref, *refs):
    """Sum over the neighbours of one vertex and attach the sums to its rows; loads run one step ahead of their use."""
    *cut_refs, starts_ref, stops_ref, rows_ref, out_ref = refs
    size, first_form, total, last_slot = (numbers_ref[place] for place in range(4))

    def work(vertex, here):
        first, stop = starts_ref[vertex], stops_ref[vertex]
        live = stop > first
        if cut:
            offsets_ref, pieces_ref = cut_refs
            first_piece, last_piece = offsets_ref[vertex], offsets_ref[vertex + 1]
            live = live | (last_piece > first_piece)

        def value(neighbour):
            # Round t reads row t and writes rows above it, so that programs need not wait for each other.
            return [rows_ref[size - 1, neighbour, b, here] for b in range(PLANES)]

        run_sums = _run_sums(first, stop, value, lanes, last_slot, targets_ref, keys_ref)

        def load(s):
            return tuple(out_ref[s - 1, vertex, b, here] for b in range(PLANES))

        def attach(form, width):
            sums = run_sums(first_form + form, width)
            if cut:

                def add(piece, live, sums):
                    piece = _if_live(live, piece)
                    return tuple(
                        tuple(
                            plane ^ _if_live(live, pieces_ref[form + ahead, piece, b, here])
                            for b, plane in enumerate(planes)
                        )
                        for ahead, planes in enumerate(sums)
                    )

                sums = _for_each(first_piece, last_piece, add, sums)
            for ahead, planes in enumerate(sums):
                low, high = (form + ahead + 1) * size + 1, jnp.minimum((form + ahead + 2) * size, total)

                def update(s, loaded, planes=planes, high=high):
                    old, smaller = loaded
                    # The next rows are loaded before this one is written. They are not this row, because t is at least
                    # 2 (round 1 is `start`).
                    after = jnp.minimum(s + 1, high)
                    loaded = load(after), load(after - size)
                    for b, plane in enumerate(gf256.multiply_add(old, planes, smaller)):
                        out_ref[s - 1, vertex, b, here] = plane
                    return loaded

                lax.fori_loop(low, high + 1, update, (load(low), load(low - size)))

        _by_width(jnp.where(_at_least_one(live), (total - 1) // size, 0), attach)

    lanes.run(work)


def _by_width(count, work):
    """Call ``work(first, width)`` for all of 0..count - 1, in runs of the widths in ``WIDTHS``, the widest first."""
    done = jnp.int32(0)
    # A wide run expands each neighbour's planes once for all its sums. Narrower runs do the rest.
    for width in WIDTHS:
        runs = (count - done) // width

        def run(index, _, done=done, width=width):
            work(done + index * width, width)

        lax.fori_loop(0, runs, run, None)
        done = done + runs * width


def _run_sums(first, stop, value, lanes, last_slot, targets_ref, keys_ref):
    """Return a function of forms ``(first, width)`` that returns weighted sums over a run of neighbours, 8 planes each.

    The function ``value(neighbour)`` loads the 8 planes of a neighbour.
    """
    # An empty run may begin after the last slot, but its first neighbour is loaded all the same.
    start_ = jnp.minimum(first, last_slot)

    def sums(form, width):
        keys = [(keys_ref[form + ahead, 0], keys_ref[form + ahead, 1]) for ahead in range(width)]

        def step(slot, live, state):
            totals, neighbour = state
            terms = gf256.expand(value(neighbour))
            # A neighbour is loaded one step before it is used; the last step loads its own again.
            ahead = targets_ref[jnp.minimum(slot + 1, stop - 1 if live is None else jnp.maximum(stop - 1, start_))]
            words = (_if_live(live, gf256.random_elements(slot.astype(jnp.uint32), key)) for key in keys)
            totals = tuple(_select(total, terms, word) for total, word in zip(totals, words, strict=True))
            return totals, ahead

        zeros = (lanes.zeros(),) * TERMS
        totals, _ = _for_each(first, stop, step, ((zeros,) * width, targets_ref[start_]))
        return tuple(tuple(gf256.collapse(total)) for total in totals)

    return sums


def _select(totals, terms, word):
    """Add the terms that a scalar selects."""
    masks = gf256.expand(gf256.masks(word))
    return tuple(total ^ (term & mask) for total, term, mask in zip(totals, terms, masks, strict=True))
