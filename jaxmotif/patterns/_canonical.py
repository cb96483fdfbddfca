"""The canonical form of a small pattern: the lexicographically smallest row-major adjacency string."""

from __future__ import annotations

import itertools

import numpy as np

from jaxmotif.patterns._pattern import Pattern


def canonical_order(pattern: Pattern) -> np.ndarray:
    """Return the node order that gives the smallest sequence of node labels, then of adjacency rows.

    Positions are filled one by one. The nodes that are not placed yet stand in an ordered partition, in which nodes
    that all rows so far treat alike share a cell. The next node comes from the first cell. Its row is smallest when
    every cell is sorted by the row's entries, which splits the cells. Only the choices with the smallest row go on,
    and only one of several interchangeable nodes (twins). The time grows with the number of automorphisms that are no
    exchanges of twins; the function is meant for patterns of up to about a dozen nodes.

    Returns:
      int64 ``[k]``. ``pattern.relabel(order)`` is the canonical form, which isomorphic patterns share.

    Example:
      >>> canonical_order(Pattern.from_edges([(0, 1), (0, 2)])).tolist()
      [1, 2, 0]
    """
    entries, k = pattern.entries.tolist(), pattern.num_nodes
    twins = twin_classes(pattern)
    labels = np.zeros(k, np.int64) if pattern.node_labels is None else pattern.node_labels
    cells = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    states: list[tuple[list[int], list[list[int]]]] = [([], cells)]
    for _ in range(k):
        least: list[int] | None = None
        chosen: list[tuple[list[int], list[list[int]]]] = []
        for order, cells in states:
            tried = set()
            for node in cells[0]:
                if twins[node] in tried:
                    continue
                tried.add(twins[node])
                row = entries[node]
                rest = [sorted((u for u in cell if u != node), key=row.__getitem__) for cell in cells]
                string = [row[u] for u in order]
                string += [row[u] for cell in rest for u in cell]
                if least is None or string < least:
                    least, chosen = string, []
                if string == least:
                    chosen.append((order + [node], _split(rest, row)))
        states = chosen
    return np.array(states[0][0], np.int64)


def canonical_string(pattern: Pattern) -> str:
    """Return the canonical form as text, which is equal for isomorphic patterns, and for no others of the same kind.

    It is the row-major adjacency, as ``0`` and ``1``. With edge labels an entry is ``.`` or the label, and commas stand
    between the entries. Node labels come first, before a colon.

    Example:
      >>> canonical_string(Pattern.from_edges([(0, 1), (0, 2)]))
      '001001110'
      >>> canonical_string(Pattern.from_edges([(0, 1)], directed=True, node_labels=[7, 3]))
      '3,7:0010'
    """
    form = pattern.relabel(canonical_order(pattern))
    if form.edge_labels is None:
        text = "".join("1" if edge else "0" for edge in form.adjacency.ravel())
    else:
        cells = zip(form.adjacency.ravel(), form.edge_labels.ravel(), strict=True)
        text = ",".join(str(label) if edge else "." for edge, label in cells)
    return text if form.node_labels is None else f"{','.join(map(str, form.node_labels))}:{text}"


def twin_classes(pattern: Pattern) -> np.ndarray:
    """Return the lowest node that each node can be exchanged with while all others stay in place, int64 ``[k]``."""
    entries, k = pattern.entries, pattern.num_nodes
    labels = np.zeros(k, np.int64) if pattern.node_labels is None else pattern.node_labels
    classes = np.arange(k)
    # Rows of twins are equal once the diagonal has the entry that stands between the two.
    for entry in np.flatnonzero(np.bincount(entries.reshape(-1))):
        same = entries.copy()
        np.fill_diagonal(same, entry)
        rows = np.column_stack([labels, same, same.T] if pattern.directed else [labels, same])
        lowest: dict[bytes, int] = {}
        classes = np.minimum(classes, [lowest.setdefault(row.tobytes(), u) for u, row in enumerate(rows)])
    return classes


def _split(cells: list[list[int]], row: list[int]) -> list[list[int]]:
    """Cut cells, which are sorted by a row's entries, where the entries change."""
    return [list(part) for cell in cells for _, part in itertools.groupby(cell, key=row.__getitem__)]
