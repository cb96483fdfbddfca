"""Hubs among whose neighbours few are adjacent, on a CPU: neighbourhoods as lists in the place of matrices.

What :func:`five.hubs.gather` finds by products of D x D matrices is found from the arcs x -> y between
the neighbours of a hub u, and from its bends x - y - z: two such arcs, which add one to the common neighbours of x and
z. There are sum t^2 bends around a hub whose arcs have t triangles, where a product takes D^3. The neighbourhoods of
all these hubs are one sparse graph, their disjoint union; its nodes are the hubs' arcs u -> x.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxmotif.graphlets._cells import MOST, Lists, order_of
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets.five.hubs import ADJACENT, Ranked

TABLE = 2**20
"""Numbers of the rows of a table that are done at a time, unless it is one row."""

_BEND, _ARC = 12.0, 100.0
"""Nanoseconds of a bend, and of an arc of the union."""

_CELL, _STEP = 12.0, 0.04
"""Nanoseconds of a cell of a matrix, and of a step of its products."""


class Listed(NamedTuple):
    """``hubs``: their numbers in the core, ascending; ``lengths``: of their lists. Of all arcs of the union, by their
    tails: ``tails``, ``heads``, by numbers of the graph's arcs, and the arcs of the graph that they are, ``sides``.
    Int64."""

    hubs: np.ndarray
    lengths: np.ndarray
    tails: np.ndarray
    heads: np.ndarray
    sides: np.ndarray

    @property
    def cells(self) -> int:
        """Of their matrices, of which only common neighbours are kept."""
        return int((self.lengths**2).sum())

    @property
    def bytes(self) -> int:
        """With what sums take beside these."""
        return 140 * len(self.tails)


class Core(NamedTuple):
    """A graph in NumPy; nodes of the core are numbered from 0, arcs as in the graph.

    ``first``, ``lengths``, ``later``: of each node of the core its first arc into it, how many there are, and how many
    of these lead to nodes of higher rank; ``tails``, ``heads``, ``back``: of all arcs, the first two as far as they are
    inside. Int64."""

    first: np.ndarray
    lengths: np.ndarray
    later: np.ndarray
    tails: np.ndarray
    heads: np.ndarray
    back: np.ndarray

    def leaving(self, nodes: np.ndarray) -> np.ndarray:
        """The arcs inside that leave some nodes, one node after the other."""
        lengths = self.lengths[nodes]
        return np.arange(lengths.sum()) + np.repeat(self.first[nodes] - (np.cumsum(lengths) - lengths), lengths)


def core_of(graph: Ranked, later: np.ndarray) -> Core:
    """The core of a graph on a CPU, without padding; ``later``: as :attr:`Core.later`, of any type."""
    core, offsets = int(graph.core), np.asarray(graph.offsets).astype(np.int64)
    tails, heads, back = (np.asarray(x)[: offsets[-1]].astype(np.int64) for x in (graph.tails, graph.heads, graph.back))
    first = offsets[core:-1] + np.asarray(graph.leaves)[core:]
    lengths = offsets[core + 1 :] - first
    tails = np.clip(tails - core, 0, len(lengths) - 1)
    return Core(first, lengths, later.astype(np.int64), tails, heads - core, back)


class Triangles(NamedTuple):
    """Of nodes u < v < w the arcs u -> v, v -> w, u -> w, int64."""

    uv: np.ndarray
    vw: np.ndarray
    uw: np.ndarray

    def some(self, which: slice | np.ndarray) -> Triangles:
        return Triangles(*(arcs[which] for arcs in self))

    def at(self, back: np.ndarray) -> np.ndarray:
        """How many each arc is part of."""
        found = np.bincount(np.concatenate(self), minlength=len(back))
        return found + found[back]

    @property
    def sides(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Between the two arcs of :meth:`around`, from the head of the first to that of the second."""
        return self.vw, self.uw, self.uv

    def around(self, back: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Of each triangle and its three nodes, the two arcs from one to the others; ``back``: reversed arcs."""
        yield self.uv, self.uw
        yield back[self.uv], self.vw
        yield back[self.uw], back[self.vw]

    def sums(self, back: np.ndarray, values: np.ndarray) -> np.ndarray:
        """At each arc u -> v, int64, the sum over common neighbours w of values at u -> w."""
        found = np.zeros(len(back), np.int64)
        for x, y in self.around(back):
            np.add.at(found, x, values[y])
            np.add.at(found, y, values[x])
        return found


def few_bends(core: Core, triangles: Triangles, t: np.ndarray, widths: np.ndarray) -> Listed:
    """The hubs that take less so; ``t``: triangles at all arcs; ``widths``: of matrices."""
    arcs, bends = (np.bincount(core.tails[t > 0], x[t > 0], len(core.lengths)) for x in (t, t * t))
    size = widths[np.searchsorted(widths, core.lengths)].astype(np.float64)
    listed = (_BEND * bends + _ARC * arcs <= size * size * (_CELL + _STEP * size)) & (core.lengths > 0)
    tails, heads, sides = [], [], []
    # The arcs from a node to the two others are nodes of the union, and adjacent.
    for (x, y), side in zip(triangles.around(core.back), triangles.sides, strict=True):
        mine = listed[core.tails[x]]
        tails += [x[mine], y[mine]]
        heads += [y[mine], x[mine]]
        sides += [side[mine], core.back[side[mine]]]
    (hubs,), tails = np.nonzero(listed), np.concatenate(tails)
    order = order_of(tails)
    heads, sides = (np.concatenate(x)[order] for x in (heads, sides))
    return Listed(hubs, core.lengths[hubs], tails[order], heads, sides)


def triangles_of(core: Core) -> Triangles:
    """All of the core."""
    nodes = len(core.lengths)
    starts = core.first + core.lengths - core.later
    # The arcs from lower to higher nodes, by tail; each with the higher neighbours of its head.
    up = Lists(starts, core.later)
    rows = np.concatenate([[0], np.cumsum(core.later)])
    arcs = np.concatenate([c.near for c in up.cells(0, nodes)] or [rows[:0]])
    head = core.heads[arcs]
    lists = Lists(starts[head], core.later[head])
    most = max(1, min(nodes, TABLE // max(nodes, 1)))
    table, found = np.full(most * nodes, -1), [(arcs[:0],) * 3]
    for first, stop in lists.groups(rows, most):
        own = slice(rows[first], rows[stop])
        # Where the higher neighbours of u are: their arcs from it.
        marks = (core.tails[arcs[own]] - first) * nodes + head[own]
        table[marks] = arcs[own]
        for c in lists.cells(own.start, own.stop):
            third = table.take(c.spread((core.tails[arcs[c.arcs]] - first) * nodes) + core.heads.take(c.near))
            (some,) = np.nonzero(third >= 0)
            found.append((c.spread(arcs[c.arcs])[some], c.near[some], third[some]))
        table[marks] = -1
    return Triangles(*(np.concatenate(x) for x in zip(*found, strict=True)))


def _bends(tails: np.ndarray, heads: np.ndarray, nodes: int) -> Lists:
    """Of arcs in order of their tails, those that leave their heads."""
    lengths = np.bincount(tails, minlength=nodes)
    return Lists((np.cumsum(lengths) - lengths)[heads], lengths[heads])


def _squares(both: np.ndarray, core: Core, rows: np.ndarray, of: Listed, members: np.ndarray) -> np.ndarray:
    """Sums over the rows of the matrices of the squares of common neighbours, at all arcs of the graph."""
    found = np.zeros(len(core.tails), np.int64)
    arcs = core.leaving(of.hubs)
    # They follow each other, and no row is empty.
    begin = np.concatenate([rows[arcs], [len(both)]])
    first = 0
    while first < len(arcs):
        last = max(int(np.searchsorted(begin, begin[first] + MOST, "right")) - 1, first + 1)
        part = both[begin[first] : begin[last]].astype(np.int64)
        found[arcs[first:last]] = np.add.reduceat(part * part, begin[first:last] - begin[first])
        first = last
    # Of bends x - y - z the few whose z stands for several.
    (some,) = np.nonzero(members[of.heads] > 1)
    y, z = of.tails[some], of.heads[some]
    more = (members[z] - 1) * members[y]
    for c in _bends(of.tails, y, len(core.tails)).cells(0, len(some)):
        x = of.heads[c.near]
        common = both[c.spread(rows[z[c.arcs]]) + x - core.first[core.tails[x]]].astype(np.int64)
        np.add.at(found, x, c.spread(more[c.arcs]) * common)
    return found


def gather(
    own: dict[str, np.ndarray], both: np.ndarray, core: Core, rows: np.ndarray, at_heads: dict[str, np.ndarray],
    of: Listed, detail: Detail,
) -> np.ndarray | None:  # fmt: skip
    """As :func:`five.hubs.gather` without tables, into ``own`` and ``both``; for edge orbits it gives
    ``rim``.

    Args:
      own: by name, at all arcs.
      rows: of each arc u -> x the first cell of the row of x in the matrix of u.
      at_heads: of all arcs, what their heads have: degrees ``d``, walks of length 2 ``p2``, ``leaves``, and how many
        ``members`` they stand for.
    """
    if not len(of.tails):
        return np.zeros(len(core.tails), np.int64) if detail == "edge" else None
    members, many = at_heads["members"], at_heads["members"][of.heads]
    first = np.flatnonzero(np.diff(of.tails, prepend=-1))
    nodes = of.tails[first]

    def around(values: np.ndarray) -> np.ndarray:
        """Sums over the neighbours of each node of the union, of what arcs of it have; at all arcs of the graph."""
        found = np.zeros(len(core.tails), np.int64)
        found[nodes] = np.add.reduceat(values * many, first)
        return found

    place = np.arange(len(core.tails)) - core.first[core.tails]
    x, y = rows[of.tails], place[of.heads]
    bends = _bends(of.tails, of.heads, len(core.tails))
    for c in bends.cells(0, len(of.tails)):
        np.add.at(both, c.spread(x[c.arcs]) + y.take(c.near), c.spread(many[c.arcs].astype(np.uint16)))
    rim = _rim(both, core, x, y, of, bends) if detail == "edge" else None
    k = both[x + y].astype(np.int64)  # 4-cliques
    closed, tips = _squares(both, core, rows, of, members), np.zeros_like(k)
    both[x + y] |= 1 << ADJACENT
    # Of x, y and z all adjacent, where each two of them have a common neighbour: y and z in one order.
    (some,) = np.nonzero(k)
    up = some[of.tails[some] < of.heads[some]]
    some = some[np.isin(of.heads[some], of.tails[up])]
    bends = _bends(of.tails[up], of.heads[some], len(core.tails))
    k_many, x, y = 2 * (k * many)[up], x[some], y[up]
    for c in bends.cells(0, len(some)):
        near = both.take(c.spread(x[c.arcs]) + y.take(c.near)) >> ADJACENT
        tips[some[c.arcs]] = c.sums(near.astype(np.int64) * k_many.take(c.near))
    t, d = around(np.ones_like(k)), at_heads["d"][of.heads]
    s, degrees, l2 = around(k), around(d), around(t[of.heads])
    sums = {
        "t": t, "degrees": degrees, "l2": l2, "s": s, "c": closed, "k2": around(k * k),
        "leaves": around(at_heads["leaves"][of.heads]),
    }  # fmt: skip
    if detail != "graph":
        sums |= {
            "walks": around(at_heads["p2"][of.heads]), "spread": around(degrees[of.heads]),
            "l3": around(l2[of.heads]), "cube": around(t[of.heads] ** 2), "kt": around(k * t[of.heads]),
            "ls": around(s[of.heads]), "tip": around(tips),
        }  # fmt: skip
    if detail == "edge":
        sums |= {"squares": around(d * d), "dart": around(t[of.heads] * d), "tail": around(k * d)}
    for name, values in sums.items():
        own[name][nodes] = values[nodes]
    return rim


def _rim(both: np.ndarray, core: Core, x: np.ndarray, y: np.ndarray, of: Listed, bends: Lists) -> np.ndarray:
    """Walks of length 3 along the arcs of the union, at the arcs of the graph that these are; ``x``, ``y``: of each arc
    the row of its tail, and the place of its head in one; ``bends``: the arcs that leave its head."""
    found = np.zeros(len(core.tails), np.int64)
    for c in bends.cells(0, len(of.tails)):
        walks = c.sums(both.take(c.spread(x[c.arcs]) + y.take(c.near)).astype(np.int64))
        np.add.at(found, of.sides[c.arcs], walks)
    return found
