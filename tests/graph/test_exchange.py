"""Graphs from and to other libraries, saved files, notebooks, forked processes."""

import collections
import errno
import io
import json
import logging
import os
import pickle
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import chex
import jax
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from jaxmotif.graph import Graph, GraphFileError, Graphs, as_graph, as_graphs, read_graph, stack_graphs, unstack

PAIRS = [(0, 1), (1, 2), (2, 0), (2, 3)]


def same(a: Graph, b: Graph) -> None:
    chex.assert_trees_all_equal(a, b)
    names = [None if graph.node_names is None else graph.node_names.tolist() for graph in (a, b)]
    assert names[0] == names[1]


@pytest.mark.parametrize("directed", [None, False, True])
def test_edges_in_every_form_are_one_graph(directed, tmp_path):
    expected = Graph.from_edges(PAIRS, directed=bool(directed))
    path = tmp_path / "g.edges"
    path.write_text("".join(f"{u} {v}\n" for u, v in PAIRS))
    frame = pd.DataFrame(PAIRS, columns=["Source", "Target"])
    forms = [PAIRS, np.array(PAIRS), jax.numpy.array(PAIRS), path, str(path), frame, frame.set_axis(["a", "b"], axis=1)]
    for given in forms:
        same(as_graph(given, directed), expected)
    assert as_graph(expected, not directed) is expected


def test_networkx_says_its_direction_and_what_is_passed_over(caplog):
    source = nx.DiGraph([("b", "a", {"weight": 3}), ("a", "c")])
    source.nodes["a"]["kind"] = "x"
    same(as_graph(source, directed=False), Graph.from_networkx(source))
    assert "edge attributes 'weight'" in caplog.text
    assert "node attributes 'kind'" in caplog.text
    caplog.clear()
    assert as_graph(nx.MultiGraph([(0, 1), (0, 1)]), name="target").m == 1
    assert "target: passed over parallel edges (2 nodes, 1 edge from 2 rows; left out 1 duplicate)" in caplog.text
    caplog.clear()
    as_graph(nx.path_graph(3))
    assert not caplog.text


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_of_igraph(directed, caplog):
    igraph = pytest.importorskip("igraph")
    source = igraph.Graph(
        5, PAIRS + [(2, 3)], directed=directed, vertex_attrs={"name": list("abcde"), "size": range(5)}
    )
    source.es["weight"] = [3, 1, 2, 5, 7]
    graph = as_graph(source)
    same(graph, Graph.from_edges(PAIRS, 5, directed, node_names=list("abcde")))
    assert "passed over attributes 'size', 'weight'" in caplog.text
    assert "1 duplicate" in caplog.text
    attributes = as_graph(source, attributes=True).attributes
    assert attributes.nodes["size"].tolist() == list(range(5))
    listed = [(min(pair), max(pair)) if not directed else pair for pair in PAIRS]
    weights = dict(zip(listed, [[3], [1], [2], [5, 7]], strict=True))
    rows = [weights[tuple(row)] for row in graph.edge_list().tolist()]
    assert attributes.edges["weight"].tolist() == [weight for row in rows for weight in row]
    assert as_graph(igraph.Graph(2)).n == 2


def test_graphs_of_graph_tool_by_their_interface(monkeypatch):
    """A view of the nodes 4, 7 and 9 of a graph; graph-tool itself comes by conda alone: a stand-in has its methods."""

    class Standin:
        def __init__(self):
            self.vertex_properties = {"name": {4: "a", 7: "b", 9: "c"}}
            self.edge_properties = {"weight": {Edge(9, 4): 2.5, Edge(4, 7): 1.0}}

        def is_directed(self):
            return True

        def vertices(self):
            return iter([4, 7, 9])

        def edges(self):
            return iter([Edge(9, 4), Edge(4, 7)])

    class Edge(collections.namedtuple("Edge", "s t")):
        def source(self):
            return self.s

        def target(self):
            return self.t

    monkeypatch.setitem(sys.modules, "graph_tool", SimpleNamespace(Graph=Standin))
    graph = as_graph(Standin(), attributes=True)
    same(graph, Graph.from_edges([(0, 1), (2, 0)], directed=True, node_names=["a", "b", "c"]))
    assert graph.attributes.edges["weight"].tolist() == [1.0, 2.5]


