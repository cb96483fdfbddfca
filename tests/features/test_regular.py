"""What the documentation says of regular graphs: which features tell them apart."""

import re
from pathlib import Path

import numpy as np
import pytest

from jaxmotif.features import all_patterns, homomorphism_counts, pattern_features
from tests.regular import families

FAMILIES = families()
GRAPHS = [graph for graphs in FAMILIES.values() for graph in graphs]
DOCS = (Path(__file__).parents[2] / "docs" / "features.md").read_text("utf-8")
CYCLES = [f"{k}-cycle" for k in range(3, 9)]


def matrix(graph):
    near = np.zeros((graph.n, graph.n), np.int64)
    near[tuple(graph.edge_list().T)] = 1
    return near + near.T


def documented(name):
    """Return the row of the table of a name, which counts different graphs of each family."""
    return [int(cell) for cell in re.search(rf"(?m)^\| {re.escape(name)} \|(.*)\|$", DOCS)[1].split("|")]


def by_family(rows):
    """Return the rows of all graphs, family by family."""
    return np.split(rows, np.cumsum([len(graphs) for graphs in FAMILIES.values()])[:-1])


def different(rows):
    return [len(np.unique(some, axis=0)) for some in by_family(rows)]


def test_families_are_what_their_names_say():
    assert documented("*graphs*") == [len(graphs) for graphs in FAMILIES.values()]
    for name, graphs in FAMILIES.items():
        n, *parameters = map(int, re.findall(r"\d+", name))
        for near in map(matrix, graphs):
            walks, degrees = near @ near, set(near.sum(axis=0).tolist())
            assert len(near) == n
            apart = walks[(near == 0) & ~np.eye(n, dtype=bool)]
            if parameters:
                assert [degrees, set(walks[near == 1].tolist()), set(apart.tolist())] == [{x} for x in parameters]
            assert len(degrees) == 1


def test_closed_walks_tell_circles_with_skips_apart_but_no_strongly_regular_graphs():
    """Homomorphisms of cycles are traces of powers of the adjacency matrix."""
    found = homomorphism_counts(GRAPHS, CYCLES).values
    walks = [[np.trace(np.linalg.matrix_power(matrix(graph), k)) for k in range(3, 9)] for graph in GRAPHS]
    np.testing.assert_array_equal(found, walks)
    assert documented("homomorphisms of cycles of 3 to 8 nodes") == different(found)


def test_graphlets_of_four_nodes_tell_strongly_regular_graphs_apart():
    nx = pytest.importorskip("networkx")
    found = pattern_features(GRAPHS, all_patterns(4))
    assert documented("graphlets of 4 nodes") == different(found.values)
    cliques = found.values[:, found.columns.index("4-clique")]
    assert by_family(cliques)[1].tolist() == [8, 0]  # each line of the board is one; Shrikhande's graph has none
    plain = [nx.from_numpy_array(matrix(graph)) for graph in GRAPHS]
    assert cliques.tolist() == [sum(len(some) == 4 for some in nx.enumerate_all_cliques(graph)) for graph in plain]


def test_colors_tell_none_apart():
    pytest.importorskip("sklearn")
    from jaxmotif.learn import WeisfeilerLehmanKernel

    rows = WeisfeilerLehmanKernel(rounds=3, normalize=False).fit_transform(GRAPHS)
    assert documented("colors (`WeisfeilerLehmanKernel`)") == different(rows) == [1, 1, 1, 1]
