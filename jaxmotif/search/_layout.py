"""The words of a search's program by name, and how a lane of a step reads programs, tables and lists.

What a search tests is data: an int32 program, read by one kernel that serves every level and query. A program is made
of records, each a row of words named by a ``NamedTuple`` here. The writer (:mod:`jaxmotif.search._program`) fills these
tuples, the readers ask a :class:`Reader` for them, and neither knows an offset. A program starts with the
:class:`SearchWords`; then come the :class:`TableWords` of each table, which say where the other records stand.

Three kinds of places occur in records. A *slot* is a column of the rows expanded; slot -1 is the new node, which is in
no column yet, or no node at all. A *list* is the place in ``offsets`` where a family of candidate lists begins; this
place plus the number of a node is the place of the node's own list. A *matrix* is the place of a bit matrix in
``bitmap``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.kernels import _expand as ex
from jaxmotif.kernels._lane_body import Read

Word = Any
"""An int32 scalar: a Python integer when written, a traced one when read."""

Rows = Annotated[Any, "rows"]
"""Records, or slots, in a row: a sequence when written. They are named by two words, which are read as ``num_<name>``,
how many there are, and ``<name>``, where they start."""


class SearchWords(NamedTuple):
    """Words of the whole search.

    Attributes:
      stride: words of a bit matrix row.
      halvings: halvings of a binary search in the longest list.
      tables: how many tables are expanded.
      most_rows: most rows of a window.
      first_steps: most steps of the first dispatch.
      first_work: the work after which the first dispatch ends, if that comes sooner.
    """

    stride: Word
    halvings: Word
    tables: Word
    most_rows: Word
    first_steps: Word
    first_work: Word


class TableWords(NamedTuple):
    """Words of a table that is expanded.

    Attributes:
      anchors: :class:`PairWords` that the new node must satisfy; it is taken from the shortest of their lists.
      distinct_from: slots whose nodes the new node must differ from.
      below: slots whose nodes the new node must exceed.
      non_neighbours: :class:`PairWords` that the new node must not satisfy.
      columns: slots to append to the next table.
      base: the table's first entry.
      next_base: the first entry of the next table.
      room: rows that the table has room for.
      next_room: rows that the next table has room for.
      is_last: whether matches are counted here instead of appended.
      groups: :class:`GroupWords` of the leaves.
      ahead: :class:`FactorWords` that must not be zero.
      row_nodes: :class:`TallyWords` of nodes of the rows (of the last table, as the next three).
      row_pairs: :class:`TallyWords` of pairs of nodes of the rows.
      lane_nodes: :class:`TallyWords` of the new node.
      lane_pairs: :class:`TallyWords` of pairs with the new node.
      cost: about how many words are read to test one candidate, the unit of the work that slices are measured in.
    """

    anchors: Rows
    distinct_from: Rows
    below: Rows
    non_neighbours: Rows
    columns: Rows
    base: Word
    next_base: Word
    room: Word
    next_room: Word
    is_last: Word
    groups: Rows
    ahead: Rows
    row_nodes: Rows
    row_pairs: Rows
    lane_nodes: Rows
    lane_pairs: Rows
    cost: Word


class PairWords(NamedTuple):
    """Words of a pair of the new node with the node of a slot: the place of its lists and of its bit matrix."""

    slot: Word
    list: Word
    matrix: Word


class GroupWords(NamedTuple):
    """Words of leaves that compete for nodes: the terms (:class:`TermWords`) whose sum is the ways to map them."""

    terms: Rows


class TermWords(NamedTuple):
    """Words of a product: a coefficient, and factors (:class:`FactorWords`)."""

    coefficient: Word
    factors: Rows


class FactorWords(NamedTuple):
    """Words of the size of an intersection of sets.

    Attributes:
      sets: the sets (:class:`SetWords`).
      used: slots whose nodes are left out of the intersection.
      words: words of a bit row.
      ranks: where the numbering of the bit rows starts.
      less: subtracted from the size.
      leaves: how many leaves take a node from the intersection; each has one node fewer than the one before.
    """

    sets: Rows
    used: Rows
    words: Word
    ranks: Word
    less: Word = 0
    leaves: Word = 1


class SetWords(NamedTuple):
    """Words of the candidates of a leaf next to the node of a slot.

    Attributes:
      slot: the slot.
      list: the place of the candidates' lists.
      matrix: the place of their bit matrix.
      rows: the place of their bit rows.
      domain: the place of the words of the leaf's domain.
      bit: the bit of the leaf in these words.
      flip: -1 for the complement of the set, else 0.
    """

    slot: Word
    list: Word
    matrix: Word
    rows: Word
    domain: Word
    bit: Word
    flip: Word


class TallyWords(NamedTuple):
    """Words that say in which cells matches are added up.

    For a node, the cell is ``base`` plus the node of ``slot``. For a pair, the cell is ``base`` plus a place in
    ``entries``: that of the node of ``slot`` in the candidate list of the node of slot ``of``, which is one of the
    lists at ``list``.
    """

    slot: Word
    list: Word
    of: Word
    base: Word


T = TypeVar("T")


@functools.cache
def word_names(kind: type[tuple]) -> tuple[str, ...]:
    """Return the names of the words of a record, in order.

    Example:
      >>> word_names(TermWords)
      ('coefficient', 'num_factors', 'factors')
    """
    fields = get_type_hints(kind, include_extras=True).items()
    return tuple(name for field, what in fields for name in ([f"num_{field}"] if what == Rows else []) + [field])


def record_size(kind: type[tuple]) -> int:
    """Return how many words a record has."""
    return len(word_names(kind))


def table_place(table: int | np.ndarray | jax.Array) -> Any:
    """Return the place of a table's :class:`TableWords`."""
    return record_size(SearchWords) + table * record_size(TableWords)


