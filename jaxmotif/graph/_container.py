"""The graph container every job works on."""

from __future__ import annotations

import dataclasses
import html
import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import jax
import numpy as np
from jax.core import Tracer
from numpy.typing import ArrayLike

from jaxmotif.arrays._checks import check_switch, whole_number
from jaxmotif.arrays._extras import load_extra
from jaxmotif.arrays._fork import using_jax
from jaxmotif.arrays._present import counted
from jaxmotif.graph import _convert as convert
from jaxmotif.graph import _saved as saved
from jaxmotif.graph._attributes import Attributes, as_columns, pair_keys
from jaxmotif.graph._build import as_labels, build, host_array, refuse_traced
from jaxmotif.graph._build_device import traced_fields
from jaxmotif.graph._fields import Array, BuildReport, EdgesLike, Fields, Pad, Placement, capacities, pad_fields
from jaxmotif.graph._lent import borrow

if TYPE_CHECKING:
    import networkx
    import scipy.sparse
    from matplotlib.axes import Axes

    from jaxmotif.graph._attributes import Columns


_HOST_FIELDS = ("report", "node_names", "node_label_names", "edge_label_names", "attributes")


@partial(jax.tree_util.register_dataclass, data_fields=Fields._fields, meta_fields=("directed",))
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
      in_offsets: int32 ``[N + 1]``, row starts of predecessors; ``None`` for undirected graphs.
      in_targets: int32 ``[S]``, predecessors, ascending in each row; ``None`` for undirected graphs.
      in_slots: int32 ``[S]``, the out slot of each in slot; ``None`` for undirected graphs.
      node_labels: int32 ``[N]`` or ``None``.
      edge_labels: int32 ``[S]``, one per out slot, or ``None``.
      num_nodes: int32 scalar, the number of nodes.
      num_edges: int32 scalar, the number of edges; an undirected edge counts once.
      directed: whether edges are arcs; static.
      report: what building dropped (host only: lost when the graph passes through a transformation).
      node_names: original node names, ``[n]``, when they are not 0..n-1 (host only, likewise).
      node_label_names, edge_label_names: the words that labels stand for, where a file's are words (host only,
        likewise).
      attributes: columns of values of nodes and edges, for queries to ask about (host only, likewise).
    """

    out_offsets: Any
    out_targets: Any
    in_offsets: Any
    in_targets: Any
    in_slots: Any
    node_labels: Any
    edge_labels: Any
    num_nodes: Any
    num_edges: Any
    directed: bool
    report: BuildReport | None = dataclasses.field(init=False, default=None, repr=False)
    node_names: np.ndarray | None = dataclasses.field(init=False, default=None, repr=False)
    node_label_names: Mapping[int, str] | None = dataclasses.field(init=False, default=None, repr=False)
    edge_label_names: Mapping[int, str] | None = dataclasses.field(init=False, default=None, repr=False)
    attributes: Attributes | None = dataclasses.field(init=False, default=None, repr=False)
    _last_padded: Graph | None = dataclasses.field(init=False, default=None, repr=False)

    @classmethod
    def from_edges(
        cls,
        edges: EdgesLike,
        num_nodes: int | None = None,
        directed: bool = False,
        node_labels: ArrayLike | None = None,
        edge_labels: ArrayLike | None = None,
        *,
        self_loops: Literal["drop", "error"] = "drop",
        duplicates: Literal["drop", "error"] = "drop",
        reverse: Literal["merge", "error"] = "merge",
        isolated: Literal["keep", "drop"] = "keep",
        node_names: Sequence[Hashable] | np.ndarray | None = None,
        pad: Pad = "bucket",
        device: Placement = None,
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
          isolated: nodes without an edge (self loops do not count as edges). ``"keep"``: ids are the indices
            0..num_nodes-1. ``"drop"``: the remaining nodes are renumbered in ascending order, their ids become
            ``node_names``, and ids may be as large as int64.
          node_names: names of the ids 0..num_nodes-1, kept for outputs.
          pad: capacities: ``"bucket"`` for the next :func:`jaxmotif.graph.bucket_size`, so that graphs of about one
            size share what was compiled; ``None`` for the exact sizes; or ``(N, S)``.
          device: device or sharding of the arrays; JAX's default device when not given.

        Returns:
          The graph; ``graph.report`` counts what was left out.

        Raises:
          TypeError: edges or labels that are not integers.
          ValueError: a wrong shape, an id out of range, labels in conflict, anything set to ``"error"``, or
            sizes over the int32 limits or the given capacities.
          RuntimeError: in a process forked from one that had used JAX, where JAX would wait for ever: use the start
            method ``"spawn"`` or ``"forkserver"``, or fork before the first graph is made.

        Example:
          >>> graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (1, 0), (3, 3)])
          >>> graph
          Graph(undirected, 4 nodes, 3 edges)
          >>> graph.edge_list().tolist()
          [[0, 1], [0, 2], [1, 2]]
          >>> str(graph.report)
          '4 nodes, 3 edges from 5 rows; left out 1 self loop, 1 reverse duplicate'
        """
        using_jax()
        check_switch(directed, "directed")
        choices = {"self_loops": self_loops, "duplicates": duplicates, "reverse": reverse, "isolated": isolated}
        labels = node_labels, edge_labels
        fields, report, names = build(edges, num_nodes, directed, *labels, choices, node_names, pad, device)
        graph = jax.device_put(cls(*fields, directed=bool(directed)), device)
        return graph._with_host_fields(report, names)

    @classmethod
    def from_edge_index(
        cls,
        edge_index: ArrayLike,
        num_nodes: int,
        directed: bool = False,
        node_labels: ArrayLike | None = None,
        edge_labels: ArrayLike | None = None,
    ) -> Graph:
        """Build a graph from arrays that may be traced: pure, for use inside ``jax.jit`` and ``jax.vmap``.

        Nothing is checked but shapes, and nothing is named; :meth:`from_edges` checks.

        Args:
          edge_index: integers ``[2, E]``, as PyTorch Geometric and jraph (senders, receivers) have them. Self loops
            and repeated edges are left out, and so are columns with an id outside 0..num_nodes-1, which are padding.
          num_nodes: static; also the capacity.
          directed: static, whether a column is an arc; else edges may be given one way or both.
          node_labels: int32 values ``[num_nodes]``.
          edge_labels: int32 values ``[E]``; columns of one edge are taken to agree.

        Returns:
          A graph of capacities ``num_nodes`` and E slots (2 E where not directed).

        Raises:
          TypeError, ValueError: arrays of another shape or kind, when traced; labels of NumPy or in lists that do not
            fit int32, or of JAX in a type that may not.

        Example:
          >>> @jax.jit
          ... def triangles(senders, receivers):
          ...     graph = Graph.from_edge_index(jax.numpy.stack([senders, receivers]), num_nodes=4)
          ...     return jaxmotif.graphlets.dense_graphlet_counts(graph).astype("float32")[2]
          >>> import jaxmotif.graphlets
          >>> triangles(jax.numpy.array([0, 1, 2, 2]), jax.numpy.array([1, 2, 0, 3]))
          Array(1., dtype=float32)
        """
        check_switch(directed, "directed")
        if not isinstance(edge_index, jax.Array):
            edge_index = host_array(edge_index, "edge_index")
            edge_index = edge_index if edge_index.size else edge_index.astype(np.int32)
        if edge_index.ndim != 2 or edge_index.shape[0] != 2:
            raise ValueError(f"edge_index must have shape (2, E), got {edge_index.shape}; from_edges takes rows")
        num_nodes = whole_number(num_nodes, "num_nodes", least=0)
        capacities(None, num_nodes, 0)
        if not jax.numpy.issubdtype(edge_index.dtype, np.integer):
            raise TypeError(f"edge_index must hold integers, got {edge_index.dtype}")
        E = edge_index.shape[1]
        labels = None if edge_labels is None else as_labels(edge_labels, "edge_labels", E, traced=True)
        fields = traced_fields(edge_index, labels, num_nodes, bool(directed))
        if node_labels is not None:
            at_nodes = jax.numpy.asarray(as_labels(node_labels, "node_labels", num_nodes, traced=True))
            fields = fields._replace(node_labels=at_nodes if num_nodes else np.full(1, -1, np.int32))
        return cls(*fields, directed=bool(directed))

    @classmethod
    def from_scipy(
        cls,
        matrix: scipy.sparse.sparray | scipy.sparse.spmatrix,
        directed: bool = False,
        node_labels: ArrayLike | None = None,
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
          >>> graph, graph.edge_labels[:4].tolist()
          (Graph(undirected, 3 nodes, 2 edges), [7, 7, 5, 5])
        """
        arguments = convert.scipy_edges(matrix, values_as_labels)
        return cls.from_edges(**arguments, directed=directed, node_labels=node_labels, **options)

    @classmethod
    def from_networkx(
        cls,
        source: networkx.Graph,
        node_label: str | None = None,
        edge_label: str | None = None,
        *,
        attributes: bool = False,
        **options: Any,
    ) -> Graph:
        """Build a graph from a networkx graph, directed if that is.

        Node ``i`` is the i-th of ``source.nodes``; ``node_names`` holds these unless they are 0..n-1 in order.

        Args:
          source: any networkx graph. Parallel edges of a multigraph are duplicates.
          node_label, edge_label: attributes, present on all nodes or edges, whose integers become labels.
          attributes: keep all attributes beside the graph, for queries to ask about.
          **options: the keyword options of :meth:`from_edges` but ``node_names``.

        Raises:
          TypeError, ValueError: a missing attribute, or as :meth:`from_edges`.

        Example:
          >>> import networkx as nx
          >>> graph = Graph.from_networkx(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")]))
          >>> graph, graph.node_names.tolist()
          (Graph(directed, 3 nodes, 3 edges), ['a', 'b', 'c'])
        """
        arguments = convert.networkx_edges(source, node_label, edge_label)
        graph = cls.from_edges(**arguments, **options)
        if attributes:
            if graph.n != arguments["num_nodes"]:
                raise ValueError('attributes=True keeps those of all nodes; leave out isolated="drop"')
            ends = np.array(arguments["edges"], np.int64).reshape(-1, 2)
            return graph._with_attributes(Attributes.of_rows(graph, *convert.networkx_attributes(source), ends))
        return graph

    def with_attributes(self, nodes: Columns | None = None, edges: Columns | None = None) -> Graph:
        """Return the same graph with columns of values beside it, for queries to ask about (host).

        Args:
          nodes: columns ``[n]`` by name: a mapping to arrays or sequences, or a pandas table. Values are taken by their
            places; the index of a table or a series is not looked at.
          edges: columns ``[m]`` by name, in the order of :meth:`edge_list`.

        Raises:
          TypeError: no columns by name, or a column that has no order, such as a dictionary from nodes to values.
          ValueError: a column of another length.

        Example:
          >>> graph = Graph.from_edges([(0, 1), (1, 2)]).with_attributes({"kind": ["KC", "KC", "MBON"]})
          >>> graph.attributes.nodes["kind"].tolist()
          ['KC', 'KC', 'MBON']
        """
        columns = as_columns(nodes, "nodes", self.n), as_columns(edges, "edges", self.m)
        graph = Graph(*self.fields, directed=self.directed)._with_host_fields(*self._host_fields())
        return graph._with_attributes(Attributes(*columns))

    def _with_attributes(self, attributes: Attributes | None) -> Graph:
        object.__setattr__(self, "attributes", attributes)
        return self

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
        n = self.n
        return np.diff(np.asarray(self.out_offsets)[: n + 1]).astype(np.int64)

    @property
    def in_degrees(self) -> np.ndarray:
        """In-degrees (undirected: degrees), int64 ``[n]`` (host)."""
        offsets, n = self.in_offsets if self.directed else self.out_offsets, self.n
        return np.diff(np.asarray(offsets)[: n + 1]).astype(np.int64)

    def edge_list(self) -> np.ndarray:
        """Return the edges in the row order of all per-edge results (host).

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
        """Return the out slot of each row of :meth:`edge_list`, int64 ``[m]`` (host).

        An undirected edge has two slots; the one in the row of its lower end is returned.
        """
        if self.directed:
            return np.arange(self.m, dtype=np.int64)
        sources = np.repeat(np.arange(self.n, dtype=np.int32), self.degrees)
        return np.flatnonzero(sources < np.asarray(self.out_targets)[: sources.shape[0]])

    @cached_property
    def slot_edges(self) -> np.ndarray:
        """The row of :meth:`edge_list` of each out slot in use, int64 ``[num_slots]`` (host)."""
        if self.directed:
            return np.arange(self.m, dtype=np.int64)
        ends = np.stack([np.repeat(np.arange(self.n), self.degrees), np.asarray(self.out_targets)[: self.num_slots]], 1)
        return self._edge_rows(ends)

    @cached_property
    def _edge_keys(self) -> np.ndarray:
        """A number for each row of :meth:`edge_list`, ascending, and one that no pair of nodes has (host)."""
        return np.append(pair_keys(self.edge_list(), self), np.iinfo(np.int64).max)

    def _edge_rows(self, ends: np.ndarray) -> np.ndarray:
        """Return the row of :meth:`edge_list` for each pair of nodes ``[M, 2]``, -1 where no edge joins them (host)."""
        keys = pair_keys(ends, self)
        row = np.searchsorted(self._edge_keys, keys)
        return np.where(self._edge_keys[row] == keys, row, -1)

    def to_networkx(self) -> networkx.Graph:
        """Return a networkx graph (a DiGraph if directed) whose nodes are the names, or 0..n-1 (host).

        Labels, in words where they have some, become the attribute ``label`` of nodes and edges, and another attribute
        of this name ``node_label`` or ``edge_label``; missing values are left out. It is a multigraph where parallel
        edges have attributes of their own. Needs the extra ``io``.

        Example:
          >>> graph = Graph.from_edges([(0, 1)], node_names=["a", "b"], edge_labels=[7])
          >>> graph.to_networkx().edges(data=True)
          EdgeDataView([('a', 'b', {'label': 7})])
        """
        return convert.to_networkx(self)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the adjacency matrix ``[n, n]`` (host): edge labels where there are any, else int32 ones.

        An undirected edge is two entries. Needs the extra ``io``.

        Example:
          >>> Graph.from_edges([(0, 1), (1, 2)]).to_scipy().toarray().tolist()
          [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
        """
        n, slots = self.n, self.num_slots
        data = np.ones(slots, np.int32) if self.edge_labels is None else np.asarray(self.edge_labels)[:slots]
        rows = data, np.asarray(self.out_targets)[:slots], np.asarray(self.out_offsets)[: n + 1]
        return load_extra("scipy.sparse", "this needs").csr_array(rows, shape=(n, n))

    def plot(self, ax: Axes | None = None, highlight: Collection[Hashable] = ()) -> Axes:
        """Draw the graph with matplotlib, placed by springs, if it has at most 2000 nodes (extra ``plot``).

        Args:
          ax: axes to draw on; new ones when not given.
          highlight: nodes, by name, that stand out with the edges between them: an occurrence of a motif.

        Raises:
          ValueError: too many nodes, or a name that no node has.
        """
        from jaxmotif.graph._plot import plot_graph

        return plot_graph(self, ax, highlight)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph with its labels and names to a file of NumPy's npz format; whole, or not at all.

        Raises:
          ValueError: the graph has attributes, which this format does not keep.
          TypeError: a node name that is neither a word, a number nor a tuple of these.
          OSError: the file cannot be written.

        Example:
          >>> import tempfile, os
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     Graph.from_edges([(0, 1), (1, 2)]).save(os.path.join(folder, "path.npz"))
          ...     Graph.load(os.path.join(folder, "path.npz"))
          Graph(undirected, 3 nodes, 2 edges)
        """
        if self.attributes is not None and (self.attributes.nodes or self.attributes.edges):
            raise ValueError(
                "save keeps labels and names, no attributes; graph.with_attributes() is the same graph without them"
            )
        saved.write(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, pad: Pad = "bucket", device: Placement = None) -> Graph:
        """Read a graph that :meth:`save` wrote.

        Args:
          path: the file.
          pad, device: as in :meth:`from_edges`.

        Raises:
          GraphFileError: (a ValueError) the file is something else, or damaged.
          OSError: the file cannot be opened.
        """
        strict = {"isolated": "keep", "self_loops": "error", "duplicates": "error"}
        return borrow("read_graph")(path, format="npz", **strict, pad=pad, device=device)

    @property
    def _names(self) -> np.ndarray:
        """The names of the nodes, their numbers where they have none, ``[n]``."""
        return np.arange(self.n) if self.node_names is None else self.node_names

    @property
    def _label_words(self) -> tuple[Mapping[int, str] | None, Mapping[int, str] | None]:
        """The words of the labels of nodes, and of edges."""
        return self.node_label_names, self.edge_label_names

    def _labels(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the labels of the nodes ``[n]``, and of the rows of the edge list ``[m]``."""
        nodes = None if self.node_labels is None else np.asarray(self.node_labels)[: self.n]
        return nodes, None if self.edge_labels is None else np.asarray(self.edge_labels)[self.edge_slots()]

    def to_device(self, device: Placement) -> Graph:
        """Return the same graph with its arrays on a device (or laid out by a sharding)."""
        return jax.device_put(self, device)._with_host_fields(*self._host_fields())

    def with_padding(self, pad: Pad) -> Graph:
        """Return the same graph at other capacities.

        Args:
          pad: as in :meth:`from_edges`.

        Raises:
          ValueError: capacities below the true sizes.

        Example:
          >>> graph = Graph.from_edges([(0, 1), (1, 2)])
          >>> exact = graph.with_padding(None)
          >>> graph.node_capacity, graph.slot_capacity, exact.node_capacity, exact.slot_capacity
          (16, 16, 3, 4)
        """
        N, S = capacities(pad, self.n, self.num_slots)
        if (self.node_capacity, self.slot_capacity) == (N, S):
            return self
        last = self._last_padded
        if last is None or (last.node_capacity, last.slot_capacity) != (N, S):
            padded = Graph(*pad_fields(self.fields, self.n, self.num_slots, N, S), directed=self.directed)
            if isinstance(self.out_offsets, jax.Array):  # a union of graphs has NumPy arrays
                padded = jax.device_put(padded, self.out_offsets.sharding)
            last = padded._with_host_fields(*self._host_fields())
            # The padded graph is kept, since a graph is often counted several times. The dataclass is frozen for users.
            object.__setattr__(self, "_last_padded", last)
        return last

    @property
    def fields(self) -> Fields:
        """The arrays alone."""
        return Fields(*(getattr(self, name) for name in Fields._fields))

    def _host_fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in _HOST_FIELDS)

    def _with_host_fields(self, *values: Any) -> Graph:
        """Give a graph that was just made its host fields, in the order of their names."""
        # The dataclass is frozen for users. Host fields are no pytree data: a transformation makes graphs without them.
        for name, value in zip(_HOST_FIELDS, values, strict=False):
            object.__setattr__(self, name, value)
        return self

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        if not isinstance(self.out_targets, jax.Array | np.ndarray):  # a tree of specifications, not a graph
            return f"Graph({kind}, {', '.join(f'{name}={value!r}' for name, value in self.fields._asdict().items())})"
        if isinstance(self.num_nodes, Tracer) or np.ndim(self.num_nodes) != 0:
            batch = "".join(f"{size} x " for size in np.shape(self.num_nodes))
            return f"Graph({kind}, {batch}capacity {self.node_capacity} nodes, {self.slot_capacity} slots)"
        return f"Graph({kind}, {counted(self.n, 'node')}, {counted(self.m, 'edge')})"

    def _repr_html_(self) -> str:
        """Return the graph as a notebook shows it."""
        one = isinstance(self.num_nodes, jax.Array | np.generic | np.ndarray) and np.ndim(self.num_nodes) == 0
        if not one or isinstance(self.num_nodes, Tracer):
            return f"<code>{html.escape(repr(self))}</code>"
        rows = {"nodes": f"{self.n:,}", "arcs" if self.directed else "edges": f"{self.m:,}"}
        rows["largest degree"] = f"{int(max(self.degrees + self.directed * self.in_degrees, default=0)):,}"
        for kind, labels in zip(("node", "edge"), self._labels(), strict=True):
            if labels is not None:
                rows[f"{kind} labels"] = f"{np.unique(labels).size:,} different"
        if self.node_names is not None:
            rows["names"] = ", ".join(map(str, self.node_names[:3].tolist())) + (", ..." if self.n > 3 else "")
        if self.report is not None:
            rows["report"] = str(self.report)
        cells = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows.items())
        return f"<table><caption>{'Directed' if self.directed else 'Undirected'} graph</caption>{cells}</table>"


def refuse_large(graph: Graph, most: int, what: str, instead: str) -> None:
    """Raise an error where a pure function for one small graph is given a batch, or room for too many nodes.

    Args:
      graph: one graph.
      most: the node capacity up to which the function takes graphs.
      what: the name of the function, for the message.
      instead: what to call instead, for the message.
    """
    if graph.out_offsets.ndim != 1:
        raise ValueError(f"got a batch of graphs (offsets {graph.out_offsets.shape}); map over it with jax.vmap")
    if graph.node_capacity > most:
        raise ValueError(
            f"{what} takes graphs of up to {most} nodes, got room for {graph.node_capacity}; use {instead}"
        )


def _host_scalar(value: Array | np.integer) -> int:
    refuse_traced(value)
    if np.ndim(value) != 0:
        raise ValueError(f"a batch of {np.shape(value)[0]} graphs has no single size; take it apart with unstack()")
    return int(value)
