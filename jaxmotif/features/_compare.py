"""Comparisons of graphs, and of nodes, by their graphlets."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import ArrayLike

from jaxmotif.arrays._checks import check_graphlet_size
from jaxmotif.arrays._int64 import Int64
from jaxmotif.graph import GraphLike, as_graph
from jaxmotif.graphlets import NodeOrbits, node_orbits

OrbitsLike: TypeAlias = GraphLike | NodeOrbits | Int64
"""A graph, or the orbits of its nodes: a result of :func:`jaxmotif.node_orbits`, or an array with a row for each node.

Of what the dense functions return, which has rows of padding, this is ``.to_numpy()[: graph.n]``. ``Int64`` whose last
row is zero is refused, since that may be padding.
"""

GCM_ORBITS = (0, 2, 5, 7, 8, 10, 11, 6, 9, 4, 1)
"""The 11 orbits of up to four nodes whose counts do not follow from other orbits, in the order of Yaveroğlu et al."""

AFFECTED = tuple(map(int, "1222343343444434654566444574667466656775767655687668695646678668767785664"))
"""For each of the 73 orbits, the number of orbits that it depends on.

The numbers are those of Milenković & Pržulj's program, so that similarities agree with it. (Counting rooted induced
subgraphs gives one more for the orbits 24, 26, 31, 41, 48, 54, 59, 60 and 64.)
"""


class Agreement(NamedTuple):
    """Graphlet degree distribution agreement: 1 for equal distributions, towards 0 for unlike ones.

    Attributes:
      arithmetic, geometric: the means over orbits.
      orbits: float64 ``[73]``, the agreement by orbit.
    """

    arithmetic: float
    geometric: float
    orbits: np.ndarray


def graphlet_degree_agreement(first: OrbitsLike, second: OrbitsLike) -> Agreement:
    """Compare two graphs by the distributions of all 73 orbit counts over their nodes.

    Args:
      first, second: undirected graphs, or their orbits: a :class:`jaxmotif.graphlets.NodeOrbits`, or integers
        ``[n, 73]``.

    Returns:
      The agreement. It is 1 for an orbit that occurs at no node of either graph.

    Raises:
      TypeError, ValueError: as :func:`jaxmotif.node_orbits`.

    Example:
      >>> import jaxmotif
      >>> karate = jaxmotif.datasets.load("karate")
      >>> fewer = jaxmotif.Graph.from_edges(karate.edge_list()[:70])
      >>> found = graphlet_degree_agreement(karate, fewer)
      >>> round(found.arithmetic, 2)
      0.71

    References:
      Pržulj, "Biological network comparison using graphlet degree distribution", Bioinformatics 2007, equations 2 to
      5, with the factor 1/sqrt(2) of its erratum (Bioinformatics 2010).
    """
    one, other = _orbits(first, 5), _orbits(second, 5)
    agreement = np.array([1 - _apart(one[:, j], other[:, j]) for j in range(one.shape[1])])
    return Agreement(float(agreement.mean()), float(np.prod(agreement) ** (1 / agreement.size)), agreement)


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """Return the distance of two distributions, each weighted by 1/k and normalised."""
    values = np.unique(np.concatenate([one, other]))
    values = values[values > 0]
    shares = []
    for counts in (one, other):
        held = counts[counts > 0]
        scaled = np.bincount(np.searchsorted(values, held), minlength=values.size) / values
        shares.append(scaled / max(scaled.sum(), np.finfo(np.float64).tiny))
    return float(np.sqrt(((shares[0] - shares[1]) ** 2).sum() / 2))


def gdv_similarity(first: OrbitsLike, second: OrbitsLike | None = None) -> jax.Array:
    """Return how similar the surroundings of nodes are, by their graphlet degree vectors; the result is on the device.

    Args:
      first, second: undirected graphs or their orbits, as for :func:`graphlet_degree_agreement`; ``second`` is
        ``first`` when not given.

    Returns:
      float32 ``[n, n']``, from 0 to 1 (equal vectors). 10^4 x 10^4 nodes take 400 MB.

    Raises:
      TypeError, ValueError: as :func:`jaxmotif.node_orbits`.

    Example:
      >>> import jaxmotif
      >>> alike = gdv_similarity(jaxmotif.datasets.load("karate"))
      >>> alike.shape, bool(alike[0, 33] > alike[0, 11])  # the two leaders; the leader and a node of one friend
      ((34, 34), True)

    References:
      Milenković & Pržulj, "Uncovering biological network function via graphlet degree signatures", Cancer Informatics
      2008.
    """
    one = _orbits(first, 5).astype(np.float64)
    other = one if second is None else _orbits(second, 5).astype(np.float64)
    weights = 1 - np.log(AFFECTED) / np.log(len(AFFECTED))
    scale = [(np.log1p(x.T), np.log(x.T + 2.0)) for x in (one, other)]
    given = jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), (scale, weights / weights.sum()))
    return _similarity(*given)


@jax.jit
def _similarity(scale: list[tuple[jax.Array, jax.Array]], weights: jax.Array) -> jax.Array:
    """Return the similarities of all pairs, added up orbit by orbit so that only one table of pairs takes memory."""
    (one, below), (other, beside) = scale

    def add(i: jax.Array, total: jax.Array) -> jax.Array:
        apart = jnp.abs(one[i][:, None] - other[i][None])
        return total + weights[i] * apart / jnp.maximum(below[i][:, None], beside[i][None])

    zero = jnp.zeros((one.shape[1], other.shape[1]), jnp.float32)
    return 1 - lax.fori_loop(jnp.int32(0), jnp.int32(one.shape[0]), add, zero)


def graphlet_correlation_matrix(graph: OrbitsLike, size: Literal[4, 5] = 4) -> np.ndarray:
    """Return Spearman's correlations, over the nodes, of the 11 independent orbits of up to four nodes, or of all 73.

    The other orbits of up to four nodes follow from the 11. With ``size=5`` all 73 orbits are taken, as the authors do.

    As in the authors' program, a node whose counts are all 1 is added, so that no orbit has equal counts at all nodes.

    Args:
      graph: undirected, or its orbits: a :class:`jaxmotif.graphlets.NodeOrbits`, or integers ``[n, 15]`` (or 73).
      size: the largest number of nodes of graphlets.

    Returns:
      float64 ``[11, 11]``, in the order of :data:`GCM_ORBITS`; with ``size=5`` ``[73, 73]``, in ORCA's order.

    Raises:
      TypeError, ValueError: as :func:`jaxmotif.node_orbits`.

    Example:
      >>> from jaxmotif import Graph
      >>> graphlet_correlation_matrix(Graph.from_edges([(0, 1), (0, 2), (0, 3)])).shape
      (11, 11)

    References:
      Yaveroğlu et al., "Revealing the hidden language of complex networks", Scientific Reports 2014.
    """
    counts = np.asarray(_orbits(graph, size))
    counts = counts[:, GCM_ORBITS] if size == 4 else counts
    ranks = np.stack([_ranks(np.append(column, 1)) for column in counts.T])
    ranks -= ranks.mean(axis=1, keepdims=True)
    length = np.sqrt((ranks**2).sum(axis=1))
    # An orbit whose counts are equal all the same (in a graph of single edges, say) is correlated with itself alone.
    found = ranks @ ranks.T / np.where(np.outer(length, length) == 0, 1, np.outer(length, length))
    np.fill_diagonal(found, 1)
    return found


def graphlet_correlation_distance(first: OrbitsLike, second: OrbitsLike, size: Literal[4, 5] = 4) -> float:
    """Return GCD-11 or GCD-73, the Euclidean distance of two graphs' :func:`graphlet_correlation_matrix`.

    Only the entries above the diagonal are compared, since the matrices are symmetric.

    Args:
      first: a graph or its orbits, as for :func:`graphlet_correlation_matrix`, or its result.
      second: what the first one is compared with, in one of the same forms.
      size: the largest number of nodes of graphlets.

    Returns:
      0 for equal matrices; at most sqrt(220), about 14.8, and with ``size=5`` at most sqrt(10,512), about 102.5.

    Raises:
      TypeError, ValueError: as :func:`jaxmotif.node_orbits`, or for a matrix of another size.

    Example:
      >>> from jaxmotif import Graph
      >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)])
      >>> graphlet_correlation_distance(star, star)
      0.0
    """
    one, other = (_matrix(x, size) for x in (first, second))
    return float(np.linalg.norm((one - other)[np.triu_indices(len(one), 1)]))


def _matrix(x: OrbitsLike, size: Literal[4, 5]) -> np.ndarray:
    check_graphlet_size(size)
    if isinstance(x, np.ndarray) and x.ndim == 2 and x.shape[0] == x.shape[1] and x.dtype.kind == "f":
        side = len(GCM_ORBITS) if size == 4 else len(AFFECTED)
        if len(x) != side:
            raise ValueError(f"size={size} compares matrices of shape [{side}, {side}], got {list(x.shape)}")
        return x
    return graphlet_correlation_matrix(x, size)


def _orbits(graph: OrbitsLike, size: int) -> np.ndarray:
    """Return the orbits of the nodes of a graph, or given orbits as an array."""
    check_graphlet_size(size)
    columns = 15 if size == 4 else 73
    given = graph.to_numpy() if isinstance(graph, NodeOrbits | Int64) else graph
    if isinstance(given, np.ndarray):
        if given.ndim == 2 and given.shape[1] in (columns, 73):
            if (given < 0).any():
                raise ValueError("some orbits are negative, that is not known: count them with a larger max_degree")
            if isinstance(graph, Int64) and (given[-1:] == 0).all(axis=1).any():
                raise ValueError("the last row of orbits is zero, perhaps of padding: take .to_numpy()[: graph.n]")
            return given
        if given.shape[1:] != (2,):
            shape = list(given.shape)
            raise ValueError(f"size={size} takes an array of orbits [n, {columns}] or edges [E, 2], got shape {shape}")
    return node_orbits(as_graph(given), size=size).values


def _ranks(values: ArrayLike) -> np.ndarray:
    """Return ranks from 1, float64; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place]
