"""What docs/corrections.md says is wrong in a paper as printed: the printed form fails and the right one holds.

Each form is evaluated on 60 random graphs, against counts by looking at every subset of nodes.
"""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from tests.oracles import brute_force, random_edges

GRAPHS = [(n, random_edges(n, p, seed)) for seed in range(4) for n in (6, 7, 8) for p in (0.2, 0.35, 0.5, 0.65, 0.8)]


class Measured:
    """A graph with the quantities that the equations are written in.

    Attributes:
      n, m: nodes and edges.
      t, s_u, s_v, d: at each edge (v, u): triangles |T|, 2-stars |S_u| and |S_v|, and D_e; int64 ``[m]``.
      counts, columns: the true counts in the graph and at edges, by name.
      near: the neighbours of each node.
    """

    def __init__(self, n, edges):
        self.n, self.m, self.edges = n, len(edges), edges
        self.near = [{v for edge in edges for v in edge if x in edge} - {x} for x in range(n)]
        self.t = np.array([len(self.near[v] & self.near[u]) for v, u in edges], np.int64)
        self.s_v, self.s_u = (np.array([len(self.near[e[i]]) for e in edges], np.int64) - self.t - 1 for i in range(2))
        self.d = n - (self.s_v + self.s_u + self.t) - 2
        self.counts, self.columns, self.orbits = brute_force(n, edges)

    def c9(self, printed: bool) -> int:
        """Equation 16, of the tailed triangles that each edge sees, as printed or right."""
        return int((self.t * (self.s_v * self.s_u if printed else self.s_v + self.s_u)).sum())

    def cycles(self, word: int) -> int:
        """Algorithm 6 over all edges, with the word that line 5 looks for; each 4-cycle is found at its four edges."""
        found = 0
        for v, u in self.edges:
            words = dict.fromkeys(self.near[v] - {u}, 1)  # Algorithm 1, lines 3 to 8
            stars = []
            for w in sorted(self.near[u] - {v}):
                if words.get(w) == 1:
                    words[w] = 3
                else:
                    words[w] = 2
                    stars.append(w)
            for w in stars:
                found += sum(words.get(r) == word for r in self.near[w])
                words[w] = 0
        return found


@pytest.fixture(scope="module")
def measured():
    return [Measured(*graph) for graph in GRAPHS]


def x9(one: Measured, c9: int) -> int:
    return (c9 - 4 * one.counts["chordal-cycle"]) // 2


FORMS = {
    "equation 2": (
        lambda one, printed: int(one.orbits[:, 3].sum()) // (1 if printed else 3),  # triangles at all nodes
        lambda one: one.counts["triangle"],
    ),
    "equation 7": (
        lambda one, printed: (one.n - (one.s_v + one.s_u) + (one.t if printed else -one.t) - 2).tolist(),
        lambda one: one.columns["3-node-1-edge"].tolist(),
    ),
    "equation 16": (
        lambda one, printed: x9(one, one.c9(printed)),
        lambda one: one.counts["tailed-triangle"],
    ),
    "X_11": (
        lambda one, printed: (
            (
                (
                    one.c9(False)
                    if printed
                    else sum(comb(int(a), 2) + comb(int(b), 2) for a, b in zip(one.s_v, one.s_u, strict=True))
                )
                - one.counts["tailed-triangle"]
            )
            / 3
        ),
        lambda one: one.counts["3-star"],
    ),
    "algorithm 6": (
        lambda one, printed: one.cycles(2 if printed else 1) / 4,
        lambda one: one.counts["4-cycle"],
    ),
}
"""The value of a form, as printed or right, and what it should be."""


@pytest.mark.parametrize("name", FORMS)
def test_the_printed_form_fails_and_the_right_one_holds(measured, name):
    value, true = FORMS[name]
    assert all(value(one, False) == true(one) for one in measured)
    assert sum(value(one, True) != true(one) for one in measured) >= 10


def test_an_edge_lies_in_no_independent_set(measured):
    """Equation 8 counts at an edge all sets of three nodes but those around it, with the edge or without."""
    for one in measured:
        inside = {frozenset(edge) for edge in one.edges}
        free = [s for s in combinations(range(one.n), 3) if not any(frozenset(p) in inside for p in combinations(s, 2))]
        assert len(free) == one.counts["3-node-indep"]  # the graph's own number is right
        printed = comb(one.n, 3) - (one.t + (one.s_v + one.s_u) + one.columns["3-node-1-edge"])
        assert (printed > 0).all()  # and at an edge there is none


def test_equations_14_to_17_are_right(measured):
    """X_14 = (C_14 - 6 X_7 - 4 X_8 - 2 X_9 - 4 X_10 - 2 X_12) / 2, and those after it, as printed."""
    for one in measured:
        degrees = np.array([[len(one.near[v]), len(one.near[u])] for v, u in one.edges], np.int64).reshape(-1, 2)
        X = {name: one.counts[name] for name in one.counts}
        c14 = int((one.m - degrees.sum(axis=1) + 1).sum())
        c15 = int(((one.s_v + one.s_u) * one.d).sum())
        c16 = sum(comb(int(d), 2) for d in one.d)
        x14 = (
            c14
            - 6 * X["4-clique"]
            - 4 * X["chordal-cycle"]
            - 2 * X["tailed-triangle"]
            - 4 * X["4-cycle"]
            - 2 * X["4-path"]
        ) / 2
        assert x14 == X["4-node-2-edge"]
        assert (c15 - 2 * X["4-path"]) / 2 == X["4-node-2-star"]
        assert c16 - 2 * x14 == X["4-node-1-edge"]
        assert comb(one.n, 4) - sum(X[name] for name in FOUR if name != "4-node-indep") == X["4-node-indep"]


FOUR = (
    "4-clique",
    "chordal-cycle",
    "tailed-triangle",
    "4-cycle",
    "3-star",
    "4-path",
    "4-node-1-triangle",
    "4-node-2-star",
    "4-node-2-edge",
    "4-node-1-edge",
    "4-node-indep",
)


def test_where_nemogpus_splits_are_least():
    """NemoGPU's equation 5, for candidates of degree 71 and three sizes to go, is least far from 1 / (k - i)."""

    def splits(share: np.ndarray, degree: float, to_go: int) -> np.ndarray:
        """Equation 5 for as many bytes as candidates: the pieces that all lists are cut into."""
        pieces = sum(degree**j / (share * (1 - share) ** j) for j in range(to_go - 1))
        return pieces + degree ** (to_go - 1) / (1 - share) ** (to_go - 1)

    share = np.linspace(0.001, 0.999, 999)
    found = splits(share, 71, 3)
    assert share[found.argmin()] == pytest.approx(0.075, abs=0.001)
    assert splits(np.array(1 / 3), 71, 3) / found.min() == pytest.approx(1.68, abs=0.005)
    # With two sizes to go, it lies at 1 / (1 + sqrt(degree)), and at 1 / 2 for degree 1 alone.
    for degree in (1, 4, 71):
        assert share[splits(share, degree, 2).argmin()] == pytest.approx(1 / (1 + degree**0.5), abs=0.001)
