"""Sizes and limits of a run of five-node graphlets, by the kind of device: passed in, so that tests can choose them."""

from __future__ import annotations

from typing import NamedTuple

import jax

from jaxmotif.arrays._compile import target_of


class FiveTuning(NamedTuple):
    """Sizes and limits of a run.

    Attributes:
      giant: core neighbours beyond which the neighbourhood of a node is not made a matrix
        (:mod:`jaxmotif.graphlets.five.giants`).
      cells: cells of matrices of neighbourhoods at a time, and the fewest that a small budget makes of them.
      long_run: cells of all neighbourhoods beyond which a run is cut into units, to show progress and to hear Ctrl-C:
        some seconds.
      edges_together: edges whose orbits are solved at a time; each takes some kilobytes.
      least_cells: the fewest cells of matrices at a time.
      unit_steps: about how many steps of a loop on a CPU, of a nanosecond or a few, make a unit.
      units: about how many units a run is cut into that is kept in a checkpoint or shared out.
      one_limb: counts at a node or edge below this are exact in one number of 64 bits.
      largest: counts that may reach this are refused.
      loops: whether a CPU may use numba's loops.
      bit_rows: whether bits of all pairs may tell who is adjacent.
    """

    giant: int
    cells: int
    long_run: int
    edges_together: int
    least_cells: int = 2**14
    unit_steps: int = 2**28
    units: int = 32
    one_limb: float = 2.0**60
    largest: float = 2.0**90
    loops: bool = True
    bit_rows: bool = True


CPU = FiveTuning(giant=1536, cells=2**18, long_run=2**31, edges_together=2**14)
ACCELERATOR = FiveTuning(giant=4096, cells=2**22, long_run=2**35, edges_together=2**16)


def tuning_for(device: jax.Device) -> FiveTuning:
    """Return the sizes and limits for a device."""
    return ACCELERATOR if target_of(device).is_accelerator else CPU
