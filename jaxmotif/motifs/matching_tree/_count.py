"""Counting the occurrences of given classes in graphs side by side, in tables of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._compile import for_host, jit64, put64
from jaxmotif.census._pair_states import CensusGraphs
from jaxmotif.kernels import _tree as kernel
from jaxmotif.kernels._scatter import accumulator
from jaxmotif.kernels._subgraphs import Dyads
from jaxmotif.kernels._tree import Matches, Tree, Walks
from jaxmotif.motifs.matching_tree._plan import TreePlan


def count_by_matching(graphs: CensusGraphs, plan: TreePlan, *, block: int, tables: Sequence[int]) -> np.ndarray:
    """Count the occurrences of every class of a plan, int64 ``[graphs, classes]``.

    Args:
      block: positions tried at once.
      tables: how many partial matches of 2, 3, .. ``plan.size - 1`` nodes may be held at once, each at least ``block``;
        fewer where there cannot be as many.

    Raises:
      ValueError: more counts than 32 bits can number.
    """
    dyads, nodes, rooms = graphs.dyads, graphs.num_nodes, graphs.dyads.offsets.shape[0] - 1
    if not nodes:
        return np.zeros((graphs.count, len(plan.classes)), np.int64)
    cells = graphs.count * plan.leaves
    if cells >= 2**31 - 1:
        raise ValueError(
            f"{graphs.count} graphs of {plan.leaves} leaves take {cells} counts, over 2^31: use fewer at a time"
        )
    (device,) = dyads.offsets.devices()
    tree = put64(plan.tree, device)
    # A row has fewer extensions than 2 ** search_steps in each of its phases, of which there are at most 7, so more
    # room is never used.
    most = [(dyads.near.shape[0] << i * (dyads.search_steps + 3)) + block for i in range(plan.size - 2)]
    tables = [min(pair) for pair in zip(tables, most, strict=False)]
    counts = _counts(cells)

    def descend(rows: Matches, size: int) -> None:
        nonlocal counts
        i = rows.nodes.shape[0]
        steps = plan.steps[i - 1]
        table, held = None if i == plan.size - 1 else _empty(i + 1, tables[i - 1]), 0
        # Work goes in phases: a node is met in the phase of the row's first node that it touches.
        for phase in range(i):
            walks, total = _open(dyads, tree, rows, np.array([size, phase], np.int32))
            if table is None:  # because the last level is counted, never stored
                at = np.array([phase, plan.first_leaf], np.int32)
                counts = _count(dyads, tree, rows, walks, at, counts, leaves=plan.leaves, steps=steps, block=block)
                continue
            first, positions = 0, int(total)
            while first < positions:
                at = np.array([phase, first, held])
                table, numbers = _fill(dyads, tree, rows, walks, at, table, steps=steps, block=block)
                held, first = np.asarray(numbers).tolist()
                # The search is depth first: a full table is worked off before more is put into it.
                if held + block > tables[i - 1]:
                    descend(table, held)
                    held = 0
        if table is not None and held:
            descend(table, held)

    descend(_roots(dyads, tree, capacity=rooms), nodes)
    by_leaf = np.asarray(counts)[:cells].reshape(graphs.count, plan.leaves)[:, : plan.leaf_class.size]
    found = np.zeros((len(plan.classes), graphs.count), np.int64)
    np.add.at(found, plan.leaf_class, by_leaf.T)  # since orders of one class find different occurrences of it
    return found.T


@partial(jit64, static_argnums=0)
def _counts(cells: int) -> jax.Array:
    return accumulator(cells, jnp.int64)


@partial(jit64, static_argnums=(0, 1))
def _empty(nodes: int, capacity: int) -> Matches:
    column = jnp.zeros(capacity, jnp.int32)
    return Matches(column, jnp.zeros((nodes, capacity), jnp.int32), column)


_roots = jit64(kernel.root_matches, static_argnames="capacity")


@jit64
def _open(dyads: Dyads, tree: Tree, rows: Matches, at: jax.Array) -> tuple[Walks, jax.Array]:
    """Open the walks of a phase of the rows of a table.

    Args:
      dyads: the graphs.
      tree: the matching tree.
      rows: the matches to extend.
      at: int64 ``[2]``, how many rows there are, and the phase.

    Returns:
      The walks, and their number of positions.
    """
    walks = kernel.open_walks(dyads, tree, rows, at[0], at[1])
    return walks, for_host(walks.work.total)


@partial(jit64, static_argnames=("steps", "block"))
def _fill(
    dyads: Dyads, tree: Tree, rows: Matches, walks: Walks, at: jax.Array, table: Matches, *, steps: int, block: int
) -> tuple[Matches, jax.Array]:
    """Fill a table with extensions of rows, until it is full or the walks end.

    Args:
      dyads: the graphs.
      tree: the matching tree.
      rows: the matches to extend.
      walks: the walks of the phase.
      at: int64 ``[3]``, the phase, the position to go on at, and how many rows the table holds.
      table: the matches that are filled in.
      steps: static, steps of the search for a row.
      block: static, positions that are worked on together.

    Returns:
      The table; and int64 ``[2]``, how many rows it then holds, and the position to go on at.
    """
    phase, first, held = at[0].astype(jnp.int32), at[1], at[2].astype(jnp.int32)
    table, held, first = kernel.fill_matches(
        dyads, tree, rows, walks, phase, first, table, held, steps=steps, block=block
    )
    return table, for_host(jnp.stack([held.astype(jnp.int64), first]))


@partial(jit64, static_argnames=("leaves", "steps", "block"), donate_argnames="counts")
def _count(
    dyads: Dyads,
    tree: Tree,
    rows: Matches,
    walks: Walks,
    at: jax.Array,
    counts: jax.Array,
    *,
    leaves: int,
    steps: int,
    block: int,
) -> jax.Array:
    """Count the extensions of rows by graph and leaf of the tree.

    Args:
      dyads: the graphs.
      tree: the matching tree.
      rows: the matches to extend.
      walks: the walks of the phase.
      at: int64 ``[2]``, the phase, and the tree node of the first leaf.
      counts: int64, the counts so far.
      leaves: static, how many leaves the tree has.
      steps: static, steps of the search for a row.
      block: static, positions that are worked on together.
    """
    return kernel.count_matches_by_graph(
        dyads, tree, rows, walks, at[0], at[1], counts, leaves=leaves, steps=steps, block=block
    )
