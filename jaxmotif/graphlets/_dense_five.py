"""Five-node orbits of small graphs, thousands at a time, from adjacency matrices.

With at most 128 nodes every sum over a neighbourhood is below 128^3 = 2^21, so float32 holds it and one matrix product
gives it; and every orbit is below 2^28, which is all that 32-bit arithmetic needs
(:mod:`jaxmotif.graphlets.five.equations`).
"""

from __future__ import annotations

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import target
from jaxmotif.graphlets._units import join
from jaxmotif.graphlets.five.equations import Arcs, Rims, Sums, orbits_of

MAX_DENSE_NODES_5 = 128
"""Largest node capacity."""

_CELLS = 2**15
"""Number of matrix cells of neighbourhoods that are worked on together in each graph."""


def dense_orbits(bits: jax.Array, near: jax.Array, edges: bool) -> tuple[jax.Array, jax.Array | None]:
    """Count the orbits of up to five nodes in a graph of at most 128 nodes.

    Args:
      bits: adjacency by rows, uint32 ``[M, M / 32]``.
      near: the same as zeros and ones, int32 ``[M, M]``.
      edges: whether the orbits of edges are wanted.

    Returns:
      Int32 counts: ``[73, M]`` at nodes, ``[68, M, M]`` at pairs of adjacent nodes (arbitrary at others).
    """
    arcs, degree = _matrix_arcs(near), near.sum(axis=1, dtype=jnp.int32)
    sums, rims = jax.tree.map(lambda x: x.astype(jnp.int32), _sums(near.astype(jnp.float32), bits, edges))
    at_nodes = orbits_of(jnp, arcs, degree, sums)
    return at_nodes, None if rims is None else orbits_of(jnp, arcs, degree, sums, rims)


def _matrix_arcs(near: jax.Array) -> Arcs:
    """Return arrays over arcs as matrices ``[M, M]`` that are 0 where there is no arc."""
    return Arcs(
        tail=lambda x: near * x[:, None],
        head=lambda x: near * x[None, :],
        out=lambda x: x.sum(axis=1, dtype=x.dtype),
        back=lambda x: x.T,
        both=lambda x: x + x.T,
    )


def _times(x: jax.Array, y: jax.Array, wide: Literal["left", "right"] | None = None) -> jax.Array:
    """Return the exact product of matrices of whole numbers up to 127, as float32.

    Args:
      x: float32 ``[..., A, B]``.
      y: float32 ``[..., B, C]``.
      wide: the side whose numbers may be up to 2^21, where the other side holds zeros and ones.
    """
    if target().platform != "tpu":
        return jnp.matmul(x, y, precision=lax.Precision.HIGHEST)  # tensor cores would round otherwise
    if wide == "left":
        return _times(y.swapaxes(-1, -2), x.swapaxes(-1, -2), "right").swapaxes(-1, -2)
    # A TPU makes a float32 product of several products of halves, so limbs of whole numbers take less.
    return join(x, y.astype(jnp.int32), 2**21 if wide else 2**7).astype(jnp.float32)


def _sums(A: jax.Array, bits: jax.Array, edges: bool) -> tuple[Sums, Rims | None]:
    """Compute the sums of the equations in float32 from an adjacency matrix ``[M, M]``."""
    d = A.sum(axis=1)
    C = _times(A, A)
    t, w3 = A * C, A * _times(A, C)

    def over_common_neighbours(x: jax.Array) -> jax.Array:
        """Return, at each arc u -> v, the sum over the common neighbours w of both of ``x`` at u -> w."""
        return A * _times(x, A, "left")

    def heads(x: jax.Array) -> jax.Array:
        return A * x[None, :]

    hubs, pairs, rim = _neighbourhoods(A, C, edges)
    degrees, l2 = over_common_neighbours(heads(d)), over_common_neighbours(t)
    sums = Sums(
        t=t,
        w3=w3,
        w4=A * _times(C, C),
        degrees=degrees,
        walks=over_common_neighbours(heads(A @ d)),
        spread=over_common_neighbours(degrees),
        far=A * _times(heads(d), C),
        side=A * _times(t, C),
        roof=over_common_neighbours(w3),
        wing=A * _times(A, C * C, "right"),
        arm=A * _times(A, pairs, "right"),
        l2=l2,
        l3=over_common_neighbours(l2),
        cube=over_common_neighbours(t * t),
        ls=over_common_neighbours(hubs["s"]),
        q=6 * _five_cliques(bits),
        **{name: hubs[name] for name in ("chord", "s", "kt", "c", "k2", "tip")},
    )
    if not edges:
        return sums, None
    rims = Rims(
        floor=A * _times(_times(A, t), A, "left"),
        squares=over_common_neighbours(heads(d * d)),
        triples=over_common_neighbours(heads(t.sum(axis=1))),
        dart=over_common_neighbours(t * d[None, :]),
        end=A * _times(A, l2, "right"),
        middle=A * _times(t, t),
        rim=rim,
        side=hubs["side"],
        eave=hubs["eave"],
        tail=hubs["tail"],
    )
    return sums, rims


