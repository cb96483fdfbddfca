"""Counts of the roles that nodes, or edges, play in connected induced subgraphs, in one pass for all classes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

import numpy as np

from jaxmotif.census._classes import Classifier, decode, labelled_pattern
from jaxmotif.census._enumerate import Part, count_classes, count_places
from jaxmotif.census._job import Work, count_all
from jaxmotif.census._pair_states import Alphabet, CensusGraphs, degree_rank
from jaxmotif.census._sizes import Sizes
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._record import Arrays
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph
from jaxmotif.patterns import canonical_order, named_pattern
from jaxmotif.patterns._names import short_name
from jaxmotif.patterns._roles import roles_of


def role_counts(
    graph: Graph,
    size: int,
    per: Literal["node", "edge"],
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    progress: bool = False,
) -> tuple[tuple[str, ...], np.ndarray]:
    """Count how often each node, or edge, plays each role.

    Args:
      graph: a simple graph.
      size: nodes of a subgraph.
      per: whose roles are counted.
      devices: where to run, as for :func:`jaxmotif.subgraph_census`.
      memory: bytes to work in beyond the graph, on each device.
      checkpoint: a folder in which finished work is kept.
      progress: show a meter on standard error.

    Returns:
      The names of the roles, as :func:`jaxmotif.pattern_features` calls them, by ascending class, for the classes that
      occur; and the counts, int64 ``[n, roles]``, or ``[m, roles]``.
    """
    classifier = Classifier(Alphabet.of(graph), size)

    def count(graphs: CensusGraphs, sizes: Sizes, part: Part | None, advance: Callable[[int], None]) -> Arrays:
        # Roles stand in the place of classes. A role is called by its class and its number there, so that the names
        # ascend as classes do.
        counts = count_classes(graphs, size, classifier, sizes, advance, part)[0]
        forms, index = classifier.known
        names = classifier.classes  # other devices may have met more classes meanwhile, which are not in this part
        places: dict[str, np.ndarray] = {}
        roles: list[str] = []
        for name in sorted(names[i] for i in np.flatnonzero(counts).tolist()):
            own, columns = class_roles(name, graph.directed, per)
            places[name] = np.where(columns < 0, -1, columns + len(roles))
            roles += [f"{name} {number:02}" for number in range(len(own))]
        columns = _columns(classifier, forms, [names[i] for i in index.tolist()], places, per)
        values = count_places(graphs, size, forms, columns, len(roles), sizes, part)
        rank = degree_rank(graph)
        rows = rank if per == "node" else _slots(graphs, rank[graph.edge_list()])
        return {"classes": np.array(roles, str), "counts": np.zeros(len(roles), np.int64), "nodes": values[rows]}

    work = Work("roles", graph, size, graph.n if per == "node" else graph.m, count, (size, per))
    sums = count_all(work, JobOptions(select_devices(devices), memory, checkpoint, progress))
    names = [key.split() for key in sums["classes"].tolist()]
    roles = {name: class_roles(name, graph.directed, per)[0] for name, _ in names}
    return tuple(roles[name][int(number)] for name, number in names), sums["nodes"]


def _columns(
    classifier: Classifier, forms: np.ndarray, names: list[str], places: dict[str, np.ndarray], per: str
) -> np.ndarray:
    """Return the columns in which the nodes, or pairs of nodes, of each form count, as ``count_places`` takes them.

    They are the columns of the form's class, with the nodes in the order of the form.
    """
    alphabet, size = classifier.alphabet, classifier.size
    labels, entries = decode(forms, alphabet.codes, size)
    columns = np.zeros((forms.size, size), np.int64) if per == "node" else np.full((forms.size, size, size), -1)
    for i, (name, label, entry) in enumerate(zip(names, labels, entries, strict=True)):
        # A form may be known only because a pair without its edge has it; then no subgraph does, and no column is read.
        if name in places:
            # Node p of the form is node place[p] of the canonical form.
            place = np.argsort(canonical_order(labelled_pattern(alphabet, label, entry)))
            columns[i] = places[name][place if per == "node" else np.ix_(place, place)]
    return columns


def class_roles(name: str, directed: bool, per: Literal["node", "edge"]) -> tuple[list[str], np.ndarray]:
    """Return the roles of a class, given by its canonical string, and where they are played.

    Returns:
      The names of the roles; and the number of the role that each node plays, ``[size]``, or that each ordered pair of
      nodes plays, ``[size, size]``, below 0 for none. Nodes are numbered as in the class's string.
    """
    short = short_name(name, directed)
    # The short name numbers the nodes as the names of the roles do.
    pattern = named_pattern(short, directed)
    roles, size = roles_of(pattern, short, per), pattern.num_nodes
    columns = np.full((size,) * (1 if per == "node" else 2), -1, np.int64)
    for number, role in enumerate(roles):
        for place in role.places:
            columns[place] = number
            if not directed:
                columns[place[::-1]] = number
    order = canonical_order(pattern)
    return [role.name for role in roles], columns[order if per == "node" else np.ix_(order, order)]


def _slots(graphs: CensusGraphs, ends: np.ndarray) -> np.ndarray:
    """Find the slot of each edge's dyad; ``ends`` are nodes in the order of the dyads, int64 ``[m, 2]``."""
    offsets, near = np.asarray(graphs.dyads.offsets), np.asarray(graphs.dyads.near)
    n = graphs.num_nodes
    row = np.repeat(np.arange(n), np.diff(offsets[: n + 1]))
    # Rows ascend, and so do the neighbours in a row.
    return np.searchsorted(row * n + near[: row.size], ends[:, 0] * n + ends[:, 1])
