"""Counts of small queries in small targets, thousands at a time, by pure functions for ``jax.jit`` and ``jax.vmap``.

The target is held as a few bit matrices. The target nodes that a query node may map to, given the nodes mapped before
it, are the AND of some of their rows. A fixed number of lanes search depth first. Each lane has one partial match and,
for each level, a set of bits: the target nodes that are not tried yet. A step takes the lowest bit of the deepest level
that has one, and fills the next level; the bits of the last level are only counted. A lane without bits takes one from
the shallowest level of another lane. So memory is fixed whatever the input, and no table can overflow. Query, target
and labels are data, so that others of the same padded sizes compile nothing.

Where it is asked how often nodes or edges take each part, the last level is searched too, and every match adds one for
each of its nodes or edges.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._bits import bit_of, pack_bits
from jaxmotif.arrays._checks import check_labels, check_switch, whole_number
from jaxmotif.arrays._int64 import Int64
from jaxmotif.graph._container import Graph
from jaxmotif.kernels._expand import take
from jaxmotif.matching._target import slot_sources

if TYPE_CHECKING:
    from jax.typing import ArrayLike

MAX_DENSE_QUERY = 64
"""Largest node capacity of a query."""

MAX_DENSE_TARGET = 4096
"""Largest node capacity of a target."""

MAX_MATRIX_WORDS = 2**28
"""Words of the target's bit matrices: one for each direction and, with edge labels, for each slot of the query."""

ALL = np.uint32(2**32 - 1)
SWEEPS = 2


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class DenseCount:
    """The number of matches of a query, as a pytree.

    Attributes:
      count: 64-bit :class:`~jaxmotif.arrays._int64.Int64`, the matches found: a scalar, or a matrix with a row for each
        node (or edge) of the target and a column for each part of the query.
      exact: bool scalar, whether these are all; False if ``max_steps`` ended the search.
      steps: int32 scalar, the steps taken.
    """

    count: Int64
    exact: Any
    steps: Any


class _Rules(NamedTuple):
    """The conditions on the images of query nodes, which are numbered by their positions in the order.

    Attributes:
      which: int32 ``[D, K, K]``. Entry (i, j) of a direction is the number of a matrix: its row for the image of j has
        the nodes that i may map to. The entry is -1 where the query has no edge between j and i in this direction.
      matrices: uint32 ``[Q, N, W]``, bit matrices. The first D are plain adjacency, one for each direction.
      domains: uint32 ``[K, W]``, the target nodes that each query node may map to.
      size: int32 scalar, the number of query nodes.
      below: bool ``[K, K]``, whether the image of i must have a lower number than that of j; ``None`` if no such
        condition is asked for.
      places: int32 ``[P, 1]`` or ``[P, 2]``, the positions of the query nodes, or of the ends of the query edges, whose
        images are added up; ``None`` if none are.
      parts: int32 ``[P]``, the part to which each place is added, past the last part for a place that is not added up;
        ``None`` as for ``places``.
    """

    which: Any
    matrices: Any
    domains: Any
    size: Any
    below: Any = None
    places: Any = None
    parts: Any = None


class _Search(NamedTuple):
    """The state of a search of B lanes.

    Attributes:
      images: int32 ``[B, K]``, the image of each query node in each lane.
      bits: uint32 ``[B, K, W]``, the target nodes that are not tried yet at each level.
      counts: int64 ``[B]``, the matches that each lane has found.
      tally: integers ``[parts, cells]``, how often each node, or slot, takes each part, over all lanes; or ``None``.
      steps: the steps taken.
    """

    images: Any
    bits: Any
    counts: Any
    tally: Any
    steps: Any


