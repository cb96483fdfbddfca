"""All orbits of up to five nodes in a graph of any size, on any devices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import numpy as np

from jaxmotif.devices._memory import out_of_memory
from jaxmotif.devices._record import Store
from jaxmotif.devices._select import Selection
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets import _five_on_host as on_host
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets.five.equations import Array
from jaxmotif.graphlets.five.hubs import Places
from jaxmotif.graphlets.five.plan import Given, given_of
from jaxmotif.graphlets.five.results import (
    ONE_LIMB,
    at_arcs_of,
    at_nodes_of,
    first_of,
    joined,
    total_of_homs,
    totals,
)
from jaxmotif.graphlets.five.sums import all_sums
from jaxmotif.patterns._orbits import NODE_NAMES_5
from jaxmotif.patterns._totals import all_counts, counts_of_maps

LARGEST_HOM, SMALL = 2.0**57, 2.0**34
"""Of counts at a node, up to which all homomorphisms there, at most 24 times as many, are below 2^62; and up to which
those there, and at both arcs of an edge, at most 64 times as many, are below 2^40."""


class FiveOrbits(NamedTuple):
    """Orbits of up to five nodes: ``[N, 73]`` at nodes and ``[m, 68]`` at edges, as far as wanted; uint32 where no
    count can be larger, else int64, or Python integers in host memory. ``notes``: what had to be done differently, in
    words."""

    nodes: jax.Array | np.ndarray
    edges: jax.Array | np.ndarray | None
    notes: tuple[str, ...]


def five_node_orbits(
    graph: Graph, selection: Selection, edges: bool = False, memory: int | None = None, show: bool = False,
    store: Store | None = None, nodes: bool = True,
) -> FiveOrbits:  # fmt: skip
    """All orbits of up to five nodes.

    Args:
      graph: undirected, with edges.
      edges, nodes: whether those at edges, and at nodes, are wanted.
      memory: bytes to work in on each device beside the graph and the result.
      show: progress, where it takes long.
      store: what the work is, and where its checkpoints are.

    Raises:
      OverflowError: counts may pass :data:`LARGEST_RESULT`.
      ValueError: too little memory.
    """
    with jax.default_device(selection.main):
        given_as = partial(_given, graph, selection, "edge" if edges else "node", memory)
        first = given_as(store is None and not selection.several)
        given, places, largest, sums, notes = _summed(first, given_as, selection, show, store)
        narrow, small, wide = largest < 2.0**32, largest < SMALL, largest >= ONE_LIMB
        at_nodes = np.zeros((0, len(NODE_NAMES_5)), np.int64)
        if given.lists is not None:  # made row by row, they are in host memory
            solver = on_host.Solver(given.graph, sums, narrow, wide, small, selection.main)
            at_nodes = solver.at_nodes(places.nodes) if nodes else at_nodes
            return FiveOrbits(at_nodes, solver.at_edges(graph, places.arcs) if edges else None, notes)
        if nodes:
            at_nodes = at_nodes_of(given.graph, sums, wide=wide, small=small).held(narrow, places.nodes)
        if not edges:
            return FiveOrbits(at_nodes, None, notes)
        slots = _slots(graph, selection)
        by_arc = at_arcs_of(given.graph, sums, places, slots, wide=wide, small=small, narrow=narrow)
        del sums  # which take as much as the result
        return FiveOrbits(at_nodes, first_of(by_arc, edges=graph.m).held(narrow=False), notes)


def five_node_counts(
    graph: Graph, selection: Selection, memory: int | None = None, show: bool = False, store: Store | None = None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The 51 counts of a graph, Python integers as :func:`jaxmotif.patterns._totals.all_counts` gives them, and notes;
    arguments and errors as :func:`five_node_orbits`."""
    nodes = np.array(graph.n, object)
    with jax.default_device(selection.main):
        given_as = partial(_given, graph, selection, "graph", memory)
        first = given_as(store is None and not selection.several)
        if first.largest < LARGEST_HOM:
            given, _, _, sums, notes = _summed(first, given_as, selection, show, store)
            halves = total_of_homs if given.lists is None else on_host.total_of_homs
            return counts_of_maps(np, np.concatenate([nodes[None], joined(halves(given.graph, sums))])), notes
    found = five_node_orbits(graph, selection, False, memory, show, store)
    return all_counts(np, nodes, totals(found.nodes)), found.notes


class _First(NamedTuple):
    """What a graph is for the passes, where its nodes and slots went, and a bound of all results."""

    given: Given
    places: Places
    largest: float


class _Summed(NamedTuple):
    """And its sums at all arcs, with notes."""

    given: Given
    places: Places
    largest: float
    sums: dict[str, Array]
    notes: tuple[str, ...]


def _slots(graph: Graph, selection: Selection) -> tuple[jax.Array, jax.Array]:
    return jax.device_put((graph.out_offsets, graph.out_targets), selection.main)


def _given(graph: Graph, selection: Selection, detail: Detail, memory: int | None, alone: bool) -> _First:
    return _First(*given_of(_slots(graph, selection), graph, detail, memory, selection.main, alone))


def _summed(
    first: _First, given_as: Callable[[bool], _First], selection: Selection, show: bool, store: Store | None
) -> _Summed:
    try:
        return _Summed(*first, *all_sums(first.given, selection, show, store))
    except (MemoryError, jax.errors.JaxRuntimeError) as failure:
        if first.given.lists is None or not (isinstance(failure, MemoryError) or out_of_memory(failure)):
            raise
    first = given_as(False)
    sums, notes = all_sums(first.given, selection, show, store)
    return _Summed(*first, sums, ("the host ran out of memory; went on with some rows of tables at a time", *notes))
