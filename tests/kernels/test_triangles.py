"""Triangles, each once at its lowest arc, against all triples; in XLA and in Pallas."""

from itertools import combinations, pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.graph._order import degree_order
from jaxmotif.kernels._expand import flat_work
from jaxmotif.kernels._triangles import triangle_block, triangle_tests
from tests.samples import DENSE, GRAPHS, build

CASES = {name: GRAPHS[name] for name in ("one edge", "star", "clique", "disconnected", "hub and blocks")}
CASES |= {name: graph for name, graph in GRAPHS.items() if name.endswith("of 20")}


pytestmark = pytest.mark.usefixtures("wide")


def _prepare(n, edges):
    order = degree_order(jax.tree.map(np.asarray, build(n, edges)))
    return order, flat_work(np, triangle_tests(np, order))


def _triangles(order):
    """Their arcs uv, uw, vw."""
    m = int(order.num_edges)
    arc = {(int(u), int(v)): e for e, (u, v) in enumerate(zip(order.tail[:m], order.head[:m], strict=True))}
    return sorted(
        (arc[u, v], arc[u, w], arc[v, w])
        for u, v, w in combinations(range(order.node_capacity), 3)
        if {(u, v), (u, w), (v, w)} <= arc.keys()
    )


@pytest.mark.parametrize("lanes", [1, 4], ids=["small blocks", "blocks of 4 programs"])
def test_every_triangle_once(form, lanes):
    block = lanes * form.lanes
    find = form.jit(triangle_block, block=block)
    for n, edges in CASES.values():
        order, work = _prepare(n, edges)
        found, total = [], int(work.total)
        cuts = [0, total // 3, total]  # ranges that end inside a block
        for low, high in pairwise(cuts):
            for first in range(low, high, block):
                tri = find(order, work, np.int64(first), np.int64(high))
                hit = np.asarray(tri.uv) < order.edge_capacity
                for arcs in tri:
                    assert arcs.dtype == jnp.int32
                    assert (np.asarray(arcs)[~hit] == order.edge_capacity).all()
                found += zip(*(np.asarray(arcs)[hit].tolist() for arcs in tri), strict=True)
        assert sorted(found) == _triangles(order)


def test_tests_are_the_shorter_of_two_lists():
    order, _ = _prepare(*DENSE)
    tests = triangle_tests(np, order)
    m = int(order.num_edges)
    for arc in range(m):
        after = np.sum(order.tail[arc + 1 : m] == order.tail[arc])
        assert tests[arc] == min(after, np.sum(order.tail[:m] == order.head[arc]))
    assert not tests[m:].any()
    np.testing.assert_array_equal(tests, triangle_tests(jnp, jax.tree.map(jnp.asarray, order)))


def test_lowers_for_cuda(lowered_for_cuda):
    order, work = _prepare(*DENSE)
    assert "triton" in lowered_for_cuda(triangle_block, order, work, np.int64(0), np.int64(5), block=2048)
