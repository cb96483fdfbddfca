"""Occurrences of a pattern, by the original names of the nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxmotif.devices._select import Devices
from jaxmotif.graph import GraphLike, as_graph
from jaxmotif.language import Query
from jaxmotif.matching._listing import iter_matches
from jaxmotif.patterns import Pattern


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
