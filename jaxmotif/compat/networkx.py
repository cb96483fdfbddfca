"""Matchers with networkx's interface, served by the level search.

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
    """A matcher with networkx's interface, for isomorphisms between two graphs and of the second in the first.

    Args:
      G1: a networkx ``Graph`` of any size, which is searched.
      G2: another one of at most 1024 nodes. Self loops must agree as in networkx.
      node_match: a function of the attributes of a node of G1 and of a node of G2, which returns whether the nodes may
        be mapped to each other.
      edge_match: such a function for edges. It must sort edges into kinds: two edges of G1 that match the same edge of
        G2 must match all the same edges, as with networkx's ``categorical_edge_match``.

    Attributes:
      mapping: a map of nodes of G1 to nodes of G2, once one of the ``is_`` methods has found one.

    Raises:
      TypeError: for graphs that are not both undirected (``DiGraphMatcher``: directed).
      ValueError: for multigraphs, a pattern that is too large, or an ``edge_match`` that sorts edges into no kinds.

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
        """Return whether the graphs are isomorphic."""
        return self._first(self.isomorphisms_iter())

    def isomorphisms_iter(self) -> Iterator[dict[Node, Node]]:
        """Yield each isomorphism, as a mapping of nodes of G1 to nodes of G2."""
        if not same_degrees(self.G1, self.G2):
            return iter(())
        return self._mappings(True)

    match = isomorphisms_iter

    def subgraph_is_isomorphic(self) -> bool:
        """Return whether an induced subgraph of G1 is isomorphic to G2."""
        return self._first(self.subgraph_isomorphisms_iter())

    def subgraph_isomorphisms_iter(self) -> Iterator[dict[Node, Node]]:
        """Yield each induced subgraph of G1 that is isomorphic to G2, as a mapping of its nodes to those of G2."""
        return self._mappings(True)

    def subgraph_is_monomorphic(self) -> bool:
        """Return whether a subgraph of G1, induced or not, is isomorphic to G2."""
        return self._first(self.subgraph_monomorphisms_iter())

    def subgraph_monomorphisms_iter(self) -> Iterator[dict[Node, Node]]:
        """Yield each subgraph of G1, induced or not, that is isomorphic to G2."""
        return self._mappings(False)

    def _first(self, mappings: Iterator[dict[Node, Node]]) -> bool:
        """Keep the first of some mappings, and return whether there is one."""
        mapping = next(mappings, None)
        self.mapping = {} if mapping is None else mapping
        return mapping is not None

    def _mappings(self, induced: bool) -> Iterator[dict[Node, Node]]:
        """Yield mappings of nodes of G1 to nodes of G2."""
        target, query = Side.of(self.G1), Side.of(self.G2)
        masks = [_loops_allow(query, target, induced)]
        if self.node_match is not None:
            masks.append(_nodes_allow(self.G1, self.G2, self.node_match))
        if self.edge_match is not None:
            masks.append(_loop_kinds_allow(self.G1, self.G2, self.edge_match))
            labels = _edge_kinds(self.G1, self.G2, self.edge_match)
            target, query = target._replace(labels=labels[0]), query._replace(labels=labels[1])
        given = [mask for mask in masks if mask is not None]
        for map_ in mappings(query, target, induced, np.logical_and.reduce(given) if given else None):
            yield {v: u for u, v in map_.items()}


class DiGraphMatcher(GraphMatcher):
    """A :class:`GraphMatcher` for directed graphs.

    Example:
      >>> import networkx as nx
      >>> DiGraphMatcher(nx.DiGraph([(0, 1), (1, 2)]), nx.DiGraph([("b", "a")])).subgraph_is_isomorphic()
      True
    """

    directed = True


class Side(NamedTuple):
    """A networkx graph in the form in which it is matched.

    Attributes:
      nodes: the nodes in order.
      pairs: int64 ``[m, 2]``, the places of the ends of each edge, without self loops.
      labels: ``[m]``, a label for each pair, or ``None``.
      loops: ``[n]``, how many self loops each node has.
      directed: whether a pair is an arc.
    """

    nodes: list[Node]
    pairs: np.ndarray
    labels: np.ndarray | None
    loops: np.ndarray
    directed: bool

    @classmethod
    def of(cls, graph: nx.Graph) -> Side:
        """Read a graph; parallel edges become one pair, with their number as its label."""
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
        """Return the graph without self loops."""
        return Graph.from_edges(self.pairs, len(self.nodes), self.directed, edge_labels=self.labels)


