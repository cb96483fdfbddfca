"""Stacks and disjoint unions: against graphs one by one, and against building the union from its edges."""

import chex
import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest

from jaxmotif import count_matches, graphlet_counts, node_orbits, subgraph_census
from jaxmotif.graph import Graph, Graphs, as_graphs, disjoint_union, stack_graphs, unstack
from jaxmotif.graph._groups import size_groups
from jaxmotif.graph.synthetic import erdos_renyi

SIZES = [(0, 0), (1, 0), (5, 4), (8, 12), (3, 3), (12, 0)]


def graphs(directed: bool, pads=(None,)) -> list[Graph]:
    """Labelled graphs of all sizes, in turn with each padding."""
    rng = np.random.default_rng(0)
    result = []
    for i, (n, m) in enumerate(SIZES):
        edges = erdos_renyi(n, m=m, directed=directed, seed=i).edge_list()
        labels = rng.integers(0, 9, n), rng.integers(0, 9, m)
        result.append(Graph.from_edges(edges, n, directed, *labels, pad=pads[i % len(pads)]))
    return result


@pytest.mark.parametrize("directed", [False, True])
def test_vmap_over_a_stack(directed):
    chex.clear_trace_counter()

    @jax.jit
    @chex.assert_max_traces(n=1)
    def features(batch):
        def one(graph):
            degree = graph.out_offsets[1:] - graph.out_offsets[:-1]
            used = graph.out_targets < graph.node_capacity
            label_sum = jnp.where(used, graph.edge_labels, 0).sum()
            reached = graph.node_labels.at[graph.out_targets].get(mode="fill", fill_value=0).sum()
            return graph.num_nodes, graph.num_edges, degree.max(), label_sum, reached

        return jax.vmap(one)(batch)

    for pads in ((None,), ("bucket", (40, 70))):
        singles = graphs(directed, pads)
        batch = stack_graphs(singles, pad=(16, 24))
        assert all(leaf.shape[0] == len(singles) for leaf in jax.tree.leaves(batch))
        columns = [column.tolist() for column in features(batch)]
        for i, graph in enumerate(singles):
            slots, n = graph.num_slots, graph.n
            labels = np.asarray(graph.node_labels)
            reached = labels[np.asarray(graph.out_targets)[:slots]].sum()
            label_sum = np.asarray(graph.edge_labels)[:slots].sum()
            assert [column[i] for column in columns] == [n, graph.m, max(graph.degrees, default=0), label_sum, reached]


@pytest.mark.parametrize("directed", [False, True])
def test_stack_and_unstack(directed):
    singles = graphs(directed, (None, "bucket"))
    batch = stack_graphs(singles, pad=None)
    assert repr(batch).startswith(f"Graph({'directed' if directed else 'undirected'}, 6 x capacity 12 nodes")
    assert batch.node_capacity == 12
    assert batch.slot_capacity == (12 if directed else 24)
    assert stack_graphs(singles).out_targets.shape == (6, 16 if directed else 24)
    for graph, back in zip(singles, unstack(batch), strict=True):
        chex.assert_trees_all_equal(back, graph.with_padding((12, batch.slot_capacity)))
        assert isinstance(back.out_offsets, jax.Array)
    device = jax.devices()[-1]
    assert stack_graphs(singles, device=device).out_targets.devices() == {device}
    assert unstack(batch, device)[0].out_targets.devices() == {device}


@pytest.mark.parametrize("pad", [None, "bucket", (33, 60)])
@pytest.mark.parametrize("directed", [False, True])
def test_disjoint_union_is_the_graph_of_all_edges(directed, pad):
    singles = graphs(directed, (None, "bucket"))
    union, ids = disjoint_union(singles, pad)
    first = np.cumsum([0, *(n for n, _ in SIZES)])
    edges = np.concatenate([graph.edge_list() + first[i] for i, graph in enumerate(singles)])
    edge_labels = np.concatenate([np.asarray(graph.edge_labels)[graph.edge_slots()] for graph in singles])
    node_labels = np.concatenate([np.asarray(graph.node_labels)[: graph.n] for graph in singles])
    expected = Graph.from_edges(edges, int(first[-1]), directed, node_labels, edge_labels, pad=pad)
    chex.assert_trees_all_equal(union, expected)
    chex.assert_trees_all_equal_shapes_and_dtypes(union, expected)
    padding = [len(singles)] * (union.node_capacity - union.n)
    assert ids.tolist() == [i for i, (n, _) in enumerate(SIZES) for _ in range(n)] + padding
    assert ids.dtype == np.int32


