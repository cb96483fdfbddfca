"""Hubs of many neighbours of which few are adjacent, on a CPU: neighbourhoods as lists in the place of matrices.

What :func:`jaxmotif.graphlets._hubs.gather` finds by products of D x D matrices is found from the arcs x -> y between
the neighbours of a hub, and from its bends x - y - z: two such arcs, which add one to the common neighbours of x and z.
There are sum t^2 bends around a hub whose arcs have t triangles, where a product takes D^3. The neighbourhoods of all
these hubs are one sparse graph, their disjoint union; its nodes are the hubs' arcs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.graphlets._hubs import ADJACENT, Gathered, Ranked, own_columns
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.kernels._expand import take

T = TypeVar("T")

LEAST = 256
"""Neighbours of a hub; of fewer a matrix takes little."""

_PER_CELL = 512
"""A bend takes about as long as a cell of a matrix does before its products, and so many steps of these as long."""

_WORTH = 2**29
"""Steps of products to save, in all, from which on lists are worth what they take to lay out."""

PIECE, _STEP = 16, 2**14
"""Bends side by side; a step's."""


class Union(NamedTuple):
    """The union's nodes, arcs by tail and head, and bends in pieces; int32, padded.

    Attributes:
      arcs: ``[P]``, of each node, its hub's arc.
      starts: ``[P + 1]``, first arc of each.
      rows: ``[P]``: the kept cell of x and y of one neighbourhood is ``rows[x] + y``.
      tails, heads: ``[M]``.
      bends, offsets: ``[B]``: of each piece the arc x -> y, and where in the neighbours of y it begins.
      counts: ``[3]``: how many nodes, arcs and pieces are no padding.
    """

    arcs: jax.Array
    starts: jax.Array
    rows: jax.Array
    tails: jax.Array
    heads: jax.Array
    bends: jax.Array
    offsets: jax.Array
    counts: jax.Array

    @property
    def bytes(self) -> int:
        """With what sums take beside these."""
        return sum(4 * x.size for x in self) + 300 * self.arcs.size + 4 * self.tails.size


class Listed(NamedTuple):
    """``hubs``: numbers of these, ascending; ``first``: of each the first of its kept cells, as many as squared
    ``lengths``; ``cells``: all up to their last."""

    hubs: np.ndarray
    lengths: np.ndarray
    first: np.ndarray
    cells: int
    union: Union


class _Hood(NamedTuple):
    """Numbers of a hub, of its first arc to the core, of its neighbours; arcs between these by place, ``t`` at each."""

    hub: int
    arc: int
    size: int
    tails: np.ndarray
    heads: np.ndarray
    t: np.ndarray

    @property
    def saved(self) -> int:
        """What a matrix takes more, in steps of its products."""
        return _PER_CELL * (self.size**2 - int((self.t * self.t).sum())) + self.size**3


def few_bends(graph: Ranked, lengths: np.ndarray) -> list[_Hood]:
    """The neighbourhoods that are done no slower so; ``lengths``: core neighbours of each core node."""
    offsets, heads, leaves, core = (np.asarray(x) for x in (graph.offsets, graph.heads, graph.leaves, graph.core))
    starts, place = offsets[:-1] + leaves, np.full(len(leaves) + 1, -1, np.int32)
    found = []
    for hub in np.flatnonzero(lengths > LEAST) + int(core):
        near = heads[starts[hub] : offsets[hub + 1]]
        place[near] = np.arange(len(near), dtype=np.int32)
        long = offsets[near + 1] - starts[near]
        ends = np.cumsum(long)
        other = place[heads[np.arange(ends[-1]) + np.repeat(starts[near] - (ends - long), long)]]
        place[near] = -1
        inside = np.flatnonzero(other >= 0)
        tails = np.repeat(np.arange(len(near), dtype=np.int32), long)[inside]
        t = np.bincount(tails, minlength=len(near))
        hood = _Hood(int(hub), int(starts[hub]), len(near), tails, other[inside], t)
        if hood.saved >= 0:
            found.append(hood)
    return found


