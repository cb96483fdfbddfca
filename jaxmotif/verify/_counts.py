"""Counts at edges and nodes, made in two ways that have nothing in common.

Formulas of one line each give the numbers of subgraphs of up to four nodes at all edges and nodes. Each formula is for
the arcs v -> w of an undirected graph, an edge being two of them. Where triangles, cycles or cliques have to be known,
they come from the 0/1 matrix of each node's neighbours.

Direct counts at one edge or node list all connected node sets around it, one by one. No equation is used.
"""

import time
from collections import Counter

import numpy as np

from ._certificate import need
from ._graph import Shape, SimpleGraph, automorphisms, canonical, copies, is_connected, plain_shape, unrooted

MOST_STEPS = 6e12
"""Limit of the sum of the cubes of the degrees: one matrix has 330 MB then, and all take some minutes."""

MOST_SETS = 2**20
"""Limit of the node sets of one size around an edge or node."""


def count_around_nodes(graph: SimpleGraph, deadline: float) -> np.ndarray | None:
    """Return sums of each arc v -> w over the triangles vwx, int64 ``[5, 2 m]``, arcs as in ``graph.rows``.

    They are the triangles, the 4-cliques, the 4-cycles through vw, and the sums of t(v, x) and of the degree of x. For
    a graph beyond the limits the result is None.
    """
    (offsets, targets, _), degrees = graph.rows, graph.degrees
    if (degrees.astype(float) ** 3).sum() > MOST_STEPS:
        return None
    sums, place = np.zeros((5, len(targets)), np.int64), np.full(graph.nodes, -1)
    for v in np.flatnonzero(degrees).tolist():
        if time.process_time() > deadline:
            return None
        near = targets[offsets[v] : offsets[v + 1]]
        lengths = degrees[near]
        starts = np.cumsum(lengths) - lengths
        second = targets[np.repeat(offsets[near] - starts, lengths) + np.arange(lengths.sum())]
        place[near] = np.arange(len(near))
        w, x = np.repeat(np.arange(len(near)), lengths), place[second]
        place[near] = -1
        w, x = w[x >= 0], x[x >= 0]  # the pairs of neighbours that are joined: triangles vwx
        joined = np.zeros((len(near), -(-len(near) // 64) * 64), bool)
        joined[w, x] = True
        bits = np.packbits(joined, axis=1).view(np.uint64)
        blocks = [slice(i, i + 2**23 // bits.shape[1]) for i in range(0, len(w), 2**23 // bits.shape[1])]
        shared = [np.bitwise_count(bits[w[block]] & bits[x[block]]).sum(axis=1) for block in blocks]
        triangles = np.bincount(w, minlength=len(near))
        walks = np.bincount(second, minlength=graph.nodes)  # of two steps from v
        sums[:, offsets[v] : offsets[v + 1]] = (
            triangles,
            np.bincount(w, np.concatenate([np.zeros(0), *shared]), len(near)) / 2,
            np.add.reduceat(walks[second] - 1, starts) - (len(near) - 1),  # without the walk back to v
            np.bincount(w, triangles[x], len(near)),
            np.bincount(w, lengths[x], len(near)),
        )
    return sums


def count_graphlets(graph: SimpleGraph, sums: np.ndarray, roots: int, induced: bool) -> dict[Shape, np.ndarray]:
    """Return how many subgraphs of each shape of up to four nodes have a node, or an edge, as their root.

    Args:
      graph: an undirected graph.
      sums: the result of :func:`count_around_nodes`.
      roots: 1 for nodes, and the connected shapes; 2 for edges, and all shapes.
      induced: whether only induced subgraphs count.
    """
    (v, w), n, d = (graph.sources, graph.rows[1]), graph.nodes, graph.degrees
    back, first = np.lexsort((v, w)), np.flatnonzero(v < w)  # of each arc the arc back; the arcs that stand for edges
    a, b, one = d[v] - 1, d[w] - 1, np.ones(len(v), np.int64)
    # Edges of the shape, and nodes without edges / the arc v -> w.
    t, cliques, cycles, beside, degrees = sums
    near, corners = _at_sources(graph, d[w]), _at_sources(graph, t) // 2  # neighbours' degrees, triangles of a node
    formulas = {
        "01/01": one,
        "01 2/01": (n - 2) * one,
        "01 2 3/01": _pairs(n - 2) * one,
        "01 23/01": len(v) // 2 - a - b - 1,
        "01 12/01": b,
        "01 12 3/01": b * (n - 3),
        "01 02 03/10": _pairs(b),
        "01 02 12/01": t,
        "01 02 12 3/01": t * (n - 3),
        "01 12 23/01": near[w] - d[v] - b - t,
        "01 12 23/12": a * b - t,
        "01 02 12 23/32": corners[w] - t,
        "01 02 12 23/01": degrees - 2 * t,
        "01 02 12 23/02": t * (b - 1),
        "01 12 23 30/01": cycles,
        "01 02 03 12 13/20": beside[back] - t,
        "01 02 03 12 13/01": _pairs(t),
        "01 02 03 12 13 23/01": cliques,
    }
    numbers: dict[Shape, np.ndarray] = {}
    for text, values in formulas.items():
        edges = [(int(pair[0]), int(pair[1])) for pair in text[:-3].split() if len(pair) == 2]
        root, other, size = int(text[-2]), int(text[-1]), 1 + int(max(text))
        for x, y, at_arcs in ((root, other, values), (other, root, values[back])):
            arc = plain_shape(edges, [x, y, *(z for z in range(size) if z not in (x, y))], 2)
            shape = canonical((roots, *arc[1:]), False)
            times = automorphisms(shape, False) // automorphisms(arc, True)
            if roots == 1:
                numbers[shape] = _at_sources(graph, at_arcs) // times
            else:
                # Where the ends cannot be exchanged, the other arc of the edge sees other copies.
                numbers[shape] = (at_arcs if times == 2 else at_arcs + at_arcs[back])[first]
    if induced:
        # Shapes with more edges come first. Those in which this one lies are taken off.
        for shape in sorted(numbers, key=lambda shape: -sum(map(sum, shape[1]))):
            for large in numbers:
                if large != shape and copies(shape, large):
                    numbers[shape] = numbers[shape] - copies(shape, large) * numbers[large]
    return numbers


def _pairs(x):
    return x * (x - 1) // 2


def _at_sources(graph: SimpleGraph, values: np.ndarray) -> np.ndarray:
    """Return the sum of the values of the arcs of each node."""
    return np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])[graph.rows[0]])


def count_around(
    graph: SimpleGraph, root: tuple[int, ...], sizes: set[int], rooted: bool, deadline: float
) -> Counter[Shape]:
    """Return how many connected induced subgraphs that contain a root have each shape.

    Args:
      graph: the graph.
      root: a node, or the two ends of an edge.
      sizes: how many nodes the subgraphs have.
      rooted: whether shapes have the root; without it, all places in a shape are alike.
      deadline: when to stop, by ``time.process_time``.
    """
    base, labels, kinds = graph.states**2, graph.label_numbers, 1 + int(graph.label_numbers.max())
    need(base ** max(sizes) * kinds < 2**62, "subgraphs with so many labels are not listed")
    sets, counts, codes = {frozenset(root)}, Counter(), np.zeros(graph.nodes, np.int64)
    for size in range(len(root) + 1, max(sizes) + 1):
        found, larger = Counter(), set()
        for chosen in sets:
            if time.process_time() > deadline or len(larger) > MOST_SETS:
                raise TimeoutError
            # Digit i of a node's code is the state of its pair with member i of the set.
            members = [*root, *sorted(chosen.difference(root))]
            rows = [graph.row(member) for member in members]
            for i, (ends, states) in enumerate(rows):
                codes[ends] += states * base**i
            inner, near = tuple(codes[members].tolist()), np.unique(np.concatenate([ends for ends, _ in rows]))
            codes[members] = 0
            near = near[codes[near] > 0]
            if size in sizes:
                keys, numbers = np.unique(codes[near] * kinds + labels[near], return_counts=True)
                for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
                    found[(*inner, key // kinds), (*labels[members].tolist(), key % kinds)] += number
            if size < max(sizes):
                larger |= {chosen | {x} for x in near.tolist()}
            codes[near] = 0
        for (columns, of_nodes), number in found.items():
            pairs = [[code // base**i % base for code in columns] for i in range(size - 1)]
            last = [row[-1] % graph.states * graph.states + row[-1] // graph.states for row in pairs]
            shape = canonical((len(root), (*map(tuple, pairs), (*last, 0)), of_nodes), graph.directed)
            counts[shape] += number
        sets = larger
    for shape in list(counts):
        # A set is met once for each of its nodes that can be the last one.
        number = counts.pop(shape) // sum(is_connected(shape, x) for x in range(len(root), len(shape[2])))
        counts[shape if rooted else unrooted(shape, graph.directed)] += number
    return counts
