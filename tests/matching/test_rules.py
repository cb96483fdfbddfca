"""Forbidden edges and conditions on edges in the engine, against all injective maps tested one condition at a time."""

from dataclasses import replace

import numpy as np
import pytest

from jaxmotif.matching import Search, count_matches, find_matches, participation_counts
from jaxmotif.matching import _sizes as sizes
from jaxmotif.matching.planner import _plan as planning
from jaxmotif.patterns import automorphisms
from jaxmotif.patterns._ruled import RuledPattern, shape_of
from tests.matching.oracle import _injections, random_graph
from tests.more import more

NODES = 9


@pytest.fixture
def home(request, monkeypatch):
    """Where a target is planned; or on the host, without room for bit matrices."""
    if request.param == "lists":
        monkeypatch.setattr(sizes, "MOST_MATRIX_WORDS", 0)
    if request.param == "device":
        monkeypatch.setattr(planning, "host_work", lambda device: 0)
    return request.param


def case(seed, directed):
    """A query with rules, and the graph and host pattern of its target, in which each slot has some marks."""
    rng = np.random.default_rng(seed)
    host, target = random_graph(rng, NODES, 0.5, directed, None, None)
    k, conditions = int(rng.integers(2, 5)), int(rng.choice([0, 3, 40]))
    shape, _ = random_graph(rng, k, 0.5, directed, None, None)
    forbidden = ~shape.adjacency & (rng.random((k, k)) < 0.5) & ~np.eye(k, dtype=bool)
    condition = rng.integers(-1, conditions, (k, k)) if conditions else np.full((k, k), -1)
    slots = target.slot_capacity
    holds = rng.random((max(conditions, 1), slots)) < 0.6
    number = np.zeros((NODES, NODES), np.int64)
    number[np.nonzero(host.adjacency)] = np.arange(host.adjacency.sum())
    if not directed:  # a condition on an edge is one on its slot from u to v, and one that says the same from v to u
        forbidden &= forbidden.T
        back = np.arange(slots)
        back[number[host.adjacency]] = number.T[host.adjacency]
        paired = len(holds) > 3
        if paired:
            holds[1::2] = holds[::2][:, back]
        else:
            holds &= holds[:, back]
        upper = np.triu(condition, 1)
        condition = upper + np.where(upper < 0, upper, upper ^ paired).T * np.tri(k, k=-1, dtype=np.int64)
    words = np.zeros((2, slots), np.uint32)
    for c, row in enumerate(holds):
        words[c // 32] |= row.astype(np.uint32) << np.uint32(c % 32)
    allowed = None if seed % 3 else rng.random((k, NODES)) < 0.8
    classes = np.arange(k) if allowed is not None else None
    query = RuledPattern(
        shape.adjacency, None, None, directed, forbidden, condition, words if conditions else None, allowed, classes
    )
    return query, target, host, holds, number


def all_maps(query, host, holds, number, induced):
    maps = _injections(NODES, query.num_nodes)
    fits = np.ones(len(maps), bool)
    for u in range(query.num_nodes):
        if query.allowed is not None:
            fits &= query.allowed[u, maps[:, u]]
        for x in range(query.num_nodes):
            ends = maps[:, u], maps[:, x]
            there = host.adjacency[ends]
            matching = there & ((query.condition[u, x] < 0) | holds[query.condition[u, x], number[ends]])
            if query.adjacency[u, x]:
                fits &= matching
            elif u != x and induced:
                fits &= ~there
            elif query.forbidden[u, x]:
                fits &= ~matching
    return sorted(map(tuple, maps[fits].tolist()))


@pytest.mark.parametrize(
    ("home", "directed"),
    [("host", True), *more(("lists", True), ("host", False), ("device", True), ("device", False), ("lists", False))],
    indirect=["home"],
)
def test_against_all_injective_maps(home, directed):
    found = 0
    for seed in {"host": range(24), "device": (4, 5, 8), "lists": range(8)}[home]:
        query, target, *host = case(seed, directed)
        induced = seed % 8 == 7
        expected = all_maps(query, *host, induced)
        found += len(expected) > 0
        assert count_matches(query, target, induced).count == len(expected), seed
        if home != "host":  # the rest is the same once the lists are made
            continue
        looking = Search(lookahead=True, block=64)
        assert count_matches(query, target, induced, search=looking).count == len(expected), seed
        if seed % 2:
            rows = find_matches(query, target, induced).nodes
            assert sorted(map(tuple, rows.tolist())) == expected, seed
            even = replace(query, passes=lambda maps: maps[:, 0] % 2 == 0, keeps=lambda images: images[:, 0] == 0)
            for some in (query, even):
                counts = participation_counts(some, target, induced)
                maps = np.array([image for image in expected if some is query or image[0] % 2 == 0], int)
                sums = [np.bincount(images, minlength=NODES).tolist() for images in maps.reshape(-1, query.num_nodes).T]
                assert counts.T.tolist() == sums, seed
        if not induced:
            group = automorphisms(shape_of(query))
            least = {min(tuple(np.array(row)[image].tolist()) for image in group) for row in expected}
            assert count_matches(query, target, per="occurrence").count == len(least), seed
            assert len(find_matches(query, target, per="occurrence")) == len(least), seed
    assert found > {"host": 12, "device": 1, "lists": 4}[home]
