"""Random graphs with one wiring, prepared for a census from the host or from the device where chains have left them."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64, target_of
from jaxmotif.arrays._rows import pad_rows
from jaxmotif.arrays._sizes import chain_lanes, power_of_four
from jaxmotif.census._pair_states import (
    ACCELERATOR_LEAST,
    ACCELERATOR_SAMPLE,
    CPU_SAMPLE,
    CensusGraphs,
    Edges,
    Layout,
    Room,
    RowForm,
    census_graphs,
    layout_of,
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
    """Random graphs on the host, all with the wiring of the graph ``source``: states ``[num, labels]``."""

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
      parts: arrays of lanes, each with states one after another, then padding.
      begins: int32 ``[num]``, the first lane of each graph's labels, counted through all parts.
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
    sample: RandomGraphs | Sample | LaneSample,
    count: int,
    matrix_bytes: int,
    device: jax.Device,
    least: Room | None = None,
) -> CensusGraphs:
    """Prepare random graphs for a census, as :func:`~jaxmotif.census._pair_states.census_graphs` does.

    An accelerator sorts the rows itself, from labels in lanes: those of a :class:`LaneSample` lie on it already.

    Args:
      sample: the graphs.
      count: the number of graphs after padding with empty ones.
      matrix_bytes: most bytes of the matrix of states.
      device: where the arrays lie.
      least: the least lengths of the arrays (default: those for many random graphs).
    """
    accelerated = target_of(device).is_accelerator
    least = least or (ACCELERATOR_SAMPLE if accelerated else CPU_SAMPLE)
    if not isinstance(sample, LaneSample):
        if not accelerated:
            edges = Edges(*sample.wiring.edges(sample.ends), sample.wiring.edge_labels)
            return census_graphs(sample.source, edges, matrix_bytes, device, count, least)
        labels = sample.wiring.labels
        lanes = chain_lanes(len(sample) * labels, True)
        ends = Ends(*jax.device_put([pad_rows(side.reshape(-1), lanes) for side in sample.ends], device))
        sample = LaneSample(sample.source, sample.wiring, (ends,), labels * np.arange(len(sample)))
    layout = layout_of(sample.source, len(sample), matrix_bytes, device, count, least)
    return layout.ready(_sorted_in_lanes(sample, layout))


def _sorted_in_lanes(sample: LaneSample, layout: Layout) -> tuple[Any, ...]:
    """Sort a sample's edges into rows and a matrix of states, which never leave the device."""
    wiring, height, n, alphabet = sample.wiring, rows_height(layout.count), layout.n, layout.alphabet
    all_edges = chain_lanes(max(layout.count * wiring.edges_each, LEAST_EDGES), True)
    entry = np.ones(1, np.int64)
    if wiring.edge_labels is not None:
        entry = alphabet.ranks(wiring.edge_labels, alphabet.edge_labels, wiring.edges_each)
        entry = np.pad(entry, (0, power_of_four(entry.size, LEAST_EDGES) - entry.size))
    place = layout.place[wiring.nodes].astype(np.int32)
    return _rows_of_lanes(
        sample.parts,
        np.pad(sample.begins.astype(np.int32), (0, height - len(sample)), constant_values=-1),
        np.array([wiring.labels, wiring.arcs, wiring.edges_each], np.int32),
        np.pad(place, (0, power_of_four(n, ACCELERATOR_LEAST.nodes) - place.size)),
        entry,
        np.int64(max(n, 1)),
        room=all_edges,
        form=layout.form,
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
    real = (begin >= 0) & (edges > 0)
    return sorted_rows(jnp.where(real, tails, -1), heads, graph.astype(jnp.int64) * n, entry, form, n)