def test_disjoint_union_equals_networkx():
    parts = [nx.path_graph(4), nx.complete_graph(5), nx.cycle_graph(3)]
    union, _ = disjoint_union([Graph.from_networkx(part) for part in parts])
    assert union.edge_list().tolist() == sorted(map(sorted, nx.disjoint_union_all(parts).edges()))
    assert union.node_labels is union.edge_labels is union.in_offsets is None


def test_bad_batches():
    plain, arcs = Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1)], directed=True)
    colored, typed = Graph.from_edges([(0, 1)], node_labels=[1, 2]), Graph.from_edges([(0, 1)], edge_labels=[3])
    for combine in (stack_graphs, disjoint_union):
        with pytest.raises(ValueError, match="at least one graph"):
            combine([])
        with pytest.raises(ValueError, match=r"graphs\[0\] and graphs\[1\] differ: .* directed"):
            combine([plain, arcs])
        with pytest.raises(ValueError, match=r"graphs\[0\] and graphs\[2\] differ: .* node_labels"):
            combine([plain, plain, colored])
        with pytest.raises(ValueError, match="edge_labels"):
            combine([typed, plain])
        with pytest.raises(ValueError, match="does not hold"):
            combine([plain, plain], pad=(2, 1))
    batch = stack_graphs([plain, plain])
    with pytest.raises(ValueError, match="a batch of 2 graphs has no single size"):
        _ = batch.n
    with pytest.raises(ValueError, match="unstack takes a batch"):
        unstack(plain)
    with pytest.raises(ValueError, match="expected a batch of graphs with one leading axis"):
        Graphs.from_graphs(plain)


def test_data_sets_without_edges_or_graphs():
    for graphs, sizes in (
        (Graphs.from_edges([[], []], [2, 0]), [2, 0]),
        (Graphs.from_edges([[], []]), [0, 0]),
        (Graphs.from_edges([]), []),
        (Graphs.from_edge_index(np.zeros((2, 0), int), [0, 2, 2]), [2, 0]),
        (Graphs.from_edge_index(np.zeros((2, 0), int), [0]), []),
    ):
        assert [(graph.n, graph.m) for graph in graphs] == [(n, 0) for n in sizes]


@pytest.mark.parametrize(
    ("steps", "nodes"),
    [(0.0, [1024]), (2.0**19, [128, 1024]), (2.0**20, [32, 128, 512, 1024]), (2.0**40, [32, 128, 512, 1024])],
)
def test_graphs_are_grouped_by_size_where_that_saves_more_than_a_program(steps, nodes):
    """Four groups at most; the fewest steps are those of 40 nodes in the room of 100."""
    sizes = [3, 40, 100, 3, 300, 1000, 2000, 30]
    graphs = Graphs.from_edges([[(0, 1)]] * len(sizes), sizes)
    which = np.array([7, 5, 4, 3, 2, 1, 0])  # not 2000
    groups = size_groups(graphs, which, lambda room, slots: steps * room)
    assert sorted(i for group in groups for i in group.which.tolist()) == sorted(which.tolist())
    for group in groups:
        assert graphs.n[group.which].max() <= group.nodes <= 1024
        assert graphs.slots[group.which].max() <= group.slots
    assert sorted(group.nodes for group in groups) == nodes


class Tensor:
    """An array of another library, by dlpack alone."""

    def __init__(self, array):
        self.array = np.asarray(array)
        self.ndim = self.array.ndim

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


ROWS = [[(0, 1), (1, 0), (1, 2), (2, 2)], [], [(4, 0), (0, 1), (4, 1), (4, 0)], [(0, 1)]]


