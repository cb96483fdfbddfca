"""Lists of neighbours, a line of integers for each node: METIS, and LAD with labels or without."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from jaxmotif.graph._saved import GraphFileError
from jaxmotif.io._format import Contents, Options, Reader, Sample, one_based, passed_over
from jaxmotif.io._sized import is_size, leading_sizes, read_header
from jaxmotif.io._table import MAX_DIGITS
from jaxmotif.io._text import TextFile, shown

_COMMENTS = (b"%",)
"""What a comment of METIS begins with."""


def read_metis(file: TextFile, options: Options) -> Contents:
    """Read ``n m [fmt [ncon]]``, then for each node a line of neighbours counted from 1; weights are passed over."""
    n, m, *rest = read_header(file, "n m [fmt [ncon]]", 2, 4, comments=_COMMENTS)
    header = file.line
    skip, step = _layout(rest)
    before = f"{skip} numbers and then " if skip else ""
    layout = before + ("a weight after each neighbour" if step > 1 else "neighbours")

    def neighbours_of(values: list[int]) -> list[int] | None:
        return values[skip::step] if len(values) >= skip and (len(values) - skip) % step == 0 else None

    arcs, _, is_symmetric = _read_neighbours(file, n, 1, layout, neighbours_of, comments=_COMMENTS, blank=True)
    u, v = arcs.T
    if not is_symmetric:
        ups, downs = (Counter(map(tuple, (ends + 1).tolist())) for ends in (arcs[u < v], arcs[u > v][:, ::-1]))
        low, high = min((ups - downs) + (downs - ups))
        raise file.error(f"expected edge {low} {high} as often on the line of {low} as on that of {high}")
    loops, others = np.count_nonzero(u == v), np.count_nonzero(u < v)
    if m not in (others, others + loops):
        raise file.error(f"the header declares {m} edges, the lines hold {others}", header)
    notes = passed_over("weights", ["of nodes"] * (skip > 0) + ["of edges"] * (step > 1))
    return Contents(arcs[u <= v], n, directed=False, names=one_based, notes=notes)


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

    arcs, words, is_symmetric = _read_neighbours(file, n, 0, layout, neighbours_of, labelled, comments=())
    kept = arcs[arcs[:, 0] <= arcs[:, 1]] if is_symmetric else arcs
    node_labels = options.labels().of_bytes(words) if labelled else None
    return Contents(kept, n, not is_symmetric, None, node_labels)


def _read_neighbours(
    file: TextFile,
    n: int,
    lowest: int,
    layout: str,
    neighbours_of: Callable[[list[int]], list[int] | None],
    labelled: bool = False,
    **which: Any,
) -> tuple[np.ndarray, list[bytes], bool]:
    """Return the arcs of the rest of a file that has a line of integers for each of ``n`` nodes.

    Args:
      file: where to read, behind the header that declares the nodes.
      n: the number of nodes.
      lowest: the id of the first node.
      layout: what a line holds, for messages.
      neighbours_of: returns the neighbours among the integers of a line, or ``None`` where it has another layout.
      labelled: whether a label, any word, stands before the integers.
      **which: which lines are passed over, as in :meth:`TextFile.lines`.

    Returns:
      int64 ``[arcs, 2]``, numbers of nodes from 0 on; the labels; and whether each arc has its reverse.

    Raises:
      GraphFileError: a line of another layout, or more or fewer lines than nodes.
    """
    header, node = file.line, 0
    degrees: list[int] = []
    targets: list[int] = []
    labels: list[bytes] = []
    for number, line in file.lines(**which):
        fields = line.split()
        if node >= n and fields:
            raise file.error(f"the header on line {header} declares {n} nodes, and this line is one more", number, line)
        if wrong := [word for word in fields[labelled:] if not word.isdigit() or len(word) > MAX_DIGITS]:
            raise file.error(f"expected integers, the neighbours of a node, found {shown(wrong[0])} in", number, line)
        neighbours = neighbours_of(list(map(int, fields[labelled:])))
        if neighbours is None and node < n:
            raise file.error(f"expected {layout}", number, line)
        if outside := [id for id in neighbours or () if not lowest <= id < lowest + n]:
            wanted = f"neighbours in {lowest}..{lowest + n - 1}"
            raise file.error(f"expected {wanted}, found {outside[0]} in", number, line)
        degrees.append(len(neighbours or ()))
        targets += neighbours or ()
        labels += fields[:labelled]
        node += 1
    if node < n:
        raise file.error(f"the header on line {header} declares {n} nodes, but only {node} lines follow", file.line)
    sources = np.repeat(np.arange(len(degrees)), degrees)
    arcs = np.stack([sources, np.array(targets, np.int64) - lowest], axis=1)
    keys, mirrored = (np.sort(ends[:, 0] * n + ends[:, 1]) for ends in (arcs, arcs[:, ::-1]))
    return arcs, labels, np.array_equal(keys, mirrored)


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


def _is_lad(sample: Sample, labelled: bool) -> bool:
    sizes, rows = leading_sizes(sample), sample.rows[1:]
    if len(sizes) != 1 or (rows and sizes[0] == 0) or (labelled and not rows):
        return False
    rows = rows[: sizes[0]]
    return all(len(row) > labelled and row[labelled] == b"%d" % (len(row) - 1 - labelled) for row in rows)


FORMATS = {
    "metis": Reader(read_metis, _is_metis),
    "lad": Reader(partial(read_lad, labelled=False), partial(_is_lad, labelled=False)),
    "lad-labelled": Reader(partial(read_lad, labelled=True), partial(_is_lad, labelled=True)),
}
