"""Sets of candidates whose sizes lie at the ends of words: a bit row counts from 1, so 32 nodes take two words."""

import jax
import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching import Search, count_matches, dense_match_count, find_matches
from jaxmotif.patterns import Pattern
from tests.more import more

PAD = (1032, 8192)


@pytest.fixture(params=["host", "device"])
def home(request, monkeypatch):
    """Planned in NumPy or on the device."""
    if request.param == "device":
        monkeypatch.setattr("jaxmotif.matching.planner._plan.host_work", lambda device: 0)
    return request.param


def two_hubs(size):
    """Two hubs of labels 0 and 1, joined, and nodes of label 2: all next to the first hub, most to the second one, so
    that the last node is a candidate of both; and which of them are next to the second."""
    second = np.random.default_rng(size).random(size) < 0.8
    second[-1] = True
    rows = [(0, 1), *((0, 2 + i) for i in range(size)), *((1, 2 + i) for i in np.flatnonzero(second))]
    labels = np.array([0, 1, *[2] * size])
    return Graph.from_edges(rows, size + 2, node_labels=labels, pad=PAD), second


@pytest.mark.parametrize("size", [31, 32, 33, 64, *more(63, 65, 1024)])
def test_leaves_that_share_candidates(home, size):
    if home == "device" and size != 32:
        pytest.skip("the device's form is tested where it can go wrong")
    target, second = two_hubs(size)
    common = int(second.sum())
    for edges, expected in (
        ([(0, 1), (0, 2), (1, 2), (0, 3)], common * (size - 1)),  # leaves that compete, of unequal candidates
        ([(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)], common * (common - 1)),  # leaves with the same
        ([(0, 1), (0, 2), (0, 3)], size * (size - 1)),  # of a single neighbour each
    ):
        query = Pattern.from_edges(edges, node_labels=[0, 1, 2, 2])
        found = count_matches(query, target)
        assert sorted(found.leaves)[-2:] == [2, 3]
        assert found.count == expected
        assert count_matches(query, target, search=Search(leaves=False, symmetry=False)).count == expected


@pytest.mark.parametrize("size", [31, 32, 64])
def test_induced_and_listed(size):
    target, second = two_hubs(size)
    common = int(second.sum())
    query = Pattern.from_edges([(0, 1), (0, 2), (1, 2), (0, 3)], node_labels=[0, 1, 2, 2])
    assert count_matches(query, target, True).count == common * (size - common)
    assert len(find_matches(query, target)) == common * (size - 1)
    rows = find_matches(query, target, True).nodes
    assert second[rows[:, 2] - 2].all()
    assert not second[rows[:, 3] - 2].any()


@pytest.mark.parametrize("size", [31, 32, 33, *more(61, 62)])
def test_looking_ahead(home, size):
    """A node next to both of two: the partial matches that leave it no candidate are dropped."""
    if home == "device" and size != 32:
        pytest.skip("the device's form is tested where it can go wrong")
    rng = np.random.default_rng(size)
    near = rng.random((40, 40)) < 0.5
    ends = rng.random((2, 40, size)) < 3 / size
    ends[:, 0, -1] = True
    rows = [
        *np.argwhere(near) + [0, 40], *np.argwhere(ends[0]) + [0, 80], *np.argwhere(ends[1]) + [40, 80],
        *([0, 80 + i] for i in range(size)), *([40, 80 + i] for i in range(size)),
    ]  # fmt: skip
    ends[:, 0] = True
    target = Graph.from_edges(rows, 80 + size, node_labels=[0] * 40 + [1] * 40 + [2] * size, pad=PAD)
    expected = int((near * (ends[0].astype(int) @ ends[1].T)).sum())
    query = Pattern.from_edges([(0, 1), (1, 2), (2, 0)], node_labels=[0, 1, 2])
    for ahead in (False, True):
        found = count_matches(query, target, search=Search(order=[0, 1, 2], lookahead=ahead, leaves=False))
        assert found.count == expected
        assert found.domain_sizes[2] == size
    assert expected > 100


@pytest.mark.parametrize(
    ("home", "size"), [("host", 32), ("host", 33), *more(("host", 64), ("device", 33))], indirect=["home"]
)
def test_queries_of_many_nodes(home, size):
    """Domains are bits, 32 query nodes a word: a path in itself, where each node but the middle has two places."""
    path = Graph.from_networkx(nx.path_graph(size), pad=PAD)
    query = Pattern.from_edges([(i, i + 1) for i in range(size - 1)])
    ends = {0: [0], size - 1: [size - 1]}
    assert count_matches(query, path).count == 2
    assert count_matches(query, path, domains=ends).count == 1
    assert find_matches(query, path, domains=ends).nodes.tolist() == [list(range(size))]


@pytest.mark.parametrize("size", [32, 33])
def test_dense(size):
    near = np.triu(np.random.default_rng(size).random((size, size)) < 0.5, 1)
    near[size - 2, size - 1] = near[0, size - 1] = near[0, size - 2] = True
    target = Graph.from_edges(np.argwhere(near), size, pad=None)
    near = (near | near.T).astype(np.int64)
    triangle = Graph.from_edges([(0, 1), (1, 2), (2, 0)], pad=None)
    assert int(jax.jit(dense_match_count)(triangle, target).count.to_numpy()) == np.trace(near @ near @ near)
