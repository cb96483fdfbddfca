"""The matches themselves, from the vertices that lie in one: components first, else restricting and sieving again.

A component of exactly k such vertices is a match. In a larger one, a growing ball is sieved until it holds a match;
then groups of its vertices are taken away for as long as the sieve still answers yes on what is left, until k remain
(group testing by binary splitting, about k log(n / k) runs). Further matches are found in the parts of the space of
matches that the found one leaves: those without its first vertex, those with the first and without the second, and so
on. A vertex is forced into a match by giving it a shade of its own. Every match is verified before it counts.

In a directed graph the sieve finds roots. What a root reaches takes the place of the vertices that lie in a match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import jax
import numpy as np

from jaxmotif.sieve._colors import Motif
from jaxmotif.sieve._prune import ColoredGraph, breadth_first, candidates, components, reached, restrict
from jaxmotif.sieve._runner import Sieve


def is_match(graph: ColoredGraph, motif: Motif, vertices: Iterable[int]) -> bool:
    """Whether the vertices are k distinct ones, connected (or all reached by one), and can take all shades one each."""
    vertices = np.unique(np.fromiter(vertices, np.int64))
    if vertices.size != motif.size:
        return False
    keep = np.zeros(graph.n, bool)
    keep[vertices] = True
    inside, _ = restrict(graph, keep)
    # Connected: all have the label of the smallest vertex, 0.
    if components(inside).any():
        return False
    if inside.arcs is not None and not any(reached(inside, root, motif.size).all() for root in np.eye(motif.size) > 0):
        return False
    taken: dict[int, int] = {}  # shade -> vertex

    def place(vertex: int, tried: set[int]) -> bool:
        for shade in range(motif.size):
            if inside.shades[vertex] >> shade & 1 and shade not in tried:
                tried.add(shade)
                # An augmenting path: a shade is free, or whoever has it takes another (bipartite matching).
                if shade not in taken or place(taken[shade], tried):
                    taken[shade] = vertex
                    return True
        return False

    return all(place(vertex, set()) for vertex in range(motif.size))


class Matches:
    """The matches of a motif in a graph, in no particular order; iterate to find them.

    Args:
      sieve: for motifs of this size.
      graph: the graph.
      motif: the motif.
      key: a random key.
      repetitions: runs that must all answer no before a part of the space counts as empty.
      capacities: padded sizes for the sieve that fit the graph; sizes used before save a compilation.
    """

    def __init__(
        self,
        sieve: Sieve,
        graph: ColoredGraph,
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
        """Distinct matches, each as ascending vertices, among the vertices of a mask."""
        found: set[tuple[int, ...]] = set()
        searched: set[tuple[bytes, frozenset[int]]] = set()
        parts: list[tuple[np.ndarray, frozenset[int]]] = [(part, frozenset()) for part in self._parts(positive)]
        while parts:
            keep, forced = parts.pop()
            # The same part may be reached in several ways: it is searched once.
            part = (np.packbits(keep).tobytes(), forced)
            if part in searched:
                continue
            searched.add(part)
            match = self._one(keep, forced)
            if match is None:
                continue
            if match not in found:
                found.add(match)
                yield match
            parts += self._rest(keep, forced, match)

    def _rest(self, keep, forced, match) -> Iterator[tuple[np.ndarray, frozenset[int]]]:
        """What the match leaves of a part: without its first free vertex, with it and without the second, ..."""
        exclusive = self._exclusive(keep)
        for vertex in match:
            if vertex in forced:
                continue
            without = keep.copy()
            without[vertex] = False
            yield without, forced
            # Forced from here on, so that parts share no match; where that cannot be they overlap, and `found` tells.
            if exclusive:
                forced = forced | {vertex}

    def _exclusive(self, keep) -> bool:
        """Whether every vertex has one color only; the others may take several places, and are not forced."""
        # A vertex of one color may take all its places, and no other: its shades are that color's mask.
        one_color = [np.uint32(mask) for mask in self.motif.masks.values()]
        return bool(np.isin(self.graph.shades[keep], one_color).all())

    def _parts(self, keep: np.ndarray) -> list[np.ndarray]:
        """The components of a mask that could hold a match, as masks, largest first."""
        inside, ids = restrict(self.graph, keep)
        keep = np.zeros(self.graph.n, bool)
        # Cheap tests first, and on what they leave, which falls apart anew.
        keep[ids[candidates(inside, self.motif)]] = True
        inside, ids = restrict(self.graph, keep)
        label = components(inside)
        masks = []
        # Components are numbered by their smallest vertex: `np.unique` names each once.
        for root in np.unique(label):
            mask = np.zeros(self.graph.n, bool)
            mask[ids[label == root]] = True
            masks.append(mask)
        return sorted(masks, key=np.count_nonzero, reverse=True)

    def _one(self, keep: np.ndarray, forced: frozenset[int]) -> tuple[int, ...] | None:
        """A match with the forced vertices inside a mask, or None when the sieve finds none."""
        parts = self._holding(keep, forced)
        # As many vertices as the motif: they are a match, or there is none.
        if len(parts) == 1 and self._settled(parts[0]):
            return self._checked(parts[0])
        for part in parts:
            # Balls first: a match in one is found in a smaller graph; then the whole, as often as the error asks for.
            for ball in [*self._balls(part, forced), *[part] * self.repetitions]:
                left = self._positive(ball, forced)
                if left is not None:
                    return self._shrink(left, ball, forced)
        return None

    def _balls(self, part: np.ndarray, forced: frozenset[int]) -> Iterator[np.ndarray]:
        """Parts of a component around one of its vertices: the 2 k nearest, the 4 k nearest, ... but not all.

        That vertex is forced, or of a color that is rare in the component.
        """
        inside, ids = restrict(self.graph, part)
        able = [np.flatnonzero(inside.shades & np.uint32(mask)) for mask in self.motif.masks.values()]
        root = min(forced) if forced else ids[self._order.choice(min(able, key=len))]
        order = ids[breadth_first(inside, int(np.searchsorted(ids, root)))]
        count = 2 * self.motif.size
        while count < order.size:
            ball = np.zeros(self.graph.n, bool)
            ball[order[:count]] = True
            yield ball
            count *= 2

    def _shrink(self, left: np.ndarray, whole: np.ndarray, forced: frozenset[int]) -> tuple[int, ...]:
        """A match inside ``left``, on which the sieve answers yes; on ``whole`` it did so before."""
        while True:
            # Group testing: what may go is taken away in groups, halved where they may not.
            needed = set(forced)
            free = self._shuffled(left, needed)
            group = self._group(free, needed)
            while free and not self._settled(left):
                tried = free[:group]
                smaller = left.copy()
                smaller[tried] = False
                still = self._positive(smaller, forced)
                if still is not None:
                    # Without the group the sieve still says yes: none of it is needed.
                    left = still
                    free = [vertex for vertex in free if left[vertex]]
                    group = max(1, min(2 * group, len(free) // 2))
                elif group > 1:
                    # No: some of the group may be needed, and halves are tried.
                    group //= 2
                else:
                    # Alone it could not go: it is part of every match that is left.
                    needed.add(free.pop(0))
                    group = self._group(free, needed)
            if self._settled(left):
                match = self._checked(left)
                if match is not None:
                    return match
            # A run missed something: go on where the sieve still says yes, else start from the whole again.
            # An answer of no may be wrong, one of yes is not.
            still = self._positive(left, forced)
            left = whole if still is None else still

    def _group(self, free: list[int], needed: set[int]) -> int:
        """How many free vertices to take away at once: about one in as many as are still needed."""
        return max(1, len(free) // max(1, self.motif.size - len(needed) + 1))

    def _settled(self, keep: np.ndarray) -> bool:
        return np.count_nonzero(keep) == self.motif.size

    def _checked(self, keep: np.ndarray) -> tuple[int, ...] | None:
        vertices = np.flatnonzero(keep)
        return tuple(vertices.tolist()) if is_match(self.graph, self.motif, vertices) else None

    def _shuffled(self, keep: np.ndarray, needed: set[int]) -> list[int]:
        return [vertex for vertex in self._order.permutation(np.flatnonzero(keep)).tolist() if vertex not in needed]

    def _holding(self, keep: np.ndarray, forced: frozenset[int]) -> list[np.ndarray]:
        """The components of a mask that could hold a match with the forced vertices."""
        return [part for part in self._parts(keep) if part[list(forced)].all()]

    def _positive(self, keep: np.ndarray, forced: frozenset[int]) -> np.ndarray | None:
        """One run inside a mask: the smallest component of vertices found to lie in a match, or None."""
        shades = self._forced_shades(forced)
        parts = self._holding(keep, forced)
        if shades is None or not parts:
            return None
        # All components that may hold a match in one run.
        keep = np.logical_or.reduce(parts)
        inside, ids = restrict(self.graph._replace(shades=shades), keep)
        self._key, key = jax.random.split(self._key)
        found = self.sieve.values(self.sieve.place(inside, self._capacities), key) != 0
        if not found.any():
            return None
        if inside.arcs is not None:
            # Roots, in a directed graph: all of a match is reached from its root.
            root = np.arange(inside.n) == self._order.choice(np.flatnonzero(found))
            found = reached(inside, root, self.motif.size - 1)
        positive = np.zeros(self.graph.n, bool)
        positive[ids[found]] = True
        # Where a run misses a vertex the positive ones may hold no match; the part around them does.
        parts = self._holding(positive, forced) or [part for part in parts if part[positive].any()]
        return parts[-1]

    def _forced_shades(self, forced: frozenset[int]) -> np.ndarray | None:
        """Shades under which a match must hold the forced vertices: each has one for itself. None: too many."""
        shades = self.graph.shades.copy()
        for vertex in sorted(forced):
            # The lowest shade that it may take: two's complement.
            own = shades[vertex] & (~shades[vertex] + np.uint32(1))
            if not own:
                return None
            # No other vertex may take it: every match must use this one for it.
            shades &= ~own
            shades[vertex] = own
        return shades
