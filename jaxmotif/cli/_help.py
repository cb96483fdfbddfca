"""``jaxmotif help``: what the columns of results mean, and how queries are written."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable

from jaxmotif.cli._columns import explained


def _language() -> str:
    """How queries are written, as the function that takes them says it."""
    from jaxmotif.matching import query

    return (inspect.getdoc(query) or "").split("\n\nArgs:")[0].replace("``", "") + "\n"


TOPICS: dict[str, Callable[[], str]] = {"columns": explained, "query": _language}


class _Help:
    """A command without options and results."""

    name, works = "help", False

    def add_to(self, subparsers) -> None:
        parser = subparsers.add_parser(
            self.name, help="explain: the columns of every result, the query language", allow_abbrev=False,
            description="Explain a topic. For the options of a command: jaxmotif COMMAND --help.",
        )  # fmt: skip
        parser.add_argument("topic", choices=tuple(TOPICS), nargs="?", default="columns", help="default: %(default)s")
        parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> None:
    sys.stdout.write(TOPICS[args.topic]())


COMMAND = _Help()
