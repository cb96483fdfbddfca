"""Pattern features inside jit and vmap against those of the front door."""

import jax
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.features import all_patterns, dense_pattern_features, pattern_features
from jaxmotif.graph import stack_graphs
from jaxmotif.patterns import Pattern
from tests.more import more
from tests.oracles import random_edges

PAD = (12, 132)
GRAPHS = [Graph.from_edges(random_edges(n, 0.5, n), n, pad=PAD) for n in (6, 9, 12)]
PATTERNS = [*all_patterns(3), *all_patterns(4)]


@pytest.mark.parametrize(
    ("per", "induced"),
    [("graph", False), ("node", True), ("edge", True), *more(("graph", True), ("node", False), ("edge", False))],
)
def test_equals_the_front_door(per, induced):
    count = jax.jit(jax.vmap(lambda graph: dense_pattern_features(graph, PATTERNS, per=per, induced=induced)))
    found = count(stack_graphs(GRAPHS, pad=PAD)).to_numpy()
    expected = pattern_features(GRAPHS, PATTERNS, per=per, induced=induced)
    for i, graph in enumerate(GRAPHS):
        rows = {"graph": None, "node": graph.n, "edge": graph.m}[per]
        mine = found[i][None] if rows is None else found[i, :rows]
        np.testing.assert_array_equal(mine, expected.values[expected.graph == i])
        assert rows is None or not found[i, rows:].any()


def test_five_nodes_at_edges():
    found = dense_pattern_features(GRAPHS[1], ["bull"], per="edge").to_numpy()[: GRAPHS[1].m]
    np.testing.assert_array_equal(found, pattern_features(GRAPHS[1], ["bull"], per="edge").values)


@pytest.mark.parametrize(
    ("per", "directed", "induced"), [("node", True, False), *more(("graph", False, True), ("edge", False, False))]
)
def test_patterns_that_are_searched_for_beside_sums_of_orbits(per, directed, induced):
    """Against searches of the whole graph; columns in the order given."""
    rng = np.random.default_rng(directed)
    joined = rng.random((9, 9)) < 0.6
    edges = np.argwhere(joined & ~np.eye(9, dtype=bool) if directed else np.triu(joined, 1))
    graph = Graph.from_edges(edges, 9, directed, rng.integers(0, 2, 9), rng.integers(0, 2, len(edges)), pad=(12, 132))
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    patterns = [
        Pattern.from_edges(ring, directed=directed, node_labels=[0, 1, 0, 1]),
        *(["ffl", "012"] if directed else ["wedge", "4-node-2-edge"]),
        Pattern.from_edges(ring[:2], directed=directed, edge_labels=[1, 1]),
    ]
    found = jax.jit(lambda graph: dense_pattern_features(graph, patterns, per=per, induced=induced))(graph).to_numpy()
    expected = pattern_features(graph, patterns, per=per, induced=induced).values
    np.testing.assert_array_equal(found if per == "graph" else found[: len(expected)], np.squeeze(expected))
    assert found.sum() == expected.sum() > 50


def test_without_patterns_there_are_no_columns():
    arcs = Graph.from_edges([(0, 1), (1, 2)], directed=True, pad=PAD)
    shapes = [dense_pattern_features(GRAPHS[0], [], per=per).shape for per in ("node", "edge")]
    assert [*shapes, dense_pattern_features(arcs, [], per="edge").shape] == [(12, 0), (66, 0), (132, 0)]


def test_what_does_not_suit_is_refused():
    with pytest.raises(ValueError, match="target has none"):
        dense_pattern_features(GRAPHS[0], [Pattern.from_edges([(0, 1)], node_labels=[0, 1])])
    with pytest.raises(TypeError, match="induced must be True or False, got 'no'"):
        dense_pattern_features(GRAPHS[0], ["edge"], induced="no")
    with pytest.raises(ValueError, match="build both alike"):
        dense_pattern_features(GRAPHS[0], [Pattern.from_edges([(0, 1)], directed=True)])
