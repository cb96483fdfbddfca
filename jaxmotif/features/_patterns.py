"""Counts of the occurrences of small patterns in which each graph, node or edge takes part."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._checks import check_switch, whole_number
from jaxmotif.arrays._exact import with_exact_sums
from jaxmotif.arrays._present import Column, Presented, counted
from jaxmotif.arrays._rows import places_of as row_numbers
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph, GraphLike, Graphs, GraphsLike
from jaxmotif.graph._coerce import as_one_or_many
from jaxmotif.graph._words import joined_words
from jaxmotif.graphlets import edge_graphlets, node_orbits
from jaxmotif.matching import participation_counts
from jaxmotif.matching._participation import TooManyMatches
from jaxmotif.matching._stacks import MOST_NODES, MOST_QUERY, stacked_roles
from jaxmotif.motifs import dense_census_classes
from jaxmotif.patterns import Pattern, as_pattern
from jaxmotif.patterns import node_orbits as node_orbits_of
from jaxmotif.patterns._names import check_listed, short_name
from jaxmotif.patterns._orbits import of_size
from jaxmotif.patterns._roles import (
    OrbitWeights,
    Per,
    Role,
    all_roles,
    check_per,
    known_weights,
    places_of,
    weight_table,
)

ROWS_TOGETHER = 2**14
"""Number of rows of orbits that are multiplied with weights at a time, so that their floats take little memory."""

Normalize = Literal["density", "total"] | None
PatternLike = GraphLike | Pattern


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Features(Presented):
    """A table of features; ``np.asarray`` of it is ``values``.

    Attributes:
      columns: one name a column.
      values: ``[rows, columns]``: int64, or Python integers (dtype ``object``) where a count, or the sum of all, needs
        more than 63 bits; float64 with ``log`` or ``normalize``.
      per: what a row is: a graph, a node or an edge; the rows of the first graph come first.
      graph: int64 ``[rows]``, the graph of each row.
      edges: int64 ``[rows, 2]`` with ``per="edge"``, the ends of each edge in its graph, else ``None``.
    """

    columns: tuple[str, ...]
    values: np.ndarray
    per: Per
    graph: np.ndarray
    edges: np.ndarray | None = None

    def _line(self) -> str:
        return f"{counted(len(self.values), self.per)} x {counted(len(self.columns), 'feature')}"

    def table(self) -> Mapping[str, Column]:
        ends = {} if self.edges is None else {"u": self.edges[:, 0], "v": self.edges[:, 1]}
        return {"graph": self.graph, **ends, **dict(zip(self.columns, self.values.T, strict=True))}

    def _array(self) -> np.ndarray:
        return self.values


def load_graphs(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, with ``graphs`` converted to a graph or a data set of graphs."""
    return arguments | {"graphs": as_one_or_many(arguments["graphs"])}


