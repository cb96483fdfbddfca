"""A graphlet run in one graph: as a whole on one device, or in units shared by all devices.

Both give the same counts, bit for bit. Units are parts of the work of equal size, which are ordered by difficulty if
devices of different kinds share a run.

The pure functions at the end count inside the user's own ``jax.jit``. For graphs of up to 512 nodes the functions of
:mod:`jaxmotif.graphlets._dense` are faster, and they vmap well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import QuickLimits, jit64, put64, target_of
from jaxmotif.arrays._int64 import Int64
from jaxmotif.arrays._rows import inverse_order, pad_rows
from jaxmotif.devices._job import Job, JobOptions, JobResult, Task, run_alone, run_job, workers_on
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, added
from jaxmotif.devices._select import Order, Selection
from jaxmotif.graph._container import Graph
from jaxmotif.graph._order import DegreeOrder, degree_order
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets import _products as products
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._sparse import Plan, Statistics
from jaxmotif.graphlets._tuning import Detail, Tuning, choose_tuning
from jaxmotif.kernels._cliques import most_row_words


def pass_work(order: DegreeOrder, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Return the work of both passes: membership tests by lowest node, and wedges by highest node (host).

    It is the same for every plan of a graph.

    Returns:
      The work before each node of the degree order, int64 ``[n + 1]``, without padding nodes: of the pass that finds
      triangles and 4-cycles, and of the pass that finds 4-cliques.
    """
    skip = order.node_capacity - int(order.num_nodes)
    tests, wedges = np.asarray(plan.triangle_starts), plan.wedges
    number = np.asarray(wedges.heavy_row)
    # A running number that grows marks a heavy node, which has wedges of its own; other nodes have none.
    heavy = np.where(np.diff(number, prepend=-1), np.diff(np.asarray(wedges.heavy_starts))[np.maximum(number, 0)], 0)
    of_node = heavy + np.diff(np.asarray(wedges.light_starts))
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(of_node, dtype=np.int64)])
    # Padding nodes come first, without work.
    return (tests + before)[skip:], tests[skip:].astype(np.int64)


def span_difficulty(order: DegreeOrder, by: Order) -> Callable[[Span], float]:
    """Return a function that measures how difficult a stretch of nodes is.

    The measure is the mean degree of the edges' ends, or their mean volume (the sum of the degrees of both ends'
    neighbours). It is negative for an order whose name begins with ``-``.
    """
    degree = np.asarray(order.degree).astype(np.float64)
    skip, sign = order.node_capacity - int(order.num_nodes), -1.0 if by.startswith("-") else 1.0
    m = int(order.num_edges)
    u, v = np.asarray(order.tail)[:m], np.asarray(order.head)[:m]

    def at_nodes(at_tail: np.ndarray, at_head: np.ndarray) -> np.ndarray:
        return np.bincount(u, at_tail, degree.size) + np.bincount(v, at_head, degree.size)

    value = at_nodes(degree[v], degree[u]) if by.endswith("volume") else degree
    # Each node has the sum over its edges. Divided by the sum of degrees, this gives a mean over edges, not over nodes.
    total = at_nodes(value[u] + value[v], value[u] + value[v])

    def mean(span: Span) -> float:
        nodes = slice(skip + span.first, skip + span.stop)
        return sign * float(total[nodes].sum() / max(degree[nodes].sum(), 1.0))

    return mean


# Work (tests and wedges) on a device beyond which a run is cut into units, to show progress and to hear Ctrl-C: about
# two seconds.
_LONG = {"cpu": 2**27, "accelerator": 2**33}
_UNITS = 64
_LEAST_BLOCK = 2**10


class Outcome(NamedTuple):
    """Result of a run: the sums behind the global counts, and columns by edge or by node.

    Attributes:
      sums: int64 ``[8, 2]``, pairs as :func:`jaxmotif.graphlets._equations.edge_sums` gives them, in the order of its
        terms.
      values: int64 ``[M, 17]`` by edge, in the order of ``Graph.edge_list()``, or ``[N, 15]`` by node; or ``None``.
      notes: what had to be done differently, in words.
    """

    sums: Any
    values: Any
    notes: tuple[str, ...] = ()


