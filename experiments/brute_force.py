"""Counts of thousands of small random graphs against brute force, with the tests' oracles, and against ORCA.

    python experiments/brute_force.py [SWEEP ...] [--seed S] [--seconds T] [--graphs N]

Each sweep goes on until it has met N graphs, or for T seconds; a difference ends the program. Run in the folder above.
The sweep "orca" needs `pip install orbit-count`, and is only run where it is named.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import harness
import numpy as np
from harness import Table

import jaxmotif
from jaxmotif.graph import Graph, Graphs
from tests.census.test_count import random_graph
from tests.features import test_census_orbits
from tests.graphlets import test_not_induced, test_typed
from tests.matching import test_disjoint
from tests.sieve import test_search

TOGETHER = 100
NODES = (3, 8, 8, 8)
"""Sizes of graphs; there are few, since each compiles programs of its own."""
KINDS = [(True, 0, 0), (True, 2, 0), (True, 0, 2), (True, 2, 2), (False, 3, 0), (False, 0, 2), (False, 2, 3)]
"""Directed, labels of nodes, labels of edges."""
UNDIRECTED = ("triangle", "2-star", "4-cycle", "4-path", "3-star", "tailed-triangle", "4-clique")
DIRECTED = ("ffl", "bi-fan", "3-cycle", "2-path")
Sweep = Callable[[np.random.Generator], Iterator[tuple[int, int]]]
"""Yields how many graphs it has looked at, and how many numbers it has compared, since it last did."""


def not_induced(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Compare subgraphs that need not be induced, of a graph, its nodes and its edges, with all maps."""
    while True:
        sizes, densities = rng.integers(1, 9, TOGETHER).tolist(), rng.random(TOGETHER)
        edges = [
            [pair for pair in combinations(range(n), 2) if rng.random() < d]
            for n, d in zip(sizes, densities, strict=True)
        ]
        graphs = [Graph.from_edges(np.array(e, int).reshape(-1, 2), n) for n, e in zip(sizes, edges, strict=True)]
        found = {k: [door(graphs, size=k, induced=False) for door in test_not_induced.DOORS] for k in (4, 5)}
        for i, (n, some) in enumerate(zip(sizes, edges, strict=True)):
            compared = [test_not_induced.check([many[i] for many in found[k]], n, some, k) for k in (4, 5)]
            yield 1, sum(compared)


