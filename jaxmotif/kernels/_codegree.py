"""4-cycles through every edge, by codegree.

Two nodes v and w of codegree L(v, w) have L wedges v - u - w, each of which is in L - 1 4-cycles. The wedges come
grouped by v. A node v with many wedges is heavy, and its L are counted in a dense row of n counters. Other nodes are
light, and whole blocks of them share a small hash table. Each pair (v, w) writes its key into a slot of the table. The
pairs whose keys are then in their slots are counted exactly, and the others try again with another salt. Memory is
bounded for any graph.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmotif.arrays._rows import offsets_from, places_of_true
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.kernels._expand import FlatWork, blocks_of, flat_work, long, search_method, take
from jaxmotif.kernels._scatter import WHOLE_LINES, accumulator, add_at, put_at
from jaxmotif.kernels._wedges import WedgeBlock, wedge_block, wedge_lengths


class CodegreePlan(NamedTuple):
    """The wedges of heavy and of light nodes, laid out.

    Attributes:
      heavy: The wedges of heavy nodes v.
      light: The wedges of light nodes v.
      heavy_row: The running number of each heavy node, int32 ``[N]``.
      heavy_starts: The first heavy wedge of each heavy node by running number, then the total; int64 ``[N + 1]``.
      light_starts: The first light wedge of each node, then the total; int64 ``[N + 1]``.
      heavy_count: The number of heavy nodes, int32.
    """

    heavy: FlatWork
    light: FlatWork
    heavy_row: Any
    heavy_starts: Any
    light_starts: Any
    heavy_count: Any


def codegree_plan(xp: ModuleType, order: DegreeOrder, most_light: int, fill: int) -> CodegreePlan:
    """Divide the wedges into those of heavy and those of light nodes.

    Args:
      xp: NumPy, or jax.numpy in its 64-bit mode.
      order: The graph.
      most_light: The number of wedges of a light node at most.
      fill: A node is also heavy if it has at least one wedge for every ``fill`` counters of a dense row. A row has one
        counter for each node that is not padding.
    """
    nodes = order.node_capacity
    lengths = wedge_lengths(xp, order)
    # Positions of `in_arc` are grouped by head, so that differences of one running sum are the wedges of each v.
    ends = offsets_from(lengths.astype(np.int64), np.int64)
    per_node = ends[order.in_offsets[1:]] - ends[order.in_offsets[:-1]]
    heavy = (per_node * fill >= xp.maximum(xp.asarray(order.num_nodes, np.int64), 1)) | (per_node > most_light)
    is_heavy = heavy[order.head[order.in_arc]]
    none, zero = xp.zeros_like(lengths), xp.zeros_like(per_node)
    heavy_nodes = places_of_true(heavy)
    real = heavy_nodes < nodes
    return CodegreePlan(
        heavy=flat_work(xp, xp.where(is_heavy, lengths, none)),
        light=flat_work(xp, xp.where(is_heavy, none, lengths)),
        heavy_row=(xp.cumsum(heavy.astype(np.int32)) - 1).astype(np.int32),
        heavy_starts=offsets_from(xp.where(real, per_node[xp.where(real, heavy_nodes, np.int32(0))], zero), np.int64),
        light_starts=offsets_from(xp.where(heavy, zero, per_node), np.int64),
        heavy_count=heavy.sum(dtype=np.int32),
    )


def light_cycles(
    order: DegreeOrder, plan: CodegreePlan, cycles: Array, nodes: Any, *, block: int, slots: int, most_light: int
) -> Array:
    """Add the 4-cycles whose highest node is light and in a range of ranks, block by block.

    Args:
      order: The graph.
      plan: The wedges.
      cycles: The counts to add to: an int64 accumulator over arcs, or an int64 scalar for the total over arcs.
      nodes: The first rank, and the rank to stop before, int32 scalars.
      block: The number of wedges of a block, static, more than ``most_light``.
      slots: The number of slots of the hash table, static, a power of two and several times ``block``.
      most_light: The number with which the plan was made, static.
    """
    # A block ends at the first node boundary past a multiple of `step`, so that it has at most `block` wedges.
    step, shift = block - most_light, 33 - slots.bit_length()  # The shift leaves the highest log2(slots) bits.
    spare = slots | WHOLE_LINES
    start, end = (take(plan.light_starts, node) for node in nodes)

    def cut(number):
        mark = start + long(number) * step
        at = jnp.searchsorted(plan.light_starts, mark, method=search_method())
        return jnp.minimum(take(plan.light_starts, at), end)

    def one_block(number, state):
        owner, count, cycles = state
        wedges = wedge_block(order, plan.light, cut(number), cut(number + 1), block=block)
        wedges = wedges._replace(v=jnp.where(wedges.valid, wedges.v, 0), w=jnp.where(wedges.valid, wedges.w, 0))
        key = (wedges.v.astype(jnp.int64) << 32) | wedges.w.astype(jnp.int64)
        # The keys are mixed once, with odd primes of xxHash; each attempt then only multiplies by its salt.
        mixed = wedges.v.astype(jnp.uint32) * jnp.uint32(0x9E3779B1)
        mixed = mixed ^ (wedges.w.astype(jnp.uint32) * jnp.uint32(0x85EBCA77))
        mixed = mixed ^ (mixed >> jnp.uint32(15))

        def attempt(state):
            owner, count, waiting, codegree, salt = state
            slot = (mixed * salt >> jnp.uint32(shift)).astype(jnp.int32)
            slot = jnp.where(waiting, slot, spare)
            # One key of a slot is written whole. All wedges of its pair have the same slot, and have won together.
            owner = put_at(owner, slot, key)
            won = waiting & (take(owner, slot) == key)
            slot = jnp.where(won, slot, spare)
            # Hence the counts are exact codegrees of the winners, without wedges of other pairs.
            count = add_at(count, slot, jnp.int32(1))
            codegree = jnp.where(won, take(count, slot), codegree)
            # Only the winners' slots are not 0, and resetting those is less work than clearing the table. The slots
            # to reset depend on what was read, or XLA would keep two copies of the table for fear of writing before
            # reading.
            count = put_at(count, jnp.where(codegree > 0, slot, spare), jnp.int32(0))
            return owner, count, waiting & ~won, codegree, salt * jnp.uint32(0x2C1B3C6D) + jnp.uint32(0x3C6EF372)

        # Salts stay odd, and multiplying by an odd number is a permutation, so that pairs with the same slot soon have
        # different ones.
        start = (owner, count, wedges.valid, jnp.ones(block, jnp.int32), jnp.uint32(0x297A2D39))
        owner, count, _, codegree, _ = lax.while_loop(lambda state: jnp.any(state[2]), attempt, start)
        return owner, count, _close(cycles, wedges, codegree)

    # The owners need not be cleared, as a slot is read only after a key of the same attempt was written to it.
    owner = accumulator(spare, jnp.int64)
    count = accumulator(spare, jnp.int32)
    return lax.fori_loop(jnp.int32(0), blocks_of(end - start, step), one_block, (owner, count, cycles))[2]


def heavy_cycles(
    order: DegreeOrder, plan: CodegreePlan, cycles: Array, heavy: Any, *, block: int, counters: int
) -> Array:
    """Add the 4-cycles whose highest node is in a range of heavy nodes.

    A dense row has a counter for each node that is no padding, so that padding takes no time.

    Args:
      order: The graph.
      plan: The wedges.
      cycles: The counts to add to: an int64 accumulator over arcs, or an int64 scalar for the total over arcs.
      heavy: The running number of the first heavy node, and the one to stop before, int32 scalars.
      block: The number of wedges of a block, static.
      counters: The number of counters of all dense rows that are in use at a time, static, at least N.
    """
    (first, stop), nodes, padding = heavy, order.num_nodes, order.node_capacity - order.num_nodes
    rows, spare = jnp.int32(counters) // jnp.maximum(nodes, jnp.int32(1)), counters | WHOLE_LINES

    def one_group(group, cycles):
        row = first + group * rows
        start, end = take(plan.heavy_starts, row), take(plan.heavy_starts, jnp.minimum(row + rows, stop))

        def wedges_and_cells(number):
            here = start + long(number) * block
            wedges = wedge_block(order, plan.heavy, here, end, block=block)
            v, w = jnp.where(wedges.valid, wedges.v, 0), jnp.where(wedges.valid, wedges.w, 0)
            # Padding has the lowest ranks.
            return wedges, jnp.where(wedges.valid, (take(plan.heavy_row, v) - row) * nodes + w - padding, spare)

        def count(number, table):
            return add_at(table, wedges_and_cells(number)[1], jnp.int32(1))

        def close(number, cycles):
            wedges, cell = wedges_and_cells(number)
            return _close(cycles, wedges, take(table, cell))

        blocks = blocks_of(end - start, block)
        table = lax.fori_loop(jnp.int32(0), blocks, count, accumulator(spare, jnp.int32))
        if cycles.ndim == 0:  # The total follows from the counters alone.
            cells = jnp.minimum(rows, stop - row) * nodes
            return cycles + 2 * _sum_closed(table, counters, cells, min(4 * block, counters))
        # The wedges are found twice, to count and to close, because keeping them would take memory for all of them.
        return lax.fori_loop(jnp.int32(0), blocks, close, cycles)

    return lax.fori_loop(jnp.int32(0), blocks_of(stop - first, rows), one_group, cycles)


def _sum_closed(table: Array, size: int, cells: Array, part: int) -> Array:
    """Add L (L - 1), the number of cycles that L wedges of a pair close, over counters.

    Args:
      table: The counters.
      size: The number of counters, static.
      cells: The number of counters in use; those past them are 0.
      part: The number of counters that are added at a time, static.
    """

    def step(number: Array, total: Array) -> Array:
        first = number * part
        # The last part must begin earlier where it would pass the end, and leaves out what was read already.
        start = jnp.minimum(first, size - part)
        here = lax.dynamic_slice(table, (start,), (part,))
        codegree = jnp.where(start + jnp.arange(part, dtype=jnp.int32) >= first, here, 0).astype(jnp.int64)
        return total + (codegree * (codegree - 1)).sum()

    return lax.fori_loop(jnp.int32(0), blocks_of(cells, part), step, jnp.zeros((), jnp.int64))


def _close(cycles: Array, wedges: WedgeBlock, codegree: Array) -> Array:
    """Add the L - 1 4-cycles of each wedge, whose pair has codegree L, to both its arcs."""
    closed = (codegree - 1).astype(jnp.int64)
    if cycles.ndim == 0:
        return cycles + 2 * jnp.where(wedges.valid, closed, 0).sum()
    none = jnp.int32(cycles.shape[0] - 1)
    for arc in (wedges.uv, wedges.uw):
        cycles = add_at(cycles, jnp.where(wedges.valid, arc, none), closed)
    return cycles
