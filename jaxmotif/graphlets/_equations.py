r"""The combinatorial equations, which give every graphlet count from triangles, 4-cliques and 4-cycles per edge.

Nearly everything here is arithmetic on whole arrays by operators alone, so one definition serves NumPy arrays, JAX
arrays (traced or not) and Python integers. The dtype is the caller's: int64 arrays are exact within the stated bounds.

Notation, for an edge ``e = (u, v)`` of a graph with ``n`` nodes and ``m`` edges: ``T`` is the set of common neighbours
of u and v, ``Su`` the other neighbours of u, ``Sv`` the other neighbours of v, ``S`` the union of ``Su`` and ``Sv``,
and ``D`` the set of all other nodes:

.. math:: t = |T|,\quad a = |Su| = d_u - t - 1,\quad b = |Sv| = d_v - t - 1,\quad s = a + b,\quad |D| = n - 2 - t - s

The equations follow Rossi & Zhou, "Hybrid CPU-GPU framework for network motifs" (arXiv:1608.05138, 2016), and are
corrected where the paper errs; each docstring says where.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from jaxmotif.arrays._exact import exact_quotient, split_sum
from jaxmotif.patterns import EDGE_COLUMN_NAMES
from jaxmotif.patterns._catalogue import CONNECTED
from jaxmotif.patterns._totals import counts_of_maps

Array = Any  # a NumPy or JAX array of integers

TERMS = ("d", "dd", "d2", "t", "td", "tt", "K", "cyc")
"""The names of :func:`edge_terms`."""

CONNECTED_COLUMNS = EDGE_COLUMN_NAMES[:12]
"""The columns of connected graphlets, from which node orbits follow; they are ORCA's edge orbits."""

MAX_DEGREE_INT64 = 3810779
"""Largest degree d up to which the counts of all node orbits fit int64, in graphs of fewer than 2**31 edges.

It is the largest d whose binomial coefficient (d over 3) fits: the count of orbit 7, the center of a 3-star. All other
counts are bounded by products of two of n, m and d.
"""