def test_sparse_arrays_are_directed_unless_symmetric(caplog):
    arcs = scipy.sparse.coo_array(([1, 1], ([0, 1], [1, 2])), shape=(3, 3))
    for form in (arcs, arcs.tocsr(), scipy.sparse.csc_matrix(arcs)):
        assert as_graph(form).directed
        assert not as_graph(form + form.T).directed
        assert (as_graph(form).m, as_graph(form + form.T).m, as_graph(form, directed=False).m) == (2, 2, 2)
    assert not caplog.text
    assert not as_graph(arcs * 5 + arcs.T * 7).directed  # the values are no part of it
    assert "values" in caplog.text
    with pytest.raises(ValueError, match=r"square, got shape \(2, 3\)"):
        as_graph(scipy.sparse.coo_array((2, 3)))
    # A zero that is stored is an edge, and so tells directions.
    stored = as_graph(scipy.sparse.coo_array(([0, 1, 1], ([0, 1, 2], [1, 2, 1])), shape=(3, 3)))
    assert (stored.directed, stored.edge_list().tolist()) == (True, [[0, 1], [1, 2], [2, 1]])


def test_tables(caplog):
    frame = pd.DataFrame({"weight": [0.5, 2.0], "to": ["p53", "mdm4"], "from": ["mdm2", "mdm2"]})
    graph = as_graph(frame, directed=True)
    assert graph.node_names.tolist() == ["mdm2", "mdm4", "p53"]
    assert graph.edge_list().tolist() == [[0, 1], [0, 2]]
    assert "columns 'weight'" in caplog.text
    assert as_graph(pd.DataFrame({"u": [-5, 9], "v": [9, 7]})).node_names.tolist() == [-5, 7, 9]
    assert as_graph(pd.DataFrame([[10, 9], [9, 30]], dtype=object)).node_names.tolist() == [9, 10, 30]
    assert as_graph(pd.DataFrame({"u": [], "v": []}, dtype=int)).n == as_graph(pd.DataFrame({"u": [], "v": []})).n == 0
    for bad, error, message in [
        (pd.DataFrame({"a": [1], "b": [2], "c": [3]}), ValueError, "two columns, .* got 'a', 'b', 'c'"),
        (pd.DataFrame({"u": ["x", None], "v": ["y", "z"]}), ValueError, "row 1 .* no value in u or v"),
        (pd.DataFrame({"u": [0.5], "v": [1.0]}), TypeError, "whole numbers or words, got float64"),
    ]:
        with pytest.raises(error, match=message):
            as_graph(bad)


@pytest.mark.parametrize(
    ("thing", "error", "message"),
    [
        (7, TypeError, "query: expected a graph: .* got builtins.int"),
        (None, TypeError, "NoneType"),
        (np.zeros((2, 5), int), ValueError, "transpose it"),
        (np.zeros((5, 5)), ValueError, r"got \(5, 5\)"),
        ([("a", "b")], TypeError, "number the nodes"),
        ("no such file", OSError, "no such file"),
        ([nx.path_graph(3)], TypeError, "query: expected one graph, got 1 graph; call it for each of them"),
    ],
)
def test_what_is_no_graph(thing, error, message):
    with pytest.raises(error, match=message):
        as_graph(thing, name="query")


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_there_and_back(kind, tmp_path):
    source = nx.gnp_random_graph(9, 0.4, seed=1, directed=kind is nx.DiGraph)
    nx.set_node_attributes(source, {v: 10 + v for v in source}, "label")
    nx.set_edge_attributes(source, {edge: i for i, edge in enumerate(source.edges)}, "label")
    source = nx.relabel_nodes(source, {v: ("cell", v) for v in source})
    graph = Graph.from_networkx(source, "label", "label")
    back = graph.to_networkx()
    assert type(back) is kind
    assert nx.utils.graphs_equal(back, source)
    matrix = graph.to_scipy()
    assert (matrix.toarray() == nx.to_numpy_array(source, nodelist=list(source), weight="label")).all()

    path = tmp_path / "graph.npz"
    for one in (graph, graph.with_padding(None), Graph.from_edges([], 0, kind is nx.DiGraph)):
        one.save(path)
        same(Graph.load(path), one.with_padding("bucket"))
        assert Graph.load(path, pad=None).node_capacity == max(one.n, 1)
    assert os.listdir(tmp_path) == ["graph.npz"]


