"""From a query and a target to a search, phase by phase; each phase is a function of plain values.

| phase | where | what it finds |
|---|---|---|
| ask | ``_conditions`` (NumPy) | what the query asks of target nodes and of pairs of them |
| filter | ``_domains``, or ``_host`` in NumPy; one wait | which target nodes each query node can map to |
| reduce | ``_candidates``, or ``_host``; one wait | the target between these, and how long its candidate lists are |
| order | ``_order``, ``_leaves`` (NumPy) | which nodes are searched in which order, and which counted in closed form |
| search | ``_small`` (NumPy) | if it is on the host and small: the matches, and no more phases |
| tally | ``_tally`` (NumPy) | if asked for: which searches say how often nodes and edges take each part |
| leaf sets | ``_bit_sets``; one wait if there are leaves | the terms of the leaves, over bit rows |
| write | ``_placements``, ``_write`` | lists and matrices filled, programs, sizes of steps |
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from functools import partial
from typing import Any

import jax
import numpy as np

from jaxmotif.matching._bit_sets import BitRows, leaf_sets
from jaxmotif.matching._conditions import FEW_NODES, Asked, ask
from jaxmotif.matching._options import Options
from jaxmotif.matching._order import choose_order
from jaxmotif.matching._placements import Layout
from jaxmotif.matching._reduce import filtered, reduced
from jaxmotif.matching._sizes import plan_sizes
from jaxmotif.matching._small import (
    MOST_SLOTS,
    NOTHING_FOUND,
    Found,
    most_candidates,
    search_few,
    search_small,
)
from jaxmotif.matching._tally import NO_TALLY, TallyPlan, lay_out, tallied_orders
from jaxmotif.matching._target import Target
from jaxmotif.matching._write import write
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._ruled import RuledPattern
from jaxmotif.search import NOTHING, ReadySearch, TimeIsUp


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """How a query is searched for.

    Attributes:
      ready: the search, ready to run; ``None`` if all is found.
      order: the query nodes searched, in order; leaves are not in it.
      leaves: the query nodes counted in closed form.
      multiplier: automorphisms that the search leaves out.
      domain_sizes: int64 ``[k]``.
      ids: int32 ``[N]``, the graph's nodes of the reduced target's.
      tally: what it adds up.
      found: if there is nothing to run: nothing, where some domain is empty, or what a small search found.
    """

    ready: ReadySearch | None
    order: list[int]
    leaves: list[int]
    multiplier: int
    domain_sizes: np.ndarray
    ids: Any = None
    tally: TallyPlan = NO_TALLY
    found: Found = NOTHING_FOUND

    def with_search(self, ready: ReadySearch) -> Plan:
        """The same by another search."""
        return dataclasses.replace(self, ready=ready)


def make_plan(
    query: Pattern, target: Target, allowed: np.ndarray | None, options: Options, device: jax.Device
) -> Generator[tuple[str, Any], Any, Plan]:
    """Plan a search, a job for :func:`jaxmotif.matching._plan_many.plan_many`.

    Args:
      target: its index, on the device or on the host.
      allowed: bool ``[k, n]``, domains to begin with besides those of a query with rules, or ``None``.
      device: where to search.
    """
    [plan] = yield from make_plans(query, target, allowed, options, device)
    return plan


def make_plans(
    query: Pattern, target: Target, allowed: np.ndarray | None, options: Options, device: jax.Device
) -> Generator[tuple[str, Any], Any, list[Plan]]:
    """:func:`make_plan`; or, if the options ask for a tally, the searches that together find it; or, if the deadline of
    the options has passed, a plan without anything to run whose status says so."""
    try:
        return (yield from _make_plans(query, target, allowed, options, device))
    except TimeIsUp as stop:
        sizes = np.full(query.num_nodes, int(target.size))
        status = Found(NOTHING._replace(status=str(stop)))
        return [Plan(None, list(range(query.num_nodes)), [], 1, sizes, found=status)]


def _make_plans(
    query: Pattern, target: Target, allowed: np.ndarray | None, options: Options, device: jax.Device
) -> Generator[tuple[str, Any], Any, list[Plan]]:
    options.deadline.check()
    if isinstance(query, RuledPattern):
        if query.allowed is not None:
            allowed = query.allowed if allowed is None else query.allowed & allowed
        if query.edges is not None:
            # Marks lie where the index does, and are of one query: the index itself is kept with the graph.
            place = (lambda marks: marks) if target.on_host else partial(jax.device_put, device=device)
            target = dataclasses.replace(target, marks=place(query.edges))
    sizes = plan_sizes(device)
    asked = ask(query, options)
    few = isinstance(query, RuledPattern) and query.num_nodes <= FEW_NODES and target.targets.size <= MOST_SLOTS
    if few and target.on_host and options.may_be_small:
        plan = search_unfiltered(asked, target, allowed, options, device)
        if plan is not None:
            return [plan]
    kept = yield from filtered(target, asked, allowed, options)
    if kept.empty:
        return [Plan(None, list(range(query.num_nodes)), [], 1, kept.sizes)]
    options.deadline.check()
    lists, measured = yield from reduced(target, asked, kept, options, sizes)
    options.deadline.check()
    # Induced, leaves must not be joined to each other, which no closed form sees; a listing needs every node.
    closed_form = not options.induced and not options.listing
    order = choose_order(asked, measured, options.search, closed_form=closed_form, allowed=allowed)
    if target.on_host and options.may_be_small:
        most = most_candidates(device, order, measured)
        found = None if most < 0 else search_small(asked, order, lists, measured, options, most)
        if found is not None:
            ids = lists.reduced.target.ids
            return [Plan(None, order.core, order.leaves.nodes, order.multiplier, kept.sizes, ids, found=found)]
    plans: list[Plan] = []
    # Without a tally there is one; with one the domains and lists of all are the same.
    for tallied in tallied_orders(asked, order, measured, options, allowed):
        options.deadline.check()
        order = tallied.order
        layout, rows = Layout.of(asked, order, lists, measured.meet), BitRows(lists, sizes)
        groups = yield from leaf_sets(order.leaves, layout, rows)
        tally = lay_out(tallied, layout, lists)
        # Entries and matrices are made once, by the first.
        made = plans[0].ready if plans else None  # the lists are the same
        ready = write(order, lists, measured, layout, groups, rows, tally, options, sizes, device, made)
        plans.append(
            Plan(
                ready, order.core, order.leaves.nodes, order.multiplier, kept.sizes, lists.reduced.target.ids, tally
            )
        )  # fmt: skip
    return plans


def search_unfiltered(
    asked: Asked, target: Target, allowed: np.ndarray | None, options: Options, device: jax.Device
) -> Plan | None:
    """A query with rules that has few nodes, searched for before any other phase; ``None`` if that is too much.

    Args:
      target: its index on the host. allowed: bool ``[k, n]``, domains to begin with, or ``None``.
    """
    query, nodes = asked.query, target.nodes
    domains = np.ones((query.num_nodes, nodes), bool) if allowed is None else allowed.take(target.ids, axis=1)
    sizes = np.count_nonzero(domains, axis=1)
    order = choose_order(asked, None, options.search, closed_form=False, allowed=allowed)
    if not sizes.all():
        return Plan(None, order.core, [], 1, sizes)
    found = search_few(asked, order, target, domains, options, most_candidates(device, order))
    return None if found is None else Plan(None, order.core, [], order.multiplier, sizes, target.ids, found=found)
