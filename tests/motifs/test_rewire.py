"""The null model as a pure function: uniform, degrees kept, padding and what is left out, bad options."""

import functools
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.motifs import NULL_MODELS, rewire_edges
from tests.more import more
from tests.motifs.ensembles import all_with_same_degrees, counts_of
from tests.motifs.test_random_graphs import ENSEMBLES

scipy_stats = pytest.importorskip("scipy.stats")

ROWS, NODES, CHAINS = 12, 8, 900


@functools.cache
def draws(keep, directed):
    """One program for all ensembles of a null model."""
    options = {"num_nodes": NODES, "directed": directed, "keep": keep, "attempts": 16}
    return jax.jit(jax.vmap(lambda edges, key: rewire_edges(edges, key, **options), in_axes=(None, 0)))


def padded(arcs):
    """Between rows of padding."""
    rows = np.full((ROWS, 2), -1, np.int32)
    rows[1 : 1 + len(arcs)] = arcs
    return rows


def drawn(rows, directed):
    """The graphs of edge arrays ``[.., m, 2]``."""
    for graph in np.asarray(rows).tolist():
        arcs = [(u, v) for u, v in graph if u >= 0]
        found = frozenset(arcs if directed else arcs + [(v, u) for u, v in arcs])
        assert len(found) == len(arcs) * (1 if directed else 2)  # no edge twice
        yield found


@pytest.mark.parametrize("name", ["undirected", "mixed", *more("only walks lead on", "3-cycle", "reciprocation free")])
def test_uniform(name):
    n, arcs, keep, directed = ENSEMBLES[name]
    rows = draws(keep, directed)(padded(arcs), jax.random.split(jax.random.key(3), CHAINS))
    assert (np.asarray(rows)[:, padded(arcs)[:, 0] < 0] == -1).all()
    states = sorted(
        all_with_same_degrees(frozenset(arcs if directed else arcs + [(v, u) for u, v in arcs]), n, keep, directed),
        key=sorted,
    )
    counts = counts_of(drawn(rows, directed), states)
    assert counts.all()
    assert scipy_stats.chisquare(counts).pvalue > 0.001


@pytest.mark.parametrize(("keep", "directed"), [("bidegree", True), ("degree", False), ("degree", True)])
def test_degrees_in_a_graph_that_does_not_walk(keep, directed):
    rng = np.random.default_rng(4)
    edges = rng.integers(0, 60, (200, 2))
    found = np.asarray(rewire_edges(edges, 1, num_nodes=60, directed=directed, keep=keep, attempts=10))
    name = edges if directed else np.sort(edges, axis=1)
    first = np.unique(name, axis=0, return_index=True)[1]
    kept = np.isin(np.arange(200), first) & (edges[:, 0] != edges[:, 1])
    assert (found[~kept] == -1).all()  # loops and repeats
    old, new = edges[kept], found[kept]
    still = np.asarray(rewire_edges(edges, 1, num_nodes=60, directed=directed, keep=keep, attempts=0))
    assert np.array_equal(still, np.where(kept[:, None], edges, -1))
    assert (new >= 0).all()
    assert len(np.unique(new if directed else np.sort(new, axis=1), axis=0)) == len(new)
    assert (new[:, 0] != new[:, 1]).all()
    assert not np.array_equal(old, new)
    if directed:
        both = [sum((v, u) in set(map(tuple, x.tolist())) for u, v in x.tolist()) for x in (old, new)]
        assert (both[0] == both[1]) >= (keep == "bidegree")
        assert all(Counter(old[:, i].tolist()) == Counter(new[:, i].tolist()) for i in (0, 1))
    else:
        assert Counter(old.ravel().tolist()) == Counter(new.ravel().tolist())


@pytest.mark.parametrize(("kind", "nodes"), [(np.uint8, 256), (np.int8, 200), (np.int16, 40_000)])
def test_numbers_of_nodes_beyond_the_type_of_the_ids(kind, nodes):
    ring = np.array([(i, (i + 1) % 100) for i in range(100)], kind)
    rewired = np.asarray(rewire_edges(ring, 0, num_nodes=nodes))
    assert np.sort(rewired[:, 1]).tolist() == list(range(100))


def test_nothing_to_move():
    assert rewire_edges(np.zeros((0, 2), np.int32), 0, num_nodes=5).shape == (0, 2)
    assert rewire_edges(np.array([(0, 1), (1, 2), (2, 0)]), 0, num_nodes=0).tolist() == [[-1, -1]] * 3


@pytest.mark.parametrize(
    ("edges", "options", "error", "message"),
    [
        (np.zeros((3, 4, 2), np.int32), {}, ValueError, r"shape \(m, 2\).*vmap"),
        (np.zeros((3, 2)), {}, TypeError, "must hold integers"),
        (np.zeros((3, 2), np.int32), {"num_nodes": -1}, ValueError, "num_nodes must be between 0 and 2147483647"),
        (np.zeros((3, 2), np.int32), {"num_nodes": 5.9}, TypeError, "num_nodes must be an integer, got 5.9"),
        (np.zeros((3, 2), np.int32), {"directed": "no"}, TypeError, "directed must be True or False, got 'no'"),
        (np.zeros((3, 2), np.int32), {"attempts": np.inf}, ValueError, "attempts must be from 0 to a million"),
        (np.zeros((3, 2), np.int32), {"keep": "bi"}, ValueError, "keep must be one of 'bidegree', 'degree'"),
        (np.zeros((3, 2), np.int32), {"keep": NULL_MODELS["degree"]}, TypeError, "the name of a null model"),
        (np.zeros((3, 2), np.int32), {"keep": "labels"}, ValueError, "degrees alone"),
    ],
)
def test_bad_options(edges, options, error, message):
    with pytest.raises(error, match=message):
        jax.jit(lambda x: rewire_edges(x, 0, **{"num_nodes": 4, **options}))(jnp.asarray(edges))
