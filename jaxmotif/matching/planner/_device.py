"""Planning on the device where the graph lies, in a few padded sizes, since everything is compiled.

The domain of a query node is the set of target nodes that it can map to. Domains are kept as bits: for each target
node, one word for every 32 query nodes.

The filters, each sound by itself (GRASS, definition 2, and one more):

| filter | a target node v stays in the domain of query node u if |
|---|---|
| ``label`` | the labels are equal |
| ``degree`` | v has at least as many neighbours (successors, and predecessors) as u |
| ``frequency`` | for every label, v has at least as many neighbours that carry it as u |
| ``consistency`` | for every neighbour x of u, some neighbour of v is in the domain of x; until nothing changes |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._bits import bit_of, has_bit
from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.arrays._rows import offsets_from
from jaxmotif.kernels._expand import take
from jaxmotif.matching._options import Options
from jaxmotif.matching._target import SLOT_ARRAYS, Target
from jaxmotif.matching.planner._ask import Conditions, QueryConstraints
from jaxmotif.matching.planner._families import Families, FilteredDomains

MOST_SWEEPS = 32
"""Most sweeps of a call. How many are needed depends on the graph, up to one for each node, and the deadline is checked
between calls."""


@jit64(static_argnames=("filters",))
def sweep_domains(
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
    bits = _pack(lambda u: take(wanted, u)[:, None] & real[None], query, nodes)
    degrees = target.offsets[:, 1:] - target.offsets[:, :-1]

    def enough(u):
        return (degrees[:, None] >= query.degrees[: degrees.shape[0], u, None]).all(axis=0)

    unstable = jnp.array(False)
    if allowed is not None:
        bits &= allowed
    if "label" in filters and target.node_labels is not None:
        bits &= _pack(
            lambda u: take(query.free, u)[:, None] | (target.node_labels[None] == take(query.labels, u)[:, None]),
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
    """Return how many nodes each domain has, int32 ``[K]``."""
    return lax.map(lambda word: unpack(word).sum(axis=1, dtype=jnp.int32), bits).reshape(-1)


def unpack(word: jax.Array) -> jax.Array:
    """Return the 32 bits of each of uint32 ``[N]``, bool ``[32, N]``."""
    return (word[None] >> jnp.arange(32, dtype=jnp.uint32)[:, None]) & jnp.uint32(1) != 0


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
            # Differences of the sums before each row begins are the numbers of carriers in the rows.
            ends = take(offsets_from(carries), slots.offsets)
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


def filter_domains(
    target: Target, asked: QueryConstraints, allowed: np.ndarray | None, options: Options
) -> FilteredDomains:
    """Return which target nodes each query node can be mapped to, as ``filter_domains`` of ``_host`` does."""
    (device,) = target.offsets.devices()
    # The conditions of a query are sent to a device only once, in one piece.
    conditions = asked.query.known(
        ("conditions", options.induced, options.wildcard, device),
        lambda: jax.device_put(asked.conditions, device),
    )
    filters, bits = options.chosen_filters(asked.query.node_labels, target.node_labels), allowed
    while True:
        bits, *counts = sweep_domains(target, conditions, bits, filters=filters)
        sizes, (nodes, slots, final) = jax.device_get(counts)
        if final:
            # Padded query nodes have empty domains, which say nothing.
            return FilteredDomains(bits, sizes[: asked.query.num_nodes].astype(np.int64), int(nodes), int(slots))
        # Domains only shrink: the next call goes on where this one stopped.
        options.deadline.check()


@jit64(static_argnames=("nodes", "slots"))
def reduce_target(target: Target, bits: jax.Array, *, nodes: int, slots: int) -> tuple[Target, jax.Array]:
    N = target.nodes
    alive = (bits != 0).any(axis=0)
    # Nodes are numbered in ascending order, so that sorted rows stay sorted.
    number = jnp.cumsum(alive, dtype=jnp.int32) - 1
    ids = _put(nodes, jnp.where(alive, number, nodes), jnp.arange(N, dtype=jnp.int32), 0)
    size = number[-1] + 1
    real = jnp.arange(nodes, dtype=jnp.int32) < size
    kept_bits = jnp.where(real[None], jnp.take(bits, ids, axis=1), jnp.uint32(0))

    def direction(d: int) -> dict[str, Any]:
        one = target.direction(d)
        held = one.targets < N
        source, head = jnp.where(held, one.sources, 0), jnp.where(held, one.targets, 0)
        # A slot stays where both its ends do.
        held &= take(alive, source) & take(alive, head)
        place = jnp.where(held, jnp.cumsum(held, dtype=jnp.int32) - 1, slots)
        # A row now begins after as many slots as are kept before its old begin.
        ends = take(offsets_from(held), one.offsets)
        # Rows past the last are empty.
        offsets = jnp.where(real, take(ends, ids), ends[-1])
        fields: dict[str, Any] = {"offsets": jnp.concatenate([offsets, ends[-1:]])}
        for name in SLOT_ARRAYS[1:]:
            values = getattr(one, name)
            if name in ("sources", "targets"):
                # Padding slots lead to the node past the last, as in any target.
                fields[name] = _put(slots, place, take(number, source if name == "sources" else head), nodes)
            else:
                fields[name] = None if values is None else _put(slots, place, values, 0)
        return fields

    rows = [direction(d) for d in range(target.offsets.shape[0])]
    joined = {name: None if rows[0][name] is None else jnp.stack([row[name] for row in rows]) for name in rows[0]}
    kept = Target(size=size, ids=take(target.ids, ids), node_labels=None, marks=target.marks, **joined)
    return kept, kept_bits


@jit64(static_argnames=("block",))
def _measure_lists(families: Families, *, block: int) -> tuple[Any, ...]:
    target, bits, _, lists, num_lists = families
    J, K = lists.shape[0], 32 * bits.shape[0]

    def family(j, offsets):
        ends = offsets_from(_members(families, lists[j])[0])
        direction = lax.dynamic_index_in_dim(target.offsets, families.kinds[lists[j, 0], 0], 0, False)
        # Members lie in the order of slots: a row's end in the list is how many there are before its end in the target.
        return offsets.at[j].set(take(ends, direction))

    offsets = lax.fori_loop(jnp.int32(0), num_lists, family, jnp.zeros((J, target.nodes + 1), jnp.int32))
    block = min(target.nodes, block)
    blocks = -(-target.nodes // block)

    def common(number, found):  # the last block overlaps the one before it
        meet, beyond = found
        part = lax.dynamic_slice_in_dim(bits, jnp.minimum(number * block, target.nodes - block), block, 1)
        # Sums of at most 2^14 ones are exact in float32, for which devices have units for matrix products.
        inside = lax.map(unpack, part).reshape(K, block).astype(jnp.float32)
        return meet | (inside @ inside.T > 0), beyond | (inside @ (1 - inside).T > 0)

    nothing = jnp.zeros((K, K), bool)
    meet, beyond = lax.fori_loop(jnp.int32(0), jnp.int32(blocks), common, (nothing, nothing))
    lengths, totals = offsets[:, 1:] - offsets[:, :-1], offsets[:, -1]
    # The average is over entries and not over lists, so that long lists count as often as they are long.
    squares = (lengths.astype(jnp.float32) ** 2).sum(axis=1)
    typical = squares / jnp.maximum(totals, 1).astype(jnp.float32)
    return offsets, *map(for_host, (totals, lengths.max(axis=1), typical, meet, ~beyond))


@jit64(static_argnames=("capacity",))
def fill_lists(
    families: Families,
    offsets: jax.Array,
    starts: jax.Array,
    free: tuple[jax.Array, jax.Array, jax.Array],
    *,
    capacity: int,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    _, bits, _, lists, num_lists = families
    nodes, count, begins = free
    entries = jnp.zeros(capacity + 1, jnp.int32)

    def family(j, entries):
        member, targets = _members(families, lists[j])
        place = starts[j] + jnp.cumsum(member, dtype=jnp.int32) - 1
        # Slots that are no members write to the spare entry.
        return entries.at[jnp.where(member, place, capacity)].set(targets, mode="promise_in_bounds")

    def domain(f, entries):
        u = nodes[f]
        member = has_bit(take(bits, u >> 5), u)
        place = begins[f] + jnp.cumsum(member, dtype=jnp.int32) - 1
        ids = jnp.arange(member.shape[0], dtype=jnp.int32)
        return entries.at[jnp.where(member, place, capacity)].set(ids, mode="promise_in_bounds")

    entries = lax.fori_loop(jnp.int32(0), num_lists, family, entries)
    entries = lax.fori_loop(jnp.int32(0), count, domain, entries)
    bounds = jnp.stack([begins[:-1], begins[1:]], axis=1)
    # Each family's offsets count from 0: from here on all index one array of entries.
    flat = jnp.concatenate([(offsets + starts[:, None]).reshape(-1), bounds.reshape(-1)])
    return flat, entries, lax.bitcast_convert_type(bits, jnp.int32).reshape(-1)


@jit64(static_argnames=("count",))
def bit_matrices(families: Families, chosen: jax.Array, *, count: int) -> jax.Array:
    target, kinds = families.target, families.kinds
    N = target.nodes
    stride = N // 32
    size = N * stride

    def matrix(number, words):
        kind = kinds[chosen[number]]
        slots = target.direction(kind[0])
        ok = slots.fits(kind)
        word = number * size + slots.sources * stride + (slots.targets >> 5)
        bit = bit_of(slots.targets)
        spare = jnp.int32(count * size)
        # A row has no slot twice, so that a sum of bits is their union.
        return words.at[jnp.where(ok, word, spare)].add(jnp.where(ok, bit, 0), mode="promise_in_bounds")

    words = lax.fori_loop(jnp.int32(0), jnp.int32(count), matrix, jnp.zeros(count * size + 1, jnp.uint32))
    return lax.bitcast_convert_type(words, jnp.int32)


@jit64
def number_nodes(bits: jax.Array, unions: jax.Array) -> tuple[jax.Array, jax.Array]:
    inside = ((bits[None] & unions[:, :, None]) != 0).any(axis=1)
    # Numbers begin at 1, since 0 stands for nodes outside.
    number = jnp.cumsum(inside, axis=1, dtype=jnp.int32)
    return jnp.where(inside, number, 0), for_host(number[:, -1])


@jit64(static_argnames=("capacity",))
def bit_rows(families: Families, ranks: jax.Array, rows: jax.Array, *, capacity: int) -> jax.Array:
    target, _, kinds, lists, count = families

    def family(r, words):
        j, numbering, width, first = rows[r]
        member, targets = _members(families, lists[j])
        sources = lax.dynamic_index_in_dim(target.sources, kinds[lists[j, 0], 0], 0, False)
        rank = take(lax.dynamic_index_in_dim(ranks, numbering, 0, False), jnp.where(member, targets, 0))
        word = jnp.where(member, first + sources * width + (rank >> 5), capacity)
        bit = jnp.where(member, bit_of(rank), 0)
        # A slot's bit is entered once: a sum is a union.
        return words.at[word].add(bit, mode="promise_in_bounds")

    words = lax.fori_loop(jnp.int32(0), count, family, jnp.zeros(capacity + 1, jnp.uint32))
    return lax.bitcast_convert_type(words, jnp.int32)


def _members(families: Families, family: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return which slots (of the kind's direction) are in a list family, and the targets of all."""
    kind, x = families.kinds[family[0]], family[1]
    slots = families.target.direction(kind[0])
    ok = slots.fits(kind)
    # A padding slot's target is past the last node.
    words = take(take(families.bits, x >> 5), jnp.where(ok, slots.targets, 0))
    return ok & has_bit(words, x), slots.targets


def _put(size: int, place: jax.Array, values: jax.Array, fill: int) -> jax.Array:
    """Return int32 ``[size]`` with values at places; those at ``size`` are left out."""
    return jnp.full(size + 1, fill, jnp.int32).at[place].set(values, mode="promise_in_bounds")[:size]


def measure_lists(families: Families, options: Options, block: int = 2**14) -> tuple[Any, ...]:
    """Lay out and measure the families of lists, as ``measure_lists`` of ``_host`` does, a block of nodes at a time."""
    del options  # a compiled program runs to its end
    offsets, *measured = _measure_lists(families, block=block)
    return offsets, *jax.device_get(measured)
