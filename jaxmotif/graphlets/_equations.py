r"""The combinatorial equations, which give every graphlet count from triangles, 4-cliques and 4-cycles per edge.

Everything here is arithmetic on whole arrays by operators alone, so one definition serves NumPy arrays, JAX arrays
(traced or not) and Python integers. The dtype is the caller's: int64 arrays are exact within the stated bounds.

Notation, for an edge ``e = (u, v)`` of a graph with ``n`` nodes and ``m`` edges: ``T`` is the set of common neighbours
of u and v, ``Su`` the other neighbours of u, ``Sv`` the other neighbours of v, ``S`` the union of ``Su`` and ``Sv``,
and ``D`` the set of all other nodes:

.. math:: t = |T|,\quad a = |Su| = d_u - t - 1,\quad b = |Sv| = d_v - t - 1,\quad s = a + b,\quad |D| = n - 2 - t - s

The equations follow Rossi & Zhou, "Hybrid CPU-GPU framework for network motifs" (arXiv:1608.05138, 2016), and are
corrected where the paper errs; each docstring says where.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxmotif.arrays._exact import exact_quotient, split_sum
from jaxmotif.patterns import EDGE_COLUMN_NAMES

Array = Any  # a NumPy or JAX array of integers

TERMS = ("t", "s", "tt", "ss", "ts", "ab", "K", "cyc")
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

    The paper's sums :math:`C_3 \dots C_{16}` are combinations of the sums of these eight with n and m, since
    :math:`a^2 + b^2 = s^2 - 2ab` and :math:`|D| = n - 2 - t - s`:

    .. math:: t,\ s,\ t^2,\ s^2,\ ts,\ ab,\ K,\ cyc

    Args:
      d_u: degrees of the first ends; any shape, shared by all arrays here. No term exceeds the square of n: int64 is
        exact for every graph with ``n < 2**31``, int32 for ``n <= 46_340``.
      d_v: degrees of the second ends.
      t: triangles at the edge.
      K: 4-cliques at the edge.
      cyc: 4-cycles through the edge, induced or not.

    Returns:
      Arrays of the given shape by name, :data:`TERMS`.

    Example:
      >>> {name: int(term) for name, term in edge_terms(3, 2, 1, 0, 0).items() if term}  # a side of a tailed triangle
      {'t': 1, 's': 1, 'tt': 1, 'ss': 1, 'ts': 1}

    References:
      Rossi & Zhou 2016, equations 11-23; 16 is printed with the product of |S_v| and |S_u| where their sum is right.
    """
    a, b = d_u - t - 1, d_v - t - 1
    s = a + b
    return dict(zip(TERMS, (t, s, t * t, s * s, t * s, a * b, K, cyc), strict=True))


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


