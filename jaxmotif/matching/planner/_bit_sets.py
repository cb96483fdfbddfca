"""The fifth phase of a plan: the terms of the leaves, over rows of bits where several sets of candidates meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmotif.arrays._bits import pack_bits, words_for
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.matching._sizes import LEAST_ENTRIES, LEAST_SETS
from jaxmotif.matching.planner._leaves import Block, Sum
from jaxmotif.matching.planner._placements import Layout, Sets
from jaxmotif.matching.planner._reduce import backend_of
from jaxmotif.search._program import CandidateSet, Factor, Term


class LeafRows:
    """Rows of bits for the leaves of a search.

    A numbering counts the nodes in the union of some domains from 1. The rows of (pair kind, query node x) hold, for
    every target node, which nodes of x's domain the kind allows.
    """

    def __init__(self, layout: Layout):
        self._lists, self._words = layout.lists, 0
        self._rows: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.members = [meeting(layout, terms) for terms in layout.sums]
        self._unions = {members: g for g, members in enumerate(dict.fromkeys(filter(None, self.members)))}
        if not self._unions:
            return
        bits, nodes = self._lists.families.bits, self._lists.nodes
        # Padding unions are empty, and number no one.
        unions = np.zeros((power_of_four(len(self._unions), LEAST_SETS), 32 * len(bits)), bool)
        for members, g in self._unions.items():
            unions[g, list(members)] = True
        # All numberings are made at once, to wait for the device only once.
        self._numbers, counts = backend_of(self._lists.target).number_nodes(bits, pack_bits(unions))
        for members, g in self._unions.items():
            width = words_for(int(counts[g]) + 1)  # numbers begin at 1, since 0 stands for nodes outside
            for u, x in layout.anchors(members):
                row = int(layout.asked.which[u, x]), x, g
                if row not in self._rows:
                    self._rows[row] = self._words, width
                    # Every target node has a row.
                    self._words += nodes * width

    def place(self, members: Sets, kinds: list[tuple[int, int]]) -> tuple[list[int], int]:
        """Return where rows over the union of some domains begin, and their words.

        Args:
          members: the leaves whose domains are united.
          kinds: the pair kind and the leaf of each of the rows.
        """
        places, widths = zip(*(self._rows[kind, x, self._unions[members]] for kind, x in kinds), strict=True)
        return list(places), widths[0]

    def words(self) -> Any:
        """Return ``leaf_rows`` of the operands."""
        if not self._rows:
            return np.zeros(1, np.int32)
        R = power_of_four(len(self._rows), LEAST_SETS)
        lists, rows = np.zeros((R, 2), np.int32), np.zeros((R, 4), np.int32)
        for r, ((kind, x, g), (first, width)) in enumerate(self._rows.items()):
            lists[r], rows[r] = (kind, x), (r, g, width, first)
        families = self._lists.families._replace(rows=lists, count=np.int32(len(self._rows)))
        capacity, backend = power_of_four(self._words, LEAST_ENTRIES), backend_of(self._lists.target)
        return backend.bit_rows(families, self._numbers, rows, capacity=capacity)


def meeting(layout: Layout, terms: Sum) -> Sets:
    """Return the leaves of a sum whose sets of candidates meet as rows of bits, ascending."""
    blocks = [block.sets for _, blocks in terms for block in blocks if len(layout.anchors(block.sets)) > 1]
    return tuple(sorted({x for sets in blocks for x in sets if sets[0] not in layout.counted}))


def leaf_terms(layout: Layout, rows: LeafRows) -> list[list[Term]]:
    """Return the terms of every sum that the ways to map the leaves multiply from."""
    return [
        [Term(times, [leaf_factor(layout, rows, block, members) for block in blocks]) for times, blocks in terms]
        for terms, members in zip(layout.sums, rows.members, strict=True)
    ]


def leaf_factor(layout: Layout, rows: LeafRows, block: Block, members: Sets) -> Factor:
    """Return the common candidates of some leaves, without the nodes in use; over rows of bits of ``members``."""
    near, position, counted = layout.anchors(block.sets), layout.position, layout.counted.get(block.sets[0])
    # An image may be a candidate of all leaves if its domain meets theirs. An image of a leaf's neighbour cannot, as no
    # node is its own neighbour.
    meets, joined = np.all(layout.measured.meet[:, block.sets], axis=1), {u for u, _ in near}
    used = [position[u] for u in layout.order.core if meets[u] and u not in joined]
    at, places, width = None, [0] * len(near), 0
    if counted is not None:
        at = position[counted]
        # What was placed before the number was left out when it was counted.
        used = [u for u in used if u > at]
        near = near if used else []
    elif len(near) > 1:
        places, width = rows.place(members, [(int(layout.asked.which[u, x]), x) for u, x in near])
    sets = [CandidateSet(layout.pair(u, x), place, x) for (u, x), place in zip(near, places, strict=False)]
    return Factor(sets, used, at, width, block.less, block.leaves)
