"""Adjacency lists of names, as networkx writes them."""

from __future__ import annotations

import re

import numpy as np

from jaxmotif.io._edge_list import delimiter_of, no_rows, sorted_names
from jaxmotif.io._format import Contents, Options, Reader, Sample
from jaxmotif.io._table import Numbering
from jaxmotif.io._text import TextFile


def read_adjacency_list(file: TextFile, options: Options) -> Contents:
    """Read lines ``node neighbour neighbour ... # comment``; an undirected edge may stand on one or both.

    Raises:
      GraphFileError: networkx has written the list in several lines for a node, which looks much the same.
    """
    numbering = Numbering()
    edges: list[tuple[int, int]] = []
    for number, line in file.lines():
        fields = re.split(rb"\s#", line)[0].split()
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
