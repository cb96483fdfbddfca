"""The fourth phase of a plan, in NumPy alone: the order of the search.

It says which nodes are searched, in which order, which are counted in closed form, and which of the maps that
automorphisms exchange is searched.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.matching._options import Order, Search
from jaxmotif.matching.planner._ask import QueryConstraints
from jaxmotif.matching.planner._leaves import NO_LEAVES, LeafPlan, choose_leaves
from jaxmotif.matching.planner._reduce import Measures
from jaxmotif.patterns import Pattern, greatest_constraint_first, symmetry_constraints
from jaxmotif.patterns._ruled import RuledPattern


class SearchOrder(NamedTuple):
    """The order in which a query is searched.

    Attributes:
      core: the query nodes that are searched, in order.
      free: the core nodes without an earlier neighbour.
      leaves: the other query nodes, which are counted in closed form.
      below: pairs (a, b) of query nodes such that a's image must have the lower number.
      multiplier: how many maps each map found stands for, since the search finds only one of those that automorphisms
        exchange.
    """

    core: list[int]
    free: list[int]
    leaves: LeafPlan
    below: list[tuple[int, int]]
    multiplier: int


def choose_order(
    asked: QueryConstraints,
    measured: Measures | None,
    search: Search,
    *,
    closed_form: bool,
    allowed: np.ndarray | None = None,
) -> SearchOrder:
    """Choose the order of a search, its leaves, and the constraints that break symmetry.

    Args:
      asked: all that the query asks.
      measured: figures of its candidate lists; ``None`` if they were not measured, and then there are no leaves.
      search: the options of the user.
      closed_form: whether leaves may be counted in closed form.
      allowed: bool ``[k, n]``, given domains, or ``None``; only nodes with the same domain may be exchanged.
    """
    query, shape = asked.query, asked.shape
    # Only nodes of equal domains may be exchanged: a map moved to another's domain may be forbidden.
    colors = colors_of(allowed)
    order = order_nodes(query, search.order, None if measured is None else measured.sizes)
    leaves = NO_LEAVES
    if search.leaves and closed_form and measured is not None and query.num_nodes > 1:
        tied = np.asarray(
            (asked.non_neighbours >= 0).any(axis=(0, 2))
        )  # leaf counts cannot see which nodes must not be neighbours
        leaves = choose_leaves(asked.which, measured, order, tied)
    leaf_nodes = set(leaves.nodes)
    core = [v for v in order if v not in leaf_nodes]
    if leaves.nodes and measured is not None and isinstance(search.order, str):  # the rest is ordered anew
        ids = sorted(core)
        core = [ids[i] for i in order_nodes(query.relabel(ids), search.order, measured.sizes[ids])]
    below, multiplier = [], 1
    if search.symmetry:

        def find() -> tuple[list[tuple[int, int]], int]:
            # Automorphisms that move leaves are left alone: the closed form counts all maps of leaves.
            return symmetry_constraints(shape, [*core, *leaves.nodes], leaves.nodes, colors)

        # Given domains are of one call, and orders of the query are few.
        key = "symmetry", *core, "leaves", *leaves.nodes
        below, multiplier = shape.known(key, find) if colors is None else find()
    # No list leads to a node without an earlier neighbour, so that all of its domain is tried.
    led = set(np.nonzero(np.tril(query.neighbors[np.ix_(core, core)], -1))[0].tolist())
    free = [core[i] for i in range(len(core)) if i not in led]
    return SearchOrder(core, free, leaves, below, multiplier)


def fewest_candidates(query: Pattern, sizes: np.ndarray, slots: np.ndarray, nodes: int) -> list[int]:
    """Return the matching order that is expected to test the fewest candidates, if edges lie at random.

    All orders of the nodes are compared, so there should be few nodes. The order of RI is taken if it tests hardly
    more.

    Args:
      query: the query.
      sizes: integers ``[k]``, target nodes that each node can map to.
      slots: numbers ``[k, k]``, symmetric: slots of the target that each edge can map to.
      nodes: the number of target nodes.

    Example:
      >>> path, rare = Pattern.from_edges([(0, 1), (1, 2), (2, 3)]), np.full((4, 4), 50)
      >>> rare[2, 3] = rare[3, 2] = 1
      >>> fewest_candidates(path, np.full(4, 9), rare, 9)
      [2, 3, 1, 0]
    """
    pairs = max(nodes, 1) ** 2
    joined, targets = np.where(query.neighbors, slots / pairs, -1).tolist(), sizes.tolist()
    found, best = [], math.inf
    for order in (greatest_constraint_first(query, sizes), *itertools.permutations(range(query.num_nodes))):
        work = expected_candidates(order, targets, joined)
        if work < 0.9 * best:
            found, best = list(order), work
    return found


def expected_candidates(order: Sequence[int], sizes: Sequence[int], joined: Sequence[Sequence[float]]) -> float:
    """Return how many candidates an order is expected to test, if edges lie at random.

    Args:
      order: the query nodes, in the order of the search.
      sizes: ``[k]``, how many target nodes each query node can map to.
      joined: ``[k][k]``, the part of the pairs of such target nodes to which the edge between two query nodes can map;
        -1 where there is no edge.

    Example:
      >>> expected_candidates([0, 1, 2], [4, 6, 6], [[-1, 0.5, -1], [0.5, -1, 0.5], [-1, 0.5, -1]])
      52.0
    """
    rows, work = 1.0, 0.0
    for i, x in enumerate(order):
        parts = [joined[u][x] for u in order[:i] if joined[u][x] >= 0]
        work += rows * sizes[x] * min(parts, default=1.0)
        rows *= sizes[x] * math.prod(parts)
    return float(work)


def colors_of(allowed: np.ndarray | None) -> np.ndarray | None:
    """Return a colour for each node, equal for nodes of equal domains (bool ``[k, n]``); ``None`` without domains."""
    if allowed is None:
        return None
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in np.packbits(allowed, axis=1)], np.int64)


def order_nodes(query: Pattern, order: Order, sizes: np.ndarray | None) -> list[int]:
    """Return a matching order by name, or the one given.

    Raises:
      ValueError: when that is no permutation of the nodes.
    """
    if isinstance(order, str):
        if isinstance(query, RuledPattern) and query.order is not None:
            return query.order
        return greatest_constraint_first(query, sizes)
    if sorted(order) != list(range(query.num_nodes)):
        raise ValueError(f"order must be 'ri' or a permutation of the {query.num_nodes} query nodes, got {order!r}")
    return list(order)
