"""Subgraphs that need not be induced, against all maps of each small graph into a graph."""

from functools import cache
from itertools import permutations

import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.graphlets import _count
from jaxmotif.patterns import EDGE_ORBITS, GRAPHLETS, NODE_ORBITS
from jaxmotif.patterns._catalogue import CONNECTED
from tests.oracles import DISCONNECTED_5, random_edges

NODES = 8
EDGES = random_edges(NODES, 0.6, 5)
GRAPH = Graph.from_edges(EDGES, NODES, pad=(16, 64))
SHAPES = {g.name: (g.num_nodes, g.edges) for g in GRAPHLETS} | {g.name: (g.num_nodes, g.edges) for g in CONNECTED}
SHAPES |= {name: (5, edges) for name, edges in DISCONNECTED_5.items()}


def roles(size):
    """Of every orbit of nodes, and of every orbit of edges, in the order of the columns: its graph and its members."""
    if size == 4:
        shapes = {g.name: (g.num_nodes, g.edges) for g in GRAPHLETS}
        nodes = {orbit.index: (shapes[orbit.graphlet], orbit.nodes) for orbit in NODE_ORBITS}
        edges = {column: (shapes[orbit.graphlet], orbit.edges) for column, orbit in enumerate(EDGE_ORBITS)}
    else:
        nodes, edges = {}, {}
        for g in CONNECTED:
            for orbit in set(g.node_orbits):
                nodes[orbit] = (g.num_nodes, g.edges), [x for x, o in enumerate(g.node_orbits) if o == orbit]
            for orbit in set(g.edge_orbits) if g.num_nodes > 2 else ():
                some = [e for e, o in zip(g.edges, g.edge_orbits, strict=True) if o == orbit]
                edges[orbit] = (g.num_nodes, g.edges), some
    return [[found[i] for i in range(len(found))] for found in (nodes, edges)]


def by_all_maps(n, edges, size):
    """Copies of small graphs: of each by name, of each role a column by node, of each role a column by edge."""
    near = np.zeros((n, n), bool)
    for u, v in edges:
        near[u, v] = near[v, u] = True
    place = {edge: i for i, edge in enumerate(edges)}

    @cache
    def maps(shape):
        """All injective maps that keep edges, a row each; and how many of them have the same image."""
        k, kept = shape
        found = np.array(list(permutations(range(n), k)), int).reshape(-1, k)
        for a, b in kept:
            found = found[near[found[:, a], found[:, b]]]
        pairs = {frozenset(e) for e in kept}
        return found, sum({frozenset((p[a], p[b])) for a, b in kept} == pairs for p in permutations(range(k)))

    def at_nodes(shape, nodes):
        found, same = maps(shape)
        return np.bincount(found[:, list(nodes)].ravel(), minlength=n) // same

    def at_edges(shape, some):
        found, same = maps(shape)
        ends = [place[tuple(sorted(pair))] for a, b in some for pair in found[:, [a, b]].tolist()]
        return np.bincount(np.array(ends, int), minlength=len(edges)) // same

    counts = {name: len(maps(shape)[0]) // maps(shape)[1] for name, shape in SHAPES.items()}
    nodes, pairs = roles(size)
    return (
        counts, np.stack([at_nodes(*role) for role in nodes], axis=1),
        np.stack([at_edges(*role) for role in pairs], axis=1),
    )  # fmt: skip


def check(found, n, edges, size):
    """What the three doors found, against all maps; how many numbers were compared."""
    counts, nodes, pairs = by_all_maps(n, edges, size)
    for one in found:
        assert one.counts == {name: counts[name] for name in one.counts}
    assert found[0].counts == found[1].counts == found[2].counts
    np.testing.assert_array_equal(found[1].to_numpy(), nodes)
    np.testing.assert_array_equal(found[2].to_numpy()[:, : pairs.shape[1]], pairs)
    return len(found[0].counts) + nodes.size + pairs.size


DOORS = (jaxmotif.graphlet_counts, jaxmotif.node_orbits, jaxmotif.edge_graphlets)


@pytest.mark.parametrize("size", [4, 5])
def test_of_a_graph_its_nodes_and_its_edges(size):
    found = [door(GRAPH, size=size, induced=False) for door in DOORS]
    check(found, NODES, EDGES, size)
    assert found[1].dtype == found[2].dtype == np.int64


@pytest.mark.parametrize("count", DOORS)
def test_of_many_graphs(count):
    many = count([EDGES, [(0, 1), (1, 2), (2, 0)]], induced=False)
    for found, edges in zip(many, (EDGES, [(0, 1), (1, 2), (2, 0)]), strict=True):
        alone = count(Graph.from_edges(edges, pad=(16, 64)), induced=False)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(alone))
        assert found.counts == alone.counts


def test_counts_that_may_pass_64_bits_are_python_integers():
    large, names = np.full((3, 15), 2**61), tuple("abcdefghijklmno")
    assert not np.asarray(_count._all_at("node", names, large, 0)).any()  # padding alone
    found = _count._all_at("node", names, large, 3)
    assert found.tolist() == (np.full((3, 15), 2**61, object) @ _count.copies("node", names).T.astype(object)).tolist()
    assert found.max() > 2**63
