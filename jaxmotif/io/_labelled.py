"""The labelled text format: sizes, a label for each node, then edges that may have labels."""

from __future__ import annotations

import numpy as np

from jaxmotif.io._format import Contents, LabelColumn, Labels, Options, Reader, Sample
from jaxmotif.io._orca import leading_sizes, read_header
from jaxmotif.io._table import Column, first_words, read_table
from jaxmotif.io._text import TextFile


def read_labelled(file: TextFile, options: Options) -> Contents:
    """Read ``n m directed(0|1)``, n lines with a node label, m lines ``u v [edge label]`` of ids from 0 on."""
    n, m, directed = read_header(file, "n m directed(0|1)", 3)
    if directed > 1:
        raise file.error(f"expected directed to be 0 or 1, found {directed}", file.line)
    node_labels = options.labels().of_bytes(first_words(file, n, "a node label"))
    edges, edge_labels = labelled_edges(file, n, m, options.labels())
    return Contents(edges, n, bool(directed), None, node_labels, edge_labels)


def labelled_edges(file: TextFile, n: int, m: int, labels: Labels) -> tuple[np.ndarray, LabelColumn | None]:
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


FORMATS = {"labelled": Reader(read_labelled, _is_labelled)}
