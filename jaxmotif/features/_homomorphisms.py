"""Homomorphism counts of small patterns: maps that keep edges, and may send several nodes to one.

The counts of connected plain patterns (undirected, without labels) of up to five nodes are weighted sums of graphlet
orbits. Other patterns are counted by a product of tables: each edge of the pattern has the adjacency matrix as its
table, and the nodes of the pattern are summed out one after another, the node with the fewest neighbours first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64, target_of
from jaxmotif.arrays._fetch import Fetch, look_ahead
from jaxmotif.arrays._int64 import Int64
from jaxmotif.arrays._rows import places_of as row_numbers
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.features._dense import order_columns, sum_orbits
from jaxmotif.features._patterns import (
    Features,
    Normalize,
    PatternLike,
    Source,
    ask,
    columns_of,
    load_graphs,
    scaled,
)
from jaxmotif.graph import Graph, GraphLike, GraphsLike
from jaxmotif.graph._container import refuse_large
from jaxmotif.graph._groups import size_groups
from jaxmotif.graphlets._dense import MAX_DENSE_NODES_5
from jaxmotif.patterns import Pattern, as_pattern, canonical_string
from jaxmotif.patterns._names import listed_patterns, short_name
from jaxmotif.patterns._orbits import quotients
from jaxmotif.patterns._roles import (
    OrbitWeights,
    Per,
    Role,
    all_roles,
    check_per,
    known_weights,
    weight_table,
)

MOST_CELLS = 2**28
"""Largest number of cells of a table for one graph."""

CELLS_TOGETHER = {"cpu": 2**17, "accelerator": 2**25}
"""Number of cells that the largest tables of a stack of graphs have together.

They fit in the cache of a CPU core, and are enough to keep an accelerator busy.
"""

EXACT, MODULUS = 2**53, 2**19
"""Bounds of whole numbers that floats hold exactly, and of moduli.