class _Named:
    """A record whose words are read only where they are asked for by name."""

    def __init__(self, read: Callable[[Any], Any], at: int | jax.Array, names: tuple[str, ...]):
        self._read, self._at, self._names = read, at, names

    def __getattr__(self, name: str) -> Any:
        if name not in self._names:
            raise AttributeError(name)
        return self._read(self._at + self._names.index(name))


def read_record(read: Callable[[Any], Any], kind: type[tuple], at: int | jax.Array) -> Any:
    """Return the record at a place of a program; ``read(place)`` loads a word when it is asked for by name."""
    return _Named(read, at, word_names(kind))


class Operands(NamedTuple):
    """The arrays that a search reads, int32 with one axis.

    Attributes:
      program: records (see above).
      offsets: where candidate lists begin and end.
      entries: the candidates of node u among the lists at ``list`` are ``entries[offsets[list + u] : offsets[list + u +
        1]]``, ascending.
      bitmap: bit matrices; node w belongs to bit ``w % 32`` of word ``matrix + u stride + w // 32``.
      domains: bit ``x % 32`` of word ``(x // 32) N + u`` says whether query node x may map to u.
      leaf_rows: bit rows over a numbering of a few nodes.
      leaf_ranks: the numberings, 0 for nodes outside.
    """

    program: Any
    offsets: Any
    entries: Any
    bitmap: Any
    domains: Any
    leaf_rows: Any
    leaf_ranks: Any


class Sizes(NamedTuple):
    """The static part of a search, which its programs are compiled for.

    Attributes:
      block: most flat positions of a step.
      window: rows looked at for a step.
      bitmap: whether there are bit matrices.
      ahead: whether the program looks ahead.
      limbs: 32-bit words of the ways to map the leaves of one partial match; 0 if no program has leaves.
      in_order: whether survivors keep the order of their flat positions.
      cells: cells of the tally, in which the program adds up matches by the nodes they have; 0 for no tally.
    """

    block: int
    window: int
    bitmap: bool
    ahead: bool = False
    limbs: int = 2
    in_order: bool = False
    cells: int = 0


class Columns(NamedTuple):
    """The place of a table's first column, and the distance from each column to the next; read once, outside loops."""

    first: Any
    distance: Any

    @classmethod
    def of(cls, head: Any) -> Columns:
        """Read the columns of a table."""
        return cls(head.base, head.room)


