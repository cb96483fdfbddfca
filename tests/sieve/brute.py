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


def rooted_sets(arcs, size):
    """All sets of ``size`` vertices that have roots, ascending tuples, each with its roots."""
    chosen = np.array([*itertools.combinations(range(len(arcs)), size)], int).reshape(-1, size)
    inside = arcs[chosen[:, :, None], chosen[:, None, :]] | np.eye(size, dtype=bool)
    # Walks of every length up to k - 1, since each vertex has a loop.
    roots = (np.linalg.matrix_power(inside.astype(np.int64), size) > 0).all(2)
    for i in np.flatnonzero(roots.any(1)):
        yield tuple(chosen[i].tolist()), set(chosen[i, roots[i]].tolist())


def colors_fit(colors, chosen, motif):
    """Whether the vertices can take the motif's colors one each (Hall's condition on sets of colors)."""
    for number in range(1, len(motif) + 1):
        for some in itertools.combinations(motif, number):
            if sum(not colors[v].isdisjoint(some) for v in chosen) < sum(motif[color] for color in some):
                return False
    return True


def matches(matrix, colors, motif):
    """The set of all matches."""
    return set(rooted_matches(matrix, colors, motif))


def rooted_matches(arcs, colors, motif):
    """In a directed graph: all matches, each with its roots, from which the others are reached along arcs inside it."""
    sets = rooted_sets(arcs, sum(motif.values()))
    return {chosen: roots for chosen, roots in sets if colors_fit(colors, chosen, motif)}


def shades_of(colors, motif):
    """Shade masks of the vertices, as the sieve takes them."""
    shade, masks = 0, {}
    for color, number in motif.items():
        masks[color] = sum(1 << l for l in range(shade, shade + number))
        shade += number
    return np.array([sum(masks.get(color, 0) for color in own) for own in colors], np.uint32)
