"""The command ``jaxmotif graphlets``, which counts the induced subgraphs of 2 to 5 nodes exactly."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from jaxmotif import report
from jaxmotif.cli._columns import class_patterns, columns_in_words
from jaxmotif.cli._command import place_options, timed, without_directions, work_options
from jaxmotif.cli._input import load_graph, network_name
from jaxmotif.cli._output import Report
from jaxmotif.cli._report import write_figures, write_page


def run(args: argparse.Namespace) -> Report:
    """Count every induced subgraph of 2, 3 and 4 nodes (and 5), in the whole graph, at each edge or node.

    Directions and labels are ignored, unless with --typed.
    """
    from jaxmotif import graphlets
    from jaxmotif.patterns import named_pattern

    functions = {"graph": graphlets.graphlet_counts, "edge": graphlets.edge_graphlets, "node": graphlets.node_orbits}
    graph = load_graph(args) if args.typed else without_directions(load_graph(args))
    with timed("counted"):
        kind = {"size": args.size, "induced": not args.not_induced, "typed": args.typed}
        result = functions[args.per](graph, **kind, certify=args.certificate, **work_options(args))
    if args.figures is not None:
        if args.typed and not (graph.node_labels is None and graph.edge_labels is None):
            patterns = class_patterns(list(result.counts), graph.directed, graph._label_words)
        else:
            patterns = {name: named_pattern(name, graph.directed) for name in result.counts}
        write_figures(args, patterns, graph._label_words)

    def page(run: Mapping[str, object]) -> str:
        orbits = result
        if args.per != "node" or args.not_induced:
            orbits = graphlets.node_orbits(graph, size=args.size, progress=not args.quiet, **place_options(args))
        return report.graphlets_report(network_name(args.graph), graph, orbits, run)

    write_page(args, page)
    sizes = {"nodes": graph.n, "edges": graph.m}
    if args.per == "graph":
        table = result.table()
        if args.format == "json":
            return Report({**sizes, "counts": dict(zip(table["graphlet"], table["count"], strict=True))}, {})
        return Report(sizes, table)
    names = graph._names
    keys = {"node": names} if args.per == "node" else dict(zip(("u", "v"), names[result.edges].T, strict=True))
    columns = columns_in_words(result.columns, graph)
    return Report(sizes, keys | dict(zip(columns, result.to_numpy().T, strict=True)))
