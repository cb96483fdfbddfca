"""Many graphs at once: each as it is counted alone, in few compilations."""

import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.graph import Graphs, stack_graphs
from jaxmotif.graphlets import _many
from tests.compilations import compilations
from tests.oracles import brute_force, random_edges

SIZES = [(9, 0.3), (0, 0.0), (1, 0.0), (14, 0.9), (40, 0.1), (34, 0.9), (70, 0.02), (45, 0.5)]
EDGES = [np.asarray(random_edges(n, p, i), np.int64).reshape(-1, 2) for i, (n, p) in enumerate(SIZES)]
GRAPHS = Graphs.from_edges(EDGES, [n for n, _ in SIZES])
DOORS = (jaxmotif.graphlet_counts, jaxmotif.edge_graphlets, jaxmotif.node_orbits)


@pytest.fixture(scope="module")
def expected():
    return [brute_force(n, edges.tolist()) for (n, _), edges in zip(SIZES, EDGES, strict=True)]


# All ways that graphs go: stacked; joined (from 33 nodes on); alone (from 45 on).
@pytest.mark.parametrize("limits", [(128, 2**15), (32, 44)], ids=["stacked", "all ways"])
def test_equals_brute_force(expected, limits, monkeypatch):
    monkeypatch.setattr(_many, "STACKED_NODES", limits[0])
    monkeypatch.setattr(_many, "JOINED_NODES", limits[1])
    counts, edges, nodes = (door(GRAPHS) for door in DOORS)
    assert counts.values.shape == (len(SIZES), 17)
    for i, (by_name, by_edge, by_node) in enumerate(expected):
        assert counts[i].counts == edges[i].counts == nodes[i].counts == by_name
        assert (counts[i].nodes, counts[i].edges) == (SIZES[i][0], len(EDGES[i]))
        np.testing.assert_array_equal(edges[i].edges, GRAPHS[i].edge_list())
        np.testing.assert_array_equal(edges.rows(i), by_edge)
        np.testing.assert_array_equal(nodes[i], by_node)
    table = edges.table()
    assert [len(column) for column in table.values()] == [len(edges.values)] * 20
    last = table["graph"] == len(SIZES) - 1
    np.testing.assert_array_equal(np.stack([table["u"], table["v"]], 1)[last], GRAPHS[-1].edge_list())


def test_what_is_given_is_the_same():
    some = [Graph.from_edges(edges) for edges in EDGES[3:5]]
    found = [jaxmotif.graphlet_counts(x).values.tolist() for x in (EDGES[3:5], some, tuple(some), stack_graphs(some))]
    assert found[0] == found[1] == found[2] == found[3]


def test_few_compilations():
    rng = np.random.default_rng(0)
    many = [rng.integers(0, n, (int(n * d), 2)) for n in (5, 12, 24, 40, 90, 120, 300) for d in (0.5, 1, 2, 8)]
    with compilations() as found:
        result = jaxmotif.graphlet_counts(many)
        jaxmotif.graphlet_counts([edges[::2] for edges in many])
    assert 0 < len(found) <= 8
    assert result[-1].counts == jaxmotif.graphlet_counts(many[-1]).counts


def test_a_count_past_64_bits():
    star = np.stack([np.zeros(120_000, np.int64), np.arange(1, 120_001)], axis=1)
    found = jaxmotif.graphlet_counts([[(0, 1)], star])
    assert found.values.dtype == object
    assert found[1].counts["3-star"] == found.values[1, found.columns.index("3-star")]
    assert found[1].counts["3-star"] == 120_000 * 119_999 * 119_998 // 6


def test_five_nodes():
    few = [EDGES[0], EDGES[1], EDGES[3]]
    for door in DOORS:
        found = door(few, size=5)
        for i, edges in enumerate(few):
            alone = door(edges, size=5)
            assert found[i].counts == alone.counts
            np.testing.assert_array_equal(np.asarray(found[i]), np.asarray(alone))


def test_bad_input():
    with pytest.raises(ValueError, match="no schedule and no checkpoint"):
        jaxmotif.graphlet_counts(GRAPHS, checkpoint="folder")
    with pytest.raises(ValueError, match="undirected"):
        jaxmotif.node_orbits(Graphs.from_edges(EDGES, directed=True))
    with pytest.raises(ValueError, match="size must be 4 or 5"):
        jaxmotif.edge_graphlets(GRAPHS, size=6)
    with pytest.raises(IndexError, match="results of 8 graphs"):
        jaxmotif.graphlet_counts(GRAPHS)[8]
