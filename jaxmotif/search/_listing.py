"""Listing matches in order: the search keeps them in a last table, which the host empties after each dispatch.

Several devices share a listing by stretches of its prefixes, in their order: each lists one after another, and what is
found ahead of its turn waits, up to a limit, so that the host needs the same memory however many matches there are.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.kernels._expand import take
from jaxmotif.search._deadline import NO_DEADLINE, Deadline
from jaxmotif.search._layout import Operands
from jaxmotif.search._loop import Allowance, DeviceReport, Part, SearchState, advance, advance_part
from jaxmotif.search._parts import MOST_PART, Prefixes
from jaxmotif.search._run import ReadySearch, Run, Stage

PART_OF_FIRST = 1 / 16
"""The part of the usual first work that the first slice has: whoever takes matches block by block gets some soon."""

MOST_WAITING = 2**26
"""Entries (256 MiB) that may wait for their turn; with so many, only the stretch whose turn it is goes on."""

PIECES = (2**22, 2**17, 2**12)
"""Entries are fetched in pieces of these sizes: few, so that few are compiled, and little more than there is."""

_ALL = 2**31 - 1


class Listed(NamedTuple):
    """A block of matches, in lexicographic order of their placements.

    Attributes:
      nodes: int32 ``[k, M]``, of each query node the nodes it is mapped to.
      stretch: which one they are of; ends: whether these are its last.
      status: of the listing, ``"running"``, ``"done"`` or what stopped it.
    """

    nodes: np.ndarray
    stretch: int
    ends: bool
    status: str


class Images(NamedTuple):
    """What the entries of tables stand for: int32 ``[k]``, the position of each query node, and ``ids`` ``[N]``, the
    target's nodes."""

    positions: np.ndarray
    ids: Any


class Ordered:
    """The driver of a listing: always the last nonempty table. Matches wait in the table after ``tables`` placements.

    Args:
      search: of one stage, whose program keeps matches.
      prefixes: what is fed is a stretch of these; ``None``: all is listed at one go.
      enough: a dispatch ends when so many wait.
    """

    def __init__(self, search: ReadySearch, prefixes: Prefixes | None, enough: int):
        (stage,) = search.stages
        self._tables, self._enough, self._part = stage.program.tables, enough, None
        self.most = MOST_PART
        if prefixes is not None:
            level = len(prefixes.positions)
            self._rows = jax.device_put(prefixes.rows, *search.operands.offsets.devices())
            self._part = Part(level, enough, prefixes.columns, 0, 0)
            self.most = min(stage.program.table(level).room, MOST_PART)
        self.held = 0

    def feed(self, first: int, stop: int) -> None:
        """Go on with prefixes first to stop - 1; the last dispatch was done."""
        if self._part is not None:
            self._part = self._part._replace(first=first, count=stop - first)

    def send(
        self, operands: Operands, state: SearchState | None, stage: Stage, allowed: Allowance
    ) -> tuple[SearchState, jax.Array]:
        state = state or stage.new_state(operands)
        stop, work = np.int32(allowed.stop_step), np.int64(allowed.work)
        if self._part is None:
            return advance(operands, state, stop, np.int32(self._enough), work, sizes=stage.sizes, ordered=True)
        part, self._part = np.array(self._part, np.int32), self._part._replace(count=0)
        static: dict[str, Any] = {"most": MOST_PART, "sizes": stage.sizes, "ordered": True}
        return advance_part(operands, state, self._rows, part, stop, work, **static)

    def ended(self, now: DeviceReport) -> str | None:
        # Matches wait in the table that no step expands.
        self.held = int(now.rows[0, self._tables])
        left = now.rows[1] < now.rows[0]
        return None if left[: self._tables].any() else "done"


def list_matches(
    searches: Sequence[ReadySearch],
    images: Images,
    limit: int | None = None,
    deadline: Deadline = NO_DEADLINE,
    prefixes: Prefixes | None = None,
    stretches: Sequence[tuple[int, int]] = ((0, 1),),
) -> Iterator[Listed]:
    """The matches of a search of one stage, whose program keeps them, in lexicographic order of the placements.

    Args:
      searches: the same one on each device.
      images: what the tables' entries stand for.
      limit: more than so many matches are not listed.
      deadline: when to stop.
      prefixes: in ascending order, of which the stretches are; ``None``: one device lists all.
      stretches: ``(first, stop)``, in order.

    Yields:
      Blocks, each stretch's ended by one that says so.
    """
    # One more than are asked for shows that there are more.
    enough = _ALL if limit is None else min(limit + 1, _ALL)
    workers = [_Worker(search, images, prefixes, enough) for search in searches]
    todo, turn, left = deque(enumerate(stretches)), 0, limit
    waiting: defaultdict[int, deque[Listed]] = defaultdict(deque)
    while turn < len(stretches):
        # Entries, not blocks: what waits is bounded in bytes, whatever a match takes.
        crowded = sum(block.nodes.size for blocks in waiting.values() for block in blocks) >= MOST_WAITING
        for worker in workers:
            # When crowded, no stretch is begun but the one whose turn it is.
            if worker.stretch is None and todo and (not crowded or todo[0][0] == turn):
                worker.begin(*todo.popleft())
        for worker in workers:
            # The stretch whose turn it is always goes on, or what waits would never leave; others if they are ready.
            if worker.stretch is not None and (worker.stretch == turn or (not crowded and worker.ready)):
                waiting[worker.stretch].append(worker.receive())
        while waiting[turn]:
            block = waiting[turn].popleft()
            nodes = block.nodes
            # What lies beyond the limit tells that there was more, and is not handed out.
            if left is not None and nodes.shape[1] > left:
                yield block._replace(nodes=nodes[:, :left], ends=False, status=f"stopped at limit={limit}")
                return
            left = None if left is None else left - nodes.shape[1]
            if block.ends:
                del waiting[turn]
                turn += 1
            yield block._replace(status="running" if turn < len(stretches) else "done")
        if turn < len(stretches) and deadline.passed:
            nothing = np.zeros((len(images.positions), 0), np.int32)
            yield Listed(nothing, turn, False, deadline.status)
            return


