"""Data sets of many graphs: kept as one disjoint union, which is stacked for ``jax.vmap`` or joined to one graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

import jax
import numpy as np
from numpy.typing import ArrayLike

from jaxmotif.arrays._checks import check_switch, whole_number, whole_numbers
from jaxmotif.arrays._present import counted
from jaxmotif.arrays._rows import offsets_from, places_of
from jaxmotif.graph._build import LabelConflict, as_labels, build, edge_array, host_array
from jaxmotif.graph._container import Graph
from jaxmotif.graph._fields import LAYOUT, Array, Fields, OptionalArray, Pad, Placement, capacities, pad_fields
from jaxmotif.graph._words import check_words

Labels: TypeAlias = Array | Sequence[int]
Used: TypeAlias = Callable[[str, np.ndarray], OptionalArray]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Graphs:
    """A data set of graphs, kept side by side in host memory; it is a sequence of graphs.

    All functions that take a list of graphs also take this. Building it takes no Python loop over the graphs: all edges
    are sorted at once. :meth:`stack` and :meth:`union` make graphs that go to a device.

    Attributes:
      fields: the arrays of the disjoint union, without padding.
      directed: whether the graphs are.
      node_starts: int64 ``[B + 1]``, the first node of each graph in the union (PyTorch Geometric's ``ptr``).
      given: the graphs that it was made of, if it was made of graphs and not of edges.

    Example:
      >>> graphs = Graphs.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
      >>> len(graphs), graphs[1], graphs.n.tolist(), graphs.m.tolist()
      (2, Graph(undirected, 3 nodes, 2 edges), [2, 3], [1, 2])
      >>> graphs.stack()
      Graph(undirected, 2 x capacity 16 nodes, 16 slots)
    """

    fields: Fields
    directed: bool
    node_starts: np.ndarray
    given: Sequence[Graph] | None = None

    @classmethod
    def from_edges(
        cls,
        edges: Sequence[ArrayLike],
        num_nodes: ArrayLike | None = None,
        directed: bool = False,
        node_labels: Sequence[Labels] | None = None,
        edge_labels: Sequence[Labels] | None = None,
    ) -> Graphs:
        """Build a data set from an array of edges for each graph.

        Args:
          edges: for each graph integers ``[E, 2]``: NumPy, JAX, anything with dlpack (PyTorch), or pairs. Self loops
            and repeated edges are left out, as by :meth:`Graph.from_edges`.
          num_nodes: for each graph; one more than its largest id when not given.
          directed: whether a row is an arc.
          node_labels: for each graph int32 values ``[n]``.
          edge_labels: for each graph int32 values ``[E]``.

        Raises:
          TypeError, ValueError: as :meth:`Graph.from_edges`, naming the graph.
        """
        arrays: list[np.ndarray] = []
        for i, one in enumerate(edges):
            name = f"graphs[{i}]: edges"
            arrays.append(whole_numbers(edge_array(one, name), name))
        lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
        rows = np.concatenate(arrays) if arrays else np.zeros((0, 2), np.int64)
        owner = np.repeat(np.arange(len(arrays)), lengths)
        if rows.size and rows.min() < 0:
            i = int(owner[np.argmax((rows < 0).any(axis=1))])
            raise ValueError(f"graphs[{i}] has the node id {rows.min()}; ids are 0, 1, 2, ..")
        largest = np.full(len(arrays), -1, np.int64)
        if rows.size:
            begins = np.cumsum(lengths) - lengths
            largest[lengths > 0] = np.maximum.reduceat(np.maximum(*rows.T), begins[lengths > 0])
        if num_nodes is None and node_labels is not None:
            node_labels = [as_labels(one, f"graphs[{i}]: node_labels", None) for i, one in enumerate(node_labels)]
            num_nodes = [len(labels) for labels in node_labels]
        n = largest + 1 if num_nodes is None else whole_numbers(host_array(num_nodes, "num_nodes"), "num_nodes")
        if n.shape != largest.shape:
            raise ValueError(f"num_nodes must have one entry for each of {len(arrays)} graphs, got shape {n.shape}")
        if (n <= largest).any():
            i = int(np.argmax(n <= largest))
            raise ValueError(
                f"graphs[{i}] has the node id {largest[i]}, which is not below its number of nodes, {n[i]}"
            )
        starts = offsets_from(n, np.int64)
        capacities(None, sum(n.tolist()), 0)  # which does not wrap
        labels = _joined(node_labels, "node_labels", n), _joined(edge_labels, "edge_labels", lengths)
        try:
            return cls._built(rows + starts[owner][:, None], starts, directed, *labels)
        except LabelConflict as error:
            i, shown = int(owner[error.rows[0]]), []
            for row, label in zip(error.rows, error.labels, strict=True):
                place = row - int(lengths[:i].sum())
                shown.append(f"{label} for edges[{place}] = {tuple(rows[row].tolist())}")
            raise ValueError(
                f"graphs[{i}]: edge_labels disagree on one edge: {', '.join(shown)}; give each edge one label"
            ) from None

    @classmethod
    def from_edge_index(
        cls,
        edge_index: ArrayLike,
        ptr: ArrayLike,
        directed: bool = False,
        node_labels: ArrayLike | None = None,
        edge_labels: ArrayLike | None = None,
    ) -> Graphs:
        """Build a data set from one array of edges for all graphs, as PyTorch Geometric holds a batch.

        Args:
          edge_index: integers ``[2, E]``, ends of edges as nodes of the union; any order, both ways or once.
          ptr: integers ``[B + 1]``, from 0: graph ``i`` has the nodes ``ptr[i] .. ptr[i + 1] - 1``.
          directed: whether a column is an arc.
          node_labels: int32 values ``[ptr[-1]]``.
          edge_labels: int32 values ``[E]``.

        Raises:
          TypeError, ValueError: as :meth:`Graph.from_edges`; an edge between two graphs.

        Example:
          >>> graphs = Graphs.from_edge_index([[0, 2, 3], [1, 3, 4]], [0, 2, 5])
          >>> [graph.edge_list().tolist() for graph in graphs]
          [[[0, 1]], [[0, 1], [1, 2]]]
        """
        starts, ends = whole_numbers(host_array(ptr, "ptr"), "ptr"), host_array(edge_index, "edge_index")
        if starts.ndim != 1 or starts.size == 0 or starts[0] != 0 or (np.diff(starts) < 0).any():
            raise ValueError(f"ptr must be [B + 1] numbers from 0 that do not fall, got {np.asarray(ptr)!r}")
        if ends.ndim != 2 or ends.shape[0] != 2:
            raise ValueError(f"edge_index must have shape (2, E), got {ends.shape}; Graphs.from_edges takes rows")
        if ends.size:
            graph = np.searchsorted(starts, ends, side="right") - 1
            apart = graph[0] != graph[1]
            if apart.any() and ends.min() >= 0 and ends.max() < starts[-1]:
                i = int(np.argmax(apart))
                raise ValueError(f"edge_index[:, {i}] = {ends[:, i].tolist()} joins two graphs, {graph[:, i].tolist()}")
        return cls._built(ends.T, starts, directed, node_labels, edge_labels)

    @classmethod
    def from_graphs(cls, graphs: Sequence[Graph] | Graph) -> Graphs:
        """Build a data set from graphs of one kind, or from a stack of them; their own padding is ignored.

        Raises:
          ValueError: no graphs, or graphs that differ in kind.
        """
        if isinstance(graphs, Graph):
            if np.ndim(graphs.num_nodes) != 1:
                raise ValueError(f"expected a batch of graphs with one leading axis, got {graphs!r}")
            batch: Fields = jax.device_get(graphs.fields)
            sizes, edges = np.asarray(batch.num_nodes, np.int64), np.asarray(batch.num_edges, np.int64)
            directed, given = graphs.directed, None

            def used(name: str, counts: np.ndarray) -> OptionalArray:
                array = getattr(batch, name)
                return None if array is None else array[np.arange(array.shape[1]) < counts[:, None]]
        else:
            several = _host_fields(graphs)
            check_words(graphs)
            sizes, edges = np.array([graph.n for graph in graphs]), np.array([graph.m for graph in graphs])
            directed, given = graphs[0].directed, tuple(graphs)

            def used(name: str, counts: np.ndarray) -> OptionalArray:
                arrays = [getattr(fields, name) for fields in several]
                if arrays[0] is None:
                    return None
                return np.concatenate([array[:count] for array, count in zip(arrays, counts.tolist(), strict=True)])

        slots = edges if directed else 2 * edges
        starts, first_slot = offsets_from(sizes, np.int64), offsets_from(slots, np.int64)
        capacities(None, int(starts[-1]), int(first_slot[-1]))
        arrays = _moved(used, sizes, slots, starts[:-1], first_slot[:-1])
        return cls(_union(arrays, int(starts[-1]), int(first_slot[-1]), directed), directed, starts, given)

    @classmethod
    def _built(
        cls,
        rows: np.ndarray,
        starts: np.ndarray,
        directed: bool,
        node_labels: ArrayLike | None,
        edge_labels: ArrayLike | None,
    ) -> Graphs:
        """Build a data set from rows of ends, the first node of each graph, and labels of nodes and of edges."""
        check_switch(directed, "directed")
        fields, *_ = build(rows, int(starts[-1]), directed, node_labels, edge_labels, pad=None, on_device=False)
        return cls(fields, bool(directed), starts)

    @cached_property
    def n(self) -> np.ndarray:
        """Nodes of each graph, int64 ``[B]``."""
        return np.diff(self.node_starts)

    @cached_property
    def m(self) -> np.ndarray:
        """Edges (directed: arcs) of each graph, int64 ``[B]``."""
        return self._edges(self.slots)

    @cached_property
    def slot_starts(self) -> np.ndarray:
        """The first slot of each graph in the union, int64 ``[B + 1]``."""
        return np.asarray(self.fields.out_offsets)[self.node_starts].astype(np.int64)

    @cached_property
    def slots(self) -> np.ndarray:
        """Slots in use of each graph, int64 ``[B]``."""
        return np.diff(self.slot_starts)

    def __len__(self) -> int:
        return self.node_starts.size - 1

    def __getitem__(self, i: int) -> Graph:
        i = whole_number(i, "the index of a graph")
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} graphs, got index {i}")
        return jax.device_put(self.union([i % len(self)])) if self.given is None else self.given[i]

    def __iter__(self) -> Iterator[Graph]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        sizes = (len(self), "graph"), (int(self.node_starts[-1]), "node"), (int(self.m.sum()), "edge")
        return f"Graphs({', '.join([kind, *(counted(*size) for size in sizes)])})"

    def stack(self, which: Sequence[int] | np.ndarray | None = None, pad: Pad = "bucket") -> Graph:
        """Return some graphs (default: all) as one batch on the host, whose every array has a leading axis.

        Args:
          which: indices of graphs, from 0 on; an index past the last graph gives an empty graph.
          pad: common capacities, as in :meth:`Graph.from_edges`; ``None`` for the sizes of the largest graph.

        Raises:
          TypeError: indices that are no integers, such as a mask.
          ValueError: a negative index, or capacities too small.
        """
        n, slots, first_node, first_slot = self._chosen(which, past_last=True)
        N, S = capacities(pad, int(n.max(initial=0)), int(slots.max(initial=0)))
        capacity, counts = {"node": N, "slot": S}, {"node": n, "slot": slots}
        arrays = _moved(self._take(n, slots, first_node, first_slot), n, slots, -first_node, -first_slot)
        stacked: dict[str, OptionalArray] = dict.fromkeys(LAYOUT)
        for name, (entry, value) in LAYOUT.items():
            if arrays[name] is not None:
                is_offsets = name.endswith("offsets")
                rows = np.empty((n.size, capacity[entry] + is_offsets), np.int32)
                rows[:] = slots[:, None] if is_offsets else capacity.get(value, -1)
                rows[np.arange(rows.shape[1]) < counts[entry][:, None]] = arrays[name]
                stacked[name] = rows
        sizes = n.astype(np.int32), self._edges(slots).astype(np.int32)
        return Graph(**stacked, num_nodes=sizes[0], num_edges=sizes[1], directed=self.directed)

    def union(self, which: Sequence[int] | np.ndarray | None = None, pad: Pad = "bucket") -> Graph:
        """Return some graphs (default: all) side by side as one graph, on the host.

        Args:
          which: indices of graphs, from 0 on.
          pad: capacities of the union, as in :meth:`Graph.from_edges`.

        Raises:
          TypeError: indices that are no integers, such as a mask.
          ValueError: no such graph, sizes over the int32 limits, or capacities too small.
        """
        n, slots, first_node, first_slot = self._chosen(which)
        nodes, total = int(n.sum()), int(slots.sum())
        shifts = offsets_from(n, np.int64)[:-1] - first_node, offsets_from(slots, np.int64)[:-1] - first_slot
        arrays = _moved(self._take(n, slots, first_node, first_slot), n, slots, *shifts)
        fields = _union(arrays, nodes, total, self.directed)
        return Graph(*pad_fields(fields, nodes, total, *capacities(pad, nodes, total)), directed=self.directed)

    def _take(self, n: np.ndarray, slots: np.ndarray, first_node: np.ndarray, first_slot: np.ndarray) -> Used:
        """Return a function that takes the entries of chosen graphs out of an array, for :func:`_moved`."""
        places = {"node": places_of(first_node, n), "slot": places_of(first_slot, slots)}

        def take(name: str, _: np.ndarray) -> OptionalArray:
            array = getattr(self.fields, name)
            return None if array is None else array[places[LAYOUT[name][0]]]

        return take

    def _edges(self, slots: np.ndarray) -> np.ndarray:
        return slots if self.directed else slots // 2

    def _chosen(self, which: Sequence[int] | np.ndarray | None, past_last: bool = False) -> tuple[np.ndarray, ...]:
        """Return the numbers of nodes and slots, first nodes and first slots of chosen graphs, int64 ``[B]`` each."""
        which = np.arange(len(self)) if which is None else whole_numbers(np.asarray(which), "which")
        wrong = (which < 0) | ((which >= len(self)) & (not past_last))
        if wrong.any():
            raise ValueError(f"there are {len(self)} graphs, numbered from 0, got index {which[wrong][0]}")
        first = np.minimum(which, len(self))
        after = np.minimum(first + 1, len(self))
        starts, slot_starts = self.node_starts, self.slot_starts
        first_node, first_slot = starts[first], slot_starts[first]
        return starts[after] - first_node, slot_starts[after] - first_slot, first_node, first_slot


def stack_graphs(graphs: Sequence[Graph] | Graphs, pad: Pad = "bucket", device: Placement = None) -> Graph:
    """Stack graphs into one batch, whose every array has a leading axis ``[B]``.

    Args:
      graphs: at least one; all directed or none, and labels on all or on none. Their own padding is ignored.
      pad: common capacities, as in :meth:`Graph.from_edges`; ``None`` for the sizes of the largest graph.
      device: where to put the batch; JAX's default device when not given.

    Returns:
      A graph to map over with ``jax.vmap``.

    Raises:
      ValueError: no graphs, graphs that differ in kind, or capacities too small.

    Example:
      >>> import jax
      >>> batch = stack_graphs([Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1), (1, 2)])])
      >>> batch
      Graph(undirected, 2 x capacity 16 nodes, 16 slots)
      >>> jax.vmap(lambda graph: graph.out_offsets[-1])(batch).tolist()
      [2, 4]
    """
    graphs = graphs if isinstance(graphs, Graphs) else Graphs.from_graphs(graphs)
    return jax.device_put(graphs.stack(pad=pad), device)


def unstack(batch: Graph, device: Placement = None) -> list[Graph]:
    """Return the graphs of a batch that :func:`stack_graphs` made, at the batch's capacities.

    Example:
      >>> unstack(stack_graphs([Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1), (1, 2)])]))
      [Graph(undirected, 2 nodes, 1 edge), Graph(undirected, 3 nodes, 2 edges)]
    """
    if np.ndim(batch.num_nodes) != 1:
        raise ValueError(f"unstack takes a batch of graphs with one leading axis, got {batch!r}")
    arrays, tree = jax.tree.flatten(jax.device_get(batch))
    graphs = [tree.unflatten([array[i] for array in arrays]) for i in range(batch.num_nodes.shape[0])]
    return jax.device_put(graphs, device)


def disjoint_union(
    graphs: Sequence[Graph] | Graphs, pad: Pad = "bucket", device: Placement = None
) -> tuple[Graph, jax.Array]:
    """Put graphs side by side as one graph.

    Args:
      graphs: at least one; all directed or none, and labels on all or on none. Their own padding is ignored.
      pad: capacities of the union, as in :meth:`Graph.from_edges`.
      device: where to put the arrays; JAX's default device when not given.

    Returns:
      The union, whose nodes and edges are those of the first graph, then of the second, and so on; and int32
      ``[N]``, the place in ``graphs`` that each node came from (padding nodes: ``len(graphs)``).

    Raises:
      ValueError: no graphs, graphs that differ in kind, sizes over the int32 limits, or capacities too small.

    Example:
      >>> union, graph_ids = disjoint_union([Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1), (1, 2)])])
      >>> union.edge_list().tolist(), graph_ids[: union.n].tolist()
      ([[0, 1], [2, 3], [3, 4]], [0, 0, 1, 1, 1])
    """
    graphs = graphs if isinstance(graphs, Graphs) else Graphs.from_graphs(graphs)
    union = graphs.union(pad=pad)
    return jax.device_put((union, owners(graphs.n, union.node_capacity)), device)


def owners(n: np.ndarray, size: int) -> np.ndarray:
    """Return the graph that each node of a union lies in, int32 ``[size]``.

    Args:
      n: integers ``[B]``, the number of nodes of each graph.
      size: the node capacity of the union; padding nodes are given the number ``B``.
    """
    graph_of = np.full(size, n.size, np.int32)
    graph_of[: n.sum()] = np.repeat(np.arange(n.size, dtype=np.int32), n)
    return graph_of


def _joined(labels: Sequence[Labels] | None, name: str, sizes: np.ndarray) -> np.ndarray | None:
    """Join the labels of all graphs, one graph after another, after checking that each has one label an entry."""
    if labels is None:
        return None
    labels = list(labels)
    if len(labels) != sizes.size:
        raise ValueError(f"{name} must have one entry for each of {sizes.size} graphs, got {len(labels)}")
    arrays = [as_labels(one, f"graphs[{i}]: {name}", int(sizes[i])) for i, one in enumerate(labels)]
    return np.concatenate([np.zeros(0, np.int32), *arrays])


def _moved(
    used: Used, n: np.ndarray, slots: np.ndarray, node_shift: np.ndarray, slot_shift: np.ndarray
) -> dict[str, OptionalArray]:
    """Join the arrays of graphs, one graph after another, and shift the node and slot numbers in them.

    Args:
      used: a function that returns the entries of an array without padding, for all graphs, or ``None`` if they have
        no such array. It takes the name of the array and the number of entries of each graph. For offsets it returns
        the starts of rows, without the end of the last row.
      n: int64 ``[B]``, the number of nodes of each graph.
      slots: int64 ``[B]``, the number of slots of each graph.
      node_shift: int64 ``[B]``, the number that is added to node numbers of each graph.
      slot_shift: int64 ``[B]``, the number that is added to slot numbers of each graph.
    """
    counts, shifts = {"node": n, "slot": slots}, {"node": node_shift, "slot": slot_shift}
    arrays = {}
    for name, (entry, value) in LAYOUT.items():
        array = used(name, counts[entry])
        if array is not None and value:
            array = (array + np.repeat(shifts[value], counts[entry])).astype(np.int32)
        arrays[name] = array
    return arrays


def _union(arrays: dict[str, OptionalArray], nodes: int, slots: int, directed: bool) -> Fields:
    """Return the fields of a union without padding, from its arrays as :func:`_moved` returns them."""
    for name in ("out_offsets", "in_offsets"):
        if arrays[name] is not None:
            arrays[name] = np.append(arrays[name], np.int32(slots))
    return Fields(**arrays, num_nodes=np.int32(nodes), num_edges=np.int32(slots if directed else slots // 2))


def _host_fields(graphs: Sequence[Graph]) -> list[Fields]:
    """Return the arrays of each graph on the host, after checking that the graphs are of one kind."""
    if not graphs:
        raise ValueError("at least one graph is needed, got none")
    for i, graph in enumerate(graphs):
        if graph.directed != graphs[0].directed:
            raise ValueError(f"graphs[0] and graphs[{i}] differ: all graphs must be directed, or none")
        for name in ("node_labels", "edge_labels"):
            if (getattr(graph, name) is None) != (getattr(graphs[0], name) is None):
                raise ValueError(f"graphs[0] and graphs[{i}] differ: all graphs must have {name}, or none")
    return jax.device_get([graph.fields for graph in graphs])
