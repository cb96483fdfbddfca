"""Graphs of up to five nodes with ORCA's orbit numbers, and the integer matrices between four ways to count them.

A graph H with a root (a node, or an edge) is counted at a given node or edge of G in four ways:

- *homomorphisms* are all maps that keep edges and send the root to the given place. They are plain sums of products.
- *injective maps* merge no nodes. ``hom = merged @ inj``, because any map is an injective map of a quotient of H.
- *subgraphs* are not necessarily induced. ``inj = stabilizer * sub``.
- *induced subgraphs* follow from ``sub = copies @ induced``.

The product of these matrices leads from induced counts to homomorphisms, and its inverse leads back. Graphs without a
root, connected or not, have the same matrices (:mod:`jaxmotif.patterns._totals`). Only the numbering is a table
(``graphs.txt``); every matrix is made from the graphs themselves.

References:
  Hočevar & Demšar, "A combinatorial approach to graphlet counting", Bioinformatics 30(4), 2014, and "Combinatorial
  algorithm for counting small induced graphs and orbits", J. Stat. Software 71(10), 2016 (edge orbits).
  Curticapean, Dell & Marx, "Homomorphisms are a good basis for counting small subgraphs", STOC 2017.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations
from math import factorial
from typing import Literal, NamedTuple

import numpy as np

from jaxmotif.patterns._catalogue import CONNECTED, EDGE_ORBITS, GRAPHLETS, Edge, Graphlet

Root = Literal["node", "edge"]

NUM_ORBITS: dict[Root, dict[int, int]] = {
    "node": {1: 0, 2: 1, 3: 4, 4: 15, 5: 73},
    "edge": {1: 0, 2: 0, 3: 2, 4: 12, 5: 68},
}
"""Number of orbits of the connected graphs of up to a number of nodes, in ORCA's numbering."""


NODE_NAMES_5 = tuple(f"orbit-{i}" for i in range(NUM_ORBITS["node"][5]))
"""Names of the columns of node orbits, in ORCA's numbering."""


def _edge_names() -> tuple[str, ...]:
    """Return the name of each edge orbit."""
    names = {}
    for g in CONNECTED:
        for orbit in g.edge_orbits:
            names[orbit] = g.name if len(set(g.edge_orbits)) == 1 else f"{g.name}-{orbit}"
    return tuple(names[i] for i in range(NUM_ORBITS["edge"][5]))


EDGE_NAMES_5 = _edge_names()
"""Names of the columns of edge orbits, in ORCA's order: the graph, with the orbit's number where it has several."""


@lru_cache
def of_size(size: int) -> tuple[Graphlet, ...]:
    """Return the connected graphs of one size."""
    return tuple(g for g in CONNECTED if g.num_nodes == size)


# ---- labelled graphs as bit masks over the pairs of nodes


@lru_cache
def _bits(size: int) -> dict[Edge, int]:
    """Return the bit of each pair of ``size`` nodes, in either order of its ends."""
    bits = {pair: 1 << i for i, pair in enumerate(combinations(range(size), 2))}
    return bits | {(v, u): bit for (u, v), bit in bits.items()}


def to_mask(size: int, edges: Iterable[Edge]) -> int:
    """Return the bit mask of some different edges."""
    bits = _bits(size)
    return sum([bits[edge] for edge in edges])


# ---- the matrices


class Rooted(NamedTuple):
    """A graph with a root: no node, a node, or both ends of an edge, ascending.

    Attributes:
      size: the number of nodes, which are ``0 .. size - 1``.
      edges: the edges.
      root: the root.
    """

    size: int
    edges: Sequence[Edge]
    root: tuple[int, ...] = ()

    def key(self) -> tuple[int, int, tuple[int, ...]]:
        """Return the size, the mask of the edges, and the root."""
        return self.size, to_mask(self.size, self.edges), tuple(sorted(self.root))

    def moved(self, to: Sequence[int]) -> Rooted:
        """Return the graph with other numbers for its nodes."""
        return Rooted(self.size, [(to[a], to[b]) for a, b in self.edges], tuple(to[x] for x in self.root))


class Matrices(NamedTuple):
    """Some graphs with a root, and the matrices between the ways to count them.

    Attributes:
      number: the number of the graph that each labelled one is isomorphic to, by its :meth:`Rooted.key`.
      copies: int64 ``[subgraph, graph]``, how many spanning subgraphs of each graph, with its root, are a copy of each.
      homs: int64 ``[graph, graph]``: the homomorphisms of each graph are ``homs @ induced counts``.
    """

    number: dict[tuple[int, int, tuple[int, ...]], int]
    copies: np.ndarray
    homs: np.ndarray


