"""Adjacency of any two nodes in a large graph: edges in buckets by a hash of their ends, so that a lookup reads two
or three places near each other where a search of a row reads one for each halving of its length.

The hash is a bijection of pairs: a bucket is the high half of its value, and the low half tells the edges of a bucket
apart. So a bucket's edges are those of equal high halves among the sorted values, and nothing is looked up wrongly.
"""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64, put64, target, target_of
from jaxmotif.kernels._expand import find, take

ROUNDS = (0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35)
"""Odd multipliers: of a Feistel network (Luby and Rackoff 1988), three rounds of which scatter edges well."""


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("starts", "tags", "states"),
    meta_fields=("node_bits", "bucket_bits", "most"),
)
@dataclasses.dataclass(frozen=True, eq=False)
class PairIndex:
    """The edges of one graph, each once, by the hash of its later and its earlier node.

    Attributes:
      starts: int32 ``[2 ** bucket_bits + 1]``, where each bucket begins.
      tags: uint32 ``[S]``, the low part of the hashes of a bucket's edges, ascending (then padding).
      states: integers ``[S]``, the state of each edge's dyad seen from the later node; ``None`` where all are 1.
      node_bits, bucket_bits: static; of a node, at least 1, and of a bucket, at most twice as many.
      most: static; no bucket has more edges.
    """

    starts: jax.Array
    tags: jax.Array
    states: jax.Array | None
    node_bits: int
    bucket_bits: int
    most: int

    def state(self, late: jax.Array, early: jax.Array) -> jax.Array:
        """The state of the dyads (late, early), int32; 0 for none. ``late`` is at least ``early``."""
        high, low = hashed(jnp, late, early, self.node_bits)
        rest = 2 * self.node_bits - self.bucket_bits  # bits of a tag, at most those of a node
        word = jnp.uint32
        bucket = ((high << word(self.node_bits - rest)) | (low >> word(rest))).astype(jnp.int32)
        tag = low & word((1 << rest) - 1)
        low, high = take(self.starts, bucket), take(self.starts, bucket + 1)
        at, there = self._found(low, high, tag)
        if self.states is None:
            return there.astype(jnp.int32)
        return jnp.where(there, take(self.states, at).astype(jnp.int32), 0)

    def _found(self, low: jax.Array, high: jax.Array, tag: jax.Array) -> tuple[jax.Array, jax.Array]:
        """A place of the tags, and whether the wanted one is there."""
        last = self.tags.shape[0] - 1
        if target().platform == "cpu":
            at, there = find(self.tags, low, high, tag, self.most.bit_length())
            return jnp.minimum(at, last), there
        # All at once: they are side by side, and none waits for another as the steps of a search do.
        at, there = jnp.minimum(low, last), jnp.zeros(low.shape, bool)
        for place in range(self.most):
            here = jnp.minimum(low + place, last)
            hit = (low + place < high) & (take(self.tags, here) == tag)
            at, there = jnp.where(hit, here, at), there | hit
        return at, there


