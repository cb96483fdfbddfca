"""Matching orders of several patterns, joined where they begin alike (NemoGPU 5.3)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxmotif.patterns._pattern import Pattern


@dataclasses.dataclass(frozen=True, eq=False)
class MatchingTree:
    """Matching orders of several patterns, joined where they begin alike.

    Attributes:
      parent: for each tree node, the one it extends, or -1.
      step: for each tree node, what the new pattern node must fulfil: its label (0 without labels), then for each
        node before it the edge there and the edge back, 0 for none and 1 or the edge label for one.
      leaf: for each pattern, its tree node.
    """

    parent: list[int]
    step: list[tuple]
    leaf: list[int]


def matching_tree(patterns: Sequence[Pattern], orders: Sequence[Sequence[int]]) -> MatchingTree:
    """Join matching orders into a prefix tree, so that shared beginnings are searched once.

    Args:
      patterns: all directed or none; edge labels positive.
      orders: one for each pattern.

    Reference:
      Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach, TKDE 2017, section 5.3.

    Example:
      >>> pair = [Pattern.from_edges([(0, 1), (1, 2)]), Pattern.from_edges([(0, 1), (1, 2), (2, 0)])]
      >>> matching_tree(pair, [[0, 1, 2], [0, 1, 2]]).parent
      [-1, 0, 1, 1]
    """
    parent: list[int] = []
    step: list[tuple] = []
    nodes: dict[tuple, int] = {}
    leaf = []
    for pattern, order in zip(patterns, orders, strict=True):
        entries = (pattern.adjacency if pattern.edge_labels is None else pattern.edge_labels).astype(np.int64)
        at = -1
        for i, v in enumerate(order):
            label = 0 if pattern.node_labels is None else int(pattern.node_labels[v])
            what = (label, *((int(entries[v, u]), int(entries[u, v])) for u in order[:i]))
            if (at, what) not in nodes:
                nodes[at, what] = len(parent)
                parent.append(at)
                step.append(what)
            at = nodes[at, what]
        leaf.append(at)
    return MatchingTree(parent, step, leaf)
