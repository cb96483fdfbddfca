"""Front doors: exact graphlet counts of a graph of any size, in the whole graph, at each edge, at each node."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._ahead import rehearsed
from jaxmotif.arrays._checks import check_graphlet_size, check_switch
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._count_table import CountTable
from jaxmotif.arrays._exact import join_sums
from jaxmotif.arrays._label_words import in_words
from jaxmotif.arrays._present import Column, PerGraph, Presented, counted, integers
from jaxmotif.arrays._rows import offsets_from, places_of
from jaxmotif.arrays._sums import product
from jaxmotif.certificates import CertificateFile, certify_graphlets
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._memory import check_budget
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._select import Devices, Selection, select_devices
from jaxmotif.drawing import draw_pattern
from jaxmotif.graph import Graph, GraphLike, Graphs, as_graph
from jaxmotif.graph._coerce import for_many, load_graph
from jaxmotif.graph._ignored import ignored_labels
from jaxmotif.graph._saved import check_writable
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets._many import count_parts
from jaxmotif.graphlets._prepared import pad_to_class
from jaxmotif.graphlets._run import Detail, run
from jaxmotif.graphlets._typed import HowToRun, is_typed, typed_counts, typed_roles
from jaxmotif.patterns import EDGE_COLUMN_NAMES, GRAPHLET_NAMES, NODE_ORBIT_NAMES, graphlet_columns, named_pattern
from jaxmotif.patterns._orbits import EDGE_NAMES_5, NODE_NAMES_5, Root
from jaxmotif.patterns._totals import NAMES_5, all_counts, copies

LEAST_TOGETHER = 2**16
"""Least memory for counting many graphs: the smallest stack of them has 64 slots, each worked on in 1 KB."""


@dataclasses.dataclass(frozen=True, repr=False)
class GraphletCounts(Presented):
    """Counts of graphlets in a whole graph; ``np.asarray`` gives their numbers in the order of ``counts``.

    Attributes:
      nodes: the number of nodes.
      edges: the number of edges.
      counts: how often each graphlet occurs, by its PGD name, as Python integers of any size. With ``typed`` only
        graphlets that occur are listed, by the names of their census classes (``"030T"``, ``"0,1:0110"``).
      notes: what was ignored (labels) or had to be done differently (smaller steps where memory ran out), in words.
      directed: whether the graphlets have directions.
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
        patterns = {name: named_pattern(name, self.directed) for name in list(self.counts)[:rows]}
        return [draw_pattern(x, *self.label_words, title=name).svg(width=48) for name, x in patterns.items()]


InGraph = dict[str, int] | Callable[[], dict[str, int]]
"""Counts in the whole graph by name, or a function that computes them."""


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
      graph: the graph that has these edges.
      in_graph: the global counts by name, or a function that computes them when ``counts`` is first read.
      notes: as in :class:`GraphletCounts`.
    """

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
      in_graph: the global counts by name, or a function that computes them when ``counts`` is first read.
      notes: as in :class:`GraphletCounts`.
    """

    in_graph: InGraph
    notes: tuple[str, ...] = ()

    def _line(self) -> str:
        return f"{counted(self.rows, 'node')} x {counted(len(self.columns), 'orbit')}"

    def table(self) -> dict[str, Column]:
        return dict(zip(self.columns, self.to_numpy().T, strict=True))


@on_cluster(load_graph)
@for_many(lambda graphs, **options: _count_many(graphs, "graph", **options))
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
      graph: an undirected graph of any size and padding, or anything that :func:`jaxmotif.graph.as_graph` accepts. Or
        many graphs, as :func:`jaxmotif.graph.as_graphs` accepts them, with one result for each. Many graphs are
        counted without a checkpoint, and ``devices`` take batches of them in turn.
      size: the largest number of nodes of a graphlet, 4 or 5.
      induced: whether nodes that a graphlet does not join must not be joined in the graph. Without it every subgraph
        counts, so that a triangle holds three 2-stars too.
      typed: whether graphlets are told apart by directions and by labels of nodes and edges. If so, only connected
        induced graphlets are counted, as :func:`jaxmotif.subgraph_census` does. This changes nothing for a graph that
        has neither directions nor labels.
      devices: where to run, see :data:`jaxmotif.devices.Devices`; the counts are the same everywhere.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free). A graph that is counted
        with such a limit keeps its own padding.
      checkpoint: a folder in which finished work is kept. However a run ended, the same call made again goes on from
        there, and gives the same results bit for bit.
      certify: a file to write a certificate to, which :func:`jaxmotif.verify.check` checks; not with ``typed``.
      progress: show a meter on standard error.

    Returns:
      The sizes of the graph and 17 counts by name (51 with ``size=5``), as Python integers. For many graphs a
      :class:`~jaxmotif.arrays._present.PerGraph`: a row of counts each.

    Raises:
      TypeError: for anything that is no graph.
      ValueError: for a directed graph (unless ``typed``), another size, devices that are not there, a memory limit too
        small, or a checkpoint that is damaged or belongs to other work; with ``typed``, for too many labels for a
        census.
      OverflowError: with ``size=5``, if a degree is so high that counts may pass 2^90 (about 10 million); with
        ``typed``, if it is so high that counts may pass 64 bits (about 2 million).

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
    how = HowToRun(devices, memory, checkpoint, progress)
    return _count(as_graph(graph), "graph", size, induced, typed, certify, how)


