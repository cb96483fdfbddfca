"""The neighbourhoods of a graph as batches of small dense matrices, and what is summed over each of them alone.

Nodes of degree 0 and 1 take no part: what a leaf adds is known in closed form. Every other node, of the *core*, is a
hub in turn: its D neighbours in the core are a D x D adjacency matrix, and hubs of about one size make a batch.

:mod:`jaxmotif.graphlets.five.equations` names the sums; :mod:`jaxmotif.graphlets.five.tables` has those that take more
than one neighbourhood, and :mod:`jaxmotif.graphlets.five.matrices` adds all of them up.
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
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets._units import join, times, units
from jaxmotif.graphlets.five.adjacency import Adjacency
from jaxmotif.graphlets.five.graphs import DegreeOrderedGraph

SIZES = {
    "cpu": (8, 16, 32, *(size << i for i in range(22) for size in (64, 96))),
    "accelerator": (16, 32, 64, 128, *(size << i for i in range(23) for size in (256, 384))),
}
"""Widths of the matrices, by the kind of device: few, since each is compiled for; more where padding takes time."""


class HubBatch(NamedTuple):
    """Hubs of about one size, whose matrices have one width.

    Attributes:
      size: the width of the matrices.
      ids: int32 ``[steps, hubs]``, the hubs of each step, -1 where there is none (host).
      put: the rows of ``ids`` on a device, where they were put there.
    """

    size: int
    ids: np.ndarray
    put: list[jax.Array] | None = None


def in_rows(ids: np.ndarray, together: int) -> np.ndarray:
    """Pack ids into rows of ``together``, int32 ``[steps, together]``, padded with -1."""
    rows = np.full((-(-ids.size // together), together), -1, np.int32)
    rows.reshape(-1)[: ids.size] = ids
    return rows


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
    """Put the ids of all batches on a device in one transfer: a program that takes arrays of the host begins later."""
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
      arcs: int32 ``[B, D]``, the arcs to the neighbours.
      nodes: int32 ``[B, D]``, their numbers in the core, -1 where there is none.
      real: bool ``[B, D]``, which entries are no padding.
    """

    arcs: jax.Array
    nodes: jax.Array
    real: jax.Array


def list_neighbours(graph: DegreeOrderedGraph, hubs: jax.Array, size: int, later: bool = False) -> Neighbourhoods:
    """List the core neighbours of some hubs, or (``later``) only those of higher number."""
    hub = jnp.maximum(hubs, 0)
    start, stop = graph.offsets[hub] + graph.leaves[hub], graph.offsets[hub + 1]
    lane = jnp.arange(size, dtype=jnp.int32)[None]
    at = start[:, None] + lane
    if later:  # rows are in order of rank: the higher ones end them
        at = jnp.maximum(stop - size, start)[:, None] + lane
    real = (at < stop[:, None]) & (hubs >= 0)[:, None]
    at = jnp.minimum(at, graph.heads.shape[0] - 1)
    heads = graph.heads[at]
    if later:
        real = real & (heads > hub[:, None])
    return Neighbourhoods(at, jnp.where(real, heads - graph.core, -1), real)


def find_adjacent(graph: DegreeOrderedGraph, edges: Adjacency, lists: Neighbourhoods) -> jax.Array:
    """Return the adjacency matrices of the neighbourhoods, int32 ``[B, D, D]``."""
    nodes = jnp.maximum(lists.nodes, 0)
    there = lists.real[:, :, None] & lists.real[:, None, :]
    return jnp.where(there, edges.adjacent(graph, nodes[:, :, None], nodes[:, None, :]), 0)


def find_arcs_between(graph: DegreeOrderedGraph, edges: Adjacency, lists: Neighbourhoods, near: jax.Array) -> jax.Array:
    """Return the arcs between the neighbours of a hub, int32 ``[B, D, D]``; one past the last where there is none."""
    nodes = jnp.maximum(lists.nodes, 0)
    return jnp.where(near > 0, edges.arc(graph, nodes[:, :, None], nodes[:, None, :]), graph.heads.shape[0])


