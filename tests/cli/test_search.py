"""``jaxmotif search`` from files to answer."""

import csv
import gzip
import json

import pytest

from jaxmotif.cli import main


@pytest.fixture
def files(tmp_path):
    """Two triangles joined by an edge; one of them is red, red, blue."""
    (tmp_path / "g.txt").write_text("a b\nb c\nc a\nc d\nd e\ne f\nf d\n")
    (tmp_path / "c.txt").write_text("# colors\na red\nb red,green\n\nc blue\nd green\ne green\nf red\n")
    return tmp_path


def run(capsys, files, *arguments, status=0):
    words = ["search", files / "g.txt", "--colors", files / "c.txt", *arguments]
    assert main([str(word) for word in words]) == status
    return capsys.readouterr()


def result_of(text):
    """A JSON result without how it was made."""
    document = json.loads(text)
    assert document.pop("run")["command"] == "search"
    return document


def test_json(capsys, files):
    shown = run(capsys, files, "--motif", "red:2,blue:1", "--format", "json").out
    assert result_of(shown) == {
        "found": True, "vertices": ["a", "b", "c"], "matches": [["a", "b", "c"]], "repetitions": 1,
        "false_negative_bound": 0.0,
    }  # fmt: skip
    shown = run(capsys, files, "--motif", "blue,green:1,red:1", "--format", "json", "--limit", "all").out
    found = json.loads(shown)
    assert sorted(map(sorted, found["matches"])) == [list("abc"), list("acd"), list("bcd"), list("cdf")]
    assert found["vertices"] == list("abcdf")


@pytest.mark.parametrize("of_colors", ["shift-jis", "utf-8"])
def test_colors_are_in_the_encoding_of_the_graph_or_in_utf8(capsys, files, of_colors):
    (files / "g.txt").write_text("あ b\nb c\n", encoding="shift-jis")
    (files / "c.txt").write_text("あ 赤\nb red\nc red\n", encoding=of_colors)
    options = ["--motif", "赤,red", "--encoding", "shift-jis", "--format", "json"]
    assert json.loads(run(capsys, files, *options).out)["matches"] == [["b", "あ"]]


def test_table_and_csv(capsys, files):
    shown = run(capsys, files, "--motif", "red:2,blue:1").out.splitlines()
    assert shown[0].split() == ["found", "true"]
    assert [line.split() for line in shown[4:]] == [["vertex", "matches"], ["a", "1"], ["b", "1"], ["c", "1"]]
    shown = run(capsys, files, "--motif", "red:2,blue:1", "--format", "csv").out.splitlines()
    assert "# motif: {'red': 2, 'blue': 1}" in shown
    assert "# error: 1e-06" in shown
    assert list(csv.reader(line for line in shown if line[0] != "#")) == [
        ["vertex", "matches"],
        ["a", "1"],
        ["b", "1"],
        ["c", "1"],
    ]


def test_a_color_of_no_vertex_is_refused(capsys, files):
    shown = run(capsys, files, "--motif", "pink:2,red:1", status=1)
    assert shown.out == ""
    assert "no vertex has the color 'pink'; colors in" in shown.err
    assert "are 'blue', 'green', 'red'" in shown.err


def test_colors_of_another_network_are_refused(capsys, files):
    (files / "c.txt").write_text("x red\ny red\nz blue\n")
    shown = run(capsys, files, "--motif", "red:2,blue:1", status=1)
    assert shown.out == ""
    assert "none of the 3 lines is for a vertex of the graph, whose vertices are called 'a', 'b'" in shown.err


def test_no_match(capsys, files):
    shown = run(capsys, files, "--motif", "blue:2", "--format", "json").out
    assert result_of(shown) == {
        "found": False, "vertices": [], "matches": [], "repetitions": 0, "false_negative_bound": 0.0
    }  # fmt: skip


def test_zipped_colors_and_vertices_without_edges(capsys, files):
    (files / "c.txt").write_bytes(gzip.compress((files / "c.txt").read_bytes() + b"zoe red\n"))
    shown = run(capsys, files, "--motif", "red:2,blue:1", "--format", "json")
    assert json.loads(shown.out)["vertices"] == ["a", "b", "c"]
    assert "1 line for vertices that are not in the graph" in shown.err


@pytest.mark.parametrize("rows", [
    "a b\tred\nc\tblue,red\n", '"a b" red\nc blue, red\n',
    "vertex,color\na b,red\nc,blue,red\n", "a b;red\r\nc;blue,red\r\n",
])  # fmt: skip
def test_colors_of_names_with_blanks(capsys, files, rows):
    (files / "g.txt").write_text("a b\tc\nc\td\n")
    (files / "c.txt").write_bytes(rows.encode())
    shown = run(capsys, files, "--motif", "red:1,blue:1", "--format", "json").out
    assert json.loads(shown)["vertices"] == ["a b", "c"]


@pytest.mark.parametrize("line", ["a", "a red,,blue", "a ,"])
def test_a_bad_line_is_shown(capsys, files, line):
    (files / "c.txt").write_text(f"b red\n{line}\n")
    shown = run(capsys, files, "--motif", "red:2", status=1)
    assert shown.out == ""
    assert f"c.txt, line 2: expected `vertex color[,color...]`: {line!r}" in shown.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--motif", ""],
        ["--motif", "red:0"],
        ["--motif", "red:two"],
        ["--motif", "red:1,red:2"],
        ["--motif", "red", "--error", "1"],
        ["--motif", "red", "--limit", "-1"],
    ],
)
def test_bad_usage_is_2(capsys, files, arguments):
    with pytest.raises(SystemExit) as stop:
        main(["search", str(files / "g.txt"), "--colors", str(files / "c.txt"), *arguments])
    assert stop.value.code == 2
    assert "usage: jaxmotif search" in capsys.readouterr().err


def test_too_large_a_motif(capsys, files):
    assert "1 to 30 vertices, got 31" in run(capsys, files, "--motif", "red:31", status=1).err


def test_directions_and_labels_of_edges(capsys, files):
    (files / "g.txt").write_text("a b up\nb c up\nc d down\nb d up\n")
    (files / "c.txt").write_text("a red\nb red\nc blue\nd blue\n")
    options = ["--columns", "0,1,2", "--motif", "red:1,blue:1", "--format", "json", "--limit", "all"]
    shown = run(capsys, files, "--directed", *options, "--direction", "out", "--only", "up")
    found = json.loads(shown.out)
    assert (found["vertices"], sorted(found["matches"])) == (["b"], [["b", "c"], ["b", "d"]])
    assert "ignored" not in shown.err
    found = json.loads(run(capsys, files, "--directed", *options, "--direction", "in").out)
    assert found["vertices"] == ["c", "d"]
    shown = run(capsys, files, "--directed", *options)
    assert "directions ignored" in shown.err
    assert json.loads(shown.out)["vertices"] == ["b", "c", "d"]
    shown = run(capsys, files, *options, "--only", "sideways", status=1)
    assert "labels of this graph are down, up" in shown.err
