"""Scatters in which some positions are to be left out, in the form each kind of device likes.

Arrays have a spare last entry, at ``size``, and the position left out is always ``size``. A CPU is fastest when it
writes there with unchecked indices; on a GPU that would be one contended address, and checked indices cost nothing.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.arrays._compile import target

if TYPE_CHECKING:
    from jax.typing import ArrayLike, DTypeLike


WHOLE_LINES = 63
"""Spare entries lie at a multiple of 64 less one: an array of odd length takes a GPU four times as long to clear."""


def accumulator(size: int, dtype: DTypeLike) -> jax.Array:
    """Zeros ``[size + 1]`` for :func:`add_at` and :func:`put_at`."""
    return jnp.zeros(size + 1, dtype)


def add_at(array: jax.Array, index: jax.Array, values: ArrayLike) -> jax.Array:
    """Add values at int32 indices in ``0 .. size``; what the spare entry ``size`` then holds is arbitrary."""
    index, mode = _left_out(array, index)
    return array.at[index].add(values, mode=mode)


def put_at(array: jax.Array, index: jax.Array, values: ArrayLike) -> jax.Array:
    """Write values at int32 indices in ``0 .. size``; of several to one entry any one wins whole."""
    index, mode = _left_out(array, index)
    return array.at[index].set(values, mode=mode)


def count_at(size: int, index: jax.Array) -> jax.Array:
    """How often each int32 index in ``0 .. size`` occurs, ``[size + 1]``; the last entry is arbitrary."""
    small = _unchecked() and index.size < 2**16  # a CPU is faster with few bytes
    return sum_at(size, index, jnp.ones(index.shape, jnp.uint16 if small else jnp.int32))


def all_occur(
    size: int, touched: Sequence[jax.Array], asked: Sequence[jax.Array], times: Sequence[ArrayLike], most: int
) -> jax.Array:
    """Whether each of some positions occurs among ``touched`` (int32 in ``0 .. size``) so many times, bool ``[A]``.

    A GPU counts a list's positions in their order, best with those near each other that are near among the counters.

    Args:
      size: a multiple of 4.
      asked: int32 ``[A]`` each, in ``0 .. size - 1``; times: for each of them how often, ``[A]`` or a number.
      most: static, no position occurs more often than this.
    """

    def compared(counts_of: Callable[[jax.Array], jax.Array]) -> jax.Array:
        found = [counts_of(x) == wanted for x, wanted in zip(asked, times, strict=True)]
        return functools.reduce(operator.and_, found)

    def one_by_one() -> jax.Array:
        counts = count_at(size, jnp.concatenate([x.reshape(-1) for x in touched]))
        return compared(lambda x: counts.at[x].get(mode="promise_in_bounds").astype(jnp.int32))

    if _unchecked():
        return one_by_one()
    # Several counts in a word: of fewer bytes, more stay in the cache of a GPU, on which atomic additions wait.
    if most <= 2**16:
        # 2**16 occurrences of one position alone carry into its neighbour's count, which was 0, and leave 0: neither
        # reads 1.
        words = _count_in_words(size, touched, 2)
        return compared(lambda x: _read_in_words(words, x, 2))
    words = _count_in_words(size, touched, 4)
    # Not shifted by 0: XLA would make that an array of zeros, the one that the words began as, and copy it to keep it.
    shifted = (words, words >> 8, words >> 16, words >> 24)
    total = sum((x & 0xFF).sum(dtype=jnp.int32) for x in shifted)
    # A count of 256 loses at least 255 of the sum of all: where nothing is lost, all of them fit.
    fit = total == sum((x < size).sum(dtype=jnp.int32) for x in touched)
    found = compared(lambda x: _read_in_words(words, x, 4))
    # A loop of one turn or none, where a branch would copy the words that it is given.
    return lax.while_loop(lambda state: ~state[0], lambda _: (jnp.bool_(True), one_by_one()), (fit, found))[1]


def _count_in_words(size: int, touched: Sequence[jax.Array], together: int) -> jax.Array:
    """How often each position occurs, so many counts (2 or 4) in an int32 word."""
    spare = size // together | WHOLE_LINES
    words = accumulator(spare, jnp.int32)
    for index in touched:
        word, shift = _word_of(index, together)
        words = add_at(words, jnp.where(index == size, spare, word), jnp.int32(1) << shift)
    return words


def _read_in_words(words: jax.Array, asked: jax.Array, together: int) -> jax.Array:
    word, shift = _word_of(asked, together)
    return (words.at[word].get(mode="promise_in_bounds") >> shift) & ((1 << 32 // together) - 1)


def _word_of(index: jax.Array, together: int) -> tuple[jax.Array, jax.Array]:
    """In which word a count is, and at which bit it begins."""
    bits = together.bit_length() - 1
    return index >> bits, (index & (together - 1)) << (5 - bits)


def sum_at(size: int, index: jax.Array, values: jax.Array) -> jax.Array:
    """Sums of the values at each int32 index in ``0 .. size``, ``[size + 1]``; the last entry is arbitrary.

    On a CPU under ``vmap`` all rows are made one: XLA's scatter over several takes twice the time.
    """
    cells = size + 1
    if not _unchecked():
        return add_at(accumulator(size, values.dtype), index, values)

    def sums(index: jax.Array, values: jax.Array, cells: int) -> jax.Array:
        return jnp.zeros(cells, values.dtype).at[index].add(values, mode="promise_in_bounds")

    @jax.custom_batching.custom_vmap
    def one(index: jax.Array, values: jax.Array) -> jax.Array:
        return sums(index, values, cells)

    @one.def_vmap
    def several(rows: int, in_batched: list[bool], *arrays: jax.Array) -> tuple[jax.Array, bool]:
        index, values = (
            x if batched else jnp.broadcast_to(x[None], (rows, *x.shape))
            for x, batched in zip(arrays, in_batched, strict=True)
        )
        # Indices are int32, so that more cells than those can hold are summed row by row.
        if rows * cells >= 2**31:
            return jax.lax.map(lambda row: sums(row[0], row[1], cells), (index, values)), True
        # Row after row, each with a spare entry of its own.
        begins = jnp.arange(rows, dtype=jnp.int32).reshape(rows, *[1] * (index.ndim - 1)) * cells
        return sums((index + begins).reshape(-1), values.reshape(-1), rows * cells).reshape(rows, cells), True

    return one(index, values)


def sum_between(values: jax.Array, begins: jax.Array) -> jax.Array:
    """Sums of int32 values from each of the places ``[S + 1]`` to the next, ``[S]``: by a running sum, since on a GPU
    what adds to one cell waits for all others that do. That sum may wrap; its differences do not."""
    running = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(values, dtype=jnp.int32)])
    return jnp.diff(running.at[begins].get(mode="promise_in_bounds"))


def _unchecked() -> bool:
    return target().platform == "cpu"


def _left_out(array: jax.Array, index: jax.Array) -> tuple[jax.Array, str]:
    """Indices and mode such that the spare entry takes what is left out, or nothing does."""
    if _unchecked():
        return index, "promise_in_bounds"
    # Past the end, where "drop" leaves it out; the spare entry itself is in bounds.
    spare = array.shape[0] - 1
    return jnp.where(index == spare, spare + 1, index), "drop"
