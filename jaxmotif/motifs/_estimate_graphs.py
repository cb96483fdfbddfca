"""Estimated censuses of random graphs, by draws from each of many graphs with the same nodes and degrees."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from jaxmotif.arrays._sizes import bucket_size
from jaxmotif.census._classes import Classifier
from jaxmotif.devices._ranges import Span
from jaxmotif.graph import Graph
from jaxmotif.motifs._estimate import expected_hits, skeleton_of
from jaxmotif.motifs._graph_samples import LaneSample, Sample
from jaxmotif.motifs._proposals import LIMITS, Draws, DrawTask, scrambled, thirds

PURPOSE = 3  # which keeps these draws apart from other draws of the same seed
LEAST_LANES = 1 << 10
CLASSES_AT_ONCE = 1 << 12


class HitCounter:
    """Counter of hits by class, which draws from one graph after another on a device.

    The random numbers for a graph depend only on the graph's number, not on the graphs before it.
    """

    def __init__(self, graph: Graph, size: int, draws: int, seed: int, device: jax.Device, memory: int | None):
        self._seed, self._device = seed, device
        self._task = DrawTask(Draws(graph, size, thirds(draws), seed, PURPOSE), device, memory)
        sampler = self._task.sampler
        # There are no more lanes than one proposal has draws from a graph; these are often few.
        sampler.lanes = min(sampler.lanes, bucket_size(max(*sampler.draws.shares, LEAST_LANES)))

    def count(
        self, sample: Sample | LaneSample, numbers: Sequence[int], classifier: Classifier
    ) -> tuple[np.ndarray, np.ndarray]:
        """Count hits of each class in each graph of a sample.

        Returns:
          Hits, int64 ``[graphs, classes]``; and maps of trees into each graph by proposal (0 for one without draws),
          float64 ``[graphs, proposals]``.

        Args:
          sample: the graphs.
          numbers: the number of each graph, which decides its draws.
          classifier: the classes of all graphs; classes that it learns later are not among the columns.
        """
        maps = np.zeros((len(sample), len(LIMITS)))
        met: list[tuple[np.ndarray, np.ndarray]] = []
        if not sample.source.m:  # a graph without edges has no map
            return np.zeros((len(sample), len(classifier)), np.int64), maps
        for i, number in enumerate(numbers):
            self._task.take(sample[i : i + 1], scrambled(self._seed + number))
            self._task.step(Span(0, int(self._task.sampler.draws.starts[-1])))
            drawn = self._task.collect()
            maps[i] = drawn["maps"]
            met.append((classifier(drawn["codes"]), drawn["times"]))
        hits = np.zeros((len(sample), len(classifier)), np.int64)
        for row, (classes, times) in zip(hits, met, strict=True):
            np.add.at(row, classes, times)
        return hits, maps

    def halve(self) -> str | None:
        """Draw fewer maps at once; return a note that says so, or ``None`` where they are as few as can be."""
        return self._task.halve()


def to_estimates(
    classes: Sequence[str],
    directed: bool,
    draws: int,
    maps: np.ndarray,
    hits: np.ndarray,
    num_random: int,
) -> np.ndarray:
    """Turn hits into estimates, in place, and return the variances that the draws give them.

    Returns:
      float64 ``[2, classes]``: the variance of the count in the given graph, and the mean of the variances in random
      graphs.

    Args:
      classes: the canonical strings of the classes.
      directed: whether the graphs are.
      draws: how many maps were drawn from each graph.
      maps: maps of trees into each graph, the given one first, ``[graphs, proposals]``; 0 for a proposal without draws.
      hits: hits in the same graphs, float64 ``[graphs, classes]``.
      num_random: how many random graphs follow the given one. Further rows, which are graphs of longer chains, do not
        count in the mean of the variances.
    """
    noise = np.zeros((2, len(classes)))
    skeletons = np.array([skeleton_of(name, directed) for name in classes])
    for low in range(0, len(classes), CLASSES_AT_ONCE):  # a matrix of all weights would be as large as that of hits
        some = slice(low, low + CLASSES_AT_ONCE)
        rates = expected_hits(skeletons[some], thirds(draws), maps)
        # Trees of any kind are always drawn and meet every class, so no rate is 0 where there are hits.
        weights = np.divide(1, rates, out=np.zeros(rates.shape), where=rates > 0)
        # The variance of binomial hits; draws of several kinds, or stratified ones, are no more scattered (Hoeffding
        # 1956).
        variance = (hits[:, some] * (1 - hits[:, some] / draws) * weights**2)[: 1 + num_random]
        noise[:, some] = variance[0], variance[1:].mean(axis=0)
        hits[:, some] *= weights
    return noise
