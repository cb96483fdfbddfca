"""How large the steps and the tables of a search are, on each kind of device: one place for all such figures.

A step takes ``block`` flat positions, each of which it tests in some bytes of work space, out of a ``window`` of rows.
Table t holds rows of ``width`` columns (the nodes that later placements read), and has *room* for half as many rows
again as a step can add, so that it can be worked on while it is filled:

    room = 3/2 step,  step <= block,  sum over tables of room x width <= entries that the memory allows.

Narrow tables, where most of the work is, come to full steps first: all tables get about equal entries, and the wide
ones smaller steps (:func:`fit_tables`).
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._compile import Target, target_of
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.devices._memory import check_budget, default_memory

MOST_ENTRIES = 2**31 - 2
"""Entries of all tables: their places are int32, and one more is spare."""

LEAST_ENTRIES = 2**16
"""Entries are taken in powers of four from here, so that searches share compilations."""

LEAST_STEP = 2**6
"""Flat positions of the smallest step that is of any use."""


class StepSizes(NamedTuple):
    """The steps of searches on one kind of device.

    Attributes:
      counting, listing: flat positions of a step. Enough to fill the device; more is memory for nothing, and late
        limits. Listing keeps whole matches, so its steps are smaller on accelerators.
      first, first_steps: a count begins with steps of so many positions, for so many steps (and two for each table), so
        that small searches are not slowed by large ones.
      restarts: whether the first steps have small tables of their own, which stay in a CPU's caches, and a search that
        outgrows them starts again; else it goes on with larger steps.
      step_bytes: work space of a step for each of its positions (XLA says 33 on a CPU; the fused kernel has none but
        the window and the tiles).
      table_bytes: most memory for tables by default: a CPU gains nothing from tables beyond its caches.
      at_once: steps until the loop asks whether to go on: on a GPU that takes longer than steps with nothing to do.
      rows: a window has one row for so many positions; ``many_rows`` where rows have :data:`MANY` candidates or more.
      first_work: work (:class:`jaxmotif.search._loop.Allowance`) of a first slice, whose pace is not known yet: some
        tenths of a second of the slowest.
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
"""Candidates of a row at which windows of an accelerator have fewer rows."""

CPU = StepSizes(2**14, 2**14, 2**10, 256, True, 40, 2**29, 1, 2, 2, 2**23)
FUSED = StepSizes(2**25, 2**22, 2**20, 48, False, 16, 2**35, 4, 8, 32, 2**31 - 1)
# Without the fused kernel a step's arrays all go through memory: an eighth of the positions fills the device, too.
ACCELERATOR = StepSizes(2**22, 2**22, 2**20, 48, False, 40, 2**35, 4, 8, 32, 2**31 - 1)


def step_sizes(target: Target) -> StepSizes:
    """The steps for what a search is compiled for."""
    return FUSED if target.fused else ACCELERATOR if target.is_accelerator else CPU


def window_rows(block: int, candidates: float, target: Target) -> int:
    """Rows looked at for a step, given how many candidates a row is likely to have at least."""
    sizes = step_sizes(target)
    few = sizes.many_rows if candidates >= MANY else sizes.rows
    # No fewer than a tile of the fused kernel takes, 1024, where a step has as many positions.
    return max(block // few, min(block, 1024))


def table_memory(memory: int | None, device: jax.Device) -> int:
    """Bytes that tables may take: as given, or by the device."""
    if memory is not None:
        return memory
    free = _host_memory(device) if device.platform == "cpu" else default_memory(device)
    return min(free, step_sizes(target_of(device)).table_bytes)


@functools.cache
def _host_memory(device: jax.Device) -> int:
    """QueryConstraints once: to read what the operating system says takes as long as to plan a small search."""
    return default_memory(device)


def table_entries(entries: int) -> int:
    """The size of the tables' array: one of few, so that searches share compilations."""
    return min(power_of_four(entries, LEAST_ENTRIES), MOST_ENTRIES)


def fit_tables(
    block: int, usual: int, widths: np.ndarray, memory: int | None, device: jax.Device, held: int, making: int
) -> tuple[int, np.ndarray]:
    """Flat positions a step, at most a given number, and rows that each table but the first has room for.

    Args:
      block: positions wanted. usual: those of a step by default; whoever wants fewer gets smaller tables, too.
      widths: int64 ``[T]``, columns of each table but the first.
      memory: bytes for tables, work space and the other arrays together; ``None``: the default, for tables alone.
      held: bytes of the other arrays. making: bytes it takes to make them.

    Raises:
      ValueError: when the memory is too little for the smallest step.
    """
    sizes = step_sizes(target_of(device))
    budget, work = table_memory(memory, device), sizes.step_bytes
    least = min(block, LEAST_STEP)
    # Three halves of the smallest step in every table, in the size that would be allocated.
    smallest = 4 * table_entries(int((least + least // 2) * widths.sum())) + held + work * least
    check_budget(memory, max(smallest, making), f"tables of {widths.sum()} columns and what they are made from")
    if memory is None:
        # The default is for tables alone; memory that was given is for everything.
        held = work = 0
    asked = min(block, usual)
    while True:
        # Work space grows with the step: what it leaves is for tables.
        words = _most_entries((budget - held - work * block) // 4)
        # Whoever asks for smaller steps than usual gets smaller tables in proportion.
        most = words * asked // usual
        steps = _steps_of_tables(block, widths, least, most)
        rooms = steps + steps // 2
        # The smallest step is taken in any case: whether memory that was given has room for it was checked above.
        if (rooms * widths).sum() <= words or block == least:
            return int(steps.max()) if len(steps) else block, rooms
        block = max(block // 2, least)


def _steps_of_tables(block: int, widths: np.ndarray, least: int, most: int) -> np.ndarray:
    """Flat positions that a step may take for each table, powers of two, so that all together have at most so many
    entries: of equal shares, begun with that of a full step into the widest and halved until they fit."""
    entries = (block + block // 2) * int(widths.max(initial=1))
    while True:
        # Twice the largest power of two up to entries / 3 w: then 3/2 step w is at most the share.
        steps = 2 ** np.log2(np.maximum(entries // np.maximum(3 * widths, 3), 1)).astype(np.int64) * 2
        steps = np.clip(steps, least, block)
        if ((steps + steps // 2) * widths).sum() <= most or steps.max(initial=0) <= least:
            return steps
        entries //= 2


def _most_entries(room: int) -> int:
    """The largest size of :func:`table_entries` that fits in so many entries; 0 if none does."""
    # Sizes are LEAST_ENTRIES times powers of four, and that is one itself.
    size = MOST_ENTRIES if room >= MOST_ENTRIES else 4 ** ((max(room, 1).bit_length() - 1) // 2)
    return size if size >= LEAST_ENTRIES else 0
