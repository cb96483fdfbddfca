"""``jaxmotif motifs``: subgraphs that occur more often than in random graphs with the same degrees."""

from __future__ import annotations

import argparse
import dataclasses

import numpy as np

from jaxmotif.cli._columns import class_report
from jaxmotif.cli._command import Command, add_seed, add_size, how, timed
from jaxmotif.cli._input import add_input_options, load_graph
from jaxmotif.cli._occurrences import add_occurrences_option, class_rows, write_occurrences
from jaxmotif.cli._output import Report

_READ_FIRST = ("count", "mean", "sd", "z", "q", "verdict")


def _options(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_size(parser)
    parser.add_argument(
        "--random", type=int, default=1000, metavar="R", help="random graphs to compare with (default: %(default)s)"
    )
    parser.add_argument(
        "--keep", choices=("bidegree", "degree"), default="bidegree",
        help="what random graphs keep of every node: in-, out- and reciprocal degree, or in- and out-degree only "
        "(default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--threshold", type=float, default=2.0, metavar="T",
        help="a motif's count is at least T standard deviations above the mean (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--switches", type=float, default=15.0, metavar="S",
        help="moves that every random graph is to be away from the graph, per edge (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--attempts", type=float, metavar="A", help="switches to try per edge, instead of counting those made"
    )
    parser.add_argument(
        "--step", choices=("reject", "global"), default="reject", help="how switches are decided (default: %(default)s)"
    )
    parser.add_argument(
        "--engine", choices=("auto", "census", "matching"), default="auto",
        help="count random graphs by a census of each, or match the classes of the graph alone, without those that it "
        "does not have (default: %(default)s, the census)",
    )  # fmt: skip
    add_seed(parser)
    add_occurrences_option(parser)


def _run(args: argparse.Namespace) -> Report:
    from jaxmotif.motifs import find_motifs

    graph = load_graph(args)
    with timed("found"):
        found = find_motifs(
            graph, args.size, args.random, args.seed, args.keep, threshold=args.threshold,
            switches=args.switches,
            attempts=args.attempts, step=args.step, engine=args.engine, checkpoint=args.checkpoint, devices=args.device,
            memory=args.memory, progress=not args.quiet,
        )  # fmt: skip
    summary = {
        "size": found.size, "directed": found.directed, "total": int(found.counts.sum()), "random_graphs": args.random,
        "null_model": found.null_model, "attempts_per_edge": found.attempts, "accepted_per_edge": found.accepted,
        "engine": found.engine, "absent_classes": "counted" if found.engine == "census" else "not looked for",
        "threshold": found.threshold, "double_length_z": _farthest(found.mixing.double_length_z),
        "notes": "; ".join(found.notes),
    }  # fmt: skip
    report = class_report(found.table(), graph, _READ_FIRST)
    write_occurrences(args, graph, class_rows(report.columns, found.table()["class"]), how(args))
    return dataclasses.replace(report, scalars=summary)


def _farthest(values: np.ndarray) -> float:
    """The value farthest from 0."""
    return float(values[np.argmax(np.abs(values))]) if values.size else 0.0


COMMAND = Command(
    "motifs",
    "find subgraphs that occur unexpectedly often",
    "Count the connected induced subgraphs of K nodes by class, in the graph and in random graphs with the same "
    "degrees, and say which classes are unusual.",
    "FILE|DATASET",
    _options,
    _run,
)
