"""The pure function under jit, over queries and over targets, against all injective maps."""

import re
from functools import partial

import chex
import jax
import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph, stack_graphs
from jaxmotif.matching import dense_match_count, dense_participation, participation_counts
from jaxmotif.matching._dense import Tallied, search_dense
from jaxmotif.patterns import Pattern
from tests.matching.oracle import count_injections, random_graph
from tests.more import more

QUERY, TARGET = (5, 20), (7, 42)


def batch(seed, count, directed, labels):
    """Pairs of patterns, and both stacked: queries of 1 to 5 nodes, targets of 1 to 7."""
    rng = np.random.default_rng(seed)
    kinds = (2, 2) if labels else (None, None)
    queries = [
        random_graph(rng, int(rng.integers(1, 6)), rng.choice([0.3, 0.6]), directed, *kinds) for _ in range(count)
    ]
    targets = [
        random_graph(rng, int(rng.integers(1, 8)), rng.choice([0.5, 0.8]), directed, *kinds) for _ in range(count)
    ]
    pairs = [(query, target) for (query, _), (target, _) in zip(queries, targets, strict=True)]
    return pairs, stack_graphs([g for _, g in queries], QUERY), stack_graphs([g for _, g in targets], TARGET)


@pytest.mark.parametrize(("directed", "labels"), [(True, True), *more((False, False), (False, True), (True, False))])
def test_against_all_injective_maps(directed, labels):
    for induced in (False, True):
        pairs, queries, targets = batch(10 * directed + induced, 150, directed, labels)
        wildcard = np.int32(0) if labels and induced else None

        def count(query, target, induced=induced, wildcard=wildcard):
            return dense_match_count(query, target, induced=induced, wildcard=wildcard, lanes=3)

        found = jax.jit(jax.vmap(count))(queries, targets)
        expected = [count_injections(query, target, induced, wildcard) for query, target in pairs]
        assert found.count.to_numpy().tolist() == expected
        assert found.exact.all()
        assert np.count_nonzero(expected) > 30


@pytest.mark.parametrize(("directed", "of"), [(True, "edge"), *more((False, "node"))])
def test_participation_against_the_front_door(directed, of):
    rng = np.random.default_rng(directed)
    queries = [random_graph(rng, int(rng.integers(1, 6)), 0.6, directed, 2, 1)[1] for _ in range(40)]
    targets = [random_graph(rng, int(rng.integers(1, 8)), 0.8, directed, 2, 1)[1] for _ in range(40)]
    count = partial(dense_participation, of=of, induced=of == "node", lanes=3)
    found = jax.jit(jax.vmap(count))(stack_graphs(queries, QUERY), stack_graphs(targets, TARGET))
    assert found.exact.all()
    met = 0
    for query, target, counts in zip(queries, targets, found.count.to_numpy(), strict=True):
        expected = participation_counts(query, target, of == "node", of=of)
        rows, columns = expected.shape
        np.testing.assert_array_equal(counts[:rows, :columns], expected)
        assert counts.sum() == expected.sum()
        met += expected.any()
    assert met > 8


def test_one_compilation_serves_every_query_and_target():
    pairs, queries, targets = batch(3, 8, False, True)

    @chex.assert_max_traces(n=3)
    def traced(query, target):
        return dense_match_count(query, target, induced=True)

    one = jax.tree.map(lambda x: x[0], (queries, targets))
    alone, over_queries, over_targets = (
        jax.jit(jax.vmap(traced, in_axes=axes) if axes != (None, None) else traced)
        for axes in ((None, None), (0, None), (None, 0))
    )
    (query, target), everything = pairs[0], list(zip(*pairs, strict=True))
    counts = over_queries(queries, one[1]).count.to_numpy().tolist()
    assert counts == [count_injections(q, target, True) for q in everything[0]]
    counts = over_targets(one[0], targets).count.to_numpy().tolist()
    assert counts == [count_injections(query, t, True) for t in everything[1]]
    for i in range(8):
        single = alone(*jax.tree.map(lambda x, i=i: x[i], (queries, targets)))
        assert int(single.count.to_numpy()) == count_injections(*pairs[i], True)


