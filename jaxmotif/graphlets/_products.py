"""Triangles, 4-cycles and 4-cliques of dense graphs by matrix products, which find many of them at once.

With X the adjacency matrix, X X holds the common neighbours of every two nodes: the triangles at each edge, and the
4-cycles through each pair of opposite nodes. A 4-clique is found at its lowest node in the degree order: its other
three nodes are a triangle among the higher neighbours of the lowest. The adjacency matrix of these neighbours, times
itself, counts such triangles. All factors are whole numbers of few bits, or are split into limbs of few bits, so that
the sums are exact (:mod:`jaxmotif.graphlets._units`).

The statistics equal those of :mod:`jaxmotif.graphlets._sparse`, number for number; :func:`choose` decides which way
takes less time.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._sizes import bucket_size, floor_power_of_two
from jaxmotif.devices._job import Task
from jaxmotif.devices._memory import default_memory
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays
from jaxmotif.graph._container import Graph
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets._sparse import Statistics
from jaxmotif.graphlets._tuning import Detail, fixed_bytes
from jaxmotif.graphlets._units import join, times, units
from jaxmotif.graphlets.five.hubs import HubBatch, in_rows, steps_between
from jaxmotif.kernels._expand import take

MOST_NODES = 46_340
"""Node capacity up to which a graph is counted by products: the cells of its matrix have 32-bit numbers."""

_STRIPS = 4  # number of strips in which a matrix of neighbours is multiplied, to skip most cells left of the diagonal
_LEAST_WIDTH = 64


class Rates(NamedTuple):
    """Cost of work on a kind of device, where the unit is a membership test (or a wedge) of the sparse passes.

    Attributes:
      flops: how many operations of matrix products take as long as a test.
      cells: how many cells of matrices are filled in the time of a test.
      fixed: how many tests products have to save before they are chosen. This makes up for compiling and starting
        programs for matrices of many sizes; compiling takes seconds on a GPU.
      most_cells: how many cells matrices of neighbours may have at a time.
    """

    flops: int
    cells: int
    fixed: int
    most_cells: int


_RATES = {"cpu": Rates(2**10, 2, 2**20, 2**22), "accelerator": Rates(2**14, 4, 2**30, 2**28)}


def rates(device: jax.Device) -> Rates:
    return _RATES["accelerator" if target_of(device).is_accelerator else "cpu"]


class Sizes(NamedTuple):
    """Static sizes of matrix products.

    Attributes:
      size: rows and columns of the adjacency matrix, which leaves out some nodes without edges.
      rows: rows of a product that are held at a time, a divisor of ``size``.
      cells: cells of matrices of neighbours that are held at a time.
    """

    size: int
    rows: int
    cells: int


def choose(graph: Graph, detail: Detail, device: jax.Device, memory: int | None) -> Sizes | None:
    """Choose the sizes for counting a graph by products.

    The sparse passes take about a step for each pair of edges at a node. Products take 2 n^3 operations (several times
    as many for counts at edges), and 2 D^3 more for each node that has D higher neighbours. D is at most sqrt(2 m) and
    at most the degree d of the node, and on average d / 2.

    Returns:
      The sizes; ``None`` where the products do not fit in memory, or the sparse passes take less time.
    """
    degrees, rate = graph.degrees.astype(np.int64), rates(device)
    size = min(max(bucket_size(int((degrees > 0).sum())), _LEAST_WIDTH), graph.node_capacity)
    # The choice depends on degrees alone, which are at hand. The host would have to wait for a plan.
    sparse = int((degrees**2).sum())
    if size > MOST_NODES or sparse < rate.fixed:
        return None
    per_edge = detail != "graph"
    higher = np.minimum(degrees, int((2 * graph.m) ** 0.5)).astype(np.float64)
    flops = (14 if per_edge else 2) * float(size) ** 3 + (2.0 if per_edge else 1.0) * float((higher**3).sum()) / 3
    if flops / rate.flops + sparse / 3 / rate.cells + rate.fixed > sparse:
        return None
    widest = _rounded(int(higher.max()))
    # Held throughout: the matrix, and for counts at edges a number of cliques for each cell. Steps take more on top.
    held = fixed_bytes(graph.node_capacity, graph.slot_capacity // 2, detail) + size * size * (8 if per_edge else 4)
    free = (default_memory(device) if memory is None else memory) - held
    row = size * (64 if per_edge else 24)
    if free < 24 * widest**2 + 64 * row:
        return None
    rows = min(size & -size, floor_power_of_two(min(rate.most_cells // size, free // 4 // row)))
    return Sizes(size, rows, max(min(rate.most_cells, free // 2 // 24), widest**2))


def _rounded(width: int) -> int:
    """Round the width of a matrix up to one of few widths, which are divisible into strips."""
    return max(_LEAST_WIDTH, bucket_size(width) if width <= 1024 else -(-width // 256) * 256)


def batches(lengths: np.ndarray, first: int, cells: int) -> list[HubBatch]:
    """Group nodes by the number of their higher neighbours, nodes of about one number together.

    Args:
      lengths: the number of higher neighbours of the nodes ``first, first + 1, ..``.
      first: the rank of the first node.
      cells: how many cells the matrices of a step may have.
    """
    groups: list[HubBatch] = []
    left = lengths >= 3  # the lowest node of a 4-clique has three higher neighbours
    while left.any():
        largest = int(lengths[left].max())
        width = _rounded(largest)
        # Lists that are not much shorter join the batch: their padding costs less than compiling another program.
        least = 3 * largest // 4 if width > 512 else largest // 2
        chosen = left & (lengths > (least if width > _LEAST_WIDTH else 0))
        ids = np.flatnonzero(chosen).astype(np.int32) + first
        groups.append(HubBatch(width, in_rows(ids, max(1, min(cells // width**2, bucket_size(ids.size))))))
        left &= ~chosen
    return groups


@partial(jit64, static_argnames=("size",))
def adjacency(order: DegreeOrder, *, size: int) -> jax.Array:
    """Return the matrix of zeros and ones ``[size, size]`` of the ranks from ``N - size`` on.

    Lower ranks have no edges.
    """
    skip = order.node_capacity - size
    real = jnp.arange(order.edge_capacity, dtype=jnp.int32) < order.num_edges
    low, high = jnp.where(real, order.tail - skip, size), jnp.where(real, order.head - skip, size)
    empty = jnp.zeros((size, size), units().factors)
    return empty.at[low, high].set(1, mode="drop").at[high, low].set(1, mode="drop")


# ---- pairs of nodes


@partial(jit64, static_argnames=("rows", "per_edge"))
def pair_sums(order: DegreeOrder, X: jax.Array, K: jax.Array, *, rows: int, per_edge: bool) -> Statistics:
    """Compute the sums over pairs of nodes by products of the whole matrix, a block of rows at a time.

    The 4-cliques ``K`` complete the statistics; they are passed on as they are.
    """
    size = X.shape[0]
    skip = order.node_capacity - size
    tail, head = order.tail - skip, order.head - skip
    degree = order.degree[skip:]

    def at(product: jax.Array, first: jax.Array, row: jax.Array, column: jax.Array, sums: jax.Array) -> jax.Array:
        """Add entries of a block of rows of a product to the sums of the arcs whose entries are in the block."""
        here = (row >= first) & (row < first + rows)
        entries = product[jnp.where(here, row - first, 0), column].astype(jnp.int64)
        return jnp.where(here, sums + entries, sums)

    def block(number: jax.Array, sums: Statistics) -> Statistics:
        first = number * rows
        near = lax.dynamic_slice_in_dim(X, first, rows)
        common = times(near, X)
        t = at(common, first, tail, head, sums.t)
        if sums.A is None or sums.B is None:
            # Every two nodes of codegree L are opposite in L over 2 4-cycles, and a 4-cycle has two such pairs.
            wide = common.astype(jnp.int64)
            return sums._replace(t=t, cyc=sums.cyc + (wide * (wide - 1)).sum())
        # These products, transposed since X is symmetric, give walks of length 3 and sums over triangles.
        there = near.astype(jnp.int32)
        walks, triangles, degrees = (
            join(X[None], y.T[None], size + 1)[0].T for y in (common, there * common, there * degree[None])
        )
        A = at(triangles, first, head, tail, at(triangles, first, tail, head, sums.A))
        return Statistics(t, K, at(walks, first, tail, head, sums.cyc), A, at(degrees, first, tail, head, sums.B))

    none = jnp.zeros(order.edge_capacity, jnp.int64)
    start = Statistics(none, K, jnp.zeros((), jnp.int64), None, None)
    if per_edge:
        start = Statistics(none, K, none, none, none)
    sums = lax.fori_loop(0, size // rows, block, start)
    d = degree.astype(jnp.int64)
    if not per_edge:  # because both orders of each pair were counted, and each node with itself
        return sums._replace(cyc=(sums.cyc - (d * (d - 1)).sum()) // 2)
    # Walks that go back along the edge itself are no cycles.
    return sums._replace(cyc=sums.cyc - d[tail] - d[head] + 1)


# ---- 4-cliques


def _higher(order: DegreeOrder, ids: jax.Array, width: int, skip: int) -> tuple[jax.Array, jax.Array]:
    """Return the higher neighbours of some nodes in the matrix, int32 ``[B, D]``; and which entries are no padding."""
    node = jnp.maximum(ids, 0)
    at = order.out_offsets[node][:, None] + jnp.arange(width, dtype=jnp.int32)[None]
    real = (at < order.out_offsets[node + 1][:, None]) & (ids >= 0)[:, None]
    heads = order.head[jnp.minimum(at, order.edge_capacity - 1)] - skip
    return jnp.where(real, heads, 0), real


def _cells(
    nodes: jax.Array, real: jax.Array, size: int, first: int = 0, stop: int | None = None
) -> tuple[jax.Array, jax.Array]:
    """Return the cells of the matrix where pairs of neighbours are, and whether each pair is in ascending order.

    The pairs are of the neighbours (:func:`_higher`) from ``first`` to ``stop`` with all neighbours from ``first`` on.
    """
    lane = jnp.arange(nodes.shape[1], dtype=jnp.int32)
    cells = nodes[:, first:stop, None] * size + nodes[:, None, first:]
    there = real[:, first:stop, None] & real[:, None, first:]
    return cells, there & (lane[first:stop, None] < lane[None, first:])[None]


def _read(X: jax.Array, cells: jax.Array, there: jax.Array) -> jax.Array:
    return jnp.where(there, take(X.reshape(-1), cells), jnp.zeros((), X.dtype))


@partial(jit64, static_argnames=("width",), donate_argnums=0)
def count_cliques(total: jax.Array, order: DegreeOrder, X: jax.Array, ids: jax.Array, *, width: int) -> jax.Array:
    """Add the number of 4-cliques whose lowest nodes are among ``ids`` to ``total``."""
    size, strip = X.shape[0], width // _STRIPS
    starts = range(0, width, strip)
    nodes, real = _higher(order, ids, width, order.node_capacity - size)
    # Only arcs from lower to higher are read, so a triangle is found once, between its first and its last node.
    # The barrier keeps the strips in memory: XLA would else read the matrix anew for each use.
    strips = lax.optimization_barrier([_read(X, *_cells(nodes, real, size, a, a + strip)) for a in starts])
    upper = jnp.concatenate([jnp.pad(x, ((0, 0), (0, 0), (a, 0))) for a, x in zip(starts, strips, strict=True)], 1)
    for a, left in zip(starts, strips, strict=True):
        # A row's sum is below 2^31, since no list is longer than MOST_NODES.
        per_row = jnp.where(left > 0, times(left, upper[:, a:, a:]), 0).sum(axis=2, dtype=jnp.int32)
        total = total + per_row.sum(dtype=jnp.int64)
    return total


@partial(jit64, static_argnames=("width",), donate_argnums=0)
def edge_cliques(table: jax.Array, order: DegreeOrder, X: jax.Array, ids: jax.Array, *, width: int) -> jax.Array:
    """Add the 4-cliques whose lowest nodes are among ``ids`` to a table of numbers of 4-cliques on each edge.

    The table is int32 ``[size * size]``; an edge has the cell in the row of its lower and the column of its higher end.
    """
    size = X.shape[0]
    skip = order.node_capacity - size
    nodes, real = _higher(order, ids, width, skip)
    cells, once = _cells(nodes, real, size)
    there = (real[:, :, None] & real[:, None, :]) & (cells % (size + 1) != 0)
    near = lax.optimization_barrier(_read(X, cells, there))
    shared = jnp.where(near > 0, times(near, near), 0)
    spokes = shared.sum(axis=2, dtype=jnp.int32) // 2  # each clique was found once for each of its two other nodes
    own = jnp.maximum(ids - skip, 0)[:, None] * size + nodes
    table = table.at[jnp.where(real, own, size * size)].add(spokes, mode="drop")
    return table.at[jnp.where(once, cells, size * size)].add(shared, mode="drop")


@jit64
def _at_arcs(order: DegreeOrder, found: jax.Array) -> jax.Array:
    """Return the 4-cliques at each arc from a table, int64 ``[M]``.

    If ``found`` is a number of 4-cliques instead, return the total over arcs, to which each 4-clique adds six.
    """
    if not found.ndim:
        return 6 * found
    size = math.isqrt(found.shape[0])
    skip = order.node_capacity - size
    real = jnp.arange(order.edge_capacity, dtype=jnp.int32) < order.num_edges
    cell = jnp.where(real, (order.tail - skip) * size + order.head - skip, 0)
    return jnp.where(real, found[cell], 0).astype(jnp.int64)


class Cliques(Task):
    """The 4-cliques that one worker has found so far, on its device; an item of its job is a node, by rank."""

    adds_in_parts = True

    def __init__(self, order: DegreeOrder, lengths: np.ndarray, sizes: Sizes, detail: Detail, device: jax.Device):
        self.order, self._lengths, self._device = put64(order, device), lengths, device
        self.X = adjacency(self.order, size=sizes.size)
        self._cells, self._per_edge = sizes.cells, detail != "graph"
        self._clear()

    def _clear(self) -> None:
        first = self.order.node_capacity - len(self._lengths)
        self._first, self._batches = first, batches(self._lengths, first, self._cells)
        shape, kind = ((self.X.size,), np.int32) if self._per_edge else ((), np.int64)
        self._found = put64(np.zeros(shape, kind), self._device)

    def step(self, span: Span) -> None:
        add = edge_cliques if self._per_edge else count_cliques
        for width, ids in steps_between(self._batches, span.first + self._first, span.stop + self._first):
            self._found = add(self._found, self.order, self.X, ids, width=width)
        jax.block_until_ready(self._found)

    def sums(self) -> jax.Array:
        """Return the 4-cliques at each arc, or their total over arcs, int64."""
        return _at_arcs(self.order, self._found)

    def collect(self) -> Arrays:
        sums = np.asarray(self.sums())
        self._clear()
        return {"K": sums[: int(self.order.num_edges)] if self._per_edge else sums}

    def halve(self) -> str | None:
        if self._cells <= _LEAST_WIDTH**2:
            return None
        self._cells //= 2
        self._clear()
        return f"{self._cells} cells of matrices"
