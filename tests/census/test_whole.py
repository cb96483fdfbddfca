"""The census in one program: the counts of the step by step engines, and nothing where it has no room."""

import dataclasses
from itertools import combinations

import jax
import numpy as np
import pytest

from jaxmotif.census import _enumerate
from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import count_classes, search
from jaxmotif.census._host import HostEngine
from jaxmotif.census._pair_states import Alphabet, census_graphs, graph_edges
from jaxmotif.census._sizes import ACCELERATOR_SIZES, CPU_SIZES
from jaxmotif.census._whole import Limits, count_whole
from jaxmotif.graph import Graph
from jaxmotif.patterns._canonical import canonical_string
from jaxmotif.patterns._pattern import Pattern
from tests.census.test_count import brute_force, random_graph
from tests.more import more

CPU = jax.devices("cpu")[0]
SMALL = Limits(rows=1 << 12, visits=1 << 13, distinct=1 << 11, forms=1 << 11)


def whole(graph, size, limits=SMALL, count=1, matrix_bytes=1 << 20, sizes=ACCELERATOR_SIZES, **expected):
    """The classes that occur, with their counts; ``None`` where nothing was counted."""
    classifier = Classifier(Alphabet.of(graph), size)
    ready = census_graphs(graph, graph_edges(graph), matrix_bytes, CPU, count)
    ready = dataclasses.replace(ready, **expected)
    counts = count_whole(ready, size, classifier, sizes, limits)
    if counts is None:
        return None
    assert counts.shape == (1, len(classifier))
    return {name: n for name, n in zip(classifier.classes, counts[0].tolist(), strict=True) if n}


@pytest.mark.parametrize(
    ("size", "directed", "labels", "edge_labels", "matrix_bytes"),
    [
        (3, True, 2, 0, 0),
        (4, True, 0, 0, 1 << 20),
        (5, False, 3, 2, 0),  # codes of two words
        *more((3, False, 0, 0, 1 << 20), (5, True, 0, 0, 0), (6, True, 0, 0, 1 << 20), (7, False, 0, 0, 0)),
    ],
)
def test_against_brute_force(size, directed, labels, edge_labels, matrix_bytes):
    for seed in range(3):
        graph = random_graph(10, 0.25 if directed else 0.4, seed, directed, labels, edge_labels)
        assert whole(graph, size, matrix_bytes=matrix_bytes) == brute_force(graph, size)


@pytest.mark.parametrize("edges", [[], [(0, 1)], [(0, 1), (1, 2)]])
def test_graphs_with_few_or_none(edges):
    graph = Graph.from_edges(np.array(edges, np.int64).reshape(-1, 2), 4, directed=True)
    assert whole(graph, 3) == brute_force(graph, 3)
    assert whole(graph, 4) == {}


class Measured(HostEngine):
    """An engine that notes how much its one step has."""

    def find_candidates(self, rows, walks, first, count, block):
        batch = super().find_candidates(rows, walks, first, count, block)
        self.seen = count, int(np.asarray(walks.work.total)), batch.pairs, batch.visits
        return batch


def needed(graph, size):
    """The least limits, as the engine of a CPU measures them."""
    ready = census_graphs(graph, graph_edges(graph), 1 << 20, CPU)
    classifier = Classifier(Alphabet.of(graph), size)
    engine = Measured(ready, size, classifier, CPU_SIZES)
    search(ready, size - 2, CPU_SIZES, engine.add_extensions)
    pairs, visits = (codes.size for codes, _ in engine._parts)
    engine.counts()
    assert len({*engine.seen, pairs, visits}) == 6
    return Limits(max(engine.seen[:3]), engine.seen[3], max(pairs, visits), classifier.known[0].size)


@pytest.mark.parametrize("size", [3, *more(4)])
def test_limits_at_their_edge(size):
    """With one less of anything than is needed, nothing is counted."""
    graph = random_graph(24, 0.15, 5, True)
    least = needed(graph, size)
    # No subgraphs are expected, so that the limits decide.
    assert whole(graph, size, least, alike=0) == brute_force(graph, size)
    for name, limit in least._asdict().items():
        assert whole(graph, size, least._replace(**{name: limit - 1}), alike=0) is None, name


def test_what_is_not_tried():
    graph = random_graph(24, 0.1, 5, True)
    assert whole(graph, 3)
    assert whole(graph, 3, count=2) is None  # several graphs
    assert whole(graph, 3, SMALL._replace(visits=64)) is None  # more subgraphs are expected
    # Twice as many positions of walks as edges are expected: as many as there are rows, and two more.
    assert SMALL.rows == 4096
    assert whole(graph, 3, alike=2048.5 / graph.m) == brute_force(graph, 3)
    assert whole(graph, 3, alike=2049.5 / graph.m) is None
    for name, least in (("table", SMALL.rows), ("candidates", SMALL.rows), ("codes", SMALL.visits)):
        assert whole(graph, 3, sizes=dataclasses.replace(ACCELERATOR_SIZES, **{name: least}))
        assert whole(graph, 3, sizes=dataclasses.replace(ACCELERATOR_SIZES, **{name: least - 1})) is None


def test_nodes_have_room_as_rows():
    """Forty nodes, of which four are a path, where fewer rows would do for its walks; and one node more."""
    path, limits = [(0, 1), (1, 2), (2, 3)], SMALL._replace(rows=40)
    wanted = brute_force(Graph.from_edges(path, directed=True), 4)
    assert whole(Graph.from_edges(path, 40, directed=True), 4, limits) == wanted
    assert whole(Graph.from_edges(path, 41, directed=True), 4, limits) is None


def test_pairs_of_patterns_have_room():
    """The leaves of a star differ by their labels, so that each pair of them is of its own; a path is one pair more."""
    star, limits = [(0, leaf) for leaf in range(1, 21)], SMALL._replace(rows=190)
    graph = Graph.from_edges(star, node_labels=range(24), num_nodes=24)
    assert whole(graph, 3, limits) == brute_force(graph, 3)
    graph = Graph.from_edges([*star, (21, 22), (21, 23)], node_labels=range(24))
    assert whole(graph, 3, limits, alike=0) is None


def test_tables_before_the_last_have_room():
    """Twelve cliques of four nodes fill the tables of pairs and triples, and none of them is part of a larger subgraph.

    A path, which comes after them, is.
    """
    cliques = [(4 * i + u, 4 * i + v) for i in range(12) for u, v in combinations(range(4), 2)]
    path = [(u, u + 1) for u in range(48, 53)]
    graph = Graph.from_edges(cliques + path)
    wanted = {canonical_string(Pattern.from_edges([(i, i + 1) for i in range(5)])): 1}
    assert whole(graph, 6) == wanted
    assert whole(graph, 6, SMALL._replace(rows=60)) is None


def test_a_search_goes_on_where_there_is_no_room(monkeypatch):
    graph = random_graph(24, 0.15, 5, True)
    tried = []

    def counted(*args):
        tried.append(count_whole(dataclasses.replace(args[0], alike=0), *args[1:], SMALL._replace(visits=64)))
        return tried[-1]

    monkeypatch.setattr(_enumerate, "count_whole", counted)
    ready = census_graphs(graph, graph_edges(graph), 1 << 20, CPU)
    sizes = dataclasses.replace(ACCELERATOR_SIZES, least=1 << 12)
    classifier = Classifier(Alphabet.of(graph), 3)
    counts = count_classes(ready, 3, classifier, sizes)[0]
    assert dict(zip(classifier.classes, counts.tolist(), strict=True)) == brute_force(graph, 3)
    assert tried == [None]
