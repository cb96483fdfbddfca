"""Answers found without the library's equations: brute force over node subsets, other packages, stored counts."""

import gzip
import json
from collections.abc import Iterable
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest

from jaxmotif.patterns import EDGE_ORBITS, GRAPHLETS, NODE_ORBITS, Graphlet
from jaxmotif.patterns._catalogue import GRAPHLETS_5

Edges = list[tuple[int, int]]

DISCONNECTED_5 = {g.name: g.edges for g in GRAPHLETS_5 if g.num_nodes == 5 and not g.connected}


def random_edges(n: int, density: float, seed: int) -> Edges:
    """Edges of an Erdos-Renyi graph, ascending, ``u < v``."""
    rng = np.random.default_rng(seed)
    return [pair for pair in combinations(range(n), 2) if rng.random() < density]


def complement(n: int, edges: Edges) -> Edges:
    return sorted(set(combinations(range(n), 2)) - set(edges))


MIRROR = {
    "edge": "2-node-indep",
    "triangle": "3-node-indep",
    "2-star": "3-node-1-edge",
    "4-clique": "4-node-indep",
    "chordal-cycle": "4-node-1-edge",
    "tailed-triangle": "4-node-2-star",
    "4-cycle": "4-node-2-edge",
    "3-star": "4-node-1-triangle",
    "4-path": "4-path",
}
"""What each graphlet is in the complement."""


def relabel(edges: Edges, order) -> Edges:
    """The edges after node ``i`` is renamed ``order[i]``."""
    return sorted(tuple(sorted((int(order[u]), int(order[v])))) for u, v in edges)


def _pairs(num_nodes: int) -> Edges:
    return list(combinations(range(num_nodes), 2))


def _orbits(graphlet: Graphlet, items: Iterable, image) -> set[frozenset]:
    """The classes of items that the graphlet's automorphisms exchange."""
    edges = {frozenset(e) for e in graphlet.edges}
    automorphisms = [
        p
        for p in permutations(range(graphlet.num_nodes))
        if {frozenset((p[u], p[v])) for u, v in graphlet.edges} == edges
    ]
    return {frozenset(image(p, item) for p in automorphisms) for item in items}


def node_orbits_of(graphlet: Graphlet) -> set[frozenset[int]]:
    """The graphlet's node orbits, by brute force over permutations."""
    return _orbits(graphlet, range(graphlet.num_nodes), lambda p, x: p[x])


def edge_orbits_of(graphlet: Graphlet) -> set[frozenset[tuple[int, int]]]:
    """The graphlet's edge orbits, by brute force over permutations."""
    return _orbits(graphlet, graphlet.edges, lambda p, e: tuple(sorted((p[e[0]], p[e[1]]))))


def _classifier(num_nodes: int) -> dict[tuple[bool, ...], tuple[str, list, list]]:
    """For each adjacency (by pairs): the graphlet's name, each node's orbit index, each pair's column name."""
    table = {}
    for graphlet in (g for g in GRAPHLETS if g.num_nodes == num_nodes):
        node_orbit = {x: o.index for o in NODE_ORBITS if o.graphlet == graphlet.name for x in o.nodes}
        column = {frozenset(e): o.name for o in EDGE_ORBITS if o.graphlet == graphlet.name for e in o.edges}
        edges = {frozenset(e) for e in graphlet.edges}
        for p in permutations(range(num_nodes)):  # the subset's node i plays the graphlet's node p[i]
            images = [frozenset((p[i], p[j])) for i, j in _pairs(num_nodes)]
            key = tuple(e in edges for e in images)
            table[key] = (graphlet.name, [node_orbit.get(x) for x in p], [column.get(e) for e in images])
    return table


_CLASSIFIERS = {k: _classifier(k) for k in (2, 3, 4)}


