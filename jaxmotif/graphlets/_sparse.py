"""Graphlets of a graph of any size: two passes over the triangles, one over the wedges, then the equations.

The first pass finds the number t(e) of triangles at each edge e, and the wedges give the 4-cycles. The second pass,
which needs all t, gives the 4-cliques and the sums A and B (:func:`jaxmotif.graphlets._equations.edge_columns`). Every
pass runs over a range of ranks, so that devices can work on different ranges whose results are added up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._rows import offsets_from
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets._tuning import Tuning
from jaxmotif.kernels import _cliques as cliques
from jaxmotif.kernels import _codegree as codegree
from jaxmotif.kernels._codegree import CodegreePlan, codegree_plan
from jaxmotif.kernels._expand import FlatWork, blocks_of, flat_work, long, search_method, take
from jaxmotif.kernels._scatter import accumulator, add_at
from jaxmotif.kernels._triangles import TriangleBlock, triangle_block, triangle_tests

T = TypeVar("T")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """The work of a run, laid out flat.

    Attributes:
      triangles: the membership tests, arc by arc.
      triangle_starts: int64 ``[N + 1]``, first test of each tail.
      word_starts: int64 ``[N + 1]``, first word of each tail's bit matrix.
      wedges: the wedges.
      work: int64, the number of tests and wedges. It is a scalar, since reading an entry of an array takes a program.
    """

    triangles: FlatWork
    triangle_starts: Any
    word_starts: Any
    wedges: CodegreePlan
    work: Any


Ranks = tuple[Any, Any]
"""Part of the work, given by a first rank and the rank to stop before, int32.

Triangles and cliques are part of the work at their lowest nodes, 4-cycles of the work at their highest nodes.
"""


class Statistics(NamedTuple):
    """Statistics that the equations need, int64 ``[M]`` per arc.

    For global counts ``K`` and ``cyc`` are totals over arcs, and ``A`` and ``B`` are ``None``.
    """

    t: jax.Array
    K: jax.Array | np.ndarray
    cyc: jax.Array
    A: jax.Array | None
    B: jax.Array | None


def make_plan(xp: ModuleType, order: DegreeOrder, tuning: Tuning) -> Plan:
    """Lay out the work (``xp`` as in :func:`jaxmotif.kernels._expand.flat_work`)."""
    lengths = triangle_tests(xp, order)
    # The tests of one arc fit 32 bits, but all together may not, so they are widened before the sum.
    starts, words = (offsets_from(x.astype(np.int64), np.int64) for x in (lengths, cliques.row_words(order)))
    wedges = codegree_plan(xp, order, tuning.most_light, tuning.fill)
    triangles = flat_work(xp, lengths)
    work = triangles.total + wedges.heavy.total + wedges.light.total
    return Plan(triangles, starts[order.out_offsets], words, wedges, work)


def all_ranks(plan: Plan) -> Ranks:
    """Return the range of all ranks."""
    return np.int32(0), np.int32(plan.word_starts.shape[0] - 1)


Sums = dict[str, jax.Array]
"""Sums of a pass by name.

