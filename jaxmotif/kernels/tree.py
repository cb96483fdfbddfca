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
from jax.experimental import pallas as pl

from jaxmotif.kernels import expand as ex
from jaxmotif.kernels.census import Dyads, dyad_state
from jaxmotif.kernels.choice import Backend
from jaxmotif.kernels.expand import FlatWork, take
from jaxmotif.kernels.scatter import accumulator, add_at, put_at
from jaxmotif.kernels.wide import wide_ints

LANES = 1024
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

    roots: Any
    begin: Any
    pattern: Any
    below: Any
    after: Any


class Matches(NamedTuple):
    """Partial matches of i nodes, ``C`` of them at most.

    Attributes:
      base: int32 ``[C]``, number of the first node of the row's graph.
      nodes: int32 ``[i, C]``, over all graphs, in matching order.
      at: int32 ``[C]``, tree nodes.
    """

    base: Any
    nodes: Any
    at: Any


class Walks(NamedTuple):
    """A phase of a table: where in ``near`` each row's walk begins, int32 ``[C]``, and all walks end to end."""

    begin: Any
    work: FlatWork


def root_matches(dyads: Dyads, tree: Tree) -> Matches:
    """Every node as a match of one node."""
    node = jnp.arange(dyads.offsets.shape[0] - 1, dtype=jnp.int32)
    label = jnp.zeros_like(node) if dyads.node_codes is None else dyads.node_codes
    return Matches(node // dyads.n * dyads.n, node[None], take(tree.roots, label))


def open_walks(dyads: Dyads, tree: Tree, rows: Matches, size: Any, phase: Any) -> Walks:
    """Lay out phase ``phase`` (int32 scalar) of the first ``size`` rows."""
    i, capacity = rows.nodes.shape
    row = jnp.arange(capacity, dtype=jnp.int32)
    within = row < size
    after = jnp.where(within, take(lax.dynamic_index_in_dim(tree.after, phase, keepdims=False), rows.at), NOT_WALKED)
    node = jnp.where(within, lax.dynamic_index_in_dim(rows.nodes, phase, keepdims=False), 0)
    bound = jnp.zeros_like(row)  # the first local number to try
    for a in range(i):
        ask = (after >= 0) & ((after >> a) & 1 > 0)
        bound = jnp.maximum(bound, jnp.where(ask, rows.nodes[a] - rows.base + 1, 0))
    begin, stop = take(dyads.offsets, node), take(dyads.offsets, node + 1)
    begin, _ = ex.find(dyads.near, begin, stop, bound, steps=dyads.degree_bits)
    length = jnp.where(after >= 0, stop - begin, 0)
    some = length > 0
    place = jnp.where(some, jnp.cumsum(some, dtype=jnp.int32) - 1, capacity)
    items = jnp.zeros(capacity + 1, jnp.int32).at[place].set(row, mode="promise_in_bounds")[:capacity]
    with wide_ints():
        length = length.astype(jnp.int64)
        end = jnp.cumsum(length)
        starts = jnp.full(capacity + 1, end[-1]).at[place].set(end - length, mode="promise_in_bounds")
        starts = starts.at[capacity].set(end[-1])
    return Walks(begin, FlatWork(items, starts))


def longer_matches(
    dyads: Dyads, tree: Tree, rows: Matches, walks: Walks, phase: Any, first: Any,
    *, steps: int, block: int, backend: Backend,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """Try the flat positions ``first .. first + block`` of a phase.

    Args:
      steps: static; no node of this level has ``2 ** steps`` children or more.

    Returns:
      ``(valid, row, node, at)``, each ``[block]``: which positions extend their row, the row, the node added (over all
      graphs), and the tree node of the longer row.
    """
    if backend == "pallas-triton" and dyads.matrix is not None and dyads.node_codes is None:
        return _pallas(dyads, tree, rows, walks, phase, first, block)
    i = rows.nodes.shape[0]
    row, offset, valid = ex.expand(walks.work, first, walks.work.total, block)
    local = take(dyads.near, jnp.where(valid, take(walks.begin, row) + offset, 0))
    node = take(rows.base, row) + local
    pattern, lower = jnp.zeros(block, jnp.uint32), jnp.zeros(block, jnp.uint32)
    for a in range(i):
        old = take(rows.nodes[a], row)
        state = dyad_state(dyads, old, local)
        valid = valid & (node != old) & ((state == 0) | (a >= phase))
        pattern = pattern | (state.astype(jnp.uint32) << (a * dyads.state_bits))
        lower = lower | ((old < node).astype(jnp.uint32) << a)
    if dyads.node_codes is not None:
        pattern = pattern | (take(dyads.node_codes, node).astype(jnp.uint32) << (i * dyads.state_bits))
    parent = take(rows.at, row)
    child, there = ex.find(tree.pattern, take(tree.begin, parent), take(tree.begin, parent + 1), pattern, steps)
    child = jnp.where(valid & there, child, 0)
    below = take(tree.below, child)
    return valid & there & (lower & below == below), row, node, child


def fill_matches(
    dyads: Dyads, tree: Tree, rows: Matches, walks: Walks, phase: Any, first: Any, table: Matches, size: Any,
    *, steps: int, block: int, backend: Backend,
) -> tuple[Matches, Any, Any]:  # fmt: skip
    """Append longer rows to the next table until the phase ends or another block might not fit.

    Args:
      first: int64 scalar, where to go on in the phase.
      table: rows of one node more, with capacity for at least ``block`` rows.
      size: int32 scalar, how many it holds.

    Returns:
      The table, its size, and where to go on.
    """
    capacity = table.at.shape[0]

    def more(carry: Any) -> Any:
        _, size, first = carry
        return (first < walks.work.total) & (size + block <= capacity)

    def step(carry: Any) -> Any:
        table, size, first = carry
        valid, row, node, at = longer_matches(
            dyads, tree, rows, walks, phase, first, steps=steps, block=block, backend=backend
        )  # fmt: skip
        count = jnp.cumsum(valid, dtype=jnp.int32)
        place = jnp.where(valid, count - 1, block)
        source = put_at(accumulator(block, jnp.int32, backend), place, jnp.arange(block, dtype=jnp.int32), backend)
        source = source[:block]
        row, node, at = (take(x, source) for x in (row, node, at))
        nodes = jnp.concatenate([rows.nodes.at[:, row].get(mode="promise_in_bounds"), node[None]])
        new = Matches(take(rows.base, row), nodes, at)
        table = Matches(*(
            lax.dynamic_update_slice(x, y, (jnp.int32(0), size)[-x.ndim :]) for x, y in zip(table, new, strict=True)
        ))  # fmt: skip
        return table, size + count[-1], first + block

    return lax.while_loop(more, step, (table, size, first))


def count_matches_by_graph(
    dyads: Dyads, tree: Tree, rows: Matches, walks: Walks, phase: Any, first_leaf: Any, counts: Any,
    *, leaves: int, size: int, steps: int, block: int, backend: Backend,
) -> Any:  # fmt: skip
    """Count the whole matches of a phase of the last level.

    Args:
      first_leaf: int32 scalar, the tree node of the first pattern.
      counts: int64, to add to: an :func:`~jaxmotif.kernels.scatter.accumulator` of ``size`` = graphs * leaves.
      leaves, size: static.
    """

    def body(number: Any, counts: Any) -> Any:
        valid, _, node, at = longer_matches(
            dyads, tree, rows, walks, phase, number * block, steps=steps, block=block, backend=backend
        )  # fmt: skip
        cell = jnp.where(valid, node // dyads.n * leaves + at - first_leaf, size)
        return add_at(counts, cell, jnp.ones(block, jnp.int64), backend)

    return lax.fori_loop(jnp.int64(0), -(-walks.work.total // block), body, counts)


def _pallas(
    dyads: Dyads, tree: Tree, rows: Matches, walks: Walks, phase: Any, first: Any, block: int
) -> tuple[Any, Any, Any, Any]:
    i = rows.nodes.shape[0]
    items, starts = ex.window(walks.work, first, block)
    with wide_ints():
        count = jnp.clip(walks.work.total - first, 0, block).astype(jnp.int32)
    lists, n, bits = items.shape[0], dyads.n, dyads.state_bits

    def kernel(scalars, items, starts, begin, near, matrix, base_of, at, tree_begin, patterns, below_of, *refs):
        nodes, (row_ref, node_ref, child_ref) = refs[:i], refs[i:]
        count, phase, tile = scalars[0], scalars[1], pl.program_id(0)

        @pl.when(tile * LANES >= count)
        def _():
            row_ref[...] = jnp.zeros((LANES,), jnp.int32)
            node_ref[...] = jnp.zeros((LANES,), jnp.int32)
            child_ref[...] = jnp.full((LANES,), -1, jnp.int32)

        @pl.when(tile * LANES < count)
        def _():
            index, offset, valid = ex.expand_lanes(starts, lists, count, LANES, tile)
            row = ex.load(items, index, valid)
            local = ex.load(near, ex.load(begin, row, valid) + offset, valid)
            node = ex.load(base_of, row, valid) + local
            pattern, lower = jnp.zeros((LANES,), jnp.int32), jnp.zeros((LANES,), jnp.int32)
            parent = ex.load(at, row, valid)
            for a in range(i):
                old = ex.load(nodes[a], row, valid)
                state = ex.load(matrix, old * n + local, valid).astype(jnp.int32)
                valid = valid & (node != old) & ((state == 0) | (a >= phase))
                pattern = pattern | lax.shift_left(state, jnp.full_like(state, a * bits))
                lower = lower | jnp.where(old < node, 1 << a, 0)
            low, high = ex.load(tree_begin, parent, valid), ex.load(tree_begin, parent + 1, valid)
            child, there = ex.find_lanes(patterns, low, high, pattern, valid)
            below = ex.load(below_of, child, there)
            row_ref[...], node_ref[...] = row, node
            child_ref[...] = jnp.where(there & (lower & below == below), child, -1)

    signed = (lax.bitcast_convert_type(x, jnp.int32) for x in (tree.pattern, tree.below))
    operands = [
        jnp.stack([count, phase]), items, starts, walks.begin, dyads.near, dyads.matrix, rows.base, rows.at, tree.begin,
        *signed, *(rows.nodes[a] for a in range(i)),
    ]  # fmt: skip
    with jax.enable_x64(False):
        row, node, child = pl.pallas_call(
            kernel, grid=(block // LANES,), out_shape=[jax.ShapeDtypeStruct((block,), jnp.int32)] * 3,
            in_specs=[ex.WHOLE] * len(operands), out_specs=[pl.BlockSpec((LANES,), lambda p: (p,))] * 3,
            compiler_params=ex.triton(), name="tree",
        )(*operands)  # fmt: skip
    return child >= 0, row, node, child
