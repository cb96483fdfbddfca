"""The graph container every job works on."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import jax
import numpy as np
from jax.core import Tracer

if TYPE_CHECKING:
    from jaxmotif.graph.build import BuildReport, Pad

DATA_FIELDS = (
    "out_offsets", "out_targets", "in_offsets", "in_targets", "in_slots", "bi_offsets", "bi_targets",
    "node_labels", "edge_labels", "num_nodes", "num_edges",
)  # fmt: skip


@partial(jax.tree_util.register_dataclass, data_fields=DATA_FIELDS, meta_fields=("directed",))
@dataclasses.dataclass(frozen=True, eq=False)
class Graph:
    """A simple graph in compressed sparse rows, as a pytree of padded int32 arrays.

    ``N`` is the node capacity, ``S`` the slot capacity; the true sizes are the scalars ``num_nodes`` and
    ``num_edges``, so graphs of one padded size share a compilation and stack into a batch for ``jax.vmap``.
    An undirected edge takes two slots (u in v's row and v in u's), a directed arc one. Rows are sorted and
    hold no duplicates and no self loops. Padding nodes have empty rows; padding slots hold the target ``N``
    (``in_slots``: ``S``); padding labels are -1. Both capacities are at least 1, so a gather always has
    something to read.

    Build one with :meth:`from_edges`, :meth:`from_scipy`, :meth:`from_networkx` or
    :func:`jaxmotif.read_graph`, never by hand.

    Attributes:
      out_offsets: int32 ``[N + 1]``, row starts.
      out_targets: int32 ``[S]``, neighbours (directed: successors), ascending in each row.
      in_offsets, in_targets: the same for predecessors; ``None`` for undirected graphs.
      in_slots: int32 ``[S]``, the out slot of each in slot; ``None`` for undirected graphs.
      bi_offsets, bi_targets: int32 ``[N + 1]`` and ``[S]``, reciprocated neighbours (arcs both ways); ``None`` for
        undirected graphs.
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
    report: BuildReport | None = dataclasses.field(init=False, default=None, repr=False)
    node_names: np.ndarray | None = dataclasses.field(init=False, default=None, repr=False)

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        num_nodes: int | None = None,
        directed: bool = False,
        node_labels: Any = None,
        edge_labels: Any = None,
        *,
        self_loops: Literal["drop", "error"] = "drop",
        duplicates: Literal["drop", "error"] = "drop",
        reverse: Literal["merge", "error"] = "merge",
        isolated: Literal["keep", "drop"] = "keep",
        node_names: Sequence[Any] | np.ndarray | None = None,
        pad: Pad = None,
        device: Any = None,
    ) -> Graph:
        """Build a simple graph from an array of edges.

        Args:
          edges: integers ``[E, 2]``, one edge (directed: arc, source first) a row; any array or sequence.
          num_nodes: how many nodes there are; one more than the largest id when not given (or as many as
            there are ``node_labels`` or ``node_names``).
          directed: whether a row is an arc.
          node_labels: int32 values ``[num_nodes]``.
          edge_labels: int32 values ``[E]``, one a row. Rows of one edge must agree.
          self_loops: rows ``u u``: left out, or an error.
          duplicates: the same row again: left out, or an error.
          reverse: undirected edges given both as ``u v`` and as ``v u``: one edge, or an error.
          isolated: nodes without an edge (a self loop is none). ``"keep"``: ids are the indices
            0..num_nodes-1. ``"drop"``: the remaining nodes are renumbered in ascending order, their ids are
            ``node_names``, and ids may be as large as int64.
          node_names: names of the ids 0..num_nodes-1, kept for outputs.
          pad: ``None`` for the exact sizes, ``"bucket"`` for the next :func:`bucket_size`, or ``(N, S)``.
          device: device or sharding of the arrays; JAX's default device when not given.

        Returns:
          The graph; ``graph.report`` counts what was left out.

        Raises:
          TypeError: edges or labels that are not integers.
          ValueError: a wrong shape, an id out of range, labels in conflict, anything set to ``"error"``, or
            sizes over the int32 limits or the given capacities.

        Example:
          >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (1, 0), (3, 3)])
          >>> graph
          Graph(undirected, 4 nodes, 3 edges)
          >>> graph.edge_list().tolist()
          [[0, 1], [0, 2], [1, 2]]
          >>> str(graph.report)
          '4 nodes, 3 edges from 5 rows; left out 1 self loop, 1 reverse duplicate'
        """
        from jaxmotif.graph.build import build_graph

        return build_graph(
            edges, num_nodes, directed, node_labels, edge_labels, self_loops=self_loops, duplicates=duplicates,
            reverse=reverse, isolated=isolated, node_names=node_names, pad=pad, device=device,
        )  # fmt: skip

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        directed: bool = False,
        node_labels: Any = None,
        values_as_labels: bool = False,
        **options: Any,
    ) -> Graph:
        """Build a graph from a scipy.sparse adjacency matrix.

        Every stored entry ``(u, v)`` is an edge row, explicit zeros too. An undirected graph takes both triangles:
        an entry and its mirror image are one edge.

        Args:
          matrix: any scipy.sparse format, ``[n, n]``.
          directed: whether an entry is an arc from its row to its column.
          node_labels: int32 values ``[n]``.
          values_as_labels: make the values, which must be whole numbers, edge labels.
          **options: the keyword options of :meth:`from_edges`.

        Raises:
          TypeError: not a sparse matrix.
          ValueError: not square, values that cannot be labels, or as :meth:`from_edges`.

        Example:
          >>> import scipy.sparse
          >>> matrix = scipy.sparse.coo_array([[0, 7, 0], [7, 0, 5], [0, 5, 0]])
          >>> graph = Graph.from_scipy(matrix, values_as_labels=True)
          >>> graph, graph.edge_labels.tolist()
          (Graph(undirected, 3 nodes, 2 edges), [7, 7, 5, 5])
        """
        from jaxmotif.graph.convert import from_scipy

        return from_scipy(matrix, directed, node_labels, values_as_labels, **options)

    @classmethod
    def from_networkx(
        cls, source: Any, node_label: str | None = None, edge_label: str | None = None, **options: Any
    ) -> Graph:
        """Build a graph from a networkx graph, directed if that is.

        Node ``i`` is the i-th of ``source.nodes``; ``node_names`` holds these unless they are 0..n-1 in order.

        Args:
          source: any networkx graph. Parallel edges of a multigraph are duplicates.
          node_label, edge_label: attributes, present on all nodes or edges, whose integers become labels.
          **options: the keyword options of :meth:`from_edges` but ``node_names``.

        Raises:
          TypeError, ValueError: a missing attribute, or as :meth:`from_edges`.

        Example:
          >>> import networkx as nx
          >>> graph = Graph.from_networkx(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")]))
          >>> graph, graph.node_names.tolist()
          (Graph(directed, 3 nodes, 3 edges), ['a', 'b', 'c'])
        """
        from jaxmotif.graph.convert import from_networkx

        return from_networkx(source, node_label, edge_label, **options)

    @cached_property
    def n(self) -> int:
        """The number of nodes (host)."""
        return _host_scalar(self.num_nodes)

    @cached_property
    def m(self) -> int:
        """The number of edges (directed: arcs); an undirected edge counts once (host)."""
        return _host_scalar(self.num_edges)

    @property
    def num_slots(self) -> int:
        """The number of slots in use (host)."""
        return self.m if self.directed else 2 * self.m

    @property
    def node_capacity(self) -> int:
        """``N``, static: known inside transformations too."""
        return self.out_offsets.shape[-1] - 1

    @property
    def slot_capacity(self) -> int:
        """``S``, static: known inside transformations too."""
        return self.out_targets.shape[-1]

    @property
    def degrees(self) -> np.ndarray:
        """Degrees, directed: out-degrees, int64 ``[n]`` (host)."""
        return np.diff(np.asarray(self.out_offsets)[: self.n + 1]).astype(np.int64)

    @property
    def in_degrees(self) -> np.ndarray:
        """In-degrees (undirected: degrees), int64 ``[n]`` (host)."""
        offsets = self.in_offsets if self.directed else self.out_offsets
        return np.diff(np.asarray(offsets)[: self.n + 1]).astype(np.int64)

    def edge_list(self) -> np.ndarray:
        """The edges in the row order of all per-edge results (host).

        Returns:
          int64 ``[m, 2]`` in ascending (lexicographic) order of rows; undirected edges as ``u < v``.

        Example:
          >>> Graph.from_edges([(2, 1), (0, 2)], directed=True).edge_list().tolist()
          [[0, 2], [2, 1]]
        """
        sources = np.repeat(np.arange(self.n, dtype=np.int32), self.degrees)
        targets = np.asarray(self.out_targets)[: sources.shape[0]]
        if not self.directed:
            keep = self.edge_slots()
            sources, targets = sources[keep], targets[keep]
        edges = np.empty((sources.shape[0], 2), np.int64)
        edges[:, 0], edges[:, 1] = sources, targets
        return edges

    def edge_slots(self) -> np.ndarray:
        """The out slot of each row of :meth:`edge_list` (undirected: the one in u's row), int64 ``[m]`` (host)."""
        if self.directed:
            return np.arange(self.m, dtype=np.int64)
        sources = np.repeat(np.arange(self.n, dtype=np.int32), self.degrees)
        return np.flatnonzero(sources < np.asarray(self.out_targets)[: sources.shape[0]])

    def to_device(self, device: Any) -> Graph:
        """The same graph with its arrays on a device (or laid out by a sharding)."""
        return _with_host_fields(jax.device_put(self, device), self)

    def with_padding(self, pad: Pad) -> Graph:
        """The same graph at other capacities.

        Args:
          pad: as in :meth:`from_edges`.

        Raises:
          ValueError: capacities below the true sizes.

        Example:
          >>> graph = Graph.from_edges([(0, 1), (1, 2)]).with_padding("bucket")
          >>> graph.n, graph.node_capacity, graph.m, graph.slot_capacity
          (3, 16, 2, 16)
        """
        from jaxmotif.graph.build import capacities, pad_fields

        N, S = capacities(pad, self.n, self.num_slots)
        if (self.node_capacity, self.slot_capacity) == (N, S):
            return self
        fields = {name: getattr(self, name) for name in DATA_FIELDS}
        padded = Graph(**pad_fields(fields, self.n, self.num_slots, N, S), directed=self.directed)
        return _with_host_fields(jax.device_put(padded, self.out_offsets.sharding), self)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        if not isinstance(self.out_targets, jax.Array | np.ndarray):  # a tree of specifications, not a graph
            return f"Graph({kind}, {', '.join(f'{name}={getattr(self, name)!r}' for name in DATA_FIELDS)})"
        if isinstance(self.num_nodes, Tracer) or np.ndim(self.num_nodes) != 0:
            batch = "".join(f"{size} x " for size in np.shape(self.num_nodes))
            return f"Graph({kind}, {batch}capacity {self.node_capacity} nodes, {self.slot_capacity} slots)"
        return f"Graph({kind}, {counted(self.n, 'node')}, {counted(self.m, 'edge')})"


def counted(number: int, thing: str) -> str:
    """``"1 node"``, ``"2 nodes"``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _host_scalar(value: Any) -> int:
    if np.ndim(value) != 0:
        raise ValueError(f"a batch of {np.shape(value)[0]} graphs has no single size; take it apart with unstack()")
    return int(value)


def _with_host_fields(graph: Graph, source: Graph) -> Graph:
    object.__setattr__(graph, "report", source.report)
    object.__setattr__(graph, "node_names", source.node_names)
    return graph
