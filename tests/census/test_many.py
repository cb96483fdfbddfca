"""The census of many graphs: each as brute force counts it."""

import numpy as np
import pytest

from jaxmotif.census import _count as census_many
from jaxmotif.graph import Graph
from jaxmotif.motifs import subgraph_census
from tests.census.test_count import brute_force, by_node
from tests.more import more

SIZES = (9, 0, 14, 16)


# Graphs of more than 14 nodes are counted alone.
@pytest.mark.parametrize(("directed", "labels"), [(True, True), *more((False, False))])
def test_equals_brute_force(directed, labels, monkeypatch):
    monkeypatch.setattr(census_many, "MOST_NODES", 14)
    rng = np.random.default_rng(1)
    graphs: list[Graph] = []
    for n in SIZES:
        edges = np.unique(np.sort(rng.integers(0, max(n, 1), (2 * n, 2)), axis=1), axis=0)
        if directed:
            edges = np.concatenate([edges, edges[: n // 2, ::-1]])
        edges = edges[edges[:, 0] != edges[:, 1]]
        kinds = (rng.integers(0, 2, n), rng.integers(5, 7, len(edges))) if labels else (None, None)
        graphs.append(Graph.from_edges(edges, n, directed, *kinds))
    found = subgraph_census(graphs, 3, per_node=True)
    assert len(found) == len(SIZES)
    for i, (graph, one) in enumerate(zip(graphs, found, strict=True)):
        wanted = brute_force(graph, 3)
        assert one.as_dict() == wanted
        at_nodes = {(v, c): one.per_node[v, j] for v in range(graph.n) for j, c in enumerate(one.classes)}
        assert {at: count for at, count in at_nodes.items() if count} == by_node(graph, 3)
        row = dict(zip(found.columns, found.values[i].tolist(), strict=True))
        assert {name: count for name, count in row.items() if count} == wanted
    assert found.values.sum() > 50
    for one, without_nodes in zip(found, subgraph_census(graphs, 3), strict=True):
        assert (without_nodes.as_dict(), without_nodes.per_node) == (one.as_dict(), None)


def test_bad_size():
    with pytest.raises(ValueError, match="size must be between"):
        subgraph_census([[(0, 1)], [(0, 1)]], 9)
