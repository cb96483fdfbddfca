"""Certificates of counts: files that :mod:`jaxmotif.verify` checks without the engine that made the counts."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from jaxmotif.certificates._table import DeviceTable, HostTable, certified_table
from jaxmotif.graph._saved import written_whole
from jaxmotif.patterns._names import named_pattern
from jaxmotif.patterns._orbits import column_graphs
from jaxmotif.patterns._pattern import Pattern
from jaxmotif.verify._certificate import ANY, FORMAT, LARGEST_FILE, seed_of
from jaxmotif.verify._graph import describe
from jaxmotif.verify._modular import random_rows, random_weights, sum_of_products, weighted_sums

if TYPE_CHECKING:
    import jax

    from jaxmotif.graph import Graph

WITNESSES = 500
WHOLE = 10_000
"""Number of rows that a certificate shows, and the most numbers of a table of more rows that it shows whole."""

CertificateFile = str | os.PathLike[str] | None
"""Argument ``certify`` of a front door: the file for a certificate, or ``None`` for none."""


def certify_graphlets(
    path: str | os.PathLike[str],
    graph: Graph,
    at: Literal["graph", "edge", "node"],
    counts: Mapping[str, int],
    induced: bool,
    columns: Sequence[str] = (),
    table: jax.Array | np.ndarray | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> None:
    """Write a certificate of graphlets.

    Args:
      path: the file.
      graph: an undirected graph; its labels do not count.
      at: what the rows of the table are.
      counts: how many graphlets of each name the graph has.
      induced: as for :func:`jaxmotif.graphlet_counts`.
      columns: names of the columns.
      table: int64 or Python integers ``[rows or more, columns]``.
      meanwhile: a function that starts further work on a device, to be done while the file is written.
    """
    rows = graph.m if at == "edge" else graph.n
    fixed = None if table is None else certified_table(table, rows, _is_shown_whole(rows, len(columns)))
    shapes, columns_shown = _graphlet_shapes(at, tuple(counts), tuple(columns))
    shapes = _with_totals(shapes, counts.values())
    _write(path, _describe(graph, False, False)[1], induced, shapes, columns_shown, fixed, meanwhile=meanwhile)


@functools.cache
def _graphlet_shapes(
    at: Literal["graph", "edge", "node"], names: tuple[str, ...], columns: tuple[str, ...]
) -> tuple[list[Shape], list[Shape]]:
    """Return the shapes of the graphlets with some names, and of the columns of the table.

    The root of a column's shape is the node or edge of the graphlet whose orbit the column counts.
    """
    whole = [_shape((None, None), name, named_pattern(name, False)) for name in names]
    graphs = [] if at == "graph" else column_graphs(at, len(columns))
    roots = ((Pattern.from_edges(graph.edges, graph.size), graph.root) for graph in graphs)
    return whole, [_shape((None, None), name, *root) for name, root in zip(columns, roots, strict=True)]


def certify_census(
    path: str | os.PathLike[str], graph: Graph, classes: Sequence[str], counts: np.ndarray, per_node: np.ndarray
) -> None:
    """Write a certificate of a census.

    Args:
      path: the file.
      graph: the graph, whose directions and labels count.
      classes: the strings of the classes that occur.
      counts: int64 ``[classes]``.
      per_node: int64 ``[n, classes]``, in how many occurrences each node lies.
    """
    labels, described = _describe(graph, graph.node_labels is not None, graph.edge_labels is not None)
    shapes = [_shape(labels, name, named_pattern(name, graph.directed)) for name in classes]
    _write(path, described, True, _with_totals(shapes, counts.tolist()), shapes, HostTable(per_node))


def certify_matches(
    path: str | os.PathLike[str],
    graph: Graph,
    query: Pattern,
    wildcard: int | None,
    induced: bool,
    count: int,
    part: tuple[int, np.ndarray] | None = None,
    maps: np.ndarray | None = None,
) -> None:
    """Write a certificate of the number of maps, or of the maps.

    Args:
      path: the file.
      graph: the target.
      query: the query.
      wildcard: as for :func:`jaxmotif.count_matches`, also ``induced``.
      induced: whether maps keep non-edges too.
      count: how many maps there are.
      part: a query node, and how many maps send it to each target node, int64 ``[n]``.
      maps: integers ``[count, k]``, all maps.
    """
    asked = query.node_labels, None if query.edge_labels is None else query.edge_labels[query.adjacency]
    by_node, by_edge = (labels is not None and bool(np.any(labels != wildcard)) for labels in asked)
    labels, described = _describe(graph, by_node, by_edge)
    shape = _shape(labels, "matches", query, () if part is None else (part[0],), wildcard)
    if maps is not None:
        shape["roots"] = query.num_nodes

    def images(seed: bytes) -> list[int]:
        """Return the sum over all maps of the random weights of some images, or none if no images are known."""
        weights = [random_weights(seed, f"node {u}", graph.n) for u in range(shape["roots"])]
        if maps is not None:
            return [sum_of_products(weights, maps)]
        return [] if part is None else weighted_sums(weights[0], part[1][:, None])

    _write(path, described, induced, _with_totals([shape], [count]), [], None, _mapping_order(shape["matrix"]), images)


def _mapping_order(matrix: list[list[int]]) -> list[int]:
    """Return the nodes of a query in the order in which the checker maps them: from one end of the query to the other.

    A breadth-first search from node 0 ends at a node that lies at one end. The order is that of a second breadth-first
    search, from this node.
    """

    def spread(first: int) -> list[int]:
        order = [first]
        while rest := [v for v in range(len(matrix)) if v not in order]:
            order.append(next((v for u in order for v in rest if matrix[u][v] or matrix[v][u]), rest[0]))
        return order

    return spread(spread(0)[-1])


_KNOWN: WeakKeyDictionary = WeakKeyDictionary()
"""For each graph, its labels and its description in certificates, so that it is hashed once, not for each answer."""

Shape = dict[str, Any]
"""A small graph as a certificate describes it."""

Labels = tuple[np.ndarray | None, np.ndarray | None]
"""Labels of the nodes and of the edges of a graph, int64, if there are some and if they count."""


def _describe(graph: Graph, node_labels: bool, edge_labels: bool) -> tuple[Labels, dict[str, Any]]:
    """Return the labels of a graph that count, and the graph's description in a certificate."""
    known = _KNOWN.setdefault(graph, {})
    if (node_labels, edge_labels) not in known:
        labels = tuple(
            None if values is None or not counts else values.astype(np.int64)
            for values, counts in zip(graph._labels(), (node_labels, edge_labels), strict=True)
        )
        known[node_labels, edge_labels] = labels, describe(graph.n, graph.edge_list(), graph.directed, *labels)
    return known[node_labels, edge_labels]


