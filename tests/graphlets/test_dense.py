"""The dense path against brute force, closed forms, stored counts and the laws of counting."""

import re
from math import comb

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.arrays._compile import Target, compiling_for, jit64
from jaxmotif.graphlets._dense import (
    MAX_DENSE_NODES,
    dense_edge_columns,
    dense_graphlet_counts,
    dense_node_orbits,
)
from jaxmotif.patterns import EDGE_COLUMN_NAMES, GRAPHLET_NAMES, GRAPHLETS
from tests.more import more
from tests.oracles import (
    MIRROR,
    brute_force,
    complement,
    orbit_counts,
    random_edges,
    relabel,
    stored_edges,
    stored_graphlets,
    stored_orbits,
)

SMALL = (12, 132)  # node and slot capacity of the graphs below
GRAPHS = {
    "no nodes": (0, []),
    "one node": (1, []),
    "two nodes": (2, []),
    "one edge": (2, [(0, 1)]),
    "no edges": (7, []),
    "star": (8, [(0, x) for x in range(1, 8)]),
    "clique": (12, random_edges(12, 1.0, 0)),
    "disconnected": (10, [(0, 1), (0, 2), (1, 2), (3, 4), (4, 5), (5, 6), (3, 6)]),
    **{f"density {p} of {n}": (n, random_edges(n, p, 4)) for n in (6, 11) for p in (0.1, 0.3, 0.5, 0.7, 0.9)},
}
FUNCTIONS = (dense_graphlet_counts, dense_edge_columns, dense_node_orbits)


def _graph(n, edges, pad=SMALL):
    return Graph.from_edges(np.array(edges, np.int64).reshape(-1, 2), n, pad=pad)


def _stack(graphs):
    return jax.tree.map(lambda *fields: np.stack([np.asarray(f) for f in fields]), *graphs)


# Two graphs so large that to run takes longer than to compile.
OPTIMISED = {"xla_backend_optimization_level": 2, "xla_llvm_disable_expensive_passes": False}


def _counts(n, edges, pad=SMALL, options=None):
    counts = jax.jit(dense_graphlet_counts, compiler_options=options)(_graph(n, edges, pad)).to_numpy()
    return dict(zip(GRAPHLET_NAMES, counts.tolist(), strict=True))


def _everything(graph):
    return [f(graph) for f in FUNCTIONS]


@pytest.fixture(scope="module")
def batch():
    return _stack([_graph(*g) for g in GRAPHS.values()])


@pytest.fixture(scope="module", params=[False, *more(True)], ids=["x64 off", "x64 on"])
def x64(request):
    return request.param


@pytest.fixture(scope="module")
def results(x64, batch):
    """All results of the batch in one vmapped and jitted call."""
    with jax.enable_x64(x64):
        # Where vmap takes a jitted function, JAX makes the program of the batch outside its 64-bit mode.
        return jax.vmap(jax.jit(_everything))(batch)


def test_equals_brute_force(results):
    at_graphs, at_edges, at_nodes = (found.to_numpy() for found in results)
    for i, (n, edges) in enumerate(GRAPHS.values()):
        counts, columns, orbits = brute_force(n, edges)
        assert at_graphs[i].tolist() == list(counts.values())
        np.testing.assert_array_equal(at_nodes[i, :n], orbits)
        assert not at_nodes[i, n:].any()
        rows = [edges.index((u, v)) for u, v in _graph(n, edges).edge_list().tolist()]
        expected = np.stack([columns[name] for name in EDGE_COLUMN_NAMES], axis=-1)[rows]
        np.testing.assert_array_equal(at_edges[i, : len(rows)], expected)
        assert not at_edges[i, len(rows) :].any()


def test_one_by_one_is_the_batch_with_one_compilation(x64, results):
    chex.clear_trace_counter()
    with jax.enable_x64(x64):
        each = jax.jit(chex.assert_max_traces(_everything, n=1))
        for i, g in enumerate(GRAPHS.values()):
            chex.assert_trees_all_equal(each(_graph(*g)), jax.tree.map(lambda x, i=i: x[i], results))


@pytest.mark.parametrize("x64", [False], indirect=True)
def test_over_four_devices(batch, results):
    if jax.device_count() < 4:
        pytest.skip("needs four devices")
    mesh = jax.make_mesh((4,), ("graphs",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:4])
    spread = jax.NamedSharding(mesh, jax.P("graphs"))
    even = jax.tree.map(lambda x: jax.device_put(np.concatenate([x, x[:2]]), spread), batch)
    found = jax.jit(jax.vmap(_everything))(even)
    assert len(GRAPHS) + 2 == found[1].shape[0]
    assert len(found[1].int64.sharding.device_set) == 4
    chex.assert_trees_all_equal(jax.tree.map(lambda x: x[: len(GRAPHS)], found), results)


