"""The census of a small graph on an accelerator, in one program.

The work of a small census takes an accelerator almost no time. Step by step it takes milliseconds all the same, because
the host calls a dozen programs, and waits between them for numbers that decide the sizes of the next tables. Here all
tables have sizes that are enough for any small graph, so that the host calls one program and waits once. Graphs that
prove too large for these sizes are counted by :class:`~jaxmotif.census._device.DeviceEngine`, which takes the same
steps one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._ahead import end_rehearsal, fetched
from jaxmotif.arrays._compile import for_host, jit64
from jaxmotif.census._classes import Classifier
from jaxmotif.census._code_counts import distinct_from, sort_codes, sorted_forms
from jaxmotif.census._engine import numbers_for_host, wide_codes
from jaxmotif.census._pair_states import CensusGraphs
from jaxmotif.census._sizes import Sizes
from jaxmotif.kernels import _subgraphs as kernel
from jaxmotif.kernels._subgraphs import Dyads


class Limits(NamedTuple):
    """Sizes of the tables of a census in one program.

    Attributes:
      rows: rows of a table, positions of its walks, and pairs of patterns.
      visits: positions of the candidates' walks.
      distinct: different codes of pairs, and of visits.
      forms: normal forms.
    """

    rows: int = 1 << 17
    visits: int = 1 << 21
    distinct: int = 1 << 13
    forms: int = 1 << 10


LIMITS = Limits()


def expects_room(likely: Callable[[int], float], size: int, limits: Limits = LIMITS) -> bool:
    """Return whether a graph is expected to fit the limits; if it does not, its program is compiled and run in vain.

    Args:
      likely: a function that estimates how many connected subgraphs of a given number of nodes the graph has.
      size: nodes of a counted subgraph.
      limits: what there is room for.
    """
    # The last table's walks had up to twice as many positions as are estimated for subgraphs of one node less.
    return 2 * likely(size - 1) <= limits.rows and likely(size) <= limits.visits


def count_whole(
    graphs: CensusGraphs, size: int, classifier: Classifier, sizes: Sizes, limits: Limits = LIMITS
) -> np.ndarray | None:
    """Count the subgraphs of a small graph by one program.

    Args:
      graphs: the graphs.
      size: nodes of a subgraph, at least 3.
      classifier: the classes met so far; new ones are added to it.
      sizes: the sizes that the memory allows.
      limits: what there is room for.

    Returns:
      The counts, int64 ``[1, classes]``; ``None`` where there are several graphs, or no room.
    """
    memory_suffices = min(sizes.table, sizes.candidates) >= limits.rows and sizes.codes >= limits.visits
    if graphs.count > 1 or not memory_suffices or not expects_room(graphs.likely, size, limits):
        return None
    numbers, forms, times = _counted(graphs.dyads, nodes=size, wide=wide_codes(graphs, size), limits=limits)
    fits, several = fetched(numbers, (1, 0))
    end_rehearsal()
    if not fits:
        return None
    classes = classifier.of_forms(np.asarray(forms)[:several])
    counts = np.zeros((1, len(classifier)), np.int64)
    np.add.at(counts[0], classes, np.asarray(times)[:several])
    return counts


@partial(jit64, static_argnames=("nodes", "wide", "limits"))
def _counted(dyads: Dyads, *, nodes: int, wide: bool, limits: Limits) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Count the subgraphs of one graph by form.

    Args:
      dyads: the graph.
      nodes: nodes of a subgraph.
      wide: whether codes have two words.
      limits: what there is room for.

    Returns:
      Whether everything had room, and how many forms there are, int64 ``[2]``; the forms, uint64 ``[limits.forms]``;
      and how many subgraphs have each, int64 likewise. All are written for the host.
    """
    zero, begin = jnp.int32(0), jnp.int64(0)
    room = {"nodes": nodes - 2, "capacity": limits.rows}
    rows, count = kernel.roots(dyads, zero, **room), dyads.sizes[1]
    fits = count <= limits.rows
    # All nodes but the last two are added one by one, as `search` does.
    for i in range(1, nodes - 2):
        walks = kernel.open_walks(dyads, rows, jnp.int32(i), count)
        table = kernel.roots(dyads, count, **room)  # its rows are written over
        rows, count, stop = kernel.fill(dyads, rows, jnp.int32(i), walks.work, begin, table, zero, block=limits.rows)
        fits = fits & (stop >= walks.work.total)
    # The last two are counted in bulk: all pairs as if without an edge, then the visits of those with one.
    walks = kernel.open_walks(dyads, rows, jnp.int32(nodes - 2), count)
    candidates, last = kernel.candidates(dyads, rows, count, walks, zero, block=limits.rows)
    runs = kernel.pattern_runs(jnp.sort(candidates.keys), zero, bits=int(dyads.new_bits(nodes - 2)))
    fits = fits & (last == count) & (runs.work.total <= limits.rows) & (candidates.work.total <= limits.visits)
    found = (
        kernel.pair_codes(dyads, rows, runs, begin, block=limits.rows, wide=wide),
        (kernel.visit_codes(dyads, rows, candidates, begin, block=limits.visits, wide=wide), None),
    )
    # A code may be among both parts: its counts are added up with those of its form.
    parts = [distinct_from(sort_codes(*some), zero, room=limits.distinct) for some in found]
    own, times = (jnp.concatenate(some) for some in zip(*((part.codes, part.times) for part in parts), strict=True))
    forms = sorted_forms(own, times, jnp.uint64(0), dyads.codes, nodes, signed=True)
    counts = distinct_from(forms, zero, room=limits.forms)
    fits = fits & (counts.number <= limits.forms)
    for part in parts:
        fits = fits & (part.number <= limits.distinct)
    return numbers_for_host(fits, counts.number), for_host(counts.codes), for_host(counts.times)
