"""Counting and listing against backtracking, laws, limits and mistakes."""

import functools
import inspect
import math
import re
import tempfile
from dataclasses import replace

import jax
import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching import (
    Search,
    count_matches,
    count_queries,
    disjoint_occurrences,
    find_matches,
    has_match,
    iter_matches,
    occurrences,
    participation_counts,
    subnetwork,
)
from jaxmotif.matching._listing import list_kept
from jaxmotif.matching._options import Options
from jaxmotif.patterns import Pattern, automorphism_count
from tests.compilations import compilations
from tests.matching.oracle import PAD, brute_force, random_graph
from tests.more import more

BLOCK = 64  # small, so that tables fill up and cursors stop within rows


def cases(seed, count, directed, node_labels=3, edge_labels=2):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, k = int(rng.integers(1, 9)), int(rng.integers(1, 6))
        target = random_graph(rng, n, rng.choice([0.3, 0.6, 0.9]), directed, node_labels, edge_labels)
        query, _ = random_graph(rng, k, rng.choice([0.3, 0.5, 0.8]), directed, node_labels, edge_labels)
        if node_labels and rng.random() < 0.6:  # labels that are all equal
            for pattern in (query, target[0]):
                pattern.node_labels[:] = pattern.edge_labels[:] = 0
            host = target[0]
            rows = target[1].edge_list()
            target = host, Graph.from_edges(rows, n, directed, host.node_labels, np.zeros(len(rows), int), pad=PAD)
        yield rng, query, *target


@pytest.mark.parametrize("directed", [False, True])
def test_against_backtracking(directed):
    nonzero = 0
    for rng, query, host, target in cases(int(directed), 60, directed):
        induced, wildcard = bool(rng.random() < 0.5), (0 if rng.random() < 0.3 else None)
        expected = brute_force(query, host, induced, wildcard)
        nonzero += bool(expected)
        order = "ri" if rng.random() < 0.5 else rng.permutation(query.num_nodes).tolist()
        how = Search(order=order, block=BLOCK)
        for leaves, symmetry in ((True, True), (False, bool(rng.random() < 0.5))):
            chosen = replace(how, leaves=leaves, symmetry=symmetry)
            found = count_matches(query, target, induced, wildcard=wildcard, search=chosen)
            assert (found.count, found.exact) == (len(expected), True)
        listed = find_matches(query, target, induced, wildcard=wildcard, search=how)
        assert sorted(map(tuple, listed.nodes.tolist())) == expected
        ordered = [tuple(row[u] for u in listed.order) for row in listed.nodes.tolist()]
        assert ordered == sorted(ordered)
    assert nonzero > 15


def test_leaves_that_compete_for_nodes():
    # A double star and a spider, in dense targets of one label: leaves of several anchors share candidates.
    trees = [
        [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5)], [(0, 1), (1, 2), (2, 3), (3, 4)],
        [(0, 1), (1, 2), (2, 0), (0, 3), (1, 4)], [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)],
        [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 2), (0, 3), (1, 2), (1, 3), (0, 4), (1, 4)],
    ]  # fmt: skip
    rng = np.random.default_rng(5)
    host, target = random_graph(rng, 9, 0.6, False, None, None)
    for edges in trees:
        query = Pattern.from_edges(edges)
        found = count_matches(query, target, search=Search(block=BLOCK))
        assert found.leaves
        assert found.count == len(brute_force(query, host, False))
        assert found.count == count_matches(query, target, search=Search(leaves=False, block=BLOCK)).count


def test_filters_change_nothing():
    for _, query, host, target in cases(7, 8, False):
        expected = len(brute_force(query, host, False))
        sizes = []
        for filters in ((), ("degree",), ("degree", "frequency", "consistency")):
            found = count_matches(query, target, search=Search(filters=filters, block=BLOCK))
            assert found.count == expected
            sizes.append(found.domain_sizes)
        assert (sizes[0] >= sizes[1]).all()
        assert (sizes[1] >= sizes[2]).all()


