"""Figures for a paper, in matplotlib (extra ``plot``): each as SVG, with text that stays text, and as PDF."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.arrays._label_words import LabelWords
from jaxmotif.drawing._drawing import PALETTE, Drawing, draw_pattern
from jaxmotif.graph import Graph
from jaxmotif.graph._plot import new_figure
from jaxmotif.motifs import Motifs
from jaxmotif.motifs._compare import compare_motifs, plot_tree
from jaxmotif.patterns import Pattern, named_pattern
from jaxmotif.report import _parts as shared
from jaxmotif.report._roles import locate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Figures = Mapping[str, Callable[[], "Figure"]]
"""Functions that draw figures, by the names of their files without endings."""

_MOST_DRAWN = 16  # classes that have room for drawings below the axis


def drawing_figures(patterns: Mapping[str, Pattern], words: LabelWords) -> Figures:
    """Return a figure of each pattern, by its name.

    Args:
      patterns: the patterns.
      words: the words that labels of nodes and of edges stand for.
    """
    drawings = {name: draw_pattern(pattern, *words, title=name) for name, pattern in patterns.items()}
    return {name: partial(_draw, drawing, 1.6) for name, drawing in drawings.items()}


def motif_figures(networks: shared.Networks, distances: Mapping[str, np.ndarray] | None = None) -> Figures:
    """Return the figures of the motifs of networks.

    Each network has a figure of its profile and its counts, and one for each motif that shows where it lies. Several
    networks also have a figure that compares them.

    Args:
      networks: The name, the graph and the motifs of each network.
      distances: Distances between the networks, float64 ``[networks, networks]``, by the name of the distance.

    Raises:
      ValueError: Two networks have one name.
    """
    motifs_of = shared.motifs_by_name(networks)
    figures: dict[str, Callable[[], Figure]] = {}
    for name, graph, motifs in networks:
        after = f"-{name}" if len(networks) > 1 else ""
        figures[f"motifs{after}"] = partial(_motifs, motifs)
        for i in np.flatnonzero(motifs.is_motif & (motifs.counts > 0)) if motifs.estimate is None else ():
            pattern = named_pattern(motifs.classes[i], motifs.directed)
            figures[f"where-{motifs.labels[i]}{after}"] = partial(_where, graph, pattern)
    if len(networks) > 1:
        figures["comparison"] = partial(_comparison, motifs_of, distances or {})
    return figures


def _motifs(motifs: Motifs) -> Figure:
    """Draw the profile and the counts of a network above each other, and below them the classes."""
    few = len(motifs.classes) <= _MOST_DRAWN
    figure = new_figure((max(4.0, min(0.52 * len(motifs.classes), 10.0)), 5.6 if few else 5.0))
    profile, counts, *below = figure.subplots(2 + few, 1, height_ratios=[4, 4, 1][: 2 + few])
    motifs.plot_profile(_lettered(profile, "a"))
    motifs.plot_counts(_lettered(counts, "b"))
    for ax in below:
        ax.set(xlim=profile.get_xlim(), ylim=(0, 1))
        ax.axis("off")
        figure.draw_without_rendering()  # which gives axes their sizes
        for i, text in enumerate(motifs.classes):
            motifs.draw(text).plot(ax.inset_axes((i - 0.45, 0, 0.9, 1), transform=ax.transData))
    return figure


def _comparison(motifs: Mapping[str, Motifs], distances: Mapping[str, np.ndarray]) -> Figure:
    """Draw the profiles of networks over each other, and their trees."""
    compared = compare_motifs(motifs)
    trees = {"1 - correlation of profiles": 1 - compared.correlation} | dict(distances)
    heights = [4.0, *(0.7 + 0.3 * len(motifs) for _ in trees)]
    figure = new_figure((max(4.5, min(0.52 * len(compared.classes), 10.0)), sum(heights)))
    profiles, *others = figure.subplots(len(heights), 1, height_ratios=heights)
    compared.plot_profiles(_lettered(profiles, "a"))
    for ax, letter, (words, matrix) in zip(others, "bcdefgh", trees.items(), strict=False):
        plot_tree(_lettered(ax, letter), compared.names, matrix, words)
    return figure


def _where(graph: Graph, pattern: Pattern) -> Figure:
    """Draw a part of the network in which a pattern occurs, with names."""
    drawing, roles, _ = locate(graph, pattern)
    figure = _draw(drawing, 4.5)
    for i, role in enumerate(roles):
        style = {"color": PALETTE[i % len(PALETTE)], "fontsize": 9, "va": "top"}
        figure.text(0.02, 0.98 - 0.04 * i, f"● {role}", **style)
    return figure


def _draw(drawing: Drawing, inches: float) -> Figure:
    figure = new_figure((inches, inches), layout=None)
    drawing.plot(figure.add_axes((0, 0, 1, 1)))
    return figure


def _lettered(ax: Axes, letter: str) -> Axes:
    """Put the letter of a panel at the upper left corner of axes, and return these."""
    ax.set_title(letter, loc="left", fontsize=11, fontweight="bold")
    return ax
