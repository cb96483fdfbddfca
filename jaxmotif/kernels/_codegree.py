"""4-cycles through every edge, by codegree: L(v, w) wedges v - u - w close L - 1 cycles over each of their edges.

The wedges come grouped by v. Where v has many of them (heavy), L is counted in a dense row of N counters. Where it
has few (light), whole blocks of nodes v share a small hash table: each pair writes its key into its slot, the pairs
whose key survived are counted exactly, the others try again with another salt. Memory is bounded for any graph.
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

from jaxmotif.graph._order import DegreeOrder
from jaxmotif.kernels._expand import FlatWork, flat_work, long, search_method, take
from jaxmotif.kernels._scatter import WHOLE_LINES, accumulator, add_at, put_at
from jaxmotif.kernels._wedges import WedgeBlock, wedge_block, wedge_lengths

_FIELDS = ("heavy", "light", "heavy_row", "heavy_starts", "light_starts", "heavy_count")


@partial(jax.tree_util.register_dataclass, data_fields=_FIELDS, meta_fields=())
@dataclasses.dataclass(frozen=True, eq=False)
class CodegreePlan:
    """How the wedges are counted.

    Attributes:
      heavy, light: the wedges of heavy and of light nodes v.
      heavy_row: int32 ``[N]``, running number of each heavy node.
      heavy_starts: int64 ``[N + 1]``, first heavy wedge of each heavy node by running number (then the total).
      light_starts: int64 ``[N + 1]``, first light wedge of each node (then the total).
      heavy_count: int32, how many nodes are heavy.
    """

    heavy: FlatWork
    light: FlatWork
    heavy_row: Any
    heavy_starts: Any
    light_starts: Any
    heavy_count: Any


def codegree_plan(xp: ModuleType, order: DegreeOrder, most_light: int, fill: int) -> CodegreePlan:
    """Split the wedges into heavy and light ones (``xp`` as in :func:`flat_work`).

    A node is heavy when its wedges fill one part in ``fill`` of a dense row, or number more than ``most_light``.
    """
    nodes = order.node_capacity
    lengths = wedge_lengths(xp, order)
    # Positions of `in_arc` are grouped by head: differences of one running sum are the wedges of each v.
    ends = _starts(xp, lengths.astype(np.int64))
    per_node = ends[order.in_offsets[1:]] - ends[order.in_offsets[:-1]]
    heavy = (per_node * fill >= nodes) | (per_node > most_light)
    is_heavy = heavy[order.head[order.in_arc]]
    none, zero = xp.zeros_like(lengths), xp.zeros_like(per_node)
    # By a sort, which keeps the size as it is (a compiled program has no other).
    heavy_nodes = xp.sort(xp.where(heavy, xp.arange(nodes, dtype=np.int32), np.int32(nodes)))
    real = heavy_nodes < nodes
    return CodegreePlan(
        heavy=flat_work(xp, xp.where(is_heavy, lengths, none)),
        light=flat_work(xp, xp.where(is_heavy, none, lengths)),
        heavy_row=(xp.cumsum(heavy.astype(np.int32)) - 1).astype(np.int32),
        heavy_starts=_starts(xp, xp.where(real, per_node[xp.where(real, heavy_nodes, np.int32(0))], zero)),
        light_starts=_starts(xp, xp.where(heavy, zero, per_node)),
        heavy_count=heavy.sum(dtype=np.int32),
    )


def _starts(xp: ModuleType, lengths: np.ndarray | jax.Array) -> Any:
    return xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(lengths)])


def light_cycles(
    order: DegreeOrder, plan: CodegreePlan, cycles: jax.Array, first: jax.Array, stop: jax.Array,
    *, block: int, slots: int, most_light: int,
) -> jax.Array:  # fmt: skip
    """Add the 4-cycles whose highest node is light and in a range of ranks, block by block.

    Args:
      cycles: int64 accumulator over arcs, or an int64 scalar for the total over arcs.
      first, stop: int32 scalars, ranks.
      block, slots: static; positions a block (more than ``most_light``), and hash slots (a power of two, several
        times ``block``).
      most_light: static, as the plan was made with.
    """
    # A block ends at the first node boundary past a multiple of `step`, so it never holds more than `block` wedges.
    step, shift = block - most_light, 33 - slots.bit_length()  # a product's highest log2(slots) bits
    spare = slots | WHOLE_LINES
    start, end = take(plan.light_starts, first), take(plan.light_starts, stop)

    def cut(number):
        mark = start + long(number) * step
        at = jnp.searchsorted(plan.light_starts, mark, method=search_method())
        return jnp.minimum(take(plan.light_starts, at), end)

    def one_block(number, state):
        owner, count, cycles = state
        found = wedge_block(order, plan.light, cut(number), cut(number + 1), block=block)
        found = found._replace(v=jnp.where(found.valid, found.v, 0), w=jnp.where(found.valid, found.w, 0))
        key = (found.v.astype(jnp.int64) << 32) | found.w.astype(jnp.int64)
        # Mixed once (odd primes of xxHash); an attempt only multiplies by its salt.
        mixed = found.v.astype(jnp.uint32) * jnp.uint32(0x9E3779B1)
        mixed = mixed ^ (found.w.astype(jnp.uint32) * jnp.uint32(0x85EBCA77))
        mixed = mixed ^ (mixed >> jnp.uint32(15))

        def attempt(state):
            owner, count, waiting, codegree, salt = state
            slot = (mixed * salt >> jnp.uint32(shift)).astype(jnp.int32)
            slot = jnp.where(waiting, slot, spare)
            # One of a slot's keys wins whole, and all wedges of its pair are in that slot: they have all won.
            owner = put_at(owner, slot, key)
            won = waiting & (take(owner, slot) == key)
            slot = jnp.where(won, slot, spare)
            # So the winners' counts are exact codegrees, with no other pair's wedges among them.
            count = add_at(count, slot, jnp.int32(1))
            codegree = jnp.where(won, take(count, slot), codegree)
            # Only winners' slots were raised: putting those back is less than clearing the table. Where to is made to
            # depend on what was read, or XLA keeps two copies of the table, for fear of writing before reading.
            count = put_at(count, jnp.where(codegree > 0, slot, spare), jnp.int32(0))
            return owner, count, waiting & ~won, codegree, salt * jnp.uint32(0x2C1B3C6D) + jnp.uint32(0x3C6EF372)

        # Salts stay odd: an odd multiplier permutes, so two pairs that clash once are apart before long.
        start = (owner, count, found.valid, jnp.ones(block, jnp.int32), jnp.uint32(0x297A2D39))
        owner, count, _, codegree, _ = lax.while_loop(lambda state: jnp.any(state[2]), attempt, start)
        return owner, count, _close(cycles, found, codegree)

    # Never cleared: a slot is read only after a key of the same attempt was written to it.
    owner = accumulator(spare, jnp.int64)
    count = accumulator(spare, jnp.int32)
    return lax.fori_loop(jnp.int32(0), _steps(end - start, step), one_block, (owner, count, cycles))[2]


def heavy_cycles(
    order: DegreeOrder, plan: CodegreePlan, cycles: jax.Array, first: jax.Array, stop: jax.Array,
    *, block: int, rows: int,
) -> jax.Array:  # fmt: skip
    """Add the 4-cycles whose highest node is in a range of heavy nodes, ``rows`` dense rows of N counters at a time.

    Args:
      cycles: int64 accumulator over arcs, or an int64 scalar for the total over arcs.
      first, stop: int32 scalars, running numbers of heavy nodes.
      block, rows: static.
    """
    nodes = order.node_capacity
    spare = rows * nodes | WHOLE_LINES

    def one_group(group, cycles):
        row = first + group * rows
        start, end = take(plan.heavy_starts, row), take(plan.heavy_starts, jnp.minimum(row + rows, stop))

        def wedges(number):
            here = start + long(number) * block
            found = wedge_block(order, plan.heavy, here, end, block=block)
            v, w = jnp.where(found.valid, found.v, 0), jnp.where(found.valid, found.w, 0)
            return found, jnp.where(found.valid, (take(plan.heavy_row, v) - row) * nodes + w, spare)

        def count(number, table):
            return add_at(table, wedges(number)[1], jnp.int32(1))

        def close(number, cycles):
            found, cell = wedges(number)
            return _close(cycles, found, take(table, cell))

        blocks = _steps(end - start, block)
        table = lax.fori_loop(jnp.int32(0), blocks, count, accumulator(spare, jnp.int32))
        if cycles.ndim == 0:  # the counters say it without the wedges
            cells = jnp.minimum(rows, stop - row) * nodes
            return cycles + 2 * _closed(table, rows * nodes, cells, min(4 * block, rows * nodes))
        # The wedges are found twice, to count and to close: to keep them would take memory by their number.
        return lax.fori_loop(jnp.int32(0), blocks, close, cycles)

    return lax.fori_loop(jnp.int32(0), _steps(stop - first, rows), one_group, cycles)


def _closed(table: jax.Array, size: int, cells: jax.Array, part: int) -> jax.Array:
    """The sum of L (L - 1), which L wedges of one pair close, over the first ``cells`` counters of ``size`` (static),
    ``part`` (static) at a time; those past them are 0."""

    def step(number: jax.Array, total: jax.Array) -> jax.Array:
        first = number * part
        # The last part may have to begin before its time: what was read already is left out.
        start = jnp.minimum(first, size - part)
        here = lax.dynamic_slice(table, (start,), (part,))
        codegree = jnp.where(start + jnp.arange(part, dtype=jnp.int32) >= first, here, 0).astype(jnp.int64)
        return total + (codegree * (codegree - 1)).sum()

    return lax.fori_loop(jnp.int32(0), _steps(cells, part), step, jnp.zeros((), jnp.int64))


def _steps(work: jax.Array, step: int) -> jax.Array:
    return (-(-jnp.maximum(work, 0) // step)).astype(jnp.int32)


def _close(cycles: jax.Array, found: WedgeBlock, codegree: jax.Array) -> jax.Array:
    """Each wedge of a pair of codegree L lies in L - 1 4-cycles, with both its arcs."""
    closed = (codegree - 1).astype(jnp.int64)
    if cycles.ndim == 0:
        return cycles + 2 * jnp.where(found.valid, closed, 0).sum()  # each with both its arcs
    none = jnp.int32(cycles.shape[0] - 1)
    for arc in (found.uv, found.uw):
        cycles = add_at(cycles, jnp.where(found.valid, arc, none), closed)
    return cycles
