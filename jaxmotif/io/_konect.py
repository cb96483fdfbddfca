"""KONECT's lists of edges: a header that says whether they are directed, and ids from 1 on."""

from __future__ import annotations

import re

import numpy as np

from jaxmotif.io._edge_list import read_list
from jaxmotif.io._format import INT32_MAX, Contents, Options, Reader, one_based
from jaxmotif.io._text import TextFile

_KONECT = re.compile(rb"%\s*(sym|asym|bip)\b")


def read_konect(file: TextFile, options: Options) -> Contents:
    """Read ``% sym|asym|bip ...``, perhaps ``% edges nodes nodes``, then rows of two ids from 1 on.

    Rows may go on with a weight and a time. Without the line of sizes the ids may also be words.
    """
    lines = file.head()[0].split(b"\n", 2)
    match = _KONECT.match(lines[0])
    if match is None:
        raise file.error("expected a KONECT header, % sym, % asym or % bip", 1, lines[0])
    directed = match[1] == b"asym"
    sizes = re.fullmatch(rb"%\s*(\d+)\s+(\d+)(?:\s+(\d+))?\s*", lines[1])
    if sizes is None:
        contents = read_list(file, options, b"", lowest=1)._replace(directed=directed)
        return _two_sided(contents) if match[1] == b"bip" else contents
    if max(len(size or b"") for size in sizes.groups()) > 10 or max(map(int, sizes.groups(b"0"))) > INT32_MAX:
        raise file.error(f"expected sizes of at most {INT32_MAX}", 2, lines[1])
    m, left, right = (int(size or sizes[2]) for size in sizes.groups())
    if match[1] != b"bip":
        left = right = max(left, right)
    if options.columns is not None and tuple(options.columns[:2]) == (1, 0):
        left, right = right, left
    contents = read_list(file, options, b"", 1, (left, right), m)._replace(directed=directed)
    if match[1] == b"bip":
        return _two_sided(contents, left, right)
    if contents.names is not None:  # text was asked for
        return contents
    return contents._replace(edges=contents.edges - 1, num_nodes=left, names=one_based)


def _two_sided(contents: Contents, left: int | None = None, right: int | None = None) -> Contents:
    """Return a bipartite list, whose sides both count from 1, with the right ids behind the left and names for both."""
    edges = contents.edges
    if contents.names is not None:
        return contents
    declared = left is not None
    if left is None or right is None:
        left, right = (int(side) for side in edges.max(axis=0, initial=0))
    border, total = left, left + right

    def names(ids: np.ndarray) -> np.ndarray:
        return np.array([f"L{i + 1}" if i < border else f"R{i - border + 1}" for i in ids.tolist()], object)

    return contents._replace(
        edges=edges - 1 + np.array([0, border]), num_nodes=total if declared else None, directed=False, names=names
    )


FORMATS = {"konect": Reader(read_konect, lambda sample: _KONECT.match(sample.first) is not None)}
