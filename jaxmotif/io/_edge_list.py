"""Tables of edges, separated by blanks, commas, semicolons or tabs, with or without a row of column names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from jaxmotif.arrays._present import counted, meant
from jaxmotif.graph._saved import GraphFileError
from jaxmotif.io._format import ID, Contents, Options, Reader, passed_over
from jaxmotif.io._table import Column, Numbering, read_table
from jaxmotif.io._text import TextFile, fields_of

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
HEADER_ROWS = 8
"""The number of rows that are looked at to find out whether the first one has the names of columns."""
MISSING = {b"", b"na", b"nan", b"null", b"none", b"inf", b"-inf", b"-", b".", b"?"}
_TWO = "(node|id|protein|gene)"
_SOURCE = re.compile(
    rf"source|src|from|u|pre|from(node)?id|regulator|tf|pre(pt)?rootid|bodyidpre|{_TWO}[1a]|.*interactora"
)
_TARGET = re.compile(
    rf"target|tgt|dst|to|v|post|to(node)?id|targetgene|post(pt)?rootid|bodyidpost|{_TWO}[2b]|.*interactorb"
)
_LEADING_ZERO = re.compile(rb"0\d+")
_QUOTED = re.compile(rb'"[^"]*"')
_DECIMAL = re.compile(rb"(?<![^;\s])[+-]?\d+,\d+(?![^;\s])")
"""A number that has a comma for its point, between semicolons or blanks."""
_DICT = re.compile(rb"\s\{['\"].*\}$")
"""The attributes of an edge, as networkx writes them."""
_ROW_NUMBER = re.compile(r"|id|index|row(id)?|key|no|nr|num(ber)?|#|suid|edge(id)?|interactionid|unnamed:0")
"""Usual names of a column that numbers the rows; the one that pandas and R write has an empty name."""


class Layout(NamedTuple):
    """The columns of an edge list.

    Attributes:
      header: the names in a header row, or ``None``.
      ends: the columns of the two ends.
      label: the column of the edge label, or ``None``.
      first: what the first column is, if it holds a different whole number in each row and the next two columns hold
        the ends: ``"numbers"`` if it numbers the rows, ``"unclear"`` if that cannot be told. Else it is ``""``.
    """

    header: list[str] | None
    ends: tuple[int | str, int | str]
    label: int | str | None
    first: Literal["", "numbers", "unclear"] = ""

    @property
    def chosen(self) -> list[int | str]:
        return [*self.ends, *([] if self.label is None else [self.label])]


def read_csv(file: TextFile, options: Options) -> Contents:
    """Read columns separated by commas or semicolons, whichever comes first."""
    rows = file.first_rows(1)
    return read_list(file, options, (first_mark(_QUOTED.sub(b"", rows[0])) if rows else b"") or b",")


def read_any_list(file: TextFile, options: Options) -> Contents:
    """Read an edge list whose first row shows the separator.

    ORCA's header ``n m`` is recognised by the rows after it.
    """
    rows = file.first_rows(HEADER_ROWS)
    delimiter = delimiter_of(rows[0]) if rows else b""
    if not delimiter and _tabs_tell(rows, file.comment):
        delimiter = b"\t"
    contents = read_list(file, options, delimiter)
    edges = contents.edges
    if rows and len(rows[0].split()) == 2 and contents.names is None and not delimiter and len(edges) > 1:
        n, m = edges[0].tolist()
        if m == len(edges) - 1 and n > edges[1:].max():
            note = 'the first row declares what follows; format="edges" takes it for an edge'
            return Contents(edges[1:], num_nodes=n, notes=(note,), format="orca")
        if m == len(edges) - 1 and n >= edges.max() and edges.min() > 0:
            note = f"the first row, {n} {m}, is taken for an edge; if it declares nodes and edges, leave it out"
            contents = contents._replace(notes=(*contents.notes, note))
    return contents._replace(format={b"": "edges", b"\t": "tsv"}.get(delimiter, "csv"))


def _tabs_tell(rows: list[bytes], comment: bytes) -> bool:
    """Say whether the fields of rows of numbers are separated by tabs.

    They are if some fields contain other blanks, or if a comment above names as many columns between tabs. Where all
    rows have equally many words, the first two fields, the ends, must be single words.
    """
    tabs = {row.count(b"\t") for row in rows}
    if len(tabs) != 1 or 0 in tabs:
        return False
    words = {len(row.split()) for row in rows}
    ends = [field.split() for row in rows for field in row.split(b"\t")[:2]]
    blanks = max(words) > max(tabs) + 1 and all(len(end) == 1 for end in ends)
    return len(words) > 1 or blanks or (comment.count(b"\t") in tabs and tabs != {1})


def delimiter_of(row: bytes) -> bytes:
    """Return the separator of the fields in the first row; ``b""`` for blanks.

    If there is a tab, it is the separator, since names may hold commas (2,3-BPG) but hardly ever tabs. A tab next to a
    comma only aligns columns.
    """
    words = row.split()
    if len(words) >= 2 and words[0].isdigit() and words[1].isdigit():
        return b""
    row = _QUOTED.sub(b"name", _DICT.sub(b"", row.strip()))
    aligned = re.search(rb"[,;] *\t|\t *[,;]", row)
    return b"\t" if b"\t" in row and not aligned else first_mark(row)


def read_list(
    file: TextFile,
    options: Options,
    delimiter: bytes,
    lowest: int = 0,
    highest: tuple[int | None, int | None] = (None, None),
    declared: int | None = None,
) -> Contents:
    """Read the rest of a file as an edge list.

    Args:
      file: where to read.
      options: what is asked of the file.
      delimiter: as in :func:`read_table`.
      lowest: the lowest id that an end may have.
      highest: the highest ids of the two ends, where the file says so; such ids are integers.
      declared: the number of rows that the file's header declares, if it does.
    """
    rows = [fields_of(row, delimiter) for row in file.first_rows(HEADER_ROWS)]
    if not rows and declared == 0:
        return Contents(np.zeros((0, 2), np.int64))
    if not rows:
        raise no_rows(file)
    layout = layout_of(rows, options)
    _check_ends(file, layout, rows)
    data = rows
    if layout.header is not None:
        file.data_line()
        data = rows[1:]
    elif len(above := fields_of(file.comment.lstrip(b"#% "), delimiter)) == len(rows[0]):
        titled = layout_of([above], options)  # a comment that names the columns, as BioGRID's
        layout = layout if titled.header is None else titled
    if not data:
        return Contents(np.zeros((0, 2), np.int64))
    titles = layout.header or []
    for title in titles if options.attributes else [*(options.columns or ()), options.edge_label]:
        if title and isinstance(title, str) and titles.count(title) > 1:
            raise file.error(f"several columns are called {title!r}; give them different names")
    width, sample = len(rows[0]), data[0]
    chosen: list[int] = []
    for column in layout.chosen:
        if width < 2 or isinstance(column, str) or column >= width:
            row = file.data_line()
            wanted = "at least two columns" if width < 2 else f"a column {column!r}"
            near = meant(column, map(bytes.decode, rows[0])) if isinstance(column, str) else ""
            raise file.error(f"expected {wanted}, found {counted(width, 'column')}", file.line, row, near)
        chosen.append(column)
    ids = [[row[column] for column in chosen[:2] if column < len(row)] for row in data]
    words = not all(is_number(word) for word in ids[0])
    words = words or any(_LEADING_ZERO.fullmatch(word) for row in ids for word in row)  # 007 is not 7
    text = options.text_ids or (words and highest == (None, None))
    names = Numbering() if text else None
    labels = options.labels()
    what = "an id" if text else ID
    wanted = [Column(chosen[end], what, lowest, highest[end], names, zeros=False) for end in range(2)]
    wanted += [Column(column, "an edge label", numbering=labels.numbering) for column in chosen[2:]]
    others = [column for column in range(width) if column not in chosen[:2]] if options.attributes else []
    wanted += [Column(column, "a value", numbering=Numbering(), empty=True) for column in others]
    table = read_table(file, width, wanted, delimiter=delimiter, rows=declared)
    columns = {
        layout.header[column] if layout.header is not None else str(column): _words(code, read.numbering)
        for column, code, read in zip(others, table.T[len(chosen) :], wanted[len(chosen) :], strict=True)
    }
    contents = Contents(
        np.ascontiguousarray(table[:, :2]),
        edge_labels=labels.column(table[:, 2]) if len(chosen) > 2 else None,
        edge_columns=columns if options.attributes else None,
        header=layout.header,
        notes=() if options.attributes else _unread(layout.header, sample, chosen),
    )
    if layout.first:
        note = "the first column numbers the rows: the next two are the ends; columns=(0, 1) takes the first"
        contents = contents._replace(notes=(*contents.notes, note))
    if names is None:
        return contents
    notes = (*contents.notes, *_first_row_notes(layout, contents.edges, names.known, sample, chosen))
    if missing := missing_words(names.known):
        shown = ", ".join(map(repr, sorted(missing)))
        notes = (*notes, f"there are nodes called {shown}, which often means a missing value")
    return sorted_names(contents._replace(notes=notes), names.known)


def no_rows(file: TextFile) -> GraphFileError:
    """Return the error for a table without rows, since hardly anyone means to read an empty table."""
    return file.error("holds no edges: the file is empty, but for blank lines and comments")


def _check_ends(file: TextFile, layout: Layout, rows: list[list[bytes]]) -> None:
    """Refuse tables whose first two columns are not the ends of edges, though they could be read so.

    Raises:
      GraphFileError: a table of Cytoscape, which holds the ends as one text, or a first column of numbers whose meaning
        nothing tells.
    """
    names = [name.lower() for name in layout.header or ()]
    if layout.ends == (0, 1) or layout.first:
        titles = names or [field.decode().lower() for field in rows[0]]
        if "suid" in titles and {"name", "shared name"} & set(titles):
            raise file.error(
                "this is a table of Cytoscape, whose nodes and edges are one text each, such as 'A (pp) B'; export the "
                "network instead (File, Export, Network to File) as SIF, GraphML or cyjs, or name two columns of ends "
                "with columns="
            )
    if layout.first == "unclear":
        raise file.error(
            "the first column holds another number in each row and the next two hold words: numbers of the rows, or "
            "nodes? columns=(1, 2) or columns=(0, 1) says which two are the ends"
        )


def _first_row_notes(
    layout: Layout, edges: np.ndarray, known: Mapping[str, int], sample: list[bytes], chosen: list[int]
) -> tuple[str, ...]:
    """Return notes on a first row that may be names of columns, or an edge."""
    if layout.header is not None:
        nodes = [layout.header[column] for column in chosen[:2] if layout.header[column] in known]
        return tuple(f"{word!r} is taken for the name of a column, and a node is called so, too" for word in nodes[:1])
    ends = [sample[column].decode() for column in chosen[:2]]
    places = [known.get(end) for end in ends]
    if (
        len(edges) < 3
        or None in places
        or places[0] == places[1]
        or any((edges[1:] == place).any() for place in places)
    ):
        return ()
    return (
        f"the first row, {ends[0]!r} and {ends[1]!r}, is taken for an edge, though no other row has either; if these "
        f"name columns: columns={tuple(ends)}",
    )


def _words(codes: np.ndarray, numbering: Numbering | None) -> list[str | None]:
    """Return the words of a column from their codes, with ``None`` for missing ones.

    A word ``-`` means a missing value, unless the column also has ``+``: then it is a sign.
    """
    known = numbering.known if numbering else {}
    missing = missing_words(known)
    words = [None if word in missing else word for word in known]
    return [words[code] for code in codes.tolist()]


def missing_words(words: Collection[str]) -> set[str]:
    """Return those of the different words of an attribute that mean a missing value."""
    missing = MISSING - {b"inf", b"-inf"} - ({b"-"} if "+" in words else set())
    return {word for word in words if word.lower().encode(errors="surrogatepass") in missing}


def sorted_names(contents: Contents, known: dict[str, int]) -> Contents:
    """Renumber the nodes in the order of their names as text; the edges number them in the order of ``known``."""
    names = list(known)
    order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    return contents._replace(edges=rank[contents.edges], names=np.array(names, object)[order])


def _unread(header: list[str] | None, sample: list[bytes], chosen: list[int]) -> tuple[str, ...]:
    """Return the note on columns that are passed over."""
    left = [column for column in range(len(sample)) if column not in chosen]
    if header is not None:
        shown = [repr(header[column]) for column in left]
    else:
        shown = [f"{column} ({sample[column].decode()[:20]!r} in the first row)" for column in left]
    remedy = ", counted from 0" if header is None else ""
    remedy += "" if len(chosen) > 2 else "; edge_label= makes one the edges' label"
    return passed_over("column" if len(left) == 1 else "columns", shown, remedy)


def layout_of(rows: list[list[bytes]], options: Options) -> Layout:
    """Choose the columns that are read, from the first few rows.

    The first row is a header when an option names its fields; when two fields have usual names such as source and
    target; when its ids are words and those of the second row numbers; when all its fields are words and the rows
    below have numbers beside the ids; or when the first column numbers the rows below.
    """
    columns, label = options.columns, options.edge_label
    if columns is not None and len(columns) == 3:
        label = columns[2]
    fields = [field.decode() for field in rows[0]]
    named = [column for column in (*(columns or ())[:2], label) if isinstance(column, str)]
    usual = usual_ends(fields)
    if usual is not None and not {"source", "target"} <= {*fields}:  # which are titles whatever stands below
        titles = {rows[0][i] for i in usual}
        usual = None if any(field in titles for row in rows[1:] for field in row) else usual
    first_column: Literal["", "numbers", "unclear"] = ""

    def place(column: int | str) -> int | str:
        return fields.index(column) if isinstance(column, str) and column in fields else column

    if columns is not None:
        ends = (place(columns[0]), place(columns[1]))
    elif usual is not None:
        ends = usual
    else:
        left = [i for i in range(max(4, len(fields))) if i != (None if label is None else place(label))]
        first_column = "" if options.text_ids else _first_column(rows, _plain(fields), left)
        ends = (left[1], left[2]) if first_column else (left[0], left[1])
        if first_column and not rows[0][left[0]].isdigit():  # the rows are numbered from the second one on
            usual = ends
    found = all(column in fields for column in named)
    is_header = found and (bool(named) or usual is not None or _words_above_numbers(rows, ends, options))
    return Layout(fields if is_header else None, ends, None if label is None else place(label), first_column)


def _plain(fields: list[str]) -> list[str]:
    """Return fields in small letters, without blanks and marks."""
    return [re.sub(r"[\s_.-]", "", field.lower()) for field in fields]


def usual_ends(fields: list[str]) -> tuple[int, int] | None:
    """Return the columns of sources and targets if fields have their usual names, such as ``from`` and ``to``."""
    plain = _plain(fields)
    source, target = (
        next((i for i, x in enumerate(plain) if names.fullmatch(x)), None) for names in (_SOURCE, _TARGET)
    )
    return None if source is None or target is None else (source, target)


def _first_column(rows: list[list[bytes]], titles: list[str], columns: list[int]) -> Literal["", "numbers", "unclear"]:
    """Tell whether the first of some columns numbers the rows of a table, so that the next two are its ends.

    Args:
      rows: the first rows, of which the first may be a header.
      titles: the fields of the first row, as :func:`_plain` returns them.
      columns: the columns that may be ends, in order.
    """
    first, *ends = columns[:3]
    if len(titles) <= ends[1]:
        return ""
    titled = not rows[0][first].isdigit()
    body = [row for row in rows[titled:] if len(row) == len(rows[0])]
    if not body or not all(row[first].isdigit() for row in body):
        return ""
    numbers = [row[first] for row in body]
    if len(set(numbers)) < len(numbers):
        return ""
    counts = counts_up(numbers)
    words = not any(is_number(row[end]) or row[end].lower() in MISSING for row in body for end in ends)
    named = _ROW_NUMBER.fullmatch(titles[first]) is not None  # digits are no such name
    if words:
        return "numbers" if named or counts else "unclear"
    return "numbers" if named and counts and all(row[end].isdigit() for row in body for end in ends) else ""


def counts_up(numbers: list[bytes]) -> bool:
    """Tell whether fields count from 0 or 1 on, as numbers of rows do."""
    return numbers[0] in (b"0", b"1") and numbers == [b"%d" % (int(numbers[0]) + i) for i in range(len(numbers))]


def _words_above_numbers(rows: list[list[bytes]], ends: tuple[int | str, int | str], options: Options) -> bool:
    width = len(rows[0])
    if options.text_ids or len(rows) < 2 or len(rows[1]) != width:
        return False
    if any(isinstance(end, str) or end >= width for end in ends):
        return False
    words = [not is_number(field) and field.lower() not in MISSING for field in rows[0]]
    numbers = [is_number(field) for field in rows[1]]
    if all(words[end] and numbers[end] for end in ends if isinstance(end, int)):
        return True
    rest = [row for row in rows[1:] if len(row) == width]
    values = [numbers[i] and all(is_number(row[i]) or row[i].lower() in MISSING for row in rest) for i in range(width)]
    return all(words) and any(value for i, value in enumerate(values) if i not in ends)


def is_number(word: bytes) -> bool:
    return _NUMBER.fullmatch(word) is not None


def first_mark(line: bytes) -> bytes:
    """Return the comma or semicolon that comes first in the line, or none; commas may also be points of numbers."""
    words = line.split()
    if b";" in line or (len(words) > 2 and b"," not in words[0] + words[1]):
        line = _DECIMAL.sub(b"number", line)
    return min((mark for mark in (b",", b";") if mark in line), key=line.index, default=b"")


FORMATS = {
    "edges": Reader(partial(read_list, delimiter=b""), None),
    "csv": Reader(read_csv, None),
    "tsv": Reader(partial(read_list, delimiter=b"\t"), None),
}
