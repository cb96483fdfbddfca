"""Hubs among whose neighbours many are adjacent, on a CPU: neighbourhoods as small dense matrices, in NumPy.

It finds what :func:`five.hubs.gather` does without tables, and 5-cliques; XLA would be compiled for each
size of matrices, which takes longer than most graphs do. Some matrices at a time, in cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64
from jaxmotif.graphlets._by_lists import Core, Triangles
from jaxmotif.graphlets._cells import MOST
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets.five.hubs import ADJACENT, own_columns

WIDTHS = np.array(
    [*range(8, 65, 8), *range(80, 129, 16), 160, 192, *(size << i for i in range(22) for size in (256, 384))]
)
"""Of matrices."""

_CELLS = 2**15
"""Of matrices at a time, unless it is one."""

_ALONE = 2**19
"""Multiplications up to which BLAS leaves a product to this thread; its others would wait, busily, for more."""

_EXACT = 2.0**24
"""Whole numbers below this are exact in float32."""


class Group(NamedTuple):
    """Hubs with matrices of one width: their numbers in the core, int64, ascending; and the first cell of all."""

    width: int
    hubs: np.ndarray
    first: int

    @property
    def cells(self) -> int:
        return len(self.hubs) * self.width**2


def groups(lengths: np.ndarray) -> list[Group]:
    """Of the lists of all hubs; those of length 0 have no matrix."""
    (hubs,) = np.nonzero(lengths)
    which, found, first = np.searchsorted(WIDTHS, lengths[hubs]), list[Group](), 0
    for i in np.unique(which):
        found.append(Group(int(WIDTHS[i]), hubs[which == i], first))
        first += found[-1].cells
    return found


def _times(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Products of matrices ``[B, M, K]`` and ``[B, K, N]`` of floats; M is a multiple of 8."""
    count, m, k = x.shape
    rows = next((r for r in range(m, 0, -8) if m % r == 0 and r * k * y.shape[2] < _ALONE), 0)
    if rows:
        return np.matmul(x.reshape(count, -1, rows, k), y[:, None]).reshape(count, m, -1)
    return np.asarray(_large(x, y))


