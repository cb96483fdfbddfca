"""The command ``jaxmotif motifs``, which finds subgraphs that occur more often than in random graphs."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from jaxmotif import report
from jaxmotif.cli._columns import class_patterns, class_report
from jaxmotif.cli._command import place_options, timed, without_directions, work_options
from jaxmotif.cli._input import load_graph, network_name
from jaxmotif.cli._keep import null_model
from jaxmotif.cli._occurrences import check_class, write_class_files
from jaxmotif.cli._output import Column, Report
from jaxmotif.cli._parser import refuse
from jaxmotif.cli._report import write_figures, write_page

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.motifs import MotifComparison, Motifs

_READ_FIRST = ("count", "mean", "fold", "z", "q", "why")
_RULE = ("alpha", "min_count", "min_fold", "correction", "family")


def run(args: argparse.Namespace) -> Report:
    """Count the connected induced subgraphs of K nodes by class, and say which classes are unusual.

    The counts are compared with those in random graphs with the same degrees.
    """
    from jaxmotif.motifs._compare import check_networks, compare_motifs, correct_together, words_of

    if len(args.graph) > 1:
        refuse(args, ("--occurrences", "--roles", "--subnetwork"), "for one network; give them one by one")
    else:
        refuse(args, ("--together", "--gcd"), "for several networks; name more")
    if args.together and args.random == "auto":
        raise ValueError("--together takes a number, --random N, since --random auto decides for one network alone")
    if args.together and args.correction == "max":
        raise ValueError("--together takes --correction bh or by, which are of all tests together")
    files = [os.path.realpath(path) if os.path.exists(path) else path for path in args.graph]
    for path, file in zip(args.graph, files, strict=True):
        if files.count(file) > 1:
            raise ValueError(f"{path} is named {files.count(file)} times; networks are compared, so name it once")
    names = [network_name(path) for path in args.graph]
    if len(set(names)) < len(names):
        names = args.graph
    labels: dict[str, int] = {}  # One dict for all networks, so that a word means the same in each.
    graphs = [load_graph(argparse.Namespace(**vars(args) | {"graph": path}), label_ids=labels) for path in args.graph]
    check_class(args, graphs[0])
    check_networks(dict(zip(names, graphs, strict=True)), args.size)
    motifs = []
    for name, graph in zip(names, graphs, strict=True):
        checkpoint = args.checkpoint
        if checkpoint is not None and len(names) > 1:
            checkpoint /= re.sub(r"[/\\:]", "%", name)  # a name may be the path of a file elsewhere
        with timed(f"{name}: found" if len(names) > 1 else "found"):
            motifs.append(_find(args, graph, checkpoint))
    if args.together:
        motifs = correct_together(motifs)
    distances = _distances(args, graphs)
    reports = [_report(graph, found) for graph, found in zip(graphs, motifs, strict=True)]
    if len(names) == 1:
        write_class_files(args, graphs[0], reports[0].columns, motifs[0].table()["class"])
    networks = list(zip(names, graphs, motifs, strict=True))
    if args.figures is not None:
        ranked = list(dict.fromkeys(str(text) for found in motifs for text in found.table()["class"]))
        words = words_of(dict(zip(names, motifs, strict=True)))
        patterns = class_patterns(ranked, graphs[0].directed, words)
        write_figures(args, patterns, words, lambda: report.motif_figures(networks, distances))
    write_page(args, lambda run: report.motifs_report(networks, run, distances))
    if len(names) == 1:
        return reports[0]
    compared = compare_motifs(dict(zip(names, motifs, strict=True)), args.seed)
    return _join_reports(names, reports, _pairs(compared, distances))


def _distances(args: argparse.Namespace, graphs: Sequence[Graph]) -> dict[str, np.ndarray]:
    """Return the graphlet correlation distances that the user asked for, by what they are called."""
    if args.gcd is None:
        return {}
    from jaxmotif.features import graphlet_correlation_distance, graphlet_correlation_matrix
    from jaxmotif.graphlets import node_orbits

    size: Literal[4, 5] = 4 if args.gcd == "11" else 5
    options = {"size": size, **place_options(args)}
    orbits = [np.asarray(node_orbits(without_directions(graph), **options).values) for graph in graphs]
    matrices = [graphlet_correlation_matrix(values, size) for values in orbits]
    rows = [[graphlet_correlation_distance(a, b, size) for b in matrices] for a in matrices]
    return {f"GCD-{args.gcd}": np.array(rows)}


def _pairs(compared: MotifComparison, distances: Mapping[str, np.ndarray]) -> dict[str, object]:
    """Return the correlations and distances of every two networks, by name."""
    values: dict[str, object] = {"compared": f"{compared.summary}; correlations of significance profiles"}
    for i, j in itertools.combinations(range(len(compared.names)), 2):
        pair = f"({compared.names[i]}, {compared.names[j]})"
        values[f"correlation {pair}"] = compared.correlation[i, j]
        interval = f"{compared.low[i, j]:.3f} to {compared.high[i, j]:.3f}"
        values[f"correlation_95 {pair}"] = None if np.isnan(compared.low[i, j]) else interval
        if not compared.tested.all():
            values[f"correlation_closed {pair}"] = compared.tested_correlation[i, j]
        values |= {f"{name} {pair}": matrix[i, j] for name, matrix in distances.items()}
    return values


def _find(args: argparse.Namespace, graph: Graph, checkpoint: Path | None) -> Motifs:
    from jaxmotif.motifs import Rule, Until, find_motifs
    from jaxmotif.motifs._estimate import DEFAULT_SAMPLES

    draws = None
    if args.estimate:
        draws = DEFAULT_SAMPLES if args.samples is None else args.samples
    number = args.random
    if number == "auto":
        number = Until() if args.most is None else Until(most=args.most)
    options = {name: getattr(args, name) for name in ("switches", "attempts")}
    options["rule"] = Rule(**{name: getattr(args, name) for name in _RULE})
    options |= work_options(args) | {"checkpoint": checkpoint, "estimate": draws}
    return find_motifs(graph, args.size, number, args.seed, null_model(args, graph), **options)


def _report(graph: Graph, found: Motifs) -> Report:
    summary = {
        "result": found.summary,
        "size": found.size,
        "directed": found.directed,
        "total": found.counts.sum().item(),
        **({} if found.estimate is None else {"estimate": found.estimate}),
        "random_graphs": len(found.random_counts),
        "null_model": found.null_model,
        "attempts_per_edge": found.attempts,
        "accepted_per_edge": found.accepted,
        "accepted_by_kind": "; ".join(f"{name} {made:.1f}" for name, made in found.accepted_by_kind.items()),
        "longer_z": _farthest(found.mixing.longer_z),
        **({} if found.decided is None else {"decided": int(found.decided.sum())}),
        "notes": "; ".join(found.notes),
    }
    shown = _READ_FIRST if found.estimate is None else ("count", "error", *_READ_FIRST[1:])
    return dataclasses.replace(class_report(found.table(), graph, shown), scalars=summary)


def _join_reports(names: Sequence[str], reports: Sequence[Report], compared: Mapping[str, object]) -> Report:
    """Return one table of several networks, where values that differ between networks are named for each."""
    scalars = dict(compared)
    for key in reports[0].scalars:
        values = [report.scalars[key] for report in reports]
        if all(value == values[0] for value in values):
            scalars[key] = values[0]
        else:
            scalars |= {f"{key} ({name})": value for name, value in zip(names, values, strict=True)}
    tables = [one.columns for one in reports]
    rows = [len(table["class"]) for table in tables]
    columns: dict[str, Column] = {"network": np.repeat(names, rows)}
    for key in max(tables, key=len):  # a network without classes has no readings of their labels
        parts = [table.get(key, [""] * number) for table, number in zip(tables, rows, strict=True)]
        columns[key] = np.concatenate([np.asarray(part) for part in parts])
    shown = {"network"}.union(*(report.narrow or () for report in reports))
    return Report(scalars, columns, narrow=[name for name in columns if name in shown], objects="classes")


def _farthest(values: np.ndarray) -> float:
    """Return the value farthest from 0."""
    return float(values[np.argmax(np.abs(values))]) if values.size else 0.0
