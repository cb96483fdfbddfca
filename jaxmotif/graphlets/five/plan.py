"""A graph as the sums of five-node orbits take it: what is a hub and what a giant, and what memory has room for."""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._ahead import in_earnest
from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._host import on_device
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.devices._memory import default_memory, working_memory
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets import _by_lists as by_lists
from jaxmotif.graphlets import _by_matrices as by_matrices
from jaxmotif.graphlets import _by_rows as by_rows
from jaxmotif.graphlets import _five_on_host as on_host
from jaxmotif.graphlets._by_columns import bits_of, columns_of
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets._twins import Classes, classes_of
from jaxmotif.graphlets.five import hubs
from jaxmotif.graphlets.five.adjacency import (
    Adjacency,
    HashedArcs,
    adjacency_bytes,
    bit_rows,
    bit_rows_on_host,
    hashed_arcs,
)
from jaxmotif.graphlets.five.equations import Arcs, Array
from jaxmotif.graphlets.five.hubs import Blocks, Places, Ranked, Twins
from jaxmotif.graphlets.five.results import LARGEST_RESULT, arcs_of

GIANT = {"cpu": 1536, "accelerator": 4096}
"""Core neighbours beyond which a node's neighbourhood is not made a matrix (:mod:`jaxmotif.graphlets.five.giants`)."""

_LONG = {"cpu": 2**31, "accelerator": 2**35}
"""Cells of neighbourhoods beyond which a run is cut into units, to show progress and to hear Ctrl-C: some seconds."""

_CELLS = {"cpu": 2**18, "accelerator": 2**22}
"""Of matrices of neighbourhoods at a time."""
LEAST_CELLS = 2**14
_CELL_BYTES, _ARC_BYTES = 100, 400
"""What a step takes for a cell, and for an arc sums (168, and as many again when they are named) and lists of paths."""


