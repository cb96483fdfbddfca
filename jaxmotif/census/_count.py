"""The census of a graph, or of the graphs of a data set: connected induced subgraphs of one size by isomorphism class.

Small graphs of a data set are counted together, very large ones one by one.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator

import jax
import numpy as np

from jaxmotif.arrays._checks import check_switch
from jaxmotif.arrays._present import PerGraph
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import Part, count_classes, count_participation
from jaxmotif.census._job import Work, count_all, empty_counts
from jaxmotif.census._pair_states import CPU_SAMPLE, Alphabet, CensusGraphs, check_size, degree_rank, mixed_graphs
from jaxmotif.census._sizes import Sizes, plan
from jaxmotif.census._tables import Census
from jaxmotif.certificates import CertificateFile, certify_census
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._record import Arrays
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import GraphLike, Graphs, as_graph
from jaxmotif.graph._coerce import for_many, load_graph
from jaxmotif.graph._saved import check_writable

MOST_NODES = 1024
"""The most nodes of a graph that is counted together with others."""


def count_many(
    graphs: Graphs,
    size: int,
    *,
    per_node: bool = False,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> PerGraph[Census]:
    """Count the subgraphs of many graphs, as :func:`jaxmotif.subgraph_census` does.

    Args:
      graphs: the graphs.
      size: nodes of a subgraph, 2 to 8.
      per_node: also count the occurrences that each node lies in.
      devices: where to run; only graphs that are counted alone are divided among several devices.
      memory: bytes to work in beyond the graph, on each device.
      progress: show a meter on standard error.
    """
    check_switch(per_node, "per_node")
    size = check_size(graphs, size)
    device = select_devices(devices).main
    together = np.flatnonzero((graphs.n <= MOST_NODES) & (graphs.slots <= CPU_SAMPLE.slots // 2))
    classifier = Classifier(Alphabet.of(graphs), size)
    singles: dict[int, Census] = {}
    of_nodes: dict[int, np.ndarray] = {}
    rows: list[tuple[np.ndarray, np.ndarray]] = []
    with meter(len(graphs), "graphs", "census", enabled=progress) as bar:
        for part, n, count in _parts(graphs, together, size):
            sizes, matrix_bytes = plan(device, memory)
            mixed, place = mixed_graphs(graphs, part, n, count, classifier.alphabet, matrix_bytes, device)
            with jax.default_device(device):
                rows.append((part, count_classes(mixed, size, classifier, sizes)[: part.size]))
                if per_node:
                    by_node = count_participation(mixed, size, classifier, sizes)[place]
                    by_graph = np.split(by_node, np.cumsum(graphs.n[part])[:-1])
                    of_nodes |= dict(zip(part.tolist(), by_graph, strict=True))
            bar.advance(part.size)
        for i in sorted(set(range(len(graphs))) - set(together.tolist())):
            singles[i] = subgraph_census(graphs[i], size, per_node=per_node, devices=devices, memory=memory)
            bar.advance()
    return _result(graphs, size, classifier.classes, rows, of_nodes, singles)


def _parts(graphs: Graphs, which: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, int, int]]:
    """Yield groups of graphs of similar size, each with the room for nodes in a graph and the room for graphs."""
    n = graphs.n[which]
    # Graphs with the same room are counted together, so that few programs are compiled.
    room = np.array([power_of_four(int(x), 16) for x in range(int(n.max(initial=0)) + 1)], np.int64)[n]
    most = 63 - Alphabet.of(graphs).codes.bits(size)  # bits that are left for the number of a graph
    for nodes in np.unique(room).tolist():
        some = which[room == nodes]
        # The tables limit how many graphs are counted together, and so do the bits for their numbers.
        count = max(1, min(CPU_SAMPLE.nodes // nodes, CPU_SAMPLE.cells // nodes**2, 2 ** min(most, 20)))
        slots = np.cumsum(graphs.slots[some])
        first = 0
        while first < some.size:
            before = slots[first - 1] if first else 0
            # Their slots must have room, too. The first graph's slots always have: `count_many` saw to that.
            stop = min(first + count, int(np.searchsorted(slots, before + CPU_SAMPLE.slots, side="right")))
            yield some[first:stop], nodes, count
            first = stop


def _result(
    graphs: Graphs,
    size: int,
    classes: list[str],
    rows: list[tuple[np.ndarray, np.ndarray]],
    of_nodes: dict[int, np.ndarray],
    singles: dict[int, Census],
) -> PerGraph[Census]:
    """Join the counts of the parts, and the results of graphs counted alone, under the names of all classes."""
    names = sorted({*classes, *(name for one in singles.values() for name in one.classes)})
    column = {name: i for i, name in enumerate(names)}
    known = np.array([column[name] for name in classes], np.int64)
    values = np.zeros((len(graphs), len(names)), np.int64)
    for part, counts in rows:
        # Parts that were counted earlier know fewer classes.
        values[part[:, None], known[: counts.shape[1]]] = counts
    for i, one in singles.items():
        values[i, [column[name] for name in one.classes]] = one.counts
    used = np.flatnonzero(values.any(axis=0))

    def single(i: int) -> Census:
        if i in singles:
            return singles[i]
        present, nodes = np.flatnonzero(values[i]), of_nodes.get(i)
        if nodes is not None:
            # Counts have their columns in the order of names; those of nodes are in the order of the classifier.
            number = {k: at for at, k in enumerate(known.tolist())}
            nodes = nodes[:, [number[k] for k in present.tolist()]]
        classes = tuple(names[k] for k in present)
        return Census(size, graphs.directed, classes, values[i, present], nodes, label_words=graphs[i]._label_words)

    columns = tuple(names[k] for k in used)
    return PerGraph(columns, values[:, used], np.arange(len(graphs) + 1), (), single)


@on_cluster(load_graph)
@for_many(count_many)
def subgraph_census(
    graph: GraphLike,
    size: int,
    *,
    per_node: bool = False,
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    certify: CertificateFile = None,
    progress: bool = False,
) -> Census:
    """Count every connected induced subgraph of ``size`` nodes by isomorphism class.

    Node and edge labels, where the graph has them, are part of a class.

    Args:
      graph: any simple graph, or what :func:`jaxmotif.graph.as_graph` takes for one. Or many graphs: what
        :func:`jaxmotif.graph.as_graphs` takes, with one result for each.
      size: 2 to 8. A census of two nodes keeps no checkpoint.
      per_node: also count the occurrences that each node lies in, in a second pass.
      devices: where to run, see :data:`jaxmotif.devices.Devices`. They share the work; for two nodes, and for many
        graphs, the first one does all of it.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free).
      checkpoint: a folder in which finished work is kept. The same call made again, however the first one ended,
        goes on from there and gives the same bits.
      certify: a file to write a certificate to, which :func:`jaxmotif.verify.check` checks. It takes the second pass.
      progress: show a meter on standard error.

    Returns:
      The classes that occur, with their counts. For many graphs it is a :class:`~jaxmotif.arrays._present.PerGraph`,
      with a row of counts for each graph and a column for each class that occurs in any of them.

    Raises:
      ValueError: for a size out of range, too little memory, more labels than a subgraph's code of 63 bits holds, a
        checkpoint that is damaged or belongs to other work, or a checkpoint for many graphs.

    Reference:
      Lin, Xiao, Xie, Li: Network motif discovery: a GPU approach, TKDE 2017, section 6.

    Example:
      >>> from jaxmotif import Graph
      >>> graph = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], directed=True)
      >>> census = subgraph_census(graph, 3)
      >>> dict(zip(census.names, census.counts.tolist()))
      {'021C': 2, '030T feed-forward loop': 1}
    """
    check_switch(per_node, "per_node")
    graph = as_graph(graph)
    size = check_size(graph, size)
    if certify is not None:
        check_writable(certify)
        census = subgraph_census(
            graph, size, per_node=True, devices=devices, memory=memory, checkpoint=checkpoint, progress=progress
        )
        certify_census(certify, graph, census.classes, census.counts, np.asarray(census.per_node))
        return census if per_node else dataclasses.replace(census, per_node=None)
    # All devices of a process share the classifier: a form that one device has met is known to all.
    classifier = Classifier(Alphabet.of(graph), size)

    def count(graphs: CensusGraphs, sizes: Sizes, part: Part | None, advance: Callable[[int], None]) -> Arrays:
        sums = empty_counts(0)
        counts = count_classes(graphs, size, classifier, sizes, advance, part)[0]
        if per_node:
            # The counts are in the order of degrees; the user's rows are in the order of the graph.
            sums["nodes"] = count_participation(graphs, size, classifier, sizes, part)[degree_rank(graph)]
            # Other devices may have met more classes meanwhile.
            counts = np.pad(counts, (0, sums["nodes"].shape[1] - counts.size))
        return sums | {"classes": np.array(classifier.classes[: counts.size], str), "counts": counts}

    work = Work("census", graph, size, graph.n if per_node else 0, count, (size, per_node))
    sums = count_all(work, JobOptions(select_devices(devices), memory, checkpoint, progress))
    # The result has the classes in the order of their strings, whatever the order in which they were met.
    order = np.argsort(sums["classes"])
    present = order[sums["counts"][order] > 0]
    nodes = sums["nodes"][:, present] if per_node else None
    names = tuple(sums["classes"][present].tolist())
    return Census(size, graph.directed, names, sums["counts"][present], nodes, label_words=graph._label_words)
