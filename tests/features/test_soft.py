"""Soft densities: counts where weights are 0 and 1, and gradients by finite differences."""

from itertools import combinations, permutations
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.features import pattern_features, soft_densities

N = 6


def weights(seed, hard=False):
    values = np.triu(np.random.default_rng(seed).random((N, N)), 1)
    values = (values > 0.5).astype(float) if hard else values
    return values + values.T


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
        slope = jax.grad(total)(a)
        for i, j in combinations(range(N), 2):
            change = np.zeros((N, N))
            change[i, j] = change[j, i] = step
            difference = (total(a + change) - total(a - change)) / (2 * step)
            np.testing.assert_allclose(slope[i, j] + slope[j, i], difference, rtol=1e-6)


def test_refusals_and_small_graphs():
    assert soft_densities(jnp.ones((2, 2))) == (0, 0, 0)
    with pytest.raises(ValueError, match="vmap"):
        soft_densities(jnp.ones((3, 2, 2)))
    with pytest.raises(TypeError, match="floats"):
        soft_densities(jnp.ones((2, 2), int))