@pytest.mark.parametrize("directed", [False, True])
def test_a_data_set_is_its_graphs_built_one_by_one(directed):
    sizes = [3, 2, 6, 2]
    labels = [list(range(n)) for n in sizes]
    words = [[7] * len(rows) for rows in ROWS]
    sevens = np.concatenate(words).astype(int)
    singles = [Graph.from_edges(*one) for one in zip(ROWS, sizes, [directed] * 4, labels, words, strict=True)]
    first = np.cumsum([0, *sizes])
    tables = [np.reshape(rows, (-1, 2)).astype(int) for rows in ROWS]
    index = np.concatenate([table + at for table, at in zip(tables, first, strict=False)]).T
    tensors = [Tensor(table) for table in tables]
    shuffled = np.random.default_rng(0).permutation(index.shape[1])
    ways = {
        "edges": Graphs.from_edges(ROWS, sizes, directed, labels, words),
        "tensors": Graphs.from_edges(tensors, sizes, directed, labels, words),
        "edge_index": Graphs.from_edge_index(
            jnp.asarray(index[:, shuffled], jnp.int32), first, directed, np.concatenate(labels), sevens
        ),
        "graphs": Graphs.from_graphs(singles),
        "stack": Graphs.from_graphs(stack_graphs(singles)),
    }  # fmt: skip
    for graphs in ways.values():
        assert graphs.n.tolist() == sizes
        assert graphs.m.tolist() == [graph.m for graph in singles]
        for graph, found in zip(singles, graphs, strict=True):
            chex.assert_trees_all_equal(found, graph)
        chex.assert_trees_all_equal(graphs.stack([2, 4, 0], (8, 12)).out_targets[1], np.full(12, 8, np.int32))
        chex.assert_trees_all_equal(graphs.stack(), stack_graphs(singles))
        chex.assert_trees_all_equal(graphs.union([3, 2]), disjoint_union([singles[3], singles[2]])[0])
    assert repr(ways["edges"]).endswith(f"4 graphs, 13 nodes, {sum(graph.m for graph in singles)} edges)")
    with pytest.raises(IndexError, match="there are 4 graphs"):
        ways["edges"][4]
    with pytest.raises(TypeError, match=r"the index of a graph must be an integer, got slice\(0, 1, None\)"):
        ways["edges"][0:1]
    chex.assert_trees_all_equal(ways["edges"][np.int64(-1)], ways["edges"][3])
    for choose, last in ((ways["edges"].stack, 2**63 - 1), (ways["edges"].union, 3)):
        assert choose([last]).directed is directed
        for which, error in ((np.array([True, False]), TypeError), ([0.9], TypeError), ([0, -1], ValueError)):
            with pytest.raises(error, match="which must be integers|there are 4 graphs, numbered from 0, got index -1"):
                choose(which)
    with pytest.raises(ValueError, match="there are 4 graphs, numbered from 0, got index 4"):
        ways["edges"].union([3, 4])


def test_what_is_a_data_set():
    array = np.array([(0, 1), (1, 2)])
    ones: list = [[(0, 1)], array, [[0, 1], [1, 2]], [array[0], array[1]], Graph.from_edges(array), "a.txt", []]
    for one in ones:
        assert as_graphs(one) is None
    data: list = [ROWS, [array, array], [array.tolist()], (Tensor(array),), [nx.path_graph(3), array]]
    for many in data:
        found = as_graphs(many)
        assert found is not None
        assert len(found) == len(many)


