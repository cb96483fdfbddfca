from itertools import combinations, permutations

import numpy as np
import pytest

from jaxmotif.motifs.matching_tree import PrefixOrder, PrefixOrders
from jaxmotif.patterns import Pattern
from tests.more import more
from tests.patterns.test_canonical import key, random_pattern


def occurrences(graph, pattern, order):
    """The graph nodes that look like the pattern's in this order and fulfil its conditions."""
    k = len(order.nodes)
    wanted = key(pattern, order.nodes)
    for row in permutations(range(graph.num_nodes), k):
        below = all(row[a] < row[i] for i in range(k) for a in range(i) if order.after[i] >> a & 1)
        if below and key(graph, row) == wanted:
            yield frozenset(row)


@pytest.mark.parametrize(("directed", "labels"), [(True, None), (False, 2), *more((False, None), (True, 2))])
def test_every_occurrence_of_every_beginning_is_met_once(directed, labels):
    for seed in range(3):
        graph = random_pattern(np.random.default_rng(seed), 6, directed, labels)
        prefixes = PrefixOrders(lambda pattern: pattern.neighbors)
        for nodes in combinations(range(6), 4):
            pattern = graph.relabel(nodes)
            if len(pattern.components()) > 1:
                continue
            orders = prefixes.of(pattern)
            met = [found for order in orders for found in occurrences(graph, pattern, order)]
            assert frozenset(nodes) in met
            assert len(set(met)) == len(met)
            beginnings = {key(pattern, o.nodes[:3]): PrefixOrder(o.nodes[:3], o.after[:3]) for o in orders}
            met = [found for order in beginnings.values() for found in occurrences(graph, pattern, order)]
            assert len(set(met)) == len(met)


def test_patterns_apart():
    with pytest.raises(ValueError, match="must be connected"):
        PrefixOrders(lambda pattern: pattern.neighbors).of(Pattern.from_edges([(0, 1)], 3))
