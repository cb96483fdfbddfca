"""The command ``jaxmotif help``, which explains the columns of results and the query language."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable

from jaxmotif.cli._columns import explain_columns
from jaxmotif.graph._saved import named_errors


def _explain_language() -> str:
    """Return how queries are written, from the docstring of the function that takes them."""
    from jaxmotif.matching import query

    return (inspect.getdoc(query) or "").split("\n\nArgs:")[0].replace("``", "") + "\n"


TOPICS: dict[str, Callable[[], str]] = {"columns": explain_columns, "query": _explain_language}
"""Functions that return the explanation of a topic, by its name."""


def run(args: argparse.Namespace) -> None:
    """Explain a topic. For the options of a command: jaxmotif COMMAND --help."""
    with named_errors("standard output"):
        sys.stdout.write(TOPICS[args.topic]())
        sys.stdout.flush()
