"""Bodies of kernels that run in two forms: by plain XLA on a whole block of lanes, or by a GPU in tiles of lanes.

A body is a function of lanes. It reads arrays only through a :class:`Read` and returns one int32 value for each output.
:func:`each_position` runs a body at flat positions of concatenated lists, :func:`each_lane` on lanes with values of
their own. The target of the program (:func:`jaxmotif.arrays._compile.target`) decides the form, and :mod:`_launch`
knows how a GPU runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax

from jaxmotif.arrays._compile import target
from jaxmotif.kernels import _expand as ex
from jaxmotif.kernels._expand import FlatWork, take
from jaxmotif.kernels._launch import each_alone, kernel_call, load, whole

LANES = 1024
"""Number of lanes of a tile, unless a kernel says otherwise."""

_INTERPRETED_LANES = 16

Arrays = TypeVar("Arrays")  # a pytree of arrays, mostly a NamedTuple, where None stands for an absent array
Vectors = tuple[Array, ...]  # int32 values of all lanes


class Read:
    """The operations by which a body reads arrays, here in plain XLA.

    The argument ``where`` says which lanes read; the others read nothing and get an arbitrary value. Without it all
    lanes read, which is faster in plain XLA. This is right wherever the index is in bounds in every lane.
    """

    def load(self, array: Array, index: Array, where: Array | None = None) -> Array:
        """Read one entry for each lane."""
        return take(array, index if where is None else jnp.where(where, index, 0))

    def at(self, array: Array, index: Array | int) -> Array:
        """Read one entry for all lanes, at an index that is a scalar."""
        return array.at[index].get(mode="promise_in_bounds")

    def find(
        self, array: Array, low: Array, high: Array, wanted: Array, where: Array, steps: int
    ) -> tuple[Array, Array]:
        """Find ``wanted`` in the ascending ``array[low:high]``, which is shorter than ``2 ** steps``.

        Returns:
          The position, and whether the value is there; it is not where a lane does not read.
        """
        place, there = ex.find(array, low, high, wanted, steps)
        return place, there & where


class _Fused(Read):
    """The operations of a GPU's kernel on operands that it sees whole; a lane that does not read gets 0."""

    def load(self, array: Array, index: Array, where: Array | None = None) -> Array:
        return load(array, index, where)

    def at(self, array: Array, index: Array | int) -> Array:
        return array[index]

    def find(
        self, array: Array, low: Array, high: Array, wanted: Array, where: Array, steps: int
    ) -> tuple[Array, Array]:
        def step(bounds: ex.Bounds) -> ex.Bounds:
            return ex.halve(lambda place, active: load(array, place, active) < wanted, bounds)

        # A tile ends its search when the longest range of its lanes is empty, after at most `steps` steps.
        low, _ = lax.while_loop(lambda bounds: jnp.max(bounds[1] - bounds[0]) > 0, step, (low, high))
        there = where & (low < high)
        return low, there & (load(array, low, there) == wanted)


PLAIN, FUSED = Read(), _Fused()


def each_position(
    body: Callable[[Read, Arrays, Array, Array, Array], Vectors],
    arrays: Arrays,
    work: FlatWork,
    first: Array,
    stop: Array,
    *,
    block: int,
    fill: tuple[int | None, ...],
    name: str,
) -> tuple[Vectors, Array]:
    """Run a body at the flat positions ``first .. min(first + block, stop)`` of concatenated lists.

    The body is called as ``body(read, arrays, item, offset, valid)``. In every lane the item is one of the lists', so
    that it is a safe index. The offset is arbitrary in lanes that are not valid.

    Args:
      body: The body.
      arrays: The arrays that the body reads.
      work: The lists; a position is an offset in one of them.
      first: The first position, an int64 scalar.
      stop: The position to stop before, an int64 scalar.
      block: The number of lanes, static, a power of two or a multiple of 1024.
      fill: For each output the value that it has where no position is valid. With ``None`` the output is not written
        there, which saves time, and its reader must look at valid positions only.
      name: The name of the kernel in profiles.

    Returns:
      The outputs, int32 ``[block]`` each, and which positions are valid.
    """
    if not target().fused:
        item, offset, valid = ex.expand(work, first, stop, block)
        return body(PLAIN, arrays, item, offset, valid), valid

    from jax.experimental import pallas as pl

    # XLA first takes out the lists of this block, so that a kernel searches few lists, and in 32 bits.
    items, starts = ex.window(work, first, block)
    count = jnp.clip(stop - first, 0, block).astype(jnp.int32)
    lanes = min(tile_lanes(), block)
    # Sizes are passed as data, so that one kernel serves them all.
    numbers = jnp.stack([count, *(jnp.asarray(0 if x is None else x, jnp.int32) for x in (items.shape[0], *fill))])

    def tile(inputs: tuple[Any, ...], outputs: tuple[Array, ...]) -> None:
        numbers, items, starts, arrays = inputs
        count, lists, number = numbers[0], numbers[1], pl.program_id(0)

        # A tile past the last position only writes the fill values.
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
                index, position, valid = locate_lanes(starts, low, high, count, lanes, number)
                # Lanes that are not valid get item 0, which is a safe index.
                item, offset = load(items, index, valid), position - load(starts, index, valid)
                _write(outputs, body(FUSED, arrays, item, offset, valid))

    outputs = _tiles(tile, (numbers, items, starts, arrays), (), block, lanes, len(fill), name)
    return outputs, jnp.arange(block, dtype=jnp.int32) < count


