"""Plain queries counted by equations instead of a search, where that is less work (docs/level-search.md)."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar

import jax
import numpy as np

from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._exact import join_sums, split_sum
from jaxmotif.devices._select import Selection
from jaxmotif.graph import Graph
from jaxmotif.graphlets import edge_graphlets, graphlet_counts, node_orbits
from jaxmotif.graphlets._copies import Copies, choose_way, count_copies, count_factors, name_of
from jaxmotif.graphlets._prepared import prepare_graph
from jaxmotif.graphlets.five.equations import ALL_PASSES, Pass, passes_for
from jaxmotif.matching._host_search import MOST_BESIDE_ACCELERATOR, MOST_ON_CPU
from jaxmotif.matching._options import Options
from jaxmotif.matching.planner._plan import Matching, Plan
from jaxmotif.matching.planner._tally import Part
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._orbits import orbit_at, to_mask
from jaxmotif.patterns._roles import place_orbits, places_of
from jaxmotif.patterns._ruled import RuledPattern, automorphism_total, automorphisms_of

T = TypeVar("T")

UNINTERRUPTED = {"cpu": 2**27, "accelerator": 2**33}
"""Most work of equations in a call with a time limit, about two seconds: once they have begun, nothing stops them."""

SUMS_A_CANDIDATE = 64
"""Sums of :func:`five_node_work` that take the time in which a search tests a candidate. Measured on a CPU, for four
patterns in eight networks of up to 197,000 edges: 14 to 1,700 where a search went on to a device, and 0.4 to 50 where
it was done in NumPy first."""

_known: weakref.WeakKeyDictionary[Graph, dict[Any, Any]] = weakref.WeakKeyDictionary()
"""Figures of graphs by which the ways to count are compared, each measured once for as long as its graph lives."""


def refuse_equations(matching: Matching) -> str | None:
    """Return why a query cannot be counted by equations, or ``None`` if it can."""
    pattern, target = matching.pattern, matching.target
    if isinstance(pattern, RuledPattern) or matching.allowed is not None:
        return "they know no conditions and no domains"
    if pattern.node_labels is not None or pattern.edge_labels is not None:
        return "they know no labels"
    if target.directed:
        return "they are of undirected graphs"
    if pattern.num_nodes < 2 or len(pattern.components()) > 1 or not target.m:
        return "they are of connected queries of two nodes or more, in graphs with edges"
    if choose_way(pattern, matching.options.induced) is None:
        return (
            "there are none for it: they are of all patterns of up to five nodes, of cliques, and of up to three "
            "joined nodes with others next to these alone"
        )
    return None


def _found(
    matching: Matching, reason: str | None, pays: Callable[[], bool], compute: Callable[[], T | None]
) -> T | None:
    """Return what equations compute, or ``None`` if a search is to find it.

    Args:
      matching: the query, the target and the options.
      reason: why equations cannot compute it, or ``None``.
      pays: returns whether that is less work than a search; it counts unless equations are asked for.
      compute: computes it, or returns ``None`` where numbers may be too large.

    Raises:
      ValueError: if ``Search(engine="equations")`` is asked for, and equations cannot compute it.
    """
    search = matching.options.search
    forced = search.engine == "equations"
    if forced and reason is not None:
        raise ValueError(f"engine='equations' cannot count this query: {reason}; use engine='search' or leave it out")
    # A user who sets any option of the search wants a search.
    if reason is not None or not (forced or search.is_default):
        return None
    try:
        found = compute() if forced or pays() else None
    except (ValueError, OverflowError):  # too little memory, or a hub with too many neighbours for five nodes
        if forced:
            raise
        return None
    if found is None and forced:
        raise ValueError("engine='equations': numbers on the way may be too large; use engine='search'")
    return found


def plan_nothing(matching: Matching) -> Plan:
    """Return a plan without a search: the query nodes in their own order, each with all target nodes as its domain."""
    nodes = matching.pattern.num_nodes
    return Plan(None, list(range(nodes)), [], 1, np.full(nodes, matching.target.n))


def count_by_equations(matching: Matching, device: jax.Device, planned: bool = False) -> Copies | None:
    """Count the maps of a plain query by equations, where that is asked for, or less work than a search.

    Args:
      matching: the query, the target and the options.
      device: where to count.
      planned: whether a search was planned, and is too much to be done on the host.

    Returns:
      The maps, or ``None`` if a search is to find them.

    Raises:
      ValueError: if ``Search(engine="equations")`` is asked for, and there are no equations for the query.
    """
    pattern, target, options = matching.pattern, matching.target, matching.options
    if options.deadline.passed and options.search.engine != "equations":
        return None
    pays = partial(equations_pay, pattern, target, options, device, planned)
    how = options.induced, device, options.memory, options.deadline
    return _found(matching, refuse_equations(matching), pays, partial(count_copies, pattern, target, *how))


def tally_by_equations(
    matching: Matching, of: Literal["node", "edge"], selection: Selection
) -> list[tuple[list[Part], np.ndarray]] | None:
    """Count how often nodes or edges take the parts of a plain query of up to five nodes, from all graphlets.

    Returns:
      Parts that automorphisms exchange, and in how many maps each node, or edge, takes any one of them; ``None`` if
      searches are to find it.

    Raises:
      ValueError: as :func:`count_by_equations`.
    """
    pattern, target, options = matching.pattern, matching.target, matching.options
    nodes, device, least = pattern.num_nodes, selection.main, 2 if of == "node" else 3
    reason = "they run in one process" if selection.together else refuse_equations(matching)
    if reason is None and not least <= nodes <= 5:
        reason = f"they count at each {of} for queries of {least} to 5 nodes"

    def tally() -> list[tuple[list[Part], np.ndarray]] | None:
        how = {"size": max(nodes, 4), "induced": options.induced, "devices": [device], "memory": options.memory}
        values = (node_orbits if of == "node" else edge_graphlets)(target, **how).values
        mask = to_mask(nodes, [(a, b) for a, b in np.argwhere(np.triu(pattern.adjacency)).tolist()])
        maps, found = automorphism_total(pattern), []
        for orbit in place_orbits(pattern, places_of(pattern, of), list(automorphisms_of(pattern))):
            column = values[:, orbit_at(nodes, mask, orbit[0])]
            if int(join_sums(split_sum(column))) * maps >= 2**63:  # which the searches refuse
                return None
            found.append((orbit, column * maps // len(orbit)))
        return found

    pays = partial(equations_pay, pattern, target, options, device, planned=False, at_parts=True)
    return _found(matching, reason, pays, tally)


def equations_pay(
    pattern: Pattern, target: Graph, options: Options, device: jax.Device, planned: bool, at_parts: bool = False
) -> bool:
    """Return whether equations are less work than a search; work is in candidates that a search tests.

    Args:
      pattern: a query that there are equations of.
      target: where it is looked for.
      options: how to search.
      device: where to count.
      planned: whether a search was planned, and is too much to be done on the host.
      at_parts: whether counts at nodes or edges are wanted, which all graphlets give.
    """
    wedges, kind = _wedges(target), "accelerator" if target_of(device).is_accelerator else "cpu"
    if not planned:
        # A search that may end on the host, before a device has begun, is tried first.
        few, each_node = MOST_BESIDE_ACCELERATOR if kind == "accelerator" else MOST_ON_CPU
        if options.may_be_small and wedges <= few + each_node * pattern.num_nodes:
            return False
    most = UNINTERRUPTED[kind] if options.deadline.left < np.inf else np.inf
    if wedges * count_factors(pattern) > most:
        return False
    # What closed forms, cliques and 4-cycles look at is part of what a search visits: they need no estimate.
    if pattern.num_nodes < 5 or (choose_way(pattern, options.induced) != "graphlets" and not at_parts):
        return True
    if (options.induced, "four") not in (known := _known.setdefault(target, {})):
        result = graphlet_counts(target, induced=options.induced, devices=[device], memory=options.memory)
        known[options.induced, "four"] = result.counts
    four: dict[str, int] = known[options.induced, "four"]
    mean = prepare_graph(target, device, options.memory).shorter / target.m
    passes = ALL_PASSES if at_parts else passes_for(name_of(pattern), options.induced)
    return five_node_work(wedges, four, passes) <= min(most, search_work(pattern, mean, four))


def five_node_work(wedges: int, four: dict[str, int], passes: frozenset[Pass] = ALL_PASSES) -> int:
    """Estimate the work of graphlets of five nodes, in candidates that a search would test in the same time.

    It is the sum of what the passes look at: tables of pairs, local wedges, 3-paths and rows of bits.

    Args:
      wedges: the sum of the squares of all degrees.
      four: the numbers of all graphlets of up to four nodes.
      passes: the passes that are made.
    """
    squares = 2 * four["chordal-cycle"] + 3 * four["triangle"]  # of the triangles at each edge
    units = 3 * wedges + 3 * squares
    units += 2 * four["4-path"] * ("walks" in passes) + 8 * four["4-clique"] * ("cliques" in passes)
    return units // SUMS_A_CANDIDATE


def search_work(pattern: Pattern, mean: float, four: dict[str, int]) -> float:
    """Return a lower bound of the work of a search for five nodes, in candidates.

    The search looks at a list of candidates for each map of some four of the nodes. The bound takes the four nodes that
    have the fewest maps.

    Args:
      pattern: the query.
      mean: the mean length of the shorter of the two neighbour lists at an edge.
      four: the numbers of all graphlets of up to four nodes.
    """
    rows = []
    for v in range(5):
        rest = pattern.relabel([u for u in range(5) if u != v])
        if len(rest.components()) == 1:
            rows.append(four[name_of(rest)] * automorphism_total(rest))
    # Of all maps that automorphisms exchange, the search finds only one.
    return min(rows) * mean / automorphism_total(pattern)


def _wedges(graph: Graph) -> int:
    """Return the sum of the squares of all degrees."""
    known = _known.setdefault(graph, {})
    if "wedges" not in known:
        known["wedges"] = int((graph.degrees**2).sum())
    return known["wedges"]
