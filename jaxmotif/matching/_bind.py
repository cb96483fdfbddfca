"""Binding of a query in words to a target: its demands on attributes become domains, and conditions on edges."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from jaxmotif.arrays._bits import words_for
from jaxmotif.arrays._present import meant
from jaxmotif.graph import Graph
from jaxmotif.graph._attributes import Attributes
from jaxmotif.language import Clause, Comparison, Edge, Query, QueryError
from jaxmotif.language._compare import agree, canonical, fulfils, mismatch
from jaxmotif.language._query import NOWHERE, Element, Place
from jaxmotif.matching.planner._ask import FEW_NODES
from jaxmotif.matching.planner._order import fewest_candidates
from jaxmotif.patterns import node_orbits
from jaxmotif.patterns._ruled import RuledPattern, automorphisms_of, shape_of

Item = Clause | Comparison
"""A demand on a slot or a node. Comparisons name the source of the slot, or the node, 0, and the target of the slot 1.
Its place is left out, so that demands are equal wherever they stand."""

_logger = logging.getLogger("jaxmotif")


def bind(query: Query, target: Graph) -> RuledPattern:
    """Return the pattern and rules that a query has for a target.

    Clauses on nodes become domains. Clauses on edges, wanted or forbidden, become conditions on the target's slots. So
    do comparisons that can be decided at one wanted edge: between attributes of its two ends, its own, and those of the
    edge back. Comparisons between elements further apart are left to ``passes``, which tests the matches found.

    Raises:
      QueryError: for an attribute that the target does not have, or for nodes that are declared interchangeable but
        are not.

    Example:
      >>> from jaxmotif.language import parse
      >>> graph = Graph.from_edges([(0, 1), (1, 2)], directed=True).with_attributes(edges={"weight": [3, 30]})
      >>> bind(parse("A -> B [weight > 20]; B !> A"), graph).edges[0, :2].tolist()
      [0, 1]
    """
    if not target.directed:
        _logger.warning("the target is undirected: A -> B asks for an edge between A and B")
    return _Binder(query, target).bound()


class _Columns:
    """Attributes of a target, by node and by slot."""

    def __init__(self, target: Graph, query: Query):
        self.target, self.query = target, query
        self.held = target.attributes or Attributes()

    def node(self, key: str, place: Place) -> np.ndarray:
        """Return an attribute of all nodes, as a column ``[n]``.

        Where no attribute has the key, ``id`` and ``name`` are the names of nodes, and ``label`` is their labels.

        Args:
          key: the name of the attribute.
          place: where the query asks for it, for messages.

        Raises:
          QueryError: for a key that the target does not have.
        """
        if key in self.held.nodes:
            return self.held.nodes[key]
        graph = self.target
        if key in ("id", "name"):
            return np.arange(graph.n) if graph.node_names is None else np.asarray(graph.node_names)
        if key == "label" and graph.node_labels is not None:
            return _words(np.asarray(graph.node_labels)[: graph.n], graph.node_label_names)
        raise self.unknown("node", key, self.held.nodes, place)

    def edge(self, key: str, place: Place) -> np.ndarray:
        """Return an attribute of all edges, as a column; each of several parallel edges has a row of its own."""
        if key in self.held.edges:
            return self.held.edges[key]
        graph = self.target
        if key == "label" and graph.edge_labels is not None and self.held.rows is None:
            return _words(np.asarray(graph.edge_labels)[graph.edge_slots()], graph.edge_label_names)
        raise self.unknown("edge", key, self.held.edges, place)

    def unknown(self, kind: str, key: str, known: Iterable[str], place: Place) -> QueryError:
        names = ", ".join(map(repr, known))
        remedy = f"{kind} attributes are {names}" if names else f"it has no {kind} attributes"
        if self.target.attributes is None:
            remedy += "; read it with attributes=True, or give it some by Graph.with_attributes"
        remedy += meant(key, known)
        return QueryError(f"the target has no {kind} attribute {key!r}: {remedy}", place, self.query.text)

    def single_edge(self, key: str, place: Place) -> np.ndarray:
        """Return a column with one value for each edge ``[m]``."""
        if self.held.rows is not None:
            raise QueryError(
                "edges of the target are parallel, and have several values to compare", place, self.query.text
            )
        return self.edge(key, place)

    def fulfils(self, column: np.ndarray, clause: Clause) -> np.ndarray:
        """Return which values of a column fulfil a clause."""
        if problem := mismatch(column, clause.operator, clause.value):
            raise QueryError(f"attribute {clause.key!r} {problem}", clause.place, self.query.text)
        # Text is compared once for each different value.
        found = self.held.distinct(column)
        if found is None:
            return fulfils(column, clause.operator, clause.value)
        values, codes = found
        return fulfils(values, clause.operator, clause.value)[codes]

    def edge_clause(self, clause: Clause) -> np.ndarray:
        """Return which edges fulfil a clause; each of several parallel edges has a row of its own, bool ``[R]``."""
        return self.fulfils(self.edge(clause.key, clause.place), clause)

    def of_pairs(self, holds: np.ndarray) -> np.ndarray:
        """Return for which edges ``[m]`` any of the rows ``[R]`` holds, or all do, as the query says."""
        rows = self.held.rows
        if rows is None:
            return holds
        if self.query.parallel != "all":
            return np.bincount(rows, holds, self.target.m) > 0
        return np.bincount(rows, ~holds, self.target.m) == 0

    @cached_property
    def ends(self) -> np.ndarray:
        """The nodes of each slot in use, int64 ``[S, 2]``."""
        graph = self.target
        sources = np.repeat(np.arange(graph.n), graph.degrees)
        return np.stack([sources, np.asarray(graph.out_targets)[: graph.num_slots]], axis=1)


class _Binder:
    def __init__(self, query: Query, target: Graph):
        self.query, self.target, self.columns = query, target, _Columns(target, query)
        k = query.num_nodes
        self.wanted: dict[tuple[int, int], set[Item]] = {}
        self.forbidden: dict[tuple[int, int], set[frozenset[Item]]] = {}
        self.asked: list[set[Item]] = [set() for _ in range(k)]
        self.places: dict[Item, Place] = {}
        self.left: list[Comparison] = []

    def bound(self) -> RuledPattern:
        query, target, k = self.query, self.target, self.query.num_nodes
        for edge in query.edges:
            self.add_edge(edge)
        for node, clause in query.clauses:
            self.asked[node].add(self.item(clause))
        for comparison in query.comparisons:
            self.add_comparison(comparison)
        for _ in query.twins:  # each round passes demands on by a pair at least, so that these rounds suffice
            for a, b, _ in query.twins:
                # What is asked of one is asked of both.
                self.asked[a] = self.asked[b] = self.asked[a] | self.asked[b]
        adjacency, forbidden = np.zeros((k, k), bool), np.zeros((k, k), bool)
        condition, numbers, masks = np.full((k, k), -1), {}, []
        # A condition is a set of alternatives, each a set of items. A wanted edge has a single alternative, with all
        # its items. A forbidden edge has one alternative for each statement that forbids it.
        wanted = {ends: frozenset([frozenset(items)]) for ends, items in self.wanted.items()}
        unwanted = {ends: frozenset(options) for ends, options in self.forbidden.items()}
        for rules, matrix in ((wanted, adjacency), (unwanted, forbidden)):
            for (u, x), options in rules.items():
                # Without direction an edge is seen from either end, an arc from its source alone.
                seen = {(u, x): options} if target.directed else {(u, x): options, (x, u): self.turned(options)}
                for ends, choice in seen.items():
                    matrix[ends] = True
                    if frozenset() in choice:  # any edge will do
                        continue
                    # Equal conditions have one number, so that nodes which they join stay interchangeable.
                    if choice not in numbers:
                        numbers[choice] = len(masks)
                        masks.append(np.any([self.slots(items) for items in choice], axis=0))
                    condition[ends] = numbers[choice]
        # Only nodes with the same demands may be exchanged: each set of demands is a class.
        classes = [frozenset(items) for items in self.asked]
        passes, keeps = (self.passes, self.keeps) if self.left else (None, None)
        pattern = RuledPattern(
            adjacency,
            None,
            None,
            target.directed,
            forbidden,
            condition,
            _marks(masks, target.slot_capacity),
            self.domains(),
            np.array([classes.index(items) for items in classes]),
            passes,
            keeps,
        )
        if k <= FEW_NODES:
            pattern = dataclasses.replace(pattern, order=self.order(pattern, masks))
        self.check_twins(pattern)
        return pattern

    def item(self, demand: Item) -> Item:
        """Return a demand without its place, which is kept apart."""
        item = demand._replace(place=NOWHERE)
        self.places.setdefault(item, demand.place)
        return item

    def add_edge(self, edge: Edge) -> None:
        ends = (edge.source, edge.target)
        # Without direction both ways of writing an edge are one.
        ends = ends if self.target.directed else (min(ends), max(ends))
        items = {self.item(clause) for clause in edge.clauses}
        if edge.present:
            self.wanted.setdefault(ends, set()).update(items)
        else:
            self.forbidden.setdefault(ends, set()).add(frozenset(items))
        if ends in self.wanted and ends in self.forbidden:
            raise QueryError("this edge is both wanted and forbidden", edge.place, self.query.text)

    def add_comparison(self, comparison: Comparison) -> None:
        """Add a comparison to the demands on a node, or on an edge's slots, if these have all elements compared."""
        ends = sorted({node for element in (comparison.left, comparison.right) for node in _nodes(element)})
        arcs = [pair for pair in ((ends[0], ends[-1]), (ends[-1], ends[0])) if pair in self.wanted]
        # No wanted edge has all its elements: the search cannot test it on one slot.
        if len(ends) > 2 or (len(ends) == 2 and not arcs):
            self.left.append(comparison)
            self.passes(np.zeros((0, self.query.num_nodes), np.int64))  # raises now if the target lacks an attribute
            return
        for arc in arcs or [(ends[0], ends[0])]:  # of both arcs, so that nodes which can be exchanged still can
            item = self.item(self.renamed(comparison, {arc[1]: 1, arc[0]: 0}))
            (self.wanted[arc] if len(ends) == 2 else self.asked[ends[0]]).add(item)

    def renamed(self, demand: Item, image: Sequence[int] | Mapping[int, int]) -> Item:
        """Return a demand with other numbers of nodes, comparisons in their canonical form."""
        if isinstance(demand, Clause):
            return demand

        def to(element: Element) -> Element:
            if isinstance(element, int):
                return image[element]
            u, x = image[element[0]], image[element[1]]
            return (u, x) if self.target.directed else (min(u, x), max(u, x))

        left, right = (to(demand.left), demand.key), (to(demand.right), demand.other_key)
        (left, key), operator, (right, other_key) = canonical(left, demand.operator, right)
        return Comparison(left, key, operator, right, other_key, demand.place)

    def turned(self, options: frozenset[frozenset[Item]]) -> frozenset[frozenset[Item]]:
        """Return the demands on an edge as seen from its other end."""
        return frozenset(
            frozenset(self.item(self.renamed(item, (1, 0))) for item in self.as_written(items)) for items in options
        )

    def as_written(self, items: Iterable[Item]) -> list[Item]:
        """Return items with their places, in the order of the query: a message names the first one that is wrong."""
        return sorted((item._replace(place=self.places[item]) for item in items), key=lambda item: item.place)

    def slots(self, items: frozenset[Item]) -> np.ndarray:
        """Return which slots in use fulfil all items, bool ``[S]``."""
        holds, together = np.ones(self.target.num_slots, bool), list[np.ndarray]()
        for item in self.as_written(items):
            if isinstance(item, Clause):
                together.append(self.columns.edge_clause(item))
            else:
                holds &= self.agree(item, self.columns.ends)
        if together and self.query.parallel != "each":
            together = [np.all(together, axis=0)]
        for fulfilled in together:
            holds &= self.columns.of_pairs(fulfilled)[self.target.slot_edges]
        return holds

    def domains(self) -> np.ndarray | None:
        """Return the target nodes that fulfil what is asked of each node, bool ``[k, n]``."""
        if not any(self.asked):
            return None
        allowed, nodes = np.ones((len(self.asked), self.target.n), bool), np.arange(self.target.n)[:, None]
        for row, items in zip(allowed, self.asked, strict=True):
            for item in self.as_written(items):
                if isinstance(item, Clause):
                    row &= self.columns.fulfils(self.columns.node(item.key, item.place), item)
                else:
                    row &= self.agree(item, nodes)
        return allowed

    def passes(self, maps: np.ndarray) -> np.ndarray:
        """Return which maps fulfil the comparisons that are left, bool ``[M]``."""
        return np.all([self.agree(comparison, maps) for comparison in self.left], axis=0)

    def agree(self, comparison: Comparison, maps: np.ndarray) -> np.ndarray:
        """Return for which maps ``[M, nodes]`` a comparison between the nodes, or the edges between them, holds."""
        left = self.of_maps(comparison.left, comparison.key, comparison.place, maps)
        right = self.of_maps(comparison.right, comparison.other_key, comparison.place, maps)
        return agree(left, comparison.operator, right)

    def of_maps(self, element: Element, key: str, place: Place, maps: np.ndarray) -> np.ndarray:
        """Return an attribute of a node or an edge in each map, ``None`` where there is no edge."""
        if isinstance(element, int):
            return self.columns.node(key, place)[maps[:, element]]
        column = self.columns.single_edge(key, place)
        row = self.target._edge_rows(maps[:, list(element)])
        there = row >= 0
        if there.all():
            return column[row]
        # Without an edge there is no value, and no comparison with a missing value holds.
        values = np.full(len(row), None, object)
        values[there] = column[row[there]]
        return values

    def keeps(self, permutations: np.ndarray) -> np.ndarray:
        """Return which permutations of the nodes leave the same comparisons, bool ``[A]``."""

        def moved(image: list[int]) -> set[Item]:
            return {self.item(self.renamed(comparison, image)) for comparison in self.left}

        # The identity puts the comparisons as written into the same canonical form as the moved ones.
        as_written = moved(list(range(self.query.num_nodes)))
        return np.array([moved(image) == as_written for image in permutations.tolist()], bool)

    def order(self, pattern: RuledPattern, masks: list[np.ndarray]) -> list[int]:
        """Return the order to search in, by how many nodes and slots of the target fulfil what is asked."""
        graph, allowed = self.target, pattern.allowed
        sizes = np.full(pattern.num_nodes, graph.n) if allowed is None else allowed.sum(axis=1)
        often = np.array([*map(np.count_nonzero, masks), graph.num_slots])  # -1, no condition, is the last
        slots = np.where(pattern.adjacency, often[pattern.condition], graph.num_slots)
        return fewest_candidates(pattern, sizes, np.minimum(slots, slots.T), graph.n)

    def check_twins(self, pattern: RuledPattern) -> None:
        """Raise QueryError where nodes declared interchangeable are not."""
        if not self.query.twins:
            return
        if self.left:
            # Comparisons that are left to `passes` tell nodes apart, too, so that each automorphism has to be tested.
            orbits = automorphisms_of(pattern).min(axis=0)
        else:
            orbits = node_orbits(shape_of(pattern))
        for a, b, place in self.query.twins:
            if orbits[a] != orbits[b]:
                names = self.query.names[a], self.query.names[b]
                raise QueryError(
                    f"{names[0]} and {names[1]} cannot be interchanged: other edges or comparisons tell them apart",
                    place,
                    self.query.text,
                )


def _nodes(element: Element) -> tuple[int, ...]:
    return (element,) if isinstance(element, int) else element


def _words(labels: np.ndarray, names) -> np.ndarray:
    if names is None:
        return labels
    return np.array([names.get(label, str(label)) for label in labels.tolist()], object)


def _marks(masks: list[np.ndarray], slots: int) -> np.ndarray | None:
    """Return conditions on slots as bits, uint32 ``[W, slots]``: condition c is bit ``c % 32`` of word ``c // 32``."""
    if not masks:
        return None
    words = np.zeros((words_for(len(masks)), slots), np.uint32)
    for number, mask in enumerate(masks):
        words[number >> 5, : len(mask)] |= mask.astype(np.uint32) << np.uint32(number & 31)
    return words
