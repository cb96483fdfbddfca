"""scipy.sparse matrices and networkx graphs as edges; see ``Graph.from_scipy`` and ``Graph.from_networkx``."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from jaxmotif.arrays._extras import load_extra
from jaxmotif.graph._attributes import is_missing

if TYPE_CHECKING:
    import networkx

    from jaxmotif.graph._container import Graph

T = TypeVar("T")

_logger = logging.getLogger("jaxmotif")


def scipy_edges(matrix: Any, values_as_labels: bool) -> dict[str, Any]:
    """Return the arguments of ``Graph.from_edges`` that describe a sparse matrix."""
    if not load_extra("scipy.sparse", "this needs").issparse(matrix):
        raise TypeError(
            f"expected a scipy.sparse matrix, got {type(matrix).__name__}; use scipy.sparse.coo_array(matrix)"
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"an adjacency matrix must be square, got shape {matrix.shape}")
    entries = matrix.tocoo()
    labels = _whole_numbers(entries.data) if values_as_labels else None
    edges = np.stack([entries.row, entries.col], axis=1)
    return {"edges": edges, "num_nodes": matrix.shape[0], "edge_labels": labels}


def networkx_edges(source: networkx.Graph, node_label: str | None, edge_label: str | None) -> dict[str, Any]:
    """Return the arguments of ``Graph.from_edges`` that describe a networkx graph."""
    names = list(source.nodes)
    index = {name: i for i, name in enumerate(names)}
    edges = [(index[u], index[v]) for u, v in source.edges()]
    node_labels = None if node_label is None else _attributes("node", source.nodes(data=True), node_label)
    edge_labels = None
    if edge_label is not None:
        edge_labels = _attributes("edge", (((u, v), data) for u, v, data in source.edges(data=True)), edge_label)
    return {
        "edges": edges,
        "num_nodes": len(names),
        "directed": source.is_directed(),
        "node_labels": node_labels,
        "edge_labels": edge_labels,
        "node_names": None if names == list(range(len(names))) else names,
    }


def networkx_attributes(source: networkx.Graph) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return all attributes of nodes and of edges (each parallel edge) in columns; ``None`` where one is missing."""
    return tuple(
        {str(name): [item.get(name) for item in data] for name in dict.fromkeys(key for item in data for key in item)}
        for data in ([data for *_, data in items] for items in (source.nodes(data=True), source.edges(data=True)))
    )  # pyright: ignore[reportReturnType]


class GraphColumns(NamedTuple):
    """A graph as columns.

    Attributes:
      names: the names of the nodes.
      nodes: labels and attributes of the nodes, by the name of the column; labels are called ``label``.
      ends: the numbers of the two nodes of each edge. Where edges are parallel and have values of their own, each of
        them is a row.
      edges: labels and attributes of these rows, likewise.
    """

    names: list[Any]
    nodes: dict[str, list[Any]]
    ends: list[list[int]]
    edges: dict[str, list[Any]]


def columns_of(graph: Graph) -> GraphColumns:
    """Return a graph as columns, with labels in words if they stand for some."""
    attributes = graph.attributes
    parallel = None if attributes is None else attributes.rows
    rows = np.arange(graph.m) if parallel is None else parallel
    of_nodes, of_edges = (_in_words(*both) for both in zip(graph._labels(), graph._label_words, strict=True))
    return GraphColumns(
        graph._names.tolist(),
        _beside_labels("node", of_nodes, {} if attributes is None else attributes.nodes),
        graph.edge_list()[rows].tolist(),
        _beside_labels(
            "edge",
            None if of_edges is None else [of_edges[row] for row in rows.tolist()],
            {} if attributes is None else attributes.edges,
        ),
    )


def _beside_labels(
    kind: str, labels: list[int | str] | None, attributes: Mapping[str, np.ndarray]
) -> dict[str, list[Any]]:
    """Return labels, if there are any, as a column ``label`` before attributes.

    An attribute ``label`` is renamed if it holds anything else than the labels.
    """
    columns = {name: _plain_values(column) for name, column in attributes.items()}
    if labels is None:
        return columns
    if list(map(str, columns.get("label", labels))) == list(map(str, labels)):
        return {"label": labels, **columns}
    return {"label": labels, **rename_columns(columns, ("label",), kind)}


