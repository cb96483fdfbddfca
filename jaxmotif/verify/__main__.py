"""The checker as a command for edge lists: ``python -m jaxmotif.verify CERTIFICATE EDGES [--answer TABLE.csv]``."""

import argparse
import sys

import numpy as np

from . import check, read_edge_list


def read_answer(path: str) -> np.ndarray:
    """Read a table of whole numbers that has a line of names, and comments after ``#``, as Python integers.

    The columns of the first line that name a node or the ends of an edge are left out.
    """
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(",") for line in file if line.strip() and not line.startswith("#")]
    keys = sum(name in ("u", "v", "node") for name in lines[0])
    table = np.array([[int(value) for value in line[keys:]] for line in lines[1:]], dtype=object)
    return table.reshape(-1, len(lines[0]) - keys)


def main() -> int:
    """Run the checker, and return 0 for an accepted certificate, else 1."""
    parser = argparse.ArgumentParser(prog="verify", description="Check a certificate of counts in a graph.")
    parser.add_argument("certificate")
    parser.add_argument("edges", help="rows of two node ids")
    parser.add_argument("--directed", action="store_true", help="rows are arcs")
    parser.add_argument("--answer", metavar="TABLE.csv", help="the table that the certificate is about")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the check may take (default: 60)")
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
