"""The extraction of matches, once it is known which vertices lie in any match.

A component of exactly k such vertices is a match. In a larger one, a growing ball is sieved until it holds a match.
Then groups of its vertices are taken away for as long as the sieve still answers yes on the rest, until k remain (group
testing by binary splitting, about k log(n / k) runs, all of them in the ball alone). A match divides the space of all
others into parts: the matches without its first vertex, those with the first and without the second, and so on. Each
part is searched in the same way. A vertex is forced into a match by giving it a shade of its own. Every match is
verified before it counts.

In a directed graph the sieve finds roots. The vertices that a root reaches then take the place of the vertices that lie
in a match.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

import jax
import numpy as np

from jaxmotif.sieve import _prune as prune
from jaxmotif.sieve._colors import Motif
from jaxmotif.sieve._runner import Sieve, smaller_capacities


def is_match(graph: prune.ColoredGraph, motif: Motif, vertices: Iterable[int]) -> bool:
    """Return whether vertices form a match.

    They do if there are k distinct vertices, if these are connected (in a directed graph: if one of them reaches all
    others), and if they can take all shades, one each.
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


@dataclasses.dataclass(eq=False)
class Matches:
    """The matches of a motif in a graph, in no particular order, found one by one as they are asked for.

    Attributes:
      sieve: a sieve for motifs of this size.
      graph: the graph.
      motif: the motif.
      key: a random key, which is split for each run.
      repetitions: how many runs must answer no before a part of the space counts as empty.
      capacities: padded numbers of vertices and slots; numbers that were used before save a compilation.
    """

    sieve: Sieve
    graph: prune.ColoredGraph
    motif: Motif
    key: jax.Array
    repetitions: int
    capacities: tuple[int, int]

    def __post_init__(self) -> None:
        self._order = np.random.default_rng(np.asarray(jax.random.key_data(self.key)).ravel())

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Yield distinct matches, each as ascending vertices."""
        known: set[tuple[int, ...]] = set()
        searched: set[tuple[bytes, frozenset[int]]] = set()
        # Vertices, those of them that are forced, and whether the vertices are known to be one component.
        parts: list[tuple[np.ndarray, frozenset[int], bool]] = [(np.arange(self.graph.n), frozenset(), False)]
        while parts:
            vertices, forced, connected = parts.pop()
            if not connected:
                parts += [(part, forced, True) for part in self._parts(vertices, forced)]
                continue
            # A part may come up in several ways, and is searched once.
            part = (np.packbits(self._mask(vertices)).tobytes(), forced)
            if part in searched:
                continue
            searched.add(part)
            match = self._find_one(vertices, forced)
            if match is None:
                continue
            if match not in known:
                known.add(match)
                yield match
            parts += [(*rest, False) for rest in self._divide(vertices, forced, match)]

    def _divide(
        self, vertices: np.ndarray, forced: frozenset[int], match: tuple[int, ...]
    ) -> Iterator[tuple[np.ndarray, frozenset[int]]]:
        """Divide the rest of a part: without the match's first free vertex, with it and without the second, ..."""
        # Only vertices with a single color can be forced: their shades are the mask of that color.
        one_color = [np.uint32(mask) for mask in self.motif.masks.values()]
        exclusive = np.isin(self.graph.shades[vertices], one_color).all()
        for vertex in match:
            if vertex in forced:
                continue
            yield vertices[vertices != vertex], forced
            # The vertex is forced from here on, so that parts share no match. Where it cannot be, parts overlap.
            if exclusive:
                if not forced:
                    # A match lies within k - 1 steps of each of its vertices, whichever way arcs go.
                    undirected = self.graph._replace(arcs=None)
                    near = prune.reached(undirected, self._mask([vertex]), self.motif.size - 1)
                    vertices = vertices[near[vertices]]
                forced = forced | {vertex}

    def _next_key(self) -> jax.Array:
        self.key, key = jax.random.split(self.key)
        return key

    def _mask(self, vertices: np.ndarray | list[int]) -> np.ndarray:
        """Return some vertices as a mask."""
        mask = np.zeros(self.graph.n, bool)
        mask[vertices] = True
        return mask

    def _parts(self, vertices: np.ndarray, forced: frozenset[int]) -> list[np.ndarray]:
        """Return the components of some vertices that could hold a match with the forced ones, largest first.

        Vertices ascend, in a component as well.
        """
        inside, ids = prune.restrict(self.graph, self._mask(vertices))
        parts = [ids[part] for part in prune.parts_with_candidates(inside, self.motif)]
        if forced:
            parts = [part for part in parts if np.isin(list(forced), part).all()]
        return sorted(parts, key=np.size, reverse=True)

    def _find_one(self, part: np.ndarray, forced: frozenset[int]) -> tuple[int, ...] | None:
        """Find a match with the forced vertices in a component; return ``None`` when the sieve finds none."""
        # If there are as many vertices as the motif has, they are the only possible match.
        if self._has_motif_size(part):
            return self._verify(part)
        for region in self._regions(part, forced):
            rest = self._sieve_inside(region, forced)
            if rest is not None:
                return self._shrink_inside(region, rest, forced)
        return None

    def _regions(self, part: np.ndarray, forced: frozenset[int]) -> Iterator[np.ndarray]:
        """Yield where to look for a match in a component: in growing balls, then ``repetitions`` times in all of it.

        The balls are the 2 k vertices nearest to a root, then half as many more, and so on. The root is a forced
        vertex, or without one a vertex of the color that is rarest in the component. A match with the root lies within
        k - 1 steps of it. If the root is forced, the vertices at this distance therefore take the place of the whole
        component.
        """
        inside, ids = prune.restrict(self.graph, self._mask(part))
        able = [np.flatnonzero(inside.shades & np.uint32(mask)) for mask in self.motif.masks.values()]
        root = np.searchsorted(ids, [min(forced)]) if forced else self._order.choice(min(able, key=len), 1)
        near, count = root[:0], 2 * self.motif.size
        for level in prune.levels(inside.offsets, inside.targets, root, self.motif.size - 1):
            near = np.concatenate([near, level])
            while count < near.size:
                yield ids[np.sort(near[:count])]
                count += count // 2
        all_near = ids[np.sort(near)]
        if forced:
            part = all_near
        elif near.size < part.size:
            yield all_near
        yield from [part] * self.repetitions

    def _shrink_inside(self, region: np.ndarray, rest: np.ndarray, forced: frozenset[int]) -> tuple[int, ...]:
        """Find a match in a region, of which the sieve has left ``rest``, without a look at other vertices."""
        inside, _ = prune.restrict(self.graph, self._mask(region))
        inner = dataclasses.replace(self, graph=inside, key=self._next_key())
        needed = frozenset(np.searchsorted(region, sorted(forced)).tolist())
        return tuple(region[list(inner._shrink(np.searchsorted(region, rest), needed))].tolist())

    def _shrink(self, rest: np.ndarray, forced: frozenset[int]) -> tuple[int, ...]:
        """Find a match, beginning with vertices ``rest`` on which the sieve has answered yes."""
        while True:
            # Group testing: vertices are taken away in groups, which are halved where the sieve then answers no.
            needed = set(forced)
            free = [vertex for vertex in self._order.permutation(rest).tolist() if vertex not in needed]
            group = self._group_size(free, needed)
            while free and not self._has_motif_size(rest):
                positive = self._sieve_inside(np.setdiff1d(rest, free[:group], assume_unique=True), forced)
                if positive is not None:
                    # The sieve answers yes without the group, so no vertex of it is needed.
                    rest, left = positive, set(positive.tolist())
                    free = [vertex for vertex in free if vertex in left]
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
            rest = np.arange(self.graph.n) if positive is None else positive

    def _group_size(self, free: list[int], needed: set[int]) -> int:
        """Return the size of a group, which makes about one group for each vertex that is still needed."""
        return max(1, len(free) // max(1, self.motif.size - len(needed) + 1))

    def _has_motif_size(self, vertices: np.ndarray) -> bool:
        """Return whether there are as many vertices as in the motif."""
        return vertices.size == self.motif.size

    def _verify(self, vertices: np.ndarray) -> tuple[int, ...] | None:
        """Return some vertices if they are a match."""
        return tuple(vertices.tolist()) if is_match(self.graph, self.motif, vertices) else None

    def _sieve_inside(self, vertices: np.ndarray, forced: frozenset[int]) -> np.ndarray | None:
        """Run the sieve on some vertices alone.

        Returns:
          The smallest component of vertices that lie in a match, or ``None`` where the sieve answers no.
        """
        parts = self._parts(vertices, forced)
        if not parts:
            return None
        # One run covers all components that could hold a match.
        keep = self._mask(np.concatenate(parts))
        inside, ids = prune.restrict(self.graph._replace(shades=self._forced_shades(forced)), keep)
        placed = self.sieve.place(inside, self.sieve.upload(inside, smaller_capacities(inside, self.capacities)))
        in_match = self.sieve.values(placed, self._next_key()) != 0
        if not in_match.any():
            return None
        if inside.arcs is not None:
            # With arcs these are roots, which reach all vertices of their match.
            root = np.arange(inside.n) == self._order.choice(np.flatnonzero(in_match))
            in_match = prune.reached(inside, root, self.motif.size - 1)
        positive = ids[in_match]
        # A run may miss a vertex, and the positive ones then hold no match; the component that they lie in does.
        parts = self._parts(positive, forced) or [part for part in parts if np.isin(part, positive).any()]
        return parts[-1]

    def _forced_shades(self, forced: frozenset[int]) -> np.ndarray:
        """Return shades under which every match contains the forced vertices: each gets a shade for itself.

        Forced vertices have one color each, and lie in one match. So its colors have a shade for each of them.
        """
        shades = self.graph.shades.copy()
        for vertex in sorted(forced):
            # In two's complement this is the lowest shade that the vertex may take.
            own = shades[vertex] & (~shades[vertex] + np.uint32(1))
            # As no other vertex may take the shade, every match needs this vertex.
            shades &= ~own
            shades[vertex] = own
        return shades
