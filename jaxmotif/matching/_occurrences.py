"""Occurrences of a pattern, by the names of a graph's nodes, and the subnetwork that the occurrences make up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxmotif.devices._select import Devices
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.graph._attributes import Attributes
from jaxmotif.language import Query
from jaxmotif.matching._checks import check_query
from jaxmotif.matching._listing import iter_matches
from jaxmotif.matching._participation import participation_counts
from jaxmotif.patterns import Pattern, stabilizer_chain
from jaxmotif.patterns._readings import role_words
from jaxmotif.patterns._roles import place_orbits, places_of
from jaxmotif.patterns._ruled import automorphisms_of, has_passes, shape_of


def occurrences(
    graph: GraphLike,
    pattern: GraphLike | Pattern | Query,
    limit: int | None = None,
    *,
    induced: bool = True,
    wildcard: int | None = None,
    memory: int | None = None,
    devices: Devices = None,
) -> Iterator[np.ndarray]:
    """List the occurrences of a pattern, each once, in blocks, so that any number of them takes little memory.

    Args:
      graph: the graph to look in, in any form that :func:`jaxmotif.graph.as_graph` takes.
      pattern: a small graph, or its name: ``"ffl"``, ``"G7"``, ``"id38"``, the string of a class
        (:func:`jaxmotif.patterns.named_pattern`), a file, a :func:`jaxmotif.query`. If it has labels, they must equal
        those of the graph. Where the labels of the graph are words, so are those in a class's string, as in ``words``
        of a census.
      limit: the most occurrences to list.
      induced: whether nodes that are not joined in the pattern must not be joined in the graph either. Then there are
        as many occurrences as a census counts for the class of the pattern. Otherwise the graph may have further edges
        among the nodes of an occurrence.
      wildcard, memory, devices: as for :func:`jaxmotif.find_matches`.

    Returns:
      Blocks ``[M, k]`` of the graph's node names (int32 numbers if it has no names). A row is an occurrence, and each
      of its columns has the node that takes the part of one node of the pattern. Of all maps that differ by an
      automorphism of the pattern, only one is listed.

    Raises:
      ValueError, TypeError: as :func:`jaxmotif.find_matches`.

    Example:
      >>> from jaxmotif.graph import Graph
      >>> loops = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], directed=True, node_names=["x", "y", "z", "out"])
      >>> [block.tolist() for block in occurrences(loops, "ffl")]
      [[['x', 'y', 'z']]]
    """
    target = as_graph(graph, attributes=isinstance(pattern, Query))
    options = {"wildcard": wildcard, "memory": memory, "devices": devices}
    blocks = iter_matches(pattern, target, induced, limit, per="occurrence", **options)
    names = target.node_names
    return blocks if names is None else (names[block] for block in blocks)


def subnetwork(
    graph: GraphLike,
    pattern: GraphLike | Pattern | Query,
    *,
    induced: bool = True,
    wildcard: int | None = None,
    memory: int | None = None,
    devices: Devices = None,
) -> Graph:
    """Return the nodes and edges of a graph that are in occurrences of a pattern, and in how many each is.

    The occurrences are counted, not listed (:func:`jaxmotif.participation_counts`).
    :func:`jaxmotif.io.write_graph` writes the subnetwork for Cytoscape, Gephi or networkx.

    Args:
      graph, pattern, induced, wildcard, memory, devices: as for :func:`jaxmotif.occurrences`. The attributes of the
        graph are kept; parallel edges become one edge, with the attributes of the first.

    Returns:
      A graph with names, labels and new attributes. A node has one attribute for each role of the pattern: the number
      of occurrences in which it takes the role, int64. The attribute is named after the role (``regulator``,
      ``intermediate``, ``target``, ``mutual_target``, ``degree_2``, .., ``member`` where all nodes are alike), or after
      the nodes of the query if these have names. Nodes of the pattern that automorphisms exchange share a role. An edge
      has ``occurrences``, the number of occurrences that it is in. Attributes of the graph with these names are
      replaced.

    Raises:
      ValueError, TypeError: as :func:`jaxmotif.participation_counts`.

    Example:
      >>> loops = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], directed=True, node_names=["x", "y", "z", "out"])
      >>> part = subnetwork(loops, "ffl")
      >>> part.node_names.tolist(), part.attributes.nodes["regulator"].tolist()
      (['x', 'y', 'z'], [1, 0, 0])
    """
    target = as_graph(graph, attributes=True)
    query = check_query(pattern, target, wildcard, "occurrence")
    names = getattr(pattern, "names", getattr(pattern, "node_names", None))
    words = role_words(query) if names is None else list(map(str, names))
    how = {"per": "occurrence", "wildcard": wildcard, "memory": memory, "devices": devices}
    # Generators are enough. All automorphisms are listed only for a query with comparisons that the search cannot test:
    # a star has very many.
    generators = list(automorphisms_of(query)) if has_passes(query) else stabilizer_chain(shape_of(query)).generators
    roles, times = {}, np.zeros(target.m, np.int64)
    counts, places = participation_counts(pattern, target, induced, of="node", **how), places_of(query, "node")
    for orbit in place_orbits(query, places, generators):
        name = "_".join(dict.fromkeys(words[u] for (u,) in orbit)).replace(" ", "_")
        while name in roles:  # alike nodes X and Y, and another node X_Y
            name += "_"
        roles[name] = counts[:, places.index(orbit[0])]
    counts, places = participation_counts(pattern, target, induced, of="edge", **how), places_of(query, "edge")
    for orbit in place_orbits(query, places, generators):
        times = times + counts[:, places.index(orbit[0])]
    nodes, edges = np.flatnonzero(sum(roles.values())), np.flatnonzero(times)
    ends = np.searchsorted(nodes, target.edge_list()[edges])
    node_labels, edge_labels = (
        None if labels is None else labels[kept] for labels, kept in zip(target._labels(), (nodes, edges), strict=True)
    )
    part = Graph.from_edges(
        ends, len(nodes), target.directed, node_labels, edge_labels, node_names=target._names[nodes]
    )
    part._with_host_fields(part.report, part.node_names, *target._label_words)
    held = target.attributes or Attributes()
    of_edges = held.of_first_rows().edges  # parallel edges are one here
    return part.with_attributes(
        {name: column[nodes] for name, column in {**held.nodes, **roles}.items()},
        {name: column[edges] for name, column in {**of_edges, "occurrences": times}.items()},
    )
