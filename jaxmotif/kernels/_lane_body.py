"""Bodies of kernels that run in two forms: by plain XLA on a whole block of lanes, or by a GPU in tiles of lanes.

A body is a function of lanes. It reads arrays only through a :class:`Read` and returns one int32 value for each output.
:func:`each_position` runs a body at flat positions of concatenated lists, :func:`each_lane` on lanes with values of
their own. The target of the program (:func:`jaxmotif.arrays._compile.target`) decides the form, and :mod:`_launch`
knows how a GPU runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        return take(array, jnp.asarray(index))

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

    def tile(inputs: tuple[Any, ...], *outputs: Array) -> None:
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
                write(outputs, body(FUSED, arrays, item, offset, valid))

    vectors = [jax.ShapeDtypeStruct((block,), jnp.int32)] * len(fill)
    outputs = run_tiles(tile, (numbers, items, starts, arrays), vectors, block, lanes, name)
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
    size = per_lane[0].shape[0]

    def tile(arrays: Any, *refs: Array) -> None:
        values, results = refs[: len(per_lane)], refs[len(per_lane) :]

        @each_alone
        def _() -> None:
            write(results, body(FUSED, arrays, *(ref[...] for ref in values)))

    vectors = [jax.ShapeDtypeStruct((size,), jnp.int32)] * outputs
    return run_tiles(tile, arrays, vectors, size, min(tile_lanes(lanes), size), name, per_lane)


# ---- the form of a GPU


def tile_lanes(lanes: int = LANES) -> int:
    """Return the number of lanes of a tile, which is small where kernels are interpreted."""
    return min(lanes, _INTERPRETED_LANES) if target().kernels == "interpreted" else lanes


def run_tiles(
    tile: Callable[..., None],
    inputs: Any,
    outputs: Sequence[jax.ShapeDtypeStruct],
    size: int,
    lanes: int,
    name: str,
    per_lane: Vectors = (),
    in_place: int = 0,
) -> Vectors:
    """Run ``tile(inputs, *per_lane, *outputs)`` on all tiles of ``size`` lanes, as one kernel.

    The arguments of ``tile`` are references to operands.

    Args:
      tile: The work of a tile.
      inputs: The arrays that a tile sees whole, as a tree, so that a body gets them as the NamedTuple that they were.
      outputs: The shapes of the outputs, whose first axis is divided among the tiles.
      size: The number of lanes.
      lanes: The number of lanes of a tile.
      name: The name of the kernel in profiles.
      per_lane: Arrays whose first axis is divided among the tiles.
      in_place: How many arrays, the first ones of ``inputs``, are written in place. They are the first outputs, too,
        which a tile sees whole.
    """
    from jax.experimental import pallas as pl

    if not size or size % lanes:
        raise ValueError(f"{name}: {size} lanes are not whole tiles of {lanes}")
    tiles = size // lanes

    def part(array: Any) -> Any:
        rest = array.shape[1:]
        return pl.BlockSpec((array.shape[0] // tiles, *rest), lambda number: (number, *[0] * len(rest)))

    written = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in jax.tree.leaves(inputs)[:in_place]]
    call = kernel_call(
        tile,
        lanes=lanes,
        grid=(tiles,),
        out_shape=[*written, *outputs],
        in_specs=[jax.tree.map(lambda _: whole(), inputs), *map(part, per_lane)],
        out_specs=[*(whole() for _ in written), *map(part, outputs)],
        input_output_aliases={place: place for place in range(in_place)},
        name=name,
    )
    return tuple(call(inputs, *per_lane))


def write(outputs: Sequence[Array], values: Sequence[Array]) -> None:
    """Write a value to each output."""
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
