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


_CONNECTED = {name for name, *_ in TABLES["connected"]}

GRAPHLETS: tuple[Graphlet, ...] = tuple(
    Graphlet(name, int(size), edges_of(edges), name in _CONNECTED) for name, size, edges in TABLES["graphlets"]
)
"""All graphlets of 2, 3 and 4 nodes, in the order of every global result."""

GRAPHLET_NAMES: tuple[str, ...] = tuple(g.name for g in GRAPHLETS)

NODE_ORBITS: tuple[NodeOrbit, ...] = tuple(
    NodeOrbit(index, f"orbit-{index}", graphlet, role, tuple(map(int, nodes.split())))
    for index, (graphlet, role, nodes) in enumerate(TABLES["node orbits"])
)
"""ORCA's 15 node orbits, in the order of every per-node result."""

NODE_ORBIT_NAMES: tuple[str, ...] = tuple(o.name for o in NODE_ORBITS)

EDGE_ORBITS: tuple[EdgeOrbit, ...] = tuple(
    EdgeOrbit(index if graphlet in _CONNECTED else None, name, graphlet, edges_of(edges))
    for index, (name, graphlet, edges) in enumerate(TABLES["edge orbits"])
)
"""The edge orbits of 3 and 4 nodes: ORCA's 12 in its order, then those of disconnected graphlets."""

EDGE_COLUMN_NAMES: tuple[str, ...] = tuple(o.name for o in EDGE_ORBITS)
"""The columns of every per-edge result, in order; column ``i < 12`` is ORCA's edge orbit ``i``."""