All whole numbers below ``EXACT`` are exact in float64. So are sums of MOST_CELLS^1/2 products of two residues modulo a
number below ``MODULUS``.
"""


class Contraction(NamedTuple):
    """Steps that sum out the nodes of a pattern.

    Attributes:
      scopes: the pattern nodes that are the axes of each table. The first tables are given: one for each edge, and one
        for each node without edges. Each step adds one more.
      steps: the one or two tables that each step multiplies. The product is summed over the nodes that are not in the
        scope of the new table.
    """

    scopes: tuple[tuple[int, ...], ...]
    steps: tuple[tuple[int, ...], ...]

    @property
    def axes(self) -> int:
        """Number of axes of the largest table."""
        return max(map(len, self.scopes))

    @property
    def given(self) -> int:
        """Number of tables that are given: those of edges, and of nodes without edges."""
        return len(self.scopes) - len(self.steps)


@on_cluster(load_graphs)
def homomorphism_counts(
    graphs: GraphLike | GraphsLike,
    patterns: Sequence[PatternLike],
    *,
    per: Per = "graph",
    log: bool = False,
    normalize: Normalize = None,
    devices: Devices = None,
) -> Features:
    """Count exactly the homomorphisms of each pattern into each graph, or those that send a role to each node.

    A homomorphism sends adjacent nodes to adjacent nodes, and may send several nodes to one. Counts at nodes are the
    motif structural encodings (MoSE) of graph transformers; :func:`spasm` names the patterns that these use.

    Args:
      graphs: a graph, or many of one kind, as for :func:`jaxmotif.pattern_features`; labels do not matter.
      patterns: small graphs or their names, without labels: trees, cycles, cliques, any others, connected or not.
      per: ``"graph"`` or ``"node"``: a row for each.
      log: ``log(1 + x)`` of the values.
      normalize: ``"density"``: counts are divided by the number of all maps (at nodes, of all maps that send the role
        to the node), which gives homomorphism densities; ``"total"``: each row is divided by its sum.
      devices: see :data:`jaxmotif.devices.Devices`; patterns of more than five nodes use only one of several devices.

    Returns:
      The table. Columns are called as by :func:`jaxmotif.pattern_features`: at nodes there is one for each role.

    Raises:
      TypeError, ValueError: for arguments that are no graphs or patterns, for labelled patterns, and for a pattern that
        needs a table of more than 2^28 numbers. Connected undirected patterns of up to five nodes need no table. Of the
        others, in a graph of n nodes, a tree or a cycle needs n^2 numbers, and a clique of k nodes n^(k-1).
      OverflowError: with connected undirected patterns of up to five nodes, as :func:`jaxmotif.node_orbits`, for a
        degree so high that counts of orbits may pass 64 bits; with others, for counts of more than 750,000 bits.

    Example:
      >>> paw = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
      >>> homomorphism_counts(paw, ["2-star", "triangle", "6-cycle"]).values.tolist()  # 6-cycle: closed walks of six
      [[18, 6, 116]]
      >>> homomorphism_counts(paw, ["2-star"], per="node").values.tolist()  # its middle, or an end
      [[4, 5], [4, 5], [9, 5], [1, 3]]

    References:
      Bao et al., "Homomorphism counts as structural encodings for graph learning", ICLR 2025. Lovász, "Large networks
      and graph limits", 2012, chapter 5.
    """
    check_per(per, "graph", "node")
    source, given, roles = ask(graphs, patterns, per, log, normalize)

    def count(rest: list[int]) -> np.ndarray:
        return _count_by_tables(source, _plans([given[i] for i in rest], [roles[i] for i in rest]), devices)

    values = columns_of(source, roles, _weights(given, roles), count, devices)
    if log or normalize:
        free = [pattern.num_nodes - (per == "node") for pattern, held in zip(given, roles, strict=True) for _ in held]
        values = _as_features(values, source.graphs.n[source.graph][:, None], free, log, normalize)
    return Features(tuple(role.name for held in roles for role in held), values, per, source.graph)


def dense_homomorphism_counts(
    graph: Graph, patterns: Sequence[PatternLike], *, per: Per = "graph", max_degree: int | None = None
) -> Int64:
    """Count homomorphisms in a small graph as :func:`homomorphism_counts` does, inside a user's ``jit``.

    The function is pure: jit it, and vmap it over a stacked batch. Sizes, patterns and options are static.

    Args:
      graph: directed or not, with room for N nodes.
      patterns: names or small graphs without labels, directed if and only if the graph is.
      per: ``"graph"`` or ``"node"``.
      max_degree: as for :func:`jaxmotif.graphlets.dense_node_orbits`. It allows unions of many graphs whose nodes have
        few neighbours, and connected patterns of up to five nodes. Counts that are not known are negative.

    Returns:
      Exact 64-bit counts ``[F]``, or ``[N, F]`` with zeros in rows of padding. Connected undirected patterns of up to
      five nodes are counted by orbits, if N is at most 128 or ``max_degree`` is given. The count of any other pattern
      is -1 if it is 2^53 or more; :func:`homomorphism_counts` returns such counts.

    Raises:
      ValueError: when traced, for a pattern that needs a table of more than 2^28 numbers, or has labels.

    Example:
      >>> count = jax.jit(lambda graph: dense_homomorphism_counts(graph, ["triangle", "6-cycle"]))
      >>> count(Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])).to_numpy().tolist()
      [6, 116]
    """
    check_per(per, "graph", "node")
    given = listed_patterns(patterns, graph.directed)
    if any(pattern.directed != graph.directed for pattern in given):
        raise ValueError("patterns must be directed if and only if the graph is")
    roles = all_roles(given, patterns, per)
    weights = _weights(given, roles)
    if max_degree is None and graph.node_capacity > MAX_DENSE_NODES_5:
        weights = [[] for _ in given]
    rest = [i for i, found in enumerate(weights) if not found]
    plans = _plans([given[i] for i in rest], [roles[i] for i in rest])
    if plans:
        refuse_large(graph, int(MOST_CELLS**0.5), "a pattern that is no sum of orbits", "homomorphism_counts")
        check_axes(graph.node_capacity, plans)
    known = [w for found in weights for w in found]
    size, table = weight_table(known, per)
    order = order_columns(weights, roles, [len(held) for held in roles])
    return _columns(graph, table, order, size=size, per=per, max_degree=max_degree, plans=plans)


@partial(jit64, static_argnames=("size", "per", "max_degree", "plans"))
def _columns(
    graph: Graph,
    table: jax.Array,
    order: jax.Array,
    *,
    size: Literal[4, 5],
    per: Per,
    max_degree: int | None,
    plans: tuple[Contraction, ...],
) -> Int64:
    """Count by sums of orbits and by tables, and put the columns in the order that was asked for."""
    found = []
    if table.shape[1] or not plans:
        found.append(sum_orbits(graph, table, size, per, max_degree))
    if plans:
        counts = _contract(graph, plans)
        found.append(jnp.where(counts < EXACT, counts, -1).astype(jnp.int64))
    return Int64.of(jnp.concatenate(found, axis=-1)[..., order])


def spasm(*patterns: PatternLike) -> list[str]:
    """Return all homomorphic images of some undirected patterns: names, or strings of unnamed classes.

    An image is made by merging nodes that are not adjacent. The number of subgraphs that look like a pattern is a
    weighted sum of the homomorphism counts of its images, which are therefore a basis for learning.
    ``spasm("7-cycle", "8-cycle")`` returns the patterns of MoSE for molecules.

    Args:
      patterns: connected or not, of at most 8 nodes, without labels.

    Returns:
      Each image once, the largest first.

    Raises:
      TypeError, ValueError: for an argument that is no such pattern.

    Example:
      >>> spasm("5-cycle"), len(spasm("7-cycle", "8-cycle"))
      (['5-cycle', 'tailed-triangle', 'triangle'], 43)

    References:
      Jin et al., "Homomorphism counts for graph neural networks: all about that basis", ICML 2024. Curticapean, Dell &
      Marx, "Homomorphisms are a good basis for counting small subgraphs", STOC 2017.
    """
    given = [as_pattern(pattern, Graph.from_edges([(0, 1)]), largest=8, name="pattern") for pattern in patterns]
    _refuse_labels(given)
    images: dict[str, Pattern] = {}
    for pattern in given:
        edges = [(int(u), int(v)) for u, v in np.argwhere(np.triu(pattern.adjacency))]
        for size, merged in {(size, tuple(image)) for _, size, image in quotients(pattern.num_nodes, edges)}:
            image = Pattern.from_edges(merged, size)
            images[canonical_string(image)] = image
    order = sorted(images, key=lambda text: (-images[text].num_nodes, -int(images[text].adjacency.sum()), text))
    return [short_name(text, directed=False) for text in order]


def _weights(patterns: list[Pattern], roles: list[list[Role]]) -> list[list[OrbitWeights]]:
    """Return the weights of each pattern's columns over orbits, or an empty list where there are none."""
    _refuse_labels(patterns)
    return known_weights(patterns, roles, "homs")


