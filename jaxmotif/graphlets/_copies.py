"""Counts of the copies of one plain pattern (undirected, without labels), by closed forms and equations.

Each way computes only the sums that the pattern needs:

| way | patterns | work |
|---|---|---|
| fringes | a core of one to three joined nodes, and nodes next to these alone | degrees, triangles, 4-cliques |
| cliques | cliques of three and more nodes | triangles, then a row of bits for each clique of one node less |
| cycles | the 4-cycle, house, banner, butterfly, 5-path, triangle with a tail of two edges | wedges, triangles |
| graphlets | all others of up to five nodes; with ``induced`` all of four and five | some or all passes of graphlets |
"""

from __future__ import annotations

from functools import partial
from math import comb, factorial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import QuickLimits, jit64
from jaxmotif.arrays._exact import join_sums, split_sum
from jaxmotif.arrays._rows import pad_rows
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.graph import Graph
from jaxmotif.graph._order import DegreeOrder
from jaxmotif.graphlets import _equations as equations
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._count import count_five_node_copies, graphlet_counts
from jaxmotif.graphlets._fringes import SIZES, ClosedForm, closed_form
from jaxmotif.graphlets._prepared import prepare_graph
from jaxmotif.graphlets._sparse import Plan, loop_in_blocks
from jaxmotif.graphlets._tuning import Tuning
from jaxmotif.kernels import _cliques as cliques
from jaxmotif.kernels._expand import take
from jaxmotif.kernels._lane_body import LANES, Read, each_lane
from jaxmotif.kernels._scatter import accumulator, compact
from jaxmotif.kernels._triangles import TriangleBlock
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._catalogue import CONNECTED
from jaxmotif.patterns._ruled import automorphism_total
from jaxmotif.patterns._totals import copies_of_maps, graph_name
from jaxmotif.search._deadline import NO_DEADLINE, SLICE_SECONDS, Deadline, working_time
from jaxmotif.search._layout import loop
from jaxmotif.search._limbs import LimbCounts, carry_over, counts_of, limbs_for

MOST_CLIQUE = 8
"""Largest number of nodes of a clique that is counted; a program is compiled for each size."""

SLICES, LEAST_SLICE = 64, 2**16
"""The first slice of a count of large cliques has a 64th of all tests of triangles, and at least 2^16 tests.

Even a slice with little work takes about a millisecond, which is why slices grow while they are quick."""

QUICK = QuickLimits(unoptimised=2**21)
"""Slots of a graph up to which a CPU compiles without optimising."""

PARTS = 4
"""Triangles are worked on in parts of a fourth of a block of tests, since only about a third of the tests find one."""

CYCLES = ("4-cycle", "5-path", "long-tailed-triangle", "butterfly", "banner", "house")
"""Names of the patterns whose maps, and those of their quotients, follow from 4-cycles, triangles and degrees."""

Way = Literal["fringes", "cliques", "cycles", "graphlets"]


class Copies(NamedTuple):
    """Maps of a pattern into a graph.

    Attributes:
      maps: injective maps that keep edges (and non-edges, if induced).
      work: about how much work the count took: membership tests, wedges, or edges for graphlets.
      notes: what had to be done differently, in words.
      status: ``"done"``, or the limit that stopped a count of cliques; ``maps`` then has those found before the stop.
    """

    maps: int
    work: int
    notes: tuple[str, ...] = ()
    status: str = "done"


def choose_way(pattern: Pattern, induced: bool) -> Way | None:
    """Return how a connected plain pattern is counted without a search; ``None`` if it cannot be.

    Example:
      >>> star, square = Pattern.from_edges([(0, 1), (0, 2)]), Pattern.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
      >>> choose_way(star, False), choose_way(square, False), choose_way(square, True)
      ('fringes', 'cycles', 'graphlets')
    """
    nodes, edges = pattern.num_nodes, int(pattern.adjacency.sum()) // 2
    complete = edges == comb(nodes, 2)
    if complete and 3 <= nodes <= MOST_CLIQUE:
        return "cliques"
    if (not induced or complete) and closed_form(_rows(pattern)) is not None:
        return "fringes"
    if not 3 <= nodes <= 5:
        return None
    return "cycles" if not induced and name_of(pattern) in CYCLES else "graphlets"


