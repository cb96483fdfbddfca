"""Programs of the level search: what each level tests, as data for one kernel (host)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.kernels import lanes


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
class Step:
    """How the next node of the order is placed.

    Attributes:
      anchors: pairs that must be adjacent (at least one; the shortest of their lists is expanded), also as integers
        ``[A, 3]``.
      apart: earlier positions it must differ from.
      below: earlier positions whose nodes must have lower ids.
      strangers: pairs that must not be adjacent, also as integers ``[S, 3]``.
      ahead: blocks, on nodes up to this one, that must not be empty; searched with ``Sizes.ahead`` alone.
    """

    anchors: Sequence[Pair] | np.ndarray
    apart: Sequence[int] | np.ndarray = ()
    below: Sequence[int] | np.ndarray = ()
    strangers: Sequence[Pair] | np.ndarray = ()
    ahead: Sequence[Block] = ()


class LeafSet(NamedTuple):
    """Candidates of a leaf: those of its pair, as a list and as bit rows, in its domain (word place and bit); or, not
    ``inside``, the others of the domain."""

    pair: Pair
    rows: int
    domain: int
    bit: int
    inside: bool = True


class Block(NamedTuple):
    """The intersection of sets without the nodes at ``used`` positions, and ``less`` fewer; words of the bit rows and
    place of the ranks."""

    sets: Sequence[LeafSet]
    used: Sequence[int]
    words: int
    ranks: int
    less: int = 0


class Term(NamedTuple):
    coefficient: int
    blocks: Sequence[Block]


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A search as data.

    Attributes:
      code: int32 ``[P]`` (:mod:`jaxmotif.kernels.lanes`).
      tables: how many tables are expanded, one for each step.
      entries: int32 entries all tables take.
      columns: of each table expanded, the positions whose nodes it holds.
    """

    code: np.ndarray
    tables: int
    entries: int
    columns: list[list[int]]


def table_columns(steps: Sequence[Step], groups: Sequence[Sequence[Term]], whole: bool) -> list[list[int]]:
    """The positions whose nodes each table must hold: those that a later step reads, or all.

    Example:
      >>> edge, free = Pair(0, 0, 0), Pair(-1, 0, 0)
      >>> table_columns([Step([free]), Step([edge]), Step([edge])], [], whole=False)
      [[], [0], [0]]
    """
    count = len(steps)
    earlier = np.tri(count, k=-1, dtype=bool)  # of the new node's table: it is at hand itself
    if whole:
        return [np.flatnonzero(row).tolist() for row in earlier]
    reads = np.zeros((count, count + 1), bool)  # the last column takes what is no position
    for t, step in enumerate(steps):
        for positions in (_rows(step.anchors)[:, 0], _rows(step.strangers)[:, 0], step.apart, step.below):
            reads[t, _integers(positions)] = True
        for block in step.ahead:
            reads[t, _positions(block)] = True
    for term in (term for group in groups for term in group):
        for block in term.blocks:
            reads[-1, _positions(block)] = True
    reads[:, :-1] &= earlier
    later = np.logical_or.accumulate(reads[::-1, :-1])[::-1]
    return [np.flatnonzero(row).tolist() for row in later & earlier]


