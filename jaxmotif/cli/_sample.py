"""The command ``jaxmotif sample``, which draws connected induced subgraphs of one size uniformly."""

from __future__ import annotations

import argparse

import numpy as np

from jaxmotif.cli._command import Command, add_seed, add_size, timed, whole_number
from jaxmotif.cli._input import add_input_options, load_graph
from jaxmotif.cli._output import Report


def _options(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_size(parser, "3 to 10, of directed graphs to 8")
    parser.add_argument(
        "--num", type=whole_number, default=1000, metavar="N", help="how many subgraphs (default: %(default)s)"
    )
    add_seed(parser)


def _run(args: argparse.Namespace) -> Report:
    """Draw connected induced subgraphs of K nodes, each exactly as likely as any other, independently.

    The result has a row of node names for each.
    """
    from jaxmotif.motifs import sample_subgraphs

    graph = load_graph(args)
    with timed("drawn"):
        nodes = sample_subgraphs(
            graph, args.size, args.num, args.seed, devices=args.device, memory=args.memory, progress=not args.quiet
        )
    names = np.arange(graph.n) if graph.node_names is None else np.asarray(graph.node_names)
    return Report(
        {"size": args.size, "subgraphs": len(nodes)}, {f"node_{i}": names[column] for i, column in enumerate(nodes.T)}
    )


COMMAND = Command(
    "sample",
    "draw connected induced subgraphs, each as likely as any other",
    _run.__doc__,
    "FILE|DATASET",
    _options,
    _run,
    checkpoint=False,
)
