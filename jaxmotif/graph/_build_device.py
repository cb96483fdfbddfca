"""Building a graph on the device: the work of :mod:`jaxmotif.graph._build` as a few jitted functions.

Edges go to the device chunk by chunk, are looked at and checked on the way, and are then sorted together. Static sizes
are rounded up to :func:`bucket_size`, so graphs of about one size share a compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64, put64
from jaxmotif.arrays._rows import offsets_of
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.graph._fields import Array, Fields, Rows, capacities

_NONE = np.uint64(2**64 - 1)  # the key of padding, which follows every real key: their highest bit is clear
_LOW_WORD = np.uint64(0xFFFFFFFF)


CHUNK = 1 << 22
"""Number of edge rows that are sent to the device together."""


class Ids(NamedTuple):
    """Range of the ids in edges, and the number of self loops.

    Attributes:
      low: the lowest id; 0 where there is no edge, negative where an id is beyond 63 bits.
      high: the highest id; -1 where there is no edge.
      loops: how many edges are self loops.
    """

    low: int
    high: int
    loops: int


def enter(edges: np.ndarray, device: jax.Device) -> tuple[jax.Array, Ids]:
    """Send edges to a device and return them there, with the range of their ids.

    Args:
      edges: integers ``[E, 2]``.
      device: where the edges go.

    Returns:
      int32 ``[2, E or more]``, padded with self loops, and the range of the ids. Ids of more than 31 bits lose their
      upper bits, which the caller can tell from the range.
    """
    rows = edges.shape[0]
    room = bucket_size(rows)
    chunk = min(CHUNK, room & -room)
    # The zeros are made on the device: sending them would take as long as sending the edges.
    ends = _zeros(jax.device_put(np.int32(0), device), room=room)
    id_range = put64(np.array([0, -1, 0], np.int64), device)
    for first in range(0, rows, chunk):
        part = edges[first : first + chunk]
        count = part.shape[0]
        if count < chunk:
            part = np.pad(part, ((0, chunk - count), (0, 0)))
        at = np.array([first, count], np.int32)
        ends, id_range = _entered(ends, id_range, put64(part, device), jax.device_put(at, device))
    return ends, Ids(*np.asarray(id_range).tolist())


@partial(jit64, static_argnames="room")
def _zeros(zero: jax.Array, *, room: int) -> jax.Array:
    return jnp.full((2, room), zero)


@partial(jit64, donate_argnums=(0, 1))
def _entered(ends: jax.Array, id_range: jax.Array, part: jax.Array, at: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Write another chunk to the edges on the device, and add it to the range of the ids.

    Args:
      ends: int32 ``[2, room]``, the edges so far.
      id_range: int64 ``[3]``, the lowest and the highest id so far, and the number of self loops.
      part: integers ``[chunk, 2]``, the edges to write.
      at: int32 ``[2]``, the first row of the chunk, and how many of its rows are real.
    """
    there = jnp.arange(part.shape[0], dtype=jnp.int32) < at[1]
    ids = part.astype(jnp.int64)
    real = jnp.where(there[:, None], ids, ids[0, 0])
    loops = (there & (ids[:, 0] == ids[:, 1])).sum(dtype=jnp.int64)
    # Before the first chunk the lowest id is 0, which is right only for a graph without edges, so it is ignored.
    low = jnp.minimum(real.min(), jnp.where(at[0] == 0, real[0, 0], id_range[0]))
    high = jnp.maximum(real.max(), id_range[1])
    # An id beyond 63 bits became negative above, and with it the lowest id, from which the caller knows.
    ends = lax.dynamic_update_slice(ends, ids.astype(jnp.int32).T, (jnp.int32(0), at[0]))
    return ends, jnp.stack([low, high, id_range[2] + loops])


def device_rows(
    ends: jax.Array, labels: np.ndarray | None, directed: bool, sizes: Callable[[int], tuple[int, int]]
) -> Rows:
    """Sort edges into rows on a device; every array equals that of :func:`jaxmotif.graph._build.host_rows`.

    Args:
      ends: int32 ``[2, room]``, as :func:`enter` returns them.
      labels: int32 ``[E]``, the labels of the real rows, or ``None``.
      directed: whether a row is an arc.
      sizes: the capacities (nodes, slots) for a number of edges.
    """
    if labels is not None:
        labels = np.pad(labels, (0, ends.shape[1] - labels.shape[0]))
        labels = jax.device_put(labels, next(iter(ends.devices())))
    keys, slot_labels, counts = _arcs(ends, labels, directed=directed)
    m, duplicates, reverse_duplicates, conflict = (int(number) for number in jax.device_get(counts))
    N, S = sizes(m)
    long_N, long_S = capacities("bucket", N, S)
    fields = _rows(keys, slot_labels, np.int32(N), np.int32(S), long_N=long_N, long_S=long_S, directed=directed)
    if (long_N, long_S) != (N, S):
        fields = _cropped(fields, N=N, S=S)
    return Rows(fields, m, duplicates, reverse_duplicates, bool(conflict))


