"""Counts of all graphs of two to five nodes in a whole graph, connected or not, from the counts of the connected ones.

A homomorphism of a disconnected graph consists of one homomorphism for each component, so the number of its
homomorphisms is a product. The number of homomorphisms of any graph is also a weighted sum of the induced counts of the
graphs that contain its quotients. One integer matrix expresses this for all 52 graphs, and its inverse leads back from
products to induced counts.

Another matrix leads from induced counts to the counts of all copies, induced or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import factorial
from types import ModuleType
from typing import Any

import numpy as np

from jaxmotif.arrays._exact import exact_quotient
from jaxmotif.arrays._sums import product
from jaxmotif.patterns._catalogue import CONNECTED, GRAPHLETS_5, Edge
from jaxmotif.patterns._orbits import Matrices, Root, Rooted, column_matrices, inverse, matrices
from jaxmotif.patterns._pattern import Pattern

NAMES_5: tuple[str, ...] = tuple(g.name for g in GRAPHLETS_5)
"""Names of the 51 graphs of two to five nodes."""

GRAPHS_5: tuple[Rooted, ...] = (Rooted(1, ()), *(Rooted(g.num_nodes, g.edges) for g in GRAPHLETS_5))
"""A single node, then the graphs of :data:`NAMES_5`."""

GRAPHS_4 = sum(graph.size < 5 for graph in GRAPHS_5)
"""How many of :data:`GRAPHS_5`, the first ones, have at most four nodes."""


@lru_cache
def _maps() -> Matrices:
    """Return the matrices over :data:`GRAPHS_5`."""
    return matrices(GRAPHS_5)


@lru_cache
def _times120() -> np.ndarray:
    """Return 120 times the inverse of the matrix of homomorphisms."""
    return inverse(_maps().homs, factorial(5))


def graph_name(size: int, edges: Sequence[Edge]) -> str:
    """Return the name of a graph of two to five nodes, of :data:`NAMES_5`.

    Example:
      >>> graph_name(4, [(2, 0), (2, 1), (2, 3)])
      '3-star'
    """
    return NAMES_5[_maps().number[Rooted(size, edges).key()] - 1]


def all_counts(xp: ModuleType, nodes: Any, totals: Any) -> Any:
    """Return the induced counts of the 51 graphs of two to five nodes, connected or not.

    Args:
      xp: NumPy, or ``jax.numpy`` for arrays on a device.
      nodes: the number of nodes of the graph, or of many graphs, as Python integers in an array of dtype object; or as
        int64, which is exact for counts below 2^60.
      totals: ``[73, ..]`` of the same dtype, sums of the node orbits over all nodes of the graph; or ``[15, ..]``,
        those of up to four nodes.

    Returns:
      The counts, ``[51, ..]``, in the order of :data:`NAMES_5`; or the first 17, those of up to four nodes.

    Example:
      >>> from math import comb
      >>> counts = all_counts(np, np.array(90_000, object), np.zeros(73, object))
      >>> counts[NAMES_5.index("5-node-indep")] == comb(90_000, 5)
      True
    """
    return counts_of_maps(xp, xp.concatenate([nodes[None], maps_of_orbits(xp, totals)]))


def maps_of_orbits(xp: ModuleType, totals: Any) -> Any:
    """Return the homomorphisms of the :data:`CONNECTED` graphs, ``[30, ..]``, from the totals of :func:`all_counts`.

    From the totals of up to four nodes follow those of the first nine graphs.
    """
    # The maps that send one node of a graph to each node of the other add up to all maps.
    roots = [g.node_orbits[0] for g in CONNECTED if g.node_orbits[0] < len(totals)]
    return product(xp, column_matrices("node", len(totals)).homs[roots], totals)


@lru_cache
def _connected_numbers() -> tuple[int, ...]:
    """Return the numbers of a single node, and of the :data:`CONNECTED` graphs."""
    return 0, *(_maps().number[Rooted(g.num_nodes, g.edges).key()] for g in CONNECTED)


@lru_cache
def _parts() -> np.ndarray:
    """Return the places of each graph's components in :func:`_connected_numbers`, padded with -1."""
    place = {number: i for i, number in enumerate(_connected_numbers())}
    parts = np.full((len(GRAPHS_5), 5), -1)
    for row, (size, edges, _) in zip(parts, GRAPHS_5, strict=True):
        for i, nodes in enumerate(Pattern.from_edges(np.array(edges, np.int64), size).components()):
            own = Rooted(len(nodes), [(nodes.index(a), nodes.index(b)) for a, b in edges if a in nodes])
            row[i] = place[_maps().number[own.key()]]
    return parts


def counts_of_maps(xp: ModuleType, homs: Any) -> Any:
    """Return what :func:`all_counts` returns, from the homomorphisms of the connected graphs.

    Args:
      xp: as for :func:`all_counts`.
      homs: ``[31, ..]``, the homomorphisms of a single node, then of the :data:`CONNECTED` graphs; or ``[10, ..]``,
        those of up to four nodes.
    """
    graphs = len(GRAPHS_5) if len(homs) == len(_connected_numbers()) else GRAPHS_4
    # The homomorphisms of a disconnected graph are the product over its components, at most five.
    factors = xp.concatenate([homs, xp.ones_like(homs[:1])])[_parts()[:graphs]]
    products = factors[:, 0]
    for i in range(1, factors.shape[1]):
        products = products * factors[:, i]
    return exact_quotient(product(xp, _times120()[1:graphs, :graphs], products), factorial(5))


# ---- all copies of a graph, induced or not


@lru_cache
def weights_of_maps(name: str, induced: bool) -> np.ndarray:
    """Return the weights with which homomorphisms add up to 120 times the copies of a connected graph.

    Most are 0. Copies follow from the homomorphisms of the graph and its quotients; induced copies also need those of
    all graphs with more edges.

    Args:
      name: one of :data:`NAMES_5`, a connected graph.
      induced: whether only induced copies are counted.

    Returns:
      Int64 ``[30]``, in the order of :data:`CONNECTED`.

    Example:
      >>> weights = weights_of_maps("2-star", False) / 120  # half of the maps whose ends are two nodes
      >>> {graph.name: float(weight) for graph, weight in zip(CONNECTED, weights) if weight}
      {'edge': -0.5, '2-star': 0.5}
    """
    number = 1 + NAMES_5.index(name)
    row = _times120()[number] if induced else _maps().copies[number] @ _times120()
    return row[list(_connected_numbers()[1:])]


def copies_of_maps(name: str, induced: bool, homs: Any) -> int:
    """Return the copies of a connected graph from homomorphisms, Python integers in the order of :data:`CONNECTED`.

    Homomorphisms whose weights (:func:`weights_of_maps`) are 0 may be any numbers.
    """
    return int(weights_of_maps(name, induced).astype(object) @ homs) // factorial(5)


@lru_cache
def copies(of: Root | None, names: tuple[str, ...]) -> np.ndarray:
    """Return the matrix M with ``counts of all copies = M @ induced counts``, int64 ``[columns, columns]``.

    Args:
      of: whether the counts are at nodes or at edges; ``None`` for counts of a whole graph.
      names: the names of the columns.

    Example:
      >>> copies(None, NAMES_5)[3, :4].tolist()  # a triangle has three 2-stars
      [0, 0, 3, 1]
    """
    if of is None:
        chosen = [1 + NAMES_5.index(name) for name in names]
        return _maps().copies[np.ix_(chosen, chosen)]
    first = 0 if of == "node" else 1
    return column_matrices(of, len(names)).copies[first:, first:]
