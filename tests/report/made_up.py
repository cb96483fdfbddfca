"""Motifs with counts drawn at random, which take no time."""

import numpy as np

from jaxmotif.motifs import Mixing, Motifs, Rule
from jaxmotif.motifs._significance import significance_of


def made_up(classes, seed=0, rule=None):
    """Of classes of one size, the first of which stands out, in 1,000 random graphs."""
    rng = np.random.default_rng(seed)
    counts, random = rng.poisson(40, len(classes)), rng.poisson(40, (1000, len(classes)))
    counts[0], random[:, -1] = 400, 7
    mixing = Mixing(10, np.full(len(classes), 0.1), np.full(len(classes), 41.0), np.full(len(classes), 1.2))
    size = int(len(classes[0]) ** 0.5)
    return Motifs(
        size, True, tuple(classes), counts, random, rule or Rule(), np.ones(len(classes), bool),
        significance_of(counts, random, mixing), mixing, "keeps all", 30.0, 15.2, {"one-way arcs": 15.2}, "census",
    )  # fmt: skip
