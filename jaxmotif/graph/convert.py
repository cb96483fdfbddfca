"""Graphs from scipy.sparse matrices and networkx graphs; see the methods of the same names of Graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmotif.graph.container import Graph


def from_scipy(matrix: Any, directed: bool, node_labels: Any, values_as_labels: bool, **options: Any) -> Graph:
    import scipy.sparse

    if not scipy.sparse.issparse(matrix):
        raise TypeError(
            f"expected a scipy.sparse matrix, got {type(matrix).__name__}; use scipy.sparse.coo_array(matrix)"
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"an adjacency matrix must be square, got shape {matrix.shape}")
    entries = matrix.tocoo()
    labels = _whole_numbers(entries.data) if values_as_labels else None
    edges = np.stack([entries.row, entries.col], axis=1)
    return Graph.from_edges(edges, matrix.shape[0], directed, node_labels, labels, **options)


def from_networkx(source: Any, node_label: str | None, edge_label: str | None, **options: Any) -> Graph:
    names = list(source.nodes)
    index = {name: i for i, name in enumerate(names)}
    edges = [(index[u], index[v]) for u, v in source.edges()]
    node_labels = None if node_label is None else _attributes("node", source.nodes(data=True), node_label)
    edge_labels = None
    if edge_label is not None:
        edge_labels = _attributes("edge", (((u, v), data) for u, v, data in source.edges(data=True)), edge_label)
    return Graph.from_edges(
        edges, len(names), source.is_directed(), node_labels, edge_labels,
        node_names=None if names == list(range(len(names))) else names, **options,
    )  # fmt: skip


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
    """Matrix values, which scipy often holds as floats, as integers."""
    if values.dtype.kind in "iu":
        return values
    if values.dtype.kind not in "bf":
        raise TypeError(f"edge labels must be whole numbers, got matrix values of {values.dtype}")
    values = values.astype(np.float64)
    whole = (values == np.rint(values)) & (np.abs(values) < 2**53)
    if not whole.all():
        raise ValueError(f"edge labels must be whole numbers, got the matrix value {values[np.argmin(whole)]}")
    return values.astype(np.int64)
