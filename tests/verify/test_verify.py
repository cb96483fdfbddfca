"""Certificates: right ones are accepted and prove what they say, wrong and damaged ones are refused."""

import copy
import json
import math
import random
import re
import runpy
import shutil
import subprocess
import sys
import time
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph, verify
from jaxmotif.certificates import certify_census, certify_graphlets, certify_matches
from jaxmotif.cli import main
from jaxmotif.io import write_graph
from jaxmotif.patterns import Pattern, canonical_string, named_pattern
from jaxmotif.verify._algebra import count_at_root
from jaxmotif.verify._certificate import Beyond, Refused, check_form, seed_of
from jaxmotif.verify._counts import count_around, count_graphlets
from jaxmotif.verify._graph import canonical, plain_shape
from jaxmotif.verify._modular import P, digest, multiply, random_weights, row_weights, weighted_sums
from tests.more import more

FOLDER = Path(verify.__file__).parent
DOORS = {"edge": jaxmotif.edge_graphlets, "node": jaxmotif.node_orbits}


def plain(graph):
    """The graph as the checker takes it."""
    return verify.graph_from_edges(graph.edge_list(), graph.n, graph.directed, *graph._labels())


def random_graph(seed, directed=False, labels=False, nodes=14, edges=34):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, nodes, (edges, 2))
    rows = np.sort(rows, axis=1) if not directed else rows
    rows = np.unique(rows[rows[:, 0] != rows[:, 1]], axis=0)
    options = (
        {"node_labels": 5 * rng.integers(0, 2, nodes), "edge_labels": rng.integers(3, 5, len(rows))} if labels else {}
    )
    return jaxmotif.Graph.from_edges(rows, nodes, directed, **options)


@pytest.fixture(scope="module")
def karate():
    return jaxmotif.datasets.load("karate")


@pytest.fixture(scope="module")
def tables(karate):
    return {at: door(karate) for at, door in DOORS.items()}


def accepted(path, graph, answer=None, **options):
    report = verify.check(path, plain(graph), answer, **options)
    assert report.accepted, report.reason
    return report


@pytest.mark.parametrize("at", ["edge", "node"])
@pytest.mark.parametrize("induced", [True, False])
def test_tables_of_four_nodes_are_proved_as_a_whole(karate, at, induced, tmp_path):
    path = tmp_path / "c.json"
    result = DOORS[at](karate, induced=induced, certify=path)
    report = accepted(path, karate, result.values)
    assert f"each value of column {', '.join(result.columns)}" in report.checked
    assert path.stat().st_size < 100_000
    assert f"the counts of {', '.join(result.counts)}" in report.checked
    assert f"{len(result.values)} of {len(result.values)} rows" in str(report)


def test_counts_in_the_graph_are_proved_without_any_chance(karate, tmp_path):
    counts = jaxmotif.graphlet_counts(karate, certify=tmp_path / "c.json").counts
    report = accepted(tmp_path / "c.json", karate)
    assert report.checked[f"the counts of {', '.join(counts)}"] == "1"
    assert not report.open


@pytest.mark.parametrize("induced", [True, False])
@pytest.mark.parametrize(("nodes", "edges"), [(0, []), (2, []), (2, [(0, 1)]), (3, [(0, 1), (1, 2)]), (5, [])])
def test_tiny_graphs_have_certificates(nodes, edges, induced, tmp_path):
    graph = jaxmotif.Graph.from_edges(np.array(edges, int).reshape(-1, 2), nodes)
    for door in (jaxmotif.graphlet_counts, *DOORS.values()):
        counts = door(graph, induced=induced, certify=tmp_path / "c.json").counts
        assert f"the counts of {', '.join(counts)}" in accepted(tmp_path / "c.json", graph).checked


def late(*_):
    raise Beyond("the time was over")


@pytest.mark.parametrize("at", ["edge", *more("node")])
def test_five_nodes_are_recounted_where_there_is_time(at, tmp_path, monkeypatch):
    graph = random_graph(3)
    result = DOORS[at](graph, size=5, certify=tmp_path / "c.json")
    report = accepted(tmp_path / "c.json", graph, result.values)
    assert f"each value of column {', '.join(result.columns)}" in report.checked
    monkeypatch.setattr("jaxmotif.verify._check.count_around", late)
    hurried = accepted(tmp_path / "c.json", graph)
    number = len(result.values)
    assert f"{number} of {number} rows: the time was over" in hurried.open
    assert any(text.startswith("each value of column") for text in hurried.open)


@pytest.mark.parametrize(
    ("directed", "labels", "size"), [(False, False, 4), (True, False, 3), (True, True, 3), *more((False, True, 4))]
)
def test_censuses_are_recounted(directed, labels, size, tmp_path):
    graph = random_graph(5, directed, labels)
    census = jaxmotif.subgraph_census(graph, size, certify=tmp_path / "c.json")
    assert census.per_node is None
    report = accepted(tmp_path / "c.json", graph)
    assert report.checked[f"the counts of {', '.join(census.classes)}"] == "1"
    has = {True: "with", False: "without"}
    meaning = f"{has[directed]} directions, {has[labels]} labels of nodes, {has[labels]} labels of edges"
    assert report.names["a copy"] == f"induced, {meaning}"


