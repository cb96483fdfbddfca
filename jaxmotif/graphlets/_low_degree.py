"""Graphlets of graphs in which no node has more than a few neighbours, of any number of nodes, inside the user's jit.

A padded union of molecules has thousands of nodes, but each has at most ``D`` neighbours (4 to 8), so that a graph is a
table of neighbour lists ``[D, N]``. Whether two neighbours of a node are adjacent, and which neighbours they share, is
found by comparing lists; every sum of :mod:`jaxmotif.graphlets.five.equations` over the neighbourhood of a node is then
a product of matrices ``[D, D]``, one for each node. The work is ``D^4`` comparisons for each node, and another ``D^4``
for each edge to find 5-cycles. Nodes are the last axis of all arrays, along which a CPU or GPU vectorizes.

All sums are whole numbers of 32 bits, exact for any number of nodes: a connected graph of five nodes has at most
``D^4 <= 2^20`` maps that send one of its nodes to a given node, and at most ``2 D^3`` that send an edge to a given one.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._checks import whole_number
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._int64 import Int64
from jaxmotif.arrays._sums import product
from jaxmotif.graph._container import Graph, refuse_large
from jaxmotif.graphlets import _equations as four
from jaxmotif.graphlets.five.equations import Arcs, Nodes, Rims, Sums, all_homs, divided
from jaxmotif.patterns._orbits import NUM_ORBITS, Root, times24
from jaxmotif.patterns._totals import all_counts

MAX_DEGREE = 32
"""Largest ``max_degree``: a set of neighbours is a word of bits."""

_MOST_CELLS = 2**28
"""Largest number of nodes times ``max_degree`` cubed, the cells of the largest array."""

MOST_NODES = {4: 36_854, 5: 6_208}
"""Largest number of nodes of a graph for which :func:`jaxmotif.patterns._totals.all_counts` is exact in 64 bits."""


class _Lists(NamedTuple):
    """Lists of the neighbours of each node. One extra node, past the last, has no neighbours and stands for padding.

    Attributes:
      near: the neighbours, int32 ``[D, P]``; lists that are shorter are filled up with the extra node.
      beyond: the neighbours of the neighbours, int32 ``[D, D, P]``: ``beyond[k, i]`` is the k-th of the i-th.
      back: int32 ``[D, P]``, the place in ``near`` (flat) of each reversed arc.
      degree: int32 ``[P]``, true degrees, also where they are more than ``D``.
      unsure: bool ``[P]``, whether a node within ``size - 1`` steps has more than ``D`` neighbours.
      edges: int32 ``[2, E]``, the places in ``near`` (flat) of the two arcs of each edge, in the order of
        ``Graph.edge_list()``; padding is a place in the list of the extra node.
    """

    near: jax.Array
    beyond: jax.Array
    back: jax.Array
    degree: jax.Array
    unsure: jax.Array
    edges: jax.Array


def node_orbits(graph: Graph, max_degree: int, size: Literal[4, 5]) -> Int64:
    """Count the orbits at each node, ``[N, 15]`` or ``[N, 73]``; see :func:`jaxmotif.graphlets.dense_node_orbits`."""
    max_degree = whole_number(max_degree, "max_degree")
    lists = _lists(graph, max_degree, size)
    arcs, sums, _ = _sums(lists, edges=False)
    counts = _solve(all_homs(arcs, Nodes.of(arcs, lists.degree, sums), sums), "node", size)
    counts = _flagged(counts, lists.unsure[None], max_degree, lists.near.shape[1])
    return Int64.of(counts.T[: graph.node_capacity])


def edge_columns(graph: Graph, max_degree: int, size: Literal[4, 5]) -> Int64:
    """Count at each edge, ``[E, 17]`` or ``[E, 68]``; see :func:`jaxmotif.graphlets.dense_edge_columns`."""
    max_degree = whole_number(max_degree, "max_degree")
    lists = _lists(graph, max_degree, size)
    arcs, sums, rims = _sums(lists, edges=size == 5)
    first, second = lists.edges
    if rims is None:
        columns = _four_columns(graph, lists, arcs, sums)
    else:
        homs = all_homs(arcs, Nodes.of(arcs, lists.degree, sums), sums, rims)
        columns = _solve(homs, "edge", size)
    ends = lists.near.shape[1]
    unsure = lists.unsure[first % ends] | lists.unsure[second % ends]
    real = jnp.arange(len(first), dtype=jnp.int32) < graph.num_edges
    return Int64.of(jnp.where(real[None], _flagged(columns, unsure[None], max_degree, ends), 0).T)


def graphlet_counts(graph: Graph, max_degree: int, size: Literal[4, 5]) -> Int64:
    """Count in the graph, ``[17]`` or ``[51]``; see :func:`jaxmotif.graphlets.dense_graphlet_counts`."""
    return counts_of_orbits(graph.num_nodes, node_orbits(graph, max_degree, size).sum(axis=0))


@jit64
def counts_of_orbits(nodes: jax.Array, totals: Int64) -> Int64:
    """Count all graphlets in one graph or several.

    Args:
      nodes: the number of nodes of each graph, integers ``[..]``.
      totals: ``[.., 15]`` or ``[.., 73]``, the sums of the orbits over the nodes of each graph, negative if not known.

    Returns:
      ``[.., 17]`` or ``[.., 51]``, -1 in graphs where totals are not known, or counts could pass 64 bits.
    """
    sums, n = totals.int64.T, jnp.asarray(nodes, jnp.int64)
    size = 4 if len(sums) == NUM_ORBITS["node"][4] else 5
    unsure = (sums[0] < 0) | (n > MOST_NODES[size])
    return Int64.of(jnp.where(unsure[None], -1, all_counts(jnp, n, sums)).T)


def _lists(graph: Graph, max_degree: int, size: Literal[4, 5]) -> _Lists:
    """Turn the slots of a graph into lists."""
    if graph.directed:
        raise ValueError("graphlets are counted in undirected graphs, got a directed one; build it with directed=False")
    if not 1 <= max_degree <= MAX_DEGREE:
        raise ValueError(f"max_degree must be from 1 to {MAX_DEGREE}, got {max_degree}; None takes any degree")
    most = _MOST_CELLS // max_degree**3
    refuse_large(graph, most, f"max_degree={max_degree}", "a lower max_degree, or smaller batches")
    N, S, D = graph.node_capacity, graph.slot_capacity, max_degree
    starts = jnp.asarray(graph.out_offsets)
    targets, degree = jnp.asarray(graph.out_targets), jnp.pad(jnp.diff(starts), (0, 1))
    place = jnp.arange(D, dtype=jnp.int32)[:, None]
    near = jnp.where(place < degree[None], targets.at[starts[None] + place].get(mode="clip"), N)

    source = jnp.repeat(jnp.arange(N + 1, dtype=jnp.int32), degree, total_repeat_length=S)
    slot = jnp.arange(S, dtype=jnp.int32)
    source = jnp.where(slot < starts[N], source, N)
    flat = jnp.minimum(slot - starts[source], D - 1) * (N + 1) + source
    once = source < targets
    row = jnp.where(once, jnp.cumsum(once, dtype=jnp.int32) - 1, S // 2)
    first = jnp.full(S // 2, N, jnp.int32).at[row].set(flat, mode="drop")

    unsure = degree > D
    for _ in range(size - 1):
        unsure |= _take(unsure, near).any(axis=0)
    beyond = _take(near, near)
    itself = jnp.where(near < N, jnp.arange(N + 1, dtype=jnp.int32)[None], N + 1)
    slot_back = _sum(jnp.where(beyond == itself[None], place[:, None], 0))
    back = slot_back * (N + 1) + near
    return _Lists(near, beyond, back, degree, unsure, jnp.stack([first, _take(back.reshape(-1), first)]))


def _sum(values: jax.Array, axis: int = 0) -> jax.Array:
    return values.sum(axis=axis, dtype=jnp.int32)


def _take(values: jax.Array, places: jax.Array) -> jax.Array:
    """Return the values at some places along the last axis, all of which exist."""
    return values.at[..., places].get(mode="promise_in_bounds")


def _matmul(x: jax.Array, y: jax.Array) -> jax.Array:
    """Multiply matrices ``[D, D, P]``, one for each node."""
    return _sum(x[:, :, None] * y[None], axis=1)


def _times(matrix: jax.Array, x: jax.Array) -> jax.Array:
    """Multiply matrices ``[D, D, P]`` with vectors ``[D, P]``."""
    return _sum(matrix * x[None], axis=1)


def _bits(x: jax.Array) -> jax.Array:
    """Pack zeros and ones ``[D, ..]`` along their first axis, uint32 ``[..]``."""
    place = jnp.arange(len(x), dtype=jnp.uint32).reshape(-1, *[1] * (x.ndim - 1))
    return (x.astype(jnp.uint32) << place).sum(axis=0, dtype=jnp.uint32)


def _shared(x: jax.Array, y: jax.Array) -> jax.Array:
    """Count the bits that two words share, int32."""
    return lax.population_count(x & y).astype(jnp.int32)


def _arcs(lists: _Lists) -> Arcs:
    """Return arrays over arcs as ``[D, P]``, which are 0 where there is no arc."""
    near = lists.near
    real = (near < near.shape[1] - 1).astype(jnp.int32)
    first, second = lists.edges
    return Arcs(
        tail=lambda x: real * x[None],
        head=lambda x: real * _take(x, near),
        out=_sum,
        back=lambda x: _take(x.reshape(-1), lists.back),
        both=lambda x: _take(x.reshape(-1), first) + _take(x.reshape(-1), second),
    )


def _sums(lists: _Lists, edges: bool) -> tuple[Arcs, Sums, Rims | None]:
    """Compute the sums of the equations, int32 ``[D, P]``: the formulas of ``_dense.py`` around each node."""
    near, beyond, arcs = lists.near, lists.beyond, _arcs(lists)
    nobody = near.shape[1] - 1
    known = jnp.where(beyond < nobody, beyond, -1)  # padding is nobody's neighbour

    # In the neighbourhood of a node, A[i, j] says whether its i-th and j-th neighbours are adjacent. C[i, j] are the
    # common neighbours of both; shared[k, i, j] says whether the k-th neighbour of the i-th is one of them.
    at = (known[:, :, None] == near[None, None]).astype(jnp.int32)  # [k, i, j]: the j-th is the k-th of the i-th
    shared = _sum((beyond[:, None, :, None] == known[None, :, None]).astype(jnp.int32), axis=1)
    A, C, d = _sum(at), _sum(shared), arcs.head(lists.degree)
    t, w3, L2 = _sum(A, axis=1), _sum(C, axis=1), _matmul(A, A)
    k, G = A * L2, A * _matmul(A, C)
    s, l2, degrees = _sum(k, axis=1), _times(A, t), _times(A, d)
    # Sets of neighbours are words of bits: near_bits[i] has the neighbours of the node that are adjacent to its i-th
    # one, and shared_bits[i, j] has the neighbours of the i-th that are also neighbours of the j-th. `among` counts the
    # ordered adjacent pairs of common neighbours of the two, and `cliques` the neighbours of the node that are adjacent
    # to all of three adjacent ones.
    near_bits, shared_bits = _bits(A), _bits(shared)
    beyond_bits = _take(near_bits, near)  # [k, i]: of the k-th neighbour of the i-th
    among = _sum(shared * _shared(beyond_bits[:, :, None], shared_bits[None]))
    triangle = A[:, :, None] * A[:, None] * A[None]  # [i, j, k]
    cliques = triangle * _shared(near_bits[:, None, None] & near_bits[None, :, None], near_bits[None, None])
    sums = Sums(
        t=t,
        w3=w3,
        w4=_walks_of_four(lists, known),
        degrees=degrees,
        walks=_times(A, arcs.head(arcs.around(lists.degree))),
        spread=_times(A, degrees),
        far=_times(C, d),
        side=_times(C, t),
        roof=_times(A, w3),
        wing=_sum(C * C, axis=1),
        arm=_sum(among, axis=1),
        chord=_sum(G, axis=1),
        l2=l2,
        l3=_times(A, l2),
        cube=_times(A, t * t),
        s=s,
        kt=_times(k, t),
        ls=_times(A, s),
        c=_sum(L2 * L2, axis=1),
        k2=_sum(k * k, axis=1),
        tip=_sum(A * _matmul(A, k), axis=1),
        q=_sum(_sum(cliques, axis=2), axis=1),
    )
    if not edges:
        return arcs, sums, None
    onward = _take(t, near)  # [k, i]: t from the i-th neighbour to its k-th
    R = A * _matmul(A, L2)
    rims = Rims(
        floor=_sum(_sum(onward[:, :, None] * shared)),
        squares=_times(A, d * d),
        triples=_times(A, arcs.head(arcs.out(t))),
        dart=_times(A, t * d),
        end=arcs.back(_times(A, arcs.back(l2))),
        middle=_times(A * C, t),
        # The place of the node in the lists of its neighbours is in `back`.
        rim=_sum(_sum(_take(R.reshape(len(near), -1), lists.back)[:, :, None] * at)),
        side=_sum(A * _matmul(A, A * C), axis=1),
        eave=_sum(G),
        tail=_times(k, d),
    )
    return arcs, sums, rims


def _walks_of_four(lists: _Lists, known: jax.Array) -> jax.Array:
    """Count the walks of length 4 along each arc, ``[D, P]``: walks of length 2 from both ends that meet.

    They are counted edge by edge, since most places for arcs are empty.
    """
    D, P = lists.near.shape
    u, v = lists.edges % P
    first, second = _take(lists.beyond, u), _take(known, v)

    def meet(walks: jax.Array, some: jax.Array) -> tuple[jax.Array, None]:
        return walks + _sum((some[:, None, None] == second[None]).astype(jnp.int32)), None

    walks, _ = lax.scan(meet, 0 * second, first)  # one sum over all four axes would run number by number on a CPU
    walks = _sum(_sum(walks))
    return jnp.zeros(D * P, jnp.int32).at[lists.edges].set(walks).reshape(D, P)


def _four_columns(graph: Graph, lists: _Lists, arcs: Arcs, sums: Sums) -> jax.Array:
    """Count the columns of edges of graphlets of up to four nodes, int64 ``[17, E]``."""

    def at_edges(x: jax.Array) -> jax.Array:
        return _take(x.reshape(-1), lists.edges[0]).astype(jnp.int64)

    n, m = (jnp.asarray(x, jnp.int64) for x in (graph.num_nodes, graph.num_edges))
    d_u, d_v = at_edges(arcs.tail(lists.degree)), at_edges(arcs.head(lists.degree))
    near, triangles = arcs.around(lists.degree), arcs.out(sums.t)
    columns = four.edge_columns(
        n,
        m,
        d_u,
        d_v,
        t=at_edges(sums.t),
        K=at_edges(sums.s) >> 1,
        cyc=at_edges(sums.w3) - d_u - d_v + 1,
        A=arcs.both(sums.l2).astype(jnp.int64),
        B=at_edges(sums.degrees),
        nd=arcs.both(arcs.tail(near)).astype(jnp.int64),
        tt=arcs.both(arcs.tail(triangles)).astype(jnp.int64),
    )
    return jnp.stack(list(columns.values()))


def _solve(homs: list[jax.Array], root: Root, size: Literal[4, 5]) -> jax.Array:
    """Turn homomorphisms, int32, into induced counts of the orbits of up to ``size`` nodes, int64."""
    orbits = NUM_ORBITS[root][size]
    # Floats are multiplied fastest, and exact: weights of a row add up to less than 2^11, so no sum passes 2^31.
    rows = jnp.stack(homs[: orbits + (root == "edge")]).astype(jnp.float64)
    weights = times24(root)[:orbits, : len(rows)].astype(np.float64)
    return divided(product(jnp, weights, rows).astype(jnp.int64))


def _flagged(counts: jax.Array, unsure: jax.Array, max_degree: int, nodes: int) -> jax.Array:
    """Replace counts that may be wrong by a number that outweighs, in a sum, all counts of all nodes or edges."""
    return jnp.where(unsure, -nodes * max_degree**4, counts)
