"""Sums of the weights of small patterns in weighted graphs, smooth in the weights: for losses and learned graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import combinations
from math import comb, factorial, prod
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._checks import check_switch
from jaxmotif.features._homomorphisms import Contraction, check_axes, contract, plan_contraction
from jaxmotif.features._patterns import PatternLike
from jaxmotif.patterns import Pattern, automorphism_count
from jaxmotif.patterns._canonical import canonical_order
from jaxmotif.patterns._names import listed_patterns
from jaxmotif.patterns._orbits import quotients
from jaxmotif.patterns._roles import all_roles, check_per

MOST_PATTERN = 5
"""Nodes of the largest pattern: with one more, all induced ones take seconds to prepare."""


class SoftDensities(NamedTuple):
    """Densities between 0 and 1 for weights between 0 and 1: scalars of the weights' dtype."""

    wedge: jax.Array
    triangle: jax.Array
    cycle: jax.Array


def soft_counts(
    weights: jax.Array,
    patterns: Sequence[PatternLike],
    *,
    per: Literal["graph", "node"] = "graph",
    induced: bool = True,
) -> jax.Array:
    """Add up the weights of all occurrences of each pattern in a weighted graph; differentiable.

    The weight of an occurrence is the product of the weights w of its edges and, if induced, of 1 - w for each other
    pair of its nodes. If all weights are 0 or 1, the sums are counts. If weights are probabilities of independent
    edges, the sums are expected counts.

    The function is pure: jit, grad and vmap it; patterns and options are static. Sums over all maps, which may send
    several nodes to one, are products of matrices of powers of the weights. The sums over maps that send no two nodes
    to one follow from them by inclusion and exclusion.

    Args:
      weights: floats ``[n, n]``, symmetric; the diagonal does not matter. Those of fewer than 32 bits become float32.
      patterns: names or small graphs, undirected, without labels, of up to 5 nodes;
        :func:`jaxmotif.features.all_patterns` names all connected ones of a size.
      per: ``"graph"``, or ``"node"`` for sums over the occurrences in which each node has a role.
      induced: whether pairs of nodes that a pattern does not join count, each by a factor of 1 - w.

    Returns:
      ``[F]``, or ``[n, F]``, of the dtype of the weights, at least float32; the columns are those of
      :func:`jaxmotif.pattern_features`. Weights of 0 and 1 give exact counts as long as no sum over maps, n^k at most
      for k nodes, passes 2^24 (float64: 2^53). Rounding errors are those of the largest sum over maps.

    Raises:
      ValueError, TypeError: weights of another shape, or integers; a larger pattern, one with labels or directions, or
        one that needs a table of more than 2^28 numbers: a clique of k nodes n^(k-1), all others of 4 nodes n^3 or n^2.

    Example:
      >>> square = jnp.zeros((4, 4)).at[jnp.array([0, 1, 2, 3]), jnp.array([1, 2, 3, 0])].set(0.5)
      >>> soft_counts(square + square.T, ["2-star", "4-cycle", "4-path"]).tolist()  # 4 / 4, 1 / 16, 4 / 8 / 2
      [1.0, 0.0625, 0.25]
      >>> soft_counts(square + square.T, ["2-star"], per="node")[0].tolist()  # the middle, an end
      [0.25, 0.5]

    References:
      Lovász, "Large networks and graph limits", 2012, chapter 5.
    """
    weights = jnp.asarray(weights)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ValueError(f"weights must have shape (n, n), got {weights.shape}; map over a batch with jax.vmap")
    if not jnp.issubdtype(weights.dtype, jnp.floating):
        raise TypeError(f"weights must be floats, got {weights.dtype}")
    if weights.dtype.itemsize < 4:  # narrower floats could not hold the sums
        weights = weights.astype(jnp.float32)
    check_per(per, "graph", "node")
    check_switch(induced, "induced")
    given = listed_patterns(patterns, False)
    for pattern in given:
        labelled = pattern.node_labels is not None or pattern.edge_labels is not None
        if pattern.directed or labelled or pattern.num_nodes > MOST_PATTERN:
            raise ValueError(f"soft counts take undirected patterns of up to 5 nodes without labels, got {pattern}")
    columns, sharing = [], []
    for pattern, roles in zip(given, all_roles(given, patterns, per), strict=True):
        for place in (role.places[0] for role in roles):
            labels = np.isin(np.arange(pattern.num_nodes), place).astype(np.int64)
            edges = np.argwhere(np.triu(pattern.adjacency)).tolist()
            columns.append(_images(pattern.num_nodes, tuple(map(tuple, edges)), *place, induced=induced))
            sharing.append(automorphism_count(Pattern(pattern.adjacency, labels, None, False)))
    if not columns:
        return jnp.zeros((*weights.shape[: per == "node"], 0), weights.dtype)
    images = tuple(dict.fromkeys(image for column in columns for image in column))
    check_axes(len(weights), [image.plan for image in images])
    table = np.array([[column[image] for column in columns] for image in images])
    return _sums(weights, jnp.asarray(table, weights.dtype), jnp.asarray(sharing, weights.dtype), images=images)


