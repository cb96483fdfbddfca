"""The neighbourhoods of a graph as batches of small dense matrices, the tables that they share, and sums over both.

Nodes of degree 0 and 1 take no part: what a leaf adds is known in closed form. Every other node belongs to the *core*,
and is a hub in turn: its D neighbours in the core have a D x D adjacency matrix, and hubs of about one size make a
batch.

Sums that take more than one neighbourhood need tables over pairs of core nodes. One pass over the hubs scatters common
neighbours, and edges between these, into the tables; the next reads the cells of each neighbourhood back. Tables are
held for a block of rows at a time, as many as memory allows.

:mod:`jaxmotif.graphlets.five.equations` names the sums, and :mod:`jaxmotif.graphlets.five.matrices` adds them up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64, target
from jaxmotif.arrays._exact import exact_quotient
from jaxmotif.arrays._rows import pad_rows, places_of_true
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets._units import join, times, units
from jaxmotif.graphlets.five.graphs import Adjacency, DegreeOrderedGraph
from jaxmotif.kernels._expand import take

SIZES = {
    "cpu": (8, 16, 32, *(size << i for i in range(22) for size in (64, 96))),
    "accelerator": (16, 32, 64, 128, *(size << i for i in range(23) for size in (256, 384))),
}
"""Widths that matrices may have, by the kind of device.

Programs are compiled for each width, so there are few; a CPU, where padding costs more time, has more of them.
"""


class HubBatch(NamedTuple):
    """Hubs of about one size, whose matrices have one width.

    Attributes:
      size: the width of the matrices.
      ids: int32 ``[steps, hubs]``, the hubs of each step, -1 where there is none (host).
      put: the rows of ``ids`` on a device, or ``None`` if they are in host memory only.
    """

    size: int
    ids: np.ndarray
    put: list[jax.Array] | None = None


def in_rows(ids: np.ndarray, together: int) -> np.ndarray:
    """Pack ids into rows of ``together``, int32 ``[steps, together]``, padded with -1."""
    return pad_rows(ids, -(-ids.size // together) * together, -1).reshape(-1, together)


def batch_hubs(lengths: np.ndarray, first: int, cells: int, sizes: tuple[int, ...]) -> list[HubBatch]:
    """Put hubs into batches by the width of their matrices.

    Args:
      lengths: neighbours in the core of the hubs ``first, first + 1, ..``.
      cells: largest number of matrix cells of a step, unless it is one matrix.
      sizes: the widths to choose from.
    """
    batches, low = [], 0
    for size in sizes:
        ids = np.flatnonzero((lengths > low) & (lengths <= size)).astype(np.int32) + first
        if ids.size:
            batches.append(HubBatch(size, in_rows(ids, max(1, cells // size**2))))
        low = size
        if low >= lengths.max(initial=0):
            break
    return batches


def put_batches(device: jax.Device, *lists: list[HubBatch]) -> list[list[HubBatch]]:
    """Put the ids of all batches on a device in one transfer.

    A program whose arguments are still in host memory would begin later.
    """
    put = jax.device_put([[list(batch.ids) for batch in batches] for batches in lists], device)
    return [
        [batch._replace(put=rows) for batch, rows in zip(batches, all_rows, strict=True)]
        for batches, all_rows in zip(lists, put, strict=True)
    ]


def steps_between(
    batches: list[HubBatch], first: int, stop: int, wanted: np.ndarray | None = None
) -> Iterator[tuple[int, np.ndarray | jax.Array]]:
    """Yield the steps over the hubs ``first .. stop - 1``: the width of their matrices, and their ids int32 ``[hubs]``.

    A program runs one step, so that its shapes depend on the width alone, and no device waits for the host to say
    whether there is another.

    Args:
      wanted: bool ``[N]``; only these hubs, where it is given.
    """
    for batch in batches:
        wanted_here = (batch.ids >= first) & (batch.ids < stop)
        if wanted is not None:
            wanted_here &= wanted[batch.ids]
        rows = batch.put or batch.ids
        if not wanted_here[batch.ids >= 0].all():
            rows = in_rows(batch.ids[wanted_here], batch.ids.shape[1])
        for row in rows:
            yield batch.size, row


# ---- matrices of neighbourhoods


class Neighbourhoods(NamedTuple):
    """The core neighbours of some hubs, padded to one width.

    Attributes:
      arcs: int32 ``[B, D]``, the arcs to the neighbours, one past the last arc where there is none.
      nodes: int32 ``[B, D]``, their numbers in the core, -1 where there is none.
      real: bool ``[B, D]``, which entries are no padding.
    """

    arcs: jax.Array
    nodes: jax.Array
    real: jax.Array


def list_neighbours(graph: DegreeOrderedGraph, hubs: jax.Array, size: int, later: bool = False) -> Neighbourhoods:
    """List the core neighbours of some hubs, or (``later``) only those of higher number."""
    hub = jnp.maximum(hubs, 0)
    start, stop = take(graph.offsets, hub) + take(graph.leaves, hub), take(graph.offsets, hub + 1)
    arcs = graph.heads.shape[0]
    if later:  # rows are in order of rank, so neighbours of higher number come last
        start = jnp.maximum(stop - size, start)
    at = start[:, None] + jnp.arange(size, dtype=jnp.int32)[None]
    heads = take(graph.heads, jnp.minimum(at, arcs - 1))
    real = (at < stop[:, None]) & (hubs >= 0)[:, None]
    if later:
        real = real & (heads > hub[:, None])
    return Neighbourhoods(jnp.where(real, at, arcs), jnp.where(real, heads - graph.core, -1), real)


def find_adjacent(edges: Adjacency, lists: Neighbourhoods) -> jax.Array:
    """Return the adjacency matrices of the neighbourhoods, int32 ``[B, D, D]``."""
    nodes = jnp.maximum(lists.nodes, 0)
    there = lists.real[:, :, None] & lists.real[:, None, :]
    return jnp.where(there, edges.adjacent(nodes[:, :, None], nodes[:, None, :]), 0)


def find_arcs_between(edges: Adjacency, lists: Neighbourhoods, near: jax.Array) -> jax.Array:
    """Return the arcs between the neighbours of a hub, int32 ``[B, D, D]``; one past the last where there is none."""
    nodes = jnp.maximum(lists.nodes, 0)
    return jnp.where(near > 0, edges.arc(nodes[:, :, None], nodes[:, None, :]), edges.graph.heads.shape[0])


def apply_matrix(matrix: jax.Array, vectors: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Return products of int32 matrices ``[B, D, D]`` with int64 vectors ``[B, D]``, by name; sums are below 2^53."""
    if target().platform == "cpu":  # where XLA sums integers one by one
        stacked = jnp.stack(list(vectors.values()), axis=-1).astype(jnp.float64)
        products = jnp.matmul(matrix.astype(jnp.float64), stacked).astype(jnp.int64)
        return {name: products[..., i] for i, name in enumerate(vectors)}
    return {name: (matrix.astype(jnp.int64) * x[:, None, :]).sum(axis=2) for name, x in vectors.items()}


