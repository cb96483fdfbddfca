"""Graphlets of small graphs, thousands at a time: pure functions for ``jax.jit`` and ``jax.vmap``.

A graph of up to 512 nodes is stored as a bit matrix, whose rows are words of 32 bits. At each slot (u, v) the common
neighbours are ``row[u] & row[v]``. The 4-cliques are half of the sum of ``popcount(row[u] & row[v] & row[w])`` over the
common neighbours w. Each such sum is one fused elementwise reduction over (slots, nodes, words): there is no loop, and
no array of that size is stored. On a TPU, whose hardware is made for matrix products, such products take the place of
these sums. The :mod:`equations <jaxmotif.graphlets._equations>` turn the sums into counts.

Five-node orbits come from products of adjacency matrices. With at most 128 nodes every sum over a neighbourhood is
below 128^3 = 2^21, so that one product in float32 computes it exactly. Every orbit count is below 2^28, the bound up to
which the equations are exact in 32-bit arithmetic (:mod:`jaxmotif.graphlets.five.equations`).
"""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._checks import check_graphlet_size
from jaxmotif.arrays._compile import jit64, target
from jaxmotif.arrays._int64 import Int64
from jaxmotif.graph._container import Graph, refuse_large
from jaxmotif.graphlets import _low_degree
from jaxmotif.graphlets._equations import CONNECTED_COLUMNS, edge_columns, edge_terms, global_counts, node_orbits
from jaxmotif.graphlets._units import join, times
from jaxmotif.graphlets.five.equations import Arcs, Rims, Sums, orbits_of
from jaxmotif.patterns._totals import all_counts

MAX_DENSE_NODES_5 = 128
"""Largest node capacity for graphlets of five nodes."""

_CELLS = 2**15
"""Number of cells of neighbourhood matrices that are worked on at a time in each graph."""


def _matrix_arcs(near: jax.Array) -> Arcs:
    """Return the operations for arrays over arcs that are matrices ``[M, M]``, 0 where there is no arc."""
    return Arcs(
        tail=lambda x: near * x[:, None],
        head=lambda x: near * x[None, :],
        out=lambda x: x.sum(axis=1, dtype=x.dtype),
        back=lambda x: x.T,
        both=lambda x: x + x.T,
    )


def _times(x: jax.Array, y: jax.Array, wide: Literal["left", "right"] | None = None) -> jax.Array:
    """Return the exact product of matrices of whole numbers up to 127, as float32.

    Args:
      x: float32 ``[..., A, B]``.
      y: float32 ``[..., B, C]``.
      wide: the side whose numbers may be up to 2^21, where the other side holds zeros and ones.
    """
    if target().platform != "tpu":
        return jnp.matmul(x, y, precision=lax.Precision.HIGHEST)  # tensor cores would round otherwise
    if wide == "left":
        return _times(y.swapaxes(-1, -2), x.swapaxes(-1, -2), "right").swapaxes(-1, -2)
    # A TPU composes a float32 product from several products of narrower floats; limbs of whole numbers take fewer.
    return join(x, y.astype(jnp.int32), 2**21 if wide else 2**7).astype(jnp.float32)