def soft_densities(weights: jax.Array) -> SoftDensities:
    """Return the densities of wedges, triangles and 4-cycles, induced or not, of a weighted graph; differentiable.

    They are :func:`soft_counts` with ``induced=False``, divided by their largest values with weights up to 1, which are
    3 C(n, 3), C(n, 3) and 3 C(n, 4).

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
    sums = soft_counts(weights, ["wedge", "triangle", "4-cycle"], induced=False)
    most = [3 * comb(len(weights), 3), comb(len(weights), 3), 3 * comb(len(weights), 4)]
    return SoftDensities(*(total / max(sets, 1) for total, sets in zip(sums, most, strict=True)))


class Image(NamedTuple):
    """A pattern some of whose nodes are merged; edges that fall together multiply their weights.

    Attributes:
      plan: how maps of the image are summed.
      powers: the exponent of the weights at each edge of the image, in the order of the plan's first tables.
    """

    plan: Contraction
    powers: tuple[int, ...]


@lru_cache(maxsize=1024)
def _images(
    nodes: int, edges: tuple[tuple[int, int], ...], root: int | None = None, *, induced: bool
) -> Counter[Image]:
    """Return the images of a pattern, each with a factor: sums over all maps of the images, times these, add up.

    The total is the sum over the maps of the pattern that merge no nodes. The factors come from the Möbius function of
    the partitions of the nodes. If ``induced``, the product of 1 - w over pairs that are not joined is a sum with
    alternating signs over all sets of such pairs.
    """
    gaps = [pair for pair in combinations(range(nodes), 2) if pair not in edges] if induced else []
    images: Counter[Image] = Counter()
    for joined in (pairs for number in range(len(gaps) + 1) for pairs in combinations(gaps, number)):
        pairs = [*edges, *joined]
        for to, size, _ in quotients(nodes, pairs):
            powers = np.zeros((size, size), np.int64)
            for u, v in pairs:
                powers[to[u], to[v]] += 1
            marks = np.zeros(size, np.int64) if root is None else np.arange(size) == to[root]
            sign = (-1) ** (len(joined) + nodes - size)
            image = _image(size, (powers + powers.T).tobytes(), marks.astype(np.int64).tobytes())
            images[image] += sign * prod(factorial(to.count(block) - 1) for block in range(size))
    return images


@lru_cache(maxsize=2**16)
def _image(nodes: int, powers: bytes, marks: bytes) -> Image:
    """Return the image with these exponents between nodes, which is the same for isomorphic images.

    At most one node is marked, as the root.
    """
    near, mark = np.frombuffer(powers, np.int64).reshape(nodes, nodes), np.frombuffer(marks, np.int64)
    order = canonical_order(Pattern(near > 0, mark, near, False))  # a marked node is the last
    near = near[np.ix_(order, order)]
    edges = tuple(map(tuple, np.argwhere(near).tolist()))
    plan = plan_contraction(nodes, False, edges, nodes - 1 if mark.any() else None)
    return Image(plan, tuple(near[np.triu(near) > 0].tolist()))


@partial(jax.jit, static_argnames="images")
def _sums(weights: jax.Array, table: jax.Array, sharing: jax.Array, *, images: tuple[Image, ...]) -> jax.Array:
    """Multiply the sums over all maps of each image by a table ``[images, columns]``, and divide the columns."""
    # The diagonal may hold anything, even NaN, which a product with 0 would keep.
    a = jnp.where(jnp.eye(len(weights), dtype=bool), jnp.zeros_like(weights), weights)
    alone = jnp.ones(len(weights), weights.dtype)
    sums = []
    for plan, powers in images:
        edges = [a**power for power in powers]
        sums.append(contract(plan, [*edges, *[alone] * (plan.given - len(edges))]))
    columns = jnp.einsum("i...,ij->...j", jnp.stack(sums), table, precision=jax.lax.Precision.HIGHEST)
    return columns / jnp.broadcast_to(sharing, columns.shape)
