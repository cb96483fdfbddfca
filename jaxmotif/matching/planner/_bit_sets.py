"""The phase of a plan that writes sets of candidates as bit rows.

They serve leaves that are counted in closed form, and nodes that are looked ahead to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmotif.arrays._bits import pack_bits, words_for
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.matching._sizes import LEAST_ENTRIES, LEAST_SETS, MOST_AHEAD_NODES, MOST_AHEAD_WORDS, MOST_ROW_WORDS
from jaxmotif.matching.planner import _leaves as leaves
from jaxmotif.matching.planner._placements import Layout
from jaxmotif.matching.planner._reduce import CandidateLists, backend_of
from jaxmotif.search._layout import FactorWords, PairWords, SetWords, TermWords
from jaxmotif.search._program import Placement


class BitRows:
    """The bit rows and numberings that blocks ask for, to be made on the device at once.

    A numbering counts the nodes in the union of some domains from 1. The rows of (pair kind, query node x) hold, for
    every target node, which nodes of x's domain the kind allows.
    """

    def __init__(self, lists: CandidateLists):
        self._lists = lists
        self._unions: list[list[int]] = []
        self._rows: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._numbers: Any = None
        self.words = 0

    def copy(self) -> BitRows:
        other = BitRows(self._lists)
        other._unions, other._rows, other.words = list(self._unions), dict(self._rows), self.words
        return other

    def numbering(self, members: Sequence[int]) -> int:
        """Return a new numbering, of the union of some domains."""
        self._unions.append(list(members))
        # All numberings are made at once when one is asked for, to wait for the device only once.
        self._numbers = None
        return len(self._unions) - 1

    def place(self, kind: int, x: int, numbering: int, width: int) -> int:
        """Return the first word of some rows of ``width`` words."""
        if (kind, x, numbering) not in self._rows:
            self._rows[kind, x, numbering] = self.words, width
            # Every target node has a row.
            self.words += self._lists.nodes * width
        return self._rows[kind, x, numbering][0]

    def number(self) -> tuple[Any, Any]:
        """Return the numberings where the target lies, int32 ``[G, N]``, and how many nodes each has."""
        if self._numbers is None:
            bits = self._lists.families.bits
            # Padding unions are empty, and number no nodes.
            unions = np.zeros((power_of_four(len(self._unions), LEAST_SETS), 32 * len(bits)), bool)
            for g, members in enumerate(self._unions):
                unions[g, members] = True
            self._numbers = backend_of(self._lists.target).number_nodes(bits, pack_bits(unions))
        return self._numbers

    def arrays(self) -> tuple[Any, Any]:
        """Return ``leaf_rows`` and ``leaf_ranks`` of the operands."""
        if not self._unions:
            return np.zeros(1, np.int32), np.zeros(1, np.int32)
        numbers, _ = self.number()
        R = power_of_four(len(self._rows), LEAST_SETS)
        lists, rows = np.zeros((R, 2), np.int32), np.zeros((R, 4), np.int32)
        for r, ((kind, x, g), (first, width)) in enumerate(self._rows.items()):
            lists[r], rows[r] = (kind, x), (r, g, width, first)
        families = self._lists.families._replace(rows=lists, count=np.int32(len(self._rows)))
        capacity = power_of_four(self.words, LEAST_ENTRIES)
        words = backend_of(self._lists.target).bit_rows(families, numbers, rows, capacity=capacity)
        return words, numbers.reshape(-1)


def row_words(members: int) -> int:
    """Return how many words a bit row over a numbering has: numbers begin at 1, since 0 stands for nodes outside."""
    return words_for(members + 1)


def make_candidate_set(layout: Layout, pair: PairWords, x: int, rows: int, flip: int = 0) -> SetWords:
    """Return the candidates of node x as a set: its domain is word ``x // 32`` of each node, bit ``x % 32``."""
    return SetWords(*pair, rows, (x >> 5) * layout.nodes, x & 31, flip)


def build_leaf_terms(layout: Layout, rows: BitRows) -> list[list[TermWords]]:
    """Return the terms of some sums, whose product is the number of ways to map the leaves."""
    plan = layout.order.leaves
    sums = [terms for group in plan.groups for terms in leaves.products(plan, group)]
    # A sum in which several sets are intersected has bit rows over the union of these sets.
    meeting = [
        sorted({x for _, blocks in terms for block in blocks if len(pairs(layout, block)) > 1 for x in block.sets})
        for terms in sums
    ]
    numbers = {i: rows.numbering(members) for i, members in enumerate(meeting) if members}
    # The length of the rows is known once the nodes are numbered, which is the only wait of this phase.
    counts = rows.number()[1].tolist() if numbers else ()
    return [
        [
            TermWords(coefficient, [leaf_factor(layout, rows, block, numbers.get(i), counts) for block in blocks])
            for coefficient, blocks in terms
        ]
        for i, terms in enumerate(sums)
    ]


