"""Cutting a run into parts of equal work, and ordering them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.graph.order import degree_order
from jaxmotif.graphlets.sparse import Ranges, make_plan
from jaxmotif.graphlets.split import Starts, make_units, split_ranges
from jaxmotif.graphlets.tuning import Tuning
from jaxmotif.kernels.wide import wide_ints
from tests.samples import GRAPHS, build

TUNING = Tuning("xla", 16, 32, 64, 40, 0, 3, 32, 64)
CASES = {name: GRAPHS[name] for name in ("one edge", "path", "clique", "hub and blocks", "density 0.7 of 20")}
KINDS = Ranges._fields


@pytest.fixture(autouse=True)
def wide():
    with wide_ints():
        yield


def _plan(n, edges):
    order = degree_order(jax.tree.map(np.asarray, build(n, edges)))
    return order, make_plan(np, order, TUNING)


def _starts_of(starts, kind):
    """First positions of what the ranges of a kind count: single tests, or nodes."""
    return np.arange(starts.tests + 1) if kind == "tests" else getattr(starts, kind)


@pytest.mark.parametrize("parts", [1, 2, 7, 100])
@pytest.mark.parametrize(("n", "edges"), CASES.values(), ids=CASES)
def test_ranges_cover_the_work_evenly(n, edges, parts):
    order, plan = _plan(n, edges)
    starts = Starts.of(plan)
    ranges = split_ranges(np, starts, parts)
    last = {"tests": starts.tests, "heavy": starts.heavy_count, "light": n, "tails": n}
    last["light"] = last["tails"] = order.node_capacity
    for kind in KINDS:
        first, stop = getattr(ranges, kind)
        assert first.shape == stop.shape == (parts,)
        assert first.dtype == stop.dtype == (np.int64 if kind == "tests" else np.int32)
        assert first[0] == 0
        assert stop[-1] == last[kind]
        np.testing.assert_array_equal(first[1:], stop[:-1])
        positions = _starts_of(starts, kind)
        work, largest = positions[stop] - positions[first], np.diff(positions).max(initial=0)
        assert work.sum() == positions[-1]
        assert work.max() <= positions[-1] / parts + largest


def test_ranges_of_numpy_are_those_of_jax():
    for n, edges in CASES.values():
        _, plan = _plan(n, edges)
        ranges = split_ranges(np, Starts.of(plan), 4)
        on_device = split_ranges(jnp, Starts(*(jnp.asarray(x) for x in Starts.of(plan))), 4)
        for a, b in zip(jax.tree.leaves(ranges), jax.tree.leaves(on_device), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("by", [None, "degree", "-volume"])
@pytest.mark.parametrize("parts", [3, 64])
@pytest.mark.parametrize(("n", "edges"), CASES.values(), ids=CASES)
def test_units_do_all_work_once(n, edges, parts, by):
    """Each unit does one kind of work; the units of a kind cover it once and say how much they do."""
    order, plan = _plan(n, edges)
    starts = Starts.of(plan)
    units = make_units(order, plan, parts, by)
    for queue, kinds in ((units.first, ("tests", "heavy", "light")), (units.second, ("tails",))):
        covered = {kind: np.zeros(_starts_of(starts, kind)[-1], int) for kind in kinds}
        for unit in queue:
            work = 0
            for kind in KINDS:
                first, stop = getattr(unit.task, kind)
                if stop > first:
                    positions = _starts_of(starts, kind)
                    here = slice(positions[first], positions[stop])
                    covered[kind][here] += 1
                    work += here.stop - here.start
            assert unit.work == work > 0
        for counts in covered.values():
            assert (counts == 1).all()
        assert len(queue) <= parts * len(kinds)


def _difficulty(order, by):
    """Mean over a node's edges of the edge's degree or volume, straight from the definition."""
    m = int(order.num_edges)
    arcs = list(zip(order.tail[:m].tolist(), order.head[:m].tolist(), strict=True))
    near = [[sum(arc) - r for arc in arcs if r in arc] for r in range(order.node_capacity)]
    degree = [len(x) for x in near]
    value = degree if by.endswith("degree") else [sum(degree[y] for y in x) for x in near]
    return [sum(value[r] + value[y] for y in x) / max(len(x), 1) for r, x in enumerate(near)]


@pytest.mark.parametrize("by", ["degree", "-degree", "volume", "-volume"])
@pytest.mark.parametrize("name", ["hub and blocks", "density 0.7 of 20"])
@pytest.mark.parametrize("parts", [9, 5000])
def test_units_are_ordered_by_difficulty(name, by, parts):
    """A unit is as difficult as the edges at its nodes are in the mean."""
    order, plan = _plan(*GRAPHS[name])
    difficulty, tails = _difficulty(order, by), plan.triangle_starts
    heavy = np.flatnonzero(np.diff(plan.wedges.heavy_row, prepend=-1))

    def score(unit):
        (kind,) = (kind for kind in KINDS if getattr(unit.task, kind)[1])
        first, stop = getattr(unit.task, kind)
        if kind == "tests":
            nodes = [r for r in range(order.node_capacity) if tails[r] < stop and tails[r + 1] > first]
            nodes = range(nodes[0], nodes[-1] + 1)
        else:
            nodes = heavy[first:stop] if kind == "heavy" else range(first, stop)
        edges = sum(order.degree[r] for r in nodes)
        return sum(difficulty[r] * order.degree[r] for r in nodes) / edges

    for queue in make_units(order, plan, parts, by):
        scores = np.array([score(unit) for unit in queue]) * (1 if by.startswith("-") else -1)
        assert (np.diff(scores) > -1e-9).all()
        assert len(set(scores)) > 3


def test_without_an_order_units_stay_in_the_order_of_the_work():
    units = make_units(*_plan(*GRAPHS["density 0.7 of 20"]), 8)
    for kind in KINDS:
        first = [getattr(unit.task, kind)[0] for unit in [*units.first, *units.second] if getattr(unit.task, kind)[1]]
        assert first == sorted(first)
