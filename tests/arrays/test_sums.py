import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._sums import LANES, SHORT, running_sum


@pytest.mark.parametrize("size", [0, 1, 2, 3, 17, 4096, SHORT + 1, 2 * SHORT, 33 * LANES])
def test_as_numpy(size):
    x = np.random.default_rng(size).integers(-9, 2**33, size)
    found = jit64(lambda x: running_sum(x))(x)
    assert found.dtype == jnp.int64
    np.testing.assert_array_equal(found, np.cumsum(x))
    some = jit64(lambda x: running_sum(x > 5, jnp.int32))(x)
    assert some.dtype == jnp.int32
    np.testing.assert_array_equal(some, np.cumsum(x > 5))


def test_under_vmap():
    x = np.arange(40, dtype=np.int32).reshape(4, 10)
    np.testing.assert_array_equal(jax.vmap(running_sum)(x), np.cumsum(x, axis=1))
