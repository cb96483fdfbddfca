"""What a search reads: the words of a program by name, and how a lane of a step reads programs, tables and lists.

What to test is data: int32 programs, read by one kernel that serves every level and query. A program is made of
records, each a row of words named by a ``NamedTuple`` here: the writer (:mod:`jaxmotif.search._program`) fills these,
the readers ask a :class:`Reader` for them, and neither knows an offset. It starts with the :class:`SearchWords`; then
come the :class:`TableWords` of each table, which say where the other records stand.

Three kinds of places occur in records. A *slot* is a column of the rows expanded (-1: the new node, which is in no
column yet, or no node at all); a *list* is the place of a node's candidate list in ``offsets``, when the node is added
to it; a *matrix* is the place of a bit matrix in ``bitmap``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.kernels import _expand as ex
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._launch import load

Word = Any
"""An int32 scalar: a Python integer when written, a traced one when read."""


class SearchWords(NamedTuple):
    """The words of the whole search.

    Attributes:
      stride: words of a bit matrix row.
      halvings: of a binary search in the longest list.
      tables: how many are expanded.
      most_rows: rows that a window may have.
      first_steps, first_work: steps of the first dispatch, and the work after which it ends before these.
    """

    stride: Word
    halvings: Word
    tables: Word
    most_rows: Word
    first_steps: Word
    first_work: Word


class TableWords(NamedTuple):
    """Of a table expanded: how many records there are of a kind, and where they start.

    Attributes:
      anchors: :class:`PairWords` that allow candidates: the new node must fulfil all, and is taken from the shortest.
      distinct_from, below: slots whose nodes the new one must differ from, or exceed.
      non_neighbours: :class:`PairWords` that the new node must not fulfil.
      columns: slots to append to the next table.
      base, room: the table's first entry, and the rows it has room for; ``next_base``, ``next_room``: the next one's.
      is_last: whether matches are counted here instead of appended.
      groups: :class:`GroupWords` of the leaves.
      ahead: :class:`FactorWords` that must not be zero.
      row_nodes, row_pairs: :class:`TallyWords` of nodes of the rows expanded, and of pairs of these; lane_nodes,
        lane_pairs: of the new node, and of pairs with it (of the last table).
      cost: words read to test one candidate, about: the unit of the work that a slice of a search is measured in.
    """

    num_anchors: Word
    anchors: Word
    num_distinct_from: Word
    distinct_from: Word
    num_below: Word
    below: Word
    num_non_neighbours: Word
    non_neighbours: Word
    num_columns: Word
    columns: Word
    base: Word
    next_base: Word
    room: Word
    next_room: Word
    is_last: Word
    num_groups: Word
    groups: Word
    num_ahead: Word
    ahead: Word
    num_row_nodes: Word
    row_nodes: Word
    num_row_pairs: Word
    row_pairs: Word
    num_lane_nodes: Word
    lane_nodes: Word
    num_lane_pairs: Word
    lane_pairs: Word
    cost: Word


class PairWords(NamedTuple):
    """A pair of the new node with the node of a slot: its candidate list and its bit matrix."""

    slot: Word
    list: Word
    matrix: Word


class GroupWords(NamedTuple):
    """Leaves that compete for nodes: the terms (:class:`TermWords`) that add up to the ways to map them."""

    num_terms: Word
    terms: Word


class TermWords(NamedTuple):
    """A product: of a coefficient and factors (:class:`FactorWords`)."""

    coefficient: Word
    num_factors: Word
    factors: Word


class FactorWords(NamedTuple):
    """The size of an intersection of sets (:class:`SetWords`) without the nodes of the slots ``used``, and ``less``
    fewer, for so many ``leaves``; bit rows of so many ``words``, over the numbering that starts at ``ranks``."""

    num_sets: Word
    sets: Word
    num_used: Word
    used: Word
    words: Word
    ranks: Word
    less: Word
    leaves: Word


class SetWords(NamedTuple):
    """Candidates of a node next to the node of a slot, as a list and as bit ``rows``; the place of the word of its
    ``domain`` and the ``bit`` there; ``flip`` is -1 for the complement of the set, else 0."""

    slot: Word
    list: Word
    matrix: Word
    rows: Word
    domain: Word
    bit: Word
    flip: Word


class TallyWords(NamedTuple):
    """Where matches are added up: by nodes, in the cell at ``base`` and the node of a ``slot`` further; by pairs, in
    that at ``base`` and the place in ``entries`` further, of the slot's node in the ``list`` of that of ``of``."""

    slot: Word
    list: Word
    of: Word
    base: Word


Record = TypeVar("Record", bound=tuple)
T = TypeVar("T")


def record_size(kind: type[Record]) -> int:
    """Words of a record."""
    return len(kind._fields)  # pyright: ignore[reportAttributeAccessIssue]


def table_place(table: int | np.ndarray | jax.Array) -> Any:
    """Where a table's :class:`TableWords` stand."""
    return record_size(SearchWords) + table * record_size(TableWords)


class _Named:
    """A record whose words are read where they are named."""

    def __init__(self, read: Callable[[Any], Any], at: int | jax.Array, fields: tuple[str, ...]):
        self._read, self._at, self._fields = read, at, fields

    def __getattr__(self, name: str) -> Any:
        if name not in self._fields:
            raise AttributeError(name)
        # A field's offset is its place in the NamedTuple: readers and the writer share that and nothing else.
        return self._read(self._at + self._fields.index(name))


def read_record(read: Callable[[Any], Any], kind: type[Record], at: int | jax.Array) -> Record:
    """The record at a place of a program; ``read(place)`` gives a word, when it is asked for by name."""
    # A reader sees the record itself: each word is loaded where, and only if, it is asked for.
    return cast(Record, _Named(read, at, kind._fields))  # pyright: ignore[reportAttributeAccessIssue]


