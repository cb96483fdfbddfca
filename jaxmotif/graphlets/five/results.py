"""Orbits and counts of five nodes from the sums at all arcs: exact in one number of 64 bits, or in two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._exact import join_sums, split_sum
from jaxmotif.arrays._rows import places_of_true
from jaxmotif.graphlets.five.equations import Arcs, Array, Nodes, Rims, Sums, all_homs, orbits_of, solved, total_homs
from jaxmotif.graphlets.five.graphs import DegreeOrderedGraph, Renumbering
from jaxmotif.kernels._expand import take
from jaxmotif.patterns._catalogue import CONNECTED
from jaxmotif.patterns._orbits import NUM_ORBITS, times24


def largest_count(xp: ModuleType, arcs: Arcs, d: Array) -> Array:
    """Return an upper bound of the five-node counts at any node, float64.

    It is the largest number of trees of five nodes that contain one node, since every connected set of five nodes has a
    spanning tree: a path, a fork or a star.

    Args:
      xp: NumPy or JAX's NumPy.
      arcs: the operations of the graph.
      d: degrees, float64.
    """
    around = arcs.around
    p2, q2 = around(d), around(d * d)
    p3 = around(p2)
    paths = around(p3) + d * p3 + p2 * p2 / 2
    forks = d * d * p2 / 2 + around(d * p2) + d * q2 / 2 + around(q2) / 2
    return xp.max(paths + forks + d**4 / 24 + around(d**3) / 6, initial=0)


def arcs_of(graph: DegreeOrderedGraph) -> Arcs:
    """Return the operations between arrays over the nodes and arrays over the arcs of a graph."""

    def out(x: jax.Array) -> jax.Array:
        nodes = graph.leaves.shape[0]
        return jax.ops.segment_sum(x, graph.tails, num_segments=nodes + 1, indices_are_sorted=True)[:nodes]

    real = graph.tails < graph.leaves.shape[0]

    def end(ends: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.where(real, x.at[ends].get(mode="clip"), jnp.zeros((), x.dtype))

    def back(x: jax.Array) -> jax.Array:
        return take(x, graph.back)

    return Arcs(
        tail=partial(end, graph.tails), head=partial(end, graph.heads), out=out, back=back, both=lambda x: x + back(x)
    )


def arcs_of_edges(xp: ModuleType, ends: tuple[Array, Array]) -> Arcs:
    """Return the operations for arrays over the arcs of some edges; there are no sums over the arcs of a node.

    Args:
      ends: tails and heads, first of one arc of each edge and then of the reversed arcs in the same order.
    """
    (tails, heads), half = ends, len(ends[0]) // 2
    return Arcs(
        tail=lambda x: xp.take(x, tails),
        head=lambda x: xp.take(x, heads),
        out=_refuse_sums_at_nodes,
        back=lambda x: xp.concatenate([x[half:], x[:half]]),
        both=lambda x: x[:half] + x[half:],
    )


def _refuse_sums_at_nodes(values: Array) -> Array:
    raise TypeError("some arcs have no sums at nodes")


@jit64
def degrees_and_walks(graph: DegreeOrderedGraph) -> tuple[jax.Array, jax.Array]:
    """Return degrees, and walks of length 2 from each node, int64 ``[N]``."""
    degrees = jnp.diff(graph.offsets).astype(jnp.int64)
    return degrees, arcs_of(graph).around(degrees)


def with_leaves(xp: ModuleType, arcs: Arcs, d: Array, p2: Array, tau: Array, sums: Mapping[str, Array]) -> Sums:
    """Return all sums, completed by what passes over hubs leave out: arcs to and from leaves, and walks over leaves.

    Args:
      d, p2, tau: as in :class:`jaxmotif.graphlets.five.equations.Nodes`.
      sums: int64 at all arcs, by name; ``q`` is the number of 5-cliques on each edge. Walks of length 4 are given in
        one of two ways: as ``walks4``, those over core nodes, and ``leaves``; or as ``cycles``, the 5-cycles at one of
        the two arcs of each edge.
    """
    leaf_tail, leaf_head = arcs.tail(d) == 1, arcs.head(d) == 1
    fixed = {**sums, "q": 6 * sums["q"]}  # the three other nodes of a 5-clique have 6 maps
    if "walks4" in sums:
        fixed["w4"] = sums["walks4"] + sums["leaves"]
    else:  # 5-cycles, and the walks of length 4 that are no path
        t, cycles = sums["t"], sums["cycles"]
        again = sums["degrees"] + t * (arcs.tail(d) + arcs.head(d) - 5) + arcs.tail(tau) + arcs.head(tau)
        fixed["w4"] = cycles + arcs.back(cycles) + again
    # A leaf has one common neighbour with each neighbour of its only neighbour, and none with any other node.
    at_leaves = {  # at arcs that lead to a leaf, and from one
        "w3": (arcs.tail(d), arcs.head(d)),
        "far": (arcs.tail(p2), arcs.head(d * d)),
        "wing": (arcs.tail(d), arcs.head(d * d)),
        "arm": (0, arcs.head(tau)),
        "w4": (arcs.tail(tau), arcs.head(tau)),
        "side": (arcs.tail(tau), 0),
    }
    # In the order of the dictionary. The order of a set changes from process to process, and with it the program, which
    # would then not be found in the cache of compiled programs.
    for name in filter(fixed.__contains__, at_leaves):
        to_leaf, from_leaf = at_leaves[name]
        fixed[name] = xp.where(leaf_head, to_leaf, xp.where(leaf_tail, from_leaf, fixed[name]))
    # Counts in the graph and node orbits do not need all of the sums; those that are missing are zeros.
    none = xp.zeros_like(tau[:1])
    return Sums(**{name: fixed.get(name, none) for name in Sums._fields})


def rims_of(xp: ModuleType, arcs: Arcs, d: Array, tau: Array, sums: Mapping[str, Array]) -> Rims:
    """Return the sums that edge orbits need beyond those of :func:`with_leaves`, whose arguments it takes."""
    leaf_tail, leaf_head = arcs.tail(d) == 1, arcs.head(d) == 1
    # Walks from or to a leaf go through its only neighbour, and are counted by the triangles there.
    floor = xp.where(leaf_head, arcs.tail(tau), xp.where(leaf_tail, arcs.head(tau), sums["floor"]))
    return Rims(
        floor=floor,
        end=arcs.back(sums["end"]),
        side=sums["side_pairs"],
        **{name: sums[name] for name in ("triples", "eave", "squares", "dart", "tail", "middle", "rim")},
    )


@jit64
def sum_total_homs(graph: DegreeOrderedGraph, sums: dict[str, jax.Array]) -> jax.Array:
    """Return the sums of :func:`jaxmotif.graphlets.five.equations.total_homs` in halves, int64 ``[2, 30]``."""
    arcs, (d, p2) = arcs_of(graph), degrees_and_walks(graph)
    homs = total_homs(arcs, d, with_leaves(jnp, arcs, d, p2, arcs.out(sums["t"]), sums))
    return jnp.stack([jnp.stack(split_sum(x)) for x in homs], axis=1)


class Limbs(NamedTuple):
    """Counts ``low + 2^61 high``, int64 both; ``high`` is absent where all counts are below 2^60."""

    low: jax.Array
    high: jax.Array | None

    @classmethod
    def of(cls, solve: Callable[[Callable[[Array], Array]], Array], wide: bool) -> Limbs:
        """Solve in 64-bit integers and, if ``wide``, once more in float64, from which the high limb follows.

        Args:
          solve: solves the equations; takes a function that casts the numbers in them.
          wide: whether counts may pass one number of 64 bits. The integers are then right modulo 2^61, and the floats
            tell the rest: for counts below 2^90 their error is less than 2^60, even with weights of a thousand.
        """
        low = solve(lambda x: x)
        if not wide:
            return cls(low, None)
        near = solve(lambda x: x.astype(np.float64))
        return cls(low, ((near - low.astype(near.dtype)) / 2.0**61).round().astype(low.dtype))

    def as_integers(self, at: jax.Array | None = None) -> jax.Array | np.ndarray:
        """Return the counts: with one limb int64 on the device, with two limbs in host memory.

        With two limbs they are int64, or Python integers if a count needs more than 64 bits.

        Args:
          at: int32, for counts with a column for each node: the columns to take as rows of the result. ``None`` for
            counts that have a row for each node or edge already.
        """
        if self.high is None:
            return self.low if at is None else _take_columns(self.low, at)
        if at is not None:
            return Limbs(*(_take_columns(x, at) for x in (self.low, self.high))).as_integers()
        low, high = np.asarray(self.low), np.asarray(self.high)
        exact = low + (high << 61)
        beyond = (high > 4) | ((high == 4) & (low >= 0))  # 2^63 = 2^61 * 4
        if beyond.any():
            exact = exact.astype(object)
            exact[beyond] = low[beyond].astype(object) + (high[beyond].astype(object) << 61)
        return exact


@partial(jit64, static_argnames="wide")
def solve_at_nodes(graph: DegreeOrderedGraph, sums: dict[str, jax.Array], *, wide: bool) -> Limbs:
    """Solve for the orbits at all nodes, ``[73, N]``; ``wide``: as for :meth:`Limbs.of`."""
    arcs = arcs_of(graph)
    d, p2 = degrees_and_walks(graph)
    every = with_leaves(jnp, arcs, d, p2, arcs.out(sums["t"]), sums)
    return Limbs.of(lambda of: orbits_of(jnp, arcs, of(d), Sums(*map(of, every))), wide)


@partial(jit64, static_argnames=("wide", "together"))
def solve_at_edges(
    graph: DegreeOrderedGraph,
    sums: dict[str, jax.Array],
    places: Renumbering,
    slots: tuple[jax.Array, jax.Array],
    *,
    wide: bool,
    together: int,
) -> Limbs:
    """Solve for the orbits at all edges, ``[S / 2, 68]``, in the order of the edge list; the last rows may be padding.

    Args:
      slots: offsets and targets of the graph's own rows.
      wide: as for :meth:`Limbs.of`.
      together: edges that are solved at a time.
    """
    offsets, targets = slots
    size, slot = targets.shape[0] // 2, jnp.arange(targets.shape[0], dtype=jnp.int32)
    owner = jnp.searchsorted(offsets, slot, side="right").astype(jnp.int32) - 1
    # Each edge from its lower end, as the edge list has it.
    once = places_of_true((owner < targets) & (slot < offsets[-1]))[:size]
    once = jnp.where(once < targets.shape[0], once, 0)
    edges, whole, (d, p2) = places.arcs[once], arcs_of(graph), degrees_and_walks(graph)
    at = Nodes.of(whole, d, with_leaves(jnp, whole, d, p2, whole.out(sums["t"]), sums))

    def solved_at(some: jax.Array) -> Limbs:
        both = jnp.concatenate([some, graph.back[some]])
        # In a graph without any edge, even the first arc is padding, which leads past the last node.
        tails, heads = (jnp.minimum(x[both], len(d) - 1) for x in (graph.tails, graph.heads))
        those, arcs = {name: x[both] for name, x in sums.items()}, arcs_of_edges(jnp, (tails, heads))
        every, rims = with_leaves(jnp, arcs, d, p2, at.tau, those), rims_of(jnp, arcs, d, at.tau, those)

        def solve(of: Callable[[jax.Array], jax.Array]) -> jax.Array:
            homs = all_homs(arcs, Nodes(*map(of, at)), Sums(*map(of, every)), Rims(*map(of, rims)))
            return solved(jnp, homs, "edge")

        found = Limbs.of(solve, wide)
        return jax.tree.map(jnp.transpose, found)

    if size <= together:
        return solved_at(edges)

    def step(number: jax.Array, held: Limbs) -> Limbs:
        first = number * together  # the edges of the last step overlap those of the step before
        found = solved_at(lax.dynamic_slice_in_dim(edges, first, together))
        return jax.tree.map(lambda x, y: lax.dynamic_update_slice_in_dim(x, y, first, 0), held, found)

    nothing = jnp.zeros((size, len(times24("edge"))), jnp.int64)
    return lax.fori_loop(0, -(-size // together), step, Limbs(nothing, jnp.zeros_like(nothing) if wide else None))


@partial(jit64, static_argnames=("edges",))
def take_first(found: Limbs, *, edges: int) -> Limbs:
    """Return the first rows: the one program that is compiled for each number of edges, a small one."""
    return jax.tree.map(lambda x: x[:edges], found)


@jit64
def late_values(graph: DegreeOrderedGraph, t: jax.Array, l2: jax.Array) -> dict[str, jax.Array]:
    """Return values at arcs that are summed over triangles last, since they are sums themselves, by name of the sum.

    For ``triples`` the value is the number of closed walks of length 3 from the head of the arc, and for ``end`` it is
    ``l2`` at the reversed arc.
    """
    arcs = arcs_of(graph)
    return {"triples": arcs.head(arcs.out(t)), "end": arcs.back(l2)}


@jit64
def _take_columns(counts: jax.Array, at: jax.Array) -> jax.Array:
    # A program of its own: as part of another, on a CPU, it takes several times as long.
    return counts[:, at].T


@jit64
def _halves(orbits: jax.Array) -> jax.Array:
    """Return the sums over the rows of counts ``[N, 73]`` in halves, int64 ``[2, 73]``."""
    return jnp.stack(split_sum(orbits.astype(jnp.int64), axis=0))


def totals_of_edges(orbits: jax.Array | np.ndarray) -> np.ndarray:
    """Return the sums over all nodes of each node orbit, as :func:`totals` does, but from edge orbits ``[m, 68]``."""
    sums, found = totals(orbits), np.zeros(NUM_ORBITS["node"][5], object)
    for g in CONNECTED:
        edge = g.edge_orbits[:1]
        count = sums[edge[0]] // g.edge_orbits.count(edge[0]) if edge else len(orbits)
        for node in g.node_orbits:
            found[node] += count
    return found


def totals(orbits: jax.Array | np.ndarray) -> np.ndarray:
    """Return the sum of each orbit over all rows of ``orbits``, such as ``[N, 73]``, as Python integers."""
    if isinstance(orbits, np.ndarray):
        return orbits.sum(axis=0) if orbits.dtype == object else join_sums(split_sum(orbits, axis=0))
    return join_sums(np.asarray(_halves(orbits)))
