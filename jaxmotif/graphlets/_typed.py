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
"""What a census counts wraps from here on."""


def is_typed(graph: Graph | Graphs, typed: bool) -> bool:
    """Whether there are directions or labels to tell, and they are asked for."""
    fields = graph.fields
    return typed and (graph.directed or fields.node_labels is not None or fields.edge_labels is not None)


def _check_counts(graph: Graph, size: int) -> None:
    """Refuses graphs in which a census might wrap."""
    degrees = graph.degrees + (graph.in_degrees if graph.directed else 0)
    # A connected set has a spanning tree, and of the trees of one size stars have the most maps (Sidorenko 1994); those
    # of a tree's image are its automorphisms: 1/6 + 1/2 of four nodes, 1/24 + 1/2 + 1/2 of five.
    if (most := 1.05 * float((degrees.astype(np.float64) ** (size - 1)).sum())) >= LARGEST_COUNT:
        raise OverflowError(
            f"there may be {most:.2g} connected subgraphs of {size} nodes (largest degree {degrees.max()}), which pass "
            "64 bits; typed=False has larger integers, and jaxmotif.estimate_census estimates"
        )


def typed_counts(
    graph: Graph, size: int, devices: Devices, memory: int | None, checkpoint: str | os.PathLike | None, progress: bool
) -> dict[str, int]:
    """Sets of 2 to ``size`` nodes by the graphlet that they induce, by size and class; only those that occur."""

    def census(k: int) -> Census:
        kept = _folder(checkpoint, f"{k}-nodes")
        return subgraph_census(graph, k, devices=devices, memory=memory, checkpoint=kept, progress=progress)

    _check_counts(graph, size)
    # The largest first: what cannot be counted is refused before anything is.
    found = [census(k) for k in range(size, 1, -1)][::-1]
    names = [name for one in found for name in _names(one.classes, graph.directed)]
    return dict(zip(names, np.concatenate([one.counts for one in found]).tolist(), strict=True))


def _folder(checkpoint: str | os.PathLike | None, name: str) -> Path | None:
    """Of one of several jobs, each of which has its own."""
    return None if checkpoint is None else Path(checkpoint) / name


def typed_counts_of_many(
    graphs: Graphs, size: int, devices: Devices, memory: int | None, progress: bool
) -> tuple[tuple[str, ...], np.ndarray]:
    """The graphlets that occur in any graph, by size and class, and the counts of each, int64 ``[B, graphlets]``."""
    # All but the largest graphs have too few nodes and edges for it.
    for i in np.flatnonzero(2.1 * graphs.m * (2.0 * graphs.n) ** (size - 2) >= LARGEST_COUNT).tolist():
        _check_counts(graphs[i], size)
    found: list[PerGraph[Census]] = [
        subgraph_census(graphs, k, devices=devices, memory=memory, progress=progress) for k in range(size, 1, -1)
    ][::-1]
    names = tuple(name for one in found for name in _names(one.columns, graphs.directed))
    return names, np.concatenate([one.values for one in found], axis=1)


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
    """The roles of the graphlets that occur, by size and class, and how often each node or edge plays each, int64
    ``[rows, roles]``."""
    folders = [_folder(checkpoint, f"{k}-nodes-by-{at}") for k in range(2, size + 1)]
    found = [role_counts(graph, k, at, devices, memory, folder, progress) for k, folder in enumerate(folders, start=2)]
    return tuple(role for roles, _ in found for role in roles), np.concatenate([values for _, values in found], axis=1)
