"""Listing of matches in order: the search keeps them in a last table, which the host empties after each dispatch.

Several devices share a listing. It is divided into stretches of its prefixes, in their order, and each device lists one
stretch after another. Matches that come before their turn wait, up to a limit, so that the host needs the same memory
however many matches there are.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.arrays._rows import pad_rows
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.kernels._expand import take
from jaxmotif.search._deadline import NO_DEADLINE, Deadline
from jaxmotif.search._loop import DeviceReport
from jaxmotif.search._parts import THE_WHOLE, InParts, Prefixes
from jaxmotif.search._run import ReadySearch, Run

PART_OF_FIRST = 1 / 16
"""The work of the first slice, as a part of the usual first work, so that the first matches come soon."""

MOST_WAITING = 2**26
"""Entries (256 MiB) that may wait for their turn; beyond that only the stretch whose turn it is goes on."""

PIECES = (2**22, 2**17, 2**12)
"""Sizes of the pieces in which entries are fetched: few, so that few programs are compiled."""

_ALL = 2**31 - 1


class Listed(NamedTuple):
    """A block of matches, in lexicographic order of their placements.

    Attributes:
      nodes: int32 ``[k, M]``, the nodes that each query node is mapped to.
      stretch: the number of the stretch that the matches belong to.
      ends: whether they are the last matches of the stretch.
      status: the status of the listing: ``"running"``, ``"done"`` or what stopped it.
    """

    nodes: np.ndarray
    stretch: int
    ends: bool
    status: str


class Images(NamedTuple):
    """The meaning of the entries of tables.

    Attributes:
      positions: int32 ``[k]``, the position of each query node in the order of placement.
      ids: int32 ``[N]``, the node of the target that each entry stands for.
    """

    positions: np.ndarray
    ids: Any


class ListingDriver(InParts):
    """The driver of a listing, which always works on the last nonempty table.

    Matches wait in the table after the last placement.

    Args:
      search: a search of one stage, whose program keeps matches.
      prefixes: the prefixes that are fed.
      enough: how many waiting matches end a dispatch.
    """

    def __init__(self, search: ReadySearch, prefixes: Prefixes, enough: int):
        super().__init__(search, prefixes, 0)
        self._enough, self._is_whole = np.int32(enough), prefixes is THE_WHOLE
        self._tables = search.stages[0].program.tables
        self.num_waiting = 0

    def options(self) -> dict[str, Any]:
        # A search of all begins with the row of no nodes, which need not be fed.
        fed = {} if self._is_whole else super().options()
        return {**fed, "enough": self._enough, "ordered": True}

    def end_reason(self, now: DeviceReport) -> str | None:
        self.num_waiting = int(now.rows[0, self._tables])
        left = now.rows[1] < now.rows[0]
        return None if left[: self._tables].any() else "done"


def list_matches(
    searches: Sequence[ReadySearch],
    images: Images,
    limit: int | None = None,
    deadline: Deadline = NO_DEADLINE,
    prefixes: Prefixes = THE_WHOLE,
    stretches: Sequence[tuple[int, int]] = ((0, 1),),
) -> Iterator[Listed]:
    """List the matches of a search of one stage, in lexicographic order of the placements.

    Args:
      searches: the same search on each device; its program keeps the matches.
      images: the meaning of the tables' entries.
      limit: how many matches are wanted (:func:`until_limit`); the search may find more.
      deadline: when to stop.
      prefixes: the prefixes, ascending, that the stretches divide.
      stretches: ``(first, stop)``, in order.

    Yields:
      Blocks of matches; the last block of each stretch says so.
    """
    # One match beyond the limit shows that there are more.
    enough = _ALL if limit is None else min(limit + 1, _ALL)
    workers = [_Worker(search, images, prefixes, enough) for search in searches]
    todo, turn = deque(enumerate(stretches)), 0
    waiting: defaultdict[int, deque[Listed]] = defaultdict(deque)
    while turn < len(stretches):
        # Entries are counted, not blocks: the limit is one of bytes, whatever a match takes.
        crowded = sum(block.nodes.size for blocks in waiting.values() for block in blocks) >= MOST_WAITING
        for worker in workers:
            # When too much waits, only the stretch whose turn it is may begin.
            if worker.stretch is None and todo and (not crowded or todo[0][0] == turn):
                worker.begin(*todo.popleft())
        for worker in workers:
            # The stretch whose turn it is always goes on, or the others would wait forever. Other stretches go on only
            # when their device is ready.
            if worker.stretch is not None and (worker.stretch == turn or (not crowded and worker.ready)):
                waiting[worker.stretch].append(worker.receive())
        while waiting[turn]:
            block = waiting[turn].popleft()
            if block.ends:
                del waiting[turn]
                turn += 1
            yield block._replace(status="running" if turn < len(stretches) else "done")
        if turn < len(stretches) and deadline.passed:
            nothing = np.zeros((len(images.positions), 0), np.int32)
            yield Listed(nothing, turn, False, deadline.status)
            return


def until_limit(blocks: Iterable[Listed], limit: int | None) -> Iterator[Listed]:
    """Yield blocks of matches up to a limit; a block that exceeds it is cut, and is the last, as its status says."""
    left = limit
    for block in blocks:
        # Matches beyond the limit show that there are more, and are not handed out.
        if left is not None and block.nodes.shape[1] > left:
            yield block._replace(nodes=block.nodes[:, :left], ends=False, status=f"stopped at limit={limit}")
            return
        left = None if left is None else left - block.nodes.shape[1]
        yield block


class _Worker:
    """A device that lists one stretch after another."""

    def __init__(self, search: ReadySearch, images: Images, prefixes: Prefixes, enough: int):
        (stage,) = search.stages
        base, room = stage.program.after(stage.program.tables)
        self._width = len(images.positions)
        # The columns of the table are in the order of placement, those of a block in the order of query nodes.
        starts = (base + room * images.positions).astype(np.int32)
        self._starts = pad_rows(starts, power_of_four(self._width, 16))
        self._ids = jax.device_put(images.ids, *search.operands.offsets.devices())
        self._driver, self._enough = ListingDriver(search, prefixes, enough), enough
        self._run = Run(search, self._driver, part_of_first=PART_OF_FIRST)
        self._pieces: deque[tuple[int, int]] = deque()
        self._report: jax.Array | None = None
        self.stretch: int | None = None

    def begin(self, stretch: int, ends: tuple[int, int]) -> None:
        """Begin a stretch, from its first prefix to before its stop."""
        first, stop = ends
        most = self._driver.most
        # A piece must not exceed the room of its table.
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
        """True once the last dispatch is done."""
        report = self._report
        return report is not None and report.is_ready()  # pyright: ignore[reportAttributeAccessIssue]

    def receive(self) -> Listed:
        """Return the matches of the last dispatch, while the next one is under way."""
        if self.stretch is None or self._report is None:
            raise RuntimeError("there is nothing to receive")
        report, self._report = np.asarray(self._report), None
        standing = self._run.receive(report, time.perf_counter() - self._sent)
        stretch, rows = self.stretch, min(self._driver.num_waiting, self._enough)
        words = self._width * rows
        # The reads are queued before the next dispatch, which overwrites the table.
        pieces = self._fetch(words)
        if standing is not None and standing.status == "done":
            if self._pieces:
                self._feed()
            else:
                self.stretch = None
        elif rows < self._enough:  # otherwise there are more matches than the limit
            self._dispatch()
        # The host waits only here, and the device goes on meanwhile.
        nodes = np.concatenate([np.zeros(0, np.int32), *map(np.asarray, pieces)])[:words]
        return Listed(nodes.reshape(self._width, rows), stretch, self.stretch is None, "running")

    def _fetch(self, words: int) -> list[jax.Array]:
        """Begin to read the first words of the matches, one column after another, in pieces of a few sizes."""
        pieces, first, rows = [], 0, np.int32(max(words // self._width, 1))
        while first < words:
            # Take the largest piece that fits into the matches left. Only the smallest piece may go beyond their end.
            size = next(size for size in PIECES if size <= max(words - first, PIECES[-1]))
            pieces.append(_images(self._run.table, self._ids, self._starts, rows, np.int32(first), size=size))
            first += size
        return pieces


@jit64(static_argnames=("size",))
def _images(
    table: jax.Array, ids: jax.Array, starts: jax.Array, rows: jax.Array, first: jax.Array, *, size: int
) -> jax.Array:
    """Read some words of columns laid end to end, as the target's nodes.

    Args:
      table: the entries of all tables.
      ids: the node of the target that each entry stands for.
      starts: where each column begins.
      rows: the rows of each column.
      first: the first word to read.
      size: how many words to read.

    Returns:
      int32 ``[size]``, with arbitrary nodes beyond the last column.
    """
    number = first + jnp.arange(size, dtype=jnp.int32)
    column = jnp.minimum(number // rows, starts.shape[0] - 1)
    node = table.at[take(starts, column) + number % rows].get(mode="clip")
    return for_host(ids.at[node].get(mode="clip"))
