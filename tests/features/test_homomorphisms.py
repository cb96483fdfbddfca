"""Homomorphisms against all maps, closed walks and sums of powers of degrees; images of patterns by partitions."""

import math
from functools import cache

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.features import (
    _homomorphisms,
    dense_homomorphism_counts,
    dense_pattern_features,
    homomorphism_counts,
    pattern_features,
    soft_counts,
    spasm,
)
from jaxmotif.features._homomorphisms import _join_residues
from jaxmotif.graph import Graphs, stack_graphs
from jaxmotif.patterns import Pattern, named_pattern, node_orbits
from jaxmotif.patterns._orbits import partitions
from tests.oracles import random_edges

PATTERNS = [
    Pattern.from_edges([], 1),
    Pattern.from_edges([(0, 1)], 3),  # with a node on its own
    *("edge", "2-star", "triangle", "4-cycle", "chordal-cycle", "4-clique", "house", "4-star", "5-clique"),
    "6-cycle",
    Pattern.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]),  # two triangles, joined
    Pattern.from_edges([(0, 1), (2, 3), (3, 4), (4, 2)]),  # an edge and a triangle
    Pattern.from_edges([(a, b) for a in range(3) for b in range(3, 6)]),  # no small separator
]
RING = [(i, (i + 1) % 6) for i in range(6)]


@cache
def every_map(nodes: int, n: int) -> np.ndarray:
    return np.indices((n,) * nodes, np.int8).reshape(nodes, -1).T


def all_maps(pattern: Pattern, near: np.ndarray) -> np.ndarray:
    """Count the maps that send each pattern node to each node, ``[nodes of the pattern, n]``."""
    n, k = len(near), pattern.num_nodes
    maps = every_map(k, n)
    for u, v in np.argwhere(np.triu(pattern.adjacency) if not pattern.directed else pattern.adjacency).tolist():
        maps = maps[near[maps[:, u], maps[:, v]]]
    return np.stack([np.bincount(maps[:, u], minlength=n) for u in range(k)])


@pytest.mark.parametrize("directed", [False, True])
def test_all_maps_of_random_graphs(directed):
    """Two hundred graphs of three to five nodes."""
    patterns, rng = PATTERNS, np.random.default_rng(1)
    if directed:
        patterns = ["ffl", Pattern.from_edges(RING, directed=True), Pattern.from_edges([(0, 1), (2, 1)], 4, True)]
    sizes = rng.integers(3, 6, 100)
    near = [(rng.random((n, n)) < 0.6) & ~np.eye(n, dtype=bool) for n in sizes]
    near = near if directed else [np.triu(x) | np.triu(x).T for x in near]
    graphs = Graphs.from_edges([np.argwhere(x) for x in near], sizes, directed)
    at_nodes = homomorphism_counts(graphs, patterns, per="node")
    whole = homomorphism_counts(graphs, patterns).values
    given = [p if isinstance(p, Pattern) else named_pattern(p, directed) for p in patterns]
    roles = [sorted(set(node_orbits(pattern).tolist())) for pattern in given]
    for i, one in enumerate(near):
        expected = [all_maps(pattern, one) for pattern in given]
        assert whole[i].tolist() == [x[0].sum() for x in expected]
        at_roles = [x[some] for x, some in zip(expected, roles, strict=True)]
        np.testing.assert_array_equal(at_nodes.values[at_nodes.graph == i], np.concatenate(at_roles).T)


def test_closed_walks_and_powers_of_degrees_of_a_larger_graph():
    edges = np.array(random_edges(120, 0.1, 3))
    graph = Graph.from_edges(edges, 120)
    near = np.zeros((120, 120), object)
    near[tuple(edges.T)] = near[tuple(edges.T[::-1])] = 1
    degrees, walks = near.sum(axis=0), near @ near
    six, seven = (walks @ walks * walks).sum(axis=0), (walks @ walks * (walks @ near)).sum(axis=0)
    stars = [(degrees**k).sum() for k in (3, 6, 9)]
    found = homomorphism_counts(graph, ["3-star", "6-star", "9-star", "6-cycle", "7-cycle"])
    assert found.values.tolist() == [[*stars, six.sum(), seven.sum()]]
    at_nodes = homomorphism_counts(graph, ["7-cycle"], per="node").values
    assert at_nodes[:, 0].tolist() == seven.tolist()


