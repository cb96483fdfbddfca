"""The command ``jaxmotif census``, which counts or estimates connected induced subgraphs of one size by class."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxmotif import report
from jaxmotif.cli._columns import class_patterns, class_report, columns_in_words
from jaxmotif.cli._command import place_options, timed, work_options
from jaxmotif.cli._input import load_graph, network_name
from jaxmotif.cli._occurrences import check_class, write_class_files
from jaxmotif.cli._output import Column, Report, beside_result
from jaxmotif.cli._report import write_figures, write_page

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.motifs import Census, CensusEstimate


def run(args: argparse.Namespace) -> Report:
    """Count every connected induced subgraph of K nodes by isomorphism class, or estimate the counts.

    Estimates are for graphs with too many subgraphs to be enumerated. Labels in the file are part of a class.
    """
    graph = load_graph(args)
    check_class(args, graph)
    if args.per != "graph":
        return _count_roles(args, graph)
    return _estimate(args, graph) if args.estimate else _count(args, graph)


def _count_roles(args: argparse.Namespace, graph: Graph) -> Report:
    from jaxmotif.features import census_orbits

    with timed("counted"):
        roles = census_orbits(graph, args.size, per=args.per, **work_options(args))
    names = graph._names
    keys = {"node": names} if roles.edges is None else dict(zip(("u", "v"), names[roles.edges].T, strict=True))
    columns = keys | dict(zip(columns_in_words(roles.columns, graph), roles.values.T, strict=True))
    return Report({"size": args.size, "directed": graph.directed}, columns)


def _count(args: argparse.Namespace, graph: Graph) -> Report:
    from jaxmotif.motifs import subgraph_census

    with timed("counted"):
        census = subgraph_census(graph, args.size, per_node=args.certificate is not None, **work_options(args))
    if args.certificate is not None:
        from jaxmotif.certificates import certify_census

        with beside_result(args):
            certify_census(args.certificate, graph, census.classes, census.counts, np.asarray(census.per_node))
    summary = {"size": census.size, "directed": census.directed, "total": census.total}
    columns, shown = census.table(), ["count", *(("disjoint", "disjoint_upper") if args.disjoint else ())]
    if args.strengths is not None:
        from jaxmotif.features import motif_strengths

        number = 100 if args.random_weights is None else args.random_weights
        [weight] = [*graph.attributes.edges] if graph.attributes else []  # --weight may be its number
        devices = args.device if args.cluster is None else None  # a cluster does not list blocks of occurrences
        options = {"key": args.seed or 0, "devices": devices, "memory": args.memory}
        with timed("strengths computed"):
            strengths = motif_strengths(graph, args.size, weight, number, args.strengths, **options)
        columns |= strengths.table()
        summary["null_model"] = strengths.null_model
        shown += [name for name in ("intensity", "coherence", "ratio", "z", "q", "why") if name in columns]
    if args.disjoint is not None:
        columns |= _disjoint(args, graph, census.classes)
    table = class_report(columns, graph, shown)
    write_class_files(args, graph, table.columns, census.classes)
    _write_pictures(args, graph, census)
    return dataclasses.replace(table, scalars=summary)


def _disjoint(args: argparse.Namespace, graph: Graph, classes: Sequence[str]) -> dict[str, Column]:
    """Return columns of how many occurrences of each class a greedy choice finds, and how many there are at most."""
    from jaxmotif.matching import disjoint_occurrences
    from jaxmotif.patterns import named_pattern

    found = []
    for name in classes:
        pattern = named_pattern(name, graph.directed)  # the string has labels by their numbers, not by their words
        found.append(disjoint_occurrences(graph, pattern, args.disjoint, **place_options(args)))
    return {"disjoint": [one.count for one in found], "disjoint_upper": [one.upper for one in found]}


def _estimate(args: argparse.Namespace, graph: Graph) -> Report:
    from jaxmotif.motifs import estimate_census

    level = 0.95 if args.level is None else args.level
    draws = {"samples": args.samples, "error": args.error, "level": level, "key": args.seed or 0}
    with timed("estimated"):
        estimate = estimate_census(graph, args.size, **draws, **work_options(args))
    _write_pictures(args, graph, estimate)
    names = ("size", "directed", "total", "total_low", "total_high", "level")
    summary = {name: getattr(estimate, name) for name in names}
    summary |= {name: sum(getattr(estimate, name)) for name in ("samples", "accepted")}
    summary["notes"] = "; ".join(estimate.notes)
    return dataclasses.replace(class_report(estimate.table(), graph, ["count", "low", "high", "hits"]), scalars=summary)


def _write_pictures(args: argparse.Namespace, graph: Graph, census: Census | CensusEstimate) -> None:
    """Write drawings of the classes, the most frequent first, and the page, where the user asked for them."""
    if args.figures is not None:
        ordered = [census.classes[row] for row in np.argsort(-np.asarray(census.counts, float), kind="stable")]
        write_figures(args, class_patterns(ordered, graph.directed, graph._label_words), graph._label_words)
    write_page(args, lambda run: report.census_report(network_name(args.graph), graph, census, run))
