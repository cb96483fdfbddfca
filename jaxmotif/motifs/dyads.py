"""Graphs in the form the census walks: neighbours either way, the state of every dyad, nodes by falling degree."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmotif.graph import Graph
from jaxmotif.kernels.census import Dyads, state_matrix
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
    w = sample.wiring
    head, left, right = sample.ends
    tail = np.broadcast_to(w.fixed.tail, head.shape)
    parts = [(tail, head), (left, right)] + ([(right, left)] if w.directed else [])
    labels = None
    if w.arc_labels is not None and w.pair_labels is not None:
        labels = np.concatenate([w.arc_labels, w.pair_labels[:, 0]] + [w.pair_labels[:, 1]] * w.directed)
    tails, heads = (np.concatenate([part[side] for part in parts], axis=1) for side in (0, 1))
    return _slots(sample.source, tails, heads, labels)


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


def to_dyads(graph: Graph, slots: Slots, matrix_bytes: int, device: Any = None) -> Dyads:
    """The rows on a device, with a matrix of states if it fits; labels are those of ``graph``."""
    alphabet, n = Alphabet.of(graph), slots.n
    graphs = (slots.offsets.size - 1) // max(n, 1)
    node_codes = None
    if alphabet.label_bits:
        codes = np.empty(n, np.int32)
        codes[degree_rank(graph)] = alphabet.ranks(np.asarray(graph.node_labels)[:n], alphabet.node_labels, n) - 1
        node_codes = jax.device_put(np.tile(codes, graphs), device)
    offsets, near, states = jax.device_put(
        (slots.offsets.astype(np.int32), _padded(slots.near.astype(np.int32)),
         _padded(slots.states.astype(_state_type(alphabet)))), device,
    )  # fmt: skip
    cells = matrix_cells(graph, graphs, matrix_bytes)
    matrix = _matrix(offsets, near, states, n, cells) if cells else None
    return Dyads(
        offsets, near, states, matrix, node_codes, n, entries=alphabet.entries if alphabet.directed else 0,
        state_bits=alphabet.state_bits, label_bits=alphabet.label_bits, graph_bits=max(graphs - 1, 0).bit_length(),
        degree_bits=int(_total_degrees(graph).max(initial=0)).bit_length(),
    )  # fmt: skip


_matrix = jax.jit(state_matrix, static_argnames=("n", "cells"))


def _padded(array: np.ndarray) -> np.ndarray:
    """To the next power of two, so that graphs of about one size share a compilation."""
    capacity = 1 << max(array.size - 1, 15).bit_length()
    return np.concatenate([array, np.zeros(capacity - array.size, array.dtype)])
