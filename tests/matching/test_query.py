"""Queries with attributes, against all injective maps tested in Python by what the query says in words."""

import dataclasses
import itertools
import logging

import networkx as nx
import numpy as np
import pytest

import jaxmotif
from jaxmotif.graph import Graph
from jaxmotif.language import QueryError
from jaxmotif.matching import count_matches, count_queries, find_matches, has_match, occurrences, participation_counts
from jaxmotif.matching._bind import _marks
from jaxmotif.patterns import Pattern
from tests.matching.oracle import brute_force, random_graph

NODES = "abcdefgh"


def network(directed):
    """Nodes with a kind (one without), a size and tags; edges with a weight (some without) and a type."""
    rng = np.random.default_rng(5)
    graph = nx.DiGraph() if directed else nx.Graph()
    for number, name in enumerate(NODES):
        kind = {} if number == 4 else {"kind": ["KC", "MBON", "PN"][number % 3]}
        graph.add_node(name, size=int(rng.integers(1, 4)), tags=[["x"], ["x", "y"], []][number % 3], **kind)
    for u, v in itertools.permutations(NODES, 2):
        if rng.random() < (0.4 if directed else 0.25):
            weight = {} if rng.random() < 0.1 else {"weight": float(rng.integers(1, 40))}
            graph.add_edge(u, v, type=["excitatory", "inhibitory"][int(rng.integers(2))], length=float(v > u), **weight)
    return graph


CASES = {
    'A -> B; B -> C [type="inhibitory", weight > 20]; A !> C; A.kind = "KC"': lambda g, n, e, a, b, c: (
        e(a, b) and e(b, c) and e(b, c)["type"] == "inhibitory" and e(b, c).get("weight", 0) > 20 and not e(a, c)
        and n(a).get("kind") == "KC"
    ),
    "A -> B; B -> C; A !> C [weight > 9]; A !> C [length = 0]": (
        lambda g, n, e, a, b, c: e(a, b) and e(b, c) and not (
            e(a, c) and (e(a, c).get("weight", 0) > 9 or e(a, c)["length"] == 0)
        )
    ),
    "A -> B [weight >= 5, weight < 30]; B.size > A.size": lambda g, n, e, a, b: (
        e(a, b) and 5 <= e(a, b).get("weight", 0) < 30 and n(b)["size"] > n(a)["size"]
    ),
    "A -> B; B -> C; A.kind != C.kind; A.kind != PN": lambda g, n, e, a, b, c: (
        e(a, b) and e(b, c) and n(a).get("kind") != "PN" and n(a).get("kind") and n(c).get("kind")
        and n(a)["kind"] != n(c)["kind"]
    ),
    "A -> B as ab; B -> C as bc; ab.weight > bc.weight; A.tags contains y": lambda g, n, e, a, b, c: (
        e(a, b) and e(b, c) and e(a, b).get("weight", 0) > e(b, c).get("weight", 99) and "y" in n(a)["tags"]
    ),
    'A -> B; C -> B; A === C; A.kind in ["KC", "MBON"]': lambda g, n, e, a, b, c: (
        e(a, b) and e(c, b) and {n(a).get("kind"), n(c).get("kind")} <= {"KC", "MBON"}
    ),
    "A -> B; C -> B; A.size = C.size; A.id != h": lambda g, n, e, a, b, c: (
        e(a, b) and e(c, b) and n(a)["size"] == n(c)["size"] and a != "h"
    ),
    "A -> B as e; e.weight > e.length": lambda g, n, e, a, b: (
        e(a, b) and e(a, b).get("weight", -1) > e(a, b)["length"]
    ),
}  # fmt: skip
DIRECTED = {
    "A -> B as to; B -> A as back; to.weight > back.weight": lambda g, n, e, a, b: (
        e(a, b) and e(b, a) and e(a, b).get("weight", 0) > e(b, a).get("weight", 99)
    ),
    "A -> B; B !> A [weight > 10]; B -> C; C ~> B": lambda g, n, e, a, b, c: (
        e(a, b) and not (e(b, a) and e(b, a).get("weight", 0) > 10) and e(b, c) and not e(c, b)
    ),
    "A -> B; B -> A; A.size = B.size": lambda g, n, e, a, b: e(a, b) and e(b, a) and n(a)["size"] == n(b)["size"],
}


