"""Text files, plain or gzip, in blocks of whole lines, with the numbers of lines and a limit to what they unpack to."""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator

from jaxmotif.graph._saved import GraphFileError

BLOCK = 1 << 19
"""Bytes that are read at a time: few enough for the arrays of a block to stay in the processor's cache."""
MAX_RATIO = 200
FREE_BYTES = 64 << 20
"""Compressed data may unpack to ``FREE_BYTES``, or to ``MAX_RATIO`` times the bytes read, if that is more.

The text of a graph grows only about 20-fold, so larger growth points to a file made to fill the memory.
"""

COMMENTS = (b"#", b"%")
_BAD_GZIP = "the gzip data is damaged or cut short", (EOFError, zlib.error, gzip.BadGzipFile)
_WORD = re.compile(rb'"([^"]*)"(?!\S)|(\S+)')
"""A word between blanks: in quotes, which may hold blanks, or without."""
_UTF8 = re.compile(rb"[\xc3-\xf4][\x80-\xbf]")
"""Two bytes that begin a character in UTF-8, and hardly ever stand side by side in a text that is not UTF-8."""


class _CountedStream(io.BufferedReader):
    """A stream that counts the bytes read from it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.count += len(data)
        return data


class TextFile:
    """A file, plain or gzip by its first bytes, whose text is handed out once, in numbered blocks of whole lines.

    Args:
      path: the file.
      encoding: the encoding of its text. By default that is UTF-8, or UTF-16 where the file begins with its mark, and
        where it is neither, Windows' cp1252 with a note.
      data: the contents, where there is no such file.

    Attributes:
      line: the number of the last line that was handed out.
      comment: the last comment above the rows that :meth:`first_rows` returned.
      notes: what a user should know of how the text was read.
    """

    def __init__(self, path: str | os.PathLike[str], encoding: str | None = None, data: bytes | None = None):
        self.path = os.fspath(path)
        self.line = 0
        self.comment = b""
        self.notes: list[str] = []
        self._rest = b""
        self._is_utf8 = False
        self._raw = _CountedStream(io.FileIO(self.path) if data is None else io.BytesIO(data))
        self._unpacked = 0
        is_packed = self._raw.peek(2)[:2] == b"\x1f\x8b"
        self._stream = gzip.GzipFile(fileobj=self._raw) if is_packed else self._raw
        try:
            self._decode(encoding)
        except GraphFileError:
            self._raw.close()
            raise

    def _decode(self, encoding: str | None) -> None:
        """Take all text in its encoding, if it has another than UTF-8."""
        if encoding is None and self.magic()[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            encoding = "utf-16"
        if encoding is not None:
            try:
                text = self.data().decode(encoding)
            except (UnicodeDecodeError, LookupError) as error:
                raise self.error(f"the text cannot be read as {encoding}: {error}; encoding= names another") from None
            self._stream = _CountedStream(io.BytesIO(text.encode()))

    def __enter__(self) -> TextFile:
        return self

    def __exit__(self, *_) -> None:
        self._raw.close()

    def error(
        self, problem: str, line: int | None = None, text: bytes | str | None = None, remedy: str = ""
    ) -> GraphFileError:
        """Return the error to raise for a problem, with its line, the shortened text of that line, and a remedy."""
        where = self.path if line is None else f"{self.path}, line {line}"
        quoted = "" if text is None else f": {shown(text.strip(), 60)}"
        return GraphFileError(f"{where}: {problem}{quoted}{remedy}", self.path, line)

    @contextlib.contextmanager
    def refuse_damage(self, problem: str, kinds: tuple[type[Exception], ...] = (Exception,)) -> Iterator[None]:
        """Turn what a library raises at a damaged file, which may be of any kind, into an error of the file."""
        try:
            yield
        except GraphFileError:
            raise
        except kinds as error:
            reason = str(error).partition("\n")[0][:100] or type(error).__name__
            raise self.error(f"{problem}: {reason}") from None

    def magic(self) -> bytes:
        """Return the first bytes, unpacked, without taking them; before anything else is read."""
        with self.refuse_damage(*_BAD_GZIP):
            return self._stream.peek(16)[:16]

    def data(self) -> bytes:
        """Return all bytes of a binary file; before anything else is read."""
        parts = [self._rest]
        while parts[-1] or len(parts) == 1:
            parts.append(self._bytes(1 << 24))
        return b"".join(parts)

    def text(self) -> str:
        """Return the rest of the text at once."""
        return b"".join(block for _, block in self.blocks()).decode()

    def check_growth(self, unpacked: int, packed: int) -> None:
        """Raise an error if compressed data unpacks to far more bytes than the data of a graph would."""
        if unpacked > max(FREE_BYTES, MAX_RATIO * packed):
            raise self.error(
                f"unpacks to {unpacked >> 20} MiB and more, over {MAX_RATIO} times its size; if that is meant, unpack "
                "it by hand and read the unpacked file"
            )

    def head(self) -> tuple[bytes, bool]:
        """Return the next block without taking it, and whether it is all that is left."""
        self._rest = self._rest or self._read()
        return self._rest, len(self._rest) < BLOCK

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield ``(number of the first line, block)``; every line of a block ends in a newline."""
        while block := self._rest or self._read():
            self._rest = b""
            first = self.line + 1
            self.line += block.count(b"\n")
            yield first, block

    def lines(self, comments: tuple[bytes, ...] = COMMENTS, blank: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the text of each line that is no comment.

        Args:
          comments: what a comment line begins with.
          blank: yield blank lines, too.
        """
        for first, block in self.blocks():
            for number, line in enumerate(block.split(b"\n")[:-1], first):
                text = line.lstrip()
                if (text or blank) and not text.startswith(comments):
                    yield number, line

    def take_lines(self, count: int) -> list[bytes]:
        """Return the next ``count`` lines, or as many as there are."""
        lines: list[bytes] = []
        while len(lines) < count and (block := self._rest or self._read()):
            *taken, self._rest = block.split(b"\n", count - len(lines))
            lines += taken
        self.line += len(lines)
        return lines

    def data_line(self, comments: tuple[bytes, ...] = COMMENTS) -> bytes | None:
        """Return the next line that is neither blank nor a comment, whose number is then ``self.line``."""
        while lines := self.take_lines(1):
            if lines[0].strip() and not lines[0].lstrip().startswith(comments):
                return lines[0]
        return None

    def first_rows(self, count: int, comments: tuple[bytes, ...] = COMMENTS) -> list[bytes]:
        """Return up to ``count`` of the next lines that are neither blank nor comments, without taking them."""
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
        """Return up to ``size`` more bytes, or as many of the line."""
        with self.refuse_damage(*_BAD_GZIP):
            data = self._stream.readline(size) if one_line else self._stream.read(size)
        self._unpacked += len(data)
        if isinstance(self._stream, gzip.GzipFile):
            self.check_growth(self._unpacked, self._raw.count)
        return data

    def _read(self) -> bytes:
        parts = [self._bytes(BLOCK)]
        self._check_binary(parts[0])
        while parts[-1] and not parts[-1].endswith(b"\n"):
            parts.append(self._bytes(BLOCK, one_line=True))  # never more at once: a file may be one line
        block = b"".join(parts)
        self._check_binary(block)
        if self.line == 0:
            block = block.removeprefix(b"\xef\xbb\xbf")
            if b"\n" not in block:  # the whole file, with the lines of the old Mac OS
                block = block.replace(b"\r", b"\n")
        if block and not block.endswith(b"\n"):
            block += b"\n"
        if not block.isascii():
            block = self._as_utf8(block)
        return block

    def _as_utf8(self, block: bytes) -> bytes:
        """Return a block as UTF-8, after converting it from Windows' cp1252 if it is not UTF-8 yet.

        A text that is UTF-8 in other places is refused as damaged, and not taken for cp1252.
        """
        try:
            if not self.notes:
                block.decode()
                self._is_utf8 = True
                return block
            return block.decode("cp1252").encode()
        except UnicodeDecodeError as error:
            if not self.notes and not self._is_utf8 and not _UTF8.search(block):
                self.notes.append("the text is not UTF-8 and was read as cp1252; encoding= names another")
                return self._as_utf8(block)
            start = block.rfind(b"\n", 0, error.start) + 1
            text = block[start : block.index(b"\n", start)]
            line = self.line + 1 + block.count(b"\n", 0, start)
            raise self.error("expected UTF-8 text; encoding= names another", line, text) from None

    def _check_binary(self, block: bytes) -> None:
        if b"\0" in block:
            line = self.line + 1 + block.count(b"\n", 0, block.index(b"\0"))
            raise self.error("expected a text file (plain or gzip), this is a binary file", line)


def split_fields(line: bytes, delimiter: bytes) -> list[bytes]:
    """Return the fields of one line.

    They stand between blanks if ``delimiter`` is empty, else between the one-byte delimiter; and perhaps in quotes,
    between delimiters as in CSV.

    Raises:
      csv.Error: a quote is not closed.
    """
    if not delimiter:
        return line.split() if b'"' not in line else [quoted or plain for quoted, plain in _WORD.findall(line)]
    if b'"' not in line:
        return [field.strip() for field in line.strip(b"\r\n").split(delimiter)]
    reader = csv.reader([line.decode().strip("\r\n")], delimiter=delimiter.decode(), strict=True, skipinitialspace=True)
    return [field.encode().strip() for field in next(reader)]


def fields_of(row: bytes, delimiter: bytes) -> list[bytes]:
    """Return the fields of a row, also of one whose quotes are wrong."""
    try:
        return split_fields(row, delimiter)
    except csv.Error:
        return [field.strip() for field in row.split(delimiter)]


def shown(word: bytes | str, most: int = 30) -> str:
    """Return a word of a file for a message, in quotes, and cut to ``most`` characters."""
    text = word if isinstance(word, str) else word.decode(errors="replace")
    return repr(text if len(text) <= most else text[: most - 3] + "...")