def count_copies(
    pattern: Pattern,
    graph: Graph,
    induced: bool,
    device: jax.Device,
    memory: int | None,
    deadline: Deadline = NO_DEADLINE,
) -> Copies | None:
    """Count the maps of a connected plain pattern into an undirected graph that has edges.

    Args:
      pattern: one that :func:`choose_way` has a way for.
      graph: the graph.
      induced: whether non-edges are kept too.
      device: where to count.
      memory: bytes to work in (default: as for graphlets).
      deadline: when to stop counting cliques of five and more nodes; other sums are made in one piece.

    Returns:
      The maps, or ``None`` where numbers on the way may be too large.

    Raises:
      ValueError: if the memory is too small.

    Example:
      >>> from jaxmotif import datasets
      >>> triangle = Pattern.from_edges([(0, 1), (1, 2), (2, 0)])
      >>> count_copies(triangle, datasets.load("karate"), False, jax.devices()[0], None).maps
      270
    """
    way, nodes = choose_way(pattern, induced), pattern.num_nodes
    if way == "graphlets":
        if nodes == 5:
            count, notes = count_five_node_copies(graph, name_of(pattern), induced, device, memory)
            return Copies(count * automorphism_total(pattern), graph.m, notes)
        result = graphlet_counts(graph, induced=induced, devices=[device], memory=memory)
        return Copies(result.counts[name_of(pattern)] * automorphism_total(pattern), graph.m, result.notes)
    prepared = prepare_graph(graph, device, memory)
    if way == "cycles":
        # Walks of three steps between given nodes, walks of two and closed walks of three from a node, and the degrees
        # at an edge are no more than the 2^31 slots of a graph, so their products fit.
        name = name_of(pattern)
        which = {"cycles": name in ("banner", "house"), "triangles": nodes > 4}
        pairs, notes = prepared.run(partial(_map_sums, **which), device)
        sums: dict[str, int] = dict(zip((*equations.TERMS, *CYCLES[1:]), join_sums(np.asarray(pairs).T), strict=True))
        maps = equations.connected_maps(graph.m, sums) | {name: sums[name] for name in CYCLES[1:]}
        count = copies_of_maps(name, False, np.array([maps.get(g.name, 0) for g in CONNECTED], object))
        return Copies(count * automorphism_total(pattern), prepared.wedges, notes)
    if way == "cliques":
        # Cliques of up to four nodes are always counted in one go, which is quick; those of five if time is unlimited.
        at_once = nodes < 5 or (nodes == 5 and deadline.left == np.inf)
        run = _count_at_once if at_once else partial(_count_in_slices, deadline=deadline)
        (count, finished), notes = prepared.run(partial(run, nodes=nodes), device)
        return Copies(int(count) * factorial(nodes), prepared.tests, notes, "done" if finished else deadline.status)
    form = closed_form(_rows(pattern))
    limbs = form and limbs_for(factorial(len(form.core)) * prepared.largest ** len(form.fringe))
    if form is None or limbs is None or max(form.terms.values()) >= 2**31:
        return None
    sizes = len(form.core), limbs
    limb_sums, notes = prepared.run(partial(_sum_over_cliques, program=_write(form), sizes=sizes), device)
    return Copies(sum(int(limb) << 32 * i for i, limb in enumerate(np.asarray(limb_sums))), prepared.tests, notes)


def count_factors(pattern: Pattern) -> int:
    """Return the number of factors in the closed form of a pattern, or 1 if it has no closed form.

    This measures the work for each clique of the graph to which the core is mapped.
    """
    form = closed_form(_rows(pattern))
    return 1 if form is None else sum(len(factors) for factors in form.terms)


def _rows(pattern: Pattern) -> tuple[tuple[bool, ...], ...]:
    return tuple(map(tuple, pattern.adjacency.tolist()))


def name_of(pattern: Pattern) -> str:
    """Return the name of a plain pattern of up to five nodes."""
    return graph_name(pattern.num_nodes, [(a, b) for a, b in np.argwhere(np.triu(pattern.adjacency)).tolist()])


@jit64(quick=QUICK, static_argnames=("cycles", "triangles", "tuning"))
def _map_sums(order: DegreeOrder, plan: Plan, cycles: bool, triangles: bool, tuning: Tuning) -> jax.Array:
    """Return sums from which maps follow, in low and high halves, int64 ``[13, 2]``.

    They are those of the equations' :data:`~jaxmotif.graphlets._equations.TERMS`, but for 4-cliques, and the maps of
    five :data:`CYCLES`, each of two parts that share a node or an edge.

    Args:
      order, plan: the graph.
      cycles: whether 4-cycles are counted at each edge, instead of only their total; only banners and houses need this.
      triangles: whether triangles are counted at all.
      tuning: the sizes of steps.
    """
    ranks = sparse.all_ranks(plan)
    t, cyc = sparse.start_first(order, cycles).values()
    if triangles:
        t = sparse.count_triangles(order, plan, t, ranks, tuning)
    cyc = sparse.count_cycles(order, plan, cyc, ranks, tuning)
    stats = sparse.finish(order, {"t": t, "cyc": cyc, "K": jnp.zeros((), jnp.int64)})
    real = jnp.arange(order.edge_capacity, dtype=jnp.int32) < order.num_edges
    d = order.degree.astype(jnp.int64)
    ends, t = (jnp.where(real, x, 0) for x in (d[order.tail] + d[order.head], stats.t))
    # At an edge: walks of three steps from one end to the other. At a node: walks of two, and closed walks of three.
    walks = jnp.where(real, stats.cyc + ends - 1, 0)
    near, closed = sparse.sum_at_nodes(order, jnp.stack([ends, t]))
    near -= d * d
    of_five = near * near, closed * near, closed * closed, walks * ends, 2 * t * walks
    pairs = (*sparse.graph_sums(order, stats).values(), *map(split_sum, of_five))
    return jnp.stack([jnp.stack(pair) for pair in pairs])


