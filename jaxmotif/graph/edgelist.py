"""Edge lists: blank, comma, semicolon or tab separated, with or without a header row, and KONECT's."""

from __future__ import annotations

import csv
import dataclasses
import logging
import re
from collections.abc import Sequence

import numpy as np

from jaxmotif.graph.textscan import COMMENTS, Column, Numbering, TextFile, count_of, read_table, split_fields

INT32_MAX = 2**31 - 1
ID = "a non-negative integer id (text_ids=True takes any text)"
LABEL = "an integer label (label_ids={} numbers text labels)"
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_KONECT = re.compile(rb"%\s*(sym|asym|bip)\b")
_MISSING = {b"", b"na", b"nan", b"null", b"none", b"inf", b"-inf", b"-", b".", b"?"}
_SOURCES = {"source", "src", "from", "pre", "node1", "node_1", "id1", "id_1", "fromnodeid", "protein1"}
_TARGETS = {"target", "tgt", "dst", "to", "post", "node2", "node_2", "id2", "id_2", "tonodeid", "protein2"}
_logger = logging.getLogger("jaxmotif")


@dataclasses.dataclass(frozen=True)
class Options:
    """How to read the text of a file; see :func:`jaxmotif.read_graph`."""

    columns: Sequence[int | str] | None = None
    text_ids: bool = False
    label_ids: dict[str, int] | None = None

    def labels(self) -> Numbering | None:
        return None if self.label_ids is None else Numbering(self.label_ids)


@dataclasses.dataclass
class Contents:
    """What a file says.

    Attributes:
      edges: int64 ``[m, 2]``.
      num_nodes: the declared number of nodes, with ids 0..num_nodes-1; ``None``: the nodes are the ids that occur.
      directed: whether the file says directed; ``None`` when it does not say.
      names: the name of each id, where it is not the id itself.
      node_labels, edge_labels: int64, one an id and one an edge.
      format: the format it was recognised as, where that took reading it.
    """

    edges: np.ndarray
    num_nodes: int | None = None
    directed: bool | None = None
    names: np.ndarray | None = None
    node_labels: np.ndarray | None = None
    edge_labels: np.ndarray | None = None
    format: str = ""


def read_edges(file: TextFile, options: Options) -> Contents:
    """Columns separated by blanks."""
    return _read_list(file, options, b"")


def read_csv(file: TextFile, options: Options) -> Contents:
    """Columns separated by commas or semicolons, whichever comes first."""
    rows = file.first_rows(1)
    return _read_list(file, options, (_first_mark(rows[0], (b",", b";")) if rows else b"") or b",")


def read_tsv(file: TextFile, options: Options) -> Contents:
    """Columns separated by single tabs; other blanks belong to the fields."""
    return _read_list(file, options, b"\t")


def read_any_list(file: TextFile, options: Options) -> Contents:
    """An edge list whose first row shows the separator; ORCA's header ``n m`` is recognised by what follows it."""
    rows = file.first_rows(1)
    words = rows[0].split() if rows else []
    integers = len(words) >= 2 and words[0].isdigit() and words[1].isdigit()
    delimiter = b"" if integers or not rows else _first_mark(rows[0].strip(), (b"\t", b",", b";"))
    contents = _read_list(file, options, delimiter)
    edges = contents.edges
    if len(words) == 2 and contents.names is None and not delimiter and len(edges) > 1:
        n, m = edges[0].tolist()
        if m == len(edges) - 1 and n > edges[1:].max():
            return Contents(edges[1:], num_nodes=n, format="orca")
    contents.format = {b"": "edges", b"\t": "tsv"}.get(delimiter, "csv")
    return contents


def read_konect(file: TextFile, options: Options) -> Contents:
    """``% sym|asym|bip ...``, perhaps ``% edges nodes nodes``, then rows of two ids from 1 on, a weight and a time.

    Without the line of sizes the ids may also be text.
    """
    lines = file.head()[0].split(b"\n")
    match = _KONECT.match(lines[0])
    if match is None:
        raise file.error("expected a KONECT header, % sym, % asym or % bip", 1, lines[0])
    directed = match[1] == b"asym"
    sizes = re.fullmatch(rb"%\s*(\d+)\s+(\d+)(?:\s+(\d+))?\s*", lines[1]) if len(lines) > 1 else None
    if sizes is None:
        contents = _read_list(file, options, b"", lowest=1)
        contents.directed = directed
        return _two_sided(contents) if match[1] == b"bip" else contents
    m, left, right = (int(size or sizes[2]) for size in sizes.groups())
    if max(m, left, right) > INT32_MAX:
        raise file.error(f"expected sizes of at most {INT32_MAX}", 2, lines[1])
    if match[1] != b"bip":
        left = right = max(left, right)
    rows = file.first_rows(1)
    columns = [Column(0, "an integer id", 1, left), Column(1, "an integer id", 1, right)]
    edges = pairs(read_table(file, max(2, len(rows[0].split())) if rows else 2, columns, rows=m))
    if match[1] == b"bip":
        return _two_sided(Contents(edges, directed=False), left, right)
    return Contents(edges - 1, left, directed, names=np.arange(1, left + 1))


