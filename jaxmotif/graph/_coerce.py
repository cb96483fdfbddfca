"""Arguments that mean a graph: conversion of everything that a front door accepts to a Graph or to Graphs."""

from __future__ import annotations

import functools
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar, Union, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from jaxmotif.arrays._checks import check_switch
from jaxmotif.arrays._fork import using_jax
from jaxmotif.arrays._present import PerGraph, counted
from jaxmotif.graph._attributes import Attributes
from jaxmotif.graph._batch import Graphs
from jaxmotif.graph._build import refuse_traced
from jaxmotif.graph._container import Graph
from jaxmotif.graph._fields import EdgesLike
from jaxmotif.graph._lent import borrow

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse

GraphLike: TypeAlias = Union[
    Graph,
    "networkx.Graph[Any]",
    "scipy.sparse.sparray",
    "pandas.DataFrame",
    np.ndarray,
    list[tuple[int, int]],
    str,
    os.PathLike[str],
]

GraphsLike: TypeAlias = Graphs | Sequence[GraphLike]
"""Data set, where a front door takes many graphs at once; a stack of graphs (:func:`jaxmotif.graph.stack_graphs`) is
one."""

P = ParamSpec("P")
R = TypeVar("R")

_ENDS = (("source", "target"), ("from", "to"), ("src", "dst"), ("u", "v"))
_logger = logging.getLogger("jaxmotif")
_notes: ContextVar[dict[str, list[str]] | None] = ContextVar("notes", default=None)
"""While a data set is built, what is passed over, with the names of the graphs."""


def as_graph(thing: GraphLike, directed: bool | None = None, name: str = "graph", *, attributes: bool = False) -> Graph:
    """Return the graph that an argument means, as every front door takes it.

    | given | edges are | passed over, with a note |
    |---|---|---|
    | :class:`Graph` | its own | |
    | networkx graph | directed if it is; parallel edges are one | attributes of nodes and edges |
    | igraph or graph-tool graph | likewise; nodes are called by their attribute ``name`` | other attributes |
    | scipy.sparse array | undirected if its entries are symmetric, else arcs from row to column | values but 0 and 1 |
    | pandas DataFrame | columns source and target (from, to; src, dst; u, v), or its only two | other columns |
    | integers ``[m, 2]``: NumPy, JAX, anything with dlpack, or pairs | rows | |
    | path | as :func:`jaxmotif.read_graph` reads the file | as that says |

    Nodes of a DataFrame are the values that occur, in ascending order, and its ``node_names``. To keep labels, weights
    as labels, or other columns, build the graph by name: :meth:`Graph.from_networkx`, :meth:`Graph.from_scipy`,
    :meth:`Graph.from_edges`, :func:`jaxmotif.read_graph`.

    Args:
      thing: an object of one of the kinds in the table.
      directed: whether edges are arcs, for objects that do not say so themselves (all but a Graph and networkx).
        ``None``: as the table says, else undirected.
      name: the name of the argument in the caller's signature, for messages.
      attributes: keep attributes of nodes and edges, and other columns, beside the graph.

    Raises:
      TypeError: the object is of no kind in the table.
      ValueError: as raised by the constructor of :class:`Graph` that is used.
      RuntimeError: the process was forked from one that had used JAX.

    Example:
      >>> as_graph([(0, 1), (1, 2)])
      Graph(undirected, 3 nodes, 2 edges)
      >>> import networkx as nx
      >>> as_graph(nx.DiGraph([("a", "b"), ("b", "c")])).node_names.tolist()
      ['a', 'b', 'c']
    """
    if directed is not None:
        check_switch(directed, "directed")
    using_jax()  # work on a graph that was inherited by a forked process would wait for ever
    if isinstance(thing, Graph):
        refuse_traced(thing.num_nodes)
        return thing
    if isinstance(thing, str | os.PathLike):
        return borrow("read_graph")(thing, directed, attributes=attributes)
    # Nobody can hold an object of a library that was never imported, so no library is imported to find out.
    if _is(thing, "networkx", "Graph"):
        return _from_networkx(thing, name, attributes)
    if _is(thing, "igraph", "Graph") or _is(thing, "graph_tool", "Graph"):
        return _from_library(thing, name, attributes)
    if (sparse := sys.modules.get("scipy.sparse")) is not None and sparse.issparse(thing):
        return _from_scipy(thing, directed, name)
    if _is(thing, "pandas", "DataFrame"):
        return _from_pandas(thing, directed, name, attributes)
    first = thing[0] if isinstance(thing, list | tuple) and thing else None
    if isinstance(thing, Graphs) or isinstance(first, Graph) or _is(first, "networkx", "Graph"):
        number = counted(len(cast(Sequence[Graph], thing)), "graph")
        raise TypeError(f"{name}: expected one graph, got {number}; call it for each of them")
    if isinstance(thing, list | tuple | set) or hasattr(thing, "__dlpack__"):
        return Graph.from_edges(cast(EdgesLike, thing), directed=bool(directed))
    raise TypeError(
        f"{name}: expected a graph: a jaxmotif.Graph, a networkx, igraph or graph-tool graph, a scipy.sparse array, a "
        "pandas DataFrame of edges, integer pairs [m, 2] or the path of a file; got "
        f"{type(thing).__module__}.{type(thing).__qualname__}. "
        "Graph.from_edges, Graph.from_networkx, Graph.from_scipy and read_graph build one"
    )