def matrices(graphs: Sequence[Rooted]) -> Matrices:
    """Return the matrices over graphs of which no two are isomorphic, and which contain their quotients."""
    number: dict[tuple[int, int, tuple[int, ...]], int] = {}
    for i, graph in enumerate(graphs):
        for order in permutations(range(graph.size)):
            number[graph.moved(order).key()] = i
    merged, copies = np.zeros((2, len(graphs), len(graphs)), np.int64)
    for i, (size, edges, root) in enumerate(graphs):
        for chosen in range(1 << len(edges)):
            part = Rooted(size, [edge for j, edge in enumerate(edges) if chosen >> j & 1], root)
            if (of := number.get(part.key())) is not None:  # connected, and with the root, where all graphs are
                copies[of, i] += 1
        for to, nodes, image in quotients(size, edges):
            merged[i, number[Rooted(nodes, image, tuple(to[x] for x in root)).key()]] += 1
    # Of the orders of a graph's nodes, as many give the same labelled graph as there are automorphisms.
    labelled = np.bincount(list(number.values()))
    stabilizer = np.array([factorial(graph.size) for graph in graphs]) // labelled
    return Matrices(number, copies, merged @ (stabilizer[:, None] * copies))


def column_graphs(of: Root, columns: int) -> list[Rooted]:
    """Return the graphs that a table of counts at nodes or edges has columns for, with the node or edge as the root."""
    if columns not in NUM_ORBITS[of].values():  # edges of up to four nodes, those of disconnected graphs among them
        named = {g.name: g for g in GRAPHLETS}
        shapes = ((named[orbit.graphlet], orbit.edges[0]) for orbit in EDGE_ORBITS)
        return [Rooted(g.num_nodes, g.edges, edge) for g, edge in shapes]
    graphs: dict[int, Rooted] = {}
    for g in CONNECTED:
        nodes = tuple((x,) for x in range(g.num_nodes))
        places, orbits = (nodes, g.node_orbits) if of == "node" else (g.edges, g.edge_orbits)
        for place, orbit in zip(places, orbits, strict=False):  # the single edge has no orbit of its edge
            graphs.setdefault(orbit, Rooted(g.num_nodes, g.edges, place))
    return [graphs[orbit] for orbit in range(columns)]


@lru_cache
def column_matrices(of: Root, columns: int) -> Matrices:
    """Return the matrices over :func:`column_graphs`; for edges the single edge comes before them.

    Example:
      >>> number, copies, homs = column_matrices("node", 73)
      >>> copies[1:4, 1:4].tolist()  # a triangle has, at each corner, two 2-stars as a leaf and one as the center
      [[1, 0, 2], [0, 1, 1], [0, 0, 1]]
      >>> homs[2, :4].tolist()  # maps of a 2-star from its center: the square of the degree
      [1, 0, 2, 2]
    """
    single = [] if of == "node" else [Rooted(2, ((0, 1),), (0, 1))]
    return matrices([*single, *column_graphs(of, columns)])


def orbit_at(size: int, mask: int, place: tuple[int, ...]) -> int:
    """Return the orbit of a root, given by its nodes, in a labelled connected graph.

    Raises:
      KeyError: for two nodes that are no edge of it, and for graphs that are not connected.
    """
    root: Root = "node" if len(place) == 1 else "edge"
    return column_matrices(root, NUM_ORBITS[root][size]).number[size, mask, tuple(sorted(place))] - (len(place) == 2)


@lru_cache
def times24(root: Root) -> np.ndarray:
    """Return the matrix from homomorphisms to induced counts of all orbits of up to five nodes, times 24.

    The factor makes all entries integers. The matrix is int64 ``[orbits, homomorphisms]``, both in the order of the
    orbits. Absolute values of a row add up to at most 1,728. For edges a constant 1 comes first among the
    homomorphisms, for the edge itself.

    Example:
      >>> times24("node")[:4, :4].tolist()  # of a triangle half the closed walks of length 3; 2-stars are the others
      [[24, 0, 0, 0], [-24, 24, 0, -24], [-12, 0, 12, -12], [0, 0, 0, 12]]
    """
    homs = column_matrices(root, NUM_ORBITS[root][5]).homs.copy()
    if root == "node":
        return inverse(homs, 24)
    homs[0, 0] = 1  # an edge has two maps to itself
    return inverse(homs, 24)[1:]


def inverse(matrix: np.ndarray, times: int = 1) -> np.ndarray:
    """Return an integer matrix's inverse times a number that makes it integer, int64.

    Raises:
      ValueError: for a matrix without such an inverse.
    """
    result = np.rint(times * np.linalg.inv(matrix.astype(np.float64))).astype(np.int64)
    if not np.array_equal(matrix @ result, times * np.eye(len(matrix), dtype=np.int64)):
        raise ValueError(f"the matrix has no inverse that is an integer matrix over {times}")
    return result


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Yield the partitions of some items.

    Example:
      >>> len(list(partitions([0, 1, 2, 3, 4])))
      52
    """
    if not items:
        yield []
        return
    head, rest = items[0], items[1:]
    for part in partitions(rest):
        for i in range(len(part)):
            yield [*part[:i], [head, *part[i]], *part[i + 1 :]]
        yield [[head], *part]


def quotients(size: int, edges: Sequence[Edge]) -> Iterator[tuple[list[int], int, list[Edge]]]:
    """Yield the images of a graph under maps that merge no two adjacent nodes.

    Yields:
      The image of each node, the number of nodes of the image, and its edges.
    """
    for part in partitions(list(range(size))):
        to = [next(i for i, block in enumerate(part) if x in block) for x in range(size)]
        image = {(min(to[a], to[b]), max(to[a], to[b])) for a, b in edges}
        if all(a != b for a, b in image):
            yield to, len(part), sorted(image)
