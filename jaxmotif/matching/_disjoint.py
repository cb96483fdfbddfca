"""Occurrences that share no node, or no edge: the frequencies F2 and F3 of motifs, by a greedy set."""

from __future__ import annotations

import dataclasses
from typing import Literal, get_args

import numpy as np

from jaxmotif.arrays._present import Column, Presented, counted
from jaxmotif.arrays._rows import inverse_order
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._select import Devices
from jaxmotif.graph import GraphLike, as_graph
from jaxmotif.graph._attributes import pair_keys
from jaxmotif.graph._coerce import load_graph
from jaxmotif.language import Query
from jaxmotif.matching._listing import find_matches
from jaxmotif.patterns import Pattern, as_pattern, node_orbits
from jaxmotif.patterns._roles import places_of

Without = Literal["edge", "node"]

MOST = 2**27
"""Most nodes of all occurrences together, since all occurrences are held in memory at once."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Disjoint(Presented):
    """Occurrences no two of which share a node, or an edge.

    Attributes:
      occurrences: ``[count, k]``, the nodes of each chosen occurrence by name, as :func:`jaxmotif.occurrences` gives
        them. The set is maximal: no other occurrence could be added. So its size is a lower bound of the largest size
        of such a set.
      upper: an upper bound of the largest size of such a set. For each role of the pattern, the number of nodes (edges)
        of the graph that take the role is divided by the number of nodes (edges) of the pattern that have it; the least
        quotient is the bound.
      total: the number of all occurrences, the frequency F1.
      without: ``"edge"``: no edge is shared, but nodes may be (F2); ``"node"``: no node is, and so no edge (F3).
    """

    occurrences: np.ndarray
    upper: int
    total: int
    without: Without

    @property
    def count(self) -> int:
        """The number of occurrences chosen."""
        return len(self.occurrences)

    def _line(self) -> str:
        found = counted(self.count, "occurrence")
        return f"{found} without a shared {self.without}, at most {self.upper}, of {self.total}"

    def table(self) -> dict[str, Column]:
        return {f"node_{i}": column for i, column in enumerate(self.occurrences.T)}

    def _array(self) -> np.ndarray:
        return self.occurrences


@on_cluster(load_graph)
def disjoint_occurrences(
    graph: GraphLike,
    pattern: GraphLike | Pattern,
    without: Without = "node",
    *,
    induced: bool = True,
    memory: int | None = None,
    devices: Devices = None,
) -> Disjoint:
    """Choose greedily a set of occurrences of a pattern in which no two share a node, or an edge.

    The largest such set is a maximum independent set of the graph of overlaps, which is hard to find. Instead, one
    occurrence after another is considered, those first whose nodes (edges) lie in the fewest occurrences. An occurrence
    is chosen if none of its nodes (edges) is taken yet. The result is a maximal set, whose size is a lower bound.

    Args:
      graph, induced, memory, devices: as for :func:`jaxmotif.occurrences`.
      pattern: a small graph or its name, as there, but no :func:`jaxmotif.query`.
      without: what no two may share, ``"edge"`` or ``"node"``.

    Returns:
      The set, with an upper bound. It does not depend on the devices.

    Raises:
      ValueError, TypeError: as :func:`jaxmotif.occurrences`; or for another value of ``without``; or for more
        occurrences than can be held in memory at once (2^27 nodes in all).

    Reference:
      Schreiber, Schwoebbermeyer: Frequency concepts and pattern detection for the analysis of motifs in networks,
      Transactions on Computational Systems Biology III, 2005: F2 (edges), F3 (nodes and edges).

    Example:
      >>> from jaxmotif.graph import Graph
      >>> wheel = Graph.from_edges([(0, i) for i in range(1, 6)] + [(i, i % 5 + 1) for i in range(1, 6)])
      >>> [(d.count, d.upper, d.total) for d in (disjoint_occurrences(wheel, "triangle", w) for w in ("edge", "node"))]
      [(2, 3, 5), (1, 2, 5)]
    """
    if without not in get_args(Without):
        raise ValueError(f"without must be 'edge' or 'node', got {without!r}")
    if isinstance(pattern, Query):
        raise TypeError("pattern must be a graph, a name or a class with labels; a query in words is not taken here")
    graph = as_graph(graph)
    pattern = as_pattern(pattern, graph, name="pattern")
    places = places_of(pattern, without)
    if not places:
        raise ValueError("without='edge' needs a pattern with edges")
    most = MOST // pattern.num_nodes
    rows = find_matches(pattern, graph, induced, most + 1, per="occurrence", memory=memory, devices=devices).nodes
    if len(rows) > most:
        raise ValueError(
            f"more than {most:,} occurrences of {pattern.num_nodes} nodes, which are held at once: take a rarer "
            "pattern, or labels"
        )
    ends = [rows[:, list(place)] for place in places]
    held = np.stack([nodes[:, 0] if without == "node" else pair_keys(nodes, graph) for nodes in ends], axis=1)
    named, held = np.unique(held, return_inverse=True)
    held = held.reshape(len(rows), len(places))
    chosen = _greedy(rows, held, named.size)
    nodes = rows[chosen] if graph.node_names is None else graph.node_names[rows[chosen]]
    return Disjoint(nodes, _at_most(pattern, places, held), len(rows), without)


def _greedy(rows: np.ndarray, held: np.ndarray, number: int) -> np.ndarray:
    """Choose occurrences that share no node (or edge), first those whose nodes (edges) lie in the fewest occurrences.

    Args:
      rows: integers ``[M, k]``, the nodes of each occurrence, which break ties.
      held: integers ``[M, places]``, the numbers of the nodes or edges that each occurrence holds.
      number: the number of different nodes or edges.

    Returns:
      Int64, the numbers of the chosen rows, in the order in which they are chosen.
    """
    load = np.bincount(held.reshape(-1), minlength=number)[held].sum(axis=1)
    # Ties of load are decided by nodes, so that the order in which occurrences were listed does not matter.
    order = np.lexsort((*np.sort(rows, axis=1).T[::-1], load))
    chosen: list[np.ndarray] = []
    live = order
    # A round takes every occurrence that comes first at each node (edge) it holds. Rounds choose the same occurrences
    # as going through them one by one would, in far fewer steps.
    while live.size:
        first = np.full(number, live.size)
        np.minimum.at(first, held[live], np.arange(live.size)[:, None])
        taken = (first[held[live]] == np.arange(live.size)[:, None]).all(axis=1)
        chosen.append(live[taken])
        gone = np.zeros(number, bool)
        gone[held[live[taken]]] = True
        live = live[~gone[held[live]].any(axis=1)]
    whole = np.concatenate([np.zeros(0, np.int64), *chosen])
    return whole[np.argsort(inverse_order(order)[whole])]


def _at_most(pattern: Pattern, places: list[tuple[int, ...]], held: np.ndarray) -> int:
    """Return an upper bound of the number of disjoint occurrences, by the roles of nodes or of both ends of edges."""
    orbit = node_orbits(pattern)
    roles: dict[tuple[int, ...], list[int]] = {}
    for i, place in enumerate(places):
        ends = tuple(int(orbit[u]) for u in place)
        roles.setdefault(ends if pattern.directed else tuple(sorted(ends)), []).append(i)
    # Of occurrences that differ by automorphisms only one is listed, but all have the same set of nodes in each role.
    return min(np.unique(held[:, which]).size // len(which) for which in roles.values())