def test_counts_beyond_floats_and_64_bits_are_exact():
    """Stars of 4 to 11 edges around a hub of 200, beside a small graph whose counts are not made again."""
    hub, small = [(0, i) for i in range(1, 201)], [(0, 1), (1, 2)]
    found = homomorphism_counts([hub, small], [f"{k}-star" for k in (4, 6, 7, 11)])
    assert found.values.tolist() == [
        [200**k + 200 for k in (4, 6, 7, 11)],
        [2**k + 2 for k in (4, 6, 7, 11)],
    ]
    inside = jax.jit(lambda graph: dense_homomorphism_counts(graph, ["6-star", "7-star"]))(Graph.from_edges(hub))
    assert inside.to_numpy().tolist() == [200**6 + 200, -1]
    # A pattern of five nodes that is not connected is counted by tables, too.
    many = dense_homomorphism_counts(Graph.from_edges([(0, 1)], 2000), ["5-node-indep"])
    assert many.to_numpy().tolist() == [-1]


def test_counts_of_more_bits_than_primes_tell_apart(monkeypatch):
    """A number is told by its residues up to half the product of the primes, and no larger one is taken for it."""
    primes, number = (101, 103, 107), 101 * 103 * 107 // 2
    monkeypatch.setattr("jaxmotif.features._homomorphisms._primes", lambda: iter(primes))
    residues = {prime: np.array([number % prime, 5]) for prime in primes}
    assert _join_residues(residues.__getitem__, number).tolist() == [number, 5]
    with pytest.raises(OverflowError, match="more than 750,000 bits"):
        _join_residues(residues.__getitem__, number + 1)


def test_counts_beyond_all_floats(monkeypatch):
    """A star of 172 edges has more maps than a float can say, one of 171 has not; shares and logarithms fit."""
    edges = np.array(random_edges(64, 0.95, 1))
    graph = Graph.from_edges(edges, 64)
    near = np.zeros((64, 64), object)
    near[tuple(edges.T)] = near[tuple(edges.T[::-1])] = 1
    degrees, walks = near.sum(axis=0), np.ones(64, object)
    for _ in range(177):
        walks = near @ walks
    patterns = ["172-star", "171-star", "178-path", "triangle"]
    exact = [(degrees**172).sum(), (degrees**171).sum(), walks.sum(), (near @ near * near).sum()]
    assert exact[0] > 2**1024 > exact[1]
    assert exact[2] > 2**1024
    counts = homomorphism_counts(graph, patterns).values
    assert counts[0].tolist() == exact
    monkeypatch.setattr(_homomorphisms, "_count_by_tables", lambda *_: counts[:, :3])  # by tables, counted once
    logs = homomorphism_counts(graph, patterns, log=True).values[0]
    np.testing.assert_allclose(logs, [math.log(x + 1) for x in exact], rtol=1e-12)
    shares = homomorphism_counts(graph, patterns, normalize="total").values[0]
    np.testing.assert_allclose(shares, [x / sum(exact) for x in exact], rtol=1e-12)
    densities = homomorphism_counts(graph, patterns, normalize="density").values[0]
    nodes = (173, 172, 178, 3)
    np.testing.assert_allclose(densities, [x / 64**k for x, k in zip(exact, nodes, strict=True)], rtol=1e-12)
    inside = jax.jit(lambda graph: dense_homomorphism_counts(graph, ["172-star"]))(graph)
    assert inside.to_numpy().tolist() == [-1]


@pytest.mark.parametrize("per", ["graph", "node"])
def test_inside_jit_and_vmap_equals_the_front_door(per):
    graphs = [Graph.from_edges(random_edges(n, 0.4, n), n, pad=(12, 132)) for n in (6, 9, 12)]
    patterns = [*PATTERNS, *spasm("8-cycle")]
    # Where vmap takes a jitted function, JAX makes the program of the batch outside its 64-bit mode.
    count = jax.jit(jax.vmap(jax.jit(lambda graph: dense_homomorphism_counts(graph, patterns, per=per))))
    found = count(stack_graphs(graphs, pad=(12, 132))).to_numpy()
    expected = homomorphism_counts(graphs, patterns, per=per)
    for i, graph in enumerate(graphs):
        rows = found[i] if per == "node" else found[i][None]
        np.testing.assert_array_equal(rows[: graph.n], expected.values[expected.graph == i])
        assert not rows[graph.n :].any()


def test_a_union_of_many_graphs_of_few_neighbours():
    graphs = Graphs.from_edges([random_edges(20, 0.08, seed) for seed in range(30)], [20] * 30)
    names = ["edge", "2-star", "5-cycle", "banner"]
    count = jax.jit(lambda graph: dense_homomorphism_counts(graph, names, per="node", max_degree=8))
    found = count(graphs.union()).to_numpy()[:600]
    np.testing.assert_array_equal(found, homomorphism_counts(graphs, names, per="node").values)


def test_densities():
    found = homomorphism_counts([[(0, 1), (1, 2), (2, 0)]], ["edge", "triangle", "7-cycle"], normalize="density")
    np.testing.assert_allclose(found.values, [[6 / 9, 6 / 27, (2**7 - 2) / 3**7]])
    at_nodes = homomorphism_counts([[(0, 1), (1, 2), (2, 0)]], ["edge"], per="node", normalize="density", log=True)
    np.testing.assert_allclose(at_nodes.values, np.log1p(np.full((3, 1), 2 / 3)))