class _Worker:
    """A device that lists one stretch after another."""

    def __init__(self, search: ReadySearch, images: Images, prefixes: Prefixes | None, enough: int):
        (stage,) = search.stages
        base, room = stage.program.after(stage.program.tables)
        self._width = len(images.positions)
        self._starts = np.zeros(power_of_four(self._width, 16), np.int32)
        # The table has columns in the order of placement, a block in that of query nodes.
        self._starts[: self._width] = base + room * images.positions
        self._ids = jax.device_put(images.ids, *search.operands.offsets.devices())
        self._driver, self._enough = Ordered(search, prefixes, enough), enough
        self._run = Run(search, self._driver, part_of_first=PART_OF_FIRST)
        self._pieces: deque[tuple[int, int]] = deque()
        self._report: jax.Array | None = None
        self.stretch: int | None = None

    def begin(self, stretch: int, ends: tuple[int, int]) -> None:
        first, stop = ends
        most = self._driver.most
        # No piece is more than its table has room for.
        self._pieces.extend((at, min(at + most, stop)) for at in range(first, stop, most))
        self.stretch = stretch
        self._feed()

    def _feed(self) -> None:
        self._driver.feed(*self._pieces.popleft())
        self._dispatch()

    def _dispatch(self) -> None:
        self._sent = time.perf_counter()
        self._report = self._run.dispatch()

    @property
    def ready(self) -> bool:
        report = self._report
        return report is not None and report.is_ready()  # pyright: ignore[reportAttributeAccessIssue]

    def receive(self) -> Listed:
        """What the last dispatch found, while the next one is under way."""
        if self.stretch is None or self._report is None:
            raise RuntimeError("there is nothing to receive")
        report, self._report = np.asarray(self._report), None
        standing = self._run.receive(report, time.perf_counter() - self._sent)
        stretch, rows = self.stretch, min(self._driver.held, self._enough)
        words = self._width * rows
        # Queued before the next dispatch, to which the table is given away.
        pieces = self._fetched(words)
        if standing is not None and standing.status == "done":
            if self._pieces:
                self._feed()
            else:
                self.stretch = None
        elif rows < self._enough:  # else there are more than are asked for
            self._dispatch()
        # Only here does it wait for them: the device goes on meanwhile.
        nodes = np.concatenate([np.zeros(0, np.int32), *map(np.asarray, pieces)])[:words]
        return Listed(nodes.reshape(self._width, rows), stretch, self.stretch is None, "running")

    def _fetched(self, words: int) -> list[jax.Array]:
        """The first words of the matches, one column after another, in pieces of few sizes: read before the next
        dispatch takes the table."""
        pieces, first, rows = [], 0, np.int32(max(words // self._width, 1))
        while first < words:
            # The largest piece that is matches throughout; in the end the smallest, partly beyond them.
            size = next(size for size in PIECES if size <= max(words - first, PIECES[-1]))
            pieces.append(_images(self._run.table, self._ids, self._starts, rows, np.int32(first), size=size))
            first += size
        return pieces


@jit64(static_argnames=("size",))
def _images(
    table: jax.Array, ids: jax.Array, starts: jax.Array, rows: jax.Array, first: jax.Array, *, size: int
) -> jax.Array:
    """Of columns of a table that begin at ``starts``, of so many rows each, laid end to end, some words from the first
    asked for, as the target's nodes, int32 ``[size]``; what lies beyond the last is arbitrary."""
    number = first + jnp.arange(size, dtype=jnp.int32)
    # Beyond the last match any column will do.
    column = jnp.minimum(number // rows, starts.shape[0] - 1)
    node = table.at[take(starts, column) + number % rows].get(mode="clip")
    return for_host(ids.at[node].get(mode="clip"))
