"""Counts at edges and nodes, made in two ways that have nothing in common.

Formulas of one line each give the numbers of subgraphs of up to four nodes at all edges and nodes. Each formula is for
the arcs v -> w of an undirected graph, an edge being two of them. Where triangles, cycles or cliques have to be known,
they come from the 0/1 matrix of each node's neighbours.

Direct counts at one edge or node list all connected node sets around it, one by one. No equation is used.
"""

from collections import Counter
from itertools import product
from math import comb
from typing import Any

import numpy as np

from ._certificate import Beyond, need, need_time
from ._graph import Shape, SimpleGraph, as_shape, automorphisms, canonical, copies, plain_shape
from ._modular import exact_sum

# Limit of the sum of the cubes of the degrees: one matrix has 330 MB then, and all take some minutes.
MOST_STEPS = 6e12


def count_around_nodes(graph: SimpleGraph, deadline: float) -> np.ndarray:
    """Return five counts for each arc v -> w of an undirected graph, int64 ``[5, 2 m]``, arcs as in ``graph.targets``.

    They are the numbers of triangles vwx, of 4-cliques and of 4-cycles at the arc, and two sums over the triangles vwx:
    of the number of triangles at v -> x, and of the degree of x.
    """
    offsets, targets, degrees = graph.offsets, graph.targets, np.diff(graph.offsets)
    need((degrees.astype(float) ** 3).sum() <= MOST_STEPS, "the degrees are too high", Beyond)
    sums, place = np.zeros((5, len(targets)), np.int64), np.zeros(graph.nodes, np.int64)
    for v in np.flatnonzero(degrees).tolist():
        need_time(deadline)
        near = targets[offsets[v] : offsets[v + 1]]
        lengths = degrees[near]
        starts = np.cumsum(lengths) - lengths
        second = targets[np.repeat(offsets[near] - starts, lengths) + np.arange(lengths.sum())]
        place[near] = np.arange(len(near))
        w, x = np.repeat(np.arange(len(near)), lengths), place[second] % len(near)
        w, x = w[near[x] == second], x[near[x] == second]  # the pairs of neighbours that are joined: triangles vwx
        joined = np.zeros((len(near), -(-len(near) // 64) * 64), bool)
        joined[w, x] = True
        words = np.ascontiguousarray(np.packbits(joined, axis=1).view(np.uint64).T)
        shared = sum((np.bitwise_count(word[w] & word[x]) for word in words), np.zeros(len(w), np.int64))
        triangles = np.bincount(w, minlength=len(near))
        sums[:, offsets[v] : offsets[v + 1]] = (
            triangles,
            np.bincount(w, shared, len(near)) / 2,
            # For each arc, the walks of two steps from v to neighbours of w, without those through w and back to v.
            np.add.reduceat(np.bincount(second)[second] - 1, starts) - (len(near) - 1),
            np.bincount(w, triangles[x], len(near)),
            np.bincount(w, lengths[x], len(near)),
        )
    return sums


def count_graphlets(graph: SimpleGraph, induced: bool, deadline: float) -> dict[Shape, Any]:
    """Return how many subgraphs of each shape of up to four nodes there are.

    Args:
      graph: a graph; if it has directions or labels, the result is empty.
      induced: whether only induced subgraphs count.
      deadline: when to stop, by ``time.process_time``.

    Returns:
      The counts by shape. A shape without a root has its number in the graph. A shape with a root that lies at one of
      its edges has an array: for each node, or edge, of the graph the number of subgraphs with this root.

    Raises:
      Beyond: beyond the limits of memory and time.
    """
    if graph.directed or graph.states > 2 or graph.node_labels is not None:
        return {}
    v, w, n, d = graph.sources, graph.targets, graph.nodes, np.diff(graph.offsets)
    back, first = np.lexsort((v, w)), np.flatnonzero(v < w)  # of each arc the arc back; the arcs that stand for edges
    a, b, one = d[v] - 1, d[w] - 1, np.ones(len(v), np.int64)
    t, cliques, cycles, beside, degrees = count_around_nodes(graph, deadline)
    near, corners = _at_sources(graph, d[w]), _at_sources(graph, t) // 2  # neighbours' degrees, triangles of a node
    # By the edges of a shape and the place of the arc v -> w in it: the number of subgraphs at each arc. Shapes with
    # isolated nodes are derived below from the shapes without these nodes.
    formulas = {
        "01 at 01": one,
        "01 23 at 01": len(v) // 2 - a - b - 1,
        "01 12 at 01": b,
        "01 02 03 at 10": b * (b - 1) // 2,
        "01 02 12 at 01": t,
        "01 12 23 at 01": near[w] - d[v] - b - t,
        "01 12 23 at 12": a * b - t,
        "01 02 12 23 at 32": corners[w] - t,
        "01 02 12 23 at 01": degrees - 2 * t,
        "01 02 12 23 at 02": t * (b - 1),
        "01 12 23 30 at 01": cycles,
        "01 02 03 12 13 at 20": beside[back] - t,
        "01 02 03 12 13 at 01": t * (t - 1) // 2,
        "01 02 03 12 13 23 at 01": cliques,
    }
    # Any set of nodes is a subgraph without edges, if it need not be induced.
    numbers: dict[Shape, Any] = {plain_shape("", "0123"[:size], 0): comb(n, size) for size in (2, 3, 4)}
    for text, alone in formulas.items():
        edges, ends = text.split(" at ")
        connected = 1 + int(max(edges))
        for size, (arc, at_arcs) in product(range(connected, 5), ((ends, alone), (ends[::-1], alone[back]))):
            at_arcs = at_arcs * comb(max(n - connected, 0), size - connected)
            shape = plain_shape(edges, sorted("0123"[:size], key=(arc + "0123").index), 2)
            sums = exact_sum(at_arcs), _at_sources(graph, at_arcs), (at_arcs + at_arcs[back])[first]
            for roots, times in enumerate(sums):
                rooted = canonical((roots, shape[1]), False)
                # A copy was counted once at each arc onto which an automorphism maps the arc v -> w of the shape.
                numbers[rooted] = times // (automorphisms(rooted, False) // automorphisms(shape, True))
    if induced:
        # Shapes with more edges come first. From each number the subgraphs of larger shapes are subtracted.
        for shape in sorted(numbers, key=lambda shape: -sum(map(sum, shape[1]))):
            for large in numbers:
                if large != shape and copies(shape, large):
                    numbers[shape] = numbers[shape] - copies(shape, large) * numbers[large]
    return numbers


def _at_sources(graph: SimpleGraph, values: np.ndarray) -> np.ndarray:
    """Return the sum of the values of the arcs of each node."""
    return np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])[graph.offsets])


