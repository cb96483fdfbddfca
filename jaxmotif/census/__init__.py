"""Connected induced subgraphs of one size, counted by class: of graphs, and at the places of nodes and edges."""

from jaxmotif.census._count import subgraph_census
from jaxmotif.census._dense import dense_census, dense_census_classes
from jaxmotif.census._tables import Census

__all__ = ["Census", "dense_census", "dense_census_classes", "subgraph_census"]