def test_twins_that_need_wide_rows():
    """Twins next to two joined nodes are leaves; in a 4-cycle they are not, which is counted in a sparser graph."""
    twins, cycle = (Pattern.from_edges([*edges, (0, 2), (0, 3), (1, 2), (1, 3)]) for edges in ([(0, 1)], []))
    for density, query, leaves in ((0.018, twins, [2, 3]), (0.004, cycle, [])):
        near = np.triu(np.random.default_rng(8).random((2100, 2100)) < density, 1)
        target = Graph.from_edges(np.argwhere(near), 2100)
        near = (near | near.T).astype(np.float32)
        common = near @ near
        pairs = common * (common - 1) / 2
        expected = (near * pairs).sum() / 2 if query is twins else np.triu(pairs, 1).sum(dtype=np.int64) / 2
        found = count_matches(query, target, per="occurrence")
        assert (found.count, sorted(found.leaves)) == (expected, leaves)
        if query is twins:
            begun = count_matches(cycle, target, per="occurrence", search=Search(max_steps=1))
            assert (begun.status, begun.leaves) == ("stopped at max_steps=1", [])


def test_given_domains():
    for rng, query, host, target in cases(8, 12, False):
        allowed = rng.random((query.num_nodes, host.num_nodes)) < 0.6
        expected = len(brute_force(query, host, False, allowed=allowed))
        assert count_matches(query, target, domains=allowed, search=Search(block=BLOCK)).count == expected
        mapping = {u: np.flatnonzero(row) for u, row in enumerate(allowed)}
        assert count_matches(query, target, domains=mapping, search=Search(block=BLOCK)).count == expected


def test_checkpoints_are_of_some_domains(tmp_path):
    """In either form of them: what others have found is not taken for what these would find."""
    [(_, query, host, target)] = cases(8, 1, False)
    allowed = np.random.default_rng(0).random((query.num_nodes, host.num_nodes)) < 0.8
    expected = len(brute_force(query, host, False, allowed=allowed))
    mapping = {u: np.flatnonzero(row) for u, row in enumerate(allowed)}
    for name, domains in (("array", allowed), ("mapping", mapping)):
        options = {"checkpoint": tmp_path / name, "search": Search(block=BLOCK)}
        for _ in range(2):
            assert count_matches(query, target, domains=domains, **options).count == expected > 0
        with pytest.raises(ValueError, match="another"):
            count_matches(query, target, domains=None, **options)


def test_laws():
    rng = np.random.default_rng(3)
    for _, query, host, target in cases(9, 10, False, None, None):
        found = count_matches(query, target, search=Search(block=BLOCK)).count
        order = rng.permutation(query.num_nodes)
        assert count_matches(query, target, search=Search(order=order, block=BLOCK)).count == found
        shuffle = rng.permutation(host.num_nodes)
        moved = Graph.from_edges(shuffle[target.edge_list()].reshape(-1, 2), host.num_nodes, pad=PAD)
        assert count_matches(query, moved, search=Search(block=BLOCK)).count == found
        occurrences = count_matches(query, target, per="occurrence", search=Search(block=BLOCK)).count
        assert occurrences * automorphism_count(query) == found
        assert len(find_matches(query, target, per="occurrence", search=Search(block=BLOCK))) == occurrences
        counts = participation_counts(query, target, search=Search(block=BLOCK))
        assert (counts.sum(axis=0) == found).all()


def test_counts_beyond_64_bits():
    # A clique of 32 nodes, each joined to 32 nodes of each of ten more labels.
    labels = np.repeat(np.arange(11), 32)
    rows = [(u, v) for u in range(32) for v in range(u + 1, 352)]
    target = Graph.from_edges(rows, 352, node_labels=labels)
    edges = [(0, 1), (1, 2), (2, 0), *((0, v) for v in range(3, 13))]
    query = Pattern.from_edges(edges, node_labels=[0, 0, 0, *range(1, 11)])
    expected = 32 * 31 * 30 * 32**10
    assert expected > 2**64
    assert count_matches(query, target, search=Search(symmetry=False)).count == expected


