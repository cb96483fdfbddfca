"""Node and edge orbits of 10,000 random graphs against ORCA's (`pip install orbit-count`), of four and of five nodes.

    python experiments/orbits_random.py [--graphs 10000]

Graphs of 1 to 32 nodes: of any density, by preferential attachment, of two dense halves, rings with chords.
"""

from __future__ import annotations

import argparse
import time

import networkx as nx
import numpy as np
import orbit_count  # pyright: ignore[reportMissingImports]

import jaxmotif
from jaxmotif.graph import Graphs

TOGETHER = 500


def random_graph(rng: np.random.Generator) -> nx.Graph:
    n, seed = int(rng.integers(1, 33)), int(rng.integers(2**31))
    kind = int(rng.integers(4))
    if kind == 1 and n > 3:
        return nx.barabasi_albert_graph(n, int(rng.integers(1, min(n, 6))), seed=seed)
    if kind == 2 and n > 3:
        return nx.stochastic_block_model([n // 2, n - n // 2], [[0.7, 0.1], [0.1, 0.7]], seed=seed)
    if kind == 3 and n > 4:
        return nx.newman_watts_strogatz_graph(n, 2 + 2 * int(rng.integers(2)), rng.random(), seed=seed)
    return nx.gnp_random_graph(n, rng.random(), seed=seed)


def orca(graph: nx.Graph, edges: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    if not len(edges):  # which it does not take
        return np.zeros((len(graph), {4: 15, 5: 73}[size]), np.int64), np.zeros((0, {4: 12, 5: 68}[size]), np.int64)
    pairs = list(map(tuple, edges.tolist()))
    nodes = orbit_count.node_orbit_counts(graph, size, node_list=list(range(len(graph))))
    return np.asarray(nodes), np.asarray(orbit_count.edge_orbit_counts(graph, size, edge_list=pairs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=10_000)
    rng = np.random.default_rng(0)
    checked, rows, seconds = 0, {"nodes": 0, "edges": 0}, {"jaxmotif": 0.0, "orbit-count": 0.0}
    todo = parser.parse_args().graphs
    while checked < todo:
        given = [random_graph(rng) for _ in range(min(TOGETHER, todo - checked))]
        edges = [np.array(sorted(map(sorted, graph.edges)), np.int64).reshape(-1, 2) for graph in given]
        graphs = Graphs.from_edges(edges, [len(graph) for graph in given])
        for size, columns in ((4, 12), (5, 68)):
            started = time.process_time()
            at_nodes = jaxmotif.node_orbits(graphs, size=size).values
            at_edges = jaxmotif.edge_graphlets(graphs, size=size).values[:, :columns]
            seconds["jaxmotif"] += time.process_time() - started
            started = time.process_time()
            nodes, per_edge = zip(
                *(orca(graph, some, size) for graph, some in zip(given, edges, strict=True)), strict=True
            )
            seconds["orbit-count"] += time.process_time() - started
            np.testing.assert_array_equal(at_nodes, np.concatenate(nodes))
            np.testing.assert_array_equal(at_edges, np.concatenate(per_edge))
            rows["nodes"] += len(at_nodes)
            rows["edges"] += len(at_edges)
        checked += len(given)
    print(f"{checked} graphs equal: {rows['nodes']} rows of nodes, {rows['edges']} of edges, sizes 4 and 5")
    print(", ".join(f"{who} {spent:.1f} CPU s" for who, spent in seconds.items()))


if __name__ == "__main__":
    main()
