"""Queries counted in pieces, against brute force."""

import numpy as np
import pytest

from jaxmotif.matching import Search, count_matches
from jaxmotif.matching import _pieces as pieces
from jaxmotif.matching._pieces import choose_cut, merge
from jaxmotif.patterns import Pattern
from jaxmotif.search._deadline import TimeIsUp
from tests.matching.oracle import count_injections, random_graph

IN_PIECES = Search(pieces=True, block=64)
TRIANGLE = [(0, 1), (1, 2), (2, 0)]
QUERIES = {
    "at a node": [*TRIANGLE, (2, 3), (3, 4), (4, 2)],
    "at an edge": [*TRIANGLE, (0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (0, 5), (1, 5), (4, 5)],
    "apart": [*TRIANGLE, (3, 4), (4, 5)],
    "a path": [(0, 1), (1, 2), (2, 3), (3, 4)],
}


@pytest.fixture
def counted(monkeypatch):
    """The searches counted in pieces."""
    found, count = [], pieces.count_in_pieces
    monkeypatch.setattr(pieces, "count_in_pieces", lambda *args: found.append(count(*args)) or found[-1])
    return found


@pytest.mark.parametrize("edges", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("directed", [True, False])
def test_equals_brute_force(edges, directed, counted):
    rng = np.random.default_rng(len(edges))
    size = 1 + max(map(max, edges))
    for labels, values in ((None, None), (2, 2)):
        host, target = random_graph(rng, 9, 0.6, directed, labels, values)
        # Label 9 is the wildcard.
        nodes = None if labels is None else rng.choice([0, 1, 9], size)
        arcs = None if values is None else rng.choice([0, 1, 9], len(edges))
        query = Pattern.from_edges(edges, size, directed, nodes, arcs)
        expected = count_injections(query, host, False, 9)
        assert count_matches(query, target, wildcard=9, search=IN_PIECES).count == expected
        allowed = rng.random((size, 9)) < 0.8
        found = count_matches(query, target, wildcard=9, domains=allowed, search=IN_PIECES)
        assert found.count == count_injections(query, host, False, 9, allowed)
    assert any(standing is not None for standing in counted)


def test_occurrences_in_pieces(counted):
    host, target = random_graph(np.random.default_rng(1), 9, 0.6, False, None, None)
    query = Pattern.from_edges(QUERIES["at a node"])
    found = count_matches(query, target, per="occurrence", search=IN_PIECES)
    assert 8 * found.count == count_injections(query, host, False) > 0
    assert (found.notes, len(counted)) == (("counted in pieces",), 1)


def test_a_search_of_some_seconds_is_tried_in_pieces(counted, monkeypatch):
    """If its sides share no candidates; and it goes on whole where the pieces fail."""
    host, target = random_graph(np.random.default_rng(2), 9, 0.8, False, 2, None)
    query = Pattern.from_edges(QUERIES["at a node"], node_labels=[0, 0, 0, 1, 1])
    expected = count_injections(query, host, False)
    assert expected > 0
    assert (count_matches(query, target, search=Search(block=64)).count, counted) == (expected, [])
    monkeypatch.setattr(pieces, "PATIENCE", -1.0)
    found = count_matches(query, target, search=Search(block=64))
    assert (found.count, len(counted), found.notes) == (expected, 1, ("counted in pieces",))
    count_matches(Pattern.from_edges(QUERIES["at a node"]), target, search=Search(block=64))
    assert len(counted) == 1  # a node can be in both sides
    monkeypatch.setattr(pieces, "MOST_COUNT", 0)
    found = count_matches(query, target, search=Search(block=64))
    assert (found.count, counted[1:], found.notes) == (expected, [None], ())

    def stop(*given):
        raise TimeIsUp("stopped at time_limit=60 s")

    monkeypatch.setattr(pieces, "choose_cut", stop)
    found = count_matches(query, target, search=Search(block=64))
    assert (found.count, found.notes, len(counted)) == (expected, (), 2)


def test_cuts():
    """The one that leaves most to the smaller side; none where nothing searched is left, or too many pairs are one."""
    two = Pattern.from_edges([*TRIANGLE, (2, 3), (3, 4), (4, 5), (5, 3)])
    assert choose_cut(two, [0, 1, 2, 3, 4, 5], None).nodes == (2,)
    assert choose_cut(two, [2, 3], None) is None
    assert choose_cut(Pattern.from_edges(TRIANGLE), [0, 1], None) is None
    tail = Pattern.from_edges([(i, i + 1) for i in range(30)])
    assert choose_cut(tail, [*range(31)], None) is None or len(choose_cut(tail, [*range(31)], None).merged) <= 64


def test_merged_queries():
    labelled = Pattern.from_edges([(0, 1), (1, 2)], node_labels=[9, 5, 4], edge_labels=[7, 9])
    smaller, domains = merge(labelled, ((0, 2),), 9, np.array([[True, True], [True, True], [True, False]]))
    assert (smaller.node_labels.tolist(), smaller.edge_labels[0, 1], domains.tolist()) == (
        [4, 5], 7, [[True, False], [True, True]],
    )  # fmt: skip
    assert merge(labelled, ((0, 2),), None, None) is None


def test_sides_whose_maps_pass_63_bits_are_not_multiplied(counted, monkeypatch):
    """The limit is what int64 holds: with one less the query is counted whole."""
    assert pieces.MOST_COUNT == 2**63 - 1
    host, target = random_graph(np.random.default_rng(2), 9, 0.8, False, 2, None)
    query = Pattern.from_edges(QUERIES["at a node"], node_labels=[0, 0, 0, 1, 1])
    expected = count_injections(query, host, False)
    side = max(
        count_injections(Pattern.from_edges(TRIANGLE, node_labels=labels), host, False)
        for labels in ([0, 0, 0], [0, 1, 1])
    )
    for most, whole in ((side, False), (side - 1, True)):
        monkeypatch.setattr(pieces, "MOST_COUNT", most)
        assert count_matches(query, target, search=IN_PIECES).count == expected
        assert (counted[-1] is None) == whole
