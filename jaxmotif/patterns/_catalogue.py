"""The graphlets of 2, 3 and 4 nodes, their node and edge orbits, and the fixed order and names of every result.

Graphlets have PGD's names (Ahmed, Neville, Rossi, Duffield: Efficient graphlet counting for large networks, ICDM 2015).
Orbits have ORCA's numbers (Hočevar, Demšar: A combinatorial approach to graphlet counting, Bioinformatics 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

Edge = tuple[int, int]


@dataclass(frozen=True)
class Graphlet:
    """A small graph whose induced occurrences are counted.

    Attributes:
      name: PGD's name for up to four nodes, a name of the field for five.
      num_nodes: the number of nodes, which are ``0 .. num_nodes - 1``.
      edges: pairs ``(u, v)`` with ``u < v``.
      node_orbits: ORCA's orbit of each node; empty for a disconnected graph.
      edge_orbits: ORCA's orbit of each edge; empty for a disconnected graph, and for the single edge.
    """

    name: str
    num_nodes: int
    edges: tuple[Edge, ...]
    node_orbits: tuple[int, ...]
    edge_orbits: tuple[int, ...]

    @property
    def connected(self) -> bool:
        """Return whether the graph is connected."""
        return bool(self.node_orbits)


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


def _read_tables() -> dict[str, list[list[str]]]:
    """Read ``graphs.txt``: the fields of the lines under each heading."""
    _, *blocks = Path(__file__).with_name("graphs.txt").read_text(encoding="utf-8").strip().split("\n\n")
    tables = {}
    for heading, *lines in map(str.splitlines, blocks):
        name = heading.removeprefix("## ").partition(":")[0]
        tables[name] = [[field.strip() for field in line.split("|")] for line in lines]
    return tables


TABLES = _read_tables()
"""Tables of graphs that have names, as text: the fields of each line, by the heading."""


def edges_of(text: str) -> tuple[Edge, ...]:
    """Return edges that are written as pairs of digits, such as ``"01 02 12"``."""
    return tuple((int(edge[0]), int(edge[1])) for edge in text.split())


def _graphlet(name: str, size: str, edges: str, *orbits: str) -> Graphlet:
    """Read a line of the table."""
    node_orbits, edge_orbits = (tuple(map(int, text.split())) for text in orbits)
    return Graphlet(name, int(size), edges_of(edges), node_orbits, edge_orbits)


GRAPHLETS_5: tuple[Graphlet, ...] = tuple(_graphlet(*line) for line in TABLES["graphlets"])
"""All 51 graphs of two to five nodes; those of five are connected first."""

GRAPHLETS: tuple[Graphlet, ...] = tuple(g for g in GRAPHLETS_5 if g.num_nodes < 5)
"""All graphlets of 2, 3 and 4 nodes, in the order of every global result."""

CONNECTED = tuple(sorted((g for g in GRAPHLETS_5 if g.connected), key=lambda g: min(g.node_orbits)))
"""The 30 connected graphs of two to five nodes, in ORCA's order (G0 to G29)."""

_NAMED = {g.name: g for g in GRAPHLETS}

GRAPHLET_NAMES: tuple[str, ...] = tuple(g.name for g in GRAPHLETS)

NODE_ORBITS: tuple[NodeOrbit, ...] = tuple(
    NodeOrbit(i, f"orbit-{i}", name, role, tuple(x for x, orbit in enumerate(_NAMED[name].node_orbits) if orbit == i))
    for i, (name, role) in enumerate(TABLES["node orbits"])
)
"""ORCA's 15 node orbits, in the order of every per-node result."""

NODE_ORBIT_NAMES: tuple[str, ...] = tuple(o.name for o in NODE_ORBITS)


def _edge_orbit(number: int, name: str, graphlet: Graphlet) -> EdgeOrbit:
    """Return the orbit of a column; a disconnected graphlet has a single one, which ORCA does not number."""
    if not graphlet.connected:
        return EdgeOrbit(None, name, graphlet.name, graphlet.edges)
    edges = zip(graphlet.edges, graphlet.edge_orbits, strict=True)
    return EdgeOrbit(number, name, graphlet.name, tuple(edge for edge, orbit in edges if orbit == number))


EDGE_ORBITS: tuple[EdgeOrbit, ...] = tuple(
    _edge_orbit(number, name, _NAMED[graphlet]) for number, (name, graphlet) in enumerate(TABLES["edge orbits"])
)
"""The edge orbits of 3 and 4 nodes: ORCA's 12 in its order, then those of disconnected graphlets."""

EDGE_COLUMN_NAMES: tuple[str, ...] = tuple(o.name for o in EDGE_ORBITS)
"""The columns of every per-edge result, in order; column ``i < 12`` is ORCA's edge orbit ``i``."""
