"""Graphs with colors, and cheap tests that leave only vertices that could lie in a match, in NumPy or on a device."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._rows import offsets_from, places_of, row_of
from jaxmotif.graph import Graph
from jaxmotif.kernels._expand import take
from jaxmotif.sieve._colors import Motif

Direction: TypeAlias = Literal["out", "in", "any"]
"""Direction in which trees grow from their root in a directed graph: along arcs, against them, or either way."""


class ColoredGraph(NamedTuple):
    """A vertex-colored graph in NumPy: adjacency rows, and the shades that each vertex may take.

    Attributes:
      offsets: int32 ``[n + 1]``.
      targets: int32 ``[S]``, each neighbour, whichever way the edge goes.
      shades: uint32 ``[n]``.
      arcs: bool ``[S]``, whether a tree may grow from the row's vertex to the target; ``None`` if it may everywhere.
    """

    offsets: np.ndarray
    targets: np.ndarray
    shades: np.ndarray
    arcs: np.ndarray | None = None

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.shades.shape[0]

    def tree_slots(self) -> tuple[np.ndarray, np.ndarray]:
        """Return offsets and targets of the slots along which trees grow, for the sieve to run on."""
        if self.arcs is None:
            return self.offsets, self.targets
        return offsets_from(self.arcs)[self.offsets], self.targets[self.arcs]


def colored_graph(
    graph: Graph, shades: np.ndarray, labels: Collection[int] | None, direction: Direction | None
) -> ColoredGraph:
    """Return a graph with shades, without the edges that do not count.

    Args:
      graph: the graph.
      shades: uint32 ``[n]``.
      labels: the labels of the edges that count; ``None`` if all do.
      direction: the direction in which trees grow, for a directed graph.
    """
    offsets, targets = np.asarray(graph.out_offsets)[: graph.n + 1], np.asarray(graph.out_targets)[: graph.num_slots]
    if labels is not None:
        counts = np.isin(np.asarray(graph.edge_labels)[: graph.num_slots], list(labels))
        offsets, targets = ColoredGraph(offsets, targets, shades, counts).tree_slots()
    if not graph.directed:
        return ColoredGraph(offsets, targets, shades)
    tails, heads = np.repeat(np.arange(graph.n, dtype=np.int64), np.diff(offsets)), targets.astype(np.int64)
    if direction == "in":
        tails, heads = heads, tails
    # Every arc has slots both ways, because components are found whichever way arcs go.
    arcs = tails << 32 | heads
    slots = np.union1d(arcs, heads << 32 | tails)
    offsets = np.searchsorted(slots, np.arange(graph.n + 1, dtype=np.int64) << 32).astype(np.int32)
    along = None if direction == "any" else np.isin(slots, arcs, assume_unique=True)
    return ColoredGraph(offsets, (slots & 0xFFFFFFFF).astype(np.int32), shades, along)


def restrict(graph: ColoredGraph, keep: np.ndarray) -> tuple[ColoredGraph, np.ndarray]:
    """Return the subgraph on the vertices of a mask, and their ids."""
    if keep.all():
        return graph, np.arange(graph.n)
    ids = np.flatnonzero(keep)
    new = np.cumsum(keep, dtype=np.int32) - 1
    # Only the rows of vertices that stay are read; a slot of theirs stays if its other end does.
    degrees = np.diff(graph.offsets)[ids]
    slots = places_of(graph.offsets[ids], degrees)
    stays = keep[graph.targets[slots]]
    slots = slots[stays]
    offsets = offsets_from(stays)[offsets_from(degrees)]
    arcs = None if graph.arcs is None else graph.arcs[slots]
    return ColoredGraph(offsets, new[graph.targets[slots]], graph.shades[ids], arcs), ids


def components(graph: ColoredGraph) -> np.ndarray:
    """Return the number of each vertex's connected component, int32 ``[n]``; components ascend by their first vertices.

    Example:
      >>> import numpy as np
      >>> components(ColoredGraph(np.array([0, 1, 1, 2]), np.array([2, 0]), np.zeros(3, np.uint32))).tolist()
      [0, 1, 0]
    """
    from scipy import sparse
    from scipy.sparse import csgraph

    matrix = sparse.csr_array((np.ones(graph.targets.size), graph.targets, graph.offsets), shape=(graph.n, graph.n))
    return csgraph.connected_components(matrix, directed=False)[1]


def levels(offsets: np.ndarray, targets: np.ndarray, roots: np.ndarray, steps: int) -> Iterator[np.ndarray]:
    """Yield some roots, then the vertices one step from them, then those two steps away, and so on.

    Example:
      >>> [x.tolist() for x in levels(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.array([2]), steps=5)]
      [[2], [1], [0]]
    """
    new = np.ones(offsets.size - 1, bool)
    for _ in range(steps):
        yield roots
        new[roots] = False
        near = np.zeros(new.size, bool)
        near[targets[places_of(offsets[roots], offsets[roots + 1] - offsets[roots])]] = True
        roots = np.flatnonzero(near & new)
        if not roots.size:
            return
    yield roots


def reached(graph: ColoredGraph, roots: np.ndarray, steps: int) -> np.ndarray:
    """Find the vertices that trees from the vertices of a mask reach in ``steps`` steps, with the roots, bool ``[n]``.

    Example:
      >>> import numpy as np
      >>> arcs = np.array([True, False, True, False])  # 0 -> 1 -> 2
      >>> path = ColoredGraph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1]), np.zeros(3, np.uint32), arcs)
      >>> reached(path, np.array([False, True, False]), 2).tolist()
      [False, True, True]
    """
    seen = np.zeros(graph.n, bool)
    for level in levels(*graph.tree_slots(), np.flatnonzero(roots), steps):
        seen[level] = True
    return seen


def parts_with_candidates(graph: ColoredGraph, motif: Motif) -> list[np.ndarray]:
    """Find the vertices that pass the cheap tests, by component; the vertices of each ascend.

    Such a vertex has a color of the motif, and lies in a component with enough vertices of every color, in the subgraph
    of vertices with colors of the motif. Vertices that fail lie in no match.
    """
    inside, ids = restrict(graph, graph.shades != 0)
    label = components(inside)
    sizes = np.bincount(label)
    enough = sizes >= motif.size
    for color, number in motif.counts.items():
        able = (inside.shades & np.uint32(motif.masks[color])) != 0
        enough &= np.bincount(label[able], minlength=sizes.size) >= number
    by_part, ends = ids[np.argsort(label, kind="stable")], np.cumsum(sizes)
    return [by_part[ends[part] - sizes[part] : ends[part]] for part in np.flatnonzero(enough)]


def candidates(graph: ColoredGraph, motif: Motif) -> np.ndarray:
    """Find the vertices that pass the cheap tests (see :func:`parts_with_candidates`), bool ``[n]``."""
    keep = np.zeros(graph.n, bool)
    for part in parts_with_candidates(graph, motif):
        keep[part] = True
    return keep


def candidates_on_device(offsets: jax.Array, targets: jax.Array, shades: jax.Array, motif: Motif) -> np.ndarray:
    """Find the :func:`candidates` of a graph in padded arrays, on their device: bool ``[N]``, false for padding."""
    # The arrays have room for the colors of every motif, so that all motifs share a program.
    masks, numbers = np.zeros(32, np.uint32), np.full(32, np.iinfo(np.int32).max, np.int32)
    for place, (color, number) in enumerate(motif.counts.items()):
        masks[place], numbers[place] = motif.masks[color], number
    colors, size = np.int32(len(motif.counts)), np.int32(motif.size)
    return np.asarray(_candidates(offsets, targets, shades, (masks, numbers, colors, size)))


@jit64
def _candidates(offsets: jax.Array, targets: jax.Array, shades: jax.Array, motif: tuple[jax.Array, ...]) -> jax.Array:
    """Find the candidates of a motif: its colors' masks, how many vertices of each it needs, their number, its size."""
    masks, numbers, colors, size = motif
    nodes, slots = shades.shape[0], targets.shape[0]
    active = shades != 0
    row = row_of(offsets, slots)
    joined = (jnp.arange(slots, dtype=jnp.int32) < offsets[-1]) & take(active, row) & take(active, targets)

    def fall(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        label, _ = state
        # A round takes the least label of the neighbours, then follows the labels: few rounds do for a long path.
        least = label.at[row].min(jnp.where(joined, take(label, targets), nodes), mode="promise_in_bounds")
        least = least.at[label].min(least, mode="promise_in_bounds")
        least = lax.while_loop(lambda x: jnp.any(take(x, x) != x), lambda x: take(x, x), least)
        return least, jnp.any(least != label)

    start = jnp.arange(nodes, dtype=jnp.int32), jnp.bool_(True)
    label, _ = lax.while_loop(lambda state: state[1], fall, start)

    def count(able: jax.Array) -> jax.Array:
        """Count the vertices of a mask in each component."""
        return jnp.zeros(nodes, jnp.int32).at[label].add(able.astype(jnp.int32), mode="promise_in_bounds")

    def has_enough(color: jax.Array, enough: jax.Array) -> jax.Array:
        return enough & (count(shades & masks[color] != 0) >= numbers[color])

    enough = lax.fori_loop(jnp.int32(0), colors, has_enough, count(active) >= size)
    return active & take(enough, label)
