"""Direct counts at one node or edge: all connected node sets around it, one by one. No equation is used."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from ._certificate import need
from ._graph import SimpleGraph
from ._shapes import Shape, canonical, is_connected, unrooted


class Neighbourhoods:
    """Counts of connected induced subgraphs around a node or an edge.

    Args:
      graph: the graph.
      sizes: how many nodes the subgraphs have.
    """

    deadline = float("inf")

    def __init__(self, graph: SimpleGraph, sizes: set[int]):
        self._graph, self._sizes, self._base = graph, sizes, graph.states**2
        self._power = self._base ** max(sizes)
        self._labels = graph.label_numbers * self._power
        need(int(self._labels.max(initial=1)) < 2**62 > self._power, "subgraphs with so many labels are not listed")
        self._codes = np.zeros(graph.nodes, np.int64)

    def row(self, root: tuple[int, ...], rooted: bool) -> Counter[Shape]:
        """Return how many connected sets that contain the root have each shape.

        Args:
          root: a node, or the two ends of an edge.
          rooted: whether shapes have the root; without it, all places in a shape are alike.
        """
        sets: Counter = Counter()
        for chosen in self._sets(root):
            self._close(chosen, sets)
        with_root: Counter[Shape] = Counter()
        for (columns, labels), number in sets.items():
            with_root[canonical(self._shape(len(root), columns, labels), self._graph.directed)] += number
        counts: Counter[Shape] = Counter()
        for shape, number in with_root.items():
            # A set is met once for each of its nodes that can be the last one.
            times = sum(is_connected(shape, x) for x in range(len(root), len(shape[1])))
            counts[shape if rooted else unrooted(shape, self._graph.directed)] += number // times
        return counts

    def _sets(self, root: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Yield every connected set that contains the root and lacks one node to a wanted size, once."""
        largest = max(self._sizes) - 1
        around = {x for node in root for x in self._graph.neighbours(node)[0].tolist()} - set(root)
        stack = [(root, sorted(around), around | set(root))]
        while stack:
            chosen, candidates, seen = stack.pop()
            if len(chosen) + 1 in self._sizes:
                yield chosen
            for i, node in enumerate(candidates if len(chosen) < largest else ()):
                # What earlier candidates lead to is not met again: they are seen, and candidates no longer.
                near = self._graph.neighbours(node)[0].tolist() if len(chosen) + 1 < largest else ()
                new = [x for x in near if x not in seen]
                stack.append(((*chosen, node), candidates[i + 1 :] + new, seen.union(new)))

    def _close(self, chosen: tuple[int, ...], sets: Counter) -> None:
        """Count the nodes that can be added to a set, by the states of their pairs with its nodes."""
        if time.process_time() > self.deadline:
            raise TimeoutError
        codes, members, rows = self._codes, list(chosen), [self._graph.neighbours(node) for node in chosen]
        for i, (ends, states) in enumerate(rows):
            codes[ends] += states * self._base**i
        inner, labels = codes[members].tolist(), (self._labels[members] // self._power).tolist()
        codes[members] = 0
        ends = np.concatenate([ends for ends, _ in rows])
        ends = ends[codes[ends] > 0]
        values, counts = np.unique(codes[ends] + self._labels[ends], return_counts=True)
        for near, _ in rows:
            codes[near] = 0
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            label, code = divmod(value, self._power)
            # A node is in the list of each node that it is joined to.
            times = sum(digit > 0 for digit in self._digits(code, len(chosen)))
            sets[(*inner, code), (*labels, label)] += count // times

    def _digits(self, code: int, count: int) -> list[int]:
        return [code // self._base**i % self._base for i in range(count)]

    def _shape(self, roots: int, columns: tuple[int, ...], labels: tuple[int, ...]) -> Shape:
        size, states = len(columns), self._graph.states
        table = [self._digits(code, size - 1) for code in columns]
        last = [state % states * states + state // states for state in table[-1]]
        pairs = [tuple(table[j][i] for j in range(size)) for i in range(size - 1)]
        return roots, (*pairs, (*last, 0)), labels
