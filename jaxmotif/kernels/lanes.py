"""How the kernels of the level search read: programs, tables and lists, per lane, in XLA and in Pallas alike.

What to test is data: int32 programs, read by one kernel that serves every level and query. A program starts with
:data:`HEADER` integers for the whole search and as many for each table; these point to lists of what a table's rows
are tested for: pairs with earlier nodes, each ``(slot, list, matrix)``, or plain slots. A slot is a column of the
rows expanded (-1: no column), a list the place of a candidate list in ``offsets``, a matrix the place of a bit
matrix in ``bitmap``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.kernels import expand as ex
from jaxmotif.kernels.expand import take

HEADER = 20

STRIDE, SEARCH_STEPS, NUM_TABLES, MOST_ROWS, FIRST_STEPS = range(5)
"""Of the search: words of a bit matrix row, steps of a binary search, tables to expand, rows a window may have, steps
of its first dispatch."""

(
    NUM_ANCHORS, ANCHORS, NUM_APART, APART, NUM_BELOW, BELOW, NUM_STRANGERS, STRANGERS, NUM_COLUMNS, COLUMNS,
    BASE, NEXT_BASE, ROOM, NEXT_ROOM, IS_LAST, NUM_GROUPS, GROUPS, NUM_AHEAD, AHEAD,
) = range(19)  # fmt: skip
"""Of a table: pairs that allow candidates; slots the new node must differ from, or exceed; pairs that must not be
adjacent; slots to append (-1: the new node); first entries of this table and the next, and the rows each has room
for; whether matches are counted here; groups of leaves, and blocks that must not be empty
(:mod:`jaxmotif.kernels.weigh`)."""


class Operands(NamedTuple):
    """What a search reads, int32 arrays of one axis (see :class:`jaxmotif.search.Program`)."""

    program: Any
    offsets: Any
    entries: Any
    bitmap: Any
    domains: Any
    leaf_rows: Any
    leaf_ranks: Any


class Sizes(NamedTuple):
    """Static sizes: most flat positions a step, rows a window; whether bit matrices are there, whether the program
    looks ahead, and whether it has leaves to count."""

    block: int
    window: int
    bitmap: bool
    ahead: bool = False
    leaves: bool = True


class Lanes(NamedTuple):
    """How the shared bodies read: ``load(array, index, where)`` per lane, ``at(array, index)`` one value."""

    load: Any
    at: Any
    op: Any
    table: Any
    sizes: Sizes

    def program(self, index: Any) -> Any:
        return self.at(self.op.program, index)

    def columns(self, table: Any) -> tuple[Any, Any]:
        """Where a table's columns start: the first, and how far they are apart."""
        return self.program(level(table) + BASE), self.program(level(table) + ROOM)

    def column(self, columns: tuple[Any, Any], slot: Any, row: Any, missing: Any, where: Any) -> Any:
        """Column ``slot`` of some rows; ``missing`` where the slot is -1."""
        place = columns[0] + jnp.maximum(slot, jnp.int32(0)) * columns[1] + row
        return jnp.where(slot < 0, missing, self.load(self.table, place, where & (slot >= 0)))

    def adjacent(self, u: Any, w: Any, pair: Any, where: Any) -> Any:
        """Whether w is u's neighbour, int32: by the bit matrix, or by search in the list of u."""
        place, matrix = self.program(pair + 1), self.program(pair + 2)
        if self.sizes.bitmap:
            word = self.load(self.op.bitmap, matrix + u * self.program(STRIDE) + shift_right(w, 5), where)
            return shift_right(word, w & 31) & 1
        return self.listed(u, w, place, where)

    def listed(self, u: Any, w: Any, place: Any, where: Any) -> Any:
        """Whether w is in the list of u, int32."""
        low, end = self.load(self.op.offsets, place + u, where), self.load(self.op.offsets, place + u + 1, where)
        low = self.first_from(w, low, end, where, self.program(SEARCH_STEPS))
        inside = where & (low < end)
        return (inside & (self.load(self.op.entries, low, inside) == w)).astype(jnp.int32)

    def first_from(self, w: Any, low: Any, end: Any, where: Any, halvings: Any) -> Any:
        """The place of the first of some ascending entries that is at least w."""

        def halve(_, bounds):
            a, b = bounds
            middle = ex.half(a + b)
            active = where & (a < b)
            less = self.load(self.op.entries, middle, active) < w
            return jnp.where(active & less, middle + 1, a), jnp.where(active & ~less, middle, b)

        return loop(halvings, halve, (low, end))[0]


def loop(count: Any, body: Any, init: Any) -> Any:
    return lax.fori_loop(jnp.int32(0), count, body, init)


def shift_right(x: Any, by: Any) -> Any:
    return lax.shift_right_logical(x, jnp.zeros_like(x) + by)


def level(table: Any) -> Any:
    """Where a table's part of a program starts."""
    return HEADER + table * HEADER


def xla_lanes(op: Operands, table: jax.Array, sizes: Sizes) -> Lanes:
    """Reading arrays; lanes left out read entry 0."""
    return Lanes(masked_take, take, op, table, sizes)


def kernel_lanes(op: Operands, table: Any, sizes: Sizes) -> Lanes:
    """Reading the operands of a Triton kernel."""
    return Lanes(ex.load, lambda ref, index: ref[index], op, table, sizes)


def masked_take(array: jax.Array, index: jax.Array, where: jax.Array) -> jax.Array:
    """Gather; lanes left out read entry 0."""
    return take(array, jnp.where(where, index, 0))
