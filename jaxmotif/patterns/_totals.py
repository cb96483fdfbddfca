"""Counts of all graphs of five nodes in a whole graph, connected or not, from those of the connected ones.

A map of a disconnected graph is a map of each of its components, so its homomorphisms are a product; from there the way
of :mod:`jaxmotif.patterns._orbits` leads to induced counts, over all 34 graphs at once, in Python integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from math import factorial
from typing import Any

from jaxmotif.patterns._orbits import Edge, of_size, pairs, quotients, to_edges, to_mask

DISCONNECTED_5: dict[str, tuple[Edge, ...]] = {
    name: tuple((int(e[0]), int(e[1])) for e in edges.split())
    for name, edges in {
        "5-node-4-clique": "01 02 03 12 13 23",
        "5-node-chordal-cycle": "01 02 03 12 13",
        "5-node-tailed-triangle": "01 02 12 23",
        "5-node-4-cycle": "01 03 12 23",
        "5-node-3-star": "01 02 03",
        "5-node-4-path": "01 12 23",
        "5-node-triangle-edge": "01 02 12 34",
        "5-node-1-triangle": "01 02 12",
        "5-node-2-star-edge": "01 02 34",
        "5-node-2-star": "01 02",
        "5-node-2-edge": "01 23",
        "5-node-1-edge": "01",
        "5-node-indep": "",
    }.items()
}
"""The 13 disconnected graphs of five nodes."""

NAMES_5: tuple[str, ...] = (*(g.name for g in of_size(5)), *DISCONNECTED_5)
"""The 34 graphs of five nodes."""


class _Graphs:
    """All graphs of one size up to isomorphism, by number of edges; ``index`` of each labelled one, by mask."""

    def __init__(self, size: int):
        self.size, self.masks, self.index = size, list[int](), dict[int, int]()
        orders = list(permutations(range(size)))
        for mask in sorted(range(1 << len(pairs(size))), key=lambda mask: (mask.bit_count(), mask)):
            if mask not in self.index:
                edges = to_edges(size, mask)
                for order in orders:
                    self.index[to_mask(size, [(order[a], order[b]) for a, b in edges])] = len(self.masks)
                self.masks.append(mask)
        labelled = [0] * len(self.masks)
        for index in self.index.values():
            labelled[index] += 1
        self.automorphisms = [factorial(size) // copies for copies in labelled]

    @property
    def inclusion(self) -> list[dict[int, int]]:
        """How many spanning subgraphs of each graph are a copy of each other: ``[subgraph][graph]``."""
        found: list[dict[int, int]] = [{} for _ in self.masks]
        for graph, mask in enumerate(self.masks):
            sub = mask
            while True:  # all subsets of the edges
                row = found[self.index[sub]]
                row[graph] = row.get(graph, 0) + 1
                if not sub:
                    break
                sub = (sub - 1) & mask
        return found


@lru_cache
def _graphs(size: int) -> tuple[_Graphs, list[dict[int, int]]]:
    graphs = _Graphs(size)
    return graphs, graphs.inclusion


def _components(size: int, edges: Sequence[Edge]) -> Iterator[tuple[int, list[Edge]]]:
    """The components of a graph, each with nodes from 0 on."""
    root = list(range(size))
    for a, b in edges:
        root = [root[a] if x == root[b] else x for x in root]
    for r in sorted(set(root)):
        place = {x: i for i, x in enumerate(x for x in range(size) if root[x] == r)}
        yield len(place), [(place[a], place[b]) for a, b in edges if a in place]


def five_node_counts(nodes: Any, connected: Mapping[str, Any]) -> dict[str, Any]:
    """Induced counts of the 34 graphs of five nodes.

    Args:
      nodes: of the graph; or of many, an array of Python integers (dtype object).
      connected: the induced counts of the 30 connected graphs of two to five nodes, by name, likewise.

    Returns:
      Python integers, or arrays of them, in the order of :data:`NAMES_5`.

    Example:
      >>> from math import comb
      >>> none = {g.name: 0 for size in (2, 3, 4, 5) for g in of_size(size)}
      >>> five_node_counts(9, none)["5-node-indep"] == comb(9, 5)
      True
    """
    induced: dict[tuple[int, int], Any] = {(1, 0): nodes}
    for size in (2, 3, 4, 5):
        for g in of_size(size):
            induced[size, _graphs(size)[0].index[to_mask(size, g.edges)]] = connected[g.name]
    injective_connected: dict[tuple[int, int], Any] = {}  # injective maps of the connected graphs
    for size, graph in induced:
        graphs, inclusion = _graphs(size)
        copies = sum(times * induced[size, whole] for whole, times in inclusion[graph].items())
        injective_connected[size, graph] = copies * graphs.automorphisms[graph]

    def number(size: int, edges: Sequence[Edge]) -> tuple[int, int]:
        return size, _graphs(size)[0].index[to_mask(size, edges)]

    @lru_cache
    def maps(size: int, graph: int) -> Any:
        """Homomorphisms of a connected graph."""
        edges = to_edges(size, _graphs(size)[0].masks[graph])
        return sum(injective_connected[number(left, image)] for _, left, image in quotients(size, edges))

    @lru_cache
    def injective(size: int, graph: int) -> Any:
        edges = to_edges(size, _graphs(size)[0].masks[graph])
        product: Any = 1
        for part, inside in _components(size, edges):
            product *= maps(*number(part, inside))
        return product - sum(
            injective(*number(left, image)) for _, left, image in quotients(size, edges) if left < size
        )  # fmt: skip

    graphs, inclusion = _graphs(5)
    found: dict[int, Any] = {}
    for graph in reversed(range(len(graphs.masks))):  # by falling number of edges: inclusion is triangular
        copies = injective(5, graph) // graphs.automorphisms[graph]
        found[graph] = copies - sum(times * found[w] for w, times in inclusion[graph].items() if w != graph)
    edges_of = {g.name: g.edges for g in of_size(5)} | DISCONNECTED_5
    return {name: found[graphs.index[to_mask(5, edges_of[name])]] for name in NAMES_5}
