"""The interface of the two engines of a census, and what both know about the codes of subgraphs.

A code ends with the number of its graph. Without that number it describes the subgraph in the order in which its nodes
were added. A class has many codes: they are brought to *normal forms*, few for each class, and a
:class:`~jaxmotif.census._classes.Classifier` knows the class of every form it has seen.

The last two nodes of a subgraph are counted in bulk: all pairs of candidates are counted as if none had an edge between
its two nodes. The code of a pair that has an edge therefore also takes one pair without an edge back.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import QuickLimits, for_host, jit64
from jaxmotif.arrays._rows import first_of_each
from jaxmotif.census._classes import Classifier
from jaxmotif.census._code_counts import CodeCounts, merged_parts
from jaxmotif.census._pair_states import CensusGraphs
from jaxmotif.census._sizes import Sizes
from jaxmotif.kernels import _subgraphs as kernel
from jaxmotif.kernels._subgraphs import Candidates, Dyads, Rows, Runs, Walks

# A step reads each entry of its table, or a block of positions, a few times.
ONE_PASS, BLOCKS = QuickLimits(unoptimised=2**24), QuickLimits(unoptimised=2**21, unfused=2**25)

MERGE_AT = 1 << 23  # (code, count) entries held before they are merged

_edges = jit64(kernel.edge_codes, static_argnames="wide")


class CandidateBatch(NamedTuple):
    """Candidates for the last two nodes of some whole rows of a table.

    Attributes:
      candidates: the candidates of the rows, with their walks.
      runs: how often each pattern occurs among the candidates of each row.
      stop: the row after the last one that is covered.
      visits: the length of the candidates' walks together.
      pairs: the length of the runs' walks together.
      number: how many candidates there are.
    """

    candidates: Candidates
    runs: Runs
    stop: int
    visits: int
    pairs: int
    number: int


@dataclasses.dataclass(eq=False)
class CensusEngine(ABC):
    """A running count of subgraphs of ``size`` nodes by class, fed with tables of all their nodes but two.

    There are two engines. :class:`~jaxmotif.census._host.HostEngine` serves CPUs: arrays pass between XLA and NumPy
    without a copy, and NumPy sorts in a quarter of the time that XLA takes there.
    :class:`~jaxmotif.census._device.DeviceEngine` serves accelerators: codes stay on the device, and the host reads a
    few numbers a step, since every transfer keeps the device waiting, and the distinct normal forms of many codes.

    Attributes:
      graphs: the graphs, on the device where the steps run.
      size: nodes of a counted subgraph.
      classifier: the classes met so far; it is asked for the class of every new form.
      sizes: how much is held at once.
      advance: called now and then with how many more subgraphs of ``size - 1`` nodes were extended.
    """

    graphs: CensusGraphs
    size: int
    classifier: Classifier
    sizes: Sizes
    advance: Callable[[int], None] = lambda number: None

    def __post_init__(self) -> None:
        self._dyads, self._wide = self.graphs.dyads, wide_codes(self.graphs, self.size)
        self._parts: list[CodeCounts] = []

    @staticmethod
    @abstractmethod
    def open_walks(dyads: Dyads, rows: Rows, nodes: int, count: int) -> tuple[Walks, int | jax.Array]:
        """Lay out the walks of the first ``count`` rows, which have ``nodes`` nodes each.

        Returns:
          The walks, and their length together, which may still be under way on the device.
        """

    @abstractmethod
    def room_for_candidates(self, count: int, walks: Walks) -> int:
        """Return how many candidates of the first ``count`` rows, which have these walks, are looked at together."""

    @abstractmethod
    def add(self, codes: jax.Array | np.ndarray, weights: jax.Array | None = None, used: int | None = None) -> None:
        """Count subgraphs by their codes.

        Args:
          codes: uint32 ``[L]``, or with :func:`wide_codes` ``[2, L]``, high words first; all ones stand for no code.
          weights: int64 ``[L]``, how often each code is counted; ``None`` for once.
          used: how many of the codes are counted, from the first on; ``None`` for all.
        """

    def counts(self) -> np.ndarray:
        """Return the counts so far, int64 ``[graphs, classes]``, with the classes that the classifier knows now."""
        ((codes, times),) = self._parts = [merged_parts(self._parts)]
        bits = self.graphs.graph_bits
        codes, graph = codes >> np.uint64(bits), codes & np.uint64((1 << bits) - 1)
        # Equal codes of several graphs stand together, and are classified once.
        new = first_of_each(codes)
        which = np.cumsum(new) - 1
        index, without = (table[which] for table in self.classes_of(codes[new]))
        classes = len(self.classifier)
        counts = np.zeros(self.graphs.count * classes, np.int64)
        cell = graph.astype(np.int64) * classes
        # Several codes may belong to one cell, and each of them adds to it.
        np.add.at(counts, cell + index, times)
        joined = without >= 0
        # All pairs were counted as if without an edge, so each pair with an edge is taken off the class without it.
        np.subtract.at(counts, (cell + without)[joined], times[joined])
        return counts.reshape(self.graphs.count, classes)

    @abstractmethod
    def classes_of(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the class of each code (distinct, ascending), and the class from which it is taken, or -1 for none."""

    def keep(self, part: CodeCounts) -> None:
        """Hold the counts of some codes; they are merged now and then, which bounds what is held."""
        self._parts.append(part)
        if sum(codes.size for codes, _ in self._parts) > MERGE_AT:
            self._parts = [merged_parts(self._parts)]

    @abstractmethod
    def find_candidates(self, rows: Rows, walks: Walks, first: int, count: int, block: int) -> CandidateBatch:
        """Find the candidates of whole rows, from row ``first`` on, as many rows as ``block`` candidates allow."""

    @abstractmethod
    def add_pairs(self, rows: Rows, runs: Runs, positions: int) -> None:
        """Count all pairs of candidates as if none had an edge between its two nodes."""

    @abstractmethod
    def add_visits(self, rows: Rows, candidates: Candidates, positions: int) -> None:
        """Count the pairs of candidates with an edge, and the nodes that only one candidate touches."""

    def add_edges(self) -> None:
        """Count the subgraphs of two nodes."""
        self.add(_edges(self._dyads, wide=self._wide))

    def add_extensions(self, rows: Rows, count: int, walks: Walks) -> None:
        """Count the subgraphs that grow by two nodes from the first rows of a table.

        Args:
          rows: the table, of ``size - 2`` nodes a row.
          count: how many of its rows are used.
          walks: the walks of these rows.
        """
        first, block = 0, self.room_for_candidates(count, walks)
        while first < count:
            batch = self.find_candidates(rows, walks, first, count, block)
            if batch.stop == first:
                # A row is never split: one that no block holds gets a larger block.
                block *= 4
                continue
            self.advance(batch.number)
            self.add_pairs(rows, batch.runs, batch.pairs)
            self.add_visits(rows, batch.candidates, batch.visits)
            first = batch.stop


