"""The graph as the checker sees it: sorted edges, their SHA-256, and rows of neighbours."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ._certificate import need
from ._shapes import Shape


@dataclass(frozen=True)
class SimpleGraph:
    """A graph without self loops and repeated edges.

    Attributes:
      nodes: n; nodes are 0 to n - 1.
      edges: int64 ``[m, 2]``, sorted; source first, or the smaller end first where edges have no direction.
      directed: whether edges are arcs.
      node_labels: int64 ``[n]``, or None.
      edge_labels: int64 ``[m]``, or None.
    """

    nodes: int
    edges: np.ndarray
    directed: bool = False
    node_labels: np.ndarray | None = None
    edge_labels: np.ndarray | None = None

    def described(self) -> dict:
        """Return what a certificate says of its graph."""
        hashed = hashlib.sha256(f"jaxmotif graph 1 {self.directed} {self.nodes}\n".encode())
        for array in (self.edges, self.node_labels, self.edge_labels):
            hashed.update(b"-" if array is None else b"%d\n" % len(array))
            hashed.update(b"" if array is None else np.ascontiguousarray(array, "<i8").data)
        labels = {"node_labels": self.node_labels is not None, "edge_labels": self.edge_labels is not None}
        sizes = {"directed": self.directed, "nodes": self.nodes, "edges": len(self.edges)}
        return {"sha256": hashed.hexdigest(), **sizes, **labels}

    def reduced(self, described: dict) -> SimpleGraph:
        """Return the graph without the directions and labels that a certificate leaves out."""
        graph = self
        if self.directed and not described["directed"]:
            graph = graph_from_edges(self.edges, self.nodes, node_labels=self.node_labels)
        node_labels = graph.node_labels if described["node_labels"] else None
        return replace(
            graph, node_labels=node_labels, edge_labels=graph.edge_labels if described["edge_labels"] else None
        )

    @cached_property
    def states(self) -> int:
        """Number of things an arc can be: absent, or there with one of the labels."""
        return 2 if self.edge_labels is None else 1 + len(np.unique(self.edge_labels))

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Offsets ``[n + 1]``, neighbours in whatever direction, ascending, and the state of each pair.

        The state of a pair (s, x) is the number of its arc from s to x (0 for none, else 1 and up, by label), plus
        ``states`` times that of the arc back.
        """
        (u, v), n = self.edges.T, max(self.nodes, 1)
        number = np.ones(len(u), np.int64)
        if self.edge_labels is not None:
            number += np.unique(self.edge_labels, return_inverse=True)[1].reshape(-1)
        there, back = (number, number * self.states) if self.directed else (number * (1 + self.states),) * 2
        keys, places = np.unique(np.concatenate([u * n + v, v * n + u]), return_inverse=True)
        state = np.zeros(len(keys), np.int64)
        np.add.at(state, places.reshape(-1), np.concatenate([there, back]))
        return np.searchsorted(keys, np.arange(self.nodes + 1) * n), keys % n, state

    @cached_property
    def ends(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Source and target of each pair of ``rows``, and the place of the pair the other way round."""
        source, target = np.repeat(np.arange(self.nodes), self.degrees), self.rows[1]
        return source, target, np.searchsorted(source * self.nodes + target, target * self.nodes + source)

    @cached_property
    def degrees(self) -> np.ndarray:
        """Number of neighbours of each node, in whatever direction, int64 ``[n]``."""
        return np.diff(self.rows[0])

    @cached_property
    def label_numbers(self) -> np.ndarray:
        """Number of each node's label, from 0 on, int64 ``[n]``."""
        labels = np.zeros(self.nodes, np.int64) if self.node_labels is None else self.node_labels
        return np.unique(labels, return_inverse=True)[1].reshape(-1)

    def neighbours(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbours of a node, ascending, and the states of the pairs."""
        offsets, targets, state = self.rows
        place = slice(offsets[node], offsets[node + 1])
        return targets[place], state[place]

    def shape(self, described: dict) -> Shape:
        """Return a shape that a certificate describes, with labels as this graph numbers them.

        A label that the graph does not have is the number -1: such a shape occurs nowhere.
        """
        arcs, labels, size = described["arcs"], described["labels"], len(described["labels"])
        need(size >= 1 and len(arcs) == size and all(len(row) == size for row in arcs), "a shape is no square of pairs")
        numbers: dict = {None: 0, True: 1}
        if self.edge_labels is not None:
            numbers = {None: 0} | {label: i + 1 for i, label in enumerate(np.unique(self.edge_labels).tolist())}
        kinds = (
            {None: 0}
            if self.node_labels is None
            else {x: i for i, x in enumerate(np.unique(self.node_labels).tolist())}
        )
        table = [[numbers.get(arc, -1) for arc in row] for row in arcs]
        pairs = tuple(tuple(table[u][v] + self.states * table[v][u] for v in range(size)) for u in range(size))
        need(
            self.directed or pairs == tuple(zip(*pairs, strict=True)), "a shape has directions, and the graph has none"
        )
        need(described["roots"] in (0, 1, 2) and described["roots"] <= size, "a root is not of 0 to 2 nodes")
        return described["roots"], pairs, tuple(kinds.get(label, -1) for label in labels)

    def meaning(self, described: dict) -> str:
        """Return a shape that a certificate describes in words."""
        arcs, labels = described["arcs"], described["labels"]
        pairs = [(u, v) for u, row in enumerate(arcs) for v, arc in enumerate(row) if arc is not None]
        sign = ">" if self.directed else "-"
        text = [
            f"{u}{sign}{v}" + ("" if arcs[u][v] is True else f" with label {arcs[u][v]}")
            for u, v in pairs
            if self.directed or u < v
        ]
        text += [f"{u} with label {label}" for u, label in enumerate(labels) if label is not None]
        return f"{len(labels)} nodes, {described['roots']} in the root: {', '.join(text)}"


def graph_from_edges(edges, nodes=None, directed=False, node_labels=None, edge_labels=None) -> SimpleGraph:
    """Return a graph from rows of node numbers; self loops and repeated edges are left out."""
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    nodes = int(edges.max(initial=-1)) + 1 if nodes is None else int(nodes)
    if nodes >= 2**31 or edges.min(initial=0) < 0 or edges.max(initial=-1) >= nodes:
        raise ValueError(f"edges must join nodes from 0 to {nodes - 1}, fewer than 2^31")
    if not directed:
        edges = np.sort(edges, axis=1)
    _, kept = np.unique(edges[:, 0] * nodes + edges[:, 1], return_index=True)
    kept = kept[edges[kept, 0] != edges[kept, 1]]
    node_labels = None if node_labels is None else np.asarray(node_labels, np.int64)
    edge_labels = None if edge_labels is None else np.asarray(edge_labels, np.int64)[kept]
    return SimpleGraph(nodes, edges[kept], directed, node_labels, edge_labels)


def read_edge_list(path: str, directed: bool = False) -> SimpleGraph:
    """Read rows of two whole numbers between blanks or commas, with ``#`` and ``%`` for comments, perhaps gzipped.

    The ids that occur are numbered in ascending order, as :func:`jaxmotif.read_graph` numbers them.
    """
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        lines = (line.replace(",", " ") for line in file)
        rows = np.loadtxt(lines, np.int64, comments=("#", "%"), usecols=(0, 1), ndmin=2)
    ids, ends = np.unique(rows, return_inverse=True)
    return graph_from_edges(ends.reshape(-1, 2), len(ids), directed)


def read_answer(path: str) -> np.ndarray:
    """Read a table in CSV, as Python integers, without its columns ``u`` and ``v``, or ``node``.

    It has a line of names, and perhaps comments after ``#``.
    """
    with open(path, encoding="utf-8") as file:
        names, *rows = [line.strip().split(",") for line in file if not line.startswith("#")]
    first = sum(name in ("u", "v", "node") for name in names[:2])
    return np.array([[int(value) for value in row[first:]] for row in rows], object).reshape(-1, len(names) - first)
