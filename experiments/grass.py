"""The search of GRASS [1] as published: flooding, then hypersearch by thread blocks, in plain XLA.

The tree of candidates has a level for each node of the query, in a static order. At a level stand the nodes of the
target that may be the query's by label, degrees, and the degrees of their neighbours (Definition 2). *Flooding* (IV.A)
gives a thread to each path of the first levels, as many levels as have no more paths than threads, and every thread
checks its path. In *hypersearch* (IV.B) each partial match goes to a thread block, which covers as many further levels
as its threads have paths for, and again from each of the matches that it finds. Where one level alone has more
candidates than threads, the block makes several passes.

GRASS itself is not public. Here the blocks of a step are lanes of one XLA program, and every block's partial match is
one of those at the deepest level that any block has reached, so that the lanes that idle are those of the paper's.

[1] Bonnici, Giugno, Bombieri: An efficient implementation of a subgraph isomorphism algorithm for GPUs. BIBM 2018.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy import sparse

from jaxmotif.graph import Graph

# What is not public: the binary search of a lane.
from jaxmotif.kernels._expand import find, take

LANES = 2**20
"""Threads of a step, which are also those of flooding."""
BLOCK = 256
"""Threads of a block."""


class Tree(NamedTuple):
    """The tree of candidates, and the target graph.

    Attributes:
      candidates: int32 ``[k, most]``, the candidates at each level.
      sizes: int32 ``[k]``, how many there are.
      arcs: bool ``[k, k]``, the arcs of the query between its nodes in order.
      checked: int32 ``[k, most]``, the earlier levels with which a level is checked, then -1.
      offsets: int32 ``[n + 1]``, where the targets of each node's arcs begin in ``near``.
      near: int32, the targets, ascending.
    """

    candidates: jax.Array
    sizes: jax.Array
    arcs: jax.Array
    checked: jax.Array
    offsets: jax.Array
    near: jax.Array


class Found(NamedTuple):
    """What a search found.

    Attributes:
      matches: how many matches.
      whole: whether it came to its end.
      paths: how many paths were checked.
      lanes: how many lanes were taken for these, idle ones included.
      seconds: how long it took.
    """

    matches: int
    whole: bool
    paths: int
    lanes: int
    seconds: float


def arcs_of(graph: Graph) -> sparse.csr_array:
    """Return the arcs of a graph, int32 ``[n, n]`` of zeros and ones; an edge without direction is two."""
    u, v = graph.edge_list().T
    if not graph.directed:
        u, v = np.concatenate([u, v]), np.concatenate([v, u])
    arcs = sparse.csr_array((np.ones(len(u), np.int32), (u, v)), shape=(graph.n, graph.n))
    arcs.data[:] = 1
    return arcs


def conditions(query: Graph, target: Graph) -> Iterator[np.ndarray]:
    """Yield the candidates of the query's nodes by conditions 2, 3 and 4 of Definition 2, each with those before it.

    Each is bool ``[k, n]``.
    """
    small, large = arcs_of(query), arcs_of(target)
    labels = [
        np.zeros(g.n, int) if g.node_labels is None else np.asarray(g.node_labels)[: g.n] for g in (query, target)
    ]
    fits = labels[0][:, None] == labels[1][None]
    yield fits
    for axis in (0, 1):
        fits = fits & (small.sum(axis=axis)[:, None] <= large.sum(axis=axis)[None])
    yield fits
    # The neighbour of the largest degree has a candidate among the neighbours of the candidate.
    either = (small + small.T).toarray() > 0
    widest = np.where(either, either.sum(axis=0)[None], -1).argmax(axis=1)
    yield fits & (((large + large.T) @ fits[widest].T.astype(np.int32)).T > 0)


def order_of(query: Graph) -> list[int]:
    """Return an order of the query's nodes: the largest degree, then always the most edges to those before."""
    arcs = arcs_of(query).toarray() > 0
    either = arcs | arcs.T
    order = [int(either.sum(axis=0).argmax())]
    while len(order) < query.n:
        joined = either[order].sum(axis=0) * query.n + either.sum(axis=0)
        joined[order] = -1
        order.append(int(joined.argmax()))
    return order


def tree_of(query: Graph, target: Graph, induced: bool) -> Tree:
    """Find the candidates of the query's nodes, in the order in which they are matched."""
    *_, fits = conditions(query, target)
    order, large = order_of(query), arcs_of(target)
    arcs = arcs_of(query).toarray()[np.ix_(order, order)] > 0
    places = [np.flatnonzero(fits[u]) for u in order]
    earlier = [np.arange(i) if induced else np.flatnonzero((arcs | arcs.T)[i, :i]) for i in range(query.n)]
    large.sort_indices()
    lengths = np.array([len(x) for x in places])
    rows = _padded(places, 0), lengths, arcs, _padded(earlier, -1), large.indptr, large.indices
    arrays: list[np.ndarray] = [x if x.dtype == bool else x.astype(np.int32) for x in rows]
    return Tree(*jax.device_put(tuple(arrays)))


