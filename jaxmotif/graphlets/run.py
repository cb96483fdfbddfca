"""One graphlet run, on one device, on a mesh, or on GPUs and the CPU together: the same counts bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.devices.job import Job, Place, places, run_job
from jaxmotif.devices.ledger import Arrays, Store, added
from jaxmotif.devices.memory import with_smaller_steps
from jaxmotif.devices.mesh import AXIS, device_mesh, everywhere, on_each_device
from jaxmotif.devices.queue import Worker
from jaxmotif.devices.select import Selection
from jaxmotif.devices.spans import Span
from jaxmotif.graph.container import Graph
from jaxmotif.graph.order import DegreeOrder, degree_order
from jaxmotif.graphlets import sparse
from jaxmotif.graphlets.sparse import Plan, Ranges, Statistics
from jaxmotif.graphlets.split import EdgeOrder, Starts, pass_work, span_difficulty, span_ranges, split_ranges
from jaxmotif.graphlets.tuning import Detail, Tuning, choose_tuning
from jaxmotif.kernels.cliques import most_row_words
from jaxmotif.kernels.wide import wide_ints

# Work (tests and wedges) on a device beyond which a run is cut into units, to show progress and to hear Ctrl-C: about
# two seconds.
_LONG = {"cpu": 2**27, "accelerator": 2**33}
_UNITS = 64
_LEAST_BLOCK = 2**10


class Schedule(NamedTuple):
    """How GPUs and the CPU share a run.

    Attributes:
      edge_order: what the queue is ordered by.
      alpha: largest share of the work the CPU may take (0: none).
      gpu_helping: share of the work a GPU takes at once; the CPU takes single units.
      cpu_workers: threads on the CPU, each with accumulators of its own (default: up to 8).
    """

    edge_order: EdgeOrder = "degree"
    alpha: float = 1.0
    gpu_helping: float = 0.05
    cpu_workers: int | None = None


class Outcome(NamedTuple):
    """What a run gives: the sums behind the global counts, and columns by edge or by node.

    Attributes:
      sums: pairs of int64 scalars, see :func:`jaxmotif.graphlets.equations.edge_sums`.
      values: int64 ``[M, 17]`` by arc or ``[N, 15]`` by node, or ``None``.
      edge: row of ``Graph.edge_list()`` of each arc.
      notes: what had to be done differently, in words.
    """

    sums: dict[str, Any]
    values: Any
    edge: Any
    notes: tuple[str, ...] = ()


def run(
    graph: Graph,
    detail: Detail,
    selection: Selection,
    memory: int | None,
    schedule: Schedule,
    show: bool,
    store: Store | None = None,
) -> Outcome:
    """Count; to be called in 64-bit mode with an undirected graph that has edges."""
    device, count = selection.main, len(selection.devices)
    nodes, edges = graph.node_capacity, graph.slot_capacity // 2
    tuning = choose_tuning(nodes, edges, device, memory, detail)
    crews = [Crew(place.device, tuning, [place.worker]) for place in places(selection)]
    if selection.helper is not None:
        helping = choose_tuning(nodes, edges, selection.helper, memory, detail)
        crews = hybrid_crews(selection, tuning, helping, schedule)
        tuning = crews[0].tuning
    edge_order = schedule.edge_order if selection.helper is not None else None
    by_units = store is not None or selection.together or selection.helper is not None
    long = _LONG["cpu" if device.platform == "cpu" else "accelerator"] * count
    if count > 1 and not by_units and int(_most_work(jax.device_put(graph, device))) <= long:
        mesh = device_mesh(selection.devices)
        near = everywhere(graph, mesh)
        return _with_tuning(lambda t: _run_mesh(near, tuning=t, mesh=mesh, detail=detail), tuning, edges, device)
    order, plan = prepare(graph, tuning, device)
    work = int(plan.triangles.total) + int(plan.wedges.heavy.total) + int(plan.wedges.light.total)
    if by_units or work > long or count > 1:
        return run_units(order, plan, detail, crews, edge_order, show, selection, store)[0]
    near = jax.device_put((order, plan), device)
    return _with_tuning(lambda t: _run_whole(*near, tuning=t, detail=detail), tuning, edges, device)


def _with_tuning(attempt: Callable[[Tuning], Outcome], tuning: Tuning, edges: int, device: jax.Device) -> Outcome:
    """A run in one call, by smaller steps where the device has too little memory."""

    def smaller(tuning: Tuning) -> tuple[Tuning, str] | None:
        less = _halved(tuning, edges)
        return None if less is None else (less, _steps(less))

    outcome, notes = with_smaller_steps(lambda t: jax.block_until_ready(attempt(t)), tuning, smaller, device)
    return outcome._replace(notes=notes)


def _halved(tuning: Tuning, edges: int) -> Tuning | None:
    """Steps of half the size, as far as the plan allows; ``None`` when nothing can be smaller."""
    light = max(tuning.light_block // 2, 2 * tuning.most_light)
    less = tuning._replace(
        block=max(tuning.block // 2, min(tuning.block, _LEAST_BLOCK)),
        heavy_block=max(tuning.heavy_block // 2, min(tuning.heavy_block, _LEAST_BLOCK)),
        light_block=min(light, tuning.light_block),
        slots=tuning.slots * min(light, tuning.light_block) // tuning.light_block,
        rows=max(1, tuning.rows // 2),
        words=min(tuning.words, max(tuning.words // 2, 2 * most_row_words(edges))),
    )
    return None if less == tuning else less


def _steps(tuning: Tuning) -> str:
    return f"steps of {tuning.block}"


@jax.jit
def _most_work(graph: Graph) -> jax.Array:
    """At least the work of a run: for each edge twice the smaller degree."""
    slots = graph.slot_capacity
    degree = graph.out_offsets[1:] - graph.out_offsets[:-1]
    source = jnp.repeat(jnp.arange(degree.shape[0], dtype=jnp.int32), degree, total_repeat_length=slots)
    real = jnp.arange(slots, dtype=jnp.int32) < graph.out_offsets[-1]
    smaller = jnp.minimum(degree[source], degree[jnp.where(real, graph.out_targets, 0)])
    return jnp.where(real, smaller, 0).sum(dtype=jnp.int64)


def hybrid_crews(selection: Selection, tuning: Tuning, helper_tuning: Tuning, schedule: Schedule) -> list[Crew]:
    """The GPUs at the regular end of the queue, the CPU's threads at the difficult one."""
    if not 0 <= schedule.alpha <= 1:
        raise ValueError(f"alpha={schedule.alpha} is not a share of the work; use 0 (no CPU) to 1 (no limit)")
    if schedule.edge_order not in get_args(EdgeOrder):
        raise ValueError(f"unknown edge_order {schedule.edge_order!r}; use one of {', '.join(get_args(EdgeOrder))}")
    if schedule.cpu_workers is not None and schedule.cpu_workers < 1:
        raise ValueError(f"cpu_workers={schedule.cpu_workers}; use at least 1, or alpha=0 for no CPU")
    # One plan serves both kinds of device, so heavy and light must mean the same to both.
    most_light, fill = min(tuning.most_light, helper_tuning.most_light), helper_tuning.fill
    tunings = {
        device: tuning._replace(most_light=most_light, fill=fill) for device in (selection.main, *selection.local)
    }
    where = places(
        selection, helping=schedule.gpu_helping, helper_share=schedule.alpha, helper_workers=schedule.cpu_workers
    )
    tunings |= {
        place.device: helper_tuning._replace(most_light=most_light) for place in where if place.device not in tunings
    }
    return [Crew(device, own, [p.worker for p in where if p.device == device]) for device, own in tunings.items()]


