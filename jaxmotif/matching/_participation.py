"""Counts of how often the nodes and edges of a target take each part of a query: features to learn or rank by.

A *part* is a query node or a query edge. A match maps each part to a target node or edge, which *takes* the part.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Literal

import numpy as np

from jaxmotif.arrays._exact import with_exact_sums
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._select import Devices, Selection, select_devices
from jaxmotif.graph._coerce import GraphLike
from jaxmotif.language import Query
from jaxmotif.matching._checks import (
    Domains,
    Per,
    check_domains,
    check_query,
    check_whole_occurrences,
    load_target,
    load_target_and_query,
)
from jaxmotif.matching._divided import count_in_shares, count_on_device
from jaxmotif.matching._equations import tally_by_equations
from jaxmotif.matching._listing import Listing
from jaxmotif.matching._options import DEFAULT_SEARCH, Options, Search
from jaxmotif.matching.planner._plan import Matching, Plan
from jaxmotif.matching.planner._tally import Found, Part
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._roles import place_orbits, places_of
from jaxmotif.patterns._ruled import automorphism_total, automorphisms_of, has_passes
from jaxmotif.search._deadline import Deadline
from jaxmotif.search._run import SearchProgress

MOST_MATCHES = 2**63 - 1
"""Most matches of a query whose parts are counted: the counts are int64, and none exceeds the number of matches."""


class TooManyMatches(ValueError):
    """Error of a search that found more than :data:`MOST_MATCHES` matches."""


@on_cluster(load_target_and_query)
def participation_counts(
    query: GraphLike | Pattern | Query,
    target: GraphLike,
    induced: bool = False,
    *,
    of: Literal["node", "edge"] = "node",
    per: Per = "map",
    wildcard: int | None = None,
    domains: Domains | None = None,
    time_limit: float | None = None,
    memory: int | None = None,
    devices: Devices = None,
    search: Search = DEFAULT_SEARCH,
) -> np.ndarray:
    """Count in how many matches each target node, or edge, takes each part of a query: features of nodes and edges.

    The matches are not listed. Leaves of the query are counted in closed form, all but one of them at a time, so that
    billions of matches take the work of far fewer. The counts of a plain query of up to five nodes are computed from
    the counts of all graphlets where that is less work.

    Args:
      query, target, induced, wildcard, domains, memory, devices: as for :func:`jaxmotif.matching.count_matches`.
      of: whether parts are query nodes, taken by nodes, or query edges, taken by edges.
      per: count the ``"map"``s in which a node or edge takes the part; or the ``"occurrence"``s in which it takes the
        part, or another part that automorphisms of the query exchange with this one.
      time_limit: seconds that the call may take. When they have passed it raises an error, since counts that leave
        matches out would be of no use.
      search: as for :func:`jaxmotif.matching.count_matches`, without ``max_steps``.

    Returns:
      Integers ``[n, k]``, a row for each target node and a column for each query node; or, for edges, ``[E, e]``: rows
      as in ``target.edge_list()``, columns the query's edges in ascending order (a < b where edges have no direction;
      then it does not matter which end is which). Every column sums to the number of maps; or of occurrences, times
      the number of parts in the orbit. The dtype is int64, or ``object`` (Python's integers) where the sum of all
      counts needs more than 63 bits.

    Raises:
      TimeoutError: if ``time_limit`` passed before all matches were counted.
      ValueError: for more than 2^63 - 1 matches.
      ValueError, TypeError: as :func:`jaxmotif.matching.count_matches`.

    Example:
      >>> from jaxmotif import Graph
      >>> path, star = Graph.from_edges([(0, 1), (1, 2)]), Graph.from_edges([(0, 1), (0, 2), (0, 3)])
      >>> participation_counts(path, star).tolist()
      [[0, 6, 0], [2, 0, 2], [2, 0, 2], [2, 0, 2]]
      >>> participation_counts(path, star, of="edge", per="occurrence").tolist()
      [[2, 2], [2, 2], [2, 2]]
    """
    deadline = Deadline(time_limit)
    target = load_target(target, query)
    pattern = check_query(query, target, wildcard, per)
    if of not in ("node", "edge"):
        raise ValueError(f"of must be 'node' or 'edge', got {of!r}")
    check_whole_occurrences(per, domains)
    if search.max_steps is not None:
        raise ValueError(f"max_steps={search.max_steps} leaves matches out; participation_counts needs all")
    parts = places_of(pattern, of)
    counts = np.zeros((target.n if of == "node" else target.m, len(parts)), np.int64)
    total = automorphism_total(pattern) if per == "occurrence" else 1
    options = Options(induced=induced, wildcard=wildcard, memory=memory, search=search, deadline=deadline)
    if has_passes(pattern):
        found = _listed(Listing(pattern, target, "map", domains, devices, options), of)
    else:
        selection = select_devices(devices)
        matching = Matching(pattern, target, options, check_domains(domains, pattern, target))
        found = tally_by_equations(matching, of, selection)
        if found is None:
            options = dataclasses.replace(options, tally=of)
            found = _sum_searches(dataclasses.replace(matching, options=options), selection)
    for orbit, column in found:
        column = _scale(column, len(orbit), total) if per == "occurrence" else column
        counts[:, [parts.index(part) for part in orbit]] = column[:, None]
    return with_exact_sums(counts)


def count_images(matching: Matching, node: int, selection: Selection) -> tuple[int, np.ndarray]:
    """Return a query node, and in how many maps each target node is its image, int64 ``[n]``.

    Args:
      matching: a query without rules and domains, which has at most ``MOST_MATCHES`` maps.
      node: a node that the search visits, so that all leaves are counted in closed form.
      selection: where to run.
    """
    options = dataclasses.replace(matching.options, tally="node", parts=((node,),))
    counts = np.zeros(matching.target.n, np.int64)
    for _, column in _sum_searches(dataclasses.replace(matching, options=options), selection):
        counts += column
    return node, counts


Columns = Iterator[tuple[list[Part], np.ndarray]]
"""Parts that automorphisms exchange, and in how many maps each node, or edge, takes any one of them."""


def _sum_searches(matching: Matching, selection: Selection) -> Columns:
    """Run the searches that the tally of the options takes, and yield the columns of counts that they add up."""

    def search(number: int) -> SearchProgress:
        return _search(dataclasses.replace(matching, number=number), plans[number], selection)

    plans = matching.plans(selection.main)
    # The first search counts the matches. The work that it took tells whether closed forms for leaves pay.
    first = search(0)
    if len(plans) > 1 and not pays_to_close_leaves(first, len(plans) - 1):
        options = matching.options
        options = dataclasses.replace(options, search=dataclasses.replace(options.search, leaves=False))
        # They do not: a single search visits every node, instead of one search for each orbit of leaves.
        matching = dataclasses.replace(matching, options=options)
        plans = matching.plans(selection.main)
        first = search(0)
    for number, one in enumerate(plans):
        if one.ready is None or not one.tally.size:
            continue
        # The first search has been run already, for the decision above.
        tally = (search(number) if number else first).tally
        if tally is None:  # no prefix of a match
            continue
        sums = Found(tally.view(np.int64), one.ready.operands, np.asarray(one.ids))
        for orbit, added in one.tally.orbits:
            by_part = sums.by_node if matching.options.tally == "node" else sums.by_edge
            counts = [by_part(cells, matching.target) for cells in added]
            # Each map found stands for `multiplier` maps, in which automorphisms exchange the parts added up.
            yield orbit, _scale(np.sum(counts, axis=0), one.multiplier, len(added))


def _listed(listing: Listing, of: Literal["node", "edge"]) -> Columns:
    """Yield columns of counts from a listing, for a query that asks what the search cannot test."""
    pattern, target, options = listing.matching.pattern, listing.matching.target, listing.matching.options
    parts = places_of(pattern, of)
    columns = np.zeros((len(parts), target.n if of == "node" else target.m), np.int64)
    # Each block is dropped once it is counted, so that memory does not grow with the number of matches.
    for block in (listed.nodes.T for listed in listing.blocks()):
        _check(options.deadline)
        for column, part in zip(columns, parts, strict=True):
            places = block[:, part[0]] if of == "node" else target._edge_rows(block[:, list(part)])
            column += np.bincount(places, minlength=len(column))
    for orbit in place_orbits(pattern, parts, list(automorphisms_of(pattern))):
        # The parts of an orbit have equal columns, so that the column of one serves for all.
        yield orbit, columns[parts.index(orbit[0])]


def pays_to_close_leaves(counted: SearchProgress, searches: int) -> bool:
    """Return whether to search for one leaf at a time rather than to visit every match.

    A search for one leaf counts all other leaves in closed form. This pays where the searches together are less work.

    Args:
      counted: the search that counted the matches, with all leaves in closed form.
      searches: the number of searches for one leaf each.
    """
    return counted.count > 2 * searches * counted.positions


def _check(deadline: Deadline) -> None:
    if deadline.passed:
        raise TimeoutError(f"not all matches were counted, {deadline.status}; allow more time")


def _search(matching: Matching, plan: Plan, selection: Selection) -> SearchProgress:
    if plan.ready is None:
        found = plan.found.standing
    elif selection.several:
        found, _ = count_in_shares(matching, plan, JobOptions(selection))
    else:
        found, _ = count_on_device(matching, plan, selection.main)
    if found.status != "done":
        _check(matching.options.deadline)
    matches = found.count * plan.multiplier
    if matches > MOST_MATCHES:  # up to this limit, sums modulo 2^64 are exact
        raise TooManyMatches(
            f"{matches} matches are over the limit of {MOST_MATCHES} for counts of parts; use labels or domains, or a "
            "smaller query"
        )
    return found


def _scale(counts: np.ndarray, factor: int, divisor: int) -> np.ndarray:
    """Return counts times a factor, divided by a divisor of every product; no intermediate number overflows."""
    # The divisor divides each product, so that what it does not share with the factor divides each count.
    common = math.gcd(factor, divisor)
    return counts // (divisor // common) * (factor // common)
