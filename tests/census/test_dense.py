import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.census._dense import MAX_DENSE_NODES, dense_census, dense_census_classes
from jaxmotif.graph import Graph, stack_graphs
from tests.census.test_count import brute_force, random_graph
from tests.more import more


@pytest.mark.parametrize(
    ("size", "directed", "number"),
    [(3, True, 13), (4, True, 199), (3, False, 2), (4, False, 6), (5, False, 21), *more((5, True, 9364))],
)
def test_classes_are_all_there_are(size, directed, number):
    assert len(dense_census_classes(size, directed)) == number


@pytest.mark.parametrize(("size", "directed"), [(3, False), (4, True), *more((3, True), (4, False))])
def test_brute_force_over_a_ragged_batch(size, directed):
    graphs = [random_graph(n, p, n, directed) for n, p in ((0, 0), (2, 0.9), (4, 1), (9, 0.2), (14, 0.5), (24, 0.3))]
    batch = stack_graphs([graph.with_padding((28, 640)) for graph in graphs])
    counts = np.asarray(jax.jit(jax.vmap(lambda graph: dense_census(graph, size)))(batch))
    classes = dense_census_classes(size, directed)
    for graph, row in zip(graphs, counts.tolist(), strict=True):
        assert {c: count for c, count in zip(classes, row, strict=True) if count} == brute_force(graph, size)


@pytest.mark.parametrize(
    ("size", "directed", "nodes", "edges"),
    [
        (3, True, (3, 4), (1, 2)),
        (3, False, (3, 4, 5), None),
        (4, False, (3, 4), (1, 2)),
        (5, False, (3, 4), None),
        *more((5, True, None, None)),
    ],
)
def test_labels_that_are_named(size, directed, nodes, edges):
    """Against all sets of nodes; others than those named are in the graph, too."""
    kinds = {"labels": nodes and len(nodes) + 1, "edge_labels": edges and len(edges) + 1}
    graph = random_graph(12, 0.5, size, directed, **{name: number or 0 for name, number in kinds.items()})
    counts = jax.jit(lambda graph: dense_census(graph, size, nodes, edges))(graph.with_padding((13, 136))).to_numpy()
    classes = dense_census_classes(size, directed, nodes, edges)
    expected = {name: count for name, count in brute_force(graph, size).items() if name in classes}
    assert {c: count for c, count in zip(classes, counts.tolist(), strict=True) if count} == expected
    assert len(expected) > 2
    if nodes or edges:
        assert sum(expected.values()) < sum(brute_force(graph, size).values())


def test_several_blocks_and_the_largest_size():
    """A star of one more node than half the limit: every set with the hub is connected."""
    star = Graph.from_edges([(0, v) for v in range(1, 65)], MAX_DENSE_NODES)
    assert sorted(dense_census(star, 4).to_numpy().tolist()) == [0, 0, 0, 0, 0, 64 * 63 * 62 // 6]
    assert dense_census(star, 3).to_numpy().sum() == 64 * 63 // 2


@pytest.mark.parametrize("size", [3, 4, 5])
def test_room_for_fewer_nodes_than_a_subgraph_has(size):
    graph = Graph.from_edges([(0, 1)], num_nodes=2, pad=None)
    assert set(dense_census(graph, size).to_numpy().tolist()) == {0}


@pytest.mark.parametrize(
    ("graph", "size", "message"),
    [
        (Graph.from_edges([(0, 1)]), 6, "size 3 to 5"),
        (Graph.from_edges([(0, 1)], MAX_DENSE_NODES), 5, "up to 64 nodes"),
        (Graph.from_edges([(0, 1)], MAX_DENSE_NODES + 1), 3, "up to 128 nodes"),
        (Graph.from_edges([(0, 1)], node_labels=[1, 2]), 3, "node_labels=None and the graph has some"),
        (jax.tree.map(lambda x: jnp.stack([x, x]), Graph.from_edges([(0, 1)])), 3, "jax.vmap"),
    ],
)
def test_bad_input(graph, size, message):
    with pytest.raises(ValueError, match=message):
        dense_census(graph, size)


def test_labels_that_codes_do_not_hold():
    with pytest.raises(ValueError, match="take 28 bits, over the limit of 20"):
        dense_census_classes(4, directed=True, node_labels=(0, 1), edge_labels=(1, 2))
    with pytest.raises(ValueError, match="the graph has none"):
        dense_census(Graph.from_edges([(0, 1)]), 3, edge_labels=(1,))


@pytest.mark.parametrize("labels", [(0.9, 1), ("0", "1"), (True, False)])
@pytest.mark.parametrize("name", ["node_labels", "edge_labels"])
def test_labels_that_are_no_integers(name, labels):
    with pytest.raises(TypeError, match=f"each of {name} must be an integer, got "):
        dense_census_classes(3, directed=False, **{name: labels})


def test_arrays_of_another_dtype():
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(TypeError, match="out_targets must be of dtype int32, got float32"):
        dense_census(dataclasses.replace(graph, out_targets=jnp.zeros(4, jnp.float32)), 3)
