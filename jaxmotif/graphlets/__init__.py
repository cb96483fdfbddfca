"""Exact counts of induced subgraphs of 2, 3 and 4 nodes."""

from jaxmotif.graphlets.count import (
    EdgeGraphlets,
    GraphletCounts,
    NodeOrbits,
    edge_graphlets,
    graphlet_counts,
    node_orbits,
)
from jaxmotif.graphlets.dense import dense_edge_columns, dense_graphlet_counts, dense_node_orbits
from jaxmotif.graphlets.run import Schedule

__all__ = [
    "EdgeGraphlets",
    "GraphletCounts",
    "NodeOrbits",
    "Schedule",
    "dense_edge_columns",
    "dense_graphlet_counts",
    "dense_node_orbits",
    "edge_graphlets",
    "graphlet_counts",
    "node_orbits",
]
