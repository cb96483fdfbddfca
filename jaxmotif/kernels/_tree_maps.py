"""Random maps of trees into a graph: every connected subgraph of k nodes is met with a chance that its class decides.

A *tree map* takes a rooted tree of k nodes, children unordered, into the graph so that edges go to edges; nodes may
coincide. A map that is injective is a rooted spanning tree of a connected subgraph, so that of maps drawn uniformly one
falls on the node set X with chance ``rooted spanning trees of X / Z``, Z being the number of maps.

Let ``f_j(v)`` be the number of maps of trees of j nodes with the root at v, and ``g_j(v)`` the sum of ``f_j`` over the
neighbours of v. Trees are ``x exp(g)``: with E_0 = 1, ``n E_n = sum_i i g_i E_{n-i}`` and ``f_{n+1} = E_n``. Where a
node may have no more than C children, ``B_c[n] = [x^n] g^c / c!`` stands in the place of E: ``n B_c[n] = sum_i i g_i
B_{c-1}[n-i]`` and ``f_{n+1} = sum_{c <= C} B_c[n]``. Counting takes k - 2 sums over rows, as g_1 is the degree;
drawing goes from the root down.

Numbers are far from the largest of float64, 2^1024: there are 719 rooted trees of ten nodes, so of n nodes and d
neighbours of one at most ``719 n d^9`` maps, below 2^320.

The bits are the same on every device: what is multiplied has 24 bits of mantissa, so that products are exact and it is
no matter whether they are fused with a sum, and sums are added in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import target
from jaxmotif.arrays._sums import Values, running
from jaxmotif.kernels._expand import half, take
from jaxmotif.kernels._lane_body import PLAIN
from jaxmotif.kernels._pair_index import PairIndex
from jaxmotif.kernels._subgraphs import Dyads, all_ones, dyad_state

T = TypeVar("T")

LEVELS = 3  # of children still to come: none, one, two
_STEPS = 32  # random numbers of a lane, at most: 1 + 3 * 9 are drawn
COIN = 31  # the number of one that no step draws


class Tables(NamedTuple):
    """Numbers of tree maps, float64. ``R``: room for nodes; ``S``: for slots.

    Attributes:
      prefix: ``[k - 2, S]``, sums of f_2 .. f_{k-1} over each row up to a slot.
      sums: ``[k, R]``, g_j by j (0: none).
      ways: ``[LEVELS, k, R]``, by children still to come and nodes below: B_0, B_1, B_2; without a limit E twice, then
        zeros.
      limit: int32, of a node's children, 1 or 2; 0 for none.
    """

    prefix: jax.Array
    sums: jax.Array
    ways: jax.Array
    limit: jax.Array


class Maps(NamedTuple):
    """Tables to draw from.

    Attributes:
      prefix, limit: those of :class:`Tables`.
      nodes: float64 ``[R, 1 + LEVELS, k]``, ``sums`` and ``ways`` by node: a draw that is at a node reads many of its
        numbers, which are neighbours in memory.
      roots: float64 ``[R]``, the sum of f_k up to each node; total: of all.
    """

    prefix: jax.Array
    nodes: jax.Array
    roots: jax.Array
    total: jax.Array
    limit: jax.Array


class Order(NamedTuple):
    """Which random maps to draw: one stream of them, its maps from ``first`` (uint64) on; ``total`` of them share the
    roots (float64; 0: each has a root of its own), and maps past ``stop`` are none."""

    stream: jax.Array
    first: jax.Array
    stop: jax.Array
    total: jax.Array


def rounded(x: jax.Array) -> jax.Array:
    """Float64 values, not negative, to 24 bits of mantissa."""
    bits = lax.bitcast_convert_type(x, jnp.int64)
    return lax.bitcast_convert_type((bits + (1 << 28)) & ~jnp.int64((1 << 29) - 1), jnp.float64)


def row_sums(dyads: Dyads, begins: jax.Array, f: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Sums of ``f`` (``[R]``) over each row up to every slot, ``[S]``, and over whole rows, ``[R]``. ``begins``: at
    which slots a row does, bool ``[S]``."""

    def add(a: Values, b: Values) -> Values:
        # A row that has begun forgets what came before: differences of sums over all rows would cancel.
        return jnp.where(b[1], b[0], a[0] + b[0]), a[1] | b[1]

    # Gathered once: a compiler would rather read at random again than write what several sums read.
    values = lax.optimization_barrier(take(f, dyads.near))
    prefix = running(add, (values, begins), (0.0, False))[0]
    low, high = dyads.offsets[:-1], dyads.offsets[1:]
    return prefix, jnp.where(high > low, take(prefix, jnp.maximum(high - 1, 0)), 0.0)


