"""Graphs of up to five nodes with ORCA's orbit numbers, and the integer matrices between four ways to count them.

A graph H with a root (a node, or an edge) is counted at a given node or edge of G in four ways:

- *homomorphisms* are all maps that keep edges and send the root to the given place. They are plain sums of products.
- *injective maps* merge no nodes. ``inj = hom - corrections @ (induced counts of smaller graphs)``, because a map that
  merges nodes is an injective map of a quotient of H.
- *subgraphs* are not necessarily induced. ``sub = inj / stabilizer``.
- *induced subgraphs* follow from ``sub = inclusion @ induced``; the matrix is unit triangular, so its inverse is an
  integer matrix.

Only the numbering is a table (``graphs.txt``); every matrix is made from the graphs themselves.

References:
  Hočevar & Demšar, "A combinatorial approach to graphlet counting", Bioinformatics 30(4), 2014, and "Combinatorial
  algorithm for counting small induced graphs and orbits", J. Stat. Software 71(10), 2016 (edge orbits).
  Curticapean, Dell & Marx, "Homomorphisms are a good basis for counting small subgraphs", STOC 2017.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations
from typing import Literal, NamedTuple

import numpy as np

from jaxmotif.patterns._catalogue import TABLES, Edge, edges_of

Root = Literal["node", "edge"]

NUM_ORBITS: dict[Root, dict[int, int]] = {
    "node": {1: 0, 2: 1, 3: 4, 4: 15, 5: 73},
    "edge": {1: 0, 2: 0, 3: 2, 4: 12, 5: 68},
}
"""Number of orbits of the connected graphs of up to a number of nodes, in ORCA's numbering."""


class ConnectedGraphlet(NamedTuple):
    """A connected graph of two to five nodes.

    Attributes:
      name: PGD's name for up to four nodes, a name of the field for five.
      size: the number of nodes, which are ``0 .. size - 1``.
      edges: pairs ``(u, v)`` with ``u < v``.
      node_orbits: ORCA's orbit of each node.
      edge_orbits: ORCA's orbit of each edge; empty for the single edge.
    """

    name: str
    size: int
    edges: tuple[Edge, ...]
    node_orbits: tuple[int, ...]
    edge_orbits: tuple[int, ...]


def _connected(name: str, edges: str, nodes: str, roles: str) -> ConnectedGraphlet:
    """Read a line of the table."""
    node_orbits, edge_orbits = (tuple(map(int, orbits.split())) for orbits in (nodes, roles))
    return ConnectedGraphlet(name, len(node_orbits), edges_of(edges), node_orbits, edge_orbits)


CONNECTED = tuple(_connected(*line) for line in TABLES["connected"])
"""The 30 connected graphs of two to five nodes, in ORCA's order (G0 to G29)."""

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


# ---- labelled graphs as bit masks over the pairs of nodes


@lru_cache
def pairs(size: int) -> tuple[Edge, ...]:
    """Return the pairs of ``size`` nodes, in the order of a mask's bits."""
    return tuple(combinations(range(size), 2))


def to_mask(size: int, edges: Sequence[Edge]) -> int:
    """Return the bit mask of some edges."""
    place = {pair: i for i, pair in enumerate(pairs(size))}
    return sum(1 << place[min(e), max(e)] for e in set(edges))


def mask_of(size: int, edges: str) -> int:
    """Return the bit mask of a graph that is written as its edges, such as ``"01 02 12"``."""
    return to_mask(size, edges_of(edges))


def to_edges(size: int, mask: int) -> list[Edge]:
    """Return the edges of a bit mask."""
    return [pair for i, pair in enumerate(pairs(size)) if mask >> i & 1]


def _automorphisms(size: int, edges: Sequence[Edge]) -> list[tuple[int, ...]]:
    """Return the automorphisms of a graph."""
    mask = to_mask(size, edges)
    return [p for p in permutations(range(size)) if to_mask(size, [(p[a], p[b]) for a, b in edges]) == mask]


class Roles(NamedTuple):
    """The orbits of every labelled connected graph of one size, by its mask.

    Attributes:
      graph: its index among the :data:`CONNECTED` graphs of its size.
      node: the orbit of each node.
      edge: the orbit of each edge, by its ends.
    """

    graph: dict[int, int]
    node: dict[int, list[int]]
    edge: dict[int, dict[Edge, int]]


@lru_cache
def of_size(size: int) -> tuple[ConnectedGraphlet, ...]:
    """Return the connected graphs of one size."""
    return tuple(g for g in CONNECTED if g.size == size)


@lru_cache
def roles(size: int) -> Roles:
    """Return the orbits of all labelled connected graphs of one size, from the single copy of each in the table."""
    known = Roles({}, {}, {})
    for index, g in enumerate(of_size(size)):
        for p in permutations(range(size)):
            moved = [(min(p[a], p[b]), max(p[a], p[b])) for a, b in g.edges]
            mask = to_mask(size, moved)
            if mask not in known.graph:
                known.graph[mask] = index
                known.node[mask] = [g.node_orbits[p.index(x)] for x in range(size)]
                known.edge[mask] = dict(zip(moved, g.edge_orbits, strict=False))
    return known


