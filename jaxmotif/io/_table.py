"""Tables of integers and words.

NumPy parses plain blocks at once; other blocks are parsed line by line, which names the line of a mistake.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._present import counted
from jaxmotif.io._text import COMMENTS, TextFile, shown, split_fields

MAX_DIGITS = 18
_ZERO, _BLANK, _NEWLINE = ord("0"), ord(" "), ord("\n")


class Numbering(dict[bytes, int]):
    """The number of each word, by its bytes in a file; a word that is looked up for the first time gets the next one.

    Attributes:
      known: the same numbers, by the word as text.
    """

    def __init__(self, known: dict[str, int] | None = None):
        super().__init__()
        self.known = {} if known is None else known
        self._next = max(self.known.values(), default=-1) + 1

    def __missing__(self, word: bytes) -> int:
        code = self[word] = self.known.setdefault(word.decode(errors="surrogatepass"), self._next)
        self._next += code == self._next
        return code

    def codes(self, words: Sequence[bytes]) -> np.ndarray:
        """Return the numbers of words, int64."""
        return np.fromiter(map(self.__getitem__, words), np.int64, len(words))


class Column(NamedTuple):
    """A column to read.

    Attributes:
      index: its place in the rows.
      what: what it holds, for messages.
      low, high: the range of its integers.
      numbering: numbers its words, where it holds words.
      zeros: whether integers may begin with zeros.
      empty: whether a word may be missing.
    """

    index: int
    what: str
    low: int = 0
    high: int | None = None
    numbering: Numbering | None = None
    zeros: bool = True
    empty: bool = False

    def problem(self, field: bytes) -> str | None:
        """Return what is wrong with a field, or ``None``."""
        if self.numbering is not None:
            return None if field or self.empty else f"expected {self.what}, found '' in"
        digits = field.isdigit() and len(field) <= MAX_DIGITS
        if not digits or not (self.zeros or len(field) == 1 or field[:1] != b"0"):
            return f"expected {self.what}, found {shown(field)} in"
        if int(field) >= self.low and (self.high is None or int(field) <= self.high):
            return None
        wanted = (
            f"{self.what} in {self.low}..{self.high}" if self.high is not None else f"{self.what} from {self.low} on"
        )
        return f"expected {wanted}, found {int(field)} in"


def read_table(
    file: TextFile,
    width: int,
    columns: Sequence[Column],
    *,
    delimiter: bytes = b"",
    rows: int | None = None,
    comments: tuple[bytes, ...] = COMMENTS,
) -> np.ndarray:
    """Return the chosen columns of the rest of a file, int64 ``[rows, columns]``; blank lines and comments are skipped.

    Args:
      file: where to read.
      width: the number of columns that every row must have.
      columns: the columns to return.
      delimiter: ``b""`` for any run of blanks, else one byte between fields, which may be quoted.
      rows: the number of rows that the file's header declares, if it does.
      comments: what a comment line begins with.

    Raises:
      GraphFileError: a row is not of this form, or there are more or fewer than declared; names the line.
    """
    parts = [np.zeros((0, len(columns)), np.int64)]
    total = 0
    layout = _Layout(width, columns, delimiter, comments)
    for first, block in file.blocks():
        part = layout.read_plain(block)
        if part is None or (rows is not None and total + len(part) > rows):
            part = layout.read_lines(file, first, block, rows, total)
        total += len(part)
        parts.append(part)
    if rows is not None and total < rows:
        raise file.error(f"the header declares {rows} edges, but the file ends after {total}", max(file.line, 1))
    return np.concatenate(parts)


class _Layout(NamedTuple):
    """The layout of a table, as for :func:`read_table`."""

    width: int
    columns: Sequence[Column]
    delimiter: bytes
    comments: tuple[bytes, ...]

    def read_plain(self, block: bytes) -> np.ndarray | None:
        """Return the columns of a block whose rows are plain, or ``None`` where lines must be looked at one by one."""
        if b'"' in block:
            return None
        if b"\r" in block:  # one byte is found much sooner than two
            block = block.replace(b"\r\n", b"\n")
        if not any(mark in block for mark in self.comments):
            table = self._read_tidy(block)
            if table is not None:
                return table
        lines = []
        for line in block.split(b"\n"):
            if line.strip() and not line.lstrip().startswith(self.comments):
                fields = [field.strip() for field in line.split(self.delimiter)] if self.delimiter else line.split()
                lines.append((self.delimiter or b" ").join(fields) + b"\n")
        return self._read_tidy(b"".join(lines))

    def _read_tidy(self, block: bytes) -> np.ndarray | None:
        """Return the columns of a block with one mark between fields and one newline behind each row.

        A block that is not like this gives ``None``.
        """
        if self.delimiter:
            if b" " in block or (self.delimiter != b"\t" and b"\t" in block):
                return None
            block = block.replace(self.delimiter, b" ")
        elif b"\t" in block:
            block = block.replace(b"\t", b" ")
        text = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(text <= _BLANK)
        last = ends[self.width - 1 :: self.width]
        if len(ends) != block.count(b" ") + len(last):  # another control character, which parts no fields
            return None
        if len(ends) != self.width * len(last) or block.count(b"\n") != len(last) or (text[last] != _NEWLINE).any():
            return None
        starts = np.zeros_like(ends)
        np.add(ends[:-1], 1, out=starts[1:])
        table = np.empty((len(last), len(self.columns)), np.int64)
        words: list[bytes] = []
        numbers = _numbers(block, len(ends))
        if numbers is None or any(column.numbering is not None for column in self.columns):
            words = block.replace(b"\n", b" ").split(b" ")[:-1]
        for place, column in enumerate(self.columns):
            here = slice(column.index, None, self.width)
            lengths = ends[here] - starts[here]
            if column.numbering is not None:
                if not column.empty and not lengths.all():
                    return None
                table[:, place] = column.numbering.codes(words[here])
                continue
            values = _numbers(b" ".join(words[here]), len(last)) if numbers is None else numbers[here]
            if values is None or lengths.max(initial=1) > MAX_DIGITS:
                return None
            if not column.zeros and (lengths[text[starts[here]] == _ZERO] > 1).any():
                return None
            if (values < column.low).any() or (column.high is not None and (values > column.high).any()):
                return None
            table[:, place] = values
        return table

    def read_lines(self, file: TextFile, first: int, block: bytes, declared: int | None, before: int) -> np.ndarray:
        """Return the columns of a block, line by line.

        Args:
          file: the file, for errors.
          first: the number of the block's first line.
          block: the lines.
          declared: the number of rows that the file declares, if it does.
          before: the number of rows above the block.

        Raises:
          GraphFileError: a line is not of the form that the columns have.
        """
        picked: list[list[bytes]] = [[] for _ in self.columns]
        for number, line in enumerate(block.split(b"\n")[:-1], first):
            if not line.strip() or line.lstrip().startswith(self.comments):
                continue
            if before + len(picked[0]) == declared:
                raise file.error(f"the header declares {declared} edges, and this line is one more", number, line)
            try:
                fields = split_fields(line, self.delimiter)
            except csv.Error as error:
                raise file.error(f"expected comma-separated fields ({error})", number, line) from None
            if len(fields) != self.width:
                raise file.error(f"expected {counted(self.width, 'column')}, found {len(fields)}", number, line)
            for column, values in zip(self.columns, picked, strict=True):
                if problem := column.problem(fields[column.index]):
                    raise file.error(problem, number, line)
                values.append(fields[column.index])
        arrays = [
            np.array([*map(int, values)], np.int64) if column.numbering is None else column.numbering.codes(values)
            for column, values in zip(self.columns, picked, strict=True)
        ]
        return np.stack(arrays, axis=1)


def _numbers(text: bytes, count: int) -> np.ndarray | None:
    """Return the ``count`` numbers that stand in a text, int64; numbers of more than 63 bits become the largest one.

    If the text has anything else than digits, blanks and newlines, or fewer or more numbers, it is ``None``.
    """
    if text.translate(None, b"0123456789 \n"):
        return None
    values = np.fromstring(text, np.int64, sep=" ")
    return values if len(values) == count else None
