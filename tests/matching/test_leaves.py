"""Leaves counted in closed form, exactly whatever their number."""

import math

import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.matching import Search, count_matches
from jaxmotif.matching._leaves import choose_leaves, coefficient, limbs_for, partitions
from jaxmotif.matching._reduce import Measures
from jaxmotif.patterns import Pattern, twin_classes


def star(leaves):
    return Pattern.from_edges([(0, v) for v in range(1, leaves + 1)])


def measured(query, candidates):
    k = query.num_nodes
    sizes = np.full(k, candidates)
    return Measures(sizes, candidates, np.zeros((k, k)), sizes, np.full(k, float(candidates)), np.ones((k, k), bool))


def leaves_of(query, candidates, order):
    tied = np.zeros(query.num_nodes, bool)
    return choose_leaves(query.neighbors, twin_classes(query), measured(query, candidates), order, tied)


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


def test_leaves_are_independent_and_leave_the_rest_connected():
    path = Pattern.from_edges([(0, 1), (1, 2), (2, 3)])
    plan = leaves_of(path, 9, [1, 2, 0, 3])
    assert sorted(plan.nodes) == [0, 3]
    triangle = Pattern.from_edges([(0, 1), (1, 2), (2, 0)])
    assert len(leaves_of(triangle, 9, [0, 1, 2]).nodes) == 1
