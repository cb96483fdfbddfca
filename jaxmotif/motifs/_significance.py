"""Statistics of each class: whether its count is unusual for a random graph, and whether the chains have mixed."""

from __future__ import annotations

import dataclasses
import statistics
from typing import Literal

import numpy as np

Correction = Literal["bh", "by", "max"]
"""Ways in which q accounts for the number of classes; :class:`jaxmotif.motifs.Rule` names them."""

FALSE_ALARM = 0.001
"""Probability that chains which have mixed are called too short."""


@dataclasses.dataclass(frozen=True, eq=False)
class Mixing:
    """Evidence on whether the chains have mixed, from some that went on to a longer length; arrays are ``[classes]``.

    Attributes:
      graphs: how many chains went on.
      lag_correlation: the correlation of a chain's counts at full length with its counts at the longer length, over the
        chains that went on, float64; 0 where counts do not vary.
      effective_size: how many independent draws the random graphs are worth, float64: their number times
        (1 - c) / (1 + c), where c is the lag correlation, or 0 if that is negative. This is cautious, since the chains
        are independent of each other.
      longer_z: the mean count of all chains at full length minus that of the chains that went on, in standard errors of
        the difference, float64.
      times: how many times the full length the longer length is.
    """

    graphs: int
    lag_correlation: np.ndarray
    effective_size: np.ndarray
    longer_z: np.ndarray
    times: int = 4

    @property
    def disagrees(self) -> np.ndarray:
        """Classes whose two lengths have different means, bool ``[classes]``: for these the chains are too short.

        The threshold is 4 standard errors, or more if there are many classes, so that by chance alone any class passes
        it at most once in a thousand times.
        """
        tail = FALSE_ALARM / (2 * max(self.longer_z.size, 1))
        return np.abs(self.longer_z) > max(4.0, statistics.NormalDist().inv_cdf(1 - tail))


@dataclasses.dataclass(frozen=True, eq=False)
class Significance:
    """Statistics of a count ``f`` against counts ``g_1 .. g_r`` of random graphs: float64, one entry a class.

    Where counts are estimates, the draws give ``f`` a variance ``v`` and each ``g_i`` a variance ``v_i``, all known
    from the hits; ``w`` is the mean of the ``v_i``. Since draws are independent, the variance ``s^2`` of the ``g_i`` is
    that of the true counts plus ``w``, and hence ``sd^2 = max(s^2 - w, 0)``. Under the hypothesis that the graph is one
    of the random ones, ``f - mean`` has the variance of the true counts plus that of the draws. Both ``w`` and ``v``
    estimate the latter (``v`` is 0 for a class that was not drawn), and the larger is taken:
    ``scale^2 = sd^2 + max(v, w)``. With more draws, z approaches the z of exact counts from below. Ranks need no
    correction: under the hypothesis ``f`` is one more of the ``g_i``, with the same kind of draws. Hence p_high, p_low
    and q are as valid as those of exact counts, though less powerful.

    Attributes:
      mean: mean of the random counts.
      sd: standard deviation of the random counts (with r - 1), without the noise of estimates.
      mean_low: lower end of the 95 % interval of the mean, from the effective sample size.
      mean_high: upper end of that interval.
      scale: unit of z: sd, or for estimates the scale above; 0 where random counts do not differ.
      z: (f - mean) / scale; NaN where that is 0.
      p_high: (1 + #{g >= f}) / (1 + r).
      p_low: (1 + #{g <= f}) / (1 + r).
      q: the two-sided p = min(1, 2 min(p_high, p_low)), corrected for the number of tested classes; NaN for a class
        that is not tested.
      fold: (f + 1/2) / (mean + 1/2), the size of the effect; the halves keep small counts from large ratios.
      fold_low: lower end of its 95 % interval, from the interval of the mean.
      fold_high: upper end of that interval.
      profile: z over the length of all z (Milo et al. 2004); NaN where z is.
      tests: the number of hypotheses that q is corrected for.
    """

    mean: np.ndarray
    sd: np.ndarray
    mean_low: np.ndarray
    mean_high: np.ndarray
    scale: np.ndarray
    z: np.ndarray
    p_high: np.ndarray
    p_low: np.ndarray
    q: np.ndarray
    fold: np.ndarray
    fold_low: np.ndarray
    fold_high: np.ndarray
    profile: np.ndarray
    tests: int


