"""Cutting a run into parts of equal work, and ordering them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.devices._ranges import Span, cut
from jaxmotif.graph._order import degree_order
from jaxmotif.graphlets._sparse import Ranges, make_plan
from jaxmotif.graphlets._split import Starts, pass_work, span_difficulty, span_ranges, split_ranges
from jaxmotif.graphlets._tuning import Tuning
from tests.samples import GRAPHS, build

TUNING = Tuning(16, 32, 64, 40, 0, 3, 32, 64)
CASES = {name: GRAPHS[name] for name in ("one edge", "path", "clique", "hub and blocks", "density 0.7 of 20")}
KINDS = Ranges._fields


pytestmark = pytest.mark.usefixtures("wide")


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


@pytest.mark.parametrize(("n", "edges"), CASES.values(), ids=CASES)
def test_the_work_of_a_pass_is_that_of_its_nodes_whatever_the_plan_and_padding(n, edges):
    """Tests by lowest node, wedges by highest; heavy or light makes no difference."""
    found = []
    for pad in ((40, 512), (n, 2 * len(edges))):
        order = degree_order(jax.tree.map(np.asarray, build(n, edges, pad)))
        for tuning in (TUNING, TUNING._replace(most_light=2)):
            plan = make_plan(np, order, tuning)
            found.append(pass_work(order, plan))
            total = int(plan.triangles.total), int(plan.wedges.heavy.total + plan.wedges.light.total)
            assert (found[-1].first[-1], found[-1].second[-1]) == (sum(total), total[0])
    for other in found:
        for starts, same in zip(found[0], other, strict=True):
            assert starts.shape == (n + 1,)
            np.testing.assert_array_equal(starts, same)


@pytest.mark.parametrize("parts", [3, 64])
@pytest.mark.parametrize(("n", "edges"), CASES.values(), ids=CASES)
def test_the_ranges_of_stretches_do_all_work_once(n, edges, parts):
    order, plan = _plan(n, edges)
    starts, work = Starts.of(plan), pass_work(order, plan).first
    skip = np.int32(order.node_capacity - n)
    covered = {kind: np.zeros(_starts_of(starts, kind)[-1], int) for kind in KINDS}
    ranges_of = jax.jit(span_ranges)
    for unit in cut(work, [Span(0, n)], parts):
        ranges, done = ranges_of(plan, skip, *map(np.int32, unit.span)), 0
        for kind in KINDS:
            first, stop = (int(x) for x in getattr(ranges, kind))
            positions = _starts_of(starts, kind)
            here = slice(positions[first], positions[stop])
            covered[kind][here] += 1
            done += (here.stop - here.start) * (kind != "tails")
        assert unit.work == done
    for counts in covered.values():
        assert (counts == 1).all()


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
def test_a_stretch_is_as_difficult_as_the_edges_at_its_nodes_are_in_the_mean(name, by):
    order, _ = _plan(*GRAPHS[name])
    difficulty, skip = _difficulty(order, by), order.node_capacity - GRAPHS[name][0]
    for first, stop in ((0, 1), (3, 9), (0, GRAPHS[name][0])):
        nodes = range(skip + first, skip + stop)
        edges = sum(order.degree[r] for r in nodes)
        mean = sum(difficulty[r] * order.degree[r] for r in nodes) / edges
        found = span_difficulty(order, by)(Span(first, stop))
        np.testing.assert_allclose(found, -mean if by.startswith("-") else mean)
