"""The census of a graph: its connected induced subgraphs of one size, counted by isomorphism class."""

from __future__ import annotations

import dataclasses
import os
from functools import partial

import jax
import numpy as np

from jaxmotif.arrays._ahead import rehearsed
from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import count_classes, count_participation
from jaxmotif.census._job import divided_census
from jaxmotif.census._many import count_many
from jaxmotif.census._pair_states import (
    SMALLEST,
    CensusGraphs,
    census_graphs,
    check_size,
    degree_rank,
    least_room,
    room_of,
)
from jaxmotif.census._sizes import halve_memory, plan
from jaxmotif.census._tables import Census
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.graph._coerce import for_many, load_graph
from jaxmotif.patterns._certificate import CertificateFile, certify_census


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
    selection = select_devices(devices)
    device = selection.main
    if size > SMALLEST and (selection.several or checkpoint is not None):
        sums = divided_census(graph, size, per_node, selection, memory, checkpoint, progress)
        return _census(graph, size, sums["classes"].tolist(), sums["counts"], sums["nodes"] if per_node else None)

    def attempt(memory: int | None) -> Census:
        sizes, matrix_bytes = plan(device, memory)

        def count() -> tuple[CensusGraphs, Classifier, np.ndarray]:
            graphs = census_graphs(graph, None, matrix_bytes, device)
            classifier = Classifier(graphs.alphabet, size)
            return graphs, classifier, count_classes(graphs, size, classifier, sizes, bar.advance).sum(axis=0)

        room, nodes = room_of(1, graph.n, graph.m, least_room(device), device), None
        with jax.default_device(device):
            with meter(None, f"subgraphs of {size - 1}", "census", enabled=progress) as bar:
                graphs, classifier, counts = rehearsed(count, device, ("census", device, size, sizes, room))
            if per_node:
                # The counts are in the order of degrees; the user's rows are in the order of the graph.
                nodes = count_participation(graphs, size, classifier, sizes)[degree_rank(graph)]
        return _census(graph, size, classifier.classes, counts, nodes)

    return with_smaller_steps(attempt, memory, partial(halve_memory, device), device)[0]


def _census(graph: Graph, size: int, classes: list[str], counts: np.ndarray, nodes: np.ndarray | None = None) -> Census:
    # Classes are told in the order of their strings, whatever order they were met in.
    present = [i for i in np.argsort(classes).tolist() if counts[i]]
    names = tuple(classes[i] for i in present)
    words = graph.node_label_names, graph.edge_label_names
    return Census(size, graph.directed, names, counts[present], None if nodes is None else nodes[:, present], words)