def _refuse_labels(patterns: list[Pattern]) -> None:
    """Raise ValueError for patterns with labels."""
    if any(p.node_labels is not None or p.edge_labels is not None for p in patterns):
        raise ValueError("homomorphisms are counted of patterns without labels; pattern_features takes labels")


def _plans(patterns: list[Pattern], roles: list[list[Role]]) -> tuple[Contraction, ...]:
    """Return how each column is counted."""
    plans: list[Contraction] = []
    for pattern, held in zip(patterns, roles, strict=True):
        edges = tuple(map(tuple, np.argwhere(pattern.adjacency).tolist()))
        plans += [plan_contraction(pattern.num_nodes, pattern.directed, edges, *role.places[0]) for role in held]
    return tuple(plans)


def _as_features(values: np.ndarray, nodes: np.ndarray, free: list[int], log: bool, normalize: Normalize) -> np.ndarray:
    """Return counts as features, float64.

    If counts are too large for floats, they are divided, or their logarithms are taken, as whole numbers.

    Args:
      values: the counts, integers ``[rows, columns]``.
      nodes: the number of nodes of each row's graph, integers ``[rows, 1]``.
      free: for each column, the number of pattern nodes that may be mapped to any node.
      log, normalize: as for :func:`homomorphism_counts`.
    """
    if values.dtype != object:
        with np.errstate(over="ignore"):  # if there are more maps than a float holds, a count of 64 bits has density 0
            maps = nodes.astype(np.float64) ** free
        return scaled(values.astype(np.float64), lambda: maps, log, normalize)
    return scaled(values, lambda: nodes.astype(object) ** np.array(free, object), log, normalize)


