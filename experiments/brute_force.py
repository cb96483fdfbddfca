"""Counts of thousands of small random graphs against brute force, with the tests' oracles.

    python experiments/brute_force.py [WHAT ...] [--seed S] [--seconds T] [--graphs N]

    not-induced   subgraphs that need not be induced, of a graph, its nodes and its edges: by all maps
    typed         directed and labelled graphlets, and their roles: by all sets of nodes in every order
    roles         roles of nodes and edges in the classes of a census: by all sets of nodes
    disjoint      occurrences without shared nodes or edges: between the bounds, by all families of them
    sieve         color motifs, with directions and labels of edges: by all sets of nodes

Each goes on until it has met N graphs, or for T seconds; a difference ends the program. Run in the folder above.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

import jaxmotif
from jaxmotif.graph import Graph
from tests.census.test_count import random_graph
from tests.features import test_census_orbits
from tests.graphlets import test_not_induced, test_typed
from tests.matching import test_disjoint
from tests.sieve import test_search

TOGETHER = 100
NODES = (3, 8, 8, 8)  # few sizes: each compiles programs of its own
# Directed, labels of nodes, labels of edges.
KINDS = [(True, 0, 0), (True, 2, 0), (True, 0, 2), (True, 2, 2), (False, 3, 0), (False, 0, 2), (False, 2, 3)]
UNDIRECTED = ("triangle", "2-star", "4-cycle", "4-path", "3-star", "tailed-triangle", "4-clique")
DIRECTED = ("ffl", "bi-fan", "3-cycle", "2-path")
Sweep = Callable[[np.random.Generator], Iterator[tuple[int, int]]]
"""Yields graphs looked at, and numbers compared, since it last did."""


def not_induced(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    while True:
        sizes = rng.integers(1, 9, TOGETHER).tolist()
        given = [[pair for pair in combinations(range(n), 2) if rng.random() < d]
                 for n, d in zip(sizes, rng.random(TOGETHER), strict=True)]  # fmt: skip
        graphs = [Graph.from_edges(np.array(e, int).reshape(-1, 2), n) for n, e in zip(sizes, given, strict=True)]
        found = {k: [door(graphs, size=k, induced=False) for door in test_not_induced.DOORS] for k in (4, 5)}
        for i, (n, edges) in enumerate(zip(sizes, given, strict=True)):
            compared = [test_not_induced.check([many[i] for many in found[k]], n, edges, k) for k in (4, 5)]
            yield 1, sum(compared)


def typed(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
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
                    # Beside others there are columns of theirs, too.
                    tables = [(one.columns, one.to_numpy().T) for one in (alone, among)]
                    one, other = ({c: x.tolist() for c, x in zip(*t, strict=True) if x.any()} for t in tables)
                    assert one == other
                    yield 0, len(compared)


def roles(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    while True:
        for directed, labels, edge_labels in [*KINDS, (False, 0, 0)]:
            size = int(rng.integers(2, 5 if labels or edge_labels else 6))
            seed, n = int(rng.integers(2**31)), max(size, int(rng.choice(NODES)))
            graph = random_graph(n, 0.6 * rng.random(), seed, directed, labels=labels, edge_labels=edge_labels)
            yield 1, sum(test_census_orbits.check(graph, size, per) for per in ("node", "edge"))


def disjoint(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
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
    while True:
        for direction in (None, "out", "in", "any"):
            n, size = int(rng.integers(2, 10)), int(rng.integers(1, 6))
            density = float(rng.choice([0.15, 0.3, 0.5, 0.7]))
            yield 1, test_search.check_directed_and_labelled(rng, n, size, density, direction)
        n, size, colors = int(rng.integers(2, 10)), int(rng.integers(1, 6)), int(rng.integers(2, 4))
        key, wildcards = int(rng.integers(2**31)), bool(rng.integers(2))
        yield 1, test_search.check_all_matches(rng, key, n, size, colors, wildcards)


SWEEPS: dict[str, Sweep] = {
    "not-induced": not_induced, "typed": typed, "roles": roles, "disjoint": disjoint, "sieve": sieve,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=list(SWEEPS), metavar="WHAT", help=", ".join(SWEEPS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--graphs", type=int, default=2000)
    args = parser.parse_args()
    if unknown := set(args.what) - set(SWEEPS):
        parser.error(f"no sweep is called {', '.join(sorted(unknown))}; there are {', '.join(SWEEPS)}")
    logging.disable(logging.WARNING)
    print("| sweep | graphs | numbers compared | s |\n|---|---|---|---|")
    for name in args.what:
        graphs = numbers = 0
        started = time.perf_counter()
        for more, compared in SWEEPS[name](np.random.default_rng([args.seed, list(SWEEPS).index(name)])):
            graphs, numbers = graphs + more, numbers + compared
            if graphs >= args.graphs or time.perf_counter() - started > args.seconds:
                break
        print(f"| {name} | {graphs:,} | {numbers:,} | {time.perf_counter() - started:.0f} |", flush=True)


if __name__ == "__main__":
    main()