@on_cluster(load_graph)
@for_many(lambda graphs, **options: _count_many(graphs, "edge", **options))
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
    """Count, at each edge, the induced subgraphs of 3 and 4 nodes that contain it, by the edge's orbit in them.

    Args:
      graph, size, induced, typed, devices, memory, checkpoint, certify, progress: as for :func:`graphlet_counts`.

    Returns:
      17 columns by edge, ``[m, 17]`` in the order of ``graph.edge_list()``, and the global counts; they stay on the
      device until ``values`` fetches them. With ``size=5`` the columns are ORCA's 68 edge orbits instead, in connected
      subgraphs of 3 to 5 nodes. With ``typed`` there is a column for each role of an edge (an arc) in the graphlets
      of 2 and more nodes that occur. For many graphs, the rows of each graph follow those of the one before.

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
    how = HowToRun(devices, memory, checkpoint, progress)
    return _count(as_graph(graph), "edge", size, induced, typed, certify, how)


@on_cluster(load_graph)
@for_many(lambda graphs, **options: _count_many(graphs, "node", **options))
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
    """Count, at each node, the connected induced subgraphs of 2, 3 and 4 nodes, by the node's orbit in them.

    Args:
      graph, size, induced, typed, devices, memory, checkpoint, certify, progress: as for :func:`graphlet_counts`.

    Returns:
      15 orbits by node, ``[n, 15]``, and the global counts, as for :func:`edge_graphlets`; with ``size=5`` 73 orbits,
      ``[n, 73]``; with ``typed`` a column for each role of a node in the graphlets that occur. For many graphs, the
      rows of each graph follow those of the one before.

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
    how = HowToRun(devices, memory, checkpoint, progress)
    return _count(as_graph(graph), "node", size, induced, typed, certify, how)


def _column_names(detail: Detail, size: int) -> tuple[str, ...]:
    """Return the names of the columns of untyped counts; the graph as a whole has none."""
    names = {"edge": (EDGE_COLUMN_NAMES, EDGE_NAMES_5), "node": (NODE_ORBIT_NAMES, NODE_NAMES_5)}
    return names[detail][size - 4] if detail != "graph" else ()


def _count(
    graph: Graph, detail: Detail, size: int, induced: bool, typed: bool, certify: CertificateFile, how: HowToRun
) -> Any:
    """Count in one graph, and write a certificate of the result if there is a file for one.

    A count that cannot have a certificate is refused if ``certify`` asks for one.

    Returns:
      The result of the public function for ``detail``.
    """
    _check(graph, size, typed, induced, certify)
    columns, notes = _column_names(detail, size), ()
    if is_typed(graph, typed):
        names, values = typed_counts(graph, size, how)
        counts: InGraph = dict(zip(names, values.tolist(), strict=True))
        if detail != "graph":
            columns, values = typed_roles(graph, size, detail, how)
    else:
        options, labels = JobOptions(select_devices(how.devices), *how[1:]), ignored_labels(graph)
        if graph.m:
            padded = pad_to_class(graph, options.selection.main, options.memory)
            count = _count_four if size == 4 else _count_five
            values, counts, notes = count(graph, padded, detail, options)
        else:
            values = np.zeros((graph.n if detail == "node" else 0, len(columns)), np.int64)
            every = all_counts(np, np.array(graph.n, object), np.zeros(len(NODE_NAMES_5), object))
            counts = dict(zip(NAMES_5 if size == 5 else GRAPHLET_NAMES, every.tolist(), strict=False))
        notes = (*labels, *notes)
    if not induced:
        if detail != "graph":
            values = _all_at(detail, columns, values, graph.m if detail == "edge" else graph.n)
        counts = partial(_all_in_graph, counts)
    if detail == "edge":
        result = EdgeGraphlets(columns, values, graph.m, graph, counts, notes)
    elif detail == "node":
        result = NodeOrbits(columns, values, graph.n, counts, notes)
    else:
        words = (graph.node_label_names, graph.edge_label_names) if typed else (None, None)
        result = GraphletCounts(graph.n, graph.m, _evaluate(counts), notes, graph.directed, words)
    if certify is not None:
        table: Any = () if isinstance(result, GraphletCounts) else (columns, values, result.begin_fetch)
        certify_graphlets(certify, graph, detail, result.counts, induced, *table)
    return result


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
    if values.dtype != object:
        all_counts_at, largest = _all_copies(values, np.int32(rows), at=at, columns=columns)
        if float(largest) < 2.0**62:  # else a count may have wrapped
            return all_counts_at
    return np.asarray(values)[:rows].astype(object) @ copies(at, columns).T.astype(object)


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


