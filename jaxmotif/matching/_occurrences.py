"""Occurrences of a pattern, by the original names of the nodes, and the part of a graph that they make up."""

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
    """List where a pattern occurs: every set of nodes once, in blocks, so that any number of them takes little memory.

    Args:
      graph: what to look in, or what :func:`jaxmotif.graph.as_graph` takes for one.
      pattern: a small graph, or its name: ``"ffl"``, ``"G7"``, ``"id38"``, the string of a class
        (:func:`jaxmotif.patterns.named_pattern`), a file, a :func:`jaxmotif.query`. With labels it is matched with
        these.
      limit: the most occurrences to list.
      induced: whether nodes that the pattern does not join must not be joined in the graph, as for the classes of a
        census, whose counts these then are; else an occurrence is a subgraph, perhaps of more edges.
      wildcard, memory, devices: as for :func:`jaxmotif.find_matches`.

    Returns:
      Blocks ``[M, k]`` of the graph's node names (int32 numbers where it has none): in a row, the node that takes the
      part of each node of the pattern. Of maps that differ by an automorphism of the pattern there is one.

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
    """Return the nodes and edges of a graph in which a pattern occurs, with how often each takes part.

    The occurrences are counted, not listed (:func:`jaxmotif.participation_counts`).
    :func:`jaxmotif.io.write_graph` writes the subnetwork for Cytoscape, Gephi or networkx.

    Args:
      graph, pattern, induced, wildcard, memory, devices: as for :func:`jaxmotif.occurrences`. Attributes that the graph
        has are kept; of parallel edges, those of the first.

    Returns:
      A graph with names, labels and further attributes. Of a node: in how many occurrences it takes each role, int64,
      called by the role (``regulator``, ``intermediate``, ``target``, ``mutual_target``, ``degree_2``, .., ``member``
      where all nodes are alike), or by the names that the nodes of the query have; nodes that automorphisms exchange
      share a role. Of an edge: ``occurrences``, the number that it is in. Attributes that are called so are replaced.

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
    # Not all automorphisms where they can be helped: a star has very many.
    generators = list(automorphisms_of(query)) if has_passes(query) else stabilizer_chain(shape_of(query)).generators
    roles, times = {}, np.zeros(target.m, np.int64)
    counts, places = participation_counts(pattern, target, induced, of="node", **how), places_of(query, "node")
    for orbit in place_orbits(query, places, generators):
        name = "_".join(dict.fromkeys(words[u] for (u,) in orbit))
        roles[name.replace(" ", "_")] = counts[:, places.index(orbit[0])]
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
