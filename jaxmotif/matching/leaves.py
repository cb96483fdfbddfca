"""Which query nodes a count need not search: leaves, counted in closed form once all their neighbours are mapped."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from jaxmotif.patterns import Pattern, twin_classes

MOST_IN_GROUP = 4
"""Leaves that compete for nodes; one of n has Bell(n) terms."""

MOST_WEIGHT = 2**52
"""Ways to map all leaves of one partial match: a block of lanes must add up within 63 bits."""

MOST_WORDS = 64
"""Words of a bit row over the union of a group's domains."""


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

    def sets(self, block: Sequence[int]) -> list[int]:
        """Leaves whose candidates are to be intersected: one for each twin class."""
        return sorted({int(self.twins[x]): x for x in sorted(block, reverse=True)}.values())


def choose_leaves(
    query: Pattern, sizes: np.ndarray, meet: np.ndarray, longest: np.ndarray, order: Sequence[int]
) -> LeafPlan:
    """Pick leaves: an independent set whose removal leaves every component connected.

    Nodes of one neighbour come first, then the others from the end of the order, as long as their candidates fit
    short bit rows.

    Args:
      sizes: integers ``[k]``, of the domains. meet: bool ``[k, k]``, which domains have a node in common.
      longest: integers ``[k]``, candidates of each node at most, given its neighbours.
      order: the matching order of all nodes.
    """
    near = query.neighbors
    degree = near.sum(axis=1)
    twins = twin_classes(query)
    leaves: list[int] = []
    weight = 1
    candidates = [v for v in reversed(order) if degree[v] == 1] + [v for v in reversed(order) if degree[v] > 1]
    for x in candidates:
        if near[x, leaves].any() or weight * max(1, int(longest[x])) > MOST_WEIGHT:
            continue
        rest = np.ones(query.num_nodes, bool)
        rest[[*leaves, x]] = False
        if not _connected(near & rest[None] & rest[:, None], np.flatnonzero(near[x] & rest)):
            continue
        group = next(g for g in _groups([*leaves, x], meet) if x in g)
        intersects = degree[x] > 1 or len({int(twins[y]) for y in group}) > 1
        words = -(-(int(sizes[group].sum()) + 1) // 32)
        if len(group) > MOST_IN_GROUP or (intersects and words > MOST_WORDS):
            continue
        leaves.append(x)
        weight *= max(1, int(longest[x]))
    return LeafPlan(_groups(leaves, meet), twins)


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


def _groups(leaves: Sequence[int], meet: np.ndarray) -> list[list[int]]:
    groups: list[list[int]] = []
    for x in leaves:
        touching = [g for g in groups if meet[x, g].any()]
        groups = [g for g in groups if g not in touching] + [[x, *(y for g in touching for y in g)]]
    return groups


def _connected(near: np.ndarray, nodes: np.ndarray) -> bool:
    """Whether some nodes (at least one) lie in one component."""
    if not len(nodes):
        return False
    inside = np.zeros(len(near), bool)
    inside[nodes[0]] = True
    while True:
        grown = inside | near[inside].any(axis=0)
        if (grown == inside).all():
            return bool(inside[nodes].all())
        inside = grown
