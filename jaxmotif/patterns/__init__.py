"""Small graphs known at plan time."""

from jaxmotif.patterns.catalogue import (
    EDGE_COLUMN_NAMES,
    EDGE_ORBITS,
    GRAPHLET_NAMES,
    GRAPHLETS,
    NODE_ORBIT_NAMES,
    NODE_ORBITS,
    EdgeOrbit,
    Graphlet,
    NodeOrbit,
)

__all__ = [
    "EDGE_COLUMN_NAMES",
    "EDGE_ORBITS",
    "GRAPHLETS",
    "GRAPHLET_NAMES",
    "NODE_ORBITS",
    "NODE_ORBIT_NAMES",
    "EdgeOrbit",
    "Graphlet",
    "NodeOrbit",
]
