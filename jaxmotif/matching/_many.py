"""Counting a query in the graphs of a data set: small ones stacked, larger ones one by one."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from jaxmotif.arrays._present import PerGraph, integers
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph, GraphLike, Graphs, GraphsLike, as_graphs
from jaxmotif.language import Query
from jaxmotif.matching._checks import check_query
from jaxmotif.matching._options import DEFAULT_SEARCH, Options, Search
from jaxmotif.matching._result import MatchCount
from jaxmotif.matching._stacks import MOST_NODES, MOST_QUERY, stacked_roles
from jaxmotif.patterns import automorphism_count
from jaxmotif.patterns._roles import Role

P = ParamSpec("P")
Q = TypeVar("Q", contravariant=True)
R = TypeVar("R")


class Door(Protocol[Q, P, R]):
    """A public function that takes one target, or many targets and then returns a result for each."""

    @overload
    def __call__(self, query: Q, target: GraphLike, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, query: Q, target: GraphsLike, *args: P.args, **kwargs: P.kwargs) -> PerGraph[R]: ...


def for_many_targets(one: Callable[Concatenate[Q, GraphLike, P], R]) -> Door[Q, P, R]:
    """Make :func:`jaxmotif.count_matches` take many targets too."""

    @functools.wraps(one)
    def door(query: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        targets = as_graphs(target, attributes=isinstance(query, Query))
        if targets is None:
            return one(query, target, *args, **kwargs)
        return _count_in_many(one, query, targets, *args, **kwargs)

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
    search: Search = DEFAULT_SEARCH,
    **options: Any,
) -> PerGraph[MatchCount]:
    """Return the count in every target; ``one`` counts in a single one."""
    given = {**options, "max_steps": search.max_steps}
    for name in ("domains", "time_limit", "checkpoint", "certify", "max_steps"):
        if given.get(name) is not None:
            raise ValueError(f"{name} is for one target: many are counted together")
    options["search"] = search
    Options(induced=induced, wildcard=wildcard, memory=options.get("memory"))  # which checks them
    if isinstance(query, Query):  # its conditions on attributes and missing edges are bound to one target
        found = [
            one(query, target, induced, per=per, wildcard=wildcard, devices=devices, **options) for target in targets
        ]
        values = integers([count.count for count in found])[:, None]
        return PerGraph(("matches",), values, np.arange(len(targets) + 1), (), found.__getitem__)
    # All targets are looked at as one graph, so that their labels are checked once.
    whole = Graph(*targets.fields, directed=targets.directed)
    pattern = check_query(query, whole, wildcard, per)
    if isinstance(query, Graph) and targets.given is not None:
        check_query(query, targets.given[0], wildcard, per)  # words of labels
    # Where targets have no labels, the check has made sure that those of the query are all wildcards.
    plain = dataclasses.replace(
        pattern,
        node_labels=None if whole.node_labels is None else pattern.node_labels,
        edge_labels=None if whole.edge_labels is None else pattern.edge_labels,
    )
    # Each occurrence is found once, and stands for the maps that automorphisms exchange.
    maps_each = 1 if per == "occurrence" else automorphism_count(plain)
    counts: dict[int, int] = {}
    alone: dict[int, MatchCount] = {}
    # Stacks know none of the options of a search.
    stacked = pattern.num_nodes <= MOST_QUERY and search.is_default
    small = np.flatnonzero((targets.n <= MOST_NODES) & stacked)
    roles, local = [[Role("matches", ((),))]], select_devices(devices).local
    with meter(len(targets), "graphs", "search", enabled=progress) as bar:
        for some, found, done in stacked_roles(targets, small, [plain], roles, "graph", induced, local, wildcard):
            # A search that takes too many steps is given up; its graph is counted alone below.
            counts |= dict(zip(some[done].tolist(), (maps_each * x for x in found[done, 0].tolist()), strict=True))
            bar.advance(some.size)
        for i in range(len(targets)):
            if i not in counts:
                alone[i] = one(pattern, targets[i], induced, per=per, wildcard=wildcard, devices=devices, **options)
                counts[i] = alone[i].count
                bar.advance()

    def single(i: int) -> MatchCount:
        k = pattern.num_nodes
        plain = MatchCount(counts[i], True, "done", list(range(k)), [], np.full(k, targets.n[i]), 0, 0, {})
        return alone.get(i, plain)

    values = integers([counts[i] for i in range(len(targets))])[:, None]
    return PerGraph(("matches",), values, np.arange(len(targets) + 1), (), single)
