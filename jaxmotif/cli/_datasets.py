"""The command ``jaxmotif datasets``, which lists the bundled networks."""

from __future__ import annotations

import argparse

from jaxmotif.cli._command import Command
from jaxmotif.cli._output import Report


def _run(args: argparse.Namespace) -> Report:
    from jaxmotif import datasets

    names = datasets.names()
    facts = [datasets.describe(name) for name in names]
    kinds = ["directed" if fact.directed else "undirected" for fact in facts]
    return Report({}, {"name": names, "kind": kinds, "description": [fact.description for fact in facts]})


COMMAND = Command(
    "datasets", "list the bundled networks", "List the bundled networks.", "", lambda _: None, _run, works=False
)