def brute_force(n: int, edges: Edges) -> tuple[dict[str, int], dict[str, np.ndarray], np.ndarray]:
    """Counts by looking at every subset of 2, 3 and 4 nodes.

    Returns:
      The 17 global counts by name; the per-edge columns by name, each in the order of ``edges``; the node orbits
      ``[n, 15]``.
    """
    counts = {g.name: 0 for g in GRAPHLETS}
    columns = {o.name: np.zeros(len(edges), np.int64) for o in EDGE_ORBITS}
    orbits = np.zeros((n, len(NODE_ORBITS)), np.int64)
    slot = {frozenset(e): i for i, e in enumerate(edges)}
    for k, classifier in _CLASSIFIERS.items():
        for nodes in combinations(range(n), k):
            pairs = [frozenset(pair) for pair in combinations(nodes, 2)]
            name, node_orbit, column = classifier[tuple(pair in slot for pair in pairs)]
            counts[name] += 1
            for x, orbit in zip(nodes, node_orbit, strict=True):
                if orbit is not None:
                    orbits[x, orbit] += 1
            for pair, col in zip(pairs, column, strict=True):
                if col is not None:
                    columns[col][slot[pair]] += 1
    return counts, columns, orbits


def edge_inputs(n: int, edges: Edges) -> dict[str, np.ndarray]:
    """The per-edge inputs of the equations, by definition: sets and loops."""
    near = {x: {v for e in edges for v in e if x in e} - {x} for x in range(n)}
    triangles = {(u, v): near[u] & near[v] for a, b in edges for u, v in ((a, b), (b, a))}

    def row(u: int, v: int) -> dict[str, int]:
        common = triangles[u, v]
        return {
            "d_u": len(near[u]),
            "d_v": len(near[v]),
            "t": len(common),
            "K": sum(y in near[x] for x, y in combinations(common, 2)),
            "cyc": sum(y in near[x] for x in near[u] - {v} for y in near[v] - {u} if x != y),
            "A": sum(len(triangles[u, w]) + len(triangles[v, w]) for w in common),
            "B": sum(len(near[w]) for w in common),
            "nd": sum(len(near[w]) for end in (u, v) for w in near[end]),
            "tt": sum(len(triangles[end, w]) for end in (u, v) for w in near[end]),
        }

    rows = [row(u, v) for u, v in edges]
    names = ("d_u", "d_v", "t", "K", "cyc", "A", "B", "nd", "tt")
    return {name: np.array([r[name] for r in rows], np.int64) for name in names}


def igraph_connected_counts(n: int, edges: Edges) -> dict[str, int]:
    """The connected graphlets of 3 and 4 nodes by python-igraph (the test is skipped where that is missing)."""
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(n=n, edges=edges)
    result = {}
    for k in (3, 4):
        by_class = graph.motifs_randesu(k)
        for g in GRAPHLETS:
            if g.num_nodes == k and g.connected:
                result[g.name] = int(by_class[igraph.Graph(n=k, edges=g.edges).isoclass()])
    return result


def orbit_counts(n: int, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
    """Node orbits ``[n, 15]`` and edge orbits ``[m, 12]`` by orbit-count (skips where that is missing)."""
    orbit_count = pytest.importorskip("orbit_count")
    graph = pytest.importorskip("networkx").Graph(edges)
    graph.add_nodes_from(range(n))
    nodes = orbit_count.node_orbit_counts(graph, 4, node_list=list(range(n)))
    return np.asarray(nodes), np.asarray(orbit_count.edge_orbit_counts(graph, 4, edge_list=edges))


def stored_edges(data: Path, name: str) -> Edges:
    """The edges of a stored undirected network, in file order."""
    with gzip.open(data / "undirected" / f"{name}.edges.gz", "rt") as lines:
        return [(int(u), int(v)) for u, v in (line.split() for line in lines)]


def stored_graphlets(data: Path) -> dict[str, dict]:
    """For each stored undirected network: ``{"n", "m", "counts", ...}``."""
    return json.loads((data / "undirected" / "graphlets.json").read_text())["graphs"]


def stored_orbits(data: Path, name: str, per: str) -> np.ndarray:
    """ORCA's orbit counts of a stored network, ``per`` "node" ``[n, 15]`` or "edge" ``[m, 12]`` in file order."""
    with gzip.open(data / "undirected" / "orbits" / f"{name}.{per}4.gz", "rt") as lines:
        return np.loadtxt(lines, dtype=np.int64, ndmin=2)
