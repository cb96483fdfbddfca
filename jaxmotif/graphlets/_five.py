"""All orbits of up to five nodes in a graph of any size, on one device."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import jit64, target_of
from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.devices._memory import working_memory
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets import _hubs as hubs
from jaxmotif.graphlets._homs import Arcs, Rims, Sums, edge_orbits, node_orbits
from jaxmotif.graphlets._hubs import Blocks, Places, Ranked

LARGEST_RESULT = 2.0**60
"""Counts at a node or edge are exact below this (:mod:`jaxmotif.graphlets._homs`)."""


def _arcs(graph: Ranked) -> Arcs:
    def out(x: jax.Array) -> jax.Array:
        nodes = graph.leaves.shape[0]
        return jax.ops.segment_sum(x, graph.tails, num_segments=nodes + 1, indices_are_sorted=True)[:nodes]

    real = (graph.tails < graph.leaves.shape[0]).astype(jnp.int64)

    def end(ends: jax.Array, x: jax.Array) -> jax.Array:
        return x.at[ends].get(mode="clip") * real

    return Arcs(
        tail=partial(end, graph.tails), head=partial(end, graph.heads), out=out,
        back=lambda x: x.at[graph.back].get(mode="promise_in_bounds"),
    )  # fmt: skip


@jit64
def _node_sums(graph: Ranked) -> tuple[jax.Array, jax.Array]:
    """Degrees, and walks of length 2 from each node, int64 ``[N]``."""
    degrees = jnp.diff(graph.offsets).astype(jnp.int64)
    return degrees, _arcs(graph).around(degrees)


def _with_leaves(graph: Ranked, arcs: Arcs, d: jax.Array, p2: jax.Array, sums: dict[str, jax.Array]) -> Sums:
    """The sums with what hubs do not see: arcs that lead to or from a leaf, and walks over leaves."""
    leaf_tail, leaf_head = arcs.tail(d) == 1, arcs.head(d) == 1
    tau = arcs.out(sums["t"])
    fixed = dict(sums)
    fixed["w4"] = sums["w4"] + sums["leaves"]
    fixed["q"] = 6 * sums["q"]  # maps of the three others
    # A leaf has one common neighbour with all neighbours of its neighbour, and nothing else within reach.
    from_leaf = {"w3": arcs.head(d), "far": arcs.head(d * d), "wing": arcs.head(d * d), "arm": arcs.head(tau),
                 "w4": arcs.head(tau), "side": 0}  # fmt: skip
    to_leaf = {"w3": arcs.tail(d), "far": arcs.tail(p2), "wing": arcs.tail(d), "arm": 0, "w4": arcs.tail(tau),
               "side": arcs.tail(tau)}  # fmt: skip
    for name in from_leaf:
        fixed[name] = jnp.where(leaf_head, to_leaf[name], jnp.where(leaf_tail, from_leaf[name], fixed[name]))
    return Sums(**{name: fixed[name] for name in Sums._fields})


@jit64
def _node_result(graph: Ranked, places: Places, sums: dict[str, jax.Array]) -> jax.Array:
    """Int64 ``[N, 73]``, in the order of the graph's own nodes."""
    arcs = _arcs(graph)
    d, p2 = _node_sums(graph)
    return node_orbits(jnp, arcs, d, _with_leaves(graph, arcs, d, p2, sums))[:, places.nodes].T


@partial(jit64, static_argnames=("edges",))
def _edge_result(
    graph: Ranked, places: Places, sums: dict[str, jax.Array], again: tuple[jax.Array, jax.Array],
    slots: tuple[jax.Array, jax.Array], *, edges: int,
) -> jax.Array:  # fmt: skip
    """Int64 ``[edges, 68]``, in the order of the edge list; ``slots``: the graph's own rows."""
    arcs = _arcs(graph)
    d, p2 = _node_sums(graph)
    tau = arcs.out(sums["t"])
    leaf_tail, leaf_head = arcs.tail(d) == 1, arcs.head(d) == 1
    # A leaf has one neighbour: its walks j, k lie along the triangles there.
    floor = jnp.where(leaf_head, arcs.tail(tau), jnp.where(leaf_tail, arcs.head(tau), sums["floor"]))
    rims = Rims(
        floor=floor, triples=again[0], end=arcs.back(again[1]), side=sums["side_pairs"],
        **{name: sums[name] for name in ("eave", "squares", "dart", "tail", "middle", "rim")},
    )  # fmt: skip
    found = edge_orbits(jnp, arcs, d, _with_leaves(graph, arcs, d, p2, sums), rims)
    offsets, targets = slots
    slot = jnp.arange(targets.shape[0], dtype=jnp.int32)
    owner = jnp.searchsorted(offsets, slot, side="right").astype(jnp.int32) - 1
    # Each edge from its lower end, as the edge list has it.
    (once,) = jnp.nonzero((owner < targets) & (slot < offsets[-1]), size=edges, fill_value=0)
    return found[:, places.arcs[once]].T


