"""All orbits of up to five nodes in a graph of any size, on any devices."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._ahead import in_earnest, rehearsal
from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.devices._job import Job, run_job, workers_on
from jaxmotif.devices._memory import default_memory, with_smaller_steps, working_memory
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, Store, added
from jaxmotif.devices._select import Selection
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets import _by_rows as by_rows
from jaxmotif.graphlets import _five_cycles as cycles
from jaxmotif.graphlets import _giants as big
from jaxmotif.graphlets import _hubs as hubs
from jaxmotif.graphlets._five_adjacency import Adjacency, HashedArcs, adjacency_bytes, bit_rows, hashed_arcs
from jaxmotif.graphlets._homs import Arcs, Rims, Sums, edge_orbits, node_orbits, total_homs
from jaxmotif.graphlets._hubs import Blocks, Places, Ranked
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.patterns._totals import all_counts, counts_of_maps

ONE_LIMB, LARGEST_RESULT = 2.0**60, 2.0**90
"""Counts at a node or edge are exact in 64 bits below the first (:mod:`jaxmotif.graphlets._homs`). Above it they are
right modulo 2^61, and the same equations in float64 are so near that they tell the rest; below the second their error
is less than 2^60, with room for weights of a thousand."""


def _arcs(graph: Ranked) -> Arcs:
    def out(x: jax.Array) -> jax.Array:
        nodes = graph.leaves.shape[0]
        return jax.ops.segment_sum(x, graph.tails, num_segments=nodes + 1, indices_are_sorted=True)[:nodes]

    real = graph.tails < graph.leaves.shape[0]

    def end(ends: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.where(real, x.at[ends].get(mode="clip"), jnp.zeros((), x.dtype))

    return Arcs(
        tail=partial(end, graph.tails), head=partial(end, graph.heads), out=out,
        back=lambda x: x.at[graph.back].get(mode="promise_in_bounds"),
    )  # fmt: skip


@jit64
def _node_sums(graph: Ranked) -> tuple[jax.Array, jax.Array]:
    """Degrees, and walks of length 2 from each node, int64 ``[N]``."""
    degrees = jnp.diff(graph.offsets).astype(jnp.int64)
    return degrees, _arcs(graph).around(degrees)


def _with_leaves(arcs: Arcs, d: jax.Array, p2: jax.Array, sums: dict[str, jax.Array]) -> Sums:
    """The sums with what hubs do not see: arcs that lead to or from a leaf, and walks over leaves."""
    leaf_tail, leaf_head = arcs.tail(d) == 1, arcs.head(d) == 1
    tau = arcs.out(sums["t"])
    fixed = dict(sums)
    if "walks4" in sums:
        fixed["w4"] = sums["walks4"] + sums["leaves"]
    else:  # 5-cycles, and the walks of length 4 that are no path
        t, cycles = sums["t"], sums["cycles"]
        again = sums["degrees"] + t * (arcs.tail(d) + arcs.head(d) - 5) + arcs.tail(tau) + arcs.head(tau)
        fixed["w4"] = cycles + arcs.back(cycles) + again
    fixed["q"] = 6 * sums["q"]  # maps of the three others
    # A leaf has one common neighbour with all neighbours of its neighbour, and nothing else within reach.
    from_leaf = {"w3": arcs.head(d), "far": arcs.head(d * d), "wing": arcs.head(d * d), "arm": arcs.head(tau),
                 "w4": arcs.head(tau), "side": 0}  # fmt: skip
    to_leaf = {"w3": arcs.tail(d), "far": arcs.tail(p2), "wing": arcs.tail(d), "arm": 0, "w4": arcs.tail(tau),
               "side": arcs.tail(tau)}  # fmt: skip
    for name in from_leaf.keys() & fixed.keys():
        fixed[name] = jnp.where(leaf_head, to_leaf[name], jnp.where(leaf_tail, from_leaf[name], fixed[name]))
    # Counts in the graph do without some, which XLA leaves out.
    return Sums(**{name: fixed.get(name, jnp.zeros_like(tau[:1])) for name in Sums._fields})


@jit64
def _total_homs(graph: Ranked, sums: dict[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
    """Sums of the low and the high 32 bits of :func:`jaxmotif.graphlets._homs.total_homs`, int64 ``[30]``."""
    arcs, (d, p2) = _arcs(graph), _node_sums(graph)
    found = total_homs(arcs, d, _with_leaves(arcs, d, p2, sums))
    return jnp.stack([(x & 0xFFFFFFFF).sum() for x in found]), jnp.stack([(x >> 32).sum() for x in found])


def _joined(halves: tuple[jax.Array, jax.Array]) -> np.ndarray:
    """Python integers from their low 32 bits and the rest."""
    low, high = jax.device_get(halves)
    return low.astype(object) + (high.astype(object) << 32)


class _Limbs(NamedTuple):
    """Int64 counts ``low + 2^61 high``; ``high`` is absent where all are below 2^60."""

    low: jax.Array
    high: jax.Array | None

    @classmethod
    def of(cls, solve: Callable[[Callable[[jax.Array], jax.Array]], jax.Array], wide: bool) -> _Limbs:
        """What ``solve`` finds, given what to make of the numbers that it takes."""
        low = solve(lambda x: x)
        if not wide:
            return cls(low, None)
        near = solve(lambda x: x.astype(jnp.float64))
        return cls(low, jnp.round((near - low.astype(jnp.float64)) / 2.0**61).astype(jnp.int64))

    def held(self, narrow: bool) -> jax.Array | np.ndarray:
        """On the device, as uint32 where that is asked for; Python integers in host memory where one passes 64 bits."""
        if self.high is None:
            return _as_held(self.low, narrow=narrow)
        low, high = np.asarray(self.low), np.asarray(self.high)
        exact = low + (high << 61)
        beyond = (high > 4) | ((high == 4) & (low >= 0))  # 2^63 = 2^61 * 4
        if beyond.any():
            exact = exact.astype(object)
            exact[beyond] = low[beyond].astype(object) + (high[beyond].astype(object) << 61)
        return exact


@partial(jit64, static_argnames=("wide", "small"))
def _node_result(graph: Ranked, places: Places, sums: dict[str, jax.Array], *, wide: bool, small: bool) -> _Limbs:
    """``[N, 73]``, in the order of the graph's own nodes."""
    arcs = _arcs(graph)
    d, p2 = _node_sums(graph)
    every = _with_leaves(arcs, d, p2, sums)
    found = _Limbs.of(lambda of: node_orbits(jnp, arcs, of(d), Sums(*map(of, every)), small), wide)
    return jax.tree.map(lambda x: x[:, places.nodes].T, found)


