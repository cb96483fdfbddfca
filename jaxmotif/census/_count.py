"""Every connected induced subgraph of a given size, counted by isomorphism class."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import numpy as np

from jaxmotif.arrays._ahead import rehearsed
from jaxmotif.arrays._present import Column, PerGraph, counted
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import count_classes, count_participation
from jaxmotif.census._job import divided_census
from jaxmotif.census._pair_states import Alphabet, CensusGraphs, census_graphs, degree_rank
from jaxmotif.census._sizes import in_less, plan
from jaxmotif.census._tables import OfClasses
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph, GraphLike, Graphs, as_graph
from jaxmotif.graph._coerce import for_many
from jaxmotif.patterns import class_columns

SMALLEST, LARGEST = 2, 8


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Census(OfClasses):
    """Counts of connected induced subgraphs by class.

    Attributes:
      size: nodes of a subgraph.
      directed: whether classes tell directions.
      classes: canonical strings, ascending: the lexicographically smallest row-major 0/1 adjacency over all node orders
        (with labels as :func:`jaxmotif.patterns.canonical_string` writes them).
      counts: int64 ``[classes]``, occurrences (node sets).
      per_node: int64 ``[n, classes]``, occurrences that each node lies in, or ``None`` when not asked for.
      label_words: the words that node labels and edge labels stand for, each ``None`` where they are numbers.
    """

    size: int
    directed: bool
    classes: tuple[str, ...]
    counts: np.ndarray
    per_node: np.ndarray | None = None
    label_words: tuple[Mapping[int, str] | None, Mapping[int, str] | None] = (None, None)

    @property
    def total(self) -> int:
        """All connected induced subgraphs of this size."""
        return int(self.counts.sum())

    def _line(self) -> str:
        return f"{counted(self.total, 'subgraph')} of {self.size} nodes in {counted(len(self.classes), 'class')}"

    def table(self) -> dict[str, Column]:
        return {**class_columns(self.classes, self.directed), "count": self.counts}

    def as_dict(self) -> Mapping[str, int]:
        """Counts by class."""
        return dict(zip(self.classes, self.counts.tolist(), strict=True))


@for_many(lambda graphs, *args, **options: census_of_many(graphs, *args, **options))
def subgraph_census(
    graph: GraphLike,
    size: int,
    *,
    per_node: bool = False,
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    progress: bool = False,
) -> Census:
    """Count every connected induced subgraph of ``size`` nodes by isomorphism class.

    Node and edge labels, where the graph has them, are part of a class.

    Args:
      graph: any simple graph, or what :func:`jaxmotif.graph.as_graph` takes for one. Or many graphs: what
        :func:`jaxmotif.graph.as_graphs` takes, with one result for each.
      size: 2 to 8; of two, nothing is kept.
      per_node: also count the occurrences that each node lies in, in a second pass.
      devices: where to run, see :data:`jaxmotif.devices.Devices`; they share the work, but for two nodes, and for many
        graphs, the first does it.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free).
      checkpoint: a folder in which finished work is kept: the same call made again, after whatever end, goes on
        there and gives the same bits.
      progress: show a meter on standard error.

    Returns:
      The classes that occur, with their counts. For many graphs a :class:`~jaxmotif.arrays._present.PerGraph`: a row of
      counts each, of the classes that occur in any.

    Raises:
      ValueError: a size out of range, too little memory, labels too many to encode a subgraph in 63 bits, or a
        checkpoint that is damaged or of other work, or for many graphs.

    Reference:
      Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach, TKDE 2017, section 6.

    Example:
      >>> graph = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], directed=True)
      >>> census = subgraph_census(graph, 3)
      >>> dict(zip(census.names, census.counts.tolist()))
      {'021C': 2, '030T feed-forward loop': 1}
    """
    graph = as_graph(graph)
    check_size(graph, size)
    selection = select_devices(devices)
    device = selection.main
    if size > SMALLEST and (selection.several or checkpoint is not None):
        found = divided_census(graph, size, per_node, selection, memory, checkpoint, progress)
        return _census(graph, size, found["classes"].tolist(), found["counts"], found["nodes"] if per_node else None)

    def attempt(memory: int | None) -> Census:
        sizes, matrix_bytes = plan(device, memory)

        def by_class() -> tuple[CensusGraphs, Classifier, np.ndarray]:
            graphs = census_graphs(graph, None, matrix_bytes, device)
            classifier = Classifier(graphs.alphabet, size)
            return graphs, classifier, count_classes(graphs, size, classifier, sizes, bar.advance).sum(axis=0)

        nodes, programs = None, ("census", device, size, sizes, bucket_size(graph.n), bucket_size(graph.m))
        with jax.default_device(device):
            with meter(None, f"subgraphs of {size - 1}", "census", enabled=progress) as bar:
                graphs, classifier, counts = rehearsed(by_class, device, programs)
            if per_node:
                # Back from the order of degrees to the graph's.
                nodes = count_participation(graphs, size, classifier, sizes)[degree_rank(graph)]
        return _census(graph, size, classifier.classes, counts, nodes)

    return with_smaller_steps(attempt, memory, partial(in_less, device), device)[0]


def census_of_many(graphs: Graphs, size: int, **options: Any) -> PerGraph[Census]:
    """:func:`subgraph_census` of every graph of a data set."""
    from jaxmotif.census._many import count_many  # which needs this module

    return count_many(graphs, size, **options)


def _census(graph: Graph, size: int, classes: list[str], counts: np.ndarray, nodes: np.ndarray | None = None) -> Census:
    # In the order of their strings, whatever order they were met in.
    found = [i for i in np.argsort(classes).tolist() if counts[i]]
    names = tuple(classes[i] for i in found)
    words = graph.node_label_names, graph.edge_label_names
    return Census(size, graph.directed, names, counts[found], None if nodes is None else nodes[:, found], words)


def check_size(graph: Graph | Graphs, size: int, more_bits: int = 0) -> None:
    """Raises unless subgraphs of this size can be counted (``more_bits``: of a graph's number)."""
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(f"size must be between {SMALLEST} and {LARGEST}, got {size}")
    alphabet = Alphabet.of(graph)
    bits = alphabet.code_bits(size) + more_bits
    last = alphabet.label_bits + (size - 1) * alphabet.state_bits
    # Codes have 63 bits, and a node's own are shifted in as one word.
    if bits > 63 or last > 31:
        raise ValueError(
            f"size {size} with {len(alphabet.node_labels or ())} node and {len(alphabet.edge_labels or ())} edge "
            f"labels takes {bits} bits a subgraph, {last} for its last node; the limits are 63 and 31: use fewer labels"
        )