def looks_like_konect(line: bytes) -> bool:
    return _KONECT.match(line) is not None


def read_header(
    file: TextFile, what: str, least: int, most: int | None = None, comments: tuple[bytes, ...] = COMMENTS
) -> list[int]:
    """The sizes on the next data line."""
    line = file.data_line(comments)
    words = [] if line is None else line.split()
    if not least <= len(words) <= (most or least) or not all(word.isdigit() for word in words):
        if line is None:
            raise file.error(f"expected a line with {what}, but the file ends", max(file.line, 1))
        raise file.error(f"expected {what}, whole numbers", file.line, line)
    sizes = [int(word) for word in words]
    if max(sizes) > INT32_MAX:
        raise file.error(f"expected sizes of at most {INT32_MAX}", file.line, line)
    return sizes


def pairs(columns: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack(columns, axis=1)


def _read_list(file: TextFile, options: Options, delimiter: bytes, lowest: int = 0) -> Contents:
    rows = [_split(row, delimiter) for row in file.first_rows(2)]
    columns = _header_columns(rows, options) if rows else None
    if columns is not None:
        file.data_line()
        _logger.info("%s: line %d holds column names", file.path, file.line)
    if len(rows) == (columns is not None):
        return Contents(np.zeros((0, 2), np.int64))
    width, sample = len(rows[0]), rows[columns is not None]
    chosen: list[int] = []
    for column in columns or options.columns or (0, 1):
        if width < 2 or isinstance(column, str) or column >= width:
            row = file.data_line()
            wanted = "at least two columns" if width < 2 else f"a column {column!r}"
            raise file.error(f"expected {wanted}, found {count_of(width, 'column')}", file.line, row)
        chosen.append(column)
    ids = [sample[column] for column in chosen[:2] if column < len(sample)]
    text = options.text_ids or not all(_NUMBER.fullmatch(word) for word in ids)
    names = Numbering() if text else None
    wanted = [Column(column, "an id" if text else ID, lowest, numbering=names) for column in chosen[:2]]
    wanted += [Column(column, LABEL, numbering=options.labels()) for column in chosen[2:]]
    source, target, *labels = read_table(file, width, wanted, delimiter=delimiter)
    contents = Contents(pairs([source, target]), edge_labels=labels[0] if labels else None)
    if names is not None:
        contents.names = np.array(sorted(names.known), object)
        rank = np.empty(len(contents.names), np.int64)
        rank[[names.known[name] for name in contents.names]] = np.arange(len(rank))
        contents.edges = rank[contents.edges]
    return contents


def _header_columns(rows: list[list[bytes]], options: Options) -> tuple[int, ...] | None:
    """The chosen columns if the first row is a header, else ``None``.

    It is one when ``columns`` names its fields; when two fields have usual names such as source and target; when
    its ids are words and those of the second row numbers; or when all its fields are words and the second row has
    a number beside the ids.
    """
    fields = [field.decode() for field in rows[0]]
    if options.columns and all(isinstance(column, int) or column in fields for column in options.columns):
        if any(isinstance(column, str) for column in options.columns):
            return tuple(fields.index(column) if isinstance(column, str) else column for column in options.columns)
    elif options.columns:
        return None
    low = [field.lower() for field in fields]
    usual = [next((i for i, field in enumerate(low) if field in names), None) for names in (_SOURCES, _TARGETS)]
    chosen = tuple(int(column) for column in options.columns or (0, 1))
    if usual[0] is not None and usual[1] is not None:
        return chosen if options.columns else (usual[0], usual[1])
    if options.text_ids or len(rows) < 2 or len(rows[1]) != len(fields) or max(chosen) >= len(fields):
        return None
    words = [_NUMBER.fullmatch(field) is None and field.lower() not in _MISSING for field in rows[0]]
    numbers = [_NUMBER.fullmatch(field) is not None for field in rows[1]]
    ids = chosen[:2]
    if all(words[i] and numbers[i] for i in ids):
        return chosen
    if all(words) and any(number for i, number in enumerate(numbers) if i not in ids):
        return chosen
    return None


def _two_sided(contents: Contents, left: int | None = None, right: int | None = None) -> Contents:
    """A bipartite list: both sides count from 1, so the right ids move behind the left, and names tell them apart."""
    edges = contents.edges
    if contents.names is not None:
        return contents
    declared = left is not None
    if left is None or right is None:
        left, right = (int(side) for side in edges.max(axis=0, initial=0))
    names = [f"{side}{number}" for side, size in (("L", left), ("R", right)) for number in range(1, size + 1)]
    return Contents(
        edges - 1 + np.array([0, left]), left + right if declared else None, False, np.array(names, object)
    )  # fmt: skip


def _split(row: bytes, delimiter: bytes) -> list[bytes]:
    try:
        return split_fields(row, delimiter)
    except csv.Error:
        return row.split(delimiter)


def _first_mark(line: bytes, marks: Sequence[bytes]) -> bytes:
    """Whichever of the one-byte marks comes first in the line, or none."""
    return min((mark for mark in marks if mark in line), key=line.index, default=b"")
