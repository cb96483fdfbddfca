"""Tables of integers and words: blocks that are plain are parsed by NumPy at once, others line by line, which names the
line of a mistake."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._present import counted
from jaxmotif.io._text import COMMENTS, TextFile, shown, split_fields

MAX_DIGITS = 18
_ZERO, _BLANK, _NEWLINE = ord("0"), ord(" "), ord("\n")


class Numbering:
    """Numbers words in the order in which they first occur, and adds them to ``known``, from text to number."""

    def __init__(self, known: dict[str, int] | None = None):
        self.known = {} if known is None else known
        self._next = max(self.known.values(), default=-1) + 1
        self._codes: dict[bytes, int] = {}

    def codes(self, words: Sequence[bytes]) -> np.ndarray:
        """Return the numbers of words, int64."""
        codes = self._codes
        for word in dict.fromkeys(words):
            if word not in codes:
                codes[word] = self.known.setdefault(word.decode(errors="surrogatepass"), self._next)
                self._next += codes[word] == self._next
        return np.fromiter(map(codes.__getitem__, words), np.int64, len(words))


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

    def holds(self, low: int, high: int) -> bool:
        """Tell whether the integers from ``low`` to ``high`` are in range."""
        return low >= self.low and (self.high is None or high <= self.high)

    def problem(self, field: bytes) -> str | None:
        """Return what is wrong with a field, or ``None``."""
        if self.numbering is not None:
            return None if field or self.empty else f"expected {self.what}, found '' in"
        digits = field.isdigit() and len(field) <= MAX_DIGITS
        if not digits or not (self.zeros or len(field) == 1 or field[:1] != b"0"):
            return f"expected {self.what}, found {shown(field)} in"
        if self.holds(int(field), int(field)):
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
      delimiter: ``b""`` for any run of blanks, else one byte between fields, which may be quoted as in CSV.
      rows: the number of rows that the file's header declares, if it does.
      comments: what a comment line begins with.

    Raises:
      GraphFileError: a row is not of this form, or there are more or fewer than declared; names the line.
    """
    parts = [np.zeros((0, len(columns)), np.int64)]
    total = 0
    for first, block in file.blocks():
        part = _plain_block(block, width, columns, delimiter, comments)
        if part is None or (rows is not None and total + len(part) > rows):
            part = _any_block(file, first, block, width, columns, delimiter, comments, rows, total)
        total += len(part)
        parts.append(part)
    if rows is not None and total < rows:
        raise file.error(f"the header declares {rows} edges, but the file ends after {total}", max(file.line, 1))
    return np.concatenate(parts)


def _plain_block(
    block: bytes, width: int, columns: Sequence[Column], delimiter: bytes, comments: tuple[bytes, ...]
) -> np.ndarray | None:
    """Return the columns of a block whose rows are plain, or ``None`` where the lines must be looked at one by one."""
    if b'"' in block and delimiter:
        return None
    block = _tidy(block, delimiter, comments)
    mark = delimiter or b" "
    text = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero((text == ord(mark)) | (text == _NEWLINE))
    if (
        len(ends) % width
        or block.count(b"\n") * width != len(ends)
        or (text[ends[width - 1 :: width]] != _NEWLINE).any()
    ):
        return None
    starts = np.zeros_like(ends)
    np.add(ends[:-1], 1, out=starts[1:])
    starts, ends = starts.reshape(-1, width), ends.reshape(-1, width)
    table = np.empty((len(ends), len(columns)), np.int64)
    integers = [place for place, column in enumerate(columns) if column.numbering is None]
    if integers:
        values = _integers(text, starts, ends, [columns[place] for place in integers])
        if values is None:
            return None
        table[:, integers] = values
    words = block.replace(b"\n", mark).split(mark) if len(integers) < len(columns) else []
    for place, column in enumerate(columns):
        if column.numbering is not None:
            if not column.empty and (starts[:, column.index] == ends[:, column.index]).any():
                return None
            table[:, place] = column.numbering.codes(words[column.index : len(ends) * width : width])
    return table


def _tidy(block: bytes, delimiter: bytes, comments: tuple[bytes, ...]) -> bytes:
    """Return a block without comments, blank lines and needless blanks: one mark between fields, one newline a row."""
    if b"\r\n" in block:
        block = block.replace(b"\r\n", b"\n")
    if not delimiter and b"\t" in block:
        block = block.replace(b"\t", b" ")
    blanks = (b" ", b"\t") if delimiter else (b"  ", b" \n", b"\n ", b"\r", b"\v", b"\f")
    untidy = block[:1].isspace() or any(other in block for other in (b"\n\n", *blanks) if other != delimiter)
    if not untidy and not any(mark in block for mark in comments):
        return block
    lines = []
    for line in block.split(b"\n"):
        fields = [field.strip() for field in line.split(delimiter)] if delimiter else line.split()
        if line.strip() and not line.lstrip().startswith(comments):
            lines.append((delimiter or b" ").join(fields) + b"\n")
    return b"".join(lines)


