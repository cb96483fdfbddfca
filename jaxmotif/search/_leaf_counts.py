"""The number of ways to map the leaves of a query, in closed form.

Leaves are query nodes that are adjacent only to earlier nodes. Once those have their images, leaf x may go to any node
of a set S_x of common candidates, and the numbers of leaves with disjoint domains are multiplied. So are those of
leaves that compete for nodes, if the set of one of them, the outermost, holds all candidates of the others: however the
r others are mapped, ``|S_x| - r`` nodes are left for it. Leaves without an outermost one form a group. By inclusion and
exclusion over set partitions, a group has

    sum over partitions P of prod over blocks B of (-1)^(|B| - 1) (|B| - 1)! |intersection of S_x, x in B, unused|

injective maps. In a program a group is a list of terms, and a term is a coefficient and factors, one for each block;
an outermost leaf is a group of one term. The size of a single set is the length of a candidate list. The size of an
intersection is the number of ones in the AND of bit rows, over a numbering of the group's domain in which 0 means
outside; or, where these would be long, a column, which an earlier table has counted. A factor is ``less`` below its
size, and g leaves with equal sets are one factor, ``(|S| - less) (|S| - less - 1) .. (|S| - less - g + 1)``. Where
there are fewer candidates than leaves, a factor may be negative; then another one is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from jaxmotif.arrays._bits import ones
from jaxmotif.search._layout import (
    NO_COLUMN,
    Columns,
    FactorWords,
    GroupWords,
    Reader,
    SetWords,
    TermWords,
    loop,
)
from jaxmotif.search._limbs import counts_of


def leaf_ways(io: Reader, table: jax.Array, row: jax.Array, w: jax.Array, where: jax.Array, turns: Any) -> Any:
    """Count the ways to map the leaves, for each lane.

    Args:
      io: reads the program, the tables and the lists.
      table: the table expanded.
      row: int32, the row of each lane.
      w: int32, the node, or the number of candidates, by which each row is extended.
      where: the lanes that ask.
      turns: int32, 0 where no lane asks, so that no loop takes a turn; else 1.

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
                factor = io.record(FactorWords, factors, index)
                size = intersection_size(io, factor, node, where)
                # Each leaf leaves one candidate fewer to the next.
                return loop(factor.leaves, lambda taken, product: numbers.scale(product, size - taken), product)

            # In a lane that does not ask all terms are 0.
            coefficient = jnp.where(where, term.coefficient, jnp.int32(0))
            return numbers.add(total, loop(term.num_factors, times, numbers.from_int32(coefficient)))

        return numbers.multiply(product, loop(words.num_terms, add, numbers.from_int32(jnp.zeros_like(w))))

    return loop(turns * head.num_groups, group, numbers.from_int32(where.astype(jnp.int32)))


def intersection_size(
    io: Reader, factor: FactorWords, node: Callable[[jax.Array], jax.Array], where: jax.Array
) -> jax.Array:
    """Return the size of an intersection of sets, int32, as a factor of a term.

    Args:
      io: reads the program, the tables and the lists.
      factor: the words of the factor.
      node: returns the nodes of a slot.
      where: the lanes that ask.
    """
    sets, places, users, words, column = factor.num_sets, factor.sets, factor.used, factor.words, factor.column
    none = jnp.zeros_like(sets)
    # The size of a single set is known from the offsets, and other sizes are in columns; or else several sets are
    # intersected word by word, as bit rows.
    single = (words == 0) & (column == NO_COLUMN)
    single_set = io.record(SetWords, places)
    value = node(jnp.where(single, single_set.slot, column))
    has_one, place = where & single, single_set.list + value
    size = io.load(io.op.offsets, place + 1, has_one) - io.load(io.op.offsets, place, has_one)
    size = jnp.where(has_one, size, jnp.where(column == NO_COLUMN, 0, value))

    def count(word, size):
        def narrow(index, bits):
            item = io.record(SetWords, places, index)
            return bits & io.load(io.op.leaf_rows, item.rows + node(item.slot) * words + word, where)

        bits = loop(sets, narrow, jnp.full_like(size, -1))  # before the first set the word is all ones
        return size + jnp.where(where, ones(bits), 0)

    # A used node is subtracted only where the sets contain it: in the leaf's domain, and next to the anchor.
    def leave_out_of_one(index, size):
        u = node(io.word(users + index))
        inside = io.is_allowed(single_set.leaf, u, where)
        return size - (inside & io.is_adjacent(value, u, single_set, where & (inside > 0)))

    def leave_out_of_all(index, size):
        u = node(io.word(users + index))

        def contains(number, inside):
            item = io.record(SetWords, places, number)
            inside = inside & io.is_allowed(item.leaf, u, inside > 0)
            return inside & io.is_adjacent(node(item.slot), u, item, inside > 0)

        return size - loop(sets, contains, where.astype(jnp.int32))

    # The loops of the other case take no turn.
    size = loop(jnp.where(single, factor.num_used, none), leave_out_of_one, loop(words, count, size))
    return loop(jnp.where(single, none, factor.num_used), leave_out_of_all, size) - factor.less
