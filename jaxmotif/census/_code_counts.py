"""Distinct codes of subgraphs and how often each occurs, on the host and on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._ahead import fetched
from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.arrays._rows import first_of_each
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.census._classes import normal_codes
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._subgraphs import Codes, all_ones

NORMAL_AT_ONCE = 1 << 17  # codes brought to normal form together on a device


def merged_codes(codes: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct ones of sorted codes, and how often each occurs, or with ``counts`` the sum of its counts."""
    begins = np.flatnonzero(first_of_each(codes))
    if counts is None:
        return codes[begins], np.diff(np.append(begins, codes.size))
    return codes[begins], np.add.reduceat(counts, begins) if begins.size else counts


CodeCounts = tuple[np.ndarray, np.ndarray]
"""Distinct codes, uint64 ascending, and how often each occurs, int64."""


def merged_parts(parts: Sequence[CodeCounts]) -> CodeCounts:
    """Merge counts of codes."""
    codes = np.concatenate([np.zeros(0, np.uint64), *(codes.astype(np.uint64) for codes, _ in parts)])
    counts = np.concatenate([np.zeros(0, np.int64), *(counts for _, counts in parts)])
    if len(parts) < 2:
        return codes, counts
    # Each part is sorted already, and a stable sort merges sorted runs.
    order = np.argsort(codes, kind="stable")
    return merged_codes(codes[order], counts[order])


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
        codes, weights = lax.sort((jnp.where(weights != 0, codes, all_ones(codes.dtype)), weights), num_keys=1)
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


def last_pair(codes: Codes, size: int) -> tuple[np.uint64, np.uint64]:
    """Return two masks of the states of the last node, in a code without its graph's number.

    The first mask holds its states towards all nodes before the last but one, the second its state towards that one. A
    code has bits in both where the last two nodes are a pair of candidates with an edge. A last node with bits in the
    second mask alone touches only the node before it, and was not counted among the pairs.
    """
    before = codes.state_bits * (size - 2)
    return np.uint64((1 << before) - 1), np.uint64(((1 << codes.state_bits) - 1) << before)


