"""Subgraph matching: where, and how often, a labelled query graph occurs in a target graph."""

from jaxmotif.matching._count import count_matches, count_queries
from jaxmotif.matching._dense import DenseCount, dense_match_count, dense_participation
from jaxmotif.matching._disjoint import Disjoint, disjoint_occurrences
from jaxmotif.matching._listing import Matches, MatchFile, find_matches, has_match, iter_matches
from jaxmotif.matching._occurrences import occurrences
from jaxmotif.matching._options import FILTERS, Search
from jaxmotif.matching._participation import participation_counts
from jaxmotif.matching._query import QueryMatches, query
from jaxmotif.matching._result import MatchCount

__all__ = [
    "FILTERS",
    "DenseCount",
    "Disjoint",
    "MatchCount",
    "MatchFile",
    "Matches",
    "QueryMatches",
    "Search",
    "count_matches",
    "count_queries",
    "dense_match_count",
    "dense_participation",
    "disjoint_occurrences",
    "find_matches",
    "has_match",
    "iter_matches",
    "occurrences",
    "participation_counts",
    "query",
]
