"""Codes of extended subgraphs, at every phase of a table, in XLA and in Pallas."""

import dataclasses
from collections import Counter
from itertools import combinations

import jax
import numpy as np
import pytest

from jaxmotif.arrays._compile import Target, compiling_for, jit64
from jaxmotif.census._host import pattern_runs as host_runs
from jaxmotif.census._pair_states import census_graphs, graph_edges
from jaxmotif.graph import Graph
from jaxmotif.kernels import _subgraphs as census
from tests.more import more

BLOCK = 512
FILL = jit64(census.fill, static_argnames="block")
OPEN, ROOTS = jit64(census.open_walks), jit64(census.roots, static_argnames=("nodes", "capacity"))
CANDIDATES = jit64(census.candidates, static_argnames="block")
RUNS = jit64(census.pattern_runs, static_argnames="bits")
SCATTERS = {"cpu": Target("cpu"), "cuda": Target("cuda")}  # how entries are left out, and running sums made


def _dyads(directed, labels=False, matrix=True, count=1):
    """Of a hub with a path along its leaves."""
    edges = [(0, v) for v in range(1, 20)] + [(v + 1, v) for v in range(1, 12)]
    graph = Graph.from_edges(edges, directed=directed, node_labels=[v % 4 for v in range(20)] if labels else None)
    return census_graphs(graph, graph_edges(graph), matrix << 20, jax.devices()[0], count).dyads


def _table(dyads):
    """Its table of connected pairs, and all that belongs to it."""
    roots = ROOTS(dyads, np.int32(0), nodes=2, capacity=96)
    work = OPEN(dyads, roots, np.int32(1), np.int32(20)).work
    table, size, _ = FILL(dyads, roots, np.int32(1), work, np.int64(0), roots, np.int32(0), block=32)
    assert int(size) == 30
    return table, size, OPEN(dyads, table, np.int32(2), size)


def _added(dyads, table, size, walks, first=0, block=BLOCK):
    return CANDIDATES(dyads, table, size, walks, np.int32(first), block=block)


def _real(keys):
    keys = np.asarray(keys)
    return keys[keys != np.iinfo(keys.dtype).max]


@pytest.mark.parametrize(
    ("options", "wide"),
    [
        ({"directed": True, "count": 5}, False),
        *more(
            ({"directed": True, "labels": True}, True),
            ({"directed": False, "labels": True, "matrix": False}, False),
            ({"directed": False}, False),
            ({"directed": True}, True),
            ({"directed": True, "matrix": False, "count": 5}, True),
        ),
    ],
)
def test_visits(form, options, wide):
    """All forms as XLA's: with a matrix of dyads and without, with labels and without, of one graph and several."""
    dyads = _dyads(**options)
    assert (dyads.matrix is None) == ("matrix" in options)
    table, size, walks = _table(dyads)
    added, stop = _added(dyads, table, size, walks)
    assert stop == size
    total, block = int(added.work.total), 4 * form.lanes
    visits, other = (
        form.jit(census.visit_codes, block=block, wide=wide),
        jit64(lambda *args: census.visit_codes(*args, block=block, wide=wide)),
    )
    assert total > block or form.lanes > total
    for first in range(0, total, block):
        args = (dyads, table, added, np.int64(first))
        np.testing.assert_array_equal(visits(*args), other(*args))


