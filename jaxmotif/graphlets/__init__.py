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
from jaxmotif.graphlets.pure import sparse_edge_columns, sparse_graphlet_counts, sparse_node_orbits
from jaxmotif.graphlets.run import Schedule
from jaxmotif.graphlets.tuning import Tuning, choose_tuning

__all__ = [
    "EdgeGraphlets",
    "GraphletCounts",
    "NodeOrbits",
    "Schedule",
    "Tuning",
    "choose_tuning",
    "dense_edge_columns",
    "dense_graphlet_counts",
    "dense_node_orbits",
    "edge_graphlets",
    "graphlet_counts",
    "node_orbits",
    "sparse_edge_columns",
    "sparse_graphlet_counts",
    "sparse_node_orbits",
]
