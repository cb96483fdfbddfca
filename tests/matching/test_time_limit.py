"""Time limits: whatever a query asks, a call ends soon after its limit, and says so."""

import time

import jax
import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching import Search, count_matches, count_queries, find_matches, has_match, participation_counts
from jaxmotif.matching._options import Options
from jaxmotif.matching._seconds import PhaseClock
from jaxmotif.matching._target import index_target
from jaxmotif.matching.planner import _device
from jaxmotif.matching.planner._ask import constrain_query
from jaxmotif.patterns import Pattern
from jaxmotif.search._deadline import Deadline, TimeIsUp

LIMIT = 0.25
DENSE = Graph.from_networkx(nx.gnp_random_graph(100, 0.5, seed=1))
SPARSE = Graph.from_networkx(nx.random_regular_graph(4, 400, seed=1))


def with_leaves(core: int, start: int = 0) -> list[tuple[int, int]]:
    """A cycle with four more nodes, each next to three nodes of it: they are counted in closed form, which takes some
    thousand words for each match of the cycle."""
    cycle = [(start + i, start + (i + 1) % core) for i in range(core)]
    return cycle + [(start + core + leaf, start + (2 * leaf + i) % core) for leaf in range(4) for i in range(3)]


LEAVES = Pattern.from_edges(with_leaves(9))
PIECES = Pattern.from_edges([*with_leaves(9), (0, 13), *with_leaves(9, start=13)])
PATH = Pattern.from_edges([(i, i + 1) for i in range(90)])

DOORS = {
    "count": lambda limit: count_matches(LEAVES, DENSE, time_limit=limit),
    "count occurrences": lambda limit: count_matches(LEAVES, DENSE, per="occurrence", time_limit=limit),
    "count induced": lambda limit: count_matches(PATH, SPARSE, True, time_limit=limit),
    "count in pieces": lambda limit: count_matches(PIECES, DENSE, time_limit=limit, search=Search(pieces=True)),
    "count queries": lambda limit: next(iter(count_queries([LEAVES], DENSE, time_limit=limit))),
    "find": lambda limit: find_matches(PATH, SPARSE, True, time_limit=limit),
    "participation": lambda limit: participation_counts(LEAVES, DENSE, time_limit=limit),
    "has": lambda limit: has_match(nx.random_regular_graph(10, 40, seed=1), DENSE, time_limit=limit),
}


@pytest.mark.parametrize("door", DOORS)
def test_endless_searches_end_soon_after_their_limit(door):
    def call():
        try:
            return DOORS[door](LIMIT)
        except TimeoutError as error:
            return error

    call()  # compiles
    # CPU time of all threads: other programs on this machine do not count, but there may be two cores.
    started = time.process_time()
    result = call()
    assert time.process_time() - started < 2 * (LIMIT + 1)
    if isinstance(result, TimeoutError):
        assert f"stopped at time_limit={LIMIT} s" in str(result)
    else:
        assert (result.exact, result.status) == (False, f"stopped at time_limit={LIMIT} s")


def test_compiling_is_said_apart():
    clock = PhaseClock()
    jax.jit(lambda x: 3.25 * x + 0.75)(np.float32(2))
    clock.end("search")
    seconds = clock.seconds()
    assert seconds["compile"] > 0
    assert seconds["search"] < seconds["compile"]
    again = PhaseClock()
    again.end("search")
    assert "compile" not in again.seconds()


def test_planning_ends_at_a_deadline():
    """Consistency drops one node of a long arc path after another, from its end, until none is left."""
    cycle, arcs = Pattern.from_edges([(0, 1), (1, 0)], directed=True), [(i, i + 1) for i in range(3000)]
    target = Graph.from_edges(arcs, directed=True)
    found = count_matches(cycle, target, time_limit=0.0)
    assert (found.count, found.exact, found.status) == (0, False, "stopped at time_limit=0 s")
    assert found.domain_sizes.tolist() == [3001, 3001]
    assert not participation_counts(cycle, target).any()


def test_filters_on_a_device_are_called_until_domains_are_final():
    asked = constrain_query(Pattern.from_edges([(0, 1), (1, 2), (2, 0)], directed=True), Options())
    index = index_target(Graph.from_edges([(i, i + 1) for i in range(100)], directed=True), True)
    _, sizes, (*_, final) = _device.sweep_domains(index, asked.conditions, None, filters=("consistency",))
    assert not final
    assert np.asarray(sizes).any()
    kept = _device.filter_domains(index, asked, None, Options())
    assert kept.empty
    assert not kept.sizes.any()
    with pytest.raises(TimeIsUp):
        _device.filter_domains(index, asked, None, Options(deadline=Deadline(0.0)))


def test_a_deadline_that_has_passed():
    deadline = Deadline(0.0)
    assert deadline.passed
    assert deadline.left < 0
    with pytest.raises(TimeIsUp, match="stopped at time_limit=0 s"):
        deadline.check()
    assert Deadline().within(0.0).passed
    assert not Deadline().passed


def test_joining_a_listing_is_part_of_the_limit(monkeypatch):
    """Where joining the blocks would take long, the listing ends so early that the call still ends in time."""
    from jaxmotif.matching import _listing

    hour = property(lambda blocks: 3600.0 * bool(blocks._bytes))
    monkeypatch.setattr(_listing._BlockList, "joining_seconds", hour)
    path = Pattern.from_edges([(i, i + 1) for i in range(12)])
    stopped = find_matches(path, SPARSE, True, time_limit=60.0)
    assert (stopped.exact, stopped.status) == (False, "stopped at time_limit=60 s")
    assert len(stopped) > 0
