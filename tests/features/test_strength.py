"""Intensity and coherence of motifs against plain loops, and random weights against enumerated tables."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest

from jaxmotif import Graph, read_graph
from jaxmotif.features import motif_strengths
from jaxmotif.features._strength import _random_weights
from jaxmotif.patterns import Pattern, canonical_string
from tests.more import more


def some_graph(seed, directed=True, whole=True):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 15))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v and (directed or u < v)]
    edges = [pair for pair in pairs if rng.random() < 0.25] or pairs[:1]
    weights = rng.integers(1, 30, len(edges)) if whole else rng.random(len(edges)) + 0.01
    return Graph.from_edges(edges, n, directed=directed).with_attributes(edges={"w": weights})


def by_loops(graph):
    """Count, mean intensity and mean coherence of connected triads by class (Onnela et al. 2005)."""
    weights = dict(zip(map(tuple, graph.edge_list().tolist()), graph.attributes.edges["w"].tolist(), strict=True))
    sums = {}
    for nodes in itertools.combinations(range(graph.n), 3):
        here = [(i, j) for i, j in itertools.permutations(range(3), 2) if (nodes[i], nodes[j]) in weights]
        if len({frozenset(arc) for arc in here}) < 2:
            continue
        w = [weights[nodes[i], nodes[j]] for i, j in here]
        intensity = math.prod(w) ** (1 / len(w))
        text = canonical_string(Pattern.from_edges(here, 3, directed=graph.directed))
        row = sums.setdefault(text, [0, 0.0, 0.0])
        row[:] = row[0] + 1, row[1] + intensity, row[2] + intensity / (sum(w) / len(w))
    return {text: (count, a / count, b / count) for text, (count, a, b) in sums.items()}


@pytest.mark.parametrize("seeds", [range(10), *more(range(10, 200))])
def test_strengths_are_those_of_plain_loops(seeds):
    for seed in seeds:
        graph = some_graph(seed, directed=seed % 4 != 3, whole=seed % 2 == 0)
        found, wanted = motif_strengths(graph, 3, "w"), by_loops(graph)
        assert set(found.classes) == set(wanted)
        for i, text in enumerate(found.classes):
            assert found.counts[i] == wanted[text][0]
            np.testing.assert_allclose((found.intensity[i], found.coherence[i]), wanted[text][1:], rtol=1e-12)
        assert f"({len(wanted)} class" in repr(found)
        assert found.verdicts.tolist() == [""] * len(wanted)  # nothing to compare with
        assert list(found.table())[-2:] == ["intensity", "coherence"]


def test_weights_of_a_graph_of_networkx():
    loop = nx.DiGraph()
    loop.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 2.0), (0, 2, 4.0)])
    np.testing.assert_allclose(motif_strengths(loop, 3, "weight").intensity, [2.0], rtol=1e-12)


def test_weights_beyond_64_bits_are_taken_as_floats(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text(f"pre,post,n\na,b,{2**70}\na,b,{2**70}\nb,c,1\nc,a,4\n")
    graph = read_graph(path, True, weight="n", attributes=True)
    np.testing.assert_allclose(motif_strengths(graph, 3, "n").intensity, [2.0 ** (73 / 3)], rtol=1e-12)
    for weights in ([2**70, 0.5, 3], [2**1023, 1, 1]):
        intensity = motif_strengths(graph.with_attributes(edges={"w": weights}), 3, "w").intensity
        np.testing.assert_allclose(np.log(intensity), np.mean(np.log(np.array(weights, float))), rtol=1e-12)
    for weights in ([2**1024, 1, 1], [2**70, -1, 1], [2**70, None, 1], [2**70, True, 1], ["1", "2", "3"]):
        with pytest.raises(ValueError, match="must be positive numbers"):
            motif_strengths(graph.with_attributes(edges={"w": weights}), 3, "w")


def test_large_weights_are_in_range():
    """Weights whose sum no float holds: in other units, all statistics are the same."""
    arcs = [(0, 1), (1, 2), (0, 2), (2, 3), (0, 3)]
    graph = Graph.from_edges(arcs, directed=True)
    small, large = (
        motif_strengths(graph.with_attributes(edges={"w": np.array([1, 2, 3, 4, 5]) * unit}), 3, "w", 20, "all")
        for unit in (1.0, 2.0**1021)
    )
    np.testing.assert_allclose(large.coherence, small.coherence, rtol=1e-12)
    np.testing.assert_allclose(large.intensity / 2.0**1021, small.intensity, rtol=1e-12)
    np.testing.assert_allclose(large.significance.mean / 2.0**1021, small.significance.mean, rtol=1e-12)
    np.testing.assert_allclose(large.significance.z, small.significance.z, rtol=1e-6)
    np.testing.assert_array_equal(large.significance.q, small.significance.q)


@pytest.mark.parametrize("null", ["all", "senders", "strengths"])
def test_no_random_weights_and_no_edges(null):
    assert repr(motif_strengths(some_graph(3, directed=False), 3, "w", null=null)).endswith("; no random weights)")
    empty = Graph.from_edges([], 3, directed=True).with_attributes(edges={"w": np.zeros(0)})
    found = motif_strengths(empty, 3, "w", 5, null)
    assert (found.random_intensity.shape, "nan" in found.null_model) == ((5, 0), False)


@pytest.mark.parametrize(
    ("null", "whole"), [("all", True), ("senders", True), ("strengths", True), ("strengths", False)]
)
def test_random_weights_keep_what_they_say(null, whole):
    graph = some_graph(8, whole=whole)
    weights = graph.attributes.edges["w"].astype(float)
    drawn, words = _random_weights(graph, weights, 30, null, np.random.default_rng(0))
    assert words.startswith("random weights keep")
    assert len(np.unique(drawn, axis=0)) > 10
    tails, heads = graph.edge_list().T
    for some in drawn:
        if null != "strengths":
            np.testing.assert_array_equal(np.sort(some), np.sort(weights))
        if null == "senders":
            for node in range(graph.n):
                np.testing.assert_array_equal(np.sort(some[tails == node]), np.sort(weights[tails == node]))
        if null == "strengths":
            assert some.min() >= 1 if whole else some.min() > 0
            for ends in (tails, heads):
                rounding = 0 if whole else 1e-12
                np.testing.assert_allclose(np.bincount(ends, some), np.bincount(ends, weights), rtol=rounding)


def test_weights_that_keep_strengths_are_uniform():
    """All tables of whole weights with these sums are equally likely: two tails, three heads, enumerated."""
    stats = pytest.importorskip("scipy.stats")
    edges = [(u, v) for u in (0, 1) for v in (2, 3, 4)]
    graph = Graph.from_edges(edges, 5, directed=True)
    weights = np.array([3, 1, 2, 2, 3, 1])
    tables = {}
    for a, b in itertools.product(range(1, 10), repeat=2):
        table = np.array([a, b, 6 - a - b, 5 - a, 4 - b, 3 - (6 - a - b)])
        if (table >= 1).all():
            tables[tuple(table)] = len(tables)
    drawn, _ = _random_weights(graph, weights.astype(float), 4000, "strengths", np.random.default_rng(1))
    hits = np.bincount([tables[tuple(row)] for row in drawn.astype(int)], minlength=len(tables))
    assert len(tables) > 5
    assert stats.chisquare(hits).pvalue > 1e-3


def test_strong_classes_are_found():
    """Loops of strong arcs beside many weak arcs, at the same nodes."""
    rng = np.random.default_rng(4)
    loops = [arc for i in range(0, 30, 3) for arc in ((i, i + 1), (i + 1, i + 2), (i, i + 2))]
    others = [arc for arc in map(tuple, rng.integers(0, 30, (50, 2)).tolist()) if arc[0] != arc[1]]
    edges = list(dict.fromkeys([*loops, *others]))
    weights = [20 if i < len(loops) else int(rng.integers(1, 4)) for i in range(len(edges))]
    order = sorted(range(len(edges)), key=edges.__getitem__)
    graph = Graph.from_edges(edges, 30, directed=True).with_attributes(edges={"w": [weights[i] for i in order]})
    found = motif_strengths(graph, 3, "w", 400, "all")
    row = found.names.index("030T feed-forward loop")
    assert found.verdicts[row].startswith("strong: ")
    table = found.table()
    assert {"intensity", "coherence", "expected_intensity", "ratio", "z", "q", "why"} <= set(table)
    np.testing.assert_allclose(table["expected_intensity"], found.random_intensity.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(table["ratio"], found.intensity / found.random_intensity.mean(axis=0), rtol=1e-6)


def test_what_cannot_be(tmp_path):
    graph = some_graph(2)
    for options, message in (
        ({"weight": "x"}, "no weights 'x', but 'w'"),
        ({"null": "x"}, "null must be one of"),
        ({"num_random": 1}, "num_random"),
    ):
        with pytest.raises(ValueError, match=message):
            motif_strengths(graph, 3, **{"weight": "w", **options})
    with pytest.raises(ValueError, match="directed graphs"):
        motif_strengths(some_graph(3, directed=False), 3, "w", 5)
    with pytest.raises(ValueError, match="positive"):
        motif_strengths(graph.with_attributes(edges={"w": np.zeros(graph.m)}), 3, "w")
    with pytest.raises(ValueError, match="divide them all by the largest"):
        motif_strengths(graph.with_attributes(edges={"w": np.full(graph.m, 1e308)}), 3, "w", 5, "strengths")
    path = tmp_path / "net.csv"
    path.write_text("pre,post,n\na,b,2\na,b,3\nb,c,1\nc,a,4\n")
    several = read_graph(path, True, weight="n", attributes=True)
    assert motif_strengths(several, 3, "n").counts.sum() == 1
    with pytest.raises(ValueError, match="an edge has several"):
        motif_strengths(read_graph(path, True, attributes=True), 3, "n")