def as_graphs(
    thing: GraphLike | GraphsLike, directed: bool | None = None, *, attributes: bool = False
) -> Graphs | None:
    """Return the data set that an argument means, or ``None`` where it means one graph.

    Many graphs are :class:`Graphs`, a stack of graphs, or a list (or tuple) of what :func:`as_graph` takes; a list of
    pairs of integers is the edges of one graph. A list of edge arrays is built at once, without a step for each.
    ``directed`` and ``attributes`` are as for :func:`as_graph`.

    Raises:
      TypeError, ValueError: as :func:`as_graph`, or graphs that differ in kind.

    Example:
      >>> as_graphs([[(0, 1)], [(0, 1), (1, 2)]])
      Graphs(undirected, 2 graphs, 5 nodes, 3 edges)
      >>> as_graphs([(0, 1), (1, 2)]) is None
      True
    """
    using_jax()
    if isinstance(thing, Graphs):
        return thing
    if isinstance(thing, Graph):
        refuse_traced(thing.num_nodes)
        return Graphs.from_graphs(thing) if np.ndim(thing.num_nodes) == 1 else None
    if not isinstance(thing, list | tuple) or not thing or _is_row(thing[0]):
        return None
    if all(isinstance(one, list | tuple) or hasattr(one, "__dlpack__") for one in thing):
        return Graphs.from_edges(cast(Sequence[ArrayLike], thing), directed=False if directed is None else directed)
    token = _notes.set({})
    try:
        graphs = [
            as_graph(cast(GraphLike, one), directed, f"graphs[{i}]", attributes=attributes)
            for i, one in enumerate(thing)
        ]
        notes = _notes.get() or {}
    finally:
        _notes.reset(token)
    for what, names in notes.items():
        others = f" and {counted(len(names) - 1, 'other')}" if len(names) > 1 else ""
        _passed_over(f"{names[0]}{others}", what)
    return Graphs.from_graphs(graphs)


