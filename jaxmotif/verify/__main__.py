"""The checker as a command for edge lists: ``python -m jaxmotif.verify CERTIFICATE EDGES [--answer TABLE.csv]``."""

import argparse
import sys

from . import check, read_answer, read_edge_list

parser = argparse.ArgumentParser(prog="verify", description="Check a certificate of counts in a graph.")
parser.add_argument("certificate")
parser.add_argument("edges", help="rows of two node ids")
parser.add_argument("--directed", action="store_true", help="rows are arcs")
parser.add_argument("--answer", metavar="TABLE.csv", help="the table that the certificate is about")
parser.add_argument("--seconds", type=float, default=60.0, help="CPU time that the check may take (default: 60)")


def main() -> int:
    """Check a certificate, and return 0 if it is accepted, else 1."""
    options = parser.parse_args()
    try:
        answer = None if options.answer is None else read_answer(options.answer)
        graph = read_edge_list(options.edges, options.directed)
        report = check(options.certificate, graph, answer, options.seconds)
    except (OSError, ValueError) as error:
        print(f"verify: error: {error}", file=sys.stderr)  # noqa: T201
        return 1
    print(report)  # noqa: T201
    return 0 if report.accepted else 1


if __name__ == "__main__":
    sys.exit(main())
