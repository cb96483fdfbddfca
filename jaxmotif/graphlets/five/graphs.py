"""A graph whose nodes are numbered by degree, on a device."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.arrays._compile import jit64


class DegreeOrderedGraph(NamedTuple):
    """A padded graph whose nodes are numbered by degree. All arrays are int32.

    An *arc* is a slot of the compressed rows; arcs are in order of tail and head. Nodes of degree 2 or more are the
    *core* and have numbers of their own there, from 0 on.

    Attributes:
      offsets: ``[N + 1]``, the first arc of each node.
      heads, tails: ``[S]``, the ends of the arcs; N in padding.
      back: ``[S]``, the reversed arc of each.
      leaves: ``[N]``, neighbours of degree 1, which lead every row.
      core: scalar, the first node of the core.
      rows, at_rows: ``[N]``, the row of each core node in tables over pairs, and the core node of each row; N where
        there is none. Rows are in the order of the graph's own nodes: in many networks neighbours have near numbers, so
        that few hubs meet a block of rows.
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
    order = jnp.argsort(degrees, stable=True).astype(jnp.int32)
    rank = jnp.zeros(nodes, jnp.int32).at[order].set(jnp.arange(nodes, dtype=jnp.int32), unique_indices=True)
    slot = jnp.arange(arcs, dtype=jnp.int32)
    owner = jnp.searchsorted(offsets, slot, side="right").astype(jnp.int32) - 1
    there = slot < offsets[-1]
    # Padding arcs lead from the node past the last to itself: they stay last, and are each other's reverse.
    tails = jnp.where(there, rank[jnp.minimum(owner, nodes - 1)], nodes)
    heads = jnp.where(there, rank[jnp.minimum(targets, nodes - 1)], nodes)
    tails, heads, came = lax.sort((tails, heads, slot), num_keys=2)
    # Sorted by the other end, the k-th arc is the reverse of the k-th one as they are.
    back = lax.sort((heads, tails, slot), num_keys=2)[2]
    sizes = degrees[order]
    starts = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(sizes, dtype=jnp.int32)])
    core = jnp.searchsorted(sizes, 2).astype(jnp.int32)

    def counted(which: jax.Array) -> jax.Array:
        return jnp.zeros(nodes, jnp.int32).at[jnp.where(which & there, tails, nodes)].add(1, mode="drop")

    place = jnp.zeros(arcs, jnp.int32).at[came].set(slot, unique_indices=True)
    none = jnp.full(nodes, nodes, jnp.int32)
    row = jnp.where(rank >= core, jnp.cumsum(rank >= core, dtype=jnp.int32) - 1, nodes)
    rows = none.at[jnp.where(rank >= core, rank - core, nodes)].set(row, mode="drop")
    at_rows = none.at[row].set(rank - core, mode="drop")
    graph = DegreeOrderedGraph(starts, heads, tails, back, counted(heads < core), core, rows, at_rows)
    return graph, Renumbering(rank, place, counted(heads > tails))
