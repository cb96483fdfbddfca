"""Constraints that a query puts on target nodes and on pairs of them, as padded arrays (host)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._bits import pack_bits
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.matching._options import Options
from jaxmotif.matching._sizes import pad_first_axis
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._ruled import RuledPattern, shape_of

MOST_NODES = 1024
FEW_NODES = 4
"""Most nodes of a query with rules that is searched for without filters, in the best of all orders."""
ANY, PRESENT, ABSENT = range(3)


class PairKind(NamedTuple):
    """The demand of a query edge on the pair (u, w) of target nodes.

    Attributes:
      direction: 0 for an edge or arc from u to w, 1 for an arc from w to u.
      labelled, label: whether the edge must carry a label, and which one; for a :class:`RuledPattern`, whether it must
        fulfil a condition, and the number of the condition.
      reverse: whether the arc the other way may, must or must not be there too (``ANY``, ``PRESENT``, ``ABSENT``).
      reverse_labelled, reverse_label: the same for the arc the other way; with ``ABSENT``, only an arc with this label
        must not be there.
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
    """The conditions of a query as arrays for the filters; K is 32, 64, 256 or 1024, W = K / 32, other axes are padded.

    Attributes:
      size: int32 scalar, the number of query nodes.
      labels: int32 ``[K]``, the label that each query node asks for.
      free: bool ``[K]``, whether any label will do instead.
      degrees: int32 ``[2, K]``, the number of neighbours of each query node (directed: of successors; of predecessors).
      kinds: int32 ``[C, 6]``, the distinct :class:`PairKind`.
      num_kinds: int32 scalar, how many there are.
      near: uint32 ``[C, K, W]``, as bits, the query nodes joined to each one by a pair of each kind.
      frequent: int32 ``[2, L, K]``, how many neighbours (successors; predecessors) of each query node have each label.
      frequent_labels: int32 ``[L]``, these labels.
      num_labels: int32 scalar, how many there are.
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


class NodeDemand(NamedTuple):
    """The demand of some query nodes on the target nodes that they are mapped to; demands on pairs are not in it.

    Attributes:
      words: the query nodes as bits: numbers of words, and the words, uint32.
      label: the label of the target node, or ``None`` if any will do.
      neighbours: least numbers of neighbours: a direction (0: successors, or neighbours; 1: predecessors), the label
        that they carry, ``None`` for all neighbours, and how many there must be.
    """

    words: list[tuple[int, np.uint32]]
    label: int | None
    neighbours: list[tuple[int, int | None, int]]


class QueryConstraints(NamedTuple):
    """All that a query asks of target nodes and of pairs of them.

    Attributes:
      query: the query.
      shape: a pattern that has the automorphisms of the query.
      kinds: kinds of pairs: first those that edges of the query ask for, then those of ``non_neighbours``.
      which: int64 ``[k, k]``: the kind asked of the images of (u, x), -1 where u and x are not joined.
      non_neighbours: int64 ``[R, k, k]``: kinds that the images of (u, x), not joined, must not fulfil, -1 for none; R
        is 0 where nothing is forbidden, else the number of directions.
      conditions: the constraints that the filters test, on pairs and on single nodes, as arrays.
      demands: the constraints on single nodes once more; query nodes with the same ones share a demand.
    """

    query: Pattern
    shape: Pattern
    kinds: list[PairKind]
    which: np.ndarray
    non_neighbours: np.ndarray
    conditions: Conditions
    demands: list[NodeDemand]

    def joined(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return u, x and the kind of each ordered pair of joined query nodes, int64 ``[P]`` each."""
        u, x = np.nonzero(self.which >= 0)
        return u, x, self.which[u, x]

    def kind_table(self) -> np.ndarray:
        """Return the kinds, int32 ``[C, 6]``, padded."""
        return _table_of(self.kinds)


def _table_of(kinds: list[PairKind]) -> np.ndarray:
    return pad_first_axis(np.array(kinds, np.int32).reshape(-1, 6), 4)


