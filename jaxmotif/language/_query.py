"""Queries: nodes by name, edges that must or must not be there, and conditions on their attributes."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from jaxmotif.arrays._present import counted

Value = bool | int | float | str | tuple["Value", ...]
"""A value that an attribute is compared with; a list is a tuple."""

Element = int | tuple[int, int]
"""A query node by number, or the edge between two of them."""


class QueryError(ValueError):
    """An error in a query, with its line and column (from 1).

    Attributes:
      line: the line in the text; 0 for a query that was not written as text.
      column: the column likewise.
    """

    def __init__(self, problem: str, place: Place | None = None, text: str = ""):
        self.line, self.column = place or NOWHERE
        if self.line:
            here = text.split("\n")[self.line - 1][self.column - 1 :].strip() if text else ""
            here = f" ({here[:30]!r})" if here else ""
            problem = f"query, line {self.line}, column {self.column}{here}: {problem}"
        super().__init__(problem)


class Place(NamedTuple):
    """A line and a column in the text of a query, from 1."""

    line: int
    column: int


NOWHERE = Place(0, 0)


class Clause(NamedTuple):
    """A condition ``key operator value`` on an attribute of one node or edge.

    An element without the attribute satisfies only ``!=`` and ``!in``. Values of different kinds, such as a number and
    a text, are not equal, and neither is less than the other; but a number in quotes is a number where it is compared
    with numbers. ``in`` asks whether the attribute is in a list, or part of a text; ``contains`` asks the reverse, for
    attributes that are lists or texts.
    """

    key: str
    operator: str
    value: Value
    place: Place = NOWHERE


class Comparison(NamedTuple):
    """A condition ``left.key operator right.other_key`` on attributes of two elements, or on two attributes of one.

    It is false where an attribute is missing.
    """

    left: Element
    key: str
    operator: str
    right: Element
    other_key: str
    place: Place = NOWHERE


class Edge(NamedTuple):
    """An edge or arc of a query.

    If ``present``, the edge must be there and satisfy all clauses. If not, no edge that satisfies all of them may be
    there.
    """

    source: int
    target: int
    present: bool = True
    clauses: tuple[Clause, ...] = ()
    place: Place = NOWHERE


@dataclasses.dataclass(frozen=True, eq=False)
class Query:
    """A query in the language of DotMotif, as :func:`jaxmotif.query` reads it.

    Attributes:
      names: the names of the nodes, in the order in which the edges name them.
      edges: the edges, with at most one required edge between two nodes in each direction.
      clauses: conditions on nodes, each with the number of its node.
      comparisons: conditions that compare two attributes, of two elements or of one.
      twins: pairs of nodes declared interchangeable (``A === B``), with their places in the text.
      text: the text of the query, for messages.
      parallel: which of several parallel edges must fulfil the clauses of an edge: ``"any"``, so that one of them
        fulfils all clauses, ``"all"``, or ``"each"``, where each clause is fulfilled by one of them, which may differ.

    Reference:
      Matelsky, Reilly, Johnson, Stiso, Bassett, Wester, Gray-Roncal: DotMotif: an open-source tool for connectome
      subgraph isomorphism search and graph queries, Scientific Reports 11, 2021.
    """

    names: tuple[str, ...]
    edges: tuple[Edge, ...]
    clauses: tuple[tuple[int, Clause], ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    twins: tuple[tuple[int, int, Place], ...] = ()
    text: str = ""
    parallel: str = "any"

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.names)

    def __repr__(self) -> str:
        missing = sum(not edge.present for edge in self.edges)
        conditions = len(self.clauses) + len(self.comparisons) + sum(len(edge.clauses) for edge in self.edges)
        counts = {"node": len(self.names), "edge": len(self.edges) - missing, "forbidden edge": missing}
        counts |= {"condition": conditions}
        return f"Query({', '.join(counted(count, name) for name, count in counts.items() if count)})"
