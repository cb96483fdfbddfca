"""Counts of all graphs of two to five nodes in a whole graph, connected or not, from the counts of the connected ones.

A homomorphism of a disconnected graph consists of one homomorphism for each component, so the number of its
homomorphisms is a product. The number of homomorphisms of any graph is also a weighted sum of the induced counts of the
graphs that contain its quotients. One integer matrix expresses this for all 52 graphs, and its inverse leads back from
products to induced counts.

Another matrix leads from induced counts to the counts of all copies, induced or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from math import factorial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from jaxmotif.patterns._catalogue import EDGE_ORBITS, GRAPHLET_NAMES, GRAPHLETS, TABLES, Edge, edges_of
from jaxmotif.patterns._orbits import (
    CONNECTED,
    NUM_ORBITS,
    Root,
    inclusion,
    inverse,
    of_size,
    pairs,
    quotients,
    to_edges,
    to_mask,
)
from jaxmotif.patterns._pattern import Pattern

DISCONNECTED_5: dict[str, tuple[Edge, ...]] = {
    name: edges_of(edges) for name, edges in TABLES["not connected, of five nodes"]
}
"""The edges of the 13 disconnected graphs of five nodes."""

NAMES_5: tuple[str, ...] = (*GRAPHLET_NAMES, *(g.name for g in of_size(5)), *DISCONNECTED_5)
"""Names of the 51 graphs of two to five nodes."""


class _Classes(NamedTuple):
    """All graphs of one size up to isomorphism, in the order of their numbers of edges.

    Attributes:
      masks: the mask of each graph.
      automorphisms: how many automorphisms each graph has.
      index: for the mask of every labelled graph, the number of the graph that it is isomorphic to.
    """

    masks: list[int]
    automorphisms: list[int]
    index: dict[int, int]

    def copies(self) -> np.ndarray:
        """Count the spanning subgraphs of each graph that are a copy of each other one, int64 ``[subgraph, graph]``."""
        counts = np.zeros((len(self.masks),) * 2, np.int64)
        for graph, mask in enumerate(self.masks):
            sub = mask
            while True:  # all subsets of the edges
                counts[self.index[sub], graph] += 1
                if not sub:
                    break
                sub = (sub - 1) & mask
        return counts


@lru_cache
def _classes(size: int) -> _Classes:
    """Return all graphs of one size up to isomorphism."""
    masks, index, orders = list[int](), dict[int, int](), list(permutations(range(size)))
    for mask in sorted(range(1 << len(pairs(size))), key=lambda mask: (mask.bit_count(), mask)):
        if mask not in index:
            edges = to_edges(size, mask)
            for order in orders:
                index[to_mask(size, [(order[a], order[b]) for a, b in edges])] = len(masks)
            masks.append(mask)
    labelled = np.bincount(list(index.values()))
    return _Classes(masks, [factorial(size) // int(copies) for copies in labelled], index)


_SIZES = range(1, 6)


def _number(size: int, edges: Sequence[Edge]) -> int:
    """Return the number of a graph among all of one to five nodes, in the order of sizes and numbers of edges."""
    return sum(len(_classes(k).masks) for k in range(1, size)) + _classes(size).index[to_mask(size, edges)]


def _components(size: int, edges: Sequence[Edge]) -> Iterator[tuple[int, list[Edge]]]:
    """Yield the components of a graph, each with nodes from 0 on."""
    for nodes in Pattern.from_edges(np.array(edges, np.int64), size).components():
        place = {x: i for i, x in enumerate(nodes)}
        yield len(place), [(place[a], place[b]) for a, b in edges if a in place]


class _Maps(NamedTuple):
    """The matrices over all graphs of one to five nodes.

    Attributes:
      components: the numbers of each graph's components.
      copies: int64 ``[52, 52]``, how many spanning subgraphs of each graph (second axis) are a copy of each (first).
      homs: int64 ``[52, 52]``: the homomorphisms of each graph are ``homs @ induced counts``.
      inverse: 120 times the inverse of ``homs``.
    """

    components: list[list[int]]
    copies: np.ndarray
    homs: np.ndarray
    inverse: np.ndarray


@lru_cache
def _maps() -> _Maps:
    """Return the matrices over all graphs of one to five nodes."""
    shapes = [(size, to_edges(size, mask)) for size in _SIZES for mask in _classes(size).masks]
    components = [[_number(*part) for part in _components(*shape)] for shape in shapes]
    merged, copies = np.zeros((2, len(shapes), len(shapes)), np.int64)
    for row, shape in enumerate(shapes):
        for _, size, image in quotients(*shape):
            merged[row, _number(size, image)] += 1
    start = 0
    for size in _SIZES:
        block = slice(start, start + len(_classes(size).masks))
        copies[block, block] = _classes(size).copies()
        start = block.stop
    automorphisms = np.array([x for size in _SIZES for x in _classes(size).automorphisms])
    homs = merged @ (automorphisms[:, None] * copies)
    return _Maps(components, copies, homs, inverse(homs, factorial(5)))


@lru_cache
def _named() -> dict[str, int]:
    """Return the number of each graph of :data:`NAMES_5`."""
    shapes = {g.name: (g.num_nodes, g.edges) for g in GRAPHLETS} | {g.name: (5, g.edges) for g in of_size(5)}
    shapes |= {name: (5, edges) for name, edges in DISCONNECTED_5.items()}
    return {name: _number(*shape) for name, shape in shapes.items()}


def graph_name(size: int, edges: Sequence[Edge]) -> str:
    """Return the name of a graph of two to five nodes, of :data:`NAMES_5`.

    Example:
      >>> graph_name(4, [(2, 0), (2, 1), (2, 3)])
      '3-star'
    """
    number = _number(size, edges)
    return next(name for name, other in _named().items() if other == number)


def all_counts(xp: ModuleType, nodes: Any, totals: Any) -> Any:
    """Return the induced counts of the 51 graphs of two to five nodes, connected or not.

    Args:
      xp: NumPy, or ``jax.numpy`` for arrays on a device.
      nodes: the number of nodes of the graph, or of many graphs, as Python integers in an array of dtype object; or as
        int64, which is exact for counts below 2^63 / 120.
      totals: ``[73, ..]`` of the same dtype, sums of the node orbits over all nodes of the graph.

    Returns:
      The counts, ``[51, ..]``, in the order of :data:`NAMES_5`.

    Example:
      >>> from math import comb
      >>> counts = all_counts(np, np.array(90_000, object), np.zeros(73, object))
      >>> counts[NAMES_5.index("5-node-indep")] == comb(90_000, 5)
      True
    """
    return counts_of_maps(xp, xp.concatenate([nodes[None], maps_of_orbits(xp, totals)]))


def maps_of_orbits(xp: ModuleType, totals: Any) -> Any:
    """Return the homomorphisms of the :data:`CONNECTED` graphs, ``[30, ..]``, from the totals of :func:`all_counts`."""
    kind, numbers = totals.dtype, _connected_numbers()[1:]
    first = np.array([g.node_orbits[0] for g in CONNECTED])
    sharing = np.array([g.node_orbits.count(g.node_orbits[0]) for g in CONNECTED]).astype(kind)
    connected = totals[first] // sharing.reshape(-1, *[1] * (totals.ndim - 1))
    return xp.tensordot(_maps().homs[np.ix_(numbers, numbers)].astype(kind), connected, 1)


@lru_cache
def _connected_numbers() -> tuple[int, ...]:
    """Return the numbers of a single node, and of the :data:`CONNECTED` graphs."""
    return _number(1, []), *(_number(g.size, g.edges) for g in CONNECTED)


@lru_cache
def _parts() -> np.ndarray:
    """Return the places of each graph's components in :func:`_connected_numbers`, padded with the place past them."""
    place = {number: i for i, number in enumerate(_connected_numbers())}
    components = _maps().components
    parts = np.full((len(components), max(map(len, components))), len(place))
    for row, numbers in zip(parts, components, strict=True):
        row[: len(numbers)] = [place[number] for number in numbers]
    return parts


