"""The catalogue against brute force over permutations and over all small graphs."""

from itertools import combinations, permutations

import pytest

from jaxmotif.patterns import (
    EDGE_COLUMN_NAMES,
    EDGE_ORBITS,
    GRAPHLET_NAMES,
    GRAPHLETS,
    NODE_ORBIT_NAMES,
    NODE_ORBITS,
)
from tests.oracles import edge_orbits_of, node_orbits_of


def _reached(graphlet):
    seen, frontier = {0}, [0]
    while frontier:
        x = frontier.pop()
        new = {v for e in graphlet.edges if x in e for v in e} - seen
        seen |= new
        frontier += new
    return seen


@pytest.mark.parametrize("size", [2, 3, 4])
def test_every_graph_is_one_graphlet(size):
    pairs = list(combinations(range(size), 2))
    images = [
        {frozenset(frozenset((p[u], p[v])) for u, v in g.edges) for p in permutations(range(size))}
        for g in GRAPHLETS
        if g.num_nodes == size
    ]
    graphs = {frozenset(map(frozenset, c)) for k in range(len(pairs) + 1) for c in combinations(pairs, k)}
    assert sum(len(i) for i in images) == len(graphs)
    assert set().union(*images) == graphs


@pytest.mark.parametrize("graphlet", GRAPHLETS, ids=GRAPHLET_NAMES)
def test_orbits_are_those_of_the_automorphisms(graphlet):
    assert graphlet.connected == (_reached(graphlet) == set(range(graphlet.num_nodes)))
    if graphlet.connected:
        assert {frozenset(o.nodes) for o in NODE_ORBITS if o.graphlet == graphlet.name} == node_orbits_of(graphlet)
    if graphlet.num_nodes > 2:
        assert {frozenset(o.edges) for o in EDGE_ORBITS if o.graphlet == graphlet.name} == edge_orbits_of(graphlet)


def test_order_and_names():
    assert [o.index for o in NODE_ORBITS] == list(range(15))
    assert NODE_ORBIT_NAMES[2] == "orbit-2"
    assert [o.index for o in EDGE_ORBITS] == [*range(12), None, None, None, None, None]
    assert len(set(GRAPHLET_NAMES)) == 17
    assert len(set(EDGE_COLUMN_NAMES)) == 17
    assert all(u < v < g.num_nodes for g in GRAPHLETS for u, v in g.edges)
