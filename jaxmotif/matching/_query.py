"""The public function of the query language, and its result."""

from __future__ import annotations

import dataclasses
from typing import Any, overload

from jaxmotif.arrays._present import Column, counted
from jaxmotif.graph._coerce import GraphLike, as_graph
from jaxmotif.language import Query, parse
from jaxmotif.matching._listing import MatchRows, find_matches


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class QueryMatches(MatchRows):
    """The matches of a query, by name; ``np.asarray`` of them is ``nodes``.

    Attributes:
      names: the names of the query's nodes.
      nodes: ``[M, k]``: a row is a match, and has for each node of the query the name of a node of the graph, or its
        number (int32) where the graph has no names.
      exact: whether these are all.
      status: ``"done"``, or the limit that stopped the search, in words.
      seconds: the seconds that each phase took.
    """

    names: tuple[str, ...]

    def _line(self) -> str:
        return f"{counted(len(self), 'match')} of {', '.join(self.names)}, {self.status}"

    def table(self) -> dict[str, Column]:
        return dict(zip(self.names, self.nodes.T, strict=True))


@overload
def query(text: str, graph: None = None) -> Query: ...
@overload
def query(text: str, graph: GraphLike, limit: int | None = None, **options: Any) -> QueryMatches: ...
def query(text: str, graph: GraphLike | None = None, limit: int | None = None, **options: Any) -> Query | QueryMatches:
    """Ask for a motif in words: the query language of DotMotif.

    | written | asks |
    |---|---|
    | ``A -> B`` | an edge (of an undirected graph: without direction) between different nodes |
    | ``A !> B`` or ``A ~> B`` | no such edge |
    | ``A -> B [weight > 20, type = "x"]`` | an edge whose attributes are so; with ``!>``, no edge that is so |
    | ``A -> B as ab; ab.weight > 20`` | the same, by a name for the edge |
    | ``A.kind = "KC"``, ``A["cell type"] != MBON`` | a node whose attributes are so |
    | ``A.size > B.size``, ``ab.weight >= bc.weight`` | attributes of two nodes or edges compared |
    | ``in ["x", "y"]``, ``!in``, ``contains``, ``!contains`` | one of several values; part of a text, or of a list |
    | ``A === B`` | A and B can be exchanged, and what is asked of one is asked of both |
    | ``pair(x, y) { x -> y; y -> x }`` ... ``pair(A, B)`` | a macro, and its use |
    | ``# words`` | a comment |

    Statements end at a line's end, at ``;``, or where the next one begins. Unless the graph has
    attributes of these names, ``id`` and ``name`` both stand for the name of a node, and ``label`` for its label, if it
    has one. A query is parsed, never evaluated.

    Args:
      text: the query.
      graph: the graph to ask, with attributes (:meth:`jaxmotif.Graph.with_attributes`, ``read_graph(..,
        attributes=True)``), a networkx graph, a pandas table of edges or a path, whose attributes are read.
      limit: the most matches to list.
      options: those of :func:`jaxmotif.find_matches` but ``sink``. With ``per="occurrence"``, matches that differ only
        by an exchange of interchangeable nodes are listed once.

    Returns:
      Without a graph, the :class:`jaxmotif.language.Query`, which can be given as the query to
      :func:`jaxmotif.count_matches`, :func:`jaxmotif.find_matches`, :func:`jaxmotif.has_match` and
      :func:`jaxmotif.participation_counts`. With a graph, the matches in it, by name.

    Raises:
      QueryError: (a ValueError) for a text that is no query, or for an attribute that the graph does not have, with the
        line and column of the mistake.
      ImportError: if lark, of the extra ``query``, is not installed.

    Example:
      >>> from jaxmotif.graph import Graph
      >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], directed=True, node_names=["a", "b", "c", "d"])
      >>> graph = graph.with_attributes({"kind": ["KC", "KC", "MBON", "KC"]}, {"weight": [30, 5, 12, 40]})
      >>> query("A -> B [weight > 10]; B -> C; A !> C; A.kind = KC", graph).nodes.tolist()
      [['a', 'b', 'c']]
      >>> from jaxmotif.matching import count_matches
      >>> count_matches(query("A -> B; A.kind = B.kind"), graph).count
      1
    """
    asked = parse(text)
    if graph is None:
        return asked
    if options.get("sink") is not None:
        raise ValueError("sink is for find_matches(query(text), graph, sink=..), which writes node numbers to a file")
    target = as_graph(graph, attributes=True)
    found = find_matches(asked, target, limit=limit, **options)
    nodes = found.nodes if target.node_names is None else target.node_names[found.nodes]
    return QueryMatches(nodes, found.exact, found.status, found.seconds, asked.names)
