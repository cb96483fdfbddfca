"""METIS: a line of neighbours for each node."""

from __future__ import annotations

import os
from collections import Counter

import numpy as np

from jaxmotif.graph._saved import GraphFileError
from jaxmotif.io._format import Contents, Options, Reader, Sample, one_based, passed_over
from jaxmotif.io._orca import is_size, leading_sizes, read_header
from jaxmotif.io._table import checked_integers
from jaxmotif.io._text import TextFile

_COMMENTS = (b"%",)


def read_metis(file: TextFile, options: Options) -> Contents:
    """Read ``n m [fmt [ncon]]``, then for each node a line of neighbours counted from 1; weights are passed over."""
    n, m, *rest = read_header(file, "n m [fmt [ncon]]", 2, 4, comments=_COMMENTS)
    header = file.line
    skip, step = _layout(rest)
    edges: list[tuple[int, int]] = []
    node = 0
    for number, line in file.lines(_COMMENTS, blank=True):
        words = line.split()
        node += 1
        if node > n:
            if words:
                raise file.error(
                    f"the header on line {header} declares {n} nodes, and this line is one more", number, line
                )
            continue
        values = checked_integers(file, number, line, words, "integers, the neighbours of a node")
        if len(values) < skip or (len(values) - skip) % step:
            layout = f"{skip} numbers and then " if skip else ""
            wanted = f"expected {layout}{'a weight after each neighbour' if step > 1 else 'neighbours'}"
            raise file.error(wanted, number, line)
        for neighbour in values[skip::step]:
            if not 1 <= neighbour <= n:
                raise file.error(f"expected neighbours in 1..{n}, found {neighbour} in", number, line)
            edges.append((node, neighbour))
    if node < n:
        raise file.error(f"the header on line {header} declares {n} nodes, but only {node} lines follow", file.line)
    ups, downs = (Counter(edge for edge in ends if edge[0] < edge[1]) for ends in (edges, [(v, u) for u, v in edges]))
    if ups != downs:
        u, v = min((ups - downs) + (downs - ups))
        raise file.error(f"expected edge {u} {v} as often on the line of {u} as on that of {v}")
    loops = [edge for edge in edges if edge[0] == edge[1]]
    kept = [*(edge for edge in edges if edge[0] < edge[1]), *loops]
    if m not in (len(kept) - len(loops), len(kept)):
        raise file.error(f"the header declares {m} edges, the lines hold {len(kept) - len(loops)}", header)
    notes = passed_over("weights", ["of nodes"] * (skip > 0) + ["of edges"] * (step > 1))
    pairs = np.array(kept, np.int64).reshape(-1, 2) - 1
    return Contents(pairs, n, directed=False, names=one_based, notes=notes)


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
    """Tell whether exactly n lines follow the first and hold the numbers that m edges take.

    Where all lines have one length, so that the file could also be a table of edges, tell whether it is symmetric, too.
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
