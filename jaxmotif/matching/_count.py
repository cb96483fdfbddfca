"""Counts of the matches of one query, or of many queries, in a target graph."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from jaxmotif.certificates import CertificateFile, certify_matches
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._progress import progress as progress_meter
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph._coerce import GraphLike
from jaxmotif.graph._saved import check_writable
from jaxmotif.language import Query
from jaxmotif.matching import _checks as checks
from jaxmotif.matching._checks import Domains, Per
from jaxmotif.matching._divided import count_in_shares, search_identity
from jaxmotif.matching._equations import count_by_equations, plan_nothing
from jaxmotif.matching._listing import count_listed
from jaxmotif.matching._many import for_many_targets
from jaxmotif.matching._options import DEFAULT_SEARCH, Options, Search
from jaxmotif.matching._participation import MOST_MATCHES, count_images
from jaxmotif.matching._pieces import count_alone
from jaxmotif.matching._result import MatchCount, match_count
from jaxmotif.matching._seconds import PhaseClock
from jaxmotif.matching.planner._plan import Matching
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._ruled import automorphism_total, has_passes
from jaxmotif.search._deadline import Deadline
from jaxmotif.search._run import SearchProgress


@on_cluster(checks.load_target_and_query)
@for_many_targets
def count_matches(
    query: GraphLike | Pattern | Query,
    target: GraphLike,
    induced: bool = False,
    *,
    per: Per = "map",
    wildcard: int | None = None,
    domains: Domains | None = None,
    time_limit: float | None = None,
    memory: int | None = None,
    devices: Devices = None,
    checkpoint: str | os.PathLike | None = None,
    certify: CertificateFile = None,
    progress: bool = False,
    search: Search = DEFAULT_SEARCH,
) -> MatchCount:
    """Count the injective maps from a query to a target that preserve its edges (and labels), exactly.

    Args:
      query: the graph to look for: 1 to 1024 nodes, connected or not, directed if and only if the target is. If it has
        labels, they must equal those of the target; if it has none, labels of the target are ignored.
        It may also be given as a name: ``"triangle"``, ``"ffl"``, ``"G7"``, ``"4-cycle"``, a class string, ``"id38"``
        (:func:`jaxmotif.patterns.named_pattern`); or as a :func:`jaxmotif.query`, which can ask for attributes too.
      target: the graph to search. Query and target may each be anything that :func:`jaxmotif.graph.as_graph` takes: a
        networkx graph, a scipy array, rows of edges, a path. A query that does not say whether it is directed is
        directed if the target is. Several targets, in any form that :func:`jaxmotif.graph.as_graphs` takes, give one
        result for each.
      induced: whether non-edges must be preserved too (for directed graphs, each missing arc).
      per: what to count: every ``"map"``; or every ``"occurrence"``, where maps that differ by an automorphism of the
        query count as one.
      wildcard: a label that stands, on a query node or edge, for any label of the target.
      domains: the target nodes that query nodes may be mapped to: a mapping from query nodes to ids of target nodes
        (query nodes that are not in it are free), or bool ``[k, n]``.
      time_limit: the seconds after which the call stops early; planning, compiling and searching all count. Indexing a
        large target, and a compilation that has begun, are not cut short; ``seconds["compile"]`` of the result says
        how long compiling took.
      memory: bytes of working memory on each device, besides the graph (default: half of what is free; on a CPU, at
        most 512 MiB for the tables).
      devices: where to run, see :data:`jaxmotif.devices.Devices`; several devices share the search.
      checkpoint: a folder in which to keep finished work. The same call made again, however the earlier one ended,
        goes on from there and gives the same result, bit for bit.
      certify: a file to write a certificate to, which :func:`jaxmotif.verify.check` checks. It takes a second search,
        which counts the maps by the image of one query node.
      progress: show a meter on standard error.
      search: how to search (:class:`Search`), which does not change the count.

    Returns:
      The count. If a limit stopped the search, ``exact`` is False and ``status`` says which limit.

    Raises:
      ValueError, TypeError: for an invalid input; the message says how to correct it.

    Example:
      >>> from jaxmotif import Graph
      >>> triangle = Graph.from_edges([(0, 1), (1, 2), (2, 0)])
      >>> house = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
      >>> count_matches(triangle, house).count, count_matches(triangle, house, per="occurrence").count
      (6, 1)

    References:
      Bonnici, Giugno, Bombieri: An efficient implementation of a subgraph isomorphism algorithm for GPUs, BIBM 2018.
      Bhattarai, Liu, Huang: CECI: compact embedding cluster index for scalable subgraph matching, SIGMOD 2019.
    """
    clock, deadline = PhaseClock(), Deadline(time_limit)
    target = checks.load_target(target, query)
    pattern = checks.check_query(query, target, wildcard, per)
    checks.check_whole_occurrences(per, domains)
    if certify is not None:
        check_writable(certify)
        checks.check_certifiable(pattern, domains, time_limit, search.max_steps)
    options = Options(
        induced=induced, wildcard=wildcard, memory=memory, search=search, small=checkpoint is None, deadline=deadline
    )
    if has_passes(pattern):
        if checkpoint is not None:
            raise ValueError(
                "the query compares elements that no edge joins: its matches are listed, without checkpoint"
            )
        return count_listed(pattern, target, per, domains, devices, options)
    selection = select_devices(devices)
    shared = checkpoint is not None or selection.together
    if search.engine == "equations" and shared:
        raise ValueError("engine='equations' keeps no checkpoint, and runs in one process; use engine='search'")
    divided = checkpoint is not None or selection.several
    if divided and search.max_steps is not None:
        raise ValueError(
            f"max_steps={search.max_steps} counts the steps of one search on one device: give neither several devices "
            "nor a checkpoint"
        )
    matching = Matching(pattern, target, options, checks.check_domains(domains, pattern, target))
    device = selection.main
    copies = None if shared else count_by_equations(matching, device)
    plan = matching.plan(device, clock=clock) if copies is None else plan_nothing(matching)
    if plan.ready is not None and not shared:
        copies = count_by_equations(matching, device, planned=True)
    if copies is not None:
        plan = plan_nothing(matching)
        found, notes = SearchProgress(copies.maps, copies.work, 0, copies.status), copies.notes
    elif plan.ready is None:
        found, notes = plan.found.standing, ()
    elif divided:
        options = JobOptions(selection, None, checkpoint, progress)
        options = options.identified(lambda: search_identity(matching, plan, domains))
        found, notes = count_in_shares(matching, plan, options)
    else:
        with progress_meter(None, unit="candidates", label="search", enabled=progress) as meter:
            found, notes = count_alone(matching, plan, device, meter.advance)
    clock.end("search")
    engine = "search" if copies is None else "equations"
    result = match_count(pattern, per, plan, found, clock.seconds(), notes, engine)
    if certify is not None:
        maps = result.count * (1 if per == "map" else automorphism_total(pattern))
        node = (plan if copies is None else matching.plan(device)).order[0]  # one that a search visits
        column = count_images(matching, node, selection) if 0 < maps <= MOST_MATCHES else None
        certify_matches(certify, target, pattern, wildcard, induced, maps, column)
    return result


def count_queries(
    queries: Iterable[GraphLike | Pattern | Query],
    target: GraphLike,
    induced: bool = False,
    *,
    per: Per = "map",
    wildcard: int | None = None,
    time_limit: float | None = None,
    memory: int | None = None,
    devices: Devices = None,
    search: Search = DEFAULT_SEARCH,
) -> Iterator[MatchCount]:
    """Count the matches of many queries in one target, by :func:`count_matches` for each.

    Args:
      queries: the queries, each as for :func:`count_matches`.
      target, induced, per, wildcard, time_limit, memory, devices: as for :func:`count_matches`; the limits are for
        each query, not for all together.
      search: as for :func:`count_matches`, without ``max_steps``.

    Yields:
      The counts in the order of the queries.

    Raises:
      ValueError, TypeError: as :func:`count_matches`.

    Example:
      >>> from jaxmotif import Graph
      >>> edge, path = Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1), (1, 2)])
      >>> square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
      >>> [found.count for found in count_queries([edge, path], square)]
      [8, 8]
    """
    if search.max_steps is not None:
        raise ValueError(f"max_steps={search.max_steps} stops one search; give count_queries a time_limit")
    if isinstance(queries, str) or not isinstance(queries, Iterable):
        raise TypeError(f"queries must be a list, got {queries!r}; count_matches takes one query")
    queries = list(queries)
    target = checks.load_target(target, *queries)
    patterns = [checks.check_query(query, target, wildcard, per) for query in queries]
    options: dict[str, Any] = {"per": per, "wildcard": wildcard, "time_limit": time_limit, "memory": memory}
    # All queries were checked above, so that a bad one is refused by the call and not by the iterator.
    return (count_matches(pattern, target, induced, devices=devices, search=search, **options) for pattern in patterns)
