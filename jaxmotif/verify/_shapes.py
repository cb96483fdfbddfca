"""Small graphs with a root: their form that is the same for all orders of nodes, and copies of one in another."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

import numpy as np

from ._certificate import need

Shape = tuple[int, tuple[tuple[int, ...], ...], tuple[int, ...]]
"""Number of roots, which are the first nodes; the states of pairs (as in ``SimpleGraph.rows``); labels of nodes."""

LARGEST = 8


@lru_cache(maxsize=2**16)
def canonical(shape: Shape, directed: bool) -> Shape:
    """Return the smallest form of a shape over all orders of its nodes, in which roots stay in front.

    The two ends of an edge without direction may be exchanged, those of an arc may not.
    """
    roots, pairs, labels = shape
    size = len(labels)
    need(size <= LARGEST, f"a shape has more than {LARGEST} nodes")
    orders, table = _orders(roots, size, directed), np.array(pairs)
    forms = table[orders[:, :, None], orders[:, None, :]].reshape(len(orders), -1)
    forms = np.concatenate([np.array(labels)[orders], forms], axis=1)
    for column in range(forms.shape[1]):
        forms = forms[forms[:, column] == forms[:, column].min()]
    smallest = forms[0].tolist()
    return roots, tuple(tuple(smallest[i : i + size]) for i in range(size, len(smallest), size)), tuple(smallest[:size])


@lru_cache(maxsize=64)
def _orders(roots: int, size: int, directed: bool) -> np.ndarray:
    fronts = permutations(range(roots)) if not directed else [range(roots)]
    return np.array([[*front, *rest] for front in fronts for rest in permutations(range(roots, size))])


@lru_cache(maxsize=2**16)
def copies(small: Shape, large: Shape) -> int:
    """Return how many subgraphs of a shape, with its root and all its nodes, are copies of another shape.

    Both are without labels and directions.
    """
    a, b = np.array(small[1]) > 0, np.array(large[1]) > 0
    if a.shape != b.shape:
        return 0
    orders = _orders(small[0], len(a), False)
    maps = [(moved[orders[:, :, None], orders[:, None, :]] | ~a).all(axis=(1, 2)).sum() for moved in (b, a)]
    return int(maps[0] // maps[1])


def unrooted(shape: Shape, directed: bool) -> Shape:
    """Return a shape without its root."""
    return canonical((0, *shape[1:]), directed)


def orbit_size(shape: Shape, directed: bool) -> int:
    """Return how many nodes, or edges, of a shape could be its root; without a root, the number of nodes."""
    roots, pairs, labels = shape
    if roots == 0:
        return len(labels)
    form, places = canonical(shape, directed), range(len(labels))
    choices = [(u,) for u in places] if roots == 1 else [(u, v) for u in places for v in range(u) if pairs[u][v]]
    count = 0
    for chosen in choices:
        order = [*chosen, *(u for u in places if u not in chosen)]
        moved = tuple(tuple(pairs[a][b] for b in order) for a in order)
        count += canonical((roots, moved, tuple(labels[a] for a in order)), directed) == form
    return count


def is_connected(shape: Shape, without: int = -1) -> bool:
    """Return whether a shape, perhaps without one of its nodes, hangs together."""
    nodes = [u for u in range(len(shape[1])) if u != without]
    reached = {nodes[0]}
    for _ in nodes:
        reached |= {v for u in reached for v in nodes if shape[1][u][v]}
    return len(reached) == len(nodes)


@lru_cache(maxsize=2)
def shapes_of_four(roots: int) -> tuple[Shape, ...]:
    """Return all shapes of 2 to 4 nodes with an edge as their root, or all connected ones with a node as their root."""
    shapes = {}
    for size in (2, 3, 4):
        places = [(u, v) for v in range(size) for u in range(v)]  # the first one is the pair (0, 1)
        for mask in range(2 ** len(places)):
            joined = [place for i, place in enumerate(places) if mask >> i & 1]
            shape = plain_shape(joined, list(range(size)), roots)
            if (0, 1) in joined if roots == 2 else is_connected(shape):
                shapes[canonical(shape, False)] = None
    return tuple(shapes)


def plain_shape(edges: list[tuple[int, int]], order: list[int], roots: int) -> Shape:
    """Return an undirected shape without labels, of which the first nodes in the order are the root."""
    pairs = tuple(tuple(3 * ((u, v) in edges or (v, u) in edges) for v in order) for u in order)
    return roots, pairs, (0,) * len(order)
