"""The neighbourhoods of a graph as batches of small dense matrices, and what is summed over them for five-node orbits.

Nodes are numbered by degree. Those of degree 0 and 1 come first and take no part in what is dense: what a leaf adds is
known in closed form. The others, the core, are hubs in turn: a hub of D neighbours is a D x D
matrix, and hubs of about one size go together. Two tables over pairs of core nodes, common neighbours and edges between
those, are scattered by one pass over the hubs and read back by the next; a table is held for a block of rows at a time,
as many as memory allows. Rows are in the order of the graph's own nodes: in many networks neighbours have near numbers,
so that few hubs meet a block.

What the sums are is in :mod:`jaxmotif.graphlets.five.equations`; :mod:`jaxmotif.graphlets.five.sums` adds them up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._compile import jit64, put64, target
from jaxmotif.arrays._host import all_on_device
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.graphlets._cells import order_of
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.graphlets._units import join, times, units
from jaxmotif.graphlets.five.adjacency import Adjacency

T = TypeVar("T")

SIZES = {
    "cpu": (8, 16, 32, *(size << i for i in range(22) for size in (64, 96))),
    "accelerator": (16, 32, 64, 128, *(size << i for i in range(23) for size in (256, 384))),
}
"""Of the matrices of neighbourhoods: few, since each is compiled for; more where padding takes time."""

ADJACENT = 15
"""The bit of a cell of 16 bits that says whether two nodes are adjacent, beside their common neighbours."""


class Twins(NamedTuple):
    """Of nodes that stand for several with the same neighbours, int32 ``[N]``: how many; of each of these its
    neighbours, in the whole graph, and how many of them are leaves."""

    members: np.ndarray
    degrees: np.ndarray
    leaves: np.ndarray


class Ranked(NamedTuple):
    """A graph whose nodes are numbered by degree, padded; int32.

    Attributes:
      offsets: ``[N + 1]``, row starts. heads, tails: ``[S]``, ends of the arcs, by tail and head; N in padding.
      back: ``[S]``, the reversed arc of each.
      leaves: ``[N]``, neighbours of degree 1, which lead every row.
      core: scalar, the first node of degree 2 or more.
      rows, at_rows: ``[N]``, the row of each core node in tables, and the core node of each row; N where there is none.
      twins: given where nodes stand for several (:mod:`jaxmotif.graphlets._twins`): then there are no tables.
    """

    offsets: jax.Array
    heads: jax.Array
    tails: jax.Array
    back: jax.Array
    leaves: jax.Array
    core: jax.Array
    rows: jax.Array
    at_rows: jax.Array
    twins: Twins | None = None


class Places(NamedTuple):
    """Where a graph's nodes and slots are once numbered by degree, int32 ``[N]`` and ``[S]``; and, by number, how many
    neighbours of higher number each node has, ``[N]``."""

    nodes: jax.Array
    arcs: jax.Array
    later: jax.Array


class Blocks(NamedTuple):
    """Hubs of about one size: ids int32 ``[steps, hubs]`` (-1: none), and how many steps there are; the first hub and
    past the last; ``put``: ids and steps on a device, if they were put there."""

    size: int
    ids: np.ndarray
    steps: np.int32
    span: tuple[int, int]
    put: tuple[jax.Array, jax.Array] | None = None

    @classmethod
    def of(cls, size: int, ids: np.ndarray, together: int) -> Blocks:
        """Of ascending ids, int32, some, so many in a step."""
        steps = -(-ids.size // together)
        rows = np.full((power_of_four(steps, 1), together), -1, np.int32)
        rows.reshape(-1)[: ids.size] = ids
        return cls(size, rows, np.int32(steps), (int(ids[0]), int(ids[-1]) + 1))

    @property
    def given(self) -> tuple[Any, Any]:
        """Ids and steps, for a program."""
        return self.put or (self.ids, self.steps)

    @property
    def cells(self) -> int:
        """Of all matrices."""
        return int(self.steps) * self.ids.shape[1] * self.size**2


def ranked_on_host(
    offsets: np.ndarray, targets: np.ndarray, device: jax.Device, twins: Twins | None = None
) -> tuple[Ranked, Places]:
    """As :func:`ranked`, in NumPy, which sorts an order of magnitude faster than XLA does on a CPU; ``twins``: as the
    rows are."""
    degrees, (nodes, arcs) = np.diff(offsets), (len(offsets) - 1, len(targets))
    of_all = degrees if twins is None else twins.degrees
    order = order_of(of_all)
    rank = np.empty(nodes, np.int64)
    rank[order] = np.arange(nodes)
    tails, heads = np.repeat(rank, degrees), rank[targets[: offsets[-1]]]
    came = order_of(heads)
    came = came[order_of(tails[came])]
    tails, heads = tails[came], heads[came]
    core = int(np.searchsorted(of_all[order], 2))

    def padded(x: np.ndarray, padding: np.ndarray | int) -> np.ndarray:
        found = np.empty(arcs, np.int32)
        found[: len(x)], found[len(x) :] = x, padding
        return found

    def counted(which: np.ndarray) -> np.ndarray:
        return np.bincount(tails[which], minlength=nodes).astype(np.int32)

    rest = np.arange(len(came), arcs)
    place = np.empty_like(came)
    place[came] = np.arange(len(came))
    rows, at_rows = np.full((2, nodes), nodes, np.int32)
    at_rows[: nodes - core] = rank[rank >= core] - core
    rows[at_rows[: nodes - core]] = np.arange(nodes - core)
    starts = np.concatenate([[0], np.cumsum(degrees[order])]).astype(np.int32)
    # By the other end: the k-th arc so sorted is the reverse of the k-th as they are.
    arrays = starts, padded(heads, nodes), padded(tails, nodes), padded(order_of(heads), rest), counted(heads < core)
    where = rank.astype(np.int32), padded(place, rest), counted(heads > tails)
    put = all_on_device((*arrays, np.array(core, np.int32), rows, at_rows, *where), device)
    of_classes = None if twins is None else Twins(*(x[order] for x in twins))
    return Ranked(*put[:8], twins=of_classes), Places(*put[8:])


@partial(jit64, static_argnames=("nodes", "arcs"))
def ranked(offsets: jax.Array, targets: jax.Array, *, nodes: int, arcs: int) -> tuple[Ranked, Places]:
    """Number the nodes of a graph by degree."""
    degrees = jnp.diff(offsets)
    order = jnp.argsort(degrees, stable=True).astype(jnp.int32)
    rank = jnp.zeros(nodes, jnp.int32).at[order].set(jnp.arange(nodes, dtype=jnp.int32), unique_indices=True)
    slot = jnp.arange(arcs, dtype=jnp.int32)
    owner = jnp.searchsorted(offsets, slot, side="right").astype(jnp.int32) - 1
    there = slot < offsets[-1]
    # Padding arcs lead from the node past the last to itself: they stay last, and are each other's reverse.
    tails = jnp.where(there, rank[jnp.minimum(owner, nodes - 1)], nodes)
    heads = jnp.where(there, rank[jnp.minimum(targets, nodes - 1)], nodes)
    tails, heads, came = lax.sort((tails, heads, slot), num_keys=2)
    # By the other end: the k-th arc so sorted is the reverse of the k-th as they are.
    back = lax.sort((heads, tails, slot), num_keys=2)[2]
    sizes = degrees[order]
    starts = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(sizes, dtype=jnp.int32)])
    core = jnp.searchsorted(sizes, 2).astype(jnp.int32)

    def counted(which: jax.Array) -> jax.Array:
        return jnp.zeros(nodes, jnp.int32).at[jnp.where(which & there, tails, nodes)].add(1, mode="drop")

    place = jnp.zeros(arcs, jnp.int32).at[came].set(slot, unique_indices=True)
    # Table rows: the core in the graph's own order.
    none = jnp.full(nodes, nodes, jnp.int32)
    row = jnp.where(rank >= core, jnp.cumsum(rank >= core, dtype=jnp.int32) - 1, nodes)
    rows = none.at[jnp.where(rank >= core, rank - core, nodes)].set(row, mode="drop")
    at_rows = none.at[row].set(rank - core, mode="drop")
    graph = Ranked(starts, heads, tails, back, counted(heads < core), core, rows, at_rows)
    return graph, Places(rank, place, counted(heads > tails))


def blocks(lengths: np.ndarray, first: int, cells: int, sizes: tuple[int, ...]) -> list[Blocks]:
    """Hubs ``first, first + 1, ..`` of lists so long, by size; a step's matrices have at most so many cells."""
    found, low = [], 0
    for size in sizes:
        ids = np.flatnonzero((lengths > low) & (lengths <= size)).astype(np.int32) + first
        low = size
        if ids.size:
            # As many matrices a step as their cells allow.
            found.append(Blocks.of(size, ids, max(1, cells // size**2)))
        if low >= lengths.max(initial=0):
            break
    return found


def put_blocks(device: jax.Device, *lists: list[Blocks]) -> list[list[Blocks]]:
    """On a device, all at once: programs that take small arrays of the host's begin later, each of them."""
    put = put64([[b.given for b in blocks] for blocks in lists], device)
    return [
        [b._replace(put=arrays) for b, arrays in zip(blocks, there, strict=True)]
        for blocks, there in zip(lists, put, strict=True)
    ]


def within(blocks: list[Blocks], first: int, stop: int, wanted: np.ndarray | None = None) -> Iterator[Blocks]:
    """Those hubs of some blocks that are in a stretch, and of those ``wanted``, bool ``[N]``, in arrays of the same
    shapes."""
    for b in blocks:
        if wanted is None and first <= b.span[0] and b.span[1] <= stop:
            yield b
            continue
        chosen = b.ids[(b.ids >= first) & (b.ids < stop)]
        if wanted is not None:
            chosen = chosen[wanted[chosen]]
        if chosen.size == np.count_nonzero(b.ids >= 0):
            yield b
        elif chosen.size:
            rows = np.full_like(b.ids, -1)
            rows.reshape(-1)[: chosen.size] = chosen
            yield Blocks(b.size, rows, np.int32(-(-chosen.size // rows.shape[1])), b.span)


# ---- matrices of neighbourhoods


def _over(ids: jax.Array, steps: jax.Array, step: Callable[[jax.Array, T], T], held: T) -> T:
    """What all steps give. Where there can be but one, without a loop: the host of a GPU waits for its condition."""
    return step(jnp.int32(0), held) if ids.shape[0] == 1 else lax.fori_loop(jnp.int32(0), steps, step, held)


class _Lists(NamedTuple):
    """Core neighbours of some hubs, ``[B, D]``: arcs to them, their numbers in the core (-1: none), which are there."""

    arcs: jax.Array
    nodes: jax.Array
    real: jax.Array


def _lists(graph: Ranked, hubs: jax.Array, size: int, later: bool = False) -> _Lists:
    """``later``: only neighbours of higher rank."""
    hub = jnp.maximum(hubs, 0)
    start, stop = graph.offsets[hub] + graph.leaves[hub], graph.offsets[hub + 1]
    lane = jnp.arange(size, dtype=jnp.int32)[None]
    at = start[:, None] + lane
    if later:  # rows are in order of rank: the higher ones end them
        at = jnp.maximum(stop - size, start)[:, None] + lane
    real = (at < stop[:, None]) & (hubs >= 0)[:, None]
    at = jnp.minimum(at, graph.heads.shape[0] - 1)
    heads = graph.heads[at]
    if later:
        real = real & (heads > hub[:, None])
    return _Lists(at, jnp.where(real, heads - graph.core, -1), real)


def _adjacent(graph: Ranked, edges: Adjacency, lists: _Lists) -> jax.Array:
    """Which core neighbours of a hub are adjacent, int32 ``[B, D, D]``."""
    nodes = jnp.maximum(lists.nodes, 0)
    there = lists.real[:, :, None] & lists.real[:, None, :]
    return jnp.where(there, edges.adjacent(graph, nodes[:, :, None], nodes[:, None, :]), 0)


def _arcs_between(graph: Ranked, edges: Adjacency, lists: _Lists, near: jax.Array) -> jax.Array:
    """The arcs between the neighbours of a hub, int32 ``[B, D, D]``; past the last where there is none."""
    nodes = jnp.maximum(lists.nodes, 0)
    return jnp.where(near > 0, edges.arc(graph, nodes[:, :, None], nodes[:, None, :]), graph.heads.shape[0])


def _apply(matrix: jax.Array, *values: jax.Array) -> list[jax.Array]:
    """Products of an int32 matrix ``[B, D, D]`` with int64 vectors ``[B, D]``, which are below 2^53."""
    if target().platform == "cpu":  # where XLA sums integers one by one
        stacked = jnp.stack(values, axis=-1).astype(jnp.float64)
        found = jnp.matmul(matrix.astype(jnp.float64), stacked).astype(jnp.int64)
        return [found[..., i] for i in range(len(values))]
    return [(matrix.astype(jnp.int64) * x[:, None, :]).sum(axis=2) for x in values]


def _total(matrix: jax.Array) -> jax.Array:
    """Sums over rows."""
    return matrix.sum(axis=2, dtype=jnp.int64)


# ---- tables over pairs of core nodes, a block of rows at a time


class Tables(NamedTuple):
    """Int32 ``[rows, size]`` (the first may be uint16): ``codegree``, with degrees on the diagonal; ``pairs``, adjacent
    ordered pairs of common neighbours; for edge orbits ``bent``, walks of length 2 counted as often as their first edge
    has triangles."""

    codegree: jax.Array
    pairs: jax.Array
    bent: jax.Array


@partial(jit64, static_argnames=("rows", "blocks"))
def meet(graph: Ranked, *, rows: int, blocks: int) -> jax.Array:
    """Which nodes have a neighbour in each block of rows, bool ``[blocks, N]``."""
    nodes = graph.leaves.shape[0]
    head = graph.heads - graph.core
    row = jnp.where(head >= 0, graph.rows.at[head].get(mode="fill", fill_value=nodes), nodes)
    block = jnp.where(row < nodes, row // rows, blocks)
    return jnp.zeros((blocks, nodes), bool).at[block, graph.tails].set(True, mode="drop")


def _rows_of(graph: Ranked, lists: _Lists, ends: jax.Array, rows: int) -> jax.Array:
    """The rows of a hub's neighbours in a block of ``rows``, int32 ``[B, D]``; ``rows`` for those outside ``ends``."""
    row = graph.rows[jnp.maximum(lists.nodes, 0)]
    return jnp.where(lists.real & (row >= ends[0]) & (row < ends[1]), row - ends[0], rows)


def _cells(graph: Ranked, lists: _Lists, ends: jax.Array, rows: int, size: int) -> jax.Array:
    """Where the pairs of a hub's neighbours are in a table, int32 ``[B, D, D]``; one past its end elsewhere."""
    row = _rows_of(graph, lists, ends, rows)
    inside = (row < rows)[:, :, None] & lists.real[:, None, :]
    return jnp.where(inside, row[:, :, None] * size + lists.nodes[:, None, :], rows * size)


@partial(jit64, static_argnames=("rows", "size", "detail", "most"))
def empty_tables(graph: Ranked, ends: jax.Array, *, rows: int, size: int, detail: Detail, most: int) -> Tables:
    """Only what leaves add: to the diagonal of ``codegree``. Tables that are not wanted are ``[1, 1]``."""
    node = graph.at_rows.at[ends[0] + jnp.arange(rows, dtype=jnp.int32)].get(mode="fill", fill_value=size)
    leaves = graph.leaves.at[node + graph.core].get(mode="fill", fill_value=0)
    none = jnp.zeros((rows, size), jnp.int32)
    # Half the memory takes a CPU half the time; a GPU has no atomic additions to 16 bits.
    kind = jnp.uint16 if most <= 2**16 and target().platform == "cpu" else jnp.int32
    codegree = none.astype(kind).at[jnp.arange(rows), node].set(leaves.astype(kind), mode="drop")
    absent = jnp.zeros((1, 1), jnp.int32)
    return Tables(codegree, absent if detail == "graph" else none, none if detail == "edge" else absent)


@partial(jit64, static_argnames=("width", "detail", "giants"), donate_argnums=0)
def scatter(
    tables: Tables, graph: Ranked, edges: Adjacency, ids: jax.Array, steps: jax.Array, ends: jax.Array, *, width: int,
    detail: Detail, giants: int,
) -> Tables:  # fmt: skip
    """Add to the tables that are wanted, of rows from the first to the second of ``ends``, what the hubs of one size
    give; ``giants``: the nodes of highest rank that are no hubs."""
    rows, size = tables.codegree.shape
    hubs_end = graph.leaves.shape[0] - giants

    def step(number: jax.Array, flat: Tables) -> Tables:
        lists = _lists(graph, ids[number], width)
        cells = _cells(graph, lists, ends, rows, size)
        # One value for every cell, since XLA is slow to scatter a constant.
        one = jnp.broadcast_to(lists.real[:, :, None].astype(flat.codegree.dtype), cells.shape)
        flat = flat._replace(codegree=flat.codegree.at[cells].add(one, mode="drop"))
        if detail == "graph":
            return flat
        near = _adjacent(graph, edges, lists)
        # An arc between common neighbours is found at either end: one that leads to a giant at this end alone.
        twice = near << (lists.nodes + graph.core >= hubs_end).astype(jnp.int32)[:, :, None] if giants else near
        flat = flat._replace(pairs=flat.pairs.at[cells].add(join(near, twice, 3 if giants else 2), mode="drop"))
        if detail == "edge":
            triangles = near.sum(axis=2, dtype=jnp.int32)[:, :, None]
            flat = flat._replace(bent=flat.bent.at[cells].add(jnp.broadcast_to(triangles, cells.shape), mode="drop"))
        return flat

    found = _over(ids, steps, step, Tables(*(x.reshape(-1) for x in tables)))
    return Tables(*(x.reshape(y.shape) for x, y in zip(found, tables, strict=True)))


# ---- sums at the arcs


@partial(jit64, static_argnames=("arcs", "names"))
def empty(*, arcs: int, names: tuple[str, ...]) -> dict[str, jax.Array]:
    """Int64 zeros at all arcs, by name."""
    return {name: jnp.zeros(arcs, jnp.int64) for name in names}


_SHARED: dict[Detail, tuple[str, ...]] = {
    "graph": ("w3", "wing", "chord"),
    "node": ("far", "side", "arm", "roof"),
    "edge": ("floor", "eave", "middle", "side_pairs"),
}
_OWN: dict[Detail, tuple[str, ...]] = {
    "graph": ("t", "degrees", "l2", "s", "c", "k2", "leaves"),
    "node": ("walks", "spread", "l3", "cube", "kt", "ls", "tip"),
    "edge": ("squares", "dart", "tail"),
}
"""Sums at arcs: those that need the tables, added up over their blocks of rows, and those that do not. Counts in the
graph take few, node orbits more, edge orbits all."""


def _up_to(detail: Detail, names: dict[Detail, tuple[str, ...]]) -> tuple[str, ...]:
    chosen = names["graph"]
    for more in ("node", "edge")[: ("graph", "node", "edge").index(detail)]:
        chosen += names[more]
    return chosen


def shared_columns(detail: Detail) -> tuple[str, ...]:
    return _up_to(detail, _SHARED)


def own_columns(detail: Detail) -> tuple[str, ...]:
    return _up_to(detail, _OWN)


class Gathered(NamedTuple):
    """Int64 sums at all arcs: ``[S, K]``, columns as :func:`shared_columns` and :func:`own_columns` say; and those that
    do not come arc by arc from the hub at its tail, ``rim``, ``[S]`` (``[1]`` where edges are not wanted)."""

    shared: jax.Array
    own: jax.Array
    rim: jax.Array

    def by_name(self, detail: Detail) -> dict[str, jax.Array]:
        return _by_name(self, detail=detail)


@partial(jit64, static_argnames="detail")
def _by_name(held: Gathered, *, detail: Detail) -> dict[str, jax.Array]:
    return (
        dict(zip(shared_columns(detail), held.shared.T, strict=True))
        | dict(zip(own_columns(detail), held.own.T, strict=True))
        | ({"rim": held.rim} if detail == "edge" else {})
    )


@partial(jit64, static_argnames=("arcs", "detail"))
def nothing_gathered(*, arcs: int, detail: Detail) -> Gathered:
    shared = jnp.zeros((arcs, len(shared_columns(detail))), jnp.int64)
    own = jnp.zeros((arcs, len(own_columns(detail))), jnp.int64)
    return Gathered(shared, own, jnp.zeros(arcs if detail == "edge" else 1, jnp.int64))


@partial(jit64, static_argnames=("width", "detail", "most", "own", "giants"), donate_argnums=0)
def gather(
    held: Gathered, tables: Tables | None, graph: Ranked, edges: Adjacency, node: tuple[jax.Array, jax.Array],
    ids: jax.Array, steps: jax.Array, ends: jax.Array, *, width: int, detail: Detail, most: int, own: bool,
    giants: int = 0,
) -> Gathered:  # fmt: skip
    """Add what the hubs of one size give to their arcs: from the rows of the tables, if any, between ``ends``; and with
    ``own`` what needs no tables. ``node``: degrees, and walks of length 2, of all nodes; ``most``: above all degrees;
    ``giants``: the nodes of highest rank that are no hubs."""

    def step(number: jax.Array, held: Gathered) -> Gathered:
        hubs = ids[number]
        lists = _lists(graph, hubs, width)
        near = _adjacent(graph, edges, lists)
        place = jnp.where(lists.real, lists.arcs, graph.heads.shape[0])

        def added(sums: jax.Array, found: dict[str, jax.Array], names: tuple[str, ...]) -> jax.Array:
            # All sums of an arc at once: few writes, side by side.
            return sums.at[place].add(jnp.stack([found[name] for name in names], axis=-1), mode="drop")

        def at(x: jax.Array) -> jax.Array:
            return jnp.where(lists.real, x.at[lists.nodes + graph.core].get(mode="clip"), 0)

        d = at(node[0])
        if tables is not None:
            rows, size = tables.codegree.shape
            row = _rows_of(graph, lists, ends, rows)
            within = jnp.where(row < rows, graph.leaves[jnp.maximum(hubs, 0)][:, None], 0).astype(jnp.int64)
            cells = _cells(graph, lists, ends, rows, size)
            found, G = _with_tables(near, lambda table: table.reshape(-1).at[cells].get(mode="fill", fill_value=0),
                                    tables, d, within, detail, most)  # fmt: skip
            held = held._replace(shared=added(held.shared, found, shared_columns(detail)))
            if giants and detail == "edge":
                arcs, values = _from_giants(graph, edges, lists, near, G, giants)
                column = shared_columns(detail).index("eave")
                held = held._replace(shared=held.shared.at[arcs, column].add(values, mode="drop"))
        if not own:
            return held
        found = _of_neighbourhoods(near, d, at(node[1]), at(graph.leaves).astype(jnp.int64), detail)
        held = held._replace(own=added(held.own, found, own_columns(detail)))
        if detail == "edge":  # walks of length 3 along the edges of a neighbourhood belong to those edges
            walks = (near * join(near, join(near, near, 2), width)).astype(jnp.int64)
            held = held._replace(rim=held.rim.at[_arcs_between(graph, edges, lists, near)].add(walks, mode="drop"))
        return held

    return _over(ids, steps, step, held)


def _squares(x: jax.Array, most: int) -> jax.Array:
    """Sums over rows of the squares of numbers below ``most``."""
    x = x if most <= 2**15 else x.astype(jnp.int64)
    return _total(x * x)


def _with_tables(
    near: jax.Array, read: Callable[[jax.Array], jax.Array], tables: Tables, d: jax.Array, leaves: jax.Array,
    detail: Detail, most: int,
) -> tuple[dict[str, jax.Array], jax.Array]:  # fmt: skip
    """Int64 ``[B, D]`` at the arcs from hubs to their core neighbours, by name, from the rows of the tables that are
    there; ``leaves``: of the hub, at arcs that lead to these rows. And what ``chord`` is the sums over rows of."""
    shared = read(tables.codegree).astype(jnp.int32)
    G = near * join(near, shared, most)
    w3 = _total(shared) + leaves  # a leaf of the hub has one common neighbour with each of its others: the hub
    found = {"w3": w3, "wing": _squares(shared, most) + leaves, "chord": _total(G)}
    if detail == "graph":
        return found, G
    t = _total(near)
    side, far = _apply(shared, t, d)
    found |= {"far": far + leaves, "side": side, "arm": _total(read(tables.pairs)), "roof": _apply(near, w3)[0]}
    if detail == "edge":
        triangles = near * shared  # of each edge: the common neighbours of its ends
        found |= {
            "floor": read(tables.bent).sum(axis=1, dtype=jnp.int64), "eave": G.sum(axis=1, dtype=jnp.int64),
            "middle": (triangles.astype(jnp.int64) * t[:, :, None]).sum(axis=1),
            "side_pairs": _total(near * join(near, triangles, most)),
        }  # fmt: skip
    return found, G


def _from_giants(
    graph: Ranked, edges: Adjacency, lists: _Lists, near: jax.Array, values: jax.Array, giants: int
) -> tuple[jax.Array, jax.Array]:
    """The arcs that lead from giants to the other neighbours of a hub, int32 ``[B, G, D]`` (or ``[B, D, D]``, if that
    is less), past the last where there is none; and those of the values ``[B, D, D]`` of such pairs, int64."""
    few = min(giants, near.shape[1])
    # Of highest rank, they end the lists.
    at = lists.real.sum(axis=1, dtype=jnp.int32)[:, None] - few + jnp.arange(few, dtype=jnp.int32)[None]
    place = jnp.maximum(at, 0)
    giant = jnp.take_along_axis(lists.nodes, place, axis=1)
    here = (at >= 0) & (giant + graph.core >= graph.leaves.shape[0] - giants)
    ends, values = (jnp.take_along_axis(x, place[:, :, None], axis=1) for x in (near, values))
    arcs = edges.arc(graph, jnp.maximum(giant, 0)[:, :, None], jnp.maximum(lists.nodes, 0)[:, None, :])
    return jnp.where(here[:, :, None] & (ends > 0), arcs, graph.heads.shape[0]), values.astype(jnp.int64)


def _of_neighbourhoods(
    near: jax.Array, d: jax.Array, p2: jax.Array, leaves: jax.Array, detail: Detail
) -> dict[str, jax.Array]:
    """Int64 ``[B, D]`` at the arcs from hubs to their core neighbours, by name, from the neighbourhoods alone."""
    size, both = near.shape[1], join(near, near, 2)  # common neighbours
    k = near * both  # 4-cliques on the triangle of the hub and two neighbours
    t, s = _total(near), _total(k)
    of_graph, of_nodes, of_edges = (t, d, leaves), (t * t, p2, s), (d * d, t * d)
    wanted = {"graph": of_graph, "node": of_graph + of_nodes, "edge": of_graph + of_nodes + of_edges}[detail]
    l2, degrees, around, *more = _apply(near, *wanted)
    found = {
        "t": t,
        "degrees": degrees,
        "l2": l2,
        "s": s,
        "c": _squares(both, size),
        "k2": _squares(k, size),
        "leaves": around,
    }
    if detail == "graph":
        return found
    cube, around_two, ls, *more = more
    l3, spread = _apply(near, l2, degrees)
    kt, *tail = _apply(k, t, *((d,) if detail == "edge" else ()))
    found |= {
        "walks": around_two, "spread": spread, "l3": l3, "cube": cube, "kt": kt, "ls": ls,
        "tip": _total(near * join(near, k, size)),
    }  # fmt: skip
    return found | ({"squares": more[0], "dart": more[1], "tail": tail[0]} if detail == "edge" else {})


@jit64
def upward(graph: Ranked) -> jax.Array:
    """The arcs from lower to higher nodes of the core, int32 ``[S / 2]``; past the last where there are no more."""
    arcs = graph.heads.shape[0]
    (found,) = jnp.nonzero((graph.tails >= graph.core) & (graph.tails < graph.heads), size=arcs // 2, fill_value=arcs)
    return found.astype(jnp.int32)


@jit64
def short(table: jax.Array) -> jax.Array:
    """A table of numbers below 2^16 in half the memory."""
    return table.astype(jnp.uint16)


@partial(jit64, static_argnames=("block", "most"), donate_argnums=0)
def fourth_walks(
    walks: jax.Array, low: jax.Array, high: jax.Array, graph: Ranked, up: tuple[jax.Array, jax.Array, jax.Array],
    firsts: tuple[jax.Array, jax.Array], *, block: int, most: int,
) -> jax.Array:  # fmt: skip
    """Add, at both arcs of the edges whose lower end is in one block of rows and the other in another, the walks of
    length 4 over core nodes: inner products of rows of codegrees, which are below ``most``. ``up``: the upward arcs,
    and the first and past the last that are wanted."""
    rows, arcs = low.shape[0], graph.heads.shape[0]

    def step(number: jax.Array, walks: jax.Array) -> jax.Array:
        place = up[1] + number * block + jnp.arange(block, dtype=jnp.int32)
        at = jnp.where(place < up[2], up[0].at[place].get(mode="fill", fill_value=arcs), arcs)
        u, v = (
            graph.rows.at[ends.at[at].get(mode="clip") - graph.core].get(mode="clip") - start
            for ends, start in zip((graph.tails, graph.heads), firsts, strict=True)
        )
        here = (at < arcs) & (u >= 0) & (u < rows) & (v >= 0) & (v < rows)
        # C(u, .) times C(., v): where two walks of length 2 meet.
        x, y = low[jnp.where(here, u, 0)], high[jnp.where(here, v, 0)]
        if most <= 2**12 and target().platform == "cpu":  # 32 products of 24 bits at a time: twice as fast in 32 bits
            z = (x.astype(jnp.int32) * y.astype(jnp.int32)).reshape(block, -1, 32).sum(axis=2, dtype=jnp.int32)
        else:
            z = x.astype(jnp.int64) * y.astype(jnp.int64)
        total = z.sum(axis=1, dtype=jnp.int64)
        back = graph.back.at[at].get(mode="fill", fill_value=arcs)
        walks = walks.at[jnp.where(here, at, arcs)].add(total, mode="drop")
        return walks.at[jnp.where(here, back, arcs)].add(total, mode="drop")

    return lax.fori_loop(jnp.int32(0), (up[2] - up[1] + (block - 1)) // block, step, walks)


@partial(jit64, static_argnames=("width", "detail"), donate_argnums=0)
def five_cliques(
    counts: jax.Array, graph: Ranked, edges: Adjacency, ids: jax.Array, steps: jax.Array, *, width: int, detail: Detail
) -> jax.Array:  # fmt: skip
    """Add, at both arcs of each edge, the 5-cliques on it, int64 ``[S]`` (counts in the graph: all at one arc); each is
    found at its lowest node.

    Its four others are a 4-clique among the higher neighbours. For each pair of adjacent ones, Q says who is adjacent
    to both: two others belong to as many as their columns of Q have in common, which is one matrix product.
    """
    together = math.gcd(16, width // 2)  # shifts

    def step(number: jax.Array, counts: jax.Array) -> jax.Array:
        lists = _lists(graph, ids[number], width, later=True)
        near = _adjacent(graph, edges, lists)
        twice = jnp.concatenate([near.astype(units().factors)] * 2, axis=1)  # its rows go round
        x = jnp.arange(width, dtype=jnp.int32)

        def at(turn: jax.Array, found: jax.Array) -> jax.Array:
            # All pairs of x and x + shift, round the list: with half of its length as shift they come twice.
            shift = turn * together + 1 + jnp.arange(together, dtype=jnp.int32)[:, None]
            ends = near[:, x[None], (x[None] + shift) % width]
            once = (ends > 0) & ((shift < width // 2) | (x[None] < width // 2))[None]
            moved = jnp.stack(
                [lax.dynamic_slice_in_dim(twice, turn * together + 1 + i, width, 1) for i in range(together)], 1
            )
            Q = jnp.where(once[..., None], twice[:, None, :width] * moved, jnp.zeros_like(moved))
            Q = Q.reshape(near.shape[0], together * width, width)
            return found + times(Q.swapaxes(1, 2), Q)

        turns, hub = width // 2 // together, ids[number]
        found = lax.fori_loop(0, turns, at, jnp.zeros(near.shape, jnp.int32))
        found = (found * near).astype(jnp.int64)
        if detail == "graph":  # 12 arcs of its others; on 20 arcs in all
            once = jnp.where(hub >= 0, graph.offsets[jnp.maximum(hub, 0)], graph.heads.shape[0])
            return counts.at[once].add(found.sum(axis=(1, 2)) // 12 * 20, mode="drop")
        spokes = found.sum(axis=2) // 3  # once for each of the three others
        place = jnp.where(lists.real, lists.arcs, graph.heads.shape[0])
        counts = counts.at[_arcs_between(graph, edges, lists, near)].add(found, mode="drop")
        counts = counts.at[place].add(spokes, mode="drop")
        back = graph.back.at[place].get(mode="fill", fill_value=graph.heads.shape[0])
        return counts.at[back].add(spokes, mode="drop")

    return _over(ids, steps, step, counts)


@partial(jit64, static_argnames=("width",), donate_argnums=0)
def sum_around(
    sums: dict[str, jax.Array], values: dict[str, jax.Array], graph: Ranked, edges: Adjacency, ids: jax.Array,
    steps: jax.Array, *, width: int,
) -> dict[str, jax.Array]:  # fmt: skip
    """Add, at each arc u -> v, the sum over common neighbours w of int64 values ``[S]`` at u -> w, by name."""

    def step(number: jax.Array, sums: dict[str, jax.Array]) -> dict[str, jax.Array]:
        lists = _lists(graph, ids[number], width)
        near = _adjacent(graph, edges, lists)
        place = jnp.where(lists.real, lists.arcs, graph.heads.shape[0])
        found = _apply(near, *(values[name].at[place].get(mode="fill", fill_value=0) for name in sums))
        return {name: x.at[place].add(y, mode="drop") for (name, x), y in zip(sums.items(), found, strict=True)}

    return _over(ids, steps, step, sums)
