"""Numbers of maps of a query by the image of its first node, modulo 2^61 - 1, by algebra instead of search.

Injective maps are a signed sum of homomorphisms of the query with some nodes merged into blocks. Homomorphisms are
counted by dynamic programming: maps that agree on all blocks that still matter are one row of a table.
"""

import time
from collections.abc import Iterator
from itertools import combinations, pairwise, permutations
from math import factorial, prod

import numpy as np

from ._certificate import ANY, need
from ._graph import SimpleGraph
from ._modular import P, add_up, multiply

MOST_ROWS = 2**23
CHUNK = 2**20
"""Limit of the rows of a table, and how many rows are made at a time."""


class Query:
    """A query in a graph.

    Args:
      shape: the query as a certificate describes it.
      graph: the graph that it is looked for in.
      induced: whether nodes that the query does not join must not be joined in the graph.
      deadline: when to stop, by ``time.process_time``.
    """

    def __init__(self, shape: dict, graph: SimpleGraph, induced: bool, deadline: float):
        graph.shape(shape, ANY)  # refuses what is no shape
        need(graph.states < 2**12, "nothing could be checked: there are too many labels of edges")
        arcs = shape["arcs"]
        self.size, self._labels, self._graph, self._deadline = len(arcs), shape["labels"], graph, deadline
        there, back = np.divmod(np.arange(graph.states**2), graph.states)[::-1]
        # Which states a pair of images may have, for the pairs that have to be joined.
        self._asked: dict = {}
        for u, v in permutations(range(self.size), 2):
            if arcs[u][v] or arcs[v][u]:
                self._asked[u, v] = _fits(there, arcs[u][v], induced) & _fits(back, arcs[v][u], induced)
        self._forbidden = [pair for pair in combinations(range(self.size), 2) if induced and pair not in self._asked]

    def count_at_root(self, weights: list[np.ndarray] | None = None) -> np.ndarray:
        """Return how many injective maps send the first query node to each node of the graph, modulo P, uint64 ``[n]``.

        Args:
          weights: for each query node residues ``[n]``: then a map counts as the product of those of its images.

        Raises:
          Refused: beyond the limits of memory and time.
        """
        total = np.zeros(self._graph.nodes, np.uint64)
        # Maps that use no forbidden pair: all maps, less those that use one, and so on.
        for number in range(len(self._forbidden) + 1):
            for used in combinations(self._forbidden, number):
                asked = self._asked | {pair: True for u, v in used for pair in ((u, v), (v, u))}
                for blocks in self._partitions(asked, [], 0):
                    sign = (-1) ** (number + self.size - len(blocks)) * prod(factorial(len(b) - 1) for b in blocks)
                    maps = self._homomorphisms(asked, blocks, weights)
                    total = (total + multiply(maps, np.uint64(sign % P))) % np.uint64(P)
        return total

    def _partitions(self, asked: dict, blocks: list[list[int]], node: int) -> Iterator[list[list[int]]]:
        """Yield the partitions of the query's nodes into blocks without an arc inside; the first one has node 0."""
        if node == self.size:
            yield blocks
            return
        for i, block in enumerate(blocks):
            if not any((node, u) in asked for u in block):
                yield from self._partitions(asked, [*blocks[:i], [*block, node], *blocks[i + 1 :]], node + 1)
        yield from self._partitions(asked, [*blocks, [node]], node + 1)

    def _homomorphisms(self, asked: dict, blocks: list[list[int]], weights: list | None) -> np.ndarray:
        """Return how many homomorphisms of the merged query send its first block to each node of the graph."""
        place = {u: i for i, block in enumerate(blocks) for u in block}
        links: dict = {}
        for (u, v), states in asked.items():
            links[place[u], place[v]] = links.get((place[u], place[v]), True) & states
        vectors = [np.ones(self._graph.nodes, np.uint64) for _ in blocks]
        for u, i in place.items():
            if self._labels[u] != ANY:
                vectors[i] = vectors[i] * (self._graph.label_numbers == self._labels[u])
            vectors[i] = vectors[i] if weights is None else multiply(vectors[i], weights[u])

        def reach(blocks: list[int]) -> list[int]:
            """Return blocks and all that are joined to them, directly or not, the nearest first."""
            for x in blocks:
                blocks += [y for y in range(len(vectors)) if (x, y) in links and y not in blocks]
            return blocks

        order = reach(reach([0])[-1:])
        for x in range(len(vectors)):
            order = order if x in order else reach([x]) + order
        names, rows, values = [], np.zeros((1, 0), np.int64), np.ones(1, np.uint64)
        for done, x in enumerate(order, 1):
            later = [y for y in order[:done] if y == 0 or any((y, z) in links for z in order[done:])]
            rows, values = self._place(links, names, rows, values, x, vectors[x], later)
            names = later
        result = np.zeros(self._graph.nodes, np.uint64)
        result[rows[:, 0]] = values
        return result

    def _place(
        self, links: dict, names: list[int], rows: np.ndarray, values: np.ndarray, x: int, vector, later
    ) -> tuple:
        """Map one more block in every way, and add up the rows that agree in the blocks that matter later.

        Args:
          links: what joined blocks ask of the arcs between their images.
          names: the blocks that the columns of the table are the images of.
          rows: the table, no two rows alike.
          values: how many maps each row stands for.
          x: the block.
          vector: the value of each of its images.
          later: the blocks of the new table.
        """
        n, near = self._graph.nodes, [i for i, y in enumerate(names) if (y, x) in links]
        offsets, targets, first = np.array([0, n]), np.arange(n), np.zeros(len(rows), np.int64)
        if near:
            (offsets, targets, _), first = self._arcs(links, names[near[0]], x), rows[:, near[0]]
        need(n ** len(later) < 2**63, "nothing could be checked: the query needs a table of too many columns")
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(offsets[first + 1] - offsets[first])])
        columns = [[*names, x].index(y) for y in later]
        parts = [(np.zeros((0, len(later)), np.int64), np.zeros(0, np.uint64))]
        cuts = np.searchsorted(ends, np.arange(0, int(ends[-1]), CHUNK))
        for low, high in pairwise(np.unique([0, *cuts, len(rows)]).tolist()):
            row = np.repeat(np.arange(low, high), np.diff(ends[low : high + 1]))
            image = targets[np.arange(int(ends[low]), int(ends[high])) + (offsets[first] - ends[:-1])[row]]
            for i in near[1:]:
                keys, key = self._arcs(links, names[i], x)[2], rows[row, i] * n + image
                there = keys[np.searchsorted(keys, key)] == key
                row, image = row[there], image[there]
            table = np.concatenate([rows[row], image[:, None]], axis=1)[:, columns]
            parts.append(self._add_equal(table, multiply(values[row], vector[image])))
            need(time.process_time() < self._deadline, "nothing could be checked: the time was over")
            few = sum(len(table) for table, _ in parts) <= MOST_ROWS
            need(few, f"nothing could be checked: the query needs a table of more than {MOST_ROWS} rows")
        return self._add_equal(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _add_equal(self, rows: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Add up the values of equal rows, and leave out those of value 0."""
        keys = rows @ (self._graph.nodes ** np.arange(rows.shape[1]))
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        values = add_up(values[order], np.append(starts, len(keys)))
        return rows[order[starts]][values > 0], values[values > 0]

    def _arcs(self, links: dict, a: int, b: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which nodes two joined blocks may be mapped to: offsets of rows, targets, and keys of pairs."""
        offsets, targets, state = self._graph.rows
        allowed = np.broadcast_to(links[a, b], self._graph.states**2)[state]
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(allowed)])
        keys = (self._graph.sources * self._graph.nodes + targets)[allowed]
        # The last key is no pair's, so that a search for any pair ends at a key.
        return before[offsets], targets[allowed], np.append(keys, 2**63 - 1)


def _fits(numbers: np.ndarray, wanted: int, induced: bool) -> np.ndarray:
    """Return which numbers of arcs are as wanted: no arc is asked for only if subgraphs are induced."""
    if wanted == ANY:
        return numbers > 0
    return numbers == wanted if wanted or induced else numbers >= 0
