import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.graph import Graph, stack_graphs
from jaxmotif.motifs._dense import MAX_DENSE_NODES, dense_census, dense_census_classes
from tests.motifs.test_census import brute_force, random_graph


def test_classes_are_all_there_are():
    """Of 3 and 4 nodes: 13 and 199 connected digraphs, 2 and 6 connected graphs."""
    assert [len(dense_census_classes(k, d)) for k in (3, 4) for d in (True, False)] == [13, 2, 199, 6]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("size", [3, 4])
def test_brute_force_over_a_ragged_batch(directed, size):
    graphs = [random_graph(n, p, n, directed) for n, p in ((0, 0), (2, 0.9), (4, 1), (9, 0.2), (14, 0.5), (24, 0.3))]
    batch = stack_graphs([graph.with_padding((28, 640)) for graph in graphs])
    counts = np.asarray(jax.jit(jax.vmap(lambda graph: dense_census(graph, size)))(batch))
    classes = dense_census_classes(size, directed)
    for graph, row in zip(graphs, counts.tolist(), strict=True):
        assert {c: count for c, count in zip(classes, row, strict=True) if count} == brute_force(graph, size)


def test_several_blocks_and_the_largest_size():
    """A star of one more node than half the limit: every set with the hub is connected."""
    star = Graph.from_edges([(0, v) for v in range(1, 65)], MAX_DENSE_NODES)
    assert sorted(dense_census(star, 4).to_numpy().tolist()) == [0, 0, 0, 0, 0, 64 * 63 * 62 // 6]
    assert dense_census(star, 3).to_numpy().sum() == 64 * 63 // 2


@pytest.mark.parametrize(
    ("graph", "size", "message"),
    [
        (Graph.from_edges([(0, 1)]), 5, "size 3 or 4"),
        (Graph.from_edges([(0, 1)], MAX_DENSE_NODES + 1), 3, "up to 128 nodes"),
        (Graph.from_edges([(0, 1)], node_labels=[1, 2]), 3, "without labels"),
        (jax.tree.map(lambda x: jnp.stack([x, x]), Graph.from_edges([(0, 1)])), 3, "jax.vmap"),
    ],
)
def test_bad_input(graph, size, message):
    with pytest.raises(ValueError, match=message):
        dense_census(graph, size)


def test_arrays_of_another_dtype():
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(TypeError, match="out_targets must be of dtype int32, got float32"):
        dense_census(dataclasses.replace(graph, out_targets=jnp.zeros(4, jnp.float32)), 3)
