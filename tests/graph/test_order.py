"""Degree order: the NumPy and the JAX form against each other and against its definition."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.graph import stack_graphs
from jaxmotif.graph._order import DegreeOrder, degree_order
from tests.samples import CAPACITY, DENSE, GRAPHS, build

CASES = GRAPHS | {"no nodes": (0, []), "no edges": (7, [])}


def _host(graph) -> DegreeOrder:
    return degree_order(jax.tree.map(np.asarray, graph))


def _assert_same(a: DegreeOrder, b: DegreeOrder):
    for field in dataclasses.fields(DegreeOrder):
        x, y = getattr(a, field.name), getattr(b, field.name)
        assert x.dtype == y.dtype == np.int32, field.name
        np.testing.assert_array_equal(x, y, err_msg=field.name)


@pytest.mark.parametrize("x64", [False, True], ids=["x64 off", "x64 on"])
def test_numpy_is_jax(x64):
    with jax.enable_x64(x64):
        on_device = jax.jit(degree_order)
        for n, edges in CASES.values():
            graph = build(n, edges)
            _assert_same(_host(graph), on_device(graph))


@pytest.mark.parametrize("pad", [None, (25, 401)], ids=["exact", "odd number of slots"])
def test_numpy_is_jax_at_other_sizes(pad):
    graph = build(*DENSE, pad=pad)
    _assert_same(_host(graph), jax.jit(degree_order)(graph))


def test_no_room_for_an_edge():
    graph = build(3, [], pad=None)
    order = jax.jit(degree_order)(graph)
    _assert_same(_host(graph), order)
    assert order.edge_capacity == 0
    assert order.node.tolist() == [0, 1, 2]
    assert order.out_offsets.tolist() == order.in_offsets.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("n", "edges"), CASES.values(), ids=CASES)
def test_is_what_it_says(n, edges):
    graph, m = build(n, edges), len(edges)
    order = _host(graph)
    N, M = CAPACITY[0], CAPACITY[1] // 2
    assert (order.node_capacity, order.edge_capacity) == (N, M)
    assert (int(order.num_nodes), int(order.num_edges)) == (n, m)

    degree = np.zeros(N, int)
    np.add.at(degree, np.array(edges, int).reshape(-1), 1)
    by_rank = sorted(range(N), key=lambda x: (degree[x], x))
    assert order.node.tolist() == by_rank
    assert order.degree.tolist() == degree[by_rank].tolist()

    rank = {node: r for r, node in enumerate(by_rank)}
    arcs = sorted(tuple(sorted((rank[u], rank[v]))) for u, v in edges)
    assert list(zip(order.tail[:m].tolist(), order.head[:m].tolist(), strict=True)) == arcs
    assert (order.tail[m:] == N - 1).all()
    assert (order.head[m:] == N - 1).all()
    assert sorted(order.edge.tolist()) == list(range(M))
    ends = np.sort(np.stack([order.node[order.tail], order.node[order.head]], axis=-1)[:m], axis=-1)
    np.testing.assert_array_equal(graph.edge_list()[order.edge[:m]], ends)

    out_degree, in_degree = np.diff(order.out_offsets), np.diff(order.in_offsets)
    assert out_degree.tolist() == [sum(u == r for u, _ in arcs) for r in range(N)]
    assert in_degree.tolist() == [sum(v == r for _, v in arcs) for r in range(N)]
    assert out_degree.max() <= (2 * m) ** 0.5
    assert order.in_arc[:m].tolist() == sorted(range(m), key=lambda e: arcs[e][::-1])

    for r in range(N):
        first = order.in_offsets[r] + order.out_offsets[r]
        row = order.row_arc[first : first + order.degree[r]].tolist()
        assert all(r in arcs[e] for e in row)
        near = [sum(arcs[e]) - r for e in row]
        assert near == sorted({v for arc in arcs if r in arc for v in arc} - {r})
        assert near == order.row_end[first : first + order.degree[r]].tolist()
    assert not order.row_arc[2 * m :].any()


def test_directed_graphs_are_refused():
    with pytest.raises(ValueError, match="undirected graph, got a directed one; build it with directed=False"):
        degree_order(Graph.from_edges([(0, 1)], directed=True))


def test_a_batch_is_refused_where_it_is_traced():
    graph = Graph.from_edges([(0, 1)])
    with pytest.raises(ValueError, match=r"out_offsets must have rank 1, got shape \(2, 17\)"):
        degree_order(stack_graphs([graph, graph]))