def _sums(A: jax.Array, bits: jax.Array, edges: bool) -> tuple[Sums, Rims | None]:
    """Compute the sums of the equations in float32 from an adjacency matrix ``[M, M]``."""
    d = A.sum(axis=1)
    C = _times(A, A)
    t, w3 = A * C, A * _times(A, C)

    def over_common_neighbours(x: jax.Array) -> jax.Array:
        """Return, at each arc u -> v, the sum over the common neighbours w of both of ``x`` at u -> w."""
        return A * _times(x, A, "left")

    def heads(x: jax.Array) -> jax.Array:
        return A * x[None, :]

    hubs, pairs, rim = _neighbourhoods(A, C, edges)
    degrees, l2 = over_common_neighbours(heads(d)), over_common_neighbours(t)
    sums = Sums(
        t=t,
        w3=w3,
        w4=A * _times(C, C),
        degrees=degrees,
        walks=over_common_neighbours(heads(A @ d)),
        spread=over_common_neighbours(degrees),
        far=A * _times(heads(d), C),
        side=A * _times(t, C),
        roof=over_common_neighbours(w3),
        wing=A * _times(A, C * C, "right"),
        arm=A * _times(A, pairs, "right"),
        l2=l2,
        l3=over_common_neighbours(l2),
        cube=over_common_neighbours(t * t),
        ls=over_common_neighbours(hubs["s"]),
        q=6 * _five_cliques(bits),
        **{name: hubs[name] for name in ("chord", "s", "kt", "c", "k2", "tip")},
    )
    if not edges:
        return sums, None
    rims = Rims(
        floor=A * _times(_times(A, t), A, "left"),
        squares=over_common_neighbours(heads(d * d)),
        triples=over_common_neighbours(heads(t.sum(axis=1))),
        dart=over_common_neighbours(t * d[None, :]),
        end=A * _times(A, l2, "right"),
        middle=A * _times(t, t),
        rim=rim,
        side=hubs["side"],
        eave=hubs["eave"],
        tail=hubs["tail"],
    )
    return sums, rims


