"""Sizes of the steps and the tables of a search, on each kind of device.

A step takes ``block`` flat positions from a ``window`` of rows, and tests each in some bytes of work space. Table t
holds rows of ``width`` columns, the nodes that later placements read. It has *room* for half as many rows again as a
step can add, so that it can be worked on while it is filled:

    room = 3/2 step,  step <= block,  sum over tables of room x width <= entries that the memory allows.

All tables get about as many entries (:func:`fit_tables`). So narrow tables, where most of the work is, have full steps
first, and wide ones have smaller steps.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._compile import Target, target_of
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.devices._memory import check_budget, default_memory
from jaxmotif.devices._select import on_worker

MOST_ENTRIES = 2**31 - 2
"""Most entries of all tables: their places are int32, and there is one spare entry."""

LEAST_ENTRIES = 2**16
"""Fewest entries of all tables; from there they grow in powers of four, so that searches share compilations."""

LEAST_STEP = 2**6
"""Flat positions of the smallest step."""

LANES = 1024
"""Flat positions, or rows of a window, that one program of a fused kernel takes: a tile.

Steps and windows of more than one tile take whole tiles.
"""


class StepSizes(NamedTuple):
    """The steps of searches on one kind of device.

    Attributes:
      counting: flat positions of a step of a count. They fill the device; more would waste memory and delay limits.
      listing: flat positions of a step of a listing, which keeps whole matches: fewer on accelerators.
      first: flat positions of the first steps of a count, so that small searches are not slowed by large steps.
      first_steps: how many such steps there are, besides two for each table.
      restarts: whether the first steps have small tables of their own, which stay in a CPU's caches. A search that
        outgrows them then starts again; otherwise it goes on with larger steps.
      step_bytes: work space of a step for each of its positions (XLA says 33 on a CPU; the fused kernel needs space
        only for the window and the tiles).
      table_bytes: most memory for tables by default: a CPU gains nothing from tables beyond its caches.
      at_once: steps after which the loop asks whether to go on; on a GPU this takes longer than a step with nothing to
        do.
      rows: how many positions there are for each row of a window.
      many_rows: the same where rows have :data:`MANY` candidates or more.
      first_work: the work (:class:`jaxmotif.search._loop.Allowance`) of a first slice, whose pace is not known yet. The
        slowest searches take some tenths of a second for it.
    """

    counting: int
    listing: int
    first: int
    first_steps: int
    restarts: bool
    step_bytes: int
    table_bytes: int
    at_once: int
    rows: int
    many_rows: int
    first_work: int


MANY = 24
"""Number of candidates of a row from which on windows have fewer rows on an accelerator."""

CPU = StepSizes(2**14, 2**14, 2**10, 256, True, 40, 2**29, 1, 2, 2, 2**23)
FUSED = StepSizes(2**25, 2**22, 2**20, 48, False, 16, 2**35, 4, 8, 32, 2**31 - 1)
# Without the fused kernel all arrays of a step go through memory, and an eighth of the positions fills the device.
ACCELERATOR = StepSizes(2**22, 2**22, 2**20, 48, False, 40, 2**35, 4, 8, 32, 2**31 - 1)


def step_sizes(target: Target) -> StepSizes:
    """Return the sizes of steps on a kind of device."""
    return FUSED if target.fused else ACCELERATOR if target.is_accelerator else CPU


def window_rows(block: int, candidates: float, target: Target) -> int:
    """Return how many rows are looked at for a step, where a row is likely to have at least ``candidates``."""
    sizes = step_sizes(target)
    positions = sizes.many_rows if candidates >= MANY else sizes.rows
    # A tile of rows is the least where a step has as many positions.
    return whole_tiles(block // positions, min(block, LANES))


def whole_tiles(number: int, least: int) -> int:
    """Return a number of positions or rows, rounded down to whole tiles, or ``least``, at most a tile, for fewer."""
    return max(number // LANES * LANES, least)


_host_memory = functools.cache(default_memory)
"""Default memory of a CPU, which is read once: reading it takes as long as planning a small search."""


def table_memory(memory: int | None, device: jax.Device) -> int:
    """Return the bytes that tables may take: the user's, or the default of the device."""
    if memory is not None:
        return memory
    # On a worker of a cluster the memory is given with the call, so that no value of this process is kept.
    is_read = device.platform == "cpu" and on_worker.get() is None
    free = _host_memory(device) if is_read else default_memory(device)
    return min(free, step_sizes(target_of(device)).table_bytes)


