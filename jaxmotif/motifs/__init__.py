"""Network motifs: subgraph census, random graphs with given degrees, and which subgraphs occur unexpectedly often."""

from jaxmotif.motifs.census import Census, subgraph_census
from jaxmotif.motifs.random_graphs import RandomGraphs, random_graphs

__all__ = ["Census", "RandomGraphs", "random_graphs", "subgraph_census"]
