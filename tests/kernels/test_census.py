"""Codes of extended subgraphs, at every phase of a table, in XLA and in Pallas."""

import dataclasses
from collections import Counter
from functools import partial
from itertools import combinations

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


def _table(directed, scatters="xla"):
    """A table of connected pairs and all that belongs to it, for a hub with a path along its leaves."""
    edges = [(0, v) for v in range(1, 20)] + [(v + 1, v) for v in range(1, 12)]
    graph = Graph.from_edges(edges, directed=directed)
    dyads = to_dyads(graph, graph_slots(graph), 1 << 20)
    roots = census.roots(dyads)
    work = census.open_walks(dyads, roots, np.int32(graph.n), backend=scatters).work
    column, word, pair = np.zeros(96, np.int32), np.zeros(96, np.uint32), np.zeros((2, 96), np.int32)
    fill = jax.jit(census.fill, static_argnames=("block", "backend"))
    empty = census.Rows(column, pair, pair, column, word, word)
    table, size, _ = fill(dyads, roots, work, np.int64(0), empty, np.int32(0), block=32, backend=scatters)
    assert int(size) == graph.m
    return dyads, table, size, census.open_walks(dyads, table, size, backend=scatters)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("wide_codes", [False, True])
@pytest.mark.parametrize("graph_bits", [0, 3])
def test_visits(form, directed, wide_codes, graph_bits, monkeypatch):
    """All forms as XLA's; and what all of them add to is every set of four nodes, once."""
    monkeypatch.setattr(census, "LANES", form.lanes)
    dyads, table, size, walks = _table(directed)
    dyads = dataclasses.replace(dyads, graph_bits=graph_bits)
    added, stop = census.candidates(dyads, table, size, walks, np.int32(0), block=512, backend="xla")
    assert stop == size
    total, block = int(added.work.total), 4 * form.lanes
    visits = form.jit(census.visit_codes, block=block, wide=wide_codes)
    other = jax.jit(partial(census.visit_codes, block=block, wide=wide_codes, backend="xla"))
    assert total > block or form.lanes > total
    for first in range(0, total, block):
        args = (dyads, table, added, np.int64(first))
        np.testing.assert_array_equal(visits(*args), other(*args))


def test_every_set_of_three_nodes_once():
    dyads, table, size, walks = _table(False)
    total = int(walks.work.total)
    found = census.extensions(dyads, table, walks.work, np.int64(0), np.int64(total), block=total)
    valid, row, local = np.asarray(found.valid), np.asarray(found.row), np.asarray(found.local)
    nodes = np.asarray(table.nodes)[:, row[valid]].T
    sets = [frozenset((*pair, v)) for pair, v in zip(nodes.tolist(), local[valid].tolist(), strict=True)]
    assert len(sets) == len(set(sets))
    degree = np.diff(np.asarray(dyads.offsets).astype(int))
    triangles = 11
    assert len(sets) == (degree * (degree - 1) // 2).sum() - 2 * triangles


@pytest.mark.parametrize("scatters", ["xla", "pallas-triton"])
def test_candidates_stop_where_the_block_is_full(scatters):
    dyads, table, size, walks = _table(True, scatters)
    whole, _ = census.candidates(dyads, table, size, walks, np.int32(0), block=512, backend=scatters)
    keys, first = [], 0
    while first < size:
        part, stop = census.candidates(dyads, table, size, walks, np.int32(first), block=32, backend=scatters)
        assert stop > first
        real = np.asarray(part.keys)[np.asarray(part.keys) != np.iinfo(part.keys.dtype).max]
        keys += (real + (first << dyads.new_bits(2))).tolist()
        first = int(stop)
    assert sorted(keys) == sorted(np.asarray(whole.keys)[np.asarray(whole.keys) != np.iinfo(whole.keys.dtype).max])
    _, stop = census.candidates(dyads, table, size, walks, np.int32(0), block=4, backend=scatters)
    assert stop == 0


@pytest.mark.parametrize("scatters", ["xla", "pallas-triton"])
def test_pairs_of_patterns(scatters):
    """Every two candidates of a row, by their patterns."""
    dyads, table, size, walks = _table(True, scatters)
    added, _ = census.candidates(dyads, table, size, walks, np.int32(0), block=512, backend=scatters)
    keys = np.asarray(added.keys)
    wanted = Counter()
    for row in range(int(size)):
        patterns = sorted(np.asarray(added.low)[(keys != np.iinfo(keys.dtype).max) & (np.asarray(added.row) == row)])
        wanted.update((int(a) << 6) | (int(b) & 15) for a, b in combinations(patterns, 2))
    runs = census.pattern_runs(np.sort(keys), np.int32(0), bits=4, backend=scatters)
    codes, weights = census.pair_codes(dyads, table, runs, np.int64(0), block=512, wide=False)
    found = Counter()
    for code, weight in zip(np.asarray(codes).tolist(), np.asarray(weights).tolist(), strict=True):
        found[code] += weight
    assert +found == wanted


def test_lowers_for_cuda():
    dyads, table, size, walks = _table(True)
    added, _ = census.candidates(dyads, table, size, walks, np.int32(0), block=512, backend="xla")
    visits = jax.jit(census.visit_codes, static_argnames=("block", "wide", "backend"))
    traced = visits.trace(dyads, table, added, np.int64(0), block=4096, wide=True, backend="pallas-triton")
    assert "census" in traced.lower(lowering_platforms=("cuda",)).as_text()
