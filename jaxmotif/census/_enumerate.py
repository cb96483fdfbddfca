"""Counting connected induced subgraphs by class: bounded-memory search, level by level."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._ahead import fetched
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._sizes import power_of_two
from jaxmotif.census._classes import Classifier, normal_places
from jaxmotif.census._device import DeviceEngine
from jaxmotif.census._engine import BLOCKS, ONE_PASS, CensusEngine, numbers_for_host
from jaxmotif.census._host import HostEngine
from jaxmotif.census._pair_states import CensusGraphs
from jaxmotif.census._sizes import Sizes
from jaxmotif.census._whole import count_whole
from jaxmotif.kernels import _subgraphs as kernel
from jaxmotif.kernels._expand import FlatWork, blocks_of, find, long, take
from jaxmotif.kernels._subgraphs import Dyads, Rows, Walks


def engine_type(sizes: Sizes) -> type[CensusEngine]:
    """Return the engine for a device with tables of these sizes."""
    return HostEngine if sizes.sorts_on_host else DeviceEngine


class Part(NamedTuple):
    """A range of the places where searches begin: adjacent pairs, in the order of the dyads, or nodes.

    Attributes:
      first: the first place.
      stop: the place after the last one.
      later: int64 ``[n + 1]``, for each node how many adjacent pairs have a lower node that comes before it; ``None``
        where the places are nodes.
    """

    first: int
    stop: int
    later: np.ndarray | None

    def nodes(self) -> tuple[int, int]:
        """Return the first node of the range, and the node after its last one."""
        if self.later is None:
            return self.first, self.stop
        low, high = np.searchsorted(self.later, [self.first, self.stop - 1], side="right")
        return int(low) - 1, int(high)

    def pairs_at(self, first: int, count: int) -> tuple[int, int] | None:
        """Return the range among the pairs whose lower node is one of ``count`` nodes from ``first`` on.

        Positions count from the first pair of these nodes. Where the places are nodes, the range is ``None``.
        """
        if self.later is None:
            return None
        low, high = self.later[[first, first + count]].tolist()
        return max(self.first - low, 0), min(self.stop, high) - low


def count_classes(
    graphs: CensusGraphs,
    size: int,
    classifier: Classifier,
    sizes: Sizes,
    advance: Callable[[int], None] = lambda number: None,
    part: Part | None = None,
) -> np.ndarray:
    """Count the connected induced subgraphs of ``size`` nodes of every graph by class.

    Args:
      graphs: the graphs, on the device where the search runs.
      size: at least 2.
      classifier: the classes met so far; new ones are added to it.
      sizes: how much is held at once.
      advance: called now and then with how many more subgraphs of ``size - 1`` nodes were extended.
      part: for a single graph, count only the subgraphs whose search begins in this part. Its places are nodes if
        ``size`` is 3, and pairs if it is larger.

    Returns:
      int64 ``[graphs, classes]``, with as many classes as the classifier knows at the end.
    """
    whole = size > 2 and part is None and not sizes.sorts_on_host
    if whole and (counts := count_whole(graphs, size, classifier, sizes)) is not None:
        return counts
    sizes = sizes.settled(graphs.likely(size - 2), graphs.likely(size - 1))
    engine = engine_type(sizes)(graphs, size, classifier, sizes, advance)
    if size == 2:
        engine.add_edges()
    else:
        search(graphs, size - 2, sizes, engine.add_extensions, part)
    return engine.counts()


def count_participation(
    graphs: CensusGraphs, size: int, classifier: Classifier, sizes: Sizes, part: Part | None = None
) -> np.ndarray:
    """Count, for each node, the subgraphs of each class that it lies in.

    Args:
      graphs: the graphs, on the device where the search runs.
      size: at least 3.
      classifier: knows every form that occurs.
      sizes: how much is held at once.
      part: as in :func:`count_classes`.

    Returns:
      int64 ``[graphs * n, classes]``, nodes in the order of the dyads.
    """
    forms, index = classifier.known
    # Every node of a form counts in the column of the form's class.
    columns = np.repeat(index[:, None], size, axis=1)
    return count_places(graphs, size, forms, columns, len(classifier), sizes, part)


def count_places(
    graphs: CensusGraphs,
    size: int,
    forms: np.ndarray,
    columns: np.ndarray,
    width: int,
    sizes: Sizes,
    part: Part | None = None,
) -> np.ndarray:
    """Count how often each node, or each slot of the dyads, takes each place in the subgraphs.

    Args:
      graphs: the graphs, on the device where the search runs.
      size: nodes of a subgraph, at least 3.
      forms: uint64 ascending, every form that occurs.
      columns: the column that each node of each form counts in, ``[forms, size]``; or that each ordered pair of its
        nodes does, ``[forms, size, size]``, below 0 for none.
      width: how many columns there are.
      sizes: how much is held at once.
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
    # The padded forms are all ones, which keeps them ascending; their columns are never read, or have 0 added.
    known = (
        np.pad(forms, (0, room), constant_values=np.iinfo(np.uint64).max),
        np.pad(columns.astype(np.int32), ((0, room), (0, 0))).reshape(-1),
    )
    counts: jax.Array = _zeros((dyads.near.shape[0] if of_pairs else dyads.offsets.shape[0] - 1) * padded)

    def add(rows: Rows, count: int, walks: Walks) -> None:
        nonlocal counts
        counts = _participate(
            dyads,
            rows,
            walks.work,
            counts,
            known,
            width=padded,
            block=sizes.block,
            of_pairs=of_pairs,
        )

    search(graphs, size - 1, sizes.settled(graphs.likely(size - 1), graphs.likely(size)), add, part)
    return np.asarray(counts).reshape(-1, padded)[:rows, :width]


