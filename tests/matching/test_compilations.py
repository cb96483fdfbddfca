"""Other targets and queries are data: they compile nothing."""

import networkx as nx
import numpy as np

from jaxmotif.graph import Graph
from jaxmotif.matching import count_matches
from jaxmotif.patterns import Pattern
from tests.compilations import compilations


def test_a_hundred_targets():
    rng = np.random.default_rng(1)
    query = Pattern.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
    with compilations() as compiled:
        for i, n in enumerate(rng.permutation(np.arange(20, 401))[:100].tolist()):
            target = Graph.from_edges(rng.integers(0, n, ((2 + i % 20) * n, 2)), n)
            found = count_matches(query, target)
            if i % 20 == 0:  # a triangle, and any other neighbour of one of its nodes
                near = nx.Graph(target.edge_list().tolist())
                assert found.count == sum(2 * t * (near.degree[v] - 2) for v, t in nx.triangles(near).items())
    assert len(compiled) <= 12


def test_queries_of_many_kinds():
    target = Graph.from_networkx(nx.gnp_random_graph(60, 0.2, seed=1))
    with compilations() as compiled:
        for name in (nx.path_graph, nx.cycle_graph, nx.star_graph, nx.complete_graph):
            for size in (3, 4, 5):
                count_matches(Pattern.from_edges(list(name(size).edges)), target)
    assert len(compiled) <= 8  # with leaves or without, first steps and later ones