def dense_match_count(
    query: Graph,
    target: Graph,
    *,
    induced: bool = False,
    wildcard: ArrayLike | None = None,
    lanes: int = 32,
    max_steps: int = 2**20,
) -> DenseCount:
    """Count the injective maps from a small query to a small target that preserve its edges (and labels).

    The function is pure. It may be jitted, and vmapped over stacked queries, stacked targets or both
    (:func:`jaxmotif.graph.stack_graphs`). What is compiled depends on padded sizes and static options alone. Every step
    costs O(lanes K^2 W) words of work.

    Args:
      query: the graph to look for, connected or not, directed if and only if the target is; its node capacity ``K`` is
        at most :data:`MAX_DENSE_QUERY`. If it has labels, they must equal those of the target. A query of 0 nodes
        matches once.
      target: the graph to search; its node capacity ``N`` is at most :data:`MAX_DENSE_TARGET`, and
        ``W = ceil(N / 32)``.
      induced: static; whether non-edges must be preserved too (for directed graphs, each missing arc).
      wildcard: int32 scalar, a label that stands, on a query node or edge, for any label of the target; or ``None``.
      lanes: static; how many partial matches a step extends. Few suit large batches, many a single large search.
      max_steps: static; the most steps of the search. ``exact`` is False if it would have taken more.

    Returns:
      The count, whether it is exact, and the steps taken.

    Raises:
      ValueError: while tracing, for a query and a target of which only one is directed, for a query with labels that
        the target lacks, for a wildcard that is no scalar or does not fit int32, for capacities over the limits, or
        for a batch outside ``jax.vmap``.
      TypeError: while tracing, for a wildcard or a limit that is no integer, or an ``induced`` that is not True or
        False.

    Example:
      >>> import jax
      >>> from jaxmotif.graph import Graph, stack_graphs
      >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
      >>> queries = stack_graphs([Graph.from_edges(edges) for edges in (path, triangle)])
      >>> house = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
      >>> found = jax.jit(jax.vmap(dense_match_count, in_axes=(0, None)))(queries, house)
      >>> found.count.to_numpy().tolist(), found.exact.tolist()
      ([18, 6], [True, True])

    Reference:
      Ullmann: An algorithm for subgraph isomorphism, JACM 1976 (bit-parallel refinement and search).
    """
    found = search_dense(query, target, induced=induced, wildcard=wildcard, lanes=lanes, max_steps=max_steps)
    return DenseCount(Int64.of(found.values), found.exact, found.steps)


def dense_participation(
    query: Graph,
    target: Graph,
    *,
    of: Literal["node", "edge"] = "node",
    induced: bool = False,
    wildcard: ArrayLike | None = None,
    lanes: int = 32,
    max_steps: int = 2**20,
) -> DenseCount:
    """Count in how many matches each node, or edge, of a small target takes each part of a small query.

    The function is pure, and the other arguments are those of :func:`dense_match_count`. The one match of a query of 0
    nodes has no parts, and is not counted anywhere.

    Args:
      of: static, whether parts are query nodes, taken by nodes, or query edges, taken by edges.

    Returns:
      A result as of :func:`dense_match_count`. Its counts are ``[N, K]``, by target node and query node; or, for edges,
      ``[S / 2, S' / 2]`` (directed: ``[S, S']``) by edge of the target and of the query, both in the order of
      ``Graph.edge_list()``. Padding holds zeros. The counts are those of
      :func:`jaxmotif.matching.participation_counts`.

    Raises:
      ValueError, TypeError: as :func:`dense_match_count`; or for another value of ``of``.

    Example:
      >>> import jax
      >>> path, star = Graph.from_edges([(0, 1), (1, 2)]), Graph.from_edges([(0, 1), (0, 2), (0, 3)])
      >>> found = jax.jit(dense_participation)(path, star)
      >>> found.count.to_numpy()[:4, :3].tolist()
      [[0, 6, 0], [2, 0, 2], [2, 0, 2], [2, 0, 2]]
    """
    if of not in ("node", "edge"):
        raise ValueError(f"of must be 'node' or 'edge', got {of!r}")
    each = query.node_capacity if of == "node" else query.slot_capacity // (1 if query.directed else 2)
    tally = Tallied(of, np.arange(each, dtype=np.int32), each)
    found = search_dense(query, target, tally, induced=induced, wildcard=wildcard, lanes=lanes, max_steps=max_steps)
    return DenseCount(Int64.of(found.values), found.exact, found.steps)


