"""64-bit integers outside JAX's 64-bit mode."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._int64 import Int64

VALUES = np.array([[0, 1, -1], [2**31, 2**32, -(2**33) - 5], [2**63 - 1, -(2**63), 2**53 + 1]])


@pytest.fixture(params=[False, True], ids=["x64 off", "x64 on"])
def x64(request):
    with jax.enable_x64(request.param):
        yield request.param


def test_values_survive(x64):
    wide = Int64.of(VALUES)
    assert wide.shape == (3, 3)
    assert wide.words.dtype == jnp.uint32
    np.testing.assert_array_equal(wide.to_numpy(), VALUES)
    assert Int64.of(np.int32(-7)).to_numpy().tolist() == -7


@pytest.mark.parametrize(
    "index", [0, (0, 1), (slice(None), 2), (..., 0), np.array([2, 0]), (1, ...), VALUES > 0, slice(1)]
)
def test_parts_are_those_of_an_array(x64, index):
    assert Int64.of(VALUES)[index].tolist() == VALUES[index].tolist()


def test_rows_come_to_an_end(x64):
    assert [row.tolist() for row in Int64.of(VALUES)] == VALUES.tolist()


def test_an_index_too_many_is_refused():
    with pytest.raises(IndexError):
        Int64.of(VALUES)[0, 0, 0]


def test_computed_in_a_trace_and_carried_out(x64):
    @jax.jit
    @jax.vmap
    def square(x):
        with jax.enable_x64(True):
            return Int64.of(x.astype(jnp.int64) ** 2)

    found = square(jnp.asarray([3, -(2**30), 2**31 - 1], jnp.int32))
    assert found.shape == (3,)
    assert found.to_numpy().tolist() == [9, 2**60, (2**31 - 1) ** 2]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_rounds_once_to_floats(x64, dtype):
    inside = np.array([2**24 + 1, 2**24 + 3, -(2**40) - 3, 2**62 + 2**38 + 1, 2049, 7])
    inside = inside if dtype != "float16" else inside[-2:]
    found = Int64.of(inside).astype(dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.asarray(found, np.float64), inside.astype(dtype).astype(np.float64))


def test_refuses_narrow_integers():
    with pytest.raises(TypeError, match="floating dtype, got int32; use to_numpy"):
        Int64.of(VALUES).astype("int32")


@pytest.mark.parametrize("global_mode", [False, True])
def test_the_mode_is_left_as_it_was(global_mode):
    with jax.enable_x64(global_mode):
        with jax.enable_x64(True):
            assert jnp.asarray(VALUES).dtype == jnp.int64
        assert jax.config.jax_enable_x64 == global_mode
        assert jnp.arange(3).dtype == ("int64" if global_mode else "int32")