def answers(graph, fits):
    """The maps that a predicate accepts, by name."""

    def edge(u, v):
        return graph.edges[u, v] if graph.has_edge(u, v) else {}

    size = fits.__code__.co_argcount - 3
    maps = itertools.permutations(NODES, size)
    return sorted(row for row in maps if fits(graph, lambda v: graph.nodes[v], edge, *row))


@pytest.mark.parametrize("directed", [False, True])
def test_against_all_maps(directed):
    source = network(directed)
    graph = Graph.from_networkx(source, attributes=True)
    for text, fits in (CASES | DIRECTED if directed else CASES).items():
        expected, query = answers(source, fits), jaxmotif.query(text)
        assert expected, text
        assert count_matches(query, graph).count == len(expected), text
        found = jaxmotif.query(text, source)
        assert sorted(map(tuple, found.nodes.tolist())) == expected, text
        assert found.exact
        assert list(found.table()) == list(query.names)
        assert participation_counts(query, graph).sum() == len(expected) * query.num_nodes
    counts = [found.count for found in count_queries(map(jaxmotif.query, CASES), graph)]
    assert counts == [len(answers(source, fits)) for fits in CASES.values()]


def test_occurrences_are_of_what_can_be_exchanged():
    """Comparisons count too: between ends, which the search tests, and between others, tested on what it lists."""
    source = network(True)
    for text, exchanged in (
        ("A -> B; C -> B", [2, 1, 0]),
        ('A -> B; C -> B; A === C; A.kind in ["KC", "MBON"]', [2, 1, 0]),
        ("A -> B; C -> B; A.size = C.size; A.id != h", None),
        ("A -> B; C -> B; A.size = C.size", [2, 1, 0]),
        ("A -> B as x; C -> B as y; x.type = y.type", [2, 1, 0]),
        ("A -> B as x; C -> B as y; x.weight > y.weight", None),
        ("A -> B; B -> A; A.size = B.size", [1, 0]),
        ("A -> B; B -> A; A.size < B.size", None),
        ("A -> B; C -> B; A !> C; C !> A [weight > 10]", None),
    ):
        query, graph = jaxmotif.query(text), Graph.from_networkx(source, attributes=True)
        rows = sorted(map(tuple, find_matches(query, graph).nodes.tolist()))
        least = rows if exchanged is None else [row for row in rows if row <= tuple(row[i] for i in exchanged)]
        assert least
        assert count_matches(query, graph, per="occurrence").count == len(least), text
        listed = find_matches(query, graph, per="occurrence").nodes
        assert {min(tuple(row), tuple(row[i] for i in exchanged or range(len(row)))) for row in listed.tolist()} == {
            min(row, tuple(row[i] for i in exchanged or range(len(row)))) for row in rows
        }
        assert len(listed) == len(least)
    blocks = list(occurrences(source, jaxmotif.query("A -> B; C -> B; A.size = C.size"), induced=False))
    assert len(np.concatenate(blocks)) == int(
        count_matches(jaxmotif.query("A -> B; C -> B; A.size = C.size"), source, per="occurrence")
    )


def test_limits_and_devices():
    source = network(True)
    text = "A -> B; C -> B; A.size = C.size"
    assert len(jaxmotif.query(text, source, limit=3)) == 3
    assert has_match(jaxmotif.query(text), source)
    assert not has_match(jaxmotif.query(text + "; A.size > 90"), source)
    found = count_matches(jaxmotif.query(text), source)
    assert "compar" in found.notes[0]
    simple = jaxmotif.query("A -> B [weight > 3]; B -> C; A !> C")
    assert count_matches(simple, source, devices=2).count == count_matches(simple, source).count
    with pytest.raises(ValueError, match="without checkpoint"):
        count_matches(jaxmotif.query(text), source, checkpoint="nowhere")
    many = count_matches(simple, [source, source])
    assert np.asarray(many).reshape(-1).tolist() == [count_matches(simple, source).count] * 2


