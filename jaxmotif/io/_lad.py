"""LAD: for each node a line with its outdegree and its neighbours, perhaps with a label before them."""

from __future__ import annotations

import functools

import numpy as np

from jaxmotif.io._format import Contents, Options, Reader, Sample
from jaxmotif.io._orca import leading_sizes, read_header
from jaxmotif.io._table import checked_integers
from jaxmotif.io._text import TextFile


def read_lad(file: TextFile, options: Options, labelled: bool) -> Contents:
    """Read n, then for each node ``[label] outdegree v1 v2 ...``, ids from 0; undirected if each arc has its reverse.

    Args:
      file: where to read.
      options: how labels are numbered.
      labelled: whether a label stands first on each line.
    """
    (n,) = read_header(file, "the number of nodes", 1, comments=())
    header = file.line
    words: list[bytes] = []
    arcs: list[tuple[int, int]] = []
    node = 0
    for number, line in file.lines(comments=()):
        if node == n:
            raise file.error(f"line {header} declares {n} nodes, and this line is one more", number, line)
        fields = line.split()
        values = checked_integers(file, number, line, fields[labelled:], "integers, an outdegree and its neighbours")
        if not values or len(values) - 1 != values[0]:
            layout = "label outdegree v1 v2 ..." if labelled else "outdegree v1 v2 ..."
            raise file.error(f"expected {layout} with as many neighbours as the outdegree says", number, line)
        if wrong := [neighbour for neighbour in values[1:] if neighbour >= n]:
            raise file.error(f"expected neighbours in 0..{n - 1}, found {wrong[0]} in", number, line)
        words += fields[:labelled]
        arcs += [(node, neighbour) for neighbour in values[1:]]
        node += 1
    if node < n:
        raise file.error(f"line {header} declares {n} nodes, but only {node} lines follow", file.line)
    symmetric = sorted(arcs) == sorted((v, u) for u, v in arcs)
    kept = [arc for arc in arcs if arc[0] <= arc[1]] if symmetric else arcs
    node_labels = options.labels().of_bytes(words) if labelled else None
    return Contents(np.array(kept, np.int64).reshape(-1, 2), n, not symmetric, None, node_labels)


def _is_lad(sample: Sample, labelled: bool) -> bool:
    sizes, rows = leading_sizes(sample), sample.rows[1:]
    if len(sizes) != 1 or (rows and sizes[0] == 0) or (labelled and not rows):
        return False
    rows = rows[: sizes[0]]
    return all(len(row) > labelled and row[labelled] == b"%d" % (len(row) - 1 - labelled) for row in rows)


FORMATS = {
    "lad": Reader(functools.partial(read_lad, labelled=False), functools.partial(_is_lad, labelled=False)),
    "lad-labelled": Reader(functools.partial(read_lad, labelled=True), functools.partial(_is_lad, labelled=True)),
}
