"""Orbits and counts of five nodes on a CPU, from sums made row by row: in NumPy, as these are.

XLA would take seconds to compile what is done in milliseconds here. Some nodes or edges at a time: what is known of
them stays in cache, and is written row by row of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._host import on_device, zeros_for_jax
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets.five.equations import Arcs, Nodes, Rims, Sums, all_homs, divided, total_homs
from jaxmotif.graphlets.five.hubs import Ranked
from jaxmotif.graphlets.five.results import Limbs, arcs_of_edges, halves, rims_of, with_leaves
from jaxmotif.patterns._orbits import Root, times24

_PART, _BLOCK = 2**12, 2**6
"""Nodes or edges at a time, and those of a product."""

Cast = Callable[[np.ndarray], np.ndarray]
"""What to make of numbers: int64, or float64 beside them (:class:`jaxmotif.graphlets.five.results.Limbs`)."""


def arcs_of(graph: Ranked) -> Arcs:
    """Of the true arcs."""
    return _Ends.of(graph).arcs()


class _Ends(NamedTuple):
    """Of the true arcs, int64: ends, reversed arcs, those that are the first of a node and these nodes, of ``nodes``;
    how many nodes each head stands for, if any for several."""

    tails: np.ndarray
    heads: np.ndarray
    back: np.ndarray
    firsts: np.ndarray
    some: np.ndarray
    nodes: int
    members: np.ndarray | None

    @classmethod
    def of(cls, graph: Ranked) -> _Ends:
        offsets = np.asarray(graph.offsets).astype(np.int64)
        tails, heads, back = (
            np.asarray(x)[: offsets[-1]].astype(np.int64) for x in (graph.tails, graph.heads, graph.back)
        )
        (some,) = np.nonzero(np.diff(offsets))
        members = None if graph.twins is None else members_of(graph)[heads]
        return cls(tails, heads, back, offsets[some], some, len(offsets) - 1, members)

    def arcs(self) -> Arcs:
        return Arcs(
            tail=lambda x: x.take(self.tails), head=lambda x: x.take(self.heads), out=self.out,
            back=lambda x: x.take(self.back), both=lambda x: x + x.take(self.back),
        )  # fmt: skip

    def out(self, x: np.ndarray) -> np.ndarray:
        """Sums over the arcs that leave each node."""
        found = np.zeros(self.nodes, x.dtype)
        if len(self.some):
            found[self.some] = np.add.reduceat(x if self.members is None else x * self.members, self.firsts)
        return found


def degrees_of(graph: Ranked) -> np.ndarray:
    """In the whole graph; as :func:`leaves_of` and :func:`members_of` int64 ``[N]``."""
    found = np.diff(np.asarray(graph.offsets)) if graph.twins is None else graph.twins.degrees
    return found.astype(np.int64)


def leaves_of(graph: Ranked) -> np.ndarray:
    """Neighbours of degree 1, in the whole graph."""
    return np.asarray(graph.leaves if graph.twins is None else graph.twins.leaves).astype(np.int64)


def members_of(graph: Ranked) -> np.ndarray:
    """How many nodes each stands for."""
    if graph.twins is None:
        return np.ones(len(np.asarray(graph.leaves)), np.int64)
    return graph.twins.members.astype(np.int64)


def total_of_homs(graph: Ranked, sums: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`jaxmotif.graphlets.five.results.total_of_homs`."""
    arcs, d = arcs_of(graph), degrees_of(graph)
    every = with_leaves(np, arcs, d, arcs.around(d), arcs.out(sums["t"]), sums)
    return halves(np, [x * members_of(graph) for x in total_homs(arcs, d, every, arcs.out)])