@partial(jit64, static_argnames=("wide", "small"))
def _edge_result(
    graph: Ranked, sums: dict[str, jax.Array], again: tuple[jax.Array, jax.Array], *, wide: bool, small: bool
) -> _Limbs:
    """``[68, S]``, by arc."""
    arcs = _arcs(graph)
    d, p2 = _node_sums(graph)
    tau = arcs.out(sums["t"])
    leaf_tail, leaf_head = arcs.tail(d) == 1, arcs.head(d) == 1
    # A leaf has one neighbour: its walks j, k lie along the triangles there.
    floor = jnp.where(leaf_head, arcs.tail(tau), jnp.where(leaf_tail, arcs.head(tau), sums["floor"]))
    rims = Rims(
        floor=floor, triples=again[0], end=arcs.back(again[1]), side=sums["side_pairs"],
        **{name: sums[name] for name in ("eave", "squares", "dart", "tail", "middle", "rim")},
    )  # fmt: skip
    every = _with_leaves(arcs, d, p2, sums)

    def solve(of: Callable[[jax.Array], jax.Array]) -> jax.Array:
        return edge_orbits(jnp, arcs, of(d), Sums(*map(of, every)), Rims(*map(of, rims)), small)

    return _Limbs.of(solve, wide)


@partial(jit64, static_argnames=("edges",))
def _once(found: _Limbs, places: Places, slots: tuple[jax.Array, jax.Array], *, edges: int) -> _Limbs:
    """``[edges, 68]``, in the order of the edge list; ``slots``: the graph's own rows. The one program that is compiled
    for a number of edges: it is small."""
    offsets, targets = slots
    slot = jnp.arange(targets.shape[0], dtype=jnp.int32)
    owner = jnp.searchsorted(offsets, slot, side="right").astype(jnp.int32) - 1
    # Each edge from its lower end, as the edge list has it.
    (once,) = jnp.nonzero((owner < targets) & (slot < offsets[-1]), size=edges, fill_value=0)
    return jax.tree.map(lambda x: x[:, places.arcs[once]].T, found)


