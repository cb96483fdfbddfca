"""Scatters that leave out some positions, in the form that is fastest on each kind of device.

Arrays have a spare last entry at ``size``, and the index of a position to leave out is always ``size``. A CPU is
fastest when it writes there with unchecked indices. On a GPU all such writes would wait for one address, and checked
indices cost nothing, so that nothing is written.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike, DTypeLike

from jaxmotif.arrays._compile import target
from jaxmotif.arrays._sums import running_sum
from jaxmotif.kernels._expand import take

WHOLE_LINES = 63
"""Bits that a spare entry's index has set, so that with the spare entry the array's length is a multiple of 64.

A GPU takes four times as long to clear an array of odd length.
"""


def accumulator(size: int, dtype: DTypeLike) -> Array:
    """Return zeros, ``[size + 1]``, for :func:`add_at` and :func:`put_at`."""
    return jnp.zeros(size + 1, dtype)


def add_at(array: Array, index: Array, values: ArrayLike) -> Array:
    """Add values at int32 indices in ``0 .. size``; afterwards the spare entry at ``size`` is arbitrary."""
    index, mode = _index_and_mode(array, index)
    return array.at[index].add(values, mode=mode, wrap_negative_indices=False)


def put_at(array: Array, index: Array, values: ArrayLike) -> Array:
    """Write values at int32 indices in ``0 .. size``; of several values for an entry any one is written whole."""
    index, mode = _index_and_mode(array, index)
    return array.at[index].set(values, mode=mode, wrap_negative_indices=False)


def compact(valid: Array) -> tuple[Array, Array]:
    """Return an order that moves valid entries to the front, int32 ``[B]``, and the number of valid entries, int32.

    Past that number the order is arbitrary.
    """
    block = valid.shape[0]
    count = running_sum(valid, jnp.int32)
    place = jnp.where(valid, count - 1, block)
    order = put_at(accumulator(block, jnp.int32), place, jnp.arange(block, dtype=jnp.int32))[:block]
    return order, count[-1]


def count_at(size: int, index: Array, most_cells: int = 2**31 - 1) -> Array:
    """Count how often each int32 index in ``0 .. size`` occurs, ``[size + 1]``; the last entry is arbitrary.

    On a CPU all rows of a ``vmap`` become one, since XLA's scatter over several rows takes a fifth longer. Where they
    would have more than ``most_cells`` cells, more than int32 indices tell apart, rows are counted one by one.
    """
    cells = size + 1
    if not _unchecked():
        return add_at(accumulator(size, jnp.int32), index, jnp.ones(index.shape, jnp.int32))
    kind = jnp.uint16 if index.size < 2**16 else jnp.int32  # A CPU is faster with counts of few bytes.

    def count(index: Array, cells: int) -> Array:
        return jnp.zeros(cells, kind).at[index].add(jnp.ones(index.shape, kind), mode="promise_in_bounds")

    def count_rows(rows: int, _: list[bool], index: Array) -> tuple[Array, bool]:
        if rows * cells > most_cells:
            return lax.map(one_row, index), True
        # The rows follow one another, each with a spare entry of its own.
        begins = jnp.arange(rows, dtype=jnp.int32).reshape(rows, *[1] * (index.ndim - 1)) * cells
        return count((index + begins).reshape(-1), rows * cells).reshape(rows, cells), True

    one_row = jax.custom_batching.custom_vmap(lambda index: count(index, cells))
    one_row.def_vmap(count_rows)
    return one_row(index)


def all_occur(
    size: int, touched: Sequence[Array], asked: Sequence[Array], times: Sequence[ArrayLike], most: int
) -> Array:
    """Return whether positions occur among other positions exactly as often as they should, bool ``[A]``.

    A GPU counts the positions of a list in order. It is fastest when positions that are near each other in the list are
    near each other in value.

    Args:
      size: The number of different positions, a multiple of 4.
      touched: The positions to count, int32 in ``0 .. size``, where ``size`` is left out.
      asked: The positions whose counts are compared, int32 ``[A]`` in ``0 .. size - 1``; an entry of the result is true
        if it is true for each of these arrays.
      times: How often the positions of each array should occur, ``[A]`` or a number.
      most: How often a position occurs at most, static.
    """

    def compare(counts_of: Callable[[Array], Array]) -> Array:
        equal = [counts_of(x) == wanted for x, wanted in zip(asked, times, strict=True)]
        return functools.reduce(operator.and_, equal)

    def one_by_one() -> Array:
        counts = count_at(size, jnp.concatenate([x.reshape(-1) for x in touched]))
        return compare(lambda x: take(counts, x).astype(jnp.int32))

    if _unchecked():
        return one_by_one()
    # Several counts share a word, because atomic additions wait for a GPU's cache, which holds more counts when they
    # have fewer bytes.
    if most <= 2**16:
        # A position that occurs 2**16 times carries 1 into the next count and is left with 0. Then there are no other
        # occurrences, so that the next count was 0.
        words = _count_in_words(size, touched, 2)
        return compare(lambda x: _read_in_words(words, x, 2))
    words = _count_in_words(size, touched, 4)
    # The first word is not shifted by 0. XLA would turn that into the array of zeros that the words began as, and copy
    # it to keep it.
    shifted = (words, words >> 8, words >> 16, words >> 24)
    total = sum((x & 0xFF).sum(dtype=jnp.int32) for x in shifted)
    # A count of 256 or more takes at least 255 from the sum of all counts, so that all fit where the sum is right.
    fit = total == sum((x < size).sum(dtype=jnp.int32) for x in touched)
    equal = compare(lambda x: _read_in_words(words, x, 4))
    # This loop has one turn or none. A branch in its place would copy the words.
    return lax.while_loop(lambda state: ~state[0], lambda _: (jnp.bool_(True), one_by_one()), (fit, equal))[1]


def side_by_side(first: Array, second: Array) -> Array:
    """Return the values of two arrays ``[B]`` as one, in which a GPU finds those of one place next to each other."""
    if _unchecked():
        return jnp.concatenate([first, second])
    # These are selected, and not stacked, because XLA writes stacked arrays to memory.
    return jnp.where(jnp.arange(2) == 0, first[:, None], second[:, None])


def _count_in_words(size: int, touched: Sequence[Array], together: int) -> Array:
    """Count how often each position occurs, with 2 or 4 (``together``) counts in an int32 word."""
    spare = size // together | WHOLE_LINES
    words = accumulator(spare, jnp.int32)
    for index in touched:
        word, shift = _word_of(index, together)
        words = add_at(words, jnp.where(index == size, spare, word), jnp.int32(1) << shift)
    return words


def _read_in_words(words: Array, asked: Array, together: int) -> Array:
    word, shift = _word_of(asked, together)
    return (take(words, word) >> shift) & ((1 << 32 // together) - 1)


def _word_of(index: Array, together: int) -> tuple[Array, Array]:
    """Return the word that holds a count, and the bit at which the count begins."""
    bits = together.bit_length() - 1
    return index >> bits, (index & (together - 1)) << (5 - bits)


def sum_between(values: Array, begins: Array) -> Array:
    """Add integers from each of the places ``begins``, ``[S + 1]``, to the next, ``[S]``.

    This takes differences of a running sum, because on a GPU additions to the same cell wait for each other. The
    running sum may wrap; its differences do not.
    """
    running = jnp.concatenate([jnp.zeros(1, values.dtype), jnp.cumsum(values, dtype=values.dtype)])
    return jnp.diff(take(running, begins))


def _unchecked() -> bool:
    return target().platform == "cpu"


def _index_and_mode(array: Array, index: Array) -> tuple[Array, str]:
    """Return indices and the scatter's mode, for which positions to leave out go to the spare entry or nowhere."""
    if _unchecked():
        return index, "promise_in_bounds"
    # The mode "drop" leaves out indices past the end, but the spare entry itself is in bounds.
    spare = array.shape[0] - 1
    return jnp.where(index == spare, spare + 1, index), "drop"
