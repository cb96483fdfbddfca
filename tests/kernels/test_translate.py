"""Kernels translated to CUDA C++, run on a CPU, against the same ones interpreted; what is no kernel's is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxmotif.arrays._compile import compiling_for
from jaxmotif.kernels._launch import each_alone, kernel_call, whole
from tests import emulated
from tests.kernels.random_bodies import differences
from tests.more import more


@emulated.NEEDS
@pytest.mark.parametrize("seed", [2, *more(5), pytest.param(range(60, 120), marks=pytest.mark.slow)], ids=str)
def test_random_bodies(seed):
    assert not [told for one in np.atleast_1d(seed) for told in differences(int(one))]


@emulated.NEEDS
def test_shifts_of_all_widths_and_signs():
    """By no bit, by some, by all and more, and by negative numbers, which are large without a sign."""
    kinds = [np.dtype(x) for x in ("int8", "uint8", "int16", "uint16", "int32", "uint32")]
    shifts = lax.shift_left, lax.shift_right_logical, lax.shift_right_arithmetic

    def kernel(*refs):
        for k in range(len(kinds)):
            for s, shift in enumerate(shifts):
                refs[2 * len(kinds) + 3 * k + s][...] = shift(refs[2 * k][...], refs[2 * k + 1][...])

    arrays, wanted = [], []
    for kind in kinds:
        bits, info = 8 * kind.itemsize, np.iinfo(kind)
        numbers = np.array([info.min, info.max, 1, 77], kind).repeat(8)
        places = np.tile(np.array([0, 1, bits - 1, bits, bits + 1, info.max, 3, 100], kind), 4)
        places[5::16] = info.min if info.min else info.max
        arrays += [numbers, places]
        wanted += [jax.jit(shift)(numbers, places) for shift in shifts]
    with compiling_for(emulated.TARGET):
        found = jax.jit(
            kernel_call(
                kernel, lanes=32, warps=1, in_specs=[whole()] * len(arrays), out_specs=[whole()] * len(wanted),
                out_shape=[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in wanted], name="shifts",
            )
        )(*arrays)  # fmt: skip
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(x, y)


REFUSED = {
    "the primitive sort": jnp.sort,
    "the primitive rev": lambda x: x[::-1],
    "the primitive abs": jnp.abs,
    "the primitive cumprod": lambda x: jnp.cumprod(x, dtype=x.dtype),
    "the primitive reduce_prod": lambda x: x + jnp.prod(x, dtype=x.dtype),
    "the primitive argmax": lambda x: x + jnp.argmax(x).astype(x.dtype),
    "the primitive integer_pow": lambda x: x**3,
    "the primitive clz": lambda x: lax.clz(x.astype(jnp.int8)).astype(x.dtype),
    "values of type float32": lambda x: x.astype(jnp.float32).astype(x.dtype),
    "an array of shape": lambda x: x + jnp.zeros((5, 7), x.dtype)[0, 0],
    "the primitive select_n": lambda x: lax.select_n(x & 1, x, x + 1),
    "the primitive scan": lambda x: lax.fori_loop(0, 3, lambda _, a: a + 1, x),
    "cumsum of shape": lambda x: lax.cumsum(x, reverse=True),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_kernels_is_refused_by_name(what):
    def kernel(x, out):
        out[...] = REFUSED[what](x[...])

    shape = jax.ShapeDtypeStruct((64,), jnp.int32)
    call = kernel_call(kernel, lanes=64, out_shape=shape, in_specs=[whole()], out_specs=whole(), name="waves")
    with compiling_for(emulated.TARGET), pytest.raises(NotImplementedError, match=f"kernel waves: no .* {what}"):
        jax.eval_shape(call, shape)


def test_a_sum_over_lanes_that_are_alone_is_refused():
    def kernel(x, out):
        @each_alone
        def _():
            out[...] = x[...] + jnp.sum(x[...], dtype=jnp.int32)

    shape = jax.ShapeDtypeStruct((64,), jnp.int32)
    call = kernel_call(kernel, lanes=64, out_shape=shape, in_specs=[whole()], out_specs=whole(), name="waves")
    with compiling_for(emulated.TARGET), pytest.raises(NotImplementedError, match="a sum over lanes that are alone"):
        jax.eval_shape(call, shape)
