"""Programs of the level search, written on the host: the tests of each level, as data for one kernel.

Nodes are named by their positions in the order. In a finished program records name them by slots
(:mod:`jaxmotif.search._layout`); until a record is written, its fields for slots hold positions instead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmotif.search import _layout as layout
from jaxmotif.search._layout import FactorWords, PairWords, TallyWords, TermWords

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
    ahead: Sequence[FactorWords] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A search as data.

    Attributes:
      code: int32 ``[P]``, records (:mod:`jaxmotif.search._layout`).
      tables: how many tables are expanded, one for each node placed.
      columns: for each table expanded, the positions whose nodes it holds.
      entries: how many int32 entries all tables take.
    """

    code: np.ndarray
    tables: int
    columns: list[list[int]]
    entries: int = 0

    def sized(self, rooms: Sequence[int] | np.ndarray) -> Program:
        """Return the same search, with room for some rows in each table but the first.

        A step fills at most two thirds of them.

        Raises:
          ValueError: for tables beyond the int32 limit.
        """
        # A search that keeps its matches has one table more; the last table's words say so.
        whole = not self.table(self.tables - 1).is_last
        code, (rooms, bases) = self.code.copy(), _table_places(self.columns, rooms, whole)
        at, count = layout.table_place(np.arange(self.tables)), self.tables
        for name, values in (("base", bases), ("next_base", bases[1:]), ("room", rooms), ("next_room", rooms[1:])):
            # The words of tables stand at equal distances: one word of all tables is written at once.
            code[at + layout.word_names(layout.TableWords).index(name)] = values[:count]
        return dataclasses.replace(self, code=code, entries=bases[-1])

    def table(self, number: int) -> Any:
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
    placements: Sequence[Placement],
    groups: Sequence[Sequence[TermWords]],
    whole: bool,
    tallies: Sequence[TallyWords] = (),
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
    groups: Sequence[Sequence[TermWords]] = (),
    tallies: Sequence[TallyWords] = (),
    *,
    stride: int,
    longest: int,
    first_steps: int = 0,
    first_work: int = 2**31 - 1,
    bitmap: bool = True,
    whole: bool = False,
) -> Program:
    """Write a program, which has no room in its tables yet (:meth:`Program.sized`).

    Args:
      placements: the conditions on each node of the order.
      groups: leaves to be counted in closed form, each group as its terms.
      tallies: the nodes by which matches are added up, for a search with ``Sizes.cells``.
      stride: words of a row of a bit matrix.
      longest: entries of the longest candidate list.
      first_steps: how many steps :func:`jaxmotif.search._loop.begin` takes at most.
      first_work: the work after which it ends, if that comes sooner.
      bitmap: whether the search reads bit matrices, which makes its tests cheaper than binary searches.
      whole: keep the nodes of all positions, and append the matches to one more table instead of counting them.
    """
    count = len(placements)
    columns = table_columns(placements, groups, whole, tallies)
    code = _Writer(layout.table_place(count))
    most_rows = max(1, (2**31 - 1) // max(1, longest))  # the positions of all their candidates have 31 bits
    halvings = max(1, int(longest).bit_length())
    code.put(0, (stride, halvings, count, most_rows, first_steps, first_work))
    for t, placed in enumerate(placements):
        slot = np.full(count + 1, -1)  # the last entry belongs to position -1, which is none
        slot[columns[t]] = np.arange(len(columns[t]))
        last = t == count - 1
        # The slots to append, as an array: of many nodes its positions become slots at once.
        appended = np.array(columns[t + 1] if not last else range(count if whole else 0), np.int64)
        leaves = groups if last else ()
        head = layout.TableWords(
            *(placed.anchors, placed.distinct_from, placed.below, placed.non_neighbours, appended),
            *(0, 0, 0, 0, int(last and not whole)),
            *([layout.GroupWords(terms) for terms in leaves], placed.ahead),
            *_tallies_by_kind(tallies if last else (), slot),
            cost=candidate_cost(placed, leaves, 1 if bitmap else halvings) + len(appended),
        )
        code.put(layout.table_place(t), code.words(head, slot))
    return Program(code.array(), count, columns)


def candidate_cost(placement: Placement, groups: Sequence[Sequence[TermWords]], adjacency: int) -> int:
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


def _positions(factor: FactorWords) -> list[int]:
    """Return the positions whose nodes a factor reads."""
    return [*(item.slot for item in factor.sets), *factor.used]


def _tallies_by_kind(tallies: Sequence[TallyWords], slot: np.ndarray) -> list[list[TallyWords]]:
    """Return the tallies of nodes of the rows, of pairs of these, of the new node, and of pairs with it."""
    kinds: list[list[TallyWords]] = [[], [], [], []]  # in the order of TableWords
    for tally in tallies:
        is_pair = tally.of >= 0
        # The new node has no slot yet.
        has_new = slot[tally.slot] < 0 or (is_pair and slot[tally.of] < 0)
        kinds[2 * has_new + is_pair].append(tally)
    return kinds


class _Writer:
    """A writer of a program, which puts slots where records have positions."""

    def __init__(self, size: int):
        self._words = [0] * size

    def array(self) -> np.ndarray:
        """Return the program as an array."""
        return np.array(self._words, np.int32)

    def put(self, place: int, words: Sequence[int]) -> None:
        """Write words over those at a place."""
        self._words[place : place + len(words)] = words

    def words(self, record: Any, slot: np.ndarray) -> list[int]:
        """Return the words of a record, or of a position; the records in a row that it names are added first."""
        if isinstance(record, int | np.integer):
            return [int(slot[record])]
        words: list[int] = []
        for name, value in zip(record._fields, record, strict=True):
            if not isinstance(value, int | np.integer):
                words += self.add(value, slot)
            else:
                words.append(int(slot[value] if name in ("slot", "of") else value))
        return words

    def add(self, records: Sequence[Any] | np.ndarray, slot: np.ndarray) -> tuple[int, int]:
        """Add records in a row, and return the two words that name them: how many there are, and where they start."""
        if isinstance(records, np.ndarray):  # of positions, or of pairs, whose first word is one
            rows = records.copy()
            positions = rows if rows.ndim == 1 else rows[:, 0]
            positions[...] = slot[positions]
            words = rows.reshape(-1).tolist()
        else:
            words = [word for record in records for word in self.words(record, slot)]
        start = len(self._words)
        self._words += words
        return len(records), start