@partial(jit64, static_argnames=("n", "directed"))
def traced_fields(edge_index: jax.Array, labels: Array | None, n: int, directed: bool) -> Fields:
    """Build the arrays of a graph of ``n`` nodes from columns of ids, also inside a user's ``jax.jit``.

    No value is looked at.

    Columns with an id outside ``0 .. n - 1`` are padding; capacities are ``n`` nodes, and a slot for each way of each
    column.
    """
    ends = edge_index.astype(jnp.int64)  # or the number of nodes would be cut to the type of the ids
    inside = ((ends >= 0) & (ends < n)).all(axis=0)
    ends = jnp.where(inside, ends, 0).astype(jnp.int32)  # a padding column is a self loop
    keys, slot_labels, counts = _arcs(ends, labels, directed=directed)
    N, S = max(n, 1), max(ends.shape[1] * (1 if directed else 2), 1)
    fields = _rows(keys, slot_labels, np.int32(N), np.int32(S), long_N=N, long_S=S, directed=directed)
    return fields._replace(num_nodes=jnp.int32(n), num_edges=counts[0].astype(jnp.int32))


@partial(jit64, static_argnames="directed")
def _arcs(ends: jax.Array, labels: jax.Array | None, *, directed: bool):
    """Return the distinct arcs as keys ``(source, target)`` in any order, their labels, and counts of rows.

    The counts are those of distinct edges, of repeated rows and of reversed rows; the fourth says whether labels
    disagree.
    """
    u, v = ends.astype(jnp.uint64)
    keys = jnp.where(u == v, _NONE, (jnp.minimum(u, v) << 32) | (jnp.maximum(u, v) << 1) | (u > v).astype(jnp.uint64))
    keys, labels = _sorted(keys, labels)
    real = keys != _NONE
    repeat = real & _same_as_before(keys)
    reverse = real & _same_as_before(keys >> 1) & ~repeat
    clash = repeat if directed else repeat | reverse
    conflict = False if labels is None else jnp.any(clash & ~_same_as_before(labels))
    keep = real & ~clash
    counts = (keep.sum(), repeat.sum(), 0 if directed else reverse.sum(), conflict)
    low, high, backward = _low_high(keys)
    if directed:
        source, target = jnp.where(backward, high, low), jnp.where(backward, low, high)
        return jnp.where(keep, (source << 32) | target, _NONE), labels, counts
    keys = jnp.concatenate([(low << 32) | high, (high << 32) | low])
    keys = jnp.where(jnp.concatenate([keep, keep]), keys, _NONE)
    return keys, None if labels is None else jnp.concatenate([labels, labels]), counts


@partial(jit64, static_argnames=("long_N", "long_S", "directed"))
def _rows(
    keys: jax.Array, labels: jax.Array | None, N: jax.Array, S: jax.Array, *, long_N: int, long_S: int, directed: bool
) -> Fields:
    """Build the arrays of a graph of capacities ``(N, S)`` in arrays of lengths ``(long_N, long_S)``."""
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
    arrays = {name: array for name, array in fields._asdict().items() if array is not None and array.ndim}
    ends = {name: N + 1 if name.endswith("offsets") else S for name in arrays}
    return fields._replace(**{name: array[: ends[name]] for name, array in arrays.items()})


def _sorted(keys: jax.Array, labels: jax.Array | None) -> tuple[jax.Array, jax.Array | None]:
    if labels is None:
        return jnp.sort(keys), None
    keys, labels = lax.sort((keys, labels), num_keys=1)
    return keys, labels


def _same_as_before(values: jax.Array) -> jax.Array:
    return jnp.concatenate([jnp.zeros(1, bool), values[1:] == values[:-1]])


def _low_high(keys: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the three fields of keys: the high word, the low word without its last bit, and that bit."""
    return keys >> 32, (keys & _LOW_WORD) >> 1, (keys & 1).astype(bool)


def _resized(values: jax.Array, size: int, fill: np.integer) -> jax.Array:
    return jnp.concatenate([values, jnp.full(max(size - values.shape[0], 0), fill)])[:size]
