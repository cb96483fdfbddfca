"""Programs of the level search: what each level tests, as data for one kernel (host)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.search._layout import (
    FactorWords,
    GroupWords,
    PairWords,
    SearchWords,
    SetWords,
    TableWords,
    TallyWords,
    TermWords,
    read_record,
    record_size,
    table_place,
)

MOST_COST = 2**30
"""Words that a candidate's tests are taken to read at most, so that the number is an int32."""

FACTOR_COST = 8
"""Words that might be read in the time in which a factor is multiplied."""


class Pair(NamedTuple):
    """A condition on a new node and an earlier one.

    Attributes:
      position: which node of the order, or -1: the candidates depend on no earlier node.
      place: where its candidate lists start in ``offsets``.
      matrix: where its bit matrix starts in ``bitmap``.
    """

    position: int
    place: int
    matrix: int


@dataclasses.dataclass(frozen=True)
class Placement:
    """How the next node of the order is placed.

    Attributes:
      anchors: pairs that must be adjacent (at least one; the shortest of their lists is expanded), also as integers
        ``[A, 3]``.
      distinct_from: earlier positions it must differ from.
      below: earlier positions whose nodes must have lower ids.
      non_neighbours: pairs that must not be adjacent, also as integers ``[S, 3]``.
      ahead: factors, on nodes up to this one, that must not be zero; searched with ``Sizes.ahead`` alone.
    """

    anchors: Sequence[Pair] | np.ndarray
    distinct_from: Sequence[int] | np.ndarray = ()
    below: Sequence[int] | np.ndarray = ()
    non_neighbours: Sequence[Pair] | np.ndarray = ()
    ahead: Sequence[Factor] = ()


class CandidateSet(NamedTuple):
    """Candidates of a leaf: those of its pair, as a list and as bit rows, in its domain (word place and bit); or, not
    ``inside``, the others of the domain."""

    pair: Pair
    rows: int
    domain: int
    bit: int
    inside: bool = True


class Factor(NamedTuple):
    """The size of the intersection of sets without the nodes at ``used`` positions, and ``less`` fewer; of several
    ``leaves`` each has one fewer than the one before. Words of the bit rows and place of the ranks."""

    sets: Sequence[CandidateSet]
    used: Sequence[int]
    words: int
    ranks: int
    less: int = 0
    leaves: int = 1


class Term(NamedTuple):
    """A coefficient times factors (:mod:`jaxmotif.search._leaf_counts`)."""

    coefficient: int
    factors: Sequence[Factor]


