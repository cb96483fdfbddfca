"""The plan of a run with matrices of neighbourhoods: which nodes are hubs or giants, and what memory holds."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._ahead import in_earnest
from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._sizes import table_columns
from jaxmotif.devices._memory import default_memory, working_memory
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets.five.adjacency import Adjacency, HashedArcs, adjacency_bytes, hash_arcs, make_bit_rows
from jaxmotif.graphlets.five.graphs import DegreeOrderedGraph, Renumbering, order_by_degree
from jaxmotif.graphlets.five.hubs import SIZES, HubBatch, batch_hubs
from jaxmotif.graphlets.five.results import arcs_of, largest_count
from jaxmotif.graphlets.five.tuning import FiveTuning

_CELL_BYTES, _ARC_BYTES = 100, 400
"""Bytes that a step takes for a cell of a matrix; and for an arc: sums (168, and as many again while they are named)
and lists of paths."""


class HubPlan(NamedTuple):
    """A graph, and how its neighbourhoods are made into matrices.

    Attributes:
      graph: the graph.
      core: its first node of degree 2 or more.
      arcs: the number of arcs that are no padding.
      lengths, later: of the nodes of the core, neighbours in the core, and those of higher number.
      most: a number above all degrees.
      detail: whether counts in the graph, node orbits or edge orbits are wanted.
      memory: bytes that the user allows on each device, or ``None``.
      renumbering: where the graph's own nodes and slots are.
      largest: no count at a node is larger.
      most_neighbours: the largest degree.
      giants: how many nodes, those of highest number, are no hubs; their ``lengths`` are 0.
      cells: cells of matrices of neighbourhoods at a time.
      sizes: the widths that matrices may have.
      size: columns of a table.
      index: tells who is adjacent where bits of all pairs would take too much memory.
      sparse: whether tables are made a block of rows at a time, and 5-cycles found path by path. Then rows are shared
        out as hubs are, and no two workers make the same row.
      tuning: sizes and limits of the run.
    """

    graph: DegreeOrderedGraph
    core: int
    arcs: int
    lengths: np.ndarray
    later: np.ndarray
    most: int
    detail: Detail
    memory: int | None
    renumbering: Renumbering
    largest: float
    most_neighbours: int
    giants: int
    cells: int
    sizes: tuple[int, ...]
    size: int
    index: HashedArcs | None
    sparse: bool
    tuning: FiveTuning

    @property
    def is_long(self) -> bool:
        """True where the work is cut into units even where one device does it all."""
        return bool((self.lengths.astype(np.int64) ** 2).sum() > self.tuning.long_run)

    def batches(self, cells: int) -> list[HubBatch]:
        """Put the neighbourhoods of all hubs into batches of at most ``cells`` cells, or on a CPU of an eighth of that.

        What is made of a smaller batch stays in the cache of a CPU, and less is padding where hubs are few.
        """
        return batch_hubs(self.lengths, self.core, cells // self._parts, self.sizes)

    def upper_batches(self, cells: int) -> list[HubBatch]:
        """Put the neighbours of higher number into batches, where there are enough of them for a 5-clique."""
        lengths = np.where(self.later < 4, 0, self.later)
        return batch_hubs(lengths, self.core, cells // self._parts // 4, self.sizes)

    @property
    def _parts(self) -> int:
        return 8 if self.sizes == SIZES["cpu"] else 1

    def adjacency(self, graph: DegreeOrderedGraph) -> Adjacency:
        """Return what tells who is adjacent in the graph, which may have been put on another device."""
        (device,) = graph.heads.devices()
        return put64(self.index, device) if self.index is not None else make_bit_rows(graph, size=self.size)

    @property
    def fixed(self) -> int:
        """Bytes of sums at arcs, of matrices, and of giants."""
        widest = next(x for x in self.sizes if x >= self.lengths.max(initial=0))
        giants = (28 if self.detail == "edge" else 20) * self.graph.leaves.shape[0] * self.giants
        return _ARC_BYTES * self.graph.heads.shape[0] + _CELL_BYTES * max(self.cells, widest**2) + giants

    @property
    def row(self) -> int:
        """Bytes of a row of all tables."""
        if self.sizes == SIZES["cpu"] and self.most <= 2**16:  # one table in half of it; 5-cycles take two whole
            return self.size * {"graph": 8, "node": 8, "edge": 10}[self.detail]
        return 4 * self.size * {"graph": 2, "node": 3, "edge": 4}[self.detail]  # and two copies of one in half of it

    @property
    def least_rows(self) -> int:
        """Bytes of the fewest rows that can be held."""
        return 32 * self.row

    def rows(self, device: jax.Device) -> int:
        """Return how many rows of the tables may be held at a time.

        Raises:
          ValueError: the budget has no room for the fewest.
        """
        arcs = self.graph.heads.shape[0]
        fixed = self.fixed + adjacency_bytes(self.size, arcs, self.index is None)
        memory = working_memory(self.memory, device, fixed + self.least_rows, "orbits of five nodes")
        # Cells of a table have 32-bit numbers.
        return min(self.size, (memory - fixed) // self.row, (2**31 - 1) // self.size)


@in_earnest
def prepare_graph(graph: Graph, detail: Detail, memory: int | None, device: jax.Device, tuning: FiveTuning) -> HubPlan:
    """Assign numbers to the nodes of a graph by degree, and plan the sums over its neighbourhoods.

    Args:
      graph: undirected, with edges.
      detail: whether counts in the graph, node orbits or edge orbits are wanted.
      memory: bytes that the user allows on each device, or ``None``.
      device: where the graph of the plan lies.
      tuning: sizes and limits of the run.
    """
    slots = put64((graph.out_offsets, graph.out_targets), device)
    nodes, arcs = len(slots[0]) - 1, len(slots[1])
    ranked, renumbering = order_by_degree(*slots, nodes=nodes, arcs=arcs)
    # The host waits once for all that sizes depend on.
    wanted = ranked.offsets, ranked.leaves, renumbering.later, ranked.core, bound_counts(ranked)
    offsets, leaves, later, core, largest = jax.device_get(wanted)
    degrees = np.diff(offsets)
    lengths, most_neighbours, core = degrees - leaves, int(degrees.max()), int(core)
    # Refused later, where counts may pass the limit: no number above such degrees is needed.
    steps = (15, 16, 24) if target_of(device).is_accelerator else (12, 16, 24)
    most = next((1 << bits for bits in steps if most_neighbours < 1 << bits), 1 << 31)
    cells, giant = _largest_steps(memory, arcs, device, tuning)
    # Exact in float64 where sums of squares of codegrees are below 2^53.
    giants = 0 if float(most_neighbours) ** 2 * nodes >= 2.0**53 else int((lengths > giant).sum())
    lengths[nodes - giants :] = 0
    plan = HubPlan(
        graph=ranked,
        core=core,
        arcs=int(offsets[-1]),
        lengths=lengths[core:],
        later=later[core:],
        most=most,
        detail=detail,
        memory=memory,
        renumbering=renumbering,
        largest=float(largest),
        most_neighbours=most_neighbours,
        giants=giants,
        cells=cells,
        sizes=_sizes_for(device),
        size=0,
        index=None,
        sparse=False,
        tuning=tuning,
    )
    return _plan_tables(plan, device)


def program_sizes(graph: Graph, device: jax.Device) -> tuple[int, ...]:
    """Return what the programs depend on beside a graph's capacities: columns of tables, and widths of matrices."""
    degrees = graph.degrees[graph.degrees > 1]
    widths = np.unique(np.searchsorted(_sizes_for(device), degrees))
    return table_columns(degrees.size, target_of(device).is_accelerator), *widths.tolist()


