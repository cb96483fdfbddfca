"""``jaxmotif search`` from files to answer."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import textwrap
import time

import pytest

from jaxmotif.cli import main
from jaxmotif.sieve.search import CHECKPOINT_NAME
from tests.sieve.test_search import planted


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


def test_json(capsys, files):
    shown = run(capsys, files, "--motif", "red:2,blue:1", "--format", "json").out
    assert json.loads(shown) == {
        "found": True, "vertices": ["a", "b", "c"], "matches": [["a", "b", "c"]], "repetitions": 1,
        "false_negative_bound": 0.0,
    }  # fmt: skip
    shown = run(capsys, files, "--motif", "blue,green:1,red:1", "--format", "json", "--matches", "all").out
    found = json.loads(shown)
    assert sorted(map(sorted, found["matches"])) == [list("abc"), list("acd"), list("bcd"), list("cdf")]
    assert found["vertices"] == list("abcdf")


def test_table_and_csv(capsys, files):
    shown = run(capsys, files, "--motif", "red:2,blue:1").out.splitlines()
    assert shown[0].split() == ["found", "True"]
    assert [line.split() for line in shown[4:]] == [["vertex", "matches"], ["a", "1"], ["b", "1"], ["c", "1"]]
    rows = csv.reader(io.StringIO(run(capsys, files, "--motif", "red:2,blue:1", "--format", "csv").out))
    assert list(rows) == [["vertex", "matches"], ["a", "1"], ["b", "1"], ["c", "1"]]


def test_no_match(capsys, files):
    shown = run(capsys, files, "--motif", "blue:2", "--format", "json").out
    assert json.loads(shown) == {
        "found": False, "vertices": [], "matches": [], "repetitions": 0, "false_negative_bound": 0.0
    }  # fmt: skip


def test_zipped_colors_and_vertices_without_edges(capsys, files):
    (files / "c.txt").write_bytes(gzip.compress((files / "c.txt").read_bytes() + b"zoe red\n"))
    shown = run(capsys, files, "--motif", "red:2,blue:1", "--format", "json")
    assert json.loads(shown.out)["vertices"] == ["a", "b", "c"]
    assert "1 lines for vertices that are not in the graph" in shown.err


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
        ["--motif", "red", "--matches", "-1"],
    ],
)
def test_bad_usage_is_2(capsys, files, arguments):
    with pytest.raises(SystemExit) as stop:
        main(["search", str(files / "g.txt"), "--colors", str(files / "c.txt"), *arguments])
    assert stop.value.code == 2
    assert "usage: jaxmotif search" in capsys.readouterr().err


def test_too_large_a_motif(capsys, files):
    assert "1 to 30 vertices, got 31" in run(capsys, files, "--motif", "red:31", status=1).err


@pytest.mark.slow
def test_killed_and_resumed(capsys, files):
    """kill -9 in the middle; the same command goes on from the checkpoint and ends with the same answer."""
    graph, colors, motif, _ = planted(150, 8, 16, seed=3)
    (files / "g.txt").write_text("".join(f"{u} {v}\n" for u, v in graph.edge_list().tolist()))
    colors = ["red" if color == "other" else color for color in colors]
    (files / "c.txt").write_text("".join(f"{v} {color}\n" for v, color in enumerate(colors)))
    options = ["--motif", ",".join(f"{color}:{number}" for color, number in motif.items()), "--format", "json"]
    options += ["--matches", "0"]
    expected = run(capsys, files, *options).out

    state = files / "state"
    words = ["search", files / "g.txt", "--colors", files / "c.txt", *options, "--checkpoint", state]
    code = f"""
        from jaxmotif.cli import main
        from jaxmotif.sieve import runner, search
        search.SAVE_SECONDS = 0.0
        runner._STEP_WORK["xla"] = 1.0
        main({[str(word) for word in words]!r})
    """
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], env=environment) as process:
        while not (state / CHECKPOINT_NAME).exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    assert (state / CHECKPOINT_NAME).exists()
    assert run(capsys, files, *options, "--checkpoint", state).out == expected
    assert not (state / CHECKPOINT_NAME).exists()
