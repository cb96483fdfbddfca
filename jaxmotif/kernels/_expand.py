"""Segmented expansion: for flat positions of concatenated lists, which list each lies in, and where in the list.

Lists of very different lengths are laid end to end and cut into blocks of equal size, so that every block is the same
amount of work whatever the degrees of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmotif.arrays._compile import target
from jaxmotif.arrays._rows import places_of_true
from jaxmotif.arrays._sums import running_sum

SHORT = 2**16
"""Length of an array below which a CPU searches it in a loop (see :func:`find`)."""


class FlatWork(NamedTuple):
    """Lists laid end to end.

    Attributes:
      items: The numbers of the lists that are not empty, in ascending order, then padding; int32 ``[L]``.
      starts: The first flat position of each of them, then the number of all positions; int64 ``[L + 1]``.
    """

    items: Any
    starts: Any

    @property
    def total(self) -> Any:
        """The number of all positions."""
        return self.starts[-1]


def flat_work(xp: ModuleType, lengths: np.ndarray | Array) -> FlatWork:
    """Lay lists end to end.

    Args:
      xp: NumPy, or jax.numpy in its 64-bit mode.
      lengths: The length of each list, integers ``[L]``.

    Example:
      >>> work = flat_work(np, np.array([2, 0, 3]))
      >>> work.items[:2].tolist(), work.starts.tolist()
      ([0, 2], [0, 2, 5, 5])
    """
    size = lengths.shape[0]
    starts = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths.astype(np.int64))])
    is_some: Any = lengths > 0
    items = places_of_true(is_some)
    # Padding starts behind the last position, and names list 0, which is a safe index.
    starts = xp.concatenate([starts[items], starts[-1:]])
    return FlatWork(xp.where(items < size, items, np.int32(0)), starts)


def window(work: FlatWork, first: Array, block: int) -> tuple[Array, Array]:
    """Return the lists that the positions ``first .. first + block`` can lie in.

    Returns:
      The items of the lists, int32 ``[w]``, and their starts relative to ``first``, int32 ``[w]``, clipped to
      -2^30 .. ``block``.
    """
    size = min(block, work.items.shape[0])
    # The window begins with the last list that starts at or before the first position. No list in it is empty, so that
    # `size` lists cover the block.
    at = jnp.int32(0)
    if size < work.items.shape[0]:
        at = jnp.searchsorted(work.starts, first, side="right", method=search_method()).astype(jnp.int32) - 1
        # `starts` is longer than `items` by one, so that past the end the two slices would be clamped differently.
        at = jnp.clip(at, 0, work.items.shape[0] - size)
    starts = lax.dynamic_slice(work.starts, (at,), (size,)) - first
    # The starts are clipped to fit int32. Offsets count from a list's start, so no list may be longer than 2^30.
    return lax.dynamic_slice(work.items, (at,), (size,)), jnp.clip(starts, -(2**30), block).astype(jnp.int32)


def expand(work: FlatWork, first: Array, stop: Array, block: int) -> tuple[Array, Array, Array]:
    """Return the list of each flat position ``first .. min(first + block, stop)``, and the offset in the list.

    Args:
      work: The lists; none may be longer than 2^30.
      first: The first position, an int64 scalar.
      stop: The position to stop before, an int64 scalar.
      block: The number of positions of the result, static.

    Returns:
      Items, int32 ``[block]``, offsets, int32 ``[block]``, and which positions are valid. Where a position is not
      valid, item and offset are arbitrary but safe indices.
    """
    items, starts = window(work, first, block)
    count = jnp.clip(stop - first, 0, block).astype(jnp.int32)
    # Lists that begin before the block, and padding, are not marked. Their marks would all fall on one position, and on
    # a GPU writing there takes longer than everything else.
    inside = (starts > 0) & (starts < count)
    marks = jnp.zeros(block, jnp.int32).at[jnp.where(inside, starts, block)].add(1, mode="drop")
    # The number of lists that begin at or before a position, less one, is the index of its list. No list is empty, so
    # that no two begin at the same position.
    index = running_sum(marks) + ((starts <= 0).sum(dtype=jnp.int32) - 1)
    position = jnp.arange(block, dtype=jnp.int32)
    valid = position < count
    index = jnp.where(valid, index, 0)
    return take(items, index), jnp.where(valid, position - take(starts, index), 0), valid


def search_method() -> str:
    """Return the method by which ``jnp.searchsorted`` should search for a scalar.

    On a CPU this is a loop. Unrolled steps would be compiled again, and done again in every lane, in each operation
    that XLA fuses with the result.
    """
    return "scan" if target().platform == "cpu" else "scan_unrolled"


def take(array: Array, index: Array | tuple[Array, ...]) -> Array:
    """Gather with indices that the caller guarantees to be in bounds, and not negative."""
    if isinstance(index, tuple) or jnp.ndim(index) == 0:
        return array.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)
    # This is the same operation, which JAX traces in a quarter of the time.
    index = lax.convert_element_type(index, jnp.int64 if max(array.shape) >= 2**31 else jnp.int32)
    index = lax.expand_dims(index, (index.ndim,))
    rest = array.ndim - 1
    numbers = lax.GatherDimensionNumbers(tuple(range(index.ndim - 1, index.ndim - 1 + rest)), (0,), (0,))
    sizes = (1, *array.shape[1:])
    return lax.gather(array, index, numbers, sizes, mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS)


def long(number: Array) -> Array:
    """Return a loop's int32 counter as int64; it is a Python integer where JAX runs loops without compiling them."""
    return jnp.asarray(number).astype(jnp.int64)


