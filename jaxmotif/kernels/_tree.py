"""Matching of many patterns at once by their matching tree (NemoGPU 4.2, 4.3, 5.3), in many graphs side by side.

A row holds the graph nodes of a partial match and the tree node that it has reached. The dyads of a new graph node with
all nodes of the row decide to which child of the tree node the longer row belongs, if to any, so that one expansion
serves every child and all patterns below it. A row is extended in phases. Phase j walks the neighbours of the row's
j-th node that touch no earlier node of the row, so that a node is met once, and only where a child begins in the phase.

Symmetry is broken by conditions that the new node come after some nodes of the row. Where all children of a phase have
a condition in common, the walk begins after those nodes.
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
from jaxmotif.kernels._scatter import add_at, compact
from jaxmotif.kernels._subgraphs import Dyads, dyad_state, write_rows

NOT_WALKED = -1
"""Value of :attr:`Tree.after` for a phase in which no child begins."""


@partial(jax.tree_util.register_dataclass, data_fields=("roots", "begin", "pattern", "below", "after"), meta_fields=())
@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A matching tree of ``T`` nodes as data, level by level, so that the children of a node stand together.

    Attributes:
      roots: The tree node at which a graph node with each label code starts, int32 ``[L]``; ``T - 1``, which has no
        children, where no pattern starts with the label.
      begin: The first child of each tree node, then T; int32 ``[T + 1]``.
      pattern: The states of the new graph node's dyads with those before it, ``state_bits`` each and the first lowest,
        then its label code; uint32 ``[T]``, ascending among siblings.
      below: The positions of the row whose nodes the new node must come after, as bits; uint32 ``[T]``.
      after: For each phase the bits of ``below`` that all children which begin in the phase have in common, or
        :data:`NOT_WALKED`; int32 ``[k - 1, T]``.
    """

    roots: jax.Array
    begin: jax.Array
    pattern: jax.Array
    below: jax.Array
    after: jax.Array


class Matches(NamedTuple):
    """Partial matches of i nodes, at most ``C`` of them.

    Attributes:
      graph: The number of each row's graph, int32 ``[C]``.
      nodes: The graph nodes in matching order, numbered over all graphs; int32 ``[i, C]``.
      at: The tree nodes that the rows have reached, int32 ``[C]``.
    """

    graph: jax.Array
    nodes: jax.Array
    at: jax.Array


class Walks(NamedTuple):
    """The walks of a table's rows in one phase.

    Attributes:
      begin: Where in ``near`` the walk of each row begins, int32 ``[C]``.
      work: The walks, laid end to end.
    """

    begin: jax.Array
    work: FlatWork


