"""NumPy's integers are taken wherever an integer is, with the same result."""

from functools import cache, partial

import numpy as np
import pytest

import jaxmotif
from jaxmotif.features import census_orbits
from jaxmotif.graphlets import dense_graphlet_counts
from jaxmotif.motifs import Until, dense_census

KARATE = jaxmotif.datasets.load("karate")
CALLS = {
    "subgraph_census": lambda of: jaxmotif.subgraph_census(KARATE, of(3), memory=of(2**30)).counts,
    "census_orbits": lambda of: census_orbits(KARATE, of(3)).values,
    "dense_census": lambda of: dense_census(KARATE, of(3)).to_numpy(),
    "estimate_census": lambda of: jaxmotif.estimate_census(KARATE, of(3), of(3000)).counts,
    "sample_subgraphs": lambda of: jaxmotif.sample_subgraphs(KARATE, of(3), of(4)),
    "find_motifs": lambda of: jaxmotif.find_motifs(KARATE, of(3), of(20), memory=of(2**30)).random_counts,
    "Until": lambda of: jaxmotif.find_motifs(KARATE, of(3), Until(most=of(20))).random_counts,
    "dense_graphlet_counts": lambda of: dense_graphlet_counts(KARATE, of(4), max_degree=of(17)).to_numpy(),
}


def smallest(number: int, kinds: str) -> np.integer:
    """Return a number in the smallest type of a kind that holds it."""
    return next(np.dtype(f"{kinds}{size}").type(number) for size in (1, 2, 4, 8) if number < 2 ** (8 * size - 1))


@cache
def expected(name: str):
    """Return the result of a call with Python's integers."""
    return CALLS[name](int)


@pytest.mark.parametrize("of", [np.int64, partial(smallest, kinds="u"), partial(smallest, kinds="i")])
@pytest.mark.parametrize("name", CALLS)
def test_numpy_integers_count_as_integers(name, of):
    np.testing.assert_array_equal(CALLS[name](of), expected(name))
