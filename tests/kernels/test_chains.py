import jax
import numpy as np
import pytest

from jaxmotif.kernels._chains import run_chains
from jaxmotif.kernels._switching import Ends, Fixed
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
