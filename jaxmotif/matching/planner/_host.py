"""Planning in NumPy, for small targets: nothing is compiled, and all sizes are exact.

The functions give the same results as those of ``_device``, and are their oracle in tests. They reach them in another
way: they look only at nodes that are still in some domain and at the slots between them, fold rows by ``reduceat``, and
measure the lists of many query nodes at once.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxmotif.arrays._bits import bit_of, has_bit, unpack_bits, words_for
from jaxmotif.arrays._rows import offsets_from, offsets_of, places_of, row_of
from jaxmotif.matching._options import Options
from jaxmotif.matching._target import SLOT_ARRAYS, Target
from jaxmotif.matching.planner._ask import Conditions, NodeDemand, QueryConstraints
from jaxmotif.matching.planner._families import Families, FilteredDomains
from jaxmotif.search._deadline import Deadline

KEPT = 2**22
"""Most slots of a target whose candidate lists are kept from one phase to the next."""

SLOTS_AT_ONCE = 2**15
"""Slots that are looked at together: where there are few, the lists of many query nodes are found in one call."""

FEW_SLOTS = 2**13
"""Number of slots up to which it is quicker to look at all of them than to find those next to dropped nodes."""


def filter_domains(
    target: Target, asked: QueryConstraints, allowed: np.ndarray | None, options: Options
) -> FilteredDomains:
    """Return which target nodes each query node can be mapped to.

    Args:
      target: the index of the target.
      asked: all that the query asks.
      allowed: uint32 ``[W, N]``, domains to begin with, or ``None`` for all nodes.
      options: which filters to use, and the deadline.

    Raises:
      TimeIsUp: the deadline of the options passed.
    """
    query, filters = asked.conditions, options.chosen_filters(asked.query.node_labels, target.node_labels)
    k = int(query.size)
    bits = np.zeros((query.near.shape[-1], target.nodes), np.uint32)
    for demand in asked.demands:
        nodes = _find_nodes(target, demand, filters)
        for number, word in demand.words:
            bits[number, nodes] |= word
    if allowed is not None:
        bits &= allowed
    if "consistency" in filters:
        _make_consistent(target, query, bits, options.deadline)
    alive = np.flatnonzero(bits.any(axis=0))
    # Padded query nodes have empty domains, which say nothing.
    sizes = _unpack_rows(bits[:, alive]).sum(axis=1, dtype=np.int32)[:k].astype(np.int64)
    return FilteredDomains(bits, sizes, len(alive), _count_slots_between(target, alive))


def reduce_target(target: Target, bits: np.ndarray, *, nodes: int, slots: int) -> tuple[Target, np.ndarray]:
    """Keep the nodes in some domain and the slots between them, at capacities that hold them."""
    del slots  # the arrays have their exact sizes
    ids = np.flatnonzero(bits.any(axis=0)).astype(np.int32)
    size = len(ids)
    kept_bits = np.zeros((len(bits), nodes), np.uint32)
    kept_bits[:, :size] = bits[:, ids]
    rows = [_induced_slots(target, ids, d) for d in range(len(target.offsets))]
    # Rows past the last are empty.
    offsets = np.stack([np.append(row.offsets, np.repeat(row.offsets[-1:], nodes - size)) for row in rows])
    columns = {name: [getattr(row, name) for row in rows] for name in SLOT_ARRAYS[1:]}
    arrays = {name: None if column[0] is None else np.stack(column) for name, column in columns.items()}
    kept_ids = np.zeros(nodes, np.int32)
    kept_ids[:size] = target.ids[ids]
    kept = dataclasses.replace(
        target, size=np.int32(size), ids=kept_ids, node_labels=None, facts={}, offsets=offsets, **arrays
    )
    return kept, kept_bits


def measure_lists(families: Families, options: Options) -> tuple[np.ndarray, ...]:
    """Lay out and measure the families of candidate lists, unless the deadline of the options passes.

    Returns:
      offsets: int32 ``[J, N + 1]``, where the lists of every family begin and end, counted from 0 in each family; the
        array lies where the target lies.
      totals, longest: integers ``[J]``, the entries of each family, and the length of its longest list.
      typical: float32 ``[J]``, the length of the list that an entry is in, on average.
      meet: bool ``[K, K]``, which domains have a node in common.
      within: bool ``[K, K]``, which domains (rows) lie within which.
    """
    lengths = np.zeros((len(families.rows), families.target.nodes), np.int32)
    for some, found, _ in _lists(families):
        options.deadline.check()
        lengths[some] = found
    offsets = np.zeros((len(lengths), lengths.shape[1] + 1), np.int32)
    np.cumsum(lengths, axis=1, out=offsets[:, 1:])
    totals = offsets[:, -1]
    squares = (lengths.astype(np.float32) ** 2).sum(axis=1)
    typical = squares / np.maximum(totals, 1).astype(np.float32)
    # Nodes that are in the same domains give the same result, and few sets of domains occur.
    words = np.ascontiguousarray(families.bits.T)
    if words.shape[1] == 1:
        few = np.unique(words)[None]
    else:  # the words of a node are one value, so that `unique` compares whole nodes
        few = np.unique(words.view(f"V{4 * words.shape[1]}")).view(np.uint32).reshape(-1, words.shape[1]).T
    meet, within = np.zeros((32 * len(few),) * 2, bool), np.ones((32 * len(few),) * 2, bool)
    x, of = np.nonzero(_unpack_rows(few))
    firsts = np.flatnonzero(np.diff(x, prepend=-1))
    meet[x[firsts]] = unpack_bits(np.bitwise_or.reduceat(few.T[of], firsts, axis=0))
    within[x[firsts]] = unpack_bits(np.bitwise_and.reduceat(few.T[of], firsts, axis=0))
    return offsets, totals, lengths.max(axis=1), typical, meet, within


def fill_lists(
    families: Families, offsets: np.ndarray, starts: np.ndarray, free: tuple[Any, Any, Any], *, capacity: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write the list families, and whole domains for the nodes that no earlier node leads to.

    Args:
      families: the families of lists.
      offsets: int32 ``[J, N + 1]``, as measured.
      starts: int32 ``[J]``, where each family begins in the entries.
      free: int32 ``[F]``, the query nodes that no earlier node leads to, padded; how many there are; and int32
        ``[F + 1]``, where the domain of each begins in the entries.
      capacity: entries.

    Returns:
      Flat int32 offsets ``[J (N + 1) + 2 F]``, the bounds of whole domains last; entries; and the domains' bits, int32
      ``[W N]``.
    """
    del capacity  # the arrays have their exact sizes
    nodes, count, begins = free
    bits, lists = families.bits, [targets for *_, targets in _lists(families)]
    inside = _unpack_rows(bits)
    domains = [np.flatnonzero(inside[u]) for u in nodes[: int(count)]]
    entries = np.concatenate([np.zeros(0, np.int32), *lists, *domains]).astype(np.int32)
    bounds = np.stack([begins[:-1], begins[1:]], axis=1)
    flat = np.concatenate([(offsets + starts[:, None]).reshape(-1), bounds.reshape(-1)])
    return flat.astype(np.int32), entries, bits.reshape(-1).view(np.int32)


