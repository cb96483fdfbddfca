"""Numbers of subgraphs of up to four nodes at each edge and node, induced or not, by formulas of one line each.

Each formula is for the arcs v -> w of an undirected graph, an edge being two of them. Where triangles, cycles or
cliques have to be known, they come from the 0/1 matrix of each node's neighbours.
"""

from __future__ import annotations

import time

import numpy as np

from ._graph import SimpleGraph
from ._shapes import Shape, canonical, plain_shape

LARGEST_NEIGHBOURHOOD = 16384
MOST_STEPS = 1e11
"""Limits of the matrices: 256 MiB for one, and some minutes for all."""


def count_around_nodes(graph: SimpleGraph, deadline: float) -> np.ndarray | None:
    """Return sums of each arc v -> w over the triangles vwx, int64 ``[5, 2 m]``, arcs as in ``graph.rows``.

    They are the triangles, the 4-cliques, the 4-cycles through vw, and the sums of t(w, x) and of the degree of x. For
    a graph beyond the limits the result is None.
    """
    offsets, targets, _ = graph.rows
    steps = (graph.degrees.astype(float) ** 3).sum() / 64 + float(graph.nodes) ** 2
    if graph.degrees.max(initial=0) > LARGEST_NEIGHBOURHOOD or steps > MOST_STEPS:
        return None
    sums, place = np.zeros((5, len(targets)), np.int64), np.full(graph.nodes, -1)
    for v in np.flatnonzero(graph.degrees).tolist():
        if time.process_time() > deadline:
            return None
        near = targets[offsets[v] : offsets[v + 1]]
        lengths = graph.degrees[near]
        starts = np.cumsum(lengths) - lengths
        second = targets[np.repeat(offsets[near] - starts, lengths) + np.arange(lengths.sum())]
        place[near] = np.arange(len(near))
        w, x = np.repeat(np.arange(len(near)), lengths), place[second]
        place[near] = -1
        w, x = w[x >= 0], x[x >= 0]  # the pairs of neighbours that are joined: triangles vwx
        matrix = np.zeros((len(near), -(-len(near) // 64) * 64), bool)
        matrix[w, x] = True
        bits = np.packbits(matrix, axis=1).view(np.uint64)
        blocks = range(0, len(w), 2**23 // bits.shape[1])
        shared = [np.bitwise_count(bits[w[i : i + blocks.step]] & bits[x[i : i + blocks.step]]).sum(1) for i in blocks]
        triangles = np.bincount(w, minlength=len(near))
        walks = np.bincount(second, minlength=graph.nodes)  # of two steps from v
        sums[:, offsets[v] : offsets[v + 1]] = (
            triangles,
            np.bincount(w, np.concatenate([np.zeros(0), *shared]), len(near)) / 2,
            np.add.reduceat(walks[second] - 1, starts) - (len(near) - 1),  # without the walk back to v
            np.bincount(w, triangles[x], len(near)),
            np.bincount(w, lengths[x], len(near)),
        )
    sums[3] = sums[3, graph.ends[2]]  # was the sum of t(v, x)
    return sums


def count_subgraphs(graph: SimpleGraph, sums: np.ndarray | None) -> dict[int, dict[Shape, np.ndarray]]:
    """Return how many subgraphs of each shape have a node, and an edge, as their root.

    Args:
      graph: an undirected graph.
      sums: the result of :func:`count_around_nodes`; without it, numbers that need it are left out.

    Returns:
      For 1: shapes with a node as root, and their numbers at nodes, int64 ``[n]``. For 2: with edges, ``[m]``.
    """
    (v, w, back), n, m, d = graph.ends, graph.nodes, len(graph.edges), graph.degrees
    a, b, one = d[v] - 1, d[w] - 1, np.ones(len(v), np.int64)
    formulas = {"01/01": one, "01 12/01": b, "01 02 03/10": _pairs(b)}  # edges / the arc v -> w
    if sums is not None:
        t, cliques, cycles, beside, degrees = sums
        near, corners = _at_sources(graph, d[w]), _at_sources(graph, t) // 2  # neighbours' degrees, triangles of a node
        formulas |= {
            "01 02 12/01": t,
            "01 12 23/01": near[w] - d[v] - b - t,
            "01 12 23/12": a * b - t,
            "01 02 12 23/32": corners[w] - t,
            "01 02 12 23/01": degrees - 2 * t,
            "01 02 12 23/02": t * (b - 1),
            "01 12 23 30/01": cycles,
            "01 02 03 12 13/20": beside - t,
            "01 02 03 12 13/01": _pairs(t),
            "01 02 03 12 13 23/01": cliques,
        }
    first = np.flatnonzero(v < w)  # the arcs in the order of the edges
    at_nodes, at_edges = {}, {}
    for text, values in formulas.items():
        edges = [(int(edge[0]), int(edge[1])) for edge in text.partition("/")[0].split()]
        root, other = int(text[-2]), int(text[-1])
        symmetric = _arc(edges, root, other) == _arc(edges, other, root)
        at_edges[_shape(edges, root, other)] = values[first] if symmetric else (values + values[back])[first]
        for x, y, from_x in ((root, other, values), (other, root, values[back])):
            alike = sum(_arc(edges, x, z) == _arc(edges, x, y) for z in range(4) if {(x, z), (z, x)} & set(edges))
            at_nodes[_shape(edges, x)] = _at_sources(graph, from_x) // alike
    a, b, one = a[first], b[first], one[first]
    at_edges |= {
        _shape([(0, 1)], 0, 1, size=3): (n - 2) * one,
        _shape([(0, 1), (1, 2)], 0, 1, size=4): (a + b) * (n - 3),
        _shape([(0, 1), (2, 3)], 0, 1): m - a - b - 1,
        _shape([(0, 1)], 0, 1, size=4): _pairs(n - 2) * one,
    }
    if sums is not None:
        at_edges[_shape([(0, 1), (0, 2), (1, 2)], 0, 1, size=4)] = sums[0, first] * (n - 3)
    return {1: at_nodes, 2: at_edges}


def _shape(edges: list[tuple[int, int]], *root: int, size: int = 0) -> Shape:
    order = [*root, *(u for u in range(size or 1 + max(map(max, edges))) if u not in root)]
    return canonical(plain_shape(edges, order, len(root)), False)


def _arc(edges: list[tuple[int, int]], *root: int) -> Shape:
    """Return a shape whose root is an arc: an edge of which one end is the first."""
    order = [*root, *(u for u in range(1 + max(map(max, edges))) if u not in root)]
    return canonical(plain_shape(edges, order, 2), True)


def _pairs(x):
    return x * (x - 1) // 2


def _at_sources(graph: SimpleGraph, values: np.ndarray) -> np.ndarray:
    """Return the sum of the values of the arcs of each node."""
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
    return np.diff(sums[graph.rows[0]])