def _shape(known: Labels, name: str, pattern: Pattern, root: Sequence[int] = (), wildcard: int | None = None) -> Shape:
    """Return the description of a shape in a certificate, without its total; the nodes of the root come first."""
    order = [*root, *(u for u in range(pattern.num_nodes) if u not in root)]
    arcs, labels = pattern.adjacency.astype(np.int64), np.zeros(pattern.num_nodes, np.int64)
    of_nodes, of_edges = known
    if of_edges is not None and pattern.edge_labels is not None:
        arcs[pattern.adjacency] = _numbers(of_edges, pattern.edge_labels[pattern.adjacency], 1, wildcard)
    if of_nodes is not None and pattern.node_labels is not None:
        labels = _numbers(of_nodes, pattern.node_labels, 0, wildcard)
    matrix = (arcs + np.diag(labels))[np.ix_(order, order)]
    return {"name": name, "roots": len(root), "matrix": matrix.tolist()}


def _numbers(known: np.ndarray, labels: np.ndarray, first: int, wildcard: int | None) -> np.ndarray:
    """Return the numbers of labels in a certificate: labels of the graph are numbered from ``first`` on, upwards."""
    numbers = {label: number for number, label in enumerate(np.unique(known).tolist(), first)}
    return np.array([ANY if label == wildcard else numbers.get(label, -1) for label in labels.tolist()], np.int64)


def _with_totals(shapes: list[Shape], totals: Iterable[int]) -> list[Shape]:
    return [{**shape, "total": int(total)} for shape, total in zip(shapes, totals, strict=True)]


def _write(
    path: str | os.PathLike[str],
    graph: dict[str, Any],
    induced: bool,
    shapes: list[Shape],
    columns: list[Shape],
    table: HostTable | DeviceTable | None,
    order: Sequence[int] = (),
    images: Callable[[bytes], list[int]] | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> None:
    """Write a certificate, whole or not at all; what is random in it follows from the graph and the claim.

    Args:
      path: the file.
      graph: what it says of the graph.
      induced: whether only induced subgraphs, or maps, count.
      shapes: what is counted in the graph.
      columns: what the columns of the table count, without their sums.
      table: the table, if there is one.
      order: for maps, the order of the query's nodes.
      images: for maps, a function of the seed that returns the fingerprints.
      meanwhile: a function that starts further work on a device, to be done while the file is written.

    Raises:
      ValueError: the file would be larger than the checker reads.
    """
    sums, sha256 = ([], "") if table is None else table.fix()
    claim = {"maps": images is not None, "induced": induced, "shapes": shapes, "order": order}
    claim |= {"columns": _with_totals(columns, sums), "sha256": sha256}
    certificate = {"format": FORMAT, "graph": graph, "claim": claim, "fingerprints": [], "witnesses": []}
    seed = seed_of(certificate)
    if table is not None:
        number, width = table.shape
        rows = range(number) if _is_shown_whole(number, width) else random_rows(seed, number, WITNESSES)
        certificate["fingerprints"], certificate["witnesses"] = table.show(seed, rows)
    if images is not None:
        certificate["fingerprints"] = images(seed)
    if meanwhile is not None:
        meanwhile()
    text = json.dumps(certificate, separators=(",", ":")) + "\n"
    if len(text) > LARGEST_FILE:
        raise ValueError(
            f"{os.fspath(path)}: the certificate of {len(shapes)} counts and {len(columns)} columns has {len(text)} "
            f"bytes, and the checker reads {LARGEST_FILE} at most; count without a certificate, or with fewer labels"
        )
    with written_whole(path) as partial:
        partial.write_text(text, "ascii")


def _is_shown_whole(rows: int, columns: int) -> bool:
    """Return whether a certificate shows all rows of a table."""
    return rows <= WITNESSES or rows * columns <= WHOLE