def _integers(values: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.asarray(values, np.int64)


def _rows(pairs: Sequence[Pair] | np.ndarray) -> np.ndarray:
    """Pairs as int64 ``[P, 3]``."""
    return np.asarray(pairs, np.int64).reshape(-1, 3)


def _positions(block: Block) -> list[int]:
    return [*(item.pair.position for item in block.sets), *block.used]


def build_program(
    steps: Sequence[Step],
    groups: Sequence[Sequence[Term]] = (),
    *,
    rooms: Sequence[int],
    stride: int,
    longest: int,
    first_steps: int = 0,
    whole: bool = False,
) -> Program:
    """Write a program.

    Args:
      steps: one for each node of the order.
      groups: leaves to be counted in closed form, each group as its terms.
      rooms: rows that each table but the first has room for; of these, a step fills at most two thirds.
      stride: words of a row of a bit matrix.
      longest: entries of the longest candidate list.
      first_steps: how many steps :func:`jaxmotif.search.begin` takes.
      whole: keep the nodes of all positions, and append the matches to one more table instead of counting them.

    Raises:
      ValueError: tables beyond the int32 limit.
    """
    count = len(steps)
    columns = table_columns(steps, groups, whole)
    rooms = [1, *(int(room) for room in rooms[: count - 1 + whole]), *([] if whole else [2**31 - 1])]
    widths = [*map(len, columns), count * whole]
    bases = np.cumsum([0, *(room * width for room, width in zip(rooms, widths, strict=True))])
    if bases[-1] >= 2**31 - 1:
        raise ValueError(f"tables of {bases[-1]} entries are over the limit of {2**31 - 2}; use smaller blocks")
    code = _Writer(lanes.HEADER * (1 + count))
    code[lanes.STRIDE], code[lanes.SEARCH_STEPS] = stride, max(1, int(longest).bit_length())
    code[lanes.NUM_TABLES], code[lanes.MOST_ROWS] = count, max(1, (2**31 - 1) // max(1, longest))
    code[lanes.FIRST_STEPS] = first_steps
    for t, step in enumerate(steps):
        head = lanes.HEADER * (1 + t)
        slot = np.full(count + 1, -1)  # the last is that of no position
        slot[columns[t]] = np.arange(len(columns[t]))
        last = t == count - 1

        def pairs(items: Sequence[Pair] | np.ndarray, slot=slot) -> np.ndarray:
            rows = _rows(items).copy()
            rows[:, 0] = slot[rows[:, 0]]
            return rows

        kept = columns[t + 1] if not last else range(count) if whole else ()
        for number, pointer, values in (
            (lanes.NUM_ANCHORS, lanes.ANCHORS, pairs(step.anchors)),
            (lanes.NUM_APART, lanes.APART, slot[_integers(step.apart)]),
            (lanes.NUM_BELOW, lanes.BELOW, slot[_integers(step.below)]),
            (lanes.NUM_STRANGERS, lanes.STRANGERS, pairs(step.strangers)),
            (lanes.NUM_COLUMNS, lanes.COLUMNS, slot[_integers(kept)]),
        ):
            code[head + number], code[head + pointer] = len(values), code.add(values.reshape(-1).tolist())
        code[head + lanes.BASE], code[head + lanes.NEXT_BASE] = int(bases[t]), int(bases[t + 1])
        code[head + lanes.ROOM], code[head + lanes.NEXT_ROOM] = rooms[t], rooms[t + 1]
        code[head + lanes.IS_LAST] = int(last and not whole)
        blocks = [_write_block(code, block, slot) for block in step.ahead]
        code[head + lanes.NUM_AHEAD], code[head + lanes.AHEAD] = len(blocks), code.add([x for b in blocks for x in b])
        if last:
            code[head + lanes.NUM_GROUPS], code[head + lanes.GROUPS] = len(groups), _write_groups(code, groups, slot)
    return Program(code.array(), count, int(bases[-1]), columns)


def _write_block(code: _Writer, block: Block, slot: np.ndarray) -> list[int]:
    def words(item: LeafSet) -> list[int]:
        position, place, matrix = item.pair
        return [int(slot[position]), place, matrix, item.rows, item.domain, item.bit, 0 if item.inside else -1]

    sets = code.add([x for s in block.sets for x in words(s)])
    used = code.add([int(slot[position]) for position in block.used])
    return [len(block.sets), sets, len(block.used), used, block.words, block.ranks, block.less]


def _write_groups(code: _Writer, groups: Sequence[Sequence[Term]], slot: np.ndarray) -> int:
    """Inner lists first, so that outer ones can point to them."""

    def term(item: Term) -> list[int]:
        blocks = [_write_block(code, block, slot) for block in item.blocks]
        return [item.coefficient, len(blocks), code.add([x for b in blocks for x in b])]

    heads = []
    for group in groups:
        terms = [term(item) for item in group]
        heads += [len(terms), code.add([x for t in terms for x in t])]
    return code.add(heads)


class _Writer:
    def __init__(self, size: int):
        self._values = [0] * size

    def __setitem__(self, index: int, value: int) -> None:
        self._values[index] = value

    def add(self, values: Sequence[int]) -> int:
        """Append; returns where they start."""
        start = len(self._values)
        self._values += values
        return start

    def array(self) -> np.ndarray:
        return np.array(self._values, np.int32)
