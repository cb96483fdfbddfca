"""Static sizes of graphlet runs: chosen from the padded graph size, the kind of device and the memory allowed.

The sizes for five nodes (:class:`FiveTuning`) are an argument of the functions that use them, so that tests can choose
them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax

from jaxmotif.arrays._compile import default_device, target_of
from jaxmotif.devices._memory import working_memory
from jaxmotif.kernels._cliques import most_row_words, words_bound

Detail = Literal["graph", "edge", "node"]


class Tuning(NamedTuple):
    """Static sizes; graphs of one padded size share them, and so their compilations.

    Attributes:
      block: flat positions of a step, for triangles.
      heavy_block: flat positions of a step, for wedges of heavy nodes.
      light_block: flat positions of a step, for wedges of light nodes.
      most_light: the number of wedges beyond which a node is heavy.
      fill: a node is also heavy if it has at least one wedge for every ``fill`` counters of a dense row.
      counters: counters of the dense rows of heavy nodes held at once, at least one row.
      slots: hash slots for light nodes.
      words: words of bit matrices held at once.
    """

    block: int
    heavy_block: int
    light_block: int
    most_light: int
    fill: int
    counters: int
    slots: int
    words: int


def choose_tuning(
    nodes: int,
    edges: int,
    device: jax.Device | None = None,
    memory: int | None = None,
    detail: Detail = "edge",
) -> Tuning:
    """Choose the sizes of a run for graphs of given capacities.

    Args:
      nodes: the node capacity.
      edges: the edge capacity.
      device: where it will run (default: JAX's default device).
      memory: bytes the run may use beyond the graph (default: half of what is free on the device, or the least that a
        run takes if that is more).
      detail: whether counts in the graph, at edges or at nodes are wanted.

    Raises:
      ValueError: if the memory cannot hold the results and the smallest step.
    """
    device = device if device is not None else default_device()
    fixed, least = fixed_bytes(nodes, edges, detail), smallest_step_bytes(nodes, edges)
    what = f"{nodes} nodes and {edges} edges (padded), whose results and tables take {fixed}"
    # Memory that every run takes is taken off first; the steps share the rest.
    free = working_memory(memory, device, fixed + least, what) - fixed
    if not target_of(device).is_accelerator:  # so small that steps stay in cache
        block = _power(min(2**16 if edges > 2**21 else 2**14, max(2**10, 4 * edges)))
        heavy_block = light_block = block
        table, slots, fill, most_words = 2**20, 8 * block, 8, 2**22
    else:  # so large that steps fill the device, but no larger than a graph of this class needs
        # A position takes at most 512 bytes of arrays, so all of them take 1 GiB for the smallest class.
        most = min(2**21 if edges <= 2**19 else 2**24, free // 512)
        block = heavy_block = _power(min(max(2**16, 16 * edges), most))
        light_block = _power(min(max(2**16, 4 * edges), most, 2**22))
        most_cells = 2**25 if edges <= 2**19 else 2**28  # All are cleared first, however few a graph uses.
        table, slots, fill, most_words = min(most_cells, free // 16), 4 * light_block, 64, 2**26
    counters = max(nodes, min(nodes**2, table))
    # This is at least twice what the largest node takes, and never more than the whole graph would.
    words = min(words_bound(edges), max(2 * most_row_words(edges), min(most_words, free // 16)))
    return Tuning(block, heavy_block, light_block, light_block // 4, fill, counters, slots, words)


def fixed_bytes(nodes: int, edges: int, detail: Detail = "edge") -> int:
    """Return the bytes that a run takes whatever the size of its steps, as XLA reports them.

    They hold the order and the plan (64 to 68 bytes an edge), accumulators, and results (136 bytes an edge).
    """
    return {"graph": 168, "edge": 432, "node": 408}[detail] * edges + 100 * nodes


def smallest_step_bytes(nodes: int, edges: int) -> int:
    return 512 * 2**14 + 4 * nodes + 8 * most_row_words(edges)


def _power(size: int) -> int:
    return 1 << (int(size).bit_length() - 1)


class FiveTuning(NamedTuple):
    """Sizes and limits of a run that counts graphlets of five nodes.

    Attributes:
      giant: the number of core neighbours beyond which no matrix is made of a node's neighbourhood
        (:mod:`jaxmotif.graphlets.five.giants`).
      cells: cells of neighbourhood matrices that are held at a time; a small budget lowers this number.
      long_run: cells of all neighbourhoods beyond which a run is cut into units, to show progress and to hear Ctrl-C:
        some seconds of work.
      edges_together: edges whose orbits are solved at a time; each takes some kilobytes.
      least_cells: the least number to which ``cells`` is lowered, by a small budget or when memory runs out.
      unit_steps: about how many steps of a loop on a CPU make a unit; a step takes a few nanoseconds.
      units: about how many units a run is cut into if it has a checkpoint or several devices.
      one_limb: counts at a node or edge below this are exact in one number of 64 bits.
      largest: a graph whose counts may reach this is refused.
      loops: whether a CPU may use numba's loops.
      bit_rows: whether adjacency may be stored as one bit for each pair of nodes.
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
