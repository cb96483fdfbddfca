"""Counting and finding the matches of a query graph in a target graph."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.devices.checkpoint import fingerprint
from jaxmotif.devices.ledger import Store
from jaxmotif.devices.progress import progress as progress_meter
from jaxmotif.devices.select import Devices, Selection, select_devices
from jaxmotif.graph import Graph
from jaxmotif.kernels.choice import power_of_four
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.matching.conditions import MOST_NODES
from jaxmotif.matching.domains import DEFAULT_FILTERS, FILTERS
from jaxmotif.matching.lockstep import LAST_PHASE, lockstep
from jaxmotif.matching.plan import Options, Order, Plan, make_plan, table_entries, table_memory
from jaxmotif.matching.run import Standing, blank_state, run_counts, table_after
from jaxmotif.matching.shares import count_at_a_stretch, count_in_shares
from jaxmotif.matching.target import Target, index_target
from jaxmotif.patterns import Pattern, automorphism_count
from jaxmotif.search import Progress, advance

Per = Literal["map", "occurrence"]
Domains = Mapping[int, Sequence[int]] | np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class MatchCount:
    """How often a query matches.

    Attributes:
      count: matches found.
      exact: whether these are all.
      status: ``"done"``, or the limit that stopped the search, in words.
      order: query nodes in the order searched. leaves: query nodes counted in closed form.
      domain_sizes: int64 ``[k]``, target nodes each query node could map to after filtering.
      steps: of the search; positions: candidates tested.
      seconds: by phase: ``index`` (once a target), ``filter``, ``reduce``, ``plan``, ``search``.
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


@dataclasses.dataclass(frozen=True, eq=False)
class Matches:
    """Where a query matches.

    Attributes:
      nodes: int64 ``[M, k]``: in row i, the target node of every query node. Rows are in lexicographic order of
        their columns taken by ``order``.
      exact: whether these are all.
      status: ``"done"``, or the limit that stopped the search, in words.
      order: query nodes in the order searched.
      seconds: by phase.
    """

    nodes: np.ndarray
    exact: bool
    status: str
    order: list[int]
    seconds: dict[str, float]

    def __len__(self) -> int:
        return self.nodes.shape[0]


