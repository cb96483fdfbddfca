"""Parts of a file format: its entry in the registry, its reader and options, and what the reader returns."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from jaxmotif.io._table import Numbering
from jaxmotif.io._text import COMMENTS, TextFile

INT32_MAX = 2**31 - 1
ID = "a non-negative integer id (text_ids=True takes any text)"
SAMPLE = 64
"""The number of rows that recognising a format looks at."""
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,9}")

NodeNames = np.ndarray | Callable[[np.ndarray], np.ndarray]
"""The names of ids: an array, or, if an array of all names would be long, a function from ids to names."""


class Options(NamedTuple):
    """Options of reading a file; :func:`jaxmotif.read_graph` explains them."""

    columns: Sequence[int | str] | None = None
    edge_label: int | str | None = None
    node_label: str | None = None
    text_ids: bool = False
    attributes: bool = False
    shared: Labels | None = None

    def labels(self) -> Labels:
        """Return an object that numbers labels: on its own, or with numbers that several files share."""
        return Labels() if self.shared is None else self.shared


class LabelColumn(NamedTuple):
    """Labels as numbers, and the words that they stand for (``None``: the numbers are the labels)."""

    values: np.ndarray
    names: Mapping[int, str] | None = None


class Labels:
    """Labels of nodes or edges. If all are integers that fit int32, they keep their values; else they are numbered.

    Words are numbered in their order as text, or through the ``known`` dict in the order in which they come.
    """

    def __init__(self, known: dict[str, int] | None = None):
        self.shared = known is not None
        self.numbering = Numbering(known)

    def column(self, codes: np.ndarray) -> LabelColumn:
        """Return the labels that the codes of ``numbering`` stand for."""
        words = self.numbering.known
        if self.shared:
            return LabelColumn(codes, {code: word for word, code in words.items()})
        if all(_INTEGER.fullmatch(word) and abs(int(word)) <= INT32_MAX for word in words):
            return LabelColumn(np.array([int(word) for word in words] or [0], np.int64)[codes])
        rank = {word: place for place, word in enumerate(sorted(words))}
        values = np.array([rank[word] for word in words] or [0], np.int64)[codes]
        return LabelColumn(values, {place: word for word, place in rank.items()})

    def of(self, words: Sequence[str]) -> LabelColumn:
        """Return the labels of words."""
        return self.of_bytes([word.encode(errors="surrogatepass") for word in words])

    def of_bytes(self, words: Sequence[bytes]) -> LabelColumn:
        """Return the labels of words as they stand in a file."""
        return self.column(self.numbering.codes(words))


class Contents(NamedTuple):
    """The contents of a file.

    Attributes:
      edges: int64 ``[m, 2]``.
      num_nodes: the declared number of nodes, with ids 0..num_nodes-1; ``None``: the nodes are the ids that occur.
      directed: whether the file says directed; ``None`` when it does not say.
      undirected: bool ``[m]``, the edges that are known to have no direction, in a file that says directed or says
        nothing; ``None`` for none of them.
      header: the names of all columns of a table, also of the ends; ``None`` if it has no names.
      names: the name of each id, where it is not the id itself.
      node_labels, edge_labels: a label for each id and for each edge.
      node_columns, edge_columns: all attributes of the ids and of the edges, if they were asked for: text or values,
        with ``None`` or ``""`` for a missing one.
      notes: messages for the user about parts of the file that were not used, and about guesses.
      format: the name of the format, if it was only recognised while the file was read.
    """

    edges: np.ndarray
    num_nodes: int | None = None
    directed: bool | None = None
    names: NodeNames | None = None
    node_labels: LabelColumn | None = None
    edge_labels: LabelColumn | None = None
    node_columns: Mapping[str, Sequence[Any]] | None = None
    edge_columns: Mapping[str, Sequence[Any]] | None = None
    notes: tuple[str, ...] = ()
    format: str = ""
    undirected: np.ndarray | None = None
    header: Sequence[str] | None = None

    def with_undirected(self, undirected: np.ndarray) -> Contents:
        """Return these contents with the edges marked whose kind has no direction: where all are, the file says so."""
        if undirected.all() and len(undirected):
            return self._replace(directed=False)
        if not undirected.any():
            return self
        count = np.count_nonzero(undirected)
        note = f"directed and undirected edges mixed: {count} undirected ones are arcs both ways"
        return self._replace(undirected=undirected, notes=(*self.notes, *([note] if self.directed else [])))


class Sample:
    """The beginning of a file, by which its format is recognised; looking at it consumes nothing of the file."""

    def __init__(self, file: TextFile):
        self.file = file
        self.path = file.path
        self.magic = file.magic()

    @cached_property
    def head(self) -> bytes:
        """Return the first block of the text."""
        return self.file.head()[0]

    @cached_property
    def whole(self) -> bool:
        """Tell whether ``rows`` holds all of the file."""
        return self.file.head()[1] and len(self.rows) < SAMPLE

    @cached_property
    def first(self) -> bytes:
        """Return the first line."""
        return self.head.split(b"\n", 1)[0]

    @cached_property
    def lines(self) -> list[bytes]:
        """Return the first rows that are neither blank nor comments."""
        _ = self.first, self.head  # these are of the first block, and looking for rows may leave it behind
        return self.file.first_rows(SAMPLE)

    @cached_property
    def rows(self) -> list[list[bytes]]:
        """Return the words of ``lines``."""
        return [line.split() for line in self.lines]

    def has_suffix(self, suffixes: Sequence[str]) -> bool:
        """Tell whether the name of the file, without ``.gz``, ends in one of these."""
        name = os.fspath(self.path).lower().removesuffix(".gz")
        return name.endswith(tuple(suffixes))


class Reader(NamedTuple):
    """The part of a file format that is code.

    Attributes:
      read: a function that reads a file with some options; ``None`` if the format is known only to be refused by name.
      fits: a function that returns whether a file looks like this format; ``None`` if files have this format when no
        other one fits.
      looks: the part of a file that ``fits`` looks at: its first bytes, its text, or its rows. Formats that look at
        rows are tried only on files that would otherwise be tables of edges.
    """

    read: Callable[[TextFile, Options], Contents] | None
    fits: Callable[[Sample], bool] | None
    looks: Literal["bytes", "text", "rows"] = "text"


class Format(NamedTuple):
    """A file format, as help, messages, recognition and the documentation know it.

    Attributes:
      name: its name in ``format=`` and ``--input-format``.
      suffixes: usual endings of file names, which decide if two formats fit.
      nodes: which nodes the graph has.
      content: one line on what stands in such a file.
      remedy: for a format that is not read, what to do instead.
      read, fits, looks: as for a :class:`Reader`.
    """

    name: str
    suffixes: tuple[str, ...]
    nodes: str
    content: str
    remedy: str
    read: Callable[[TextFile, Options], Contents] | None
    fits: Callable[[Sample], bool] | None
    looks: Literal["bytes", "text", "rows"]


def passed_over(what: str, names: Sequence[str], remedy: str = "") -> tuple[str, ...]:
    """Return the note on columns or attributes that are not read, if there are any."""
    if not names:
        return ()
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return (f"passed over: {what} {shown}{remedy}",)


_UNDIRECTED = {"pp", "interacts-with", "in-complex-with", "neighbor-of", "reacts-with"}


def is_undirected(kind: object) -> bool:
    """Tell whether interactions of a kind have no direction by convention.

    These are Cytoscape's ``pp`` (protein with protein) and the undirected kinds of Pathway Commons' SIF.
    """
    return isinstance(kind, str) and kind.lower() in _UNDIRECTED


def one_based(ids: np.ndarray) -> np.ndarray:
    """Return the names of ids that the file counts from 1."""
    return ids + 1


def uncommented(head: bytes, comments: tuple[bytes, ...] = COMMENTS) -> bytes:
    """Return a head without the blank and comment lines at its beginning."""
    start = 0
    while start < len(head):
        end = head.find(b"\n", start)
        line = head[start:end].strip()
        if line and not line.startswith(comments):
            break
        start = end + 1
    return head[start:]
