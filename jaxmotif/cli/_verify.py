"""The command ``jaxmotif verify``, which checks a certificate against a graph in any format."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from jaxmotif.cli._input import load_graph
from jaxmotif.cli._output import Report
from jaxmotif.verify._certificate import read_certificate


def run(args: argparse.Namespace) -> Report:
    """Check a certificate of counts by other means than those that made it, and say what that proves."""
    from jaxmotif import verify

    answer, of_maps = None, _is_of_maps(args.file)
    # The command ``match`` numbers labels in the order in which they come; Python, and all other commands, in their
    # order as text.
    for label_ids in ({}, None) if of_maps else (None, {}):
        graph = load_graph(args, label_ids=label_ids)
        simple = verify.graph_from_edges(graph.edge_list(), graph.n, graph.directed, *graph._labels())
        if args.answer is not None:
            nodes = {str(name): node for node, name in enumerate(graph._names.tolist())}
            answer = _read_answer(args.answer, nodes if of_maps else None)
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


def _is_of_maps(path: str) -> bool:
    """Return whether a certificate is of maps. If the file is no certificate, the checker will say so."""
    try:
        return read_certificate(path)["claim"]["maps"] is True
    except (ValueError, LookupError, TypeError):
        return False


def _read_answer(path: Path, nodes: Mapping[str, int] | None) -> np.ndarray:
    """Read a table in CSV, as Python integers.

    Args:
      path: the file.
      nodes: for a listing of matches, the number of each node by its name; other names are read as -1. ``None`` for a
        table of counts, whose columns ``u`` and ``v``, or ``node``, are left out.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            names, *rows = csv.reader(line for line in file if not line.startswith("#"))
        first = sum(name in ("u", "v", "node") for name in names[:2]) if nodes is None else 0
        read = int if nodes is None else lambda name: nodes.get(name, -1)
        values = [[read(value) for value in row[first:]] for row in rows]
        return np.array(values, object).reshape(len(rows), len(names) - first)
    except (ValueError, csv.Error):
        raise ValueError(
            f"{path}: expected a table of counts at nodes or edges, or of all matches, in CSV, as graphlets --per node "
            "or edge and match --limit all write it; counts in the whole graph, as of a census, need no table, since "
            "the certificate states them"
        ) from None
