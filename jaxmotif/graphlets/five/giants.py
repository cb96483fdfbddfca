"""Hubs too large for a matrix of their neighbourhood: sparse sums instead, for all of them at once.

Few nodes of a network have many thousand neighbours, and nearly all pairs with a common neighbour have one of these in
common. What giants add to the tables over pairs of nodes is a product of two narrow matrices. What is linear in the
tables is two steps along the arcs; what is not, a product of the tables with the giants' columns. The rest is in the
neighbourhoods alone: their disjoint union is a sparse graph, in which triangles and 4-cycles are counted as in any.
What edge orbits have at the arcs between a hub's neighbours is at the arcs of the union.

Giants have the highest ranks, so that the arcs that leave them are the last ones; in their order these arcs are the
nodes of the union.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._ahead import in_earnest
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.graph._container import Graph
from jaxmotif.graph._fields import Fields
from jaxmotif.graph._order import DegreeOrder, degree_order
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._sparse import Plan
from jaxmotif.graphlets._tuning import Tuning, choose_tuning, fixed_bytes, smallest_step_bytes
from jaxmotif.graphlets._units import join, times
from jaxmotif.graphlets.five.adjacency import Adjacency
from jaxmotif.graphlets.five.hubs import Ranked, Tables
from jaxmotif.kernels._expand import long, take
from jaxmotif.kernels._triangles import triangle_block

NONE = 2**30
"""No node, no row: past the end of all arrays."""

LANES = 8
"""Giants whose sums along all arcs are made side by side."""


class Giants(NamedTuple):
    """Who is adjacent to giants.

    Attributes:
      member: int8 ``[N, G]``, which giants a node is adjacent to, by rank.
      pairs: int32 ``[E, 2]``, the adjacent giants, each pair once (-1: none).
      triangles: int32 ``[N, G]``, common neighbours of those that are adjacent, where edges are wanted.
    """

    member: jax.Array
    pairs: jax.Array
    triangles: jax.Array | None = None


@partial(jit64, static_argnames=("count",))
def members(graph: Ranked, *, count: int) -> tuple[jax.Array, jax.Array, jax.Array]:
    """:attr:`Giants.member` of the ``count`` nodes of highest rank; its rows of giants; and how many core nodes are
    adjacent to giants."""
    nodes = graph.leaves.shape[0]
    giant = graph.heads - (nodes - count)
    there = (giant >= 0) & (giant < count) & (graph.tails < nodes)
    tail = jnp.where(there, graph.tails, nodes)
    member = jnp.zeros((nodes, count), jnp.int8).at[tail, jnp.maximum(giant, 0)].set(1, mode="drop")
    return member, member[nodes - count :], _beside(graph, member).sum(dtype=jnp.int32)


@jit64
def triangles(graph: Ranked, member: jax.Array) -> jax.Array:
    """:attr:`Giants.triangles`."""
    nodes, count = member.shape

    def some(mine: jax.Array) -> jax.Array:
        mine = mine.astype(jnp.int32)
        return around_nodes(graph, mine) * mine

    groups = jnp.pad(member, ((0, 0), (0, -count % LANES))).reshape(nodes, -1, LANES)
    return jnp.moveaxis(lax.map(some, jnp.moveaxis(groups, 1, 0)), 0, 1).reshape(nodes, -1)[:, :count]


def _beside(graph: Ranked, member: jax.Array) -> jax.Array:
    """Which core nodes are adjacent to giants, bool ``[N]``."""
    return jnp.any(member > 0, axis=1) & (jnp.arange(member.shape[0], dtype=jnp.int32) >= graph.core)


class Beside(NamedTuple):
    """The core nodes adjacent to giants, int32 ``[B]`` (then :data:`NONE`): by number, and by row of the tables,
    ascending."""

    nodes: jax.Array
    rows: jax.Array


@partial(jit64, static_argnames=("size",))
def beside(graph: Ranked, giants: Giants, *, size: int) -> Beside:
    """``size``: no fewer than there are."""
    nodes = graph.leaves.shape[0]
    (found,) = jnp.nonzero(_beside(graph, giants.member), size=size, fill_value=nodes)
    found = found.astype(jnp.int32)
    number = jnp.where(found < nodes, found - graph.core, NONE)
    return Beside(number, jnp.sort(graph.rows.at[number].get(mode="fill", fill_value=NONE)))


def _in_both(giants: Giants, member: jax.Array) -> jax.Array:
    """Of rows of members, which are adjacent to both giants of each pair, 0 or 1, ``[rows, E]``."""
    a, b = jnp.maximum(giants.pairs, 0).T
    return jnp.where(giants.pairs[:, 0] >= 0, member[:, a] * member[:, b], 0)


def _rows_beside(near: Beside, ends: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Where those of :attr:`Beside.rows` that a block of rows holds begin and end."""
    start, stop = jnp.searchsorted(near.rows, ends).astype(jnp.int32)
    return start, stop


