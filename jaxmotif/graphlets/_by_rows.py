"""What takes the tables over pairs of nodes (:mod:`five.hubs`), on a CPU: some rows at a time, in cache.

Matrices of neighbourhoods are padded, and reach all over tables that are much larger than a cache. Here an arc x -> u
is a list instead, the neighbours y of u, each of them a *cell*; all arcs that leave a few nodes x are done together:
they write and read the rows of these nodes alone. What row x has in the matrix of u is kept from the pass over
matrices. Sums are those at the reversed arc, u -> x.

It is NumPy, which adds to a number of a table in 2 ns and reads one in 1; XLA takes three to ten times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.graphlets import _by_lists as by_lists
from jaxmotif.graphlets._by_columns import Columns
from jaxmotif.graphlets._by_lists import TABLE, Core, Listed, Triangles
from jaxmotif.graphlets._by_matrices import Group, Neighbourhoods, five_cliques
from jaxmotif.graphlets._by_triangles import AtEdges, around
from jaxmotif.graphlets._cells import Cells, Lists
from jaxmotif.graphlets._five_on_host import arcs_of, degrees_of, leaves_of, members_of
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets.five.hubs import ADJACENT, Ranked, own_columns

MOST, MOST_WALKS = 2**15, 2**23
"""Above all degrees: common neighbours and whether two are adjacent share a number of 16 bits. For edge orbits, above
the closed walks of length 3 at all nodes: of all sums that share a number of a table, more than two then."""

_BENT = 40
"""The first bit of bent walks, for edge orbits, in a number of a table (:class:`five.hubs.Tables`)."""

_CLEARED = 6
"""Numbers of a table that take as long to clear in order as one cell elsewhere."""

_NARROW = 2.0**31
"""Two sums that stay below this share a number of 64 bits."""


class Layout(NamedTuple):
    """``matrices``, ``few``: all hubs; ``rows``: int64, of each arc u -> x of the core the first cell of the row of x
    in the matrix of u, or, after all those, in what is kept of one; ``bits``: of a codegree, 8 or 16."""

    core: Core
    triangles: Triangles
    matrices: list[Group]
    few: Listed
    rows: np.ndarray
    bits: int


def needed(matrices: int, lists: int, arcs: int, detail: Detail) -> int:
    """Bytes of what is kept of so many cells of matrices, and of lists, and of arcs, at most."""
    return (6 if detail == "edge" else 2) * matrices + 2 * lists + 200 * arcs


def layout(core: Core, triangles: Triangles, matrices: list[Group], few: Listed, bits: int) -> Layout:
    """Arguments as :class:`Layout` has them."""
    first, width = np.zeros((2, len(core.lengths)), np.int64)
    for group in matrices:
        first[group.hubs] = group.first + np.arange(len(group.hubs)) * group.width**2
        width[group.hubs] = group.width
    first[few.hubs] = sum(group.cells for group in matrices) + np.cumsum(few.lengths**2) - few.lengths**2
    width[few.hubs] = few.lengths
    rows = first[core.tails] + (np.arange(len(core.tails)) - core.first[core.tails]) * width[core.tails]
    return Layout(core, triangles, matrices, few, rows, bits)


def all_sums(at: Layout, graph: Ranked, device: jax.Device, *, size: int, detail: Detail) -> dict[str, np.ndarray]:
    """All sums that five-node orbits follow from, int64 at all arcs, by name; ``size``: of a row of the table."""
    arcs, d = arcs_of(graph), degrees_of(graph)
    nodes = {"d": d, "p2": arcs.around(d), "leaves": leaves_of(graph), "members": members_of(graph)}
    at_heads = {name: arcs.head(x) for name, x in nodes.items()}
    stand_for = None if graph.twins is None else nodes["members"][int(graph.core) :]
    names, count = own_columns(detail), len(at.core.tails)
    every = np.zeros((len(names), count), np.int64)
    both = np.zeros(sum(group.cells for group in at.matrices) + at.few.cells, np.uint16)
    neighbourhoods = Neighbourhoods(at.core, at.triangles, at.rows, at.matrices, at_heads)
    rim = neighbourhoods.gather(every, both, detail)
    own = dict(zip(names, every, strict=True))
    more = by_lists.gather(own, both, at.core, at.rows, at_heads, at.few, detail)
    walks, sums = found(at, own, both, neighbourhoods, at_heads, stand_for, device, size=size, detail=detail)
    sums |= own | {"walks4": walks, "q": five_cliques(at.core, at.triangles, at_heads["members"], own["s"])}
    return sums if rim is None or more is None else sums | {"rim": rim + more}


class _Rows(NamedTuple):
    """The arcs inside the core, x -> u, by rows: of each the node, ``nodes``; of arcs the numbers in the graph,
    ``arcs``, the rows of x, ``tails``, and the reversed arcs, ``back``; ``starts``: of each row the first arc;
    ``lists``: of each arc those u -> y."""

    nodes: np.ndarray
    arcs: np.ndarray
    tails: np.ndarray
    back: np.ndarray
    starts: np.ndarray
    lists: Lists

    @classmethod
    def of(cls, core: Core, nodes: np.ndarray) -> _Rows:
        starts, arcs = np.concatenate([[0], np.cumsum(core.lengths[nodes])]), core.leaving(nodes)
        tails, hubs = np.repeat(np.arange(len(nodes)), core.lengths[nodes]), core.heads[arcs]
        return cls(nodes, arcs, tails, core.back[arcs], starts, Lists(core.first[hubs], core.lengths[hubs]))


class _Read(NamedTuple):
    """Cells; where each is in the matrix of u, in the rows of a table that are held, and in the columns; how many nodes
    y stands for; 1, and 2^32 times what x and y have in that matrix."""

    cells: Cells
    place: np.ndarray
    key: np.ndarray
    column: np.ndarray
    members: np.ndarray
    pair: np.ndarray


class Found(NamedTuple):
    """What rows give.

    Attributes:
      walks: int64 at all arcs, those of length 4 over core nodes.
      sums: int64 at all arcs, by name. Where edge orbits are not wanted ``chord`` is that of
        :class:`five.equations.Sums` only when summed around u: C(x, y) is added up over the pairs of common
        neighbours that x and y have in the neighbourhood of u, all at u -> x. By arc that is ``eave``.
    """

    walks: np.ndarray
    sums: dict[str, np.ndarray]


def found(
    at: Layout, own: dict[str, np.ndarray], both: np.ndarray, neighbourhoods: Neighbourhoods,
    at_heads: dict[str, np.ndarray], stand_for: np.ndarray | None, device: jax.Device, *, size: int, detail: Detail,
) -> Found:  # fmt: skip
    """What rows give.

    Args:
      own, both: what neighbourhoods gave (:class:`five.hubs.Gathered`), the first by name.
      at_heads: of all arcs, what their heads have: degrees ``d``, ``leaves``, and how many ``members`` they stand for.
      stand_for: members of each node of the core, if any has more than one.
      size: of a row of the table.
    """
    core, twins, wide = at.core, stand_for is not None, detail != "graph"
    columns = Columns(core, stand_for, size, at.bits, device)
    rows, t, low = _Rows.of(core, columns.nodes), own["t"], np.uint16((1 << ADJACENT) - 1)
    names = ("w3", "wing", "chord", "far", "side", "arm") if wide else ("w3", "wing", "chord")
    sums = dict[str, np.ndarray](zip(names, np.zeros((len(names), len(core.tails)), np.int64), strict=True))
    together = max(1, min(len(core.lengths), TABLE // size))
    table = np.zeros(together * size, np.int64)
    # The lowest bits of a number of the table are of a codegree, those above of pairs.
    edges, above = None, 32
    if detail == "edge":
        edges, above = AtEdges(core, at.triangles, columns.nodes, at.rows < neighbourhoods.cells, len(both)), 16
    places, members, degrees = at.rows[rows.back], at_heads["members"], at_heads["d"]
    # Of rows: an arc that leads to x has what x has.
    leaves = np.zeros(len(core.lengths), np.int64)
    leaves[rows.tails] = at_heads["leaves"][rows.back]
    linear = _Linear(degrees, t, degrees + (t << 32), wide, wide and _is_narrow(rows, own, at_heads))

    def read(c: Cells, first: int) -> _Read:
        key, place = core.heads.take(c.near), c.along(places[c.arcs])
        pair = (both.take(place) & low).astype(np.int64)
        pair <<= 32
        pair += 1
        column = key * columns.width
        column += c.spread(rows.tails[c.arcs] - columns.begin)
        key += c.spread((rows.tails[c.arcs] - first) * size)
        return _Read(c, place, key, column, members.take(c.near) if twins else key, pair)

    for first, stop in columns.groups(rows.lists, rows.starts, together):
        parts = [read(c, first) for c in rows.lists.cells(rows.starts[first], rows.starts[stop])]
        for c, _, key, *_, pair in parts:
            number = pair * c.spread(members[rows.arcs[c.arcs]]) if twins else pair
            if edges is not None:
                number = (pair >> above) + 1
                number += t.take(c.near) << _BENT
            np.add.at(table, key, number)
        # The diagonal has degrees.
        own_place = np.arange(stop - first) * size + rows.nodes[first:stop]
        table[own_place] += leaves[first:stop]
        for c, place, key, column, many, pair in parts:
            number = table.take(key)
            codegree = number & ((1 << above) - 1)
            columns.put(column, codegree)
            # Of y, each sum has all that it stands for.
            all_of, back = codegree * many if twins else codegree, rows.back[c.arcs]
            sums["wing"][back] = c.sums(all_of * codegree)
            linear.add(sums, back, c, all_of, pair)
            if edges is not None:
                edges.floor[back] = c.sums(number >> _BENT)
                edges.codegrees[place] = codegree.astype(np.uint16)
                number &= (1 << _BENT) - 1
            if wide:
                number >>= above
                sums["arm"][back] = c.sums(number * many if twins else number)
        if edges is not None:
            mine = slice(rows.starts[first], rows.starts[stop])
            marks = (rows.tails[mine] - first) * size + core.heads[rows.arcs[mine]]
            edges.corners.add(table, size, first, stop, marks)
        if (stop - first) * size < _CLEARED * sum(len(key) for _, _, key, *_ in parts):
            table[: (stop - first) * size] = 0
            continue
        for _, _, key, *_ in parts:
            table[key] = 0
        table[own_place] = 0
    # A leaf of u has one common neighbour with each of its others: u.
    for name in ("w3", "wing", "far") if wide else ("w3", "wing"):
        sums[name][rows.arcs] += leaves[rows.tails]
    if wide:
        sums["roof"] = at.triangles.sums(core.back, sums["w3"] * members)
    if edges is not None:
        sums["eave"] = sums["chord"]
        sums |= edges.sums(own, *neighbourhoods.chords(both, edges.codegrees)) | around(
            core, at.triangles, t, own["l2"]
        )
    return Found(columns.walks(), sums)


def _is_narrow(rows: _Rows, own: dict[str, np.ndarray], at_heads: dict[str, np.ndarray]) -> bool:
    """Whether no sum of codegrees times degrees, triangles or common neighbours passes 31 bits."""
    l2, t = own["l2"], own["t"]
    degrees, members = at_heads["d"], at_heads["members"][rows.arcs]
    most = [np.bincount(rows.tails, members * x[rows.arcs]).max(initial=0) for x in (degrees, t)]
    return float(degrees.max()) * max(*most, float(l2.max())) < _NARROW


def _halves(totals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return totals & 0xFFFFFFFF, totals >> 32


class _Linear(NamedTuple):
    """What codegrees are multiplied by, at arcs u -> y: ``degrees``, ``t``, both in one number; ``wide``: whether these
    are wanted, ``narrow``: whether two sums fit one number."""

    degrees: np.ndarray
    t: np.ndarray
    two: np.ndarray
    wide: bool
    narrow: bool

    def add(
        self, sums: dict[str, np.ndarray], back: np.ndarray, c: Cells, all_of: np.ndarray, pair: np.ndarray
    ) -> None:
        """``all_of``: codegrees of cells; ``pair``: as :attr:`_Read.pair`."""
        if self.narrow:
            sums["w3"][back], sums["chord"][back] = _halves(c.sums(all_of * pair))
            sums["far"][back], sums["side"][back] = _halves(c.sums(all_of * self.two.take(c.near)))
            return
        sums["w3"][back], sums["chord"][back] = c.sums(all_of), c.sums(all_of * (pair >> 32))
        if self.wide:
            sums["far"][back] = c.sums(all_of * self.degrees.take(c.near))
            sums["side"][back] = c.sums(all_of * self.t.take(c.near))