def sum_rows(matrix: jax.Array) -> jax.Array:
    """Return the sums over the rows of matrices, int64 ``[B, D]``."""
    return matrix.sum(axis=2, dtype=jnp.int64)


# ---- sums at the arcs


@partial(jit64, static_argnames=("arcs", "names"))
def zero_sums(*, arcs: int, names: tuple[str, ...]) -> dict[str, jax.Array]:
    """Return int64 zeros at all arcs, by name."""
    return {name: jnp.zeros(arcs, jnp.int64) for name in names}


def _up_to_each(
    of_graph: tuple[str, ...], of_nodes: tuple[str, ...], of_edges: tuple[str, ...]
) -> dict[Detail, tuple[str, ...]]:
    """Return the names of sums by detail: counts in the graph take few, node orbits more, edge orbits all."""
    return {"graph": of_graph, "node": of_graph + of_nodes, "edge": of_graph + of_nodes + of_edges}


SHARED = _up_to_each(("w3", "wing", "chord"), ("far", "side", "arm", "roof"), ("floor", "eave", "middle", "side_pairs"))
"""Names of the sums at arcs that need the tables, added up over blocks of rows, in the order of ``HubSums.shared``."""

OWN = _up_to_each(
    ("t", "degrees", "l2", "s", "c", "k2", "leaves"),
    ("walks", "spread", "l3", "cube", "kt", "ls", "tip"),
    ("squares", "dart", "tail"),
)
"""Names of the sums at arcs that need one neighbourhood alone, in the order of ``HubSums.own``."""


class HubSums(NamedTuple):
    """Sums at all arcs, int64.

    Attributes:
      shared: ``[S, K]``, columns as :data:`SHARED` names them.
      own: ``[S, K]``, columns as :data:`OWN` names them.
      rim: ``[S]``, a sum that every hub adds to at the arcs between its neighbours (``[1]`` without edge orbits).
    """

    shared: jax.Array
    own: jax.Array
    rim: jax.Array


