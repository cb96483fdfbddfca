"""Many graphs at once: each as it is counted alone, in few compilations."""

from math import comb

import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.graph import Graphs, stack_graphs
from jaxmotif.graphlets import _many
from tests.compilations import compilations
from tests.more import more
from tests.oracles import brute_force, random_edges

SIZES = [(9, 0.3), (0, 0.0), (1, 0.0), (14, 0.9), (36, 0.05), (33, 0.5), (22, 0.1), (34, 0.1)]
EDGES = [np.asarray(random_edges(n, p, i), np.int64).reshape(-1, 2) for i, (n, p) in enumerate(SIZES)]
GRAPHS = Graphs.from_edges(EDGES, [n for n, _ in SIZES])
DOORS = (jaxmotif.graphlet_counts, jaxmotif.edge_graphlets, jaxmotif.node_orbits)


@pytest.fixture(scope="module")
def expected():
    found = [brute_force(n, [(int(u), int(v)) for u, v in edges]) for (n, _), edges in zip(SIZES, EDGES, strict=True)]
    return [(counts, np.stack(list(columns.values()), axis=1), orbits) for counts, columns, orbits in found]


# All ways that graphs go: stacked; joined (more than 12 nodes); alone (more than 34).
@pytest.mark.parametrize(
    ("limits", "count"),
    [
        *(((128, 2**15), count) for count in DOORS),
        ((12, 34), jaxmotif.edge_graphlets),
        *more(((12, 34), jaxmotif.graphlet_counts), ((12, 34), jaxmotif.node_orbits)),
    ],
)
def test_equals_brute_force(expected, limits, count, monkeypatch):
    monkeypatch.setattr(_many, "STACKED_NODES", limits[0])
    monkeypatch.setattr(_many, "JOINED_NODES", limits[1])
    found = count(GRAPHS)
    if count is jaxmotif.graphlet_counts:
        assert found.values.shape == (len(SIZES), 17)
    for i, (by_name, by_edge, by_node) in enumerate(expected):
        assert found[i].counts == by_name
        if count is jaxmotif.graphlet_counts:
            assert (found[i].nodes, found[i].edges) == (SIZES[i][0], len(EDGES[i]))
        elif count is jaxmotif.edge_graphlets:
            np.testing.assert_array_equal(found[i].edges, GRAPHS[i].edge_list())
            np.testing.assert_array_equal(found.rows(i), by_edge)
        else:
            np.testing.assert_array_equal(found[i], by_node)


def test_a_table_of_all_edges():
    edges = jaxmotif.edge_graphlets(GRAPHS)
    table = edges.table()
    assert [len(column) for column in table.values()] == [len(edges.values)] * 20
    last = table["graph"] == len(SIZES) - 1
    np.testing.assert_array_equal(np.stack([table["u"], table["v"]], 1)[last], GRAPHS[-1].edge_list())


def test_what_is_given_is_the_same():
    some = [Graph.from_edges(edges) for edges in EDGES[3:5]]
    found = [np.asarray(jaxmotif.graphlet_counts(x)) for x in (EDGES[3:5], some, tuple(some), stack_graphs(some))]
    for one in found:
        np.testing.assert_array_equal(one, found[0])


@pytest.mark.parametrize("largest", [60, *more(300)])
def test_few_compilations(largest):
    rng = np.random.default_rng(0)
    many = [rng.integers(0, n, (int(n * d), 2)) for n in (5, 12, 24, 40, 50, 120, largest) for d in (0.5, 1, 2, 8)]
    with compilations() as found:
        jaxmotif.graphlet_counts(many)
        jaxmotif.graphlet_counts([edges[::2] for edges in many])
    assert 0 < len(found) <= 8


def test_a_count_past_64_bits():
    found = jaxmotif.graphlet_counts(Graphs.from_edges([[(0, 1)], []], [2, 130_000]))
    assert found.values.dtype == object
    assert [one.counts["4-node-indep"] for one in found] == [0, comb(130_000, 4)]
    assert found.values[0].tolist() == [1, *[0] * 16]


