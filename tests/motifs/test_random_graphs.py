import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.kernels import switching
from jaxmotif.motifs import random_graphs
from tests.motifs.ensembles import all_with_same_degrees, counts_of, degrees_of, reachable

scipy_stats = pytest.importorskip("scipy.stats")

# name: (nodes, arcs, keep, directed)
CYCLE3 = [(0, 1), (1, 2), (2, 0)]
ENSEMBLES = {
    "needs 3-cycle reversal": (3, CYCLE3, "bidegree", True),
    "needs turns of three": (4, [(0, 1), (1, 2), (2, 3)], "bidegree", True),
    "4-cycle": (4, [(0, 1), (1, 2), (2, 3), (3, 0)], "bidegree", True),
    "mixed": (6, [(0, 1), (1, 0), (2, 3), (3, 2), (0, 4), (4, 5), (1, 2), (5, 3)], "bidegree", True),
    "three pairs": (
        7, [(5, 3), (3, 5), (6, 2), (2, 6), (4, 1), (1, 4), (1, 6), (5, 4), (3, 6), (4, 2)], "bidegree", True,
    ),
    "reciprocation free": (4, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 1)], "degree", True),
    "undirected": (6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], "degree", False),
}  # fmt: skip


def arc_sets(sample, directed):
    heads, lefts, rights = (np.asarray(x).tolist() for x in sample.ends)
    tail = sample.wiring.fixed.tail.tolist()
    for head, left, right in zip(heads, lefts, rights, strict=True):
        pairs = [*zip(left, right, strict=True), *zip(right, left, strict=True)]
        yield frozenset([*zip(tail, head, strict=True), *pairs])


def start(name):
    n, arcs, keep, directed = ENSEMBLES[name]
    both = arcs if directed else arcs + [(v, u) for u, v in arcs]
    return Graph.from_edges(arcs, n, directed), frozenset(both), keep, directed


def p_value(name, step, chains, attempts):
    graph, arcs, keep, directed = start(name)
    states = reachable(arcs, keep, directed)
    sample = random_graphs(graph, chains, jax.random.key(7), keep, attempts=attempts, step=step)
    counts = counts_of(arc_sets(sample, directed), states)
    return len(states), scipy_stats.chisquare(counts).pvalue


@pytest.mark.parametrize("step", ["reject", "global"])
@pytest.mark.parametrize("name", ["needs 3-cycle reversal", "mixed", "reciprocation free", "undirected"])
def test_uniform(name, step):
    states, p = p_value(name, step, 20_000, 60)
    assert states > 1
    assert p > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("step", ["reject", "global"])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_uniform_over_many_chains(name, step):
    states, p = p_value(name, step, 100_000, 200)
    assert p > 0.001, f"{states} graphs"


@pytest.mark.parametrize("name", ["needs 3-cycle reversal", "needs turns of three", "4-cycle", "reciprocation free"])
def test_moves_reach_every_graph_of_these_ensembles(name):
    _, arcs, keep, directed = start(name)
    assert set(reachable(arcs, keep, directed)) == all_with_same_degrees(arcs, ENSEMBLES[name][0], keep)


def test_a_biased_step_is_caught(monkeypatch):
    """Deciding by 'new dyads free now and asked for once' looks right and is not."""

    def naive(fixed, tail, head, new_head, proposed, driver, across, salts, backend):
        slots = 2**9
        old, new = (switching._slot(fixed, tail, h, salts, slots) for h in (head, new_head))
        present = jnp.zeros(slots + 1, jnp.int32).at[old].add(1)
        asked = jnp.zeros(slots + 1, jnp.int32).at[jnp.where(proposed, new, slots)].add(1)
        free = proposed & (present[new] == 0) & (asked[new] == 1)
        return free & across(free)

    module = importlib.import_module("jaxmotif.motifs.random_graphs")
    monkeypatch.setattr(switching, "_decide_alone", naive)
    module._chains.clear_cache()
    try:
        _, p = p_value("mixed", "reject", 20_000, 60)
    finally:
        module._chains.clear_cache()
    assert p < 1e-6


@pytest.mark.parametrize("keep", ["bidegree", "degree"])
@pytest.mark.parametrize("step", ["reject", "global"])
def test_degrees_are_exact_and_graphs_simple(keep, step):
    rng = np.random.default_rng(0)
    matrix = rng.random((25, 25)) < 0.15
    matrix |= np.triu(matrix, 1).T & (rng.random((25, 25)) < 0.5)
    np.fill_diagonal(matrix, False)
    arcs = np.argwhere(matrix)
    graph = Graph.from_edges(arcs, 25, directed=True)
    wanted = degrees_of(frozenset(map(tuple, arcs.tolist())), keep)
    sample = random_graphs(graph, 5, jax.random.key(0), keep, step=step)
    for drawn in arc_sets(sample, True):
        assert len(drawn) == graph.m
        assert degrees_of(drawn, keep) == wanted
    assert 0.05 < sample.acceptance < 1


def test_same_bits_however_divided():
    rng = np.random.default_rng(1)
    graph = Graph.from_edges(rng.integers(0, 30, (90, 2)), 30, directed=True)
    key = jax.random.key(3)
    whole = random_graphs(graph, 6, key, attempts=8)
    parts = [random_graphs(graph, 2, key, attempts=8, first=2), random_graphs(graph, 6, key, attempts=8, devices=4)]
    np.testing.assert_array_equal(parts[0].ends.head, whole.ends.head[2:4])
    np.testing.assert_array_equal(parts[1].ends.head, whole.ends.head)
    longer = random_graphs(graph, 6, key, attempts=8, start=whole)
    np.testing.assert_array_equal(longer.ends.head, random_graphs(graph, 6, key, attempts=16).ends.head)
    assert longer.steps == 2 * whole.steps


def test_labels_ride_along():
    graph = Graph.from_edges([(0, 1), (1, 0), (1, 2), (3, 4), (4, 3)], directed=True, node_labels=[5, 6, 7, 8, 9],
                             edge_labels=[1, 2, 3, 4, 5])  # fmt: skip
    drawn = random_graphs(graph, 2, jax.random.key(0), attempts=30)[1]
    assert drawn.node_labels.tolist() == [5, 6, 7, 8, 9]
    assert sorted(drawn.edge_labels.tolist()) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("edges", [[], [(0, 1)], [(0, 1), (1, 0)], [(0, 1), (0, 2)]])
def test_graphs_that_cannot_change(edges):
    graph = Graph.from_edges(edges, 3, directed=True)
    assert random_graphs(graph, 2, jax.random.key(0))[0].edge_list().tolist() == graph.edge_list().tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"num": 0}, "num"), ({"keep": "both"}, "keep"), ({"step": "fast"}, "step"), ({"attempts": -1}, "attempts")],
)
def test_bad_options(options, message):
    graph = Graph.from_edges([(0, 1)], directed=True)
    with pytest.raises(ValueError, match=message):
        random_graphs(graph, **{"num": 1, "key": jax.random.key(0)} | options)