def count_matches(
    query: Graph | Pattern,
    target: Graph,
    induced: bool = False,
    *,
    per: Per = "map",
    wildcard: int | None = None,
    domains: Domains | None = None,
    filters: Sequence[str] = DEFAULT_FILTERS,
    order: Order = "ri",
    leaves: bool = True,
    symmetry: bool = True,
    lookahead: bool | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    block: int | None = None,
    memory: int | None = None,
    devices: Devices = None,
    checkpoint: str | os.PathLike | None = None,
    progress: bool = False,
) -> MatchCount:
    """Count the injective maps from a query to a target that preserve its edges (and labels), exactly.

    Args:
      query: 1 to 1024 nodes, connected or not; directed if and only if the target is. Its labels, if it has any, are
        matched; without labels it matches any.
      target: the graph searched.
      induced: whether non-edges must be preserved too (for directed graphs, each missing arc).
      per: count ``"map"``s, or ``"occurrence"``s: maps that differ by an automorphism of the query are one.
      wildcard: a label of query nodes and edges that any label matches.
      domains: target nodes allowed for query nodes: a mapping from query nodes (others are free), or bool ``[k, n]``.
      filters: which of ``"label"``, ``"degree"``, ``"neighbor-degree"``, ``"frequency"``, ``"consistency"`` shrink the
        domains before the search; ``"label"`` is always needed where there are labels.
      order: ``"ri"``, ``"quicksi"`` or a permutation of the query nodes.
      leaves: count independent query nodes in closed form instead of one by one.
      symmetry: search one of the maps that automorphisms exchange.
      lookahead: drop partial matches that leave some later node without candidates; by default, once a search has
        tested many candidates and found few matches.
      max_steps, time_limit: stop early, after so many steps or seconds of search.
      block: candidates a step tests; by default from the device and memory.
      memory: bytes to work in beyond the graph; by default a quarter of an accelerator, 512 MiB of a CPU.
      devices: where to run, see :data:`jaxmotif.devices.select.Devices`; several take shares of the search.
      checkpoint: a folder in which finished shares are kept: the same call made again, after whatever end, goes on
        there and gives the same count.
      progress: show a meter on standard error.

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
    pattern = _checked_query(query, target, wildcard, per)
    if per == "occurrence" and domains is not None:
        raise ValueError("per='occurrence' needs all maps of an occurrence; domains leave some out: use per='map'")
    options = Options(
        induced, wildcard, _checked_filters(filters, pattern, target), order, leaves, symmetry, False, block, memory,
        lookahead,
    )  # fmt: skip
    selection = select_devices(devices)
    divided = checkpoint is not None or _divided(selection)
    if divided and max_steps is not None:
        raise ValueError(
            f"max_steps={max_steps} counts the steps of one search on one device: give neither several devices nor a "
            "checkpoint"
        )
    plan, seconds = _plan(pattern, target, domains, options, selection.main)

    def replan(device: jax.Device, block: int | None) -> Plan:
        smaller = dataclasses.replace(options, block=options.block if block is None else block)
        return _plan(pattern, target, domains, smaller, device)[0]

    started = time.perf_counter()
    if divided:
        store = None if checkpoint is None else Store(checkpoint, _identity(pattern, target, plan, options, domains))
        found, notes = count_in_shares(plan, replan, selection, time_limit, store, progress)
    else:
        with progress_meter(None, unit="candidates", label="search", enabled=progress) as meter:
            found, notes = count_at_a_stretch(plan, replan, selection.main, max_steps, time_limit, meter.advance)
    return _match_count(pattern, per, plan, found, seconds | {"search": time.perf_counter() - started}, notes)


def _divided(selection: Selection) -> bool:
    return len(selection.devices) > 1 or selection.helper is not None or selection.together


def _identity(pattern: Pattern, target: Graph, plan: Plan, options: Options, domains: Domains | None) -> str:
    """A name for what is counted, and how."""
    search = [str(options.order), *options.filters, options.induced, options.wildcard, *plan.order, *plan.leaves]
    free = {str(u): np.asarray(nodes) for u, nodes in domains.items()} if isinstance(domains, Mapping) else domains
    return fingerprint(
        "matching by prefixes", pattern.adjacency, pattern.directed, pattern.node_labels, pattern.edge_labels,
        target.edge_list(), target.n, target.node_labels, target.edge_labels, search, plan.multiplier, free,
    )  # fmt: skip


def count_queries(
    queries: Iterable[Graph | Pattern],
    target: Graph,
    induced: bool = False,
    *,
    per: Per = "map",
    wildcard: int | None = None,
    time_limit: float | None = None,
    memory: int | None = None,
    devices: Devices = None,
    **search: Any,
) -> Iterator[MatchCount]:
    """Count the matches of many queries in one target: :func:`count_matches` of each, several under way at a time.

    The next query is planned while the device works for the one before, and values come to the host together.

    Args:
      queries: as for :func:`count_matches`.
      target, induced, per, wildcard, time_limit, memory, devices: likewise; the limits are for each query.
      **search: ``filters``, ``order`` (by name), ``leaves``, ``symmetry``, ``lookahead``, ``block``.

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
    names = {"filters", "order", "leaves", "symmetry", "lookahead", "block"}
    if not set(search) <= names:
        raise TypeError(f"count_queries takes {', '.join(sorted(names))}, got {', '.join(sorted(set(search) - names))}")
    patterns = [_checked_query(query, target, wildcard, per) for query in queries]
    filters = search.pop("filters", DEFAULT_FILTERS)
    options = [
        Options(induced, wildcard, _checked_filters(filters, pattern, target), memory=memory, **search)
        for pattern in patterns
    ]
    return _count_queries(patterns, target, options, per, time_limit, devices)


def _count_queries(patterns, target, options, per, time_limit, devices) -> Iterator[MatchCount]:
    selection = select_devices(devices)
    if _divided(selection):
        for pattern, chosen in zip(patterns, options, strict=True):
            fields = {field.name: getattr(chosen, field.name) for field in dataclasses.fields(chosen)}
            del fields["listing"]
            yield count_matches(pattern, target, **fields, per=per, time_limit=time_limit, devices=devices)
        return
    chip = selection.main
    index, _ = _index(target, chip, by_degree=True)
    together = _together(index)
    for first in range(0, len(patterns), together):
        some, chosen = patterns[first : first + together], options[first : first + together]
        with wide_ints():
            jobs = [make_plan(pattern, index, None, one) for pattern, one in zip(some, chosen, strict=True)]
            planned = lockstep(jobs)
        found = run_counts([plan for plan, _ in planned], time_limit, table_memory(chosen[0].memory, chip))
        for pattern, (plan, seconds), (standing, more) in zip(some, planned, found, strict=True):
            yield _match_count(pattern, per, plan, standing, seconds | {"search": more})