@on_cluster(load_graphs)
def pattern_features(
    graphs: GraphLike | GraphsLike,
    patterns: Sequence[PatternLike],
    *,
    per: Per = "graph",
    induced: bool = True,
    log: bool = False,
    normalize: Normalize = None,
    devices: Devices = None,
) -> Features:
    """Count exactly in how many occurrences of each pattern each graph, node or edge lies, by its role there.

    An occurrence is a set of nodes (``induced=False``: a subgraph) that looks like the pattern. Nodes (or edges) of a
    pattern that its automorphisms exchange have one role: the two ends of a path, for instance, share a column.
    Connected undirected patterns of up to five nodes without labels are all counted in one run, by graphlet orbits.
    Each other pattern takes a search of its own.

    Args:
      graphs: a graph, or many of one kind: a list, :class:`jaxmotif.graph.Graphs`, a stack.
      patterns: small graphs or their names (:func:`jaxmotif.patterns.named_pattern`): ``["triangle", "ffl", "id38"]``;
        :func:`all_patterns` names many. If patterns have labels, labels must match.
      per: a row for each graph, node, or edge (directed: arc).
      induced: whether nodes that a pattern does not join must not be joined in the graph.
      log: ``log(1 + x)`` of the values.
      normalize: ``"density"``: counts are divided by how many sets of as many nodes as the pattern has there are in the
        graph (and contain the node, or the edge); ``"total"``: each row is divided by its sum.
      devices: see :data:`jaxmotif.devices.Devices`; searches use one.

    Returns:
      The table. A column is named after its pattern, or after the class (:func:`jaxmotif.patterns.canonical_string`) of
      a pattern of up to 8 nodes that is given without a name. If the pattern has several roles, the lowest node or edge
      of the role follows, as numbered in the pattern, or in the class. Columns of one name are equal, and
      ``table()`` has one of them.

    Raises:
      TypeError, ValueError: for arguments that are no graphs or patterns, for a data set without graphs or of two
        kinds, for a pattern that does not suit them, and for a search that finds more than 2^63 - 1 matches in a graph.
      OverflowError: as :func:`jaxmotif.node_orbits`, for degrees so high that counts may pass 64 bits.

    Example:
      >>> paw = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
      >>> found = pattern_features([paw, Graph.from_edges([(0, 1), (1, 2)])], ["triangle", "2-star"], per="node")
      >>> found.columns, found.values[found.graph == 1].tolist()
      (('triangle', '2-star:0', '2-star:1'), [[0, 0, 1], [0, 1, 0], [0, 0, 1]])
      >>> pattern_features(Graph.from_edges([(0, 1), (1, 2), (0, 2)], directed=True), ["ffl"], per="edge").columns
      ('ffl:0-1', 'ffl:0-2', 'ffl:1-2')
    """
    check_per(per, "graph", "node", "edge")
    check_switch(induced, "induced")
    source, given, roles = ask(graphs, patterns, per, log, normalize)

    def count(rest: list[int]) -> np.ndarray:
        return _searched(source, [given[i] for i in rest], [roles[i] for i in rest], induced, devices)

    weights = known_weights(given, roles, "induced" if induced else "copies")
    values = columns_of(source, roles, weights, count, devices)
    sizes = [pattern.num_nodes for pattern, found in zip(given, roles, strict=True) for _ in found]
    if log or normalize:
        values = scaled(values, lambda: source.sets(sizes), log, normalize)
    columns = tuple(role.name for found in roles for role in found)
    return Features(columns, values, per, source.graph, source.edges())


def ask(
    graphs: GraphLike | GraphsLike, patterns: Sequence[PatternLike], per: Per, log: bool, normalize: Normalize
) -> tuple[Source, list[Pattern], list[list[Role]]]:
    """Return the graphs, the patterns and each pattern's columns, from the arguments of a public function."""
    check_switch(log, "log")
    check_normalize(normalize)
    one_or_many = as_one_or_many(graphs)
    many = Graphs.from_graphs([one_or_many]) if isinstance(one_or_many, Graph) else one_or_many
    if not len(many):
        raise ValueError("at least one graph is needed, got none")
    source = Source.of(many, per)
    given = as_patterns(patterns, source.graphs)
    return source, given, all_roles(given, patterns, per)


def as_patterns(patterns: Sequence[PatternLike], graphs: Graphs) -> list[Pattern]:
    """Convert names and graphs to patterns that suit all graphs: directed or not, with the same words for labels."""
    check_listed(patterns)
    target = example_graph(graphs)
    return [as_pattern(pattern, target, name="pattern") for pattern in patterns]


def example_graph(graphs: Graphs) -> Graph:
    """Return a graph of the kind of all graphs, which knows the words of all: patterns that suit it suit all.

    Raises:
      ValueError: labels stand for other words in another graph.
    """
    target, given = graphs[0], graphs.given or ()
    if len(given) > 1:
        node_words = joined_words("node", [graph.node_label_names for graph in given]) or None
        edge_words = joined_words("edge", [graph.edge_label_names for graph in given]) or None
        # Labels without words are numbers if a graph was read from a file, and then words do not suit them.
        read = next((graph.report for graph in given if graph.report is not None and graph.report.format), None)
        target = Graph(*target.fields, directed=target.directed)._with_host_fields(read, None, node_words, edge_words)
    return target


def check_normalize(normalize: Normalize) -> None:
    """Raise ValueError unless counts can be normalized in this way."""
    if normalize not in (None, "density", "total"):
        raise ValueError(f"normalize must be None, 'density' or 'total', got {normalize!r}")


