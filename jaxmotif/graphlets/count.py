"""Front doors: exact graphlet counts of a graph of any size, in the whole graph, at each edge, at each node."""

from __future__ import annotations

import dataclasses
import os

import jax
import numpy as np

from jaxmotif.devices.checkpoint import fingerprint
from jaxmotif.devices.ledger import Store
from jaxmotif.devices.select import Devices, select_devices
from jaxmotif.graph.container import Graph
from jaxmotif.graphlets import equations
from jaxmotif.graphlets.run import Detail, Outcome, Schedule, run
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.patterns import EDGE_COLUMN_NAMES, NODE_ORBIT_NAMES


@dataclasses.dataclass(frozen=True)
class GraphletCounts:
    """Global counts.

    Attributes:
      nodes, edges: sizes of the graph.
      counts: how many node sets induce each graphlet, by its PGD name, as Python integers of any size.
      notes: what had to be done differently, in words (smaller steps where memory ran out).
    """

    nodes: int
    edges: int
    counts: dict[str, int]
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class EdgeGraphlets:
    """Counts at each edge.

    Attributes:
      columns: names of the columns, :data:`jaxmotif.patterns.EDGE_COLUMN_NAMES`; the first 12 are ORCA's edge orbits.
      values: int64 ``[m, 17]``, a row an edge.
      edges: int64 ``[m, 2]``, the edges, as ``Graph.edge_list()``.
      counts: the global counts, which come with them.
      notes: as in :class:`GraphletCounts`.
    """

    columns: tuple[str, ...]
    values: np.ndarray
    edges: np.ndarray
    counts: dict[str, int]
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class NodeOrbits:
    """Counts at each node.

    Attributes:
      columns: names of the orbits, :data:`jaxmotif.patterns.NODE_ORBIT_NAMES`, in ORCA's order.
      values: int64 ``[n, 15]``, a row a node.
      counts: the global counts, which come with them.
      notes: as in :class:`GraphletCounts`.
    """

    columns: tuple[str, ...]
    values: np.ndarray
    counts: dict[str, int]
    notes: tuple[str, ...] = ()


def graphlet_counts(
    graph: Graph, *, devices: Devices = None, memory: int | None = None, schedule: Schedule | None = None,
    checkpoint: str | os.PathLike | None = None, progress: bool = False,
) -> GraphletCounts:  # fmt: skip
    """Counts the induced subgraphs of 2, 3 and 4 nodes, connected or not, exactly.

    Args:
      graph: undirected, any size and padding.
      devices: where to run, see :data:`jaxmotif.devices.Devices`. The counts are the same everywhere.
      memory: bytes the run may use on each device beyond the graph (default: a quarter of an accelerator's memory;
        1 GiB on a CPU, or twice the least where that is more).
      schedule: how GPUs and the CPU share the work when ``devices="hybrid"``.
      checkpoint: a folder in which finished work is kept: the same call made again, after whatever end, goes on
        there and gives the same bits.
      progress: show progress on standard error when the run takes long.

    Returns:
      The sizes of the graph and 17 counts by name, as Python integers.

    Raises:
      TypeError: for anything but a :class:`jaxmotif.Graph`.
      ValueError: for a directed graph, devices that are not there, a memory limit too small, or a checkpoint that is
        damaged or of other work.

    Example:
      >>> import jaxmotif
      >>> counts = jaxmotif.graphlet_counts(jaxmotif.datasets.load("karate")).counts
      >>> counts["triangle"], counts["4-clique"], counts["4-node-indep"]
      (45, 11, 21939)

    References:
      Rossi & Zhou, "Hybrid CPU-GPU framework for network motifs", 2016, with the corrections named in
      :mod:`jaxmotif.graphlets.equations`; 4-cycles by codegree instead of its Algorithm 4.
    """
    outcome = _run(graph, "graph", devices, memory, schedule, checkpoint, progress)
    return GraphletCounts(graph.n, graph.m, _global(graph, outcome), outcome.notes)


