"""Results as text, HTML, data frames and arrays."""

import copy
import pickle

import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif.arrays._int64 import Int64
from jaxmotif.arrays._present import Presented, counted
from jaxmotif.features import Features
from jaxmotif.graphlets import EdgeGraphlets, GraphletCounts, NodeOrbits
from jaxmotif.matching import MatchCount, Matches
from jaxmotif.motifs import Census
from jaxmotif.patterns import EDGE_COLUMN_NAMES, GRAPHLET_NAMES, NODE_ORBIT_NAMES
from tests.more import more

PATH = jaxmotif.Graph.from_edges([(0, 1), (1, 2)])
COUNTS = dict.fromkeys(GRAPHLET_NAMES, 1) | {"4-node-indep": 2**70}
ARRAYS = {
    "edges": EdgeGraphlets(EDGE_COLUMN_NAMES, np.arange(34).reshape(2, 17), 2, PATH, COUNTS),
    "nodes": NodeOrbits(NODE_ORBIT_NAMES, np.arange(45).reshape(3, 15), 3, COUNTS),
    "matches": Matches(np.array([[3, 4], [4, 3]]), True, "done", {"search": 0.1}, [0, 1]),
}
TABLES = {
    "counts": GraphletCounts(12345, 2, COUNTS),
    "count": MatchCount(7, True, "done", [0], [], np.zeros(1, np.int64), 1, 1, {"search": 0.5}),
    "census": Census(3, True, ("000100110",), np.array([5])),
    "colors": jaxmotif.ColorMotifs(True, np.array([1, 4, 6]), [(1, 4), (4, 6)], 3, 1e-6),
}


@pytest.mark.parametrize("result", [*ARRAYS.values(), *TABLES.values()], ids=[*ARRAYS, *TABLES])
def test_every_result_shows_itself_in_a_line_a_table_and_a_frame(result):
    assert len(repr(result)) < 120
    assert repr(result).startswith(type(result).__name__ + "(")
    page = result._repr_html_()
    assert page.count("<table>") == page.count("</table>") == 1
    frame = pytest.importorskip("pandas") and result.to_pandas()
    assert list(frame.columns) == list(result.table())
    assert page.count("<tr>") == 1 + min(len(frame), 20)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_where_it_is_one(name):
    result = ARRAYS[name]
    values = result.nodes if name == "matches" else result.to_numpy()
    assert np.asarray(result).dtype == np.int64
    np.testing.assert_array_equal(np.asarray(result), values)
    assert np.asarray(result, np.float64).dtype == np.float64


@pytest.mark.parametrize("count", [
    jaxmotif.edge_graphlets, lambda graphs: jaxmotif.count_matches("edge", graphs),
    *more(
        jaxmotif.graphlet_counts, lambda graphs: jaxmotif.subgraph_census(graphs, 3),
        lambda graphs: jaxmotif.node_orbits(graphs, typed=True),
    ),
])  # fmt: skip
def test_results_of_many_graphs_are_pickled(count):
    labels = {"node_labels": [0, 1, 1]}
    many = count([jaxmotif.Graph.from_edges([(0, 1), (1, 2)], **labels), jaxmotif.Graph.from_edges([(0, 2)], **labels)])
    with pytest.raises(TypeError, match="the index of a graph must be an integer, got slice"):
        many[:1]
    for i in (0, 1):
        assert (
            many.rows(i - 2).tolist()
            == many.rows(i).tolist()
            == many.values[many.starts[i] : many.starts[i + 1]].tolist()
        )
    with pytest.raises(IndexError, match="there are results of 2 graphs, got index 2"):
        many.rows(2)
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(many))))
    np.testing.assert_array_equal(np.asarray(again), np.asarray(many))
    assert again.to_pandas().equals(many.to_pandas())
    size = f"{counted(len(many.values), 'row')} x {counted(len(many.columns), 'column')}"
    assert repr(again) == repr(many) == f"PerGraph(2 graphs, {size})"
    for one, other in zip(again, many, strict=True):
        assert {key: list(column) for key, column in one.table().items()} == {
            key: list(column) for key, column in other.table().items()
        }


@pytest.mark.parametrize("again", [lambda result: pickle.loads(pickle.dumps(result)), copy.deepcopy])
@pytest.mark.parametrize("begun", [False, True])
def test_a_copy_of_a_result_has_all_bits(again, begun):
    """Tables on a device with rows of padding, as engines leave them, also while they are being fetched."""
    edges, nodes = 2**40 + np.arange(34).reshape(2, 17), 2**62 // 45 + np.arange(45).reshape(3, 15)
    with jax.enable_x64(True):
        stored = [jax.device_put(np.pad(values, ((0, 2), (0, 0)))) for values in (edges, nodes)]
    tables = (
        EdgeGraphlets(EDGE_COLUMN_NAMES, stored[0], 2, PATH, COUNTS),
        NodeOrbits(NODE_ORBIT_NAMES, stored[1], 3, COUNTS),
    )
    features = Features(EDGE_COLUMN_NAMES, edges, "graph", np.arange(2))
    for result, values in zip((*tables, tables[0].on_device(), features), (edges, nodes, edges, edges), strict=True):
        if begun and result in tables:
            result.begin_fetch()
        np.testing.assert_array_equal(np.asarray(again(result)), values)
        np.testing.assert_array_equal(np.asarray(result), values)
    for result, values in zip(tables, (edges, nodes), strict=True):
        np.testing.assert_array_equal(np.asarray(again(result).on_device()), values)


def test_no_silent_array_of_one_object():
    with pytest.raises(TypeError, match="Census is a table"):
        np.asarray(TABLES["census"])
    assert np.asarray(TABLES["counts"]).tolist() == list(COUNTS.values())
    assert np.asarray(TABLES["count"]).tolist() == 7
    assert np.asarray(Int64.of(np.array([2**40, -1]))).tolist() == [2**40, -1]


def test_counts_beyond_64_bits_are_in_the_frame():
    frame = pytest.importorskip("pandas") and TABLES["counts"].to_pandas()
    assert frame["count"].tolist() == list(COUNTS.values())


def test_names_are_escaped_and_long_tables_cut():
    class Named(Presented):
        def _line(self):
            return "<b>"

        def table(self):
            return {"<i>": ["<script>", *map(str, range(30))], "x": np.arange(31) / 7}

    page = Named()._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "11 more rows" in page
    assert "0.142857<" in page


def test_pandas_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r"jaxmotif\[io\]"):
        TABLES["census"].to_pandas()
