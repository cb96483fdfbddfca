"""Orbits of all classes of a census at once: features of nodes and edges for graphs of any kind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from jaxmotif.arrays._exact import with_exact_sums
from jaxmotif.arrays._label_words import in_words
from jaxmotif.census._pair_states import check_size
from jaxmotif.census._roles import class_roles, role_counts
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._select import Devices
from jaxmotif.features._patterns import Features
from jaxmotif.graph import GraphLike, as_graph
from jaxmotif.graph._coerce import load_graph
from jaxmotif.patterns import canonical_string, class_columns, named_pattern
from jaxmotif.patterns._readings import role_words
from jaxmotif.patterns._roles import check_per


@on_cluster(load_graph)
def census_orbits(
    graph: GraphLike,
    size: int,
    *,
    per: Literal["node", "edge"] = "node",
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    progress: bool = False,
) -> Features:
    """Count in how many connected induced subgraphs of each class each node, or edge, lies, by its role there.

    The result is what :func:`jaxmotif.pattern_features` gives for every class that occurs, found in one enumeration of
    all subgraphs. Directed and labelled graphs are counted too, whose classes have roles that no table lists.

    Args:
      graph: any simple graph, or anything that :func:`jaxmotif.graph.as_graph` accepts.
      size: 2 to 8.
      per: a row for each node or edge (directed: arc).
      devices, memory, checkpoint, progress: as for :func:`jaxmotif.subgraph_census`.

    Returns:
      The table. A column has the name of its class (or its string, if it has no name). If the class has several roles,
      the lowest node or edge of the role follows, as in :func:`jaxmotif.pattern_features`.

    Raises:
      ValueError: a size or ``per`` out of range, too little memory, too many labels to encode a subgraph in 63
        bits, or a checkpoint that is damaged or belongs to other work.

    Example:
      >>> from jaxmotif.graph import Graph
      >>> found = census_orbits(Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], directed=True), 3)
      >>> found.columns[:2], found.values.sum(axis=0).tolist()
      (('021C:0', '021C:1'), [2, 2, 2, 1, 1, 1])
    """
    graph = as_graph(graph)
    check_per(per, "node", "edge")
    size = check_size(graph, size)
    columns, values = role_counts(graph, size, per, devices, memory, checkpoint, progress)
    edges = graph.edge_list() if per == "edge" else None
    return Features(columns, with_exact_sums(values), per, np.zeros(len(values), np.int64), edges)


def role_table(graph: GraphLike, classes: Sequence[str], **work: Any) -> dict[str, list[Any]]:
    """Count how often each node takes each role in the subgraphs of some classes; a row is a node in a role.

    Args:
      graph: any simple graph.
      classes: classes of one size, as a census of the graph has them, or by name.
      work: devices, memory, checkpoint, progress: as for :func:`census_orbits`.

    Returns:
      Columns: ``node``, by name; ``class``, its ``id`` and ``name``; ``role``, in a word (regulator, intermediate,
      target, ..); ``places``, the numbers of the nodes of the class that have this role, as in the columns ``node_0``,
      ``node_1``, .. of occurrences; ``count``, in how many occurrences the node has the role. Classes come in the order
      given, and in each role the nodes with the highest counts come first.

    Raises:
      ValueError: as for :func:`census_orbits`, or for a class that is not connected, has another size than the first
        one, or has labels where the graph has none, or the reverse.

    Example:
      >>> from jaxmotif.graph import Graph
      >>> loop = Graph.from_edges([(0, 1), (1, 2), (0, 2)], directed=True, node_names=["tf", "mid", "end"])
      >>> found = role_table(loop, ["000100110"])
      >>> list(zip(found["node"], found["role"], found["count"]))
      [('end', 'target', 1), ('mid', 'intermediate', 1), ('tf', 'regulator', 1)]
    """
    graph = as_graph(graph)
    names, words = graph._names, graph._label_words
    table: dict[str, list[Any]] = {name: [] for name in ("node", "class", "id", "name", "role", "places", "count")}
    classes = [canonical_string(named_pattern(text, graph.directed)) for text in classes]
    patterns = [named_pattern(text, graph.directed) for text in classes]  # whose nodes are in the order of the classes
    for text, pattern in zip(classes, patterns, strict=True):
        if pattern.num_nodes != (size := patterns[0].num_nodes) or len(pattern.components()) > 1:
            raise ValueError(f"{text!r} is not a connected class of {size} nodes; take classes of one size")
        for of in ("node", "edge"):
            has, graph_has = (getattr(x, f"{of}_labels") is not None for x in (pattern, graph))
            if has != graph_has:
                raise ValueError(f"{of} labels are in {'the class ' + repr(text) if has else 'the graph'} alone")
    if patterns:
        orbits = census_orbits(graph, patterns[0].num_nodes, **work)
        counts = dict(zip(orbits.columns, orbits.values.T, strict=True))
    identity = class_columns(classes, graph.directed, words)
    for i, text in enumerate(classes):
        columns, places = class_roles(text, graph.directed, "node")
        roles = role_words(patterns[i])
        named = [in_words(text, *words), identity["id"][i], identity["name"][i]]
        for number in dict.fromkeys(places.tolist()):  # roles in the order of the class's nodes
            times = counts.get(columns[number], np.zeros(0, np.int64))  # a class that does not occur has no column
            nodes = [v for v in np.argsort(-times, kind="stable").tolist() if times[v]]
            own = np.flatnonzero(places == number)
            row = [*named, roles[own[0]], ",".join(map(str, own))]
            for column, value in zip(list(table.values())[1:], row, strict=False):
                column += [value] * len(nodes)
            table["node"] += names[nodes].tolist()
            table["count"] += times[nodes].tolist()
    return table
