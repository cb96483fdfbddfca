"""Synthetic graphs: their invariants at every size, their distributions, and their seeds."""

from collections import Counter
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph, synthetic


def edges_of(graph: Graph) -> tuple[tuple[int, int], ...]:
    return tuple(map(tuple, graph.edge_list().tolist()))


@pytest.mark.parametrize("n", range(7))
def test_fixed_families(n):
    def same(graph, expected):
        assert graph.n == expected.number_of_nodes()
        assert edges_of(graph) == tuple(sorted(tuple(sorted(edge)) for edge in expected.edges()))

    same(synthetic.complete(n), nx.complete_graph(n))
    same(synthetic.path(n), nx.path_graph(n))
    if n >= 1:
        same(synthetic.star(n), nx.star_graph(n - 1))
    if n >= 3:
        same(synthetic.cycle(n), nx.cycle_graph(n))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", range(8))
def test_erdos_renyi_reaches_every_pair(n, directed):
    pairs = sorted(permutations(range(n), 2) if directed else combinations(range(n), 2))
    everything = synthetic.erdos_renyi(n, m=len(pairs), directed=directed)
    assert edges_of(everything) == tuple(pairs) == edges_of(synthetic.erdos_renyi(n, p=1, directed=directed))
    assert synthetic.erdos_renyi(n, p=0, directed=directed).m == 0
    for m in range(len(pairs)):
        graph = synthetic.erdos_renyi(n, m=m, directed=directed, seed=m)
        assert (graph.n, graph.m, graph.report.rows) == (n, m, m)


def test_erdos_renyi_is_uniform():
    draws = 750
    for m, graphs in ((2, 15), (4, 15)):
        seen = Counter(edges_of(synthetic.erdos_renyi(4, m=m, seed=seed)) for seed in range(draws))
        assert len(seen) == graphs
        expected = draws / graphs
        assert sum((count - expected) ** 2 / expected for count in seen.values()) < 36.1  # chi-square, 14, p = 0.001
    sizes = [synthetic.erdos_renyi(30, p=0.2, seed=seed).m for seed in range(400)]
    assert abs(np.mean(sizes) - 87) < 4 * np.sqrt(435 * 0.2 * 0.8 / 400)
    assert 0.8 < np.var(sizes) / (435 * 0.2 * 0.8) < 1.25


def test_barabasi_albert():
    graph = synthetic.barabasi_albert(300, 4, seed=2)
    edges = graph.edge_list()
    assert (graph.m, graph.report.rows) == (4 * 296, 4 * 296)
    assert edges[edges[:, 1] <= 4].tolist() == [[0, i] for i in range(1, 5)]
    assert set(np.bincount(edges[:, 1], minlength=300)[5:].tolist()) == {4}
    assert graph.degrees.max() > 30
    # The fourth node joins the middle of a path of three (degree 2 of 4) half of the time.
    stars = sum(synthetic.barabasi_albert(4, 1, seed=seed).degrees.max() == 3 for seed in range(1000))
    assert abs(stars - 500) < 4 * np.sqrt(250)


def test_rmat():
    graph = synthetic.rmat(12, 2, a=0.4, b=0.3, c=0.1, directed=True, seed=5)
    assert (graph.n, graph.report.rows) == (4096, 8192)
    bits = graph.edge_list() >> 11
    share = np.bincount(2 * bits[:, 0] + bits[:, 1], minlength=4) / graph.m
    assert np.abs(share - [0.4, 0.3, 0.1, 0.2]).max() < 0.02
    low_bits = graph.edge_list() & 1
    share = np.bincount(2 * low_bits[:, 0] + low_bits[:, 1], minlength=4) / graph.m
    assert np.abs(share - [0.4, 0.3, 0.1, 0.2]).max() < 0.02
    assert edges_of(synthetic.rmat(5, 1, a=0, b=1, c=0)) == ((0, 31),)
    assert synthetic.rmat(0, 3).report.self_loops == 3
    heavy = synthetic.rmat(17, 1)  # more than one chunk of rows
    assert heavy.report.rows == 1 << 17
    assert heavy.degrees[: 1 << 16].sum() > 2 * heavy.degrees[1 << 16 :].sum()


def test_random_regular(monkeypatch):
    cases = [(n, degree) for n in range(9) for degree in range(max(n, 1)) if n * degree % 2 == 0]
    for n, degree in [*cases, (60, 21), (200, 3), (101, 50), (50, 48)]:
        graph = synthetic.random_regular(n, degree, seed=n)
        assert graph.n == n
        assert graph.degrees.tolist() == [degree] * n
        assert graph.report.rows == graph.m == n * degree // 2
    rings = Counter(edges_of(synthetic.random_regular(4, 2, seed=seed)) for seed in range(900))
    assert len(rings) == 3
    assert max(abs(count - 300) for count in rings.values()) < 4 * np.sqrt(200)
    shapes = Counter(
        len(list(nx.connected_components(nx.Graph(synthetic.random_regular(6, 2, seed=seed).edge_list().tolist()))))
        for seed in range(100)
    )
    assert set(shapes) == {1, 2}  # a ring of six, or two triangles
    monkeypatch.setattr(synthetic, "_PATIENCE", 1)  # It begins anew whenever the number of bad edges does not fall.
    for seed in range(20):
        assert synthetic.random_regular(12, 5, seed=seed).degrees.tolist() == [5] * 12


