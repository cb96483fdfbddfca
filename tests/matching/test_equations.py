"""Plain queries by equations, against all maps, networkx, all graphlets, and what is known of complete graphs."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import jax
import networkx as nx
import numpy as np
import pytest

from jaxmotif import datasets, graphlet_counts, verify
from jaxmotif.graph import Graph
from jaxmotif.graphlets import _copies, _prepared
from jaxmotif.graphlets._copies import choose_way, count_factors
from jaxmotif.graphlets._fringes import closed_form
from jaxmotif.graphlets._tuning import choose_tuning
from jaxmotif.kernels._cliques import most_row_words, row_words
from jaxmotif.matching import Search, _equations, count_matches, participation_counts
from jaxmotif.matching._equations import five_node_work, search_work
from jaxmotif.patterns import Pattern, named_pattern
from jaxmotif.search._deadline import Deadline
from tests.matching.oracle import brute_force
from tests.more import more
from tests.optimised import optimise

pytestmark = pytest.mark.usefixtures("equations")

EQUATIONS = Search(engine="equations")
CLIQUE = {k: list(itertools.combinations(range(k), 2)) for k in range(2, 9)}
HOUSE = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]
TAILS = [*((0, i) for i in range(1, 7)), (1, 2), (1, 3), (2, 3)]
SHAPES = [
    [(0, 1), (1, 2), (2, 3), (3, 0)],
    HOUSE,
    [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4)],
    [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)],
    [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4)],
    [(0, 1), (1, 2), (2, 3), (3, 4)],
]
"""The patterns that 4-cycles, or sums over the triangles at a node, give."""
SHARED = 65
"""Nodes, some of them isolated, with which a small graph is padded to the sizes of the larger ones here."""
FRINGES = [
    *((0, i) for i in (1, 2, 3, 4, 5, 6, 7, 8, 14, 15)),
    *((1, i) for i in (2, 3, 4, 9, 10, 14, 15)),
    *((2, i) for i in (5, 6, 7, 11, 12, 13, 14, 15)),
]


def random_pattern(rng):
    """A connected pattern of up to five nodes, a clique, or up to three joined nodes with others next to them."""
    kind = rng.integers(3)
    if kind == 0:
        size = int(rng.integers(2, 6))
        while True:
            adjacency = np.triu(rng.random((size, size)) < rng.choice([0.4, 0.6, 0.8]), 1)
            if nx.is_connected(nx.Graph(adjacency | adjacency.T)):
                break
    elif kind == 1:
        adjacency = np.triu(np.ones((int(rng.integers(3, 8)),) * 2, bool), 1)
    else:
        core, fringe = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        adjacency = np.zeros((core + fringe,) * 2, bool)
        adjacency[:core, :core] = ~np.eye(core, dtype=bool)
        for v in range(core, core + fringe):
            adjacency[v, rng.choice(core, int(rng.integers(1, core + 1)), replace=False)] = True
    order = rng.permutation(len(adjacency))
    return Pattern((adjacency | adjacency.T)[np.ix_(order, order)], None, None, False)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.more) for seed in range(1, 9))])
def test_random_patterns(seed):
    rng, ways = np.random.default_rng(seed), Counter()
    for _ in range(40):
        query = random_pattern(rng)
        size = int(rng.integers(5, 8))
        target = np.triu(rng.random((size, size)) < rng.choice([0.4, 0.6, 0.9]), 1)
        graph = Graph.from_edges(np.argwhere(target), SHARED)
        induced = bool(rng.integers(2)) and choose_way(query, True) is not None
        if not graph.m or choose_way(query, induced) is None:
            continue
        found = count_matches(query, graph, induced, search=EQUATIONS)
        maps = brute_force(query, Pattern(target | target.T, None, None, False), induced)
        assert found.count == len(maps), (query.adjacency.astype(int), target.astype(int))
        assert found.exact
        assert found.engine == "equations"
        ways[choose_way(query, induced)] += found.count > 0
    assert len(ways) >= 3


def test_stars_of_more_nodes_than_closed_forms_have():
    for nodes in (32, 33):
        star = Pattern.from_edges([(0, i) for i in range(1, nodes)])
        assert choose_way(star, False) == ("fringes" if nodes == 32 else None)
    with pytest.raises(ValueError, match="there are none for it"):
        count_matches(star, datasets.load("karate"), search=EQUATIONS)


def test_large_rows():
    """Rows of several words, blocks of several nodes, and sums in several blocks of tests."""
    graph = Graph.from_networkx(nx.gnp_random_graph(80, 0.6, seed=1))
    known = graphlet_counts(graph, size=5, induced=False).counts
    for name in ("triangle", "4-clique", "chordal-cycle", "4-cycle", "tailed-triangle", "3-star", "4-path", "5-clique"):
        assert count_matches(name, graph, per="occurrence", search=EQUATIONS).count == known[name], name
    for name in ("almost-5-clique", "hatted-4-clique", "triple-triangle", *_copies.CYCLES):
        assert count_matches(name, graph, per="occurrence", search=EQUATIONS).count == known[name], name


def test_rows_that_do_not_fit_at_once(monkeypatch):
    edges = list(nx.gnp_random_graph(60, 0.7, seed=1).edges)
    known = graphlet_counts(Graph.from_edges(edges), size=5, induced=False).counts

    def choose(*sizes):
        return choose_tuning(*sizes)._replace(words=1)

    monkeypatch.setattr(_prepared, "choose_tuning", choose)
    graph = Graph.from_edges(edges)
    for name in ("almost-5-clique", "5-clique"):
        assert count_matches(name, graph, per="occurrence", search=EQUATIONS).count == known[name]
    order = jax.device_get(_prepared.prepare_graph(graph, jax.devices()[0], None).order)
    for whole in (False, True):  # as many words as two nodes may have are held at once
        assert row_words(order, whole).sum() > 2 * most_row_words(order.edge_capacity, whole)


@pytest.mark.parametrize(("edges", "nodes"), [(FRINGES, 40), (TAILS, 90), ([(0, i) for i in range(1, 13)], 300)])
def test_beyond_64_bits(edges, nodes, monkeypatch):
    """In a complete graph any injective map is a match."""
    if edges is FRINGES:  # its closed form has 864 terms
        monkeypatch.setattr(_copies, "_sum_over_cliques", optimise(_copies._sum_over_cliques))
    query, target = Pattern.from_edges(edges), Graph.from_edges(list(itertools.combinations(range(nodes), 2)))
    found = count_matches(query, target, search=EQUATIONS)
    assert found.count == math.perm(nodes, query.num_nodes)
    assert closed_form(tuple(map(tuple, query.adjacency.tolist()))) is not None
    assert edges is not FRINGES or found.count > 2**80


@pytest.mark.parametrize("name", _copies.CYCLES)
def test_hubs_of_fifty_thousand(name):
    """Two joined hubs with the same n neighbours: every count is a polynomial in n, known from small ones."""

    def hubs(n):
        leaves = np.arange(2, n + 2)
        return Graph.from_edges([(0, 1), *((hub, leaf) for leaf in leaves for hub in (0, 1))], n + 2)

    small, large = range(4, 10), 50_000
    values = [graphlet_counts(hubs(n), size=5, induced=False).counts[name] for n in small]
    expected = sum(
        Fraction(value) * math.prod(Fraction(large - b, a - b) for b in small if a != b)
        for a, value in zip(small, values, strict=True)
    )
    nodes = 4 if name == "4-cycle" else 5
    pattern = next(p for p in map(Pattern.from_edges, SHAPES) if p.num_nodes == nodes and _copies.name_of(p) == name)
    found = count_matches(pattern, hubs(large), search=EQUATIONS, per="occurrence")
    assert (found.engine, found.count) == ("equations", expected)


@pytest.mark.slow
def test_the_cube_of_a_degree():
    """The cube of a degree is part of the number of paths of five nodes, and of no term; here it takes 64 bits."""
    leaves = 2**21
    star = np.stack([np.zeros(leaves, np.int64), np.arange(1, leaves + 1)], axis=1)
    graph = Graph.from_edges(np.concatenate([star, [(1, leaves + 1), (leaves + 1, leaves + 2)]]))
    path = Pattern.from_edges(SHAPES[-1])
    found = _copies.count_copies(path, graph, False, jax.devices()[0], None)
    assert found is not None
    assert found.maps == 2 * (leaves - 1)


@pytest.mark.parametrize("size", [6, 7, *more(8)])  # smaller ones have large rows above
def test_cliques_of_real_size(size):
    graph = nx.gnp_random_graph(70, 0.5, seed=2)
    wanted = Counter(len(clique) for clique in nx.enumerate_all_cliques(graph))
    query, target = Pattern.from_edges(CLIQUE[size]), Graph.from_networkx(graph)
    assert count_matches(query, target, per="occurrence", search=EQUATIONS).count == wanted[size]


def test_which_way_is_taken(monkeypatch):
    graph = Graph.from_networkx(nx.gnp_random_graph(80, 0.6, seed=1))
    found = count_matches("triangle", graph, per="occurrence")
    assert found.engine == "equations"
    assert found.positions > 0
    assert found.order == [0, 1, 2]
    assert found.domain_sizes.tolist() == [graph.n] * 3
    assert found.count == sum(nx.triangles(nx.Graph(graph.edge_list().tolist())).values()) // 3
    for search in (Search(engine="search"), Search(symmetry=False)):
        by_search = count_matches("triangle", graph, per="occurrence", search=search)
        assert by_search.engine == "search"
        assert by_search.count == found.count
    labelled = Pattern.from_edges(CLIQUE[3], node_labels=[0, 0, 0])
    with_labels = Graph.from_edges(graph.edge_list(), node_labels=np.zeros(graph.n, int))
    assert count_matches(labelled, with_labels).engine == "search"
    assert count_matches("triangle", graph, time_limit=0.0).status == "stopped at time_limit=0 s"
    assert count_matches("triangle", graph, memory=2**27).count == 6 * found.count
    monkeypatch.setattr(_equations, "UNINTERRUPTED", {"cpu": int((graph.degrees**2).sum()) - 1})
    limited = count_matches("triangle", graph, per="occurrence", time_limit=1000)
    assert (limited.engine, limited.count) == ("search", found.count)


def test_cliques_in_slices(monkeypatch):
    """Large cliques are counted slice by slice, between which a time limit is noticed."""
    monkeypatch.setattr(_copies, "LEAST_SLICE", 2**10)
    graph = nx.gnp_random_graph(70, 0.5, seed=2)
    target, query = Graph.from_networkx(graph), Pattern.from_edges(CLIQUE[6])
    wanted = sum(len(clique) == 6 for clique in nx.enumerate_all_cliques(graph))
    whole = count_matches(query, target, per="occurrence", time_limit=1000, search=EQUATIONS)
    assert (whole.count, whole.exact) == (wanted, True)
    slices, count = [], _copies._count_cliques

    def noted(order, plan, low, high, **sizes):
        slices.append((low, high))
        return count(order, plan, low, high, **sizes)

    monkeypatch.setattr(_copies, "_count_cliques", noted)
    monkeypatch.setattr(_copies, "SLICE_SECONDS", 0)
    assert count_matches(query, target, per="occurrence", time_limit=1000, search=EQUATIONS).count == wanted
    assert len(slices) > 4
    monkeypatch.setattr(_copies, "SLICE_SECONDS", 1000)  # slices that take so little of it grow
    even, ranks = slices.copy(), _prepared.prepare_graph(target, jax.devices()[0], None).order.node_capacity
    slices.clear()
    assert count_matches(query, target, per="occurrence", search=EQUATIONS).count == wanted
    assert 1 < len(slices) < len(even)
    for cuts in (even, slices):
        assert [low for low, _ in cuts] == [0, *(high for _, high in cuts[:-1])]
        assert cuts[-1][1] == ranks
    monkeypatch.setattr(_copies, "SLICE_SECONDS", 0)
    for turns in (0, 2):
        some = _copies.count_copies(query, target, False, jax.devices()[0], None, DeadlineAfter(turns))
        assert some.status == "stopped at time_limit=1 s"
        assert (some.maps > 0) == (turns > 0)
        assert some.maps < 720 * wanted


@pytest.mark.parametrize(
    ("nodes", "limit", "slices"), [(4, 1000, False), (5, None, False), (5, 1000, True), (6, None, True)]
)
def test_small_cliques_are_counted_at_once(monkeypatch, nodes, limit, slices):
    """Five nodes in slices took an H200 70 ms for a graph of which they take 5 at once."""
    target, calls, count = Graph.from_edges(CLIQUE[8], SHARED), [], _copies._count_cliques
    monkeypatch.setattr(_copies, "_count_cliques", lambda *a, **k: calls.append(a[2] is not None) or count(*a, **k))
    found = count_matches(
        Pattern.from_edges(CLIQUE[nodes]), target, per="occurrence", time_limit=limit, search=EQUATIONS
    )
    assert found.count == math.comb(8, nodes)
    assert set(calls) == {slices}
    assert slices or len(calls) == 1


class DeadlineAfter(Deadline):
    """A deadline that has passed when it was asked for a number of times."""

    def __init__(self, turns):
        super().__init__(1.0)
        self.turns = turns

    @property
    def passed(self):
        self.turns -= 1
        return self.turns < 0


@pytest.mark.parametrize("trouble", [OverflowError("a hub"), ValueError("too little memory"), 2**60])
def test_what_equations_cannot_count_is_searched(small, monkeypatch, trouble):
    """And where equations are asked for, their error is told; so are counts at parts that a search finds, too."""
    karate, by_search = datasets.load("karate"), Search(engine="search")

    def fail(*given, **options):
        if isinstance(trouble, Exception):
            raise trouble
        return SimpleNamespace(values=np.full((karate.n, 15), trouble))

    monkeypatch.setattr(_equations, "equations_pay", lambda *_, **__: True)
    monkeypatch.setattr(_equations, "node_orbits", fail)
    found, expected = (participation_counts("triangle", karate, search=search) for search in (Search(), by_search))
    np.testing.assert_array_equal(found, expected)
    assert found.sum() == 45 * 6 * 3
    if isinstance(trouble, Exception):
        monkeypatch.setattr(_equations, "count_copies", fail)
        found = count_matches("triangle", karate)
        assert (found.engine, found.count) == ("search", 45 * 6)
        for job in (count_matches, participation_counts):
            with pytest.raises(type(trouble), match=str(trouble)):
                job("triangle", karate, search=EQUATIONS)


def test_small_targets_are_searched(small):
    assert count_matches("triangle", Graph.from_edges(CLIQUE[8])).engine == "search"


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        (HOUSE, {"domains": {0: [1]}}, "no conditions and no domains"),
        ([(0, 1), (2, 3)], {}, "connected queries of two nodes or more"),
        ([(i, (i + 1) % 6) for i in range(6)], {}, "all patterns of up to five nodes"),
        (CLIQUE[3], {"checkpoint": "folder"}, "keeps no checkpoint"),
    ],
)
def test_what_has_no_equations(query, options, message):
    with pytest.raises(ValueError, match=message):
        count_matches(Pattern.from_edges(query), Graph.from_edges(CLIQUE[8]), search=EQUATIONS, **options)


def test_engines_have_names():
    with pytest.raises(ValueError, match="engine must be 'search', 'equations' or None"):
        Search(engine="sums")  # pyright: ignore[reportArgumentType]


def test_the_work_of_five_nodes():
    """In a path there is nothing to search for; in a dense graph a search visits every four nodes."""
    for graph, searched in ((nx.path_graph(1000), True), (nx.gnp_random_graph(120, 0.5, seed=1), False)):
        target = Graph.from_networkx(graph)
        four, wedges = graphlet_counts(target, induced=False).counts, int((target.degrees**2).sum())
        mean = sum(min(graph.degree[u], graph.degree[v]) for u, v in graph.edges) / target.m
        wheel = Pattern.from_edges([(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4), (4, 1)])
        assert (search_work(wheel, mean, four) < five_node_work(wedges, four)) == searched


def test_factors_at_a_clique():
    """One for leaves that are alike, more for leaves that compete; also one for patterns without a closed form."""
    for name, least, most in (("4-star", 1, 1), ("chordal-cycle", 1, 1), ("5-cycle", 1, 1), ("bull", 6, 24)):
        assert least <= count_factors(named_pattern(name)) <= most, name


def test_certificate(tmp_path):
    graph = Graph.from_networkx(nx.gnp_random_graph(SHARED, 0.15, seed=1))
    file = tmp_path / "triangles.json"
    found = count_matches("triangle", graph, certify=file, search=EQUATIONS)
    assert found.engine == "equations"
    assert verify.check(file, verify.graph_from_edges(graph.edge_list(), graph.n, False)).accepted


@pytest.mark.parametrize("of", ["node", "edge"])
def test_participation(of, monkeypatch):
    """All graphlets say how often nodes and edges take each part, as searches do."""
    monkeypatch.setattr("jaxmotif.matching._equations.equations_pay", lambda *_, **__: True)
    graph = Graph.from_networkx(nx.gnp_random_graph(14, 0.5, seed=1))
    for edges in (CLIQUE[3], HOUSE, [(0, 1), (1, 2), (2, 3)]):
        query = Pattern.from_edges(edges)
        for induced, per in ((False, "map"), (True, "occurrence")):
            by_equations = participation_counts(query, graph, induced, of=of, per=per)
            by_search = participation_counts(query, graph, induced, of=of, per=per, search=Search(engine="search"))
            np.testing.assert_array_equal(by_equations, by_search)
            assert by_search.any()


@pytest.mark.parametrize("count", [2**61, 2**62, 2**63])
def test_counts_at_nodes_whose_sum_passes_63_bits_are_left_to_a_search(count, monkeypatch):
    """Searches refuse so many matches. The sums are 3, 6 and 12 times 2^61; in 64 bits the second one is negative."""
    monkeypatch.setattr(_equations, "equations_pay", lambda *_, **__: True)
    table = np.full((3, 15), count, object if count == 2**63 else np.int64)
    monkeypatch.setattr(_equations, "node_orbits", lambda *_, **__: SimpleNamespace(values=table))
    triangle = Graph.from_edges([(0, 1), (1, 2), (0, 2)])
    assert participation_counts("triangle", triangle).tolist() == [[2, 2, 2]] * 3
    with pytest.raises(ValueError, match="numbers on the way may be too large; use engine='search'"):
        participation_counts("triangle", triangle, search=EQUATIONS)
