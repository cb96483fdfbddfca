"""The option ``--keep``, which says what random graphs keep of a graph, and the options that belong to it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.cli._input import node_rows

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.motifs import NullModel


def null_model(args: argparse.Namespace, graph: Graph) -> str | NullModel:
    """Return the null model that the options ask for."""
    from jaxmotif.motifs import keep_blocks, keep_distances, keep_labels

    degrees = args.degrees or "bidegree"
    if args.keep == "labels":
        return keep_labels(degrees)
    if args.keep == "blocks":
        return keep_blocks([row[0] for row in _read_nodes(args.blocks, graph, args.encoding, 1)], degrees)
    if args.keep == "distances":
        rows = _read_nodes(args.positions, graph, args.encoding)
        try:
            positions = np.array(rows, np.float64).reshape(graph.n, -1)
        except ValueError:
            raise ValueError(f"{args.positions}: positions must be numbers, as many for each node") from None
        return keep_distances(positions, 10 if args.bins is None else args.bins, degrees)
    return args.keep


def _read_nodes(path: Path, graph: Graph, encoding: str | None, width: int | None = None) -> list[list[str]]:
    """Read a text file, plain or gzip, that has a line for each node.

    Args:
      path: The path of the file.
      graph: The graph.
      encoding: The encoding of the graph's file, or ``None``.
      width: The number of fields after the name of a node, or ``None`` for at least one.

    Returns:
      The fields after the name of each node of the graph.

    Raises:
      GraphFileError: A line does not have this form, or a node has two lines.
      ValueError: A node of the graph has no line.
    """
    from jaxmotif.io._read import open_about_nodes

    names = list(map(str, graph._names.tolist()))
    by_node: dict[str, list[str]] = {}
    with open_about_nodes(path, encoding) as file:
        for line, text, fields, _ in node_rows(file, set(names)):
            if len(fields) < 2 or (width is not None and len(fields) != 1 + width) or fields[0] in by_node:
                raise file.error("expected a node, once, and what it has", line, text)
            by_node[fields[0]] = fields[1:]
    if missing := [name for name in names if name not in by_node]:
        raise ValueError(f"{path}: no line for {len(missing)} of {graph.n} nodes, the first of them {missing[0]!r}")
    return [by_node[name] for name in names]
