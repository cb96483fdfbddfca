"""Adjacency lists of names, as networkx writes them."""

from __future__ import annotations

import re

import numpy as np

from jaxmotif.io._edge_list import delimiter_of, first_mark, no_rows, sorted_names
from jaxmotif.io._format import Contents, Options, Reader, Sample
from jaxmotif.io._table import Numbering
from jaxmotif.io._text import TextFile, fields_of

_BANNER = re.compile(rb"#[^\n]*\n# GMT [^\n]*\n#")
"""The comments that networkx writes above a list."""


def read_adjacency_list(file: TextFile, options: Options) -> Contents:
    """Read lines ``node neighbour neighbour ... # comment``; an undirected edge may stand on one or both.

    In a list of networkx that has tabs, they separate the names; where no line has a blank, commas or semicolons do.

    Raises:
      GraphFileError: networkx has written the list in several lines for a node, which looks much the same.
    """
    numbering = Numbering()
    edges: list[tuple[int, int]] = []
    is_networkx = _BANNER.match(file.head()[0]) is not None
    rows = [(number, re.split(rb"\s#", line)[0].strip()) for number, line in file.lines()]
    text = b"".join(line for _, line in rows)
    delimiter = b"\t" if is_networkx and b"\t" in text else b"" if re.search(rb"\s", text) else first_mark(text)
    for number, line in rows:
        fields = fields_of(line, delimiter)
        if b"" in fields:
            raise file.error("expected a node and its neighbours, found '' in", number, line)
        if len(fields) > 1 and fields[1].startswith(b"{") and fields[-1].endswith(b"}"):
            problem = "this is a multiline adjacency list; write it with nx.write_adjlist or nx.write_edgelist"
            raise file.error(problem, number, line)
        source, *targets = numbering.codes(fields).tolist()
        edges += [(source, target) for target in targets]
    if not numbering.known:
        raise no_rows(file)
    contents = Contents(np.array(edges, np.int64).reshape(-1, 2), len(numbering.known))
    if options.text_ids or not all(re.fullmatch("0|[1-9][0-9]{0,17}", name) for name in numbering.known):
        return sorted_names(contents, numbering.known)
    ids = np.array([int(name) for name in numbering.known], np.int64)
    names, rank = np.unique(ids, return_inverse=True)
    return contents._replace(edges=rank[contents.edges], num_nodes=len(names), names=names)


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


FORMATS = {"adjlist": Reader(read_adjacency_list, _is_adjacency_list, "rows")}