def constrain_query(query: Pattern, options: Options) -> QueryConstraints:
    """Do the first phase of a plan: find what a query asks of target nodes and of pairs of them.

    Example:
      >>> asked = constrain_query(Pattern.from_edges([(0, 1), (1, 2)]), Options(induced=True))
      >>> np.stack(asked.joined(), axis=1).tolist(), len(asked.kinds), asked.non_neighbours.tolist()
      ([[0, 1, 0], [1, 0, 0], [1, 2, 0], [2, 1, 0]], 1, [[[-1, -1, 0], [-1, -1, -1], [0, -1, -1]]])
    """
    induced, wildcard = options.induced, options.wildcard

    def find() -> QueryConstraints:
        kinds, which, non_neighbours = pair_kinds(query, induced, wildcard)
        # The filters look at neighbours alone; kinds that edges ask for come first.
        conditions = query_conditions(query, kinds[: which.max(initial=-1) + 1], which, wildcard)
        demands = node_demands(conditions)
        return QueryConstraints(query, shape_of(query), kinds, which, non_neighbours, conditions, demands)

    return query.known(("asked", induced, wildcard), find)


def pair_kinds(query: Pattern, induced: bool, wildcard: int | None) -> tuple[list[PairKind], np.ndarray, np.ndarray]:
    """Return the distinct kinds of pairs, and which ones each ordered pair of query nodes asks for.

    Returns:
      The kinds; int64 ``[k, k]``: the kind asked of the images of (u, x), -1 where u and x are not joined; and the
      ``non_neighbours`` of :class:`QueryConstraints`.

    Example:
      >>> kinds, which, _ = pair_kinds(Pattern.from_edges([(0, 1)], directed=True), induced=True, wildcard=None)
      >>> kinds[which[0, 1]]
      PairKind(direction=0, labelled=0, label=0, reverse=2, reverse_labelled=0, reverse_label=0)
      >>> kinds[which[1, 0]].direction
      1
    """
    kinds: dict[PairKind, int] = {}
    which = np.full(query.adjacency.shape, -1)
    wanted, rules = query.adjacency, query if isinstance(query, RuledPattern) else None
    forbidden = ~wanted & ~np.eye(query.num_nodes, dtype=bool)
    if not induced:
        forbidden = np.zeros_like(forbidden) if rules is None else rules.forbidden
    # A condition narrows what is forbidden only where not induced: induced, every unwanted edge is forbidden.
    label = np.zeros(which.shape, np.int64)
    if rules is not None:
        labelled = (rules.condition >= 0) & (wanted | (not induced))
        label[labelled] = rules.condition[labelled]
    elif query.edge_labels is not None:
        labelled = wanted if wildcard is None else wanted & (query.edge_labels != wildcard)
        label[labelled] = query.edge_labels[labelled]
    else:
        labelled = np.zeros(which.shape, bool)
    # Each pair is listed in both orders, since what it asks is looked up from either node.
    ends = u, x = np.nonzero(query.neighbors)
    if not query.directed:
        kind = (0, labelled[ends], label[ends], ANY, 0, 0)
    else:
        there, back = wanted[u, x], wanted[x, u]
        arc, other = (np.where(there, u, x), np.where(there, x, u)), (np.where(there, x, u), np.where(there, u, x))
        # An arc that must not be there, beside one that must, is part of the pair's own kind.
        reverse = np.where(there & back, PRESENT, np.where(forbidden[other], ABSENT, ANY))
        says = reverse != ANY
        kind = (~there, labelled[arc], label[arc], reverse, says & labelled[other], says * label[other])
    # Equal kinds share a number, and with it candidate lists and a matrix.
    which[ends] = _numbered(kinds, kind, len(u))
    # Pairs that no edge may join have no list to take candidates from, so that they are tested apart.
    unjoined = forbidden & (which < 0)
    non_neighbours = np.full((1 + query.directed if unjoined.any() else 0, *which.shape), -1)
    for direction in range(len(non_neighbours)):
        arc = ends = np.nonzero(unjoined.T if direction else unjoined)
        if direction:
            arc = ends[::-1]
        non_neighbours[direction][ends] = _numbered(
            kinds, (direction, labelled[arc], label[arc], ANY, 0, 0), len(ends[0])
        )
    return list(kinds), which, non_neighbours


