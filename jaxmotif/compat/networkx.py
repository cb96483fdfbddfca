"""networkx's matchers, served by the level search.

``GraphMatcher`` and ``DiGraphMatcher`` take the place of those in :mod:`networkx.algorithms.isomorphism`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxmotif.graph import Graph
from jaxmotif.matching import iter_matches

if TYPE_CHECKING:
    import networkx as nx

Node = Hashable
Match = Callable[[dict, dict], bool]


class GraphMatcher:
    """Isomorphisms between two graphs, and of the second in the first, with networkx's interface.

    Args:
      G1: a networkx ``Graph``, the one searched, of any size.
      G2: another, of at most 1024 nodes. Self loops must agree as in networkx.
      node_match: of the attributes of a node of G1 and one of G2, whether these may be mapped to each other.
      edge_match: likewise of edges. It must sort edges into kinds: two edges of G1 that match one edge of G2 must
        match the same ones, as with networkx's ``categorical_edge_match``.

    Attributes:
      mapping: of nodes of G1 to nodes of G2, once one of the ``is_`` methods has found one.

    Raises:
      TypeError: graphs that are not both undirected (``DiGraphMatcher``: directed).
      ValueError: multigraphs, a pattern that is too large, or an ``edge_match`` that sorts edges into no kinds.

    Example:
      >>> import networkx as nx
      >>> matcher = GraphMatcher(nx.complete_graph(4), nx.cycle_graph(4))
      >>> matcher.is_isomorphic(), matcher.subgraph_is_isomorphic(), matcher.subgraph_is_monomorphic()
      (False, False, True)
      >>> matcher.mapping[0], len(list(matcher.subgraph_monomorphisms_iter()))
      (0, 24)
    """

    directed = False

    def __init__(self, G1: nx.Graph, G2: nx.Graph, node_match: Match | None = None, edge_match: Match | None = None):
        if {G1.is_directed(), G2.is_directed()} != {self.directed}:
            kind = "directed" if self.directed else "undirected"
            raise TypeError(f"{type(self).__name__} takes two {kind} graphs; use GraphMatcher or DiGraphMatcher")
        if G1.is_multigraph() or G2.is_multigraph():
            raise ValueError("multigraphs are not matched here; use networkx's MultiGraphMatcher, or nx.Graph(graph)")
        self.G1, self.G2 = G1, G2
        self.node_match, self.edge_match = node_match, edge_match
        self.mapping: dict[Node, Node] = {}

    def is_isomorphic(self) -> bool:
        """Whether the graphs are isomorphic."""
        return self._first(self.isomorphisms_iter())

    def isomorphisms_iter(self) -> Iterator[dict[Node, Node]]:
        """Each isomorphism, as a mapping of nodes of G1 to nodes of G2."""
        if not same_degrees(self.G1, self.G2):
            return iter(())
        return self._mappings(True)

    match = isomorphisms_iter

    def subgraph_is_isomorphic(self) -> bool:
        """Whether an induced subgraph of G1 is isomorphic to G2."""
        return self._first(self.subgraph_isomorphisms_iter())

    def subgraph_isomorphisms_iter(self) -> Iterator[dict[Node, Node]]:
        """Each induced subgraph of G1 that is isomorphic to G2, as a mapping of its nodes to those of G2."""
        return self._mappings(True)

    def subgraph_is_monomorphic(self) -> bool:
        """Whether a subgraph of G1, induced or not, is isomorphic to G2."""
        return self._first(self.subgraph_monomorphisms_iter())

    def subgraph_monomorphisms_iter(self) -> Iterator[dict[Node, Node]]:
        """Each subgraph of G1, induced or not, that is isomorphic to G2."""
        return self._mappings(False)

    def _first(self, mappings: Iterator[dict[Node, Node]]) -> bool:
        found = next(mappings, None)
        self.mapping = {} if found is None else found
        return found is not None

    def _mappings(self, induced: bool) -> Iterator[dict[Node, Node]]:
        kinds = None if self.edge_match is None else _edge_kinds(self.G1, self.G2, self.edge_match)
        target, query = Side.of(self.G1), Side.of(self.G2)
        allowed = _loops_allow(query, target, induced)
        if self.node_match is not None:
            allowed = _both(allowed, _nodes_allow(self.G1, self.G2, self.node_match))
        if self.edge_match is not None:
            allowed = _both(allowed, _loop_kinds_allow(self.G1, self.G2, self.edge_match))
        if kinds is not None:
            target, query = (side._replace(labels=labels) for side, labels in zip((target, query), kinds, strict=True))
        for map_ in mappings(query, target, induced, allowed):
            yield {v: u for u, v in map_.items()}


class DiGraphMatcher(GraphMatcher):
    """:class:`GraphMatcher` for directed graphs.

    Example:
      >>> import networkx as nx
      >>> DiGraphMatcher(nx.DiGraph([(0, 1), (1, 2)]), nx.DiGraph([("b", "a")])).subgraph_is_isomorphic()
      True
    """

    directed = True


class Side(NamedTuple):
    """A networkx graph as it is matched: nodes in order, pairs of their places, a label for each pair (or none), loops
    at each node."""

    nodes: list[Node]
    pairs: np.ndarray
    labels: np.ndarray | None
    loops: np.ndarray
    directed: bool

    @classmethod
    def of(cls, graph: nx.Graph) -> Side:
        """Parallel edges are one pair; how many they are is its label."""
        nodes = list(graph)
        index = {node: i for i, node in enumerate(nodes)}
        directed, multigraph = graph.is_directed(), graph.is_multigraph()
        pairs = np.array([(index[u], index[v]) for u, v in graph.edges()], np.int64).reshape(-1, 2)
        loop = pairs[:, 0] == pairs[:, 1]
        loops = np.bincount(pairs[loop, 0], minlength=len(nodes))
        labels, pairs = None, pairs[~loop]
        if multigraph:
            pairs, labels = np.unique(pairs if directed else np.sort(pairs), axis=0, return_counts=True)
        return cls(nodes, pairs, labels, loops, directed)

    def graph(self) -> Graph:
        return Graph.from_edges(self.pairs, len(self.nodes), self.directed, edge_labels=self.labels)


def mappings(query: Side, target: Side, induced: bool, allowed: np.ndarray | None = None) -> Iterator[dict[Node, Node]]:
    """Each map of the query's nodes to the target's that preserves edges (and their labels), as they are found.

    Args:
      allowed: bool ``[k, n]``, which target nodes a query node may map to; ``None`` for all.
    """
    if len(query.nodes) > len(target.nodes):
        return
    if not query.nodes:
        yield {}
        return
    for block in iter_matches(query.graph(), target.graph(), induced, domains=allowed):
        for row in block.tolist():
            yield {u: target.nodes[v] for u, v in zip(query.nodes, row, strict=True)}


def same_degrees(G1: Any, G2: Any) -> bool:
    """Whether the graphs have equally many nodes of each degree: the quick way to see that they are not isomorphic."""
    if G1.is_directed():
        return Counter(dict(G1.in_degree).values()) == Counter(dict(G2.in_degree).values()) and Counter(
            dict(G1.out_degree).values()
        ) == Counter(dict(G2.out_degree).values())
    return Counter(dict(G1.degree).values()) == Counter(dict(G2.degree).values())


def _both(first: np.ndarray | None, second: np.ndarray | None) -> np.ndarray | None:
    if first is None or second is None:
        return second if first is None else first
    return first & second


def _loops_allow(query: Side, target: Side, induced: bool) -> np.ndarray | None:
    if not query.loops.any() and not (induced and target.loops.any()):
        return None
    asked, had = query.loops[:, None], target.loops[None]
    return had == asked if induced else had >= asked


def _nodes_allow(G1: nx.Graph, G2: nx.Graph, match: Match) -> np.ndarray:
    """Which nodes of G1 those of G2 may map to, ``[k, n]``."""
    (first, at_first), (second, at_second) = (_kinds([graph.nodes[v] for v in graph]) for graph in (G1, G2))
    table = np.array([[bool(match(a, b)) for a in first] for b in second], bool).reshape(len(second), len(first))
    return table[np.ix_(at_second, at_first)]


def _loop_kinds_allow(G1: nx.Graph, G2: nx.Graph, match: Match) -> np.ndarray | None:
    loops = [{i: graph[v][v] for i, v in enumerate(graph) if v in graph[v]} for graph in (G1, G2)]
    if not all(loops):
        return None
    allowed = np.ones((len(G2), len(G1)), bool)
    for (j, a), (i, b) in product(loops[0].items(), loops[1].items()):
        allowed[i, j] = bool(match(a, b))
    return allowed


def _edge_kinds(G1: nx.Graph, G2: nx.Graph, match: Match) -> tuple[np.ndarray, np.ndarray] | None:
    """Labels of the edges (without loops) of G1 and G2 that are equal exactly where they match.

    Edges of G1 are of one kind when they match the same edges of G2; labels say so only if no edge of G2 then fits two
    kinds.
    """
    data = [[d for u, v, d in graph.edges(data=True) if u != v] for graph in (G1, G2)]
    (first, at_first), (second, at_second) = (_kinds(attributes) for attributes in data)
    if not first or not second:
        return None
    table = np.array([[bool(match(a, b)) for a in first] for b in second])
    columns, kind = np.unique(table, axis=1, return_inverse=True)  # a column: what one edge of G1 matches
    if (columns.sum(axis=1) > 1).any():
        raise ValueError(
            "edge_match does not sort edges into kinds (as a tolerance does not), so it is no label; use networkx's "
            "own matcher, or round the attribute first"
        )
    fits = np.where(columns.any(axis=1), columns.argmax(axis=1), columns.shape[1])
    return kind.reshape(-1)[at_first], fits[at_second]


def _kinds(attributes: list[dict]) -> tuple[list[dict], np.ndarray]:
    """The different ones among attribute dictionaries, so that each is compared once; and which each is."""
    found: dict[Any, int] = {}
    different: list[dict] = []
    places = np.zeros(len(attributes), np.int64)
    for i, data in enumerate(attributes):
        try:
            key = frozenset((name, type(value), value) for name, value in data.items())
            place = found.setdefault(key, len(different))
        except TypeError:  # a value that cannot be hashed: compared on its own
            place = len(different)
        if place == len(different):
            different.append(data)
        places[i] = place
    return different, places
