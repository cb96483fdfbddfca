"""A GraphsTuple in and out inside jit."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.arrays import Int64
from jaxmotif.graphlets import dense_node_orbits
from jaxmotif.learn.jraph import counts_by_graph, sums_by_graph, to_graph, with_node_features
from tests.oracles import brute_force, random_edges


class GraphsTuple(NamedTuple):
    """jraph's, field by field."""

    nodes: Any
    edges: Any
    receivers: Any
    senders: Any
    globals: Any
    n_node: Any
    n_edge: Any


def batched(kind=GraphsTuple):
    """Two graphs, and what jraph's padding adds: two nodes, and self loops of the first of them."""
    parts = [(5, random_edges(5, 0.7, 1)), (7, random_edges(7, 0.5, 2))]
    ends = np.concatenate([np.array(parts[0][1]), np.array(parts[1][1]) + 5, np.full((3, 2), 12)]).astype(np.int32)
    sizes = [np.array([5, 7, 2], np.int32), np.array([len(edges) for _, edges in parts] + [3], np.int32)]
    return parts, kind(
        jnp.ones((14, 1), jnp.float32), None, jnp.array(ends[:, 1]), jnp.array(ends[:, 0]), None, *map(jnp.array, sizes)
    )


@jax.jit
def with_orbits(graphs):
    orbits = dense_node_orbits(to_graph(graphs, 14)).astype("float32")
    return with_node_features(graphs, orbits), sums_by_graph(graphs, orbits)


def check(found, sums, parts):
    orbits = [brute_force(n, edges)[2] for n, edges in parts]
    np.testing.assert_array_equal(found.nodes[:12, 1:], np.concatenate(orbits))
    np.testing.assert_array_equal(sums, [*(orbit.sum(axis=0) for orbit in orbits), np.zeros(15)])


def test_orbits_inside_jit():
    parts, graphs = batched()
    found, sums = with_orbits(graphs)
    check(found, sums, parts)


def test_exact_counts_keep_their_type():
    """Sums beyond 32 bits, and features of the dtype of the others."""
    graphs = batched()[1]
    counts = Int64.of(np.arange(14)[:, None] * 2**40)
    sums = jax.jit(sums_by_graph)(graphs, counts)
    assert isinstance(sums, Int64)
    assert sums.tolist() == [[10 * 2**40], [56 * 2**40], [25 * 2**40]]
    assert jax.jit(with_node_features)(graphs, counts).nodes.dtype == jnp.float32


def test_with_jraph_itself():
    jraph = pytest.importorskip("jraph")
    parts, graphs = batched(jraph.GraphsTuple)
    found, sums = with_orbits(graphs)
    assert isinstance(found, jraph.GraphsTuple)
    check(found, sums, parts)


def test_arrays_pass_by_dlpack():
    """Edges that live in JAX, and in NumPy, are taken where they lie; results go on by the same protocol."""
    edges = jnp.array([[0, 1], [1, 2], [2, 0]], jnp.int32)
    assert jaxmotif.graphlet_counts(Graph.from_edges(edges)).counts["triangle"] == 1
    _, orbits = with_orbits(batched()[1])
    passed = np.from_dlpack(orbits)
    assert passed.ctypes.data == orbits.unsafe_buffer_pointer()
    np.testing.assert_array_equal(passed, orbits)


@pytest.mark.parametrize("size", [4, 5])
def test_counts_of_each_graph_of_a_union(size):
    """Graphs of a padded union, one of which has a node of more neighbours than the lists hold."""
    parts = [(n, random_edges(n, 0.3, n)) for n in (6, 7, 8)] + [(9, [(0, x) for x in range(1, 9)])]
    sizes = np.array([n for n, _ in parts] + [2], np.int32)
    starts = np.cumsum(sizes) - sizes
    ends = np.concatenate([np.array(edges) + start for (_, edges), start in zip(parts, starts, strict=False)])
    graphs = GraphsTuple(None, None, jnp.array(ends[:, 1]), jnp.array(ends[:, 0]), None, jnp.array(sizes), None)

    @jax.jit
    def count(graphs):
        orbits = dense_node_orbits(to_graph(graphs, 32), size=size, max_degree=7)
        return counts_by_graph(graphs, orbits)

    found = count(graphs).to_numpy()
    for i, (n, edges) in enumerate(parts[:3]):
        expected = jaxmotif.graphlet_counts(Graph.from_edges(edges, n), size=size)
        assert found[i].tolist() == list(expected.counts.values())
    assert (found[3] == -1).all()
    assert found[4].tolist() == [0, 1, *[0] * (len(found[4]) - 2)]  # the padding: two nodes without an edge


