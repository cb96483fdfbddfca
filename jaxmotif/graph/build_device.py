"""Building a graph on the device: what :func:`jaxmotif.graph.build.host_rows` does, as two jitted functions.

Static sizes are rounded up to :func:`bucket_size`, so graphs of about one size share a compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.graph.build import NO_FIELDS, Rows, bucket_size, capacities
from jaxmotif.kernels.wide import wide_ints

_NONE = np.uint64(2**64 - 1)  # the key of nothing: after every real key, whose highest bit is clear
_LOW_WORD = np.uint64(0xFFFFFFFF)


def device_rows(
    edges: np.ndarray,
    labels: np.ndarray | None,
    n: int,
    directed: bool,
    sizes: Callable[[int], tuple[int, int]],
    device: Any,
) -> Rows:
    """:func:`jaxmotif.graph.build.host_rows` on a device, equal to it in every array."""
    rows = edges.shape[0]
    ends = np.zeros((2, bucket_size(rows)), np.int32)  # padding rows are self loops
    ends[:, :rows] = edges.T
    if labels is not None:
        labels = np.pad(labels, (0, ends.shape[1] - rows))
    with wide_ints():
        keys, slot_labels, found = _arcs(*jax.device_put((ends, labels), device), directed=directed)
        m, duplicates, reverse_duplicates, conflict = (int(number) for number in jax.device_get(found))
        N, S = sizes(m)
        long_N, long_S = capacities("bucket", N, S)
        fields = _rows(keys, slot_labels, np.int32(N), np.int32(S), long_N=long_N, long_S=long_S, directed=directed)
        if (long_N, long_S) != (N, S):
            fields = _cropped(fields, N=N, S=S)
    return Rows(NO_FIELDS | fields, m, duplicates, reverse_duplicates, bool(conflict))


@partial(jax.jit, static_argnames="directed")
def _arcs(ends: jax.Array, labels: jax.Array | None, *, directed: bool):
    """Distinct arcs as keys ``(source, target, is reciprocated)`` in any order, their labels, and what was found."""
    u, v = ends.astype(jnp.uint64)
    keys = jnp.where(u == v, _NONE, (jnp.minimum(u, v) << 32) | (jnp.maximum(u, v) << 1) | (u > v).astype(jnp.uint64))
    keys, labels = _sorted(keys, labels)
    real = keys != _NONE
    repeat = real & _same_as_before(keys)
    reverse = real & _same_as_before(keys >> 1) & ~repeat
    clash = repeat if directed else repeat | reverse
    conflict = False if labels is None else jnp.any(clash & ~_same_as_before(labels))
    keep = real & ~clash
    found = (keep.sum(), repeat.sum(), 0 if directed else reverse.sum(), conflict)
    if directed:
        keys, labels = _sorted(jnp.where(keep, keys, _NONE), labels)
        forward = _same_as_before(keys >> 1)
        mutual = (forward | jnp.append(forward[1:], False)).astype(jnp.uint64)
        low, high, backward = _low_high(keys)
        source, target = jnp.where(backward, high, low), jnp.where(backward, low, high)
        return jnp.where(keys == _NONE, _NONE, (source << 32) | (target << 1) | mutual), labels, found
    low, high, _ = _low_high(keys)
    keys = jnp.concatenate([(low << 32) | (high << 1), (high << 32) | (low << 1)])
    keys = jnp.where(jnp.concatenate([keep, keep]), keys, _NONE)
    return keys, None if labels is None else jnp.concatenate([labels, labels]), found


@partial(jax.jit, static_argnames=("long_N", "long_S", "directed"))
def _rows(
    keys: jax.Array, labels: jax.Array | None, N: jax.Array, S: jax.Array, *, long_N: int, long_S: int, directed: bool
) -> dict[str, jax.Array]:
    """The arrays of a graph, filled for capacities ``(N, S)`` but of lengths ``(long_N, long_S)``."""
    keys, labels = _sorted(keys, labels)
    keys = _resized(keys, long_S, _NONE)
    source, target, mutual = _low_high(keys)
    real = keys != _NONE
    source = jnp.where(real, source.astype(jnp.int32), N)
    target = jnp.where(real, target.astype(jnp.int32), N)
    fields = {"out_offsets": _offsets(source, long_N), "out_targets": target}
    if labels is not None:
        fields["edge_labels"] = jnp.where(real, _resized(labels, long_S, np.int32(-1)), np.int32(-1))
    if not directed:
        return fields
    by_target = jnp.sort(target.astype(jnp.uint64) << 32 | jnp.arange(long_S, dtype=jnp.uint64))
    slots = (by_target & _LOW_WORD).astype(jnp.int32)
    mutual = real & mutual
    position = jnp.where(mutual, jnp.cumsum(mutual, dtype=jnp.int32) - 1, np.int32(long_S))
    return fields | {
        "in_offsets": _offsets(target, long_N),
        "in_targets": source[slots],
        "in_slots": jnp.where(real, slots, S),
        "bi_offsets": _offsets(jnp.where(mutual, source, N), long_N),
        "bi_targets": jnp.full(long_S, N).at[position].set(target, mode="drop"),
    }


@partial(jax.jit, static_argnames=("N", "S"))
def _cropped(fields: dict[str, jax.Array], *, N: int, S: int) -> dict[str, jax.Array]:
    return {name: array[: N + 1 if name.endswith("offsets") else S] for name, array in fields.items()}


def _sorted(keys: jax.Array, labels: jax.Array | None) -> tuple[jax.Array, jax.Array | None]:
    if labels is None:
        return jnp.sort(keys), None
    keys, labels = lax.sort((keys, labels), num_keys=1)
    return keys, labels


def _same_as_before(values: jax.Array) -> jax.Array:
    return jnp.concatenate([jnp.zeros(1, bool), values[1:] == values[:-1]])


def _low_high(keys: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The fields of keys: the high word, the low word but for its last bit, and that bit."""
    return keys >> 32, (keys & _LOW_WORD) >> 1, (keys & 1).astype(bool)


def _resized(values: jax.Array, size: int, fill: np.integer) -> jax.Array:
    return jnp.concatenate([values, jnp.full(max(size - values.shape[0], 0), fill)])[:size]


def _offsets(nodes: jax.Array, long_N: int) -> jax.Array:
    """Row starts by counting; nodes of padding slots are at or over the capacity, and their counts lie behind."""
    counts = jnp.zeros(long_N + 1, jnp.int32).at[nodes].add(1, mode="drop")
    return jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(counts[:-1], dtype=jnp.int32)])
