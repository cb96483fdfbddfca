"""Five-node orbits of small graphs, thousands at a time, from adjacency matrices."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.graphlets._homs import Arcs, Sums, node_orbits

MAX_DENSE_NODES_5 = 128
"""Largest node capacity: 5-cliques take N^5 products."""


def matrix_arcs(adjacency: jax.Array) -> Arcs:
    """Arrays over arcs as matrices ``[N, N]`` that are 0 where there is no arc; ``adjacency`` int64 of 0 and 1."""
    return Arcs(
        tail=lambda x: adjacency * x[:, None],
        head=lambda x: adjacency * x[None, :],
        out=lambda x: x.sum(axis=1),
        back=lambda x: x.T,
    )


def _times(x: jax.Array, y: jax.Array) -> jax.Array:
    """A product of integer matrices, exact below 2^53 (at most 128^5 here): floating point units are much faster."""
    return (x.astype(jnp.float64) @ y.astype(jnp.float64)).astype(jnp.int64)


@jit64
def node_orbits_of_five(adjacency: jax.Array) -> jax.Array:
    """The 73 orbits at each node, as the words of int64 ``[N, 73]``, of an adjacency matrix, 0 and 1 ``[N, N]``."""
    A = adjacency.astype(jnp.int64)
    found = node_orbits(jnp, matrix_arcs(A), A.sum(axis=1), _sums(A)).T
    return lax.bitcast_convert_type(found, jnp.uint32)


def _sums(A: jax.Array) -> Sums:
    d = A.sum(axis=1)
    C = _times(A, A)
    t, w3 = A * C, A * _times(A, C)

    def around(x: jax.Array) -> jax.Array:
        """At u -> v: the sum over their common neighbours w of x at u -> w."""
        return A * _times(x, A)

    # The neighbourhoods one after another: all at once would be N^3 numbers for each of a dozen arrays.
    hubs = lax.map(lambda near: _neighbourhood(A, C, near), A)
    pairs = hubs.pairs.sum(axis=0)
    degrees, l2 = around(A * d[None, :]), around(t)
    return Sums(
        t=t, w3=w3, w4=A * _times(C, C), degrees=degrees, walks=around(A * (A @ d)[None, :]), spread=around(degrees),
        far=A * _times(A * d[None, :], C), side=A * _times(t, C), roof=around(w3), wing=A * _times(A, C * C),
        arm=A * _times(A, pairs), chord=hubs.chord, l2=l2, l3=around(l2), cube=around(t * t), s=hubs.s, kt=hubs.kt,
        ls=around(hubs.s), c=hubs.c, k2=hubs.k2, tip=hubs.tip, q=hubs.q,
    )  # fmt: skip


class _Hub(NamedTuple):
    """What the neighbourhood graph of a hub gives: at its nodes, int64 ``[N]``, as :class:`Sums` says; and its
    codegrees, int64 ``[N, N]``."""

    chord: jax.Array
    s: jax.Array
    kt: jax.Array
    c: jax.Array
    k2: jax.Array
    tip: jax.Array
    q: jax.Array
    pairs: jax.Array


def _neighbourhood(A: jax.Array, C: jax.Array, near: jax.Array) -> _Hub:
    """Of the graph induced on some nodes (int64 0 and 1 ``[N]``)."""
    size = A.shape[0]
    L = A * near[:, None] * near[None, :]
    CL = _times(L, L)
    k, w, G = L * CL, L * _times(L, CL), L * _times(L, C)
    both = (L[:, None, :] * L[None, :, :]).reshape(size * size, size)
    cliques = (_times(both, L) * both).sum(axis=1).reshape(size, size)  # adjacent ordered pairs adjacent to both
    return _Hub(
        chord=G.sum(axis=1), s=k.sum(axis=1), kt=k @ L.sum(axis=1), c=w.sum(axis=1), k2=(k * k).sum(axis=1),
        tip=(L * _times(L, k)).sum(axis=1), q=(L * cliques).sum(axis=1), pairs=CL,
    )  # fmt: skip
