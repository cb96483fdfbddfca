"""What is compiled ahead of five-node graphlets is what these call."""

import sys

import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.graphlets import _count, edge_graphlets, node_orbits
from tests.more import more
from tests.rehearsals import rehearsals  # noqa: F401  (a fixture)


@pytest.mark.parametrize("counted", more(edge_graphlets, node_orbits))
def test_five_nodes(rehearsals, counted, monkeypatch):  # noqa: F811
    monkeypatch.setitem(sys.modules, "jaxmotif.graphlets.five.cpu", None)  # as where numba is not installed
    told, called = rehearsals(_count)
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 40, (120, 2)), 40)
    found = counted(graph, size=5)
    early = {"order_by_degree", "bound_counts"}  # in earnest, to know what comes next
    assert told == {program for program in called if program[0].rpartition(".")[2] not in early}
    assert len(told) > 10
    assert np.asarray(found.values).any()
