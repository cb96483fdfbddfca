"""The search of GRASS, an experiment: it finds what the package counts, in one step and in many."""

import numpy as np
import pytest

from experiments import grass
from jaxmotif.graph import Graph
from jaxmotif.matching import count_matches
from tests.more import more

MANY, FEW = (2**12, 2**4), (2**6, 2**3)
"""Lanes and the size of a block."""


@pytest.mark.parametrize(
    ("directed", "induced", "sizes"),
    [
        *((False, False, MANY), (False, True, FEW), (True, False, FEW), (True, True, MANY)),
        *more((False, False, FEW), (False, True, MANY), (True, False, MANY), (True, True, FEW)),
    ],
)
def test_counts_of_the_package(directed, induced, sizes, monkeypatch):
    lanes, block = sizes
    monkeypatch.setattr(grass, "LANES", lanes)
    monkeypatch.setattr(grass, "BLOCK", block)
    rng = np.random.default_rng(1)
    edges = np.argwhere(rng.random((14, 14)) < 0.3)
    target = Graph.from_edges(edges, 14, directed, node_labels=rng.integers(0, 2, 14))
    query = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], 4, directed, node_labels=[0, 1, 0, 1])
    found = grass.search(grass.tree_of(query, target, induced), induced, 60)
    assert found.whole
    assert found.matches == count_matches(query, target, induced).count > 0
    assert found.lanes >= found.paths > 0