def test_five_nodes():
    few = [EDGES[0], EDGES[1], EDGES[3]]
    found = jaxmotif.edge_graphlets(few, size=5)
    for i, edges in enumerate(few):
        # At the capacities of the union: with its programs.
        alone = jaxmotif.edge_graphlets(Graph.from_edges(edges, pad=(64, 1024)), size=5, memory=2**28)
        assert found[i].counts == alone.counts
        np.testing.assert_array_equal(np.asarray(found[i]), np.asarray(alone))
    nodes = jaxmotif.node_orbits(few, size=5)
    assert nodes.values.shape == (sum(graph.n for graph in Graphs.from_edges(few)), 73)
    assert [nodes[i].counts for i in range(3)] == [found[i].counts for i in range(3)]


@pytest.mark.parametrize("detail", ["node", *more("edge")])
def test_five_nodes_of_few_neighbours(detail):
    """Graphs counted from lists of neighbours among others: rings with chords, an empty one, one without nodes, K_9."""
    rng = np.random.default_rng(0)
    rings = [[(i, (i + 1) % n) for i in range(n)] + [(0, n // 2), (1, n - 2)] for n in (6, 9, 12)]
    whole = [(i, j) for j in range(9) for i in range(j)]
    few = [rings[0], [], EDGES[3], rings[1], whole, [(0, int(x)) for x in rng.integers(1, 9, 8)], rings[2]]
    sizes = [12, 3, None, 9, 9, 10, 12]
    graphs = [
        Graph.from_edges(np.array(edges, np.int64).reshape(-1, 2), n) for edges, n in zip(few, sizes, strict=True)
    ]
    count = {"node": jaxmotif.node_orbits, "edge": jaxmotif.edge_graphlets}[detail]
    found = count(graphs + graphs[:4] * 3, size=5, memory=2**21)  # in two unions
    for i, graph in enumerate(graphs + graphs[:4] * 3):
        alone = count(graph, size=5)
        assert found[i].counts == alone.counts
        np.testing.assert_array_equal(np.asarray(found[i]), np.asarray(alone))


def test_unions_of_unlike_numbers_of_graphs(monkeypatch):
    monkeypatch.setattr(_many, "STACKED_NODES", 12)
    rings = [[(i, (i + 1) % n) for i in range(n)] for n in range(20, 40)]
    whole = [(i, j) for j in range(200) for i in range(j)]
    found = jaxmotif.graphlet_counts([*rings, whole, whole], memory=2**25)  # twenty-one graphs, and one
    assert [found[i].counts["4-path"] for i in range(22)] == [*range(20, 40), 0, 0]
    assert [found[i].counts["4-clique"] for i in range(22)] == [0] * 20 + [comb(200, 4)] * 2


@pytest.mark.parametrize("memory", [1, 2**20])
def test_too_little_memory_for_graphs_that_are_joined(memory):
    path = [(i, i + 1) for i in range(129)]
    with pytest.raises(ValueError, match=f"memory={memory} bytes is too little for .*: allow at least"):
        jaxmotif.graphlet_counts([path, path], memory=memory)


def test_bad_input():
    with pytest.raises(ValueError, match="no checkpoint"):
        jaxmotif.graphlet_counts(GRAPHS, checkpoint="folder")
    with pytest.raises(ValueError, match="undirected"):
        jaxmotif.node_orbits(Graphs.from_edges(EDGES, directed=True))
    with pytest.raises(ValueError, match="size must be 4 or 5"):
        jaxmotif.edge_graphlets(GRAPHS, size=6)
    with pytest.raises(TypeError, match="typed must be True or False, got 'no'"):
        jaxmotif.graphlet_counts(GRAPHS, typed="no")
    for memory in (-1, 0, 1000):
        with pytest.raises(ValueError, match=f"memory={memory} bytes is too little for graphs that are counted"):
            jaxmotif.graphlet_counts(GRAPHS, memory=memory)
    with pytest.raises(TypeError, match="memory must be a number of bytes, such as"):
        jaxmotif.graphlet_counts(GRAPHS, memory="1G")
    with pytest.raises(IndexError, match="results of 8 graphs"):
        jaxmotif.graphlet_counts(GRAPHS)[8]
