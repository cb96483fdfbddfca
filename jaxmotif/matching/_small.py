"""Searches so small that NumPy is done before a device would begin: the twin of :mod:`jaxmotif.search`.

All partial matches of the first nodes are extended by the next node at once, level by level, with the candidates of
every row laid end to end. Nodes that can be mapped to one target node only are placed together before all others, so
that a query that its labels all but answer takes few levels. A search that turns out to be larger is given up before
the level that would be too much, and goes to the device.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from jaxmotif.arrays._bits import unpack_bits
from jaxmotif.arrays._rows import offsets_from, places_of
from jaxmotif.matching._conditions import Asked, PairKind
from jaxmotif.matching._leaves import LeafPlan, products
from jaxmotif.matching._options import Options
from jaxmotif.matching._order import SearchOrder
from jaxmotif.matching._reduce import Lists, Measures
from jaxmotif.matching._target import Target
from jaxmotif.search import NOTHING, Standing

MOST_CANDIDATES = 2**17
"""Candidates that are tested here at most, some 30 ns each: a device is not ready much sooner."""

MOST_DENSE = 2**20
"""Entries of a matrix of bytes that says which nodes are joined; beyond, slots are searched for."""


class Found(NamedTuple):
    """What a search found: where it ended, and, if the matches were asked for, int32 ``[k, M]``, the node of the
    reduced target that each query node is mapped to, in lexicographic order of the matching order."""

    standing: Standing
    nodes: np.ndarray | None = None


NOTHING_FOUND = Found(NOTHING)


class TooMany(Exception):
    """There are more candidates to test than is worth while here."""


def search_small(asked: Asked, order: SearchOrder, lists: Lists, measured: Measures, options: Options) -> Found | None:
    """Search, or say that there is too much to do.

    Args:
      order: core nodes, leaves and symmetry; leaves are counted in closed form.
      lists: of a target on the host.

    Returns:
      All that is found, or ``None``.
    """
    search = _Small(asked, order, lists, measured)
    try:
        search.place_single()
        for x in search.rest if search.rows.shape[1] else ():
            search.extend(x)
        count = search.count()
    except TooMany:
        return None
    standing = Standing(count, search.tested, search.levels, "done")
    return Found(standing, search.rows if options.listing else None)


class Joined:
    """The slots of the reduced target that fulfil a pair kind."""

    def __init__(self, target: Target, kind: PairKind):
        slots = target.direction(kind.direction)
        ok = slots.fits(np.array(kind, np.int32))
        self.nodes, self.sources, self.targets = target.nodes, slots.sources[ok], slots.targets[ok]
        self.offsets = offsets_from(ok)[slots.offsets]

    @cached_property
    def dense(self) -> np.ndarray | None:
        """Bool ``[N, N]``, if that is not too much."""
        if self.nodes**2 > MOST_DENSE:
            return None
        matrix = np.zeros((self.nodes, self.nodes), bool)
        matrix[self.sources, self.targets] = True
        return matrix

    @cached_property
    def keys(self) -> np.ndarray:
        """A number for each slot, ascending; one more that is none."""
        return np.append(self.sources.astype(np.int64) * self.nodes + self.targets, -1)

    def has(self, u: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Whether there is a slot from u to w."""
        if self.dense is not None:
            return self.dense[u, w]
        wanted = u.astype(np.int64) * self.nodes + w
        return self.keys[np.searchsorted(self.keys[:-1], wanted)] == wanted


