"""Cutting a run into parts of equal work, and ordering them."""

import jax
import numpy as np
import pytest

from jaxmotif.devices._ranges import Span, cut
from jaxmotif.graph._order import degree_order
from jaxmotif.graphlets._run import pass_work, span_difficulty
from jaxmotif.graphlets._sparse import heavy_before, make_plan
from jaxmotif.graphlets._tuning import Tuning
from tests.samples import GRAPHS, build

TUNING = Tuning(16, 32, 64, 40, 0, 192, 32, 64)
CASES = {name: GRAPHS[name] for name in ("one edge", "path", "clique", "hub and blocks", "density 0.7 of 20")}
pytestmark = pytest.mark.usefixtures("wide")


def _plan(n, edges):
    order = degree_order(jax.tree.map(np.asarray, build(n, edges)))
    return order, make_plan(np, order, TUNING)


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
            assert (found[-1][0][-1], found[-1][1][-1]) == (sum(total), total[0])
    for other in found:
        for starts, same in zip(found[0], other, strict=True):
            assert starts.shape == (n + 1,)
            np.testing.assert_array_equal(starts, same)


@pytest.mark.parametrize("parts", [3, 64])
@pytest.mark.parametrize(("n", "edges"), CASES.values(), ids=CASES)
def test_the_ranks_of_stretches_do_all_work_once(n, edges, parts):
    order, plan = _plan(n, edges)
    work, skip, wedges = pass_work(order, plan)[0], order.node_capacity - n, plan.wedges
    starts = {"tests": plan.triangle_starts, "heavy": wedges.heavy_starts, "light": wedges.light_starts}
    covered = {kind: np.zeros(places[-1], int) for kind, places in starts.items()}
    before = jax.jit(heavy_before)
    for unit in cut(work, [Span(0, n)], parts):
        done, ranks = 0, [np.int32(skip + x) for x in unit.span]
        for kind, places in starts.items():
            first, stop = (int(before(plan, rank)) if kind == "heavy" else rank for rank in ranks)
            here = slice(places[first], places[stop])
            covered[kind][here] += 1
            done += here.stop - here.start
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
