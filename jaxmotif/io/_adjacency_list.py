"""Adjacency lists of names, as networkx writes them."""

from __future__ import annotations

import re

import numpy as np

from jaxmotif.io._edge_list import delimiter_of, no_rows, sorted_names
from jaxmotif.io._format import Contents, Options, Reader, Sample
from jaxmotif.io._sif import name_rows
from jaxmotif.io._table import Numbering
from jaxmotif.io._text import TextFile


def read_adjacency_list(file: TextFile, options: Options) -> Contents:
    """Read lines ``node neighbour neighbour ...``; an undirected edge may stand on one or both."""
    numbering = Numbering()
    edges: list[tuple[int, int]] = []
    for _, fields in name_rows(file, tabs=False):
        source, *targets = numbering.codes(fields).tolist()
        edges += [(source, target) for target in targets]
    if not numbering.known:
        raise no_rows(file)
    contents = Contents(np.array(edges, np.int64).reshape(-1, 2), len(numbering.known))
    if options.text_ids or not all(re.fullmatch("0|[1-9][0-9]{0,17}", name) for name in numbering.known):
        return sorted_names(contents, numbering.known)
    ids = np.array([int(name) for name in numbering.known], np.int64)
    names, rank = np.unique(ids, return_inverse=True)
    return contents._replace(edges=rank.reshape(-1)[contents.edges], num_nodes=len(names), names=names)


def _is_adjacency_list(sample: Sample) -> bool:
    """Tell whether a file begins with networkx's banner, or has rows that differ in length and in their first words.

    Raises:
      GraphFileError: there is no banner, and the rows could be lists of neighbours or edges with attributes.
    """
    if re.match(rb"#[^\n]*\n# GMT [^\n]*\n#", sample.head):
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


FORMATS = {"adjlist": Reader(read_adjacency_list, _is_adjacency_list, "rows")}
