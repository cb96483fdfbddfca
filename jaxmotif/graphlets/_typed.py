"""Graphlets that tell directions and labels: the classes of the census of each size, and their roles."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from jaxmotif.census import Census, subgraph_census
from jaxmotif.census._roles import role_counts
from jaxmotif.devices._select import Devices
from jaxmotif.graph import Graph, Graphs
from jaxmotif.patterns._names import short_name

At = Literal["node", "edge"]

LARGEST_COUNT = 2.0**63
"""Number from which on counts of a census wrap."""


class HowToRun(NamedTuple):
    """Options that say where a call runs, in how much memory, and what it keeps and shows."""

    devices: Devices
    memory: int | None
    checkpoint: str | os.PathLike | None
    progress: bool

    def options(self, job: str) -> dict[str, Any]:
        """Return the options of one of several jobs, each of which has a checkpoint folder of its own."""
        folder = None if self.checkpoint is None else Path(self.checkpoint) / job
        return self._replace(checkpoint=folder)._asdict()


def is_typed(graph: Graph | Graphs, typed: bool) -> bool:
    """Say whether typed graphlets are asked for, and the graph has directions or labels to tell apart."""
    fields = graph.fields
    return typed and (graph.directed or fields.node_labels is not None or fields.edge_labels is not None)


def _check_counts(graph: Graph, size: int) -> None:
    """Raise an error for a graph in which the counts of a census might wrap."""
    degrees = graph.degrees + (graph.in_degrees if graph.directed else 0)
    # Every connected set has a spanning tree, and of all trees of one size the star has the most maps (Sidorenko 1994).
    # A tree has as many maps to one image as it has automorphisms. So there are at most as many connected sets as maps
    # of the star, times the sum of 1 / automorphisms over all trees: 1/6 + 1/2 of four nodes, 1/24 + 1/2 + 1/2 of five.
    if (most := 1.05 * float((degrees.astype(np.float64) ** (size - 1)).sum())) >= LARGEST_COUNT:
        raise OverflowError(
            f"there may be {most:.2g} connected subgraphs of {size} nodes (largest degree {degrees.max()}), which pass "
            "64 bits; typed=False has larger integers, and jaxmotif.estimate_census estimates"
        )


def typed_counts(graphs: Graph | Graphs, size: int, how: HowToRun) -> tuple[tuple[str, ...], np.ndarray]:
    """Count the sets of 2 to ``size`` nodes by the graphlet that they induce, in a graph or in many.

    Returns:
      The graphlets that occur, by size and class, and how often each does: int64 ``[graphlets]``, for many graphs
      ``[B, graphlets]``.
    """
    if isinstance(graphs, Graphs):
        # Only the largest graphs have enough nodes and edges for counts that wrap.
        for i in np.flatnonzero(2.1 * graphs.m * (2.0 * graphs.n) ** (size - 2) >= LARGEST_COUNT).tolist():
            _check_counts(graphs[i], size)
    else:
        _check_counts(graphs, size)
    names, counts = [], []
    for k in range(size, 1, -1):  # the largest first, so that a graph is refused before anything is counted
        census = subgraph_census(graphs, k, **how.options(f"{k}-nodes"))
        one = isinstance(census, Census)
        classes, of_classes = (census.classes, census.counts) if one else (census.columns, census.values)
        names = [short_name(text, graphs.directed) for text in classes] + names
        counts = [of_classes, *counts]
    return tuple(names), np.concatenate(counts, axis=-1)


def typed_roles(graph: Graph, size: int, at: At, how: HowToRun) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the roles of the graphlets that occur, and how often each node or edge plays each of them.

    Roles are ordered by size and class; the numbers are int64 ``[rows, roles]``.
    """
    names, tables = (), []
    for k in range(2, size + 1):
        roles, values = role_counts(graph, k, at, **how.options(f"{k}-nodes-by-{at}"))
        names, tables = names + roles, [*tables, values]
    return names, np.concatenate(tables, axis=1)