def begun(dyads: Dyads, size: int, limit: jax.Array) -> tuple[Tables, jax.Array, jax.Array]:
    """Tables with what is of one node, f_2, and at which slots rows begin. ``limit``: of children, 1 or 2; 0 for
    none."""
    slots, rows = dyads.near.shape[0], dyads.offsets.shape[0] - 1
    begins = jnp.zeros(slots, bool).at[dyads.offsets[:-1]].set(True, mode="drop")
    g = rounded((dyads.offsets[1:] - dyads.offsets[:-1]).astype(jnp.float64))
    sums = jnp.zeros((size, rows)).at[1].set(g)
    # Of the data, or a compiler would work out all these numbers itself, a second of a large graph.
    node = jnp.where(g < 0, 0.0, 1.0)
    ways = jnp.zeros((LEVELS, size, rows)).at[0, 0].set(node)
    ways = ways.at[0, 1].set(jnp.where(limit == 0, g, 0.0)).at[1, 1].set(g)
    ways = ways.at[1, 0].set(jnp.where(limit == 0, node, 0.0))
    return Tables(jnp.zeros((size - 2, slots)), sums, ways, limit), g, begins


def extended(
    dyads: Dyads, begins: jax.Array, tables: Tables, f: jax.Array, n: jax.Array
) -> tuple[Tables, jax.Array]:  # fmt: skip
    """Tables with what is of n nodes, at least two, given ``f`` = f_n; and f_{n+1}."""
    prefix, g = row_sums(dyads, begins, f)
    sums = lax.dynamic_update_index_in_dim(tables.sums, rounded(g), n, 0)

    def add(i: jax.Array, acc: jax.Array) -> jax.Array:
        # 4 + 24 bits, then 24 more: both products are exact. Past n the sums are still zeros.
        return acc + (i.astype(jnp.float64) * sums[i])[None] * tables.ways[:-1, jnp.maximum(n - i, 0)]

    most = sums.shape[0] - 1
    acc = _each(jnp.int32(1), n + 1, most, add, jnp.zeros((LEVELS - 1, f.shape[0])))
    one, two = rounded(acc / n.astype(jnp.float64))
    # Without a limit there are two levels alike, and drawing a child leads from one to itself.
    new = jnp.stack([jnp.where(tables.limit == 0, one, 0.0), one, jnp.where(tables.limit == 2, two, 0.0)])
    ways = lax.dynamic_update_index_in_dim(tables.ways, new, n, 1)
    # The sums of leaves, f_1, are places in a row: nobody looks for them.
    prefixes = lax.dynamic_update_index_in_dim(tables.prefix, prefix, n - 2, 0)
    return Tables(prefixes, sums, ways, tables.limit), rounded(new[1] + new[2])


