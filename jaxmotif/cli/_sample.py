"""The command ``jaxmotif sample``, which draws connected induced subgraphs of one size uniformly."""

from __future__ import annotations

import argparse

from jaxmotif.cli._command import place_options, timed
from jaxmotif.cli._input import load_graph
from jaxmotif.cli._output import Report


def run(args: argparse.Namespace) -> Report:
    """Draw connected induced subgraphs of K nodes, each exactly as likely as any other, independently.

    The result has a row of node names for each.
    """
    from jaxmotif.motifs import sample_subgraphs

    graph = load_graph(args)
    with timed("drawn"):
        place = place_options(args)
        nodes = sample_subgraphs(graph, args.size, args.num, args.seed, progress=not args.quiet, **place)
    columns = {f"node_{i}": graph._names[column] for i, column in enumerate(nodes.T)}
    return Report({"size": args.size, "subgraphs": len(nodes)}, columns)
