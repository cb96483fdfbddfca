"""Soft counts and densities: counts where weights are 0 and 1, and gradients by finite differences."""

from itertools import combinations, permutations
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif import Graph, graphlet_counts
from jaxmotif.features import all_patterns, pattern_features, soft_counts, soft_densities
from jaxmotif.patterns import Pattern, named_pattern, node_orbits
from tests.oracles import igraph_connected_counts

N = 6
PATTERNS = [name for size in (2, 3, 4) for name in all_patterns(size)]


def weights(seed, hard=False):
    values = np.triu(np.random.default_rng(seed).random((N, N)), 1)
    values = (values > 0.5).astype(float) if hard else values
    return values + values.T


def plain_sums(pattern, a, induced):
    """Add up the weights of all maps that send each node of a pattern to each node, ``[nodes of the pattern, n]``."""
    sums = np.zeros((pattern.num_nodes, len(a)))
    for places in permutations(range(len(a)), pattern.num_nodes):
        weight = 1.0
        for u, v in combinations(range(pattern.num_nodes), 2):
            w = a[places[u], places[v]]
            weight *= w if pattern.adjacency[u, v] else 1 - w if induced else 1
        sums[range(pattern.num_nodes), places] += weight
    return sums


@pytest.mark.parametrize("induced", [True, False])
def test_soft_counts_are_sums_over_all_placements(induced):
    a = weights(4)
    given = [named_pattern(name, directed=False) for name in PATTERNS]
    given += [Pattern.from_edges([(0, 1)], 3), named_pattern("house", directed=False)]
    sums = [plain_sums(pattern, a, induced) for pattern in given]
    copies = [plain_sums(pattern, pattern.adjacency.astype(float), True) for pattern in given]  # automorphisms
    totals = [x[0].sum() / same[0].sum() for x, same in zip(sums, copies, strict=True)]
    columns = [
        x[orbit] / same[orbit, orbit]  # maps that send the role to the node, over automorphisms that keep it
        for pattern, x, same in zip(given, sums, copies, strict=True)
        for orbit in sorted(set(node_orbits(pattern).tolist()))
    ]
    with jax.enable_x64(True):
        found = soft_counts(jnp.asarray(a) + 7 * jnp.eye(N), given, induced=induced)
        np.testing.assert_allclose(found, totals, rtol=1e-9)
        found = soft_counts(jnp.asarray(a), given, per="node", induced=induced)
        np.testing.assert_allclose(found, np.transpose(columns), rtol=1e-9)


@pytest.mark.parametrize("per", ["graph", "node"])
@pytest.mark.parametrize("induced", [True, False])
def test_soft_counts_of_hard_weights_are_exact(per, induced):
    adjacency = np.triu(np.random.default_rng(5).random((3, 12, 12)) < 0.5, 1)
    count = jax.jit(jax.vmap(lambda a: soft_counts(a, PATTERNS, per=per, induced=induced)))
    found = count(jnp.asarray(adjacency | adjacency.mT, jnp.float32))
    graphs = [Graph.from_edges(np.argwhere(near), 12) for near in adjacency]
    expected = pattern_features(graphs, PATTERNS, per=per, induced=induced).values
    np.testing.assert_array_equal(found.reshape(expected.shape), expected)
    if per == "graph" and induced:
        counts = [graphlet_counts(graph).counts for graph in graphs]
        np.testing.assert_array_equal(found, [[count[name] for name in PATTERNS] for count in counts])


def check_slopes(total, a, step):
    """Compare the gradient of a function of symmetric weights with its differences over steps both ways."""
    slope = jax.grad(total)(a)
    for i, j in combinations(range(N), 2):
        change = np.zeros((N, N))
        change[i, j] = change[j, i] = step
        difference = (total(a + change) - total(a - change)) / (2 * step)
        np.testing.assert_allclose(slope[i, j] + slope[j, i], difference, rtol=1e-6)


@pytest.mark.parametrize("per", ["graph", "node"])
def test_gradients_of_soft_counts_by_finite_differences(per):
    with jax.enable_x64(True):
        a, step = jnp.asarray(weights(6)), 1e-5
        factors = jnp.asarray(np.random.default_rng(7).random((N, 20)))
        count = jax.jit(lambda a: soft_counts(a, PATTERNS, per=per))
        total = jax.jit(lambda a: (found := count(a)).reshape(-1) @ factors.reshape(-1)[: found.size])
        check_slopes(total, a, step)


