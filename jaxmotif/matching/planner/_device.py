"""Candidate lists and bit matrices between the nodes that the domains leave.

The target is reduced to the nodes in some domain and the slots between them, renumbered in ascending order. A list
family (pair kind, query node x) holds, for every node u of the reduced target, the nodes w of x's domain such that
(u, w) fulfils the kind, ascending.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._bits import bit_of, has_bit
from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.kernels._expand import take
from jaxmotif.matching._options import Options
from jaxmotif.matching._sizes import MAKING
from jaxmotif.matching._target import Target
from jaxmotif.matching.planner._ask import QueryConstraints
from jaxmotif.matching.planner._backend import (
    Families,
    FilteredDomains,
    FreeDomains,
    ListSizes,
    PlanningBackend,
    Reduced,
)
from jaxmotif.matching.planner._device_filter import filter_domains, unpack

SLOT_FIELDS = ("sources", "targets", "labels", "reverse", "reverse_labels")


@jit64(static_argnames=("nodes", "slots"))
def _reduce_target(target: Target, bits: jax.Array, *, nodes: int, slots: int) -> Reduced:
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
        ends = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(held, dtype=jnp.int32)])
        # A row now begins after as many slots as are kept before its old begin.
        ends = take(ends, one.offsets)
        # Rows past the last are empty.
        offsets = jnp.where(real, take(ends, ids), ends[-1])
        fields: dict[str, Any] = {"offsets": jnp.concatenate([offsets, ends[-1:]])}
        for name in SLOT_FIELDS:
            values = getattr(one, name)
            if name in ("sources", "targets"):
                # Padding slots lead to the node past the last, as in any target.
                fields[name] = _put(slots, place, take(number, source if name == "sources" else head), nodes)
            else:
                fields[name] = None if values is None else _put(slots, place, values, 0)
        return fields

    rows = [direction(d) for d in range(target.offsets.shape[0])]
    joined = {name: None if rows[0][name] is None else jnp.stack([row[name] for row in rows]) for name in rows[0]}
    return Reduced(
        Target(size=size, ids=take(target.ids, ids), node_labels=None, marks=target.marks, **joined), kept_bits
    )


@jit64
def _measure_lists(families: Families) -> tuple[Any, ...]:
    reduced, kinds, lists, num_lists = families
    target, bits = reduced.target, reduced.bits
    J, K = lists.shape[0], 32 * bits.shape[0]

    def family(j, offsets):
        ends = jnp.cumsum(_members(reduced, kinds, lists[j])[0], dtype=jnp.int32)
        ends = jnp.concatenate([jnp.zeros(1, jnp.int32), ends])
        direction = lax.dynamic_index_in_dim(target.offsets, kinds[lists[j, 0], 0], 0, False)
        # Members lie in the order of slots: a row's end in the list is how many there are before its end in the target.
        return offsets.at[j].set(take(ends, direction))

    offsets = lax.fori_loop(jnp.int32(0), num_lists, family, jnp.zeros((J, target.nodes + 1), jnp.int32))
    block = min(target.nodes, 2**14)
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
def _fill_lists(
    families: Families, offsets: jax.Array, starts: jax.Array, free: FreeDomains, *, capacity: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    reduced, kinds, lists, num_lists = families
    entries = jnp.zeros(capacity + 1, jnp.int32)

    def family(j, entries):
        member, targets = _members(reduced, kinds, lists[j])
        place = starts[j] + jnp.cumsum(member, dtype=jnp.int32) - 1
        # Slots that are no members write to the spare entry.
        return entries.at[jnp.where(member, place, capacity)].set(targets, mode="promise_in_bounds")

    def domain(f, entries):
        u = free.nodes[f]
        member = has_bit(take(reduced.bits, u >> 5), u)
        place = free.starts[f] + jnp.cumsum(member, dtype=jnp.int32) - 1
        ids = jnp.arange(member.shape[0], dtype=jnp.int32)
        return entries.at[jnp.where(member, place, capacity)].set(ids, mode="promise_in_bounds")

    entries = lax.fori_loop(jnp.int32(0), num_lists, family, entries)
    entries = lax.fori_loop(jnp.int32(0), free.count, domain, entries)
    bounds = jnp.stack([free.starts[:-1], free.starts[1:]], axis=1)
    # Each family's offsets count from 0: from here on all index one array of entries.
    flat = jnp.concatenate([(offsets + starts[:, None]).reshape(-1), bounds.reshape(-1)])
    return flat, entries, lax.bitcast_convert_type(reduced.bits, jnp.int32).reshape(-1)


@jit64(static_argnames=("count",))
def _bit_matrices(families: Families, chosen: jax.Array, *, count: int) -> jax.Array:
    target, kinds = families.reduced.target, families.kinds
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
def _number_nodes(bits: jax.Array, unions: jax.Array) -> tuple[jax.Array, jax.Array]:
    inside = ((bits[None] & unions[:, :, None]) != 0).any(axis=1)
    # Numbers begin at 1, since 0 stands for nodes outside.
    number = jnp.cumsum(inside, axis=1, dtype=jnp.int32)
    return jnp.where(inside, number, 0), for_host(number[:, -1])


@jit64(static_argnames=("capacity",))
def _bit_rows(families: Families, ranks: jax.Array, rows: jax.Array, *, capacity: int) -> jax.Array:
    reduced, kinds, lists, count = families

    def family(r, words):
        j, numbering, width, first = rows[r]
        member, targets = _members(reduced, kinds, lists[j])
        sources = lax.dynamic_index_in_dim(reduced.target.sources, kinds[lists[j, 0], 0], 0, False)
        rank = take(lax.dynamic_index_in_dim(ranks, numbering, 0, False), jnp.where(member, targets, 0))
        word = jnp.where(member, first + sources * width + (rank >> 5), capacity)
        bit = jnp.where(member, bit_of(rank), 0)
        # A slot's bit is entered once: a sum is a union.
        return words.at[word].add(bit, mode="promise_in_bounds")

    words = lax.fori_loop(jnp.int32(0), count, family, jnp.zeros(capacity + 1, jnp.uint32))
    return lax.bitcast_convert_type(words, jnp.int32)


def _members(reduced: Reduced, kinds: jax.Array, family: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return which slots (of the kind's direction) are in a list family, and the targets of all."""
    kind, x = kinds[family[0]], family[1]
    slots = reduced.target.direction(kind[0])
    ok = slots.fits(kind)
    # A padding slot's target is past the last node.
    words = take(take(reduced.bits, x >> 5), jnp.where(ok, slots.targets, 0))
    return ok & has_bit(words, x), slots.targets


