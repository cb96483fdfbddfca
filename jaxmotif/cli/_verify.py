"""The command ``jaxmotif verify``, which checks a certificate against a graph in any format."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from jaxmotif.cli._input import load_graph
from jaxmotif.cli._output import Report


def run(args: argparse.Namespace) -> Report:
    """Check a certificate of counts by other means than those that made it, and say what that proves."""
    from jaxmotif import verify

    answer = None if args.answer is None else _read_answer(args.answer)
    # ``match`` numbers labels in the order in which they come, all other commands in their order as text.
    for label_ids in (None, {}):
        graph = load_graph(args, label_ids=label_ids)
        simple = verify.graph_from_edges(graph.edge_list(), graph.n, graph.directed, *graph._labels())
        report = verify.check(args.file, simple, answer, args.seconds)
        if "another graph" not in report.reason:
            break
    if not report.accepted:
        other = (
            "; one is what --certificate wrote, and comes before the graph" if "no certificate" in report.reason else ""
        )
        raise ValueError(f"{args.file}: refused: {report.reason}{other}")
    names = [f"here {name} is {meaning}" for name, meaning in report.names.items()]
    statements = [*report.checked, *report.open, *names]
    chances = [*report.checked.values(), *["not checked"] * len(report.open), *[""] * len(names)]
    return Report({"accepted": True}, {"statement": statements, "a wrong one is refused with probability": chances})


def _read_answer(path: Path) -> np.ndarray:
    """Read a table in CSV, as Python integers, without its columns ``u`` and ``v``, or ``node``."""
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(line for line in file if not line.startswith("#"))
    first = sum(name in ("u", "v", "node") for name in names[:2])
    try:
        return np.array([[int(value) for value in row[first:]] for row in rows], object).reshape(-1, len(names) - first)
    except ValueError:
        raise ValueError(f"{path}: expected a table of counts, as --certificate is written with") from None
