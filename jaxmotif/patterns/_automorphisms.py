"""Automorphisms of a pattern, from a chain of stabilisers.

The chain gives the order of the group of automorphisms, its orbits and its elements. It also gives constraints that
select exactly one of all maps that the group exchanges.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np

from jaxmotif.arrays._rows import renumber
from jaxmotif.patterns._pattern import Pattern


@dataclasses.dataclass(frozen=True, eq=False)
class StabilizerChain:
    """The chain of groups of automorphisms that fix ``base[0], .., base[i - 1]``, for every i.

    Attributes:
      base: every node, in the order in which they are fixed.
      cosets: a tuple for each base node. It has an automorphism for each node of the base node's orbit under the
        automorphisms that fix all earlier base nodes: one that takes the base node there. The identity comes first.
        An automorphism is int64 ``[k]``, the image of every node.
    """

    base: tuple[int, ...]
    cosets: tuple[tuple[np.ndarray, ...], ...]

    @property
    def order(self) -> int:
        """Number of automorphisms."""
        return math.prod(len(coset) for coset in self.cosets)

    @property
    def generators(self) -> list[np.ndarray]:
        """Automorphisms that generate the group: representatives of the cosets, without the identities."""
        return [image for coset in self.cosets for image in coset[1:]]

    def orbit(self, index: int) -> list[int]:
        """Return the images of ``base[index]``, itself first."""
        return [int(image[self.base[index]]) for image in self.cosets[index]]


def stabilizer_chain(
    pattern: Pattern, base: Sequence[int] | None = None, fixed: Iterable[int] = (), colors: np.ndarray | None = None
) -> StabilizerChain:
    """Find the chain of stabilisers: fix one node after another, and find its orbit under the automorphisms left.

    Args:
      pattern: a pattern of up to a few hundred nodes.
      base: the order in which nodes are fixed; 0, 1, .. by default.
      fixed: nodes that stay in place from the start.
      colors: int64 ``[k]``; only nodes of one colour may be exchanged.

    Example:
      >>> stabilizer_chain(Pattern.from_edges([(0, 1), (0, 2), (0, 3)])).order
      6
    """
    k = pattern.num_nodes
    base = tuple(range(k)) if base is None else tuple(int(v) for v in base)
    search, identity = pattern.known(_Search, lambda: _Search(pattern)), np.arange(k)
    color = search.plain  # fixed nodes and the user's colours can only split it further
    fixed = sorted(set(fixed))
    if (fixed or colors is not None) and not _is_discrete(color):
        if colors is not None:
            color = np.unique(np.stack([color, colors]), axis=1, return_inverse=True)[1].reshape(-1)
        color = color.copy()
        color[fixed] = k + np.arange(len(fixed))
        color = search.refine(color)
    if _is_discrete(color):
        return StabilizerChain(base, ((identity,),) * k)
    # The base nodes are done from the last one up. Automorphisms that are known by then join orbits together, and no
    # search is needed for nodes in one orbit.
    colorings = [color]
    for v in base:
        last = colorings[-1]
        single = np.count_nonzero(last == last[v]) == 1
        colorings.append(last if single else search.refine(np.where(np.arange(k) == v, k, last)))
    generators: list[np.ndarray] = []
    cosets: list[tuple[np.ndarray, ...]] = []
    for v, color in zip(reversed(base), reversed(colorings[:-1]), strict=True):
        images = {v: identity}
        cell = np.flatnonzero(color == color[v])
        unreachable = set()
        for w in cell.tolist():
            if w in images or w in unreachable:
                continue
            automorphism = search.find(color, v, w)
            if automorphism is None:
                # If v cannot be moved to w, it cannot be moved to any node that w can be moved to.
                unreachable |= _close({w: identity}, generators).keys()
            else:
                generators.append(automorphism)
                _close(images, generators)
        cosets.append(tuple(images.values()))
    return StabilizerChain(base, tuple(reversed(cosets)))


def automorphism_count(pattern: Pattern) -> int:
    """Return the order of the automorphism group.

    Example:
      >>> automorphism_count(Pattern.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)]))
      8
    """
    return stabilizer_chain(pattern).order


def automorphisms(pattern: Pattern, limit: int = 100_000) -> np.ndarray:
    """List all automorphisms, int64 ``[order, k]``: a row holds the image of every node, and row 0 is the identity.

    Raises:
      ValueError: for more automorphisms than ``limit``.

    Example:
      >>> automorphisms(Pattern.from_edges([(0, 1), (1, 2)])).tolist()
      [[0, 1, 2], [2, 1, 0]]
    """
    chain = stabilizer_chain(pattern)
    if chain.order > limit:
        raise ValueError(f"{pattern} has {chain.order} automorphisms, over limit={limit}; use stabilizer_chain")
    group = np.arange(pattern.num_nodes)[None]
    for coset in reversed(chain.cosets):
        group = np.concatenate([image[group] for image in coset])
    return group


def node_orbits(pattern: Pattern) -> np.ndarray:
    """Return the lowest node that an automorphism moves each node to, int64 ``[k]``.

    Example:
      >>> node_orbits(Pattern.from_edges([(0, 1), (1, 2)])).tolist()
      [0, 1, 0]
    """
    generators = stabilizer_chain(pattern).generators
    lowest = np.full(pattern.num_nodes, -1)
    for v in range(pattern.num_nodes):
        if lowest[v] < 0:
            lowest[list(_close({v: np.arange(pattern.num_nodes)}, generators))] = v
    return lowest


def symmetry_constraints(
    pattern: Pattern, order: Sequence[int] | None = None, fixed: Iterable[int] = (), colors: np.ndarray | None = None
) -> tuple[list[tuple[int, int]], int]:
    """Return constraints that select exactly one of all maps that automorphisms exchange.

    A constraint is a pair ``(a, b)``, which a map satisfies if ``map[a] < map[b]``.

    Args:
      pattern: the pattern.
      order: the matching order; in every pair, ``a`` comes before ``b``.
      fixed: nodes that no automorphism may move, as for :func:`stabilizer_chain`.
      colors: colours that every automorphism must keep, as for :func:`stabilizer_chain`.

    Returns:
      The pairs, and the number of automorphisms that they account for.

    Reference:
      Grochow, Kellis: Network motif discovery using subgraph enumeration and symmetry-breaking, RECOMB 2007.

    Example:
      >>> symmetry_constraints(Pattern.from_edges([(0, 1), (1, 2), (2, 0)]))
      ([(0, 1), (0, 2), (1, 2)], 6)
    """
    chain = stabilizer_chain(pattern, order, fixed, colors)
    pairs = [(a, b) for i, a in enumerate(chain.base) for b in sorted(chain.orbit(i)[1:])]
    return pairs, chain.order


class _Search:
    """A search for automorphisms, by colour refinement.

    Attributes:
      plain: int64 ``[k]``, the colours from node labels and refinement.
    """

    def __init__(self, pattern: Pattern):
        entries = pattern.entries
        codes = entries if not pattern.directed else entries * (int(entries.max(initial=0)) + 1) + entries.T
        self.codes, _ = renumber(codes, int(codes.max(initial=0)) + 1)
        rng = np.random.default_rng(0)
        k, kinds = pattern.num_nodes, int(self.codes.max(initial=0)) + 1
        self.mix = rng.integers(-(2**63), 2**63, size=(kinds, 2 * k + 1), dtype=np.int64)
        labels = np.zeros(k, np.int64) if pattern.node_labels is None else pattern.node_labels
        self.plain = self.refine(np.unique(labels, return_inverse=True)[1].reshape(-1))

    def refine(self, color: np.ndarray) -> np.ndarray:
        """Split colours by the multiset of (pair, colour) at each node until none splits.

        The numbers of the new colours depend on these multisets alone. The multisets are compared by hashes: if hashes
        collide, some colours stay unsplit, but none is split wrongly.
        """
        classes = len(np.unique(color))
        while True:
            multiset = self.mix[self.codes, color[None, :]].sum(axis=1)
            order = np.lexsort((multiset, color))
            new = (np.diff(color[order]) != 0) | (np.diff(multiset[order]) != 0)
            color = np.empty_like(color)
            color[order] = np.concatenate([[0], np.cumsum(new)])[: len(color)]
            count = int(color.max(initial=-1)) + 1
            if count == classes:
                return color
            classes = count

    def find(self, color: np.ndarray, v: int, w: int) -> np.ndarray | None:
        """Return an automorphism that keeps the colours and moves v to w, or ``None``."""
        k = len(color)
        ids = np.arange(k)
        first, second = (self.refine(np.where(ids == x, k, color)) for x in (v, w))
        return self._match(first, second)

    def _match(self, first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
        """Return an automorphism that takes each colour of ``first`` to the same one of ``second``, or ``None``."""
        sizes = np.bincount(first)
        if not np.array_equal(sizes, np.bincount(second)):
            return None
        if (sizes == 1).all():
            image = np.empty_like(first)
            image[np.argsort(first)] = np.argsort(second)
            return image if np.array_equal(self.codes[np.ix_(image, image)], self.codes) else None
        cell = int(np.argmin(np.where(sizes > 1, sizes, len(first) + 1)))
        k = len(first)
        ids = np.arange(k)
        v = int(np.argmax(first == cell))
        fixed = self.refine(np.where(ids == v, k, first))
        for w in np.flatnonzero(second == cell):
            image = self._match(fixed, self.refine(np.where(ids == w, k, second)))
            if image is not None:
                return image
        return None


def _is_discrete(color: np.ndarray) -> bool:
    """Return whether each node has a colour of its own, where colours are 0, 1, .., without gaps."""
    return int(color.max(initial=-1)) == len(color) - 1


def _close(images: dict[int, np.ndarray], generators: Sequence[np.ndarray]) -> dict[int, np.ndarray]:
    """Extend a map from nodes of an orbit to automorphisms by all nodes that the generators reach, and return it."""
    todo = list(images)
    while todo:
        u = todo.pop()
        for image in generators:
            w = int(image[u])
            if w not in images:
                images[w] = image[images[u]]
                todo.append(w)
    return images
