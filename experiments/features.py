"""What features cost: a data set of molecule-like graphs, nodes of a network, and networkx through the backend.

python experiments/features.py [--graphs 10000] [--polblogs FILE]
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import jaxmotif
from jaxmotif.features import gdv_similarity, pattern_features
from jaxmotif.graph import Graphs
from jaxmotif.patterns import Pattern

LABELLED = [
    Pattern.from_edges([(0, 1), (1, 2)], node_labels=[0, 1, 0]),
    Pattern.from_edges([(0, 1), (0, 2), (0, 3)], node_labels=[0, 1, 1, 2]),
    Pattern.from_edges([(0, 1), (1, 2), (2, 3)], node_labels=[2, 0, 0, 2]),
    Pattern.from_edges([(i, (i + 1) % 6) for i in range(6)], node_labels=[0] * 6),
    Pattern.from_edges([(i, (i + 1) % 5) for i in range(5)], node_labels=[0, 0, 0, 0, 1]),
]


def molecules(graphs: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Trees of 10 to 39 nodes with two more edges each, as PyTorch Geometric holds a batch; and a label a node."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(10, 40, graphs)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    place = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    child = np.flatnonzero(place > 0)
    parent = child - 1 - rng.integers(0, np.minimum(4, place[child]))
    first = np.repeat(starts[:-1], 2)
    more = first[:, None] + rng.integers(0, np.repeat(sizes, 2)[:, None], (2 * graphs, 2))
    return np.concatenate([np.stack([parent, child], 1), more]).T, starts, rng.integers(0, 3, starts[-1])


def cpu_seconds(work: Callable[[], Any]) -> str:
    found = []
    for _ in range(2):
        started = time.process_time()
        jax.block_until_ready(work())
        found.append(time.process_time() - started)
    return f"first {found[0]:.2f}, again {found[1]:.2f} CPU s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=10_000)
    parser.add_argument("--polblogs", help="the network as rows of arcs")
    options = parser.parse_args()
    edge_index, ptr, labels = molecules(options.graphs)

    def features() -> list[np.ndarray]:
        graphs = Graphs.from_edge_index(edge_index, ptr, node_labels=labels)
        orbits = jaxmotif.node_orbits(graphs).values
        return [
            np.asarray(jaxmotif.graphlet_counts(graphs)), np.add.reduceat(orbits, ptr[:-1]),
            pattern_features(graphs, LABELLED).values,
        ]  # fmt: skip

    print(f"{options.graphs} molecules, 17 counts, 15 orbits, 5 labelled patterns: {cpu_seconds(features)}")
    orbits = np.random.default_rng(0).integers(0, 10_000, (10_000, 73))
    print(f"GDV similarity of 10,000 x 10,000 nodes: {cpu_seconds(lambda: gdv_similarity(orbits))}")
    if options.polblogs is None:
        return
    import networkx as nx

    graph = nx.read_edgelist(options.polblogs, create_using=nx.DiGraph, nodetype=int)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    print(
        f"triadic_census of {graph} by the backend: {cpu_seconds(lambda: nx.triadic_census(graph, backend='jaxmotif'))}"
    )
    print(f"the same by networkx: {cpu_seconds(lambda: nx.triadic_census(graph))}")
    assert nx.triadic_census(graph, backend="jaxmotif") == nx.triadic_census(graph)


if __name__ == "__main__":
    main()
