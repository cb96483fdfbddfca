"""Comparison of graphs against references in plain loops, written from the papers."""

import warnings
from collections import Counter
from math import log, prod, sqrt

import numpy as np
import pytest

from jaxmotif import Graph, datasets, features, node_orbits
from jaxmotif.features._compare import AFFECTED, GCM_ORBITS
from jaxmotif.graphlets import dense_node_orbits

orbit_count = pytest.importorskip("orbit_count")
nx = pytest.importorskip("networkx")
stats = pytest.importorskip("scipy.stats")

PAIR = [nx.barabasi_albert_graph(30, 3, seed=1), nx.watts_strogatz_graph(26, 4, 0.2, seed=2)]
ORBITS = [np.asarray(orbit_count.node_orbit_counts(graph, 5, node_list=list(graph))) for graph in PAIR]


def test_graphlet_degree_agreement():
    agreement = []
    for j in range(73):
        shares = []
        for orbits in ORBITS:
            distribution = Counter(orbits[:, j].tolist())  # d_j(k), nodes that touch the orbit k times
            scaled = {k: count / k for k, count in distribution.items() if k > 0}
            shares.append({k: s / sum(scaled.values()) for k, s in scaled.items()})
        ks = set(shares[0]) | set(shares[1])
        agreement.append(1 - sqrt(sum((shares[0].get(k, 0) - shares[1].get(k, 0)) ** 2 for k in ks)) / sqrt(2))
    found = features.graphlet_degree_agreement(*ORBITS)
    np.testing.assert_allclose(found.orbits, agreement, rtol=1e-12)
    assert found.arithmetic == pytest.approx(sum(agreement) / 73)
    assert found.geometric == pytest.approx(prod(agreement) ** (1 / 73))


def test_gdv_similarity():
    weights = [1 - log(o) / log(73) for o in AFFECTED]

    def similarity(u, v):
        apart = [w * abs(log(x + 1) - log(y + 1)) / log(max(x, y) + 2) for w, x, y in zip(weights, u, v, strict=True)]
        return 1 - sum(apart) / sum(weights)

    expected = [[similarity(u, v) for v in ORBITS[1].tolist()] for u in ORBITS[0].tolist()]
    np.testing.assert_allclose(features.gdv_similarity(*ORBITS), expected, atol=2e-6)
    np.testing.assert_array_equal(np.diag(features.gdv_similarity(ORBITS[0], ORBITS[0])), 1)
    assert sum(weights) == pytest.approx(45.4827, abs=1e-4)  # as others found it


def test_graphlet_correlation_distance():
    matrices = []
    for orbits in ORBITS:
        rows = np.vstack([orbits[:, GCM_ORBITS], np.ones(11)])
        matrices.append(np.array([[stats.spearmanr(a, b).statistic for a in rows.T] for b in rows.T]))
    for graph, orbits, expected in zip(PAIR, ORBITS, matrices, strict=True):
        np.testing.assert_allclose(features.graphlet_correlation_matrix(orbits), expected, atol=1e-12)
        np.testing.assert_allclose(features.graphlet_correlation_matrix(graph), expected, atol=1e-12)
    expected = sqrt(sum((matrices[0][i, j] - matrices[1][i, j]) ** 2 for i in range(11) for j in range(i + 1, 11)))
    assert features.graphlet_correlation_distance(*PAIR) == pytest.approx(expected)
    assert features.graphlet_correlation_distance(*matrices) == pytest.approx(expected)
    five = []
    for orbits in ORBITS:
        rows = np.vstack([orbits, np.ones(73)])
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of orbits that no node has, whose rank is constant but for the added node
            five.append(np.nan_to_num(stats.spearmanr(rows).statistic))
    expected = np.linalg.norm((five[0] - five[1])[np.triu_indices(73, 1)])
    assert features.graphlet_correlation_distance(*ORBITS, size=5) == pytest.approx(expected)
    assert features.graphlet_correlation_distance(*PAIR, size=5) == pytest.approx(expected)


def test_several_graphs_and_other_sizes_are_refused():
    for function in (features.graphlet_correlation_matrix, features.gdv_similarity):
        with pytest.raises(TypeError, match="graph: expected one graph, got 2 graphs"):
            function(list(PAIR))
    for size, error in ((6, ValueError), ("4", TypeError)):
        with pytest.raises(error, match="size must be"):
            features.graphlet_correlation_matrix(PAIR[0], size)


def test_results_of_node_orbits_and_arrays_of_other_shapes():
    counts, more = node_orbits(PAIR[0]), node_orbits(PAIR[0], size=5)
    gcm, distance = features.graphlet_correlation_matrix(PAIR[0]), features.graphlet_correlation_distance
    for orbits in (counts, counts.on_device(), more, more.on_device()):
        np.testing.assert_array_equal(features.graphlet_correlation_matrix(orbits), gcm)
    for first, size, message in (
        (gcm, 5, r"size=5 compares matrices of shape \[73, 73\], got \[11, 11\]"),
        (np.eye(73), 4, r"size=4 compares matrices of shape \[11, 11\], got \[73, 73\]"),
        (gcm[0], 4, r"orbits \[n, 15\] or edges \[E, 2\], got shape \[11\]"),
        (counts, 5, r"orbits \[n, 73\] or edges \[E, 2\], got shape \[30, 15\]"),
    ):
        with pytest.raises(ValueError, match=message):
            distance(first, PAIR[0], size=size)
    with pytest.raises(ValueError, match="size must be 4 or 5, got 6"):
        distance(gcm, gcm, size=6)


def test_graphs_without_edges():
    empty = Graph.from_edges([], 4)
    assert features.graphlet_degree_agreement(empty, empty).arithmetic == 1
    assert features.graphlet_correlation_distance(empty, empty) == 0


def test_orbits_that_are_not_known_are_refused():
    star = Graph.from_edges([(0, i) for i in range(1, 9)])
    orbits = dense_node_orbits(star, max_degree=2)
    distance = features.graphlet_correlation_distance
    for compare in (features.graphlet_correlation_matrix, lambda some: distance(star, some)):
        with pytest.raises(ValueError, match="orbits are negative.*larger max_degree"):
            compare(orbits)


def test_orbits_with_rows_of_padding_are_refused():
    """They would count as nodes without edges: the distance of a graph from itself was 2.4."""
    karate = datasets.load("karate")
    orbits, distance = dense_node_orbits(karate), features.graphlet_correlation_distance
    for compare in (features.graphlet_correlation_matrix, lambda some: distance(karate, some)):
        with pytest.raises(ValueError, match=r"perhaps of padding: take \.to_numpy\(\)\[: graph\.n\]"):
            compare(orbits)
    assert distance(karate, orbits.to_numpy()[: karate.n]) == distance(karate, orbits[: karate.n]) == 0
