"""Graphlets of the graphs of a data set: small ones stacked, larger ones joined, very large ones one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._fetch import look_ahead
from jaxmotif.arrays._int64 import Int64
from jaxmotif.arrays._rows import places_of
from jaxmotif.arrays._sizes import graph_class, power_of_two
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._select import Selection
from jaxmotif.graph import Graph, Graphs
from jaxmotif.graph._batch import owners
from jaxmotif.graph._groups import size_groups
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets import _dense as dense
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._run import prepare
from jaxmotif.graphlets._sparse import Plan
from jaxmotif.graphlets._tuning import Detail, Tuning, choose_tuning
from jaxmotif.patterns._totals import all_counts

STACKED_NODES = 128
"""Number of nodes up to which graphs are stacked, where stacking takes fewer steps than a union."""

JOINED_NODES, JOINED_SLOTS = 2**15, 2**20
"""Numbers of nodes and of slots up to which graphs are joined; no sum over the edges of such graphs passes 64 bits."""


STACKED_NODES_5, JOINED_NODES_5 = 64, 2**11
"""The same limits for graphlets of five nodes, whose tables are over pairs of nodes.

A union has about ``JOINED_NODES_5`` nodes, too. No count in a graph of so many nodes passes 64 bits.
"""

LISTED_DEGREE = 8
"""Largest degree of graphs whose five-node graphlets are counted from lists of neighbours, in a union."""


Part = tuple[np.ndarray, np.ndarray, np.ndarray | None]
"""Indices of graphs, their counts, and their rows of values."""


def count_parts(
    graphs: Graphs,
    detail: Detail,
    size: int,
    devices: tuple[jax.Device, ...],
    memory: int | None,
    single: Callable[[Graph], tuple[np.ndarray, np.ndarray]],
) -> Iterator[Part]:
    """Count the graphlets of every graph of a data set, and yield the results part by part.

    Small graphs are stacked: a stack takes a step for each slot, node and word of a row. Larger ones are joined: a
    union takes some tens of such steps for each pair of neighbours of a node. Very large ones are counted one by one.

    Args:
      graphs: the data set.
      detail: whether counts are by graph, edge or node.
      size: 4 or 5.
      devices: the devices, which take batches in turn.
      memory: bytes to work in.
      single: a function that returns the counts of one graph, and its rows of values.

    Yields:
      The indices of some graphs; their global counts, ``[graphs, 17]`` (with five nodes 51 columns); and their rows of
      values by edge or node, one graph after another (``None`` for counts by graph). Counts are int64, or Python
      integers where one is larger.
    """
    small = (graphs.n <= (JOINED_NODES if size == 4 else JOINED_NODES_5)) & (graphs.slots <= JOINED_SLOTS)
    which = np.flatnonzero(small)
    n, slots = graphs.n[which], graphs.slots[which]
    if size == 4:
        words = -(-n // 32)
        pairs = slots * np.maximum(slots / np.maximum(n, 1), 1)
        stacked = (n <= STACKED_NODES) & ((words <= 2) | (slots * n * words <= 64 * pairs))
    else:
        degrees = np.diff(np.asarray(graphs.fields.out_offsets)[: graphs.node_starts[-1] + 1])
        largest = np.zeros(len(graphs), np.int64)
        largest[graphs.n > 0] = np.maximum.reduceat(degrees, graphs.node_starts[:-1][graphs.n > 0])
        largest = largest[which]
        few = largest <= LISTED_DEGREE
        listed = 4 if (largest[few] <= 4).all() else LISTED_DEGREE  # one of two, so that few programs are compiled
        yield from _joined_of_five(graphs, which[few], detail, devices, memory, listed)
        which, stacked = which[~few], n[~few] <= STACKED_NODES_5
    yield from _stacked(graphs, which[stacked], detail, devices, memory, size)
    yield from (_joined if size == 4 else _joined_of_five)(graphs, which[~stacked], detail, devices, memory)
    for i in np.flatnonzero(~small).tolist():
        counts, values = single(graphs[i])
        yield np.array([i]), counts, None if detail == "graph" else values


def _joined_of_five(
    graphs: Graphs,
    which: np.ndarray,
    detail: Detail,
    devices: tuple[jax.Device, ...],
    memory: int | None,
    max_degree: int | None = None,
) -> Iterator[Part]:
    """Count in unions of larger graphs, or of those in which no node has more than ``max_degree`` neighbours."""
    from jaxmotif.graphlets.five import orbits as five

    room = JOINED_NODES_5
    if max_degree is not None:
        room = 2**16 if target_of(devices[0]).is_accelerator else 2**12
        room = room if memory is None else max(min(room, memory // (64 * max_degree**3)), 64)
    parts, sizes = _unions(graphs, which, graphs.n, room, devices[0])

    def begun() -> Iterator[tuple[np.ndarray, Any, Any]]:
        for part, device in zip(parts, cycle(devices), strict=False):
            union = graphs.union(part, sizes)
            if max_degree is None:
                options = JobOptions(Selection((device,)), memory)
                yield part, *five.five_node_orbits(union, options, detail == "edge")[:2]
                continue
            union = jax.device_put(union, device)
            nodes = dense.dense_node_orbits(union, size=5, max_degree=max_degree)
            edges = dense.dense_edge_columns(union, size=5, max_degree=max_degree) if detail == "edge" else None
            yield part, nodes, edges

    for part, nodes, edges in look_ahead(begun(), len(devices)):
        n, nodes = graphs.n[part], np.asarray(nodes)[: graphs.n[part].sum()]
        totals = np.zeros((n.size, nodes.shape[1]), np.int64)
        totals[n > 0] = np.add.reduceat(nodes, (np.cumsum(n) - n)[n > 0], dtype=np.int64)
        values = nodes if detail == "node" else None if edges is None else np.asarray(edges)[: graphs.m[part].sum()]
        yield part, all_counts(np, n, totals.T).T, values


def _stacked(
    graphs: Graphs,
    which: np.ndarray,
    detail: Detail,
    devices: tuple[jax.Device, ...],
    memory: int | None,
    size: int,
) -> Iterator[Part]:
    """Count in small graphs, batch by batch."""
    room = 2**21 if target_of(devices[0]).is_accelerator else 2**18
    if memory is not None:
        room = min(room, memory // 1024)
    rows = graphs.m if detail == "edge" else graphs.n
    turns = cycle(devices)

    def begun() -> Iterator[tuple[np.ndarray, tuple[Int64, jax.Array | None]]]:
        for group in size_groups(graphs, which, lambda nodes, slots: 2.0 * slots * nodes * -(-nodes // 32)):
            # With five nodes the work is in matrices, however few the slots.
            share = 1 if size == 4 else -(-(group.nodes**2) // group.slots)
            for some, batch in group.stacks(graphs, room // share):
                yield some, _dense_batch(jax.device_put(batch, next(turns)), detail=detail, size=size)

    for some, batch in look_ahead(begun(), 2 * len(devices)):
        counts, columns = jax.device_get(batch)
        values = None
        if columns is not None and columns.size:  # take the rows that each graph has, without padding
            room, flat = columns.shape[1], columns.reshape(-1, columns.shape[-1])
            values = flat[places_of(np.arange(some.size) * room, rows[some])]
        yield some, counts.to_numpy()[: some.size], values


@partial(jit64, static_argnames=("detail", "size"))
def _dense_batch(batch: Graph, detail: Detail, size: int) -> tuple[Int64, jax.Array | None]:
    """Count in a batch: counts ``[B, 17]`` (five nodes: 51), and columns at edges or nodes."""
    if size == 5:
        return jax.vmap(partial(dense.dense_five, detail=detail))(batch)
    columns = {
        "edge": lambda graph: dense.edge_rows(graph, dense.slot_columns(graph)),
        "node": dense.orbit_columns,
        "graph": lambda graph: None,
    }[detail]
    return jax.vmap(lambda graph: (dense.dense_graphlet_counts(graph), columns(graph)))(batch)


def _joined(
    graphs: Graphs, which: np.ndarray, detail: Detail, devices: tuple[jax.Device, ...], memory: int | None
) -> Iterator[Part]:
    """Count in larger graphs, some of them at a time in a union."""
    room = 2**23 if target_of(devices[0]).is_accelerator else 2**21
    if memory is not None:
        room = max(min(room, memory // 512), 1)
    parts, sizes = _unions(graphs, which, np.maximum(graphs.slots, graphs.n), room, devices[0])
    most = power_of_two(max((part.size for part in parts), default=0), 16)
    for turn, part in enumerate(parts):
        device = devices[turn % len(devices)]
        tuning = choose_tuning(sizes[0], sizes[1] // 2, device, memory, "edge")
        union = graphs.union(part, sizes)
        order, plan = put64(prepare(union, tuning, device), device)
        owner = owners(graphs.n[part], sizes[0])
        numbers = np.zeros((2, most), np.int64)
        numbers[:, : part.size] = graphs.n[part], graphs.m[part]
        arrays = put64((order, plan, owner, numbers), device)
        counts, values, edge = jax.device_get(_union_counts(*arrays, tuning=tuning, detail=detail))
        if detail == "node":
            values = values[: graphs.n[part].sum()]
        elif detail == "edge":
            m = graphs.m[part].sum()
            by_arc, values = values[:m], np.empty((m, values.shape[1]), np.int64)
            values[edge[:m]] = by_arc
        yield part, counts[: part.size], values


def _unions(
    graphs: Graphs, which: np.ndarray, load: np.ndarray, room: int, device: jax.Device
) -> tuple[list[np.ndarray], tuple[int, int]]:
    """Divide graphs into parts to be joined, and choose capacities for the union of each of them.

    Args:
      graphs: the data set.
      which: the indices of the graphs.
      load: the size of each graph of the data set, by which parts are measured.
      room: the size of a part, which may be exceeded a little.
      device: where the unions go.
    """
    total = np.cumsum(load[which])
    cuts = np.searchsorted(total, np.arange(room, total[-1] if total.size else 0, room))
    parts = [part for part in np.split(which, np.unique(cuts)) if part.size]
    n, slots = (max((int(x[part].sum()) for part in parts), default=0) for x in (graphs.n, graphs.slots))
    return parts, graph_class(n, slots, target_of(device).is_accelerator)


@partial(jit64, static_argnames=("tuning", "detail"))
def _union_counts(
    order: DegreeOrder, plan: Plan, owner: jax.Array, numbers: jax.Array, tuning: Tuning, detail: Detail
) -> tuple[jax.Array, jax.Array | None, jax.Array]:
    """Count in the graphs of a union: counts ``[B, 17]``, columns by arc or node, and the edge list's row of each arc.

    Args:
      order: the union's nodes by degree.
      plan: the work.
      owner: the graph of each node, int32 ``[N]``.
      numbers: int64 ``[2, B]``, nodes and edges of each graph.
      tuning: static sizes.
      detail: whether columns are by edge, by node or not wanted.
    """
    stats = sparse.statistics(order, plan, tuning, per_edge=True)
    real = jnp.arange(order.edge_capacity, dtype=jnp.int32) < order.num_edges
    graph = jnp.where(real, owner[order.node[order.tail]], numbers.shape[1])
    d_u, d_v = order.degree[order.tail].astype(jnp.int64), order.degree[order.head].astype(jnp.int64)
    terms = equations.edge_terms(d_u, d_v, stats.t, stats.K, stats.cyc)
    sums = {name: jax.ops.segment_sum(x, graph, num_segments=numbers.shape[1]) for name, x in terms.items()}
    counts = equations.global_counts(jnp, numbers[0], numbers[1], sums).T
    if detail == "graph":
        return counts, None, order.edge
    of_arc = numbers.at[:, graph].get(mode="clip")
    columns = sparse.edge_columns(order, stats, (of_arc[0], of_arc[1]))
    if detail == "node":
        return counts, sparse.node_columns(order, columns), order.edge
    return counts, jnp.stack(list(columns.values()), axis=-1), order.edge
