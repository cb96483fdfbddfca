"""Pattern features against all maps of small patterns into small graphs."""

import dataclasses
import math
from itertools import permutations
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.features import (
    _patterns,
    all_patterns,
    dense_pattern_features,
    homomorphism_counts,
    pattern_features,
)
from jaxmotif.graph import Graphs, stack_graphs
from jaxmotif.matching import _stacks
from jaxmotif.patterns import Pattern, automorphism_count, named_pattern
from jaxmotif.patterns._roles import roles_of
from tests.compilations import compilations
from tests.more import more

N = 7


def random_graph(rng, directed, labels):
    edges = np.argwhere(rng.random((N, N)) < rng.choice([0.3, 0.5, 0.8]))
    edges = edges[edges[:, 0] != edges[:, 1]] if directed else edges[edges[:, 0] < edges[:, 1]]
    node_labels = rng.integers(0, 2, N) if labels else None
    return Graph.from_edges(edges, N, directed, node_labels, rng.integers(0, 2, len(edges)) if labels else None)


def brute_force(graph, pattern, per, induced):
    """Every injective map, looked at; an occurrence is as many maps as the pattern has automorphisms."""
    target = Pattern.from_graph(graph)
    k = pattern.num_nodes
    maps = np.array(list(permutations(range(N), k)))
    image = target.adjacency[maps[:, :, None], maps[:, None]]
    off = ~np.eye(k, dtype=bool)
    good = ((image == pattern.adjacency) | ~off if induced else image | ~pattern.adjacency).all(axis=(1, 2))
    if pattern.node_labels is not None:
        good &= (target.node_labels[maps] == pattern.node_labels).all(axis=1)
    if pattern.edge_labels is not None:
        same = target.edge_labels[maps[:, :, None], maps[:, None]] == pattern.edge_labels
        good &= (same | ~pattern.adjacency).all(axis=(1, 2))
    maps = maps[good]
    edges = {tuple(edge): i for i, edge in enumerate(graph.edge_list().tolist())}
    rows = {"graph": 1, "node": N, "edge": len(edges)}[per]
    counts = np.zeros((rows, 0), np.int64)
    for role in roles_of(pattern, "", per):
        column = np.zeros(rows, np.int64)
        for place in role.places:
            for image in maps[:, list(place)].tolist():
                ends = tuple(image) if pattern.directed else tuple(sorted(image))
                column[{"graph": lambda ends: 0, "node": lambda ends: ends[0], "edge": edges.get}[per](ends)] += 1
        assert (column % automorphism_count(pattern) == 0).all()
        counts = np.column_stack([counts, column // automorphism_count(pattern)])
    return counts


LABELLED_NODES = [Pattern.from_edges([(0, 1), (1, 2)], node_labels=labels) for labels in ([0, 1, 0], [1, 1, 0])]
UNDIRECTED = ["edge", "triangle", "wedge", "4-cycle", "paw", "bull", "5-star", "4-node-2-edge", "butterfly"]
DIRECTED = ["arc", "ffl", "111U", "030C", "bi-fan", "012"]
LABELLED = [
    Pattern.from_edges([(0, 1), (1, 2)], node_labels=[0, 1, 0], edge_labels=[1, 1]),
    Pattern.from_edges([(0, 1), (1, 2), (2, 0)], node_labels=[0, 0, 1], edge_labels=[0, 1, 1]),
]


def check(cases, seed, induced, directed, labels, per):
    """Six graphs have the padded sizes of karate, whose program of five nodes other tests compile."""
    rng = np.random.default_rng(seed)
    graphs = [random_graph(rng, directed, labels) for _ in range(cases)]
    given = LABELLED if labels else DIRECTED if directed else UNDIRECTED
    patterns = [named_pattern(p, directed) if isinstance(p, str) else p for p in given]
    found = pattern_features(graphs, given, per=per, induced=induced)
    expected = [
        np.column_stack([brute_force(graph, pattern, per, induced) for pattern in patterns]) for graph in graphs
    ]
    np.testing.assert_array_equal(found.values, np.concatenate(expected))
    assert len(found.columns) == found.values.shape[1] == len(set(found.columns))
    assert found.graph.tolist() == [i for i, rows in enumerate(expected) for _ in rows]
    return int(found.values.sum())


KINDS = [(False, False), (True, False), (False, True)]


@pytest.mark.parametrize(
    ("directed", "labels", "per"),
    [
        (False, False, "edge"), (True, False, "node"), (False, True, "edge"),
        *more(
            (False, False, "graph"), (False, False, "node"), (True, False, "graph"), (True, False, "edge"),
            (False, True, "graph"), (False, True, "node"),
        ),
    ],
)  # fmt: skip
def test_features_are_brute_force(directed, labels, per):
    assert check(6, 0, per != "edge", directed, labels, per) > 0


@pytest.mark.parametrize("per", ["graph", "edge"])
def test_graphs_that_are_not_stacked_are_joined(per, monkeypatch):
    monkeypatch.setattr(_patterns, "MOST_NODES", N - 1)
    assert check(3, 1, True, True, False, per) > 0


def test_a_union_of_too_many_matches_is_searched_graph_by_graph():
    """Each star has fewer than 2^63 maps of a star of 9 edges, and both together have more."""
    star, leaves = Graph.from_edges([(0, i) for i in range(1, 131)]), 130
    assert math.perm(leaves, 9) < 2**63 < 2 * math.perm(leaves, 9)
    found = pattern_features([star, star], ["9-star"], induced=False)
    assert found.values.tolist() == [[math.comb(leaves, 9)]] * 2


def test_graphs_of_which_some_patterns_take_long_are_searched_alone(monkeypatch):
    """The limit of a stack ends some of its searches and not others: a part is not taken for the whole."""
    monkeypatch.setattr(_stacks, "MOST_STEPS", 2)
    assert check(6, 0, True, False, True, "node") > 0


def test_a_data_set_compiles_few_programs():
    """Trees of two padded sizes; counts and orbits take a program a size, all labelled patterns together one."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(10, 60, 100)
    edges = [[(int(rng.integers(max(v - 4, 0), v)), v) for v in range(1, n)] for n in sizes]
    graphs = Graphs.from_edges(edges, node_labels=[rng.integers(0, 2, n) for n in sizes])
    rings = [[(i, (i + 1) % n) for i in range(n)] for n in (4, 5, 6)]
    patterns = [*LABELLED_NODES, *(Pattern.from_edges(ring, node_labels=[0] * len(ring)) for ring in rings)]
    with compilations() as found:
        jaxmotif.graphlet_counts(graphs)
        jaxmotif.node_orbits(graphs)
        pattern_features(graphs, patterns)
    assert len(found) <= 8, found
    with compilations() as found:
        pattern_features(graphs, patterns[::-1])
    assert not found


@pytest.mark.parametrize("way", ["two devices", *more("64-bit mode", "vmap")])
def test_the_same_in_other_ways(way, monkeypatch):
    rng = np.random.default_rng(3)
    graphs = [random_graph(rng, False, True) for _ in range(14)]
    patterns = [LABELLED[1], "triangle", "4-path"]
    found = pattern_features(graphs, patterns, per="node").values
    assert found.any(axis=0).all()
    if way == "64-bit mode":
        with jax.enable_x64(True):
            other = pattern_features(graphs, patterns, per="node").values
    elif way == "vmap":
        count = jax.jit(jax.vmap(lambda graph: dense_pattern_features(graph, patterns, per="node")))
        other = count(stack_graphs(graphs, pad=(N, N * N))).to_numpy().reshape(-1, found.shape[1])
    else:
        monkeypatch.setattr(_stacks, "TOGETHER", 8)  # so that there are stacks for both
        other = pattern_features(graphs, patterns, per="node", devices=jax.devices()[:2]).values
    np.testing.assert_array_equal(other, found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("induced", [False, True])
@pytest.mark.parametrize(("directed", "labels"), KINDS)
def test_features_are_brute_force_in_two_thousand_cases(directed, labels, induced, seed):
    for per in ("graph", "node", "edge"):
        check(10, seed, induced, directed, labels, per)


def test_scales():
    rng = np.random.default_rng(2)
    graphs = [random_graph(rng, False, False) for _ in range(3)]
    counts = pattern_features(graphs, all_patterns(3), per="node")
    density = pattern_features(graphs, all_patterns(3), per="node", normalize="density").values
    np.testing.assert_allclose(density, counts.values / 15)  # C(6, 2) pairs of other nodes
    total = pattern_features(graphs, all_patterns(3), per="node", normalize="total").values
    assert set(np.round(total.sum(axis=1), 12)) <= {0.0, 1.0}
    logs = pattern_features(graphs, all_patterns(3), per="node", log=True)
    np.testing.assert_allclose(logs.values, np.log1p(counts.values))
    assert list(counts.table()) == ["graph", *counts.columns]
    assert str(counts) == "Features(21 nodes x 3 features)"


def test_nothing_to_count():
    empty = Graph.from_edges([], 3)
    assert pattern_features(empty, ["triangle", "5-cycle"]).values.tolist() == [[0, 0]]
    assert pattern_features([empty], [], per="node").values.shape == (3, 0)
    assert pattern_features([Graph.from_edges([], 0)] * 2, ["triangle", "3-star"]).values.tolist() == [[0, 0]] * 2
    assert pattern_features(empty, ["triangle"], per="edge").values.shape == (0, 1)
    # A graph without nodes, or with one, has no rows, and no sets of nodes to divide by.
    few, triangle = Graph.from_edges([], 1), Graph.from_edges([(0, 1), (1, 2), (0, 2)])
    for per, graphs in (("node", [Graph.from_edges([], 0), triangle]), ("edge", [few, triangle])):
        assert pattern_features(graphs, ["triangle"], per=per, normalize="density").values.tolist() == [[1]] * 3


def test_refusals():
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(ValueError, match="at least one graph"):
        pattern_features(Graphs.from_edges([]), ["triangle"])
    with pytest.raises(ValueError, match="per must be"):
        pattern_features(graph, ["triangle"], per="nodes")
    for options in ({"induced": "no"}, {"log": "no"}):
        with pytest.raises(TypeError, match="(induced|log) must be True or False, got 'no'"):
            pattern_features(graph, ["triangle"], **options)
    with pytest.raises(TypeError, match="log must be True or False, got 1"):
        homomorphism_counts(graph, ["triangle"], log=1)
    with pytest.raises(ValueError, match="normalize must be"):
        pattern_features(graph, ["triangle"], normalize="l2")
    with pytest.raises(ValueError, match="directed"):
        pattern_features(graph, ["ffl"])
    with pytest.raises(ValueError, match="size must be between 2 and 4"):
        all_patterns(5, directed=True)
    with pytest.raises(TypeError, match="size must be an integer, got 2.5"):
        all_patterns(2.5)


def with_words(edges, labels, names):
    return Graph.from_edges(edges, node_labels=labels)._with_host_fields(None, None, names)


def test_patterns_know_the_words_of_all_graphs():
    cells = with_words([(0, 1)], [0, 0], {0: "cell"})
    genes = with_words([(0, 1)], [0, 1], {0: "cell", 1: "gene"})
    drugs = with_words([(0, 1)], [0, 1], {0: "cell", 1: "drug"})
    for graphs, counts in (([cells, genes], [[0], [1]]), ([genes, cells], [[1], [0]])):
        assert pattern_features(graphs, ["cell,gene:0110"]).values.tolist() == counts
        with pytest.raises(ValueError, match="node label 1 is 'drug' in one graph and 'gene' in another"):
            pattern_features(graphs, [drugs])
    # Labels that a program set may be any words, and numbers of a file are none.
    numbers = Graph.from_edges([(0, 1)], node_labels=[0, 1])
    read = Graph.from_edges([(0, 1)], node_labels=[0, 1])
    read = read._with_host_fields(dataclasses.replace(read.report, format="gml"))
    assert pattern_features([numbers, numbers], [drugs]).values.tolist() == [[1], [1]]
    for graphs in ([numbers, read], [read, numbers]):
        with pytest.raises(ValueError, match="words in one graph's file and numbers in another's"):
            pattern_features(graphs, [drugs])


def test_columns_of_one_name_are_of_one_role():
    star = Graph.from_edges([(0, 1), (0, 2), (0, 3)])
    paths = [Pattern.from_edges(edges) for edges in ([(0, 1), (1, 2)], [(0, 1), (0, 2)])]
    found = pattern_features(star, [*paths, "001001110"], per="node")
    assert found.columns == tuple(f"001001110:{node}" for node in (0, 2, 2, 0, 0, 2))
    for name, column in zip(found.columns, found.values.T, strict=True):
        assert column.tolist() == found.table()[name].tolist() == ([0, 2, 2, 2] if name.endswith("0") else [3, 0, 0, 0])
    arcs = Graph.from_edges([(0, 1), (1, 2), (0, 2)], directed=True)
    loops = [Pattern.from_edges(edges, directed=True) for edges in ([(0, 1), (1, 2), (0, 2)], [(2, 0), (0, 1), (2, 1)])]
    found = pattern_features(arcs, loops, per="edge")
    assert len(found.columns) == 6
    assert len(set(found.columns)) == 3
    for name, column in zip(found.columns, found.values.T, strict=True):
        assert column.tolist() == found.table()[name].tolist()


def test_counts_too_large_for_floats():
    """Numbers of node sets, and counts, of a thousand bits and more."""
    path = Graph.from_edges([(u, u + 1) for u in range(1999)])
    assert pattern_features(path, ["edge"], normalize="density").values[0, 0] == pytest.approx(1 / 1000)
    sets = _patterns.Source.of(Graphs.from_graphs([path]), "graph").sets([300])
    counts = sets // 4
    np.testing.assert_allclose(_patterns.scaled(counts, lambda: sets, False, "density"), 0.25)
    np.testing.assert_allclose(_patterns.scaled(counts, lambda: sets, False, "total"), 1)
    assert _patterns.scaled(counts, lambda: sets, True, None)[0, 0] == pytest.approx(
        math.log(math.comb(2000, 300) // 4)
    )
    np.testing.assert_array_equal(_patterns.scaled(np.array([[5]]), lambda: sets, True, "density"), 0)


def test_orbits_beyond_64_bits_that_no_column_needs(monkeypatch):
    orbits = np.zeros((3, 15), object)
    orbits[0, 7], orbits[0, 14] = 10**16, 10**20
    monkeypatch.setattr(_patterns, "node_orbits", lambda *_, **__: SimpleNamespace(values=orbits))
    found = pattern_features(Graph.from_edges([(0, 1), (0, 2)]), ["3-star"], per="node").values
    assert found[:, 0].tolist() == [10**16, 0, 0]


def test_roles_are_those_of_the_field():
    """ORCA's 73 and 68 orbits; the 30 roles of nodes in the 13 connected triads (Milo et al. 2004)."""
    nothing = Graph.from_edges([], 2)
    undirected = [name for size in (2, 3, 4, 5) for name in all_patterns(size)]
    assert len(pattern_features(nothing, undirected, per="node").columns) == 73
    assert len(pattern_features(nothing, undirected[1:], per="edge").columns) == 68
    arcs = Graph.from_edges([], 2, directed=True)
    assert len(pattern_features(arcs, all_patterns(3, directed=True), per="node").columns) == 30