def edge_columns(
    n: Array,
    m: Array,
    d_u: Array,
    d_v: Array,
    t: Array,
    K: Array,
    cyc: Array,
    A: Array,
    B: Array,
    nd: Array,
    tt: Array,
) -> dict[str, Array]:
    r"""Count, at each edge, the induced graphlets that contain it, by the edge's orbit.

    With :math:`E(X, Y)` the number of edges between two of the parts T, Su, Sv, S, D:

    .. math::
        E(T,S) &= A - 2t - 4K, \qquad E(Su,Sv) = cyc - 2K - E(T,S) \\
        E(S,S) &= [tt - 2t - A - E(T,S)] / 2 \quad \text{(inside Su and inside Sv)} \\
        E(T,D) &= B - 2t - 2K - E(T,S) \\
        E(S,D) &= nd - d_u - d_v - 2B - s - E(T,S) - 2E(S,S) - 2E(Su,Sv) \\
        E(D,D) &= m - 1 - 2t - s - K - E(T,S) - E(S,S) - E(Su,Sv) - E(T,D) - E(S,D)

    Each column is one of these numbers, or is made of products of part sizes minus one of these numbers.

    Args:
      n: number of nodes: a Python integer, or an integer scalar of the arrays' dtype.
      m: number of edges, likewise.
      d_u: degrees of the first ends, any shape, shared by all arrays here; int64 is exact for every graph with
        ``n < 2**31`` (the largest column is the 4-node-1-edge one, at most n (n - 1) / 2); int32 for ``n <= 1024``.
      d_v: degrees of the second ends.
      t: triangles at the edge.
      K: 4-cliques at the edge.
      cyc: 4-cycles through the edge, induced or not.
      A: sum over the triangles (u, v, w) of ``t(u, w) + t(v, w)``.
      B: sum over the triangles (u, v, w) of the degree of w.
      nd: sum of the neighbours' degrees of both ends.
      tt: sum of t over the edges at the first end, and over those at the second.

    Returns:
      One array for every name in :data:`jaxmotif.patterns.EDGE_COLUMN_NAMES`, in that order.

    Example:
      >>> import numpy as np
      >>> one = np.ones(1, np.int64)  # the middle edge of a path of 4 nodes
      >>> columns = edge_columns(4, 3, 2 * one, 2 * one, *[0 * one] * 5, 6 * one, 0 * one)
      >>> {name: int(column[0]) for name, column in columns.items() if column[0]}
      {'2-star': 2, '4-path-middle': 1}

    References:
      Rossi & Zhou 2016, equations 5-7, 9 and 10 for 3 nodes; 7 is printed with +|T| where -|T| is right, and 8,
      an edge's 3-node-indep, counts nothing: an edge lies in no independent set. The paper states no columns of 4
      nodes other than the 4-clique and the 4-cycle.
    """
    # These are the sizes of the parts T, Su, Sv and D of all other nodes.
    a, b = d_u - t - 1, d_v - t - 1
    s = a + b
    d = n - 2 - t - s
    # For each w in T, A counts u and v once each, the neighbours of w in T twice, and its neighbours in S once.
    e_ts = A - 2 * t - 4 * K
    # A 4-cycle through e has an edge opposite to e: an edge inside T is opposite in two 4-cycles, any other in one.
    c4 = cyc - 2 * K - e_ts
    # What is left of tt are triangles of u or v with nodes of S: an edge inside Su or Sv is counted from both its ends,
    # an edge between T and S once.
    e_ss = (tt - 2 * t - A - e_ts) >> 1
    e_td = B - 2 * t - 2 * K - e_ts
    e_sd = nd - d_u - d_v - 2 * B - s - e_ts - 2 * e_ss - 2 * c4
    e_dd = m - 1 - 2 * t - s - K - e_ts - e_ss - c4 - e_td - e_sd
    return {
        "2-star": s,
        "triangle": t,
        "4-path-end": e_sd,
        "4-path-middle": a * b - c4,
        "3-star": _pairs(a) + _pairs(b) - e_ss,
        "4-cycle": c4,
        "tailed-triangle-tail": e_ss,
        "tailed-triangle-opposite": e_td,
        "tailed-triangle-side": t * s - e_ts,
        "chordal-cycle-rim": e_ts,
        "chordal-cycle-chord": _pairs(t) - K,
        "4-clique": K,
        "3-node-1-edge": d,
        "4-node-1-triangle": t * d - e_td,
        "4-node-2-star": s * d - e_sd,
        "4-node-2-edge": e_dd,
        "4-node-1-edge": _pairs(d) - e_dd,
    }


def edge_terms(d_u: Array, d_v: Array, t: Array, K: Array, cyc: Array) -> dict[str, Array]:
    r"""Return the per-edge terms whose sums over edges fix all global counts.

    .. math:: d_u + d_v,\ d_u d_v,\ d_u^2 + d_v^2,\ t,\ t (d_u + d_v),\ t^2,\ K,\ cyc

    Args:
      d_u: degrees of the first ends; any shape, shared by all arrays here. No term exceeds twice the square of n: int64
        is exact for every graph with ``n < 2**31``, int32 for ``n <= 32_768``.
      d_v: degrees of the second ends.
      t: triangles at the edge.
      K: 4-cliques at the edge.
      cyc: 4-cycles through the edge, induced or not.

    Returns:
      Arrays of the given shape by name, :data:`TERMS`.

    Example:
      >>> {name: int(term) for name, term in edge_terms(3, 2, 1, 0, 0).items() if term}  # a side of a tailed triangle
      {'d': 5, 'dd': 6, 'd2': 13, 't': 1, 'td': 5, 'tt': 1}
    """
    d = d_u + d_v
    return dict(zip(TERMS, (d, d_u * d_v, d_u * d_u + d_v * d_v, t, t * d, t * t, K, cyc), strict=True))


