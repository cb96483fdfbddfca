"""Texts, tables and plots of the results of motif discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.arrays._present import Column, counted
from jaxmotif.graph._plot import ACCENT, INK, SOFT, new_axes
from jaxmotif.patterns import class_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jaxmotif.motifs._discovery import Motifs


def motifs_line(motifs: Motifs) -> str:
    """Return a line that says what was found, by which rule, and what random graphs keep."""
    motif, anti = int(motifs.is_motif.sum()), int(motifs.is_anti_motif.sum())
    found = " and ".join(counted(number, what) for number, what in ((motif, "motif"), (anti, "anti-motif")) if number)
    tests, corrected = int(motifs.tested.sum()), motifs.significance.tests
    closed = f"{tests} closed " + ("class" if tests == 1 else "classes")
    classes = counted(tests, "class") if tests == len(motifs.classes) else closed
    more = "" if corrected == tests else f", corrected for {corrected:,} classes of all networks"
    drawn = "" if motifs.estimate is None else f", by {counted(motifs.estimate, 'draw')} from each graph"
    keeps = motifs.null_model.partition(";")[0].replace("keeps", "keep", 1)
    return (
        f"{found or 'no motif'} ({motifs.rule}{more}) among {classes} of {motifs.size} nodes against "
        f"{counted(len(motifs.random_counts), 'random graph')} that {keeps}{drawn}"
    )


def motifs_table(motifs: Motifs) -> dict[str, Column]:
    """Return all columns, one row a class, the one with the largest z (of either sign) first."""
    s, mixing = motifs.significance, motifs.mixing
    error, random_error = (
        {} if motifs.estimate is None else {name: getattr(motifs, name)} for name in ("error", "random_error")
    )
    columns = {
        **{
            name: np.array(column, object)
            for name, column in class_columns(motifs.classes, motifs.directed, motifs.label_words).items()
        },
        "count": motifs.counts,
        **error,
        "mean": s.mean,
        "sd": s.sd,
        "fold": s.fold,
        "z": s.z,
        "q": s.q,
        **motifs.verdicts._asdict(),
        "motif": motifs.is_motif,
        "anti_motif": motifs.is_anti_motif,
        "fold_low": s.fold_low,
        "fold_high": s.fold_high,
        "p_high": s.p_high,
        "p_low": s.p_low,
        "profile": s.profile,
        "mean_low": s.mean_low,
        "mean_high": s.mean_high,
        "lag_correlation": mixing.lag_correlation,
        "effective_size": mixing.effective_size,
        **random_error,
        **({} if motifs.decided is None else {"decided": motifs.decided}),
    }
    order = np.argsort(-np.nan_to_num(np.abs(s.z), nan=-1.0), kind="stable")
    return {name: column[order] for name, column in columns.items()}


def plot_profile(motifs: Motifs, ax: Axes | None = None, label: str | None = None) -> Axes:
    """Plot the significance profile of motifs, and the range of 95 % of the random graphs."""
    count = len(motifs.classes)
    ax = new_axes(ax, (max(4.0, min(0.5 * count, 12.0)), 3.2))
    columns, s = class_columns(motifs.classes, motifs.directed), motifs.significance
    # Places on the axis are names, so that a class of several networks has one place.
    at = [str(i) if i is not None else word for i, word in zip(columns["id"], motifs.words, strict=True)]
    low, high = null_interval(motifs)
    ax.axhline(0, color=SOFT, linewidth=0.8, zorder=0)
    ax.bar(at, high - low, bottom=low, width=0.55, color=INK, alpha=0.1, linewidth=0, zorder=0)
    colour = ACCENT if len(ax.lines) == 1 else None  # further networks take matplotlib's own colours
    (line,) = ax.plot(at, s.profile, color=colour, linewidth=1.5, label=label)
    fill = [line.get_color() if unusual else "white" for unusual in motifs.is_motif | motifs.is_anti_motif]
    ax.scatter(at, s.profile, color=fill, edgecolor=line.get_color(), s=26, zorder=3)
    ax.tick_params(axis="x", labelsize=8, labelbottom=count <= 40, rotation=45 if count > 16 else 0)
    ax.set(xlabel="class", ylabel="significance profile")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def null_interval(motifs: Motifs) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of 95 % of the random graphs on the scale of the profile, float64 ``[classes]`` each.

    A class without a z has NaN.
    """
    s = motifs.significance
    low, high = np.quantile(motifs.random_counts, [0.025, 0.975], axis=0)
    scale = np.where(s.scale > 0, s.scale, np.nan) * (float(np.sqrt(np.nansum(s.z**2))) or 1.0)
    return (low - s.mean) / scale, (high - s.mean) / scale