def run(graph: Graph, detail: Detail, options: JobOptions) -> Outcome:
    """Count the graphlets of up to four nodes in an undirected graph that has edges."""
    selection, memory, device = options.selection, options.memory, options.selection.main
    if selection.helper is None and (sizes := products.choose(graph, detail, device, memory)) is not None:
        return _run_products(graph, detail, sizes, options)
    nodes, edges = graph.node_capacity, graph.slot_capacity // 2
    tuning = choose_tuning(nodes, edges, device, memory, detail)
    tunings = dict.fromkeys(selection.local, tuning)
    if selection.helper is not None:
        helper_tuning = choose_tuning(nodes, edges, selection.helper, memory, detail)
        tunings = hybrid_tunings(selection, tuning, helper_tuning)
        tuning = tunings[device]
    # Work that is kept in a checkpoint, shared among processes, or given to unlike devices is cut into units.
    by_units = options.exports or selection.helper is not None
    long = _LONG["accelerator" if target_of(device).is_accelerator else "cpu"]
    # There are no more tests, and no more wedges, than pairs of edges at nodes. If this bound says that a run is short,
    # the host need not wait for the plan, which has the true numbers.
    is_short = int((graph.degrees**2).sum()) <= long
    if target_of(device).is_accelerator and is_short and not by_units:
        whole = partial(outcome_of_graph, jax.device_put(graph, device), detail=detail)
    else:
        order, plan = prepare(graph, tuning, device)
        if by_units or not (is_short or int(plan.work) <= long):
            return run_units(order, plan, detail, tunings, options)[0]
        order, plan = put64((order, plan), device)

        def whole(tuning: Tuning) -> Outcome:
            # The first program, which takes seconds to compile, is the same for counts at edges and at nodes.
            stats = _statistics(order, plan, tuning=tuning, per_edge=detail != "graph")
            return _outcome(order, stats, detail=detail)

    def attempt(tuning: Tuning) -> Outcome:
        return jax.block_until_ready(whole(tuning=tuning))

    outcome, notes = with_smaller_steps(attempt, tuning, lambda tuning: smaller(tuning, nodes, edges), device)
    return outcome._replace(notes=notes)


def _run_products(graph: Graph, detail: Detail, sizes: products.Sizes, options: JobOptions) -> Outcome:
    """Count in a dense graph by products; its 4-cliques, which may take long, are a job."""
    selection, per_edge = options.selection, detail != "graph"
    device = selection.main
    order = put64(_order_for(graph, device), device)
    # Items are nodes; padding nodes come first, without work.
    lengths = np.diff(np.asarray(order.out_offsets))[graph.node_capacity - graph.n :].astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths**3 + 1)])

    def make(place: jax.Device) -> products.Cliques:
        return products.Cliques(order, lengths, sizes, detail, place)

    long = _LONG["accelerator" if target_of(device).is_accelerator else "cpu"] * products.rates(device).flops
    cliques = make(device)
    if not (options.exports or selection.several) and starts[-1] <= long:
        notes = run_alone(cliques, graph.n, device)
        K = cliques.sums()
    else:
        parts = max(_UNITS, 16 * len(selection.devices))
        job = Job("graphlets-cliques", starts, parts, added, "steps", "4-cliques", divisible=True)
        done = run_job(job, make, options)
        found = pad_rows(done.found["K"], order.edge_capacity) if per_edge else done.found["K"]
        K, notes = cast("jax.Array", put64(found, device)), done.notes
    stats = products.pair_sums(order, cliques.X, K, rows=sizes.rows, per_edge=per_edge)
    return _outcome(order, stats, detail=detail)._replace(notes=notes)


