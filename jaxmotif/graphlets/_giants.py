"""Hubs too large for a matrix of their neighbourhood, for node orbits: sparse sums instead, for all of them at once.

Few nodes of a network have many thousand neighbours, and nearly all pairs with a common neighbour have one of these in
common. What giants add to the tables over pairs of nodes is a product of two narrow matrices. What is linear in the
tables is two steps along the arcs; what is not, a product of the tables with the giants' columns. The rest is in the
neighbourhoods alone: their disjoint union is a sparse graph, in which triangles and 4-cycles are counted as in any.

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
from jaxmotif.graphlets._hubs import Ranked, Tables, units
from jaxmotif.graphlets._sparse import Plan
from jaxmotif.graphlets._tuning import Tuning, choose_tuning
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
    """

    member: jax.Array
    pairs: jax.Array


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


def _rows_beside(near: Beside, first: jax.Array, rows: int) -> tuple[jax.Array, jax.Array]:
    """Where those of :attr:`Beside.rows` that a block of rows holds begin and end."""
    start, stop = jnp.searchsorted(near.rows, jnp.stack([first, first + rows])).astype(jnp.int32)
    return start, stop


def _members(graph: Ranked, giants: Giants, nodes: jax.Array) -> jax.Array:
    """Of core nodes; 0 where there is none."""
    return giants.member.at[nodes + graph.core].get(mode="fill", fill_value=0)


