"""The way from a query and a target to a search, phase by phase; each phase is a function of plain values.

| phase | where | what it finds |
|---|---|---|
| ask | ``_ask`` (NumPy) | what the query asks of target nodes and of pairs of them |
| filter | ``_device``, or ``_host`` in NumPy; one wait | which target nodes each query node can map to |
| reduce | ``_device``, or ``_host``; one wait | the target between these, and how long its candidate lists are |
| order | ``_order``, ``_leaves`` (NumPy) | which nodes are searched in which order, and which counted in closed form |
| search | ``matching._host_search`` (NumPy) | if it is on the host and small: the matches, and no more phases |
| tally | ``_tally`` (NumPy) | if asked for: which searches say how often nodes and edges take each part |
| leaf sets | ``_bit_sets``; one wait if there are leaves | the terms of the leaves, over bit rows |
| write | ``_placements``, ``_write`` | lists and matrices filled, programs, sizes of steps |
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import numpy as np

from jaxmotif.arrays._bits import pack_bits
from jaxmotif.graph import Graph
from jaxmotif.matching import _host_search as host
from jaxmotif.matching._options import Options
from jaxmotif.matching._seconds import PhaseClock
from jaxmotif.matching._sizes import LABELS_LEAVE, host_work
from jaxmotif.matching._target import Target, index_target
from jaxmotif.matching.planner._ask import FEW_NODES, QueryConstraints, constrain_query
from jaxmotif.matching.planner._bit_sets import BitRows, build_leaf_terms
from jaxmotif.matching.planner._order import choose_order
from jaxmotif.matching.planner._placements import Layout
from jaxmotif.matching.planner._reduce import filter_target, reduce_and_measure
from jaxmotif.matching.planner._tally import NO_TALLY, TallyPlan, choose_tallied_orders, lay_out
from jaxmotif.matching.planner._write import Draft, write
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._ruled import RuledPattern
from jaxmotif.search._deadline import TimeIsUp
from jaxmotif.search._run import NOTHING, ReadySearch


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """A search for a query that is ready to run, or its result.

    Attributes:
      ready: the search, ready to run; ``None`` if all is found.
      order: the query nodes searched, in order; leaves are not in it.
      leaves: the query nodes counted in closed form.
      multiplier: how many maps each map found stands for, since the search finds only one of those that automorphisms
        exchange.
      domain_sizes: int64 ``[k]``, how many target nodes each query node can map to.
      ids: int32 ``[N]``, the node of the graph that each node of the reduced target is.
      tally: the sums that the search makes for a tally.
      found: the result, if there is nothing to run: no match where some domain is empty, or what a small search found.
    """

    ready: ReadySearch | None
    order: list[int]
    leaves: list[int]
    multiplier: int
    domain_sizes: np.ndarray
    ids: Any = None
    tally: TallyPlan = NO_TALLY
    found: host.Found = host.NOTHING_FOUND

    @property
    def search(self) -> ReadySearch:
        """The search that is ready to run.

        Raises:
          ValueError: if there is none; callers look at ``ready`` first.
        """
        if self.ready is None:
            raise ValueError("there is nothing to search")
        return self.ready


@dataclasses.dataclass(frozen=True, eq=False)
class Matching:
    """A query to match in a target, with options. It can be planned on any device, and again with smaller steps.

    Attributes:
      pattern: the query.
      target: where to search.
      options: how to plan.
      allowed: bool ``[k, n]``, domains to begin with besides those of a query with rules, or ``None``.
      number: which of the searches :meth:`plan` returns, where a tally takes several; -1 for the last.
    """

    pattern: Pattern
    target: Graph
    options: Options
    allowed: np.ndarray | None = None
    number: int = 0

    def plan(self, device: jax.Device, block: int | None = None, clock: PhaseClock | None = None) -> Plan:
        """Plan one search, as :meth:`plans`."""
        return self.plans(device, block, clock)[self.number]

    def plans(self, device: jax.Device, block: int | None = None, clock: PhaseClock | None = None) -> list[Plan]:
        """Plan the searches that together find what the options ask for: one, or several for a tally.

        If the deadline of the options passes, the result is one plan without anything to run, whose status says so.

        Args:
          device: where to search.
          block: flat positions of a step (default: what the options say).
          clock: is told of each phase that has ended.
        """
        clock, options, query = clock or PhaseClock(), self.options.with_block(block), self.pattern
        # A count may renumber the nodes; matches are listed in the order of their own numbers.
        index = index_for_planning(query, self.target, device, by_degree=not options.listing)
        clock.end("index")
        try:
            plans = _make_plans(query, index, self.allowed, options, device, clock)
        except TimeIsUp as stop:
            sizes = np.full(query.num_nodes, int(index.size))
            status = host.Found(NOTHING._replace(status=str(stop)))
            plans = [Plan(None, list(range(query.num_nodes)), [], 1, sizes, found=status)]
        clock.end("plan")
        return plans


def _make_plans(
    query: Pattern, target: Target, allowed: np.ndarray | None, options: Options, device: jax.Device, clock: PhaseClock
) -> list[Plan]:
    options.deadline.check()
    if isinstance(query, RuledPattern):
        if query.allowed is not None:
            allowed = query.allowed if allowed is None else query.allowed & allowed
        if query.edges is not None:
            # Marks lie where the index does, and are of one query: the index itself is kept with the graph.
            place = (lambda marks: marks) if target.on_host else partial(jax.device_put, device=device)
            target = dataclasses.replace(target, marks=place(query.edges))
    asked = constrain_query(query, options)
    few = query.num_nodes <= FEW_NODES and target.targets.size <= host.MOST_SLOTS
    # Where there are labels, filters save more time in the search than they take.
    unlabelled = query.node_labels is None and query.edge_labels is None
    if few and unlabelled and target.on_host and options.may_be_small:
        plan = search_unfiltered(asked, target, allowed, options, device)
        if plan is not None:
            return [plan]
    kept = filter_target(target, asked, allowed, options)
    clock.end("filter")
    if kept.empty:
        return [Plan(None, list(range(query.num_nodes)), [], 1, kept.sizes)]
    options.deadline.check()
    lists, measured = reduce_and_measure(target, asked, kept, options)
    clock.end("reduce")
    options.deadline.check()
    # No closed form sees that leaves must not be joined to each other, if induced; and a listing needs every node.
    closed_form = not options.induced and not options.listing
    order = choose_order(asked, measured, options.search, closed_form=closed_form, allowed=allowed)
    if target.on_host and options.may_be_small:
        most = host.candidate_budget(device, order, measured)
        found = None if most < 0 else host.HostSearch.between(lists, asked, order, measured, most).found(options)
        if found is not None:
            ids = lists.target.ids
            return [Plan(None, order.core, order.leaves.nodes, order.multiplier, kept.sizes, ids, found=found)]
    plans: list[Plan] = []
    # Without a tally there is one search. With a tally there may be several, which share domains and lists.
    for tallied in choose_tallied_orders(asked, order, measured, options, allowed):
        options.deadline.check()
        order = tallied.order
        layout, rows = Layout(asked, order, lists, measured), BitRows(lists)
        tally = lay_out(tallied, layout)
        draft = Draft(layout, build_leaf_terms(layout, rows), rows, tally, options, device)
        # Entries and matrices are made once, by the first search, since all searches have the same lists.
        ready = write(draft, plans[0].ready if plans else None)
        plans.append(Plan(ready, order.core, order.leaves.nodes, order.multiplier, kept.sizes, lists.target.ids, tally))
    return plans


def search_unfiltered(
    asked: QueryConstraints, target: Target, allowed: np.ndarray | None, options: Options, device: jax.Device
) -> Plan | None:
    """Search for a query of few nodes before any other phase, and return the result; ``None`` if that is too much.

    Args:
      asked: all that the query asks.
      target: the index of the target, on the host.
      allowed: bool ``[k, n]``, domains to begin with, or ``None``.
      options: how to search.
      device: where the search would go if it is too much here.
    """
    query, nodes = asked.query, target.nodes
    domains = np.ones((query.num_nodes, nodes), bool) if allowed is None else allowed.take(target.ids, axis=1)
    sizes = np.count_nonzero(domains, axis=1)
    order = choose_order(asked, None, options.search, closed_form=False, allowed=allowed)
    if not sizes.all():
        return Plan(None, order.core, [], 1, sizes)
    bits = pack_bits(domains)
    meet = np.asarray((bits[:, None] & bits[None]).any(axis=2))
    most = host.candidate_budget(device, order)
    if not isinstance(query, RuledPattern):  # filters and leaves are worth their time if the search takes longer
        most = min(most, host.A_LEVEL * (query.num_nodes + 1))
    found = host.HostSearch(asked, order, target, domains, meet, most).found(options)
    return None if found is None else Plan(None, order.core, [], order.multiplier, sizes, target.ids, found=found)


def index_for_planning(pattern: Pattern, target: Graph, device: jax.Device, by_degree: bool) -> Target:
    """Return the index of a target, where the search is to be planned."""
    pairs = int(pattern.neighbors.sum())
    slots = (1 + target.directed) * target.slot_capacity
    # The time of planning in NumPy grows with the pairs of the query times the slots of the target.
    labelled = pattern.node_labels is not None and target.node_labels is not None
    work = max(pairs, 1) * slots // (LABELS_LEAVE if labelled else 1)
    on_host = work <= host_work(device)
    if not on_host and device not in target.out_offsets.devices():
        target = target.to_device(device)
    numbered = isinstance(pattern, RuledPattern) and pattern.edges is not None
    index = index_target(target, by_degree, on_host, numbered)
    jax.block_until_ready(index.targets)
    return index
