"""Front doors: exact graphlet counts of a graph of any size, in the whole graph, at each edge, at each node."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._ahead import rehearsed
from jaxmotif.arrays._compile import jit64, target_of
from jaxmotif.arrays._count_table import CountTable
from jaxmotif.arrays._label_words import in_words
from jaxmotif.arrays._present import Column, PerGraph, Presented, counted, integers
from jaxmotif.arrays._sizes import graph_class
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._record import store_for
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.drawing import draw_pattern
from jaxmotif.graph import Graph, GraphLike, Graphs, as_graph
from jaxmotif.graph._coerce import for_many, load_graph
from jaxmotif.graph._ignored import ignored_labels
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets._many import Many, count_many, count_many_of_five
from jaxmotif.graphlets._run import Detail, Outcome, run
from jaxmotif.graphlets._typed import is_typed, typed_counts, typed_counts_of_many, typed_roles
from jaxmotif.graphlets.five.equations import product
from jaxmotif.patterns import EDGE_COLUMN_NAMES, NODE_ORBIT_NAMES, graphlet_columns, named_pattern
from jaxmotif.patterns._certificate import CertificateFile, certify_graphlets
from jaxmotif.patterns._orbits import EDGE_NAMES_5, NODE_NAMES_5, Root
from jaxmotif.patterns._totals import NAMES_5, all_counts, copies


@dataclasses.dataclass(frozen=True, repr=False)
class GraphletCounts(Presented):
    """Global counts; ``np.asarray`` of them is the 17 counts in the order of ``counts``.

    Attributes:
      nodes: the number of nodes.
      edges: the number of edges.
      counts: how many node sets induce each graphlet, by its PGD name, as Python integers of any size; with ``typed``
        by what the census calls its class (``"030T"``, ``"0,1:0110"``), those that occur.
      notes: what was ignored (labels) or had to be done differently (smaller steps where memory ran out), in words.
      directed: whether graphlets tell directions.
      label_words: the words that node labels and edge labels stand for, each ``None`` where they are numbers.
    """

    nodes: int
    edges: int
    counts: dict[str, int]
    notes: tuple[str, ...] = ()
    directed: bool = False
    label_words: tuple[Mapping[int, str] | None, Mapping[int, str] | None] = (None, None)

    def _line(self) -> str:
        found = [counted(self.counts[name], name) for name in ("triangle", "4-clique") if name in self.counts]
        shown = ", ".join(found) if found else counted(len(self.counts), "graphlet")
        return f"{counted(self.nodes, 'node')}, {counted(self.edges, 'edge')}, {shown}, ..."

    def table(self) -> dict[str, Column]:
        columns = graphlet_columns(list(self.counts), self.directed)
        words = [in_words(name, *self.label_words) for name in self.counts]
        return {**columns, "graphlet": words, "count": list(self.counts.values())}

    def _array(self) -> np.ndarray:
        return integers(list(self.counts.values()))

    def _pictures(self, rows: int) -> list[str]:
        names = list(self.counts)[:rows]
        patterns = [named_pattern(name, self.directed) for name in names]
        return [
            draw_pattern(pattern, *self.label_words, title=name).svg(width=48)
            for name, pattern in zip(names, patterns, strict=True)
        ]


InGraph = dict[str, int] | Callable[[], dict[str, int]]
"""Counts in the whole graph by name, or what finds them."""


class HowToRun(NamedTuple):
    """Options that say where a call runs, in how much memory, and what it keeps and shows (:func:`graphlet_counts`)."""

    devices: Devices
    memory: int | None
    checkpoint: str | os.PathLike | None
    progress: bool


class _Counted(CountTable):
    """Table of counts at edges or nodes, with the counts in the whole graph."""

    in_graph: InGraph

    @cached_property
    def counts(self) -> dict[str, int]:
        """The global counts."""
        return _evaluate(self.in_graph)


def _evaluate(counts: InGraph) -> dict[str, int]:
    return counts() if callable(counts) else counts


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class EdgeGraphlets(_Counted):
    """Counts of graphlets at each edge of a graph.

    ``values``, ``to_numpy()`` and ``np.asarray`` give them in host memory, ``[m, 17]``, one row an edge in the order of
    ``edges``: int64, or Python integers where a count, or the sum of all, needs more than 63 bits. ``on_device()``
    gives them as :class:`jaxmotif.arrays.Int64` on the device that counted.

    Attributes:
      columns: names of the columns, :data:`jaxmotif.patterns.EDGE_COLUMN_NAMES`; the first 12 are ORCA's edge orbits.
      raw_counts: what the engine counted; see ``values``.
      rows: m.
      graph: whose edges they are.
      in_graph: ``counts``, the global counts, or what finds them when they are first asked for.
      notes: as in :class:`GraphletCounts`.
    """

    columns: tuple[str, ...]
    raw_counts: jax.Array | np.ndarray
    rows: int
    graph: Graph
    in_graph: InGraph
    notes: tuple[str, ...] = ()

    @cached_property
    def edges(self) -> np.ndarray:
        """The edges of the rows, int64 ``[m, 2]``: ``Graph.edge_list()``, made when first asked for."""
        return self.graph.edge_list()

    def _line(self) -> str:
        return f"{counted(self.rows, 'edge')} x {counted(len(self.columns), 'column')}"

    def table(self) -> dict[str, Column]:
        u, v = self.edges.T
        return {"u": u, "v": v, **dict(zip(self.columns, self.to_numpy().T, strict=True))}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class NodeOrbits(_Counted):
    """Counts of graphlets at each node of a graph, by the node's orbit.

    ``values``, ``to_numpy()`` and ``np.asarray`` give them in host memory, ``[n, 15]``, one row a node: int64, or
    Python integers where a count, or the sum of all, needs more than 63 bits. ``on_device()`` gives them as
    :class:`jaxmotif.arrays.Int64` on the device that counted.

    Attributes:
      columns: names of the orbits, :data:`jaxmotif.patterns.NODE_ORBIT_NAMES`, in ORCA's order.
      raw_counts: what the engine counted; see ``values``.
      rows: n.
      in_graph: ``counts``, the global counts, or what finds them when they are first asked for.
      notes: as in :class:`GraphletCounts`.
    """

    columns: tuple[str, ...]
    raw_counts: jax.Array | np.ndarray
    rows: int
    in_graph: InGraph
    notes: tuple[str, ...] = ()

    def _line(self) -> str:
        return f"{counted(self.rows, 'node')} x {counted(len(self.columns), 'orbit')}"

    def table(self) -> dict[str, Column]:
        return dict(zip(self.columns, self.to_numpy().T, strict=True))


@on_cluster(load_graph)
@for_many(lambda graphs, **options: _many_counts(graphs, **options))
def graphlet_counts(
    graph: GraphLike,
    *,
    size: int = 4,
    induced: bool = True,
    typed: bool = False,
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    certify: CertificateFile = None,
    progress: bool = False,
) -> GraphletCounts:
    """Count the induced subgraphs of 2, 3 and 4 nodes, connected or not, exactly; with ``size=5`` of 5 nodes too.

    Args:
      graph: undirected, any size and padding; or what :func:`jaxmotif.graph.as_graph` takes for one. Or many graphs:
        what :func:`jaxmotif.graph.as_graphs` takes, with one result for each. They run without a checkpoint;
        ``devices`` take batches in turn.
      size: 4 or 5.
      induced: whether nodes that a graphlet does not join must not be joined in the graph. Without it every subgraph
        counts, so that a triangle holds three 2-stars too.
      typed: whether directions, and labels of nodes and edges, are part of a graphlet; the connected ones are counted
        then, as :func:`jaxmotif.subgraph_census` does, induced. A graph that has neither is counted as without it.
      devices: where to run, see :data:`jaxmotif.devices.Devices`; the counts are the same everywhere.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free); the graph then keeps
        its padding.
      checkpoint: a folder in which finished work is kept: the same call made again, after whatever end, goes on
        there and gives the same bits.
      certify: a file to write a certificate to, which :func:`jaxmotif.verify.check` checks; not with ``typed``.
      progress: show a meter on standard error.

    Returns:
      The sizes of the graph and 17 counts by name (51 with ``size=5``), as Python integers. For many graphs a
      :class:`~jaxmotif.arrays._present.PerGraph`: a row of counts each.

    Raises:
      TypeError: for anything that is no graph.
      ValueError: for a directed graph (unless ``typed``), another size, devices that are not there, a memory limit too
        small, or a checkpoint that is damaged or of other work; with ``typed``, for labels too many for a census.
      OverflowError: with ``size=5``, for hubs around which counts may pass 2^90 (a degree of about 10 million);
        with ``typed``, for counts that may pass 64 bits (a degree of about 2 million).

    Example:
      >>> import jaxmotif
      >>> counts = jaxmotif.graphlet_counts(jaxmotif.datasets.load("karate")).counts
      >>> counts["triangle"], counts["4-clique"], counts["4-node-indep"]
      (45, 11, 21939)
      >>> jaxmotif.graphlet_counts([(0, 1), (1, 2), (2, 0)], induced=False).counts["2-star"]
      3
      >>> cascade = jaxmotif.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], directed=True)
      >>> jaxmotif.graphlet_counts(cascade, typed=True).counts  # by the names of the triad census
      {'arc': 4, '021C': 2, '030T': 1, '0000000101011000': 1}
      >>> many = jaxmotif.graphlet_counts([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]])  # a list of edge arrays
      >>> many.values[:, many.columns.index("triangle")].tolist(), many[1].counts["triangle"]
      ([0, 1], 1)

    References:
      Rossi & Zhou, "Hybrid CPU-GPU framework for network motifs", 2016, with the corrections named in
      :mod:`jaxmotif.graphlets._equations`; 4-cycles by codegree instead of its Algorithm 4. Five nodes: see
      :mod:`jaxmotif.graphlets.five.equations`. Directed graphlets: Sarajlic, Malod-Dognin, Yaveroglu & Przulj,
      "Graphlet-based characterization of directed networks", Scientific Reports 2016 (its 40 are those without mutual
      arcs). Typed: Rossi et al., "Heterogeneous graphlets", TKDD 2020.
    """
    graph, how = as_graph(graph), HowToRun(devices, memory, checkpoint, progress)
    _check(graph, size, typed)
    if is_typed(graph, typed):
        _check_typed(induced, certify)
        counts = typed_counts(graph, size, *how)
        words = graph.node_label_names, graph.edge_label_names
        return GraphletCounts(graph.n, graph.m, counts, (), graph.directed, words)
    if _is_five(graph, size):
        _, counts, notes = _five(graph, "graph", how)
    else:
        outcome = _run(graph, "graph", how)
        counts, notes = _global(graph, outcome), outcome.notes
    result = GraphletCounts(graph.n, graph.m, _evaluate(counts) if induced else _all_in_graph(counts), notes)
    if certify is not None:
        certify_graphlets(certify, graph, "graph", result.counts, induced)
    return result


@on_cluster(load_graph)
@for_many(lambda graphs, **options: _many_edges(graphs, **options))
def edge_graphlets(
    graph: GraphLike,
    *,
    size: int = 4,
    induced: bool = True,
    typed: bool = False,
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    certify: CertificateFile = None,
    progress: bool = False,
) -> EdgeGraphlets:
    """Count, at each edge, the induced subgraphs of 3 and 4 nodes it takes part in, by its place (orbit) in them.

    Args:
      graph, size, induced, typed, devices, memory, checkpoint, certify, progress: as for :func:`graphlet_counts`.

    Returns:
      17 columns by edge, ``[m, 17]`` in the order of ``graph.edge_list()``, and the global counts; they stay on the
      device until ``values`` fetches them. With ``size=5`` they are ORCA's 68 edge orbits
      instead, of connected subgraphs of 3 to 5 nodes; with ``typed`` there is a column a role of an edge (of an arc) in
      the graphlets that occur, of 2 nodes on. For many graphs, the rows of all of them are side by side.

    Raises:
      TypeError, ValueError, OverflowError: as :func:`graphlet_counts`.

    Example:
      >>> import jaxmotif
      >>> result = jaxmotif.edge_graphlets(jaxmotif.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]))
      >>> result.edges.tolist()
      [[0, 1], [0, 2], [1, 2], [2, 3]]
      >>> result.values[:, result.columns.index("tailed-triangle-tail")].tolist()
      [0, 0, 0, 1]
    """
    graph, how = as_graph(graph), HowToRun(devices, memory, checkpoint, progress)
    if is_typed(graph, typed):
        _check_typed(induced, certify)
        columns, values, counts = _typed_at("edge", graph, size, induced, how)
        return EdgeGraphlets(columns, values, graph.m, graph, counts)
    columns, values, counts, notes = _counts_at("edge", graph, size, induced, how)
    result = EdgeGraphlets(columns, values, graph.m, graph, counts, notes)
    if certify is not None:
        certify_graphlets(certify, graph, "edge", result.counts, induced, columns, result.values)
    return result


@on_cluster(load_graph)
@for_many(lambda graphs, **options: _many_nodes(graphs, **options))
def node_orbits(
    graph: GraphLike,
    *,
    size: int = 4,
    induced: bool = True,
    typed: bool = False,
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    certify: CertificateFile = None,
    progress: bool = False,
) -> NodeOrbits:
    """Count, at each node, the connected induced subgraphs of 2, 3 and 4 nodes by its place (orbit) in them.

    Args:
      graph, size, induced, typed, devices, memory, checkpoint, certify, progress: as for :func:`graphlet_counts`.

    Returns:
      15 orbits by node, ``[n, 15]``, and the global counts, as for :func:`edge_graphlets`; with ``size=5`` 73 orbits,
      ``[n, 73]``; with ``typed`` a column for each role of a node in the graphlets that occur. For many graphs, the
      rows of all side by side.

    Raises:
      TypeError, ValueError: as :func:`graphlet_counts`.
      OverflowError: as :func:`graphlet_counts`; for a degree above 3,810,779, where 3-stars around the node
        may pass 64 bits.

    Example:
      >>> import jaxmotif
      >>> orbits = jaxmotif.node_orbits(jaxmotif.Graph.from_edges([(0, 1), (0, 2), (0, 3)]))
      >>> orbits.values[0, :8].tolist()
      [3, 0, 3, 0, 0, 0, 0, 1]
      >>> signals = jaxmotif.node_orbits(jaxmotif.Graph.from_edges([(0, 1), (1, 2)], directed=True), typed=True)
      >>> signals.columns, signals.values[0].tolist()  # it begins an arc, and a chain
      (('arc:0', 'arc:1', '021C:0', '021C:1', '021C:2'), [1, 0, 1, 0, 0])

    References:
      ORCA's numbering: Hočevar & Demšar, "A combinatorial approach to graphlet counting", Bioinformatics 2014.
    """
    graph, how = as_graph(graph), HowToRun(devices, memory, checkpoint, progress)
    if is_typed(graph, typed):
        _check_typed(induced, certify)
        columns, values, counts = _typed_at("node", graph, size, induced, how)
        return NodeOrbits(columns, values, graph.n, counts)
    columns, values, counts, notes = _counts_at("node", graph, size, induced, how)
    result = NodeOrbits(columns, values, graph.n, counts, notes)
    if certify is not None:
        certify_graphlets(certify, graph, "node", result.counts, induced, columns, result.values)
    return result


def _counts_at(
    at: Root, graph: Graph, size: int, induced: bool, how: HowToRun
) -> tuple[tuple[str, ...], jax.Array | np.ndarray, InGraph, tuple[str, ...]]:
    """Return the columns, the counts at each edge or node, the counts in the graph, and notes."""
    edges = at == "edge"
    if _is_five(graph, size):
        values, counts, notes = _five(graph, at, how)
        columns = EDGE_NAMES_5 if edges else NODE_NAMES_5
    else:
        outcome = _run(graph, at, how)
        values, counts, notes = outcome.values, _global(graph, outcome), outcome.notes
        columns = EDGE_COLUMN_NAMES if edges else NODE_ORBIT_NAMES
    if not induced:
        values = _all_at(at, columns, values, graph.m if edges else graph.n)
        counts = partial(_all_in_graph, counts)
    return columns, values, counts, notes


def _typed_at(
    at: Root, graph: Graph, size: int, induced: bool, how: HowToRun
) -> tuple[tuple[str, ...], np.ndarray, dict[str, int]]:
    """Return the columns, the counts at each edge or node and the counts in the graph of typed graphlets."""
    _check(graph, size, typed=True)
    counts = typed_counts(graph, size, *how)
    columns, values = typed_roles(graph, size, at, *how)
    return columns, values, counts


def _all_in_graph(counts: InGraph) -> dict[str, int]:
    """Return the counts of all subgraphs in a graph, from its induced counts."""
    induced = _evaluate(counts)
    copies_of = copies(None, tuple(induced)).astype(object) @ np.array(list(induced.values()), object)
    return dict(zip(induced, copies_of.tolist(), strict=True))


def _all_at(at: Root, columns: tuple[str, ...], values: jax.Array | np.ndarray, rows: int) -> jax.Array | np.ndarray:
    """Return the counts of all subgraphs at nodes or edges, from the induced counts there.

    Args:
      at: ``"node"`` or ``"edge"``.
      columns: the names of the orbits.
      values: the induced counts, ``[rows or more, orbits]``; rows past the first ``rows`` are padding.
      rows: the number of nodes or edges.
    """
    if values.dtype == object:
        return values[:rows] @ copies(at, columns).T.astype(object)
    all_counts_at, largest = _all_copies(values, np.int32(rows), at=at, columns=columns)
    if (most := float(largest)) >= 2.0**62:  # a count may have wrapped
        return np.asarray(values)[:rows].astype(object) @ copies(at, columns).T.astype(object)
    return all_counts_at if most >= 2.0**32 else jnp.asarray(all_counts_at, jnp.uint32)


@jit64(static_argnames=("at", "columns"))
def _all_copies(
    values: jax.Array, rows: jax.Array, *, at: Root, columns: tuple[str, ...]
) -> tuple[jax.Array, jax.Array]:
    """Return the counts of all subgraphs, which wrap at 64 bits, and the largest of them as float64."""
    matrix = copies(at, columns)
    real = jnp.arange(values.shape[0], dtype=jnp.int32)[None] < rows  # padding rows hold arbitrary numbers
    induced = jnp.where(real, values.T.astype(jnp.int64), 0)
    largest = product(jnp, matrix.astype(np.float64), induced.astype(jnp.float64)).max(initial=0)
    return product(jnp, matrix, induced).T, largest


def _many(
    graphs: Graphs,
    detail: Detail,
    door: Callable[..., Any],
    columns: tuple[str, ...],
    size: int,
    induced: bool = True,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> Many:
    """Count in many graphs.

    Args:
      graphs: the data set.
      detail: whether counts are by graph, edge or node.
      door: the front door for one graph, for graphs that are counted one by one.
      columns: the names of the columns of the values.
      size: 4 or 5.
      induced: as for :func:`graphlet_counts`.
      devices: as for :func:`graphlet_counts`.
      memory: as for :func:`graphlet_counts`.
      progress: as for :func:`graphlet_counts`.
    """
    _check(graphs, size)

    def single(graph: Graph) -> tuple[dict[str, int], np.ndarray | None]:
        result = door(graph, size=size, devices=devices, memory=memory)
        return result.counts, None if detail == "graph" else np.asarray(result)

    with meter(len(graphs), "graphs", "graphlets", enabled=progress) as bar:
        count = count_many if size == 4 else count_many_of_five
        result = count(graphs, detail, select_devices(devices).local, memory, single, bar.advance)
    result = result._replace(notes=ignored_labels(graphs))
    if induced:
        return result
    matrix = copies(None, _graphlet_names(result)).astype(object)
    counts = integers((result.counts.astype(object) @ matrix.T).ravel().tolist()).reshape(result.counts.shape)
    if detail == "graph":
        return result._replace(counts=counts, values=counts)
    values = _all_at(detail, columns, result.values, len(result.values))
    return result._replace(counts=counts, values=np.asarray(values))


def _many_counts(graphs: Graphs, size: int = 4, typed: bool = False, **options: Any) -> PerGraph[GraphletCounts]:
    if is_typed(graphs, typed):
        return _many_typed(graphs, "graph", size, **options)
    many = _many(graphs, "graph", graphlet_counts, (), size, **options)

    def single(i: int) -> GraphletCounts:
        return GraphletCounts(int(graphs.n[i]), int(graphs.m[i]), _by_name(many, i), many.notes)

    return PerGraph(_graphlet_names(many), many.counts, many.starts, many.notes, single)


def _many_typed(
    graphs: Graphs,
    detail: Detail,
    size: int,
    induced: bool = True,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> PerGraph[Any]:
    _check(graphs, size, typed=True)
    _check_typed(induced)
    names, counts = typed_counts_of_many(graphs, size, devices, memory, progress)

    def by_name(i: int) -> dict[str, int]:
        return {name: count for name, count in zip(names, counts[i].tolist(), strict=True) if count}

    def whole(i: int) -> GraphletCounts:
        words = graphs[i].node_label_names, graphs[i].edge_label_names
        return GraphletCounts(int(graphs.n[i]), int(graphs.m[i]), by_name(i), (), graphs.directed, words)

    if detail == "graph":
        return PerGraph(names, counts, np.arange(len(graphs) + 1), (), whole)
    columns, values = typed_roles(graphs.union(pad=None), size, detail, devices, memory)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(graphs.n if detail == "node" else graphs.m)])

    def at_each(i: int) -> NodeOrbits | EdgeGraphlets:
        rows = values[starts[i] : starts[i + 1]]
        if detail == "node":
            return NodeOrbits(columns, rows, len(rows), by_name(i))
        return EdgeGraphlets(columns, rows, len(rows), graphs[i], by_name(i))

    return PerGraph(columns, values, starts, (), at_each, partial(_ends, graphs) if detail == "edge" else dict)


def _ends(graphs: Graphs) -> dict[str, Column]:
    """Return the two ends of the edges of all graphs, as node numbers of each edge's own graph."""
    edges = graphs.union(pad=None).edge_list() - np.repeat(graphs.node_starts[:-1], graphs.m)[:, None]
    return {"u": edges[:, 0], "v": edges[:, 1]}


