"""The sieve's recurrence as Pallas kernels for NVIDIA GPUs, with the functions of :mod:`jaxmotif.kernels._sieve_round`.

One program (one warp) works on one vertex and one block of words. It sums over the vertex's neighbours for several
weights at once, in registers and in the 27-term domain, and attaches the sums to the vertex's rows immediately.
Programs that run at the same time share a block of words, so that the rows that they gather stay in the L2 cache. The
number of the round is data, so that one kernel serves all rounds.

A block of fewer words than a warp has lanes, of a small motif or in little memory, is worked on for several vertices
at once. Each lane then has a vertex and a word of its own, and goes through the vertex's neighbours by itself. Vertices
are in order of degree, so that the lanes of a warp have about as many steps. A lane's eight planes lie together there,
since it loads four words as fast as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.experimental import pallas as pl

from jaxmotif.kernels import _gf256 as gf256
from jaxmotif.kernels._gf256 import PLANES, TERMS, label_sums
from jaxmotif.kernels._launch import each_alone, kernel_call, load_entries, store_entries
from jaxmotif.kernels._sieve_rows import Rows

BLOCK_WORDS = 64
"""Number of words that a program works on: two for each lane, which share the cost of preparing a scalar."""

WIDTHS = (2, 1)
"""Numbers of neighbour sums that are taken at once, the largest first; each sum takes 27 registers for each word."""

LABEL_WIDTHS = (3, 2, 1)
"""The same for sums of labels, which are limited by memory and not by registers."""

MOST_COPIES = 4
"""Most label forms in a word: each form takes a scalar, and a lane holds the scalars of all of them at once."""

FORMS_AT_ONCE = 2**18
"""Most vertices whose label forms are kept at a time; those of all could take as much memory as a word of all rows."""

WARP = 32
"""Number of lanes of a warp, all of which have a word to work on."""

WORD = 32
"""Number of bits of a word."""


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

    def shape(self, *rows: int, words: int) -> tuple[int, ...]:
        """Return the shape of an array of words: planes are the last axis if each lane has a vertex of its own."""
        return (*rows, PLANES, words) if self.rows == 1 else (*rows, words, PLANES)

    def load(self, ref: Any, *rows: Any, words: Any) -> Sequence[Array]:
        """Load the 8 planes of each lane."""
        if self.rows > 1:
            return load_entries(ref, (*rows, words))
        return [ref[(*rows, b, words)] for b in range(PLANES)]

    def store(self, ref: Any, *rows: Any, words: Any, planes: Sequence[Array]) -> None:
        """Store the 8 planes of each lane."""
        if self.rows > 1:
            store_entries(ref, (*rows, words), planes)
            return
        for b, plane in enumerate(planes):
            ref[(*rows, b, words)] = plane


def by_plane(rows: Array, words: int) -> Array:
    """Return rows of the kernels, ``[..., V, 8, words]`` or ``[..., V, words, 8]``, with words as the last axis."""
    return rows if _Lanes.of(words).rows == 1 else jnp.swapaxes(rows, -1, -2)


def _num_words(P: Array) -> int:
    """Return the number of words of a block, from its rows, whichever axis is last."""
    return P.size // (P.shape[0] * P.shape[1] * PLANES)


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
    copies = max(1, min(WORD // total, total - 1, MOST_COPIES))
    bits = WORD // copies
    label_forms = _label_forms(labels, keys, rows, chunk, copies)

    def kernel(numbers_ref, labels_ref, forms_ref, rows_ref, out_ref):
        first_word, total, live, first_vertex = (numbers_ref[place] for place in range(4))

        def work(own, here):
            vertex = first_vertex + own
            numbers = here if lanes.rows > 1 else here.start + jnp.arange(lanes.words, dtype=jnp.int32)
            words = (first_word + numbers).astype(jnp.uint32)

            def sums(planes):
                return tuple(label_sums(plane, words) for plane in planes)

            def grow(s, previous):
                word = lax.div(s - 1, jnp.int32(copies))
                form = load_entries(forms_ref, (word, own))
                # The bits above those of the form are no digits of the number of a word.
                shift = ((s - 1 - word * copies) * bits).astype(jnp.uint32)
                grown = gf256.multiply(previous, sums([plane >> shift for plane in form]))
                lanes.store(out_ref, s, vertex, words=here, planes=grown)
                return tuple(grown)

            first = sums(load_entries(labels_ref, (vertex,)))
            lanes.store(out_ref, 0, vertex, words=here, planes=first)
            # Nothing reads further rows of vertices that are not live.
            lax.fori_loop(1, jnp.where(_at_least_one(vertex < live), total, 1), grow, first)

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

    empty = lax.empty(lanes.shape(total, vertices, words=num_words), jnp.uint32)
    return lax.fori_loop(0, -(-vertices // chunk), part, empty)


def _label_forms(labels: Array, keys: Array, rows: Rows, chunk: int, copies: int) -> Callable:
    """Return a function of a first vertex that takes the forms of ``chunk`` vertices, ``[words, chunk, 8]``.

    They are the neighbour sums of a round whose trees are single vertices, in a block of one word: the labels. A label
    has a bit for each element of the subsets, and leaves room in a word for ``copies`` forms, one above the other.
    """
    lanes, words = _Lanes.of(1), max(1, -(-keys.shape[0] // copies))
    numbers = jnp.stack([jnp.int32(1), jnp.int32(0), jnp.int32(words + 1), jnp.int32(rows.targets.shape[0] - 1)])
    keys = jnp.pad(keys, ((0, words * copies - keys.shape[0]), (0, 0)))
    operands = numbers, rows.targets, keys, labels.reshape(lanes.shape(1, labels.shape[0], words=1))
    cut = _piece_sums(lanes, words, operands, rows, copies)

    def of_chunk(first_vertex):
        def part(array, more=0):
            return lax.dynamic_slice_in_dim(array, first_vertex, chunk + more)

        runs = part(rows.starts), part(rows.stops), *((part(cut[0], 1), cut[1]) if cut else ())
        forms = _form_sums("sieve_label_forms", lanes, words, *operands, *runs, copies=copies)
        return forms.reshape(words, chunk, PLANES)

    return of_chunk


def extend(P: Array, size: Array, first_form: Array, keys: Array, rows: Rows) -> Array:
    """Run :func:`jaxmotif.kernels._sieve_round.extend` as one kernel, or two when long rows are cut."""
    (total, vertices), words = P.shape[:2], _num_words(P)
    lanes = _Lanes.of(words)
    # Sizes are passed as data, so that one kernel serves them all.
    numbers = jnp.stack([size, first_form, jnp.int32(total), jnp.int32(rows.targets.shape[0] - 1)])
    operands = numbers, rows.targets, keys, P
    # Round 2 has the most forms of all rounds that come here, (k - 1) // 2.
    cut = _piece_sums(lanes, (total - 1) // 2, operands, rows)
    return kernel_call(
        partial(_round_kernel, lanes),
        lanes=lanes.number,
        warps=1,
        grid=(vertices // lanes.rows, words // lanes.words),
        out_shape=jax.ShapeDtypeStruct(P.shape, jnp.uint32),
        # P is most of the memory, so it is written in place.
        input_output_aliases={3: 0},
        name="sieve_round",
    )(*operands, rows.starts, rows.stops, *cut)


def _piece_sums(
    lanes: _Lanes, forms: int, operands: tuple[Array, ...], rows: Rows, copies: int = 1
) -> tuple[Array, ...]:
    """Return the number of each vertex's first piece and the sums over pieces, or nothing where no row is cut."""
    if not rows.pieces:
        return ()
    runs = rows.piece_starts, rows.piece_stops
    pieces = _form_sums("sieve_pieces", lanes, forms, *operands, *runs, copies=copies)
    return rows.piece_offsets, pieces


