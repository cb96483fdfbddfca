"""The graphlets of 2, 3 and 4 nodes, their node and edge orbits, and the fixed order and names of every result.

Graphlets have PGD's names (Ahmed, Neville, Rossi, Duffield: Efficient graphlet counting for large networks, ICDM 2015).
Orbits have ORCA's numbers (Hočevar, Demšar: A combinatorial approach to graphlet counting, Bioinformatics 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

Edge = tuple[int, int]


@dataclass(frozen=True)
class Graphlet:
    """A small graph whose induced occurrences are counted.

    Attributes:
      name: PGD's name.
      num_nodes: the number of nodes, which are ``0 .. num_nodes - 1``.
      edges: pairs ``(u, v)`` with ``u < v``.
      connected: whether it is connected.
    """

    name: str
    num_nodes: int
    edges: tuple[Edge, ...]
    connected: bool


@dataclass(frozen=True)
class NodeOrbit:
    """Nodes of a graphlet that its automorphisms exchange.

    Attributes:
      index: ORCA's number.
      name: ``"orbit-<index>"``.
      graphlet: the graphlet's name.
      role: the place of such a node in the graphlet, in words.
      nodes: the nodes, in the numbering of the graphlet's edge list.
    """

    index: int
    name: str
    graphlet: str
    role: str
    nodes: tuple[int, ...]


@dataclass(frozen=True)
class EdgeOrbit:
    """Edges of a graphlet that its automorphisms exchange: one column of the per-edge counts.

    Attributes:
      index: ORCA's number, or ``None`` for a disconnected graphlet, which ORCA does not count.
      name: the column's name: the graphlet's name, and the edge's role where the graphlet has two or more orbits.
      graphlet: the graphlet's name.
      edges: the edges, in the numbering of the graphlet's edge list.
    """

    index: int | None
    name: str
    graphlet: str
    edges: tuple[Edge, ...]


_CHORDAL_CYCLE = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3))
_TAILED_TRIANGLE = ((0, 1), (0, 2), (1, 2), (2, 3))
_FOUR_CLIQUE = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
_FOUR_CYCLE = ((0, 1), (0, 3), (1, 2), (2, 3))
_TRIANGLE = ((0, 1), (0, 2), (1, 2))
_TWO_STAR = ((0, 1), (0, 2))
_THREE_STAR = ((0, 1), (0, 2), (0, 3))
_FOUR_PATH = ((0, 1), (1, 2), (2, 3))

GRAPHLETS: tuple[Graphlet, ...] = (
    Graphlet("edge", 2, ((0, 1),), True),
    Graphlet("2-node-indep", 2, (), False),
    Graphlet("triangle", 3, _TRIANGLE, True),
    Graphlet("2-star", 3, _TWO_STAR, True),
    Graphlet("3-node-1-edge", 3, ((0, 1),), False),
    Graphlet("3-node-indep", 3, (), False),
    Graphlet("4-clique", 4, _FOUR_CLIQUE, True),
    Graphlet("chordal-cycle", 4, _CHORDAL_CYCLE, True),
    Graphlet("tailed-triangle", 4, _TAILED_TRIANGLE, True),
    Graphlet("4-cycle", 4, _FOUR_CYCLE, True),
    Graphlet("3-star", 4, _THREE_STAR, True),
    Graphlet("4-path", 4, _FOUR_PATH, True),
    Graphlet("4-node-1-triangle", 4, _TRIANGLE, False),
    Graphlet("4-node-2-star", 4, _TWO_STAR, False),
    Graphlet("4-node-2-edge", 4, ((0, 1), (2, 3)), False),
    Graphlet("4-node-1-edge", 4, ((0, 1),), False),
    Graphlet("4-node-indep", 4, (), False),
)
"""All graphlets of 2, 3 and 4 nodes, in the order of every global result."""

GRAPHLET_NAMES: tuple[str, ...] = tuple(g.name for g in GRAPHLETS)

NODE_ORBITS: tuple[NodeOrbit, ...] = tuple(
    NodeOrbit(index, f"orbit-{index}", *fields)
    for index, fields in enumerate(
        (
            ("edge", "end", (0, 1)),
            ("2-star", "leaf", (1, 2)),
            ("2-star", "center", (0,)),
            ("triangle", "corner", (0, 1, 2)),
            ("4-path", "end", (0, 3)),
            ("4-path", "middle", (1, 2)),
            ("3-star", "leaf", (1, 2, 3)),
            ("3-star", "center", (0,)),
            ("4-cycle", "corner", (0, 1, 2, 3)),
            ("tailed-triangle", "leaf", (3,)),
            ("tailed-triangle", "corner without the tail", (0, 1)),
            ("tailed-triangle", "corner with the tail", (2,)),
            ("chordal-cycle", "corner off the chord", (2, 3)),
            ("chordal-cycle", "corner on the chord", (0, 1)),
            ("4-clique", "corner", (0, 1, 2, 3)),
        )
    )
)
"""ORCA's 15 node orbits, in the order of every per-node result."""

NODE_ORBIT_NAMES: tuple[str, ...] = tuple(o.name for o in NODE_ORBITS)

EDGE_ORBITS: tuple[EdgeOrbit, ...] = (
    EdgeOrbit(0, "2-star", "2-star", _TWO_STAR),
    EdgeOrbit(1, "triangle", "triangle", _TRIANGLE),
    EdgeOrbit(2, "4-path-end", "4-path", ((0, 1), (2, 3))),
    EdgeOrbit(3, "4-path-middle", "4-path", ((1, 2),)),
    EdgeOrbit(4, "3-star", "3-star", _THREE_STAR),
    EdgeOrbit(5, "4-cycle", "4-cycle", _FOUR_CYCLE),
    EdgeOrbit(6, "tailed-triangle-tail", "tailed-triangle", ((2, 3),)),
    EdgeOrbit(7, "tailed-triangle-opposite", "tailed-triangle", ((0, 1),)),
    EdgeOrbit(8, "tailed-triangle-side", "tailed-triangle", ((0, 2), (1, 2))),
    EdgeOrbit(9, "chordal-cycle-rim", "chordal-cycle", ((0, 2), (0, 3), (1, 2), (1, 3))),
    EdgeOrbit(10, "chordal-cycle-chord", "chordal-cycle", ((0, 1),)),
    EdgeOrbit(11, "4-clique", "4-clique", _FOUR_CLIQUE),
    EdgeOrbit(None, "3-node-1-edge", "3-node-1-edge", ((0, 1),)),
    EdgeOrbit(None, "4-node-1-triangle", "4-node-1-triangle", _TRIANGLE),
    EdgeOrbit(None, "4-node-2-star", "4-node-2-star", _TWO_STAR),
    EdgeOrbit(None, "4-node-2-edge", "4-node-2-edge", ((0, 1), (2, 3))),
    EdgeOrbit(None, "4-node-1-edge", "4-node-1-edge", ((0, 1),)),
)
"""The edge orbits of 3 and 4 nodes: ORCA's 12 in its order, then those of disconnected graphlets."""

EDGE_COLUMN_NAMES: tuple[str, ...] = tuple(o.name for o in EDGE_ORBITS)
"""The columns of every per-edge result, in order; column ``i < 12`` is ORCA's edge orbit ``i``."""