@pytest.mark.parametrize(
    "names",
    [
        [5, 2**40],
        [np.int64(7), (np.int32(1), "a")],
        ["TP53", "na\x00me\u00e9"],
        ["x", 3],
        [(0, (1, "a")), None],
        np.array(["a", "bc"]),
    ],
)
def test_names_are_kept(names, tmp_path):
    graph = Graph.from_edges([(0, 1)], node_names=names)
    graph.save(tmp_path / "g.npz")
    kept = Graph.load(tmp_path / "g.npz").node_names
    assert kept.tolist() == graph.node_names.tolist()
    assert kept.dtype == graph.node_names.dtype


def test_words_of_labels_are_kept(tmp_path):
    path = tmp_path / "signed.tsv"
    path.write_text("a\tb\t+\nb\tc\t-\n")
    graph = read_graph(path, directed=True, columns=[0, 1, 2], label_ids={})
    assert set(graph.edge_label_names.values()) == {"+", "-"}
    graph.save(tmp_path / "g.npz")
    again = Graph.load(tmp_path / "g.npz")
    assert again.edge_label_names == graph.edge_label_names
    assert again.node_label_names is None
    assert again.to_networkx().edges["b", "c"] == {"label": "-"}


def test_files_that_are_not_saved_graphs(tmp_path):
    path = tmp_path / "g.npz"
    graph = Graph.from_edges(PAIRS, node_labels=range(4), edge_labels=[5, 6, 7, 8], node_names=list("abcd"))
    graph.save(path)
    whole = path.read_bytes()

    def written(**arrays):
        with np.load(io.BytesIO(whole)) as file:
            content = io.BytesIO()
            np.savez(content, **(dict(file) | arrays))
        return content.getvalue()

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edges.npy", b"0" * 10**6)
    other = written(jaxmotif=np.frombuffer(b'{"format": "jaxmotif graph", "version": 9}', np.uint8))
    pickled = written(edges=np.array([{"a": 1}], object))
    cases = [b"", b"0 1\n", pickle.dumps(3), whole[:300], packed.getvalue(), other, pickled]
    cases += [written(edges=np.array(rows)) for rows in ([[0, 9]], [[0, 1], [1, 0], [0, 1]], [[1, 1]], [[0.5, 1]], [0])]
    for content in cases:
        path.write_bytes(content)
        with pytest.raises(GraphFileError, match=r"g\.npz"):
            Graph.load(path)
    rng = np.random.default_rng(0)
    for _ in range(400):  # damaged anywhere: an error, or the same graph where the byte says nothing
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            again = Graph.load(path)
        except GraphFileError:
            continue
        same(again, graph)


@pytest.mark.parametrize("change", ["array", "names", "words"])
def test_a_saved_graph_whose_header_lacks_something_is_refused(change, tmp_path):
    path = tmp_path / "g.npz"
    Graph.from_edges(PAIRS, node_labels=range(4), edge_labels=[5, 6, 7, 8], node_names=list("abcd")).save(path)
    arrays = dict(np.load(path))
    header = json.loads(arrays["jaxmotif"].tobytes())
    if change == "array":
        header["arrays"][header["arrays"].index("node_labels")] = "node_labelt"
    else:
        del header["names" if change == "names" else "node_label_names"]
    np.savez(path, **(arrays | {"jaxmotif": np.frombuffer(json.dumps(header).encode(), np.uint8)}))
    for read in (Graph.load, read_graph):
        with pytest.raises(GraphFileError, match=r"g\.npz: this graph of Graph.save is damaged"):
            read(path)


