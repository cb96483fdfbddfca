"""One graphlet run, on one device, on a mesh, or on GPUs and the CPU together: the same counts bit for bit."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.devices.mesh import AXIS, device_mesh, everywhere, on_each_device
from jaxmotif.devices.progress import progress as progress_meter
from jaxmotif.devices.queue import Worker, run_queue
from jaxmotif.devices.select import Selection
from jaxmotif.graph.container import Graph
from jaxmotif.graph.order import DegreeOrder, degree_order
from jaxmotif.graphlets import sparse
from jaxmotif.graphlets.sparse import Plan, Ranges, Statistics
from jaxmotif.graphlets.split import EdgeOrder, Starts, make_units, split_ranges
from jaxmotif.graphlets.tuning import Tuning, choose_tuning
from jaxmotif.kernels.wide import wide_ints

Detail = Literal["graph", "edge", "node"]

# Work (tests and wedges) beyond which a run is cut into units, to show progress and to hear Ctrl-C: about two seconds.
_LONG = {"cpu": 2**27, "accelerator": 2**33}
_UNITS = 64


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
    """

    sums: dict[str, Any]
    values: Any
    edge: Any


def run(
    graph: Graph, detail: Detail, selection: Selection, memory: int | None, schedule: Schedule, show: bool
) -> Outcome:
    """Count; to be called in 64-bit mode with an undirected graph that has edges."""
    device = selection.devices[0]
    nodes, edges = graph.node_capacity, graph.slot_capacity // 2
    tuning = choose_tuning(nodes, edges, device, memory)
    if selection.helper is not None:
        helper_tuning = choose_tuning(nodes, edges, selection.helper, memory)
        crews = hybrid_crews(selection, tuning, helper_tuning, schedule)
        order, plan = prepare(graph, crews[0].tuning, device)
        return run_units(order, plan, detail, crews, schedule.edge_order, show)[0]
    if len(selection.devices) > 1:
        mesh = device_mesh(selection.devices)
        return _run_mesh(everywhere(graph, mesh), tuning=tuning, mesh=mesh, detail=detail)
    order, plan = prepare(graph, tuning, device)
    work = int(plan.triangles.total) + int(plan.wedges.heavy.total) + int(plan.wedges.light.total)
    if work > _LONG["cpu" if device.platform == "cpu" else "accelerator"]:
        return run_units(order, plan, detail, [Crew(device, tuning, [Worker()])], None, show)[0]
    return _run_whole(*jax.device_put((order, plan), device), tuning=tuning, detail=detail)


def hybrid_crews(selection: Selection, tuning: Tuning, helper_tuning: Tuning, schedule: Schedule) -> list[Crew]:
    """The GPUs at the regular end of the queue, the CPU's threads at the difficult one."""
    if not 0 <= schedule.alpha <= 1:
        raise ValueError(f"alpha={schedule.alpha} is not a share of the work; use 0 (no CPU) to 1 (no limit)")
    if schedule.edge_order not in get_args(EdgeOrder):
        raise ValueError(f"unknown edge_order {schedule.edge_order!r}; use one of {', '.join(get_args(EdgeOrder))}")
    if schedule.cpu_workers is not None and schedule.cpu_workers < 1:
        raise ValueError(f"cpu_workers={schedule.cpu_workers}; use at least 1, or alpha=0 for no CPU")
    threads = schedule.cpu_workers or max(1, min(8, (os.cpu_count() or 1) - len(selection.devices)))
    # One plan serves both kinds of device, so heavy and light must mean the same to both.
    most_light, fill = min(tuning.most_light, helper_tuning.most_light), helper_tuning.fill
    gpu = Worker(end="back", helping=schedule.gpu_helping)
    cpu = Worker(end="front", limit=schedule.alpha / threads if schedule.alpha < 1 else 1.0)
    crews = [Crew(device, tuning._replace(most_light=most_light, fill=fill), [gpu]) for device in selection.devices]
    if schedule.alpha == 0 or selection.helper is None:
        return crews
    return [*crews, Crew(selection.helper, helper_tuning._replace(most_light=most_light), [cpu] * threads)]


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


