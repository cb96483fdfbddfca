"""Families of regular graphs that color refinement does not tell apart, made by their definitions."""

from itertools import combinations

import numpy as np

from jaxmotif import Graph

LATIN_SQUARES = (
    ["01234", "12340", "23401", "34012", "40123"],  # sums of two numbers modulo 5
    ["01234", "10342", "24013", "32401", "43120"],  # no group's table: some cells hold a square of two symbols
)


def skip_circle(nodes: int, skip: int) -> Graph:
    """Return a circle with links that skip some nodes (CSL)."""
    return Graph.from_edges([(u, (u + step) % nodes) for u in range(nodes) for step in (1, skip)], nodes)


def joined(vertices: list, adjacent) -> Graph:
    """Return the graph of some things in which those that a function says are adjacent."""
    edges = [(u, v) for u, v in combinations(range(len(vertices)), 2) if adjacent(vertices[u], vertices[v])]
    return Graph.from_edges(np.array(edges), len(vertices))


def latin_square_graph(square: list[str]) -> Graph:
    """Return the graph of cells of a Latin square, of which those of a row, a column or a symbol are adjacent."""
    cells = [(i, j, square[i][j]) for i in range(len(square)) for j in range(len(square))]
    return joined(cells, lambda a, b: any(x == y for x, y in zip(a, b, strict=True)))


def switched(graph: Graph, some: list[int]) -> Graph:
    """Return a graph in which edges between some nodes and the others are exchanged for those that there were not."""
    near = np.zeros((graph.n, graph.n), bool)
    near[tuple(graph.edge_list().T)] = True
    near |= near.T
    inside = np.isin(np.arange(graph.n), some)
    return Graph.from_edges(np.argwhere(np.triu(near ^ (inside[:, None] ^ inside[None]))), graph.n)


def families() -> dict[str, list[Graph]]:
    """Return the graphs of each family, which are regular, of one size, and not isomorphic."""
    torus, pairs = [(i, j) for i in range(4) for j in range(4)], list(combinations(range(8), 2))
    near = {(0, 1), (1, 0), (1, 1), (0, 3), (3, 0), (3, 3)}
    triangular = joined(pairs, lambda a, b: not {*a}.isdisjoint(b))
    rings = ([range(8)], [range(3), range(3, 8)])
    chosen = [{tuple(sorted((ring[i - 1], ring[i]))) for ring in some for i in range(len(ring))} for some in rings]
    chosen.append({(0, 1), (2, 3), (4, 5), (6, 7)})
    return {
        "CSL(41)": [skip_circle(41, skip) for skip in (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)],
        "srg(16, 6, 2, 2)": [
            joined(torus, lambda a, b: a[0] == b[0] or a[1] == b[1]),  # rooks on a board of 4 x 4
            joined(torus, lambda a, b: ((a[0] - b[0]) % 4, (a[1] - b[1]) % 4) in near),  # Shrikhande
        ],
        "srg(25, 12, 5, 6)": [latin_square_graph(square) for square in LATIN_SQUARES],
        "srg(28, 12, 6, 4)": [  # T(8) and the three graphs of Chang
            triangular,
            *(switched(triangular, [pairs.index(pair) for pair in some]) for some in chosen),
        ],
    }