def _count_at_once(order: DegreeOrder, plan: Plan, nodes: int, tuning: Tuning) -> tuple[jax.Array, bool]:
    """Return the number of cliques, and true, since all were looked for."""
    return _count_cliques(order, plan, None, None, nodes=nodes, tuning=tuning), True


def _count_in_slices(
    order: DegreeOrder, plan: Plan, nodes: int, tuning: Tuning, deadline: Deadline
) -> tuple[int, bool]:
    """Return the number of cliques found, and whether all were looked for in time.

    A slice is a range of ranks: its cliques have their lowest nodes there. The deadline is checked between slices only.
    """
    starts, total, low = np.asarray(plan.triangle_starts), 0, 0
    tests = max(LEAST_SLICE, int(starts[-1]) // SLICES)
    while low < len(starts) - 1:
        if deadline.passed:
            return total, False
        high = max(low + 1, int(np.searchsorted(starts, starts[low] + tests, side="right")) - 1)
        began = working_time()
        total += int(_count_cliques(order, plan, np.int32(low), np.int32(high), nodes=nodes, tuning=tuning))
        if working_time() - began < SLICE_SECONDS / 4:  # nodes of higher rank have more cliques for each test
            tests *= 2
        low = high
    return total, True


@jit64(quick=QUICK, static_argnames=("nodes", "tuning"))
def _count_cliques(order: DegreeOrder, plan: Plan, low: Any, high: Any, nodes: int, tuning: Tuning) -> jax.Array:
    """Return the number of cliques of three or more nodes whose lowest node is in a range of ranks, or anywhere."""
    zero, ranks = jnp.zeros((), jnp.int64), sparse.all_ranks(plan) if low is None else (low, high)

    def add(tri: TriangleBlock, total: jax.Array) -> jax.Array:
        return total + (tri.uv < order.edge_capacity).sum(dtype=jnp.int64)

    def use(rows: sparse.Rows, ranks: sparse.Ranks, total: jax.Array) -> jax.Array:
        return total + cliques.count_cliques(order, *rows, ranks, nodes, tuning.block)

    if nodes == 3:
        return sparse.each_triangle(order, plan, zero, ranks, tuning, add)
    return sparse.over_rows(order, plan, zero, ranks, tuning, use)


# ---- closed forms


class ClosedFormWords(NamedTuple):
    """The terms of a closed form as data, so that one program serves all patterns.

    Attributes:
      count: int32 ``[1]``, the number of terms.
      terms: int32 ``[3 T]``: of each term the coefficient, the first factor, and the number of factors.
      factors: int32 ``[(SIZES + 2) F]``, a :class:`jaxmotif.graphlets._fringes.Factor` each.
    """

    count: Any
    terms: Any
    factors: Any


def _write(form: ClosedForm) -> ClosedFormWords:
    terms, factors = list[tuple[int, int, int]](), list[tuple[int, ...]]()
    for term, coefficient in form.terms.items():
        terms.append((coefficient, len(factors), len(term)))
        factors += [(*factor.size, factor.less, factor.taken) for factor in term]

    def pack(rows: list[tuple[int, ...]], width: int) -> np.ndarray:
        return pad_rows(np.array(rows, np.int32).reshape(-1, width), power_of_four(len(rows), 16)).reshape(-1)

    return ClosedFormWords(np.array([len(terms)], np.int32), pack(terms, 3), pack(factors, SIZES + 2))


def _ways(
    limbs: int, read: Read, program: ClosedFormWords, valid: jax.Array, *sizes: jax.Array
) -> tuple[jax.Array, ...]:
    """Return the value of a closed form for each lane, int32 words of ``limbs`` limbs; 0 where a lane is not valid.

    Args:
      limbs: static.
      read: the operations by which arrays are read.
      program: the closed form.
      valid: int32, 1 or 0.
      sizes: int32, for each set r of core nodes ``I(r)``, how many nodes outside the core are adjacent to all of r.
    """
    numbers: Any = counts_of(limbs)

    def add(index: jax.Array, total: Any) -> Any:
        coefficient, first, number = (read.at(program.terms, 3 * index + i) for i in range(3))

        def times(index: jax.Array, product: Any) -> Any:
            at = (first + index) * (SIZES + 2)
            size = jnp.zeros_like(valid) - read.at(program.factors, at + SIZES)
            for r, each in enumerate(sizes):
                size = size + read.at(program.factors, at + r) * each
            # Each node that is placed leaves one candidate fewer; with too few candidates the product is 0.
            taken = read.at(program.factors, at + SIZES + 1)
            return loop(taken, lambda i, product: numbers.scale(product, jnp.maximum(size - i, 0)), product)

        return numbers.add(total, loop(number, times, numbers.from_int32(valid * coefficient)))

    terms = jnp.max(valid * read.at(program.count, 0))
    total = loop(terms, add, numbers.from_int32(jnp.zeros_like(valid)))
    words = list(total) if isinstance(numbers, LimbCounts) else numbers.low_words(total)
    return tuple(lax.bitcast_convert_type(word, jnp.int32) for word in words)


def add_ways(
    program: ClosedFormWords, sums: jax.Array, valid: jax.Array, sizes: list[jax.Array], limbs: int
) -> jax.Array:
    """Add the values of a closed form for some cliques to sums, uint64 ``[limbs]``.

    Args:
      program: the closed form.
      sums: the sums so far.
      valid: which lanes have a clique.
      sizes: ``I(r)`` for the first sets r, a number for each lane; for all further sets it is 0.
      limbs: static, the number of limbs of the value for one clique.
    """
    lanes = [x.astype(jnp.int32) for x in (valid, *sizes, *[jnp.zeros_like(valid)] * (SIZES - len(sizes)))]
    lanes = [jnp.pad(x, (0, -len(x) % LANES)) for x in lanes]
    words = each_lane(partial(_ways, limbs), program, *lanes, outputs=limbs, name=f"ways_{limbs}")
    new = [lax.bitcast_convert_type(word, jnp.uint32).astype(jnp.uint64).sum() for word in words]
    return carry_over(sums + jnp.stack(new))


@jit64(quick=QUICK, static_argnames=("sizes", "tuning"))
def _sum_over_cliques(
    order: DegreeOrder, plan: Plan, program: ClosedFormWords, sizes: tuple[int, int], tuning: Tuning
) -> jax.Array:
    """Return the sum of a closed form over all nodes, edges or triangles, uint64 ``[limbs]``.

    Args:
      order, plan: the graph.
      program: the closed form.
      sizes: static, how many nodes the cliques have, 1 to 3; and how many limbs the value for one clique has.
      tuning: the sizes of steps.
    """
    core, limbs = sizes
    sums = jnp.zeros(limbs, jnp.uint64)
    if core == 1:
        return add_ways(program, sums, jnp.ones_like(order.degree), [order.degree], limbs)
    edges, ranks = order.edge_capacity, sparse.all_ranks(plan)
    t = sparse.count_triangles(order, plan, accumulator(edges, jnp.int32), ranks, tuning)[:edges]
    if core == 2:
        real = jnp.arange(edges, dtype=jnp.int32) < order.num_edges
        return add_ways(program, sums, real, [*(order.degree[x] - 1 for x in (order.tail, order.head)), t], limbs)

    def collect(tri: TriangleBlock, common: jax.Array, sums: jax.Array) -> jax.Array:
        places, count = compact(tri.uv < edges)
        part = max(tuning.block // PARTS, 1)

        def step(number: jax.Array, sums: jax.Array) -> jax.Array:
            here = lax.dynamic_slice(places, (number * part,), (part,))
            valid = number * part + jnp.arange(part, dtype=jnp.int32) < count
            here = jnp.where(valid, here, 0)
            uv, uw, vw = (jnp.where(valid, take(arc, here), 0) for arc in tri)
            u, v, w = (take(order.degree, node) - 2 for node in (order.tail[uv], order.head[uv], order.head[uw]))
            sizes = [u, v, take(t, uv) - 1, w, take(t, uw) - 1, take(t, vw) - 1, take(common, here)]
            return add_ways(program, sums, valid, sizes, limbs)

        return loop_in_blocks(jnp.int32(0), count, part, step, sums)

    use = sparse.at_triangles(order, plan, tuning, collect)
    return sparse.over_rows(order, plan, sums, ranks, tuning, use, whole=True)
