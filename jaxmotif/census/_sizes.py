"""Sizes of a census's tables, chosen from the kind of the device and the memory it may use."""

from __future__ import annotations

import dataclasses

import jax

from jaxmotif.arrays._compile import Target, target_of
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.devices._memory import default_memory, working_memory

ENOUGH = 24 << 30
"""Bytes that hold the largest tables."""

MATRIX_BYTES = 1 << 28, 1 << 31
"""Most bytes of the matrix of dyads where the user sets no limit, on a CPU and on an accelerator."""


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Sizes of the tables of a search.

    Attributes:
      block: positions tried at once.
      table: rows that a level holds.
      candidates: candidates of the last table that are looked at together.
      codes: codes grouped at once.
      distinct: different codes that a device looks at together; 0 where the host groups the codes.
      least: the smallest size where less would do, so that few sizes are compiled.
    """

    block: int
    table: int
    candidates: int
    codes: int
    distinct: int
    least: int

    @property
    def sorts_on_host(self) -> bool:
        """True on a CPU, where NumPy sorts in a quarter of the time of XLA."""
        return not self.distinct

    def fit(self, need: int, most: int) -> int:
        """Return the size for ``need`` entries, or ``most`` where they do not fit."""
        return min(most, power_of_four(need, self.least))

    def settled(self, rows: int, candidates: int) -> Sizes:
        """Return one size of each kind, for a whole search.

        An accelerator takes longer to compile for several sizes than to pass over empty rows. Programs that follow
        from the graph alone are also compiled while the search begins. The sizes of a CPU stay as they are.

        Args:
          rows: about how many rows the last table will have.
          candidates: about how many candidates these rows will have.
        """
        if self.sorts_on_host:
            return self
        # The estimate is low more often than not. A table that is too small is filled several times.
        table = self.fit(3 * rows, self.table)
        candidates = self.fit(candidates, self.candidates)
        codes = min(self.codes, 4 * candidates)
        # A table takes only whole blocks.
        block = min(self.block, table // 2)
        # The least size equals the largest one, so that no other size is ever taken.
        return dataclasses.replace(self, block=block, table=table, candidates=candidates, codes=codes, least=codes)


CPU_SIZES = Sizes(1 << 14, 1 << 17, 1 << 17, 1 << 20, 0, 1 << 15)
ACCELERATOR_SIZES = Sizes(1 << 22, 1 << 23, 1 << 25, 1 << 27, 1 << 22, 1 << 20)


def least_memory(target: Target) -> int:
    """Return the bytes that the smallest tables take together with the arrays beside them."""
    return 512 << 20 if target.is_accelerator else 128 << 20


def plan(device: jax.Device, memory: int | None) -> tuple[Sizes, int]:
    """Return the sizes of the search's tables, and the bytes for the matrix of dyads."""
    target = target_of(device)
    allowed = working_memory(memory, device, least_memory(target), f"the tables of a census on {device.platform}")
    most = ACCELERATOR_SIZES if target.is_accelerator else CPU_SIZES
    # The matrix takes a quarter of the memory, and where the user sets no limit no more than the default.
    matrix_bytes = allowed // 4 if memory else min(allowed // 4, MATRIX_BYTES[target.is_accelerator])
    if not target.is_accelerator or allowed >= ENOUGH:
        return most, matrix_bytes
    # All sizes grow with the memory, in powers of two of its GiB.
    scale = (allowed // 2**30).bit_length()
    codes, table = 1 << (20 + scale), 1 << (17 + scale)
    distinct, least = min(codes, most.distinct), min(table, most.least)
    return Sizes(1 << (15 + scale), table, 1 << (19 + scale), codes, distinct, least), matrix_bytes


def halve_memory(device: jax.Device, memory: int | None) -> tuple[int, str] | None:
    """Return half the memory for the tables, and what that is in words for the user.

    It is ``None`` where half is too little, and on a CPU, whose sizes are fixed.
    """
    target = target_of(device)
    if not target.is_accelerator:
        return None
    memory = min(memory or default_memory(device), 2 * ENOUGH) // 2
    return (memory, f"tables of {memory} bytes") if memory >= least_memory(target) else None
