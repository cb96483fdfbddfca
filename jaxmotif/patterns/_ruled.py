"""Patterns with rules for one target, and the automorphisms that rules leave."""

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
      forbidden: bool ``[k, k]``, without the edges of the pattern: there must be no edge or arc from the image of u to
        that of x, or none that fulfils its condition. Symmetric unless directed.
      condition: int64 ``[k, k]``: the number of the condition on the edge (u, x), wanted or forbidden; -1 for none.
      edges: uint32 ``[W, S]``: bit ``c % 32`` of word ``c // 32``: whether condition c holds for a slot of the target's
        rows (its padding too); ``None`` where there are no conditions on edges.
      allowed: bool ``[k, n]``: the target nodes that each node may map to; ``None`` for all.
      classes: int64 ``[k]``, which nodes have the same conditions; ``None`` if all have.
      passes: what the search cannot test: of maps int64 ``[M, k]``, which ones count, bool ``[M]``.
      keeps: of permutations of the query nodes, int64 ``[A, k]``, which ones leave ``passes`` the same, bool ``[A]``.
      order: of at most ``FEW_NODES`` nodes: in which they are searched; ``None`` for more.
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
        """The pattern whose automorphisms are those of the query but for ``passes``: each kind of pair is an edge
        label."""
        # One label for each pair of condition and whether it is forbidden; -1, no condition, is one of them.
        codes = 2 * (self.condition + 1) + self.forbidden
        return Pattern(self.adjacency | self.forbidden, self.classes, codes, self.directed)


def shape_of(query: Pattern) -> Pattern:
    """What a query's automorphisms are those of."""
    return query.shape if isinstance(query, RuledPattern) else query


def automorphisms_of(query: Pattern) -> np.ndarray:
    """All automorphisms of a query, int64 ``[A, k]``: of its shape, those that leave ``passes`` the same."""
    found = automorphisms(shape_of(query))
    return found[query.keeps(found)] if isinstance(query, RuledPattern) and query.keeps is not None else found


def automorphism_total(query: Pattern) -> int:
    """How many automorphisms a query has."""
    if isinstance(query, RuledPattern) and query.keeps is not None:
        return len(automorphisms_of(query))
    return automorphism_count(shape_of(query))


def has_passes(query: Pattern) -> bool:
    """Whether some matches that the search finds do not count."""
    return isinstance(query, RuledPattern) and query.passes is not None


def that_pass(query: Pattern, maps: np.ndarray, one_each: bool) -> np.ndarray:
    """The maps, int64 ``[M, k]``, that count; of those that automorphisms exchange, if ``one_each``, the least."""
    if not isinstance(query, RuledPattern) or query.passes is None:
        return maps
    maps = maps[query.passes(maps)]
    # The first automorphism is the identity.
    for image in automorphisms_of(query)[1:] if one_each else ():
        # Of a map and its images under automorphisms the lexicographically least is kept.
        other = maps[:, image]
        first = np.argmax(maps != other, axis=1)[:, None]  # where two maps differ
        maps = maps[(np.take_along_axis(maps, first, 1) <= np.take_along_axis(other, first, 1))[:, 0]]
    return maps
