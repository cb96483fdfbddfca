"""Certificates of counts: files that :mod:`jaxmotif.verify` checks without the engine that made the counts."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from jaxmotif.certificates._table import DeviceTable, HostTable, certified_table
from jaxmotif.graph._saved import written_whole
from jaxmotif.patterns._catalogue import EDGE_ORBITS, GRAPHLETS
from jaxmotif.patterns._names import named_pattern
from jaxmotif.patterns._orbits import CONNECTED, EDGE_NAMES_5
from jaxmotif.patterns._pattern import Pattern
from jaxmotif.verify._certificate import ANY, FORMAT, seed_of
from jaxmotif.verify._graph import describe
from jaxmotif.verify._modular import random_rows, random_weights, sum_of_products

if TYPE_CHECKING:
    import jax

    from jaxmotif.graph import Graph

WITNESSES = 500
WHOLE = 10_000
"""Rows of a table that a certificate shows, and the most numbers of one that it shows as a whole."""

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
    """
    patterns = {name: named_pattern(name, False) for name in counts}
    roots = _roots(at, tuple(columns))
    labels, described = _describe(graph, False, False)
    job = {"graph": "graphlet_counts", "edge": "edge_graphlets", "node": "node_orbits"}[at]
    shapes = [_shape(labels, name, pattern) for name, pattern in patterns.items()]
    columns_shown = [_shape(labels, name, *roots[name]) for name in columns]
    claim = _claim(job, induced, shapes, list(counts.values()), columns_shown)
    rows = graph.m if at == "edge" else graph.n
    _write(path, described, claim, None if table is None else certified_table(table, rows, WHOLE))


@functools.cache
def _roots(at: Literal["graph", "edge", "node"], columns: tuple[str, ...]) -> dict[str, tuple[Pattern, Sequence[int]]]:
    """Return the graphlet of each column, and the places in it that the column counts."""
    roots: dict[str, tuple[Pattern, Sequence[int]]] = {}
    if at == "edge" and len(columns) < len(EDGE_NAMES_5):
        shapes = {g.name: Pattern.from_edges(g.edges, g.num_nodes) for g in GRAPHLETS}
        roots = {orbit.name: (shapes[orbit.graphlet], orbit.edges[0]) for orbit in EDGE_ORBITS}
    elif at != "graph":
        for g in CONNECTED:
            shape = Pattern.from_edges(g.edges, g.size)
            places = g.edges if at == "edge" else [(u,) for u in range(g.size)]
            orbits = zip(g.edge_orbits if at == "edge" else g.node_orbits, places, strict=False)
            roots |= {columns[orbit]: (shape, place) for orbit, place in orbits if orbit < len(columns)}
    return roots


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
    _write(path, described, _claim("subgraph_census", True, shapes, counts.tolist(), shapes), HostTable(per_node))


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
      query: the query, wildcard and induced: as for :func:`jaxmotif.count_matches`.
      wildcard: see there.
      induced: see there.
      count: how many maps there are.
      part: a query node, and how many maps send it to each target node, int64 ``[n]``.
      maps: integers ``[count, k]``, all maps.
    """
    asked = query.node_labels, None if query.edge_labels is None else query.edge_labels[query.adjacency]
    by_node, by_edge = (labels is not None and bool(np.any(labels != wildcard)) for labels in asked)
    labels, described = _describe(graph, by_node, by_edge)
    job = "count_matches" if maps is None else "find_matches"
    shape = _shape(labels, "matches", query, () if part is None else (part[0],), wildcard)
    claim = _claim(job, induced, [shape], [count], [] if part is None else [shape])
    _write(path, described, claim, None if part is None else HostTable(part[1][:, None]), maps)


_KNOWN: WeakKeyDictionary = WeakKeyDictionary()
"""Labels of graphs, and what certificates say of them: they are hashed once, not for each answer."""

Labels = tuple[np.ndarray | None, np.ndarray | None]
"""Labels of the nodes and of the edges of a graph, int64, if there are some and if they count."""


def _describe(graph: Graph, node_labels: bool, edge_labels: bool) -> tuple[Labels, dict[str, Any]]:
    """Return the labels of a graph that count, and what a certificate says of it."""
    known = _KNOWN.setdefault(graph, {})
    if (node_labels, edge_labels) not in known:
        labels = tuple(
            None if values is None or not counts else values.astype(np.int64)
            for values, counts in zip(graph._labels(), (node_labels, edge_labels), strict=True)
        )
        known[node_labels, edge_labels] = labels, describe(graph.n, graph.edge_list(), graph.directed, *labels)
    return known[node_labels, edge_labels]


def _shape(
    known: Labels, name: str, pattern: Pattern, root: Sequence[int] = (), wildcard: int | None = None
) -> dict[str, Any]:
    """Return a shape as a certificate describes it, with the nodes of the root in front."""
    order = [*root, *(u for u in range(pattern.num_nodes) if u not in root)]
    arcs, labels = pattern.adjacency.astype(np.int64), np.zeros(pattern.num_nodes, np.int64)
    of_nodes, of_edges = known
    if of_edges is not None and pattern.edge_labels is not None:
        arcs[pattern.adjacency] = _numbers(of_edges, pattern.edge_labels[pattern.adjacency], 1, wildcard)
    if of_nodes is not None and pattern.node_labels is not None:
        labels = _numbers(of_nodes, pattern.node_labels, 0, wildcard)
    arcs = arcs[np.ix_(order, order)]
    return {"name": name, "roots": len(root), "arcs": arcs.tolist(), "labels": labels[order].tolist()}


def _numbers(known: np.ndarray, labels: np.ndarray, first: int, wildcard: int | None) -> np.ndarray:
    """Return the numbers that a certificate has for labels: those that occur are numbered from ``first`` on."""
    numbers = {label: number for number, label in enumerate(np.unique(known).tolist(), first)}
    return np.array([ANY if label == wildcard else numbers.get(label, -1) for label in labels.tolist()], np.int64)


def _claim(job: str, induced: bool, shapes: list[dict], counts: list[int], columns: list[dict]) -> dict[str, Any]:
    counts = [int(count) for count in counts]
    return {"job": job, "induced": induced, "shapes": shapes, "counts": counts, "columns": columns}


def _write(
    path: str | os.PathLike[str],
    graph: dict[str, Any],
    claim: dict[str, Any],
    table: HostTable | DeviceTable | None,
    maps: np.ndarray | None = None,
) -> None:
    """Write a certificate, whole or not at all; what is random in it follows from the graph and the claim."""
    claim["table"] = {"rows": 0, "sums": [], "sha256": ""}
    if table is not None:
        sums, sha256 = table.fix()
        claim["table"] = {"rows": table.shape[0], "sums": sums, "sha256": sha256}
    certificate = {"format": FORMAT, "graph": graph, "claim": claim, "fingerprints": [], "witnesses": []}
    seed = seed_of(certificate)
    if table is not None:
        (number, columns), rows = table.shape, []
        if claim["job"] != "count_matches":
            rows = range(number) if number * columns <= WHOLE else random_rows(seed, number, WITNESSES)
        certificate["fingerprints"], certificate["witnesses"] = table.show(seed, rows)
    if maps is not None:
        weights = [random_weights(seed, f"node {u}", graph["nodes"]) for u in range(maps.shape[1])]
        certificate["fingerprints"] = [sum_of_products(weights, maps)]
    with written_whole(path) as partial:
        partial.write_text(json.dumps(certificate, separators=(",", ":")) + "\n", "ascii")
