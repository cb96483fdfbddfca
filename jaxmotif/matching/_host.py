"""The phases of a plan in NumPy, for small targets: nothing to compile, and no size but the exact one.

Each function is the twin of one of the same name in :mod:`jaxmotif.matching._domains` or
:mod:`jaxmotif.matching._candidates`, takes and returns the same in NumPy, and is its oracle in tests. What differs is
inside: rows are folded by ``reduceat``, and lists are taken by masks.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._bits import pack_bits, unpack_bits
from jaxmotif.arrays._rows import offsets_from
from jaxmotif.matching._candidates import ListSizes, Reduced
from jaxmotif.matching._conditions import Conditions
from jaxmotif.matching._target import SLOT_ARRAYS, Target


class HostLists(NamedTuple):
    """Offsets of every list family, int32 ``[J, N + 1]``, each from 0, and the entries of each."""

    offsets: np.ndarray
    entries: list[np.ndarray]


def filter_domains(
    target: Target, query: Conditions, allowed: np.ndarray | None, *, filters: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    k = int(query.size)
    keep = np.ones((k, target.nodes), bool)
    if allowed is not None:
        keep &= _spread(allowed)[:k]
    if "label" in filters and target.node_labels is not None:
        keep &= query.free[:k, None] | (target.node_labels == query.labels[:k, None])
    if "degree" in filters:
        for d, offsets in enumerate(target.offsets):
            keep &= np.diff(offsets) >= query.degrees[d][:k, None]
    if "frequency" in filters and target.node_labels is not None:
        for d in range(len(target.offsets)):
            slots = target.direction(d)
            for label, asked in zip(query.frequent_labels[: query.num_labels], query.frequent[d], strict=False):
                ends, asking = offsets_from(target.node_labels[slots.targets] == label), np.flatnonzero(asked)
                # Sums of ones up to each slot: differences at rows' ends are counts, of empty rows too.
                keep[asking] &= np.diff(ends[slots.offsets]) >= asked[asking, None]
    if "consistency" in filters:
        _make_consistent(target, query, keep)
    alive = np.asarray(keep.any(axis=0))
    inside = alive[target.sources[0]] & alive[target.targets[0]]
    left = np.array([alive.sum(), inside.sum()], np.int32)
    sizes = np.zeros(len(query.labels), np.int32)
    sizes[:k] = keep.sum(axis=1, dtype=np.int32)
    return _words(np.pad(keep, ((0, len(query.labels) - k), (0, 0)))), sizes, left


def _make_consistent(target: Target, query: Conditions, keep: np.ndarray) -> None:
    """Drop nodes of the domains that have no neighbour in that of a joined query node, until none are left."""
    k, alive = len(keep), np.asarray(keep.any(axis=0))
    kinds = []
    for kind, near in zip(query.kinds[: query.num_kinds], query.near, strict=False):
        slots = target.direction(kind[0])
        # What the filters before have dropped leads nowhere.
        inside = slots.fits(kind) & alive[slots.sources] & alive[slots.targets]
        ends = offsets_from(inside)[slots.offsets]
        held = np.flatnonzero(ends[:-1] < ends[1:])  # an empty row would give the first slot of the next one
        # By x, so that its bit is taken out of the words once for all u that ask.
        joined = np.argwhere(unpack_bits(near[:k]).T[:k]).tolist()
        kinds.append((slots.targets[inside], held, ends[held], joined))
    before = -1
    # The left one is the count before this round: until a round drops nothing.
    while before != (before := np.count_nonzero(keep)):
        for targets, held, starts, joined in kinds:
            words, last, has = _words(keep), -1, np.zeros(target.nodes, bool)
            found = np.zeros_like(words)  # OR of the domains, as bits, of each node's neighbours
            if len(held):
                found[:, held] = [np.bitwise_or.reduceat(word[targets], starts) for word in words]
            for x, u in joined:
                if x != last:
                    has, last = found[x >> 5] & np.uint32(1 << (x & 31)) != 0, x
                keep[u] &= has


def _words(keep: np.ndarray) -> np.ndarray:
    """Bool ``[K, N]`` as uint32 ``[W, N]``, a bit for each row."""
    return np.ascontiguousarray(pack_bits(np.ascontiguousarray(keep.T)).T)


def _spread(bits: np.ndarray) -> np.ndarray:
    """The inverse of :func:`_words`."""
    return unpack_bits(np.ascontiguousarray(bits.T)).T


def reduce_target(target: Target, bits: np.ndarray, *, nodes: int, slots: int) -> Reduced:
    del slots  # exact
    ids = np.flatnonzero(bits.any(axis=0)).astype(np.int32)
    size = len(ids)
    number = np.full(target.nodes, -1, np.int32)
    number[ids] = np.arange(size, dtype=np.int32)
    kept_bits = np.zeros((len(bits), nodes), np.uint32)
    kept_bits[:, :size] = bits[:, ids]
    rows = []
    for d in range(len(target.offsets)):
        one = target.direction(d)
        held = (number[one.sources] >= 0) & (number[one.targets] >= 0)
        ends = offsets_from(held)[one.offsets]
        # Rows past the last are empty.
        offsets = np.append(ends[ids], np.full(nodes + 1 - size, ends[-1])).astype(np.int32)
        more = [None if x is None else x[held] for x in (one.labels, one.reverse, one.reverse_labels)]
        rows.append((offsets, number[one.sources[held]], number[one.targets[held]], *more))
    arrays = [None if row[0] is None else np.stack(row) for row in zip(*rows, strict=True)]
    kept = dataclasses.replace(
        target, size=np.int32(size), ids=np.append(target.ids[ids], np.zeros(nodes - size, np.int32)),
        node_labels=None, **dict(zip(SLOT_ARRAYS, arrays, strict=True)),
    )  # fmt: skip
    return Reduced(kept, kept_bits)


def measure_lists(reduced: Reduced, kinds: np.ndarray, lists: np.ndarray, num_lists: np.integer) -> ListSizes:
    target, J = reduced.target, len(lists)
    offsets, entries = np.zeros((J, target.nodes + 1), np.int32), []
    for j in range(int(num_lists)):
        sources, targets = _members(reduced, kinds, lists[j])
        offsets[j] = offsets_from(np.bincount(sources, minlength=target.nodes))
        entries.append(targets)
    # Nodes in the same domains say the same, and there are few kinds of them.
    words = np.ascontiguousarray(reduced.bits.T)
    # A node's words as one value, so that `unique` compares whole nodes.
    bits = np.unique(words.view(f"V{4 * words.shape[1]}")).view(np.uint32).reshape(-1, words.shape[1]).T
    inside = _spread(bits).astype(np.float32)
    lengths, totals = np.diff(offsets), offsets[:, -1]
    squares = (lengths.astype(np.float32) ** 2).sum(axis=1)
    typical = squares / np.maximum(totals, 1).astype(np.float32)
    return ListSizes(HostLists(offsets, entries), totals, lengths.max(axis=1), typical, inside @ inside.T > 0)


def fill_lists(
    reduced: Reduced, kinds: np.ndarray, lists: np.ndarray, num_lists: np.integer, offsets: HostLists,
    starts: np.ndarray, free: np.ndarray, num_free: np.integer, free_starts: np.ndarray, *, capacity: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    # Measuring found the entries: they are not looked for again.
    del kinds, lists, num_lists, capacity  # the entries are those measured
    inside = _spread(reduced.bits)
    domains = [np.flatnonzero(inside[u]) for u in free[: int(num_free)]]
    entries = np.concatenate([np.zeros(0, np.int32), *offsets.entries, *domains]).astype(np.int32)
    bounds = np.stack([free_starts[:-1], free_starts[1:]], axis=1)
    flat = np.concatenate([(offsets.offsets + starts[:, None]).reshape(-1), bounds.reshape(-1)])
    return flat.astype(np.int32), entries, reduced.bits.reshape(-1).view(np.int32)


def bit_matrices(reduced: Reduced, kinds: np.ndarray, chosen: np.ndarray, *, count: int) -> np.ndarray:
    target, N = reduced.target, reduced.target.nodes
    stride = N // 32
    words = np.zeros((count, N * stride), np.uint32)
    for number, kind in enumerate(kinds[chosen[:count]]):
        slots = target.direction(kind[0])
        ok = slots.fits(kind)
        _set_bits(words[number], slots.sources[ok].astype(np.int64) * stride, slots.targets[ok])
    return words.reshape(-1).view(np.int32)


def number_nodes(bits: np.ndarray, unions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    inside = ((bits[None] & unions[:, :, None]) != 0).any(axis=1)
    number = np.cumsum(inside, axis=1, dtype=np.int32)
    return np.where(inside, number, 0), number[:, -1]


def bit_rows(
    reduced: Reduced, kinds: np.ndarray, lists: np.ndarray, ranks: np.ndarray, rows: np.ndarray, num_rows: np.integer,
    *, capacity: int,
) -> np.ndarray:  # fmt: skip
    N, words = reduced.target.nodes, np.zeros(capacity, np.uint32)
    for j, numbering, width, first in rows[: int(num_rows)]:
        sources, targets = _members(reduced, kinds, lists[j])
        _set_bits(words[first : first + N * width], sources.astype(np.int64) * width, ranks[numbering, targets])
    return words.view(np.int32)


def _set_bits(words: np.ndarray, first: np.ndarray, numbers: np.ndarray) -> None:
    """Set bit ``numbers[i]`` of the row of words that starts at ``first[i]``; rows, and numbers within them, ascend, so
    that the bits of one word stand together."""
    place = first + (numbers >> 5)
    if len(place):
        # Bits of one word stand together: each word is written once, with their union.
        begins = np.flatnonzero(np.diff(place, prepend=-1))
        bits = np.uint32(1) << (numbers & 31).astype(np.uint32)
        words[place[begins]] = np.bitwise_or.reduceat(bits, begins)


def _members(reduced: Reduced, kinds: np.ndarray, family: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the slots in a list family."""
    kind, x = kinds[family[0]], int(family[1])
    slots = reduced.target.direction(kind[0])
    # A member leads, by a slot of the kind, to a node of x's domain.
    inside = reduced.bits[x >> 5] >> np.uint32(x & 31) & np.uint32(1) != 0
    ok = slots.fits(kind) & inside[slots.targets]
    return slots.sources[ok], slots.targets[ok]
