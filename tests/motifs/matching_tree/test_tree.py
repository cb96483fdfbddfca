import numpy as np

from jaxmotif.motifs.matching_tree import matching_tree
from jaxmotif.patterns import greatest_constraint_first
from tests.patterns.test_canonical import random_pattern


def test_matching_tree_shares_beginnings():
    patterns = [random_pattern(np.random.default_rng(s), 4, True) for s in range(20)]
    orders = [greatest_constraint_first(p) for p in patterns]
    tree = matching_tree(patterns, orders)
    assert len(set(zip(tree.parent, tree.step, strict=True))) == len(tree.parent)
    for pattern, order, node in zip(patterns, orders, tree.leaf, strict=True):
        path = []
        while node >= 0:
            path.append(tree.step[node])
            node = tree.parent[node]
        entries = pattern.relabel(order).entries
        assert path[::-1] == [
            (0, *((entries[i, j], entries[j, i]) for j in range(i))) for i in range(pattern.num_nodes)
        ]
