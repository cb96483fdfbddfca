"""SIF, Cytoscape's lists of relations, and what tells them from tables of edges."""

from __future__ import annotations

import numpy as np

from jaxmotif.io._edge_list import (
    HEADER_ROWS,
    MISSING,
    delimiter_of,
    is_number,
    layout_of,
    no_rows,
    sorted_names,
    usual_ends,
)
from jaxmotif.io._format import Contents, Options, Reader, Sample, is_undirected, passed_over
from jaxmotif.io._table import Numbering
from jaxmotif.io._text import TextFile, fields_of

_LABELS = (None, 1, "relation", "interaction")
"""The options that mean the relation."""


def read_sif(file: TextFile, options: Options) -> Contents:
    """Read lines ``source relation target [target ...]``, or a node alone; between tabs if there are any."""
    if options.edge_label not in _LABELS:
        raise file.error(f"SIF has one edge label, the relation, not {options.edge_label!r}")
    numbering, labels = Numbering(), options.labels()
    edges: list[tuple[int, int]] = []
    relations: list[bytes] = []
    rows = list(file.lines())
    delimiter = b"\t" if any(b"\t" in row for _, row in rows) else b""
    for number, row in rows:
        fields = fields_of(row, delimiter)
        if len(fields) == 2 or b"" in fields:
            raise file.error("expected source, relation and target", number, b"\t".join(fields))
        source, *targets = numbering.codes([fields[0], *fields[2:]]).tolist()
        edges += [(source, target) for target in targets]
        relations += fields[1:2] * len(targets)
    if not numbering.known:
        raise no_rows(file)
    undirected = np.array([is_undirected(relation.decode()) for relation in relations], bool)
    contents = Contents(np.array(edges, np.int64).reshape(-1, 2), len(numbering.known))
    contents = sorted_names(contents.with_undirected(undirected), numbering.known)
    if options.edge_label is not None:
        return contents._replace(edge_labels=labels.of_bytes(relations))
    words = sorted({relation.decode() for relation in relations})
    remedy = "; edge_label=1 makes them the edges' labels"
    return contents._replace(notes=passed_over("the relations", words, remedy))


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


FORMATS = {"sif": Reader(read_sif, _is_sif, "rows")}
