"""Random graphs of one wiring, and how the census takes them: from the host, or where chains have left them."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64, target_of
from jaxmotif.arrays._sizes import chain_lanes, power_of_four
from jaxmotif.census._pair_states import (
    ACCELERATOR_LEAST,
    ACCELERATOR_SAMPLE,
    CPU_SAMPLE,
    Alphabet,
    CensusGraphs,
    Edges,
    Room,
    RowForm,
    census_graphs,
    graphs_of_rows,
    rows_height,
    sorted_rows,
)
from jaxmotif.graph import Graph
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._switching import Ends
from jaxmotif.motifs._null_models import States, Wiring
from jaxmotif.motifs._random_graphs import RandomGraphs

LEAST_EDGES = 2**17
"""Least room for the edges of all graphs together that are sorted at once: fewer do not fill an accelerator."""


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
    """Sample of random graphs that lie where chains have left them, on their device.

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


def sample_graphs(
    sample: RandomGraphs | Sample | LaneSample, count: int, matrix_bytes: int, device: jax.Device
) -> CensusGraphs:
    """Put random graphs on a device, with empty graphs up to ``count``."""
    least = ACCELERATOR_SAMPLE if target_of(device).is_accelerator else CPU_SAMPLE
    return graphs_on(device, sample.source, sample, matrix_bytes, count, least)


def graphs_on(
    device: jax.Device,
    graph: Graph,
    sample: RandomGraphs | Sample | LaneSample | None,
    matrix_bytes: int,
    count: int = 0,
    least: Room | None = None,
) -> CensusGraphs:
    """Put graphs on a device, as :func:`~jaxmotif.census._pair_states.census_graphs` does.

    They are those of a sample, which lie on this device already if it is a :class:`LaneSample`, or the graph itself.
    """
    if isinstance(sample, LaneSample):
        rows = partial(_sorted_in_lanes, sample)
        return graphs_of_rows(graph, len(sample), rows, matrix_bytes, device, count, least)
    edges = None if sample is None else Edges(*sample.wiring.edges(sample.ends), sample.wiring.edge_labels)
    return census_graphs(graph, edges, matrix_bytes, device, count, least)


def _sorted_in_lanes(
    sample: LaneSample, alphabet: Alphabet, number: np.ndarray, count: int, form: RowForm
) -> tuple[Any, ...]:
    """Sort a sample's edges into rows and a matrix of states, which never leave the device.

    There are ``count`` graphs, with the empty ones.
    """
    wiring, height, n = sample.wiring, rows_height(count), sample.source.n
    all_edges = chain_lanes(max(count * wiring.edges_each, LEAST_EDGES), True)
    entry = np.ones(1, np.int64)
    if wiring.edge_labels is not None:
        entry = alphabet.ranks(wiring.edge_labels, alphabet.edge_labels, wiring.edges_each)
        entry = np.pad(entry, (0, power_of_four(entry.size, LEAST_EDGES) - entry.size))
    place = number[wiring.nodes].astype(np.int32)
    return _rows_of_lanes(
        sample.parts,
        np.pad(sample.begins.astype(np.int32), (0, height - len(sample)), constant_values=-1),
        np.array([wiring.labels, wiring.arcs, wiring.edges_each], np.int32),
        np.pad(place, (0, power_of_four(n, ACCELERATOR_LEAST.nodes) - place.size)),
        entry,
        np.int64(max(n, 1)),
        room=all_edges,
        form=form,
    )


@partial(jit64, static_argnames=("room", "form"))
def _rows_of_lanes(
    parts: tuple[Ends, ...],
    begins: jax.Array,
    sizes: jax.Array,
    place: jax.Array,
    entry: jax.Array,
    n: jax.Array,
    *,
    room: int,
    form: RowForm,
) -> tuple[Any, ...]:
    """Sort labels in lanes into rows and a matrix of states, with a graph's edges in the order of ``Wiring.edges``.

    Args:
      parts: the ends of the labels, in lanes.
      begins: int32 ``[graphs]``, the first lane of each graph, -1 for none.
      sizes: int32 ``[3]``: labels, arcs among them, and edges of a graph.
      place: int32, the number of each of the wiring's nodes.
      entry: the rank of each edge's label, or one for all.
      n: the number of nodes.
      room: room for the edges of all graphs.
      form: the form of the rows.
    """
    labels, arcs, edges = sizes
    ends = [jnp.concatenate(side) for side in zip(*parts, strict=True)]
    # The edges of all graphs stand in one row, so that its length is all that the program depends on.
    number = jnp.arange(room, dtype=jnp.int32)
    graph, edge = number // jnp.maximum(edges, 1), number % jnp.maximum(edges, 1)
    begin = jnp.where(graph < begins.shape[0], take(begins, jnp.minimum(graph, begins.shape[0] - 1)), -1)
    # The pairs follow after the labels once more, the other way round.
    back = edge >= labels
    at = begin + jnp.where(back, edge - labels + arcs, edge)
    tail, head = (take(place, take(side, jnp.maximum(at, 0))) for side in ends)
    tails, heads = jnp.where(back, head, tail), jnp.where(back, tail, head)
    entry = entry if entry.shape[0] == 1 else take(entry, edge)
    return sorted_rows(jnp.where(begin >= 0, tails, -1), heads, graph.astype(jnp.int64) * n, entry, form, n)
