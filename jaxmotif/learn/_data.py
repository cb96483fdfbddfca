"""Data sets of graphs, whatever library the graphs come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmotif.graph import Graphs, as_graphs


def data_set(graphs: Any, directed: bool = False) -> Graphs:
    """Return the graphs of a data set side by side.

    Args:
      graphs: ``Graphs``, or a sequence of what :func:`jaxmotif.graph.as_graph` takes, or of PyTorch Geometric's
        ``Data``.
      directed: whether edges of arrays and ``Data`` are arcs.

    Raises:
      ValueError: no graphs, or one graph in place of many.
      TypeError: as :func:`jaxmotif.graph.as_graph`.
    """
    if isinstance(graphs, Graphs):
        return graphs
    if not isinstance(graphs, Sequence | np.ndarray) or isinstance(graphs, str):
        raise TypeError(f"expected a list of graphs, got {type(graphs).__name__}; put one graph in a list")
    graphs = list(graphs)
    if not graphs:
        raise ValueError("expected at least one graph, got an empty list")
    if all(hasattr(graph, "edge_index") and hasattr(graph, "num_nodes") for graph in graphs):
        edges = [np.asarray(graph.edge_index).T for graph in graphs]
        return Graphs.from_edges(edges, [graph.num_nodes for graph in graphs], directed)
    found = as_graphs(graphs, directed)
    if found is None:
        raise ValueError("expected a list of graphs, got the edges of one graph; put it in a list")
    return found
