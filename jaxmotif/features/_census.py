"""Orbits of all classes of a census at once: features of nodes and edges for graphs of any kind."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np

from jaxmotif.arrays._exact import with_exact_sums
from jaxmotif.census._pair_states import check_size
from jaxmotif.census._roles import role_counts
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._select import Devices
from jaxmotif.features._patterns import Features
from jaxmotif.graph import GraphLike, as_graph
from jaxmotif.graph._coerce import load_graph


@on_cluster(load_graph)
def census_orbits(
    graph: GraphLike,
    size: int,
    *,
    per: Literal["node", "edge"] = "node",
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    progress: bool = False,
) -> Features:
    """Count in how many connected induced subgraphs of each class each node, or edge, lies, by its role there.

    What :func:`jaxmotif.pattern_features` gives for every class that occurs, in one enumeration of all subgraphs; for
    directed and labelled graphs too, where a class has roles that no table lists.

    Args:
      graph: any simple graph, or what :func:`jaxmotif.graph.as_graph` takes for one.
      size: 2 to 8.
      per: a row for each node or edge (directed: arc).
      devices, memory, checkpoint, progress: as of :func:`jaxmotif.subgraph_census`.

    Returns:
      The table. A column is called by its class, by name where it has one, with the lowest node or edge of the role
      where there are several, as :func:`jaxmotif.pattern_features` calls it.

    Raises:
      ValueError: a size or ``per`` out of range, too little memory, labels too many to encode a subgraph in 63
        bits, or a checkpoint that is damaged or of other work.

    Example:
      >>> from jaxmotif.graph import Graph
      >>> found = census_orbits(Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], directed=True), 3)
      >>> found.columns[:2], found.values.sum(axis=0).tolist()
      (('021C:0', '021C:1'), [2, 2, 2, 1, 1, 1])
    """
    graph = as_graph(graph)
    if per not in ("node", "edge"):
        raise ValueError(f"per must be 'node' or 'edge', got {per!r}")
    check_size(graph, size)
    columns, values = role_counts(graph, size, per, devices, memory, checkpoint, progress)
    edges = graph.edge_list() if per == "edge" else None
    return Features(columns, with_exact_sums(values), per, np.zeros(len(values), np.int64), edges)
