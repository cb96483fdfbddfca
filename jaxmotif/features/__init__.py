"""Features of graphs, nodes and edges that count small patterns there, and comparisons of graphs by them."""

from jaxmotif.features._census import census_orbits, role_table
from jaxmotif.features._compare import (
    Agreement,
    gdv_similarity,
    graphlet_correlation_distance,
    graphlet_correlation_matrix,
    graphlet_degree_agreement,
)
from jaxmotif.features._dense import dense_pattern_features
from jaxmotif.features._patterns import Features, all_patterns, pattern_features
from jaxmotif.features._soft import SoftDensities, soft_densities
from jaxmotif.features._strength import MotifStrengths, motif_strengths

__all__ = [
    "Agreement",
    "Features",
    "MotifStrengths",
    "SoftDensities",
    "all_patterns",
    "census_orbits",
    "dense_pattern_features",
    "gdv_similarity",
    "graphlet_correlation_distance",
    "graphlet_correlation_matrix",
    "graphlet_degree_agreement",
    "motif_strengths",
    "pattern_features",
    "role_table",
    "soft_densities",
]