class Given(NamedTuple):
    """A graph as the passes take it.

    Attributes:
      core: the first node of degree 2 or more. arcs: how many are no padding.
      lengths, later: of the nodes of the core, how many neighbours there are in it, and how many of higher number.
      most: above all degrees.
      detail: what is wanted.
      memory: what the user allows on each device.
      above: as ``later``, of all nodes, on the device.
      giants: how many nodes, those of highest rank, are no hubs: their ``lengths`` are 0.
      cells: of matrices of neighbourhoods at a time. sizes: that these have.
      index: tells who is adjacent where bits of all pairs would take too much.
      sparse: whether the tables are made a block of rows at a time, and 5-cycles found path by path. Then the rows are
        shared out like the hubs, and no two workers make the same.
      lists: given where the sums that take the tables are made row by row, instead of hub by hub.
    """

    graph: Ranked
    core: int
    arcs: int
    lengths: np.ndarray
    later: np.ndarray
    most: int
    detail: Detail
    memory: int | None
    above: jax.Array
    giants: int
    cells: int
    sizes: tuple[int, ...]
    index: HashedArcs | None
    sparse: bool
    lists: by_rows.Layout | None = None

    def is_long(self, device: jax.Device) -> bool:
        """Whether the work is cut into units, though nobody shares it."""
        cells = (self.lengths.astype(np.int64) ** 2).sum()
        return bool(cells > _LONG["accelerator" if target_of(device).is_accelerator else "cpu"])

    @property
    def size(self) -> int:
        """Columns of a table."""
        return bucket_size(max(len(self.lengths), 32) + 31) // 32 * 32

    def matrices(self, cells: int) -> list[Blocks]:
        """The matrices of the neighbourhoods of all hubs, of so many cells at a time, or on a CPU of an eighth: what is
        made of some of these stays in its cache, and fewer stand for nothing where hubs are few."""
        return hubs.blocks(self.lengths, self.core, cells // self._parts, self.sizes)

    def upper_matrices(self, cells: int) -> list[Blocks]:
        """Those of their neighbours of higher rank, where these are enough for a 5-clique."""
        lengths = np.where(self.later < 4, 0, self.later)
        return hubs.blocks(lengths, self.core, cells // self._parts // 4, self.sizes)

    @property
    def _parts(self) -> int:
        return 8 if self.sizes == hubs.SIZES["cpu"] else 1

    def adjacency(self, graph: Ranked) -> Adjacency:
        """Of the graph, which may be on another device."""
        (device,) = graph.heads.devices()
        if self.index is not None:
            return put64(self.index, device)
        if not target_of(device).is_accelerator:
            return bit_rows_on_host(graph, device, self.size)
        return bit_rows(graph, size=self.size)

    @property
    def fixed(self) -> int:
        """Bytes of sums at arcs, of matrices, and of giants."""
        widest = next(x for x in self.sizes if x >= self.lengths.max(initial=0))
        giants = (28 if self.detail == "edge" else 20) * self.graph.leaves.shape[0] * self.giants
        return _ARC_BYTES * self.graph.heads.shape[0] + _CELL_BYTES * max(self.cells, widest**2) + giants

    @property
    def row(self) -> int:
        """Bytes of a row of all tables."""
        if self.sizes == hubs.SIZES["cpu"] and self.most <= 2**16:  # one table in half of it; 5-cycles take two whole
            return self.size * {"graph": 8, "node": 8, "edge": 10}[self.detail]
        return 4 * self.size * {"graph": 2, "node": 3, "edge": 4}[self.detail]  # and two copies of one in half of it

    @property
    def least_rows(self) -> int:
        return 32 * self.row

    def rows(self, device: jax.Device) -> int:
        """Rows of the tables that may be held at a time."""
        fixed = self.fixed + adjacency_bytes(self.size, self.graph.heads.shape[0], self.index is None)
        memory = working_memory(self.memory, device, fixed + self.least_rows, "orbits of five nodes")
        # Cells of a table have 32-bit numbers.
        return min(self.size, (memory - fixed) // self.row, (2**31 - 1) // self.size)


@in_earnest
def given_of(
    slots: tuple[jax.Array, jax.Array], graph: Graph, detail: Detail, memory: int | None, device: jax.Device,
    alone: bool = False,
) -> tuple[Given, Places, float]:  # fmt: skip
    """The graph as the passes take it, where its nodes and slots went, and a bound of all results. ``alone``: nothing
    is shared out: then a CPU may make tables row by row, of classes of twins where there are many."""
    if alone and detail != "edge" and not target_of(device).is_accelerator:
        few = classes_of(*map(np.asarray, slots))
        if few is not None:
            given, places, largest = _given((few.offsets, few.targets), few, detail, memory, device)
            if (lists := row_lists(given, device)) is not None:
                places = places._replace(nodes=on_device(np.asarray(places.nodes)[few.of], device))
                return given._replace(lists=lists), places, largest
    given, places, largest = _given(slots, None, detail, memory, device)
    # A fourth of the memory, or less, of whole tables.
    lists = row_lists(given, device) if alone else None
    return given._replace(lists=lists) if lists is not None else _for_tables(given, device), places, largest


def _given(
    slots: tuple[jax.Array | np.ndarray, jax.Array | np.ndarray],
    few: Classes | None,
    detail: Detail,
    memory: int | None,
    device: jax.Device,
) -> tuple[Given, Places, float]:
    """``few``: whose rows ``slots`` are."""
    nodes, arcs = len(slots[0]) - 1, len(slots[1])
    if target_of(device).is_accelerator:
        ranked, places = hubs.ranked(*put64(slots, device), nodes=nodes, arcs=arcs)
        bound = _largest(ranked)
    else:
        twins = None if few is None else Twins(few.members, few.degrees, few.leaves)
        offsets, targets = map(np.asarray, slots)
        ranked, places = hubs.ranked_on_host(offsets, targets, device, twins)
        bound = _largest_of(np, on_host.arcs_of(ranked), on_host.degrees_of(ranked).astype(np.float64))
    # One wait for all that sizes depend on.
    needed = ranked.offsets, ranked.leaves, places.later, ranked.core, bound
    starts, leaves, later, core, largest = jax.device_get(needed)
    degrees = np.diff(starts)
    lengths = degrees - leaves
    if ranked.twins is not None:
        degrees = np.asarray(ranked.twins.degrees)
    if largest >= LARGEST_RESULT:
        raise OverflowError(
            f"a node of degree {degrees.max()}: its orbits of five nodes may pass the limit of 2^90 (they "
            f"are below {largest:.2g}); size=4 stays exact"
        )
    most = next(1 << bits for bits in (12, 16, 24) if degrees.max() < 1 << bits)
    core = int(core)
    sizes = hubs.SIZES["accelerator" if target_of(device).is_accelerator else "cpu"]
    cells, giant = _largest_steps(memory, arcs, device)
    # Exact in float64 where sums of squares of codegrees are below 2^53.
    giants = 0 if float(degrees.max()) ** 2 * nodes >= 2.0**53 else int((lengths > giant).sum())
    lengths[nodes - giants :] = 0
    given = Given(
        ranked, core, int(starts[-1]), lengths[core:], later[core:], most, detail, memory, places.later, giants, cells,
        sizes, None, False,
    )  # fmt: skip
    return given, places, float(largest)


def _for_tables(given: Given, device: jax.Device) -> Given:
    """What tables of many rows are made with."""
    # Bits, which are fastest, may take half of what is left (and all of a device that is the job's own).
    room = 2 * default_memory(device) if given.memory is None else given.memory
    bits, index = (adjacency_bytes(given.size, given.graph.heads.shape[0], form) for form in (True, False))
    if bits > max(index, (room - given.fixed - given.least_rows) // 2):
        given = given._replace(index=hashed_arcs(given.graph, device))
    # Walks of length 4 are products of rows of a table, where these are held all at once.
    return given._replace(sparse=given.rows(device) < len(given.lengths))


def _largest_steps(memory: int | None, arcs: int, device: jax.Device) -> tuple[int, int]:
    """Cells of matrices at a time, and core neighbours beyond which a node is a giant: of one hub's matrix there may be
    four times as many cells, in no more than a fourth of the memory that sums leave."""
    kind = "accelerator" if target_of(device).is_accelerator else "cpu"
    cells, giant = _CELLS[kind], GIANT[kind]
    if memory is None:
        return cells, giant
    while cells > LEAST_CELLS and 4 * cells * _CELL_BYTES > (memory - _ARC_BYTES * arcs) // 4:
        cells //= 2
    return cells, min(giant, max(x for x in hubs.SIZES[kind] if x * x <= 4 * cells))


@jit64
def _largest(graph: Ranked) -> jax.Array:
    return _largest_of(jnp, arcs_of(graph), jnp.diff(graph.offsets).astype(jnp.float64))


def _largest_of(xp: ModuleType, arcs: Arcs, d: Array) -> Array:
    """A bound of all results, float64: how many connected sets of five nodes contain a node, by their trees; ``d``:
    degrees."""
    around = arcs.around
    p2, q2 = around(d), around(d * d)
    p3 = around(p2)
    # Trees of five nodes at a node: paths, forks and stars; every connected set has one that spans it.
    paths = around(p3) + d * p3 + p2 * p2 / 2
    forks = d * d * p2 / 2 + around(d * p2) + d * q2 / 2 + around(q2) / 2
    return xp.max(paths + forks + d**4 / 24 + around(d**3) / 6, initial=0)


def row_lists(given: Given, device: jax.Device) -> by_rows.Layout | None:
    """For a CPU, whose caches hold some rows of the tables but not all. Giants have no matrix, but may be lists."""
    graph, degrees = given.graph, on_host.degrees_of(given.graph)
    # What members stand for is multiplied in 32 bits.
    large = degrees.max(initial=0) >= (by_rows.MOST if graph.twins is None else 2**12)
    if target_of(device).is_accelerator or large or given.is_long(device):
        return None
    bits = bits_of(degrees)
    memory = default_memory(device) if given.memory is None else given.memory
    room = memory - given.fixed - bits * given.size * columns_of(given.size, bits) // 4
    core = by_lists.core_of(graph, given.later)
    cells = int((core.lengths**2).sum())
    if not cells or room < by_rows.needed(cells, 0, given.arcs, given.detail):
        return None
    triangles = by_lists.triangles_of(core)
    t = triangles.at(core.back)
    if given.detail == "edge" and np.bincount(core.tails, t).max() >= by_rows.MOST_WALKS:  # closed, of length 3
        return None
    few = by_lists.few_bends(core, triangles, t, by_matrices.WIDTHS)
    if (few.hubs >= len(core.lengths) - given.giants).sum() < given.giants:
        return None
    rest = core.lengths.copy()
    rest[few.hubs] = 0
    matrices = by_matrices.groups(rest)
    cells = sum(group.cells for group in matrices)
    # Of so many nodes 5-cycles path by path take less than products of rows.
    if bits * given.size**2 // 32 >= 2**31:
        return None
    listed = (200 if given.detail == "edge" else 24) * len(triangles.uv)
    if room - few.bytes - listed < by_rows.needed(cells, few.cells, given.arcs, given.detail):
        return None
    return by_rows.layout(core, triangles, matrices, few, bits)
