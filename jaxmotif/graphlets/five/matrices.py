"""Five-node orbits from matrices of neighbourhoods, on any device that JAX has.

The plan says which nodes are hubs or giants, and what is held in memory; the engine divides the work by hubs and rows.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._ahead import in_earnest, rehearsal
from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._exact import join_sums
from jaxmotif.arrays._sizes import table_columns
from jaxmotif.devices._job import Job, JobOptions, Task, run_alone, run_job
from jaxmotif.devices._memory import default_memory, working_memory
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, added
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets._tuning import Detail, FiveTuning
from jaxmotif.graphlets.five import cycles, giants, graphs, hubs, results
from jaxmotif.graphlets.five.equations import ALL_PASSES, Pass
from jaxmotif.graphlets.five.giants import Giants

_CELL_BYTES, _ARC_BYTES = 100, 400
"""Bytes that a step takes for a cell of a matrix; and for an arc: sums (168, and as many again while they are named)
and lists of paths."""


LEAST_ROWS = 32
"""The fewest rows of the tables that can be held at a time."""


class HubPlan(NamedTuple):
    """A graph, and how its neighbourhoods are made into matrices.

    Attributes:
      graph: the graph.
      core: its first node of degree 2 or more.
      arcs: the number of arcs that are no padding.
      lengths, later: for each core node, the number of its neighbours in the core, and of those of higher number.
      most: a number above all degrees.
      detail: whether counts in the graph, node orbits or edge orbits are wanted.
      memory: bytes that the user allows on each device, or ``None``.
      renumbering: the new numbers of the graph's own nodes and slots.
      largest: no count at a node is larger.
      most_neighbours: the largest degree.
      giants: how many nodes, those of highest number, are no hubs; their ``lengths`` are 0.
      cells: cells of matrices of neighbourhoods at a time.
      sizes: the widths that matrices may have.
      tuning: sizes and limits of the run.
      size: columns of a table.
      index: tells which nodes are adjacent, if bits of all pairs would take too much memory; else ``None``.
      sparse: whether tables are made a block of rows at a time, and 5-cycles found path by path. Then rows are shared
        out as hubs are, and no two workers make the same row.
      passes: the passes whose sums are wanted.
    """

    graph: graphs.DegreeOrderedGraph
    core: int
    arcs: int
    lengths: np.ndarray
    later: np.ndarray
    most: int
    detail: Detail
    memory: int | None
    renumbering: graphs.Renumbering
    largest: float
    most_neighbours: int
    giants: int
    cells: int
    sizes: tuple[int, ...]
    tuning: FiveTuning
    size: int = 0
    index: graphs.HashedArcs | None = None
    sparse: bool = False
    passes: frozenset[Pass] = ALL_PASSES

    @property
    def with_tables(self) -> bool:
        """Say whether tables are made: for their own sums, or as factors of walks of length 4."""
        return "tables" in self.passes or ("walks" in self.passes and not self.sparse)

    def batches(self, cells: int) -> list[hubs.HubBatch]:
        """Put the neighbourhoods of all hubs into batches of at most ``cells`` cells, or on a CPU of an eighth of that.

        The arrays of a smaller batch stay in the cache of a CPU, and have less padding where hubs are few.
        """
        return hubs.batch_hubs(self.lengths, self.core, cells // self._parts, self.sizes)

    def upper_batches(self, cells: int) -> list[hubs.HubBatch]:
        """Put the neighbours of higher number into batches, where there are enough of them for a 5-clique."""
        lengths = np.where(self.later < 4, 0, self.later)
        return hubs.batch_hubs(lengths, self.core, cells // self._parts // 4, self.sizes)

    @property
    def _parts(self) -> int:
        return 8 if self.sizes == hubs.SIZES["cpu"] else 1

    def adjacency(self, graph: graphs.DegreeOrderedGraph) -> graphs.Adjacency:
        """Return the adjacency of the core, on the device of ``graph``, which is the graph of the plan."""
        (device,) = graph.heads.devices()
        if self.index is None:
            return graphs.BitRows(graph, *graphs.make_bits(graph, size=self.size))
        return put64(self.index._replace(graph=graph), device)

    @property
    def fixed(self) -> int:
        """Bytes of sums at arcs, of matrices, and of giants."""
        widest = next(x for x in self.sizes if x >= self.lengths.max(initial=0))
        giants = (28 if self.detail == "edge" else 20) * self.graph.leaves.shape[0] * self.giants
        return _ARC_BYTES * self.graph.heads.shape[0] + _CELL_BYTES * max(self.cells, widest**2) + giants

    @property
    def row(self) -> int:
        """Bytes of a row of all tables."""
        # On a CPU codegrees take 16 bits, other tables 32; finding 5-cycles takes two tables of 32 bits instead.
        if self.sizes == hubs.SIZES["cpu"] and self.most <= 2**16:
            return self.size * {"graph": 8, "node": 8, "edge": 10}[self.detail]
        # All tables take 32 bits; two copies of the codegrees take 16 bits each.
        return 4 * self.size * {"graph": 2, "node": 3, "edge": 4}[self.detail]

    def rows(self, device: jax.Device) -> int:
        """Return how many rows of the tables may be held at a time.

        Raises:
          ValueError: the budget has no room for the fewest.
        """
        arcs = self.graph.heads.shape[0]
        fixed = self.fixed + graphs.adjacency_bytes(self.size, arcs, self.index is None)
        memory = working_memory(self.memory, device, fixed + LEAST_ROWS * self.row, "orbits of five nodes")
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
    ranked, renumbering = graphs.order_by_degree(*slots, nodes=nodes, arcs=arcs)
    # The host waits once for all that sizes depend on.
    wanted = ranked.offsets, ranked.leaves, renumbering.later, ranked.core, bound_counts(ranked)
    offsets, leaves, later, core, largest = jax.device_get(wanted)
    degrees = np.diff(offsets)
    lengths, most_neighbours, core = degrees - leaves, int(degrees.max()), int(core)
    # A graph of larger degrees is refused later, since counts may pass the limit: it needs no close bound.
    steps = (15, 16, 24) if target_of(device).is_accelerator else (12, 16, 24)
    most = next((1 << bits for bits in steps if most_neighbours < 1 << bits), 1 << 31)
    cells, giant = _largest_steps(memory, arcs, device, tuning)
    # Giants need sums of squared codegrees in float64, which are exact below 2^53; else all nodes are hubs.
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
        tuning=tuning,
    )
    return _plan_tables(plan, device)


def programs_of_five(what: Hashable, graph: Graph, device: jax.Device, memory: int | None) -> Hashable:
    """Return the values that decide which programs a count of five nodes takes.

    They are the graph's capacities, the columns of its tables and the widths of its matrices, beside the arguments.

    Args:
      what: what is counted.
      graph: undirected, padded as it is counted.
      device, memory: as for :func:`prepare_graph`.
    """
    degrees = graph.degrees[graph.degrees > 1]
    columns = table_columns(degrees.size, target_of(device).is_accelerator)
    widths = np.unique(np.searchsorted(_sizes_for(device), degrees)).tolist()
    return "graphlets-5", what, device, memory, graph.node_capacity, graph.slot_capacity, columns, *widths


def _sizes_for(device: jax.Device) -> tuple[int, ...]:
    return hubs.SIZES["accelerator" if target_of(device).is_accelerator else "cpu"]


def _plan_tables(plan: HubPlan, device: jax.Device) -> HubPlan:
    """Choose the size of the tables, the form of adjacency, and whether all rows are held at once."""
    shared = plan.memory is None and target_of(device).is_accelerator
    # Tables of a size that many graphs share are taken only where all of their rows can be held.
    for accelerated in (True, False) if shared else (False,):
        planned = plan._replace(size=table_columns(len(plan.lengths), accelerated))
        # Bits are fastest. They may take half of what is left of the budget, or else of all free memory of the device.
        room = 2 * default_memory(device) if plan.memory is None else plan.memory
        bits, index = (graphs.adjacency_bytes(planned.size, plan.graph.heads.shape[0], form) for form in (True, False))
        if not plan.tuning.bit_rows or bits > max(index, (room - planned.fixed - LEAST_ROWS * planned.row) // 2):
            planned = planned._replace(index=graphs.hash_arcs(plan.graph, device))
        # Walks of length 4 are products of rows of a table, where these are held all at once.
        planned = planned._replace(sparse=planned.rows(device) < len(plan.lengths))
        if not planned.sparse:
            return planned
    return planned


def _largest_steps(memory: int | None, arcs: int, device: jax.Device, tuning: FiveTuning) -> tuple[int, int]:
    """Return how many cells matrices have at a time, and beyond how many core neighbours a node is a giant.

    The matrix of one hub may have four times as many cells, in no more than a fourth of the memory that sums leave.
    """
    cells, giant = tuning.cells, tuning.giant
    if memory is None:
        return cells, giant
    while cells > tuning.least_cells and 4 * cells * _CELL_BYTES > (memory - _ARC_BYTES * arcs) // 4:
        cells //= 2
    return cells, min(giant, max(x for x in _sizes_for(device) if x * x <= 4 * cells))


@jit64
def bound_counts(graph: graphs.DegreeOrderedGraph) -> jax.Array:
    """Return a bound of all five-node counts at a node, float64."""
    return results.largest_count(jnp, results.arcs_of(graph), jnp.diff(graph.offsets).astype(jnp.float64))


class HubMatrices:
    """The engine that makes a small dense matrix of each neighbourhood, and two tables over pairs of nodes.

    It is the faster engine where products of small matrices are nearly free, on GPUs and TPUs. On a CPU it is used if
    numba is not installed, or if the budget has no room for lists of triangles.

    A hub of D neighbours costs D^3 operations of products, and D^2 scattered reads and writes. Walks of length 4 cost
    m n operations more; if memory has no room for the tables, they cost as many as there are paths of three edges. A
    node of more neighbours than :attr:`~jaxmotif.graphlets._tuning.FiveTuning.giant` is no hub, and costs the triangles
    and 4-cycles of its neighbourhood instead (:mod:`jaxmotif.graphlets.five.giants`).
    """

    def __init__(self, graph: Graph, options: JobOptions, detail: Detail, tuning: FiveTuning) -> None:
        self._graph, self._options, self._device = graph, options, options.selection.main
        self._plan = prepare_graph(graph, detail, options.memory, self._device, tuning)
        self.largest, self.most_neighbours = self._plan.largest, self._plan.most_neighbours
        self.wide, self._sums = self.largest >= tuning.one_limb, dict[str, jax.Array]()

    def add_up(self, passes: frozenset[Pass] = ALL_PASSES) -> tuple[str, ...]:
        """Add up the sums at all arcs, and return notes on what had to be done differently.

        Sums around hubs are shared out; then come those around giants, and those that take other sums.

        Args:
          passes: the passes whose sums are wanted; those of others are 0.
        """
        plan, device, union = self._plan._replace(passes=passes), self._device, None
        graph = plan.graph
        sums, notes, known = _share_out_hubs(plan, self._options)
        adjacency = plan.adjacency(graph) if plan.detail == "edge" else None
        if known is not None:
            sums["chord"] = _take_from_hubs(graph, sums["chord"], giants=plan.giants)
            # The tables are gone, so their memory is free for the union of the giants' neighbourhoods.
            room = None if plan.memory is None else plan.rows(device) * plan.row
            union = giants.add_giant_sums(sums, graph, known, adjacency, device, room)
        if adjacency is not None:
            late = results.late_values(graph, sums["t"], sums["l2"])
            late_sums = hubs.zero_sums(arcs=graph.heads.shape[0], names=tuple(late))
            (batches,) = hubs.put_batches(device, plan.batches(plan.cells))
            for width, ids in hubs.steps_between(batches, plan.core, 2**31):
                late_sums = hubs.sum_over_triangles(late_sums, late, adjacency, ids, width=width)
            sums |= late_sums
            if known is not None and union is not None:
                giants.add_at_leaving(sums, known, giants.union_neighbour_sums(union, known, late))
        self._sums = sums
        return notes

    def node_orbits(self) -> jax.Array | np.ndarray:
        """Solve for the orbits at all nodes, ``[N, 73]``."""
        limbs = results.solve_at_nodes(self._plan.graph, self._sums, wide=self.wide)
        return limbs.as_integers(self._plan.renumbering.nodes)

    def edge_orbits(self) -> jax.Array | np.ndarray:
        """Solve for the orbits at all edges, ``[m, 68]``, and free the sums, which take as much room as the result."""
        plan, together = self._plan, self._plan.tuning.edges_together
        slots = jax.device_put((self._graph.out_offsets, self._graph.out_targets), self._device)
        by_arc = results.solve_at_edges(
            plan.graph, self._sums, plan.renumbering, slots, wide=self.wide, together=together
        )
        self._sums = {}
        return results.take_first(by_arc, edges=self._graph.m).as_integers()

    def total_homs(self) -> np.ndarray:
        """Return the homomorphisms of the connected graphs of two to five nodes, Python integers."""
        return join_sums(np.asarray(results.sum_total_homs(self._plan.graph, self._sums)))


def _share_out_hubs(plan: HubPlan, options: JobOptions) -> tuple[dict[str, jax.Array], tuple[str, ...], Giants | None]:
    """Compute the sums around hubs on all devices, and return the sums, the notes and the giants."""
    selection, device = options.selection, options.selection.main
    work = plan.lengths.astype(np.int64) ** 2 + 1
    is_long = work.sum() - len(work) > plan.tuning.long_run  # cut into units even where one device does it all
    if not (options.exports or selection.several or is_long):
        task = HubSumTask(plan, device)
        notes = run_alone(task, len(plan.lengths), device)
        return task.sums(), notes, task.giants
    # The devices of one process add their sums up on one of them. Sums for a checkpoint, or for other processes, go
    # through host memory.
    total = None if options.exports or selection.helper is not None else _DeviceTotal(device)
    units = max(plan.tuning.units, 4 * len(selection.devices))
    if plan.sparse:
        work, units = _move_to_blocks(work + _row_work(plan, device), plan.rows(device)), 4 * len(selection.devices)
    starts = np.concatenate([[0], np.cumsum(work)])
    # What the sums of finished stretches hold depends on these two, which depend on the memory.
    options = options.identified(lambda: (options.fingerprint, plan.giants, plan.sparse))
    programs = plan.detail, plan.passes, plan.memory, plan.arcs
    # Later units are the more difficult ones, and are taken first: large hubs come last.
    job = Job(
        "graphlets-5-hubs", starts, units, added, "cells", "five nodes", lambda span: span.stop, programs=programs
    )
    done = run_job(job, lambda place: HubSumTask(plan, place, total), options)
    known = _find_giants(plan)
    if total is not None:
        return total.sums, done.notes, known
    padding = plan.graph.heads.shape[0] - plan.arcs
    sums: dict[str, Any] = {name: put64(np.pad(x, (0, padding)), device) for name, x in done.found.items()}
    return sums, done.notes, known


def _find_giants(plan: HubPlan) -> Giants | None:
    return giants.find_giants(plan.graph, plan.giants, plan.detail == "edge") if plan.giants else None


def _row_work(plan: HubPlan, device: jax.Device) -> np.ndarray:
    """Estimate the work of each row of the tables, in cells of matrices.

    The weights were measured: a cell that is written and read counts twice, a row has a 1024th of its columns for
    zeros, and a row next to a giant has a twentieth of the number of such rows for the products of giants.

    Returns:
      Int64, one number for each node of the core.
    """
    nodes, count = plan.graph.leaves.shape[0], len(plan.lengths)
    at_nodes = np.zeros((nodes, 2), np.int64)
    at_nodes[plan.core :, 0] = plan.lengths
    at_nodes[nodes - plan.giants :, 1] = 1
    cells, near_giants = np.asarray(_sum_around_rows(plan.graph, put64(at_nodes, device)))[:count].T
    has_giants = near_giants > 0
    return 2 * cells + plan.size // 1024 + has_giants * (has_giants.sum() // 20)


def _move_to_blocks(work: np.ndarray, rows: int) -> np.ndarray:
    """Move the work of each block of rows to its last row: since a block is made at once, units are whole blocks."""
    last = np.minimum(np.arange(0, len(work), rows) + rows, len(work)) - 1
    whole = np.zeros_like(work)
    whole[last] = np.add.reduceat(work, np.arange(0, len(work), rows)) if len(work) else 0
    return whole


@jit64
def _sum_around_rows(graph: graphs.DegreeOrderedGraph, values: jax.Array) -> jax.Array:
    """Return sums of values ``[N, K]`` over the neighbours of the node of each row of a table."""
    around = giants.sum_over_neighbours(graph, values)
    return around.at[graph.at_rows + graph.core].get(mode="fill", fill_value=0)


class _DeviceTotal:
    """The sums of all workers of a process, on one of its devices."""

    def __init__(self, device: jax.Device):
        self.sums: dict[str, jax.Array] = {}
        self._device, self._lock = device, threading.Lock()

    def add(self, sums: dict[str, jax.Array]) -> None:
        """Add the sums of one worker."""
        sums = put64(sums, self._device)
        with self._lock:
            self.sums = jax.block_until_ready(_add_all(self.sums, sums)) if self.sums else sums


@partial(jit64, donate_argnums=0)
def _add_all(x: dict[str, jax.Array], y: dict[str, jax.Array]) -> dict[str, jax.Array]:
    return {name: x[name] + y[name] for name in x}


Ints = np.ndarray | jax.Array
"""Integers, in host memory or on a device."""


def _ends(first: int, stop: int) -> np.ndarray:
    """Return the first row of a block and the one past its last, int32 ``[2]``."""
    return np.array([first, stop], np.int32)


class HubSumTask(Task):
    """The sums of one worker, on its device; an item of its job is a hub, and where rows are shared out, a row."""

    adds_in_parts = True

    def __init__(self, plan: HubPlan, device: jax.Device, total: _DeviceTotal | None = None):
        """Put the graph on a device. The sums go to ``total`` in the end, or to host memory."""
        # A program is compiled for the device on which its arguments are.
        self.plan = plan._replace(graph=put64(plan.graph, device))
        self._device, self._total = device, total
        self._cells, self._rows = plan.cells, plan.rows(device)
        self._adjacency = self.plan.adjacency(self.plan.graph)
        self._node = results.degrees_and_walks(self.plan.graph)
        if plan.sparse and "walks" in plan.passes:
            later = put64(plan.renumbering.later, device)
            self._paths = cycles.list_paths(self._adjacency, later, block=self._cells)
        self._lay_out()

    @cached_property
    def giants(self) -> Giants | None:
        """The giants, if there are any."""
        return _find_giants(self.plan)

    @cached_property
    def _up(self) -> tuple[jax.Array, np.ndarray]:
        """The upward arcs, and how many of them come before those of each hub."""
        starts = np.concatenate([[0], np.cumsum(self.plan.later)]).astype(np.int32)
        return hubs.upward_arcs(self.plan.graph), starts

    def _lay_out(self) -> None:
        """Put hubs into batches, and begin with sums of nothing."""
        plan = self.plan
        self._hubs, self._lowest = hubs.put_batches(
            self._device, plan.batches(self._cells), plan.upper_batches(self._cells)
        )
        self._begin(self._zeros())

    def _zeros(self) -> tuple[hubs.HubSums, jax.Array, jax.Array]:
        """Return sums of nothing: of hubs, of walks and of 5-cliques."""
        arcs, device = self.plan.graph.heads.shape[0], self._device
        with jax.default_device(device):
            of_hubs = put64(hubs.zero_hub_sums(arcs=arcs, detail=self.plan.detail), device)
            empty = hubs.zero_sums(arcs=arcs, names=("walks", "cliques"))
        return of_hubs, put64(empty["walks"], device), put64(empty["cliques"], device)

    def _begin(self, zeros: tuple[hubs.HubSums, jax.Array, jax.Array]) -> None:
        self._of_hubs, self._walks, self._cliques = zeros
        self._tables, self._meets = None, None
        self._of_tables: jax.Array | None = None

    def step(self, span: Span) -> None:
        """Add what a stretch of hubs gives; if rows are shared out, also what the rows of the stretch give."""
        plan, rows = self.plan, self._rows
        first, stop = span.first + plan.core, span.stop + plan.core
        # 5-cliques take higher neighbours alone, of which the largest hubs have far fewer.
        for width, ids in hubs.steps_between(self._lowest, first, stop) if "cliques" in plan.passes else ():
            self._cliques = hubs.add_five_cliques(self._cliques, self._adjacency, ids, width=width, detail=plan.detail)
        if plan.sparse and "walks" in plan.passes:
            for row in self._block_starts(span):
                ends = _ends(row, min(row + rows, span.stop))
                self._walks = cycles.add_five_cycles(
                    self._walks, self._adjacency, self._paths, ends, rows=rows, size=plan.size, block=self._cells
                )
        if plan.sparse or not plan.with_tables:
            for width, ids in hubs.steps_between(self._hubs, first, stop):
                self._gather(None, width, ids, _ends(0, 0), own=True)
        # A block of rows of all tables at a time: written by all hubs, then read by all, or by those of the stretch.
        wanted, (first, stop) = (span, (0, 2**31)) if plan.sparse else (Span(0, len(plan.lengths)), (first, stop))
        for row in self._block_starts(wanted) if plan.with_tables else ():
            ends = _ends(row, min(row + rows, wanted.stop))
            block = self.cached_tables(ends)
            own, at = not plan.sparse and not row, put64(ends, self._device)
            for width, ids in hubs.steps_between(self._hubs, first, stop, None if own else self._meeting(ends)):
                self._gather(block, width, ids, at, own)
            # If the rows of a block do not depend on the stretch, this is done once, with the last stretch.
            if self.giants is not None and (plan.sparse or span.stop == len(plan.lengths)):
                self._sum_over_giants(self.giants, block, at)
            if not plan.sparse and "walks" in plan.passes:
                self._walk(block.codegree, row, span)
            # A device keeps a block as long as it reads it, so wait before the next block is made.
            jax.block_until_ready((self._of_hubs, self._walks, self._of_tables))
            del block
        jax.block_until_ready((self._of_hubs, self._walks, self._cliques))

    def _gather(self, block: hubs.Tables | None, width: int, ids: Ints, ends: Ints, own: bool) -> None:
        """Add what some hubs give; the arguments are those of :func:`jaxmotif.graphlets.five.hubs.gather_hub_sums`."""
        plan = self.plan
        self._of_hubs = hubs.gather_hub_sums(
            self._of_hubs,
            block,
            self._adjacency,
            self._node,
            ids,
            ends,
            width=width,
            detail=plan.detail,
            most=plan.most,
            own=own,
            giants=plan.giants if plan.detail == "edge" else 0,
        )

    def _sum_over_giants(self, known: Giants, block: hubs.Tables, ends: Ints) -> None:
        """Write the sums over giants of the rows of a block of the tables."""
        if self._of_tables is None:
            zeros = np.zeros((2, *known.near.shape, known.count), np.int64)
            self._of_tables = cast("jax.Array", put64(zeros, self._device))
        self._of_tables = giants.sum_over_giants(
            self._of_tables, block, self.plan.graph, known, ends, part=self._part(known)
        )

    def _block_starts(self, span: Span) -> range:
        """Return the first row of each block; in a rehearsal only two, as further blocks take the same programs."""
        return range(span.first, max(span.stop, span.first + 1), self._rows)[: 2 if rehearsal() else None]

    @in_earnest
    def _meeting(self, ends: np.ndarray) -> np.ndarray | None:
        """Find the nodes that may have a neighbour in a block of rows; ``None`` where the block is all there is."""
        blocks = -(-len(self.plan.lengths) // self._rows)
        if blocks <= 1:
            return None
        if self._meets is None:  # found for all blocks at once, so that the host waits only once
            self._meets = np.asarray(hubs.find_meeting_hubs(self.plan.graph, rows=self._rows, blocks=blocks))
        # The rows may begin anywhere, and then lie in two of these blocks.
        first, last = ends[0] // self._rows, (ends[1] - 1) // self._rows
        return self._meets[first] | self._meets[last]

    def _part(self, known: Giants) -> int:
        """Return to how many rows of the tables giants add at a time."""
        return max(1, 16 * self._cells // known.near.size)

    def cached_tables(self, ends: np.ndarray) -> hubs.Tables:
        """Return the tables between two rows; if these are all rows, keep the tables for later calls."""
        if self._tables is not None:
            return self._tables
        block = self.build_tables(ends, self.plan.detail)
        if self._rows >= len(self.plan.lengths) and not self.plan.sparse:
            self._tables = block
        return block

    def build_tables(self, ends: np.ndarray, detail: Detail) -> hubs.Tables:
        """Make the rows between ``ends`` of the tables that results of this detail need."""
        plan, known = self.plan, self.giants
        at = put64(ends, self._device)  # once for all programs
        block = hubs.empty_tables(plan.graph, at, rows=self._rows, size=plan.size, detail=detail, most=plan.most)
        if known is not None:
            block = giants.scatter_giants(block, plan.graph, known, at, part=self._part(known), most=plan.most)
        for width, ids in hubs.steps_between(self._hubs, plan.core, 2**31, self._meeting(ends)):
            block = hubs.scatter_hubs(
                block, self._adjacency, ids, at, np.int32(plan.giants), width=width, detail=detail
            )
        return block

    def _walk(self, codegree: jax.Array, row: int, span: Span) -> None:
        """Add walks of length 4 at the upward arcs of a stretch of hubs, whose lower ends are in a block of rows."""
        plan, rows, nodes = self.plan, self._rows, len(self.plan.lengths)
        narrow = hubs.narrow_table if plan.most <= 2**16 and codegree.dtype == jnp.int32 else lambda table: table
        low, block = narrow(codegree), max(16, 16 * self._cells // plan.size)
        up, starts = self._up
        which = (up, starts[span.first], starts[span.stop])
        # The walks at an arc are a product of two rows, so this block of rows is taken with every block.
        for other in range(0, nodes, rows):
            high = low
            if other != row:
                high = narrow(self.build_tables(_ends(other, min(other + rows, nodes)), "graph").codegree)
            firsts = np.int32(row), np.int32(other)
            self._walks = hubs.add_fourth_walks(
                self._walks, low, high, plan.graph, which, firsts, block=block, most=plan.most
            )

    def sums(self) -> dict[str, jax.Array]:
        """Return all that was added up, on the device, by name: int64 at all arcs."""
        plan, sums = self.plan, hubs.sums_by_name(self._of_hubs, detail=self.plan.detail)
        if self._of_tables is not None and self.giants is not None:
            values = giants.sums_from_rows(plan.graph, self.giants, self._of_tables)
            giants.add_at_leaving(sums, self.giants, values)
        return sums | {"cycles" if plan.sparse else "walks4": self._walks, "q": self._cliques}

    def collect(self) -> Arrays:
        """Add the sums to the total of the process, or return them in host memory without padding; then begin anew."""
        # What may run out of memory comes first, so that nothing is lost or added twice.
        sums, zeros, collected = self.sums(), self._zeros(), {}
        if self._total is None:
            collected = {name: np.asarray(x)[: self.plan.arcs] for name, x in sums.items()}
        elif not rehearsal():
            self._total.add(sums)
        self._begin(zeros)
        return collected

    def halve(self) -> str | None:
        """Begin anew with fewer rows at a time, and fewer matrices."""
        least = self.plan.tuning.least_cells
        if self._rows <= LEAST_ROWS and self._cells <= least:
            return None
        self._rows, self._cells = max(min(self._rows, self.plan.size) // 2, LEAST_ROWS), max(self._cells // 2, least)
        self._lay_out()
        return f"{self._rows} rows of tables"


@partial(jit64, static_argnames="giants")
def _take_from_hubs(graph: graphs.DegreeOrderedGraph, x: jax.Array, *, giants: int) -> jax.Array:
    """Return sums at arcs, where an arc from a giant to a hub takes the sum of its reverse.

    Args:
      graph: S arcs in all.
      x: ``[S]``, a sum that is the same at both arcs of an edge, and is known where an arc leaves a hub.
      giants: static, the number of giants, which are the last nodes.
    """
    first = graph.leaves.shape[0] - giants
    return jnp.where((graph.tails >= first) & (graph.heads < first), x[graph.back], x)
