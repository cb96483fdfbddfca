"""GraphMatcher and DiGraphMatcher against networkx's own."""

import pytest

nx = pytest.importorskip("networkx")

from networkx.algorithms import isomorphism as theirs  # noqa: E402

from jaxmotif.compat.networkx import DiGraphMatcher, GraphMatcher  # noqa: E402


def mappings(found):
    return {frozenset(mapping.items()) for mapping in found}


def example(directed, seed):
    graph = nx.gnp_random_graph(9, 0.4, seed=seed, directed=directed)
    graph.add_edge(0, 0, kind="a")
    for v in graph:
        graph.nodes[v]["color"] = v % 3
    for i, (u, v) in enumerate(sorted(graph.edges)):
        graph.edges[u, v]["kind"] = "ab"[i % 2]
        graph.edges[u, v]["sources"] = [u, v]  # cannot be hashed
    return graph


@pytest.mark.parametrize("directed", [False, True])
def test_all_questions_of_networkx(directed):
    ours, other = (DiGraphMatcher, theirs.DiGraphMatcher) if directed else (GraphMatcher, theirs.GraphMatcher)
    target, query = example(directed, 1), example(directed, 2).subgraph([0, 1, 2, 3]).copy()
    color, kind = theirs.categorical_node_match("color", None), theirs.categorical_edge_match("kind", None)
    found = 0
    for matches in ({}, {"node_match": color}, {"edge_match": kind}, {"node_match": color, "edge_match": kind}):
        mine, reference = ours(target, query, **matches), other(target, query, **matches)
        for question in ("isomorphisms_iter", "subgraph_isomorphisms_iter", "subgraph_monomorphisms_iter"):
            expected = mappings(getattr(reference, question)())
            assert mappings(getattr(mine, question)()) == expected, (matches, question)
            found += len(expected)
        assert mine.subgraph_is_monomorphic() == reference.subgraph_is_monomorphic()
        assert not mine.mapping or frozenset(mine.mapping.items()) in mappings(reference.subgraph_monomorphisms_iter())
        assert not mine.is_isomorphic()
    assert found
    same = nx.relabel_nodes(target, {v: (5 * v + 2) % 9 for v in target})
    assert ours(target, same, color, kind).is_isomorphic() == other(target, same, color, kind).is_isomorphic() is True


@pytest.mark.parametrize(
    "query", [nx.Graph(), nx.path_graph(4), nx.empty_graph(2)], ids=["empty", "larger", "no edges"]
)
def test_graphs_without_nodes_or_edges_and_larger_ones(query):
    target, kind = nx.path_graph(3), theirs.categorical_edge_match("kind", None)
    mine, reference = GraphMatcher(target, query, edge_match=kind), theirs.GraphMatcher(target, query, edge_match=kind)
    assert mine.is_isomorphic() == reference.is_isomorphic() is False
    for question in ("subgraph_isomorphisms_iter", "subgraph_monomorphisms_iter"):
        assert mappings(getattr(mine, question)()) == mappings(getattr(reference, question)()), question


def test_refusals():
    path, arcs = nx.path_graph(3), nx.DiGraph([(0, 1)])
    with pytest.raises(TypeError, match="two undirected graphs"):
        GraphMatcher(path, arcs)
    with pytest.raises(ValueError, match="MultiGraphMatcher"):
        GraphMatcher(nx.MultiGraph(path), path)
    weights = nx.Graph()
    weights.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 1.5), (2, 3, 2.0)])
    near = theirs.numerical_edge_match("weight", 1.0, atol=0.6)
    with pytest.raises(ValueError, match="sorts? edges into kinds"):
        list(GraphMatcher(weights, weights, edge_match=near).isomorphisms_iter())
    between = nx.Graph()  # either edge matches just two of the three
    between.add_weighted_edges_from([(0, 1, 1.25), (1, 2, 1.9)])
    with pytest.raises(ValueError, match="sorts? edges into kinds"):
        list(GraphMatcher(weights, between, edge_match=near).subgraph_monomorphisms_iter())
