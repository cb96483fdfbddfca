"""Which query nodes a count need not search: leaves, counted in closed form once all their neighbours are mapped."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from jaxmotif.patterns import Pattern, twin_classes

MOST_IN_GROUP = 4
"""Leaves that compete for nodes, unless all have the same candidates; n of them have Bell(n) terms."""

MOST_WEIGHT = 2**52
"""Ways to map all leaves of one partial match: a block of lanes must add up within 63 bits."""

MOST_WORDS = 64
"""Words of a bit row over the union of a group's domains, unless the group is of twins."""

MOST_ROW_WORDS = 2**26
"""Words of the bit rows of all nodes, for twins."""

PAIRS_A_WORD = 8
"""Twins are worth wider bit rows if they have so many pairs of candidates, which a search would test, for each word."""


@dataclasses.dataclass(frozen=True)
class LeafPlan:
    """Leaves by group: those of one group have domains that meet, those of different groups do not.

    Attributes:
      groups: query nodes.
      twins: for each node, the lowest one that it can be exchanged with; leaves with the same have the same candidates.
    """

    groups: list[list[int]]
    twins: np.ndarray

    @property
    def nodes(self) -> list[int]:
        return [x for group in self.groups for x in group]

    def alike(self, group: Sequence[int]) -> bool:
        """Whether all leaves of a group have the same candidates."""
        return len({int(self.twins[x]) for x in group}) == 1

    def sets(self, block: Sequence[int]) -> list[int]:
        """Leaves whose candidates are to be intersected: one for each twin class."""
        return sorted({int(self.twins[x]): x for x in sorted(block, reverse=True)}.values())


def choose_leaves(
    query: Pattern,
    sizes: np.ndarray,
    meet: np.ndarray,
    longest: np.ndarray,
    likely: np.ndarray,
    nodes: int,
    order: Sequence[int],
) -> LeafPlan:
    """Pick leaves: an independent set whose removal leaves every component connected.

    Nodes of one neighbour come first, then the others from the end of the order, as long as their candidates fit
    short bit rows, or wider ones for twins with many candidates.

    Args:
      sizes: integers ``[k]``, of the domains. meet: bool ``[k, k]``, which domains have a node in common.
      longest: integers ``[k]``, candidates of each node at most, given its neighbours.
      likely: floats ``[k]``, the candidates that a candidate of each node is one of, given a neighbour, on average.
      nodes: how many target nodes are in any domain.
      order: the matching order of all nodes.
    """
    near, overlap = _masks(query.neighbors), _masks(meet)
    degree = [mask.bit_count() for mask in near]
    sizes, longest = sizes.tolist(), longest.tolist()
    twins = twin_classes(query)
    groups: list[list[int]] = []
    chosen, weight = 0, 1
    rest = (1 << query.num_nodes) - 1

    def worth(x: int, words: int) -> bool:
        """Whether all twins of x can be leaves, and searching them is more work than reading wide bit rows."""
        mates = sum(1 << y for y in range(query.num_nodes) if twins[y] == twins[x])
        return (
            mates.bit_count() > 1
            and not near[x] & mates
            and _connected(near, near[x], rest & ~mates)
            and nodes * words <= MOST_ROW_WORDS
            and PAIRS_A_WORD * words * degree[x] <= likely[x] ** 2
        )

    for x in [v for v in reversed(order) if degree[v] == 1] + [v for v in reversed(order) if degree[v] > 1]:
        if near[x] & chosen or weight * max(1, longest[x]) > MOST_WEIGHT:
            continue
        left = rest & ~(1 << x)
        if not _connected(near, near[x] & left, left):
            continue
        touching = [group for group in groups if any(overlap[x] >> y & 1 for y in group)]
        group = [x, *(y for group in touching for y in group)]
        alike = len({int(twins[y]) for y in group}) == 1
        intersects = not alike or any(degree[y] > 1 for y in group)
        union = min(nodes, sum(sizes[y] for y in group))
        if len(group) > MOST_IN_GROUP and not alike:
            continue
        if intersects and union >= 32 * MOST_WORDS and not (alike and worth(x, union // 32 + 1)):
            continue
        groups = [g for g in groups if g not in touching] + [group]
        chosen, rest, weight = chosen | 1 << x, left, weight * max(1, longest[x])
    return LeafPlan(groups, twins)


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """All set partitions.

    Example:
      >>> list(partitions([1, 2]))
      [[[1, 2]], [[1], [2]]]
    """
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in partitions(rest):
        for i, block in enumerate(partition):
            yield partition[:i] + [[first, *block]] + partition[i + 1 :]
        yield [[first], *partition]


def coefficient(partition: Sequence[Sequence[int]]) -> int:
    """Of a set partition in the count of injective maps (:mod:`jaxmotif.kernels.weigh`)."""
    return math.prod((-1) ** (len(block) - 1) * math.factorial(len(block) - 1) for block in partition)


def _masks(matrix: np.ndarray) -> list[int]:
    """The rows of a bool matrix as integers, column 0 the lowest bit."""
    packed = np.packbits(matrix, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _connected(near: Sequence[int], wanted: int, allowed: int) -> bool:
    """Whether some nodes (at least one) lie in one component of the allowed ones."""
    inside = wanted & -wanted
    todo = inside
    while todo and wanted & ~inside:
        lowest = todo & -todo
        todo ^= lowest
        new = near[lowest.bit_length() - 1] & allowed & ~inside
        inside |= new
        todo |= new
    return bool(wanted) and not wanted & ~inside
