"""METIS: a line of neighbours for each node."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np

from jaxmotif.graph._saved import GraphFileError
from jaxmotif.io._format import Contents, Options, Reader, Sample, one_based, passed_over
from jaxmotif.io._orca import is_size, leading_sizes, read_header
from jaxmotif.io._table import read_neighbours
from jaxmotif.io._text import TextFile

_COMMENTS = (b"%",)


def read_metis(file: TextFile, options: Options) -> Contents:
    """Read ``n m [fmt [ncon]]``, then for each node a line of neighbours counted from 1; weights are passed over."""
    n, m, *rest = read_header(file, "n m [fmt [ncon]]", 2, 4, comments=_COMMENTS)
    header = file.line
    skip, step = _layout(rest)
    before = f"{skip} numbers and then " if skip else ""
    layout = before + ("a weight after each neighbour" if step > 1 else "neighbours")

    def neighbours_of(values: list[int]) -> list[int] | None:
        return values[skip::step] if len(values) >= skip and (len(values) - skip) % step == 0 else None

    arcs, _ = read_neighbours(file, n, 1, layout, neighbours_of, comments=_COMMENTS, blank=True)
    u, v = arcs.T
    keys, mirrored = (np.sort(rows[:, 0] * n + rows[:, 1]) for rows in (arcs, arcs[:, ::-1]))
    if not np.array_equal(keys, mirrored):
        ups, downs = (Counter(map(tuple, (ends + 1).tolist())) for ends in (arcs[u < v], arcs[u > v][:, ::-1]))
        low, high = min((ups - downs) + (downs - ups))
        raise file.error(f"expected edge {low} {high} as often on the line of {low} as on that of {high}")
    loops, others = np.count_nonzero(u == v), np.count_nonzero(u < v)
    if m not in (others, others + loops):
        raise file.error(f"the header declares {m} edges, the lines hold {others}", header)
    notes = passed_over("weights", ["of nodes"] * (skip > 0) + ["of edges"] * (step > 1))
    return Contents(arcs[u <= v], n, directed=False, names=one_based, notes=notes)


def _layout(fields: list[int]) -> tuple[int, int]:
    """Return how many numbers stand before the neighbours of a line, and how many for each neighbour.

    Args:
      fields: what the header says beyond the sizes, ``fmt`` and ``ncon``.
    """
    fmt = fields[0] if fields else 0
    sizes, node_weights, edge_weights = fmt // 100 % 10, fmt // 10 % 10, fmt % 10
    constraints = fields[1] if len(fields) > 1 else 1
    return int(sizes > 0) + (constraints if node_weights else 0), 2 if edge_weights else 1


def _is_metis(sample: Sample) -> bool:
    """Tell whether exactly n lines follow the header, with as many numbers as m edges take.

    If all lines have the same length, the file could also be a table of edges. Then the lists of neighbours must also
    be symmetric.
    """
    sizes, path = leading_sizes(sample), sample.path
    if not 2 <= len(sizes) <= 4:
        return False
    n, m, *rest = sizes
    fmt = rest[0] if rest else 0
    if n == 0 or set(str(fmt)) - {"0", "1"} or fmt > 111 or not os.path.isfile(path):  # a pipe is read only once
        return False
    if not all(is_size(word) and (fmt or int(word) <= n) for row in sample.rows[1:] for word in row):
        return False
    skip, step = _layout(rest)
    with TextFile(path) as file:
        if (file.data_line(_COMMENTS) or b"#").startswith(b"#"):
            return False
        lengths = [len(line.split()) for _, line in file.lines(_COMMENTS, blank=True)]
    if len(lengths) < n or any(lengths[n:]) or sum(lengths) != n * skip + 2 * m * step:
        return False
    if len(set(lengths)) > 1:
        return True
    with TextFile(path) as file:
        try:
            read_metis(file, Options())
        except GraphFileError:
            return False
    return True


FORMATS = {"metis": Reader(read_metis, _is_metis)}
