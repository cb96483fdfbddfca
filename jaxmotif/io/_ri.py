"""RI's graphs, undirected or directed."""

from __future__ import annotations

import functools
import re

from jaxmotif.io._format import Contents, Options, Reader, Sample
from jaxmotif.io._labelled import labelled_edges
from jaxmotif.io._orca import read_header
from jaxmotif.io._table import first_words
from jaxmotif.io._text import TextFile


def read_ri(file: TextFile, options: Options, directed: bool) -> Contents:
    """Read ``#name``, n, n lines with a node label, m, m lines ``u v [edge label]`` of ids from 0 on."""
    title = b"".join(file.take_lines(1))
    if not title.startswith(b"#"):
        raise file.error("expected #name, the title of an RI graph", 1, title)
    (n,) = read_header(file, "the number of nodes", 1, comments=())
    node_labels = options.labels().of_bytes(first_words(file, n, "a node label"))
    (m,) = read_header(file, "the number of edges", 1, comments=())
    edges, edge_labels = labelled_edges(file, n, m, options.labels())
    return Contents(edges, n, directed, None, node_labels, edge_labels)


def _is_ri(sample: Sample, directed: bool) -> bool:
    if not sample.first.startswith(b"#"):
        return False
    rows = sample.rows[:2]
    single = len(rows) == 2 and len(rows[0]) == len(rows[1]) == 1 and rows[0][0].isdigit()
    return single and directed == bool(re.search(r"d(\.gz)?$", sample.path))


FORMATS = {
    "gff": Reader(functools.partial(read_ri, directed=False), functools.partial(_is_ri, directed=False)),
    "gfd": Reader(functools.partial(read_ri, directed=True), functools.partial(_is_ri, directed=True)),
}
