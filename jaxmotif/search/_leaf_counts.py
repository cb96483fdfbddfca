"""The independent suffix of a query, counted in closed form: how many ways its leaves can be mapped.

Leaves are query nodes that are adjacent to earlier nodes alone. Given the images of those, leaf x may go to the set
S_x of common candidates, and leaves of disjoint domains multiply. So do leaves that compete for nodes, if S_x holds all
candidates of the others: however r others are mapped, ``|S_x| - r`` are left for it. What no leaf is the outermost of
forms a group; by inclusion and exclusion over set partitions, a group has

    sum over partitions P of prod over blocks B of (-1)^(|B| - 1) (|B| - 1)! |intersection of S_x, x in B, unused|

injective maps. In a program a group is a list of terms, a term a coefficient and factors, one for each block; outermost
leaves are groups of one term. The size of one set is the length of a candidate list; of several, the ones in the AND of
their bit rows, over a numbering of the group's domain in which 0 means outside. A factor counts ``less`` fewer than its
size; g leaves of equal sets are one factor, ``(|S| - less) (|S| - less - 1) .. (|S| - less - g + 1)``. Where there are
fewer candidates than leaves it may have a negative number in it, and another factor that is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxmotif.arrays._bits import ones
from jaxmotif.search._layout import (
    Columns,
    FactorWords,
    GroupWords,
    Reader,
    SetWords,
    TermWords,
    loop,
    shift_right,
)
from jaxmotif.search._limbs import counts_of


def leaf_ways(io: Reader, table: jax.Array, row: jax.Array, w: jax.Array, where: jax.Array) -> Any:
    """Ways to map the leaves for each lane, in the arithmetic of ``counts_of(io.sizes.limbs)`` (1 without leaves); 0
    outside ``where``.

    Args:
      table: the table expanded. row: int32 rows. w: int32 nodes the rows are extended by.
    """
    head = io.of_table(table)
    # Static: how wide the numbers are is compiled for.
    numbers: Any = counts_of(io.sizes.limbs)  # int64 or limbs: what it takes is what it gives
    columns, groups = Columns.of(head), head.groups

    def node(slot):
        return io.column_or(columns, slot, row, w, where)

    def group(number, product):
        words = io.record(GroupWords, groups, number)
        terms = words.terms

        def add(index, total):
            term = io.record(TermWords, terms, index)
            factors = term.factors

            def times(index, product):
                size = intersection_size(io, factors, index, node, where)
                leaves = io.record(FactorWords, factors, index).leaves
                # Each leaf takes one candidate from those after it.
                return loop(leaves, lambda taken, product: numbers.scaled(product, size - taken), product)

            # A lane that does not ask has all terms 0.
            coefficient = jnp.where(where, term.coefficient, jnp.int32(0))
            return numbers.add(total, loop(term.num_factors, times, numbers.of(coefficient)))

        return numbers.multiply(product, loop(words.num_terms, add, numbers.of(jnp.zeros_like(w))))

    return loop(head.num_groups, group, numbers.of(where.astype(jnp.int32)))


def intersection_size(
    io: Reader, first: jax.Array, number: jax.Array, node: Callable[[jax.Array], jax.Array], where: jax.Array
) -> jax.Array:
    """A factor, of several in a row the one of a number: int32 (``node``: of a slot)."""
    factor = io.record(FactorWords, first, number)
    sets, num_used, users, words, ranks = factor.num_sets, factor.num_used, factor.used, factor.words, factor.ranks
    places, less = factor.sets, factor.less
    only = io.record(SetWords, places)
    none = jnp.zeros_like(sets)
    # One set: its size is known from the offsets. Several: their bit rows are met, word by word. A program has either,
    # and the loops of the other take no turn.
    single = sets == 1
    anchor = node(only.slot)
    one, place = single & where, only.list + anchor
    size = io.load(io.op.offsets, place + 1, one) - io.load(io.op.offsets, place, one)
    size = jnp.where(one, size, 0)

    def leave_out_listed(index, size):
        u = node(io.word(users + index))
        # A used node is taken off only where the set has it: in the leaf's domain, and next to the anchor.
        domain = io.load(io.op.domains, only.domain + u, where)
        inside = shift_right(domain, only.bit) & 1
        return size - (inside & io.adjacent(anchor, u, only, where & (inside > 0)))

    def meet(word):
        """AND of one word of every set's bit row."""

        def narrow(index, bits):
            item = io.record(SetWords, places, index)
            here = item.rows + node(item.slot) * words + word
            # XOR with -1 is the complement; each factor has an anchor's set, too, which keeps it in the domain.
            return bits & (io.load(io.op.leaf_rows, here, where) ^ item.flip)

        # All ones: nothing is left out yet.
        return loop(sets, narrow, jnp.full_like(anchor, -1))

    def count(word, size):
        return size + jnp.where(where, ones(meet(word)), 0)

    def leave_out_ranked(index, size):
        rank = io.load(io.op.leaf_ranks, ranks + node(io.word(users + index)), where)
        # The intersection is not kept: its word with a used node's rank is met again.
        bits = meet(shift_right(rank, 5))
        return size - (shift_right(bits, rank & 31) & 1)

    size = loop(jnp.where(single, num_used, none), leave_out_listed, size)
    size = loop(jnp.where(single, none, words), count, size)
    return loop(jnp.where(single, none, num_used), leave_out_ranked, size) - less