def _many_edges(graphs: Graphs, size: int = 4, typed: bool = False, **options: Any) -> PerGraph[EdgeGraphlets]:
    if is_typed(graphs, typed):
        return _many_typed(graphs, "edge", size, **options)
    columns = EDGE_COLUMN_NAMES if size == 4 else EDGE_NAMES_5
    many = _many(graphs, "edge", edge_graphlets, columns, size, **options)

    def single(i: int) -> EdgeGraphlets:
        values = many.rows(i)
        return EdgeGraphlets(columns, values, len(values), graphs[i], _by_name(many, i), many.notes)

    return PerGraph(columns, many.values, many.starts, many.notes, single, partial(_ends, graphs))


def _many_nodes(graphs: Graphs, size: int = 4, typed: bool = False, **options: Any) -> PerGraph[NodeOrbits]:
    if is_typed(graphs, typed):
        return _many_typed(graphs, "node", size, **options)
    columns = NODE_ORBIT_NAMES if size == 4 else NODE_NAMES_5
    many = _many(graphs, "node", node_orbits, columns, size, **options)

    def single(i: int) -> NodeOrbits:
        values = many.rows(i)
        return NodeOrbits(columns, values, len(values), _by_name(many, i), many.notes)

    return PerGraph(columns, many.values, many.starts, many.notes, single)