@jit64
def _largest(graph: Ranked) -> jax.Array:
    """A bound of all results, float64: how many connected sets of five nodes contain a node, by their trees."""
    d = jnp.diff(graph.offsets).astype(jnp.float64)
    nodes = d.shape[0]

    def around(x: jax.Array) -> jax.Array:
        heads = x.at[graph.heads].get(mode="fill", fill_value=0)
        return jax.ops.segment_sum(heads, graph.tails, num_segments=nodes + 1, indices_are_sorted=True)[:nodes]

    p2, q2 = around(d), around(d * d)
    p3 = around(p2)
    # Trees of five nodes at a node: paths, forks and stars; every connected set has one that spans it.
    paths = around(p3) + d * p3 + p2 * p2 / 2
    forks = d * d * p2 / 2 + around(d * p2) + d * q2 / 2 + around(q2) / 2
    return jnp.max(paths + forks + d**4 / 24 + around(d**3) / 6, initial=0)


def five_node_orbits(
    graph: Graph, device: jax.Device, edges: bool = False, memory: int | None = None
) -> tuple[jax.Array, jax.Array | None]:
    """The 73 orbits at each node, ``[N, 73]``, and with ``edges`` the 68 at each edge, ``[m, 68]``; uint32 where no
    count can be larger, else int64.

    Args:
      graph: undirected, with edges.
      memory: bytes to work in beside the graph and the result.

    Raises:
      OverflowError: counts may pass :data:`LARGEST_RESULT`.
      ValueError: too little memory.
    """
    slots = jax.device_put((graph.out_offsets, graph.out_targets), device)
    nodes, S = graph.node_capacity, graph.slot_capacity
    with jax.default_device(device):
        ranked, places = hubs.ranked(*slots, nodes=nodes, arcs=S)
        starts, leaves, later, core, largest = jax.device_get(
            # One wait for all that sizes depend on.
            (ranked.offsets, ranked.leaves, places.later, ranked.core, _largest(ranked))
        )
        if largest >= LARGEST_RESULT:
            raise OverflowError(
                f"a node of degree {np.diff(starts).max()}: its orbits of five nodes may pass the limit of 2^60 (they "
                f"are below {largest:.2g}); size=4 stays exact"
            )
        cells = 1 << (22 if target_of(device).is_accelerator else 18)
        lengths = np.diff(starts) - leaves
        parts = _Parts(
            ranked, hubs.blocks(lengths[int(core) :], int(core), cells), nodes - int(core),
            3 if np.diff(starts).max() >= 2**16 else 2, cells, edges,
        )  # fmt: skip
        bits = hubs.bit_rows(ranked, size=parts.size)
        sums = _all_sums(parts, bits, memory, device)
        cliques = hubs.empty(arcs=S, names=("q",))["q"]
        # By higher neighbours alone, of which there are far fewer at the largest hubs.
        for b in hubs.blocks(later[int(core) :], int(core), cells // 4):
            cliques = hubs.five_cliques(cliques, ranked, bits, b.ids, b.steps, width=b.size)
        # What can be summed around the hubs only once the sums before are there.
        late = _late_values(ranked, sums["t"], sums["l2"])[: 3 if edges else 1]
        again = tuple(hubs.empty(arcs=S, names=("leaves", "triples", "end")[: len(late)]).values())
        for b in parts.blocks:
            again = hubs.sum_around(again, late, ranked, bits, b.ids, b.steps, width=b.size)
        sums |= {"q": cliques, "leaves": again[0]}
        narrow = bool(largest < 2.0**32)
        at_nodes = _as_held(_node_result(ranked, places, sums), narrow=narrow)
        if not edges:
            return at_nodes, None
        at_edges = _edge_result(ranked, places, sums, (again[1], again[2]), slots, edges=graph.m)
        return at_nodes, _as_held(at_edges, narrow=narrow)


@partial(jit64, static_argnames="narrow")
def _as_held(counts: jax.Array, *, narrow: bool) -> jax.Array:
    return counts.astype(jnp.uint32) if narrow else counts


class _Parts(NamedTuple):
    """A graph as the passes take it.

    Attributes:
      blocks: the hubs of its core, by size. count: nodes of the core.
      limbs: of 8 bits that a degree takes.
      cells: of matrices of neighbourhoods at a time.
      edges: whether what edge orbits need is wanted too.
    """

    graph: Ranked
    blocks: list[Blocks]
    count: int
    limbs: int
    cells: int
    edges: bool

    @property
    def size(self) -> int:
        """Columns of a table."""
        return bucket_size(max(self.count, 32) + 31) // 32 * 32

    def rows(self, memory: int | None, device: jax.Device) -> int:
        """Rows of the tables that may be held at a time."""
        arcs = 8 * 40 * self.graph.heads.shape[0] + 100 * self.cells  # sums at arcs; matrices
        row = 4 * self.size * (3 if self.edges else 2)
        least = arcs + 32 * row
        memory = working_memory(memory, device, least, "orbits of five nodes")
        # Cells of a table have 32-bit numbers.
        return min(self.size, (memory - arcs) // row, (2**31 - 1) // self.size)


def _all_sums(parts: _Parts, bits: hubs.BitRows, memory: int | None, device: jax.Device) -> dict[str, jax.Array]:
    """The sums at all arcs but those over leaves and 5-cliques, a block of rows of the tables at a time."""
    graph, edges = parts.graph, parts.edges
    rows, size, arcs = parts.rows(memory, device), parts.size, graph.heads.shape[0]
    node, held = _node_sums(graph), hubs.nothing_gathered(arcs=arcs, edges=edges)
    walks = hubs.empty(arcs=arcs, names=("w4",))["w4"]
    up, narrow = hubs.upward(graph), hubs.short if parts.limbs == 2 else lambda table: table
    starts = [np.int32(first) for first in range(0, max(parts.count, 1), rows)]
    # A block of rows of all tables at a time: written by all hubs, then read by all.
    for first in starts:
        tables = hubs.empty_tables(graph, first, rows=rows, size=size, edges=edges)
        for b in parts.blocks:
            tables = hubs.scatter(tables, graph, bits, b.ids, b.steps, first, width=b.size, edges=edges)
        for b in parts.blocks:
            held = hubs.gather(
                held, tables, graph, bits, node, b.ids, b.steps, first, width=b.size, edges=edges, limbs=parts.limbs
            )
        # A walk of length 4 is a product of two rows: each block meets every later one.
        low, block = narrow(tables.codegree), max(16, 16 * parts.cells // size)
        del tables
        for other in (start for start in starts if start >= first):
            high = low if other == first else narrow(_codegrees(parts, other, rows))
            walks = hubs.fourth_walks(walks, low, high, graph, up, (first, other), block=block)
    return held.by_name(edges) | {"w4": walks}


def _codegrees(parts: _Parts, first: np.int32, rows: int) -> jax.Array:
    table = hubs.empty_tables(parts.graph, first, rows=rows, size=parts.size, edges=False).codegree
    for b in parts.blocks:
        table = hubs.scatter_codegrees(table, parts.graph, b.ids, b.steps, first, width=b.size)
    return table


@jit64
def _late_values(graph: Ranked, t: jax.Array, l2: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """At each arc: the leaves at its head, the closed walks of length 3 there, and ``l2`` of the reversed arc."""
    arcs = _arcs(graph)
    return arcs.head(graph.leaves.astype(jnp.int64)), arcs.head(arcs.out(t)), arcs.back(l2)


@jit64
def _halves(orbits: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Sums over the nodes of the low and high 32 bits of counts ``[N, 73]``."""
    orbits = orbits.astype(jnp.int64)
    return (orbits & 0xFFFFFFFF).sum(axis=0), (orbits >> 32).sum(axis=0)


def totals(orbits: jax.Array) -> np.ndarray:
    """The sum over all nodes of each of the 73 orbits, as Python integers."""
    low, high = jax.device_get(_halves(orbits))
    return low.astype(object) + (high.astype(object) << 32)