class _Small:
    """A search in progress.

    Attributes:
      rows: int32 ``[k, R]``, of each query node placed its image in every partial match.
      placed: query nodes. rest: of the core, in order.
      tested, levels: candidates, and how often they were laid out.
    """

    def __init__(self, asked: Asked, order: SearchOrder, lists: Lists, measured: Measures):
        self._asked, self._order, self._lists, self._measured = asked, order, lists, measured
        self._joined: dict[int, Joined] = {}
        self.rows = np.zeros((asked.query.num_nodes, 1), np.int32)
        self.placed: list[int] = []
        self.rest: list[int] = []
        self.tested = self.levels = 0

    def joined(self, kind: int) -> Joined:
        if kind not in self._joined:
            self._joined[kind] = Joined(self._lists.reduced.target, self._asked.kinds[kind])
        return self._joined[kind]

    def inside(self, xs: Sequence[int], w: np.ndarray) -> np.ndarray:
        """Whether nodes are in the domains of all of some query nodes."""
        bits = self._lists.reduced.bits
        ok = np.ones(w.shape, bool)
        for x in xs:
            ok &= bits[x >> 5, w] & np.uint32(1 << (x & 31)) != 0
        return ok

    def place_single(self) -> None:
        """Place the nodes that can be mapped to one target node only, leaves too."""
        single = self._measured.sizes == 1
        self.placed = np.flatnonzero(single).tolist()
        self.rest = [x for x in self._order.core if not single[x]]
        if not self.placed:
            return
        us = np.array(self.placed)
        bits = self._lists.reduced.bits
        images = self.rows[us, 0] = unpack_bits(np.ascontiguousarray(bits.T)).T[us].argmax(axis=1)
        ok = len(np.unique(images)) == len(images)
        between = np.ix_(us, us)
        for matrix, wanted in ((self._asked.which, True), *((one, False) for one in self._asked.strangers)):
            asked = matrix[between]
            for kind in np.unique(asked[asked >= 0]).tolist():
                a, b = np.nonzero(asked == kind)
                ok = ok and bool((self.joined(kind).has(images[a], images[b]) == wanted).all())
        ok = ok and all(self.rows[a, 0] < self.rows[b, 0] for a, b in self._order.below if single[a] and single[b])
        self.rows = self.rows[:, :1] if ok else self.rows[:, :0]

    def extend(self, x: int) -> None:
        """Map one more node in every way."""
        row, w = self.candidates([x])
        ok = np.ones(len(w), bool)
        below = self._order.below
        for images, test in (([a for a, b in below if b == x], np.less), ([b for a, b in below if a == x], np.greater)):
            for u in images:
                if u in self.placed:
                    ok &= test(self.rows[u, row], w)
        row, w = row[ok], w[ok]
        self.rows = self.rows[:, row]
        self.rows[x] = w
        self.placed.append(x)

    def candidates(self, alike: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Of each row the nodes that any of some query nodes may be mapped to: rows and nodes."""
        asked, xs, placed = self._asked, np.array(alike), np.array(self.placed, np.int64)
        which = asked.which[placed[:, None], xs]
        near = [(kind, placed[(which == kind).any(axis=1)]) for kind in np.unique(which[which >= 0]).tolist()]
        row, w = self.laid_out(alike[0], near)
        row, w = _kept(row, w, self.inside(alike, w))
        for kind, us in near:
            row, w = _kept(row, w, self.joined(kind).has(self.rows[us][:, row], w).all(axis=0))
        # Neighbours differ anyway, and so do nodes whose domains have nothing in common.
        apart = placed[(which < 0).all(axis=1) & self._measured.meet[placed[:, None], xs].all(axis=1)]
        if len(apart):
            row, w = _kept(row, w, (self.rows[apart][:, row] != w).all(axis=0))
        for strangers in asked.strangers:
            kinds = strangers[placed, alike[0]]
            for kind in np.unique(kinds[kinds >= 0]).tolist():
                us = placed[kinds == kind]
                row, w = _kept(row, w, ~self.joined(kind).has(self.rows[us][:, row], w).any(axis=0))
        return row, w

    def laid_out(self, x: int, near: Iterable[tuple[int, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """Candidates to test, of each row the shortest list that a placed neighbour leads to; or the whole domain,
        where that is less."""
        rows = self.rows.shape[1]
        starts, lengths, lists, first = [], [], [], 0
        for kind, us in near:
            joined = self.joined(kind)
            start = joined.offsets[self.rows[us]]
            lengths.append(joined.offsets[self.rows[us] + 1] - start)
            starts.append(start + first)
            lists.append(joined.targets)
            first += len(joined.targets)
        whole = rows * int(self._measured.sizes[x])
        if lengths:
            start, length = np.concatenate(starts), np.concatenate(lengths)
            if len(length) > 1:
                best = length.argmin(axis=0)[None]
                start, length = np.take_along_axis(start, best, 0), np.take_along_axis(length, best, 0)
            total = int(length.sum())
            if total <= whole:
                self._test(total)
                places = places_of(start[0], length[0])
                row = np.repeat(np.arange(rows), length[0])
                return row, (lists[0] if len(lists) == 1 else np.concatenate(lists))[places]
        self._test(whole)
        domain = np.flatnonzero(self._lists.reduced.bits[x >> 5] & np.uint32(1 << (x & 31)))
        return np.repeat(np.arange(rows), len(domain)), np.tile(domain, rows)

    def _test(self, candidates: int) -> None:
        self.tested, self.levels = self.tested + candidates, self.levels + 1
        if self.tested > MOST_CANDIDATES:
            raise TooMany

    def count(self) -> int:
        """Matches: of each row the ways to map the leaves, added up."""
        plan = self._order.leaves
        groups = [[x for x in group if x not in self.placed] for group in plan.groups]
        if not self.rows.shape[1] or not any(groups):
            return self.rows.shape[1]
        # 52 bits hold the ways of one row, or Python's integers do.
        number = np.int64 if plan.limbs <= 2 else object
        ways = np.ones(self.rows.shape[1], number)
        for group in filter(None, groups):
            terms, sizes = products(plan, group), dict[tuple[int, ...], np.ndarray]()
            for block in {block for _, factors in terms for block, _ in factors}:
                sizes[block] = self.common(plan, block).astype(number)
            ways = ways * sum(
                coefficient * np.prod([sizes[block] - less for block, less in factors], axis=0)
                for coefficient, factors in terms
            )
        if ways.dtype == object:
            return int(ways.sum())
        return (int((ways >> 26).sum()) << 26) + int((ways & (2**26 - 1)).sum())

    def common(self, plan: LeafPlan, block: Sequence[int]) -> np.ndarray:
        """Of each row the nodes that some leaves have in common as candidates, int64 ``[R]``."""
        leaves = plan.sets(block)
        x, asked = leaves[0], self._asked
        placed = np.array(self.placed)
        anchors = placed[asked.which[placed, x] >= 0]
        if len(leaves) > 1 or len(anchors) > 1:
            row, _ = self.candidates(leaves)
            return np.bincount(row, minlength=self.rows.shape[1])
        kind, images = int(asked.which[anchors[0], x]), self.rows[anchors[0]]
        offsets = self._lists.offsets[self._lists.number[kind, x]]
        size = (offsets[images + 1] - offsets[images]).astype(np.int64)
        used = self.rows[placed[(placed != anchors[0]) & self._measured.meet[placed, x]]]
        return size - (self.inside([x], used) & self.joined(kind).has(images, used)).sum(axis=0)


def _kept(row: np.ndarray, w: np.ndarray, ok: Any) -> tuple[np.ndarray, np.ndarray]:
    return row[ok], w[ok]