def scaled(values: np.ndarray, sets: Callable[[], np.ndarray], log: bool, normalize: Normalize) -> np.ndarray:
    """Return counts as features, float64 ``[rows, columns]``.

    Counts that are Python integers may be too large for floats. Their shares and logarithms are not.

    Args:
      values: the counts: int64, float64, or Python integers.
      sets: a function that returns by which numbers of node sets counts are divided for a density, ``[rows, columns]``.
      log, normalize: as for :func:`pattern_features`.
    """
    if log and not normalize and values.dtype == object:
        return np.vectorize(lambda count: math.log(count + 1), otypes=[np.float64])(values)
    if normalize == "density":
        values = values / np.maximum(sets(), 1)
    elif normalize == "total":
        sums = values.sum(axis=1, keepdims=True)
        values = values / np.where(sums == 0, 1, sums)
    values = values.astype(np.float64)
    return np.log1p(values) if log else values


def all_patterns(size: int, directed: bool = False) -> list[str]:
    """Return the connected patterns of a size for :func:`pattern_features`: names, or strings of unnamed classes.

    Args:
      size: 2 to 5 nodes; directed 2 to 4.

    Example:
      >>> all_patterns(3), all_patterns(3, directed=True)[:3], len(all_patterns(4, directed=True))
      (['2-star', 'triangle'], ['021D', '021C', '111U'], 199)
    """
    size = whole_number(size, "size", 2, 4 if directed else 5)
    if not directed:
        return [graphlet.name for graphlet in of_size(size)]
    classes = ("0010", "0110") if size == 2 else dense_census_classes(size, directed=True)
    return [short_name(text, directed=True) for text in classes]


class Source(NamedTuple):
    """The graphs and the shape of the result: ``rows``, int64 ``[B]``, how many rows each graph has."""

    graphs: Graphs
    per: Per
    rows: np.ndarray

    @classmethod
    def of(cls, graphs: Graphs, per: Per) -> Source:
        rows = {"graph": np.ones(len(graphs), np.int64), "node": graphs.n, "edge": graphs.m}[per]
        return cls(graphs, per, rows)

    @property
    def graph(self) -> np.ndarray:
        """The number of the graph of each row, int64 ``[rows]``."""
        return np.repeat(np.arange(len(self.graphs)), self.rows)

    def edges(self) -> np.ndarray | None:
        """Return the ends of the edge of each row, as numbered in its graph, int64 ``[rows, 2]``, or ``None``."""
        if self.per != "edge":
            return None
        return self.graphs.union(pad=None).edge_list() - self.graphs.node_starts[self.graph][:, None]

    def sets(self, sizes: list[int]) -> np.ndarray:
        """Return how many node sets of a size hold the node or edge of a row, ``[rows, sizes]``.

        The result is float64, or Python integers where floats would be too small.
        """
        held = {"graph": 0, "node": 1, "edge": 2}[self.per]
        orders, which = np.unique(self.graphs.n, return_inverse=True)
        cells = [math.comb(max(n - held, 0), size - held) for n in orders.tolist() for size in sizes]
        kind = np.float64 if max(cells, default=0) < sys.float_info.max else object
        return np.array(cells, kind).reshape(len(orders), len(sizes))[which[self.graph]]


def columns_of(
    source: Source,
    roles: list[list[Role]],
    weights: list[list[OrbitWeights]],
    count: Callable[[list[int]], np.ndarray],
    devices: Devices,
) -> np.ndarray:
    """Return the counts of all columns, integers ``[rows, roles]``: by orbits where possible, else by ``count``.

    Args:
      source: the graphs.
      roles: the columns of each pattern.
      weights: the weights of each pattern's columns over orbits, or an empty list for a pattern that is no sum of them.
      count: returns the columns of some patterns that are no sums of orbits, given their indices.
      devices: where to count orbits.
    """
    known = [i for i, found in enumerate(weights) if found]
    rest = [i for i, found in enumerate(weights) if not found and roles[i]]
    parts: list[np.ndarray] = []
    if known:
        parts.append(_weighed(source, [weights[i] for i in known], devices))
    if rest:
        parts.append(count(rest))
    if len(parts) < 2:
        return with_exact_sums(parts[0]) if parts else np.zeros((int(source.rows.sum()), 0), np.int64)
    owner = np.repeat(np.arange(len(roles)), [len(held) for held in roles])
    place = np.argsort(np.concatenate([np.flatnonzero(np.isin(owner, which)) for which in (known, rest)]))
    return with_exact_sums(np.take(np.concatenate(parts, axis=1), place, axis=1))


