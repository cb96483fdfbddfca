import jax
import numpy as np
import pytest

from jaxmotif.arrays._keys import as_key


def words(key):
    return jax.random.key_data(key).tolist()


@pytest.mark.parametrize("x64", [False, True])
def test_a_seed_is_a_key(x64):
    with jax.enable_x64(x64):
        assert words(as_key(None)) == words(jax.random.key(0))
        assert words(as_key(7)) == words(as_key(np.int32(7))) == words(jax.random.key(7)) == [0, 7]
        assert words(as_key(jax.random.key(3))) == words(as_key(jax.random.PRNGKey(3))) == [0, 3]
        assert words(as_key(2**40 + 1)) == [256, 1]  # JAX alone takes this for seed 1
        assert words(as_key(-1)) == [0, 2**32 - 1]


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        ("a", TypeError, "integer seed"),
        (1.5, TypeError, "integer seed"),
        (2**64, ValueError, "less than"),
        (jax.random.split(jax.random.key(0)), ValueError, "one key"),
    ],
)
def test_what_is_no_key(key, error, message):
    with pytest.raises(error, match=message):
        as_key(key)
