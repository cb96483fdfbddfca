"""Giants: nodes too large for a matrix of their neighbourhood, whose sums are computed sparsely, all giants at once.

Few nodes of a network have many thousand neighbours, and nearly all pairs of nodes that have a common neighbour have
one of these few in common. What giants add to the results is computed in four parts:

- What they add to the tables over pairs of nodes is a product of two narrow matrices.
- Sums at their arcs that are linear in codegrees come from two steps along the arcs of the graph, without tables.
- Sums at their arcs that are not linear in codegrees are products of the tables with the giants' columns.
- All other sums depend on a neighbourhood alone. The disjoint union of all these neighbourhoods is a sparse graph, in
  which triangles and 4-cycles are counted as in any other graph. Values that edge orbits need at the arcs between the
  neighbours of a giant are values at the arcs of this union.

Giants have the highest ranks, so the arcs that leave them are the last arcs of the graph. In their order, these arcs
are the nodes of the union.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._ahead import in_earnest
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._rows import offsets_from, pad_rows, places_of_true
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.graph._container import Graph
from jaxmotif.graph._fields import Fields
from jaxmotif.graph._order import DegreeOrder, degree_order
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._sparse import Plan
from jaxmotif.graphlets._tuning import Tuning, choose_tuning, fixed_bytes, smallest_step_bytes
from jaxmotif.graphlets._units import join, times
from jaxmotif.graphlets.five.graphs import Adjacency, DegreeOrderedGraph
from jaxmotif.graphlets.five.hubs import Tables
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._triangles import TriangleBlock

T = TypeVar("T")

NONE = 2**30
"""A number that stands for no node and no row, past the end of all arrays."""

LANES = 8
"""Number of giants whose sums along all arcs are computed side by side."""


class LeavingArcs(NamedTuple):
    """The arcs that leave giants, by number.

    Attributes:
      arc, giant, head: int32 ``[P]``, the arcs (one past the last in padding), the giants they leave, and their heads.
      there: bool ``[P]``, which entries are no padding.
    """

    arc: jax.Array
    giant: jax.Array
    head: jax.Array
    there: jax.Array


class Giants(NamedTuple):
    """The adjacency of G giants, which are numbered by rank.

    Attributes:
      member: int8 ``[N, G]``, 1 where a node is adjacent to a giant.
      pairs: int32 ``[E, 2]``, adjacent giants, each pair once, then -1.
      near: int32 ``[B]``, the core nodes adjacent to giants by their numbers in the core, ascending, then :data:`NONE`.
      near_rows: int32 ``[B]``, their rows in the tables, ascending.
      leaving: the arcs that leave giants, which are the nodes of the union of their neighbourhoods.
      triangles: int32 ``[N, G]``, common neighbours of a node and a giant that are adjacent (for edge orbits).
    """

    member: jax.Array
    pairs: jax.Array
    near: jax.Array
    near_rows: jax.Array
    leaving: LeavingArcs
    triangles: jax.Array | None = None

    @property
    def count(self) -> int:
        """Number of giants."""
        return self.member.shape[1]

    @property
    def size(self) -> int:
        """Room for the arcs that leave giants."""
        return self.leaving.arc.shape[0]


@partial(jit64, static_argnames=("count",))
def find_members(graph: DegreeOrderedGraph, *, count: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Find who is adjacent to the ``count`` nodes of highest number.

    Returns:
      :attr:`Giants.member`; those of its rows that belong to giants; and how many core nodes are adjacent to giants.
    """
    nodes = graph.leaves.shape[0]
    giant = graph.heads - (nodes - count)
    there = (giant >= 0) & (giant < count)  # which no head of a padding arc is
    tail = jnp.where(there, graph.tails, nodes)
    member = jnp.zeros((nodes, count), jnp.int8).at[tail, jnp.maximum(giant, 0)].set(1, mode="drop")
    return member, member[nodes - count :], _beside(graph, member).sum(dtype=jnp.int32)