def test_rows_past_the_last_graph_belong_to_none():
    graphs = GraphsTuple(*[None] * 5, jnp.array([5, 4, 0, 3]), None)
    assert sums_by_graph(graphs, jnp.ones(20)).tolist() == [5, 4, 0, 3]
    assert sums_by_graph(graphs, Int64.of(jnp.ones(20, jnp.int32))).to_numpy().tolist() == [5, 4, 0, 3]


def test_sums_beyond_64_bits_are_refused():
    graphs = GraphsTuple(*[None] * 5, np.array([1, 2, 3]), None)
    values = [-(2**63), 2**62, 2**62 - 1, 2**62, 2**62, -1]
    assert sums_by_graph(graphs, Int64.of(values)).tolist() == [-(2**63), 2**63 - 1, 2**63 - 1]
    for beyond in ([0, 2**62, 2**62], [0, -(2**63), -1]):
        with pytest.raises(OverflowError, match="the sum of a graph needs more than 63 bits"):
            sums_by_graph(graphs, Int64.of(beyond))


def test_fewer_nodes_than_edges_name_are_refused():
    _, graphs = batched()
    assert to_graph(graphs, 12).m == to_graph(graphs, 14).m  # without the padding node
    with pytest.raises(ValueError, match="num_nodes is 5, and an edge has node 1"):
        to_graph(graphs, 5)
    for kind in ("int8", "uint8", "uint32"):  # the padding's loops at node 12 may be of any integers
        narrow = graphs._replace(senders=graphs.senders.astype(kind), receivers=graphs.receivers.astype(kind))
        assert to_graph(narrow, 12).edge_list().tolist() == to_graph(graphs, 12).edge_list().tolist()


def test_64_bit_ids_are_no_other_nodes():
    ends = np.array([[0, 2**32 + 1], [1, 2]])
    graphs = GraphsTuple(None, None, ends[1], ends[0], None, np.array([3]), np.array([2]))
    with pytest.raises(ValueError, match="an edge has node 4294967297"):
        to_graph(graphs, 3)


def test_counts_by_graph_takes_all_orbits_alone():
    graph = Graph.from_edges([(0, 1), (1, 2)])
    orbits, graphs = dense_node_orbits(graph), GraphsTuple(*[None] * 5, jnp.array([3]), None)
    for wrong in (orbits[:, :4], orbits.astype("float32")):
        with pytest.raises(ValueError, match=r"exact counts \[n, 15\] or \[n, 73\]"):
            counts_by_graph(graphs, wrong)


def test_counts_beside_integers_of_64_bits():
    graphs = GraphsTuple(np.ones((3, 2), np.int64), *[None] * 6)
    nodes = with_node_features(graphs, Int64.of(jnp.ones((3, 15), jnp.int32))).nodes
    assert nodes.tolist() == np.ones((3, 17)).tolist()


def test_counts_of_graphs_without_node_features():
    _, graphs = batched()
    orbits = dense_node_orbits(to_graph(graphs, 14), max_degree=6)
    found = with_node_features(graphs._replace(nodes=None), orbits).nodes
    assert (found.dtype, found.tolist()) == (jnp.float32, orbits.to_numpy().tolist())


def test_integers_of_numpy_are_exact():
    """Sums of 64 bits, and counts that no column of 32 bits holds."""
    graphs = GraphsTuple(jnp.ones((2, 1), jnp.int32), *[None] * 4, jnp.array([2]), None)
    counts = np.full((2, 1), 2**40)
    assert sums_by_graph(graphs, counts).tolist() == [[2**41]]
    with pytest.raises(OverflowError):
        with_node_features(graphs, counts)
    assert with_node_features(graphs, counts // 2**20).nodes.tolist() == [[1, 2**20]] * 2
    assert with_node_features(graphs._replace(nodes=None), counts).nodes.tolist() == [[2.0**40]] * 2


def test_edges_of_negative_nodes_are_refused():
    graphs = GraphsTuple(None, None, np.array([1, 2]), np.array([-1, 1]), *[None] * 3)
    with pytest.raises(ValueError, match="an edge has node -1"):
        to_graph(graphs, 3)
