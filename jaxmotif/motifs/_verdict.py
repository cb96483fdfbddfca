"""Verdicts: which classes are motifs or anti-motifs, decided by one rule, and why, in words."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal, NamedTuple, get_args

import numpy as np

from jaxmotif.arrays._checks import check_number, check_probability
from jaxmotif.arrays._present import counted
from jaxmotif.motifs._significance import Correction, Significance, correction_factor

Family = Literal["closed", "all"]


def check_rule(rule: object) -> None:
    """Raise TypeError unless a user gave a :class:`Rule`."""
    if not isinstance(rule, Rule):
        raise TypeError(f"rule must be a jaxmotif.motifs.Rule, got {rule!r}")


@dataclasses.dataclass(frozen=True)
class Rule:
    """Conditions under which a class is a motif.

    A motif has ``q <= alpha``, a count of at least ``min_count`` and ``(count + 1/2) / (mean + 1/2) >= min_fold``. An
    anti-motif has ``q <= alpha``, a *mean* of at least ``min_count``, since a class that is hardly expected cannot be
    missed, and a ratio of at most ``1 / min_fold``. A class is neither if its count is below the mean and yet unusually
    large, or above the mean and unusually small, since its random counts are skewed; not so with ``"max"``, whose q is
    that of the deviation from the mean. z decides nothing: it grows with the size of a network, and where counts are
    small it is not normal.

    Attributes:
      alpha: the largest q of a motif, at least 1e-12.
      min_count: the least count of a motif, and the least mean of an anti-motif.
      min_fold: the least ratio of count and mean, with a half added to both, above 1.
      correction: how q accounts for the number of classes. ``"bh"``: false discovery rate of Benjamini and Hochberg
        (1995). ``"by"``: that of Benjamini and Yekutieli (2001), which holds under any dependence. ``"max"``:
        the family-wise error, by the largest deviation in every random graph (Westfall and Young 1993), under any
        dependence.
      family: which classes are tested. ``"all"``: all. ``"closed"``: also all, except for subgraphs of three nodes
        without labels. There, if random graphs keep what decides the counts of the other classes, only the *closed*
        classes are tested, whose nodes are all adjacent.

    Raises:
      ValueError: numbers out of range, or names that there are not.

    Example:
      >>> str(Rule(min_fold=2)), Rule().least_graphs(13)
      ('q <= 0.05, at least 2-fold, at least 4 occurrences', 519)
    """

    alpha: float = 0.05
    min_count: float = 4
    min_fold: float = 1.5
    correction: Correction = "bh"
    family: Family = "closed"

    def __post_init__(self) -> None:
        check_probability(self.alpha, "alpha")
        check_number(self.alpha, "alpha", 1e-12)
        check_number(self.min_count, "min_count", 0)
        check_number(self.min_fold, "min_fold", 1, "a ratio")
        for name, kinds in (("correction", Correction), ("family", Family)):
            if getattr(self, name) not in get_args(kinds):
                raise ValueError(f"{name} must be one of {', '.join(get_args(kinds))}, got {getattr(self, name)!r}")

    def __str__(self) -> str:
        least = f"{self.min_count:g} occurrence{'s' * (self.min_count != 1)}"
        method = {"bh": "", "by": " (Benjamini-Yekutieli)", "max": " (largest deviation)"}[self.correction]
        return f"q <= {self.alpha:g}{method}, at least {self.min_fold:g}-fold, at least {least}"

    def least_graphs(self, classes: int) -> int:
        """Return the fewest random graphs that can show that a single one of ``classes`` tested classes is unusual.

        The least p-value of r random graphs is 2 / (1 + r).
        """
        if self.correction == "max":
            return math.ceil(1 / self.alpha) - 1
        return math.ceil(2 * classes * correction_factor(classes, self.correction) / self.alpha) - 1


def too_few_graphs(graphs: int, rule: Rule, tests: int) -> tuple[str, ...]:
    """Return a note if ``graphs`` random graphs cannot show that a single one of ``tests`` classes is unusual.

    Example:
      >>> too_few_graphs(100, Rule(), 2), too_few_graphs(20, Rule(), 1)[0][:20]
      ((), '20 random graphs can')
    """
    if graphs >= (needed := rule.least_graphs(tests)):
        return ()
    return (
        f"{graphs:,} random graphs cannot show that a single class is unusual, of {tests:,} that are tested; "
        f"{needed:,} would, and fewer where several are",
    )


class Verdicts(NamedTuple):
    """Verdicts on classes: ``"motif"``, ``"anti-motif"`` or ``""``, and why, each an array of words ``[classes]``."""

    verdict: np.ndarray
    why: np.ndarray


def judge(
    values: np.ndarray,
    significance: Significance,
    tested: np.ndarray,
    graphs: int,
    rule: Rule,
    too_short: bool = False,
    *,
    counts: np.ndarray | None = None,
    kinds: tuple[str, str] = ("motif", "anti-motif"),
    drawn: str = "random graph",
) -> Verdicts:
    """Decide which classes are motifs or anti-motifs, and say why.

    Args:
      values: counts in the graph, or other values, ``[classes]``.
      significance: the statistics of the same classes.
      tested: which classes are tested, bool ``[classes]``.
      graphs: the number of random graphs.
      rule: the conditions under which a class is a motif.
      too_short: whether the chains were too short, so that nothing can be said.
      counts: where the values are not counts, the occurrences of each class, which must be at least ``rule.min_count``.
      kinds: the verdicts on a class whose value is unusually large, and on one whose value is unusually small.
      drawn: the noun in the explanations for what is drawn at random.
    """
    s, needed = significance, rule.least_graphs(significance.tests)
    more = values > s.mean
    enough = (np.where(more, values, s.mean) if counts is None else counts) >= rule.min_count
    large = np.where(more, s.fold >= rule.min_fold, s.fold <= 1 / rule.min_fold)
    fixed = (s.scale == 0) & (values == s.mean)
    unusual = tested & ~fixed & (s.q <= rule.alpha) & (not too_short)
    # A few large counts may raise the mean above a count that is itself larger than almost all.
    one_side = (more == (s.p_high < s.p_low)) | (rule.correction == "max")
    found = unusual & one_side & enough & large
    least = np.minimum(s.p_high, s.p_low) * (1 + graphs) < 1.5
    verdict = np.where(found, np.where(more, *kinds), "").astype(object)
    why = np.empty(values.size, object)
    for i in range(values.size):
        limit = rule.min_fold if more[i] else 1 / rule.min_fold
        against = f"{_number(values[i])} against {_number(s.mean[i])} expected"
        at_limit = ", at the limit" if s.fold_low[i] < limit < s.fold_high[i] else ""
        if not tested[i]:
            why[i] = "follows from closed classes"
        elif too_short:
            why[i] = "withheld: the chains are too short"
        elif fixed[i]:
            why[i] = f"fixed: the same in every {drawn}, says nothing"
        elif not unusual[i] and least[i] and graphs < needed:
            why[i] = f"cannot be decided: {graphs:,} {drawn}s of {needed:,} needed"
        elif not unusual[i]:
            why[i] = f"not unusual: q = {s.q[i]:.2g}"
        elif not one_side[i]:
            side = "fewer" if more[i] else "more"
            why[i] = f"unusual, but skewed: {against}, and yet {side} than in most {drawn}s, q = {s.q[i]:.2g}"
        elif not enough[i] and counts is not None:
            why[i] = f"too few: {counted(int(counts[i]), 'occurrence')}, q = {s.q[i]:.2g}"
        elif not enough[i]:
            why[i] = f"too few: {against}, q = {s.q[i]:.2g}"
        elif not large[i]:
            why[i] = f"unusual, but small: {s.fold[i]:.3g}-fold{at_limit}, q = {s.q[i]:.2g}"
        else:
            why[i] = (
                f"{verdict[i]}: {_number(values[i])}, expected {_number(s.mean[i])} ({s.fold[i]:.3g}-fold, 95 % "
                f"{s.fold_low[i]:.3g} to {s.fold_high[i]:.3g}{at_limit}), q = {s.q[i]:.2g}"
            )
    return Verdicts(verdict, why)


def _number(value: float) -> str:
    """Write a count or a mean count: with three digits below 100, and from there on as a whole number.

    Example:
      >>> _number(13.42), _number(1234.5)
      ('13.4', '1,234')
    """
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def closed_classes(classes: tuple[str, ...]) -> np.ndarray:
    """Return which classes of three nodes, without labels, have all nodes adjacent, bool ``[classes]``.

    How many paths of each kind have a node in their middle is fixed by the node's numbers of one-way predecessors,
    one-way successors and reciprocated neighbours. So the sums 021D + 030T + 120D, 021U + 030T + 120U,
    021C + 030T + 3 030C + 120C, 111U + 2 120U + 120C + 210, 111D + 120C + 2 120D + 210, 201 + 210 + 3 300, and without
    directions 2-stars + 3 triangles, are the same in all random graphs. The counts of the open classes therefore follow
    from those of the closed ones.

    Example:
      >>> closed_classes(("000000110", "000100110")).tolist()
      [False, True]
    """
    cells = np.array([list(text) for text in classes]).reshape(-1, 3, 3) == "1"
    return (cells | cells.transpose(0, 2, 1)).sum(axis=(1, 2)) == 6
