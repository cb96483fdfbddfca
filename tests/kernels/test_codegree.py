"""Wedges, and the 4-cycles they close, against their definitions; in XLA and in Pallas, for any sizes."""

import functools
from collections import Counter
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._compile import jit64
from jaxmotif.graph._order import degree_order
from jaxmotif.kernels._codegree import codegree_plan, heavy_cycles, light_cycles
from jaxmotif.kernels._expand import flat_work
from jaxmotif.kernels._scatter import accumulator
from jaxmotif.kernels._wedges import wedge_block, wedge_lengths
from tests.more import more
from tests.oracles import edge_inputs
from tests.samples import DENSE, GRAPHS, build

CASES = {name: GRAPHS[name] for name in ("one edge", "star", "clique", "bipartite", "disconnected", "hub and blocks")}
CASES |= {name: GRAPHS[name] for name in ("density 0.3 of 20", "density 0.7 of 20")}


pytestmark = pytest.mark.usefixtures("wide")


def _order(n, edges):
    return degree_order(jax.tree.map(np.asarray, build(n, edges)))


def _arcs(order):
    m = int(order.num_edges)
    return list(zip(order.tail[:m].tolist(), order.head[:m].tolist(), strict=True))


def _wedges(order):
    """(uv, uw, v, w) with both u and w below v."""
    slot = {frozenset(arc): e for e, arc in enumerate(_arcs(order))}
    near = {x: {y for arc in slot for y in arc if x in arc} - {x} for x in range(order.node_capacity)}
    return sorted(
        (slot[frozenset((u, v))], slot[frozenset((u, w))], v, w)
        for u in near
        for w, v in combinations(sorted(near[u]), 2)
        if u < v
    )


def _cycles(order):
    """4-cycles through each arc, induced or not."""
    return edge_inputs(order.node_capacity, _arcs(order))["cyc"]


@pytest.mark.parametrize("lanes", [1, 4], ids=["small blocks", "blocks of 4 programs"])
def test_every_wedge_once(form, lanes):
    block = lanes * form.lanes
    find = form.jit(wedge_block, block=block)
    for n, edges in CASES.values():
        order = _order(n, edges)
        work = flat_work(np, wedge_lengths(np, order))
        found, total = [], int(work.total)
        for first in range(0, total, block):
            wedges = [np.asarray(x) for x in find(order, work, np.int64(first), np.int64(total))]
            *ends, valid = wedges
            assert valid.tolist() == [first + x < total for x in range(block)]
            found += zip(*(x[valid].tolist() for x in ends), strict=True)
        assert sorted(found) == _wedges(order)
        assert [v for _, _, v, _ in found] == sorted(v for _, _, v, _ in found)


def test_plan_splits_the_wedges():
    """NumPy and JAX alike; every wedge is heavy or light; ``most_light`` and ``fill`` draw the line."""
    plan_on_device = jax.jit(functools.partial(codegree_plan, jnp))
    for n, edges in CASES.values():
        order = _order(n, edges)
        per_node = Counter(v for _, _, v, _ in _wedges(order))
        for most_light, fill in ((10, 0), (10**6, 8), (0, 0), (10**6, 0)):
            plan = codegree_plan(np, order, most_light, fill)
            heavy = [v for v in sorted(per_node) if per_node[v] * fill >= order.num_nodes or per_node[v] > most_light]
            assert int(plan.heavy_count) == len(heavy)
            assert plan.heavy_row[heavy].tolist() == list(range(len(heavy)))
            sizes = [per_node[v] for v in heavy]
            assert np.diff(plan.heavy_starts).tolist() == sizes + [0] * (order.node_capacity - len(heavy))
            light = [0 if v in heavy else per_node[v] for v in range(order.node_capacity)]
            assert np.diff(plan.light_starts).tolist() == light
            assert (int(plan.heavy.total), int(plan.light.total)) == (sum(sizes), sum(light))

            on_device = plan_on_device(order, np.int64(most_light), np.int64(fill))
            for a, b in zip(jax.tree.leaves(plan), jax.tree.leaves(on_device), strict=True):
                assert a.dtype == b.dtype
                np.testing.assert_array_equal(a, b)


def _counter(*, block, slots, rows, most_light):
    """Adds the cycles of two halves of the heavy and of the light nodes."""
    light = functools.partial(light_cycles, block=block, slots=slots, most_light=most_light)

    def count(order, plan, cycles):
        heavy = functools.partial(heavy_cycles, block=block, counters=rows * order.node_capacity)

        def half(number, cycles):
            def cut(last):
                return [last * x // 2 for x in (number, number + 1)]

            cycles = heavy(order, plan, cycles, cut(plan.heavy_count))
            return light(order, plan, cycles, cut(np.int32(order.node_capacity)))

        return jax.lax.fori_loop(0, 2, half, cycles)

    return count


def _assert_cycles(found, order, m):
    """By arc; whatever is left out went to a spare last entry, if to any."""
    found = np.asarray(found)[: order.edge_capacity]
    np.testing.assert_array_equal(found[:m], _cycles(order))
    assert not found[m:].any()


def test_cycles(form):
    """With both heavy and light nodes, several blocks and rows of each."""
    block = 4 * form.lanes
    count = form.jit(_counter(block=block, slots=4 * block, rows=3, most_light=40))
    for n, edges in CASES.values():
        order = _order(n, edges)
        plan = codegree_plan(np, order, 40, 0)
        _assert_cycles(count(order, plan, accumulator(order.edge_capacity, jnp.int64)), order, len(edges))
    assert min(int(plan.heavy_count), int(plan.light.total)) > 0


SIZES = {
    "all heavy, a row at a time": {"block": 32, "slots": 64, "rows": 1, "most_light": 0},
    "a node a step": {"block": 41, "slots": 64, "rows": 7, "most_light": 40},
    "two slots: many rounds": {"block": 64, "slots": 2, "rows": 2, "most_light": 50},
    "all light": {"block": 256, "slots": 512, "rows": 1, "most_light": 200},
}


@pytest.mark.parametrize(
    "sizes", [SIZES["two slots: many rounds"], *more(*(SIZES[name] for name in list(SIZES) if "two" not in name))]
)
def test_any_sizes_give_the_same(sizes):
    count = jit64(_counter(**sizes))
    for n, edges in CASES.values():
        order = _order(n, edges)
        plan = codegree_plan(np, order, sizes["most_light"], 0)
        _assert_cycles(count(order, plan, accumulator(order.edge_capacity, jnp.int64)), order, len(edges))


@pytest.mark.parametrize("block", [13, *more(64)])  # counters in parts that overlap; at once
def test_total_over_arcs(block):
    count = jit64(_counter(block=block, slots=4 * block, rows=5, most_light=block - 3))
    for n, edges in CASES.values():
        order = _order(n, edges)
        plan = codegree_plan(np, order, block - 3, 0)
        assert int(count(order, plan, jnp.zeros((), jnp.int64))) == _cycles(order).sum()
    parts = 5 * order.node_capacity / (4 * block)
    assert parts < 1 if block == 64 else 1 < parts != int(parts)


def test_lowers_for_cuda(lowered_for_cuda):
    order = _order(*DENSE)
    plan = codegree_plan(np, order, 300, 8)
    count = _counter(block=2048, slots=8192, rows=3, most_light=300)
    assert "triton" in lowered_for_cuda(count, order, plan, np.zeros((), np.int64))
