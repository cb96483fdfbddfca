"""Searches so small that NumPy is done before a device would begin: the twin of :mod:`jaxmotif.search`.

All partial matches of the first nodes are extended by the next node at once, level by level, with the candidates of
every row laid end to end. Nodes that can be mapped to one target node only are placed together before all others, so
that a query that its labels all but answer takes few levels. A search that turns out to be larger is given up before
the level that would be too much, and goes to the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._bits import pack_bits, unpack_bits, words_for
from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._rows import offsets_from, places_of
from jaxmotif.matching._conditions import Asked
from jaxmotif.matching._host import fitting
from jaxmotif.matching._leaves import products
from jaxmotif.matching._options import Options
from jaxmotif.matching._order import SearchOrder
from jaxmotif.matching._reduce import Lists, Measures
from jaxmotif.search import NOTHING, Standing

MOST_CANDIDATES, MOST_BESIDE_ACCELERATOR = 2**20, 2**17
"""Candidates that are tested here at most, some 40 ns each: on a CPU as many as small steps take longer for, beside an
accelerator as many as it takes to plan and begin a search there."""

MOST_ENTRIES = 2**23
"""Of all partial matches of so many nodes, at most."""

MOST_MARKS = 2**21
"""Bytes that say which nodes are joined, or where there are more pairs of nodes, which may be."""


WORDS_A_CANDIDATE = 16
"""Words of rows of bits that meet in the time of one candidate's tests."""

LONG = 16
"""Nodes in a list, on average, from which on it is cut where symmetry says before it is laid out."""


class Found(NamedTuple):
    """What a search found: where it ended, and, if the matches were asked for, int32 ``[k, M]``, the node of the
    reduced target that each query node is mapped to, in lexicographic order of the matching order."""

    standing: Standing
    nodes: np.ndarray | None = None


NOTHING_FOUND = Found(NOTHING)


class TooMany(Exception):
    """There are more candidates to test than is worth while here."""


def most_candidates(device: jax.Device) -> int:
    """Candidates to test before a search goes to a device."""
    return MOST_BESIDE_ACCELERATOR if target_of(device).is_accelerator else MOST_CANDIDATES


def search_small(
    asked: Asked, order: SearchOrder, lists: Lists, measured: Measures, options: Options, most: int
) -> Found | None:
    """Search, or say that there is too much to do.

    Args:
      order: core nodes, leaves and symmetry; leaves are counted in closed form.
      lists: of a target on the host.
      most: candidates to test.

    Returns:
      All that is found, or ``None``.
    """
    search = _Small(asked, order, lists, measured, most)
    try:
        search.place_single()
        for x in search.rest if search.rows.shape[1] else ():
            search.extend(x, keep=x != search.rest[-1] or options.listing or len(order.leaves.groups) > 0)
        count = search.count()
    except TooMany:
        return None
    standing = Standing(count, search.tested, search.levels, "done")
    return Found(standing, search.rows if options.listing else None)


class Joined:
    """Some slots of one direction of a target: offsets by row, targets, and sources."""

    def __init__(self, offsets: np.ndarray, targets: np.ndarray, sources: np.ndarray):
        self.offsets, self.targets, self.sources = offsets, targets, sources
        self.nodes = len(offsets) - 1

    @cached_property
    def keys(self) -> np.ndarray:
        """A number for each slot, ascending; one more that is none."""
        return np.append(self.sources.astype(np.int64) * self.nodes + self.targets, -1)

    @cached_property
    def marks(self) -> np.ndarray:
        """Bool: at the key of a pair, or at what is left of it modulo the size, whether there is such a slot."""
        marks = np.zeros(min(self.nodes**2, MOST_MARKS), bool)
        marks[self.keys[:-1] % len(marks)] = True
        return marks

    @cached_property
    def bits(self) -> np.ndarray:
        """uint32 ``[nodes, words_for(nodes)]``: of each node those that it is joined to, where marks tell all pairs."""
        return pack_bits(self.marks.reshape(self.nodes, self.nodes))

    def has(self, u: np.ndarray, w: np.ndarray, known: np.ndarray | bool = False) -> np.ndarray:
        """Whether there is a slot from u to w, or that is known."""
        wanted = u.astype(np.int64) * self.nodes + w
        if self.nodes**2 <= MOST_MARKS:
            return self.marks[wanted]
        maybe = np.nonzero(self.marks[wanted & (MOST_MARKS - 1)] & np.logical_not(known))
        some = wanted[maybe]  # few, but for those that are there
        found = np.zeros(wanted.shape, bool) | known
        found[maybe] = self.keys[np.searchsorted(self.keys[:-1], some)] == some
        return found

    def after(self, u: np.ndarray, least: np.ndarray | None) -> np.ndarray:
        """Where the targets of each node start, or those beyond a given one."""
        if least is None:
            return self.offsets[u]
        return np.searchsorted(self.keys[:-1], u.astype(np.int64) * self.nodes + least, side="right")