class _Accumulators:
    """What one worker has added up so far, on its device."""

    def __init__(self, order: DegreeOrder, plan: Plan, tuning: Tuning, per_edge: bool, device: jax.Device):
        self.order, self.plan, self.tuning, self.device = order, plan, tuning, device
        with jax.default_device(device), wide_ints():
            first = (sparse.start_triangles(order, tuning), sparse.start_cycles(order, tuning, per_edge))
            # Bound to the device from the start, as the sums that the steps give: they compile once.
            self.first = jax.device_put(first, device)
            self.second = jax.device_put(sparse.start_cliques(order, tuning, per_edge), device)
        self.t = None

    def step_first(self, task: Ranges) -> None:
        with wide_ints():  # the mode is per thread
            self.first = jax.block_until_ready(_first(self.order, self.plan, self.first, task, tuning=self.tuning))

    def step_second(self, task: Ranges) -> None:
        with wide_ints():
            self.second = jax.block_until_ready(
                _second(self.order, self.plan, self.t, self.second, task, tuning=self.tuning)
            )


@partial(jax.jit, static_argnames="tuning", donate_argnums=2)
def _first(order: DegreeOrder, plan: Plan, sums: Any, task: Ranges, tuning: Tuning) -> Any:
    t, cyc = sums
    t = sparse.count_triangles(order, plan, t, task.tests, tuning)
    return t, sparse.count_cycles(order, plan, cyc, task.heavy, task.light, tuning)


@partial(jax.jit, static_argnames="tuning", donate_argnums=3)
def _second(order: DegreeOrder, plan: Plan, t: jax.Array, sums: Any, task: Ranges, tuning: Tuning) -> Any:
    return sparse.count_cliques(order, plan, t, sums, task.tails, tuning)


class Crew(NamedTuple):
    """Equal workers on one device."""

    device: jax.Device
    tuning: Tuning
    workers: list[Worker]


def run_units(
    order: DegreeOrder, plan: Plan, detail: Detail, crews: list[Crew], edge_order: EdgeOrder | None, show: bool
) -> tuple[Outcome, list[int]]:
    """Empty a queue of units with crews of workers, then add up on the first crew's device.

    Returns:
      The outcome, and the work each worker did, crew by crew.
    """
    edges = order.edge_capacity
    units = make_units(order, plan, _UNITS, edge_order)
    hands: list[tuple[Worker, _Accumulators]] = []
    for crew in crews:
        near_order, near_plan = jax.device_put((order, plan), crew.device)
        for worker in crew.workers:
            hands.append((worker, _Accumulators(near_order, near_plan, crew.tuning, detail != "graph", crew.device)))
    main = hands[0][1]

    def total(parts: list[Any]) -> Any:
        # Spare entries differ between kinds of device; what counts are the arcs (or the scalar).
        parts = [jax.tree.map(lambda x: x[:edges] if x.ndim else x, part) for part in parts]
        return jax.tree.map(
            lambda *xs: sum(xs[1:], start=xs[0]), *(jax.device_put(part, main.device) for part in parts)
        )

    def empty(queue: list[Any], label: str, step: str) -> list[int]:
        workers = [worker._replace(step=getattr(sums, step)) for worker, sums in hands]
        with progress_meter(sum(unit.work for unit in queue), unit="steps", label=label, enabled=show) as meter:
            return run_queue(queue, workers, meter.advance)

    done = empty(units.first, "triangles and 4-cycles", "step_first")
    t, cyc = total([sums.first for _, sums in hands])
    for _, sums in hands:
        spare = sums.first[0].shape[0] - edges
        sums.t = jax.device_put(jnp.pad(t, (0, spare)), sums.device)
    more = empty(units.second, "4-cliques", "step_second")
    outcome = _finish(main.order, t, cyc, total([sums.second for _, sums in hands]), detail=detail)
    return outcome, [a + b for a, b in zip(done, more, strict=True)]


@partial(jax.jit, static_argnames="detail")
def _finish(order: DegreeOrder, t: jax.Array, cyc: jax.Array, sums: Any, detail: Detail) -> Outcome:
    return _outcome(order, sparse.finish(order, t, cyc, sums), detail)