class Solver:
    """Orbits from the sums at all arcs.

    ``narrow``: they are uint32; ``wide``: they take two limbs; ``small``: all homomorphisms are below 2^40; ``device``:
    what the results are on.
    """

    def __init__(
        self, graph: Ranked, sums: Mapping[str, np.ndarray], narrow: bool, wide: bool, small: bool, device: jax.Device
    ):
        self._graph, self._degrees, self._sums = graph, degrees_of(graph), sums
        self._narrow, self._wide, self._small, self._device = narrow, wide, small, device

    def at_nodes(self, places: jax.Array) -> jax.Array | np.ndarray:
        """``[N, 73]``; ``places``: of each node that is asked for."""
        arcs, d, sums = arcs_of(self._graph), self._degrees, self._sums
        every, where = with_leaves(np, arcs, d, arcs.around(d), arcs.out(sums["t"]), sums), np.asarray(places)

        def parts(of: Cast) -> Iterator[list[np.ndarray]]:
            at = Sums(*map(of, every))
            homs = all_homs(arcs, Nodes.of(arcs, of(d), at), at)
            for first in range(0, len(where), _PART):
                yield [x[where[first : first + _PART]] for x in homs]

        return self._held("node", parts, len(where))

    def at_edges(self, graph: Graph, places: jax.Array) -> jax.Array | np.ndarray:
        """``[m, 68]``, in the order of the edge list; ``graph``: with its own numbers; ``places``: of its slots."""
        offsets, targets = np.asarray(graph.out_offsets), np.asarray(graph.out_targets)
        tails = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        # Each edge from its lower end, as the edge list has it.
        edges = np.asarray(places)[np.flatnonzero(tails < targets[: len(tails)])]
        ends, d, sums = _Ends.of(self._graph), self._degrees, self._sums
        arcs = ends.arcs()
        tau, both = arcs.out(sums["t"]), np.stack([edges, ends.back[edges]])
        every = with_leaves(np, arcs, d, arcs.around(d), tau, sums)
        at = Nodes.of(arcs, d, every)
        # One after the other, each in cache.
        every, rims = ([x.take(both) for x in of] for of in (every, rims_of(np, arcs, d, tau, sums)))

        def parts(of: Cast) -> Iterator[list[np.ndarray]]:
            for first in range(0, len(edges), _PART):
                some = slice(None), slice(first, first + _PART)
                those = both[some].reshape(-1)
                sums_there, rims_there = ([of(x[some].reshape(-1)) for x in values] for values in (every, rims))
                part = arcs_of_edges(np, (ends.tails[those], ends.heads[those]))
                yield all_homs(part, Nodes(*map(of, at)), Sums(*sums_there), Rims(*rims_there))

        return self._held("edge", parts, len(edges))

    def _held(
        self, root: Root, parts: Callable[[Cast], Iterator[list[np.ndarray]]], count: int
    ) -> jax.Array | np.ndarray:
        def solve(of: Cast) -> np.ndarray:
            return self._solved(times24(root), parts(of), count, of(np.zeros(0, np.int64)).dtype)

        if not self._wide:
            return on_device(solve(lambda x: x), self._device)
        return Limbs.of(solve, wide=True).held(narrow=False)

    def _solved(self, weights: np.ndarray, parts: Iterator[list[np.ndarray]], count: int, kind: np.dtype) -> np.ndarray:
        """From homomorphisms to some nodes or edges after the other, so many in all."""
        found = zeros_for_jax((count, len(weights)), np.uint32 if self._narrow else kind)
        part, first = np.zeros((weights.shape[1], _PART), np.float64 if self._small else kind), 0
        for homs in parts:
            stop = first + len(homs[0])
            for row, x in zip(part, homs, strict=True):
                row[: stop - first] = x
            found[first:stop] = divided(_product(part, weights))[: stop - first]
            first = stop
        return found


def _product(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of each column of ``rows``, ``[columns, R]``, in their type, which it wraps in."""
    if rows.dtype == np.float64:
        # So few at a time that BLAS leaves them to this thread: its others would wait, busily, for more.
        together = rows.reshape(len(rows), -1, _BLOCK).transpose(1, 2, 0)
        return (together @ weights.T.astype(np.float64)).reshape(-1, len(weights))
    low, high = (_product(x.astype(np.float64), weights).astype(np.int64) for x in (rows & 0xFFFFFFFF, rows >> 32))
    return low + (high << 32)
