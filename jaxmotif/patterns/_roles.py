"""The roles of a pattern: its nodes, or its edges, up to automorphism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from jaxmotif.patterns import Pattern, canonical_string, node_orbits, stabilizer_chain
from jaxmotif.patterns._orbits import CONNECTED, NUM_ORBITS, inclusion, roles, to_mask

Per = Literal["graph", "node", "edge"]
Place = tuple[int, ...]
LARGEST_NAMED = 8  # nodes up to which a pattern without a name is called by its class


class Role(NamedTuple):
    """A column: nodes ``(u,)`` or edges ``(u, v)`` (directed: arcs) of a pattern that automorphisms exchange, or
    nothing, ``()``, for the pattern as a whole."""

    name: str
    places: tuple[Place, ...]


def roles_of(pattern: Pattern, name: str, per: Per) -> list[Role]:
    """The columns of a pattern; where it has several, each is called by its lowest place.

    Example:
      >>> path = Pattern.from_edges([(0, 1), (1, 2)])
      >>> roles_of(path, "wedge", "node")
      [Role(name='wedge:0', places=((0,), (2,))), Role(name='wedge:1', places=((1,),))]
      >>> roles_of(path, "wedge", "edge")
      [Role(name='wedge', places=((0, 1), (1, 2)))]
    """
    if per == "graph":
        return [Role(name, ((),))]
    if per == "node":
        lowest = node_orbits(pattern)
        found = [tuple((int(u),) for u in np.flatnonzero(lowest == v)) for v in np.unique(lowest)]
    else:
        found = _edge_orbits(pattern)
    if len(found) == 1:
        return [Role(name, found[0])]
    return [Role(f"{name}:{'-'.join(map(str, places[0]))}", places) for places in found]


def all_roles(patterns: list[Pattern], given: Sequence[object], per: Per) -> list[list[Role]]:
    """The columns of each pattern, called as it was given."""
    return [
        roles_of(pattern, name if isinstance(name, str) else called(pattern, number), per)
        for number, (pattern, name) in enumerate(zip(patterns, given, strict=True))
    ]


def places_of(pattern: Pattern, of: Literal["node", "edge"]) -> list[Place]:
    """The nodes, or the edges in ascending order, of a pattern."""
    if of == "node":
        return [(u,) for u in range(pattern.num_nodes)]
    return [(int(u), int(v)) for u, v in np.argwhere(pattern.adjacency) if pattern.directed or u < v]


def _edge_orbits(pattern: Pattern) -> list[tuple[Place, ...]]:
    """Orbits of edges under the generators of the group, each ascending."""
    edges = places_of(pattern, "edge")
    generators = [image for coset in stabilizer_chain(pattern).cosets for image in coset[1:]]
    parent = {edge: edge for edge in edges}

    def root(edge: Place) -> Place:
        while parent[edge] != edge:
            edge = parent[edge]
        return edge

    for image in generators:
        for u, v in edges:
            a, b = int(image[u]), int(image[v])
            one, other = root((u, v)), root((a, b) if pattern.directed or a < b else (b, a))
            parent[max(one, other)] = min(one, other)
    return [tuple(edge for edge in edges if root(edge) == lowest) for lowest in edges if root(lowest) == lowest]


def called(pattern: Pattern, number: int) -> str:
    """The name of a column where the pattern was given without one."""
    return canonical_string(pattern) if pattern.num_nodes <= LARGEST_NAMED else f"pattern-{number}"


NUM_COLUMNS = {("node", 4): 15, ("edge", 4): 17, ("node", 5): 73, ("edge", 5): 68}
"""Of the tables of orbits, by size."""


class OrbitWeights(NamedTuple):
    """How the occurrences at a node or edge follow from ORCA's orbits there.

    The pattern's size, the first of the orbits of that size, a weight for each of them, int64, and how many nodes of a
    pattern share the role.
    """

    size: int
    first: int
    weights: np.ndarray
    sharing: int


def orbit_weights(pattern: Pattern, place: Place, induced: bool) -> OrbitWeights | None:
    """The weights of a place of a pattern; ``None`` for what has no such numbers: directed, labelled, not connected, of
    other sizes.

    Example:
      >>> wedge = Pattern.from_edges([(0, 1), (1, 2)])
      >>> orbit_weights(wedge, (0,), induced=False)  # an end of two in each triangle
      OrbitWeights(size=3, first=1, weights=array([1, 0, 2]), sharing=2)
    """
    k = pattern.num_nodes
    plain = not pattern.directed and pattern.node_labels is None and pattern.edge_labels is None
    if not plain or not 2 <= k <= 5 or k == len(place):
        return None
    known = roles(k)
    mask = to_mask(k, [(int(u), int(v)) for u, v in np.argwhere(np.triu(pattern.adjacency))])
    if mask not in known.graph:
        return None
    root = "node" if len(place) == 1 else "edge"
    first, last = NUM_ORBITS[root][k - 1], NUM_ORBITS[root][k]
    orbit = known.node[mask][place[0]] if root == "node" else known.edge[mask][min(place), max(place)]
    matrix = np.eye(last - first, dtype=np.int64) if induced else inclusion(k, root)
    return OrbitWeights(k, first, matrix[orbit - first], known.node[mask].count(orbit))


def known_weights(patterns: list[Pattern], roles: list[list[Role]], induced: bool) -> list[list[OrbitWeights]]:
    """For each pattern how its roles follow from orbits; nothing where they do not."""
    found = []
    for pattern, held in zip(patterns, roles, strict=True):
        weights = [orbit_weights(pattern, role.places[0] or (0,), induced) for role in held]
        known = [w for w in weights if w is not None]
        found.append(known if len(known) == len(weights) else [])
    return found


def weight_table(weights: list[OrbitWeights], per: Per) -> tuple[Literal[4, 5], np.ndarray]:
    """The size of the orbits that are needed, and a column for each of the weights, int64 ``[orbits, weights]``."""
    size = 5 if any(w.size == 5 for w in weights) else 4
    # At edges of 4-node graphlets there are more columns than orbits: these come first.
    table = np.zeros((NUM_COLUMNS["edge" if per == "edge" else "node", size], len(weights)), np.int64)
    for column, w in enumerate(weights):
        table[w.first : w.first + w.weights.size, column] = w.weights
    return size, table


def connected_names(size: int) -> list[str]:
    """The connected undirected patterns of a size, by name, in ORCA's order."""
    return [graphlet.name for graphlet in CONNECTED if graphlet.size == size]
