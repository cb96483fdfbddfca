"""Leaves counted in closed form, exactly whatever their number."""

import math

import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching import Search, count_matches
from jaxmotif.matching.planner._leaves import Block, choose_leaves, coefficient, limbs_for, partitions, products
from jaxmotif.matching.planner._reduce import Measures
from jaxmotif.patterns import Pattern
from tests.matching.oracle import count_injections, random_graph


def star(leaves):
    return Pattern.from_edges([(0, v) for v in range(1, leaves + 1)])


def measured(query, candidates):
    k = query.num_nodes
    sizes = np.full(k, candidates)
    return Measures(
        sizes, candidates, np.zeros((k, k)), sizes, np.full(k, float(candidates)), *np.ones((2, k, k), bool)
    )


def leaves_of(query, candidates, order):
    tied = np.zeros(query.num_nodes, bool)
    return choose_leaves(np.where(query.neighbors, 0, -1), measured(query, candidates), order, tied)


@pytest.mark.parametrize("leaves", [4, 5, 8, 30])
def test_a_star_in_a_large_star(leaves):
    """Products of 50 to 369 bits: each number of limbs."""
    target = Graph.from_edges([(0, v) for v in range(1, 5001)], 5001)
    found = count_matches(star(leaves), target)
    assert (found.count, found.exact) == (math.perm(5000, leaves), True)
    assert len(found.leaves) == leaves
    assert count_matches(star(leaves), target, per="occurrence").count == math.comb(5000, leaves)


def test_products_of_groups_beyond_64_bits():
    """Two hubs with leaves of their own labels: groups multiply limb by limb; one competes, with negative terms."""
    size = 700
    rows = [(0, 1), *((0, 2 + v) for v in range(size)), *((1, 2 + size + v) for v in range(size))]
    labels = [0, 1, *[2] * size, *[3] * size]
    target = Graph.from_edges(rows, 2 + 2 * size, node_labels=labels)
    edges = [(0, 1), *((0, 2 + i) for i in range(4)), *((1, 6 + i) for i in range(4))]
    query = Pattern.from_edges(edges, node_labels=[0, 1, *[2] * 4, *[3] * 4])
    found = count_matches(query, target)
    assert found.count == math.perm(size, 4) ** 2 > 2**64
    assert len(found.leaves) == 8
    competing = Pattern.from_edges(edges, node_labels=[0, 1, 2, 2, 9, 2, *[3] * 4])
    found = count_matches(competing, target, wildcard=9)
    assert found.count == math.perm(size, 4) * math.perm(size, 4)
    assert len(found.leaves) == 8


def test_several_devices_add_up_the_same():
    target = Graph.from_edges([(0, v) for v in range(1, 5001)], 5001)
    assert count_matches(star(7), target, devices=2, search=Search(block=64)).count == math.perm(5000, 7)


def test_too_many_ways_are_no_leaves():
    """What no number of limbs holds is left to the search, not wrapped."""
    query = star(60)
    plan = leaves_of(query, 5000, list(range(61)))
    assert plan.limbs == 16
    assert 5000 ** len(plan.nodes) <= 2 ** (32 * 16 - 12) < 5000 ** (len(plan.nodes) + 1)
    assert [limbs_for(5000**k) for k in (4, 5, 9, 10, 19, 20, 40, 41)] == [2, 4, 4, 8, 8, 16, 16, None]


def test_partitions_have_the_coefficients_of_injections():
    """Of n things into m places, injections are the falling factorial."""
    for n in range(1, 6):
        for m in range(7):
            signed = sum(coefficient(p) * m ** len(p) for p in partitions(list(range(n))))
            assert signed == math.perm(m, n)


TRIANGLE = [(0, 1), (1, 2), (0, 2)]
NESTED = {
    "a chain": [*TRIANGLE, (3, 0), (4, 0), (4, 1), (5, 0), (5, 1), (5, 2)],
    "twins around one": [(0, 1), (2, 0), (3, 0), (4, 0), (5, 0), (5, 1)],
    "twins inside twins": [(0, 1), (2, 0), (3, 0), (4, 0), (4, 1), (5, 0), (5, 1)],
    "around two that cross": [*TRIANGLE, (3, 0), (3, 1), (4, 0), (4, 2), (5, 0)],
    "only crossing": [*TRIANGLE, (3, 0), (3, 1), (4, 0), (4, 2), (5, 1), (5, 2)],
    "apart": [(0, 1), (2, 0), (3, 0), (4, 1), (5, 1)],
}