def test_many_equal_leaves():
    target = Graph.from_networkx(nx.star_graph(50))
    for size in (1, 5, 8):
        star = Pattern.from_edges([(0, v) for v in range(1, size + 1)])
        assert count_matches(star, target).count == math.perm(50, size) + 50 * (size == 1)


def test_a_limit_gives_the_first_matches_whatever_the_block():
    query = Pattern.from_edges([(0, 1), (1, 2)])
    target = Graph.from_networkx(nx.gnp_random_graph(40, 0.3, seed=1))
    everything = find_matches(query, target)
    assert everything.exact
    for block, limit in ((64, 7), (None, 300)):
        first = find_matches(query, target, limit=limit, search=Search(block=block))
        assert first.nodes.tolist() == everything.nodes[:limit].tolist()
        assert (first.exact, first.status) == (False, f"stopped at limit={limit}")
    assert find_matches(query, target, limit=len(everything)).exact
    assert has_match(query, target, search=Search(block=64))


@pytest.mark.parametrize("number", [1, *more(2)])
def test_blocks_of_matches_on_any_devices_are_the_list(number):
    query, target = nx.path_graph(3), Graph.from_networkx(nx.gnp_random_graph(300, 0.06, seed=1))
    everything = find_matches(query, target)
    assert len(everything) == count_matches(query, target).count
    devices = jax.devices()[:number]
    blocks = list(iter_matches(query, target, devices=devices))
    assert len(blocks) > 1
    assert (np.concatenate(blocks) == everything.nodes).all()
    first = find_matches(query, target, limit=60_000, devices=devices)
    assert (first.nodes == everything.nodes[:60_000]).all()
    assert (first.exact, first.status) == (False, "stopped at limit=60000")
    assert not list(iter_matches(nx.complete_graph(3), nx.complete_bipartite_graph(20, 20)))
    assert find_matches(query, target, time_limit=0.0).status == "stopped at time_limit=0 s"


def test_limits_say_so():
    query = Pattern.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)])
    target = Graph.from_networkx(nx.gnp_random_graph(60, 0.5, seed=1))
    found = count_matches(query, target, search=Search(leaves=False, symmetry=False, max_steps=9, block=64))
    assert (found.exact, found.status, found.steps) == (False, "stopped at max_steps=9", 9)
    found = count_matches(query, target, time_limit=0.0, search=Search(leaves=False, symmetry=False, block=64))
    assert (found.exact, found.status) == (False, "stopped at time_limit=0 s")


def test_queries_of_a_size_share_a_compilation():
    target = Graph.from_networkx(nx.gnp_random_graph(12, 0.5, seed=2), pad=PAD)
    count_matches(Pattern.from_edges([(0, 1), (1, 2)]), target, search=Search(block=BLOCK))
    with compilations() as compiled:
        for edges in (
            [(0, 1), (1, 2), (2, 0)],
            [(0, 1), (0, 2), (0, 3)],
            [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)],
            [(0, 1)],
        ):
            count_matches(Pattern.from_edges(edges), target, search=Search(block=BLOCK))
    assert not compiled


def test_impossible_queries_are_not_searched():
    target = Graph.from_networkx(nx.path_graph(9), pad=PAD)
    found = count_matches(Pattern.from_edges([(0, 1), (0, 2), (0, 3)]), target)
    assert (found.count, found.steps, found.exact) == (0, 0, True)
    assert not has_match(Pattern.from_edges([(0, 1), (1, 2), (2, 0)]), target)
    clique = Graph.from_networkx(nx.complete_graph(40))  # of a path of 41 nodes every part is there, for ever
    found = count_matches(Pattern.from_edges([(i, i + 1) for i in range(40)]), clique, time_limit=5.0)
    assert (found.count, found.steps, found.exact) == (0, 0, True)


