"""Blocks of bit rows in a program: leaves counted in closed form, and nodes looked ahead to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmotif.kernels.choice import power_of_four
from jaxmotif.matching import candidates, leaves
from jaxmotif.search import Block, LeafSet, Pair, Step, Term

MOST_AHEAD_NODES = 62
"""Nodes in a domain that is looked ahead to: larger ones are seldom used up, and cost more to test than that saves."""

MOST_AHEAD_WORDS = 2**6
"""Words read to see whether one node has a candidate left; those that need more are not looked at."""

MOST_ROW_WORDS = 2**24
"""Words of all bit rows for looking ahead."""


class Layout(NamedTuple):
    """What blocks refer to.

    Attributes:
      core: query nodes searched, in order.
      which: int64 ``[k, k]``, the pair kind asked of images of (u, x), or -1.
      meet: bool ``[k, k]``, which domains have a node in common.
      pair: of earlier node u and node x, for programs.
      nodes: of the reduced target.
      strangers: pair kinds that two nodes must not fulfil where ``which`` is -1.
    """

    core: list[int]
    which: np.ndarray
    meet: np.ndarray
    pair: Callable[[int, int], Pair]
    nodes: int
    strangers: list[int]


class BitRows:
    """The bit rows and numberings that blocks ask for, to be made on the device at once.

    A numbering counts the nodes in the union of some domains from 1. The rows of (pair kind, query node x) hold, for
    every target node, which nodes of x's domain the kind allows.
    """

    def __init__(self, nodes: int, width: int):
        self._nodes, self._width = nodes, width
        self._unions: list[list[int]] = []
        self._rows: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._numbers: Any = None
        self.words = 0

    def copy(self) -> BitRows:
        other = BitRows(self._nodes, self._width)
        other._unions, other._rows, other.words = list(self._unions), dict(self._rows), self.words
        return other

    def numbering(self, members: Sequence[int]) -> int:
        """A new numbering, of the union of some domains."""
        self._unions.append(list(members))
        self._numbers = None
        return len(self._unions) - 1

    def place(self, kind: int, x: int, numbering: int, width: int) -> int:
        """The first word of some rows of ``width`` words."""
        if (kind, x, numbering) not in self._rows:
            self._rows[kind, x, numbering] = self.words, width
            self.words += self._nodes * width
        return self._rows[kind, x, numbering][0]

    def number(self, bits: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The numberings on the device, and how many nodes each has."""
        if self._numbers is None:
            unions = np.zeros((power_of_four(len(self._unions), 16), self._width), bool)
            for g, members in enumerate(self._unions):
                unions[g, members] = True
            words = np.packbits(unions, axis=-1, bitorder="little").view(np.uint32)
            self._numbers = candidates.number_nodes(bits, words)
        return self._numbers

    def arrays(self, reduced: candidates.Reduced, kinds: np.ndarray) -> tuple[jax.Array, jax.Array]:
        """``leaf_rows`` and ``leaf_ranks`` of the operands."""
        numbers, _ = self.number(reduced.bits)
        R = power_of_four(len(self._rows), 16)
        lists, rows = np.zeros((R, 2), np.int32), np.zeros((R, 4), np.int32)
        for r, ((kind, x, g), (first, width)) in enumerate(self._rows.items()):
            lists[r], rows[r] = (kind, x), (r, g, width, first)
        words = candidates.bit_rows(
            reduced, kinds, lists, numbers, rows, np.int32(len(self._rows)), capacity=power_of_four(self.words, 2**14)
        )
        return words, numbers.reshape(-1)


def leaf_terms(
    plan: leaves.LeafPlan, layout: Layout, rows: BitRows, bits: jax.Array
) -> Generator[tuple[str, Any], Any, list[list[Term]]]:
    """The terms of every group of leaves (a job, as the plan it is part of)."""
    for group in plan.groups:
        rows.numbering(group)
    counts = yield "plan", rows.number(bits)[1]
    core, which, nodes = layout.core, layout.which, layout.nodes
    result = []
    for g, group in enumerate(plan.groups):
        width = -(-(int(counts[g]) + 1) // 32)

        def leaf_set(u: int, x: int, many: bool, g=g, width=width) -> LeafSet:
            first = rows.place(int(which[u, x]), x, g, width) if many else 0
            return LeafSet(layout.pair(u, x), first, (x >> 5) * nodes, x & 31)

        def block(members: Sequence[int], less: int = 0, width=width, g=g, leaf_set=leaf_set) -> Block:
            pairs = [(u, x) for x in plan.sets(members) for u in core if which[u, x] >= 0]
            sets = [leaf_set(u, x, len(pairs) > 1) for u, x in pairs]
            anchors = {u for u, _ in pairs}
            used = [i for i, y in enumerate(core) if layout.meet[y, members].all() and y not in anchors]
            return Block(sets, used, width, g * nodes, less)

        if plan.alike(group):
            terms = [Term(1, [block(group, less) for less in range(len(group))])]
        else:
            terms = [
                Term(leaves.coefficient(partition), [block(members) for members in partition])
                for partition in leaves.partitions(group)
            ]
        result.append(terms)
    return result


def look_ahead(steps: Sequence[Step], layout: Layout, rows: BitRows, sizes: np.ndarray) -> list[Step]:
    """Steps that drop a partial match if a later neighbour of the node just placed has no candidate left.

    Left are the nodes of its domain that fulfil the pairs with all nodes placed so far and are not among these.

    Args:
      sizes: integers ``[k]``, of the domains.
    """
    core, which = layout.core, layout.which
    position = {v: i for i, v in enumerate(core)}
    numberings: dict[int, int] = {}
    result = []
    for i, (step, placed) in enumerate(zip(steps, core, strict=True)):
        before, blocks = np.array(core[: i + 1]), []
        for x in np.flatnonzero(which[placed] >= 0).tolist():
            if position.get(x, i + 1) <= i or sizes[x] > MOST_AHEAD_NODES:
                continue
            width = -(-(int(sizes[x]) + 1) // 32)
            joined = which[before, x] >= 0
            anchors, others = before[joined].tolist(), before[~joined].tolist()
            used = np.flatnonzero(~joined & layout.meet[before, x]).tolist()
            tests = len(anchors) + len(layout.strangers) * len(others)
            new_words = layout.nodes * width * (len(anchors) + len(layout.strangers))
            if tests == 1 and not used:  # consistency has seen to that
                continue
            if tests * width > MOST_AHEAD_WORDS or rows.words + new_words > MOST_ROW_WORDS:
                continue
            g = numberings[x] if x in numberings else numberings.setdefault(x, rows.numbering([x]))

            def near(u: int, x=x, g=g, width=width) -> LeafSet:
                first = rows.place(int(which[u, x]), x, g, width)
                return LeafSet(layout.pair(u, x), first, (x >> 5) * layout.nodes, x & 31)

            def apart(u: int, kind: int, x=x, g=g, width=width) -> LeafSet:
                pair = Pair(position[u], 0, 0)
                return LeafSet(pair, rows.place(kind, x, g, width), (x >> 5) * layout.nodes, x & 31, inside=False)

            sets = [*map(near, anchors), *(apart(u, kind) for u in others for kind in layout.strangers)]
            blocks.append(Block(sets, used, width, g * layout.nodes))
        result.append(dataclasses.replace(step, ahead=blocks))
    return result
