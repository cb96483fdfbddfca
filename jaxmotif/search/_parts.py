"""A search in parts: the partial matches of its first nodes (prefixes), given a few at a time."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.kernels._expand import take
from jaxmotif.search._deadline import NO_DEADLINE, Deadline, TimeIsUp
from jaxmotif.search._layout import Operands
from jaxmotif.search._loop import Allowance, DeviceReport, Part, SearchState, advance, advance_part
from jaxmotif.search._run import ReadySearch, Run, Stage, finish

MOST_PREFIX, MOST_PREFIXES = 8, 2**20
"""Nodes in a prefix of a search that is divided by prefixes, and about how many entries those of a length take."""

ENOUGH = 2**14
"""A search is divided by its prefixes of the least length that has so many."""

MOST_PART = 2**16
"""Prefixes given at a time, at most."""


class Prefixes(NamedTuple):
    """Partial matches of the first nodes of an order.

    Attributes:
      rows: int32 ``[MOST_PREFIX, C]`` on a device: the columns that the search's table holds, then the others.
      positions: int64 ``[level]``, of which nodes these are.
      columns: how many the table holds.
      work: int64 ``[count]`` (host), the estimated work of each: one, and one for each candidate of the next node.
    """

    rows: Any
    positions: np.ndarray
    columns: int
    work: np.ndarray

    def listed(self) -> np.ndarray:
        """int32 ``[level, count]``, the nodes in order (host)."""
        return np.asarray(self.rows)[np.argsort(self.positions), : len(self.work)]


def _no_prefixes(level: int, work: np.ndarray) -> Prefixes:
    return Prefixes(np.zeros((MOST_PREFIX, 1), np.int32), np.arange(level), 0, work)


PrefixOrder = Literal["hardest first", "mixed", "given"]


class _Levels:
    """The driver of a search level by level: it ends when a level has :data:`ENOUGH` rows, or its successor is full."""

    def __init__(self):
        self.now: DeviceReport | None = None

    def send(
        self, operands: Operands, state: SearchState | None, stage: Stage, allowed: Allowance
    ) -> tuple[SearchState, jax.Array]:
        self._work = allowed.work
        limits = np.int32(allowed.stop_step), np.int32(ENOUGH), np.int64(allowed.work)
        return advance(operands, state or stage.new_state(operands), *limits, sizes=stage.sizes)

    def ended(self, now: DeviceReport) -> str | None:
        self.now = now
        return "done" if now.drained or now.work < self._work else None


def list_prefixes(search: ReadySearch, order: PrefixOrder, deadline: Deadline = NO_DEADLINE) -> Prefixes:
    """The partial matches of the fewest nodes of which there are :data:`ENOUGH`, or of as many nodes as there is room
    for, where the search's arrays lie; the same on all devices, in the same order.

    Args:
      search: of one stage, that can list prefixes.
      order: prefixes of much work first; mixed, so that no stretch of them is a hard one; or lexicographic, as given.

    Raises:
      TimeIsUp: the deadline passed before.
    """
    if search.prefixes is None:
        raise ValueError("this search has no stage that lists its prefixes")
    (stage,), listing = search.stages, search.prefixes()
    operands, program = search.operands, listing.program
    (device,) = operands.offsets.devices()
    if program.tables == 0:
        return _no_prefixes(0, np.ones(1, np.int64))
    levels = _Levels()
    run = Run(ReadySearch(operands, [listing]), levels)
    *_, standing = finish(run, deadline)
    now = levels.now
    if now is None or standing.status != "done":
        raise TimeIsUp(standing.status)
    if now.drained:
        return _no_prefixes(1, np.zeros(0, np.int64))
    level, count = now.level, int(now.rows[0, now.level])
    base, room = program.after(level)
    columns = stage.program.columns[level]
    # What the search's own table holds comes first: a part gives so many columns.
    positions = np.concatenate([columns, np.setdiff1d(np.arange(level), columns)]).astype(np.int64)
    # One shape whatever the length: further columns repeat the first ones.
    starts = (base + room * np.resize(positions, MOST_PREFIX)).astype(np.int32)
    pairs = stage.program.anchors(level)[:, :2]  # slot and list
    # Repeated pairs change no minimum.
    pairs = np.resize(pairs, (power_of_four(len(pairs), 1), 2))

    def gathered(numbers: np.ndarray) -> tuple[Any, np.ndarray]:
        places = np.zeros(power_of_four(count, ENOUGH), np.int32)
        places[:count] = numbers
        with jax.default_device(device):
            rows, work = _gathered(run.table, operands.offsets, starts, pairs, places)
        return rows, np.asarray(work)[:count].astype(np.int64)

    numbers = np.arange(count)
    if order == "hardest first":
        # The work is known of the rows in the order listed: they are gathered once to be weighed, once to stay.
        numbers = np.argsort(-gathered(numbers)[1], kind="stable")
    elif order == "mixed":
        # The same numbers on every device: all must mean the same prefixes.
        numbers = np.random.default_rng(0).permutation(count)
    rows, work = gathered(numbers)
    return Prefixes(rows, positions, len(columns), work)


@jit64
def _gathered(
    table: jax.Array, offsets: jax.Array, starts: jax.Array, pairs: jax.Array, order: jax.Array
) -> tuple[Any, Any]:
    """Some rows of a table whose columns start at given places, int32 ``[columns, L]``, and one more than the length
    of the shortest list of each, int32 ``[L]``, in the host's memory.

    Args:
      pairs: int32 ``[P, 2]``, a column (-1: no column) and the place of its lists in the offsets.
    """
    rows = take(table, starts[:, None] + order[None])
    column, lists = pairs[:, :1], pairs[:, 1:]
    # -1: the lists hang on no earlier node, and there is one, at the place itself.
    at = lists + jnp.where(column < 0, 0, rows[jnp.maximum(pairs[:, 0], 0)])
    # One more, so that a prefix without candidates has some work too.
    return rows, for_host((take(offsets, at + 1) - take(offsets, at)).min(axis=0) + 1)


class InParts:
    """The driver of a search in parts: prefixes are fed a few at a time, and it ends a dispatch, wanting more, before
    its tables are too empty for full steps. For searches of one stage, which cannot start again.

    Args:
      search: of one stage.
      prefixes: what all parts are of.
      keep: ask for more when fewer rows are left, or fewer than a quarter of a step's.
    """

    def __init__(self, search: ReadySearch, prefixes: Prefixes, keep: int):
        if len(search.stages) > 1 or search.ahead is not None:
            raise ValueError("a search in parts cannot start again: it must have one stage")
        (stage,), level = search.stages, len(prefixes.positions)
        self._rows = jax.device_put(prefixes.rows, *search.operands.offsets.devices())
        self._part = Part(level, min(keep, stage.sizes.window // 4), prefixes.columns, 0, 0)
        # A part is put into its table at once.
        self.most = min(stage.program.table(level).room, MOST_PART)
        """Prefixes that can be fed at a time."""

    def feed(self, first: int, stop: int) -> None:
        """Go on with prefixes first to stop - 1; the last dispatch wanted more, or was done."""
        self._part = self._part._replace(first=first, count=stop - first)

    def finish(self) -> None:
        """There is no more."""
        self._part = self._part._replace(keep=0)

    def send(
        self, operands: Operands, state: SearchState | None, stage: Stage, allowed: Allowance
    ) -> tuple[SearchState, jax.Array]:
        # Fed once: the next dispatches go on with what is in the tables.
        part, self._part = np.array(self._part, np.int32), self._part._replace(count=0)
        state = state or stage.new_state(operands)
        limits = np.int32(allowed.stop_step), np.int64(allowed.work)
        return advance_part(operands, state, self._rows, part, *limits, most=MOST_PART, sizes=stage.sizes)

    def ended(self, now: DeviceReport) -> str | None:
        if now.drained:
            return "done"
        return "wants more" if now.wants_more(self._part.level, self._part.keep) else None
