"""Graphs that are written and read again: the same names, edges, directions, labels and attributes."""

import logging

import networkx as nx
import numpy as np
import pytest

from jaxmotif.cli import _convert, main
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


def test_the_command(tmp_path, capsys, monkeypatch):
    assert main(["convert", "celegans", str(tmp_path / "worm.sif")]) == 0
    assert "279" in capsys.readouterr().out
    assert content(read_graph(tmp_path / "worm.sif", directed=True)) == content(read_graph_of("celegans"))
    assert main(["convert", "celegans", str(tmp_path / "worm.docx")]) == 1
    assert "by the ending of the name; got 'docx'" in capsys.readouterr().err
    assert main(["convert", "celegans", str(tmp_path / "nowhere" / "worm.csv")]) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["worm.sif"]
    monkeypatch.setattr(_convert, "load_graph", lambda args, **_: Graph.from_edges([(0, 1)], node_names=["x", "y"]))
    assert main(["convert", "-", str(tmp_path / "worm.sif")]) == 0
    assert (tmp_path / "worm.sif").read_text().split() == ["x", "pp", "y"]


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


KEYS = ["id", "label", "name", "key", "source", "target", "type", "value", "parents", "spells", "viz", "start", "SUID"]
KEYS += ["shared_name", "networkx_key", "edge_id"]


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph])
@pytest.mark.parametrize("name", ["graphml", "gexf", "gml", "cyjs", "json"])
def test_attributes_with_names_of_the_format(name, kind, tmp_path):
    """The values of nodes are names of other nodes, which would move the edges."""
    made = kind([("a", "b"), ("a", "c"), *([("a", "b")] if kind is nx.MultiGraph else [])])
    nx.set_node_attributes(made, {node: dict.fromkeys(KEYS, "bca"["abc".index(node)]) for node in made})
    for number, (*_, data) in enumerate(made.edges(data=True)):
        data |= dict.fromkeys(KEYS, f"value {number}")
    graph, path = Graph.from_networkx(made, attributes=True), tmp_path / f"graph.{name}"
    write_graph(graph, path)
    again = read_graph(path, attributes=True)
    assert again.node_names.tolist() == ["a", "b", "c"]
    assert content(again) == content(graph)
    for side, columns, values in (
        ("node", again.attributes.nodes, ["b", "c", "a"]),
        ("edge", again.attributes.edges, [data["id"] for *_, data in made.edges(data=True)]),
    ):
        for key in KEYS:
            # The format's own column, such as the names in cyjs, may have the name that the attribute had.
            written_as = next(title for title in (f"{side}_{side}_{key}", f"{side}_{key}", key) if title in columns)
            assert columns[written_as].tolist() == values, (side, key)


@pytest.mark.parametrize(("name", "read"), [("cyjs", ["name"]), ("json", [])])
def test_names_of_nodes_become_no_further_attributes(name, read, tmp_path):
    graph = Graph.from_edges([(0, 1)], node_names=["a", "b"])
    for number in range(3):
        write_graph(graph, tmp_path / f"{number}.{name}")
        graph = read_graph(tmp_path / f"{number}.{name}", attributes=True)
        assert list(graph.attributes.nodes) == read
    write_graph(graph.with_attributes(nodes={"name": ["a", "b"]}), tmp_path / f"same.{name}")
    same = read_graph(tmp_path / f"same.{name}", attributes=True).attributes.nodes
    assert {key: values.tolist() for key, values in same.items()} == {"name": ["a", "b"]}
    kept = graph.with_attributes(nodes={"value": ["a", "c"], "name": ["a", "c"]})
    write_graph(kept, tmp_path / f"kept.{name}")
    again = read_graph(tmp_path / f"kept.{name}", attributes=True)
    assert again.attributes.nodes["node_name"].tolist() == ["a", "c"]
    assert ["a", "c"] in [
        again.attributes.nodes[key].tolist() for key in ("value", "node_value") if key in again.attributes.nodes
    ]


