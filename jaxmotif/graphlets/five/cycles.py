"""Counts of 5-cycles at every arc, for graphs whose tables over all pairs of nodes do not fit in memory.

Nodes are compared by rank. Each cycle is found once: as a path i - j - k - l with k < j < i and k < l, together with a
common neighbour x of i and l that is below the higher of them. The table T(i, l) counts the choices of x, and the table
Q(i, l) the paths; cases in which x is on the path are subtracted. Memory holds some rows i of both tables at a time.
The work grows with the number of such paths and of wedges.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._rows import offsets_from
from jaxmotif.graphlets._sparse import loop_in_blocks
from jaxmotif.graphlets.five.graphs import Adjacency, DegreeOrderedGraph
from jaxmotif.kernels._expand import FlatWork, expand, flat_work, long, take


class PathLists(NamedTuple):
    """The paths and wedges of a graph, laid out flat by arc, so that a block of table rows is a stretch of them.

    Attributes:
      lower: int32 ``[N]``, the number of neighbours of lower rank, which come first in every row.
      wedges: for each arc i -> x, the neighbours l of x, or only those above x if x > i.
      wedge_starts: int64 ``[S + 1]``, the first position of each arc in ``wedges``.
      bends, bend_starts: likewise, for each arc i -> j with j < i, the neighbours k < j of j.
      below, between: int64 ``[S]``, the number of triangles at each arc whose third node is below both ends of the arc,
        and of those whose third node is between the two.
    """

    lower: jax.Array
    wedges: FlatWork
    wedge_starts: jax.Array
    bends: FlatWork
    bend_starts: jax.Array
    below: jax.Array
    between: jax.Array


def _adjacent(edges: Adjacency, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return 1 where core nodes are adjacent, else 0, int32; the value is arbitrary where a node is not in the core."""
    return edges.adjacent(*_in_core(edges.graph, x, y))


def _in_core(graph: DegreeOrderedGraph, *nodes: jax.Array) -> list[jax.Array]:
    """Return the numbers that nodes have in the core, 0 for nodes outside it."""
    return [jnp.maximum(x - graph.core, 0) for x in nodes]