@pytest.mark.parametrize("name", ["6-cycle", "7-cycle", "bull", "4-star"])
def test_images_are_those_of_all_partitions(name):
    pattern, images = nx.from_numpy_array(named_pattern(name, False).adjacency), []
    for part in partitions(list(pattern)):
        image = nx.quotient_graph(pattern, [set(block) for block in part], create_using=nx.Graph)
        if all(not pattern.subgraph(block).size() for block in part):
            images += [] if any(nx.is_isomorphic(image, other) for other in images) else [image]
    found = [nx.from_numpy_array(named_pattern(text, False).adjacency) for text in spasm(name)]
    assert len(found) == len(images)
    assert all(any(nx.is_isomorphic(image, other) for other in found) for image in images)


def test_images_tell_how_many_subgraphs_there_are():
    """Six-cycles of twelve graphs are one sum of the homomorphisms of their images, which least squares find."""
    graphs = [Graph.from_edges(random_edges(9, 0.5, seed), 9) for seed in range(14)]
    homs = homomorphism_counts(graphs, spasm("6-cycle")).values.astype(float)
    cycles = pattern_features(graphs, ["6-cycle"], induced=False).values[:, 0]
    weights, _, rank, _ = np.linalg.lstsq(homs, cycles, rcond=None)
    assert rank == len(spasm("6-cycle")) < len(graphs)
    np.testing.assert_allclose(homs @ weights, cycles, rtol=1e-6)


@pytest.mark.parametrize("count", [dense_homomorphism_counts, pattern_features, dense_pattern_features, soft_counts])
def test_a_name_in_the_place_of_a_list_is_told(count):
    graph = jnp.ones((2, 2)) if count is soft_counts else Graph.from_edges([(0, 1)])
    with pytest.raises(TypeError, match=r"patterns must be a list, such as \['triangle'\]"):
        count(graph, "triangle")
    for wrong in (iter(["triangle"]), None, Graph.from_edges([(0, 1)])):
        with pytest.raises(TypeError, match=r"patterns must be a list, such as \['triangle'\]; got"):
            count(graph, wrong)


def test_small_graphs_are_patterns_of_dense_counts():
    graph = Graph.from_edges(random_edges(9, 0.5, 3), 9)
    path = [Graph.from_edges([(0, 1), (1, 2)]), [(0, 1), (1, 2)], nx.path_graph(3), "3-path"]
    for count in (dense_pattern_features, dense_homomorphism_counts):
        found = count(graph, path).to_numpy()
        assert (found == found[-1]).all()
        assert count(graph, []).shape == (0,)
    weights = jnp.asarray(nx.to_numpy_array(graph.to_networkx()), jnp.float32)
    assert len(set(soft_counts(weights, path).tolist())) == 1


def test_unknown_rows_are_refused():
    with pytest.raises(ValueError, match="per must be 'graph', 'node' or 'edge', got 'nodes'"):
        dense_pattern_features(Graph.from_edges([(0, 1)]), ["2-star"], per="nodes")  # pyright: ignore[reportArgumentType]


def test_what_is_refused():
    with pytest.raises(TypeError, match=r"patterns must be a list, such as \['triangle'\]"):
        homomorphism_counts([(0, 1)], "triangle")
    graph = Graph.from_edges([(0, 1)], 20_000)
    with pytest.raises(ValueError, match="n\\^2 numbers"):
        homomorphism_counts(graph, ["6-cycle"])
    assert homomorphism_counts(graph, ["5-cycle", "edge"]).values.tolist() == [[0, 2]]
    with pytest.raises(ValueError, match="n\\^4 numbers"):
        dense_homomorphism_counts(Graph.from_edges([(0, 1)], 200), ["5-clique"])
    with pytest.raises(ValueError, match="without labels"):
        homomorphism_counts(graph, [Pattern.from_edges([(0, 1)], node_labels=[0, 1])])
    with pytest.raises(ValueError, match="without labels"):
        spasm(Graph.from_edges([(0, 1), (1, 2)], node_labels=[0, 1, 2]))
    for count in (homomorphism_counts, dense_homomorphism_counts):
        with pytest.raises(ValueError, match="'graph' or 'node'"):
            count(graph, ["edge"], per="edge")
    with pytest.raises(ValueError, match="jax.vmap"):
        dense_homomorphism_counts(stack_graphs([graph]), ["6-cycle"])
    with pytest.raises(ValueError, match="directed if and only if"):
        dense_homomorphism_counts(graph, [Pattern.from_edges([(0, 1)], directed=True)])
