"""Building a graph on the device: what :mod:`jaxmotif.graph._build` does in NumPy, as a few jitted functions.

Edges go there chunk by chunk, looked at and checked on the way; then all is sorted. Static sizes are rounded up to
:func:`bucket_size`, so graphs of about one size share a compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from jaxmotif.arrays._compile import jit64, put64
from jaxmotif.arrays._rows import offsets_of
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.graph._fields import Fields, OptionalArray, Rows, capacities

_NONE = np.uint64(2**64 - 1)  # the key of nothing: after every real key, whose highest bit is clear
_LOW_WORD = np.uint64(0xFFFFFFFF)


CHUNK = 1 << 22
"""Rows of edges that go to the device together."""


class Ids(NamedTuple):
    """Of all ids in edges the lowest and the highest (0 and -1 where there is none; negative beyond 63 bits), and how
    many edges are self loops."""

    low: int
    high: int
    loops: int


def enter(edges: np.ndarray, device: jax.Device) -> tuple[jax.Array, Ids]:
    """Edges (integers ``[E, 2]``) on a device, as int32 ``[2, E or more]``, padded with self loops; and what they are.

    Ids of more than 31 bits are cut: what was found tells.
    """
    rows = edges.shape[0]
    room = bucket_size(rows)
    chunk = min(CHUNK, room & -room)
    # Made there: to send zeros takes as long as the edges.
    ends = _zeros(jax.device_put(np.int32(0), device), room=room)
    found = put64(np.array([0, -1, 0], np.int64), device)
    for first in range(0, rows, chunk):
        part = edges[first : first + chunk]
        count = part.shape[0]
        if count < chunk:
            part = np.pad(part, ((0, chunk - count), (0, 0)))
        at = np.array([first, count], np.int32)
        ends, found = _entered(ends, found, put64(part, device), jax.device_put(at, device))
    return ends, Ids(*np.asarray(found).tolist())


@partial(jit64, static_argnames="room")
def _zeros(zero: jax.Array, *, room: int) -> jax.Array:
    return jnp.full((2, room), zero)


@partial(jit64, donate_argnums=(0, 1))
def _entered(ends: jax.Array, found: jax.Array, part: jax.Array, at: jax.Array) -> tuple[jax.Array, jax.Array]:
    """With another chunk; ``at``: its first row, and how many of its rows there are."""
    there = jnp.arange(part.shape[0], dtype=jnp.int32) < at[1]
    ids = part.astype(jnp.int64)
    real = jnp.where(there[:, None], ids, ids[0, 0])
    loops = (there & (ids[:, 0] == ids[:, 1])).sum(dtype=jnp.int64)
    # The lowest so far is that of no edges before the first chunk.
    low = jnp.minimum(real.min(), jnp.where(at[0] == 0, real[0, 0], found[0]))
    high = jnp.maximum(real.max(), found[1])
    # Beyond 63 bits they are negative, as the lowest then is.
    ends = lax.dynamic_update_slice(ends, ids.astype(jnp.int32).T, (jnp.int32(0), at[0]))
    return ends, jnp.stack([low, high, found[2] + loops])


class Renumbered(NamedTuple):
    """Edges on a device by the numbers of the ids that have edges; these ids, int64 ascending; and how many have self
    loops alone."""

    ends: jax.Array
    kept: np.ndarray
    only_loops: int


def renumber_there(ends: jax.Array, rows: int, n: int) -> Renumbered:
    """:func:`jaxmotif.arrays._rows.renumber` of the first ``rows`` edges that :func:`enter` gave, of ids below n."""
    ends, present, only_loops = _renumbered(ends, np.int32(rows), room=bucket_size(n))
    return Renumbered(ends, np.flatnonzero(np.asarray(present)[:n]), int(only_loops))


@partial(jit64, static_argnames="room", donate_argnums=0)
def _renumbered(ends: jax.Array, rows: jax.Array, *, room: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    given = jnp.arange(ends.shape[1], dtype=jnp.int32) < rows
    edge = given & (ends[0] != ends[1])

    def occur(which: jax.Array) -> jax.Array:
        return jnp.zeros(room, bool).at[jnp.where(which[None], ends, room)].set(True, mode="drop")

    present = occur(edge)
    number = jnp.cumsum(present, dtype=jnp.int32) - 1
    only_loops = (occur(given) & ~present).sum(dtype=jnp.int32)
    return jnp.where(edge[None], number.at[ends].get(mode="clip"), 0), present, only_loops


def device_rows(
    ends: jax.Array,
    labels: np.ndarray | None,
    directed: bool,
    sizes: Callable[[int], tuple[int, int]],
) -> Rows:
    """:func:`jaxmotif.graph._build.host_rows` on a device, equal to it in every array; ``ends`` as :func:`enter` gives
    them, and labels of those rows."""
    if labels is not None:
        labels = np.pad(labels, (0, ends.shape[1] - labels.shape[0]))
        labels = jax.device_put(labels, next(iter(ends.devices())))
    keys, slot_labels, found = _arcs(ends, labels, directed=directed)
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