def _weighed(source: Source, weights: list[list[OrbitWeights]], devices: Devices) -> np.ndarray:
    """Return sums of orbit counts, integers ``[rows, weights]``: Python's where int64 might wrap."""
    flat = [w for found in weights for w in found]
    size, table = weight_table(flat, source.per)
    count = edge_graphlets if source.per == "edge" else node_orbits
    given = source.graphs if len(source.graphs) > 1 else source.graphs[0]
    orbits = count(given, size=size, devices=devices).values
    # In floats first, which BLAS multiplies fast: exact below 2^53, since nothing is negative.
    sums, most, floats = np.empty((len(orbits), table.shape[1]), np.int64), 0.0, table.astype(np.float64)
    for low in range(0, len(orbits), ROWS_TOGETHER):
        rows = slice(low, low + ROWS_TOGETHER)
        near = orbits[rows].astype(np.float64) @ floats
        most = max(most, float(near.max(initial=0)))
        sums[rows] = np.minimum(near, 2.0**53)
    if most >= 2.0**53:
        kind = np.int64 if most < _INT64_ROOM and orbits.dtype != object else object
        some = table.any(axis=1)  # Python integers are multiplied one by one
        sums = orbits[:, some].astype(kind) @ table[some].astype(kind)
    if source.per != "graph":
        return sums
    return _added_up(sums, source.graphs.n) // np.array([w.sharing for w in flat], np.int64)


def _searched(
    source: Source, patterns: list[Pattern], roles: list[list[Role]], induced: bool, devices: Devices
) -> np.ndarray:
    """Return occurrences, integers ``[rows, roles]``.

    Small patterns are searched in stacks of small graphs, the others by a search for each pattern.
    """
    graphs, starts = source.graphs, np.cumsum(source.rows) - source.rows
    values = np.zeros((int(source.rows.sum()), sum(map(len, roles))), np.int64)
    left = np.ones(len(graphs), bool)
    if len(graphs) > 1 and max(pattern.num_nodes for pattern in patterns) <= MOST_QUERY:
        small = np.flatnonzero(graphs.n <= MOST_NODES)
        chips = select_devices(devices).local
        for some, found, done in stacked_roles(graphs, small, patterns, roles, source.per, induced, chips):
            values[row_numbers(starts[some], source.rows[some])] = found
            left[some[done]] = False
    if (which := np.flatnonzero(left)).size:
        found = [_searched_alone(source, which, *one, induced, devices) for one in zip(patterns, roles, strict=True)]
        alone = np.concatenate(found, axis=1)
        values = values.astype(np.result_type(values, alone), copy=False)
        values[row_numbers(starts[which], source.rows[which])] = alone
    return values


def _searched_alone(
    source: Source, which: np.ndarray, pattern: Pattern, roles: list[Role], induced: bool, devices: Devices
) -> np.ndarray:
    """Return a column for each role: occurrences that a search adds up at each node or edge of some graphs."""
    of: Literal["node", "edge"] = "edge" if source.per == "edge" else "node"
    first = [role.places[0] or (0,) for role in roles]
    columns = [places_of(pattern, of).index(place) for place in first]
    graphs = source.graphs
    options = {"induced": induced, "of": of, "per": "occurrence", "devices": devices}
    counts = None
    # A pattern that is not connected could lie in two graphs of a union, and a union may have too many matches where
    # no graph has. Then each graph is searched on its own.
    if len(which) > 1 and len(pattern.components()) == 1:
        with suppress(TooManyMatches):
            counts = participation_counts(pattern, jax.device_put(graphs.union(which)), **options)
    if counts is None:
        counts = np.concatenate([participation_counts(pattern, graphs[i], **options) for i in which.tolist()])
    counts = counts[:, columns]
    if source.per != "graph":
        return counts
    return _added_up(counts, graphs.n[which]) // int(np.sum(node_orbits_of(pattern) == 0))


def _added_up(at_nodes: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return sums over the nodes of each graph, ``[graphs, columns]``: Python integers where int64 might wrap."""
    filled = nodes > 0
    starts = (np.cumsum(nodes) - nodes)[filled]
    most = np.add.reduceat(at_nodes.astype(np.float64), starts).max(initial=0)
    kind = at_nodes.dtype if most < _INT64_ROOM else np.dtype(object)
    sums = np.zeros((nodes.size, at_nodes.shape[1]), kind)
    sums[filled] = np.add.reduceat(at_nodes.astype(kind, copy=False), starts)
    return sums


_INT64_ROOM = 2.0**62
"""Bound for counts that are known as floats: a count whose float is below this is itself below 2^63."""