@partial(jit64, static_argnames=("block",))
def list_paths(edges: Adjacency, later: jax.Array, *, block: int) -> PathLists:
    """Lay out the paths and wedges of a graph.

    Args:
      later: int32 ``[N]``, how many neighbours of higher number each node has.
      block: how many possible triangles a step looks at.
    """
    graph = edges.graph
    nodes, arcs = graph.leaves.shape[0], graph.heads.shape[0]
    degree = jnp.diff(graph.offsets)
    lower = degree - later
    real = graph.tails < nodes
    tail, head = jnp.minimum(graph.tails, nodes - 1), jnp.minimum(graph.heads, nodes - 1)
    down = real & (head < tail)
    wedges = jnp.where(real & (graph.heads >= graph.core), jnp.where(down, degree[head], later[head]), 0)
    bends = jnp.where(down, lower[head], 0)
    # Triangles k < x < l: for arcs k -> l the arcs k -> x before them.
    slot = jnp.arange(arcs, dtype=jnp.int32)
    first = graph.offsets[tail] + lower[tail]
    work = flat_work(jnp, jnp.where(real & ~down, slot - first, 0))

    def triangles(number: jax.Array, sums: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        arc, offset, valid = expand(work, long(number) * block, work.total, block)
        x, high = take(head, take(first, arc) + jnp.where(valid, offset, 0)), take(head, arc)
        there = valid & (_adjacent(edges, x, high) > 0)
        place = edges.arc(*_in_core(graph, x, high))
        below, between = sums
        one = there.astype(jnp.int64)
        below = below.at[jnp.where(there, place, arcs)].add(one, mode="drop")
        return below, between.at[jnp.where(there, arc, arcs)].add(one, mode="drop")

    none = jnp.zeros(arcs, jnp.int64)
    below, between = loop_in_blocks(jnp.int64(0), work.total, block, triangles, (none, none))
    # So far only upward arcs have their counts, which hold for the reversed arcs as well.
    below, between = (x + x[graph.back] for x in (below, between))
    wedge_starts, bend_starts = (offsets_from(x, jnp.int64) for x in (wedges, bends))
    return PathLists(lower, flat_work(jnp, wedges), wedge_starts, flat_work(jnp, bends), bend_starts, below, between)


@partial(jit64, static_argnames=("rows", "size", "block"), donate_argnums=0)
def add_five_cycles(
    counts: jax.Array, edges: Adjacency, work: PathLists, ends: jax.Array, *, rows: int, size: int, block: int
) -> jax.Array:
    """Add the 5-cycles whose node i is in a range of core nodes, at one of the two arcs of each edge, int64 ``[S]``.

    Args:
      ends: the first core node of the range, and the one past its last.
      rows: static, the largest number of nodes in the range.
      size: static, the number of columns of the tables.
      block: static, how many paths or wedges a step works on.
    """
    graph = edges.graph
    nodes, arcs = graph.leaves.shape[0], graph.heads.shape[0]
    bounds = take(graph.offsets, jnp.minimum(ends + graph.core, nodes))

    def cell(i: jax.Array, other: jax.Array, valid: jax.Array) -> jax.Array:
        return jnp.where(valid, (i - graph.core - ends[0]) * size + other - graph.core, rows * size)

    start, end = take(work.wedge_starts, bounds)

    def wedge(number: jax.Array) -> tuple[jax.Array, ...]:
        """Return wedges i - x - l: the arcs i -> x and x -> l, the nodes, and which wedges are there."""
        arc, offset, valid = expand(work.wedges, start + long(number) * block, end, block)
        i, x = take(graph.tails, arc), take(graph.heads, arc)
        valid = valid & (i < nodes) & (x < nodes)
        i, x = jnp.where(valid, i, 0), jnp.where(valid, x, 0)
        on = take(graph.offsets, x) + jnp.where(x < i, 0, take(work.lower, x)) + jnp.where(valid, offset, 0)
        on = jnp.where(valid, on, 0)
        l = jnp.minimum(take(graph.heads, on), nodes - 1)
        return arc, on, i, x, l, valid & (l != i) & (l >= graph.core)

    def common(number: jax.Array, table: jax.Array) -> jax.Array:
        _, _, i, _, l, valid = wedge(number)
        return table.at[cell(i, l, valid)].add(jnp.ones_like(i), mode="drop")

    none = jnp.zeros(rows * size, jnp.int32)
    table = loop_in_blocks(start, end, block, common, none)
    counts, paths = _paths(counts, none, table, cell, edges, work, bounds, block)

    def close(number: jax.Array, counts: jax.Array) -> jax.Array:
        arc, on, i, x, l, valid = wedge(number)
        found = paths.at[cell(i, l, valid)].get(mode="fill", fill_value=0).astype(jnp.int64)
        # Subtract the paths through x, which have it as their j or as their k.
        found -= jnp.where(x < i, take(work.below, on), 0)
        also = (l < i) & (x < l) & (_adjacent(edges, l, i) > 0)
        found -= jnp.where((x < i) & (x < l), take(work.between, arc) - also.astype(jnp.int64), 0)
        for place in (arc, on):
            counts = counts.at[jnp.where(valid, place, arcs)].add(found, mode="drop")
        return counts

    return loop_in_blocks(start, end, block, close, counts)


def _paths(
    counts: jax.Array,
    paths: jax.Array,
    table: jax.Array,
    cell: Callable[..., jax.Array],
    edges: Adjacency,
    work: PathLists,
    bounds: jax.Array,
    block: int,
) -> tuple[jax.Array, jax.Array]:
    """Count paths i - j - k - l, and add the choices of x that close them to the counts of their arcs.

    Args:
      paths: int32, one table, to which each path is added at the cell of i and l.
      table: int32, the other table, which has the choices of x.
      cell: gives the place of i and l in the tables.
      bounds: the first arc i -> j, and the one past the last.

    Returns:
      The counts and ``paths``.
    """
    graph = edges.graph
    nodes, arcs = graph.leaves.shape[0], graph.heads.shape[0]
    start, end = take(work.bend_starts, bounds)
    later = jnp.diff(graph.offsets) - work.lower

    def bends(number: jax.Array, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        ij, offset, there = expand(work.bends, start + long(number) * block, end, block)
        i, j = (jnp.where(there, take(ends, ij), 0) for ends in (graph.tails, graph.heads))
        jk = jnp.where(there, take(graph.offsets, j) + offset, 0)
        k = jnp.minimum(take(graph.heads, jk), nodes - 1)
        onward = flat_work(jnp, jnp.where(there, take(later, k), 0))

        def walk(number: jax.Array, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
            counts, paths, closed = state
            w, offset, valid = expand(onward, long(number) * block, onward.total, block)
            a, b, c = take(i, w), take(j, w), take(k, w)
            kl = jnp.where(valid, take(graph.offsets, c) + take(work.lower, c) + offset, 0)
            l = jnp.minimum(take(graph.heads, kl), nodes - 1)
            valid = valid & (l != a) & (l != b)
            place = cell(a, l, valid)
            found = table.at[place].get(mode="fill", fill_value=0)
            # Subtract the choices of x that are j or k.
            found = found - _adjacent(edges, b, l) - _adjacent(edges, c, a)
            found = jnp.where(valid, found, 0).astype(jnp.int64)
            counts = counts.at[jnp.where(valid, kl, arcs)].add(found, mode="drop")
            return counts, paths.at[place].add(jnp.ones_like(a), mode="drop"), closed.at[w].add(found)

        counts, paths = state
        counts, paths, closed = loop_in_blocks(
            jnp.int64(0), onward.total, block, walk, (counts, paths, jnp.zeros(block, jnp.int64))
        )
        for place in (ij, jk):
            counts = counts.at[jnp.where(there, place, arcs)].add(closed, mode="drop")
        return counts, paths

    return loop_in_blocks(start, end, block, bends, (counts, paths))