def test_checkpoints_are_of_one_query(tmp_path):
    source = network(True)
    simple, other = (jaxmotif.query(f"A -> B [weight > {least}]; B -> C; A !> C") for least in (3, 20))
    for _ in range(2):
        found = count_matches(simple, source, checkpoint=tmp_path / "kept")
        assert found.count == count_matches(simple, source).count
    with pytest.raises(ValueError, match="another"):
        count_matches(other, source, checkpoint=tmp_path / "kept")


def test_a_sink_is_for_another_function(tmp_path):
    with pytest.raises(ValueError, match="sink is for find_matches"):
        jaxmotif.query("A -> B", nx.DiGraph([(0, 1)]), sink=tmp_path / "a.csv")


def test_parallel_edges():
    """One of them has to fulfil all clauses; a comparison does not know which to take."""
    source = nx.MultiDiGraph()
    for u, v, weight in (("a", "b", 10), ("a", "b", 20), ("b", "c", 30), ("b", "c", 40), ("c", "c", 5)):
        source.add_edge(u, v, weight=weight)
    both = jaxmotif.query("A -> B [weight >= 15, weight < 19]")
    assert find_matches(both, source).nodes.tolist() == []
    assert find_matches(dataclasses.replace(both, parallel="each"), source).nodes.tolist() == [[0, 1]]
    assert jaxmotif.query("A -> B [weight >= 15, weight < 25]", source).nodes.tolist() == [["a", "b"]]
    found = jaxmotif.query("A -> B [weight > 20]", source)
    assert repr(found).startswith("QueryMatches(1 match of A, B, done")
    for clause, some, every in (("weight >= 15", 2, 1), ("weight < 15", 1, 0), ("weight <= 20", 1, 1)):
        of_any = jaxmotif.query(f"A -> B [{clause}]")
        assert len(find_matches(of_any, source)) == some
        assert len(find_matches(dataclasses.replace(of_any, parallel="all"), source)) == every
    with pytest.raises(QueryError, match="line 1, column 20 .*: edges of the target are parallel"):
        jaxmotif.query("A -> B as e;       e.weight > e.weight", source)
    source.add_edge("b", "a", weight=1)
    assert jaxmotif.query("B -> A; A !> B [weight >= 15, weight < 19]", source).nodes.tolist() == [
        ["a", "b"], ["b", "a"], ["b", "c"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "A -> B; A.knd = 3",
            "column 9 .*: the target has no node attribute 'knd': node attributes are 'size'",
        ),
        ("A -> B [wieght > 3]", "column 9 .*: the target has no edge attribute 'wieght'"),
        ("A -> B; B -> C; A.size > C.sise", "column 17 .*: the target has no node attribute 'sise'"),
        # Of several mistakes the first is named, whatever the seed of hashes.
        ("A -> B [zeta > 1, alpha > 2, mid = 3]", "column 9 .*: the target has no edge attribute 'zeta'"),
        ("A -> B; A.zeta > 1; A.alpha > 2; A.mid > 2", "column 9 .*: the target has no node attribute 'zeta'"),
        ("A -> B; A === B", "column 9 .*: A and B cannot be interchanged"),
        ('A -> B [weight > "x"]', "column 9 .*: attribute 'weight' holds numbers, and 'x' is none"),
        ("A -> B [weight != x]", "column 9 .*: attribute 'weight' holds numbers, and 'x' is none"),
        ("A -> B [weight in [1, x]]", "column 9 .*: attribute 'weight' holds numbers, and 'x' is none"),
        ("A -> B [weight contains 1]", "column 9 .*: attribute 'weight' holds numbers, of which 'contains' says noth"),
        ("A -> B; A.size > big", "column 9 .*: attribute 'size' holds numbers, and 'big' is none"),
        ("A -> B [type = 1]", "column 9 .*: attribute 'type' holds words; 1 is a number, and a word in quotes, '1'"),
        ("A -> B [type < 2.5]", "attribute 'type' holds words; 2.5 is a number"),
        ("A -> B as x; C -> B as y; x.weight > y.weight; A === C", "column 48 .*: A and C cannot be interchanged"),
    ],
)
def test_mistakes(text, problem):
    with pytest.raises(QueryError, match=problem):
        jaxmotif.query(text, network(True))


