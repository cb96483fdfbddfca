"""A search in parts: the partial matches of its first nodes, given a few at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.kernels import lanes
from jaxmotif.kernels.choice import for_host, power_of_four
from jaxmotif.kernels.expand import take
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.matching.plan import MOST_PREFIX, Plan, table_entries
from jaxmotif.matching.run import Run, blank_state, table_after
from jaxmotif.search import Part, Progress, SearchState, advance, advance_part

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


def list_prefixes(plan: Plan, hardest_first: bool) -> Prefixes:
    """The partial matches of the fewest nodes of which there are :data:`ENOUGH`, or of as many nodes as there is room
    for, where the plan's arrays lie; the same on all devices, in the same order.

    Args:
      plan: of one stage.
      hardest_first: prefixes of much work first; else they are mixed, so that no stretch of them is a hard one.
    """
    operands, (stage,), listing = plan.ready, plan.stages, plan.prefixes()  # pyright: ignore[reportOptionalCall]
    program, (device,) = listing.program, operands.offsets.devices()
    if program.tables == 0:
        return Prefixes(np.zeros((MOST_PREFIX, 1), np.int32), np.arange(0), 0, np.ones(1, np.int64))
    operands = operands._replace(program=listing.code)
    with wide_ints(), jax.default_device(device):
        state = blank_state(operands, table_entries(program.entries), 2 * MOST_PREFIX, "xla")
        last, enough = np.int32(2**31 - 1), np.int32(ENOUGH)
        state, report = advance(operands, state, last, enough, sizes=listing.sizes, backend="xla")
    now = Progress.read(np.asarray(report))
    if now.drained:
        return Prefixes(np.zeros((MOST_PREFIX, 1), np.int32), np.arange(1), 0, np.zeros(0, np.int64))
    level, count = now.level, int(now.rows[0, now.level])
    base, room = table_after(program, level)
    columns, code, head = stage.program.columns[level], stage.program.code, lanes.level(level)
    positions = np.concatenate([columns, np.setdiff1d(np.arange(level), columns)]).astype(np.int64)
    starts = (base + room * np.resize(positions, MOST_PREFIX)).astype(np.int32)
    pairs = code[code[head + lanes.ANCHORS] :][: 3 * code[head + lanes.NUM_ANCHORS]].reshape(-1, 3)[:, :2]
    pairs = np.resize(pairs, (power_of_four(len(pairs), 1), 2))

    def gathered(order: np.ndarray) -> tuple[Any, np.ndarray]:
        places = np.zeros(power_of_four(count, ENOUGH), np.int32)
        places[:count] = order
        with jax.default_device(device):
            rows, work = _gathered(state.table, operands.offsets, starts, pairs, places)
        return rows, np.asarray(work)[:count].astype(np.int64)

    if hardest_first:
        order = np.argsort(-gathered(np.arange(count))[1], kind="stable")
    else:
        order = np.random.default_rng(0).permutation(count)
    rows, work = gathered(order)
    return Prefixes(rows, positions, len(columns), work)


@jax.jit
def _gathered(table: Any, offsets: Any, starts: Any, pairs: Any, order: Any) -> tuple[Any, Any]:
    """Some rows of a table whose columns start at given places, int32 ``[columns, L]``, and one more than the length
    of the shortest list of each, int32 ``[L]``, in the host's memory.

    Args:
      pairs: int32 ``[P, 2]``, a column (-1: no column) and the place of its lists in the offsets.
    """
    rows = take(table, starts[:, None] + order[None])
    column, lists = pairs[:, :1], pairs[:, 1:]
    at = lists + jnp.where(column < 0, 0, rows[jnp.maximum(pairs[:, 0], 0)])
    return rows, for_host((take(offsets, at + 1) - take(offsets, at)).min(axis=0) + 1)


class FedRun(Run):
    """A search in parts: a few prefixes are given at a time, and it asks for more before its tables are too empty for
    full steps. For plans of one stage.

    Args:
      prefixes: what all parts are of.
      keep: ask for more when fewer rows are left, or fewer than a quarter of a step's.
    """

    def __init__(self, plan: Plan, prefixes: Prefixes, keep: int):
        if len(plan.stages) > 1 or plan.ahead is not None:
            raise ValueError("a search in parts cannot start again: its plan must have one stage")
        super().__init__(plan)
        level, program = len(prefixes.positions), self._stage.program
        self._room = int(program.code[lanes.level(level) + lanes.ROOM])
        self._rows = jax.device_put(prefixes.rows, *self._operands.offsets.devices())
        keep = min(keep, self._stage.sizes.window // 4)
        self._part = Part(0, level, keep, prefixes.columns, 0, 0)

    @property
    def most(self) -> int:
        """Rows of a part."""
        return min(self._room, MOST_PART)

    def feed(self, first: int, stop: int) -> None:
        """Go on with prefixes first to stop - 1; the last :meth:`dispatch` wanted more, or was done."""
        self._part = self._part._replace(first=first, count=stop - first)

    def finish(self) -> None:
        """There is no more."""
        self._part = self._part._replace(keep=0)

    def _advanced(self, stop: int) -> tuple[SearchState, jax.Array]:
        part, self._part = self._part._replace(stop_step=stop), self._part._replace(count=0)
        return advance_part(
            self._operands, self._begun(), self._rows, np.array(part, np.int32), most=MOST_PART,
            sizes=self._stage.sizes, backend=self._size["backend"],
        )  # fmt: skip

    def _ended(self, now: Progress) -> str | None:
        if now.drained:
            return "done"
        return "wants more" if now.wants_more(self._part.level, self._part.keep) else None
