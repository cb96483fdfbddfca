"""Subgraphs that need not be induced, against all maps of each small graph into a graph."""

from itertools import permutations

import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.graphlets import _count
from jaxmotif.patterns import EDGE_ORBITS, GRAPHLETS, NODE_ORBITS
from jaxmotif.patterns._orbits import CONNECTED
from jaxmotif.patterns._totals import DISCONNECTED_5
from tests.oracles import random_edges

NODES = 8
EDGES = random_edges(NODES, 0.6, 5)
GRAPH = Graph.from_edges(EDGES, NODES, pad=(16, 64))
SHAPES = {g.name: (g.num_nodes, g.edges) for g in GRAPHLETS} | {g.name: (g.size, g.edges) for g in CONNECTED}
SHAPES |= {name: (5, edges) for name, edges in DISCONNECTED_5.items()}


def maps(size, edges):
    """All injective maps that keep edges, a row each; and how many of them have the same image."""
    near = np.zeros((NODES, NODES), bool)
    near[tuple(np.array(EDGES).T)] = True
    near |= near.T
    found = np.array(list(permutations(range(NODES), size)))
    for a, b in edges:
        found = found[near[found[:, a], found[:, b]]]
    pairs = {frozenset(e) for e in edges}
    same = sum({frozenset((p[a], p[b])) for a, b in edges} == pairs for p in permutations(range(size)))
    return found, same


def at_nodes(shape, nodes):
    """At each node: the copies of a graph in which it is one of some nodes."""
    found, same = maps(*shape)
    return np.bincount(found[:, nodes].ravel(), minlength=NODES) // same


def at_edges(shape, edges):
    found, same = maps(*shape)
    place = {edge: i for i, edge in enumerate(EDGES)}
    ends = [tuple(sorted(pair)) for a, b in edges for pair in found[:, [a, b]].tolist()]
    return np.bincount([place[e] for e in ends], minlength=len(EDGES)) // same


@pytest.fixture(scope="module")
def expected():
    return {name: len(maps(*shape)[0]) // maps(*shape)[1] for name, shape in SHAPES.items()}


@pytest.mark.parametrize("size", [4, 5])
def test_of_a_graph_its_nodes_and_its_edges(size, expected):
    counts = jaxmotif.graphlet_counts(GRAPH, size=size, induced=False).counts
    assert counts == {name: expected[name] for name in counts}
    nodes = jaxmotif.node_orbits(GRAPH, size=size, induced=False)
    edges = jaxmotif.edge_graphlets(GRAPH, size=size, induced=False)
    assert nodes.counts == edges.counts == counts
    assert nodes.dtype == edges.dtype == np.uint32
    if size == 4:
        shapes = {g.name: (g.num_nodes, g.edges) for g in GRAPHLETS}
        for orbit in NODE_ORBITS:
            assert (
                nodes.to_numpy()[:, orbit.index].tolist()
                == at_nodes(shapes[orbit.graphlet], list(orbit.nodes)).tolist()
            )
        for column, orbit in enumerate(EDGE_ORBITS):
            assert edges.to_numpy()[:, column].tolist() == at_edges(shapes[orbit.graphlet], orbit.edges).tolist()
        return
    for g in CONNECTED:
        for orbit in set(g.node_orbits):
            chosen = [x for x, o in enumerate(g.node_orbits) if o == orbit]
            assert nodes.to_numpy()[:, orbit].tolist() == at_nodes((g.size, g.edges), chosen).tolist()
        for orbit in set(g.edge_orbits) if g.size > 2 else ():
            chosen = [e for e, o in zip(g.edges, g.edge_orbits, strict=True) if o == orbit]
            assert edges.to_numpy()[:, orbit].tolist() == at_edges((g.size, g.edges), chosen).tolist()


@pytest.mark.parametrize("count", [jaxmotif.graphlet_counts, jaxmotif.node_orbits, jaxmotif.edge_graphlets])
def test_of_many_graphs(count):
    many = count([EDGES, [(0, 1), (1, 2), (2, 0)]], induced=False)
    for found, edges in zip(many, (EDGES, [(0, 1), (1, 2), (2, 0)]), strict=True):
        alone = count(Graph.from_edges(edges, pad=(16, 64)), induced=False)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(alone))
        assert found.counts == alone.counts


def test_counts_that_may_pass_64_bits_are_refused():
    large = np.full((3, 15), 2**61)
    assert not np.asarray(_count._all_at("node", tuple("abcdefghijklmno"), large, 0)).any()  # padding alone
    with pytest.raises(OverflowError, match="induced=True"):
        _count._all_at("node", tuple("abcdefghijklmno"), large, 3)
