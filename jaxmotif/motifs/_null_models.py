"""Null models: what random graphs keep of a graph, and how a graph becomes labels for the moves and a graph again.

A :class:`NullModel` has a name, says in words what it keeps and by which moves (for the command, messages and results),
and divides edges into the arcs and the pairs of :mod:`jaxmotif.kernels._switching`. Models that need nothing but the
graph are entries of :data:`NULL_MODELS`. Models that keep another property beside degrees (:class:`Also`) are made by
:func:`keep_labels`, :func:`keep_blocks` and :func:`keep_distances`.

Moves work on a graph's :class:`Wiring`. There an edge is called a *label*, a number that stays while the moves change
the two ends. These labels have nothing to do with the node and edge labels of a graph.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._compile import put64
from jaxmotif.arrays._rows import pad_rows
from jaxmotif.graph import Graph
from jaxmotif.graph._attributes import is_missing
from jaxmotif.graph._build import host_array
from jaxmotif.kernels._switching import BLOCK_BITS, TRIED, Fixed, Groups, Kinds
from jaxmotif.kernels._walking import WALK_LABELS, WALK_NODES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST_COMPARED = 1000
"""Most labels of a kind that are compared with all others of it, to see whether the degrees allow it any switch."""
POSITION_BITS = 29
"""Bits of a coordinate, with which squares of differences, added over 16 axes, stay within 62 bits."""


class States(NamedTuple):
    """States of chains on the host: tail and head of every label, int32 ``[.., labels]``."""

    tail: np.ndarray
    head: np.ndarray

    def rows(self, which: slice | np.ndarray | int | None) -> States:
        """Return the states of some chains, or (``None``) the state of one chain as a row."""
        return States(self.tail[which], self.head[which])


Division = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Rows of an edge list, int64: those of the arcs, those of the pairs, and for each pair that of its opposite arc.

A pair of an undirected graph has the same row twice.
"""


def _all_arcs(edges: np.ndarray) -> Division:
    rows = np.arange(edges.shape[0])
    return rows, rows[:0], rows[:0]


def _all_pairs(edges: np.ndarray) -> Division:
    rows = np.arange(edges.shape[0])
    return rows[:0], rows, rows


def _one_way_and_mutual(edges: np.ndarray) -> Division:
    """Divide edges into arcs without an opposite, and pairs, which stand at the arc from their smaller end.

    The edges, int32 ``[m, 2]``, ascend.
    """
    # Rows ascend, and so do keys, so that the opposite arc is found by search.
    u, v = edges.astype(np.int64).T
    nodes = edges.max(initial=0) + 1
    key, mirror = u * nodes + v, v * nodes + u
    # A position past the last is moved to the last, whose key then differs.
    back = np.minimum(np.searchsorted(key, mirror), key.size - 1)
    both = key[back] == mirror
    # The arc from the smaller end stands for both arcs of a pair.
    pairs = np.flatnonzero(both & (u < v))
    return np.flatnonzero(~both), pairs, back[pairs]


@dataclasses.dataclass(frozen=True, eq=False)
class Also:
    """Property that random graphs keep beside degrees.

    Attributes:
      words: the property in words.
      place: the block of every node, int64 ``[n]``, or its position, int64 ``[n, axes]``; ``None``: the graph's labels.
      limits: limits of distances, int64 ``[bins]`` (:class:`jaxmotif.kernels._switching.Kinds`).
      connects: whether the moves reach all graphs with this property, if they reach all graphs with the same degrees.
    """

    words: str
    place: np.ndarray | None = None
    limits: np.ndarray | None = None
    connects: bool = False