@pytest.mark.parametrize(
    ("query", "directed", "induced", "per"),
    [
        ("bull", False, False, "map"),
        ("4-cycle", False, True, "occurrence"),
        ("ffl", True, False, "map"),
        *more(("021C", True, True, "map"), ("4-star", False, False, "occurrence")),
    ],
)
def test_matches_are_counted_again_by_algebra(query, directed, induced, per, tmp_path):
    graph = random_graph(7, directed)
    count = jaxmotif.count_matches(query, graph, induced, per=per, certify=tmp_path / "c.json").count
    report = accepted(tmp_path / "c.json", graph)
    (shape,) = json.loads((tmp_path / "c.json").read_text())["claim"]["shapes"]
    maps, size = shape["total"], len(shape["matrix"])
    assert count
    assert report.checked[f"the number of maps, {maps}"] == "1"
    meaning = ("induced" if induced else "induced or not"), ("with directions" if directed else "without directions")
    assert report.names["a map"] == f"{', '.join(meaning)}, without labels of nodes, without labels of edges"
    assert report.checked[f"how many maps send the first 1 of {size} query nodes where"] == "1 - 1 / 2^60"
    found = jaxmotif.find_matches(query, graph, induced, certify=tmp_path / "l.json")
    assert (
        len(found)
        == maps
        == count * (1 if per == "map" else jaxmotif.count_matches(query, graph, induced).count // count)
    )
    outside, halves = (found.nodes.astype(kind) for kind in (int, float))
    outside[outside == 6] = -1
    for wrong in (outside, halves + 0.5, found.nodes[:, :-1], found.nodes[0]):
        assert not verify.check(tmp_path / "l.json", plain(graph), wrong).accepted
    listed = accepted(tmp_path / "l.json", graph, found.nodes[::-1]).checked
    assert {
        f"how many maps send the first {size} of {size} query nodes where",
        "the list that you have, with weights that nobody could foresee",
    } <= listed.keys()
    wrong = found.nodes.copy()
    wrong[0] = wrong[-1]
    assert "is not that of the list that you have" in verify.check(tmp_path / "l.json", plain(graph), wrong).reason
    assert (
        "is not that of the list that you have"
        in verify.check(tmp_path / "l.json", plain(graph), found.nodes[1:]).reason
    )


def test_labels_and_wildcards_of_queries_count(tmp_path):
    graph = random_graph(9, labels=True)
    query = jaxmotif.Graph.from_edges([(0, 1), (1, 2)], node_labels=[5, 9, 0], edge_labels=[3, 4])
    count = jaxmotif.count_matches(query, graph, wildcard=9, certify=tmp_path / "c.json").count
    report = accepted(tmp_path / "c.json", graph)
    assert f"the number of maps, {count}" in report.checked
    other = jaxmotif.Graph.from_edges(
        graph.edge_list(), graph.n, node_labels=graph._labels()[0], edge_labels=[3] * graph.m
    )
    assert "another graph" in verify.check(tmp_path / "c.json", plain(other)).reason


def test_matches_that_are_a_part_have_no_certificate(karate, tmp_path):
    path = tmp_path / "c.json"
    for options in ({"time_limit": 5.0}, {"domains": {0: [1]}}):
        with pytest.raises(ValueError, match=f"leave {next(iter(options))} out"):
            jaxmotif.count_matches("triangle", karate, certify=path, **options)
    with pytest.raises(ValueError, match="leave a limit of matches"):
        jaxmotif.find_matches("triangle", karate, limit=3, certify=path)
    with pytest.raises(ValueError, match='leave per="occurrence" out'):
        jaxmotif.find_matches("triangle", karate, per="occurrence", certify=path)
    with pytest.raises(ValueError, match="leave sink out"):
        jaxmotif.find_matches("triangle", karate, sink=tmp_path / "maps.csv", certify=path)
    with pytest.raises(ValueError, match="typed=True has no certificate"):
        jaxmotif.edge_graphlets(random_graph(1, True), typed=True, certify=path)
    with pytest.raises(ValueError, match="they take no certify"):
        jaxmotif.graphlet_counts([[(0, 1)], [(1, 2)]], certify=path)
    assert not path.exists()


MUTANT = {
    "4-cycle": 1,
    "4-path-middle": -1,
    "4-path-end": -2,
    "4-node-2-star": 2,
    "4-node-2-edge": 1,
    "4-node-1-edge": -1,
}
"""What an engine does at an edge that sees one 4-cycle too many, and has all of its equations right."""


def mutated(table, columns, rng, pairs=1):
    """A table of an engine that sees 4-cycles at wrong edges, as many as there are."""
    table, change = table.copy(), np.array([MUTANT.get(name, 0) for name in columns])
    possible = np.flatnonzero((table + change >= 0).all(axis=1) & (table - change >= 0).all(axis=1)).tolist()
    rows = rng.sample(possible, 2 * pairs)
    table[rows[:pairs]] += change
    table[rows[pairs:]] -= change
    return table


def planted(result, number):
    """A table with an error, and counts in the graph."""
    rng, table, counts = random.Random(number), result.values.copy(), dict(result.counts)
    rows, columns = table.shape
    kind = ("cell", "pair", "exchange", "total", "mix-up", "mutant")[number % 6]
    if kind == "cell":  # one wrong value
        table[rng.randrange(rows), rng.randrange(columns)] += rng.choice([1, 2, 1000])
    elif kind == "pair":  # two that add up to the right sum
        column = rng.choice([c for c in range(columns) if table[:, c].max() > 0])
        one = rng.choice(np.flatnonzero(table[:, column]).tolist())
        table[one, column] -= 1
        table[(one + 1 + rng.randrange(rows - 1)) % rows, column] += 1
    elif kind == "exchange":
        one, other = rng.choice([(i, j) for i in range(rows) for j in range(i) if (table[i] != table[j]).any()])
        table[[one, other]] = table[[other, one]]
    elif kind == "total":
        counts[rng.choice(list(counts))] += rng.choice([1, 7])
    elif kind == "mix-up" or "4-cycle" not in result.columns:  # of two columns
        differ = [(i, j) for i in range(columns) for j in range(i) if (table[:, i] != table[:, j]).any()]
        one, other = rng.choice(differ)
        table[:, [one, other]] = table[:, [other, one]]
    else:
        table = mutated(table, result.columns, rng)
    return table, counts


@pytest.mark.parametrize("at", ["edge", "node"])
def test_planted_errors_are_refused(karate, tables, at, tmp_path):
    for number in range(60):
        table, counts = planted(tables[at], number)
        certify_graphlets(tmp_path / "c.json", karate, at, counts, True, tables[at].columns, table)
        certificate = json.loads((tmp_path / "c.json").read_text())
        certificate["witnesses"] = []  # no luck is needed
        assert not verify.check(certificate, plain(karate)).accepted, number


@pytest.mark.parametrize(("pairs", "least", "most"), [(4, 18, 20), (1, 7, 19)])
def test_witnesses_alone_find_as_many_wrong_tables_as_they_promise(
    pairs, least, most, karate, tables, tmp_path, monkeypatch
):
    """Triangles and cycles are beyond the checker's limits: 40 draws miss 8 (2) wrong rows of 78 in 1 (36) of 100."""
    monkeypatch.setattr("jaxmotif.verify._counts.MOST_STEPS", 1)
    monkeypatch.setattr("jaxmotif.certificates._write.WHOLE", 1)
    monkeypatch.setattr("jaxmotif.certificates._write.WITNESSES", 40)
    result, refused = tables["edge"], 0
    for seed in range(20):
        table = mutated(result.values, result.columns, random.Random(seed), pairs)
        certify_graphlets(tmp_path / "c.json", karate, "edge", result.counts, True, result.columns, table)
        report = verify.check(tmp_path / "c.json", plain(karate))
        assert report.accepted or "row" in report.reason
        assert any(text.startswith("each value of column") for text in report.open) == report.accepted
        refused += not report.accepted
    assert least <= refused <= most


def test_the_answer_that_is_given_is_compared(karate, tables, tmp_path):
    result, path = tables["node"], tmp_path / "c.json"
    certify_graphlets(path, karate, "node", result.counts, True, result.columns, result.values)
    assert "your table is the one of the certificate, by its SHA-256" in accepted(path, karate, result.values).checked
    accepted(path, karate, result.values.astype(object))
    for wrong, reason in ((result.values[::-1], "is not the table"), (result.values[1:], "another shape")):
        assert reason in verify.check(path, plain(karate), wrong).reason
    # Whoever writes the certificate can make up the hash, but not weights that the checker draws.
    swapped = result.values[::-1]
    certificate = json.loads(path.read_text())
    certificate["claim"]["sha256"] = digest(swapped)
    assert not verify.check(certificate, plain(karate), swapped).accepted


def adapted(certificate, table):
    """A certificate whose claim or table was changed, with the hash and the sums that belong to them."""
    certificate["claim"]["sha256"] = digest(table)
    weights = row_weights(seed_of(certificate), len(table))
    return certificate | {"fingerprints": weighted_sums(weights, table)}


def test_multiples_of_the_prime_are_seen_in_whole_numbers(karate, tables, tmp_path):
    result, path = tables["edge"], tmp_path / "c.json"
    certify_graphlets(path, karate, "edge", result.counts, True, result.columns, result.values)
    certificate = json.loads(path.read_text()) | {"witnesses": []}
    columns = f"each value of column {', '.join(result.columns)}"
    wrong = result.values.astype(object)
    for table, chance in ((result.values, "1"), (None, "1 - 2^-59, but for multiples of 2^61 - 1")):
        assert verify.check(certificate, plain(karate), table).checked[columns] == chance
    wrong[5, 3] += P
    report = verify.check(adapted(certificate, wrong), plain(karate), wrong)
    assert report.reason == f"column {result.columns[3]} is another one"
    graph = random_graph(5, directed=True)
    census = jaxmotif.subgraph_census(graph, 3, per_node=True, certify=path)
    certificate = json.loads(path.read_text())
    certificate["claim"]["shapes"][0]["total"] += P
    certificate["claim"]["columns"][0]["total"] += 3 * P
    report = verify.check(adapted(certificate, census.per_node), plain(graph))
    assert report.reason == f"column {census.classes[0]} is another one"


def test_numbers_of_maps_beyond_the_prime_are_proved_but_for_its_multiples(tmp_path):
    clique = jaxmotif.Graph.from_edges([(u, v) for v in range(6) for u in range(v)])
    graph = jaxmotif.Graph.from_edges(clique.edge_list(), 1200)  # 1200^6 > 2^61
    certify_matches(tmp_path / "c.json", graph, named_pattern("6-clique", False), None, False, 720)
    assert accepted(tmp_path / "c.json", graph).checked == {
        "the number of maps, 720": "1, but for multiples of 2^61 - 1"
    }


@pytest.mark.parametrize("witnesses", [77, 78, 79])
def test_tables_are_shown_whole_where_that_takes_no_more_rows(witnesses, karate, tables, tmp_path, monkeypatch):
    monkeypatch.setattr("jaxmotif.certificates._write.WHOLE", 1)
    monkeypatch.setattr("jaxmotif.certificates._write.WITNESSES", witnesses)
    result, path = tables["edge"], tmp_path / "c.json"
    certify_graphlets(path, karate, "edge", result.counts, True, result.columns, result.values)
    shown = json.loads(path.read_text())["witnesses"]
    assert len(shown) == min(witnesses, 78)
    assert (shown == result.values.tolist()) == (witnesses >= 78)
    accepted(path, karate, result.values)


def test_a_certificate_that_nobody_could_read_is_not_written(karate, tmp_path, monkeypatch):
    path = tmp_path / "c.json"
    jaxmotif.graphlet_counts(karate, certify=path)
    size = path.stat().st_size
    monkeypatch.setattr("jaxmotif.certificates._write.LARGEST_FILE", size)
    jaxmotif.graphlet_counts(karate, certify=path)
    path.unlink()
    monkeypatch.setattr("jaxmotif.certificates._write.LARGEST_FILE", size - 1)
    with pytest.raises(ValueError, match=f"c.json: .* {size} bytes, and the checker reads {size - 1} at most"):
        jaxmotif.graphlet_counts(karate, certify=path)
    assert not path.exists()


EVERY_DOOR = [*DOORS.values(), jaxmotif.subgraph_census, jaxmotif.count_matches, jaxmotif.find_matches]


@pytest.mark.parametrize("says", ["is a directory: '{}'", "No such file or directory: '{}/none/c.json'"])
@pytest.mark.parametrize("door", EVERY_DOOR)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(karate, door, says, tmp_path):
    work = (karate, 3) if door is jaxmotif.subgraph_census else (karate,)
    if door in (jaxmotif.count_matches, jaxmotif.find_matches):
        work = "triangle", karate
    path = tmp_path / "none" / "c.json" if "none" in says else tmp_path
    with pytest.raises(OSError, match=re.escape(says.format(tmp_path))):
        door(*work, certify=path, devices="none")  # which are looked at before any work


def test_wrong_censuses_and_matches_are_refused(tmp_path):
    graph, path = random_graph(5, directed=True), tmp_path / "c.json"
    census = jaxmotif.subgraph_census(graph, 3, per_node=True)
    for number in range(len(census.counts)):
        counts, per_node = census.counts.copy(), census.per_node.copy()
        counts[number] += 1
        certify_census(path, graph, census.classes, counts, per_node)
        assert "the sum of a column" in verify.check(path, plain(graph)).reason
        one = per_node[:, number].argmax()
        per_node[[one, one - 1], number] += [-1, 1]
        certify_census(path, graph, census.classes, census.counts, per_node)
        assert not verify.check(path, plain(graph)).accepted
    keep = np.arange(1, len(census.counts))  # a class that is left out
    certify_census(path, graph, [census.classes[i] for i in keep], census.counts[keep], census.per_node[:, keep])
    assert "no column" in verify.check(path, plain(graph)).reason
    query = named_pattern("ffl", True)
    maps = jaxmotif.find_matches(query, graph).nodes
    for wrong in (maps[1:], np.concatenate([maps[:-1], maps[:1]]), maps[:, ::-1]):
        certify_matches(path, graph, query, None, False, len(wrong), maps=wrong)
        assert not verify.check(path, plain(graph)).accepted
    column = np.bincount(maps[:, 1], minlength=graph.n)
    for wrong in (column, np.roll(column, 1), column * 2):
        certify_matches(path, graph, query, None, False, len(maps), (1, wrong))
        assert verify.check(path, plain(graph)).accepted == (wrong is column)
    certify_matches(
        path, graph, query, None, False, len(maps), maps=maps[np.random.default_rng(0).permutation(len(maps))]
    )
    accepted(path, graph)


@pytest.fixture(scope="module")
def small_certificate(tmp_path_factory):
    graph, path = random_graph(11), tmp_path_factory.mktemp("certificates") / "c.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jaxmotif.certificates._write.WHOLE", 1)
        patch.setattr("jaxmotif.certificates._write.WITNESSES", 3)
        jaxmotif.edge_graphlets(graph, certify=path)
    certificate = json.loads(path.read_text())
    assert verify.check(certificate, plain(graph)).accepted
    return graph, certificate


