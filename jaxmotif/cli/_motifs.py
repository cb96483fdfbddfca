"""``jaxmotif motifs``: subgraphs that occur more often than in random graphs with the same degrees."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.cli._columns import class_patterns, class_report
from jaxmotif.cli._command import Command, add_estimate, add_seed, add_size, how, refuse, timed, whole_number
from jaxmotif.cli._input import add_input_options, load_graph, network_name
from jaxmotif.cli._keep import add_keep_options, check_keep, kept
from jaxmotif.cli._occurrences import add_occurrences_option, class_rows, write_occurrences
from jaxmotif.cli._output import Column, Report
from jaxmotif.cli._report import add_report_options, write_drawings, write_page

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.motifs import Motifs

_READ_FIRST = ("count", "mean", "sd", "z", "q", "verdict")


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "graph", nargs="+", metavar="FILE|DATASET", help="graph files, plain or .gz, or bundled networks; several are "
        "told beside each other",
    )  # fmt: skip
    add_input_options(parser, positional=False)
    add_size(parser, "2 to 8; with --estimate 3 to 10")
    parser.add_argument(
        "--random", type=_number, default=1000, metavar="R|auto",
        help="random graphs to compare with, or as many as decide which q are at most --alpha (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--alpha", type=float, metavar="A", help="with --random auto: the false discovery rate (0.05)")
    parser.add_argument(
        "--most", type=whole_number, metavar="R", help="with --random auto: random graphs at most (default: 10,000)"
    )
    add_keep_options(parser)
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
    add_estimate(parser)
    add_seed(parser)
    add_occurrences_option(parser)
    add_report_options(parser)


def _number(text: str) -> int | str:
    """A number of random graphs, or ``auto``.

    Example:
      >>> _number("1e4"), _number("auto")
      (10000, 'auto')
    """
    return text if text == "auto" else whole_number(text)


def _run(args: argparse.Namespace) -> Report:
    if args.random != "auto":
        refuse(args, ("alpha", "most"), "of --random auto")
    if len(args.graph) > 1:
        refuse(args, ("occurrences",), "of one network; give them one by one")
    if args.estimate:
        refuse(args, ("occurrences",), "of exact counts; leave it out with --estimate")
    else:
        refuse(args, ("samples",), "of estimates; add --estimate")
    check_keep(args)
    names = [network_name(path) for path in args.graph]
    if len(set(names)) < len(names):
        names = args.graph
    labels: dict[str, int] = {}  # of all networks, so that a word means the same in each
    graphs = [load_graph(_of_one(args, path), label_ids=labels) for path in args.graph]
    founds = []
    for name, graph in zip(names, graphs, strict=True):
        checkpoint = args.checkpoint if args.checkpoint is None or len(names) == 1 else args.checkpoint / name
        with timed(f"{name}: found" if len(names) > 1 else "found"):
            founds.append(_find(args, graph, checkpoint))
    reports = [_report(graph, found) for graph, found in zip(graphs, founds, strict=True)]
    if len(names) == 1:
        write_occurrences(args, graphs[0], class_rows(reports[0].columns, founds[0].table()["class"]), how(args))
    classes = {text for found in founds for text in found.classes}
    words = graphs[0].node_label_names, graphs[0].edge_label_names
    write_drawings(args, class_patterns(sorted(classes), graphs[0].directed), words)
    found = list(zip(names, graphs, founds, strict=True))
    write_page(args, how(args), lambda report, run: report.motifs_report(found, run))
    return reports[0] if len(names) == 1 else _beside(names, reports)


def _of_one(args: argparse.Namespace, path: str) -> argparse.Namespace:
    return argparse.Namespace(**vars(args) | {"graph": path})


def _find(args: argparse.Namespace, graph: Graph, checkpoint: Path | None) -> Motifs:
    from jaxmotif.motifs import Until, find_motifs
    from jaxmotif.motifs._estimate import DEFAULT_SAMPLES

    draws = None
    if args.estimate:
        draws = DEFAULT_SAMPLES if args.samples is None else args.samples
    number = args.random
    if number == "auto":
        number = Until(**{name: getattr(args, name) for name in ("alpha", "most") if getattr(args, name) is not None})
    return find_motifs(
        graph, args.size, number, args.seed, kept(args, graph), threshold=args.threshold, switches=args.switches,
        attempts=args.attempts, step=args.step, engine=args.engine, estimate=draws, checkpoint=checkpoint,
        devices=args.device, memory=args.memory, progress=not args.quiet,
    )  # fmt: skip


def _report(graph: Graph, found: Motifs) -> Report:
    summary = {
        "size": found.size, "directed": found.directed, "total": found.counts.sum().item(),
        **({} if found.estimate is None else {"estimate": found.estimate}), "random_graphs": len(found.random_counts),
        "null_model": found.null_model, "attempts_per_edge": found.attempts, "accepted_per_edge": found.accepted,
        "accepted_by_kind": "; ".join(f"{name} {made:.1f}" for name, made in found.accepted_by_kind.items()),
        "engine": found.engine, "absent_classes": "not looked for" if found.engine == "matching" else "counted",
        "threshold": found.threshold, "longer_z": _farthest(found.mixing.longer_z),
        **({} if found.decided is None else {"decided": int(found.decided.sum())}), "notes": "; ".join(found.notes),
    }  # fmt: skip
    shown = _READ_FIRST if found.estimate is None else ("count", "error", *_READ_FIRST[1:])
    return dataclasses.replace(class_report(found.table(), graph, shown), scalars=summary)


def _beside(names: Sequence[str], reports: Sequence[Report]) -> Report:
    """One table of several networks; what is not the same for all is told of each."""
    scalars = {}
    for key in reports[0].scalars:
        values = [report.scalars[key] for report in reports]
        if all(value == values[0] for value in values):
            scalars[key] = values[0]
        else:
            scalars |= {f"{key} ({name})": value for name, value in zip(names, values, strict=True)}
    rows = [[name] * len(report.columns["class"]) for name, report in zip(names, reports, strict=True)]
    columns: dict[str, Column] = {"network": list(itertools.chain.from_iterable(rows))}
    for key in reports[0].columns:
        parts = [np.asarray(report.columns[key]) for report in reports]
        columns[key] = np.concatenate(parts)
    wanted = {name for report in reports for name in report.narrow or ()}
    return Report(
        scalars, columns, narrow=[name for name in columns if name in wanted | {"network"}], objects="classes"
    )


def _farthest(values: np.ndarray) -> float:
    """The value farthest from 0."""
    return float(values[np.argmax(np.abs(values))]) if values.size else 0.0


COMMAND = Command(
    "motifs",
    "find subgraphs that occur unexpectedly often",
    "Count the connected induced subgraphs of K nodes by class, in the graph and in random graphs with the same "
    "degrees, and say which classes are unusual.",
    "FILE|DATASET...",
    _options,
    _run,
)