def apply_matrix(matrix: jax.Array, *values: jax.Array) -> list[jax.Array]:
    """Return the products of int32 matrices ``[B, D, D]`` with int64 vectors ``[B, D]``; all sums are below 2^53."""
    if target().platform == "cpu":  # where XLA sums integers one by one
        stacked = jnp.stack(values, axis=-1).astype(jnp.float64)
        found = jnp.matmul(matrix.astype(jnp.float64), stacked).astype(jnp.int64)
        return [found[..., i] for i in range(len(values))]
    return [(matrix.astype(jnp.int64) * x[:, None, :]).sum(axis=2) for x in values]


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
    of_graph, of_nodes, of_edges = (t, d, leaves), (t * t, p2, s), (d * d, t * d)
    wanted = {"graph": of_graph, "node": of_graph + of_nodes, "edge": of_graph + of_nodes + of_edges}[detail]
    l2, degrees, around, *more = apply_matrix(near, *wanted)
    found = {
        "t": t,
        "degrees": degrees,
        "l2": l2,
        "s": s,
        "c": sum_squares(both, size),
        "k2": sum_squares(k, size),
        "leaves": around,
    }
    if detail == "graph":
        return found
    cube, around_two, ls, *more = more
    l3, spread = apply_matrix(near, l2, degrees)
    kt, *tail = apply_matrix(k, t, *((d,) if detail == "edge" else ()))
    found |= {
        "walks": around_two,
        "spread": spread,
        "l3": l3,
        "cube": cube,
        "kt": kt,
        "ls": ls,
        "tip": sum_rows(near * join(near, k, size)),
    }
    return found | ({"squares": more[0], "dart": more[1], "tail": tail[0]} if detail == "edge" else {})


@partial(jit64, static_argnames=("width", "detail"), donate_argnums=0)
def add_five_cliques(
    counts: jax.Array,
    graph: DegreeOrderedGraph,
    edges: Adjacency,
    hub: jax.Array,
    *,
    width: int,
    detail: Detail,
) -> jax.Array:
    """Add the 5-cliques on each edge at both of its arcs, int64 ``[S]`` (for counts in the graph: all at one arc).

    A 5-clique is found at its lowest node: its four others are a 4-clique among the higher neighbours. For each pair of
    adjacent ones, Q says who is adjacent to both; two others belong to as many 5-cliques as their columns of Q have in
    common, which is one matrix product.
    """
    together = math.gcd(16, width // 2)  # shifts
    lists = list_neighbours(graph, hub, width, later=True)
    near = find_adjacent(graph, edges, lists)
    twice = jnp.concatenate([near.astype(units().factors)] * 2, axis=1)  # its rows go round
    x = jnp.arange(width, dtype=jnp.int32)

    def at(turn: jax.Array, found: jax.Array) -> jax.Array:
        # All pairs of x and x + shift, round the list: with half of its length as shift they come twice.
        shift = turn * together + 1 + jnp.arange(together, dtype=jnp.int32)[:, None]
        ends = near[:, x[None], (x[None] + shift) % width]
        once = (ends > 0) & ((shift < width // 2) | (x[None] < width // 2))[None]
        moved = jnp.stack(
            [lax.dynamic_slice_in_dim(twice, turn * together + 1 + i, width, 1) for i in range(together)], 1
        )
        Q = jnp.where(once[..., None], twice[:, None, :width] * moved, jnp.zeros_like(moved))
        Q = Q.reshape(near.shape[0], together * width, width)
        return found + times(Q.swapaxes(1, 2), Q)

    turns = width // 2 // together
    found = lax.fori_loop(0, turns, at, jnp.zeros(near.shape, jnp.int32))
    found = (found * near).astype(jnp.int64)
    if detail == "graph":  # 12 arcs of its others; on 20 arcs in all
        once = jnp.where(hub >= 0, graph.offsets[jnp.maximum(hub, 0)], graph.heads.shape[0])
        return counts.at[once].add(found.sum(axis=(1, 2)) // 12 * 20, mode="drop")
    spokes = found.sum(axis=2) // 3  # once for each of the three others
    place = jnp.where(lists.real, lists.arcs, graph.heads.shape[0])
    counts = counts.at[find_arcs_between(graph, edges, lists, near)].add(found, mode="drop")
    counts = counts.at[place].add(spokes, mode="drop")
    back = graph.back.at[place].get(mode="fill", fill_value=graph.heads.shape[0])
    return counts.at[back].add(spokes, mode="drop")


@partial(jit64, static_argnames=("width",), donate_argnums=0)
def sum_over_triangles(
    sums: dict[str, jax.Array],
    values: dict[str, jax.Array],
    graph: DegreeOrderedGraph,
    edges: Adjacency,
    hubs: jax.Array,
    *,
    width: int,
) -> dict[str, jax.Array]:
    """Add, at each arc u -> v, the sum over common neighbours w of int64 values ``[S]`` at u -> w, by name."""

    lists = list_neighbours(graph, hubs, width)
    near = find_adjacent(graph, edges, lists)
    place = jnp.where(lists.real, lists.arcs, graph.heads.shape[0])
    found = apply_matrix(near, *(values[name].at[place].get(mode="fill", fill_value=0) for name in sums))
    return {name: x.at[place].add(y, mode="drop") for (name, x), y in zip(sums.items(), found, strict=True)}