def smaller(tuning: Tuning, nodes: int, edges: int) -> tuple[Tuning, str] | None:
    """Return the sizes to try next where the device has too little memory, and a note that says so.

    There are none (``None``) below the smallest step.
    """
    # A block of light wedges holds more than `most_light` of them, which the plan fixes.
    light = max(tuning.light_block // 2, 2 * tuning.most_light)
    less = tuning._replace(
        block=max(tuning.block // 2, min(tuning.block, _LEAST_BLOCK)),
        heavy_block=max(tuning.heavy_block // 2, min(tuning.heavy_block, _LEAST_BLOCK)),
        light_block=min(light, tuning.light_block),
        slots=tuning.slots * min(light, tuning.light_block) // tuning.light_block,
        counters=max(tuning.counters // 2, nodes),  # one row must fit
        # All rows of one node must fit at once.
        words=min(tuning.words, max(tuning.words // 2, 2 * most_row_words(edges))),
    )
    return None if less == tuning else (less, f"steps of {less.block}")


def hybrid_tunings(selection: Selection, tuning: Tuning, helper_tuning: Tuning) -> dict[jax.Device, Tuning]:
    """Choose the sizes of all devices of a run that GPUs and a CPU share.

    The GPUs work at the regular end of the queue, and the CPU's threads at the difficult one.

    Args:
      selection: the devices.
      tuning: the sizes that suit the GPUs.
      helper_tuning: the sizes that suit the CPU.
    """
    # One plan serves both kinds of device, so heavy and light must mean the same to both.
    most_light, fill = min(tuning.most_light, helper_tuning.most_light), helper_tuning.fill
    own = tuning._replace(most_light=most_light, fill=fill)
    tunings = dict.fromkeys((selection.main, *selection.local), own)
    others = [worker.device for worker in workers_on(selection) if worker.device not in tunings]
    return tunings | dict.fromkeys(others, helper_tuning._replace(most_light=most_light))


def prepare(graph: Graph, tuning: Tuning, device: jax.Device) -> tuple[DegreeOrder, Plan]:
    """Return the degree order and the plan: NumPy arrays for a CPU, arrays on the device for an accelerator."""
    if not target_of(device).is_accelerator:
        order = _order_for(graph, device)
        return order, sparse.make_plan(np, order, tuning)
    return _prepare(jax.device_put(graph, device), tuning=tuning)


def _order_for(graph: Graph, device: jax.Device) -> DegreeOrder:
    if not target_of(device).is_accelerator:  # where NumPy sorts an order of magnitude faster than XLA
        return degree_order(jax.tree.map(np.asarray, graph))
    return degree_order(jax.device_put(graph, device))


@jit64(merge=False, static_argnames="tuning")
def _prepare(graph: Graph, tuning: Tuning) -> tuple[DegreeOrder, Plan]:
    order = degree_order(graph)
    return order, sparse.make_plan(jnp, order, tuning)


@jit64(quick=QuickLimits(unoptimised=2**21), static_argnames=("tuning", "per_edge"))
def _statistics(order: DegreeOrder, plan: Plan, tuning: Tuning, per_edge: bool) -> Statistics:
    return sparse.statistics(order, plan, tuning, per_edge)


@jit64(quick=QuickLimits(unoptimised=2**21), static_argnames="detail")
def _outcome(order: DegreeOrder, stats: Statistics, detail: Detail) -> Outcome:
    term_sums = sparse.graph_sums(order, stats)
    sums = jnp.stack([jnp.stack(term_sums[name]) for name in equations.TERMS])
    if detail == "graph":
        return Outcome(sums, None)
    if detail == "node":
        return Outcome(sums, sparse.node_columns(order, sparse.edge_columns(order, stats)))
    # Columns are taken at the arc of each edge, so that rows come in the order of the edge list.
    columns = sparse.edge_columns(order, stats, arcs=inverse_order(order.edge))
    # The barrier keeps the columns in memory: XLA would else evaluate all of them for each entry of the table.
    return Outcome(sums, jnp.stack(lax.optimization_barrier(list(columns.values())), axis=-1))


@jit64(merge=False, static_argnames=("tuning", "detail"))
def outcome_of_graph(graph: Graph, tuning: Tuning, detail: Detail) -> Outcome:
    """Count in one program: an accelerator would wait a millisecond for the host between two."""
    order, plan = _prepare(graph, tuning=tuning)
    return _outcome(order, _statistics(order, plan, tuning=tuning, per_edge=detail != "graph"), detail=detail)


@jit64(static_argnames=("is_first", "per_edge"))
def _start(order: DegreeOrder, is_first: bool, per_edge: bool) -> Any:
    return (sparse.start_first if is_first else sparse.start_second)(order, per_edge)


@jit64(static_argnames="tuning", donate_argnames="sums")
def _advance(order: DegreeOrder, plan: Plan, t: Any, sums: Any, span: jax.Array, tuning: Tuning) -> Any:
    """Add the sums of a stretch of nodes: of the first pass, or of the second, which needs all triangles ``t``."""
    # Padding nodes come first in the degree order.
    first, stop = (span + (order.node_capacity - order.num_nodes)).astype(jnp.int32)
    if t is None:
        return sparse.first_pass(order, plan, sums, (first, stop), tuning)
    return sparse.second_pass(order, plan, t, sums, (first, stop), tuning)


class _PassTask(Task):
    """The sums of one pass that one worker has added up so far, on its device."""

    def __init__(self, order: DegreeOrder, plan: Plan, t: Any, per_edge: bool, tuning: Tuning) -> None:
        """Begin with sums of nothing.

        Args:
          order, plan: the graph, on the device.
          t: all triangles, on the device, for the second pass; ``None`` for the first.
          per_edge: whether sums are by arc, instead of totals.
          tuning: the sizes of the device's steps.
        """
        self.order, self._plan, self._t, self._per_edge, self.tuning = order, plan, t, per_edge, tuning
        self._clear()

    def _clear(self) -> None:
        """Begin anew at zero, since collected sums must not be counted again."""
        sums = _start(self.order, is_first=self._t is None, per_edge=self._per_edge)
        # The sums are bound to the device from the start, as sums of later steps are, so that a step compiles once.
        self._sums = put64(sums, self.order.tail.sharding)

    def step(self, span: Span) -> None:
        stretch = np.array(span, np.int32)
        added_up = _advance(self.order, self._plan, self._t, self._sums, stretch, tuning=self.tuning)
        self._sums = jax.block_until_ready(added_up)

    def collect(self) -> Arrays:
        # Only the true arcs (or the scalar) count, not padding and the spare entry.
        m = int(self.order.num_edges)
        sums = {name: np.asarray(x)[:m] if x.ndim else np.asarray(x) for name, x in self._sums.items()}
        self._clear()
        return sums

    def halve(self) -> str | None:
        less = smaller(self.tuning, self.order.node_capacity, self.order.edge_capacity)
        if less is None:
            return None
        self.tuning, change = less
        self._clear()
        return change


def run_units(
    order: DegreeOrder,
    plan: Plan,
    detail: Detail,
    tunings: dict[jax.Device, Tuning],
    options: JobOptions,
) -> tuple[Outcome, list[int]]:
    """Run both passes as jobs cut into units, first triangles and 4-cycles, then 4-cliques, and solve the equations.

    Args:
      order: the degree order of the graph.
      plan: the work.
      detail: whether columns are by edge, by node or not wanted.
      tunings: the sizes of each device that works.
      options: the devices, and what is kept and shown.

    Returns:
      The outcome, and the work each worker did.
    """
    selection = options.selection
    near = {device: put64((order, plan), device) for device in tunings}
    difficulty = None if selection.helper is None else span_difficulty(order, selection.hybrid.order)
    parts = max(_UNITS, 16 * len(selection.devices))

    def run_pass(number: int, starts: np.ndarray, label: str, t: np.ndarray | None = None) -> JobResult:
        triangles = {device: None if t is None else put64(t, device) for device in near}

        def make(device: jax.Device) -> _PassTask:
            return _PassTask(*near[device], triangles[device], detail != "graph", tunings[device])

        job = Job(f"graphlets-{number}", starts, parts, added, "steps", label, difficulty, divisible=True)
        return run_job(job, make, options)

    def padded(sums: Arrays) -> Arrays:
        """Pad sums of the true arcs to the length that the steps work with."""
        return {name: pad_rows(x, order.edge_capacity + 1) if x.ndim else x for name, x in sums.items()}

    work_of_first, work_of_second = pass_work(order, plan)
    first = run_pass(1, work_of_first, "triangles and 4-cycles")
    totals = padded(first.found)
    # The 4-cliques need the triangles of all arcs, whichever worker found them.
    second = run_pass(2, work_of_second, "4-cliques", totals["t"])
    outcome = _finish(*put64((order, totals | padded(second.found)), selection.main), detail=detail)
    done = [a + b for a, b in zip(first.work, second.work, strict=True)]
    return outcome._replace(notes=(*first.notes, *second.notes)), done


@jit64(static_argnames="detail")
def _finish(order: DegreeOrder, sums: sparse.Sums, detail: Detail) -> Outcome:
    return _outcome(order, sparse.finish(order, sums), detail)


# ---- pure functions of arrays and static sizes, for programs of the user

MAX_PURE_NODES = 55_000
"""Largest node capacity for which all 17 counts fit 64 bits on the way."""


@jit64(static_argnames="tuning")
def sparse_graphlet_counts(graph: Graph, tuning: Tuning | None = None) -> Int64:
    """Count the 17 induced graphlets of 2, 3 and 4 nodes.

    The function is pure: no step leaves the device, so it can stand in a jitted function.

    Args:
      graph: undirected, capacity up to :data:`MAX_PURE_NODES` nodes.
      tuning: static sizes (default: :func:`jaxmotif.graphlets.choose_tuning` for the graph's capacities).

    Returns:
      Exact 64-bit counts ``[17]`` in the order of :data:`jaxmotif.patterns.GRAPHLET_NAMES`.

    Raises:
      ValueError: when traced, for a directed graph or a capacity above the limit.

    Example:
      >>> import jax, jaxmotif
      >>> graph = jaxmotif.datasets.load("karate")
      >>> jax.jit(sparse_graphlet_counts)(graph).to_numpy()[:3].tolist()
      [78, 483, 45]
    """
    if graph.node_capacity > MAX_PURE_NODES:
        raise ValueError(
            f"sparse_graphlet_counts takes up to {MAX_PURE_NODES} nodes, got room for {graph.node_capacity}: counts "
            "could pass 64 bits; use jaxmotif.graphlet_counts outside jit, or sparse_edge_columns"
        )
    pairs = _pure_outcome(graph, tuning, "graph").sums
    # Below the limit no sum reaches 2^63, so the split halves join again.
    sums = {name: low + (high << 32) for name, (low, high) in zip(equations.TERMS, pairs, strict=True)}
    n, m = (jnp.asarray(x, jnp.int64) for x in (graph.num_nodes, graph.num_edges))
    return Int64.of(equations.global_counts(jnp, n, m, sums))


@jit64(static_argnames="tuning")
def sparse_edge_columns(graph: Graph, tuning: Tuning | None = None) -> Int64:
    """Count, at each edge, the induced graphlets by the edge's place in them; pure, as :func:`sparse_graphlet_counts`.

    Args:
      graph: undirected, any size.
      tuning: static sizes, as for :func:`sparse_graphlet_counts`.

    Returns:
      Exact 64-bit counts ``[M, 17]``, rows in the order of ``Graph.edge_list()``, columns in the order of
      :data:`jaxmotif.patterns.EDGE_COLUMN_NAMES`; padding rows are zero.

    Raises:
      ValueError: when traced, for a directed graph.

    Example:
      >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)], pad=(48, 192))  # graphs of one padded size share a program
      >>> sparse_edge_columns(path).to_numpy()[:3, 3].tolist()  # which edge is the middle of a 4-path
      [0, 1, 0]
    """
    columns = _pure_outcome(graph, tuning, "edge").values
    real = jnp.arange(columns.shape[0], dtype=jnp.int32) < graph.num_edges
    return Int64.of(jnp.where(real[:, None], columns, 0))


@jit64(static_argnames="tuning")
def sparse_node_orbits(graph: Graph, tuning: Tuning | None = None) -> Int64:
    """Count ORCA's 15 orbits at each node; pure, as :func:`sparse_graphlet_counts`.

    Args:
      graph: undirected, no degree above 3,810,779.
      tuning: static sizes, as for :func:`sparse_graphlet_counts`.

    Returns:
      Exact 64-bit counts ``[N, 15]``, in ORCA's order (:data:`jaxmotif.patterns.NODE_ORBIT_NAMES`); padding rows are
      zero.

    Raises:
      ValueError: when traced, for a directed graph.

    Example:
      >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)], pad=(48, 192))
      >>> sparse_node_orbits(star).to_numpy()[0, :8].tolist()
      [3, 0, 3, 0, 0, 0, 0, 1]
    """
    return Int64.of(_pure_outcome(graph, tuning, "node").values)


def _pure_outcome(graph: Graph, tuning: Tuning | None, detail: Detail) -> Outcome:
    # With room for an edge, which takes two slots, a gather has something to read.
    room = max(2 - graph.slot_capacity, 0)
    targets = jnp.pad(jnp.asarray(graph.out_targets), (0, room), constant_values=graph.node_capacity)
    graph = dataclasses.replace(graph, out_targets=targets)
    if tuning is None:
        tuning = choose_tuning(
            graph.node_capacity, graph.slot_capacity // 2, detail="graph" if detail == "graph" else "edge"
        )
    return outcome_of_graph(jax.tree.map(jnp.asarray, graph), tuning=tuning, detail=detail)