def _numbered(kinds: dict[PairKind, int], fields: Sequence[int | np.ndarray], pairs: int) -> np.ndarray:
    """Return the number of the kind of each pair, and add new kinds.

    New kinds get numbers in the order in which they first occur.

    Args:
      kinds: the numbers of the kinds so far, added to here.
      fields: the fields of :class:`PairKind`, each one integer for all pairs or integers ``[pairs]``.
      pairs: the number of pairs.

    Returns:
      Int64 ``[pairs]``.
    """
    rows = np.stack([np.broadcast_to(field, pairs) for field in fields]).astype(np.int64)
    code = np.zeros(pairs, np.int64)
    for row in rows:
        if len(row) and row.min() < row.max():
            values, number = np.unique(row, return_inverse=True)
            code = code * len(values) + number
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    found = np.zeros(len(first), np.int64)
    for at in np.argsort(first):
        found[at] = kinds.setdefault(PairKind(*rows[:, first[at]].tolist()), len(kinds))
    return found[number]


def query_conditions(query: Pattern, kinds: list[PairKind], which: np.ndarray, wildcard: int | None) -> Conditions:
    """Return the arrays for the filters."""
    k = query.num_nodes
    words = next(w for w in (1, 2, 8, 32) if k <= 32 * w)  # few sizes take few compilations
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
    table = _table_of(kinds)
    near = np.zeros((len(table), K, K), bool)
    us, xs = np.nonzero(which >= 0)
    near[which[us, xs], us, xs] = True
    # Only labels that the query asks for are counted, since no others can drop a node.
    values = np.unique(labels[:k][~free[:k]])
    L = power_of_four(len(values), 16)
    frequent = np.zeros((2, L, K), np.int32)
    for number, value in enumerate(values):
        members = (labels[:k] == value) & ~free[:k]
        frequent[0, number, :k] = query.adjacency[:, members].sum(axis=1)
        if query.directed:
            frequent[1, number, :k] = query.adjacency[members].sum(axis=0)
    return Conditions(
        np.int32(k),
        labels,
        free,
        degrees,
        table,
        np.int32(len(kinds)),
        pack_bits(near),
        frequent,
        np.pad(values, (0, L - len(values))).astype(np.int32),
        np.int32(len(values)),
    )


def node_demands(conditions: Conditions) -> list[NodeDemand]:
    """Return what conditions ask of single nodes, once for all query nodes that ask the same.

    Example:
      >>> asked = constrain_query(Pattern.from_edges([(0, 1), (1, 2)]), Options())
      >>> [(int(demand.words[0][1]), demand.neighbours) for demand in asked.demands]
      [(5, [(0, None, 1)]), (2, [(0, None, 2)])]
    """
    labels = [None, *conditions.frequent_labels[: conditions.num_labels].tolist()]
    # For each direction, the number of all neighbours comes first, and then those with each label.
    least = np.concatenate([conditions.degrees[:, None], conditions.frequent], axis=1)
    alike: dict[tuple, NodeDemand] = {}
    for u in range(int(conditions.size)):
        neighbours = [
            (direction, label, number)
            for direction in range(len(least))
            for label, number in zip(labels, least[direction, :, u].tolist(), strict=False)
            if number
        ]
        label = None if conditions.free[u] else int(conditions.labels[u])
        words = alike.setdefault((label, *neighbours), NodeDemand([], label, neighbours)).words
        bit = np.uint32(1 << (u & 31))
        if words and words[-1][0] == u >> 5:
            words[-1] = u >> 5, words[-1][1] | bit
        else:
            words.append((u >> 5, bit))
    return list(alike.values())
