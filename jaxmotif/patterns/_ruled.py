"""Patterns with rules for one target, and the automorphisms that keep the rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property

import numpy as np

from jaxmotif.patterns._automorphisms import automorphism_count, automorphisms
from jaxmotif.patterns._pattern import Pattern


@dataclasses.dataclass(frozen=True, eq=False)
class RuledPattern(Pattern):
    """A pattern with rules for one target: conditions on nodes and edges, and edges that must not be there.

    Attributes:
      forbidden: bool ``[k, k]``, outside the edges of the pattern, symmetric unless directed. Where it is true, there
        must be no edge or arc from the image of u to that of x, or none that satisfies its condition.
      condition: int64 ``[k, k]``, the number of the condition on the edge (u, x), required or forbidden; -1 for none.
      edges: uint32 ``[W, S]``. Bit ``c % 32`` of word ``c // 32`` says whether condition c holds for a slot of the
        target's rows, padding included; ``None`` where there are no conditions on edges.
      allowed: bool ``[k, n]``, the target nodes that each node may map to; ``None`` for all.
      classes: int64 ``[k]``, equal for nodes with the same conditions; ``None`` if all have the same.
      passes: tests what the search cannot: from maps int64 ``[M, k]`` it returns which ones count, bool ``[M]``.
      keeps: from permutations of the query nodes, int64 ``[A, k]``, returns which ones leave ``passes`` the same, bool
        ``[A]``.
      order: the order in which at most ``FEW_NODES`` nodes are searched; ``None`` for more nodes.
    """

    forbidden: np.ndarray
    condition: np.ndarray
    edges: np.ndarray | None = None
    allowed: np.ndarray | None = None
    classes: np.ndarray | None = None
    passes: Callable[[np.ndarray], np.ndarray] | None = None
    keeps: Callable[[np.ndarray], np.ndarray] | None = None
    order: list[int] | None = None

    @cached_property
    def shape(self) -> Pattern:
        """Pattern with the automorphisms of the query, before ``passes``: each kind of pair is an edge label."""
        # Each condition, and none (-1), has a label for required and one for forbidden edges.
        codes = 2 * (self.condition + 1) + self.forbidden
        return Pattern(self.adjacency | self.forbidden, self.classes, codes, self.directed)


def shape_of(query: Pattern) -> Pattern:
    """Return the pattern whose automorphisms are those of a query, before ``passes``."""
    return query.shape if isinstance(query, RuledPattern) else query


def automorphisms_of(query: Pattern) -> np.ndarray:
    """Return all automorphisms of a query, int64 ``[A, k]``: those of its shape that leave ``passes`` the same."""
    group = automorphisms(shape_of(query))
    return group[query.keeps(group)] if isinstance(query, RuledPattern) and query.keeps is not None else group


def automorphism_total(query: Pattern) -> int:
    """Return how many automorphisms a query has."""
    if isinstance(query, RuledPattern) and query.keeps is not None:
        return len(automorphisms_of(query))
    return automorphism_count(shape_of(query))


def has_passes(query: Pattern) -> bool:
    """Return whether some matches that the search finds may not count."""
    return isinstance(query, RuledPattern) and query.passes is not None


def that_pass(query: Pattern, maps: np.ndarray, one_each: bool) -> np.ndarray:
    """Return the maps, int64 ``[M, k]``, that pass; with ``one_each`` only the least of those that are exchanged."""
    if not isinstance(query, RuledPattern) or query.passes is None:
        return maps
    maps = maps[query.passes(maps)]
    # The first automorphism is the identity.
    for image in automorphisms_of(query)[1:] if one_each else ():
        # A map stays if it is lexicographically at most its image under each automorphism.
        other = maps[:, image]
        first = np.argmax(maps != other, axis=1)[:, None]  # where two maps differ
        maps = maps[(np.take_along_axis(maps, first, 1) <= np.take_along_axis(other, first, 1))[:, 0]]
    return maps
