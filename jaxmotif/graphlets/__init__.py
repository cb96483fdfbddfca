"""Exact counts of induced subgraphs of 2 to 5 nodes, in a whole graph, at each edge and at each node."""

from jaxmotif.arrays._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
