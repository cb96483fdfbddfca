"""Network motifs: subgraph census, random graphs with given degrees, and which subgraphs occur unexpectedly often."""

from jaxmotif.motifs.census import Census, subgraph_census
from jaxmotif.motifs.dense import dense_census, dense_census_classes
from jaxmotif.motifs.discovery import Motifs, find_motifs
from jaxmotif.motifs.random_graphs import RandomGraphs, random_graphs
from jaxmotif.motifs.significance import Mixing, Significance

__all__ = [
    "Census",
    "Mixing",
    "Motifs",
    "RandomGraphs",
    "Significance",
    "dense_census",
    "dense_census_classes",
    "find_motifs",
    "random_graphs",
    "subgraph_census",
]
