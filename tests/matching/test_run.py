"""Counting by other step sizes, in stages, and on several devices."""

import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching import count_matches, plan
from jaxmotif.patterns import Pattern

PATH = Pattern.from_edges([(0, 1), (1, 2), (2, 3)])


@pytest.fixture(scope="module")
def target():
    return Graph.from_networkx(nx.barabasi_albert_graph(60, 4, seed=1))


@pytest.fixture(scope="module")
def expected(target):
    return count_matches(PATH, target).count


def test_blocks_change_nothing(target, expected):
    counts = {count_matches(PATH, target, leaves=False, symmetry=False, block=block).count for block in (64, 192)}
    assert counts == {expected}


@pytest.mark.parametrize("again", [True, False])
def test_a_search_that_outgrows_its_first_stage(monkeypatch, target, expected, again):
    """Starts again, or goes on with larger steps."""
    monkeypatch.setattr(plan, "_blocks", lambda options, device: (192, (64, 3)))
    monkeypatch.setattr(plan, "_small_tables", lambda device: again)
    found = count_matches(PATH, target, leaves=False, symmetry=False)
    assert (found.count, found.status) == (expected, "done")


def test_several_devices_take_turns(target, expected):
    found = count_matches(PATH, target, leaves=False, symmetry=False, block=64, devices=2)
    assert (found.count, found.exact) == (expected, True)
    stopped = count_matches(PATH, target, leaves=False, symmetry=False, block=64, devices=2, time_limit=0.0)
    assert (stopped.exact, stopped.status) == (False, "stopped at time_limit=0 s")
    with pytest.raises(ValueError, match="max_steps=5 counts the steps of one search on one device"):
        count_matches(PATH, target, devices=2, max_steps=5)


def test_a_search_of_few_matches_looks_ahead(monkeypatch):
    monkeypatch.setattr(plan, "_blocks", lambda options, device: (192, (64, 3)))
    labels = np.random.default_rng(1).integers(0, 2, 60)
    target = Graph.from_edges(list(nx.gnp_random_graph(60, 0.2, seed=1).edges), 60, node_labels=labels)
    query = Pattern.from_edges(list(nx.petersen_graph().edges), node_labels=[0, 1] * 5)
    blind, found = (
        count_matches(query, target, True, lookahead=lookahead, symmetry=False) for lookahead in (False, None)
    )
    assert blind.exact
    assert blind.count == found.count
    assert found.positions < blind.positions / 2
