"""The pure functions for graphs of any size, in the user's own jit and vmap, against the definitions."""

from functools import partial

import jax
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.graphlets import choose_tuning, sparse_edge_columns, sparse_graphlet_counts, sparse_node_orbits
from jaxmotif.patterns import GRAPHLET_NAMES
from tests.oracles import brute_force, random_edges
from tests.samples import CAPACITY, GRAPHS, build

CASES = [GRAPHS[name] for name in ("one edge", "star", "disconnected", "hub and blocks", "density 0.3 of 20")]
CASES.append((12, random_edges(12, 1.0, 0)))
PAD = (48, 192)  # as in the examples of the functions, whose programs these are


def _in_order(values, graph):
    """Rows of padding must be zero."""
    rows = values.to_numpy()
    assert not rows[graph:].any()
    return rows[:graph]


def test_counts_in_64_bit_mode():
    """Of a batch, with given sizes."""
    tuning = choose_tuning(CAPACITY[0], CAPACITY[1] // 2)._replace(block=64, heavy_block=64)
    cases = CASES[1:4]
    batch = jax.tree.map(lambda *x: np.stack(x), *(build(*graph) for graph in cases))
    with jax.enable_x64(True):
        found = jax.jit(jax.vmap(partial(sparse_graphlet_counts, tuning=tuning)))(batch).to_numpy()
    for row, (n, edges) in zip(found, cases, strict=True):
        assert row.tolist() == [brute_force(n, edges)[0][name] for name in GRAPHLET_NAMES]


def test_edge_columns():
    for n, edges in CASES:
        found = _in_order(sparse_edge_columns(build(n, edges, PAD)), len(edges))
        _, expected, _ = brute_force(n, edges)
        np.testing.assert_array_equal(found, np.stack(list(expected.values()), axis=-1))


def test_node_orbits():
    for n, edges in CASES:
        _, _, expected = brute_force(n, edges)
        np.testing.assert_array_equal(_in_order(sparse_node_orbits(build(n, edges, PAD)), n), expected)


def test_exact_capacities_without_edges():
    """The only slot is then padding, which is no place for an edge."""
    graph = Graph.from_edges([], 3, pad=None)
    counts = dict(zip(GRAPHLET_NAMES, sparse_graphlet_counts(graph).tolist(), strict=True))
    assert counts == brute_force(3, [])[0]
    assert not sparse_edge_columns(graph).to_numpy().any()
    assert not sparse_node_orbits(graph).to_numpy().any()


@pytest.mark.parametrize("function", [sparse_graphlet_counts, sparse_edge_columns, sparse_node_orbits])
def test_directed_graphs_are_refused(function):
    graph = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    with pytest.raises(ValueError, match="got a directed one"):
        function(graph)


def test_more_nodes_than_64_bits_allow_are_refused():
    graph = Graph.from_edges([(0, 1)], 55_001)
    with pytest.raises(ValueError, match="takes up to 55000 nodes, got room for"):
        sparse_graphlet_counts(graph)