def _form_sums(name: str, lanes: _Lanes, forms: int, *operands: Array, copies: int) -> Array:
    """Return the sums over the neighbours in some runs, for all forms of a round, which may be copies in a word.

    The operands are those of :func:`_neighbour_sums`; words are the last axis of the sums, or planes are.
    """
    P, starts = operands[3], operands[4]
    words, runs = _num_words(P), starts.shape[0]

    def kernel(*refs):
        *inputs, out_ref = refs

        def work(run, here):
            _, count, sums = _neighbour_sums(lanes, inputs, run, here, copies)

            def put(form, width):
                for ahead, planes in enumerate(sums(form, width)):
                    lanes.store(out_ref, form + ahead, run, words=here, planes=planes)

            _by_width(count, put, WIDTHS if copies == 1 else LABEL_WIDTHS)

        lanes.run(work)

    return kernel_call(
        kernel,
        lanes=lanes.number,
        warps=1,
        grid=(runs // lanes.rows, words // lanes.words),
        out_shape=jax.ShapeDtypeStruct(lanes.shape(forms, runs, words=words), jnp.uint32),
        name=name,
    )(*operands)


def _round_kernel(lanes, *refs):
    """Sum over the neighbours of one vertex and attach the sums to its rows; loads run one step ahead of their use."""
    *inputs, out_ref = refs
    numbers_ref = inputs[0]
    size, total = numbers_ref[0], numbers_ref[2]

    def work(vertex, here):
        live, count, sums = _neighbour_sums(lanes, inputs, vertex, here)

        def load(s):
            return tuple(lanes.load(out_ref, s - 1, vertex, words=here))

        def attach(form, width):
            for ahead, planes in enumerate(sums(form, width)):
                low, high = (form + ahead + 1) * size + 1, jnp.minimum((form + ahead + 2) * size, total)

                def update(s, loaded, planes=planes, high=high):
                    old, smaller = loaded
                    # The next rows are loaded before this one is written. They are not this row, because t is at least
                    # 2 (round 1 is `start`).
                    after = jnp.minimum(s + 1, high)
                    loaded = load(after), load(after - size)
                    lanes.store(out_ref, s - 1, vertex, words=here, planes=gf256.multiply_add(old, planes, smaller))
                    return loaded

                lax.fori_loop(low, high + 1, update, (load(low), load(low - size)))

        _by_width(jnp.where(_at_least_one(live), count, 0), attach, WIDTHS)

    lanes.run(work)


def _neighbour_sums(lanes, refs, run, here, copies=1):
    """Return whether a run has neighbours, the number of forms of the round, and a function that sums.

    The function takes forms ``(first, width)`` and returns weighted sums over the run's neighbours, 8 planes each.

    Args:
      lanes: The division of the program's lanes.
      refs: The numbers ``t``, of the round's first form in ``keys``, of rows and of the last slot; the targets; the
        keys; the rows; the first slots of runs and those after their last ones; where rows are cut, the numbers of
        their first pieces and the sums over pieces.
      run: The number of the run.
      here: The words that the lanes work on.
      copies: The number of forms in a word, which then holds as many copies of a row's lowest bits.
    """
    numbers_ref, targets_ref, keys_ref, rows_ref, starts_ref, stops_ref, *cut = refs
    size, first_form, total, last_slot = (numbers_ref[place] for place in range(4))
    first, stop = starts_ref[run], stops_ref[run]
    live = stop > first
    if cut:
        offsets_ref, pieces_ref = cut
        first_piece, last_piece = offsets_ref[run], offsets_ref[run + 1]
        live = live | (last_piece > first_piece)
    # An empty run may begin after the last slot, but its first neighbour is loaded all the same.
    start_ = jnp.minimum(first, last_slot)
    repeated = sum(1 << WORD // copies * copy for copy in range(copies))

    def sums(form, width):
        numbers = [(first_form + form) * copies + ahead for ahead in range(width * copies)]
        keys = [(keys_ref[number, 0], keys_ref[number, 1]) for number in numbers]

        def step(slot, live, state):
            totals, neighbour = state
            # Round t reads row t and writes rows above it, so that programs need not wait for each other.
            planes = lanes.load(rows_ref, size - 1, neighbour, words=here)
            terms = gf256.expand(planes if copies == 1 else [plane * jnp.uint32(repeated) for plane in planes])
            # A neighbour is loaded one step before it is used; the last step loads its own again.
            ahead = targets_ref[jnp.minimum(slot + 1, stop - 1 if live is None else jnp.maximum(stop - 1, start_))]
            scalars = [_if_live(live, gf256.random_elements(slot.astype(jnp.uint32), key)) for key in keys]
            parts = [scalars[ahead * copies : (ahead + 1) * copies] for ahead in range(width)]
            totals = tuple(_select(total, terms, part) for total, part in zip(totals, parts, strict=True))
            return totals, ahead

        zeros = (lanes.zeros(),) * TERMS
        totals, _ = _for_each(first, stop, step, ((zeros,) * width, targets_ref[start_]))
        totals = tuple(tuple(gf256.collapse(total)) for total in totals)
        if not cut:
            return totals

        # The own run of a row that is cut is empty, and its sums are those of its pieces.
        def add(piece, live, totals):
            piece = _if_live(live, piece)
            pieces = (lanes.load(pieces_ref, form + ahead, piece, words=here) for ahead in range(width))
            return tuple(
                tuple(total ^ _if_live(live, plane) for total, plane in zip(sums, planes, strict=True))
                for sums, planes in zip(totals, pieces, strict=True)
            )

        return _for_each(first_piece, last_piece, add, totals)

    return live, (total - 1) // size, sums


def _by_width(count, work, widths):
    """Call ``work(first, width)`` for all of 0..count - 1, in runs of some widths, the widest first."""
    done = jnp.int32(0)
    # A wide run expands each neighbour's planes once for all its sums. Narrower runs do the rest.
    for width in widths:
        runs = (count - done) // width

        def run(index, _, done=done, width=width):
            work(done + index * width, width)

        lax.fori_loop(0, runs, run, None)
        done = done + runs * width


def _select(totals, terms, scalars):
    """Add the terms that scalars select, each in its part of a word."""
    bits = WORD // len(scalars)
    planes = [jnp.zeros_like(totals[0])] * PLANES
    for place, scalar in enumerate(scalars):
        own = jnp.uint32(((1 << bits) - 1) << (bits * place))
        planes = [plane | (mask & own) for plane, mask in zip(planes, gf256.masks(scalar), strict=True)]
    masks = gf256.expand(planes)
    return tuple(gf256.add_selected(total, term, mask) for total, term, mask in zip(totals, terms, masks, strict=True))
