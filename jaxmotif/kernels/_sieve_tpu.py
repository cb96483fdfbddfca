"""The sieve's round as a Pallas kernel for TPUs, with the function of :mod:`jaxmotif.kernels._sieve_round`.

A TPU runs the programs of a grid one after another, so that rows need not be cut. Each program takes the next block of
slots, of whatever rows, and a row that goes on in the next block keeps its sums. For each slot the neighbour's rows are
copied from the memory of the device, a few slots ahead of their use, and added to the sums of all forms in the 27-term
domain. Where a row of slots ends, the sums are attached to its vertex, whose own rows have been copied meanwhile.

A plane of words is a matrix ``[W / 128, 128]``, which are whole tiles of the vector unit where there are 1024 words.
The function ``start`` of the other module returns rows of that shape.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from jaxmotif.arrays._compile import target
from jaxmotif.kernels import _gf256 as gf256
from jaxmotif.kernels._gf256 import PLANES, TERMS
from jaxmotif.kernels._sieve_rows import Rows

LANES, SUBLANES = 128, 8
SLOTS = 256
"""Number of slots of a block. Their weights are scalars, whose memory is small (1 MB on a v5e, for two blocks)."""

AHEAD = 8
"""Number of neighbours whose rows are being copied at a time."""


def extend(P: jax.Array, size: jax.Array, first_form: jax.Array, weights: jax.Array, rows: Rows) -> jax.Array:
    """Run :func:`jaxmotif.kernels._sieve_round.extend` as one kernel, on rows uint32 ``[k, V, 8, W / 128, 128]``."""
    stop, begins, ends = _row_ends(rows)
    # A table has scalars for each slot: the neighbour, the vertices whose rows begin and end here, and the weights.
    table = jnp.stack([rows.targets, begins, ends])
    table = jnp.concatenate([table, lax.bitcast_convert_type(weights, jnp.int32)])
    table = jnp.pad(table, ((0, 0), (0, -table.shape[1] % SLOTS)))
    numbers = jnp.stack([size, first_form, stop])
    return jax.custom_batching.sequential_vmap(_call)(numbers, table, P)


def in_tiles(words: jax.Array) -> jax.Array:
    """Return values ``[W]`` of words in the shape of tiles, or unchanged where there are too few for a tile."""
    return words if words.shape[0] % LANES else words.reshape(-1, LANES)


def probe(numbers: jax.Array) -> jax.Array:
    """Return int32 ``[64]`` in reverse order, by a round of two vertices, each of which gets what the other had."""
    each, none = jnp.arange(2, dtype=jnp.int32), jnp.zeros(0, jnp.int32)
    rows = Rows(1 - each, each, each + 1, jnp.int32(2), none, none, jnp.zeros(3, jnp.int32), none)
    ones = jnp.zeros((3, 2, PLANES, 1, LANES), jnp.uint32).at[0, :, 0].set(jnp.uint32(0xFFFFFFFF))
    P = ones.at[1, 0, 0, 0, :64].set(lax.bitcast_convert_type(numbers[::-1], jnp.uint32))
    weights = gf256.expand_scalars(jnp.ones((1, 2), jnp.uint8))
    result = extend(P, jnp.int32(2), jnp.int32(0), weights, rows)
    return lax.bitcast_convert_type(result[2, 1, 0, 0, :64], jnp.int32)


def _row_ends(rows: Rows) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return where the last row ends, the vertex of each first slot of a row, and the vertex of each last slot.

    The vertices are int32 ``[S]``, with -1 at all other slots.
    """
    starts, is_cut = rows.starts, rows.piece_offsets[1:] > rows.piece_offsets[:-1]
    if rows.pieces:  # A row that is cut has an empty run of its own and begins with its first piece.
        starts = jnp.where(is_cut, rows.piece_starts.at[rows.piece_offsets[:-1]].get(mode="clip"), starts)
    is_there = rows.stops > starts
    slots, vertex = rows.targets.shape[0], jnp.arange(rows.vertices, dtype=jnp.int32)

    def vertex_at(slot: jax.Array) -> jax.Array:
        return jnp.full(slots, -1, jnp.int32).at[jnp.where(is_there, slot, slots)].set(vertex, mode="drop")

    return jnp.max(jnp.where(is_there, rows.stops, 0)), vertex_at(starts), vertex_at(rows.stops - 1)


