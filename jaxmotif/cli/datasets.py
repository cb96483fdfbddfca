"""``jaxmotif datasets``: the bundled networks."""

from __future__ import annotations

import argparse

from jaxmotif.cli.output import Report, write_report


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser("datasets", help="list the bundled networks", allow_abbrev=False)
    parser.add_argument("--format", choices=("table", "json"), default="table", help="default: %(default)s")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    from jaxmotif import datasets

    names = datasets.names()
    facts = [datasets.describe(name) for name in names]
    kinds = ["directed" if fact.directed else "undirected" for fact in facts]
    columns = {"name": names, "kind": kinds, "description": [fact.description for fact in facts]}
    write_report(Report({}, columns), args.format)
