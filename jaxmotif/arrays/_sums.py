"""Running sums that compile in a third of the time that ``jnp.cumsum`` takes on a CPU, and run no slower.

Some are in a fixed order, for numbers that are rounded. Beside them are products with small matrices of integers.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import DTypeLike

from jaxmotif.arrays._compile import target

Values = tuple[jax.Array, ...]

TOGETHER = 8  # entries that one step of `running` takes together: with more XLA takes longer to compile the step
SHORT = 2**14  # up to here doubling alone is as fast as sums in lanes
LANES = 512


def running_sum(x: jax.Array, dtype: DTypeLike | None = None) -> jax.Array:
    """Return the sum of each entry and all entries before it, ``[N]``, as ``jnp.cumsum`` does.

    On a CPU XLA spells a cumulative sum out in some ten operations for each doubling, and compiling is most of
    what a first call takes. Here it is a loop.

    Example:
      >>> running_sum(jnp.array([1, 2, 3], jnp.int32)).tolist()
      [1, 3, 6]
    """
    x = x.astype(x.dtype if dtype is None else dtype)
    if target().platform != "cpu" or x.ndim != 1 or not x.size:
        return jnp.cumsum(x, dtype=x.dtype)
    if x.size <= SHORT or x.size % LANES:
        return _by_doubling(x)
    # A long array is cut into stretches, each of which a lane adds up. Then the sums before each stretch are added.
    lanes = x.reshape(LANES, -1)

    def step(place: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        total, sums = carry
        total = total + lax.dynamic_slice(lanes, (jnp.int32(0), place), (LANES, 1))
        return total, lax.dynamic_update_slice(sums, total, (jnp.int32(0), place))

    start = jnp.zeros((LANES, 1), x.dtype), jnp.zeros_like(lanes)
    total, sums = lax.fori_loop(jnp.int32(0), jnp.int32(lanes.shape[1]), step, start)
    return (sums + (_by_doubling(total[:, 0]) - total[:, 0])[:, None]).reshape(-1)


def _by_doubling(x: jax.Array) -> jax.Array:
    """Return the sum of each entry and all before it, by adding the entry 1, 2, 4, .. places before."""
    return running(lambda a, b: (a[0] + b[0],), (x,), (0,), depth=0)[0]


def running(
    add: Callable[[Values, Values], Values], entries: Values, none: tuple[float | bool, ...], depth: int = 2
) -> Values:
    """Return, for each entry, the sum of this entry and all entries before it by ``add``, arrays ``[N]``.

    The order in which entries are added depends on N alone, so rounded sums are the same each time. It takes few
    steps, so that the program is short and compiles quickly. Entries are added in pairs within groups, and the sums of
    groups again within groups, ``depth`` times; the sums of the last groups are added by doubling.

    Args:
      add: a function that adds two entries; it is associative except for rounding.
      entries: the entries, which are tuples of one element from each array ``[N]``.
      none: the neutral value for each of these arrays: adding it in front of an entry does not change the entry.
      depth: how often sums of groups are grouped again.

    Example:
      >>> running(lambda a, b: (a[0] + b[0],), (jnp.arange(10.0),), (0.0,))[0].tolist()
      [0.0, 1.0, 3.0, 6.0, 10.0, 15.0, 21.0, 28.0, 36.0, 45.0]
    """
    size = entries[0].shape[0]
    if depth == 0:
        before = [jnp.full(size, y, x.dtype) for x, y in zip(entries, none, strict=True)]

        def double(number: jax.Array, sums: Values) -> Values:
            # A shift by a power of two, in which neutral values come in, is a slice of these and the sums end to end.
            begin = size - (jnp.int32(1) << number)
            shifted = (jnp.concatenate(pair) for pair in zip(before, sums, strict=True))
            return add(tuple(lax.dynamic_slice(x, (begin,), (size,)) for x in shifted), sums)

        return lax.fori_loop(jnp.int32(0), jnp.int32((size - 1).bit_length()), double, entries)
    groups = -(-size // TOGETHER)
    padded = [jnp.pad(x, (0, groups * TOGETHER - size), constant_values=y) for x, y in zip(entries, none, strict=True)]
    rows = [x.reshape(groups, TOGETHER) for x in padded]
    columns: list[Values] = [tuple(x[:, i] for x in rows) for i in range(TOGETHER)]

    def in_pairs(columns: list[Values]) -> list[Values]:
        return [add(a, b) for a, b in zip(columns[::2], columns[1::2], strict=True)]

    ends = columns
    while len(ends) > 1:
        ends = in_pairs(ends)
    # Up to the end of each group, and up to where it begins.
    total = running(add, ends[0], none, depth - 1)
    begin = tuple(jnp.concatenate([jnp.full(1, y, x.dtype), x[:-1]]) for x, y in zip(total, none, strict=True))

    def within(columns: list[Values]) -> list[Values]:
        if len(columns) == 1:
            return [total]
        odd = within(in_pairs(columns))
        even = [add(before, x) for before, x in zip([begin, *odd[:-1]], columns[::2], strict=True)]
        return [x for pair in zip(even, odd, strict=True) for x in pair]

    found = zip(*within(columns), strict=True)
    return tuple(jnp.stack(x, axis=1).reshape(-1)[:size] for x in found)


def product(xp: ModuleType, weights: np.ndarray, rows: Any) -> Any:
    """Return the product of a matrix and ``rows [R, ...]``, in the type of the rows, in which sums may wrap.

    The absolute weights in each row of the matrix add up to less than 2^20.
    """
    if rows.dtype != object and target().platform == "tpu":  # XLA has no product of 64-bit matrices there
        return (weights.reshape(*weights.shape, *[1] * (rows.ndim - 1)) * rows[None]).sum(1, dtype=rows.dtype)
    if rows.dtype != np.int64:
        return _multiply(xp, weights, rows)

    # XLA multiplies integers one at a time on a CPU, and may hold all their products on a GPU. So the halves of 32 bits
    # are multiplied as floats, which are exact since all sums are below 2^53.
    def exact(numbers: Any) -> Any:
        return _multiply(xp, weights.astype(np.float64), numbers.astype(np.float64)).astype(rows.dtype)

    return exact(rows & 0xFFFFFFFF) + (exact(rows >> 32) << 32)


def _multiply(xp: ModuleType, weights: np.ndarray, rows: Any) -> Any:
    if xp is np:
        return np.tensordot(weights, rows, 1)
    # A product of jax.numpy names the type of its result, and vmap over a user's own jit cuts that to 32 bits.
    return lax.dot_general(weights, rows, (((1,), (0,)), ((), ())))
