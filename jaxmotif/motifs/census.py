"""Every connected induced subgraph of a given size, counted by isomorphism class."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax
import numpy as np

from jaxmotif.devices.memory import check_budget, device_memory, with_smaller_steps
from jaxmotif.devices.progress import progress as meter
from jaxmotif.devices.select import Devices, select_devices
from jaxmotif.graph import Graph
from jaxmotif.kernels.choice import Backend, kernel_backend
from jaxmotif.motifs.classes import Classifier, class_names
from jaxmotif.motifs.dyads import Alphabet, degree_rank, graph_slots, to_dyads
from jaxmotif.motifs.enumerate import CPU_SIZES, GPU_SIZES, Sizes, count_classes, count_participation

SMALLEST, LARGEST = 2, 8

ENOUGH, UNKNOWN = 24 << 30, 16 << 30
"""Bytes that hold the largest tables; those of an accelerator that does not say."""

LEAST: dict[Backend, int] = {"xla": 128 << 20, "pallas-triton": 512 << 20}
"""Bytes that the smallest tables take, and what else is there beside them."""


@dataclasses.dataclass(frozen=True, eq=False)
class Census:
    """Counts of connected induced subgraphs by class.

    Attributes:
      size: nodes of a subgraph.
      directed: whether classes tell directions.
      classes: canonical strings, ascending: the lexicographically smallest row-major 0/1 adjacency over all node orders
        (with labels as :func:`jaxmotif.patterns.canonical_string` writes them).
      counts: int64 ``[classes]``, occurrences (node sets).
      per_node: int64 ``[n, classes]``, occurrences that each node lies in, or ``None`` when not asked for.
    """

    size: int
    directed: bool
    classes: tuple[str, ...]
    counts: np.ndarray
    per_node: np.ndarray | None = None

    @property
    def total(self) -> int:
        """All connected induced subgraphs of this size."""
        return int(self.counts.sum())

    @property
    def names(self) -> list[str]:
        """The name each class has in the field, ``""`` where it has none."""
        names = class_names(self.directed)
        return [names.get(c, "") for c in self.classes]

    def as_dict(self) -> Mapping[str, int]:
        """Counts by class."""
        return dict(zip(self.classes, self.counts.tolist(), strict=True))


def subgraph_census(
    graph: Graph,
    size: int,
    *,
    per_node: bool = False,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> Census:
    """Count every connected induced subgraph of ``size`` nodes by isomorphism class.

    Node and edge labels, where the graph has them, are part of a class.

    Args:
      graph: any simple graph.
      size: 2 to 8.
      per_node: also count the occurrences that each node lies in, in a second pass.
      devices: as everywhere; one is used.
      memory: bytes to work in.
      progress: show a meter.

    Returns:
      The classes that occur, with their counts.

    Raises:
      ValueError: a size out of range, too little memory, or labels too many to encode a subgraph in 63 bits.

    Reference:
      Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach, TKDE 2017, section 6.

    Example:
      >>> graph = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], directed=True)
      >>> census = subgraph_census(graph, 3)
      >>> dict(zip(census.names, census.counts.tolist()))
      {'021C': 2, '030T feed-forward loop': 1}
    """
    check_size(graph, size)
    device = select_devices(devices).main
    backend, slots = kernel_backend(device), graph_slots(graph)

    def attempt(memory: int | None) -> Census:
        sizes, matrix_bytes = plan(device, memory)
        dyads, classifier = to_dyads(graph, slots, matrix_bytes, device), Classifier(Alphabet.of(graph), size)
        nodes = None
        with jax.default_device(device):
            with meter(None, f"subgraphs of {size - 1}", "census", enabled=progress) as bar:
                counts = count_classes(dyads, size, classifier, backend, sizes, bar.advance).sum(axis=0)
            if per_node:
                nodes = count_participation(dyads, size, classifier, backend, sizes)[degree_rank(graph)]
        return _census(graph, size, classifier.classes, counts, nodes)

    def halve(memory: int | None) -> tuple[int, str] | None:
        less = less_memory(device, memory)
        return None if less is None else (less, f"tables of {less} bytes")

    return with_smaller_steps(attempt, memory, halve, device)[0]


def _census(graph: Graph, size: int, classes: list[str], counts: np.ndarray, nodes: np.ndarray | None = None) -> Census:
    found = [i for i in np.argsort(classes).tolist() if counts[i]]
    names = tuple(classes[i] for i in found)
    return Census(size, graph.directed, names, counts[found], None if nodes is None else nodes[:, found])


def check_size(graph: Graph, size: int, more_bits: int = 0) -> None:
    """Raises unless subgraphs of this size can be counted (``more_bits``: of a graph's number)."""
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(f"size must be between {SMALLEST} and {LARGEST}, got {size}")
    alphabet = Alphabet.of(graph)
    bits = alphabet.code_bits(size) + more_bits
    last = alphabet.label_bits + (size - 1) * alphabet.state_bits
    if bits > 63 or last > 31:
        raise ValueError(
            f"size {size} with {len(alphabet.node_labels or ())} node and {len(alphabet.edge_labels or ())} edge "
            f"labels takes {bits} bits a subgraph, {last} for its last node; the limits are 63 and 31: use fewer labels"
        )


def plan(device: jax.Device, memory: int | None) -> tuple[Sizes, int]:
    """Sizes of the search's tables, and bytes for the matrix of dyads."""
    backend = kernel_backend(device)
    check_budget(memory, LEAST[backend], f"the tables of a census on {device.platform}")
    if backend == "xla":
        return CPU_SIZES, memory // 4 if memory else 1 << 28
    matrix_bytes, memory = memory // 4 if memory else 1 << 31, memory or device_memory(device) or UNKNOWN
    if memory >= ENOUGH:
        return GPU_SIZES, matrix_bytes
    scale = (memory // 2**30).bit_length()
    codes = 1 << (20 + scale)
    table, candidates = 1 << (17 + scale), 1 << (19 + scale)
    distinct = min(codes, GPU_SIZES.distinct)
    return Sizes(1 << (15 + scale), table, candidates, codes, distinct, min(table, GPU_SIZES.least)), matrix_bytes


def less_memory(device: jax.Device, memory: int | None) -> int | None:
    """Half as much for the tables; ``None`` if that is too little, or there is nothing to choose."""
    if kernel_backend(device) == "xla":
        return None
    memory = min(memory or device_memory(device) or UNKNOWN, 2 * ENOUGH) // 2
    return memory if memory >= LEAST["pallas-triton"] else None