def mappings(query: Side, target: Side, induced: bool, allowed: np.ndarray | None = None) -> Iterator[dict[Node, Node]]:
    """Yield each map of the query's nodes to the target's that preserves edges and their labels.

    Args:
      query: the graph that is mapped.
      target: the graph that it is mapped to.
      induced: whether pairs without an edge must be mapped to pairs without one.
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
    """Return whether the graphs have equally many nodes of each degree, as isomorphic graphs do."""
    kinds = ("in_degree", "out_degree") if G1.is_directed() else ("degree",)
    first, second = ([Counter(dict(getattr(graph, kind)).values()) for kind in kinds] for graph in (G1, G2))
    return first == second


def _loops_allow(query: Side, target: Side, induced: bool) -> np.ndarray | None:
    """Return which nodes the query's nodes may map to by their self loops, ``[k, n]``."""
    if not query.loops.any() and not (induced and target.loops.any()):
        return None
    required, present = query.loops[:, None], target.loops[None]
    return present == required if induced else present >= required


def _nodes_allow(G1: nx.Graph, G2: nx.Graph, match: Match) -> np.ndarray:
    """Return which nodes of G1 the nodes of G2 may map to by their attributes, ``[k, n]``."""
    (first, at_first), (second, at_second) = (_kinds([graph.nodes[v] for v in graph]) for graph in (G1, G2))
    table = np.array([[bool(match(a, b)) for a in first] for b in second], bool).reshape(len(second), len(first))
    return table[np.ix_(at_second, at_first)]


def _loop_kinds_allow(G1: nx.Graph, G2: nx.Graph, match: Match) -> np.ndarray | None:
    """Return which nodes of G1 the nodes of G2 may map to by the attributes of their self loops, ``[k, n]``."""
    loops = [{i: graph[v][v] for i, v in enumerate(graph) if v in graph[v]} for graph in (G1, G2)]
    if not all(loops):
        return None
    allowed = np.ones((len(G2), len(G1)), bool)
    for (j, a), (i, b) in product(loops[0].items(), loops[1].items()):
        allowed[i, j] = bool(match(a, b))
    return allowed


def _edge_kinds(G1: nx.Graph, G2: nx.Graph, match: Match) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return labels for the edges of G1 and G2 without loops; two edges match exactly if their labels are equal.

    Two edges of G1 are of the same kind if they match the same edges of G2. Labels can express this only if no edge of
    G2 matches two kinds. If one of the graphs has no edges, there are no labels.
    """
    data = [[d for u, v, d in graph.edges(data=True) if u != v] for graph in (G1, G2)]
    (first, at_first), (second, at_second) = (_kinds(attributes) for attributes in data)
    if not first or not second:
        return None, None
    table = np.array([[bool(match(a, b)) for a in first] for b in second])
    columns, kind = np.unique(table, axis=1, return_inverse=True)  # a column is what one edge of G1 matches
    if (columns.sum(axis=1) > 1).any():
        raise ValueError(
            "edge_match does not sort edges into kinds (as a tolerance does not), so it is no label; use networkx's "
            "own matcher, or round the attribute first"
        )
    fits = np.where(columns.any(axis=1), columns.argmax(axis=1), columns.shape[1])
    return kind.reshape(-1)[at_first], fits[at_second]


def _kinds(attributes: list[dict]) -> tuple[list[dict], np.ndarray]:
    """Return the different dictionaries of attributes, so that each is compared once, and the number of each one."""
    numbers: dict[Any, int] = {}
    different: list[dict] = []
    places = np.zeros(len(attributes), np.int64)
    for i, data in enumerate(attributes):
        try:
            key = frozenset((name, type(value), value) for name, value in data.items())
            place = numbers.setdefault(key, len(different))
        except TypeError:  # a dictionary with a value that cannot be hashed counts as different from all
            place = len(different)
        if place == len(different):
            different.append(data)
        places[i] = place
    return different, places
