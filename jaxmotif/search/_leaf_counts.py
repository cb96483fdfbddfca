"""The number of ways to map the leaves of a query, in closed form.

Leaves are query nodes that are adjacent only to earlier nodes. Once those have their images, leaf x may go to any node
of a set S_x of common candidates. The ways to map leaves with disjoint domains are multiplied. Leaves that compete for
nodes give a product too, if the set of one of them, the outermost, holds all candidates of the others: however the r
others are mapped, ``|S_x| - r`` nodes are left for it. Leaves without an outermost one form a group. By inclusion and
exclusion over set partitions, a group has

    sum over partitions P of prod over blocks B of (-1)^(|B| - 1) (|B| - 1)! |intersection of S_x, x in B, unused|

injective maps. In a program a group is a list of terms, and a term is a coefficient and factors, one for each block;
an outermost leaf is a group of one term. The size of a single set is the length of a candidate list. The size of an
intersection is the number of ones in the AND of bit rows, over a numbering of the group's domain in which 0 means
outside. From the size, a factor subtracts ``less``, the number of candidates that other leaves take. A number g of
leaves with equal sets are one factor, ``(|S| - less) (|S| - less - 1) .. (|S| - less - g + 1)``. Where there are fewer
candidates than leaves, a number in this product may be negative; then another one is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxmotif.arrays._bits import ones
from jaxmotif.search._layout import Columns, FactorWords, GroupWords, Reader, SetWords, TermWords, loop, shift_right
from jaxmotif.search._limbs import counts_of


def leaf_ways(io: Reader, table: jax.Array, row: jax.Array, w: jax.Array, where: jax.Array) -> Any:
    """Count the ways to map the leaves, for each lane.

    Args:
      io: reads the program, the tables and the lists.
      table: the table expanded.
      row: int32, the row of each lane.
      w: int32, the node by which each row is extended.
      where: the lanes that ask.

    Returns:
      The ways, in the arithmetic of ``counts_of(io.sizes.limbs)``: 1 without leaves, 0 outside ``where``.
    """
    head = io.table_words(table)
    numbers: Any = counts_of(io.sizes.limbs)  # static: programs are compiled for the width of the numbers
    columns, groups = Columns.of(head), head.groups

    def node(slot):
        return io.column_or_new(columns, slot, row, w, where)

    def group(number, product):
        words = io.record(GroupWords, groups, number)
        terms = words.terms

        def add(index, total):
            term = io.record(TermWords, terms, index)
            factors = term.factors

            def times(index, product):
                size = intersection_size(io, factors, index, node, where)
                leaves = io.record(FactorWords, factors, index).leaves
                # Each leaf leaves one candidate fewer to the next.
                return loop(leaves, lambda taken, product: numbers.scale(product, size - taken), product)

            # In a lane that does not ask all terms are 0.
            coefficient = jnp.where(where, term.coefficient, jnp.int32(0))
            return numbers.add(total, loop(term.num_factors, times, numbers.from_int32(coefficient)))

        return numbers.multiply(product, loop(words.num_terms, add, numbers.from_int32(jnp.zeros_like(w))))

    return loop(head.num_groups, group, numbers.from_int32(where.astype(jnp.int32)))


def intersection_size(
    io: Reader, first: jax.Array, number: jax.Array, node: Callable[[jax.Array], jax.Array], where: jax.Array
) -> jax.Array:
    """Return the size of an intersection of sets, int32, as a factor of a term.

    Args:
      io: reads the program, the tables and the lists.
      first: the place of the first factor of a row of factors.
      number: which factor of the row it is.
      node: returns the nodes of a slot.
      where: the lanes that ask.
    """
    factor = io.record(FactorWords, first, number)
    sets, num_used, users, words, ranks = factor.num_sets, factor.num_used, factor.used, factor.words, factor.ranks
    places, less = factor.sets, factor.less
    single_set = io.record(SetWords, places)
    none = jnp.zeros_like(sets)
    # The size of a single set is known from the offsets; several sets are intersected word by word, as bit rows. The
    # loops of the other case take no turn.
    single = sets == 1
    anchor = node(single_set.slot)
    has_one, place = single & where, single_set.list + anchor
    size = io.load(io.op.offsets, place + 1, has_one) - io.load(io.op.offsets, place, has_one)
    size = jnp.where(has_one, size, 0)

    def leave_out_listed(index, size):
        u = node(io.word(users + index))
        # A used node is subtracted only where the set contains it: in the leaf's domain, and next to the anchor.
        domain = io.load(io.op.domains, single_set.domain + u, where)
        inside = shift_right(domain, single_set.bit) & 1
        return size - (inside & io.is_adjacent(anchor, u, single_set, where & (inside > 0)))

    def intersect(word):
        """Return the AND of one word of every set's bit row."""

        def narrow(index, bits):
            item = io.record(SetWords, places, index)
            here = item.rows + node(item.slot) * words + word
            # XOR with -1 gives the complement. Each factor also has the set of an anchor, which keeps it in the domain.
            return bits & (io.load(io.op.leaf_rows, here, where) ^ item.flip)

        return loop(sets, narrow, jnp.full_like(anchor, -1))  # before the first set the word is all ones

    def count(word, size):
        return size + jnp.where(where, ones(intersect(word)), 0)

    def leave_out_ranked(index, size):
        rank = io.load(io.op.leaf_ranks, ranks + node(io.word(users + index)), where)
        # The intersection was not stored: the word with the rank of a used node is made again.
        bits = intersect(shift_right(rank, 5))
        return size - (shift_right(bits, rank & 31) & 1)

    size = loop(jnp.where(single, num_used, none), leave_out_listed, size)
    size = loop(jnp.where(single, none, words), count, size)
    return loop(jnp.where(single, none, num_used), leave_out_ranked, size) - less