@jit64
def _large(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.matmul(x, y)


class _Corners(NamedTuple):
    """Of triangles and their corners, where these have matrices: in those the two cells of the others, and the arc
    between these from the lower to the higher."""

    cell: np.ndarray
    turned: np.ndarray
    side: np.ndarray


class _Batch(NamedTuple):
    """Some matrices: ``cells``, which of all, of ``shape [B, D, D]``; ``arcs`` to their nodes, and which of ``[B, D]``
    these are, ``place``."""

    cells: slice
    shape: tuple[int, int, int]
    arcs: np.ndarray
    place: np.ndarray


class Neighbourhoods:
    """Those of the hubs that have matrices.

    Args:
      rows: of each arc u -> x the first cell of the row of x in the matrix of u; those of hubs that have none are past
        all cells.
      matrices: :func:`groups` of hubs.
      at_heads: of all arcs, what their heads have: degrees ``d``, walks of length 2 ``p2``, ``leaves``, and how many
        ``members`` they stand for.
    """

    def __init__(
        self, core: Core, triangles: Triangles, rows: np.ndarray, matrices: list[Group], at_heads: dict[str, np.ndarray]
    ):
        self._core, self._triangles, self._rows, self._matrices = core, triangles, rows, matrices
        names = "d", "p2", "leaves", "members"
        self._at_heads, self._twins = np.stack([at_heads[x] for x in names]), at_heads["members"].max() > 1
        self._place = np.arange(len(core.tails)) - core.first[core.tails]
        self.cells = sum(group.cells for group in matrices)

    def gather(self, own: np.ndarray, both: np.ndarray, detail: Detail) -> np.ndarray | None:
        """What they give, into ``own``, ``[K, S]`` by :func:`five.hubs.own_columns`, and ``both``, whose
        cells are 0; for edge orbits it gives ``rim``."""
        for c in self._corners():
            both[c.cell] = both[c.turned] = 1 << ADJACENT
        walks = np.zeros(self.cells if detail == "edge" else 0, np.uint32)
        for b in self._batches():
            heads = np.zeros((len(self._at_heads), b.shape[0] * b.shape[1]))
            heads[:, b.place] = self._at_heads[:, b.arcs]
            kept, kept_walks = both[b.cells], walks[b.cells] if detail == "edge" else None
            found = self._sums(_adjacent(kept, b.shape), kept, kept_walks, heads.reshape(-1, *b.shape[:2]), detail)
            own[:, b.arcs] = np.stack([found[name].reshape(-1) for name in own_columns(detail)])[:, b.place]
        return self._rim(walks) if detail == "edge" else None

    def chords(self, both: np.ndarray, codegrees: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``chord`` and ``side_pairs`` at the arcs that leave hubs with matrices, int64; ``codegrees``: in the whole
        graph, of all cells."""
        found = np.zeros((2, len(self._rows)), np.int64)
        for b in self._batches():
            near, shared = _adjacent(both[b.cells], b.shape), codegrees[b.cells].astype(np.float32).reshape(b.shape)
            sums = [_total(near, _exactly(near, x)).reshape(-1) for x in (shared, near * shared)]
            found[:, b.arcs] = np.stack(sums)[:, b.place]
        return found[0], found[1]

    def _batches(self) -> Iterator[_Batch]:
        for group in self._matrices:
            lane, step, size = np.arange(group.width), max(1, _CELLS // group.width**2), group.width**2
            for start in range(0, len(group.hubs), step):
                hubs = group.hubs[start : start + step]
                (place,) = np.nonzero((lane < self._core.lengths[hubs][:, None]).reshape(-1))
                arcs = (self._core.first[hubs][:, None] + lane).reshape(-1)[place]
                first = group.first + start * size
                yield _Batch(slice(first, first + len(hubs) * size), (len(hubs), group.width, group.width), arcs, place)

    def _corners(self) -> Iterator[_Corners]:
        place, rows, of = self._place, self._rows, self._triangles
        for first in range(0, len(of.uv), MOST):
            some = of.some(slice(first, first + MOST))
            for (x, y), side in zip(some.around(self._core.back), some.sides, strict=True):
                (mine,) = np.nonzero(rows[x] < self.cells)
                x, y = x[mine], y[mine]
                yield _Corners(rows[x] + place[y], rows[y] + place[x], side[mine])

    def _rim(self, walks: np.ndarray) -> np.ndarray:
        found = np.zeros(len(self._rows), np.int64)
        for c in self._corners():
            np.add.at(found, c.side, walks[c.cell].astype(np.int64))
        return found + found[self._core.back]

    def _sums(
        self, near: np.ndarray, both: np.ndarray, walks: np.ndarray | None, heads: np.ndarray, detail: Detail
    ) -> dict[str, np.ndarray]:
        """Float64 ``[B, D]`` at the arcs from hubs to their neighbours, by name, from ``near``, who is adjacent,
        float32 ``[B, D, D]``; into ``both`` common neighbours, into ``walks`` those of length 3 along edges. Nodes
        count as often as they have members. ``heads``: what these have, as the class takes it."""
        d, p2, of_heads, members = heads
        many = members if self._twins else None

        def weighted(x: np.ndarray) -> np.ndarray:
            return x if many is None else x * many[:, :, None].astype(x.dtype)

        def apply(matrix: np.ndarray, *values: np.ndarray) -> np.ndarray:
            """Sums over rows, of values that all columns have: ``[values, B, D]``."""
            return np.moveaxis(_times(matrix, weighted(np.stack(values, axis=-1))), -1, 0)

        def total(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return _total(x, y) if many is None else np.einsum("bij,bij,bj->bi", x, y, many)

        common, near64 = _times(near, weighted(near)), near.astype(np.float64)
        both |= common.astype(np.uint16).reshape(-1)
        k = near * common  # 4-cliques on the triangle of the hub and two neighbours
        k64, one = k.astype(np.float64), np.ones_like(d)
        t, degrees, leaves, around, squares = apply(near64, one, d, of_heads, p2, d * d)
        s, kt, tail = apply(k64, one, t, d)
        found = {"t": t, "degrees": degrees, "leaves": leaves, "c": total(common, common), "k2": total(k, k)}
        l2, cube, ls, dart = apply(near64, t, t * t, s, t * d)
        found |= {"s": s, "l2": l2}
        if detail == "graph":
            return found
        l3, spread = apply(near64, l2, degrees)
        tip = total(near, _exactly(near, k if many is None else weighted(k64)))
        found |= {"walks": around, "l3": l3, "spread": spread, "cube": cube, "ls": ls, "kt": kt, "tip": tip}
        if walks is None:
            return found
        walks[:] = (near * _exactly(near, common)).reshape(-1)
        return found | {"squares": squares, "dart": dart, "tail": tail}


def _adjacent(both: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    return (both >> ADJACENT).astype(np.float32).reshape(shape)


def _total(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Sums over rows of products of whole numbers, in float32 if that holds them."""
    kind = np.float32 if float(x.max()) * float(y.max()) * x.shape[1] < _EXACT else np.float64
    return np.einsum("bij,bij->bi", x.astype(kind, copy=False), y.astype(kind, copy=False))


def _exactly(near: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The product with whole numbers, in float32 if that holds all of its own."""
    kind = np.float32 if float(x.max()) * near.shape[1] < _EXACT else np.float64
    return _times(near.astype(kind, copy=False), x.astype(kind, copy=False))


# ---- 5-cliques


_PAIRS = 2**18
"""Cells of the rows that tell of pairs at a time."""


def five_cliques(core: Core, triangles: Triangles, members: np.ndarray, s: np.ndarray) -> np.ndarray:
    """5-cliques on each edge, int64 at both arcs; ``members``: of the heads of all arcs; ``s``: twice the 4-cliques on
    each edge, at least.

    As :func:`five.hubs.five_cliques`, each at its lowest node, from pairs of adjacent higher neighbours:
    Q says who is adjacent to both, and two others belong to as many 5-cliques as their columns of Q have in common.
    """
    found, thirds = np.zeros((2, len(core.tails)), np.int64)
    twins, up = members.max() > 1, core.first + core.lengths - core.later
    kind = np.dtype(np.float64 if twins or core.later.max(initial=0) >= 2**12 else np.float32)
    # Each edge of a 5-clique is part of three 4-cliques, and its lowest node the lowest of six triangles.
    many = s > 5
    triangles = triangles.some(many[triangles.uv] & many[triangles.vw] & many[triangles.uw])
    hubs = core.tails[triangles.uv]
    enough = np.bincount(hubs, minlength=len(up)) >= 6
    for group in groups(np.where(enough, core.later, 0)):
        slot = np.full(len(up), -1)
        slot[group.hubs] = np.arange(len(group.hubs))
        mine, step = triangles.some(slot[hubs] >= 0), max(1, _CELLS // group.width**2)
        slots = slot[core.tails[mine.uv]]
        begin = np.searchsorted(slots, np.arange(len(group.hubs) + 1))
        for start in range(0, len(group.hubs), step):
            ends = begin[start : start + step + 1]
            pairs = mine.some(slice(ends[0], ends[-1]))
            first, low = (slots[ends[0] : ends[-1]] - start) * group.width, up[core.tails[pairs.uv]]
            x, y = pairs.uv - low, pairs.uw - low
            near = np.zeros(((len(ends) - 1) * group.width, group.width), kind)
            near[first + x, y] = near[first + y, x] = 1
            weights = (members[pairs.uv] * members[pairs.uw]).astype(kind) if twins else None
            value = _shared(near, first + x, first + y, ends - ends[0], weights)[first + x, y].astype(np.int64)
            # A 5-clique is found at each pair of its four higher nodes: three times at each of these.
            np.add.at(found, pairs.vw, value * members[core.back[pairs.uv]])
            np.add.at(thirds, pairs.uv, value * members[pairs.uw])
            np.add.at(thirds, pairs.uw, value * members[pairs.uv])
    found += thirds // 3
    return found + found[core.back]


def _shared(
    near: np.ndarray, x: np.ndarray, y: np.ndarray, begin: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Of two neighbours of a hub the pairs that both are adjacent to, ``[B * width, width]``; ``near``: who is
    adjacent; ``x``, ``y``: rows of the two of a pair; ``begin``: the first pair of each hub, and past the last."""
    width = near.shape[1]
    found, step = np.zeros((len(begin) - 1, width, width), near.dtype), max(1, _PAIRS // width)
    for first in range(0, len(x), step):
        some = slice(first, first + step)
        Q = near[x[some]] * near[y[some]]
        heavy = Q if weights is None else Q * weights[some, None]
        low, high = np.searchsorted(begin, [first, min(first + step, len(x)) - 1], "right") - 1
        ends = (begin - first).tolist()
        for hub in range(low, high + 1):
            own = slice(max(ends[hub], 0), ends[hub + 1])
            left, right = Q[own].T, heavy[own]
            if right.size * width < _ALONE:
                if len(right) == ends[hub + 1] - ends[hub]:  # all of this hub
                    np.matmul(left, right, out=found[hub])
                else:
                    found[hub] += left @ right
                continue
            # In one of a few shapes: each is compiled for.
            rest = (1 << (len(right) - 1).bit_length()) - len(right)
            left, right = np.pad(left, ((0, 0), (0, rest))), np.pad(right, ((0, rest), (0, 0)))
            found[hub] += _times(left[None], right[None])[0]
    return found.reshape(near.shape)