@jit64
def _largest(graph: Ranked) -> jax.Array:
    """A bound of all results, float64: how many connected sets of five nodes contain a node, by their trees."""
    d = jnp.diff(graph.offsets).astype(jnp.float64)
    nodes = d.shape[0]

    def around(x: jax.Array) -> jax.Array:
        heads = x.at[graph.heads].get(mode="fill", fill_value=0)
        return jax.ops.segment_sum(heads, graph.tails, num_segments=nodes + 1, indices_are_sorted=True)[:nodes]

    p2, q2 = around(d), around(d * d)
    p3 = around(p2)
    # Trees of five nodes at a node: paths, forks and stars; every connected set has one that spans it.
    paths = around(p3) + d * p3 + p2 * p2 / 2
    forks = d * d * p2 / 2 + around(d * p2) + d * q2 / 2 + around(q2) / 2
    return jnp.max(paths + forks + d**4 / 24 + around(d**3) / 6, initial=0)


LARGEST_HOM = 2.0**57
"""Of counts at a node, up to which all homomorphisms there, at most 24 times as many, are below 2^62. (Those at both
arcs of an edge are below 2^38 where counts are below 2^32.)"""

GIANT = {"cpu": 1536, "accelerator": 4096}
"""Core neighbours beyond which a node's neighbourhood is not made a matrix (:mod:`jaxmotif.graphlets._giants`)."""


class FiveOrbits(NamedTuple):
    """Orbits of up to five nodes: ``[N, 73]`` at nodes, and where wanted ``[m, 68]`` at edges; uint32 where no count
    can be larger, else int64, or Python integers in host memory. ``notes``: what had to be done differently, in words.
    """

    nodes: jax.Array | np.ndarray
    edges: jax.Array | np.ndarray | None
    notes: tuple[str, ...]


def five_node_orbits(
    graph: Graph, selection: Selection, edges: bool = False, memory: int | None = None, show: bool = False,
    store: Store | None = None,
) -> FiveOrbits:  # fmt: skip
    """All orbits of up to five nodes.

    Args:
      graph: undirected, with edges.
      edges: whether those at edges are wanted.
      memory: bytes to work in on each device beside the graph and the result.
      show: progress, where it takes long.
      store: what the work is, and where its checkpoints are.

    Raises:
      OverflowError: counts may pass :data:`LARGEST_RESULT`.
      ValueError: too little memory.
    """
    with jax.default_device(selection.main):
        slots = jax.device_put((graph.out_offsets, graph.out_targets), selection.main)
        given, places, largest = _given(slots, graph, "edge" if edges else "node", memory, selection.main)
        sums, notes = _all_sums(given, selection, show, store)
        narrow, wide = largest < 2.0**32, largest >= ONE_LIMB
        at_nodes = _node_result(given.graph, places, sums, wide=wide, small=narrow).held(narrow)
        if not edges:
            return FiveOrbits(at_nodes, None, notes)
        # What can be summed around the hubs only once the sums before are there.
        late = _late_values(given.graph, sums["t"], sums["l2"])
        again = tuple(hubs.empty(arcs=graph.slot_capacity, names=("triples", "end")).values())
        adjacency = given.adjacency(given.graph)
        for b in given.matrices(given.cells):
            again = hubs.sum_around(again, late, given.graph, adjacency, b.ids, b.steps, width=b.size)
        by_arc = _edge_result(given.graph, sums, again, wide=wide, small=narrow)
        at_edges = _once(by_arc, places, slots, edges=graph.m)
        return FiveOrbits(at_nodes, at_edges.held(narrow), notes)