class Tallied(NamedTuple):
    """The parts of a query by which matches are added up.

    Attributes:
      of: whether the parts are nodes or edges of the query.
      parts: int32, the number of the column to which each node or edge of the query is added; ``number`` for none.
      number: the number of columns.
    """

    of: Literal["node", "edge"]
    parts: ArrayLike
    number: int


class Found(NamedTuple):
    """The result of a search.

    Attributes:
      values: integers, a scalar or ``[nodes or edges, parts]``: the matches found.
      exact: whether these are all.
      steps: the steps taken.
    """

    values: jax.Array
    exact: jax.Array
    steps: jax.Array


def search_dense(
    query: Graph,
    target: Graph,
    tallied: Tallied | None = None,
    below: ArrayLike | None = None,
    *,
    induced: bool,
    wildcard: ArrayLike | None,
    lanes: int,
    max_steps: int,
) -> Found:
    """Search for :func:`dense_match_count` and :func:`dense_participation`, in JAX's 64-bit mode or outside.

    Args:
      query, target, induced, wildcard, lanes, max_steps: as for :func:`dense_match_count`.
      tallied: the parts by which matches are added up; ``None`` for the number of matches.
      below: bool ``[K, K]``, for which query nodes i and j the image of i must have the lower number; ``None`` for
        none.
    """
    _check(query, target, wildcard)
    check_switch(induced, "induced")
    max_steps = min(whole_number(max_steps, "max_steps"), np.iinfo(np.int32).max)  # steps are counted in int32
    lanes = whole_number(lanes, "lanes", least=1)
    query, target = jax.tree.map(jnp.asarray, (query, target))
    with jax.enable_x64(True):
        # Domains first, since the order goes by their sizes; both are data, so that one program serves every query.
        rules = _rules(query, target, wildcard)._replace(below=None if below is None else jnp.asarray(below))
        if tallied is not None:
            places = _places(query, tallied.of)
            # Padding takes no part.
            parts = jnp.where(places[:, 0] < query.num_nodes, jnp.asarray(tallied.parts), tallied.number)
            rules = rules._replace(places=places, parts=parts)
        rules = _reorder(_refine(rules))
        tally, add = None, None
        if tallied is not None:
            # A step adds at most one for each lane and place.
            narrow = lanes * max_steps * max(rules.places.shape[0], 1) < 2**31
            cells = target.node_capacity if tallied.of == "node" else target.slot_capacity
            tally = jnp.zeros((tallied.number, cells), jnp.int32 if narrow else jnp.int64)
            add = partial(_add, rules, None if tallied.of == "node" else target)
        state = lax.while_loop(
            lambda state: (state.bits != 0).any() & (state.steps < max_steps),
            lambda state: _step(rules, _share(state), induced, add),
            _begin(rules, lanes, tally),
        )
        exact = ~(state.bits != 0).any()
        if tallied is not None:
            values = state.tally.T if tallied.of == "node" else _by_edge(target, state.tally)
            return Found(values, exact, state.steps)
        # The last level is only counted, so that a query of one node, or none, never searches.
        only = _ones(rules.domains[0]).sum(dtype=jnp.int64)
        small = jnp.where(rules.size == 1, only, (rules.size == 0).astype(jnp.int64))
        return Found(state.counts.sum() + small, exact, state.steps)


