"""Connected induced subgraphs of one size, counted by class: of graphs, and at the places of nodes and edges."""

from jaxmotif.census._count import Census, subgraph_census
from jaxmotif.census._dense import dense_census, dense_census_classes

__all__ = ["Census", "dense_census", "dense_census_classes", "subgraph_census"]
