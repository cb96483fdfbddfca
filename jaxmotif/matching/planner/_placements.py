"""Tests for each node of an order, with the places of its lists and matrices (NumPy alone)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jaxmotif.matching._sizes import MOST_AHEAD_NODES, MOST_RANKED
from jaxmotif.matching.planner._ask import QueryConstraints
from jaxmotif.matching.planner._leaves import Sum, products
from jaxmotif.matching.planner._order import SearchOrder
from jaxmotif.matching.planner._reduce import CandidateLists, Measures
from jaxmotif.search._program import Pair, Placement


class Number(NamedTuple):
    """The number of candidates of a later node x once node v is placed; partial matches without any are dropped."""

    v: int
    x: int


Sets = tuple[int, ...]
"""Leaves whose candidates are intersected."""


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
    """The places of everything that a program refers to.

    Attributes:
      asked: all that the query asks.
      order: the order of the search, its leaves, and the constraints that break symmetry.
      lists, measured: the candidate lists, and what they say of the nodes.
      looks: whether the search looks ahead.
    """

    asked: QueryConstraints
    order: SearchOrder
    lists: CandidateLists
    measured: Measures
    looks: bool = False

    @cached_property
    def sums(self) -> list[Sum]:
        """The sums that the ways to map the leaves multiply from."""
        leaves = self.order.leaves
        return [terms for group in leaves.groups for terms in products(leaves, group)]

    @cached_property
    def counted(self) -> dict[int, Number]:
        """The leaves whose candidates are counted by intersecting lists, as rows of bits would be long."""
        found = {}
        # One leaf stands for its twins.
        for x in {block.sets[0] for terms in self.sums for _, blocks in terms for block in blocks}:
            near = [u for u, _ in self.anchors((x,))]
            if len(near) > 1 and self.measured.sizes[x] >= MOST_RANKED:
                found[x] = Number(near[-1], x)
        return found

    @cached_property
    def sequence(self) -> list[int | Number]:
        """What is placed, in order: core nodes, and after them the numbers of candidates that depend on them last."""
        core, counted = self.order.core, set(self.counted.values())
        found: list[int | Number] = []
        for i, v in enumerate(core):
            found.append(v)
            later = [x for x in np.flatnonzero(self.asked.which[v] >= 0).tolist() if x not in core[: i + 1]]
            worth = [x for x in later if (v, x) in counted or (self.looks and self.may_fail(core[: i + 1], x))]
            found += [Number(v, x) for x in worth]
        return found

    @cached_property
    def position(self) -> dict[int | Number, int]:
        """The position in the sequence of all that is placed."""
        return {item: i for i, item in enumerate(self.sequence)}

    def anchors(self, sets: Sets) -> list[tuple[int, int]]:
        """Return the leaves of some sets, each after each of its neighbours."""
        return [(u, x) for x in sets for u in self.order.core if self.asked.which[u, x] >= 0]

    def may_fail(self, placed: list[int], x: int) -> bool:
        """Return whether it is worth while to see if nodes placed so far leave a candidate for a later one."""
        which, strange = self.asked.which[placed, x] >= 0, self.asked.non_neighbours[:, placed, x] >= 0
        tests = which.sum() + strange.sum() + (~which & self.measured.meet[placed, x]).sum()
        # Consistency sees to one neighbour.
        return bool(tests > 1) and int(self.measured.sizes[x]) <= MOST_AHEAD_NODES

    @property
    def nodes(self) -> int:
        """N, of the reduced target: a family has N + 1 offsets, a domain N words."""
        return self.lists.nodes

    def pairs(self, positions: np.ndarray | int, kinds: np.ndarray, x: np.ndarray | int) -> np.ndarray:
        """Return pairs of the nodes at earlier positions with nodes x, integers ``[P, 3]`` like :class:`Pair`."""
        # A family has N + 1 offsets, a kind a matrix: numbers times sizes are places.
        matrix_words = self.nodes * (self.nodes // 32) if self.lists.bitmap else 0
        return np.stack([positions, self.lists.number[kinds, x] * (self.nodes + 1), kinds * matrix_words], axis=-1)

    def pair(self, u: int, x: int) -> Pair:
        """Return the pair of query nodes that are joined, u placed before x."""
        return Pair(*self.pairs(self.position[u], self.asked.which[u, x], x).tolist())

    def whole_domain(self, x: int) -> Pair:
        """Return the pair by which a free node is placed: its candidates are its whole domain, whatever came before."""
        # The list is the same whatever was placed before, so that two offsets are enough: its begin and its end.
        # The bounds of whole domains stand behind the offsets of all families.
        return Pair(-1, len(self.lists.families.rows) * (self.nodes + 1) + 2 * self.order.free.index(x), 0)


def placements(layout: Layout) -> list[Placement]:
    """Return how everything is placed, in order.

    Of the nodes whose images must ascend, leaves are left to the leaf counts.
    """
    core, position, asked, meet = np.array(layout.order.core), layout.position, layout.asked, layout.measured.meet
    at = np.array([position[v] for v in layout.order.core])
    joined = asked.which[np.ix_(core, core)]  # by [earlier, later] core node, as all masks here
    before = np.triu(np.ones(joined.shape, bool), 1)
    ascending = np.zeros(joined.shape, bool)
    number = layout.order.position
    for a, b in layout.order.below:
        if b in number:
            ascending[number[a], number[b]] = True
    # Neighbours differ anyway, and so do nodes whose domains have nothing in common.
    # A node that must exceed another one differs from it already.
    differ = before & meet[np.ix_(core, core)] & (joined < 0) & ~ascending
    strange = asked.non_neighbours[:, core[:, None], core]

    def pairs(kinds: np.ndarray) -> list[np.ndarray]:
        return _by_later(before & (kinds >= 0), lambda r, a, b: layout.pairs(at[a], kinds[r, a, b], core[b]))

    anchors, foreign = pairs(joined[None]), pairs(strange)
    distinct_from, below = (_by_later(mask[None], lambda _, earlier, __: at[earlier]) for mask in (differ, ascending))
    tests = zip(anchors, distinct_from, below, foreign, strict=True)
    nodes = dict(zip(layout.order.core, tests, strict=True))

    def place(item: int | Number) -> Placement:
        if isinstance(item, Number):
            return _place_number(layout, item)
        near, differ, lower, strange = nodes[item]
        near = [layout.whole_domain(item)] if item in layout.order.free else near
        return Placement(near, differ, lower, strange)

    return [place(item) for item in layout.sequence]


def _place_number(layout: Layout, number: Number) -> Placement:
    """Return how the candidates that the nodes placed so far leave for a later node are counted."""
    (v, x), core, position, asked = number, layout.order.core, layout.position, layout.asked
    before = core[: core.index(v) + 1]
    joined = [u for u in before if asked.which[u, x] >= 0]
    used = [position[u] for u in before if u not in joined and layout.measured.meet[u, x]]
    strange = [(u, kinds[u, x]) for kinds in asked.non_neighbours for u in before if kinds[u, x] >= 0]
    forbidden = [Pair(*layout.pairs(position[u], kind, x).tolist()) for u, kind in strange]
    return Placement([layout.pair(u, x) for u in joined], used, non_neighbours=forbidden, sums=True)


def _by_later(mask: np.ndarray, of: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> list[np.ndarray]:
    """Return what a function gives for all (r, earlier, later) of a mask, cut by the later one."""
    # The later node is the first key, so that the tests of each node stand together.
    later, earlier, r = np.nonzero(mask.T)
    return np.split(of(r, earlier, later), np.searchsorted(later, np.arange(1, mask.shape[-1])))
