"""Domains: which target nodes each query node can map to, as bits, one word of 32 query nodes a target node.

The filters, each sound by itself (GRASS, definition 2, and one more):

| filter | a target node v stays in the domain of query node u if |
|---|---|
| ``label`` | the labels are equal |
| ``degree`` | v has as many neighbours (successors and predecessors) as u |
| ``frequency`` | for every label, v has as many neighbours that carry it |
| ``consistency`` | for every neighbour x of u, some neighbour of v is in the domain of x; until nothing changes |
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.kernels._expand import take
from jaxmotif.matching._target import Target
from jaxmotif.matching.planner._ask import Conditions

MOST_SWEEPS = 32
"""Sweeps of a call: how many it takes depends on the graph, up to one for each node, and a deadline is asked between
calls."""


@jit64(static_argnames=("filters",))
def filter_domains(
    target: Target, query: Conditions, allowed: jax.Array | None, *, filters: tuple[str, ...]
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the domains after a bounded number of sweeps, and how much of the target they leave.

    Args:
      target, query: on the same device.
      allowed: uint32 ``[W, N]``, domains to begin with, or ``None`` for all nodes.
      filters: static, some of :data:`jaxmotif.matching._options.FILTERS`.

    Returns:
      Uint32 ``[W, N]``: bit ``u % 32`` of word ``u // 32``; int32 ``[K]``: their sizes; and int32 ``[3]``: nodes in
      any domain, slots (of one direction) between such nodes, and whether the domains are final (0: they are to be
      filtered again).
    """
    nodes = target.nodes
    real = jnp.arange(nodes, dtype=jnp.int32) < target.size
    wanted = jnp.arange(query.labels.shape[0], dtype=jnp.int32) < query.size
    bits = _pack(lambda u: _row(wanted, u)[:, None] & real[None], query, nodes)
    degrees = target.offsets[:, 1:] - target.offsets[:, :-1]

    def enough(u):
        return (degrees[:, None] >= query.degrees[: degrees.shape[0], u, None]).all(axis=0)

    unstable = jnp.array(False)
    if allowed is not None:
        bits &= allowed
    if "label" in filters and target.node_labels is not None:
        bits &= _pack(
            lambda u: _row(query.free, u)[:, None] | (target.node_labels[None] == _row(query.labels, u)[:, None]),
            query,
            nodes,
        )
    if "degree" in filters:
        bits &= _pack(enough, query, nodes)
    if "frequency" in filters and target.node_labels is not None:
        bits = _frequency(target, query, bits)
    if "consistency" in filters:

        def sweep(state):
            bits, _, number = state
            after = _sweep(target, query, bits)
            return after, (after != bits).any(), number + 1

        # Domains only shrink, so that it ends; each sweep sees what the one before dropped.
        begin = bits, jnp.array(True), jnp.int32(0)
        bits, unstable, _ = lax.while_loop(lambda state: state[1] & (state[2] < MOST_SWEEPS), sweep, begin)
    alive = (bits != 0).any(axis=0)
    # The slots of one direction are enough: the others are the same arcs from their heads.
    ends = jnp.stack([target.sources[0], target.targets[0]])
    inside = (ends < nodes) & take(alive, jnp.minimum(ends, nodes - 1))
    numbers = alive.sum(dtype=jnp.int32), inside.all(axis=0).sum(dtype=jnp.int32)
    left = jnp.stack([*numbers, (~unstable).astype(jnp.int32)])
    return bits, for_host(domain_sizes(bits)), for_host(left)


def domain_sizes(bits: jax.Array) -> jax.Array:
    """Return nodes in each domain, int32 ``[K]``."""
    return lax.map(lambda word: unpack(word).sum(axis=1, dtype=jnp.int32), bits).reshape(-1)


def unpack(word: jax.Array) -> jax.Array:
    """Return the 32 bits of each of uint32 ``[N]``, bool ``[32, N]``."""
    return (word[None] >> jnp.arange(32, dtype=jnp.uint32)[:, None]) & jnp.uint32(1) != 0


