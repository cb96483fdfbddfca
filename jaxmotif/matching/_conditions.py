"""What a query asks of target nodes and of pairs of them, as padded arrays (host)."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._bits import pack_bits
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.matching._options import Options
from jaxmotif.patterns import Pattern

MOST_NODES = 1024
ANY, PRESENT, ABSENT = range(3)


class PairKind(NamedTuple):
    """What a query edge asks of the pair (u, w) of target nodes.

    Attributes:
      direction: 0: there is an edge or arc from u to w; 1: an arc from w to u.
      labelled, label: whether it must carry a label, and which.
      reverse: whether the arc the other way may, must or must not be there too (``ANY``, ``PRESENT``, ``ABSENT``).
      reverse_labelled, reverse_label: its label, if it must be there.
    """

    direction: int
    labelled: int = 0
    label: int = 0
    reverse: int = ANY
    reverse_labelled: int = 0
    reverse_label: int = 0


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Conditions:
    """Arrays for the filters; K is 32, 64, 256 or 1024, W = K / 32, further axes are padded.

    Attributes:
      size: int32 scalar, query nodes.
      labels, free: int32 and bool ``[K]``, the node label asked for, or whether any will do.
      degrees: int32 ``[2, K]``, neighbours (directed: successors; predecessors).
      kinds: int32 ``[C, 6]``, the distinct :class:`PairKind`; num_kinds: int32 scalar.
      near: uint32 ``[C, K, W]``, as bits, the query nodes joined to each one by a pair of each kind.
      frequent: int32 ``[2, L, K]``, how many neighbours (successors; predecessors) with each label; the labels are
        int32 ``[L]``, num_labels: int32 scalar.
    """

    size: Any
    labels: Any
    free: Any
    degrees: Any
    kinds: Any
    num_kinds: Any
    near: Any
    frequent: Any
    frequent_labels: Any
    num_labels: Any


class Asked(NamedTuple):
    """What a query asks.

    Attributes:
      query, induced: as given.
      kinds: of pairs: first the ``edge_kinds`` that edges of the query ask for, then those of ``strangers``.
      which: int64 ``[k, k]``: the kind asked of the images of (u, x), -1 where u and x are not joined.
      strangers: kinds that the images of two nodes that are not joined must not fulfil.
      conditions: the same and more for the filters, on the device or in NumPy.
    """

    query: Pattern
    induced: bool
    kinds: list[PairKind]
    edge_kinds: int
    which: np.ndarray
    strangers: list[int]
    conditions: Conditions

    def joined(self) -> list[tuple[int, int, int]]:
        """(u, x, kind) of each ordered pair of joined nodes."""
        return [(u, x, int(self.which[u, x])) for u, x in np.argwhere(self.which >= 0).tolist()]

    def kind_table(self) -> np.ndarray:
        """The kinds, int32 ``[C, 6]``, padded."""
        table = np.zeros((power_of_four(len(self.kinds), 4), 6), np.int32)
        table[: len(self.kinds)] = np.array(self.kinds, np.int32).reshape(-1, 6)
        return table


def ask(query: Pattern, options: Options) -> Asked:
    """The first phase of a plan: what a query asks of target nodes and of pairs of them.

    Example:
      >>> asked = ask(Pattern.from_edges([(0, 1), (1, 2)]), Options(induced=True))
      >>> asked.joined(), len(asked.kinds), asked.strangers
      ([(0, 1, 0), (1, 0, 0), (1, 2, 0), (2, 1, 0)], 1, [0])
    """
    kinds, which = pair_kinds(query, options.induced, options.wildcard)
    conditions = query_conditions(query, kinds, which, options.wildcard)
    edge_kinds, strangers = len(kinds), []
    if options.induced:  # not adjacent: no edge; directed: no arc either way
        for direction in range(1 + query.directed):
            if PairKind(direction) not in kinds:
                kinds = [*kinds, PairKind(direction)]
            strangers.append(kinds.index(PairKind(direction)))
    return Asked(query, options.induced, kinds, edge_kinds, which, strangers, conditions)


def pair_kinds(query: Pattern, induced: bool, wildcard: int | None) -> tuple[list[PairKind], np.ndarray]:
    """The distinct kinds of pairs, and which one each ordered pair of query nodes asks for.

    Returns:
      The kinds, and int64 ``[k, k]``: the kind asked of the images of (u, x), -1 where u and x are not joined.

    Example:
      >>> kinds, which = pair_kinds(Pattern.from_edges([(0, 1)], directed=True), induced=True, wildcard=None)
      >>> kinds[which[0, 1]]
      PairKind(direction=0, labelled=0, label=0, reverse=2, reverse_labelled=0, reverse_label=0)
      >>> kinds[which[1, 0]].direction
      1
    """
    kinds: dict[PairKind, int] = {}
    which = np.full(query.adjacency.shape, -1)

    def label(u: int, x: int) -> tuple[int, int]:
        if query.edge_labels is None or query.edge_labels[u, x] == wildcard:
            return 0, 0
        return 1, int(query.edge_labels[u, x])

    for u, x in np.argwhere(query.neighbors).tolist():
        there, back = query.adjacency[u, x], query.adjacency[x, u]
        if not query.directed:
            kind = PairKind(0, *label(u, x))
        elif there and back:
            kind = PairKind(0, *label(u, x), PRESENT, *label(x, u))
        else:
            alone = ABSENT if induced else ANY
            kind = PairKind(0, *label(u, x), alone) if there else PairKind(1, *label(x, u), alone)
        which[u, x] = kinds.setdefault(kind, len(kinds))
    return list(kinds), which


def query_conditions(query: Pattern, kinds: list[PairKind], which: np.ndarray, wildcard: int | None) -> Conditions:
    """The arrays for the filters."""
    k = query.num_nodes
    words = next(w for w in (1, 2, 8, 32) if k <= 32 * w)  # few sizes, few compilations
    K = 32 * words
    labels, free = np.zeros(K, np.int32), np.ones(K, bool)
    if query.node_labels is not None:
        labels[:k] = query.node_labels
        free[:k] = False if wildcard is None else query.node_labels == wildcard
    out, into = query.adjacency.sum(axis=1), query.adjacency.sum(axis=0)
    degrees = np.zeros((2, K), np.int32)
    degrees[0, :k] = out
    if query.directed:
        degrees[1, :k] = into
    C = power_of_four(len(kinds), 4)
    table = np.zeros((C, 6), np.int32)
    table[: len(kinds)] = np.array(kinds, np.int32).reshape(-1, 6)
    near = np.zeros((C, K, K), bool)
    us, xs = np.nonzero(which >= 0)
    near[which[us, xs], us, xs] = True
    values = np.unique(labels[:k][~free[:k]])
    L = power_of_four(len(values), 16)
    frequent = np.zeros((2, L, K), np.int32)
    for number, value in enumerate(values):
        members = (labels[:k] == value) & ~free[:k]
        frequent[0, number, :k] = query.adjacency[:, members].sum(axis=1)
        if query.directed:
            frequent[1, number, :k] = query.adjacency[members].sum(axis=0)
    return Conditions(
        np.int32(k), labels, free, degrees, table, np.int32(len(kinds)), pack_bits(near), frequent,
        np.pad(values, (0, L - len(values))).astype(np.int32), np.int32(len(values)),
    )  # fmt: skip
