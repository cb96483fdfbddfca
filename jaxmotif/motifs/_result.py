"""The result of motif discovery: counts and statistics by class, their verdicts, table and plot."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jaxmotif.arrays._present import Column, counted, visible
from jaxmotif.census._tables import OfClasses
from jaxmotif.graph._plot import ACCENT, INK, SOFT, new_axes
from jaxmotif.motifs._significance import Mixing, Significance
from jaxmotif.motifs._verdict import Rule, Verdicts, judge

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FURTHER = "fold_low", "fold_high", "p_high", "p_low", "profile", "mean_low", "mean_high"
"""Statistics that stand in the table after the verdicts."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Motifs(OfClasses):
    """Counts of all classes that occur in the graph or in a random graph, and how unusual they are.

    Attributes:
      size: nodes of a subgraph.
      directed: whether the classes have directions.
      classes: canonical strings, ascending.
      counts: int64 ``[classes]``, counts in the graph (0 for classes that occur only in random graphs); float64 if they
        are estimates.
      random_counts: int64 ``[num_random, classes]``, counts in every random graph; float64 if they are estimates.
      rule: the conditions under which a class is a motif.
      tested: bool ``[classes]``, which classes are tested (:attr:`jaxmotif.motifs.Rule.family`).
      significance: the statistics, one entry a class.
      mixing: how far the random graphs are from independent draws.
      null_model: what is kept, over which graphs the random graphs are uniform, and by which moves.
      attempts: pair switches tried per edge.
      accepted: moves made per edge.
      accepted_by_kind: moves made per edge of each kind (one-way arcs, reciprocated pairs), by its name.
      notes: warnings in words, such as that chains could hardly move, or that steps became smaller when memory ran out.
      label_words: as in :class:`jaxmotif.motifs.Census`.
      estimate: the number of draws from each graph by which its counts are estimated; ``None`` for exact counts.
      decided: bool ``[classes]``, whether it is decided that q is at most ``alpha``, or that it is not, so that more
        random graphs would not change this (:class:`jaxmotif.motifs.Until`); ``None`` where their number was given.
      error: float64 ``[classes]``, the standard error of each of ``counts``; 0 where no draw fell on the class, and for
        exact counts.
      random_error: float64 ``[classes]``, the standard error of a single one of ``random_counts``: the root mean square
        over the random graphs; 0 for exact counts.
      few_moves: whether chains made too few moves for a verdict.
    """

    random_counts: np.ndarray
    rule: Rule
    tested: np.ndarray
    significance: Significance
    mixing: Mixing
    null_model: str
    attempts: float
    accepted: float
    accepted_by_kind: Mapping[str, float]
    notes: tuple[str, ...] = ()
    estimate: int | None = None
    decided: np.ndarray | None = None
    error: np.ndarray | float = 0.0
    random_error: np.ndarray | float = 0.0
    few_moves: bool = False

    @property
    def summary(self) -> str:
        """Summary of what was found, by which rule, against which random graphs, in one sentence."""
        numbers = {"motif": int(self.is_motif.sum()), "anti-motif": int(self.is_anti_motif.sum())}
        motifs = " and ".join(counted(number, name) for name, number in numbers.items() if number)
        tests, corrected = int(self.tested.sum()), self.significance.tests
        classes = counted(tests, "class" if tests == len(self.classes) else "closed class")
        more = "" if corrected == tests else f", corrected for {corrected:,} classes of all networks"
        drawn = "" if self.estimate is None else f", by {counted(self.estimate, 'draw')} from each graph"
        keeps = self.null_model.partition(";")[0].replace("keeps", "keep", 1)
        return (
            f"{motifs or 'no motif'} ({self.rule}{more}) among {classes} of {self.size} nodes against "
            f"{counted(len(self.random_counts), 'random graph')} that {keeps}{drawn}"
        )

    def _line(self) -> str:
        return self.summary

    def table(self) -> dict[str, Column]:
        """Return all columns, one row a class, the one with the largest z (of either sign) first."""
        s, mixing, estimated = self.significance, self.mixing, self.estimate is not None
        columns = {name: np.array(column, object) for name, column in super().table().items()}
        columns["count"] = self.counts
        if estimated:
            columns["error"] = np.asarray(self.error)
        columns |= {name: getattr(s, name) for name in ("mean", "sd", "fold", "z", "q")}
        columns |= {**self.verdicts._asdict(), "motif": self.is_motif, "anti_motif": self.is_anti_motif}
        columns |= {name: getattr(s, name) for name in _FURTHER}
        columns |= {"lag_correlation": mixing.lag_correlation, "effective_size": mixing.effective_size}
        if estimated:
            columns["random_error"] = np.asarray(self.random_error)
        if self.decided is not None:
            columns["decided"] = self.decided
        order = np.argsort(-np.nan_to_num(np.abs(s.z), nan=-1.0), kind="stable")
        return {name: column[order] for name, column in columns.items()}

    def plot_profile(self, ax: Axes | None = None) -> Axes:
        """Plot the significance profile with matplotlib, and the range of 95 % of the random graphs (extra ``plot``).

        Args:
          ax: axes to draw on; new ones when not given.
        """
        ax = class_axes(ax, self.labels)
        at, profile = np.arange(len(self.classes)), self.significance.profile
        low, high = null_interval(self)
        ax.axhline(0, color=SOFT, linewidth=0.8, zorder=0)
        ax.bar(
            at, high - low, bottom=low, width=0.55, color=INK, alpha=0.12, linewidth=0, label="95 % of random graphs"
        )
        ax.plot(at, profile, color=ACCENT, linewidth=1.5)
        for unusual, words in ((True, "motif or anti-motif"), (False, "neither")):
            which = (self.is_motif | self.is_anti_motif) == unusual
            fill = ACCENT if unusual else "white"
            ax.scatter(at[which], profile[which], color=fill, edgecolor=ACCENT, s=26, zorder=3, label=words)
        ax.set_ylabel("significance profile, z / |z|")
        ax.legend(frameon=False, fontsize=7)
        return ax

    def plot_counts(self, ax: Axes | None = None) -> Axes:
        """Plot the counts beside those of the random graphs, their mean and 95 %, with matplotlib (extra ``plot``).

        Args:
          ax: axes to draw on; new ones when not given.
        """
        ax = class_axes(ax, self.labels)
        at, mean = np.arange(len(self.classes)), self.significance.mean
        ends = np.quantile(self.random_counts, [0.025, 0.975], axis=0)
        colours = [{"motif": ACCENT, "anti-motif": INK}.get(verdict, SOFT) for verdict in self.verdicts.verdict]
        ax.bar(at - 0.2, self.counts, width=0.38, color=colours, label="network")
        ax.bar(at + 0.2, mean, width=0.38, color=INK, alpha=0.2, label="random graphs, mean and 95 %")
        # A mean can lie outside of the middle 95 % where a class is rare.
        spread = np.maximum([mean - ends[0], ends[1] - mean], 0)
        ax.errorbar(at + 0.2, mean, spread, fmt="none", ecolor=INK, elinewidth=1, capsize=2)
        for i, verdict in enumerate(self.verdicts.verdict):
            if verdict in ("motif", "anti-motif"):
                most = max(float(self.counts[i]), float(ends[1, i]))
                ax.annotate(verdict, (i, most), xytext=(0, 4), textcoords="offset points", ha="center", fontsize=6)
        ax.set_yscale("symlog", linthresh=1)
        ax.margins(y=0.15)  # above the bars, which stand on 0, for the verdicts
        ax.set_ylabel("subgraphs")
        ax.legend(frameon=False, fontsize=7)
        return ax

    @cached_property
    def verdicts(self) -> Verdicts:
        """Verdict on each class by the rule, and why, in words."""
        too_short = self.few_moves or bool(self.mixing.disagrees.any())
        return judge(self.counts, self.significance, self.tested, len(self.random_counts), self.rule, too_short)

    @property
    def is_motif(self) -> np.ndarray:
        """Classes that are motifs by the rule, bool ``[classes]``."""
        return self.verdicts.verdict == "motif"

    @property
    def is_anti_motif(self) -> np.ndarray:
        """Classes that are anti-motifs by the rule, bool ``[classes]``."""
        return self.verdicts.verdict == "anti-motif"


def null_interval(motifs: Motifs) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of 95 % of the random graphs on the scale of the profile, float64 ``[classes]`` each.

    A class without a z has NaN.
    """
    s = motifs.significance
    low, high = np.quantile(motifs.random_counts, [0.025, 0.975], axis=0)
    scale = np.where(s.scale > 0, s.scale, np.nan) * (float(np.sqrt(np.nansum(s.z**2))) or 1.0)
    return (low - s.mean) / scale, (high - s.mean) / scale


def class_axes(ax: Axes | None, labels: Sequence[str]) -> Axes:
    """Return axes, new ones when not given, with classes at 0, 1, 2, ..; many or long labels are turned sideways."""
    ax = new_axes(ax, (max(4.0, min(0.5 * len(labels), 12.0)), 3.2))
    few = len(labels) <= 16 and max(map(len, labels), default=0) <= 8
    ax.set_xticks(range(len(labels)), [visible(x) if len(labels) <= 80 else "" for x in labels], parse_math=False)
    ax.tick_params(axis="x", labelsize=8 if few else 6, rotation=0 if few else 90)
    ax.set_xlabel("class")
    ax.set_xlim(-0.7, len(labels) - 0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
