"""Counting by products of matrices: brute force, the sparse passes, devices, checkpoints, and when it is chosen."""

import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif.arrays._compile import Target, compiling_for
from jaxmotif.graph._order import degree_order
from jaxmotif.graph.synthetic import erdos_renyi
from jaxmotif.graphlets import _products as products
from jaxmotif.graphlets import dense_edge_columns, dense_graphlet_counts
from jaxmotif.patterns import EDGE_COLUMN_NAMES, GRAPHLET_NAMES
from tests.compilations import compilations
from tests.more import more
from tests.oracles import brute_force
from tests.samples import GRAPHS, build

DOORS = {"graph": jaxmotif.graphlet_counts, "edge": jaxmotif.edge_graphlets, "node": jaxmotif.node_orbits}


@pytest.fixture
def always(monkeypatch):
    """Products whatever they cost."""
    monkeypatch.setattr(products, "_RATES", {"cpu": products.Rates(2**40, 2**40, 0, 2**16)})


def bits(detail, graph, **options):
    found = DOORS[detail](graph, **options)
    return found.counts, None if detail == "graph" else found.to_numpy().tolist()


@pytest.mark.parametrize("x64", [False, *more(True)])
def test_equals_brute_force(always, x64):
    for n, edges in GRAPHS.values():
        counts, columns, orbits = brute_force(n, edges)
        expected = {"graph": None, "edge": np.stack([columns[name] for name in EDGE_COLUMN_NAMES], 1), "node": orbits}
        with jax.enable_x64(x64), compilations() as compiled:
            for detail, values in expected.items():
                found = bits(detail, build(n, edges))
                assert found == (counts, None if values is None else values.tolist())
        assert not any("first_pass" in name or "_statistics" in name for name in compiled)


@pytest.mark.parametrize("detail", ["edge", *more("graph")])
def test_blocks_of_rows_and_matrices_of_several_widths(monkeypatch, detail):
    graph = erdos_renyi(100, p=0.6, seed=1)
    columns = dense_edge_columns(graph).to_numpy()[: graph.m].tolist() if detail == "edge" else None
    counts = dict(zip(GRAPHLET_NAMES, dense_graphlet_counts(graph).to_numpy().tolist(), strict=True))
    monkeypatch.setattr(products, "_LEAST_WIDTH", 32)
    monkeypatch.setattr(products, "_RATES", {"cpu": products.Rates(2**40, 2**40, 0, 2**14)})
    sizes = products.choose(graph.with_padding((256, 8192)), detail, jax.devices()[0], None)
    assert sizes is not None
    assert sizes == (128, 128, 2**14)
    lengths = np.diff(degree_order(graph).out_offsets).astype(np.int64)
    found = products.batches(lengths, 0, sizes.cells)
    assert len(found) >= 2
    assert any(len(b.ids) > 1 for b in found)
    assert bits(detail, graph) == (counts, columns)


@pytest.mark.parametrize("largest", [2, 3, 64, 65, 513, 1025, 2405])
def test_every_node_is_in_one_batch_that_holds_its_neighbours(largest):
    lengths = np.arange(largest + 1)
    found = products.batches(lengths, 7, 2**20)
    ids = np.concatenate([np.zeros(0, np.int32), *(b.ids[b.ids >= 0] for b in found)])
    assert sorted(ids.tolist()) == list(range(10, largest + 8))  # a 4-clique takes three neighbours
    for b in found:
        assert lengths[b.ids[b.ids >= 0] - 7].max() <= b.size


@pytest.mark.parametrize("detail", ["graph", "edge"])
def test_several_devices_units_and_what_a_checkpoint_holds(always, monkeypatch, tmp_path, detail):
    if jax.device_count() < 2:
        pytest.skip("needs two devices")
    graph = build(*GRAPHS["clique"])
    expected = bits(detail, graph)
    assert bits(detail, graph, devices=2) == expected
    assert bits(detail, graph, checkpoint=tmp_path) == expected
    # All is kept: nothing is left to do.
    monkeypatch.setattr(products.Cliques, "step", None)
    assert bits(detail, graph, checkpoint=tmp_path) == expected


def test_memory_that_runs_out(always, monkeypatch):
    """Once, and at every step."""
    graph = build(*GRAPHS["density 0.7 of 20"])
    expected, step, failed = bits("graph", graph), products.Cliques.step, []

    def failing(self, span):
        if not failed or failed[0] is None:
            failed.append(span)
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")
        step(self, span)

    monkeypatch.setattr(products.Cliques, "step", failing)
    found = jaxmotif.graphlet_counts(graph)
    assert found.counts == expected[0]
    assert "cells of matrices" in found.notes[0]
    failed[0] = None
    with pytest.raises(MemoryError, match="too little memory even for the smallest steps"):
        jaxmotif.graphlet_counts(graph)


def test_chosen_by_density(monkeypatch):
    device = jax.devices()[0]
    dense, sparse = erdos_renyi(500, p=0.5, seed=0), erdos_renyi(2000, p=0.01, seed=0)
    star = jaxmotif.Graph.from_edges([(0, i) for i in range(1, 5000)])
    assert products.choose(dense, "graph", device, None) is not None
    assert products.choose(dense, "edge", device, None) is not None
    # One hub has many pairs of edges, but those who share it have no others.
    assert [products.choose(x, "graph", device, None) for x in (sparse, star)] == [None, None]
    assert products.choose(dense, "graph", device, 2**23) is None  # its matrices take more
    monkeypatch.setattr(products, "MOST_NODES", 500)
    assert products.choose(dense, "graph", device, None) is None  # with the padding there are more


@pytest.mark.parametrize("detail", ["graph", "edge"])
def test_whatever_memory_is_given_has_room_for_the_matrices(always, detail):
    """Of a graph of few nodes of high degree; with a byte less than the least nothing is multiplied."""
    clique = np.argwhere(np.triu(np.ones((300, 300), bool), 1))
    graph = jaxmotif.Graph.from_edges([*clique, *((i, 300 + i) for i in range(300))], 700)
    lengths = np.diff(degree_order(graph).out_offsets).astype(np.int64)

    def choose(memory):
        return products.choose(graph, detail, jax.devices()[0], memory)

    low, high = 1, 2**40
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if choose(middle) else (middle, high)
    assert choose(high - 1) is None
    for memory in (high, 2 * high, 2**40):
        sizes = choose(memory)
        assert sizes.size % sizes.rows == 0
        for batch in products.batches(lengths, 0, sizes.cells):
            assert batch.ids.shape[1] * batch.size**2 <= sizes.cells
        assert sizes.size**2 * 4 + 24 * sizes.cells <= memory


@pytest.mark.parametrize("count", [products.count_cliques, products.edge_cliques])
def test_a_gpu_multiplies_halves(abstract_gpu, count):
    graph = build(*GRAPHS["clique"])
    order = degree_order(graph)
    with compiling_for(Target("cuda", "triton")), jax.enable_x64(True), abstract_gpu():
        X = jax.ShapeDtypeStruct((32, 32), np.dtype("bfloat16"))
        start = jax.ShapeDtypeStruct((), np.int64) if count is products.count_cliques else np.zeros(32 * 32, np.int32)
        text = count.lower64(start, order, X, np.zeros(2, np.int32), width=16).as_text()
    assert "tensor<2x16x16xbf16>) -> tensor<2x16x16xf32>" in text or "xbf16>) -> tensor<2x4x16xf32>" in text
