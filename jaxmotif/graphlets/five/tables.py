"""Tables over pairs of core nodes, and what hubs read from them for five-node orbits.

One pass over the hubs scatters common neighbours, and edges between these, into the tables; the next reads the cells of
each neighbourhood back. Tables are held for a block of rows at a time, as many as memory allows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.arrays._compile import jit64, target
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets._units import join
from jaxmotif.graphlets.five.adjacency import Adjacency
from jaxmotif.graphlets.five.graphs import DegreeOrderedGraph
from jaxmotif.graphlets.five.hubs import (
    OWN,
    SHARED,
    HubSums,
    Neighbourhoods,
    apply_matrix,
    find_adjacent,
    find_arcs_between,
    list_neighbours,
    sum_in_neighbourhoods,
    sum_rows,
    sum_squares,
)


class Tables(NamedTuple):
    """A block of rows of all tables, int32 ``[rows, size]``; tables that are not wanted are ``[1, 1]``.

    Attributes:
      codegree: common neighbours, with degrees on the diagonal; uint16 on a CPU where degrees allow it.
      pairs: adjacent ordered pairs of common neighbours.
      bent: walks of length 2, each counted as often as its first edge has triangles (for edge orbits).
    """

    codegree: jax.Array
    pairs: jax.Array
    bent: jax.Array


@partial(jit64, static_argnames=("rows", "blocks"))
def find_meeting_hubs(graph: DegreeOrderedGraph, *, rows: int, blocks: int) -> jax.Array:
    """Find the nodes that have a neighbour in each block of rows, bool ``[blocks, N]``."""
    nodes = graph.leaves.shape[0]
    head = graph.heads - graph.core
    row = jnp.where(head >= 0, graph.rows.at[head].get(mode="fill", fill_value=nodes), nodes)
    block = jnp.where(row < nodes, row // rows, blocks)
    return jnp.zeros((blocks, nodes), bool).at[block, graph.tails].set(True, mode="drop")


def _rows_of(graph: DegreeOrderedGraph, lists: Neighbourhoods, ends: jax.Array, rows: int) -> jax.Array:
    """Return the rows of the neighbours in the block between ``ends``, int32 ``[B, D]``; else ``rows``."""
    row = graph.rows[jnp.maximum(lists.nodes, 0)]
    return jnp.where(lists.real & (row >= ends[0]) & (row < ends[1]), row - ends[0], rows)


def _cells(graph: DegreeOrderedGraph, lists: Neighbourhoods, ends: jax.Array, rows: int, size: int) -> jax.Array:
    """Return the cells of all pairs of neighbours in a table, int32 ``[B, D, D]``; one past its end elsewhere."""
    row = _rows_of(graph, lists, ends, rows)
    inside = (row < rows)[:, :, None] & lists.real[:, None, :]
    return jnp.where(inside, row[:, :, None] * size + lists.nodes[:, None, :], rows * size)


@partial(jit64, static_argnames=("rows", "size", "detail", "most"))
def empty_tables(
    graph: DegreeOrderedGraph, ends: jax.Array, *, rows: int, size: int, detail: Detail, most: int
) -> Tables:
    """Return tables that have only what leaves add, to the diagonal of ``codegree``; degrees are below ``most``."""
    node = graph.at_rows.at[ends[0] + jnp.arange(rows, dtype=jnp.int32)].get(mode="fill", fill_value=size)
    leaves = graph.leaves.at[node + graph.core].get(mode="fill", fill_value=0)
    none = jnp.zeros((rows, size), jnp.int32)
    # Half the memory takes a CPU half the time; a GPU has no atomic additions to 16 bits.
    kind = jnp.uint16 if most <= 2**16 and target().platform == "cpu" else jnp.int32
    codegree = none.astype(kind).at[jnp.arange(rows), node].set(leaves.astype(kind), mode="drop")
    absent = jnp.zeros((1, 1), jnp.int32)
    return Tables(codegree, absent if detail == "graph" else none, none if detail == "edge" else absent)


@partial(jit64, static_argnames=("width", "detail"), donate_argnums=0)
def scatter_hubs(
    tables: Tables,
    graph: DegreeOrderedGraph,
    edges: Adjacency,
    hubs: jax.Array,
    ends: jax.Array,
    giants: jax.Array,
    *,
    width: int,
    detail: Detail,
) -> Tables:
    """Add what a batch of hubs gives to the rows between ``ends`` of the tables.

    Args:
      giants: how many nodes, those of highest number, are no hubs (:mod:`jaxmotif.graphlets.five.giants`).
    """
    rows, size = tables.codegree.shape
    hubs_end = graph.leaves.shape[0] - giants

    flat = Tables(*(x.reshape(-1) for x in tables))
    lists = list_neighbours(graph, hubs, width)
    cells = _cells(graph, lists, ends, rows, size)
    # One value for every cell, since XLA is slow to scatter a constant.
    one = jnp.broadcast_to(lists.real[:, :, None].astype(flat.codegree.dtype), cells.shape)
    flat = flat._replace(codegree=flat.codegree.at[cells].add(one, mode="drop"))
    if detail != "graph":
        near = find_adjacent(graph, edges, lists)
        # An arc between common neighbours is found at either end: one that leads to a giant at this end alone.
        twice = near << (lists.nodes + graph.core >= hubs_end).astype(jnp.int32)[:, :, None]
        flat = flat._replace(pairs=flat.pairs.at[cells].add(join(near, twice, 3), mode="drop"))
        if detail == "edge":
            triangles = near.sum(axis=2, dtype=jnp.int32)[:, :, None]
            flat = flat._replace(bent=flat.bent.at[cells].add(jnp.broadcast_to(triangles, cells.shape), mode="drop"))
    return Tables(*(x.reshape(y.shape) for x, y in zip(flat, tables, strict=True)))


@partial(jit64, static_argnames=("width", "detail", "most", "own", "giants"), donate_argnums=0)
def gather_hub_sums(
    sums: HubSums,
    tables: Tables | None,
    graph: DegreeOrderedGraph,
    edges: Adjacency,
    node: tuple[jax.Array, jax.Array],
    hubs: jax.Array,
    ends: jax.Array,
    *,
    width: int,
    detail: Detail,
    most: int,
    own: bool,
    giants: int = 0,
) -> HubSums:
    """Add what a batch of hubs gives to the sums at their arcs.

    Args:
      tables: the rows between ``ends``, whose cells are read; ``None`` for what needs no tables alone.
      node: int64 ``[N]``, degrees, and walks of length 2 from each node.
      most: a number above all degrees.
      own: whether to add what needs no tables.
      giants: how many nodes, those of highest number, are no hubs; it counts for edge orbits alone.
    """

    held = sums
    lists = list_neighbours(graph, hubs, width)
    near = find_adjacent(graph, edges, lists)
    place = jnp.where(lists.real, lists.arcs, graph.heads.shape[0])

    def added(sums: jax.Array, found: dict[str, jax.Array], names: tuple[str, ...]) -> jax.Array:
        # All sums of an arc at once: few writes, side by side.
        return sums.at[place].add(jnp.stack([found[name] for name in names], axis=-1), mode="drop")

    def at(x: jax.Array) -> jax.Array:
        return jnp.where(lists.real, x.at[lists.nodes + graph.core].get(mode="clip"), 0)

    d = at(node[0])
    if tables is not None:
        rows, size = tables.codegree.shape
        row = _rows_of(graph, lists, ends, rows)
        within = jnp.where(row < rows, graph.leaves[jnp.maximum(hubs, 0)][:, None], 0).astype(jnp.int64)
        cells = _cells(graph, lists, ends, rows, size)

        def read(table: jax.Array) -> jax.Array:
            return table.reshape(-1).at[cells].get(mode="fill", fill_value=0)

        found, G = _sum_with_tables(near, read, tables, d, within, detail, most)
        held = held._replace(shared=added(held.shared, found, SHARED[detail]))
        if giants and detail == "edge":
            arcs, values = _from_giants(graph, edges, lists, near, G, giants)
            column = SHARED[detail].index("eave")
            held = held._replace(shared=held.shared.at[arcs, column].add(values, mode="drop"))
    if not own:
        return held
    found = sum_in_neighbourhoods(near, d, at(node[1]), at(graph.leaves).astype(jnp.int64), detail)
    held = held._replace(own=added(held.own, found, OWN[detail]))
    if detail == "edge":  # walks of length 3 along the edges of a neighbourhood belong to those edges
        walks = (near * join(near, join(near, near, 2), width)).astype(jnp.int64)
        held = held._replace(rim=held.rim.at[find_arcs_between(graph, edges, lists, near)].add(walks, mode="drop"))
    return held


def _sum_with_tables(
    near: jax.Array,
    read: Callable[[jax.Array], jax.Array],
    tables: Tables,
    d: jax.Array,
    leaves: jax.Array,
    detail: Detail,
    most: int,
) -> tuple[dict[str, jax.Array], jax.Array]:
    """Sum over neighbourhoods what their cells in the tables have.

    Args:
      near: int32 ``[B, D, D]``, adjacency.
      read: reads the cells of a table, ``[B, D, D]``, 0 in rows that are not there.
      d: int64 ``[B, D]``, degrees of the neighbours.
      leaves: int64 ``[B, D]``, the leaves of the hub, at arcs that lead to rows that are there.

    Returns:
      By name int64 ``[B, D]``, at the arcs from hubs to their core neighbours; and matrices whose sums over rows are
      ``chord``.
    """
    shared = read(tables.codegree).astype(jnp.int32)
    G = near * join(near, shared, most)
    w3 = sum_rows(shared) + leaves  # a leaf of the hub has one common neighbour with each of its others: the hub
    found = {"w3": w3, "wing": sum_squares(shared, most) + leaves, "chord": sum_rows(G)}
    if detail == "graph":
        return found, G
    t = sum_rows(near)
    side, far = apply_matrix(shared, t, d)
    found |= {"far": far + leaves, "side": side, "arm": sum_rows(read(tables.pairs)), "roof": apply_matrix(near, w3)[0]}
    if detail == "edge":
        triangles = near * shared  # of each edge: the common neighbours of its ends
        found |= {
            "floor": read(tables.bent).sum(axis=1, dtype=jnp.int64),
            "eave": G.sum(axis=1, dtype=jnp.int64),
            "middle": (triangles.astype(jnp.int64) * t[:, :, None]).sum(axis=1),
            "side_pairs": sum_rows(near * join(near, triangles, most)),
        }
    return found, G


def _from_giants(
    graph: DegreeOrderedGraph, edges: Adjacency, lists: Neighbourhoods, near: jax.Array, values: jax.Array, giants: int
) -> tuple[jax.Array, jax.Array]:
    """Find the arcs from giants to the other neighbours of a hub, and the values of these pairs.

    Returns:
      Arcs, int32 ``[B, min(G, D), D]``, one past the last arc where there is none; and the entries of ``values``
      ``[B, D, D]`` there, int64.
    """
    few = min(giants, near.shape[1])
    # Of highest rank, they end the lists.
    at = lists.real.sum(axis=1, dtype=jnp.int32)[:, None] - few + jnp.arange(few, dtype=jnp.int32)[None]
    place = jnp.maximum(at, 0)
    giant = jnp.take_along_axis(lists.nodes, place, axis=1)
    here = (at >= 0) & (giant + graph.core >= graph.leaves.shape[0] - giants)
    ends, values = (jnp.take_along_axis(x, place[:, :, None], axis=1) for x in (near, values))
    arcs = edges.arc(graph, jnp.maximum(giant, 0)[:, :, None], jnp.maximum(lists.nodes, 0)[:, None, :])
    return jnp.where(here[:, :, None] & (ends > 0), arcs, graph.heads.shape[0]), values.astype(jnp.int64)


@jit64
def upward_arcs(graph: DegreeOrderedGraph) -> jax.Array:
    """Return the arcs from lower to higher core nodes, int32 ``[S / 2]``, then one past the last arc."""
    arcs = graph.heads.shape[0]
    (found,) = jnp.nonzero((graph.tails >= graph.core) & (graph.tails < graph.heads), size=arcs // 2, fill_value=arcs)
    return found.astype(jnp.int32)


@jit64
def narrow_table(table: jax.Array) -> jax.Array:
    """Return a table of numbers below 2^16 in half the memory."""
    return table.astype(jnp.uint16)


@partial(jit64, static_argnames=("block", "most"), donate_argnums=0)
def add_fourth_walks(
    walks: jax.Array,
    low: jax.Array,
    high: jax.Array,
    graph: DegreeOrderedGraph,
    up: tuple[jax.Array, jax.Array, jax.Array],
    firsts: tuple[jax.Array, jax.Array],
    *,
    block: int,
    most: int,
) -> jax.Array:
    """Add walks of length 4 over core nodes at both arcs of edges: inner products of two rows of codegrees.

    Args:
      low, high: the blocks of rows that the lower and the higher end of the edges must be in.
      up: the upward arcs, and the first and the one past the last that are wanted.
      firsts: the first rows of the two blocks.
      block: edges a step.
      most: a number above all codegrees.
    """
    rows, arcs = low.shape[0], graph.heads.shape[0]

    def step(number: jax.Array, walks: jax.Array) -> jax.Array:
        place = up[1] + number * block + jnp.arange(block, dtype=jnp.int32)
        at = jnp.where(place < up[2], up[0].at[place].get(mode="fill", fill_value=arcs), arcs)
        u, v = (
            graph.rows.at[ends.at[at].get(mode="clip") - graph.core].get(mode="clip") - start
            for ends, start in zip((graph.tails, graph.heads), firsts, strict=True)
        )
        here = (at < arcs) & (u >= 0) & (u < rows) & (v >= 0) & (v < rows)
        # C(u, .) times C(., v): where two walks of length 2 meet.
        x, y = low[jnp.where(here, u, 0)], high[jnp.where(here, v, 0)]
        if most <= 2**12 and target().platform == "cpu":  # 32 products of 24 bits at a time: twice as fast in 32 bits
            z = (x.astype(jnp.int32) * y.astype(jnp.int32)).reshape(block, -1, 32).sum(axis=2, dtype=jnp.int32)
        else:
            z = x.astype(jnp.int64) * y.astype(jnp.int64)
        total = z.sum(axis=1, dtype=jnp.int64)
        back = graph.back.at[at].get(mode="fill", fill_value=arcs)
        walks = walks.at[jnp.where(here, at, arcs)].add(total, mode="drop")
        return walks.at[jnp.where(here, back, arcs)].add(total, mode="drop")

    return lax.fori_loop(jnp.int32(0), (up[2] - up[1] + (block - 1)) // block, step, walks)