@partial(jit64, static_argnames="detail")
def sums_by_name(held: HubSums, *, detail: Detail) -> dict[str, jax.Array]:
    """Return each sum by its name, int64 ``[S]``."""
    return (
        dict(zip(SHARED[detail], held.shared.T, strict=True))
        | dict(zip(OWN[detail], held.own.T, strict=True))
        | ({"rim": held.rim} if detail == "edge" else {})
    )


@partial(jit64, static_argnames=("arcs", "detail"))
def zero_hub_sums(*, arcs: int, detail: Detail) -> HubSums:
    """Return sums to which nothing was added yet."""
    shared = jnp.zeros((arcs, len(SHARED[detail])), jnp.int64)
    own = jnp.zeros((arcs, len(OWN[detail])), jnp.int64)
    return HubSums(shared, own, jnp.zeros(arcs if detail == "edge" else 1, jnp.int64))


def sum_squares(x: jax.Array, most: int) -> jax.Array:
    """Return the sums over rows of the squares of int32 numbers below ``most``."""
    x = x if most <= 2**15 else x.astype(jnp.int64)
    return sum_rows(x * x)


def sum_in_neighbourhoods(
    near: jax.Array, d: jax.Array, p2: jax.Array, leaves: jax.Array, detail: Detail
) -> dict[str, jax.Array]:
    """Sum over each neighbourhood alone.

    Args:
      near: int32 ``[B, D, D]``, adjacency.
      d, p2, leaves: int64 ``[B, D]`` of the neighbours: degrees, walks of length 2, and neighbours of degree 1.

    Returns:
      By name int64 ``[B, D]``, at the arcs from hubs to their core neighbours.
    """
    size, both = near.shape[1], join(near, near, 2)  # common neighbours
    k = near * both  # 4-cliques on the triangle of the hub and two neighbours
    t, s = sum_rows(near), sum_rows(k)
    at_neighbours = {"l2": t, "degrees": d, "leaves": leaves}
    if detail != "graph":
        at_neighbours |= {"cube": t * t, "walks": p2, "ls": s}
    if detail == "edge":
        at_neighbours |= {"squares": d * d, "dart": t * d}
    sums = {"t": t, "s": s, "c": sum_squares(both, size), "k2": sum_squares(k, size)}
    sums |= apply_matrix(near, at_neighbours)
    if detail == "graph":
        return sums
    sums |= apply_matrix(near, {"l3": sums["l2"], "spread": sums["degrees"]})
    sums |= apply_matrix(k, {"kt": t, "tail": d} if detail == "edge" else {"kt": t})
    return sums | {"tip": sum_rows(near * join(near, k, size))}


