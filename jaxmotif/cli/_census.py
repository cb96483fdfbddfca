"""``jaxmotif census``: connected induced subgraphs of one size by isomorphism class."""

from __future__ import annotations

import argparse
import dataclasses

from jaxmotif.cli._columns import class_patterns, class_report
from jaxmotif.cli._command import Command, add_size, how, timed
from jaxmotif.cli._input import add_input_options, load_graph, network_name
from jaxmotif.cli._occurrences import add_occurrences_option, class_rows, write_occurrences
from jaxmotif.cli._output import Report
from jaxmotif.cli._report import add_report_options, write_drawings, write_page


def _options(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_size(parser)
    add_occurrences_option(parser)
    add_report_options(parser)


def _run(args: argparse.Namespace) -> Report:
    from jaxmotif.motifs import subgraph_census

    graph = load_graph(args)
    with timed("counted"):
        census = subgraph_census(graph, args.size, devices=args.device, memory=args.memory, progress=not args.quiet)
    summary = {"size": census.size, "directed": census.directed, "total": census.total}
    table = class_report(census.table(), graph, ["count"])
    write_occurrences(args, graph, class_rows(table.columns, census.table()["class"]), how(args))
    write_drawings(
        args, class_patterns(census.classes, census.directed), (graph.node_label_names, graph.edge_label_names)
    )
    write_page(args, how(args), lambda report, run: report.census_report(network_name(args.graph), graph, census, run))
    return dataclasses.replace(table, scalars=summary)


COMMAND = Command(
    "census",
    "count the connected induced subgraphs of one size by class",
    "Count every connected induced subgraph of K nodes by isomorphism class. Labels in the file are part of a class.",
    "FILE|DATASET",
    _options,
    _run,
    checkpoint=False,
)
