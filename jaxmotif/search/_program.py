"""Programs of the level search, written on the host: the tests of each level, as data for one kernel.

Nodes are named by their positions in the order. In a finished program records name them by slots
(:mod:`jaxmotif.search._layout`); until a record is written, its fields for slots hold positions instead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.search import _layout as layout
from jaxmotif.search._layout import PairWords, SetWords, TallyWords

MOST_COST = 2**30
"""Most words that the tests of a candidate are taken to read, so that the number is an int32."""

FACTOR_COST = 8
"""Words that could be read in the time that it takes to multiply a factor."""


@dataclasses.dataclass(frozen=True)
class Placement:
    """The conditions on the next node of the order.

    Attributes:
      anchors: pairs that must be adjacent, at least one, or integers ``[A, 3]``; the shortest of their lists is
        expanded.
      distinct_from: earlier positions whose nodes it must differ from.
      below: earlier positions whose nodes must have lower ids.
      non_neighbours: pairs that must not be adjacent, or integers ``[S, 3]``.
      ahead: factors on nodes up to this one that must not be zero; they are tested only with ``Sizes.ahead``.
    """

    anchors: Sequence[PairWords] | np.ndarray
    distinct_from: Sequence[int] | np.ndarray = ()
    below: Sequence[int] | np.ndarray = ()
    non_neighbours: Sequence[PairWords] | np.ndarray = ()
    ahead: Sequence[Factor] = ()


class Factor(NamedTuple):
    """The size of an intersection of sets, as a factor of a term.

    Attributes:
      sets: the sets.
      used: positions whose nodes are left out of the intersection.
      words: words of a bit row.
      ranks: where the numbering of the bit rows starts.
      less: subtracted from the size.
      leaves: how many leaves take a node from the intersection; each has one node fewer than the one before.
    """

    sets: Sequence[SetWords]
    used: Sequence[int]
    words: int
    ranks: int
    less: int = 0
    leaves: int = 1


class Term(NamedTuple):
    """The product of a coefficient and factors (:mod:`jaxmotif.search._leaf_counts`)."""

    coefficient: int
    factors: Sequence[Factor]


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A search as data.

    Attributes:
      code: int32 ``[P]``, records (:mod:`jaxmotif.search._layout`).
      tables: how many tables are expanded, one for each node placed.
      entries: how many int32 entries all tables take.
      columns: for each table expanded, the positions whose nodes it holds.
    """

    code: np.ndarray
    tables: int
    entries: int
    columns: list[list[int]]

    def resized(self, rooms: Sequence[int] | np.ndarray) -> Program:
        """Return the same search, with other numbers of rows that each table but the first has room for."""
        # A search that keeps its matches has one table more; the last table's words say so.
        whole = not self.table(self.tables - 1).is_last
        code, (rooms, bases) = self.code.copy(), _table_places(self.columns, rooms, whole)
        at, count = layout.table_place(np.arange(self.tables)), self.tables
        for name, values in (("base", bases), ("next_base", bases[1:]), ("room", rooms), ("next_room", rooms[1:])):
            # The words of tables stand at equal distances: one word of all tables is written at once.
            code[at + layout.TableWords._fields.index(name)] = values[:count]
        return Program(code, self.tables, bases[-1], self.columns)

    def table(self, number: int) -> layout.TableWords:
        """Return the words of a table."""
        return layout.read_record(lambda place: int(self.code[place]), layout.TableWords, layout.table_place(number))

    def anchors(self, number: int) -> np.ndarray:
        """Return the pairs that allow candidates of a table, int32 ``[A, 3]``, as :class:`PairWords`."""
        head, width = self.table(number), layout.record_size(layout.PairWords)
        return self.code[head.anchors :][: width * head.num_anchors].reshape(-1, width)

    def after(self, steps: int) -> tuple[int, int]:
        """Return where the table after a number of placements begins, and how many rows it has room for."""
        head = self.table(steps - 1)
        return head.next_base, head.next_room


