import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif.arrays._keys import as_key


def words(key):
    return jax.random.key_data(key).tolist()


@pytest.mark.parametrize("x64", [False, True])
def test_a_seed_is_a_key(x64):
    with jax.enable_x64(x64):
        assert words(as_key(None)) == words(jax.random.key(0))
        assert words(as_key(7)) == words(as_key(np.int32(7))) == words(jax.random.key(7)) == [0, 7]
        assert words(as_key(jax.random.key(3))) == words(as_key(jax.random.PRNGKey(3))) == [0, 3]
        assert words(as_key(jax.random.PRNGKey(3, impl="rbg"))) == [0, 3, 0, 3]
        assert words(as_key(2**40 + 1)) == [256, 1]  # JAX alone takes this for seed 1
        assert words(as_key(-1)) == [0, 2**32 - 1]


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        ("a", TypeError, "integer seed"),
        (1.5, TypeError, "integer seed"),
        (True, TypeError, "integer seed or jax.random.key"),
        (2**64, ValueError, "less than"),
        (jax.random.split(jax.random.key(0)), ValueError, "one key"),
    ],
)
def test_what_is_no_key(key, error, message):
    with pytest.raises(error, match=message):
        as_key(key)


def test_keys_of_other_generators_seed_samples():
    """Keys of four words are taken wherever keys are, and each is a seed of its own."""
    karate = jaxmotif.datasets.load("karate")
    found = []
    for key in (jax.random.key(1, impl="rbg"), jax.random.key(2, impl="unsafe_rbg"), jax.random.key(1)):
        sample = jaxmotif.sample_subgraphs(karate, 3, 5, key)
        assert np.array_equal(sample, jaxmotif.sample_subgraphs(karate, 3, 5, key))
        found.append(np.asarray(sample).tolist())
        assert jaxmotif.estimate_census(karate, 3, 1000, key=key).size == 3
    assert found[0] != found[1] != found[2] != found[0]
