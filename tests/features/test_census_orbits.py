"""Roles in all classes of a census, against every subgraph looked at, and against ORCA's orbits."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest

from jaxmotif.devices import _progress
from jaxmotif.features import census_orbits, pattern_features, role_table
from jaxmotif.graph import Graph
from jaxmotif.graphlets import node_orbits
from jaxmotif.patterns import Pattern, canonical_string, named_pattern
from tests.census.test_count import random_graph
from tests.more import more


def content(pattern):
    labels = None if pattern.node_labels is None else pattern.node_labels.tolist()
    return pattern.entries.tolist(), labels


def brute_force(graph, size, per):
    """Counts by (node or edge, class, the roles that isomorphisms to its canonical form give it)."""
    whole, found = Pattern.from_graph(graph), Counter()
    for nodes in combinations(range(graph.n), size):
        part = whole.relabel(nodes)
        if len(part.components()) > 1:
            continue
        name = canonical_string(part)
        form = named_pattern(name, graph.directed)
        # Node i of the form is nodes[p[i]].
        maps = [p for p in permutations(range(size)) if content(part.relabel(p)) == content(form)]
        places = combinations(range(size), 2) if per == "edge" else ((i,) for i in range(size))
        if per == "edge" and graph.directed:
            places = permutations(range(size), 2)
        for place in places:
            if per == "edge" and not part.adjacency[place]:
                continue
            images = [tuple(p.index(i) for i in place) for p in maps]
            low = min(image if graph.directed else tuple(sorted(image)) for image in images)
            found[tuple(nodes[i] for i in place), name, low] += 1
    return found


def check(graph, size, per):
    """Roles in all classes, against every subgraph; how many numbers were compared."""
    found = census_orbits(graph, size, per=per)
    wanted = brute_force(graph, size, per)
    assert found.values.sum() == sum(wanted.values())
    sums = Counter()
    for (_, name, role), count in wanted.items():
        sums[name, role] += count
    # As many columns as roles, with the counts of each node or edge.
    columns = sorted(sums)
    assert len(found.columns) == len(columns)
    rows = {tuple(edge): i for i, edge in enumerate(graph.edge_list().tolist())}
    dense = np.zeros_like(found.values)
    for (place, name, role), count in wanted.items():
        row = place[0] if per == "node" else rows[place]
        dense[row, columns.index((name, role))] += count
    assert sorted(found.values.T.tolist()) == sorted(dense.T.tolist())
    if per == "edge":
        np.testing.assert_array_equal(found.edges, graph.edge_list())
    return dense.size


@pytest.mark.parametrize(
    ("per", "directed", "labels", "edge_labels"),
    [("node", False, 2, 2), *more(("node", True, 0, 0), ("edge", True, 0, 0), ("edge", False, 2, 2))],
)
def test_against_brute_force(per, directed, labels, edge_labels):
    graph = random_graph(11, 0.3 if directed else 0.4, 3, directed, labels=labels, edge_labels=edge_labels)
    assert check(graph, 4, per)


@pytest.mark.parametrize(
    ("size", "directed", "names"), [(3, False, ["2-star", "triangle"]), *more((2, True, ["arc", "reciprocated pair"]))]
)
def test_columns_are_called_as_those_of_patterns_by_name(size, directed, names):
    graph = random_graph(12, 0.4, 1, directed)
    for per in ("node", "edge"):
        found, wanted = census_orbits(graph, size, per=per), pattern_features(graph, names, per=per)
        assert found.columns == wanted.columns
        np.testing.assert_array_equal(found.values, wanted.values)


@pytest.mark.parametrize("per", ["node", *more("edge")])
def test_devices_and_what_is_kept_change_nothing(per, tmp_path):
    graph = random_graph(12, 0.3, 1, True)
    alone = census_orbits(graph, 3, per=per)
    for options in ({"devices": 2}, {"checkpoint": tmp_path}, {"checkpoint": tmp_path}):
        found = census_orbits(graph, 3, per=per, **options)
        assert found.columns == alone.columns
        np.testing.assert_array_equal(found.values, alone.values)
    with pytest.raises(ValueError, match="other input"):
        census_orbits(random_graph(12, 0.3, 2, True), 3, per=per, checkpoint=tmp_path)


def test_orbits_of_orca_agree():
    graph = random_graph(12, 0.4, 1, False)
    found = census_orbits(graph, 4)
    orca = node_orbits(graph).values[:, 4:]
    assert sorted(found.values.T.tolist()) == sorted(np.asarray(orca)[:, np.asarray(orca).any(axis=0)].T.tolist())


def test_roles_of_a_class_by_its_name():
    loop = Graph.from_edges([(0, 1), (1, 2), (0, 2)], directed=True)
    assert role_table(loop, ["ffl"]) == role_table(loop, ["000100110"])


def test_nothing_and_bad_options():
    assert not any(map(len, role_table(Graph.from_edges([(0, 1)]), []).values()))
    edges = [(0, 1), (1, 2), (0, 2)]
    loop, labelled = (Graph.from_edges(edges, directed=True, edge_labels=labels) for labels in (None, [0, 1, 1]))
    for graph, classes, problem in (
        (loop, ["ffl", "0000000101011000"], "'0000000101011000' is not a connected class of 3 nodes"),
        (loop, ["003"], "not a connected class"),
        (labelled, ["ffl"], "edge labels are in the graph alone"),
        (loop, [".,.,.,.,.,1,0,.,."], "edge labels are in the class '.,.,.,.,.,1,0,.,.' alone"),
    ):
        with pytest.raises(ValueError, match=problem):
            role_table(graph, classes)
    empty = census_orbits(Graph.from_edges([], 5), 3)
    assert empty.values.shape == (5, 0)
    assert census_orbits(Graph.from_edges([(0, 1)], 3), 3, per="edge").values.shape == (1, 0)
    for options, message in (({"size": 1}, "size"), ({"size": 9}, "size"), ({"size": 3, "per": "graph"}, "per must")):
        with pytest.raises(ValueError, match=message):
            census_orbits(Graph.from_edges([(0, 1)], 3), **options)


def test_progress_is_shown_on_one_device_too(capsys, monkeypatch):
    monkeypatch.setattr(_progress, "PLAIN_SECONDS", 0.0)
    graph = random_graph(8, 0.5, 1, False)
    for shown in (True, False):
        census_orbits(graph, 3, devices=1, progress=shown)
        assert ("census" in capsys.readouterr().err) == shown
