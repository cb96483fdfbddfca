"""The matching tree of the NemoGPU paper, an experiment: it counts in several graphs what a census of each counts."""

import pytest

from experiments.matching_tree import TESTS, count_by_tree, merge_graphs, plan_tree
from tests.census.test_count import brute_force, random_graph
from tests.more import more

BLOCK = 128


@pytest.mark.parametrize(
    ("size", "directed", "test"),
    [
        *((4, True, "table"), (4, True, "edges"), (3, True, "search")),
        *more((4, True, "search"), (3, True, "table"), (3, True, "edges"), *((4, False, test) for test in TESTS)),
    ],
)
def test_counts_of_a_census(size, directed, test):
    """With tables that hold a block alone, so that they fill many times."""
    graphs = [random_graph(16, 0.2, seed, directed) for seed in (5, 6, 7)]
    census = [brute_force(graph, size) for graph in graphs]
    classes = sorted(set().union(*census))
    merged, tree = merge_graphs(graphs), plan_tree(graphs[0], classes)
    counts = count_by_tree(merged, tree, BLOCK, BLOCK, test)
    assert counts.sum() > BLOCK
    assert counts.tolist() == [[one.get(text, 0) for text in classes] for one in census]
