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

from jaxmotif.arrays._bits import has_bit, low_word, pair_key
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._rows import offsets_from, row_of
from jaxmotif.graph import Graph
from jaxmotif.graph._fields import Array
from jaxmotif.kernels import _expand as ex
from jaxmotif.kernels._expand import take
from jaxmotif.matching.planner._ask import ANY, PRESENT

_cache: weakref.WeakKeyDictionary[Graph, dict[tuple[bool, bool, bool], Target]] = weakref.WeakKeyDictionary()


T = TypeVar("T")
SLOT_ARRAYS = ("offsets", "sources", "targets", "labels", "reverse", "reverse_labels")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Target:
    """Slots by direction, D = 1 (undirected) or 2 (successors, predecessors); rows are sorted.

    Attributes:
      size: int32 scalar, the number of nodes.
      ids: int32 ``[N]``, the graph's nodes by the numbers they have here.
      node_labels: int32 ``[N]`` or ``None``.
      offsets: int32 ``[D, N + 1]``.
      sources, targets: int32 ``[D, S]``; ``N`` in padding.
      labels: int32 ``[D, S]`` or ``None``.
      reverse: int32 ``[D, S]``, whether the arc the other way is there; ``None`` if undirected.
      reverse_labels: int32 ``[D, S]`` or ``None``.
      marks: uint32 ``[W, slots]`` or ``None``: conditions on edges, the bits of ``RuledPattern.edges``. Then the labels
        of slots are their numbers in the graph, and that of a pair kind is the number of a condition.
      facts: of an index on the host, what was once asked of it, kept (:meth:`known`).
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

        def cut() -> Target:  # with facts of its own
            return dataclasses.replace(
                self, marks=None, facts={}, **{name: array[d] for name, array in self._rows().items()}
            )

        # Marks are of one query, what is kept is of all.
        one = self.known(("direction", d), cut)
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
        return self.known(("having", d, carried, label), lambda: self.having(d, carried, None)[self.labelled(label)])

    def known(self, what: Hashable, find: Callable[[], T]) -> T:
        """Return what is found once for as long as the index lives."""
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
            # Anything goes, or it must be there, or it must not.
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
      by_degree: number the nodes by ascending degree, so that few of a node's neighbours have higher numbers.
      on_host: in NumPy, at exact sizes.
      numbered: label slots by their numbers in the graph, for the marks of conditions.
    """
    # By the graph itself, not its contents: a graph does not change, and an index goes when it goes.
    found = _cache.setdefault(graph, {})
    asked = by_degree, on_host, numbered
    if asked not in found:
        found[asked] = (_index_on_host if on_host else _index)(graph, by_degree, numbered)
    return found[asked]


@jit64(static_argnames=("by_degree", "numbered"))
def _index(graph: Graph, by_degree: bool, numbered: bool) -> Target:
    if numbered:
        graph = dataclasses.replace(graph, edge_labels=jnp.arange(graph.slot_capacity, dtype=jnp.int32))
    index = _plain_index(graph)
    return _by_degree(index) if by_degree else index


def _index_on_host(graph: Graph, by_degree: bool, numbered: bool) -> Target:
    """:func:`_plain_index` in NumPy."""
    held = jax.device_get(graph)
    n, S = int(held.num_nodes), int(held.out_offsets[held.num_nodes])
    out, targets = held.out_offsets[: n + 1], held.out_targets[:S]
    offsets, heads = out[None], targets[None]
    labels = None if held.edge_labels is None else held.edge_labels[:S][None]
    if numbered:
        labels = np.arange(S, dtype=np.int32)[None]
    reverse = reverse_labels = None
    if graph.directed:
        slots = held.in_slots[:S]
        offsets, heads = np.stack([out, held.in_offsets[: n + 1]]), np.stack([targets, held.in_targets[:S]])
        # Rows are sorted, and so are the keys of the slots: the arc the other way is found among them.
        keys, back = (pair_key(*ends) for ends in ((row_of(out, S), targets), (targets, row_of(out, S))))
        place = np.minimum(np.searchsorted(keys, back), max(S - 1, 0))
        there = keys[place] == back
        # The slots of predecessors are the same arcs in another order.
        reverse = np.stack([there, there[slots]]).astype(np.int32)
        if labels is not None:
            other = np.where(there, labels[0][place], 0).astype(np.int32)
            labels, reverse_labels = (np.stack([x, x[slots]]) for x in (labels[0], other))
    sources = np.stack([row_of(rows, S) for rows in offsets])
    node_labels = None if held.node_labels is None else held.node_labels[:n]
    index = Target(
        np.int32(n),
        np.arange(n, dtype=np.int32),
        node_labels,
        offsets,
        sources,
        heads,
        labels,
        reverse,
        reverse_labels,
    )
    return dataclasses.replace(_by_degree_on_host(index) if by_degree else index, facts={})