def _put(size: int, place: jax.Array, values: jax.Array, fill: int) -> jax.Array:
    """Return int32 ``[size]`` with values at places; those at ``size`` are left out."""
    return jnp.full(size + 1, fill, jnp.int32).at[place].set(values, mode="promise_in_bounds")[:size]


class DeviceBackend(PlanningBackend):
    """Planning where the graph lies, in few padded sizes, since all of it is compiled."""

    making = MAKING

    def filter_domains(
        self, target: Target, asked: QueryConstraints, allowed: np.ndarray | None, options: Options
    ) -> FilteredDomains:
        (device,) = target.offsets.devices()
        # The conditions of a query are sent to a device only once, in one piece.
        conditions = asked.query.known(
            ("conditions", options.induced, options.wildcard, device),
            lambda: jax.device_put(asked.conditions, device),
        )
        filters, bits = options.chosen_filters(asked.query.node_labels, target.node_labels), allowed
        while True:
            bits, *counts = filter_domains(target, conditions, bits, filters=filters)
            sizes, (nodes, slots, final) = jax.device_get(counts)
            if final:
                # Padded query nodes have empty domains, which say nothing.
                return FilteredDomains(bits, sizes[: asked.query.num_nodes].astype(np.int64), int(nodes), int(slots))
            # Domains only shrink: the next call goes on where this one stopped.
            options.deadline.check()

    def capacity(self, count: int, least: int, words: bool = False) -> int:
        return power_of_four(count, least)

    def matrix_words(self, most: int, slots: int) -> int:
        return most

    def pad_first_axis(self, arrays: tuple[Any, ...], least: tuple[int, ...]) -> tuple[Any, ...]:
        return arrays

    reduce_target = staticmethod(_reduce_target)
    fill_lists = staticmethod(_fill_lists)
    bit_matrices = staticmethod(_bit_matrices)
    bit_rows = staticmethod(_bit_rows)

    def measure_lists(self, families: Families, options: Options) -> ListSizes:
        offsets, *measured = _measure_lists(families)
        return ListSizes(offsets, *jax.device_get(measured))

    def number_nodes(self, bits: Any, unions: np.ndarray) -> tuple[Any, np.ndarray]:
        numbers, counts = _number_nodes(bits, unions)
        return numbers, np.asarray(counts)
