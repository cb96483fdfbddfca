"""The canonical form of a small pattern: the lexicographically smallest row-major adjacency string."""

from __future__ import annotations

import numpy as np

from jaxmotif.patterns._pattern import Pattern


def canonical_order(pattern: Pattern) -> np.ndarray:
    """The node order that gives the smallest sequence of node labels, then of adjacency rows.

    Positions are filled one by one. The nodes not yet placed stand in an ordered partition: those that all rows so
    far treat alike share a cell. The next node comes from the first cell; its row is smallest when every cell is
    sorted by its entries, which splits the cells. Only the choices with the smallest row go on, and of
    interchangeable nodes (twins) only one. Time grows with the number of automorphisms that are no exchanges of
    twins; meant for patterns of up to about a dozen nodes.

    Returns:
      int64 ``[k]``: ``pattern.relabel(order)`` is the canonical form; isomorphic patterns have equal ones.

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
    """The canonical form as text; equal for isomorphic patterns and for no others of the same kind.

    Row-major adjacency, ``0`` and ``1``; with edge labels ``.`` or the label, between commas; node labels first,
    before a colon.

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
    """The lowest node that each node can be exchanged with, all others staying in place, int64 ``[k]``."""
    entries, k = pattern.entries, pattern.num_nodes
    labels = np.zeros(k, np.int64) if pattern.node_labels is None else pattern.node_labels
    classes = np.arange(k)
    for between in np.flatnonzero(np.bincount(entries.reshape(-1))):  # which, on the diagonal, makes twins' rows equal
        same = entries.copy()
        np.fill_diagonal(same, between)
        rows = np.column_stack([labels, same, same.T] if pattern.directed else [labels, same])
        lowest: dict[bytes, int] = {}
        classes = np.minimum(classes, [lowest.setdefault(row.tobytes(), u) for u, row in enumerate(rows)])
    return classes


def _split(cells: list[list[int]], row: list[int]) -> list[list[int]]:
    """Cells sorted by a row's entries, cut where the entries change."""
    parts = []
    for cell in cells:
        for node in cell:
            if parts and parts[-1][0] == id(cell) and row[parts[-1][1][-1]] == row[node]:
                parts[-1][1].append(node)
            else:
                parts.append((id(cell), [node]))
    return [part for _, part in parts]
