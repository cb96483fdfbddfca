"""What takes the tables over pairs of nodes (:mod:`jaxmotif.graphlets._hubs`), on a CPU: some rows at a time, in cache.

Matrices of neighbourhoods are padded, and reach all over tables that are much larger than a cache. Here an arc x -> u
is a list instead, the neighbours y of u, each of them a *cell*; all arcs that leave a few nodes x are done together:
they write and read the rows of these nodes alone. What row x has in the matrix of u is kept from the pass over
matrices. Sums are those at the reversed arc, u -> x.

It is NumPy, which adds to a number of a table in 2 ns and reads one in 1; XLA takes three to ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._ahead import end_rehearsal, in_earnest
from jaxmotif.arrays._host import zeros_for_jax
from jaxmotif.graphlets._by_lists import Listed
from jaxmotif.graphlets._hubs import ADJACENT, Blocks, Gathered, Ranked, own_columns
from jaxmotif.graphlets._tuning import Detail

MOST = 2**12
"""Above all degrees: a codegree, and beside it pairs, share a number of 64 bits."""

_CELLS, _TABLE = 2**15, 2**20
"""Cells at a time; numbers of the rows of a table that they meet, unless it is one row."""


_Pair = tuple[np.ndarray, np.ndarray]

_CUT = 2**25
"""Numbers at most that cut codegrees meet."""


class Layout(NamedTuple):
    """``matrices``, ``few``: all hubs; ``firsts``: cells before those of each size; ``cells``: in all; ``first``,
    ``width``: int64, of each core node the first cell of its matrix, and its rows; ``bits``: of a codegree, 8 or 16."""

    matrices: list[Blocks]
    few: Listed | None
    firsts: list[np.int32]
    cells: int
    first: np.ndarray
    width: np.ndarray
    bits: int


def needed(cells: int, arcs: int) -> int:
    """Bytes of what is kept of so many cells of matrices, triangles among them, and of arcs, at most."""
    return 10 * cells + 200 * arcs


@in_earnest
def layout(graph: Ranked, matrices: list[Blocks], few: Listed | None) -> Layout:
    """``matrices``, ``few``: all hubs."""
    nodes, core = graph.leaves.shape[0], int(graph.core)
    first, width, firsts = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), [0]
    for b in matrices:
        (place,) = np.nonzero(b.ids.reshape(-1) >= 0)
        ids = b.ids.reshape(-1)[place]
        first[ids], width[ids] = firsts[-1] + place * b.size**2, b.size
        firsts.append(firsts[-1] + b.cells)
    cells = firsts.pop()
    if few is not None:
        first[few.hubs], width[few.hubs], cells = few.first, few.lengths, few.cells
    degrees = np.diff(np.asarray(graph.offsets)) if graph.twins is None else np.asarray(graph.twins.degrees)
    large = degrees[degrees >= 2**8]
    # In 8 bits products take half as long; of the few pairs that need more, what is cut is added again.
    bits = 8 if len(large) * large.sum() <= _CUT else 16
    return Layout(matrices, few, [np.int32(x) for x in firsts], cells, first[core:], width[core:], bits)


class _Cells(NamedTuple):
    """Of some arcs x -> u of the core, ``hubs``: ``begin``, the first cell of each; ``back``, the arc u -> x; ``row``,
    x. Of their cells: ``near``, the arc u -> y; ``place``, of x and y in the matrix of u. Int64."""

    hubs: np.ndarray
    begin: np.ndarray
    back: np.ndarray
    near: np.ndarray
    place: np.ndarray
    row: np.ndarray
    lengths: np.ndarray

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of the arcs, at each of their cells."""
        return np.repeat(values, self.lengths)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Over the cells of each arc."""
        return np.add.reduceat(values, self.begin)


class _Rows:
    """The core of a graph by rows: its nodes numbered from 0, and its arcs in order of their tails.

    ``leaves``, ``starts``: of each node, and its first arc; ``members``: how many nodes it stands for, if any stands for
    more than one. ``tails``, ``arcs``, ``back``: of each arc its tail, its
    number in the graph, and that of the reversed one. ``heads``: of each arc of the graph its head in the core."""

    def __init__(self, graph: Ranked, at: Layout):
        core = int(graph.core)
        offsets, self.heads, back = (np.asarray(x).astype(np.int64) for x in (graph.offsets, graph.heads, graph.back))
        self.heads -= core
        self.leaves = np.asarray(graph.all_leaves)[core:].astype(np.int64)
        self.members = None if graph.twins is None else np.asarray(graph.twins.members)[core:].astype(np.int64)
        starts = offsets[core:-1] + np.asarray(graph.leaves)[core:]
        self.lengths = lengths = offsets[core + 1 :] - starts
        ends = np.cumsum(lengths)
        self.tails = np.repeat(np.arange(len(lengths)), lengths)
        self.arcs = np.arange(len(self.tails)) + np.repeat(starts - ends + lengths, lengths)
        self.starts = np.concatenate([[0], ends])
        hubs = self.heads[self.arcs]
        self.first = starts
        self.back, self._lengths, self._near = back[self.arcs], lengths[hubs], starts[hubs]
        self._places = at.first[hubs] + (self.back - self._near) * at.width[hubs]
        self._cells = np.concatenate([[0], np.cumsum(self._lengths)])

    def groups(self, size: int) -> Iterator[tuple[int, int]]:
        """The first and past the last of some rows of a table, ``size`` numbers each, that are done at a time."""
        before, first, most = self._cells[self.starts], 0, max(1, _TABLE // size)
        while first < len(before) - 1:
            stop = int(np.searchsorted(before, before[first] + _CELLS, "right")) - 1
            stop = max(min(stop, first + most), first + 1)
            yield first, stop
            first = stop

    def cells(self, first: int, stop: int) -> Iterator[_Cells]:
        """Those of some rows: all at once, or of one long row in portions."""
        arc, end = self.starts[first], self.starts[stop]
        while arc < end:
            last = int(np.searchsorted(self._cells, self._cells[arc] + _CELLS, "right")) - 1
            last = min(max(last, arc + 1), end)
            some = slice(arc, last)
            begin, lengths = self._cells[some] - self._cells[arc], self._lengths[some]
            lane = np.arange(self._cells[last] - self._cells[arc])
            near = np.repeat(self._near[some] - begin, lengths) + lane
            place = np.repeat(self._places[some] - begin, lengths) + lane
            yield _Cells(self.arcs[some], begin, self.back[some], near, place, self.tails[some], lengths)
            arc = last


class _Read(NamedTuple):
    """Cells; where each is in the rows of a table that are held; y; what x and y have in the matrix of u."""

    cells: _Cells
    key: np.ndarray
    other: np.ndarray
    common: np.ndarray


class Found(NamedTuple):
    """What rows give.

    Attributes:
      codegrees: the table of :class:`jaxmotif.graphlets._hubs.Tables`, in the order of the core, but as numbers of so
        many bits, lowest first, in uint32 words ``[size, size * bits / 32]``. A number that needs more bits is cut to
        the most there is.
      walks: int64 at all arcs, what walks of length 4 made of these are short of.
      sums: int64 at all arcs, by name. ``chord`` is that of :class:`jaxmotif.graphlets._homs.Sums` only when summed
        around u: C(x, y) is added up over the pairs of common neighbours that x and y have in the neighbourhood of u,
        all at u -> x.
    """

    codegrees: np.ndarray
    walks: np.ndarray
    sums: dict[str, np.ndarray]


def found(graph: Ranked, at: Layout, held: Gathered, degrees: np.ndarray, *, size: int, detail: Detail) -> Found:
    """``held``: what matrices gave; ``degrees``: of all nodes; ``size``: of a row of the table."""
    end_rehearsal()
    rows, wide, both = _Rows(graph, at), detail != "graph", np.asarray(held.both)
    t = np.ascontiguousarray(np.asarray(held.own)[:, own_columns(detail).index("t")])
    degree = degrees[int(graph.core) :].astype(np.int64)
    codegrees, most = zeros_for_jax((size, size), f"uint{at.bits}"), 2**at.bits - 1
    flat, walks = codegrees.reshape(-1), np.zeros(len(rows.heads), np.int64)
    # Places of numbers that are cut, and by how much; arcs u -> x, and u -> y where y is next to both.
    cut, triangles = list[_Pair](), list[_Pair]()
    names = ("w3", "wing", "chord", "far", "side", "arm") if wide else ("w3", "wing", "chord")
    sums = {name: np.zeros(len(rows.heads), np.int64) for name in names}
    table = np.zeros(max(1, min(len(degree), _TABLE // size)) * size, np.int64)

    def read(c: _Cells, first: int) -> _Read:
        other, common = rows.heads.take(c.near), both.take(c.place).astype(np.int64)
        if detail == "node":
            (adjacent,) = np.nonzero(common >> ADJACENT)
            arc = np.searchsorted(c.begin, adjacent, "right") - 1
            triangles.append((c.back[arc].astype(np.int32), c.near[adjacent].astype(np.int32)))
        return _Read(c, c.spread((c.row - first) * size) + other, other, common & ((1 << ADJACENT) - 1))

    for first, stop in rows.groups(size):
        parts = [read(c, first) for c in rows.cells(first, stop)]
        for c, key, _, common in parts:
            # Codegrees, and above them pairs.
            number = 1 + (common << 32)
            if rows.members is not None:
                number *= c.spread(rows.members[rows.heads[c.hubs]])
            np.add.at(table, key, number)
        if rows.members is not None:
            for part in parts:
                _add_walks(walks, rows, rows.members, part, table)
        # The diagonal has degrees.
        own = np.arange(stop - first) * size + np.arange(first, stop)
        table[own] += rows.leaves[first:stop]
        for c, key, other, common in parts:
            number = table.take(key)
            codegree = number & 0xFFFFFFFF
            place = key + first * size
            flat[place] = codegree  # modulo so many bits
            if codegree.max() > most:
                (some,) = np.nonzero(codegree > most)
                flat[place[some]] = most
                cut.append((place[some], codegree[some] - most))
            # Of y, each sum has all members.
            all_of = codegree if rows.members is None else codegree * rows.members.take(other)
            sums["w3"][c.back], sums["wing"][c.back] = c.sums(all_of), c.sums(all_of * codegree)
            sums["chord"][c.back] = c.sums(all_of * common)
            if wide:
                sums["far"][c.back] = c.sums(all_of * degree.take(other))
                sums["side"][c.back] = c.sums(all_of * t.take(c.near))
                pairs = number >> 32
                sums["arm"][c.back] = c.sums(pairs if rows.members is None else pairs * rows.members.take(other))
        for _, key, *_ in parts:
            table[key] = 0
        table[own] = 0
    # A leaf of u has one common neighbour with each of its others: u.
    for name in ("w3", "wing", "far") if wide else ("w3", "wing"):
        sums[name][rows.arcs] += rows.leaves[rows.tails]
    if detail == "node":
        sums["roof"] = np.zeros_like(sums["w3"])
        for arcs, near in triangles:
            walk = sums["w3"][near]
            np.add.at(sums["roof"], arcs, walk if rows.members is None else walk * rows.members[rows.heads[near]])
    return Found(codegrees.view(np.uint32), walks + _short_of(rows, codegrees, cut), sums)


def _add_walks(walks: np.ndarray, rows: _Rows, members: np.ndarray, part: _Read, table: np.ndarray) -> None:
    """What products of rows miss of walks x, u, y, k, v, x, in which y stands for several, at the arcs x -> u."""
    c, key, other, _ = part
    (some,) = np.nonzero(members.take(other) > 1)
    y, lengths = other[some], rows.lengths[other[some]]
    ends = np.cumsum(lengths)
    near = np.arange(ends[-1] if len(ends) else 0) + np.repeat(rows.first[y] - ends + lengths, lengths)
    k = rows.heads[near]
    closed = (table[np.repeat(key[some] - y, lengths) + k] & 0xFFFFFFFF) * members[k]
    arc = np.searchsorted(c.begin, some, "right") - 1
    np.add.at(walks, np.repeat(c.hubs[arc], lengths), np.repeat(members[y] - 1, lengths) * closed)


def _short_of(rows: _Rows, codegrees: np.ndarray, cut: list[_Pair]) -> np.ndarray:
    """``cut``: where numbers are too small, and by how much."""
    found = np.zeros(len(rows.heads), np.int64)
    if not cut:
        return found
    keys, first = np.unique(np.concatenate([at for at, _ in cut]), return_index=True)
    over = np.concatenate([by for _, by in cut])[first]
    size = len(codegrees)
    x, y = keys // size, keys % size
    # Of C(x, y) C(v, y), for all v next to x: what is missing of the first, times all of the second; and at the
    # reversed arc, where it is the second that misses something, times what is there of the other.
    lengths = rows.starts[x + 1] - rows.starts[x]
    which = np.repeat(np.arange(len(keys)), lengths)
    at = np.arange(len(which)) + np.repeat(rows.starts[x] - np.cumsum(lengths) + lengths, lengths)
    arc = rows.arcs[at]
    other = rows.heads[arc] * size + y[which]
    there, place = codegrees.reshape(-1)[other].astype(np.int64), np.searchsorted(keys, other)
    place = np.minimum(place, len(keys) - 1)
    missing = np.where(keys[place] == other, over[place], 0)
    np.add.at(found, arc, over[which] * (there + missing))
    np.add.at(found, rows.back[at], over[which] * there)
    return found
