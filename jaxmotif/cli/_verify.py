"""The command ``jaxmotif verify``, which checks a certificate against a graph in any format."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from jaxmotif.cli._command import Command
from jaxmotif.cli._input import add_input_options, load_graph
from jaxmotif.cli._output import Report


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="CERTIFICATE", help="the file that --certificate wrote")
    parser.add_argument("graph", metavar="FILE|DATASET", help="the graph's file, or a bundled network")
    add_input_options(parser, positional=False)
    parser.add_argument("--answer", type=Path, metavar="TABLE.csv", help="also the table that the certificate is about")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="CPU time to take (default: 60)")


def _run(args: argparse.Namespace) -> Report:
    from jaxmotif import verify

    graph = load_graph(args, label_ids={})
    answer = None if args.answer is None else _read_answer(args.answer)
    simple = verify.graph_from_edges(graph.edge_list(), graph.n, graph.directed, *graph._labels())
    report = verify.check(args.file, simple, answer, args.seconds)
    if not report.accepted:
        raise ValueError(f"{args.file}: refused: {report.reason}")
    names = [f"here {name} is {meaning}" for name, meaning in report.names.items()]
    statements = [*report.checked, *report.open, *names]
    chances = [*report.checked.values(), *["not checked"] * len(report.open), *[""] * len(names)]
    return Report({"accepted": True}, {"statement": statements, "a wrong one is refused with probability": chances})


def _read_answer(path: Path) -> np.ndarray:
    """Read a table in CSV, as Python integers, without its columns ``u`` and ``v``, or ``node``."""
    with path.open(encoding="utf-8") as file:
        names, *rows = [line.strip().split(",") for line in file if not line.startswith("#")]
    first = sum(name in ("u", "v", "node") for name in names[:2])
    return np.array([[int(value) for value in row[first:]] for row in rows], object).reshape(-1, len(names) - first)


COMMAND = Command(
    "verify",
    "check a certificate against a graph",
    "Check a certificate of counts by other means than those that made it, and say what that proves.",
    "CERTIFICATE FILE|DATASET",
    _options,
    _run,
    works=False,
)