def test_labels_beside_an_attribute_label(tmp_path):
    first = tmp_path / "first.csv"
    first.write_text("source,target,kind,label\na,b,act,L1\nb,c,inh,\n")
    assert main(["convert", str(first), str(tmp_path / "g.sif"), "--edge-label", "kind", "--directed"]) == 0
    assert (tmp_path / "g.sif").read_text() == "a\tact\tb\nb\tinh\tc\n"
    graph = read_graph(first, directed=True, edge_label="kind", attributes=True)
    write_graph(graph, tmp_path / "g.csv")
    head, *rows = (tmp_path / "g.csv").read_text().splitlines()
    assert (head, rows[1]) == ("source,target,label,kind,edge_label", "b,c,inh,inh,")
    assert graph.to_networkx().edges["a", "b"] == {"label": "act", "kind": "act", "edge_label": "L1"}
    labelled = Graph.from_edges([(0, 1)], node_labels=[3, 4]).with_attributes(nodes={"label": ["x", "y"]})
    assert labelled.to_networkx().nodes[1] == {"label": 4, "node_label": "y"}
    alike = Graph.from_edges([(0, 1)], edge_labels=[9]).with_attributes(edges={"label": [9]})
    assert alike.to_networkx().edges[0, 1] == {"label": 9}


@pytest.mark.parametrize("name", ["csv", "tsv", "graphml", "gml"])
def test_names_like_comments(name, tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2), (0, 2)], node_names=["#1", "A", "%x"], directed=True)
    write_graph(graph, tmp_path / f"graph.{name}")
    assert content(read_graph(tmp_path / f"graph.{name}", directed=True)) == content(graph)


@pytest.mark.parametrize(
    ("name", "title", "bad"),
    [
        *(("sif", "SIF", bad) for bad in ("#1", "a\tb", " a", "a\nb", '"a"')),
        *(("csv", "CSV", bad) for bad in ("a ", "\ta", "a\nb", "a\rb", "", "\ud800")),
        *(("tsv", "TSV", bad) for bad in ("a ", "a\nb")),
        *(("graphml", "GraphML", bad) for bad in ("a\x0b", "\x01", "\ud800")),
        *(("gexf", "GEXF", bad) for bad in ("a\x0b", "\x01")),
        *(("gml", "GML", bad) for bad in ("a\x0b", "\x01", "\x80", "")),
    ],
)
def test_names_that_a_format_cannot_hold(name, title, bad, tmp_path):
    graph = Graph.from_edges([(0, 1)], node_names=[bad, "B"], directed=True)
    with pytest.raises(ValueError, match=f"{title} cannot hold the name .*; GraphML can"):
        write_graph(graph, tmp_path / f"graph.{name}")
    assert not list(tmp_path.iterdir())
    for other in ("json", "cyjs"):
        write_graph(graph, tmp_path / f"graph.{other}")
        assert read_graph(tmp_path / f"graph.{other}").node_names.tolist() == [bad, "B"]


def test_names_of_several_types(tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2)], node_names=[(0, "x"), 1.5, 7])
    for name in sorted(set(WRITERS) - {"npz"}):
        write_graph(graph, tmp_path / f"graph.{name}")
        again = read_graph(tmp_path / f"graph.{name}", columns=(0, 1) if name in ("csv", "tsv") else None)
        assert set(again.node_names.tolist()) == {"(0, 'x')", "1.5", "7"}
        with pytest.raises(ValueError, match="several nodes have one name"):
            write_graph(Graph.from_edges([(0, 1)], node_names=[1, "1"]), tmp_path / f"graph.{name}")


def test_sif_of_nodes_alone(tmp_path):
    write_graph(Graph.from_edges([], node_names=["a", "b"]), tmp_path / "graph.sif")
    assert read_graph(tmp_path / "graph.sif").node_names.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="SIF without edges cannot hold the name 'a b c'"):
        write_graph(Graph.from_edges([], node_names=["a b c", "d"]), tmp_path / "graph.sif")


