"""The roles of a pattern: its nodes, or its edges, up to automorphism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from jaxmotif.patterns import EDGE_COLUMN_NAMES, Pattern, canonical_order, canonical_string, stabilizer_chain
from jaxmotif.patterns._orbits import EDGE_NAMES_5, NUM_ORBITS, Rooted, column_matrices

Per = Literal["graph", "node", "edge"]
Place = tuple[int, ...]
Counted = Literal["induced", "copies", "homs"]  # induced occurrences, all of them, or all homomorphisms
LARGEST_NAMED = 8  # most nodes of a pattern that is called by its class where it has no name


class Role(NamedTuple):
    """A column of counts, for places of a pattern that automorphisms exchange.

    Attributes:
      name: the name of the column.
      places: nodes ``(u,)``, or edges (directed: arcs) ``(u, v)``, or ``()`` for the pattern as a whole.
    """

    name: str
    places: tuple[Place, ...]


def roles_of(pattern: Pattern, name: str, per: Per, numbers: np.ndarray | None = None) -> list[Role]:
    """Return the columns of a pattern; where it has several, each is called by its lowest place.

    Args:
      pattern: the pattern.
      name: what it is called.
      per: what a row of the table is.
      numbers: the numbers that its nodes have in the names of the columns, if they are not their own.

    Example:
      >>> path = Pattern.from_edges([(0, 1), (1, 2)])
      >>> roles_of(path, "wedge", "node")
      [Role(name='wedge:0', places=((0,), (2,))), Role(name='wedge:1', places=((1,),))]
      >>> roles_of(path, "wedge", "edge")
      [Role(name='wedge', places=((0, 1), (1, 2)))]
    """
    if per == "graph":
        return [Role(name, ((),))]
    orbits = place_orbits(pattern, places_of(pattern, per), stabilizer_chain(pattern).generators)
    if len(orbits) == 1:
        return [Role(name, tuple(orbits[0]))]
    numbers = np.arange(pattern.num_nodes) if numbers is None else numbers
    roles = []
    for places in orbits:
        named = numbers[np.array(places)]
        lowest = min((named if pattern.directed else np.sort(named, axis=1)).tolist())
        roles.append(Role(f"{name}:{'-'.join(map(str, lowest))}", tuple(places)))
    return roles


def check_per(per: object, *allowed: Per) -> None:
    """Raise ValueError unless ``per`` is one of the values allowed."""
    if per not in allowed:
        *first, last = map(repr, allowed)
        raise ValueError(f"per must be {', '.join(first)} or {last}, got {per!r}")


def all_roles(patterns: list[Pattern], arguments: Sequence[object], per: Per) -> list[list[Role]]:
    """Return the columns of each pattern, named after the argument of the user where that is a string.

    Other small patterns are named after their class. Then nodes have the numbers that they have in its string, so that
    columns of one name are of one role.
    """
    columns = []
    for number, (pattern, argument) in enumerate(zip(patterns, arguments, strict=True)):
        if isinstance(argument, str):
            roles = roles_of(pattern, argument, per)
        elif pattern.num_nodes > LARGEST_NAMED:
            roles = roles_of(pattern, f"pattern-{number}", per)
        else:
            roles = roles_of(pattern, canonical_string(pattern), per, np.argsort(canonical_order(pattern)))
        columns.append(roles)
    return columns


def places_of(pattern: Pattern, of: Literal["node", "edge"]) -> list[Place]:
    """Return the nodes of a pattern, or its edges (arcs), ascending; edges without direction as ``(u, v)`` with u < v.

    Example:
      >>> places_of(Pattern.from_edges([(1, 0), (1, 2)]), "edge")
      [(0, 1), (1, 2)]
    """
    if of == "node":
        return [(u,) for u in range(pattern.num_nodes)]
    return [(u, v) for u, v in np.argwhere(pattern.adjacency).tolist() if pattern.directed or u < v]


def place_orbits(pattern: Pattern, places: Sequence[Place], generators: Sequence[np.ndarray]) -> list[list[Place]]:
    """Return the orbits of nodes or edges of a pattern under the automorphisms that some generate, each ascending.

    Example:
      >>> place_orbits(Pattern.from_edges([(0, 1), (1, 2)]), [(0,), (1,), (2,)], [np.array([2, 1, 0])])
      [[(0,), (2,)], [(1,)]]
    """
    found: dict[Place, list[Place]] = {}
    for place in places:
        if place in found:
            continue
        orbit = found[place] = [place]
        for member in orbit:  # the list grows in the loop
            for image in generators:
                moved = tuple(image[list(member)].tolist())
                # An edge without direction is one place, whichever end comes first.
                moved = moved if pattern.directed else tuple(sorted(moved))
                if moved not in found:
                    found[moved] = orbit
                    orbit.append(moved)
    # The members of an orbit share one list, which is returned once.
    return list({id(orbit): sorted(orbit) for orbit in found.values()}.values())


class OrbitWeights(NamedTuple):
    """Weights by which counts at a node or edge follow from ORCA's orbits there.

    Attributes:
      size: nodes of the pattern.
      weights: int64, a weight for each orbit of up to that size.
      sharing: how many nodes of the pattern share the role, at each of which an occurrence is counted; 1 for maps.
    """

    size: int
    weights: np.ndarray
    sharing: int


def orbit_weights(pattern: Pattern, place: Place, count: Counted) -> OrbitWeights | None:
    """Return the weights of a place of a pattern, or ``None`` where ORCA has no orbit for it.

    ORCA has none for patterns that are directed, labelled, not connected, or not of two to five nodes, nor for an edge
    that is the whole pattern.

    Args:
      pattern: The pattern.
      place: A node or an edge of it.
      count: Whether induced occurrences are counted, all occurrences, or all homomorphisms that send the place there.

    Example:
      >>> wedge = Pattern.from_edges([(0, 1), (1, 2)])
      >>> orbit_weights(wedge, (0,), "copies")  # an end of two in each triangle
      OrbitWeights(size=3, weights=array([0, 1, 0, 2]), sharing=2)
      >>> orbit_weights(wedge, (1,), "homs")  # the square of the degree
      OrbitWeights(size=3, weights=array([1, 0, 2, 2]), sharing=1)
    """
    k, root = pattern.num_nodes, "node" if len(place) == 1 else "edge"
    plain = not pattern.directed and pattern.node_labels is None and pattern.edge_labels is None
    if not plain or not 2 <= k <= 5 or k == len(place):
        return None
    orbits = NUM_ORBITS[root][k]
    every, edges = column_matrices(root, orbits), [(u, v) for u, v in np.argwhere(np.triu(pattern.adjacency)).tolist()]
    numbers = [every.number.get(Rooted(k, edges, at).key()) for at in [place, *((x,) for x in range(k))]]
    if (number := numbers[0]) is None:
        return None
    matrix = np.eye(len(every.homs), dtype=np.int64) if count == "induced" else getattr(every, count)
    first = len(place) - 1  # ORCA's orbits of edges come after the single edge
    # Of all maps of a pattern, each sends the place to one node.
    sharing = 1 if count == "homs" else numbers[1:].count(number)
    return OrbitWeights(k, matrix[number, first : first + orbits], sharing)


def known_weights(patterns: list[Pattern], roles: list[list[Role]], count: Counted) -> list[list[OrbitWeights]]:
    """Return the weights of each pattern's roles, or an empty list for a pattern with a role that has none.

    Args:
      patterns: The patterns.
      roles: The roles of each pattern.
    """
    result = []
    for pattern, own_roles in zip(patterns, roles, strict=True):
        weights = [orbit_weights(pattern, role.places[0] or (0,), count) for role in own_roles]
        known = [w for w in weights if w is not None]
        result.append(known if len(known) == len(weights) else [])
    return result


def weight_table(weights: list[OrbitWeights], per: Per) -> tuple[Literal[4, 5], np.ndarray]:
    """Return the size of the orbits that are needed, and a column for each of the weights, int64."""
    size = 5 if any(w.size == 5 for w in weights) else 4
    # For edges of 4-node graphlets there are more columns than orbits; those of the orbits come first.
    names = {4: EDGE_COLUMN_NAMES, 5: EDGE_NAMES_5}[size] if per == "edge" else range(NUM_ORBITS["node"][size])
    table = np.zeros((len(names), len(weights)), np.int64)
    for column, w in enumerate(weights):
        table[: w.weights.size, column] = w.weights
    return size, table
