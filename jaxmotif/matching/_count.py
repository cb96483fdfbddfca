"""Counting and finding the matches of a query graph in a target graph."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Sequence

import jax

from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._progress import progress as progress_meter
from jaxmotif.devices._record import store_for
from jaxmotif.devices._select import Cluster, Devices, select_devices
from jaxmotif.graph import Graph
from jaxmotif.graph._coerce import GraphLike
from jaxmotif.language import Query
from jaxmotif.matching._checks import (
    Domains,
    Per,
    check_certifiable,
    check_domains,
    check_query,
    load_target,
    load_target_and_query,
)
from jaxmotif.matching._divided import count_in_shares, search_identity
from jaxmotif.matching._listing import count_listed
from jaxmotif.matching._many import for_many_targets
from jaxmotif.matching._options import DEFAULT_SEARCH, Options, Search
from jaxmotif.matching._pieces import count_alone
from jaxmotif.matching._result import MatchCount, match_count
from jaxmotif.matching._seconds import PhaseClock
from jaxmotif.matching._sizes import TOGETHER, TOGETHER_ENTRIES
from jaxmotif.matching._target import Target
from jaxmotif.matching.planner._plan import Plan, index_for_planning, plan_search
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._certificate import CertificateFile, certify_matches
from jaxmotif.patterns._ruled import automorphism_total, has_passes
from jaxmotif.search import Deadline, run_searches
from jaxmotif.search._sizes import table_memory


@on_cluster(load_target_and_query)
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
      query: 1 to 1024 nodes, connected or not; directed if and only if the target is. Its labels, if it has any, are
        matched; without labels it matches any.
        It may be a name: ``"triangle"``, ``"ffl"``, ``"G7"``, ``"4-cycle"``, a class string, ``"id38"``
        (:func:`jaxmotif.patterns.named_pattern`); or a :func:`jaxmotif.query`, which asks for attributes too.
      target: the graph searched. Both may be what :func:`jaxmotif.graph.as_graph` takes: a networkx graph, a scipy
        array, rows of edges, a path; a query that does not say is directed if the target is. Or many targets: what
        :func:`jaxmotif.graph.as_graphs` takes, with one result for each.
      induced: whether non-edges must be preserved too (for directed graphs, each missing arc).
      per: count ``"map"``s, or ``"occurrence"``s: maps that differ by an automorphism of the query are one.
      wildcard: a label of query nodes and edges that any label matches.
      domains: target nodes allowed for query nodes: a mapping from query nodes (others are free), or bool ``[k, n]``.
      time_limit: stop early, when the call has taken that many seconds, of planning, compiling and searching together.
        A compilation that has begun is not cut short; ``seconds["compile"]`` says what it took.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free; of a CPU, 512 MiB for
        the tables).
      devices: where to run, see :data:`jaxmotif.devices.Devices`; several take shares of the search.
      checkpoint: a folder in which finished work is kept: the same call made again, after whatever end, goes on
        there and gives the same bits.
      certify: a file to write a certificate to, which :func:`jaxmotif.verify.check` checks.
      progress: show a meter on standard error.
      search: how to search, which changes no count (:class:`Search`).

    Returns:
      The count; ``exact`` is False and ``status`` says why if a limit stopped the search.

    Raises:
      ValueError, TypeError: an input that cannot be, with the remedy.

    Example:
      >>> triangle = Graph.from_edges([(0, 1), (1, 2), (2, 0)])
      >>> house = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
      >>> count_matches(triangle, house).count, count_matches(triangle, house, per="occurrence").count
      (6, 1)

    References:
      Bonnici, Giugno, Bombieri: An efficient implementation of a subgraph isomorphism algorithm for GPUs, BIBM 2018.
      Bhattarai, Liu, Huang: CECI: compact embedding cluster index for scalable subgraph matching, SIGMOD 2019.
    """
    clock, deadline = PhaseClock(), Deadline(time_limit)
    target = load_target(target, query)
    pattern = check_query(query, target, wildcard, per)
    if per == "occurrence" and domains is not None:
        raise ValueError("per='occurrence' needs all maps of an occurrence; domains leave some out: use per='map'")
    if certify is not None:
        check_certifiable(pattern, domains, time_limit, search.max_steps)
    if has_passes(pattern):
        if checkpoint is not None:
            raise ValueError(
                "the query compares elements that no edge joins: its matches are listed, without checkpoint"
            )
        return count_listed(pattern, target, induced, per, domains, time_limit, memory, devices, search)
    options = Options(
        induced=induced, wildcard=wildcard, memory=memory, search=search, small=checkpoint is None, deadline=deadline
    )
    selection = select_devices(devices)
    divided = checkpoint is not None or selection.several
    if divided and search.max_steps is not None:
        raise ValueError(
            f"max_steps={search.max_steps} counts the steps of one search on one device: give neither several devices "
            "nor a checkpoint"
        )
    allowed = check_domains(domains, pattern, target)
    plan = plan_search(pattern, target, allowed, options, selection.main, clock)

    def replan(device: jax.Device, block: int | None) -> Plan:
        return plan_search(pattern, target, allowed, options.with_block(block), device)

    if divided:
        store = store_for(
            checkpoint, selection.together, lambda: search_identity(pattern, target, plan, options, domains)
        )
        found, notes = count_in_shares(plan, replan, selection, deadline, store, progress)
    else:
        with progress_meter(None, unit="candidates", label="search", enabled=progress) as meter:
            found, notes = count_alone(pattern, target, plan, replan, allowed, options, selection.main, meter.advance)
    clock.end("search")
    result = match_count(pattern, per, plan, found, clock.seconds(), notes)
    if certify is not None:
        maps_each = 1 if per == "map" else automorphism_total(pattern)
        certify_matches(certify, target, pattern, wildcard, induced, result.count, maps_each)
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
    """Count the matches of many queries in one target: :func:`count_matches` of each, several under way at a time.

    Some queries are planned at a time, and the device begins their searches before the host waits for the first.

    Args:
      queries: as for :func:`count_matches`.
      target, induced, per, wildcard, time_limit, memory, devices: likewise; the limits are for each query.
      search: likewise, without ``max_steps``.

    Yields:
      The counts in the order of the queries. ``seconds`` are a query's own, and of the first slices of searches that
      run together an equal share.

    Raises:
      ValueError, TypeError: as :func:`count_matches`.

    Example:
      >>> edge, path = Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1), (1, 2)])
      >>> square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
      >>> [found.count for found in count_queries([edge, path], square)]
      [8, 8]
    """
    if search.max_steps is not None:
        raise ValueError(f"max_steps={search.max_steps} stops one search; give count_queries a time_limit")
    queries = list(queries)
    target = load_target(target, *queries)
    patterns = [check_query(query, target, wildcard, per) for query in queries]
    options = Options(induced=induced, wildcard=wildcard, memory=memory, search=search)
    return _count_queries(patterns, target, options, per, time_limit, devices)


