"""Counting and finding the matches of a query graph in a target graph."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import jax
import numpy as np

from jaxmotif.arrays._present import Column, Presented, counted, integers
from jaxmotif.devices._progress import progress as progress_meter
from jaxmotif.devices._record import store_for
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph
from jaxmotif.graph._coerce import GraphLike, as_graph
from jaxmotif.language import Query
from jaxmotif.matching._bind import bind
from jaxmotif.matching._conditions import MOST_NODES
from jaxmotif.matching._divided import count_in_shares
from jaxmotif.matching._many import for_many_targets
from jaxmotif.matching._options import DEFAULT_SEARCH, Options, Search
from jaxmotif.matching._plan import Plan, make_plan, make_plans
from jaxmotif.matching._plan_many import plan_many
from jaxmotif.matching._sizes import LABELS_LEAVE, TOGETHER, TOGETHER_ENTRIES, plan_sizes
from jaxmotif.matching._target import Target, index_target
from jaxmotif.patterns import Pattern, as_pattern
from jaxmotif.patterns._ruled import RuledPattern, automorphism_total, has_passes
from jaxmotif.search import Deadline, Standing, compile_seconds, run_searches, working_time
from jaxmotif.search._sizes import table_memory

Per = Literal["map", "occurrence"]
Domains = Mapping[int, Sequence[int]] | np.ndarray


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MatchCount(Presented):
    """How often a query matches.

    Attributes:
      count: matches found.
      exact: whether these are all.
      status: ``"done"``, or the limit that stopped the search, in words.
      order: query nodes in the order searched. leaves: query nodes counted in closed form.
      domain_sizes: int64 ``[k]``, target nodes each query node could map to after filtering.
      steps: of the search (levels, if it was small and done in NumPy); positions: candidates tested.
      seconds: by phase: ``index`` (once a target), ``filter``, ``reduce``, ``plan``, ``search``, and ``compile`` if
        programs were compiled; on a device what a plan leaves under way, so that nothing waits for it, is part of its
        search.
      notes: what had to be done differently, in words (smaller steps where memory ran out).
    """

    count: int
    exact: bool
    status: str
    order: list[int]
    leaves: list[int]
    domain_sizes: np.ndarray
    steps: int
    positions: int
    seconds: dict[str, float]
    notes: tuple[str, ...] = ()

    def __int__(self) -> int:
        return self.count

    def _line(self) -> str:
        return f"{counted(self.count, 'match')}, {self.status}"

    def table(self) -> dict[str, Column]:
        seconds = sum(self.seconds.values())
        return {"matches": [self.count], "exact": [self.exact], "status": [self.status], "seconds": [seconds]}

    def _array(self) -> np.ndarray:
        return integers([self.count])[0]


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
    compiled, deadline = compile_seconds(), Deadline(time_limit)
    target = target_of_queries(target, query)
    pattern = checked_query(query, target, wildcard, per)
    if per == "occurrence" and domains is not None:
        raise ValueError("per='occurrence' needs all maps of an occurrence; domains leave some out: use per='map'")
    if has_passes(pattern):
        from jaxmotif.matching._listing import count_listed  # which counts by listing, and imports this module

        if checkpoint is not None:
            raise ValueError(
                "the query compares elements that no edge joins: its matches are listed, without checkpoint"
            )
        return count_listed(pattern, target, induced, per, domains, time_limit, memory, devices, search)
    options = Options(
        induced=induced, wildcard=wildcard, memory=memory, search=search, small=checkpoint is None, deadline=deadline
    )  # fmt: skip
    selection = select_devices(devices)
    divided = checkpoint is not None or selection.several
    if divided and search.max_steps is not None:
        raise ValueError(
            f"max_steps={search.max_steps} counts the steps of one search on one device: give neither several devices "
            "nor a checkpoint"
        )
    plan, seconds = plan_search(pattern, target, domains, options, selection.main)

    def replan(device: jax.Device, block: int | None) -> Plan:
        smaller = search if block is None else dataclasses.replace(search, block=block)
        return plan_search(pattern, target, domains, dataclasses.replace(options, search=smaller), device)[0]

    started = working_time()
    if divided:
        store = store_for(
            checkpoint, selection.together, lambda: search_identity(pattern, target, plan, options, domains)
        )
        found, notes = count_in_shares(plan, replan, selection, deadline, store, progress)
    else:
        from jaxmotif.matching._pieces import count_alone  # which counts smaller queries, and imports this module

        with progress_meter(None, unit="candidates", label="search", enabled=progress) as meter:
            allowed = checked_domains(domains, pattern, target)
            found, notes = count_alone(pattern, target, plan, replan, allowed, options, selection.main, meter.advance)
    seconds |= {"search": working_time() - started}
    return match_count(pattern, per, plan, found, seconds | with_compiling(compiled), notes)


def with_compiling(before: float) -> dict[str, float]:
    """Return the phase ``compile`` with the seconds since :func:`compile_seconds` was a number, if there are any."""
    seconds = compile_seconds() - before
    return {"compile": seconds} if seconds else {}


def search_identity(pattern: Pattern, target: Graph, plan: Plan, options: Options, domains: Domains | None) -> tuple:
    """What is searched for, and how: the parts of its fingerprint."""
    filters = options.chosen_filters(pattern.node_labels is not None and target.node_labels is not None)
    search = [str(options.search.order), *filters, options.induced, options.wildcard, *plan.order, *plan.leaves]
    free = {str(u): np.asarray(nodes) for u, nodes in domains.items()} if isinstance(domains, Mapping) else domains
    rules = ()
    if isinstance(pattern, RuledPattern):
        rules = pattern.forbidden, pattern.condition, pattern.edges, pattern.allowed
    return (
        "matching by prefixes, in limbs", pattern.adjacency, pattern.directed, pattern.node_labels, pattern.edge_labels,
        target.edge_list(), target.n, target.node_labels, target.edge_labels, search, plan.multiplier, free,
        *rules,
    )  # fmt: skip


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

    The next query is planned while the device works for the one before, and values come to the host together.

    Args:
      queries: as for :func:`count_matches`.
      target, induced, per, wildcard, time_limit, memory, devices: likewise; the limits are for each query.
      search: likewise, without ``max_steps``.

    Yields:
      The counts in the order of the queries. ``seconds`` are a query's own on the host, and an equal share of the
      waiting for those under way together.

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
    target = target_of_queries(target, *queries)
    patterns = [checked_query(query, target, wildcard, per) for query in queries]
    options = Options(induced=induced, wildcard=wildcard, memory=memory, search=search)
    return _count_queries(patterns, target, options, per, time_limit, devices)


def _count_queries(
    patterns: Sequence[Pattern], target: Graph, options: Options, per: Per, time_limit: float | None, devices: Devices
) -> Iterator[MatchCount]:
    selection = select_devices(devices)
    if selection.several or any(map(has_passes, patterns)):
        for pattern in patterns:
            yield count_matches(
                pattern, target, options.induced, per=per, wildcard=options.wildcard, time_limit=time_limit,
                memory=options.memory, devices=devices, search=options.search,
            )  # fmt: skip
        return
    chip = selection.main
    todo = list(patterns)
    while todo:
        # The first query's index says how much memory a plan takes: those of the others take about as much.
        together = _together(_index(todo[0], target, chip, by_degree=True)[0])
        some, todo = todo[:together], todo[together:]
        indexed = [_index(pattern, target, chip, by_degree=True)[0] for pattern in some]
        how = dataclasses.replace(options, deadline=Deadline(time_limit))
        jobs = [make_plan(pattern, index, None, how, chip) for pattern, index in zip(some, indexed, strict=True)]
        planned = plan_many(jobs)
        spent = [sum(seconds.values()) for _, seconds in planned]
        memory = table_memory(options.memory, chip)
        found = run_searches([plan.ready for plan, _ in planned], memory, time_limit, spent)
        for pattern, (plan, seconds), (standing, more) in zip(some, planned, found, strict=True):
            standing = plan.found.standing if plan.ready is None else standing
            yield match_count(pattern, per, plan, standing, seconds | {"search": more})


def _together(index: Target) -> int:
    """How many queries to plan at a time, so that what is planned takes no more than some hundred MiB."""
    # As if each had matrices of four pair kinds, and lists of eight times the slots.
    matrices = min(4 * index.nodes * (index.nodes // 32), TOGETHER_ENTRIES // 2)
    return min(max(TOGETHER_ENTRIES // max(matrices, 8 * index.targets.size, 1), 1), TOGETHER)


def match_count(
    pattern: Pattern, per: str, plan: Plan, found: Standing, seconds: dict[str, float], notes: tuple[str, ...] = ()
) -> MatchCount:
    count = found.count * plan.multiplier
    if per == "occurrence":
        # All maps of an occurrence are matches: the division is exact.
        count //= automorphism_total(pattern)
    return MatchCount(
        count, found.status == "done", found.status, plan.order, plan.leaves, plan.domain_sizes, found.steps,
        found.positions, seconds, notes,
    )  # fmt: skip


def plan_search(
    pattern: Pattern, target: Graph, domains: Domains | None, options: Options, device: jax.Device
) -> tuple[Plan, dict[str, float]]:
    """The plan, and seconds by phase."""
    [plan], seconds = plan_searches(pattern, target, checked_domains(domains, pattern, target), options, device)
    return plan, seconds


def plan_searches(
    pattern: Pattern, target: Graph, allowed: np.ndarray | None, options: Options, device: jax.Device
) -> tuple[list[Plan], dict[str, float]]:
    """The plans, of which a tally takes several, and seconds by phase."""
    # A count may renumber the nodes; matches are listed in the order of their own numbers.
    index, indexed = _index(pattern, target, device, by_degree=not options.listing)
    [(plans, seconds)] = plan_many([make_plans(pattern, index, allowed, options, device)])
    return plans, {"index": indexed} | seconds


def _index(pattern: Pattern, target: Graph, device: jax.Device, by_degree: bool) -> tuple[Target, float]:
    """The target as indexed where the search is to be planned, and the seconds that took."""
    started = working_time()
    pairs = int(pattern.neighbors.sum())
    slots = (1 + target.directed) * target.slot_capacity
    # To plan in NumPy takes about as long as pairs of the query times slots of the target.
    labelled = pattern.node_labels is not None and target.node_labels is not None
    work = max(pairs, 1) * slots // (LABELS_LEAVE if labelled else 1)
    on_host = work <= plan_sizes(device).host_work
    if not on_host and device not in target.out_offsets.devices():
        target = target.to_device(device)
    numbered = isinstance(pattern, RuledPattern) and pattern.edges is not None
    index = index_target(target, by_degree, on_host, numbered)
    jax.block_until_ready(index.targets)
    return index, working_time() - started


def target_of_queries(target: GraphLike, *queries: object) -> Graph:
    """The graph to search, with its attributes if a query may ask for them."""
    return as_graph(target, name="target", attributes=any(isinstance(query, Query) for query in queries))


def checked_query(query: GraphLike | Pattern | Query, target: Graph, wildcard: int | None, per: str) -> Pattern:
    if per not in ("map", "occurrence"):
        raise ValueError(f"per must be 'map' or 'occurrence', got {per!r}")
    if isinstance(query, Query):
        if wildcard is not None:
            raise ValueError("wildcard is a label of labelled queries; in a query leave out what may be anything")
        if query.num_nodes > MOST_NODES:
            raise ValueError(f"the query has {query.num_nodes} nodes; it must have 1 to {MOST_NODES}")
        return bind(query, target)
    pattern = as_pattern(query, target, MOST_NODES)
    for what, labels, held in (
        ("node", pattern.node_labels, target.node_labels),
        # Of pairs that no edge joins the label says nothing.
        ("edge", None if pattern.edge_labels is None else pattern.edge_labels[pattern.adjacency], target.edge_labels),
    ):
        if labels is not None and held is None and np.any(labels != wildcard):
            raise ValueError(
                f"the query has {what} labels and the target has none; leave them out of the query, or make them "
                "the wildcard"
            )
    return pattern


def checked_domains(domains: Domains | None, pattern: Pattern, target: Graph) -> np.ndarray | None:
    """As bool ``[k, n]``."""
    k, n = pattern.num_nodes, target.n
    if domains is None:
        return None
    if isinstance(domains, Mapping):
        allowed = np.ones((k, n), bool)
        for u, nodes in domains.items():
            nodes = np.asarray(nodes, np.int64).reshape(-1)
            if not 0 <= u < k:
                raise ValueError(f"domains names query node {u}; there are 0..{k - 1}")
            if nodes.size and not (nodes.min() >= 0 and nodes.max() < n):
                bad = int(nodes[(nodes < 0) | (nodes >= n)][0])
                raise ValueError(f"domains[{u}] names target node {bad}; there are 0..{n - 1}")
            allowed[u] = False
            allowed[u, nodes] = True
        return allowed
    allowed = np.asarray(domains)
    if allowed.shape != (k, n) or allowed.dtype != bool:
        raise ValueError(f"domains must be a mapping or bool [{k}, {n}], got {allowed.dtype} {list(allowed.shape)}")
    return allowed
