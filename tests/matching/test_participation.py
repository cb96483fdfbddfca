"""How often nodes and edges take each part, against all matches by backtracking."""

import math
import re

import jax
import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching import Search, count_matches, iter_matches, participation_counts
from jaxmotif.matching import _participation as participation
from jaxmotif.patterns import Pattern, automorphisms
from tests.matching.oracle import brute_force
from tests.matching.test_count import BLOCK, cases
from tests.more import more


def parts(query):
    arcs = query.adjacency if query.directed else np.triu(query.adjacency)
    return [tuple(pair) for pair in np.argwhere(arcs).tolist()]


def expected_counts(query, target, maps, of):
    """Of each part, one more for each map in which a node, or edge, takes it."""
    if of == "node":
        counts = np.zeros((target.n, query.num_nodes), int)
        for image in maps:
            counts[image, range(query.num_nodes)] += 1
        return counts
    edges = {tuple(edge): row for row, edge in enumerate(target.edge_list().tolist())}
    if not query.directed:
        edges |= {(v, u): row for (u, v), row in edges.items()}
    counts = np.zeros((len(target.edge_list()), len(parts(query))), int)
    for image in maps:
        for column, (a, b) in enumerate(parts(query)):
            counts[edges[image[a], image[b]], column] += 1
    return counts


def expected_occurrences(query, target, maps, of):
    """The same of occurrences, each all maps that automorphisms exchange: a part is taken if it is in any of them."""
    group = automorphisms(query)
    counts = np.zeros_like(expected_counts(query, target, [], of))
    for image in {min(tuple(np.array(image)[p].tolist()) for p in group) for image in maps}:
        exchanged = [tuple(np.array(image)[p].tolist()) for p in group]
        counts += np.any([expected_counts(query, target, [one], of) for one in exchanged], axis=0)
    return counts


def check(directed, seed, count, **labels):
    nonzero = 0
    for rng, query, host, target in cases(seed, count, directed, **labels):
        induced, wildcard = bool(rng.random() < 0.4), (0 if rng.random() < 0.3 else None)
        allowed = rng.random((query.num_nodes, host.num_nodes)) < 0.8 if rng.random() < 0.3 else None
        maps = brute_force(query, host, induced, wildcard, allowed)
        nonzero += bool(maps)
        how = Search(block=BLOCK, symmetry=bool(rng.random() < 0.7), leaves=bool(rng.random() < 0.8))
        for of in ("node", "edge"):
            options = {"of": of, "wildcard": wildcard, "search": how}
            found = participation_counts(query, target, induced, domains=allowed, **options)
            assert found.dtype == np.int64
            assert found.tolist() == expected_counts(query, target, maps, of).tolist()
            if allowed is None and len(maps) < 1000:
                found = participation_counts(query, target, induced, per="occurrence", **options)
                assert found.tolist() == expected_occurrences(query, target, maps, of).tolist()
    return nonzero


@pytest.fixture(params=[False, True], ids=["visited", "closed"])
def closed(request, monkeypatch):
    """Leaves are counted in closed form: never, or however few candidates they have."""
    monkeypatch.setattr(participation, "pays_to_close_leaves", lambda counted, searches: request.param)
    return request.param


@pytest.mark.parametrize(
    ("closed", "directed"), [(False, False), (True, True), *more((False, True), (True, False))], indirect=["closed"]
)
def test_against_backtracking(directed, closed):
    assert check(directed, 20 + directed + 2 * closed, 40) > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_five_hundred_cases(seed, closed):
    labels = {"node_labels": None, "edge_labels": None} if seed % 3 == 0 else {}
    assert check(bool(seed & 2), 100 + seed, 50, **labels) > 10


TREE = [(0, 1), (1, 2), (2, 3), (2, 4), (1, 5), (0, 6)]


@pytest.fixture(scope="module")
def listed():
    """All matches of a tree in a graph of 32 nodes."""
    target = Graph.from_networkx(nx.gnp_random_graph(32, 0.12, seed=3), pad=(64, 512))
    query = Pattern.from_edges(TREE)
    matches = np.concatenate(list(iter_matches(query, target)))
    assert count_matches(query, target).count == len(matches)
    return query, target, matches


@pytest.mark.parametrize(
    ("device", "closed"), [(False, True), *more((False, False), (True, False), (True, True))], indirect=["closed"]
)
def test_leaves_on_any_devices(device, listed, closed, monkeypatch):
    """Planned on the device, or on the host and searched on one device or two."""
    if device:
        monkeypatch.setattr("jaxmotif.matching.planner._plan.host_work", lambda device: 0)
    query, target, matches = listed
    count = len(matches)
    by_node = [np.bincount(column, minlength=32) for column in matches.T]
    for number in (1,) if device else (1, 2):
        options = {"devices": jax.devices()[:number], "search": Search(block=BLOCK)}
        nodes = participation_counts(query, target, **options)
        assert nodes.T.tolist() == [column.tolist() for column in by_node]
        edges = participation_counts(query, target, of="edge", **options)
        assert (edges.sum(axis=0) == count).all()
        ends = np.zeros((32, len(TREE)), int)
        for side in target.edge_list().T:
            np.add.at(ends, side, edges)
        both = [nodes[:, a] + nodes[:, b] for a, b in sorted(map(sorted, TREE))]
        assert ends.T.tolist() == [column.tolist() for column in both]


def test_many_matches_are_not_listed():
    star = Pattern.from_edges([(0, v) for v in range(1, 9)])
    target, larger = (Graph.from_networkx(nx.star_graph(leaves), pad=(2048, 4096)) for leaves in (200, 250))
    found = participation_counts(star, target)
    assert found[0].tolist() == [math.perm(200, 8), *[0] * 8]
    assert (found[1:] == [0, *[math.perm(199, 7)] * 8]).all()
    with pytest.raises(ValueError, match=re.escape(f"{math.perm(250, 8)} matches are over the limit of {2**63 - 1}")):
        participation_counts(star, larger)


def test_mistakes():
    target = Graph.from_edges([(0, 1)])
    for options, message in (
        ({"of": "edges"}, "of must be 'node' or 'edge', got 'edges'"),
        ({"per": "occurrence", "domains": {0: [0]}}, "use per='map'"),
        ({"search": Search(max_steps=3)}, "max_steps=3 leaves matches out"),
        ({"search": Search(engine="equations"), "domains": {0: [0]}}, "engine='equations' cannot count this query"),
        ({"search": Search(engine="equations"), "of": "edge"}, "they count at each edge for queries of 3 to 5 nodes"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            participation_counts(target, target, **options)
