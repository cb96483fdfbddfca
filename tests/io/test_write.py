"""Graphs that are written and read again: the same names, edges, directions, labels and attributes."""

import logging

import networkx as nx
import numpy as np
import pytest

from jaxmotif.cli import main
from jaxmotif.graph import Graph, read_graph
from jaxmotif.io import write_graph
from jaxmotif.io._write import WRITERS

SAYS_DIRECTION = {"graphml", "gexf", "gml", "cyjs", "json", "npz"}
KEEPS_ISOLATED = SAYS_DIRECTION | {"sif"}


def written(name: str, directed: bool, path, **labels) -> tuple[Graph, Graph]:
    rng = np.random.default_rng(len(name) + directed)
    names = [f"gene {i}" for i in range(9)] + ["ä,b", 'quo"te', "alone"]
    pairs = {tuple(sorted(pair)) for pair in rng.integers(0, 11, (25, 2)).tolist() if pair[0] != pair[1]}
    pairs |= {(9, 10)}
    graph = Graph.from_edges(sorted(pairs), 12, directed, node_names=names, **labels)
    write_graph(graph, path)
    return graph, read_graph(path, directed=None if name in SAYS_DIRECTION else directed)


def content(graph: Graph) -> set:
    names = graph.node_names.tolist()
    ends = [(names[u], names[v]) for u, v in graph.edge_list().tolist()]
    return {end if graph.directed else frozenset(end) for end in ends}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", WRITERS)
def test_round_trip(name, directed, tmp_path, caplog):
    with caplog.at_level(logging.INFO, "jaxmotif"):
        graph, again = written(name, directed, tmp_path / f"graph.{name}")
    assert ("nodes without an edge are not in a table" in caplog.text) == (name not in KEEPS_ISOLATED)
    assert again.directed == directed
    assert content(again) == content(graph)
    isolated = set(graph.node_names.tolist()) - {x for end in content(graph) for x in end}
    assert "alone" in isolated
    assert set(again.node_names.tolist()) == set(graph.node_names.tolist()) - (
        set() if name in KEEPS_ISOLATED else isolated
    )
    assert [file.name for file in tmp_path.iterdir()] == [f"graph.{name}"]


@pytest.mark.parametrize("name", sorted(set(WRITERS) - {"npz", "sif"}))
def test_labels_and_attributes_go_with_it(name, tmp_path):
    first = tmp_path / "first.csv"
    first.write_text("source,target,sign,weight\nlacI,lacZ,-,2.5\ncrp,lacZ,+,1\ncrp,lacI,+,7\n")
    graph = read_graph(first, directed=True, edge_label="sign", attributes=True)
    path = tmp_path / f"graph.{name}"
    write_graph(graph, path)
    again = read_graph(path, directed=True, edge_label="label", attributes=True)
    assert content(again) == content(graph)

    def rows(one):
        names, words = one.node_names.tolist(), one.edge_label_names
        signs = [words[x] for x in np.asarray(one.edge_labels)[one.edge_slots()].tolist()]
        return {
            (names[u], names[v], sign, float(weight))
            for (u, v), sign, weight in zip(
                one.edge_list().tolist(), signs, one.attributes.edges["weight"].tolist(), strict=True
            )
        }

    assert rows(again) == {("lacI", "lacZ", "-", 2.5), ("crp", "lacZ", "+", 1), ("crp", "lacI", "+", 7)}


def test_networkx_opens_what_is_written(tmp_path):
    graph, _ = written("graphml", True, tmp_path / "graph.graphml")
    assert set(nx.read_graphml(tmp_path / "graph.graphml").edges) == content(graph)
    write_graph(graph, tmp_path / "graph.gexf")
    assert {(u, v) for u, v in nx.read_gexf(tmp_path / "graph.gexf").edges} == content(graph)


def test_the_command(tmp_path, capsys):
    assert main(["convert", "celegans", str(tmp_path / "worm.sif")]) == 0
    assert "279" in capsys.readouterr().out
    assert content(read_graph(tmp_path / "worm.sif", directed=True)) == content(read_graph_of("celegans"))
    assert main(["convert", "celegans", str(tmp_path / "worm.docx")]) == 1
    assert "by the ending of the name; got 'docx'" in capsys.readouterr().err
    assert main(["convert", "celegans", str(tmp_path / "nowhere" / "worm.csv")]) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["worm.sif"]