def damaged(certificate, rng):
    """A certificate as bytes in which something has been changed."""
    if rng.random() < 0.5:
        text = bytearray(json.dumps(certificate).encode())
        for _ in range(rng.choice([1, 1, 3, 30])):
            place = rng.randrange(len(text))
            text[place : place + rng.choice([0, 1, 1, 50])] = bytes(
                rng.randrange(256) for _ in range(rng.choice([0, 1, 4]))
            )
        return bytes(text)
    changed = copy.deepcopy(certificate)
    spots = []

    def visit(value):
        for key in value if isinstance(value, dict) else range(len(value)):
            spots.append((value, key))
            if isinstance(value[key], dict | list):
                visit(value[key])

    visit(changed)
    for _ in range(rng.choice([1, 1, 5])):
        holder, key = rng.choice(spots)
        values = [None, -1, 0, 1, 2**63, 10**70, 10**100, 1.5, True, "", "x" * 300, "\x1b[2J", [], [[]], {}, [0] * 999]
        if key in holder if isinstance(holder, dict) else key < len(holder):
            holder[key] = rng.choice([*values, copy.deepcopy(rng.choice(spots)[0])])
    return json.dumps(changed).encode()


@pytest.mark.parametrize("number_of_files", [300, *more(2000)])
def test_damaged_certificates_are_refused_at_once(number_of_files, small_certificate, tmp_path):
    graph, certificate = small_certificate
    simple, path, rng, slowest = plain(graph), tmp_path / "c.json", random.Random(number_of_files), 0.0
    for number in range(number_of_files):
        path.write_bytes(content := damaged(certificate, rng))
        started = time.process_time()
        report = verify.check(path, simple)
        slowest = max(slowest, time.process_time() - started)
        if report.accepted:  # what is left is the same, or has fewer witnesses and thereby says less
            left = json.loads(content)
            assert left["witnesses"] == certificate["witnesses"][: len(left["witnesses"])], number
            assert {**left, "witnesses": 0} == {**certificate, "witnesses": 0}, number
        assert "\x1b" not in str(report)
    assert slowest < 5


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no JSON"),
        (b"\x80\x04\x95 a pickle", "no JSON"),
        (b"PK\x03\x04", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"format":' + b"9" * 1_000_000 + b"}", "no JSON"),
        (b'{"a":1,"a":2}', "the format is None; this checker reads 'jaxmotif certificate 4'"),
        (b'{"a":NaN}', "the format is None"),
        (b"[7]", r"the format is \[7\]"),
        (b" " * (2**23 + 1), "larger than 8388608 bytes"),
    ],
)
def test_hostile_files_are_refused(content, reason, karate, tmp_path):
    (tmp_path / "c.json").write_bytes(content)
    report = verify.check(tmp_path / "c.json", plain(karate))
    assert not report.accepted
    assert re.search(reason, report.reason)


