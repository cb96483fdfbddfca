"""``jaxmotif graphlets`` from file to answer."""

import csv
import json

import pytest

from jaxmotif.cli import main
from tests.more import more

KARATE = {
    "edge": 78, "2-node-indep": 483, "triangle": 45, "2-star": 393, "3-node-1-edge": 1575, "3-node-indep": 3971,
    "4-clique": 11, "chordal-cycle": 85, "tailed-triangle": 452, "4-cycle": 36, "3-star": 1098, "4-path": 681,
    "4-node-1-triangle": 729, "4-node-2-star": 6309, "4-node-2-edge": 1067, "4-node-1-edge": 13969,
    "4-node-indep": 21939,
}  # fmt: skip


def run(capsys, *arguments):
    assert main(["graphlets", *map(str, arguments)]) == 0
    return capsys.readouterr()


def document(capsys, *arguments):
    result = json.loads(run(capsys, *arguments, "--format", "json").out)
    assert result.pop("run")["graph"] == str(arguments[0])
    return result


def test_counts_of_a_bundled_network(capsys):
    result = document(capsys, "karate")
    assert result == {"nodes": 34, "edges": 78, "counts": KARATE}
    assert list(result["counts"]) == list(KARATE)


def test_the_three_formats_agree(capsys):
    counts = document(capsys, "karate")["counts"]
    lines = run(capsys, "karate", "--format", "csv").out.splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert {row["graphlet"]: int(row["count"]) for row in rows} == counts
    table = run(capsys, "karate").out.splitlines()
    assert table[:2] == ["nodes  34", "edges  78"]
    assert {line.split()[0]: int(line.split()[-1]) for line in table[4:]} == counts


@pytest.mark.parametrize("per", ["edge", "node"])
def test_names_are_given_back(per, capsys, tmp_path):
    (tmp_path / "g.txt").write_text("ann bob\nbob cy\ncy ann\ncy dan\n")
    result = document(capsys, tmp_path / "g.txt", "--per", per)
    rows = [dict(zip(result["columns"], row, strict=True)) for row in result["rows"]]
    if per == "edge":
        assert {frozenset((r["u"], r["v"])) for r in rows} == {
            frozenset(pair) for pair in (("ann", "bob"), ("bob", "cy"), ("ann", "cy"), ("cy", "dan"))
        }
    else:
        assert {r["node"]: r["orbit-0"] for r in rows} == {"ann": 2, "bob": 2, "cy": 3, "dan": 1}
        assert {r["node"]: r["orbit-3"] for r in rows} == {"ann": 1, "bob": 1, "cy": 1, "dan": 0}


def test_a_directed_file_counts_as_undirected_and_says_so(capsys, tmp_path):
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 4\n1 2\n2 1\n2 3\n3 1\n")
    shown = run(capsys, tmp_path / "g.mtx", "--format", "json")
    assert json.loads(shown.out)["counts"]["triangle"] == 1
    assert "directions ignored: 4 arcs count as 3 undirected edges" in shown.err


def test_dropped_rows_are_reported_unless_quiet(capsys, tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n1 0\n1 2\n2 2\n")
    assert "1 self loop" in run(capsys, tmp_path / "g.txt").err
    assert run(capsys, tmp_path / "g.txt", "--quiet").err == ""


def test_huge_counts_are_exact(capsys, tmp_path):
    (tmp_path / "g.txt").write_text("100000 10\n" + "".join(f"{i} {i + 1}\n" for i in range(0, 20, 2)))
    result = document(capsys, tmp_path / "g.txt", "--input-format", "orca")
    assert result["nodes"] == 100_000
    pairs, n = 10, 100_000
    assert result["counts"]["4-node-2-edge"] == pairs * (pairs - 1) // 2
    one_edge = pairs * ((n - 2) * (n - 3) // 2) - 2 * (pairs * (pairs - 1) // 2)
    assert result["counts"]["4-node-1-edge"] == one_edge
    every = n * (n - 1) * (n - 2) * (n - 3) // 24
    assert result["counts"]["4-node-indep"] == every - one_edge - pairs * (pairs - 1) // 2


@pytest.mark.parametrize(("content", "form"), [("source target\n", "edges"), ("0 0\n", "orca")])
def test_an_empty_graph_has_no_graphlets(content, form, capsys, tmp_path):
    (tmp_path / "g.txt").write_text(content)
    result = document(capsys, tmp_path / "g.txt", "--input-format", form)
    assert result == {"nodes": 0, "edges": 0, "counts": dict.fromkeys(KARATE, 0)}


def test_real_network(capsys, tmp_path, shared_data):
    stored = json.loads((shared_data / "undirected" / "graphlets.json").read_text())["graphs"]["celegans_metabolic"]
    run(
        capsys,
        shared_data / "undirected" / "celegans_metabolic.edges.gz",
        "--output",
        tmp_path / "o",
        "--format",
        "json",
    )
    result = json.loads((tmp_path / "o").read_text())
    assert result["counts"] == stored["counts"]


def test_all_subgraphs_instead_of_induced_ones(capsys):
    counts = document(capsys, "karate", "--not-induced")["counts"]
    assert counts["triangle"] == KARATE["triangle"]
    assert counts["2-star"] == KARATE["2-star"] + 3 * KARATE["triangle"]


@pytest.mark.parametrize("by_node", [False, *more(True)])
def test_typed_graphlets_tell_directions_and_labels(capsys, tmp_path, by_node):
    (tmp_path / "g.txt").write_text("4 3 1\nred\nblue\nred\nblue\n0 1\n1 2\n2 3\n")  # directed
    if not by_node:
        result = document(capsys, tmp_path / "g.txt", "--typed")
        assert result["counts"]["blue,red:0010"] == 2
        assert result["counts"]["blue,red:0100"] == 1  # from blue to red
        assert sum(result["counts"].values()) == 3 + 2 + 1
        return
    nodes = document(capsys, tmp_path / "g.txt", "--typed", "--per", "node")
    assert nodes["rows"][0][nodes["columns"].index("blue,red:0010:1")] == 1