def worth_while(hoods: list[_Hood]) -> bool:
    """Whether so many are more than their layout takes."""
    return sum(hood.saved for hood in hoods) >= _WORTH


def listed(hoods: list[_Hood], first: int) -> Listed:
    """``first``: cells that are kept before these."""
    lengths = np.array([h.size for h in hoods])
    nodes, cells = np.cumsum(lengths) - lengths, first + np.cumsum(lengths**2) - lengths**2
    t = np.concatenate([h.t for h in hoods])
    starts = np.concatenate([[0], np.cumsum(t)])
    tails, heads = (
        np.concatenate([x + node for x, node in zip(ends, nodes, strict=True)])
        for ends in ([h.tails for h in hoods], [h.heads for h in hoods])
    )
    pieces = -(-t[heads] // PIECE)
    ends = np.cumsum(pieces)
    bends = np.repeat(np.arange(len(heads), dtype=np.int32), pieces)
    offsets = (np.arange(len(bends)) - (ends - pieces)[bends]) * PIECE
    arcs = np.concatenate([h.arc + np.arange(h.size) for h in hoods])
    rows = np.concatenate(
        [at + h.size * np.arange(h.size) - node for h, at, node in zip(hoods, cells, nodes, strict=True)]
    )

    def padded(x: np.ndarray) -> jax.Array:
        return jnp.asarray(np.pad(x, (0, bucket_size(len(x)) - len(x))), jnp.int32)

    ends = np.pad(starts, (0, bucket_size(len(arcs)) - len(arcs)), "edge")
    counts = [len(arcs), len(heads), len(bends)]
    union = Union(
        padded(arcs), jnp.asarray(ends, jnp.int32), padded(rows), padded(tails), padded(heads), padded(bends),
        padded(offsets), jnp.asarray(counts, jnp.int32),
    )  # fmt: skip
    hubs = np.array([h.hub for h in hoods])
    return Listed(hubs, lengths, cells, int(first + (lengths**2).sum()), union)


@partial(jit64, static_argnames="detail", donate_argnums=0)
def gather(
    held: Gathered, graph: Ranked, node: tuple[jax.Array, jax.Array], of: Union, *, detail: Detail
) -> Gathered:  # fmt: skip
    """As :func:`jaxmotif.graphlets._hubs.gather` without tables, for hubs in lists."""
    size, cells = of.arcs.shape[0], held.both.shape[0]
    head = take(graph.heads, of.arcs)
    d, p2, leaves = (take(x, head).astype(jnp.int64) for x in (*node, graph.all_leaves))
    # How many nodes each stands for.
    members = None if graph.twins is None else take(graph.twins.members, head)
    low = (1 << ADJACENT) - 1

    def loop(count: jax.Array, step: Callable[[jax.Array, T], T], start: T) -> T:
        return lax.fori_loop(jnp.int32(0), (count + (_STEP - 1)) // _STEP, step, start)

    def arcs(i: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
        """A step's, which are there, their tails and heads."""
        arc = i * _STEP + jnp.arange(_STEP, dtype=jnp.int32)
        there = arc < of.counts[1]
        arc = jnp.where(there, arc, 0)
        return arc, there, take(of.tails, arc), take(of.heads, arc)

    def around(*values: jax.Array) -> list[jax.Array]:
        """Sums over the neighbours of each node."""
        stacked = jnp.stack(values, axis=-1)
        if members is not None:
            stacked = stacked * members[:, None]

        def step(i: jax.Array, found: jax.Array) -> jax.Array:
            _, there, x, y = arcs(i)
            return found.at[jnp.where(there, x, size)].add(take(stacked, y), mode="drop")

        return list(loop(of.counts[1], step, jnp.zeros_like(stacked)).T)

    t = jnp.diff(of.starts).astype(jnp.int64) if members is None else around(jnp.ones(size, jnp.int64))[0]

    def bends(i: jax.Array) -> tuple[jax.Array, ...]:
        """A step's ``[.., PIECE]``: which are there, x, cells of x and z, arcs y -> z; and y."""
        piece = i * (_STEP // PIECE) + jnp.arange(_STEP // PIECE, dtype=jnp.int32)
        real = piece < of.counts[2]
        piece = jnp.where(real, piece, 0)
        arc = take(of.bends, piece)
        x, y = take(of.tails, arc), take(of.heads, arc)
        on = (take(of.starts, y) + take(of.offsets, piece))[:, None] + jnp.arange(PIECE, dtype=jnp.int32)[None]
        there = real[:, None] & (on < take(of.starts, y + 1)[:, None])
        on = jnp.where(there, on, 0)
        return there, jnp.where(real, x, size), take(of.rows, x)[:, None] + take(of.heads, on), on, y

    def common(i: jax.Array, both: jax.Array) -> jax.Array:
        there, _, cell, _, y = bends(i)
        count = there if members is None else there * take(members, y)[:, None]
        return both.at[jnp.where(there, cell, cells)].add(count.astype(jnp.uint16), mode="drop")

    both = loop(of.counts[2] * PIECE, common, held.both)

    def cliques(i: jax.Array, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        """4-cliques on each arc and the hub, and their sums; who is adjacent is marked."""
        both, k, found = state
        arc, there, x, y = arcs(i)
        cell = take(of.rows, x) + y
        here = (take(both, cell) & low).astype(jnp.int64)
        k = k.at[jnp.where(there, arc, k.shape[0])].set(here.astype(jnp.int32), mode="drop")
        sums = jnp.stack([here, here * here, here * take(t, y)], axis=-1)
        if members is not None:
            sums = sums * take(members, y)[:, None]
        found = found.at[jnp.where(there, x, size)].add(sums, mode="drop")
        mark = there.astype(jnp.uint16) << ADJACENT
        return both.at[jnp.where(there, cell, cells)].add(mark, mode="drop"), k, found

    none = jnp.zeros((size, 3), jnp.int64)
    both, k, found = loop(of.counts[1], cliques, (both, jnp.zeros(of.tails.shape[0], jnp.int32), none))
    s, k2, kt = found.T

    def closed(i: jax.Array, found: jax.Array) -> jax.Array:
        # Each bend of x and z meets all of these: squares, once added up.
        there, x, cell, on, y = bends(i)
        here = jnp.where(there, take(both, jnp.where(there, cell, 0)), 0)
        tip, closed = jnp.where(here >> ADJACENT > 0, take(k, on), 0), (here & low).astype(jnp.int32)
        if members is None:
            sums = closed.sum(axis=1, dtype=jnp.int32), tip.sum(axis=1, dtype=jnp.int32)
        else:
            ends = take(members, take(of.heads, on)).astype(jnp.int64)
            sums = tuple((values * ends).sum(axis=1) * take(members, y) for values in (closed, tip))
        return found.at[x].add(jnp.stack(sums, axis=-1).astype(jnp.int64), mode="drop")

    c, tip = loop(of.counts[2] * PIECE, closed, jnp.zeros((size, 2), jnp.int64)).T
    degrees, l2, around_leaves, cube, walks, ls = around(d, t, leaves, t * t, p2, s)
    l3, spread = around(l2, degrees)
    sums = {
        "t": t, "degrees": degrees, "l2": l2, "s": s, "c": c, "k2": k2, "leaves": around_leaves, "walks": walks,
        "spread": spread, "l3": l3, "cube": cube, "kt": kt, "ls": ls, "tip": tip,
    }  # fmt: skip
    place = jnp.where(jnp.arange(size, dtype=jnp.int32) < of.counts[0], of.arcs, held.own.shape[0])
    own = held.own.at[place].set(jnp.stack([sums[x] for x in own_columns(detail)], axis=-1), mode="drop")
    return held._replace(own=own, both=both)
