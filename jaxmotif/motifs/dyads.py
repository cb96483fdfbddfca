"""Graphs in the form the census walks: neighbours either way, the state of every dyad, nodes by falling degree."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.graph import Graph
from jaxmotif.kernels.census import Dyads, state_matrix
from jaxmotif.kernels.choice import kernel_backend
from jaxmotif.kernels.expand import take
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.motifs.random_graphs import RandomGraphs


@dataclasses.dataclass(frozen=True)
class Alphabet:
    """What the states and node codes of a graph's dyads stand for.

    Attributes:
      directed: whether states tell (u, v) from (v, u).
      edge_labels: values by rank, or ``None``; node_labels: likewise.
    """

    directed: bool
    edge_labels: tuple[int, ...] | None
    node_labels: tuple[int, ...] | None

    @classmethod
    def of(cls, graph: Graph) -> Alphabet:
        def values(array: Any, used: int) -> tuple[int, ...] | None:
            return None if array is None else tuple(np.unique(np.asarray(array)[:used]).tolist())

        return cls(graph.directed, values(graph.edge_labels, graph.num_slots), values(graph.node_labels, graph.n))

    @property
    def entries(self) -> int:
        """How many values an adjacency entry has: none, or a label."""
        return 2 if self.edge_labels is None else 1 + max(len(self.edge_labels), 1)

    @property
    def state_bits(self) -> int:
        states = self.entries**2 if self.directed else self.entries
        return (states - 1).bit_length()

    @property
    def label_bits(self) -> int:
        return 0 if self.node_labels is None else (max(len(self.node_labels), 1) - 1).bit_length()

    def code_bits(self, size: int) -> int:
        """Bits of the code of a subgraph of ``size`` nodes."""
        return size * self.label_bits + size * (size - 1) // 2 * self.state_bits

    def ranks(self, labels: np.ndarray | None, values: tuple[int, ...] | None, count: int) -> np.ndarray:
        """Labels to 1.. (1 everywhere without labels)."""
        if labels is None or values is None:
            return np.ones(count, np.int64)
        return np.searchsorted(values, labels).astype(np.int64) + 1


def degree_rank(graph: Graph) -> np.ndarray:
    """A new number for every node, the highest degree first: rows then meet few nodes that come before their first."""
    rank = np.empty(graph.n, np.int64)
    rank[np.argsort(-_total_degrees(graph), kind="stable")] = np.arange(graph.n)
    return rank


def _total_degrees(graph: Graph) -> np.ndarray:
    return graph.degrees + (graph.in_degrees if graph.directed else 0)


class Slots(NamedTuple):
    """Graphs of ``n`` nodes side by side, as rows of neighbours on the host, int64.

    Attributes:
      n: nodes of each graph, in the order of :func:`degree_rank`.
      offsets: ``[V + 1]``, row starts; ``V`` = graphs * n.
      near: ``[S]``, neighbours within their own graph (0..n-1), ascending in a row.
      states: ``[S]``, the state of each dyad, seen from the row's node.
    """

    n: int
    offsets: np.ndarray
    near: np.ndarray
    states: np.ndarray


def graph_slots(graph: Graph) -> Slots:
    """One graph."""
    edges = graph.edge_list()
    labels = None if graph.edge_labels is None else np.asarray(graph.edge_labels)[graph.edge_slots()]
    return _slots(graph, edges[None, :, 0], edges[None, :, 1], labels)


def sample_slots(sample: RandomGraphs) -> Slots:
    """Random graphs side by side."""
    return _slots(sample.source, *_edges(sample))


def _edges(sample: RandomGraphs) -> tuple[np.ndarray, np.ndarray, Any]:
    """Tails, heads ``[graphs, m]`` and edge labels ``[m]`` of random graphs."""
    w = sample.wiring
    head, left, right = sample.ends
    tail = np.broadcast_to(w.fixed.tail, head.shape)
    parts = [(tail, head), (left, right)] + ([(right, left)] if w.directed else [])
    labels = None
    if w.arc_labels is not None and w.pair_labels is not None:
        labels = np.concatenate([w.arc_labels, w.pair_labels[:, 0]] + [w.pair_labels[:, 1]] * w.directed)
    tails, heads = (np.concatenate([part[side] for part in parts], axis=1) for side in (0, 1))
    return tails, heads, labels


def matrix_cells(graph: Graph, graphs: int, matrix_bytes: int) -> int:
    """Cells of the matrix of so many graphs, 0 when it does not fit."""
    cells = graphs * graph.n**2
    return cells if cells * _state_type(Alphabet.of(graph)).itemsize <= matrix_bytes and cells < 2**31 - 1 else 0


def _state_type(alphabet: Alphabet) -> np.dtype:
    return np.dtype(np.uint8 if alphabet.state_bits <= 8 else np.int32)


def _slots(graph: Graph, tails: np.ndarray, heads: np.ndarray, labels: Any) -> Slots:
    """Rows from edges ``[graphs, m]`` between the nodes of ``graph``."""
    alphabet = Alphabet.of(graph)
    n, graphs, bits = graph.n, tails.shape[0], alphabet.state_bits
    number = degree_rank(graph)
    u, v = number[tails], number[heads]
    entry = alphabet.ranks(labels, alphabet.edge_labels, tails.shape[1])
    mirrored = entry * alphabet.entries if alphabet.directed else entry
    first = np.arange(graphs, dtype=np.int64)[:, None] * n
    both_ways = ((u, v, entry), (v, u, mirrored))
    cells = np.concatenate([(((first + a) * n + b) << bits) + e for a, b, e in both_ways], axis=1)
    cells = np.sort(cells.ravel())
    places, states = cells >> bits, cells & ((1 << bits) - 1)
    begins = np.flatnonzero(np.concatenate([np.ones(1, bool), places[1:] != places[:-1]])[: places.size])
    if begins.size < places.size:
        states = np.add.reduceat(states, begins)
        places = places[begins]
    row = places // max(n, 1)
    offsets = np.zeros(graphs * n + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=graphs * n), out=offsets[1:])
    return Slots(n, offsets, places - row * n, states)


def to_dyads(graph: Graph, slots: Slots, matrix_bytes: int, device: Any = None, graphs: int | None = None) -> Dyads:
    """The rows on a device, with a matrix of states if it fits; labels are those of ``graph``.

    Args:
      graphs: with empty graphs up to this number, so that fewer have the shapes of so many.
    """
    given = (slots.offsets.size - 1) // max(slots.n, 1)
    graphs = graphs or given
    offsets = np.pad(slots.offsets.astype(np.int32), (0, (graphs - given) * slots.n), mode="edge")
    capacity = _capacity(graph, graphs)
    near, states = (np.pad(x, (0, capacity - x.size)) for x in (slots.near.astype(np.int32), slots.states))
    offsets, near, states = jax.device_put((offsets, near, states.astype(_state_type(Alphabet.of(graph)))), device)
    cells = matrix_cells(graph, graphs, matrix_bytes)
    matrix = _matrix(offsets, near, states, slots.n, cells) if cells else None
    return _dyads(graph, graphs, offsets, near, states, matrix, device)


def sample_dyads(sample: RandomGraphs, graphs: int, matrix_bytes: int, device: jax.Device) -> Dyads:
    """Random graphs on a device, with empty graphs up to ``graphs``; a GPU sorts their rows itself."""
    source = sample.source
    if kernel_backend(device) == "xla":
        return to_dyads(source, sample_slots(sample), matrix_bytes, device, graphs)
    alphabet = Alphabet.of(source)
    tails, heads, labels = _edges(sample)
    entry = alphabet.ranks(labels, alphabet.edge_labels, tails.shape[1])
    with wide_ints(), jax.default_device(device):
        offsets, near, states, matrix = _rows(
            tails, heads, entry, degree_rank(source).astype(np.int32), n=max(source.n, 1), graphs=graphs,
            entries=alphabet.entries if alphabet.directed else 1, bits=alphabet.state_bits,
            capacity=_capacity(source, graphs), states=_state_type(alphabet),
            cells=matrix_cells(source, graphs, matrix_bytes),
        )  # fmt: skip
    return _dyads(source, graphs, offsets, near, states, matrix, device)


def _dyads(graph: Graph, graphs: int, offsets: Any, near: Any, states: Any, matrix: Any, device: Any) -> Dyads:
    alphabet, n = Alphabet.of(graph), graph.n
    node_codes = None
    if alphabet.label_bits:
        codes = np.empty(n, np.int32)
        codes[degree_rank(graph)] = alphabet.ranks(np.asarray(graph.node_labels)[:n], alphabet.node_labels, n) - 1
        node_codes = jax.device_put(np.tile(codes, graphs), device)
    return Dyads(
        offsets, near, states, matrix, node_codes, n, entries=alphabet.entries if alphabet.directed else 0,
        state_bits=alphabet.state_bits, label_bits=alphabet.label_bits, graph_bits=max(graphs - 1, 0).bit_length(),
        degree_bits=int(_total_degrees(graph).max(initial=0)).bit_length(),
    )  # fmt: skip


@partial(jax.jit, static_argnames=("n", "graphs", "entries", "bits", "capacity", "states", "cells"))
def _rows(
    tails: Any, heads: Any, entry: Any, number: Any,
    *, n: int, graphs: int, entries: int, bits: int, capacity: int, states: np.dtype, cells: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Offsets, neighbours, states and matrix (if of any cells) from edges ``[graphs, m]`` or fewer."""
    with wide_ints():
        u, v = (take(number, x).astype(jnp.int64) for x in (tails, heads))
        first = jnp.arange(tails.shape[0], dtype=jnp.int64)[:, None] * n
        both_ways = ((u, v, entry), (v, u, entry * entries))
        keys = jnp.concatenate([((((first + a) * n + b) << bits) + e[None]).reshape(-1) for a, b, e in both_ways])
        none = jnp.iinfo(jnp.int64).max
        keys = jnp.sort(jnp.pad(keys, (0, capacity - keys.size), constant_values=none))
        places, one = keys >> bits, jnp.ones(1, bool)
        new = places[1:] != places[:-1]
        begins = jnp.concatenate([one, new]) & (keys != none)
        state = (keys & ((1 << bits) - 1)).astype(jnp.int32)
        state = state + jnp.where(jnp.concatenate([new, one]), 0, jnp.roll(state, -1))  # a dyad has two keys at most
        row = (places // n).astype(jnp.int32)
        local = (places % n).astype(jnp.int32)
        at = jnp.where(begins, jnp.cumsum(begins, dtype=jnp.int32) - 1, capacity)
        near = jnp.zeros(capacity, jnp.int32).at[at].set(local, mode="drop")
        found = jnp.zeros(capacity, states).at[at].set(state.astype(states), mode="drop")
        lengths = jnp.zeros(graphs * n, jnp.int32).at[jnp.where(begins, row, graphs * n)].add(1, mode="drop")
        offsets = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(lengths, dtype=jnp.int32)])
        matrix = None
        if cells:
            cell = jnp.where(begins, places, cells + 1).astype(jnp.int32)
            matrix = jnp.zeros(cells + 1, states).at[cell].set(state.astype(states), mode="drop")
        return offsets, near, found, matrix


_matrix = jax.jit(state_matrix, static_argnames=("n", "cells"))


def _capacity(graph: Graph, graphs: int) -> int:
    """Slots to make room for: a power of two, so that graphs of about one size share a compilation."""
    return 1 << max(2 * graph.m * graphs - 1, 2**15 - 1).bit_length()
