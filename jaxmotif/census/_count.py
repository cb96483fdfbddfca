"""The census of a graph: its connected induced subgraphs of one size, counted by isomorphism class."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable

import numpy as np

from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import Part, count_classes, count_participation
from jaxmotif.census._job import Work, count_all, empty_counts
from jaxmotif.census._many import count_many
from jaxmotif.census._pair_states import Alphabet, CensusGraphs, check_size, degree_rank
from jaxmotif.census._sizes import Sizes
from jaxmotif.census._tables import Census
from jaxmotif.certificates import CertificateFile, certify_census
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._record import Arrays
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import GraphLike, as_graph
from jaxmotif.graph._coerce import for_many, load_graph


@on_cluster(load_graph)
@for_many(lambda graphs, *args, **options: count_many(graphs, *args, alone=subgraph_census, **options))
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
    graph = as_graph(graph)
    check_size(graph, size)
    if certify is not None:
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
    sums = count_all(work, select_devices(devices), memory, checkpoint, progress)
    # Classes are told in the order of their strings, whatever order they were met in.
    order = np.argsort(sums["classes"])
    present = order[sums["counts"][order] > 0]
    nodes, words = sums["nodes"][:, present] if per_node else None, (graph.node_label_names, graph.edge_label_names)
    names = tuple(sums["classes"][present].tolist())
    return Census(size, graph.directed, names, sums["counts"][present], nodes, words)
