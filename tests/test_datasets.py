"""The bundled networks."""

import json
from pathlib import Path

import numpy as np
import pytest

from jaxmotif import datasets, read_graph

FOLDER = Path(datasets.__file__).parent


@pytest.mark.parametrize(
    ("name", "n", "m", "first"),
    [
        ("karate", 34, 78, 1), ("florentine", 15, 20, "Acciaiuoli"),
        ("celegans", 281, 2309, "ADAL"), ("celegans-gap", 253, 514, "ADAL"),
    ],
)  # fmt: skip
def test_sizes(name, n, m, first):
    graph = datasets.load(name)
    assert (graph.n, graph.m, graph.node_names[0]) == (n, m, first)
    report = graph.report
    assert (report.rows, report.self_loops, report.duplicates, report.reverse_duplicates) == (m, 0, 0, 0)
    entry = datasets.describe(name)
    assert graph.directed == entry.directed
    assert str(n) in entry.description
    assert str(m) in entry.description
    assert f"`{name}.edges`" in (FOLDER / "ATTRIBUTION.md").read_text()


def test_all_are_tested_and_small():
    assert datasets.names() == ("karate", "florentine", "celegans", "celegans-gap")
    assert sorted(path.stem for path in FOLDER.glob("*.edges")) == sorted(datasets.names())
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) < 200_000


def test_against_networkx():
    networkx = pytest.importorskip("networkx")
    karate = datasets.load("karate").edge_list()
    assert set(map(tuple, karate.tolist())) == {tuple(sorted(e)) for e in networkx.karate_club_graph().edges}
    graph = datasets.load("florentine")
    found = {frozenset(graph.node_names[edge]) for edge in graph.edge_list()}
    assert found == {frozenset(e) for e in networkx.florentine_families_graph().edges}


def test_celegans_is_the_verified_network(shared_data):
    arcs = np.loadtxt(shared_data / "directed" / "celegans_cect_varshney.edges", dtype=np.int64)
    assert set(map(tuple, datasets.load("celegans").edge_list().tolist())) == set(map(tuple, arcs.tolist()))
    sizes = json.loads((shared_data / "undirected" / "graphlets.json").read_text())["graphs"]["karate"]
    assert (sizes["n"], sizes["m"]) == (34, 78)


def test_unknown_names():
    with pytest.raises(ValueError, match="no bundled network is called 'karat'; there are karate"):
        datasets.load("karat")
    with pytest.raises(ValueError, match="called ''"):
        datasets.describe("")


def test_resolve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_graph(datasets.resolve("celegans")).m == 2309
    with pytest.raises(ValueError, match="no file 'karte', nor .* did you mean 'karate'"):
        datasets.resolve("karte")
    with pytest.raises(ValueError, match="bundled networks are karate"):
        datasets.resolve("graph.txt")
    Path("karate").write_text("0 1\n")
    assert read_graph(datasets.resolve("karate")).m == 1