def _padded(lists: list[np.ndarray], fill: int) -> np.ndarray:
    return np.stack([np.pad(x, (0, max(1, *map(len, lists)) - len(x)), constant_values=fill) for x in lists])


def search(tree: Tree, induced: bool, seconds: float) -> Found:
    """Search the whole tree, or as much of it as there is time for."""
    begun, sizes = time.perf_counter(), np.asarray(tree.sizes).astype(np.int64)
    k, steps = len(sizes), int(np.diff(np.asarray(tree.offsets)).max()).bit_length()
    visit = partial(_visit, tree, induced=induced, steps=steps, lanes=LANES)
    matches = paths = lanes = 0

    def levels(start: int, threads: int) -> int:
        """Return where the levels end whose paths threads can take at once; it is one level at least."""
        stop = start + 1
        while stop < k and sizes[start : stop + 1].prod() <= threads:
            stop += 1
        return stop

    # Partial matches that are still to be extended, the deepest last.
    tables = [(0, jnp.zeros((k, 1), jnp.int32), 1)]
    while tables:
        start, rows, left = tables.pop()
        threads = BLOCK if start else LANES
        blocks, stop = LANES // threads, levels(start, threads)
        number = int(sizes[start:stop].prod())
        here = min(left, blocks)
        if left > here:
            tables.append((start, rows, left - here))
        for first in range(0, number, threads):
            at = np.array([start, stop, left - here, here, first], np.int32)
            longer, count = visit(rows, at, blocks=blocks)
            count = int(count)
            paths += here * min(threads, number - first)
            lanes += here * threads if start else number
            if stop == k:
                matches += count
            elif count:
                tables.append((stop, longer, count))
            if time.perf_counter() - begun > seconds:
                return Found(matches, False, paths, lanes, time.perf_counter() - begun)
    return Found(matches, True, paths, lanes, time.perf_counter() - begun)


@partial(jax.jit, static_argnames=("induced", "steps", "lanes", "blocks"))
def _visit(
    tree: Tree, rows: jax.Array, at: jax.Array, *, induced: bool, steps: int, lanes: int, blocks: int
) -> tuple[jax.Array, jax.Array]:
    """Let each block check paths that go on from its partial match.

    Args:
      tree: the tree.
      rows: int32 ``[k, rows]``, partial matches.
      at: int32 ``[5]``, the levels ``start .. stop`` of the paths, the first row and how many rows are taken, and the
        number of the first path.
      induced: static, whether arcs that the query lacks must be missing.
      steps: static, steps of a binary search.
      lanes: static, threads of all blocks.
      blocks: static, how many blocks there are.

    Returns:
      The paths that are partial matches, ``[k, lanes]``, and how many they are.
    """
    start, stop, first_row, taken, first = at
    threads = lanes // blocks
    lane = jnp.arange(lanes, dtype=jnp.int32)
    block, number = lane // threads, lane % threads + first
    nodes = rows[:, jnp.minimum(first_row + block, rows.shape[1] - 1)]

    def put(back: jax.Array, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        nodes, number = state
        level = stop - 1 - back
        size = tree.sizes[level]
        return nodes.at[level].set(tree.candidates[level][number % size]), number // size

    nodes, left = lax.fori_loop(jnp.int32(0), stop - start, put, (nodes, number))
    fits = (block < taken) & (left == 0)

    def arc(u: jax.Array, v: jax.Array) -> jax.Array:
        return find(tree.near, take(tree.offsets, u), take(tree.offsets, u + 1), v, steps)[1]

    def check(level: jax.Array, fits: jax.Array) -> jax.Array:
        node = nodes[level]
        fits = lax.fori_loop(jnp.int32(0), level, lambda i, fits: fits & (nodes[i] != node), fits)

        def joined(i: jax.Array, fits: jax.Array) -> jax.Array:
            earlier = tree.checked[level, i]
            other = nodes[earlier]
            for u, v, wanted in (
                (node, other, tree.arcs[level, earlier]),
                (other, node, tree.arcs[earlier, level]),
            ):
                is_arc = arc(u, v)
                fits = fits & ((is_arc == wanted) if induced else (is_arc | ~wanted))
            return fits

        number = (tree.checked[level] >= 0).sum(dtype=jnp.int32)
        return lax.fori_loop(jnp.int32(0), number, joined, fits)

    fits = lax.fori_loop(start, stop, check, fits)
    (which,) = jnp.nonzero(fits, size=lanes, fill_value=0)
    return nodes[:, which], fits.sum(dtype=jnp.int32)
