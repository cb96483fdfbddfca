"""Moves of walks: a move of three arcs is along a path, and what it makes is undone by a move of the same kind."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.kernels import _walking as walking
from jaxmotif.motifs._null_models import Wiring, null_model_of

CHAINS = 4096


@pytest.mark.parametrize("keep", ["bidegree", "degree"])
def test_a_move_of_three_arcs_is_along_a_path(keep):
    """Nodes without outgoing arcs lead nowhere; arcs that coincide make no move; and every path is proposed."""
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (1, 3), (0, 4), (4, 1), (1, 4), (0, 5)]
    graph = Graph.from_edges(edges, 6, directed=True)
    wiring = Wiring.of(graph, null_model_of(keep, directed=True))
    fixed = wiring.fixed(wiring.labels, jax.devices()[0], np.zeros(wiring.labels, bool))
    tail, head = np.asarray(wiring.ends.tail), np.asarray(wiring.ends.head)
    # Any chain may have drawn any words; all are in the state that the graph is.
    words = jax.random.bits(jax.random.key(0), (5, CHAINS), jnp.uint32)
    base = jnp.arange(CHAINS, dtype=jnp.int32) * wiring.labels
    ends = jnp.tile(walking._packed(jnp.asarray(tail), jnp.asarray(head)), CHAINS)
    with jax.enable_x64(True):
        move, proposed = jax.jit(walking._propose)(fixed, base, ends, words)
    lanes = np.asarray(move.lane) - np.asarray(base)
    of_three = np.asarray(move.active[2])
    found = {tuple(labels) for labels in lanes.T[of_three & np.asarray(proposed)].tolist()}
    arcs = range(wiring.arcs)
    paths = {
        (i, j, k)
        for i in arcs for j in arcs for k in arcs
        if head[i] == tail[j] and head[j] == tail[k] and len({i, j, k}) == 3
    }  # fmt: skip
    assert found == paths
    assert paths
    refused = of_three & ~np.asarray(proposed)
    assert refused.any()
    two = ~of_three & np.asarray(proposed) & ~np.asarray(move.of_pairs)
    tails, heads = np.asarray(move.tail)[:2, two], np.asarray(move.head)[:2, two]
    assert (tails[0] != tails[1]).all()
    assert (heads[0] != heads[1]).all()
    assert len(set(zip(*lanes[:2, two].tolist(), strict=True))) == sum(
        tail[i] != tail[j] and head[i] != head[j] for i in arcs for j in arcs
    )
