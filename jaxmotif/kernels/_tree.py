"""Matching many patterns at once by their matching tree (NemoGPU 4.2, 4.3, 5.3), on many graphs side by side.

A row holds the graph nodes of a partial match and the tree node it stands at. The dyads of a new graph node with all
nodes of the row decide which child the longer row belongs to, if any: one expansion serves every child, and all
patterns below it. A row is extended in phases: phase j walks the neighbours of its j-th node that touch none before,
so that a node is met once, and only where some child begins there.

Symmetry is broken by conditions that the new node come after some nodes of the row. Where all children of a phase ask
for the same ones, the walk begins behind them.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxmotif.kernels import _expand as ex
from jaxmotif.kernels._expand import FlatWork, take
from jaxmotif.kernels._lane_body import Read, each_position
from jaxmotif.kernels._scatter import accumulator, add_at, put_at
from jaxmotif.kernels._subgraphs import Dyads, dyad_state

NOT_WALKED = -1


@partial(jax.tree_util.register_dataclass, data_fields=("roots", "begin", "pattern", "below", "after"), meta_fields=())
@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A matching tree as data; its ``T`` nodes level by level, so that the children of a node stand together.

    Attributes:
      roots: int32 ``[L]``, the tree node that a graph node with each label code starts at (``T - 1``, which has no
        children, for none).
      begin: int32 ``[T + 1]``, first child of each node.
      pattern: uint32 ``[T]``, ascending among siblings: the states of the new node's dyads with those before it,
        ``state_bits`` each, the first lowest, then its label code.
      below: uint32 ``[T]``, as bits the positions of the row whose nodes the new one must come after.
      after: int32 ``[k - 1, T]``, for each phase the bits that all children beginning there have in common, or
        :data:`NOT_WALKED`.
    """

    roots: jax.Array
    begin: jax.Array
    pattern: jax.Array
    below: jax.Array
    after: jax.Array


class Matches(NamedTuple):
    """Partial matches of i nodes, ``C`` of them at most.

    Attributes:
      graph: int32 ``[C]``, number of the row's graph.
      nodes: int32 ``[i, C]``, over all graphs, in matching order.
      at: int32 ``[C]``, tree nodes.
    """

    graph: jax.Array
    nodes: jax.Array
    at: jax.Array


class Walks(NamedTuple):
    """A phase of a table: where in ``near`` each row's walk begins, int32 ``[C]``, and all walks end to end."""

    begin: jax.Array
    work: FlatWork