@jit64
def count_giant_triangles(graph: DegreeOrderedGraph, member: jax.Array) -> jax.Array:
    """Return :attr:`Giants.triangles`."""
    nodes, count = member.shape

    def some(mine: jax.Array) -> jax.Array:
        mine = mine.astype(jnp.int32)
        return sum_over_neighbours(graph, mine) * mine

    groups = jnp.pad(member, ((0, 0), (0, -count % LANES))).reshape(nodes, -1, LANES)
    return jnp.moveaxis(lax.map(some, jnp.moveaxis(groups, 1, 0)), 0, 1).reshape(nodes, -1)[:, :count]


def _beside(graph: DegreeOrderedGraph, member: jax.Array) -> jax.Array:
    """Say which core nodes are adjacent to giants, bool ``[N]``."""
    return jnp.any(member > 0, axis=1) & (jnp.arange(member.shape[0], dtype=jnp.int32) >= graph.core)


@partial(jit64, static_argnames=("near", "size"))
def find_surroundings(
    graph: DegreeOrderedGraph, member: jax.Array, *, near: int, size: int
) -> tuple[jax.Array, jax.Array, LeavingArcs]:
    """Find the core nodes that are adjacent to giants, and the arcs that leave giants.

    Args:
      graph: the graph.
      member: :attr:`Giants.member`.
      near: static, room for the core nodes.
      size: static, room for the arcs.

    Returns:
      The fields ``near``, ``near_rows`` and ``leaving`` of :class:`Giants`.
    """
    (nodes, count), arcs = member.shape, graph.heads.shape[0]
    found = jnp.pad(places_of_true(_beside(graph, member)), (0, near), constant_values=nodes)[:near]
    number = jnp.where(found < nodes, found - graph.core, NONE)
    arc = graph.offsets[nodes - count] + jnp.arange(size, dtype=jnp.int32)
    there = arc < graph.offsets[-1]
    giant, head = (x.at[arc].get(mode="clip") for x in (graph.tails, graph.heads))
    giant, head = jnp.where(there, giant - (nodes - count), 0), jnp.where(there, head, 0)
    rows = jnp.sort(graph.rows.at[number].get(mode="fill", fill_value=NONE))
    return number, rows, LeavingArcs(jnp.where(there, arc, arcs), giant, head, there)


def _in_both(giants: Giants, member: jax.Array) -> jax.Array:
    """Say which rows of ``member`` are of nodes adjacent to both giants of each pair, 0 or 1, ``[rows, E]``."""
    a, b = jnp.maximum(giants.pairs, 0).T
    return jnp.where(giants.pairs[:, 0] >= 0, member[:, a] * member[:, b], 0)


def _each_part(
    giants: Giants, ends: jax.Array, part: int, add: Callable[[jax.Array, jax.Array, jax.Array, T], T], start: T
) -> T:
    """Go through those rows of a block of the tables whose nodes are adjacent to giants, ``part`` rows at a time.

    Args:
      ends: the first row of the block, and the one past its last.
      add: takes places in :attr:`Giants.near_rows`, which of them are in the block, their rows counted from the first
        of the block (arbitrary where they are not in it), and the result so far; returns the new result.
      start: the result before the first part.
    """
    first, stop = jnp.searchsorted(giants.near_rows, ends).astype(jnp.int32)

    def step(number: jax.Array, state: T) -> T:
        at = first + number * part + jnp.arange(part, dtype=jnp.int32)
        row = giants.near_rows.at[at].get(mode="fill", fill_value=0) - ends[0]
        return add(at, at < stop, row, state)

    return sparse.loop_in_blocks(first, stop, part, step, start)


def _members(graph: DegreeOrderedGraph, giants: Giants, nodes: jax.Array) -> jax.Array:
    """Return the rows of :attr:`Giants.member` of core nodes; 0 where there is no node."""
    return giants.member.at[nodes + graph.core].get(mode="fill", fill_value=0)


