"""The graph container every job works on."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import numpy as np

_DATA_FIELDS = (
    "out_offsets", "out_targets", "in_offsets", "in_targets", "in_slots", "bi_offsets", "bi_targets",
    "node_labels", "edge_labels", "num_nodes", "num_edges",
)  # fmt: skip


@partial(jax.tree_util.register_dataclass, data_fields=_DATA_FIELDS, meta_fields=("directed",))
@dataclasses.dataclass(frozen=True, eq=False)
class Graph:
    """A simple graph in compressed sparse rows, as a pytree of padded int32 arrays.

    ``N`` is the node capacity, ``S`` the slot capacity; the true sizes are the scalars ``num_nodes`` and
    ``num_edges``, so graphs of one padded size share a compilation and stack into a batch for ``jax.vmap``.
    An undirected edge takes two slots (u in v's row and v in u's), a directed arc one. Rows are sorted and
    hold no duplicates and no self loops. Padding nodes have empty rows; padding slots hold the target ``N``.

    Build one with :meth:`from_edges`, :meth:`from_scipy`, :meth:`from_networkx` or
    :func:`jaxmotif.read_graph`, never by hand.

    Attributes:
      out_offsets: int32 ``[N + 1]``, row starts.
      out_targets: int32 ``[S]``, neighbours (directed: successors), ascending in each row.
      in_offsets, in_targets: the same for predecessors; ``None`` for undirected graphs.
      in_slots: int32 ``[S]``, the out slot of each in slot; ``None`` for undirected graphs.
      bi_offsets, bi_targets: reciprocated neighbours (arcs both ways); ``None`` for undirected graphs.
      node_labels: int32 ``[N]`` or ``None``.
      edge_labels: int32 ``[S]``, one per out slot, or ``None``.
      num_nodes, num_edges: int32 scalars; an undirected edge counts once.
      directed: static.
      report: what building dropped (host only: lost when the graph passes through a transformation).
      node_names: original node names, ``[n]``, when they are not 0..n-1 (host only, likewise).
    """

    out_offsets: Any
    out_targets: Any
    in_offsets: Any
    in_targets: Any
    in_slots: Any
    bi_offsets: Any
    bi_targets: Any
    node_labels: Any
    edge_labels: Any
    num_nodes: Any
    num_edges: Any
    directed: bool
    report: Any = dataclasses.field(init=False, default=None, repr=False)
    node_names: np.ndarray | None = dataclasses.field(init=False, default=None, repr=False)
