"""Matches that grow along a matching tree, at every phase of a table, in XLA and in Pallas."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxmotif.arrays._compile import jit64
from jaxmotif.census._pair_states import census_graphs, graph_edges
from jaxmotif.graph import Graph
from jaxmotif.kernels import _tree as tree
from jaxmotif.motifs.matching_tree import plan_matching
from tests.census.test_count import brute_force
from tests.more import more

OPEN, ROOTS = jit64(tree.open_walks), jit64(tree.root_matches, static_argnames="capacity")
FILL = jit64(tree.fill_matches, static_argnames=("steps", "block"))


def _table(labels=False, matrix=True):
    """Pairs that begin the connected triads of a hub with a path along its leaves."""
    edges = [(0, v) for v in range(1, 20)] + [(v + 1, v) for v in range(1, 12)] + [(3, 2), (5, 0)]
    graph = Graph.from_edges(edges, directed=True, node_labels=[v % 3 for v in range(20)] if labels else None)
    dyads = census_graphs(graph, graph_edges(graph), matrix << 20, jax.devices()[0]).dyads
    plan = plan_matching(graph, 3, list(brute_force(graph, 3)))
    plan = dataclasses.replace(plan, tree=jax.device_put(plan.tree))
    roots = ROOTS(dyads, plan.tree, capacity=dyads.offsets.size - 1)
    walks = OPEN(dyads, plan.tree, roots, np.int32(graph.n), np.int32(0))
    column = np.zeros(96, np.int32)
    table, size, _ = FILL(
        dyads, plan.tree, roots, walks, np.int32(0), np.int64(0),
        tree.Matches(column, np.zeros((2, 96), np.int32), column), np.int32(0), steps=9, block=32,
    )  # fmt: skip
    return graph, dyads, plan, table, size


@pytest.mark.parametrize("options", [{"labels": True, "matrix": False}, *more({})])
def test_longer_matches(form, options):
    """All forms as XLA's, and together every connected triad once."""
    graph, dyads, plan, table, size = _table(**options)
    block, found = 4 * form.lanes, np.zeros(len(plan.classes), int)
    longer = form.jit(tree.longer_matches, steps=9, block=block)
    other = jit64(lambda *args: tree.longer_matches(*args, steps=9, block=block))
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


@pytest.mark.parametrize("options", more({}, {"labels": True}, {"matrix": False}))
def test_lowers_for_cuda(options, lowered_for_cuda):
    _, dyads, plan, table, size = _table(**options)
    walks = OPEN(dyads, plan.tree, table, size, np.int32(1))
    text = lowered_for_cuda(
        tree.longer_matches, dyads, plan.tree, table, walks, np.int32(1), np.int64(0), steps=9, block=4096
    )
    assert "tree" in text
