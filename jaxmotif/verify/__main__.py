"""The checker as a command for edge lists: ``python -m jaxmotif.verify CERTIFICATE EDGES``.

Each row of EDGES begins with the ids of two nodes, whole numbers between blanks; `jaxmotif verify` reads other formats.
The ids that occur are numbered in ascending order, as `jaxmotif.read_graph` numbers them.
"""

import sys

import numpy as np

from . import check, graph_from_edges

if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        rows = np.loadtxt(sys.argv[2], np.int64, comments=("#", "%"), usecols=(0, 1), ndmin=2)
        report = check(sys.argv[1], graph_from_edges(np.unique(rows, return_inverse=True)[1], directed=True))
    except (OSError, ValueError) as error:
        sys.exit(f"{error}\n\n{__doc__}")
    print(report)  # noqa: T201
    sys.exit(not report.accepted)
