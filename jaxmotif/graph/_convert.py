"""scipy.sparse matrices and networkx graphs as edges; see ``Graph.from_scipy`` and ``Graph.from_networkx``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmotif.arrays._extras import load_extra

if TYPE_CHECKING:
    import networkx

    from jaxmotif.graph._container import Graph


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


def to_networkx(graph: Graph) -> networkx.Graph:
    """Build a networkx graph from a graph, with labels, in words if they stand for some, and attributes.

    It is a multigraph where edges are parallel and have values of their own.
    """
    networkx = load_extra("networkx", "this needs")
    names = graph._names.tolist()
    if len(set(names)) < len(names):
        raise ValueError("several nodes have one name, by which networkx tells nodes apart; give others as node_names")
    ends, of_edges = edge_rows(graph)
    kind = ("Multi" if len(ends) > graph.m else "") + ("DiGraph" if graph.directed else "Graph")
    result = getattr(networkx, kind)()
    labels = _in_words(graph._labels()[0], graph._label_words[0])
    of_nodes = {} if labels is None else {"label": labels}
    if graph.attributes is not None:
        of_nodes |= {name: column.tolist() for name, column in graph.attributes.nodes.items()}
    result.add_nodes_from(zip(names, _values(of_nodes, len(names)), strict=True))
    values = _values(of_edges, len(ends))
    result.add_edges_from((names[u], names[v], value) for (u, v), value in zip(ends, values, strict=True))
    return result


def edge_rows(graph: Graph) -> tuple[list[list[int]], dict[str, list[Any]]]:
    """Return the ends of the edges, and their labels and attributes by the name of the column.

    Where edges are parallel and have values of their own, each of them is a row.
    """
    attributes = graph.attributes
    parallel = None if attributes is None else attributes.rows
    rows = np.arange(graph.m) if parallel is None else parallel
    columns: dict[str, list[Any]] = {}
    if (labels := _in_words(graph._labels()[1], graph._label_words[1])) is not None:
        columns["label"] = [labels[row] for row in rows.tolist()]
    if attributes is not None:
        columns |= {name: column.tolist() for name, column in attributes.edges.items()}
    return graph.edge_list()[rows].tolist(), columns


def _values(columns: Mapping[str, list[Any]], rows: int) -> list[dict[str, Any]]:
    """Return the values of each row by the names of columns, but for missing ones: ``None`` and not-a-number."""
    found = zip(*columns.values(), strict=True) if columns else [()] * rows
    return [{name: x for name, x in zip(columns, row, strict=True) if x is not None and x == x} for row in found]


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
