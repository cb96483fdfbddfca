"""The null model inside a user's program: a pure function for ``jax.jit`` and ``jax.vmap``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmotif.arrays._checks import check_switch, whole_number
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._keys import as_key
from jaxmotif.kernels._chains import run_chains
from jaxmotif.kernels._switching import Ends, Fixed, mix, whole_rounds
from jaxmotif.kernels._walking import WALK_LABELS, WALK_NODES
from jaxmotif.motifs._null_models import NULL_MODELS, null_model_of

if TYPE_CHECKING:
    from chex import PRNGKey
    from jax.typing import ArrayLike


def rewire_edges(
    edges: ArrayLike,
    key: int | PRNGKey,
    *,
    num_nodes: int,
    directed: bool = True,
    keep: str = "bidegree",
    attempts: float = 100.0,
) -> jax.Array:
    """Draw a random graph with the degrees of a given one, by the chains of :func:`jaxmotif.random_graphs`.

    The function is pure: jit it, and vmap it over keys, and over graphs padded to one size. The arrays may be traced,
    since the function looks only at their shapes. In graphs of at most 32 nodes and 256 rows the chain also walks
    through graphs that are not simple, because switches alone leave some ensembles of dense graphs in pieces.

    Args:
      edges: integers ``[m, 2]``. Rows with an id outside 0..num_nodes-1 are padding; self loops and repeated edges (of
        an undirected graph also the other way round) are left out.
      key: the key of the chain.
      num_nodes: the number of nodes; static.
      directed: static, whether rows are arcs.
      keep: static; for a directed graph ``"bidegree"`` (in-, out- and reciprocal degree) or ``"degree"`` (in- and
        out-degree).
      attempts: static, about how many pair switches to try for each edge, at most a million. Sparse graphs accept most
        of them, dense ones few. :func:`jaxmotif.random_graphs` finds out how many are needed, and reports how many were
        made.

    Returns:
      The new edges, int32 ``[m, 2]``. The ends of an undirected edge are in either order, and rows that were padding or
      left out hold -1.

    Raises:
      ValueError: edges of another shape, or an option out of range, when traced.
      TypeError: edges or a ``num_nodes`` that are no integers, a ``directed`` that is not True or False, or a ``keep``
        that is no name.

    Example:
      >>> ring = jax.numpy.array([(i, (i + 1) % 40) for i in range(40)])
      >>> draw = jax.jit(jax.vmap(lambda key: rewire_edges(ring, key, num_nodes=40)))
      >>> rings = draw(jax.random.split(jax.random.key(0), 3))
      >>> rings.shape, np.sort(rings[1, :, 1]).tolist() == list(range(40))
      ((3, 40, 2), True)
    """
    edges = jnp.asarray(edges)
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError(f"edges must have shape (m, 2), got {edges.shape}; vmap over batches")
    if not jnp.issubdtype(edges.dtype, np.integer):
        raise TypeError(f"edges must hold integers, got {edges.dtype}")
    check_switch(directed, "directed")
    num_nodes = whole_number(num_nodes, "num_nodes", 0, 2**31 - 1)
    if not 0 <= attempts <= 10**6:
        raise ValueError(f"attempts must be from 0 to a million for each edge, got {attempts}")
    if not isinstance(keep, str):  # other models are divided on the host
        raise TypeError(f"keep must be the name of a null model, got {type(keep).__name__}")
    if keep in NULL_MODELS and NULL_MODELS[keep].also is not None:
        raise ValueError(f"keep={keep!r}: rewire_edges keeps degrees alone; random_graphs keeps more")
    model = null_model_of(keep, directed)
    steps = np.int32(whole_rounds(math.ceil(2 * attempts)))  # a step tries one switch for every two labels
    options = {"directed": directed, "ordered": model.ordered, "mutual": directed and model is NULL_MODELS["bidegree"]}
    return _rewired(edges, as_key(key), steps, nodes=num_nodes, **options)


def _divided(
    u: jax.Array, v: jax.Array, inside: jax.Array, nodes: int, directed: bool, mutual: bool
) -> tuple[jax.Array, jax.Array]:
    """Divide the rows of traced edges as :func:`jaxmotif.motifs._null_models.Wiring.of` does.

    Returns:
      The kind of each row, int32 ``[m]``: 0 an arc, 1 a pair, 2 the opposite arc of a pair, 3 nothing; and for opposite
      arcs the row of the pair, int32 ``[m]``.
    """
    row, none = jnp.arange(u.shape[0], dtype=jnp.int32), np.iinfo(np.int64).max

    def name(a: jax.Array, b: jax.Array) -> jax.Array:
        return jnp.where(inside, a.astype(jnp.int64) * nodes + b.astype(jnp.int64), none)

    key = name(u, v) if directed else name(jnp.minimum(u, v), jnp.maximum(u, v))
    keys, rows = lax.sort((key, row), num_keys=1, is_stable=True)

    def first(wanted: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the first row of the wanted name, and whether there is one."""
        at = jnp.minimum(jnp.searchsorted(keys, wanted), keys.shape[0] - 1)
        return rows[at], (keys[at] == wanted) & (wanted != none)

    real = inside & (first(key)[0] == row)
    if not directed:
        return jnp.where(real, 1, 3), row
    if not mutual:
        return jnp.where(real, 0, 3), row
    back, both = first(name(v, u))
    return jnp.where(real, jnp.where(both, jnp.where(u < v, 1, 2), 0), 3), back


