"""Numbers of subgraphs of up to four nodes at each edge and node, induced or not, by formulas of one line each.

Where triangles, cycles or cliques have to be known, they come from the 0/1 matrix of each node's neighbourhood.
"""

from __future__ import annotations

import time

import numpy as np

from ._graph import SimpleGraph
from ._shapes import Shape, canonical, plain_shape

LARGEST_NEIGHBOURHOOD = 8192
MOST_STEPS = 1e12
"""Limits of the matrices: 256 MiB for one, and some minutes for the products of all."""


def feasible(graph: SimpleGraph) -> bool:
    """Return whether the matrices of all neighbourhoods are within the limits."""
    degrees = graph.degrees.astype(float)
    steps = (degrees**3).sum() + float(graph.nodes) ** 2
    return bool(degrees.max(initial=0) <= LARGEST_NEIGHBOURHOOD and steps <= MOST_STEPS)


def count_at_arcs(graph: SimpleGraph, deadline: float) -> np.ndarray:
    """Return sums of each arc v -> w over the triangles vwx, int64 ``[5, 2 m]``, arcs as in ``graph.rows``.

    They are the triangles, the 4-cliques, the 4-cycles through vw, and the sums of t(v, x) and of the degree of x.
    """
    offsets, targets, _ = graph.rows
    sums, place = np.zeros((5, len(targets)), np.int64), np.full(graph.nodes, -1)
    for v in np.flatnonzero(graph.degrees).tolist():
        if time.monotonic() > deadline:
            raise TimeoutError
        near = targets[offsets[v] : offsets[v + 1]]
        lengths = graph.degrees[near]
        starts = np.cumsum(lengths) - lengths
        second = targets[np.repeat(offsets[near] - starts, lengths) + np.arange(lengths.sum())]
        place[near] = np.arange(len(near))
        row, column = np.repeat(np.arange(len(near)), lengths), place[second]
        place[near] = -1
        matrix = np.zeros((len(near), len(near)), np.float32)  # its products are whole numbers below 2^24
        matrix[row[column >= 0], column[column >= 0]] = 1
        triangles = matrix.sum(axis=1, dtype=np.float64)
        walks = np.bincount(second, minlength=graph.nodes)  # of two steps from v
        sums[:, offsets[v] : offsets[v + 1]] = (
            triangles,
            ((matrix @ matrix) * matrix).sum(axis=1, dtype=np.float64) / 2,
            np.add.reduceat(walks[second] - 1, starts) - (len(near) - 1),  # without the walk back to v
            matrix @ triangles,
            matrix @ lengths.astype(np.float64),
        )
    return sums


def at_edges(graph: SimpleGraph, arcs: np.ndarray | None) -> dict[Shape, np.ndarray]:
    """Return the numbers of subgraphs with an edge of each shape as their root, int64 ``[m]``.

    Args:
      graph: an undirected graph.
      arcs: the result of :func:`count_at_arcs`. Without it, numbers that need it are left out.
    """
    (u, v), n, m, d = graph.edges.T, graph.nodes, len(graph.edges), graph.degrees
    a, b, one = d[u] - 1, d[v] - 1, np.ones(m, np.int64)
    numbers = {
        _at("01", 0, 1, nodes=2): one,
        _at("01 12", 0, 1, nodes=3): a + b,
        _at("01", 0, 1, nodes=3): (n - 2) * one,
        _at("01 02 03", 0, 1): _pairs(a) + _pairs(b),
        _at("01 12", 0, 1): (a + b) * (n - 3),
        _at("01 23", 0, 1): m - a - b - 1,
        _at("01", 0, 1): _pairs(n - 2) * one,
    }
    if arcs is None:
        return numbers
    source, target, back = _ends(graph)
    there = np.searchsorted(source * n + target, u * n + v)
    t, cliques, cycles, by_u, by_degree = arcs[:, there]
    by_v = arcs[3, back[there]]
    near, corners = _at_sources(graph, d[target]), _at_sources(graph, arcs[0]) // 2
    return numbers | {
        _at("01 02 12", 0, 1, nodes=3): t,
        _at("01 02 12", 0, 1): t * (n - 3),
        _at("01 12 23", 0, 1): near[u] + near[v] - d[u] - d[v] - a - b - 2 * t,
        _at("01 12 23", 1, 2): a * b - t,
        _at("01 02 12 23", 2, 3): corners[u] + corners[v] - 2 * t,
        _at("01 02 12 23", 0, 1): by_degree - 2 * t,
        _at("01 02 12 23", 0, 2): t * (a + b - 2),
        _at("01 12 23 30", 0, 1): cycles,
        _at("01 02 03 12 13", 0, 2): by_u + by_v - 2 * t,
        _at("01 02 03 12 13", 0, 1): _pairs(t),
        _at("01 02 03 12 13 23", 0, 1): cliques,
    }


def at_nodes(graph: SimpleGraph, arcs: np.ndarray | None) -> dict[Shape, np.ndarray]:
    """Return the numbers of connected subgraphs with a node of each shape as their root, int64 ``[n]``.

    Args:
      graph: an undirected graph.
      arcs: as for :func:`at_edges`.
    """
    (_, target, back), d = _ends(graph), graph.degrees
    near = _at_sources(graph, d[target])  # sums of the neighbours' degrees
    numbers = {
        _at("01", 0, nodes=2): d,
        _at("01 12", 0, nodes=3): near - d,
        _at("01 12", 1, nodes=3): _pairs(d),
        _at("01 02 03", 1): _at_sources(graph, _pairs(d - 1)[target]),
        _at("01 02 03", 0): _pairs(d) * (d - 2) // 3,
    }
    if arcs is None:
        return numbers
    t, cliques, cycles, _, _ = arcs
    corners = _at_sources(graph, t) // 2
    return numbers | {
        _at("01 02 12", 0, nodes=3): corners,
        _at("01 12 23", 0): _at_sources(graph, near[target]) - d * d - (near - d) - 2 * corners,
        _at("01 12 23", 1): (d - 1) * (near - d) - 2 * corners,
        _at("01 12 23 30", 0): _at_sources(graph, cycles) // 2,
        _at("01 02 12 23", 3): _at_sources(graph, corners[target]) - 2 * corners,
        _at("01 02 12 23", 0): _at_sources(graph, t * (d[target] - 2)),
        _at("01 02 12 23", 2): corners * (d - 2),
        _at("01 02 03 12 13", 2): _at_sources(graph, arcs[3, back]) // 2 - corners,
        _at("01 02 03 12 13", 0): _at_sources(graph, _pairs(t)),
        _at("01 02 03 12 13 23", 0): _at_sources(graph, cliques) // 3,
    }


def _at(edges: str, *root: int, nodes: int = 4) -> Shape:
    """Return the shape with edges such as ``"01 12"`` and with a root."""
    order = [*root, *(u for u in range(nodes) if u not in root)]
    return canonical(plain_shape([(int(e[0]), int(e[1])) for e in edges.split()], order, len(root)), False)


def _pairs(x):
    return x * (x - 1) // 2


def _ends(graph: SimpleGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the source and target of each arc, and the place of the arc back."""
    source, target = np.repeat(np.arange(graph.nodes), graph.degrees), graph.rows[1]
    return source, target, np.searchsorted(source * graph.nodes + target, target * graph.nodes + source)


def _at_sources(graph: SimpleGraph, values: np.ndarray) -> np.ndarray:
    """Return the sum of the values of the arcs of each node."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    return np.diff(sums[graph.rows[0]])
