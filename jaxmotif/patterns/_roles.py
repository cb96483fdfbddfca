"""The roles of a pattern: its nodes, or its edges, up to automorphism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from jaxmotif.patterns import EDGE_COLUMN_NAMES, Pattern, canonical_order, canonical_string, stabilizer_chain
from jaxmotif.patterns._orbits import (
    EDGE_NAMES_5,
    NUM_ORBITS,
    corrections,
    inclusion,
    orbit_at,
    roles,
    to_mask,
)

Per = Literal["graph", "node", "edge"]
Place = tuple[int, ...]
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
    """Weights by which the occurrences at a node or edge follow from ORCA's orbits there.

    Attributes:
      size: nodes of the pattern.
      first: the first orbit of that size.
      weights: int64, a weight for each orbit of that size.
      sharing: how many nodes of the pattern share the role.
    """

    size: int
    first: int
    weights: np.ndarray
    sharing: int


def orbit_weights(pattern: Pattern, place: Place, induced: bool) -> OrbitWeights | None:
    """Return the weights of a place of a pattern, or ``None`` where ORCA has no orbit for it.

    ORCA has none for patterns that are directed, labelled, not connected, or not of two to five nodes, nor for an edge
    that is the whole pattern.

    Example:
      >>> wedge = Pattern.from_edges([(0, 1), (1, 2)])
      >>> orbit_weights(wedge, (0,), induced=False)  # an end of two in each triangle
      OrbitWeights(size=3, first=1, weights=array([1, 0, 2]), sharing=2)
    """
    k = pattern.num_nodes
    plain = not pattern.directed and pattern.node_labels is None and pattern.edge_labels is None
    if not plain or not 2 <= k <= 5 or k == len(place):
        return None
    orbits = roles(k)
    mask = to_mask(k, [(int(u), int(v)) for u, v in np.argwhere(np.triu(pattern.adjacency))])
    if mask not in orbits.graph:
        return None
    root = "node" if len(place) == 1 else "edge"
    first, last = NUM_ORBITS[root][k - 1], NUM_ORBITS[root][k]
    orbit = orbit_at(k, mask, place)
    matrix = np.eye(last - first, dtype=np.int64) if induced else inclusion(k, root)
    return OrbitWeights(k, first, matrix[orbit - first], orbits.node[mask].count(orbit))


def homomorphism_weights(pattern: Pattern, place: Place) -> OrbitWeights | None:
    """Return the weights that give the homomorphisms of a pattern at the images of one of its nodes.

    Returns:
      The weights, ``None`` where :func:`orbit_weights` has none. They cover the orbits of all sizes up to that of the
      pattern, since a map that merges nodes has a smaller image.

    Example:
      >>> homomorphism_weights(Pattern.from_edges([(0, 1), (1, 2)]), (1,))  # the square of the degree
      OrbitWeights(size=3, first=0, weights=array([1, 0, 2, 2]), sharing=1)
    """
    own = orbit_weights(pattern, place, induced=True)
    if own is None:
        return None
    merged, row = corrections(own.size, "node"), int(own.weights.argmax())
    injective = merged.stabilizer[row] * inclusion(own.size, "node")[row]
    return OrbitWeights(own.size, 0, np.concatenate([merged.matrix[row], injective]), 1)


def known_weights(
    patterns: list[Pattern], roles: list[list[Role]], weigh: Callable[[Pattern, Place], OrbitWeights | None]
) -> list[list[OrbitWeights]]:
    """Return the weights of each pattern's roles, or an empty list for a pattern with a role that has none.

    Args:
      patterns: The patterns.
      roles: The roles of each pattern.
      weigh: :func:`orbit_weights` or :func:`homomorphism_weights`.
    """
    result = []
    for pattern, own_roles in zip(patterns, roles, strict=True):
        weights = [weigh(pattern, role.places[0] or (0,)) for role in own_roles]
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
        table[w.first : w.first + w.weights.size, column] = w.weights
    return size, table
