"""Matches that grow along a matching tree, at every phase of a table, in XLA and in Pallas."""

import dataclasses
from functools import partial

import jax
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.kernels import tree
from jaxmotif.kernels.wide import wide_ints
from jaxmotif.motifs.dyads import graph_slots, to_dyads
from jaxmotif.motifs.matching_engine import plan_matching
from tests.motifs.test_census import brute_force

OPEN = jax.jit(tree.open_walks)


@pytest.fixture(autouse=True)
def wide():
    with wide_ints():
        yield


def _table():
    """Pairs that begin the connected triads of a hub with a path along its leaves."""
    edges = [(0, v) for v in range(1, 20)] + [(v + 1, v) for v in range(1, 12)] + [(3, 2), (5, 0)]
    graph = Graph.from_edges(edges, directed=True)
    dyads, plan = to_dyads(graph, graph_slots(graph), 1 << 20), plan_matching(graph, 3, list(brute_force(graph, 3)))
    plan = dataclasses.replace(plan, tree=jax.device_put(plan.tree))
    roots = tree.root_matches(dyads, plan.tree)
    walks = OPEN(dyads, plan.tree, roots, np.int32(graph.n), np.int32(0))
    column = np.zeros(96, np.int32)
    fill = jax.jit(tree.fill_matches, static_argnames=("steps", "block", "backend"))
    table, size, _ = fill(
        dyads, plan.tree, roots, walks, np.int32(0), np.int64(0),
        tree.Matches(column, np.zeros((2, 96), np.int32), column), np.int32(0), steps=3, block=32, backend="xla",
    )  # fmt: skip
    return graph, dyads, plan, table, size


def test_longer_matches(form, monkeypatch):
    """All forms as XLA's, and together every connected triad once."""
    monkeypatch.setattr(tree, "LANES", form.lanes)
    graph, dyads, plan, table, size = _table()
    block, found = 4 * form.lanes, np.zeros(len(plan.classes), int)
    longer = form.jit(tree.longer_matches, steps=6, block=block)
    other = jax.jit(partial(tree.longer_matches, steps=6, block=block, backend="xla"))
    for phase in range(2):
        walks = OPEN(dyads, plan.tree, table, size, np.int32(phase))
        for first in range(0, int(walks.work.total), block):
            args = (dyads, plan.tree, table, walks, np.int32(phase), np.int64(first))
            valid, *lanes = longer(*args)
            wanted, *others = other(*args)
            np.testing.assert_array_equal(valid, wanted)
            for one, two in zip(lanes, others, strict=True):
                np.testing.assert_array_equal(np.asarray(one)[valid], np.asarray(two)[valid])
            leaves = np.asarray(lanes[-1])[valid] - plan.first_leaf
            np.add.at(found, plan.leaf_class[leaves], 1)
    assert dict(zip(plan.classes, found.tolist(), strict=True)) == brute_force(graph, 3)


def test_lowers_for_cuda(lowered_for_cuda):
    _, dyads, plan, table, size = _table()
    walks = OPEN(dyads, plan.tree, table, size, np.int32(1))
    longer = jax.jit(partial(tree.longer_matches, steps=6, block=4096, backend="pallas-triton"))
    text = lowered_for_cuda(longer, dyads, plan.tree, table, walks, np.int32(1), np.int64(0))
    assert "tree" in text
