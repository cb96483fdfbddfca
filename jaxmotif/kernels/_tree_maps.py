"""Random maps of trees into a graph, which meet a connected subgraph of k nodes with a chance that its class decides.

A *tree map* takes a rooted tree of k nodes, whose children have no order, into the graph so that edges go to edges;
nodes may coincide. An injective map is a rooted spanning tree of a connected subgraph. A map that is drawn uniformly
therefore falls on the set X of nodes with chance ``rooted spanning trees of X / Z``, where Z is the number of maps.

Let ``f_j(v)`` be the number of maps of trees of j nodes whose root goes to v, and ``g_j(v)`` the sum of ``f_j`` over
the neighbours of v. The generating function of trees is ``x exp(g)``. Hence, with E_0 = 1, ``n E_n = sum_i i g_i
E_{n-i}`` and ``f_{n+1} = E_n``. Where a node may have no more than C children, ``B_c[n] = [x^n] g^c / c!`` takes the
place of E: ``n B_c[n] = sum_i i g_i B_{c-1}[n-i]`` and ``f_{n+1} = sum_{c <= C} B_c[n]``. Counting takes k - 2 sums
over rows, as g_1 is the degree. Drawing goes from the root down.

All numbers are far below the largest float64, 2^1024. There are 719 rooted trees of ten nodes, so that n nodes with at
most d neighbours each have at most ``719 n d^9`` maps, which is below 2^320.

Results are the same bit for bit on every device. Numbers that are multiplied have 24 bits of mantissa, so that products
are exact whether or not they are fused with a sum, and sums are added in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmotif.arrays._bits import scramble
from jaxmotif.arrays._compile import target
from jaxmotif.arrays._sums import Values, running
from jaxmotif.kernels._expand import halve, take
from jaxmotif.kernels._lane_body import PLAIN
from jaxmotif.kernels._pair_index import PairIndex
from jaxmotif.kernels._subgraphs import Dyads, all_ones, dyad_state

T = TypeVar("T")

LEVELS = 3
"""Number of levels of the tables, by children still to come: none, one, two."""

_STEPS = 32  # random numbers that a lane may draw; trees of ten nodes take 1 + 3 * 9

COIN = 31
"""A random number of each lane that :func:`draw_maps` does not draw."""


class Tables(NamedTuple):
    """Numbers of tree maps, float64, with room for ``R`` nodes and ``S`` slots.

    Attributes:
      prefix: The sums of f_2 .. f_{k-1} over each row up to a slot, ``[k - 2, S]``.
      sums: The numbers g_j by j, ``[k, R]``, where those of j = 0 are 0.
      ways: The numbers by children still to come and nodes below, ``[LEVELS, k, R]``: B_0, B_1 and B_2, or without a
        limit E twice and zeros.
      limit: The number of children that a node may have, 1 or 2, or 0 for no limit; int32.
    """

    prefix: Array
    sums: Array
    ways: Array
    limit: Array


class Maps(NamedTuple):
    """Tables to draw maps from.

    Attributes:
      prefix: The field of :class:`Tables`.
      nodes: The fields ``sums`` and ``ways`` of :class:`Tables` by node, float64 ``[R, 1 + LEVELS, k]``. A draw reads
        many numbers of a node, which are near each other in memory in this order.
      roots: The sum of f_k up to each node, float64 ``[R]``.
      total: The sum of f_k over all nodes.
      limit: The field of :class:`Tables`.
    """

    prefix: Array
    nodes: Array
    roots: Array
    total: Array
    limit: Array


class Order(NamedTuple):
    """An order for random maps of one stream.

    Attributes:
      stream: The stream, uint64.
      first: The number of the first map, uint64.
      stop: The number of the map to stop before.
      total: The number of maps that share out the roots, float64; 0 where the root of each map is drawn on its own.
    """

    stream: Array
    first: Array
    stop: Array
    total: Array


def rounded(x: Array) -> Array:
    """Round float64 values that are not negative to 24 bits of mantissa."""
    bits = lax.bitcast_convert_type(x, jnp.int64)
    return lax.bitcast_convert_type((bits + (1 << 28)) & ~jnp.int64((1 << 29) - 1), jnp.float64)


def row_sums(dyads: Dyads, begins: Array, f: Array) -> tuple[Array, Array]:
    """Add ``f`` over the neighbours of each node.

    Args:
      dyads: The graph.
      begins: At which slots a row begins, bool ``[S]``.
      f: A number for each node, ``[R]``.

    Returns:
      The sums over each row up to every slot, ``[S]``, and over whole rows, ``[R]``.
    """

    def add(a: Values, b: Values) -> Values:
        # A row starts its sum anew, because differences of sums over all rows would lose digits.
        return jnp.where(b[1], b[0], a[0] + b[0]), a[1] | b[1]

    # The barrier makes XLA gather once. It would rather read at random again than write what several sums read.
    values = lax.optimization_barrier(take(f, dyads.near))
    prefix = running(add, (values, begins), (0.0, False))[0]
    low, high = dyads.offsets[:-1], dyads.offsets[1:]
    return prefix, jnp.where(high > low, take(prefix, jnp.maximum(high - 1, 0)), 0.0)


def begun(dyads: Dyads, size: int, limit: Array) -> tuple[Tables, Array, Array]:
    """Begin the tables with the numbers of trees of one node.

    Args:
      dyads: The graph.
      size: The number of nodes of a tree, k, static.
      limit: The number of children that a node may have, 1 or 2, or 0 for no limit.

    Returns:
      The tables, f_2, and at which slots rows begin, bool ``[S]``.
    """
    slots, rows = dyads.near.shape[0], dyads.offsets.shape[0] - 1
    begins = jnp.zeros(slots, bool).at[dyads.offsets[:-1]].set(True, mode="drop")
    g = rounded((dyads.offsets[1:] - dyads.offsets[:-1]).astype(jnp.float64))
    sums = jnp.zeros((size, rows)).at[1].set(g)
    # These ones depend on the data. Otherwise XLA would compute all these numbers when it compiles, which takes a
    # second for a large graph.
    node = jnp.where(g < 0, 0.0, 1.0)
    ways = jnp.zeros((LEVELS, size, rows)).at[0, 0].set(node)
    ways = ways.at[0, 1].set(jnp.where(limit == 0, g, 0.0)).at[1, 1].set(g)
    ways = ways.at[1, 0].set(jnp.where(limit == 0, node, 0.0))
    return Tables(jnp.zeros((size - 2, slots)), sums, ways, limit), g, begins


def extended(dyads: Dyads, begins: Array, tables: Tables, f: Array, n: Array) -> tuple[Tables, Array]:
    """Extend the tables by the numbers of trees of n nodes, at least two, from ``f`` = f_n; return them and f_{n+1}."""
    prefix, g = row_sums(dyads, begins, f)
    sums = lax.dynamic_update_index_in_dim(tables.sums, rounded(g), n, 0)

    def add(i: Array, acc: Array) -> Array:
        # Both products are exact, of 4 and 24 bits and of these with 24 more bits. Past n the sums are still zeros.
        return acc + (i.astype(jnp.float64) * sums[i])[None] * tables.ways[:-1, jnp.maximum(n - i, 0)]

    most = sums.shape[0] - 1
    acc = _each(jnp.int32(1), n + 1, most, add, jnp.zeros((LEVELS - 1, f.shape[0])))
    one, two = rounded(acc / n.astype(jnp.float64))
    # Without a limit two levels are equal, and drawing a child leads from one level to itself.
    new = jnp.stack([jnp.where(tables.limit == 0, one, 0.0), one, jnp.where(tables.limit == 2, two, 0.0)])
    ways = lax.dynamic_update_index_in_dim(tables.ways, new, n, 1)
    # The sums of f_1 are not in the table, because they are the places in a row.
    prefixes = lax.dynamic_update_index_in_dim(tables.prefix, prefix, n - 2, 0)
    return Tables(prefixes, sums, ways, tables.limit), rounded(new[1] + new[2])


def finished(sums: Array, ways: Array, f: Array) -> tuple[Array, Array, Array]:
    """Return the fields ``nodes``, ``roots`` and ``total`` of :class:`Maps`, from ``f`` = f_k."""
    (roots,) = running(lambda a, b: (a[0] + b[0],), (f,), (0.0,))
    return jnp.concatenate([sums[None], ways]).transpose(2, 0, 1), roots, roots[-1]


def uniform(xp: ModuleType, stream: Any, lane: Any, step: Any) -> Any:
    """Return random numbers in [0, 1) of 53 bits, by a counter (splitmix64: Steele, Lea, Flood 2014).

    Args:
      xp: NumPy or jax.numpy, which give the same numbers.
      stream: The stream, uint64.
      lane: The number of each lane, uint64 ``[L]``.
      step: The number of the random number in its lane, below 32.
    """
    u = np.uint64
    z = scramble((lane * u(_STEPS) + xp.asarray(step).astype(u)) * u(0x9E3779B97F4A7C15) + stream)
    return (z >> u(11)).astype(np.int64).astype(np.float64) * 2.0**-53


def first_above(values: Array, base: Array, low: Array, high: Array, target: Array, steps: int) -> Array:
    """Find the first place in ``low .. high`` whose value ``values[base + place]`` is above the target, else ``high``.

    The values ascend, and the range is shorter than ``2 ** steps``.
    """

    def is_before(place: Array, _: Array) -> Array:
        return take(values, base + place.astype(base.dtype)) <= target

    return _each(jnp.int32(0), jnp.int32(steps), steps, lambda _, x: halve(is_before, x), (low, high))[0]


def _each(first: Array, stop: Array, most: int, step: Callable[[Array, T], T], carry: T) -> T:
    """Apply ``step`` for each number from ``first`` to before ``stop``.

    On accelerators the steps are unrolled, up to ``first + most - 1`` whatever ``stop`` is, and become one kernel.
    On a CPU a loop compiles faster and runs faster.
    """
    if target().platform == "cpu":
        return lax.fori_loop(first, stop, step, carry)
    for number in range(most):
        carry = step(first + jnp.int32(number), carry)
    return carry


def draw_maps(dyads: Dyads, tables: Maps, order: Order, *, size: int, lanes: int) -> tuple[Array, Array]:
    """Draw maps of trees of ``size`` nodes.

    Returns:
      The nodes, int32 ``[size, lanes]``, and the number of each map in its stream, uint64 ``[lanes]``.
    """
    slots = dyads.near.shape[0]
    lane = order.first + jnp.arange(lanes, dtype=jnp.uint64)
    prefix, numbers = tables.prefix.reshape(-1), tables.nodes.reshape(-1)
    # Roots are stratified: one is drawn from each of equal shares, so that neighbouring lanes have neighbouring roots.
    shared = order.total > 0
    place = jnp.where(shared, lane.astype(jnp.int64).astype(jnp.float64), 0.0) + uniform(jnp, order.stream, lane, 0)
    # Nodes are in order of falling degree, so that nodes without neighbours, which have no maps, come last.
    last = (dyads.offsets[1:] > dyads.offsets[:-1]).sum(dtype=jnp.int32) - 1
    zero = jnp.zeros(lanes, jnp.int32)
    mass = place / jnp.where(shared, order.total, 1.0) * tables.total
    steps = tables.roots.shape[0].bit_length()
    root = first_above(tables.roots, zero, zero, jnp.broadcast_to(last, (lanes,)), mass, steps)

    def grow(t: Array, carry: tuple[Array, Array, Array]) -> tuple[Array, ...]:
        # For each node that is placed, `rest` is the number of nodes still to come below it, and `children` is the
        # number of its children still to come, or -1 where that is not drawn yet.
        nodes, rest, children = carry
        # The first node that has nodes to come, v, gets the next child.
        at, v, r, c = zero, nodes[0], rest[0], children[0]
        for i in range(size - 1, -1, -1):
            on = rest[i] > 0
            at, v = jnp.where(on, i, at), jnp.where(on, nodes[i], v)
            r, c = jnp.where(on, rest[i], r), jnp.where(on, children[i], c)
        base_of_v = v.astype(jnp.int64) * ((1 + LEVELS) * size)  # Tables may have more than 2^31 entries.
        u = [uniform(jnp, order.stream, lane, 3 * t + number) for number in (-2, -1, 0)]

        def way(level: Array, below: Array) -> Array:
            return take(numbers, base_of_v + ((1 + level) * size + below).astype(jnp.int64))

        one, two = way(jnp.int32(1), r), way(jnp.int32(2), r)
        c = jnp.where(c < 0, 1 + (one <= u[0] * (one + two)).astype(jnp.int32), c)
        whole = u[1] * jnp.where(c > 1, two, one) * r.astype(jnp.float64)

        def pick(i: Array, so_far: tuple[Array, Array]) -> tuple[Array, Array]:
            j, acc = so_far
            g = take(numbers, base_of_v + i.astype(jnp.int64))
            term = jnp.where(i <= r, i.astype(jnp.float64) * g * way(c - 1, jnp.maximum(r - i, 0)), 0.0)
            return jnp.where((acc <= whole) & (term > 0), i, j), acc + term

        j, _ = _each(jnp.int32(1), size - t + 1, size - 1, pick, (zero + 1, jnp.zeros(lanes)))
        low, high = take(dyads.offsets, v), take(dyads.offsets, v + 1)
        degree = high - low
        # A leaf goes to any neighbour with the same chance, the root of a larger subtree by the number of its maps.
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


def codes_of(dyads: Dyads, index: PairIndex | None, nodes: Array, places: Array) -> Array:
    """Return the codes of the subgraphs on some nodes, uint64 ``[lanes]``; all ones where a node is there twice.

    Args:
      dyads: The graph.
      index: The index of the graph's edges, which is needed where ``dyads`` has no matrix.
      nodes: The nodes, int32 ``[size, lanes]``.
      places: For each pair an older node, a younger node, and the lowest bit of their state in a code, int32
        ``[pairs, 3]``. With labels, rows for the nodes follow, ``[size, 3]``: the node twice, and the lowest bit of its
        label.
    """
    size, lanes = nodes.shape
    pairs = size * (size - 1) // 2

    def add(b: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        code, good = carry
        old, young = nodes[places[b, 0]], nodes[places[b, 1]]
        late, early = jnp.maximum(old, young), jnp.minimum(old, young)
        state = dyad_state(PLAIN, dyads, late, early) if index is None else index.state(late, early)
        if dyads.codes.entries:  # The state in a code is seen from the older node.
            state = jnp.where(late == old, state, dyads.codes.turned(state))
        return code | (state.astype(jnp.uint64) << places[b, 2].astype(jnp.uint64)), good & (old != young)

    begin = jnp.zeros(lanes, jnp.uint64), jnp.ones(lanes, bool)
    code, good = lax.fori_loop(jnp.int32(0), jnp.int32(pairs), add, begin)
    if dyads.node_codes is not None:
        for i in range(size):
            label = take(dyads.node_codes, nodes[i]).astype(jnp.uint64)
            code = code | (label << places[pairs + i, 2].astype(jnp.uint64))
    return jnp.where(good, code, all_ones(jnp.uint64))
