import json

import jax
import numpy as np
import pytest

from jaxmotif.census._pair_states import census_graphs, graph_edges
from jaxmotif.graph import read_graph
from jaxmotif.motifs import random_graphs
from jaxmotif.motifs._graph_samples import sample_edges
from jaxmotif.motifs.matching_tree import count_by_matching, plan_matching
from tests.census.test_count import CPU, brute_force, random_graph
from tests.more import more

OPTIONS = {
    "directed": {"n": 12, "density": 0.2, "directed": True},
    "undirected": {"n": 12, "density": 0.4, "directed": False, "edge_labels": 2},
    "labelled": {"n": 12, "density": 0.3, "directed": True, "labels": 3, "edge_labels": 2},
}
BLOCK = 256


def count(graph, size, classes, edges, tables=4 * BLOCK, matrix_bytes=1 << 20):
    graphs = census_graphs(graph, edges, matrix_bytes, CPU)
    return count_by_matching(graphs, plan_matching(graph, size, classes), block=BLOCK, tables=[tables] * size)


@pytest.mark.parametrize(("name", "size"), [("labelled", 3), *more(("undirected", 4))])
def test_brute_force(name, size):
    graph = random_graph(**OPTIONS[name], seed=7)
    wanted = brute_force(graph, size)
    found = count(graph, size, list(wanted), graph_edges(graph))
    assert dict(zip(wanted, found[0].tolist(), strict=True)) == wanted


@pytest.mark.parametrize("size", [2, *more(4)])
def test_random_graphs_side_by_side(size):
    """As brute force counts in each, but for classes that the graph itself does not have; one class alone likewise."""
    graph = random_graph(**OPTIONS["directed"], seed=7)
    classes = list(brute_force(graph, size))
    sample = random_graphs(graph, 2, jax.random.key(0), attempts=3)
    found = count(graph, size, classes, sample_edges(sample))
    for i, drawn in enumerate(sample):
        wanted = brute_force(drawn, size)
        assert dict(zip(classes, found[i].tolist(), strict=True)) == {c: wanted.get(c, 0) for c in classes}
    common = int(found.sum(axis=0).argmax())
    alone = count(graph, size, [classes[common]], sample_edges(sample))
    np.testing.assert_array_equal(alone[:, 0], found[:, common])


@pytest.mark.more
def test_whatever_room_there_is():
    graph = random_graph(**OPTIONS["directed"], seed=1)
    wanted = brute_force(graph, 4)
    found = count(graph, 4, list(wanted), graph_edges(graph), tables=BLOCK, matrix_bytes=0)
    assert dict(zip(wanted, found[0].tolist(), strict=True)) == wanted


def test_classes_that_do_not_occur():
    graph = random_graph(**OPTIONS["directed"], seed=3)
    assert count(graph, 3, ["011101110"], graph_edges(graph)).tolist() == [[brute_force(graph, 3).get("011101110", 0)]]
    assert count(graph, 3, [], graph_edges(graph)).shape == (1, 0)


@pytest.mark.parametrize(
    ("name", "size"), [pytest.param("yeast", 4, marks=pytest.mark.slow), *more(("social_prison67", 4))]
)
def test_stored_counts(shared_data, name, size):
    stored = json.loads((shared_data / "directed" / "census.json").read_text())["graphs"][name][str(size)]
    graph = read_graph(shared_data / "directed" / f"{name}.edges", directed=True)
    graphs = census_graphs(graph, graph_edges(graph), 1 << 24, CPU)
    plan = plan_matching(graph, size, list(stored["classes"]))
    found = count_by_matching(graphs, plan, block=1 << 14, tables=[1 << 17] * size)
    assert dict(zip(stored["classes"], found[0].tolist(), strict=True)) == stored["classes"]
