"""Searches in NumPy, for those so small that they end before a device would begin: the twin of :mod:`jaxmotif.search`.

All partial matches of the first nodes are extended by the next node at once, level by level, with the candidates of
every row laid end to end. Nodes that can be mapped to one target node only are placed together before all others, so
that a query whose labels leave little choice takes few levels. A search that turns out to be larger is given up before
the level that would be too much, and goes to the device.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import jax
import numpy as np

from jaxmotif.arrays._bits import pack_bits, unpack_bits
from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._exact import join_sums, split_sum
from jaxmotif.arrays._rows import offsets_from, places_of
from jaxmotif.matching._options import Options
from jaxmotif.matching._target import Target
from jaxmotif.matching.planner._ask import QueryConstraints
from jaxmotif.matching.planner._host import select_slots, set_bits
from jaxmotif.matching.planner._leaves import products
from jaxmotif.matching.planner._order import SearchOrder, expected_candidates
from jaxmotif.matching.planner._reduce import CandidateLists, Measures
from jaxmotif.search._deadline import NO_DEADLINE
from jaxmotif.search._run import NOTHING, SearchProgress

MOST_ON_CPU, MOST_BESIDE_ACCELERATOR = (2**23, 2**14), (2**17, 6 * 2**10)
"""Most candidates that are tested on the host: the first number for any query, plus the second for each of its nodes.

A test takes some 10 to 30 ns. On a CPU the limit is where the small steps of a compiled search would take less time.
Beside an accelerator it is the number of tests in the time that it takes to plan and begin a search there.
"""

A_LEVEL = 2**14
"""Candidates that are tested in the time that the NumPy calls of a level take, however few candidates it has."""

LOOK_AHEAD_FROM = 2**13
"""Number of candidates of a level above which the number of candidates of the next level is estimated first."""

MOST_ENTRIES = 2**23
"""Most entries of the array of all partial matches of one length."""

MOST_MARKS = 2**21
"""Most bytes of the table that marks joined pairs of nodes. Where there are more pairs, several share a byte, which
then only says that one of them is joined."""

MOST_BIT_NODES = 2**13
"""Most nodes of a target in which each node gets a row of bits: 8 MiB in all."""

WORDS_A_CANDIDATE = 8
"""64-bit words of two rows of bits that are intersected in the time of one candidate's tests."""

CANDIDATES_A_ROW = 4
"""Candidates that are tested in the time that it takes to read one partial match off rows of bits."""

FEW = 2**10
"""Number of candidates up to which all conditions are tested in one call of NumPy.

A call takes about 5 microseconds however few candidates there are, and a test about 10 nanoseconds. If there are more
candidates, each condition has a call of its own, since later ones then test only what is left.
"""

ROWS = 2**10
"""Rows of bits that are intersected at a time: few enough to stay in a core's cache."""

LONG = 16
"""Average length above which lists are cut where symmetry allows it before they are laid out."""

MIXED = 0.7
"""The shortest list of each row is taken if all of these together are at most this part of the lists of the best single
neighbour; otherwise all rows take the lists of that neighbour."""

MOST_SLOTS = 2**22
"""Most slots of a target that is searched without filters."""


class Found(NamedTuple):
    """The result of a search.

    Attributes:
      standing: where the search ended.
      nodes: int32 ``[k, M]``, the node of the reduced target that each query node is mapped to in each match, in
        lexicographic order of the matching order; ``None`` unless matches are listed.
    """

    standing: SearchProgress
    nodes: np.ndarray | None = None


NOTHING_FOUND = Found(NOTHING)


class TooMany(Exception):
    """Raised where more candidates would have to be tested than is worthwhile on the host."""


def candidate_budget(device: jax.Device, order: SearchOrder, measured: Measures | None = None) -> int:
    """Return how many candidates may be tested before a search goes to a device.

    The result is -1 if the first three nodes alone are expected to have more candidates.

    Args:
      device: where the search would go.
      order: core nodes, leaves and symmetry.
      measured: figures of the candidate lists, or ``None`` if they were not measured.
    """
    any_query, each_node = MOST_BESIDE_ACCELERATOR if target_of(device).is_accelerator else MOST_ON_CPU
    most = any_query + each_node * (len(order.core) + len(order.leaves.nodes))
    if measured is None:
        return most
    # Joined nodes have more neighbours in common than the estimate assumes, so that it says nothing of further nodes.
    first = order.core[:3]
    sizes, often = measured.sizes[first], measured.often[np.ix_(first, first)]
    joined = np.where(often > 0, often / np.maximum(np.outer(sizes, sizes), 1), -1)
    expected = expected_candidates(range(len(first)), sizes.tolist(), joined.tolist())
    # Symmetry leaves one of the six orders of three nodes at best.
    return most if expected <= min(order.multiplier, 6) * most else -1


