"""Network motifs: subgraph census, random graphs with given degrees, and which subgraphs occur unexpectedly often."""

from jaxmotif.census import Census, dense_census, dense_census_classes, subgraph_census
from jaxmotif.motifs._compare import MotifComparison, compare_motifs, correct_together
from jaxmotif.motifs._discovery import find_motifs
from jaxmotif.motifs._estimate import CensusEstimate, estimate_census
from jaxmotif.motifs._null_models import NULL_MODELS, NullModel, keep_blocks, keep_distances, keep_labels
from jaxmotif.motifs._random_graphs import RandomGraphs, random_graphs
from jaxmotif.motifs._result import Motifs
from jaxmotif.motifs._rewire import rewire_edges
from jaxmotif.motifs._sample import sample_subgraphs
from jaxmotif.motifs._significance import Mixing, Significance
from jaxmotif.motifs._until import Until
from jaxmotif.motifs._verdict import Rule

__all__ = [
    "NULL_MODELS",
    "Census",
    "CensusEstimate",
    "Mixing",
    "MotifComparison",
    "Motifs",
    "NullModel",
    "RandomGraphs",
    "Rule",
    "Significance",
    "Until",
    "compare_motifs",
    "correct_together",
    "dense_census",
    "dense_census_classes",
    "estimate_census",
    "find_motifs",
    "keep_blocks",
    "keep_distances",
    "keep_labels",
    "random_graphs",
    "rewire_edges",
    "sample_subgraphs",
    "subgraph_census",
]
