"""All orbits and counts of up to five nodes in a graph of any size: the two engines, and which of them counts a graph.

An engine adds up sums at all arcs (:class:`jaxmotif.graphlets.five.equations.Sums`) and solves the equations for
orbits. It says how large counts may be (``largest``), at which degree (``most_neighbours``), and whether they may pass
one number of 64 bits (``wide``). :class:`~jaxmotif.graphlets.five.cpu.CpuLoops` runs on a CPU if numba is installed,
:class:`~jaxmotif.graphlets.five.matrices.HubMatrices` on every device that JAX has. Their docstrings say when each is
faster, and what it costs. Both give the same numbers, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._ahead import end_rehearsal
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._memory import default_memory
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets._tuning import Detail, FiveTuning, tuning_for
from jaxmotif.graphlets.five.equations import ALL_PASSES, Pass, passes_for
from jaxmotif.graphlets.five.matrices import HubMatrices
from jaxmotif.graphlets.five.results import totals
from jaxmotif.patterns._orbits import NODE_NAMES_5
from jaxmotif.patterns._totals import copies_of_maps, counts_of_maps, maps_of_orbits

if TYPE_CHECKING:
    from jaxmotif.graphlets.five.cpu import CpuLoops


def choose_engine(
    graph: Graph, options: JobOptions, detail: Detail, tuning: FiveTuning
) -> tuple[CpuLoops | HubMatrices, tuple[str, ...]]:
    """Choose the engine that takes least time on the main device within a budget, and return it with notes.

    Args:
      graph: undirected, with edges.
      options: the devices that share the work, the memory to work in beside the graph and the result, and what is kept.
      detail: whether counts in the graph, node orbits or edge orbits are wanted.
      tuning: sizes and limits.
    """
    notes: tuple[str, ...] = ()
    device = options.selection.main
    if device.platform == "cpu" and tuning.loops:
        try:
            from jaxmotif.graphlets.five.cpu import CpuLoops
        except ImportError as failure:
            notes = (
                f"five-node graphlets on a CPU were counted by array programs, since numba cannot be imported "
                f'({failure}); with numba they take a fraction of the time: pip install "jaxmotif[cpu]"',
            )
        else:
            end_rehearsal()  # loops need no programs of JAX
            loops = CpuLoops(graph, options, detail, tuning)
            if loops.bytes <= (default_memory(device) if options.memory is None else options.memory):
                return loops, ()
    return HubMatrices(graph, options, detail, tuning), notes


LARGEST_WITH_TOTALS = 2.0**57
"""If the bound of counts at a node is below this, homomorphisms that send a given node there are below 2^62.

The bound (:func:`jaxmotif.graphlets.five.results.largest_count`) has the homomorphisms of each rooted tree of five
nodes, divided by 24 at most. Other connected graphs have no more homomorphisms than their spanning trees.
"""


class FiveOrbits(NamedTuple):
    """Orbits of up to five nodes.

    Attributes:
      nodes: ``[N, 73]``, no rows where they are not wanted. uint32 where no count can be larger, else int64, or Python
        integers in host memory.
      edges: ``[m, 68]`` of the same types, ``None`` where they are not wanted.
      notes: what had to be done differently, in words.
    """

    nodes: jax.Array | np.ndarray
    edges: jax.Array | np.ndarray | None
    notes: tuple[str, ...]


def five_node_orbits(
    graph: Graph,
    options: JobOptions,
    edges: bool = False,
    nodes: bool = True,
    tuning: FiveTuning | None = None,
) -> FiveOrbits:
    """Count all orbits of up to five nodes.

    Args:
      graph: undirected, with edges.
      options: as for :func:`choose_engine`.
      edges: whether orbits at edges are wanted.
      nodes: whether orbits at nodes are wanted.
      tuning: sizes and limits; by default those of the main device.

    Raises:
      OverflowError: counts may pass the limit of the tuning, 2^90.
      ValueError: too little memory.
    """
    device = options.selection.main
    tuning = tuning or tuning_for(device)
    with jax.default_device(device):
        engine, notes = choose_engine(graph, options, "edge" if edges else "node", tuning)
        _check_largest(engine, tuning)
        notes += engine.add_up()
        at_nodes = engine.node_orbits() if nodes else np.zeros((0, len(NODE_NAMES_5)), np.int64)
        return FiveOrbits(at_nodes, engine.edge_orbits() if edges else None, notes)


def five_node_counts(
    graph: Graph, options: JobOptions, tuning: FiveTuning | None = None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Count the 51 graphs of two to five nodes in a graph, and return the counts with notes.

    The counts are Python integers, as :func:`jaxmotif.patterns._totals.all_counts` gives them; arguments and errors are
    those of :func:`five_node_orbits`.
    """
    homs, notes = _total_homs(graph, options, tuning)
    return counts_of_maps(np, np.concatenate([np.array([graph.n], object), homs])), notes


def five_node_copies(
    graph: Graph, name: str, induced: bool, options: JobOptions, tuning: FiveTuning | None = None
) -> tuple[int, tuple[str, ...]]:
    """Count the copies of one connected graph of five nodes, and return the count with notes.

    Only the passes that this count needs are run.

    Args:
      graph: undirected, with edges.
      name: one of :data:`jaxmotif.patterns._totals.NAMES_5`.
      induced: whether only induced copies are counted.
      options, tuning: as for :func:`five_node_orbits`, whose errors it has.

    References:
      Curticapean, Dell & Marx, "Homomorphisms are a good basis for counting small subgraphs", STOC 2017.
    """
    homs, notes = _total_homs(graph, options, tuning, passes_for(name, induced))
    return copies_of_maps(name, induced, homs), notes


def _total_homs(
    graph: Graph, options: JobOptions, tuning: FiveTuning | None, passes: frozenset[Pass] = ALL_PASSES
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the homomorphisms of the connected graphs of two to five nodes, Python integers, with notes.

    Homomorphisms of graphs that need a pass other than ``passes`` are arbitrary numbers.
    """
    device = options.selection.main
    tuning = tuning or tuning_for(device)
    with jax.default_device(device):
        engine, notes = choose_engine(graph, options, "graph", tuning)
        if engine.largest < LARGEST_WITH_TOTALS:
            notes += engine.add_up(passes)
            return engine.total_homs(), notes
    orbits = five_node_orbits(graph, options, tuning=tuning)
    return maps_of_orbits(np, totals(orbits.nodes)), orbits.notes


def _check_largest(engine: CpuLoops | HubMatrices, tuning: FiveTuning) -> None:
    """Refuse a graph in which a count may pass the limit."""
    if engine.largest >= tuning.largest:
        raise OverflowError(
            f"a node of degree {engine.most_neighbours}: its orbits of five nodes may pass the limit of 2^90 (they "
            f"are below {engine.largest:.2g}); size=4 stays exact"
        )
