"""The jobs that count, behind one interface: numbers of connected patterns in a graph, at its nodes, at its edges."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np

import jaxmotif
from jaxmotif import Graph
from jaxmotif.patterns import EDGE_ORBITS, NODE_ORBITS, Pattern, as_pattern, node_orbits
from jaxmotif.patterns._canonical import canonical_string
from jaxmotif.patterns._catalogue import CONNECTED

Table = dict[str, np.ndarray]

UNDIRECTED = ("triangle", "4-cycle", "tailed-triangle", "4-star", "5-path", "house", "bipartite-2-3", "butterfly")
DIRECTED = ("ffl", "3-cycle", "021D", "bifan", "111U")
CLASSES = {g.name: canonical_string(Pattern.from_edges(g.edges, g.num_nodes)) for g in CONNECTED}
"""The class of the census that a graphlet of two to five nodes is."""


class Job(NamedTuple):
    """A way to count connected patterns.

    Attributes:
      directed: whether it takes directed graphs (else undirected ones).
      induced: whether patterns are induced subgraphs, or all subgraphs.
      count: how often each pattern occurs in a graph, given the options of a run too; absent patterns may be left out.
      at_nodes: in how many occurrences each node lies, ``[n]`` by pattern; ``None``: the job does not tell.
      at_edges: likewise of edges, in the order of the edge list.
      keeps: whether a folder can be given in which finished work is kept.
      some: options of ``count`` with which it counts some of its patterns, where each takes a run of its own.
    """

    directed: bool
    induced: bool
    count: Callable[..., dict[str, int]]
    at_nodes: Callable[[Graph], Table] | None = None
    at_edges: Callable[[Graph], Table] | None = None
    keeps: bool = True
    some: dict[str, tuple[str, ...]] = {}  # noqa: RUF012  (read alone)


def size_of(name: str, directed: bool) -> tuple[int, int]:
    """Return how many nodes and edges a pattern has: a name, or a class of the census."""
    pattern = as_pattern(name, Graph.from_edges([(0, 1)], directed=directed))
    return pattern.num_nodes, int(pattern.adjacency.sum()) // (1 if directed else 2)


def _added(columns: np.ndarray, names: list[str | None]) -> Table:
    """Add the columns of one name: those of the orbits of one pattern."""
    table: Table = {}
    for name, column in zip(names, columns.astype(object).T, strict=True):
        if name is not None:
            table[name] = table.get(name, 0) + column
    return table


def _graphlets(size: int, induced: bool) -> Job:
    if size == 4:
        nodes = [orbit.graphlet for orbit in NODE_ORBITS]
        edges = [orbit.graphlet for orbit in EDGE_ORBITS][:12]
    else:
        of_node = {orbit: g.name for g in CONNECTED for orbit in g.node_orbits}
        of_edge = {orbit: g.name for g in CONNECTED if g.num_nodes > 2 for orbit in g.edge_orbits}
        nodes, edges = ([of[i] for i in range(len(of))] for of in (of_node, of_edge))
    connected = {g.name for g in CONNECTED if g.num_nodes <= size}

    def count(graph: Graph, **options) -> dict[str, int]:
        found = jaxmotif.graphlet_counts(graph, size=size, induced=induced, **options).counts
        return {name: number for name, number in found.items() if name in connected}

    def at_nodes(graph: Graph) -> Table:
        return _added(jaxmotif.node_orbits(graph, size=size, induced=induced).to_numpy(), nodes)

    def at_edges(graph: Graph) -> Table:
        found = jaxmotif.edge_graphlets(graph, size=size, induced=induced).to_numpy()
        return _added(found[:, : len(edges)], edges)

    return Job(False, induced, count, at_nodes, at_edges)


def _matches(directed: bool, induced: bool) -> Job:
    names = DIRECTED if directed else UNDIRECTED

    def count(graph: Graph, checkpoint: Path | None = None, names=names, **options) -> dict[str, int]:
        counts = {}
        for name in names:
            folder = checkpoint and checkpoint / name
            found = jaxmotif.count_matches(name, graph, induced, per="occurrence", checkpoint=folder, **options)
            counts[name] = found.count
        return counts

    def at(graph: Graph, of: str) -> Table:
        table = {}
        for name in names:
            found = jaxmotif.participation_counts(name, graph, induced, of=of, per="occurrence")
            orbits = _orbits(as_pattern(name, graph), of)
            _, first = np.unique(orbits, return_index=True)
            table[name] = found[:, first].astype(object).sum(axis=1)
        return table

    some = {"names": ("bifan", "111U") if directed else ("triangle", "tailed-triangle", "house")}
    at_nodes, at_edges = (lambda graph: at(graph, "node")), (lambda graph: at(graph, "edge"))
    return Job(directed, induced, count, at_nodes, at_edges, some=some)


def _orbits(pattern: Pattern, of: str) -> np.ndarray:
    """Return the orbit of each node or edge of a pattern, by all permutations of its nodes."""
    if of == "node":
        return np.asarray(node_orbits(pattern))
    near, k = np.asarray(pattern.adjacency), pattern.num_nodes
    edges = [tuple(e) for e in np.argwhere(near).tolist() if pattern.directed or e[0] < e[1]]
    maps = [p for p in permutations(range(k)) if (near[np.ix_(p, p)] == near).all()]
    images = [[(p[a], p[b]) for p in maps] for a, b in edges]
    if not pattern.directed:
        images = [[tuple(sorted(e)) for e in image] for image in images]
    return np.array([edges.index(min(image)) for image in images])


def _census(size: int, directed: bool) -> Job:
    def count(graph: Graph, **options) -> dict[str, int]:
        found = jaxmotif.subgraph_census(graph, size, **options)
        return dict(zip(found.classes, found.counts.tolist(), strict=True))

    def at_nodes(graph: Graph) -> Table:
        found = jaxmotif.subgraph_census(graph, size, per_node=True)
        return _added(np.asarray(found.per_node), list(found.classes))

    return Job(directed, True, count, at_nodes)


def _features(induced: bool) -> Job:
    names = ["2-star", "tailed-triangle", "4-path", "house"]

    def table(graph: Graph, per: str) -> Table:
        found = jaxmotif.pattern_features(graph, names, per=per, induced=induced)
        return _added(found.values, [column.partition(":")[0] for column in found.columns])

    def count(graph: Graph, **options) -> dict[str, int]:
        found = jaxmotif.pattern_features(graph, names, induced=induced, **options)
        return dict(zip(found.columns, found.values[0].tolist(), strict=True))

    return Job(False, induced, count, lambda graph: table(graph, "node"), lambda graph: table(graph, "edge"), False)


JOBS = {
    **{
        f"graphlets of {size}{'' if induced else ', all subgraphs'}": _graphlets(size, induced)
        for size in (4, 5)
        for induced in (True, False)
    },
    **{
        f"{'arcs' if directed else 'edges'} matched{', induced' if induced else ''}": _matches(directed, induced)
        for directed in (False, True)
        for induced in (False, True)
    },
    "census of 4": _census(4, False),
    "census of 3 with arcs": _census(3, True),
    "features": _features(True),
    "features, all subgraphs": _features(False),
}