def _row(values: jax.Array, u: jax.Array) -> jax.Array:
    return take(values, u)


def _pack(keep: Callable[[jax.Array], jax.Array], query: Conditions, nodes: int) -> jax.Array:
    """Return the words ``[W, N]`` whose bits are ``keep(u)``, bool ``[32, N]`` for 32 query nodes u."""
    words = query.near.shape[-1]

    def word(j):
        u = 32 * j + jnp.arange(32, dtype=jnp.int32)
        # 32 query nodes are packed at a time: bools of all at once would take eight times the memory of the words.
        kept = jnp.broadcast_to(keep(u), (32, nodes)).astype(jnp.uint32)
        return (kept << jnp.arange(32, dtype=jnp.uint32)[:, None]).sum(axis=0, dtype=jnp.uint32)

    return lax.map(word, jnp.arange(words, dtype=jnp.int32))


def _frequency(target: Target, query: Conditions, bits: jax.Array) -> jax.Array:
    """Drop nodes with too few neighbours of some label."""

    def label(number, bits):
        for d in range(target.offsets.shape[0]):
            slots = target.direction(d)
            real = slots.targets < target.nodes
            labels = take(target.node_labels, jnp.where(real, slots.targets, 0))
            carries = real & (labels == query.frequent_labels[number])
            ends = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(carries, dtype=jnp.int32)])
            # Differences of the sums before each row begins are the numbers of carriers in the rows.
            ends = take(ends, slots.offsets)
            count = (ends[1:] - ends[:-1])[None]
            bits &= _pack(
                lambda u, d=d, count=count: count >= query.frequent[d, number, u][:, None], query, target.nodes
            )
        return bits

    return lax.fori_loop(jnp.int32(0), query.num_labels, label, bits)


def _sweep(target: Target, query: Conditions, bits: jax.Array) -> jax.Array:
    """Drop v from the domain of u unless, for every x near u, a neighbour of v is in the domain of x.

    Domains are used as they are so far: what one kind of pairs drops, the next one sees.

    Args:
      target: N nodes.
      query: the conditions of the query.
      bits: uint32 ``[W, N]``, the domains.
    """

    def kind(number, bits):
        slots = target.direction(query.kinds[number, 0])
        words = neighbor_words(slots, query.kinds[number], bits)
        return bits & _pack(
            # A bit is left for each x near u whose domain has no neighbour of v, and any such bit drops v.
            lambda u: ((query.near[number, u][:, :, None] & ~words[None]) == 0).all(axis=1),
            query,
            target.nodes,
        )

    return lax.fori_loop(jnp.int32(0), query.num_kinds, kind, bits)


def neighbor_words(slots: Target, kind: jax.Array, bits: jax.Array) -> jax.Array:
    """Return the OR of the bits of each node's neighbours by a pair kind, uint32 ``[W, N]``.

    Rows are folded by doubling: after s rounds a slot holds the OR of the 2^s slots from it on, within its row.
    """
    ok = slots.fits(kind)
    words = jnp.where(ok[None], jnp.take(bits, jnp.where(ok, slots.targets, 0), axis=1), jnp.uint32(0))
    # No slot may take from the next row; padding slots, of source N, have the last end.
    end = take(slots.offsets, jnp.minimum(slots.sources + 1, slots.nodes))
    position = jnp.arange(end.shape[0], dtype=jnp.int32)
    longest = (slots.offsets[1:] - slots.offsets[:-1]).max()

    def fold(state):
        width, words = state
        other = position + width
        inside = other < end
        more = jnp.take(words, jnp.where(inside, other, 0), axis=1)
        return 2 * width, words | jnp.where(inside[None], more, jnp.uint32(0))

    # A row is no longer than this: its first slot holds the OR of all of it.
    _, words = lax.while_loop(lambda state: state[0] < longest, fold, (jnp.int32(1), words))
    first = slots.offsets[:-1]
    held = first < slots.offsets[1:]
    return jnp.where(held[None], jnp.take(words, jnp.where(held, first, 0), axis=1), jnp.uint32(0))
