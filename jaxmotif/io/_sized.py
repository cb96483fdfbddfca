"""Lists of edges behind their sizes: ORCA's, our labelled ones and RI's; and the header that other formats share."""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from jaxmotif.io._format import INT32_MAX, Contents, LabelColumn, Labels, Options, Reader, Sample
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


def read_labelled(file: TextFile, options: Options) -> Contents:
    """Read ``n m directed(0|1)``, n lines with a node label, m lines ``u v [edge label]`` of ids from 0 on."""
    n, m, directed = read_header(file, "n m directed(0|1)", 3)
    if directed > 1:
        raise file.error(f"expected directed to be 0 or 1, found {directed}", file.line)
    node_labels = options.labels().of_bytes(_first_words(file, n, "a node label"))
    edges, edge_labels = _labelled_edges(file, n, m, options.labels())
    return Contents(edges, n, bool(directed), None, node_labels, edge_labels)


def read_ri(file: TextFile, options: Options, directed: bool) -> Contents:
    """Read ``#name``, n, n lines with a node label, m, m lines ``u v [edge label]`` of ids from 0 on."""
    title = b"".join(file.take_lines(1))
    if not title.startswith(b"#"):
        raise file.error("expected #name, the title of an RI graph", 1, title)
    (n,) = read_header(file, "the number of nodes", 1, comments=())
    node_labels = options.labels().of_bytes(_first_words(file, n, "a node label"))
    (m,) = read_header(file, "the number of edges", 1, comments=())
    edges, edge_labels = _labelled_edges(file, n, m, options.labels())
    return Contents(edges, n, directed, None, node_labels, edge_labels)


def _first_words(file: TextFile, count: int, what: str) -> list[bytes]:
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


def _labelled_edges(file: TextFile, n: int, m: int, labels: Labels) -> tuple[np.ndarray, LabelColumn | None]:
    """Return the rest of a file, m lines ``u v`` or ``u v label`` of ids below n, as edges and labels."""
    rows = file.first_rows(1, comments=())
    columns = [Column(index, "a node id", high=n - 1) for index in range(2)]
    if rows and len(rows[0].split()) == 3:
        columns.append(Column(2, "an edge label", numbering=labels.numbering))
    table = read_table(file, len(columns), columns, rows=m, comments=())
    return np.ascontiguousarray(table[:, :2]), labels.column(table[:, 2]) if len(columns) > 2 else None


def _is_labelled(sample: Sample) -> bool:
    """Tell whether a header ``n m 0|1`` and then a line of one word stand there.

    If the file ends after the n lines of labels, m must be 0.
    """
    sizes, rows = leading_sizes(sample), sample.rows
    if len(sizes) != 3 or sizes[2] > 1 or len(rows) < 2 or len(rows[1]) != 1:
        return False
    return not sample.whole or len(rows) != 1 + sizes[0] or sizes[1] == 0


def _is_ri(sample: Sample, directed: bool) -> bool:
    if not sample.first.startswith(b"#"):
        return False
    rows = sample.rows[:2]
    single = len(rows) == 2 and len(rows[0]) == len(rows[1]) == 1 and rows[0][0].isdigit()
    return single and directed == bool(re.search(r"d(\.gz)?$", sample.path))


FORMATS = {
    "orca": Reader(read_orca, None),
    "labelled": Reader(read_labelled, _is_labelled),
    "gff": Reader(partial(read_ri, directed=False), partial(_is_ri, directed=False)),
    "gfd": Reader(partial(read_ri, directed=True), partial(_is_ri, directed=True)),
}
