"""How much a census holds at once: chosen here alone, from what a device is and what memory it may use."""

from __future__ import annotations

import dataclasses

import jax

from jaxmotif.arrays._compile import Target, target_of
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.devices._memory import default_memory, working_memory

ENOUGH = 24 << 30
"""Bytes that hold the largest tables."""


MATRIX_BYTES = 1 << 28, 1 << 31
"""Bytes of the matrix of dyads where the user says nothing, on a CPU and on an accelerator."""


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Memory of a search.

    Attributes:
      block: positions tried at once; table: rows a level holds; candidates: of the last table, looked at together.
      codes: codes grouped at once; distinct: different ones looked at together when a device does it, 0 for the host.
      least: no smaller where less would do, so that few sizes are compiled.
    """

    block: int
    table: int
    candidates: int
    codes: int
    distinct: int
    least: int

    @property
    def sorts_on_host(self) -> bool:
        """NumPy's sort takes a quarter of what XLA's takes on a CPU."""
        return not self.distinct

    def fit(self, need: int, most: int) -> int:
        """A size of at most ``most`` for so many, or for a part of them."""
        return min(most, power_of_four(need, self.least))

    def settled(self, rows: int, candidates: int) -> Sizes:
        """One size of each kind, whatever is found, for a search whose last table will have about so many rows, and
        these so many candidates: an accelerator takes longer to compile for several sizes than to pass over empty rows,
        and programs that follow from the graph alone are compiled while the search is begun. A CPU's sizes stay."""
        if self.sorts_on_host:
            return self
        # A guess falls short more often than not: tables that are too small are filled again.
        table = self.fit(3 * rows, self.table)
        candidates = self.fit(candidates, self.candidates)
        codes = min(self.codes, 4 * candidates)
        # A table takes whole blocks alone.
        block = min(self.block, table // 2)
        # None below the least, none above the most: each is the most.
        return dataclasses.replace(self, block=block, table=table, candidates=candidates, codes=codes, least=codes)


CPU_SIZES = Sizes(1 << 14, 1 << 17, 1 << 17, 1 << 20, 0, 1 << 15)
ACCELERATOR_SIZES = Sizes(1 << 22, 1 << 23, 1 << 25, 1 << 27, 1 << 22, 1 << 17)


def least_memory(target: Target) -> int:
    """Bytes that the smallest tables take, and what else is there beside them."""
    return 512 << 20 if target.is_accelerator else 128 << 20


def plan(device: jax.Device, memory: int | None) -> tuple[Sizes, int]:
    """Sizes of the search's tables, and bytes for the matrix of dyads."""
    target = target_of(device)
    allowed = working_memory(memory, device, least_memory(target), f"the tables of a census on {device.platform}")
    most = ACCELERATOR_SIZES if target.is_accelerator else CPU_SIZES
    # A quarter of what there is; where nobody said how much, no more than the default.
    matrix_bytes = allowed // 4 if memory else min(allowed // 4, MATRIX_BYTES[target.is_accelerator])
    if not target.is_accelerator or allowed >= ENOUGH:
        return most, matrix_bytes
    # All sizes grow with the memory, in powers of two of its GiB.
    scale = (allowed // 2**30).bit_length()
    codes, table = 1 << (20 + scale), 1 << (17 + scale)
    distinct, least = min(codes, most.distinct), min(table, most.least)
    return Sizes(1 << (15 + scale), table, 1 << (19 + scale), codes, distinct, least), matrix_bytes


def less_memory(device: jax.Device, memory: int | None) -> int | None:
    """Half as much for the tables; ``None`` if that is too little, or there is nothing to choose."""
    target = target_of(device)
    if not target.is_accelerator:
        return None
    memory = min(memory or default_memory(device), 2 * ENOUGH) // 2
    return memory if memory >= least_memory(target) else None


def in_less(device: jax.Device, memory: int | None) -> tuple[int, str] | None:
    """The same, and what that is in words."""
    less = less_memory(device, memory)
    return None if less is None else (less, f"tables of {less} bytes")
