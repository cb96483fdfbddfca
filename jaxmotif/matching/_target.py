"""The target graph as the search reads it: slots with their sources, labels and reverse arcs, by direction.

An index lies on the device, in the graph's padded sizes, or on the host, in NumPy and exact sizes.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._bits import has_bit, pair_key
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._rows import offsets_from, row_of
from jaxmotif.graph import Graph
from jaxmotif.graph._fields import Array
from jaxmotif.kernels._expand import take
from jaxmotif.matching.planner._ask import ANY, PRESENT

_cache: weakref.WeakKeyDictionary[Graph, dict[tuple[bool, bool, bool], Target]] = weakref.WeakKeyDictionary()


T = TypeVar("T")
SLOT_ARRAYS = ("offsets", "sources", "targets", "labels", "reverse", "reverse_labels")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Target:
    """The slots of a target by direction, D = 1 (undirected) or 2 (successors, predecessors); rows are sorted.

    Attributes:
      size: int32 scalar, the number of nodes.
      ids: int32 ``[N]``, the node of the graph that each node of this index is.
      node_labels: int32 ``[N]`` or ``None``.
      offsets: int32 ``[D, N + 1]``.
      sources, targets: int32 ``[D, S]``; ``N`` in padding.
      labels: int32 ``[D, S]`` or ``None``.
      reverse: int32 ``[D, S]``, whether the arc the other way is there; ``None`` if undirected.
      reverse_labels: int32 ``[D, S]`` or ``None``.
      marks: uint32 ``[W, slots]`` or ``None``: conditions on edges, the bits of ``RuledPattern.edges``. With marks, the
        label of a slot is its number in the graph, and the label of a pair kind is the number of a condition.
      facts: results that an index on the host keeps for later calls (:meth:`known`).
    """

    size: Any
    ids: Any
    node_labels: Any
    offsets: Any
    sources: Any
    targets: Any
    labels: Any
    reverse: Any
    reverse_labels: Any
    marks: Any = None
    facts: Any = None

    @property
    def nodes(self) -> int:
        """N, static."""
        return self.offsets.shape[-1] - 1

    @property
    def on_host(self) -> bool:
        return isinstance(self.offsets, np.ndarray)

    def direction(self, d: int | jax.Array) -> Target:
        """Return the slots of one direction, without the leading axis (d may be traced)."""
        if not self.on_host:
            rows = {name: lax.dynamic_index_in_dim(array, d, 0, False) for name, array in self._rows().items()}
            return dataclasses.replace(self, **rows)

        # Slots are kept for all queries, and therefore without marks, which belong to one query.
        def find() -> Target:
            rows = {name: array[d] for name, array in self._rows().items()}
            return dataclasses.replace(self, marks=None, facts={}, **rows)

        one = self.known(("direction", d), find)
        return one if self.marks is None else dataclasses.replace(one, marks=self.marks)

    def _rows(self) -> dict[str, Any]:
        """Return the arrays of slots that there are, by name."""
        return {name: getattr(self, name) for name in SLOT_ARRAYS if getattr(self, name) is not None}

    @property
    def degrees(self) -> np.ndarray:
        """Lengths of the rows by direction, int32 ``[D, N]`` (NumPy)."""
        return self.known("degrees", lambda: np.diff(self.offsets))

    def labelled(self, label: int) -> np.ndarray:
        """Return the nodes that carry a label, ascending (NumPy)."""
        return self.known(("labelled", label), lambda: np.flatnonzero(self.node_labels == label))

    def carrying(self, d: int, label: int) -> np.ndarray:
        """Return how many neighbours of each node carry a label.

        Args:
          d: the direction in which neighbours are counted.
          label: the label.

        Returns:
          Integers ``[N]`` (NumPy), of the least dtype that holds them.
        """

        def count() -> np.ndarray:
            ends = offsets_from((self.node_labels == label)[self.targets[d]])
            found = np.diff(ends[self.offsets[d]])
            return found.astype(np.min_scalar_type(found.max(initial=0)))

        return self.known(("carrying", d, label), count)

    def having(self, d: int, carried: int | None, label: int | None) -> np.ndarray:
        """Return how many neighbours nodes have, in all or with a label (NumPy).

        Args:
          d: the direction in which neighbours are counted.
          carried: the label that neighbours must carry, or ``None`` to count all neighbours.
          label: the label of the nodes to return counts of, in the order of :meth:`labelled`; ``None`` for all nodes.
        """
        if label is None:
            return self.degrees[d] if carried is None else self.carrying(d, carried)
        key = "having", d, carried, label
        return self.known(key, lambda: self.having(d, carried, None)[self.labelled(label)])

    def known(self, what: Hashable, find: Callable[[], T]) -> T:
        """Return a fact about the index, which is found once for as long as the index lives (if it keeps facts)."""
        if self.facts is None:
            return find()
        if what not in self.facts:
            self.facts[what] = find()
        return self.facts[what]

    def fits(self, kind: Array) -> Any:
        """Return which slots of one direction fulfil a pair kind (int32 ``[6]``), bool ``[S]``."""
        # Padding slots lead to the node past the last.
        ok = self.targets < self.nodes
        if self.labels is not None:
            ok &= (kind[1] == 0) | self._carries(self.labels, kind[2])
        if self.reverse is not None:
            back = self.reverse != 0
            if self.reverse_labels is not None:
                back &= (kind[4] == 0) | self._carries(self.reverse_labels, kind[5])
            # The arc the other way may be there or not, must be there, or must not.
            ok &= (kind[3] == ANY) | (back == (kind[3] == PRESENT))
        return ok

    def _carries(self, labels: Any, wanted: Any) -> Any:
        """Return which slots carry a label, or are marked for a condition."""
        if self.marks is None:
            return labels == wanted
        words = self.marks[wanted >> 5] if self.on_host else lax.dynamic_index_in_dim(self.marks, wanted >> 5, 0, False)
        words = words[labels] if self.on_host else take(words, labels)
        return has_bit(words, wanted)


def index_target(graph: Graph, by_degree: bool = False, on_host: bool = False, numbered: bool = False) -> Target:
    """Index a graph for matching; a graph is indexed once and the index lives as long as the graph.

    Args:
      graph: the graph.
      by_degree: number the nodes by ascending degree, so that few of a node's neighbours have higher numbers.
      on_host: index in NumPy, at exact sizes.
      numbered: label slots by their numbers in the graph, for the marks of conditions.
    """
    # The key is the graph object, not its contents: a graph does not change, and its index is dropped when it is.
    found = _cache.setdefault(graph, {})
    asked = by_degree, on_host, numbered
    if asked not in found:
        found[asked] = _index_on_host(graph, by_degree, numbered) if on_host else _index(graph, by_degree, numbered)
    return found[asked]


@jit64(static_argnames=("by_degree", "numbered"))
def _index(graph: Graph, by_degree: bool, numbered: bool) -> Target:
    return _build_index(graph, by_degree, numbered, jnp)


def _index_on_host(graph: Graph, by_degree: bool, numbered: bool) -> Target:
    """Index a graph in NumPy, without its padding."""
    held = jax.device_get(graph)
    n, slots = int(held.num_nodes), int(held.out_offsets[held.num_nodes])
    sizes = {"node_labels": n, "edge_labels": slots, "out_offsets": n + 1, "out_targets": slots}
    sizes |= {"in_offsets": n + 1, "in_targets": slots, "in_slots": slots}
    arrays = {name: getattr(held, name) for name in sizes}
    held = dataclasses.replace(held, **{name: x[: sizes[name]] for name, x in arrays.items() if x is not None})
    return dataclasses.replace(_build_index(held, by_degree, numbered, np), facts={})


def _build_index(graph: Graph, by_degree: bool, numbered: bool, xp: Any) -> Target:
    """Index a graph whose arrays are those of NumPy, or of JAX, as ``xp`` says."""
    N, S = graph.out_offsets.shape[0] - 1, graph.out_targets.shape[0]
    ids, node_labels = xp.arange(N, dtype=np.int32), graph.node_labels
    labels = xp.arange(S, dtype=np.int32) if numbered else graph.edge_labels
    sources, targets = slot_sources(graph), graph.out_targets
    rows: list[dict[str, Any]] = [
        dict(zip(SLOT_ARRAYS, (graph.out_offsets, sources, targets, labels, None, None), strict=True))
    ]
    if graph.directed:
        # Rows are sorted, and so are the keys of the slots: the arc the other way is found among them.
        keys, back = pair_key(sources, targets), pair_key(targets, sources)
        place = xp.minimum(xp.searchsorted(keys, back), max(S - 1, 0))
        there = (keys[place] == back) & (targets < N)
        arcs: dict[str, Any] = {"labels": labels, "reverse": there.astype(np.int32), "reverse_labels": None}
        if labels is not None:
            arcs["reverse_labels"] = xp.where(there, labels[place], 0).astype(np.int32)
        # The slots of predecessors are the same arcs in another order.
        slots = xp.minimum(graph.in_slots, max(S - 1, 0))
        turned = {name: None if x is None else x[slots] for name, x in arcs.items()}
        ends = {"sources": _sources(graph.in_offsets, graph.in_targets, N), "targets": graph.in_targets}
        rows = [rows[0] | arcs, {"offsets": graph.in_offsets, **ends, **turned}]
    if by_degree:
        # By ascending degree in both directions together, ties by number; padding comes last, whatever its degree.
        lengths = [row["offsets"][1:] - row["offsets"][:-1] for row in rows]
        degree = xp.where(ids < graph.num_nodes, sum(lengths), np.int32(2**31 - 1))
        ids = xp.argsort(degree, stable=True).astype(np.int32)
        # N, the target of padding slots, stays N.
        rank = xp.append(xp.argsort(ids).astype(np.int32), np.int32(N))
        rows = [_renumber(row, rank, length[ids], xp) for row, length in zip(rows, lengths, strict=True)]
        node_labels = None if node_labels is None else node_labels[ids]
    arrays = {name: None if x is None else xp.stack([row[name] for row in rows]) for name, x in rows[0].items()}
    return Target(graph.num_nodes, ids, node_labels, **arrays)


def _renumber(row: dict[str, Any], rank: Any, lengths: Any, xp: Any) -> dict[str, Any]:
    """Return the slots of one direction with new numbers of nodes, sorted again; ``lengths`` are those of new rows."""
    row = row | {"sources": rank[row["sources"]], "targets": rank[row["targets"]]}
    # No slot occurs twice, and one number for each slot is sorted four times as fast as a pair.
    order = xp.argsort(pair_key(row["sources"], row["targets"]))
    row = {name: None if x is None or name == "offsets" else x[order] for name, x in row.items()}
    return row | {"offsets": offsets_from(lengths)}


def slot_sources(graph: Graph) -> Any:
    """Return the node whose row each slot is in, int32 ``[S]``; the node capacity in padding."""
    return _sources(graph.out_offsets, graph.out_targets, graph.out_offsets.shape[0] - 1)


def _sources(offsets: Any, targets: Any, nodes: int) -> Any:
    """Return the row of each slot."""
    where = np.where if isinstance(targets, np.ndarray) else jnp.where
    return where(targets < nodes, row_of(offsets, targets.shape[0]), np.int32(nodes))