def _members(graph: Ranked, giants: Giants, nodes: jax.Array) -> jax.Array:
    """Of core nodes; 0 where there is none."""
    return giants.member.at[nodes + graph.core].get(mode="fill", fill_value=0)


@partial(jit64, static_argnames=("part", "most"), donate_argnums=0)
def begin(
    tables: Tables, graph: Ranked, giants: Giants, near: Beside, ends: jax.Array, *, part: int, most: int
) -> Tables:  # fmt: skip
    """Add to the tables, from the first to the second of ``ends``, the giants that two nodes have in common, the arcs
    between these, and, where edges are wanted, the triangles on the arcs to them; ``part``: rows at a time; ``most``:
    above all degrees."""
    (rows, size), first = tables.codegree.shape, ends[0]
    wanted = tables.pairs.shape == tables.codegree.shape
    others = _members(graph, giants, near.nodes)
    start, stop = _rows_beside(near, ends)

    def step(number: jax.Array, tables: Tables) -> Tables:
        at = start + number * part + jnp.arange(part, dtype=jnp.int32)
        row = jnp.where(at < stop, near.rows.at[at].get(mode="fill", fill_value=0) - first, rows)
        node = graph.at_rows.at[jnp.minimum(row, rows - 1) + first].get(mode="fill", fill_value=size)
        mine, place = _members(graph, giants, node), (row[:, None], near.nodes[None])
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

    return lax.fori_loop(jnp.int32(0), (stop - start + (part - 1)) // part, step, tables)


@partial(jit64, static_argnames=("shape",))
def no_sums_of_tables(*, shape: tuple[int, int, int]) -> jax.Array:
    return jnp.zeros(shape, jnp.int64)


@partial(jit64, static_argnames=("part",), donate_argnums=0)
def around(
    sums: jax.Array, tables: Tables, graph: Ranked, giants: Giants, near: Beside, ends: jax.Array, *, part: int
) -> jax.Array:  # fmt: skip
    """Write to int64 ``[2, B, G]``, by :attr:`Beside.rows`, those that the tables hold: sums over the core neighbours
    of each giant of ``codegree`` squared, and of ``pairs``; ``part``: rows at a time. Exact where sums are below 2^53.
    """
    member = _members(graph, giants, near.nodes).astype(jnp.float64)
    start, stop = _rows_beside(near, ends)

    def step(number: jax.Array, sums: jax.Array) -> jax.Array:
        at = start + number * part + jnp.arange(part, dtype=jnp.int32)
        row = jnp.where(at < stop, near.rows.at[at].get(mode="fill", fill_value=0) - ends[0], NONE)
        place = row[:, None], near.nodes[None]
        x, y = (table.at[place].get(mode="fill", fill_value=0).astype(jnp.float64) for table in tables[:2])
        found = jnp.stack([(x * x) @ member, y @ member]).astype(jnp.int64)
        return sums.at[:, jnp.where(at < stop, at, sums.shape[1])].set(found, mode="drop")

    return lax.fori_loop(jnp.int32(0), (stop - start + (part - 1)) // part, step, sums)


def around_nodes(graph: Ranked, x: jax.Array, weights: jax.Array | None = None) -> jax.Array:
    """Sums over the neighbours of all nodes, ``[N, G]``; ``weights``: of all arcs, if any."""
    nodes = x.shape[0]
    heads = x.at[graph.heads].get(mode="fill", fill_value=0)
    if weights is not None:
        heads = heads * weights[:, None]
    return jax.ops.segment_sum(heads, graph.tails, num_segments=nodes + 1, indices_are_sorted=True)[:nodes]


class Arcs(NamedTuple):
    """The arcs that leave giants, int32 ``[P]``: arc, giant, head; ``there``: which are no padding. Where not, an arc
    past the last."""

    arc: jax.Array
    giant: jax.Array
    head: jax.Array
    there: jax.Array


def _leaving(graph: Ranked, count: int, size: int) -> Arcs:
    nodes, arcs = graph.leaves.shape[0], graph.heads.shape[0]
    arc = graph.offsets[nodes - count] + jnp.arange(size, dtype=jnp.int32)
    there = arc < graph.offsets[-1]
    giant, head = (x.at[arc].get(mode="clip") for x in (graph.tails, graph.heads))
    return Arcs(
        jnp.where(there, arc, arcs), jnp.where(there, giant - (nodes - count), 0), jnp.where(there, head, 0), there
    )


def _in_lanes(leaving: Arcs, number: jax.Array, x: jax.Array, before: jax.Array) -> jax.Array:
    """By arc, of the giants of one group its value ``[N, LANES]`` at the head, of the others what is there before."""
    lane = leaving.giant - number * LANES
    here = leaving.there & (lane >= 0) & (lane < LANES)
    return jnp.where(here, x[leaving.head, jnp.clip(lane, 0, LANES - 1)], before)


@partial(jit64, static_argnames=("size",))
def linear(graph: Ranked, giants: Giants, *, size: int) -> tuple[dict[str, jax.Array], dict[str, jax.Array], jax.Array]:
    """By arc that leaves a giant, int64 ``[size]``: what two steps along the arcs give; the degree ``d`` and the walks
    of length 2 ``p2`` of its head; and how many arcs there are in all neighbourhoods."""
    d = jnp.diff(graph.offsets).astype(jnp.int64)
    p2 = around_nodes(graph, d[:, None])[:, 0]
    count = giants.member.shape[1]
    leaving = _leaving(graph, count, size)
    # Some giants at a time, which bounds the memory.
    member = jnp.pad(giants.member, ((0, 0), (0, -count % LANES)))

    def some(number: jax.Array, values: dict[str, jax.Array]) -> dict[str, jax.Array]:
        mine = lax.dynamic_slice_in_dim(member, number * LANES, LANES, 1).astype(jnp.int64)
        triangles = around_nodes(graph, mine) * mine
        walked = {"t": triangles} | {
            name: around_nodes(graph, around_nodes(graph, x))
            for name, x in (("w3", mine), ("far", mine * d[:, None]), ("side", triangles))
        }
        return {name: _in_lanes(leaving, number, walked[name], before) for name, before in values.items()}

    none = jnp.zeros(size, jnp.int64)
    groups = jnp.int32(member.shape[1] // LANES)
    values = lax.fori_loop(jnp.int32(0), groups, some, dict.fromkeys(("t", "w3", "far", "side"), none))
    at_nodes = (("d", d), ("p2", p2), ("leaves", graph.leaves.astype(jnp.int64)))
    of_heads = {name: jnp.where(leaving.there, x[leaving.head], 0) for name, x in at_nodes}
    return values, of_heads, values["t"].sum()


@partial(jit64, static_argnames=("size",))
def floors(graph: Ranked, giants: Giants, t: jax.Array, *, size: int) -> jax.Array:
    """By arc that leaves a giant, int64 ``[size]``: walks of length 3 along it, as often as their second edge has
    triangles; ``t``: of all arcs."""
    count = giants.member.shape[1]
    leaving = _leaving(graph, count, size)
    member = jnp.pad(giants.member, ((0, 0), (0, -count % LANES)))

    def some(number: jax.Array, found: jax.Array) -> jax.Array:
        mine = lax.dynamic_slice_in_dim(member, number * LANES, LANES, 1).astype(jnp.int64)
        return _in_lanes(leaving, number, around_nodes(graph, around_nodes(graph, mine, t)), found)

    return lax.fori_loop(jnp.int32(0), jnp.int32(member.shape[1] // LANES), some, jnp.zeros(size, jnp.int64))


@partial(jit64, static_argnames=("size", "arcs"))
def union(graph: Ranked, giants: Giants, *, size: int, arcs: int) -> tuple[jax.Array, jax.Array]:
    """The disjoint union of the giants' neighbourhoods in compressed rows: int32 ``[size + 1]`` offsets, ``[arcs]``
    targets."""
    nodes, count = giants.member.shape
    leaving = _leaving(graph, count, size)
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
    return jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(lengths, dtype=jnp.int32)]), targets


@partial(jit64, static_argnames=("tuning",))
def layout(offsets: jax.Array, targets: jax.Array, *, tuning: Tuning) -> tuple[DegreeOrder, Plan]:
    """Order and plan of the union."""
    sizes = jnp.int32(offsets.shape[0] - 1), offsets[-1] // 2
    fields = Fields(offsets, targets, num_nodes=sizes[0], num_edges=sizes[1])
    order = degree_order(Graph(*fields, directed=False))
    return order, sparse.make_plan(jnp, order, tuning)


class Between(NamedTuple):
    """What edge orbits take: int32 ``[M]``, the arcs of the graph that those of the union are, past the last where
    there is none; and of all arcs of the graph the reversed ones, int32, and the triangles ``t`` and sums ``rim``,
    int64."""

    arcs: jax.Array
    back: jax.Array
    t: jax.Array
    rim: jax.Array


@partial(jit64, static_argnames=("count",))
def arcs_between(graph: Ranked, edges: Adjacency, order: DegreeOrder, *, count: int) -> jax.Array:
    """:attr:`Between.arcs`."""
    leaving, arcs = _leaving(graph, count, order.node.shape[0]), graph.heads.shape[0]
    x, y = (leaving.head[order.node[ends]] - graph.core for ends in (order.tail, order.head))
    real = jnp.arange(order.tail.shape[0], dtype=jnp.int32) < order.num_edges
    return jnp.where(real, edges.arc(graph, jnp.maximum(x, 0), jnp.maximum(y, 0)), arcs)


def _at(ends: jax.Array, x: jax.Array) -> jax.Array:
    return x.at[ends].get(mode="fill", fill_value=0)


class _Ends(NamedTuple):
    """The two nodes of each arc of the union; past the last in padding."""

    tail: jax.Array
    head: jax.Array
    nodes: int

    @classmethod
    def of(cls, order: DegreeOrder) -> _Ends:
        size, real = order.node.shape[0], jnp.arange(order.tail.shape[0], dtype=jnp.int32) < order.num_edges
        return cls(jnp.where(real, order.tail, size), jnp.where(real, order.head, size), size)

    @property
    def real(self) -> jax.Array:
        """Which arcs are no padding."""
        return self.tail < self.nodes

    def out(self, to_tail: jax.Array, to_head: jax.Array) -> jax.Array:
        """Sums at the nodes, int64."""
        found = jnp.zeros(self.nodes, jnp.int64)
        return found.at[self.tail].add(to_tail, mode="drop").at[self.head].add(to_head, mode="drop")

    def times(self, weight: jax.Array | int, x: jax.Array) -> jax.Array:
        """At each node the sum over its neighbours of ``x``, times the weight of the arc."""
        return self.out(weight * _at(self.head, x), weight * _at(self.tail, x))


def _by_node(order: DegreeOrder, found: dict[str, jax.Array]) -> dict[str, jax.Array]:
    return {name: jnp.zeros_like(x).at[order.node].set(x, unique_indices=True) for name, x in found.items()}


@jit64
def near(order: DegreeOrder, values: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """Sums in the union over the neighbours of each node."""
    ends = _Ends.of(order)
    return _by_node(order, {name: ends.times(1, x[order.node]) for name, x in values.items()})


@partial(jit64, static_argnames=("tuning",))
def within(
    order: DegreeOrder, plan: Plan, values: dict[str, jax.Array], between: Between | None, *, tuning: Tuning
) -> tuple[dict[str, jax.Array], jax.Array | None]:
    """Int64 sums in the union at each of its nodes, by name, and :attr:`Between.rim` with what the union adds.
    ``values``, at its nodes: ``t``; of the whole graph the degree ``d``, the walks of length 2 ``p2``, and ``w3``;
    ``between``: where edges are wanted."""
    none, ends = order.tail.shape[0], _Ends.of(order)
    first = sparse.first_pass(order, plan, sparse.start_first(order, True), sparse.all_ranges(plan), tuning)
    real = ends.real
    k, cycles = (jnp.where(real, x[:none].astype(jnp.int64), 0) for x in first)
    given = {name: x[order.node] for name, x in values.items()}
    t, around = given["t"], partial(ends.times, 1)
    s, l2, degrees = ends.out(k, k), around(t), around(given["d"])
    # Walks of length 3 from end to end.
    steps = jnp.where(real, cycles + _at(ends.tail, t) + _at(ends.head, t) - 1, 0)
    found = {
        "degrees": degrees, "walks": around(given["p2"]), "spread": around(degrees), "l2": l2, "l3": around(l2),
        "cube": around(t * t), "s": s, "kt": ends.times(k, t), "ls": around(s), "c": ends.out(steps, steps),
        "k2": ends.out(k * k, k * k), "tip": 2 * _opposite(order, plan, k, tuning), "roof": around(given["w3"]),
        "leaves": around(given["leaves"]),
    }  # fmt: skip
    rim = None
    if between is not None:
        of_graph = jnp.where(real, _at(between.arcs, between.t), 0)
        found |= {
            "squares": around(given["d"] ** 2), "dart": around(t * given["d"]), "tail": ends.times(k, given["d"]),
            "middle": ends.times(of_graph, t), "side_pairs": 2 * _opposite(order, plan, of_graph, tuning),
        }  # fmt: skip
        reversed_arcs = between.back.at[between.arcs].get(mode="fill", fill_value=between.back.shape[0])
        rim = between.rim.at[between.arcs].add(steps, mode="drop").at[reversed_arcs].add(steps, mode="drop")
    return _by_node(order, found), rim


def _opposite(order: DegreeOrder, plan: Plan, k: jax.Array, tuning: Tuning) -> jax.Array:
    """At each node the sum over its triangles of ``k`` at the arc between the two others, int64 ``[N]``."""
    total = plan.triangles.total
    nodes, edges = order.node.shape[0], order.tail.shape[0]

    def step(number: jax.Array, sums: jax.Array) -> jax.Array:
        tri = triangle_block(order, plan.triangles, long(number) * tuning.block, total, block=tuning.block)
        hit = tri.uv < edges
        uv, uw, vw = (jnp.where(hit, arc, 0) for arc in tri)
        corners = take(order.tail, uv), take(order.head, uv), take(order.head, uw)
        for node, arc in zip(corners, (vw, uw, uv), strict=True):
            sums = sums.at[jnp.where(hit, node, nodes)].add(take(k, arc), mode="drop")
        return sums

    steps = (-(-total // tuning.block)).astype(jnp.int32)
    return lax.fori_loop(jnp.int32(0), steps, step, jnp.zeros(nodes, jnp.int64))


@partial(jit64, static_argnames=("size",))
def of_rows(
    graph: Ranked, giants: Giants, near: Beside, of_tables: jax.Array, *, size: int
) -> dict[str, jax.Array]:  # fmt: skip
    """What :func:`around` wrote, by arc that leaves a giant, int64 ``[size]``."""
    leaving = _leaving(graph, giants.member.shape[1], size)
    inside = leaving.there & (leaving.head >= graph.core)
    row = graph.rows[jnp.maximum(leaving.head - graph.core, 0)]
    at = jnp.searchsorted(near.rows, row).astype(jnp.int32)
    wing, arm = (jnp.where(inside, x.at[at, leaving.giant].get(mode="clip"), 0) for x in of_tables)
    return {"wing": wing, "arm": arm}


@partial(jit64, static_argnames=("size", "edges"))
def of_pairs(graph: Ranked, giants: Giants, *, size: int, edges: bool) -> dict[str, jax.Array]:
    """By arc that leaves a giant, int64 ``[size]``: ``chord`` between giants, what leaves add to ``wing``, and, where
    edges are wanted, ``eave`` of the triangles with a second giant."""
    nodes, count = giants.member.shape
    leaving = _leaving(graph, count, size)
    pairs = jnp.pad(giants.pairs, ((0, -giants.pairs.shape[0] % LANES), (0, 0)), constant_values=-1)

    def some(eave: jax.Array, pairs: jax.Array) -> tuple[jax.Array, jax.Array]:
        sets = _in_both(giants._replace(pairs=pairs), giants.member).astype(jnp.int32)
        # Codegrees summed over all pairs of a set: squares of how many of it each node has as neighbours.
        inside = around_nodes(graph, sets).astype(jnp.int64)
        if edges:
            of_heads = (around_nodes(graph, inside) * sets.astype(jnp.int64))[leaving.head]
            here = leaving.there[:, None] & (leaving.giant[:, None, None] == pairs[None]).any(axis=2)
            eave = eave + jnp.where(here, of_heads, 0).sum(axis=1)
        return eave, (inside**2).sum(axis=0)

    eave, chords = lax.scan(some, jnp.zeros(size, jnp.int64), pairs.reshape(-1, LANES, 2))
    a, b = pairs.T
    chord = jnp.zeros((count, count), jnp.int64)
    for x, y in ((a, b), (b, a)):
        chord = chord.at[jnp.where(x >= 0, x, count), y].set(chords.reshape(-1), mode="drop")
    other = leaving.head - (nodes - count)
    between = jnp.where(leaving.there & (other >= 0), chord[leaving.giant, jnp.maximum(other, 0)], 0)
    inside = leaving.there & (leaving.head >= graph.core)
    leaves = graph.leaves[leaving.giant + nodes - count].astype(jnp.int64)
    return {"chord": between, "wing": jnp.where(inside, leaves, 0)} | ({"eave": eave} if edges else {})


@partial(jit64, static_argnames=("count",), donate_argnums=0)
def add_leaving(sums: jax.Array, graph: Ranked, values: jax.Array, *, count: int) -> jax.Array:
    """Add to sums at all arcs those at the arcs that leave giants."""
    leaving = _leaving(graph, count, values.shape[0])
    return sums.at[leaving.arc].add(values, mode="drop")


class Known(NamedTuple):
    """What the tables need to know of giants.

    Attributes:
      near: who is beside them.
      size: room for the arcs that leave them, the nodes of the union of their neighbourhoods.
    """

    giants: Giants
    near: Beside
    size: int


@in_earnest
def known(graph: Ranked, count: int, edges: bool) -> Known:
    """Of the ``count`` nodes of highest rank; ``edges``: whether these are wanted."""
    member, among, near = members(graph, count=count)
    among, near, first, last = jax.device_get((among, near, graph.offsets[-1 - count], graph.offsets[-1]))
    found = np.argwhere(np.triu(among))
    pairs = np.full((bucket_size(max(len(found), 1)), 2), -1, np.int32)
    pairs[: len(found)] = found
    of_edges = triangles(graph, member) if edges else None
    giants = Giants(member, jax.device_put(pairs, next(iter(member.devices()))), of_edges)
    beside_them = beside(graph, giants, size=bucket_size(max(int(near), 1)))
    return Known(giants, beside_them, bucket_size(int(last - first)))


@in_earnest
def _two_steps(graph: Ranked, known: Known) -> tuple[dict[str, jax.Array], dict[str, jax.Array], int]:
    """As :func:`linear`; and room for the arcs of the union."""
    values, of_heads, arcs = linear(graph, known.giants, size=known.size)
    return values, of_heads, bucket_size(max(int(arcs), 2))


def add_sums(
    sums: dict[str, jax.Array], graph: Ranked, known: Known, edges: Adjacency | None, device: jax.Device,
    memory: int | None = None,
) -> DegreeOrder:  # fmt: skip
    """Add to the sums at all arcs, by name, those at the arcs that leave giants, but :func:`of_rows`.

    Args:
      edges: who is adjacent, where edge orbits are wanted.
      memory: bytes for the steps in the union, or the least that they take (default: by what is free).

    Returns:
      The order of the union of their neighbourhoods.
    """
    giants, size = known.giants, known.size
    count = giants.member.shape[1]

    def add(values: dict[str, jax.Array]) -> None:
        for name in sums.keys() & values.keys():
            sums[name] = add_leaving(sums[name], graph, values[name], count=count)

    values, of_heads, arcs = _two_steps(graph, known)
    add(values)
    if memory is not None:
        memory = max(memory, fixed_bytes(size, arcs // 2) + smallest_step_bytes(size, arcs // 2))
    tuning = choose_tuning(size, arcs // 2, device, memory)
    order, plan = layout(*union(graph, giants, size=size, arcs=arcs), tuning=tuning)
    between = None
    if edges is not None:
        add({"floor": floors(graph, giants, sums["t"], size=size)})
        between = Between(arcs_between(graph, edges, order, count=count), graph.back, sums["t"], sums["rim"])
    inside, rim = within(order, plan, values | of_heads, between, tuning=tuning)
    add(inside)
    if rim is not None:
        sums["rim"] = rim
    add(of_pairs(graph, giants, size=size, edges=edges is not None))
    return order


def add_around(
    sums: dict[str, jax.Array], values: dict[str, jax.Array], graph: Ranked, known: Known, order: DegreeOrder
) -> None:
    """As :func:`add_sums`: at u -> v the sum over common neighbours w of values at u -> w, by name."""
    count = known.giants.member.shape[1]
    leaving = {name: at_leaving(graph, x, count=count, size=known.size) for name, x in values.items()}
    for name, found in near(order, leaving).items():
        sums[name] = add_leaving(sums[name], graph, found, count=count)


@partial(jit64, static_argnames=("count", "size"))
def at_leaving(graph: Ranked, x: jax.Array, *, count: int, size: int) -> jax.Array:
    """Values of all arcs at those that leave giants, ``[size]``."""
    leaving = _leaving(graph, count, size)
    return jnp.where(leaving.there, x.at[leaving.arc].get(mode="clip"), 0)