@partial(jit64, static_argnames=("part",), donate_argnums=0)
def begin(
    tables: Tables, graph: Ranked, giants: Giants, near: Beside, first: jax.Array, *, part: int
) -> Tables:  # fmt: skip
    """Add to the tables, from a row on, the giants that two nodes have in common, and the arcs between these; ``part``:
    rows at a time."""
    rows, size = tables.codegree.shape
    wanted = tables.pairs.shape == tables.codegree.shape
    others = _members(graph, giants, near.nodes)
    start, stop = _rows_beside(near, first, rows)

    def product(x: jax.Array, y: jax.Array) -> jax.Array:  # of 0 and 1, sums below 2^24
        x, y = x.astype(units()), y.astype(units())
        return jnp.matmul(x, y.T, preferred_element_type=jnp.float32).astype(jnp.int32)

    def step(number: jax.Array, tables: Tables) -> Tables:
        at = start + number * part + jnp.arange(part, dtype=jnp.int32)
        row = jnp.where(at < stop, near.rows.at[at].get(mode="fill", fill_value=0) - first, rows)
        node = graph.at_rows.at[jnp.minimum(row, rows - 1) + first].get(mode="fill", fill_value=size)
        mine, place = _members(graph, giants, node), (row[:, None], near.nodes[None])
        both = product(mine, others).astype(tables.codegree.dtype)
        tables = tables._replace(codegree=tables.codegree.at[place].add(both, mode="drop", unique_indices=True))
        if not wanted:
            return tables
        arcs = 2 * product(_in_both(giants, mine), _in_both(giants, others))
        return tables._replace(pairs=tables.pairs.at[place].add(arcs, mode="drop", unique_indices=True))

    return lax.fori_loop(jnp.int32(0), (stop - start + (part - 1)) // part, step, tables)


@partial(jit64, static_argnames=("shape",))
def no_sums_of_tables(*, shape: tuple[int, int, int]) -> jax.Array:
    return jnp.zeros(shape, jnp.int64)


@partial(jit64, static_argnames=("part",), donate_argnums=0)
def around(
    sums: jax.Array, tables: Tables, graph: Ranked, giants: Giants, near: Beside, first: jax.Array, *, part: int
) -> jax.Array:  # fmt: skip
    """Write to int64 ``[2, R, G]`` those rows of :class:`Beside` that the tables hold from ``first`` on: sums over the
    core neighbours of each giant of ``codegree`` squared, and of ``pairs``; ``part``: rows at a time. Exact where sums
    are below 2^53."""
    rows = tables.codegree.shape[0]
    member = _members(graph, giants, near.nodes).astype(jnp.float64)
    start, stop = _rows_beside(near, first, rows)

    def step(number: jax.Array, sums: jax.Array) -> jax.Array:
        at = start + number * part + jnp.arange(part, dtype=jnp.int32)
        row = jnp.where(at < stop, near.rows.at[at].get(mode="fill", fill_value=0), sums.shape[1])
        place = row[:, None] - first, near.nodes[None]
        x, y = (table.at[place].get(mode="fill", fill_value=0).astype(jnp.float64) for table in tables[:2])
        found = jnp.stack([(x * x) @ member, y @ member]).astype(jnp.int64)
        return sums.at[:, row].set(found, mode="drop")

    return lax.fori_loop(jnp.int32(0), (stop - start + (part - 1)) // part, step, sums)


def _step(graph: Ranked, x: jax.Array) -> jax.Array:
    """Sums over the neighbours of all nodes, ``[N, G]``; some columns at a time."""
    nodes, count = x.shape
    x = jnp.pad(x, ((0, 0), (0, -count % LANES))).reshape(nodes, -1, LANES)

    def some(x: jax.Array) -> jax.Array:
        heads = x.at[graph.heads].get(mode="fill", fill_value=0)
        return jax.ops.segment_sum(heads, graph.tails, num_segments=nodes + 1, indices_are_sorted=True)[:nodes]

    return jnp.moveaxis(lax.map(some, jnp.moveaxis(x, 1, 0)), 0, 1).reshape(nodes, -1)[:, :count]


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


@partial(jit64, static_argnames=("size",))
def linear(graph: Ranked, giants: Giants, *, size: int) -> tuple[dict[str, jax.Array], dict[str, jax.Array], jax.Array]:
    """By arc that leaves a giant, int64 ``[size]``: what two steps along the arcs give; the degree ``d`` and the walks
    of length 2 ``p2`` of its head; and how many arcs there are in all neighbourhoods."""
    d = jnp.diff(graph.offsets).astype(jnp.int64)
    p2 = _step(graph, d[:, None])[:, 0]
    count = giants.member.shape[1]
    member = giants.member.astype(jnp.int64)
    leaving = _leaving(graph, count, size)
    triangles = _step(graph, member) * member

    def found(x: jax.Array) -> jax.Array:
        return jnp.where(leaving.there, x[leaving.head, leaving.giant], 0)

    def two(x: jax.Array) -> jax.Array:
        return found(_step(graph, _step(graph, x)))

    values = {"t": found(triangles), "w3": two(member), "far": two(member * d[:, None]), "side": two(triangles)}
    at_nodes = (("d", d), ("p2", p2), ("leaves", graph.leaves.astype(jnp.int64)))
    of_heads = {name: jnp.where(leaving.there, x[leaving.head], 0) for name, x in at_nodes}
    return values, of_heads, triangles.sum()


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


@partial(jit64, static_argnames=("tuning",))
def within(order: DegreeOrder, plan: Plan, values: dict[str, jax.Array], *, tuning: Tuning) -> dict[str, jax.Array]:
    """Int64 sums in the union at each of its nodes, by name; ``values``, at its nodes: ``t``; of the whole graph the
    degree ``d``, the walks of length 2 ``p2``, and ``w3``."""
    size, none = order.node.shape[0], order.tail.shape[0]
    first = sparse.first_pass(order, plan, sparse.start_first(order, True), sparse.all_ranges(plan), tuning)
    real = jnp.arange(none, dtype=jnp.int32) < order.num_edges
    k, cycles = (jnp.where(real, x[:none].astype(jnp.int64), 0) for x in first)
    tail, head = (jnp.where(real, x, size) for x in (order.tail, order.head))

    def at(ends: jax.Array, x: jax.Array) -> jax.Array:
        return x.at[ends].get(mode="fill", fill_value=0)

    def out(to_tail: jax.Array, to_head: jax.Array) -> jax.Array:
        return jnp.zeros(size, jnp.int64).at[tail].add(to_tail, mode="drop").at[head].add(to_head, mode="drop")

    def near(x: jax.Array) -> jax.Array:
        return out(at(head, x), at(tail, x))

    given = {name: x[order.node] for name, x in values.items()}
    t = given["t"]
    s, l2, degrees = out(k, k), near(t), near(given["d"])
    steps = jnp.where(real, cycles + at(tail, t) + at(head, t) - 1, 0)  # walks of length 3 from end to end
    found = {
        "degrees": degrees, "walks": near(given["p2"]), "spread": near(degrees), "l2": l2, "l3": near(l2),
        "cube": near(t * t), "s": s, "kt": out(k * at(head, t), k * at(tail, t)), "ls": near(s), "c": out(steps, steps),
        "k2": out(k * k, k * k), "tip": 2 * _opposite(order, plan, k, tuning), "roof": near(given["w3"]),
        "leaves": near(given["leaves"]),
    }  # fmt: skip
    return {name: jnp.zeros_like(x).at[order.node].set(x, unique_indices=True) for name, x in found.items()}


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
def at_arcs(
    graph: Ranked, giants: Giants, of_tables: jax.Array, values: dict[str, jax.Array], *, size: int
) -> dict[str, jax.Array]:
    """All sums at the arcs that leave giants, int64 ``[S]`` by name, 0 at others; of ``chord`` those between giants.

    Args:
      of_tables: what :func:`around` wrote. values: of :func:`linear` and :func:`within`, ``[size]``.
    """
    nodes, count = giants.member.shape
    leaving = _leaving(graph, count, size)
    row = graph.rows[jnp.maximum(leaving.head - graph.core, 0)]
    inside = leaving.there & (leaving.head >= graph.core)
    wing, arm = (jnp.where(inside, x.at[row, leaving.giant].get(mode="fill", fill_value=0), 0) for x in of_tables)
    wing += jnp.where(inside, graph.leaves[leaving.giant + nodes - count], 0).astype(jnp.int64)
    # Codegrees summed over all pairs of a set: squares of how many of it each node has as neighbours.
    sets = _in_both(giants, giants.member).astype(jnp.int32)
    chords = (_step(graph, sets).astype(jnp.int64) ** 2).sum(axis=0)
    a, b = giants.pairs.T
    chord = jnp.zeros((count, count), jnp.int64)
    for x, y in ((a, b), (b, a)):
        chord = chord.at[jnp.where(x >= 0, x, count), y].set(chords, mode="drop")
    other = leaving.head - (nodes - count)
    between = jnp.where(leaving.there & (other >= 0), chord[leaving.giant, jnp.maximum(other, 0)], 0)
    every = values | {"wing": wing, "arm": arm, "chord": between}
    none = jnp.zeros(graph.heads.shape[0], jnp.int64)
    return {name: none.at[leaving.arc].set(x, mode="drop") for name, x in every.items()}


class Known(NamedTuple):
    """What can be said of giants before the tables are there.

    Attributes:
      near: who is beside them.
      size, arcs: room for the nodes and arcs of the union of their neighbourhoods.
      linear, of_heads: as :func:`linear` gives them.
    """

    giants: Giants
    near: Beside
    size: int
    arcs: int
    linear: dict[str, jax.Array]
    of_heads: dict[str, jax.Array]


@in_earnest
def known(graph: Ranked, count: int) -> Known:
    """Of the ``count`` nodes of highest rank."""
    member, among, near = members(graph, count=count)
    among, near, first, last = jax.device_get((among, near, graph.offsets[-1 - count], graph.offsets[-1]))
    found = np.argwhere(np.triu(among))
    pairs = np.full((bucket_size(max(len(found), 1)), 2), -1, np.int32)
    pairs[: len(found)] = found
    giants, size = Giants(member, jax.device_put(pairs, next(iter(member.devices())))), bucket_size(int(last - first))
    values, of_heads, arcs = linear(graph, giants, size=size)
    beside_them = beside(graph, giants, size=bucket_size(max(int(near), 1)))
    return Known(giants, beside_them, size, bucket_size(max(int(arcs), 2)), values, of_heads)


def sums(graph: Ranked, known: Known, of_tables: jax.Array, device: jax.Device) -> dict[str, jax.Array]:
    """All sums at the arcs that leave giants, as :func:`at_arcs`."""
    giants, size, values = known.giants, known.size, known.linear
    tuning = choose_tuning(size, known.arcs // 2, device)
    order, plan = layout(*union(graph, giants, size=size, arcs=known.arcs), tuning=tuning)
    values = values | within(order, plan, values | known.of_heads, tuning=tuning)
    return at_arcs(graph, giants, of_tables, values, size=size)
