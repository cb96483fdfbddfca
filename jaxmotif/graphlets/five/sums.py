"""The sums at all arcs that five-node orbits follow from, shared out over hubs and rows, on any devices."""

from __future__ import annotations

import threading
from functools import cached_property, partial

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._ahead import end_rehearsal, in_earnest, rehearsal
from jaxmotif.arrays._compile import jit64, put64
from jaxmotif.arrays._host import on_device
from jaxmotif.devices._job import Job, run_job, workers_on
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, Store, added
from jaxmotif.devices._select import Selection
from jaxmotif.graphlets import _by_rows as by_rows
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets.five import cycles, hubs
from jaxmotif.graphlets.five import giants as big
from jaxmotif.graphlets.five.equations import Array
from jaxmotif.graphlets.five.hubs import Ranked
from jaxmotif.graphlets.five.plan import LEAST_CELLS, Given
from jaxmotif.graphlets.five.results import late_values, node_sums

_UNITS = 32


def all_sums(
    given: Given, selection: Selection, show: bool, store: Store | None
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """The sums at all arcs, NumPy's where they are made row by row: around all hubs, shared out by hubs; then around
    giants, and what takes other sums."""
    if given.lists is not None:
        end_rehearsal()
        sums = by_rows.all_sums(given.lists, given.graph, selection.main, size=given.size, detail=given.detail)
        return sums, ()
    sums, notes, known = _shared_out(given, selection, show, store)
    graph, device, union = given.graph, selection.main, None
    adjacency = given.adjacency(graph) if given.detail == "edge" else None
    if known is not None:
        sums["chord"] = _from_hubs(graph, sums["chord"], giants=given.giants)
        # The tables are gone: what they took is there for it.
        room = None if given.memory is None else given.rows(device) * given.row
        union = big.add_sums(sums, graph, known, adjacency, device, room)
    if adjacency is None:
        return sums, notes
    late = late_values(graph, sums["t"], sums["l2"])
    found = hubs.empty(arcs=graph.heads.shape[0], names=tuple(late))
    (around,) = hubs.put_blocks(device, given.matrices(given.cells))
    for b in around:
        found = hubs.sum_around(found, late, graph, adjacency, *b.given, width=b.size)
    sums |= found
    if known is not None and union is not None:
        big.add_around(sums, late, graph, known, union)
    return sums, notes


def _shared_out(
    given: Given, selection: Selection, show: bool, store: Store | None
) -> tuple[dict[str, jax.Array], tuple[str, ...], big.Known | None]:
    """And the giants, where these were no hubs."""
    device = selection.main
    if store is None and not selection.several and not given.is_long(device):
        hand, notes = with_smaller_steps(_whole, Hand(given, device), _halved, device)
        return hand.sums(), notes, hand.giants
    # Devices of one process hand in to one of them; what is kept, or told to other processes, goes through the host.
    total = _Total(device) if store is None and selection.helper is None else None
    cells = given.lengths.astype(np.int64) ** 2 + 1
    units = max(_UNITS, 4 * len(selection.devices))
    if given.sparse:
        cells, units = _by_blocks(cells + _row_work(given, device), given.rows(device)), 4 * len(selection.devices)
    work = np.concatenate([[0], np.cumsum(cells)])
    programs = given.detail, given.memory, given.arcs
    # From the end: large hubs come last.
    job = Job("graphlets-5-hubs", work, units, added, "cells", "five nodes", lambda span: span.stop, programs=programs)
    done = run_job(job, lambda place: Hand(given, place, total), workers_on(selection), selection, store, show)
    known = _known(given)
    if total is not None:
        return total.sums, done.notes, known
    padding = given.graph.heads.shape[0] - given.arcs
    found = {name: on_device(np.pad(x, (0, padding)), device) for name, x in done.found.items()}
    return found, done.notes, known


def _known(given: Given) -> big.Known | None:
    return big.known(given.graph, given.giants, given.detail == "edge") if given.giants else None


def _row_work(given: Given, device: jax.Device) -> np.ndarray:
    """Of each row of the tables, in cells of matrices: those written and read, zeros, products of giants (measured)."""
    nodes, count = given.graph.leaves.shape[0], len(given.lengths)
    at_nodes = np.zeros((nodes, 2), np.int64)
    at_nodes[given.core :, 0] = given.lengths
    at_nodes[nodes - given.giants :, 1] = 1
    cells, giants = np.asarray(_around_rows(given.graph, put64(at_nodes, device)))[:count].T
    beside = giants > 0
    return 2 * cells + given.size // 1024 + beside * (beside.sum() // 20)


def _by_blocks(work: np.ndarray, rows: int) -> np.ndarray:
    """The work of each block of rows at the last of these: units are of whole blocks, as each is made at once."""
    last = np.minimum(np.arange(0, len(work), rows) + rows, len(work)) - 1
    whole = np.zeros_like(work)
    whole[last] = np.add.reduceat(work, np.arange(0, len(work), rows)) if len(work) else 0
    return whole


@jit64
def _around_rows(graph: Ranked, values: jax.Array) -> jax.Array:
    """Sums over the neighbours of the node of each row of a table, of ``[N, K]``."""
    around = big.around_nodes(graph, values)
    return around.at[graph.at_rows + graph.core].get(mode="fill", fill_value=0)


class _Total:
    """What all workers of a process gave, on one of its devices."""

    def __init__(self, device: jax.Device):
        self.sums: dict[str, jax.Array] = {}
        self._device, self._lock = device, threading.Lock()

    def add(self, sums: dict[str, jax.Array]) -> None:
        sums = put64(sums, self._device)
        with self._lock:
            self.sums = jax.block_until_ready(_sum_of(self.sums, sums)) if self.sums else sums


@partial(jit64, donate_argnums=0)
def _sum_of(x: dict[str, jax.Array], y: dict[str, jax.Array]) -> dict[str, jax.Array]:
    return {name: x[name] + y[name] for name in x}


def _whole(hand: Hand) -> Hand:
    hand.step(Span(0, len(hand.given.lengths)))
    return hand


def _halved(hand: Hand) -> tuple[Hand, str] | None:
    note = hand.halve()
    return None if note is None else (hand, note)


Ends = np.ndarray | jax.Array
"""The first row of a block and the one after its last, int32 ``[2]``."""


def _ends(first: int, stop: int) -> np.ndarray:
    return np.array([first, stop], np.int32)


class Hand:
    """The sums that one worker has added up so far, on its device; an item of its job is a hub, and where rows of the
    tables are shared out, one of these. ``total``: where it hands in, if not in host memory."""

    def __init__(self, given: Given, device: jax.Device, total: _Total | None = None):
        # All is put where it is worked on: what a program is compiled for follows from there.
        self.given = given._replace(graph=put64(given.graph, device), above=put64(given.above, device))
        self._device, self._total = device, total
        self._cells, self._rows = given.cells, given.rows(device)
        self._adjacency = self.given.adjacency(self.given.graph)
        self._node = node_sums(self.given.graph)
        if given.sparse:
            self._paths = cycles.lists(self.given.graph, self._adjacency, self.given.above, block=self._cells)
        self._lay_out()

    @cached_property
    def giants(self) -> big.Known | None:
        return _known(self.given)

    @cached_property
    def _up(self) -> tuple[jax.Array, np.ndarray]:
        """The upward arcs, and before each hub how many."""
        starts = np.concatenate([[0], np.cumsum(self.given.later)]).astype(np.int32)
        return hubs.upward(self.given.graph), starts

    def _lay_out(self) -> None:
        """Which hubs go together; nothing is added up yet."""
        given = self.given
        self._hubs, self._lowest = hubs.put_blocks(
            self._device, given.matrices(self._cells), given.upper_matrices(self._cells)
        )
        self._clear()

    def _clear(self) -> None:
        given, self._tables, self._meets = self.given, None, None
        arcs = given.graph.heads.shape[0]
        with jax.default_device(self._device):
            self._held = put64(hubs.nothing_gathered(arcs=arcs, detail=given.detail), self._device)
            empty = hubs.empty(arcs=arcs, names=("walks", "cliques"))
        self._walks, self._cliques = (put64(empty[name], self._device) for name in ("walks", "cliques"))
        self._of_tables: jax.Array | None = None

    def step(self, span: Span) -> None:
        """A stretch of hubs, and of rows."""
        given, rows = self.given, self._rows
        graph, edges = given.graph, self._adjacency
        first, stop = span.first + given.core, span.stop + given.core
        # By higher neighbours alone, of which there are far fewer at the largest hubs.
        for b in hubs.within(self._lowest, first, stop):
            self._cliques = hubs.five_cliques(self._cliques, graph, edges, *b.given, width=b.size, detail=given.detail)
        if given.sparse:
            for row in self._blocks(span):
                self._walks = cycles.five_cycles(
                    self._walks, graph, edges, self._paths, np.int32(row), np.int32(span.stop), rows=rows,
                    size=given.size, block=self._cells,
                )  # fmt: skip
            for b in hubs.within(self._hubs, first, stop):
                self._gather(None, b, _ends(0, 0), own=True)
        # A block of rows of all tables at a time: written by all hubs, then read by all, or by those of the stretch.
        wanted, (first, stop) = (span, (0, 2**31)) if given.sparse else (Span(0, len(given.lengths)), (first, stop))
        for row in self._blocks(wanted):
            ends = _ends(row, min(row + rows, wanted.stop))
            tables = self._filled(ends)
            own, at = not given.sparse and not row, put64(ends, self._device)
            for b in hubs.within(self._hubs, first, stop, None if own else self._meeting(ends)):
                self._gather(tables, b, at, own)
            # Of rows that are all there at once, once: with the last stretch.
            if self.giants is not None and (given.sparse or span.stop == len(given.lengths)):
                self._around_giants(self.giants, tables, at)
            if not given.sparse:
                self._walk(tables.codegree, row, span)
            # Before the next are made: a device keeps what it still reads.
            jax.block_until_ready((self._held, self._walks, self._of_tables))
            del tables
        jax.block_until_ready((self._held, self._walks, self._cliques))

    def _gather(self, tables: hubs.Tables | None, b: hubs.Blocks, ends: Ends, own: bool) -> None:
        given = self.given
        self._held = hubs.gather(
            self._held, tables, given.graph, self._adjacency, self._node, *b.given, ends, width=b.size,
            detail=given.detail, most=given.most, own=own, giants=given.giants,
        )  # fmt: skip

    def _around_giants(self, known: big.Known, tables: hubs.Tables, ends: Ends) -> None:
        if self._of_tables is None:
            shape = 2, known.near.rows.shape[0], self.given.giants
            self._of_tables = put64(big.no_sums_of_tables(shape=shape), self._device)
        self._of_tables = big.around(
            self._of_tables, tables, self.given.graph, known.giants, known.near, ends, part=self._part(known)
        )

    def _blocks(self, span: Span) -> range:
        """The first row of each block; in a rehearsal two of them, as the others take the same programs."""
        return range(span.first, max(span.stop, span.first + 1), self._rows)[: 2 if rehearsal() else None]

    @in_earnest
    def _meeting(self, ends: np.ndarray) -> np.ndarray | None:
        """Which nodes may have a neighbour in a block of rows; ``None`` where the block is all there is."""
        blocks = -(-len(self.given.lengths) // self._rows)
        if blocks <= 1:
            return None
        if self._meets is None:  # of all blocks in one wait
            self._meets = np.asarray(hubs.meet(self.given.graph, rows=self._rows, blocks=blocks))
        # A stretch begins anywhere in these.
        first, last = ends[0] // self._rows, (ends[1] - 1) // self._rows
        return self._meets[first] | self._meets[last]

    def _part(self, known: big.Known) -> int:
        """Rows of the tables beside giants at a time."""
        return max(1, 16 * self._cells // known.near.nodes.size)

    def _filled(self, ends: np.ndarray) -> hubs.Tables:
        """The tables between two rows; kept where they are all there is."""
        if self._tables is not None:
            return self._tables
        tables = self._made(ends, self.given.detail)
        if self._rows >= len(self.given.lengths) and not self.given.sparse:
            self._tables = tables
        return tables

    def _made(self, ends: np.ndarray, detail: Detail) -> hubs.Tables:
        """The tables between two rows that are wanted for something."""
        given, known = self.given, self.giants
        at = put64(ends, self._device)  # once for all programs
        tables = hubs.empty_tables(given.graph, at, rows=self._rows, size=given.size, detail=detail, most=given.most)
        if known is not None:
            part = self._part(known)
            tables = big.begin(tables, given.graph, known.giants, known.near, at, part=part, most=given.most)
        for b in hubs.within(self._hubs, given.core, 2**31, self._meeting(ends)):
            tables = hubs.scatter(
                tables, given.graph, self._adjacency, *b.given, at, width=b.size, detail=detail,
                giants=given.giants,
            )  # fmt: skip
        return tables

    def _walk(self, codegree: jax.Array, row: int, span: Span) -> None:
        """Walks of length 4 at the arcs that lead up from a stretch of hubs, those in a block of rows."""
        given, rows, nodes = self.given, self._rows, len(self.given.lengths)
        graph = given.graph
        narrow = hubs.short if given.most <= 2**16 and codegree.dtype == jnp.int32 else lambda table: table
        low, block = narrow(codegree), max(16, 16 * self._cells // given.size)
        up, starts = self._up
        which = (up, starts[span.first], starts[span.stop])
        # Each is a product of two rows: a block of rows meets every other one.
        for other in range(0, nodes, rows):
            high = low if other == row else narrow(self._made(_ends(other, min(other + rows, nodes)), "graph").codegree)
            firsts = np.int32(row), np.int32(other)
            self._walks = hubs.fourth_walks(self._walks, low, high, graph, which, firsts, block=block, most=given.most)

    def sums(self) -> dict[str, jax.Array]:
        """All that was added up, on the device, by name: int64 at all arcs."""
        given, found = self.given, self._held.by_name(self.given.detail)
        if self._of_tables is not None and self.giants is not None:
            giants, near, size = self.giants
            values = big.of_rows(given.graph, giants, near, self._of_tables, size=size)
            for name in values.keys() & found.keys():
                found[name] = big.add_leaving(found[name], given.graph, values[name], count=given.giants)
        return found | {"cycles" if given.sparse else "walks4": self._walks, "q": self._cliques}

    def collect(self) -> Arrays:
        found = self.sums()
        self._clear()
        if self._total is None:
            # What counts are the true arcs, not padding.
            return {name: np.asarray(x)[: self.given.arcs] for name, x in found.items()}
        if not rehearsal():
            self._total.add(found)
        return {}

    def halve(self) -> str | None:
        """Fewer rows at a time, and fewer matrices."""
        if self._rows <= 32 and self._cells <= LEAST_CELLS:
            return None
        self._rows, self._cells = max(min(self._rows, self.given.size) // 2, 32), max(self._cells // 2, LEAST_CELLS)
        self._lay_out()
        return f"{self._rows} rows of tables"


@partial(jit64, static_argnames="giants")
def _from_hubs(graph: Ranked, x: jax.Array, *, giants: int) -> jax.Array:
    """What is the same at both arcs of an edge, taken from that which leaves a hub where the other leaves a giant."""
    first = graph.leaves.shape[0] - giants
    return jnp.where((graph.tails >= first) & (graph.heads < first), x[graph.back], x)
