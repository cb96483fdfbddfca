"""The command ``jaxmotif search``, which finds connected subgraphs with given colors (the graph motif problem)."""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxmotif import report
from jaxmotif.arrays._present import meant
from jaxmotif.cli._command import timed, work_options
from jaxmotif.cli._input import load_graph, network_name, node_rows
from jaxmotif.cli._output import Report
from jaxmotif.cli._report import write_page

if TYPE_CHECKING:
    from jaxmotif.graph import Graph

logger = logging.getLogger("jaxmotif")


def run(args: argparse.Namespace) -> Report:
    """Find the vertices that lie in a connected subgraph whose colors are exactly the motif.

    Such subgraphs themselves are listed, too.
    """
    from jaxmotif.sieve import find_color_motif

    graph = load_graph(args)
    direction = args.direction
    if direction is None and graph.directed:
        direction = "any"
        logger.info("directions ignored; --direction says otherwise")
    colors = read_colors(args.colors, graph, args.encoding)
    known = frozenset().union(*(own or () for own in colors))
    if missing := [color for color in args.motif if color not in known]:
        raise ValueError(
            f"--motif: no vertex has the color {', nor '.join(map(repr, missing))}; colors in {args.colors} are "
            f"{shortened(sorted(known))}{meant(missing[0], known)}"
        )
    # Where the labels in the file are numbers, those of the option are numbers too.
    has_numbers = graph.edge_label_names is None
    only = args.only and [int(label) if has_numbers and re.fullmatch(r"-?\d+", label) else label for label in args.only]
    options = {"edge_labels": only, "direction": direction, "error": args.error, "limit": args.limit}
    with timed("searched"):
        result = find_color_motif(graph, colors, args.motif, args.seed, **options, **work_options(args))
    name, motif = network_name(args.graph), args.motif
    write_page(args, lambda run: report.search_report(name, graph, motif, result, colors, run))
    names = graph._names
    summary = {name: getattr(result, name) for name in ("found", "repetitions", "false_negative_bound")}
    if args.format == "json":
        matches = [names[list(match)].tolist() for match in result.matches]
        return Report(summary | {"vertices": names[result.vertices].tolist(), "matches": matches}, {})
    table = result.table()
    return Report(summary, {"vertex": names[result.vertices], "matches": table["matches"]})


def shortened(names: Sequence[str], most: int = 5) -> str:
    """Return the first of some names, for a message.

    Example:
      >>> shortened(["a", "b", "c"], 2)
      "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name[:30]) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "") if names else "none"


def read_colors(path: str, graph: Graph, encoding: str | None = None) -> list[frozenset[str] | None]:
    """Read the colors of the vertices from a text file, plain or gzip.

    The file has lines ``vertex color[,color...]``, and comments in lines that begin with ``#``. Several lines for a
    vertex add up, and a vertex without a line has no color. Lines for vertices that are not in the graph are counted in
    the log (an edge list names only vertices with an edge).

    Raises:
      GraphFileError: A line does not have this form, or no line is for a vertex of the graph.
    """
    from jaxmotif.arrays._present import counted
    from jaxmotif.io._read import open_about_nodes

    numbers = {str(name): number for number, name in enumerate(graph._names.tolist())}
    colors: list[frozenset[str] | None] = [None] * graph.n
    unknown = 0
    with open_about_nodes(path, encoding) as file:
        for line, text, fields, mark in node_rows(file, numbers):
            rest = (" " if mark == " " else ",").join(fields[1:])
            own = frozenset(color.strip() for color in rest.split(","))
            if "" in own:
                raise file.error("expected `vertex color[,color...]`", line, text)
            number = numbers.get(fields[0])
            if number is None:
                unknown += 1
            else:
                colors[number] = own | (colors[number] or frozenset())
    if unknown and not any(colors):
        raise file.error(
            f"none of the {counted(unknown, 'line')} is for a vertex of the graph, whose vertices are called "
            f"{shortened(list(numbers))}"
        )
    if unknown:
        logger.info("%s: %s for vertices that are not in the graph", path, counted(unknown, "line"))
    return colors
