"""Counts of the connected induced subgraphs of one size by class, in graphs and at their nodes and edges."""

from jaxmotif.census._count import subgraph_census
from jaxmotif.census._dense import dense_census, dense_census_classes
from jaxmotif.census._tables import Census

__all__ = ["Census", "dense_census", "dense_census_classes", "subgraph_census"]
