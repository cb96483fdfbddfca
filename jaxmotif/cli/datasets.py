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

    write_report(Report({}, {"name": list(datasets.names())}), args.format)
