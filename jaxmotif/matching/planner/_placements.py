"""Tests for each node of an order, with the places of its lists and matrices (NumPy alone)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property

import numpy as np

from jaxmotif.matching.planner._ask import QueryConstraints
from jaxmotif.matching.planner._order import SearchOrder
from jaxmotif.matching.planner._reduce import CandidateLists, Measures
from jaxmotif.search._layout import PairWords
from jaxmotif.search._program import Placement


@dataclasses.dataclass(frozen=True, eq=False)
class Layout:
    """The places of everything that a program refers to.

    Attributes:
      asked: all that the query asks.
      order: the order of the search, its leaves, and the constraints that break symmetry.
      lists, measured: the candidate lists, and what they say of the nodes.
    """

    asked: QueryConstraints
    order: SearchOrder
    lists: CandidateLists
    measured: Measures

    @cached_property
    def position(self) -> dict[int, int]:
        """The position of each core node in the order."""
        return {v: i for i, v in enumerate(self.order.core)}

    @property
    def nodes(self) -> int:
        """N, of the reduced target: a family has N + 1 offsets, a domain N words."""
        return self.lists.nodes

    def pairs(self, positions: np.ndarray | int, kinds: np.ndarray, x: np.ndarray | int) -> np.ndarray:
        """Return pairs of the nodes at earlier positions with nodes x, integers ``[P, 3]`` like :class:`PairWords`."""
        # Each family has N + 1 offsets, and each kind one matrix, so that a place is a number times a size.
        matrix_words = self.nodes * (self.nodes // 32) if self.lists.bitmap else 0
        return np.stack([positions, self.lists.number[kinds, x] * (self.nodes + 1), kinds * matrix_words], axis=-1)

    def pair(self, u: int, x: int) -> PairWords:
        """Return the pair of query nodes that are joined, u placed before x."""
        return PairWords(*self.pairs(self.position[u], self.asked.which[u, x], x).tolist())

    def whole_domain(self, x: int) -> PairWords:
        """Return the pair by which a free node is placed: its candidates are its whole domain, whatever came before."""
        # The list is the same whatever was placed before, so that two offsets are enough: its begin and its end.
        # The bounds of whole domains stand behind the offsets of all families.
        return PairWords(-1, len(self.lists.families.rows) * (self.nodes + 1) + 2 * self.order.free.index(x), 0)


def placements(layout: Layout) -> list[Placement]:
    """Return how each core node is placed."""
    core, position, asked, meet = np.array(layout.order.core), layout.position, layout.asked, layout.measured.meet
    joined = asked.which[np.ix_(core, core)]  # by [earlier, later] position, as all masks here
    before = np.triu(np.ones(joined.shape, bool), 1)
    ascending = np.zeros(joined.shape, bool)
    for a, b in layout.order.below:  # no symmetry moves a leaf
        ascending[position[a], position[b]] = True
    # Neighbours differ anyway, and so do nodes whose domains have nothing in common.
    # A node that must exceed another one differs from it already.
    differ = before & meet[np.ix_(core, core)] & (joined < 0) & ~ascending
    strange = asked.non_neighbours[:, core[:, None], core]

    def pairs(kinds: np.ndarray) -> list[np.ndarray]:
        return _by_later(before & (kinds >= 0), lambda r, a, b: layout.pairs(a, kinds[r, a, b], core[b]))

    anchors, foreign = pairs(joined[None]), pairs(strange)
    distinct_from, lower = (_by_later(mask[None], lambda _, earlier, __: earlier) for mask in (differ, ascending))
    tests = zip(distinct_from, lower, foreign, strict=True)
    return [
        Placement([layout.whole_domain(x)] if x in layout.order.free else near, *more)
        for x, near, more in zip(layout.order.core, anchors, tests, strict=True)
    ]


def _by_later(mask: np.ndarray, of: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> list[np.ndarray]:
    """Return what a function gives for all (r, earlier, later) of a mask, cut by the later one."""
    # The later node is the first key, so that the tests of each node stand together.
    later, earlier, r = np.nonzero(mask.T)
    return np.split(of(r, earlier, later), np.searchsorted(later, np.arange(1, mask.shape[-1])))