class Reader(NamedTuple):
    """The inputs of a step, and how they are read: from arrays in plain XLA, or from the references of a kernel.

    Attributes:
      read: reads arrays.
      op: the arrays that the search reads.
      table: the entries of all tables.
      sizes: the static sizes of the search.
    """

    read: Read
    op: Operands
    table: Any
    sizes: Sizes

    def load(self, array: jax.Array, index: jax.Array, where: jax.Array) -> Any:
        """Read a value of an array for each lane."""
        return self.read.load(array, index, where)

    def word(self, place: jax.Array) -> Any:
        """Read a word of the program."""
        return self.read.at(self.op.program, place)

    def record(self, kind: type[tuple], first: int | jax.Array, number: int | jax.Array = 0) -> Any:
        """Return record ``number`` of those in a row from place ``first`` of the program on."""
        return read_record(self.word, kind, first + record_size(kind) * number)

    def table_words(self, table: jax.Array) -> Any:
        """Return the words of a table."""
        return self.record(TableWords, table_place(table))

    @property
    def search(self) -> Any:
        """Words of the whole search."""
        return self.record(SearchWords, 0)

    def column(self, columns: Columns, slot: jax.Array, row: jax.Array, where: jax.Array) -> Any:
        """Read column ``slot`` of some rows; lanes outside ``where`` get some node."""
        return self.load(self.table, columns.first + slot * columns.distance + row, where)

    def column_or_new(self, columns: Columns, slot: jax.Array, row: jax.Array, new: jax.Array, where: jax.Array) -> Any:
        """Read a column as :meth:`column` does, or return the ``new`` nodes where the slot is -1."""
        # The slot is the same for all lanes. Slot -1 becomes a place that exists, and no lane reads it.
        nodes = self.column(columns, jnp.maximum(slot, jnp.int32(0)), row, where & (slot >= 0))
        return jnp.where(slot < 0, new, nodes)

    def is_adjacent(self, u: jax.Array, w: jax.Array, pair: PairWords | SetWords, where: jax.Array) -> Any:
        """Return whether w is in the list of u, int32, by the bit matrix if there is one, else by binary search."""
        if not self.sizes.bitmap:
            return self.is_listed(u, w, pair.list, where)
        # A word holds the bits of 32 nodes: one read is enough, whatever the degrees.
        word = self.load(self.op.bitmap, pair.matrix + u * self.search.stride + shift_right(w, 5), where)
        return shift_right(word, w & 31) & 1

    def is_listed(self, u: jax.Array, w: jax.Array, lists: jax.Array, where: jax.Array) -> Any:
        """Return whether w is in the list of u, int32, by binary search."""
        low, end = self.load(self.op.offsets, lists + u, where), self.load(self.op.offsets, lists + u + 1, where)
        low = self.first_from(w, low, end, where, self.search.halvings)
        inside = where & (low < end)
        return (inside & (self.load(self.op.entries, low, inside) == w)).astype(jnp.int32)

    def first_from(self, w: jax.Array, low: jax.Array, end: jax.Array, where: jax.Array, halvings: jax.Array) -> Any:
        """Find the first of some ascending entries that is at least w, and return its place."""

        def halve(_, bounds):
            a, b = bounds
            middle = ex.half(a + b)
            active = where & (a < b)
            less = self.load(self.op.entries, middle, active) < w
            return jnp.where(active & less, middle + 1, a), jnp.where(active & ~less, middle, b)

        # The program says how many halvings the longest list takes, so no lane is asked whether all are done.
        return loop(halvings, halve, (low, end))[0]


def loop(count: int | jax.Array, body: Callable[[Any, T], T], init: T) -> T:
    """Run ``body(i, carry)`` for ``i`` from 0 to ``count - 1``."""
    return lax.fori_loop(jnp.int32(0), count, body, init)


def shift_right(x: jax.Array, bits: int | jax.Array) -> Any:
    """Shift right without sign; lax wants the number of bits in the shape and type of x."""
    return lax.shift_right_logical(x, jnp.zeros_like(x) + bits)