def test_files_of_another_format_are_refused_by_its_name(small_certificate):
    graph, certificate = small_certificate
    for other in ({**certificate, "format": "jaxmotif certificate 3"}, {"format": "jaxmotif certificate 3"}):
        report = verify.check(other, plain(graph))
        assert report.reason == "the format is 'jaxmotif certificate 3'; this checker reads 'jaxmotif certificate 4'"


@pytest.mark.parametrize("order", [[], [0], [0, 1, 1], [0, 1, 3], [0, 1, 2, 3]])
def test_an_order_that_leaves_nodes_of_a_query_out_is_refused(order, karate, tmp_path):
    """It would count the maps of another query."""
    jaxmotif.count_matches("triangle", karate, certify=tmp_path / "c.json")
    certificate = json.loads((tmp_path / "c.json").read_text())
    certificate["claim"]["order"] = order
    assert "the order is none of the nodes of a query" in verify.check(certificate, plain(karate)).reason


@pytest.mark.parametrize(
    ("places", "number", "reason"),
    [
        ([(0, 1), (1, 0)], -9, "a shape has a label of another graph"),
        ([(0, 1), (1, 0)], 2, "a shape has a label of another graph"),
        ([(0, 0)], 1, "a shape has a label of another graph"),
        ([(0, 1)], 0, "a shape has directions"),
    ],
)
def test_one_number_of_a_shape_that_no_pair_or_node_has(karate, tmp_path, places, number, reason):
    jaxmotif.count_matches("triangle", karate, certify=tmp_path / "c.json")
    certificate = json.loads((tmp_path / "c.json").read_text())
    for u, v in places:
        certificate["claim"]["shapes"][0]["matrix"][u][v] = number
    assert verify.check(certificate, plain(karate)).reason == reason