def prepare(graph: Graph, tuning: Tuning, device: jax.Device) -> tuple[DegreeOrder, Plan]:
    """Order and plan: NumPy arrays for a CPU, arrays on the device for an accelerator."""
    if device.platform == "cpu":  # NumPy sorts an order of magnitude faster than XLA does on a CPU
        order = degree_order(jax.tree.map(np.asarray, graph))
        return order, sparse.make_plan(np, order, tuning)
    return _prepare(jax.device_put(graph, device), tuning=tuning)


@partial(jax.jit, static_argnames="tuning")
def _prepare(graph: Graph, tuning: Tuning) -> tuple[DegreeOrder, Plan]:
    order = degree_order(graph)
    return order, sparse.make_plan(jnp, order, tuning)


@partial(jax.jit, static_argnames=("tuning", "detail"))
def _run_whole(order: DegreeOrder, plan: Plan, tuning: Tuning, detail: Detail) -> Outcome:
    return _outcome(order, sparse.all_statistics(order, plan, tuning, detail != "graph"), detail)


def _outcome(order: DegreeOrder, stats: Statistics, detail: Detail) -> Outcome:
    sums = sparse.graph_sums(order, stats)
    if detail == "graph":
        return Outcome(sums, None, order.edge)
    columns = sparse.edge_columns(order, stats)
    if detail == "node":
        return Outcome(sums, sparse.node_columns(order, columns), order.edge)
    return Outcome(sums, jnp.stack(list(columns.values()), axis=-1), order.edge)


