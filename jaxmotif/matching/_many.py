"""Counting a query in the graphs of a data set: small ones stacked, larger ones one by one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

import jax
import numpy as np

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._present import PerGraph, integers
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph, GraphLike, Graphs, GraphsLike, as_graphs
from jaxmotif.graph._groups import size_groups
from jaxmotif.language import Query
from jaxmotif.matching._checks import check_query
from jaxmotif.matching._dense import DenseCount, dense_match_count
from jaxmotif.matching._result import MatchCount
from jaxmotif.patterns import Pattern, automorphism_count

P = ParamSpec("P")
Q = TypeVar("Q", contravariant=True)
R = TypeVar("R")

STACKED_NODES = 128
STACKED_QUERY = 16
LANES = 4
"""The most nodes of targets, and of queries, that are stacked, and the lanes that search each of them."""

MAX_STEPS = 2**14
"""Steps after which a stack is left: what was not done by then is counted alone."""

TOGETHER = 1024
"""Graphs of a stack: all wait for the one that takes longest."""


class Door(Protocol[Q, P, R]):
    """A front door that takes one target, or many: then the result has one for each."""

    @overload
    def __call__(self, query: Q, target: GraphLike, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, query: Q, target: GraphsLike, *args: P.args, **kwargs: P.kwargs) -> PerGraph[R]: ...


def for_many_targets(one: Callable[Concatenate[Q, GraphLike, P], R]) -> Door[Q, P, R]:
    """Make :func:`jaxmotif.count_matches` take many targets too."""

    many = cast("Callable[..., PerGraph[MatchCount]]", functools.partial(_count_in_many, one))

    @functools.wraps(one)
    def door(query: Any, target: Any, *args: P.args, **kwargs: P.kwargs) -> Any:
        targets = as_graphs(target, attributes=isinstance(query, Query))
        if targets is None:
            return one(query, target, *args, **kwargs)
        return many(query, targets, *args, **kwargs)

    return door


def _count_in_many(
    one: Callable[..., Any],
    query: Any,
    targets: Graphs,
    induced: bool = False,
    *,
    per: str = "map",
    wildcard: int | None = None,
    devices: Devices = None,
    progress: bool = False,
    **options: Any,
) -> PerGraph[MatchCount]:
    """Return the count in every target; ``one`` counts in a single one."""
    for name in ("domains", "time_limit", "checkpoint", "certify"):
        if options.get(name) is not None:
            raise ValueError(f"{name} is for one target: many are counted together")
    if isinstance(query, Query):  # what it asks of attributes, and of missing edges, is told one target at a time
        found = [
            one(query, target, induced, per=per, wildcard=wildcard, devices=devices, **options) for target in targets
        ]
        values = integers([count.count for count in found])[:, None]
        return PerGraph(("matches",), values, np.arange(len(targets) + 1), (), found.__getitem__)
    # As one graph, so that whether labels fit is asked once for all targets.
    whole = Graph(*targets.fields, directed=targets.directed)
    pattern = check_query(query, whole, wildcard, per)
    if isinstance(query, Graph) and targets.given is not None:
        check_query(query, targets.given[0], wildcard, per)  # words of labels
    counts: dict[int, int] = {}
    alone: dict[int, MatchCount] = {}
    small = np.flatnonzero(targets.n <= STACKED_NODES) if pattern.num_nodes <= STACKED_QUERY else np.zeros(0, np.int64)
    with meter(len(targets), "graphs", "search", enabled=progress) as bar:
        for some, found in _count_stacks(pattern, targets, small, induced, wildcard, select_devices(devices).local):
            number, exact = found.count.to_numpy()[: some.size].tolist(), np.asarray(found.exact)[: some.size].tolist()
            # A stack that was left early counts only what was done by then.
            counts |= {i: x for i, x, done in zip(some.tolist(), number, exact, strict=True) if done}
            bar.advance(some.size)
        for i in range(len(targets)):
            if i not in counts:
                alone[i] = one(pattern, targets[i], induced, per=per, wildcard=wildcard, devices=devices, **options)
                bar.advance()
    # A map's images by automorphisms are maps: all have been counted.
    same = automorphism_count(pattern) if per == "occurrence" else 1
    counts = {i: x // same for i, x in counts.items()} | {i: x.count for i, x in alone.items()}

    def single(i: int) -> MatchCount:
        k = pattern.num_nodes
        plain = MatchCount(counts[i], True, "done", list(range(k)), [], np.full(k, targets.n[i]), 0, 0, {})
        return alone.get(i, plain)

    values = integers([counts[i] for i in range(len(targets))])[:, None]
    return PerGraph(("matches",), values, np.arange(len(targets) + 1), (), single)


def _count_stacks(
    pattern: Pattern,
    targets: Graphs,
    which: np.ndarray,
    induced: bool,
    wildcard: int | None,
    devices: tuple[jax.Device, ...],
):
    """Return indices of targets and what is found in them, a stack at a time."""
    query = _build_query_graph(pattern, targets)
    label = None if wildcard is None else np.int32(wildcard)
    turn = 0
    # Stacked, a graph works with matrices as wide as its nodes, not with its slots.
    for group in size_groups(targets, which, lambda nodes, slots: 2.0**8 * nodes):
        for some, batch in group.stacks(targets, TOGETHER * group.slots):
            device = devices[turn % len(devices)]
            yield some, jax.device_get(_count_stack(*jax.device_put((query, batch, label), device), induced=induced))
            turn += 1


def _build_query_graph(pattern: Pattern, targets: Graphs) -> Graph:
    """Return the query as a graph, without labels that the targets have none of (all are wildcards then)."""
    edges = np.argwhere(pattern.adjacency if pattern.directed else np.triu(pattern.adjacency))
    k, labelled, typed = (
        pattern.num_nodes,
        targets.fields.node_labels is not None,
        targets.fields.edge_labels is not None,
    )
    edge_labels = pattern.edge_labels[tuple(edges.T)] if typed and pattern.edge_labels is not None else None
    slots = len(edges) * (1 if pattern.directed else 2)
    return Graph.from_edges(
        edges,
        k,
        pattern.directed,
        pattern.node_labels if labelled else None,
        edge_labels,
        pad=(4 if k <= 4 else bucket_size(k), bucket_size(slots)),
    )


@partial(jit64, static_argnames="induced")
def _count_stack(query: Graph, batch: Graph, label: jax.Array | None, induced: bool) -> DenseCount:
    search = partial(dense_match_count, induced=induced, wildcard=label, lanes=LANES, max_steps=MAX_STEPS)
    return jax.vmap(search, in_axes=(None, 0))(query, batch)