def _call(numbers: jax.Array, table: jax.Array, P: jax.Array) -> jax.Array:
    total, _, _, height, _ = P.shape
    tile = min(height, SUBLANES)
    plane = (tile, LANES)
    whole = pl.BlockSpec(memory_space=pl.ANY)
    grid = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(height // tile, table.shape[1] // SLOTS),
        in_specs=[
            pl.BlockSpec((table.shape[0], SLOTS), lambda _, block, *numbers: (0, block), memory_space=pltpu.SMEM),
            whole,
        ],
        out_specs=whole,
        scratch_shapes=[
            pltpu.VMEM((AHEAD, PLANES, *plane), jnp.uint32),
            pltpu.VMEM((total, PLANES, *plane), jnp.uint32),
            pltpu.VMEM(((total - 1) // 2, TERMS, *plane), jnp.uint32),  # Round 2 has the most forms.
            pltpu.SemaphoreType.DMA((AHEAD,)),
            pltpu.SemaphoreType.DMA,
        ],
    )
    call = pl.pallas_call(
        partial(_kernel, total),
        grid_spec=grid,
        out_shape=jax.ShapeDtypeStruct(P.shape, P.dtype),
        input_output_aliases={2: 0},  # P is most of the memory, so it is written in place.
        interpret=False if target().platform == "tpu" else pltpu.InterpretParams(),
        name="sieve_round",
    )
    # In 64-bit mode the Python integers of a kernel would be int64.
    with jax.enable_x64(False):
        return call(numbers, table, P)


def _kernel(
    total: int, numbers: Any, table: Any, _: Any, P: Any, near: Any, own: Any, sums: Any, arrived: Any, moved: Any
) -> None:
    plane = tile, _ = near.shape[2:]
    chunk, block = pl.program_id(0), pl.program_id(1)
    words = pl.ds(chunk * tile, tile)
    size, first_form = numbers[0], numbers[1]
    forms = lax.div(total - 1, size)
    count = jnp.minimum(numbers[2] - block * SLOTS, SLOTS)  # the number of slots of rows in this block

    def neighbour(slot: jax.Array) -> Any:
        # Round t reads row t and writes rows above it, so that no row is written while it is copied.
        place = lax.rem(slot, AHEAD)
        return pltpu.make_async_copy(P.at[size - 1, table[0, slot], :, words], near.at[place], arrived.at[place])

    def rows_of(vertex: jax.Array) -> Any:
        return P.at[:, vertex, :, words]

    def take(slot: jax.Array, _: jax.Array) -> None:
        begins, ends = table[1, slot], table[2, slot]

        @pl.when(begins >= 0)
        def _() -> None:
            pltpu.make_async_copy(rows_of(begins), own, moved).start()

            def clear(form: jax.Array, _: jax.Array) -> None:
                sums[form] = jnp.zeros(sums.shape[1:], jnp.uint32)

            lax.fori_loop(0, forms, clear, None)

        neighbour(slot).wait()
        terms = gf256.expand([*near[lax.rem(slot, AHEAD)]])

        def add(form: jax.Array, _: jax.Array) -> None:
            word = lax.bitcast_convert_type(jnp.full(plane, table[3 + first_form + form, slot], jnp.int32), jnp.uint32)
            chosen = [term & gf256.selection(word, r) for r, term in enumerate(terms)]
            sums[form] = sums[form] ^ jnp.stack(chosen)

        lax.fori_loop(0, forms, add, None)

        @pl.when(slot + AHEAD < count)
        def _() -> None:
            neighbour(slot + AHEAD).start()

        @pl.when(ends >= 0)
        def _() -> None:
            pltpu.make_async_copy(rows_of(ends), own, moved).wait()
            _attach(total, size, forms, rows_of(ends), own, sums, moved)

    lax.fori_loop(0, jnp.minimum(count, AHEAD), lambda slot, _: neighbour(slot).start(), None)
    lax.fori_loop(0, count, take, None)


def _attach(total: int, size: jax.Array, forms: Any, rows: Any, own: Any, sums: Any, moved: Any) -> None:
    """Attach the sums of a vertex to its rows, which have been copied here, and copy the rows above ``t`` back."""

    def attach(form: jax.Array, _: jax.Array) -> None:
        planes = gf256.collapse([*sums[form]])

        def update(s: jax.Array, _: jax.Array) -> None:
            own[s - 1] = jnp.stack(gf256.multiply_add([*own[s - 1]], planes, [*own[s - size - 1]]))

        lax.fori_loop((form + 1) * size + 1, jnp.minimum((form + 2) * size, total) + 1, update, None)

    lax.fori_loop(0, forms, attach, None)

    def back(row: jax.Array) -> Any:
        return pltpu.make_async_copy(own.at[row], rows.at[row], moved)

    lax.fori_loop(size, total, lambda row, _: back(row).start(), None)
    lax.fori_loop(size, total, lambda row, _: back(row).wait(), None)
