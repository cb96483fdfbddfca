"""What edge orbits take of the triangles of a graph beside the sums of :mod:`jaxmotif.graphlets._by_rows`, on a CPU.

Of an edge with common neighbours T, ``chord`` and ``side_pairs`` are sums over all pairs of T. Where an end of the edge
has a matrix, they are products of that with the codegrees of its nodes. Else one of a pair is a corner of a triangle,
the edge the side that it does not touch, and the other comes from the list of that edge: the row of codegrees of the
corner, while it is there, tells of all its pairs.
"""

from __future__ import annotations

import numpy as np

from jaxmotif.graphlets._by_lists import Core, Triangles
from jaxmotif.graphlets._cells import Lists, order_of


class Corners:
    """The corners of triangles by rows, and sums at the edges that they do not touch."""

    def __init__(self, core: Core, triangles: Triangles, nodes: np.ndarray, wanted: np.ndarray):
        """``nodes``: of the core, in the order of their rows; ``wanted``: at which arcs, those of an edge alike."""
        self._core, arcs = core, len(core.tails)
        uv, vw, uw = triangles
        edge, corner = np.concatenate(triangles), np.concatenate([core.heads[vw], core.tails[uv], core.heads[uv]])
        edge, corner = edge[wanted[edge]], corner[wanted[edge]]
        order = order_of(edge)
        edge, self._third = edge[order], corner[order]
        # Of each pair the one that comes first in the list of an edge finds the other.
        later = np.cumsum(np.bincount(edge, minlength=arcs))[edge] - np.arange(len(edge)) - 1
        row = np.empty(len(nodes), np.int64)
        row[nodes] = np.arange(len(nodes))
        (place,) = np.nonzero(later)
        rows = row[self._third[place]]
        order = order_of(rows)
        self._rows, place = rows[order], place[order]
        self._edges, self._lists = edge[place], Lists(place + 1, later[place])
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(self._rows, minlength=len(nodes)))])
        self._codegrees, self._adjacent = np.zeros((2, arcs), np.int64)

    def add(self, table: np.ndarray, size: int, first: int, stop: int, marks: np.ndarray) -> None:
        """What rows give; ``table``: theirs, each of ``size``, codegrees in the lowest 16 bits; ``marks``: where their
        neighbours are in it, which are cleared."""
        table[marks] |= np.int64(-(2**63))  # made negative
        for c in self._lists.cells(int(self._starts[first]), int(self._starts[stop])):
            number = table.take(c.spread((self._rows[c.arcs] - first) * size) + self._third.take(c.near))
            codegree = number & 0xFFFF
            np.add.at(self._codegrees, self._edges[c.arcs], c.sums(codegree))
            np.add.at(self._adjacent, self._edges[c.arcs], c.sums(codegree * (number < 0)))
        table[marks] = 0

    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Over all ordered pairs of T, codegrees, and those of adjacent ones: int64 at all arcs."""
        codegrees, adjacent = (2 * (x + x[self._core.back]) for x in (self._codegrees, self._adjacent))
        return codegrees, adjacent


class AtEdges:
    """What edge orbits take of rows, beside the sums of all orbits.

    Attributes:
      floor: int64 at all arcs.
      codegrees: uint16, of the cells of all matrices.
      corners: of the edges neither of whose ends has a matrix: what others take is in that.
    """

    def __init__(self, core: Core, triangles: Triangles, nodes: np.ndarray, leaves_matrix: np.ndarray, cells: int):
        """``nodes``: of the core, in the order of their rows; ``leaves_matrix``: at all arcs, whether the tail has a
        matrix; ``cells``: of all neighbourhoods."""
        self._leaves, self._back = leaves_matrix, core.back
        self._apart = ~(leaves_matrix | leaves_matrix[core.back])
        self.floor, self.codegrees = np.zeros(len(core.tails), np.int64), np.zeros(cells, np.uint16)
        self.corners = Corners(core, triangles, nodes, self._apart)

    def sums(self, own: dict[str, np.ndarray], chord: np.ndarray, side_pairs: np.ndarray) -> dict[str, np.ndarray]:
        """Int64 at all arcs, by name; ``chord``, ``side_pairs``: at those that leave matrices."""
        chord, side_pairs = (np.where(self._leaves, x, x[self._back]) for x in (chord, side_pairs))
        codegrees, adjacent = self.corners.sums()
        # Each node of T and itself have its degree.
        chord += codegrees + np.where(self._apart, own["degrees"], 0)
        return {"floor": self.floor, "chord": chord, "side_pairs": side_pairs + adjacent}


def around(core: Core, triangles: Triangles, t: np.ndarray, l2: np.ndarray) -> dict[str, np.ndarray]:
    """Sums over the triangles at all arcs, int64, by name (:class:`five.equations.Rims`); ``t``, ``l2``: at
    all arcs."""
    closed, middle = np.zeros(len(core.lengths), np.int64), np.zeros(len(t), np.int64)
    np.add.at(closed, core.tails, t)
    # Of each corner the arcs to the two others, and the side between these.
    for (x, y), side in zip(triangles.around(core.back), triangles.sides, strict=True):
        np.add.at(middle, x, t[y] * t[side])
        np.add.at(middle, y, t[x] * t[side])
    triples = triangles.sums(core.back, closed[core.tails[core.back]])
    return {"middle": middle, "triples": triples, "end": triangles.sums(core.back, l2[core.back])}
