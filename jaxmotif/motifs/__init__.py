"""Network motifs: subgraph census, random graphs with given degrees, and which subgraphs occur unexpectedly often."""

from jaxmotif.motifs._census import Census, subgraph_census
from jaxmotif.motifs._dense import dense_census, dense_census_classes
from jaxmotif.motifs._discovery import Motifs, find_motifs
from jaxmotif.motifs._null_models import NULL_MODELS, NullModel
from jaxmotif.motifs._random_graphs import RandomGraphs, random_graphs
from jaxmotif.motifs._significance import Mixing, Significance

__all__ = [
    "NULL_MODELS",
    "Census",
    "Mixing",
    "Motifs",
    "NullModel",
    "RandomGraphs",
    "Significance",
    "dense_census",
    "dense_census_classes",
    "find_motifs",
    "random_graphs",
    "subgraph_census",
]
