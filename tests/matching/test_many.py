"""A query in many targets: each as it is counted alone."""

import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph, Graphs, stack_graphs
from jaxmotif.matching import Search, _many, _stacks, count_matches
from jaxmotif.patterns import Pattern
from tests.matching.oracle import brute_force
from tests.more import more

SIZES = (9, 3, 0, 14, 6, 20)


def _targets(directed, labelled) -> list[Graph]:
    rng = np.random.default_rng(0)
    found = []
    for n in SIZES:
        edges = rng.integers(0, max(n, 1), (3 * n, 2))
        edges = np.unique(edges if directed else np.sort(edges, axis=1), axis=0)
        labels = (rng.integers(0, 2, n), rng.integers(0, 2, len(edges))) if labelled else (None, None)
        found.append(Graph.from_edges(edges, n, directed, *labels, pad=(24, 128)))
    return found


PATH = [(0, 1), (1, 2), (2, 3)]


# Targets of more than 14 nodes are counted alone.
@pytest.mark.parametrize(("directed", "labelled", "induced"), [(True, True, False), *more((False, False, True))])
def test_equals_brute_force(directed, labelled, induced, monkeypatch):
    monkeypatch.setattr(_many, "MOST_NODES", 14)
    targets = _targets(directed, labelled)
    query = Graph.from_edges(PATH, 4, directed, [0, 1, 9, 1] if labelled else None, [1, 9, 0] if labelled else None)
    found = count_matches(query, targets, induced, wildcard=9)
    pattern = Pattern.from_graph(query)
    expected = [len(brute_force(pattern, Pattern.from_graph(target), induced, 9)) for target in targets]
    assert sum(expected) > 20
    assert found.values[:, 0].tolist() == [one.count for one in found] == expected
    assert all(one.exact for one in found)


def test_occurrences_stacks_and_queries_that_take_long(monkeypatch, capsys):
    graphs = Graphs.from_graphs(
        [Graph.from_networkx(graph) for graph in (nx.complete_graph(5), nx.path_graph(7), nx.petersen_graph())]
    )
    for steps in (2**14, 3):
        monkeypatch.setattr(_stacks, "MOST_STEPS", steps)
        found = count_matches([(0, 1), (1, 2)], graphs, per="occurrence")
        assert found.values[:, 0].tolist() == [30, 5, 30]
    assert np.asarray(count_matches("triangle", stack_graphs(graphs)))[:, 0].tolist() == [60, 0, 0]
    assert capsys.readouterr().err == ""  # no meter unless it is asked for


def test_bad_input():
    targets = _targets(False, False)
    with pytest.raises(ValueError, match="time_limit is for one target"):
        count_matches(PATH, targets, time_limit=1.0)
    with pytest.raises(ValueError, match="the query has node labels and the target has none"):
        count_matches(Graph.from_edges(PATH, node_labels=[0, 0, 0, 1]), targets)
    with pytest.raises(ValueError, match="directed"):
        count_matches(Graph.from_edges(PATH, directed=True), targets)
    with pytest.raises(ValueError, match="wildcard must fit int32"):
        count_matches(PATH, targets, wildcard=2**31)


def test_options_of_a_search_are_those_of_each_target():
    targets = _targets(False, False)[:2]
    with pytest.raises(ValueError, match="max_steps is for one target"):
        count_matches(PATH, targets, search=Search(max_steps=0))
    with pytest.raises(ValueError, match="order must be 'ri' or a permutation of the 4 query nodes"):
        count_matches(PATH, targets, search=Search(order=[0, 0, 0, 0]))
    found = count_matches(PATH, targets, search=Search(engine="equations"))
    assert [one.engine for one in found] == ["equations", "equations"]
    assert found.values.tolist() == count_matches(PATH, targets).values.tolist()
