"""What the documentation says of regular graphs: which features tell them apart."""

import re
from pathlib import Path

import numpy as np
import pytest

from jaxmotif.features import all_patterns, homomorphism_counts, pattern_features
from tests.regular import families

FAMILIES = families()
DOCS = (Path(__file__).parents[2] / "docs" / "features.md").read_text("utf-8")
CYCLES = [f"{k}-cycle" for k in range(3, 9)]


def matrix(graph):
    near = np.zeros((graph.n, graph.n), np.int64)
    near[tuple(graph.edge_list().T)] = 1
    return near + near.T


def documented(name):
    """Return the row of the table of a name, which counts different graphs of each family."""
    return [int(cell) for cell in re.search(rf"(?m)^\| {re.escape(name)} \|(.*)\|$", DOCS)[1].split("|")]


def different(features):
    return [len({tuple(row) for row in features(graphs)}) for graphs in FAMILIES.values()]


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
    found = [homomorphism_counts(graphs, CYCLES).values for graphs in FAMILIES.values()]
    for values, graphs in zip(found, FAMILIES.values(), strict=True):
        powers = [[np.trace(np.linalg.matrix_power(matrix(graph), k)) for k in range(3, 9)] for graph in graphs]
        np.testing.assert_array_equal(values, powers)
    rows = iter(found)
    assert documented("homomorphisms of cycles of 3 to 8 nodes") == different(lambda _: next(rows).tolist())


def test_graphlets_of_four_nodes_tell_strongly_regular_graphs_apart():
    nx = pytest.importorskip("networkx")
    counts = {name: pattern_features(graphs, all_patterns(4)) for name, graphs in FAMILIES.items()}
    cells = [len(np.unique(table.values, axis=0)) for table in counts.values()]
    assert documented("graphlets of 4 nodes") == cells
    cliques = counts["srg(16, 6, 2, 2)"].values[:, counts["srg(16, 6, 2, 2)"].columns.index("4-clique")]
    assert cliques.tolist() == [8, 0]  # each line of the board is one; Shrikhande's graph has none
    for name, graphs in FAMILIES.items():
        column = counts[name].columns.index("4-clique")
        plain = [nx.from_numpy_array(matrix(graph)) for graph in graphs]
        expected = [sum(len(clique) == 4 for clique in nx.enumerate_all_cliques(graph)) for graph in plain]
        assert counts[name].values[:, column].tolist() == expected


def test_colors_tell_none_apart():
    pytest.importorskip("sklearn")
    from jaxmotif.learn import WeisfeilerLehmanKernel

    kernel = WeisfeilerLehmanKernel(rounds=3, normalize=False)
    row = documented("colors (`WeisfeilerLehmanKernel`)")
    assert row == different(lambda graphs: kernel.fit_transform(graphs).tolist()) == [1, 1, 1, 1]
