"""Rows of names: SIF, Cytoscape's lists of relations, and lists of neighbours, as networkx writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from jaxmotif.io._edge_list import (
    HEADER_ROWS,
    MISSING,
    delimiter_of,
    first_mark,
    is_number,
    layout_of,
    no_rows,
    sorted_names,
    usual_ends,
)
from jaxmotif.io._format import Contents, Options, Reader, Sample, is_undirected, passed_over
from jaxmotif.io._table import Numbering
from jaxmotif.io._text import TextFile, fields_of

_RELATIONS = (None, 1, "relation", "interaction")
"""The values of ``edge_label`` that mean the relation of SIF."""
_BANNER = re.compile(rb"#[^\n]*\n# GMT [^\n]*\n#")
"""The comments that networkx writes above a list."""


def read_sif(file: TextFile, options: Options) -> Contents:
    """Read lines ``source relation target [target ...]``, or a node alone; between tabs if there are any."""
    if options.edge_label not in _RELATIONS:
        raise file.error(f"SIF has one edge label, the relation, not {options.edge_label!r}")
    lines = list(file.lines())
    delimiter = b"\t" if any(b"\t" in line for _, line in lines) else b""
    rows: list[list[bytes]] = []
    relations: list[bytes] = []
    for number, line in lines:
        source, *others = fields_of(line, delimiter)
        if len(others) == 1 or b"" in (source, *others):
            raise file.error("expected source, relation and target", number, b"\t".join((source, *others)))
        rows.append([source, *others[1:]])
        relations += others[:1] * (len(others) - 1)
    contents, numbers = _join_rows(file, rows)
    undirected = np.array([is_undirected(relation.decode()) for relation in relations], bool)
    contents = sorted_names(contents.with_undirected(undirected), numbers)
    if options.edge_label is not None:
        return contents._replace(edge_labels=options.labels().of_bytes(relations))
    words = sorted({relation.decode() for relation in relations})
    remedy = "; edge_label=1 makes them the edges' labels"
    return contents._replace(notes=passed_over("the relations", words, remedy))


def read_adjacency_list(file: TextFile, options: Options) -> Contents:
    """Read lines ``node neighbour neighbour ... # comment``; an undirected edge may stand on one or both.

    In a list of networkx that has tabs, they separate the names; where no line has a blank, commas or semicolons do.

    Raises:
      GraphFileError: networkx has written the list in several lines for a node, which looks much the same.
    """
    is_networkx = _BANNER.match(file.head()[0]) is not None
    lines = [(number, re.split(rb"\s#", line)[0].strip()) for number, line in file.lines()]
    text = b"".join(line for _, line in lines)
    delimiter = b"\t" if is_networkx and b"\t" in text else b"" if re.search(rb"\s", text) else first_mark(text)
    rows = [fields_of(line, delimiter) for _, line in lines]
    for (number, line), row in zip(lines, rows, strict=True):
        if b"" in row:
            raise file.error("expected a node and its neighbours, found '' in", number, line)
        if len(row) > 1 and row[1].startswith(b"{") and row[-1].endswith(b"}"):
            problem = "this is a multiline adjacency list; write it with nx.write_adjlist or nx.write_edgelist"
            raise file.error(problem, number, line)
    contents, numbers = _join_rows(file, rows)
    if options.text_ids or not all(re.fullmatch("0|[1-9][0-9]{0,17}", name) for name in numbers):
        return sorted_names(contents, numbers)
    ids = np.array([int(name) for name in numbers], np.int64)
    names, rank = np.unique(ids, return_inverse=True)
    return contents._replace(edges=rank[contents.edges], num_nodes=len(names), names=names)


def _join_rows(file: TextFile, rows: Sequence[list[bytes]]) -> tuple[Contents, dict[str, int]]:
    """Return the contents in which the first name of each row is joined to the others, and the numbers of all names.

    Raises:
      GraphFileError: there is no row.
    """
    if not rows:
        raise no_rows(file)
    numbering, sizes = Numbering(), np.array([len(row) for row in rows])
    codes, first = numbering.codes([name for row in rows for name in row]), np.cumsum(sizes) - sizes
    edges = np.stack([np.repeat(codes[first], sizes - 1), np.delete(codes, first)], axis=1)
    return Contents(edges, len(numbering.known)), numbering.known


def _table(sample: Sample) -> list[list[bytes]]:
    """Return the first rows as an edge list would read them; no rows if there is a header or a column of numbers."""
    if not sample.lines:
        return []
    delimiter = delimiter_of(sample.lines[0])
    rows = [fields_of(line, delimiter) for line in sample.lines]
    layout = layout_of(rows[:HEADER_ROWS], Options())
    return [] if layout.header is not None or layout.first == "numbers" else rows


def _is_sif(sample: Sample) -> bool:
    """Tell whether the words in the middle column are relations, by the file's name or as none is the end of a row.

    Raises:
      GraphFileError: the words could be relations, but also the second ends of rows whose third column is an attribute.
    """
    if sample.has_suffix((".sif",)) and _is_plain(sample.lines):
        return True
    rows = _table(sample)
    if not rows or not any(len(row) > 2 for row in rows) or any(len(row) == 2 for row in rows):
        return False
    rows = [row for row in rows if len(row) > 2]
    sources, middle = {row[0] for row in rows}, {row[1] for row in rows}
    targets, third = {word for row in rows for word in row[2:]}, {row[2] for row in rows}
    if all(map(is_number, sources | middle)) or (all(map(_is_value, third)) and not all(map(is_number, sources))):
        return False  # ids and numbers beside them: a weight, a time
    if middle & (sources | targets):
        return False
    if sources & targets or sample.has_suffix((".sif",)):
        return True
    raise sample.file.error(
        'the middle column may hold relations or ends of edges; say which: format="sif", or columns=(0, 1)'
    )


def _is_plain(lines: list[bytes]) -> bool:
    """Tell whether the lines of a file called .sif are nodes alone, or relations between tabs, without titles."""
    tabs = b"\t" if any(b"\t" in line for line in lines) else None
    rows = [line.split(tabs) for line in lines]
    sizes = set(map(len, rows))
    titled = bool(rows) and usual_ends([field.decode() for field in rows[0]]) is not None
    return not titled and (sizes == {1} or (tabs is not None and 2 not in sizes))


def _is_value(word: bytes) -> bool:
    """Tell whether a word stands for a number, or for one that is missing."""
    return is_number(word) or word.lower() in MISSING


def _is_adjacency_list(sample: Sample) -> bool:
    """Tell whether a file begins with networkx's banner, or has rows that differ in length and in their first words.

    Raises:
      GraphFileError: there is no banner, and the rows could be lists of neighbours or edges with attributes.
    """
    if _BANNER.match(sample.head):
        return True
    rows = sample.rows
    firsts = {row[0] for row in rows}
    if len(rows) < 2 or len(firsts) < len(rows) or max(map(len, rows)) < 3 or delimiter_of(sample.lines[0]) != b"":
        return False
    if sample.has_suffix((".adjlist", ".adj")):
        return True
    closed = all(set(row) <= firsts and len(set(row)) == len(row) for row in rows)
    if sample.whole and closed:
        raise sample.file.error(
            "the rows may be neighbours of their first words, or edges with attributes; say which: "
            'format="adjlist", or columns=(0, 1)'
        )
    return False


FORMATS = {
    "sif": Reader(read_sif, _is_sif, "rows"),
    "adjlist": Reader(read_adjacency_list, _is_adjacency_list, "rows"),
}
