"""The sieve as a pure function: one-sided, within its error, and the same bits however it is computed."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.graph._batch import stack_graphs
from jaxmotif.sieve import sieve_values
from jaxmotif.sieve._search import run_bound
from tests.more import more
from tests.sieve import brute

SMALL, INSTANCES = 9, 200
PAD, ROOMY = (16, 140), (256, 512)
"""Capacities that tests share, and with them programs."""

run = jax.jit(sieve_values, static_argnames="size")


def shades_for(shades, vertices):
    """Return the shades of some vertices and of padding, which takes none."""
    return jnp.asarray(np.pad(shades, (0, vertices - len(shades))), jnp.uint32)


def binomial_tail(least, trials, probability):
    """The probability of at least ``least`` successes."""
    below = sum(
        math.comb(trials, i) * probability**i * (1 - probability) ** (trials - i) for i in range(min(least, trials + 1))
    )
    return 1 - below


@pytest.mark.parametrize(("size", "directed"), [(1, False), (6, True), *more((4, False), (5, True), (7, False))])
def test_against_brute_force(size, directed):
    """Many small colored graphs side by side, each with a motif of its own, in one host graph.

    The subsets of six elements take two words.
    """
    rng = np.random.default_rng(size)
    edges, shades, expected = [], [], []
    for number in range(INSTANCES):
        matrix, colors, motif = brute.random_instance(rng, SMALL, size, 3, wildcards=number % 3 == 0)
        if directed:
            matrix &= rng.random(matrix.shape) < 0.7
            found = set().union(*brute.rooted_matches(matrix, colors, motif).values())
        else:
            found = set().union(*brute.matches(matrix, colors, motif))
        edges.append(np.argwhere(matrix if directed else np.triu(matrix)) + SMALL * number)
        shades.append(brute.shades_of(colors, motif))
        inside = np.zeros(SMALL, bool)
        inside[list(found)] = True
        expected.append(inside)
    graph = Graph.from_edges(np.concatenate(edges), num_nodes=SMALL * INSTANCES, directed=directed, pad=None)
    shades, expected = jnp.asarray(np.concatenate(shades)), np.concatenate(expected)
    missed = 0
    for seed in range(2):
        positive = np.asarray(run(graph, shades, jax.random.key(seed), size=size)) != 0
        assert not (positive & ~expected).any()
        missed += int((expected & ~positive).sum())
    assert expected.sum() > 100
    assert binomial_tail(missed, 2 * int(expected.sum()), run_bound(size)) > 1e-6


def test_batches_give_what_single_graphs_give():
    rng = np.random.default_rng(1)
    graphs, shades = [], []
    for n in (0, 1, 5, 12):
        matrix, colors, motif = brute.random_instance(rng, n, 4, 2, wildcards=True)
        matrix |= ~np.eye(n, dtype=bool) & (n == 12)
        graphs.append(brute.graph_of(matrix, pad=PAD))
        shades.append(shades_for(brute.shades_of(colors, motif), 12))
    keys, shades = jax.random.split(jax.random.key(0), 4), jnp.stack(shades)
    together = jax.vmap(partial(run, size=4))(stack_graphs(graphs, pad=PAD), shades, keys)
    alone = [run(*arguments, size=4) for arguments in zip(graphs, shades, keys, strict=True)]
    np.testing.assert_array_equal(together, np.stack(alone))
    assert (np.asarray(together) != 0).any()


def test_pmap_over_keys_and_over_graphs():
    """Four runs of one graph, and one of each of four graphs, on four devices: against all matches by brute force."""
    rng = np.random.default_rng(6)
    instances = [brute.random_instance(rng, 9, 4, 2, wildcards=False) for _ in range(3)]
    instances.append((~np.eye(9, dtype=bool), *instances[0][1:]))  # a complete graph: there is a match
    graphs = [brute.graph_of(matrix, pad=PAD) for matrix, _, _ in instances]
    shades = jnp.stack([shades_for(brute.shades_of(colors, motif), 12) for _, colors, motif in instances])
    keys = jax.random.split(jax.random.key(3), 4)
    values, devices = partial(sieve_values, size=4), jax.devices("cpu")
    assert len(devices) == 4
    over_devices = jax.pmap(values, devices=devices)
    by_key = over_devices(stack_graphs(graphs[3:] * 4, pad=PAD), jnp.stack([shades[3]] * 4), keys)
    by_graph = over_devices(stack_graphs(graphs, pad=PAD), shades, keys)
    assert {len(x.sharding.device_set) for x in (by_key, by_graph)} == {4}
    # The rows of one graph in other capacities give the same values.
    roomy = run(brute.graph_of(instances[3][0], pad=ROOMY), shades_for(shades[3], 201), keys[0], size=4)
    np.testing.assert_array_equal(by_key[0][:9], roomy[:9])
    np.testing.assert_array_equal(by_graph[3], by_key[3])
    for number, (matrix, colors, motif) in enumerate(instances):
        np.testing.assert_array_equal(by_graph[number], run(graphs[number], shades[number], keys[number], size=4))
        inside = set().union(*brute.matches(matrix, colors, motif))
        assert set(np.flatnonzero(by_graph[number]).tolist()) <= inside
    assert set(np.flatnonzero(np.any(by_key, axis=0)).tolist()) == inside == set(range(9))


def test_a_hub_is_cut_and_counts_once():
    """A star of 200: motif center and three leaves; the hub's row is cut into pieces."""
    star = Graph.from_edges([(0, leaf) for leaf in range(1, 201)], pad=ROOMY)  # rows of padding take no shade
    shades = jnp.asarray([1] + [14] * 150 + [0] * 50, jnp.uint32)
    values = run(star, shades, jax.random.key(2), size=4)
    positive = np.asarray(values) != 0
    assert positive[0]
    assert positive[1:151].sum() >= 140
    assert positive.shape == (256,)
    assert not positive[151:].any()