def significance_of(
    counts: np.ndarray,
    random_counts: np.ndarray,
    mixing: Mixing,
    noise: np.ndarray | None = None,
    tested: np.ndarray | None = None,
    correction: Correction = "bh",
) -> Significance:
    """Compare counts ``[classes]`` with counts of random graphs ``[r, classes]``.

    Args:
      counts: counts in the graph.
      random_counts: counts in random graphs.
      mixing: the evidence from longer chains; the intervals of means follow from its ``effective_size``.
      noise: the variances that draws give to estimated counts, float64 ``[2, classes]``: of the count in the graph, and
        the mean over the random graphs. ``None`` for exact counts.
      tested: which classes are tested, bool ``[classes]``; all by default.
      correction: how q accounts for the number of tested classes.
    """
    r, mean, sd = random_counts.shape[0], random_counts.mean(axis=0), random_counts.std(axis=0, ddof=1)
    # The mean of equal numbers may differ from them in the last bit, which would look like a spread.
    varies = (random_counts != random_counts[:1]).any(axis=0)
    mean, sd = np.where(varies, mean, random_counts[0]), np.where(varies, sd, 0.0)
    high, low = (random_counts >= counts).sum(axis=0), (random_counts <= counts).sum(axis=0)
    # The standard error is that of as many independent draws as the counts are worth.
    half = 1.96 * sd / np.sqrt(mixing.effective_size)
    scale = sd
    if noise is not None:
        sd = np.sqrt(np.maximum(sd**2 - noise[1], 0))
        scale = np.where(varies, np.sqrt(sd**2 + noise.max(axis=0)), 0.0)
    # A class without spread has no z, and must not be divided by zero.
    z = np.where(varies, (counts - mean) / np.where(varies, scale, 1), np.nan)
    p_high, p_low = (1 + high) / (1 + r), (1 + low) / (1 + r)
    tested = np.ones(counts.size, bool) if tested is None else tested
    q = np.full(counts.size, np.nan)
    if correction == "max":
        q[tested] = largest_deviation(counts[tested], random_counts[:, tested])
    else:
        p = np.minimum(1, 2 * np.minimum(p_high, p_low))[tested]
        q[tested] = np.minimum(1, benjamini_hochberg(p) * correction_factor(p.size, correction))
    fold, fold_low, fold_high = ((counts + 0.5) / (np.maximum(m, 0) + 0.5) for m in (mean, mean + half, mean - half))
    length, tests = np.sqrt(np.nansum(z**2)), int(tested.sum())
    profile = z / length if length > 0 else z
    ends = mean - half, mean + half
    return Significance(mean, sd, *ends, scale, z, p_high, p_low, q, fold, fold_low, fold_high, profile, tests)


def correction_factor(tests: int, correction: Correction) -> float:
    """Return the factor of false discovery rates: 1, or for ``"by"`` the sum of 1/i for i up to the number of tests."""
    return float((1 / np.arange(1, tests + 1)).sum()) if correction == "by" and tests else 1.0


def largest_deviation(counts: np.ndarray, random_counts: np.ndarray) -> np.ndarray:
    """Return p-values that hold for all classes together, under any dependence, float64 ``[classes]``.

    Deviations are in units of the standard deviation of the graph and the random graphs together, so that under the
    hypothesis the graph is one more of these. A class's p-value is the part of all graphs, this one included, whose
    largest deviation over the classes is at least the class's own (single-step method of Westfall and Young 1993).

    Example:
      >>> largest_deviation(np.array([9, 2]), np.array([[1, 2], [2, 1], [1, 3]])).tolist()
      [0.25, 1.0]
    """
    both = np.concatenate([counts[None], random_counts]).astype(np.float64)
    both -= both.mean(axis=0)
    sd = both.std(axis=0)
    both = np.abs(both) / np.where(sd > 0, sd, 1)
    largest = both.max(axis=1, initial=0.0)
    # A deviation that is the largest of its own graph must equal itself.
    return (largest[:, None] >= both[0] * (1 - 1e-12)).mean(axis=0)


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Return the smallest false discovery rates at which each p-value is still a discovery.

    Example:
      >>> benjamini_hochberg(np.array([0.01, 0.5, 0.02])).tolist()
      [0.03, 0.5, 0.03]
    """
    # The rates go from the largest p down, and a minimum over the larger ones makes them monotone.
    order = np.argsort(p)[::-1]
    ranks = np.arange(p.size, 0, -1)
    q = np.empty(p.size)
    q[order] = np.minimum.accumulate(np.minimum(1, p[order] * p.size / ranks))
    return q


def mixing_of(random_counts: np.ndarray, longer: np.ndarray, every: int = 1, times: int = 4) -> Mixing:
    """Compare random graphs with some of the same chains after more steps.

    Args:
      random_counts: ``[r, classes]``, counts at full length.
      longer: ``[c, classes]``, counts of one chain in ``every`` at ``times`` the length.
    """
    r, c = random_counts.shape[0], longer.shape[0]
    # The counts of the chains that went on: at full length, and at the longer length.
    a, b = random_counts[::every][:c].astype(np.float64), longer.astype(np.float64)
    da, db = a - a.mean(axis=0), b - b.mean(axis=0)
    spread = np.sqrt((da**2).sum(axis=0) * (db**2).sum(axis=0))
    correlation = np.where(spread > 0, (da * db).sum(axis=0) / np.where(spread > 0, spread, 1), 0.0)
    # To be cautious, negative correlation is not believed; a correlation of 1 would leave no draws.
    cautious = np.clip(correlation, 0, 1 - 1 / (2 * r))
    size = r * (1 - cautious) / (1 + cautious)
    if c < 2:
        return Mixing(c, correlation, size, np.zeros(a.shape[1]), times)
    # The larger variance stands for both, since one of the two may not have met a rare class. The chains that went on
    # are among all chains, and what both means have in common is no difference.
    variance = np.maximum(random_counts.var(axis=0, ddof=1), b.var(axis=0, ddof=1))
    shared = (da * db).sum(axis=0) / (c - 1)
    error = np.sqrt(np.maximum(variance * (1 / r + 1 / c) - 2 * shared / r, 0.0))
    shift = np.where(error > 0, (random_counts.mean(axis=0) - b.mean(axis=0)) / np.where(error > 0, error, 1), 0.0)
    return Mixing(c, correlation, size, shift, times)