def _neighbourhoods(A: jax.Array, C: jax.Array, edges: bool) -> tuple[dict[str, jax.Array], jax.Array, jax.Array]:
    """Sum over the neighbourhood graphs of all nodes.

    Returns:
      First, by the names of :class:`Sums` and (for edge orbits) :class:`Rims`, sums at the arc from each hub to each
      node of its neighbourhood, float32 ``[M, M]``. Then two matrices over pairs of nodes, both summed over all hubs:
      the codegree that a pair has inside the neighbourhood of the hub, and the number of walks of length 3 inside it
      between the nodes of an adjacent pair (for edge orbits, else zeros).
    """
    size = A.shape[0]
    together = max(1, min(size, _CELLS // size**2))
    d = A.sum(axis=1)

    def some(
        totals: tuple[jax.Array, jax.Array], near: jax.Array
    ) -> tuple[tuple[jax.Array, jax.Array], dict[str, jax.Array]]:
        pairs, rim = totals
        L = A[None] * near[:, :, None] * near[:, None, :]
        CL, G = _times(L, L), L * _times(L, C[None])
        k, t = L * CL, L.sum(axis=2)
        found = {
            "chord": G.sum(axis=2),
            "s": k.sum(axis=2),
            "kt": (k * t[:, None, :]).sum(axis=2),
            "c": (CL * CL).sum(axis=2),
            "k2": (k * k).sum(axis=2),
            "tip": (L * _times(L, k)).sum(axis=2),
        }
        if edges:
            rim = rim + (L * _times(L, CL)).sum(axis=0)
            found |= {
                "eave": G.sum(axis=1),
                "tail": (k * d[None, None, :]).sum(axis=2),
                "side": (L * _times(L, L * C[None])).sum(axis=2),
            }
        return (pairs + CL.sum(axis=0), rim), found

    zero = jnp.zeros_like(C)
    (pairs, rim), found = lax.scan(some, (zero, zero), A.reshape(size // together, together, size))
    return {name: x.reshape(size, size) for name, x in found.items()}, pairs, rim


def _five_cliques(bits: jax.Array) -> jax.Array:
    """Count the 5-cliques on each edge, float32 ``[M, M]``.

    For each pair of adjacent nodes, and each second adjacent pair among their common neighbours, the common neighbours
    of all four nodes are counted. This finds each 5-clique on the first pair three times, since each of its other
    three nodes may be the one that is not in the second pair.
    """
    size, words = bits.shape
    u, v = np.triu_indices(size, 1)
    pad = -len(u) % 512  # padding pairs have the same node twice, which is no neighbour of itself
    u, v = (np.pad(x, (0, pad)).astype(np.int32) for x in (u, v))
    both = np.zeros((len(u), words), np.uint32)  # holds the bits of the two nodes
    for end in (u, v):
        both[np.arange(len(u)), end >> 5] |= np.uint32(1) << (end & 31).astype(np.uint32)
    adjacent = (bits[u, v >> 5] >> (v & 31).astype(np.uint32)) & jnp.uint32(1)
    common = jnp.where(adjacent[:, None] > 0, bits[u] & bits[v], jnp.uint32(0))

    def second(x: jax.Array | np.ndarray, word: int) -> jax.Array:
        return jnp.asarray(x[:, word]).reshape(1, -1, 16, 32)  # XLA fuses a sum over axes of 32

    shared, inside = 0, True
    for word in range(words):
        first = common[:, word].reshape(-1, 1, 1, 1)
        ends = second(both, word)
        inside = inside & ((first & ends) == ends)
        shared = shared + lax.population_count(first & second(common, word)).astype(jnp.int32)
    per_pair = jnp.where(inside, shared, 0).sum(axis=(1, 2, 3), dtype=jnp.int32) // 3
    number = np.zeros((size, size), np.int32)
    number[u, v] = number[v, u] = np.arange(len(u))
    np.fill_diagonal(number, len(u) - 1 if pad else 0)
    return jnp.where(np.eye(size, dtype=bool), 0, per_pair[number]).astype(jnp.float32)


MAX_DENSE_NODES = 512
"""Largest node capacity the dense path takes. All its edge and node counts fit int32 up to 1024 nodes."""

_LARGE = (
    "jaxmotif.graphlet_counts, edge_graphlets or node_orbits, which take any size, or inside jit max_degree=D where no "
    "node has more than D neighbours, or the sparse_ functions (up to four nodes)"
)


@partial(jit64, static_argnames=("size", "max_degree"))
def dense_graphlet_counts(graph: Graph, size: Literal[4, 5] = 4, max_degree: int | None = None) -> Int64:
    """Count the 17 induced graphlets of 2, 3 and 4 nodes in a small undirected graph.

    The function is pure: jit it, and vmap it over a stacked batch of graphs padded to one size. It is compiled once
    for each padded size.

    Args:
      graph: undirected, capacity ``N`` up to :data:`MAX_DENSE_NODES` nodes and ``S`` slots.
      size: static, 4, or 5 for graphlets of up to five nodes; then N is at most 128.
      max_degree: static, an upper bound D of all degrees, at most 32. The graph may then have any number of nodes for
        which ``N D^3`` is at most 2^28: it may be a padded union of molecules, for instance (D = 4 to 8).

    Returns:
      Exact 64-bit counts ``[17]`` in the order of :data:`jaxmotif.patterns.GRAPHLET_NAMES` (``size=5``: 51, those of
      five nodes last); ``.astype("float32")`` makes them features. With ``max_degree`` all counts are -1 if a node has
      more neighbours than that, or if there are more than 36,854 nodes (``size=5``: 6,208), since counts could then
      pass 64 bits.

    Raises:
      ValueError: when traced, for a directed graph, a capacity over the limit, or a batch outside ``jax.vmap``.

    Example:
      >>> from jaxmotif import Graph
      >>> triangle_and_tail = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
      >>> dense_graphlet_counts(triangle_and_tail).to_numpy().tolist()
      [4, 2, 1, 2, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]

    References:
      Rossi & Zhou, "Hybrid CPU-GPU framework for network motifs", arXiv:1608.05138, 2016, equations 9-23.
    """
    check_graphlet_size(size)
    if max_degree is not None:
        return _low_degree.graphlet_counts(graph, max_degree, size)
    if size == 5:
        return dense_five(graph, "graph")[0]
    slots = _slots(graph)
    n, m = (jnp.asarray(x, jnp.int64) for x in (graph.num_nodes, graph.num_edges))
    terms = edge_terms(*slots.end_degrees, *_cliques_and_cycles(slots))
    sums = {name: jnp.where(slots.once, term, 0).sum(dtype=jnp.int64) for name, term in terms.items()}
    return Int64.of(global_counts(jnp, n, m, sums))


@partial(jit64, static_argnames=("size", "max_degree"))
def dense_edge_columns(graph: Graph, size: Literal[4, 5] = 4, max_degree: int | None = None) -> Int64:
    """Count, at each edge of a small undirected graph, the induced graphlets by the edge's orbit in them.

    Pure, as :func:`dense_graphlet_counts`.

    Args:
      graph: undirected, capacity ``N`` up to :data:`MAX_DENSE_NODES` nodes and ``S`` slots.
      size: static, 4, or 5 for ORCA's 68 edge orbits instead; then N is at most 128.
      max_degree: static, as for :func:`dense_node_orbits`.

    Returns:
      Exact 64-bit counts ``[S / 2, 17]`` (``size=5``: 68), rows in the order of ``Graph.edge_list()``, columns in the
      order of :data:`jaxmotif.patterns.EDGE_COLUMN_NAMES` (ORCA's); padding rows are zero. Rows of edges near a node of
      more than ``max_degree`` neighbours are negative, as in :func:`dense_node_orbits`. In the columns of connected
      graphlets, a sum over edges that includes such a row is negative too.

    Raises:
      ValueError: as :func:`dense_graphlet_counts`.

    Example:
      >>> from jaxmotif import Graph
      >>> path = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
      >>> dense_edge_columns(path).to_numpy()[:3, 3].tolist()  # which edge is the middle of a 4-path
      [0, 1, 0]

    References:
      Rossi & Zhou 2016, equations 5-7; see :func:`jaxmotif.graphlets._equations.edge_columns`.
    """
    check_graphlet_size(size)
    if max_degree is not None:
        return _low_degree.edge_columns(graph, max_degree, size)
    return Int64.of(edge_rows(graph, slot_columns(graph)) if size == 4 else dense_five(graph, "edge")[1])


def edge_rows(graph: Graph, columns: jax.Array) -> jax.Array:
    """Return values at slots ``[S, K]`` as values at edges ``[S / 2, K]``, read at the slots of their lower ends."""
    once, edges = _slots(graph).once, graph.slot_capacity // 2
    row = jnp.where(once, jnp.cumsum(once, dtype=jnp.int32) - 1, edges)
    return jnp.zeros((edges, columns.shape[1]), jnp.int32).at[row].set(columns, mode="drop")


def slot_columns(graph: Graph) -> jax.Array:
    """Return the columns of :func:`dense_edge_columns` at both slots of each edge, int32 ``[S, 17]``.

    Padding slots hold zeros.
    """
    slots = _slots(graph)
    u, v, _, degrees, bits = slots
    t, K, cyc = _cliques_and_cycles(slots)
    adjacency, common, codegree = _unpack(bits), _unpack(bits[u] & bits[v]), _codegrees(bits)
    degrees = degrees.reshape(1, -1, 32)
    A = _sum(common * (codegree[u] + codegree[v]), axis=(1, 2))
    B = _sum(common * degrees, axis=(1, 2))
    nd = _sum(adjacency * degrees, axis=(1, 2))
    tt = _sum(adjacency * codegree, axis=(1, 2))
    n, m = (jnp.asarray(x, jnp.int32) for x in (graph.num_nodes, graph.num_edges))
    columns = edge_columns(n, m, *slots.end_degrees, t, K, cyc, A, B, nd[u] + nd[v], tt[u] + tt[v])
    return jnp.where(slots.valid[:, None], jnp.stack(list(columns.values()), axis=-1), 0)


@partial(jit64, static_argnames=("size", "max_degree"))
def dense_node_orbits(graph: Graph, size: Literal[4, 5] = 4, max_degree: int | None = None) -> Int64:
    """Count, at each node of a small undirected graph, the connected induced graphlets by the node's orbit in them.

    Pure, as :func:`dense_graphlet_counts`.

    Args:
      graph: undirected, capacity ``N`` up to :data:`MAX_DENSE_NODES` nodes and ``S`` slots.
      size: static, 4, or 5 for graphlets of up to five nodes; then N is at most 128.
      max_degree: static, an upper bound D of all degrees, at most 32. The graph may then have any number of nodes for
        which ``N D^3`` is at most 2^28: it may be a padded union of molecules, for instance (D = 4 to 8).

    Returns:
      Exact 64-bit counts ``[N, 15]`` (``size=5``: 73), columns in ORCA's order
      (:data:`jaxmotif.patterns.NODE_ORBITS`); padding nodes hold zeros. If a node has more than ``max_degree``
      neighbours, the counts of all nodes within ``size - 1`` steps of it are not known, and are negative. They are so
      far below zero that any sum over nodes that includes one of them, such as the total of a graph, is negative too.

    Raises:
      ValueError: as :func:`dense_graphlet_counts`.

    Example:
      >>> from jaxmotif import Graph
      >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)])
      >>> dense_node_orbits(star).to_numpy()[:2, :8].tolist()  # its center and a leaf
      [[3, 0, 3, 0, 0, 0, 0, 1], [1, 2, 0, 0, 0, 0, 1, 0]]
      >>> (dense_node_orbits(star, max_degree=2).to_numpy()[:4] < 0).all().item()  # the center has three neighbours
      True

    References:
      Hočevar & Demšar, "A combinatorial approach to graphlet counting", Bioinformatics 2014; see
      :func:`jaxmotif.graphlets._equations.node_orbits`.
    """
    check_graphlet_size(size)
    if max_degree is not None:
        return _low_degree.node_orbits(graph, max_degree, size)
    return Int64.of(orbit_columns(graph) if size == 4 else dense_five(graph, "node")[1])


def orbit_columns(graph: Graph) -> jax.Array:
    """Return the 15 orbits of :func:`dense_node_orbits`, int32 ``[N, 15]``."""
    N, slots = graph.node_capacity, _slots(graph)
    columns = slot_columns(graph)[:, : len(CONNECTED_COLUMNS)]  # the connected graphlets come first
    totals = jax.ops.segment_sum(columns, slots.u, num_segments=N, indices_are_sorted=True)
    incident = dict(zip(CONNECTED_COLUMNS, totals.T, strict=True))
    return jnp.stack(node_orbits(slots.degrees[:N], incident), axis=-1)


def dense_five(graph: Graph, detail: Literal["graph", "edge", "node"]) -> tuple[Int64, jax.Array]:
    """Count the graphlets of up to five nodes in a small graph.

    Returns:
      The 51 counts of the graph; and int32 ``[N, 73]`` at nodes, ``[S / 2, 68]`` at edges, or nothing ``[0]``.
    """
    if graph.node_capacity > MAX_DENSE_NODES_5:
        raise ValueError(
            f"size=5 takes graphs of up to {MAX_DENSE_NODES_5} nodes, got room for {graph.node_capacity}; use {_LARGE}"
        )
    slots = _slots(graph)
    near = _unpack(slots.bits).reshape(slots.bits.shape[0], -1)
    arcs, degree = _matrix_arcs(near), near.sum(axis=1, dtype=jnp.int32)
    sums, rims = _sums(near.astype(jnp.float32), slots.bits, edges=detail == "edge")
    sums, rims = jax.tree.map(lambda x: x.astype(jnp.int32), (sums, rims))
    at_nodes = orbits_of(jnp, arcs, degree, sums)
    counts = all_counts(jnp, jnp.asarray(graph.num_nodes, jnp.int64), at_nodes.sum(axis=1, dtype=jnp.int64))
    values = at_nodes[:, : graph.node_capacity].T if detail == "node" else jnp.zeros(0, jnp.int32)
    if rims is not None:  # padding slots lie past the last row
        at_edges = orbits_of(jnp, arcs, degree, sums, rims)  # of all pairs of nodes; arbitrary where they are no edge
        values = edge_rows(graph, at_edges.at[:, slots.u, slots.v].get(mode="fill", fill_value=0).T)
    return Int64.of(counts), values


# Sums over nodes run over two axes, words and the 32 bits of a word: XLA fuses a sum into the expression that it sums,
# but on CPU only where no summed axis is longer than 32, and the expressions here would be too large to store.


class _Slots(NamedTuple):
    """The slots of a graph, int32 ``[S]``, and its nodes; there is room for M nodes, a multiple of 32.

    Attributes:
      u, v: the two ends of every slot; both are past the last bit row in padding slots.
      valid: which slots are no padding.
      degrees: int32 ``[M]``, with zeros for padding nodes.
      bits: the adjacency matrix, uint32 ``[M, M / 32]``, the lowest bit first.
    """

    u: jax.Array
    v: jax.Array
    valid: jax.Array
    degrees: jax.Array
    bits: jax.Array

    @property
    def once(self) -> jax.Array:
        """The slots of the lower ends, which are one for each edge."""
        return self.valid & (self.u < self.v)

    @property
    def end_degrees(self) -> tuple[jax.Array, jax.Array]:
        """The degrees of both ends of every slot."""
        return self.degrees[self.u], self.degrees[self.v]


def _slots(graph: Graph) -> _Slots:
    if graph.directed:
        raise ValueError("graphlets are counted in undirected graphs, got a directed one; build it with directed=False")
    refuse_large(graph, MAX_DENSE_NODES, "the dense path", _LARGE)
    N, S, offsets = graph.node_capacity, graph.slot_capacity, jnp.asarray(graph.out_offsets)
    M = 32 * max(1, -(-N // 32))
    ends = jnp.pad(offsets[1:], (0, M - N), constant_values=S).reshape(1, -1, 32)
    row = _sum(ends <= jnp.arange(S, dtype=jnp.int32)[:, None, None], axis=(1, 2))
    valid = row < N
    u, v = jnp.where(valid, row, M), jnp.where(valid, jnp.asarray(graph.out_targets), M)
    bit = jnp.uint32(1) << (v & 31).astype(jnp.uint32)
    bits = jnp.zeros((M, M // 32), jnp.uint32).at[u, v >> 5].add(bit, mode="drop")
    return _Slots(u, v, valid, jnp.pad(jnp.diff(offsets), (0, M - N)), bits)


def _unpack(words: jax.Array) -> jax.Array:
    """Return the bits of uint32 ``[R, W]`` as int32 zeros and ones ``[R, W, 32]``."""
    shifts = jnp.arange(32, dtype=jnp.uint32)[None, None, :]
    return ((words[:, :, None] >> shifts) & jnp.uint32(1)).astype(jnp.int32)


def _shared(rows: jax.Array, bits: jax.Array) -> jax.Array:
    """Count the bits that each of ``rows``, uint32 ``[R, W]``, shares with each row of ``bits``, word by word.

    Returns:
      int32 ``[R, W, 32, W]``: by row of ``rows``, by row of ``bits`` (two axes, of ``32 W`` rows in all), and by word.
    """
    words = bits.shape[1]
    both = rows[:, None, None, :] & bits.reshape(1, words, 32, words)
    return lax.population_count(both).astype(jnp.int32)


def _sum(values: jax.Array, axis) -> jax.Array:
    return values.sum(axis=axis, dtype=jnp.int32)


def _codegrees(bits: jax.Array) -> jax.Array:
    """Count the common neighbours of every pair of nodes, int32 ``[M, W, 32]``."""
    if target().platform == "tpu":
        A = _unpack(bits).reshape(bits.shape[0], -1)
        return times(A, A).reshape(*bits.shape, 32)
    return _sum(_shared(bits, bits), axis=-1)


def _cliques_and_cycles(slots: _Slots) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Count the triangles, 4-cliques and (induced or not) 4-cycles at every slot, int32 ``[S]`` each."""
    u, v, _, _, bits = slots
    if target().platform == "tpu":
        t, K, walks = (x.at[u, v].get(mode="fill", fill_value=0) for x in _by_products(bits))
    else:
        common = bits[u] & bits[v]
        t = _sum(lax.population_count(common), axis=1)
        K = _sum(_unpack(common)[..., None] * _shared(common, bits), axis=(1, 2, 3)) >> 1
        # Walks of length 3 from u to v.
        walks = _sum(_unpack(bits[u])[..., None] * _shared(bits[v], bits), axis=(1, 2, 3))
    d_u, d_v = slots.end_degrees
    return t, K, walks - d_u - d_v + 1


def _by_products(bits: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Count the triangles, 4-cliques and walks of length 3 at pairs of adjacent nodes, int32 ``[M, M]`` each."""
    A = _unpack(bits).reshape(bits.shape[0], -1)

    def triangles_beside(near: jax.Array) -> jax.Array:
        among = A * near[:, None] * near[None, :]
        return _sum(among * times(among, among), axis=1) >> 1

    C = times(A, A)
    return C, lax.map(triangles_beside, A), join(A, C, bits.shape[0] + 1)
