"""``jaxmotif graphlets``: exact counts of the induced subgraphs of 2, 3 and 4 nodes."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.cli.options import add_input_options, add_work_options, load_graph, logger, use_devices
from jaxmotif.cli.output import Report, add_output_options, check_output, write_report

if TYPE_CHECKING:
    from jaxmotif.graph import Graph


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser(
        "graphlets",
        help="count the induced subgraphs of 2, 3 and 4 nodes",
        description="Count every induced subgraph of 2, 3 and 4 nodes, in the whole graph, at each edge or at "
        "each node. Directions of a directed graph are ignored.",
        allow_abbrev=False,
    )
    add_input_options(parser)
    parser.add_argument("--per", choices=("graph", "edge", "node"), default="graph", help="default: %(default)s")
    add_output_options(parser)
    add_work_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    check_output(args.output)
    use_devices(args)
    graph = load_graph(args)
    if graph.directed:
        arcs = graph.m
        graph = undirected(graph)
        logger.info("directed: %d arcs count as %d undirected edges", arcs, graph.m)
    started = time.monotonic()
    report = _REPORTS[args.per](
        graph, devices=args.device, memory=args.memory, checkpoint=args.checkpoint, progress=not args.quiet
    )
    logger.info("counted in %.2f s", time.monotonic() - started)
    write_report(report, args.format, args.output)


def undirected(graph: Graph) -> Graph:
    """The same graph without directions; an edge where there was an arc either way."""
    from jaxmotif.graph import Graph

    return Graph.from_edges(graph.edge_list(), num_nodes=graph.n, node_names=graph.node_names, pad="bucket")


def _per_graph(graph: Graph, **options) -> Report:
    from jaxmotif.graphlets import graphlet_counts

    counts = graphlet_counts(graph, **options).counts
    columns = {"graphlet": list(counts), "count": list(counts.values())}
    return Report({"nodes": graph.n, "edges": graph.m}, columns, mapping="counts")


def _per_edge(graph: Graph, **options) -> Report:
    from jaxmotif.graphlets import edge_graphlets

    result = edge_graphlets(graph, **options)
    u, v = (_names(graph, ids) for ids in result.edges.T)
    return _table(graph, {"u": u, "v": v}, result)


def _per_node(graph: Graph, **options) -> Report:
    from jaxmotif.graphlets import node_orbits

    result = node_orbits(graph, **options)
    return _table(graph, {"node": _names(graph, np.arange(graph.n))}, result)


def _names(graph: Graph, ids: np.ndarray) -> np.ndarray:
    return ids if graph.node_names is None else graph.node_names[ids]


def _table(graph: Graph, keys: dict[str, np.ndarray], result) -> Report:
    columns = keys | dict(zip(result.columns, result.values.T, strict=True))
    return Report({"nodes": graph.n, "edges": graph.m}, columns)


_REPORTS = {"graph": _per_graph, "edge": _per_edge, "node": _per_node}
