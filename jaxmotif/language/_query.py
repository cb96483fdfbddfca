"""A query: nodes by name, edges that must or must not be there, and what is asked of their attributes."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from jaxmotif.arrays._present import counted

Value = bool | int | float | str | tuple["Value", ...]
"""A value that an attribute is compared with; a list is a tuple."""

Element = int | tuple[int, int]
"""A query node by number, or the edge between two of them."""


class QueryError(ValueError):
    """A query that cannot be, with its line and column (from 1).

    Attributes:
      line, column: where in the text; 0 for a query that was not written as text.
    """

    def __init__(self, problem: str, place: Place | None = None, text: str = ""):
        self.line, self.column = place or NOWHERE
        if self.line:
            here = text.split("\n")[self.line - 1][self.column - 1 :].strip() if text else ""
            here = f" ({here[:30]!r})" if here else ""
            problem = f"query, line {self.line}, column {self.column}{here}: {problem}"
        super().__init__(problem)


class Place(NamedTuple):
    """Line and column in the text of a query, from 1."""

    line: int
    column: int


NOWHERE = Place(0, 0)


class Clause(NamedTuple):
    """``key operator value``, of the attributes of one node or edge.

    An element without the attribute fulfils ``!=`` and ``!in`` alone. Values of different kinds are not equal, and
    neither is less; a number in quotes is one to a column of numbers. ``in`` is for a list, or part of a text;
    ``contains`` the other way round, for attributes that are lists or texts.
    """

    key: str
    operator: str
    value: Value
    place: Place = NOWHERE


class Comparison(NamedTuple):
    """``left.key operator right.other_key``: between the attributes of two elements, or two of one; false where one is
    missing."""

    left: Element
    key: str
    operator: str
    right: Element
    other_key: str
    place: Place = NOWHERE


class Edge(NamedTuple):
    """An edge or arc from source to target that must be there and fulfil all clauses; or if not ``present``, none that
    fulfils all of them may be there."""

    source: int
    target: int
    present: bool = True
    clauses: tuple[Clause, ...] = ()
    place: Place = NOWHERE


@dataclasses.dataclass(frozen=True, eq=False)
class Query:
    """A query in the language of DotMotif, as :func:`jaxmotif.query` reads it.

    Attributes:
      names: of the nodes, in the order in which the edges name them.
      edges: at most one wanted edge between two nodes in each direction.
      clauses: what is asked of nodes by number.
      comparisons: between two elements.
      twins: pairs of nodes declared interchangeable (``A === B``), and where.
      text: as written, for messages.
      parallel: of parallel edges, whether a clause must hold for ``"any"`` or for ``"all"``.

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
        return len(self.names)

    def __repr__(self) -> str:
        missing = sum(not edge.present for edge in self.edges)
        conditions = len(self.clauses) + len(self.comparisons) + sum(len(edge.clauses) for edge in self.edges)
        counts = {"node": len(self.names), "edge": len(self.edges) - missing, "forbidden edge": missing}
        counts |= {"condition": conditions}
        return f"Query({', '.join(counted(count, name) for name, count in counts.items() if count)})"