def test_declared_isolated_nodes_are_kept_where_they_are_asked_for(tmp_path):
    """A file may declare 64 nodes for each edge beyond 2^20 of them; more are taken for a mistake."""
    n = (1 << 20) + 64 + 1
    edge = np.zeros(1, np.int64)
    (tmp_path / "g.mtx").write_text(f"%%MatrixMarket matrix coordinate pattern symmetric\n{n} {n} 1\n2 1\n")
    sparse = {"format": b"coo", "shape": [n, n], "row": edge, "col": edge + 1, "data": edge + 1}
    np.savez(tmp_path / "g.npz", **sparse)
    for name in ("g.mtx", "g.npz"):
        with pytest.raises(
            GraphFileError, match=f"{n} nodes are over the limit of {1 << 20} and 64 for each of 1 edges"
        ):
            read_graph(tmp_path / name)
        graph = read_graph(tmp_path / name, isolated="keep")
        assert (graph.n, graph.edge_list().tolist()) == (n, [[0, 1]])


def test_a_saved_graph_of_isolated_nodes_loads_again(tmp_path):
    Graph.from_edges([], 2_000_000).save(tmp_path / "g.npz")
    graph = Graph.load(tmp_path / "g.npz")
    assert (graph.n, graph.m) == (2_000_000, 0)


