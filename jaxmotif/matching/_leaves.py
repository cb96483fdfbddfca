"""Which query nodes a count need not search: leaves, counted in closed form once all their neighbours are mapped."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from jaxmotif.matching._reduce import Measures
from jaxmotif.matching._sizes import LEAF_LIMBS, MOST_GROUP_WORDS, MOST_IN_GROUP, MOST_TWIN_WORDS, PAIRS_A_WORD
from jaxmotif.search._limbs import SPARE_BITS


@dataclasses.dataclass(frozen=True)
class LeafPlan:
    """Leaves by group: those of one group have domains that meet, those of different groups do not.

    Attributes:
      groups: query nodes.
      twins: for each node, the lowest one that it can be exchanged with; leaves with the same have the same candidates.
      limbs: 32-bit words that hold the ways to map all leaves of one partial match, whichever it is; 0 without leaves.
    """

    groups: list[list[int]]
    twins: np.ndarray
    limbs: int

    @property
    def nodes(self) -> list[int]:
        return [x for group in self.groups for x in group]

    def alike(self, group: Sequence[int]) -> bool:
        """Whether all leaves of a group have the same candidates."""
        return len({int(self.twins[x]) for x in group}) == 1

    def sets(self, block: Sequence[int]) -> list[int]:
        """Leaves whose candidates are to be intersected: one for each twin class."""
        # From the highest down: of each twin class the lowest stays.
        return sorted({int(self.twins[x]): x for x in sorted(block, reverse=True)}.values())


def limbs_for(ways: int) -> int | None:
    """Limbs that hold up to so many ways to map leaves, of :data:`LEAF_LIMBS`; ``None`` if not even the most do.

    The ways of one partial match are at most the product of the most candidates of each leaf, since the maps are among
    the products of sets of candidates. That bounds what a lane counts, so that it is exact or not counted at all.

    Example:
      >>> limbs_for(2**52), limbs_for(2**52 + 1), limbs_for(5000**8), limbs_for(2**600)
      (2, 4, 4, None)
    """
    return next((limbs for limbs in LEAF_LIMBS if ways <= 2 ** (32 * limbs - SPARE_BITS)), None)


def choose_leaves(
    neighbors: np.ndarray, twins: np.ndarray, measured: Measures, order: Sequence[int], tied: np.ndarray
) -> LeafPlan:
    """Pick leaves: an independent set whose removal leaves every component connected.

    Nodes of one neighbour come first, then the others from the end of the order, as long as their candidates fit
    short bit rows, or wider ones for twins with many candidates.

    Args:
      neighbors: bool ``[k, k]``, which nodes are joined.
      twins: int64 ``[k]``, the lowest node that each one can be exchanged with.
      measured: what the candidate lists say of the nodes.
      order: the matching order of all nodes.
      tied: bool ``[k]``, which nodes cannot be leaves.
    """
    nodes = measured.nodes
    near, overlap = _masks(neighbors), _masks(measured.meet)
    degree = [mask.bit_count() for mask in near]
    sizes, closest = measured.sizes.tolist(), measured.closest.tolist()
    groups: list[list[int]] = []
    chosen, ways = 0, 1
    rest = (1 << len(near)) - 1

    def worth(x: int, words: int) -> bool:
        """Whether all twins of x can be leaves, and searching them is more work than reading wide bit rows."""
        mates = sum(1 << y for y in range(len(near)) if twins[y] == twins[x])
        return (
            mates.bit_count() > 1
            and not near[x] & mates
            # All its twins are to be leaves: without them the rest must still hold its neighbours together.
            and _connected(near, near[x], rest & ~mates)
            and nodes * words <= MOST_TWIN_WORDS
            and PAIRS_A_WORD * words * degree[x] <= measured.likely[x] ** 2
        )

    # Nodes of one neighbour first: their candidates are the length of a list, and no rows have to meet.
    for x in [v for v in reversed(order) if degree[v] == 1] + [v for v in reversed(order) if degree[v] > 1]:
        # No two leaves are neighbours, and what they may count fits.
        if tied[x] or near[x] & chosen or limbs_for(ways * max(1, closest[x])) is None:
            continue
        left = rest & ~(1 << x)
        # Its neighbours must stay connected without it, or one of them would be searched through its whole domain.
        if not _connected(near, near[x] & left, left):
            continue
        # Leaves that may take the same node compete: their groups become one.
        touching = [group for group in groups if any(overlap[x] >> y & 1 for y in group)]
        group = [x, *(y for group in touching for y in group)]
        alike = len({int(twins[y]) for y in group}) == 1
        # Candidates are the length of one list, unless several sets meet.
        intersects = not alike or any(degree[y] > 1 for y in group)
        # At most: domains may overlap.
        union = min(nodes, sum(sizes[y] for y in group))
        if len(group) > MOST_IN_GROUP and not alike:
            continue
        if intersects and union >= 32 * MOST_GROUP_WORDS and not (alike and worth(x, union // 32 + 1)):
            continue
        groups = [g for g in groups if g not in touching] + [group]
        # The bound on what a lane counts grows with each leaf.
        chosen, rest, ways = chosen | 1 << x, left, ways * max(1, closest[x])
    return LeafPlan(groups, twins, (limbs_for(ways) or 0) if groups else 0)


def products(plan: LeafPlan, group: Sequence[int]) -> list[tuple[int, list[tuple[tuple[int, ...], int]]]]:
    """What the ways to map a group add up from (:mod:`jaxmotif.search._leaf_counts`): of each product its coefficient,
    and its factors as the leaves whose common candidates are counted, and how many fewer. One for each of the group's
    partitions, or for leaves of equal candidates one in all."""
    if plan.alike(group):
        return [(1, [(tuple(group), less) for less in range(len(group))])]
    return [(coefficient(partition), [(tuple(block), 0) for block in partition]) for partition in partitions(group)]


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
    # The first goes into a block of the others, or is one by itself.
    for partition in partitions(rest):
        for i, block in enumerate(partition):
            yield partition[:i] + [[first, *block]] + partition[i + 1 :]
        yield [[first], *partition]


def coefficient(partition: Sequence[Sequence[int]]) -> int:
    """Of a set partition in the count of injective maps (:mod:`jaxmotif.search._leaf_counts`)."""
    return math.prod((-1) ** (len(block) - 1) * math.factorial(len(block) - 1) for block in partition)


def _masks(matrix: np.ndarray) -> list[int]:
    """The rows of a bool matrix as integers, column 0 the lowest bit."""
    packed = np.packbits(matrix, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _connected(near: Sequence[int], wanted: int, allowed: int) -> bool:
    """Whether some nodes (at least one) lie in one component of the allowed ones."""
    inside = wanted & -wanted
    todo = inside
    # A flood over sets of nodes as bits, until all that are wanted are reached.
    while todo and wanted & ~inside:
        lowest = todo & -todo
        todo ^= lowest
        new = near[lowest.bit_length() - 1] & allowed & ~inside
        inside |= new
        todo |= new
    return bool(wanted) and not wanted & ~inside