def test_what_a_target_lacks_is_said(caplog):
    plain = Graph.from_edges([(0, 1), (1, 2)])
    with pytest.raises(QueryError, match="read it with attributes=True"):
        count_matches(jaxmotif.query("A -> B; A.kind = KC"), plain)
    with caplog.at_level(logging.WARNING, "jaxmotif"):
        assert count_matches(jaxmotif.query("A -> B; B !> C"), plain).count == 2
    assert "undirected" in caplog.text
    with pytest.raises(QueryError, match="both wanted and forbidden"):
        count_matches(jaxmotif.query("A -> B; B !> A"), plain)
    with pytest.raises(ValueError, match=r"a query in words is jaxmotif.query\(...\)"):
        count_matches("A -> B", plain)
    with pytest.raises(ValueError, match="leave out what may be anything"):
        count_matches(jaxmotif.query("A -> B"), plain, wildcard=3)
    with pytest.raises(ValueError, match="the query has 1025 nodes; it must have 1 to 1024"):
        count_matches(jaxmotif.query("; ".join(f"A{i} -> A{i + 1}" for i in range(1024))), plain)
    with pytest.raises(ValueError, match="a query in words has no certificate"):
        count_matches(jaxmotif.query("A -> B"), plain, certify="none.json")
    labelled = Graph.from_edges([(0, 1), (1, 2)], node_labels=[7, 8, 7])
    assert count_matches(jaxmotif.query("A -> B; A.label = 7"), labelled).count == 2
    with pytest.raises(ValueError, match="expected 3 values, got 2"):
        plain.with_attributes({"kind": [1, 2]})


@pytest.mark.parametrize("directed", [True, False])
def test_labels_of_nodes_and_edges_are_attributes(directed):
    """By number, and by the word that a number stands for, if there is any."""
    edge = Pattern.from_edges([(0, 1)], directed=directed, node_labels=[2, 9], edge_labels=[1])
    for node, label in ((2, 1), ("two", "one")):
        host, target = random_graph(np.random.default_rng(3), 8, 0.6, directed, 3, 2)
        if node == "two":
            target = target._with_host_fields(None, None, {2: "two"}, {1: "one"})
        expected = brute_force(edge, host, False, 9, (edge.node_labels == 9)[:, None] | (host.node_labels == 2))
        query = jaxmotif.query(f"A -> B [label = {label}]; A.label = {node}")
        assert sorted(map(tuple, find_matches(query, target).nodes.tolist())) == expected != []


def test_several_labels_a_node():
    """A column of lists, of which query nodes ask for none, one or more, against brute force."""
    rng = np.random.default_rng(7)
    path = Pattern.from_edges([(0, 1), (1, 2)], directed=True)
    for _ in range(6):
        host, target = random_graph(rng, 8, 0.5, True, None, None)
        has, asks = rng.random((8, 3)) < 0.6, rng.random((3, 3)) < 0.5
        roles = [[word for word, there in zip("xyz", row, strict=True) if there] for row in has]
        clauses = [f"; {'ABC'[u]}.roles contains {'xyz'[i]}" for u, i in np.argwhere(asks).tolist()]
        query = jaxmotif.query("A -> B; B -> C" + "".join(clauses))
        allowed = (has[None] | ~asks[:, None]).all(axis=2)
        expected = len(brute_force(path, host, False, None, allowed))
        assert jaxmotif.count_matches(query, target.with_attributes(nodes={"roles": roles})).count == expected
        assert jaxmotif.count_matches(path, target, domains=allowed).count == expected


def test_more_conditions_on_edges_than_a_word_has_bits():
    masks = [np.arange(5) % 7 == number % 7 for number in range(40)]
    words = _marks(masks, 6)
    found = words[:, None] >> np.arange(32, dtype=np.uint32)[:, None] & 1
    np.testing.assert_array_equal(found.reshape(64, 6)[:40, :5], masks)
    assert not found.reshape(64, 6)[40:].any()
