"""An executor for DotMotif, which finds its motifs by the level search.

>>> import networkx as nx
>>> from dotmotif import Motif                                       # doctest: +SKIP
>>> JaxmotifExecutor(graph=nx.DiGraph([("x", "y")])).find(Motif("A -> B"))  # doctest: +SKIP
[{'A': 'x', 'B': 'y'}]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jaxmotif.devices import Devices
from jaxmotif.graph import Graph
from jaxmotif.graph._attributes import Attributes
from jaxmotif.language import Clause, Comparison, Edge, Query
from jaxmotif.language._query import Value
from jaxmotif.matching import count_matches, find_matches

if TYPE_CHECKING:
    import networkx

Constraints = dict[str, dict[str, list[Any]]]
"""Constraints of DotMotif: the values for each attribute and operator."""


class JaxmotifExecutor:
    """An executor that finds a ``dotmotif.Motif`` in a networkx graph, like the executors of DotMotif itself.

    There are four differences. Matches come in another order. ``exclude_automorphisms`` lists exactly one of the
    matches that differ by an automorphism of the motif with its constraints. Comparisons with a missing attribute are
    false. A constraint that compares an attribute of words with a number, or of numbers with a word, raises
    :class:`jaxmotif.language.QueryError`.

    Args:
      graph: the graph, which is read once: make another executor when it has changed.
      multigraph_edge_match: how many of several parallel edges must satisfy a constraint, ``"any"`` or ``"all"``.
      devices: as for :func:`jaxmotif.find_matches`.

    Example:
      >>> import networkx as nx
      >>> JaxmotifExecutor(graph=nx.DiGraph([("x", "y")])).graph.number_of_edges()
      1
    """

    def __init__(
        self,
        *,
        graph: networkx.Graph | None = None,
        multigraph_edge_match: Literal["any", "all"] = "any",
        devices: Devices = None,
    ):
        if graph is None:
            raise ValueError("an executor needs the graph to search: JaxmotifExecutor(graph=...)")
        if multigraph_edge_match not in ("any", "all"):
            raise ValueError(f"multigraph_edge_match must be 'any' or 'all', got {multigraph_edge_match!r}")
        self.graph = graph
        self._parallel, self._devices = multigraph_edge_match, devices
        self._nodes = np.empty(len(graph), object)
        self._nodes[:] = list(graph.nodes)
        self._read: dict[bool, Graph] = {}

    def find(self, motif: Any, limit: int | None = None) -> list[dict[str, Any]]:
        """List the matches of a motif: for each of its nodes a node of the graph.

        Args:
          motif: a ``dotmotif.Motif``.
          limit: most matches to list; by default the motif's own limit.
        """
        query, target, limit, options = self._read_motif(motif, limit)
        matches = find_matches(query, target, limit=limit, **options)
        return _dicts(query.names, [self._nodes[column].tolist() for column in matches.nodes.T])

    def count(self, motif: Any, limit: int | None = None) -> int:
        """Count the matches of a motif, without listing them.

        Args:
          motif: as for :meth:`find`.
          limit: the most matches to count; by default the motif's own limit.
        """
        query, target, limit, options = self._read_motif(motif, limit)
        count = count_matches(query, target, **options).count
        return count if limit is None else min(count, limit)

    def _read_motif(self, motif: Any, limit: int | None) -> tuple[Query, Graph, int | None, dict[str, Any]]:
        """Return a motif as a query, the graph to search, the most matches to list, and further options."""
        # DotMotif looks for an edge for each constraint, not for one edge for all of them.
        query = query_of(motif, "each" if self._parallel == "any" else self._parallel)
        undirected = motif.ignore_direction
        if undirected not in self._read:  # the graph is read once
            source = self.graph.to_undirected(as_view=True) if undirected else self.graph
            self._read[undirected] = Graph.from_networkx(source, attributes=True)
        options = {"per": "occurrence" if motif.exclude_automorphisms else "map", "devices": self._devices}
        limit = motif.limit if limit is None else limit
        return query, _with_all_attributes(self._read[undirected], query), limit, options


def _dicts(names: Sequence[str], columns: Sequence[list[Any]]) -> list[dict[str, Any]]:
    """Return a dict for each row.

    Most motifs have three or four nodes, for which a dict that is written out takes a third of the time.
    """
    if len(names) == 3:
        a, b, c = names
        return [{a: x, b: y, c: z} for x, y, z in zip(*columns, strict=True)]
    if len(names) == 4:
        a, b, c, d = names
        return [{a: x, b: y, c: z, d: w} for x, y, z, w in zip(*columns, strict=True)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def query_of(motif: Any, parallel: str = "any") -> Query:
    """Return a motif of DotMotif as a query."""
    shape = motif.to_nx()
    names = list(shape.nodes)
    number = {name: i for i, name in enumerate(names)}
    constraints = {(number[u], number[v]): items for (u, v), items in motif.list_edge_constraints().items()}
    edges: dict[tuple[int, int, bool], Edge] = {}
    for u, v, data in shape.edges(data=True):
        ends = number[u], number[v]
        if u == v:
            raise ValueError(f"the motif's edge from {u} to itself: graphs here have no self loops")
        exists = data.get("exists", True)
        edges[*ends, exists] = Edge(*ends, exists, tuple(_clauses(constraints.get(ends, {}))))
    clauses = []
    for node, items in motif.list_node_constraints().items():
        clauses += [(number[node], clause) for clause in _clauses(items)]
    comparisons = []
    for node, items in motif.list_dynamic_node_constraints().items():
        for key, operator, (other, other_key) in _items(items):
            comparisons.append(Comparison(number[node], key, operator, number[other], other_key))
    for (u, v), items in motif.list_dynamic_edge_constraints().items():
        for key, operator, (other, head, other_key) in _items(items):
            pairs = (number[u], number[v]), (number[other], number[head])
            comparisons.append(Comparison(pairs[0], key, operator, pairs[1], other_key))
    return Query(tuple(map(str, names)), tuple(edges.values()), tuple(clauses), tuple(comparisons), parallel=parallel)


def _items(constraints: Constraints) -> Iterator[tuple[str, str, Any]]:
    """Yield the attribute, the operator and the value of each constraint."""
    for key, operators in constraints.items():
        for operator, values in operators.items():
            for value in values:
                yield key, {"=": "==", "<>": "!="}.get(operator, operator), value


def _clauses(constraints: Constraints) -> Iterator[Clause]:
    """Yield constraints as clauses."""
    for key, operator, value in _items(constraints):
        yield Clause(key, operator, _value(value))


def _value(value: object) -> Value:
    """Return a value of DotMotif, which may be any literal of Python, as a value of a query."""
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(_value(item) for item in value)
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"attributes are compared with numbers, text, truth values and lists of these, got {value!r}")


def _with_all_attributes(target: Graph, query: Query) -> Graph:
    """Return the target with an empty column for each attribute that the query names and nothing in the target has."""
    present = target.attributes or Attributes()
    node_keys = {clause.key for _, clause in query.clauses}
    edge_keys = {clause.key for edge in query.edges for clause in edge.clauses}
    for comparison in query.comparisons:
        for element, key in ((comparison.left, comparison.key), (comparison.right, comparison.other_key)):
            (node_keys if isinstance(element, int) else edge_keys).add(key)
    rows = target.m if present.rows is None else len(present.rows)
    nodes = {key: np.full(target.n, None, object) for key in sorted(node_keys - present.nodes.keys())}
    edges = {key: np.full(rows, None, object) for key in sorted(edge_keys - present.edges.keys())}
    if not nodes and not edges:
        return target
    return target._with_attributes(Attributes({**present.nodes, **nodes}, {**present.edges, **edges}, present.rows))
