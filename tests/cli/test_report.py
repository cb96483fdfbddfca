"""``--report`` and ``--figures`` of every command, and several networks beside each other."""

import csv
import itertools
import json

import pytest

from jaxmotif import report
from jaxmotif.cli import _motifs, main
from jaxmotif.motifs import correct_together
from tests.report.made_up import made_up


def run(*arguments, quiet=True):
    assert main([*map(str, arguments), "--device", "cpu", *["--quiet"] * quiet]) == 0


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "loop.txt"
    path.write_text("x y\ny z\nx z\nz a/b\n")
    return path


@pytest.mark.parametrize(
    ("command", "more", "drawings"),
    [
        ("census", [], {"id78.svg", "id238.svg"}), ("graphlets", [], {"triangle.svg", "4-node-2-edge.svg"}),
    ],
)  # fmt: skip
def test_pages_and_drawings(capsys, network, tmp_path, command, more, drawings):
    run(command, network, *more, "--report", tmp_path / "out.html", "--figures", tmp_path / "svg", "--drawings", "all")
    page = (tmp_path / "out.html").read_text()
    assert "<h1>loop</h1>" in page
    assert f"jaxmotif {command} {network}" in page
    assert "a/b" in page
    written = {path.name for path in (tmp_path / "svg").iterdir()}
    assert drawings <= written
    assert {name.replace(".svg", ".pdf") for name in drawings} <= written


def test_a_page_of_graphlets_is_of_orbits_whatever_is_counted(network, tmp_path):
    pages = {}
    for per in ("graph", "edge", "node"):
        run("graphlets", network, "--per", per, "--report", tmp_path / f"{per}.html", "--output", tmp_path / "out.csv")
        pages[per] = (tmp_path / f"{per}.html").read_text().partition("jaxmotif graphlets")[0]
    assert "<h1>loop</h1>" in pages["graph"]
    assert pages["graph"] == pages["edge"] == pages["node"]


def test_drawings_of_signed_classes_bear_the_words_of_their_rows(capsys, tmp_path):
    (tmp_path / "signed.csv").write_text("source,target,sign\na,b,+\nb,c,-\n")
    options = ["--edge-label", "sign", "--directed", "--figures", tmp_path / "svg", "--format", "csv"]
    run("census", tmp_path / "signed.csv", *options)
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    (row,) = csv.DictReader(lines)
    drawn = {path.name for path in (tmp_path / "svg").iterdir()}
    assert {f"class-{row['class']}.svg", f"class-{row['class']}.pdf"} <= drawn
    run("graphlets", tmp_path / "signed.csv", *options, "--typed")
    assert {path.name for path in (tmp_path / "svg").iterdir()} == drawn | {
        f"class-.,.,{sign},..{form}" for sign in "+-" for form in ("svg", "pdf")
    }
    capsys.readouterr()
    run("census", tmp_path / "signed.csv", *options[:3], "--disjoint", "node", "--format", "json")
    assert json.loads(capsys.readouterr().out)["classes"][0]["disjoint"] == 1
    run("census", tmp_path / "signed.csv", *options[:3], "--per", "node", "--format", "json")
    assert json.loads(capsys.readouterr().out)["columns"][1:] == [f"{row['class']}:{place}" for place in range(3)]


def test_a_match_and_a_search(capsys, network, tmp_path):
    run("match", "triangle", network, "--report", tmp_path / "match.html", "--figures", tmp_path, quiet=False)
    told = capsys.readouterr().err
    assert f"jaxmotif: report written to {tmp_path / 'match.html'}\n" in told
    assert f"jaxmotif: 1 figures written to {tmp_path}, as SVG and PDF\n" in told
    assert "<h1>loop</h1>" in (tmp_path / "match.html").read_text()
    assert (tmp_path / "triangle.svg").exists()
    assert main(["match", "triangle", str(network), "--limit", "1", "--report", str(tmp_path / "m.html")]) == 1
    assert "leave one of them out" in capsys.readouterr().err
    (tmp_path / "colors").write_text("x red\ny blue\n")
    run("search", network, "--colors", tmp_path / "colors", "--motif", "red,blue", "--report", tmp_path / "search.html")
    assert "x, y" in (tmp_path / "search.html").read_text()


def test_several_networks(capsys, monkeypatch, network, tmp_path):
    first, second = made_up(["000000110", "000100110"]), made_up(["000001100", "000100110"], seed=1)
    found, checkpoints = itertools.cycle((first, second)), []

    def find(args, graph, checkpoint):
        checkpoints.append(checkpoint)
        return next(found)

    monkeypatch.setattr(_motifs, "_find", find)
    other = tmp_path / "other.txt"
    other.write_text("1 2\n2 3\n1 3\n3 4\n")
    options = ["--directed", "--format", "csv", "--report", tmp_path / "both.html"]
    run("motifs", network, other, *options)
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    assert [(row["network"], row["id"]) for row in rows if row["id"] != "38"] == [("loop", "6"), ("other", "12")]
    page = (tmp_path / "both.html").read_text()
    assert "<h1>loop, other</h1>" in page
    again = tmp_path / "other" / "loop.txt"  # a second network of this name
    again.parent.mkdir()
    again.write_text(other.read_text())
    kept = tmp_path / "kept"
    run("motifs", network, again, "--directed", "--format", "csv", "--checkpoint", kept)
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    assert {row["network"] for row in csv.DictReader(lines)} == {str(network), str(again)}
    run("motifs", network, "--directed", "--checkpoint", kept)
    next(found)
    names = [str(path).replace("/", "%") for path in (network, again)]
    assert checkpoints == [None, None, kept / names[0], kept / names[1], kept]  # of several networks one each
    capsys.readouterr()
    figures = []
    monkeypatch.setattr(report, "motif_figures", lambda *given: figures.append(given) or {})
    options = "--directed", "--together", "--figures", tmp_path / "svg", "--drawings", 1, "--format", "json"
    run("motifs", network, other, *options)
    classes = json.loads(capsys.readouterr().out)["classes"]
    wanted = [q for one in correct_together((first, second)) for q in one.table()["q"]]
    assert [row["q"] for row in classes] == pytest.approx(wanted)
    assert {path.name for path in (tmp_path / "svg").iterdir()} == {"id6.svg", "id6.pdf"}
    [(networks, distances)] = figures
    drawn = [(name, graph.n, found.classes) for name, graph, found in networks]
    assert (drawn, distances) == ([("loop", 4, first.classes), ("other", 4, second.classes)], {})
    assert main(["motifs", str(network), str(other), "--occurrences", str(tmp_path / "o.csv")]) == 1
    assert "for one network" in capsys.readouterr().err
