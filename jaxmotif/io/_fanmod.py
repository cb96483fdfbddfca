"""FANMOD's lists of arcs, with the colors of nodes and edges."""

from __future__ import annotations

import numpy as np

from jaxmotif.io._edge_list import no_rows
from jaxmotif.io._format import ID, Contents, LabelColumn, Options, Reader, Sample
from jaxmotif.io._table import Column, read_table
from jaxmotif.io._text import TextFile

_COLORS = 16
"""The number of colors that FANMOD knows."""


def read_fanmod(file: TextFile, options: Options) -> Contents:
    """Read ``u v`` of integers, perhaps the colors of u and v, perhaps the color of the edge."""
    rows = file.first_rows(1)
    if not rows:
        raise no_rows(file)
    width = len(rows[0].split())
    if not 2 <= width <= 5:
        raise file.error("expected two ends, perhaps their two colors, and perhaps the edge's", file.line + 1, rows[0])
    first_line = file.line + 1
    colors = [Column(column, f"a color below {_COLORS}", high=_COLORS - 1) for column in range(2, width)]
    table = read_table(file, width, [Column(0, ID, zeros=False), Column(1, ID, zeros=False), *colors])
    edges = np.ascontiguousarray(table[:, :2])
    edge_labels = LabelColumn(table[:, -1]) if width in (3, 5) else None
    contents = Contents(edges, directed=True, edge_labels=edge_labels)
    if width < 4:
        return contents
    ids, places = np.unique(edges.T.ravel(), return_inverse=True)
    given = table[:, 2:4].T.ravel()
    color = np.zeros(len(ids), np.int64)
    color[places] = given
    wrong = np.flatnonzero(color[places] != given)
    if len(wrong):
        node = ids[places[wrong[0]]]
        raise file.error(
            f"node {node} has two colors, {given[wrong[0]]} and {color[places[wrong[0]]]}; "
            'format="edges" passes these columns over',
            first_line + int(wrong[0] % len(edges)) if file.line - first_line + 1 == len(edges) else None,
        )
    return contents._replace(
        edges=places.reshape(2, -1).T, num_nodes=len(ids), names=ids, node_labels=LabelColumn(color)
    )


def _is_fanmod(sample: Sample) -> bool:
    """Tell whether columns 3 and 4 can be the colors of the ends.

    They are small numbers, a node has the same number wherever it occurs, and not all nodes have the same.
    """
    rows = sample.rows
    if not rows or len(rows[0]) not in (4, 5) or any(len(row) != len(rows[0]) for row in rows):
        return False
    if not all(word.isdigit() for row in rows for word in row):
        return False
    colors: dict[bytes, bytes] = {}
    repeats = 0
    for row in rows:
        for end, color in zip(row[:2], row[2:4], strict=True):
            repeats += end in colors
            if len(color) > 2 or int(color) >= _COLORS or colors.setdefault(end, color) != color:
                return False
    return repeats > 1 and len(set(colors.values())) > 1


FORMATS = {"fanmod": Reader(read_fanmod, _is_fanmod, "rows")}
