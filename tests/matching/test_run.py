"""Counting by other step sizes, in stages, and on several devices."""

from functools import partial

import jax
import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching import Search, count_matches
from jaxmotif.matching import _divided as divided
from jaxmotif.patterns import Pattern
from jaxmotif.search import _parts as parts
from jaxmotif.search import _sizes as sizes

PATH = Pattern.from_edges([(0, 1), (1, 2), (2, 3)])


def small_steps(**changes):
    """Sizes by which a search of a few hundred candidates outgrows its first stage."""
    return sizes.CPU._replace(counting=192, first=64, first_steps=3, **changes)


@pytest.fixture(scope="module")
def target():
    return Graph.from_networkx(nx.barabasi_albert_graph(60, 4, seed=1))


@pytest.fixture(scope="module")
def expected(target):
    return count_matches(PATH, target).count


def test_blocks_change_nothing(target, expected):
    searches = [Search(leaves=False, symmetry=False, block=block) for block in (64, 192)]
    counts = {count_matches(PATH, target, search=search).count for search in searches}
    assert counts == {expected}


@pytest.mark.parametrize("again", [True, False])
def test_a_search_that_outgrows_its_first_stage(monkeypatch, target, expected, again):
    """Starts again, or goes on with larger steps."""
    monkeypatch.setattr(sizes, "CPU", small_steps(restarts=again))
    found = count_matches(PATH, target, search=Search(leaves=False, symmetry=False))
    assert (found.count, found.status) == (expected, "done")


def test_several_devices_take_turns(monkeypatch, target, expected):
    monkeypatch.setattr(parts, "ENOUGH", 64)  # prefixes, as below
    search = Search(leaves=False, symmetry=False, block=64)
    found = count_matches(PATH, target, devices=2, search=search)
    assert (found.count, found.exact) == (expected, True)
    stopped = count_matches(PATH, target, devices=2, time_limit=0.0, search=search)
    assert (stopped.exact, stopped.status) == (False, "stopped at time_limit=0 s")
    with pytest.raises(ValueError, match="max_steps=5 counts the steps of one search on one device"):
        count_matches(PATH, target, devices=2, search=Search(max_steps=5))


@pytest.mark.parametrize("trouble", [None, "time", "memory"])
def test_shares_go_on_where_the_last_one_left_its_tables(monkeypatch, target, expected, trouble):
    """A share asks for the next one before its tables are empty; the last rows are searched when results are asked for.

    Where the time is up in a share, what was found is part of all; a step that is as small as can be has to fit.
    """
    monkeypatch.setattr(divided, "FEW_STEPS", 0)
    monkeypatch.setattr(parts, "ENOUGH", 64)  # prefixes, so that tables come after theirs
    finish, ends = divided.finish, []

    def watched(run, deadline):
        *_, standing = finish(run, deadline)
        ends.append(standing.status)
        if trouble == "memory" and len(ends) > 3:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes.")
        yield standing._replace(status=deadline.status) if trouble == "time" and len(ends) > 3 else standing

    monkeypatch.setattr(divided, "finish", watched)
    count = partial(count_matches, PATH, target, devices=2, search=Search(leaves=False, symmetry=False, block=64))
    if trouble == "memory":
        with pytest.raises(MemoryError, match="too little memory even for the smallest steps"):
            count()
        return
    found = count(time_limit=600.0)
    if trouble == "time":
        assert (found.exact, found.status) == (False, "stopped at time_limit=600 s")
        assert 0 < found.count < expected
    else:
        assert (found.count, found.exact) == (expected, True)
        assert {"wants more", "done"} <= set(ends)


def test_a_search_of_few_matches_looks_ahead(monkeypatch):
    monkeypatch.setattr(sizes, "CPU", small_steps())
    labels = np.random.default_rng(1).integers(0, 2, 60)
    target = Graph.from_edges(list(nx.gnp_random_graph(60, 0.2, seed=1).edges), 60, node_labels=labels)
    query = Pattern.from_edges(list(nx.petersen_graph().edges), node_labels=[0, 1] * 5)
    blind, found = (
        count_matches(query, target, True, search=Search(lookahead=lookahead, symmetry=False))
        for lookahead in (False, None)
    )
    assert blind.exact
    assert blind.count == found.count
    assert found.positions < blind.positions / 2
