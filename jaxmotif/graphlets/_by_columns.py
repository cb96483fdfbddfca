"""Walks of length 4 along arcs, on a CPU, from some columns of the codegrees of all pairs of nodes at a time, in cache.

Two walks of length 2 meet in a column y: C(u, y) C(v, y) of them, so that rows of codegrees are multiplied with each
other. Codegrees are symmetric: what is found of a few rows (:mod:`jaxmotif.graphlets._by_rows`) is as many columns of
all rows, and the whole table, the square of the nodes, is never there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._host import all_on_device, on_device, zeros_for_jax
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.graphlets._by_lists import Core
from jaxmotif.graphlets._cells import Lists

LARGEST = {8: 2**8 - 1, 16: 2**12 - 1}
"""Of the codegrees that so many bits hold: 64 products of two such numbers are below 2^31."""

_CUT = 8
"""Times that walks of length 4 take more products of codegrees than there can be numbers that cut ones meet."""

_BYTES, _LEAST, _WORDS = 2**22, 96, 32
"""Of columns at a time, unless rows have fewer words than the second; and words that are added up in 32 bits."""

_TOGETHER = 2**16
"""Words of the rows that are multiplied at a time."""


def bits_of(degrees: np.ndarray) -> int:
    """Of a codegree. In 8 bits products take half as long; of the few pairs that need more, what is cut is added
    again."""
    large = degrees[degrees > LARGEST[8]].astype(np.int64)
    return 8 if _CUT * len(large) * large.sum() <= len(degrees) * int(degrees.sum(dtype=np.int64)) else 16


def columns_of(size: int, bits: int) -> int:
    """At a time, of ``size`` rows."""
    words = max(_BYTES // (4 * size), _LEAST) // _WORDS * _WORDS
    return min(words, -(-size // (_WORDS * 32 // bits)) * _WORDS) * 32 // bits


class Columns:
    """Codegrees of all rows in the columns from ``begin`` on, and the walks that meet in these and the ones before.

    Attributes:
      nodes: of all columns in order, those that stand for several first.
      width: how many columns there are at a time.
    """

    def __init__(self, core: Core, stand_for: np.ndarray | None, size: int, bits: int, device: jax.Device):
        """``stand_for``: members of each node, if any has several; ``size``: of a column, at least its nodes;
        ``bits``: of a codegree."""
        self.width, self.begin, self._core, self._bits, self._device = columns_of(size, bits), 0, core, bits, device
        nodes = len(core.lengths)
        self._members = np.ones(nodes, np.int64) if stand_for is None else stand_for
        # Next to each other, nodes of one highest neighbour: the fewer rows have numbers in the same columns.
        highest = np.zeros(nodes, np.int64)
        highest[core.tails] = core.heads
        self.nodes = np.lexsort((highest, self._members == 1))
        # One is multiplied while the other is filled.
        self._table, self._next = (zeros_for_jax((size, self.width), f"uint{bits}") for _ in range(2))
        self._most = LARGEST[bits]
        # Places of numbers that are cut, and by how much.
        self._cut = list[tuple[np.ndarray, np.ndarray]]()
        self._short = np.zeros(len(core.tails), np.int64)
        arcs = core.leaving(np.arange(nodes))
        self._up = arcs[core.tails[arcs] < core.heads[arcs]]
        self._low, self._high = (x[self._up].astype(np.int32) for x in (core.tails, core.heads))
        self._block = _TOGETHER // (self.width * bits // 32)
        # As many as there may be in a graph of so many slots, so that all such take one program.
        self._room = -(-bucket_size(len(core.tails)) // 2 // self._block) * self._block
        self._found = np.zeros(len(self._up), np.int64)
        # What is being multiplied: which edges, and what they will have.
        self._waiting: tuple[np.ndarray, jax.Array] | None = None

    def groups(self, lists: Lists, starts: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
        """As :meth:`jaxmotif.graphlets._cells.Lists.groups`, of rows that are columns of one table."""
        several = int(np.count_nonzero(self._members > 1))
        begins = [*range(0, several, self.width), *range(several, len(self.nodes), self.width), len(self.nodes)]
        for begin, end in pairwise(begins):
            self.begin = begin
            for first, stop in lists.groups(starts[begin : end + 1], most):
                yield begin + first, begin + stop
            self._meet(self.nodes[begin:end])

    def put(self, place: np.ndarray, codegree: np.ndarray) -> None:
        """``place``: of each row y and column x, ``y * width + x - begin``."""
        flat = self._table.reshape(-1)
        # NumPy is slow to cast where it writes. Modulo so many bits:
        flat[place] = codegree.astype(flat.dtype)
        if codegree.max(initial=0) > self._most:
            (some,) = np.nonzero(codegree > self._most)
            flat[place[some]] = self._most
            self._cut.append((place[some], codegree[some] - self._most))

    def walks(self) -> np.ndarray:
        """Int64 at all arcs."""
        self._wait()
        found = self._short
        found[self._up] += self._found
        found[self._core.back[self._up]] += self._found
        return found

    def _wait(self) -> None:
        if self._waiting is not None:
            some, found = self._waiting
            self._found[some] += np.asarray(found)[: len(some)]
            self._waiting = None

    def _edges(self, columns: np.ndarray) -> np.ndarray:
        """Those of which both ends have common neighbours with some column."""
        for _ in range(2):  # their neighbours, and the neighbours of these
            near = np.zeros(len(self._members), bool)
            near[self._core.heads[self._core.leaving(columns)]] = True
            (columns,) = np.nonzero(near)
        return np.flatnonzero(near[self._low] & near[self._high])

    def _meet(self, columns: np.ndarray) -> None:
        members, some = self._members[columns], self._edges(columns)
        ends = zeros_for_jax((2, self._room), np.int32)
        ends[:, : len(some)] = self._low[some], self._high[some]
        words, put = all_on_device([self._table.view(np.uint32), ends], self._device)
        weights = None
        if members.max() > 1:
            # By the place in a word, and by words.
            padded = np.pad(members, (0, self.width - len(members)))
            weights = on_device(padded.reshape(words.shape[1], -1).T[:, None].astype(np.int32), self._device)
        found = _meet(words, put, np.int32(len(some)), weights, bits=self._bits, block=self._block)
        if self._cut:
            _add_cut(self._short, self._core, self._table, members, self._cut)
            self._cut.clear()
        self._wait()  # for what is made from the other table, which may not have been copied
        self._waiting = some, found
        self._table, self._next = self._next, self._table
        self._table.fill(0)


@partial(jit64, static_argnames=("bits", "block"))
def _meet(
    words: jax.Array, ends: jax.Array, count: jax.Array, weights: jax.Array | None, *, bits: int, block: int
) -> jax.Array:
    """The inner products of the first ``count`` pairs of rows, so many at a time; ``weights``: of columns, below 2^12,
    ``[columns in a word, 1, words]``."""

    def step(number: jax.Array, found: jax.Array) -> jax.Array:
        u, v = lax.dynamic_slice_in_dim(ends, number * block, block, axis=1)
        x, y = words[u], words[v]
        ones = 2**bits - 1
        products = [
            ((x >> shift) & ones).astype(jnp.int32) * ((y >> shift) & ones).astype(jnp.int32)
            for shift in range(0, 32, bits)
        ]
        if weights is not None:  # four products of 16 bits and such weights fit 32, two of 24 do not
            wide = jnp.int32 if bits == 8 else jnp.int64
            z = reduce(jnp.add, [x.astype(wide) * y.astype(wide) for x, y in zip(products, weights, strict=True)])
        else:  # at most 64 products of 24 bits, or 128 of 16, fit 32
            z = reduce(jnp.add, products).reshape(block, -1, _WORDS).sum(axis=2, dtype=jnp.int32)
        return lax.dynamic_update_slice_in_dim(found, z.sum(axis=1, dtype=jnp.int64), number * block, axis=0)

    found = jnp.zeros(ends.shape[1], jnp.int64)
    return lax.fori_loop(jnp.int32(0), (count + (block - 1)) // block, step, found)


def _add_cut(
    found: np.ndarray, core: Core, table: np.ndarray, members: np.ndarray, cut: list[tuple[np.ndarray, np.ndarray]]
) -> None:
    """What products are short of, at all arcs; ``members``: of columns; ``cut``: where numbers are too small, and by
    how much."""
    places, first = np.unique(np.concatenate([at for at, _ in cut]), return_index=True)
    over = np.concatenate([by for _, by in cut])[first]
    width, flat = table.shape[1], table.reshape(-1)
    x, y = places // width, places % width
    # Of C(x, y) C(v, y), for all v next to x: what is missing of the first, times all of the second; and at the
    # reversed arc, where it is the second that misses something, times what is there of the other.
    for c in Lists(core.first[x], core.lengths[x]).cells(0, len(x)):
        over_all = c.spread((over * members[y])[c.arcs])
        other = core.heads[c.near] * width + c.spread(y[c.arcs])
        there = flat[other].astype(np.int64)
        place = np.minimum(np.searchsorted(places, other), len(places) - 1)
        missing = np.where(places[place] == other, over[place], 0)
        np.add.at(found, c.near, over_all * (there + missing))
        np.add.at(found, core.back[c.near], over_all * there)