def test_saving_is_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "g.npz"
    Graph.from_edges(PAIRS).save(path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match="node_names must be words"):
        Graph.from_edges([(0, 1)], node_names=[object(), 1]).save(path)

    def full(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        Graph.from_edges([(0, 1)]).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["g.npz"]


def test_notebooks_show_a_table_and_escape_names():
    graph = Graph.from_edges([(0, 1), (1, 2)], node_names=["<script>", "b&c", "d"], node_labels=[1, 1, 2])
    shown = graph._repr_html_()
    assert "&lt;script&gt;, b&amp;c, d" in shown
    assert "<script>" not in shown
    assert "<th>edges</th><td>2</td>" in shown
    assert "<th>node labels</th><td>2 different</td>" in shown
    assert "<th>report</th>" in shown
    plain = unstack(stack_graphs([graph]))[0]._repr_html_()  # which keeps neither names nor report
    assert "<th>edges</th><td>2</td>" in plain
    assert "<th>names</th>" not in plain
    assert "<th>report</th>" not in plain
    assert "2 x capacity" in stack_graphs([graph, graph])._repr_html_()


def test_every_front_door_takes_what_as_graph_takes(tmp_path):
    import jaxmotif as jm

    graph, square = Graph.from_edges(PAIRS), nx.cycle_graph(4)
    path = tmp_path / "g.edges"
    path.write_text("".join(f"{u} {v}\n" for u, v in PAIRS))
    doors = {
        "counts": lambda g: jm.graphlet_counts(g).counts,
        "edges": lambda g: np.asarray(jm.edge_graphlets(g).values),
        "orbits": lambda g: np.asarray(jm.node_orbits(g).values),
        "count": lambda g: jm.count_matches([(0, 1), (1, 2)], g).count,
        "find": lambda g: jm.find_matches(nx.path_graph(3), g).nodes,
        "has": lambda g: jm.has_match(square, g),
        "parts": lambda g: jm.participation_counts([(0, 1), (1, 2)], g),
        "census": lambda g: jm.subgraph_census(g, 3).counts,
        "random": lambda g: jm.random_graphs(g, 2, jax.random.key(0), attempts=5)[1].edge_list(),
        "motifs": lambda g: jm.find_motifs(g, 3, 2, jax.random.key(0), attempts=5).counts,
        "color": lambda g: jm.find_color_motif(g, ["r", "b", "r", "b"], {"r": 1, "b": 1}, 0).vertices,
    }
    for name, door in doors.items():
        expected = door(graph)
        for given in (np.array(PAIRS), path):
            np.testing.assert_equal(door(given), expected, err_msg=name)
        with pytest.raises(TypeError, match="expected a graph: "):
            door(7)
    directed = Graph.from_edges(PAIRS, directed=True)  # a query that does not say is as the target
    assert jm.count_matches([(0, 1), (1, 2)], directed).count == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_is_told_what_to_do():
    """A child forked after JAX was used would wait for ever; one forked before works."""
    code = """
import multiprocessing, warnings
warnings.simplefilter("ignore")
from jaxmotif import Graph, graphlet_counts
def work(edges):
    try:
        return Graph.from_edges(edges).m
    except RuntimeError as error:
        return str(error)
def count(graph):
    try:
        return graphlet_counts(graph)["triangle"]
    except RuntimeError as error:
        return str(error)
fork = multiprocessing.get_context("fork")
with fork.Pool(1) as pool:
    print(pool.apply_async(work, [[(0, 1), (1, 2)]]).get(60))
graph = Graph.from_edges([(0, 1), (1, 2), (2, 0)])
for function in (work, count):
    queue = fork.SimpleQueue()
    child = fork.Process(target=lambda: queue.put(function([(0, 1)] if function is work else graph)))
    child.start(); print(queue.get()); child.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert lines[0] == "2", done.stderr
    assert len(lines) == 3
    assert all("spawn" in line and "forked" in line for line in lines[1:])


def test_notes_are_of_the_jaxmotif_logger(caplog):
    with caplog.at_level(logging.WARNING, "jaxmotif"):
        as_graph(nx.Graph([(0, 1, {"weight": 2})]))
    assert caplog.records[0].name == "jaxmotif"


def test_a_full_disk_names_the_file_of_a_graph(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    path = tmp_path / "graph.npz"
    with pytest.raises(OSError, match="No space left on device.*graph.npz"):
        Graph.from_edges([(0, 1)]).save(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["Int64", "UInt16", "int64[pyarrow]", "int8"])
def test_integers_of_pandas_are_numbers(kind):
    """Ascending as numbers, not as text, in which 10 comes before 2."""
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    plain = pd.DataFrame({"source": np.arange(11), "target": np.arange(11) + 1})
    for frame in (plain.astype(kind), plain.astype({"source": kind})):
        graph = as_graph(frame)
        assert graph.node_names is None
        assert graph.edge_list().tolist() == plain.to_numpy().tolist()


def test_large_integers_of_pandas():
    ids = np.arange(12, dtype=np.uint64) + np.uint64(2**63)
    mixed = pd.DataFrame({"source": ids[:-1], "target": np.arange(11)})
    assert as_graph(mixed).node_names.tolist() == [*range(11), *ids[:-1].tolist()]
    with pytest.raises(ValueError, match="from -1 to 9223372036854775808 have no common integer type"):
        as_graph(pd.DataFrame({"source": ids[:1], "target": [-1]}))
    twice = pd.DataFrame([[0, 1]], columns=["source", "source"])
    with pytest.raises(ValueError, match="columns of the DataFrame have one name"):
        as_graph(twice)


def test_names_that_several_nodes_have():
    with pytest.raises(ValueError, match="several nodes have one name"):
        Graph.from_edges([(0, 1), (1, 2)], node_names=["a", "a", "b"]).to_networkx()


def test_masked_edges_are_refused():
    edges = np.ma.array([(0, 1), (2, 3)], mask=[(0, 0), (1, 1)])
    with pytest.raises(ValueError, match="masked values"):
        Graph.from_edges(edges)
    assert Graph.from_edges(np.ma.array([(0, 1), (2, 3)])).m == 2
    with pytest.raises(ValueError, match="masked values"):
        Graph.from_edges([(0, 1)], node_labels=np.ma.array([4, 5], mask=[1, 0]))


@pytest.mark.parametrize(
    "build",
    [
        lambda: Graphs.from_edges([[(0, 1)]], directed="no"),
        lambda: Graphs.from_edge_index([[0], [1]], [0, 2], directed=1),
        lambda: Graph.from_edge_index([[0], [1]], 2, directed="no"),
        lambda: Graph.from_edge_index([[0], [1]], 2, directed=np.array(True)),
        lambda: as_graph([(0, 1)], directed="no"),
        lambda: as_graph(Graph.from_edges([(0, 1)]), directed=0),
        lambda: as_graphs([[(0, 1)]], directed="no"),
    ],
)
def test_directed_is_true_or_false(build):
    with pytest.raises(TypeError, match="directed must be True or False, got"):
        build()
