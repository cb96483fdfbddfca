import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.kernels._chains import _folded, _salts, run_chains
from jaxmotif.kernels._switching import Ends, Fixed
from jaxmotif.motifs import _random_graphs, random_graphs
from tests.more import more


@pytest.mark.parametrize("walks", [True, *more(False)])
def test_lowers_for_a_gpu(lowered_for_cuda, walks):
    """1,000 chains of 1,079 labels, in the room they take there."""

    def ints(*shape):
        return jax.ShapeDtypeStruct(shape, np.int32)

    lanes = 1_179_648
    slow = jax.ShapeDtypeStruct((1152,), bool)
    fixed = Fixed(ints(1152), ints(2305), ints(), ints(), ints(), slow, jax.ShapeDtypeStruct((), bool), ordered=False)
    key = jax.eval_shape(lambda: jax.random.key(0))
    arguments = fixed, Ends(ints(1152), ints(1152)), ints(1024), key, ints(1024), ints(), ints(), ints()
    assert "scatter" in lowered_for_cuda(run_chains.__wrapped__, *arguments, lanes=lanes, walks=walks)


@pytest.mark.parametrize("seed", [0, 2**40 + 3])
def test_words_of_steps_are_those_of_jax(seed):
    """Whatever the chain and the step, the four words are those of keys that JAX itself folds."""
    key = jax.random.wrap_key_data(np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32), impl="threefry2x32")
    chains, steps = jnp.array([0, 1, 5, 2**31 - 1], jnp.int32), jnp.array([0, 3, 1000], jnp.int32)
    first, second = jax.random.key_data(key)
    words = _salts(_folded((first, second), chains), steps, 4)
    for i, step in enumerate(steps):
        for j, chain in enumerate(chains):
            known = jax.random.bits(jax.random.fold_in(jax.random.fold_in(key, chain), step), (4,), jnp.uint32)
            assert words[i, j].tolist() == known.tolist()


def test_a_key_of_another_generator_gives_the_graphs_of_its_seed(monkeypatch):
    graph = Graph.from_edges(np.random.default_rng(0).integers(0, 40, (90, 2)), 40, directed=True)
    monkeypatch.setattr(_random_graphs, "run_chains", run_chains)  # it runs briefly: no time for optimisations
    plain = random_graphs(graph, 3, jax.random.key(3, impl="threefry2x32"), attempts=8)
    other = random_graphs(graph, 3, jax.random.key(3, impl="rbg"), attempts=8)
    assert [g.edge_list().tolist() for g in plain] == [g.edge_list().tolist() for g in other]