def _count_many(
    graphs: Graphs,
    detail: Detail,
    size: int = 4,
    induced: bool = True,
    typed: bool = False,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> PerGraph[Any]:
    """Count in many graphs; the options are those of :func:`graphlet_counts`."""
    _check(graphs, size, typed, induced)
    memory = check_budget(memory, LEAST_TOGETHER, "graphs that are counted together")
    told_apart, notes = is_typed(graphs, typed), ()
    rows = {"graph": np.ones_like(graphs.n), "edge": graphs.m, "node": graphs.n}[detail]
    starts = offsets_from(rows, np.int64)
    if told_apart:
        how = HowToRun(devices, memory, None, progress)
        names, counts = typed_counts(graphs, size, how)
        columns, values = names, counts
        if detail != "graph":
            columns, values = typed_roles(graphs.union(pad=None), size, detail, how._replace(progress=False))
    else:
        door = {"graph": graphlet_counts, "edge": edge_graphlets, "node": node_orbits}[detail]

        def single(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
            result = door(graph, size=size, devices=devices, memory=memory)
            return integers(list(result.counts.values())), np.asarray(result)

        names, columns = NAMES_5 if size == 5 else GRAPHLET_NAMES, _column_names(detail, size)
        counts, values = (
            np.zeros(shape, np.int64) for shape in ((len(graphs), len(names)), (starts[-1], len(columns)))
        )
        with meter(len(graphs), "graphs", "graphlets", enabled=progress) as bar:
            places = select_devices(devices).local
            for which, of_graphs, of_rows in count_parts(graphs, detail, size, places, memory, single):
                counts = counts.astype(np.promote_types(of_graphs.dtype, counts.dtype), copy=False)
                counts[which] = of_graphs
                if of_rows is not None:
                    values = values.astype(np.promote_types(of_rows.dtype, values.dtype), copy=False)
                    # Rows of all graphs lie side by side, and the rows of a part are wherever its graphs are.
                    values[places_of(starts[which], rows[which])] = of_rows
                bar.advance(which.size)
        notes = ignored_labels(graphs)
        if not induced:
            every = counts.astype(object) @ copies(None, names).astype(object).T
            counts = integers(every.ravel().tolist()).reshape(counts.shape)
            if detail != "graph":
                values = np.asarray(_all_at(detail, columns, values, len(values)))
        if detail == "graph":
            columns, values = names, counts

    def result_of(i: int) -> GraphletCounts | EdgeGraphlets | NodeOrbits:
        number = zip(names, counts[i].tolist(), strict=True)
        by_name = {name: count for name, count in number if count or not told_apart}
        of_graph = values[starts[i] : starts[i + 1]]
        if detail == "edge":
            return EdgeGraphlets(columns, of_graph, len(of_graph), graphs[i], by_name, notes)
        if detail == "node":
            return NodeOrbits(columns, of_graph, len(of_graph), by_name, notes)
        words = (graphs[i].node_label_names, graphs[i].edge_label_names) if told_apart else (None, None)
        return GraphletCounts(int(graphs.n[i]), int(graphs.m[i]), by_name, notes, graphs.directed, words)

    return PerGraph(columns, values, starts, notes, result_of, partial(_ends, graphs) if detail == "edge" else dict)


def _ends(graphs: Graphs) -> dict[str, Column]:
    """Return the two ends of the edges of all graphs, as node numbers of each edge's own graph."""
    edges = graphs.union(pad=None).edge_list() - np.repeat(graphs.node_starts[:-1], graphs.m)[:, None]
    return {"u": edges[:, 0], "v": edges[:, 1]}


Counts = tuple[jax.Array | np.ndarray, InGraph, tuple[str, ...]]
"""Counts at nodes or edges (meaningless where only the whole graph is counted), counts in the graph, and notes."""


def _count_five(graph: Graph, padded: Graph, detail: Detail, options: JobOptions) -> Counts:
    """Count the orbits of up to five nodes in a graph that has edges."""
    from jaxmotif.graphlets.five import matrices
    from jaxmotif.graphlets.five import orbits as five

    options = options.identified(lambda: ("graphlets-5", detail, graph.edge_list(), graph.n))
    device = options.selection.main

    def count() -> Counts:
        if detail == "graph":
            counts, notes = five.five_node_counts(padded, options)
            return counts, dict(zip(NAMES_5, counts.tolist(), strict=True)), notes
        edges = detail == "edge"
        result = five.five_node_orbits(padded, options, edges, nodes=not edges)
        orbits = result.nodes if result.edges is None else result.edges
        return orbits, partial(_summed_up, graph.n, orbits), result.notes

    return rehearsed(count, device, matrices.programs_of_five(detail, padded, device, options.memory))


def count_five_node_copies(
    graph: Graph, name: str, induced: bool, device: jax.Device, memory: int | None
) -> tuple[int, tuple[str, ...]]:
    """Count the copies of one connected graph of five nodes, and return the count and notes.

    This takes less time than :func:`graphlet_counts`, since sums that only other graphs need are left out.

    Args:
      graph: undirected, with edges.
      name: one of :data:`jaxmotif.patterns._totals.NAMES_5`.
      induced: whether only induced copies are counted.
      device: where to count.
      memory: as for :func:`graphlet_counts`.

    Raises:
      OverflowError, ValueError: as :func:`graphlet_counts`.

    Example:
      >>> from jaxmotif import datasets
      >>> count_five_node_copies(datasets.load("karate"), "house", True, jax.devices()[0], None)[0]
      139
    """
    from jaxmotif.graphlets.five.matrices import programs_of_five
    from jaxmotif.graphlets.five.orbits import five_node_copies

    padded = pad_to_class(graph, device, memory)
    programs = programs_of_five((name, induced), padded, device, memory)
    options = JobOptions(Selection((device,)), memory)
    return rehearsed(lambda: five_node_copies(padded, name, induced, options), device, programs)


def _summed_up(nodes: int, orbits: jax.Array | np.ndarray) -> dict[str, int]:
    """Return the counts in a graph, from the orbits at all of its nodes or at all of its edges.

    Args:
      nodes: the number of nodes of the graph.
      orbits: integers ``[n, 73]`` at nodes, or ``[m, 68]`` at edges.
    """
    from jaxmotif.graphlets.five.results import totals, totals_of_edges

    added = totals if orbits.shape[1] == len(NODE_NAMES_5) else totals_of_edges
    counts = all_counts(np, np.array(nodes, object), added(orbits))
    return dict(zip(NAMES_5, counts.tolist(), strict=True))


def _check(graph: Graph | Graphs, size: int, typed: bool, induced: bool, certify: CertificateFile = None) -> None:
    check_switch(typed, "typed")
    if graph.directed and not typed:
        raise ValueError(
            "graphlets are counted in undirected graphs, got a directed one; build it with directed=False, or take "
            "typed=True, which tells directions (and labels)"
        )
    check_graphlet_size(size)
    check_switch(induced, "induced")
    if is_typed(graph, typed) and not induced:
        raise ValueError("typed=True counts induced subgraphs alone; leave induced=False out")
    if is_typed(graph, typed) and certify is not None:
        raise ValueError("typed=True has no certificate; subgraph_census(certify=) has one of classes with types")
    if certify is not None:
        check_writable(certify)


def _count_four(graph: Graph, padded: Graph, detail: Detail, options: JobOptions) -> Counts:
    """Count the orbits of up to four nodes in a graph that has edges."""
    if detail == "node" and (largest := int(graph.degrees.max())) > equations.MAX_DEGREE_INT64:
        raise OverflowError(
            f"a node of degree {largest}: its orbit counts may pass 64 bits (limit {equations.MAX_DEGREE_INT64}); "
            "graphlet_counts and edge_graphlets stay exact"
        )
    per_edge = detail != "graph"
    options = options.identified(lambda: ("graphlets", per_edge, graph.edge_list(), graph.n))
    outcome = jax.block_until_ready(run(padded, detail, options))
    sums: dict[str, int] = dict(zip(equations.TERMS, join_sums(np.asarray(outcome.sums).T), strict=True))
    return outcome.values, partial(_from_sums, graph.n, graph.m, sums), outcome.notes


def _from_sums(n: int, m: int, sums: dict[str, int]) -> dict[str, int]:
    """Return the counts of up to four nodes in a graph from the sums of :data:`equations.TERMS` over its edges."""
    return dict(zip(GRAPHLET_NAMES, equations.global_counts(np, n, m, sums).tolist(), strict=True))
