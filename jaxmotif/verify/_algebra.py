"""Weighted sums over all maps of a query, modulo 2^61 - 1, by algebra instead of search.

Injective maps are a signed sum of homomorphisms of the query with some nodes merged. Homomorphisms are counted by
summing out one query node after another from tables, as one multiplies matrices.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import factorial, prod

import numpy as np

from ._graph import SimpleGraph
from ._modular import P, add_up, exact_sum, multiply

MOST_ROWS = 2**23
MOST_SUMS = 5000
CHUNK = 2**20
"""Limits of the rows of a table and of the sums of homomorphisms, and how many rows are made at a time."""

Table = tuple[tuple[int, ...], np.ndarray, np.ndarray]
"""Names of columns, which are blocks of query nodes; rows of graph nodes, no two alike; the value of each row."""

Arcs = dict[tuple[int, int], int | bool]
"""Arcs of a query, each with its label, or True for any."""


class TooMuch(Exception):
    """The reason for which a sum is not computed."""


class Query:
    """A query in a graph.

    Args:
      shape: the query as a certificate describes it.
      graph: the graph that it is looked for in.
      induced: whether nodes that the query does not join must not be joined in the graph.
      deadline: when to stop, by ``time.process_time``.
    """

    def __init__(self, shape: dict, graph: SimpleGraph, induced: bool, deadline: float):
        self.size, self._graph, self._deadline = len(shape["labels"]), graph, deadline
        self._labels, self._sums = shape["labels"], 0
        pairs = [(u, v) for u in range(self.size) for v in range(self.size) if (u != v if graph.directed else u < v)]
        self._arcs: Arcs = {(u, v): shape["arcs"][u][v] for u, v in pairs if shape["arcs"][u][v] is not None}
        self._forbidden = [pair for pair in pairs if pair not in self._arcs] if induced else []

    def weighted_sum(self, weights: dict[int, np.ndarray]) -> int:
        """Return the sum over all injective maps of the product of the weights of their images, modulo P.

        Args:
          weights: for some query nodes, uint64 ``[n]``; others have the weight 1.

        Raises:
          TooMuch: beyond the limits.
          TimeoutError: beyond the deadline.
        """
        total, self._sums = 0, 0
        # Maps that use no forbidden pair: all maps, less those that use one, and so on.
        for number in range(len(self._forbidden) + 1):
            for used in combinations(self._forbidden, number):
                arcs = self._arcs | dict.fromkeys(used, True)
                for blocks in self._partitions(arcs, [], 0):
                    sign = prod((-1) ** (len(block) - 1) * factorial(len(block) - 1) for block in blocks)
                    total += (-1) ** number * sign * self._homomorphisms(arcs, blocks, weights)
        return total % P

    def _partitions(self, arcs: Arcs, blocks: list[list[int]], node: int) -> Iterator[list[list[int]]]:
        """Yield the partitions of the query's nodes into blocks without an arc inside."""
        if node == self.size:
            self._sums += 1
            if self._sums > MOST_SUMS:
                raise TooMuch(f"the query needs more than {MOST_SUMS} sums")
            yield blocks
            return
        for i, block in enumerate(blocks):
            if not any((node, u) in arcs or (u, node) in arcs for u in block):
                yield from self._partitions(arcs, [*blocks[:i], [*block, node], *blocks[i + 1 :]], node + 1)
        yield from self._partitions(arcs, [*blocks, [node]], node + 1)

    def _homomorphisms(self, arcs: Arcs, blocks: list[list[int]], weights: dict[int, np.ndarray]) -> int:
        """Return the weighted sum over the homomorphisms of the query whose nodes are merged into blocks."""
        vectors = []
        for block in blocks:
            vector = np.ones(self._graph.nodes, np.uint64)
            for u in block:
                vector = multiply(vector, weights[u]) if u in weights else vector
                vector = (
                    vector * (self._graph.node_labels == label) if (label := self._labels[u]) is not None else vector
                )
            vectors.append(vector)
        place, tables = {u: i for i, block in enumerate(blocks) for u in block}, []
        for a, b, label in {(*self._sorted(place[u], place[v]), label) for (u, v), label in arcs.items()}:
            rows = self._graph.edges if label is True else self._graph.edges[self._graph.edge_labels == label]
            rows = rows if self._graph.directed else np.concatenate([rows, rows[:, ::-1]])
            rows = rows[(vectors[a][rows[:, 0]] > 0) & (vectors[b][rows[:, 1]] > 0)]
            tables.append(((a, b), rows, np.ones(len(rows), np.uint64)))
        result, left = 1, set(range(len(blocks)))
        while left:
            near = {x: {y for names, _, _ in tables if x in names for y in names} for x in left}
            x = min(left, key=lambda x: (len(near[x]), x))
            left.remove(x)
            joined = (x,), np.arange(self._graph.nodes)[:, None], vectors[x]
            while near_x := sorted((t for t in tables if x in t[0]), key=lambda table: len(table[1])):
                # Whatever lies within the nodes that are joined already leaves fewer rows.
                names = {*joined[0], *near_x[0][0]}
                filters = [t for t in tables if t is not near_x[0] and names.issuperset(t[0])]
                tables = [t for t in tables if not names.issuperset(t[0])]
                joined = self._join(joined, near_x[0], filters, last=not any(x in t[0] for t in tables))
            if joined[0] in ((), (x,)):
                result = result * exact_sum(joined[2]) % P
            elif len(joined[1]) == 0:
                return 0
            else:
                tables.append(joined)
        return result

    def _sorted(self, a: int, b: int) -> tuple[int, int]:
        return (a, b) if self._graph.directed or a < b else (b, a)

    def _keys(self, names, rows: np.ndarray, chosen: Sequence[int]) -> np.ndarray:
        """Return a number for each row, by the chosen ones of its columns."""
        if self._graph.nodes ** len(chosen) >= 2**63:
            raise TooMuch("tables of so many columns are not added up")
        keys = np.zeros(len(rows), np.int64)
        for name in chosen:
            keys = keys * self._graph.nodes + rows[:, names.index(name)]
        return keys

    def _join(self, one: Table, other: Table, filters: list[Table], last: bool) -> Table:
        """Return the table of all pairs of rows that agree in the names which both tables have, and with filters.

        With the ``last`` table of a name, the first one, rows are added up over it.
        """
        (names, rows, values), (more, more_rows, more_values) = one, other
        shared, new = [x for x in names if x in more], [x for x in more if x not in names]
        left, right = self._keys(names, rows, shared), self._keys(more, more_rows, shared)
        order = np.argsort(right, kind="stable")
        first = np.searchsorted(right, left, sorter=order)
        ends = np.cumsum(np.searchsorted(right, left, "right", sorter=order) - first)
        total, kept, parts = int(ends[-1]) if len(ends) else 0, 0, []
        for start in range(0, max(total, 1), CHUNK):
            self._check_limits(kept)
            pairs = np.arange(start, min(start + CHUNK, total))
            i = np.searchsorted(ends, pairs, "right")
            j = order[first[i] + pairs - np.where(i > 0, ends[i - 1], 0)]
            columns = [rows[i], *(more_rows[j, more.index(x)][:, None] for x in new)]
            part = (*names, *new), np.concatenate(columns, axis=1), multiply(values[i], more_values[j])
            for table in filters:
                part = self._filter(part, table)
            parts.append(self._add_equal(part[0][1:], part[1][:, 1:], part[2]) if last else part)
            kept += len(parts[-1][1])
        self._check_limits(kept)
        table = parts[0][0], np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])
        return self._add_equal(*table) if last else table

    def _filter(self, one: Table, other: Table) -> Table:
        """Keep the rows that another table, whose rows are all different, has too, and multiply their values."""
        (names, rows, values), (more, more_rows, more_values) = one, other
        keys, known = self._keys(names, rows, more), self._keys(more, more_rows, more)
        if self._graph.nodes ** len(more) <= MOST_ROWS:
            place = np.full(self._graph.nodes ** len(more), -1)
            place[known] = np.arange(len(known))
            j = place[keys]
        else:
            order = np.argsort(known)
            j = order[np.minimum(np.searchsorted(known, keys, sorter=order), len(known) - 1)] if len(known) else keys
            j = np.where(known[j] == keys, j, -1) if len(known) else np.full(len(keys), -1)
        kept = j >= 0
        return names, rows[kept], multiply(values[kept], more_values[j[kept]])

    def _check_limits(self, rows: int) -> None:
        if time.process_time() > self._deadline:
            raise TimeoutError
        if rows > MOST_ROWS:
            raise TooMuch(f"the query needs a table of {rows} rows, more than {MOST_ROWS}")

    def _add_equal(self, names: tuple[int, ...], rows: np.ndarray, values: np.ndarray) -> Table:
        """Add up the values of equal rows."""
        if len(rows) == 0:
            return names, rows, values
        keys = self._keys(names, rows, names)
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        return names, rows[order[starts]], add_up(values[order], starts)