@partial(jax.jit, static_argnames=("tuning", "mesh", "detail"))
def _run_mesh(graph: Graph, tuning: Tuning, mesh: Any, detail: Detail) -> Outcome:
    """Every device takes an equal share of the work; accumulators are added up between the passes."""
    per_edge = detail != "graph"

    # All of it device by device: XLA is left nothing to shard (a sharded prefix sum takes minutes).
    def part(graph: Graph) -> Outcome:
        order = degree_order(graph)
        plan = sparse.make_plan(jnp, order, tuning)
        every = split_ranges(jnp, Starts.of(plan), mesh.size)
        ranges: Ranges = jax.tree.map(lambda x: x[lax.axis_index(AXIS)], every)
        t = sparse.count_triangles(order, plan, sparse.start_triangles(order, tuning), ranges.tests, tuning)
        t = lax.psum(t, AXIS)
        cyc = sparse.start_cycles(order, tuning, per_edge)
        cyc = sparse.count_cycles(order, plan, cyc, ranges.heavy, ranges.light, tuning)
        sums = sparse.start_cliques(order, tuning, per_edge)
        sums = sparse.count_cliques(order, plan, t, sums, ranges.tails, tuning)
        return _outcome(order, sparse.finish(order, t, lax.psum(cyc, AXIS), lax.psum(sums, AXIS)), detail)

    return on_each_device(part, mesh)(graph)


class _Pass:
    """The sums of one pass that one worker has added up so far, on its device."""

    def __init__(self, near: tuple[DegreeOrder, Plan], m: int, tuning: Tuning, per_edge: bool, device: jax.Device):
        (self.order, self.plan), self.m = near, m
        self.tuning, self.per_edge, self.device = tuning, per_edge, device
        self._start()

    def _start(self) -> None:
        with jax.default_device(self.device), wide_ints():
            # Bound to the device from the start, as the sums that the steps give: they compile once.
            self.sums = jax.device_put(self.empty(), self.device)

    def step(self, span: Span) -> None:
        with wide_ints():  # the mode is per thread
            task = np.array(span, np.int32)
            self.sums = jax.block_until_ready(self.advance(task))

    def collect(self) -> Arrays:
        # Spare entries differ between kinds of device; what counts are the true arcs (or the scalar).
        arrays = (np.asarray(x)[: self.m] if x.ndim else np.asarray(x) for x in jax.tree.leaves(self.sums))
        found = dict(zip(self.names, arrays, strict=False))
        self._start()
        return found

    def halve(self) -> str | None:
        less = _halved(self.tuning, self.order.edge_capacity)
        if less is not None:
            self.tuning = less
            self._start()
        return None if less is None else _steps(less)

    names: tuple[str, ...]

    def empty(self) -> Any:
        raise NotImplementedError

    def advance(self, task: np.ndarray) -> Any:
        raise NotImplementedError


class _FirstPass(_Pass):
    names = ("t", "cyc")

    def empty(self) -> Any:
        return sparse.start_triangles(self.order, self.tuning), sparse.start_cycles(
            self.order, self.tuning, self.per_edge
        )

    def advance(self, task: np.ndarray) -> Any:
        return _first(self.order, self.plan, self.sums, task, tuning=self.tuning)