def test_every_set_of_three_nodes_once():
    dyads = _dyads(directed=False)
    table, size, walks = _table(dyads)
    total = int(walks.work.total)
    found = jit64(lambda *args: census.extensions(*args, block=BLOCK))(
        dyads, table, np.int32(2), walks.work, np.int64(0), np.int64(total)
    )
    valid, row, local = np.asarray(found.valid), np.asarray(found.row), np.asarray(found.local)
    nodes = np.asarray(table.nodes)[:, row[valid]].T
    sets = [frozenset((*pair, v)) for pair, v in zip(nodes.tolist(), local[valid].tolist(), strict=True)]
    assert len(sets) == len(set(sets))
    degree = np.diff(np.asarray(dyads.offsets).astype(int))
    triangles = 11
    assert len(sets) == (degree * (degree - 1) // 2).sum() - 2 * triangles


def test_room_for_more_nodes_changes_nothing():
    """Rows of two nodes in a table with room for four."""
    dyads = _dyads(directed=True, labels=True)
    table, size, _ = _table(dyads)
    roots = ROOTS(dyads, np.int32(0), nodes=4, capacity=96)
    work = OPEN(dyads, roots, np.int32(1), np.int32(20)).work
    wider, same, _ = FILL(dyads, roots, np.int32(1), work, np.int64(0), roots, np.int32(0), block=32)
    assert same == size
    for name in ("graph", "rank", "low", "high"):
        np.testing.assert_array_equal(getattr(wider, name)[:30], getattr(table, name)[:30])
    np.testing.assert_array_equal(wider.nodes[:2, :30], table.nodes[:, :30])
    np.testing.assert_array_equal(wider.nodes[2:, :30], np.broadcast_to(table.nodes[:1, :30], (2, 30)))
    np.testing.assert_array_equal(wider.begins[:2, :30], table.begins[:, :30])


@pytest.mark.parametrize("scatters", ["cpu", *more("cuda")])
def test_candidates_stop_where_the_block_is_full(scatters):
    dyads = _dyads(directed=True)
    with compiling_for(SCATTERS[scatters]):
        table, size, walks = _table(dyads)
        whole, _ = _added(dyads, table, size, walks)
        keys, first = [], 0
        while first < size:
            part, stop = _added(dyads, table, size, walks, first, 32)
            assert stop > first
            keys += (_real(part.keys) + (first << int(dyads.new_bits(2)))).tolist()
            first = int(stop)
        assert sorted(keys) == sorted(_real(whole.keys).tolist())
        _, stop = _added(dyads, table, size, walks, block=4)
        assert stop == 0


@pytest.mark.parametrize("labels", [2, 60])
def test_keys_of_candidates_hold_their_row_and_pattern(labels):
    """Also where labels take so many bits that a key has more than 32."""
    edges = [(0, v) for v in range(1, 61)]
    graph = Graph.from_edges(
        edges, directed=True, node_labels=np.arange(61) % labels, edge_labels=np.arange(60) % labels
    )
    dyads = census_graphs(graph, graph_edges(graph), 1 << 20, jax.devices()[0], 1).dyads
    bits, block = int(dyads.new_bits(2)), 4096
    roots = ROOTS(dyads, np.int32(0), nodes=2, capacity=96)
    work = OPEN(dyads, roots, np.int32(1), np.int32(61)).work
    table, size, _ = FILL(dyads, roots, np.int32(1), work, np.int64(0), roots, np.int32(0), block=96)
    added, stop = _added(dyads, table, size, OPEN(dyads, table, np.int32(2), size), block=block)
    assert stop == size == 60
    keys = np.asarray(added.keys)
    real = keys != np.iinfo(keys.dtype).max
    rows = np.asarray(added.row)[real]
    assert len(rows) == 60 * 59 // 2
    assert ((int(rows.max()) << bits) >= 2**32) == (labels == 60)
    assert (keys[real].astype(np.uint64) >> np.uint64(bits)).tolist() == rows.tolist()
    below = np.uint64((1 << bits) - 1)
    assert (keys[real] & below).tolist() == (np.asarray(added.low)[real].astype(np.uint64) & below).tolist()


@pytest.mark.parametrize("scatters", ["cpu", *more("cuda")])
def test_pairs_of_patterns(scatters):
    """Every two candidates of a row, by their patterns."""
    dyads = _dyads(directed=True)
    with compiling_for(SCATTERS[scatters]):
        table, size, walks = _table(dyads)
        added, _ = _added(dyads, table, size, walks)
        keys = np.asarray(added.keys)
        wanted = Counter()
        for row in range(int(size)):
            of_row = (keys != np.iinfo(keys.dtype).max) & (np.asarray(added.row) == row)
            patterns = sorted(np.asarray(added.low)[of_row].tolist())
            wanted.update((a << 6) | (b & 15) for a, b in combinations(patterns, 2))
        runs = RUNS(np.sort(keys), np.int32(0), bits=4)
        pairs = jit64(lambda *args: census.pair_codes(*args, block=BLOCK, wide=False))
        codes, weights = pairs(dyads, table, runs, np.int64(0))
        found = Counter()
        for code, weight in zip(np.asarray(codes).tolist(), np.asarray(weights).tolist(), strict=True):
            found[code] += weight
        assert +found == wanted


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_runs_on_the_host(kind):
    """The same as on a device, of no, one and many candidates."""
    keys = np.full(BLOCK, np.iinfo(kind).max, kind)
    for number in (0, 1, 300, BLOCK):
        keys[:number] = np.random.default_rng(number).integers(0, 400, number)
        keys.sort()
        runs = RUNS(keys, np.int32(7), bits=4)
        found, total, candidates = host_runs(keys, 7, 4)
        assert (total, candidates) == (int(runs.work.total), int(runs.count.sum())) == (int(found.work.total), number)
        some = np.unique(keys[:number]).size
        for x, y in zip(found[:3], runs[:3], strict=True):
            assert (x.shape, x.dtype, x[:some].tolist()) == (y.shape, y.dtype, y[:some].tolist())
        walks = np.count_nonzero(np.diff(found.work.starts))
        assert found.work.items[:walks].tolist() == runs.work.items[:walks].tolist()
        assert found.work.starts.tolist() == runs.work.starts.tolist()


@pytest.mark.parametrize("options", [{}, *more({"labels": True}, {"matrix": False})])
def test_lowers_for_cuda(options, lowered_for_cuda):
    dyads = _dyads(directed=True, **options)
    table, size, walks = _table(dyads)
    added, _ = _added(dyads, table, size, walks)
    text = lowered_for_cuda(census.visit_codes, dyads, table, added, np.int64(0), block=4096, wide=True)
    assert "census" in text


def test_dyads_are_a_pytree():
    """What differs from graph to graph is data."""
    one, other = _dyads(directed=True), dataclasses.replace(_dyads(directed=True, count=5))
    assert jax.tree.structure(one) == jax.tree.structure(other)
