"""Synthetic graphs, made on the host with NumPy.

Every random generator takes a ``seed`` for :func:`numpy.random.default_rng`: the same seed gives the same graph. All
take the keyword options ``pad`` and ``device`` of :meth:`Graph.from_edges`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmotif.arrays._checks import whole_number
from jaxmotif.arrays._rows import sorted_unique
from jaxmotif.graph._container import Graph

_CHUNK = 1 << 16
_PATIENCE = 50


def complete(n: int, **options: Any) -> Graph:
    """Build the complete graph: all pairs of ``n`` nodes.

    Example:
      >>> complete(5)
      Graph(undirected, 5 nodes, 10 edges)
    """
    n = whole_number(n, "n", least=0)
    return Graph.from_edges(np.stack(np.triu_indices(n, 1), axis=1), n, **options)


def star(n: int, **options: Any) -> Graph:
    """Build a star: node 0 joined to each of the ``n - 1`` others.

    Example:
      >>> star(4).edge_list().tolist()
      [[0, 1], [0, 2], [0, 3]]
    """
    n = whole_number(n, "n", least=1)
    leaves = np.arange(1, n)
    return Graph.from_edges(np.stack([np.zeros_like(leaves), leaves], axis=1), n, **options)


def path(n: int, **options: Any) -> Graph:
    """Build a path: nodes ``0 - 1 - ... - n - 1`` in a line.

    Example:
      >>> path(3).edge_list().tolist()
      [[0, 1], [1, 2]]
    """
    n = whole_number(n, "n", least=0)
    nodes = np.arange(n)
    return Graph.from_edges(np.stack([nodes[:-1], nodes[1:]], axis=1), n, **options)


def cycle(n: int, **options: Any) -> Graph:
    """Build a cycle: nodes ``0 - 1 - ... - n - 1 - 0`` in a ring, ``n >= 3``.

    Example:
      >>> cycle(4).edge_list().tolist()
      [[0, 1], [0, 3], [1, 2], [2, 3]]
    """
    n = whole_number(n, "n", least=3)
    nodes = np.arange(n)
    return Graph.from_edges(np.stack([nodes, np.roll(nodes, -1)], axis=1), n, **options)


def erdos_renyi(
    n: int, *, m: int | None = None, p: float | None = None, directed: bool = False, seed: int = 0, **options: Any
) -> Graph:
    """Draw a uniformly random graph with ``m`` edges, or one with each edge present with probability ``p``.

    Args:
      n: number of nodes.
      m: exact number of edges (directed: arcs); every graph with ``n`` nodes and ``m`` edges is equally likely.
      p: probability of each pair (directed: ordered pair), independently. Give either ``m`` or ``p``.
      directed: whether pairs are ordered.
      seed: random seed.
      **options: ``pad`` and ``device``.

    Raises:
      ValueError: ``m`` and ``p`` both given or both missing, or out of range.

    Example:
      >>> erdos_renyi(100, m=300, seed=1)
      Graph(undirected, 100 nodes, 300 edges)
    """
    n = whole_number(n, "n", least=0)
    rng = np.random.default_rng(seed)
    pairs = n * (n - 1) if directed else n * (n - 1) // 2
    if m is not None and p is None:
        size = whole_number(m, "m")
        if not 0 <= size <= pairs:
            raise ValueError(f"m must be between 0 and {pairs} for n={n}, directed={directed}; got {m}")
    elif p is not None and m is None:
        if not 0 <= p <= 1:
            raise ValueError(f"p must be between 0 and 1, got {p}")
        size = int(rng.binomial(pairs, p))
    else:
        raise ValueError(f"give either the number of edges m or the probability p, got m={m} and p={p}")
    index = _distinct(rng, pairs, size)
    if directed:
        u, v = np.divmod(index, max(n - 1, 1))
        v += v >= u
    else:
        # The pairs are the n (n - 1) / 2 cells of a rectangle n wide: cells right of the diagonal stay, and the others,
        # turned round, are the rest of the triangle above it.
        u, v = np.divmod(index, max(n, 1))
        turned = v <= u
        u, v = np.where(turned, n - 2 - u, u), np.where(turned, n - 1 - v, v)
    return Graph.from_edges(np.stack([u, v], axis=1), n, directed, **options)


def barabasi_albert(n: int, m: int, seed: int = 0, **options: Any) -> Graph:
    """Draw a graph by preferential attachment: a star of ``m + 1`` nodes, then nodes that each bring ``m`` edges.

    The ends of a new node's edges are drawn one by one with probability proportional to degree before the node came,
    and drawn again while they repeat; the graph has ``m (n - m)`` edges. Each edge takes time in Python.

    Args:
      n: number of nodes, over ``m``.
      m: edges of each new node, at least 1.
      seed: random seed.
      **options: ``pad`` and ``device``.

    Raises:
      ValueError: ``m`` out of range.

    Example:
      >>> barabasi_albert(100, 3)
      Graph(undirected, 100 nodes, 291 edges)

    Reference:
      Barabasi and Albert, Emergence of scaling in random networks, Science 286 (1999).
    """
    n, m = whole_number(n, "n"), whole_number(m, "m")
    if not 1 <= m < n:
        raise ValueError(f"m must be at least 1 and below n={n}, got {m}")
    rng = np.random.default_rng(seed)
    ends = [0] * m + list(range(1, m + 1))  # holds every node as often as its degree
    for node in range(m + 1, n):
        chosen: dict[int, None] = {}
        while len(chosen) < m:
            for place in rng.integers(0, len(ends), m - len(chosen)).tolist():
                chosen[ends[place]] = None
        ends += chosen
        ends += [node] * m
    rest = np.array(ends[2 * m :], np.int64).reshape(-1, 2, m)
    first = np.stack([np.zeros(m, np.int64), np.arange(1, m + 1)], axis=1)
    edges = np.concatenate([first, rest.transpose(0, 2, 1).reshape(-1, 2)])
    return Graph.from_edges(edges, n, **options)


def rmat(
    scale: int,
    edge_factor: int = 8,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    *,
    directed: bool = False,
    seed: int = 0,
    **options: Any,
) -> Graph:
    """Draw a recursive-matrix graph: ``edge_factor * 2**scale`` rows over ``2**scale`` nodes.

    Each bit of a row's two ends, the highest first, falls into a quadrant of the adjacency matrix: both 0 with
    probability ``a``, (0, 1) with ``b``, (1, 0) with ``c``, both 1 with the rest. Nodes are not shuffled, no noise is
    added; self loops and repeats are left out (``graph.report``), so the graph has fewer edges than rows.

    Args:
      scale: logarithm of the number of nodes, 0 to 30.
      edge_factor: rows per node.
      a, b, c: probabilities of three quadrants, with a sum of at most 1; by default those of Graph500.
      directed: whether rows are arcs.
      seed: random seed.
      **options: ``pad`` and ``device``.

    Raises:
      ValueError: a parameter out of range.

    Example:
      >>> graph = rmat(6, 4)
      >>> graph.n, graph.report.rows
      (64, 256)

    Reference:
      Chakrabarti, Zhan and Faloutsos, R-MAT: a recursive model for graph mining, SDM 2004, section 3.
    """
    scale = whole_number(scale, "scale", 0, 30)
    edge_factor = whole_number(edge_factor, "edge_factor", least=0)
    if not (min(a, b, c) >= 0 and a + b + c <= 1 + 1e-12):
        raise ValueError(f"a, b and c must not be negative, and their sum at most 1, got {a}, {b} and {c}")
    rng = np.random.default_rng(seed)
    edges = np.zeros((edge_factor << scale, 2), np.int32)
    for start in range(0, edges.shape[0], _CHUNK):
        chunk = edges[start : start + _CHUNK]
        u, v = np.zeros((2, chunk.shape[0]), np.int32)
        for _ in range(scale):
            x = rng.random(chunk.shape[0])
            lower = x >= a + b
            right = (x >= a) ^ lower ^ (x >= a + b + c)
            u += u
            u += lower
            v += v
            v += right
        chunk[:, 0], chunk[:, 1] = u, v
    return Graph.from_edges(edges, 1 << scale, directed, **options)


def random_regular(n: int, degree: int, seed: int = 0, **options: Any) -> Graph:
    """Draw a random graph in which every node has the same degree.

    Half-edges are paired at random; then every self loop or repeated edge ``a b`` trades ends with a random edge
    ``c d`` (to ``a d``, ``c b``) where that makes two new edges. Degrees above ``(n - 1) / 2`` are made as the
    complement.
    Every regular graph can come out, nearly but not exactly equally often.

    Args:
      n: number of nodes.
      degree: degree of every node, below ``n``; ``n * degree`` is even.
      seed: random seed.
      **options: ``pad`` and ``device``.

    Raises:
      ValueError: no such graph exists.

    Example:
      >>> graph = random_regular(20, 3)
      >>> set(graph.degrees.tolist())
      {3}
    """
    n = whole_number(n, "n", least=0)
    degree = whole_number(degree, "degree")
    if not 0 <= degree < max(n, 1) or n * degree % 2:
        raise ValueError(f"degree must be between 0 and n - 1, and n * degree even; got n={n}, degree={degree}")
    rng = np.random.default_rng(seed)
    if degree > n - 1 - degree:
        missing = _regular(rng, n, n - 1 - degree)
        absent = np.ones((n, n), bool)
        absent[missing[:, 0], missing[:, 1]] = absent[missing[:, 1], missing[:, 0]] = False
        return Graph.from_edges(np.argwhere(np.triu(absent, 1)), n, **options)
    return Graph.from_edges(_regular(rng, n, degree), n, **options)


def power_law(
    n: int, exponent: float, *, min_degree: int = 1, max_degree: int | None = None, seed: int = 0, **options: Any
) -> Graph:
    """Draw a random graph with power-law degrees (erased configuration model).

    Each node draws a degree ``k`` from ``min_degree..max_degree`` with probability proportional to ``k ** -exponent``;
    when the sum is odd, node 0 gets one more. Half-edges are paired at random, and self loops and repeats are
    left out (``graph.report``), so hubs end up somewhat below their draw.

    Args:
      n: number of nodes.
      exponent: the exponent of the power law; it is 2 to 3 in most real networks.
      min_degree, max_degree: range of the draw; ``max_degree`` is ``n - 1`` when not given.
      seed: random seed.
      **options: ``pad`` and ``device``.

    Raises:
      ValueError: an empty range, or an exponent that is not a number.

    Example:
      >>> graph = power_law(1000, 2.5, min_degree=2)
      >>> graph.n
      1000

    Reference:
      Newman, Strogatz and Watts, Random graphs with arbitrary degree distributions, Phys. Rev. E 64 (2001).
    """
    n = whole_number(n, "n", least=0)
    min_degree = whole_number(min_degree, "min_degree")
    max_degree = max(n - 1, 1) if max_degree is None else whole_number(max_degree, "max_degree")
    if not 1 <= min_degree <= max_degree:
        raise ValueError(f"degrees must satisfy 1 <= min_degree <= max_degree, got {min_degree} and {max_degree}")
    if np.isnan(exponent):
        raise ValueError(f"exponent must be a number, got {exponent}")
    rng = np.random.default_rng(seed)
    degrees = np.arange(min_degree, max_degree + 1)
    # Weights relative to the largest one are in range where k ** -exponent may not be.
    likeliest = min_degree if exponent > 0 else max_degree
    weights = np.cumsum((degrees / likeliest) ** -float(exponent))
    drawn = degrees[np.searchsorted(weights, rng.random(n) * weights[-1], side="right")]
    if drawn.sum() % 2:
        drawn[0] += 1
    return Graph.from_edges(rng.permutation(np.repeat(np.arange(n), drawn)).reshape(-1, 2), n, **options)


def _distinct(rng: np.random.Generator, population: int, size: int) -> np.ndarray:
    """Draw a uniformly random set of ``size`` numbers below ``population``, int64."""
    if size > population // 2:
        left_out = np.ones(population, bool)
        left_out[_distinct(rng, population, population - size)] = False
        return np.flatnonzero(left_out)
    drawn = np.zeros(0, np.int64)
    while drawn.shape[0] < size:
        more = rng.integers(0, population, size + size // 8 + 16 - drawn.shape[0])
        drawn = sorted_unique(np.concatenate([drawn, more]))
    # A set drawn in this way is uniform for its size, and so is a uniform part of it.
    return np.delete(drawn, rng.choice(drawn.shape[0], drawn.shape[0] - size, replace=False, shuffle=False))


def _regular(rng: np.random.Generator, n: int, degree: int) -> np.ndarray:
    stubs = np.repeat(np.arange(n, dtype=np.int64), degree)
    while True:
        edges = rng.permutation(stubs).reshape(-1, 2)
        fewest, waited = edges.shape[0] + 1, 0
        while waited < _PATIENCE:
            keys = _pair_keys(edges)
            order = np.argsort(keys, kind="stable")
            bad = edges[:, 0] == edges[:, 1]
            bad[order[1:]] |= keys[order[1:]] == keys[order[:-1]]
            number = int(np.count_nonzero(bad))
            if number == 0:
                return edges
            fewest, waited = (number, 0) if number < fewest else (fewest, waited + 1)
            _trade_ends(rng, edges, np.flatnonzero(bad), keys[order])


def _trade_ends(rng: np.random.Generator, edges: np.ndarray, bad: np.ndarray, present: np.ndarray) -> None:
    """Let each bad edge trade ends with a random edge, where the two edges that come of it are new and different."""
    partner = rng.integers(0, edges.shape[0], bad.shape[0])
    partner = np.where(
        np.isin(partner, bad), bad, partner
    )  # a trade of an edge with itself changes nothing and is turned down
    once = np.zeros(partner.shape, bool)
    once[np.unique(partner, return_index=True)[1]] = True
    swap = rng.random(bad.shape[0]) < 0.5
    c, d = np.where(swap, edges[partner].T[::-1], edges[partner].T)
    a, b = edges[bad].T
    new = np.stack([np.stack([a, d], axis=1), np.stack([c, b], axis=1)])
    keys = _pair_keys(new.reshape(-1, 2)).reshape(2, -1)
    place = np.minimum(np.searchsorted(present, keys), present.shape[0] - 1)
    fresh = (present[place] != keys) & (new[..., 0] != new[..., 1])
    first = np.zeros(keys.size, bool)
    first[np.unique(keys, return_index=True)[1]] = True
    accepted = once & (fresh & first.reshape(keys.shape)).all(axis=0)
    edges[bad[accepted]], edges[partner[accepted]] = new[0, accepted], new[1, accepted]


def _pair_keys(edges: np.ndarray) -> np.ndarray:
    return edges.min(axis=1) << 32 | edges.max(axis=1)