def table_columns(
    placements: Sequence[Placement], groups: Sequence[Sequence[Term]], whole: bool, tallies: Sequence[TallyWords] = ()
) -> list[list[int]]:
    """Return the positions whose nodes each table must hold: those that later placements or tallies read, or all.

    Example:
      >>> edge, free = PairWords(0, 0, 0), PairWords(-1, 0, 0)
      >>> table_columns([Placement([free]), Placement([edge]), Placement([edge])], [], whole=False)
      [[], [0], [0]]
    """
    count = len(placements)
    earlier = np.tri(count, k=-1, dtype=bool)
    if whole:
        return [np.flatnonzero(row).tolist() for row in earlier]
    reads = np.zeros((count, count + 1), bool)  # position -1, which is none, falls into the last column
    for t, placed in enumerate(placements):
        pairs = np.concatenate([_rows(placed.anchors), _rows(placed.non_neighbours)])
        for positions in (pairs[:, 0], placed.distinct_from, placed.below):
            reads[t, _integers(positions)] = True
        for factor in placed.ahead:
            reads[t, _positions(factor)] = True
    for factor in (factor for group in groups for term in group for factor in term.factors):
        reads[-1, _positions(factor)] = True
    reads[-1, [position for tally in tallies for position in (tally.slot, tally.of)]] = True
    # Look-ahead also reads the new node, which needs no column.
    reads[:, :-1] &= earlier
    # A column is needed from where its node is placed up to the last table that reads it.
    later = np.logical_or.accumulate(reads[::-1, :-1])[::-1]
    return [np.flatnonzero(row).tolist() for row in later & earlier]


def table_widths(columns: Sequence[Sequence[int]], whole: bool) -> np.ndarray:
    """Return how many columns each table but the first has, int64; with ``whole`` the last one holds matches."""
    return np.array([*map(len, columns[1:]), *([len(columns)] if whole else [])], np.int64)