@lru_cache(maxsize=2**14)
def plan_contraction(
    nodes: int, directed: bool, edges: tuple[tuple[int, int], ...], root: int | None = None
) -> Contraction:
    """Choose the steps that sum out all nodes of a pattern but the root.

    Example:
      >>> plan_contraction(3, False, ((0, 1), (1, 0), (1, 2), (2, 1)), 0)  # a path: its far end first
      Contraction(scopes=((0, 1), (1, 2), (1,), (0,)), steps=((1,), (0, 2)))
    """
    scopes: list[tuple[int, ...]] = [edge for edge in edges if directed or edge[0] < edge[1]]
    scopes += [(x,) for x in range(nodes) if all(x not in edge for edge in edges)]
    live, steps, left = list(range(len(scopes))), [], set(range(nodes)) - {root}
    near = {x: {y for scope in scopes if x in scope for y in scope} for x in range(nodes)}

    def multiply(tables: list[int], without: int | None) -> int:
        """Multiply tables, first those whose product is smallest, and sum out a node with the last."""
        while len(tables) > 1 or without is not None:
            # Two of all tables over the same nodes are enough to choose from; in a large star there may be hundreds.
            over = defaultdict[tuple[int, ...], list[int]](list)
            for i in tables:
                over[scopes[i]].append(i)
            some = sorted(i for alike in over.values() for i in alike[:2])
            two = min(combinations(some, min(2, len(some))), key=lambda pair: len({y for i in pair for y in scopes[i]}))
            tables = [i for i in tables if i not in two]
            scope = {y for i in two for y in scopes[i]}
            if not tables:
                scope, without = scope - {without}, None
            tables.append(len(scopes))
            scopes.append(tuple(sorted(scope)))
            steps.append(two)
        return tables[0]

    while left:
        x = min(left, key=lambda x: (len(near[x]), x))
        left.remove(x)
        others = near.pop(x) - {x}
        for y in others:
            near[y] = near[y] - {x} | others
        own = [i for i in live if x in scopes[i]]
        live = [i for i in live if x not in scopes[i]]
        live.append(multiply(own, x))
    multiply(live, None)
    return Contraction(tuple(scopes), tuple(steps))


def _contract(graph: Graph, plans: tuple[Contraction, ...], modulus: jax.Array | None = None) -> jax.Array:
    """Count by tables, or count modulo a number.

    All terms are whole numbers, and none is negative. So the numbers on the way to a count below 2^53 are below 2^53
    too, and none of them is rounded. A larger count may be rounded, but not to a number below 2^53.

    Returns:
      float64 ``[columns]``, or with roots ``[N, columns]``.
    """
    N, S = graph.node_capacity, graph.slot_capacity
    starts, nodes = jnp.asarray(graph.out_offsets), jnp.arange(N, dtype=jnp.int32)
    tail = jnp.repeat(nodes, jnp.diff(starts), total_repeat_length=S)
    head = jnp.where(jnp.arange(S, dtype=jnp.int32) < starts[N], jnp.asarray(graph.out_targets), N)
    near = jnp.zeros((N, N), jnp.float64).at[tail, head].set(1, mode="drop")
    real = (nodes < graph.num_nodes).astype(jnp.float64)
    given = ([near if len(scope) == 2 else real for scope in plan.scopes[: plan.given]] for plan in plans)
    return jnp.stack([contract(plan, tables, modulus) for plan, tables in zip(plans, given, strict=True)], axis=-1)


def contract(plan: Contraction, tables: list[jax.Array], modulus: jax.Array | None = None) -> jax.Array:
    """Return the last table of a plan, computed from the given tables; with a modulus, the residues of its numbers.

    Steps that do the same to the same tables, as most do for a star or a path, are traced once.
    """
    made: dict[tuple[tuple[int, ...], ...], jax.Array] = {}
    for step in plan.steps:
        axes: dict[int, int] = {}
        scopes = [plan.scopes[i] for i in (*step, len(tables))]
        named = [tuple(axes.setdefault(node, len(axes)) for node in scope) for scope in scopes]
        what = (tuple(id(tables[i]) for i in step), *named)
        if what not in made:
            table = _multiply([tables[i] for i in step], *named)
            made[what] = table if modulus is None else lax.rem(table, modulus.astype(table.dtype))
        tables = [*tables, made[what]]
    return tables[-1]


def _multiply(tables: list[jax.Array], *scopes: tuple[int, ...]) -> jax.Array:
    """Multiply one table or two, and sum over the axes that the result does not have.

    Args:
      tables: the tables.
      scopes: names of the axes of each table, and last those of the result.
    """
    left, wanted = scopes[0], scopes[-1]
    if len(tables) == 1:
        return tables[0].sum([left.index(x) for x in left if x not in wanted])
    (first, second), right = tables, scopes[1]
    both = [x for x in left if x in right]

    def places(names: list[int]) -> tuple[list[int], list[int]]:
        return [left.index(x) for x in names], [right.index(x) for x in names]

    summed, kept = [x for x in both if x not in wanted], [x for x in both if x in wanted]
    # jnp.einsum names the type of its result, and vmap over a user's own jit cuts that to 32 bits.
    table = lax.dot_general(first, second, (places(summed), places(kept)), precision=lax.Precision.HIGHEST)
    axes = kept + [x for x in (*left, *right) if x not in both]
    return table.transpose([axes.index(x) for x in wanted])


