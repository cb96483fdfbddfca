"""Matches of color motifs by brute force over vertex sets."""

import itertools

import numpy as np

from jaxmotif import Graph


def random_instance(rng, n, size, num_colors, wildcards):
    """A random graph (matrix), a set of colors for each vertex, and a motif of ``size`` vertices."""
    matrix = np.triu(rng.random((n, n)) < rng.choice([0.15, 0.3, 0.6]), 1)
    most = 2 if wildcards else 1
    colors = [
        frozenset(rng.choice(num_colors, rng.integers(0 if wildcards else 1, most + 1), replace=False).tolist())
        for _ in range(n)
    ]
    drawn = rng.integers(0, num_colors, size).tolist()
    return matrix | matrix.T, colors, {color: drawn.count(color) for color in sorted(set(drawn))}


def graph_of(matrix, **options):
    return Graph.from_edges(np.argwhere(np.triu(matrix)), num_nodes=len(matrix), **options)


def connected_sets(matrix, size):
    """All connected sets of ``size`` vertices, ascending tuples."""
    neighbours = [sum(1 << int(v) for v in np.flatnonzero(row)) for row in matrix]
    for chosen in itertools.combinations(range(len(matrix)), size):
        inside = sum(1 << v for v in chosen)
        reached, frontier = 1 << chosen[0], [chosen[0]]
        while frontier:
            fresh = neighbours[frontier.pop()] & inside & ~reached
            reached |= fresh
            frontier += [v for v in chosen if fresh >> v & 1]
        if reached == inside:
            yield chosen


def colors_fit(colors, chosen, motif):
    """Whether the vertices can take the motif's colors one each (Hall's condition on sets of colors)."""
    for number in range(1, len(motif) + 1):
        for some in itertools.combinations(motif, number):
            if sum(not colors[v].isdisjoint(some) for v in chosen) < sum(motif[color] for color in some):
                return False
    return True


def matches(matrix, colors, motif):
    """The set of all matches."""
    return {s for s in connected_sets(matrix, sum(motif.values())) if colors_fit(colors, s, motif)}


def rooted_matches(arcs, colors, motif):
    """In a directed graph: all matches, each with its roots, from which the others are reached along arcs inside it."""
    found = {}
    for chosen in itertools.combinations(range(len(arcs)), sum(motif.values())):
        inside = arcs[np.ix_(chosen, chosen)] | np.eye(len(chosen), dtype=bool)
        # Walks of every length up to k - 1, since each vertex has a loop.
        reach = np.linalg.matrix_power(inside.astype(np.int64), len(chosen)) > 0
        roots = {chosen[i] for i in np.flatnonzero(reach.all(1))}
        if roots and colors_fit(colors, chosen, motif):
            found[chosen] = roots
    return found


def shades_of(colors, motif):
    """Shade masks of the vertices, as the sieve takes them."""
    shade, masks = 0, {}
    for color, number in motif.items():
        masks[color] = sum(1 << l for l in range(shade, shade + number))
        shade += number
    return np.array([sum(masks.get(color, 0) for color in own) for own in colors], np.uint32)