The first pass has ``t``, the triangles at each arc, and ``cyc``, the 4-cycles at each arc or their total over arcs. The
second pass has ``K``, ``A`` and ``B`` at each arc, or only a total ``K``; see :func:`second_pass`.
"""


def start_first(order: DegreeOrder, per_edge: bool) -> Sums:
    """Return the sums of the first pass before any work: zeros."""
    cycles = (
        accumulator(order.edge_capacity | codegree.WHOLE_LINES, jnp.int64) if per_edge else jnp.zeros((), jnp.int64)
    )
    return {"t": accumulator(order.edge_capacity, jnp.int32), "cyc": cycles}


def first_pass(order: DegreeOrder, plan: Plan, sums: Sums, ranks: Ranks, tuning: Tuning) -> Sums:
    """Add the triangles and 4-cycles of a range of ranks."""
    t = count_triangles(order, plan, sums["t"], ranks, tuning)
    return {"t": t, "cyc": count_cycles(order, plan, sums["cyc"], ranks, tuning)}


def start_second(order: DegreeOrder, per_edge: bool) -> Sums:
    """Return the sums of the second pass before any work: zeros."""
    if not per_edge:
        return {"K": jnp.zeros((), jnp.int64)}
    return {name: accumulator(order.edge_capacity, jnp.int64) for name in ("K", "A", "B")}


def statistics(order: DegreeOrder, plan: Plan, tuning: Tuning, per_edge: bool) -> Statistics:
    """Run both passes over all of the work, for sums by arc (``per_edge``) or totals."""
    ranks = all_ranks(plan)
    first = first_pass(order, plan, start_first(order, per_edge), ranks, tuning)
    second = second_pass(order, plan, first["t"], start_second(order, per_edge), ranks, tuning)
    return finish(order, first | second)


def count_triangles(order: DegreeOrder, plan: Plan, t: jax.Array, ranks: Ranks, tuning: Tuning) -> jax.Array:
    """Add the triangles at each arc whose lowest nodes are in a range of ranks to the accumulator ``t``."""

    def add(tri: TriangleBlock, t: jax.Array) -> jax.Array:
        for arc in tri:
            t = add_at(t, arc, jnp.int32(1))
        return t

    return each_triangle(order, plan, t, ranks, tuning, add)


def count_cycles(order: DegreeOrder, plan: Plan, cycles: jax.Array, ranks: Ranks, tuning: Tuning) -> jax.Array:
    """Add the 4-cycles whose highest nodes are in a range of ranks to the accumulator ``cycles``."""
    heavy = heavy_before(plan, ranks[0]), heavy_before(plan, ranks[1])
    cycles = codegree.heavy_cycles(
        order, plan.wedges, cycles, heavy, block=tuning.heavy_block, counters=tuning.counters
    )
    return codegree.light_cycles(
        order, plan.wedges, cycles, ranks, block=tuning.light_block, slots=tuning.slots, most_light=tuning.most_light
    )


def heavy_before(plan: Plan, rank: Any) -> jax.Array:
    """Return the number of heavy nodes before a rank: the running number of the node before it, plus one."""
    number = take(plan.wedges.heavy_row, jnp.maximum(rank - 1, 0)) + 1
    return jnp.where(rank > 0, number, 0).astype(jnp.int32)


def second_pass(order: DegreeOrder, plan: Plan, t: jax.Array, sums: Sums, ranks: Ranks, tuning: Tuning) -> Sums:
    """Add the sums of the triangles whose lowest nodes are in a range of ranks.

    By arc, these are twice K, A + t^2, and B + t (d_u + d_v); as a total, twice the sum of K over arcs alone.

    Args:
      t: triangles at each arc, of all ranks.
    """
    edges = order.edge_capacity

    def collect(tri: TriangleBlock, common: jax.Array, sums: Sums) -> Sums:
        common = common.astype(jnp.int64)
        if len(sums) == 1:
            return {"K": sums["K"] + 4 * common.sum()}
        # Padding has arcs past the last, which are replaced by one that exists.
        arcs = [jnp.where(tri.uv < edges, arc, 0) for arc in tri]
        u, v, w = take(order.tail, arcs[0]), take(order.head, arcs[0]), take(order.head, arcs[1])
        triangles = sum(take(t, arc).astype(jnp.int64) for arc in arcs)
        degrees = sum(take(order.degree, node).astype(jnp.int64) for node in (u, v, w))
        K, A, B = (sums[name] for name in ("K", "A", "B"))
        for arc, share in zip(tri, (1, 1, 2), strict=True):
            K = add_at(K, arc, share * common)
            A = add_at(A, arc, triangles)
            B = add_at(B, arc, degrees)
        return {"K": K, "A": A, "B": B}

    return over_rows(order, plan, sums, ranks, tuning, at_triangles(order, plan, tuning, collect))


def each_triangle(
    order: DegreeOrder,
    plan: Plan,
    sums: T,
    ranks: Ranks,
    tuning: Tuning,
    add: Callable[[TriangleBlock, T], T],
) -> T:
    """Find the triangles whose lowest nodes are in a range of ranks, and add what each block of them gives."""
    first, stop = (take(plan.triangle_starts, rank) for rank in ranks)

    def step(number, sums):
        here = first + long(number) * tuning.block
        return add(triangle_block(order, plan.triangles, here, stop, block=tuning.block), sums)

    return loop_in_blocks(first, stop, tuning.block, step, sums)


Rows = tuple[cliques.Matrices, jax.Array]
"""Where matrices of bits are, and the bits."""

UseRows = Callable[[Rows, Ranks, T], T]
"""A function that adds what is found in the matrices of a range of nodes to sums."""


def at_triangles(
    order: DegreeOrder, plan: Plan, tuning: Tuning, add: Callable[[TriangleBlock, jax.Array, T], T]
) -> UseRows[T]:
    """Return a function for :func:`over_rows` that finds triangles again and adds them up by ``add``.

    With each block of triangles u < v < w, ``add`` takes how many bits the rows of v and w have in common.
    """

    def use(rows: Rows, ranks: Ranks, sums: T) -> T:
        # The triangles are found again, which takes less than keeping them.
        def here(tri: TriangleBlock, sums: T) -> T:
            return add(tri, cliques.common_bits(order, *rows, tri), sums)

        return each_triangle(order, plan, sums, ranks, tuning, here)

    return use


def over_rows(
    order: DegreeOrder,
    plan: Plan,
    sums: T,
    ranks: Ranks,
    tuning: Tuning,
    use: UseRows[T],
    whole: bool = False,
) -> T:
    """Fill the rows of bits around the nodes of a range of ranks, as many at a time as fit, and use them.

    Args:
      order: the graph.
      plan: the work.
      sums: the sums so far.
      ranks: the range.
      tuning: the sizes.
      use: adds to the sums what some matrices give.
      whole: whether rows are over all neighbours of a node, or those above it alone; static.
    """
    starts, lower = plan.word_starts, None
    most = cliques.most_row_words(order.edge_capacity, whole)
    room = max(tuning.words, 2 * most)
    if whole:
        starts = offsets_from(cliques.row_words(order, whole), np.int64)
        lower = cliques.lower_places(order)

    def matrix_block(here: Ranks, sums: T) -> T:
        # These are places in this block's bits; for other nodes they are wrong, and never read.
        base = (starts[:-1] - take(starts, here[0])).astype(jnp.int32)
        matrices = cliques.Matrices(base, lower, here if whole else None)

        def enter(tri: TriangleBlock, bits: jax.Array) -> jax.Array:
            return cliques.set_bits(order, matrices, bits, tri)

        # The whole matrix of a node has bits of triangles that begin below it, in any block.
        bits = accumulator(room | codegree.WHOLE_LINES, jnp.uint32)
        bits = each_triangle(order, plan, bits, all_ranks(plan) if whole else here, tuning, enter)
        return use((matrices, bits), here, sums)

    # If all matrices fit at once, there is a single block.
    if not whole and room >= cliques.words_bound(order.edge_capacity):
        return matrix_block(ranks, sums)
    # Blocks of matrices end at the first node past a multiple of `step`, so no block exceeds the room.
    step = room - most
    start, end = (take(starts, rank) for rank in ranks)

    def cut(number):
        at = jnp.searchsorted(starts, start + long(number) * step, method=search_method())
        return jnp.clip(at.astype(jnp.int32), *ranks)

    return loop_in_blocks(
        start, end, step, lambda number, sums: matrix_block((cut(number), cut(number + 1)), sums), sums
    )


def finish(order: DegreeOrder, sums: Sums) -> Statistics:
    """Turn the sums of both passes over all of the work into the statistics the equations take."""
    at_arcs = {name: x[: order.edge_capacity] if x.ndim else x for name, x in sums.items()}
    t, K, cyc = at_arcs["t"].astype(jnp.int64), at_arcs["K"], at_arcs["cyc"]
    if "A" not in sums:
        return Statistics(t, K >> 1, cyc, None, None)
    ends = (order.degree[order.tail] + order.degree[order.head]).astype(jnp.int64)
    # Each triangle at an edge added t of the edge itself and the degrees of its ends, which are taken off again.
    return Statistics(t, K >> 1, cyc, at_arcs["A"] - t * t, at_arcs["B"] - t * ends)


def loop_in_blocks(first: jax.Array, stop: jax.Array, block: int, step: Callable[[jax.Array, T], T], start: T) -> T:
    """Run a step for each ``block`` positions from ``first`` to ``stop``.

    A step takes its number and the state so far, which begins as ``start``, and returns the new state.
    """
    return lax.fori_loop(jnp.int32(0), blocks_of(stop - first, block), step, start)


def graph_sums(order: DegreeOrder, stats: Statistics) -> dict[str, tuple[jax.Array, jax.Array]]:
    """Return the sums that the global counts need, split so that they cannot overflow."""
    real = jnp.arange(order.edge_capacity, dtype=jnp.int32) < order.num_edges
    d_u, d_v = order.degree[order.tail].astype(jnp.int64), order.degree[order.head].astype(jnp.int64)
    # A total over arcs can stand at the first arc, since only sums over arcs are wanted.
    K, cyc = (x if x.ndim else jnp.zeros_like(stats.t).at[0].set(x) for x in (stats.K, stats.cyc))
    return equations.edge_sums(d_u, d_v, stats.t, K, cyc, where=real)


def edge_columns(
    order: DegreeOrder,
    stats: Statistics,
    sizes: tuple[jax.Array, jax.Array] | None = None,
    arcs: jax.Array | None = None,
) -> dict[str, jax.Array]:
    """Return all per-edge columns by arc, int64 ``[M]`` (padding arcs hold arbitrary numbers).

    Args:
      sizes: nodes and edges of the graph that each arc lies in, int64 ``[M]``, where ``order`` is of a union.
      arcs: int32 ``[M]``, the arcs in another order, which the columns then have.
    """
    n, m = sizes or (order.num_nodes.astype(jnp.int64), order.num_edges.astype(jnp.int64))
    degree = order.degree.astype(jnp.int64)
    # At each node: the degrees of both ends of its arcs, summed, less its own degree once for each arc. This leaves the
    # sum of its neighbours' degrees.
    sums = sum_at_nodes(order, jnp.stack([degree[order.tail] + degree[order.head], stats.t]))
    near, at_node = sums[0] - degree * degree, sums[1]
    u, v = order.tail, order.head
    if arcs is not None:
        # The barrier keeps these in memory: XLA would else read at random for each column anew.
        u, v, stats = lax.optimization_barrier(jax.tree.map(lambda x: x[arcs], (u, v, stats)))
    t, K, cyc, A, B = stats
    nd, tt = near[u] + near[v], at_node[u] + at_node[v]
    return equations.edge_columns(n, m, degree[u], degree[v], t, K, cyc, A, B, nd, tt)


def sum_at_nodes(order: DegreeOrder, by_arc: jax.Array) -> jax.Array:
    """Sum arc quantities ``[K, M]`` over the arcs at each node, int64 ``[K, N]`` by rank."""
    sums = jnp.pad(jnp.cumsum(by_arc[:, order.row_arc], axis=1), ((0, 0), (1, 0)))
    # Full rows of all ranks lie one after another.
    ends = sums[:, order.in_offsets + order.out_offsets]
    return ends[:, 1:] - ends[:, :-1]


def node_columns(order: DegreeOrder, columns: dict[str, jax.Array]) -> jax.Array:
    """Return the 15 node orbits in the graph's own node order, int64 ``[N, 15]``."""
    names = equations.CONNECTED_COLUMNS
    incident = dict(zip(names, sum_at_nodes(order, jnp.stack([columns[name] for name in names])), strict=True))
    orbits = jnp.stack(equations.node_orbits(order.degree.astype(jnp.int64), incident), axis=-1)
    return jnp.zeros_like(orbits).at[order.node].set(orbits, unique_indices=True)
