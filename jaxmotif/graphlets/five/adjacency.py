"""Which nodes of the core are adjacent, and by which arc: bits of all pairs where memory has room for them, else a hash
index of the edges."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._host import on_device, zeros_for_jax
from jaxmotif.kernels._pair_index import PairIndex, bits_for, index_on

if TYPE_CHECKING:
    from jaxmotif.graphlets.five.hubs import Ranked


class BitRows(NamedTuple):
    """Adjacency of the core by rows: uint32 ``[size, size / 32]``, lowest bit first, and int32 the bits before each
    word, which give the place of a neighbour in its row. One read tells of a pair."""

    words: jax.Array
    before: jax.Array

    def adjacent(self, graph: Ranked, x: jax.Array, y: jax.Array) -> jax.Array:
        """Whether nodes of the core, by their numbers in it, are adjacent, int32."""
        word = self.words.at[x, y >> 5].get(mode="clip")
        return ((word >> (y & 31).astype(jnp.uint32)) & jnp.uint32(1)).astype(jnp.int32)

    def arc(self, graph: Ranked, x: jax.Array, y: jax.Array) -> jax.Array:
        """The arc from x to y, int32; any number where they are not adjacent."""
        # Rows are sorted, after the leaves: a neighbour's place is the number of bits before its own.
        lower = (jnp.uint32(1) << (y & 31).astype(jnp.uint32)) - jnp.uint32(1)
        place = lax.population_count(self.words.at[x, y >> 5].get(mode="clip") & lower).astype(jnp.int32)
        node = x + graph.core
        return graph.offsets[node] + graph.leaves[node] + place + self.before.at[x, y >> 5].get(mode="clip")


class HashedArcs(NamedTuple):
    """Adjacency by a hash of the edges, in memory by their number: the state of an edge is its arc from the higher
    node, plus 1. Some ten reads tell of a pair."""

    index: PairIndex

    def adjacent(self, graph: Ranked, x: jax.Array, y: jax.Array) -> jax.Array:
        """As :meth:`BitRows.adjacent`."""
        return (self._down(graph, x, y) > 0).astype(jnp.int32)

    def arc(self, graph: Ranked, x: jax.Array, y: jax.Array) -> jax.Array:
        """As :meth:`BitRows.arc`."""
        down = jnp.maximum(self._down(graph, x, y) - 1, 0)
        return jnp.where(x > y, down, graph.back[down])

    def _down(self, graph: Ranked, x: jax.Array, y: jax.Array) -> jax.Array:
        return self.index.state(jnp.maximum(x, y) + graph.core, jnp.minimum(x, y) + graph.core)


Adjacency = BitRows | HashedArcs


@partial(jit64, static_argnames=("size",))
def bit_rows(graph: Ranked, *, size: int) -> BitRows:
    """The :class:`BitRows` of a graph with a core of at most ``size`` nodes, a multiple of 32."""
    tail, head = graph.tails - graph.core, graph.heads - graph.core
    words = size // 32
    inside = (tail >= 0) & (head >= 0) & (graph.tails < graph.leaves.shape[0])
    # 64 bits: the matrix may have more words than int32 numbers.
    place = jnp.where(inside, tail.astype(jnp.int64) * words + (head >> 5).astype(jnp.int64), size * words)
    bit = jnp.uint32(1) << (head & 31).astype(jnp.uint32)
    found = jnp.zeros(size * words, jnp.uint32).at[place].add(bit, mode="drop").reshape(size, words)
    ones = lax.population_count(found).astype(jnp.int32)
    return BitRows(found, jnp.cumsum(ones, axis=1, dtype=jnp.int32) - ones)


def bit_rows_on_host(graph: Ranked, device: jax.Device, size: int) -> BitRows:
    """As :func:`bit_rows`, on a CPU: of the many words only those that are not 0 are written to; ``before`` is right
    there alone, which is where arcs are."""
    offsets, leaves, tails, heads = (np.asarray(x) for x in (graph.offsets, graph.leaves, graph.tails, graph.heads))
    core, words = int(graph.core), size // 32
    (arcs,) = np.nonzero((tails >= core) & (heads >= core) & (tails < len(leaves)))
    tail, head = tails[arcs].astype(np.int64) - core, heads[arcs].astype(np.int64) - core
    place = tail * words + (head >> 5)
    found, before = zeros_for_jax((size * words,), np.uint32), zeros_for_jax((size * words,), np.int32)
    np.bitwise_or.at(found, place, np.uint32(1) << (head & 31).astype(np.uint32))
    first = np.flatnonzero(np.diff(place, prepend=-1))
    before[place[first]] = (arcs - offsets[tails[arcs]] - leaves[tails[arcs]])[first]
    return BitRows(*(on_device(x.reshape(size, words), device) for x in (found, before)))


def hashed_arcs(graph: Ranked, device: jax.Device) -> HashedArcs:
    """The :class:`HashedArcs` of a graph; waits for how full its buckets are."""
    arcs = graph.heads.shape[0]
    node_bits, bucket_bits = bits_for(graph.offsets.shape[0], arcs)
    of_arcs = np.arange(1, arcs + 1, dtype=np.int32)
    starts, tags, states, fullest = index_on(device, graph.offsets, graph.heads, of_arcs, node_bits, bucket_bits)
    # A multiple of eight, as few others as can be: one program for nearly all graphs.
    return HashedArcs(PairIndex(starts, tags, states, node_bits, bucket_bits, most=max(8, -(-int(fullest) // 8) * 8)))


def adjacency_bytes(size: int, arcs: int, bits: bool) -> int:
    """What a form takes, with what takes as much while it is made."""
    return 3 * size**2 // 8 if bits else 32 * arcs