@pytest.mark.parametrize(
    ("fits", "wrong"),
    [(1 - 2**256, -(2**256)), (2**256 - 1, 2**256), (0, True), (1, 1.0), ("x" * 2**12, "x" * 2**12 + "x"), ("", "\n")],
)
def test_values_of_a_certificate_have_a_form(fits, wrong, small_certificate):
    graph, certificate = small_certificate
    check_form([fits], [type(fits)])
    with pytest.raises(Refused, match="the file is no certificate: a list is not as it should be"):
        check_form([wrong], [type(fits)], "a list")
    more_keys = verify.check({**certificate, "more": 1}, plain(graph))
    assert more_keys.reason == "the file is no certificate: certificate is not as it should be"


def test_queries_beyond_the_limits_are_refused_in_time(karate, tmp_path):
    """A clique and one that lacks some edges, of many nodes; and as many nodes as there may be, none joined."""
    jaxmotif.count_matches("triangle", karate, certify=tmp_path / "c.json")
    certificate = json.loads((tmp_path / "c.json").read_text())
    for size, modulus in ((200, 10**6), (300, 7), (17, 1), (16, 1)):
        matrix = [[int(u != v and (u + v) % modulus != 0) for v in range(size)] for u in range(size)]
        certificate["claim"]["shapes"] = [{"name": "large", "roots": 1, "matrix": matrix, "total": 1}]
        certificate["claim"]["order"] = list(range(size))
        started = time.process_time()
        report = verify.check(certificate, plain(karate))
        assert re.search("of at most 16" if size > 16 else "too many pairs", report.reason)
        assert time.process_time() - started < 3


