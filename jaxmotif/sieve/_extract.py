"""The extraction of matches from the vertices that lie in one.

A component of exactly k such vertices is a match. In a larger one, a growing ball is sieved until it holds a match.
Then groups of its vertices are taken away for as long as the sieve still answers yes on the rest, until k remain (group
testing by binary splitting, about k log(n / k) runs). A match divides the space of all others into parts: the matches
without its first vertex, those with the first and without the second, and so on. Each part is searched in the same way.
A vertex is forced into a match by giving it a shade of its own. Every match is verified before it counts.

In a directed graph the sieve finds roots. The vertices that a root reaches then take the place of the vertices that lie
in a match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import jax
import numpy as np

from jaxmotif.sieve import _prune as prune
from jaxmotif.sieve._colors import Motif
from jaxmotif.sieve._runner import Sieve


def is_match(graph: prune.ColoredGraph, motif: Motif, vertices: Iterable[int]) -> bool:
    """Return whether vertices form a match.

    They do if they are k distinct ones, if they are connected (with arcs: if one reaches all), and if they can take
    all shades, one each.
    """
    from scipy import sparse
    from scipy.sparse import csgraph

    vertices = np.unique(np.fromiter(vertices, np.int64))
    if vertices.size != motif.size:
        return False
    keep = np.zeros(graph.n, bool)
    keep[vertices] = True
    inside, _ = prune.restrict(graph, keep)
    # In a connected graph all vertices are of component 0.
    if prune.components(inside).any():
        return False
    if inside.arcs is not None and not any(
        prune.reached(inside, root, motif.size).all() for root in np.eye(motif.size) > 0
    ):
        return False
    may_take = sparse.csr_array(inside.shades[:, None] >> np.arange(motif.size, dtype=np.uint32) & 1)
    return bool((csgraph.maximum_bipartite_matching(may_take) >= 0).all())


class Matches:
    """A finder of the matches of a motif in a graph, in no particular order.

    Args:
      sieve: a sieve for motifs of this size.
      graph: the graph.
      motif: the motif.
      key: a random key.
      repetitions: how many runs must answer no before a part of the space counts as empty.
      capacities: padded numbers of vertices and slots; numbers that were used before save a compilation.
    """

    def __init__(
        self,
        sieve: Sieve,
        graph: prune.ColoredGraph,
        motif: Motif,
        key: jax.Array,
        repetitions: int,
        capacities: tuple[int, int],
    ):
        self.sieve, self.graph, self.motif = sieve, graph, motif
        self.repetitions = repetitions
        self._key = key
        self._order = np.random.default_rng(np.asarray(jax.random.key_data(key)).ravel())
        self._capacities = capacities

    def among(self, positive: np.ndarray) -> Iterator[tuple[int, ...]]:
        """Yield distinct matches, each as ascending vertices, among the vertices of a mask."""
        known: set[tuple[int, ...]] = set()
        searched: set[tuple[bytes, frozenset[int]]] = set()
        parts: list[tuple[np.ndarray, frozenset[int]]] = [(part, frozenset()) for part in self._parts(positive)]
        while parts:
            keep, forced = parts.pop()
            # A part may come up in several ways, and is searched once.
            part = (np.packbits(keep).tobytes(), forced)
            if part in searched:
                continue
            searched.add(part)
            match = self._find_one(keep, forced)
            if match is None:
                continue
            if match not in known:
                known.add(match)
                yield match
            parts += self._divide(keep, forced, match)

    def _divide(
        self, keep: np.ndarray, forced: frozenset[int], match: tuple[int, ...]
    ) -> Iterator[tuple[np.ndarray, frozenset[int]]]:
        """Divide the rest of a part: without the match's first free vertex, with it and without the second, ..."""
        # Only vertices with a single color can be forced: their shades are the mask of that color.
        one_color = [np.uint32(mask) for mask in self.motif.masks.values()]
        exclusive = np.isin(self.graph.shades[keep], one_color).all()
        for vertex in match:
            if vertex in forced:
                continue
            without = keep.copy()
            without[vertex] = False
            yield without, forced
            # The vertex is forced from here on, so that parts share no match. Where it cannot be, parts overlap.
            if exclusive:
                forced = forced | {vertex}

    def _mask(self, vertices: np.ndarray) -> np.ndarray:
        """Return some vertices as a mask."""
        mask = np.zeros(self.graph.n, bool)
        mask[vertices] = True
        return mask

    def _parts(self, keep: np.ndarray, forced: frozenset[int] = frozenset()) -> list[np.ndarray]:
        """Return the components of a mask that could hold a match with the forced vertices, as masks, largest first."""
        inside, ids = prune.restrict(self.graph, keep)
        # The cheap tests come first, since the rest may fall into more components.
        inside, ids = prune.restrict(self.graph, self._mask(ids[prune.candidates(inside, self.motif)]))
        label = prune.components(inside)
        parts = (self._mask(ids[label == root]) for root in np.unique(label))
        return sorted((x for x in parts if x[list(forced)].all()), key=np.count_nonzero, reverse=True)

    def _find_one(self, keep: np.ndarray, forced: frozenset[int]) -> tuple[int, ...] | None:
        """Find a match with the forced vertices inside a mask; return ``None`` when the sieve finds none."""
        parts = self._parts(keep, forced)
        # If there are as many vertices as the motif has, they are the only possible match.
        if len(parts) == 1 and self._has_motif_size(parts[0]):
            return self._verify(parts[0])
        for part in parts:
            # A ball is a smaller graph to find a match in. The whole comes last, as often as the error bound requires.
            for ball in [*self._balls(part, forced), *[part] * self.repetitions]:
                rest = self._sieve_inside(ball, forced)
                if rest is not None:
                    return self._shrink(rest, ball, forced)
        return None

    def _balls(self, part: np.ndarray, forced: frozenset[int]) -> Iterator[np.ndarray]:
        """Yield parts of a component near one of its vertices: the 2 k nearest, the 4 k nearest, ... but not all.

        That vertex is forced, or has the color that is rarest in the component.
        """
        inside, ids = prune.restrict(self.graph, part)
        able = [np.flatnonzero(inside.shades & np.uint32(mask)) for mask in self.motif.masks.values()]
        root = min(forced) if forced else ids[self._order.choice(min(able, key=len))]
        order = ids[prune.breadth_first(inside, int(np.searchsorted(ids, root)))]
        count = 2 * self.motif.size
        while count < order.size:
            yield self._mask(order[:count])
            count *= 2

    def _shrink(self, rest: np.ndarray, whole: np.ndarray, forced: frozenset[int]) -> tuple[int, ...]:
        """Find a match inside ``rest``, where the sieve answers yes, as it did before on ``whole``."""
        while True:
            # Group testing: vertices are taken away in groups, which are halved where the sieve then answers no.
            needed = set(forced)
            free = [vertex for vertex in self._order.permutation(np.flatnonzero(rest)).tolist() if vertex not in needed]
            group = self._group_size(free, needed)
            while free and not self._has_motif_size(rest):
                smaller = rest.copy()
                smaller[free[:group]] = False
                positive = self._sieve_inside(smaller, forced)
                if positive is not None:
                    # The sieve answers yes without the group, so no vertex of it is needed.
                    rest = positive
                    free = [vertex for vertex in free if rest[vertex]]
                    group = max(1, min(2 * group, len(free) // 2))
                elif group > 1:
                    # Some vertex of the group may be needed, and halves are tried.
                    group //= 2
                else:
                    # A single vertex that cannot be taken away is in every match that is left.
                    needed.add(free.pop(0))
                    group = self._group_size(free, needed)
            if self._has_motif_size(rest):
                match = self._verify(rest)
                if match is not None:
                    return match
            # A run answered no wrongly. Go on where the sieve answers yes, or else start from the whole again.
            positive = self._sieve_inside(rest, forced)
            rest = whole if positive is None else positive

    def _group_size(self, free: list[int], needed: set[int]) -> int:
        """Return the size of a group, which makes about one group for each vertex that is still needed."""
        return max(1, len(free) // max(1, self.motif.size - len(needed) + 1))

    def _has_motif_size(self, keep: np.ndarray) -> bool:
        """Return whether a mask has as many vertices as the motif."""
        return np.count_nonzero(keep) == self.motif.size

    def _verify(self, keep: np.ndarray) -> tuple[int, ...] | None:
        """Return the vertices of a mask if they are a match."""
        vertices = np.flatnonzero(keep)
        return tuple(vertices.tolist()) if is_match(self.graph, self.motif, vertices) else None

    def _sieve_inside(self, keep: np.ndarray, forced: frozenset[int]) -> np.ndarray | None:
        """Run the sieve inside a mask.

        Returns:
          The smallest component of vertices that lie in a match, or ``None`` where the sieve answers no.
        """
        shades = self._forced_shades(forced)
        parts = self._parts(keep, forced)
        if shades is None or not parts:
            return None
        # One run covers all components that could hold a match.
        keep = np.logical_or.reduce(parts)
        inside, ids = prune.restrict(self.graph._replace(shades=shades), keep)
        self._key, key = jax.random.split(self._key)
        placed = self.sieve.place(inside, self.sieve.upload(inside, self._capacities))
        in_match = self.sieve.values(placed, key) != 0
        if not in_match.any():
            return None
        if inside.arcs is not None:
            # With arcs these are roots, which reach all vertices of their match.
            root = np.arange(inside.n) == self._order.choice(np.flatnonzero(in_match))
            in_match = prune.reached(inside, root, self.motif.size - 1)
        positive = self._mask(ids[in_match])
        # A run may miss a vertex, and the positive ones then hold no match; the component that they lie in does.
        parts = self._parts(positive, forced) or [part for part in parts if part[positive].any()]
        return parts[-1]

    def _forced_shades(self, forced: frozenset[int]) -> np.ndarray | None:
        """Return shades under which every match contains the forced vertices, or ``None`` where none can.

        Each forced vertex gets a shade for itself.
        """
        shades = self.graph.shades.copy()
        for vertex in sorted(forced):
            # In two's complement this is the lowest shade that the vertex may take.
            own = shades[vertex] & (~shades[vertex] + np.uint32(1))
            if not own:
                return None
            # As no other vertex may take the shade, every match needs this vertex.
            shades &= ~own
            shades[vertex] = own
        return shades