@partial(jit64, static_argnames=("part", "most"), donate_argnums=0)
def scatter_giants(
    tables: Tables,
    graph: DegreeOrderedGraph,
    giants: Giants,
    ends: jax.Array,
    *,
    part: int,
    most: int,
) -> Tables:
    """Add to the rows between ``ends`` of the tables what two nodes have in common through giants.

    These are the giants themselves, the arcs between them, and (for edge orbits) the triangles on the arcs to them.

    Args:
      part: rows at a time.
      most: a number above all degrees.
    """
    rows, size = tables.codegree.shape
    wanted = tables.pairs.shape == tables.codegree.shape
    others = _members(graph, giants, giants.near)

    def add(_: jax.Array, there: jax.Array, row: jax.Array, tables: Tables) -> Tables:
        row = jnp.where(there, row, rows)
        node = graph.at_rows.at[jnp.minimum(row, rows - 1) + ends[0]].get(mode="fill", fill_value=size)
        mine, place = _members(graph, giants, node), (row[:, None], giants.near[None])
        both = times(mine, others.T).astype(tables.codegree.dtype)
        tables = tables._replace(codegree=tables.codegree.at[place].add(both, mode="drop", unique_indices=True))
        if giants.triangles is not None:
            many = giants.triangles.at[node + graph.core].get(mode="fill", fill_value=0)
            bent = join(others, many.T, most).T.astype(tables.bent.dtype)
            tables = tables._replace(bent=tables.bent.at[place].add(bent, mode="drop", unique_indices=True))
        if not wanted:
            return tables
        arcs = 2 * times(_in_both(giants, mine), _in_both(giants, others).T)
        return tables._replace(pairs=tables.pairs.at[place].add(arcs, mode="drop", unique_indices=True))

    return _each_part(giants, ends, part, add, tables)


@partial(jit64, static_argnames=("part",), donate_argnums=0)
def sum_over_giants(
    sums: jax.Array,
    tables: Tables,
    graph: DegreeOrderedGraph,
    giants: Giants,
    ends: jax.Array,
    *,
    part: int,
) -> jax.Array:
    """Write sums over the core neighbours of each giant, of ``codegree`` squared and of ``pairs``.

    They are exact where they are below 2^53.

    Args:
      sums: int64 ``[2, B, G]``, by :attr:`Giants.near_rows`; the rows that the tables hold are written.
      part: rows at a time.
    """
    member = _members(graph, giants, giants.near).astype(jnp.float64)

    def add(at: jax.Array, there: jax.Array, row: jax.Array, sums: jax.Array) -> jax.Array:
        place = jnp.where(there, row, NONE)[:, None], giants.near[None]
        x, y = (table.at[place].get(mode="fill", fill_value=0).astype(jnp.float64) for table in tables[:2])
        found = jnp.stack([(x * x) @ member, y @ member]).astype(jnp.int64)
        return sums.at[:, jnp.where(there, at, sums.shape[1])].set(found, mode="drop")

    return _each_part(giants, ends, part, add, sums)


def sum_over_neighbours(graph: DegreeOrderedGraph, x: jax.Array, weights: jax.Array | None = None) -> jax.Array:
    """Return sums of ``x [N, G]`` over the neighbours of all nodes, times the weight of each arc if there is one."""
    nodes = x.shape[0]
    heads = x.at[graph.heads].get(mode="fill", fill_value=0)
    if weights is not None:
        heads = heads * weights[:, None]
    return jax.ops.segment_sum(heads, graph.tails, num_segments=nodes + 1, indices_are_sorted=True)[:nodes]


