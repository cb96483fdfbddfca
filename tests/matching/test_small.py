"""Small searches, done in NumPy: against all injective maps, and like those of a device."""

import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.language import parse
from jaxmotif.matching import FILTERS, Search, count_matches, count_queries, find_matches, has_match
from jaxmotif.matching import _host_search as _small
from jaxmotif.patterns import Pattern
from tests.matching.oracle import brute_force, random_graph
from tests.matching.test_rules import NODES, all_maps, case
from tests.more import more

pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture
def searches(monkeypatch):
    """What every small search finds, appended to a list; ``None`` where it is given up."""
    found = []

    class Watched(_small.HostSearch):
        def found(self, options):
            found.append(super().found(options))
            return found[-1]

    monkeypatch.setattr(_small.HostSearch, "between", Watched.between)
    return found


@pytest.mark.parametrize("first", [0, *more(100)])
@pytest.mark.parametrize("dense", [True, False])
def test_against_all_maps(searches, monkeypatch, dense, first):
    if not dense:
        monkeypatch.setattr(_small, "MOST_MARKS", 16)
    nonzero = 0
    for seed in range(first, first + 100):
        rng = np.random.default_rng(seed)
        directed, induced = rng.random(2) < 0.5
        labels = int(rng.integers(1, 5)), int(rng.integers(1, 3))
        n, k = int(rng.integers(1, 9)), int(rng.integers(1, 6))
        host, target = random_graph(rng, n, rng.choice([0.3, 0.6, 0.9]), directed, *labels)
        query, _ = random_graph(rng, k, rng.choice([0.2, 0.4, 0.7]), directed, *labels)
        wildcard = 0 if rng.random() < 0.3 else None
        allowed = rng.random((k, n)) < rng.choice([0.5, 0.8, 1.0])
        options = {"wildcard": wildcard, "domains": allowed}
        expected = brute_force(query, host, induced, wildcard, allowed)
        nonzero += bool(expected)
        how = Search(
            order="ri" if rng.random() < 0.5 else rng.permutation(k).tolist(), leaves=bool(rng.random() < 0.7),
            symmetry=bool(rng.random() < 0.7), filters=FILTERS if seed % 4 else FILTERS[:2],
        )  # fmt: skip
        found = count_matches(query, target, induced, search=how, **options)
        assert (found.count, found.exact, found.status) == (len(expected), True, "done"), seed
        listed = find_matches(query, target, induced, search=how, **options)
        assert sorted(map(tuple, listed.nodes.tolist())) == expected, seed
        ordered = [tuple(row[u] for u in listed.order) for row in listed.nodes.tolist()]
        assert ordered == sorted(ordered), seed
        assert has_match(query, target, induced, search=how, **options) == bool(expected), seed
    assert nonzero > 30
    assert None not in searches
    assert len(searches) > 100


@pytest.mark.parametrize("directed", [False, True])
def test_forbidden_edges_and_conditions(searches, directed):
    for seed in range(40):
        query, target, host, holds, number = case(seed, directed)
        induced = seed % 8 == 7
        expected = all_maps(query, host, holds, number, induced)
        assert count_matches(query, target, induced).count == len(expected), seed
        assert sorted(map(tuple, find_matches(query, target, induced).nodes.tolist())) == expected, seed
    assert None not in searches


@pytest.mark.parametrize("bits", [True, False])
def test_few_nodes_without_filters(monkeypatch, bits):
    """Rows of bits of several words or candidates one by one, of the best neighbour or each row's; all conditions."""
    monkeypatch.setattr(_small, "WORDS_A_CANDIDATE", 2**40 if bits else 0.001)
    monkeypatch.setattr(_small, "MIXED", 0.0 if bits else 1.0)
    monkeypatch.setattr(_small, "FEW", 2**10 if bits else 0)
    monkeypatch.setattr(_small.HostSearch, "between", None)  # none is given up
    nonzero = 0
    for seed in range(100, 160):
        query, small, host, holds, number = case(seed, directed=bool(seed % 2))
        induced = seed % 8 == 7
        expected = all_maps(query, host, holds, number, induced)
        ends = np.concatenate([small.edge_list(), [(69, 70)]])  # 71 nodes: the last are never in a match
        inside = query.allowed if query.allowed is not None else np.ones((query.num_nodes, NODES), bool)
        allowed = np.zeros((query.num_nodes, 71), bool)
        allowed[:, 60:69] = inside
        target = Graph.from_edges(ends + 60 * (ends < NODES), num_nodes=71, directed=small.directed)
        marks = None if query.edges is None else query.edges[:, : small.num_slots]
        if marks is not None:
            marks = np.pad(marks, ((0, 0), (0, target.slot_capacity - marks.shape[1])))
        ruled = replace(query, allowed=allowed, edges=marks)
        count = count_matches(ruled, target, induced).count
        nonzero += count > 0
        assert count == len(expected), seed
        listed = find_matches(ruled, target, induced)
        assert sorted(map(tuple, (listed.nodes - 60).tolist())) == expected, seed
        ordered = [tuple(row[u] for u in listed.order) for row in listed.nodes.tolist()]
        assert ordered == sorted(ordered), seed
    assert nonzero > 30


