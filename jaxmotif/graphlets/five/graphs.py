"""A graph whose nodes are numbered by degree, on a device, and the adjacency of its core.

Adjacency has two forms, which tell whether two nodes are adjacent. A bit for each pair of nodes takes one read, and
3 n^2 / 8 bytes while all bits are made. A hash index of the edges takes some ten reads, and 32 bytes an arc.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._rows import inverse_order, offsets_from, pair_order, row_of, stable_order
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._pair_index import PairIndex, bits_for, index_on


class DegreeOrderedGraph(NamedTuple):
    """A padded graph whose nodes are numbered by degree. All arrays are int32.

    An *arc* is a slot of the compressed rows; arcs are in order of tail and head. Nodes of degree 2 or more are the
    *core* and have numbers of their own there, from 0 on.

    Attributes:
      offsets: ``[N + 1]``, the first arc of each node.
      heads, tails: ``[S]``, the ends of the arcs; N in padding.
      back: ``[S]``, the reversed arc of each arc.
      leaves: ``[N]``, the number of neighbours of degree 1, which come first in every row.
      core: scalar, the first node of the core.
      rows, at_rows: ``[N]``, the row of each core node in tables over pairs, and the core node of each row; N where
        there is none. Rows are in the order of the graph's own nodes: in many networks neighbours have near numbers, so
        that only few hubs have neighbours in a given block of rows.
    """

    offsets: jax.Array
    heads: jax.Array
    tails: jax.Array
    back: jax.Array
    leaves: jax.Array
    core: jax.Array
    rows: jax.Array
    at_rows: jax.Array


class Renumbering(NamedTuple):
    """The new numbers of the nodes and slots of a graph. All arrays are int32.

    Attributes:
      nodes: ``[N]``, the new number of each node.
      arcs: ``[S]``, the arc of each slot.
      later: ``[N]``, by new number, how many neighbours of higher number a node has.
    """

    nodes: jax.Array
    arcs: jax.Array
    later: jax.Array


@partial(jit64, static_argnames=("nodes", "arcs"))
def order_by_degree(
    offsets: jax.Array, targets: jax.Array, *, nodes: int, arcs: int
) -> tuple[DegreeOrderedGraph, Renumbering]:
    """Assign numbers to the nodes of a graph by ascending degree, and sort its arcs by their new ends.

    Nodes of one degree keep their order.

    Args:
      offsets: ``[nodes + 1]``, where each row of the graph begins among the slots.
      targets: ``[arcs]``, the target of each slot; slots after the last row are padding.
      nodes: static, the node capacity.
      arcs: static, the slot capacity.

    Returns:
      The graph in its new order, and the new numbers of its nodes and slots.
    """
    degrees = jnp.diff(offsets)
    order = stable_order(degrees)
    rank = inverse_order(order)
    slot = jnp.arange(arcs, dtype=jnp.int32)
    owner = row_of(offsets, arcs)
    there = slot < offsets[-1]
    # Padding arcs lead from the node past the last to itself, so that they stay last and are their own reverses.
    tails = jnp.where(there, rank[jnp.minimum(owner, nodes - 1)], nodes)
    heads = jnp.where(there, rank[jnp.minimum(targets, nodes - 1)], nodes)
    came = pair_order(tails, heads)
    tails, heads = tails[came], heads[came]
    # If arcs were sorted by their heads instead, the k-th one would be the reverse of the k-th one in this order.
    back = stable_order(heads)
    sizes = degrees[order]
    core = jnp.searchsorted(sizes, 2).astype(jnp.int32)

    def counted(which: jax.Array) -> jax.Array:
        return jnp.zeros(nodes, jnp.int32).at[jnp.where(which & there, tails, nodes)].add(1, mode="drop")

    place = jnp.zeros(arcs, jnp.int32).at[came].set(slot, unique_indices=True)
    none = jnp.full(nodes, nodes, jnp.int32)
    row = jnp.where(rank >= core, jnp.cumsum(rank >= core, dtype=jnp.int32) - 1, nodes)
    rows = none.at[jnp.where(rank >= core, rank - core, nodes)].set(row, mode="drop")
    at_rows = none.at[row].set(rank - core, mode="drop")
    graph = DegreeOrderedGraph(offsets_from(sizes), heads, tails, back, counted(heads < core), core, rows, at_rows)
    return graph, Renumbering(rank, place, counted(heads > tails))


class BitRows(NamedTuple):
    """Adjacency of the core as rows of bits.

    Attributes:
      graph: the graph.
      words: uint32 ``[size, size / 32]``, lowest bit first.
      before: int32 ``[size, size / 32]``, how many bits of the row are set before each word. This tells at which place
        of its row a neighbour is.
    """

    graph: DegreeOrderedGraph
    words: jax.Array
    before: jax.Array

    def adjacent(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """Return 1 where two nodes, by their numbers in the core, are adjacent, else 0; int32."""
        word = take(self.words, (x, y >> 5))
        return ((word >> (y & 31).astype(jnp.uint32)) & jnp.uint32(1)).astype(jnp.int32)

    def arc(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """Return the arc from x to y, int32; any number where they are not adjacent."""
        # Rows are sorted, after the leaves: a neighbour's place is the number of bits before its own.
        lower = (jnp.uint32(1) << (y & 31).astype(jnp.uint32)) - jnp.uint32(1)
        place = lax.population_count(take(self.words, (x, y >> 5)) & lower).astype(jnp.int32)
        node = x + self.graph.core
        first = take(self.graph.offsets, node) + take(self.graph.leaves, node)
        return first + place + take(self.before, (x, y >> 5))


class HashedArcs(NamedTuple):
    """Adjacency by a hash index of the edges: the state of an edge is its arc from the higher node, plus 1."""

    graph: DegreeOrderedGraph
    index: PairIndex

    def adjacent(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """Return 1 where two nodes are adjacent, else 0, as :meth:`BitRows.adjacent` does."""
        return (self._down(x, y) > 0).astype(jnp.int32)

    def arc(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """Return the arc from x to y, as :meth:`BitRows.arc` does."""
        down = jnp.maximum(self._down(x, y) - 1, 0)
        return jnp.where(x > y, down, self.graph.back[down])

    def _down(self, x: jax.Array, y: jax.Array) -> jax.Array:
        core = self.graph.core
        return self.index.state(jnp.maximum(x, y) + core, jnp.minimum(x, y) + core)


Adjacency = BitRows | HashedArcs


@partial(jit64, static_argnames=("size",))
def make_bits(graph: DegreeOrderedGraph, *, size: int) -> tuple[jax.Array, jax.Array]:
    """Make the fields of :class:`BitRows` for a graph with a core of at most ``size`` nodes, a multiple of 32."""
    tail, head = graph.tails - graph.core, graph.heads - graph.core
    words = size // 32
    inside = (tail >= 0) & (head >= 0) & (graph.tails < graph.leaves.shape[0])
    # 64 bits: the matrix may have more words than int32 numbers.
    place = jnp.where(inside, tail.astype(jnp.int64) * words + (head >> 5).astype(jnp.int64), size * words)
    bit = jnp.uint32(1) << (head & 31).astype(jnp.uint32)
    found = jnp.zeros(size * words, jnp.uint32).at[place].add(bit, mode="drop").reshape(size, words)
    ones = lax.population_count(found).astype(jnp.int32)
    return found, jnp.cumsum(ones, axis=1, dtype=jnp.int32) - ones


def hash_arcs(graph: DegreeOrderedGraph, device: jax.Device) -> HashedArcs:
    """Make the hash index of a graph; the host waits to learn how full its buckets are."""
    arcs = graph.heads.shape[0]
    node_bits, bucket_bits = bits_for(graph.offsets.shape[0], arcs)
    of_arcs = np.arange(1, arcs + 1, dtype=np.int32)
    starts, tags, states, fullest = index_on(device, graph.offsets, graph.heads, of_arcs, node_bits, bucket_bits)
    most = max(8, -(-int(fullest) // 8) * 8)  # a multiple of eight, so that nearly all graphs share one program
    return HashedArcs(graph, PairIndex(starts, tags, states, node_bits, bucket_bits, most))


def adjacency_bytes(size: int, arcs: int, bits: bool) -> int:
    """Return the bytes that a form of adjacency takes while it is made: bits of all pairs, or the hash index."""
    return 3 * size**2 // 8 if bits else 32 * arcs
