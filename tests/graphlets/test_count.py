"""The front doors: every count, at every edge and node, against brute force, real networks and the laws of counting."""

from math import comb

import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.arrays._int64 import Int64
from jaxmotif.patterns import EDGE_COLUMN_NAMES, GRAPHLET_NAMES, NODE_ORBIT_NAMES
from tests.more import more
from tests.oracles import (
    brute_force,
    igraph_connected_counts,
    random_edges,
    stored_edges,
    stored_graphlets,
    stored_orbits,
)
from tests.samples import GRAPHS, build

CASES = {
    "no nodes": (0, []),
    "one node": (1, []),
    "two nodes": (2, []),
    "no edges": (7, []),
    **GRAPHS,
    **{f"density {p} of 22": (22, random_edges(22, p, 5)) for p in (0.2, 0.4, 0.6, 0.8, 1.0)},
}
FRONT_DOORS = (jaxmotif.graphlet_counts, jaxmotif.edge_graphlets, jaxmotif.node_orbits)


def _assert_is(graph, counts, columns, orbits, **options):
    """All three front doors; ``columns`` in the order of ``graph.edge_list()``."""
    found = jaxmotif.graphlet_counts(graph, **options)
    assert (found.nodes, found.edges) == (graph.n, graph.m)
    assert tuple(found.counts) == GRAPHLET_NAMES
    assert all(type(count) is int for count in found.counts.values())
    assert found.counts == counts

    by_edge = jaxmotif.edge_graphlets(graph, **options)
    assert by_edge.columns == EDGE_COLUMN_NAMES
    assert by_edge.counts == counts
    assert by_edge.values.dtype == by_edge.to_numpy().dtype == by_edge.dtype == np.int64
    np.testing.assert_array_equal(by_edge.edges, graph.edge_list())
    np.testing.assert_array_equal(by_edge.values, columns)

    by_node = jaxmotif.node_orbits(graph, **options)
    assert by_node.columns == NODE_ORBIT_NAMES
    assert by_node.counts == counts
    assert by_node.values.dtype == by_node.to_numpy().dtype == by_node.dtype == np.int64
    np.testing.assert_array_equal(by_node.values, orbits)


@pytest.mark.parametrize("x64", [False, *more(True)])
def test_equals_brute_force(x64):
    for n, edges in CASES.values():
        counts, columns, orbits = brute_force(n, edges)
        values = np.stack([columns[name] for name in EDGE_COLUMN_NAMES], axis=-1)  # edges ascend, as edge_list() does
        with jax.enable_x64(x64):
            _assert_is(build(n, edges), counts, values, orbits)


def test_no_padding():
    n, edges = GRAPHS["density 0.5 of 20"]
    assert jaxmotif.graphlet_counts(build(n, edges, None)) == jaxmotif.graphlet_counts(build(n, edges))


@pytest.mark.parametrize("density", [0.1, 0.5, 0.9])
def test_connected_counts_are_those_of_igraph(density):
    edges = random_edges(22, density, 6)
    expected = igraph_connected_counts(22, edges)
    counts = jaxmotif.graphlet_counts(build(22, edges)).counts
    assert {name: counts[name] for name in expected} == expected


@pytest.mark.parametrize("n", [200_000, *more(100_000, 3_000_000)])
def test_counts_beyond_64_bits(n):
    """A matching of ten edges among many isolated nodes: a closed form for every count."""
    edges = [(n - 1 - x, 7 * x) for x in range(10)]
    counts = jaxmotif.graphlet_counts(build(n, edges, (max(n, 200_000), 512))).counts
    one_edge = 10 * comb(n - 2, 2) - 2 * comb(10, 2)
    expected = {
        "edge": 10,
        "2-node-indep": comb(n, 2) - 10,
        "3-node-1-edge": 10 * (n - 2),
        "3-node-indep": comb(n, 3) - 10 * (n - 2),
        "4-node-2-edge": comb(10, 2),
        "4-node-1-edge": one_edge,
        "4-node-indep": comb(n, 4) - one_edge - comb(10, 2),
    }
    assert {name: count for name, count in counts.items() if count} == expected
    assert (expected["4-node-indep"] > 2**64) == (n > 100_000)
    assert len(str(comb(100_000, 4))) == 19