def _graphlet_names(many: Many) -> tuple[str, ...]:
    return NAMES_5[: many.counts.shape[1]]


def _by_name(many: Many, i: int) -> dict[str, int]:
    return dict(zip(_graphlet_names(many), many.counts[i].tolist(), strict=True))


def _is_five(graph: Graph, size: int) -> bool:
    """Check the arguments, and say whether graphlets of five nodes are asked for."""
    _check(graph, size)
    return size == 5


def _check_typed(induced: bool, certify: CertificateFile = None) -> None:
    if not induced:
        raise ValueError("typed=True counts induced subgraphs alone; leave induced=False out")
    if certify is not None:
        raise ValueError("typed=True has no certificate; subgraph_census(certify=) has one of classes with types")


def _five(graph: Graph, detail: Detail, how: HowToRun) -> tuple[jax.Array | np.ndarray, InGraph, tuple[str, ...]]:
    """Count the orbits of up to five nodes.

    Returns:
      The orbits at nodes or edges (no rows if ``detail`` is ``"graph"``), the counts of graphlets of 2 to 5 nodes in
      the graph, and notes.
    """
    from jaxmotif.graphlets.five import orbits as five
    from jaxmotif.graphlets.five.plan import program_sizes

    selection, ignored = select_devices(how.devices), ignored_labels(graph)
    none = np.zeros((graph.n, len(NODE_NAMES_5)) if detail == "node" else (0, len(EDGE_NAMES_5)), np.int64)
    if not graph.m:
        counts = all_counts(np, np.array(graph.n, object), np.zeros(len(NODE_NAMES_5), object))
        return none, _named_counts(counts), ignored
    store = store_for(how.checkpoint, selection.together, lambda: ("graphlets-5", detail, graph.edge_list(), graph.n))
    # A memory budget is meant for the graph as it is, so the graph keeps its padding.
    padded = _padded(graph, selection.main) if how.memory is None else graph

    def counted() -> tuple[jax.Array | np.ndarray, InGraph, tuple[str, ...]]:
        if detail == "graph":
            counts, notes = five.five_node_counts(padded, selection, how.memory, how.progress, store)
            return none, _named_counts(counts), notes
        edges = detail == "edge"
        result = five.five_node_orbits(padded, selection, edges, how.memory, how.progress, store, nodes=not edges)
        orbits = result.nodes if result.edges is None else result.edges
        return orbits, partial(_summed_up, graph.n, orbits), result.notes

    capacities = padded.node_capacity, padded.slot_capacity
    programs = "graphlets-5", selection.main, detail, how.memory, *capacities, *program_sizes(graph, selection.main)
    values, counts, notes = rehearsed(counted, selection.main, programs)
    return values, counts, (*ignored, *notes)


