"""Graphlets that tell directions and labels: the classes of the census of each size, and their roles."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import numpy as np

from jaxmotif.arrays._present import PerGraph
from jaxmotif.census import Census, subgraph_census
from jaxmotif.census._roles import role_counts
from jaxmotif.devices._select import Devices
from jaxmotif.graph import Graph, Graphs
from jaxmotif.patterns._names import short_name

At = Literal["node", "edge"]

LARGEST_COUNT = 2.0**63
"""Number from which on counts of a census wrap."""


def is_typed(graph: Graph | Graphs, typed: bool) -> bool:
    """Say whether typed graphlets are asked for, and the graph has directions or labels to tell apart."""
    fields = graph.fields
    return typed and (graph.directed or fields.node_labels is not None or fields.edge_labels is not None)


def _check_counts(graph: Graph, size: int) -> None:
    """Raise an error for a graph in which the counts of a census might wrap."""
    degrees = graph.degrees + (graph.in_degrees if graph.directed else 0)
    # A connected set has a spanning tree, and of the trees of one size stars have the most maps (Sidorenko 1994). The
    # maps onto the image of a tree are its automorphisms: 1/6 + 1/2 of four nodes, 1/24 + 1/2 + 1/2 of five.
    if (most := 1.05 * float((degrees.astype(np.float64) ** (size - 1)).sum())) >= LARGEST_COUNT:
        raise OverflowError(
            f"there may be {most:.2g} connected subgraphs of {size} nodes (largest degree {degrees.max()}), which pass "
            "64 bits; typed=False has larger integers, and jaxmotif.estimate_census estimates"
        )


def typed_counts(
    graph: Graph, size: int, devices: Devices, memory: int | None, checkpoint: str | os.PathLike | None, progress: bool
) -> dict[str, int]:
    """Count the sets of 2 to ``size`` nodes by the graphlet that they induce, by size and class.

    Only graphlets that occur are listed.
    """

    def census(k: int) -> Census:
        folder = _folder(checkpoint, f"{k}-nodes")
        return subgraph_census(graph, k, devices=devices, memory=memory, checkpoint=folder, progress=progress)

    _check_counts(graph, size)
    # The largest subgraphs come first, so that a graph is refused before anything is counted.
    censuses = [census(k) for k in range(size, 1, -1)][::-1]
    names = [name for one in censuses for name in _names(one.classes, graph.directed)]
    return dict(zip(names, np.concatenate([one.counts for one in censuses]).tolist(), strict=True))


def _folder(checkpoint: str | os.PathLike | None, name: str) -> Path | None:
    """Return the checkpoint folder of one of several jobs, each of which has its own."""
    return None if checkpoint is None else Path(checkpoint) / name


def typed_counts_of_many(
    graphs: Graphs, size: int, devices: Devices, memory: int | None, progress: bool
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the graphlets that occur in any graph, and the counts of each, int64 ``[B, graphlets]``.

    Graphlets are ordered by size and class.
    """
    # Only the largest graphs have enough nodes and edges for counts that wrap.
    for i in np.flatnonzero(2.1 * graphs.m * (2.0 * graphs.n) ** (size - 2) >= LARGEST_COUNT).tolist():
        _check_counts(graphs[i], size)
    censuses: list[PerGraph[Census]] = [
        subgraph_census(graphs, k, devices=devices, memory=memory, progress=progress) for k in range(size, 1, -1)
    ][::-1]
    names = tuple(name for one in censuses for name in _names(one.columns, graphs.directed))
    return names, np.concatenate([one.values for one in censuses], axis=1)


def _names(classes: tuple[str, ...], directed: bool) -> list[str]:
    return [short_name(text, directed) for text in classes]


def typed_roles(
    graph: Graph,
    size: int,
    at: At,
    devices: Devices,
    memory: int | None,
    checkpoint: str | os.PathLike | None = None,
    progress: bool = False,
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the roles of the graphlets that occur, and how often each node or edge plays each of them.

    Roles are ordered by size and class; the numbers are int64 ``[rows, roles]``.
    """
    folders = [_folder(checkpoint, f"{k}-nodes-by-{at}") for k in range(2, size + 1)]
    by_size = [
        role_counts(graph, k, at, devices, memory, folder, progress) for k, folder in enumerate(folders, start=2)
    ]
    return tuple(role for roles, _ in by_size for role in roles), np.concatenate(
        [values for _, values in by_size], axis=1
    )
