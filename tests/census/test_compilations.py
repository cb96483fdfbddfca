"""Data, not shapes: other graphs of about one size compile nothing."""

import jax
import numpy as np
import pytest

from jaxmotif.arrays._compile import Target
from jaxmotif.census import _pair_states
from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import count_classes
from jaxmotif.census._pair_states import ACCELERATOR_LEAST, Alphabet, Edges, census_graphs, graph_edges, room_of
from jaxmotif.census._sizes import Sizes
from jaxmotif.graph import Graph
from jaxmotif.motifs import subgraph_census
from tests.compilations import compilations, programs
from tests.more import more


def sparse_graph(n, seed=0):
    return Graph.from_edges(np.random.default_rng(seed).integers(0, n, (3 * n, 2)), n, directed=True)


@pytest.mark.parametrize("number", [12, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("size", [3, *more(4)])
def test_graphs_of_many_sizes(size, number):
    rng, nodes = np.random.default_rng(0), np.linspace(20, 400, number).astype(int).tolist()
    graphs = [Graph.from_edges(rng.integers(0, n, (int(n * rng.uniform(1, 8)), 2)), n, directed=True) for n in nodes]
    assert len({graph.n for graph in graphs}) == number
    with programs() as found:
        totals = [subgraph_census(graph, size).total for graph in graphs]
    assert min(totals) > 0
    assert len(found) <= 12, found
    assert "_added" in str(found)


def test_other_graphs_and_other_numbers_of_them():
    """As motif discovery counts batches: on a device, whatever the nodes, edges and random graphs."""
    sizes = Sizes(block=1 << 10, table=1 << 12, candidates=1 << 12, codes=1 << 14, distinct=1 << 12, least=1 << 12)

    def count(n, graphs):
        graph = sparse_graph(n, n)
        tails, heads, _ = graph_edges(graph)
        edges = Edges(np.repeat(tails, graphs, axis=0), np.repeat(heads, graphs, axis=0), None)
        ready = census_graphs(graph, edges, 1 << 20, jax.devices("cpu")[0])
        with compilations() as found:
            counts = count_classes(ready, 3, Classifier(Alphabet.of(graph), 3), sizes)
        assert counts.shape[0] == graphs
        assert (counts == counts[0]).all()
        assert counts[0].sum() == subgraph_census(graph, 3).total
        return found

    count(40, 9)
    assert count(31, 12) == []
    assert count(25, 16) == []


def test_programs_depend_on_no_memory_that_is_free(monkeypatch):
    """Beyond the least matrix an accelerator takes the largest one; limits are rounded down to powers of two."""
    monkeypatch.setattr(_pair_states, "target_of", lambda device: Target("cuda"))

    def cells(nodes: int, limit: int) -> int:
        return room_of(1, nodes, 10 * nodes, ACCELERATOR_LEAST, jax.devices()[0], limit).cells

    assert cells(8_192, 2**31) == 2**26
    assert cells(8_193, 2**31) == cells(46_340, 2**31) == 2**31 - 64
    assert cells(46_341, 2**31) == 0
    assert {cells(20_000, limit) for limit in (2**29, 2**29 + 1, 700_000_001, 2**30 - 1)} == {2**29}
    assert cells(25_000, 700_000_001) == 0
