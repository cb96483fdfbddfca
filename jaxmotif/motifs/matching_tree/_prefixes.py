"""Matching orders that meet every occurrence of a pattern once, and every occurrence of each of its beginnings once.

Symmetry constraints (Grochow and Kellis) leave one map of every occurrence of the whole pattern, but several of its
beginnings (NemoGPU, footnote 3). Here the beginnings are patterns in their own right. The last node is one whose
removal leaves the pattern connected; of the nodes that automorphisms exchange with it, it is to have the highest id.
What is left is an occurrence of a smaller pattern, met once in the same manner, and there is one order for each way in
which the last node can be joined to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jaxmotif.patterns._automorphisms import automorphisms, node_orbits
from jaxmotif.patterns._canonical import canonical_order
from jaxmotif.patterns._pattern import Pattern


class PrefixOrder(NamedTuple):
    """Matching order of a pattern.

    Attributes:
      nodes: int64 ``[k]``, the nodes of the pattern in this order.
      after: for each position, the earlier positions whose nodes must have lower ids, as bits.
    """

    nodes: np.ndarray
    after: tuple[int, ...]


class PrefixOrders:
    """Finder of the orders of connected patterns, which remembers the orders of every beginning.

    The last node of an order is one with the fewest neighbours, so that beginnings are dense. Among such nodes it is
    one whose edges are the most frequent, so that the infrequent ones come first, as in QuickSI.

    Args:
      frequency: how often each edge of a pattern occurs where it is to be searched, numbers ``[k, k]`` (those of other
        pairs are not read).

    Example:
      >>> orders = PrefixOrders(lambda pattern: pattern.neighbors)
      >>> triangle = Pattern.from_edges([(0, 1), (1, 2), (2, 0)])
      >>> [(order.nodes.tolist(), order.after) for order in orders.of(triangle)]
      [([2, 1, 0], (0, 1, 3))]
    """

    def __init__(self, frequency: Callable[[Pattern], np.ndarray]):
        self._frequency = frequency
        self._known: dict[tuple[bytes, ...], list[PrefixOrder]] = {}

    def of(self, pattern: Pattern) -> list[PrefixOrder]:
        """Return the orders of a connected pattern of up to 8 nodes; each occurrence is met by exactly one of them.

        Raises:
          ValueError: a pattern in several parts.
        """
        if len(pattern.components()) != 1:
            raise ValueError(f"the pattern must be connected, got {pattern}")
        form = canonical_order(pattern)
        canonical = pattern.relabel(form)
        labels = (canonical.node_labels, canonical.edge_labels)
        # Patterns of one form have the same orders, which are found once and renamed for each.
        key = (canonical.adjacency.tobytes(), *(b"" if x is None else x.tobytes() for x in labels))
        if key not in self._known:
            self._known[key] = self._find(canonical)
        return [PrefixOrder(form[order.nodes], order.after) for order in self._known[key]]

    def _find(self, pattern: Pattern) -> list[PrefixOrder]:
        k = pattern.num_nodes
        if k == 1:
            return [PrefixOrder(np.zeros(1, np.int64), (0,))]
        near = pattern.neighbors
        often = np.where(near, self._frequency(pattern), 0).sum(axis=1)
        by_choice = np.lexsort((-often, near.sum(axis=1))).tolist()
        # The rest must be connected, or its occurrences would not be grown along edges.
        last = next(v for v in by_choice if len(pattern.relabel(np.delete(np.arange(k), v)).components()) == 1)
        others = np.delete(np.arange(k), last)
        # The rest is put in canonical order, so that the orders found before are in its numbers.
        others = others[canonical_order(pattern.relabel(others))]
        rest = pattern.relabel(others)
        orbit = node_orbits(pattern)
        entries = pattern.entries
        joined = entries[last] * (int(entries.max()) + 1) + entries[:, last]
        group = automorphisms(rest)
        orders = []
        for order in self.of(rest):
            # Every automorphism of the rest is another way to join the last node to it.
            images = others[group[:, order.nodes]]
            # Ways in which the last node is joined alike find the same occurrences, so one of them is enough.
            for way in np.unique(joined[images], axis=0, return_index=True)[1].tolist():
                nodes = images[way]
                # It has the highest id of the nodes that could have been last, so that an occurrence is met once.
                bits = sum(1 << i for i, v in enumerate(nodes.tolist()) if orbit[v] == orbit[last])
                orders.append(PrefixOrder(np.append(nodes, last), (*order.after, bits)))
        return orders
