"""Orbits of 3, 4 and 5 nodes from sums over arcs: homomorphisms first, then the generated matrices.

Eleven of the 21 connected graphs of five nodes are cones: a hub that is adjacent to all nodes of a graph of four nodes.
Their homomorphisms are those of the four-node graph inside the neighbourhood of the hub. The homomorphisms of the other
ten come from walks and common neighbours. Each value is an array over arcs ``u -> v`` or over nodes; :class:`Arcs` says
how these are summed, so that the same equations serve dense matrices and padded lists of slots, in NumPy and JAX.

All steps but the last are linear with integer coefficients, and give 24 times each induced count, since the order of
each stabilizer divides 24. The last step divides by 24. In 64-bit arithmetic that wraps, 24 times a count is right
modulo 2^64, so the count is right modulo 2^61: a count below 2^60 is exact, however large the sums on the way were. In
32-bit arithmetic, counts below 2^28 are exact.

References:
  Pashanasangi & Seshadhri, "Efficiently counting vertex orbits of all 5-vertex subgraphs, by EVOKE", WSDM 2020.
  Curticapean, Dell & Marx, "Homomorphisms are a good basis for counting small subgraphs", STOC 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any, Literal, NamedTuple

from jaxmotif.arrays._exact import exact_quotient
from jaxmotif.arrays._sums import product
from jaxmotif.patterns import _orbits as orbits
from jaxmotif.patterns._catalogue import edges_of
from jaxmotif.patterns._totals import weights_of_maps

Array = Any  # NumPy or JAX


Pass = Literal["tables", "walks", "cliques"]

_TAKEN_BY: dict[Pass, set[str]] = {
    "tables": {"4-cycle", "banner", "house", "bipartite-2-3", "chordal-bipartite-2-3"},
    "walks": {"5-cycle"},
    "cliques": {"5-clique"},
}
"""The graphs whose homomorphisms :func:`total_homs` takes from each pass."""

ALL_PASSES: frozenset[Pass] = frozenset(_TAKEN_BY)
"""The passes over a graph that not every count needs.