def test_bad_data_sets():
    with pytest.raises(ValueError, match=r"graphs\[1\] has the node id 5, which is not below its number of nodes, 5"):
        Graphs.from_edges([[(0, 1)], [(0, 5)]], [2, 5])
    with pytest.raises(ValueError, match=r"graphs\[1\] has the node id -2"):
        Graphs.from_edges([[(0, 1)], [(0, -2)]])
    with pytest.raises(ValueError, match=r"graphs\[1\]: edges must be pairs of node ids, got .* = \(0, 1, 2\)"):
        Graphs.from_edges([[(0, 1)], [(0, 1, 2)]])
    with pytest.raises(TypeError, match=r"graphs\[0\]: edges must be integers"):
        Graphs.from_edges([[(0.5, 1)]])
    with pytest.raises(ValueError, match=r"graphs\[0\]: edge_labels must have shape \(1,\), got \(2,\)"):
        Graphs.from_edges([[(0, 1)], [(0, 1), (1, 2)]], edge_labels=[[1, 2], [3]])
    with pytest.raises(ValueError, match=r"graphs\[1\]: .*: 3 for edges\[1\] = \(2, 1\), 4 for edges\[2\] = \(1, 2\);"):
        Graphs.from_edges([[(0, 1)], [(0, 1), (2, 1), (1, 2)]], edge_labels=[[1], [2, 3, 4]])
    with pytest.raises(ValueError, match="num_nodes must have one entry for each of 2 graphs"):
        Graphs.from_edges([[(0, 1)], [(0, 1)]], [2])
    with pytest.raises(TypeError, match="num_nodes must be integers, got float64"):
        Graphs.from_edges([[(0, 1)], [(0, 1)]], [2.0, 2.5])
    with pytest.raises(TypeError, match="ptr must be integers, got float64"):
        Graphs.from_edge_index([[0], [1]], [0, 2.5])
    with pytest.raises(ValueError, match=r"graphs\[1\]: edges must be below 2\^63, got 9223372036854775809"):
        Graphs.from_edges([[(0, 1)], np.array([[0, 2**63 + 1]], np.uint64)])
    with pytest.raises(ValueError, match=r"edge_index\[:, 1\] = \[1, 2\] joins two graphs"):
        Graphs.from_edge_index([[0, 1], [1, 2]], [0, 2, 4])
    with pytest.raises(ValueError, match="not below the number of nodes, 4"):
        Graphs.from_edge_index([[0, 1], [1, 9]], [0, 2, 4])
    with pytest.raises(ValueError, match="ptr must be"):
        Graphs.from_edge_index([[0], [1]], [1, 4])
    with pytest.raises(ValueError, match="Graphs.from_edges takes rows"):
        Graphs.from_edge_index([(0, 1), (1, 2), (2, 3)], [0, 4])


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ([[True, False], [1, 2]], TypeError, r"graphs\[0\]: node_labels must be integers, got bool"),
        ([3, 4, 3, 4], ValueError, r"node_labels must have one entry for each of 2 graphs, got 4"),
        ([3, 4], ValueError, r"graphs\[0\]: node_labels must have shape \(2,\), got \(\)"),
        ([[1, 2], [[1], [2]]], TypeError, r"graphs\[1\]: node_labels must be one integer a node; several are"),
        ([[1, 2], {0: 1, 1: 2}], TypeError, r"graphs\[1\]: node_labels must be an array or a list"),
        ([[1, 2], [1, 2**32 + 1]], ValueError, r"graphs\[1\]: node_labels must fit int32, .* = 4294967297"),
    ],
)
def test_bad_labels_are_named_by_their_graph(labels, error, message):
    with pytest.raises(error, match=message):
        Graphs.from_edges([[(0, 1)], [(0, 1)]], [2, 2], node_labels=labels)


@pytest.mark.parametrize("kind", [np.uint64, np.int8])
def test_labels_of_any_integers_and_from_a_generator(kind):
    for labels in ([np.array([1, 2], kind), [3, 4]], (row for row in ([1, 2], [3, 4]))):
        graphs = Graphs.from_edges([[(0, 1)], [(0, 1)]], node_labels=labels, edge_labels=[np.array([5], kind), [6]])
        assert graphs.union().node_labels[:4].tolist() == [1, 2, 3, 4]
        assert graphs.union().edge_labels[:4].tolist() == [5, 5, 6, 6]


def test_ids_whose_sum_passes_64_bits():
    with pytest.raises(ValueError, match="9223372036854775810 nodes are over the limit"):
        Graphs.from_edges([[(0, 2**62)], [(0, 2**62)]])


def test_edges_of_any_integers():
    edges = [np.array([[0, 1], [1, 2]], kind) for kind in (np.uint64, np.int8, np.int64)]
    assert [graph.edge_list().tolist() for graph in Graphs.from_edges(edges)] == [[[0, 1], [1, 2]]] * 3


def test_a_union_is_counted_as_its_graphs_are():
    """The arrays of a union are NumPy's, and every door takes it."""
    graphs = as_graphs([Graph.from_edges([(0, 1), (1, 2), (2, 0)]), Graph.from_edges([(0, 1), (1, 2), (2, 3)])])
    union = graphs.union()
    for size in (4, 5):
        alone = np.concatenate([node_orbits(graph, size=size).values for graph in graphs])
        np.testing.assert_array_equal(node_orbits(union, size=size).values, alone)
    assert graphlet_counts(union).counts["triangle"] == 1
    assert count_matches("triangle", union, per="occurrence").count == 1
    assert subgraph_census(union, 3).counts.sum() == 3
