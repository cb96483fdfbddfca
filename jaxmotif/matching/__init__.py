"""Subgraph matching: where, and how often, a labelled query graph occurs in a target graph."""

from jaxmotif.matching.count import (
    MatchCount,
    Matches,
    count_matches,
    count_queries,
    find_matches,
    has_match,
    participation_counts,
)
from jaxmotif.matching.dense import DenseCount, dense_match_count
from jaxmotif.matching.domains import DEFAULT_FILTERS, FILTERS

__all__ = [
    "DEFAULT_FILTERS",
    "FILTERS",
    "DenseCount",
    "MatchCount",
    "Matches",
    "count_matches",
    "count_queries",
    "dense_match_count",
    "find_matches",
    "has_match",
    "participation_counts",
]
