"""The pure functions for graphs of any size, in the user's own jit and vmap, against the definitions."""

from functools import partial

import jax
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.graphlets import choose_tuning, sparse_edge_columns, sparse_graphlet_counts, sparse_node_orbits
from jaxmotif.patterns import GRAPHLET_NAMES
from tests.oracles import brute_force
from tests.samples import CAPACITY, GRAPHS, build

CASES = {name: GRAPHS[name] for name in ("one edge", "star", "clique", "disconnected", "density 0.7 of 20")}


def _in_order(values, graph):
    """Rows of padding must be zero."""
    rows = values.to_numpy()
    assert not rows[graph:].any()
    return rows[:graph]


def test_counts_in_64_bit_mode():
    """Of a batch, with given sizes."""
    tuning = choose_tuning(CAPACITY[0], CAPACITY[1] // 2)._replace(block=64, heavy_block=64)
    batch = jax.tree.map(lambda *x: np.stack(x), *(build(*graph) for graph in CASES.values()))
    with jax.enable_x64(True):
        found = jax.jit(jax.vmap(partial(sparse_graphlet_counts, tuning=tuning)))(batch).to_numpy()
    for row, (n, edges) in zip(found, CASES.values(), strict=True):
        assert row.tolist() == [brute_force(n, edges)[0][name] for name in GRAPHLET_NAMES]


@jax.jit
def _at_edges_and_nodes(graph):
    """Count by one program, in which XLA makes what both share once."""
    return sparse_edge_columns(graph), sparse_node_orbits(graph)


def test_edge_columns():
    for n, edges in CASES.values():
        graph = build(n, edges)
        found = _in_order(_at_edges_and_nodes(graph)[0], len(edges))
        _, expected, _ = brute_force(n, edges)
        np.testing.assert_array_equal(found, np.stack(list(expected.values()), axis=-1))


def test_node_orbits():
    for n, edges in CASES.values():
        _, _, expected = brute_force(n, edges)
        np.testing.assert_array_equal(_in_order(_at_edges_and_nodes(build(n, edges))[1], n), expected)


@pytest.mark.parametrize("function", [sparse_graphlet_counts, sparse_edge_columns, sparse_node_orbits])
def test_directed_graphs_are_refused(function):
    graph = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    with pytest.raises(ValueError, match="got a directed one"):
        function(graph)


def test_more_nodes_than_64_bits_allow_are_refused():
    graph = Graph.from_edges([(0, 1)], 55_001)
    with pytest.raises(ValueError, match="takes up to 55000 nodes, got room for"):
        sparse_graphlet_counts(graph)
