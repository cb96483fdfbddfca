"""Occurrences of patterns against the census and against a look at every set of nodes."""

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest

from jaxmotif import Graph, occurrences, query, read_graph, subgraph_census, subnetwork
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


def loops_of(graph: Graph, induced: bool) -> list[tuple[int, int, int]]:
    """Return all feed-forward loops, by a look at every three nodes in every order."""
    arcs = set(map(tuple, graph.edge_list().tolist()))
    return [
        (x, y, z)
        for x, y, z in permutations(range(graph.n), 3)
        if {(x, y), (x, z), (y, z)} <= arcs and not (induced and {(y, x), (z, x), (z, y)} & arcs)
    ]


@pytest.mark.parametrize("induced", [True, False])
def test_the_subnetwork_is_what_a_look_at_every_three_nodes_finds(induced):
    graph = random_graph(14, 0.2, 8, True)
    names = [f"n{i}" for i in range(graph.n)]
    arcs = graph.edge_list().tolist()
    graph = Graph.from_edges(arcs, graph.n, True, [u % 3 for u in range(graph.n)], node_names=names)
    graph = graph.with_attributes({"size": range(graph.n)}, {"weight": [u + 2 * v for u, v in arcs]})
    loops = loops_of(graph, induced)
    part = subnetwork(graph, "ffl", induced=induced)
    assert len(loops) > 7
    roles = {role: Counter(row[i] for row in loops) for i, role in enumerate(("regulator", "intermediate", "target"))}
    nodes = sorted(set().union(*loops))
    assert part.node_names.tolist() == [names[u] for u in nodes]
    assert list(part.attributes.nodes) == ["size", *roles]
    for role, counts in roles.items():
        assert part.attributes.nodes[role].tolist() == [counts[u] for u in nodes]
    assert part.attributes.nodes["size"].tolist() == nodes
    assert np.asarray(part.node_labels)[: part.n].tolist() == [u % 3 for u in nodes]
    times = Counter(pair for x, y, z in loops for pair in ((x, y), (x, z), (y, z)))
    assert [(nodes[u], nodes[v]) for u, v in part.edge_list().tolist()] == sorted(times)
    assert part.attributes.edges["occurrences"].tolist() == [times[pair] for pair in sorted(times)]
    assert part.attributes.edges["weight"].tolist() == [u + 2 * v for u, v in sorted(times)]
    same = subnetwork(graph, query("A -> B; A -> C; B -> C" + "; B !> A; C !> A; C !> B" * induced), induced=False)
    assert [same.attributes.nodes[name].tolist() for name in "ABC"] == [
        part.attributes.nodes[role].tolist() for role in roles
    ]


def test_the_subnetwork_keeps_values_of_the_first_of_parallel_edges(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text("source,target,weight,sign\na,b,1.5,+\nb,c,0.5,-\na,c,2,+\nc,d,2,+\na,b,3,-\n")
    first = subnetwork(read_graph(path, directed=True, attributes=True), "ffl")
    assert first.attributes.edges["weight"].tolist() == [1.5, 2, 0.5]
    summed = subnetwork(read_graph(path, directed=True, attributes=True, weight="weight"), "ffl")
    assert summed.attributes.edges["weight"].tolist() == [4.5, 2, 0.5]
    assert summed.attributes.edges["sign"].tolist() == ["+", "+", "-"]


def test_the_subnetwork_of_a_pattern_without_directions_or_occurrences():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 3)])
    part = subnetwork(graph, "2-star")
    assert part.attributes.nodes["degree_1"].tolist() == [1, 1, 1, 1]
    assert part.attributes.nodes["degree_2"].tolist() == [0, 1, 1, 0]
    assert part.attributes.edges["occurrences"].tolist() == [1, 2, 1]
    assert subnetwork(graph, "edge").attributes.nodes["member"].tolist() == [1, 2, 2, 1]
    # Nodes that are alike share a column, whose name another node may have.
    star = Graph.from_edges([(0, 2), (1, 2), (2, 3)], directed=True)
    roles = subnetwork(star, query("X -> Z; Y -> Z; Z -> X_Y")).attributes.nodes
    assert {name: column.tolist() for name, column in roles.items()} == {
        "X_Y": [1, 1, 0, 0], "Z": [0, 0, 1, 0], "X_Y_": [0, 0, 0, 1],
    }  # fmt: skip
    none = subnetwork(graph, "triangle")
    assert (none.n, none.m, none.attributes.nodes["member"].tolist()) == (0, 0, [])
