"""``jaxmotif census``: connected induced subgraphs of one size by isomorphism class, counted or estimated."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.cli._columns import class_patterns, class_report
from jaxmotif.cli._command import Command, add_estimate, add_size, how, refuse, timed
from jaxmotif.cli._input import add_input_options, load_graph, network_name
from jaxmotif.cli._occurrences import add_occurrences_option, class_rows, write_occurrences
from jaxmotif.cli._options import own_devices
from jaxmotif.cli._output import Column, Report
from jaxmotif.cli._report import add_report_options, write_drawings, write_page

if TYPE_CHECKING:
    from jaxmotif.graph import Graph


def _options(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_size(parser, "2 to 8; with --estimate 3 to 10")
    wanted = add_estimate(parser)
    wanted.add_argument(
        "--error", type=float, metavar="E",
        help="with --estimate: draw until intervals are about so wide to either side, as a part of the count",
    )  # fmt: skip
    parser.add_argument("--level", type=float, metavar="L", help="with --estimate: of the intervals (default: 0.95)")
    parser.add_argument("--seed", type=int, metavar="S", help="with --estimate: random seed (default: 0)")
    parser.add_argument(
        "--per", choices=("graph", "node", "edge"), default="graph",
        help="node, edge: a row for each, and a column for each of its roles in each class (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--disjoint", choices=("edge", "node"),
        help="also how many occurrences without a shared edge (F2), or node (F3): a greedy set, and an upper bound",
    )  # fmt: skip
    add_occurrences_option(parser)
    add_report_options(parser)


def _run(args: argparse.Namespace) -> Report:
    if args.estimate:
        refuse(args, ("occurrences", "report", "disjoint"), "of exact censuses; leave it out with --estimate")
    else:
        refuse(args, ("samples", "error", "level", "seed"), "of estimates; add --estimate")
    if args.per != "graph":
        refuse(args, _OF_THE_GRAPH, f"of the whole graph; leave it out with --per {args.per}")
    graph = load_graph(args)
    if args.per != "graph":
        return _roles(args, graph)
    return _estimated(args, graph) if args.estimate else _counted(args, graph)


_OF_THE_GRAPH = ("estimate", "occurrences", "report", "svg", "disjoint")


def _roles(args: argparse.Namespace, graph: Graph) -> Report:
    from jaxmotif.features import census_orbits

    with timed("counted"):
        found = census_orbits(
            graph, args.size, per=args.per, devices=args.device, memory=args.memory, checkpoint=args.checkpoint,
            progress=not args.quiet,
        )  # fmt: skip
    names = np.arange(graph.n) if graph.node_names is None else graph.node_names
    keys = {"node": names} if found.edges is None else dict(zip(("u", "v"), names[found.edges].T, strict=True))
    return Report(
        {"size": args.size, "directed": graph.directed}, keys | dict(zip(found.columns, found.values.T, strict=True))
    )


def _counted(args: argparse.Namespace, graph: Graph) -> Report:
    from jaxmotif.motifs import subgraph_census

    with timed("counted"):
        census = subgraph_census(
            graph, args.size, devices=args.device, memory=args.memory, checkpoint=args.checkpoint,
            progress=not args.quiet,
        )  # fmt: skip
    summary = {"size": census.size, "directed": census.directed, "total": census.total}
    columns = census.table()
    if args.disjoint is not None:
        columns |= _disjoint(args, graph, census.classes)
    table = class_report(columns, graph, ["count", *(("disjoint", "disjoint_upper") if args.disjoint else ())])
    write_occurrences(args, graph, class_rows(table.columns, census.table()["class"]), how(args))
    _draw(args, graph, census.classes, census.counts)
    write_page(args, how(args), lambda report, run: report.census_report(network_name(args.graph), graph, census, run))
    return dataclasses.replace(table, scalars=summary)


def _disjoint(args: argparse.Namespace, graph: Graph, classes: Sequence[str]) -> dict[str, Column]:
    """Of each class, how many occurrences a greedy choice finds, and how many there are at most."""
    from jaxmotif.matching import disjoint_occurrences

    found = [
        disjoint_occurrences(graph, name, args.disjoint, memory=args.memory, devices=own_devices(args))
        for name in classes
    ]
    return {"disjoint": [one.count for one in found], "disjoint_upper": [one.upper for one in found]}


def _estimated(args: argparse.Namespace, graph: Graph) -> Report:
    from jaxmotif.motifs import estimate_census

    level = 0.95 if args.level is None else args.level
    with timed("estimated"):
        found = estimate_census(
            graph, args.size, args.samples, error=args.error, level=level, seed=args.seed or 0, devices=args.device,
            memory=args.memory, checkpoint=args.checkpoint, progress=not args.quiet,
        )  # fmt: skip
    _draw(args, graph, found.classes, found.counts)
    summary = {
        "size": found.size, "directed": found.directed, "total": found.total, "total_low": found.total_low,
        "total_high": found.total_high, "level": found.level, "samples": sum(found.samples),
        "accepted": sum(found.accepted), "notes": "; ".join(found.notes),
    }  # fmt: skip
    return dataclasses.replace(class_report(found.table(), graph, ["count", "low", "high", "hits"]), scalars=summary)


def _draw(args: argparse.Namespace, graph: Graph, classes: tuple[str, ...], counts: np.ndarray) -> None:
    """Draw classes, the most frequent first, where the user asked for drawings."""
    if args.svg is not None:
        ordered = [classes[row] for row in np.argsort(-np.asarray(counts, float), kind="stable")]
        write_drawings(args, class_patterns(ordered, graph.directed), (graph.node_label_names, graph.edge_label_names))


COMMAND = Command(
    "census",
    "count, or estimate, the connected induced subgraphs of one size by class",
    "Count every connected induced subgraph of K nodes by isomorphism class, or estimate the counts where they are too "
    "many to be enumerated. Labels in the file are part of a class.",
    "FILE|DATASET",
    _options,
    _run,
)