def bits_for(rows: int, slots: int) -> tuple[int, int]:
    """Bits of a node and of a bucket, for so many nodes and (each edge twice) neighbours: one edge a bucket, about, and
    as many buckets as nodes at least, so that a tag has no more bits than a node."""
    node = max(1, (rows - 1).bit_length())
    return node, min(2 * node, max(node, (slots // 2 - 1).bit_length()))


def likely_fullest(edges: int, bucket_bits: int) -> int:
    """About how many edges the fullest bucket has: more are in less than one bucket (of a Poisson distribution)."""
    buckets = 1 << bucket_bits
    most, chance = 0, math.exp(-edges / buckets)
    above = 1 - chance
    while above * buckets > 1:
        most += 1
        chance *= edges / buckets / most
        above -= chance
    return most


def hashed(xp: ModuleType, late: Any, early: Any, bits: int) -> tuple[Any, Any]:
    """Two words of ``bits`` bits each, uint32, another two for every other pair of nodes (``xp``: NumPy or jax)."""
    high, low, word = xp.asarray(late).astype(np.uint32), xp.asarray(early).astype(np.uint32), np.uint32
    for number, odd in enumerate(ROUNDS):
        # The high bits of a product depend on all bits of its factor.
        if number % 2:
            low = low ^ ((high * word(odd)) >> word(32 - bits))
        else:
            high = high ^ ((low * word(odd)) >> word(32 - bits))
    return high, low


def _keys(xp: ModuleType, late: Any, early: Any, some: Any, bits: int) -> Any:
    """What edges are sorted by: their hash, uint64; all ones for none."""
    high, low = hashed(xp, late, early, bits)
    key = (high.astype(np.uint64) << np.uint64(bits)) | low.astype(np.uint64)
    return xp.where(some, key, np.uint64(0xFFFFFFFFFFFFFFFF))


def host_index(
    offsets: np.ndarray, near: np.ndarray, states: np.ndarray | None, node_bits: int, bucket_bits: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
    """The arrays of an index, from rows of neighbours; and how many edges the fullest bucket has. NumPy sorts many
    times faster than XLA does on a CPU."""
    owner = np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))
    # Each edge once, from its later node.
    some = np.flatnonzero(near[: owner.size] < owner)
    key = _keys(np, owner[some], near[some], True, node_bits)
    order = None if states is None else np.argsort(key)
    key = np.sort(key) if order is None else key[order]
    rest = np.uint64(2 * node_bits - bucket_bits)
    sizes = np.bincount((key >> rest).astype(np.int64), minlength=1 << bucket_bits)
    starts = np.concatenate([np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)])
    room = (0, near.size // 2 - key.size)
    tags = np.pad((key & ((np.uint64(1) << rest) - np.uint64(1))).astype(np.uint32), room)
    kept = None if states is None or order is None else np.pad(states[some[order]], room)
    return starts, tags, kept, int(sizes.max())


def device_index(
    offsets: jax.Array, near: jax.Array, states: jax.Array | None, node_bits: int, bucket_bits: int
) -> tuple[jax.Array, jax.Array, jax.Array | None, jax.Array]:
    """The same on a device; in 64-bit mode."""
    slots = near.shape[0]
    owner = jnp.cumsum(jnp.zeros(slots, jnp.int32).at[offsets[1:]].add(1, mode="drop"), dtype=jnp.int32)
    # Padding, and edges from their earlier node, go last.
    some = (jnp.arange(slots, dtype=jnp.int32) < offsets[-1]) & (near < owner)
    key = _keys(jnp, owner, near, some, node_bits)
    if states is None:
        key = lax.sort(key, is_stable=False)[: slots // 2]
    else:
        key, states = (x[: slots // 2] for x in lax.sort((key, states), num_keys=1, is_stable=False))
    rest = jnp.uint64(2 * node_bits - bucket_bits)
    # Of padding there is a bucket past the last.
    bucket = jnp.minimum(key >> rest, jnp.uint64(1 << bucket_bits)).astype(jnp.int32)
    sizes = jnp.zeros((1 << bucket_bits) + 1, jnp.int32).at[bucket].add(1, indices_are_sorted=True)[:-1]
    starts = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(sizes, dtype=jnp.int32)])
    tags = (key & ((jnp.uint64(1) << rest) - jnp.uint64(1))).astype(jnp.uint32)
    return starts, tags, states, sizes.max()


_indexed = jit64(device_index, static_argnames=("node_bits", "bucket_bits"))


def index_on(
    device: jax.Device, offsets: Any, near: Any, states: Any, node_bits: int, bucket_bits: int
) -> tuple[jax.Array, jax.Array, jax.Array | None, jax.Array]:
    """The same, made where ``device`` has it made faster, and left there."""
    if target_of(device).is_accelerator:
        return _indexed(offsets, near, states, node_bits=node_bits, bucket_bits=bucket_bits)
    given = np.asarray(offsets), np.asarray(near), None if states is None else np.asarray(states)
    found: Any = host_index(*given, node_bits, bucket_bits)
    return put64(found, device)