def sorted_forms(
    codes: jax.Array, times: jax.Array, graph_bits: jax.Array, form: Codes, nodes: int, signed: bool
) -> SortedCodes:
    """Sort the normal forms in which codes count, inside a compiled function.

    Args:
      codes: uint64 ``[L]``, each with its graph's number at the end.
      times: int64 ``[L]``, how often each occurs, 0 for no code.
      graph_bits: bits of a graph's number, uint64.
      form: how subgraphs are written as codes.
      nodes: nodes of a subgraph.
      signed: static; whether the code of a pair of candidates with an edge is also taken from the form of the same pair
        without the edge, since all pairs were counted as if without one.

    Returns:
      The forms, each with its graph's number at the end, ``[L]`` or with ``signed`` ``[2 L]``.
    """
    graph, codes = codes & ((jnp.uint64(1) << graph_bits) - jnp.uint64(1)), codes >> graph_bits
    if signed:
        old, edge = last_pair(form, nodes)
        taken = jnp.where((codes & old != 0) & (codes & edge != 0), -times, 0)
        codes, graph = jnp.concatenate([codes, codes & ~edge]), jnp.concatenate([graph, graph])
        times = jnp.concatenate([times, taken])
    part = min(codes.shape[0], NORMAL_AT_ONCE)

    def normal(number: jax.Array, forms: jax.Array) -> jax.Array:
        at = number * part  # slices that would pass the end of the codes end with them
        some = normal_codes(jnp, lax.dynamic_slice_in_dim(codes, at, part), form, nodes)
        return lax.dynamic_update_slice_in_dim(forms, some, at, 0)

    # Codes are brought to normal form a part at a time, because telling the nodes of one subgraph apart takes as much
    # room as hundreds of codes. The number of parts is fixed: asking a GPU for it would keep all that comes after this
    # waiting.
    forms = lax.fori_loop(jnp.int32(0), jnp.int32(-(-codes.shape[0] // part)), normal, codes)
    return sort_codes((forms << graph_bits) | graph, times)


class Portion(NamedTuple):
    """Codes that came together, sorted, and the first distinct ones among them."""

    ordered: SortedCodes
    different: DistinctCodes


def sort_portion(codes: jax.Array, weights: jax.Array | None, room: int) -> Portion:
    """Sort codes, inside a compiled function, and list the first distinct ones, as many as there is room for."""
    ordered = sort_codes(codes, weights)
    return Portion(ordered, distinct_from(ordered, jnp.int32(0), room=room))


@partial(jit64, static_argnames=("bits", "room"))
def _in_order(codes: jax.Array, *, bits: int, room: int) -> Portion:
    """Sort codes of ``bits`` bits, all ones for no code; as uint32, if they fit, which takes half of the time."""
    return sort_portion(codes.astype(jnp.uint32) if bits < 32 else codes, None, room)


@partial(jit64, static_argnames=("form", "nodes", "signed", "room"))
def _grouped(
    different: DistinctCodes,
    first: jax.Array,
    graph_bits: jax.Array,
    *,
    form: Codes,
    nodes: int,
    signed: bool,
    room: int,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """List the distinct forms of ``room`` distinct codes.

    Returns:
      How many distinct codes and how many forms there are, int32 ``[2]``; the forms; and how often each occurs.
    """
    codes, times = (lax.dynamic_slice_in_dim(x, first, room) for x in (different.codes, different.times))
    forms = sorted_forms(codes, times, graph_bits, form, nodes, signed)
    found = distinct_from(forms, jnp.int32(0), room=forms.codes.shape[0])
    return for_host(jnp.stack([different.number, found.number])), for_host(found.codes), for_host(found.times)


def grouped_forms(
    portion: Portion,
    form: Codes,
    nodes: int,
    room: int,
    graph_bits: int = 0,
    signed: bool = False,
    likely: int = 1,
) -> Callable[[], tuple[CodeCounts, int]]:
    """Begin to count codes by their normal forms on a device.

    Args:
      portion: the codes.
      form, nodes, signed: as for :func:`sorted_forms`.
      room: how many distinct codes are looked at now; if there are more, the others are looked at later.
      graph_bits: bits of a graph's number.
      likely: a guess of the number of distinct codes, with which a rehearsal goes on.

    Returns:
      A function that waits for the count, and returns the forms, how often each occurs, and the number of distinct
      codes.
    """

    def begin(different: DistinctCodes, first: int, room: int) -> tuple[jax.Array, jax.Array, jax.Array]:
        numbers = np.int32(first), np.uint64(graph_bits)
        return _grouped(different, *numbers, form=form, nodes=nodes, signed=signed, room=room)

    head = begin(portion.different, 0, room)

    def finish() -> tuple[CodeCounts, int]:
        parts, window, first, size = list[CodeCounts](), head, 0, room
        different, base, most = portion.different, 0, portion.different.codes.shape[0]
        while True:
            number, several = fetched(window[0], (likely, 0))
            if several:
                # Whole arrays are fetched: cutting them on the device would wait for what it does by now.
                parts.append((np.asarray(window[1])[:several], np.asarray(window[2])[:several]))
            first += size
            if first >= base + number:
                return merged_parts(parts), base + number
            size = min(most, power_of_four(number, room))
            if first + size > base + most:
                different, base = distinct_from(portion.ordered, np.int32(first), room=most), first
            window = begin(different, first - base, size)

    return finish


def grouped_codes(codes: jax.Array, form: Codes, nodes: int) -> Callable[[], CodeCounts]:
    """Begin to count codes on a device: uint64 ``[L]``, all ones for none, without numbers of graphs.

    Returns:
      A function that waits for the count, and returns the different normal forms and how often each occurs.
    """
    # Many codes are equal: room for an eighth of them holds the different ones as a rule.
    room = min(codes.shape[0], max(codes.shape[0] // 8, NORMAL_AT_ONCE))
    finish = grouped_forms(_in_order(codes, bits=form.bits(nodes), room=room), form, nodes, room)
    return lambda: finish()[0]