class Operands(NamedTuple):
    """What a search reads, int32 arrays of one axis.

    Attributes:
      program: records (see above).
      offsets, entries: candidate lists: those of node u at ``list`` are ``entries[offsets[list + u] : offsets[list + u
        + 1]]``, ascending.
      bitmap: bit matrices: bit ``w % 32`` of word ``matrix + u stride + w // 32``.
      domains: bit ``x % 32`` of word ``(x // 32) N + u``: whether query node x may map to u.
      leaf_rows: bit rows over a numbering of few nodes; leaf_ranks: the numberings, 0 for nodes outside.
    """

    program: Any
    offsets: Any
    entries: Any
    bitmap: Any
    domains: Any
    leaf_rows: Any
    leaf_ranks: Any


class Sizes(NamedTuple):
    """What of a search is static, and compiled for.

    Attributes:
      block: most flat positions a step. window: rows looked at for a step.
      bitmap: whether there are bit matrices.
      ahead: whether the program looks ahead.
      limbs: 32-bit words of the ways to map the leaves of one partial match; 0 if no program has leaves.
      in_order: whether survivors keep the order of their flat positions.
      cells: of the tally, in which the program adds up matches by the nodes they have; 0 for none.
    """

    block: int
    window: int
    bitmap: bool
    ahead: bool = False
    limbs: int = 2
    in_order: bool = False
    cells: int = 0


class Columns(NamedTuple):
    """Where a table's columns start: the first, and the stride between them (read once, outside of loops)."""

    first: Any
    stride: Any

    @classmethod
    def of(cls, head: TableWords) -> Columns:
        return cls(head.base, head.room)


class Reader(NamedTuple):
    """How the bodies of a step read: ``load(array, index, where)`` per lane, ``at(array, index)`` one value."""

    load: Callable[..., Any]
    at: Callable[..., Any]
    op: Operands
    table: Any
    sizes: Sizes

    def word(self, place: jax.Array) -> Any:
        return self.at(self.op.program, place)

    def record(self, kind: type[Record], first: int | jax.Array, number: int | jax.Array = 0) -> Record:
        """A record of the program, of several in a row the one of a number."""
        return read_record(self.word, kind, first + record_size(kind) * number)

    def of_table(self, table: jax.Array) -> TableWords:
        return self.record(TableWords, table_place(table))

    @property
    def search(self) -> SearchWords:
        return self.record(SearchWords, 0)

    def column(self, columns: Columns, slot: jax.Array, row: jax.Array, where: jax.Array) -> Any:
        """Column ``slot`` of some rows; lanes left out have any node."""
        return self.load(self.table, columns.first + slot * columns.stride + row, where)

    def column_or(self, columns: Columns, slot: jax.Array, row: jax.Array, new: jax.Array, where: jax.Array) -> Any:
        """The same, or the ``new`` node where the slot is -1."""
        # The slot is one value for all lanes: -1 is made a place that exists, and read by none.
        held = self.column(columns, jnp.maximum(slot, jnp.int32(0)), row, where & (slot >= 0))
        return jnp.where(slot < 0, new, held)

    def adjacent(self, u: jax.Array, w: jax.Array, pair: PairWords | SetWords, where: jax.Array) -> Any:
        """Whether w is in the list of u, int32: by the bit matrix where there is one, else by binary search."""
        if not self.sizes.bitmap:
            return self.listed(u, w, pair.list, where)
        # One word holds 32 nodes' bits: a single read, whatever the degrees.
        word = self.load(self.op.bitmap, pair.matrix + u * self.search.stride + shift_right(w, 5), where)
        return shift_right(word, w & 31) & 1

    def listed(self, u: jax.Array, w: jax.Array, lists: jax.Array, where: jax.Array) -> Any:
        """Whether w is in the list of u, int32."""
        low, end = self.load(self.op.offsets, lists + u, where), self.load(self.op.offsets, lists + u + 1, where)
        low = self.first_from(w, low, end, where, self.search.halvings)
        inside = where & (low < end)
        return (inside & (self.load(self.op.entries, low, inside) == w)).astype(jnp.int32)

    def first_from(self, w: jax.Array, low: jax.Array, end: jax.Array, where: jax.Array, halvings: jax.Array) -> Any:
        """The place of the first of some ascending entries that is at least w."""

        def halve(_, bounds):
            a, b = bounds
            middle = ex.half(a + b)
            active = where & (a < b)
            less = self.load(self.op.entries, middle, active) < w
            return jnp.where(active & less, middle + 1, a), jnp.where(active & ~less, middle, b)

        # As many halvings as the longest list takes, which the program says: no lane is asked whether all are done.
        return loop(halvings, halve, (low, end))[0]


def loop(count: int | jax.Array, body: Callable[[Any, T], T], init: T) -> T:
    return lax.fori_loop(jnp.int32(0), count, body, init)


def shift_right(x: jax.Array, by: int | jax.Array) -> Any:
    # lax asks for a shift of the same shape and type.
    return lax.shift_right_logical(x, jnp.zeros_like(x) + by)


def array_reader(op: Operands, table: jax.Array, sizes: Sizes) -> Reader:
    """Reading arrays, in plain XLA."""
    return Reader(masked_take, take, op, table, sizes)


def kernel_reader(op: Operands, table: jax.Array, sizes: Sizes) -> Reader:
    """Reading the operands of a GPU's kernel."""
    return Reader(load, lambda ref, index: ref[index], op, table, sizes)


def masked_take(array: jax.Array, index: jax.Array, where: jax.Array) -> jax.Array:
    """Gather; lanes left out read entry 0."""
    return take(array, jnp.where(where, index, 0))