def five_node_counts(
    graph: Graph, selection: Selection, memory: int | None = None, show: bool = False, store: Store | None = None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The 51 counts of a graph, Python integers as :func:`jaxmotif.patterns._totals.all_counts` gives them, and notes;
    arguments and errors as :func:`five_node_orbits`."""
    nodes = np.array(graph.n, object)
    with jax.default_device(selection.main):
        slots = jax.device_put((graph.out_offsets, graph.out_targets), selection.main)
        given, _, largest = _given(slots, graph, "graph", memory, selection.main)
        if largest < LARGEST_HOM:
            sums, notes = _all_sums(given, selection, show, store)
            homs = _joined(_total_homs(given.graph, sums))
            return counts_of_maps(np, np.concatenate([nodes[None], homs])), notes
    found = five_node_orbits(graph, selection, False, memory, show, store)
    return all_counts(np, nodes, totals(found.nodes)), found.notes


@in_earnest
def _given(
    slots: tuple[jax.Array, jax.Array], graph: Graph, detail: Detail, memory: int | None, device: jax.Device
) -> tuple[_Given, Places, float]:
    """The graph as the passes take it, where its nodes and slots went, and a bound of all results."""
    nodes = graph.node_capacity
    on_host = None if target_of(device).is_accelerator else hubs.sorted_on_host(*map(np.asarray, slots))
    ranked, places = hubs.ranked(*slots, on_host, nodes=nodes, arcs=graph.slot_capacity)
    starts, leaves, later, core, largest = jax.device_get(
        # One wait for all that sizes depend on.
        (ranked.offsets, ranked.leaves, places.later, ranked.core, _largest(ranked))
    )
    degrees = np.diff(starts)
    if largest >= LARGEST_RESULT:
        raise OverflowError(
            f"a node of degree {degrees.max()}: its orbits of five nodes may pass the limit of 2^90 (they "
            f"are below {largest:.2g}); size=4 stays exact"
        )
    most = next(1 << bits for bits in (12, 16, 24) if degrees.max() < 1 << bits)
    core, lengths = int(core), degrees - leaves
    sizes = hubs.SIZES["accelerator" if target_of(device).is_accelerator else "cpu"]
    cells, giant = _largest_steps(memory, graph.slot_capacity, device)
    # Exact in float64 where sums of squares of codegrees are below 2^53. Edge orbits take all hubs as matrices.
    giants = 0 if detail == "edge" or float(degrees.max()) ** 2 * nodes >= 2.0**53 else int((lengths > giant).sum())
    lengths[nodes - giants :] = 0
    given = _Given(
        ranked, core, int(starts[-1]), lengths[core:], later[core:], most, detail, memory, places.later, giants, cells,
        sizes, None, False,
    )  # fmt: skip
    # Bits, which are fastest, may take half of what is left (and all of a device that is the job's own).
    room = 2 * default_memory(device) if memory is None else memory
    bits, index = (adjacency_bytes(given.size, graph.slot_capacity, form) for form in (True, False))
    if bits > max(index, (room - given.fixed - given.least_rows) // 2):
        given = given._replace(index=hashed_arcs(ranked, device))
    # Walks of length 4 are products of rows of a table, where these are held all at once.
    given = given._replace(sparse=given.rows(device) < len(given.lengths))
    return given, places, float(largest)


def _largest_steps(memory: int | None, arcs: int, device: jax.Device) -> tuple[int, int]:
    """Cells of matrices at a time, and core neighbours beyond which a node is a giant: of one hub's matrix there may be
    four times as many cells, in no more than a fourth of the memory that sums leave."""
    kind = "accelerator" if target_of(device).is_accelerator else "cpu"
    cells, giant = _CELLS[kind], GIANT[kind]
    if memory is None:
        return cells, giant
    while cells > _LEAST_CELLS and 4 * cells * _CELL_BYTES > (memory - _ARC_BYTES * arcs) // 4:
        cells //= 2
    return cells, min(giant, max(x for x in hubs.SIZES[kind] if x * x <= 4 * cells))


@partial(jit64, static_argnames="narrow")
def _as_held(counts: jax.Array, *, narrow: bool) -> jax.Array:
    return counts.astype(jnp.uint32) if narrow else counts


_CELLS = {"cpu": 2**18, "accelerator": 2**22}
"""Of matrices of neighbourhoods at a time."""
_LEAST_CELLS = 2**14
_CELL_BYTES, _ARC_BYTES = 100, 400
"""What a step takes for a cell, and for an arc sums (168, and as many again when they are named) and lists of paths."""


class _Given(NamedTuple):
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
        return hubs.blocks(np.where(self.later < 4, 0, self.later), self.core, cells // self._parts // 4, self.sizes)

    @property
    def _parts(self) -> int:
        return 8 if self.sizes == hubs.SIZES["cpu"] else 1

    def adjacency(self, graph: Ranked) -> Adjacency:
        """Of the graph, which may be on another device."""
        if self.index is None:
            return bit_rows(graph, size=self.size)
        (device,) = graph.heads.devices()
        return put64(self.index, device)

    @property
    def fixed(self) -> int:
        """Bytes of sums at arcs, of matrices, and of giants."""
        widest = next(x for x in self.sizes if x >= self.lengths.max(initial=0))
        giants = 20 * self.graph.leaves.shape[0] * self.giants
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


_LONG = {"cpu": 2**31, "accelerator": 2**35}
"""Cells of neighbourhoods beyond which a run is cut into units, to show progress and to hear Ctrl-C: some seconds."""

_UNITS = 32


def _all_sums(
    given: _Given, selection: Selection, show: bool, store: Store | None
) -> tuple[dict[str, jax.Array], tuple[str, ...]]:
    """The sums at all arcs: around all hubs, shared out by hubs."""
    sums, notes = _shared_out(given, selection, show, store)
    if given.giants:
        sums["chord"] = _from_hubs(given.graph, sums["chord"], giants=given.giants)
    return sums, notes


def _shared_out(
    given: _Given, selection: Selection, show: bool, store: Store | None
) -> tuple[dict[str, jax.Array], tuple[str, ...]]:
    device = selection.main
    cells = given.lengths.astype(np.int64) ** 2 + 1
    long = _LONG["accelerator" if target_of(device).is_accelerator else "cpu"]
    if store is None and not selection.several and cells.sum() <= long:
        given = given._replace(lists=_lists(given, device))
        hand, notes = with_smaller_steps(_whole, _Hand(given, device), _halved, device)
        return hand.sums(), notes
    # Devices of one process hand in to one of them; what is kept, or told to other processes, goes through the host.
    total = _Total(device) if store is None and selection.helper is None else None
    units = max(_UNITS, 4 * len(selection.devices))
    if given.sparse:
        cells, units = _by_blocks(cells + _row_work(given, device), given.rows(device)), 4 * len(selection.devices)
    work = np.concatenate([[0], np.cumsum(cells)])
    programs = given.detail, given.memory, given.arcs
    # From the end: the last unit has giants to add up, too.
    job = Job("graphlets-5", work, units, added, "cells", "five nodes", lambda span: span.stop, programs=programs)
    done = run_job(job, lambda place: _Hand(given, place, total), workers_on(selection), selection, store, show)
    if total is not None:
        return total.sums, done.notes
    padding = given.graph.heads.shape[0] - given.arcs
    return {name: _placed(np.pad(x, (0, padding)), device) for name, x in done.found.items()}, done.notes


def _lists(given: _Given, device: jax.Device) -> by_rows.Layout | None:
    """For a CPU, whose caches hold some rows of the tables but not all. Edge orbits take more tables, giants have
    no matrix."""
    if target_of(device).is_accelerator or given.sparse or given.giants or given.detail == "edge":
        return None
    matrices = given.matrices(given.cells)
    adjacency = adjacency_bytes(given.size, given.graph.heads.shape[0], given.index is None)
    needed = given.fixed + adjacency + 2 * given.size**2 + by_rows.needed(matrices, given.arcs)
    memory = default_memory(device) if given.memory is None else given.memory
    if not matrices or given.most > by_rows.MOST or needed > memory or sum(b.cells for b in matrices) >= 2**31:
        return None
    return by_rows.layout(given.graph, matrices, given.arcs, given.lengths)


def _row_work(given: _Given, device: jax.Device) -> np.ndarray:
    """Of each row of the tables, in cells of matrices: those written and read, zeros, products of giants (measured)."""
    nodes, count = given.graph.leaves.shape[0], len(given.lengths)
    at_nodes = np.zeros((nodes, 2), np.int64)
    at_nodes[given.core :, 0] = given.lengths
    at_nodes[nodes - given.giants :, 1] = 1
    cells, giants = np.asarray(_around_rows(given.graph, put64(at_nodes, device)))[:count].T
    beside = giants > 0
    return 2 * cells + given.size // 1024 + beside * (beside.sum() // 20)


def _by_blocks(work: np.ndarray, rows: int) -> np.ndarray:
    """The work of each block of rows at the last of these: units are of whole blocks, as each is made at once."""
    last = np.minimum(np.arange(0, len(work), rows) + rows, len(work)) - 1
    whole = np.zeros_like(work)
    whole[last] = np.add.reduceat(work, np.arange(0, len(work), rows)) if len(work) else 0
    return whole


@jit64
def _around_rows(graph: Ranked, values: jax.Array) -> jax.Array:
    """Sums over the neighbours of the node of each row of a table, of ``[N, K]``."""
    around = big.around_nodes(graph, values)
    return around.at[graph.at_rows + graph.core].get(mode="fill", fill_value=0)


class _Total:
    """What all workers of a process gave, on one of its devices."""

    def __init__(self, device: jax.Device):
        self.sums: dict[str, jax.Array] = {}
        self._device, self._lock = device, threading.Lock()

    def add(self, sums: dict[str, jax.Array]) -> None:
        sums = put64(sums, self._device)
        with self._lock:
            self.sums = jax.block_until_ready(_sum_of(self.sums, sums)) if self.sums else sums


@partial(jit64, donate_argnums=0)
def _sum_of(x: dict[str, jax.Array], y: dict[str, jax.Array]) -> dict[str, jax.Array]:
    return {name: x[name] + y[name] for name in x}


def _placed(x: np.ndarray, device: jax.Device) -> jax.Array:
    with jax.enable_x64(True):
        return jax.device_put(x, device)


def _whole(hand: _Hand) -> _Hand:
    hand.step(Span(0, len(hand.given.lengths)))
    return hand


def _halved(hand: _Hand) -> tuple[_Hand, str] | None:
    note = hand.halve()
    return None if note is None else (hand, note)


def _ends(first: int, stop: int) -> np.ndarray:
    return np.array([first, stop], np.int32)


class _Hand:
    """The sums that one worker has added up so far, on its device; an item of its job is a hub, and where rows of the
    tables are shared out, one of these. ``total``: where it hands in, if not in host memory."""

    def __init__(self, given: _Given, device: jax.Device, total: _Total | None = None):
        # All is put where it is worked on: what a program is compiled for follows from there.
        self.given = given._replace(graph=put64(given.graph, device), above=put64(given.above, device))
        if given.lists is not None:
            self.given = self.given._replace(lists=given.lists._replace(lists=put64(given.lists.lists, device)))
        self._device, self._total = device, total
        self._cells, self._rows = given.cells, given.rows(device)
        self._adjacency = self.given.adjacency(self.given.graph)
        self._node = _node_sums(self.given.graph)
        self._giants = big.known(self.given.graph, given.giants) if given.giants else None
        if given.sparse:
            self._paths = cycles.lists(self.given.graph, self._adjacency, self.given.above, block=self._cells)
        self._up = hubs.upward(self.given.graph)
        self._up_starts = np.concatenate([[0], np.cumsum(given.later)]).astype(np.int32)
        self._clear()

    def _clear(self) -> None:
        given, self._tables, self._meets = self.given, None, None
        self._hubs = given.matrices(self._cells) if given.lists is None else given.lists.matrices
        self._lowest = given.upper_matrices(self._cells)
        arcs = given.graph.heads.shape[0]
        with jax.default_device(self._device):
            kept = 0 if given.lists is None else int(given.lists.firsts[-1])
            self._held = put64(hubs.nothing_gathered(arcs=arcs, detail=given.detail, kept=kept), self._device)
            empty = hubs.empty(arcs=arcs, names=("walks", "cliques"))
        self._walks, self._cliques = (put64(empty[name], self._device) for name in ("walks", "cliques"))
        self._of_tables: jax.Array | None = None
        self._of_rows: dict[str, jax.Array] = {}
        self._of_giants: tuple[dict[str, jax.Array], ...] = ()

    def step(self, span: Span) -> None:
        """A stretch of hubs, and of rows."""
        given, rows = self.given, self._rows
        graph, edges = given.graph, self._adjacency
        first, stop = span.first + given.core, span.stop + given.core
        # By higher neighbours alone, of which there are far fewer at the largest hubs.
        for b in hubs.within(self._lowest, first, stop):
            self._cliques = hubs.five_cliques(
                self._cliques, graph, edges, b.ids, b.steps, width=b.size, detail=given.detail
            )
        if given.lists is not None:  # then this is all
            self._by_rows(given.lists, span)
            jax.block_until_ready((self._held, self._of_rows, self._walks, self._cliques))
            return
        if given.sparse:
            for row in self._blocks(span):
                self._walks = cycles.five_cycles(
                    self._walks, graph, edges, self._paths, np.int32(row), np.int32(span.stop), rows=rows,
                    size=given.size, block=self._cells,
                )  # fmt: skip
            for b in hubs.within(self._hubs, first, stop):
                self._gather(None, b, _ends(0, 0), own=True)
        # Giants come last, with the last stretch.
        last = span.stop == len(given.lengths)
        # A block of rows of all tables at a time: written by all hubs, then read by all, or by those of the stretch.
        wanted, (first, stop) = (span, (0, 2**31)) if given.sparse else (Span(0, len(given.lengths)), (first, stop))
        for row in self._blocks(wanted):
            ends = _ends(row, min(row + rows, wanted.stop))
            tables = self._filled(ends)
            own = not given.sparse and not row
            for b in hubs.within(self._hubs, first, stop, None if own else self._meeting(ends)):
                self._gather(tables, b, ends, own)
            if self._giants is not None and (given.sparse or last):
                self._around_giants(self._giants, tables, ends)
            if not given.sparse:
                self._walk(tables.codegree, row, span)
            # Before the next are made: a device keeps what it still reads.
            jax.block_until_ready((self._held, self._walks, self._of_tables))
            del tables
        if self._giants is not None and last:
            # The tables are gone: what they took is there for it.
            room = None if given.memory is None else self._rows * given.row
            self._of_giants = big.sums(graph, self._giants, self._device, room)
        jax.block_until_ready((self._held, self._walks, self._cliques))

    def _by_rows(self, lists: by_rows.Layout, span: Span) -> None:
        """What all hubs give, the tables row by row."""
        given = self.given
        for b, first in zip(lists.matrices, lists.firsts[:-1], strict=True):
            self._gather(None, b, _ends(0, 0), own=True, first=first)
        codegree, found = by_rows.sums(
            given.graph, lists.lists, self._held, self._node[0], np.int32(len(given.lengths)), size=given.size,
            piece=lists.piece, bits=lists.bits, detail=given.detail,
        )  # fmt: skip
        if given.detail == "node":
            found["roof"] = by_rows.around_common(
                given.graph, lists.lists, self._held.both, found["w3"], piece=lists.piece
            )
        self._of_rows = found
        self._walk(codegree, 0, span, lists.bits)

    def _gather(
        self, tables: hubs.Tables | None, b: hubs.Blocks, ends: np.ndarray, own: bool, first: np.int32 | None = None
    ) -> None:
        given = self.given
        self._held = hubs.gather(
            self._held, tables, given.graph, self._adjacency, self._node, b.ids, b.steps, ends, width=b.size,
            detail=given.detail, most=given.most, own=own, first=first,
        )  # fmt: skip

    def _around_giants(self, known: big.Known, tables: hubs.Tables, ends: np.ndarray) -> None:
        if self._of_tables is None:
            shape = 2, known.near.rows.shape[0], self.given.giants
            self._of_tables = put64(big.no_sums_of_tables(shape=shape), self._device)
        self._of_tables = big.around(
            self._of_tables, tables, self.given.graph, known.giants, known.near, ends, part=self._part(known)
        )

    def _blocks(self, span: Span) -> range:
        """The first row of each block; in a rehearsal two of them, as the others take the same programs."""
        return range(span.first, max(span.stop, span.first + 1), self._rows)[: 2 if rehearsal() else None]

    @in_earnest
    def _meeting(self, ends: np.ndarray) -> np.ndarray | None:
        """Which nodes may have a neighbour in a block of rows; ``None`` where the block is all there is."""
        blocks = -(-len(self.given.lengths) // self._rows)
        if blocks <= 1:
            return None
        if self._meets is None:  # of all blocks in one wait
            self._meets = np.asarray(hubs.meet(self.given.graph, rows=self._rows, blocks=blocks))
        # A stretch begins anywhere in these.
        first, last = ends[0] // self._rows, (ends[1] - 1) // self._rows
        return self._meets[first] | self._meets[last]

    def _part(self, known: big.Known) -> int:
        """Rows of the tables beside giants at a time."""
        return max(1, 16 * self._cells // known.near.nodes.size)

    def _filled(self, ends: np.ndarray) -> hubs.Tables:
        """The tables between two rows; kept where they are all there is."""
        if self._tables is not None:
            return self._tables
        tables = self._made(ends, self.given.detail)
        if self._rows >= len(self.given.lengths) and not self.given.sparse:
            self._tables = tables
        return tables

    def _made(self, ends: np.ndarray, detail: Detail) -> hubs.Tables:
        """The tables between two rows that are wanted for something."""
        given, known = self.given, self._giants
        tables = hubs.empty_tables(given.graph, ends, rows=self._rows, size=given.size, detail=detail, most=given.most)
        if known is not None:
            part = self._part(known)
            tables = big.begin(tables, given.graph, known.giants, known.near, ends, part=part)
        for b in hubs.within(self._hubs, given.core, 2**31, self._meeting(ends)):
            tables = hubs.scatter(
                tables, given.graph, self._adjacency, b.ids, b.steps, ends, width=b.size, detail=detail,
                giants=given.giants,
            )  # fmt: skip
        return tables

    def _walk(self, codegree: jax.Array, row: int, span: Span, bits: int | None = None) -> None:
        """Walks of length 4 at the arcs that lead up from a stretch of hubs, those in a block of rows; ``bits``: of
        codegrees in words."""
        given, rows, nodes = self.given, self._rows, len(self.given.lengths)
        narrow = hubs.short if given.most <= 2**16 and codegree.dtype == jnp.int32 else lambda table: table
        low, block = narrow(codegree), max(16, 16 * self._cells // given.size)
        which = (self._up, self._up_starts[span.first], self._up_starts[span.stop])
        # Each is a product of two rows: a block of rows meets every other one.
        for other in range(0, nodes, rows):
            high = low if other == row else narrow(self._made(_ends(other, min(other + rows, nodes)), "graph").codegree)
            firsts = np.int32(row), np.int32(other)
            self._walks = hubs.fourth_walks(
                self._walks, low, high, given.graph, which, firsts, block=block, most=given.most, bits=bits
            )

    def sums(self) -> dict[str, jax.Array]:
        """All that was added up, on the device, by name: int64 at all arcs."""
        given, found = self.given, self._held.by_name(self.given.detail) | self._of_rows
        leaving = list(self._of_giants)
        if self._giants is not None and self._of_tables is not None:
            giants, near, size = self._giants
            leaving.append(big.of_rows(given.graph, giants, near, self._of_tables, size=size))
        for values in leaving:
            for name in values.keys() & found.keys():
                found[name] = big.add_leaving(found[name], given.graph, values[name], count=given.giants)
        return found | {"cycles" if given.sparse else "walks4": self._walks, "q": self._cliques}

    def collect(self) -> Arrays:
        found = self.sums()
        self._clear()
        if self._total is None:
            # What counts are the true arcs, not padding.
            return {name: np.asarray(x)[: self.given.arcs] for name, x in found.items()}
        if not rehearsal():
            self._total.add(found)
        return {}

    def halve(self) -> str | None:
        """Fewer rows at a time, and fewer matrices."""
        if self.given.lists is not None:
            self.given = self.given._replace(lists=None)
            self._clear()
            return f"{self._rows} rows of tables"
        if self._rows <= 32 and self._cells <= _LEAST_CELLS:
            return None
        self._rows, self._cells = max(min(self._rows, self.given.size) // 2, 32), max(self._cells // 2, _LEAST_CELLS)
        self._clear()
        return f"{self._rows} rows of tables"


@partial(jit64, static_argnames="giants")
def _from_hubs(graph: Ranked, x: jax.Array, *, giants: int) -> jax.Array:
    """What is the same at both arcs of an edge, taken from that which leaves a hub where the other leaves a giant."""
    first = graph.leaves.shape[0] - giants
    return jnp.where((graph.tails >= first) & (graph.heads < first), x[graph.back], x)


@jit64
def _late_values(graph: Ranked, t: jax.Array, l2: jax.Array) -> tuple[jax.Array, jax.Array]:
    """At each arc: the closed walks of length 3 at its head, and ``l2`` of the reversed arc."""
    arcs = _arcs(graph)
    return arcs.head(arcs.out(t)), arcs.back(l2)


@jit64
def _halves(orbits: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Sums over the nodes of the low and high 32 bits of counts ``[N, 73]``."""
    orbits = orbits.astype(jnp.int64)
    return (orbits & 0xFFFFFFFF).sum(axis=0), (orbits >> 32).sum(axis=0)


def totals(orbits: jax.Array | np.ndarray) -> np.ndarray:
    """The sum over all nodes of each of the 73 orbits, as Python integers."""
    if isinstance(orbits, np.ndarray):
        return np.array([sum(column.tolist()) for column in orbits.T], object)
    return _joined(_halves(orbits))
