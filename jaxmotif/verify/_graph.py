"""Graphs: the large one, its SHA-256 and rows of neighbours; and small ones with a root, in all orders of nodes."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np

from ._certificate import need
from ._modular import digest

# The number of roots, which are the first nodes, and the matrix of a certificate's shape.
Shape = tuple[int, tuple[tuple[int, ...], ...]]


class SimpleGraph(NamedTuple):
    """A graph without self loops and repeated edges, as :func:`graph_from_edges` makes it.

    The state of a pair of nodes (s, x) is the number of the arc from s to x, plus ``states`` times the number of the
    arc from x to s. The number of an arc is 0 if there is no arc, else the number of its label, from 1 on.

    Attributes:
      nodes: n; nodes are 0 to n - 1.
      edges: int64 ``[m, 2]``, sorted; source first, or the smaller end first where edges have no direction.
      directed: whether edges are arcs.
      node_labels: int64 ``[n]``, or None.
      edge_labels: int64 ``[m]``, or None.
      label_numbers: the number of each node's label, from 0 on, int64 ``[n]``.
      states: how many numbers an arc may have, including 0 for no arc.
      offsets: where the pairs of each node begin and the last ones end, int64 ``[n + 1]``.
      sources: the first node of each pair of nodes that are joined, in whatever direction; ascending.
      targets: the second node of each pair, ascending for each first node.
      state: the state of each pair.
    """

    nodes: int
    edges: np.ndarray
    directed: bool
    node_labels: np.ndarray | None
    edge_labels: np.ndarray | None
    label_numbers: np.ndarray
    states: int
    offsets: np.ndarray
    sources: np.ndarray
    targets: np.ndarray
    state: np.ndarray

    def shape(self, described: dict, least: int = 0) -> Shape:
        """Return a shape that a certificate describes, whose labels have numbers from ``least`` on."""
        roots, matrix = described["roots"], np.array(described["matrix"], np.int64)
        need(matrix.shape == (len(matrix), len(matrix)), "a shape is no square of pairs")
        need(self.directed or (matrix == matrix.T).all(), "a shape has directions")
        need(0 <= roots <= len(matrix), "a root has more nodes than its shape")
        numbers = np.where(np.eye(len(matrix), dtype=bool), 1 + self.label_numbers.max(initial=0), self.states)
        need(((matrix >= least) & (matrix < numbers)).all(), "a shape has a label of another graph")
        return as_shape(roots, matrix)


def graph_from_edges(edges, nodes=None, directed=False, node_labels=None, edge_labels=None) -> SimpleGraph:
    """Return a graph from rows of node numbers; self loops and repeated edges are left out."""
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    nodes = int(edges.max(initial=-1)) + 1 if nodes is None else int(nodes)
    if nodes >= 2**31 or edges.min(initial=0) < 0 or edges.max(initial=-1) >= nodes:
        raise ValueError(f"edges must join nodes from 0 to {nodes - 1}, fewer than 2^31")
    edges, n = edges if directed else np.sort(edges, axis=1), max(nodes, 1)
    _, kept = np.unique(edges[:, 0] * n + edges[:, 1], return_index=True)
    kept = kept[edges[kept, 0] != edges[kept, 1]]
    node_labels = None if node_labels is None else np.asarray(node_labels, np.int64)
    edge_labels = None if edge_labels is None else np.asarray(edge_labels, np.int64)[kept]
    (u, v), there = edges[kept].T, 1 + _numbers_of(edge_labels, len(kept))
    states = 1 + int(there.max(initial=1))
    forward, backward = (1, states) if directed else (1 + states, 1 + states)
    keys, places = np.unique(np.concatenate([u * n + v, v * n + u]), return_inverse=True)
    state = np.bincount(places.reshape(-1), np.concatenate([there * forward, there * backward])).astype(np.int64)
    offsets = np.searchsorted(keys, np.arange(nodes + 1) * n)
    numbers = _numbers_of(node_labels, nodes)
    return SimpleGraph(
        nodes, edges[kept], directed, node_labels, edge_labels, numbers, states, offsets, keys // n, keys % n, state
    )


def _numbers_of(labels: np.ndarray | None, count: int) -> np.ndarray:
    """Return the numbers of labels in ascending order, from 0 on, int64 ``[count]``."""
    return np.unique(np.zeros(count) if labels is None else labels, return_inverse=True)[1].reshape(-1)


def describe(nodes: int, edges: np.ndarray, directed: bool, node_labels, edge_labels) -> dict:
    """Return what a certificate says of its graph, whose arrays are those of :class:`SimpleGraph`."""
    arrays = {"sha256": edges, "node_labels": node_labels, "edge_labels": edge_labels}
    hashes = {name: "" if array is None else digest(array) for name, array in arrays.items()}
    return {"directed": directed, "nodes": nodes, "edges": len(edges), **hashes}


@lru_cache(maxsize=64)
def _orders(roots: int, size: int, directed: bool) -> np.ndarray:
    """Return all orders of nodes in which roots stay in front; those of an edge, unlike an arc, may be exchanged."""
    need(size <= 8, "a shape has more than 8 nodes")
    fronts = permutations(range(roots)) if not directed else [range(roots)]
    return np.array([[*front, *rest] for front in fronts for rest in permutations(range(roots, size))])


def as_shape(roots: int, matrix: np.ndarray) -> Shape:
    """Return a shape by its matrix."""
    return roots, tuple(map(tuple, matrix.tolist()))


def _forms(shape: Shape, directed: bool) -> np.ndarray:
    """Return the matrix of a shape in all orders of its nodes, each one as a row, the first one as it is."""
    roots, matrix = shape[0], np.array(shape[1])
    orders = _orders(roots, len(matrix), directed)
    return matrix[orders[:, :, None], orders[:, None, :]].reshape(len(orders), -1)


@lru_cache(maxsize=2**16)
def canonical(shape: Shape, directed: bool) -> Shape:
    """Return the smallest form of a shape over all orders of its nodes."""
    forms, size = _forms(shape, directed), len(shape[1])
    return as_shape(shape[0], forms[np.lexsort(forms.T[::-1])[0]].reshape(size, size))


def automorphisms(shape: Shape, directed: bool) -> int:
    """Return how many orders of its nodes leave a shape as it is."""
    forms = _forms(shape, directed)
    return int((forms == forms[0]).all(axis=1).sum())


def orbit_size(shape: Shape, directed: bool) -> int:
    """Return how many nodes, or edges, of a shape could be its root; without a root, the number of nodes."""
    return automorphisms((0, shape[1]), directed) // automorphisms(shape, directed) if shape[0] else len(shape[1])


@lru_cache(maxsize=2**16)
def copies(small: Shape, large: Shape) -> int:
    """Return how many copies of the shape ``small`` lie in the shape ``large`` on all its nodes, root on root.

    Copies need not be induced. Shapes of one size must be undirected and without labels.
    """
    if (small[0], len(small[1])) != (large[0], len(large[1])):
        return 0
    maps = (_forms(large, False) >= _forms(small, False)[0]).all(axis=1).sum()
    return int(maps) // automorphisms(small, False)


def plain_shape(edges: str, order: Sequence[str], roots: int) -> Shape:
    """Return an undirected shape without labels by edges like ``"01 12"``; its nodes stand in an order."""
    return roots, tuple(tuple(int(u + v in edges or v + u in edges) for v in order) for u in order)


def is_connected(shape: Shape) -> bool:
    """Return whether a shape is connected, directions aside."""
    joined, size = np.array(shape[1]), len(shape[1])
    return bool((np.linalg.matrix_power(joined + joined.T + np.eye(size), size) > 0).all())