@partial(jit64, static_argnums=0)
def _zeros(size: int) -> jax.Array:
    return jnp.zeros(size, jnp.int64)


@partial(jit64, static_argnames=("width", "block", "of_pairs"), donate_argnums=3)
def _participate(
    dyads: Dyads,
    rows: Rows,
    work: FlatWork,
    counts: jax.Array,
    known: tuple[jax.Array, jax.Array],
    *,
    width: int,
    block: int,
    of_pairs: bool,
) -> jax.Array:
    """Add one for each subgraph to the columns of its nodes, or of its pairs.

    Args:
      dyads: the graphs.
      rows: subgraphs of all nodes but one.
      work: their walks.
      counts: int64 ``[nodes or slots * width]``.
      known: the forms, ascending, and the columns of their places, int32 ``[forms * size, or size ** 2]``.
      width: columns of the counts.
      block: positions looked at together.
      of_pairs: whether columns belong to ordered pairs of nodes.
    """
    (forms, columns), size = known, rows.nodes.shape[0] + 1

    def body(number: jax.Array, counts: jax.Array) -> jax.Array:
        new = kernel.extensions(dyads, rows, size - 1, work, number * block, work.total, block=block)
        low, high = take(rows.low, new.row), take(rows.high, new.row)
        # The last two nodes are put in one order, whichever was added last, so that the known forms are enough.
        code, swap = kernel.ordered_pair(dyads, low, high, new.pattern, size - 2)
        form, place = normal_places(jnp, code, dyads.codes, size)
        at = jnp.minimum(jnp.searchsorted(forms, form), forms.shape[0] - 1)  # lanes without a subgraph get some form
        # The code may hold the last two members the other way round.
        place = [place[i] for i in range(size)]
        place[-2:] = jnp.where(swap, place[-1], place[-2]), jnp.where(swap, place[-2], place[-1])
        begin = take(rows.graph, new.row) * dyads.n
        members = [*(take(nodes, new.row) for nodes in rows.nodes), begin + new.local]
        if not of_pairs:
            one = new.valid.astype(jnp.int64)
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
                one = (new.valid & there & (column >= 0)).astype(jnp.int64)
                where = jnp.where(one > 0, slot * width + column, 0)
                counts = counts.at[where].add(one, mode="promise_in_bounds")
        return counts

    return lax.fori_loop(jnp.int64(0), long(blocks_of(work.total, block)), body, counts)


