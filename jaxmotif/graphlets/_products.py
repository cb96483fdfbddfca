"""Dense graphs: triangles, 4-cycles and 4-cliques by products of matrices, which find many at once.

With X the adjacency matrix, X X holds the common neighbours of every two nodes: the triangles at each edge, and the
4-cycles through each pair of opposite nodes. A 4-clique is found at its lowest node in the degree order: the other
three are a triangle among its higher neighbours, whose own matrix times itself says how many. All factors are whole
numbers so small, or limbs of so few bits, that the sums are exact (:mod:`jaxmotif.graphlets._units`).

The statistics are those of :mod:`jaxmotif.graphlets._sparse`, number for number; :func:`choose` says which is cheaper.
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
from jaxmotif.devices._memory import default_memory
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays
from jaxmotif.graph._container import Graph
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets._sparse import Statistics
from jaxmotif.graphlets._tuning import Detail, fixed_bytes
from jaxmotif.graphlets._units import join, times, units
from jaxmotif.graphlets.five.hubs import HubBatch, batches_between

MOST_NODES = 46_340
"""Of a graph that is counted by products, with its padding: cells of its matrix have 32-bit numbers."""

_STRIPS = 4  # in which a matrix of neighbours is multiplied: what is left of the diagonal is mostly left out
_LEAST_WIDTH = 64


class Rates(NamedTuple):
    """What work costs on a kind of device, in tests of membership (or wedges) of the sparse passes.

    Attributes:
      flops: of products, that take as long as a test.
      cells: of matrices, filled in as long.
      fixed: tests that products have to save: programs for matrices of many sizes are compiled, which takes a GPU
        seconds, and started.
      most_cells: of matrices of neighbours held at a time.
    """

    flops: int
    cells: int
    fixed: int
    most_cells: int


_RATES = {"cpu": Rates(2**10, 2, 2**20, 2**22), "accelerator": Rates(2**14, 4, 2**30, 2**28)}


def rates(device: jax.Device) -> Rates:
    return _RATES["accelerator" if target_of(device).is_accelerator else "cpu"]


class Sizes(NamedTuple):
    """Static sizes.

    Attributes:
      size: rows and columns of the adjacency matrix, of all nodes but some that have no edges.
      rows: of the products held at a time, a divisor.
      cells: of matrices of neighbours held at a time.
    """

    size: int
    rows: int
    cells: int


def choose(graph: Graph, detail: Detail, device: jax.Device, memory: int | None) -> Sizes | None:
    """Sizes for counting a graph by products; ``None`` where they do not fit, or the sparse passes take less.

    Those take about a step for each pair of edges at a node. Products take 2 n^3 operations (several times, per edge),
    and 2 D^3 for each node's D higher neighbours: at most its degree d or sqrt(2 m), on average d / 2.
    """
    degrees, rate = graph.degrees.astype(np.int64), rates(device)
    size = min(max(bucket_size(int((degrees > 0).sum())), _LEAST_WIDTH), graph.node_capacity)
    # By the degrees alone, which are at hand: nobody waits for a plan.
    sparse = int((degrees**2).sum())
    if size > MOST_NODES or sparse < rate.fixed:
        return None
    per_edge = detail != "graph"
    higher = np.minimum(degrees, int((2 * graph.m) ** 0.5)).astype(np.float64)
    flops = (14 if per_edge else 2) * float(size) ** 3 + (2.0 if per_edge else 1.0) * float((higher**3).sum()) / 3
    if flops / rate.flops + sparse / 3 / rate.cells + rate.fixed > sparse:
        return None
    widest = _rounded(int(higher.max()))
    # The matrix, with a number for each of its cells where cliques are told apart by edge; then what a step takes.
    held = fixed_bytes(graph.node_capacity, graph.slot_capacity // 2, detail) + size * size * (8 if per_edge else 4)
    free = (default_memory(device) if memory is None else memory) - held
    row = size * (64 if per_edge else 24)
    if free < 24 * widest**2 + 64 * row:
        return None
    rows = min(size & -size, floor_power_of_two(min(rate.most_cells // size, free // 4 // row)))
    return Sizes(size, rows, max(min(rate.most_cells, free // 2 // 24), widest**2))


def _rounded(width: int) -> int:
    """Widths of matrices: few, divisible into strips, and of large ones near what is wanted."""
    return max(_LEAST_WIDTH, bucket_size(width) if width <= 1024 else -(-width // 256) * 256)


def batches(lengths: np.ndarray, first: int, cells: int) -> list[HubBatch]:
    """Nodes ``first, first + 1, ..`` by how many higher neighbours they have, those of about one number together."""
    found: list[HubBatch] = []
    left = lengths >= 3  # a 4-clique has three higher ones
    while left.any():
        largest = int(lengths[left].max())
        width = _rounded(largest)
        # With all that are not much smaller: the cube of what is left empty is worth no further program.
        least = 3 * largest // 4 if width > 512 else largest // 2
        chosen = left & (lengths > (least if width > _LEAST_WIDTH else 0))
        ids = np.flatnonzero(chosen).astype(np.int32) + first
        found.append(HubBatch.of(width, ids, max(1, min(cells // width**2, bucket_size(ids.size)))))
        left &= ~chosen
    return found


@partial(jit64, static_argnames=("size",))
def adjacency(order: DegreeOrder, *, size: int) -> jax.Array:
    """Zeros and ones ``[size, size]``, of the ranks ``N - size`` on: those below have no edges."""
    skip = order.node_capacity - size
    real = jnp.arange(order.edge_capacity, dtype=jnp.int32) < order.num_edges
    low, high = jnp.where(real, order.tail - skip, size), jnp.where(real, order.head - skip, size)
    empty = jnp.zeros((size, size), units().factors)
    return empty.at[low, high].set(1, mode="drop").at[high, low].set(1, mode="drop")


# ---- pairs of nodes


class PairSums(NamedTuple):
    """Of :class:`~jaxmotif.graphlets._sparse.Statistics` all but the 4-cliques."""

    t: jax.Array
    cyc: jax.Array
    A: jax.Array | None
    B: jax.Array | None


@partial(jit64, static_argnames=("rows", "per_edge"))
def pair_sums(order: DegreeOrder, X: jax.Array, *, rows: int, per_edge: bool) -> PairSums:
    """What products of the whole matrix give, a block of rows at a time."""
    size = X.shape[0]
    skip = order.node_capacity - size
    tail, head = order.tail - skip, order.head - skip
    degree = order.degree[skip:]

    def at(product: jax.Array, first: jax.Array, row: jax.Array, column: jax.Array, held: jax.Array) -> jax.Array:
        """Entries of a block of rows, at the arcs that have theirs there."""
        here = (row >= first) & (row < first + rows)
        return jnp.where(here, held + product[jnp.where(here, row - first, 0), column].astype(jnp.int64), held)

    def block(number: jax.Array, sums: PairSums) -> PairSums:
        first = number * rows
        near = lax.dynamic_slice_in_dim(X, first, rows)
        common = times(near, X)
        t = at(common, first, tail, head, sums.t)
        if sums.A is None or sums.B is None:
            # Every two nodes of codegree L are opposite in L over 2 cycles of four edges; and there are two such pairs.
            wide = common.astype(jnp.int64)
            return sums._replace(t=t, cyc=sums.cyc + (wide * (wide - 1)).sum())
        # Products with small numbers, transposed since X is symmetric: walks of length 3, and sums over triangles.
        there = near.astype(jnp.int32)
        walks, triangles, degrees = (
            join(X[None], y.T[None], size + 1)[0].T for y in (common, there * common, there * degree[None])
        )
        A = at(triangles, first, head, tail, at(triangles, first, tail, head, sums.A))
        return PairSums(t, at(walks, first, tail, head, sums.cyc), A, at(degrees, first, tail, head, sums.B))

    none = jnp.zeros(order.edge_capacity, jnp.int64)
    start = PairSums(none, none, none, none) if per_edge else PairSums(none, jnp.zeros((), jnp.int64), None, None)
    sums = lax.fori_loop(0, size // rows, block, start)
    d = degree.astype(jnp.int64)
    if not per_edge:  # both orders of each pair were counted, and each node with itself
        return sums._replace(cyc=(sums.cyc - (d * (d - 1)).sum()) // 2)
    # Walks u - v - u - v and back are no cycles.
    return sums._replace(cyc=sums.cyc - d[tail] - d[head] + 1)


# ---- 4-cliques


class _Higher(NamedTuple):
    """Higher neighbours of some nodes, in the matrix, int32 ``[B, D]``; and which are there."""

    nodes: jax.Array
    real: jax.Array


def _higher(order: DegreeOrder, ids: jax.Array, width: int, skip: int) -> _Higher:
    node = jnp.maximum(ids, 0)
    at = order.out_offsets[node][:, None] + jnp.arange(width, dtype=jnp.int32)[None]
    real = (at < order.out_offsets[node + 1][:, None]) & (ids >= 0)[:, None]
    heads = order.head[jnp.minimum(at, order.edge_capacity - 1)] - skip
    return _Higher(jnp.where(real, heads, 0), real)


def _cells(lists: _Higher, size: int, first: int = 0, stop: int | None = None) -> tuple[jax.Array, jax.Array]:
    """Where pairs of neighbours are in the matrix, those from a first to a stop with all from the first on; and which
    are pairs of a lower and a higher one."""
    lane = jnp.arange(lists.nodes.shape[1], dtype=jnp.int32)
    cells = lists.nodes[:, first:stop, None] * size + lists.nodes[:, None, first:]
    there = lists.real[:, first:stop, None] & lists.real[:, None, first:]
    return cells, there & (lane[first:stop, None] < lane[None, first:])[None]


def _read(X: jax.Array, cells: jax.Array, there: jax.Array) -> jax.Array:
    found = X.reshape(-1).at[cells].get(mode="promise_in_bounds")
    return jnp.where(there, found, jnp.zeros((), X.dtype))


@partial(jit64, static_argnames=("width",), donate_argnums=0)
def count_cliques(
    total: jax.Array, order: DegreeOrder, X: jax.Array, ids: jax.Array, steps: jax.Array, *, width: int
) -> jax.Array:
    """Add the number of 4-cliques whose lowest nodes are some."""
    size, strip = X.shape[0], width // _STRIPS
    starts = range(0, width, strip)

    def step(number: jax.Array, total: jax.Array) -> jax.Array:
        lists = _higher(order, ids[number], width, order.node_capacity - size)
        # From lower to higher alone, so that a triangle is found once, between its first node and its last.
        # In memory once: XLA would else read the matrix anew for each use.
        strips = lax.optimization_barrier([_read(X, *_cells(lists, size, a, a + strip)) for a in starts])
        upper = jnp.concatenate([jnp.pad(x, ((0, 0), (0, 0), (a, 0))) for a, x in zip(starts, strips, strict=True)], 1)
        for a, left in zip(starts, strips, strict=True):
            # A row's sum is below 2^31, since no list is longer than MOST_NODES.
            found = jnp.where(left > 0, times(left, upper[:, a:, a:]), 0).sum(axis=2, dtype=jnp.int32)
            total = total + found.sum(dtype=jnp.int64)
        return total

    return lax.fori_loop(jnp.int32(0), steps, step, total)


@partial(jit64, static_argnames=("width",), donate_argnums=0)
def edge_cliques(
    table: jax.Array, order: DegreeOrder, X: jax.Array, ids: jax.Array, steps: jax.Array, *, width: int
) -> jax.Array:
    """Add to int32 ``[size * size]``, at the cell of each edge's lower and higher end, the 4-cliques on it whose lowest
    nodes are some."""
    size = X.shape[0]
    skip = order.node_capacity - size

    def step(number: jax.Array, table: jax.Array) -> jax.Array:
        lists = _higher(order, ids[number], width, skip)
        cells, once = _cells(lists, size)
        there = (lists.real[:, :, None] & lists.real[:, None, :]) & (cells % (size + 1) != 0)
        near = lax.optimization_barrier(_read(X, cells, there))
        found = jnp.where(near > 0, times(near, near), 0)
        spokes = found.sum(axis=2, dtype=jnp.int32) // 2  # once for each of the two others
        own = jnp.maximum(ids[number] - skip, 0)[:, None] * size + lists.nodes
        table = table.at[jnp.where(lists.real, own, size * size)].add(spokes, mode="drop")
        return table.at[jnp.where(once, cells, size * size)].add(found, mode="drop")

    return lax.fori_loop(jnp.int32(0), steps, step, table)


@jit64
def _at_arcs(order: DegreeOrder, table: jax.Array) -> jax.Array:
    """A table's cells at the arcs, int64 ``[M]``."""
    size = math.isqrt(table.shape[0])
    skip = order.node_capacity - size
    real = jnp.arange(order.edge_capacity, dtype=jnp.int32) < order.num_edges
    cell = jnp.where(real, (order.tail - skip) * size + order.head - skip, 0)
    return jnp.where(real, table[cell], 0).astype(jnp.int64)


@jit64
def _over_arcs(cliques: jax.Array) -> jax.Array:
    return 6 * cliques


class Cliques:
    """The 4-cliques that one worker has found so far, on its device; an item of its job is a node, by rank."""

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
        for b in batches_between(self._batches, span.first + self._first, span.stop + self._first):
            self._found = add(self._found, self.order, self.X, b.ids, b.steps, width=b.size)
        jax.block_until_ready(self._found)

    def sums(self) -> jax.Array:
        """4-cliques at each arc, or their total over arcs, int64."""
        return _at_arcs(self.order, self._found) if self._per_edge else _over_arcs(self._found)

    def collect(self) -> Arrays:
        found = np.asarray(self.sums())
        self._clear()
        return {"K": found[: int(self.order.num_edges)] if self._per_edge else found}

    def halve(self) -> str | None:
        if self._cells <= _LEAST_WIDTH**2:
            return None
        self._cells //= 2
        self._clear()
        return f"{self._cells} cells of matrices"


def statistics(pairs: PairSums, K: jax.Array) -> Statistics:
    """What the equations take."""
    return Statistics(pairs.t, K, pairs.cyc, pairs.A, pairs.B)
