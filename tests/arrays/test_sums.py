import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._sums import LANES, SHORT, product, running, running_sum


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


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_products_where_vmap_takes_a_jitted_function(dtype):
    """JAX then makes the program of the batch outside its 64-bit mode."""
    rng = np.random.default_rng(0)
    weights, rows = rng.integers(-99, 99, (3, 5)), rng.integers(-(2**45), 2**45, (2, 5, 4))
    multiply = jax.jit(jit64(lambda rows: product(jnp, weights.astype(dtype), rows)))
    with jax.enable_x64(True):
        batch = jnp.asarray(rows, dtype)
    np.testing.assert_array_equal(jax.vmap(multiply)(batch), weights @ rows)


@pytest.mark.parametrize("size", [1, 8, 9, 1000])
def test_running(size):
    """Sums that begin anew here and there: exact of whole numbers, and as exact of numbers of all sizes."""
    rng = np.random.default_rng(size)
    begins = rng.random(size) < 0.1
    whole, uneven = rng.integers(0, 1 << 40, size).astype(float), rng.random(size) * 10.0 ** rng.integers(0, 9, size)

    def add(a, b):
        return jnp.where(b[1], b[0], a[0] + b[0]), a[1] | b[1]

    summed = jit64(lambda x, begins: running(add, (x, begins), (0.0, False))[0])
    first = np.maximum.accumulate(np.where(begins, np.arange(size), 0))
    wanted = [[x[low : i + 1].sum() for i, low in enumerate(first)] for x in (whole, uneven)]
    np.testing.assert_array_equal(summed(whole, begins), wanted[0])
    np.testing.assert_allclose(summed(uneven, begins), wanted[1], rtol=1e-14)
