"""How the results of motif discovery show themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.arrays._present import Column, counted
from jaxmotif.graph._plot import ACCENT, INK, SOFT, new_axes
from jaxmotif.patterns import class_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from jaxmotif.motifs._discovery import Motifs


def motifs_line(found: Motifs) -> str:
    """What was found, in a line."""
    unusual = f"{counted(int(found.is_motif.sum()), 'motif')}, {counted(int(found.is_anti_motif.sum()), 'anti-motif')}"
    classes = f"{counted(len(found.classes), 'class')} of {found.size} nodes"
    drawn = "" if found.estimate is None else f", {counted(found.estimate, 'draw')} from each graph"
    return f"{unusual} among {classes}, {counted(len(found.random_counts), 'random graph')}{drawn}"


def motifs_table(found: Motifs) -> dict[str, Column]:
    """All columns, one row a class, the most unusual first."""
    s, mixing = found.significance, found.mixing
    motif, anti = found.is_motif, found.is_anti_motif
    error, random_error = (
        {} if found.estimate is None else {name: getattr(found, name)} for name in ("error", "random_error")
    )
    columns = {
        **{name: np.array(column, object) for name, column in class_columns(found.classes, found.directed).items()},
        "count": found.counts, **error, "mean": s.mean, "sd": s.sd, "z": s.z, "q": s.q,
        "verdict": np.where(motif, "motif", np.where(anti, "anti-motif", "")), "motif": motif, "anti_motif": anti,
        "p_high": s.p_high, "p_low": s.p_low, "profile": s.profile, "mean_low": s.mean_low, "mean_high": s.mean_high,
        "lag_correlation": mixing.lag_correlation, "effective_size": mixing.effective_size,
        **random_error, **({} if found.decided is None else {"decided": found.decided}),
    }  # fmt: skip
    order = np.argsort(-np.nan_to_num(np.abs(s.z), nan=-1.0), kind="stable")
    return {name: column[order] for name, column in columns.items()}


def plot_profile(found: Motifs, ax: Axes | None = None, label: str | None = None) -> Axes:
    """The significance profile of motifs, with where 95 % of the random graphs lie."""
    count = len(found.classes)
    ax = new_axes(ax, (max(4.0, min(0.5 * count, 12.0)), 3.2))
    columns, s = class_columns(found.classes, found.directed), found.significance
    # Places are names, so that a class of several networks has one place.
    at = [str(i) if i is not None else word for i, word in zip(columns["id"], found.words, strict=True)]
    low, high = null_interval(found)
    ax.axhline(0, color=SOFT, linewidth=0.8, zorder=0)
    ax.bar(at, high - low, bottom=low, width=0.55, color=INK, alpha=0.1, linewidth=0, zorder=0)
    colour = ACCENT if len(ax.lines) == 1 else None  # further networks in matplotlib's own colours
    (line,) = ax.plot(at, s.profile, color=colour, linewidth=1.5, label=label)
    fill = [line.get_color() if unusual else "white" for unusual in found.is_motif | found.is_anti_motif]
    ax.scatter(at, s.profile, color=fill, edgecolor=line.get_color(), s=26, zorder=3)
    ax.tick_params(axis="x", labelsize=8, labelbottom=count <= 40, rotation=45 if count > 16 else 0)
    ax.set(xlabel="class", ylabel="significance profile")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def null_interval(found: Motifs) -> tuple[np.ndarray, np.ndarray]:
    """Where 95 % of the random graphs lie on the scale of the profile, float64 ``[classes]`` each; NaN without a z."""
    s = found.significance
    low, high = np.quantile(found.random_counts, [0.025, 0.975], axis=0)
    scale = np.where(s.scale > 0, s.scale, np.nan) * (float(np.sqrt(np.nansum(s.z**2))) or 1.0)
    return (low - s.mean) / scale, (high - s.mean) / scale
