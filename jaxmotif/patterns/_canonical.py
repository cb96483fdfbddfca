"""The canonical form of a small pattern: the lexicographically smallest row-major adjacency string."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from jaxmotif.patterns._pattern import Pattern


def canonical_order(pattern: Pattern) -> np.ndarray:
    """Return the node order that gives the smallest sequence of node labels, then of adjacency rows.

    Positions are filled one by one. The nodes that are not placed yet form an ordered partition, in which nodes that
    all rows so far treat alike share a cell. The next node comes from the first cell. Its row is smallest when every
    cell is sorted by the row's entries, which splits the cells. A cell is stored as a set of bits; to compare rows it
    is enough to count how many nodes of each cell have each entry. Only the choices with the smallest row are followed
    further, and of several interchangeable nodes (twins) only one. The time grows with the number of automorphisms that
    are not exchanges of twins; the function is meant for patterns of up to about a dozen nodes.

    Returns:
      int64 ``[k]``. ``pattern.relabel(order)`` is the canonical form, which isomorphic patterns share.

    Example:
      >>> canonical_order(Pattern.from_edges([(0, 1), (0, 2)])).tolist()
      [1, 2, 0]
    """
    entries, k = pattern.entries.tolist(), pattern.num_nodes
    twins = twin_classes(pattern).tolist()
    labels = [0] * k if pattern.node_labels is None else pattern.node_labels.tolist()
    rows = [_places_by_value(row) for row in entries]
    states: list[tuple[list[int], list[int]]] = [([], [cell for _, cell in _places_by_value(labels)])]
    for _ in range(k):
        least: list[int] | None = None
        chosen: list[tuple[list[int], list[int]]] = []
        for order, cells in states:
            tried = set()
            for node in range(k):
                if not cells[0] >> node & 1 or twins[node] in tried:
                    continue
                tried.add(twins[node])
                key = [entries[node][u] for u in order]
                of_cells, rest = _split((cells[0] & ~(1 << node), *cells[1:]), rows[node], k)
                key += of_cells
                if least is None or key < least:
                    least, chosen = key, []
                if key == least:
                    chosen.append((order + [node], rest))
        states = chosen
    return np.array(states[0][0], np.int64)


def _places_by_value(values: list[int]) -> list[tuple[int, int]]:
    """Return the different values in ascending order, each with the set of its places, as the bits of an integer."""
    places: dict[int, int] = {}
    for place, value in enumerate(values):
        places[value] = places.get(value, 0) | 1 << place
    return sorted(places.items())


def _split(cells: Iterable[int], row: list[tuple[int, int]], size: int) -> tuple[list[int], list[int]]:
    """Split cells of nodes by the entries of a row, which ascend in each cell.

    Returns:
      A list of numbers by which rows of ``size`` entries are compared, and the parts. Of two rows that agree so far,
      the one that has an entry more often is smaller: where the other row already has a larger entry, it still has
      this one.
    """
    key, parts = [], []
    for cell in cells:
        for entry, nodes in row:
            if part := cell & nodes:
                key.append(entry * size - part.bit_count())
                parts.append(part)
    return key, parts


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
    classes = np.arange(k)
    # Rows of twins are equal once the diagonal has the entry that stands between the two.
    for entry in np.flatnonzero(np.bincount(entries.reshape(-1))):
        same = entries.copy()
        np.fill_diagonal(same, entry)
        columns = [same, same.T] if pattern.directed else [same]
        if pattern.node_labels is not None:
            columns.append(pattern.node_labels[:, None])
        rows = np.concatenate(columns, axis=1)
        lowest: dict[bytes, int] = {}
        classes = np.minimum(classes, [lowest.setdefault(row.tobytes(), u) for u, row in enumerate(rows)])
    return classes
