"""Generated graphs on which laws are tried: hubs whose neighbours hardly know each other, twins, dense and sparse ones.

All of one padded size, so that they share programs.
"""

from itertools import combinations, permutations

import numpy as np

from jaxmotif import Graph

NODES, CAPACITY = 30, (64, 1024)


def _hub(rng: np.random.Generator) -> np.ndarray:
    """A hub of 24 neighbours with few edges among them, leaves, and a second hub."""
    near = np.zeros((NODES, NODES), bool)
    near[0, 1:25] = near[25, [0, *range(20, 30)]] = True
    for a, b in rng.integers(1, 25, (8, 2)):
        near[a, b] = True
    return near


def _twins(rng: np.random.Generator) -> np.ndarray:
    """Copies of eight nodes: what one is joined to, all its copies are joined to."""
    some = rng.random((8, 8)) < 0.4
    copies = rng.integers(0, 8, NODES)
    return (some | some.T)[np.ix_(copies, copies)]


def _random(rng: np.random.Generator, density: float) -> np.ndarray:
    return rng.random((NODES, NODES)) < density


KINDS = {
    "hub": _hub,
    "twins": _twins,
    "sparse": lambda rng: _random(rng, 0.06),
    "dense": lambda rng: _random(rng, 0.3),
}


def adjacency(kind: str, directed: bool, seed: int = 0) -> np.ndarray:
    """Return a generated graph, bool ``[30, 30]``, without self loops."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    near = KINDS[kind](rng)
    if directed:
        near = near & (rng.random(near.shape) < 0.7) | near.T & (rng.random(near.shape) < 0.4)
    else:
        near = near | near.T
    return near & ~np.eye(len(near), dtype=bool)


def build(near: np.ndarray, directed: bool, pad: tuple[int, int] | str | None = CAPACITY) -> Graph:
    """Return the graph of an adjacency matrix."""
    edges = np.argwhere(near if directed else np.triu(near))
    return Graph.from_edges(edges, len(near), directed=directed, pad=pad)


def complement(near: np.ndarray) -> np.ndarray:
    return ~near & ~np.eye(len(near), dtype=bool)


def union(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.block([[one, np.zeros((len(one), len(other)), bool)], [np.zeros((len(other), len(one)), bool), other]])


def copies_in(pattern: np.ndarray, host: np.ndarray) -> int:
    """Return how many subgraphs of a small graph, of as many nodes, are a pattern, by all permutations."""
    k = len(pattern)
    pairs = [(a, b) for a, b in combinations(range(k), 2) if pattern[a, b]]
    images = {
        frozenset(frozenset((p[a], p[b])) for a, b in pairs)
        for p in permutations(range(k))
        if all(host[p[a], p[b]] for a, b in pairs)
    }
    return len(images)
