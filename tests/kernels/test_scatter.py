"""Scatters with a position that is left out, in both forms."""

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.kernels.scatter import accumulator, add_at, put_at
from jaxmotif.kernels.wide import wide_ints

SIZE = 5
INDEX = np.array([3, 5, 0, 3, 5, 4, 3], np.int32)


@pytest.fixture(params=["xla", "pallas-triton"])
def backend(request):
    return request.param


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
def test_add(backend, dtype):
    with wide_ints():
        start = accumulator(SIZE, jnp.dtype(dtype), backend)
        values = np.arange(1, 8).astype(dtype) + (2**40 if dtype == "int64" else 0)
        found = add_at(start, jnp.asarray(INDEX), jnp.asarray(values), backend)
    assert found.dtype == dtype
    expected = np.zeros(SIZE + 1, dtype)
    np.add.at(expected, INDEX, values)
    np.testing.assert_array_equal(found[:SIZE], expected[:SIZE])


def test_put_is_whole(backend):
    values = (np.arange(1, 8) << 40) + np.arange(1, 8)
    with wide_ints():
        found = put_at(accumulator(SIZE, jnp.int64, backend), jnp.asarray(INDEX), jnp.asarray(values), backend)
    for place in range(SIZE):
        assert int(found[place]) in (values[place == INDEX] if place in INDEX else [0])