def edge_graphlets(
    graph: Graph, *, devices: Devices = None, memory: int | None = None, schedule: Schedule | None = None,
    checkpoint: str | os.PathLike | None = None, progress: bool = False,
) -> EdgeGraphlets:  # fmt: skip
    """Counts, at each edge, the induced subgraphs of 3 and 4 nodes it takes part in, by its place (orbit) in them.

    Args:
      graph, devices, memory, schedule, checkpoint, progress: as for :func:`graphlet_counts`.

    Returns:
      17 columns by edge, int64 ``[m, 17]`` in the order of ``graph.edge_list()``, and the global counts.

    Raises:
      TypeError, ValueError: as :func:`graphlet_counts`.

    Example:
      >>> import jaxmotif
      >>> result = jaxmotif.edge_graphlets(jaxmotif.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]))
      >>> result.edges.tolist()
      [[0, 1], [0, 2], [1, 2], [2, 3]]
      >>> result.values[:, result.columns.index("tailed-triangle-tail")].tolist()
      [0, 0, 0, 1]
    """
    outcome = _run(graph, "edge", devices, memory, schedule, checkpoint, progress)
    values = np.zeros((graph.m, len(EDGE_COLUMN_NAMES)), np.int64)
    if graph.m:
        values[np.asarray(outcome.edge)[: graph.m]] = np.asarray(outcome.values)[: graph.m]
    return EdgeGraphlets(EDGE_COLUMN_NAMES, values, graph.edge_list(), _global(graph, outcome), outcome.notes)


def node_orbits(
    graph: Graph, *, devices: Devices = None, memory: int | None = None, schedule: Schedule | None = None,
    checkpoint: str | os.PathLike | None = None, progress: bool = False,
) -> NodeOrbits:  # fmt: skip
    """Counts, at each node, the connected induced subgraphs of 2, 3 and 4 nodes by its place (orbit) in them.

    Args:
      graph, devices, memory, schedule, checkpoint, progress: as for :func:`graphlet_counts`.

    Returns:
      15 orbits by node, int64 ``[n, 15]``, and the global counts.

    Raises:
      TypeError, ValueError: as :func:`graphlet_counts`.
      OverflowError: for a degree above 2,097,151, where orbit counts may pass 64 bits.

    Example:
      >>> import jaxmotif
      >>> orbits = jaxmotif.node_orbits(jaxmotif.Graph.from_edges([(0, 1), (0, 2), (0, 3)]))
      >>> orbits.values[0, :8].tolist()
      [3, 0, 3, 0, 0, 0, 0, 1]

    References:
      ORCA's numbering: Hočevar & Demšar, "A combinatorial approach to graphlet counting", Bioinformatics 2014.
    """
    outcome = _run(graph, "node", devices, memory, schedule, checkpoint, progress)
    values = np.zeros((graph.n, len(NODE_ORBIT_NAMES)), np.int64)
    if graph.m:
        values[:] = np.asarray(outcome.values)[: graph.n]
    return NodeOrbits(NODE_ORBIT_NAMES, values, _global(graph, outcome), outcome.notes)


def _run(
    graph: Graph,
    detail: Detail,
    devices: Devices,
    memory: int | None,
    schedule: Schedule | None,
    checkpoint: str | os.PathLike | None,
    progress: bool,
) -> Outcome:
    if not isinstance(graph, Graph):
        raise TypeError(f"expected a jaxmotif.Graph, got {type(graph).__name__}; see Graph.from_edges and read_graph")
    if graph.directed:
        raise ValueError("graphlets are counted in undirected graphs, got a directed one; build it with directed=False")
    if detail == "node" and (largest := int(graph.degrees.max(initial=0))) > equations.MAX_DEGREE_INT64:
        raise OverflowError(
            f"a node of degree {largest}: its orbit counts may pass 64 bits (limit {equations.MAX_DEGREE_INT64}); "
            "graphlet_counts and edge_graphlets stay exact"
        )
    selection = select_devices(devices)
    if not graph.m:
        return Outcome(dict.fromkeys(("t", "s", "tt", "ss", "ts", "ab", "K", "cyc"), (0, 0)), None, None)
    store = None
    if checkpoint is not None:
        per_edge = detail != "graph"
        store = Store(checkpoint, fingerprint("graphlets", per_edge, graph.edge_list(), graph.n))
    if memory is None and (graph.node_capacity, graph.slot_capacity) == (graph.n, graph.num_slots):
        graph = graph.with_padding("bucket")  # so that graphs of about one size share their compilations
    with wide_ints():
        return jax.block_until_ready(run(graph, detail, selection, memory, schedule or Schedule(), progress, store))


def _global(graph: Graph, outcome: Outcome) -> dict[str, int]:
    sums = {name: equations.join_sums(pair) for name, pair in outcome.sums.items()}
    return equations.global_counts(graph.n, graph.m, sums)