@partial(jit64, static_argnames="plans")
def _stack(batch: Graph, modulus: jax.Array | None, *, plans: tuple[Contraction, ...]) -> tuple[jax.Array, jax.Array]:
    """Return counts in each graph of a stack, int64 ``[rows, plans]``, at most 2^53; and the largest, as a float.

    Numbers too large for floats become infinite on the way, and then perhaps NaN. Such counts are taken for infinite.
    """
    counts = jax.vmap(lambda graph: _contract(graph, plans, modulus))(batch)
    counts = jnp.where(jnp.isnan(counts), jnp.inf, counts)
    return jnp.minimum(counts, EXACT).astype(jnp.int64).reshape(-1, len(plans)), counts.max(initial=0)


def check_axes(nodes: int, plans: Sequence[Contraction]) -> None:
    """Raise ValueError where a plan needs too large a table in a graph of some number of nodes."""
    for plan in plans:
        if nodes**plan.axes > MOST_CELLS:
            raise ValueError(
                f"a pattern needs a table of n^{plan.axes} numbers, at most 2^28, and a graph has {nodes} nodes; only "
                "connected undirected patterns of up to five nodes are counted without (in jit with max_degree=)"
            )


def _count_by_tables(source: Source, plans: tuple[Contraction, ...], devices: Devices) -> np.ndarray:
    """Return a column for each plan, integers ``[rows, plans]``."""
    graphs = source.graphs
    check_axes(int(graphs.n.max()), plans)
    axes, device = max(plan.axes for plan in plans), select_devices(devices).local[0]
    cells = CELLS_TOGETHER["accelerator" if target_of(device).is_accelerator else "cpu"]

    def count(which: np.ndarray, modulus: int | None) -> tuple[np.ndarray, float]:
        """Return the rows of some graphs, int64, at most 2^53; and the largest number, as a float."""
        starts = np.cumsum(source.rows[which]) - source.rows[which]
        place = np.zeros(len(graphs), np.int64)
        place[which] = starts
        values, most = np.zeros((int(source.rows[which].sum()), len(plans)), np.int64), 0.0

        def begun() -> Iterator[tuple[np.ndarray, int, Fetch, jax.Array]]:
            for group in size_groups(graphs, which, lambda nodes, _: len(plans) * float(nodes) ** (axes + 1) / 8):
                width, room = group.nodes if source.per == "node" else 1, max(cells // group.nodes**axes, 1)
                for some, batch in group.stacks(graphs, room * group.slots):
                    given = jax.device_put((batch, None if modulus is None else np.int32(modulus)), device)
                    found, largest = _stack(*given, plans=plans)
                    yield some, width, Fetch.begin(found, some.size * width), largest

        for some, width, found, largest in look_ahead(begun(), 2):
            rows = row_numbers(np.arange(some.size) * width, source.rows[some])
            values[row_numbers(place[some], source.rows[some])] = found.wait()[0][rows]
            most = max(most, float(largest))
        return values, most

    values, most = count(np.arange(len(graphs)), None)
    if most < EXACT:
        return values
    large = np.unique(source.graph[(values >= EXACT).any(axis=1)])
    if most == float("inf"):  # then the number of all maps of a pattern's nodes bounds the counts
        most = int(graphs.n.max()) ** max(len(set().union(*plan.scopes)) for plan in plans)
    exact, rows = values.astype(object), np.isin(source.graph, large)
    exact[rows] = _join_residues(lambda prime: count(large, prime)[0], most)
    return exact


def _join_residues(residues: Callable[[int], np.ndarray], most: float) -> np.ndarray:
    """Return the whole numbers that have given residues, as Python integers, by Garner's algorithm.

    Args:
      residues: returns residues modulo a prime, int64 arrays.
      most: the largest number, as floats have it, or a whole number that none exceeds.
    """
    found, product = np.zeros((), object), 1
    for prime in _primes():
        rest = residues(prime).astype(object)
        found = found + product * ((rest - found) * pow(product, -1, prime) % prime)
        product *= prime
        if product > 2 * most:
            return found
    raise OverflowError("a count may have more than 750,000 bits, which are too many to compute")


def _primes() -> Iterator[int]:
    """Yield the primes below :data:`MODULUS`, the largest first."""
    return (p for p in range(MODULUS - 1, 2, -2) if all(p % q for q in range(3, int(MODULUS**0.5) + 1, 2)))