def _count_queries(
    patterns: Sequence[Pattern], target: Graph, options: Options, per: Per, time_limit: float | None, devices: Devices
) -> Iterator[MatchCount]:
    if isinstance(devices, Cluster) or (selection := select_devices(devices)).several or any(map(has_passes, patterns)):
        for pattern in patterns:
            yield count_matches(
                pattern,
                target,
                options.induced,
                per=per,
                wildcard=options.wildcard,
                time_limit=time_limit,
                memory=options.memory,
                devices=devices,
                search=options.search,
            )
        return
    chip = selection.main
    todo = list(patterns)
    while todo:
        # The first query's index says how much memory a plan takes: those of the others take about as much.
        together = _queries_at_once(index_for_planning(todo[0], target, chip, by_degree=True))
        some, todo = todo[:together], todo[together:]
        planned = [_planned(pattern, target, options, chip, time_limit) for pattern in some]
        memory, spent = table_memory(options.memory, chip), [clock.total for _, clock in planned]
        found = run_searches([plan.ready for plan, _ in planned], memory, time_limit, spent)
        for pattern, (plan, clock), (standing, seconds) in zip(some, planned, found, strict=True):
            clock.add("search", seconds)
            standing = plan.found.standing if plan.ready is None else standing
            yield match_count(pattern, per, plan, standing, clock.seconds())


def _planned(
    pattern: Pattern, target: Graph, options: Options, device: jax.Device, time_limit: float | None
) -> tuple[Plan, PhaseClock]:
    clock = PhaseClock()
    options = dataclasses.replace(options, deadline=Deadline(time_limit))
    return plan_search(pattern, target, None, options, device, clock), clock


def _queries_at_once(index: Target) -> int:
    """Return how many queries to plan at a time, so that what is planned takes no more than some hundred MiB."""
    # As if each had matrices of four pair kinds, and lists of eight times the slots.
    matrices = min(4 * index.nodes * (index.nodes // 32), TOGETHER_ENTRIES // 2)
    return min(max(TOGETHER_ENTRIES // max(matrices, 8 * index.targets.size, 1), 1), TOGETHER)