def bit_matrices(families: Families, chosen: np.ndarray, *, count: int) -> np.ndarray:
    """Return adjacency by pair kind as bits: int32, ``count`` matrices of N rows of N / 32 words."""
    target, N = families.target, families.target.nodes
    stride = N // 32
    words = np.zeros((count, N * stride), np.uint32)
    for number, kind in enumerate(families.kinds[chosen[:count]]):
        slots = target.direction(kind[0])
        ok = slots.fits(kind)
        set_bits(words[number], slots.sources[ok].astype(np.int64) * stride, slots.targets[ok])
    return words.reshape(-1).view(np.int32)


def number_nodes(bits: np.ndarray, unions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Assign numbers to the nodes in unions of domains, from 1 in ascending order; 0 stands for nodes outside.

    Args:
      bits: uint32 ``[W, N]``, the domains.
      unions: uint32 ``[G, W]``, the query nodes of each union as bits.

    Returns:
      Int32 ``[G, N]`` where the target lies, and integers ``[G]``, how many nodes each union has.
    """
    inside = ((bits[None] & unions[:, :, None]) != 0).any(axis=1)
    number = np.cumsum(inside, axis=1, dtype=np.int32)
    return np.where(inside, number, 0), number[:, -1]


def bit_rows(families: Families, ranks: np.ndarray, rows: np.ndarray, *, capacity: int) -> np.ndarray:
    """Return the lists of some families as bit rows over numberings, int32.

    Args:
      families: the families of lists.
      ranks: int32 ``[G, N]`` of :func:`number_nodes`.
      rows: int32 ``[R, 4]``: list family, numbering, words of a row, first word.
      capacity: words.
    """
    N, words = families.target.nodes, np.zeros(capacity, np.uint32)
    for j, numbering, width, first in rows[: int(families.count)]:
        kind, x = families.rows[j]
        lengths, targets = _lists_of(families, kind, np.array([x]))
        sources = np.repeat(np.arange(N), lengths[0])
        set_bits(words[first : first + N * width], sources * width, ranks[numbering].take(targets))
    return words.view(np.int32)


def _count_slots_between(target: Target, ids: np.ndarray) -> int:
    """Return how many slots of one direction there are between some nodes."""
    alive = np.zeros(target.nodes, bool)
    alive[ids] = True
    if _is_most(ids, target):
        return int((alive[target.sources[0]] & alive[target.targets[0]]).sum())
    return int(alive[target.targets[0][places_of(target.offsets[0][ids], target.degrees[0][ids])]].sum())


def _find_nodes(target: Target, demand: NodeDemand, filters: tuple[str, ...]) -> Any:
    """Return the target nodes that meet a demand, as far as the first three filters see."""
    labelled = target.node_labels is not None
    label = demand.label if labelled and "label" in filters else None
    counts_all, counts_labels, ok = "degree" in filters, labelled and "frequency" in filters, None
    for direction, carried, number in demand.neighbours:
        looks = counts_all if carried is None else counts_labels
        if looks:
            enough = target.having(direction, carried, label) >= number
            ok = enough if ok is None else np.logical_and(ok, enough, out=ok)
    if label is not None:
        return target.labelled(label) if ok is None else target.labelled(label)[ok]
    return slice(None) if ok is None else np.flatnonzero(ok)


def _make_consistent(target: Target, query: Conditions, bits: np.ndarray, deadline: Deadline) -> None:
    """Drop nodes of the domains that have no neighbour in that of a joined query node, until none are left."""
    stable = int(query.num_kinds) == 0
    bits = bits[: words_for(int(query.size))]  # a view, without the words that only a device needs
    while not stable:
        ids = np.flatnonzero(bits.any(axis=0))
        if _is_most(ids, target):  # to leave out few takes longer than to look at them
            ids = np.arange(target.nodes)
        domains = np.ascontiguousarray(bits[:, ids])
        stable = _sweep(target, query, ids, domains, deadline)
        bits[:, ids] = domains


def _sweep(target: Target, query: Conditions, ids: np.ndarray, domains: np.ndarray, deadline: Deadline) -> bool:
    """Sweep the domains of some nodes in place until they are stable, or until most pairs are dropped.

    Then the slots between the nodes that are left should be looked for again, since they are fewer.

    Args:
      target: the target of the search.
      query: the conditions of the query.
      ids: int ``[nodes]``, the nodes of the target, ascending.
      domains: uint32 ``[W, nodes]``, the domains as bits, written to.
      deadline: asked before each kind of pairs.

    Returns:
      Whether the domains are stable.
    """
    directions = [_induced_slots(target, ids, d) for d in range(len(target.offsets))]
    kinds = query.kinds[: query.num_kinds]
    slots = [select_slots(directions[kind[0]], kind) for kind in kinds]
    filled = [np.flatnonzero(ends[:-1] < ends[1:]) for ends, *_ in slots]
    around = [np.zeros_like(domains) for _ in kinds]  # the OR of the domains of each node's neighbours
    dropped: list[np.ndarray | None] = [None] * len(kinds)  # nodes dropped since each kind looked; None before it has
    v, u = np.divmod(np.flatnonzero(unpack_bits(np.ascontiguousarray(domains.T))), 32 * len(domains))
    first, waiting = len(u), len(kinds)
    for number in itertools.cycle(range(len(kinds))):
        if not waiting:
            return True
        if not number:
            deadline.check()
        ends, targets, _ = slots[number]
        rows, pairs, few, back = filled[number], None, dropped[number], directions[-1 - kinds[number, 0]]
        starts = None  # of all rows
        if few is not None and len(targets) > FEW_SLOTS:
            lengths = back.offsets[few + 1] - back.offsets[few]
            if 8 * lengths.sum() < len(targets):  # only nodes next to a dropped one can be dropped now
                near = np.zeros(len(ids), bool)
                near[back.targets[places_of(back.offsets[few], lengths)]] = True
                rows, pairs = rows[near[rows]], np.flatnonzero(near[v])
                lengths = ends[rows + 1] - ends[rows]
                targets, starts = targets[places_of(ends[rows], lengths)], np.cumsum(lengths) - lengths
        if len(rows):  # an empty row would give the first slot of the next one
            around[number][:, rows] = np.bitwise_or.reduceat(
                domains[:, targets], ends[rows] if starts is None else starts, axis=1
            )
        looked_u, looked_v = (u, v) if pairs is None else (u[pairs], v[pairs])
        lacking = np.zeros(len(looked_u), np.uint32)
        for asked, met in zip(query.near[number].T, around[number], strict=False):  # not of padding
            lacking |= asked[looked_u] & ~met[looked_v]
        lost, dropped[number] = np.flatnonzero(lacking), np.zeros(0, np.int64)
        if not len(lost):
            waiting -= 1
            continue
        lost = lost if pairs is None else pairs[lost]
        # Every kind has to look again at what this one has dropped.
        waiting = len(kinds)
        dropped = [nodes if nodes is None else np.append(nodes, v[lost]) for nodes in dropped]
        np.bitwise_xor.at(domains, (u[lost] >> 5, v[lost]), bit_of(u[lost]))
        left = np.ones(len(u), bool)
        left[lost] = False
        u, v = u[left], v[left]
        # Fewer pairs lead to fewer nodes, and to shorter rows to fold.
        if 2 * len(u) < first:
            return False
    return True


def select_slots(slots: Target, kind: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the slots of one direction that fulfil a pair kind: their offsets by row, targets and sources.

    The result is kept with the slots.
    """

    def find() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        ok = slots.fits(kind)
        if ok.all():
            return slots.offsets, slots.targets, slots.sources
        # The number of slots that are left before the end of a row is where that row now ends.
        held = np.flatnonzero(ok)
        return offsets_from(ok)[slots.offsets], slots.targets[held], slots.sources[held]

    return slots.known(tuple(kind), find)


def _induced_slots(target: Target, ids: np.ndarray, d: int) -> Target:
    """Return the slots of one direction between some nodes, which get the numbers 0, 1, and so on.

    Args:
      target: the target that the nodes are of.
      ids: int ``[nodes]``, the nodes, ascending.
      d: the direction.

    Returns:
      Slots without the leading axis of directions.
    """
    one = target.direction(d)
    if len(ids) == target.nodes:
        return dataclasses.replace(one, facts={})
    number = np.full(target.nodes, -1, np.int32)
    number[ids] = np.arange(len(ids), dtype=np.int32)
    if _is_most(ids, target):
        sources, targets = number[one.sources], number[one.targets]
        slots = np.flatnonzero((sources >= 0) & (targets >= 0))
        sources, targets = sources[slots], targets[slots]
        ends = offsets_of(sources, len(ids))
    else:
        lengths = target.degrees[d][ids]
        slots = places_of(one.offsets[ids], lengths)
        targets = number[one.targets[slots]]
        held = np.flatnonzero(targets >= 0)
        slots, targets, sources = slots[held], targets[held], row_of(offsets_from(lengths), len(targets))[held]
        ends = offsets_of(sources, len(ids))
    more = {name: None if (x := getattr(one, name)) is None else x[slots] for name in SLOT_ARRAYS[3:]}
    return dataclasses.replace(one, offsets=ends, sources=sources, targets=targets, facts={}, **more)


def _is_most(ids: np.ndarray, target: Target) -> bool:
    return 4 * len(ids) > 3 * target.nodes


def _unpack_rows(bits: np.ndarray) -> np.ndarray:
    """Return uint32 ``[W, N]``, a bit for each row, as bool ``[32 W, N]``."""
    return unpack_bits(np.ascontiguousarray(bits.T)).T


def _lists(families: Families) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Yield the lists of all families, some families at a time, so that few slots are looked at together.

    Yields:
      Which families these are, and what :func:`_lists_of` returns for them.
    """
    rows = families.rows[: int(families.count)]
    for kind in np.unique(rows[:, 0]):
        first, stop = np.searchsorted(rows[:, 0], (kind, kind + 1)).tolist()
        step = max(1, SLOTS_AT_ONCE // max(families.target.targets.shape[1], 1))
        for at in range(first, stop, step):
            some = slice(at, min(at + step, stop))
            yield some, *_lists_of(families, kind, rows[some, 1])


def _lists_of(families: Families, kind: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lists of some families of one kind of pairs. Short ones are kept, since several phases ask.

    Args:
      families: the families of lists.
      kind: the number of the kind.
      x: integers ``[J]``, the query nodes to whose domains the lists lead.

    Returns:
      Integers ``[J, N]``, the length of the list of each node in each family; and int32, the entries of all these
      lists, one after another.
    """
    pair_kind = families.kinds[kind]
    slots = families.target.direction(pair_kind[0])

    def find() -> tuple[np.ndarray, np.ndarray]:
        ends, targets, sources = select_slots(slots, pair_kind)
        inside = has_bit(families.bits[x >> 5], x[:, None])
        places = np.flatnonzero(inside.take(targets, axis=1))
        if len(x) == 1:  # the target is large: it is quicker to look up where lists end than to count their entries
            return np.diff(np.searchsorted(places, ends))[None], targets.take(places)
        family, slot = np.divmod(places, max(len(targets), 1))
        lengths = np.bincount(family * inside.shape[1] + sources.take(slot), minlength=inside.size)
        return lengths.reshape(inside.shape), targets.take(slot)

    return slots.known(("lists", *pair_kind.tolist(), *x.tolist()), find) if len(slots.targets) <= KEPT else find()


def set_bits(words: np.ndarray, first: np.ndarray, numbers: np.ndarray) -> None:
    """Set one bit in each of some rows of words.

    Args:
      words: uint32 or uint64, written to.
      first: integers ``[P]``, where the row of words of each bit starts, ascending.
      numbers: integers ``[P]``, the number of each bit in its row, ascending within a row.
    """
    size, one = 8 * words.itemsize, words.dtype.type(1)
    place = first + (numbers >> (size.bit_length() - 1))
    if len(place):
        # Bits of one word stand together: each word is written once, with their union.
        begins = np.flatnonzero(np.diff(place, prepend=-1))
        words[place[begins]] = np.bitwise_or.reduceat(one << (numbers & (size - 1)).astype(words.dtype), begins)
