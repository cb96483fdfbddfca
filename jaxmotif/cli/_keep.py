"""``--keep`` and what goes with it: what random graphs keep of a graph."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.cli._command import refuse
from jaxmotif.cli._input import node_rows

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.motifs import NullModel


def add_keep_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep", choices=("bidegree", "degree", "labels", "blocks", "distances"), default="bidegree",
        help="what random graphs keep of every node: in-, out- and reciprocal degree, or in- and out-degree only; or "
        "degrees to each label; or degrees and, of all edges, how many join any two blocks, or how many are how long "
        "(default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--blocks", type=Path, metavar="FILE", help="with --keep blocks: rows `node block`")
    parser.add_argument(
        "--positions", type=Path, metavar="FILE", help="with --keep distances: rows `node x [y [z ...]]`"
    )
    parser.add_argument(
        "--bins", type=_bins, metavar="N|L,L,...",
        help="with --keep distances: how many classes of length, of about as many edges each, or the lengths between "
        "them (default: 10)",
    )  # fmt: skip
    parser.add_argument(
        "--degrees", choices=("bidegree", "degree"), help="with --keep labels, blocks, distances: which degrees stay "
        "(default: bidegree)",
    )  # fmt: skip


def _bins(text: str) -> int | list[float]:
    """A number of bins, or where they end.

    Example:
      >>> _bins("8"), _bins("0.5,2")
      (8, [0.5, 2.0])
    """
    try:
        return int(text) if text.isdecimal() else [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of bins nor lengths such as 0.5,2") from None


_NEEDS = {"blocks": "blocks", "positions": "distances", "bins": "distances"}


def check_keep(args: argparse.Namespace) -> None:
    """Raises ValueError for options that do not go together, before anything is read."""
    for option, keep in _NEEDS.items():
        if args.keep != keep:
            refuse(args, (option,), f"of --keep {keep}, not of --keep {args.keep}")
        elif option != "bins" and getattr(args, option) is None:
            raise ValueError(f"--keep {keep} takes a file: add --{option} FILE")
    if args.keep in ("bidegree", "degree"):
        refuse(args, ("degrees",), f"of --keep labels, blocks or distances; --keep {args.keep} says it already")


def kept(args: argparse.Namespace, graph: Graph) -> str | NullModel:
    """The null model that the options ask for."""
    from jaxmotif.motifs import keep_blocks, keep_distances, keep_labels

    degrees = args.degrees or "bidegree"
    if args.keep == "labels":
        return keep_labels(degrees)
    if args.keep == "blocks":
        return keep_blocks([row[0] for row in _of_nodes(args.blocks, graph, 1)], degrees)
    if args.keep == "distances":
        rows = _of_nodes(args.positions, graph, None)
        try:
            places = np.array(rows, np.float64).reshape(graph.n, -1)
        except ValueError:
            raise ValueError(f"{args.positions}: positions must be numbers, as many for each node") from None
        return keep_distances(places, 10 if args.bins is None else args.bins, degrees)
    return args.keep


def _of_nodes(path: Path, graph: Graph, width: int | None) -> list[list[str]]:
    """What is after every node's name in a text file, plain or gzip.

    Raises:
      GraphFileError: a line that is not of that form, or a node twice.
      ValueError: a node of the graph without a line.
    """
    from jaxmotif.io._text import TextFile

    names = list(map(str, range(graph.n) if graph.node_names is None else graph.node_names.tolist()))
    found: dict[str, list[str]] = {}
    with TextFile(path) as file:
        for line, text, fields, _ in node_rows(file, set(names)):
            if len(fields) < 2 or (width is not None and len(fields) != 1 + width) or fields[0] in found:
                raise file.error("expected a node, once, and what it has", line, text)
            found[fields[0]] = fields[1:]
    if missing := [name for name in names if name not in found]:
        raise ValueError(f"{path}: no line for {len(missing)} of {graph.n} nodes, the first of them {missing[0]!r}")
    return [found[name] for name in names]
