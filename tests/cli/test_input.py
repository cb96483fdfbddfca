"""How the command reads files: one loader, and options that mean the same for every command."""

import argparse
import json
import os

import pytest

from jaxmotif.cli import main
from jaxmotif.cli._input import load_graph
from jaxmotif.cli._parser import add_options

TABLE = "pre,post,sign\nA,B,+\nB,C,-\nC,A,+\n"


@pytest.fixture
def load(tmp_path):
    """Loads a file's text with the words of a command line."""

    def load(text, *words):
        path = tmp_path / "graph.txt"
        path.write_text(text)
        parser = argparse.ArgumentParser()
        add_options(parser, "graph")
        add_options(parser, "reading files")
        return load_graph(parser.parse_args([str(path), *words]))

    return load


def test_direction_is_what_the_file_says_else_undirected(load):
    assert not load("0 1\n1 2\n").directed
    assert load("0 1\n1 2\n", "--directed").directed
    assert not load("A act B\nB act C\n").directed
    assert load("A act B\nB act C\n", "--directed").directed
    assert load("graph { a -- b }", "--directed").m == 2


def test_the_bundled_networks_say_it_themselves(load):
    def bundled(name):
        parser = argparse.ArgumentParser()
        add_options(parser, "graph")
        add_options(parser, "reading files")
        return load_graph(parser.parse_args([name]))

    assert [bundled(name).directed for name in ("celegans", "karate", "celegans-gap")] == [True, False, False]


def test_columns_labels_and_ids(load, tmp_path):
    graph = load(TABLE, "--columns", "pre,post", "--edge-label", "sign", "--directed")
    assert graph.edge_label_names == {0: "+", 1: "-"}
    assert load(TABLE, "--columns", "0,1,2").edge_labels[:6].tolist() == [0, 0, 0, 1, 0, 1]
    (tmp_path / "labels.txt").write_text("A x\nB y\nC x\n")
    graph = load(TABLE, "--node-labels", str(tmp_path / "labels.txt"))
    assert (graph.node_labels[:3].tolist(), graph.node_label_names) == ([0, 1, 0], {0: "x", 1: "y"})
    wide = "1234567890123456789012 2\n-3 2\n"
    with pytest.raises(ValueError, match="text_ids=True"):
        load(wide)
    assert load(wide, "--text-ids").node_names.tolist() == ["-3", "1234567890123456789012", "2"]
    assert load("0 1\n3 4\n", "--isolated", "keep").n == 5
    gml = 'graph [ node [ id 1 kind "x" ] node [ id 2 kind "y" ] edge [ source 1 target 2 ] ]'
    assert load(gml, "--node-label", "kind").node_label_names == {0: "x", 1: "y"}


def test_notes_are_on_standard_error_unless_quiet(tmp_path, capsys):
    path = tmp_path / "weights.csv"
    path.write_text("source,target,weight\nA,B,0.5\nB,C,1.5\n")
    assert main(["graphlets", str(path)]) == 0
    shown = capsys.readouterr().err
    assert "passed over: column 'weight'" in shown
    assert "read as undirected: the file does not say" in shown
    assert main(["graphlets", str(path), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_refusals_are_one_line_with_the_remedy(tmp_path, capsys):
    path = tmp_path / "words.txt"
    path.write_text("A x B\nC y D\n")
    assert main(["graphlets", str(path)]) == 1
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "--input-format sif" in shown
    assert main(["graphlets", str(path), "--columns", "0,1", "--quiet", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["edges"] == 2


def test_a_query_needs_no_columns(tmp_path, capsys):
    """What is chosen in the target's table says nothing about a query of another format."""
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "query.lg").write_text("t # 0\nv 0 x\nv 1 x\ne 0 1 -\n")
    (tmp_path / "labels.txt").write_text("A x\nB x\nC x\n")
    words = [
        "match",
        "query.lg",
        "table.csv",
        "--columns",
        "pre,post",
        "--edge-label",
        "sign",
        "--node-labels",
        "labels.txt",
    ]
    words = [str(tmp_path / word) if "." in word else word for word in words]
    assert main([*words, "--format", "json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["matches"] == 2


def test_a_dash_is_standard_input_and_output(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graph.txt").write_text("a b\nb c\n")
    kept = os.dup(0)
    with open("graph.txt") as file:
        os.dup2(file.fileno(), 0)
    try:
        assert main(["graphlets", "-", "--format", "json", "-o", "-"]) == 0
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    assert json.loads(capsys.readouterr().out)["nodes"] == 3
    assert os.listdir() == ["graph.txt"]