class _SecondPass(_Pass):
    names = ("K", "A", "B")
    t: jax.Array

    def empty(self) -> Any:
        return sparse.start_cliques(self.order, self.tuning, self.per_edge)

    def advance(self, task: np.ndarray) -> Any:
        return _second(self.order, self.plan, self.t, self.sums, task, tuning=self.tuning)


@partial(jax.jit, static_argnames="tuning", donate_argnums=2)
def _first(order: DegreeOrder, plan: Plan, sums: Any, span: jax.Array, tuning: Tuning) -> Any:
    t, cyc = sums
    task = span_ranges(plan, order.node_capacity - order.num_nodes, span[0], span[1])
    t = sparse.count_triangles(order, plan, t, task.tests, tuning)
    return t, sparse.count_cycles(order, plan, cyc, task.heavy, task.light, tuning)


@partial(jax.jit, static_argnames="tuning", donate_argnums=3)
def _second(order: DegreeOrder, plan: Plan, t: jax.Array, sums: Any, span: jax.Array, tuning: Tuning) -> Any:
    task = span_ranges(plan, order.node_capacity - order.num_nodes, span[0], span[1])
    return sparse.count_cliques(order, plan, t, sums, task.tails, tuning)


class Crew(NamedTuple):
    """Equal workers on one device."""

    device: jax.Device
    tuning: Tuning
    workers: list[Worker]


def run_units(
    order: DegreeOrder,
    plan: Plan,
    detail: Detail,
    crews: list[Crew],
    edge_order: EdgeOrder | None,
    show: bool,
    selection: Selection,
    store: Store | None = None,
) -> tuple[Outcome, list[int]]:
    """Two jobs of units for crews of workers, the 4-cliques after the triangles, then the equations.

    Returns:
      The outcome, and the work each worker did, crew by crew.
    """
    edges, m, per_edge = order.edge_capacity, int(order.num_edges), detail != "graph"
    tunings = {crew.device: crew.tuning for crew in crews}
    where = [Place(crew.device, worker) for crew in crews for worker in crew.workers]
    near: dict[jax.Device, tuple[DegreeOrder, Plan]] = {}
    for device in {place.device for place in where}:
        near[device] = jax.device_put((order, plan), device)
    work = pass_work(order, plan)
    difficulty = None if edge_order is None else span_difficulty(order, edge_order)
    parts = max(_UNITS, 16 * len(selection.devices))

    def first_pass(device: jax.Device) -> _FirstPass:
        return _FirstPass(near[device], m, tunings[device], per_edge, device)

    def second_pass(device: jax.Device) -> _SecondPass:
        hand = _SecondPass(near[device], m, tunings[device], per_edge, device)
        hand.t = jax.device_put(padded(first.found["t"], device), device)
        return hand

    def padded(by_arc: np.ndarray, device: jax.Device | None = None) -> np.ndarray:
        spare = device is not None and tunings[device].backend == "xla"
        return by_arc if not by_arc.ndim else np.pad(by_arc, (0, edges + spare - by_arc.shape[0]))

    job = Job("graphlets-1", work.first, parts, added, "steps", "triangles and 4-cycles", difficulty)
    first = run_job(job, first_pass, where, selection, store, show)
    job = Job("graphlets-2", work.second, parts, added, "steps", "4-cliques", difficulty)
    second = run_job(job, second_pass, where, selection, store, show)
    sums = tuple(padded(second.found[name]) for name in _SecondPass.names if name in second.found)
    totals = (padded(first.found["t"]), padded(first.found["cyc"]), sums)
    outcome = _finish(*jax.device_put((order, *totals), selection.main), detail=detail)
    done = [a + b for a, b in zip(first.work, second.work, strict=True)]
    return outcome._replace(notes=(*first.notes, *second.notes)), done


@partial(jax.jit, static_argnames="detail")
def _finish(order: DegreeOrder, t: jax.Array, cyc: jax.Array, sums: Any, detail: Detail) -> Outcome:
    return _outcome(order, sparse.finish(order, t, cyc, sums), detail)
