"""Cutting the graph down, in NumPy, to the vertices that could lie in a match at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmotif.sieve._colors import Motif


class ColoredGraph(NamedTuple):
    """A vertex-colored graph in NumPy: adjacency rows, and the shades that each vertex may take.

    Attributes:
      offsets: int32 ``[n + 1]``.
      targets: int32 ``[2 m]``.
      shades: uint32 ``[n]``.
    """

    offsets: np.ndarray
    targets: np.ndarray
    shades: np.ndarray

    @property
    def n(self) -> int:
        return self.shades.shape[0]


def restrict(graph: ColoredGraph, keep: np.ndarray) -> tuple[ColoredGraph, np.ndarray]:
    """The subgraph on the vertices of a mask, and their ids."""
    if keep.all():
        return graph, np.arange(graph.n)
    ids = np.flatnonzero(keep)
    new = np.cumsum(keep, dtype=np.int32) - 1
    # Slots of rows that are kept, whose targets are kept too.
    sources = np.repeat(keep, np.diff(graph.offsets))
    slots = sources & keep[graph.targets]
    # How many slots are kept before each row begins: differences are the new degrees.
    before = np.concatenate([[0], np.cumsum(slots, dtype=np.int64)])
    degrees = (before[graph.offsets[1:]] - before[graph.offsets[:-1]])[ids]
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    return ColoredGraph(offsets, new[graph.targets[slots]], graph.shades[ids]), ids


def components(graph: ColoredGraph) -> np.ndarray:
    """The connected component of each vertex, as its smallest vertex: int32 ``[n]``.

    Example:
      >>> import numpy as np
      >>> components(ColoredGraph(np.array([0, 1, 1, 2]), np.array([2, 0]), np.zeros(3, np.uint32))).tolist()
      [0, 1, 0]
    """
    label = np.arange(graph.n, dtype=np.int32)
    if not graph.targets.size:
        return label
    rows = np.flatnonzero(np.diff(graph.offsets))
    starts = graph.offsets[rows]
    # Labels fall: from neighbours, then along the labels themselves, so that a long path takes few rounds.
    while True:
        least = label.copy()
        least[rows] = np.minimum(least[rows], np.minimum.reduceat(label[graph.targets], starts))
        # A component that has found a smaller neighbour takes all of itself along.
        changed = np.flatnonzero(least < label)
        if not changed.size:
            return label
        np.minimum.at(least, label[changed], least[changed])
        # To the end of each chain: a label whose own label is smaller takes that.
        while True:
            shorter = least[least]
            if np.array_equal(shorter, least):
                break
            least = shorter
        label = least


def breadth_first(graph: ColoredGraph, root: int) -> np.ndarray:
    """The vertices of the root's component by distance from it."""
    seen = np.zeros(graph.n, bool)
    seen[root] = True
    order = [np.array([root])]
    while order[-1].size:
        near = [graph.targets[graph.offsets[vertex] : graph.offsets[vertex + 1]] for vertex in order[-1]]
        fresh = np.unique(np.concatenate(near))
        fresh = fresh[~seen[fresh]]
        seen[fresh] = True
        order.append(fresh)
    return np.concatenate(order)


def candidates(graph: ColoredGraph, motif: Motif) -> np.ndarray:
    """Which vertices pass the cheap tests: a color of the motif, in a component that has enough of every color.

    A component is one of the subgraph on such vertices. Vertices that fail lie in no match.

    Returns:
      bool ``[n]``.
    """
    keep = graph.shades != 0
    inside, ids = restrict(graph, keep)
    # Of what has a color of the motif at all: of these components enough of every color is asked.
    label = components(inside)
    enough = np.bincount(label, minlength=inside.n) >= motif.size
    for color, number in motif.counts.items():
        able = (inside.shades & np.uint32(motif.masks[color])) != 0
        enough &= np.bincount(label[able], minlength=inside.n) >= number
    keep[ids] = enough[label]
    return keep
