"""What takes the tables over pairs of nodes (:mod:`jaxmotif.graphlets._hubs`), on a CPU: some rows at a time, in cache.

Matrices of neighbourhoods are padded, and reach all over tables that are much larger than a cache. Here an arc x -> u
is a list instead, the neighbours y of u, each of them a *cell*; all arcs that leave a few nodes x are done together:
they write and read the rows of these nodes alone. What row x has in the matrix of u is kept from the pass over
matrices. Sums are those at the reversed arc, u -> x.

It is NumPy, which adds to a number of a table in 2 ns and reads one in 1; XLA takes three to ten times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._ahead import end_rehearsal, in_earnest
from jaxmotif.arrays._host import zeros_for_jax
from jaxmotif.graphlets._by_lists import TABLE, Core, Listed, Triangles
from jaxmotif.graphlets._cells import Cells, Lists
from jaxmotif.graphlets._hubs import ADJACENT, Blocks, own_columns
from jaxmotif.graphlets._tuning import Detail

MOST = 2**15
"""Above all degrees: a codegree, and beside it pairs, share a number of 64 bits; common neighbours and whether two are
adjacent, one of 16."""

LARGEST = {8: 2**8 - 1, 16: 2**12 - 1}
"""Of the codegrees that so many bits hold: 64 products of two such numbers are below 2^31."""

_CUT = 8
"""Times that walks of length 4 take more products of codegrees than there can be numbers that cut ones meet."""


class Layout(NamedTuple):
    """``matrices``, ``few``: all hubs; ``firsts``: cells before those of each size; ``cells``: of all matrices;
    ``rows``: int64, of each arc u -> x of the core the first cell of the row of x in the matrix of u, or, after all
    those, in what is kept of one; ``bits``: of a codegree, 8 or 16."""

    core: Core
    triangles: Triangles
    matrices: list[Blocks]
    few: Listed
    firsts: list[np.int32]
    cells: int
    rows: np.ndarray
    bits: int


def cliques(at: Layout) -> np.ndarray:
    """Which nodes of the core may be the lowest of a 5-clique: of six triangles, each arc in three of all."""
    t = at.triangles.at(at.core.back)
    many = (t[at.triangles.uv] > 2) & (t[at.triangles.vw] > 2) & (t[at.triangles.uw] > 2)
    return np.bincount(at.core.tails[at.triangles.uv[many]], minlength=len(at.core.lengths)) >= 6


def needed(cells: int, arcs: int) -> int:
    """Bytes of what is kept of so many cells of matrices, and of arcs, at most."""
    return 2 * cells + 200 * arcs


def bits_of(degrees: np.ndarray) -> int:
    """Of a codegree. In 8 bits products take half as long; of the few pairs that need more, what is cut is added
    again."""
    large = degrees[degrees > LARGEST[8]].astype(np.int64)
    return 8 if _CUT * len(large) * large.sum() <= len(degrees) * int(degrees.sum(dtype=np.int64)) else 16


@in_earnest
def layout(begin: int, core: Core, triangles: Triangles, matrices: list[Blocks], few: Listed, bits: int) -> Layout:
    """``begin``: the first node of the core; ``matrices``, ``few``: all hubs."""
    (first, width), firsts = np.zeros((2, len(core.lengths)), np.int64), [0]
    for b in matrices:
        (place,) = np.nonzero(b.ids.reshape(-1) >= 0)
        ids = b.ids.reshape(-1)[place] - begin
        first[ids], width[ids] = firsts[-1] + place * b.size**2, b.size
        firsts.append(firsts[-1] + b.cells)
    cells = firsts.pop()
    first[few.hubs] = cells + np.cumsum(few.lengths**2) - few.lengths**2
    width[few.hubs] = few.lengths
    rows = first[core.tails] + (np.arange(len(core.tails)) - core.first[core.tails]) * width[core.tails]
    return Layout(core, triangles, matrices, few, [np.int32(x) for x in firsts], cells, rows, bits)


class _Rows(NamedTuple):
    """The arcs inside the core, x -> u, by rows: ``arcs``, their numbers in the graph, ``tails`` and ``back``, those of
    the reversed ones; ``starts``: of each x the first of them; ``lists``: of each the arcs u -> y."""

    arcs: np.ndarray
    tails: np.ndarray
    back: np.ndarray
    starts: np.ndarray
    lists: Lists

    @classmethod
    def of(cls, core: Core) -> _Rows:
        starts = np.concatenate([[0], np.cumsum(core.lengths)])
        tails = np.repeat(np.arange(len(core.lengths)), core.lengths)
        arcs = np.arange(len(tails)) + (core.first - starts[:-1])[tails]
        hubs = core.heads[arcs]
        return cls(arcs, tails, core.back[arcs], starts, Lists(core.first[hubs], core.lengths[hubs]))


class _Read(NamedTuple):
    """Cells; where each is in the rows of a table that are held; y, and how many nodes it stands for; what x and y have
    in the matrix of u."""

    cells: Cells
    key: np.ndarray
    other: np.ndarray
    members: np.ndarray
    common: np.ndarray


class Found(NamedTuple):
    """What rows give.

    Attributes:
      codegrees: the table of :class:`jaxmotif.graphlets._hubs.Tables`, in the order of the core, but as numbers of so
        many bits, lowest first, in uint32 words ``[size, size * bits / 32]``. Larger numbers than :data:`LARGEST` are
        cut to that.
      walks: int64 at all arcs, what walks of length 4 made of these are short of.
      sums: int64 at all arcs, by name. ``chord`` is that of :class:`jaxmotif.graphlets._homs.Sums` only when summed
        around u: C(x, y) is added up over the pairs of common neighbours that x and y have in the neighbourhood of u,
        all at u -> x.
    """

    codegrees: np.ndarray
    walks: np.ndarray
    sums: dict[str, np.ndarray]


def found(
    at: Layout, own: np.ndarray, both: np.ndarray, at_heads: dict[str, np.ndarray], twins: bool, *, size: int,
    detail: Detail,
) -> Found:  # fmt: skip
    """What rows give.

    Args:
      own, both: what neighbourhoods gave (:class:`jaxmotif.graphlets._hubs.Gathered`).
      at_heads: of all arcs, what their heads have: degrees ``d``, ``leaves``, and how many ``members`` they stand for.
      twins: whether any stands for more than one.
      size: of a row of the table.
    """
    end_rehearsal()
    core, rows, wide = at.core, _Rows.of(at.core), detail != "graph"
    t = np.ascontiguousarray(own[:, own_columns(detail).index("t")])
    codegrees, most = zeros_for_jax((size, size), f"uint{at.bits}"), LARGEST[at.bits]
    flat, walks = codegrees.reshape(-1), np.zeros(len(core.tails), np.int64)
    # Places of numbers that are cut, and by how much.
    cut, low = list[tuple[np.ndarray, np.ndarray]](), np.uint16((1 << ADJACENT) - 1)
    names = ("w3", "wing", "chord", "far", "side", "arm") if wide else ("w3", "wing", "chord")
    sums = {name: np.zeros(len(core.tails), np.int64) for name in names}
    together = max(1, min(len(core.lengths), TABLE // size))
    table = np.zeros(together * size, np.int64)
    places, members, degrees = at.rows[rows.back], at_heads["members"], at_heads["d"]
    # Of nodes: an arc that leads to x has what x has.
    leaves = np.zeros(len(core.lengths), np.int64)
    leaves[rows.tails] = at_heads["leaves"][rows.back]

    def read(c: Cells, first: int) -> _Read:
        other, common = core.heads.take(c.near), both.take(c.along(places[c.arcs])) & low
        key = c.spread((rows.tails[c.arcs] - first) * size) + other
        return _Read(c, key, other, members.take(c.near) if twins else other, common.astype(np.int64))

    for first, stop in rows.lists.groups(rows.starts, together):
        parts = [read(c, first) for c in rows.lists.cells(rows.starts[first], rows.starts[stop])]
        for c, key, _, _, common in parts:
            # Codegrees, and above them pairs.
            number = 1 + (common << 32)
            np.add.at(table, key, number * c.spread(members[rows.arcs[c.arcs]]) if twins else number)
        if twins:
            for part in parts:
                _add_walks(walks, core, rows, members, part, table)
        # The diagonal has degrees.
        own_place = np.arange(stop - first) * size + np.arange(first, stop)
        table[own_place] += leaves[first:stop]
        for c, key, _, many, common in parts:
            number = table.take(key)
            codegree, place = number & 0xFFFFFFFF, key + first * size
            flat[place] = codegree  # modulo so many bits
            if codegree.max() > most:
                (some,) = np.nonzero(codegree > most)
                flat[place[some]] = most
                cut.append((place[some], codegree[some] - most))
            # Of y, each sum has all that it stands for.
            all_of, back = codegree * many if twins else codegree, rows.back[c.arcs]
            sums["w3"][back], sums["wing"][back] = c.sums(all_of), c.sums(all_of * codegree)
            sums["chord"][back] = c.sums(all_of * common)
            if wide:
                sums["far"][back] = c.sums(all_of * degrees.take(c.near))
                sums["side"][back] = c.sums(all_of * t.take(c.near))
                sums["arm"][back] = c.sums((number >> 32) * many if twins else number >> 32)
        for _, key, *_ in parts:
            table[key] = 0
        table[own_place] = 0
    # A leaf of u has one common neighbour with each of its others: u.
    for name in ("w3", "wing", "far") if wide else ("w3", "wing"):
        sums[name][rows.arcs] += leaves[rows.tails]
    if detail == "node":
        sums["roof"] = np.zeros_like(sums["w3"])
        walks_of = sums["w3"] * members
        for x, y in at.triangles.around(core.back):
            np.add.at(sums["roof"], x, walks_of[y])
            np.add.at(sums["roof"], y, walks_of[x])
    return Found(codegrees.view(np.uint32), walks + _short_of(core, rows, codegrees, cut), sums)


def _add_walks(
    walks: np.ndarray, core: Core, rows: _Rows, members: np.ndarray, part: _Read, table: np.ndarray
) -> None:  # fmt: skip
    """What products of rows miss of walks x, u, y, k, v, x, in which y stands for several, at the arcs x -> u."""
    (some,) = np.nonzero(part.members > 1)
    y = part.other[some]
    base = part.key[some] - y
    arc = np.searchsorted(part.cells.begin, some, "right") - 1
    to = rows.arcs[part.cells.arcs][arc]
    more = part.members[some] - 1
    lists = Lists(core.first[y], core.lengths[y])
    for c in lists.cells(0, len(y)):
        closed = (table.take(c.spread(base[c.arcs]) + core.heads.take(c.near)) & 0xFFFFFFFF) * members.take(c.near)
        np.add.at(walks, to[c.arcs], more[c.arcs] * c.sums(closed))


def _short_of(core: Core, rows: _Rows, codegrees: np.ndarray, cut: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """``cut``: where numbers are too small, and by how much."""
    found = np.zeros(len(core.tails), np.int64)
    if not cut:
        return found
    keys, first = np.unique(np.concatenate([at for at, _ in cut]), return_index=True)
    over = np.concatenate([by for _, by in cut])[first]
    size = len(codegrees)
    x, y = keys // size, keys % size
    # Of C(x, y) C(v, y), for all v next to x: what is missing of the first, times all of the second; and at the
    # reversed arc, where it is the second that misses something, times what is there of the other.
    lists = Lists(rows.starts[x], core.lengths[x])
    for c in lists.cells(0, len(x)):
        over_all, arc = c.spread(over[c.arcs]), rows.arcs[c.near]
        other = core.heads[arc] * size + c.spread(y[c.arcs])
        there = codegrees.reshape(-1)[other].astype(np.int64)
        place = np.minimum(np.searchsorted(keys, other), len(keys) - 1)
        missing = np.where(keys[place] == other, over[place], 0)
        np.add.at(found, arc, over_all * (there + missing))
        np.add.at(found, rows.back[c.near], over_all * there)
    return found
