"""One body, two forms: what a kernel does in each lane, run by plain XLA on a whole block or by a GPU in tiles.

A body is a function of lanes. It reads arrays through its :class:`Read` alone and returns one int32 value per output.
:func:`each_position` runs it at flat positions of lists laid end to end, :func:`each_lane` on lanes that are given.
What the program is compiled for (:func:`jaxmotif.arrays._compile.target`) decides the form; :mod:`_launch` knows how a
GPU is given one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.arrays._compile import target
from jaxmotif.kernels import _expand as ex
from jaxmotif.kernels._expand import FlatWork, take
from jaxmotif.kernels._launch import each_alone, kernel_call, load, whole

LANES = 1024
_INTERPRETED_LANES = 16

Arrays = TypeVar("Arrays")  # a pytree of arrays (a NamedTuple, mostly); absent ones are None
Outputs = tuple[jax.Array, ...]


class Read(Protocol):
    """How a body reads. ``where``: the lanes that ask; the others read nothing and get an arbitrary value. Without it
    all lanes ask, which plain XLA does faster: right wherever the index is in bounds in every lane."""

    def load(self, array: jax.Array, index: jax.Array, where: jax.Array | None = None) -> jax.Array:
        """One entry a lane."""
        ...

    def at(self, array: jax.Array, index: jax.Array | int) -> jax.Array:
        """One entry for all lanes: ``index`` is a scalar."""
        ...

    def find(
        self, array: jax.Array, low: jax.Array, high: jax.Array, wanted: jax.Array, where: jax.Array, steps: int
    ) -> tuple[jax.Array, jax.Array]:
        """The place of ``wanted`` in the ascending ``array[low:high]``, shorter than ``2 ** steps``, and whether it is
        there (never where a lane does not ask)."""
        ...


class _Plain:
    """Reading arrays, in plain XLA."""

    def load(self, array: jax.Array, index: jax.Array, where: jax.Array | None = None) -> jax.Array:
        return take(array, index if where is None else jnp.where(where, index, 0))

    def at(self, array: jax.Array, index: jax.Array | int) -> jax.Array:
        return array.at[index].get(mode="promise_in_bounds")

    def find(
        self, array: jax.Array, low: jax.Array, high: jax.Array, wanted: jax.Array, where: jax.Array, steps: int
    ) -> tuple[jax.Array, jax.Array]:
        place, there = ex.find(array, low, high, wanted, steps)
        return place, there & where


class _Fused:
    """Reading whole operands of a GPU kernel; a lane that does not ask gets 0."""

    def load(self, array: jax.Array, index: jax.Array, where: jax.Array | None = None) -> jax.Array:
        return load(array, index, where)

    def at(self, array: jax.Array, index: jax.Array | int) -> jax.Array:
        return array[index]

    def find(
        self, array: jax.Array, low: jax.Array, high: jax.Array, wanted: jax.Array, where: jax.Array, steps: int
    ) -> tuple[jax.Array, jax.Array]:
        del steps  # a tile ends its search when its own ranges are empty
        return find_lanes(array, low, high, wanted, where)


PLAIN: Read = _Plain()
FUSED: Read = _Fused()


def each_position(
    body: Callable[[Read, Arrays, jax.Array, jax.Array, jax.Array], Outputs],
    arrays: Arrays, work: FlatWork, first: jax.Array, stop: jax.Array,
    *, block: int, fill: tuple[int | None, ...], name: str,
) -> tuple[Outputs, jax.Array]:  # fmt: skip
    """Run ``body(read, arrays, item, offset, valid)`` at the positions ``first .. min(first + block, stop)``.

    In every lane the item is one of the work's, so that it indexes safely; the offset is arbitrary where not valid.

    Args:
      arrays: what the body reads.
      work: the lists; a position is an offset in one of its items.
      first, stop: int64 scalars. block: static, a power of two or a multiple of 1024.
      fill: what an output may hold wherever no position is valid, one value an output; ``None`` for anything at all,
        which saves writing it: whoever reads the output must then look at the valid positions alone.
      name: of the kernel, in profiles.

    Returns:
      The outputs, int32 ``[block]`` each, and which positions are valid.
    """
    if not target().fused:
        item, offset, valid = ex.expand(work, first, stop, block)
        return body(PLAIN, arrays, item, offset, valid), valid

    from jax.experimental import pallas as pl

    # XLA cuts the block's own lists out of all of them: a kernel then searches few, and in 32 bits.
    items, starts = ex.window(work, first, block)
    count = jnp.clip(stop - first, 0, block).astype(jnp.int32)
    lanes = min(tile_lanes(), block)
    # Sizes are data, so that the kernel is the same one whatever they are.
    numbers = jnp.stack([count, *(jnp.asarray(0 if x is None else x, jnp.int32) for x in (items.shape[0], *fill))])

    def tile(inputs: tuple[Any, ...], outputs: tuple[jax.Array, ...]) -> None:
        numbers, items, starts, arrays = inputs
        count, lists, number = numbers[0], numbers[1], pl.program_id(0)

        # Tiles past the last position write what stands for none, and read nothing.
        @pl.when(number * lanes >= count)
        def _() -> None:
            for place, (ref, value) in enumerate(zip(outputs, fill, strict=True)):
                if value is not None:
                    ref[...] = jnp.zeros((lanes,), jnp.int32) + numbers[2 + place]

        @pl.when(number * lanes < count)
        def _() -> None:
            low, high = tile_lists(starts, lists, count, lanes, number)

            @each_alone
            def _() -> None:
                index, position, valid = between(starts, low, high, count, lanes, number)
                # Invalid lanes get item 0, which is one of the work's, and so indexes safely.
                item, offset = load(items, index, valid), position - load(starts, index, valid)
                _write(outputs, body(FUSED, arrays, item, offset, valid))

    outputs = _tiles(tile, (numbers, items, starts, arrays), (), block, lanes, len(fill), name)
    return outputs, jnp.arange(block, dtype=jnp.int32) < count


def each_lane(
    body: Callable[..., Outputs], arrays: Any, *per_lane: jax.Array, outputs: int, name: str, lanes: int = LANES
) -> Outputs:
    """Run ``body(read, arrays, *per_lane)`` on lanes, whose own int32 values ``[B]`` it is given.

    Args:
      arrays: what the body reads.
      outputs: how many int32 ``[B]`` it returns.
      lanes: in a tile of the fused form; B is a multiple of it, or smaller and a power of two.
    """
    if not target().fused:
        return body(PLAIN, arrays, *per_lane)
    lanes = min(tile_lanes(lanes), per_lane[0].shape[0])

    def tile(inputs: tuple[Any, ...], outputs: tuple[jax.Array, ...]) -> None:
        arrays, *mine = inputs

        @each_alone
        def _() -> None:
            # The operands of the tile's own lanes follow those that it sees whole.
            _write(outputs, body(FUSED, arrays, *(ref[...] for ref in mine)))

    return _tiles(tile, (arrays,), per_lane, per_lane[0].shape[0], lanes, outputs, name)


# ---- the fused form


def tile_lanes(lanes: int = LANES) -> int:
    """Lanes of a tile; few where a kernel is interpreted."""
    return min(lanes, _INTERPRETED_LANES) if target().kernels == "interpreted" else lanes


def _tiles(
    tile: Callable[[Any, Any], None], inputs: tuple[Any, ...], per_lane: tuple[jax.Array, ...], size: int,
    lanes: int, outputs: int, name: str,
) -> Outputs:  # fmt: skip
    """A kernel over tiles of ``size`` lanes: ``tile((*inputs, *per_lane), outputs)`` of operands' references, where
    those of ``per_lane`` and of the outputs hold the tile's own lanes."""
    from jax.experimental import pallas as pl

    if not size or size % lanes:
        raise ValueError(f"{name}: {size} lanes are not whole tiles of {lanes}")
    mine = pl.BlockSpec((lanes,), lambda number: (number,))
    # One tree of operands, as one argument: a body's arrays reach it as the NamedTuple that they were.
    operands = (*inputs, *per_lane)
    specs = (*jax.tree.map(lambda _: whole(), inputs), *(mine for _ in per_lane))

    def kernel(inputs: tuple[jax.Array, ...], *outputs: jax.Array) -> None:
        tile(inputs, outputs)

    call = kernel_call(
        kernel, lanes=lanes, grid=(size // lanes,), out_shape=[jax.ShapeDtypeStruct((size,), jnp.int32)] * outputs,
        in_specs=(specs,), out_specs=[mine] * outputs, name=name,
    )  # fmt: skip
    return tuple(call(operands))


def _write(outputs: tuple[jax.Array, ...], values: Outputs) -> None:
    for ref, value in zip(outputs, values, strict=True):
        ref[...] = value


# ---- inside a GPU's kernel


def tile_lists(
    starts: jax.Array, lists: jax.Array, count: jax.Array, lanes: int, tile: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The lists that a tile's first and last position lie in, int32 scalars.

    Args:
      starts: operand, the window's relative starts; lists: int32 scalar, how many it holds.
      count: int32 scalar, valid positions in the block.
      lanes: positions in a tile; tile: which one.
    """
    first = tile * lanes
    last = jnp.minimum(first + lanes, count) - 1

    def halve(_, bounds):  # the lists of the first and of the last lane, side by side
        a, b, c, d = bounds
        x, y = ex.half(a + b), ex.half(c + d)
        below, above = starts[x] <= first, starts[y] <= last
        ab, cd = b - a > 1, d - c > 1
        return (
            jnp.where(ab & below, x, a), jnp.where(ab & ~below, x, b),
            jnp.where(cd & above, y, c), jnp.where(cd & ~above, y, d),
        )  # fmt: skip

    zero = jnp.int32(0)
    # As many halvings as the number of lists has bits.
    low, _, high, _ = lax.fori_loop(0, 32 - lax.clz(lists), halve, (zero, lists, zero, lists))
    return low, high


def between(
    starts: jax.Array, low: jax.Array, high: jax.Array, count: jax.Array, lanes: int, tile: jax.Array
) -> tuple[Any, Any, Any]:
    """For one tile of lanes whose lists are the ones from low to high: int32 ``[lanes]`` index into the window and flat
    position, and which lanes are valid."""
    position = tile * lanes + jnp.arange(lanes, dtype=jnp.int32)
    valid = position < count

    def reach(_, bounds):
        index, step = bounds
        # As far as the step leads and lists go: beyond the last one is not looked.
        x = jnp.minimum(index + step, high)
        return jnp.where(load(starts, x) <= position, x, index), ex.half(step)

    # Steps that halve, from the highest power of two in what low and high are apart: as many as that has bits.
    bits = 32 - lax.clz(high - low)
    first = lax.shift_right_logical(lax.shift_left(jnp.int32(1), bits), jnp.int32(1))
    index, _ = lax.fori_loop(0, bits, reach, (jnp.zeros((lanes,), jnp.int32) + low, first))
    return index, position, valid


def find_lanes(
    values: jax.Array, low: jax.Array, high: jax.Array, wanted: jax.Array, valid: jax.Array
) -> tuple[Any, Any]:
    """Binary search per lane for ``wanted`` in the sorted ``values[low:high]``: position, and whether it is there."""

    def step(bounds):
        a, b = bounds
        x = ex.half(a + b)
        active = a < b
        less = load(values, x, active) < wanted
        return jnp.where(active & less, x + 1, a), jnp.where(active & ~less, x, b)

    # Until the longest range of the tile is empty; a lane that is done stays as it is.
    low, _ = lax.while_loop(lambda bounds: jnp.max(bounds[1] - bounds[0]) > 0, step, (low, high))
    there = valid & (low < high)
    return low, there & (load(values, low, there) == wanted)
