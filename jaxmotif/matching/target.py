"""The target graph as the search reads it: slots with their sources, labels and reverse arcs, by direction."""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.graph import Graph
from jaxmotif.kernels import expand as ex
from jaxmotif.kernels.expand import take
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.matching.conditions import ABSENT, ANY

_cache: weakref.WeakKeyDictionary[Graph, Target] = weakref.WeakKeyDictionary()


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Target:
    """Slots by direction, D = 1 (undirected) or 2 (successors, predecessors); rows are sorted.

    Attributes:
      size: int32 scalar, the number of nodes.
      node_labels: int32 ``[N]`` or ``None``.
      offsets: int32 ``[D, N + 1]``.
      sources, targets: int32 ``[D, S]``; ``N`` in padding.
      labels: int32 ``[D, S]`` or ``None``.
      reverse: int32 ``[D, S]``, whether the arc the other way is there; ``None`` if undirected.
      reverse_labels: int32 ``[D, S]`` or ``None``.
    """

    size: Any
    node_labels: Any
    offsets: Any
    sources: Any
    targets: Any
    labels: Any
    reverse: Any
    reverse_labels: Any

    @property
    def nodes(self) -> int:
        """N, static."""
        return self.offsets.shape[-1] - 1

    def direction(self, d: Any) -> Target:
        """The slots of one direction, without the leading axis (d may be traced)."""
        fields = ("offsets", "sources", "targets", "labels", "reverse", "reverse_labels")
        rows = {
            name: None if getattr(self, name) is None else lax.dynamic_index_in_dim(getattr(self, name), d, 0, False)
            for name in fields
        }
        return dataclasses.replace(self, **rows)

    def fits(self, kind: jax.Array) -> jax.Array:
        """Which slots of one direction fulfil a pair kind (int32 ``[6]``), bool ``[S]``."""
        ok = self.targets < self.nodes
        if self.labels is not None:
            ok &= (kind[1] == 0) | (self.labels == kind[2])
        if self.reverse is not None:
            wanted = (kind[3] == ANY) | ((self.reverse == 0) == (kind[3] == ABSENT))
            if self.reverse_labels is not None:
                wanted &= (kind[4] == 0) | (self.reverse_labels == kind[5])
            ok &= wanted
        return ok


def index_target(graph: Graph) -> Target:
    """Index a graph for matching; a graph is indexed once and the index lives as long as the graph."""
    found = _cache.get(graph)
    if found is None:
        with wide_ints():
            found = _cache[graph] = _index(graph)
    return found


@jax.jit
def _index(graph: Graph) -> Target:
    N, S = graph.node_capacity, graph.slot_capacity
    if not graph.directed:
        offsets, targets = graph.out_offsets[None], graph.out_targets[None]
        labels = None if graph.edge_labels is None else graph.edge_labels[None]
        return Target(
            graph.num_nodes, graph.node_labels, offsets, _sources(graph.out_offsets, targets[0], N)[None], targets,
            labels, None, None,
        )  # fmt: skip
    slots = jnp.minimum(graph.in_slots, S - 1)
    sources = [_sources(graph.out_offsets, graph.out_targets, N), _sources(graph.in_offsets, graph.in_targets, N)]
    u, v = sources[0], jnp.minimum(graph.out_targets, N - 1)
    low, high = take(graph.out_offsets, v), take(graph.out_offsets, v + 1)
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
        graph.num_nodes, graph.node_labels, jnp.stack([graph.out_offsets, graph.in_offsets]), jnp.stack(sources),
        jnp.stack([graph.out_targets, graph.in_targets]), labels, jnp.stack([reverse, take(reverse, slots)]),
        reverse_labels,
    )  # fmt: skip


def slot_sources(graph: Graph) -> jax.Array:
    """The node whose row each slot is in, int32 ``[S]``; the node capacity in padding."""
    return _sources(graph.out_offsets, graph.out_targets, graph.node_capacity)


def _sources(offsets: jax.Array, targets: jax.Array, nodes: int) -> jax.Array:
    """The row of each slot."""
    slots = targets.shape[0]
    marks = jnp.zeros(slots + 1, jnp.int32).at[offsets[1:]].add(1)
    rows = jnp.cumsum(marks[:slots], dtype=jnp.int32)
    return jnp.where(targets < nodes, rows, np.int32(nodes))