def _by_degree_on_host(target: Target) -> Target:
    """:func:`_by_degree` in NumPy."""
    lengths = np.diff(target.offsets)
    # In both directions together, ties by number: the same order as on a device.
    ids = np.argsort(lengths.sum(axis=0), kind="stable").astype(np.int32)
    rank = np.empty_like(ids)
    rank[ids] = np.arange(len(ids), dtype=np.int32)
    rows = []
    for d in range(len(target.offsets)):
        one = target.direction(d)
        sources, targets = rank[one.sources], rank[one.targets]
        # Renumbered rows are no longer sorted. No slot is there twice: one number each is sorted four times as fast.
        order = np.argsort(sources.astype(np.int64) * len(ids) + targets)
        more = [None if x is None else x[order] for x in (one.labels, one.reverse, one.reverse_labels)]
        rows.append((offsets_from(lengths[d][ids]), sources[order], targets[order], *more))
    arrays = [None if row[0] is None else np.stack(row) for row in zip(*rows, strict=True)]
    labels = None if target.node_labels is None else target.node_labels[ids]
    return dataclasses.replace(target, ids=ids, node_labels=labels, **dict(zip(SLOT_ARRAYS, arrays, strict=True)))


def _plain_index(graph: Graph) -> Target:
    N, S = graph.node_capacity, graph.slot_capacity
    ids = jnp.arange(N, dtype=jnp.int32)
    if not graph.directed:
        offsets, targets = graph.out_offsets[None], graph.out_targets[None]
        labels = None if graph.edge_labels is None else graph.edge_labels[None]
        return Target(
            graph.num_nodes,
            ids,
            graph.node_labels,
            offsets,
            _sources(graph.out_offsets, targets[0], N)[None],
            targets,
            labels,
            None,
            None,
        )
    slots = jnp.minimum(graph.in_slots, S - 1)
    sources = [_sources(graph.out_offsets, graph.out_targets, N), _sources(graph.in_offsets, graph.in_targets, N)]
    u, v = sources[0], jnp.minimum(graph.out_targets, N - 1)
    low, high = take(graph.out_offsets, v), take(graph.out_offsets, v + 1)
    # The arc from v to u: u among the successors of v.
    place, there = ex.find(graph.out_targets, low, high, u, max(1, min(N, S).bit_length()))
    there &= graph.out_targets < N
    place = jnp.where(there, place, 0)
    labels = reverse_labels = None
    if graph.edge_labels is not None:
        labels = jnp.stack([graph.edge_labels, take(graph.edge_labels, slots)])
        back = jnp.where(there, take(graph.edge_labels, place), 0)
        reverse_labels = jnp.stack([back, take(back, slots)])
    reverse = there.astype(jnp.int32)
    return Target(
        graph.num_nodes,
        ids,
        graph.node_labels,
        jnp.stack([graph.out_offsets, graph.in_offsets]),
        jnp.stack(sources),
        jnp.stack([graph.out_targets, graph.in_targets]),
        labels,
        jnp.stack([reverse, take(reverse, slots)]),
        reverse_labels,
    )


def _by_degree(target: Target) -> Target:
    """Assign numbers to the nodes by ascending degree, ties by their numbers so far; padding stays last."""
    N = target.nodes
    number = jnp.arange(N, dtype=jnp.int32)
    lengths = target.offsets[:, 1:] - target.offsets[:, :-1]
    # Padding last, whatever its degree.
    degree = jnp.where(number < target.size, lengths.sum(axis=0, dtype=jnp.int32), jnp.int32(2**31 - 1))
    ids = low_word(lax.sort(pair_key(degree, number)))
    # N, the target of padding slots, stays N.
    rank = jnp.append(jnp.zeros(N, jnp.int32).at[ids].set(number), jnp.int32(N))

    def direction(d: int) -> dict[str, Any]:
        one = target.direction(d)
        ends = jnp.cumsum(take(lengths[d], ids), dtype=jnp.int32)
        # Both ends in one key: a sort by it groups rows, and sorts each.
        pairs = pair_key(take(rank, one.sources), take(rank, one.targets))
        names = [name for name in ("labels", "reverse", "reverse_labels") if getattr(one, name) is not None]
        pairs, *values = lax.sort((pairs, *(getattr(one, name) for name in names)), num_keys=1)
        return dict(zip(names, values, strict=True)) | {
            "offsets": jnp.append(jnp.int32(0), ends),
            "sources": (pairs >> jnp.uint64(32)).astype(jnp.int32),
            "targets": low_word(pairs),
        }

    rows = [direction(d) for d in range(target.offsets.shape[0])]
    labels = None if target.node_labels is None else take(target.node_labels, ids)
    joined = {name: jnp.stack([row[name] for row in rows]) for name in rows[0]}
    return dataclasses.replace(target, ids=ids, node_labels=labels, **joined)


def slot_sources(graph: Graph) -> jax.Array:
    """Return the node whose row each slot is in, int32 ``[S]``; the node capacity in padding."""
    return _sources(graph.out_offsets, graph.out_targets, graph.node_capacity)


def _sources(offsets: jax.Array, targets: jax.Array, nodes: int) -> jax.Array:
    """Return the row of each slot."""
    slots = targets.shape[0]
    # A slot's row is how many rows end at or before it.
    marks = jnp.zeros(slots + 1, jnp.int32).at[offsets[1:]].add(1)
    rows = jnp.cumsum(marks[:slots], dtype=jnp.int32)
    return jnp.where(targets < nodes, rows, np.int32(nodes))
