"""Building a graph on the device: what :func:`jaxmotif.graph._build.host_rows` does, as two jitted functions.

Static sizes are rounded up to :func:`bucket_size`, so graphs of about one size share a compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._rows import offsets_of
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.graph._fields import Fields, OptionalArray, Placement, Rows, capacities

_NONE = np.uint64(2**64 - 1)  # the key of nothing: after every real key, whose highest bit is clear
_LOW_WORD = np.uint64(0xFFFFFFFF)


def device_rows(
    edges: np.ndarray,
    labels: np.ndarray | None,
    n: int,
    directed: bool,
    sizes: Callable[[int], tuple[int, int]],
    device: Placement,
) -> Rows:
    """:func:`jaxmotif.graph._build.host_rows` on a device, equal to it in every array."""
    rows = edges.shape[0]
    ends = np.zeros((2, bucket_size(rows)), np.int32)  # padding rows are self loops
    ends[:, :rows] = edges.T
    if labels is not None:
        labels = np.pad(labels, (0, ends.shape[1] - rows))
    keys, slot_labels, found = _arcs(*jax.device_put((ends, labels), device), directed=directed)
    m, duplicates, reverse_duplicates, conflict = (int(number) for number in jax.device_get(found))
    N, S = sizes(m)
    long_N, long_S = capacities("bucket", N, S)
    fields = _rows(keys, slot_labels, np.int32(N), np.int32(S), long_N=long_N, long_S=long_S, directed=directed)
    if (long_N, long_S) != (N, S):
        fields = _cropped(fields, N=N, S=S)
    return Rows(fields, m, duplicates, reverse_duplicates, bool(conflict))


def traced_fields(edge_index: ArrayLike, labels: jax.Array | None, n: int, directed: bool) -> Fields:
    """The arrays of a graph of ``n`` nodes from columns of ids, inside a user's ``jax.jit`` too: nothing is looked at.

    Columns with an id outside ``0 .. n - 1`` are padding; capacities are ``n`` nodes, and a slot for each way of each
    column.
    """
    ends = jnp.asarray(edge_index)
    inside = ((ends >= 0) & (ends < n)).all(axis=0)
    ends = jnp.where(inside, ends, 0).astype(jnp.int32)  # a padding column is a self loop
    keys, slot_labels, found = _arcs(ends, labels, directed=directed)
    N, S = max(n, 1), max(ends.shape[1] * (1 if directed else 2), 1)
    fields = _rows(keys, slot_labels, np.int32(N), np.int32(S), long_N=N, long_S=S, directed=directed)
    return fields._replace(num_nodes=jnp.int32(n), num_edges=found[0].astype(jnp.int32))


@partial(jit64, static_argnames="directed")
def _arcs(ends: jax.Array, labels: jax.Array | None, *, directed: bool):
    """Distinct arcs as keys ``(source, target)`` in any order, their labels, and what was found."""
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
    low, high, backward = _low_high(keys)
    if directed:
        source, target = jnp.where(backward, high, low), jnp.where(backward, low, high)
        return jnp.where(keep, (source << 32) | target, _NONE), labels, found
    keys = jnp.concatenate([(low << 32) | high, (high << 32) | low])
    keys = jnp.where(jnp.concatenate([keep, keep]), keys, _NONE)
    return keys, None if labels is None else jnp.concatenate([labels, labels]), found


@partial(jit64, static_argnames=("long_N", "long_S", "directed"))
def _rows(
    keys: jax.Array, labels: jax.Array | None, N: jax.Array, S: jax.Array, *, long_N: int, long_S: int, directed: bool
) -> Fields:
    """The arrays of a graph, filled for capacities ``(N, S)`` but of lengths ``(long_N, long_S)``."""
    keys, labels = _sorted(keys, labels)
    keys = _resized(keys, long_S, _NONE)
    real = keys != _NONE
    source = jnp.where(real, (keys >> 32).astype(jnp.int32), N)
    target = jnp.where(real, (keys & _LOW_WORD).astype(jnp.int32), N)
    fields = Fields(offsets_of(source, long_N), target)
    if labels is not None:
        labels = jnp.where(real, _resized(labels, long_S, np.int32(-1)), np.int32(-1))
        fields = fields._replace(edge_labels=labels)
    if not directed:
        return fields
    # Sorting (target, slot) transposes: the order is stable, so the sources ascend in each column.
    by_target = jnp.sort(target.astype(jnp.uint64) << 32 | jnp.arange(long_S, dtype=jnp.uint64))
    slots = (by_target & _LOW_WORD).astype(jnp.int32)
    return fields._replace(
        in_offsets=offsets_of(target, long_N), in_targets=source[slots], in_slots=jnp.where(real, slots, S)
    )


@partial(jit64, static_argnames=("N", "S"))
def _cropped(fields: Fields, *, N: int, S: int) -> Fields:
    def crop(name: str, array: OptionalArray) -> OptionalArray:
        if array is None or array.ndim == 0:
            return array
        return array[: N + 1 if name.endswith("offsets") else S]

    return Fields(*map(crop, Fields._fields, fields))


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