class Tally(NamedTuple):
    """Matches to be added up by the node at a position: in the cell at ``base`` and the node further. Or by a pair of
    nodes: in that at ``base`` and the place in ``entries`` further that it has in the list, of those at ``place`` in
    ``offsets``, of the node at position ``of``."""

    position: int
    base: int
    of: int = -1
    place: int = -1


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A search as data.

    Attributes:
      code: int32 ``[P]``, records (:mod:`jaxmotif.search._layout`).
      tables: how many tables are expanded, one for each node placed.
      entries: int32 entries all tables take.
      columns: of each table expanded, the positions whose nodes it holds.
    """

    code: np.ndarray
    tables: int
    entries: int
    columns: list[list[int]]

    def resized(self, rooms: Sequence[int] | np.ndarray) -> Program:
        """The same search, with room for other numbers of rows in each table but the first."""
        # Whether the last table counts is written in it: matches that are kept have one table more.
        whole = not self.table(self.tables - 1).is_last
        code, (rooms, bases) = self.code.copy(), _table_places(self.columns, rooms, whole)
        at, count = table_place(np.arange(self.tables)), self.tables
        for name, values in (("base", bases), ("next_base", bases[1:]), ("room", rooms), ("next_room", rooms[1:])):
            # TableWords stand at equal distances: one word of all tables is written at once.
            code[at + TableWords._fields.index(name)] = values[:count]
        return Program(code, self.tables, bases[-1], self.columns)

    def table(self, number: int) -> TableWords:
        """The words of a table."""
        return read_record(lambda place: int(self.code[place]), TableWords, table_place(number))

    def anchors(self, number: int) -> np.ndarray:
        """The pairs that allow candidates of a table, int32 ``[A, 3]``: :class:`PairWords`."""
        head, width = self.table(number), record_size(PairWords)
        return self.code[head.anchors :][: width * head.num_anchors].reshape(-1, width)

    def after(self, steps: int) -> tuple[int, int]:
        """Where the table after so many placements begins, and how many rows it has room for."""
        head = self.table(steps - 1)
        return head.next_base, head.next_room


def table_columns(
    placements: Sequence[Placement], groups: Sequence[Sequence[Term]], whole: bool, tallies: Sequence[Tally] = ()
) -> list[list[int]]:
    """The positions whose nodes each table must hold: those that a later placement or tally reads, or all.

    Example:
      >>> edge, free = Pair(0, 0, 0), Pair(-1, 0, 0)
      >>> table_columns([Placement([free]), Placement([edge]), Placement([edge])], [], whole=False)
      [[], [0], [0]]
    """
    count = len(placements)
    earlier = np.tri(count, k=-1, dtype=bool)  # of the new node's table: it is at hand itself
    if whole:
        return [np.flatnonzero(row).tolist() for row in earlier]
    reads = np.zeros((count, count + 1), bool)  # the last column takes what is no position
    for t, placed in enumerate(placements):
        for positions in (
            _rows(placed.anchors)[:, 0],
            _rows(placed.non_neighbours)[:, 0],
            placed.distinct_from,
            placed.below,
        ):
            reads[t, _integers(positions)] = True
        for factor in placed.ahead:
            reads[t, _positions(factor)] = True
    for factor in (factor for group in groups for term in group for factor in term.factors):
        reads[-1, _positions(factor)] = True
    reads[-1, [position for tally in tallies for position in (tally.position, tally.of)]] = True
    # Look-ahead reads the new node, too, which is at hand and in no column yet.
    reads[:, :-1] &= earlier
    # A column is held from where its node is placed to the last table that reads it.
    later = np.logical_or.accumulate(reads[::-1, :-1])[::-1]
    return [np.flatnonzero(row).tolist() for row in later & earlier]


def table_widths(columns: Sequence[Sequence[int]], whole: bool) -> np.ndarray:
    """Columns of each table but the first, int64: of those expanded, and of the listed matches if they are kept."""
    return np.array([*map(len, columns[1:]), *([len(columns)] if whole else [])], np.int64)


def build_program(
    placements: Sequence[Placement],
    groups: Sequence[Sequence[Term]] = (),
    tallies: Sequence[Tally] = (),
    *,
    rooms: Sequence[int],
    stride: int,
    longest: int,
    first_steps: int = 0,
    first_work: int = 2**31 - 1,
    bitmap: bool = True,
    whole: bool = False,
    columns: list[list[int]] | None = None,
) -> Program:
    """Write a program.

    Args:
      placements: one for each node of the order.
      groups: leaves to be counted in closed form, each group as its terms.
      tallies: by which nodes to add up the matches, of a search whose ``Sizes.cells`` says so.
      rooms: rows that each table but the first has room for; of these, a step fills at most two thirds.
      stride: words of a row of a bit matrix.
      longest: entries of the longest candidate list.
      first_steps: how many steps :func:`jaxmotif.search.begin` takes; first_work: the work after which it ends before.
      bitmap: whether the search reads bit matrices, which makes its tests cheaper than binary searches.
      whole: keep the nodes of all positions, and append the matches to one more table instead of counting them.
      columns: what :func:`table_columns` says, if it is known.

    Raises:
      ValueError: tables beyond the int32 limit.
    """
    count = len(placements)
    columns = table_columns(placements, groups, whole, tallies) if columns is None else columns
    rooms, bases = _table_places(columns, rooms, whole)
    code = _Writer(table_place(count))
    most_rows = max(1, (2**31 - 1) // max(1, longest))  # all their candidates together have 31-bit positions
    # As many halvings as the longest list's length has bits.
    halvings = max(1, int(longest).bit_length())
    code.put(0, SearchWords(stride, halvings, count, most_rows, first_steps, first_work))
    for t, placed in enumerate(placements):
        slot = np.full(count + 1, -1)  # the last is that of no position
        slot[columns[t]] = np.arange(len(columns[t]))
        last = t == count - 1
        # What the next table holds, of columns that this one has and the new node.
        kept = columns[t + 1] if not last else range(count) if whole else ()
        tests, ahead = code.add_tests(placed, slot, kept), code.add_factors(placed.ahead, slot)
        leaves = code.add_groups(groups if last else (), slot)
        added = code.add_tallies(tallies if last else (), slot)
        places = (bases[t], bases[t + 1], rooms[t], rooms[t + 1], int(last and not whole))
        cost = candidate_cost(placed, groups if last else (), 1 if bitmap else halvings) + len(kept)
        code.put(table_place(t), (*tests, *places, *leaves, *ahead, *added, cost))  # in the order of TableWords
    return Program(code.array(), count, bases[-1], columns)


def candidate_cost(placement: Placement, groups: Sequence[Sequence[Term]], adjacency: int) -> int:
    """Return about how many words are read to test one candidate, and to count the leaves of what survives.

    Args:
      placement: how the node is placed.
      groups: leaves to be counted in closed form, as for :func:`build_program`.
      adjacency: words read to see whether two nodes are joined.
    """
    tested = max(len(placement.anchors) - 1, 0) + len(placement.non_neighbours)
    factors = [*placement.ahead, *(factor for group in groups for term in group for factor in term.factors)]
    met = 0
    for factor in factors:
        met += factor.leaves * FACTOR_COST
        if factor.words:  # bit rows meet word by word, and once more for each node in use
            met += len(factor.sets) * (factor.words + len(factor.used))
        else:  # a single set: the length of a list, less the nodes in use that are in it
            met += 2 + len(factor.used) * (1 + adjacency)
    return min(2 + len(placement.anchors) + len(placement.distinct_from) + tested * adjacency + met, MOST_COST)


def _table_places(
    columns: Sequence[Sequence[int]], rooms: Sequence[int] | np.ndarray, whole: bool
) -> tuple[list[int], list[int]]:
    """Rooms of all tables, and where each begins in the entries; then one more, the end."""
    # Table 0 is one row without columns; matches that are counted go to no table, which never lacks room.
    rooms = [1, *(int(room) for room in rooms[: len(columns) - 1 + whole]), *([] if whole else [2**31 - 1])]
    widths = [0, *table_widths(columns, whole).tolist(), *([] if whole else [0])]
    bases = np.cumsum([0, *(room * width for room, width in zip(rooms, widths, strict=True))]).tolist()
    # Places are int32, and one more entry is the spare that lanes without a row write to.
    if bases[-1] >= 2**31 - 1:
        raise ValueError(f"tables of {bases[-1]} entries are over the limit of {2**31 - 2}; use smaller blocks")
    return rooms, bases


def _integers(values: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.asarray(values, np.int64)


def _rows(pairs: Sequence[Pair] | np.ndarray) -> np.ndarray:
    """Pairs as int64 ``[P, 3]``."""
    return np.asarray(pairs, np.int64).reshape(-1, 3)


def _positions(factor: Factor) -> list[int]:
    return [*(item.pair.position for item in factor.sets), *factor.used]


class _Writer:
    """A program so far. What is added is returned as the two words that name it: how many records, and where they
    start; so inner records come first and outer ones point to them."""

    def __init__(self, size: int):
        self._words = [0] * size

    def array(self) -> np.ndarray:
        return np.array(self._words, np.int32)

    def put(self, place: int, record: tuple) -> None:
        self._words[place : place + len(record)] = record

    def add(self, records: Iterable[Sequence[int]]) -> tuple[int, int]:
        records, start = list(records), len(self._words)
        for record in records:
            self._words += record
        return len(records), start

    def add_words(self, words: np.ndarray) -> tuple[int, int]:
        """Records of one word, int64 ``[R]``, or of several, ``[R, W]``."""
        start = len(self._words)
        self._words += words.reshape(-1).tolist()
        return len(words), start

    def add_tests(self, placed: Placement, slot: np.ndarray, kept: Sequence[int]) -> list[int]:
        """The anchors, slots to differ from, slots to exceed, non_neighbours, and slots to append."""

        def pairs(items: Sequence[Pair] | np.ndarray) -> np.ndarray:
            rows = _rows(items).copy()
            # Position -1 finds the last entry, which is slot -1.
            rows[:, 0] = slot[rows[:, 0]]
            return rows

        lists = (
            pairs(placed.anchors),
            slot[_integers(placed.distinct_from)],
            slot[_integers(placed.below)],
            pairs(placed.non_neighbours),
            slot[_integers(kept)],
        )
        return [word for words in lists for word in self.add_words(words)]

    def add_groups(self, groups: Sequence[Sequence[Term]], slot: np.ndarray) -> tuple[int, int]:
        terms = [[self.add_term(term, slot) for term in group] for group in groups]
        return self.add([GroupWords(*self.add(group)) for group in terms])

    def add_factors(self, factors: Sequence[Factor], slot: np.ndarray) -> tuple[int, int]:
        return self.add([self.add_factor(factor, slot) for factor in factors])

    def add_tallies(self, tallies: Sequence[Tally], slot: np.ndarray) -> list[int]:
        """Those of nodes of rows, of pairs of these, of the new node, and of pairs with it."""
        # In the order of TableWords: a dict keeps that in which its keys are written.
        kinds: dict[tuple[bool, bool], list[TallyWords]] = {
            (new, pair): [] for new in (False, True) for pair in (False, True)
        }
        for tally in tallies:
            pair = tally.of >= 0
            new = slot[tally.position] < 0 or (pair and slot[tally.of] < 0)  # it is in no slot yet
            kinds[bool(new), pair].append(
                TallyWords(int(slot[tally.position]), tally.place, int(slot[tally.of]), tally.base)
            )
        return [word for records in kinds.values() for word in self.add(records)]

    def add_term(self, term: Term, slot: np.ndarray) -> TermWords:
        return TermWords(term.coefficient, *self.add_factors(term.factors, slot))

    def add_factor(self, factor: Factor, slot: np.ndarray) -> FactorWords:
        sets = [
            SetWords(int(slot[p]), place, matrix, item.rows, item.domain, item.bit, 0 if item.inside else -1)
            for item in factor.sets
            for p, place, matrix in [item.pair]
        ]
        used = [(int(slot[position]),) for position in factor.used]
        return FactorWords(*self.add(sets), *self.add(used), factor.words, factor.ranks, factor.less, factor.leaves)
