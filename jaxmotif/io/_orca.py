"""ORCA's lists: a line ``n m``, then m lines ``u v`` of ids below n; and the header that other formats share."""

from __future__ import annotations

from jaxmotif.io._format import INT32_MAX, Contents, Options, Reader, Sample
from jaxmotif.io._table import Column, read_table
from jaxmotif.io._text import COMMENTS, TextFile


def read_header(
    file: TextFile, what: str, least: int, most: int | None = None, comments: tuple[bytes, ...] = COMMENTS
) -> list[int]:
    """Return the sizes on the next line that is neither blank nor a comment.

    Args:
      file: where to read.
      what: the line, for messages.
      least, most: how many numbers it may hold; ``None`` for ``least``.
      comments: what a comment line begins with.
    """
    line = file.data_line(comments)
    words = [] if line is None else line.split()
    if not least <= len(words) <= (most or least) or not all(word.isdigit() for word in words):
        if line is None:
            raise file.error(f"expected a line with {what}, but the file ends", max(file.line, 1))
        raise file.error(f"expected {what}, whole numbers", file.line, line)
    sizes = [int(word) if len(word) < 12 else INT32_MAX + 1 for word in words]  # Python converts no 4,300 digits
    if max(sizes) > INT32_MAX:
        raise file.error(f"expected sizes of at most {INT32_MAX}", file.line, line)
    return sizes


def leading_sizes(sample: Sample) -> list[int]:
    """Return the numbers of the first row, if it holds at most four whole numbers and nothing else."""
    words = sample.rows[0] if sample.rows else []
    return [int(word) for word in words] if len(words) <= 4 and all(is_size(word) for word in words) else []


def is_size(word: bytes) -> bool:
    """Tell whether a word is a whole number of less than twelve digits."""
    return word.isdigit() and len(word) < 12


def read_orca(file: TextFile, options: Options) -> Contents:
    """Read a line ``n m``, then m lines ``u v`` of ids below n."""
    n, m = read_header(file, "n m", 2)
    ids = [Column(index, "a node id", high=n - 1) for index in range(2)]
    return Contents(read_table(file, 2, ids, rows=m), num_nodes=n)


FORMATS = {"orca": Reader(read_orca, None)}
