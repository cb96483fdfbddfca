"""Graphlets of unions of small graphs, from neighbour lists inside jit, against ORCA and the front doors."""

from functools import cache, partial
from math import comb

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import orbit_count
import pytest
from jax.sharding import PartitionSpec as P

import jaxmotif
from jaxmotif import Graph
from jaxmotif.arrays import Int64
from jaxmotif.features import dense_pattern_features, pattern_features
from jaxmotif.graph import stack_graphs
from jaxmotif.graphlets import dense_edge_columns, dense_graphlet_counts, dense_node_orbits
from jaxmotif.graphlets._low_degree import counts_of_orbits
from jaxmotif.patterns._totals import all_counts
from tests.compilations import compilations
from tests.more import more

NODES, SLOTS = 80, 512
# To run for lists of 32 neighbours takes longer than to compile.
OPTIMISED = {"xla_backend_optimization_level": 2, "xla_llvm_disable_expensive_passes": False}
FUNCTIONS = (dense_node_orbits, dense_edge_columns, dense_graphlet_counts)


def molecule(rng: np.random.Generator, n: int, most: int) -> nx.Graph:
    """A random tree of bounded degree whose near nodes are joined to rings, or to dense parts."""
    graph = nx.empty_graph(n)

    def join(u: int, v: int) -> None:
        if u != v and max(graph.degree[u], graph.degree[v]) < most:
            graph.add_edge(u, v)

    for v in range(1, n):
        join(int(rng.integers(max(0, v - 4), v)), v)
    for _ in range(int(rng.integers(0, n * most // 3 + 1))):
        u = int(rng.integers(n))
        join(u, min(n - 1, u + int(rng.integers(2, 7))))
    return graph


def union(seed: int, most: int) -> nx.Graph:
    """Molecules, a ring, a clique and a star of the largest degree, a bipartite clique, a tree, a node alone."""
    rng = np.random.default_rng(seed)
    half = max(most // 2, 1)
    parts = [
        nx.complete_graph(most + 1), nx.star_graph(most), nx.complete_bipartite_graph(half, most),
        nx.cycle_graph(int(rng.integers(3, 8))) if most > 1 else nx.path_graph(2), nx.empty_graph(1),
    ]  # fmt: skip
    if most > 2:
        parts.append(nx.balanced_tree(2, 2))
    while (room := NODES - 3 - sum(map(len, parts))) > 1:
        parts.append(molecule(rng, min(room, int(rng.integers(2, 20))), most))
    whole = nx.disjoint_union_all(parts)
    return nx.relabel_nodes(whole, dict(zip(whole, rng.permutation(len(whole)).tolist(), strict=True)))


def built(graph: nx.Graph) -> Graph:
    return Graph.from_edges(np.array(sorted(graph.edges)).reshape(-1, 2), len(graph), pad=(NODES, SLOTS))


def by_orca(graph: nx.Graph, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    nodes = orbit_count.node_orbit_counts(graph, graphlet_size=5, node_list=sorted(graph.nodes))
    return np.asarray(nodes), np.asarray(
        orbit_count.edge_orbit_counts(graph, graphlet_size=5, edge_list=list(map(tuple, edges.tolist())))
    )


@cache
def counting(most: int):
    """The jitted function that counts all there is; one for each degree, so that tests share its program."""
    return jax.jit(lambda graph: [f(graph, size=size, max_degree=most) for size in (4, 5) for f in FUNCTIONS])


def check(found: list, graph: nx.Graph, made: Graph) -> None:
    nodes, edges = by_orca(graph, made.edge_list())
    four, four_edges, four_counts, five, five_edges, five_counts = (x.to_numpy() for x in found)
    for values, expected in (
        (four, nodes[:, :15]), (five, nodes), (four_edges[:, :12], edges[:, :12]), (five_edges, edges)
    ):  # fmt: skip
        np.testing.assert_array_equal(values[: len(expected)], expected)
        assert not values[len(expected) :].any()
    whole = all_counts(np, np.array(len(graph), object), nodes.sum(axis=0).astype(object)).tolist()
    assert five_counts.tolist() == whole
    assert four_counts.tolist() == whole[:17]
    apart = jaxmotif.edge_graphlets(made).values[:, 12:]  # disconnected graphlets, which ORCA does not have
    np.testing.assert_array_equal(four_edges[: made.m, 12:], apart)
    assert not four_edges[made.m :].any()


@pytest.mark.parametrize(("most", "seed"), [(4, 0), (4, 1), *more((1, 0), (2, 0), (3, 0), (4, 2), (6, 0), (8, 0))])
def test_orbits_are_orcas(most, seed):
    graph = union(seed, most)
    assert max(d for _, d in graph.degree) == most
    made = built(graph)
    check(counting(most)(made), graph, made)


def test_batches_of_one_size_share_a_program():
    graphs = [built(union(seed, 4)) for seed in range(3, 6)]
    count = counting(4)
    count(graphs[0])
    with compilations() as found:
        for graph in graphs[1:]:
            count(graph)
    assert found == []


@pytest.mark.parametrize("way", ["vmap", "pmap", "shard_map"])
def test_batches_and_devices_change_nothing(way):
    graphs = [union(seed, 4) for seed in range(4)]
    made = [built(graph) for graph in graphs]
    count = partial(dense_node_orbits, size=5, max_degree=4)
    mesh = jax.make_mesh((4,), ("graphs",), axis_types=(jax.sharding.AxisType.Auto,))
    ways = {
        "vmap": lambda: jax.jit(jax.vmap(count)),
        "pmap": lambda: jax.pmap(count),
        "shard_map": lambda: jax.jit(
            jax.shard_map(jax.vmap(count), mesh=mesh, in_specs=P("graphs"), out_specs=P("graphs"))
        ),
    }
    found = ways[way]()(stack_graphs(made)).to_numpy()
    for i, graph in enumerate(made):
        np.testing.assert_array_equal(found[i, :NODES], counting(4)(graph)[3].to_numpy())


@pytest.mark.parametrize("size", [4, 5])
def test_more_neighbours_are_flagged(size):
    """Beside a node of one neighbour too many nothing is known, up to `size - 1` steps away; all else is right."""
    most = 4
    graph = nx.disjoint_union(nx.star_graph(most + 1), union(7, most).subgraph(range(40)))
    graph.remove_nodes_from([x for x in graph if x >= 46])
    nx.add_path(graph, [1, 46, 47, 48, 49, 50, 51])  # a tail, of which only the near end is unsure
    made = built(graph)
    steps = nx.single_source_shortest_path_length(graph, 0)
    orbits, _, counts = counting(most)(made)[:3] if size == 4 else counting(most)(made)[3:]
    columns = counting(most)(made)[1 if size == 4 else 4].to_numpy()[: made.m]
    nodes, edges = by_orca(graph, made.edge_list())
    values = orbits.to_numpy()
    unsure = np.array([steps.get(node, size) < size for node in range(len(graph))])
    assert 6 < unsure.sum() < 12
    assert (values[: len(graph)][unsure] < 0).all()
    np.testing.assert_array_equal(values[: len(graph)][~unsure], nodes[~unsure, : values.shape[1]])
    beside = unsure[made.edge_list()].any(axis=1)
    assert (columns[beside] < 0).all()
    number = min(columns.shape[1], 68 if size == 5 else 12)
    np.testing.assert_array_equal(columns[~beside, :number], edges[~beside, :number])
    # A sum that takes in one of them is negative, and so are features and the counts of the graph.
    assert (orbits.sum(axis=0).to_numpy() < 0).all()
    assert (counts.to_numpy() == -1).all()
    for per in ("graph", "node"):
        found = dense_pattern_features(made, ["triangle"], per=per, induced=False, max_degree=most).to_numpy()
        assert (found.sum() if per == "node" else found[0]) < 0


def test_the_flag_outweighs_the_largest_counts():
    """One clique of too many nodes among as many full stars as there is room for: sums of nodes stay negative."""
    most = 8
    graph = nx.disjoint_union_all([nx.complete_graph(most + 2), *[nx.star_graph(most)] * 7])
    orbits = jax.jit(partial(dense_node_orbits, size=5, max_degree=most))(built(graph))
    assert (orbits.sum(axis=0).to_numpy() < 0).all()


def test_in_jaxs_64_bit_mode():
    made = built(union(0, 4))
    with jax.enable_x64(True):
        found = jax.jit(partial(dense_node_orbits, size=5, max_degree=4))(made).to_numpy()
    np.testing.assert_array_equal(found, counting(4)(made)[3].to_numpy())


def test_no_neighbours_and_full_lists():
    """Graphs without edges and without nodes, and a clique and a star of 32 neighbours."""
    alone, nothing = (Graph.from_edges(np.empty((0, 2), int), n, pad=None) for n in (5, 0))
    count = partial(dense_node_orbits, size=5, max_degree=4)
    assert count(alone).tolist() == [[0] * 73] * alone.node_capacity
    assert jax.eval_shape(count, nothing).shape == (nothing.node_capacity, 73)
    graph = Graph.from_edges(np.array(nx.disjoint_union(nx.complete_graph(33), nx.star_graph(32)).edges), 66, pad=None)
    found = jax.jit(partial(dense_node_orbits, size=5, max_degree=32), compiler_options=OPTIMISED)(graph).to_numpy()
    assert set(found[:33, 72].tolist()) == {comb(32, 4)}
    assert found[33, 23] == comb(32, 4)
    assert not np.delete(found[:33], [0, 3, 14, 72], axis=1).any()


def test_counts_beyond_64_bits_are_flagged():
    """Of graphs without edges, just below the largest number of nodes and above it."""
    for orbits, size, most in ((15, 4, 36_854), (73, 5, 6_208)):
        zeros = Int64.of(np.zeros((2, orbits), np.int64))
        found = counts_of_orbits(jnp.array([most, most + 1]), zeros).to_numpy()
        assert found[0].max() == found[0, -1] == comb(most, size)
        assert (found[1] == -1).all()


@pytest.mark.parametrize(("per", "induced"), [("graph", True), ("node", False), *more(("edge", True))])
def test_features_of_a_union(per, induced):
    made, patterns = built(union(1, 4)), ["triangle", "4-cycle", "house"]
    found = dense_pattern_features(made, patterns, per=per, induced=induced, max_degree=4).to_numpy()
    expected = np.asarray(pattern_features(made, patterns, per=per, induced=induced).values)
    rows = found if per == "graph" else found[: len(expected)]
    np.testing.assert_array_equal(rows.reshape(expected.shape), expected)


def test_refusals():
    path = Graph.from_edges([(0, 1), (1, 2)])
    for function in FUNCTIONS:
        for degree in (0, 33):
            with pytest.raises(ValueError, match=f"max_degree must be from 1 to 32, got {degree}"):
                function(path, max_degree=degree)
        with pytest.raises(TypeError, match=r"max_degree must be an integer, got 2\.0"):
            function(path, max_degree=2.0)
        with pytest.raises(ValueError, match="undirected graphs, got a directed one"):
            function(Graph.from_edges([(0, 1)], directed=True), max_degree=4)
    large = Graph.from_edges([(0, 1)], pad=(8193, 4))
    with pytest.raises(ValueError, match="max_degree=32 takes graphs of up to 8192 nodes, got room for 8193"):
        dense_node_orbits(large, max_degree=32)
    with pytest.raises(ValueError, match="up to 128 nodes, got room for 8193; use .*max_degree=D"):
        dense_node_orbits(large, size=5)