def test_a_larger_search_shares_its_work_and_says_when_it_stops():
    query = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    target = Graph.from_networkx(nx.gnp_random_graph(70, 0.2, seed=1))
    host = Pattern.from_graph(target).adjacency.astype(np.int64)
    common = (host @ host)[~np.eye(70, dtype=bool)]
    expected = int((common * (common - 1)).sum())
    taken = {}
    for lanes in (1, 64):
        found = jax.jit(partial(dense_match_count, lanes=lanes))(query, target)
        assert (int(found.count.to_numpy()), bool(found.exact)) == (expected, True)
        taken[lanes] = int(found.steps)
    assert taken[64] < taken[1] / 32  # all lanes work nearly all the time
    stopped = jax.jit(partial(dense_match_count, lanes=64, max_steps=taken[64] - 1))(query, target)
    assert not stopped.exact
    assert 0 < int(stopped.count.to_numpy()) <= expected


@pytest.mark.parametrize("max_steps", [2**31 - 1, 2**31, 2**40])
def test_more_steps_than_are_counted(max_steps):
    edge = Graph.from_edges([(0, 1)], pad=(2, 2))
    found = jax.jit(partial(dense_match_count, max_steps=max_steps))(edge, edge)
    assert (int(found.count.to_numpy()), bool(found.exact)) == (2, True)


def test_small_and_empty():
    empty, node, edge = (Graph.from_edges(rows, n, pad=(2, 2)) for rows, n in (([], 0), ([], 1), ([(0, 1)], 2)))
    count = jax.jit(dense_match_count)
    for query, target, expected in ((empty, edge, 1), (edge, empty, 0), (node, edge, 2), (node, empty, 0)):
        found = count(query, target)
        assert (int(found.count.to_numpy()), bool(found.exact)) == (expected, True)


def test_mistakes():
    edge = Graph.from_edges([(0, 1)])
    for query, target, options, message in (
        (edge, Graph.from_edges([(0, 1)], directed=True), {}, "query.directed is False and target.directed True"),
        (Graph.from_edges([(0, 1)], node_labels=[1, 2]), edge, {}, "the query has node_labels and the target has none"),
        (stack_graphs([edge]), edge, {}, "the query is a batch of 1 graphs; use jax.vmap"),
        (Graph.from_edges([], 65, pad=None), edge, {}, "takes a query of up to 64 nodes, got room for 65"),
        (edge, edge, {"lanes": 0}, "lanes must be at least 1, got 0"),
        (edge, edge, {"wildcard": np.zeros(2, np.int32)}, "wildcard must be one label"),
        (edge, edge, {"wildcard": 2**32 + 1}, "wildcard must fit int32"),
        (edge, edge, {"wildcard": np.int64(-(2**31) - 1)}, "wildcard must fit int32"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            dense_match_count(query, target, **options)
    for options, message in (
        ({"wildcard": "1"}, "wildcard must be an integer, got '1'"),
        ({"induced": "no"}, "induced must be True or False, got 'no'"),
        ({"lanes": 2.0}, "lanes must be an integer, got 2.0"),
        ({"max_steps": 2.5}, "max_steps must be an integer, got 2.5"),
    ):
        for count in (dense_match_count, dense_participation):
            with pytest.raises(TypeError, match=message):
                count(edge, edge, **options)
    labelled = Graph.from_edges([(0, 1)], edge_labels=[1], pad=(2, 2**14))
    with pytest.raises(ValueError, match="16385 bit matrices of 1024 nodes take 536903680 words, over the limit"):
        dense_match_count(labelled, Graph.from_edges([(0, 1)], edge_labels=[1], pad=(1024, 2)))
    with pytest.raises(ValueError, match="of must be 'node' or 'edge', got 'orbit'"):
        dense_participation(edge, edge, of="orbit")


@pytest.mark.parametrize("of", ["node", "edge"])
@pytest.mark.parametrize("max_steps", [2**27 - 1, 2**27])
def test_counters_hold_what_all_steps_can_add(of, max_steps):
    """Just below and just above what 32 bits hold, at 4 lanes and 4 parts: so many steps would take days."""
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)], pad=(4, 8))
    tallied = Tallied(of, np.arange(4, dtype=np.int32), 4)
    count = partial(search_dense, graph, graph, tallied, induced=False, wildcard=None, lanes=4, max_steps=max_steps)
    counters = jax.eval_shape(count).values
    assert counters.shape == (4, 4)
    assert np.iinfo(counters.dtype).max >= 4 * 4 * max_steps
