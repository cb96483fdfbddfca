"""Null models: what random graphs keep of a graph, and how a graph becomes labels for the moves and a graph again.

A null model is one entry of :data:`NULL_MODELS`: its name, what it keeps and what moves make it (read by the command,
the messages and the results), and which edges are arcs and which pairs for :mod:`jaxmotif.kernels._switching`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.graph import Graph
from jaxmotif.kernels._switching import Ends, Fixed
from jaxmotif.kernels._walking import WALK_LABELS, WALK_NODES


class States(NamedTuple):
    """States of chains on the host: tail and head of every label, int32 ``[.., labels]``."""

    tail: np.ndarray
    head: np.ndarray

    def rows(self, which: slice | np.ndarray | int | None) -> States:
        """Those of some chains, or (``None``) of one as a row."""
        return States(self.tail[which], self.head[which])


class Division(NamedTuple):
    """Rows of an edge list as labels: int64 ``[arcs]`` and ``[pairs]``, and of each pair's edge the other way."""

    arcs: np.ndarray
    pairs: np.ndarray
    back: np.ndarray


def _all_arcs(edges: np.ndarray) -> Division:
    none = np.zeros(0, np.int64)
    return Division(np.arange(edges.shape[0]), none, none)


def _all_pairs(edges: np.ndarray) -> Division:
    rows = np.arange(edges.shape[0])
    return Division(np.zeros(0, np.int64), rows, rows)


def _one_way_and_mutual(edges: np.ndarray) -> Division:
    """Arcs that have no opposite, and of two opposite ones the one from the smaller end (edges ascending)."""
    if not edges.size:
        return _all_arcs(edges)
    # Rows ascend, and so do keys: the arc the other way is found by search.
    u, v = edges.astype(np.int64).T
    nodes = edges.max() + 1
    key, mirror = u * nodes + v, v * nodes + u
    # Past the last, whatever is there is compared, and differs.
    back = np.minimum(np.searchsorted(key, mirror), key.size - 1)
    both = key[back] == mirror
    # One of the two stands for both, the one from the smaller end.
    pairs = np.flatnonzero(both & (u < v))
    return Division(np.flatnonzero(~both), pairs, back[pairs])


@dataclasses.dataclass(frozen=True)
class NullModel:
    """What random graphs keep of a graph.

    Attributes:
      name: as users give it.
      keeps: of every node, in words.
      moves: by which chains get from graph to graph, in words.
      divide: which of a graph's edges (rows ``[m, 2]``, ascending) are arcs for the moves, and which pairs.
      ordered: whether (u, v) and (v, u) are different dyads, so that both may be held by arcs.
      reaches: over which graphs chains are uniform in the long run, in words.
      reaches_large: the same for graphs that do not walk.
    """

    name: str
    keeps: str
    moves: str
    divide: Callable[[np.ndarray], Division]
    ordered: bool
    reaches: str
    reaches_large: str = ""

    def claim(self, walks: bool = True) -> str:
        """What is kept, and what may be claimed of the random graphs."""
        reaches = self.reaches if walks else self.reaches_large or self.reaches
        return f"keeps the {self.keeps} of every node; uniform over {reaches}; moves: {self.moves}"


NULL_MODELS: dict[str, NullModel] = {
    model.name: model
    for model in (
        NullModel(
            "bidegree",
            "in-, out- and reciprocal degree",
            "switches of one-way arcs and of reciprocated pairs, cyclic turns of three arcs' heads, and in graphs of "
            f"at most {WALK_NODES} nodes and {WALK_LABELS} edges walks in which arcs and pairs may collide on the way",
            _one_way_and_mutual,
            ordered=False,
            reaches="all simple directed graphs with these degrees (no exception found by enumeration up to 6 nodes)",
            reaches_large="the simple directed graphs with these degrees that the moves reach from the input (all "
            "when the graph is sparse, presumably)",
        ),
        NullModel(
            "degree",
            "in- and out-degree",
            "switches of two arcs and cyclic turns of three arcs' heads",
            _all_arcs,
            ordered=True,
            reaches="all simple directed graphs with these degrees",
        ),
    )
}
"""By name. A further one is added here."""

UNDIRECTED = NullModel(
    "degree",
    "degree",
    "switches of two edges",
    _all_pairs,
    ordered=False,
    reaches="all simple undirected graphs with these degrees",
)
"""The null model of every undirected graph."""


def null_model_of(keep: str | NullModel, directed: bool) -> NullModel:
    """The null model that is meant; of an undirected graph, whichever of the directed ones is named, the one there is.

    Raises:
      ValueError: a name that there is not.
      TypeError: neither a name nor a null model.

    Example:
      >>> null_model_of("degree", directed=True).keeps
      'in- and out-degree'
    """
    if isinstance(keep, NullModel):
        return keep
    if not isinstance(keep, str):
        raise TypeError(f"keep must be a null model or its name, got {type(keep).__name__}")
    if keep not in NULL_MODELS:
        names = " or ".join(map(repr, NULL_MODELS))
        raise ValueError(f"keep must be {names}, got {keep!r}")
    return NULL_MODELS[keep] if directed else UNDIRECTED