def _integers(text: np.ndarray, starts: np.ndarray, ends: np.ndarray, columns: Sequence[Column]) -> np.ndarray | None:
    """Return the integers of some columns, ``[rows, columns]``, or ``None`` where a field is no integer in range.

    Args:
      text: the bytes of a block, uint8.
      starts, ends: where the fields begin and end, ``[rows, width]``.
      columns: the columns to read.
    """
    wanted, order = np.unique([column.index for column in columns], return_inverse=True)
    lengths = ends[:, wanted] - starts[:, wanted]
    if not lengths.size:
        return np.zeros((0, len(columns)), np.int64)
    if lengths.min() < 1 or lengths.max() > MAX_DIGITS:
        return None
    digit = text - np.uint8(_ZERO) < 10
    if len(wanted) < ends.shape[1] or not (digit | (text == _BLANK) | (text == _NEWLINE)).all():
        # The other columns and all marks become blanks.
        steps = np.zeros(len(text) + 1, np.int8)
        steps[starts[:, wanted]] = 1
        steps[ends[:, wanted]] -= 1
        inside = np.cumsum(steps[:-1], dtype=np.int8).view(bool)
        if (inside & ~digit).any():
            return None
        text, digit = np.where(inside, text, np.uint8(_BLANK)), inside
    if not all(column.zeros for column in columns):
        padded = text == _ZERO
        padded[:-1] &= digit[1:]
        padded[1:] &= ~digit[:-1]
        padded[-1] = False
        if padded.any():
            return None
    values = np.fromstring(text.tobytes(), np.int64, sep=" ").reshape(-1, len(wanted))[:, order]
    lows, highs = values.min(axis=0).tolist(), values.max(axis=0).tolist()
    good = all(column.holds(low, high) for column, low, high in zip(columns, lows, highs, strict=True))
    return values if good else None


def _any_block(
    file: TextFile,
    first: int,
    block: bytes,
    width: int,
    columns: Sequence[Column],
    delimiter: bytes,
    comments: tuple[bytes, ...],
    declared: int | None,
    before: int,
) -> np.ndarray:
    """Return the columns of a block, line by line.

    Args:
      file, width, columns, delimiter, comments: as for :func:`read_table`.
      first: the number of the block's first line.
      block: the lines.
      declared: the number of rows that the file declares, if it does.
      before: the number of rows above the block.

    Raises:
      GraphFileError: a line is not of the form that the columns have.
    """
    picked: list[list[bytes]] = [[] for _ in columns]
    for number, line in enumerate(block.split(b"\n")[:-1], first):
        if not line.strip() or line.lstrip().startswith(comments):
            continue
        if before + len(picked[0]) == declared:
            raise file.error(f"the header declares {declared} edges, and this line is one more", number, line)
        try:
            fields = split_fields(line, delimiter)
        except csv.Error as error:
            raise file.error(f"expected comma-separated fields ({error})", number, line) from None
        if len(fields) != width:
            raise file.error(f"expected {counted(width, 'column')}, found {len(fields)}", number, line)
        for column, values in zip(columns, picked, strict=True):
            if problem := column.problem(fields[column.index]):
                raise file.error(problem, number, line)
            values.append(fields[column.index])
    arrays = [
        np.array([*map(int, values)], np.int64) if column.numbering is None else column.numbering.codes(values)
        for column, values in zip(columns, picked, strict=True)
    ]
    return np.stack(arrays, axis=1)


def checked_integers(file: TextFile, number: int, line: bytes, words: Iterable[bytes], what: str) -> list[int]:
    """Return words of a line as integers.

    Raises:
      GraphFileError: a word is no integer of at most 18 digits.
    """
    values = []
    for word in words:
        if not word.isdigit() or len(word) > MAX_DIGITS:
            raise file.error(f"expected {what}, found {shown(word)} in", number, line)
        values.append(int(word))
    return values


def first_words(file: TextFile, count: int, what: str) -> list[bytes]:
    """Return the next ``count`` lines, each of which holds one word.

    Raises:
      GraphFileError: a line holds none or several, or the file ends before.
    """
    first = file.line + 1
    lines = [line.split() for line in file.take_lines(count)]
    for number, fields in enumerate(lines, first):
        if len(fields) != 1:
            text = b" ".join(fields)
            raise file.error(f"expected {what} alone on its line, found {len(fields)} words", number, text)
    if len(lines) < count:
        short = count - len(lines)
        raise file.error(f"expected {count} lines with {what}, but the file ends {short} short", file.line)
    return [fields[0] for fields in lines]
