"""Graphlets of the graphs of a data set: small ones stacked, larger ones joined, very large ones one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._int64 import Int64
from jaxmotif.arrays._present import integers
from jaxmotif.arrays._rows import places_of
from jaxmotif.arrays._sizes import graph_class, power_of_two
from jaxmotif.devices._select import Selection
from jaxmotif.graph import Graph, Graphs
from jaxmotif.graph._batch import owners
from jaxmotif.graph._groups import size_groups
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._dense import dense_five, dense_graphlet_counts, orbit_columns, slot_columns
from jaxmotif.graphlets._run import prepare
from jaxmotif.graphlets._sparse import Plan
from jaxmotif.graphlets._tuning import Detail, Tuning, choose_tuning
from jaxmotif.patterns import EDGE_COLUMN_NAMES, GRAPHLET_NAMES, NODE_ORBIT_NAMES
from jaxmotif.patterns._orbits import EDGE_NAMES_5, NODE_NAMES_5
from jaxmotif.patterns._totals import NAMES_5, all_counts

STACKED_NODES = 128
"""Graphs of at most so many nodes are stacked, where few have common neighbours to look for otherwise."""

JOINED_NODES, JOINED_SLOTS = 2**15, 2**20
"""Graphs of at most so many nodes and slots are joined: of these, no sum over edges passes 64 bits."""


STACKED_NODES_5, JOINED_NODES_5 = 64, 2**11
"""Likewise for five nodes, whose tables are over pairs of nodes; a union has about as many."""


class Many(NamedTuple):
    """What is found in a data set.

    Attributes:
      counts: the 17 global counts of each graph (51 with five nodes), ``[B, 17]``; int64, or Python integers where one
        is larger.
      values: int64 ``[rows, columns]`` by edge or node, all graphs side by side; Python integers where one is larger.
      starts: int64 ``[B + 1]``, the first row of each graph.
      notes: in words.
    """

    counts: np.ndarray
    values: np.ndarray
    starts: np.ndarray
    notes: tuple[str, ...] = ()

    def rows(self, i: int) -> np.ndarray:
        """Those of one graph."""
        return self.values[self.starts[i] : self.starts[i + 1]]


Single = Callable[[Graph], tuple[dict[str, int], np.ndarray | None]]
"""Counts, and values, of one graph."""


def count_many(
    graphs: Graphs, detail: Detail, devices: tuple[jax.Device, ...], memory: int | None, single: Single,
    advance: Callable[[int], None],
) -> Many:  # fmt: skip
    """Count in every graph of a data set.

    Args:
      devices: that take batches in turn.
      memory: bytes to work in.
      single: for graphs that are counted one by one.
      advance: told how many graphs are done, now and then.
    """
    which = np.flatnonzero((graphs.n <= JOINED_NODES) & (graphs.slots <= JOINED_SLOTS))
    parts = _small(graphs, which, detail, devices, memory)
    return _together(graphs, detail, (len(GRAPHLET_NAMES), _WIDTH[detail]), parts, single, advance)


_WIDTH: dict[Detail, int] = {"graph": 0, "edge": len(EDGE_COLUMN_NAMES), "node": len(NODE_ORBIT_NAMES)}


class Found(NamedTuple):
    """Indices of graphs, their counts, and their rows of values."""

    which: np.ndarray
    counts: np.ndarray
    values: np.ndarray | None


def _together(
    graphs: Graphs, detail: Detail, widths: tuple[int, int], parts: Iterable[Found], single: Single,
    advance: Callable[[int], None],
) -> Many:  # fmt: skip
    """What was found in parts of a data set, and what ``single`` finds in the other graphs."""
    rows = {"graph": np.zeros_like(graphs.n), "edge": graphs.m, "node": graphs.n}[detail]
    starts = np.concatenate([[0], np.cumsum(rows)])
    # Counts of five nodes may pass 64 bits in graphs of some 16,000 nodes: Python integers.
    counts = np.zeros((len(graphs), widths[0]), object if widths[0] > len(GRAPHLET_NAMES) else np.int64)
    values, done = np.zeros((starts[-1], widths[1]), np.int64), np.zeros(len(graphs), bool)
    for part in parts:
        counts[part.which] = part.counts
        # Rows of all graphs lie side by side, those of one part wherever its graphs are.
        if part.values is not None:
            values[places_of(starts[part.which], rows[part.which])] = part.values
        done[part.which] = True
        advance(part.which.size)
    for i in np.flatnonzero(~done).tolist():
        by_name, found = single(graphs[i])
        number = integers(list(by_name.values()))
        counts = counts.astype(np.promote_types(number.dtype, counts.dtype), copy=False)
        counts[i] = number
        if found is not None:
            values = values.astype(np.promote_types(found.dtype, values.dtype), copy=False)
            values[starts[i] : starts[i + 1]] = found
        advance(1)
    if detail == "graph":
        return Many(counts, counts, np.arange(len(graphs) + 1))
    return Many(counts, values, starts)


def count_many_of_five(
    graphs: Graphs, detail: Detail, devices: tuple[jax.Device, ...], memory: int | None, single: Single,
    advance: Callable[[int], None],
) -> Many:  # fmt: skip
    """As :func:`count_many`, with subgraphs of five nodes: unions of some graphs at a time."""
    which = np.flatnonzero((graphs.n <= JOINED_NODES_5) & (graphs.slots <= JOINED_SLOTS))
    stacked = graphs.n[which] <= STACKED_NODES_5

    def parts() -> Iterator[Found]:
        yield from _stacked(graphs, which[stacked], detail, devices, memory, size=5)
        yield from _joined_of_five(graphs, which[~stacked], detail, devices, memory)

    width = {"graph": 0, "edge": len(EDGE_NAMES_5), "node": len(NODE_NAMES_5)}[detail]
    found = _together(graphs, detail, (len(NAMES_5), width), parts(), single, advance)
    small = integers(found.counts.ravel().tolist()).reshape(found.counts.shape)
    return found._replace(counts=small, values=small if detail == "graph" else found.values)


def _joined_of_five(
    graphs: Graphs, which: np.ndarray, detail: Detail, devices: tuple[jax.Device, ...], memory: int | None
) -> Iterator[Found]:
    """Counts of larger graphs, a union of some at a time."""
    from jaxmotif.graphlets.five import orbits as five

    chunks, sizes = _unions(graphs, which, graphs.n, JOINED_NODES_5)
    for turn, part in enumerate(chunks):
        n, m, device = graphs.n[part], graphs.m[part], devices[turn % len(devices)]
        nodes, edges = np.zeros((n.sum(), len(NODE_NAMES_5)), np.int64), np.zeros((0, len(EDGE_NAMES_5)), np.int64)
        if m.sum():
            found = five.five_node_orbits(graphs.union(part, sizes), Selection((device,)), detail == "edge", memory)
            nodes, edges = np.asarray(found.nodes)[: n.sum()], edges if found.edges is None else np.asarray(found.edges)
        ends = np.cumsum(n)
        sums = np.concatenate([np.zeros((1, nodes.shape[1]), np.int64), np.cumsum(nodes, axis=0, dtype=np.int64)])
        # Differences of running sums: a row of totals for each graph.
        totals = (sums[ends] - sums[ends - n]).astype(object).T
        yield Found(
            part, all_counts(np, n.astype(object), totals).T, {"graph": None, "edge": edges, "node": nodes}[detail]
        )


def _small(
    graphs: Graphs, which: np.ndarray, detail: Detail, devices: tuple[jax.Device, ...], memory: int | None
) -> Iterator[Found]:
    """Counts of graphs that are stacked or joined.

    A stack takes a step for each slot, node and word of a row; a union, for each pair of neighbours of a node, some
    tens of such steps.
    """
    n, slots = graphs.n[which], graphs.slots[which]
    words = -(-n // 32)
    pairs = slots * np.maximum(slots / np.maximum(n, 1), 1)
    stacked = (n <= STACKED_NODES) & ((words <= 2) | (slots * n * words <= 64 * pairs))
    yield from _stacked(graphs, which[stacked], detail, devices, memory)
    yield from _joined(graphs, which[~stacked], detail, devices, memory)


def _stacked(
    graphs: Graphs, which: np.ndarray, detail: Detail, devices: tuple[jax.Device, ...], memory: int | None,
    size: int = 4,
) -> Iterator[Found]:  # fmt: skip
    """Counts of small graphs, batch by batch; each device is given its next before the last is fetched."""
    room = 2**21 if target_of(devices[0]).is_accelerator else 2**18
    if memory is not None:
        room = max(min(room, memory // 1024), 64)
    upper = _upper(graphs) if detail == "edge" else None
    under_way: list[tuple[np.ndarray, int, tuple[Int64, jax.Array | None]]] = []
    turn = 0
    for group in size_groups(graphs, which, lambda nodes, slots: 2.0 * slots * nodes * -(-nodes // 32)):
        # With five nodes all is in matrices, however few the slots.
        share = 1 if size == 4 else -(-(group.nodes**2) // group.slots)
        for some, batch in group.stacks(graphs, room // share):
            found = _dense_batch(jax.device_put(batch, devices[turn % len(devices)]), detail=detail, size=size)
            under_way.append((some, group.nodes if detail == "node" else group.slots, found))
            turn += 1
            # So many batches under way, and no more: results wait on the devices.
            if len(under_way) > 2 * len(devices):
                yield _fetched(graphs, upper, *under_way.pop(0))
    for one in under_way:
        yield _fetched(graphs, upper, *one)


@partial(jit64, static_argnames=("detail", "size"))
def _dense_batch(batch: Graph, detail: Detail, size: int) -> tuple[Int64, jax.Array | None]:
    """Counts ``[B, 17]`` (51), and columns at slots or nodes."""
    if size == 5:
        found = jax.vmap(partial(dense_five, detail=detail))(batch)
        return found.counts, found.values
    columns = {"edge": slot_columns, "node": orbit_columns, "graph": lambda graph: None}[detail]
    return jax.vmap(lambda graph: (dense_graphlet_counts(graph), columns(graph)))(batch)


def _fetched(
    graphs: Graphs, upper: np.ndarray | None, some: np.ndarray, width: int, found: tuple[Int64, jax.Array | None]
) -> Found:
    """A batch on the host. ``upper``: as :func:`_upper`, where rows are edges; ``width``: rows of a graph in it."""
    counts, columns = jax.device_get(found)
    number = counts.to_numpy()[: some.size]
    if columns is None or not columns.size:
        return Found(some, number, None)
    flat = columns.reshape(-1, columns.shape[-1])
    if upper is None:
        return Found(some, number, flat[places_of(np.arange(some.size) * width, graphs.n[some])])
    # Of the two slots of an edge, that in its lower end's row.
    slot = places_of(graphs.slot_starts[some], graphs.slots[some])
    of_slot = places_of(np.arange(some.size) * width, graphs.slots[some])
    return Found(some, number, flat[of_slot[upper[slot]]])


def _upper(graphs: Graphs) -> np.ndarray:
    """Which slots of the union are in the row of their edge's lower end, bool ``[S]``."""
    offsets = np.asarray(graphs.fields.out_offsets)[: graphs.node_starts[-1] + 1]
    source = np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))
    return source < np.asarray(graphs.fields.out_targets)[: source.size]