def test_power_law():
    graph = synthetic.power_law(20_000, 3.0, min_degree=2, max_degree=50, seed=1)
    weights = np.arange(2, 51) ** -3.0
    share = np.bincount(graph.degrees, minlength=52)[2:51] / graph.n
    assert np.abs(share - weights / weights.sum())[:8].max() < 0.015
    assert graph.degrees.max() <= 51
    assert (
        graph.m
        == graph.report.rows - graph.report.self_loops - graph.report.duplicates - graph.report.reverse_duplicates
    )
    assert [synthetic.power_law(n, 2.5).n for n in range(4)] == [0, 1, 2, 3]
    assert set(synthetic.power_law(1000, -100.0, max_degree=2).degrees.tolist()) <= {0, 1, 2}
    for exponent in (2000.0, np.inf):
        assert synthetic.power_law(10, exponent, min_degree=2).report.rows == 10
    for exponent in (-2000.0, -np.inf):
        assert synthetic.power_law(10, exponent, min_degree=2).report.rows == 45


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: synthetic.erdos_renyi(50, m=100, seed=seed),
        lambda seed: synthetic.erdos_renyi(50, p=0.1, directed=True, seed=seed),
        lambda seed: synthetic.barabasi_albert(50, 3, seed=seed),
        lambda seed: synthetic.rmat(6, 3, seed=seed),
        lambda seed: synthetic.random_regular(50, 4, seed=seed),
        lambda seed: synthetic.power_law(50, 2.0, seed=seed),
    ],
)
def test_the_seed_decides(make):
    assert edges_of(make(7)) == edges_of(make(7)) != edges_of(make(8))


@pytest.mark.parametrize(
    "make",
    [
        lambda of: synthetic.erdos_renyi(of(100), m=of(50)),
        lambda of: synthetic.erdos_renyi(of(100), p=0.01, directed=True),
        lambda of: synthetic.barabasi_albert(of(100), of(3)),
        lambda of: synthetic.rmat(of(5), of(8)),
        lambda of: synthetic.random_regular(of(100), of(90)),
        lambda of: synthetic.power_law(of(100), 2.0, min_degree=of(2)),
        lambda of: synthetic.power_law(of(100), 2.0, max_degree=of(127)),
    ],
)
def test_small_integers_of_numpy_do_not_wrap(make):
    assert edges_of(make(np.int8)) == edges_of(make(int))


def test_options_pass_through():
    assert synthetic.cycle(5, pad="bucket").node_capacity == 16
    assert synthetic.rmat(4, 2, pad=(20, 80)).slot_capacity == 80


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: synthetic.complete(-1), "n must be at least 0, got -1"),
        (lambda: synthetic.star(0), "n must be at least 1"),
        (lambda: synthetic.cycle(2), "n must be at least 3"),
        (lambda: synthetic.erdos_renyi(5, m=11), "m must be between 0 and 10"),
        (lambda: synthetic.erdos_renyi(5, p=1.5), "got 1.5"),
        (lambda: synthetic.erdos_renyi(5), "either the number of edges m or the probability p"),
        (lambda: synthetic.erdos_renyi(5, m=1, p=0.5), "either"),
        (lambda: synthetic.barabasi_albert(5, 5), "below n=5, got 5"),
        (lambda: synthetic.barabasi_albert(5, 0), "at least 1"),
        (lambda: synthetic.rmat(31), "scale must be between 0 and 30"),
        (lambda: synthetic.rmat(3, a=0.9, b=0.2), "at most 1"),
        (lambda: synthetic.rmat(3, a=np.nan), "at most 1, got nan"),
        (lambda: synthetic.rmat(3, c=np.nan), "0.19 and nan"),
        (lambda: synthetic.rmat(3, -1), "edge_factor"),
        (lambda: synthetic.random_regular(5, 3), "n=5, degree=3"),
        (lambda: synthetic.random_regular(4, 4), "n=4, degree=4"),
        (lambda: synthetic.power_law(5, 2.0, min_degree=0), "got 0"),
        (lambda: synthetic.power_law(5, 2.0, min_degree=4, max_degree=3), "got 4 and 3"),
        (lambda: synthetic.power_law(5, np.nan), "exponent must be a number, got nan"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()
