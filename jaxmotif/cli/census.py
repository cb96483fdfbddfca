"""``jaxmotif census``: connected induced subgraphs of one size by isomorphism class."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from jaxmotif.cli.options import add_input_options, add_work_options, logger, use_devices
from jaxmotif.cli.output import Column, Report, add_output_options, check_output, write_report

if TYPE_CHECKING:
    from jaxmotif.graph import Graph


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser(
        "census",
        help="count the connected induced subgraphs of one size by class",
        description="Count every connected induced subgraph of K nodes by isomorphism class. Labels in the file are "
        "part of a class.",
        allow_abbrev=False,
    )
    add_input_options(parser)
    parser.add_argument("--size", type=int, required=True, metavar="K", help="nodes of a subgraph, 2 to 8")
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument("--directed", action="store_true", help="rows are arcs")
    direction.add_argument("--undirected", action="store_true", help="rows are edges (default: what the file says)")
    add_output_options(parser)
    add_work_options(parser, checkpoint=False)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    from jaxmotif.motifs import subgraph_census

    check_output(args.output)
    use_devices(args)
    graph = load(args, True if args.directed else False if args.undirected else None)
    started = time.monotonic()
    census = subgraph_census(graph, args.size, devices=args.device, memory=args.memory, progress=not args.quiet)
    logger.info("counted in %.2f s", time.monotonic() - started)
    columns: dict[str, Column] = {"class": census.classes, "name": census.names, "count": census.counts}
    write(args, {"size": census.size, "total": census.total}, columns)


def load(args: argparse.Namespace, directed: bool | None) -> Graph:
    """Reads the file or bundled network."""
    from jaxmotif.datasets import resolve
    from jaxmotif.graph import read_graph

    graph = read_graph(resolve(args.graph), directed, format=args.input_format)
    logger.info("%s, %s", graph.report, "directed" if graph.directed else "undirected")
    return graph


def write(args: argparse.Namespace, scalars: dict[str, Any], columns: dict[str, Column]) -> None:
    """One row a class; JSON has an object for each under ``classes``."""
    if args.format == "json":
        rows = zip(*(getattr(column, "tolist", lambda c=column: c)() for column in columns.values()), strict=True)
        scalars = scalars | {"classes": [dict(zip(columns, row, strict=True)) for row in rows]}
        columns = {}
    write_report(Report(scalars, columns), args.format, args.output)
