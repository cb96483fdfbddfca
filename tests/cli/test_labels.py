"""Labels that are words, from file to class."""

import json

import networkx as nx
import pytest

from jaxmotif.arrays._label_words import in_words
from jaxmotif.cli import main
from jaxmotif.cli._motifs import _join_reports
from jaxmotif.cli._output import Report

ROWS = ("a b +", "b c -", "c a +", "c d -")


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]])
def test_signs_are_written_as_signs_whatever_comes_first(rows, tmp_path, capsys):
    (tmp_path / "g.txt").write_text("".join(f"{row}\n" for row in rows))
    words = ["census", tmp_path / "g.txt", "--columns", "0,1,2", "--directed", "--format", "json", "--quiet"]
    assert main([str(word) for word in words]) == 0
    classes = json.loads(capsys.readouterr().out)["classes"]
    found = {row["class"]: (row["id"], row["count"]) for row in classes}
    # c sends a + and a -; b sends c a -, which sends d one; a cycle of + - +.
    star, path, cycle = ".,.,.,.,.,.,+,-,.", ".,.,.,.,.,-,-,.,.", ".,.,+,+,.,.,.,-,."
    assert found == dict.fromkeys((star, path, cycle), (None, 1))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kinds.csv").write_text("source,target,kind\na,b,pos\nb,c,neg\nc,a,pos\nc,d,neg\n")
    (tmp_path / "arc.csv").write_text("source,target,kind\nx,y,neg\n")


@pytest.mark.parametrize("job", [["census"], ["match", "arc.csv"]], ids=" ".join)
def test_certificates_are_of_the_graph_however_its_labels_are_numbered(folder, job, capsys):
    assert main([*job, "kinds.csv", "--edge-label", "kind", "--certificate", "c.json", "--quiet"]) == 0
    assert main(["verify", "c.json", "kinds.csv", "--edge-label", "kind"]) == 0
    assert "accepted  true" in capsys.readouterr().out
    assert main(["verify", "c.json", "arc.csv", "--edge-label", "kind"]) == 1
    assert "another graph" in capsys.readouterr().err


def test_a_query_keeps_the_labels_that_its_format_can_have(folder, capsys):
    """The option for labels of nodes says nothing about a table of edges; that for labels of edges does."""
    target = nx.Graph([("a", "b", {"kind": "pos"}), ("b", "c", {"kind": "neg"}), ("c", "d", {"kind": "neg"})])
    nx.set_node_attributes(target, "x", "type")
    nx.write_graphml(target, "kinds.graphml")
    options = ["--edge-label", "kind", "--node-label", "type", "--format", "json", "--quiet"]
    assert main(["match", "arc.csv", "kinds.graphml", *options]) == 0
    assert json.loads(capsys.readouterr().out)["matches"] == 4


def test_networks_without_a_class_have_no_readings():
    empty, full = Report({}, {"class": [], "count": []}), Report({}, {"class": ["a"], "reading": ["r"], "count": [1]})
    for reports in ([empty, full], [full, empty]):
        joined = {name: column.tolist() for name, column in _join_reports(["x", "y"], reports, {}).columns.items()}
        network = "xy"[reports.index(full)]
        assert joined == {"network": [network], "class": ["a"], "reading": ["r"], "count": [1]}


def test_nodes_and_edges_in_words():
    assert in_words("0,1:.,0,1,.", {0: "x", 1: "y"}, {0: "+", 1: "-"}) == "x,y:.,+,-,."
    assert in_words("10,2:0110", {2: "a", 10: "b"}) == "b,a:0110"
    assert in_words("10,2:.,3,3,.", None, {3: "c"}) == "10,2:.,c,c,."
    assert in_words("0110", {}, {}) == "0110"