def rename_columns(columns: Mapping[str, T], reserved: Collection[str], kind: str) -> dict[str, T]:
    """Return columns with ``node_`` or ``edge_``, as ``kind`` says, before names that are reserved for something else.

    Example:
      >>> rename_columns({"id": [1], "node_id": [2]}, ("id",), "node")
      {'node_node_id': [1], 'node_id': [2]}
    """
    free = free_names(columns, reserved, kind)
    for name, new in zip(columns, free, strict=True):
        if new != name:
            _logger.info("the %s attribute %r becomes %r: its name has another meaning there", kind, name, new)
    return dict(zip(free, columns.values(), strict=True))


def free_names(names: Iterable[str], reserved: Collection[str], kind: str) -> list[str]:
    """Return names with ``node_`` or ``edge_``, as ``kind`` says, before those that are reserved or occur before.

    Example:
      >>> free_names(["A", "query"], ["query"], "node"), free_names(["query", "node_query"], ["query"], "node")
      (['A', 'node_query'], ['node_node_query', 'node_query'])
    """
    free = list(names)
    for i, name in enumerate(free):
        while name in reserved or name in (*free[:i], *free[i + 1 :]):
            name = f"{kind}_{name}"
        free[i] = name
    return free


def to_networkx(graph: Graph, columns: GraphColumns | None = None) -> networkx.Graph:
    """Build a networkx graph from a graph, with labels, in words if they stand for some, and attributes.

    It is a multigraph where edges are parallel and have values of their own.

    Args:
      graph: the graph.
      columns: its columns, if they are not to be called as :func:`columns_of` calls them.
    """
    networkx = load_extra("networkx", "this needs")
    names, of_nodes, ends, of_edges = columns or columns_of(graph)
    if len(set(names)) < len(names):
        raise ValueError("several nodes have one name, by which networkx tells nodes apart; give others as node_names")
    kind = ("Multi" if len(ends) > graph.m else "") + ("DiGraph" if graph.directed else "Graph")
    result = getattr(networkx, kind)()
    result.add_nodes_from(zip(names, _values(of_nodes, len(names)), strict=True))
    values = _values(of_edges, len(ends))
    result.add_edges_from((names[u], names[v], value) for (u, v), value in zip(ends, values, strict=True))
    return result


def _plain_values(column: np.ndarray) -> list[Any]:
    """Return a column as values of Python."""
    return [value.item() if isinstance(value, np.generic) else value for value in column.tolist()]


def _values(columns: Mapping[str, list[Any]], rows: int) -> list[dict[str, Any]]:
    """Return the values of each row by the names of columns, but for missing ones."""
    found = zip(*columns.values(), strict=True) if columns else [()] * rows
    return [{name: x for name, x in zip(columns, row, strict=True) if not is_missing(x)} for row in found]


def _in_words(labels: np.ndarray | None, names: Mapping[int, str] | None) -> list[int | str] | None:
    if labels is None or names is None:
        return None if labels is None else labels.tolist()
    return [names.get(label, str(label)) for label in labels.tolist()]


def _attributes(kind: str, items: Any, attribute: str) -> list[Any]:
    values = []
    for item, data in items:
        if attribute not in data:
            raise ValueError(
                f"{kind} {item!r} has no attribute {attribute!r}; its attributes are {sorted(data, key=str)}"
            )
        values.append(data[attribute])
    return values


def _whole_numbers(values: np.ndarray) -> np.ndarray:
    """Return matrix values as integers; scipy often holds them as floats."""
    if values.dtype.kind in "iu":
        return values
    if values.dtype.kind not in "bf":
        raise TypeError(f"edge labels must be whole numbers, got matrix values of {values.dtype}")
    values = values.astype(np.float64)
    whole = (values == np.rint(values)) & (np.abs(values) < 2**53)
    if not whole.all():
        raise ValueError(f"edge labels must be whole numbers, got the matrix value {values[np.argmin(whole)]}")
    return values.astype(np.int64)
