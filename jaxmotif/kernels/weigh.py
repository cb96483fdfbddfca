"""The independent suffix of a query, counted in closed form: how many ways its leaves can be mapped.

Leaves are query nodes that are adjacent to earlier nodes alone. Given the images of those, leaf x may go to the set
S_x of common candidates, and leaves of disjoint domains multiply. Leaves that compete for nodes form a group; by
inclusion and exclusion over set partitions, a group has

    sum over partitions P of prod over blocks B of (-1)^(|B| - 1) (|B| - 1)! |intersection of S_x, x in B, unused|

injective maps. A program lists groups ``(terms, pointer)``, terms ``(coefficient, blocks, pointer)``, blocks ``(sets,
pointer, used, pointer, words, ranks, less)`` and the sets of a block ``(slot, list, matrix, rows, domain, bit,
flip)``. The size of one set is the length of a candidate list; of several, the ones in the AND of their bit rows, over
a numbering (``ranks``) of the group's domain in which 0 means outside; ``flip`` is -1 for the complement of a set. A
block counts ``less`` fewer than its size, so that g leaves of equal sets are one term of g blocks,
``|S| (|S| - 1) .. (|S| - g + 1)``.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.kernels.lanes import GROUPS, NUM_GROUPS, Lanes, level, loop, shift_right

TERM, BLOCK, SET = 3, 7, 7


def leaf_weight(io: Lanes, table: Any, row: Any, w: Any, where: Any) -> Any:
    """Ways to map the leaves for each lane, int64 (1 without leaves); 0 outside ``where``.

    Args:
      io: how to read.
      table: the table expanded. row: int32 rows. w: int32 nodes the rows are extended by.
    """
    head = level(table)
    columns, groups = io.columns(table), io.program(head + GROUPS)

    def node(slot):
        return io.column(columns, slot, row, w, where)

    def weigh(number, product):
        at = groups + 2 * number
        first = io.program(at + 1)

        def add(index, total):
            return _add(total, _term(io, first + TERM * index, node, where))

        return _multiply(product, loop(io.program(at), add, _wide(jnp.zeros_like(w))))

    return loop(io.program(head + NUM_GROUPS), weigh, _wide(where.astype(jnp.int32)))


def _term(io: Lanes, term: Any, node: Any, where: Any) -> Any:
    first = io.program(term + 2)

    def times(index, product):
        return _multiply(product, _wide(block_size(io, first + BLOCK * index, node, where)))

    coefficient = jnp.where(where, io.program(term), jnp.int32(0))
    return loop(io.program(term + 1), times, _wide(coefficient))


def block_size(io: Lanes, block: Any, node: Any, where: Any) -> Any:
    """The size of the intersection of a block's sets without the nodes in use, int32 (``node``: of a slot)."""
    sets, first, used, users, words, ranks, less = (io.program(block + i) for i in range(BLOCK))
    none = jnp.zeros_like(sets)
    single = sets == 1
    a = node(io.program(first))
    one, place = single & where, io.program(first + 1) + a
    size = io.load(io.op.offsets, place + 1, one) - io.load(io.op.offsets, place, one)
    size = jnp.where(one, size, 0)

    def unlist(index, size):
        u = node(io.program(users + index))
        domain = io.load(io.op.domains, io.program(first + 4) + u, where)
        inside = shift_right(domain, io.program(first + 5)) & 1
        return size - (inside & io.adjacent(a, u, first, where & (inside > 0)))

    def meet(word):
        """AND of one word of every set's bit row."""

        def narrow(index, bits):
            at = first + SET * index
            here = io.program(at + 3) + node(io.program(at)) * words + word
            return bits & (io.load(io.op.leaf_rows, here, where) ^ io.program(at + 6))

        return loop(sets, narrow, jnp.full_like(a, -1))

    def count(word, size):
        return size + jnp.where(where, ones(meet(word)), 0)

    def unmeet(index, size):
        rank = io.load(io.op.leaf_ranks, ranks + node(io.program(users + index)), where)
        bits = meet(shift_right(rank, 5))
        return size - (shift_right(bits, rank & 31) & 1)

    size = loop(jnp.where(single, used, none), unlist, size)
    size = loop(jnp.where(single, none, words), count, size)
    return loop(jnp.where(single, none, used), unmeet, size) - less


def ones(x: Any) -> Any:
    """Set bits of int32 words (by halves: Triton's lowering of population_count fails on jax 0.11)."""
    x = lax.bitcast_convert_type(x, jnp.uint32)
    u = jnp.uint32
    x = x - ((x >> u(1)) & u(0x55555555))
    x = (x & u(0x33333333)) + ((x >> u(2)) & u(0x33333333))
    return ((((x + (x >> u(4))) & u(0x0F0F0F0F)) * u(0x01010101)) >> u(24)).astype(jnp.int32)


def _wide(x: Any) -> Any:
    with jax.enable_x64(True):
        return lax.convert_element_type(x, jnp.int64)


def _multiply(x: Any, y: Any) -> Any:
    with jax.enable_x64(True):
        return lax.mul(x, y)


def _add(x: Any, y: Any) -> Any:
    with jax.enable_x64(True):
        return lax.add(x, y)