def root_matches(dyads: Dyads, tree: Tree, *, capacity: int) -> Matches:
    """Return every node as a match of one node, with room for ``capacity`` rows, which is enough for all nodes."""
    node = jnp.arange(capacity, dtype=jnp.int32)
    label = jnp.zeros_like(node) if dyads.node_codes is None else dyads.node_codes
    return Matches(node // jnp.maximum(dyads.n, 1), node[None], take(tree.roots, label))


def open_walks(dyads: Dyads, tree: Tree, rows: Matches, size: jax.Array, phase: jax.Array) -> Walks:
    """Lay out the walks of the first ``size`` rows in a phase, an int32 scalar."""
    i, capacity = rows.nodes.shape
    row = jnp.arange(capacity, dtype=jnp.int32)
    is_row = row < size
    after = jnp.where(is_row, take(lax.dynamic_index_in_dim(tree.after, phase, keepdims=False), rows.at), NOT_WALKED)
    node = jnp.where(is_row, lax.dynamic_index_in_dim(rows.nodes, phase, keepdims=False), 0)
    # The walk begins after all nodes that every child of the phase must come after.
    bound = jnp.zeros_like(row)  # the lowest number in its graph that a new node may have
    for a in range(i):
        # NOT_WALKED has all bits set, but is no condition.
        is_bound = (after >= 0) & ((after >> a) & 1 > 0)
        # `near` holds numbers in the graph, and rows hold numbers over all graphs.
        bound = jnp.maximum(bound, jnp.where(is_bound, rows.nodes[a] - rows.graph * dyads.n + 1, 0))
    begin, stop = take(dyads.offsets, node), take(dyads.offsets, node + 1)
    begin, _ = ex.find(dyads.near, begin, stop, bound, steps=dyads.search_steps)
    # Rows for which no child begins in this phase, and places past the last row, have no walk.
    length = jnp.where(after >= 0, stop - begin, 0)
    return Walks(begin, ex.flat_work(jnp, length))


class _ExtensionArrays(NamedTuple):
    """The arrays that :func:`longer_matches` reads.

    The field ``nodes`` has one place of the rows after the other. The field ``numbers``, int32 ``[2]``, has the phase
    and the number of entries from one place to the next. The other fields are those of the arguments.
    """

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
    """Try to extend rows by the nodes at the flat positions ``first .. first + block`` of a phase.

    Args:
      dyads: The graphs.
      tree: The matching tree.
      rows: The rows.
      walks: The walks of the rows in the phase.
      phase: The phase, an int32 scalar.
      first: The first position, an int64 scalar.
      steps: A number such that every tree node of this level has fewer than ``2 ** steps`` children; static.
      block: The number of positions, static.

    Returns:
      Four arrays ``[block]``: which positions extend their row, the row, the node that is added, numbered over all
      graphs, and the tree node that the longer row has reached.
    """
    i = rows.nodes.shape[0]

    def extend(
        read: Read, a: _ExtensionArrays, row: jax.Array, offset: jax.Array, valid: jax.Array
    ) -> tuple[jax.Array, ...]:
        d = a.dyads
        local = read.load(d.near, jnp.where(valid, read.load(a.begin, row) + offset, 0))
        node = read.load(a.graph, row) * read.at(d.sizes, 0) + local
        phase, capacity = read.at(a.numbers, 0), read.at(a.numbers, 1)
        pattern, lower = jnp.zeros_like(node).astype(jnp.uint32), jnp.zeros_like(node)
        for place in range(i):
            old = read.load(a.nodes, place * capacity + row)
            state = dyad_state(read, d, old, local)
            # A node that touches an earlier node than the one whose neighbours are walked was met in an earlier phase.
            valid = valid & (node != old) & ((state == 0) | (place >= phase))
            pattern = pattern | (state.astype(jnp.uint32) << jnp.uint32(place * d.state_bits))
            # The places of the row that hold lower nodes are bits, so that a child's condition is one AND.
            lower = lower | jnp.where(old < node, jnp.int32(1 << place), jnp.int32(0))
        if d.node_codes is not None:
            pattern = pattern | (read.load(d.node_codes, node).astype(jnp.uint32) << jnp.uint32(i * d.state_bits))
        parent = read.load(a.at, row)
        # Children stand together in ascending order of patterns, so that one search finds the only one that fits.
        low, high = read.load(a.tree.begin, parent), read.load(a.tree.begin, parent + 1)
        child, there = read.find(a.tree.pattern, low, high, pattern, valid, steps)
        below = read.load(a.tree.below, child, there).astype(jnp.int32)
        fits = there & (lower & below == below)
        # The value -1 says that no child fits, as in lanes without a position.
        return row, node, jnp.where(fits, child, jnp.int32(-1))

    numbers = jnp.stack([phase, jnp.int32(rows.nodes.shape[1])])
    arrays = _ExtensionArrays(dyads, tree, walks.begin, rows.graph, rows.nodes.reshape(-1), rows.at, numbers)
    (row, node, child), _ = each_position(
        extend, arrays, walks.work, first, walks.work.total, block=block, fill=(0, 0, -1), name="tree"
    )
    return child >= 0, row, node, child


def fill_matches(
    dyads: Dyads,
    tree: Tree,
    rows: Matches,
    walks: Walks,
    phase: jax.Array,
    first: jax.Array,
    table: Matches,
    size: jax.Array,
    *,
    steps: int,
    block: int,
) -> tuple[Matches, jax.Array, jax.Array]:
    """Append longer rows to the next table, until the phase ends or another block might not fit.

    Args:
      dyads: The graphs.
      tree: The matching tree.
      rows: The rows.
      walks: The walks of the rows in the phase.
      phase: The phase, an int32 scalar.
      first: The position of the phase to go on from, an int64 scalar.
      table: The next table, of rows with one node more, which has room for at least ``block`` of them.
      size: The number of rows in the next table, an int32 scalar.
      steps: See :func:`longer_matches`.
      block: The number of positions that are tried at a time, static.

    Returns:
      The next table, its size, and the position to go on from.
    """
    capacity = table.at.shape[0]

    def more(carry: tuple[Matches, jax.Array, jax.Array]) -> jax.Array:
        _, size, first = carry
        return (first < walks.work.total) & (size + block <= capacity)

    def step(carry: tuple[Matches, jax.Array, jax.Array]) -> tuple[Matches, jax.Array, jax.Array]:
        table, size, first = carry
        valid, row, node, at = longer_matches(dyads, tree, rows, walks, phase, first, steps=steps, block=block)
        # Longer rows are moved to the front. The next block overwrites the rest of this one.
        order, count = compact(valid)
        row, node, at = (take(x, order) for x in (row, node, at))
        nodes = jnp.concatenate([rows.nodes.at[:, row].get(mode="promise_in_bounds"), node[None]])
        new = Matches(take(rows.graph, row), nodes, at)
        return write_rows(table, new, size), size + count, first + block

    return lax.while_loop(more, step, (table, size, first))


def count_matches_by_graph(
    dyads: Dyads,
    tree: Tree,
    rows: Matches,
    walks: Walks,
    phase: jax.Array,
    first_leaf: jax.Array,
    counts: jax.Array,
    *,
    leaves: int,
    steps: int,
    block: int,
) -> jax.Array:
    """Count the matches that a phase of the last level completes.

    Args:
      dyads: The graphs.
      tree: The matching tree.
      rows: The rows of the last level but one.
      walks: The walks of the rows in the phase.
      phase: The phase, an int32 scalar.
      first_leaf: The tree node of the first pattern, an int32 scalar.
      counts: The counts to add to, by graph and leaf: an int64 :func:`~jaxmotif.kernels._scatter.accumulator`.
      leaves: The number of leaves, static.
      steps: See :func:`longer_matches`.
      block: The number of positions that are tried at a time, static.
    """
    spare = counts.shape[0] - 1

    def body(number: jax.Array, counts: jax.Array) -> jax.Array:
        valid, row, _, at = longer_matches(dyads, tree, rows, walks, phase, number * block, steps=steps, block=block)
        cell = jnp.where(valid, take(rows.graph, row) * leaves + at - first_leaf, spare)
        return add_at(counts, cell, jnp.ones(block, jnp.int64))

    # Positions are int64, because a phase may have more than 2^31 of them.
    return lax.fori_loop(jnp.int64(0), -(-walks.work.total // block), body, counts)