def test_hard_weights_are_counts():
    adjacency = weights(1, hard=True)
    graph = Graph.from_edges(np.argwhere(np.triu(adjacency)), N)
    counts = pattern_features(graph, ["wedge", "triangle", "4-cycle"], induced=False).values[0]
    found = soft_densities(jnp.asarray(adjacency, jnp.float32))
    np.testing.assert_allclose(found, counts / [3 * comb(N, 3), comb(N, 3), 3 * comb(N, 4)], rtol=1e-6)


def test_soft_weights_are_sums_of_products():
    a = weights(2)
    wedges = sum(a[i, j] * a[i, k] for i in range(N) for j, k in combinations(range(N), 2) if i not in (j, k))
    triangles = sum(a[i, j] * a[j, k] * a[i, k] for i, j, k in combinations(range(N), 3))
    cycles = sum(a[i, j] * a[j, k] * a[k, m] * a[m, i] for i, j, k, m in permutations(range(N), 4)) / 8
    found = soft_densities(jnp.asarray(a, jnp.float32) + 7 * jnp.eye(N, dtype=jnp.float32))
    expected = [wedges / (3 * comb(N, 3)), triangles / comb(N, 3), cycles / (3 * comb(N, 4))]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_gradients_by_finite_differences():
    with jax.enable_x64(True):
        a, step = jnp.asarray(weights(3)), 1e-6
        total = jax.jit(
            lambda a: soft_densities(a).wedge + 2 * soft_densities(a).triangle + 3 * soft_densities(a).cycle
        )
        check_slopes(total, a, step)


def test_refusals_and_small_graphs():
    assert soft_densities(jnp.ones((2, 2))) == (0, 0, 0)
    with pytest.raises(ValueError, match="vmap"):
        soft_densities(jnp.ones((3, 2, 2)))
    with pytest.raises(TypeError, match="floats"):
        soft_densities(jnp.ones((2, 2), int))
    for pattern in ("6-cycle", Pattern.from_edges([(0, 1)], node_labels=[0, 1]), Pattern.from_edges([(0, 1)], 2, True)):
        with pytest.raises(ValueError, match="up to 5 nodes without labels"):
            soft_counts(jnp.ones((2, 2)), [pattern])
    with pytest.raises(ValueError, match="n\\^4 numbers"):
        soft_counts(jnp.ones((200, 200)), ["5-clique"])
    with pytest.raises(TypeError, match="induced must be True or False, got 'no'"):
        soft_counts(jnp.ones((2, 2)), ["edge"], induced="no")
    with pytest.raises(ValueError, match="'graph' or 'node'"):
        soft_counts(jnp.ones((2, 2)), ["edge"], per="edge")


@pytest.mark.parametrize("value", [np.inf, np.nan, 7.0])
def test_the_diagonal_does_not_matter(value):
    weights = jnp.full((4, 4), 0.5)
    other = weights.at[jnp.arange(4), jnp.arange(4)].set(value)
    count = jax.value_and_grad(lambda weights: soft_counts(weights, ["triangle", "2-star"]).sum())
    for found, expected in zip(count(other), count(weights), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_no_patterns_have_no_columns():
    assert soft_counts(weights(1), []).shape == (0,)
    assert soft_counts(weights(1), [], per="node").shape == (N, 0)


def test_weights_of_numpy_and_lists(recwarn):
    square = np.ones((4, 4)) - np.eye(4)
    expected = soft_counts(jnp.asarray(square), ["triangle"]).tolist()
    assert soft_counts(square, ["triangle"]).tolist() == soft_counts(square.tolist(), ["triangle"]).tolist() == expected
    assert not recwarn.list


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32"])
def test_weights_of_few_bits_are_counted_in_float32(kind):
    near = np.triu(np.random.default_rng(1).random((60, 60)) < 0.5, 1)
    names = ["triangle", "4-path", "tailed-triangle"]
    counts = igraph_connected_counts(60, np.argwhere(near).tolist())
    found = soft_counts(jnp.asarray(near | near.T, kind), names)
    assert found.dtype == jnp.float32
    assert found.tolist() == [counts[name] for name in names]
