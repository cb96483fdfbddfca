"""Small dense graphs on the host, labelled or not, directed or not, connected or not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from jaxmotif.arrays._checks import check_labels, check_switch, whole_number, whole_numbers

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

T = TypeVar("T")

MOST_NODES = 2**15
"""Most nodes of a pattern that is built from edges: its matrix takes 1 GiB."""

MOST_SHARED_NODES = 64
"""Most nodes of a pattern that is shared by its content: with the facts kept of it, it takes some 100 KB at most."""

MOST_FACTS = 256
"""Most facts that are kept of a pattern. They depend on options and orders, of which there are few."""


@dataclasses.dataclass(frozen=True, eq=False)
class Pattern:
    """A small simple graph as a dense matrix.

    Attributes:
      adjacency: bool ``[k, k]``, symmetric unless directed, False on the diagonal.
      node_labels: int64 ``[k]``, values that fit int32, or ``None``.
      edge_labels: int64 ``[k, k]``, such values, 0 where there is no edge, or ``None``.
      directed: whether ``adjacency[u, v]`` is an arc from u to v.

    Raises:
      ValueError: for labels that do not fit int32.
    """

    adjacency: np.ndarray
    node_labels: np.ndarray | None
    edge_labels: np.ndarray | None
    directed: bool

    def __post_init__(self) -> None:
        for name in ("node_labels", "edge_labels"):
            if (labels := getattr(self, name)) is not None:
                check_labels(labels, name)

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike,
        num_nodes: int | None = None,
        directed: bool = False,
        node_labels: ArrayLike | None = None,
        edge_labels: ArrayLike | None = None,
    ) -> Pattern:
        """Build a pattern from rows ``u v``.

        Args:
          edges: integers ``[E, 2]``, without self loops.
          num_nodes: the number of nodes; by default that of ``node_labels``, or one more than the largest id.
          directed: whether a row is an arc.
          node_labels: integers ``[num_nodes]``.
          edge_labels: integers ``[E]``.

        Raises:
          TypeError: for edges or labels that are not integers.
          ValueError: for an id out of range, a self loop, arrays of wrong shape, an edge with two labels, labels that
            do not fit int32, or more than 32768 nodes.

        Example:
          >>> Pattern.from_edges([(0, 1), (1, 2)])
          Pattern(undirected, 3 nodes, 2 edges)
        """
        from jaxmotif.graph._build import as_labels, edge_array

        check_switch(directed, "directed")
        rows = whole_numbers(edge_array(edges), "edges")
        size = None if num_nodes is None else whole_number(num_nodes, "num_nodes")
        labels = None if node_labels is None else as_labels(node_labels, "node_labels", size).astype(np.int64)
        if size is None:
            size = int(rows.max(initial=-1)) + 1 if labels is None else labels.size
        if not 0 <= size <= MOST_NODES:
            raise ValueError(f"a pattern has 0 to {MOST_NODES} nodes, numbered from 0, got {size}")
        bad = ((rows < 0) | (rows >= size)).any(axis=1) | (rows[:, 0] == rows[:, 1])
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"edges[{row}] = {tuple(rows[row].tolist())} must join two different nodes in 0..{size - 1}"
            )
        ends = tuple((rows if directed else np.concatenate([rows, rows[:, ::-1]])).T)
        adjacency = np.zeros((size, size), bool)
        adjacency[ends] = True
        values = None
        if edge_labels is not None:
            row_labels = as_labels(edge_labels, "edge_labels", rows.shape[0])
            values = np.zeros((size, size), np.int64)
            values[ends] = np.resize(row_labels, ends[0].shape)
            differ = values[tuple(rows.T)] != row_labels
            if differ.any():
                row = int(np.argmax(differ))
                u, v = rows[row].tolist()
                raise ValueError(
                    f"edge_labels disagree on one edge: {row_labels[row]} for edges[{row}] = {(u, v)}, and "
                    f"{values[u, v]} for another row of it; give each edge one label"
                )
        return cls(adjacency, labels, values, directed)

    @classmethod
    def from_graph(cls, graph: Graph) -> Pattern:
        """Build the pattern of a graph of at most a few thousand nodes.

        Example:
          >>> from jaxmotif.graph import Graph
          >>> Pattern.from_graph(Graph.from_edges([(0, 1)], node_labels=[5, 7])).node_labels.tolist()
          [5, 7]
        """
        n, slots = graph.n, graph.num_slots
        tails = np.repeat(np.arange(n), graph.degrees)
        heads = np.asarray(graph.out_targets)[:slots]
        adjacency = np.zeros((n, n), bool)
        adjacency[tails, heads] = True
        labels = None if graph.node_labels is None else np.asarray(graph.node_labels)[:n].astype(np.int64)
        values = None
        if graph.edge_labels is not None:
            values = np.zeros((n, n), np.int64)
            values[tails, heads] = np.asarray(graph.edge_labels)[:slots]
        return cls(adjacency, labels, values, graph.directed)

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.adjacency.shape[0]

    @property
    def num_edges(self) -> int:
        """Number of edges, or of arcs in a directed pattern."""
        arcs = int(np.count_nonzero(self.adjacency))
        return arcs if self.directed else arcs // 2

    @cached_property
    def entries(self) -> np.ndarray:
        """Adjacency matrix as ranks, int64 ``[k, k]``: 0 for no edge, then the edge labels in ascending order."""
        if self.edge_labels is None:
            return self.adjacency.astype(np.int64)
        values = np.unique(self.edge_labels[self.adjacency])
        return np.where(self.adjacency, np.searchsorted(values, self.edge_labels) + 1, 0)

    @cached_property
    def neighbors(self) -> np.ndarray:
        """Symmetric adjacency, bool ``[k, k]``: an edge, or an arc either way."""
        return self.adjacency | self.adjacency.T

    @cached_property
    def _cache(self) -> dict[Hashable, Any]:
        return {}

    def known(self, what: Hashable, find: Callable[[], T]) -> T:
        """Return a fact about the pattern, which is found once for as long as the pattern lives."""
        facts = self._cache
        try:  # another thread may empty the dictionary at any time
            return facts[what]
        except KeyError:
            fact = find()
            if len(facts) >= MOST_FACTS:
                facts.clear()
            facts[what] = fact
            return fact

    def shared(self) -> Pattern:
        """Return the single shared pattern with this content, so that its facts are found once for all calls.

        A pattern with more than ``MOST_SHARED_NODES`` nodes, or with rules, is not shared, and returns itself.

        Example:
          >>> first, second = (Pattern.from_edges([(0, 1), (1, 2)]) for _ in range(2))
          >>> first.shared() is second.shared()
          True
        """
        if type(self) is not Pattern or self.num_nodes > MOST_SHARED_NODES:
            return self
        labels = [None if x is None else x.astype(np.int64).tobytes() for x in (self.node_labels, self.edge_labels)]
        return _shared_pattern(self.num_nodes, self.directed, self.adjacency.tobytes(), *labels)

    def relabel(self, order: Sequence[int] | np.ndarray) -> Pattern:
        """Return the isomorphic pattern whose node ``i`` is this one's node ``order[i]``.

        Example:
          >>> Pattern.from_edges([(0, 1)], num_nodes=3).relabel([2, 0, 1]).adjacency[1, 2]
          np.True_
        """
        order = np.asarray(order, np.int64)
        grid = np.ix_(order, order)
        return Pattern(
            self.adjacency[grid],
            None if self.node_labels is None else self.node_labels[order],
            None if self.edge_labels is None else self.edge_labels[grid],
            self.directed,
        )

    def components(self) -> list[list[int]]:
        """Return the (weakly) connected components, each ascending, in the order of their lowest nodes."""
        components, seen = [], np.zeros(self.num_nodes, bool)
        for start in range(self.num_nodes):
            if seen[start]:
                continue
            inside = np.zeros(self.num_nodes, bool)
            inside[start] = True
            while True:
                larger = inside | self.neighbors[inside].any(axis=0)
                if (larger == inside).all():
                    break
                inside = larger
            seen |= inside
            components.append(np.flatnonzero(inside).tolist())
        return components

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        nodes, edges = self.num_nodes, self.num_edges
        return f"Pattern({kind}, {nodes} node{'s' * (nodes != 1)}, {edges} edge{'s' * (edges != 1)})"


@lru_cache(maxsize=256)
def _shared_pattern(
    size: int, directed: bool, adjacency: bytes, node_labels: bytes | None, edge_labels: bytes | None
) -> Pattern:
    """Return the shared pattern of some content, with arrays that are read-only."""

    def read(cells: bytes, kind: type, *shape: int) -> np.ndarray:
        return np.frombuffer(cells, kind).reshape(shape)

    return Pattern(
        read(adjacency, np.bool_, size, size),
        None if node_labels is None else read(node_labels, np.int64, size),
        None if edge_labels is None else read(edge_labels, np.int64, size, size),
        directed,
    )