def wide_codes(graphs: CensusGraphs, size: int) -> bool:
    """Return whether the codes of subgraphs of ``size`` nodes take two words."""
    # All ones must stay free, to say that there is no code.
    return graphs.dyads.codes.bits(size) + graphs.graph_bits > 31


def numbers_for_host(*scalars: jax.Array) -> jax.Array:
    """Return, inside a compiled function, numbers that the host waits for, int64.

    Totals are read in the program that makes them: an index taken outside would copy a whole array.
    """
    return for_host(jnp.stack([jnp.asarray(x, jnp.int64) for x in scalars]))


def visit_blocks(
    dyads: Dyads, rows: Rows, candidates: Candidates, codes: jax.Array, at: jax.Array, block: int, wide: bool
) -> jax.Array:
    """Write, inside a compiled function, the codes of some blocks of positions of the candidates' walks.

    Args:
      codes: where the codes are written.
      at: int64 ``[3]``, the first position, the number of blocks, and the place of the first code.
    """

    def body(index: jax.Array, codes: jax.Array) -> jax.Array:
        offset = index * block
        new = kernel.visit_codes(dyads, rows, candidates, at[0] + offset, block=block, wide=wide)
        return put_codes(codes, new, at[2] + offset)

    return lax.fori_loop(jnp.int64(0), at[1], body, codes)


def put_codes(codes: jax.Array, new: jax.Array, place: jax.Array) -> jax.Array:
    """Write new codes, ``[L]`` or ``[2, L]``, from a place on."""
    return lax.dynamic_update_slice(codes, new, (jnp.zeros_like(place), place)[-codes.ndim :])
