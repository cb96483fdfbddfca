"""Static sizes of a graphlet run: chosen from the padded graph size, the kind of device and the memory allowed."""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax

from jaxmotif.devices.memory import device_memory
from jaxmotif.kernels.choice import Backend, kernel_backend
from jaxmotif.kernels.cliques import most_row_words, words_bound

MIB = 2**20

Detail = Literal["graph", "edge", "node"]


class Tuning(NamedTuple):
    """Static sizes; graphs of one padded size share them, and so their compilations.

    Attributes:
      backend: which form of the kernels runs.
      block: flat positions a step, for triangles.
      heavy_block, light_block: the same for wedges of heavy and of light nodes.
      most_light: wedges beyond which a node is heavy.
      fill: a node is heavy too when its wedges fill one part in this of a dense row.
      rows: dense counter rows of heavy nodes held at once.
      slots: hash slots for light nodes.
      words: words of bit matrices held at once.
    """

    backend: Backend
    block: int
    heavy_block: int
    light_block: int
    most_light: int
    fill: int
    rows: int
    slots: int
    words: int


def choose_tuning(
    nodes: int,
    edges: int,
    device: jax.Device | None = None,
    memory: int | None = None,
    detail: Detail = "edge",
) -> Tuning:
    """Sizes for graphs of these capacities.

    Args:
      nodes, edges: capacities.
      device: where it will run (default: JAX's default device).
      memory: bytes the run may use beyond the graph (default: a quarter of the device's memory on an accelerator;
        1 GiB on a CPU, or twice the least where that is more).
      detail: what the results are for.

    Raises:
      ValueError: if the memory cannot hold the results and the smallest step.
    """
    device = device if device is not None else jax.devices()[0]
    backend = kernel_backend(device)
    fixed, least = fixed_bytes(nodes, edges, detail), smallest_step_bytes(nodes, edges)
    if memory is None:
        limit = device_memory(device)
        memory = limit // 4 if limit else max(1024 * MIB, 2 * (fixed + least))
    free = memory - fixed
    if free < least:
        raise ValueError(
            f"memory={memory} bytes is too little for {nodes} nodes and {edges} edges (padded): results and tables "
            f"take {fixed}, the smallest step {least}; allow at least {fixed + least}"
        )
    if device.platform == "cpu":  # small enough to stay in cache
        block = _power(min(2**16 if edges > 2**21 else 2**14, max(2**10, 4 * edges)))
        heavy_block = light_block = block
        table, slots, fill, most_words = 2**20, 8 * block, 8, 2**22
    else:  # large enough to fill the device, no larger than a small graph needs
        most = min(2**24, free // 512)
        block = heavy_block = _power(min(max(2**16, 16 * edges), most))
        light_block = _power(min(max(2**16, 4 * edges), most, 2**22))
        table, slots, fill, most_words = min(2**28, free // 16), 4 * light_block, 64, 2**26
    rows = max(1, min(nodes, table // nodes))
    words = min(words_bound(edges), max(2 * most_row_words(edges), min(most_words, free // 16)))
    return Tuning(backend, block, heavy_block, light_block, light_block // 4, fill, rows, slots, words)


def fixed_bytes(nodes: int, edges: int, detail: Detail = "edge") -> int:
    """What a run takes whatever its step: order and plan (int32 and int64), accumulators, results."""
    return (240 if detail == "graph" else 400) * edges + 100 * nodes


def smallest_step_bytes(nodes: int, edges: int) -> int:
    return 512 * 2**14 + 4 * nodes + 8 * most_row_words(edges)


def _power(size: int) -> int:
    return 1 << (int(size).bit_length() - 1)
