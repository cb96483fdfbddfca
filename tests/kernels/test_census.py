"""Codes of extended subgraphs, at every phase of a table, in XLA and in Pallas."""

import jax
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.kernels import census
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.motifs.dyads import graph_slots, to_dyads


@pytest.fixture(autouse=True)
def wide():
    with wide_ints():
        yield


def _table(directed):
    """A table of connected pairs and all that belongs to it, for a hub with a path along its leaves."""
    edges = [(0, v) for v in range(1, 20)] + [(v + 1, v) for v in range(1, 12)]
    graph = Graph.from_edges(edges, directed=directed)
    dyads = to_dyads(graph, graph_slots(graph), 1 << 20)
    roots = census.roots(dyads)
    opened = census.open_phase(dyads, roots, np.int32(graph.n), np.int32(0))
    column, word = np.zeros(96, np.int32), np.zeros(96, np.uint32)
    empty = census.Rows(column, np.zeros((2, 96), np.int32), column, column, word, word)
    table, size, _ = jax.jit(census.fill, static_argnames="block")(
        dyads, roots, opened, np.int32(0), np.int64(0), empty, np.int32(0), block=32
    )
    assert int(size) == graph.m
    return dyads, table, size


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("wide_codes", [False, True])
def test_leaf_codes(form, directed, wide_codes, monkeypatch):
    monkeypatch.setattr(census, "LANES", form.lanes)
    dyads, table, size = _table(directed)
    block = 4 * form.lanes
    leaves = form.jit(census.leaf_codes, block=block, wide=wide_codes)
    extend = jax.jit(census.extensions, static_argnames="block")
    for phase in (0, 1):
        opened = census.open_phase(dyads, table, size, np.int32(phase))
        for first in range(0, int(opened.work.total), block):
            args = (dyads, table, opened, np.int32(phase), np.int64(first))
            valid, _, _, _, low, high = map(np.asarray, extend(*args, block=block))
            found = np.asarray(leaves(*args))
            words = found if wide_codes else found[None]
            for word, want in zip(words[::-1], (low, high), strict=False):
                np.testing.assert_array_equal(word, np.where(valid, want, census.NO_CODE))


def test_every_set_of_three_nodes_once():
    dyads, table, size = _table(False)
    found = []
    for phase in (0, 1):
        opened = census.open_phase(dyads, table, size, np.int32(phase))
        total = int(opened.work.total)
        valid, row, node, *_ = map(
            np.asarray, census.extensions(dyads, table, opened, np.int32(phase), np.int64(0), block=total)
        )
        nodes = np.asarray(table.nodes)[:, row[valid]].T
        found += [frozenset((*pair, v)) for pair, v in zip(nodes.tolist(), node[valid].tolist(), strict=True)]
    assert len(found) == len(set(found))
    degree = np.diff(np.asarray(dyads.offsets))
    triangles = 11
    assert len(found) == (degree * (degree - 1) // 2).sum() - 2 * triangles


def test_lowers_for_cuda():
    dyads, table, size = _table(True)
    opened = census.open_phase(dyads, table, size, np.int32(1))
    leaves = jax.jit(census.leaf_codes, static_argnames=("block", "wide", "backend"))
    traced = leaves.trace(
        dyads, table, opened, np.int32(1), np.int64(0), block=4096, wide=True, backend="pallas-triton"
    )
    assert "census" in traced.lower(lowering_platforms=("cuda",)).as_text()