def test_graphs_of_other_libraries():
    path, square = [(0, 1), (1, 2)], nx.cycle_graph(4)
    expected = count_matches(Pattern.from_edges(path), Graph.from_networkx(square)).count
    assert count_matches(path, square).count == count_matches(nx.path_graph(3), square).count == expected == 8
    assert has_match(np.array(path), square)
    arcs = nx.DiGraph([(0, 1), (1, 2), (2, 0)])
    assert count_matches(path, arcs).count == 3  # arcs, as the target's
    assert participation_counts(path, square).sum(axis=0).tolist() == [8, 8, 8]


def test_a_domain_may_be_a_mask():
    path = Graph.from_edges([(0, 1), (1, 2)])
    for nodes in (np.array([False, True, False]), [False, True, False], np.array([1], np.uint8), 1):
        assert count_matches([(0, 1)], path, domains={0: nodes}).count == 2


def turned(door):
    """A door that takes the graph first."""
    return functools.wraps(door)(lambda query, target, **options: door(target, query, **options))


@functools.wraps(count_queries)
def count_one(query, target, **options):
    return next(count_queries([query], target, **options))


@functools.wraps(list_kept)
def list_once(query, target, induced=False, limit=None, **options):
    with tempfile.TemporaryDirectory() as folder:
        matches, pieces, _ = list_kept(query, target, induced, limit, folder, **options)
        with pieces:
            return matches


DOORS = {
    "count_matches": (count_matches, int, 6),
    "count_queries": (count_one, int, 6),
    "find_matches": (find_matches, len, 6),
    "list_kept": (list_once, len, None),
    "iter_matches": (iter_matches, lambda blocks: sum(map(len, blocks)), 6),
    "has_match": (has_match, int, 1),
    "participation_counts": (participation_counts, np.sum, 18),
    "occurrences": (turned(occurrences), lambda blocks: sum(map(len, blocks)), 0),
    "subnetwork": (turned(subnetwork), lambda part: part.n, None),
    "disjoint_occurrences": (turned(disjoint_occurrences), lambda found: found.total, 0),
}
"""Functions that search, what tells their result in a number, and the number for paths in a triangle, without options;
``None`` where that would take programs that no other test needs."""
MISTAKES = {
    "induced": (5, "induced must be True or False, got 5"),
    "per": ("edge", "per must be 'map' or 'occurrence', got 'edge'"),
    "wildcard": (2**31, "wildcard must fit int32"),
    "domains": ({5: [0]}, "domains names query node 5; there are 0..2"),
    "time_limit": (float("nan"), "time_limit must be a number of seconds, got nan"),
    "memory": (10, "memory=10 bytes is too little"),
    "devices": (99, "devices=99, but"),
    "limit": (-1, "limit must be at least 0, got -1"),
    "search": (Search(order=[0, 0, 0]), "order must be 'ri' or a permutation of the 3 query nodes"),
}


@pytest.mark.parametrize("name", DOORS)
def test_every_door_hands_its_options_on(name, small, capsys):
    """Mistakes are noticed behind the door. Without options paths need not be induced, but for occurrences."""
    door, tell, expected = DOORS[name]
    path, triangle = Pattern.from_edges([(0, 1), (1, 2)]), Graph.from_edges([(0, 1), (1, 2), (2, 0)], pad=PAD)
    for option in MISTAKES.keys() & inspect.signature(door).parameters.keys():
        wrong, message = MISTAKES[option]
        with pytest.raises((ValueError, TypeError), match=re.escape(message)):
            tell(door(path, triangle, **{option: wrong}))
    if expected is not None:
        plain = {"search": Search(block=BLOCK)} if door is participation_counts else {}
        assert tell(door(path, triangle, **plain)) == expected
    assert capsys.readouterr().err == ""


