"""Occurrences without shared nodes or edges: disjoint, maximal, and between the bounds, against all sets of them."""

from itertools import combinations, permutations

import numpy as np
import pytest

from jaxmotif import Graph, query
from jaxmotif.matching import _disjoint as module
from jaxmotif.matching import disjoint_occurrences
from jaxmotif.patterns import Pattern, named_pattern
from tests.more import more


def held_by(row, edges, without, directed):
    """The nodes, or the edges, of an occurrence; ``edges``: of the pattern."""
    if without == "node":
        return frozenset(row)
    return frozenset((row[a], row[b]) if directed else tuple(sorted((row[a], row[b]))) for a, b in edges)


def largest(sets):
    """The size of the largest family of disjoint ones, by trying all."""
    for size in range(len(sets), 0, -1):
        if any(sum(map(len, some)) == len(frozenset().union(*some)) for some in combinations(sets, size)):
            return size
    return 0


def brute_force(graph, pattern, induced, without):
    """What each occurrence holds: of all maps that keep edges (and the lack of them), those that differ by it."""
    near = Pattern.from_graph(graph).adjacency
    edges = [(a, b) for a, b in np.argwhere(pattern.adjacency).tolist() if pattern.directed or a < b]
    found = {}
    for row in permutations(range(graph.n), pattern.num_nodes):
        part = near[np.ix_(row, row)]
        if (part == pattern.adjacency).all() if induced else part[pattern.adjacency].all():
            # By its edges, which say what the occurrence is, whatever it is then held by.
            found[held_by(row, edges, "edge", pattern.directed)] = held_by(row, edges, without, pattern.directed)
    return edges, list(found.values())


def check(graph, name, without, induced=True, most=16):
    """A greedy set of occurrences: disjoint, maximal, between the bounds. Its size, unless there are too many."""
    pattern = named_pattern(name, graph.directed)
    edges, everything = brute_force(graph, pattern, induced, without)
    if len(everything) > most:
        return None
    found = disjoint_occurrences(graph, name, without, induced=induced)
    assert found.total == len(everything)
    chosen = [held_by(row, edges, without, graph.directed) for row in found.occurrences.tolist()]
    assert all(one in everything for one in chosen)
    taken = frozenset().union(*chosen)
    assert len(taken) == sum(map(len, chosen))
    assert all(one & taken for one in everything)  # nothing could be added
    assert found.count <= largest(everything) <= found.upper <= found.total
    return found.count


@pytest.mark.parametrize(
    ("without", "directed", "pattern", "induced"),
    [
        ("edge", False, "triangle", True), ("node", True, "ffl", True), ("edge", False, "4-path", False),
        *more(("node", False, "triangle", True), ("edge", True, "ffl", True), ("node", False, "4-path", False)),
    ],
)  # fmt: skip
def test_disjoint_maximal_and_between_the_bounds(without, directed, pattern, induced):
    rng = np.random.default_rng(4)
    met = set()
    for _ in range(12):
        keep = rng.random((9, 9)) < (0.3 if directed else 0.2 if induced else 0.1)
        keep &= ~np.eye(9, dtype=bool)
        graph = Graph.from_edges(np.argwhere(keep if directed else np.triu(keep | keep.T, 1)), 9, directed)
        met.add(check(graph, pattern, without, induced))
    assert len(met - {None}) > 1


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
    assert np.array_equal(np.asarray(found), found.occurrences)
    assert {name: column.tolist() for name, column in found.table().items()} == {
        f"node_{i}": found.occurrences[:, i].tolist() for i in range(3)
    }
    # F2: they share nodes, but no edge.
    assert disjoint_occurrences(Graph.from_edges(edges), "triangle", "edge").count == 4


def test_none_and_bad_options(monkeypatch):
    path = Graph.from_edges([(0, 1), (1, 2)])
    found = disjoint_occurrences(path, "triangle")
    assert (found.count, found.upper, found.total) == (0, 0, 0)
    with pytest.raises(ValueError, match="without must be"):
        disjoint_occurrences(path, "triangle", "nodes")
    with pytest.raises(ValueError, match="without='edge' needs a pattern with edges"):
        disjoint_occurrences(path, Pattern.from_edges([], 1), "edge")
    with pytest.raises(TypeError, match="a query in words is not taken here"):
        disjoint_occurrences(path, query("A -> B; B -> C"))
    monkeypatch.setattr(module, "MOST", 3)
    assert disjoint_occurrences(path, "2-star").count == 1
    monkeypatch.setattr(module, "MOST", 2)
    with pytest.raises(ValueError, match="held at once"):
        disjoint_occurrences(path, "2-star")
