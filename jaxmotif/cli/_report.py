"""The options ``--report FILE.html``, for a page with the result, and ``--figures DIR``, for figures as files."""

from __future__ import annotations

import argparse
import itertools
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from jaxmotif import report
from jaxmotif.arrays._label_words import LabelWords
from jaxmotif.cli._command import how
from jaxmotif.cli._output import beside_result, whole_file

if TYPE_CHECKING:
    from jaxmotif.patterns import Pattern
    from jaxmotif.report._figures import Figures

logger = logging.getLogger("jaxmotif")


def write_page(args: argparse.Namespace, make: Callable[[Mapping[str, object]], str]) -> None:
    """Write the page that the user asked for, if any.

    Args:
      args: The options.
      make: A function that returns the page. It is called with the command line and how the result was made.
    """
    if args.report is not None:
        with beside_result(args):
            with whole_file(args.report) as stream:
                stream.write(make({"argv": args.argv, **how(args)}))
            logger.info("report written to %s", args.report)


def write_figures(
    args: argparse.Namespace,
    patterns: Mapping[str, Pattern],
    words: LabelWords,
    make: Callable[[], Figures] | None = None,
) -> None:
    """Write the figures that the user asked for, if any, each as SVG and as PDF.

    Args:
      args: The options.
      patterns: The patterns that are drawn, by the names of the files without their endings, the first ones of the
        result first.
      words: The words that labels of nodes and of edges stand for.
      make: A function that returns further figures.
    """
    if args.figures is None:
        return
    import matplotlib as mpl

    from jaxmotif.drawing._drawing import MOST_NODES

    style = Path(report.__file__).with_name("templates") / "figures.mplstyle"
    small = {name: pattern for name, pattern in patterns.items() if pattern.num_nodes <= MOST_NODES}
    drawn = dict(itertools.islice(small.items(), args.drawings))
    # Files tell no date, so that the same result gives the same bytes.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    written = set[str]()
    with beside_result(args), mpl.rc_context(fname=style):
        figures = dict(report.drawing_figures(drawn, words)) | dict(make() if make is not None else {})
        args.figures.mkdir(parents=True, exist_ok=True)
        for name, draw in figures.items():
            plain = "".join(c if c.isalnum() or c in "-_.,+" else "_" for c in name)[:100]
            while plain in written:  # names may differ in other letters
                plain += "_"
            written.add(plain)
            figure = draw()
            for form, told in metadata.items():
                with whole_file(args.figures / f"{plain}.{form}") as stream:
                    figure.savefig(stream.buffer, format=form, metadata=told)
        logger.info("%d figures written to %s, as SVG and PDF", len(figures), args.figures)
    if len(drawn) < len(small):
        logger.warning("the first %d of %d patterns are drawn; --drawings all draws all", len(drawn), len(small))
    if len(small) < len(patterns):
        logger.warning("%d patterns of more than %d nodes are not drawn", len(patterns) - len(small), MOST_NODES)
