"""What people look at: pages of the results of the jobs, drawings of small graphs, pictures in matplotlib."""

from jaxmotif.report._drawing import Drawing, draw_pattern
from jaxmotif.report._reports import (
    Matched,
    census_report,
    graphlets_report,
    match_report,
    motifs_report,
    search_report,
)

__all__ = [
    "Drawing",
    "Matched",
    "census_report",
    "draw_pattern",
    "graphlets_report",
    "match_report",
    "motifs_report",
    "search_report",
]
