"""Leaves: query nodes that a count need not search, counted in closed form once their neighbours are mapped."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.matching._sizes import MOST_IN_GROUP, MOST_RANKED, MOST_TWIN_WORDS, PAIRS_A_WORD
from jaxmotif.matching.planner._reduce import Measures
from jaxmotif.patterns._orbits import partitions
from jaxmotif.search._limbs import limbs_for


class Block(NamedTuple):
    """Leaves that take nodes from common candidates, one after the other.

    Attributes:
      sets: leaves whose sets of candidates are intersected.
      less: the number of these candidates that are taken before.
      leaves: the number of leaves that take one each.
    """

    sets: tuple[int, ...]
    less: int = 0
    leaves: int = 1


@dataclasses.dataclass(frozen=True)
class LeafPlan:
    """The leaves of a query, in groups that do not compete: domains of leaves of different groups have no common node.

    Attributes:
      groups: the leaves of each group, as query nodes.
      inside: for each leaf, the query nodes whose candidates are all candidates of the leaf too, whatever the other
        nodes are mapped to.
      limbs: how many 32-bit words hold the number of ways to map all leaves, for any partial match; 0 without leaves.
    """

    groups: list[list[int]]
    inside: dict[int, set[int]]
    limbs: int

    @functools.cached_property
    def nodes(self) -> list[int]:
        """All leaves, group by group."""
        return [x for group in self.groups for x in group]

    def holds(self, x: int, others: Iterable[int]) -> bool:
        """Return whether the candidates of leaf x hold those of some others."""
        return self.inside[x].issuperset(others)

    def sets(self, block: Sequence[int], group: Sequence[int]) -> tuple[int, ...]:
        """Return the leaves of a group whose candidates are intersected to find those that a block has in common.

        Of two leaves of which one has all its candidates among the other's, the inner one is enough. Of leaves with
        equal candidates, the lowest is taken.
        """
        lowest = {min(y for y in group if self.holds(x, [y]) and self.holds(y, [x])) for x in block}
        return tuple(x for x in sorted(lowest) if not any(self.holds(x, [y]) for y in lowest - {x}))

    def layers(self, group: Sequence[int]) -> tuple[list[list[int]], list[int]]:
        """Split a group into layers, and return them with the leaves that are left.

        The first layer has the leaves whose candidates hold those of all other leaves. The next layer has the same for
        the rest, and so on. Leaves of a layer have the same candidates. None of the leaves that are left holds all
        others'.
        """
        found, rest = [], list(group)
        while outer := [x for x in rest if self.holds(x, rest)]:
            found.append(outer)
            rest = [x for x in rest if x not in outer]
        return found, rest


NO_LEAVES = LeafPlan([], {}, 0)


def choose_leaves(which: np.ndarray, measured: Measures, order: Sequence[int], tied: np.ndarray) -> LeafPlan:
    """Pick leaves: an independent set whose removal leaves every component connected.

    Nodes with a single neighbour are tried first, then the others, from the end of the order. A node becomes a leaf
    only if its candidates fit short bit rows, or wider ones for twins with many candidates.

    Args:
      which: int64 ``[k, k]``, the pair kind asked of (u, x), -1 where they are not joined.
      measured: what the candidate lists say of the nodes.
      order: the matching order of all nodes.
      tied: bool ``[k]``, which nodes cannot be leaves.
    """
    nodes = measured.nodes
    near, overlap = _masks(which >= 0), _masks(measured.meet)
    degree = [mask.bit_count() for mask in near]
    sizes, closest = measured.sizes.tolist(), measured.closest.tolist()
    groups: list[list[int]] = []
    inside: dict[int, set[int]] = {}
    plan = LeafPlan(groups, inside, 0)
    chosen, ways = 0, 1
    rest = (1 << len(near)) - 1

    def compare(x: int) -> None:
        """Find the nodes inside x: those with a domain within that of x, and joined to all neighbours of x as x is."""
        if x not in inside:
            us = np.flatnonzero(which[:, x] >= 0)
            same = measured.within[:, x] & (which[us] == which[us, x, None]).all(axis=0)
            inside[x] = set(np.flatnonzero(same).tolist())

    def worth(x: int, words: int) -> bool:
        """Return whether all twins of x can be leaves, and searching them is more work than reading wide bit rows."""
        mates = sum(1 << y for y in inside[x] if near[y] == near[x] and measured.within[x, y])
        return (
            mates.bit_count() > 1
            and not near[x] & mates
            # All its twins become leaves, and without them the rest must still hold its neighbours together.
            and _connected(near, near[x], rest & ~mates)
            and nodes * words <= MOST_TWIN_WORDS
            and PAIRS_A_WORD * words * degree[x] <= measured.likely[x] ** 2
        )

    def fits(group: Sequence[int]) -> bool:
        """Return whether a group has few terms, and short bit rows."""
        for y in group:
            compare(y)
        layers, tangled = plan.layers(group)
        # The sum bounds the union from above, since domains may overlap.
        wide = len(tangled) > 1 and min(nodes, sum([sizes[y] for y in tangled])) >= MOST_RANKED
        if wide or len(tangled) > MOST_IN_GROUP:
            return False
        # Candidates are the length of one list, unless several sets meet.
        several = [layer[0] for layer in layers if degree[layer[0]] > 1]
        return all(sizes[y] < MOST_RANKED or worth(y, sizes[y] // 32 + 1) for y in several)

    # Nodes with a single neighbour come first: the length of a list counts their candidates, without any bit rows.
    for x in [v for v in reversed(order) if degree[v] == 1] + [v for v in reversed(order) if degree[v] > 1]:
        # No two leaves may be neighbours, and the number of their maps must fit the widest limbs.
        if tied[x] or near[x] & chosen or limbs_for(ways * max(1, closest[x])) is None:
            continue
        left = rest & ~(1 << x)
        # Its neighbours must stay connected without it, or one of them would be searched through its whole domain.
        if not _connected(near, near[x] & left, left):
            continue
        # Leaves that may take the same node compete: their groups become one.
        touching = [group for group in groups if overlap[x] & sum(1 << y for y in group)]
        group = [x, *(y for group in touching for y in group)]
        if not fits(group):
            continue
        groups[:] = [g for g in groups if g not in touching] + [group]
        # The bound on what a lane counts grows with each leaf.
        chosen, rest, ways = chosen | 1 << x, left, ways * max(1, closest[x])
    return dataclasses.replace(plan, limbs=(limbs_for(ways) or 0) if groups else 0)


Sum = list[tuple[int, list[Block]]]
"""Products to be added up, each a coefficient and factors."""


def products(plan: LeafPlan, group: Sequence[int]) -> list[Sum]:
    """Return the ways to map a group, as sums that are multiplied (:mod:`jaxmotif.search._leaf_counts`).

    Each layer of leaves that hold all others' candidates is one factor. The rest is one sum, with a product for each
    set partition of these leaves; equal products are put together.
    """
    layers, tangled = plan.layers(group)
    found: list[Sum] = []
    left = len(group)
    for layer in layers:
        left -= len(layer)
        found.append([(1, [Block((min(layer),), left, len(layer))])])
    terms: dict[tuple[tuple[int, ...], ...], int] = {}
    for partition in partitions(tangled) if tangled else ():
        sets = tuple(sorted(plan.sets(block, tangled) for block in partition))
        terms[sets] = terms.get(sets, 0) + coefficient(partition)
    if terms:
        found.append([(times, [Block(one) for one in sets]) for sets, times in terms.items() if times])
    return found


def coefficient(partition: Sequence[Sequence[int]]) -> int:
    """Return the coefficient of a set partition in the count of injective maps.

    The sum is explained in :mod:`jaxmotif.search._leaf_counts`.
    """
    return math.prod((-1) ** (len(block) - 1) * math.factorial(len(block) - 1) for block in partition)


def _masks(matrix: np.ndarray) -> list[int]:
    """Return the rows of a bool matrix as integers, column 0 the lowest bit."""
    packed = np.packbits(matrix, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def _connected(near: Sequence[int], wanted: int, allowed: int) -> bool:
    """Return whether some nodes (at least one) lie in one component of the allowed ones."""
    inside = wanted & -wanted
    todo = inside
    # The search goes from node to node until all wanted ones are reached; sets of nodes are bits, which is fast.
    while todo and wanted & ~inside:
        lowest = todo & -todo
        todo ^= lowest
        new = near[lowest.bit_length() - 1] & allowed & ~inside
        inside |= new
        todo |= new
    return bool(wanted) and not wanted & ~inside