def edge_sums(d_u: Array, d_v: Array, t: Array, K: Array, cyc: Array, where: Array | None = None) -> dict[str, Array]:
    """Return the sums of :func:`edge_terms` over edges, exact even where a sum passes 64 bits.

    Each comes as two partial sums, one of the terms' low 32 bits and one of the bits above, so that the value is
    ``low + high * 2**32`` (see :func:`jaxmotif.arrays._exact.join_sums`). Both fit int64, and so do such sums added up
    over chunks of edges, as long as the graph has fewer than 2**31 edges.

    Args:
      d_u: int64 degrees of the first ends, each edge once; any shape, shared by all arrays here.
      d_v: int64 degrees of the second ends.
      t: int64 triangles at the edge.
      K: int64 4-cliques at the edge.
      cyc: int64 4-cycles through the edge, induced or not.
      where: bool, the entries that are edges (default: all).

    Returns:
      For each name of :func:`edge_terms`, a pair (low, high) of int64 scalars.

    Raises:
      TypeError: if an array is not int64.

    Example:
      >>> import numpy as np
      >>> one = np.ones(3, np.int64)  # a triangle
      >>> sums = edge_sums(2 * one, 2 * one, one, 0 * one, 0 * one)
      >>> [int(half) for half in sums["t"]]
      [3, 0]
    """
    for name, value in {"d_u": d_u, "d_v": d_v, "t": t, "K": K, "cyc": cyc}.items():
        if value.dtype != "int64":
            raise TypeError(f"edge_sums needs int64 arrays, got {name} of dtype {value.dtype}; convert it first")
    real = 1 if where is None else where.astype(t.dtype)
    return {name: split_sum(term * real) for name, term in edge_terms(d_u, d_v, t, K, cyc).items()}


def connected_maps(m: Array, sums: Mapping[str, Array]) -> dict[str, Array]:
    r"""Return the homomorphisms of the nine connected graphs of two to four nodes, by name.

    A map of the 4-path, for instance, sends its middle edge to an edge u, v, either way round, and each of its ends to
    a neighbour of u or v. A map of the 4-cycle is a closed walk of length 4: it goes from u to v, and then back in
    three steps, for which there are cyc + d_u + d_v - 1 ways; d_u + d_v - 1 of these use an edge twice.

    Args:
      m: number of edges.
      sums: the sums of the eight :func:`edge_terms` over edges. ``K`` is six times the number of 4-cliques and ``cyc``
        four times the number of 4-cycles, induced or not, so totals serve as well as sums over edges.
    """
    return {
        "edge": 2 * m,
        "2-star": sums["d"],
        "triangle": 2 * sums["t"],
        "4-path": 2 * sums["dd"],
        "3-star": sums["d2"],
        "4-cycle": 2 * (sums["cyc"] + sums["d"] - m),
        "tailed-triangle": sums["td"],
        "chordal-cycle": 2 * sums["tt"],
        "4-clique": 4 * sums["K"],
    }


def global_counts(xp: ModuleType, n: Array, m: Array, sums: Mapping[str, Array]) -> Array:
    """Return the 17 global induced counts from the sums over edges.

    Args:
      xp: NumPy for Python integers, ``jax.numpy`` for int64 arrays.
      n: number of nodes.
      m: number of edges.
      sums: as for :func:`connected_maps`. Python integers: exact at any size. Int64 arrays: exact for counts below
        2^60, and so for ``n <= 55_000``; sums on the way may wrap.

    Returns:
      ``[17, ..]``, the counts in the order of :data:`jaxmotif.patterns.GRAPHLET_NAMES`.

    Example:
      >>> import numpy as np
      >>> from jaxmotif.patterns import GRAPHLET_NAMES
      >>> counts = global_counts(np, 100_000, 1, dict.fromkeys(TERMS, 0) | {"d": 2, "dd": 1, "d2": 2})
      >>> dict(zip(GRAPHLET_NAMES, counts.tolist()))["4-node-1-edge"]
      4999750003

    References:
      Rossi & Zhou 2016, section 4.6, has a formula for each count. Here they come from homomorphisms:
      :mod:`jaxmotif.patterns._totals`.
    """
    maps = connected_maps(m, sums)
    homs = [n, *(maps[graph.name] for graph in CONNECTED if graph.name in maps)]
    return counts_of_maps(xp, xp.array(homs, object if xp is np else np.int64))