@pytest.mark.parametrize("size", [0, 31, -1])
def test_sizes_out_of_range(size):
    with pytest.raises(ValueError, match="words must be a power of two, got 3"):
        sieve_values(Graph.from_edges([(0, 1)]), jnp.zeros(2, jnp.uint32), jax.random.key(0), 7, words=3)
    with pytest.raises(ValueError, match=f"1 to 30 vertices, got {size}"):
        sieve_values(Graph.from_edges([(0, 1)]), jnp.ones(2, jnp.uint32), jax.random.key(0), size=size)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"size": 2.0}, TypeError, "size must be an integer, got 2.0"),
        ({"words": 2.0}, TypeError, "words must be an integer, got 2.0"),
        ({"shades": np.ones(2, np.float32)}, ValueError, r"shades must be integers .*, got float32 \(2,\)"),
        ({"shades": np.ones(17, np.uint32)}, ValueError, r"n at most 16, got uint32 \(17,\)"),
        ({"shades": np.ones((1, 2), np.uint32)}, ValueError, r"got uint32 \(1, 2\); vmap over batches"),
        ({"key": 0.5}, TypeError, "key must be an integer seed or"),
        ({"graph": stack_graphs([Graph.from_edges([(0, 1)])])}, ValueError, "out_offsets must have rank 1"),
    ],
)
def test_bad_arguments(arguments, error, message):
    good = {"graph": Graph.from_edges([(0, 1)]), "shades": np.ones(2, np.uint32), "key": 0, "size": 2}
    with pytest.raises(error, match=message):
        sieve_values(**{**good, **arguments})


def test_a_list_of_shades_and_a_seed():
    """Outside of ``jit``, where each operation is compiled by itself: hence a motif of one vertex."""
    graph, shades = Graph.from_edges([(0, 1), (1, 2), (3, 4)], pad=PAD), [1, 2, 0, 1, 3]
    values = run(graph, shades_for(shades, 12), jax.random.key(5), size=1)
    np.testing.assert_array_equal(sieve_values(graph, shades, 5, 1), values)
    assert (np.asarray(values)[:5] != 0).tolist() == [True, False, False, True, True]


def test_a_lone_path_of_distinct_colors_is_never_missed():
    """Its polynomial is one product; with uniform elements a run would miss it once in 37 times."""
    copies, size = 50, 4
    first = np.arange(copies)[:, None] * size
    edges = np.stack([first + np.arange(size - 1), first + np.arange(1, size)], axis=-1).reshape(-1, 2)
    graph, shades = Graph.from_edges(edges, pad=ROOMY), shades_for(np.tile(1 << np.arange(size), copies), 201)
    for seed in range(8):
        values = np.asarray(run(graph, shades, jax.random.key(seed), size=size))
        assert (values[: copies * size] != 0).all()