def load_graph(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, in which ``graph`` is converted to a Graph or to Graphs."""
    return arguments | {"graph": as_one_or_many(arguments["graph"])}


def as_one_or_many(thing: GraphLike | GraphsLike) -> Graph | Graphs:
    """Convert one graph to a Graph, and many to Graphs."""
    graphs = as_graphs(thing)
    return as_graph(cast(GraphLike, thing)) if graphs is None else graphs


class Door(Protocol[P, R]):
    """A public function that takes one graph or many; for many it returns one result for each graph."""

    @overload
    def __call__(self, graph: GraphLike, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, graph: GraphsLike, *args: P.args, **kwargs: P.kwargs) -> PerGraph[R]: ...


def for_many(
    many: Callable[Concatenate[Graphs, ...], PerGraph[Any]],
) -> Callable[[Callable[Concatenate[GraphLike, P], R]], Door[P, R]]:
    """Make a public function for one graph accept many graphs, too.

    Args:
      many: the function that is called for many graphs, with the same options.

    Returns:
      A decorator of the function for one graph.
    """

    def decorate(one: Callable[Concatenate[GraphLike, P], R]) -> Door[P, R]:
        @functools.wraps(one)
        def door(graph: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
            graphs = as_graphs(graph)
            if graphs is None:
                return one(graph, *args, **kwargs)
            for name in ("checkpoint", "certify"):
                if kwargs.pop(name, None) is not None:
                    raise ValueError(f"many graphs run batch by batch: they take no {name}")
            return many(graphs, *args, **kwargs)

        return door

    return decorate


def _is_row(thing: Any) -> bool:
    """Say whether an argument is one edge, that is two node ids."""
    if isinstance(thing, list | tuple):
        return len(thing) > 0 and not isinstance(thing[0], list | tuple) and np.ndim(thing[0]) == 0
    return hasattr(thing, "__dlpack__") and np.ndim(thing) < 2


def _is(thing: object, module: str, kind: str) -> bool:
    imported = sys.modules.get(module)
    return imported is not None and isinstance(thing, getattr(imported, kind))


def _from_networkx(source: Any, name: str, attributes: bool) -> Graph:
    graph = Graph.from_networkx(source, attributes=attributes)
    if attributes:
        return graph
    kinds = (("node", "node_label", source.nodes(data=True)), ("edge", "edge_label", source.edges(data=True)))
    for kind, option, items in kinds:
        names = dict.fromkeys(key for *_, data in items for key in data)  # a dictionary, since a set has no order
        if names:
            shown = ", ".join(map(repr, names))
            _passed_over(name, f"{kind} attributes {shown}; Graph.from_networkx(.., {option}=..) keeps one as labels")
    return _with_note_of_parallels(graph, name)


def _from_library(source: Any, name: str, attributes: bool) -> Graph:
    """Return a graph of igraph or graph-tool, whose nodes are called by their attribute ``name``."""
    if hasattr(source, "vs"):
        of_nodes, of_edges = ({key: items[key] for key in items.attributes()} for items in (source.vs, source.es))
        ends, num_nodes = source.get_edgelist(), source.vcount()
    else:
        nodes, edges = list(source.vertices()), list(source.edges())
        of_nodes = {key: [column[node] for node in nodes] for key, column in source.vertex_properties.items()}
        of_edges = {key: [column[edge] for edge in edges] for key, column in source.edge_properties.items()}
        numbers = {int(node): number for number, node in enumerate(nodes)}  # a view may leave some out
        ends = [(numbers[int(edge.source())], numbers[int(edge.target())]) for edge in edges]
        num_nodes = len(nodes)
    ends = np.array(ends, np.int64).reshape(-1, 2)
    graph = Graph.from_edges(ends, num_nodes, source.is_directed(), node_names=of_nodes.pop("name", None))
    if attributes:
        return graph._with_attributes(Attributes.of_rows(graph, of_nodes, of_edges, ends))
    if others := (*of_nodes, *of_edges):
        _passed_over(name, f"attributes {', '.join(map(repr, others))}")
    return _with_note_of_parallels(graph, name)


def _with_note_of_parallels(graph: Graph, name: str) -> Graph:
    if graph.report is not None and graph.report.duplicates:
        _passed_over(name, f"parallel edges ({graph.report}): each pair of nodes counts once")
    return graph


def _from_scipy(matrix: Any, directed: bool | None, name: str) -> Graph:
    if matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and directed is None:
        entries = matrix.tocoo(copy=True)
        entries.data = np.ones(len(entries.data), bool)  # since zeros that are stored are edges, too
        pattern = entries.tocsr()
        directed = (pattern != pattern.T).nnz > 0
    graph = Graph.from_scipy(matrix, bool(directed))
    values = np.unique(matrix.tocoo().data)
    if not np.isin(values, (0, 1)).all():
        _passed_over(name, "the values of its entries; Graph.from_scipy(.., values_as_labels=True) keeps whole numbers")
    return graph


def _from_pandas(frame: Any, directed: bool | None, name: str, attributes: bool) -> Graph:
    columns = {str(column).lower(): column for column in frame.columns}
    known = next((pair for pair in _ENDS if pair[0] in columns and pair[1] in columns), None)
    if known is None and len(frame.columns) != 2:
        raise ValueError(
            f"{name}: a DataFrame of edges has two columns, or columns called source and target; got "
            f"{', '.join(map(repr, frame.columns))}. Give frame[[first, second]]"
        )
    ends = list(frame.columns) if known is None else [columns[end] for end in known]
    if not frame.columns.is_unique:
        raise ValueError(f"{name}: columns of the DataFrame have one name, {', '.join(map(repr, frame.columns))}")
    missing = frame[ends].isna().any(axis=1).to_numpy()
    if missing.any():
        raise ValueError(
            f"{name}: row {int(np.argmax(missing))} of the DataFrame has no value in {ends[0]} or {ends[1]}"
        )
    others = [column for column in frame.columns if column not in ends]
    if others and not attributes:
        _passed_over(name, f"columns {', '.join(map(repr, others))}; Graph.from_edges(.., edge_labels=..) keeps one")
    ids = frame[ends].infer_objects()  # columns of objects may hold integers alone
    values = ids.to_numpy() if len(frame) else np.zeros((0, 2), np.int64)
    if values.dtype.kind not in "iu" and all(ids[end].dtype.kind in "iu" for end in ends):
        values = _common_integers([ids[end] for end in ends], name)
    if values.dtype.kind == "f":
        raise TypeError(f"{name}: node ids must be whole numbers or words, got {values.dtype}; use frame.astype(int)")
    if values.dtype.kind not in "iu":
        values = values.astype(str)  # words, or a mixture: ordered as text, like the ids of a file
    names, edges = np.unique(values, return_inverse=True)
    plain, edges = np.array_equal(names, np.arange(len(names))), edges.reshape(-1, 2)
    graph = Graph.from_edges(edges, len(names), bool(directed), node_names=None if plain else names)
    columns = {str(column): frame[column] for column in others}
    return graph._with_attributes(Attributes.of_rows(graph, {}, columns, edges)) if attributes else graph


def _common_integers(columns: list[Any], name: str) -> np.ndarray:
    """Return columns of integers of any kind (nullable, of pyarrow, signed or not) as an array ``[rows, columns]``."""
    low, high = min(int(column.min()) for column in columns), max(int(column.max()) for column in columns)
    if low < 0 and high >= 2**63:
        raise ValueError(f"{name}: node ids from {low} to {high} have no common integer type")
    return np.stack([column.to_numpy(np.uint64 if high >= 2**63 else np.int64) for column in columns], axis=1)


def _passed_over(name: str, what: str) -> None:
    """Log which parts of a graph are not used; while a data set is built, collect them for one note on all graphs."""
    if (notes := _notes.get()) is not None:
        notes.setdefault(what, []).append(name)
    else:
        _logger.warning("%s: passed over %s", name, what)
