"""Color refinement (Weisfeiler and Lehman) of the nodes of a graph, on the device."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.graph import Graph


def refined_colors(graph: Graph, rounds: int) -> jax.Array:
    """Return the color of each node after each round, int32 ``[rounds + 1, N]``; padding has colors of its own.

    Two nodes have equal colors after a round if and only if they had equal ones before it, and the same number of
    neighbours of each color. At first the colors are the node labels, where the graph has them. Colors are numbers from
    0 on.

    Example:
      >>> refined_colors(Graph.from_edges([(0, 1), (1, 2), (2, 3)]), 1)[:, :4].tolist()
      [[1, 1, 1, 1], [1, 2, 2, 1]]
    """
    most = int(np.diff(np.asarray(graph.out_offsets)).max(initial=0))
    return _refined(jax.device_put(graph), rounds=rounds, doublings=most.bit_length())


@partial(jit64, static_argnames=("rounds", "doublings"))
def _refined(graph: Graph, *, rounds: int, doublings: int) -> jax.Array:
    N, S = graph.node_capacity, graph.slot_capacity
    starts, slots = jnp.asarray(graph.out_offsets), jnp.arange(S, dtype=jnp.int32)
    targets, degrees = jnp.asarray(graph.out_targets), jnp.pad(jnp.diff(starts), (0, 1))
    source = jnp.searchsorted(starts, slots, side="right").astype(jnp.int32) - 1  # N in padding slots
    left = degrees[source] - (slots - starts[source])  # how many slots of the list are left, from this one on
    real = jnp.arange(N, dtype=jnp.int32) < graph.num_nodes
    labels = jnp.zeros(N, jnp.int32) if graph.node_labels is None else jnp.asarray(graph.node_labels)

    def refine(colors: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        # Slots are in the order of their nodes, and each node's list of colors is sorted. Then stretches of the lists
        # get numbers, so that equal stretches have equal ones. Their length doubles with each step: the number of a
        # stretch stands for the pair of numbers of its halves. At last the number at a node's first slot stands for
        # its whole list.
        near = colors.at[targets].get(mode="fill", fill_value=0)
        stretch = lax.sort((source, near), num_keys=2)[1]
        for step in range(doublings):
            after = jnp.where(left > 1 << step, jnp.roll(stretch, -(1 << step)), -1)
            stretch = _numbered(stretch, after)
        lists = jnp.where(degrees[:N] > 0, stretch.at[starts[:N]].get(mode="fill", fill_value=0), -1)
        colors = _numbered(colors, lists)
        return colors, colors

    first = _numbered(real.astype(jnp.int32), labels)
    return jnp.concatenate([first[None], lax.scan(refine, first, length=rounds)[1]])


def _numbered(first: jax.Array, second: jax.Array) -> jax.Array:
    """Return a number for each pair ``first, second``, int32: equal for equal pairs, and larger for larger pairs."""
    first, second, place = lax.sort((first, second, jnp.arange(len(first), dtype=jnp.int32)), num_keys=2)
    new = (jnp.diff(first) != 0) | (jnp.diff(second) != 0)
    number = jnp.pad(jnp.cumsum(new, dtype=jnp.int32), (1, 0))
    return jnp.zeros(len(place), jnp.int32).at[place].set(number)
