"""Thousands of random small cases against all injective maps: every kind of query, every way to search."""

import numpy as np
import pytest

from jaxmotif.matching import FILTERS, Search, count_matches, find_matches
from tests.matching.oracle import count_injections, random_graph
from tests.more import more


def check(seed):
    """One random case; how many matches it has. What is compiled depends on nothing but directions and filters."""
    rng = np.random.default_rng(seed)
    directed, induced = rng.random(2) < 0.5
    labels = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    n, k = int(rng.integers(1, 8)), int(rng.integers(1, 6))
    host, target = random_graph(rng, n, rng.choice([0.3, 0.6, 0.9]), directed, *labels)
    query, _ = random_graph(rng, k, rng.choice([0.2, 0.4, 0.7]), directed, *labels)  # often of several components
    wildcard = 0 if rng.random() < 0.3 else None
    allowed = rng.random((k, n)) < rng.choice([0.8, 1.0])
    options = {"wildcard": wildcard, "domains": allowed}
    how = {
        "order": "ri" if rng.random() < 0.5 else rng.permutation(k).tolist(), "block": 64,
        "filters": FILTERS if seed % 4 else FILTERS[:2],
    }  # fmt: skip
    expected = count_injections(query, host, induced, wildcard, allowed)
    # The last level counted in closed form or not, automorphic images searched or multiplied, or all of them listed.
    for leaves in (True, False):
        symmetry, ahead = (rng.random(2) < 0.5).tolist()
        search = Search(leaves=leaves, symmetry=symmetry, lookahead=ahead, **how)
        found = count_matches(query, target, induced, search=search, **options)
        assert (found.count, found.exact) == (expected, True), (seed, leaves)
    if seed % 8 == 0:
        assert len(find_matches(query, target, induced, search=Search(**how), **options)) == expected, seed
    return expected


@pytest.mark.parametrize("first", [0, *more(60, 120, 180)])
def test_cases(first):
    assert sum(check(seed) > 0 for seed in range(first, first + 60)) > 15


@pytest.mark.slow
def test_more_cases():
    assert sum(check(seed) > 0 for seed in range(240, 8000)) > 2200
