"""Distinct codes of subgraphs and how often each occurs, on the host and on a device."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._rows import first_of_each
from jaxmotif.census._classes import normal_codes
from jaxmotif.census._pair_states import Codes
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._subgraphs import all_ones

NORMAL_AT_ONCE = 1 << 17  # codes brought to normal form together on a device


def merged_codes(codes: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct ones of sorted codes, and how often each occurs, or with ``counts`` the sum of its counts."""
    begins = np.flatnonzero(first_of_each(codes))
    if counts is None:
        return codes[begins], np.diff(np.append(begins, codes.size))
    return codes[begins], np.add.reduceat(counts, begins) if begins.size else counts


class SortedCodes(NamedTuple):
    """Codes in order, on a device.

    Attributes:
      codes: unsigned ``[L]``, ascending; all ones for none, at the end.
      before: int64 ``[L + 1]``, the sum of the weights before each code and of all; ``None`` where each counts once.
      order: int32 ``[L]``, the number of each code among the different ones.
      number: int32, how many different codes there are.
    """

    codes: jax.Array
    before: jax.Array | None
    order: jax.Array
    number: jax.Array


class DistinctCodes(NamedTuple):
    """Different codes with their graphs' numbers, ascending, on a device; the room does not depend on their number.

    Attributes:
      codes: uint64 ``[room]``.
      times: int64 ``[room]``, how often each occurs.
      number: int32, how many there are; it exceeds the room where more remain to be asked for.
    """

    codes: jax.Array
    times: jax.Array
    number: jax.Array


def sort_codes(codes: jax.Array, weights: jax.Array | None) -> SortedCodes:
    """Sort codes, ``[L]`` or ``[2, L]`` with the high words first; all ones, or a weight of 0, stand for no code."""
    if codes.ndim == 2:
        codes = (codes[0].astype(jnp.uint64) << 32) | codes[1].astype(jnp.uint64)
    before = None
    if weights is None:
        codes = jnp.sort(codes)
    else:
        codes, weights = lax.sort((jnp.where(weights > 0, codes, all_ones(codes.dtype)), weights), num_keys=1)
        before = jnp.concatenate([jnp.zeros(1, jnp.int64), jnp.cumsum(weights)])
    order = jnp.cumsum(first_of_each(codes), dtype=jnp.int32) - 1
    # All ones at the end, if there are any, are one more value but no code.
    number = order[-1] + (codes[-1] != all_ones(codes.dtype)).astype(jnp.int32)
    return SortedCodes(codes, before, order, number)


@partial(jit64, static_argnames="room")
def distinct_from(ordered: SortedCodes, first: jax.Array, *, room: int) -> DistinctCodes:
    """List the different codes from number ``first`` on, as many as there is room for."""
    codes = ordered.codes
    # `start` says where each code begins. The one after the last begins where all end, as nothing comes after it.
    place = jnp.where(first_of_each(codes) & (ordered.order >= first), ordered.order - first, room + 1)
    end = (codes != all_ones(codes.dtype)).sum(dtype=jnp.int32)
    lane = jnp.arange(codes.shape[0], dtype=jnp.int32)
    start = jnp.full(room + 1, end).at[place].set(lane, mode="drop")
    # A code occurs as often as the distance to the next beginning says, in places or in weight; 0 past the last.
    ends = start.astype(jnp.int64) if ordered.before is None else take(ordered.before, start)
    distinct = take(codes, jnp.minimum(start[:-1], codes.shape[0] - 1)).astype(jnp.uint64)
    return DistinctCodes(distinct, ends[1:] - ends[:-1], ordered.number - first)


@partial(jit64, static_argnames="bits")
def _in_order(codes: jax.Array, *, bits: int) -> SortedCodes:
    """Sort codes of ``bits`` bits, all ones for no code; as uint32, if they fit, which takes half of the time."""
    return sort_codes(codes.astype(jnp.uint32) if bits < 32 else codes, None)


@partial(jit64, static_argnames=("form", "nodes", "room"))
def _grouped(ordered: SortedCodes, first: jax.Array, *, form: Codes, nodes: int, room: int) -> DistinctCodes:
    """Take the distinct codes from number ``first`` on, as there is room for, and list their distinct normal forms."""
    distinct = distinct_from(ordered, first, room=room)
    part = min(room, NORMAL_AT_ONCE)

    def normal(number: jax.Array, forms: jax.Array) -> jax.Array:
        at = number * part  # slices that would end past the room end with it
        some = normal_codes(jnp, lax.dynamic_slice_in_dim(distinct.codes, at, part), form, nodes)
        return lax.dynamic_update_slice_in_dim(forms, some, at, 0)

    # Codes are brought to normal form a part at a time, because telling the nodes of one subgraph apart takes as much
    # room as hundreds of codes. The number of parts is fixed: asking a GPU for it would keep all that comes after this
    # waiting.
    forms = lax.fori_loop(jnp.int32(0), jnp.int32(-(-room // part)), normal, distinct.codes)
    return distinct_from(sort_codes(forms, distinct.times), jnp.int32(0), room=room)


def grouped_codes(codes: jax.Array, form: Codes, nodes: int) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Begin to count codes on a device.

    Args:
      codes: uint64 ``[L]``, all ones for none.
      form: how subgraphs are written as codes.
      nodes: nodes of a subgraph.

    Returns:
      A function that waits for the count, and returns the different normal forms, uint64 ascending, and how often each
      occurs, int64.
    """
    # Many codes are equal: room for an eighth of them holds the different ones as a rule.
    room = min(codes.shape[0], max(codes.shape[0] // 8, NORMAL_AT_ONCE))
    bits = nodes * form.label_bits + nodes * (nodes - 1) // 2 * form.state_bits
    ordered = _in_order(codes, bits=bits)

    def begin(first: int) -> DistinctCodes:
        return _grouped(ordered, np.int32(first), form=form, nodes=nodes, room=room)

    def fetch(distinct: DistinctCodes) -> tuple[np.ndarray, np.ndarray]:
        # Whole arrays are fetched: cutting them on the device would wait for what it does by now.
        number = int(distinct.number)
        return np.asarray(distinct.codes)[:number], np.asarray(distinct.times)[:number]

    def finish() -> tuple[np.ndarray, np.ndarray]:
        parts = [fetch(head)]
        parts += [fetch(begin(first)) for first in range(room, int(ordered.number), room)]
        if len(parts) == 1:
            return parts[0]
        forms, times = (np.concatenate(x) for x in zip(*parts, strict=True))
        order = np.argsort(forms)
        return merged_codes(forms[order], times[order])

    head = begin(0)
    return finish
