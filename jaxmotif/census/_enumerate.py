"""Counting connected induced subgraphs by class: bounded-memory search, level by level."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._ahead import fetched
from jaxmotif.arrays._compile import QuickLimits, for_host, jit64, put64
from jaxmotif.arrays._sizes import power_of_two
from jaxmotif.census._classes import Classifier, normal_places
from jaxmotif.census._code_counts import CodeCounts, code_counts, wide_codes
from jaxmotif.census._pair_states import CensusGraphs, Codes
from jaxmotif.census._sizes import Sizes
from jaxmotif.kernels import _subgraphs as kernel
from jaxmotif.kernels._expand import FlatWork, find, flat_work, take
from jaxmotif.kernels._subgraphs import Candidates, Dyads, Rows, Runs, Walks


class Part(NamedTuple):
    """Where searches begin, from a first to before a stop: adjacent pairs, in the order of the dyads, or nodes.

    Attributes:
      later: int64 ``[n + 1]``, how many pairs there are before each node as their lower one; ``None``: nodes.
    """

    first: int
    stop: int
    later: np.ndarray | None

    def nodes(self) -> tuple[int, int]:
        if self.later is None:
            return self.first, self.stop
        low, high = np.searchsorted(self.later, [self.first, self.stop - 1], side="right")
        return int(low) - 1, int(high)

    def within(self, first: int, count: int) -> tuple[int, int] | None:
        """Of the pairs at so many nodes from a first on, the first and past the last."""
        if self.later is None:
            return None
        low, high = self.later[[first, first + count]].tolist()
        return max(self.first - low, 0), min(self.stop, high) - low


def count_classes(
    graphs: CensusGraphs,
    size: int,
    classifier: Classifier,
    sizes: Sizes,
    advance: Callable[[int], None] = lambda rows: None,
    part: Part | None = None,
) -> np.ndarray:
    """Count the connected induced subgraphs of ``size`` nodes of every graph by class.

    Args:
      size: at least 2.
      advance: told how many subgraphs of one node less were extended, now and then.
      part: of one graph, only what begins there; for three nodes of nodes, for more of pairs.

    Returns:
      int64 ``[graphs, classes]``, as many classes as the classifier knows at the end.
    """
    sizes = sizes.settled(graphs.likely(size - 2), graphs.likely(size - 1))
    dyads, found = graphs.dyads, code_counts(graphs, size, classifier, sizes.distinct)
    wide = wide_codes(graphs, size)
    if size == 2:
        found.add(_edges(dyads, wide=wide))
        return found.counts()

    def close(rows: Rows, count: int, walks: Walks, positions: int) -> None:
        """Counts what grows from rows of all nodes but two."""
        # All candidates of a small table at once; of a large one as many as fit.
        first, block = 0, sizes.fit(max(count, positions), sizes.candidates)
        bits = int(dyads.new_bits(size - 2))
        while first < count:
            at = np.array([first, count], np.int32)
            # The host sorts the keys: the runs wait for it, in a call of their own.
            if sizes.sorts_on_host:
                added, numbers = _added(dyads, rows, walks, at, block=block)
                runs, total, extended = host_runs(np.sort(np.asarray(added.keys)), first, bits)
                stop, visits = np.asarray(numbers).tolist()
            else:
                added, runs, numbers = _added_in_runs(dyads, rows, walks, at, block=block, bits=bits)
                # As if all were done at once, and filled more than one portion.
                stop, visits, total, extended = fetched(numbers, (count, sizes.codes + 1, sizes.candidates + 1, 0))
            if stop == first:  # a row that no block holds
                # Room for it, then: a row is never split.
                block *= 4
                continue
            advance(extended)
            pairs(rows, runs, total)
            visit(rows, added, visits)
            first = stop

    paired = _Gathering(found, sizes, sizes.candidates, partial(_room_for, dyads, wide, True))
    visited = _Gathering(found, sizes, sizes.codes, partial(_room_for, dyads, wide, False))

    def pairs(rows: Rows, runs: Runs, positions: int) -> None:
        if not sizes.sorts_on_host:
            paired.take(positions, partial(_gather_pairs, dyads, rows, runs, wide=wide))
            return
        block = sizes.fit(positions, sizes.candidates)
        for first in range(0, positions, block):
            found.add(*_pairs(dyads, rows, runs, np.int64(first), block=block, wide=wide))

    def visit(rows: Rows, added: Candidates, positions: int) -> None:
        if not sizes.sorts_on_host:
            visited.take(positions, partial(_gather_visits, dyads, rows, added, wide=wide))
            return
        block, first = sizes.fit(positions, sizes.block), 0
        while first < positions:
            # A view leaves out what is empty, so that all may have room for most.
            room = max(sizes.codes, block)
            blocks = -(-min(positions - first, room) // block)
            codes = _visits(dyads, rows, added, np.array([first, blocks]), room=room, block=block, wide=wide)
            found.add(codes, used=blocks * block)
            first += blocks * block

    search(graphs, size - 2, sizes, close, part)
    for gathering in (paired, visited):
        gathering.hand_over()
    return found.counts()


_Held = tuple[jax.Array, jax.Array | None]  # codes and their weights


class _Gathering:
    """Codes that gather on an accelerator until they are as many as are sorted together: however many come at a time,
    one program writes them, and another sorts them.

    Args:
      room: codes to sort together.
      empty: makes room for so many.
    """

    def __init__(self, found: CodeCounts, sizes: Sizes, room: int, empty: Callable[[int], _Held]):
        self._found, self._room, self._block, self._empty = found, room, max(min(sizes.block, room // 4), 1), empty
        self._used = 0
        self._held: _Held | None = None

    def take(self, positions: int, write: Callable[..., _Held]) -> None:
        """Gathers the codes at so many positions.

        Args:
          write: called with what is held (which it may write over), int64 ``[3]`` (the position to begin at, how many
            blocks, and how many codes are held), and ``block=``; gives what is held then.
        """
        first = 0
        while first < positions:
            if self._used + self._block > self._room:
                self.hand_over()
            if self._held is None:
                self._held = self._empty(self._room)
            blocks = min(-(-(positions - first) // self._block), (self._room - self._used) // self._block)
            self._held = write(self._held, np.array([first, blocks, self._used]), block=self._block)
            # What comes next is written over what is left of the last block.
            taken = min(positions - first, blocks * self._block)
            first, self._used = first + taken, self._used + taken

    def hand_over(self) -> None:
        """Has what is held counted."""
        if self._held is not None and self._used:
            self._found.add(*self._held, used=self._used)
        self._used = 0


def host_runs(keys: np.ndarray, first: int, bits: int) -> tuple[Runs, int, int]:
    """What :func:`jaxmotif.kernels._subgraphs.pattern_runs` gives, how long its walks are together, and how many
    candidates there are: NumPy looks at these alone, a device at all of the block."""
    real = keys[: np.searchsorted(keys, keys.dtype.type(np.iinfo(keys.dtype).max))]
    begins = np.flatnonzero(np.diff(real, prepend=~real[:1]))
    count = np.diff(begins, append=real.size)
    row = (real[begins] >> bits).astype(np.int32)
    pattern = (real[begins] & ((1 << bits) - 1)).astype(np.uint32)
    last = np.searchsorted(row, row, side="right") - 1
    work = flat_work(np, last - np.arange(begins.size) + (count > 1))
    room = keys.size - begins.size
    entries = row + np.int32(first), pattern, count.astype(np.int32), work.items
    fields: list[Any] = [np.pad(x, (0, room)) for x in entries]  # as good as arrays of JAX's on a CPU
    rows, patterns, counts, items = fields
    walks = FlatWork(items, np.pad(work.starts, (0, room), mode="edge"))
    return Runs(rows, patterns, counts, walks), int(work.total), real.size


def host_walks(dyads: Dyads, rows: Rows, i: int, size: int) -> tuple[Walks, int]:
    """What :func:`jaxmotif.kernels._subgraphs.open_walks` gives, and how long all are together: NumPy looks at the rows
    that there are, a device at all that there is room for."""
    room, capacity = rows.nodes.shape
    nodes, begins = (np.asarray(x)[:i, :size] for x in (rows.nodes, rows.begins))
    length = np.asarray(dyads.offsets)[nodes + 1] - begins
    lists = np.zeros((size, room), np.int64)
    lists[:, :i] = np.where(np.arange(i)[:, None] >= np.asarray(rows.rank)[:size], length, 0).T
    items, ends = np.flatnonzero(lists), lists.cumsum()
    starts = ends[items] - lists.reshape(-1)[items]
    total = int(ends[-1])
    laid_out = (
        np.pad(items.astype(np.int32), (0, room * capacity - items.size)),
        np.pad(starts, (0, room * capacity + 1 - starts.size), constant_values=total),
        np.pad(ends[room - 1 :: room], (0, capacity - size), mode="edge"),
    )
    (device,) = dyads.offsets.devices()
    ready: list[Any] = [*put64(laid_out, device)]
    return Walks(FlatWork(*ready[:2]), ready[2]), total


def count_participation(
    graphs: CensusGraphs, size: int, classifier: Classifier, sizes: Sizes, part: Part | None = None
) -> np.ndarray:
    """How many subgraphs of each class each node lies in.

    Args:
      size: at least 3. classifier: that knows every form that occurs. part: as in :func:`count_classes`.

    Returns:
      int64 ``[graphs * n, classes]``, nodes in the order of the dyads.
    """
    forms, index = classifier.known
    # Of a class, whichever node of it.
    columns = np.repeat(index[:, None], size, axis=1)
    return count_places(graphs, size, forms, columns, len(classifier), sizes, part)


def count_places(
    graphs: CensusGraphs, size: int, forms: np.ndarray, columns: np.ndarray, width: int, sizes: Sizes,
    part: Part | None = None,
) -> np.ndarray:  # fmt: skip
    """How often each node, or each slot of the dyads, takes each place of the subgraphs.

    Args:
      size: at least 3.
      forms: uint64 ascending, every form that occurs.
      columns: the columns that nodes of the forms count in, ``[forms, size]``; or that ordered pairs of these do,
        ``[forms, size, size]``, below 0 for none.
      width: how many columns.
      part: as in :func:`count_classes`.

    Returns:
      int64 ``[graphs * n, width]``, nodes in the order of the dyads; or ``[slots, width]``.
    """
    dyads, of_pairs = graphs.dyads, columns.ndim == 3
    rows = dyads.near.shape[0] if of_pairs else graphs.num_nodes
    if not width:
        return np.zeros((rows, 0), np.int64)
    columns = columns.reshape(len(forms), -1)
    room, padded = power_of_two(forms.size, 256) - forms.size, power_of_two(width, 16)
    # All ones keep the row ascending; the columns there are never asked for, or added 0.
    known = (
        np.pad(forms, (0, room), constant_values=np.iinfo(np.uint64).max),
        np.pad(columns.astype(np.int32), ((0, room), (0, 0))).reshape(-1),
    )
    counts: jax.Array = _zeros((dyads.near.shape[0] if of_pairs else dyads.offsets.shape[0] - 1) * padded)

    def close(rows: Rows, count: int, walks: Walks, positions: int) -> None:
        nonlocal counts
        counts = _participate(
            dyads, rows, walks.work, counts, *known, codes=graphs.alphabet.codes, width=padded, block=sizes.block,
            of_pairs=of_pairs,
        )  # fmt: skip

    search(graphs, size - 1, sizes.settled(graphs.likely(size - 1), graphs.likely(size)), close, part)
    return np.asarray(counts).reshape(-1, padded)[:rows, :width]


@partial(jit64, static_argnums=0)
def _zeros(size: int) -> jax.Array:
    return jnp.zeros(size, jnp.int64)


@partial(jit64, static_argnames=("codes", "width", "block", "of_pairs"), donate_argnums=3)
def _participate(
    dyads: Dyads, rows: Rows, work: FlatWork, counts: jax.Array, forms: jax.Array, columns: jax.Array,
    *, codes: Codes, width: int, block: int, of_pairs: bool,
) -> jax.Array:  # fmt: skip
    """Add one for each subgraph to the columns of its nodes, or of its pairs; counts are ``[nodes or slots * width]``,
    columns ``[forms * size, or size ** 2]``."""
    size = rows.nodes.shape[0] + 1

    def body(number: jax.Array, counts: jax.Array) -> jax.Array:
        found = kernel.extensions(dyads, rows, size - 1, work, number * block, work.total, block=block)
        low, high = take(rows.low, found.row), take(rows.high, found.row)
        # One form of a pair, whichever of its two was added last, so that known forms are enough.
        code, swap = kernel.ordered_pair(dyads, low, high, found.pattern, size - 2)
        form, place = normal_places(jnp, code, codes, size)
        at = jnp.minimum(jnp.searchsorted(forms, form), forms.shape[0] - 1)  # where no subgraph is
        # Places of the members, which the code may hold the other way round.
        place = [place[i] for i in range(size)]
        place[-2:] = jnp.where(swap, place[-1], place[-2]), jnp.where(swap, place[-2], place[-1])
        # Every member of the subgraph, the last included; and its number in its own graph.
        begin = take(rows.graph, found.row) * dyads.n
        members = [*(take(nodes, found.row) for nodes in rows.nodes), begin + found.local]
        if not of_pairs:
            one = found.valid.astype(jnp.int64)
            for member, own in zip(members, place, strict=True):
                column = take(columns, at * size + own)
                counts = counts.at[member * width + column].add(one, mode="promise_in_bounds")
            return counts
        for i, u in enumerate(members):
            first, stop = take(dyads.offsets, u), take(dyads.offsets, u + 1)
            for j, v in enumerate(members):
                if i == j:
                    continue
                column = take(columns, (at * size + place[i]) * size + place[j])
                slot, there = find(dyads.near, first, stop, v - begin, dyads.search_steps)
                one = (found.valid & there & (column >= 0)).astype(jnp.int64)
                where = jnp.where(one > 0, slot * width + column, 0)
                counts = counts.at[where].add(one, mode="promise_in_bounds")
        return counts

    return lax.fori_loop(jnp.int64(0), -(-work.total // block), body, counts)


def search(
    graphs: CensusGraphs, size: int, sizes: Sizes, close: Callable[[Rows, int, Walks, int], None],
    part: Part | None = None,
) -> None:  # fmt: skip
    """Make every connected subgraph of ``size`` nodes, in tables of bounded size.

    All tables have room for ``size`` nodes a row, so that one program serves every level.

    Args:
      close: called with a table of them, how many it holds, their walks, and how long these are together.
      part: where to begin (of pairs: ``size`` is at least 2); ``None`` for everywhere.
    """
    dyads, nodes = graphs.dyads, graphs.num_nodes

    def descend(rows: Rows, i: int, count: int, pairs: tuple[int, int] | None = None) -> None:
        # How long the walks are decides what follows: the one wait of a level.
        if sizes.sorts_on_host:
            walks, positions = host_walks(dyads, rows, i, count)
        else:
            walks, total = _walks(dyads, rows, np.array([i, count], np.int32))
            (positions,) = fetched(total, (1,))
        if i == size:
            close(rows, count, walks, positions)
            return
        first, held = 0, 0
        if pairs is not None:  # the nodes' own walks: each position is a pair
            first, positions = pairs
            walks = _until(walks, np.int64(positions))
        if first >= positions:
            return
        block = sizes.fit(positions, sizes.block)
        capacity = sizes.fit(max(positions, block), sizes.table)
        # Past all nodes, where nothing is searched for: its rows are written over.
        table = _table(dyads, np.int32(nodes), nodes=size, capacity=capacity)
        # The table is handed to the call, and comes back: no copy.
        while first < positions:
            table, numbers = _fill(dyads, rows, walks.work, table, np.array([i, first, held]), block=block)
            held, first = fetched(numbers, (1, positions))
            # Depth first: a full table is worked off before more is put into it, and so memory is bounded.
            if held + block > capacity or (first >= positions and held):
                descend(table, i + 1, held)
                held = 0

    # The nodes themselves: in a table like the others, or in as little room as they take where there is no other.
    room = dyads.offsets.shape[0] - 1
    capacity = min(room, sizes.table) if size == 1 else sizes.fit(min(nodes, sizes.table), sizes.table)
    begin, end = (0, nodes) if part is None else part.nodes()
    for first in range(begin, end, capacity):
        rows, count = _table(dyads, np.int32(first), nodes=size, capacity=capacity), min(capacity, end - first)
        descend(rows, 1, count, None if part is None else part.within(first, count))


# A step looks at each entry of its table, or at a block of positions, a few times.
_ONE_PASS, _BLOCKS = QuickLimits(unoptimised=2**24), QuickLimits(unoptimised=2**21, unfused=2**25)

_table = jit64(kernel.roots, quick=_ONE_PASS, static_argnames=("nodes", "capacity"))
_edges = jit64(kernel.edge_codes, static_argnames="wide")
_pairs = jit64(kernel.pair_codes, quick=_ONE_PASS, static_argnames=("block", "wide"))

# Totals come with what they are totals of: an index taken outside copies the whole array.


def _numbers(*scalars: jax.Array) -> jax.Array:
    return for_host(jnp.stack([jnp.asarray(x, jnp.int64) for x in scalars]))


@partial(jit64, quick=_BLOCKS, donate_argnames="table", static_argnames="block")
def _fill(
    dyads: Dyads, rows: Rows, work: FlatWork, table: Rows, at: jax.Array, *, block: int
) -> tuple[Rows, jax.Array]:
    """``at``: nodes of a row, the position to go on at, and how many rows the table holds."""
    i, first, held = at[0].astype(jnp.int32), at[1], at[2].astype(jnp.int32)
    table, held, first = kernel.fill(dyads, rows, i, work, first, table, held, block=block)
    return table, _numbers(held, first)


@jit64
def _walks(dyads: Dyads, rows: Rows, at: jax.Array) -> tuple[Walks, jax.Array]:
    """``at``: nodes of a row, and how many rows there are."""
    walks = kernel.open_walks(dyads, rows, at[0], at[1])
    return walks, for_host(walks.work.total)


@jit64
def _until(walks: Walks, stop: jax.Array) -> Walks:
    """Walks that end at a position."""
    return walks._replace(work=FlatWork(walks.work.items, jnp.minimum(walks.work.starts, stop)))


@partial(jit64, quick=_BLOCKS, static_argnames="block")
def _added(dyads: Dyads, rows: Rows, walks: Walks, at: jax.Array, *, block: int) -> tuple[Candidates, jax.Array]:
    """``at``: the first row, and how many there are."""
    added, stop = kernel.candidates(dyads, rows, at[1], walks, at[0], block=block)
    return added, _numbers(stop, added.work.total)


@partial(jit64, static_argnames=("block", "bits"))
def _added_in_runs(
    dyads: Dyads, rows: Rows, walks: Walks, at: jax.Array, *, block: int, bits: int
) -> tuple[Candidates, Runs, jax.Array]:
    """Both in one dispatch, so that the host waits once."""
    added, stop = kernel.candidates(dyads, rows, at[1], walks, at[0], block=block)
    runs = kernel.pattern_runs(jnp.sort(added.keys), at[0], bits=bits)
    return added, runs, _numbers(stop, added.work.total, runs.work.total, runs.count.sum(dtype=jnp.int32))


@partial(jit64, quick=_BLOCKS, static_argnames=("room", "block", "wide"))
def _visits(
    dyads: Dyads, rows: Rows, added: Candidates, at: jax.Array, *, room: int, block: int, wide: bool
) -> jax.Array:
    """The codes at a number of blocks (``at``: the first position, and how many), all ones in the room that is left."""
    return _visited(dyads, rows, added, _filled(kernel.NO_CODE, wide, room), jnp.append(at, 0), block, wide)


@partial(jit64, donate_argnames="held", static_argnames=("block", "wide"))
def _gather_visits(
    dyads: Dyads, rows: Rows, added: Candidates, held: _Held, at: jax.Array, *, block: int, wide: bool
) -> _Held:
    """The same after other codes (``at``: the third, how many these are)."""
    return _visited(dyads, rows, added, held[0], at, block, wide), None


def _visited(
    dyads: Dyads, rows: Rows, added: Candidates, codes: jax.Array, at: jax.Array, block: int, wide: bool
) -> jax.Array:
    def body(index: jax.Array, codes: jax.Array) -> jax.Array:
        place = index * block
        new = kernel.visit_codes(dyads, rows, added, at[0] + place, block=block, wide=wide)
        return _put_codes(codes, new, at[2] + place)

    return lax.fori_loop(jnp.int64(0), at[1], body, codes)


@partial(jit64, donate_argnames="held", static_argnames=("block", "wide"))
def _gather_pairs(dyads: Dyads, rows: Rows, runs: Runs, held: _Held, at: jax.Array, *, block: int, wide: bool) -> _Held:
    """Pairs, and how many have each code, likewise."""

    def body(index: jax.Array, held: _Held) -> _Held:
        place = index * block
        codes, weights = kernel.pair_codes(dyads, rows, runs, at[0] + place, block=block, wide=wide)
        assert held[1] is not None
        return _put_codes(held[0], codes, at[2] + place), lax.dynamic_update_slice(held[1], weights, (at[2] + place,))

    return lax.fori_loop(jnp.int64(0), at[1], body, held)


def _put_codes(codes: jax.Array, new: jax.Array, place: jax.Array) -> jax.Array:
    return lax.dynamic_update_slice(codes, new, (jnp.zeros_like(place), place)[-codes.ndim :])


def _room_for(dyads: Dyads, wide: bool, weighted: bool, room: int) -> _Held:
    """Room for codes, and for weights."""
    (device,) = dyads.offsets.sharding.device_set
    return _full(put64(np.uint32(kernel.NO_CODE), device), wide, weighted, room)


@partial(jit64, static_argnums=(1, 2, 3))
def _full(code: jax.Array, wide: bool, weighted: bool, room: int) -> _Held:
    """Made of what is bound to a device, and so bound itself, as what is written there will be: else each size would
    be compiled for twice."""
    return _filled(code, wide, room), jnp.full(room, code, jnp.int64) if weighted else None


def _filled(code: int | jax.Array, wide: bool, room: int) -> jax.Array:
    """Room for codes, all of them this one."""
    return jnp.full((2, room) if wide else (room,), code, jnp.uint32)
