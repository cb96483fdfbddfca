"""``--report FILE.html`` and ``--svg DIR``: a page to look at beside the table, and drawings as files."""

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
    from jaxmotif.patterns import Pattern

logger = logging.getLogger("jaxmotif")

MOST_DRAWINGS = 500
"""Files that ``--svg`` writes unless told otherwise: all directed classes of four nodes, not all 9,364 of five."""


def add_report_options(parser: argparse.ArgumentParser, drawings: bool = True) -> None:
    """The option of a page, and that of a folder of drawings."""
    parser.add_argument(
        "--report", type=Path, metavar="FILE.html", help="also write a page with pictures, which needs nothing else"
    )
    if drawings:
        parser.add_argument("--svg", type=Path, metavar="DIR", help="also draw every class or query, an SVG file each")
        parser.add_argument(
            "--svg-limit", type=limit, default=MOST_DRAWINGS, metavar="N|all",
            help="with --svg: how many to draw at most, the most frequent first (default: %(default)s)",
        )  # fmt: skip


def write_page(
    args: argparse.Namespace, run: Mapping[str, object], make: Callable[[ModuleType, Mapping[str, object]], str]
) -> None:
    """Writes the page that the user asked for, if any.

    Args:
      run: what it takes to make the same again.
      make: the page, of the package ``jaxmotif.report``, which is imported when it is needed, and of what to tell.
    """
    if args.report is not None:
        from jaxmotif import report

        with beside_result(args):
            with whole_file(args.report) as stream:
                stream.write(make(report, {"argv": args.argv, **run}))
            logger.info("report written to %s", args.report)


def write_drawings(
    args: argparse.Namespace,
    patterns: Mapping[str, Pattern],
    words: tuple[Mapping[int, str] | None, Mapping[int, str] | None],
) -> None:
    """Writes the drawings that the user asked for, if any, each by its name.

    Args:
      patterns: by the names of the files, without their ending, the most frequent first.
      words: of node labels and edge labels.
    """
    if args.svg is None:
        return
    from jaxmotif.drawing import draw_pattern
    from jaxmotif.drawing._drawing import MOST_NODES

    small = {name: pattern for name, pattern in patterns.items() if pattern.num_nodes <= MOST_NODES}
    drawn = dict(itertools.islice(small.items(), args.svg_limit))
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