@pytest.mark.parametrize(
    ("name", "title", "value", "message"),
    [
        ("csv", "w", "a\nb", r"CSV cannot hold the edge attribute 'w' with the value 'a\\nb'"),
        ("csv", "w", "Na", "CSV cannot hold the edge attribute 'w' with the value 'Na', which means a missing one"),
        ("csv", "w", "-", "CSV cannot hold the edge attribute 'w' with the value '-'"),
        ("tsv", "w", "?", r"TSV cannot hold the edge attribute 'w' with the value '\?'"),
        ("graphml", "w", "a\rb", r"GraphML cannot hold the edge attribute 'w' with the value 'a\\rb'"),
        ("tsv", ";w", 1, "TSV cannot hold the edge attribute ';w'"),
        ("csv", "a\nb", 1, r"CSV cannot hold the edge attribute 'a\\nb'"),
        ("graphml", "w", "a\x0bb", "GraphML cannot hold the edge attribute 'w' with the value .*JSON any text"),
        ("gexf", "w", "a\x01b", "GEXF cannot hold the edge attribute 'w' with the value .*JSON any text"),
        ("gml", "w", "a\x01b", "GML cannot hold the edge attribute 'w' with the value .*JSON any text"),
        *(
            ("gml", title, 1, f"GML cannot hold the edge attribute '{title}' .*; GraphML can")
            for title in ("score 1", "1st", "a:b", "\xe9", "")
        ),
        *(
            (name, "w", [1, 2], f"{title} cannot hold the edge attribute 'w', in which a value is of type list; json")
            for name, title in (("graphml", "GraphML"), ("gexf", "GEXF"), ("gml", "GML"))
        ),
        ("json", "w", {1}, "JSON cannot hold the edge attribute 'w', in which a value is of type set; .* csv and tsv"),
    ],
)
def test_values_that_a_format_cannot_hold(name, title, value, message, tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2)]).with_attributes(edges={title: [value, None]})
    with pytest.raises(ValueError, match=message):
        write_graph(graph, tmp_path / f"graph.{name}")
    assert not list(tmp_path.iterdir())


def test_sif_of_numbers(tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2)], edge_labels=[5, 6], directed=True)
    write_graph(graph, tmp_path / "graph.sif")
    again = read_graph(tmp_path / "graph.sif", directed=True, edge_label=1)
    assert again.edge_list().tolist() == graph.edge_list().tolist()
    assert np.asarray(again.edge_labels)[:2].tolist() == [5, 6]


def test_relations_that_sif_cannot_hold(tmp_path):
    arc = Graph.from_edges([(0, 1)], edge_labels=[0], directed=True)
    with pytest.raises(ValueError, match="SIF cannot hold arcs with the relation 'pp'.*GraphML can"):
        write_graph(arc._with_host_fields(arc.report, arc.node_names, None, {0: "pp"}), tmp_path / "graph.sif")
    both = Graph.from_edges([(0, 1), (1, 0)], edge_labels=[0, 0], directed=True)
    write_graph(both._with_host_fields(both.report, both.node_names, None, {0: "pp"}), tmp_path / "graph.sif")
    assert read_graph(tmp_path / "graph.sif", directed=True).edge_list().tolist() == [[0, 1], [1, 0]]
    graph = Graph.from_edges([(0, 1)], edge_labels=[0])
    for word in ("a\tb", "a\nb", "", '"a"'):
        worded = graph._with_host_fields(graph.report, graph.node_names, None, {0: word})
        with pytest.raises(ValueError, match="SIF cannot hold the edge attribute 'label' with the value"):
            write_graph(worded, tmp_path / "graph.sif")


@pytest.mark.parametrize("name", ["graphml", "gexf", "gml", "cyjs", "json"])
def test_scalars_of_numpy(name, tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2)]).with_attributes(edges={"w": [np.int64(3), "x"]})
    write_graph(graph, tmp_path / f"graph.{name}")
    again = read_graph(tmp_path / f"graph.{name}", attributes=True)
    assert list(map(str, again.attributes.edges["w"].tolist())) == ["3", "x"]


def test_infinite_values(tmp_path):
    graph = Graph.from_edges([(0, 1), (1, 2)]).with_attributes(edges={"score": [float("inf"), 2.0]})
    for name in ("gml", "graphml", "csv", "tsv"):
        write_graph(graph, tmp_path / f"graph.{name}")
        again = read_graph(tmp_path / f"graph.{name}", attributes=True)
        assert again.attributes.edges["score"].tolist() == [float("inf"), 2.0], name
    for name in ("json", "cyjs"):
        with pytest.raises(ValueError, match="JSON has no infinite numbers"):
            write_graph(graph, tmp_path / f"graph.{name}")
        assert not (tmp_path / f"graph.{name}").exists()