def build_program(
    placements: Sequence[Placement],
    groups: Sequence[Sequence[Term]] = (),
    tallies: Sequence[TallyWords] = (),
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
      placements: the conditions on each node of the order.
      groups: leaves to be counted in closed form, each group as its terms.
      tallies: the nodes by which matches are added up, for a search with ``Sizes.cells``.
      rooms: rows that each table but the first has room for; a step fills at most two thirds of them.
      stride: words of a row of a bit matrix.
      longest: entries of the longest candidate list.
      first_steps: how many steps :func:`jaxmotif.search._loop.begin` takes at most.
      first_work: the work after which it ends, if that comes sooner.
      bitmap: whether the search reads bit matrices, which makes its tests cheaper than binary searches.
      whole: keep the nodes of all positions, and append the matches to one more table instead of counting them.
      columns: the result of :func:`table_columns`, where the caller has it.

    Raises:
      ValueError: for tables beyond the int32 limit.
    """
    count = len(placements)
    columns = table_columns(placements, groups, whole, tallies) if columns is None else columns
    rooms, bases = _table_places(columns, rooms, whole)
    code = _Writer(layout.table_place(count))
    most_rows = max(1, (2**31 - 1) // max(1, longest))  # the positions of all their candidates have 31 bits
    halvings = max(1, int(longest).bit_length())
    code.put(0, layout.SearchWords(stride, halvings, count, most_rows, first_steps, first_work))
    for t, placed in enumerate(placements):
        slot = np.full(count + 1, -1)  # the last entry belongs to position -1, which is none
        slot[columns[t]] = np.arange(len(columns[t]))
        last = t == count - 1
        next_columns: Sequence[int] = ()
        if not last:
            next_columns = columns[t + 1]
        elif whole:
            next_columns = range(count)
        tests, ahead = code.add_tests(placed, slot, next_columns), code.add_factors(placed.ahead, slot)
        leaves = code.add_groups(groups if last else (), slot)
        added = code.add_tallies(tallies if last else (), slot)
        places = (bases[t], bases[t + 1], rooms[t], rooms[t + 1], int(last and not whole))
        cost = candidate_cost(placed, groups if last else (), 1 if bitmap else halvings) + len(next_columns)
        code.put(layout.table_place(t), (*tests, *places, *leaves, *ahead, *added, cost))  # in the order of TableWords
    return Program(code.array(), count, bases[-1], columns)


def candidate_cost(placement: Placement, groups: Sequence[Sequence[Term]], adjacency: int) -> int:
    """Estimate how many words are read to test one candidate, and to count the leaves if it survives.

    Args:
      placement: the conditions on the node.
      groups: leaves to be counted in closed form, as for :func:`build_program`.
      adjacency: words read to see whether two nodes are joined.
    """
    tested = max(len(placement.anchors) - 1, 0) + len(placement.non_neighbours)
    factors = [*placement.ahead, *(factor for group in groups for term in group for factor in term.factors)]
    met = 0
    for factor in factors:
        met += factor.leaves * FACTOR_COST
        if factor.words:  # bit rows are intersected word by word, and once more for each node in use
            met += len(factor.sets) * (factor.words + len(factor.used))
        else:  # a single set: the length of a list, less the nodes in use that are in it
            met += 2 + len(factor.used) * (1 + adjacency)
    return min(2 + len(placement.anchors) + len(placement.distinct_from) + tested * adjacency + met, MOST_COST)


def _table_places(
    columns: Sequence[Sequence[int]], rooms: Sequence[int] | np.ndarray, whole: bool
) -> tuple[list[int], list[int]]:
    """Return how many rows each table has room for, and where each begins in the entries, then where the last ends."""
    # Table 0 is one row without columns. Matches that are only counted need no table, so the room is unlimited.
    rooms = [1, *(int(room) for room in rooms[: len(columns) - 1 + whole]), *([] if whole else [2**31 - 1])]
    widths = [0, *table_widths(columns, whole).tolist(), *([] if whole else [0])]
    bases = np.cumsum([0, *(room * width for room, width in zip(rooms, widths, strict=True))]).tolist()
    # Places are int32, and lanes without a row write to one spare entry.
    if bases[-1] >= 2**31 - 1:
        raise ValueError(f"tables of {bases[-1]} entries are over the limit of {2**31 - 2}; use smaller blocks")
    return rooms, bases


def _integers(values: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.asarray(values, np.int64)


def _rows(pairs: Sequence[PairWords] | np.ndarray) -> np.ndarray:
    """Return pairs as int64 ``[P, 3]``."""
    return np.asarray(pairs, np.int64).reshape(-1, 3)


def _positions(factor: Factor) -> list[int]:
    """Return the positions whose nodes a factor reads."""
    return [*(item.slot for item in factor.sets), *factor.used]


class _Writer:
    """A writer of a program.

    Records that are added are named by two words, their number and where they start. So inner records are added first,
    and outer ones point to them.
    """

    def __init__(self, size: int):
        self._words = [0] * size

    def array(self) -> np.ndarray:
        """Return the program as an array."""
        return np.array(self._words, np.int32)

    def put(self, place: int, record: tuple) -> None:
        """Write a record over the words at a place."""
        self._words[place : place + len(record)] = record

    def add(self, records: Iterable[Sequence[int]]) -> tuple[int, int]:
        """Add records, and return the words that name them."""
        records, start = list(records), len(self._words)
        for record in records:
            self._words += record
        return len(records), start

    def add_words(self, words: np.ndarray) -> tuple[int, int]:
        """Add records of one word, int64 ``[R]``, or of several, ``[R, W]``, and return the words that name them."""
        start = len(self._words)
        self._words += words.reshape(-1).tolist()
        return len(words), start

    def add_tests(self, placed: Placement, slot: np.ndarray, next_columns: Sequence[int]) -> list[int]:
        """Add the conditions on a node, and the slots to append, in the order of :class:`TableWords`."""

        def pairs(items: Sequence[PairWords] | np.ndarray) -> np.ndarray:
            rows = _rows(items).copy()
            # Position -1 reads the last entry, which is slot -1.
            rows[:, 0] = slot[rows[:, 0]]
            return rows

        lists = (
            pairs(placed.anchors),
            slot[_integers(placed.distinct_from)],
            slot[_integers(placed.below)],
            pairs(placed.non_neighbours),
            slot[_integers(next_columns)],
        )
        return [word for words in lists for word in self.add_words(words)]

    def add_groups(self, groups: Sequence[Sequence[Term]], slot: np.ndarray) -> tuple[int, int]:
        """Add groups of leaves."""
        records = []
        for group in groups:
            terms = [layout.TermWords(term.coefficient, *self.add_factors(term.factors, slot)) for term in group]
            records.append(layout.GroupWords(*self.add(terms)))
        return self.add(records)

    def add_factors(self, factors: Sequence[Factor], slot: np.ndarray) -> tuple[int, int]:
        """Add factors."""
        return self.add([self.add_factor(factor, slot) for factor in factors])

    def add_tallies(self, tallies: Sequence[TallyWords], slot: np.ndarray) -> list[int]:
        """Add the tallies of nodes of the rows, of pairs of these, of the new node, and of pairs with it."""
        kinds: list[list[TallyWords]] = [[], [], [], []]  # in the order of TableWords
        for tally in tallies:
            is_pair = tally.of >= 0
            words = tally._replace(slot=int(slot[tally.slot]), of=int(slot[tally.of]))
            # The new node has no slot yet.
            has_new = words.slot < 0 or (is_pair and words.of < 0)
            kinds[2 * has_new + is_pair].append(words)
        return [word for records in kinds for word in self.add(records)]

    def add_factor(self, factor: Factor, slot: np.ndarray) -> layout.FactorWords:
        """Add the sets of a factor, and return the factor's words."""
        sets = [item._replace(slot=int(slot[item.slot])) for item in factor.sets]
        used = [(int(slot[position]),) for position in factor.used]
        return layout.FactorWords(
            *self.add(sets), *self.add(used), factor.words, factor.ranks, factor.less, factor.leaves
        )
