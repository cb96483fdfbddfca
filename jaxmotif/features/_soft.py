"""Densities of small patterns in weighted graphs, smooth in the weights: for losses and learned graphs."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp


class SoftDensities(NamedTuple):
    """Densities between 0 and 1 for weights between 0 and 1: scalars of the weights' dtype."""

    wedge: jax.Array
    triangle: jax.Array
    cycle: jax.Array


def soft_densities(weights: jax.Array) -> SoftDensities:
    """Densities of wedges, triangles and 4-cycles, induced or not, of a weighted graph; differentiable.

    A subgraph counts the product of its edges' weights: with weights 0 and 1 these are counts, and with the
    probabilities of independent edges their means. Divided by the most there can be: 3 C(n, 3), C(n, 3), 3 C(n, 4).

    Pure: jit, grad and vmap it. Closed walks less those that turn back; O(n^3) by two products of matrices.

    Args:
      weights: floats ``[n, n]``, symmetric; the diagonal does not matter.

    Returns:
      The densities; 0 in graphs too small for them.

    Raises:
      ValueError, TypeError: weights of another shape, or integers.

    Example:
      >>> square = jnp.zeros((4, 4)).at[jnp.array([0, 1, 2, 3]), jnp.array([1, 2, 3, 0])].set(0.5)
      >>> found = soft_densities(square + square.T)
      >>> float(found.wedge), float(found.triangle), round(float(found.cycle), 4)  # 4 / 4 / 12, 0, 1 / 16 / 3
      (0.0833333358168602, 0.0, 0.0208)
    """
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ValueError(f"weights must have shape (n, n), got {weights.shape}; map over a batch with jax.vmap")
    if not jnp.issubdtype(weights.dtype, jnp.floating):
        raise TypeError(f"weights must be floats, got {weights.dtype}")
    n = weights.shape[0]
    a = weights * (1 - jnp.eye(n, dtype=weights.dtype))
    two = jnp.matmul(a, a, precision=jax.lax.Precision.HIGHEST)  # walks of two steps
    degree, back = a.sum(axis=1), (a * a).sum(axis=1)
    wedge = (degree**2 - back).sum() / 2
    triangle = (two * a).sum() / 6
    # Of the closed walks of four steps, those that meet a node again: at the second step, the third, or both.
    cycle = ((two * two).sum() - 2 * (back**2).sum() + (a**4).sum()) / 8
    triples, quadruples = n * (n - 1) * (n - 2) / 6, n * (n - 1) * (n - 2) * (n - 3) / 24
    return SoftDensities(wedge / max(3 * triples, 1), triangle / max(triples, 1), cycle / max(3 * quadruples, 1))
