"""The command ``jaxmotif datasets``, which lists the bundled networks."""

from __future__ import annotations

import argparse

from jaxmotif.cli._output import Report


def run(args: argparse.Namespace) -> Report:
    """List the bundled networks."""
    from jaxmotif import datasets

    names = datasets.names()
    facts = [datasets.describe(name) for name in names]
    kinds = ["directed" if fact.directed else "undirected" for fact in facts]
    return Report({}, {"name": names, "kind": kinds, "description": [fact.description for fact in facts]})
