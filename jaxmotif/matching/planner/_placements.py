"""Tests for each node of an order, with the places of its lists and matrices (NumPy alone)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxmotif.matching.planner._ask import QueryConstraints
from jaxmotif.matching.planner._order import SearchOrder
from jaxmotif.matching.planner._reduce import CandidateLists
from jaxmotif.search._program import Pair, Placement


class Layout(NamedTuple):
    """The places of everything that a program refers to.

    Attributes:
      core: query nodes searched, in order; position: of each; free: those without an earlier neighbour.
      which: int64 ``[k, k]``, the pair kind asked of images of (u, x), or -1.
      meet: bool ``[k, k]``, which domains have a node in common.
      non_neighbours: int64 ``[R, k, k]``, the pair kinds that images of (u, x) must not fulfil, or -1.
      number: int64 ``[kinds, k]``, of the list family of a kind and node.
      nodes: N, of the reduced target: a family has N + 1 offsets, a domain N words.
      matrix_words: of the bit matrix of a kind; 0 if there are none.
      whole: where the bounds of whole domains start in the offsets, two for each free node.
    """

    core: list[int]
    position: dict[int, int]
    free: list[int]
    which: np.ndarray
    meet: np.ndarray
    non_neighbours: np.ndarray
    number: np.ndarray
    nodes: int
    matrix_words: int
    whole: int

    @classmethod
    def of(cls, asked: QueryConstraints, order: SearchOrder, lists: CandidateLists, meet: np.ndarray) -> Layout:
        nodes = lists.nodes
        matrix_words = nodes * (nodes // 32) if lists.bitmap else 0
        whole = len(lists.families.rows) * (nodes + 1)
        return cls(
            order.core,
            order.position,
            order.free,
            asked.which,
            meet,
            asked.non_neighbours,
            lists.number,
            nodes,
            matrix_words,
            whole,
        )

    def pairs(self, positions: np.ndarray | int, kinds: np.ndarray, x: np.ndarray | int) -> np.ndarray:
        """Return pairs of the nodes at earlier positions with nodes x, integers ``[P, 3]`` like :class:`Pair`."""
        # A family has N + 1 offsets, a kind a matrix: numbers times sizes are places.
        return np.stack([positions, self.number[kinds, x] * (self.nodes + 1), kinds * self.matrix_words], axis=-1)

    def pair(self, u: int, x: int) -> Pair:
        """Return the pair of query nodes that are joined, u placed before x."""
        return Pair(*self.pairs(self.position[u], self.which[u, x], x).tolist())

    def whole_domain(self, x: int) -> Pair:
        """Return the pair by which a free node is placed: its candidates are its whole domain, whatever came before."""
        # The list is the same whatever was placed before, so that two offsets are enough: its begin and its end.
        return Pair(-1, self.whole + 2 * self.free.index(x), 0)


def placements(layout: Layout, below: list[tuple[int, int]]) -> list[Placement]:
    """Return how each core node is placed.

    Args:
      below: pairs (a, b) of query nodes such that a's image must have the lower number; leaves among them are left
        to the leaf counts.
    """
    core = np.array(layout.core)
    position = layout.position
    asked = layout.which[np.ix_(core, core)]  # by [earlier, later] position, as all masks here
    before = np.triu(np.ones(asked.shape, bool), 1)
    ascending = np.zeros(asked.shape, bool)
    for a, b in below:
        if b in position:
            ascending[position[a], position[b]] = True
    # Neighbours differ anyway, and so do nodes whose domains have nothing in common.
    # A node that must exceed another one differs from it already.
    differ = before & layout.meet[np.ix_(core, core)] & (asked < 0) & ~ascending
    strange = layout.non_neighbours[:, core[:, None], core]

    def pairs(kinds: np.ndarray) -> list[np.ndarray]:
        return _by_later(before & (kinds >= 0), lambda r, a, b: layout.pairs(a, kinds[r, a, b], core[b]))

    anchors, foreign = pairs(asked[None]), pairs(strange)
    distinct_from, lower = (_by_later(mask[None], lambda _, earlier, __: earlier) for mask in (differ, ascending))
    return [
        Placement([layout.whole_domain(x)] if x in layout.free else joined, *tests)
        for x, joined, tests in zip(layout.core, anchors, zip(distinct_from, lower, foreign, strict=True), strict=True)
    ]


def _by_later(mask: np.ndarray, of: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> list[np.ndarray]:
    """Return what a function gives for all (r, earlier, later) of a mask, cut by the later one."""
    # The later node is the first key, so that the tests of each node stand together.
    later, earlier, r = np.nonzero(mask.T)
    return np.split(of(r, earlier, later), np.searchsorted(later, np.arange(1, mask.shape[-1])))