@dataclasses.dataclass(frozen=True)
class NullModel:
    """Properties of a graph that random graphs keep, and the moves that keep them.

    Attributes:
      name: the name that users give.
      keeps: what every node keeps, in words.
      moves: the moves by which chains get from graph to graph, in words.
      divide: divides a graph's edges (rows ``[m, 2]``, ascending) into arcs and pairs, as the moves treat them.
      ordered: whether (u, v) and (v, u) are different dyads, so that both may be held by arcs.
      reaches: the graphs over which chains are uniform in the long run, in words.
      reaches_large: the same for graphs that are too large for walks; empty where it is the same.
      also: the property kept beside the degrees, if any.
    """

    name: str
    keeps: str
    moves: str
    divide: Callable[[np.ndarray], Division]
    ordered: bool
    reaches: str
    reaches_large: str = ""
    also: Also | None = None

    def claim(self, walks: bool = True) -> str:
        """Say in words what is kept, and what may be claimed of the random graphs."""
        reaches = self.reaches if walks else self.reaches_large or self.reaches
        also = "" if self.also is None else self.also.words
        return f"keeps the {self.keeps} of every node{also}; uniform over {reaches}; moves: {self.moves}"

    @property
    def identity(self) -> tuple:
        """Values that distinguish this model from others, for checkpoints."""
        return (self.name,) if self.also is None else (self.name, self.keeps, self.also.place, self.also.limits)


