"""Sequential Monte Carlo tests of all classes together: as many random graphs as decide which classes are unusual."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from jaxmotif.arrays._checks import check_probability, whole_number
from jaxmotif.motifs._significance import benjamini_hochberg

FIRST = 100
"""Number of random graphs after the first stage; each later stage doubles it."""


@dataclasses.dataclass(frozen=True)
class Until:
    """Stopping rule: draw random graphs until it is decided for every tested class whether its q is at most ``alpha``.

    The p-value of a class is the probability that a random graph has the graph's count or a more extreme one. The
    random graphs drawn so far leave an interval for it, and the intervals after all numbers of graphs hold at once
    (Robbins 1970). A class is decided if Benjamini and Hochberg's procedure gives the same answer with the lower ends
    of all intervals as with the upper ends (Gandy and Hahn 2014). More random graphs would then not change the answer,
    with probability ``1 - error`` for all classes together.

    Attributes:
      error: the probability, at most, that any of the tested classes is decided wrongly.
      most: how many random graphs to draw at most; a note says how many classes are not decided by then.

    Raises:
      TypeError: ``error`` is no number, or ``most`` no integer.
      ValueError: numbers out of range.

    Reference:
      Gandy, Hahn: MMCTest - a safe algorithm for implementing multiple Monte Carlo tests, Scand. J. Stat. 2014.
      Robbins: Statistical methods related to the law of the iterated logarithm, Ann. Math. Stat. 1970.

    Example:
      >>> from jaxmotif import datasets, find_motifs
      >>> found = find_motifs(datasets.load("karate"), 3, Until(most=200))
      >>> found.decided.all(), len(found.random_counts)
      (np.True_, 100)
    """

    error: float = 0.01
    most: int = 10_000

    def __post_init__(self) -> None:
        check_probability(self.error, "error")
        object.__setattr__(self, "most", whole_number(self.most, "most", least=2))

    def stages(self) -> Iterator[int]:
        """Yield the number of random graphs after each stage."""
        stop = min(FIRST, self.most)
        while stop < self.most:
            yield stop
            stop *= 2
        yield self.most

    def decided(self, counts: np.ndarray, random_counts: np.ndarray, alpha: float = 0.05) -> np.ndarray:
        """Return which classes are decided by counts ``[classes]`` and ``[r, classes]``, bool ``[classes]``.

        Args:
          counts: counts in the graph, of the tested classes.
          random_counts: counts in random graphs.
          alpha: the false discovery rate.
        """
        r, classes = random_counts.shape
        # The two tails of each class share the error.
        level = self.error / (2 * max(classes, 1))
        tails = [(random_counts >= counts).sum(axis=0), (random_counts <= counts).sum(axis=0)]
        ends = [robbins_interval(tail, r, level) for tail in tails]
        low, high = (np.minimum(1, 2 * np.minimum(a, b)) for a, b in zip(*ends, strict=True))
        return (benjamini_hochberg(low) <= alpha) == (benjamini_hochberg(high) <= alpha)


def robbins_interval(hits: np.ndarray, draws: int, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities p with ``(draws + 1) Binomial(hits; draws, p) > error``, as an interval for each class.

    Along one sequence of draws these intervals hold the true p at all numbers of draws together, but for that error.

    Example:
      >>> low, high = robbins_interval(np.array([0, 50]), 100, 0.01)
      >>> low.round(3).tolist(), high.round(3).tolist()
      ([0.0, 0.323], [0.088, 0.677])
    """
    hits = hits.astype(np.float64)
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, draws + 1)))])  # logarithms of factorials
    at = hits.astype(np.int64)
    constant = np.log(draws + 1) + factorial[draws] - factorial[at] - factorial[draws - at] - np.log(error)

    def inside(p: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            # The product 0 log 0 counts as 0.
            yes = np.where(hits > 0, hits * np.log(p), 0.0)
            no = np.where(hits < draws, (draws - hits) * np.log1p(-p), 0.0)
        return constant + yes + no > 0

    mean = hits / draws
    # The mean is inside, and the interval is one piece, so halving finds its two ends.
    near, far = np.stack([mean, mean]), np.stack([np.zeros_like(mean), np.ones_like(mean)])
    for _ in range(60):
        middle = (near + far) / 2
        here = inside(middle)
        near, far = np.where(here, middle, near), np.where(here, far, middle)
    return far[0], far[1]
