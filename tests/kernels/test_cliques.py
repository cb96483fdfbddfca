"""Bit rows and the 4-cliques they give, against adjacency and all quadruples; in XLA and in Pallas."""

import functools
import itertools
from collections import Counter
from itertools import combinations

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph._order import degree_order
from jaxmotif.kernels._cliques import (
    Matrices,
    common_bits,
    count_cliques,
    most_row_words,
    row_words,
    set_bits,
    words_bound,
)
from jaxmotif.kernels._expand import flat_work
from jaxmotif.kernels._scatter import accumulator
from jaxmotif.kernels._triangles import TriangleBlock, triangle_block, triangle_tests
from tests.samples import DENSE, GRAPHS, build

CASES = {name: GRAPHS[name] for name in ("star", "clique", "disconnected", "hub and blocks", "density 0.7 of 20")}
CASES["rows of two words"] = (50, [e for e in combinations(range(50), 2) if sum(e) % 7])
FEW_CLIQUES = 68, [*nx.complete_bipartite_graph(34, 34).edges, *combinations(range(63, 68), 2)]
"""A graph with rows of two words as well. Its larger cliques lie on both sides of the end of the first word."""

CAPACITY = (68, 2500)
WORDS, BLOCK = 4096, 1024


pytestmark = pytest.mark.usefixtures("wide")


def _order(n, edges):
    return degree_order(jax.tree.map(np.asarray, build(n, edges, CAPACITY)))


def _base(order):
    words = row_words(order)
    return (np.cumsum(words) - words).astype(np.int32)