class KindSlots:
    """The slots of a target that fulfil a kind of pair, in one direction: offsets by row, targets, and sources."""

    def __init__(self, offsets: np.ndarray, targets: np.ndarray, sources: np.ndarray):
        self.offsets, self.targets, self.sources = offsets, targets, sources
        self.nodes = len(offsets) - 1

    @cached_property
    def keys(self) -> np.ndarray:
        """The key of each slot, ascending, with -1 added at the end.

        A key is the source times the number of nodes, plus the target.
        """
        return np.append(self.sources.astype(np.int64) * self.nodes + self.targets, -1)

    @cached_property
    def marks(self) -> np.ndarray:
        """Bool, whether there is a slot whose key equals the index modulo the length of the array."""
        marks = np.zeros(min(self.nodes**2, MOST_MARKS), bool)
        marks[self.keys[:-1] % len(marks)] = True
        return marks

    @cached_property
    def bits(self) -> np.ndarray:
        """The nodes that each node is joined to, as bits, uint64 ``[nodes, W]``."""
        words = np.zeros((self.nodes, _words(self.nodes)), np.uint64)
        set_bits(words.reshape(-1), self.sources.astype(np.int64) * words.shape[1], self.targets)
        return words

    def has(self, u: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return whether there is a slot from u to w."""
        wanted = u.astype(np.int64) * self.nodes + w
        if self.nodes**2 <= MOST_MARKS:
            return self.marks[wanted]
        found = self.marks[wanted & (MOST_MARKS - 1)]
        maybe = np.nonzero(found)
        some = wanted[maybe]  # hardly more than the pairs that have a slot
        found[maybe] = self.keys[np.searchsorted(self.keys[:-1], some)] == some
        return found

    def after(self, u: np.ndarray, least: np.ndarray | None) -> np.ndarray:
        """Return where the targets of each node start, or those beyond a given one."""
        if least is None:
            return self.offsets[u]
        return np.searchsorted(self.keys[:-1], u.astype(np.int64) * self.nodes + least, side="right")


class _Shortest(NamedTuple):
    """The shortest list of each row, among the lists that its placed neighbours lead to.

    Attributes:
      starts: integers ``[R]``, where the list of each row starts in ``targets``.
      lengths: integers ``[R]``, its length.
      targets: int32, the entries of the lists.
      which: int64 ``[R]``, the place of the neighbour whose list it is in ``near``; one number if it is the same in all
        rows.
      total: the sum of the lengths.
    """

    starts: np.ndarray
    lengths: np.ndarray
    targets: np.ndarray
    which: np.ndarray | int
    total: int


class Constraints(NamedTuple):
    """The constraints on the next query node, once others are placed.

    Attributes:
      nodes: query nodes that share all constraints, the next one among them.
      near: pairs (kind, placed node): the images of the placed node and of the next one must fulfil the kind.
      non_neighbours: pairs (kind, placed node): the images must not fulfil the kind.
      distinct_from: placed nodes whose images must be avoided, since the domains overlap.
      lower: placed nodes whose images must have lower numbers.
      upper: placed nodes whose images must have higher numbers.
    """

    nodes: np.ndarray
    near: list[tuple[int, int]]
    non_neighbours: list[tuple[int, int]]
    distinct_from: list[int]
    lower: list[int]
    upper: list[int]

    @property
    def tied(self) -> list[int]:
        """The placed nodes that a constraint other than distinctness is on, neighbours first."""
        near, more = dict.fromkeys(u for _, u in self.near), [u for _, u in self.non_neighbours]
        return list(near | dict.fromkeys([*more, *self.lower, *self.upper]))


class HostSearch:
    """A search in progress, with R partial matches.

    Attributes:
      rows: int32 ``[k, R]``, the image of each placed query node in every partial match.
      placed: int64, the query nodes that are placed.
      rest: the core nodes that are placed level by level, in order.
      tested: the number of candidates tested.
      levels: how often candidates were laid out.
      ahead: whether more levels are to come.
      more: the number of sets of leaves that are to be counted after the next one.
      counted: the number of matches, if the rows of the last node were counted and not kept.
    """

    def __init__(
        self,
        asked: QueryConstraints,
        order: SearchOrder,
        target: Target,
        domains: np.ndarray,
        meet: np.ndarray,
        most: int,
        lists: CandidateLists | None = None,
    ):
        self._asked, self._order, self._target, self._lists, self._meet = asked, order, target, lists, meet
        self._joined: dict[tuple[int, int | None], KindSlots] = {}
        self._most, self._domains, self._nodes = most, domains, domains.shape[1]
        self._whole = np.asarray(domains.all(axis=1))  # query nodes whose domain leaves nothing out
        self.rows = np.zeros((len(domains), 1), np.int32)
        self.placed = np.zeros(0, np.int64)
        self.rest = order.core
        self.tested = self.levels = self._before = self._spent = 0
        self.ahead, self.more = False, 0
        self.counted: int | None = None
        self._deadline = NO_DEADLINE

    @classmethod
    def between(
        cls, lists: CandidateLists, asked: QueryConstraints, order: SearchOrder, measured: Measures, most: int
    ) -> Self:
        """Return a search in a reduced target.

        Args:
          lists: candidate lists of a target on the host.
          asked: all that the query asks.
          order: core nodes, leaves and symmetry; leaves are counted in closed form.
          measured: figures of the candidate lists.
          most: the most candidates to test.
        """
        domains = unpack_bits(np.ascontiguousarray(lists.families.bits.T))[:, : asked.query.num_nodes].T.copy()
        return cls(asked, order, lists.target, domains, measured.meet, most, lists)

    def found(self, options: Options) -> Found | None:
        """Search to the end and return the result, or ``None`` if that is too much for the host."""
        self._deadline = options.deadline
        try:
            self.propagate_singletons()
            if self.rows.shape[1]:
                self._spend(A_LEVEL * (len(self.rest) + len(self._order.leaves.groups)))
            for x in self.rest if self.rows.shape[1] else ():
                self.extend(x, keep=x != self.rest[-1] or options.listing or len(self._order.leaves.groups) > 0)
            count = self.count()
        except TooMany:
            return None
        standing = SearchProgress(count, self.tested, self.levels, "done")
        return Found(standing, self.rows if options.listing else None)

    def joined(self, kind: int, x: int | None = None) -> KindSlots:
        """Return the slots of a kind; with x, to nodes of its domain."""
        if x is not None and self._whole[x]:
            x = None
        if (kind, x) not in self._joined:
            if x is None:
                found = self._all_joined(np.array(self._asked.kinds[kind], np.int32))
            else:
                held = self.joined(kind)
                ok = self._domains[x, held.targets]
                inside = np.flatnonzero(ok)
                found = KindSlots(offsets_from(ok)[held.offsets], held.targets[inside], held.sources[inside])
            self._joined[kind, x] = found
        return self._joined[kind, x]

    def _all_joined(self, kind: np.ndarray) -> KindSlots:
        slots = self._target.direction(kind[0])
        if slots.marks is not None and (kind[1] or kind[4]):
            # What marks say is of one query, but an index that is not reduced for it is kept for the next ones.
            return KindSlots(
                *select_slots(dataclasses.replace(slots, facts=None) if self._lists is None else slots, kind)
            )
        return slots.known(("joined", *kind.tolist()), lambda: KindSlots(*select_slots(slots, kind)))

    def propagate_singletons(self) -> None:
        """Place the query nodes that can be mapped to one target node only, leaves among them.

        An image is dropped from all other domains, and so are the nodes that are not joined to it as the query asks.
        Nodes that are left with one candidate are placed too, until there are none. If two nodes have one image, a
        domain is empty, or images break a constraint of symmetry, no row is left.
        """
        domains, done = self._domains, np.zeros(len(self._domains), bool)
        new = domains.sum(axis=1) == 1
        while new.any() and self.rows.shape[1]:
            done |= new
            us, images = np.flatnonzero(new), domains[new].argmax(axis=1)
            others = np.bincount(images, minlength=domains.shape[1]) == 0
            if others.sum() + len(us) > len(others):  # two nodes have one image
                self.rows = self.rows[:, :0]
                return
            domains[~done] &= others
            self._leave(us, images)
            sizes = domains.sum(axis=1)
            if not sizes.all():
                self.rows = self.rows[:, :0]
            new = (sizes == 1) & ~done
        self._whole = np.asarray(domains.all(axis=1))
        self.placed, self.rest = np.flatnonzero(done), [x for x in self._order.core if not done[x]]
        self.rows[self.placed] = domains[self.placed].argmax(axis=1)[:, None]
        if not all((self.rows[a] < self.rows[b]).all() for a, b in self._order.below if done[a] and done[b]):
            self.rows = self.rows[:, :0]

    def _leave(self, us: np.ndarray, images: np.ndarray) -> None:
        """Drop from the domains the nodes that are not joined to the images of placed nodes as the query asks.

        Args:
          us: integers ``[P]``, the query nodes placed.
          images: integers ``[P]``, their images.
        """
        nodes = np.arange(self._domains.shape[1])
        for asked, wanted in ((self._asked.which, True), *((one, False) for one in self._asked.non_neighbours)):
            for kind in set(asked[us][asked[us] >= 0].tolist()):
                lacking = pack_bits(self.joined(kind).has(images[:, None], nodes) != wanted)
                x, of = np.nonzero((asked[us] == kind).T)
                firsts = np.flatnonzero(np.diff(x, prepend=-1))
                lost = np.bitwise_or.reduceat(lacking[of], firsts, axis=0)
                self._domains[x[firsts]] &= ~unpack_bits(lost)[:, : len(nodes)]

    def asks(self, alike: Sequence[int]) -> Constraints:
        """Return the constraints that all of some query nodes share, given the nodes placed."""
        placed, below, xs, x = self.placed, self._order.below, np.array(alike), alike[0]
        kinds = self._asked.which[placed[:, None], xs]
        joined = kinds >= 0
        near = set(zip(kinds[joined].tolist(), placed[joined.nonzero()[0]].tolist(), strict=True))
        non_neighbours = [
            (int(kinds[u, x]), u)
            for kinds in self._asked.non_neighbours
            for u in placed[kinds[placed, x] >= 0].tolist()
        ]
        # Neighbours differ anyway, and so do nodes whose domains have nothing in common.
        distinct_from = placed[~joined.any(axis=1) & self._meet[placed[:, None], xs].all(axis=1)]
        lower, upper = list[int](), list[int]()
        for a, b in below:
            if b == x and a in placed:
                lower.append(a)
            elif a == x and b in placed:
                upper.append(b)
        return Constraints(xs, sorted(near), non_neighbours, distinct_from.tolist(), lower, upper)

    def extend(self, x: int, keep: bool) -> None:
        """Map one more node in every possible way, or only count the ways."""
        self.ahead = x != self.rest[-1] or len(self._order.leaves.groups) > 0
        asks = self.asks([x])
        if not keep:
            self.counted = self.ways(asks)
            return
        row, w = self.candidates(asks)
        if len(row) * len(self.rows) > MOST_ENTRIES:
            raise TooMany
        rows = self.rows.take(row, axis=1)  # rows of nodes that are not placed yet mean nothing
        rows[x] = w
        self.rows, self.placed = rows, np.append(self.placed, x)

    def candidates(self, asks: Constraints) -> tuple[np.ndarray, np.ndarray]:
        """Find the candidates of the next query node that fulfil all constraints, as (row, node) pairs."""
        shortest = self.shortest(asks)
        if self.prefers_bits(asks, shortest):
            parts = []
            for first, block in self.sets(asks):
                # A row may give many matches, which the lengths of lists have not told.
                self._spend(CANDIDATES_A_ROW * int(np.bitwise_count(block).sum(dtype=np.uint32)))
                row, w = _find_bits(block)
                parts.append((first + row, w))
            row, w = (np.concatenate(column) for column in zip(*parts, strict=True))
            return row, w.astype(np.int32)
        return self.test_candidates(asks, shortest)

    def test_candidates(self, asks: Constraints, shortest: _Shortest | None) -> tuple[np.ndarray, np.ndarray]:
        """Find the same candidates as :meth:`candidates` by testing them one by one."""
        row, w, which = self.lay_out_candidates(asks, shortest)
        if not self._whole[asks.nodes].all():
            row, w = _select(row, w, self._domains[asks.nodes][:, w].all(axis=0))
        for us, fits in ((asks.distinct_from, np.not_equal), (asks.lower, np.less), (asks.upper, np.greater)):
            if us:
                row, w = self._fitting(row, w, us, fits)
        # Candidates from the list of a neighbour are joined to it, which needs no test.
        untested = [pair for i, pair in enumerate(asks.near) if i != which] if isinstance(which, int) else asks.near
        if isinstance(which, int) or len(row) <= FEW:
            for kind, us in _group_by_kind(untested).items():
                row, w = self._fitting(row, w, us, self.joined(kind).has)
        else:
            for i, (kind, u) in enumerate(untested):
                places = np.flatnonzero((which != i)[row])
                ok = np.ones(len(row), bool)
                ok[places] = self.joined(kind).has(self.rows[u][row[places]], w[places])
                row, w = _select(row, w, ok)
        for kind, us in _group_by_kind(asks.non_neighbours).items():
            row, w = self._fitting(row, w, us, lambda u, w, kind=kind: ~self.joined(kind).has(u, w))
        return row, w

    def _fitting(
        self, row: np.ndarray, w: np.ndarray, us: list[int], fits: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Keep the candidates that fit the images of some placed nodes.

        The nodes are compared one after another, or all at once where candidates are so few that calls take longer than
        tests.

        Args:
          row: integers ``[C]``, the row of each candidate.
          w: integers ``[C]``, its target node.
          us: the placed query nodes.
          fits: tells from images and candidates, element by element, which ones fit.

        Returns:
          The rows and target nodes of the candidates that are left.
        """
        if len(row) > FEW or len(us) < 2:
            for u in us:
                row, w = _select(row, w, fits(self.rows[u][row], w))
            return row, w
        return _select(row, w, fits(self.rows[us][:, row], w).all(axis=0))

    def lay_out_candidates(
        self, asks: Constraints, shortest: _Shortest | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | int]:
        """Lay out the candidates to test, of all rows end to end.

        A row has the shortest list that a placed neighbour leads to. Where the whole domain has fewer nodes, it has the
        domain.

        Returns:
          The row of each candidate and its target node, integers ``[C]`` each; and the place of the neighbour whose
          list it is in ``asks.near``, integers ``[R]`` or one number for all rows, which is -1 for the whole domain.
        """
        rows, domain = self.rows.shape[1], np.flatnonzero(self._domains[asks.nodes[0]])
        if shortest is not None and shortest.total <= rows * len(domain):
            self._test(shortest.total)
            places = places_of(shortest.starts, shortest.lengths)
            return np.repeat(np.arange(rows), shortest.lengths), shortest.targets[places], shortest.which
        self._test(rows * len(domain))
        return np.repeat(np.arange(rows), len(domain)), np.tile(domain, rows), -1

    def shortest(self, asks: Constraints) -> _Shortest | None:
        """Return the shortest of the lists that placed neighbours lead to, if there are any."""
        if not asks.near:
            return None
        least = self.rows[asks.lower].max(axis=0) if asks.lower else None
        # Where lists are laid out more than once on average, it pays to filter them first by the domain of x.
        x = int(asks.nodes[0])
        found = self._shortest(asks.near, least, x if self.rows.shape[1] > self._nodes else None)
        return self._shortest(asks.near, least, x) if found.total > len(found.targets) else found

    def _shortest(self, near: list[tuple[int, int]], least: np.ndarray | None, x: int | None) -> _Shortest:
        """Return the shortest of the lists that placed neighbours lead to; with x, of its domain alone."""
        lists = [self.joined(kind, x) for kind, _ in near]
        starts, lengths = [], []
        for joined, (_, u) in zip(lists, near, strict=True):
            images = self.rows[u]
            # In long lists it is worthwhile to find where the nodes above the lower ones start.
            starts.append(joined.after(images, least if len(joined.targets) > LONG * joined.nodes else None))
            lengths.append(joined.offsets[1:][images] - starts[-1])
        totals = [int(length.sum()) for length in lengths]
        best = int(np.argmin(totals))
        length = np.minimum.reduce(lengths)
        total = int(length.sum())
        if total > MIXED * totals[best]:
            return _Shortest(starts[best], lengths[best], lists[best].targets, best, totals[best])
        # The lists of all neighbours are laid end to end, so that one array of starts reaches all of them.
        first, start, which = 0, np.zeros(len(length), np.int64), np.zeros(len(length), np.int64)
        for i, joined in enumerate(lists):
            ours = np.flatnonzero(lengths[i] == length)
            start[ours], which[ours] = starts[i][ours] + first, i
            first += len(joined.targets)
        return _Shortest(start, length, np.concatenate([joined.targets for joined in lists]), which, total)

    def _test(self, candidates: int) -> None:
        """Count candidates about to be tested; raise :class:`TooMany` if they are, or the next ones seem, too many."""
        likely = self.more * candidates
        if candidates > LOOK_AHEAD_FROM and self.ahead:
            likely = candidates * candidates // max(4 * self._before, 1)  # assumes a quarter of the last growth
            if self._nodes <= MOST_BIT_NODES:
                likely = min(likely, candidates * _words(self._nodes) // WORDS_A_CANDIDATE)
        self._before, self.tested, self.levels = candidates, self.tested + candidates, self.levels + 1
        self._spend(candidates)
        if self._spent + likely > self._most:
            raise TooMany

    def _spend(self, candidates: int) -> None:
        """Count work that takes as long as testing some candidates; raise :class:`TooMany` if that is too much."""
        self._deadline.check()
        self._spent += candidates
        if self._spent > self._most:
            raise TooMany

    def prefers_bits(self, asks: Constraints, shortest: _Shortest | None) -> bool:
        """Return whether intersecting rows of bits takes less time than testing candidates one by one."""
        if shortest is None or self._nodes > MOST_BIT_NODES or self._bit_work(2) >= shortest.total:
            return False
        return len(asks.tied) > 1 and self._bit_work(len(asks.tied)) < shortest.total

    def _bit_work(self, tied: int) -> int:
        """Return the work of intersecting rows of bits, as the number of candidates that are tested in the same time.

        It consists of making a row of bits for each target node and intersecting some of them for each partial match.

        Args:
          tied: the number of placed nodes whose rows are intersected.
        """
        return (self.rows.shape[1] + 2 * self._nodes) * _words(self._nodes) * tied // (2 * WORDS_A_CANDIDATE)

    def sets(self, asks: Constraints) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the candidates of each row as bits, a block of rows at a time.

        Yields:
          The number of the first row of the block, and uint64 ``[rows, W]``, a bit for each target node.
        """
        self._test(self._bit_work(len(asks.tied)))
        tied = [(self.table(asks, u), u) for u in asks.tied]
        if not self._whole[asks.nodes].all():
            domain = np.zeros(64 * _words(self._nodes), bool)
            domain[: self._nodes] = np.logical_and.reduce(self._domains[asks.nodes])
            tied[0] = tied[0][0] & pack_bits(domain).view(np.uint64), asks.tied[0]
        for start in range(0, self.rows.shape[1], ROWS):
            rows = self.rows[:, start : start + ROWS]
            block = tied[0][0][rows[tied[0][1]]]
            for table, u in tied[1:]:
                block &= table[rows[u]]
            for u in asks.distinct_from:
                block[np.arange(len(block)), rows[u] >> 6] &= ~_bit(rows[u])
            yield start, block

    def table(self, asks: Constraints, u: int) -> np.ndarray:
        """Return the nodes that each possible image of a placed node allows next, as bits.

        Args:
          asks: the constraints on the next query node.
          u: the placed query node.

        Returns:
          Uint64 ``[nodes, W]``, one row for each target node as the image of ``u``.
        """
        near, non_neighbours = (
            [self.joined(kind).bits for kind, v in some if v == u] for some in (asks.near, asks.non_neighbours)
        )
        number, words = np.arange(self._nodes), np.arange(_words(self._nodes))
        if u in asks.lower:  # only nodes beyond the image are left
            beyond = np.where(words > (number >> 6)[:, None], ~np.uint64(0), np.uint64(0))
            beyond[number, number >> 6] = ~(2 * _bit(number) - np.uint64(1))
            near.append(beyond)
        if u in asks.upper:
            before = np.where(words < (number >> 6)[:, None], ~np.uint64(0), np.uint64(0))
            before[number, number >> 6] = _bit(number) - np.uint64(1)
            near.append(before)
        if not near:
            return ~np.bitwise_or.reduce(non_neighbours)
        found = near[0] if len(near) == 1 else np.bitwise_and.reduce(near)
        return found & ~np.bitwise_or.reduce(non_neighbours) if non_neighbours else found

    def ways(self, asks: Constraints) -> int:
        """Count the candidates of the next query node that fulfil all constraints, of all rows together."""
        if len(asks.near) == 1 and len(asks.nodes) == 1 and not (asks.non_neighbours or asks.lower or asks.upper):
            # A single list needs no tests: its length, less the nodes in use that are in it, is the count.
            [(kind, u)], images = asks.near, self.rows
            joined = self.joined(kind, int(asks.nodes[0]))
            used = sum(int(joined.has(images[u], images[v]).sum()) for v in asks.distinct_from)
            return int((joined.offsets[1:][images[u]] - joined.offsets[images[u]]).sum()) - used
        shortest = self.shortest(asks)
        if self.prefers_bits(asks, shortest):
            return sum(int(np.bitwise_count(block).sum(dtype=np.uint32)) for _, block in self.sets(asks))
        return len(self.test_candidates(asks, shortest)[0])

    def count(self) -> int:
        """Count the matches: the ways to map the leaves, added up over all rows."""
        plan, placed = self._order.leaves, self.placed
        groups = [[x for x in group if x not in placed] for group in plan.groups]
        if self.counted is not None or not self.rows.shape[1] or not any(groups):
            return self.rows.shape[1] if self.counted is None else self.counted
        sums = [terms for group in groups for terms in products(plan, group)]
        blocks = list(dict.fromkeys(block.sets for terms in sums for _, factors in terms for block in factors))
        if len(blocks) > 1 and self._nodes**2 > MOST_MARKS:
            # For several sets in a large target, bit rows of a device take less time, so that the budget is small.
            self._most = min(self._most, self._spent + self._most // 8)
        self.ahead, sizes = False, {}
        for self.more, block in zip(reversed(range(len(blocks))), blocks, strict=True):
            sizes[block] = self.common(block)
        # The ways of one row fit in 52 bits; where they may not, they are Python's integers.
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
        return int(join_sums(split_sum(ways)))

    def common(self, leaves: Sequence[int]) -> np.ndarray:
        """Count, for each row, the candidates that some leaves have in common, int64 ``[R]``."""
        which, x, placed = self._asked.which, leaves[0], self.placed
        anchors = placed[which[placed, x] >= 0]
        if len(leaves) > 1 or len(anchors) > 1 or self._lists is None:
            return self.shared(leaves)
        kind, images = int(which[anchors[0], x]), self.rows[anchors[0]]
        offsets = self._lists.offsets[self._lists.number[kind, x]]
        # A single set needs no tests: the length of its list, less the nodes in use that are in it, is the count.
        size = (offsets[images + 1] - offsets[images]).astype(np.int64)
        used = self.rows[placed[(placed != anchors[0]) & self._meet[placed, x]]]
        # The list was measured before singletons were placed, so that the domain as measured decides what is in it.
        inside = self._lists.families.bits[x >> 5, used] & np.uint32(1 << (x & 31)) != 0
        return size - (inside & self.joined(kind).has(images, used)).sum(axis=0)

    def shared(self, leaves: Sequence[int]) -> np.ndarray:
        """Count, for each row, the candidates that leaves of several lists have in common, int64 ``[R]``.

        They are counted by bits of all nodes, or one by one where lists are short.
        """
        asks = self.asks(leaves)
        shortest = self.shortest(asks)
        if self.prefers_bits(asks, shortest):
            return np.concatenate([np.bitwise_count(block).sum(axis=1, dtype=np.int64) for _, block in self.sets(asks)])
        return np.bincount(self.test_candidates(asks, shortest)[0], minlength=self.rows.shape[1])


def _words(nodes: int) -> int:
    return -(-nodes // 64)


def _bit(number: np.ndarray) -> np.ndarray:
    """Return the bit of each number within its word of 64."""
    return np.uint64(1) << (number & 63).astype(np.uint64)


def _find_bits(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the number of each bit that is set in uint64 ``[rows, W]``, ascending."""
    some = np.flatnonzero(words != 0)
    # Only words with some bit are unpacked, since most have none.
    bits = np.flatnonzero(unpack_bits(words.reshape(-1)[some].view(np.uint32)))
    places = 64 * some[bits >> 6] + (bits & 63)
    return np.divmod(places, 64 * words.shape[1])


def _group_by_kind(pairs: list[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the kinds of pairs (kind, placed node), each with all of its placed nodes."""
    found: dict[int, list[int]] = {}
    for kind, u in pairs:
        found.setdefault(kind, []).append(u)
    return found


def _select(row: np.ndarray, w: np.ndarray, ok: Any) -> tuple[np.ndarray, np.ndarray]:
    places = np.flatnonzero(ok)
    return (row, w) if len(places) == len(row) else (row[places], w[places])
