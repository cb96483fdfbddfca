"""The oracles against each other: brute force, orbit-count, python-igraph and the stored counts."""

import numpy as np
import pytest

from jaxmotif.patterns import EDGE_COLUMN_NAMES
from tests.oracles import (
    brute_force,
    igraph_connected_counts,
    orbit_counts,
    random_edges,
    stored_edges,
    stored_graphlets,
    stored_orbits,
)


@pytest.mark.parametrize("density", [0.15, 0.5, 0.85])
def test_brute_force_is_orca(density):
    edges = random_edges(11, density, seed=1)
    _, columns, orbits = brute_force(11, edges)
    nodes, per_edge = orbit_counts(11, edges)
    np.testing.assert_array_equal(orbits, nodes)
    np.testing.assert_array_equal(np.stack([columns[c] for c in EDGE_COLUMN_NAMES[:12]], axis=-1), per_edge)


@pytest.mark.parametrize("density", [0.15, 0.5, 0.85])
def test_brute_force_is_igraph(density):
    edges = random_edges(11, density, seed=2)
    expected = igraph_connected_counts(11, edges)
    counts, _, _ = brute_force(11, edges)
    assert {name: counts[name] for name in expected} == expected


def test_brute_force_is_the_stored_karate_club(shared_data):
    answer = stored_graphlets(shared_data)["karate"]
    edges = stored_edges(shared_data, "karate")
    counts, columns, orbits = brute_force(answer["n"], edges)
    assert counts == answer["counts"]
    np.testing.assert_array_equal(orbits, stored_orbits(shared_data, "karate", "node"))
    per_edge = stored_orbits(shared_data, "karate", "edge")
    np.testing.assert_array_equal(np.stack([columns[c] for c in EDGE_COLUMN_NAMES[:12]], axis=-1), per_edge)