def _neighbourhoods(A: jax.Array, C: jax.Array, edges: bool) -> tuple[dict[str, jax.Array], jax.Array, jax.Array]:
    """Sum over the neighbourhood graphs of all nodes.

    Returns:
      Sums at the arc from a hub to a node of its neighbourhood, float32 ``[M, M]``, by the names of :class:`Sums` and
      (for edge orbits) :class:`Rims`; and at pairs of nodes the sum over all hubs of their codegrees, and of the walks
      of length 3 along the edge between them (for edge orbits, else zeros).
    """
    size = A.shape[0]
    together = max(1, min(size, _CELLS // size**2))
    d = A.sum(axis=1)

    def some(
        totals: tuple[jax.Array, jax.Array], near: jax.Array
    ) -> tuple[tuple[jax.Array, jax.Array], dict[str, jax.Array]]:
        pairs, rim = totals
        L = A[None] * near[:, :, None] * near[:, None, :]
        CL, G = _times(L, L), L * _times(L, C[None])
        k, t = L * CL, L.sum(axis=2)
        found = {
            "chord": G.sum(axis=2),
            "s": k.sum(axis=2),
            "kt": (k * t[:, None, :]).sum(axis=2),
            "c": (CL * CL).sum(axis=2),
            "k2": (k * k).sum(axis=2),
            "tip": (L * _times(L, k)).sum(axis=2),
        }
        if edges:
            rim = rim + (L * _times(L, CL)).sum(axis=0)
            found |= {
                "eave": G.sum(axis=1),
                "tail": (k * d[None, None, :]).sum(axis=2),
                "side": (L * _times(L, L * C[None])).sum(axis=2),
            }
        return (pairs + CL.sum(axis=0), rim), found

    zero = jnp.zeros_like(C)
    (pairs, rim), found = lax.scan(some, (zero, zero), A.reshape(size // together, together, size))
    return {name: x.reshape(size, size) for name, x in found.items()}, pairs, rim


def _five_cliques(bits: jax.Array) -> jax.Array:
    """Count the 5-cliques on each edge, float32 ``[M, M]``.

    For each two pairs of adjacent nodes, the second among the common neighbours of the first, the common neighbours of
    all four are counted. Each 5-clique on an edge is found three times: once for each of the other nodes that is not in
    the second pair.
    """
    size, words = bits.shape
    u, v = np.triu_indices(size, 1)
    pad = -len(u) % 512
    u, v = (
        np.pad(x, (0, pad)).astype(np.int32) for x in (u, v)
    )  # padding repeats a node, which is no neighbour of itself
    both = np.zeros((len(u), words), np.uint32)  # holds the bits of the two nodes
    for end in (u, v):
        both[np.arange(len(u)), end >> 5] |= np.uint32(1) << (end & 31).astype(np.uint32)
    adjacent = (bits[u, v >> 5] >> (v & 31).astype(np.uint32)) & jnp.uint32(1)
    common = jnp.where(adjacent[:, None] > 0, bits[u] & bits[v], jnp.uint32(0))

    def second(x: jax.Array | np.ndarray, word: int) -> jax.Array:
        return jnp.asarray(x[:, word]).reshape(1, -1, 16, 32)  # XLA fuses a sum over axes of 32

    shared, inside = 0, True
    for word in range(words):
        first = common[:, word].reshape(-1, 1, 1, 1)
        ends = second(both, word)
        inside = inside & ((first & ends) == ends)
        shared = shared + lax.population_count(first & second(common, word)).astype(jnp.int32)
    per_pair = jnp.where(inside, shared, 0).sum(axis=(1, 2, 3), dtype=jnp.int32) // 3
    number = np.zeros((size, size), np.int32)
    number[u, v] = number[v, u] = np.arange(len(u))
    np.fill_diagonal(number, len(u) - 1 if pad else 0)
    return jnp.where(np.eye(size, dtype=bool), 0, per_pair[number]).astype(jnp.float32)