def global_counts(n: Array, m: Array, sums: Mapping[str, Array]) -> dict[str, Any]:
    r"""Return the 17 global induced counts from the sums over edges.

    .. math::
        X_3 &= \tfrac13 \sum t, \quad X_4 = \tfrac12 \sum s, \quad X_5 = \sum |D|, \quad
        X_6 = \tbinom n3 - X_3 - X_4 - X_5 \\
        X_7 &= C_7 / 6, \quad X_8 = C_8 - C_7, \quad X_9 = (C_9 - 4 X_8) / 2, \quad X_{10} = C_{10} / 4 \\
        X_{11} &= (C_{11} - X_9) / 3, \quad X_{12} = C_{12} - C_{10}, \quad X_{13} = (C_{13} - X_9) / 3 \\
        X_{14} &= (C_{14} - 6 X_7 - 4 X_8 - 2 X_9 - 4 X_{10} - 2 X_{12}) / 2, \quad X_{15} = (C_{15} - 2 X_{12}) / 2 \\
        X_{16} &= C_{16} - 2 X_{14}, \quad X_{17} = \tbinom n4 - X_7 - \dots - X_{16}

    with :math:`C_{10}` the sum of induced 4-cycles, here :math:`\sum cyc + 2 \sum K - 4 C_8`.

    Args:
      n: number of nodes.
      m: number of edges.
      sums: the sums of the eight :func:`edge_terms` over edges. ``K`` is six times the number of 4-cliques and ``cyc``
        four times the number of 4-cycles, induced or not, so totals serve as well as sums over edges.
        All Python integers: exact at any size. All int64 arrays: exact for ``n <= 55_000`` (no intermediate
        exceeds the fourth power of n).

    Returns:
      One count for every name in :data:`jaxmotif.patterns.GRAPHLET_NAMES`, in that order.

    Example:
      >>> counts = global_counts(100_000, 1, dict.fromkeys(("t", "s", "tt", "ss", "ts", "ab", "K", "cyc"), 0))
      >>> counts["4-node-indep"], counts["4-node-1-edge"]
      (4166416666250224997, 4999750003)

    References:
      Rossi & Zhou 2016, section 4.6 (unnumbered). X_11 is printed with C_9 where C_11 is right.
    """
    rest = n - 2
    sum_t, sum_s, sum_ts = sums["t"], sums["s"], sums["ts"]
    sum_d = m * rest - sum_t - sum_s
    square_ts = sums["tt"] + sums["ss"] + 2 * sum_ts  # sum of (t + s)^2
    square_d = m * rest * rest - 2 * rest * (sum_t + sum_s) + square_ts  # sum of |D|^2
    c8 = exact_quotient(sums["tt"] - sum_t, 2)
    c10 = sums["cyc"] + 2 * sums["K"] - 4 * c8
    c11 = exact_quotient(sums["ss"] - 2 * sums["ab"] - sum_s, 2)
    c13 = rest * sum_t - sums["tt"] - sum_ts
    c14 = m * (m - 1) - sum_s - 2 * sum_t
    c15 = rest * sum_s - sum_ts - sums["ss"]
    c16 = exact_quotient(square_d - sum_d, 2)

    x3, x4, x5 = exact_quotient(sum_t, 3), exact_quotient(sum_s, 2), sum_d
    x7 = exact_quotient(sums["K"], 6)
    x8 = c8 - sums["K"]
    x9 = exact_quotient(sum_ts - 4 * x8, 2)
    x10 = exact_quotient(c10, 4)
    x11 = exact_quotient(c11 - x9, 3)
    x12 = sums["ab"] - c10
    x13 = exact_quotient(c13 - x9, 3)
    x14 = exact_quotient(c14 - 6 * x7 - 4 * x8 - 2 * x9 - 4 * x10 - 2 * x12, 2)
    x15 = exact_quotient(c15 - 2 * x12, 2)
    x16 = c16 - 2 * x14
    pairs = _pairs(n)
    triples = exact_quotient(pairs * rest, 3)
    quadruples = exact_quotient(triples * (n - 3), 4)
    return {
        "edge": m,
        "2-node-indep": pairs - m,
        "triangle": x3,
        "2-star": x4,
        "3-node-1-edge": x5,
        "3-node-indep": triples - x3 - x4 - x5,
        "4-clique": x7,
        "chordal-cycle": x8,
        "tailed-triangle": x9,
        "4-cycle": x10,
        "3-star": x11,
        "4-path": x12,
        "4-node-1-triangle": x13,
        "4-node-2-star": x15,
        "4-node-2-edge": x14,
        "4-node-1-edge": x16,
        "4-node-indep": quadruples - x7 - x8 - x9 - x10 - x11 - x12 - x13 - x14 - x15 - x16,
    }


COPY_SUMS = ("t", "tt", "td", "cyc", "tcyc", "dcyc", "at2", "ats", "as2", "ad2")
"""The names of the sums that :func:`copies` takes."""

CYCLE_COPIES = ("banner", "house")
"""Patterns of :func:`copies` that need the 4-cycles at each edge; the others need their total at most."""


def copies(sums: Mapping[str, int]) -> dict[str, int]:
    r"""Return the numbers of copies, induced or not, of six patterns of four and five nodes in a graph.

    .. math::
        X_{house} &= \sum t (cyc - 2 (t - 1)) \qquad X_{banner} = \sum [cyc (d_u + d_v - 4) / 2 - t (t - 1)] \\
        X_{butterfly} &= \sum_v \tbinom{T_v}2 - \sum t (t - 1) \\
        X_{long} &= \sum_v T_v S_v - \sum t [d_u + d_v - 2 + 2 (t - 1)] \\
        X_{path} &= \tfrac12 \sum_v [S_v^2 - d_v (d_v - 1)^2] - \sum [t (d_u + d_v - 3) + cyc]

    Each of these patterns consists of two parts that share a node or an edge. The products of the numbers of such parts
    also count pairs of parts that share a further node, which are subtracted. In a house, for instance, the third node
    of the triangle (the roof) may lie on the square.

    Args:
      sums: sums over edges of t, t^2, t (d_u + d_v), cyc, t cyc, cyc (d_u + d_v); sums over nodes of T^2, T S, S^2 and
        d (d - 1)^2, where T is the number of triangles at a node and S the sum of the degrees of its neighbours,
        each less one. Python integers by the names of :data:`COPY_SUMS`.

    Example:
      >>> sums = dict.fromkeys(COPY_SUMS, 0) | {"as2": 10, "ad2": 6}  # a path of 5 nodes: S is 1, 1, 2, 1, 1
      >>> copies(sums | {"as2": 8})["5-path"]
      1
    """
    t, tt, td, cyc, tcyc, dcyc, at2, ats, as2, ad2 = (sums[name] for name in COPY_SUMS)
    return {
        "4-cycle": cyc // 4,
        "house": tcyc - 2 * (tt - t),
        "banner": dcyc // 2 - 2 * cyc - (tt - t),
        "butterfly": (at2 - t) // 2 - (tt - t),
        "long-tailed-triangle": ats - td + 4 * t - 2 * tt,
        "5-path": (as2 - ad2) // 2 - td + 3 * t - cyc,
    }


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