_DEGREES: dict[str, NullModel] = {
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

UNDIRECTED = NullModel(
    "degree",
    "degree",
    "switches of two edges",
    _all_pairs,
    ordered=False,
    reaches="all simple undirected graphs with these degrees",
)
"""The null model of every undirected graph."""


def _with(degrees: NullModel, name: str, also: Also) -> NullModel:
    """Build a model that keeps another property beside the degrees."""
    reached = "the simple graphs with all this that the moves reach from the input"
    reaches = reached, ""
    if also.connects:
        where = f" where edges have no labels, else over {reached}"
        reaches = tuple(text and text + where for text in (degrees.reaches, degrees.reaches_large))
    moves = f"{degrees.moves}, as far as that is kept"
    return dataclasses.replace(degrees, name=name, moves=moves, reaches=reaches[0], reaches_large=reaches[1], also=also)


def _of_degrees(degrees: str) -> NullModel:
    if degrees not in _DEGREES:
        raise ValueError(f"degrees must be {' or '.join(map(repr, _DEGREES))}, got {degrees!r}")
    return _DEGREES[degrees]


def keep_labels(degrees: Literal["bidegree", "degree"] = "bidegree") -> NullModel:
    """Build a null model in which every node keeps its degrees to each label, of the other node and of the edge.

    So the number of edges between two labels stays, too. The graph must have labels of nodes or of edges.

    Args:
      degrees: for directed graphs, whether every node also keeps its number of reciprocated neighbours
        (``"bidegree"``), or its in- and out-degree alone (``"degree"``).

    Example:
      >>> from jaxmotif import random_graphs
      >>> graph = Graph.from_edges([(0, 2), (1, 3), (0, 1)], 4, directed=True, node_labels=[0, 0, 1, 1])
      >>> drawn = random_graphs(graph, 20, keep=keep_labels())
      >>> sorted({tuple(map(tuple, one.edge_list().tolist())) for one in drawn})
      [((0, 1), (0, 2), (1, 3)), ((0, 1), (0, 3), (1, 2))]
    """
    words = ", counted for each label of the other node and of the edge"
    return _with(_of_degrees(degrees), "labels", Also(words, connects=True))


def keep_blocks(blocks: ArrayLike, degrees: Literal["bidegree", "degree"] = "bidegree") -> NullModel:
    """Build a null model that keeps degrees and how many edges there are between every two blocks (and in each).

    With ``degrees="bidegree"`` one-way arcs and reciprocated pairs are counted apart. A degree-corrected stochastic
    block model keeps the same numbers on average; here every random graph keeps them exactly.

    Args:
      blocks: the block of every node, integers or words ``[n]``; at most 32,768 different ones.
      degrees: as in :func:`keep_labels`.

    Raises:
      ValueError: for blocks of another shape, for missing ones, or for too many; later, for a graph with another number
        of nodes.

    Example:
      >>> from jaxmotif import random_graphs
      >>> keep = keep_blocks(["a", "a", "b", "b", "b"])
      >>> graph = Graph.from_edges([(0, 2), (1, 3), (2, 4), (3, 4), (0, 1)], 5)
      >>> random_graphs(graph, 3, keep=keep).null_model.split(";")[0]
      'keeps the degree of every node, and the number of edges between every two of 2 blocks'
    """
    values = host_array(blocks)
    if values.ndim != 1:
        raise ValueError(f"blocks must be integers or words [n], got {values.dtype} of shape {values.shape}")
    # In a list of words NumPy has made the word "nan" of a missing block.
    given = blocks if isinstance(blocks, Sequence) else values.tolist()
    missing = [node for node, block in enumerate(given) if is_missing(block)]
    if missing or values.dtype.kind == "f":
        what = f"none for node {missing[0]}" if missing else values.dtype
        raise ValueError(f"blocks must be integers or words [n], one for each node, got {what}")
    names, place = np.unique(values, return_inverse=True)
    if names.size > 1 << BLOCK_BITS:
        raise ValueError(f"blocks: {names.size:,} different ones, at most {1 << BLOCK_BITS:,}; join some")
    words = f", and the number of edges between every two of {names.size} blocks"
    return _with(_of_degrees(degrees), "blocks", Also(words, place.astype(np.int64).reshape(-1)))


def keep_distances(
    positions: ArrayLike, bins: int | ArrayLike = 10, degrees: Literal["bidegree", "degree"] = "bidegree"
) -> NullModel:
    """Build a null model that keeps degrees and the histogram of the lengths of edges.

    Args:
      positions: where the nodes are, finite numbers ``[n, axes]``, up to 16 axes; they are rounded to 2^-29 of the
        largest extent, so that lengths are the same on all devices. A length that falls short of the end of a bin by no
        more than this rounding reaches it.
      bins: how many bins, each of which then has about the same number of the graph's edges; or the ascending lengths
        ``[b]`` at which one bin ends and the next begins.
      degrees: as in :func:`keep_labels`.

    Raises:
      ValueError: for positions of another shape or that are not finite, or for bins that are not as above; later, for a
        graph with another number of nodes.

    Reference:
      Betzel, Bassett: Specificity and robustness of long-distance connections in weighted, interareal connectomes,
      PNAS 2018.

    Example:
      >>> from jaxmotif import random_graphs
      >>> keep = keep_distances([(0, 0), (0, 1), (1, 0), (1, 1)], bins=[1.2])
      >>> drawn = random_graphs(Graph.from_edges([(0, 1), (2, 3)], 4), 20, keep=keep)  # never the two diagonals
      >>> sorted({tuple(map(tuple, one.edge_list().tolist())) for one in drawn})
      [((0, 1), (2, 3)), ((0, 2), (1, 3))]
    """
    x = np.asarray(positions, np.float64)
    if x.ndim != 2 or not 1 <= x.shape[1] <= 16 or not np.isfinite(x).all():
        raise ValueError(f"positions must be finite numbers [n, axes] of 1 to 16 axes, got shape {x.shape}")
    low = x.min(axis=0, initial=np.inf)
    extent = float((x - low).max(initial=0.0)) or 1.0
    scale = (2**POSITION_BITS - 1) / extent
    if not isinstance(bins, int | np.integer):
        ends = np.asarray(bins, np.float64)
        if ends.ndim != 1 or not ends.size or not (np.diff(ends) > 0).all() or not (ends > 0).all():
            raise ValueError(f"bins must be a number, or ascending positive lengths, got {bins!r}")
        # A square may pass 62 bits; such a length is above that of any edge, and so no limit at all.
        limits = _round_limits(np.minimum(ends * scale, 2.0**31), x.shape[1])
        classes = ends.size + 1
    else:
        if not 1 <= bins <= 1000:
            raise ValueError(f"bins must be 1 to 1,000, got {bins}")
        # The ends of these bins depend on the graph, and -1 stands for them until `_kinds` has it.
        limits, classes = np.full(int(bins) - 1, -1, np.int64), int(bins)
    words = f", and the number of edges of each of {classes} classes of length"
    place = np.rint((x - low) * scale).astype(np.int64)
    return _with(_of_degrees(degrees), "distances", Also(words, place, limits))


NULL_MODELS: dict[str, NullModel] = {**_DEGREES, "labels": keep_labels()}
"""Null models that take nothing but the graph, by name; a further one is added here."""


def null_model_of(keep: str | NullModel, directed: bool) -> NullModel:
    """Return the null model of a name, or the given one, in its form for directed or undirected graphs.

    Undirected graphs have one kind of degree, so that ``"bidegree"`` and ``"degree"`` are the same for them.

    Raises:
      ValueError: an unknown name.
      TypeError: neither a name nor a null model.

    Example:
      >>> null_model_of("degree", directed=True).keeps
      'in- and out-degree'
    """
    if not isinstance(keep, str | NullModel):
        raise TypeError(f"keep must be a null model or its name, got {type(keep).__name__}")
    model = NULL_MODELS.get(keep) if isinstance(keep, str) else keep
    if model is None:
        names = ", ".join(map(repr, NULL_MODELS))
        raise ValueError(f"keep must be one of {names}, or what keep_blocks() or keep_distances() gives, got {keep!r}")
    if not directed and model.also is not None:
        return _with(UNDIRECTED, model.name, model.also)
    return model if directed or model not in _DEGREES.values() else UNDIRECTED


@dataclasses.dataclass(frozen=True, eq=False)
class Wiring:
    """Graph in the form that moves work on: numbered *labels* (see the module), each with two ends.

    A label is an arc or a pair. A pair stands for two opposite arcs, or for an undirected edge. Nodes are numbered
    anew, without those that have no edges.

    Attributes:
      ends: the tails and the heads of the labels, int32 ``[labels]`` each, arcs before pairs.
      nodes: int32, for each node by its new number the node's number in the graph.
      arcs: how many labels are arcs.
      both_ways: whether a pair stands for two arcs.
      edge_labels: the graph's edge labels in the order of :meth:`edges`, or ``None``.
      ordered: as in :class:`NullModel`.
      groups: groups of labels that exchange heads only with each other (arrays ``[labels]``). With ``None`` all arcs
        are one group, and all pairs are another.
      kinds: the kinds of dyads (arrays over the new numbers of nodes), if moves keep how many there are of each kind.
    """

    ends: States
    nodes: np.ndarray
    arcs: int
    both_ways: bool
    edge_labels: np.ndarray | None
    ordered: bool
    groups: Groups | None = None
    kinds: Kinds | None = None

    @classmethod
    def of(cls, graph: Graph, model: NullModel) -> Wiring:
        """Divide a graph's edges into arcs and pairs, on the host, in an order that does not depend on the input's."""
        edges = graph.edge_list().astype(np.int32)
        arcs, pairs, back = model.divide(edges)
        rng = np.random.default_rng(0)  # a fixed shuffle
        arcs, order = rng.permutation(arcs), rng.permutation(pairs.size)
        place = limits = None
        if model.also is not None:
            place, limits = model.also.place, model.also.limits
        if place is not None and len(place) != graph.n:
            what = "blocks" if limits is None else "positions"
            raise ValueError(f"the null model has {what} of {len(place)} nodes, the graph has {graph.n}")
        if place is not None and limits is not None:
            # Moves try labels that stand near each other, so these are ordered by where their tails are.
            along = _along_space(place)[edges[:, 0]]
            arcs = arcs[np.argsort(along[arcs], kind="stable")]
            order = order[np.argsort(along[pairs[order]], kind="stable")]
        pairs, back = pairs[order], back[order]
        labels = graph._labels()[1]
        groups = None
        if model.also is not None and place is None:
            arcs, pairs, back, edges, groups = _grouped(graph, edges, labels, (arcs, pairs, back))
        if labels is not None:
            labels = labels[np.concatenate([arcs, pairs] + [back] * graph.directed)]
        # Nodes without edges take no part in moves, so the others are numbered without them.
        nodes, compact = np.unique(edges[np.concatenate([arcs, pairs])], return_inverse=True)
        tail, head = compact.reshape(-1, 2).astype(np.int32).T
        ends = States(np.ascontiguousarray(tail), np.ascontiguousarray(head))
        kinds = None if place is None else _kinds(place[nodes], limits, ends)
        return cls(ends, nodes.astype(np.int32), arcs.size, graph.directed, labels, model.ordered, groups, kinds)

    @property
    def labels(self) -> int:
        return self.ends.tail.size

    @property
    def edges_each(self) -> int:
        """Number of edges of the graph: one for each label, or two for each pair that stands for two arcs."""
        return self.labels + (self.labels - self.arcs) * self.both_ways

    @property
    def walks(self) -> bool:
        """Return whether chains of this graph walk, as those of small graphs do (:mod:`jaxmotif.kernels._walking`)."""
        return self.nodes.size <= WALK_NODES and self.labels <= WALK_LABELS

    @property
    def pairs_a_step(self) -> float:
        """Number of pair switches that a step tries for each label; it tries fewer at nodes of high degree."""
        if self.groups is None:
            proposed = self.arcs // 2 + (self.labels - self.arcs) // 2
        else:
            firsts = np.unique(self.groups.first)
            proposed = int((self.groups.size[firsts] // 2).sum())
        return TRIED * proposed / max(self.labels, 1)

    @property
    def label_kinds(self) -> np.ndarray:
        """Kind of each label, int64 ``[labels]``, numbered from 0: arc or pair, or its group. No move changes it."""
        of_pairs = np.arange(self.labels) >= self.arcs
        kinds = of_pairs if self.groups is None else self.groups.first
        return np.unique(kinds, return_inverse=True)[1].reshape(-1)

    def dyad_kinds(self, ends: States) -> np.ndarray:
        """Return the kinds of the dyads that states hold, int64 ``[.., labels]``, numbered from 0 without gaps.

        A kind is that of the label and, where blocks or distances are kept, that of the two blocks or of the length.
        Moves never change how many dyads there are of each kind.
        """
        labels, kinds = self.label_kinds, self.kinds
        if kinds is None:
            return np.broadcast_to(labels, ends.tail.shape)

        def numbers(ends: States) -> np.ndarray:
            return _dyad_numbers(kinds, ends, np.arange(self.labels) >= self.arcs) * 2 + labels

        return np.searchsorted(np.unique(numbers(self.ends)), numbers(ends))

    def movable(self) -> np.ndarray:
        """Return which labels belong to a kind whose degrees leave it a switch, bool ``[labels]``."""
        kinds = self.label_kinds
        can = [self._can_switch(np.flatnonzero(kinds == kind)) for kind in range(int(kinds.max(initial=-1)) + 1)]
        return np.array(can, bool)[kinds]

    def _can_switch(self, members: np.ndarray) -> bool:
        """Say whether labels that exchange ends only with each other have a switch, as if no others were in the way.

        Args:
          members: int ``[b]``, the labels of one kind.
        """
        if members.size < 2:
            return False
        tail, head = (side[members].astype(np.int64) for side in self.ends)
        of_pairs, nodes = members[0] >= self.arcs, self.nodes.size

        def names(u: np.ndarray, v: np.ndarray) -> np.ndarray:
            return u * nodes + v if self.ordered else np.minimum(u, v) * nodes + np.maximum(u, v)

        taken = np.unique(names(tail, head))
        turns = (False, True) if of_pairs and (self.groups is None or self.groups.turns[members[0]]) else (False,)
        # Some members of a large kind speak for all.
        for one in np.random.default_rng(0).permutation(members)[:MOST_COMPARED]:
            u, v = (np.full(members.size, side[one], np.int64) for side in self.ends)
            for other_tail, other_head in ((head, tail) if turned else (tail, head) for turned in turns):
                free = (u != other_head) & (v != other_tail)
                if (free & ~np.isin(names(u, other_head), taken) & ~np.isin(names(other_tail, v), taken)).any():
                    return True
        return False

    def fixed(self, capacity: int, device: jax.Device, slow: np.ndarray) -> Fixed:
        """Return what no move changes, with room for ``capacity`` labels, on a device.

        Args:
          slow: bool ``[labels]``, the labels that focused steps propose; if there is one, some steps are focused.
        """
        tail = self.ends.tail[: self.arcs]
        # A label has two ends, so there are at most twice as many nodes; groups past the last node are empty.
        by_tail = pad_rows(np.argsort(tail, kind="stable").astype(np.int32), capacity)
        starts = np.searchsorted(np.sort(tail), np.arange(self.nodes.size)).astype(np.int32)
        starts = pad_rows(starts, 2 * capacity + 1, self.arcs)
        sizes = (np.int32(x) for x in (self.arcs, self.labels - self.arcs, self.nodes.size))
        focused = np.pad(slow, (0, capacity - self.labels)), slow.any()
        groups, kinds = jax.tree.map(lambda x: pad_rows(x, capacity), self.groups), self.kinds
        if kinds is not None:
            room = 2 * capacity - self.nodes.size
            kinds = kinds._replace(place=np.pad(kinds.place, ((0, 0), (0, room))))  # pyright: ignore[reportArgumentType]
        arrays: Any = (by_tail, starts, *sizes, *focused), groups, kinds
        arrays, groups, kinds = put64(arrays, device)
        # In a group all edges have the same label.
        labelled = groups is None and self.edge_labels is not None
        return Fixed(*arrays, ordered=self.ordered, groups=groups, kinds=kinds, labelled=labelled)

    def edges(self, ends: States) -> tuple[np.ndarray, np.ndarray]:
        """Return the tails and heads ``[.., m]`` of the edges of states ``[.., labels]``.

        The labels come in order, and then the opposite arcs of pairs.
        """
        if not self.nodes.size:
            return ends.tail, ends.head
        tail, head = self.nodes[ends.tail], self.nodes[ends.head]
        if not self.both_ways:
            return tail, head
        again = (..., slice(self.arcs, None))
        return np.concatenate([tail, head[again]], axis=-1), np.concatenate([head, tail[again]], axis=-1)


def _grouped(
    graph: Graph, edges: np.ndarray, labels: np.ndarray | None, division: Division
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Groups]:
    """Divide arcs and pairs into groups of equal labels.

    The arcs of a group agree in the graph's labels of tail, head and edge. The pairs of a group agree at each end in
    two labels: that of the node there, and that of the arc from it to the other end.

    Returns:
      Rows of the arcs, the pairs and their opposite arcs, each group together; the edges, with pairs turned to be alike
      in a group; and the groups.
    """
    if graph.node_labels is None and labels is None:
        raise ValueError("keep='labels' keeps degrees to labels, and the graph has labels of neither nodes nor edges")
    arcs, pairs, back = division
    none = np.zeros(max(graph.n, edges.shape[0]), np.int64)
    node = none if graph.node_labels is None else np.asarray(graph.node_labels)[: graph.n]
    edge = none if labels is None else labels
    tail, head = node[edges.T.astype(np.int64)]
    # An end of a pair has the label of the node, and of its arc to the other end.
    ends = np.stack([tail[pairs], edge[pairs]], axis=1), np.stack([head[pairs], edge[back]], axis=1)
    _, which = np.unique(np.concatenate(ends), axis=0, return_inverse=True)
    one, other = which.reshape(2, -1)
    # Pairs of one group are turned alike, so that they need not be read backwards.
    turn = one > other
    if graph.directed:
        pairs, back = np.where(turn, back, pairs), np.where(turn, pairs, back)
    else:
        edges = edges.copy()
        edges[pairs[turn]] = edges[pairs[turn], ::-1]
    of_arcs = np.unique(np.stack([tail[arcs], head[arcs], edge[arcs]], axis=1), axis=0, return_inverse=True)[1]
    of_pairs = np.minimum(one, other) * (2 * pairs.size + 1) + np.maximum(one, other)
    first, second = (np.argsort(x.reshape(-1), kind="stable") for x in (of_arcs, of_pairs))
    counts = np.concatenate([np.unique(x, return_counts=True)[1] for x in (of_arcs, of_pairs)])
    begins = np.repeat(np.cumsum(counts) - counts, counts)
    turns = np.concatenate([np.zeros(arcs.size, bool), (one == other)[second]])
    fields: list[Any] = [begins.astype(np.int32), np.repeat(counts, counts).astype(np.int32), turns]
    groups = Groups(*fields)  # of arrays on the host
    return arcs[first], pairs[second], back[second], edges, groups


def _along_space(place: np.ndarray) -> np.ndarray:
    """Return the Morton codes of positions ``[n, axes]``, int64 ``[n]``; near positions mostly have near codes."""
    code = np.zeros(len(place), np.int64)
    for bit in range(POSITION_BITS - 1, POSITION_BITS - 1 - min(POSITION_BITS, 62 // place.shape[1]), -1):
        for axis in place.T:
            code = code << 1 | axis >> bit & 1
    return code


def _dyad_numbers(kinds: Kinds, ends: States, is_pair: np.ndarray) -> np.ndarray:
    """Return which two blocks dyads join, or in which class of length they are, int64 ``[.., labels]``."""
    tails, heads = (np.asarray(kinds.place)[:, side].astype(np.int64) for side in ends)
    if kinds.limits is not None:
        return np.asarray(np.searchsorted(np.asarray(kinds.limits), ((tails - heads) ** 2).sum(axis=0), side="right"))
    # A pair has no direction, so its two ends may change places.
    turned = is_pair & (tails > heads)
    low, high = np.where(turned, heads, tails), np.where(turned, tails, heads)
    return (low << BLOCK_BITS | high)[0]


def _round_limits(lengths: np.ndarray, axes: int, roundings: int = 1) -> np.ndarray:
    """Return limits of squared lengths, int64, which lengths that reach ``lengths`` still reach when they are rounded.

    Rounding changes each coordinate of a difference by at most 1, and so a length by at most the root of their number.

    Args:
      lengths: the lengths at which bins end, in units of the rounding.
      axes: the number of coordinates.
      roundings: 1 for lengths that are exact, and 2 for lengths that are rounded themselves.
    """
    return np.ceil(np.maximum(lengths - roundings * np.sqrt(axes), 0.0) ** 2).astype(np.int64)


def _kinds(place: np.ndarray, limits: np.ndarray | None, ends: States) -> Kinds:
    """Return the kinds of dyads.

    Args:
      place: the blocks or positions of the nodes that take part.
      limits: where bins of lengths end, as in :class:`Also`; ``None`` for blocks.
      ends: the given graph.
    """
    if limits is not None and limits.size and limits[0] < 0:
        # A negative entry stands for bins of about equal numbers of edges.
        length = np.sort(((place[ends.tail] - place[ends.head]) ** 2).sum(axis=1))
        at = (np.arange(1, limits.size + 1) * length.size) // (limits.size + 1)
        limits = _round_limits(np.sqrt(length[at]), place.shape[1], 2) if length.size else limits[:0]
    fields: list[Any] = [place[None].astype(np.int32) if limits is None else np.ascontiguousarray(place.T), limits]
    return Kinds(*fields)  # of arrays on the host
