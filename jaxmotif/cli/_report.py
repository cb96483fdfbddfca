"""The options ``--report FILE.html``, for a page with the result, and ``--svg DIR``, for drawings as files."""

from __future__ import annotations

import argparse
import itertools
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from jaxmotif.cli._options import limit
from jaxmotif.cli._output import beside_result, whole_file

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.patterns import Pattern

logger = logging.getLogger("jaxmotif")

MOST_DRAWINGS = 500
"""Number of files that ``--svg`` writes by default: enough for all directed classes of four nodes.

There are 9,364 directed classes of five nodes.
"""


def add_report_options(parser: argparse.ArgumentParser, drawings: bool = True) -> None:
    """Add the option of a page and, if ``drawings``, those of a folder of drawings."""
    parser.add_argument(
        "--report", type=Path, metavar="FILE.html", help="also write a page with pictures, which needs nothing else"
    )
    if drawings:
        parser.add_argument("--svg", type=Path, metavar="DIR", help="also draw every class or query, an SVG file each")
        parser.add_argument(
            "--svg-limit",
            type=limit,
            default=MOST_DRAWINGS,
            metavar="N|all",
            help="with --svg: how many to draw at most, the most frequent first (default: %(default)s)",
        )


def write_page(
    args: argparse.Namespace, run: Mapping[str, object], make: Callable[[ModuleType, Mapping[str, object]], str]
) -> None:
    """Write the page that the user asked for, if any.

    Args:
      args: The options.
      run: How the result was made.
      make: A function that returns the page. It is called with the package ``jaxmotif.report``, which is imported only
        when it is needed, and with ``run`` and the command line.
    """
    if args.report is not None:
        from jaxmotif import report

        with beside_result(args):
            with whole_file(args.report) as stream:
                stream.write(make(report, {"argv": args.argv, **run}))
            logger.info("report written to %s", args.report)


def write_drawings(args: argparse.Namespace, patterns: Mapping[str, Pattern], graph: Graph) -> None:
    """Write the drawings that the user asked for, if any, each to a file of its name.

    Args:
      args: The options.
      patterns: The patterns by the names of the files without their endings, the most frequent first.
      graph: The graph that the patterns occur in, which has the words of labels.
    """
    if args.svg is None:
        return
    from jaxmotif.drawing import draw_pattern
    from jaxmotif.drawing._drawing import MOST_NODES

    small = {name: pattern for name, pattern in patterns.items() if pattern.num_nodes <= MOST_NODES}
    drawn = dict(itertools.islice(small.items(), args.svg_limit))
    words = graph.node_label_names, graph.edge_label_names
    with beside_result(args):
        args.svg.mkdir(parents=True, exist_ok=True)
        for name, pattern in drawn.items():
            plain = "".join(c if c.isalnum() or c in "-_.+" else "_" for c in name)[:100]
            with whole_file(args.svg / f"{plain}.svg") as stream:
                stream.write(draw_pattern(pattern, *words, title=name).document())
        logger.info("%d drawings written to %s", len(drawn), args.svg)
    if len(drawn) < len(small):
        logger.warning(
            "the %d most frequent of %d patterns are drawn; --svg-limit all draws all", len(drawn), len(small)
        )
    if len(small) < len(patterns):
        logger.warning("%d patterns of more than %d nodes are not drawn", len(patterns) - len(small), MOST_NODES)