def test_numbers_of_maps_have_no_columns(karate, tmp_path):
    jaxmotif.count_matches("triangle", karate, certify=tmp_path / "c.json")
    certificate = json.loads((tmp_path / "c.json").read_text())
    certificate["claim"]["columns"] = certificate["claim"]["shapes"]
    assert not verify.check(certificate, plain(karate)).accepted


def test_shapes_beyond_the_limits_are_refused_in_time(small_certificate):
    graph, certificate = small_certificate
    large = {"name": "large", "roots": 0, "matrix": [[0] * 9 for _ in range(9)], "total": 0}
    changed = copy.deepcopy(certificate)
    changed["claim"]["shapes"].append(large)
    assert "more than 8 nodes" in verify.check(changed, plain(graph)).reason
    above = np.triu(np.random.default_rng(0).integers(0, 2, (100, 8, 8)), 1)
    matrices = (above + above.swapaxes(1, 2)).tolist()
    changed["claim"]["shapes"] = [
        {"name": str(i), "roots": 0, "matrix": matrix, "total": 0} for i, matrix in enumerate(matrices)
    ]
    started = time.process_time()
    assert verify.check(changed, plain(graph), seconds=0.2).reason == "the time was over"
    assert time.process_time() - started < 2


def test_counts_end_at_their_deadline(karate, small_certificate):
    for count in (partial(count_graphlets, plain(karate), True), partial(count_around, plain(karate), [0], {2}, False)):
        assert count(np.inf)
        with pytest.raises(Beyond, match="the time was over"):
            count(0.0)
    graph, certificate = small_certificate
    assert verify.check(certificate, plain(graph), seconds=0).reason == "the time was over"


def test_a_hub_whose_neighbours_take_several_words(monkeypatch):
    """A wheel of n spokes has n triangles, 4-cycles and pairs of triangles at an edge; and a limit is just met."""
    spokes = 130
    edges = [(0, i) for i in range(1, spokes + 1)] + [(i, i % spokes + 1) for i in range(1, spokes + 1)]
    wheel = verify.graph_from_edges(edges)
    cubes = spokes**3 + spokes * 3**3
    monkeypatch.setattr("jaxmotif.verify._counts.MOST_STEPS", cubes)
    counts = count_graphlets(wheel, False, np.inf)
    for shape in ("01 02 12", "01 12 23 30", "01 02 03 12 13"):
        assert counts[canonical(plain_shape(shape, "0123"[: 1 + int(max(shape))], 0), False)] == spokes
    assert counts[canonical(plain_shape("01 02 03 12 13 23", "0123", 0), False)] == 0
    monkeypatch.setattr("jaxmotif.verify._counts.MOST_STEPS", cubes - 1)
    with pytest.raises(Beyond, match="the degrees are too high"):
        count_graphlets(wheel, False, np.inf)


@pytest.mark.parametrize(("labels", "at"), [(234, "nodes"), (235, "nodes"), (14, "edges"), (15, "edges")])
def test_codes_of_sets_of_nodes_have_63_bits(labels, at):
    """Of eight nodes, in digits of as many labels, or of both directions of a pair: 235^8 and 16^16 are too many."""
    if at == "nodes":  # all different, and an edge between the first one and the last one
        graph = verify.graph_from_edges([(0, labels - 1)], labels, node_labels=np.arange(labels))
        shape = ((0, 1), (1, labels - 1))
    else:  # edges apart
        rows = np.arange(2 * labels).reshape(-1, 2)[::-1]
        graph = verify.graph_from_edges(rows, edge_labels=np.arange(labels))
        shape = ((0, labels), (labels, 0))
    around = partial(count_around, graph, [0], {2, 8}, False, np.inf)
    if labels in (234, 14):
        assert around() == {canonical((0, shape), False): 1}
    else:
        with pytest.raises(Beyond, match="subgraphs with so many labels are not listed"):
            around()