@pytest.mark.parametrize("x64", [False], indirect=True)
def test_as_features_inside_a_users_function(batch, results):
    @jax.jit
    def loss(weights, batch):
        features = jnp.log1p(jax.vmap(dense_graphlet_counts)(batch).astype("float32"))
        return (features @ weights).sum()

    gradient = jax.grad(loss)(jnp.zeros(17, jnp.float32), batch)
    np.testing.assert_allclose(gradient, np.log1p(results[0].to_numpy()).sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("density", [0.1, 0.5, 0.9])
def test_laws_beyond_one_word(density):
    """On 2 x 35 nodes: renaming changes nothing, union adds connected counts, the complement mirrors all."""
    n, pad = 35, (70, 70 * 69)
    first, second = random_edges(n, density, 5), random_edges(n, 1 - density, 6)
    one, two = _counts(n, first, pad), _counts(n, second, pad)
    order = np.random.default_rng(0).permutation(n)
    assert _counts(n, relabel(first, order), pad) == one

    union = _counts(2 * n, first + [(u + n, v + n) for u, v in second], pad)
    for g in GRAPHLETS:
        if g.connected:
            assert union[g.name] == one[g.name] + two[g.name]
    for k in (2, 3, 4):
        assert sum(union[g.name] for g in GRAPHLETS if g.num_nodes == k) == comb(2 * n, k)

    mirrored = _counts(n, complement(n, first), pad)
    for a, b in MIRROR.items():
        assert (mirrored[a], mirrored[b]) == (one[b], one[a])


@pytest.mark.parametrize("density", [0.2, *more(0.8)])
def test_edges_and_nodes_beyond_one_word_are_orca(density):
    edges = random_edges(70, density, 7)
    nodes, per_edge = orbit_counts(70, edges)
    graph = _graph(70, edges, (70, 70 * 69))
    np.testing.assert_array_equal(jax.jit(dense_node_orbits)(graph), nodes)
    columns = np.asarray(jax.jit(dense_edge_columns)(graph))[: graph.m]
    np.testing.assert_array_equal(columns[:, :12], per_edge)
    totals = dict(zip(EDGE_COLUMN_NAMES, columns.sum(axis=0).tolist(), strict=True))
    for g in GRAPHLETS[2:]:
        if g.edges:
            here = sum(total for name, total in totals.items() if name == g.name or name.startswith(f"{g.name}-"))
            assert here == len(g.edges) * _counts(70, edges, (70, 70 * 69))[g.name]


@pytest.mark.parametrize("size", [4, *more(5)])
def test_a_tpus_products_of_whole_numbers(size):
    """The same columns at edges, from which all else is; factors are of 8 bits."""
    graph = _graph(11, random_edges(11, 0.6, 7))
    with compiling_for(Target("tpu")):
        found = dense_edge_columns(graph, size).to_numpy()
        text = jit64(dense_edge_columns, static_argnames="size").lower64(graph, size=size).as_text()
    np.testing.assert_array_equal(found, dense_edge_columns(graph, size).to_numpy())
    assert found.max() > 10
    assert "xi8>) -> tensor<32x32xi32>" in text
    assert not re.search(r"dot_general.*-> tensor<[\dx]*x32xf32>", text)


def test_largest_clique():
    n = MAX_DENSE_NODES
    counts = _counts(n, np.stack(np.triu_indices(n, 1), axis=-1), None, OPTIMISED)
    assert {k: v for k, v in counts.items() if v} == {
        "edge": comb(n, 2), "triangle": comb(n, 3), "4-clique": comb(n, 4)
    }  # fmt: skip


def test_largest_double_star():
    """Two hubs, joined, of 255 leaves each."""
    half = MAX_DENSE_NODES // 2
    edges = [(0, half), *((0, x) for x in range(1, half)), *((half, half + x) for x in range(1, half))]
    graph = _graph(2 * half, edges, None)
    leaves = half - 1
    counts = _counts(2 * half, edges, None, OPTIMISED)
    assert counts["4-path"] == leaves**2
    assert counts["3-star"] == 2 * comb(half, 3)
    assert counts["2-star"] == 2 * comb(half, 2)
    assert sum(counts[name] for name in GRAPHLET_NAMES[6:]) == comb(2 * half, 4)
    hub = [half, leaves, comb(half, 2), 0, 0, leaves**2, comb(leaves, 2), comb(half, 3), *[0] * 7]
    leaf = [1, leaves, 0, 0, leaves, 0, comb(leaves, 2), 0, *[0] * 7]
    orbits = np.asarray(jax.jit(dense_node_orbits)(graph))
    assert orbits[[0, 1, half, half + 1]].tolist() == [hub, leaf, hub, leaf]


@pytest.mark.parametrize("name", ["karate", *more("celegans_metabolic")])
def test_stored_networks(name, shared_data):
    answer, edges = stored_graphlets(shared_data)[name], stored_edges(shared_data, name)
    graph = _graph(answer["n"], edges, None)
    assert _counts(answer["n"], edges, None) == answer["counts"]
    np.testing.assert_array_equal(jax.jit(dense_node_orbits)(graph), stored_orbits(shared_data, name, "node"))
    rows = {(u, v): i for i, (u, v) in enumerate(edges)}
    order = [rows[u, v] for u, v in graph.edge_list().tolist()]
    columns = np.asarray(jax.jit(dense_edge_columns)(graph))[: graph.m]
    np.testing.assert_array_equal(columns[:, :12], stored_orbits(shared_data, name, "edge")[order])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_refusals(function, batch):
    with pytest.raises(ValueError, match="undirected graphs, got a directed one; build it with directed=False"):
        function(Graph.from_edges([(0, 1)], directed=True))
    with pytest.raises(ValueError, match=r"a batch of graphs \(offsets .*\); map over it with jax.vmap"):
        function(batch)
    too_large = _graph(3, [(0, 1)], (MAX_DENSE_NODES + 1, 2))
    with pytest.raises(ValueError, match=r"up to 512 nodes, got room for 513; use jaxmotif.graphlet_counts"):
        jax.jit(function)(too_large)
