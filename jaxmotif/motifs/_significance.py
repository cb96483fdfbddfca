"""Is a count unusual among those of random graphs? Statistics per class, and what the random graphs are worth."""

from __future__ import annotations

import dataclasses
import statistics
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxmotif.motifs._estimate_graphs import Noise

FALSE_ALARM = 0.001
"""Probability that chains which have mixed are called too short."""
SOME = 256
"""Classes at a time: their temporary arrays stay in the cache."""


@dataclasses.dataclass(frozen=True, eq=False)
class Mixing:
    """What independent chains say of themselves, some of which went on for longer: float64, one entry a class.

    Attributes:
      graphs: how many chains went on.
      lag_correlation: between a chain's counts at full and at that length, over these chains (0 where constant).
      effective_size: random graphs times (1 - c) / (1 + c), c the lag correlation where positive: the
        independent draws that the counts are worth, by a cautious reckoning (the chains themselves are independent).
      longer_z: mean of all chains at full length minus mean of those that went on, in standard errors of their
        difference.
      times: the longer length, in full lengths.
    """

    graphs: int
    lag_correlation: np.ndarray
    effective_size: np.ndarray
    longer_z: np.ndarray
    times: int = 4

    @property
    def disagrees(self) -> np.ndarray:
        """Whether the two lengths have different means, bool ``[classes]``: then the chains are too short.

        The bar is 4 standard errors, and more where there are many classes, so that among all classes together chance
        passes it once in a thousand times.
        """
        tail = FALSE_ALARM / (2 * max(self.longer_z.size, 1))
        return np.abs(self.longer_z) > max(4.0, statistics.NormalDist().inv_cdf(1 - tail))


@dataclasses.dataclass(frozen=True, eq=False)
class Significance:
    """Statistics of a count ``f`` against counts ``g_1 .. g_r`` of random graphs: float64, one entry a class.

    Where counts are estimates, ``f`` has a variance ``v`` of its draws, and ``g_i`` has ``v_i``, all known from the
    hits, with mean ``w``. The variance ``s^2`` of the ``g_i`` is then that of the counts themselves plus ``w``, since
    draws are independent: ``sd^2 = max(s^2 - w, 0)``. Under the hypothesis that the graph is one of the random ones,
    ``f - mean`` has the variance of the counts plus that of the draws, which ``w`` is an estimate of, and ``v`` another
    (0 for a class that was not drawn): the larger is taken, so that ``scale^2 = sd^2 + max(v, w)``, and z comes near
    that of exact counts as draws grow many, from below. Ranks need no such thing: by the hypothesis ``f`` is one more
    of the ``g_i``, its draws too, and so p_high, p_low and q are as valid as those of exact counts, if less powerful.

    Attributes:
      mean, sd: of the random counts (sd with r - 1), without the noise of estimates.
      mean_low, mean_high: 95% interval of the mean, from the effective sample size.
      scale: that z is in units of: sd, or of estimates what is said above; 0 where random counts do not differ.
      z: (f - mean) / scale; NaN where that is 0.
      p_high: (1 + #{g >= f}) / (1 + r); p_low: (1 + #{g <= f}) / (1 + r).
      q: Benjamini-Hochberg over the classes, of the two-sided p = min(1, 2 min(p_high, p_low)).
      profile: z over the length of all z (Milo et al. 2004); NaN where z is.
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
    profile: np.ndarray


def significance_of(
    counts: np.ndarray, random_counts: np.ndarray, mixing: Mixing, noise: Noise | None = None
) -> Significance:
    """The statistics of counts ``[classes]`` against ``[r, classes]``; ``noise``: of estimates."""
    r = random_counts.shape[0]

    def of_some(counts: np.ndarray, random: np.ndarray) -> tuple[np.ndarray, ...]:
        high, low = (random >= counts).sum(axis=0), (random <= counts).sum(axis=0)
        return random.mean(axis=0), random.std(axis=0, ddof=1), high, low

    firsts = range(0, max(counts.size, 1), SOME)
    some = [of_some(counts[i : i + SOME], random_counts[:, i : i + SOME]) for i in firsts]
    mean, sd, high, low = (np.concatenate(parts) for parts in zip(*some, strict=True))
    # The standard error of as many independent draws as the counts are worth.
    half = 1.96 * sd / np.sqrt(mixing.effective_size)
    varies, scale = sd > 0, sd
    if noise is not None:
        sd = np.sqrt(np.maximum(sd**2 - noise.random, 0))
        scale = np.where(varies, np.sqrt(sd**2 + np.maximum(noise.given, noise.random)), 0.0)
    # Without spread there is no z, and no division by zero.
    z = np.where(varies, (counts - mean) / np.where(varies, scale, 1), np.nan)
    p_high, p_low = (1 + high) / (1 + r), (1 + low) / (1 + r)
    length = np.sqrt(np.nansum(z**2))
    return Significance(
        mean, sd, mean - half, mean + half, scale, z, p_high, p_low,
        benjamini_hochberg(np.minimum(1, 2 * np.minimum(p_high, p_low))), z / length if length > 0 else z,
    )  # fmt: skip


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """The smallest false discovery rates at which each p-value is still found.

    Example:
      >>> benjamini_hochberg(np.array([0.01, 0.5, 0.02])).tolist()
      [0.03, 0.5, 0.03]
    """
    # From the largest p down: a minimum over the larger ones makes the rates monotone.
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
    # The chains that went on, and the same ones before.
    a, b = random_counts[::every][:c].astype(np.float64), longer.astype(np.float64)
    da, db = a - a.mean(axis=0), b - b.mean(axis=0)
    spread = np.sqrt((da**2).sum(axis=0) * (db**2).sum(axis=0))
    correlation = np.where(spread > 0, (da * db).sum(axis=0) / np.where(spread > 0, spread, 1), 0.0)
    # Cautious: negative correlation is not believed, and 1 would leave no draws.
    cautious = np.clip(correlation, 0, 1 - 1 / (2 * r))
    size = r * (1 - cautious) / (1 + cautious)
    if c < 2:
        return Mixing(c, correlation, size, np.zeros(a.shape[1]), times)
    # The larger variance stands for both: of a rare class one of the two may have met nothing. The chains that went on
    # are among all, and what they had in common then is no difference.
    variance = np.maximum(random_counts.var(axis=0, ddof=1), b.var(axis=0, ddof=1))
    shared = (da * db).sum(axis=0) / (c - 1)
    error = np.sqrt(np.maximum(variance * (1 / r + 1 / c) - 2 * shared / r, 0.0))
    shift = np.where(error > 0, (random_counts.mean(axis=0) - b.mean(axis=0)) / np.where(error > 0, error, 1), 0.0)
    return Mixing(c, correlation, size, shift, times)