def search(
    graphs: CensusGraphs,
    size: int,
    sizes: Sizes,
    use_table: Callable[[Rows, int, Walks], None],
    part: Part | None = None,
) -> None:
    """Find every connected subgraph of ``size`` nodes, in tables of bounded size.

    All tables have room for ``size`` nodes a row, so that one program serves every level.

    Args:
      graphs: the graphs, on the device where the search runs.
      size: nodes of a subgraph.
      sizes: how much is held at once.
      use_table: called with a table of subgraphs, how many it holds, and their walks.
      part: where the search begins (``size`` is at least 2 for pairs); ``None`` for everywhere.
    """
    dyads, nodes = graphs.dyads, graphs.num_nodes
    rows_alone = dataclasses.replace(dyads, matrix=None)  # programs that read no state do not depend on the matrix
    open_walks = engine_type(sizes).open_walks

    def descend(rows: Rows, i: int, count: int, pairs: tuple[int, int] | None = None) -> None:
        walks, total = open_walks(rows_alone, rows, i, count)
        if i == size:
            use_table(rows, count, walks)
            return
        # The length of the walks decides what follows: the one wait of a level.
        first, filled, (positions,) = 0, 0, fetched(total, (1,))
        if pairs is not None:  # these are the walks of single nodes: each position is a pair
            first, positions = pairs
            walks = _until(walks, np.int64(positions))
        if first >= positions:
            return
        block = sizes.fit(positions, sizes.block)
        capacity = sizes.fit(max(positions, block), sizes.table)
        # The table begins with rows past all nodes, which are written over.
        table = _table(rows_alone, np.int32(nodes), nodes=size, capacity=capacity)
        # The table is donated to the call and comes back, without a copy.
        while first < positions:
            table, numbers = _fill(dyads, rows, walks.work, table, np.array([i, first, filled]), block=block)
            filled, first = fetched(numbers, (1, positions))
            # Memory is bounded because a full table is worked off before more is put into it.
            if filled + block > capacity or (first >= positions and filled):
                descend(table, i + 1, filled)
                filled = 0

    # The nodes lie in a table like the others, or in as little room as they take where there is no other table.
    room = dyads.offsets.shape[0] - 1
    capacity = min(room, sizes.table) if size == 1 else sizes.fit(min(nodes, sizes.table), sizes.table)
    begin, end = (0, nodes) if part is None else part.nodes()
    for first in range(begin, end, capacity):
        rows, count = _table(rows_alone, np.int32(first), nodes=size, capacity=capacity), min(capacity, end - first)
        descend(rows, 1, count, None if part is None else part.pairs_at(first, count))


_table = jit64(kernel.roots, quick=ONE_PASS, static_argnames=("nodes", "capacity"))


@partial(jit64, quick=BLOCKS, donate_argnames="table", static_argnames="block")
def _fill(
    dyads: Dyads, rows: Rows, work: FlatWork, table: Rows, at: jax.Array, *, block: int
) -> tuple[Rows, jax.Array]:
    """Fill a table; ``at`` holds the nodes of a row, the position to go on at, and how many rows the table holds."""
    i, first, filled = at[0].astype(jnp.int32), at[1], at[2].astype(jnp.int32)
    table, filled, first = kernel.fill(dyads, rows, i, work, first, table, filled, block=block)
    return table, numbers_for_host(filled, first)


@jit64
def _until(walks: Walks, stop: jax.Array) -> Walks:
    """End walks at a position."""
    return walks._replace(work=FlatWork(walks.work.items, jnp.minimum(walks.work.starts, stop)))