def test_what_one_query_asks_of_edges_is_not_kept_for_the_next():
    weights = np.arange(6)
    target = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], directed=True)
    target = target.with_attributes(edges={"weight": weights})
    for least in range(6):
        text = f"A -> B [weight >= {least}]; B -> C [weight >= {least}]"
        # Rows of the edge list are in the order of their sources, as given.
        assert count_matches(parse(text), target).count == sum(min(w, (w + 1) % 6) >= least for w in weights)


def test_leaves_that_compete_for_nodes(searches):
    """Closed forms of groups of leaves: in one product each, in partitions, of several neighbours, beyond 64 bits."""
    star = Graph.from_edges([(0, v) for v in range(1, 3001)])
    arms = [(0, v) for v in range(1, 7)]
    assert count_matches(Pattern.from_edges(arms), star).count == np.prod(np.arange(2995, 3001).astype(object))
    target = Graph.from_networkx(nx.gnp_random_graph(14, 0.5, seed=1))
    trees = [
        [(0, 1), (0, 2), (1, 3), (1, 4)], [(0, 1), (1, 2), (2, 3), (3, 4)], [(0, 1), (1, 2), (2, 0), (0, 3), (1, 4)],
        [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (0, 4)], [(0, 1), (1, 2), (0, 3), (2, 3), (1, 4), (3, 4)],
    ]  # fmt: skip
    for edges in trees:
        query = Pattern.from_edges(edges)
        found = count_matches(query, target)
        assert found.leaves
        assert found.count == count_matches(query, target, search=Search(leaves=False)).count
    assert None not in searches


@pytest.mark.parametrize("neighbours", [255, 256])
def test_hubs_with_more_labelled_neighbours_than_a_byte_counts(searches, neighbours):
    """Nodes are dropped by how many neighbours with a label they have."""
    target = Graph.from_edges([(0, v) for v in range(1, neighbours + 1)], node_labels=[1] + [2] * neighbours)
    star = Pattern.from_edges([(0, v) for v in range(1, 5)], node_labels=[1, 2, 2, 2, 2])
    assert count_matches(star, target).count == math.perm(neighbours, 4)
    assert None not in searches


def test_what_is_known_of_a_query_goes_by_its_content():
    """A pattern whose arrays are changed after a call is another query, and the old one stays what it was."""
    target = Graph.from_networkx(nx.karate_club_graph())
    changed, triangle = (Pattern.from_edges([(0, 1), (1, 2), (2, 0)]) for _ in range(2))
    assert count_matches(changed, target, per="occurrence").count == 45
    changed.adjacency[[0, 1], [1, 0]] = False
    assert count_matches(changed, target, per="occurrence").count == sum(d * (d - 1) // 2 for d in target.degrees)
    assert count_matches(triangle, target, per="occurrence").count == 45


def test_larger_ones_go_to_the_device(searches, monkeypatch):
    # Of five nodes, as queries of up to four are searched before they are planned.
    query = Pattern.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)])
    target = Graph.from_networkx(nx.complete_graph(8))
    everything = find_matches(query, target)
    assert everything.nodes.shape == (6720, 5)
    assert find_matches(query, target, limit=9).status == "stopped at limit=9"
    assert (find_matches(query, target, limit=9).nodes == everything.nodes[:9]).all()
    several = [one.count for one in count_queries([query, query], target)]
    assert len(searches) == 5
    for most in (0, 100, 500):
        monkeypatch.setattr("jaxmotif.matching._host_search.candidate_budget", lambda *_, most=most: most)
        assert [one.count for one in count_queries([query, query], target)] == several == [6720, 6720]
        assert (find_matches(query, target).nodes == everything.nodes).all()
    assert searches[-1] is None
    for search in (Search(block=64), Search(max_steps=10**6), Search(lookahead=True)):
        assert count_matches(query, target, search=search).count == 6720
    assert len(searches) == 5 + 9
    # Too many partial matches of one length, and too many candidates to come.
    budget = 5 * _small.A_LEVEL + 2500
    for limits in ({"MOST_ENTRIES": 100}, {"LOOK_AHEAD_FROM": 0, "MOST_BIT_NODES": 0}):
        with monkeypatch.context() as patch:
            patch.setattr("jaxmotif.matching._host_search.candidate_budget", lambda *_: budget)
            for name, limit in limits.items():
                patch.setattr(_small, name, limit)
            assert (find_matches(query, target).nodes == everything.nodes).all()
        assert searches[-1] is None


@pytest.mark.parametrize("directed", [False, True])
def test_parts_of_a_labelled_target(searches, directed):
    """Some nodes have one place from the start, others once these are placed; some have two, which both count."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        _, plain = random_graph(rng, 9, 0.5, directed, None, None)
        edges, labels = plain.edge_list(), rng.choice(5, 9, p=[0.1, 0.15, 0.25, 0.25, 0.25])
        target = Graph.from_edges(edges, 9, directed=directed, node_labels=labels)
        nodes = rng.permutation(9)[: int(rng.integers(3, 6))]
        place = {node: i for i, node in enumerate(nodes.tolist())}
        arcs = [(place[u], place[v]) for u, v in edges.tolist() if u in place and v in place]
        query = Pattern.from_edges(np.array(arcs, int).reshape(-1, 2), len(nodes), directed, labels[nodes])
        expected = brute_force(query, Pattern.from_graph(target), False)
        assert count_matches(query, target).count == len(expected) > 0, seed
        assert sorted(map(tuple, find_matches(query, target).nodes.tolist())) == expected, seed
