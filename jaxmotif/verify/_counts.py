"""Counts at edges and nodes, made in two ways that have nothing in common.

Formulas of one line each give the numbers of subgraphs of up to four nodes at all edges and nodes. Each formula is for
the arcs v -> w of an undirected graph, an edge being two of them. Where triangles, cycles or cliques have to be known,
they come from the 0/1 matrix of each node's neighbours.

Direct counts at one edge or node list all connected node sets around it, one by one. No equation is used.
"""

import time
from collections import Counter
from itertools import product
from math import comb
from typing import Any

import numpy as np

from ._certificate import need
from ._graph import Shape, SimpleGraph, automorphisms, canonical, copies, plain_shape
from ._modular import exact_sum

# Limit of the sum of the cubes of the degrees: one matrix has 330 MB then, and all take some minutes.
MOST_STEPS = 6e12


def count_around_nodes(graph: SimpleGraph, deadline: float) -> np.ndarray | None:
    """Return sums of each arc v -> w over the triangles vwx, int64 ``[5, 2 m]``, arcs as in ``graph.targets``.

    They are the triangles, the 4-cliques, the 4-cycles through vw, and the sums of t(v, x) and of the degree of x. For
    a graph beyond the limits the result is None.
    """
    offsets, targets, degrees = graph.offsets, graph.targets, np.diff(graph.offsets)
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


def count_graphlets(graph: SimpleGraph, induced: bool, deadline: float) -> dict[Shape, Any]:
    """Return how many subgraphs of each shape of up to four nodes there are.

    Args:
      graph: a graph; without one that has directions or labels, or is beyond the limits, the result is empty.
      induced: whether only induced subgraphs count.
      deadline: when to stop, by ``time.process_time``.

    Returns:
      For a shape without a root the number in the graph; with a root, if it lies at an edge of the shape, numbers of
      subgraphs that have each node, or edge, as their root.
    """
    is_plain = not graph.directed and graph.states == 2 and graph.node_labels is None
    if not is_plain or (sums := count_around_nodes(graph, deadline)) is None:
        return {}
    v, w, n, d = graph.sources, graph.targets, graph.nodes, np.diff(graph.offsets)
    back, first = np.lexsort((v, w)), np.flatnonzero(v < w)  # of each arc the arc back; the arcs that stand for edges
    a, b, one = d[v] - 1, d[w] - 1, np.ones(len(v), np.int64)
    t, cliques, cycles, beside, degrees = sums
    near, corners = _at_sources(graph, d[w]), _at_sources(graph, t) // 2  # neighbours' degrees, triangles of a node
    # Edges of the shape / the arc v -> w. Shapes with nodes that no edge has come from those without.
    formulas = {
        "01/01": one,
        "01 23/01": len(v) // 2 - a - b - 1,
        "01 12/01": b,
        "01 02 03/10": _pairs(b),
        "01 02 12/01": t,
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
    # Shapes without edges are all sets.
    numbers: dict[Shape, Any] = {plain_shape([], range(size), 0): comb(n, size) for size in (2, 3, 4)}
    for text, alone in formulas.items():
        edges, (root, other) = [(int(u), int(v)) for u, v in text[:-3].split()], map(int, text[-2:])
        connected = 1 + int(max(text))
        for size, (x, y, flip) in product(range(connected, 5), ((root, other, False), (other, root, True))):
            at_arcs = (alone[back] if flip else alone) * comb(max(n - connected, 0), size - connected)
            arc = plain_shape(edges, [x, y, *(z for z in range(size) if z not in (x, y))], 2)
            whole, node, edge = (canonical((roots, *arc[1:]), False) for roots in range(3))
            arcs = automorphisms(arc, True)  # of the shape that are alike, by the group that moves them
            numbers[whole] = exact_sum(at_arcs) * arcs // automorphisms(whole, False)
            numbers[node] = _at_sources(graph, at_arcs) * arcs // automorphisms(node, False)
            # Where the ends cannot be exchanged, the other arc of the edge sees other copies.
            both = automorphisms(edge, False) > arcs
            numbers[edge] = (at_arcs if both else at_arcs + at_arcs[back])[first]
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
    return np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])[graph.offsets])


def count_around(graph: SimpleGraph, root: list[int], sizes: set[int], rooted: bool, deadline: float) -> Counter[Shape]:
    """Return how many connected induced subgraphs that contain a root have each shape.

    Args:
      graph: the graph.
      root: a node, or the two ends of an edge.
      sizes: how many nodes the subgraphs have.
      rooted: whether shapes have the root; without it, all places in a shape are alike.
      deadline: when to stop, by ``time.process_time``.

    Raises:
      TimeoutError: then.
    """
    base, labels, kinds = graph.states**2, graph.label_numbers, 1 + int(graph.label_numbers.max())
    need(base ** max(sizes) * kinds < 2**62, "subgraphs with so many labels are not listed")
    found, counts, seen = Counter(), Counter(), np.zeros(graph.nodes, bool)
    # Digit i of a node's code is the state of its pair with member i of the set that is looked at.
    codes, seen[root] = np.zeros(graph.nodes, np.int64), True

    def add(members: list[int], inner: tuple[int, ...], near: np.ndarray) -> None:
        """Count the sets of a set's members and nodes that come after the last one, each set once (Wernicke's ESU).

        Args:
          members: the set.
          inner: the code of each member when it was added.
          near: neighbours of the other members that come after the last one.
        """
        if time.process_time() > deadline:
            raise TimeoutError
        row = slice(graph.offsets[members[-1]], graph.offsets[members[-1] + 1])
        ends, states = graph.targets[row], graph.state[row] * base ** (len(members) - 1)
        new, inner = ends[~seen[ends]], (*inner, int(codes[members[-1]]))
        near, seen[new] = np.concatenate([near, new]), True
        codes[ends] += states
        if len(members) < len(root):
            add(root, inner, near)
        else:
            if len(members) + 1 in sizes:
                # The last node is not visited.
                keys, numbers = np.unique(codes[near] * kinds + labels[near], return_counts=True)
                for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
                    found[(*inner, key // kinds), (*labels[members].tolist(), key % kinds)] += number
            for i, x in enumerate(near.tolist() if len(members) + 1 < max(sizes) else ()):
                add([*members, x], inner, near[i + 1 :])
        codes[ends] -= states
        seen[new] = False

    add([root[0]], (), np.zeros(0, np.int64))
    for (columns, of_nodes), number in found.items():
        # Of each pair the state in one direction, and 0 in the other.
        states = np.array(columns) // base ** np.arange(len(columns))[:, None] % base
        pairs = states + (states % graph.states * graph.states + states // graph.states).T
        shape = len(root) if rooted else 0, tuple(map(tuple, pairs.tolist())), of_nodes
        counts[canonical(shape, graph.directed)] += number
    return counts