@dataclasses.dataclass(frozen=True, eq=False)
class Wiring:
    """A graph as labels for the moves, and back.

    Attributes:
      ends: of the labels, int32 ``[labels]`` each, arcs first; nodes are numbered without those of no edge.
      nodes: int32, the graph's number of each such node.
      arcs: how many labels are arcs.
      both_ways: whether a pair stands for two arcs (else for one undirected edge).
      edge_labels: of all edges in the order of :meth:`edges`, or ``None``.
      ordered: as in :class:`NullModel`.
    """

    ends: States
    nodes: np.ndarray
    arcs: int
    both_ways: bool
    edge_labels: np.ndarray | None
    ordered: bool

    @classmethod
    def of(cls, graph: Graph, model: NullModel) -> Wiring:
        """Divide a graph's edges into arcs and pairs, in an order that has nothing to do with the input's (host)."""
        edges = graph.edge_list().astype(np.int32)
        arcs, pairs, back = model.divide(edges)
        rng = np.random.default_rng(0)  # any fixed shuffle will do
        arcs, order = rng.permutation(arcs), rng.permutation(pairs.size)
        pairs, back = pairs[order], back[order]
        labels = None
        if graph.edge_labels is not None:
            parts = [arcs, pairs] + [back] * graph.directed
            labels = np.asarray(graph.edge_labels)[graph.edge_slots()][np.concatenate(parts)]
        # Nodes without edges take no part in moves: the others are numbered without them.
        nodes, compact = np.unique(edges[np.concatenate([arcs, pairs])], return_inverse=True)
        tail, head = compact.reshape(-1, 2).astype(np.int32).T
        ends = States(np.ascontiguousarray(tail), np.ascontiguousarray(head))
        return cls(ends, nodes.astype(np.int32), arcs.size, graph.directed, labels, model.ordered)

    @property
    def labels(self) -> int:
        return self.ends.tail.size

    @property
    def edges_each(self) -> int:
        """Edges of a graph: a label each, or two arcs of a pair."""
        return self.labels + (self.labels - self.arcs) * self.both_ways

    @property
    def walks(self) -> bool:
        """Whether the graph is small enough for walks."""
        return self.nodes.size <= WALK_NODES and self.labels <= WALK_LABELS

    @property
    def pairs_a_step(self) -> float:
        """Pair switches that a step tries, for each label."""
        return (self.arcs // 2 + (self.labels - self.arcs) // 2) / max(self.labels, 1)

    def fixed(self, capacity: int, device: jax.Device) -> Fixed:
        """What no move changes, with room for so many labels, on a device."""
        tail = self.ends.tail[: self.arcs]
        # A label has two ends, and so there are at most twice as many nodes; past the last one groups are empty.
        by_tail, starts = np.zeros(capacity, np.int32), np.full(2 * capacity + 1, self.arcs, np.int32)
        by_tail[: self.arcs] = np.argsort(tail, kind="stable")
        starts[: self.nodes.size] = np.searchsorted(np.sort(tail), np.arange(self.nodes.size))
        sizes = (np.int32(x) for x in (self.arcs, self.labels - self.arcs, self.nodes.size))
        return Fixed(*jax.device_put((by_tail, starts, *sizes), device), ordered=self.ordered)

    def edges(self, ends: States) -> tuple[np.ndarray, np.ndarray]:
        """Tails and heads ``[.., m]`` of the edges of states ``[.., labels]``: labels in order, then the pairs' other
        arcs."""
        if not self.nodes.size:
            return ends.tail, ends.head
        tail, head = self.nodes[ends.tail], self.nodes[ends.head]
        if not self.both_ways:
            return tail, head
        again = (..., slice(self.arcs, None))
        return np.concatenate([tail, head[again]], axis=-1), np.concatenate([head, tail[again]], axis=-1)


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """Graphs with the nodes of one graph and its wiring: states ``[num, labels]``."""

    source: Graph
    wiring: Wiring
    ends: States

    def __len__(self) -> int:
        return self.ends.head.shape[0]

    def __getitem__(self, rows: slice) -> Sample:
        return Sample(self.source, self.wiring, self.ends.rows(rows))


@dataclasses.dataclass(frozen=True, eq=False)
class LaneSample:
    """The same where chains have left them, on their device.

    Attributes:
      parts: states, one after another, and padding.
      begins: int32 ``[num]``, the first lane of each graph's labels in all parts together.
    """

    source: Graph
    wiring: Wiring
    parts: tuple[Ends, ...]
    begins: np.ndarray

    def __len__(self) -> int:
        return self.begins.size

    def __getitem__(self, rows: slice) -> LaneSample:
        return dataclasses.replace(self, begins=self.begins[rows])