def _sizes_for(device: jax.Device) -> tuple[int, ...]:
    return SIZES["accelerator" if target_of(device).is_accelerator else "cpu"]


def _plan_tables(plan: HubPlan, device: jax.Device) -> HubPlan:
    """Choose the size of the tables, what tells who is adjacent, and whether all rows are held at once."""
    shared = plan.memory is None and target_of(device).is_accelerator
    # Tables of a size that many graphs share are taken only where all of their rows can be held.
    for accelerated in (True, False) if shared else (False,):
        planned = plan._replace(size=table_columns(len(plan.lengths), accelerated))
        # Bits, which are fastest, may take half of what is left (and all of a device that is the job's own).
        room = 2 * default_memory(device) if plan.memory is None else plan.memory
        bits, index = (adjacency_bytes(planned.size, plan.graph.heads.shape[0], form) for form in (True, False))
        if not plan.tuning.bit_rows or bits > max(index, (room - planned.fixed - planned.least_rows) // 2):
            planned = planned._replace(index=hash_arcs(plan.graph, device))
        # Walks of length 4 are products of rows of a table, where these are held all at once.
        planned = planned._replace(sparse=planned.rows(device) < len(plan.lengths))
        if not planned.sparse:
            return planned
    return planned


def _largest_steps(memory: int | None, arcs: int, device: jax.Device, tuning: FiveTuning) -> tuple[int, int]:
    """Return cells of matrices at a time, and core neighbours beyond which a node is a giant.

    The matrix of one hub may have four times as many cells, in no more than a fourth of the memory that sums leave.
    """
    cells, giant = tuning.cells, tuning.giant
    if memory is None:
        return cells, giant
    while cells > tuning.least_cells and 4 * cells * _CELL_BYTES > (memory - _ARC_BYTES * arcs) // 4:
        cells //= 2
    return cells, min(giant, max(x for x in _sizes_for(device) if x * x <= 4 * cells))


@jit64
def bound_counts(graph: DegreeOrderedGraph) -> jax.Array:
    """Return a bound of all five-node counts at a node, float64."""
    return largest_count(jnp, arcs_of(graph), jnp.diff(graph.offsets).astype(jnp.float64))
