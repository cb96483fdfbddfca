"""Pattern features inside jit and vmap against those of the front door."""

import jax
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.features import all_patterns, dense_pattern_features, pattern_features
from jaxmotif.graph import stack_graphs
from tests.oracles import random_edges

PAD = (12, 132)
GRAPHS = [Graph.from_edges(random_edges(n, 0.5, n), n, pad=PAD) for n in (6, 9, 12)]
PATTERNS = [*all_patterns(3), *all_patterns(4)]


@pytest.mark.parametrize("induced", [True, False])
@pytest.mark.parametrize("per", ["graph", "node", "edge"])
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
    ("pattern", "per"), [("4-node-2-edge", "graph"), ("6-cycle", "node"), ("5-node-2-edge", "edge")]
)
def test_other_patterns_are_refused(pattern, per):
    with pytest.raises(ValueError, match="dense_match_count"):
        dense_pattern_features(GRAPHS[0], [pattern], per=per)
