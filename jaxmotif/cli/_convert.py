"""The command ``jaxmotif convert``, which reads a graph of any format and writes it in another."""

from __future__ import annotations

import argparse
from pathlib import Path

from jaxmotif.cli._input import load_graph
from jaxmotif.cli._output import Report


def run(args: argparse.Namespace) -> Report:
    """Read a graph and write it to a file: csv, tsv, sif, graphml, gexf, gml, cyjs, json or npz.

    Names, directions, labels and attributes go with it, as far as the format can hold them.
    """
    from jaxmotif.datasets import names
    from jaxmotif.io import write_graph

    is_there = args.graph == "-" or Path(args.graph).exists() or args.graph in names()
    if not is_there and (args.to.exists() or str(args.to) in names()):
        raise ValueError(
            f"there is no file {args.graph!r}; the graph to read comes first: convert {args.to} {args.graph}"
        )
    graph = load_graph(args, attributes=True)
    # Repeated rows, whose weights are summed, are one edge.
    if args.weight is not None and graph.attributes is not None:
        graph._with_attributes(graph.attributes.of_first_rows())
    write_graph(graph, args.to)
    return Report({"file": str(args.to), "nodes": graph.n, "edges": graph.m, "directed": graph.directed}, {})