def typed(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Compare directed and labelled graphlets, and their roles, with all sets of nodes in every order."""
    doors = {"node": jaxmotif.node_orbits, "edge": jaxmotif.edge_graphlets}
    while True:
        for directed, labels, edge_labels in KINDS:
            graphs = [
                test_typed.make(rng, directed, labels, edge_labels, int(rng.choice(NODES)), 0.6 * rng.random())
                for _ in range(TOGETHER)
            ]
            for graph, found in zip(graphs, jaxmotif.graphlet_counts(graphs, typed=True), strict=True):
                assert test_typed.forms(found.counts, graph) == test_typed.brute_force(graph)
                yield 1, len(found.counts)
            for per, door in doors.items():
                for graph, among in zip(graphs[:2], door(graphs[:2], typed=True), strict=True):
                    alone, compared = door(graph, typed=True), test_typed.by_role(graph, per)
                    assert test_typed.as_forms(alone, graph) == compared
                    assert columns_that_occur(alone) == columns_that_occur(among)
                    yield 0, len(compared)


def columns_that_occur(found: Any) -> dict[str, list[int]]:
    """Return the columns of a table that are not zero; beside other graphs there are columns of theirs, too."""
    return {name: x.tolist() for name, x in zip(found.columns, found.to_numpy().T, strict=True) if x.any()}


def roles(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Compare the roles of nodes and edges in the classes of a census with all sets of nodes."""
    while True:
        for directed, labels, edge_labels in [*KINDS, (False, 0, 0)]:
            size = int(rng.integers(2, 5 if labels or edge_labels else 6))
            seed, n = int(rng.integers(2**31)), max(size, int(rng.choice(NODES)))
            graph = random_graph(n, 0.6 * rng.random(), seed, directed, labels=labels, edge_labels=edge_labels)
            yield 1, sum(test_census_orbits.check(graph, size, per) for per in ("node", "edge"))


def disjoint(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Compare the bounds of occurrences without shared nodes or edges with all families of occurrences."""
    while True:
        for name in UNDIRECTED + DIRECTED:
            directed, n = name in DIRECTED, int(rng.integers(3, 9))
            near = (rng.random((n, n)) < 0.6 * rng.random()) & ~np.eye(n, dtype=bool)
            graph = Graph.from_edges(np.argwhere(near if directed else np.triu(near)), n, directed)
            induced = bool(rng.integers(2))
            found = [test_disjoint.check(graph, name, without, induced, most=13) for without in ("node", "edge")]
            if None not in found:
                yield 1, len(found)


def sieve(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Compare color motifs, with directions and labels of edges, with all sets of nodes."""
    while True:
        for direction in (None, "out", "in", "any"):
            n, size = int(rng.integers(2, 10)), int(rng.integers(1, 6))
            density = float(rng.choice([0.15, 0.3, 0.5, 0.7]))
            yield 1, test_search.check_directed_and_labelled(rng, n, size, density, direction)
        n, size, colors = int(rng.integers(2, 10)), int(rng.integers(1, 6)), int(rng.integers(2, 4))
        key, wildcards = int(rng.integers(2**31)), bool(rng.integers(2))
        yield 1, test_search.check_all_matches(rng, key, n, size, colors, wildcards)


def orca(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Compare node and edge orbits, of four and of five nodes, with ORCA's.

    Graphs have 1 to 32 nodes: of any density, by preferential attachment, of two dense halves, rings with chords.
    """
    while True:
        graphs = [drawn_for_orca(rng) for _ in range(5 * TOGETHER)]
        edges = [np.array(sorted(map(sorted, graph.edges)), np.int64).reshape(-1, 2) for graph in graphs]
        ours = Graphs.from_edges(edges, [len(graph) for graph in graphs])
        compared = 0
        for size, columns in ((4, 12), (5, 68)):
            pairs = [by_orca(graph, some, size) for graph, some in zip(graphs, edges, strict=True)]
            at_nodes, at_edges = (np.concatenate(tables) for tables in zip(*pairs, strict=True))
            np.testing.assert_array_equal(jaxmotif.node_orbits(ours, size=size).values, at_nodes)
            np.testing.assert_array_equal(jaxmotif.edge_graphlets(ours, size=size).values[:, :columns], at_edges)
            compared += at_nodes.size + at_edges.size
        yield len(graphs), compared


def drawn_for_orca(rng: np.random.Generator) -> Any:
    """Draw a graph of one of four kinds."""
    import networkx as nx

    n, seed, kind = int(rng.integers(1, 33)), int(rng.integers(2**31)), int(rng.integers(4))
    if kind == 1 and n > 3:
        return nx.barabasi_albert_graph(n, int(rng.integers(1, min(n, 6))), seed=seed)
    if kind == 2 and n > 3:
        return nx.stochastic_block_model([n // 2, n - n // 2], [[0.7, 0.1], [0.1, 0.7]], seed=seed)
    if kind == 3 and n > 4:
        return nx.newman_watts_strogatz_graph(n, 2 + 2 * int(rng.integers(2)), rng.random(), seed=seed)
    return nx.gnp_random_graph(n, rng.random(), seed=seed)


def by_orca(graph: Any, edges: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ORCA's tables of nodes and of edges."""
    import orbit_count  # pyright: ignore[reportMissingImports]

    if not len(edges):  # ORCA does not take such a graph
        return np.zeros((len(graph), {4: 15, 5: 73}[size]), np.int64), np.zeros((0, {4: 12, 5: 68}[size]), np.int64)
    pairs = list(map(tuple, edges.tolist()))
    nodes = orbit_count.node_orbit_counts(graph, size, node_list=list(range(len(graph))))
    return np.asarray(nodes), np.asarray(orbit_count.edge_orbit_counts(graph, size, edge_list=pairs))


SWEEPS: dict[str, Sweep] = {
    "not-induced": not_induced,
    "typed": typed,
    "roles": roles,
    "disjoint": disjoint,
    "sieve": sieve,
    "orca": orca,
}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument(
    "sweeps",
    nargs="*",
    default=[name for name in SWEEPS if name != "orca"],
    metavar="SWEEP",
    help="; ".join(f"{name}: {(sweep.__doc__ or '').partition('.')[0]}" for name, sweep in SWEEPS.items()),
)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--seconds", type=float, default=300.0)
parser.add_argument("--graphs", type=int, default=2000)
harness.add_common(parser)


def main(options: argparse.Namespace) -> None:
    """Run the sweeps that are named."""
    if unknown := set(options.sweeps) - set(SWEEPS):
        raise SystemExit(f"no sweep is called {', '.join(sorted(unknown))}; there are {', '.join(SWEEPS)}")
    logging.disable(logging.WARNING)
    table = Table("sweep | graphs | numbers compared | s")
    for name in options.sweeps:
        graphs = numbers = 0
        started = time.perf_counter()
        for more, compared in SWEEPS[name](np.random.default_rng([options.seed, list(SWEEPS).index(name)])):
            graphs, numbers = graphs + more, numbers + compared
            if graphs >= options.graphs or time.perf_counter() - started > options.seconds:
                break
        table.row(name, f"{graphs:,}", f"{numbers:,}", f"{time.perf_counter() - started:.0f}")


if __name__ == "__main__":
    harness.run(main, parser.parse_args())
