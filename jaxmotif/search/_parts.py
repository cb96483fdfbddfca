"""Searches in parts: the partial matches of the first nodes (prefixes) are fed to a search a few at a time."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.kernels._expand import take
from jaxmotif.search._deadline import NO_DEADLINE, Deadline, TimeIsUp
from jaxmotif.search._loop import MOST_PART, DeviceReport, Part
from jaxmotif.search._run import Driver, ReadySearch, Run, finish

MOST_PREFIX, MOST_PREFIXES = 8, 2**20
"""Most nodes of a prefix, and about how many entries all prefixes of one length take at most."""

ENOUGH = 2**14
"""Number of prefixes that is enough to divide a search: the prefixes are the shortest that are at least that many."""


class Prefixes(NamedTuple):
    """Partial matches of the first nodes of an order.

    Attributes:
      rows: int32 ``[MOST_PREFIX, C]`` on a device: the columns that the search's table holds, then the others.
      positions: int64 ``[level]``, the position in the order whose nodes each column has.
      columns: how many columns the table holds.
      work: int64 ``[count]`` on the host, the estimated work of each prefix: one more than the candidates of the next
        node.
    """

    rows: Any
    positions: np.ndarray
    columns: int
    work: np.ndarray

    def listed(self) -> np.ndarray:
        """Return the nodes of the prefixes in the order of placement, int32 ``[level, count]`` on the host."""
        return np.asarray(self.rows)[np.argsort(self.positions), : len(self.work)]


def _no_prefixes(level: int, work: np.ndarray) -> Prefixes:
    return Prefixes(np.zeros((MOST_PREFIX, 1), np.int32), np.arange(level), 0, work)


THE_WHOLE = _no_prefixes(0, np.ones(1, np.int64))
"""The prefix of no nodes, which is all of a search."""

PrefixOrder = Literal["hardest first", "mixed", "given"]


class _Levels(Driver):
    """The driver of a search level by level.

    It ends when a level has :data:`ENOUGH` rows, or when the table of the next level is full.
    """

    now: DeviceReport | None = None

    def options(self) -> dict[str, Any]:
        return {"enough": np.int32(ENOUGH)}

    def end_reason(self, now: DeviceReport) -> str | None:
        self.now = now
        return "done" if now.drained or now.work < self.work else None


def list_prefixes(search: ReadySearch, order: PrefixOrder, deadline: Deadline = NO_DEADLINE) -> Prefixes:
    """List the prefixes by which a search is divided.

    All prefixes have one length, the least for which there are :data:`ENOUGH` partial matches, or else the greatest for
    which there is room. They lie where the search's arrays lie; all devices get the same prefixes in the same order.

    Args:
      search: a search of one stage that can list prefixes.
      order: prefixes with the most work first; mixed, so that no stretch of them has much more work than others; or
        in lexicographic order, as the search gives them.
      deadline: when to stop.

    Raises:
      TimeIsUp: if the deadline passed before the prefixes were there.
    """
    if search.prefixes is None:
        raise ValueError("this search has no stage that lists its prefixes")
    (stage,) = search.stages
    if stage.program.tables == 1:  # no node comes before the last one
        return THE_WHOLE
    listing = search.prefixes()
    operands, program = search.operands, listing.program
    (device,) = operands.offsets.devices()
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
    # The columns that the search's own table holds come first: a part consists of these.
    positions = np.concatenate([columns, np.setdiff1d(np.arange(level), columns)]).astype(np.int64)
    # The shape is the same for all lengths: further columns repeat the first ones.
    starts = (base + room * np.resize(positions, MOST_PREFIX)).astype(np.int32)
    pairs = stage.program.anchors(level)[:, :2]  # slot and list
    # Pairs are repeated up to a common shape, which changes no minimum.
    pairs = np.resize(pairs, (power_of_four(len(pairs), 1), 2))

    def gather(numbers: np.ndarray) -> tuple[Any, np.ndarray]:
        places = np.zeros(power_of_four(count, ENOUGH), np.int32)
        places[:count] = numbers
        with jax.default_device(device):
            rows, work = _gather_prefixes(run.table, operands.offsets, starts, pairs, places)
        return rows, np.asarray(work)[:count].astype(np.int64)

    numbers = np.arange(count)
    if order == "hardest first":
        # The rows are gathered twice: once to know their work, and once in the order that follows from it.
        numbers = np.argsort(-gather(numbers)[1], kind="stable")
    elif order == "mixed":
        # The seed is fixed because every device must mean the same prefixes by the same numbers.
        numbers = np.random.default_rng(0).permutation(count)
    rows, work = gather(numbers)
    return Prefixes(rows, positions, len(columns), work)


@jit64
def _gather_prefixes(
    table: jax.Array, offsets: jax.Array, starts: jax.Array, pairs: jax.Array, order: jax.Array
) -> tuple[Any, Any]:
    """Gather rows of a table, and estimate the work of each.

    Args:
      table: the entries of all tables.
      offsets: where candidate lists begin and end.
      starts: int32 ``[columns]``, where the columns begin.
      pairs: int32 ``[P, 2]``, a column (-1 for none) and the place of its lists in the offsets.
      order: int32 ``[L]``, the rows to gather.

    Returns:
      The rows, int32 ``[columns, L]``; and in the host's memory one more than the length of each row's shortest list,
      int32 ``[L]``, so that a row without candidates has some work too.
    """
    rows = take(table, starts[:, None] + order[None])
    column, lists = pairs[:, :1], pairs[:, 1:]
    # Without a column there is a single list, at the place itself.
    at = lists + jnp.where(column < 0, 0, rows[jnp.maximum(pairs[:, 0], 0)])
    return rows, for_host((take(offsets, at + 1) - take(offsets, at)).min(axis=0) + 1)


class InParts(Driver):
    """The driver of a search in parts, to which prefixes are fed a few at a time.

    A dispatch ends, and asks for more, before the tables are too empty for full steps.

    Args:
      search: a search of one stage.
      prefixes: the prefixes of all parts.
      keep: the number of rows below which the search asks for more; at most a quarter of a window is used.
    """

    def __init__(self, search: ReadySearch, prefixes: Prefixes, keep: int):
        (stage,), level = search.stages, len(prefixes.positions)
        self._rows = jax.device_put(prefixes.rows, *search.operands.offsets.devices())
        self._part = Part(level, min(keep, stage.sizes.window // 4), prefixes.columns, 0, 0)
        self.most = min(stage.program.table(level).room, MOST_PART)
        """Most prefixes that can be fed at a time: a part is put into its table at once."""

    def feed(self, first: int, stop: int) -> None:
        """Go on with prefixes ``first`` to ``stop - 1``, once the last dispatch wanted more or was done."""
        self._part = self._part._replace(first=first, count=stop - first)

    def finish(self) -> None:
        """Tell the search that there are no more prefixes."""
        self._part = self._part._replace(keep=0)

    def options(self) -> dict[str, Any]:
        # A part is fed once; the next dispatches go on with what is in the tables.
        part, self._part = np.array(self._part, np.int32), self._part._replace(count=0)
        return {"rows": self._rows, "part": part}

    def end_reason(self, now: DeviceReport) -> str | None:
        if now.drained:
            return "done"
        return "wants more" if now.wants_more(self._part.level, self._part.keep) else None
