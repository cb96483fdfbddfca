"""``jaxmotif census`` and ``jaxmotif motifs`` from file to answer."""

import csv
import json
import types

import numpy as np
import pytest

from jaxmotif import datasets, estimate_census
from jaxmotif.cli import main
from jaxmotif.cli._input import load_graph
from jaxmotif.cli._keep import null_model
from jaxmotif.cli._motifs import _farthest, _pairs
from jaxmotif.cli._parser import build_parser
from jaxmotif.motifs import NULL_MODELS, keep_distances
from tests.more import more


def document(capsys, *arguments):
    assert main([*map(str, arguments), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_census_and_motifs(capsys, tmp_path):
    (tmp_path / "g.txt").write_text("".join(f"{i} {i + 1}\n{i} {i + 2}\n" for i in range(12)))
    census = document(capsys, "census", tmp_path / "g.txt", "--size", 3, "--directed")
    assert census["size"] == 3
    assert census["total"] == sum(row["count"] for row in census["classes"])
    ffl = {"class": "000100110", "id": 38, "name": "030T feed-forward loop", "przulj": "", "count": 11}
    assert ffl in census["classes"]
    options = (tmp_path / "g.txt", "--directed", "--random", 100, "--checkpoint", tmp_path / "kept")
    motifs = document(capsys, "motifs", *options, "--subnetwork", f"ffl:{tmp_path / 'loops.csv'}")
    loops = list(csv.DictReader((tmp_path / "loops.csv").read_text().splitlines()))
    assert sum(int(row["occurrences"]) for row in loops) == 3 * 11
    counts = {row["class"]: row["count"] for row in motifs["classes"] if row["count"]}
    assert counts == {row["class"]: row["count"] for row in census["classes"]}
    row = next(row for row in motifs["classes"] if row["class"] == "000100110")
    assert row["motif"] is True
    assert row["verdict"] == "motif"
    sizes = [abs(row["z"]) for row in motifs["classes"] if row["z"] is not None]
    assert sizes == sorted(sizes, reverse=True)
    assert (motifs["run"]["seed"], motifs["run"]["switches"], motifs["run"]["size"]) == (0, 15.0, 3)
    assert {"mean", "sd", "z", "p_high", "p_low", "q"} <= set(row)
    assert "reciprocal degree" in motifs["null_model"]
    assert document(capsys, "motifs", *options) == motifs
    edges = document(capsys, "census", tmp_path / "g.txt", "--size", 3)
    assert [row["name"] for row in edges["classes"]] == ["2-star", "triangle"]


def test_bad_size_is_told_in_one_line(capsys):
    assert main(["census", "karate", "--size", "9"]) == 1
    assert "size must be between 2 and 8, got 9" in capsys.readouterr().err


def test_estimated_census(capsys, tmp_path):
    options = "census", "karate", "--size", 4, "--estimate", "--samples", "1e5", "--checkpoint", tmp_path
    found = document(capsys, *options)
    exact = {row["class"]: row["count"] for row in document(capsys, "census", "karate", "--size", 4)["classes"]}
    assert {row["class"] for row in found["classes"]} == set(exact)
    assert sum(row["low"] <= exact[row["class"]] <= row["high"] for row in found["classes"]) >= len(exact) - 1
    assert found["total_low"] < sum(exact.values()) < found["total_high"]
    assert (found["samples"], found["level"], found["run"]["samples"]) == (100_000, 0.95, 100_000)
    again = document(capsys, *options, "--seed", 0, "--report", tmp_path / "page.html")  # as without a seed
    assert again["run"].pop("seed") == 0
    assert again == found
    library = estimate_census(datasets.load("karate"), 4, samples=100_000, key=0)
    assert {row["class"]: row["hits"] for row in found["classes"]} == dict(
        zip(library.classes, np.asarray(library.hits).tolist(), strict=True)
    )
    assert "estimated from 100,000 draws, which met 6 classes" in (tmp_path / "page.html").read_text()
    for extra, text in (
        (("--samples", 10), "add --estimate"),
        (("--estimate", "--roles", tmp_path / "roles.csv"), "for exact censuses"),
        (("--estimate", "--size", 11), "between 3 and 10"),
    ):
        assert main(["census", "karate", *map(str, extra)]) == 1
        assert text in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["census", "karate", "--estimate", "--samples", "1.5"])
    assert "not a whole number" in capsys.readouterr().err


def test_estimated_motifs(capsys, tmp_path):
    given = "motifs", "florentine", "--size", 4, "--random", 5, "--attempts", 5
    options = *given, "--estimate", "--samples", "3e3", "--checkpoint", tmp_path
    found = document(capsys, *options)
    assert (found["estimate"], found["run"]["samples"]) == (3000, 3000)
    exact = {row["class"]: row for row in document(capsys, *given)["classes"]}
    assert all(abs(row["count"] - exact[row["class"]]["count"]) < 5 * row["error"] + 3 for row in found["classes"])
    assert all({"error", "random_error", "z", "p_high"} <= set(row) for row in found["classes"])
    assert not {"error", "random_error"} & set(exact.popitem()[1])
    assert document(capsys, *options) == found
    assert main([*map(str, given), "--estimate", "--samples", "100"]) == 0
    assert "error" in capsys.readouterr().out.split("\n\n")[1].splitlines()[0].split()
    for extra, text in (
        (("--samples", 10), "add --estimate"),
        (("--occurrences", tmp_path / "where.csv"), "for exact counts"),
        (("--size", 11), "between 3 and 10"),
    ):
        assert main([*map(str, (*given, *(() if "--samples" in extra else ("--estimate",)), *extra))]) == 1
        assert text in capsys.readouterr().err


@pytest.mark.parametrize("name", ["degree", *more("bidegree")])
def test_null_models_are_those_of_the_library(capsys, name):
    few = "--random", 2, "--attempts", 1
    made = document(capsys, "motifs", "florentine", "--directed", *few, "--keep", name)
    assert made["null_model"].startswith(f"keeps the {NULL_MODELS[name].keeps} of every node; uniform over")


def test_other_null_models_are_refused(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["motifs", "karate", "--keep", "nothing"])
    assert stop.value.code == 2
    refused = capsys.readouterr().err
    assert all(name in refused for name in NULL_MODELS)


@pytest.mark.parametrize(
    ("separator", "between"),  # of the rows of a file, and of the words of an edge list of names with blanks
    [(",", "\t"), *more(("\t", "\t"), (" ", " "))],
)
def test_positions_of_nodes_of_any_name(tmp_path, separator, between):
    edges, nodes = tmp_path / "net.txt", tmp_path / "nodes.txt"
    name = "a" if between == " " else "a b"
    edges.write_text("N b\nb c\nc d\nd N\nN c\n".replace(" ", between).replace("N", name))
    header = "" if separator == "\t" else "node,x,y\n" if separator == "," else "# node x y\n"
    nodes.write_text(header + "N 1 0\nb 2 0\nc 1 0\nd 2 0\n".replace(" ", separator).replace("N", name))
    places = {name: (1, 0), "b": (2, 0), "c": (1, 0), "d": (2, 0)}

    def model(*options):
        words = "motifs", edges, "--keep", "distances", "--positions", nodes, *options
        args = build_parser().parse_args([*map(str, words)])
        graph = load_graph(args, edges)
        return null_model(args, graph), [places[name] for name in graph.node_names]

    found, positions = model("--bins", "0.5", "--degrees", "degree")
    wanted = keep_distances(positions, [0.5], "degree")
    assert (found.keeps, found.also.words) == (wanted.keeps, wanted.also.words)
    np.testing.assert_array_equal(found.also.place, wanted.also.place)
    np.testing.assert_array_equal(found.also.limits, wanted.also.limits)
    assert "each of 10 classes of length" in model()[0].also.words


@pytest.mark.parametrize(
    ("keep", "file", "words"),
    [("blocks", "--blocks", "every two of 2 blocks"), *more(("labels", "--node-labels", "for each label"))],
)
def test_what_else_random_graphs_keep(tmp_path, capsys, keep, file, words):
    edges, nodes = tmp_path / "net.txt", tmp_path / "nodes.txt"
    edges.write_text("遺 b\nb c\nc d\nd 遺\n遺 c\n", encoding="shift-jis")
    nodes.write_text("# node x\n遺 1\nb 2\nc 1\nd 2\n", encoding="shift-jis")
    options = "motifs", edges, "--random", 2, "--attempts", 1, "--encoding", "shift-jis"
    found = document(capsys, *options, "--keep", keep, file, nodes, "--degrees", "degree")
    assert words in found["null_model"]


def test_null_models_that_cannot_be(tmp_path, capsys):
    edges, nodes = tmp_path / "net.txt", tmp_path / "nodes.txt"
    options = "motifs", edges, "--random", 2, "--attempts", 1
    edges.write_text("a b\nb c\nc d\nd a\na c\n")
    nodes.write_text("a 1\nb x\nc 1\n")
    for keep, words in (
        (("labels",), "labels of neither nodes nor edges"), (("blocks",), "add --blocks FILE"),
        (("degree", "--blocks", nodes), "for --keep blocks"),
        (("blocks", "--blocks", nodes), "no line for 1 of 4 nodes"),
        (("degree", "--degrees", "degree"), "says it already"),
    ):  # fmt: skip
        assert main([*map(str, (*options, "--keep", *keep))]) == 1
        assert words in capsys.readouterr().err
    nodes.write_text("a 1\nb x\nc 1\nd 2\n")
    assert main([*map(str, (*options, "--keep", "distances", "--positions", nodes))]) == 1
    assert "positions must be numbers" in capsys.readouterr().err


def test_as_many_random_graphs_as_it_takes(capsys):
    options = "motifs", "florentine", "--random", "auto", "--alpha", 0.01, "--most", 4, "--attempts", 1
    found = document(capsys, *options)
    assert found["random_graphs"] == 4
    assert found["decided"] == sum(row["decided"] for row in found["classes"])
    assert main(["motifs", "florentine", "--most", "4"]) == 1
    assert "--most is for --random auto" in capsys.readouterr().err


def test_census_without_shared_nodes(capsys):
    found = document(capsys, "census", "florentine", "--disjoint", "node")
    triangle = next(row for row in found["classes"] if row["name"] == "triangle")
    assert (triangle["count"], triangle["disjoint"]) == (3, 2)
    assert triangle["disjoint"] <= triangle["disjoint_upper"] <= triangle["count"]
    assert main(["census", "florentine", "--estimate", "--disjoint", "node"]) == 1
    assert "--disjoint is for exact censuses" in capsys.readouterr().err


def test_census_at_nodes_and_edges(capsys, tmp_path):
    (tmp_path / "g.txt").write_text("ann bob\nbob cid\nann cid\ncid dan\n")
    options = "census", str(tmp_path / "g.txt"), "--quiet", "--format", "csv"
    for per, wanted in (
        ("node", ["node,2-star:0,2-star:1,triangle", "ann,0,1,1", "bob,0,1,1", "cid,2,0,1", "dan,0,2,0"]),
        ("edge", ["u,v,2-star,triangle", "ann,bob,0,1", "ann,cid,1,1", "bob,cid,1,1", "cid,dan,2,0"]),
    ):
        assert main([*options, "--per", per]) == 0
        assert [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")] == wanted
    assert main([*options, "--per", "node", "--disjoint", "node"]) == 1
    assert "--disjoint is for the whole graph" in capsys.readouterr().err


def test_correlations_without_an_interval_have_none():
    """Profiles of which one is constant have no correlation, and no interval of it."""
    matrix = np.array([[1.0, np.nan], [np.nan, 1.0]])
    compared = types.SimpleNamespace(names=("a", "b"), summary="2 networks", tested=np.ones(3, bool))
    compared.correlation = compared.low = compared.high = matrix
    assert _pairs(compared, {})["correlation_95 (a, b)"] is None
    compared.low, compared.high = matrix - 2, matrix - 1
    compared.low[0, 1], compared.high[0, 1] = -0.5, 0.25
    assert _pairs(compared, {})["correlation_95 (a, b)"] == "-0.500 to 0.250"
    assert [_farthest(np.array(scores)) for scores in ([], [1.0, -3.0, 2.0])] == [0, -3]


def test_correlation_distances_of_five_nodes(capsys):
    options = "karate", "florentine", "--random", 2, "--attempts", 1, "--gcd", 73
    assert document(capsys, "motifs", *options)["GCD-73 (karate, florentine)"] == pytest.approx(24.006, abs=5e-4)


def test_strengths_of_classes(capsys, tmp_path):
    rows = ["pre,post,n", *(f"{u},{v},{1 + u % 5}" for i in range(9) for u, v in ((i, i + 1), (i, i + 2), (i, i + 1)))]
    (tmp_path / "g.csv").write_text("\n".join(rows) + "\n")
    options = "census", tmp_path / "g.csv", "--directed", "--weight", "n"
    found = document(capsys, *options, "--strengths", "senders", "--random-weights", 20)
    assert "leave every node" in found["null_model"]
    by_number = document(capsys, *options[:-1], 2, "--strengths", "senders", "--random-weights", 20, "--seed", 0)
    assert by_number["classes"] == found["classes"]
    assert main([*map(str, options), "--strengths", "all", "--random-weights", "3", "--format", "csv"]) == 0
    assert "# random_weights: 3" in capsys.readouterr().out.splitlines()
    for row in found["classes"]:
        assert 0 < row["coherence"] <= 1
        assert {"intensity", "expected_intensity", "ratio", "z", "q", "why"} <= set(row)
    few = document(capsys, *options, "--min-weight", 6)
    assert few["total"] < found["total"]
    for extra, text in (
        (("census", "karate", "--strengths", "all"), "name their column with --weight"),
        (("census", "karate", "--random-weights", 5), "add --strengths"),
        (("census", "karate", "--min-weight", 5), "--weight"),
    ):
        assert main([*map(str, extra)]) == 1
        assert text in capsys.readouterr().err
