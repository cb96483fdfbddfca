"""Searches for small patterns in small graphs, thousands of graphs at a time, in one compiled loop over the patterns.

The patterns are data, so that a data set takes one program for each padded size, however many patterns there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import cycle
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64, target_of
from jaxmotif.arrays._fetch import look_ahead
from jaxmotif.arrays._rows import places_of as row_numbers
from jaxmotif.arrays._sizes import power_of_two
from jaxmotif.graph import Graph, Graphs
from jaxmotif.graph._groups import size_groups
from jaxmotif.kernels._expand import take
from jaxmotif.matching._dense import Found, Tallied, search_dense
from jaxmotif.patterns import Pattern, symmetry_constraints
from jaxmotif.patterns._roles import Per, Role, places_of

MOST_NODES, MOST_QUERY = 128, 16
"""Numbers of nodes up to which graphs, and patterns, are searched in stacks."""

TOGETHER, TOGETHER_ON_ACCELERATOR = 2**9, 2**14
"""Most graphs of a stack. All of them wait for the one that takes longest; but on an accelerator a step takes as long
for few graphs as for many."""

MOST_SLOTS = 2**22
"""Most slots of all graphs of a stack together, since each slot has a counter for each column."""

LANES, MOST_STEPS = 4, 2**10
"""Numbers of partial matches of a graph that are extended in a step, and of steps after which a search is given up.

Graphs whose search is given up are searched one by one.
"""


class SearchArrays(NamedTuple):
    """Patterns as data.

    Attributes:
      queries: a stack of graphs of ``K`` nodes.
      below: bool ``[P, K, K]``, as :func:`search_dense` takes it.
      parts: int32 ``[P, nodes or edges]``, as :func:`search_dense` takes it.
      wildcard: the label that patterns have where any label will do.
    """

    queries: Graph
    below: np.ndarray
    parts: np.ndarray
    wildcard: np.int32


def searches_for(
    patterns: list[Pattern], roles: list[list[Role]], per: Per, wildcard: int | None = None
) -> SearchArrays:
    """Return patterns as data for a search, which finds one of all maps that automorphisms of a pattern exchange."""
    nodes, directed = [p.num_nodes for p in patterns], patterns[0].directed
    ends = [np.array(places_of(p, "edge"), np.int64).reshape(-1, 2) for p in patterns]
    K, S = power_of_two(max(nodes), 4), power_of_two(max(map(len, ends)) * (1 if directed else 2), 8)
    node_labels = [p.node_labels for p in patterns]
    edge_labels = [
        None if p.edge_labels is None else p.edge_labels[tuple(e.T)] for p, e in zip(patterns, ends, strict=True)
    ]
    if wildcard is None:
        used = {int(x) for labels in (*node_labels, *edge_labels) if labels is not None for x in labels}
        wildcard = next(x for x in range(len(used) + 1) if x not in used)
    labels = _filled(node_labels, nodes, wildcard), _filled(edge_labels, [len(e) for e in ends], wildcard)
    queries = Graphs.from_edges(ends, nodes, directed, *labels).stack(pad=(K, S))
    below = np.zeros((len(patterns), K, K), bool)
    for constraints, pattern in zip(below, patterns, strict=True):
        for a, b in symmetry_constraints(pattern)[0]:
            constraints[a, b] = True
    number = max(map(len, roles))
    parts = np.full((len(patterns), K if per == "node" else S // (1 if directed else 2)), number, np.int32)
    if per != "graph":
        for row, pattern, held in zip(parts, patterns, roles, strict=True):
            place = {place: i for i, place in enumerate(places_of(pattern, per))}
            for number_of_role, role in enumerate(held):
                row[[place[x] for x in role.places]] = number_of_role
    return SearchArrays(queries, below, parts, np.int32(wildcard))


def _filled(labels: list[np.ndarray | None], counts: list[int], wildcard: int) -> list[np.ndarray] | None:
    """Return labels for all patterns or none, with a wildcard where a pattern has none."""
    if all(x is None for x in labels):
        return None
    return [np.full(n, wildcard, np.int32) if x is None else x for x, n in zip(labels, counts, strict=True)]


def search_roles(
    searches: SearchArrays, graph: Graph, number: int, per: Per, induced: bool, *, lanes: int, max_steps: int
) -> Found:
    """Search a graph for each pattern.

    Returns:
      Counts ``[P]``, or ``[rows, P * number]``; and whether each search is done, bool ``[P]``.
    """

    def one(search: tuple[Graph, jax.Array, jax.Array]) -> Found:
        query, below, parts = search
        tallied = None if per == "graph" else Tallied(per, parts, number)
        return search_dense(
            query, graph, tallied, below, induced=induced, wildcard=searches.wildcard, lanes=lanes, max_steps=max_steps
        )

    # Patterns are searched in turn, not side by side, so that each loop ends when its own pattern is done.
    found = jax.lax.map(one, (searches.queries, searches.below, searches.parts))
    values = found.values
    if per != "graph":
        values = jnp.moveaxis(values, 0, 1).reshape(values.shape[1], -1)
    return found._replace(values=values)


def stacked_roles(
    graphs: Graphs,
    which: np.ndarray,
    patterns: list[Pattern],
    roles: list[list[Role]],
    per: Per,
    induced: bool,
    devices: tuple[jax.Device, ...],
    wildcard: int | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Search some small graphs for patterns, a stack at a time.

    Yields:
      Indices of graphs; int64 ``[rows, roles]``, the rows of these graphs one after another; and for each graph whether
      its searches are done.
    """
    searches, number = searches_for(patterns, roles, per, wildcard), max(map(len, roles))
    order = [number * i + column for i, held in enumerate(roles) for column in range(len(held))]
    together = TOGETHER_ON_ACCELERATOR if target_of(devices[0]).is_accelerator else TOGETHER
    turns = cycle(devices)

    def begun() -> Iterator[tuple[np.ndarray, int, tuple[jax.Array, jax.Array]]]:
        # A stacked graph works with matrices as wide as its nodes, not with its slots.
        for group in size_groups(graphs, which, lambda nodes, slots: 2.0**8 * nodes):
            width = group.nodes if per == "node" else group.slots // (1 if graphs.directed else 2)
            for some, batch in group.stacks(graphs, min(together * group.slots, MOST_SLOTS)):
                given = jax.device_put((batch, searches, np.array(order, np.int32)), next(turns))
                yield some, width, _stack(*given, number=number, per=per, induced=induced, max_steps=MOST_STEPS)

    for some, width, found in look_ahead(begun(), 2 * len(devices)):
        values, done = jax.device_get(found)
        if per == "graph":
            rows = values[: some.size]
        else:
            counts = graphs.n[some] if per == "node" else graphs.m[some]
            rows = values.reshape(-1, len(order))[row_numbers(np.arange(some.size) * width, counts)]
        yield some, rows.astype(np.int64), done[: some.size]


@partial(jit64, static_argnames=("number", "per", "induced", "max_steps"))
def _stack(
    batch: Graph, searches: SearchArrays, order: jax.Array, *, number: int, per: Per, induced: bool, max_steps: int
) -> tuple[jax.Array, jax.Array]:
    """Return the columns of each graph of a stack, and whether all its searches are done."""

    def one(graph: Graph) -> tuple[jax.Array, jax.Array]:
        found = search_roles(searches, graph, number, per, induced, lanes=LANES, max_steps=max_steps)
        return take(found.values.T, order).T, found.exact.all()

    return jax.vmap(one)(batch)
