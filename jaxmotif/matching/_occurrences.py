"""Where a pattern occurs, by the original names of the nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import GraphLike, as_graph
from jaxmotif.matching._count import _batches, _checked_query, _listing, _plan
from jaxmotif.matching._options import DEFAULT_SEARCH
from jaxmotif.patterns import Pattern


def occurrences(
    graph: GraphLike,
    pattern: GraphLike | Pattern,
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
        (:func:`jaxmotif.patterns.named_pattern`), a file. With labels it is matched with these.
      limit: at most so many.
      induced: whether nodes that the pattern does not join must not be joined in the graph, as for the classes of a
        census, whose counts these then are; else an occurrence is a subgraph, perhaps of more edges.
      wildcard, memory, devices: as for :func:`jaxmotif.find_matches`.

    Returns:
      Blocks ``[M, k]`` of the graph's node names (int64 where it has none): in a row, the node that takes the part of
      each node of the pattern. Of maps that differ by an automorphism of the pattern there is one.

    Raises:
      ValueError, TypeError: as :func:`jaxmotif.find_matches`.

    Example:
      >>> from jaxmotif.graph import Graph
      >>> loops = Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)], directed=True, node_names=["x", "y", "z", "out"])
      >>> [block.tolist() for block in occurrences(loops, "ffl")]
      [[['x', 'y', 'z']]]
    """
    target = as_graph(graph)
    query = _checked_query(pattern, target, wildcard, "occurrence")
    if limit is not None and limit < 0:
        raise ValueError(f"limit must be at least 0, got {limit}")
    options = _listing(induced, wildcard, memory, "occurrence", DEFAULT_SEARCH)
    plan, _ = _plan(query, target, None, options, select_devices(devices).main)

    def blocks() -> Iterator[np.ndarray]:
        left = limit
        for nodes, _ in _batches(plan, None):
            rows = nodes[:left]
            if len(rows):
                yield rows if target.node_names is None else target.node_names[rows]
            if left is not None:
                left -= len(rows)
                if not left:
                    return

    return blocks()