def each_lane(
    body: Callable[..., Vectors], arrays: Any, *per_lane: Array, outputs: int, name: str, lanes: int = LANES
) -> Vectors:
    """Run ``body(read, arrays, *per_lane)`` on ``B`` lanes.

    Args:
      body: The body.
      arrays: The arrays that the body reads.
      per_lane: Arrays with a value for each lane, int32 ``[B]``.
      outputs: How many arrays, int32 ``[B]``, the body returns.
      name: The name of the kernel in profiles.
      lanes: The number of lanes of a tile on a GPU. B is a multiple of it, or smaller and a power of two.
    """
    if not target().fused:
        return body(PLAIN, arrays, *per_lane)
    lanes = min(tile_lanes(lanes), per_lane[0].shape[0])

    def tile(inputs: tuple[Any, ...], outputs: tuple[Array, ...]) -> None:
        arrays, *values = inputs

        @each_alone
        def _() -> None:
            _write(outputs, body(FUSED, arrays, *(ref[...] for ref in values)))

    return _tiles(tile, (arrays,), per_lane, per_lane[0].shape[0], lanes, outputs, name)


# ---- the form of a GPU


def tile_lanes(lanes: int = LANES) -> int:
    """Return the number of lanes of a tile, which is small where kernels are interpreted."""
    return min(lanes, _INTERPRETED_LANES) if target().kernels == "interpreted" else lanes


def _tiles(
    tile: Callable[[Any, Any], None], inputs: tuple, per_lane: Vectors, size: int, lanes: int, outputs: int, name: str
) -> Vectors:
    """Run ``tile((*inputs, *per_lane), outputs)`` on all tiles of ``size`` lanes, as one kernel.

    The arguments of ``tile`` are references to operands. Those of ``inputs`` are whole; those of ``per_lane`` and
    of the outputs hold the lanes of the tile.
    """
    from jax.experimental import pallas as pl

    if not size or size % lanes:
        raise ValueError(f"{name}: {size} lanes are not whole tiles of {lanes}")
    of_tile = pl.BlockSpec((lanes,), lambda number: (number,))
    # All operands are one argument, a tree, so that a body gets its arrays as the NamedTuple that they were.
    operands = (*inputs, *per_lane)
    specs = (*jax.tree.map(lambda _: whole(), inputs), *(of_tile for _ in per_lane))

    def kernel(inputs: tuple[Array, ...], *outputs: Array) -> None:
        tile(inputs, outputs)

    call = kernel_call(
        kernel,
        lanes=lanes,
        grid=(size // lanes,),
        out_shape=[jax.ShapeDtypeStruct((size,), jnp.int32)] * outputs,
        in_specs=(specs,),
        out_specs=[of_tile] * outputs,
        name=name,
    )
    return tuple(call(operands))


def _write(outputs: tuple[Array, ...], values: Vectors) -> None:
    for ref, value in zip(outputs, values, strict=True):
        ref[...] = value


# ---- parts of bodies on a GPU


def tile_lists(starts: Array, lists: Array, count: Array, lanes: int, tile: Array) -> tuple[Array, Array]:
    """Find the lists that the first and the last position of a tile lie in, int32 scalars.

    Args:
      starts: The starts of the lists of a block, relative to the block's first position; an operand.
      lists: The number of lists, an int32 scalar.
      count: The number of valid positions in the block, an int32 scalar.
      lanes: The number of positions in a tile.
      tile: The number of the tile.
    """
    first = tile * lanes
    last = jnp.minimum(first + lanes, count) - 1

    def halve(_, bounds):  # Both binary searches, that of the first lane and that of the last, take a step together.
        a, b, c, d = bounds
        x, y = ex.half(a + b), ex.half(c + d)
        below, above = starts[x] <= first, starts[y] <= last
        ab, cd = b - a > 1, d - c > 1
        return (
            jnp.where(ab & below, x, a),
            jnp.where(ab & ~below, x, b),
            jnp.where(cd & above, y, c),
            jnp.where(cd & ~above, y, d),
        )

    zero = jnp.int32(0)
    # The number of lists has as many bits as the searches have steps.
    low, _, high, _ = lax.fori_loop(0, 32 - lax.clz(lists), halve, (zero, lists, zero, lists))
    return low, high


def locate_lanes(starts: Array, low: Array, high: Array, count: Array, lanes: int, tile: Array) -> tuple[Any, Any, Any]:
    """Find the list of each lane of a tile.

    Args:
      starts: The starts of the lists of a block, relative to the block's first position; an operand.
      low: The list of the tile's first position (see :func:`tile_lists`).
      high: The list of the tile's last position.
      count: The number of valid positions in the block, an int32 scalar.
      lanes: The number of positions in a tile.
      tile: The number of the tile.

    Returns:
      The index of each lane's list and the lane's position in the block, int32 ``[lanes]`` each, and which lanes are
      valid.
    """
    position = tile * lanes + jnp.arange(lanes, dtype=jnp.int32)
    valid = position < count

    def reach(_, bounds):
        index, step = bounds
        # A step never goes past the last list.
        x = jnp.minimum(index + step, high)
        return jnp.where(load(starts, x) <= position, x, index), ex.half(step)

    # The step begins with the highest power of two in the difference of low and high, and is halved each time.
    bits = 32 - lax.clz(high - low)
    first = lax.shift_right_logical(lax.shift_left(jnp.int32(1), bits), jnp.int32(1))
    index, _ = lax.fori_loop(0, bits, reach, (jnp.zeros((lanes,), jnp.int32) + low, first))
    return index, position, valid
