"""What takes the tables over pairs of nodes (:mod:`jaxmotif.graphlets._hubs`), on a CPU: some rows at a time, in cache.

Matrices of neighbourhoods are padded, and reach all over tables that are much larger than a cache. Here an arc x -> u
is a list instead, the neighbours of u, and all arcs that leave a few nodes x are done together: they write and read the
rows of these nodes alone. What row x has in the matrix of u is kept from the pass over matrices. Sums are those at the
reversed arc, u -> x.
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
from jaxmotif.graphlets._by_lists import Listed
from jaxmotif.graphlets._hubs import ADJACENT, Blocks, Gathered, Ranked, own_columns
from jaxmotif.graphlets._tuning import Detail
from jaxmotif.kernels._expand import take

MOST = 2**12
"""Above all degrees: products of two numbers below, and sums of 32 of these, fit 32 bits."""

_CELLS, _STEP = 2**20, 2**14
"""Of the second table at a time; cells a step."""


class Lists(NamedTuple):
    """In pieces, in order of the node x.

    Attributes:
      arcs, offsets: int32 ``[P]``: of each piece the arc x -> u, and where in the neighbours of u it begins.
      starts: int32 ``[N + 1]``, the first piece of each core node.
      first, width: int32 ``[N]``: first cell of the matrix of each node, and its rows.
    """

    arcs: jax.Array
    offsets: jax.Array
    starts: jax.Array
    first: jax.Array
    width: jax.Array


class Layout(NamedTuple):
    """``matrices``, ``few``: all hubs; ``firsts``: cells before those of each size; ``cells``: in all; ``piece``: how
    many numbers one has at most; ``bits``: that codegrees fit in, 8 or 16."""

    lists: Lists
    matrices: list[Blocks]
    few: Listed | None
    firsts: list[np.int32]
    cells: int
    piece: int
    bits: int


def needed(cells: int, arcs: int) -> int:
    """Bytes of what is kept of so many cells of matrices and of lists, at most."""
    return 2 * cells + 12 * (arcs + cells // 16)


@in_earnest
def layout(
    graph: Ranked, matrices: list[Blocks], few: Listed | None, arcs: int, lengths: np.ndarray
) -> Layout:  # fmt: skip
    """``matrices``, ``few``: all hubs; ``arcs``: that are no padding; ``lengths``: core neighbours of each core
    node."""
    tails, heads, core = np.asarray(graph.tails)[:arcs], np.asarray(graph.heads)[:arcs], int(graph.core)
    nodes = graph.leaves.shape[0]
    first, width, firsts = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32), [0]
    for b in matrices:
        (place,) = np.nonzero(b.ids.reshape(-1) >= 0)
        ids = b.ids.reshape(-1)[place]
        first[ids], width[ids] = firsts[-1] + place * b.size**2, b.size
        firsts.append(firsts[-1] + b.cells)
    cells = firsts.pop()
    if few is not None:
        first[few.hubs], width[few.hubs], cells = few.first, few.lengths, few.cells
    inside = np.flatnonzero((tails >= core) & (heads >= core)).astype(np.int32)
    long = lengths[heads[inside] - core]
    # Half of a piece is padding, in the mean.
    piece = 32 if len(long) and long.mean() >= 64 else 16
    pieces = -(-long // piece)
    ends = np.cumsum(pieces)
    which = np.repeat(np.arange(len(inside), dtype=np.int32), pieces)
    offsets = (np.arange(len(which), dtype=np.int32) - (ends - pieces).astype(np.int32)[which]) * np.int32(piece)
    before = np.concatenate([[0], ends])[np.searchsorted(tails[inside], np.arange(nodes + 1) + core)]
    padded = (np.pad(x, (0, bucket_size(len(which)) - len(which))) for x in (inside[which], offsets))
    lists = Lists(*map(jnp.asarray, (*padded, before.astype(np.int32), first, width)))
    bits = 8 if np.diff(np.asarray(graph.offsets)).max() < 2**8 else 16
    return Layout(lists, matrices, few, [np.int32(x) for x in firsts], cells, piece, bits)


class _Pieces(NamedTuple):
    """Some pieces: int32 ``[P]`` arcs, which are there, nodes x in the core; ``[P, piece]`` cells of lists that are
    there, arcs u -> y, nodes y in the core, places in the matrix of u."""

    arc: jax.Array
    real: jax.Array
    node: jax.Array
    there: jax.Array
    near: jax.Array
    other: jax.Array
    place: jax.Array


def _pieces(graph: Ranked, at: Lists, begin: jax.Array, end: jax.Array, piece: int) -> _Pieces:
    number = begin + jnp.arange(_STEP // piece, dtype=jnp.int32)
    real = number < end
    number = jnp.where(real, number, 0)
    arc, offset = take(at.arcs, number), take(at.offsets, number)
    hub = take(graph.heads, arc)
    start = take(graph.offsets, hub) + take(graph.leaves, hub)
    lane = offset[:, None] + jnp.arange(piece, dtype=jnp.int32)[None]
    there = real[:, None] & (lane < (take(graph.offsets, hub + 1) - start)[:, None])
    lane = jnp.where(there, lane, 0)
    row = take(graph.back, arc) - start
    near = start[:, None] + lane
    place = (take(at.first, hub) + row * take(at.width, hub))[:, None] + lane
    return _Pieces(arc, real, take(graph.tails, arc) - graph.core, there, near, take(graph.heads, near) - graph.core,
                   place)  # fmt: skip


class _Words(NamedTuple):
    """Where numbers of so many bits are in words of 32: XLA reads a word as fast as a byte, and multiplies rows of
    words several times as fast."""

    bits: int

    @property
    def per_word(self) -> int:
        return 32 // self.bits

    def at(self, cell: jax.Array) -> jax.Array:
        return cell // self.per_word

    def put(self, cell: jax.Array, number: jax.Array) -> jax.Array:
        """What a number adds to its word."""
        return number.astype(jnp.uint32) << (cell % self.per_word * self.bits).astype(jnp.uint32)

    def read(self, words: jax.Array, cell: jax.Array) -> jax.Array:
        shift = (cell % self.per_word * self.bits).astype(jnp.uint32)
        return ((take(words, self.at(cell)) >> shift) & jnp.uint32(2**self.bits - 1)).astype(jnp.int32)


@partial(jit64, static_argnames=("size", "piece", "bits", "detail"))
def sums(
    graph: Ranked, at: Lists, held: Gathered, degrees: jax.Array, count: jax.Array,
    *, size: int, piece: int, bits: int, detail: Detail,
) -> tuple[jax.Array, dict[str, jax.Array]]:  # fmt: skip
    """The table of codegrees as :class:`jaxmotif.graphlets._hubs.Tables` has it, but as numbers of so many ``bits``,
    lowest first, in uint32 words ``[size, size * bits / 32]``; and sums at all arcs, int64, by name.

    ``chord`` is that of :class:`jaxmotif.graphlets._homs.Sums` only when summed around u: C(x, y) is added up over the
    pairs of common neighbours that x and y have in the neighbourhood of u, all at u -> x.

    Args:
      held: what matrices gave. degrees: of all nodes. count: of core nodes.
    """
    rows, step, wide, words = max(1, _CELLS // size), _STEP // piece, detail != "graph", _Words(bits)
    names = ("w3", "wing", "chord", "arm", "far", "side") if wide else ("w3", "wing", "chord")

    def cells(row: jax.Array, p: _Pieces) -> jax.Array:
        return jnp.where(p.real, row, 0)[:, None] * size + jnp.where(p.there, p.other, 0)

    def block(number: jax.Array, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        codegree, found = state
        first = number * rows
        begin, end = take(at.starts, first), take(at.starts, jnp.minimum(first + rows, count))
        steps = (end - begin + (step - 1)) // step

        def write(i: jax.Array, tables: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            codegree, pairs = tables
            p = _pieces(graph, at, begin + i * step, end, piece)
            cell = jnp.where(p.there, cells(take(graph.rows, p.node), p), size * size)
            # Sums fit their bits: none is carried over to the next number of a word.
            codegree = codegree.at[words.at(cell)].add(words.put(cell, p.there), mode="drop")
            if wide:
                cell = jnp.where(p.there, cells(p.node - first, p), rows * size)
                pairs = pairs.at[cell].add(_common(both, p), mode="drop")
            return codegree, pairs

        none = jnp.zeros(rows * size if wide else 1, jnp.int32)
        codegree, pairs = lax.fori_loop(jnp.int32(0), steps, write, (codegree, none))

        def read(i: jax.Array, found: jax.Array) -> jax.Array:
            p = _pieces(graph, at, begin + i * step, end, piece)
            shared = words.read(codegree, cells(take(graph.rows, p.node), p)).astype(jnp.int64)
            shared, common = jnp.where(p.there, shared, 0), _common(both, p).astype(jnp.int64)
            total = [*_two_sums(shared * (1 + (shared << 32)))]
            if wide:
                around = jnp.where(p.there, take(pairs, cells(p.node - first, p)), 0).astype(jnp.int64)
                total += [*_two_sums(shared * common + (around << 32)), *_two_sums(shared * take(of_heads, p.near))]
            else:
                total += [(shared * common).sum(axis=1)]
            return found.at[_reversed(graph, p)].add(jnp.stack(total, axis=-1), mode="drop")

        return codegree, lax.fori_loop(jnp.int32(0), steps, read, found)

    both, t = held.both, held.own[:, own_columns(detail).index("t")]
    of_heads = degrees.at[graph.heads].get(mode="clip") + (t << 32)
    node = jnp.arange(size, dtype=jnp.int32)
    leaves = graph.leaves.at[node + graph.core].get(mode="fill", fill_value=0)
    row = graph.rows.at[node].get(mode="fill", fill_value=size)
    # The diagonal has degrees.
    codegree = jnp.zeros((size, size // words.per_word), jnp.uint32)
    codegree = codegree.at[row, words.at(node)].set(words.put(node, leaves), mode="drop").reshape(-1)
    found = jnp.zeros((graph.heads.shape[0], len(names)), jnp.int64)
    codegree, found = lax.fori_loop(jnp.int32(0), (count + (rows - 1)) // rows, block, (codegree, found))
    # A leaf of u has one common neighbour with each of its others: u.
    inside = (graph.tails >= graph.core) & (graph.heads >= graph.core)
    leaves = jnp.where(inside, graph.leaves.at[graph.tails].get(mode="fill", fill_value=0), 0).astype(jnp.int64)
    sums = dict(zip(names, found.T, strict=True))
    return codegree.reshape(size, -1), sums | {x: sums[x] + leaves for x in ("w3", "wing", "far") if x in sums}


def _two_sums(numbers: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Sums over rows of the low and of the high halves of int64 numbers, each of which fits 32 bits: of what is read
    from a table, XLA makes several sums by reading it as often."""
    total = numbers.sum(axis=1)
    return total & 0xFFFFFFFF, total >> 32


def _common(both: jax.Array, p: _Pieces) -> jax.Array:
    return (take(both, p.place) & ((1 << ADJACENT) - 1)).astype(jnp.int32)


def _reversed(graph: Ranked, p: _Pieces) -> jax.Array:
    """The arcs u -> x; past the last where there is no piece."""
    return jnp.where(p.real, take(graph.back, p.arc), graph.heads.shape[0])


@partial(jit64, static_argnames=("piece",))
def around_common(
    graph: Ranked, at: Lists, both: jax.Array, values: jax.Array, *, piece: int
) -> jax.Array:  # fmt: skip
    """At each arc u -> x the sum over common neighbours y of int64 ``values [S]`` at u -> y."""
    step, end = _STEP // piece, at.starts[-1]

    def some(i: jax.Array, found: jax.Array) -> jax.Array:
        p = _pieces(graph, at, i * step, end, piece)
        adjacent = p.there & (take(both, p.place) >> ADJACENT > 0)
        return found.at[_reversed(graph, p)].add(jnp.where(adjacent, take(values, p.near), 0).sum(axis=1), mode="drop")

    return lax.fori_loop(jnp.int32(0), (end + (step - 1)) // step, some, jnp.zeros_like(values))