def count_around(graph: SimpleGraph, root: list[int], sizes: set[int], rooted: bool, deadline: float) -> Counter[Shape]:
    """Return how many connected induced subgraphs that contain a root have each shape.

    Args:
      graph: the graph.
      root: a node, or the two ends of an edge.
      sizes: how many nodes the subgraphs have.
      rooted: whether the shapes that are returned mark the root.
      deadline: when to stop, by ``time.process_time``.

    Raises:
      Beyond: the deadline has passed, or there are too many labels.
    """
    base = max(graph.states**2, 1 + int(graph.label_numbers.max()))
    need(base ** max(sizes) < 2**63, "subgraphs with so many labels are not listed", Beyond)
    found, counts, seen = Counter(), Counter(), np.zeros(graph.nodes, bool)
    # Digit 0 of a node's code is its label, and digit i + 1 the state of its pair with member i of the set.
    codes, seen[root] = graph.label_numbers.copy(), True

    def add(members: list[int], inner: tuple[int, ...], near: np.ndarray) -> None:
        """Count all connected sets that extend a set by later nodes, each once (Wernicke's algorithm ESU).

        Args:
          members: the set, in the order in which nodes were added.
          inner: the codes of all members but the last, each as it was when the member was added.
          near: the nodes that may still be added, without those that the last member is the first to reach.
        """
        need_time(deadline)
        row = slice(graph.offsets[members[-1]], graph.offsets[members[-1] + 1])
        ends, states = graph.targets[row], graph.state[row] * base ** len(members)
        new, inner = ends[~seen[ends]], (*inner, int(codes[members[-1]]))
        near, seen[new] = np.concatenate([near, new]), True
        codes[ends] += states
        if len(members) < len(root):
            add(root, inner, near)
        else:
            if len(members) + 1 in sizes:
                # The last node of a set need not be added: its code tells the shape, so equal codes are counted.
                for code, number in zip(*np.unique(codes[near], return_counts=True), strict=True):
                    found[(*inner, int(code))] += int(number)
            for i, x in enumerate(near.tolist() if len(members) + 1 < max(sizes) else ()):
                add([*members, x], inner, near[i + 1 :])
        codes[ends] -= states
        seen[new] = False

    add([root[0]], (), np.zeros(0, np.int64))
    for of_nodes, number in found.items():
        labels, *pairs = np.array(of_nodes) // base ** np.arange(1 + len(of_nodes))[:, None] % base
        there, back = np.array(pairs) % graph.states, np.array(pairs) // graph.states
        shape = as_shape(len(root) if rooted else 0, np.diag(labels) + there + back.T)
        counts[canonical(shape, graph.directed)] += number
    return counts
