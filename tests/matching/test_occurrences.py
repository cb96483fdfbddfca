"""Occurrences of patterns against the census and against a look at every set of nodes."""

from itertools import combinations

import numpy as np
import pytest

from jaxmotif import Graph, occurrences, read_graph, subgraph_census
from jaxmotif.patterns import Pattern, canonical_string, class_id
from tests.more import more


def random_graph(n, density, seed, directed):
    rng = np.random.default_rng(seed)
    keep = np.triu(rng.random((n, n)) < density, 1) if not directed else rng.random((n, n)) < density
    return Graph.from_edges(np.argwhere(keep), n, directed)


def listed(*args, **options):
    return [tuple(row) for block in occurrences(*args, **options) for row in block.tolist()]


@pytest.mark.parametrize(("directed", "size"), [(True, 3), *more((False, 4))])
def test_every_set_of_nodes_is_listed_once_under_its_class(directed, size):
    graph = random_graph(14, 0.3, 5, directed)
    pattern = Pattern.from_graph(graph)
    wanted: dict[str, set[frozenset[int]]] = {}
    for nodes in combinations(range(graph.n), size):
        part = pattern.relabel(nodes)
        if len(part.components()) == 1:
            wanted.setdefault(canonical_string(part), set()).add(frozenset(nodes))
    assert wanted.keys() == set(subgraph_census(graph, size).classes)
    for name, sets in wanted.items():
        rows = listed(graph, name)
        assert len(rows) == len(sets)
        assert {frozenset(row) for row in rows} == sets
        matrix = np.array(list(name)).reshape(size, size) == "1"
        assert all(np.array_equal(pattern.relabel(row).adjacency, matrix) for row in rows)


def test_names_limits_and_subgraphs_of_more_edges():
    graph = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], node_names=["a", "b", "c", "d"])
    assert listed(graph, "triangle") == [("a", "b", "c")] or set(*listed(graph, "triangle")) == set("abc")
    assert len(listed(graph, "2-star")) == 2
    assert len(listed(graph, "2-star", induced=False)) == 5
    assert len(listed(graph, "2-star", 3, induced=False)) == 3
    assert listed(graph, "2-star", 0) == listed(graph, "5-clique") == []
    with pytest.raises(ValueError, match="at least 0, got -1"):
        occurrences(graph, "triangle", -1)
    with pytest.raises(ValueError, match="near: triangle"):
        occurrences(graph, "trianlge")


def test_labels():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], node_labels=[5, 7, 5, 5], edge_labels=[1, 2, 2])
    census = subgraph_census(graph, 2)
    assert {name: len(listed(graph, name)) for name in census.classes} == census.as_dict()
    assert len(listed(graph, "edge")) == 3


def test_feed_forward_loops_of_yeast(shared_data):
    graph = read_graph(shared_data / "directed" / "yeast.edges", directed=True)
    rows = np.array(listed(graph, "ffl"))
    assert rows.shape == (70, 3)
    whole = Pattern.from_graph(graph)
    at = rows if graph.node_names is None else np.searchsorted(graph.node_names, rows)
    assert {class_id(canonical_string(whole.relabel(row))) for row in at} == {38}


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("name", ["ecoli_alon423", "foodweb_stmarks", "social_prison67", "yeast"])
def test_occurrences_of_every_class_sum_to_its_count(shared_data, name, size):
    graph = read_graph(shared_data / "directed" / f"{name}.edges", directed=True)
    census = subgraph_census(graph, size)
    found = {text: sum(len(block) for block in occurrences(graph, text)) for text in census.classes}
    assert found == census.as_dict()