def blocks_of(positions: Array, block: Any) -> Array:
    """Return how many blocks of ``block`` positions hold ``positions`` of them, int32; 0 for a negative number."""
    positions = jnp.maximum(positions, 0)
    if not isinstance(block, int) or block & (block - 1):
        return (-(-positions // block)).astype(jnp.int32)
    # Without a division: a TPU has none of 64 bits, and its compiler takes seconds for each one.
    whole, begun = positions >> (block.bit_length() - 1), (positions & (block - 1)) != 0
    return whole.astype(jnp.int32) + begun.astype(jnp.int32)


def half(x: Array) -> Any:
    """Halve by a logical shift, so that a sum below 2^32 in an int32 is halved rightly."""
    return lax.shift_right_logical(x, jnp.ones_like(x))


Bounds = tuple[Array, Array]
"""The places from and before which something is searched, integers of one shape."""


def halve(is_before: Callable[[Array, Array], Array], bounds: Bounds) -> Bounds:
    """Halve ranges in a binary search; a range that is empty stays as it is.

    Args:
      is_before: A function of a place in each range, and of which ranges are not empty, that says which places come
        before what is searched for. Where a range is empty its answer has no effect.
      bounds: The ranges.
    """
    low, high = bounds
    middle = half(low + high)
    active = low < high
    before = is_before(middle, active)
    return jnp.where(active & before, middle + 1, low), jnp.where(active & ~before, middle, high)


def lists_at(starts: Array, positions: Array) -> Array:
    """Return the list of each flat position, int32 ``[P]``; of lists with the same start this is the last."""
    # An empty list starts where the next one does and has no positions, hence the search from the right.
    after = jnp.searchsorted(starts, positions, side="right", method="scan_unrolled")
    return jnp.maximum(after.astype(jnp.int32) - 1, 0)


def find(values: Array, low: Array, high: Array, wanted: Array, steps: int) -> tuple[Array, Array]:
    """Find ``wanted`` by binary search in the ascending ``values[low:high]``, which is shorter than ``2 ** steps``.

    Returns:
      The position, and whether the value is there.
    """
    end, last = high, values.shape[0] - 1

    def is_before(place: Array, _: Array) -> Array:
        # A lane that is done may point past the array. It reads the last entry.
        return take(values, jnp.minimum(place, last)) < wanted

    # A CPU searches short arrays in a loop, because XLA compiles unrolled steps again in each operation that uses their
    # result. For long arrays unrolling is worth it, because only then are operations large enough for several threads.
    if target().platform == "cpu" and last < SHORT:
        low, high = lax.fori_loop(jnp.int32(0), jnp.int32(steps), lambda _, x: halve(is_before, x), (low, high))
    else:
        for _ in range(steps):
            low, high = halve(is_before, (low, high))
    return low, (low < end) & (take(values, jnp.minimum(low, last)) == wanted)
