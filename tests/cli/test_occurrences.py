"""``--occurrences`` of the commands that find classes and queries."""

import collections
import csv
import json
import os

import networkx as nx
import numpy as np
import pytest

from jaxmotif.cli import main
from jaxmotif.cli._occurrences import _class_rows
from tests.more import more

EDGES = "x y\ny z\nx z\nz out,1\n"


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "loop.txt"
    path.write_text(EDGES)
    return path


def run(*arguments):
    assert main([*map(str, arguments), "--device", "cpu", "--quiet"]) == 0


def test_the_three_formats_agree(capsys, network, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for ending in ("csv", "jsonl", "parquet"):
        run("census", network, "--directed", "--occurrences", tmp_path / f"o.{ending}")
    lines = (tmp_path / "o.csv").read_text().splitlines()
    assert "# command: census" in lines
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert rows[-1] == {
        "class": "000100110", "id": "38", "name": "030T feed-forward loop",
        "roles": "target, intermediate, regulator", "node_0": "z", "node_1": "y", "node_2": "x",
    }  # fmt: skip
    assert [row["id"] for row in rows] == ["12", "12", "38"]
    assert {"out,1"} < {row[f"node_{i}"] for row in rows for i in range(3)}
    documents = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert [document.pop("nodes") for document in documents] == [[r[f"node_{i}"] for i in range(3)] for r in rows]
    loop = {"class": "000100110", "id": 38, "name": "030T feed-forward loop"}
    assert documents[-1] == loop | {"roles": "target, intermediate, regulator"}
    table = parquet.read_table(tmp_path / "o.parquet")
    assert [{key: str(value) for key, value in row.items()} for row in table.to_pylist()] == rows
    assert json.loads(table.schema.metadata[b"jaxmotif"])["command"] == "census"


def test_without_occurrences_there_are_the_names_of_columns(network, tmp_path):
    pandas = pytest.importorskip("pandas")
    network.write_text("0 0\n1 1\n")
    run("census", network, "--occurrences", tmp_path / "o.csv")
    assert pandas.read_csv(tmp_path / "o.csv", comment="#").to_dict("list") == {
        "class": [], "id": [], "name": [], "roles": [],
    }  # fmt: skip


def test_names_that_a_spreadsheet_or_a_terminal_would_run_are_escaped(network, tmp_path):
    network.write_text("=1+1 b\nb a\x1bb\n")
    for options, first in (([], "=1+1"), (["--escape-formulas"], "'=1+1")):
        run("census", network, "--undirected", "--occurrences", tmp_path / "o.csv", *options)
        [row] = rows_of(tmp_path / "o.csv")
        assert {row[f"node_{i}"] for i in range(3)} == {first, "b", "a\\x1bb"}


def rows_of(path):
    lines = (line for line in path.read_text().splitlines() if not line.startswith("#"))
    return list(csv.DictReader(lines, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.parametrize(
    ("option", "size", "labelled"),
    [
        *(("--directed", 3, True), ("--directed", 4, False), ("--undirected", 4, True)),
        *more(("--directed", 3, False), ("--directed", 4, True), ("--undirected", 4, False)),
    ],
)
def test_roles_are_those_of_the_occurrences(network, tmp_path, option, size, labelled):
    """Who takes which role how often is counted again, row by row, from the list of all occurrences."""
    pyarrow = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(size)
    arcs = sorted({(u, v) for u, v in rng.integers(0, 14, (34, 2)).tolist() if u != v})
    if option == "--undirected":
        arcs = sorted({(min(arc), max(arc)) for arc in arcs})
    network.write_text("".join(f"n{u}\tn{v}\t{'+-'[(u + v) % 2]}\n" for u, v in arcs))
    words = [network, "--size", size, option, *(["--edge-label", "2"] if labelled else [])]
    run("census", *words, "--occurrences", tmp_path / "o.csv", "--roles", tmp_path / "r.tsv")
    expected = collections.Counter()
    for row in rows_of(tmp_path / "o.csv"):
        roles = row["roles"].split(", ")
        for i, role in enumerate(roles):
            places = ",".join(str(j) for j, other in enumerate(roles) if other == role)
            expected[row[f"node_{i}"], row["class"], role, places] += 1
    found = rows_of(tmp_path / "r.tsv")
    assert {(row["node"], row["class"], row["role"], row["places"]): int(row["count"]) for row in found} == expected
    assert len(found) == len(expected) > 30
    run("census", *words, "--roles", tmp_path / "r.parquet")
    assert pyarrow.read_table(tmp_path / "r.parquet").column("count").to_pylist() == [int(r["count"]) for r in found]


def test_queries_of_several_sizes(capsys, network, tmp_path):
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "arc").write_text("0 1\n")
    (tmp_path / "queries" / "loop").write_text("0 1\n1 2\n0 2\n")
    run("match", tmp_path / "queries", network, "--directed", "--occurrences", tmp_path / "o.csv")
    lines = [line for line in (tmp_path / "o.csv").read_text().splitlines() if not line.startswith("#")]
    assert [line.split(",")[0] for line in lines] == ["query", *["arc"] * 4, "loop"]
    assert next(csv.reader(lines[1:2]))[-1] == ""
    parquet = pytest.importorskip("pyarrow.parquet")
    run("match", tmp_path / "queries", network, "--directed", "--occurrences", tmp_path / "o.parquet")
    found = parquet.read_table(tmp_path / "o.parquet").to_pylist()
    assert [[value or "" for value in row.values()] for row in found] == list(csv.reader(lines[1:]))


def test_columns_are_called_as_the_nodes_of_the_query(network, tmp_path):
    run("match", "A -> B; B -> C; A -> C", network, "--directed", "--occurrences", tmp_path / "o.csv")
    lines = [line for line in (tmp_path / "o.csv").read_text().splitlines() if not line.startswith("#")]
    assert lines == ["query,A,B,C", "A -> B; B -> C; A -> C,x,y,z"]


@pytest.mark.parametrize(
    ("query", "beside_query", "beside_name", "nodes"),  # of the query, in two tables, and of the target
    [
        ("P#1 b c", "P#1 b c", "P#1 b c", [7, 8, 9]),
        ("name node_name query", "name node_name node_query", "node_node_name node_name query", ["H#1", "H#2", "c"]),
    ],
)
def test_pandas_reads_names_that_begin_comments_or_are_columns(
    network, tmp_path, query, beside_query, beside_name, nodes
):
    pandas = pytest.importorskip("pandas")
    query = query.split()
    for path, (u, v, w) in ((tmp_path / "query", query), (network, nodes)):
        path.write_text(f"{u} {v}\n{v} {w}\n")
    words = ["match", tmp_path / "query", network, "--directed", "--limit", "all"]
    run(*words, "--output", tmp_path / "l.csv", "--roles", tmp_path / "r.csv", "--occurrences", tmp_path / "o.csv")
    run(*words, "--occurrences", tmp_path / "o.parquet")
    listed, roles, found = (pandas.read_csv(tmp_path / f"{name}.csv", comment="#") for name in "lro")
    assert listed.to_dict("list") == {name: [node] for name, node in zip(query, nodes, strict=True)}
    of_occurrences = {name: [node] for name, node in zip(beside_query.split(), nodes, strict=True)}
    assert found.to_dict("list") == {"query": ["query"]} | of_occurrences
    assert pandas.read_parquet(tmp_path / "o.parquet").to_dict("list") == found.to_dict("list")
    of_roles = {name: [int(i == j) for j in range(3)] for i, name in enumerate(beside_name.split())}
    assert roles.to_dict("list") == {"name": nodes} | of_roles


def test_mistakes(capsys, network, tmp_path):
    with pytest.raises(SystemExit, match="2"):
        main(["census", str(network), "--occurrences", str(tmp_path / "o.txt")])
    assert main(["census", str(network), "--occurrences", str(tmp_path / "none" / "o.csv")]) == 1
    assert "cannot write" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")
@pytest.mark.parametrize("full", [False, True])
def test_occurrences_are_told_where_they_are_written(capsys, network, tmp_path, full):
    if full:
        (tmp_path / "o.csv").symlink_to("/dev/full")
    words = ["census", network, "--directed", "--occurrences", tmp_path / "o.csv", "--format", "csv"]
    assert main(list(map(str, words))) == full
    shown = capsys.readouterr()
    assert "000100110,38," in shown.out
    assert (f"3 occurrences written to {tmp_path / 'o.csv'}" in shown.err) == (not full)
    assert ("o.csv: No space left on device; going on to the result" in shown.err) == full


def test_classes_of_random_graphs_alone_have_no_occurrences():
    columns = {"count": [0, 2], "id": [38, 6], "verdict": ["motif", ""]}
    [(row, pattern)] = _class_rows(columns, ["000100110", "011000000"], True)
    assert (row["id"], row["verdict"], pattern.num_nodes) == (6, "", 3)


def test_a_name_that_a_format_cannot_hold_leaves_the_result(network, tmp_path, capsys):
    network.write_text('"#x",y\ny,z\n"#x",z\n')
    words = "census", network, "--directed", "--subnetwork", f"ffl:{tmp_path / 'w.sif'}", "-o", tmp_path / "out.csv"
    assert main([*map(str, words), "--device", "cpu"]) == 1
    assert "SIF cannot hold the name '#x'" in capsys.readouterr().err
    assert "030T" in (tmp_path / "out.csv").read_text()


def test_a_subnetwork_is_the_same_in_every_format(network, tmp_path):
    """Each node's roles and each arc's occurrences are counted again from the list of occurrences."""
    rng = np.random.default_rng(4)
    arcs = sorted({(u, v) for u, v in rng.integers(0, 14, (60, 2)).tolist() if u != v})
    network.write_text("from\tto\tweight\n" + "".join(f"n{u}\tn{v}\t{u + v}\n" for u, v in arcs))
    words = ["match", "ffl", network, "--directed", "--induced"]
    run(*words, "--occurrences", tmp_path / "o.csv", "--roles", tmp_path / "members.csv")
    loops = [(row["regulator"], row["intermediate"], row["target"]) for row in rows_of(tmp_path / "o.csv")]
    assert len(loops) > 5
    roles = {}
    for place, role in enumerate(("regulator", "intermediate", "target")):
        roles[role] = collections.Counter(row[place] for row in loops)
    nodes = {name: {role: times[name] for role, times in roles.items()} for name in set().union(*loops)}
    times = collections.Counter(arc for x, y, z in loops for arc in ((x, y), (x, z), (y, z)))
    edges = {(u, v): {"weight": int(u[1:]) + int(v[1:]), "occurrences": number} for (u, v), number in times.items()}

    members = {row.pop("name"): row for row in rows_of(tmp_path / "members.csv")}
    assert {name: {role: int(number) for role, number in row.items()} for name, row in members.items()} == nodes
    for ending, read in (
        ("graphml", nx.read_graphml),
        ("gexf", nx.read_gexf),
        ("cyjs", lambda path: nx.cytoscape_graph(json.loads(path.read_text()))),
        ("gml", nx.read_gml),
    ):
        run(*words, "--subnetwork", tmp_path / f"part.{ending}")
        part = read(tmp_path / f"part.{ending}")
        for held, wanted in ((part.nodes, nodes), (part.edges, edges)):
            keys = next(iter(wanted.values()))
            assert {one: {key: data[key] for key in keys} for one, data in held.items()} == wanted
    run("census", network, "--directed", "--subnetwork", f"030T:{tmp_path / 'part.csv'}")
    table = {(row["source"], row["target"]): int(row["occurrences"]) for row in rows_of(tmp_path / "part.csv")}
    assert table == times
    run(*words, "--subnetwork", tmp_path / "part.sif")
    assert {tuple(line.split("\t")) for line in (tmp_path / "part.sif").read_text().splitlines()} == {
        (u, "pd", v) for u, v in edges
    }