def _summed_up(nodes: int, orbits: jax.Array | np.ndarray) -> dict[str, int]:
    """Return the counts in a graph, from the orbits at all of its nodes or at all of its edges.

    Args:
      nodes: the number of nodes of the graph.
      orbits: integers ``[n, 73]`` at nodes, or ``[m, 68]`` at edges.
    """
    from jaxmotif.graphlets.five.results import totals, totals_of_edges

    added = totals if orbits.shape[1] == len(NODE_NAMES_5) else totals_of_edges
    return _named_counts(all_counts(np, np.array(nodes, object), added(orbits)))


def _named_counts(counts: np.ndarray) -> dict[str, int]:
    return dict(zip(NAMES_5, counts.tolist(), strict=True))


def _check(graph: Graph | Graphs, size: int = 4, typed: bool = False) -> None:
    if graph.directed and not typed:
        raise ValueError(
            "graphlets are counted in undirected graphs, got a directed one; build it with directed=False, or take "
            "typed=True, which tells directions (and labels)"
        )
    if size not in (4, 5):
        raise ValueError(f"size must be 4 or 5, got {size}: it is the number of nodes of the largest graphlets")


def _run(graph: Graph, detail: Detail, how: HowToRun) -> Outcome:
    _check(graph)
    if detail == "node" and (largest := int(graph.degrees.max(initial=0))) > equations.MAX_DEGREE_INT64:
        raise OverflowError(
            f"a node of degree {largest}: its orbit counts may pass 64 bits (limit {equations.MAX_DEGREE_INT64}); "
            "graphlet_counts and edge_graphlets stay exact"
        )
    ignored = ignored_labels(graph)
    selection = select_devices(how.devices)
    if not graph.m:
        shape = {"graph": (0, 0), "edge": (0, len(EDGE_COLUMN_NAMES)), "node": (graph.n, len(NODE_ORBIT_NAMES))}[detail]
        return Outcome(np.zeros((len(equations.TERMS), 2), np.int64), np.zeros(shape, np.int64), ignored)
    store = store_for(
        how.checkpoint, selection.together, lambda: ("graphlets", detail != "graph", graph.edge_list(), graph.n)
    )
    if how.memory is None:  # a memory budget is meant for the graph as it is
        graph = _padded(graph, selection.main)
    outcome = jax.block_until_ready(run(graph, detail, selection, how.memory, how.progress, store))
    return outcome._replace(notes=(*ignored, *outcome.notes))


def _padded(graph: Graph, device: jax.Device) -> Graph:
    """Pad a graph to the capacities of its class, so that it shares programs with the others of the class."""
    return graph.with_padding(graph_class(graph.n, graph.num_slots, target_of(device).is_accelerator))


def _global(graph: Graph, outcome: Outcome) -> dict[str, int]:
    pairs = np.asarray(outcome.sums)  # in one piece
    sums = {name: equations.join_sums(pair) for name, pair in zip(equations.TERMS, pairs, strict=True)}
    return equations.global_counts(graph.n, graph.m, sums)