def counts_of_maps(xp: ModuleType, homs: Any) -> Any:
    """Return what :func:`all_counts` returns, from the homomorphisms of the connected graphs.

    Args:
      xp: as for :func:`all_counts`.
      homs: ``[31, ..]``, the homomorphisms of a single node, then of the :data:`CONNECTED` graphs.
    """
    maps, kind = _maps(), homs.dtype
    # The homomorphisms of a disconnected graph are the product over its components, at most five.
    factors = xp.concatenate([homs, xp.ones_like(homs[:1])])[_parts()]
    products = factors[:, 0]
    for i in range(1, factors.shape[1]):
        products = products * factors[:, i]
    chosen = np.array(list(_named().values()))
    return xp.tensordot(maps.inverse[chosen].astype(kind), products, 1) // kind.type(factorial(5))


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
    maps, number = _maps(), _named()[name]
    row = maps.inverse[number] if induced else maps.copies[number] @ maps.inverse
    return row[list(_connected_numbers()[1:])]


@lru_cache
def copies(of: Root | None, names: tuple[str, ...]) -> np.ndarray:
    """Return the matrix M with ``counts of all copies = M @ induced counts``, int64 ``[columns, columns]``.

    Args:
      of: whether the counts are at nodes or at edges; ``None`` for counts of a whole graph.
      names: the names of the columns.

    Example:
      >>> copies(None, GRAPHLET_NAMES)[3, :4].tolist()  # a triangle has three 2-stars
      [0, 0, 3, 1]
    """
    if of is None:
        chosen = [_named()[name] for name in names]
        return _maps().copies[np.ix_(chosen, chosen)]
    size = next((k for k, orbits in NUM_ORBITS[of].items() if orbits == len(names)), None)
    if size is None:
        return _copies_at_edges()
    matrix = np.eye(len(names), dtype=np.int64)
    for k in range(2 if of == "node" else 3, size + 1):
        block = slice(NUM_ORBITS[of][k - 1], NUM_ORBITS[of][k])
        matrix[block, block] = inclusion(k, of)
    return matrix


def _copies_at_edges() -> np.ndarray:
    """Return the matrix over the 17 columns of edges, disconnected graphs among them."""
    sizes = {g.name: (g.num_nodes, g.edges) for g in GRAPHLETS}
    column: dict[tuple[int, int, Edge], int] = {}  # the column of a labelled graph (size and mask) and an edge of it
    for number, orbit in enumerate(EDGE_ORBITS):
        size, edges = sizes[orbit.graphlet]
        for order in permutations(range(size)):
            mask = to_mask(size, [(order[a], order[b]) for a, b in edges])
            for a, b in orbit.edges:
                column[size, mask, (min(order[a], order[b]), max(order[a], order[b]))] = number
    matrix = np.zeros((len(EDGE_ORBITS),) * 2, np.int64)
    for number, orbit in enumerate(EDGE_ORBITS):
        size, edges = sizes[orbit.graphlet]
        rest = [e for e in edges if e != orbit.edges[0]]
        for chosen in range(1 << len(rest)):
            mask = to_mask(size, [orbit.edges[0], *(e for i, e in enumerate(rest) if chosen >> i & 1)])
            matrix[column[size, mask, orbit.edges[0]], number] += 1
    return matrix
