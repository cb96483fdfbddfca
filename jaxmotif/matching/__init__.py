"""Subgraph matching: where, and how often, a labelled query graph occurs in a target graph."""

from jaxmotif.matching.count import (
    MatchCount,
    Matches,
    count_matches,
    find_matches,
    has_match,
    participation_counts,
)
from jaxmotif.matching.domains import DEFAULT_FILTERS, FILTERS

__all__ = [
    "DEFAULT_FILTERS",
    "FILTERS",
    "MatchCount",
    "Matches",
    "count_matches",
    "find_matches",
    "has_match",
    "participation_counts",
]
