"""LAD: for each node a line with its outdegree and its neighbours, perhaps with a label before them."""

from __future__ import annotations

import functools

import numpy as np

from jaxmotif.io._format import Contents, Options, Reader, Sample
from jaxmotif.io._orca import leading_sizes, read_header
from jaxmotif.io._table import read_neighbours
from jaxmotif.io._text import TextFile


def read_lad(file: TextFile, options: Options, labelled: bool) -> Contents:
    """Read n, then for each node ``[label] outdegree v1 v2 ...``, ids from 0; undirected if each arc has its reverse.

    Args:
      file: where to read.
      options: how labels are numbered.
      labelled: whether a label stands first on each line.
    """
    (n,) = read_header(file, "the number of nodes", 1, comments=())
    layout = f"{'label ' * labelled}outdegree v1 v2 ... with as many neighbours as the outdegree says"

    def neighbours_of(values: list[int]) -> list[int] | None:
        return values[1:] if values and values[0] == len(values) - 1 else None

    arcs, words = read_neighbours(file, n, 0, layout, neighbours_of, labelled, comments=())
    keys, mirrored = (np.sort(rows[:, 0] * n + rows[:, 1]) for rows in (arcs, arcs[:, ::-1]))
    symmetric = np.array_equal(keys, mirrored)
    kept = arcs[arcs[:, 0] <= arcs[:, 1]] if symmetric else arcs
    node_labels = options.labels().of_bytes(words) if labelled else None
    return Contents(kept, n, not symmetric, None, node_labels)


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