def test_mistakes():
    graph = Graph.from_edges([(0, 1)])
    for query, message in (
        (Pattern.from_edges([], 0), "the query has 0 nodes; it must have 1 to"),
        (Pattern.from_edges([(0, 1)], directed=True), "the query is directed and the target undirected"),
        (Pattern.from_edges([(0, 1)], node_labels=[1, 2]), "the query has node labels and the target has none"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            count_matches(query, graph)
    query = Pattern.from_edges([(0, 1)])
    for options, message in (
        ({"search": Search(order=[0, 0])}, "order must be 'ri' or a permutation of the 2 query nodes"),
        ({"per": "edge"}, "per must be 'map' or 'occurrence'"),
        ({"wildcard": 2**31}, "wildcard must fit int32, between -2147483648 and 2147483647, got 2147483648"),
        ({"domains": {5: [0]}}, "domains names query node 5; there are 0..1"),
        ({"domains": {0: [9]}}, "domains[0] names target node 9; there are 0..1"),
        ({"domains": {0: [2**63]}}, "domains[0] names target node 9223372036854775808; there are 0..1"),
        ({"domains": {0: [[0], [0, 1]]}}, "rows of several lengths in domains[0]"),
        ({"domains": {0: np.ma.array([0, 1], mask=[0, 1])}}, "masked values in domains[0]"),
        ({"domains": np.ma.array(np.ones((2, 2), bool), mask=np.eye(2))}, "masked values in domains"),
        ({"domains": np.ones((1, 1), bool)}, "domains must be a mapping or bool [2, 2]"),
        ({"per": "occurrence", "domains": {0: [0]}}, "use per='map'"),
        ({"memory": 10, "search": Search(leaves=False)}, "memory=10 bytes is too little"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            count_matches(query, graph, **options)
    with pytest.raises(ValueError, match="domains leave some out: use per='map'"):
        find_matches(query, graph, per="occurrence", domains={0: [0]})
    for options, message in (
        ({"domains": {0: [0.5]}}, "domains[0] must be ids of target nodes or bool [2], got [0.5]"),
        ({"domains": {0: [True]}}, "domains[0] must be ids of target nodes or bool [2], got [True]"),
        ({"domains": {"0": [1]}}, "a query node in domains must be an integer, got '0'"),
        ({"domains": [[0], None]}, "domains must be a mapping or bool [2, 2], got list"),
        ({"wildcard": "1"}, "wildcard must be an integer, got '1'"),
        ({"search": "equations"}, "search must be a jaxmotif.matching.Search, got 'equations'"),
        ({"induced": 5}, "induced must be True or False, got 5"),
        ({"time_limit": "1"}, "time_limit must be a number of seconds, got '1'"),
    ):
        with pytest.raises(TypeError, match=re.escape(message)):
            count_matches(query, graph, **options)
    with pytest.raises(ValueError, match="time_limit must be a number of seconds, got nan"):
        count_matches(query, graph, time_limit=float("nan"))
    for options, message in (
        ({"filters": ("degree", "color")}, "filters must be some of label, degree"),
        ({"order": "quick"}, "order must be 'ri' or a permutation of the query nodes, got 'quick'"),
        ({"block": 0}, "block must be at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            Search(**options)
    for options, message in (
        ({"block": 1.5}, "block must be an integer, got 1.5"),
        ({"max_steps": True}, "max_steps must be an integer, got True"),
        ({"order": [0.9, 1.7]}, "a query node in order must be an integer, got 0.9"),
        ({"order": 5}, "order must be a sequence, got 5"),
        ({"filters": None}, "filters must be a sequence, got None"),
        *(({name: "no"}, f"{name} must be True or False") for name in ("leaves", "symmetry", "lookahead", "pieces")),
    ):
        with pytest.raises(TypeError, match=message):
            Search(**options)
    assert Search(block=np.int64(64)) == Search(block=64)
    assert Search(order=np.array([1, 0])).order == [1, 0]
    assert isinstance(Options(memory=np.float64(1e9)).memory, int)
    with pytest.raises(ValueError, match="max_steps=3 is for counts"):
        find_matches(query, graph, search=Search(max_steps=3))
    with pytest.raises(ValueError, match="limit must be at least 0"):
        find_matches(query, graph, limit=-1)
    with pytest.raises(TypeError, match="target"):
        count_matches(query, query)
