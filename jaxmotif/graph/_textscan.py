"""Scanning graph files fast: whole blocks of lines at a time with NumPy, and the exact line of a mistake."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import IO, NamedTuple

import numpy as np

from jaxmotif.arrays._present import counted
from jaxmotif.graph._numbering import Numbering

BLOCK = 1 << 19
"""Bytes read at a time; small enough for the arrays of a block to stay in cache."""
MAX_RATIO = 200
FREE_BYTES = 64 << 20
"""Compressed data may grow to FREE_BYTES, or to MAX_RATIO times what was read: text of graphs grows 3- to 20-fold."""

COMMENTS = (b"#", b"%")
MAX_DIGITS = 18
LANES = 8
"""Longer words than so many times eight bytes are numbered one by one, not by the block."""
_PAD = 8 * LANES
_FIRST = np.array([256**count - 1 for count in range(9)], np.uint64)
"""Masks: the first so many of eight bytes."""
_LAST = ~_FIRST[::-1]
_ASCII_ZEROS = np.uint64(0x3030303030303030)
_TO_EIGHTY, _HIGH_BITS = np.uint64(0x7676767676767676), np.uint64(0x8080808080808080)
"""A byte over 9 has its high bit set, or gets it by adding 0x76; only one that has it carries."""
_JOIN_DIGITS = [
    (np.uint64(10 * 2**8 + 1), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(100 * 2**16 + 1), np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(10000 * 2**32 + 1), np.uint64(32), np.uint64(0xFFFFFFFF)),
]
"""Neighbours of 1, 2 and 4 digits become one number each: times, shift, mask."""


class GraphFileError(ValueError):
    """A graph file that cannot be read.

    Attributes:
      path: the file.
      line: the 1-based number of the offending line, or ``None`` when the file as a whole is at fault.
    """

    def __init__(self, message: str, path: str | None = None, line: int | None = None):
        super().__init__(message)
        self.path = path
        self.line = line


class _Counted:
    """A stream that counts what was read from it."""

    def __init__(self, stream: IO[bytes]):
        self._stream = stream
        self.count = 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        return data

    def seek(self, position: int, /) -> int:
        return self._stream.seek(position)


class TextFile:
    """A text file, plain or gzip by its first bytes, handed out once as numbered blocks of whole lines."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self.line = 0
        self.comment = b""  # the last one before the rows that ``first_rows`` saw
        self._rest = b""
        self._raw = open(self.path, "rb")  # noqa: SIM115 (closed by __exit__)
        self._packed = None
        self._unpacked = 0
        self._stream: io.BufferedReader | gzip.GzipFile = self._raw
        if self._raw.peek(2)[:2] == b"\x1f\x8b":
            self._packed = _Counted(self._raw)
            self._stream = gzip.GzipFile(fileobj=self._packed)

    def __enter__(self) -> TextFile:
        return self

    def __exit__(self, *_) -> None:
        self._raw.close()

    def error(self, problem: str, line: int | None = None, text: bytes | str | None = None) -> GraphFileError:
        """The error to raise for ``problem``, with the place and the shortened text of the line."""
        where = self.path if line is None else f"{self.path}, line {line}"
        if isinstance(text, bytes):
            text = text.decode(errors="replace")
        text = None if text is None else text.strip()
        found = "" if text is None else f": {text if len(text) <= 60 else text[:57] + '...'!r}"
        return GraphFileError(f"{where}: {problem}{found}", self.path, line)

    def magic(self) -> bytes:
        """The first bytes (unpacked), without taking them, before anything else was read."""
        with self._gzip_errors():
            return self._stream.peek(16)[:16]

    def data(self) -> bytes:
        """All bytes of a binary file, before anything else was read."""
        parts = [self._rest]
        while parts[-1] or len(parts) == 1:
            parts.append(self._bytes(1 << 24))
        return b"".join(parts)

    def check_growth(self, unpacked: int, packed: int) -> None:
        """Raises an error where compressed data grows beyond what a graph's would."""
        if unpacked > max(FREE_BYTES, MAX_RATIO * packed):
            raise self.error(
                f"unpacks to {unpacked >> 20} MiB and more, over {MAX_RATIO} times its size; if that is meant, unpack "
                "it by hand and read the unpacked file"
            )

    def head(self) -> tuple[bytes, bool]:
        """The next block without taking it, and whether it is all that is left."""
        self._rest = self._rest or self._read()
        last = len(self._rest) < BLOCK
        return self._rest, last

    def blocks(self, max_lines: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Yields ``(number of the first line, block)``; every line of a block ends in a newline."""
        while max_lines is None or max_lines > 0:
            block = self._rest or self._read()
            self._rest = b""
            if not block:
                return
            count = block.count(b"\n")
            if max_lines is not None:
                if count > max_lines:
                    end = _nth_newline(block, max_lines)
                    block, self._rest, count = block[:end], block[end:], max_lines
                max_lines -= count
            first = self.line + 1
            self.line += count
            yield first, block

    def data_line(self, comments: tuple[bytes, ...] = COMMENTS) -> bytes | None:
        """The next line that is neither blank nor a comment; its number is then ``self.line``."""
        while (line := next(self.blocks(1), (0, None))[1]) is not None:
            if line.strip() and not line.lstrip().startswith(comments):
                return line
        return None

    def first_rows(self, count: int, comments: tuple[bytes, ...] = COMMENTS) -> list[bytes]:
        """Up to ``count`` of the next lines that are neither blank nor comments, without taking them."""
        while True:
            block, last = self.head()
            rows: list[bytes] = []
            for line in block.split(b"\n"):
                if line.strip() and not line.lstrip().startswith(comments):
                    rows.append(line)
                    if len(rows) == count:
                        break
                elif not rows and line.strip():
                    self.comment = line
            if rows or last:
                return rows
            self.line += block.count(b"\n")
            self._rest = b""

    def _bytes(self, size: int, one_line: bool = False) -> bytes:
        """Up to ``size`` more bytes, or as many of the line."""
        with self._gzip_errors():
            data = self._stream.readline(size) if one_line else self._stream.read(size)
        self._unpacked += len(data)
        if self._packed is not None:
            self.check_growth(self._unpacked, self._packed.count)
        return data

    @contextlib.contextmanager
    def _gzip_errors(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self.error(f"the gzip data is damaged or cut short ({error})") from None

    def _read(self) -> bytes:
        parts = [self._bytes(BLOCK)]
        self._check_binary(parts[0])
        while parts[-1] and not parts[-1].endswith(b"\n"):
            parts.append(self._bytes(BLOCK, one_line=True))  # never more at once: a file may be one line
        block = b"".join(parts)
        self._check_binary(block)
        if self.line == 0:
            block = block.removeprefix(b"\xef\xbb\xbf")
            if b"\n" not in block:  # the whole file: lines as those of the old Mac OS
                block = block.replace(b"\r", b"\n")
        if block and not block.endswith(b"\n"):
            block += b"\n"
        if not block.isascii():
            try:
                block.decode()
            except UnicodeDecodeError as error:
                start = block.rfind(b"\n", 0, error.start) + 1
                text = block[start : block.index(b"\n", start)]
                raise self.error("expected UTF-8 text", self.line + 1 + block.count(b"\n", 0, start), text) from None
        return block

    def _check_binary(self, block: bytes) -> None:
        if b"\0" in block:
            line = self.line + 1 + block.count(b"\n", 0, block.index(b"\0"))
            kind = "UTF-16 text; save it as UTF-8" if block[:2] in (b"\xff\xfe", b"\xfe\xff") else "a binary file"
            raise self.error(f"expected a text file (UTF-8, plain or gzip), this is {kind}", line)


class Words:
    """The words of a block: where each starts and ends, and how many stand on each line.

    Comment lines are left out beforehand. Lines are addressed by their index among those that remain.
    """

    def __init__(
        self, file: TextFile, first: int, block: bytes, delimiter: bytes = b"", comments: tuple[bytes, ...] = COMMENTS
    ):
        self.file, self.first, self.delimiter = file, first, delimiter
        self.numbers: np.ndarray | None = None
        if any(mark in block for mark in comments):
            lines = block.split(b"\n")[:-1]
            kept = [i for i, line in enumerate(lines) if not line.lstrip().startswith(comments)]
            self.numbers = first + np.array(kept, np.int64)
            block = b"".join(lines[i] + b"\n" for i in kept)
        self.block = block
        self.buffer = np.frombuffer(block, np.uint8)
        space = (self.buffer - np.uint8(9) < 5) | (self.buffer == 32)  # \t \n \v \f \r and the blank
        if delimiter not in (b"", b"\t"):
            space |= self.buffer == ord(delimiter)
        if block and not space[0] and not (space[1:] & space[:-1]).any():  # one byte parts each word from the next
            self.ends = np.flatnonzero(space)
            self.starts = np.zeros_like(self.ends)
            np.add(self.ends[:-1], 1, out=self.starts[1:])
        else:
            edges = np.flatnonzero(space[1:] != space[:-1]) + 1
            if block and not space[0]:
                edges = np.concatenate([[0], edges])
            self.starts, self.ends = edges[0::2], edges[1::2]

    @cached_property
    def newlines(self) -> np.ndarray:
        """Where the lines end."""
        return np.flatnonzero(self.buffer == 10)

    @cached_property
    def counts(self) -> np.ndarray:
        """How many words stand on each line."""
        return np.diff(np.searchsorted(self.starts, self.newlines), prepend=0)

    @cached_property
    def _eights(self) -> np.ndarray:
        """The eight bytes from each place of the block on, the first in the lowest byte; ``_PAD`` zeros around it."""
        padded = bytes(_PAD) + self.block + bytes(_PAD)
        return np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))

    def rows(self, width: int) -> int | None:
        """The number of lines, if each holds ``width`` words and ends right after the last one; else ``None``."""
        last = self.ends[width - 1 :: width]
        even = len(self.ends) % width == 0 and self.block.count(b"\n") == len(last)
        return len(last) if even and bool((self.buffer[last] == 10).all()) else None

    def line_of_word(self, word: int) -> int:
        """Index of the line that holds a word."""
        return int(np.searchsorted(self.newlines, self.starts[word]))

    def error(self, line: int, problem: str) -> GraphFileError:
        number = self.first + line if self.numbers is None else int(self.numbers[line])
        begin = 0 if line == 0 else int(self.newlines[line - 1]) + 1
        return self.file.error(problem, number, self.block[begin : int(self.newlines[line])])

    def text(self) -> list[bytes]:
        """All words of the block in order."""
        return (self.block.replace(self.delimiter, b" ") if self.delimiter else self.block).split()

    def lanes(self, which: slice) -> tuple[np.ndarray, np.ndarray]:
        """The chosen words as columns of numbers, eight bytes each, zeros behind (no text holds one), and which of
        the words are whole: those that ``LANES`` numbers hold."""
        starts = self.starts[which]
        length = self.ends[which] - starts
        lanes = np.empty((min(-(-int(length.max(initial=1)) // 8), LANES), len(starts)), np.uint64)
        for k, lane in enumerate(lanes):
            lane[:] = self._eights[starts + (_PAD + 8 * k)]
            lane &= _FIRST.take(length - 8 * k, mode="clip")
        return lanes, length <= 8 * LANES

    def integers(self, which: slice | np.ndarray, what: str, zeros: bool = True) -> np.ndarray:
        """The chosen words as int64; digits only, at most 18 of them, and no zero before others unless ``zeros``."""
        starts, ends = self.starts[which], self.ends[which]
        length = ends - starts
        values = np.zeros(len(starts), np.int64)
        bad = length > MAX_DIGITS
        if not zeros:
            bad |= (length > 1) & (self.buffer[starts] == ord("0"))
        for done in range(0, min(int(length.max(initial=0)), MAX_DIGITS), 8):
            # Eight digits at a time, the last one in the highest byte, zeros before the word's first.
            digits = self._eights[ends + (_PAD - 8 - done)]
            digits ^= _ASCII_ZEROS
            digits &= _LAST.take(length - done, mode="clip")
            bad |= ((digits + _TO_EIGHTY | digits) & _HIGH_BITS) != 0
            for factor, shift, mask in _JOIN_DIGITS:
                digits *= factor
                digits >>= shift
                digits &= mask
            values += digits.view(np.int64) * 10**done if done else digits.view(np.int64)
        if bad.any():
            word = int(np.arange(len(self.starts))[which][int(np.argmax(bad))])
            found = self.block[int(self.starts[word]) : int(self.ends[word])]
            raise self.error(self.line_of_word(word), f"expected {what}, found {_shown(found)} in")
        return values

    def columns_clean(self, width: int) -> bool:
        """Whether every line holds ``width`` words, no quotes, and exactly one delimiter between neighbours."""
        if b'"' in self.block:
            return False
        if (rows := self.rows(width)) is not None and self.block.count(self.delimiter) == rows * (width - 1):
            inner = self.ends.reshape(-1, width)[:, :-1]
            if (self.buffer[inner] == ord(self.delimiter)).all():
                return True
        if not (self.counts == width).all():
            return False
        marks = np.flatnonzero(self.buffer == ord(self.delimiter))
        if marks.size != len(self.counts) * (width - 1):
            return False
        marks = marks.reshape(-1, width - 1)
        starts, ends = self.starts.reshape(-1, width), self.ends.reshape(-1, width)
        return bool((ends[:, :-1] <= marks).all() and (starts[:, 1:] > marks).all())


class Column(NamedTuple):
    """A column to read: integers in ``low..high``, not ``zeros`` first if False, or words numbered by ``numbering``."""

    index: int
    what: str
    low: int = 0
    high: int | None = None
    numbering: Numbering | None = None
    zeros: bool = True

    def holds(self, value):
        """Whether integers (or arrays of them) are in range."""
        return (value >= self.low) & (True if self.high is None else value <= self.high)

    def wanted(self) -> str:
        if self.high is not None:
            return f"{self.what} in {self.low}..{self.high}"
        return self.what + (f" from {self.low} on" if self.low else "")


def read_table(
    file: TextFile, width: int, columns: Sequence[Column], *, delimiter: bytes = b"", rows: int | None = None,
    comments: tuple[bytes, ...] = COMMENTS,
) -> np.ndarray:  # fmt: skip
    """The chosen columns of the rest of a file, int64 ``[rows, columns]``; blank lines and comments are skipped.

    Args:
      width: columns that every row must have.
      columns: those to return.
      delimiter: ``b""`` for any run of blanks, else one byte between fields, which may be quoted as in CSV.
      rows: the number of rows that the file's header declares, if it does.
      comments: what a comment line starts with.
    """
    parts = [[np.zeros(0, np.int64)] for _ in columns]
    total = 0
    for first, block in file.blocks():
        words = Words(file, first, block, delimiter, comments)
        if rows is not None and total + np.count_nonzero(words.counts) > rows:
            extra = int(np.flatnonzero(words.counts)[rows - total])
            raise words.error(extra, f"the header declares {rows} edges, and this line is one more")
        if delimiter and not words.columns_clean(width):
            count, arrays = _fields(words, width, columns)
        else:
            count, arrays = _spaced(words, width, columns)
        total += count
        for part, array in zip(parts, arrays, strict=True):
            part.append(array)
    if rows is not None and total < rows:
        raise file.error(f"the header declares {rows} edges, but the file ends after {total}", max(file.line, 1))
    table = np.empty((total, len(columns)), np.int64)
    for place, part in enumerate(parts):
        np.concatenate(part, out=table[:, place])
    return table


def _spaced(words: Words, width: int, columns: Sequence[Column]) -> tuple[int, list[np.ndarray]]:
    if words.rows(width) is None:
        ragged = (words.counts != width) & (words.counts != 0)
        if ragged.any():
            line = int(np.argmax(ragged))
            raise words.error(line, f"expected {counted(width, 'column')}, found {words.counts[line]}")
    arrays: list[np.ndarray] = []
    for column in columns:
        which = slice(column.index, None, width)
        if column.numbering is not None:
            arrays.append(column.numbering.codes_of(words, which))
            continue
        values = words.integers(which, column.what, column.zeros)
        held = column.holds(values)
        if not held.all():
            row = int(np.argmin(held))
            line = words.line_of_word(row * width + column.index)
            raise words.error(line, f"expected {column.wanted()}, found {values[row]} in")
        arrays.append(values)
    return len(words.starts) // width, arrays


def _fields(words: Words, width: int, columns: Sequence[Column]) -> tuple[int, list[np.ndarray]]:
    """The same for delimited rows with quotes, blanks inside or empty fields, one line at a time."""
    picked: list[list[bytes]] = [[] for _ in columns]
    count = 0
    for index, line in enumerate(words.block.split(b"\n")[:-1]):
        if not line.strip():
            continue
        try:
            fields = split_fields(line, words.delimiter)
        except csv.Error as error:
            raise words.error(index, f"expected comma-separated fields ({error})") from None
        if len(fields) != width:
            raise words.error(index, f"expected {counted(width, 'column')}, found {len(fields)}")
        count += 1
        for column, values in zip(columns, picked, strict=True):
            field = fields[column.index]
            digits = field.isdigit() and len(field) <= MAX_DIGITS
            digits = digits and (column.zeros or len(field) == 1 or field[:1] != b"0")
            good = field if column.numbering is not None else digits and column.holds(int(field))
            if not good:
                raise words.error(index, f"expected {column.wanted()}, found {_shown(field)} in")
            values.append(field)
    arrays = [
        np.array([*map(int, values)], np.int64) if column.numbering is None else column.numbering.codes(values)
        for column, values in zip(columns, picked, strict=True)
    ]
    return count, arrays


def split_fields(line: bytes, delimiter: bytes) -> list[bytes]:
    """The fields of one line; ``delimiter`` as in :func:`read_table`."""
    if not delimiter:
        return line.split()
    if b'"' not in line:
        return [field.strip() for field in line.strip(b"\r\n").split(delimiter)]
    reader = csv.reader([line.decode().strip("\r\n")], delimiter=delimiter.decode(), strict=True, skipinitialspace=True)
    return [field.strip().encode() for field in next(reader)]


def read_words(file: TextFile, count: int, what: str) -> Iterator[Words]:
    """The next ``count`` lines, each holding one word."""
    last = file.line + count
    for first, block in file.blocks(count):
        words = Words(file, first, block, comments=())
        if (words.counts != 1).any():
            line = int(np.argmax(words.counts != 1))
            raise words.error(line, f"expected {what} alone on its line, found {words.counts[line]} words")
        yield words
    if file.line < last:
        raise file.error(f"expected {count} lines with {what}, but the file ends {last - file.line} short", file.line)


def _shown(word: bytes) -> str:
    text = word.decode(errors="replace")
    return repr(text if len(text) <= 30 else text[:27] + "...")


def _nth_newline(block: bytes, count: int) -> int:
    """Where the line after the ``count``-th newline starts."""
    if count == 1:
        return block.index(b"\n") + 1
    return int(np.flatnonzero(np.frombuffer(block, np.uint8) == 10)[count - 1]) + 1
