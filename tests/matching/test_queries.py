"""Many queries in one call: the same as one by one."""

import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching import Search, count_matches, count_queries
from jaxmotif.patterns import Pattern
from jaxmotif.search import _sizes as sizes

CYCLE = [(0, 1), (1, 2), (2, 3), (3, 0)]


@pytest.fixture(scope="module")
def target():
    labels = np.random.default_rng(2).integers(0, 2, 60)
    edges = list(nx.barabasi_albert_graph(60, 4, seed=1).edges)
    return Graph.from_edges(edges, 60, node_labels=labels, pad="bucket")


@pytest.fixture(scope="module")
def queries():
    """Among them some that no node can match and one without edges."""
    rng = np.random.default_rng(1)
    made = [Pattern.from_edges(CYCLE[:m], 4, node_labels=rng.integers(0, 2, 4)) for m in range(5)]
    return [*made, Pattern.from_edges([(0, 1)], node_labels=[0, 7]), Pattern.from_edges(CYCLE)]


def test_the_same_as_one_by_one(monkeypatch, target, queries):
    # Steps so few that some searches outgrow their first stage.
    monkeypatch.setattr(sizes, "CPU", sizes.CPU._replace(counting=192, first=64, first_steps=6))
    for options in ({"induced": True, "memory": 2**20}, {"per": "occurrence", "search": Search(leaves=False)}):
        alone = [count_matches(query, target, **options) for query in queries]
        found = list(count_queries(queries, target, **options))
        assert [one.count for one in found] == [one.count for one in alone]
        assert [one.order for one in found] == [one.order for one in alone]
        assert all(one.exact for one in found)
        assert {"filter", "plan", "search"} <= set(found[0].seconds)
        assert sum(one.count > 0 for one in found) == len(queries) - 1
    assert any(one.steps > 6 for one in alone)


def test_limits_and_devices(target, queries):
    path = Pattern.from_edges([(i, i + 1) for i in range(8)])
    search = Search(leaves=False, symmetry=False, block=64)
    found = list(count_queries([queries[-2], path], target, time_limit=0.0, search=search))
    assert not any(one.exact for one in found)
    assert [one.status for one in found] == 2 * ["stopped at time_limit=0 s"]
    spread, alone = (list(count_queries(queries[-3:], target, devices=d, search=Search(block=64))) for d in (2, None))
    assert [one.count for one in spread] == [one.count for one in alone]


def test_mistakes(target):
    with pytest.raises(ValueError, match="max_steps=5 stops one search; give count_queries a time_limit"):
        count_queries([Pattern.from_edges(CYCLE)], target, search=Search(max_steps=5))
    with pytest.raises(ValueError, match="the query has 0 nodes"):
        count_queries([Pattern.from_edges(CYCLE), Pattern.from_edges([], 0)], target)
    for query in ("triangle", Pattern.from_edges(CYCLE), target):
        with pytest.raises(TypeError, match="queries must be a list, got .*; count_matches takes one query"):
            count_queries(query, target)
