"""Checks of the arguments of the public functions of matching: queries, targets and domains."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from jaxmotif.arrays._checks import whole_number
from jaxmotif.graph import Graph
from jaxmotif.graph._build import host_array
from jaxmotif.graph._coerce import GraphLike, as_graph, as_graphs
from jaxmotif.language import Query
from jaxmotif.matching._bind import bind
from jaxmotif.matching.planner._ask import MOST_NODES
from jaxmotif.patterns import Pattern, as_pattern
from jaxmotif.patterns._names import is_pattern_name
from jaxmotif.patterns._ruled import RuledPattern

Per = Literal["map", "occurrence"]
Domains = Mapping[int, Sequence[int]] | np.ndarray


def load_target(target: GraphLike, *queries: object) -> Graph:
    """Return the graph to search, with its attributes if a query may ask for them."""
    if isinstance(target, str) and not os.path.exists(target) and is_pattern_name(target):
        raise ValueError(f"target: {target!r} is the name of a pattern; give the query first, and then its target")
    return as_graph(target, name="target", attributes=any(isinstance(query, Query) for query in queries))


def load_target_and_query(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with the target loaded, and with the query (unless in words) as a pattern."""
    query = arguments["query"]
    targets = as_graphs(arguments["target"], attributes=isinstance(query, Query))
    if targets is not None:
        return arguments | {"target": targets}
    target = load_target(arguments["target"], query)
    if not isinstance(query, Query):
        query = check_query(query, target, arguments.get("wildcard"), "map")
    return arguments | {"target": target, "query": query}


def check_query(query: GraphLike | Pattern | Query, target: Graph, wildcard: int | None, per: str) -> Pattern:
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
        # The matrix of edge labels also has entries for pairs that no edge joins; these mean nothing.
        ("edge", None if pattern.edge_labels is None else pattern.edge_labels[pattern.adjacency], target.edge_labels),
    ):
        if labels is not None and held is None and np.any(labels != wildcard):
            raise ValueError(
                f"the query has {what} labels and the target has none; leave them out of the query, or make them "
                "the wildcard"
            )
    return pattern


def check_certifiable(pattern: Pattern, domains: Domains | None, time_limit: float | None, limit: int | None) -> None:
    """Raise ValueError where no certificate can be written: for a part of all matches, or for rules beyond labels."""
    if isinstance(pattern, RuledPattern):
        raise ValueError("a query in words has no certificate; give a graph, a name or a class with labels")
    for name, value in {"domains": domains, "time_limit": time_limit, "a limit of matches or steps": limit}.items():
        if value is not None:
            raise ValueError(f"a certificate is of all matches; leave {name} out")


def check_whole_occurrences(per: Per, domains: Domains | None) -> None:
    """Raise ValueError if occurrences are asked for, and domains leave out some of the maps that tell them apart."""
    if per == "occurrence" and domains is not None:
        raise ValueError("per='occurrence' needs all maps of an occurrence; domains leave some out: use per='map'")


def check_domains(domains: Domains | None, pattern: Pattern, target: Graph) -> np.ndarray | None:
    """Return the domains that a user gave as bool ``[k, n]``, one row for each query node."""
    k, n = pattern.num_nodes, target.n
    if domains is None:
        return None
    if isinstance(domains, Mapping):
        allowed = np.ones((k, n), bool)
        for u, given in domains.items():
            nodes = host_array(given, f"domains[{u}]").reshape(-1)
            if nodes.dtype == bool and nodes.size == n:
                nodes = np.flatnonzero(nodes)
            elif nodes.dtype.kind not in "iu" and nodes.size:
                raise TypeError(f"domains[{u}] must be ids of target nodes or bool [{n}], got {given!r}")
            if not 0 <= whole_number(u, "a query node in domains") < k:
                raise ValueError(f"domains names query node {u}; there are 0..{k - 1}")
            if nodes.size and not (nodes.min() >= 0 and nodes.max() < n):
                bad = int(nodes[(nodes < 0) | (nodes >= n)][0])
                raise ValueError(f"domains[{u}] names target node {bad}; there are 0..{n - 1}")
            allowed[u] = False
            allowed[u, nodes.astype(np.int64)] = True
        return allowed
    if not hasattr(domains, "shape"):
        raise TypeError(f"domains must be a mapping or bool [{k}, {n}], got {type(domains).__name__}")
    allowed = host_array(domains, "domains")
    if allowed.shape != (k, n) or allowed.dtype != bool:
        raise ValueError(f"domains must be a mapping or bool [{k}, {n}], got {allowed.dtype} {list(allowed.shape)}")
    return allowed
