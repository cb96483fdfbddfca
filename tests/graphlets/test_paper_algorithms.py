"""Algorithms 2 to 4 of the hybrid graphlet paper, an experiment: their sums over edges are those of the counts."""

import numpy as np
import pytest

from experiments import graphlets_algorithms
from experiments.graphlets_algorithms import by_degree, count_by_lanes, neighbor_sets
from jaxmotif.graph import Graph
from tests.more import more
from tests.oracles import igraph_connected_counts


@pytest.mark.parametrize("nodes", [40, *more(12)])
def test_sums_over_edges(nodes, monkeypatch):
    """With so few lanes that the searches take several steps."""
    monkeypatch.setattr(graphlets_algorithms, "LANES", 2**10)
    rng = np.random.default_rng(nodes)
    graph = Graph.from_edges(np.argwhere(np.triu(rng.random((nodes, nodes)) < 0.4, 1)), nodes)
    counts, ranked = igraph_connected_counts(nodes, graph.edge_list().tolist()), by_degree(graph)
    sets = neighbor_sets(ranked)
    assert sets[0].nodes.size == 3 * counts["triangle"] > 0
    assert count_by_lanes(ranked, sets, cliques=True) == 6 * counts["4-clique"] > 0
    assert count_by_lanes(ranked, sets, cliques=False) == 4 * counts["4-cycle"] > 0