@pytest.mark.parametrize("edges", NESTED.values(), ids=NESTED)
def test_leaves_whose_candidates_hold_those_of_others(edges):
    """Against all maps: without labels, with labels that leave other leaves inside each other, with given domains;
    too few candidates now and then."""
    rng = np.random.default_rng(len(edges))
    for _ in range(4):
        pattern, target = random_graph(rng, 9, 0.5, False, 2, None)
        for labels in (None, np.where(rng.random(6) < 0.3, 9, 0)):
            query = Pattern.from_edges(edges, 6, node_labels=labels)
            expected = count_injections(query, pattern, False, 9)
            for search in (Search(), Search(block=64)):
                found = count_matches(query, target, wildcard=9, search=search)
                assert found.count == expected
                assert len(found.leaves) >= 3 or not expected  # where a domain is empty nothing is planned
        allowed = rng.random((6, 9)) < 0.7
        found = count_matches(query, target, wildcard=9, domains=allowed, search=Search(block=64))
        assert found.count == count_injections(query, pattern, False, 9, allowed)


def test_leaves_in_layers():
    """A leaf that holds the candidates of all others is one factor, whatever else competes."""
    edges = [*TRIANGLE, (3, 0), (4, 0), (5, 0), (5, 1), (6, 0), (6, 2)]
    plan = leaves_of(Pattern.from_edges(edges), 9, list(range(7)))
    [group] = plan.groups
    outer, tangled = products(plan, group)
    assert outer == [(1, [Block((3,), less=2, leaves=2)])]
    assert sorted(tangled) == [(-1, [Block((5, 6))]), (1, [Block((5,)), Block((6,))])]
    alike = leaves_of(star(3), 9, [0, 1, 2, 3])
    assert products(alike, alike.groups[0]) == [[(1, [Block((1,), less=0, leaves=3)])]]


def test_domains_that_overlap_have_no_more_nodes_than_there_are():
    """Rows of bits are over the union of the domains: of 1,100 nodes, not of twice as many."""
    crossing = Pattern.from_edges([*TRIANGLE, (3, 0), (3, 1), (4, 0), (4, 2)])
    assert sorted(leaves_of(crossing, 1100, list(range(5))).nodes) == [3, 4]
    assert leaves_of(crossing, 2048, list(range(5))).nodes == []


def test_equal_products_of_a_group_are_one():
    """Two pairs of twins that cross: of 15 ways to part four leaves, those that twins exchange are one product."""
    edges = [*TRIANGLE, *((v, u) for v in (3, 4) for u in (0, 1)), *((v, u) for v in (5, 6) for u in (0, 2))]
    plan = leaves_of(Pattern.from_edges(edges), 9, list(range(7)))
    [terms] = products(plan, plan.groups[0])
    assert len(terms) < 15
    sizes = {(3,): 4, (5,): 5, (3, 5): 2}
    # Of sets of 4 and 5 nodes, 2 of them common: by those of the first pair that take common nodes.
    expected = sum(math.comb(2, j) * math.perm(2, j) * math.perm(2, 2 - j) * math.perm(5 - j, 2) for j in range(3))
    assert sum(times * math.prod(sizes[block.sets] for block in blocks) for times, blocks in terms) == expected


def test_leaves_are_independent_and_leave_the_rest_connected():
    path = Pattern.from_edges([(0, 1), (1, 2), (2, 3)])
    plan = leaves_of(path, 9, [1, 2, 0, 3])
    assert sorted(plan.nodes) == [0, 3]
    triangle = Pattern.from_edges([(0, 1), (1, 2), (2, 0)])
    assert len(leaves_of(triangle, 9, [0, 1, 2]).nodes) == 1