def root_matches(dyads: Dyads, tree: Tree, *, capacity: int) -> Matches:
    """Every node as a match of one node; ``capacity``: rows, at least as many as there are nodes."""
    node = jnp.arange(capacity, dtype=jnp.int32)
    label = jnp.zeros_like(node) if dyads.node_codes is None else dyads.node_codes
    return Matches(node // jnp.maximum(dyads.n, 1), node[None], take(tree.roots, label))


def open_walks(dyads: Dyads, tree: Tree, rows: Matches, size: jax.Array, phase: jax.Array) -> Walks:
    """Lay out phase ``phase`` (int32 scalar) of the first ``size`` rows."""
    i, capacity = rows.nodes.shape
    row = jnp.arange(capacity, dtype=jnp.int32)
    within = row < size
    after = jnp.where(within, take(lax.dynamic_index_in_dim(tree.after, phase, keepdims=False), rows.at), NOT_WALKED)
    node = jnp.where(within, lax.dynamic_index_in_dim(rows.nodes, phase, keepdims=False), 0)
    # What all children of the phase ask for is no longer asked: the walk begins behind those nodes.
    bound = jnp.zeros_like(row)  # the first local number to try
    # NOT_WALKED has all bits set, and asks for nothing.
    for a in range(i):
        ask = (after >= 0) & ((after >> a) & 1 > 0)
        # In local numbers, as `near` holds them; rows have numbers over all graphs.
        bound = jnp.maximum(bound, jnp.where(ask, rows.nodes[a] - rows.graph * dyads.n + 1, 0))
    begin, stop = take(dyads.offsets, node), take(dyads.offsets, node + 1)
    begin, _ = ex.find(dyads.near, begin, stop, bound, steps=dyads.search_steps)
    # Rows of this phase without a child, and rows past the last, have no walk.
    length = jnp.where(after >= 0, stop - begin, 0)
    return Walks(begin, ex.flat_work(jnp, length))


class _Tried(NamedTuple):
    """What :func:`longer_matches` reads (``nodes``: one place after the other; ``numbers``: int32 ``[2]``, the phase
    and how far the places are apart)."""

    dyads: Dyads
    tree: Any
    begin: jax.Array
    graph: jax.Array
    nodes: jax.Array
    at: jax.Array
    numbers: jax.Array


def longer_matches(
    dyads: Dyads, tree: Tree, rows: Matches, walks: Walks, phase: jax.Array, first: jax.Array, *, steps: int, block: int
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Try the flat positions ``first .. first + block`` of a phase.

    Args:
      steps: static; no node of this level has ``2 ** steps`` children or more.

    Returns:
      ``(valid, row, node, at)``, each ``[block]``: which positions extend their row, the row, the node added (over all
      graphs), and the tree node of the longer row.
    """
    i = rows.nodes.shape[0]

    def extend(read: Read, a: _Tried, row: jax.Array, offset: jax.Array, valid: jax.Array) -> tuple[jax.Array, ...]:
        d = a.dyads
        local = read.load(d.near, jnp.where(valid, read.load(a.begin, row) + offset, 0))
        node = read.load(a.graph, row) * read.at(d.sizes, 0) + local
        phase, capacity = read.at(a.numbers, 0), read.at(a.numbers, 1)
        pattern, lower = jnp.zeros_like(node).astype(jnp.uint32), jnp.zeros_like(node)
        for place in range(i):
            old = read.load(a.nodes, place * capacity + row)
            state = dyad_state(read, d, old, local)
            # A node that touches one before the node whose neighbours are walked was met in that phase.
            valid = valid & (node != old) & ((state == 0) | (place >= phase))
            pattern = pattern | (state.astype(jnp.uint32) << jnp.uint32(place * d.state_bits))
            # Which places of the row hold lower nodes: what a child asks for is then one AND.
            lower = lower | jnp.where(old < node, jnp.int32(1 << place), jnp.int32(0))
        if d.node_codes is not None:
            pattern = pattern | (read.load(d.node_codes, node).astype(jnp.uint32) << jnp.uint32(i * d.state_bits))
        # The child that looks like this, if any; and the nodes that the new one must come after.
        parent = read.load(a.at, row)
        # Children stand together, ascending by pattern: one search finds the only one that fits.
        low, high = read.load(a.tree.begin, parent), read.load(a.tree.begin, parent + 1)
        child, there = read.find(a.tree.pattern, low, high, pattern, valid, steps)
        below = read.load(a.tree.below, child, there).astype(jnp.int32)
        fits = there & (lower & below == below)
        # No child fits: -1, which is also what fills a tile without positions.
        return row, node, jnp.where(fits, child, jnp.int32(-1))

    numbers = jnp.stack([phase, jnp.int32(rows.nodes.shape[1])])
    arrays = _Tried(dyads, tree, walks.begin, rows.graph, rows.nodes.reshape(-1), rows.at, numbers)
    (row, node, child), _ = each_position(
        extend, arrays, walks.work, first, walks.work.total, block=block, fill=(0, 0, -1), name="tree"
    )
    return child >= 0, row, node, child


def fill_matches(
    dyads: Dyads, tree: Tree, rows: Matches, walks: Walks, phase: jax.Array, first: jax.Array, table: Matches,
    size: jax.Array, *, steps: int, block: int,
) -> tuple[Matches, jax.Array, jax.Array]:  # fmt: skip
    """Append longer rows to the next table until the phase ends or another block might not fit.

    Args:
      first: int64 scalar, where to go on in the phase.
      table: rows of one node more, with capacity for at least ``block`` rows.
      size: int32 scalar, how many it holds.

    Returns:
      The table, its size, and where to go on.
    """
    capacity = table.at.shape[0]

    def more(carry: tuple[Matches, jax.Array, jax.Array]) -> jax.Array:
        _, size, first = carry
        return (first < walks.work.total) & (size + block <= capacity)

    def step(carry: tuple[Matches, jax.Array, jax.Array]) -> tuple[Matches, jax.Array, jax.Array]:
        table, size, first = carry
        valid, row, node, at = longer_matches(dyads, tree, rows, walks, phase, first, steps=steps, block=block)
        # Bring the longer rows to the front; a whole block is written, and the next one over what is none.
        count = jnp.cumsum(valid, dtype=jnp.int32)
        place = jnp.where(valid, count - 1, block)
        source = put_at(accumulator(block, jnp.int32), place, jnp.arange(block, dtype=jnp.int32))[:block]
        row, node, at = (take(x, source) for x in (row, node, at))
        nodes = jnp.concatenate([rows.nodes.at[:, row].get(mode="promise_in_bounds"), node[None]])
        new = Matches(take(rows.graph, row), nodes, at)
        table = Matches(*(
            # Arrays of rows take (place, row), those of one value a row take (row,).
            lax.dynamic_update_slice(x, y, (jnp.int32(0), size)[-x.ndim :]) for x, y in zip(table, new, strict=True)
        ))  # fmt: skip
        return table, size + count[-1], first + block

    return lax.while_loop(more, step, (table, size, first))


def count_matches_by_graph(
    dyads: Dyads, tree: Tree, rows: Matches, walks: Walks, phase: jax.Array, first_leaf: jax.Array, counts: jax.Array,
    *, leaves: int, steps: int, block: int,
) -> jax.Array:  # fmt: skip
    """Count the whole matches of a phase of the last level.

    Args:
      first_leaf: int32 scalar, the tree node of the first pattern.
      counts: int64, to add to: an :func:`~jaxmotif.kernels._scatter.accumulator` of graphs * leaves entries.
      leaves: static.
    """
    spare = counts.shape[0] - 1

    def body(number: jax.Array, counts: jax.Array) -> jax.Array:
        valid, row, _, at = longer_matches(dyads, tree, rows, walks, phase, number * block, steps=steps, block=block)
        cell = jnp.where(valid, take(rows.graph, row) * leaves + at - first_leaf, spare)
        return add_at(counts, cell, jnp.ones(block, jnp.int64))

    # Positions are int64: a phase may have more than 2^31.
    return lax.fori_loop(jnp.int64(0), -(-walks.work.total // block), body, counts)
