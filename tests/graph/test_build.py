"""Building graphs: against networkx, with both build paths, and with every kind of bad input."""

from collections import Counter

import chex
import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import jaxmotif
from jaxmotif.graph import Graph, _build_device, bucket_size
from jaxmotif.graph._build import build as build_fields
from jaxmotif.graph._fields import capacities

ROWS, CAPACITY = 16, (12, 48)  # one compilation for each kind of graph


def build(
    edges, num_nodes=None, directed=False, node_labels=None, edge_labels=None, *, on_device, pad=CAPACITY, **options
):
    names = options.pop("node_names", None)
    fields, report, node_names = build_fields(
        edges, num_nodes, directed, node_labels, edge_labels, options, names, pad, None, on_device
    )
    return jax.device_put(Graph(*fields, directed=directed))._with_host_fields(report, node_names)


def random_rows(seed: int) -> tuple[int, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    return n, rng.integers(0, n, (int(rng.integers(ROWS + 1)), 2))


def reference(n: int, rows, directed: bool):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((u, v) for u, v in np.asarray(rows).reshape(-1, 2).tolist() if u != v)
    return graph


def label(u: int, v: int, directed: bool) -> int:
    return 100 * u + v - 50 if directed else 100 * min(u, v) + max(u, v) - 50


def rows_of(offsets, targets, n: int) -> list[list[int]]:
    offsets, targets = np.asarray(offsets), np.asarray(targets)
    return [targets[offsets[v] : offsets[v + 1]].tolist() for v in range(n)]


def check(graph: Graph, expected, edge_labels: bool = False) -> None:
    """Every array of the graph, with its padding, is what the networkx graph says."""
    n, N, S = expected.number_of_nodes(), graph.node_capacity, graph.slot_capacity
    directed = expected.is_directed()
    for leaf in jax.tree.leaves(graph):
        assert isinstance(leaf, jax.Array)
        assert leaf.dtype == jnp.int32
    assert (graph.n, graph.m, graph.directed) == (n, expected.number_of_edges(), directed)
    sides = [("out", expected.adj)]
    if directed:
        sides += [("in", expected.pred)]
    else:
        assert graph.in_offsets is graph.in_targets is graph.in_slots is None
    for side, adjacency in sides:
        offsets, targets = (np.asarray(getattr(graph, f"{side}_{part}")) for part in ("offsets", "targets"))
        assert offsets.shape == (N + 1,)
        assert targets.shape == (S,)
        assert rows_of(offsets, targets, n) == [sorted(adjacency[v]) for v in range(n)]
        assert (offsets[n:] == sum(len(adjacency[v]) for v in range(n))).all()
        assert (targets[offsets[n] :] == N).all()
    sources = np.repeat(np.arange(n), graph.degrees)
    targets = np.asarray(graph.out_targets)
    if directed:
        slots = np.asarray(graph.in_slots)
        assert (slots[graph.m :] == S).all()
        assert sources[slots[: graph.m]].tolist() == np.asarray(graph.in_targets)[: graph.m].tolist()
        assert targets[slots[: graph.m]].tolist() == np.repeat(np.arange(n), graph.in_degrees).tolist()
    if edge_labels:
        labels = np.asarray(graph.edge_labels)
        pairs = zip(sources.tolist(), targets.tolist(), strict=False)
        assert labels[: graph.num_slots].tolist() == [label(u, v, directed) for u, v in pairs]
        assert (labels[graph.num_slots :] == -1).all()
    else:
        assert graph.edge_labels is None
    edges = [[u, v] for u, v in expected.edges()]
    edges = sorted(edges if directed else map(sorted, edges))
    assert graph.edge_list().tolist() == edges
    assert graph.edge_list().dtype == np.int64
    assert [[sources[i], targets[i]] for i in graph.edge_slots()] == edges
    assert graph.degrees.tolist() == [len(expected.adj[v]) for v in range(n)]
    assert graph.degrees.dtype == graph.in_degrees.dtype == np.int64


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_equals_networkx(directed, labelled, on_device):
    for seed in range(40):
        n, rows = random_rows(seed)
        labels = [label(u, v, directed) for u, v in rows.tolist()] if labelled else None
        graph = build(rows, n, directed, None, labels, on_device=on_device)
        check(graph, reference(n, rows, directed), labelled)

        report, arcs = graph.report, Counter(map(tuple, rows.tolist()))
        loops = sum(count for (u, v), count in arcs.items() if u == v)
        distinct = {arc for arc in arcs if arc[0] != arc[1]}
        assert (report.rows, report.self_loops) == (len(rows), loops)
        assert report.duplicates == len(rows) - loops - len(distinct)
        both_ways = sum((v, u) in distinct for u, v in distinct) // 2
        assert report.reverse_duplicates == (0 if directed else both_ways)
        assert (report.nodes, report.edges) == (graph.n, graph.m)
        assert report.edges == report.rows - report.self_loops - report.duplicates - report.reverse_duplicates


@pytest.mark.parametrize("pad", [None, "bucket"])
@pytest.mark.parametrize("directed", [False, True])
def test_both_paths_build_the_same_graph(directed, pad):
    for seed in (1, 2):
        rows = np.random.default_rng(seed).integers(0, 60, (500, 2))
        host, device = (build(rows, 60, directed, on_device=path, pad=pad) for path in (False, True))
        assert host.report == device.report
        chex.assert_trees_all_equal(host, device)
        chex.assert_trees_all_equal_shapes_and_dtypes(host, device)
        check(device, reference(60, rows, directed))


@pytest.mark.parametrize("far", [1, 7, 2**33])
def test_both_paths_renumber_alike(monkeypatch, far):
    """In chunks, of which the last is not full; ids so far apart that NumPy renumbers them for both."""
    monkeypatch.setattr(_build_device, "CHUNK", 4)
    rows = far * np.random.default_rng(far).integers(0, 30, (13, 2))
    rows[[3, 5], 1] = rows[[3, 5], 0]
    labels = np.arange(13, dtype=np.int32) // 13
    for num_nodes in (None, int(rows.max()) + 4):
        options = {"isolated": "drop", "pad": (32, 48)}
        host, device = (build(rows, num_nodes, False, None, labels, on_device=x, **options) for x in (False, True))
        assert host.report == device.report
        assert host.node_names.tolist() == device.node_names.tolist()
        chex.assert_trees_all_equal(host, device)


@pytest.mark.parametrize("bad", [-3, 2**63 + 5])
@pytest.mark.parametrize("row", [0, 11])
def test_bad_ids_are_refused_in_every_chunk(row, bad, monkeypatch):
    monkeypatch.setattr(_build_device, "CHUNK", 4)
    rows = np.random.default_rng(0).integers(0, 30, (13, 2)).astype(np.int64 if bad < 0 else np.uint64)
    rows[row, 0] = bad
    for on_device in (False, True):
        with pytest.raises(ValueError, match=rf"edges\[{row}\] = \({bad}, "):
            build(rows, None, False, on_device=on_device)


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny_graphs(n, directed, on_device):
    check(build([], n, directed, on_device=on_device), reference(n, [], directed))
    if n == 2:
        check(build([(1, 0)], n, directed, on_device=on_device), reference(n, [(1, 0)], directed))
    exact = Graph.from_edges([], n, directed, pad=None)
    assert (exact.node_capacity, exact.slot_capacity) == (max(n, 1), 1)
    check(exact, reference(n, [], directed))


def test_edge_inputs():
    edges = [(0, 3), (1, 2)]
    inputs = [edges, tuple(edges), (edge for edge in edges), set(edges), jnp.array(edges)]
    inputs += [np.array(edges, dtype) for dtype in (np.int8, np.int32, np.uint64)]
    for given in inputs:
        assert Graph.from_edges(given).edge_list().tolist() == [[0, 3], [1, 2]]


def test_report_reads_well():
    graph = Graph.from_edges([(0, 1), (0, 1), (1, 0), (0, 1), (5, 5)], isolated="drop", num_nodes=9)
    assert str(graph.report) == (
        "2 nodes, 1 edge from 5 rows; left out 1 self loop, 2 duplicates, 1 reverse duplicate, 7 isolated nodes"
    )
    assert str(Graph.from_edges([(0, 1)]).report) == "2 nodes, 1 edge from 1 row"


@pytest.mark.parametrize("far", [9, 2**40])
def test_isolated_drop(far):
    rows = [(far, 4), (4, 7), (5, 5)]  # only a self loop at 5: isolated
    graph = Graph.from_edges(rows, isolated="drop")
    assert graph.node_names.tolist() == [4, 7, far]
    assert graph.edge_list().tolist() == [[0, 1], [0, 2]]
    assert graph.report.isolated == 1
    if far < 100:
        labels, names = np.arange(10) * 3, [f"node {i}" for i in range(10)]
        graph = Graph.from_edges(rows, 10, isolated="drop", node_labels=labels, node_names=names, pad="bucket")
        assert graph.report.isolated == 7
        assert graph.node_labels[:4].tolist() == [12, 21, 27, -1]
        assert graph.node_names.tolist() == ["node 4", "node 7", "node 9"]


def test_number_of_nodes():
    assert Graph.from_edges([(0, 4)]).n == 5
    assert Graph.from_edges([(0, 4)], 8).n == 8
    assert Graph.from_edges([(0, 4)], node_labels=range(6)).n == 6
    assert Graph.from_edges([(0, 4)], node_names=list("abcdefg")).n == 7


@pytest.mark.parametrize(
    ("edges", "options", "error", "message"),
    [
        ([(0, 1), (2, 2)], {"self_loops": "error"}, ValueError, r"edges\[1\] = \(2, 2\) is a self loop"),
        ([(3, 3), (0, 1), (1, 0), (0, 1)], {"duplicates": "error"}, ValueError, r"edges\[3\] .* repeats edges\[1\]"),
        ([(3, 3), (0, 1), (1, 0), (0, 1)], {"reverse": "error"}, ValueError, r"edges\[2\] .* edges\[1\] backwards"),
        ([(0, 1)], {"reverse": "error", "directed": True}, ValueError, "undirected"),
        ([(0, 1)], {"self_loops": "keep"}, ValueError, "self_loops must be 'drop' or 'error', got 'keep'"),
        ([(0, 1), (1, 0)], {"edge_labels": [5, 6]}, ValueError, r"5 for edges\[0\] = \(0, 1\), 6 for edges\[1\]"),
        ([(0, 1), (0, 1)], {"edge_labels": [5, 6], "directed": True}, ValueError, "disagree"),
        ([(0, 1), (1, -2)], {}, ValueError, r"edges\[1\] = \(1, -2\)"),
        ([(0, 1), (1, 5)], {"num_nodes": 5}, ValueError, r"edges\[1\] = \(1, 5\) .* number of nodes, 5"),
        ([(0.0, 1.5)], {}, TypeError, r"float64 \(edges\[0\] = \[0.0, 1.5\]\)"),
        ([("a", "b")], {}, TypeError, "number the nodes"),
        (np.zeros((2, 5), int), {}, ValueError, r"got \(2, 5\); transpose it"),
        (np.zeros((5, 3), int), {}, ValueError, r"got \(5, 3\)"),
        ([(0, 1), (1, 2, 3)], {}, ValueError, r"edges\[1\] = \(1, 2, 3\)"),
        ([(0, 1), 7], {}, ValueError, r"edges\[1\] = 7"),
        ([(0, 2**31 - 1)], {}, ValueError, "2147483648 nodes are over the limit of 2147483647"),
        ([(0, 2**32)], {}, ValueError, "4294967297 nodes are over"),
        (np.array([[0, 2**63]], np.uint64), {}, ValueError, "9223372036854775808"),
        ([(1, 2), (0, 2**63)], {}, ValueError, r"node ids must be .*, got edges\[1\] = \(0, 9223372036854775808\)"),
        ([(0, 2**64)], {}, ValueError, r"got edges\[0\] = \(0, 18446744073709551616\)"),
        ([(-1, 2**63)], {}, ValueError, r"got edges\[0\] = \(-1, 9223372036854775808\)"),
        ([(0, 2.5), (0, 2**63)], {}, TypeError, "edges must be integers, got float64"),
        ([(0, 1)], {"num_nodes": -1}, ValueError, "-1"),
        ([(0, 1)], {"num_nodes": 2.0}, TypeError, "num_nodes must be an integer, got 2.0"),
        ([(0, 1)], {"num_nodes": 3, "node_labels": [1, 2]}, ValueError, "num_nodes 3, node_labels 2"),
        ([(0, 1)], {"node_labels": [0.5, 1]}, TypeError, "node_labels must be integers"),
        ([(0, 1)], {"node_labels": [[0, 1], [1]]}, TypeError, "several are an attribute, with_attributes"),
        ([(0, 1)], {"node_labels": [{0, 1}, {1}]}, TypeError, "A.labels contains 'x'"),
        ([(0, 1)], {"node_labels": [0, None]}, TypeError, "node_labels must be integers, got object"),
        ([(0, 1)], {"node_labels": pd.Series(["x", "y"])}, TypeError, r"node_labels must be integers, .* = 'x'\)"),
        ([(0, 1)], {"node_labels": {0: 3, 1: 4}}, TypeError, "node_labels must be an array or a list, .*, got dict"),
        ([(0, 1)], {"node_labels": {3, 4}}, TypeError, "node_labels must be an array or a list, .*, got set"),
        ([(0, 1)], {"node_labels": (i for i in (3, 4))}, TypeError, "node_labels must .*, got generator"),
        ([(0, 1)], {"node_names": {0: "a", 1: "b"}}, TypeError, "node_names must be an array or a list, .*, got dict"),
        ([(0, 1)], {"node_names": {"a", "b"}}, TypeError, "node_names must be an array or a list, .*, got set"),
        ([(0, 1)], {"node_names": "ab"}, TypeError, "node_names must be an array or a list, .*, got str"),
        ([(0, 1)], {"node_names": iter("ab")}, TypeError, "node_names must be an array or a list, .*_iterator"),
        ([(0, 1)], {"node_names": pd.DataFrame({"n": ["a", "b"]})}, ValueError, r"dimension, got shape \(2, 1\)"),
        ([], {"num_nodes": True}, TypeError, "num_nodes must be an integer, got True"),
        ([], {"pad": (True, True)}, TypeError, r"two integers \(nodes, slots\), got \(True, True\)"),
        (scipy.sparse.eye_array(3), {}, TypeError, "edges must be integers .* got dia_array; as_graph takes"),
        (None, {}, TypeError, "edges must be integers .* got NoneType; as_graph takes"),
        ([(0, 1)], {"node_labels": [0, 2**31]}, ValueError, r"node_labels\[1\] = 2147483648; number"),
        (
            [(0, 1)],
            {"edge_labels": [-(2**31) - 1]},
            ValueError,
            r"between -2147483648 and 2147483647, .* = -2147483649",
        ),
        ([(0, 1)], {"edge_labels": [1, 2]}, ValueError, r"edge_labels must have shape \(1,\), got \(2,\)"),
        ([(0, 1)], {"node_names": np.array([["a", "b"]])}, ValueError, r"one dimension, got shape \(1, 2\)"),
        ([(0, 1)], {"pad": (1, 2)}, ValueError, "at least 2 nodes and 2 slots"),
        ([(0, 1)], {"pad": (2, 1)}, ValueError, "at least 2 nodes and 2 slots"),
        ([(0, 1)], {"pad": "big"}, ValueError, "'big'"),
        ([(0, 1)], {"pad": 7}, TypeError, "got 7"),
    ],
)
def test_bad_input(edges, options, error, message):
    with pytest.raises(error, match=message):
        Graph.from_edges(edges, **options)


@pytest.mark.parametrize("directed", [False, True])
def test_conflicts_and_errors_on_the_device(directed):
    with pytest.raises(ValueError, match="disagree"):
        build([(0, 1), (0, 1)], 2, directed, None, [5, 6], on_device=True)
    for rows, message in (
        ([(0, 1), (1, -2)], r"edges\[1\] = \(1, -2\)"), ([(0, 1), (1, 5)], r"edges\[1\] = \(1, 5\) .* nodes, 2"),
        (np.array([[0, 1], [0, 2**63]], np.uint64), "9223372036854775808"), ([(0, 2**31), (1, 1)], "nodes, 2"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            build(rows, 2, directed, on_device=True)
    with pytest.raises(ValueError, match=r"edges\[1\] = \(1, 1\) is a self loop"):
        build([(0, 1), (1, 1)], 2, directed, on_device=True, self_loops="error")
    labels = [5, 5] if not directed else [5, 6]
    assert build([(0, 1), (1, 0)], 2, directed, None, labels, on_device=True).m == (2 if directed else 1)


def test_slot_limit():
    with pytest.raises(ValueError, match="2147483648 slots are over the limit"):
        capacities(None, 10, 2**31)
    assert capacities("bucket", 2**31 - 1, 2**31 - 1) == (2**31 - 1, 2**31 - 1)


def test_bucket_size():
    sizes = [16] + [size for k in range(4, 12) for size in (3 << k - 1, 2 << k)]
    sizes += [(8 + step) << k for k in range(9, 20) for step in range(1, 9)]
    for x in [*range(1, 5000), *range(5000, 2**22, 997), *(size + d for size in sizes[:-1] for d in (-1, 0, 1))]:
        assert bucket_size(x) == min(size for size in sizes if size >= x)


@pytest.mark.parametrize("nodes", [0, 1])
def test_the_least_capacities(nodes):
    graph = Graph.from_edges([], nodes, pad=(1, 1))
    assert (graph.node_capacity, graph.slot_capacity) == (1, 1)
    for pad in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="it needs at least 1 nodes and 1 slots"):
            Graph.from_edges([], nodes, pad=pad)


@pytest.mark.parametrize("directed", [False, True])
def test_with_padding(directed):
    n, rows = 7, np.random.default_rng(3).integers(0, 7, (16, 2))
    labels = [label(u, v, directed) for u, v in rows.tolist()]
    exact = Graph.from_edges(rows, n, directed, range(n), labels, node_names=list("abcdefg"), pad=None)
    padded = exact.with_padding((9, 40))
    assert (padded.node_capacity, padded.slot_capacity) == (9, 40)
    check(padded, reference(n, rows, directed), edge_labels=True)
    chex.assert_trees_all_equal(padded, Graph.from_edges(rows, n, directed, range(n), labels, pad=(9, 40)))
    for other in ("bucket", (8, 50), None):
        again = padded.with_padding(other)
        check(again, reference(n, rows, directed), edge_labels=True)
        assert again.report == exact.report
        assert again.node_names.tolist() == list("abcdefg")
    chex.assert_trees_all_equal(again, exact)
    with pytest.raises(ValueError, match="does not hold"):
        padded.with_padding((6, 40))


def test_what_was_left_out_never_recompiles():
    chex.clear_trace_counter()

    @jax.jit
    @chex.assert_max_traces(n=1)
    def count(graph):
        return graph.num_edges + graph.out_offsets[-1]

    for rows in ([(0, 1)], [(0, 1), (0, 1), (2, 2)], [(1, 2), (0, 2)]):
        graph = Graph.from_edges(rows, 3, node_names=["x", "y", len(rows)], pad=(4, 8))
        assert int(count(graph)) == 3 * graph.m
    assert jax.tree.map(lambda x: x, graph).report is None


def test_shape_properties_inside_jit():
    graph = Graph.from_edges([(0, 1)], pad=(5, 6))
    assert jax.jit(lambda g: g.node_capacity + 10 * g.slot_capacity)(graph) == 65
    assert jax.jit(lambda g: len(repr(g)))(graph) == len("Graph(undirected, capacity 5 nodes, 6 slots)")
    assert "out_targets=int32, in_offsets=None" in repr(jax.tree.map(lambda leaf: str(leaf.dtype), graph)).replace(
        "'", ""
    )
    with pytest.raises(TypeError, match="traced"):
        jax.jit(lambda g: g.n)(graph)


def test_to_device():
    device = jax.devices()[-1]
    graph = Graph.from_edges([(0, 1)], node_names=["a", "b"])
    moved = graph.to_device(device)
    assert moved.out_targets.devices() == Graph.from_edges([(0, 1)], device=device).num_nodes.devices() == {device}
    assert moved.with_padding("bucket").out_targets.devices() == {device}
    assert moved.node_names.tolist() == ["a", "b"]
    assert moved.report == graph.report


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_scipy_round_trip(form, directed):
    rng = np.random.default_rng(5)
    dense = rng.integers(1, 5, (9, 9)) * (rng.random((9, 9)) < 0.3) * (1 - np.eye(9, dtype=int))
    dense = dense if directed else np.triu(dense) + np.triu(dense).T
    graph = Graph.from_scipy(
        scipy.sparse.coo_array(dense.astype(float)).asformat(form), directed, values_as_labels=True, pad=None
    )
    back = scipy.sparse.csr_array((graph.edge_labels, graph.out_targets, graph.out_offsets), shape=(9, 9))
    assert (back.toarray() == dense).all()


def test_scipy_semantics():
    one_triangle = scipy.sparse.coo_array(np.triu(np.ones((4, 4))))
    graph = Graph.from_scipy(one_triangle)
    assert (graph.m, graph.report.self_loops) == (6, 4)
    assert Graph.from_scipy(scipy.sparse.csr_array((3, 3))).m == 0
    for bad, error, message in [
        (np.eye(3), TypeError, "scipy.sparse.coo_array"),
        (scipy.sparse.coo_array((3, 4)), ValueError, r"\(3, 4\)"),
        (scipy.sparse.coo_array([[0, 0.5], [0.5, 0]]), ValueError, "0.5"),
        (scipy.sparse.coo_array([[0, 1j], [1j, 0]]), TypeError, "complex128"),
    ]:
        with pytest.raises(error, match=message):
            Graph.from_scipy(bad, values_as_labels=True)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_round_trip(kind):
    source = kind([("b", "a"), ("a", "c"), ("c", "a"), ("c", "c")])
    source.add_node("alone")
    nx.set_node_attributes(source, {name: i for i, name in enumerate("bac")} | {"alone": 9}, "color")
    nx.set_edge_attributes(source, 4, "kind")
    graph = Graph.from_networkx(source, node_label="color", edge_label="kind", pad="bucket")
    names = graph.node_names
    simple = (nx.DiGraph if source.is_directed() else nx.Graph)((u, v) for u, v in source.edges() if u != v)
    simple.add_nodes_from(source)
    order = {name: i for i, name in enumerate(names.tolist())}
    assert list(order) == list(source)
    plain = nx.relabel_nodes(simple, order)
    expected = reference(4, list(plain.edges()), source.is_directed())
    assert (
        graph.edge_list().tolist() == Graph.from_edges(list(expected.edges()), 4, graph.directed).edge_list().tolist()
    )
    assert graph.node_labels[:5].tolist() == [0, 1, 2, 9, -1]
    assert set(graph.edge_labels[: graph.num_slots].tolist()) == {4}


def test_networkx_semantics():
    assert Graph.from_networkx(nx.path_graph(4)).node_names is None
    assert Graph.from_networkx(nx.Graph([(1, 0)])).node_names.tolist() == [1, 0]
    assert Graph.from_networkx(nx.grid_2d_graph(2, 2)).node_names[3] == (1, 1)
    assert Graph.from_networkx(nx.empty_graph(0)).n == 0
    colored = nx.Graph([(0, 1)])
    colored.nodes[0]["color"] = 3
    with pytest.raises(ValueError, match="node 1 has no attribute 'color'"):
        Graph.from_networkx(colored, node_label="color")
    with pytest.raises(TypeError, match="edge_labels must be integers"):
        Graph.from_networkx(nx.Graph([(0, 1, {"kind": "double"})]), edge_label="kind")


def test_readers_are_asked_for_where_graphs_are_made():
    """Names of rooms above, which users knew in this one."""
    for name in ("read_graph", "format_table"):
        assert getattr(jaxmotif.graph, name) is getattr(jaxmotif.io, name)
    with pytest.raises(AttributeError, match="nothing"):
        jaxmotif.graph.nothing  # noqa: B018
