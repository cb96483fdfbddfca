"""The passes of the large-graph path against their definitions, for any sizes of its steps."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._exact import join_sums
from jaxmotif.graph._order import degree_order
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._tuning import Tuning
from jaxmotif.kernels._cliques import most_row_words
from jaxmotif.patterns import EDGE_COLUMN_NAMES
from tests.oracles import brute_force, edge_inputs
from tests.samples import CAPACITY, GRAPHS, build

EDGES = CAPACITY[1] // 2
TUNING = Tuning(24, 32, 48, 20, 0, 3 * CAPACITY[0], 2, most_row_words(EDGES) + 1)  # many steps and rounds of everything
CASES = {name: GRAPHS[name] for name in ("one edge", "star", "clique", "disconnected", "hub and blocks")}
CASES |= {name: graph for name, graph in GRAPHS.items() if name.endswith("of 20")}


pytestmark = pytest.mark.usefixtures("wide")


@functools.cache
def _statistics(per_edge):
    @jax.jit
    def run(order, plan):
        stats = sparse.statistics(order, plan, TUNING, per_edge)
        return stats, sparse.graph_sums(order, stats)

    return run


def _order(n, edges):
    return degree_order(jax.tree.map(np.asarray, build(n, edges)))


def _arcs(order):
    m = int(order.num_edges)
    return list(zip(order.tail[:m].tolist(), order.head[:m].tolist(), strict=True))


def test_statistics_by_arc():
    """t, K, cyc, A and B by definition, and the eight sums."""
    run = _statistics(True)
    for n, edges in CASES.values():
        order = _order(n, edges)
        stats, sums = run(order, sparse.make_plan(np, order, TUNING))
        expected = edge_inputs(CAPACITY[0], _arcs(order))
        for field in ("t", "K", "cyc", "A", "B"):
            found = np.asarray(getattr(stats, field))
            assert found.dtype == np.int64
            np.testing.assert_array_equal(found[: len(edges)], expected[field], err_msg=field)
        t, a, b = (expected[name] for name in ("t", "d_u", "d_v"))
        terms = {"d": a + b, "dd": a * b, "d2": a**2 + b**2, "t": t, "td": t * (a + b), "tt": t * t}
        terms |= {"K": expected["K"], "cyc": expected["cyc"]}
        assert {name: join_sums(pair) for name, pair in sums.items()} == {k: x.sum() for k, x in terms.items()}


def test_totals_are_sums_over_arcs():
    by_arc, totals = _statistics(True), _statistics(False)
    for n, edges in CASES.values():
        order = _order(n, edges)
        plan = sparse.make_plan(np, order, TUNING)
        sums = [{k: join_sums(pair) for k, pair in run(order, plan)[1].items()} for run in (by_arc, totals)]
        assert sums[0] == sums[1]


def test_plan_of_numpy_is_that_of_jax():
    on_device = jax.jit(functools.partial(sparse.make_plan, jnp, tuning=TUNING))
    for n, edges in CASES.values():
        order = _order(n, edges)
        plans = sparse.make_plan(np, order, TUNING), on_device(order)
        for a, b in zip(*map(jax.tree.leaves, plans), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def test_plan_says_where_the_work_of_a_node_begins():
    n, edges = GRAPHS["density 0.7 of 20"]
    order = _order(n, edges)
    plan = sparse.make_plan(np, order, TUNING)
    arcs = _arcs(order)
    out = [sum(u == r for u, _ in arcs) for r in range(CAPACITY[0])]
    after = [sum(u == tail for u, _ in arcs[e + 1 :]) for e, (tail, _) in enumerate(arcs)]
    tests = [sum(min(after[e], out[v]) for e, (u, v) in enumerate(arcs) if u == r) for r in range(CAPACITY[0])]
    np.testing.assert_array_equal(plan.triangle_starts, np.concatenate([[0], np.cumsum(tests)]))
    assert np.diff(plan.word_starts).tolist() == out  # fewer than 33 bits a row
    first, stop = sparse.all_ranks(plan)
    assert [int(x) for x in (first, stop)] == [0, CAPACITY[0]]
    assert [int(plan.triangle_starts[rank]) for rank in (first, stop)] == [0, sum(tests)]


def test_ranges_of_work_add_up():
    """Each pass over any ranges that cover its work, into the same accumulators, is the pass over all of it."""
    whole = _statistics(True)

    @jax.jit
    def first(order, plan, sums, ranks):
        return sparse.first_pass(order, plan, sums, ranks, TUNING)

    @jax.jit
    def second(order, plan, t, sums, ranks):
        return sparse.second_pass(order, plan, t, sums, ranks, TUNING)

    rng, parts = np.random.default_rng(0), 4
    for n, edges in CASES.values():
        order = _order(n, edges)
        plan = sparse.make_plan(np, order, TUNING)
        low, high = sparse.all_ranks(plan)
        # The cuts of each pass lie anywhere; some ranges are empty.
        of_first, of_second = (
            np.array([low, *np.sort(rng.integers(low, high, parts - 1, endpoint=True)), high], np.int32)
            for _ in range(2)
        )
        both, sums = sparse.start_first(order, True), sparse.start_second(order, True)
        for ranks in itertools.pairwise(of_first):
            both = first(order, plan, both, ranks)
        for ranks in reversed(list(itertools.pairwise(of_second))):
            sums = second(order, plan, both["t"], sums, ranks)
        found = sparse.finish(order, both | sums)
        for a, b in zip(found, whole(order, plan)[0], strict=True):
            np.testing.assert_array_equal(np.asarray(a)[: len(edges)], np.asarray(b)[: len(edges)])


def test_columns_from_statistics():
    """Per-edge columns and node orbits; padding nodes have none."""
    run = _statistics(True)

    @jax.jit
    def columns(order, stats):
        by_arc = sparse.edge_columns(order, stats)
        return by_arc, sparse.node_columns(order, by_arc)

    for n, edges in CASES.values():
        order = _order(n, edges)
        by_arc, orbits = columns(order, run(order, sparse.make_plan(np, order, TUNING))[0])
        _, expected, nodes = brute_force(n, edges)
        assert by_arc.keys() == set(EDGE_COLUMN_NAMES)
        for name, column in by_arc.items():
            np.testing.assert_array_equal(np.asarray(column)[: len(edges)], expected[name][order.edge[: len(edges)]])
        np.testing.assert_array_equal(np.asarray(orbits)[:n], nodes)
        assert not np.asarray(orbits)[n:].any()
