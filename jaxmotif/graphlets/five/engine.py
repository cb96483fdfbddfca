"""The two engines of five-node orbits behind one interface, and which of them counts a graph.

An engine adds up sums at all arcs (:class:`jaxmotif.graphlets.five.equations.Sums`) and solves the equations for
orbits. :class:`~jaxmotif.graphlets.five.cpu.CpuLoops` runs on a CPU that has numba,
:class:`~jaxmotif.graphlets.five.matrices.HubMatrices` on every device that JAX has. Each says when it wins, and what it
costs. Both give the same numbers, bit for bit.
"""

from __future__ import annotations

from typing import Protocol

import jax
import numpy as np

from jaxmotif.arrays._ahead import end_rehearsal
from jaxmotif.devices._memory import default_memory
from jaxmotif.devices._record import Store
from jaxmotif.devices._select import Selection
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets.five.matrices import HubMatrices
from jaxmotif.graphlets.five.results import Precision
from jaxmotif.graphlets.five.tuning import FiveTuning


class OrbitEngine(Protocol):
    """A way to count the five-node orbits of one graph.

    Attributes:
      largest: no count at a node or edge is larger.
      most_neighbours: the largest degree.
    """

    largest: float
    most_neighbours: int

    def add_up(self, selection: Selection, store: Store | None, show: bool) -> tuple[str, ...]:
        """Add up the sums at all arcs, and return notes on what had to be done differently.

        Args:
          selection: the devices that share the work.
          store: what the work is, and where its checkpoints are.
          show: whether to show progress, where it takes long.
        """
        ...

    def node_orbits(self, precision: Precision) -> jax.Array | np.ndarray:
        """Solve for the orbits at all nodes, ``[N, 73]``."""
        ...

    def edge_orbits(self, precision: Precision) -> jax.Array | np.ndarray:
        """Solve for the orbits at all edges, ``[m, 68]``, in the order of the edge list; the sums may be given up."""
        ...

    def total_homs(self) -> np.ndarray:
        """Return the numbers of homomorphisms of the connected graphs of two to five nodes.

        The results are Python integers, since totals may exceed 64 bits; each sum at a node is below 2^62.
        """
        ...


def choose_engine(
    graph: Graph, selection: Selection, detail: Detail, memory: int | None, tuning: FiveTuning
) -> tuple[OrbitEngine, tuple[str, ...]]:
    """Choose the engine that takes least time on the main device within a budget, and return it with notes.

    Args:
      graph: undirected, with edges.
      detail: whether counts in the graph, node orbits or edge orbits are wanted.
      memory: bytes to work in on each device beside the graph and the result.
    """
    notes: tuple[str, ...] = ()
    if selection.main.platform == "cpu" and tuning.loops:
        try:
            from jaxmotif.graphlets.five.cpu import CpuLoops
        except ImportError as failure:
            notes = (
                f"five-node graphlets on a CPU were counted by array programs, since numba cannot be imported "
                f'({failure}); with numba they take a fraction of the time: pip install "jaxmotif[cpu]"',
            )
        else:
            end_rehearsal()  # loops need no programs of JAX
            loops = CpuLoops(graph, detail, selection.main, tuning)
            if loops.bytes <= (default_memory(selection.main) if memory is None else memory):
                return loops, ()
    return HubMatrices(graph, selection, detail, memory, tuning), notes
