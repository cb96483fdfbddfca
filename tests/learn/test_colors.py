"""Color refinement and its kernel against a plain one with dictionaries."""

from collections import Counter
from itertools import chain

import networkx as nx
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.graph import Graphs

pytest.importorskip("sklearn")

from jaxmotif.learn import WeisfeilerLehmanKernel
from jaxmotif.learn._colors import refined_colors


def plain_colors(neighbours: list[list[int]], labels: list[int], rounds: int) -> list[list[object]]:
    """Colors as nested tuples."""
    colors: list[list[object]] = [list(labels)]
    for _ in range(rounds):
        last = colors[-1]
        colors.append([hash((last[v], tuple(sorted(last[w] for w in near)))) for v, near in enumerate(neighbours)])
    return colors


def plain_kernel(graphs: list[tuple[list[list[int]], list[int]]], rounds: int) -> np.ndarray:
    counts = [Counter((i, c) for i, row in enumerate(plain_colors(*one, rounds)) for c in row) for one in graphs]
    return np.array([[sum(n * two[color] for color, n in one.items()) for two in counts] for one in counts], float)


@pytest.fixture(scope="module")
def some():
    """Graphs of every density with labels, a hub, nodes without neighbours and one graph without edges."""
    rng = np.random.default_rng(4)
    nets = [nx.gnp_random_graph(n, p, seed=n) for n in range(4, 16) for p in (0.1, 0.3, 0.7)]
    nets += [nx.star_graph(40), nx.empty_graph(3)]
    labels = [rng.integers(0, 3, len(net)).tolist() for net in nets]
    plain = [([sorted(net[v]) for v in net], own) for net, own in zip(nets, labels, strict=True)]
    graphs = Graphs.from_edges(
        [np.array(net.edges).reshape(-1, 2) for net in nets], [len(n) for n in nets], False, labels
    )
    return graphs, plain


def test_colors_are_equal_where_plain_ones_are(some):
    graphs, plain = some
    found = np.asarray(refined_colors(graphs.union(), 4))[:, : graphs.node_starts[-1]]
    rows = zip(*[plain_colors(*one, 4) for one in plain], strict=True)
    expected = [list(chain(*row)) for row in rows]
    for mine, theirs in zip(found.tolist(), expected, strict=True):
        assert len(set(mine)) == len(set(theirs)) == len(set(zip(mine, theirs, strict=True)))
    assert len(set(found[0])) < len(set(found[-1]))


@pytest.mark.parametrize("rounds", [0, 3])
def test_kernel_is_the_plain_one(some, rounds):
    graphs, plain = some
    expected = plain_kernel(plain, rounds)
    kernel = WeisfeilerLehmanKernel(rounds, normalize=False)
    np.testing.assert_array_equal(kernel.fit_transform(graphs), expected)
    few = Graphs.from_graphs([graphs[i] for i in range(0, len(graphs), 3)])
    np.testing.assert_array_equal(kernel.transform(few), expected[::3])
    np.testing.assert_array_equal(kernel.fit(few).transform(graphs), expected[:, ::3])
    length = np.sqrt(np.diag(expected))
    cosines = WeisfeilerLehmanKernel(rounds).fit_transform(graphs)
    np.testing.assert_allclose(cosines, expected / np.outer(length, length))


def test_successors_of_directed_graphs_count():
    graphs = Graphs.from_graphs(
        [Graph.from_edges(edges, 3, directed=True) for edges in ([(0, 1), (0, 2)], [(1, 0), (2, 0)])]
    )
    found = WeisfeilerLehmanKernel(1, normalize=False).fit_transform(graphs)
    assert found.tolist() == [[9 + 5, 9 + 2], [9 + 2, 9 + 5]]


def test_six_ring_and_two_triangles_look_alike():
    ring, triangles = [(i, (i + 1) % 6) for i in range(6)], [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    np.testing.assert_allclose(WeisfeilerLehmanKernel().fit_transform([ring, triangles]), 1)
    with pytest.raises(ValueError, match="rounds"):
        WeisfeilerLehmanKernel(-1).fit([ring])
