"""The bundled networks."""

import re
from pathlib import Path

import numpy as np
import pytest

from jaxmotif import datasets, read_graph

FOLDER = Path(datasets.__file__).parent


@pytest.mark.parametrize(
    ("name", "n", "m", "first"),
    [
        ("karate", 34, 78, 1), ("florentine", 15, 20, "Acciaiuoli"),
        ("celegans", 279, 2194, "ADAL"), ("celegans-gap", 253, 514, "ADAL"),
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


NEURON_CLASSES = (
    "ADA ADE ADF ADL AFD AIA AIB AIM AIN AIY AIZ ALA ALM ALN AQR AS ASE ASG ASH ASI ASJ ASK AUA AVA AVB AVD AVE AVF "
    "AVG AVH AVJ AVK AVL AVM AWA AWB AWC BAG BDU CEP DA DB DD DVA DVB DVC FLP HSN IL1 IL2 LUA OLL OLQ PDA PDB PDE PHA "
    "PHB PHC PLM PLN PQR PVC PVD PVM PVN PVP PVQ PVR PVT PVW RIA RIB RIC RID RIF RIG RIH RIM RIP RIR RIS RIV RMD RME "
    "RMF RMG RMH SAA SAB SDQ SIA SIB SMB SMD URA URB URX URY VA VB VC VD"
)
"""Classes of the neurons outside the pharynx that have a synapse, after White et al. (1986)."""
FAMILIES = (
    "Acciaiuoli Albizzi Barbadori Bischeri Castellani Ginori Guadagni Lamberteschi Medici Pazzi Peruzzi Ridolfi "
    "Salviati Strozzi Tornabuoni"
)


def test_nodes_are_what_the_text_says():
    """A muscle was among the neurons once."""
    assert datasets.load("karate").node_names.tolist() == list(range(1, 35))
    assert set(datasets.load("florentine").node_names) == set(FAMILIES.split())
    neurons, joined = (set(datasets.load(name).node_names) for name in ("celegans", "celegans-gap"))
    suffix = r"(\d{1,2}|[DV]?[LR]?)"  # a number in a row, or dorsal or ventral, left or right
    classes = re.compile(f"({NEURON_CLASSES.replace(' ', '|')}){suffix}")
    assert [name for name in sorted(neurons) if not classes.fullmatch(name)] == []
    assert joined <= neurons


def test_celegans_is_the_verified_network(shared_data):
    """That of the data folder without the arcs to muscles (115) and the neuron that has no others."""
    arcs = np.loadtxt(shared_data / "directed" / "celegans_cect_varshney.edges", dtype=np.int64)
    worm = datasets.load("celegans")
    names = np.array(sorted([*worm.node_names, "BWM", "VC6"]), object)
    kept = [(u, v) for u, v in names[arcs].tolist() if v != "BWM"]
    assert len(arcs) - len(kept) == 115
    assert set(map(tuple, worm.node_names[worm.edge_list()].tolist())) == set(kept)


def test_unknown_names():
    with pytest.raises(ValueError, match="no bundled network is called 'karat'; there are karate"):
        datasets.load("karat")
    with pytest.raises(ValueError, match="called ''"):
        datasets.describe("")


def test_resolve(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_graph(datasets.resolve("celegans")).m == 2194
    with pytest.raises(ValueError, match="no file 'karte', nor .* did you mean 'karate'"):
        datasets.resolve("karte")
    with pytest.raises(ValueError, match="there is no file '', nor a bundled network"):
        datasets.resolve("")
    with pytest.raises(ValueError, match="bundled networks are karate"):
        datasets.resolve("graph.txt")
    Path("karate").write_text("0 1\n")
    assert read_graph(datasets.resolve("karate")).m == 1
