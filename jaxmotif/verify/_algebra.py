"""Numbers of maps of a query by the image of its first node, modulo 2^61 - 1, by algebra instead of search.

Injective maps are a signed sum of homomorphisms of the query with some nodes merged into blocks. Homomorphisms are
counted by dynamic programming: maps that agree on all blocks that still matter are one row of a table.
"""

import time
from collections import Counter
from itertools import combinations, pairwise, permutations
from math import factorial, prod

import numpy as np

from ._certificate import ANY, need
from ._graph import SimpleGraph
from ._modular import P, add_groups, multiply

# Limit of the rows of a table, and how many rows are made at a time.
MOST_ROWS, CHUNK = 2**23, 2**20


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
        self.size, self._labels, self._graph, self._deadline = len(shape["arcs"]), shape["labels"], graph, deadline
        # Which states a pair of images may have, for the pairs that have to be joined.
        self._asked, arcs = {}, shape["arcs"]
        back, there = np.divmod(np.arange(graph.states**2), graph.states)
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
        weights = weights or [np.ones(self._graph.nodes, np.uint64)] * self.size
        # Maps that use no forbidden pair: all maps, less those that use one, and so on.
        for number in range(len(self._forbidden) + 1):
            for used in combinations(self._forbidden, number):
                asked = self._asked | {pair: True for u, v in used for pair in ((u, v), (v, u))}
                for blocks in self._partitions(asked):
                    sizes = Counter(blocks).values()
                    sign = (-1) ** (number + self.size - len(sizes)) * prod(factorial(size - 1) for size in sizes)
                    maps = self._homomorphisms(asked, blocks, weights)
                    total = (total + multiply(maps, np.uint64(sign % P))) % np.uint64(P)
        return total

    def _partitions(self, asked: dict) -> list[tuple[int, ...]]:
        """Return all ways to merge nodes that no arc joins: the block of each node, numbered as they occur."""
        ways: list[tuple[int, ...]] = [()]
        for node in range(self.size):
            joined = [u for u in range(node) if (u, node) in asked]
            free = [(way, {*range(max(way, default=-1) + 2)}.difference(way[u] for u in joined)) for way in ways]
            ways = [(*way, block) for way, blocks in free for block in blocks]
        return ways

    def _homomorphisms(self, asked: dict, blocks: tuple[int, ...], weights: list[np.ndarray]) -> np.ndarray:
        """Return how many homomorphisms of the merged query send its first block to each node of the graph."""
        links, number = {}, 1 + max(blocks)
        for (u, v), states in asked.items():
            links[blocks[u], blocks[v]] = links.get((blocks[u], blocks[v]), True) & states
        vectors = [np.ones(self._graph.nodes, np.uint64)] * number
        for x, label, weight in zip(blocks, self._labels, weights, strict=True):
            vectors[x] = multiply(vectors[x], weight * ((self._graph.label_numbers == label) | (label == ANY)))

        def spread(first: int) -> list[int]:
            """Return all blocks, those that are joined to the first one before others, the nearest first."""
            order = [first]
            while rest := [y for y in range(number) if y not in order]:
                order.append(next((y for x in order for y in rest if (x, y) in links), rest[0]))
            return order

        order, names, rows, values = spread(spread(0)[-1]), [], np.zeros((1, 0), np.int64), np.ones(1, np.uint64)
        for done, x in enumerate(order, 1):
            later = [y for y in order[:done] if y == 0 or any((y, z) in links for z in order[done:])]
            rows, values = self._place(links, names, rows, values, x, vectors[x], later)
            names = later
        result = np.zeros(self._graph.nodes, np.uint64)
        result[rows[:, 0]] = values
        return result

    def _place(self, links: dict, names: list, rows: np.ndarray, values: np.ndarray, x: int, vector, later) -> tuple:
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
        n = self._graph.nodes
        need(n ** len(later) < 2**63, "nothing could be checked: the query needs a table of too many columns")
        anywhere = np.array([0, n]), np.arange(n), None, np.zeros(len(rows), np.int64)
        near = [(*self._arcs(links, y, x), rows[:, i]) for i, y in enumerate(names) if (y, x) in links]
        offsets, targets, _, first = near[0] if near else anywhere
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(offsets[first + 1] - offsets[first])])
        columns, parts = [[*names, x].index(y) for y in later], [(np.zeros((0, len(later)), np.int64), values[:0])]
        cuts = np.searchsorted(ends, np.arange(0, int(ends[-1]), CHUNK))
        for low, high in pairwise(np.unique([0, *cuts, len(rows)]).tolist()):
            row = np.repeat(np.arange(low, high), np.diff(ends[low : high + 1]))
            image = targets[np.arange(int(ends[low]), int(ends[high])) + (offsets[first] - ends[:-1])[row]]
            for _, _, keys, images in near[1:]:
                key = images[row] * n + image
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
        values = add_groups(values[order], starts)
        return rows[order[starts]][values > 0], values[values > 0]

    def _arcs(self, links: dict, a: int, b: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which nodes two joined blocks may be mapped to: offsets of rows, targets, and keys of pairs."""
        graph = self._graph
        allowed = np.broadcast_to(links[a, b], graph.states**2)[graph.state]
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(allowed)])
        keys = (graph.sources * graph.nodes + graph.targets)[allowed]
        # The last key is no pair's, so that a search for any pair ends at a key.
        return before[graph.offsets], graph.targets[allowed], np.append(keys, 2**63 - 1)


def _fits(numbers: np.ndarray, wanted: int, induced: bool) -> np.ndarray:
    """Return which numbers of arcs are as wanted: no arc is asked for only if subgraphs are induced."""
    return numbers > 0 if wanted == ANY else (numbers == wanted) | (wanted == 0 and not induced)
