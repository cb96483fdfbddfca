"""``jaxmotif help``: what the columns of results mean."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from jaxmotif.cli._columns import explained

TOPICS: dict[str, Callable[[], str]] = {"columns": explained}


class _Help:
    """A command without options and results."""

    def add_to(self, subparsers) -> None:
        parser = subparsers.add_parser(
            "help", help="explain: the columns of every result", allow_abbrev=False,
            description="Explain a topic. For the options of a command: jaxmotif COMMAND --help.",
        )  # fmt: skip
        parser.add_argument("topic", choices=tuple(TOPICS), nargs="?", default="columns", help="default: %(default)s")
        parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> None:
    sys.stdout.write(TOPICS[args.topic]())


COMMAND = _Help()
