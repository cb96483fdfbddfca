"""The laws where numbers pass 2^32, 2^53 and 2^63: a hub whose neighbours hardly know each other."""

from math import comb, perm

import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.matching._participation import MOST_MATCHES
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._catalogue import CONNECTED
from tests.laws.graphs import copies_in

LEAVES = {2**32: 800, 2**53: 30_004, 2**63: 122_000}
"""Neighbours of a hub with so many stars of five nodes, and more: an odd number beyond 2^53."""
AMONG = [(1, 2), (2, 3), (4, 5), (6, 7), (7, 8), (8, 6)]
"""Edges between neighbours of the hub."""
FIVE = {g.name: g for g in CONNECTED}


def hub(leaves: int, joined: int | None = None, among: list[tuple[int, int]] = AMONG) -> Graph:
    """Return a hub, so many other nodes, of which it is joined to the first ones (all by default), and edges."""
    ends = np.arange(1, (leaves if joined is None else joined) + 1)
    spokes = np.stack([np.zeros_like(ends), ends], axis=1)
    return Graph.from_edges(np.concatenate([spokes, np.array(among, int).reshape(-1, 2)]), leaves + 1)


def exact_sum(column: np.ndarray) -> int:
    """Return the sum of fewer than 2^31 counts, by their upper and lower bits, which do not overflow."""
    if column.dtype == object:  # Python integers
        return int(column.sum())
    return (int((column >> 32).sum()) << 32) + int((column & 0xFFFFFFFF).sum())


def stars(graph: Graph, size: int = 4) -> int:
    return sum(comb(degree, size) for degree in graph.degrees.tolist())


@pytest.mark.parametrize("limit", LEAVES)
def test_graphlets_of_five_nodes(limit):
    """Node orbits sum to counts; an edge less takes what it held; and all subgraphs are a linear map of the induced."""
    leaves = LEAVES[limit]
    graph, less = hub(leaves), hub(leaves, leaves - 1)
    counts, nodes = jaxmotif.graphlet_counts(graph, size=5).counts, jaxmotif.node_orbits(graph, size=5)
    assert nodes.counts == counts
    assert counts["4-star"] > limit
    table = nodes.to_numpy()
    for g in CONNECTED:
        for orbit in set(g.node_orbits):
            assert exact_sum(table[:, orbit]) == g.node_orbits.count(orbit) * counts[g.name]
    fewer = jaxmotif.graphlet_counts(less, size=5).counts
    for g in CONNECTED:  # the last leaf is without edges now
        assert counts[g.name] == fewer[g.name] + sum(int(table[leaves, orbit]) for orbit in set(g.node_orbits))
    every = jaxmotif.graphlet_counts(graph, size=5, induced=False).counts
    shapes = {g.name: Pattern.from_edges(g.edges, 5).adjacency for g in CONNECTED if g.num_nodes == 5}
    for name, pattern in shapes.items():
        assert every[name] == sum(copies_in(pattern, host) * counts[x] for x, host in shapes.items())
    assert every["4-star"] == stars(graph)
    edges = jaxmotif.edge_graphlets(graph, size=5)
    assert edges.counts == counts
    table = edges.to_numpy()
    for g in CONNECTED[1:]:
        for orbit in set(g.edge_orbits):
            assert exact_sum(table[:, orbit]) == g.edge_orbits.count(orbit) * counts[g.name]


@pytest.mark.parametrize("limit", list(LEAVES)[:2])
def test_graphlets_and_matches_at_each_node(limit):
    """Two engines, one number at every node, for subgraphs that need not be induced."""
    graph, star = hub(LEAVES[limit]), FIVE["4-star"]
    orbits = jaxmotif.node_orbits(graph, size=5, induced=False).to_numpy()
    found = jaxmotif.participation_counts(Pattern.from_edges(star.edges, 5), graph, per="occurrence")
    np.testing.assert_array_equal(found, orbits[:, list(star.node_orbits)])


@pytest.mark.parametrize(("leaves", "size"), [(800, 4), (55_110, 4), (20_000, 7), (130_000, 4)])
def test_matches_of_stars(leaves, size):
    """Maps of stars by the degrees, far beyond 64 bits; and by nodes as long as they fit."""
    graph, star = hub(leaves), Pattern.from_edges([(0, i + 1) for i in range(size)], size + 1)
    maps = sum(perm(degree, size) for degree in graph.degrees.tolist())
    assert jaxmotif.count_matches(star, graph).count == maps
    assert jaxmotif.count_matches(star, graph, per="occurrence").count == stars(graph, size)


def test_counts_of_parts_end_with_63_bits():
    """MOST_MATCHES: one neighbour more passes it."""
    most = next(n for n in range(500, 600) if perm(n + 1, 7) > MOST_MATCHES)
    assert MOST_MATCHES == 2**63 - 1
    star = Pattern.from_edges([(0, i + 1) for i in range(7)], 8)
    found = jaxmotif.participation_counts(star, hub(most, among=[]))
    assert sorted({*map(int, found[0]), *map(int, found[1])}) == [0, perm(most, 7) // most, perm(most, 7)]
    with pytest.raises(ValueError, match="over the limit of 9223372036854775807"):
        jaxmotif.participation_counts(star, hub(most + 1, among=[]))