def pairs(layout: Layout, block: leaves.Block) -> list[tuple[int, int]]:
    """Return a pair (neighbour, leaf) for each leaf of a block's sets and each of its neighbours."""
    return [(u, x) for x in block.sets for u in layout.order.core if layout.asked.which[u, x] >= 0]


def leaf_factor(
    layout: Layout, rows: BitRows, block: leaves.Block, group: int | None, counts: Sequence[int]
) -> FactorWords:
    """Return the common candidates of some leaves, without the nodes in use.

    Args:
      layout: the places of lists and nodes.
      rows: the bit rows asked for so far, added to here.
      block: the leaves.
      group: the number of the numbering of the union of their domains; ``None`` for a single set, which needs none.
      counts: how many nodes each numbering has.
    """
    near = pairs(layout, block)
    if group is None or len(near) == 1:  # the length of its list is the count
        places, width, ranks = [0], 0, 0
    else:
        width, ranks = row_words(int(counts[group])), group * layout.nodes
        places = [rows.place(int(layout.asked.which[u, x]), x, group, width) for u, x in near]
    sets = [make_candidate_set(layout, layout.pair(u, x), x, place) for (u, x), place in zip(near, places, strict=True)]
    # An image may be a candidate of all leaves if its domain meets theirs. An image of a leaf's neighbour cannot, as no
    # node is its own neighbour.
    meets, joined = np.all(layout.measured.meet[:, block.sets], axis=1), {u for u, _ in near}
    rivals = [i for i, u in enumerate(layout.order.core) if meets[u] and u not in joined]
    return FactorWords(sets, rivals, width, ranks, block.less, block.leaves)


def look_ahead(placed: Sequence[Placement], layout: Layout, rows: BitRows) -> list[Placement]:
    """Return placements that drop a partial match if a later neighbour of the node just placed has no candidate left.

    The candidates left are the nodes of its domain that fulfil the pairs with all nodes placed so far and are not among
    their images.

    Args:
      placed: how each core node is placed.
      layout: the places of lists and nodes.
      rows: the bit rows asked for so far, added to here.
    """
    position = layout.position
    numberings: dict[int, int] = {}
    result = []
    for i, (placement, v) in enumerate(zip(placed, layout.order.core, strict=True)):
        # Leaves have no position, and are looked ahead to as the last of all.
        later = [x for x in np.flatnonzero(layout.asked.which[v] >= 0).tolist() if position.get(x, i + 1) > i]
        factors = [look_ahead_factor(layout, rows, numberings, i, x) for x in later]
        result.append(dataclasses.replace(placement, ahead=[factor for factor in factors if factor is not None]))
    return result


def look_ahead_factor(
    layout: Layout, rows: BitRows, numberings: dict[int, int], last: int, x: int
) -> FactorWords | None:
    """Return the candidates that the nodes placed so far leave for a later node.

    Args:
      layout: the places of lists and nodes.
      rows: the bit rows asked for so far, added to here.
      numberings: the numbering of each domain looked ahead to so far, added to here.
      last: the position of the node that is placed last.
      x: the later node.

    Returns:
      The candidates, or ``None`` if it costs more to see whether there are any than that saves.
    """
    before, size = np.array(layout.order.core[: last + 1]), int(layout.measured.sizes[x])
    joined = layout.asked.which[before, x] >= 0
    anchors, others = before[joined].tolist(), before[~joined].tolist()
    used = np.flatnonzero(~joined & layout.measured.meet[before, x]).tolist()
    width = row_words(size)
    strange = [(u, kind) for u in others for kind in layout.asked.non_neighbours[:, u, x].tolist() if kind >= 0]
    tests = len(anchors) + len(strange)
    # This bounds the new words from above: rows that were asked for before are there already.
    new_words = layout.nodes * width * (len(anchors) + len({kind for _, kind in strange}))
    if size > MOST_AHEAD_NODES or (tests == 1 and not used):  # consistency sees to one neighbour
        return None
    if tests * width > MOST_AHEAD_WORDS or rows.words + new_words > MOST_ROW_WORDS:
        return None
    if x not in numberings:
        numberings[x] = rows.numbering([x])
    g = numberings[x]
    # What is left is common to the rows of all neighbours placed so far and in no row that the other nodes forbid.
    near = [
        make_candidate_set(layout, layout.pair(u, x), x, rows.place(int(layout.asked.which[u, x]), x, g, width))
        for u in anchors
    ]
    excluded = [
        make_candidate_set(layout, PairWords(layout.position[u], 0, 0), x, rows.place(kind, x, g, width), flip=-1)
        for u, kind in strange
    ]
    return FactorWords([*near, *excluded], used, width, g * layout.nodes)
