"""Segmented expansion: flat positions of concatenated lists, back to (which list, where in it).

Lists of very different lengths are laid end to end and cut into blocks of equal size, so every block is the same
amount of work whatever the degrees.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import target
from jaxmotif.arrays._sums import running_sum

SHORT = 2**16  # entries of an array that is searched in a loop


@partial(jax.tree_util.register_dataclass, data_fields=("items", "starts"), meta_fields=())
@dataclasses.dataclass(frozen=True, eq=False)
class FlatWork:
    """Lists laid end to end: ``items`` int32 ``[L]`` names the nonempty ones in order (then padding), ``starts``
    int64 ``[L + 1]`` are their first flat positions (then the total)."""

    items: Any
    starts: Any

    @property
    def total(self) -> Any:
        return self.starts[-1]


def flat_work(xp: ModuleType, lengths: np.ndarray | jax.Array) -> FlatWork:
    """Lay lists out end to end (``xp``: NumPy, or jax.numpy in its 64-bit mode).

    Args:
      lengths: integers ``[L]``.

    Example:
      >>> work = flat_work(np, np.array([2, 0, 3]))
      >>> work.items[:2].tolist(), work.starts.tolist()
      ([0, 2], [0, 2, 5, 5])
    """
    size = lengths.shape[0]
    # The nonempty to the front by a sort, which keeps the size as it is: a compiled program has no other.
    items = xp.sort(xp.where(lengths > 0, xp.arange(size, dtype=np.int32), np.int32(size)))
    real = items < size
    # Padding is list 0 without a position: safe to gather with, never met.
    items = xp.where(real, items, np.int32(0))
    lengths = xp.where(real, lengths[items], xp.zeros_like(lengths)).astype(np.int64)
    return FlatWork(items, xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths)]))


def window(work: FlatWork, first: jax.Array, block: int) -> tuple[jax.Array, jax.Array]:
    """The lists that the positions ``first .. first + block`` can lie in: int32 items ``[w]`` and their starts
    relative to ``first``, int32 ``[w]``, clipped at ``block`` (and at -2^30: shorter lists only, see below)."""
    size = min(block, work.items.shape[0])
    # The last list that starts at or before the first position. Nonempty lists: `size` of them cover a block.
    at = jnp.int32(0)
    if size < work.items.shape[0]:
        at = jnp.searchsorted(work.starts, first, side="right", method=search_method()).astype(jnp.int32) - 1
        # `starts` has an entry more than `items`: past the end the two slices would be clamped differently.
        at = jnp.clip(at, 0, work.items.shape[0] - size)
    starts = lax.dynamic_slice(work.starts, (at,), (size,)) - first
    # Clipped to fit int32. Offsets count from a list's start: this is why no list may be longer than 2^30.
    return lax.dynamic_slice(work.items, (at,), (size,)), jnp.clip(starts, -(2**30), block).astype(jnp.int32)


def expand(work: FlatWork, first: jax.Array, stop: jax.Array, block: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The list and the offset in it of each flat position ``first .. min(first + block, stop)``.

    Args:
      work: the lists; none may be longer than 2^30.
      first, stop: int64 scalars.
      block: static.

    Returns:
      Int32 ``[block]`` items, int32 ``[block]`` offsets (both arbitrary but safe to gather with where not
      valid), and which positions are valid.
    """
    items, starts = window(work, first, block)
    count = jnp.clip(stop - first, 0, block).astype(jnp.int32)
    # Lists begun before, and padding, all lie at one place: on a GPU, writing there takes longer than all the rest.
    inside = (starts > 0) & (starts < count)
    marks = jnp.zeros(block, jnp.int32).at[jnp.where(inside, starts, block)].add(1, mode="drop")
    # A position's list has the number of those begun by then, less one; starts differ, as no list is empty.
    index = running_sum(marks) + ((starts <= 0).sum(dtype=jnp.int32) - 1)
    position = jnp.arange(block, dtype=jnp.int32)
    valid = position < count
    index = jnp.where(valid, index, 0)
    return take(items, index), jnp.where(valid, position - take(starts, index), 0), valid


def search_method() -> str:
    """How ``jnp.searchsorted`` searches for a scalar: on a CPU in a loop, since steps spelt out are compiled, and done
    in every lane, anew in each operation that is made of the result."""
    return "scan" if target().platform == "cpu" else "scan_unrolled"


def take(array: jax.Array, index: jax.Array) -> jax.Array:
    """Gather with indices the caller guarantees."""
    return array.at[index].get(mode="promise_in_bounds")


def long(number: jax.Array) -> jax.Array:
    """A loop's int32 counter as int64 (a Python integer where JAX runs loops without compiling them)."""
    return jnp.asarray(number).astype(jnp.int64)


def first_ones(keys: jax.Array) -> jax.Array:
    """Which entries differ from the one before."""
    return jnp.concatenate([jnp.ones(1, bool), keys[1:] != keys[:-1]])


def half(x: jax.Array) -> Any:
    """Logically halved: no sign, no overflow below 2^32."""
    return lax.shift_right_logical(x, jnp.ones_like(x))


def lists_at(starts: jax.Array, positions: jax.Array) -> jax.Array:
    """The list that each flat position is in, int32 ``[P]``; of lists that start at one place the last."""
    # From the right: an empty list starts where the next does, and holds nothing.
    found = jnp.searchsorted(starts, positions, side="right", method="scan_unrolled")
    return jnp.maximum(found.astype(jnp.int32) - 1, 0)


def find(
    values: jax.Array, low: jax.Array, high: jax.Array, wanted: jax.Array, steps: int
) -> tuple[jax.Array, jax.Array]:
    """Binary search for ``wanted`` in the sorted ``values[low:high]``, shorter than ``2 ** steps``: its position, and
    whether it is there."""
    end, last = high, values.shape[0] - 1

    def halve(_: Any, bounds: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = bounds
        middle = half(low + high)
        active = low < high
        # A lane that is done may stand past the array: it reads the last entry, and makes no use of it.
        less = take(values, jnp.minimum(middle, last)) < wanted
        return jnp.where(active & less, middle + 1, low), jnp.where(active & ~less, middle, high)

    # A loop on a CPU: spelt out, each step is compiled anew in all that is made of it. In long arrays that is worth it:
    # only then are there operations large enough for several threads.
    if target().platform == "cpu" and last < SHORT:
        low, high = lax.fori_loop(jnp.int32(0), jnp.int32(steps), halve, (low, high))
    else:
        for step in range(steps):
            low, high = halve(step, (low, high))
    return low, (low < end) & (take(values, jnp.minimum(low, last)) == wanted)
