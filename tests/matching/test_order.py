"""Orders, leaves and placements by plain values; and what they save, on fixed cases."""

from types import SimpleNamespace

import jax
import networkx as nx
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching import Search, count_matches
from jaxmotif.matching._host_search import candidate_budget
from jaxmotif.matching._options import Options
from jaxmotif.matching.planner._ask import constrain_query
from jaxmotif.matching.planner._leaves import NO_LEAVES
from jaxmotif.matching.planner._order import SearchOrder, choose_order, order_nodes
from jaxmotif.matching.planner._placements import Layout, placements
from jaxmotif.matching.planner._reduce import Measures
from jaxmotif.patterns import Pattern


def measured(query, sizes=None):
    k = query.num_nodes
    sizes = np.full(k, 20) if sizes is None else np.array(sizes)
    return Measures(sizes, 20, np.zeros((k, k)), np.full(k, 5), np.full(k, 4.0), *np.ones((2, k, k), bool))


def chosen(query, search=None, sizes=None, **options):
    options = {"closed_form": True} | options
    return choose_order(constrain_query(query, Options()), measured(query, sizes), search or Search(), **options)


def test_a_cycle_is_searched_from_its_rarest_node():
    square = Pattern.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    order = chosen(square, Search(leaves=False), sizes=[9, 9, 3, 9])
    assert order.core[0] == 2
    assert (order.free, order.leaves.nodes, order.multiplier) == ([2], [], 8)
    assert all(order.core.index(a) < order.core.index(b) for a, b in order.below)


def test_leaves_come_out_of_the_order_and_keep_their_symmetry():
    star = Pattern.from_edges([(0, 1), (0, 2), (0, 3)])
    order = chosen(star)
    assert (order.core, sorted(order.leaves.nodes), order.multiplier, order.below) == ([0], [1, 2, 3], 1, [])
    order = chosen(star, closed_form=False)
    assert (order.core[0], order.leaves.nodes, order.multiplier, len(order.below)) == (0, [], 6, 3)


def test_given_domains_tell_nodes_apart():
    edge = Pattern.from_edges([(0, 1)])
    assert chosen(edge, Search(leaves=False)).multiplier == 2
    allowed = np.array([[True, False], [True, True]])
    assert chosen(edge, Search(leaves=False), allowed=allowed).multiplier == 1


def test_given_orders():
    path = Pattern.from_edges([(0, 1), (1, 2)])
    assert order_nodes(path, [2, 0, 1], np.ones(3)) == [2, 0, 1]
    assert chosen(path, Search(order=[2, 0, 1], leaves=False)).free == [2, 0]
    with pytest.raises(ValueError, match="a permutation of the 3 query nodes, got"):
        order_nodes(path, [0, 1], np.ones(3))


@pytest.mark.parametrize(("length", "begun"), [(10, True), (80, True), (100, False)])
def test_searches_are_begun_in_numpy_where_their_first_nodes_are_few(length, begun):
    """Lists of so many candidates, each after one of 1,000 nodes: a thousand times the square, of some 8.4 million."""
    path = Pattern.from_edges([(v, v + 1) for v in range(5)])
    lists = measured(path, [1000] * 6)._replace(often=path.neighbors * 1000.0 * length)
    order = chosen(path, Search(leaves=False, symmetry=False))
    most = candidate_budget(jax.devices()[0], order, lists)
    assert most == (candidate_budget(jax.devices()[0], order) if begun else -1)
    assert begun == (1000 * (1 + length + length**2) <= 2**23 + 6 * 2**14)


def test_placements():
    """A path 0-1-2 and a node 3 alone, induced: what each node is tested for."""
    which = np.full((4, 4), -1)
    which[[0, 1, 1, 2], [1, 0, 2, 1]] = 0
    meet = np.ones((4, 4), bool)
    meet[0, 3] = meet[3, 0] = False
    non_neighbours = np.where((which < 0) & ~np.eye(4, dtype=bool), 0, -1)[None]
    asked = SimpleNamespace(which=which, non_neighbours=non_neighbours)
    order = SearchOrder([1, 0, 2, 3], [1, 3], NO_LEAVES, [(0, 2)], 1)
    # Of 10 families with 33 offsets each, those that lead to the nodes are 3, 5, 7 and 9.
    families = SimpleNamespace(rows=np.zeros((10, 2)))
    lists = SimpleNamespace(nodes=32, number=np.array([[3, 5, 7, 9]]), bitmap=True, families=families)
    placed = placements(Layout(asked, order, lists, SimpleNamespace(meet=meet)))
    assert np.array(placed[0].anchors).tolist() == [[-1, 330, 0]]
    assert np.array(placed[1].anchors).tolist() == [[0, 3 * 33, 0]]
    assert np.array(placed[3].anchors).tolist() == [[-1, 332, 0]]
    assert [list(p.distinct_from) for p in placed] == [[], [], [], [0, 2]]  # neighbours differ, and so do 0 and 3
    assert [list(p.below) for p in placed] == [[], [], [1], []]
    assert np.array(placed[2].non_neighbours).tolist() == [[1, 7 * 33, 0]]
    assert len(placed[3].non_neighbours) == 3


def test_what_order_and_looking_ahead_save():
    """Steps and candidates of fixed searches: a weaker order or filter, or looking ahead to nothing, shows here."""
    target = Graph.from_networkx(nx.barabasi_albert_graph(60, 4, seed=1))
    labels = np.random.default_rng(1).integers(0, 2, 60)
    labelled = Graph.from_edges(list(nx.gnp_random_graph(60, 0.2, seed=1).edges), 60, node_labels=labels)
    petersen = Pattern.from_edges(list(nx.petersen_graph().edges), node_labels=[0, 1] * 5)
    bull = Pattern.from_edges([(0, 1), (1, 2), (2, 0), (0, 3), (1, 4)])
    square = Pattern.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
    found = [
        count_matches(query, graph, induced, search=Search(block=64, leaves=False, lookahead=ahead))
        for query, graph, induced, ahead in (
            (square, target, True, False), (bull, target, False, False), (petersen, labelled, True, False),
            (petersen, labelled, True, True),
        )
    ]  # fmt: skip
    assert [(one.steps, one.positions) for one in found] == PINNED


PINNED = [(31, 1772), (952, 58605), (560, 30386), (273, 15566)]  # steps, candidates
