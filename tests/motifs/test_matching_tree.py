"""The matching tree of the NemoGPU paper, an experiment: it counts in random graphs what a census of each counts."""

import numpy as np
import pytest

from experiments.matching_tree import TESTS, count_by_tree, merge_graphs, plan_tree
from jaxmotif.motifs import find_motifs, random_graphs
from tests.census.test_count import random_graph
from tests.more import more

BLOCK = 128


@pytest.mark.parametrize(("size", "directed"), [(3, True), (4, True), *more((4, False))])
def test_counts_of_find_motifs(size, directed):
    """With tables that hold a block alone, so that they fill many times."""
    graph = random_graph(16, 0.2, 5, directed)
    motifs = find_motifs(graph, size, 3, 0)
    drawn = list(random_graphs(graph, 3, 0))
    merged, tree = merge_graphs(drawn), plan_tree(graph, motifs.classes)
    for test in TESTS:
        counts = count_by_tree(merged, tree, BLOCK, BLOCK, test)
        assert counts.sum() > BLOCK
        np.testing.assert_array_equal(counts, motifs.random_counts)