``"tables"`` gives the sums over pairs of nodes (``w3``, ``wing``, ``chord`` and the like), ``"walks"`` the walks of
length 4, and ``"cliques"`` the 5-cliques. The sums over neighbourhoods are always computed.
"""


@lru_cache
def passes_for(name: str, induced: bool) -> frozenset[Pass]:
    """Return the passes that are needed to count the copies of one graph of five nodes.

    Args:
      name: one of :data:`jaxmotif.patterns._totals.NAMES_5`, a connected graph.
      induced: whether only induced copies are counted.

    Example:
      >>> sorted(passes_for("4-wheel", False)), sorted(passes_for("5-cycle", True))
      ([], ['cliques', 'tables', 'walks'])
    """
    weights = weights_of_maps(name, induced)
    wanted = {graph.name for graph, weight in zip(orbits.CONNECTED, weights, strict=True) if weight}
    return frozenset(which for which, taken in _TAKEN_BY.items() if wanted & taken)


class Arcs(NamedTuple):
    """The operations between arrays over arcs and arrays over nodes.

    Attributes:
      tail, head: return the values of nodes at the tails (heads) of all arcs.
      out: returns sums over the arcs that leave each node (only if arrays over arcs have all arcs).
      back: returns the values of the reversed arcs.
      both: returns the sums of the values of the two arcs of each edge, for the edges that are wanted (or at all arcs).
    """

    tail: Callable[[Array], Array]
    head: Callable[[Array], Array]
    out: Callable[[Array], Array]
    back: Callable[[Array], Array]
    both: Callable[[Array], Array]

    def around(self, values: Array) -> Array:
        """Return sums over the neighbours of each node."""
        return self.out(self.head(values))


class Nodes(NamedTuple):
    """Sums at nodes, int64; in a graph of fewer than 2^31 arcs all are below 2^56.

    Attributes:
      d: degrees.
      p2, p3: walks of length 2 and 3 from the node.
      q2, near_tau: sums over the neighbours, of the degree squared and of tau.
      tau, gamma: closed walks of length 3 and 4 from the node.
      T2, td, delta, S: sums over the arcs u -> v that leave the node u: of t squared, of t times the degree of v, of l2
        at the reversed arc, and of s, as :class:`Sums` defines them.
    """

    d: Array
    p2: Array
    p3: Array
    q2: Array
    near_tau: Array
    tau: Array
    gamma: Array
    T2: Array
    td: Array
    delta: Array
    S: Array

    @classmethod
    def of(cls, arcs: Arcs, d: Array, s: Sums) -> Nodes:
        """Return the sums at nodes of degrees ``d``."""
        p2, tau, out = arcs.around(d), arcs.out(s.t), arcs.out
        return cls(
            d=d,
            p2=p2,
            p3=arcs.around(p2),
            q2=arcs.around(d * d),
            near_tau=arcs.around(tau),
            tau=tau,
            gamma=out(s.w3),
            T2=out(s.t * s.t),
            td=out(s.t * arcs.head(d)),
            delta=out(arcs.back(s.l2)),
            S=out(s.s),
        )


class Sums(NamedTuple):
    """Sums over the neighbourhoods of a graph, int64 at each arc ``u -> v``.

    ``N(u)`` is the set of neighbours of u, and ``T`` the set of common neighbours of u and v. ``C(i, j)`` is the number
    of common neighbours of i and j (if i is j, the degree), and ``E(i, j)`` the number of ordered adjacent pairs among
    these common neighbours. A value "at u -> w" is the sum of that name at this arc.

    Attributes:
      t: common neighbours of u and v. w3, w4: walks of length 3 and 4 from u to v.
      degrees, walks: sums over w in T, of the degree of w and of the walks of length 2 from w.
      spread, roof: sums over w in T, of ``degrees`` and of ``w3`` at u -> w.
      far, side, wing: sums over j in N(u), of C(j, v) times the degree of j, of C(j, v) times ``t`` at u -> j, and of
        C(j, v) squared.
      arm: sum over j in N(u) of E(j, v).
      chord: sum over i and j in T of C(i, j).

    The others are sums in the neighbourhood graph of u, at its node v. The degrees of this graph are ``t``, and k(v, y)
    is the number of 4-cliques on the triangle u, v, y, where y is a neighbour of v in the graph:

      l2, l3: walks of length 2 and 3 from v. c: closed walks of length 4 from v.
      cube: sum over y of the degree of y squared.
      s, kt, k2: sums over y, of k(v, y), of k(v, y) times the degree of y, and of k(v, y) squared.
      ls: sum over y of ``s`` at u -> y.
      tip: sum of k(y, z) over the ordered adjacent pairs y, z of neighbours of v.
      q: 6 times the 5-cliques on u and v.
    """

    t: Array
    w3: Array
    w4: Array
    degrees: Array
    walks: Array
    spread: Array
    far: Array
    side: Array
    roof: Array
    wing: Array
    arm: Array
    chord: Array
    l2: Array
    l3: Array
    cube: Array
    s: Array
    kt: Array
    ls: Array
    c: Array
    k2: Array
    tip: Array
    q: Array


class Rims(NamedTuple):
    """Sums that edge orbits need beyond :class:`Sums`, int64 at each arc ``u -> v``.

    ``T`` and ``C`` are as in :class:`Sums`, ``T(u, b)`` is the set of common neighbours of u and b, and ``t(i, j)`` and
    ``l2(i, j)`` are the sums ``t`` and ``l2`` at the arc i -> j.

    Attributes:
      floor: walks u, j, k, v, each counted t(j, k) times.
      eave: sum over b in T and j in T(u, b) of C(j, v).
      squares, triples: sums over w in T, of the degree of w squared and of the closed walks of length 3 from w.
      dart, tail: sums over w in T of the degree of w, times t(u, w) and times the 4-cliques on the triangle u, v, w.
      end, middle: sums over w in T, of l2(w, v) and of t(u, w) t(w, v).
      side: sum over ordered adjacent pairs i, j in T of t(i, j).
      rim: sum over w in T of the walks of length 3 from u to v among the neighbours of w.
    """

    floor: Array
    eave: Array
    squares: Array
    triples: Array
    dart: Array
    tail: Array
    end: Array
    middle: Array
    side: Array
    rim: Array


class _Homs:
    """Homomorphisms of graphs of one size to the nodes, or edges, of a graph, by the orbit that is sent there."""

    def __init__(self, size: int, root: orbits.Root, arcs: Arcs):
        self.size, self._arcs, self.found = size, arcs, dict[int, Array]()
        self.root: orbits.Root = root

    def put(
        self, edges: str, nodes: Callable[[], dict[int, Array]], arcs: Callable[[], dict[orbits.Edge, Array]]
    ) -> None:
        """Add the homomorphisms of one small graph.

        Args:
          edges: the small graph.
          nodes, arcs: return values at nodes and arcs, by the node or arc of the small graph that is sent there. Only
            the one that the root asks for is called.
        """
        mask = orbits.to_mask(self.size, edges_of(edges))
        if self.root == "node":
            self.found |= {orbits.orbit_at(self.size, mask, (node,)): value for node, value in nodes().items()}
            return
        for arc, value in arcs().items():
            # Both directions are added, since an orbit of edges does not tell the ends apart.
            self.found[orbits.orbit_at(self.size, mask, arc)] = self._arcs.both(value)

    def rows(self) -> list[Array]:
        """Return the values in the order of the orbits."""
        first = orbits.NUM_ORBITS[self.root][self.size - 1]
        return [self.found[first + i] for i in range(len(self.found))]


def orbits_of(xp: ModuleType, arcs: Arcs, degree: Array, sums: Sums, rims: Rims | None = None) -> Array:
    """Return induced counts of the 73 orbits at every node, int64 ``[73, n]``, exact where they are below 2^60.

    With ``rims`` they are those of the 68 orbits at all edges that are wanted, ``[68, edges]``.
    """
    root = "node" if rims is None else "edge"
    return solved(xp, all_homs(arcs, Nodes.of(arcs, degree, sums), sums, rims), root)


def solved(xp: ModuleType, homs: list[Array], root: orbits.Root) -> Array:
    """Return induced counts ``[orbits, ...]`` from :func:`all_homs`."""
    rows = xp.stack(homs)
    return divided(product(xp, orbits.times24(root).astype(rows.dtype), rows))


def divided(times24: Array) -> Array:
    """Divide exact multiples of 24, modulo 2^64."""
    return times24 / 24 if times24.dtype.kind == "f" else exact_quotient(times24, 24)


def total_homs(arcs: Arcs, degree: Array, s: Sums, of_arcs: Callable[[Array], Array] = lambda x: x) -> list[Array]:
    """Return arrays whose sums are the homomorphisms of the 30 connected graphs of two to five nodes.

    Each array is over nodes or over arcs, whichever takes less work; ``of_arcs`` is applied to arrays over arcs. The
    order is that of :data:`jaxmotif.patterns._orbits.CONNECTED`.
    """
    d, t, d2, p2 = degree, s.t, degree * degree, arcs.around(degree)
    tau, T2, S = arcs.out(t), arcs.out(t * t), arcs.out(s.s)
    at_nodes = {
        "edge": d,
        "2-star": d2,
        "4-path": d * p2,
        "3-star": d2 * d,
        "tailed-triangle": tau * d,
        "5-path": p2 * p2,
        "fork": d2 * p2,
        "long-tailed-triangle": tau * p2,
        "bull": d * arcs.out(t * arcs.head(d)),
        "banner": arcs.out(s.w3) * d,
        "4-star": d2 * d2,
        "cricket": tau * d2,
        "butterfly": tau * tau,
        "dart": T2 * d,
        "tailed-4-clique": S * d,
    }
    at_arcs = {
        "triangle": t,
        "4-cycle": s.w3,
        "chordal-cycle": t * t,
        "4-clique": s.s,
        "5-cycle": s.w4,
        "house": t * s.w3,
        "bipartite-2-3": s.wing,
        "kite": t * s.degrees,
        "chordal-bipartite-2-3": s.chord,
        "triple-triangle": t * t * t,
        "gem": t * s.l2,
        "hatted-4-clique": s.s * t,
        "4-wheel": s.c,
        "almost-5-clique": s.k2,
        "5-clique": s.q,
    }
    homs = at_nodes | {name: of_arcs(value) for name, value in at_arcs.items()}
    return [homs[graph.name] for graph in orbits.CONNECTED]


def all_homs(arcs: Arcs, at: Nodes, s: Sums, rims: Rims | None = None) -> list[Array]:
    """Return the homomorphisms of all graphs of two to five nodes, in the order of their orbits.

    Without ``rims`` these are the homomorphisms that send an orbit to each node, and arrays over arcs have all arcs of
    the graph. With ``rims`` they are those that send an orbit to each edge (1 for the edge itself), and arrays over
    arcs have both arcs of each edge that is wanted.
    """
    root: orbits.Root = "node" if rims is None else "edge"
    d, d2, tau = at.d, at.d * at.d, at.tau
    tail, head, back = arcs.tail, arcs.head, arcs.back

    three = _Homs(3, root, arcs)
    three.put("01 12", lambda: {0: at.p2, 1: d2}, lambda: {(1, 0): tail(d)})
    three.put("01 02 12", lambda: {0: tau}, lambda: {(0, 1): s.t})

    four = _Homs(4, root, arcs)
    four.put("01 12 23", lambda: {0: at.p3, 1: d * at.p2}, lambda: {(0, 1): head(at.p2), (1, 2): tail(d) * head(d)})
    four.put("01 02 03", lambda: {0: d2 * d, 1: at.q2}, lambda: {(0, 1): tail(d2)})
    four.put("01 12 23 03", lambda: {0: at.gamma}, lambda: {(0, 1): s.w3})
    four.put(
        "01 02 12 23",
        lambda: {0: at.td, 2: tau * d, 3: at.near_tau},
        lambda: {(0, 1): s.degrees, (0, 2): s.t * head(d), (2, 3): tail(tau)},
    )
    wedges = back(s.l2)  # at u -> v, u off the chord: sum over T of t(w, v)
    four.put("01 02 03 12 13", lambda: {0: at.T2, 2: at.delta}, lambda: {(0, 1): s.t * s.t, (2, 0): wedges})
    four.put("01 02 03 12 13 23", lambda: {0: at.S}, lambda: {(0, 1): s.s})

    five = _Homs(5, root, arcs)
    _flat(five, arcs, at, s, rims)
    _cones(five, arcs, at, s, rims)
    smallest = d if rims is None else 0 * three.found[0] + 1
    return [smallest, *three.rows(), *four.rows(), *five.rows()]


def _flat(five: _Homs, arcs: Arcs, at: Nodes, s: Sums, rims: Rims | None) -> None:
    """Add the homomorphisms of the ten graphs in which no node is adjacent to all others.

    Args:
      five: collects the homomorphisms of graphs of five nodes.
      arcs: reads values at the ends of arcs, and adds values over arcs.
      at: sums at nodes.
      s: sums at arcs.
      rims: the further sums that edge orbits need, or ``None`` for node orbits.
    """
    tail, head, out, back, around = arcs.tail, arcs.head, arcs.out, arcs.back, arcs.around
    d, d2, p2, p3, q2, tau, gamma = at.d, at.d * at.d, at.p2, at.p3, at.q2, at.tau, at.gamma
    wedges, spread, delta = back(s.l2), back(s.spread), at.delta
    five.put(
        "01 12 23 34",
        lambda: {0: around(p3), 1: d * p3, 2: p2 * p2},
        lambda: {(0, 1): head(p3), (1, 2): tail(d) * head(p2)},
    )  # 5-path
    five.put(
        "01 02 03 34",
        lambda: {0: d2 * p2, 1: around(d * p2), 3: d * q2, 4: around(q2)},
        lambda: {(0, 1): tail(d * p2), (0, 3): tail(d2) * head(d), (3, 4): tail(q2)},
    )  # fork
    five.put(
        "01 02 12 23 34",
        lambda: {0: out(s.t * head(p2)), 2: tau * p2, 3: d * at.near_tau, 4: around(at.near_tau)},
        lambda: {(0, 1): s.walks, (0, 2): s.t * head(p2), (2, 3): tail(tau) * head(d), (3, 4): tail(at.near_tau)},
    )  # long-tailed-triangle
    five.put(
        "01 02 12 13 24",
        lambda: {0: out(s.degrees * head(d)), 1: d * at.td, 3: around(at.td)},
        lambda: {(1, 2): s.t * tail(d) * head(d), (0, 1): s.degrees * head(d), (1, 3): tail(at.td)},
    )  # bull
    five.put(
        "01 12 23 03 04",
        lambda: {0: gamma * d, 1: out(s.w3 * head(d)), 2: out(back(s.far)), 4: around(gamma)},
        lambda: {(0, 4): tail(gamma), (0, 1): tail(d) * s.w3, (1, 2): s.far},
    )  # banner
    five.put("01 12 23 34 04", lambda: {0: out(s.w4)}, lambda: {(0, 1): s.w4})  # 5-cycle
    five.put(
        "01 12 23 03 04 14",
        lambda: {0: out(s.t * s.w3), 3: out(back(s.side)), 4: out(back(s.roof))},
        lambda: {(0, 1): s.t * s.w3, (0, 4): s.roof, (0, 3): s.side} | ({(2, 3): rims.floor} if rims else {}),
    )  # house
    five.put(
        "02 03 04 12 13 14", lambda: {0: out(back(s.wing)), 2: out(s.wing)}, lambda: {(2, 0): s.wing}
    )  # bipartite-2-3
    five.put(
        "01 02 03 12 13 24",
        lambda: {0: out(s.t * s.degrees), 2: d * delta, 3: out(spread), 4: around(delta)},
        lambda: {(0, 1): s.t * s.degrees, (2, 0): tail(d) * wedges, (3, 0): spread, (2, 4): tail(delta)},
    )  # kite
    five.put(
        "02 03 04 12 13 14 23",
        lambda: {0: out(back(s.arm)), 2: out(s.chord), 4: out(s.arm)},
        lambda: {(4, 0): s.arm, (2, 3): s.chord} | ({(0, 2): rims.eave} if rims else {}),
    )  # chordal-bipartite-2-3


def _cones(five: _Homs, arcs: Arcs, at: Nodes, s: Sums, rims: Rims | None) -> None:
    """Add the homomorphisms of the eleven graphs in which node 0 is adjacent to all others.

    The arguments are those of :func:`_flat`.
    """
    tail, out, back = arcs.tail, arcs.out, arcs.back
    d, t, t2, n = at.d, s.t, s.t * s.t, tail(at.d)
    M, T2, S = at.tau, at.T2, at.S  # sums over the neighbourhood of a hub

    def cone(
        rest: str, hub: Callable[[], Array], spokes: dict[int, Array], rim: dict[orbits.Edge, str] | None = None
    ) -> None:
        """Add the homomorphisms of a graph in which node 0, the hub, is adjacent to all of nodes 1 to 4.

        Args:
          rest: the edges between nodes 1 to 4, as in ``"12 23"``.
          hub: returns the values at nodes that the hub is sent to.
          spokes: the values at arcs that the arc from the hub to each node is sent to, one node for each orbit.
          rim: the field of ``rims`` for each arc between nodes 1 to 4 whose orbit no spoke has.
        """
        named = {} if rims is None else rim or {}
        five.put(
            "01 02 03 04 " + rest,
            # The value at the end of a spoke is the sum over the arcs that lead to it from all hubs.
            lambda: {0: hub()} | {node: out(back(value)) for node, value in spokes.items()},
            lambda: (
                {(0, node): value for node, value in spokes.items()}
                | {arc: getattr(rims, name) for arc, name in named.items()}
            ),
        )

    cone("", lambda: d * d * d * d, {1: n * n * n})  # 4-star
    cone("12", lambda: M * d * d, {1: t * n * n, 3: tail(M * d)}, {(1, 2): "squares"})  # cricket
    cone("12 34", lambda: M * M, {1: t * tail(M)}, {(1, 2): "triples"})  # butterfly
    cone("12 13", lambda: T2 * d, {1: t2 * n, 2: s.l2 * n, 4: tail(T2)}, {(1, 2): "dart"})  # dart
    cone("12 13 23", lambda: S * d, {1: s.s * n, 4: tail(S)}, {(1, 2): "tail"})  # tailed-4-clique
    cone("12 13 14", lambda: out(t2 * t), {1: t2 * t, 2: s.cube})  # triple-triangle
    cone("12 23 34", lambda: out(t * s.l2), {1: s.l3, 2: t * s.l2}, {(1, 2): "end", (2, 3): "middle"})  # gem
    cone("12 13 23 14", lambda: out(s.s * t), {1: s.s * t, 2: s.kt, 4: s.ls}, {(2, 3): "side"})  # hatted-4-clique
    cone("12 23 34 14", lambda: out(s.c), {1: s.c}, {(1, 2): "rim"})  # 4-wheel
    cone("12 13 14 23 24", lambda: out(s.k2), {1: s.k2, 3: s.tip})  # almost-5-clique
    cone("12 13 14 23 24 34", lambda: out(s.q), {1: s.q})  # 5-clique