BLOCK = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ImportError(name + " is blocked")
sys.meta_path.insert(0, Block())
import runpy
sys.argv = ["verify", *{arguments!r}]
runpy.run_module({module!r}, run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("alone", [True, False])
def test_the_folder_runs_alone_and_without_jax(alone, karate, tables, tmp_path):
    certify_graphlets(
        tmp_path / "c.json", karate, "edge", tables["edge"].counts, True, tables["edge"].columns, tables["edge"].values
    )
    edges = karate.edge_list()
    (tmp_path / "karate.edges").write_text("# rows\n" + "".join(f"{u} {v}\n" for v, u in edges[::-1].tolist()))
    blocked, module = {"jax", "jaxlib", "chex", "scipy", "numba"}, "jaxmotif.verify"
    if alone:
        shutil.copytree(FOLDER, tmp_path / "verify", ignore=shutil.ignore_patterns("__pycache__"))
        blocked, module = blocked | {"jaxmotif"}, "verify"

    def run(certificate):
        code = BLOCK.format(blocked=blocked, module=module, arguments=[certificate, "karate.edges"])
        folder = tmp_path if alone else Path(__file__).parents[2]
        arguments = [str(tmp_path / certificate), str(tmp_path / "karate.edges")]
        code = BLOCK.format(blocked=blocked, module=module, arguments=arguments)
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)

    done = run("c.json")
    assert done.returncode == 0, done.stderr
    assert "each value of column 2-star" in done.stdout
    assert done.stdout.endswith("accepted\n")
    certificate = json.loads((tmp_path / "c.json").read_text())
    certificate["claim"]["shapes"][2]["total"] += 1
    (tmp_path / "wrong.json").write_text(json.dumps(certificate))
    done = run("wrong.json")
    assert (done.returncode, done.stdout[:8]) == (1, "refused:")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (("1,2\n",), "could not convert string '1,2'"),
        (("a b\n",), "could not convert string 'a'"),
        (("1\n",), "invalid column index 1"),
        ((None,), "edges not found"),
        ((), "The checker as a command for edge lists"),
        (("1 2\n", "1 2\n"), "The checker as a command for edge lists"),
        (("1 2\n",), "No such file or directory: .*certificate"),
    ],
)
def test_the_command_of_the_folder_says_what_it_takes(edges, message, tmp_path, monkeypatch):
    """``None`` stands for a file that is missing."""
    for number, text in enumerate(edges):
        if text is not None:
            (tmp_path / f"{number}.edges").write_text(text)
    paths = [str(tmp_path / f"{number}.edges") for number in range(len(edges))]
    monkeypatch.setattr(sys, "argv", ["verify", str(tmp_path / "certificate"), *paths])
    monkeypatch.delitem(sys.modules, "jaxmotif.verify.__main__", raising=False)  # which its own examples have imported
    with pytest.raises(SystemExit, match=message) as stop:
        runpy.run_module("jaxmotif.verify", run_name="__main__")
    assert "whole numbers between blanks; `jaxmotif verify` reads other formats" in str(stop.value.code)


@pytest.mark.parametrize("name", ["a,b", "a#b", 'a"b'])
def test_a_table_with_any_names_is_read(name, tmp_path, capsys):
    graph, path, table = (str(tmp_path / file) for file in ("g.graphml", "c.json", "t.csv"))
    write_graph(Graph.from_edges([(0, 1), (1, 2), (2, 0)], node_names=[name, "c", "d"]), graph)
    assert main(["graphlets", graph, "--per", "node", "-o", table, "--certificate", path, "--quiet"]) == 0
    assert main(["verify", path, graph, "--answer", table]) == 0
    assert "your table is the one of the certificate" in capsys.readouterr().out
    Path(table).write_text("node,edge\nc,many\n")
    assert main(["verify", path, graph, "--answer", table]) == 1
    assert f"{table}: expected a table of counts" in capsys.readouterr().err
    query = str(tmp_path / "q.graphml")  # its nodes are called as the first columns of other tables
    write_graph(Graph.from_edges([(0, 1), (1, 2)], node_names=["u", "v", "node"]), query)
    assert main(["match", query, graph, "--limit", "all", "-o", table, "--certificate", path, "--quiet"]) == 0
    assert main(["verify", path, graph, "--answer", table]) == 0
    assert "the list that you have" in capsys.readouterr().out
    Path(table).write_text("u,v,node\nc,d,2\n")
    assert main(["verify", path, graph, "--answer", table]) == 1
    assert "the answer names nodes that the graph does not have" in capsys.readouterr().err


def test_commands_write_and_verify_certificates(tmp_path, capsys):
    path, table = str(tmp_path / "c.json"), str(tmp_path / "table.csv")
    assert main(["graphlets", "karate", "--per", "edge", "-o", table, "--certificate", path, "--quiet"]) == 0
    assert main(["verify", path, "karate", "--answer", table]) == 0
    assert "your table is the one of the certificate" in capsys.readouterr().out
    assert main(["verify", path, "florentine"]) == 1
    assert "refused: the certificate is of another graph" in capsys.readouterr().err
    assert main(["match", "triangle", "karate", "--certificate", path, "--quiet"]) == 0
    assert main(["verify", path, "karate"]) == 0
    assert "the number of maps, 270" in capsys.readouterr().out
    assert main(["census", "karate", "-o", table, "--certificate", path, "--quiet"]) == 0
    assert main(["verify", path, "karate"]) == 0
    assert main(["verify", path, "karate", "--answer", table]) == 1
    assert "counts in the whole graph, as of a census, need no table" in capsys.readouterr().err


