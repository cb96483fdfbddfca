"""Algorithms 1 to 6 of the hybrid graphlet paper (Rossi, Zhou 2016), beside which the package's counts are timed.

For an edge (v, u), T holds the common neighbours of its ends, S_u the further neighbours of u, and S_v those of v.
Algorithms 1, 5 and 6 are the paper's for CPUs: a table psi of all nodes says what each is to the edge. Algorithms 2, 3
and 4 are those for GPUs, which search in sorted lists of neighbours. Here they are flat lists in plain XLA, with one
lane for each search, in the place of the paper's kernels, which are not public. Loops of all six for a CPU are in
graphlets_loops.py.

Nodes are numbered by falling degree, as in the paper.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64, put64
from jaxmotif.graph import Graph

# What is not public: the expansion of lists, and the binary search of a lane.
from jaxmotif.kernels._expand import FlatWork, expand, find, flat_work, take

LANES = 2**22
"""Number of searches at a time on a GPU."""


class Sorted(NamedTuple):
    """An undirected graph whose nodes are numbered by falling degree.

    Attributes:
      offsets: int32 ``[n + 1]``, where the neighbours of each node begin in ``near``.
      near: int32 ``[2 m]``, the neighbours of every node, ascending.
      edges: int32 ``[m, 2]``, v and u of each edge, with d_v >= d_u.
    """

    offsets: np.ndarray
    near: np.ndarray
    edges: np.ndarray


class Counts(NamedTuple):
    """What the algorithms count at each edge, X_3, X_7 and X_10, summed over all edges."""

    triangles: int
    cliques: int
    cycles: int


def by_degree(graph: Graph) -> Sorted:
    """Number the nodes of a graph by falling degree."""
    number = np.empty(graph.n, np.int64)
    number[np.argsort(-graph.degrees, kind="stable")] = np.arange(graph.n)
    edges = np.sort(number[graph.edge_list()], axis=1)
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort(both.T[::-1])]
    offsets = np.searchsorted(both[:, 0], np.arange(graph.n + 1))
    return Sorted(*(np.ascontiguousarray(x, np.int32) for x in (offsets, both[:, 1], edges)))


class Lists(NamedTuple):
    """A list of nodes for each edge, laid end to end.

    Attributes:
      offsets: int32 ``[m + 1]``, where the list of each edge begins in ``nodes``.
      nodes: int32, the nodes.
      edge: int32, the edge of each.
    """

    offsets: jax.Array
    nodes: jax.Array
    edge: jax.Array


def neighbor_sets(graph: Sorted) -> tuple[Lists, Lists, Lists]:
    """Find T, S_u and S_v of all edges (Algorithm 2), on the device."""
    offsets, near = jnp.asarray(graph.offsets), jnp.asarray(graph.near)
    v, u = graph.edges.T
    sets = []
    for end, other in ((u, v), (v, u)):
        lengths = np.diff(graph.offsets)[end]
        edge = np.repeat(np.arange(len(end), dtype=np.int32), lengths)
        position = np.arange(edge.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        node = graph.near[graph.offsets[end][edge] + position]
        arrays = jnp.asarray(edge), jnp.asarray(node), jnp.asarray(other[edge])
        found = _is_common(offsets, near, *arrays, steps=_steps(graph))
        sets.append((arrays, found, arrays[1] == arrays[2]))
    (ours, common, is_end), (theirs, also, is_other) = sets
    return (
        _chosen(ours, common, len(v)),
        _chosen(ours, ~common & ~is_end, len(v)),
        _chosen(theirs, ~also & ~is_other, len(v)),
    )


def _steps(graph: Sorted) -> int:
    return int(np.diff(graph.offsets).max()).bit_length()


@partial(jit64, static_argnames="steps")
def _is_common(
    offsets: jax.Array, near: jax.Array, edge: jax.Array, node: jax.Array, other: jax.Array, *, steps: int
) -> jax.Array:
    return find(near, take(offsets, node), take(offsets, node + 1), other, steps)[1]


def _chosen(arrays: tuple[jax.Array, ...], chosen: jax.Array, edges: int) -> Lists:
    (at,) = jnp.nonzero(chosen)
    edge, nodes = arrays[0][at], arrays[1][at]
    return Lists(jnp.searchsorted(edge, jnp.arange(edges + 1, dtype=jnp.int32)).astype(jnp.int32), nodes, edge)


def count_by_lanes(graph: Sorted, sets: tuple[Lists, Lists, Lists], cliques: bool) -> int:
    """Count 4-cliques (Algorithm 3) or else 4-cycles (Algorithm 4), one lane for each search."""
    common, stars, others = sets
    nodes = common if cliques else stars
    partners = common if cliques else others
    if cliques:  # each node of T with those after it
        first = jnp.arange(nodes.nodes.size, dtype=jnp.int32) + 1
    else:  # each node of S_u with all of S_v
        first = partners.offsets[nodes.edge]
    lengths = np.asarray(partners.offsets[nodes.edge + 1] - first)
    work = put64(flat_work(np, lengths), jax.devices()[0])
    offsets, near = jnp.asarray(graph.offsets), jnp.asarray(graph.near)
    return int(_count_pairs(offsets, near, work, nodes.nodes, first, partners.nodes, steps=_steps(graph)))


@partial(jit64, static_argnames="steps")
def _count_pairs(
    offsets: jax.Array,
    near: jax.Array,
    work: FlatWork,
    nodes: jax.Array,
    first: jax.Array,
    partners: jax.Array,
    *,
    steps: int,
) -> jax.Array:
    def step(number: jax.Array, total: jax.Array) -> jax.Array:
        item, place, valid = expand(work, number * LANES, work.total, LANES)
        one, other = take(nodes, item), take(partners, jnp.minimum(take(first, item) + place, partners.size - 1))
        # The lower number has the larger degree, and the shorter list is searched, as in the paper.
        low, high = jnp.minimum(one, other), jnp.maximum(one, other)
        found = find(near, take(offsets, high), take(offsets, high + 1), low, steps)[1]
        return total + (valid & found).sum(dtype=jnp.int64)

    return lax.fori_loop(jnp.int64(0), -(-work.total // LANES), step, jnp.int64(0))
