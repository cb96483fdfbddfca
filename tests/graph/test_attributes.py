"""Columns of values: the narrowest type that holds every value exactly."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from jaxmotif.graph import Graph
from jaxmotif.graph._attributes import as_column, from_words
from jaxmotif.graph._convert import _whole_numbers


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2**63 - 1], np.int64),
        ([1, 2**63], object),
        ([1, -(2**63) + 1], np.int64),
        ([2**53 - 1, None], np.float64),
        ([2**53, None], object),  # floats are not told apart from here on
        ([2**53 + 1, 0.5], object),
        ([1, 1e16], np.float64),
        ([10**307, 7], object),
        ([-(2**53), None], object),
        ([True, False], bool),
        ([True, None], object),
        ([0.5, None], np.float64),
    ],
)
def test_whole_numbers_at_the_limits_of_types(values, dtype):
    column = as_column(values, "x", len(values))
    assert column.dtype == dtype
    for value, kept in zip(values, column.tolist(), strict=True):
        assert (kept is None or kept != kept) if value is None else kept == value
    if not any(isinstance(value, bool) for value in values):
        words = from_words(["" if value is None else str(value) for value in values])
        assert words.dtype == dtype
        np.testing.assert_array_equal(words, column)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["01234", "90210"], ["01234", "90210"]),
        (["-01", "2"], ["-01", "2"]),
        (["042.0", "1"], ["042.0", "1"]),
        (["0", "-10"], [0, -10]),
        (["0.05", "0", "0.", "-.5", "0e1"], [0.05, 0, 0, -0.5, 0]),
    ],
)
def test_numbers_with_leading_zeros_are_text(words, values):
    assert from_words(words).tolist() == values


def test_labels_of_matrices_are_whole_numbers_that_floats_hold():
    """2^53 - 1 is the last number that no other one is taken for."""
    assert _whole_numbers(np.array([2.0**53 - 1, -3.0])).tolist() == [2**53 - 1, -3]
    for value in (2.0**53, -(2.0**53), 0.5, np.inf, np.nan):
        with pytest.raises(ValueError, match="edge labels must be whole numbers"):
            _whole_numbers(np.array([1.0, value]))
    assert _whole_numbers(np.array([2**63 - 1])).tolist() == [2**63 - 1]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_attributes_come_from_networkx_and_go_back(kind):
    source = kind()
    source.add_node("x", kind="KC", position=np.array([0.5, 1.0]))
    source.add_edge("x", "y", weight=2.5)
    source.add_edge("y", "z", note="weak")
    if source.is_multigraph():
        source.add_edge("x", "y", weight=4.0)
    again = Graph.from_networkx(source, attributes=True).to_networkx()
    assert type(again) is kind
    assert dict(again.nodes(data=True)) == dict(source.nodes(data=True))
    assert sorted(again.edges(data=True), key=str) == sorted(source.edges(data=True), key=str)


def test_arrays_of_words_and_dates_and_of_several_axes():
    words = np.array([b"KC", b"PN"])
    dates = pd.to_datetime(pd.Series([None, "2020-01-02"]))
    for missing, date in (as_column(dates, "date", 2), as_column(dates.to_numpy().astype("M8[D]"), "date", 2)):
        assert missing is None
        assert date.startswith("2020-01-02")
    assert as_column(words, "kind", 2).tolist() == ["KC", "PN"]
    assert as_column(words.astype(str), "kind", 2).tolist() == ["KC", "PN"]
    with pytest.raises(ValueError, match=r"'kind': expected one value for each, \[2\], got \[2, 1\]"):
        as_column(np.zeros((2, 1)), "kind", 2)
    with pytest.raises(ValueError, match="'kind': expected 3 values, got 2"):
        as_column(words, "kind", 3)


@pytest.mark.parametrize("values", [{0: 1, 1: 2, 2: 3}, {1, 2, 3}, "abc", b"abc", (i for i in range(3)), 5, None])
def test_columns_without_an_order_are_refused(values):
    graph = Graph.from_edges([(0, 1), (1, 2), (0, 2)])
    for options in ({"nodes": {"kind": values}}, {"edges": {"kind": values}}):
        with pytest.raises(TypeError, match="attribute 'kind' must be an array or a list, with the values in their"):
            graph.with_attributes(**options)


def test_columns_have_names():
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(TypeError, match="edges must be columns by name, .*, got list"):
        graph.with_attributes(None, [5])


def test_attributes_where_they_cannot_be_kept(tmp_path):
    source = nx.Graph([(0, 1)])
    source.add_node(2, kind="KC")
    with pytest.raises(ValueError, match='attributes=True keeps those of all nodes; leave out isolated="drop"'):
        Graph.from_networkx(source, attributes=True, isolated="drop")
    with pytest.raises(ValueError, match=r"keeps labels and names, no attributes; graph.with_attributes\(\)"):
        Graph.from_networkx(source, attributes=True).save(tmp_path / "graph.npz")
    assert not list(tmp_path.iterdir())