class _Shortest(NamedTuple):
    """Of each row the shortest list: where it starts in ``targets``, its length, and which neighbour's it is."""

    starts: np.ndarray
    lengths: np.ndarray
    targets: np.ndarray
    which: np.ndarray


class _Small:
    """A search in progress.

    Attributes:
      rows: int32 ``[k, R]``, of each query node placed its image in every partial match.
      placed: query nodes, int64. rest: of the core, in order.
      tested, levels: candidates, and how often they were laid out.
      ahead: whether more levels are to come; more: sets of leaves that are to be counted after the next one.
      found: matches, if the rows of the last node were counted and not kept.
    """

    def __init__(self, asked: Asked, order: SearchOrder, lists: Lists, measured: Measures, most: int):
        self._asked, self._order, self._lists, self._measured = asked, order, lists, measured
        self._joined: dict[tuple[int, int | None], Joined] = {}
        self._most, k = most, asked.query.num_nodes
        self._domains = unpack_bits(np.ascontiguousarray(lists.reduced.bits.T))[:, :k].T.copy()
        self.rows = np.zeros((k, 1), np.int32)
        self.placed = np.zeros(0, np.int64)
        self.rest = order.core
        self.tested = self.levels = self._before = 0
        self.ahead, self.more = False, 0
        self.found: int | None = None

    def joined(self, kind: int, x: int | None = None) -> Joined:
        """The slots of a kind; with x, to nodes of its domain."""
        if (kind, x) not in self._joined:
            wanted = np.array(self._asked.kinds[kind], np.int32)
            ends, targets, sources = fitting(self._lists.reduced.target.direction(wanted[0]), wanted)
            if x is not None:
                ok = self._domains[x, targets]
                if ok.all():
                    return self.joined(kind)
                inside = np.flatnonzero(ok)
                ends, targets, sources = offsets_from(ok)[ends], targets[inside], sources[inside]
            self._joined[kind, x] = Joined(ends, targets, sources)
        return self._joined[kind, x]

    @property
    def has_bits(self) -> bool:
        """Whether the target is so small that there are rows of bits."""
        return self._lists.nodes**2 <= MOST_MARKS

    def place_single(self) -> None:
        """Place the nodes that can be mapped to one target node only, leaves too; and those of which the others are
        left no more."""
        domains, done = self._domains, np.zeros(len(self._domains), bool)
        new = self._measured.sizes == 1
        while new.any() and self.rows.shape[1]:
            done |= new
            us, images = np.flatnonzero(new), domains[new].argmax(axis=1)
            others = np.bincount(images, minlength=domains.shape[1]) == 0
            if others.sum() + len(us) > len(others):  # two have one image
                self.rows = self.rows[:, :0]
                return
            domains[~done] &= others
            self._leave(us, images)
            sizes = domains.sum(axis=1)
            if not sizes.all():
                self.rows = self.rows[:, :0]
            new = (sizes == 1) & ~done
        self.placed, self.rest = np.flatnonzero(done), [x for x in self._order.core if not done[x]]
        self.rows[self.placed] = domains[self.placed].argmax(axis=1)[:, None]
        if not all((self.rows[a] < self.rows[b]).all() for a, b in self._order.below if done[a] and done[b]):
            self.rows = self.rows[:, :0]

    def _leave(self, us: np.ndarray, images: np.ndarray) -> None:
        """Leave in the domains what is joined to the images of some nodes as is asked."""
        nodes = np.arange(self._domains.shape[1])
        for asked, wanted in ((self._asked.which, True), *((one, False) for one in self._asked.strangers)):
            for kind in set(asked[us][asked[us] >= 0].tolist()):
                lacking = pack_bits(self.joined(kind).has(images[:, None], nodes) != wanted)
                x, of = np.nonzero((asked[us] == kind).T)
                firsts = np.flatnonzero(np.diff(x, prepend=-1))
                lost = np.bitwise_or.reduceat(lacking[of], firsts, axis=0)
                self._domains[x[firsts]] &= ~unpack_bits(lost)[:, : len(nodes)]

    def extend(self, x: int, keep: bool) -> None:
        """Map one more node in every way; or only count these."""
        self.ahead = x != self.rest[-1] or len(self._order.leaves.groups) > 0
        row, w = self.candidates([x])
        if not keep:
            self.found = len(row)
        elif len(row) * len(self.rows) > MOST_ENTRIES:
            raise TooMany
        else:
            rows = np.empty((len(self.rows), len(row)), np.int32)
            rows[self.placed] = self.rows[self.placed][:, row]
            rows[x] = w
            self.rows, self.placed = rows, np.append(self.placed, x)

    def candidates(self, alike: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Of each row the nodes that any of some query nodes may be mapped to: rows and nodes."""
        asked, x, xs, placed = self._asked, alike[0], np.array(alike), self.placed
        which = asked.which[placed[:, None], xs]
        near = [(kind, placed[(which == kind).any(axis=1)]) for kind in sorted(set(which[which >= 0].tolist()))]
        lower = [a for a, b in self._order.below if b == x and a in placed]
        upper = [b for a, b in self._order.below if a == x and b in placed]
        row, w, shortest = self.laid_out(x, near, lower)
        row, w = _kept(row, w, self._domains[xs][:, w].all(axis=0))
        # Neighbours differ anyway, and so do nodes whose domains have nothing in common.
        apart = placed[(which < 0).all(axis=1) & self._measured.meet[placed[:, None], xs].all(axis=1)]
        for us, fits in ((apart, np.not_equal), (lower, np.less), (upper, np.greater)):
            if len(us):
                row, w = _kept(row, w, fits(self.rows[us][:, row], w).all(axis=0))
        first = 0
        for kind, us in near:
            if shortest is None or sum(len(us) for _, us in near) > 1:
                known = False if shortest is None else np.arange(first, first + len(us))[:, None] == shortest[row]
                row, w = _kept(row, w, self.joined(kind).has(self.rows[us][:, row], w, known).all(axis=0))
            first += len(us)
        for strangers in asked.strangers:
            kinds = strangers[placed, x]
            for kind in set(kinds[kinds >= 0].tolist()):
                us = placed[kinds == kind]
                row, w = _kept(row, w, ~self.joined(kind).has(self.rows[us][:, row], w).any(axis=0))
        return row, w

    def laid_out(
        self, x: int, near: Sequence[tuple[int, np.ndarray]], lower: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Candidates to test, of each row the shortest list that a placed neighbour leads to, and which one's that is;
        or, where that is less, the whole domain.

        Args:
          lower: placed nodes whose images candidates must exceed.
        """
        rows, domain = self.rows.shape[1], np.flatnonzero(self._domains[x])
        if near:
            least = self.rows[lower].max(axis=0) if lower else None
            # Lists that are laid out more than once are gone through first: only what is in the domain is left.
            found = self._shortest(near, least, x if rows > self._lists.nodes else None)
            if found.lengths.sum() > len(found.targets):
                found = self._shortest(near, least, x)
            total = int(found.lengths.sum())
            if total <= rows * len(domain):
                self._test(total)
                places = places_of(found.starts, found.lengths)
                return np.repeat(np.arange(rows), found.lengths), found.targets[places], found.which
        self._test(rows * len(domain))
        return np.repeat(np.arange(rows), len(domain)), np.tile(domain, rows), None

    def _shortest(self, near: Sequence[tuple[int, np.ndarray]], least: np.ndarray | None, x: int | None) -> _Shortest:
        """The shortest of the lists that placed neighbours lead to; with x, of its domain alone."""
        starts, lengths, lists, first = [], [], [], 0
        for kind, us in near:
            joined, images = self.joined(kind, x), self.rows[us]
            # In long lists it is worth while to find where what is beyond the lower nodes starts.
            start = joined.after(images, least if len(joined.targets) > LONG * joined.nodes else None)
            lengths.append(joined.offsets[images + 1] - start)
            starts.append(start + first)
            lists.append(joined.targets)
            first += len(joined.targets)
        # Lists of all kinds end to end: a start is a place in that.
        start, length = np.concatenate(starts), np.concatenate(lengths)
        targets = lists[0] if len(lists) == 1 else np.concatenate(lists)
        if len(length) == 1:
            return _Shortest(start[0], length[0], targets, np.zeros(len(length[0]), np.int64))
        which, rows = length.argmin(axis=0), np.arange(length.shape[1])
        return _Shortest(start[which, rows], length[which, rows], targets, which)

    def _test(self, candidates: int) -> None:
        """Counts candidates about to be tested, unless they are too many, or the next ones likely are."""
        likely = self.more * candidates
        if candidates > MOST_BESIDE_ACCELERATOR // 4 and self.ahead:
            likely = candidates * candidates // max(2 * self._before, 1)  # half as much as they have grown
        self._before, self.tested, self.levels = candidates, self.tested + candidates, self.levels + 1
        if self.tested + likely > self._most:
            raise TooMany

    def count(self) -> int:
        """Matches: of each row the ways to map the leaves, added up."""
        plan = self._order.leaves
        placed = set(self.placed.tolist())
        groups = [[x for x in group if x not in placed] for group in plan.groups]
        if self.found is not None or not self.rows.shape[1] or not any(groups):
            return self.rows.shape[1] if self.found is None else self.found
        sums = [terms for group in groups for terms in products(plan, group)]
        blocks = list(dict.fromkeys(block.sets for terms in sums for _, factors in terms for block in factors))
        # Of several sets in a large target, bit rows of a device take less.
        many = len(blocks) > 1 and not self.has_bits
        self._most = min(self._most, self.tested + self._most // (8 if many else 2))
        self.ahead, sizes = False, {}
        for self.more, block in zip(reversed(range(len(blocks))), blocks, strict=True):
            sizes[block] = self.common(block)
        # 52 bits hold the ways of one row, or Python's integers do.
        number = np.int64 if plan.limbs <= 2 else object
        ways = np.ones(self.rows.shape[1], number)
        for terms in sums:
            ways = ways * sum(
                coefficient
                * np.prod(
                    [sizes[sets].astype(number) - less - i for sets, less, m in factors for i in range(m)], axis=0
                )
                for coefficient, factors in terms
            )
        if ways.dtype == object:
            return int(ways.sum())
        # In halves: each way has at most 52 bits, and rows are fewer than 2^37.
        return (int((ways >> 26).sum()) << 26) + int((ways & (2**26 - 1)).sum())

    def common(self, leaves: Sequence[int]) -> np.ndarray:
        """Of each row the nodes that some leaves have in common as candidates, int64 ``[R]``."""
        which, x, placed = self._asked.which, leaves[0], self.placed
        anchors = placed[which[placed, x] >= 0]
        if len(leaves) > 1 or len(anchors) > 1:
            return self.shared(leaves)
        kind, images = int(which[anchors[0], x]), self.rows[anchors[0]]
        offsets = self._lists.offsets[self._lists.number[kind, x]]
        # A single set: its list's length, less the nodes in use that are in it.
        size = (offsets[images + 1] - offsets[images]).astype(np.int64)
        used = self.rows[placed[(placed != anchors[0]) & self._measured.meet[placed, x]]]
        # The list is that of the domain as measured.
        inside = self._lists.reduced.bits[x >> 5, used] & np.uint32(1 << (x & 31)) != 0
        return size - (inside & self.joined(kind).has(images, used)).sum(axis=0)

    def shared(self, leaves: Sequence[int]) -> np.ndarray:
        """The same for leaves of several lists: bits of all nodes at once, or where lists are short each candidate."""
        placed, nodes, size = self.placed, self._lists.nodes, self.rows.shape[1]
        which = self._asked.which[placed[:, None], leaves]
        near = [(kind, u) for u, kinds in zip(placed, which.tolist(), strict=True) for kind in {*kinds} - {-1}]
        words, slots = words_for(nodes) * len(near), min(len(self.joined(kind).targets) for kind, _ in near)
        if not self.has_bits or words * nodes > WORDS_A_CANDIDATE * slots:
            return np.bincount(self.candidates(leaves)[0], minlength=size)
        self._test(size * words // WORDS_A_CANDIDATE)
        bits = pack_bits(np.logical_and.reduce(self._domains[leaves, :nodes]))
        for kind, u in near:
            bits = bits & self.joined(kind).bits[self.rows[u]]
        count = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        # Neighbours of a leaf are in no set of it; all others in use are taken away where they are.
        for u in placed[(which < 0).all(axis=1) & self._measured.meet[placed[:, None], leaves].all(axis=1)]:
            at = self.rows[u]
            count -= (bits[np.arange(size), at >> 5] >> (at & 31)) & 1
        return count


def _kept(row: np.ndarray, w: np.ndarray, ok: Any) -> tuple[np.ndarray, np.ndarray]:
    places = np.flatnonzero(ok)
    return (row, w) if len(places) == len(row) else (row[places], w[places])
