"""HTML pages of the results of the jobs, with drawings of small graphs (see ``jaxmotif.drawing``)."""

from jaxmotif.drawing import Drawing, draw_pattern
from jaxmotif.report._figures import drawing_figures, motif_figures
from jaxmotif.report._motifs_report import motifs_report
from jaxmotif.report._reports import Matched, census_report, graphlets_report, match_report, search_report

__all__ = [
    "Drawing",
    "Matched",
    "census_report",
    "draw_pattern",
    "drawing_figures",
    "graphlets_report",
    "match_report",
    "motif_figures",
    "motifs_report",
    "search_report",
]