@functools.cache
def _matrices(form):
    """The bit rows of all nodes, entered block by block, and the 4-cliques found by each triangle."""
    find = functools.partial(triangle_block, block=BLOCK)

    @form.jit
    def fill(order, work, base):
        def step(number, bits):
            tri = find(order, work, number.astype(jnp.int64) * BLOCK, work.total)
            return set_bits(order, Matrices(base), bits, tri)

        steps = (-(-work.total // BLOCK)).astype(jnp.int32)
        return jax.lax.fori_loop(jnp.int32(0), steps, step, accumulator(WORDS, jnp.uint32))

    @form.jit
    def collect(order, work, base, bits, first):
        tri = find(order, work, first, work.total)
        return tri, common_bits(order, Matrices(base), bits, tri)

    return fill, collect


def test_bit_rows_and_cliques(form):
    fill, collect = _matrices(form)
    for n, edges in CASES.values():
        order = _order(n, edges)
        m = int(order.num_edges)
        near = np.zeros((CAPACITY[0], CAPACITY[0]), bool)
        near[order.tail[:m], order.head[:m]] = True
        near |= near.T
        work = flat_work(np, triangle_tests(np, order))
        base = _base(order)
        bits = fill(order, work, base)
        words = np.asarray(bits)
        for u in range(CAPACITY[0]):
            heads = order.head[order.out_offsets[u] : order.out_offsets[u + 1]]
            width = (len(heads) + 31) // 32
            rows = words[base[u] : base[u] + len(heads) * width].view(np.uint8).reshape(len(heads), 4 * width)
            rows = np.unpackbits(rows, axis=1, bitorder="little")
            np.testing.assert_array_equal(rows[:, : len(heads)], near[np.ix_(heads, heads)])
            assert not rows[:, len(heads) :].any()
        assert not words[row_words(order).sum() : WORDS].any()

        cliques = 0
        for first in range(0, int(work.total), BLOCK):
            tri, found = collect(order, work, base, bits, np.int64(first))
            hit = np.asarray(tri.uv) < order.edge_capacity
            assert not np.asarray(found)[~hit].any()
            for uv, uw, count in zip(*(np.asarray(x)[hit] for x in (tri.uv, tri.uw, found)), strict=True):
                u, v, w = order.tail[uv], order.head[uv], order.head[uw]
                assert count == np.sum(near[u] & near[v] & near[w] & (np.arange(CAPACITY[0]) > u))
                cliques += int(count)
        assert cliques == 3 * _four_cliques(near)
    assert row_words(order).max() > 64  # the last case has rows of two words


def test_larger_cliques(form):
    """Cliques of four and six nodes, in blocks and ranges of lowest nodes, against networkx."""
    fill, _ = _matrices(form)

    @form.jit
    def count(order, base, bits, low, high):
        totals = [count_cliques(order, Matrices(base), bits, (low, high), nodes, BLOCK) for nodes in (4, 6)]
        return jnp.stack(totals)

    for n, edges in (CASES["hub and blocks"], FEW_CLIQUES):
        order = _order(n, edges)
        base, work = _base(order), flat_work(np, triangle_tests(np, order))
        bits = fill(order, work, base)
        ends = [0, CAPACITY[0] - 7, CAPACITY[0]]
        found = sum(np.asarray(count(order, base, bits, *map(np.int32, span))) for span in itertools.pairwise(ends))
        wanted = Counter(len(clique) for clique in nx.enumerate_all_cliques(nx.Graph(edges)))
        assert found.tolist() == [wanted[nodes] for nodes in (4, 6)]
        assert wanted[6] > 0
    assert row_words(order).max() > 64


def test_whole_rows(form):
    """Rows over all neighbours of a triangle's lowest node give the nodes next to all three."""

    @form.jit
    def count(order, work, matrices):
        def find(number):
            return triangle_block(order, work, number.astype(jnp.int64) * BLOCK, work.total, block=BLOCK)

        def fill(number, bits):
            return set_bits(order, matrices, bits, find(number))

        def collect(number, total):
            common = common_bits(order, matrices, bits, find(number))
            return total + jnp.stack([common.sum(), (common * common).sum()])

        steps = (-(-work.total // BLOCK)).astype(jnp.int32)
        bits = jax.lax.fori_loop(jnp.int32(0), steps, fill, accumulator(2 * WORDS, jnp.uint32))
        return jax.lax.fori_loop(jnp.int32(0), steps, collect, jnp.zeros(2, jnp.int64))

    for name in ("hub and blocks", "rows of two words"):
        n, edges = CASES[name]
        order = _order(n, edges)
        m = int(order.num_edges)
        near = np.zeros((CAPACITY[0], CAPACITY[0]), bool)
        near[order.tail[:m], order.head[:m]] = near[order.head[:m], order.tail[:m]] = True
        work = flat_work(np, triangle_tests(np, order))
        words = np.asarray(row_words(order, whole=True))
        lower = np.zeros(order.edge_capacity, np.int32)
        lower[order.in_arc] = np.arange(order.edge_capacity) - order.in_offsets[order.head[order.in_arc]]
        assert words.max() <= most_row_words(len(edges), whole=True)

        base = (np.cumsum(words) - words).astype(np.int32)
        sums = sum(count(order, work, Matrices(base, lower, span)) for span in ((0, 20), (20, CAPACITY[0])))
        nodes = range(CAPACITY[0])
        common = [
            int((near[u] & near[v] & near[w]).sum())
            for u, v, w in combinations(nodes, 3)
            if near[u, v] and near[u, w] and near[v, w]
        ]
        assert sums.tolist() == [sum(common), sum(x * x for x in common)]


def _four_cliques(near):
    common = [near[u] & near[v] for u, v in zip(*np.nonzero(near), strict=True)]
    return sum(near[np.ix_(x, x)].sum() for x in common) // 24


@pytest.mark.parametrize("n", [2, 9, 33, 65, 130])
def test_bounds_hold_for_cliques(n):
    """The largest bit matrices are those of cliques and of cliques with tails."""
    edges = list(combinations(range(n), 2))
    for extra in (0, 7):
        more = edges + [(x, n) for x in range(min(extra, n))]
        order = degree_order(jax.tree.map(np.asarray, build(n + 1, more, None)))
        words = row_words(order)
        assert words.max() <= most_row_words(len(more))
        assert words.sum() <= words_bound(len(more))


def test_words_of_numpy_and_jax():
    order = _order(*DENSE)
    np.testing.assert_array_equal(row_words(order), row_words(jax.tree.map(jnp.asarray, order)))


def test_lowers_for_cuda(lowered_for_cuda):
    order = _order(*DENSE)
    arcs = np.zeros(BLOCK, np.int32)
    args = order, Matrices(_base(order)), np.zeros(WORDS, np.uint32), TriangleBlock(arcs, arcs, arcs)
    assert "triton" in lowered_for_cuda(common_bits, *args)


def test_larger_cliques_lower_for_cuda(lowered_for_cuda):
    order, tails = _order(*DENSE), (np.int32(0), np.int32(9))
    args = order, Matrices(_base(order)), np.zeros(WORDS, np.uint32), tails
    assert "triton" in lowered_for_cuda(count_cliques, *args, nodes=6, block=BLOCK)
