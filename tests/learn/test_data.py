"""Data sets of other libraries and folders, and features that are kept on disk."""

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("sklearn")

from jaxmotif.graph import Graph, Graphs, stack_graphs
from jaxmotif.learn import GraphletFeatures, OrbitFeatures, PatternFeatures, WeisfeilerLehmanKernel, read_tu
from jaxmotif.learn._data import data_set
from jaxmotif.patterns import Pattern
from tests.oracles import random_edges

sparse = pytest.importorskip("scipy.sparse")

SIZES = [6, 3, 9, 1, 8]


@pytest.fixture
def labelled():
    """Five graphs with labels of nodes and edges, one of them without edges."""
    rng = np.random.default_rng(0)
    edges = [np.array(random_edges(n, 0.5, n), np.int64).reshape(-1, 2) for n in SIZES]
    nodes = [rng.integers(0, 3, n) for n in SIZES]
    return Graphs.from_edges(edges, SIZES, False, nodes, [rng.integers(5, 8, len(rows)) for rows in edges])


def assert_same(found, expected):
    for a, b in zip(found.fields, expected.fields, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(found.node_starts, expected.node_starts)


def write_tu(folder, graphs, **others):
    """Write both directions of each edge, as TUDataset does."""
    union, owner = graphs.union(pad=None), np.repeat(np.arange(len(graphs)), graphs.n) + 1
    rows = np.concatenate([union.edge_list(), union.edge_list()[:, ::-1]]) + 1
    # The label of an edge stands at its two slots, in the order of their nodes.
    starts = np.asarray(union.out_offsets)
    slots = {
        (u, int(v)): int(label)
        for u in range(union.n)
        for v, label in zip(
            union.out_targets[starts[u] : starts[u + 1]], union.edge_labels[starts[u] : starts[u + 1]], strict=True
        )
    }
    files = {
        "A": rows,
        "graph_indicator": owner,
        "graph_labels": np.array([1, -1, 1, -1, 1]),
        "node_labels": np.asarray(union.node_labels),
        "edge_labels": np.array([slots[u - 1, v - 1] for u, v in rows.tolist()]),
        **others,
    }
    for name, values in files.items():
        if values is not None:
            np.savetxt(folder / f"SOME_{name}.txt", values, "%d", delimiter=", ")


def test_folders_of_tudataset(labelled, tmp_path):
    write_tu(tmp_path, labelled)
    graphs, classes = read_tu(tmp_path)
    assert_same(graphs, labelled)
    assert classes.tolist() == [1, -1, 1, -1, 1]
    kernel = WeisfeilerLehmanKernel().fit_transform(labelled)
    np.testing.assert_array_equal(WeisfeilerLehmanKernel().fit_transform(str(tmp_path)), kernel)
    for name in ("node_labels", "edge_labels"):
        (tmp_path / f"SOME_{name}.txt").unlink()
    assert_same(read_tu(tmp_path)[0], Graphs.from_edges([graph.edge_list() for graph in labelled], SIZES))


def test_folders_that_are_none(labelled, tmp_path):
    with pytest.raises(FileNotFoundError, match="one file NAME_A.txt of a data set, and has 0"):
        read_tu(tmp_path)
    for others, message in (
        ({"graph_indicator": np.repeat([2, 1, 3, 4, 5], SIZES)}, "must ascend from 1 to 5"),
        ({"graph_indicator": np.repeat([1, 2, 3, 4, 6], SIZES)}, "must ascend from 1 to 5"),
        ({"node_labels": np.ones((27, 2))}, "has 2 columns, and 1"),
        ({"A": np.array([[1, 8]]), "edge_labels": None}, "joins two graphs"),
    ):
        for file in tmp_path.iterdir():
            file.unlink()
        write_tu(tmp_path, labelled, **others)
        with pytest.raises(ValueError, match=message):
            read_tu(tmp_path)


def test_lists_of_grakel(labelled):
    lists = []
    for i, graph in enumerate(labelled):
        starts, targets = np.asarray(graph.out_offsets), np.asarray(graph.out_targets)
        near = {u: {int(v): 1.0 for v in targets[starts[u] : starts[u + 1]]} for u in range(graph.n)}
        pairs = [(u, v) for u in near for v in near[u]]
        edge_labels = dict(zip(pairs, np.asarray(graph.edge_labels).tolist(), strict=False))
        node_labels = dict(enumerate(np.asarray(graph.node_labels)[: graph.n].tolist()))
        lists.append([[set(pairs), near, dict.fromkeys(pairs, 1.0), pairs, {u: list(near[u]) for u in near}][i],
                      node_labels, edge_labels])  # fmt: skip
    labelled_path = [Pattern.from_edges([(0, 1), (1, 2)], node_labels=[0, 1, 2], edge_labels=[5, 6])]
    for features in (GraphletFeatures(), WeisfeilerLehmanKernel(), PatternFeatures(labelled_path)):
        np.testing.assert_array_equal(features.fit_transform(lists), features.fit_transform(labelled))
    with pytest.raises(TypeError, match="node_labels must be integers"):
        WeisfeilerLehmanKernel().fit([[[(0, 1)], {0: "C", 1: "C"}]])
    plain = WeisfeilerLehmanKernel().fit_transform([[lists[i][0], {}] for i in (1, 4)])  # neighbours of all nodes
    few = Graphs.from_edges([labelled[i].edge_list() for i in (1, 4)], [SIZES[i] for i in (1, 4)])
    np.testing.assert_array_equal(plain, WeisfeilerLehmanKernel().fit_transform(few))


def test_labels_of_a_part_of_grakels_lists():
    whole, part = [[(0, 1), (1, 2)], {0: 2, 1: 2, 2: 2}], [[(0, 1), (1, 2)], {0: 2, 1: 2}]
    with pytest.raises(ValueError, match=r"graphs\[1\] has no label of node 2, and others have"):
        WeisfeilerLehmanKernel().fit([whole, part])
    both = [(0, 1), (1, 0)]
    for edges in (both, [[0, 1]], [(1, 0)], {0: [1], 1: [0]}):  # an edge has its label at either of its pairs
        assert data_set([[edges, {}, {(0, 1): 5}]]).fields.edge_labels.tolist() == [5, 5]
    for wrong, directed in (([both, {}, {(0, 1): 5}], True), ([[(0, 1), (1, 2)], {}, {(0, 1): 5}], False)):
        with pytest.raises(ValueError, match=r"graphs\[0\] has no label of edge \((1, 0|1, 2)\), and others have"):
            data_set([wrong], directed)


def test_features_are_kept_by_content(labelled, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    patterns = [
        [Pattern.from_edges([(i, (i + 1) % 9) for i in range(9)] + chord)] for chord in ([(0, 4)], [(0, 3)])
    ]  # of nine nodes: both are called by their number
    kinds = [
        *(GraphletFeatures(log=log, cache=folder) for log in (True, False)),
        OrbitFeatures(cache=str(folder)),
        *(PatternFeatures(some, cache=folder) for some in patterns),
        *(PatternFeatures(["2-star"], induced=induced, cache=folder) for induced in (True, False)),
    ]
    expected = [type(kind)(**kind.get_params() | {"cache": None}).fit_transform(labelled) for kind in kinds]
    first = [kind.fit_transform(labelled) for kind in kinds]
    assert len(list(folder.iterdir())) == len(kinds)
    for name in ("graphlet_counts", "node_orbits", "pattern_features"):
        monkeypatch.delattr(f"jaxmotif.learn._sklearn.{name}")  # nothing is counted again
    again = [kind.fit(labelled).transform(labelled) for kind in kinds]
    for values in (first, again):
        for found, right in zip(values, expected, strict=True):
            np.testing.assert_array_equal(found, right)
    other = dataclasses.replace(labelled, given=None, fields=labelled.fields._replace(node_labels=None))
    with pytest.raises(NameError):  # other graphs are others
        kinds[0].transform(other)


def test_what_others_may_write_is_not_read(labelled, tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="somebody else's"):
        GraphletFeatures(cache=folder).fit_transform(labelled)


def test_other_forms_of_grakels_lists():
    """Adjacency matrices, weights of edges, nodes that are tuples, and labels that are not there."""
    labels = {0: 1, 1: 1, 2: 1}
    for edges in (np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), [(0, 1, 1.0), (1, 2, 0.5)], {0: {1: 1.0}, 1: [2]}):
        found = data_set([[edges, labels, None]])
        assert (found.n.tolist(), found.m.tolist()) == ([3], [2])
    grid = {(0, 0): [(0, 1)], (0, 1): [(1, 1)], (1, 1): []}
    assert data_set([[grid, {}]]).m.tolist() == [2]
    with pytest.raises(ValueError, match=r"graphs\[1\]: edges must be pairs of nodes"):
        data_set([[[(0, 1)], labels], [[[0, 1, 0, 0], [1, 0, 1, 0]], labels]])
    with pytest.raises(ValueError, match=r"graphs\[0\]: labels disagree on one edge"):
        data_set([[[(0, 1)], labels, {(0, 1): 1, (1, 0): 2}]])


@pytest.mark.parametrize("matrix", [list, np.array, sparse.csr_array])
def test_matrices_of_grakel_are_no_weighted_edges(matrix):
    """The oxygen of GraKeL's water has two neighbours; as tuples, the same rows would be an edge with weights."""
    water = data_set([[matrix([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), {0: 8, 1: 1, 2: 1}]])
    assert (water.n.tolist(), water.union(pad=None).edge_list().tolist()) == ([3], [[0, 1], [0, 2]])


@pytest.mark.parametrize("edges", [
    [[0, 1, 1.0], [1, 2, 0.5]], np.array([[0, 1], [1, 2], [2, 3]]), np.ones((3, 3, 3)), [frozenset((0, 1))],
    {0: [1], 1: 2},
])  # fmt: skip
def test_edges_that_could_be_parts_of_a_matrix_are_refused(edges):
    """Edges of another graph of the data set, as many as columns, would be read as a square matrix."""
    with pytest.raises(ValueError, match=r"graphs\[0\]: edges must be pairs of nodes"):
        data_set([[edges, None]])


@pytest.mark.parametrize("edges", [[(0, 1), (1, 2)], [[0, 1], [1, 2]], {0: [1], 1: [2]}])
def test_none_in_place_of_grakels_node_labels(edges):
    found = data_set([[edges, None], [edges, None, None], [edges, None, {}]])
    assert (found.m.tolist(), found.fields.node_labels, found.fields.edge_labels) == ([2, 2, 2], None, None)


@pytest.mark.parametrize(("stray", "directed"), [((1, 2), False), ((7, 8), False), ((1, 0), True)])
def test_labels_of_no_edge_are_refused(stray, directed):
    with pytest.raises(ValueError, match=rf"graphs\[0\]: {re.escape(str(stray))} has a label and is no edge"):
        data_set([[[(0, 1)], {0: 1, 1: 1, 2: 1}, {(0, 1): 5, stray: 6}]], directed)


@pytest.mark.parametrize("directed", [False, True])
def test_data_of_pytorch_geometric(directed):
    """Edges are columns, in one direction or in both; nodes without edges count."""
    columns = [[[0, 1], [1, 2]], [[0, 1, 2, 1], [1, 0, 1, 2]]]
    data = [SimpleNamespace(edge_index=np.array(edges), num_nodes=n) for edges, n in zip(columns, (3, 5), strict=True)]
    found = data_set(data, directed)
    assert (found.n.tolist(), found.m.tolist(), found.directed) == ([3, 5], [2, 4 if directed else 2], directed)
    second = [[0, 1], [1, 0], [1, 2], [2, 1]] if directed else [[0, 1], [1, 2]]
    assert [graph.edge_list().tolist() for graph in found] == [[[0, 1], [1, 2]], second]


def test_a_stack_is_a_data_set():
    stack = stack_graphs([Graph.from_edges([(0, 1), (1, 2), (2, 0)]), Graph.from_edges([(0, 1), (1, 2)])])
    assert PatternFeatures(["triangle"], log=False).fit_transform(stack).tolist() == [[1.0], [0.0]]


def test_a_damaged_file_of_the_cache_is_made_anew(labelled, tmp_path):
    features = GraphletFeatures(cache=tmp_path / "kept")
    first = features.fit_transform(labelled)
    for content in (b"", b"not an array"):
        (file,) = (tmp_path / "kept").iterdir()
        file.write_bytes(content)
        np.testing.assert_array_equal(features.fit_transform(labelled), first)
        assert file.stat().st_size > first.nbytes