def finished(sums: jax.Array, ways: jax.Array, f: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """``nodes``, ``roots`` and ``total`` of :class:`Maps`, given ``f`` = f_k."""
    (roots,) = running(lambda a, b: (a[0] + b[0],), (f,), (0.0,))
    return jnp.concatenate([sums[None], ways]).transpose(2, 0, 1), roots, roots[-1]


def uniform(xp: ModuleType, stream: Any, lane: Any, step: Any) -> Any:
    """Numbers in [0, 1), 53 bits, by a counter (splitmix64: Steele, Lea, Flood 2014); the same in NumPy and JAX.

    Args:
      stream: uint64; lane: uint64 ``[L]``; step: below 32.
    """
    u = np.uint64
    z = (lane * u(_STEPS) + xp.asarray(step).astype(u)) * u(0x9E3779B97F4A7C15) + stream
    z = (z ^ (z >> u(30))) * u(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u(27))) * u(0x94D049BB133111EB)
    z = z ^ (z >> u(31))
    return (z >> u(11)).astype(np.int64).astype(np.float64) * 2.0**-53


def first_above(
    values: jax.Array, base: jax.Array, low: jax.Array, high: jax.Array, target: jax.Array, steps: int
) -> jax.Array:
    """The first place in ``low .. high`` whose value, ``values[base + place]``, is above the target; else ``high``."""

    def halve(_: jax.Array, bounds: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = bounds
        middle = half(low + high)
        right = (take(values, base + middle.astype(base.dtype)) <= target) & (low < high)
        return jnp.where(right, middle + 1, low), jnp.where(right, high, middle)

    return _each(jnp.int32(0), jnp.int32(steps), steps, halve, (low, high))[0]


def _each(first: jax.Array, stop: jax.Array, most: int, step: Callable[[jax.Array, T], T], carry: T) -> T:
    """``step`` for each number from ``first`` to before ``stop``, or, on accelerators, to ``first + most - 1`` whatever
    the stop: spelt out, the steps are one kernel; on a CPU a loop is compiled, and runs, faster."""
    if target().platform == "cpu":
        return lax.fori_loop(first, stop, step, carry)
    for number in range(most):
        carry = step(first + jnp.int32(number), carry)
    return carry


def draw_maps(dyads: Dyads, tables: Maps, order: Order, *, size: int, lanes: int) -> tuple[jax.Array, jax.Array]:
    """Maps of trees of ``size`` nodes: nodes ``[size, lanes]``, int32, and which maps of the order they are, uint64."""
    slots = dyads.near.shape[0]
    lane = order.first + jnp.arange(lanes, dtype=jnp.uint64)
    prefix, numbers = tables.prefix.reshape(-1), tables.nodes.reshape(-1)
    # Stratified: one root in each of equal shares, so that lanes side by side have roots side by side.
    shared = order.total > 0
    place = jnp.where(shared, lane.astype(jnp.int64).astype(jnp.float64), 0.0) + uniform(jnp, order.stream, lane, 0)
    # The highest degrees come first: nodes without neighbours, which have no map, last.
    last = (dyads.offsets[1:] > dyads.offsets[:-1]).sum(dtype=jnp.int32) - 1
    zero = jnp.zeros(lanes, jnp.int32)
    mass = place / jnp.where(shared, order.total, 1.0) * tables.total
    steps = tables.roots.shape[0].bit_length()
    root = first_above(tables.roots, zero, zero, jnp.broadcast_to(last, (lanes,)), mass, steps)

    def grow(t: jax.Array, carry: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, ...]:
        nodes, rest, children = carry  # placed; nodes to come below each; children to come of each, -1: not drawn yet
        at, v, r, c = zero, nodes[0], rest[0], children[0]
        for i in range(size - 1, -1, -1):  # the first that has nodes to come
            on = rest[i] > 0
            at, v, r, c = (jnp.where(on, a, b) for a, b in zip((i, nodes[i], rest[i], children[i]), (at, v, r, c)))  # noqa: B905
        mine = v.astype(jnp.int64) * ((1 + LEVELS) * size)  # tables may have more entries than int32 numbers
        u = [uniform(jnp, order.stream, lane, 3 * t + number) for number in (-2, -1, 0)]

        def way(level: jax.Array, below: jax.Array) -> jax.Array:
            return take(numbers, mine + ((1 + level) * size + below).astype(jnp.int64))

        one, two = way(jnp.int32(1), r), way(jnp.int32(2), r)
        c = jnp.where(c < 0, 1 + (one <= u[0] * (one + two)).astype(jnp.int32), c)
        whole = u[1] * jnp.where(c > 1, two, one) * r.astype(jnp.float64)

        def pick(i: jax.Array, so_far: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            j, acc = so_far
            g = take(numbers, mine + i.astype(jnp.int64))
            term = jnp.where(i <= r, i.astype(jnp.float64) * g * way(c - 1, jnp.maximum(r - i, 0)), 0.0)
            return jnp.where((acc <= whole) & (term > 0), i, j), acc + term

        j, _ = _each(jnp.int32(1), size - t + 1, size - 1, pick, (zero + 1, jnp.zeros(lanes)))
        low, high = take(dyads.offsets, v), take(dyads.offsets, v + 1)
        degree = high - low
        # A leaf is any neighbour; the root of a larger subtree has the weight of its maps.
        leaf = low + jnp.minimum((u[2] * degree.astype(jnp.float64)).astype(jnp.int32), degree - 1)
        base = jnp.maximum(j - 2, 0).astype(jnp.int64) * slots
        mass = u[2] * take(prefix, base + (high - 1).astype(jnp.int64))
        alone = j == 1
        begin, end = jnp.where(alone, leaf, low), jnp.where(alone, leaf, high - 1)
        slot = first_above(prefix, base, begin, end, mass, dyads.search_steps)
        here = jnp.arange(size, dtype=jnp.int32)[:, None] == at[None]
        rest = jnp.where(here, rest - j[None], rest)
        children = jnp.where(here, (c - (tables.limit > 0).astype(jnp.int32))[None], children)
        put = lax.dynamic_update_index_in_dim
        return put(nodes, take(dyads.near, slot), t, 0), put(rest, j - 1, t, 0), children

    first_row = (jnp.arange(size) == 0)[:, None]
    begin = jnp.where(first_row, root[None], 0), jnp.where(first_row, size - 1, jnp.zeros((size, lanes), jnp.int32))
    nodes, _, _ = lax.fori_loop(jnp.int32(1), jnp.int32(size), grow, (*begin, jnp.full((size, lanes), -1, jnp.int32)))
    return nodes, lane


def codes_of(dyads: Dyads, index: PairIndex | None, nodes: jax.Array, places: jax.Array) -> jax.Array:
    """Codes of the subgraphs on ``nodes`` ``[size, lanes]``, uint64; all ones where a node is there twice.

    Args:
      index: of the graph, which must be there if no matrix is.
      places: int32 ``[pairs, 3]``: an older and a younger node, and the lowest bit of their state in a code; then, with
        labels, ``[size, 3]``: a node twice, and that of its label.
    """
    size, lanes = nodes.shape
    pairs = size * (size - 1) // 2

    def add(b: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        code, good = carry
        old, young = nodes[places[b, 0]], nodes[places[b, 1]]
        late, early = jnp.maximum(old, young), jnp.minimum(old, young)
        state = dyad_state(PLAIN, dyads, late, early) if index is None else index.state(late, early)
        if dyads.entries:  # seen from the older one
            mirrored = state // dyads.entries + state % dyads.entries * dyads.entries
            state = jnp.where(late == old, state, mirrored)
        return code | (state.astype(jnp.uint64) << places[b, 2].astype(jnp.uint64)), good & (old != young)

    begin = jnp.zeros(lanes, jnp.uint64), jnp.ones(lanes, bool)
    code, good = lax.fori_loop(jnp.int32(0), jnp.int32(pairs), add, begin)
    if dyads.node_codes is not None:
        for i in range(size):
            label = take(dyads.node_codes, nodes[i]).astype(jnp.uint64)
            code = code | (label << places[pairs + i, 2].astype(jnp.uint64))
    return jnp.where(good, code, all_ones(jnp.uint64))
