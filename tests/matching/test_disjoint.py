"""Occurrences without shared nodes or edges: disjoint, maximal, and between the bounds, against all sets of them."""

from itertools import combinations

import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.matching import _disjoint as module
from jaxmotif.matching import disjoint_occurrences, occurrences


def held_by(row, arcs, without, directed):
    if without == "node":
        return frozenset(row)
    # Induced: all edges among the nodes.
    return frozenset((u, v) for u, v in arcs if u in row and v in row)


def largest(sets):
    """The size of the largest family of disjoint ones, by trying all."""
    for size in range(len(sets), 0, -1):
        if any(sum(map(len, some)) == len(frozenset().union(*some)) for some in combinations(sets, size)):
            return size
    return 0


@pytest.mark.parametrize("without", ["edge", "node"])
@pytest.mark.parametrize(("directed", "pattern"), [(False, "triangle"), (True, "ffl")])
def test_disjoint_maximal_and_between_the_bounds(without, directed, pattern):
    rng = np.random.default_rng(4)
    met = set()
    for _ in range(12):
        keep = rng.random((9, 9)) < (0.3 if directed else 0.2)
        graph = Graph.from_edges(np.argwhere(keep if directed else np.triu(keep | keep.T, 1)), 9, directed)
        arcs = [tuple(arc) for arc in graph.edge_list().tolist()]
        rows = [row for block in occurrences(graph, pattern) for row in block.tolist()]
        if len(rows) > 16:
            continue
        everything = [held_by(row, arcs, without, directed) for row in rows]
        found = disjoint_occurrences(graph, pattern, without)
        assert found.total == len(rows)
        assert all(row in rows for row in found.occurrences.tolist())
        chosen = [held_by(row, arcs, without, directed) for row in found.occurrences.tolist()]
        taken = frozenset().union(*chosen)
        assert len(taken) == sum(map(len, chosen))
        assert all(one & taken for one in everything)  # nothing could be added
        assert found.count <= largest(everything) <= found.upper <= max(found.total, 0)
        met.add(found.count)
    assert len(met) > 1


def test_the_least_loaded_first_in_one_order():
    """A triangle in the middle of three others, one at each of its nodes, is left out."""
    edges = [(0, 1), (1, 2), (0, 2)]
    for i in range(3):
        edges += [(i, 3 + 2 * i), (i, 4 + 2 * i), (3 + 2 * i, 4 + 2 * i)]
    names = [f"n{i}" for i in range(9)]
    found = disjoint_occurrences(Graph.from_edges(edges, node_names=names), "triangle")
    assert (found.count, found.upper, found.total) == (3, 3, 4)
    assert {frozenset(row) for row in found.occurrences.tolist()} == {
        frozenset((f"n{i}", f"n{3 + 2 * i}", f"n{4 + 2 * i}")) for i in range(3)
    }
    assert "3 occurrences without a shared node, at most 3, of 4" in repr(found)
    # F2: they share nodes, but no edge.
    assert disjoint_occurrences(Graph.from_edges(edges), "triangle", "edge").count == 4


def test_none_and_bad_options(monkeypatch):
    path = Graph.from_edges([(0, 1), (1, 2)])
    found = disjoint_occurrences(path, "triangle")
    assert (found.count, found.upper, found.total) == (0, 0, 0)
    with pytest.raises(ValueError, match="without must be"):
        disjoint_occurrences(path, "triangle", "nodes")
    monkeypatch.setattr(module, "MOST", 2)
    with pytest.raises(ValueError, match="held at once"):
        disjoint_occurrences(path, "2-star")