def _together(index: Target) -> int:
    """How many queries to plan at a time, so that what is planned takes no more than some hundred MiB."""
    matrices = min(4 * index.nodes * (index.nodes // 32), 2**26)
    return min(max(2**27 // max(matrices, 8 * index.targets.size), 1), 16)


def _match_count(
    pattern: Pattern, per: str, plan: Plan, found: Standing, seconds: dict[str, float], notes: tuple[str, ...] = ()
) -> MatchCount:
    count = found.count * plan.multiplier
    if per == "occurrence":
        count //= automorphism_count(pattern)
    return MatchCount(
        count, found.status == "done", found.status, plan.order, plan.leaves, plan.domain_sizes, found.steps,
        found.positions, seconds, notes,
    )  # fmt: skip


def find_matches(
    query: Graph | Pattern,
    target: Graph,
    induced: bool = False,
    limit: int | None = None,
    *,
    per: Per = "map",
    wildcard: int | None = None,
    domains: Domains | None = None,
    filters: Sequence[str] = DEFAULT_FILTERS,
    order: Order = "ri",
    time_limit: float | None = None,
    block: int | None = None,
    memory: int | None = None,
    devices: Devices = None,
) -> Matches:
    """List the matches of a query in a target.

    Args:
      limit: at most so many matches: the first ones in lexicographic order of the matching order.
      per: list every ``"map"``, or of those that differ by an automorphism one for each ``"occurrence"``.
      query, target, induced, wildcard, domains, filters, order, time_limit, block, memory: as for
        :func:`count_matches`.
      devices: likewise; one is used.

    Returns:
      The matches, the same for every ``block``, ``memory`` and ``devices``.

    Example:
      >>> path, square = Graph.from_edges([(0, 1), (1, 2)]), Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
      >>> find_matches(path, square, limit=2).nodes.tolist()
      [[1, 0, 3], [3, 0, 1]]
    """
    pattern = _checked_query(query, target, wildcard, per)
    if limit is not None and limit < 0:
        raise ValueError(f"limit must be at least 0, got {limit}")
    options = Options(
        induced, wildcard, _checked_filters(filters, pattern, target), order, leaves=False,
        symmetry=per == "occurrence", listing=True, block=block, memory=memory,
    )  # fmt: skip
    plan, seconds = _plan(pattern, target, domains, options, select_devices(devices).main)
    started = time.perf_counter()
    parts, found, status = [np.zeros((0, pattern.num_nodes), np.int64)], 0, "done"
    for nodes, status in _batches(plan, time_limit):
        parts.append(nodes)
        found += len(nodes)
        if limit is not None and found > limit:
            status = f"stopped at limit={limit}"
            break
    rows = np.concatenate(parts)[:limit]
    seconds |= {"search": time.perf_counter() - started}
    return Matches(rows, status == "done", status, plan.order, seconds)


def has_match(query: Graph | Pattern, target: Graph, induced: bool = False, **options: Any) -> bool:
    """Whether a query matches anywhere in a target.

    Args:
      query, target, induced: as for :func:`count_matches`.
      options: those of :func:`find_matches` but ``limit``.

    Returns:
      True or False.

    Raises:
      TimeoutError: if ``time_limit`` passed before a match was found or ruled out.

    Example:
      >>> square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
      >>> has_match(Graph.from_edges([(0, 1), (1, 2), (2, 0)]), square)
      False
    """
    found = find_matches(query, target, induced, 1, **options)
    if not len(found) and not found.exact:
        raise TimeoutError(f"no match found so far, {found.status}; allow more time")
    return len(found) > 0


def participation_counts(
    query: Graph | Pattern, target: Graph, induced: bool = False, *, per: Per = "map", **options: Any
) -> np.ndarray:
    """In how many matches each target node takes the part of each query node: features of nodes.

    Args:
      query, target, induced, per: as for :func:`count_matches`. With ``per="occurrence"``, counts of query nodes
        that automorphisms exchange are those of the one map listed for each occurrence.
      options: ``wildcard``, ``domains``, ``filters``, ``order``, ``block``, ``memory``, ``devices``.

    Returns:
      int64 ``[n, k]``; every column sums to the number of matches.

    Example:
      >>> path, star = Graph.from_edges([(0, 1), (1, 2)]), Graph.from_edges([(0, 1), (0, 2), (0, 3)])
      >>> participation_counts(path, star).tolist()
      [[0, 6, 0], [2, 0, 2], [2, 0, 2], [2, 0, 2]]
    """
    wildcard, device = options.pop("wildcard", None), select_devices(options.pop("devices", None)).main
    pattern = _checked_query(query, target, wildcard, per)
    filters = _checked_filters(options.pop("filters", DEFAULT_FILTERS), pattern, target)
    domains = options.pop("domains", None)
    chosen = Options(induced, wildcard, filters, leaves=False, symmetry=per == "occurrence", listing=True, **options)
    plan, _ = _plan(pattern, target, domains, chosen, device)
    counts = np.zeros((target.n, pattern.num_nodes), np.int64)
    for nodes, _ in _batches(plan, None):
        for u in range(pattern.num_nodes):
            counts[:, u] += np.bincount(nodes[:, u], minlength=target.n)
    return counts


def _plan(
    pattern: Pattern, target: Graph, domains: Domains | None, options: Options, device: jax.Device
) -> tuple[Plan, dict[str, float]]:
    """The plan, and seconds by phase."""
    allowed = None if domains is None else _checked_domains(domains, pattern.num_nodes, target.n)
    index, indexed = _index(target, device, by_degree=not options.listing)
    with wide_ints():
        [(plan, seconds)] = lockstep([make_plan(pattern, index, allowed, options)])
    started = time.perf_counter()
    jax.block_until_ready(plan.operands)  # or the search would be said to take what these still take
    seconds[LAST_PHASE] += time.perf_counter() - started
    return plan, {"index": indexed} | seconds


def _index(target: Graph, device: jax.Device, by_degree: bool) -> tuple[Target, float]:
    """The target as indexed where the search is to run, and the seconds that took."""
    if device not in target.out_offsets.devices():
        target = target.to_device(device)
    started = time.perf_counter()
    index = index_target(target, by_degree)
    jax.block_until_ready(index.targets)
    return index, time.perf_counter() - started


def _batches(plan: Plan, time_limit: float | None) -> Iterator[tuple[np.ndarray, str]]:
    """Matches in order, int64 ``[M, k]`` a batch, and the status so far."""
    if plan.operands is None:
        return
    (stage,) = plan.stages
    program = stage.program
    k = program.tables
    started, quota = time.perf_counter(), 16
    ids = np.asarray(plan.ids)
    columns = np.argsort(plan.order)
    base, room = table_after(program, k)
    with wide_ints():
        state = blank_state(plan.operands, table_entries(program.entries), power_of_four(k, 16), "xla")
        while True:
            state, report = advance(
                plan.operands, state, state.steps + jnp.int32(quota), sizes=stage.sizes, backend="xla", ordered=True
            )
            rows = Progress.read(np.asarray(report)).rows
            held = int(rows[0, k])
            drained = not (rows[1] < rows[0])[:k].any()
            out_of_time = time_limit is not None and time.perf_counter() - started >= time_limit
            status = "done" if drained or not out_of_time else f"stopped at time_limit={time_limit:g} s"
            found = np.asarray(_slice(state.table, np.int32(base), size=room * k)).reshape(k, room)[:, :held]
            yield ids[found.T][:, columns].astype(np.int64), status
            if drained or out_of_time:
                return
            state = dataclasses.replace(state, rows=state.rows.at[0, k].set(0))
            quota = min(2 * quota, 2**12)


@partial(jax.jit, static_argnames=("size",))
def _slice(table: jax.Array, start: jax.Array, *, size: int) -> jax.Array:
    return lax.dynamic_slice(table, (start,), (size,))


def _checked_query(query: Graph | Pattern, target: Graph, wildcard: int | None, per: str) -> Pattern:
    if not isinstance(target, Graph):
        raise TypeError(f"target must be a Graph, got {type(target).__name__}")
    if not isinstance(query, Graph | Pattern):
        raise TypeError(f"query must be a Graph or a Pattern, got {type(query).__name__}")
    if per not in ("map", "occurrence"):
        raise ValueError(f"per must be 'map' or 'occurrence', got {per!r}")
    size = query.n if isinstance(query, Graph) else query.num_nodes
    if not 1 <= size <= MOST_NODES:
        raise ValueError(f"the query has {size} nodes; it must have 1 to {MOST_NODES}")
    pattern = query if isinstance(query, Pattern) else Pattern.from_graph(query)
    if pattern.directed != target.directed:
        kind = {True: "directed", False: "undirected"}
        raise ValueError(
            f"the query is {kind[pattern.directed]} and the target {kind[target.directed]}; build both alike "
            "(directed=True or False)"
        )
    for what, labels, held in (
        ("node", pattern.node_labels, target.node_labels),
        ("edge", None if pattern.edge_labels is None else pattern.edge_labels[pattern.adjacency], target.edge_labels),
    ):
        if labels is not None and held is None and np.any(labels != wildcard):
            raise ValueError(
                f"the query has {what} labels and the target has none; leave them out of the query, or make them "
                "the wildcard"
            )
    return pattern


def _checked_filters(filters: Sequence[str], pattern: Pattern, target: Graph) -> tuple[str, ...]:
    if isinstance(filters, str) or not set(filters) <= set(FILTERS):
        raise ValueError(f"filters must be some of {', '.join(FILTERS)}; got {filters!r}")
    labelled = pattern.node_labels is not None and target.node_labels is not None
    chosen = set(filters) | ({"label"} if labelled else set())
    return tuple(name for name in FILTERS if name in chosen)


def _checked_domains(domains: Domains, k: int, n: int) -> np.ndarray:
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