def read_graph_of(name: str) -> Graph:
    from jaxmotif.datasets import load

    return load(name)


PARALLEL = "source,target,weight,sign\na,b,1.5,+\nb,c,0.5,-\nc,d,2,+\na,b,3,+\n"


@pytest.mark.parametrize("name", sorted(set(WRITERS) - {"npz", "sif"}))
def test_parallel_edges_keep_their_values(name, tmp_path):
    first, path = tmp_path / "first.csv", tmp_path / f"graph.{name}"
    first.write_text(PARALLEL)
    write_graph(read_graph(first, directed=True, attributes=True), path)
    again = read_graph(path, directed=True, attributes=True)
    assert again.m == 3
    assert set(again.attributes.edges) == {"weight", "sign"}
    names, ends = again.node_names.tolist(), again.edge_list()[again.attributes.rows].tolist()
    weights, signs = (again.attributes.edges[key].tolist() for key in ("weight", "sign"))
    rows = sorted((names[u], names[v], float(w), s) for (u, v), w, s in zip(ends, weights, signs, strict=True))
    assert rows == [("a", "b", 1.5, "+"), ("a", "b", 3, "+"), ("b", "c", 0.5, "-"), ("c", "d", 2, "+")]


def test_summed_weights_are_written_once(tmp_path):
    first, path = tmp_path / "first.csv", tmp_path / "summed.csv"
    first.write_text(PARALLEL)
    assert main(["convert", str(first), str(path), "--directed", "--weight", "weight"]) == 0
    assert path.read_text() == "source,target,weight,sign\na,b,4.5,+\nb,c,0.5,-\nc,d,2.0,+\n"


@pytest.mark.parametrize("name", ["graphml", "gexf", "gml", "cyjs", "json"])
@pytest.mark.parametrize("values", ["unlike", "alike"])
@pytest.mark.parametrize("title", ["label", "name"])
def test_attributes_do_not_rename_nodes(title, values, name, tmp_path):
    made = nx.DiGraph([("P1", "P2"), ("P2", "P3"), ("P1", "P3")])
    for node in made:
        made.nodes[node][title] = f"gene {node}" if values == "unlike" else "kinase"
    path = tmp_path / f"graph.{name}"
    write_graph(Graph.from_networkx(made, attributes=True), path)
    again = read_graph(path, attributes=True)
    assert content(again) == {("P1", "P2"), ("P2", "P3"), ("P1", "P3")}
    written_as = next(key for key in (f"node_{title}", title) if key in again.attributes.nodes)
    places = [again.node_names.tolist().index(node) for node in made]
    assert again.attributes.nodes[written_as][places].tolist() == [made.nodes[node][title] for node in made]


@pytest.mark.parametrize("name", ["csv", "tsv", "graphml", "gml"])
def test_names_like_comments(name, tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2), (0, 2)], node_names=["#1", "A", "%x"], directed=True)
    write_graph(graph, tmp_path / f"graph.{name}")
    assert content(read_graph(tmp_path / f"graph.{name}", directed=True)) == content(graph)


@pytest.mark.parametrize("bad", ["#1", "a\tb", " a", "a\nb"])
def test_names_that_sif_cannot_hold(bad, tmp_path):
    graph = Graph.from_edges([(0, 1)], node_names=[bad, "B"], directed=True)
    with pytest.raises(ValueError, match="SIF cannot hold the name .*; GraphML can"):
        write_graph(graph, tmp_path / "graph.sif")
    assert not list(tmp_path.iterdir())


def test_infinite_values(tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2)]).with_attributes(edges={"score": [float("inf"), 2.0]})
    for name in ("gml", "graphml"):
        write_graph(graph, tmp_path / f"graph.{name}")
        again = read_graph(tmp_path / f"graph.{name}", attributes=True)
        assert again.attributes.edges["score"].tolist() == [float("inf"), 2.0], name
    for name in ("json", "cyjs"):
        with pytest.raises(ValueError, match="JSON has no infinite numbers"):
            write_graph(graph, tmp_path / f"graph.{name}")
        assert not (tmp_path / f"graph.{name}").exists()
