"""Front doors inside ``jax.jit``: each says that it works on the host, and which functions do not."""

import jax
import jax.numpy as jnp
import pytest

import jaxmotif
from jaxmotif import features, matching
from jaxmotif.graph import Graph, Graphs, stack_graphs

TRIANGLE = [(0, 1), (1, 2), (2, 0)]
DOORS = {
    "graphlet_counts": jaxmotif.graphlet_counts,
    "five nodes": lambda graph: jaxmotif.graphlet_counts(graph, size=5),
    "edge_graphlets": jaxmotif.edge_graphlets,
    "node_orbits": jaxmotif.node_orbits,
    "count_matches": lambda graph: jaxmotif.count_matches("triangle", graph),
    "count_matches, query": lambda graph: jaxmotif.count_matches(graph, TRIANGLE),
    "count_queries": lambda graph: list(matching.count_queries(["triangle"], graph)),
    "find_matches": lambda graph: jaxmotif.find_matches("triangle", graph),
    "iter_matches": lambda graph: list(jaxmotif.iter_matches("triangle", graph)),
    "has_match": lambda graph: jaxmotif.has_match("triangle", graph),
    "query": lambda graph: jaxmotif.count_matches(jaxmotif.query("A -> B"), graph),
    "participation_counts": lambda graph: jaxmotif.participation_counts("triangle", graph),
    "occurrences": lambda graph: jaxmotif.occurrences(graph, "triangle"),
    "subgraph_census": lambda graph: jaxmotif.subgraph_census(graph, 3),
    "estimate_census": lambda graph: jaxmotif.estimate_census(graph, 4, samples=100),
    "sample_subgraphs": lambda graph: jaxmotif.sample_subgraphs(graph, 4, 100),
    "find_motifs": lambda graph: jaxmotif.find_motifs(graph, 3),
    "random_graphs": lambda graph: jaxmotif.random_graphs(graph, 4),
    "find_color_motif": lambda graph: jaxmotif.find_color_motif(graph, [0, 0, 1], {0: 1, 1: 1}, 0),
    "pattern_features": lambda graph: jaxmotif.pattern_features(graph, ["triangle"]),
    "gdv_similarity": features.gdv_similarity,
    "graphlet_degree_agreement": lambda graph: features.graphlet_degree_agreement(graph, TRIANGLE),
    "graphlet_correlation_matrix": features.graphlet_correlation_matrix,
    "n": lambda graph: jaxmotif.graph.as_graph(graph).n,
}
OF_EDGES = {"from_edges": Graph.from_edges, "Graphs": lambda edges: Graphs.from_edges([edges, edges])}


def check(door, given):
    with pytest.raises(TypeError, match=r"its graph is traced.*Graph\.from_edge_index.*dense_"):
        jax.jit(lambda graph: (door(graph), jnp.int32(0))[1])(given)


@pytest.mark.parametrize("name", DOORS)
def test_a_traced_graph_or_edge_array_is_refused(name):
    check(DOORS[name], Graph.from_edges(TRIANGLE))
    check(DOORS[name], jnp.array(TRIANGLE))


@pytest.mark.parametrize("name", OF_EDGES)
def test_traced_edges_are_refused(name):
    check(OF_EDGES[name], jnp.array(TRIANGLE))


def test_a_traced_stack_is_refused():
    graphs = stack_graphs([Graph.from_edges(TRIANGLE)] * 2)
    for name in ("graphlet_counts", "count_matches", "subgraph_census", "pattern_features"):
        check(DOORS[name], graphs)
        with pytest.raises(TypeError, match="its graph is traced"):
            jax.vmap(lambda graph, door=DOORS[name]: (door(graph), jnp.int32(0))[1])(graphs)
