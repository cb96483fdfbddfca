"""An index that says whether two nodes of a large graph are adjacent, with edges in buckets by a hash of their ends.

A lookup reads two or three places that are near each other, where a binary search of a row would read one place for
each halving of the row. The hash is a bijection of pairs. The high part of its value is the number of the bucket, and
the low part, the *tag*, tells the edges of a bucket apart, so that no lookup is wrong.
"""

from __future__ import annotations

import dataclasses
import math
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmotif.arrays._compile import jit64, put64, target, target_of
from jaxmotif.arrays._rows import offsets_from
from jaxmotif.kernels._expand import find, take

ROUNDS = (0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35)
"""Odd multipliers of a Feistel network (Luby and Rackoff 1988), whose three rounds scatter edges well."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class PairIndex:
    """The edges of one graph, each once, by the hash of its later and its earlier node.

    Attributes:
      starts: Where each bucket begins, int32 ``[2 ** bucket_bits + 1]``.
      tags: The tags of each bucket's edges in ascending order, then padding; uint32 ``[S]``.
      states: The state of each edge's dyad seen from the later node, integers ``[S]``; ``None`` where all are 1.
      node_bits: The number of bits of a node, at least 1; static.
      bucket_bits: The number of bits of a bucket, at most twice ``node_bits``; static.
      most: The number of edges of a bucket at most; static.
    """

    starts: Array
    tags: Array
    states: Array | None
    node_bits: int = dataclasses.field(metadata={"static": True})
    bucket_bits: int = dataclasses.field(metadata={"static": True})
    most: int = dataclasses.field(metadata={"static": True})

    def state(self, late: Array, early: Array) -> Array:
        """Return the state of dyads, int32, 0 where there is no edge; ``late`` is at least ``early``."""
        high, low = hash_pairs(jnp, late, early, self.node_bits)
        rest = 2 * self.node_bits - self.bucket_bits  # the number of bits of a tag, at most that of a node
        word = jnp.uint32
        bucket = ((high << word(self.node_bits - rest)) | (low >> word(rest))).astype(jnp.int32)
        tag = low & word((1 << rest) - 1)
        low, high = take(self.starts, bucket), take(self.starts, bucket + 1)
        at, there = self._find(low, high, tag)
        if self.states is None:
            return there.astype(jnp.int32)
        return jnp.where(there, take(self.states, at).astype(jnp.int32), 0)

    def _find(self, low: Array, high: Array, tag: Array) -> tuple[Array, Array]:
        """Return a place among the tags from ``low`` to ``high``, and whether the wanted tag is there."""
        last = self.tags.shape[0] - 1
        if target().platform == "cpu":
            at, there = find(self.tags, low, high, tag, self.most.bit_length())
            return jnp.minimum(at, last), there
        # All places of the bucket are read at once. They are side by side, and no read waits for another, as it would
        # in a binary search.
        at, there = jnp.minimum(low, last), jnp.zeros(low.shape, bool)
        for place in range(self.most):
            here = jnp.minimum(low + place, last)
            hit = (low + place < high) & (take(self.tags, here) == tag)
            at, there = jnp.where(hit, here, at), there | hit
        return at, there


def bits_for(rows: int, slots: int) -> tuple[int, int]:
    """Return the number of bits of a node and of a bucket.

    A bucket has about one edge. There are at least as many buckets as nodes, so that a tag has no more bits than a
    node.

    Args:
      rows: The number of nodes.
      slots: The number of neighbours of all nodes, which is twice the number of edges.
    """
    node = max(1, (rows - 1).bit_length())
    return node, min(2 * node, max(node, (slots // 2 - 1).bit_length()))


def likely_fullest(edges: int, bucket_bits: int) -> int:
    """Return how many edges the fullest bucket is likely to have.

    The number of edges in a bucket has a Poisson distribution. Less than one bucket is expected to have more edges.
    """
    buckets = 1 << bucket_bits
    most, chance = 0, math.exp(-edges / buckets)
    above = 1 - chance
    while above * buckets > 1:
        most += 1
        chance *= edges / buckets / most
        above -= chance
    return most


def hash_pairs(xp: ModuleType, late: Any, early: Any, bits: int) -> tuple[Any, Any]:
    """Map pairs of nodes to pairs of words of ``bits`` bits each, uint32, one to one; ``xp`` is NumPy or jax.numpy."""
    high, low, word = xp.asarray(late).astype(np.uint32), xp.asarray(early).astype(np.uint32), np.uint32
    for number, odd in enumerate(ROUNDS):
        # The high bits of the product are taken, since they depend on all bits of the factor.
        if number % 2:
            low = low ^ ((high * word(odd)) >> word(32 - bits))
        else:
            high = high ^ ((low * word(odd)) >> word(32 - bits))
    return high, low


def _keys(xp: ModuleType, late: Any, early: Any, some: Any, bits: int) -> Any:
    """Return the hash by which edges are sorted, uint64; all ones where ``some`` is false."""
    high, low = hash_pairs(xp, late, early, bits)
    key = (high.astype(np.uint64) << np.uint64(bits)) | low.astype(np.uint64)
    return xp.where(some, key, np.uint64(0xFFFFFFFFFFFFFFFF))


def host_index(
    offsets: np.ndarray, near: np.ndarray, states: np.ndarray | None, node_bits: int, bucket_bits: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
    """Build the arrays of an index in NumPy, which sorts many times faster than XLA does on a CPU.

    Args:
      offsets: Where the row of each node begins, int32 ``[R + 1]``.
      near: The neighbours in each row, int32 ``[S]``.
      states: The state of each neighbour's dyad, or ``None``.
      node_bits: The number of bits of a node.
      bucket_bits: The number of bits of a bucket.

    Returns:
      ``starts``, ``tags`` and ``states`` of :class:`PairIndex`, and the number of edges of the fullest bucket.
    """
    owner = np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))
    # Every edge has two slots and is taken from that of its later node.
    some = np.flatnonzero(near[: owner.size] < owner)
    key = _keys(np, owner[some], near[some], True, node_bits)
    order = None if states is None else np.argsort(key)
    key = np.sort(key) if order is None else key[order]
    rest = np.uint64(2 * node_bits - bucket_bits)
    sizes = np.bincount((key >> rest).astype(np.int64), minlength=1 << bucket_bits)
    starts = offsets_from(sizes)
    padding = (0, near.size // 2 - key.size)
    tags = np.pad((key & ((np.uint64(1) << rest) - np.uint64(1))).astype(np.uint32), padding)
    if states is not None and order is not None:
        states = np.pad(states[some[order]], padding)
    return starts, tags, states, int(sizes.max())


def device_index(
    offsets: Array, near: Array, states: Array | None, node_bits: int, bucket_bits: int
) -> tuple[Array, Array, Array | None, Array]:
    """Build the arrays of an index on a device, in 64-bit mode; arguments and results as of :func:`host_index`."""
    slots = near.shape[0]
    owner = jnp.cumsum(jnp.zeros(slots, jnp.int32).at[offsets[1:]].add(1, mode="drop"), dtype=jnp.int32)
    # The sort brings padding, and slots of earlier nodes, to the end.
    some = (jnp.arange(slots, dtype=jnp.int32) < offsets[-1]) & (near < owner)
    key = _keys(jnp, owner, near, some, node_bits)
    if states is None:
        key = lax.sort(key, is_stable=False)[: slots // 2]
    else:
        key, states = (x[: slots // 2] for x in lax.sort((key, states), num_keys=1, is_stable=False))
    rest = jnp.uint64(2 * node_bits - bucket_bits)
    # Padding counts for a further bucket, which is then taken off.
    bucket = jnp.minimum(key >> rest, jnp.uint64(1 << bucket_bits)).astype(jnp.int32)
    sizes = jnp.zeros((1 << bucket_bits) + 1, jnp.int32).at[bucket].add(1, indices_are_sorted=True)[:-1]
    starts = offsets_from(sizes)
    tags = (key & ((jnp.uint64(1) << rest) - jnp.uint64(1))).astype(jnp.uint32)
    return starts, tags, states, sizes.max()


_device_index = jit64(device_index, static_argnames=("node_bits", "bucket_bits"))


def index_on(
    device: jax.Device, offsets: Any, near: Any, states: Any, node_bits: int, bucket_bits: int
) -> tuple[Array, Array, Array | None, Array]:
    """Build the arrays of an index, in the way that is faster for a device, and leave them on it."""
    if target_of(device).is_accelerator:
        return _device_index(offsets, near, states, node_bits=node_bits, bucket_bits=bucket_bits)
    states = None if states is None else np.asarray(states)
    index: Any = host_index(np.asarray(offsets), np.asarray(near), states, node_bits, bucket_bits)
    return put64(index, device)