def _in_groups(
    giants: Giants, names: tuple[str, ...], sums_of: Callable[[jax.Array], dict[str, jax.Array]]
) -> dict[str, jax.Array]:
    """Return values at the arcs that leave giants, int64 ``[P]`` by name, computed for some giants at a time.

    Args:
      names: the names of the values.
      sums_of: takes the columns of :attr:`Giants.member` of :data:`LANES` giants, int64 ``[N, LANES]``, which bounds
        the memory, and returns the values of all nodes for these giants, by name; an arc takes that of its head.
    """
    leaving = giants.leaving
    member = jnp.pad(giants.member, ((0, 0), (0, -giants.count % LANES)))

    def add(number: jax.Array, before: dict[str, jax.Array]) -> dict[str, jax.Array]:
        values = sums_of(lax.dynamic_slice_in_dim(member, number * LANES, LANES, 1).astype(jnp.int64))
        lane = leaving.giant - number * LANES
        here = leaving.there & (lane >= 0) & (lane < LANES)
        cell = leaving.head, jnp.clip(lane, 0, LANES - 1)
        return {name: jnp.where(here, values[name][cell], before[name]) for name in names}

    none = jnp.zeros(giants.size, jnp.int64)
    return lax.fori_loop(jnp.int32(0), jnp.int32(member.shape[1] // LANES), add, dict.fromkeys(names, none))


@jit64
def two_step_sums(
    graph: DegreeOrderedGraph, giants: Giants
) -> tuple[dict[str, jax.Array], dict[str, jax.Array], jax.Array]:
    """Return the sums at the arcs that leave giants which take up to two steps along arcs, int64 ``[P]`` each.

    Returns:
      The sums by name; for the head of each arc, its degree ``d``, its walks of length 2 ``p2`` and the number of its
      ``leaves``; and how many arcs there are in the neighbourhoods of all giants.
    """
    d = jnp.diff(graph.offsets).astype(jnp.int64)
    p2 = sum_over_neighbours(graph, d[:, None])[:, 0]

    def sums_of(member: jax.Array) -> dict[str, jax.Array]:
        triangles = sum_over_neighbours(graph, member) * member
        starts = {"w3": member, "far": member * d[:, None], "side": triangles}
        two_steps = {name: sum_over_neighbours(graph, sum_over_neighbours(graph, x)) for name, x in starts.items()}
        return {"t": triangles} | two_steps

    values = _in_groups(giants, ("t", "w3", "far", "side"), sums_of)
    at_nodes = {"d": d, "p2": p2, "leaves": graph.leaves.astype(jnp.int64)}
    of_heads = {name: jnp.where(giants.leaving.there, x[giants.leaving.head], 0) for name, x in at_nodes.items()}
    return values, of_heads, values["t"].sum()


@jit64
def floor_sums(graph: DegreeOrderedGraph, giants: Giants, t: jax.Array) -> dict[str, jax.Array]:
    """Count walks of length 3 along the arcs that leave giants, each as often as its second edge has triangles.

    Args:
      t: int64 ``[S]``, the triangles at all arcs.

    Returns:
      Int64 ``[P]``, by the name ``floor``.
    """

    def sums_of(member: jax.Array) -> dict[str, jax.Array]:
        return {"floor": sum_over_neighbours(graph, sum_over_neighbours(graph, member, t))}

    return _in_groups(giants, ("floor",), sums_of)


@partial(jit64, static_argnames=("arcs",))
def join_neighbourhoods(graph: DegreeOrderedGraph, giants: Giants, *, arcs: int) -> tuple[jax.Array, jax.Array]:
    """Return the disjoint union of the giants' neighbourhoods in compressed rows: offsets, targets, int32.

    Args:
      arcs: room for its arcs.
    """
    (nodes, count), size, leaving = giants.member.shape, giants.size, giants.leaving
    tails, heads = (jnp.minimum(x, nodes - 1) for x in (graph.tails, graph.heads))
    real = graph.tails < nodes

    def one(giant: jax.Array, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        lengths, targets, begin = state
        mine = leaving.there & (leaving.giant == giant)
        places = jnp.arange(size, dtype=jnp.int32)
        place = jnp.zeros(nodes, jnp.int32).at[jnp.where(mine, leaving.head, nodes)].set(places, mode="drop")
        near = lax.dynamic_index_in_dim(giants.member, giant, 1, keepdims=False) > 0
        inside = real & near[tails] & near[heads]
        # Arcs are in order of tail and head, and so are their places.
        at = begin + jnp.cumsum(inside, dtype=jnp.int32) - 1
        targets = targets.at[jnp.where(inside, at, arcs)].set(place[heads], mode="drop")
        lengths = lengths.at[jnp.where(inside, place[tails], size)].add(1, mode="drop")
        return lengths, targets, begin + inside.sum(dtype=jnp.int32)

    start = jnp.zeros(size, jnp.int32), jnp.full(arcs, size, jnp.int32), jnp.int32(0)
    lengths, targets, _ = lax.fori_loop(jnp.int32(0), jnp.int32(count), one, start)
    return offsets_from(lengths), targets


@partial(jit64, merge=False, static_argnames=("tuning",))
def plan_union(offsets: jax.Array, targets: jax.Array, *, tuning: Tuning) -> tuple[DegreeOrder, Plan]:
    """Return the degree order of the union, and the plan of the sparse passes over it."""
    sizes = jnp.int32(offsets.shape[0] - 1), offsets[-1] // 2
    fields = Fields(offsets, targets, num_nodes=sizes[0], num_edges=sizes[1])
    order = degree_order(Graph(*fields, directed=False))
    return order, sparse.make_plan(jnp, order, tuning)


class Between(NamedTuple):
    """Values at the arcs between the neighbours of giants, from which edge orbits are made.

    Attributes:
      arcs: int32 ``[M]``, the arcs of the graph that the arcs of the union are, one past the last in padding.
      back: int32 ``[S]``, the reversed arcs of the graph.
      t: int64 ``[S]``, the triangles at all arcs of the graph.
      rim: int64 ``[S]``, the sums of this name at all arcs of the graph.
    """

    arcs: jax.Array
    back: jax.Array
    t: jax.Array
    rim: jax.Array


@jit64
def find_union_arcs(edges: Adjacency, order: DegreeOrder, giants: Giants) -> jax.Array:
    """Return :attr:`Between.arcs`."""
    graph = edges.graph
    x, y = (giants.leaving.head[order.node[ends]] - graph.core for ends in (order.tail, order.head))
    real = jnp.arange(order.tail.shape[0], dtype=jnp.int32) < order.num_edges
    return jnp.where(real, edges.arc(jnp.maximum(x, 0), jnp.maximum(y, 0)), graph.heads.shape[0])


def _at(ends: jax.Array, x: jax.Array) -> jax.Array:
    return x.at[ends].get(mode="fill", fill_value=0)


class _Ends:
    """The two nodes of each arc of the union, which has each edge once; one past the last node in padding."""

    def __init__(self, order: DegreeOrder) -> None:
        self.nodes, self.real = len(order.node), jnp.arange(len(order.tail), dtype=jnp.int32) < order.num_edges
        self.tail, self.head = (jnp.where(self.real, ends, self.nodes) for ends in (order.tail, order.head))

    def out(self, to_tail: jax.Array, to_head: jax.Array) -> jax.Array:
        """Return sums at the nodes, int64, of what each arc gives to its tail and to its head."""
        found = jnp.zeros(self.nodes, jnp.int64)
        return found.at[self.tail].add(to_tail, mode="drop").at[self.head].add(to_head, mode="drop")

    def times(self, weight: jax.Array | int, x: jax.Array) -> jax.Array:
        """Return, at each node, the sum over its neighbours of ``x`` times the weight of the arc."""
        return self.out(weight * _at(self.head, x), weight * _at(self.tail, x))


def _by_node(order: DegreeOrder, found: dict[str, jax.Array]) -> dict[str, jax.Array]:
    return {name: jnp.zeros_like(x).at[order.node].set(x, unique_indices=True) for name, x in found.items()}


@jit64
def union_neighbour_sums(order: DegreeOrder, giants: Giants, values: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Return, at the arcs u -> v that leave giants, sums over common neighbours w of the values at u -> w, by name."""
    ends, (arc, _, _, there) = _Ends(order), giants.leaving
    leaving = {name: jnp.where(there, x.at[arc].get(mode="clip"), 0) for name, x in values.items()}
    return _by_node(order, {name: ends.times(1, x[order.node]) for name, x in leaving.items()})


@partial(jit64, static_argnames=("tuning",))
def union_sums(
    order: DegreeOrder, plan: Plan, values: dict[str, jax.Array], between: Between | None, *, tuning: Tuning
) -> tuple[dict[str, jax.Array], jax.Array | None]:
    """Return the sums inside the union, int64 at each of its nodes, by name; and :attr:`Between.rim`, with its share.

    Args:
      values: at the nodes of the union ``t``, and of the whole graph the degree ``d``, the walks of length 2 ``p2``,
        ``w3`` and ``leaves``.
      between: for edge orbits.
    """
    none, ends = order.tail.shape[0], _Ends(order)
    first = sparse.first_pass(order, plan, sparse.start_first(order, True), sparse.all_ranks(plan), tuning)
    real = ends.real
    k, cycles = (jnp.where(real, x[:none].astype(jnp.int64), 0) for x in first.values())
    values_at = {name: x[order.node] for name, x in values.items()}
    t, around = values_at["t"], partial(ends.times, 1)
    s, l2, degrees = ends.out(k, k), around(t), around(values_at["d"])
    # Walks of length 3 from one end of each arc to the other.
    steps = jnp.where(real, cycles + _at(ends.tail, t) + _at(ends.head, t) - 1, 0)
    found = {
        "degrees": degrees,
        "walks": around(values_at["p2"]),
        "spread": around(degrees),
        "l2": l2,
        "l3": around(l2),
        "cube": around(t * t),
        "s": s,
        "kt": ends.times(k, t),
        "ls": around(s),
        "c": ends.out(steps, steps),
        "k2": ends.out(k * k, k * k),
        "tip": 2 * _opposite(order, plan, k, tuning),
        "roof": around(values_at["w3"]),
        "leaves": around(values_at["leaves"]),
    }
    rim = None
    if between is not None:
        of_graph = jnp.where(real, _at(between.arcs, between.t), 0)
        found |= {
            "squares": around(values_at["d"] ** 2),
            "dart": around(t * values_at["d"]),
            "tail": ends.times(k, values_at["d"]),
            "middle": ends.times(of_graph, t),
            "side_pairs": 2 * _opposite(order, plan, of_graph, tuning),
        }
        reversed_arcs = between.back.at[between.arcs].get(mode="fill", fill_value=between.back.shape[0])
        rim = between.rim.at[between.arcs].add(steps, mode="drop").at[reversed_arcs].add(steps, mode="drop")
    return _by_node(order, found), rim


def _opposite(order: DegreeOrder, plan: Plan, k: jax.Array, tuning: Tuning) -> jax.Array:
    """Return, at each node, the sum over its triangles of ``k`` at the arc between the two others, int64 ``[N]``."""
    nodes, edges = order.node.shape[0], order.tail.shape[0]

    def add(tri: TriangleBlock, sums: jax.Array) -> jax.Array:
        hit = tri.uv < edges
        uv, uw, vw = (jnp.where(hit, arc, 0) for arc in tri)
        corners = take(order.tail, uv), take(order.head, uv), take(order.head, uw)
        for node, arc in zip(corners, (vw, uw, uv), strict=True):
            sums = sums.at[jnp.where(hit, node, nodes)].add(take(k, arc), mode="drop")
        return sums

    return sparse.each_triangle(order, plan, jnp.zeros(nodes, jnp.int64), sparse.all_ranks(plan), tuning, add)


@jit64
def sums_from_rows(graph: DegreeOrderedGraph, giants: Giants, of_tables: jax.Array) -> dict[str, jax.Array]:
    """Return what :func:`sum_over_giants` wrote, at the arcs that leave giants, int64 ``[P]``."""
    leaving = giants.leaving
    inside = leaving.there & (leaving.head >= graph.core)
    row = graph.rows[jnp.maximum(leaving.head - graph.core, 0)]
    at = jnp.searchsorted(giants.near_rows, row).astype(jnp.int32)
    wing, arm = (jnp.where(inside, x.at[at, leaving.giant].get(mode="clip"), 0) for x in of_tables)
    return {"wing": wing, "arm": arm}


@partial(jit64, static_argnames=("edges",))
def sums_from_pairs(graph: DegreeOrderedGraph, giants: Giants, *, edges: bool) -> dict[str, jax.Array]:
    """Return what pairs of giants, and leaves, add to sums at the arcs that leave giants, int64 ``[P]`` by name.

    This is ``chord`` at arcs between giants, what leaves add to ``wing``, and (with ``edges``, for edge orbits) what
    triangles with a second giant add to ``eave``.
    """
    (nodes, count), leaving = giants.member.shape, giants.leaving
    pairs = jnp.pad(giants.pairs, ((0, -giants.pairs.shape[0] % LANES), (0, 0)), constant_values=-1)

    def some(eave: jax.Array, pairs: jax.Array) -> tuple[jax.Array, jax.Array]:
        sets = _in_both(giants._replace(pairs=pairs), giants.member).astype(jnp.int32)
        # The sum of the codegrees of all pairs of a set is a sum over all nodes: of the square of how many neighbours a
        # node has in the set.
        inside = sum_over_neighbours(graph, sets).astype(jnp.int64)
        if edges:
            of_heads = (sum_over_neighbours(graph, inside) * sets.astype(jnp.int64))[leaving.head]
            here = leaving.there[:, None] & (leaving.giant[:, None, None] == pairs[None]).any(axis=2)
            eave = eave + jnp.where(here, of_heads, 0).sum(axis=1)
        return eave, (inside**2).sum(axis=0)

    eave, chords = lax.scan(some, jnp.zeros(giants.size, jnp.int64), pairs.reshape(-1, LANES, 2))
    a, b = pairs.T
    chord = jnp.zeros((count, count), jnp.int64)
    for x, y in ((a, b), (b, a)):
        chord = chord.at[jnp.where(x >= 0, x, count), y].set(chords.reshape(-1), mode="drop")
    other = leaving.head - (nodes - count)
    between = jnp.where(leaving.there & (other >= 0), chord[leaving.giant, jnp.maximum(other, 0)], 0)
    inside = leaving.there & (leaving.head >= graph.core)
    leaves = graph.leaves[leaving.giant + nodes - count].astype(jnp.int64)
    return {"chord": between, "wing": jnp.where(inside, leaves, 0)} | ({"eave": eave} if edges else {})


@partial(jit64, donate_argnums=0)
def add_leaving_sums(sums: jax.Array, giants: Giants, values: jax.Array) -> jax.Array:
    """Add the values of the arcs that leave giants to the sums at all arcs."""
    return sums.at[giants.leaving.arc].add(values, mode="drop")


@in_earnest
def find_giants(graph: DegreeOrderedGraph, count: int, edges: bool) -> Giants:
    """Return the ``count`` nodes of highest number as giants; ``edges``: with what edge orbits need."""
    member, among, near = find_members(graph, count=count)
    among, near, first, last = jax.device_get((among, near, graph.offsets[-1 - count], graph.offsets[-1]))
    adjacent = np.argwhere(np.triu(among))
    pairs = pad_rows(adjacent.astype(np.int32), bucket_size(max(len(adjacent), 1)), -1)
    room = bucket_size(max(int(near), 1)), bucket_size(int(last - first))
    nodes, rows, leaving = find_surroundings(graph, member, near=room[0], size=room[1])
    triangles = count_giant_triangles(graph, member) if edges else None
    pairs = jax.device_put(pairs, next(iter(member.devices())))
    return Giants(member, pairs, nodes, rows, leaving, triangles)


def add_giant_sums(
    sums: dict[str, jax.Array],
    graph: DegreeOrderedGraph,
    giants: Giants,
    edges: Adjacency | None,
    device: jax.Device,
    memory: int | None = None,
) -> DegreeOrder:
    """Add to the sums at the arcs that leave giants, except for what :func:`sums_from_rows` gives.

    Args:
      sums: int64 at all arcs, by name; changed in place.
      edges: the adjacency of the core for edge orbits, else ``None``.
      memory: bytes for the steps in the union; at least what the smallest steps take (default: by what is free).

    Returns:
      The degree order of the union of the giants' neighbourhoods.
    """
    values, of_heads, inner_arcs = in_earnest(two_step_sums)(graph, giants)  # the host waits for the number of arcs
    add_at_leaving(sums, giants, values)
    arcs = bucket_size(max(int(inner_arcs), 2))
    capacities = giants.size, arcs // 2
    if memory is not None:
        memory = max(memory, fixed_bytes(*capacities) + smallest_step_bytes(*capacities))
    tuning = choose_tuning(*capacities, device, memory)
    order, plan = plan_union(*join_neighbourhoods(graph, giants, arcs=arcs), tuning=tuning)
    between = None
    if edges is not None:
        add_at_leaving(sums, giants, floor_sums(graph, giants, sums["t"]))
        between = Between(find_union_arcs(edges, order, giants), graph.back, sums["t"], sums["rim"])
    inside, rim = union_sums(order, plan, values | of_heads, between, tuning=tuning)
    add_at_leaving(sums, giants, inside)
    if rim is not None:
        sums["rim"] = rim
    add_at_leaving(sums, giants, sums_from_pairs(graph, giants, edges=edges is not None))
    return order


def add_at_leaving(sums: dict[str, jax.Array], giants: Giants, values: dict[str, jax.Array]) -> None:
    """Add values at the arcs that leave giants to the sums at all arcs; values without a sum are left out."""
    for name in sums.keys() & values.keys():
        sums[name] = add_leaving_sums(sums[name], giants, values[name])