def node_orbits(d: Array, incident: Mapping[str, Array]) -> tuple[Array, ...]:
    r"""Return ORCA's 15 node orbits from the per-edge columns summed over the edges at each node.

    .. math::
        o_0 &= d, & o_3 &= S_{triangle} / 2, & o_2 &= \tbinom d2 - o_3, & o_1 &= S_{2star} - 2 o_2 \\
        o_{14} &= S_{4clique} / 3, & o_{13} &= S_{chord}, & o_{12} &= (S_{rim} - 2 o_{13}) / 2,
        & o_8 &= S_{4cycle} / 2 \\
        o_{10} &= S_{opposite}, & o_{11} &= (S_{side} - o_{10}) / 2, & o_9 &= S_{tail} - o_{11} \\
        o_7 &= \tbinom d3 - o_{11} - o_{13} - o_{14}, & o_6 &= S_{3star} - 3 o_7,
        & o_5 &= S_{middle}, & o_4 &= S_{end} - o_5

    Args:
      d: degrees, any shape, shared by all arrays here. int64 is exact while no degree exceeds
        :data:`MAX_DEGREE_INT64`. Intermediate sums may pass 64 bits, such as the 3-stars over the edges of a node of
        high degree. They wrap and wrap back, since they are only added and subtracted. int32 is exact for
        ``n <= 1024``. NumPy arrays of dtype object, holding Python integers, are exact at any size.
      incident: for each of :data:`CONNECTED_COLUMNS`, that column of
        :func:`edge_columns` summed over the edges at each node.

    Returns:
      The 15 arrays, orbit 0 first.

    Example:
      >>> import numpy as np
      >>> incident = {name: np.zeros(2, np.int64) for name in CONNECTED_COLUMNS}
      >>> incident["2-star"] = np.array([2, 1])  # the middle and one end of a path of 3 nodes
      >>> np.stack(node_orbits(np.array([2, 1]), incident), axis=-1)[:, :4].tolist()
      [[2, 0, 1, 0], [1, 1, 0, 0]]

    References:
      The numbering is that of Hočevar & Demšar, "A combinatorial approach to graphlet counting", Bioinformatics
      2014, figure 1. Rossi & Zhou 2016, equation 2, claims that the counts at all nodes, or at all edges, sum to the
      global count; they sum to it times the graphlet's number of nodes, or of edges.
    """
    pairs = _pairs(d)
    triples = exact_quotient(pairs * (d - 2), 3)
    o3 = exact_quotient(incident["triangle"], 2)
    o2 = pairs - o3
    o14 = exact_quotient(incident["4-clique"], 3)
    o13 = incident["chordal-cycle-chord"]
    o12 = exact_quotient(incident["chordal-cycle-rim"], 2) - o13
    o10 = incident["tailed-triangle-opposite"]
    o11 = exact_quotient(incident["tailed-triangle-side"] - o10, 2)
    o7 = triples - o11 - o13 - o14
    o5 = incident["4-path-middle"]
    return (
        d,
        incident["2-star"] - 2 * o2,
        o2,
        o3,
        incident["4-path-end"] - o5,
        o5,
        incident["3-star"] - 3 * o7,
        o7,
        exact_quotient(incident["4-cycle"], 2),
        incident["tailed-triangle-tail"] - o11,
        o10,
        o11,
        o12,
        o13,
        o14,
    )


def _pairs(x: Array) -> Array:
    return (x * (x - 1)) >> 1