@jit64(static_argnames=("nodes", "directed", "mutual", "ordered"))
def _rewired(
    edges: jax.Array, key: PRNGKey, steps: jax.Array, *, nodes: int, directed: bool, mutual: bool, ordered: bool
) -> jax.Array:
    rows = edges.shape[0]
    if not rows:
        return edges.astype(jnp.int32)
    edges = edges.astype(jnp.int64)  # or the number of nodes would be cut to the type of the ids
    inside = ((edges >= 0) & (edges < nodes)).all(axis=1) & (edges[:, 0] != edges[:, 1])
    u, v = jnp.where(inside[None], edges.T, 0).astype(jnp.int32)
    kind, pair = _divided(u, v, inside, nodes, directed, mutual)
    moved = kind < 2
    # Nodes without edges take no part in moves, so the others are numbered without them.
    there = jnp.zeros(max(nodes, 1), jnp.int32).at[jnp.where(moved[None], jnp.stack([u, v]), nodes)].set(1, mode="drop")
    number = jnp.cumsum(there, dtype=jnp.int32) - there
    # Labels are arcs before pairs, in an order that has nothing to do with the rows'.
    row = jnp.arange(rows, dtype=jnp.int32)
    shuffled = mix(row.astype(jnp.uint32), jnp.uint32(0))
    _, _, order = lax.sort((jnp.minimum(kind, 2), shuffled, row), num_keys=2)
    tail, head = number[u[order]], number[v[order]]
    arcs, pairs = (kind == 0).sum(dtype=jnp.int32), (kind == 1).sum(dtype=jnp.int32)
    # Labels of arcs are sorted by their tails.
    tails, by_tail = lax.sort((jnp.where(row < arcs, tail, np.iinfo(np.int32).max), row), num_keys=1, is_stable=True)
    starts = jnp.searchsorted(tails, jnp.arange(2 * rows + 1, dtype=jnp.int32)).astype(jnp.int32)
    # No pilot can measure here how fast each kind moves. Where pairs are few, a quarter of the steps therefore proposes
    # pairs alone, so that no proposed arc is in their way.
    focus = (pairs >= 2) & (arcs > 2 * pairs)
    fixed = Fixed(by_tail, starts, arcs, pairs, there.sum(dtype=jnp.int32), row >= arcs, focus, ordered=ordered)
    one = jnp.zeros(1, jnp.int32)
    walks = nodes <= WALK_NODES and rows <= WALK_LABELS
    ends, _ = run_chains(
        fixed,
        Ends(tail, head),
        one,
        key,
        one,
        jnp.int32(1),
        jnp.int32(0),
        steps,
        lanes=rows,
        walks=walks,
    )
    # The ends go back to the nodes' own numbers, and the labels to the rows.
    node = (
        jnp.zeros(max(nodes, 1), jnp.int32)
        .at[jnp.where(there > 0, number, nodes)]
        .set(jnp.arange(max(nodes, 1), dtype=jnp.int32), mode="drop")
    )
    found = jnp.zeros((rows, 2), jnp.int32).at[order].set(node[jnp.stack(ends, axis=-1)])
    found = jnp.where((kind == 2)[:, None], found[pair][:, ::-1], found)
    return jnp.where((kind < 3)[:, None], found, -1)