@partial(jit64, static_argnames=("width", "detail"), donate_argnums=0)
def add_five_cliques(counts: jax.Array, edges: Adjacency, hub: jax.Array, *, width: int, detail: Detail) -> jax.Array:
    """Add the 5-cliques on each edge at both of its arcs, int64 ``[S]`` (for counts in the graph: all at one arc).

    A 5-clique is found at its lowest node: its four others are a 4-clique among the higher neighbours. Q has a row for
    each pair of adjacent higher neighbours, which marks the higher neighbours that are adjacent to both. Two adjacent
    higher neighbours are together in as many of these 5-cliques as Q has rows that mark both: one matrix product counts
    them for all pairs.
    """
    graph, together = edges.graph, math.gcd(16, width // 2)  # shifts
    lists = list_neighbours(graph, hub, width, later=True)
    near = find_adjacent(edges, lists)
    twice = jnp.concatenate([near.astype(units().factors)] * 2, axis=1)  # so that rows can be shifted cyclically
    x = jnp.arange(width, dtype=jnp.int32)

    def at(turn: jax.Array, found: jax.Array) -> jax.Array:
        # All pairs of x and x + shift, cyclically. A shift by half of the list gives each pair twice.
        shift = turn * together + 1 + jnp.arange(together, dtype=jnp.int32)[:, None]
        ends = near[:, x[None], (x[None] + shift) % width]
        once = (ends > 0) & ((shift < width // 2) | (x[None] < width // 2))[None]
        moved = jax.vmap(lambda first: lax.dynamic_slice_in_dim(twice, first, width, 1), out_axes=1)(shift[:, 0])
        Q = jnp.where(once[..., None], twice[:, None, :width] * moved, jnp.zeros_like(moved))
        Q = Q.reshape(near.shape[0], together * width, width)
        return found + times(Q.swapaxes(1, 2), Q)

    turns = width // 2 // together
    found = lax.fori_loop(0, turns, at, jnp.zeros(near.shape, jnp.int32))
    found = (found * near).astype(jnp.int64)
    if detail == "graph":  # a 5-clique was found at the 12 arcs between its four others, and has 20 arcs in all
        once = jnp.where(hub >= 0, graph.offsets[jnp.maximum(hub, 0)], graph.heads.shape[0])
        return counts.at[once].add(exact_quotient(found.sum(axis=(1, 2)), 12) * 20, mode="drop")
    spokes = exact_quotient(found.sum(axis=2), 3)  # once for each of the three others
    counts = counts.at[find_arcs_between(edges, lists, near)].add(found, mode="drop")
    counts = counts.at[lists.arcs].add(spokes, mode="drop")
    back = graph.back.at[lists.arcs].get(mode="fill", fill_value=graph.heads.shape[0])
    return counts.at[back].add(spokes, mode="drop")


@partial(jit64, static_argnames=("width",), donate_argnums=0)
def sum_over_triangles(
    sums: dict[str, jax.Array], values: dict[str, jax.Array], edges: Adjacency, hubs: jax.Array, *, width: int
) -> dict[str, jax.Array]:
    """Add, at each arc u -> v, the sum over common neighbours w of int64 values ``[S]`` at u -> w, by name."""
    lists = list_neighbours(edges.graph, hubs, width)
    at_heads = {name: values[name].at[lists.arcs].get(mode="fill", fill_value=0) for name in sums}
    products = apply_matrix(find_adjacent(edges, lists), at_heads)
    return {name: sums[name].at[lists.arcs].add(x, mode="drop") for name, x in products.items()}


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
    row = take(graph.rows, jnp.maximum(lists.nodes, 0))
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
    """Return tables of zeros, except that the diagonal of ``codegree`` has the number of leaves of each node.

    Args:
      graph: the graph.
      ends: the first row, and the one past the last, of the block.
      rows: static, how many rows the tables have room for.
      size: static, the number of columns.
      detail: what the tables are for; those that it does not need are ``[1, 1]``.
      most: a number above all degrees.
    """
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
    tables: Tables, edges: Adjacency, hubs: jax.Array, ends: jax.Array, giants: jax.Array, *, width: int, detail: Detail
) -> Tables:
    """Add what a batch of hubs gives to the rows between ``ends`` of the tables.

    Args:
      giants: how many nodes, those of highest number, are no hubs (:mod:`jaxmotif.graphlets.five.giants`).
    """
    graph, (rows, size) = edges.graph, tables.codegree.shape
    hubs_end = graph.leaves.shape[0] - giants

    flat = Tables(*(x.reshape(-1) for x in tables))
    lists = list_neighbours(graph, hubs, width)
    cells = _cells(graph, lists, ends, rows, size)
    # One value for every cell, since XLA is slow to scatter a constant.
    one = jnp.broadcast_to(lists.real[:, :, None].astype(flat.codegree.dtype), cells.shape)
    flat = flat._replace(codegree=flat.codegree.at[cells].add(one, mode="drop"))
    if detail != "graph":
        near = find_adjacent(edges, lists)
        # An edge between two common neighbours is found with either of them as the hub. Giants are no hubs, so an edge
        # to a giant is found only with its other end as the hub, and counts twice there.
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
      tables: the rows of the tables between ``ends``, whose cells are read; ``None`` to add only sums that need none.
      node: int64 ``[N]``, degrees, and walks of length 2 from each node.
      most: a number above all degrees.
      own: whether to add the sums that need no tables.
      giants: how many nodes, those of highest number, are no hubs; it matters for edge orbits alone.
    """
    graph, held = edges.graph, sums
    lists = list_neighbours(graph, hubs, width)
    near = find_adjacent(edges, lists)

    def added(sums: jax.Array, found: dict[str, jax.Array], names: tuple[str, ...]) -> jax.Array:
        # All sums of an arc are written at once, since they lie side by side.
        return sums.at[lists.arcs].add(jnp.stack([found[name] for name in names], axis=-1), mode="drop")

    def at(x: jax.Array) -> jax.Array:
        return jnp.where(lists.real, x.at[lists.nodes + graph.core].get(mode="clip"), 0)

    d = at(node[0])
    if tables is not None:
        rows, size = tables.codegree.shape
        row = _rows_of(graph, lists, ends, rows)
        within = jnp.where(row < rows, take(graph.leaves, jnp.maximum(hubs, 0))[:, None], 0).astype(jnp.int64)
        places = _cells(graph, lists, ends, rows, size)
        cells = Tables(*(table.reshape(-1).at[places].get(mode="fill", fill_value=0) for table in tables))
        found, G = _sum_with_tables(near, cells, d, within, detail, most)
        held = held._replace(shared=added(held.shared, found, SHARED[detail]))
        if giants and detail == "edge":
            arcs, values = _from_giants(edges, lists, near, G, giants)
            column = SHARED[detail].index("eave")
            held = held._replace(shared=held.shared.at[arcs, column].add(values, mode="drop"))
    if not own:
        return held
    found = sum_in_neighbourhoods(near, d, at(node[1]), at(graph.leaves).astype(jnp.int64), detail)
    held = held._replace(own=added(held.own, found, OWN[detail]))
    if detail == "edge":  # walks of length 3 along the edges of a neighbourhood belong to those edges
        walks = (near * join(near, join(near, near, 2), width)).astype(jnp.int64)
        held = held._replace(rim=held.rim.at[find_arcs_between(edges, lists, near)].add(walks, mode="drop"))
    return held


def _sum_with_tables(
    near: jax.Array, cells: Tables, d: jax.Array, leaves: jax.Array, detail: Detail, most: int
) -> tuple[dict[str, jax.Array], jax.Array]:
    """Compute the sums over neighbourhoods that need their cells in the tables.

    Args:
      near: int32 ``[B, D, D]``, adjacency.
      cells: the cells of the tables, ``[B, D, D]``, 0 in rows that are not there.
      d: int64 ``[B, D]``, degrees of the neighbours.
      leaves: int64 ``[B, D]``, the number of leaves of the hub, at arcs to nodes whose rows are there; else 0.

    Returns:
      By name int64 ``[B, D]``, at the arcs from hubs to their core neighbours; and matrices whose sums over rows are
      ``chord``.
    """
    shared = cells.codegree.astype(jnp.int32)
    G = near * join(near, shared, most)
    w3 = sum_rows(shared) + leaves  # a leaf of the hub has one common neighbour with each of its others: the hub
    found = {"w3": w3, "wing": sum_squares(shared, most) + leaves, "chord": sum_rows(G)}
    if detail == "graph":
        return found, G
    t = sum_rows(near)
    found |= apply_matrix(shared, {"side": t, "far": d}) | apply_matrix(near, {"roof": w3})
    found |= {"far": found["far"] + leaves, "arm": sum_rows(cells.pairs)}
    if detail == "edge":
        triangles = near * shared  # of each edge: the common neighbours of its ends
        found |= {
            "floor": cells.bent.sum(axis=1, dtype=jnp.int64),
            "eave": G.sum(axis=1, dtype=jnp.int64),
            "middle": (triangles.astype(jnp.int64) * t[:, :, None]).sum(axis=1),
            "side_pairs": sum_rows(near * join(near, triangles, most)),
        }
    return found, G


def _from_giants(
    edges: Adjacency, lists: Neighbourhoods, near: jax.Array, values: jax.Array, giants: int
) -> tuple[jax.Array, jax.Array]:
    """Find the arcs from the giants among a hub's neighbours to its other neighbours, and the values of these pairs.

    Returns:
      Arcs, int32 ``[B, min(G, D), D]``, one past the last arc where there is none; and the entries of ``values``
      ``[B, D, D]`` there, int64.
    """
    graph, few = edges.graph, min(giants, near.shape[1])
    # Giants have the highest ranks, so they come last in the lists.
    at = lists.real.sum(axis=1, dtype=jnp.int32)[:, None] - few + jnp.arange(few, dtype=jnp.int32)[None]
    place = jnp.maximum(at, 0)
    giant = jnp.take_along_axis(lists.nodes, place, axis=1)
    here = (at >= 0) & (giant + graph.core >= graph.leaves.shape[0] - giants)
    ends, values = (jnp.take_along_axis(x, place[:, :, None], axis=1) for x in (near, values))
    arcs = edges.arc(jnp.maximum(giant, 0)[:, :, None], jnp.maximum(lists.nodes, 0)[:, None, :])
    return jnp.where(here[:, :, None] & (ends > 0), arcs, graph.heads.shape[0]), values.astype(jnp.int64)


@jit64
def upward_arcs(graph: DegreeOrderedGraph) -> jax.Array:
    """Return the arcs from lower to higher core nodes, int32 ``[S / 2]``, then one past the last arc."""
    arcs = graph.heads.shape[0]
    return places_of_true((graph.tails >= graph.core) & (graph.tails < graph.heads))[: arcs // 2]


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
      low, high: two blocks of rows of codegrees; only edges with their lower end in ``low`` and their higher end in
        ``high`` are treated.
      up: the upward arcs, and the places of the first wanted one and of the one past the last.
      firsts: the numbers of the first rows of the two blocks.
      block: how many edges a step works on.
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
        # A walk of length 4 is two walks of length 2 that meet: C(u, .) times C(., v).
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