def _check(query: Graph, target: Graph, wildcard: ArrayLike | None) -> None:
    for name, graph, most in (("query", query, MAX_DENSE_QUERY), ("target", target, MAX_DENSE_TARGET)):
        if np.ndim(graph.num_nodes) != 0:
            raise ValueError(f"the {name} is a batch of {np.shape(graph.num_nodes)[0]} graphs; use jax.vmap")
        if graph.node_capacity > most:
            raise ValueError(
                f"dense_match_count takes a {name} of up to {most} nodes, got room for {graph.node_capacity}; pad "
                "less, or use jaxmotif.count_matches outside jit"
            )
    if query.directed != target.directed:
        raise ValueError(f"query.directed is {query.directed} and target.directed {target.directed}; build both alike")
    for name in ("node_labels", "edge_labels"):
        if getattr(query, name) is not None and getattr(target, name) is None:
            raise ValueError(f"the query has {name} and the target has none; leave them out of the query")
    if wildcard is not None:
        if np.ndim(wildcard) != 0:
            raise ValueError(f"wildcard must be one label, got shape {np.shape(wildcard)}")
        if not jnp.issubdtype(getattr(wildcard, "dtype", type(wildcard)), np.integer):
            raise TypeError(f"wildcard must be an integer, got {wildcard!r}")
        if isinstance(wildcard, int | np.integer):  # a number of JAX may be traced
            check_labels(wildcard, "wildcard")
    directions = 1 + query.directed
    matrices = directions * (1 + (query.edge_labels is not None) * query.slot_capacity)
    words = matrices * target.node_capacity * -(-target.node_capacity // 32)
    if words > MAX_MATRIX_WORDS:
        raise ValueError(
            f"{matrices} bit matrices of {target.node_capacity} nodes take {words} words, over the limit of "
            f"{MAX_MATRIX_WORDS}; pad the query to fewer slots, or use jaxmotif.count_matches outside jit"
        )


def _rules(query: Graph, target: Graph, wildcard: ArrayLike | None) -> _Rules:
    """Return the bit matrices, the one that each pair of query nodes asks for, and domains by label and degree."""
    N, K, S = target.node_capacity, query.node_capacity, query.slot_capacity
    sources, heads = slot_sources(target), target.out_targets
    real = heads < N
    ends = [(sources, heads), (heads, sources)][: 1 + target.directed]
    plain = jnp.stack([_matrix(N, u, v, real) for u, v in ends])
    tails, tips = slot_sources(query), query.out_targets
    there = tips < K
    # Without edge labels all slots of a direction share its matrix.
    numbers = jnp.zeros((1 + query.directed, S), jnp.int32) + jnp.arange(1 + query.directed, dtype=jnp.int32)[:, None]
    if query.edge_labels is not None:
        fits = target.edge_labels[None] == query.edge_labels[:, None]
        if wildcard is not None:
            fits |= (query.edge_labels == wildcard)[:, None]
        labelled = [jax.vmap(partial(_matrix, N, u, v))(fits & real[None]) for u, v in ends]
        plain = jnp.concatenate([plain, *labelled])
        numbers = len(ends) + jnp.arange(len(ends) * S, dtype=jnp.int32).reshape(len(ends), S)
    # Padding slots go to the row and column past the last.
    which = jnp.full((len(ends), K + 1, K + 1), -1, jnp.int32)
    tails, tips = jnp.where(there, tails, K), jnp.where(there, tips, K)
    for d, (i, j) in enumerate([(tips, tails), (tails, tips)][: len(ends)]):
        # Rows of direction 0 are of tails, those of direction 1 of heads.
        which = which.at[d, i, j].set(numbers[d])
    keep = (jnp.arange(K, dtype=jnp.int32) < query.num_nodes)[:, None]
    keep &= (jnp.arange(N, dtype=jnp.int32) < target.num_nodes)[None]
    for name in ("out_offsets", "in_offsets")[: len(ends)]:
        asked, had = (jnp.diff(getattr(graph, name)) for graph in (query, target))
        keep &= had[None] >= asked[:, None]
    if query.node_labels is not None:
        fits = target.node_labels[None] == query.node_labels[:, None]
        if wildcard is not None:
            fits |= (query.node_labels == wildcard)[:, None]
        keep &= fits
    return _Rules(which[:, :K, :K], plain, pack_bits(keep), query.num_nodes)


def _places(query: Graph, of: str) -> jax.Array:
    """Return the nodes of a query, int32 ``[K, 1]``, or the ends of its edges, ``[E, 2]``; padding has the number K."""
    K, S = query.node_capacity, query.slot_capacity
    if of == "node":
        return jnp.arange(K, dtype=jnp.int32)[:, None]
    ends = jnp.stack([slot_sources(query), query.out_targets], axis=1)
    places = jnp.full((S if query.directed else S // 2, 2), K, jnp.int32)
    return places.at[_edge_rows(query)].set(ends, mode="drop")


def _refine(rules: _Rules) -> _Rules:
    """Drop v from the domain of j unless, for every i that the image of j restricts, image v leaves i a candidate."""
    K = rules.which.shape[-1]

    def look(number, domains):
        i = number % K
        for which in rules.which:
            rows = take(rules.matrices, jnp.maximum(which[i], 0))
            some = (rows & domains[i][None, None]).any(axis=-1)
            # Where nothing is asked of i, all of i's candidates will do.
            domains &= pack_bits(some | (which[i] < 0)[:, None])
        return domains

    # Nodes are looked at in turn, so that each sees what the others dropped. A few sweeps are enough, since the search
    # itself finds the rest.
    return rules._replace(domains=lax.fori_loop(0, SWEEPS * K, look, rules.domains))


def _reorder(rules: _Rules) -> _Rules:
    """Put the query nodes into the order of the search.

    The node of smallest domain comes first, and then always the one that those before it restrict most. Ties go to the
    smaller domain.
    """
    K, N = rules.which.shape[-1], rules.matrices.shape[1]
    sizes = _ones(rules.domains).sum(axis=-1, dtype=jnp.int32)
    joined = (rules.which >= 0).sum(axis=0, dtype=jnp.int32)
    real = jnp.arange(K, dtype=jnp.int32) < rules.size

    def place(number, state):
        order, placed = state
        # The most joined first, ties by the smallest domain: sizes are at most N.
        key = (joined * placed[None]).sum(axis=1, dtype=jnp.int32) * (N + 1) + N - sizes
        key = jnp.where(placed > 0, -2, jnp.where(real, key, -1))  # padding comes last
        v = lax.argmax(key, 0, jnp.int32)
        return order.at[number].set(v), placed.at[v].set(1)

    order, _ = lax.fori_loop(0, K, place, (jnp.zeros(K, jnp.int32), jnp.zeros(K, jnp.int32)))
    # Rules and domains in the new order: position i is now node i.
    which = rules.which[:, order][:, :, order]
    below = None if rules.below is None else rules.below[order][:, order]
    places = rules.places
    if places is not None:
        position = jnp.full(K + 1, K, jnp.int32).at[order].set(jnp.arange(K, dtype=jnp.int32))
        places = position[places]
    return rules._replace(which=which, domains=rules.domains[order], below=below, places=places)


def _begin(rules: _Rules, lanes: int, tally: jax.Array | None) -> _Search:
    """Return the state of a search that has not begun: the domain of the first node is dealt out to the lanes."""
    K, W = rules.domains.shape
    node = jnp.arange(32 * W, dtype=jnp.int32)
    # Dealt out in turn, so that lanes begin with about equally many.
    mine = pack_bits(node[None] % lanes == jnp.arange(lanes, dtype=jnp.int32)[:, None])
    first = jnp.where(rules.size > (1 if tally is None else 0), mine & rules.domains[:1], jnp.uint32(0))
    bits = jnp.zeros((lanes, K, W), jnp.uint32).at[:, 0].set(first)
    return _Search(jnp.zeros((lanes, K), jnp.int32), bits, jnp.zeros(lanes, jnp.int64), tally, jnp.int32(0))


def _step(
    rules: _Rules, state: _Search, induced: bool, add: Callable[[jax.Array, jax.Array, jax.Array], jax.Array] | None
) -> _Search:
    """Extend every lane's partial match by one node, at the deepest level that has one left.

    Args:
      add: adds the matches of some lanes to the tally, if there is one.
    """
    images, bits, counts, tally, steps = state
    K = images.shape[1]
    level = jnp.arange(K, dtype=jnp.int32)[None]
    # Deepest first: a lane holds one set of bits a level, and no more.
    at = jnp.where((bits != 0).any(axis=-1), level, -1).max(axis=1, keepdims=True)
    here, after = level == at, level == at + 1
    left = _at(bits, here)
    v, rest = _take_lowest(left)
    images = jnp.where(here, v[:, None], images)
    found = _allowed(rules, images, at[:, 0] + 1, induced)
    able = at >= 0
    if add is None:
        # At the level before the last all that is left is counted at once.
        last = at + 2 == rules.size
        counts += jnp.where((able & last)[:, 0], _ones(found).sum(axis=-1, dtype=jnp.int64), 0)
    else:
        last = at + 1 == rules.size
        tally = add(tally, images, (able & last)[:, 0])
    bits = jnp.where(here[:, :, None], rest[:, None], bits)
    bits = jnp.where((after & able & ~last)[:, :, None], found[:, None], bits)
    return _Search(images, bits, counts, tally, steps + 1)


def _add(rules: _Rules, target: Graph | None, tally: jax.Array, images: jax.Array, done: jax.Array) -> jax.Array:
    """Add one to the tally for the image of each place, in each lane that has a match.

    Args:
      rules: the places, and the part to which each is added.
      target: the target, if places are edges, whose images are slots; ``None`` if they are nodes.
      tally: integers ``[parts, cells]``.
      images: int32 ``[B, K]``, the image of each query node in each lane.
      done: bool ``[B]``, the lanes that have a match.
    """
    ends = jnp.pad(images, ((0, 0), (0, 1)))[:, rules.places]
    cells = ends[..., 0]
    if target is not None:
        u, v = cells, ends[..., 1]
        if not target.directed:
            u, v = jnp.minimum(u, v), jnp.maximum(u, v)
        # Rows ascend, so that the slots of u before the one of v are those of its neighbours lower than v.
        lower = _lower(v, rules.matrices.shape[2])
        cells = target.out_offsets[u] + _ones(rules.matrices[0][u] & lower).sum(axis=-1, dtype=jnp.int32)
    cells = jnp.where(done[:, None], cells, tally.shape[1])
    return tally.at[rules.parts[None], cells].add(1, mode="drop")


def _lower(v: jax.Array, W: int) -> jax.Array:
    """Return the bits of all numbers lower than v, uint32 ``[.., W]``."""
    word, mine = jnp.arange(W, dtype=jnp.int32), (v >> 5)[..., None]
    some = bit_of(v)[..., None] - jnp.uint32(1)
    word = word.reshape((1,) * v.ndim + (W,))
    return jnp.where(word < mine, ALL, jnp.where(word == mine, some, jnp.uint32(0)))


def _by_edge(target: Graph, tally: jax.Array) -> jax.Array:
    """Return the tally of slots as one of edges, integers ``[edges, parts]``."""
    edges = target.slot_capacity // (1 if target.directed else 2)
    return jnp.zeros((edges, tally.shape[0]), tally.dtype).at[_edge_rows(target)].set(tally.T, mode="drop")


def _edge_rows(graph: Graph) -> jax.Array:
    """Return the row of the edge list that each slot stands for, int32 ``[S]``.

    Padding slots, and the second of the two slots of an undirected edge, have a number past the last row.
    """
    first = graph.out_targets < graph.node_capacity
    if not graph.directed:
        first &= slot_sources(graph) < graph.out_targets
    return jnp.where(first, jnp.cumsum(first, dtype=jnp.int32) - 1, graph.slot_capacity)


def _allowed(rules: _Rules, images: jax.Array, at: jax.Array, induced: bool) -> jax.Array:
    """Bits of the nodes that the query node at position ``at`` may map to, uint32 ``[B, W]``."""
    K, W = rules.domains.shape
    at = jnp.minimum(at, K - 1)
    which = take(rules.which.swapaxes(0, 1), at)  # [B, D, K]
    direction = jnp.arange(which.shape[1], dtype=jnp.int32)[None, :, None]
    # Where no edge is asked for, the plain adjacency of the direction is read: if induced, its complement is asked for.
    rows = rules.matrices[jnp.where(which < 0, direction, which), images[:, None]]
    none = (which < 0)[..., None]
    rows = jnp.where(none, ~rows, rows) if induced else jnp.where(none, ALL, rows)
    rows = lax.reduce(rows, ALL, lax.bitwise_and, (1,))
    word = jnp.arange(W, dtype=jnp.int32)[None, None] == (images >> 5)[..., None]
    itself = jnp.where(word, bit_of(images)[..., None], jnp.uint32(0))
    if rules.below is not None:
        lower = _lower(images, W)
        rows &= jnp.where(take(rules.below, at)[..., None], lower, ALL)
        rows &= jnp.where(take(rules.below.T, at)[..., None], ~lower, ALL)
    # Positions from `at` on hold images of other branches.
    before = jnp.arange(K, dtype=jnp.int32)[None] < at[:, None]
    rows = jnp.where(before[..., None], rows & ~itself, ALL)
    return lax.reduce(rows, ALL, lax.bitwise_and, (1,)) & take(rules.domains, at)


def _share(state: _Search) -> _Search:
    """Give idle lanes work: each takes the lowest bit of the shallowest level of a lane that has more than one."""
    images, bits, counts, tally, steps = state
    level = jnp.arange(images.shape[1], dtype=jnp.int32)[None]
    sizes = _ones(bits).sum(axis=-1, dtype=jnp.int32)
    total = sizes.sum(axis=1, dtype=jnp.int32)
    idle, rich = total == 0, total > 1
    # The first that asks gets from the first that gives, and so on.
    asks, gives = jnp.cumsum(idle, dtype=jnp.int32), jnp.cumsum(rich, dtype=jnp.int32)
    pairs = idle[:, None] & rich[None] & (asks[:, None] == gives[None])  # [taker, giver]
    takes, gave = pairs.any(axis=1), pairs.any(axis=0)
    giver = lax.argmax(pairs, 1, jnp.int32)
    # The shallowest level: the largest part of the search goes to the idle lane.
    shallow = level == lax.argmax(sizes > 0, 1, jnp.int32)[:, None]
    top = _at(bits, shallow)
    _, rest = _take_lowest(top)
    bits = jnp.where((shallow & gave[:, None])[..., None], rest[:, None], bits)
    taken = take(jnp.where(shallow[..., None], (top ^ rest)[:, None], jnp.uint32(0)), giver)
    return _Search(
        # The images above the bit are the giver's.
        jnp.where(takes[:, None], take(images, giver), images),
        jnp.where(takes[:, None, None], taken, bits),
        counts,
        tally,
        steps,
    )


def _at(bits: jax.Array, where: jax.Array) -> jax.Array:
    """Return the words of one level, uint32 ``[B, W]``; 0 where there is none."""
    # At most one level is chosen, so that the sum is a choice.
    return jnp.where(where[..., None], bits, jnp.uint32(0)).sum(axis=1, dtype=jnp.uint32)


def _take_lowest(words: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Take the lowest bit out of each row of words.

    Args:
      words: uint32 ``[B, W]``.

    Returns:
      The number of each bit, int32 ``[B]``, 0 where a row has none; and the words without these bits.
    """
    index = lax.argmax(words != 0, words.ndim - 1, jnp.int32)
    word = jnp.take_along_axis(words, index[:, None], axis=-1)
    # Two's complement: the lowest bit that is set.
    low = word & -word
    # The bit less one has ones at all lower places, and there are as many of these as the number of the bit says.
    bit = _ones(low - jnp.uint32(1))[:, 0].astype(jnp.int32)
    first = jnp.arange(words.shape[-1], dtype=jnp.int32)[None] == index[:, None]
    return jnp.where(low[:, 0] == 0, 0, 32 * index + bit), jnp.where(first, words & ~low, words)


def _matrix(N: int, rows: jax.Array, columns: jax.Array, ok: jax.Array) -> jax.Array:
    """Return a matrix with a bit set at each (row, column) where ok, uint32 ``[N, W]``; no place may occur twice."""
    W = -(-N // 32)
    word = jnp.where(ok, rows * W + (columns >> 5), N * W)
    bit = jnp.where(ok, bit_of(columns), jnp.uint32(0))
    return jnp.zeros(N * W + 1, jnp.uint32).at[word].add(bit)[:-1].reshape(N, W)


def _ones(words: jax.Array) -> jax.Array:
    return lax.population_count(words).astype(jnp.int32)
