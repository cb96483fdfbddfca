"""All matches by backtracking, one node after another."""

import functools
import itertools

import numpy as np

from jaxmotif.graph import Graph
from jaxmotif.patterns import Pattern

PAD = (16, 128)
"""One padded size, so that the targets of a test share their compilations."""


def random_graph(rng, n, density, directed, node_labels, edge_labels):
    """A pattern and the same as a target graph; ``None`` or how many labels there are."""
    pairs = [(u, v) for u in range(n) for v in range(n) if (u != v if directed else u < v)]
    rows = np.array([pair for pair in pairs if rng.random() < density], np.int64).reshape(-1, 2)
    labels = None if node_labels is None else rng.integers(0, node_labels, n)
    values = None if edge_labels is None else rng.integers(0, edge_labels, len(rows))
    pattern = Pattern.from_edges(rows, n, directed, labels, values)
    return pattern, Graph.from_edges(rows, n, directed, labels, values, pad=PAD)


def brute_force(query, target, induced, wildcard=None, allowed=None):
    """Sorted list of tuples: the image of every query node."""
    found = []

    def edge_fits(a, b, image):
        u, v = image[a], image[b]
        if not query.adjacency[a, b]:
            return not (induced and target.adjacency[u, v])
        if not target.adjacency[u, v]:
            return False
        return (
            query.edge_labels is None
            or query.edge_labels[a, b] == wildcard
            or query.edge_labels[a, b] == target.edge_labels[u, v]
        )

    def fits(image):
        i, v = len(image) - 1, image[-1]
        if v in image[:-1] or (allowed is not None and not allowed[i, v]):
            return False
        if query.node_labels is not None and query.node_labels[i] not in (wildcard, target.node_labels[v]):
            return False
        return all(edge_fits(i, j, image) and edge_fits(j, i, image) for j in range(i))

    def grow(image):
        if len(image) == query.num_nodes:
            found.append(tuple(image))
            return
        for v in range(target.num_nodes):
            if fits([*image, v]):
                grow([*image, v])

    grow([])
    return sorted(found)


@functools.cache
def _injections(n, k):
    return np.array(list(itertools.permutations(range(n), k)), np.int64).reshape(-1, k)


def count_injections(query, target, induced, wildcard=None, allowed=None):
    """How many of all injective maps fit, each pair of query nodes tested for all maps at once."""
    maps = _injections(target.num_nodes, query.num_nodes)
    fits = np.ones(len(maps), bool)
    for a in range(query.num_nodes):
        if query.node_labels is not None and query.node_labels[a] != wildcard:
            fits &= target.node_labels[maps[:, a]] == query.node_labels[a]
        if allowed is not None:
            fits &= allowed[a, maps[:, a]]
        for b in range(query.num_nodes):
            there = target.adjacency[maps[:, a], maps[:, b]]
            if query.adjacency[a, b]:
                fits &= there
                if query.edge_labels is not None and query.edge_labels[a, b] != wildcard:
                    fits &= target.edge_labels[maps[:, a], maps[:, b]] == query.edge_labels[a, b]
            elif induced and a != b:
                fits &= ~there
    return int(fits.sum())