def table_entries(entries: int) -> int:
    """Return the size of the tables' array: one of a few, so that searches share compilations."""
    return min(power_of_four(entries, LEAST_ENTRIES), MOST_ENTRIES)


def fit_tables(
    block: int, usual: int, widths: np.ndarray, memory: int | None, device: jax.Device, held: int, making: int
) -> tuple[int, np.ndarray]:
    """Choose how many flat positions a step takes, and how many rows each table but the first has room for.

    Args:
      block: most positions of a step; those of more than a tile are rounded down to whole tiles.
      usual: the positions of a step by default; where ``block`` is smaller, tables are smaller in proportion.
      widths: int64 ``[T]``, columns of each table but the first.
      memory: bytes for tables, work space and the other arrays together; ``None`` for the default, which is for tables
        alone.
      device: the device of the search.
      held: bytes of the other arrays.
      making: bytes that it takes to make the other arrays.

    Returns:
      The positions, and the rows.

    Raises:
      ValueError: when the memory is too little for the smallest step.
    """
    sizes = step_sizes(target_of(device))
    budget, work = table_memory(memory, device), sizes.step_bytes
    least = min(block, LEAST_STEP)
    # Every table has room for three halves of the smallest step, in a size that would be allocated.
    smallest = 4 * table_entries(int((least + least // 2) * widths.sum())) + held + work * least
    check_budget(memory, max(smallest, making), f"tables of {widths.sum()} columns and what they are made from")
    if memory is None:
        # The default is for tables alone, while the user's memory is for everything.
        held = work = 0
    asked = min(block, usual)
    while True:
        block = whole_tiles(block, min(block, LANES))
        # Work space grows with the step, and the tables get the rest.
        words = _most_entries((budget - held - work * block) // 4)
        most = words * asked // usual
        steps = _steps_of_tables(block, widths, least, most)
        rooms = steps + steps // 2
        # The smallest step is taken in any case: that the user's memory has room for it was checked above.
        if (rooms * widths).sum() <= words or block == least:
            return int(steps.max()) if len(steps) else block, rooms
        block = max(block // 2, least)


def _steps_of_tables(block: int, widths: np.ndarray, least: int, most: int) -> np.ndarray:
    """Choose the flat positions of a step for each table, powers of two, so that all tables fit in ``most`` entries.

    The tables get equal shares of entries. The first try is the share of a full step into the widest table, and it is
    halved until all fit.
    """
    entries = (block + block // 2) * int(widths.max(initial=1))
    while True:
        # The step is twice the largest power of two up to entries / 3 w, so that 3/2 step w is at most the share.
        steps = 2 ** np.log2(np.maximum(entries // np.maximum(3 * widths, 3), 1)).astype(np.int64) * 2
        steps = np.clip(steps, least, block)
        if ((steps + steps // 2) * widths).sum() <= most or steps.max(initial=0) <= least:
            return steps
        entries //= 2


def _most_entries(room: int) -> int:
    """Return the largest size of :func:`table_entries` that is at most ``room``, or 0 if there is none."""
    # Sizes are powers of four, as LEAST_ENTRIES is one.
    size = MOST_ENTRIES if room >= MOST_ENTRIES else 4 ** ((max(room, 1).bit_length() - 1) // 2)
    return size if size >= LEAST_ENTRIES else 0
