"""Exact counts of induced subgraphs of 2 to 5 nodes, in a whole graph, at each edge and at each node."""

from jaxmotif.graphlets._count import (
    EdgeGraphlets,
    GraphletCounts,
    NodeOrbits,
    edge_graphlets,
    graphlet_counts,
    node_orbits,
)
from jaxmotif.graphlets._dense import dense_edge_columns, dense_graphlet_counts, dense_node_orbits
from jaxmotif.graphlets._run import sparse_edge_columns, sparse_graphlet_counts, sparse_node_orbits
from jaxmotif.graphlets._tuning import Tuning, choose_tuning

__all__ = [
    "EdgeGraphlets",
    "GraphletCounts",
    "NodeOrbits",
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
