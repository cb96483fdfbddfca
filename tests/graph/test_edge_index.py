"""Graphs from traced arrays against those built on the host."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.graphlets import dense_graphlet_counts
from tests.compilations import compilations

N, E = 9, 24


def columns(seed):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, N, (2, E))
    ends[:, rng.random(E) < 0.3] = N + 5  # padding
    return ends.astype(np.int32)


@pytest.mark.parametrize("directed", [False, True])
def test_traced_graphs_are_those_of_the_host(directed):
    make = jax.jit(lambda ends, labels, kinds: Graph.from_edge_index(ends, N, directed, labels, kinds))
    for seed in range(8):
        ends = columns(seed)
        low, high = np.sort(ends, axis=0) if not directed else ends
        labels, kinds = np.arange(N), (low * 31 + high) % 4
        found, real = make(ends, labels, kinds), ends[0] < N
        expected = Graph.from_edges(
            ends.T[real], N, directed, labels, kinds[real], pad=(found.node_capacity, found.slot_capacity)
        )
        for name, array in expected.fields._asdict().items():
            np.testing.assert_array_equal(getattr(found, name), array, err_msg=name)
        assert found.n == N


def test_batches_inside_jit():
    many = np.stack([columns(seed) for seed in range(5)])
    counts = jax.jit(jax.vmap(lambda ends: dense_graphlet_counts(Graph.from_edge_index(ends, N))))(many)
    for ends, found in zip(many, counts.to_numpy(), strict=True):
        graph = Graph.from_edges(ends.T[ends[0] < N], N)
        assert found.tolist() == list(jaxmotif.graphlet_counts(graph).counts.values())


def test_one_program_for_each_shape():
    ends = columns(0)[:, :19]  # of a shape that no other test has
    with compilations() as found:
        Graph.from_edge_index(ends, N)
    assert len(found) == 1


def test_wrong_arrays_are_refused():
    with pytest.raises(ValueError, match=r"shape \(2, E\)"):
        Graph.from_edge_index(np.zeros((4, 2), int), 3)
    with pytest.raises(TypeError, match="integers"):
        Graph.from_edge_index(np.zeros((2, 4)), 3)
    with pytest.raises(ValueError, match=r"node_labels must have shape \(3,\)"):
        Graph.from_edge_index(np.zeros((2, 4), int), 3, node_labels=[1, 2])


@pytest.mark.parametrize("door", [
    jaxmotif.graphlet_counts, jaxmotif.node_orbits, lambda graph: jaxmotif.subgraph_census(graph, 3),
    lambda graph: jaxmotif.count_matches([(0, 1)], graph), lambda graph: jaxmotif.pattern_features(graph, ["triangle"]),
    lambda graph: jaxmotif.find_motifs(graph, 3, key=0), lambda graph: jaxmotif.random_graphs(graph, 2, key=0),
])  # fmt: skip
def test_front_doors_name_the_pure_functions(door):
    graph = Graph.from_edges([(0, 1), (1, 2)])
    with pytest.raises(TypeError, match=r"inside jax.jit.*dense_graphlet_counts.*dense_match_count.*dense_pattern"):
        jax.jit(door)(graph)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_ids_of_any_integers(kind):
    """No number of nodes is cut down to the integers of the ids, nor an id to 32 bits."""
    ends = np.array([[0, 100], [1, 101]], kind)
    for n in (102, 128, 256, 300, 2**16 + 3):
        for given in (ends, jnp.asarray(ends.astype(kind if ends.itemsize < 8 else "int32"))):
            assert Graph.from_edge_index(given, n).edge_list().tolist() == [[0, 1], [100, 101]]
    if ends.itemsize == 8:
        wide = np.array([[2**32, 1, 2**32 + 3], [1, 2, 1]], kind)
        with jax.enable_x64(True):
            on_device = jnp.asarray(wide)
        for given in (wide, wide.tolist(), on_device):
            assert Graph.from_edge_index(given, 4).edge_list().tolist() == [[1, 2]]


def test_other_kinds_are_refused():
    ends = np.array([[0, 1], [1, 2]])
    for nodes, error, message in (
        (-1, ValueError, "num_nodes must be at least 0, got -1"),
        (2.5, TypeError, "num_nodes must be an integer, got 2.5"),
        (None, TypeError, "num_nodes must be an integer, got None"),
    ):
        with pytest.raises(error, match=message):
            Graph.from_edge_index(ends, nodes)
    for labels in ([0.5, 1.7, 2], jnp.ones(3)):
        with pytest.raises(TypeError, match="node_labels must be integers, got float"):
            Graph.from_edge_index(ends, 3, node_labels=labels)
    assert Graph.from_edge_index([[], []], 3).m == 0
    with pytest.raises(ValueError, match="2147483648 nodes are over the limit"):
        Graph.from_edge_index(ends, 2**31)
    with pytest.raises(ValueError, match="rows of several lengths in edge_index"):
        Graph.from_edge_index([[0, 1], [1]], 3)
    masked = np.ma.array(ends, mask=[[0, 1], [0, 1]])
    with pytest.raises(ValueError, match="masked values in edge_index"):
        Graph.from_edge_index(masked, 3)


@pytest.mark.parametrize("labels", [np.array([1, 2**32 + 1, 2]), [1, 2**31, 2]])
def test_labels_do_not_wrap(labels):
    ends = np.array([[0, 1], [1, 2]])
    for name, values in (("node_labels", labels), ("edge_labels", labels[:2])):
        with pytest.raises(ValueError, match=rf"{name} must fit int32, .* got {name}\[1\] = {labels[1]}"):
            Graph.from_edge_index(ends, 3, **{name: values})


@pytest.mark.parametrize("kind", [np.int64, np.uint32])
@pytest.mark.parametrize("transform", [lambda f: f, jax.jit])
def test_wide_labels_on_a_device_are_refused(kind, transform):
    """Nobody looks at their values, which might wrap."""
    with jax.enable_x64(True):
        labels = jnp.arange(3, dtype=kind)
        make = transform(lambda labels: Graph.from_edge_index([[0, 1], [1, 2]], 3, node_labels=labels))
        with pytest.raises(TypeError, match=r"node_labels are labels of 32 bits, got u?int.*\.astype"):
            make(labels)
        assert make(labels.astype(jnp.int16)).node_labels.tolist() == [0, 1, 2]


def test_labels_of_pandas():
    labels = pd.Series([7, 8, 9], dtype="Int64")
    assert Graph.from_edge_index([[0, 1], [1, 2]], 3, node_labels=labels).node_labels.tolist() == [7, 8, 9]