def _places(graphlet: ConnectedGraphlet, root: Root) -> dict[int, tuple[int, ...]]:
    """Return a root for each orbit of a graph, as its nodes."""
    if root == "node":
        roots, orbits = [(x,) for x in range(graphlet.size)], graphlet.node_orbits
    else:
        roots, orbits = graphlet.edges, graphlet.edge_orbits
    places: dict[int, tuple[int, ...]] = {}
    for place, orbit in zip(roots, orbits, strict=False):
        places.setdefault(orbit, place)
    return places


def orbit_at(size: int, mask: int, place: tuple[int, ...]) -> int:
    """Return the orbit of a root, given by its nodes, in a labelled connected graph.

    Raises:
      KeyError: for two nodes that are no edge of it.
    """
    known = roles(size)
    return known.node[mask][place[0]] if len(place) == 1 else known.edge[mask][min(place), max(place)]


# ---- the matrices


@lru_cache
def inclusion(size: int, root: Root) -> np.ndarray:
    """Return ``M`` with ``subgraph counts = M @ induced counts`` over the orbits of one size, int64.

    ``M[o, p]`` says how many spanning connected subgraphs of the graph of orbit ``p`` give a fixed root of orbit ``p``
    the orbit ``o``.

    Example:
      >>> inclusion(3, "node").tolist()  # a triangle has, at each corner, two 2-stars as a leaf and one as the center
      [[1, 0, 2], [0, 1, 1], [0, 0, 1]]
    """
    first, last = NUM_ORBITS[root][size - 1], NUM_ORBITS[root][size]
    matrix = np.zeros((last - first, last - first), np.int64)
    for graphlet in of_size(size):
        places = _places(graphlet, root)
        for chosen in range(1 << len(graphlet.edges)):
            mask = to_mask(size, [e for i, e in enumerate(graphlet.edges) if chosen >> i & 1])
            if mask not in roles(size).graph:  # not connected
                continue
            for p, place in places.items():
                if root == "node" or mask >> pairs(size).index((min(place), max(place))) & 1:
                    matrix[orbit_at(size, mask, place) - first, p - first] += 1
    return matrix


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


class Corrections(NamedTuple):
    """The step from homomorphisms of the orbits of one size to subgraph counts.

    Subgraph counts are ``(hom - matrix @ smaller) / stabilizer``.

    Attributes:
      matrix: int64 ``[orbits, smaller]``, where the smaller are the induced counts of all smaller orbits. For edges a
        constant 1 comes first, for the edge itself.
      stabilizer: int64 ``[orbits]``, how many automorphisms keep the root.
    """

    matrix: np.ndarray
    stabilizer: np.ndarray


@lru_cache
def corrections(size: int, root: Root) -> Corrections:
    """Return the corrections for maps that merge nodes; homomorphisms of an edge are counted in both directions.

    Example:
      >>> matrix, stabilizer = corrections(3, "node")  # a 2-star from a leaf: back to itself over each of its edges
      >>> matrix.tolist(), stabilizer.tolist()
      ([[1], [1], [0]], [1, 2, 2])
    """
    first, last = NUM_ORBITS[root][size - 1], NUM_ORBITS[root][size]
    shift = 0 if root == "node" else 1
    matrix = np.zeros((last - first, first + shift), np.int64)
    stabilizer = np.zeros(last - first, np.int64)

    def count_fixing(nodes: int, edges: Sequence[Edge], place: set[int]) -> int:
        """Count the automorphisms that keep a root."""
        return sum({p[x] for x in place} == place for p in _automorphisms(nodes, edges))

    for graphlet in of_size(size):
        for orbit, place in _places(graphlet, root).items():
            row = orbit - first
            stabilizer[row] = count_fixing(size, graphlet.edges, set(place))
            for to, nodes, image in quotients(size, graphlet.edges):
                if nodes == size:
                    continue
                moved = tuple(sorted(to[x] for x in place))
                times = count_fixing(nodes, image, set(moved))
                if root == "edge" and nodes == 2:
                    matrix[row, 0] += times
                    continue
                # The injective maps of the quotient are its subgraphs times the automorphisms that keep the root.
                begins, ends = NUM_ORBITS[root][nodes - 1], NUM_ORBITS[root][nodes]
                role = orbit_at(nodes, to_mask(nodes, image), moved)
                matrix[row, begins + shift : ends + shift] += times * inclusion(nodes, root)[role - begins]
    return Corrections(matrix, stabilizer)


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
    # Sizes are done in ascending order, because maps that are not injective are maps of smaller graphs.
    result = np.full((1, 1), 24, np.int64)
    for size in (3, 4, 5):
        matrix, stabilizer = corrections(size, root)
        # The weights divide injective maps by the stabilizer, which gives subgraphs, and lead on to induced subgraphs.
        weights = inverse(inclusion(size, root)) * (24 // stabilizer)
        merged = weights @ matrix @ result
        if (merged % 24).any():
            raise ArithmeticError(f"corrections of size {size} are fractions")
        rows = np.concatenate([-merged // 24, weights], axis=1)
        result = np.concatenate([np.pad(result, ((0, 0), (0, len(stabilizer)))), rows])
    return result if root == "node" else result[1:]