def brute_force(edges, arcs, size, nodes, weights, induced, directed):
    """Weighted numbers of maps by the image of the first node, modulo P."""
    has = {(u, v) for u, v in edges} | (set() if directed else {(v, u) for u, v in edges})
    totals = [0] * nodes
    for image in permutations(range(nodes), size):
        present = {(u, v) for u in range(size) for v in range(size) if (image[u], image[v]) in has}
        if arcs <= present and (not induced or arcs == present):
            product = 1
            for u, weight in enumerate(weights or ()):
                product *= int(weight[image[u]])
            totals[image[0]] += product
    return [total % P for total in totals]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("induced", [False, True])
def test_sums_by_algebra_equal_those_over_all_maps(directed, induced):
    graph, rng = plain(random_graph(2, directed, nodes=7, edges=16)), np.random.default_rng(0)
    for size in (1, 2, 3, 4):
        for trial in range(3):
            arcs = {
                (u, v)
                for u in range(size)
                for v in range(size)
                if u != v and rng.random() < 0.5 and (directed or u < v)
            }
            arcs |= set() if directed else {(v, u) for u, v in arcs}
            matrix = [[int((u, v) in arcs) for v in range(size)] for u in range(size)]
            weights = [random_weights(b"", str(u), graph.nodes) for u in range(size)] if trial else None
            shape, order = {"roots": 1, "matrix": matrix}, rng.permutation(size).tolist()
            found = count_at_root(shape, order, graph, induced, np.inf, weights or [])
            expected = brute_force(graph.edges.tolist(), arcs, size, graph.nodes, weights, induced, directed)
            assert found.tolist() == expected


def test_algebra_beyond_the_limits_is_left_out(karate, tmp_path, monkeypatch):
    jaxmotif.count_matches("4-cycle", karate, certify=tmp_path / "c.json")
    monkeypatch.setattr("jaxmotif.verify._algebra.MOST_ROWS", 100)
    report = verify.check(tmp_path / "c.json", plain(karate))
    assert not report.accepted
    assert report.reason == "the query needs a table of too many rows"
    monkeypatch.setattr("jaxmotif.verify._algebra.MOST_TERMS", 3)
    report = verify.check(tmp_path / "c.json", plain(karate))
    assert report.reason == "the query has too many pairs of nodes that are not joined"
    monkeypatch.undo()
    hurried = verify.check(tmp_path / "c.json", plain(karate), seconds=0)
    assert hurried.reason == "the time was over"


def test_shapes_of_as_many_nodes_as_there_may_be_are_proved(tmp_path):
    """All paths of a ring are one census class; a node is in all but one of them."""
    ring = jaxmotif.Graph.from_edges([(u, (u + 1) % 9) for u in range(9)])
    name = canonical_string(Pattern.from_edges([(u, u + 1) for u in range(7)]))
    for count in (9, 10):
        certify_census(tmp_path / "c.json", ring, [name], np.array([count]), np.full((9, 1), 8))
        assert verify.check(tmp_path / "c.json", plain(ring)).accepted == (count == 9)


def test_graphs_of_more_nodes_than_31_bits_are_refused():
    with pytest.raises(ValueError, match="fewer than 2\\^31"):
        verify.graph_from_edges([], 2**31)


@pytest.mark.parametrize("nodes", [511, 512])
def test_keys_of_tables_have_63_bits(nodes):
    """Tables of an 8-clique have seven columns: 511^7 rows have different keys, and 512^7 = 2^63 would not."""
    clique = [[int(u != v) for v in range(8)] for u in range(8)]
    edges = [(nodes - 1 - u, nodes - 1 - v) for v in range(9) for u in range(v)]
    graph = verify.graph_from_edges(np.array(edges), nodes, False)
    query = {"roots": 1, "matrix": clique}, list(range(7, -1, -1)), graph, False, np.inf, []
    if nodes**7 < 2**63:
        assert count_at_root(*query).tolist() == [0] * (nodes - 9) + [math.factorial(8)] * 9
    else:
        with pytest.raises(Beyond, match="too many columns"):
            count_at_root(*query)


def test_sums_modulo_the_prime_are_exact():
    rng = np.random.default_rng(1)
    for high in (2, 2**20, 2**62):
        table, weights = rng.integers(0, high, (50, 3)), rng.integers(0, P, 50).astype(np.uint64)
        exact = [sum(int(w) * int(x) for w, x in zip(weights, column, strict=True)) % P for column in table.T]
        assert weighted_sums(weights, table) == exact == weighted_sums(weights, table.astype(object))
    edge = np.array([0, 1, P - 1, P - 2, 2**31, 2**60], np.uint64)
    drawn = random_weights(b"seed", "purpose", 1000)
    assert P / 2 < drawn.max() <= P  # of so many some are in the upper half, or chances are less than is said
    products = multiply(edge[:, None], edge[None]).tolist()
    assert products == [[int(a) * int(b) % P for b in edge] for a in edge]


def test_the_checker_imports_nothing_of_the_package():
    for file in FOLDER.glob("*.py"):
        lines = [line for line in file.read_text().splitlines() if line.startswith(("import ", "from "))]
        assert not any("jax" in line for line in lines), file