def _joined(
    graphs: Graphs, which: np.ndarray, detail: Detail, devices: tuple[jax.Device, ...], memory: int | None
) -> Iterator[Found]:
    """Counts of larger graphs, a union of some at a time."""
    room = 2**23 if target_of(devices[0]).is_accelerator else 2**21
    if memory is not None:
        room = min(room, memory // 512)
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
        given = put64((order, plan, owner, numbers), device)
        found = jax.device_get(_union_counts(*given, tuning=tuning, detail=detail))
        yield Found(part, *_of_union(graphs, part, detail, found))


def _unions(
    graphs: Graphs, which: np.ndarray, load: np.ndarray, room: int, device: jax.Device
) -> tuple[list[np.ndarray], tuple[int, int]]:
    """Parts of some graphs to be joined, whose load is the room or little more, and capacities for each of them."""
    total = np.cumsum(load[which])
    cuts = np.searchsorted(total, np.arange(room, total[-1] if total.size else 0, room))
    parts = [part for part in np.split(which, np.unique(cuts)) if part.size]
    n, slots = (max((int(x[part].sum()) for part in parts), default=0) for x in (graphs.n, graphs.slots))
    return parts, graph_class(n, slots, target_of(device).is_accelerator)


def _of_union(
    graphs: Graphs, part: np.ndarray, detail: Detail, found: tuple[np.ndarray, np.ndarray | None, np.ndarray]
) -> tuple[np.ndarray, np.ndarray | None]:
    counts, values, edge = found
    if values is None or detail == "node":
        return counts[: part.size], None if values is None else values[: int(graphs.n[part].sum())]
    m = int(graphs.m[part].sum())
    rows = np.empty((m, values.shape[1]), np.int64)
    rows[edge[:m]] = values[:m]
    return counts[: part.size], rows


@partial(jit64, static_argnames=("tuning", "detail"))
def _union_counts(
    order: DegreeOrder, plan: Plan, owner: jax.Array, numbers: jax.Array, tuning: Tuning, detail: Detail
) -> tuple[jax.Array, jax.Array | None, jax.Array]:
    """Counts ``[B, 17]`` of the graphs of a union, columns by arc or node, and the row of the edge list of each arc.

    Args:
      owner: the graph of each node, int32 ``[N]``. numbers: int64 ``[2, B]``, nodes and edges of each graph.
    """
    stats = sparse.statistics(order, plan, sparse.all_ranges(plan), tuning, per_edge=True)
    real = jnp.arange(order.edge_capacity, dtype=jnp.int32) < order.num_edges
    graph = jnp.where(real, owner[order.node[order.tail]], numbers.shape[1])
    d_u, d_v = order.degree[order.tail].astype(jnp.int64), order.degree[order.head].astype(jnp.int64)
    terms = equations.edge_terms(d_u, d_v, stats.t, stats.K, stats.cyc)
    sums = {name: jax.ops.segment_sum(x, graph, num_segments=numbers.shape[1]) for name, x in terms.items()}
    counts = jnp.stack(list(equations.global_counts(numbers[0], numbers[1], sums).values()), axis=-1)
    if detail == "graph":
        return counts, None, order.edge
    of_arc = numbers.at[:, graph].get(mode="clip")
    columns = sparse.edge_columns(order, stats, (of_arc[0], of_arc[1]))
    if detail == "node":
        return counts, sparse.node_columns(order, columns), order.edge
    return counts, jnp.stack(list(columns.values()), axis=-1), order.edge