def test_tables_stay_on_the_device_until_asked_for():
    graph = build(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)])
    found = jaxmotif.edge_graphlets(graph)
    assert repr(found) == "EdgeGraphlets(5 edges x 17 columns)"
    assert found.shape == found.on_device().shape == (5, 17)
    assert not {"values", "edges"} & vars(found).keys()
    assert found.values.shape == np.asarray(found).shape == (5, 17)
    np.testing.assert_array_equal(np.from_dlpack(found), found.to_numpy())
    assert tuple(map(int, found.__dlpack_device__())) == (1, 0)  # DLPack's number of a CPU
    # A column passes 32 bits: the types are the same.
    far = jaxmotif.edge_graphlets(Graph.from_edges([(0, 1), (1, 2)], 100_000))
    assert far.to_numpy()[:, far.columns.index("4-node-1-edge")].tolist() == [comb(99_997, 2)] * 2
    for one in (found, far):
        assert type(one.values) is np.ndarray
        assert one.dtype == one.to_numpy().dtype == one.on_device().dtype == np.from_dlpack(one).dtype == np.int64
        assert type(one.on_device()) is Int64
        np.testing.assert_array_equal(np.asarray(one.on_device()), one.values)


@pytest.mark.slow
def test_node_orbits_of_a_star_whose_sums_pass_64_bits():
    n = 3_000_000
    star = Graph.from_edges(np.stack([np.zeros(n, np.int64), np.arange(1, n + 1)], axis=-1))
    values = jaxmotif.node_orbits(star).to_numpy()
    assert values[0].tolist() == [n, 0, comb(n, 2), 0, 0, 0, 0, comb(n, 3), *[0] * 7]
    assert (values[1:] == [1, n - 1, 0, 0, 0, 0, comb(n - 1, 2), *[0] * 8]).all()


def test_node_orbits_beyond_64_bits_are_refused():
    leaves = np.arange(1, 3_810_781)
    star = Graph.from_edges(np.stack([np.zeros_like(leaves), leaves], axis=-1))
    with pytest.raises(
        OverflowError, match=r"degree 3810780: .* \(limit 3810779\); graphlet_counts and edge_graphlets"
    ):
        jaxmotif.node_orbits(star)


class TestRealNetworks:
    """Networks of one padded size, so that they share their compilations."""

    CAPACITY = (2**15, 2**18)
    NAMES = ("karate", *more("power", "internet-as", "pgd-C250-9"), pytest.param("wiki-Vote", marks=pytest.mark.slow))

    def _load(self, data, name, pad=CAPACITY):
        return build(stored_graphlets(data)[name]["n"], stored_edges(data, name), pad)

    @pytest.mark.parametrize("name", NAMES)
    def test_counts(self, shared_data, name):
        assert (
            jaxmotif.graphlet_counts(self._load(shared_data, name)).counts
            == stored_graphlets(shared_data)[name]["counts"]
        )

    @pytest.mark.parametrize("name", ["celegans_metabolic", *more("internet-as")])
    def test_edges_and_nodes(self, shared_data, name):
        answer, graph = stored_graphlets(shared_data)[name], self._load(shared_data, name)
        by_edge, by_node = jaxmotif.edge_graphlets(graph), jaxmotif.node_orbits(graph)
        assert by_edge.counts == by_node.counts == answer["counts"]
        np.testing.assert_array_equal(by_node.values, stored_orbits(shared_data, name, "node"))
        edges = np.array(stored_edges(shared_data, name))
        in_file = np.lexsort(edges.T[::-1])
        np.testing.assert_array_equal(by_edge.edges, edges[in_file])
        np.testing.assert_array_equal(by_edge.to_numpy()[:, :12], stored_orbits(shared_data, name, "edge")[in_file])

    @pytest.mark.slow
    def test_every_stored_network(self, shared_data):
        for name, answer in stored_graphlets(shared_data).items():
            graph = self._load(shared_data, name, "bucket")
            assert jaxmotif.graphlet_counts(graph).counts == answer["counts"], name
            assert jaxmotif.edge_graphlets(graph).counts == answer["counts"], name


@pytest.mark.parametrize("function", FRONT_DOORS)
def test_refusals(function):
    with pytest.raises(ValueError, match="undirected graphs, got a directed one; build it with directed=False, or"):
        function(Graph.from_edges([(0, 1)], directed=True))
    with pytest.raises(TypeError, match="expected a graph: .* got builtins.int.* Graph.from_edges"):
        function(7)
    with pytest.raises(ValueError, match=r"memory=1000 bytes is too little for 40 nodes and 256 edges \(padded\)"):
        function(build(2, [(0, 1)]), memory=1000)
    with pytest.raises(ValueError, match="unknown device 'tpu'"):
        function(build(2, []), devices="tpu")
