"""Small graphs at one padded size, so that all tests of the large-graph path share their compilations."""

import numpy as np

from jaxmotif import Graph
from tests.oracles import Edges, random_edges

CAPACITY = (40, 512)  # nodes, slots


def _cycle(n: int) -> Edges:
    return sorted((min(x, (x + 1) % n), max(x, (x + 1) % n)) for x in range(n))


GRAPHS: dict[str, tuple[int, Edges]] = {
    "one edge": (2, [(0, 1)]),
    "isolated nodes": (9, [(2, 7)]),
    "path": (6, [(x, x + 1) for x in range(5)]),
    "cycle": (7, _cycle(7)),
    "star": (17, [(5, x) for x in range(17) if x != 5]),
    "clique": (16, random_edges(16, 1.0, 0)),
    "bipartite": (14, [(x, y) for x in range(5) for y in range(5, 14)]),
    "disconnected": (20, [*random_edges(8, 0.7, 1), *((x + 9, y + 9) for x, y in random_edges(8, 0.5, 2)), (17, 19)]),
    "hub and blocks": (18, sorted({*((0, x) for x in range(1, 18)), *random_edges(9, 0.8, 3)})),
    **{f"density {p} of {n}": (n, random_edges(n, p, 4)) for n in (8, 20) for p in (0.1, 0.3, 0.5, 0.7, 0.9)},
}
DENSE, SPARSE = GRAPHS["density 0.7 of 20"], GRAPHS["density 0.3 of 20"]


def build(n: int, edges: Edges, pad=CAPACITY) -> Graph:
    return Graph.from_edges(np.array(edges, np.int64).reshape(-1, 2), n, pad=pad)
